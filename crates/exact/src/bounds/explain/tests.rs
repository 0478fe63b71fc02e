use super::*;

fn of(text: &str) -> Explanation {
    explain(&Claim::parse(text).expect(text), None).expect(text)
}

fn close(found: f64, expected: f64, what: &str) {
    let error = (found - expected).abs();
    assert!(
        error <= 1e-9 * expected.abs().at_least(1e-3),
        "{what}: {found}, not {expected}"
    );
}

fn success(found: &Explanation, prior: f64) -> f64 {
    let guesses = found.guesses.iter();
    let mut guesses = guesses.filter(|guess| guess.prior == prior);
    let guess = guesses.next().expect("a guess");
    guess.success.most.expect("known")
}

fn detected(found: &Explanation, rate: f64) -> f64 {
    let detections = found.detections.iter();
    let mut detections = detections.filter(|detection| detection.false_positive_rate == rate);
    let detection = detections.next().expect("a rate");
    detection.true_positive_rate.most.expect("known")
}

fn named(found: &Explanation, secrets: u64) -> Allowed {
    let mut namings = found.namings.iter().filter(|one| one.secrets == secrets);
    namings.next().expect("a number of secrets").success
}

/// Claims and their δ(ε) by formulas of the test's own.
/// δ as a function of ε.
type Profile = Box<dyn Fn(f64) -> f64>;

fn profiles() -> Vec<(&'static str, Profile)> {
    let pure =
        |at: f64, epsilon: f64| -((at - epsilon).at_most(0.0)).exp_m1() / (1.0 + (-epsilon).exp());
    let normal = |x: f64| 0.5 * libm::erfc(-x / 2f64.sqrt());
    vec![
        ("ldp(1)", Box::new(move |at| pure(at, 1.0))),
        (
            "dp(epsilon=1, delta=1e-3)",
            Box::new(move |at| 1e-3 + (1.0 - 1e-3) * pure(at, 1.0)),
        ),
        (
            "gdp(1.5)",
            Box::new(move |at: f64| normal(-at / 1.5 + 0.75) - at.exp() * normal(-at / 1.5 - 0.75)),
        ),
        ("advantage(0.3)", Box::new(|_| 0.3)),
        ("bayes-security(0.6)", Box::new(|_| 0.4)),
        (
            "laplace(scale=2, secrets=2)",
            Box::new(|at| -(0.5 * (at - 0.5)).at_most(0.0).exp_m1()),
        ),
        // p − e^ε·q where it is above 0: one cell for each secret of three.
        (
            "randomized-response(epsilon=2, secrets=3)",
            Box::new(|at: f64| {
                let kept = 2f64.exp() / (2f64.exp() + 2.0);
                let other = 1.0 / (2f64.exp() + 2.0);
                (kept - at.exp() * other).at_least(0.0)
            }),
        ),
    ]
}

/// Guesses as the best of all events along the trade-off curve, which the test makes of δ(ε) on a grid: the false
/// negative rate at a false positive rate is the largest 1 − δ − e^ε·x and e^−ε·(1 − δ − x).
#[test]
fn guesses_and_true_positives_are_the_best_along_the_trade_off_curve() {
    for (text, delta) in profiles() {
        let found = of(text);
        let lines: Vec<(f64, f64)> = (0..=600)
            .map(|k| f64::from(k) * 0.02)
            .map(|epsilon| (epsilon, delta(epsilon)))
            .collect();
        let missed = |x: f64| {
            let of = lines.iter().map(|(epsilon, delta)| {
                let steep = 1.0 - delta - epsilon.exp() * x;
                steep.at_least((-epsilon).exp() * (1.0 - delta - x))
            });
            of.fold(0.0, f64::at_least)
        };
        let rates = (0..=2000).map(|k| f64::from(k) / 2000.0);
        let errors: Vec<(f64, f64)> = rates.map(|x| (x, missed(x))).collect();
        for prior in PRIORS {
            let errors = errors.iter();
            let errors = errors.map(|(x, missed)| (1.0 - prior) * x + prior * missed);
            let best = 1.0 - errors.fold(1.0, f64::at_most);
            let success = success(&found, prior);
            assert!(
                success >= best - 1e-5 && success <= best + 2e-3,
                "{text} at {prior}: {success}, not {best}"
            );
        }
        for rate in FALSE_POSITIVE_RATES {
            let hit = detected(&found, rate);
            let best = 1.0 - missed(rate);
            assert!(
                (hit - best).abs() < 1e-3 * best,
                "{text} at {rate}: {hit}, not {best}"
            );
        }
        close(
            found.advantage.most.expect("known"),
            delta(0.0),
            &format!("advantage of {text}"),
        );
    }
}

/// By hand: e^1 = 2.718281828…, computed with 20 digits.
#[test]
fn pure_privacy_is_what_people_compute_by_hand() {
    let found = of("ldp(1)");
    close(success(&found, 0.5), 0.731_058_578_630_004_9, "prior 1/2");
    // e < 9: no observation turns a prior of 1/10 over.
    assert_eq!(success(&found, 0.1), 0.9);
    close(detected(&found, 0.01), 0.027_182_818_284_590_452, "1 %");
    let posterior = found.detections[0].posterior.most.expect("known");
    close(posterior, 0.026_723_630_989_395_22, "posterior");
    close(
        named(&found, 10).most.expect("known"),
        0.231_969_316_683_407,
        "of 10",
    );
    assert_eq!(found.epsilon, Ok(1.0));
    // ε·tanh(ε/2), and −2Φ⁻¹(1/(1 + e)) by mpmath.
    close(found.rho.expect("finite"), 0.462_117_157_260_009_8, "rho");
    close(found.mu.expect("finite"), 1.232_035_385_344_901_3, "mu");
    assert!(found.namings.iter().all(|one| !one.success.is_exact));
}

/// The least 1000·(e^x + 999·δ(x))/(e^x + 999) over a grid, with δ as (ε, δ) and μ leave it.
#[test]
fn one_of_many_secrets_is_bounded_by_the_whole_curve() {
    for (text, delta) in profiles() {
        let found = of(text);
        let Some(naming) = found.namings.iter().find(|one| one.secrets == 1000) else {
            continue;
        };
        let levels = (0..=70_000).map(|k| {
            let x = f64::from(k) * 1e-4;
            1000.0 * (x.exp() + 999.0 * delta(x)) / (x.exp() + 999.0)
        });
        let least = levels.fold(1000.0, f64::at_most) / 1000.0;
        let most = naming.success.most.expect("known");
        assert!(most <= least * (1.0 + 1e-9), "{text}: {most}, not {least}");
        assert!(most >= least * (1.0 - 1e-6), "{text}: {most}, not {least}");
    }
}

#[test]
fn what_does_not_follow_has_a_reason() {
    let why = |text: &str| {
        let found = of(text);
        [found.epsilon, found.epsilon_at_delta.1, found.mu, found.rho].map(|found| found.err())
    };
    use NotImplied::{Mechanism, NotCovered, Orders, Revealed, Tails, Unknown, Variation};
    let all = |reason| [Some(reason); 4];
    for (text, expected) in [
        ("ldp(1)", [None; 4]),
        (
            "dp(epsilon=1, delta=1e-6)",
            [Some(Revealed), None, Some(Revealed), Some(Revealed)],
        ),
        ("dp(epsilon=1, delta=1e-3)", all(Revealed)),
        ("gdp(1)", [Some(Tails), None, None, None]),
        ("zcdp(0.5)", [Some(Tails), None, Some(Unknown), None]),
        (
            "rdp(alpha=2, epsilon=0.5)",
            [Some(Orders), None, Some(Orders), Some(Orders)],
        ),
        ("advantage(0.1)", all(Variation)),
        ("advantage(0)", [None; 4]),
        ("attack-advantage(0.1)", all(NotCovered)),
        ("time-difference(10ns)", all(NotCovered)),
        (
            "gaussian(sigma=2, secrets=2)",
            [Some(Mechanism), None, None, None],
        ),
        ("identity(p=0.5, secrets=3)", [None; 4]),
        ("identity(secrets=3)", all(Mechanism)),
    ] {
        assert_eq!(why(text), expected, "{text}");
    }
}

#[test]
fn a_mechanism_is_exact_at_its_own_secrets() {
    let found = of("randomized-response(epsilon=1, secrets=10)");
    let e = 1f64.exp();
    assert_eq!(found.namings.len(), 1);
    assert!(named(&found, 10).is_exact);
    close(
        named(&found, 10).most.expect("known"),
        e / (e + 9.0),
        "of 10",
    );
    close(
        success(&found, 0.5),
        0.5 + 0.5 * (e - 1.0) / (e + 9.0),
        "1/2",
    );
    let labels: Vec<String> = ["0", "3"].map(str::to_owned).into();
    let claim = Claim::parse("laplace(scale=2)").expect("a claim");
    assert!(explain(&claim, None).is_err());
    let found = explain(&claim, Some(&labels)).expect("bound to the labels");
    assert_eq!(found.worst_pair, Some(["0".to_owned(), "3".to_owned()]));
    close(
        success(&found, 0.5),
        1.0 - 0.5 * (-0.75f64).exp(),
        "laplace",
    );
}

#[test]
fn a_promise_about_neighbors_is_explained_for_the_secrets_of_a_log() {
    let claim = Claim::parse("dp(epsilon=0.5, delta=1e-6, unit=1)").expect("a claim");
    let labels: Vec<String> = ["0", "1", "3"].map(str::to_owned).into();
    let near = explain(&claim, None).expect("of neighbors");
    assert_eq!(near.steps, Some((1.0, 1.0)));
    let far = explain(&claim, Some(&labels)).expect("of the log");
    assert_eq!(far.steps, Some((3.0, 1.0)));
    let delta = 1e-6 * (1.5f64.exp() - 1.0) / (0.5f64.exp() - 1.0);
    let group = of(&format!("dp(epsilon=1.5, delta={delta})"));
    close(success(&far, 0.5), success(&group, 0.5), "three steps");
    assert_eq!(named(&far, 3).without, 1.0 / 3.0);
}

#[test]
#[ignore = "long"]
fn dp_sgd_is_explained_by_its_composition() {
    let found = of("dp-sgd(sigma=1, rate=0.01, steps=1000)");
    let options = super::super::BoundsOptions {
        at_delta: Some(DELTA),
        ..Default::default()
    };
    let bounds = super::super::bounds("dp-sgd(sigma=1, rate=0.01, steps=1000)", &options);
    let row = &bounds.expect("bounds").rows[0];
    let advantage = found.advantage.most.expect("known");
    close(
        advantage,
        row.figure("total_variation").expect("known"),
        "advantage",
    );
    let epsilon = found.epsilon_at_delta.1.expect("finite");
    close(
        epsilon,
        row.figure("epsilon_at_delta").expect("known"),
        "epsilon",
    );
    assert!(found.namings.is_empty());
    assert_eq!(found.epsilon, Err(NotImplied::Tails));
    // √1000·1, no less than what the curve needs.
    close(found.mu.expect("finite"), 1000f64.sqrt(), "mu");
}

#[test]
fn no_claim_is_safer_than_no_observation_and_none_is_beyond_certainty() {
    for text in [
        "ldp(0)",
        "ldp(800)",
        "dp(epsilon=0, delta=1)",
        "dp(epsilon=1e-300)",
        "gdp(0)",
        "gdp(1e-9)",
        "gdp(300)",
        "zcdp(0)",
        "zcdp(1e-12)",
        "zcdp(1e6)",
        "rdp(alpha=1.0001, epsilon=1e-9)",
        "rdp(alpha=1e6, epsilon=1e3)",
        "advantage(0)",
        "advantage(1)",
        "bayes-security(1e-12)",
        "f-dp(point(0.1, 0.6))",
        "dp-curve(dp(epsilon=1, delta=0.1), dp(epsilon=2, delta=0.01))",
        "identity(secrets=2)",
        "deterministic(parity, secrets=0..3)",
        "mallows(dispersion=0.5, items=4)",
        "planar-laplace(scale=1, secrets=4)",
    ] {
        let Ok(claim) = Claim::parse(text) else {
            continue;
        };
        let Ok(found) = explain(&claim, None) else {
            continue;
        };
        let detections = found.detections.iter();
        let all = found.guesses.iter().map(|guess| guess.success);
        let all = all.chain(found.namings.iter().map(|naming| naming.success));
        let all = all.chain(detections.flat_map(|one| [one.true_positive_rate, one.posterior]));
        for one in all.chain([found.advantage]) {
            let most = one.most.unwrap_or(1.0);
            assert!(most >= one.without && most <= 1.0, "{text}: {one:?}");
        }
        // A guess at 1/2 by the advantage; rarer secrets are no easier.
        for two in found.guesses.windows(2) {
            let gains = [two[0], two[1]].map(|guess| {
                let without = guess.success.without;
                guess.success.most.unwrap_or(without) - without
            });
            assert!(gains[0] >= gains[1] - 1e-15, "{text}: {gains:?}");
        }
    }
}

/// No channel has a larger capacity than its own δ(ε) of all pairs leaves: random channels of four secrets, and randomized
/// response and the erasure channel, which attain it.
#[test]
fn the_capacity_that_a_curve_leaves_bounds_every_channel() {
    let mut state = 11u64;
    let mut next = || {
        // Knuth's linear congruential generator.
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (state >> 11) as f64 / (1u64 << 53) as f64
    };
    let mut channels: Vec<(Vec<Vec<f64>>, bool)> = vec![
        // Randomized response of four, and erasure.
        (
            (0..4)
                .map(|s| (0..4).map(|o| if s == o { 0.55 } else { 0.15 }).collect())
                .collect(),
            true,
        ),
        (
            (0..4)
                .map(|s| {
                    let own = (0..4).map(|o| if s == o { 0.3 } else { 0.0 });
                    own.chain([0.7]).collect()
                })
                .collect(),
            true,
        ),
    ];
    for _ in 0..300 {
        let row = |next: &mut dyn FnMut() -> f64| {
            let row: Vec<f64> = (0..5).map(|_| next().powi(4)).collect();
            let all: f64 = row.iter().sum();
            row.into_iter().map(|x| x / all).collect()
        };
        channels.push(((0..4).map(|_| row(&mut next)).collect(), false));
    }
    for (rows, is_attained) in channels {
        let delta = |epsilon: f64| {
            let pairs = (0..4).flat_map(|a| (0..4).map(move |b| (a, b)));
            let of = pairs.map(|(a, b)| {
                let cells = rows[a].iter().zip(&rows[b]);
                cells
                    .map(|(p, q)| (p - epsilon.exp() * q).at_least(0.0))
                    .sum::<f64>()
            });
            of.fold(0.0, f64::at_least)
        };
        let largest = |o: usize| rows.iter().map(|row| row[o]).fold(0.0, f64::at_least);
        let capacity: f64 = (0..rows[0].len()).map(largest).sum();
        let bound = capacity_by_curve(4.0, 100, delta);
        assert!(bound >= capacity - 1e-9, "{rows:?}: {bound} {capacity}");
        assert!(
            !is_attained || bound <= capacity + 1e-7,
            "{rows:?}: {bound} {capacity}"
        );
    }
}
