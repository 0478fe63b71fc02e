use std::fmt::Write;
use std::io::Cursor;

use rand::RngExt;
use rand_distr::{Distribution, StandardNormal};

use super::*;
use leakgauge_attack::tuning::ScorerChoice;
use leakgauge_log::ReadOptions;

/// The last line, of a log that is read to its end.
fn followed(csv: String, claim: &str, scorer: ScorerChoice) -> Line {
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
        claims: vec![Claim::parse(claim).expect("a claim")],
    })
    .expect("options that can be followed");
    while let Some(row) = stream.next_row().expect("a good row") {
        monitor.push(row, &stream).expect("an attack");
    }
    monitor.line(&stream).expect("a line")
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
    assert_eq!(claim.verdict, Verdict::Violated);
    let doubt = claim.reason.doubt.as_ref().map(Warning::code);
    assert_eq!(doubt, Some("labels-not-interleaved"));
    let text = serde_json::to_string(&line).expect("JSON");
    assert!(
        text.contains("\"code\":\"labels-not-interleaved\""),
        "{text}"
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
