//! Every formula of a mechanism against a second way to the same number.

use leakgauge::exact::mechanism::{BoundMechanism, Law, parse};
use proptest::prelude::*;

fn bind(text: &str, labels: &[&str]) -> Box<dyn BoundMechanism> {
    let labels: Vec<_> = labels.iter().map(ToString::to_string).collect();
    parse(text).expect(text).bind(&labels).expect(text)
}

fn real(law: Law) -> Box<dyn Fn(f64) -> f64> {
    match law {
        Law::Real(distribution) => distribution,
        _ => panic!("not a law on the real line"),
    }
}

fn integer(law: Law) -> Box<dyn Fn(f64) -> f64> {
    match law {
        Law::Integer(distribution) => distribution,
        _ => panic!("not a law on the integers"),
    }
}

fn labels(law: Law) -> Vec<(String, f64)> {
    match law {
        Law::Labels(labels) => labels,
        _ => panic!("not a law on labels"),
    }
}

fn close(a: f64, b: f64, tolerance: f64) -> bool {
    (a - b).abs() <= tolerance * a.abs().max(b.abs()).max(f64::MIN_POSITIVE)
}

/// Σ min of the probabilities of two secrets under randomized response, label by label.
fn enumerated_security(bound: &dyn BoundMechanism, a: usize, b: usize) -> f64 {
    let (a, b) = (labels(bound.law(a)), labels(bound.law(b)));
    a.iter().zip(&b).map(|(p, q)| p.1.min(q.1)).sum()
}

#[test]
fn randomized_response_is_what_its_law_gives_label_by_label() {
    for (epsilon, k) in [
        (0.0, 2),
        (0.5, 2),
        (1.0, 10),
        (3.3, 400),
        (40.0, 7),
        (700.0, 3),
    ] {
        let text = format!("randomized-response(epsilon={epsilon}, secrets={k})");
        let bound = parse(&text).unwrap().bind_declared().unwrap();
        let law = labels(bound.law(1));
        assert_eq!(law.len(), k);
        assert!(
            close(law.iter().map(|(_, p)| p).sum(), 1.0, 1e-13),
            "{text}"
        );
        let largest_ratio = law[1].1.ln() - law[0].1.ln();
        assert!((largest_ratio - epsilon).abs() < 1e-12, "{text}");
        let security = enumerated_security(&*bound, 0, 1);
        assert!(close(bound.bayes_security(0, 1), security, 1e-12), "{text}");
        let laws: Vec<_> = (0..k).map(|secret| labels(bound.law(secret))).collect();
        let largest = |o: usize| laws.iter().map(|law| law[o].1).fold(0.0, f64::max);
        let capacity: f64 = (0..k).map(largest).sum();
        assert!(close(bound.capacity().unwrap(), capacity, 1e-12), "{text}");
    }
}

#[test]
fn randomized_response_is_stable_where_e_to_the_epsilon_is_not() {
    let bound = parse("randomized-response(epsilon=700, secrets=1000000000)").unwrap();
    let bound = bound.bind_declared().unwrap();
    assert_eq!(bound.total_variation(0, 999_999_999), 1.0);
    // 1e9·e^−700, from 50 digits.
    let expected = 9.859_676_543_759_77e-296;
    assert!(close(bound.bayes_security(0, 1), expected, 1e-13));

    let bound = bind("randomized-response(750, secrets=1000000000)", &["0", "5"]);
    // 1e9·e^−750 is above the smallest f64 although e^−750 is not.
    assert!(bound.bayes_security(0, 1) > 0.0);
    let bound = bind(
        "randomized-response(1e-12, secrets=1000000000)",
        &["0", "5"],
    );
    assert!(close(bound.total_variation(0, 1), 1e-21, 1e-11));
    let bound = bind("randomized-response(epsilon=1e300)", &["a", "b"]);
    assert_eq!(bound.total_variation(0, 1), 1.0);
}

#[test]
fn a_million_and_one_labels_have_a_law_by_its_distribution_function() {
    let bound = parse("randomized-response(epsilon=9, secrets=1..1000001)").unwrap();
    let bound = bound.bind_declared().unwrap();
    let distribution = integer(bound.law(41));
    let weight = 9f64.exp() + 1e6;
    let step = |x: f64| distribution(x) - distribution(x - 1.0);
    assert!(close(step(42.0), 9f64.exp() / weight, 1e-12));
    assert!(close(step(41.0), 1.0 / weight, 1e-9));
    assert!(close(step(43.5), 1.0 / weight, 1e-8));
    assert_eq!((distribution(0.0), distribution(1_000_001.0)), (0.0, 1.0));
    assert_eq!((distribution(-1e300), distribution(1e300)), (0.0, 1.0));
}

/// ∫ min(f, g) for densities around 0 and `distance`, by Simpson's rule on pieces that end where
/// the integrand has a corner.
fn integrated_security(density: impl Fn(f64) -> f64, width: f64, distance: f64) -> f64 {
    let smaller = |x: f64| density(x).min(density(x - distance));
    let far = 45.0 * width;
    let corners = [-far, 0.0, distance / 2.0, distance, distance + far];
    let piece = |pair: &[f64]| {
        let steps = 4000;
        let h = (pair[1] - pair[0]) / f64::from(steps);
        let weight = |i| match i {
            _ if i == 0 || i == steps => 1.0,
            _ if i % 2 == 1 => 4.0,
            _ => 2.0,
        };
        let values = (0..=steps).map(|i| weight(i) * smaller(pair[0] + h * f64::from(i)));
        values.sum::<f64>() * h / 3.0
    };
    corners.windows(2).map(piece).sum()
}

#[test]
fn continuous_noise_is_the_integral_of_its_densities() {
    for width in [0.5, 1.0, 3.0] {
        for distance in [0.0, 1e-3, 0.5, 1.0, 2.5, 9.0] {
            let ends = ["0".to_owned(), distance.to_string()];
            let ends = [ends[0].as_str(), ends[1].as_str()];
            let laplace = bind(&format!("laplace(scale={width})"), &ends);
            let density = |x: f64| (-x.abs() / width).exp() / (2.0 * width);
            let integral = integrated_security(density, width, distance);
            assert!(close(laplace.bayes_security(0, 1), integral, 1e-8));

            let gaussian = bind(&format!("gaussian(sigma={width})"), &ends);
            let root = (2.0 * std::f64::consts::PI).sqrt();
            let density = |x: f64| (-0.5 * (x / width).powi(2)).exp() / (root * width);
            let integral = integrated_security(density, width, distance);
            assert!(close(gaussian.bayes_security(0, 1), integral, 1e-8));

            for bound in [laplace, gaussian] {
                let (f, g) = (real(bound.law(0)), real(bound.law(1)));
                let middle = f(distance / 2.0) - g(distance / 2.0);
                assert!((bound.total_variation(0, 1) - middle).abs() < 1e-15);
                assert_eq!((f(f64::NEG_INFINITY), f(f64::INFINITY)), (0.0, 1.0));
            }
        }
    }
}

/// Probabilities of integers −reach..=reach from their weights alone.
fn geometric_probabilities(nu: f64, center: i64, reach: i64) -> Vec<f64> {
    let weight = |o: i64| (-nu * (o - center).abs() as f64).exp();
    let total: f64 = (-reach..=reach).map(weight).sum();
    (-reach..=reach).map(|o| weight(o) / total).collect()
}

#[test]
fn geometric_noise_is_what_its_weights_give_integer_by_integer() {
    for nu in [0.05, 0.1, 0.7, 1.0, 3.0] {
        for distance in [0, 1, 2, 3, 4, 7, 10, 25] {
            let end = distance.to_string();
            let bound = bind(&format!("geometric(nu={nu})"), &["0", &end]);
            let p = geometric_probabilities(nu, 0, 1000);
            let q = geometric_probabilities(nu, distance, 1000);
            let security: f64 = p.iter().zip(&q).map(|(p, q)| p.min(*q)).sum();
            let variation = p.iter().zip(&q).map(|(p, q)| (p - q).abs()).sum::<f64>() / 2.0;
            assert!(close(bound.bayes_security(0, 1), security, 1e-12));
            assert!((bound.total_variation(0, 1) - variation).abs() < 1e-13);
            assert!(close(bound.epsilon(), nu * distance as f64, 1e-15));
            let distribution = integer(bound.law(1));
            let mut below = 0.0;
            for (o, probability) in (-1000..).zip(&q) {
                below += probability;
                assert!((distribution(f64::from(o)) - below).abs() < 1e-12);
                assert_eq!(distribution(f64::from(o) + 0.9), distribution(f64::from(o)));
            }
        }
    }
}

/// Σ or ∫ of the largest probability, from the distribution functions on a fine grid of cells.
fn gridded_capacity(bound: &dyn BoundMechanism, from: f64, to: f64, cells: u32) -> f64 {
    let laws: Vec<_> = (0..bound.secret_count())
        .map(|secret| match bound.law(secret) {
            Law::Real(distribution) | Law::Integer(distribution) => distribution,
            _ => panic!("no distribution function"),
        })
        .collect();
    let edge = |i: u32| from + (to - from) * f64::from(i) / f64::from(cells);
    (0..cells)
        .map(|i| {
            let mass = |law: &dyn Fn(f64) -> f64| law(edge(i + 1)) - law(edge(i));
            laws.iter().map(|law| mass(law)).fold(0.0, f64::max)
        })
        .sum()
}

#[test]
fn capacity_is_the_sum_of_the_largest_probabilities() {
    let secrets = ["4", "-1", "0", "9", "0"];
    for text in ["laplace(scale=2)", "gaussian(sigma=1.5)"] {
        let bound = bind(text, &secrets);
        // Cells of width 1/1000; every crossing of two densities is an edge of a cell.
        let capacity = gridded_capacity(&*bound, -101.0, 109.0, 210_000);
        assert!(close(bound.capacity().unwrap(), capacity, 1e-10), "{text}");
    }
    let bound = bind("geometric(nu=0.3)", &secrets);
    let capacity = gridded_capacity(&*bound, -301.0, 309.0, 610);
    assert!(close(bound.capacity().unwrap(), capacity, 1e-12));
}

#[test]
fn epsilon_is_the_largest_log_ratio() {
    for (text, secrets, expected) in [
        ("randomized-response(1.5)", vec!["a", "b"], 1.5),
        ("randomized-response(1.5)", vec!["a"], 0.0),
        ("laplace(scale=2)", vec!["1", "-3", "0"], 2.0),
        ("laplace(epsilon=0.25, sensitivity=2)", vec!["1", "3"], 0.25),
        ("laplace(scale=2)", vec!["1", "1.0"], 0.0),
        ("geometric(nu=0.5)", vec!["5", "-5"], 5.0),
        ("gaussian(2)", vec!["1", "2"], f64::INFINITY),
        ("gaussian(2)", vec!["1", "1e0"], 0.0),
        ("gaussian(2)", vec!["1"], 0.0),
    ] {
        assert_eq!(
            bind(text, &secrets).epsilon(),
            expected,
            "{text}, {secrets:?}"
        );
    }
}

#[test]
fn the_worst_pair_is_the_first_of_the_farthest() {
    for (secrets, expected) in [
        (vec!["0", "9", "9"], Some((0, 1))),
        (vec!["0", "0", "9", "9"], Some((0, 2))),
        (vec!["9", "5", "0"], Some((0, 2))),
        (vec!["5", "9", "0", "9"], Some((1, 2))),
        (vec!["3", "3", "3"], Some((0, 1))),
        (vec!["3"], None),
        (vec![], None),
    ] {
        let bound = bind("laplace(scale=2)", &secrets);
        assert_eq!(bound.worst_pair(), expected, "{secrets:?}");
    }
    assert_eq!(bind("randomized-response(1)", &["a"]).worst_pair(), None);
}

#[test]
fn observations_stay_finite_at_the_ends_of_the_range() {
    use rand::SeedableRng;
    let mut rng = rand_chacha::ChaCha8Rng::seed_from_u64(5);
    let bound = bind("laplace(scale=1e308)", &["1.7e308", "-1.7e308"]);
    assert_eq!(bound.total_variation(0, 1), bound.total_variation(1, 0));
    for _ in 0..1000 {
        let observation: f64 = bound.sample(0, &mut rng)[0].parse().unwrap();
        assert!(observation.is_finite());
    }
}

fn noise_text() -> impl Strategy<Value = String> {
    (0..3usize, 1e-3..50.0f64).prop_map(|(which, width)| match which {
        0 => format!("laplace(scale={width})"),
        1 => format!("gaussian(sigma={width})"),
        _ => format!("geometric(nu={width})"),
    })
}

proptest! {
    #[test]
    fn variation_and_security_add_to_one(
        text in noise_text(), secrets in proptest::collection::vec(-40..40i32, 2..6)
    ) {
        let labels: Vec<_> = secrets.iter().map(ToString::to_string).collect();
        let bound = parse(&text).unwrap().bind(&labels).unwrap();
        let n = secrets.len();
        let worst = bound.worst_pair().unwrap();
        prop_assert!(worst.0 < worst.1);
        for (a, b) in (0..n).flat_map(|a| (0..n).map(move |b| (a, b))) {
            let (tv, security) = (bound.total_variation(a, b), bound.bayes_security(a, b));
            prop_assert!((tv + security - 1.0).abs() < 1e-15 * 4.0);
            prop_assert!((0.0..=1.0).contains(&tv) && (0.0..=1.0).contains(&security));
            prop_assert_eq!(tv.to_bits(), bound.total_variation(b, a).to_bits());
            prop_assert!(secrets[a] != secrets[b] || (tv == 0.0 && security == 1.0));
            prop_assert!(bound.bayes_security(worst.0, worst.1) <= security);
        }
    }

    #[test]
    fn randomized_response_adds_to_one(epsilon in 0.0..50.0f64, k in 2..1_000_000_000u64) {
        let text = format!("randomized-response({epsilon}, secrets={k})");
        let bound = parse(&text).unwrap().bind_declared().unwrap();
        prop_assert!((bound.total_variation(0, 1) + bound.bayes_security(0, 1) - 1.0).abs() < 1e-14);
        let naive = epsilon.exp_m1() / (epsilon.exp() + k as f64 - 1.0);
        prop_assert!(close(bound.total_variation(0, 1), naive, 1e-12));
        prop_assert_eq!(bound.total_variation(1, 1), 0.0);
    }
}
