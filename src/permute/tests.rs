//! Golden values, and laws against enumeration.

use serde_json::Value;

use super::*;
use crate::permute::mallows::{Hamming, Kendall};

fn golden(kind: &str) -> Vec<Value> {
    let table: Value =
        serde_json::from_str(include_str!("../../tests/golden/permute.json")).unwrap();
    let all = table["entries"].as_array().unwrap();
    let found: Vec<Value> = all.iter().filter(|e| e["kind"] == kind).cloned().collect();
    assert!(!found.is_empty(), "no entries of kind {kind}");
    found
}

/// A list of numbers from 1 as rows from 0.
fn rows(list: &Value) -> Vec<u32> {
    let list = list.as_array().unwrap().iter();
    list.map(|x| x.as_u64().unwrap() as u32 - 1).collect()
}

fn near(found: f64, expected: &Value, id: &Value) {
    let expected = expected.as_f64().unwrap();
    let off = (found - expected).abs();
    assert!(
        off <= 1e-12 * expected.abs(),
        "{id}: {found:e}, not {expected:e}"
    );
}

/// All permutations of 0 … n − 1.
fn all(n: usize) -> Vec<Vec<u32>> {
    fn extend(left: &mut Vec<u32>, begun: &mut Vec<u32>, out: &mut Vec<Vec<u32>>) {
        if left.is_empty() {
            out.push(begun.clone());
        }
        for at in 0..left.len() {
            let item = left.remove(at);
            begun.push(item);
            extend(left, begun, out);
            begun.pop();
            left.insert(at, item);
        }
    }
    let mut out = Vec::new();
    extend(&mut (0..n as u32).collect(), &mut Vec::new(), &mut out);
    out
}

fn identity(n: usize) -> Vec<u32> {
    (0..n as u32).collect()
}

#[test]
fn operations_and_distances_are_the_golden_ones() {
    for e in golden("perm_ops") {
        let sigma = rows(&e["params"]["sigma"]);
        let x = rows(&e["params"]["x"]);
        assert_eq!(apply(&sigma, &x), rows(&e["values"]["applied"]));
        assert_eq!(inverse(&sigma), rows(&e["values"]["inverse"]));
    }
    for e in golden("distance") {
        let (a, b) = (rows(&e["params"]["a"]), rows(&e["params"]["b"]));
        let v = &e["values"];
        assert_eq!(kendall(&a, &b), v["kendall_items"].as_u64().unwrap());
        assert_eq!(hamming(&a, &b), v["hamming"].as_u64().unwrap());
        // Places instead of items.
        let places = kendall(&inverse(&a), &inverse(&b));
        assert_eq!(places, v["kendall_values"].as_u64().unwrap());
        if let Some(inversions_a) = v["inversions_a"].as_u64() {
            assert_eq!(inversions(&a), inversions_a);
            assert_eq!(compose(&a, &b), rows(&v["compose"]));
        }
    }
}

fn groups_of(lists: &Value) -> Vec<Vec<u32>> {
    lists.as_array().unwrap().iter().map(rows).collect()
}

fn check_groups(e: &Value, groups: &Groups) {
    for (row, expected) in groups_of(&e["values"]["groups"]).iter().enumerate() {
        assert_eq!(
            groups.members(groups.of_row(row).unwrap()),
            expected,
            "{}",
            e["id"]
        );
    }
    let choice = OrderChoice::Named(OrderName::BreadthFirst);
    let order = orders(groups, None, choice).remove(0);
    let v = &e["values"];
    assert_eq!(order.rows, rows(&v["sigma0"]), "{}", e["id"]);
    assert_eq!(order.width, v["width"].as_u64().unwrap());
    assert_eq!(
        bound_by_width(order.width),
        v["paper_bound"].as_u64().unwrap()
    );
    assert_eq!(order.kendall, v["exact_delta"].as_u64().unwrap());
}

#[test]
fn groups_and_breadth_first_orders_are_the_golden_ones() {
    for e in golden("graph") {
        let pairs = groups_of(&e["params"]["edges"]);
        let pairs: Vec<(u32, u32)> = pairs.iter().map(|p| (p[0], p[1])).collect();
        let n = e["params"]["n"].as_u64().unwrap() as usize;
        let edges = Edges::new(n, &pairs).unwrap();
        let length = e["params"]["r"].as_u64().unwrap() as u32;
        check_groups(&e, &Groups::by_path(&edges, length).unwrap());
    }
    for e in golden("line").into_iter().chain(golden("plane")) {
        let mut coordinates = Vec::new();
        let t = e["params"]["t"].as_array().unwrap();
        for point in t {
            match point.as_array() {
                Some(point) => coordinates.extend(point.iter().map(|x| x.as_f64().unwrap())),
                None => coordinates.push(point.as_f64().unwrap()),
            }
        }
        let d = coordinates.len() / t.len();
        let points = Points::new(coordinates, d).unwrap();
        let radius = e["params"]["r"].as_f64().unwrap();
        check_groups(&e, &Groups::within(&points, radius).unwrap());
    }
}

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
        let hamming = Distance::Hamming.sensitivity(&groups, found.kendall);
        assert_eq!(hamming, v["hamming_delta"].as_u64().unwrap(), "{}", e["id"]);
        let each = of_groups(&groups, &sigma0);
        assert_eq!(each.iter().map(|s| s.kendall).max().unwrap(), found.kendall);
    }
}

/// θΔ is exactly the largest log-ratio over all neighbouring inputs and all outputs.
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

#[test]
fn moments_of_kendall_are_the_golden_ones() {
    for e in golden("kendall_moments") {
        let n = e["params"]["n"].as_u64().unwrap() as u32;
        let theta = e["params"]["theta"].as_f64().unwrap();
        let model = Kendall { n, theta };
        near(model.log_psi(), &e["values"]["log_psi"], &e["id"]);
        near(model.mean(), &e["values"]["mean_kendall"], &e["id"]);
        near(model.variance(), &e["values"]["var_kendall"], &e["id"]);
    }
}

#[test]
fn moments_of_hamming_are_the_golden_ones() {
    for e in golden("hamming_psi") {
        let n = e["params"]["n"].as_u64().unwrap() as u32;
        let theta = e["params"]["theta"].as_f64().unwrap();
        let model = Hamming { n, theta };
        let (found, expected) = (model.log_psi(), e["values"]["log_psi"].as_f64().unwrap());
        // ψ → 1 cancels in its logarithm.
        assert!(
            (found - expected).abs() <= 1e-12 * expected.abs().max(1.0),
            "{}",
            e["id"]
        );
        let (found, expected) = (model.mean(), e["values"]["mean_hamming"].as_f64().unwrap());
        assert!(
            (found - expected).abs() <= 1e-11 * expected.abs(),
            "{}: {found} {expected}",
            e["id"]
        );
    }
}

/// Insertions have the golden probabilities: the quantile function jumps at their sums.
#[test]
fn insertions_have_the_golden_probabilities() {
    for e in golden("rim") {
        let theta = e["params"]["theta"].as_f64().unwrap();
        if theta == 0.0 {
            continue;
        }
        let model = Kendall { n: 5, theta };
        let table = e["values"]["insertion"].as_array().unwrap();
        for (i, row) in (1u32..).zip(table) {
            let mut sum = 0.0;
            // The table goes by place, from the front.
            for (before, p) in (0u32..).zip(row.as_array().unwrap().iter().rev()) {
                let p = p.as_f64().unwrap();
                if p > 1e-9 {
                    assert_eq!(model.insertion_at(i, sum + 1e-12), before, "{}", e["id"]);
                    assert_eq!(
                        model.insertion_at(i, sum + p - 1e-12 * p - 1e-15),
                        before,
                        "{}",
                        e["id"]
                    );
                }
                sum += p;
            }
            assert!((sum - 1.0).abs() < 1e-12);
        }
    }
}

/// Every insertion sequence gives another permutation, whose distance is their sum.
#[test]
fn insertions_and_permutations_are_one_to_one() {
    let model = Kendall { n: 5, theta: 1.0 };
    let mut met = std::collections::BTreeSet::new();
    for code in 0..120u32 {
        let digits = [0, code % 2, code / 2 % 3, code / 6 % 4, code / 24];
        let sigma = model.insert(|i| digits[i as usize - 1]);
        assert_eq!(inversions(&sigma), u64::from(digits.iter().sum::<u32>()));
        met.insert(sigma);
    }
    assert_eq!(met.len(), 120);
}

/// χ² of all permutations against their exact probabilities, false alarm 1e-6 each.
fn follows(n: usize, log_weight: impl Fn(&[u32]) -> f64, mut draw: impl FnMut() -> Vec<u32>) {
    const DRAWS: u32 = 60_000;
    let permutations = all(n);
    let weights: Vec<f64> = permutations.iter().map(|p| log_weight(p).exp()).collect();
    let total: f64 = weights.iter().sum();
    let mut counts = std::collections::BTreeMap::new();
    for _ in 0..DRAWS {
        *counts.entry(draw()).or_insert(0u32) += 1;
    }
    // Cells that are too rare are one.
    let (mut statistic, mut cells) = (0.0, 0);
    let (mut rare, mut rare_count) = (0.0, 0.0);
    let mut add = |expected: f64, found: f64| {
        if expected > 0.0 {
            statistic += (found - expected).powi(2) / expected;
            cells += 1;
        }
    };
    for (permutation, weight) in permutations.iter().zip(&weights) {
        let expected = f64::from(DRAWS) * weight / total;
        let found = f64::from(counts.get(permutation).copied().unwrap_or(0));
        if expected < 5.0 {
            rare += expected;
            rare_count += found;
        } else {
            add(expected, found);
        }
    }
    add(rare, rare_count);
    if cells > 1 {
        let p = crate::stats::special::chi_squared_survival(statistic, f64::from(cells - 1));
        assert!(p > 1e-6, "n {n}: χ² {statistic} of {cells} cells, p {p:e}");
    }
}

#[test]
fn samples_follow_the_models_exactly() {
    let mut randomness = Randomness::seeded(17);
    for n in 1..=6usize {
        for theta in [0.0, 0.1, 0.7, 3.0] {
            let kendall = Kendall { n: n as u32, theta };
            follows(
                n,
                |p| -theta * inversions(p) as f64,
                || kendall.sample(&mut randomness),
            );
            let model = Hamming { n: n as u32, theta };
            let id = identity(n);
            follows(
                n,
                |p| -theta * hamming(p, &id) as f64,
                || model.sample(&mut randomness),
            );
        }
    }
    for theta in [f64::INFINITY, 800.0] {
        assert_eq!(Kendall { n: 9, theta }.sample(&mut randomness), identity(9));
        assert_eq!(Hamming { n: 9, theta }.sample(&mut randomness), identity(9));
    }
}

/// The golden probabilities of σ are those of a reference order too.
#[test]
fn probabilities_at_a_reference_order_are_the_golden_ones() {
    for e in golden("exact_probs") {
        let sigma0 = rows(&e["params"]["sigma0"]);
        let theta = e["params"]["theta"].as_f64().unwrap();
        let n = sigma0.len();
        let log_psi = Kendall { n: n as u32, theta }.log_psi();
        for sigma in all(n) {
            let name: String = sigma.iter().map(|i| (i + 1).to_string()).collect();
            let p = (-theta * kendall(&sigma0, &sigma) as f64 - log_psi).exp();
            let expected = e["values"]["probs"][&name].as_f64().unwrap();
            assert!((p - expected).abs() < 1e-12, "{} {name}", e["id"]);
        }
    }
}

/// Mean of 400 samples within five standard errors; their variance within five of its own.
#[test]
fn large_samples_have_the_mean_and_variance_of_the_model() {
    let n = 10_000;
    for theta in [0.0, 1e-4, 0.01, 1.0] {
        let model = Kendall { n, theta };
        let mut randomness = Randomness::seeded(5);
        let draws: Vec<f64> = (0..400)
            .map(|_| inversions(&model.sample(&mut randomness)) as f64 - model.mean())
            .collect();
        let size = draws.len() as f64;
        let mean = draws.iter().sum::<f64>() / size;
        let variance = draws.iter().map(|d| d * d).sum::<f64>() / size;
        let expected = model.variance();
        assert!(
            mean.abs() < 5.0 * (expected / size).sqrt(),
            "{theta}: {mean}"
        );
        assert!(
            (variance / expected - 1.0).abs() < 5.0 * (2.0 / size).sqrt(),
            "{theta}: {variance}"
        );
    }
}

/// Theorem A.4's f(p, m) by its recursion, for the oracle below.
fn f(p: u64, m: u64) -> f64 {
    // Inclusion and exclusion: no object of type A at its own place.
    let factorial = |n: u64| (1..=n).map(|i| i as f64).product::<f64>();
    let term =
        |t: u64| choose(p, t) * factorial(p + m - t) * if t.is_multiple_of(2) { 1.0 } else { -1.0 };
    (0..=p).map(term).sum()
}

fn choose(n: u64, k: u64) -> f64 {
    if k > n {
        return 0.0;
    }
    (0..k)
        .map(|i| (n - i) as f64 / (i + 1) as f64)
        .product::<f64>()
        .round()
}

/// c_h as Theorem A.4 has it, with floor and the smaller of l and h/2.
fn failing(n: u64, l: u64, k: u64, h: u64) -> f64 {
    let mut sum = 0.0;
    for j in k + 1..=l.min(h / 2) {
        for i in 0..=(l - j).min(h - 2 * j) {
            if n < l + j {
                continue;
            }
            let rest = h - 2 * j - i;
            sum += choose(l, j)
                * choose(n - l, j)
                * choose(l - j, i)
                * f(i, j)
                * choose(n - l - j, rest)
                * f(rest, j);
        }
    }
    sum
}

#[test]
fn failures_to_preserve_are_those_of_the_theorem() {
    for e in golden("f_pm") {
        let (p, m) = (&e["params"]["p"], &e["params"]["m"]);
        assert_eq!(
            f(p.as_u64().unwrap(), m.as_u64().unwrap()),
            e["values"]["f"].as_f64().unwrap()
        );
    }
    for e in golden("c_h") {
        let n = e["params"]["n"].as_u64().unwrap();
        let l = e["params"]["S_size"].as_u64().unwrap();
        let eta = e["params"]["eta"].as_f64().unwrap();
        let k = e["values"]["k_floor"].as_u64().unwrap();
        let counts = e["values"]["c_h"].as_array().unwrap();
        for (h, expected) in (0..).zip(counts) {
            assert_eq!(
                failing(n, l, k, h),
                expected.as_f64().unwrap(),
                "{} h {h}",
                e["id"]
            );
        }
        for theta in [0.0, 0.5, 1.0] {
            let name = format!("delta_hamming_theta{theta}");
            let expected = e["values"][&name].as_f64().unwrap();
            let found = hamming_failure(n as u32, l as u32, eta, theta);
            assert!(
                (found - expected).abs() < 1e-12,
                "{} {name}: {found} {expected}",
                e["id"]
            );
        }
    }
    for n in [8u32, 15] {
        for (l, eta, theta) in [(3, 0.5, 0.3), (7, 0.7, 2.0), (n, 0.5, 0.1), (1, 1.0, 0.01)] {
            let k = ((1.0 - eta) * f64::from(l)).floor() as u64;
            let psi = Hamming { n, theta }.log_psi();
            let by_theorem: f64 = (0..=u64::from(n))
                .map(|h| failing(n.into(), l.into(), k, h) * (-theta * h as f64 - psi).exp())
                .sum();
            let found = hamming_failure(n, l, eta, theta);
            assert!(
                (found - by_theorem).abs() < 1e-11,
                "{n} {l}: {found} {by_theorem}"
            );
        }
    }
}

#[test]
fn what_a_permutation_preserves_is_the_golden_share() {
    for e in golden("preserved") {
        let sigma = rows(&e["params"]["sigma"]);
        let set = rows(&e["params"]["S"]);
        let mut marked = vec![false; sigma.len()];
        let found = kept(&set, &sigma, &mut marked);
        assert_eq!(
            u64::from(found),
            e["values"]["preserved"].as_u64().unwrap(),
            "{}",
            e["id"]
        );
        assert!(!marked.contains(&true));
    }
}

/// The mean share that simulated shuffles preserve against the golden exact one; 4000 shuffles, five
/// standard errors.
#[test]
fn simulated_preservation_has_the_golden_mean() {
    for e in golden("kendall_preservation") {
        let sigma0 = rows(&e["params"]["sigma0"]);
        let set = rows(&e["params"]["S"]);
        let theta = e["params"]["theta"].as_f64().unwrap();
        let n = sigma0.len();
        let groups = Groups::listed(n, vec![("S".to_owned(), set.clone())]).unwrap();
        let mut plan = Plan::new(&groups, 1.0, Distance::Kendall, OrderChoice::Best, None).unwrap();
        (plan.theta, plan.reference.rows) = (theta, sigma0);
        let found = plan.preservation(&groups, &[0], 4000, (0.05, 0.95), &Randomness::seeded(1))[0];
        let law = e["values"]["overlap_distribution"].as_array().unwrap();
        let mean = e["values"]["mean_fraction"].as_f64().unwrap();
        let size = set.len() as f64;
        let variance: f64 = law
            .iter()
            .zip(0u32..)
            .map(|(p, kept)| p.as_f64().unwrap() * (f64::from(kept) / size - mean).powi(2))
            .sum();
        assert!(
            (found.mean - mean).abs() < 5.0 * (variance / 4000.0).sqrt(),
            "{}",
            e["id"]
        );
        // The limit is below the quantile that it limits.
        let mut below = 0.0;
        for (kept, p) in (0u32..).zip(law) {
            if f64::from(kept) / size < found.eta.unwrap() {
                below += p.as_f64().unwrap();
            }
        }
        assert!(below <= 0.05, "{}: {below}", e["id"]);
    }
}

#[test]
fn the_fewest_shuffles_are_enough_and_one_less_is_not() {
    for (delta, confidence) in [(0.05, 0.95), (0.01, 0.99), (0.5, 0.9)] {
        let trials = trials_for(delta, confidence);
        assert!((1.0 - delta).powf(trials as f64) <= 1.0 - confidence);
        assert!((1.0 - delta).powf(trials as f64 - 1.0) > 1.0 - confidence);
        let eta = |trials: u64| {
            let mut counts = vec![3; trials as usize];
            preservation::Preserved::new(&mut counts, 4, delta, confidence).eta
        };
        assert_eq!((eta(trials), eta(trials - 1)), (Some(0.75), None));
    }
}

/// On a line the sweep is best, and no order is worse than the paper's for the default.
#[test]
fn the_best_order_is_taken_and_every_order_has_all_rows() {
    let line: Vec<f64> = (0..500).map(|i| f64::from(i * 7919 % 500)).collect();
    let points = Points::new(line, 1).unwrap();
    let groups = Groups::within(&points, 3.0).unwrap();
    let found = orders(&groups, Some(&points), OrderChoice::Best);
    assert_eq!(found.len(), 4);
    for order in &found {
        assert_eq!(inverse(&inverse(&order.rows)), order.rows);
        let mut sorted = order.rows.clone();
        sorted.sort_unstable();
        assert_eq!(sorted, identity(500));
    }
    let plan = Plan::new(
        &groups,
        2.0,
        Distance::Kendall,
        OrderChoice::Best,
        Some(&points),
    )
    .unwrap();
    assert_eq!((plan.reference.width, plan.sensitivity), (6, 21));
    assert_eq!(plan.theta, 2.0 / 21.0);
    let least = found.iter().map(|order| order.width).min().unwrap();
    assert_eq!(least, plan.reference.width);
}

/// Two cliques and a loner, in a graph, by listed groups and by nearest ones: any grouping gets orders.
#[test]
fn disconnected_groups_are_fine() {
    let edges = Edges::new(7, &[(0, 2), (2, 4), (0, 4), (1, 3), (3, 5), (1, 5)]).unwrap();
    let groups = Groups::by_path(&edges, 1).unwrap();
    for order in orders(&groups, None, OrderChoice::Best) {
        assert_eq!(order.width, 2, "{:?}", order.name);
    }
    let points = Points::new(vec![0.0, 9.0, 1.0, 10.0, 2.0, 11.0, 99.0], 1).unwrap();
    let groups = Groups::nearest(&points, 3).unwrap();
    for order in orders(&groups, Some(&points), OrderChoice::Best) {
        assert!(
            order.width >= 2 && order.rows.len() == 7,
            "{:?}",
            order.name
        );
    }
    let alone = Groups::within(&points, 0.5).unwrap();
    let plan = Plan::new(
        &alone,
        1.0,
        Distance::Kendall,
        OrderChoice::Best,
        Some(&points),
    )
    .unwrap();
    assert_eq!(plan.theta, f64::INFINITY);
    assert_eq!(plan.permutation(&mut Randomness::seeded(1)), identity(7));
}

#[test]
fn an_alpha_that_is_none_is_refused() {
    let points = Points::new(vec![0.0, 1.0], 1).unwrap();
    let groups = Groups::within(&points, 2.0).unwrap();
    for alpha in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        let plan = Plan::new(&groups, alpha, Distance::Kendall, OrderChoice::Best, None);
        assert!(plan.unwrap_err().to_string().contains("alpha"));
    }
}
