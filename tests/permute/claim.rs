//! The claim `dsigma(alpha=…)`, and that the command and the mechanism are one.

use std::collections::BTreeMap;

use leakgauge::audit::{AuditOptions, Verdict, audit};
use leakgauge::claim::Claim;
use leakgauge::exact::mallows::Kendall;
use leakgauge::exact::mechanism;
use leakgauge::exact::simulate::Simulation;
use leakgauge::log::{ReadOptions, read_from};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::read;
use crate::common::Place;

/// A log of (order, output) rows.
fn log(rows: impl Iterator<Item = (String, String)>) -> leakgauge::log::Log {
    let mut text = "order,output\n".to_owned();
    for (order, output) in rows {
        text.push_str(&format!("{order},{output}\n"));
    }
    let options = ReadOptions {
        secret: Some("order".to_owned()),
        ..ReadOptions::default()
    };
    read_from("log", std::io::Cursor::new(text), &options).unwrap()
}

fn simulated(mechanism: &str, rows: usize, seed: u64) -> leakgauge::log::Log {
    let mechanism = mechanism::parse(mechanism).expect(mechanism);
    let simulation = Simulation::new(&*mechanism, seed).unwrap();
    log(simulation
        .take(rows)
        .map(|(secret, mut seen)| (secret, seen.remove(0))))
}

fn verdict(log: &leakgauge::log::Log, claim: &str) -> Verdict {
    let options = AuditOptions {
        claims: vec![Claim::parse(claim).expect(claim)],
        ..AuditOptions::default()
    };
    audit(log, &options).unwrap().claims[0].verdict
}

/// ε of all orders of a group is exactly α, so a correct shuffler can never be refuted.
#[test]
fn a_correct_shuffler_is_not_refuted() {
    for seed in 0..4 {
        for mechanism in [
            "mallows(n=3, alpha=1)",
            "mallows(n=4, alpha=1, group=1..3)",
            "mallows(n=3, alpha=1, distance=hamming)",
        ] {
            let log = simulated(mechanism, 30_000, seed);
            let claim = if mechanism.contains("group") {
                "dsigma(alpha=1, group=1..3)"
            } else {
                "dsigma(alpha=1)"
            };
            assert_ne!(
                verdict(&log, claim),
                Verdict::Violated,
                "{mechanism}, seed {seed}"
            );
        }
    }
}

#[test]
fn a_shuffler_with_twice_the_dispersion_is_caught() {
    let log = simulated("mallows(n=3, alpha=2)", 30_000, 1);
    assert_eq!(verdict(&log, "dsigma(alpha=1)"), Verdict::Violated);
}

/// Made for the first two places, claimed for three: α is three times what is claimed.
#[test]
fn a_shuffler_for_another_group_is_caught() {
    let made_for_two = "mallows(n=4, theta=1, group=1..3)";
    let log = simulated(made_for_two, 30_000, 1);
    assert_eq!(
        verdict(&log, "dsigma(alpha=1, group=1..3)"),
        Verdict::Violated
    );
    assert_ne!(
        verdict(&log, "dsigma(alpha=3, group=1..3)"),
        Verdict::Violated
    );
}

/// How many of i − 1 items an item goes before, by inversion, as a program of someone else may do it.
fn inverted(theta: f64, i: u32, uniform: f64) -> u32 {
    let weight = |j: u32| (-theta * f64::from(j)).exp();
    let mut left = uniform * (0..i).map(weight).sum::<f64>();
    let place = (0..i - 1).find(|j| {
        left -= weight(*j);
        left < 0.0
    });
    place.unwrap_or(i - 1)
}

/// The uniform numbers behind the insertions are the smaller of two.
#[test]
fn a_shuffler_with_a_biased_generator_is_caught() {
    let model = Kendall {
        n: 3,
        theta: 1.0 / 3.0,
    };
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    let orders = ["1-2-3", "1-3-2", "2-1-3", "2-3-1", "3-1-2", "3-2-1"];
    let rows: Vec<(String, String)> = (0..40_000)
        .map(|_| {
            let order = orders[rng.random_range(0..6usize)];
            let items: Vec<&str> = order.split('-').collect();
            let sigma =
                model.insert(|i| inverted(model.theta, i, rng.random::<f64>().min(rng.random())));
            let output: Vec<&str> = sigma.iter().map(|at| items[*at as usize]).collect();
            (order.to_owned(), output.join("-"))
        })
        .collect();
    assert_eq!(
        verdict(&log(rows.into_iter()), "dsigma(alpha=1)"),
        Verdict::Violated
    );
}

#[test]
fn orders_that_the_claim_says_nothing_of_are_refused() {
    let place = Place::with_log("secret,out\n".to_owned() + &"1-2-3,x\n1-3-2,x\n".repeat(50));
    let audit = |claim: &'static str| vec!["audit", "log.csv", "--claim", claim];
    assert_eq!(place.run(&audit("dsigma(alpha=1)")).status.code(), Some(3));
    assert_eq!(
        place.run(&audit("dsigma(1, group=2..3)")).status.code(),
        Some(3)
    );
    place.refuses(&audit("dsigma(alpha=1, group=1..2)"), &["place 3", "group"]);
    place.refuses(&audit("dsigma(alpha=-1)"), &["alpha must be at least 0"]);
    let words = Place::with_log("secret,out\n".to_owned() + &"1-2,x\n1-3,x\n".repeat(50));
    words.refuses(
        &audit("dsigma(alpha=1)"),
        &["orders of the items of 1-2", "1-3"],
    );
}

/// What `simulate` draws is what the command shuffles: the output frequencies of a file of three rows.
#[test]
fn the_command_and_the_mechanism_have_one_law() {
    let place = Place::with_log("g,v\na,1\na,2\na,3\n");
    let mut counts: BTreeMap<String, u32> = BTreeMap::new();
    const RUNS: u32 = 150;
    for seed in 0..RUNS {
        let seed = seed.to_string();
        let arguments = [
            "permute", "log.csv", "--out", "o.csv", "--force", "--move", "v", "--groups", "equal",
            "--by", "g", "--alpha", "3", "--trials", "0", "--seed", &seed,
        ];
        assert!(place.run(&arguments).status.success());
        let output = read(&place, "o.csv")
            .lines()
            .skip(1)
            .map(|line| line[2..].to_owned())
            .collect::<Vec<_>>()
            .join("-");
        *counts.entry(output).or_default() += 1;
    }
    let mechanism = mechanism::parse("mallows(n=3, alpha=3)").unwrap();
    let bound = mechanism.bind(&["1-2-3".to_owned()]).unwrap();
    let table = bound.probabilities().unwrap();
    for (label, p) in table.observations.iter().zip(&table.rows[0]) {
        let expected = f64::from(RUNS) * p;
        let found = f64::from(counts.get(label).copied().unwrap_or(0));
        assert!(
            (found - expected).abs() < 5.0 * (expected * (1.0 - p)).sqrt() + 1.0,
            "{label}: {found} {expected}"
        );
    }
}
