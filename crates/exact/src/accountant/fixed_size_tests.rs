//! Batches of a fixed size, against sums and integrals of their densities.

use super::{Accountant, Sides};
use crate::extreme::Extreme;
use crate::mechanism::parse;

fn accountant(text: &str, steps: u64) -> Accountant {
    Accountant::of_mechanism(&*parse(text).unwrap(), steps).unwrap()
}

/// By transforms of 2^22 cells of 2e-5 of both losses (numpy 2.4), which 2^21 cells of 4e-5 repeat to the digits that are
/// compared: the pair that bounds all databases; and those whose other records are alike, dp-accounting 0.6.0 (standard deviation
/// 1/μ, sampling probability), both orders at ε = 0, the larger at 1.
#[test]
fn both_sides_are_those_of_their_pairs() {
    for (text, steps, bound, attained) in [
        (
            "subsampled(gaussian(sigma=1), batch=100, records=10000)",
            1000,
            [0.696_308_01, 0.532_490_58],
            [0.541_566_458_7, 0.355_050_883_7],
        ),
        (
            "subsampled(gaussian(sigma=2), batch=1, records=10)",
            50,
            [0.394_635_255, 0.142_770_842],
            [0.317_868_71, 0.091_030_245],
        ),
    ] {
        let accountant = accountant(text, steps);
        for (at, epsilon) in [0.0, 1.0].into_iter().enumerate() {
            let Sides { least, most } = accountant.delta(epsilon);
            let (above, below) = (most / bound[at], least / attained[at]);
            assert!(
                (1.0 - 1e-6..1.0 + 2e-3).contains(&above),
                "{text}, {epsilon}: {most}"
            );
            assert!(
                (1.0 - 2e-3..1.0 + 1e-6).contains(&below),
                "{text}, {epsilon}: {least}"
            );
        }
    }
}

/// Randomized response: all sums of the losses of the pair that bounds, one by one; of three steps.
#[test]
fn few_losses_are_summed() {
    let (epsilon, rate) = (1.2f64, 0.3f64);
    let right = 1.0 / (1.0 + (-epsilon).exp());
    // Reports of the other record in its favor, and of this one.
    let (q, p) = (1.0 - right, (1.0 - rate) * (1.0 - right) + rate * right);
    let pair = [(p, q), (q, p), (1.0 - p - q, 1.0 - p - q)];
    let exact = |at: f64, cells: &[(f64, f64)]| -> f64 {
        let mut sums = vec![(1.0, 1.0)];
        for _ in 0..3 {
            let all = |&(a, b): &(f64, f64)| cells.iter().map(move |(p, q)| (a * p, b * q));
            sums = sums.iter().flat_map(all).collect();
        }
        let part = |(a, b): &(f64, f64)| (a - at.exp() * b).at_least(0.0);
        sums.iter().map(part).sum()
    };
    let text = "subsampled(randomized-response(epsilon=1.2, secrets=2), batch=3, records=10)";
    let accountant = accountant(text, 3);
    let alike = [(p, q), (1.0 - p, 1.0 - q)];
    let other = [(q, p), (1.0 - q, 1.0 - p)];
    for at in [0.0, 0.2, 0.7] {
        let Sides { least, most } = accountant.delta(at);
        let (bound, attained) = (
            exact(at, &pair),
            exact(at, &alike).at_least(exact(at, &other)),
        );
        assert!(
            most >= bound - 1e-12 && most <= bound * (1.0 + 2e-3),
            "{at}: {most} {bound}"
        );
        assert!(
            least <= attained + 1e-12 && least >= attained * (1.0 - 5e-3),
            "{at}: {least} {attained}"
        );
    }
}

/// Of one step the bound is attained, and a whole database is no sample.
#[test]
fn one_step_is_exact_and_a_full_batch_is_the_noise() {
    let text = "subsampled(laplace(scale=3), batch=7, records=50)";
    let one = accountant(text, 1);
    let bound = parse(text).unwrap().bind_declared().unwrap();
    for at in [0.0, 0.02, 0.05] {
        let exact = bound.delta(at).unwrap();
        let Sides { least, most } = one.delta(at);
        assert!(
            least <= exact + 1e-12 && exact <= most + 1e-12 && most - least < 2e-3 * exact,
            "{at}: {least} {exact} {most}"
        );
    }
    let full = accountant("subsampled(gaussian(sigma=3), batch=5, records=5)", 20);
    let plain = accountant("gaussian(sigma=3, secrets=-1..1)", 20);
    for at in [0.0, 1.0] {
        let (Sides { least, most }, exact) = (full.delta(at), plain.delta(at).most);
        assert!(
            (most / exact - 1.0).abs() < 2e-3 && (least / exact - 1.0).abs() < 2e-3,
            "{at}: {least} {exact} {most}"
        );
    }
}

/// Sides keep their order whatever the parameters.
#[test]
fn hostile_sizes_have_both_sides() {
    for (text, steps) in [
        (
            "subsampled(gaussian(sigma=100), batch=1, records=100)",
            1_000_000,
        ),
        ("subsampled(laplace(scale=0.01), batch=3, records=4)", 1000),
        (
            "subsampled(discrete-gaussian(sigma=1), batch=1, records=100)",
            1000,
        ),
        ("subsampled(gaussian(sigma=1e-5), batch=1, records=3)", 5),
    ] {
        let Sides { least, most } = accountant(text, steps).delta(1.0);
        assert!(
            0.0 <= least && least <= most && most <= 1.0,
            "{text}: {least} {most}"
        );
    }
    let text = "subsampled(gaussian(sigma=1e-309), batch=1, records=2)";
    assert!(Accountant::of_mechanism(&*parse(text).unwrap(), 2).is_err());
}
