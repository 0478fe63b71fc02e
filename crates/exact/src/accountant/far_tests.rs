//! ε far beyond the sum of tiny losses.

use super::*;
use crate::mechanism::parse;

fn of(sigma: f64, steps: u64) -> Accountant {
    let step = parse(&format!("subsampled(gaussian(sigma={sigma}), rate=1e-6)")).unwrap();
    Accountant::of_mechanism(&*step, steps).unwrap()
}

/// Hundreds of standard deviations out moments at the saddle are no numbers.
#[test]
fn delta_is_bounded() {
    for (sigma, steps) in [(50.0, 10_000), (100.0, 10_000), (100.0, 10_000_000)] {
        for epsilon in [0.01, 0.1, 5.0] {
            let Sides { least, most } = of(sigma, steps).delta(epsilon);
            let is_bounded = least == 0.0 && most > 0.0 && most < 1e-200;
            assert!(is_bounded, "{sigma} {epsilon}: {least:e} {most:e}");
        }
    }
}

/// More steps leak no less than one, also where the δ of one is next to nothing: the smallest here is 2e-294.
#[test]
fn bounds_are_no_smaller_than_one_step() {
    for (sigma, epsilon) in [(2.0, 0.1), (2.0, 4.4), (5.0, 1e-4)] {
        let one = of(sigma, 1).delta(epsilon).least;
        for steps in [2, 100] {
            let Sides { least, most } = of(sigma, steps).delta(epsilon);
            assert!(
                0.0 <= least && least <= most,
                "{sigma} {epsilon}: {least:e} {most:e}"
            );
            assert!(most >= one, "{sigma} {epsilon}: {most:e} {one:e}");
        }
    }
}

/// Where all but nothing is told, security is not cut off at what a bound of δ allows.
#[test]
fn security_of_nearly_nothing_has_its_sides() {
    let step = parse("subsampled(gaussian(sigma=1), rate=0.5)").unwrap();
    let accountant = Accountant::of_mechanism(&*step, 2_000).unwrap();
    let (_, security) = accountant.total_variation_and_bayes_security();
    assert!(
        security.least <= security.most && security.most < 1e-15,
        "{security:?}"
    );
    assert!(security.least > 0.9 * security.most, "{security:?}");
}
