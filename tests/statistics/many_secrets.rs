//! Many secrets with few rows of each, judged on the average over all pairs: true claims are seldom refuted, and what no
//! pair shows is found.

use leakgauge::audit::{AuditOptions, Verdict, audit};
use leakgauge::claim::Claim;
use leakgauge::estimate::Method;
use leakgauge::log::{Log, LogBuilder};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;

const SECRETS: usize = 24;
const LOGS: u64 = 200;

/// Reports of generalized randomized response, with as many rows of each secret.
fn reports(epsilon: f64, each: usize, seed: u64) -> Log {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let own = epsilon.exp() / (epsilon.exp() + SECRETS as f64 - 1.0);
    let (mut secrets, mut seen) = (Vec::new(), Vec::new());
    for at in 0..each * SECRETS {
        let secret = at % SECRETS;
        let report = match rng.random::<f64>() < own {
            true => secret,
            false => (secret + rng.random_range(1..SECRETS)) % SECRETS,
        };
        secrets.push(format!("v{secret}"));
        seen.push(format!("r{report}"));
    }
    let builder = LogBuilder::new().secrets(&secrets).labels("report", &seen);
    builder.build().expect("a log")
}

/// The verdict at the default seed of the program, and whether all pairs together gave the limit.
fn judged(claim: &str, log: &Log) -> (Verdict, bool) {
    let options = AuditOptions {
        claims: vec![Claim::parse(claim).expect("a claim")],
        quick: true,
        ..AuditOptions::default()
    };
    let found = audit(log, &options).expect("an audit");
    let claim = &found.claims[0];
    let together = claim.estimate.method.lower == Some(Method::AveragePair);
    (claim.verdict, together)
}

#[test]
#[ignore = "minutes; see the head of this suite"]
fn true_claims_of_many_secrets_are_seldom_refuted_and_false_ones_are() {
    let cases = [
        ("ldp(epsilon=1.5)", 1.5),
        ("dp(epsilon=1.5, delta=1e-3)", 1.5),
        ("advantage(0.1268)", 1.5),
        ("gdp(mu=0.516)", 1.0),
    ];
    for (claim, epsilon) in cases {
        let refuted = |seed: u64| judged(claim, &reports(epsilon, 60, seed)).0 == Verdict::Violated;
        let wrong = (0..LOGS)
            .into_par_iter()
            .filter(|&seed| refuted(seed))
            .count();
        // P(Bin(200, 0.05) > 20) = 0.0004.
        assert!(wrong <= 20, "{claim}: refuted in {wrong} of {LOGS} logs");
    }
    let found = |seed: u64| judged("ldp(epsilon=1)", &reports(2.0, 60, seed));
    let found: Vec<_> = (0..50).into_par_iter().map(found).collect();
    let refuted = found.iter().filter(|found| found.0 == Verdict::Violated);
    let together = found.iter().filter(|found| found.1).count();
    assert!(refuted.count() >= 45 && together >= 40, "{found:?}");
}
