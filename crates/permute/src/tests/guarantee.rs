//! Sensitivity, and what is promised.

use super::super::*;
use super::{all, golden, groups_of, identity, near, rows};

#[test]
fn sensitivities_are_the_golden_ones() {
    for e in golden("brute").into_iter().chain(golden("formula")) {
        let sigma0 = rows(&e["params"]["sigma0"]);
        let groups = match e["params"].get("groups") {
            Some(groups) => groups_of(groups),
            None => vec![rows(&e["params"]["group"])],
        };
        let named = groups
            .into_iter()
            .zip(0..)
            .map(|(g, at)| (at.to_string(), g));
        let groups = Groups::listed(sigma0.len(), named.collect()).unwrap();
        let found = spread(&groups, &sigma0);
        let v = &e["values"];
        assert_eq!(found.width, v["width"].as_u64().unwrap(), "{}", e["id"]);
        assert_eq!(
            found.kendall,
            v["exact_delta"].as_u64().unwrap(),
            "{}",
            e["id"]
        );
        assert_eq!(
            bound_by_width(found.width),
            v["paper_bound"].as_u64().unwrap()
        );
        let hamming =
            super::super::sensitivity::sensitivity(Distance::Hamming, &groups, found.kendall);
        assert_eq!(hamming, v["hamming_delta"].as_u64().unwrap(), "{}", e["id"]);
        let each = of_groups(&groups, &sigma0);
        assert_eq!(each.iter().map(|s| s.kendall).max().unwrap(), found.kendall);
    }
}

/// θΔ is exactly the largest log-ratio over all neighboring inputs and all outputs.
#[test]
fn privacy_by_enumeration_is_theta_times_sensitivity() {
    for e in golden("privacy_exact") {
        let sigma0 = rows(&e["params"]["sigma0"]);
        let group = rows(&e["params"]["group"]);
        let theta = e["params"]["theta"].as_f64().unwrap();
        let n = sigma0.len();
        let from_reference = inverse(&sigma0);
        let weight = |star: &[u32]| {
            let near = compose(&from_reference, &compose(star, &sigma0));
            -theta * inversions(&near) as f64
        };
        let mut largest = 0.0f64;
        for output in all(n) {
            // The σ* that make this output of inputs that differ in the group's order only.
            let logs: Vec<f64> = all(group.len())
                .iter()
                .map(|order| {
                    let mut input = identity(n);
                    for (at, to) in order.iter().enumerate() {
                        input[group[at] as usize] = group[*to as usize];
                    }
                    weight(&compose(&inverse(&input), &output))
                })
                .collect();
            let most = logs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            let least = logs.iter().copied().fold(f64::INFINITY, f64::min);
            largest = largest.max(most - least);
        }
        near(largest, &e["values"]["max_log_ratio"], &e["id"]);
        let groups = Groups::listed(n, vec![("g".to_owned(), group)]).unwrap();
        assert_eq!(
            spread(&groups, &sigma0).kendall,
            e["values"]["exact_delta"].as_u64().unwrap()
        );
    }
}

#[test]
fn the_run_of_the_appendix_is_repeated() {
    for e in golden("a10") {
        let sigma0 = rows(&e["params"]["sigma0"]);
        let sigma = rows(&e["params"]["sigma"]);
        let near_identity = compose(&inverse(&sigma0), &sigma);
        let points = Points::new(vec![0.0; sigma0.len()], 1).unwrap();
        let groups = Groups::within(&points, 0.0).unwrap();
        let mut plan = Plan::new(&groups, 1.0, Distance::Kendall, OrderChoice::Best, None).unwrap();
        plan.reference.rows = sigma0.clone();
        let star = plan.at_reference(&near_identity);
        assert_eq!(star, rows(&e["values"]["sigma_star_ltr"]));
        assert_eq!(
            kendall(&sigma0, &sigma),
            e["values"]["kendall_items"].as_u64().unwrap()
        );
        assert_eq!(
            hamming(&sigma0, &sigma),
            e["values"]["hamming"].as_u64().unwrap()
        );
    }
}

#[test]
fn other_groups_and_subsets_have_the_golden_bounds() {
    for e in golden("thm44") {
        let p = &e["params"];
        let alpha = for_other_groups(
            p["alpha"].as_f64().unwrap(),
            p["delta_G"].as_u64().unwrap(),
            p["delta_Gprime"].as_u64().unwrap(),
        );
        near(alpha, &e["values"]["alpha_prime"], &e["id"]);
    }
    for e in golden("bound") {
        let p = &e["params"];
        let (r, k) = (p["r"].as_u64().unwrap(), p["k"].as_u64().unwrap());
        let (epsilon, alpha) = (p["eps"].as_f64().unwrap(), p["alpha"].as_f64().unwrap());
        let found = subset_bound(r, k, epsilon, alpha).unwrap();
        near(found.odds_of_losing, &e["values"]["ratio"], &e["id"]);
        near(found.losing, &e["values"]["lose_min"], &e["id"]);
        near(found.winning, &e["values"]["win_max"], &e["id"]);
    }
    let unprotected = subset_bound(10, 2, f64::INFINITY, 1.0).unwrap();
    assert_eq!((unprotected.losing, unprotected.winning), (0.0, 1.0));
    assert!(subset_bound(10, 5, 1.0, 1.0).is_err() && subset_bound(10, 0, 1.0, 1.0).is_err());
}

/// θ from the paper's Δ, for one group in one piece.
#[test]
fn dispersions_are_the_golden_ones() {
    for e in golden("theta") {
        let width = e["params"]["width"].as_u64().unwrap() as u32;
        let alpha = e["params"]["alpha"].as_f64().unwrap();
        let group = vec![("g".to_owned(), identity(width as usize + 1))];
        let groups = Groups::listed(width as usize + 1, group).unwrap();
        let plan = Plan::new(&groups, alpha, Distance::Kendall, OrderChoice::Best, None).unwrap();
        near(plan.theta, &e["values"]["theta_bound"], &e["id"]);
        near(
            plan.with_bound().theta,
            &e["values"]["theta_bound"],
            &e["id"],
        );
    }
}

/// The library has the theorem's bound; the exact odds of the game come from the golden table.
#[test]
fn nobody_wins_the_golden_games_more_often_than_the_bound_says() {
    for e in golden("game") {
        let (p, v) = (&e["params"], &e["values"]);
        let n = p["n"].as_u64().unwrap();
        let subset = p["I"].as_array().unwrap().len() as u64;
        let sensitivity = kendall_of_group(&identity(n as usize));
        let alpha = p["theta"].as_f64().unwrap() * sensitivity as f64;
        near(alpha, &v["alpha"], &e["id"]);
        let bound = subset_bound(n, subset, p["eps"].as_f64().unwrap(), alpha).unwrap();
        near(bound.odds_of_losing, &v["bound_ratio"], &e["id"]);
        let rounding = 1.0 + 1e-12;
        assert!(
            v["win"].as_f64().unwrap() <= bound.winning * rounding,
            "{}",
            e["id"]
        );
        assert!(
            v["lose"].as_f64().unwrap() * rounding >= bound.losing,
            "{}",
            e["id"]
        );
    }
}
