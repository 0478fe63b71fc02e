//! Information flow of randomized response and shuffling against values computed elsewhere.

use leakgauge::exact::channel::{Channel, Prior};
use leakgauge::exact::shuffle::vulnerability::{
    Datasets, RandomizedResponseShuffle, ShuffledInputs, expected_max_load, expected_max_normal,
    informed_vulnerability,
};
use serde_json::Value;

fn entries(kind: &str) -> Vec<Value> {
    let text = include_str!("golden/shuffle_flow.json");
    let table: Value = serde_json::from_str(text).unwrap();
    let all = table["entries"].as_array().unwrap();
    let found: Vec<Value> = all.iter().filter(|e| e["kind"] == kind).cloned().collect();
    assert!(!found.is_empty(), "no entries of kind {kind}");
    found
}

fn number(entry: &Value, what: &str) -> f64 {
    entry["params"][what].as_f64().unwrap()
}

fn n_of(entry: &Value) -> u64 {
    entry["params"]["n"].as_u64().unwrap()
}

fn check(entry: &Value, what: &str, computed: f64) {
    let expected = entry["values"][what].as_f64().unwrap();
    assert!(
        (computed - expected).abs() <= 1e-12 * expected.abs(),
        "{}, {what}: {computed:e}, not {expected:e}",
        entry["id"]
    );
}

fn krr(k: usize, keep: f64) -> Channel {
    let other = (1.0 - keep) / (k - 1) as f64;
    let row = |x| (0..k).map(|y| if x == y { keep } else { other }).collect();
    Channel::from_rows(&(0..k).map(row).collect::<Vec<Vec<f64>>>()).unwrap()
}

#[test]
fn two_values() {
    for entry in entries("binary") {
        let (users, n) = (
            RandomizedResponseShuffle::new(2, number(&entry, "p")).unwrap(),
            n_of(&entry),
        );
        let found = users.noise_and_shuffle(n).unwrap();
        check(&entry, "V", found);
        check(&entry, "V_prior", users.prior());
        check(&entry, "V_N", users.noise());
        check(
            &entry,
            "L_add",
            users.advantage(n).unwrap() * users.dampening(),
        );
        check(&entry, "L_mult", found / users.prior());
    }
    for entry in entries("binary_large") {
        let users = RandomizedResponseShuffle::new(2, number(&entry, "p")).unwrap();
        check(&entry, "V", users.noise_and_shuffle(n_of(&entry)).unwrap());
        check(
            &entry,
            "excess",
            users.advantage(n_of(&entry)).unwrap() * users.dampening(),
        );
    }
}

#[test]
fn many_values() {
    for entry in entries("general_k") {
        let (k, n) = (entry["params"]["k"].as_u64().unwrap(), n_of(&entry));
        let users = RandomizedResponseShuffle::new(k, number(&entry, "p")).unwrap();
        check(&entry, "V", users.noise_and_shuffle(n).unwrap());
        check(&entry, "asym_f1", users.asymptotic(n).unwrap());
        check(&entry, "limit_form", users.leading_term(n).unwrap());
        check(&entry, "Emax", expected_max_load(n, k).unwrap().expected);
    }
    for entry in entries("asym_constant") {
        let k = entry["params"]["k"].as_u64().unwrap();
        check(&entry, "e_k", expected_max_normal(k));
        check(
            &entry,
            "f_limit",
            expected_max_normal(k) / (k as f64).ln().sqrt(),
        );
    }
}

/// Propositions 14 to 16, 18, 20 and 21 by their definition: sums over all data sets and all that may be seen of them.
#[test]
fn propositions_are_sums_over_all_data_sets() {
    for (k, n, keep) in [(2usize, 5u32, 0.8), (2, 6, 0.55), (3, 4, 0.7), (4, 3, 0.4)] {
        let users = RandomizedResponseShuffle::new(k as u64, keep).unwrap();
        let other = (1.0 - keep) / (k - 1) as f64;
        let all = k.pow(n);
        let digits = |code: usize| (0..n).map(move |at| code / k.pow(at) % k);
        let noise = |x: usize, y: usize| -> f64 {
            let pairs = digits(x).zip(digits(y));
            pairs
                .map(|(x, y)| if x == y { keep } else { other })
                .product()
        };
        let sorted = |code: usize| {
            let mut values: Vec<usize> = digits(code).collect();
            values.sort_unstable();
            values
        };
        // For each thing that may be seen, the joint probability with each value of the target.
        let vulnerability = |channel: &dyn Fn(usize, usize) -> f64, shuffled: bool| -> f64 {
            let mut joint = std::collections::BTreeMap::new();
            for x in 0..all {
                for y in 0..all {
                    let seen = if shuffled {
                        sorted(y)
                    } else {
                        digits(y).collect()
                    };
                    let row = joint.entry(seen).or_insert_with(|| vec![0.0; k]);
                    row[x % k] += channel(x, y) / all as f64;
                }
            }
            let most = |row: &Vec<f64>| row.iter().copied().fold(0.0, f64::max);
            joint.values().map(most).sum()
        };
        let identity = |x: usize, y: usize| f64::from(u8::from(x == y));
        let n = u64::from(n);
        let agree = |what: &str, found: f64, expected: f64| {
            assert!(
                (found - expected).abs() < 1e-12,
                "{what}: {found}, not {expected}"
            );
        };
        agree("prior", users.prior(), 1.0 / k as f64);
        agree("noise", users.noise(), vulnerability(&noise, false));
        agree(
            "shuffle",
            users.shuffle(n).unwrap(),
            vulnerability(&identity, true),
        );
        agree(
            "both",
            users.noise_and_shuffle(n).unwrap(),
            vulnerability(&noise, true),
        );
    }
}

#[test]
fn everyone_else_is_known() {
    for entry in entries("abo") {
        let (n, m) = (n_of(&entry), entry["params"]["m_known_a"].as_u64().unwrap());
        let channel = krr(2, number(&entry, "p"));
        let found = informed_vulnerability(&channel, &Prior::uniform(2), &[m, n - 1 - m]).unwrap();
        check(&entry, "V", found);
    }
}

fn assert_matrix(
    entry: &Value,
    golden: &Value,
    channel: &Channel,
    rows: &[usize],
    columns: &[usize],
) {
    let golden = golden.as_array().unwrap();
    assert_eq!(golden.len(), channel.secrets().len());
    for (line, &row) in golden.iter().zip(rows) {
        let line = line.as_array().unwrap();
        assert_eq!(line.len(), channel.observations().len());
        for (value, &column) in line.iter().zip(columns) {
            let (own, golden) = (channel.row(row)[column], value.as_f64().unwrap());
            assert!(
                (own - golden).abs() < 1e-15,
                "{}: {own} {golden}",
                entry["id"]
            );
        }
    }
}

fn channel_of(datasets: &Datasets, name: &str, keep: f64) -> Channel {
    match name {
        "N" => datasets.noise(keep),
        "S" => datasets.shuffle(),
        "Sr" => datasets.reduced_shuffle(),
        "NS" => datasets
            .noise(keep)
            .unwrap()
            .cascade(&datasets.shuffle().unwrap()),
        "NSr" => datasets
            .noise(keep)
            .unwrap()
            .cascade(&datasets.reduced_shuffle().unwrap()),
        "Nr" => datasets.reduced_noise(keep),
        _ => panic!("{name}"),
    }
    .unwrap()
}

#[test]
fn matrices_and_their_vulnerabilities() {
    for entry in entries("channel") {
        let (k, keep) = (
            entry["params"]["k"].as_u64().unwrap(),
            entry["params"]["p"].as_f64().unwrap_or(1.0),
        );
        let datasets = Datasets::new(k, n_of(&entry)).unwrap();
        if let Some(matrix) = entry["values"].get("matrix") {
            let name = entry["id"].as_str().unwrap().split('/').nth(1).unwrap();
            let channel = channel_of(&datasets, name, keep);
            let order: Vec<usize> = match entry["params"]["order"].as_array() {
                Some(order) if channel.secrets().len() == order.len() => order
                    .iter()
                    .map(|label| channel.secret_number(label.as_str().unwrap()).unwrap())
                    .collect(),
                _ => (0..channel.secrets().len()).collect(),
            };
            let square = channel.observations().len() == order.len();
            let columns: Vec<usize> = if square {
                order.clone()
            } else {
                (0..channel.observations().len()).collect()
            };
            assert_matrix(&entry, matrix, &channel, &order, &columns);
            continue;
        }
        let all: Vec<usize> = (0..channel_of(&datasets, "S", keep).secrets().len()).collect();
        for name in ["N", "NS", "NSr", "Nr", "S", "Sr"] {
            if let Some(matrix) = entry["values"].get(name) {
                assert_matrix(
                    &entry,
                    matrix,
                    &channel_of(&datasets, name, keep),
                    &all,
                    &all,
                );
            }
        }
        for name in ["N", "S", "NS"] {
            let channel = channel_of(&datasets, name, keep);
            check(
                &entry,
                &format!("V_{name}"),
                datasets.single_target_vulnerability(&channel).unwrap(),
            );
        }
        let users = RandomizedResponseShuffle::new(k, keep).unwrap();
        check(
            &entry,
            "V_NS",
            users.noise_and_shuffle(n_of(&entry)).unwrap(),
        );
        check(&entry, "V_S", users.shuffle(n_of(&entry)).unwrap());
    }
}

/// NS ≡ SN and NSʳ = SʳNʳ (Propositions 11 and 26).
#[test]
fn noise_and_shuffling_commute() {
    for (k, n, keep) in [(2, 4, 0.8), (3, 3, 0.5), (4, 2, 0.25), (2, 1, 1.0)] {
        let datasets = Datasets::new(k, n).unwrap();
        let [noise, shuffle, reduced] =
            ["N", "S", "Sr"].map(|name| channel_of(&datasets, name, keep));
        let same = |a: &Channel, b: &Channel| {
            a.values()
                .iter()
                .zip(b.values())
                .all(|(x, y)| (x - y).abs() < 1e-14)
        };
        assert!(same(
            &noise.cascade(&shuffle).unwrap(),
            &shuffle.cascade(&noise).unwrap()
        ));
        let reduced_noise = datasets.reduced_noise(keep).unwrap();
        assert!(same(
            &noise.cascade(&reduced).unwrap(),
            &reduced.cascade(&reduced_noise).unwrap()
        ));
        let (whole, part) = (
            noise.cascade(&shuffle).unwrap(),
            noise.cascade(&reduced).unwrap(),
        );
        let v = |channel| datasets.single_target_vulnerability(channel).unwrap();
        assert!((v(&whole) - v(&part)).abs() < 1e-14);
    }
}

/// Three ways to the same number: listed histograms, the fast formula, simulation within 4.5 deviations.
#[test]
fn any_law_of_inputs() {
    for (k, n, keep) in [(2usize, 7, 0.8), (3, 10, 0.6), (5, 6, 0.9)] {
        let (channel, uniform) = (krr(k, keep), Prior::uniform(k));
        let inputs = ShuffledInputs::new(&channel, &uniform).unwrap();
        let fast = RandomizedResponseShuffle::new(k as u64, keep)
            .unwrap()
            .noise_and_shuffle(n)
            .unwrap();
        let listed = inputs.vulnerability(n).unwrap().unwrap();
        assert!((listed / fast - 1.0).abs() < 1e-13, "{listed} {fast}");
        let drawn = inputs.simulate(n, 20_000, 1).unwrap();
        assert!(
            (drawn.mean - fast).abs() < 4.5 * drawn.standard_error,
            "{drawn:?} {fast}"
        );
    }
    // A skewed prior: from the matrix over whole datasets.
    let prior = [0.6, 0.3, 0.1];
    let (channel, n) = (krr(3, 0.7), 4);
    let inputs = ShuffledInputs::new(&channel, &Prior::new(prior.to_vec()).unwrap()).unwrap();
    let datasets = Datasets::new(3, n).unwrap();
    let matrix = channel_of(&datasets, "NSr", 0.7);
    let mut joint = vec![[0.0; 3]; matrix.observations().len()];
    for (dataset, row) in matrix.secrets().iter().zip(matrix.rows()) {
        let people: Vec<usize> = dataset.bytes().map(|b| usize::from(b - b'a')).collect();
        let weight: f64 = people.iter().map(|&x| prior[x]).product();
        row.iter()
            .zip(&mut joint)
            .for_each(|(p, cell)| cell[people[0]] += weight * p);
    }
    let brute: f64 = joint
        .iter()
        .map(|cell| cell.iter().copied().fold(0.0, f64::max))
        .sum();
    assert!((inputs.vulnerability(n).unwrap().unwrap() / brute - 1.0).abs() < 1e-14);
}
