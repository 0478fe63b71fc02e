use std::fmt::Write;
use std::io::Cursor;

use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;

use super::*;
use leakgauge_exact::mechanism;
use leakgauge_log::{ReadOptions, read_from};
use leakgauge_testing::at_most;

fn laplace(x: f64) -> f64 {
    if x < 0.0 {
        0.5 * x.exp()
    } else {
        1.0 - 0.5 * (-x).exp()
    }
}

#[test]
fn the_quantile_inverts_the_distribution_function() {
    for p in [1e-4, 0.3, 0.5, 0.999] {
        assert!((laplace(quantile(&laplace, p, (0.0, 0.0))) - p).abs() < 1e-12);
    }
}

/// A Laplace sample in bins: its own law is kept, and a law of 1.2 times the scale is refused. Quantile-spaced
/// sample, so no chance is involved.
#[test]
fn bins_are_part_of_the_law() {
    let n = 50_000;
    let mut counts: std::collections::BTreeMap<i64, u64> = std::collections::BTreeMap::new();
    for i in 0..n {
        let value = quantile(&laplace, (f64::from(i) + 0.5) / f64::from(n), (0.0, 0.0));
        *counts.entry((value / 0.1).floor() as i64).or_default() += 1;
    }
    let values: Vec<(f64, u64)> = counts
        .into_iter()
        .map(|(bin, count)| (bin as f64, count))
        .collect();
    let bins = Spacing::bins(0.1);
    assert!(spaced_p_value(&values, bins, &laplace) > 0.99);
    assert!(spaced_p_value(&values, bins, &|x| laplace(x / 1.2)) < 1e-6);
}

fn digits(x: f64, digits: usize) -> f64 {
    format!("{x:.*e}", digits - 1).parse().expect("a number")
}

/// How a number is written down.
type Recorder = (&'static str, fn(f64) -> f64);

const RECORDERS: [Recorder; 12] = [
    ("full", |x| x),
    ("f32", |x| f64::from(x as f32)),
    ("step 0.05", |x| (x / 0.05).round() / 20.0),
    ("step 0.25", |x| (x * 4.0).round() / 4.0),
    ("step 1", f64::round),
    ("1 decimal", |x| (x * 10.0).round() / 10.0),
    ("truncated to 1", |x| (x * 10.0).trunc() / 10.0),
    ("floor to 0.05", |x| (x * 20.0).floor() / 20.0),
    ("ceiling to 1", |x| (x * 10.0).ceil() / 10.0),
    ("bin centers", |x| (x * 2.0).floor() / 2.0 + 0.25),
    ("2 digits", |x| digits(x, 2)),
    ("3 digits", |x| digits(x, 3)),
];

/// Mechanisms on two secrets, and what each is with 1.15 times the scale.
const MECHANISMS: [(&str, &str); 4] = [
    (
        "laplace(scale=1, secrets=0..1)",
        "laplace(scale=1.15, secrets=0..1)",
    ),
    (
        "gaussian(sigma=1, secrets=0..1)",
        "gaussian(sigma=1.15, secrets=0..1)",
    ),
    (
        "staircase(epsilon=1, sensitivity=1, secrets=0..1)",
        "staircase(epsilon=0.85, sensitivity=1, secrets=0..1)",
    ),
    ("planar-laplace(scale=1)", "planar-laplace(scale=1.15)"),
];

fn bound(text: &str) -> Box<dyn BoundMechanism> {
    let mechanism = mechanism::parse(text).expect(text);
    let labels = match text.starts_with("planar") {
        true => ["0;0", "1;0.5"],
        false => ["0", "1"],
    };
    mechanism.bind(&labels.map(str::to_owned)).expect(text)
}

/// A log of so many rows of the first secret and a third as many of the second, written down by a recorder.
fn log(mechanism: &dyn BoundMechanism, rows: usize, record: fn(f64) -> f64, seed: u64) -> Log {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let planar = mechanism.columns().len() == 2;
    let (header, labels) = match planar {
        true => ("secret,x,y\n", ["0;0", "1;0.5"]),
        false => ("secret,value\n", ["0", "1"]),
    };
    let mut csv = header.to_owned();
    for (secret, label) in labels.into_iter().enumerate() {
        for _ in 0..if secret == 0 { rows } else { rows / 3 } {
            csv.push_str(label);
            for field in mechanism.sample(secret, &mut rng) {
                let value: f64 = field.parse().expect("a number");
                write!(csv, ",{}", record(value)).expect("a string takes everything");
            }
            csv.push('\n');
        }
    }
    let options = ReadOptions {
        secret: Some("secret".to_owned()),
        ..ReadOptions::default()
    };
    read_from("simulated", Cursor::new(csv), &options).expect("a good log")
}

fn p_value(log: &Log, mechanism: &dyn BoundMechanism) -> f64 {
    fit(log, mechanism).p_value.expect("laws of numbers")
}

/// For every mechanism and recorder: on how many of so many correct logs p < 0.05, and on how many p < 0.05 for a
/// mechanism whose scale is wrong by 15 %.
fn accusations(
    mechanisms: std::ops::Range<usize>,
    logs: u64,
    rows: usize,
) -> Vec<(String, usize, usize)> {
    let mut found = Vec::new();
    for at in mechanisms {
        let (right, wrong) = MECHANISMS[at];
        let (right, wrong) = (bound(right), bound(wrong));
        for (which, (name, record)) in RECORDERS.into_iter().enumerate() {
            let base = 1_000_000 * (at * RECORDERS.len() + which) as u64;
            let counts = (0..logs).into_par_iter().map(|seed| {
                let log = log(&*right, rows, record, base + seed);
                let accused =
                    |mechanism: &dyn BoundMechanism| usize::from(p_value(&log, mechanism) < 0.05);
                (accused(&*right), accused(&*wrong))
            });
            let (falsely, rightly) = counts.reduce(|| (0, 0), |x, y| (x.0 + y.0, x.1 + y.1));
            let case = format!("{} {name}", MECHANISMS[at].0);
            println!("{case:<62} {falsely:>4} and {rightly:>4} of {logs}");
            found.push((case, falsely, rightly));
        }
    }
    found
}

/// Correct logs of 600 rows: p < 0.05 in at most 5 % and 3.29 standard deviations of them, for the first two
/// mechanisms and every recorder.
#[test]
#[ignore = "long"]
fn correct_mechanisms_are_not_accused_however_they_are_recorded() {
    let logs = 60;
    for (case, falsely, _) in accusations(0..2, logs, 450) {
        assert!(falsely <= at_most(logs as usize, 0.05), "{case}: {falsely}");
    }
}

/// The same for all mechanisms with 300 logs of 4,000 rows, of which at least 90 % accuse a scale that is wrong by 15
/// %:
///
/// ```text
/// cargo test --release -p leakgauge --lib goodness -- --ignored --nocapture
/// ```
#[test]
#[ignore = "long"]
fn correct_mechanisms_are_not_accused_and_wrong_scales_are() {
    let logs = 300;
    for (case, falsely, rightly) in accusations(0..MECHANISMS.len(), logs, 3_000) {
        assert!(falsely <= at_most(logs as usize, 0.05), "{case}: {falsely}");
        assert!(rightly as f64 >= 0.9 * logs as f64, "{case}: {rightly}");
    }
}

/// What a recorder did is recognized from the values of all secrets together.
#[test]
fn the_grid_is_reported() {
    let laplace = bound(MECHANISMS[0].0);
    let step = |step: f64, offset: f64| Grid::Step { step, offset };
    for (recorder, grid) in [
        (0, Grid::Full),
        (1, Grid::Full),
        (2, step(0.05, 0.0)),
        (3, step(0.25, 0.0)),
        (4, step(1.0, 0.0)),
        (6, step(0.1, 0.0)),
        (9, step(0.5, 0.25)),
        (11, Grid::Digits(3)),
    ] {
        let (name, record) = RECORDERS[recorder];
        let found = fit(&log(&*laplace, 1_500, record, 7), &*laplace);
        assert_eq!(found.grids.len(), 1, "{name}");
        assert_eq!(found.grids[0].grid, grid, "{name}");
        assert_eq!(found.grids[0].column, "value");
    }
    let truncated = fit(&log(&*laplace, 15_000, RECORDERS[6].1, 7), &*laplace);
    assert_eq!(truncated.grids[0].convention, Convention::TowardZero);
    let planar = bound(MECHANISMS[3].0);
    let found = fit(&log(&*planar, 1_500, RECORDERS[5].1, 7), &*planar);
    let columns: Vec<&str> = found
        .grids
        .iter()
        .map(|grid| grid.column.as_str())
        .collect();
    assert_eq!(columns, ["x", "y"]);
    assert_eq!(
        found.test,
        FitTest::Tested {
            test: Some(GoodnessTest::ChiSquaredRounded),
            columns: true
        }
    );
}
