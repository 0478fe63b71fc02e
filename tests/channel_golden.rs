//! Exact figures of channels against values computed elsewhere in exact rationals or to 30 digits.

use leakgauge::exact::channel::{
    Channel, Payoff, Prior, SearchMethod, center_bound, diameter, l2_bound, mean_row,
};
use serde_json::Value;

const ALL: [SearchMethod; 4] = [
    SearchMethod::Direct,
    SearchMethod::Pruned,
    SearchMethod::Embedding,
    SearchMethod::Auto,
];

/// Observations that the embedding is tried with.
const FEW: usize = 12;

fn entries(text: &str, kind: &str) -> Vec<Value> {
    let table: Value = serde_json::from_str(text).unwrap();
    assert!(table["source"].is_string());
    let all = table["entries"].as_array().unwrap();
    let found: Vec<Value> = all.iter().filter(|e| e["kind"] == kind).cloned().collect();
    assert!(!found.is_empty(), "no entries of kind {kind}");
    found
}

fn channels(kind: &str) -> Vec<Value> {
    entries(include_str!("golden/channels.json"), kind)
}

fn compositions(kind: &str) -> Vec<Value> {
    entries(include_str!("golden/channel_composition.json"), kind)
}

fn numbers(value: &Value) -> Vec<f64> {
    let list = value.as_array().unwrap();
    list.iter().map(|x| x.as_f64().unwrap()).collect()
}

fn matrix(value: &Value) -> Vec<Vec<f64>> {
    value.as_array().unwrap().iter().map(numbers).collect()
}

fn channel(value: &Value) -> Channel {
    Channel::from_rows(&matrix(value)).unwrap()
}

fn prior(value: &Value) -> Prior {
    Prior::new(numbers(value)).unwrap()
}

/// 1e-12 relative, the tolerance of the tables.
fn check(entry: &Value, what: &str, computed: f64) {
    let expected = entry["values"][what].as_f64().unwrap();
    let error = (computed - expected).abs();
    assert!(
        error <= 1e-12 * expected.abs(),
        "{}, {what}: {computed:e}, not {expected:e}",
        entry["id"]
    );
}

/// 1e-12 absolute, for differences of numbers of order 1.
fn check_difference(entry: &Value, what: &str, computed: f64) {
    let expected = entry["values"][what].as_f64().unwrap();
    assert!(
        (computed - expected).abs() <= 1e-12,
        "{}, {what}: {computed:e}, not {expected:e}",
        entry["id"]
    );
}

/// Bayes security by every method, and that the pair is the first of all that reach it.
fn check_worst_pair(entry: &Value, channel: &Channel) {
    for method in ALL {
        if method == SearchMethod::Embedding && channel.observations().len() > FEW {
            continue;
        }
        let found = diameter(channel, method).unwrap();
        check(entry, "beta_star", found.bayes_security);
        let pairs = entry["values"]["argmin_pairs"].as_array();
        // Pairs below 1e-30 are one to a table of 30 digits.
        let told_apart = found.bayes_security > 1e-30 || found.bayes_security == 0.0;
        if let Some(first) = pairs.and_then(|pairs| pairs.first()).filter(|_| told_apart) {
            let pair = numbers(first);
            let expected = (pair[0] as usize, pair[1] as usize);
            assert_eq!(found.pair, expected, "{} {method:?}", entry["id"]);
        }
    }
}

#[test]
fn channels_have_their_bayes_security_pair_capacity_and_epsilon() {
    for entry in channels("channel") {
        let channel = channel(&entry["params"]["matrix"]);
        check_worst_pair(&entry, &channel);
        check(&entry, "ml_capacity", channel.multiplicative_capacity());
        let worst = diameter(&channel, SearchMethod::Auto).unwrap();
        check(&entry, "adv", worst.total_variation);
        check(&entry, "diameter_l1", 2.0 * worst.total_variation);
        match channel.epsilon() {
            Some(epsilon) => check(&entry, "ldp_epsilon", epsilon),
            None => assert!(entry["values"]["ldp_epsilon"].is_null()),
        }
        let expected = matrix(&entry["values"]["tv_matrix"]);
        let found = channel.total_variation_matrix().unwrap();
        for (expected, found) in expected.iter().flatten().zip(found.iter().flatten()) {
            assert!(
                (expected - found).abs() <= 1e-12 * expected,
                "{}",
                entry["id"]
            );
        }
    }
}

#[test]
fn figures_at_a_prior_and_the_bounds_that_hold_there() {
    for entry in channels("prior") {
        let channel = channel(&entry["params"]["matrix"]);
        let prior = prior(&entry["params"]["prior"]);
        let worst = diameter(&channel, SearchMethod::Auto).unwrap();
        let risk = channel.bayes_risk(&prior).unwrap();
        let blind = prior.weights()[prior.mode()];
        check(&entry, "G", prior.guessing_error());
        check(&entry, "R_star", risk);
        check(
            &entry,
            "beta",
            channel.risk_leakage(&prior).unwrap().unwrap(),
        );
        check(
            &entry,
            "L_mult",
            channel.multiplicative_leakage(&prior).unwrap(),
        );
        check_difference(&entry, "L_add", channel.additive_leakage(&prior).unwrap());
        let by_security = worst.bayes_security * prior.guessing_error();
        let by_capacity = 1.0 - channel.multiplicative_capacity() * blind;
        check(&entry, "bound_beta_star", by_security);
        check_difference(&entry, "bound_ML", by_capacity);
        assert!(risk >= by_security - 1e-14 && risk >= by_capacity - 1e-14);
    }
}

#[test]
fn nearly_certain_priors_lose_no_digits() {
    for entry in channels("near_degenerate_prior") {
        let channel = channel(&entry["params"]["matrix"]);
        let prior = prior(&entry["params"]["prior"]);
        check(
            &entry,
            "beta",
            channel.risk_leakage(&prior).unwrap().unwrap(),
        );
    }
}

#[test]
fn gains_and_losses_leak_what_they_should() {
    for entry in channels("g_leakage") {
        let channel = channel(&entry["params"]["matrix"]);
        let prior = prior(&entry["params"]["prior"]);
        let payoff = |rows: Vec<Vec<f64>>| {
            let labels = (0..rows.len()).map(|k| k.to_string()).collect();
            Payoff::new(labels, channel.secrets().len(), rows.concat()).unwrap()
        };
        let rows = matrix(&entry["params"]["gain"]);
        assert_eq!(entry["params"]["loss"], "1 - gain");
        let turned = |row: &Vec<f64>| row.iter().map(|g| 1.0 - g).collect();
        let loss = payoff(rows.iter().map(turned).collect());
        let gain = payoff(rows);
        let before = gain.prior_vulnerability(&prior).unwrap();
        let after = gain.vulnerability(&channel, &prior).unwrap();
        check(&entry, "Vg_prior", before);
        check(&entry, "Vg_post", after);
        check(&entry, "L_mult_g", after / before);
        check(&entry, "ml_capacity", channel.multiplicative_capacity());
        let (blind, risk) = (
            loss.prior_risk(&prior).unwrap(),
            loss.risk(&channel, &prior).unwrap(),
        );
        check_difference(&entry, "R_loss_prior", blind);
        check_difference(&entry, "R_loss_post", risk);
        if entry["values"]["beta_loss"].is_number() {
            check_difference(&entry, "beta_loss", risk / blind);
        }
    }
}

#[test]
fn a_center_bounds_bayes_security_on_both_sides() {
    for entry in channels("prop5") {
        let channel = channel(&entry["params"]["matrix"]);
        let q = numbers(&entry["params"]["q"]);
        let mixture = entry["params"]["q_in_hull"] == "yes";
        let Ok(bound) = center_bound(&channel, &q, mixture) else {
            // The envelope of the rows is no distribution.
            let sum: f64 = q.iter().sum();
            assert!((sum - 1.0).abs() > 1e-9, "{}", entry["id"]);
            continue;
        };
        check_difference(&entry, "d", bound.distance);
        check_difference(&entry, "lower", bound.lower);
        match bound.upper {
            Some(upper) => check_difference(&entry, "upper", upper),
            None => assert!(entry["values"]["upper"].is_null()),
        }
        let found = diameter(&channel, SearchMethod::Auto)
            .unwrap()
            .bayes_security;
        assert!(bound.lower <= found + 1e-14);
        assert!(bound.upper.is_none_or(|upper| found <= upper + 1e-14));
    }
}

#[test]
fn bounds_of_randomized_response_as_in_figure_8() {
    for entry in channels("fig8") {
        let n = entry["params"]["n"].as_u64().unwrap() as usize;
        if n > 300 {
            continue;
        }
        let odds = entry["params"]["eps"].as_f64().unwrap().exp();
        let entry_of =
            |s: usize, o: usize| if s == o { odds } else { 1.0 } / (odds + n as f64 - 1.0);
        let row = |s: usize| (0..n).map(move |o| entry_of(s, o)).collect();
        let rows: Vec<Vec<f64>> = (0..n).map(row).collect();
        let channel = Channel::from_rows(&rows).unwrap();
        let worst = diameter(&channel, SearchMethod::Auto).unwrap();
        check(&entry, "exact", worst.bayes_security);
        let mean = center_bound(&channel, &mean_row(&channel), true).unwrap();
        check_difference(&entry, "mean_row", mean.lower);
        check_difference(&entry, "mean_row_upper", mean.upper.unwrap());
        let any = center_bound(&channel, channel.row(n - 1), true).unwrap();
        check_difference(&entry, "any_row", any.lower);
        check_difference(&entry, "any_row_upper", any.upper.unwrap());
        check_difference(&entry, "l2_diameter", l2_bound(&channel).lower);
    }
}

#[test]
fn triangle_inequalities_of_pairs() {
    for entry in channels("triangle") {
        let channel = channel(&entry["params"]["matrix"]);
        for (pair, expected) in entry["values"]["beta_pairs"].as_object().unwrap() {
            let (a, b) = pair.split_once(',').unwrap();
            let (a, b): (usize, usize) = (a.parse().unwrap(), b.parse().unwrap());
            let found = channel.pair_bayes_security(a, b);
            let expected = expected.as_f64().unwrap();
            assert!((found - expected).abs() <= 1e-12 * expected, "{pair}");
        }
    }
}

#[test]
fn channels_with_a_promised_epsilon_keep_it() {
    for entry in channels("thm5") {
        let channel = channel(&entry["values"]["matrix"]);
        check_worst_pair(&entry, &channel);
        check(&entry, "ldp_epsilon", channel.epsilon().unwrap());
    }
    for entry in channels("eps_delta") {
        let rows = &entry["values"]["tight_rows"];
        if rows.is_null() {
            continue;
        }
        let channel = channel(rows);
        let epsilon = entry["params"]["eps"].as_f64().unwrap();
        let delta = entry["params"]["delta"].as_f64().unwrap();
        let (found, _) = channel.delta(epsilon).unwrap();
        assert!((found - delta).abs() <= 1e-12, "{}: {found}", entry["id"]);
        let security = diameter(&channel, SearchMethod::Auto)
            .unwrap()
            .bayes_security;
        check_difference(&entry, "beta_bound", security);
    }
}

#[test]
fn parallel_composition_keeps_the_product_bound() {
    for entry in compositions("parallel") {
        let parts = ["c1", "c2"].map(|name| channel(&entry["params"][name]));
        let both = parts[0].parallel(&parts[1]).unwrap();
        check_worst_pair(&entry, &both);
        let [one, two] =
            [&parts[0], &parts[1]].map(|c| diameter(c, SearchMethod::Auto).unwrap().bayes_security);
        check(&entry, "beta_star_c1", one);
        check(&entry, "beta_star_c2", two);
        check(&entry, "product_bound", one * two);
        let reached = diameter(&both, SearchMethod::Auto).unwrap().bayes_security;
        assert!(reached >= one * two * (1.0 - 1e-14));
        if entry["values"]["ml"].is_number() {
            check(&entry, "ml", both.multiplicative_capacity());
        }
    }
}

#[test]
fn repetition_keeps_the_power_bound() {
    for entry in compositions("kfold") {
        let one = channel(&entry["params"]["matrix"]);
        let times = entry["params"]["k"].as_u64().unwrap();
        let many = one.repeat(times).unwrap();
        check_worst_pair(&entry, &many);
        let security = diameter(&one, SearchMethod::Auto).unwrap().bayes_security;
        check(&entry, "product_bound", security.powi(times as i32));
    }
}

#[test]
fn cascades_leak_no_more_than_either_part() {
    for entry in compositions("cascade") {
        let parts = ["c1", "c2"].map(|name| channel(&entry["params"][name]));
        let through = parts[0].cascade(&parts[1]).unwrap();
        let expected = matrix(&entry["values"]["product"]).concat();
        for (found, expected) in through.values().iter().zip(expected) {
            assert!(
                (found - expected).abs() <= 1e-12 * expected,
                "{}",
                entry["id"]
            );
        }
        check_worst_pair(&entry, &through);
        check(&entry, "ml", through.multiplicative_capacity());
        let found = diameter(&through, SearchMethod::Auto)
            .unwrap()
            .bayes_security;
        for part in &parts {
            let part = diameter(part, SearchMethod::Auto).unwrap().bayes_security;
            assert!(found >= part - 1e-14);
        }
    }
}

#[test]
fn the_pair_that_is_worst_once_need_not_be_worst_twice() {
    // The matrix printed in Proposition 1: values right, minimizers not unique.
    let printed = [
        vec![0.9, 0.1, 0.0],
        vec![0.8, 0.2, 0.0],
        vec![0.5, 0.5, 0.0],
        vec![0.5, 0.1, 0.4],
    ];
    let channel = Channel::from_rows(&printed).unwrap();
    let once = diameter(&channel, SearchMethod::Auto).unwrap();
    assert_eq!(once.pair, (0, 2));
    let both = channel.parallel(&channel).unwrap();
    let twice = diameter(&both, SearchMethod::Auto).unwrap();
    assert!((both.pair_bayes_security(0, 2) - 0.44).abs() < 1e-15);
    assert_eq!(twice.pair, (0, 3));
    assert!((twice.bayes_security - 0.36).abs() < 1e-15);
    // A matrix with one minimizer each, and not the same.
    let strict = [
        vec![0.2, 0.1, 0.7],
        vec![0.6, 0.0, 0.4],
        vec![0.7, 0.2, 0.1],
        vec![0.3, 0.5, 0.2],
    ];
    let channel = Channel::from_rows(&strict).unwrap();
    let once = diameter(&channel, SearchMethod::Auto).unwrap();
    let twice = diameter(&channel.repeat(2).unwrap(), SearchMethod::Auto).unwrap();
    assert_eq!((once.pair, twice.pair), ((0, 2), (1, 3)));
    assert!((once.bayes_security - 0.4).abs() < 1e-15);
    assert!((twice.bayes_security - 0.25).abs() < 1e-15);
}

fn geometric_rows(entry: &Value) -> Vec<Vec<f64>> {
    let params = &entry["params"];
    let (n, m) = (params["S"].as_u64().unwrap(), params["O"].as_u64().unwrap());
    let nu = params["nu"].as_f64().unwrap();
    let folded = params["variant"] == "truncated";
    let row = |s: u64| -> Vec<f64> {
        let at = (s * (m / n)) as f64;
        let weight = |o: u64| -> f64 {
            let w = (-nu * (at - o as f64).abs()).exp();
            // An end holds its own weight and the tail beyond: a geometric series.
            if folded && (o == 0 || o + 1 == m) {
                w / -(-nu).exp_m1()
            } else {
                w
            }
        };
        // At its own end a row holds all but the inner tail.
        let mut weights: Vec<f64> = (0..m).map(weight).collect();
        let sum = if folded {
            (1.0 + (-nu).exp()) / -(-nu).exp_m1()
        } else {
            weights.iter().sum()
        };
        weights.iter_mut().for_each(|w| *w /= sum);
        weights
    };
    (0..n).map(row).collect()
}

#[test]
fn geometric_channels_keep_their_smallest_figures() {
    for entry in entries(include_str!("golden/channel_geometric.json"), "geometric") {
        let channel = Channel::from_rows(&geometric_rows(&entry)).unwrap();
        check_worst_pair(&entry, &channel);
        check(&entry, "ml_capacity", channel.multiplicative_capacity());
        let n = channel.secrets().len();
        check(&entry, "tv_first_two", channel.total_variation(0, 1));
        check(&entry, "tv_first_last", channel.total_variation(0, n - 1));
        let risk = channel.bayes_risk(&Prior::uniform(n)).unwrap();
        check(&entry, "R_star_uniform", risk);
        let weights: Vec<f64> = (0..n).map(|s| 0.5f64.powi(s as i32 + 1)).collect();
        let sum: f64 = weights.iter().sum();
        let prior = Prior::new(weights.iter().map(|w| w / sum).collect()).unwrap();
        let risk = channel.bayes_risk(&prior).unwrap();
        check(&entry, "R_star_geometric_prior", risk);
        let mean = center_bound(&channel, &mean_row(&channel), true).unwrap();
        check_difference(&entry, "prop5_centroid_lower", mean.lower);
        check_difference(&entry, "prop5_centroid_upper", mean.upper.unwrap());
    }
}
