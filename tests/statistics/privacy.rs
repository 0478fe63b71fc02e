//! Claims of differential privacy that are true, and as tight as they can be, are refuted at most as
//! often as they may; claims that are false by a hair hold at most as often.

use leakgauge::audit::{AuditOptions, Verdict, audit};
use leakgauge::claim::Claim;
use rayon::prelude::*;

use super::mechanisms::simulated;
use super::quick::Rates;

/// A mechanism and claims that are true of it, with equality but for rounding.
const TRUE: &[(&str, &[&str])] = &[
    (
        "gaussian(sigma=1, secrets=2)",
        &["gdp(mu=1)", "zcdp(rho=0.5)"],
    ),
    (
        "gaussian(sigma=1, secrets=2)",
        &["dp(epsilon=1, delta=0.126937)"],
    ),
    (
        "gaussian(sigma=2, secrets=5)",
        &["gdp(mu=0.5, unit=1)", "zcdp(rho=0.125, unit=1)"],
    ),
    (
        "geometric(nu=0.4, secrets=0..9)",
        &["ldp(epsilon=0.4, unit=1)"],
    ),
    (
        "geometric(nu=0.4, secrets=0..9)",
        &[
            "dp(epsilon=0.4, unit=1)",
            "dp(epsilon=0.4, delta=1e-3, unit=1)",
        ],
    ),
    ("laplace(scale=2, secrets=5)", &["ldp(epsilon=0.5, unit=1)"]),
    (
        "randomized-response(epsilon=1, secrets=2)",
        &["gdp(mu=1.232101)"],
    ),
    (
        "randomized-response(epsilon=1, secrets=2)",
        &["ldp(epsilon=1)", "zcdp(rho=0.462118)"],
    ),
];

/// The first needs δ = 0.056974 between neighbors, the second 0.069570.
const FALSE: &[(&str, &str)] = &[
    (
        "geometric(nu=0.4, secrets=3)",
        "dp(epsilon=0.3, delta=0.0569, unit=1)",
    ),
    (
        "randomized-response(epsilon=1, secrets=2)",
        "dp(epsilon=0.9, delta=0.0695)",
    ),
];

fn has(verdict: Verdict, text: &str, claims: &[&str], rows: usize, seed: u64) -> bool {
    let options = AuditOptions {
        quick: true,
        claims: claims
            .iter()
            .map(|claim| Claim::parse(claim).expect(claim))
            .collect(),
        ..AuditOptions::default()
    };
    let found = audit(&simulated(text, rows, seed), &options).expect(text);
    found.claims.iter().any(|claim| claim.verdict == verdict)
}

/// Verdicts that would be wrong, with the mechanism and the claims that they are about.
fn wrong_verdicts() -> Vec<(Verdict, &'static str, &'static [&'static str])> {
    let refuted = TRUE
        .iter()
        .map(|&(text, claims)| (Verdict::Violated, text, claims));
    let held = FALSE
        .iter()
        .map(|(text, claim)| (Verdict::Holds, *text, std::slice::from_ref(claim)));
    refuted.chain(held).collect()
}

#[test]
#[ignore = "minutes; see the head of this suite"]
fn claims_of_privacy_are_wrongly_judged_no_more_often_than_they_may_be() {
    const LOGS: u64 = 300;
    const ALPHA: f64 = 0.05;
    let most = LOGS as f64 * ALPHA + 3.0 * (LOGS as f64 * ALPHA * (1.0 - ALPHA)).sqrt();
    let mut all_fine = true;
    for (verdict, text, claims) in wrong_verdicts() {
        let errors = (0..LOGS)
            .into_par_iter()
            .filter(|seed| has(verdict, text, claims, 4000, 5000 + seed))
            .count();
        let fine = errors as f64 <= most;
        println!(
            "{text:<44} {verdict:<9} {errors:>3} of {LOGS}, at most {most:.0}: {}{}",
            claims.join(", "),
            if fine { "" } else { "  FAILED" }
        );
        all_fine &= fine;
    }
    assert!(all_fine);
}

/// The same for [`super::quick`].
pub fn quick() -> Vec<Rates> {
    let rates = |(verdict, text, claims): (Verdict, &'static str, &'static [&'static str])| {
        let name = format!("{text} {verdict}: {}", claims.join(", "));
        Rates::one(name, 0.05, move |seed| {
            has(verdict, text, claims, 2000, 20_000 + seed)
        })
    };
    wrong_verdicts().into_iter().map(rates).collect()
}
