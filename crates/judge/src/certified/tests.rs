use super::*;
use leakgauge_exact::claim::Guarantee;
use leakgauge_testing::rng;
use proptest::prelude::*;
use rand::RngExt;

const PURE: PrivacyParameter = PrivacyParameter::Epsilon { delta: 0.0 };
const SMALL_DELTA: PrivacyParameter = PrivacyParameter::Epsilon { delta: 0.02 };
const LARGE_DELTA: PrivacyParameter = PrivacyParameter::Epsilon { delta: 0.15 };
const NEAR_ONE: PrivacyParameter = PrivacyParameter::Renyi { order: 1.2 };
const TWO: PrivacyParameter = PrivacyParameter::Renyi { order: 2.0 };
const EIGHT: PrivacyParameter = PrivacyParameter::Renyi { order: 8.0 };
const ALL: [PrivacyParameter; 8] = [
    PURE,
    SMALL_DELTA,
    LARGE_DELTA,
    PrivacyParameter::Mu,
    PrivacyParameter::Rho,
    NEAR_ONE,
    TWO,
    EIGHT,
];

/// Parameters of two laws by their definitions, written down once more.
mod exact {
    use super::*;

    pub fn total_variation(p: &[f64], q: &[f64]) -> f64 {
        0.5 * p.iter().zip(q).map(|(x, y)| (x - y).abs()).sum::<f64>()
    }

    fn hockey_stick(p: &[f64], q: &[f64], epsilon: f64) -> f64 {
        let terms = p.iter().zip(q);
        terms.map(|(x, y)| (x - epsilon.exp() * y).max(0.0)).sum()
    }

    /// Where both divergences fall to δ.
    fn epsilon(p: &[f64], q: &[f64], delta: f64) -> f64 {
        let (mut low, mut high) = (0.0, 800.0);
        for _ in 0..100 {
            let middle = 0.5 * (low + high);
            let larger = hockey_stick(p, q, middle).max(hockey_stick(q, p, middle));
            if larger > delta {
                low = middle;
            } else {
                high = middle;
            }
        }
        low
    }

    fn renyi(p: &[f64], q: &[f64], order: f64) -> f64 {
        let of = |p: &[f64], q: &[f64]| {
            let terms = p.iter().zip(q).filter(|(x, _)| **x > 0.0);
            if order == 1.0 {
                return terms.map(|(x, y)| x * (x / y).ln()).sum::<f64>();
            }
            let logs: Vec<f64> = terms
                .map(|(x, y)| order * x.ln() + (1.0 - order) * y.ln())
                .collect();
            let most = logs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            let sum: f64 = logs.iter().map(|log| (log - most).exp()).sum();
            (most + sum.ln()) / (order - 1.0)
        };
        of(p, q).max(of(q, p))
    }

    /// The largest Φ⁻¹(1 − q) − Φ⁻¹(1 − p) of all events with the largest ratios, both ways.
    fn mu(p: &[f64], q: &[f64]) -> f64 {
        let of = |p: &[f64], q: &[f64]| {
            let mut order: Vec<usize> = (0..p.len()).collect();
            order.sort_by(|&i, &j| (p[j] * q[i]).total_cmp(&(p[i] * q[j])));
            let (mut x, mut y, mut largest) = (0.0, 0.0, 0.0f64);
            for &at in &order[..order.len() - 1] {
                x += p[at];
                y += q[at];
                largest = largest.max(quantile(x) - quantile(y));
            }
            largest
        };
        of(p, q).max(of(q, p))
    }

    /// Φ⁻¹ by bisection.
    fn quantile(probability: f64) -> f64 {
        let (mut low, mut high) = (-38.0, 38.0);
        for _ in 0..100 {
            let middle = 0.5 * (low + high);
            if normal_cdf(middle) < probability {
                low = middle;
            } else {
                high = middle;
            }
        }
        0.5 * (low + high)
    }

    pub fn parameter(p: &[f64], q: &[f64], asked: PrivacyParameter) -> f64 {
        match asked {
            PrivacyParameter::Epsilon { delta } => epsilon(p, q, delta),
            PrivacyParameter::Mu => mu(p, q),
            PrivacyParameter::Renyi { order } => renyi(p, q, order),
            PrivacyParameter::Rho => {
                let orders = (0..600).map(|at| 1.0 + 10f64.powf(-4.0 + 0.01 * f64::from(at)));
                let of = |order: f64| renyi(p, q, order) / order;
                orders.map(of).fold(renyi(p, q, 1.0), f64::max)
            }
        }
    }
}

fn binary(p: f64, q: f64, asked: PrivacyParameter) -> f64 {
    exact::parameter(&[p, 1.0 - p], &[q, 1.0 - q], asked)
}

/// The least of a parameter over a grid of binary laws p > q that a statement is true of.
fn least(steps: u32, asked: PrivacyParameter, is_true: impl Fn(f64, f64) -> bool) -> f64 {
    let at = |step: u32| f64::from(step) / f64::from(steps);
    let mut least = f64::INFINITY;
    for i in 1..steps {
        // What is on the border is found at the first p that will do, for parameters rise in p.
        let first = (i + 1..steps).find(|&j| is_true(at(j), at(i)));
        if let Some(first) = first {
            least = least.min(binary(at(first), at(i), asked));
        }
    }
    least
}

/// All binary laws whose total variation is at least τ have at least what is implied, and some have not much more.
#[test]
fn a_total_variation_implies_what_the_most_alike_laws_have() {
    for tv in [0.1, 0.3, 0.6] {
        for asked in ALL {
            let found = Certified::TotalVariation(tv).at_least(asked);
            let least = least(200, asked, |p, q| p - q >= tv - 1e-12);
            assert!(
                found <= least * (1.0 + 1e-9) + 1e-12,
                "{tv} {asked:?}: {found} {least}"
            );
            assert!(found >= least * 0.99, "{tv} {asked:?}: {found} {least}");
        }
    }
}

/// The same for an ε at δ = 0.1, along a line that the grid meets from above.
#[test]
fn an_epsilon_implies_what_the_most_alike_laws_have() {
    let statement = Certified::Parameter(PrivacyParameter::Epsilon { delta: 0.1 }, 1.0);
    for asked in ALL {
        let found = statement.at_least(asked);
        let least = least(600, asked, |p, q| p >= 1f64.exp() * q + 0.1);
        assert!(found <= least * (1.0 + 1e-9), "{asked:?}: {found} {least}");
        let larger = asked.delta().is_some_and(|delta| delta > 0.1);
        // The grid misses the line by up to a step of p.
        let close = found >= least * 0.93 - 1e-9;
        assert!(close || larger, "{asked:?}: {found} {least}");
        assert!(!larger || found == 0.0);
    }
    assert_eq!(statement.total_variation(), 0.1);
    // (1, q) and (p, 0) are both too far apart: the least is between.
    let pure = statement.at_least(PURE);
    assert!(pure > 1.0 + (1.0f64 / 0.9).ln() - 1e-8, "{pure}");
}

/// A limit of the error rates of a test, against all laws within.
#[test]
fn error_rates_imply_what_the_corner_has() {
    for (missed, false_alarm) in [(0.2, 0.3), (0.6, 0.05), (0.02, 0.9)] {
        let rates = ErrorRates {
            missed,
            false_alarm,
        };
        let statement = Certified::Errors(rates);
        for asked in ALL {
            let found = statement.at_least(asked);
            let corner = binary(1.0 - missed, false_alarm, asked);
            assert!(
                (found - corner).abs() <= 1e-4 * corner + 1e-9,
                "{missed} {false_alarm} {asked:?}: {found} {corner}"
            );
            // Never less than from the total variation alone.
            let by_tv = Certified::TotalVariation(rates.advantage()).at_least(asked);
            assert!(found >= by_tv * (1.0 - 1e-9), "{asked:?}: {found} {by_tv}");
        }
    }
}

/// Every guarantee leaves a largest total variation, which another module computes by other formulas: a total variation
/// implies the guarantee that leaves just this one.
#[test]
fn total_variation_and_guarantees_are_inverse() {
    for tv in [1e-4, 0.05, 0.269, 0.7673, 0.99] {
        let implied = |asked: PrivacyParameter| Certified::TotalVariation(tv).at_least(asked);
        let guarantees = [
            Guarantee::Dp {
                epsilon: implied(PURE),
                delta: 0.0,
            },
            Guarantee::Dp {
                epsilon: implied(PrivacyParameter::Epsilon { delta: 0.3 * tv }),
                delta: 0.3 * tv,
            },
            Guarantee::Gaussian {
                mu: implied(PrivacyParameter::Mu),
            },
            Guarantee::Concentrated {
                rho: implied(PrivacyParameter::Rho),
            },
            Guarantee::Renyi {
                order: 8.0,
                epsilon: implied(EIGHT),
            },
        ];
        for guarantee in guarantees {
            let most = guarantee.largest_total_variation();
            assert!((most / tv - 1.0).abs() < 1e-6, "{tv} {guarantee:?}: {most}");
            // Rounding of the other module may be on either side.
            assert!(most <= tv * (1.0 + 1e-10), "{tv} {guarantee:?}: {most}");
        }
    }
    // The report that contradicted itself: 2 artanh(0.7673), to 50 digits.
    let epsilon = Certified::TotalVariation(0.7673).at_least(PURE);
    assert!(
        (epsilon - 2.027_458_166_887_505_4).abs() < 1e-10,
        "{epsilon}"
    );
    // Vajda's bound of one direction is 0.147; both directions need more.
    let rho = Certified::TotalVariation(0.269).at_least(PrivacyParameter::Rho);
    assert!(rho > 0.148 && rho < 0.149, "{rho}");
}

/// Of one direction the least Kullback–Leibler divergence is that of Fedotov, Harremoës and Topsøe's parameter t: the
/// brute force finds it, and both directions together need no less.
#[test]
fn both_directions_need_at_least_the_divergence_that_one_needs() {
    for t in [0.2f64, 1.0, 2.5, 6.0] {
        let coth = 1.0 / t.tanh();
        // V is twice the total variation.
        let tv = 0.5 * t * (1.0 - (coth - 1.0 / t).powi(2));
        let bound = (t / t.sinh()).ln() + t * coth - (t / t.sinh()).powi(2);
        let one_way = |q: f64| {
            let p = q + tv;
            p * (p / q).ln() + (1.0 - p) * ((1.0 - p) / (1.0 - q)).ln()
        };
        let grid = (1..100_000).map(|step| (1.0 - tv) * f64::from(step) / 100_000.0);
        let brute = grid.map(one_way).fold(f64::INFINITY, f64::min);
        assert!((brute / bound - 1.0).abs() < 1e-6, "{t}: {brute} {bound}");
        let found = Certified::TotalVariation(tv).at_least(PrivacyParameter::Rho);
        assert!(found >= bound * (1.0 - 1e-9), "{t}: {found} {bound}");
        assert!(found > 2.0 * tv * tv, "Pinsker at {tv}");
        assert!((found / (2.0 * tv * tv.atanh()) - 1.0).abs() < 1e-6);
    }
}

/// Randomized response has the ε that its divergences imply, and N(0, 1) against N(μ, 1) the μ.
#[test]
fn divergences_imply_what_the_extreme_laws_have() {
    for epsilon in [0.01f64, 0.5, 2.0, 12.0] {
        let p = 1.0 / (1.0 + (-epsilon).exp());
        for asked in [TWO, EIGHT, NEAR_ONE] {
            let divergence = binary(p, 1.0 - p, asked);
            let found = Certified::Parameter(asked, divergence).at_least(PURE);
            assert!(
                (found / epsilon - 1.0).abs() < 1e-6 && found <= epsilon * (1.0 + 1e-9),
                "{epsilon} {asked:?}: {found}"
            );
        }
        let rho = epsilon * (0.5 * epsilon).tanh();
        let found = Certified::Parameter(PrivacyParameter::Rho, rho).at_least(PURE);
        assert!((found / epsilon - 1.0).abs() < 1e-9, "{epsilon}: {found}");
    }
    let mu = 0.7;
    let rho = Certified::Parameter(PrivacyParameter::Rho, 0.5 * mu * mu);
    assert!((rho.at_least(PrivacyParameter::Mu) - mu).abs() < 1e-11);
    let order = Certified::Parameter(EIGHT, 4.0 * mu * mu);
    assert!((order.at_least(PrivacyParameter::Mu) - mu).abs() < 1e-11);
    assert!((order.at_least(PrivacyParameter::Rho) - 0.5 * mu * mu).abs() < 1e-11);
    assert_eq!(order.at_least(TWO), 0.0);
}

/// A limit of μ, against all tests on the trade-off curve of μ.
#[test]
fn a_mu_implies_the_epsilon_of_the_middle_of_its_curve() {
    for mu in [0.1, 1.0, 3.0] {
        let cuts = (-600..900).map(|step| 0.01 * f64::from(step));
        let odds = cuts.map(|cut| binary(normal_cdf(mu - cut), normal_cdf(-cut), PURE));
        let least = odds.fold(f64::INFINITY, f64::min);
        let found = Certified::Parameter(PrivacyParameter::Mu, mu).at_least(PURE);
        assert!(
            found <= least * (1.0 + 1e-9) && found > least * 0.99,
            "{mu}: {found} {least}"
        );
    }
}

/// Random laws of two to six outcomes: every exact value of every parameter, taken as certified, implies no more of any
/// other than the laws have.
#[test]
fn random_laws_have_all_that_their_parameters_imply() {
    let mut rng = rng(38);
    for _ in 0..150 {
        let outcomes = rng.random_range(2..=6);
        let sharp = rng.random_range(0.2..4.0);
        let mut law = || -> Vec<f64> {
            let weights = (0..outcomes).map(|_| rng.random_range(1e-3..1.0f64).powf(sharp));
            let weights: Vec<f64> = weights.collect();
            let sum: f64 = weights.iter().sum();
            weights.iter().map(|weight| weight / sum).collect()
        };
        let (p, q) = (law(), law());
        let tv = exact::total_variation(&p, &q);
        let values = ALL.map(|asked| exact::parameter(&p, &q, asked));
        let mut statements = vec![Certified::TotalVariation(tv)];
        let of = |(asked, value): (PrivacyParameter, f64)| Certified::Parameter(asked, value);
        statements.extend(ALL.into_iter().zip(values).map(of));
        statements.extend((0..outcomes).map(|at| {
            Certified::Errors(ErrorRates {
                missed: 1.0 - p[at],
                false_alarm: q[at],
            })
        }));
        for statement in statements {
            let implied = statement.total_variation();
            assert!(implied <= tv + 1e-12, "{statement:?}: {implied} {tv}");
            for (asked, value) in ALL.into_iter().zip(values) {
                let implied = statement.at_least(asked);
                // The supremum over orders is from a grid.
                let room = if asked == PrivacyParameter::Rho {
                    1e-4
                } else {
                    1e-9
                };
                assert!(
                    implied <= value * (1.0 + room) + 1e-12,
                    "{p:?} {q:?} {statement:?}: {asked:?} {implied} {value}"
                );
            }
        }
    }
}

#[test]
fn what_is_extreme_or_no_number_is_never_too_much() {
    let nothing = [
        Certified::TotalVariation(f64::NAN),
        Certified::TotalVariation(0.0),
        Certified::TotalVariation(-0.3),
        Certified::Errors(ErrorRates {
            missed: f64::NAN,
            false_alarm: 0.1,
        }),
        Certified::Errors(ErrorRates {
            missed: 1.2,
            false_alarm: 0.0,
        }),
        Certified::Parameter(PrivacyParameter::Mu, 0.0),
        Certified::Parameter(SMALL_DELTA, 0.0),
    ];
    for statement in nothing {
        assert_eq!(statement.total_variation(), 0.0, "{statement:?}");
        for asked in ALL {
            assert_eq!(statement.at_least(asked), 0.0, "{statement:?} {asked:?}");
        }
    }
    for asked in ALL {
        let all = Certified::TotalVariation(1.0).at_least(asked);
        assert_eq!(all, f64::INFINITY, "{asked:?}");
    }
    let never = Certified::Parameter(SMALL_DELTA, f64::INFINITY);
    assert_eq!(never.at_least(PURE), f64::INFINITY);
    assert_eq!(never.total_variation(), 0.02);
    let huge = Certified::Parameter(PrivacyParameter::Rho, 1e300);
    assert!(huge.at_least(PURE) >= 1e299);
    for order in [1.0 + 1e-9, 1e6] {
        let huge = Certified::Parameter(PrivacyParameter::Renyi { order }, 1e300);
        assert!(huge.at_least(PURE) >= 1e299, "{order}");
    }
}

fn statement() -> impl Strategy<Value = Certified> {
    prop_oneof![
        (0.0..1.0f64).prop_map(Certified::TotalVariation),
        (0.0..1.0f64, 0.0..1.0f64).prop_map(|(missed, false_alarm)| {
            Certified::Errors(ErrorRates {
                missed,
                false_alarm,
            })
        }),
        (0..ALL.len(), 0.0..8.0f64).prop_map(|(at, value)| Certified::Parameter(ALL[at], value)),
    ]
}

/// The same statement, and more.
fn strengthened(statement: Certified, by: f64) -> Certified {
    match statement {
        Certified::TotalVariation(tv) => Certified::TotalVariation(tv + by * (1.0 - tv)),
        Certified::Errors(rates) => Certified::Errors(ErrorRates {
            missed: rates.missed * (1.0 - by),
            false_alarm: rates.false_alarm * (1.0 - by),
        }),
        Certified::Parameter(asked, value) => Certified::Parameter(asked, value * (1.0 + by)),
    }
}

proptest! {
    /// What says more implies no less.
    #[test]
    fn implications_are_monotone(statement in statement(), by in 0.0..1.0f64) {
        let more = strengthened(statement, by);
        prop_assert!(more.total_variation() >= statement.total_variation() - 1e-15);
        for asked in ALL {
            let (less, more) = (statement.at_least(asked), more.at_least(asked));
            prop_assert!(more >= less * (1.0 - 1e-8), "{:?} {:?}: {} {}", statement, asked, less, more);
        }
    }

    /// What is implied, taken as certified, implies nothing new: the closure is reached in one step.
    #[test]
    fn implications_of_implications_say_nothing_new(statement in statement()) {
        let tv = Certified::TotalVariation(statement.total_variation());
        let mut implied = vec![tv];
        implied.extend(ALL.map(|asked| Certified::Parameter(asked, statement.at_least(asked))));
        for again in implied {
            prop_assert!(again.total_variation() <= statement.total_variation() + 1e-12);
            for asked in ALL {
                let (known, found) = (statement.at_least(asked), again.at_least(asked));
                prop_assert!(
                    found <= known * (1.0 + 1e-6) + 1e-12,
                    "{:?} by {:?}: {:?} {} {}", statement, again, asked, known, found
                );
            }
        }
    }
}
