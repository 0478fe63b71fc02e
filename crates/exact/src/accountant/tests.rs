use super::*;
use crate::extreme::Extreme;
use crate::hockey_stick::gaussian;
use crate::mechanism::parse;

fn of(text: &str, steps: u64) -> Accountant {
    Accountant::of_mechanism(&*parse(text).unwrap(), steps).unwrap()
}

fn check(sides: Sides, exact: f64, width: f64, what: &str) {
    let Sides { least, most } = sides;
    assert!(
        least <= exact * (1.0 + 1e-11),
        "{what}: {least:e} > {exact:e}"
    );
    assert!(
        most >= exact * (1.0 - 1e-11),
        "{what}: {most:e} < {exact:e}"
    );
    assert!(
        most - least <= width * exact,
        "{what}: {least:e} {exact:e} {most:e}"
    );
}

/// T steps of Gaussian noise are one step with σ/√T.
#[test]
fn composed_gaussian_noise_is_gaussian() {
    for (sigma, steps) in [(5.0, 30), (1.0, 1), (30.0, 5000), (0.7, 3)] {
        let accountant = of(&format!("gaussian(sigma={sigma}, secrets=2)"), steps);
        let mu = (steps as f64).sqrt() / sigma;
        for epsilon in [0.0, 0.5, 1.0, 4.0, 7.0] {
            let exact = gaussian(mu, epsilon);
            if exact > 1e-14 {
                let what = format!("{sigma} {steps} {epsilon}");
                check(accountant.delta(epsilon), exact, 1e-4, &what);
            }
        }
        let security = libm::erfc(mu / 8f64.sqrt());
        check(
            accountant.total_variation_and_bayes_security().1,
            security,
            1e-4,
            "security",
        );
    }
}

/// T steps of randomized response are a binomial law: the sum has its digits on both sides.
#[test]
fn composed_randomized_response_is_binomial() {
    let (epsilon, steps) = (0.3f64, 40u64);
    let accountant = of("randomized-response(epsilon=0.3, secrets=2)", steps);
    let keep = epsilon.exp() / (epsilon.exp() + 1.0);
    let mut exact = [0.0; 4];
    let at = [0.0, 1.0, 6.0, 11.0];
    let mut weight = (1.0 - keep).powi(steps as i32);
    for j in 0..=steps {
        let loss = epsilon * (2.0 * j as f64 - steps as f64);
        for (sum, at) in exact.iter_mut().zip(at) {
            *sum += weight * -f64::exp_m1((at - loss).at_most(0.0));
        }
        weight *= (steps - j) as f64 / (j + 1) as f64 * keep / (1.0 - keep);
    }
    for (at, exact) in at.into_iter().zip(exact) {
        check(accountant.delta(at), exact, 1e-9, &format!("{at}"));
    }
    assert_eq!(accountant.delta(12.1).most, 0.0);
}

/// Bayes security far below 1e-16 keeps its digits, from above and from below.
#[test]
fn security_near_nothing_is_not_lost() {
    let accountant = of("gaussian(sigma=1, secrets=2)", 400);
    let exact = libm::erfc(20.0 / 8f64.sqrt());
    assert!(exact < 1e-22);
    check(
        accountant.total_variation_and_bayes_security().1,
        exact,
        1e-3,
        "security",
    );
}

/// Values of the Python package dp-accounting 0.6.0, `use_connect_dots`, which are upper bounds with a step of 1e-5.
#[test]
#[ignore = "long"]
fn subsampled_mechanisms_are_those_of_another_accountant() {
    let table: serde_json::Value = serde_json::from_str(include_str!(
        "../../../../tests/golden/exact_accountant.json"
    ))
    .unwrap();
    for group in table["groups"].as_array().unwrap() {
        let text = group["mechanism"].as_str().unwrap();
        let steps = group["steps"].as_u64().unwrap();
        let accountant = of(text, steps);
        for row in group["rows"].as_array().unwrap() {
            let [epsilon, delta] = [0, 1].map(|at| row[at].as_f64().unwrap());
            let Sides { least, most } = accountant.delta(epsilon);
            let what = format!("{text} {steps} {epsilon}: {least:e} {most:e} {delta:e}");
            // Their transform is not tilted: its rounding is near 1e-17 a step.
            let rounding = 1e-17 * steps as f64;
            assert!(least <= most && least <= delta + rounding, "{what}");
            // At ε = 0 theirs is looser: that of plain Gaussian noise, which has a closed form, by 2e-6.
            if epsilon > 0.0 {
                assert!((most - delta).abs() < 2e-3 * delta + rounding, "{what}");
                assert!((most - least).abs() < 4e-3 * most, "{what}");
            }
        }
    }
}

/// ε(δ) and δ(ε) are inverse to each other, on the side that they bound.
#[test]
#[ignore = "long"]
fn epsilon_is_the_inverse_of_delta() {
    let accountant = of("subsampled(gaussian(sigma=1), rate=0.05)", 50);
    for delta in [0.01, 1e-5, 1e-9] {
        let Sides { least, most } = accountant.epsilon(delta);
        assert!(
            least <= most && most - least < 1e-3 * most,
            "{least} {most}"
        );
        assert!((accountant.delta(most).most / delta - 1.0).abs() < 2e-3);
        assert!((accountant.delta(least).least / delta - 1.0).abs() < 2e-3);
    }
    assert_eq!(accountant.epsilon(0.9).most, 0.0);
    // What is sometimes revealed has no ε below the probability of that.
    let revealing = of("identity(p=0.1, secrets=2, otherwise=none)", 3);
    assert_eq!(revealing.epsilon(0.2).most, f64::INFINITY);
    assert!((revealing.delta(2.0).least - (1.0 - 0.9f64.powi(3))).abs() < 1e-12);
}

/// δ(ε) for ε = 0, 0.5, 1 and 3 by plain convolution of privacy losses on a grid of 2⁻¹⁵, rounded to the middle of its
/// cells, where losses were inverted by bisection. Rounded down and up the sums differ by some 1e-3; in
/// the middle the error is of the order of the step's square.
#[test]
#[ignore = "long"]
fn replaced_records_compose_as_their_losses_do() {
    for (text, steps, expected) in [
        (
            "subsampled(gaussian(sigma=2), rate=0.2, relation=replace)",
            50,
            [0.51229102426, 0.39019184173, 0.27584700157, 0.028351758987],
        ),
        (
            "subsampled(laplace(scale=1), rate=0.1, relation=replace)",
            30,
            [
                0.32996428813,
                0.17951717947,
                0.077771374722,
                1.383123057565e-4,
            ],
        ),
    ] {
        let accountant = of(text, steps);
        for (epsilon, delta) in [0.0, 0.5, 1.0, 3.0].into_iter().zip(expected) {
            let Sides { least, most } = accountant.delta(epsilon);
            let what = format!("{text} {epsilon}: {least} {most} {delta}");
            assert!(least <= most && most - least < 1e-3 * most, "{what}");
            assert!((most - delta).abs() < 2e-4 * delta, "{what}");
            assert!((least - delta).abs() < 2e-4 * delta, "{what}");
        }
    }
    // Always used, the two records are twice as far apart.
    let (replaced, plain) = (
        of("subsampled(gaussian(sigma=4), rate=1, relation=replace)", 9),
        of("gaussian(sigma=2, secrets=2)", 9),
    );
    for epsilon in [0.0, 1.0, 4.0] {
        let (a, b) = (replaced.delta(epsilon).most, plain.delta(epsilon).most);
        assert!((a / b - 1.0).abs() < 1e-4, "{epsilon}: {a} {b}");
    }
}

/// One step is the closed form of a subsampled mechanism.
#[test]
#[ignore = "long"]
fn one_step_is_the_mechanism_itself() {
    for text in [
        "subsampled(gaussian(sigma=0.8), rate=0.01)",
        "subsampled(laplace(scale=1), rate=0.3)",
        "subsampled(gaussian(sigma=0.8), rate=0.01, relation=replace)",
        "subsampled(gaussian(sigma=0.05), rate=0.4, relation=replace)",
        "subsampled(laplace(scale=1), rate=0.3, relation=replace)",
        "subsampled(randomized-response(epsilon=2, secrets=2), rate=0.25)",
        "staircase(epsilon=1, secrets=3)",
        "discrete-gaussian(sigma=3, secrets=2)",
        "geometric(nu=0.5, secrets=4)",
    ] {
        let accountant = of(text, 1);
        let bound = parse(text).unwrap().bind_declared().unwrap();
        for epsilon in [0.0, 0.01, 0.2, 1.0] {
            let exact = bound.delta(epsilon).unwrap();
            check(
                accountant.delta(epsilon),
                exact,
                1e-2,
                &format!("{text} {epsilon}"),
            );
        }
    }
}

/// Parameters over many orders of magnitude: closed forms of one step against the sides of its privacy loss, which
/// share only the distribution function of the noise with them.
#[test]
fn closed_forms_are_between_the_sides_for_hostile_parameters() {
    use rand::{RngExt, SeedableRng};
    let mut rng = rand_chacha::ChaCha8Rng::seed_from_u64(8);
    for round in 0..60 {
        let mut between =
            |low: f64, high: f64| (low.ln() + (high / low).ln() * rng.random::<f64>()).exp();
        let text = match round % 6 {
            0 => format!("gaussian(sigma={}, secrets=2)", between(0.05, 1e6)),
            1 => format!("laplace(scale={}, secrets=3)", between(0.01, 1e6)),
            2 => format!("geometric(nu={}, secrets=3)", between(1e-3, 30.0)),
            3 => format!(
                "randomized-response(epsilon={}, secrets=4)",
                between(1e-6, 100.0)
            ),
            4 => format!("staircase(epsilon={}, secrets=3)", between(0.01, 20.0)),
            _ => format!(
                "subsampled(gaussian(sigma={}), rate={})",
                between(0.3, 50.0),
                between(1e-3, 1.0)
            ),
        };
        let bound = parse(&text).unwrap().bind_declared().unwrap();
        let accountant = of(&text, 1);
        let (a, b) = bound.worst_pair().unwrap();
        let sum = bound.total_variation(a, b) + bound.bayes_security(a, b);
        assert!((sum - 1.0).abs() < 1e-12, "{text}: {sum}");
        let unit = bound.epsilon().at_most(10.0);
        let mut last = 1.0;
        for part in [0.0, 0.1, 0.5, 0.9, 1.1] {
            let epsilon = part * unit;
            let exact = bound.delta(epsilon).unwrap();
            assert!(
                (0.0..=last).contains(&exact),
                "{text} {epsilon}: {exact:e} after {last:e}"
            );
            last = exact * (1.0 + 1e-12);
            let Sides { least, most } = accountant.delta(epsilon);
            // Masses that are differences of a distribution function have its rounding.
            let rounding = 1e-12 + 1e-9 * exact;
            assert!(
                least <= exact + rounding,
                "{text} {epsilon}: {least:e} {exact:e} {most:e}"
            );
            assert!(
                most >= exact - rounding,
                "{text} {epsilon}: {least:e} {exact:e} {most:e}"
            );
        }
    }
}

/// All δ of one call are upper sides nearly as sharp as those of single calls, up to the first that is negligible.
#[test]
#[ignore = "long"]
fn many_deltas_at_once_are_those_of_single_calls() {
    let step = parse("subsampled(gaussian(sigma=2), rate=0.3)").unwrap();
    let accountant = Accountant::of_mechanism(&*step, 4).unwrap();
    let epsilons: Vec<f64> = (0..40).map(|at| 0.1 * f64::from(at)).collect();
    let deltas = Accountant::deltas_at_most(&*step, 4, &epsilons, 1e-9).unwrap();
    assert!(deltas.len() > 5 && deltas.len() < epsilons.len());
    let last = deltas.len() - 1;
    assert!(deltas[last] <= 1e-9 && deltas[last - 1] > 1e-9);
    for (epsilon, delta) in epsilons.iter().zip(&deltas) {
        let Sides { least, most } = accountant.delta(*epsilon);
        assert!(*delta >= least, "{epsilon}: {delta:e} < {least:e}");
        let width = if most > 1e-6 { 0.02 } else { 0.05 };
        assert!(
            *delta <= most * (1.0 + width),
            "{epsilon}: {delta:e} > {most:e}"
        );
    }
    // A single step of Gaussian noise, where δ is known.
    let noise = parse("gaussian(sigma=1, secrets=2)").unwrap();
    let deltas = Accountant::deltas_at_most(&*noise, 1, &epsilons, 1e-12).unwrap();
    for (epsilon, delta) in epsilons.iter().zip(&deltas) {
        let exact = gaussian(1.0, *epsilon);
        assert!(
            *delta >= exact && *delta <= exact * (1.0 + 1e-4),
            "{epsilon}: {delta:e} {exact:e}"
        );
    }
}

/// The secrets are not listed: only their range matters.
#[test]
fn a_billion_secrets_are_composed_as_two() {
    let wide = of("laplace(scale=1e9, secrets=0..1000000000)", 3);
    let two = of("laplace(scale=1, secrets=2)", 3);
    let (found, expected) = (wide.delta(0.5), two.delta(0.5));
    assert!(
        (found.most / expected.most - 1.0).abs() < 1e-9,
        "{found:?} {expected:?}"
    );
    assert!(expected.least <= found.most && found.least <= expected.most);
}

/// Mechanisms without a matrix whose pairs of secrets are known: one step is the closed form.
#[test]
fn pairs_of_large_mechanisms_are_composed() {
    for text in [
        "rappor(epsilon=1, secrets=60)",
        "randomized-response(epsilon=2, secrets=1000000000)",
        "shuffled(randomized-response(epsilon=1, secrets=10), n=30)",
    ] {
        let bound = parse(text).unwrap().bind_declared().unwrap();
        assert!(bound.probabilities().is_none(), "{text}");
        let accountant = of(text, 1);
        for epsilon in [0.0, 0.2] {
            let exact = bound.delta(epsilon).unwrap();
            check(
                accountant.delta(epsilon),
                exact,
                1e-2,
                &format!("{text} {epsilon}"),
            );
        }
    }
}

/// Computed before ends of cells were shared between neighbors and coarse grids were skipped that choose the finest one
/// anyway: no side is farther off since.
#[test]
#[ignore = "long"]
fn shared_ends_of_cells_change_no_figure() {
    for (step, steps, wanted) in [
        (
            "subsampled(gaussian(sigma=0.8), rate=0.01)",
            1000,
            [0.024165599879519533, 0.024167826781080474],
        ),
        (
            "subsampled(gaussian(sigma=0.3), rate=0.001)",
            10,
            [0.002023548134439481, 0.002024674451561193],
        ),
    ] {
        let losses = Accountant::losses(&*parse(step).unwrap(), steps).unwrap();
        let told = losses
            .iter()
            .map(|loss| Direction::on_grid(loss, steps).told(1.0, 0.0));
        let largest = |x: (f64, f64), y: (f64, f64)| (x.0.at_least(y.0), x.1.at_least(y.1));
        let sides = told
            .map(|told| (told.least.0, told.most.0))
            .reduce(largest)
            .unwrap();
        let [least, most] = wanted;
        assert!(sides.0 >= least * (1.0 - 1e-7), "{step}: {:e}", sides.0);
        assert!(sides.1 <= most * (1.0 + 1e-7), "{step}: {:e}", sides.1);
        // The integral, which shares nothing with the grid but the noise.
        let Sides { least, most } = of(step, steps).delta(1.0);
        assert!(
            least <= sides.1 && sides.0 <= most,
            "{step}: {least:e} {most:e}"
        );
    }
}

/// One step of planar Laplace noise has the δ of the closed form between its sides, and two steps that of a sum over
/// both losses.
#[test]
fn planar_laplace_noise_composes() {
    use crate::profile::PlanarPair;
    let pair = PlanarPair::new(0.5);
    let text = "planar-laplace(scale=1, secrets=0..1)";
    let one = |steps: u64, epsilon: f64| {
        let mechanism = crate::mechanism::parse(text).unwrap();
        Accountant::of_mechanism(&*mechanism, steps)
            .unwrap()
            .delta(epsilon)
    };
    // The worst pair of the four points is at distance √2.
    let worst = PlanarPair::new(0.5 * 2f64.sqrt());
    for epsilon in [0.0, 0.3, 1.2] {
        let sides = one(1, epsilon);
        let exact = worst.delta(epsilon);
        assert!(
            sides.least <= exact && exact <= sides.most && sides.most - sides.least < 1e-4,
            "{epsilon}: {sides:?} {exact}"
        );
    }
    let cells = |count: u32| -> Vec<(f64, f64)> {
        let end = worst.epsilon();
        let at = |k: u32| -end + 2.0 * end * f64::from(k) / f64::from(count);
        (0..count)
            .map(|k| worst.between(at(k), at(k + 1)))
            .collect()
    };
    let cells = cells(1500);
    let epsilon: f64 = 0.8;
    let mut coarse = 0.0;
    for (p, q) in &cells {
        for (r, s) in &cells {
            coarse += (p * r - epsilon.exp() * q * s).at_least(0.0);
        }
    }
    let sides = one(2, epsilon);
    assert!(
        coarse <= sides.most && sides.most - coarse < 1e-4,
        "{sides:?} {coarse}"
    );
    assert!(pair.delta(0.1) < worst.delta(0.1));
}

/// Truth by contour integration with 30 digits (mpmath), apart from the program. Google's accountant gives 1.95325, 0.72320,
/// 0.7502, 9.726e-12 (below the truth) and 2.38169.
#[test]
#[ignore = "long"]
fn small_sampling_rates_are_tight_on_both_sides() {
    for (sigma, rate, steps, delta, expected) in [
        (0.5, 1e-4, 10_000, 1e-6, 1.95322),
        (0.7, 1e-4, 100_000, 1e-8, 0.72237),
        (1.0, 1e-4, 1_000_000, 1e-9, 0.7137),
        (1.1, 256.0 / 60_000.0, 14_062, 1e-5, 2.381599),
    ] {
        let text = format!("subsampled(gaussian(sigma={sigma}), rate={rate})");
        let Sides { least, most } = of(&text, steps).epsilon(delta);
        // The truth is rounded.
        let rounded = 1e-4 * expected;
        assert!(
            least <= expected + rounded && expected - rounded <= most,
            "{text}: {least} {most}"
        );
        assert!(most - least <= 1e-3 * most, "{text}: {least} {most}");
    }
    for (sigma, rate, steps, epsilon, expected) in [
        (0.5, 1e-4, 10_000, 2.0, 8.762e-7),
        (1.0, 1e-3, 10_000, 1.0, 9.773e-12),
    ] {
        let text = format!("subsampled(gaussian(sigma={sigma}), rate={rate})");
        let Sides { least, most } = of(&text, steps).delta(epsilon);
        let rounded = 1e-4 * expected;
        assert!(
            least <= expected + rounded && expected - rounded <= most,
            "{text}: {least:e} {most:e}"
        );
        assert!(most - least <= 0.01 * most, "{text}: {least:e} {most:e}");
    }
}

/// Both sides of integrals and of grids hold: they overlap, for noise, rates and numbers of steps over many decades.
#[test]
#[ignore = "long"]
fn integrals_and_grids_overlap() {
    use rand::{RngExt, SeedableRng};
    let mut rng = rand_chacha::ChaCha8Rng::seed_from_u64(43);
    for round in 0..12 {
        let mut between =
            |low: f64, high: f64| (low.ln() + (high / low).ln() * rng.random::<f64>()).exp();
        let relation = if round % 3 == 2 {
            ", relation=replace"
        } else {
            ""
        };
        let (sigma, rate) = (between(0.5, 20.0), between(3e-2, 0.9));
        let steps = between(1.0, 300.0) as u64;
        let text = format!("subsampled(gaussian(sigma={sigma}), rate={rate}{relation})");
        let losses = Accountant::losses(&*parse(&text).unwrap(), steps).unwrap();
        for loss in losses {
            let grid = Direction::on_grid(&loss, steps);
            let integral = loss.normal.and_then(|normal| Contour::new(normal, steps));
            let contour = integral.expect(&text);
            let spread = (steps as f64).sqrt() * rate / sigma;
            for share in [0.0, 0.3, 1.0, 3.0] {
                let epsilon = share * spread;
                let (x, y) = (grid.told(epsilon, 0.0), contour.told(epsilon, 0.0));
                let what = format!("{text} {steps} {epsilon}: {x:?} {y:?}");
                let rounding = 1e-9;
                assert!(y.least.0 <= x.most.0 * (1.0 + rounding), "{what}");
                assert!(x.least.0 <= y.most.0 * (1.0 + rounding), "{what}");
                assert!(y.least.1 >= x.most.1 * (1.0 - rounding), "{what}");
                assert!(x.least.1 >= y.most.1 * (1.0 - rounding), "{what}");
                assert!(y.least.0 <= y.most.0 && y.most.1 <= y.least.1, "{what}");
            }
        }
    }
}

/// Two steps of a record that counts 1 or −1, by all pairs of observations: their δ is between both sides, which are near.
#[test]
fn replaced_records_of_other_noise_compose_as_their_losses_do() {
    for noise in [
        "geometric(nu=1), rate=0.1",
        "discrete-gaussian(sigma=1), rate=0.3",
        "discrete-gaussian(sigma=2), rate=1",
        "staircase(epsilon=1), rate=0.2",
        "truncated-geometric(nu=0.7, observations=-2..4), rate=0.4",
    ] {
        let text = format!("subsampled({noise}, relation=replace)");
        let mechanism = crate::mechanism::parse(&text).unwrap();
        let accountant = Accountant::of_mechanism(&*mechanism, 2).unwrap();
        let pairs = mechanism.bind_declared().unwrap().pairs().unwrap();
        for epsilon in [0.0, 0.1, 0.4] {
            let of = |pair: &Pair| {
                let cells = pair.cells().unwrap();
                let each = |a: &Cell| {
                    let twice =
                        |b: &Cell| (a.p * b.p - f64::exp(epsilon) * a.q * b.q).at_least(0.0);
                    cells.iter().map(twice).sum::<f64>()
                };
                cells.iter().map(each).sum::<f64>()
            };
            let expected = pairs.iter().map(of).fold(0.0, f64::at_least);
            let sides = accountant.delta(epsilon);
            assert!(
                sides.least <= expected + 1e-15 && expected <= sides.most + 1e-15,
                "{text}, {epsilon}: {expected} {sides:?}"
            );
            assert!(
                sides.most - sides.least < 2e-3 * expected + 1e-6,
                "{text}: {sides:?}"
            );
        }
    }
}

/// 40 labels, whose reports are too many to list, are subsampled as two labels are: their likelihood ratios and
/// probabilities are the same.
#[test]
fn reports_that_are_too_many_to_list_are_subsampled() {
    for name in ["rappor", "oue"] {
        let of = |labels: u64| {
            let text = format!("subsampled({name}(epsilon=1, secrets={labels}), rate=0.1)");
            Accountant::of_mechanism(&*crate::mechanism::parse(&text).unwrap(), 30).unwrap()
        };
        let (many, two) = (of(40), of(2));
        for epsilon in [0.0, 0.3, 1.0] {
            let (one, other) = (many.delta(epsilon), two.delta(epsilon));
            assert!(
                (one.most - other.most).abs() < 1e-9,
                "{name}: {one:?} {other:?}"
            );
            assert!(one.least <= other.most && other.least <= one.most);
        }
    }
}

/// δ does not fall with more steps, however far out: what tables leave out is not forgotten.
#[test]
fn two_steps_leak_no_less_than_one() {
    for (mechanism, epsilons) in [
        (
            "subsampled(discrete-gaussian(sigma=2), rate=0.01, relation=replace)",
            [1.0, 3.0, 4.0, 6.0],
        ),
        (
            "subsampled(discrete-gaussian(sigma=2), rate=0.01)",
            [1.0, 3.0, 4.0, 6.0],
        ),
        (
            "discrete-gaussian(sigma=2, secrets=2)",
            [1.0, 3.0, 6.0, 9.0],
        ),
        (
            "subsampled(geometric(nu=1), rate=0.1)",
            [0.1, 0.15, 0.155, 0.158],
        ),
    ] {
        let bound = parse(mechanism).unwrap().bind_declared().unwrap();
        for epsilon in epsilons {
            let one = bound.delta(epsilon).unwrap();
            for steps in [1, 2] {
                let Sides { least, most } = of(mechanism, steps).delta(epsilon);
                assert!(
                    most >= one * (1.0 - 1e-9),
                    "{mechanism}, {epsilon}: {most:e} < {one:e}"
                );
                assert!(
                    steps > 1 || least <= one * (1.0 + 1e-9),
                    "{mechanism}, {epsilon}: {least:e} > {one:e}"
                );
            }
        }
    }
}
