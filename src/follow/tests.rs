use std::fmt::Write;
use std::io::Cursor;

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution, StandardNormal};
use rayon::prelude::*;

use super::*;
use crate::audit::{Verdict, Warning};
use leakgauge_attack::tuning::ScorerChoice;
use leakgauge_log::ReadOptions;
use leakgauge_testing::at_most;

/// The last line, of a log that is read to its end.
fn followed(csv: String, claim: &str, scorer: ScorerChoice) -> Line {
    watched(csv, &[claim], scorer, u64::MAX, |_| false)
}

/// The first line, of those written every so many rows and at the end, that is the one looked for, or the last.
fn watched(
    csv: String,
    claims: &[&str],
    scorer: ScorerChoice,
    every: u64,
    is_it: impl Fn(&Line) -> bool,
) -> Line {
    let is_due = |rows: u64| rows.is_multiple_of(every);
    first_line(csv, claims, scorer, is_due, is_it)
}

/// The first line at which a claim is violated, of those after so many rows as are due, or the last.
pub(super) fn watched_at(
    csv: String,
    claims: &[&str],
    scorer: ScorerChoice,
    is_due: impl FnMut(u64) -> bool,
) -> Line {
    first_line(csv, claims, scorer, is_due, Line::is_violated)
}

fn first_line(
    csv: String,
    claims: &[&str],
    scorer: ScorerChoice,
    mut is_due: impl FnMut(u64) -> bool,
    is_it: impl Fn(&Line) -> bool,
) -> Line {
    let read = ReadOptions {
        files: vec!["-".to_owned()],
        keep_order: true,
        ..ReadOptions::default()
    };
    let mut stream = RowStream::new(Box::new(Cursor::new(csv)), &read).expect("a good log");
    let mut monitor = Monitor::new(FollowOptions {
        confidence: 0.95,
        seed: 0,
        attacks: scorer.into(),
        budget: Budget::default(),
        claims: claims
            .iter()
            .map(|claim| Claim::parse(claim).expect("a claim"))
            .collect(),
        unit: None,
        clock_frequency: None,
        clock_step: None,
    })
    .expect("options that can be followed");
    while let Some(row) = stream.next_row().expect("a good row") {
        monitor.push(row, &stream).expect("an attack");
        if is_due(monitor.rows()) {
            let line = monitor.line(&stream).expect("a line");
            if is_it(&line) {
                return line;
            }
        }
    }
    monitor.line(&stream).expect("a line")
}

/// Rows of the Laplace mechanism between 0 and 1, whose ε is given, in random order.
fn laplace_log(epsilon: f64, rows: usize, seed: u64) -> String {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let mut csv = "secret,value\n".to_owned();
    for _ in 0..rows {
        let secret = rng.random_range(0..2u32);
        let noise = -(1.0 - rng.random::<f64>()).ln() / epsilon;
        let value = f64::from(secret) + if rng.random() { noise } else { -noise };
        writeln!(csv, "{secret},{value}").unwrap();
    }
    csv
}

/// Rows at which `ldp(1)` is refuted for each of so many Laplace mechanisms at ε = 1.2, looked at every so many rows
/// up to 20,000; in order, and `u64::MAX` where it is not.
fn rows_to_refute(logs: u64, every: u64) -> Vec<u64> {
    let rows = |seed: u64| {
        let csv = laplace_log(1.2, 20_000, seed);
        let line = watched(
            csv,
            &["ldp(1)"],
            ScorerChoice::Auto,
            every,
            Line::is_violated,
        );
        if line.is_violated() {
            line.rows
        } else {
            u64::MAX
        }
    };
    let mut found: Vec<u64> = (0..logs).into_par_iter().map(rows).collect();
    found.sort_unstable();
    found
}

/// How many of so many logs of a Laplace mechanism at ε = 1 refute some of four claims that are just true of it. The logs
/// differ, the seed of the program does not.
fn wrongly_refuted(logs: u64, rows: usize, every: u64, scorer: ScorerChoice) -> usize {
    let claims = [
        "ldp(1)",
        "dp(0.5, delta=0.2212)",
        "laplace(scale=1)",
        "advantage(0.3935)",
    ];
    let wrong = |seed: &u64| {
        let csv = laplace_log(1.0, rows, 10_000 + seed);
        let line = watched(csv, &claims, scorer, every, Line::is_violated);
        line.is_violated()
    };
    (0..logs).into_par_iter().filter(wrong).count()
}

/// Its total variation, 0.4512, is within the 0.4621 that `ldp(1)` allows.
#[test]
fn too_little_noise_is_found_that_no_advantage_shows() {
    let found = rows_to_refute(5, 1_000);
    assert!(found[3] <= 20_000, "{found:?}");
}

#[test]
#[ignore = "long"]
fn true_claims_are_seldom_refuted() {
    let logs = 20;
    for (scorer, rows) in [
        (ScorerChoice::Auto, 1_200),
        (ScorerChoice::Threshold, 5_000),
    ] {
        let wrong = wrongly_refuted(logs, rows, rows as u64 / 10, scorer);
        assert!(wrong <= at_most(logs as usize, 0.05), "{wrong} of {logs}");
    }
}

/// Forty logs with too little noise, 200 true ones of 50,000 rows and 500 of 5,000 rows with all attacks, of which at most
/// 5 % and 3.29 standard deviations may be refuted:
///
/// ```text
/// cargo test --release -p leakgauge --lib follow -- --ignored --nocapture
/// ```
#[test]
#[ignore = "long"]
fn followed_logs_are_refuted_early_or_not_at_all() {
    let found = rows_to_refute(40, 200);
    println!("ldp(1) at epsilon 1.2 is refuted at {found:?} rows");
    assert!(found[20] <= 5_000 && found[39] <= 20_000);
    for (scorer, logs, rows) in [
        (ScorerChoice::Threshold, 200, 50_000),
        (ScorerChoice::Auto, 500, 5_000),
    ] {
        let wrong = wrongly_refuted(logs, rows, rows as u64 / 20, scorer);
        println!("{wrong} of {logs} true logs are refuted");
        assert!(wrong <= at_most(logs as usize, 0.05));
    }
}

/// Blocks of 500 rows of one secret, and a random walk.
#[test]
fn a_violation_in_a_drifting_log_in_blocks_names_the_doubt() {
    let mut rng = ChaCha8Rng::seed_from_u64(5);
    let mut normal = || -> f64 { StandardNormal.sample(&mut rng) };
    let (mut csv, mut walk) = ("secret,time\n".to_owned(), 0.0);
    for row in 0..20_000 {
        walk += 0.02 * normal();
        let secret = row / 500 % 2;
        let time = walk + normal() + f64::from(secret);
        writeln!(csv, "s{secret},{time:.4}").unwrap();
    }
    let line = followed(csv, "advantage(0.02)", ScorerChoice::Threshold);
    let codes: Vec<&str> = line.warnings.iter().map(Warning::code).collect();
    assert!(
        codes.starts_with(&["labels-not-interleaved", "autocorrelation"]),
        "{codes:?}"
    );
    let claim = &line.claims[0];
    // The walk alone may be the difference.
    assert_eq!(claim.verdict, Verdict::Inconclusive);
    assert!(claim.p_value <= 0.05, "{claim:?}");
    let doubt = claim.reason.doubt.as_ref().map(Warning::code);
    assert!(
        matches!(doubt, Some("drift" | "autocorrelation")),
        "{doubt:?}"
    );
    let text = serde_json::to_string(&line).expect("JSON");
    assert!(
        text.contains("\"code\":\"labels-not-interleaved\""),
        "{text}"
    );
}

/// Blocks of 20 rows of one secret, and a random walk: the first line at which the claim is violated names the doubt.
#[test]
fn an_early_violation_names_the_doubt_too() {
    let mut rng = ChaCha8Rng::seed_from_u64(8);
    let mut normal = || -> f64 { StandardNormal.sample(&mut rng) };
    let (mut csv, mut walk) = ("secret,time\n".to_owned(), 0.0);
    for row in 0..2_000 {
        walk += 0.2 * normal();
        let secret = row / 20 % 2;
        writeln!(
            csv,
            "s{secret},{:.4}",
            walk + normal() + 2.0 * f64::from(secret)
        )
        .unwrap();
    }
    let claims = &["advantage(0.02)"];
    let line = watched(csv, claims, ScorerChoice::Auto, 10, Line::is_violated);
    assert!(line.is_violated() && line.rows < 1_000, "{}", line.rows);
    let doubt = line.claims[0].reason.doubt.as_ref().map(Warning::code);
    assert_eq!(
        doubt,
        Some("labels-not-interleaved"),
        "at {} rows",
        line.rows
    );
}

/// Eight columns of six labels that recur, some of which come late.
#[test]
fn several_columns_of_labels_are_followed_and_new_labels_are_no_surprise() {
    let mut rng = ChaCha8Rng::seed_from_u64(6);
    let mut csv = "secret,a,b,c,d,e,f,g,h\n".to_owned();
    for row in 0..3_000 {
        let secret = rng.random_range(0..2u32);
        let most = if row < 2_100 { 6 } else { 9 };
        write!(csv, "s{secret}").unwrap();
        for _ in 0..8 {
            let label = rng.random_range(0..most) * rng.random_range(0..1 + secret + 1) % most;
            write!(csv, ",v{label}").unwrap();
        }
        csv.push('\n');
    }
    for scorer in [ScorerChoice::Frequentist, ScorerChoice::Forest] {
        let line = followed(csv.clone(), "advantage(0.05)", scorer);
        assert_eq!(line.rows, 3_000);
        assert!(!line.warnings.iter().any(Warning::is_about_secrets));
        let text = serde_json::to_string(&line).expect("JSON");
        assert!(text.contains("if rows are independent."), "{text}");
    }
}
