use crate::extreme::Extreme;
use crate::mechanism::parse;

/// ∫ max(p − e^ε·q, 0) by Simpson's rule, from the densities alone. Its error is of the order of the step's square,
/// 1e-7, because of the kink where the excess begins.
fn integral(density: &dyn Fn(f64) -> f64, distance: f64, rate: f64, epsilon: f64) -> f64 {
    let excess = |y: f64| {
        let none = (1.0 - rate) * density(y);
        let p = none + rate * density(y - distance);
        let q = none + rate * density(y + distance);
        (p - epsilon.exp() * q).at_least(0.0)
    };
    let cuts = [-60.0, -distance, 0.0, distance, distance + 60.0];
    let part = |ends: &[f64]| {
        let n = 200_000;
        let step = (ends[1] - ends[0]) / f64::from(n);
        let weight = |i: i32| match i {
            0 => 1.0,
            i if i == n => 1.0,
            i if i % 2 == 1 => 4.0,
            _ => 2.0,
        };
        let sum: f64 = (0..=n)
            .map(|i| weight(i) * excess(ends[0] + f64::from(i) * step))
            .sum();
        sum * step / 3.0
    };
    cuts.windows(2).map(part).sum()
}

#[test]
fn delta_is_the_integral_of_the_excess() {
    let normal = |x: f64| (-0.5 * x * x).exp() / (2.0 * std::f64::consts::PI).sqrt();
    let laplace = |x: f64| 0.5 * (-x.abs()).exp();
    for (scale, rate) in [(0.5, 0.1), (2.0, 0.01), (1.0, 0.7), (10.0, 1.0)] {
        for epsilon in [0.0, 0.01, 0.3, 1.0, 2.5] {
            let of = |noise: &str| {
                let text = format!("subsampled({noise}={scale}), rate={rate}, relation=replace)");
                let bound = parse(&text).unwrap().bind_declared().unwrap();
                bound.delta(epsilon).unwrap()
            };
            for (noise, density) in [
                ("gaussian(sigma", &normal as &dyn Fn(f64) -> f64),
                ("laplace(scale", &laplace),
            ] {
                let (exact, sum) = (of(noise), integral(density, 1.0 / scale, rate, epsilon));
                assert!(
                    (exact - sum).abs() < 1e-7 * sum + 1e-10,
                    "{noise}={scale}, {rate}, {epsilon}: {exact:e} {sum:e}"
                );
            }
        }
    }
}

/// No two records between −1 and 1 are told apart better than these.
#[test]
fn other_records_are_told_apart_less() {
    let normal = |x: f64| (-0.5 * x * x).exp() / (2.0 * std::f64::consts::PI).sqrt();
    let (rate, epsilon) = (0.3, 0.4);
    let text = format!("subsampled(gaussian(sigma=1), rate={rate}, relation=replace)");
    let most = parse(&text)
        .unwrap()
        .bind_declared()
        .unwrap()
        .delta(epsilon)
        .unwrap();
    for (one, other) in [(1.0, 0.0), (0.0, 1.0), (1.0, 0.9), (0.5, 1.0), (1.0, -0.9)] {
        let excess = |y: f64| {
            let none = (1.0 - rate) * normal(y);
            let (p, q) = (
                none + rate * normal(y - one),
                none + rate * normal(y - other),
            );
            (p - f64::exp(epsilon) * q).at_least(0.0)
        };
        let delta: f64 = (-10_000..10_000)
            .map(|i| 1e-3 * excess(1e-3 * f64::from(i)))
            .sum();
        assert!(delta < most, "{one} {other}: {delta} {most}");
    }
}

#[test]
fn extreme_parameters_have_figures() {
    for (text, epsilon, expected) in [
        // All mass of one record lies far beyond the other: δ is the rate.
        (
            "subsampled(gaussian(sigma=1e-3), rate=0.25, relation=replace)",
            1.0,
            0.25,
        ),
        (
            "subsampled(laplace(scale=1e-4), rate=0.25, relation=replace)",
            1.0,
            0.25,
        ),
        (
            "subsampled(laplace(scale=1), rate=0.5, relation=replace)",
            3.0,
            0.0,
        ),
    ] {
        let delta = parse(text)
            .unwrap()
            .bind_declared()
            .unwrap()
            .delta(epsilon)
            .unwrap();
        assert!((delta - expected).abs() < 1e-12, "{text}: {delta}");
    }
    for text in [
        "subsampled(randomized-response(epsilon=1), rate=0.5, relation=replace)",
        "subsampled(planar-laplace(scale=1), rate=0.5, relation=replace)",
        "subsampled(randomized-response(epsilon=1, secrets=2), rate=0.5, relation=replace)",
        "subsampled(gaussian(sigma=1, secrets=2), rate=0.5, relation=replace)",
    ] {
        assert!(parse(text).unwrap().bind_declared().is_err(), "{text}");
    }
    assert!(parse("subsampled(gaussian(1), rate=0.5, relation=other)").is_err());
}
/// P and Q of a record at 1 and at −1, each used with a probability, from the density of the noise at some places.
fn listed(
    density: &dyn Fn(f64) -> f64,
    places: impl Iterator<Item = f64>,
    rate: f64,
) -> Vec<(f64, f64)> {
    let mixed = |y: f64, center: f64| (1.0 - rate) * density(y) + rate * density(y - center);
    places.map(|y| (mixed(y, 1.0), mixed(y, -1.0))).collect()
}

/// δ, ε, Rényi divergence and the success of a reconstruction, by sums over all places.
fn check(noise: &str, rate: f64, both: &[(f64, f64)]) {
    let text = format!("subsampled({noise}, rate={rate}, relation=replace)");
    let bound = parse(&text).unwrap().bind_declared().unwrap();
    let close = |found: f64, expected: f64, what: &str| {
        let error = (found - expected).abs();
        assert!(
            error <= 1e-12 + 1e-9 * expected,
            "{text}, {what}: {found:e} {expected:e}"
        );
    };
    for epsilon in [0.0, 0.05, 0.3, 1.5] {
        let excess = |&(p, q): &(f64, f64)| (p - f64::exp(epsilon) * q).at_least(0.0);
        let sum = both.iter().map(excess).sum();
        close(
            bound.delta(epsilon).unwrap(),
            sum,
            &format!("delta({epsilon})"),
        );
    }
    close(
        bound.total_variation(0, 1),
        bound.delta(0.0).unwrap(),
        "total variation",
    );
    close(
        bound.bayes_security(0, 1),
        1.0 - bound.delta(0.0).unwrap(),
        "Bayes security",
    );
    let positive = || both.iter().filter(|(p, q)| *p > 1e-90 && *q > 1e-90);
    let most = positive()
        .map(|(p, q)| (p / q).ln())
        .fold(0.0, f64::at_least);
    if bound.epsilon().is_finite() {
        close(bound.epsilon(), most, "epsilon");
    } else {
        assert!(most > 5.0, "{text}: {most}");
    }
    let pair = bound.pair(1, 0).unwrap();
    for order in [1.5, 4.0] {
        let sum: f64 = positive()
            .map(|(p, q)| p.powf(order) * q.powf(1.0 - order))
            .sum();
        let expected = sum.ln() / (order - 1.0);
        close(
            pair.renyi_divergence(order).unwrap(),
            expected,
            &format!("order {order}"),
        );
    }
    let mut sorted: Vec<_> = positive().copied().collect();
    sorted.sort_by(|x, y| (y.0 / y.1).total_cmp(&(x.0 / x.1)));
    for kappa in [0.01, 0.3] {
        let (mut left, mut reached) = (kappa, 0.0);
        for (p, q) in &sorted {
            let share = (left / q).clamp(0.0, 1.0);
            reached += share * p;
            left -= share * q;
        }
        close(
            pair.reconstruction(kappa).unwrap(),
            reached,
            &format!("at {kappa}"),
        );
    }
}

#[test]
fn figures_of_whole_numbers_and_steps_are_those_of_their_sums() {
    let geometric = |nu: f64| move |z: f64| (0.5 * nu).tanh() * (-nu * z.abs()).exp();
    let normal = |sigma: f64| {
        let weight = move |z: f64| (-0.5 * (z / sigma) * (z / sigma)).exp();
        let total: f64 = (-400..=400).map(|z| weight(f64::from(z))).sum();
        move |z: f64| weight(z) / total
    };
    // The density falls by e^−ε after a quarter of each period; it is summed at the middles of eighths.
    let steps = |epsilon: f64| {
        move |x: f64| {
            let (k, place) = (x.abs().floor(), x.abs().fract());
            let high = -(-epsilon).exp_m1() / (2.0 * (0.25 + 0.75 * (-epsilon).exp()));
            let fall = if place < 0.25 { k } else { k + 1.0 };
            high * (-epsilon * fall).exp() / 8.0
        }
    };
    let whole = || (-900..=900).map(f64::from);
    let eighths = || (-8000..8000).map(|i| (f64::from(i) + 0.5) / 8.0);
    for (noise, rate, both) in [
        (
            "geometric(nu=1)",
            0.1,
            listed(&geometric(1.0), whole(), 0.1),
        ),
        (
            "geometric(nu=0.3)",
            0.5,
            listed(&geometric(0.3), whole(), 0.5),
        ),
        (
            "discrete-gaussian(sigma=2)",
            0.3,
            listed(&normal(2.0), whole(), 0.3),
        ),
        (
            "discrete-gaussian(sigma=0.5)",
            0.75,
            listed(&normal(0.5), whole(), 0.75),
        ),
        (
            "discrete-gaussian(sigma=3)",
            1.0,
            listed(&normal(3.0), whole(), 1.0),
        ),
        (
            "staircase(epsilon=1, gamma=0.25)",
            0.2,
            listed(&steps(1.0), eighths(), 0.2),
        ),
        (
            "staircase(epsilon=0.5, gamma=0.25)",
            0.9,
            listed(&steps(0.5), eighths(), 0.9),
        ),
    ] {
        check(noise, rate, &both);
    }
}

/// By sums of the weights with 40 digits (mpmath 1.3): the largest difference of the normal quantiles of P(z ≥ k) and
/// Q(z ≥ k). That of discrete Gaussian noise with rates up to ½ comes near 1/σ from below.
#[test]
fn rho_and_mu_are_those_of_the_sums_of_weights() {
    for (text, rho, mu) in [
        ("geometric(nu=1), rate=0.1", None, 0.187_098_129_945_57),
        ("geometric(nu=0.3), rate=0.5", None, 0.330_770_003_131_66),
        ("geometric(nu=3), rate=0.9", None, 3.553_729_924_389_2),
        ("discrete-gaussian(sigma=1), rate=0.1", Some(0.5), 1.0),
        ("discrete-gaussian(sigma=2), rate=0.3", Some(0.125), 0.5),
        (
            "discrete-gaussian(sigma=0.5), rate=0.75",
            None,
            2.443_589_308_957_8,
        ),
        (
            "discrete-gaussian(sigma=3), rate=0.9",
            None,
            0.600_605_885_36,
        ),
    ] {
        let text = format!("subsampled({text}, relation=replace)");
        let bound = parse(&text).unwrap().bind_declared().unwrap();
        for pair in bound.pairs().unwrap() {
            let found = pair.gaussian_mu().unwrap();
            assert!((found / mu - 1.0).abs() < 1e-9, "mu of {text}: {found}");
            let found = pair.concentrated_rho().unwrap();
            match rho {
                Some(rho) => assert_eq!(found, rho, "{text}"),
                // No order exceeds it, and some order attains it.
                None => {
                    let orders = (0..4000).map(|i| 1.0 + 1e-3 * (0.01 * f64::from(i)).exp_m1());
                    let at = |order: f64| pair.renyi_divergence(order).unwrap() / order;
                    let most = orders.filter(|x| *x < 1e5).map(at).fold(0.0, f64::at_least);
                    assert!(
                        most <= found * (1.0 + 1e-11) && found < most * 1.001,
                        "{text}: {found} {most}"
                    );
                }
            }
        }
    }
}

/// Whole numbers of a range: 0, 1 and −1 may be anywhere in it, and both orders count.
#[test]
fn ranges_have_the_figures_of_their_mixed_rows() {
    for noise in [
        "truncated-geometric(nu=0.7, observations=-2..4",
        "normalized-geometric(nu=0.7, observations=-1..3",
        "exponential(epsilon=1, sensitivity=2",
    ] {
        let rows = parse(&format!("{noise}, secrets=-1..1)")).unwrap();
        let rows = rows.bind_declared().unwrap().probabilities().unwrap().rows;
        let rate = 0.4;
        let text = format!("subsampled({noise}), rate={rate}, relation=replace)");
        let bound = parse(&text).unwrap().bind_declared().unwrap();
        let mixed = |record: usize| {
            let both = rows[1].iter().zip(&rows[record]);
            both.map(|(none, with)| (1.0 - rate) * none + rate * with)
                .collect::<Vec<f64>>()
        };
        let (p, q) = (mixed(2), mixed(0));
        for epsilon in [0.0, 0.1, 0.3] {
            let excess = |a: &[f64], b: &[f64]| {
                let both = a.iter().zip(b);
                both.map(|(p, q)| (p - f64::exp(epsilon) * q).at_least(0.0))
                    .sum::<f64>()
            };
            let expected = excess(&p, &q).at_least(excess(&q, &p));
            let found = bound.delta(epsilon).unwrap();
            assert!(
                (found - expected).abs() < 1e-14,
                "{text}, {epsilon}: {found} {expected}"
            );
        }
    }
}

/// Steps that are too narrow beside the rounding of places are refused; nothing is small only because it is narrow.
#[test]
fn narrow_steps_are_refused_and_large_losses_have_their_masses() {
    for text in ["staircase(epsilon=25)", "staircase(epsilon=1, gamma=1e-9)"] {
        let text = format!("subsampled({text}, rate=0.1, relation=replace)");
        assert!(parse(&text).unwrap().bind_declared().is_err(), "{text}");
    }
    // Of a staircase of 16, as much as e^−8/(1 + e^−8) of the noise is not near its center, half of it between the record and
    // 0, where the noise around 0 has the same height; that around 0 has e^−16 of its mass near the record.
    let low = (-8f64).exp() / (1.0 + (-8f64).exp());
    for (text, expected, near) in [
        ("discrete-gaussian(sigma=1e-3)", 0.1, 1e-13),
        ("geometric(nu=1e5)", 0.1, 1e-13),
        ("staircase(epsilon=16)", 0.1 * (1.0 - 0.5 * low), 3e-7),
        (
            "staircase(epsilon=35, sensitivity=0.1, gamma=0.5)",
            0.1,
            1e-13,
        ),
    ] {
        let text = format!("subsampled({text}, rate=0.1, relation=replace)");
        let found = parse(&text).unwrap().bind_declared().unwrap().delta(1.0);
        let error = found.unwrap() - expected;
        assert!(error.abs() < near, "{text}: {found:?} {expected:e}");
    }
}
