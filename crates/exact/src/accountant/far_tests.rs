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

/// Where a record is so rarely used that a few losses are thousands of times as large as most, an integral and a grid had sides
/// that were apart by all they said. Both sides enclose what sums of 2^22 cells of an independent transform gave.
#[test]
fn rare_losses_far_larger_than_most_have_near_sides() {
    for (relation, steps, table) in RARE {
        let text = format!("subsampled(gaussian(sigma=1), rate=1e-6{relation})");
        let step = parse(&text).unwrap();
        let accountant = Accountant::of_mechanism(&*step, steps).unwrap();
        for (epsilon, exact) in table {
            let Sides { least, most } = accountant.delta(epsilon);
            let what = format!("{text} {steps} {epsilon}: {least:e} {exact:e} {most:e}");
            assert!(least <= exact * 1.0001 && exact * 0.9999 <= most, "{what}");
            assert!(most - least <= 0.02 * most, "{what}");
        }
    }
}

/// A relation, steps, and (ε, δ).
type Rare = (&'static str, u64, [(f64, f64); 3]);

const RARE: [Rare; 6] = [
    (
        "",
        100,
        [(0.0, 5.141628e-6), (1e-5, 1.891944e-6), (2e-5, 5.998464e-7)],
    ),
    (
        "",
        10_000,
        [
            (0.0, 5.227932e-5),
            (1e-4, 1.711329e-5),
            (2.7e-4, 1.087900e-6),
        ],
    ),
    (
        "",
        1_000_000,
        [
            (0.0, 5.229225e-4),
            (2e-3, 3.650907e-5),
            (3.7e-3, 9.549047e-7),
        ],
    ),
    (
        ", relation=replace",
        100,
        [(0.0, 8.563577e-6), (1e-5, 4.490909e-6), (2e-5, 2.075793e-6)],
    ),
    (
        ", relation=replace",
        10_000,
        [
            (0.0, 8.648406e-5),
            (1e-4, 4.553023e-5),
            (2.7e-4, 1.108013e-5),
        ],
    ),
    (
        ", relation=replace",
        1_000_000,
        [
            (0.0, 8.649222e-4),
            (2e-3, 2.091322e-4),
            (3.7e-3, 3.909406e-5),
        ],
    ),
];

/// One step of a replaced record in closed form, against integrals with 40 digits.
#[test]
fn a_replaced_record_has_a_closed_form() {
    let table = [
        (1.0, 1e-6, 1e-6, 3.320_204_785_178_047e-7),
        (1.0, 1e-6, 1e-3, 9.579_296_278_713_576e-18),
        (0.01, 1e-6, 1e-9, 7.488_684_610_882_663e-9),
        (0.5, 0.3, 1.0, 0.000_127_781_889_177_729_3),
        (5.0, 0.01, 3.0, 0.007_815_507_331_934_04),
        (30.0, 0.5, 2.0, 0.5),
    ];
    for (mu, rate, epsilon, exact) in table {
        let normal = normal::Normal {
            mu,
            rate,
            order: normal::Order::Replaced,
        };
        let told = normal.one_step(epsilon).unwrap();
        let what = format!("{mu} {rate} {epsilon}: {told:?} {exact:e}");
        assert!(told.least.0 <= exact && exact <= told.most.0, "{what}");
        assert!(told.most.0 - told.least.0 <= 1e-7 * exact, "{what}");
    }
}
