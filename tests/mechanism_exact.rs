//! Closed forms of the finite and the planar mechanisms, each against a second way to the same
//! number: sums over all observations, exact sums of weights, quadrature.

use leakgauge::exact::mechanism::{BoundMechanism, Law, Probabilities, parse};

fn bind(text: &str, labels: &[&str]) -> Box<dyn BoundMechanism> {
    let labels: Vec<_> = labels.iter().map(ToString::to_string).collect();
    parse(text).expect(text).bind(&labels).expect(text)
}

fn declared(text: &str) -> Box<dyn BoundMechanism> {
    parse(text).expect(text).bind_declared().expect(text)
}

fn close(a: f64, b: f64, tolerance: f64) -> bool {
    a == b || (a - b).abs() <= tolerance * a.abs().max(b.abs()).max(f64::MIN_POSITIVE)
}

/// Total variation as ½ Σ |p − q|, Bayes security as Σ min, capacity and ε from the written-out
/// rows: nothing of the closed forms is used.
fn check_against_rows(text: &str, bound: &dyn BoundMechanism) {
    let table = bound.probabilities().expect(text);
    let n = bound.secret_count();
    for row in &table.rows {
        assert!(close(row.iter().sum(), 1.0, 1e-12), "{text}");
        assert!(row.iter().all(|p| (0.0..=1.0).contains(p)), "{text}");
    }
    let mut least = f64::INFINITY;
    for (a, b) in (0..n).flat_map(|a| (0..n).map(move |b| (a, b))) {
        let pair = || table.rows[a].iter().zip(&table.rows[b]);
        let security: f64 = pair().map(|(p, q)| p.min(*q)).sum();
        let variation = 0.5 * pair().map(|(p, q)| (p - q).abs()).sum::<f64>();
        let (own, tv) = (bound.bayes_security(a, b), bound.total_variation(a, b));
        assert!(
            close(own, security, 2e-12),
            "{text} {a} {b}: {own} {security}"
        );
        assert!(
            (tv - variation).abs() < 4e-15,
            "{text} {a} {b}: {tv} {variation}"
        );
        assert!((tv + own - 1.0).abs() < 4e-15, "{text} {a} {b}");
        assert_eq!(tv, bound.total_variation(b, a), "{text}");
        least = if a == b { least } else { least.min(own) };
    }
    let (a, b) = bound.worst_pair().expect(text);
    assert!(close(bound.bayes_security(a, b), least, 1e-12), "{text}");
    let capacity: f64 = (0..table.observations.len())
        .map(|o| table.rows.iter().map(|row| row[o]).fold(0.0, f64::max))
        .sum();
    assert!(
        close(bound.capacity().expect(text), capacity, 1e-12),
        "{text}"
    );
    assert!(
        close(bound.epsilon(), largest_log_ratio(&table), 1e-9),
        "{text}"
    );
}

fn largest_log_ratio(table: &Probabilities) -> f64 {
    let mut largest = 0.0f64;
    for (p, q) in table
        .rows
        .iter()
        .flat_map(|p| table.rows.iter().map(move |q| (p, q)))
    {
        for (p, q) in p.iter().zip(q).filter(|(p, _)| **p > 0.0) {
            largest = largest.max(if *q > 0.0 {
                p.ln() - q.ln()
            } else {
                f64::INFINITY
            });
        }
    }
    largest
}

const LABELS: &[&str] = &["a", "b", "c", "d", "e", "f"];

#[test]
fn label_mechanisms_are_what_their_rows_give() {
    for epsilon in [0.0, 0.1, 1.0, 3.3, 20.0] {
        for name in [
            "randomized-response",
            "rappor",
            "oue",
            "olh",
            "subset-selection",
            "hadamard-response",
        ] {
            for n in [2, 3, 6] {
                let text = format!("{name}(epsilon={epsilon})");
                check_against_rows(&text, &*bind(&text, &LABELS[..n]));
                // Some of the declared secrets only.
                let text = format!("{name}(epsilon={epsilon}, secrets=7)");
                check_against_rows(&text, &*bind(&text, &["5", "0", "3", "1", "6", "2"][..n]));
            }
        }
    }
    for size in 1..=7 {
        let text = format!("subset-selection(1.5, size={size}, secrets=7)");
        check_against_rows(&text, &*declared(&text));
        check_against_rows(&text, &*bind(&text, &["6", "2", "3"]));
    }
    for buckets in [2, 3, 5, 7, 11] {
        let text = format!("olh(0.7, buckets={buckets}, secrets=9)");
        check_against_rows(&text, &*declared(&text));
        check_against_rows(&text, &*bind(&text, &["8", "1"]));
    }
    for n in 2..20 {
        let text = format!("hadamard-response(0.9, secrets={n})");
        check_against_rows(&text, &*declared(&text));
    }
    for p in [0.0, 0.25, 1.0] {
        for rest in ["", ", otherwise=none"] {
            let text = format!("identity(p={p}{rest}, secrets=5)");
            check_against_rows(&text, &*declared(&text));
            check_against_rows(&text, &*bind(&text, &["4", "2"]));
        }
    }
}

#[test]
fn range_mechanisms_are_what_their_rows_give() {
    for nu in [1e-3, 0.1, 0.7, 3.0] {
        for name in ["truncated-geometric", "normalized-geometric"] {
            for (rest, labels) in [
                ("", vec!["0", "1"]),
                ("", vec!["7", "-3", "0", "2"]),
                (
                    ", observations=-10..30",
                    vec!["7", "-3", "0", "2", "30", "-10"],
                ),
                (", secrets=5, spacing=3", vec!["0", "1", "2", "3", "4"]),
                (", secrets=5, spacing=3, observations=40", vec!["4", "1"]),
            ] {
                let text = format!("{name}(nu={nu}{rest})");
                check_against_rows(&text, &*bind(&text, &labels));
            }
        }
    }
    for epsilon in [0.0, 0.5, 2.0, 30.0] {
        for rest in ["", ", sensitivity=1"] {
            let text = format!("exponential(epsilon={epsilon}{rest}, secrets=8)");
            check_against_rows(&text, &*declared(&text));
        }
    }
}

/// Rows of the normalized and the folded geometric mechanisms, from their definitions.
#[test]
fn geometric_rows_are_their_weights() {
    let (low, high) = (-4, 9);
    for nu in [0.05f64, 0.6] {
        let weight = |o: i32, c: i32| (-nu * f64::from((o - c).abs())).exp();
        for name in ["truncated", "normalized"] {
            let text = format!("{name}-geometric(nu={nu}, observations={low}..{high})");
            let table = bind(&text, &["-4", "0", "8"]).probabilities().unwrap();
            assert_eq!(table.observations[0], "-4");
            for (row, c) in table.rows.iter().zip([-4, 0, 8]) {
                for (p, o) in row.iter().zip(low..) {
                    let expected = match (name, o) {
                        ("normalized", _) => {
                            weight(o, c) / (low..=high).map(|o| weight(o, c)).sum::<f64>()
                        }
                        (_, o) => {
                            let reach = match o {
                                _ if o == low => -2000..=o,
                                _ if o == high => o..=2000,
                                _ => o..=o,
                            };
                            let total: f64 = (-2000..=2000).map(|o| weight(o, c)).sum();
                            reach.map(|o| weight(o, c)).sum::<f64>() / total
                        }
                    };
                    assert!(close(*p, expected, 1e-11), "{text} {c} {o}: {p} {expected}");
                }
            }
        }
    }
}

#[test]
fn laws_are_the_rows_summed_up() {
    for text in [
        "truncated-geometric(0.3, secrets=6, observations=-2..9)",
        "normalized-geometric(0.3, secrets=6, observations=-2..9)",
        "exponential(2, secrets=6)",
    ] {
        let bound = declared(text);
        let table = bound.probabilities().unwrap();
        for secret in 0..6 {
            let Law::Integer(distribution) = bound.law(secret) else {
                panic!("{text}")
            };
            let mut below = 0.0;
            for (label, p) in table.observations.iter().zip(&table.rows[secret]) {
                below += p;
                let x: f64 = label.parse().unwrap();
                assert!(close(distribution(x + 0.5), below, 1e-12), "{text} {x}");
            }
            assert_eq!(distribution(-100.0), 0.0);
            assert_eq!(distribution(100.0), 1.0);
        }
    }
}

/// Bits of the unary encodings, multiplied out from p and q.
#[test]
fn unary_rows_are_products_of_their_bits() {
    let epsilon = 1.3f64;
    let symmetric = (0.5 * epsilon).exp() / (1.0 + (0.5 * epsilon).exp());
    for (name, p, q) in [
        ("rappor", symmetric, 1.0 - symmetric),
        ("oue", 0.5, 1.0 / (epsilon.exp() + 1.0)),
    ] {
        let table = declared(&format!("{name}({epsilon}, secrets=4)"))
            .probabilities()
            .unwrap();
        assert_eq!(table.observations.len(), 16);
        for (secret, row) in table.rows.iter().enumerate() {
            for (bits, probability) in table.observations.iter().zip(row) {
                let bits = bits.strip_prefix('b').unwrap();
                let product: f64 = bits
                    .chars()
                    .enumerate()
                    .map(|(i, bit)| match (i == secret, bit) {
                        (true, '1') => p,
                        (true, _) => 1.0 - p,
                        (false, '1') => q,
                        (false, _) => 1.0 - q,
                    })
                    .product();
                assert!(close(*probability, product, 1e-13), "{name} {bits}");
            }
        }
    }
}

#[test]
fn every_pair_of_labels_collides_under_one_hash_function_in_g() {
    for (buckets, n) in [(2, 8), (3, 8), (5, 25), (7, 7)] {
        let text = format!("olh(5, buckets={buckets}, secrets={n})");
        let table = declared(&text).probabilities().unwrap();
        let functions = table.observations.len() / buckets;
        let heaviest = |row: &[f64], function: usize| {
            let values = &row[function * buckets..(function + 1) * buckets];
            (0..buckets).max_by(|a, b| values[*a].total_cmp(&values[*b]))
        };
        for (a, b) in (0..n).flat_map(|a| (0..a).map(move |b| (a, b))) {
            let collide = |f: &usize| heaviest(&table.rows[a], *f) == heaviest(&table.rows[b], *f);
            let collisions = (0..functions).filter(collide).count();
            assert_eq!(collisions * buckets, functions, "{text} {a} {b}");
        }
    }
}

#[test]
fn closed_forms_survive_large_epsilon_and_a_billion_secrets() {
    let n = 1_000_000_000u64;
    for name in [
        "randomized-response",
        "rappor",
        "oue",
        "olh",
        "subset-selection",
        "hadamard-response",
    ] {
        for epsilon in [0.0, 1e-9, 1.0, 50.0, 700.0, 1e4] {
            let text = format!("{name}(epsilon={epsilon}, secrets={n})");
            let bound = declared(&text);
            let (tv, security) = (bound.total_variation(0, 1), bound.bayes_security(0, 1));
            assert!(
                (0.0..=1.0).contains(&tv) && (0.0..=1.0).contains(&security),
                "{text}"
            );
            assert!(
                (tv + security - 1.0).abs() < 1e-14,
                "{text}: {tv} {security}"
            );
            assert_eq!(bound.epsilon(), epsilon, "{text}");
            // What ε allows at most: tanh(ε/2), and min(e^ε, n).
            assert!(tv <= (0.5 * epsilon).tanh() * (1.0 + 1e-14), "{text}");
            if let Some(capacity) = bound.capacity() {
                let most = epsilon.exp().min(n as f64) * (1.0 + 1e-12);
                assert!(
                    (1.0 - 1e-12..=most).contains(&capacity),
                    "{text}: {capacity}"
                );
            }
        }
        let text = format!("{name}(epsilon=1e-9, secrets=2)");
        let tv = declared(&text).total_variation(0, 1);
        let slope = match name {
            "randomized-response" | "subset-selection" => 0.5,
            _ => 0.25,
        };
        assert!(close(tv, slope * 1e-9, 1e-8), "{text}: {tv:e}");
    }
    // 2/(1 + e^350), from 30 digits.
    let rappor = declared("rappor(epsilon=700, secrets=1000000000)");
    assert!(close(
        rappor.bayes_security(0, 1),
        1.985_918_079_252_996e-152,
        1e-12
    ));
}

/// f of a staircase, from the definition.
fn staircase_density(x: f64, epsilon: f64, width: f64, gamma: f64) -> f64 {
    let b = (-epsilon).exp();
    let a = (1.0 - b) / (2.0 * width * (gamma + b * (1.0 - gamma)));
    let k = (x.abs() / width).floor();
    let lower = x.abs() >= (k + gamma) * width;
    a * b.powf(k + f64::from(u8::from(lower)))
}

#[test]
fn staircase_noise_is_the_integral_of_its_steps() {
    for (epsilon, width) in [(0.5f64, 1.0f64), (2.0, 3.0), (1.0, 0.25)] {
        let half = (-0.5 * epsilon).exp();
        for gamma in [None, Some(0.0), Some(0.3), Some(1.0)] {
            for steps in [0, 1, 7, 10, 16, 25, 61] {
                let distance = width * f64::from(steps) / 10.0;
                let gamma_text = gamma.map_or(String::new(), |gamma| format!(", gamma={gamma}"));
                let text = format!("staircase(epsilon={epsilon}, sensitivity={width}{gamma_text})");
                let bound = bind(&text, &["0", &distance.to_string()]);
                let gamma = gamma.unwrap_or(half / (1.0 + half));
                // Middles of cells of which every step of both densities is an edge, up to γ's own.
                let cells = 200_000;
                let (from, to) = (-60.0 * width, 60.0 * width + distance);
                let h = (to - from) / f64::from(cells);
                let security: f64 = (0..cells)
                    .map(|i| from + (f64::from(i) + 0.5) * h)
                    .map(|x| {
                        let f = |x| staircase_density(x, epsilon, width, gamma);
                        f(x).min(f(x - distance)) * h
                    })
                    .sum();
                let exact = bound.bayes_security(0, 1);
                assert!(
                    (exact - security).abs() < 2e-3,
                    "{text} {distance}: {exact} {security}"
                );
                assert!((exact + bound.total_variation(0, 1) - 1.0).abs() < 1e-14);
                let Law::Real(cdf) = bound.law(0) else {
                    panic!()
                };
                let middle = cdf(distance / 2.0) - cdf(-distance / 2.0);
                assert!((bound.total_variation(0, 1) - middle).abs() < 1e-14);
                let expected = epsilon * (distance / width - 1e-9).max(0.0).ceil();
                assert!(close(bound.epsilon(), expected, 1e-12), "{text} {distance}");
            }
        }
    }
}

/// Within a piece where the density is constant the integral is exact: masses of single steps.
#[test]
fn staircase_masses_are_exact() {
    let (epsilon, gamma) = (1.2f64, 0.25);
    let bound = bind("staircase(epsilon=1.2, gamma=0.25)", &["0", "1"]);
    let Law::Real(cdf) = bound.law(0) else {
        panic!()
    };
    for (from, to) in [
        (0.0, 0.25),
        (0.25, 1.0),
        (1.0, 1.25),
        (1.25, 1.5),
        (7.25, 8.0),
    ] {
        let mass = staircase_density(0.5 * (from + to), epsilon, 1.0, gamma) * (to - from);
        assert!((cdf(to) - cdf(from) - mass).abs() < 1e-15, "{from} {to}");
        assert!((cdf(-from) - cdf(-to) - mass).abs() < 1e-15, "{from} {to}");
    }
}

#[test]
fn discrete_gaussian_noise_is_the_sum_of_its_weights() {
    for sigma in [0.3f64, 1.0, 4.7] {
        let weight = |z: i64| (-0.5 * (z as f64 / sigma).powi(2)).exp();
        let total: f64 = (-400..=400).map(weight).sum();
        for distance in [0i64, 1, 2, 3, 8, 21, 40] {
            let text = format!("discrete-gaussian(sigma={sigma})");
            let bound = bind(&text, &["0", &distance.to_string()]);
            let both = || (-400..=440).map(|z| (weight(z) / total, weight(z - distance) / total));
            let security: f64 = both().map(|(p, q)| p.min(q)).sum();
            let variation = 0.5 * both().map(|(p, q)| (p - q).abs()).sum::<f64>();
            assert!(
                close(bound.bayes_security(0, 1), security, 1e-12),
                "{text} {distance}"
            );
            assert!((bound.total_variation(0, 1) - variation).abs() < 1e-14);
            let capacity: f64 = both().map(|(p, q)| p.max(q)).sum();
            assert!(close(bound.capacity().unwrap(), capacity, 1e-13));
            let Law::Integer(cdf) = bound.law(1) else {
                panic!()
            };
            let mut below = 0.0;
            for z in -200..=300 {
                below += weight(z - distance) / total;
                assert!((cdf(z as f64) - below).abs() < 1e-14, "{text} {z}");
            }
        }
    }
    // Poisson summation: at σ = 1e5 the sums are those of the continuous law at half-integers, up
    // to a relative error of about 1/24σ².
    let bound = bind("discrete-gaussian(1e5)", &["0", "300001"]);
    let continuous = libm::erfc(300_001.0 / 1e5 / 8f64.sqrt());
    assert!(close(bound.bayes_security(0, 1), continuous, 1e-9));
}

/// Σ min over a fine square lattice: a second way to the planar integral.
fn planar_security(distance: f64) -> f64 {
    // Polar coordinates about the nearer secret: the far half-plane x > Δ/2 has twice the mass of
    // r·e^−r over the angles that reach it. Simpson's rule over the distance.
    let far = |r: f64| {
        if r <= 0.5 * distance {
            0.0
        } else {
            2.0 * (0.5 * distance / r).acos() / std::f64::consts::TAU
        }
    };
    // r = Δ/2 + w², which removes the root at the edge.
    let steps = 20_000;
    let h = 7.0 / f64::from(steps);
    let f = |w: f64| {
        let r = 0.5 * distance + w * w;
        r * (-r).exp() * far(r) * 2.0 * w
    };
    let inner: f64 = (1..steps)
        .map(|i| f(f64::from(i) * h) * if i % 2 == 1 { 4.0 } else { 2.0 })
        .sum();
    2.0 * (inner + f(7.0)) * h / 3.0
}

#[test]
fn planar_laplace_is_the_integral_of_its_density() {
    for distance in [1e-3, 0.1, 0.5, 1.0, 2.0, 7.0, 30.0] {
        let bound = bind(
            "planar-laplace(scale=1)",
            &["0;0", &format!("{distance};0")],
        );
        let (tv, security) = (bound.total_variation(0, 1), bound.bayes_security(0, 1));
        let integral = planar_security(distance);
        assert!(
            close(security, integral, 1e-9),
            "{distance}: {security} {integral}"
        );
        assert!((tv + security - 1.0).abs() < 1e-15 * 4.0, "{distance}");
        assert!(close(bound.epsilon(), distance, 1e-15));
        assert_eq!(bound.capacity(), Some(1.0 + tv));
        let Law::Coordinates(laws) = bound.law(0) else {
            panic!()
        };
        let Law::Real(cdf) = &laws[0] else { panic!() };
        assert!((cdf(distance / 2.0) - cdf(-distance / 2.0) - tv).abs() < 1e-15 * 4.0);
    }
    // Small distances: Δ/πλ to first order. The direction does not matter.
    let bound = bind(
        "planar-laplace(scale=2)",
        &["1;1", "(1.00000006, 1.00000008)"],
    );
    let tv = bound.total_variation(0, 1);
    assert!(close(tv, 1e-7 / 2.0 / std::f64::consts::PI, 1e-6), "{tv:e}");
    assert_eq!(bound.total_variation(1, 1), 0.0);
    // Far beyond where e^−u vanishes nothing breaks.
    let bound = bind("planar-laplace(scale=1)", &["0;0", "1e9;1e9"]);
    assert_eq!(
        (bound.total_variation(0, 1), bound.bayes_security(0, 1)),
        (1.0, 0.0)
    );
}

#[test]
fn planar_laplace_has_a_capacity_on_a_line_and_in_a_plane() {
    let bound = bind("planar-laplace(scale=1)", &["0;0", "4;0", "1;0", "2;0"]);
    let steps = [(0, 2), (2, 3), (3, 1)].map(|(a, b)| bound.total_variation(a, b));
    assert!(close(
        bound.capacity().unwrap(),
        1.0 + steps.iter().sum::<f64>(),
        1e-15
    ));
    assert_eq!(bound.worst_pair(), Some((0, 1)));
    let bound = bind("planar-laplace(scale=1)", &["0;0", "1;0", "0;1"]);
    // The mass of each point's own law where it is the nearest: 4,000,000 directions by numpy, midpoint rule.
    assert!(close(bound.capacity().unwrap(), 1.550_204_136_331_24, 1e-9));
}

#[test]
fn planar_geometric_is_what_its_weights_give() {
    let bound = bind(
        "planar-geometric(nu=0.4, observations=-2..5)",
        &["0;0", "3;4", "-2;5"],
    );
    check_against_rows("planar-geometric", &*bound);
    let table = bound.probabilities().unwrap();
    assert_eq!(table.observations.len(), 64);
    let weight = |label: &str| {
        let (x, y) = label.split_once(',').unwrap();
        let (x, y): (f64, f64) = (x.parse().unwrap(), y.parse().unwrap());
        (-0.4 * (x - 3.0).hypot(y - 4.0)).exp()
    };
    let total: f64 = table.observations.iter().map(|label| weight(label)).sum();
    for (label, p) in table.observations.iter().zip(&table.rows[1]) {
        assert!(close(*p, weight(label) / total, 1e-13), "{label}");
    }
    assert!(bound.epsilon() <= 2.0 * 0.4 * 7f64.hypot(1.0));
    check_against_rows(
        "planar-geometric",
        &*declared("planar-geometric(nu=1, secrets=3)"),
    );
    // Probabilities underflow, ε does not.
    let far = bind("planar-geometric(nu=800)", &["0;0", "1;1"]);
    assert!(far.epsilon().is_finite() && far.epsilon() > 800.0);
}

#[test]
fn functions_of_the_secret_tell_all_or_nothing() {
    let bound = declared("deterministic(modulus=3, secrets=-2..6)");
    check_against_rows("modulus", &*bound);
    assert_eq!(
        (bound.capacity(), bound.worst_pair()),
        (Some(3.0), Some((0, 1)))
    );
    assert_eq!(bound.total_variation(0, 3), 0.0);
    let bound = declared("deterministic(width=4, secrets=8)");
    check_against_rows("width", &*bound);
    assert_eq!(
        (bound.capacity(), bound.worst_pair()),
        (Some(2.0), Some((0, 4)))
    );
    let bound = bind("deterministic", &["yes", "no"]);
    check_against_rows("identity", &*bound);
    assert_eq!(bound.epsilon(), f64::INFINITY);
    let bound = declared("deterministic(modulus=1, secrets=5)");
    check_against_rows("constant", &*bound);
    assert_eq!(bound.bayes_security(0, 1), 1.0);
}

#[test]
fn a_mixture_is_the_average_of_its_rows() {
    let text = "mixture(randomized-response(1, secrets=4), deterministic(modulus=2), weight=0.75)";
    let mechanism = parse(text).unwrap();
    let bound = mechanism.bind_declared().unwrap();
    check_against_rows(text, &*bound);
    let e = 1f64.exp();
    // Secrets 0 and 2 differ in the randomized response only, 0 and 1 in both.
    let response = (e - 1.0) / (e + 3.0);
    assert!(close(bound.total_variation(0, 2), 0.75 * response, 1e-14));
    assert!(close(
        bound.total_variation(0, 1),
        0.75 * response + 0.25,
        1e-14
    ));
    let text = "mixture(identity(0.5, otherwise=none), randomized-response(2))";
    let bound = bind(text, &["x", "y", "z"]);
    check_against_rows(text, &*bound);
    assert_eq!(
        bound.probabilities().unwrap().observations,
        ["x", "y", "z", "none"]
    );
    // The mixture of a mechanism with itself is that mechanism.
    let text = "mixture(rappor(2), rappor(2), weight=0.3)";
    let (mixed, alone) = (bind(text, LABELS), bind("rappor(2)", LABELS));
    assert!(close(
        mixed.bayes_security(0, 1),
        alone.bayes_security(0, 1),
        1e-14
    ));
    assert!(close(
        mixed.capacity().unwrap(),
        alone.capacity().unwrap(),
        1e-14
    ));
}

#[test]
fn infinitely_many_or_too_many_observations_are_not_written_out() {
    assert!(bind("geometric(1)", &["0", "1"]).probabilities().is_none());
    assert!(
        bind("laplace(scale=1)", &["0", "1"])
            .probabilities()
            .is_none()
    );
    assert!(declared("rappor(1, secrets=40)").probabilities().is_none());
    assert!(
        declared("randomized-response(1, secrets=1000000)")
            .probabilities()
            .is_none()
    );
    assert!(matches!(
        declared("rappor(1, secrets=40)").law(0),
        Law::Unknown(_)
    ));
}

/// Σ or ∫ of max(p − e^ε q, 0) over cells of two distribution functions.
fn hockey_stick(bound: &dyn BoundMechanism, epsilon: f64, half: bool) -> f64 {
    let cdf = |secret| match bound.law(secret) {
        Law::Real(cdf) | Law::Integer(cdf) => cdf,
        _ => panic!("no distribution function"),
    };
    let (f, g) = (cdf(0), cdf(1));
    let (cells, width) = if half { (400_000, 1e-3) } else { (800, 1.0) };
    (0..cells)
        .map(|i| f64::from(i - cells / 2) * width)
        .map(|x| {
            let mass = |cdf: &dyn Fn(f64) -> f64| cdf(x + width) - cdf(x);
            (mass(&f) - epsilon.exp() * mass(&g)).max(0.0)
        })
        .sum()
}

#[test]
fn delta_is_the_hockey_stick_divergence() {
    for epsilon in [0.0, 0.3, 1.0, 2.5] {
        for (text, half) in [
            ("laplace(scale=2)", true),
            ("gaussian(sigma=1.5)", true),
            ("geometric(nu=0.4)", false),
            ("geometric(nu=1)", false),
        ] {
            for end in ["1", "4", "7"] {
                let bound = bind(text, &["0", end]);
                let (exact, sum) = (
                    bound.delta(epsilon).unwrap(),
                    hockey_stick(&*bound, epsilon, half),
                );
                let tolerance = if half { 1e-6 } else { 1e-13 };
                assert!(
                    (exact - sum).abs() < tolerance,
                    "{text} {end} {epsilon}: {exact} {sum}"
                );
                let tv = bound.total_variation(0, 1);
                assert!(
                    (bound.delta(0.0).unwrap() - tv).abs() < 1e-15 * 4.0,
                    "{text} {end}"
                );
            }
        }
        // Pure ε: nothing is left to δ. Erasure: δ is the probability of telling, whatever ε.
        for text in [
            "rappor(0.3, secrets=3)",
            "olh(0.3, secrets=5)",
            "subset-selection(0.3, secrets=5)",
        ] {
            let delta = declared(text).delta(epsilon).unwrap();
            assert_eq!(delta < 1e-15, epsilon > 0.29, "{text} {epsilon}: {delta}");
        }
        let erasure = declared("identity(0.2, otherwise=none, secrets=3)");
        assert!(close(erasure.delta(epsilon).unwrap(), 0.2, 1e-15));
    }
    let far = bind("gaussian(1)", &["0", "1"]);
    assert_eq!(far.delta(1e4), Some(0.0));
    assert_eq!(bind("gaussian(1)", &["0", "0"]).delta(0.0), Some(0.0));
    // One step of e^1 lies between the two: δ is (1 − e^(ε − 1))/(1 − e^−1) times total variation.
    let stairs = bind("staircase(1)", &["0", "1"]);
    let share = f64::exp_m1(0.5 - 1.0) / f64::exp_m1(-1.0);
    let expected = share * stairs.total_variation(0, 1);
    assert!(close(stairs.delta(0.5).unwrap(), expected, 1e-13));
}

/// δ(ε), Rényi divergences and their lower sides by integrals of the densities with 30 digits (mpmath 1.4). The other records
/// are those with which it is largest at ε ≥ 0; Rényi divergences are those of the pair that bounds all databases.
#[test]
fn batches_of_a_fixed_size_are_what_their_densities_give() {
    use leakgauge::exact::bounds::{BoundsOptions, bounds};
    for (text, deltas, renyi) in [
        (
            "subsampled(gaussian(sigma=1), batch=1, records=10)",
            [
                0.068_268_949_213_708_59,
                0.056_058_961_791_308_98,
                0.019_647_881_116_578_95,
            ],
            [
                (1.5, 0.173_898_808_468_146, 0.145_927_089_680_456),
                (2.0, 0.450_522_277_450_941, 0.429_169_590_597_9),
                (8.0, 13.368_474_179_442_5, 13.368_474_179_442_5),
            ],
        ),
        (
            "subsampled(gaussian(sigma=4), batch=20, records=2000)",
            [
                0.001_974_126_513_658_474,
                1.599_633_405_186_109e-9,
                2.040_288_307_604_452e-27,
            ],
            [
                (1.5, 2.930_866_528_619_49e-5, 2.126_900_935_851_71e-5),
                (2.0, 3.907_912_468_371_54e-5, 2.840_213_832_422_48e-5),
                (8.0, 1.564_730_654_348_35e-4, 1.157_561_479_299_1e-4),
            ],
        ),
    ] {
        let bound = declared(text);
        for (epsilon, expected) in [0.0, 0.1, 1.0].into_iter().zip(deltas) {
            let found = bound.delta(epsilon).unwrap();
            assert!(
                close(found, expected, 1e-8),
                "{text}, {epsilon}: {found} {expected}"
            );
        }
        for (order, most, least) in renyi {
            let options = BoundsOptions {
                at_order: Some(order),
                ..BoundsOptions::default()
            };
            let row = bounds(text, &options).unwrap().rows.remove(0);
            let found = row.figure("renyi_divergence").unwrap();
            assert!(close(found, most, 1e-11), "{text}, {order}: {found} {most}");
            let found = row.figure("renyi_divergence_at_least").unwrap();
            assert!(
                close(found, least, 1e-11),
                "{text}, {order}: {found} {least}"
            );
        }
    }
    // Added or removed, the pair is that of Poisson sampling between the same two numbers.
    let sized = "subsampled(laplace(scale=2), batch=3, records=10, relation=add-or-remove)";
    let poisson = "subsampled(laplace(scale=2, secrets=-1..1), rate=0.3)";
    for epsilon in [0.0, 0.1, 0.5] {
        assert_eq!(
            declared(sized).delta(epsilon),
            declared(poisson).delta(epsilon)
        );
    }
    assert_eq!(declared(sized).epsilon(), declared(poisson).epsilon());
    // A pair that is not alike in both orders has no known bound for compositions.
    let text = "subsampled(shuffled(randomized-response(epsilon=2, secrets=2), n=4, others=0), batch=1, records=3)";
    assert!(declared(text).delta(0.1).is_some_and(|delta| delta > 0.0));
    let options = BoundsOptions {
        repeat: Some(3),
        ..BoundsOptions::default()
    };
    assert!(bounds(text, &options).is_err());
}
