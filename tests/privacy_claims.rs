//! Claims of differential privacy of every kind, on logs of known mechanisms.

use leakgauge::audit::{AuditOptions, Findings, Verdict, audit};
use leakgauge::claim::Claim;
use leakgauge::exact::mechanism;
use leakgauge::exact::simulate::Simulation;
use leakgauge::log::{ReadOptions, read_from};
use leakgauge::report::sentences::claims::reason;
use leakgauge::report::{self, Format};

use crate::common::verdicts::{OPEN, REFUTED, verdicts};

fn judged(
    mechanism: &str,
    rows: usize,
    claims: &[&str],
) -> leakgauge::base::error::Result<Findings> {
    let mechanism = mechanism::parse(mechanism).expect("a mechanism");
    let simulation = Simulation::new(&*mechanism, 11).expect("secrets are declared");
    let rows = simulation
        .take(rows)
        .map(|(secret, fields)| format!("{secret},{}\n", fields.join(",")));
    judged_log(
        "secret,seen\n".to_owned() + &rows.collect::<String>(),
        claims,
    )
}

fn judged_log(csv: String, claims: &[&str]) -> leakgauge::base::error::Result<Findings> {
    let log = read_from(
        "log.csv",
        std::io::Cursor::new(csv),
        &ReadOptions::default(),
    )?;
    let options = AuditOptions {
        claims: claims
            .iter()
            .map(|claim| Claim::parse(claim).expect("a claim"))
            .collect(),
        ..AuditOptions::default()
    };
    audit(&log, &options)
}

/// Secrets 0 and 1 under unit noise: μ = 1 and ρ = ½ exactly.
#[test]
fn gaussian_noise_is_held_to_its_mu_and_rho() {
    let claims = ["gdp(mu=1)", "gdp(mu=0.6)", "zcdp(rho=0.5)", "zcdp(rho=0.2)"];
    let found = judged("gaussian(sigma=1, secrets=2)", 20_000, &claims).unwrap();
    assert_eq!(verdicts(&found), [OPEN, REFUTED, OPEN, REFUTED]);
    let [mu, .., rho, _] = &found.claims[..] else {
        panic!("four claims")
    };
    assert_eq!((mu.quantity.key(), rho.quantity.key()), ("mu", "rho"));
    // With ideal scores and 7,000 rows, 90 % of such limits are above 0.86 and 0.24, all of 60 above 0.8
    // and 0.2.
    assert!((0.8..=1.0).contains(&mu.estimate.lower.unwrap()), "{mu:?}");
    assert!(
        (0.2..=0.5).contains(&rho.estimate.lower.unwrap()),
        "{rho:?}"
    );
    assert!(reason(&found.claims[1]).contains("need a mu of at least 0."));
    assert!(reason(mu).contains("never prove it"), "{}", reason(mu));
    // Two claims of one kind read one limit.
    assert!(found.multiplicity.limits_read_by_claims <= 2);
}

/// A total variation needs an ε, a μ, a ρ and divergences: whatever rare events show, claims read the larger.
#[test]
fn what_the_total_variation_implies_refutes_claims_of_privacy() {
    let claims = [
        "ldp(0.3)",
        "gdp(0.4)",
        "zcdp(0.05)",
        "rdp(alpha=2, epsilon=0.1)",
        "dp(epsilon=0.1, delta=0.1)",
    ];
    let found = judged(
        "randomized-response(epsilon=0.6, secrets=2)",
        6_000,
        &claims,
    )
    .unwrap();
    assert_eq!(verdicts(&found), [REFUTED; 5]);
    let tv = found.worst_pair.total_variation.lower.expect("a limit");
    let (p, q) = (0.5 * (1.0 + tv), 0.5 * (1.0 - tv));
    let implied = [
        (p / q).ln(),
        2.0 * leakgauge::stats::special::normal_quantile(p),
        2.0 * tv * tv.atanh(),
        (p * p / q + q * q / p).ln(),
        ((p - 0.1) / q).ln(),
    ];
    let truth = [0.6, 0.7473, 0.1748, 0.3155, 0.4318];
    for ((claim, implied), truth) in found.claims.iter().zip(implied).zip(truth) {
        let lower = claim.estimate.lower.expect("a limit");
        assert!(lower >= implied * (1.0 - 1e-9), "{claim:?}: {implied}");
        assert!(lower < truth, "{claim:?}: {truth}");
    }
}

/// The limits of what claims are judged by are listed, ε at δ = 0 first.
#[test]
fn limits_of_privacy_are_reported_by_quantity_and_delta() {
    let claims = [
        "dp(epsilon=1, delta=0.01)",
        "gdp(mu=1)",
        "dp(epsilon=2, delta=0.01)",
    ];
    let found = judged("gaussian(sigma=1, secrets=2)", 4000, &claims).unwrap();
    let listed: Vec<_> = found
        .privacy
        .iter()
        .map(|limit| (limit.quantity.key(), limit.quantity.delta()))
        .collect();
    assert_eq!(
        listed,
        [
            ("epsilon", Some(0.0)),
            ("epsilon", Some(0.01)),
            ("mu", None)
        ]
    );
    assert_eq!(found.privacy[0].lower, found.worst_pair.epsilon.lower);
    let mut json = Vec::new();
    report::write_audit(&found, Format::Json, &mut json).unwrap();
    let json: serde_json::Value = serde_json::from_slice(&json).unwrap();
    crate::common::check_schema_of("audit", &json);
    assert_eq!(json["privacy"][1]["delta"], 0.01);
    assert_eq!(json["privacy"][2]["quantity"], "mu");
    assert!(json["privacy"][2]["lower"].is_number());
    let mut text = Vec::new();
    report::write_audit(&found, Format::Text, &mut text).unwrap();
    let text = String::from_utf8(text).unwrap();
    for name in [
        "epsilon (delta 0.01)",
        "mu (at the threshold for the claim)",
    ] {
        assert!(text.contains(name), "{text}");
    }
}

/// Geometric noise needs exactly ν for every step.
#[test]
fn geometric_noise_is_exactly_tight_at_every_distance() {
    let claims = [
        "ldp(epsilon=0.4, unit=1)",
        "dp(epsilon=0.4, unit=1)",
        "ldp(epsilon=0.32, unit=1)",
        "dp(epsilon=0.32, unit=1)",
        "ldp(epsilon=0.4)",
    ];
    let found = judged("geometric(nu=0.4, secrets=10)", 100_000, &claims).unwrap();
    assert_eq!(verdicts(&found), [OPEN, OPEN, REFUTED, REFUTED, REFUTED]);
    for (claim, of_a_step) in found.claims.iter().zip([0.4, 0.4, 0.32, 0.32]) {
        let [a, b] = claim
            .pair
            .labels()
            .map(|label| label.parse::<f64>().unwrap());
        let allowed = of_a_step * (a - b).abs();
        assert!((claim.analytic - allowed).abs() < 1e-12, "{claim:?}");
        assert!(reason(claim).contains(" of 1 apart"), "{}", reason(claim));
    }
    assert!(reason(&found.claims[2]).contains("that the claim allows there"));
}

/// A broken close pair hides below far ones that leak more, and within what they are allowed.
#[test]
fn the_pair_that_exceeds_its_own_allowance_is_judged() {
    let mut rows = "secret,seen\n".to_owned();
    for i in 0..12_000u32 {
        // 0 and 1 differ by ln 9; 8 is told from both for sure in nine rows of ten, 8 steps away.
        let (secret, tens) = ([0, 1, 8][i as usize % 3], i / 3 % 10);
        let seen = match (secret, tens) {
            (0, 0..9) | (1, 0..1) => "p",
            (0, _) | (1, 1..10) => "q",
            (_, 0..8) => "r",
            (_, 8) => "p",
            _ => "q",
        };
        rows.push_str(&format!("{secret},{seen}\n"));
    }
    let found = judged_log(rows, &["ldp(epsilon=1, unit=1)", "ldp(epsilon=3, unit=1)"]).unwrap();
    assert_eq!(found.claims[0].verdict, REFUTED, "{:?}", found.claims[0]);
    assert_eq!(found.claims[0].pair, ["0", "1"]);
    assert_ne!(found.privacy[0].secrets, ["0", "1"]);
    assert_eq!(found.claims[1].verdict, OPEN);
}

/// Laplace noise of scale 2 is metric privacy of ½ per unit, parts of a unit included.
#[test]
#[ignore = "long"]
fn laplace_noise_is_metric_privacy() {
    let claims = [
        "ldp(epsilon=0.5, unit=1)",
        "ldp(epsilon=2, unit=4)",
        "dp(epsilon=2, unit=4)",
        "ldp(epsilon=0.4, unit=1)",
    ];
    let found = judged("laplace(scale=2, secrets=5)", 60_000, &claims).unwrap();
    assert_eq!(verdicts(&found)[..3], [OPEN, OPEN, OPEN]);
    assert_eq!(found.claims[3].verdict, REFUTED, "{:?}", found.claims[3]);
}

/// Randomized response of ε: ε-private, μ = 2Φ⁻¹(e^ε/(1 + e^ε)), ρ = ε tanh(ε/2).
#[test]
fn randomized_response_is_tight_under_every_kind() {
    let claims = [
        "ldp(epsilon=1)",
        "gdp(mu=1.2321)",
        "zcdp(rho=0.46212)",
        "ldp(epsilon=0.9)",
        "gdp(mu=1.1)",
        "zcdp(rho=0.38)",
    ];
    let found = judged("randomized-response(epsilon=1, secrets=2)", 60_000, &claims).unwrap();
    assert_eq!(
        verdicts(&found),
        [OPEN, OPEN, OPEN, REFUTED, REFUTED, REFUTED],
        "{:#?}",
        found.claims
    );
}

/// (ε, δ) between whole numbers, each pair with its own allowance on both sides.
#[test]
#[ignore = "long"]
fn group_privacy_holds_where_every_pair_is_within_its_own_delta() {
    let claims = [
        "dp(epsilon=0.4, delta=0.03, unit=1)",
        "dp(epsilon=0.4, delta=0.03)",
        "dp(epsilon=0.4, delta=1e-5, unit=1)",
    ];
    let found = judged("geometric(nu=0.4, secrets=4)", 200_000, &claims).unwrap();
    let [near, all, small] = &found.claims[..] else {
        panic!("three claims")
    };
    assert_eq!(near.verdict, Verdict::Holds, "{near:?}");
    assert!(reason(near).contains("at its distance"), "{}", reason(near));
    assert_eq!(all.verdict, REFUTED, "{all:?}");
    assert_eq!(small.verdict, OPEN, "{small:?}");
    assert!(
        reason(small).contains("may be as large as"),
        "{}",
        reason(small)
    );
}

#[test]
fn secrets_without_distances_are_refused() {
    let rows = "secret,seen\n".to_owned() + &"1,x\ntwo,y\n".repeat(50);
    let error = judged_log(rows, &["gdp(mu=1, unit=1)"])
        .unwrap_err()
        .to_string();
    for part in ["gdp(mu=1, unit=1)", "\"two\"", "leave unit= out"] {
        assert!(error.contains(part), "{error}");
    }
}

/// A log whose observations name the secret has no finite estimate, but limits.
#[test]
fn a_secret_that_is_told_is_refuted_under_every_kind() {
    let rows = "secret,seen\n".to_owned() + &"0,x\n1,y\n".repeat(500);
    let claims = [
        "gdp(mu=2)",
        "zcdp(rho=2)",
        "gdp(mu=1, unit=0.5)",
        "zcdp(rho=1e300)",
    ];
    let found = judged_log(rows, &claims).unwrap();
    assert_eq!(verdicts(&found), [REFUTED, REFUTED, REFUTED, OPEN]);
    assert_eq!(found.claims[0].estimate.point, None);
    assert_eq!(found.claims[2].analytic, 2.0);
}
