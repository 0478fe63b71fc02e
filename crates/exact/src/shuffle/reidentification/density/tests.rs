//! Densities against mechanisms, fine grids and laws of labels.

use super::super::{Game, Randomizer};
use super::*;
use crate::mechanism::parse;

fn law(p: &str, q: &str) -> RatioLaw {
    let read = |text| Density::parse(text).unwrap().unwrap();
    RatioLaw::from_densities(&read(p), &read(q)).unwrap()
}

fn success(law: &RatioLaw, n: u64, k: u64) -> f64 {
    law.success(&Game::new(n, k).unwrap()).success
}

#[test]
fn one_noise_among_another_is_that_of_the_mechanism() {
    for (p, q, mechanism) in [
        (
            "normal(1, 2)",
            "normal(0, 2)",
            "gaussian(sigma=2, secrets=0..1)",
        ),
        (
            "laplace(1, 2)",
            "laplace(0, 2)",
            "laplace(scale=2, secrets=0..1)",
        ),
    ] {
        let randomizer = Randomizer::new(&*parse(mechanism).unwrap(), None).unwrap();
        let (found, expected) = (law(p, q), randomizer.versus(1, 0).unwrap());
        let variation = (found.total_variation(), expected.total_variation());
        assert!((variation.0 - variation.1).abs() < 1e-14, "{p}");
        for (n, k) in [(2, 1), (10, 3), (1000, 1), (1_000_000, 7)] {
            let (a, b) = (success(&found, n, k), success(&expected, n, k));
            assert!((a - b).abs() <= 1e-11 * b, "{p}, {n}: {a:e}, not {b:e}");
        }
    }
}

#[test]
#[ignore = "long"]
fn mixtures_are_those_of_a_sum_over_a_grid() {
    for (p, q) in [
        ("0.5*normal(-2, 0.5) + 0.5*normal(2, 0.5)", "normal(0, 2)"),
        (
            "0.3*laplace(0, 1) + 0.7*normal(1, 1)",
            "0.9*laplace(0, 2) + 0.1*uniform(0, 1)",
        ),
        ("uniform(low=0, high=2)", "uniform(low=1, high=4)"),
        ("exponential(0, 1)", "logistic(0, 1)"),
        ("logistic(1, 1)", "normal(0, 3)"),
    ] {
        // What a grid loses is of the order of the square of its step.
        let (found, step) = (law(p, q), 1e-3);
        let read = |text| Density::parse(text).unwrap().unwrap();
        let (one, other) = (read(p), read(q));
        let cells: Vec<(f64, f64)> = (-40_000..40_000)
            .map(|k| {
                let (a, b) = (f64::from(k) * step, f64::from(k + 1) * step);
                (one.mass(a, b), other.mass(a, b))
            })
            .collect();
        let (p_row, q_row): (Vec<f64>, Vec<f64>) = cells.into_iter().unzip();
        let grid = RatioLaw::from_weights(&p_row, &q_row).unwrap();
        assert!(
            (found.certain_mass() - grid.certain_mass()).abs() < 1e-9,
            "{p}"
        );
        assert!(
            (found.total_variation() - grid.total_variation()).abs() < step * step,
            "{p}"
        );
        for (n, k) in [(2, 1), (5, 2), (20, 1)] {
            let (a, b) = (success(&found, n, k), success(&grid, n, k));
            assert!(
                (a - b).abs() <= step * step * b,
                "{p} among {q}, {n}: {a:e}, not {b:e}"
            );
        }
    }
    assert_eq!(
        law("normal(0, 1)", "normal(1, 1)").max_ratio(),
        f64::INFINITY
    );
    let most = law("laplace(0, 1)", "laplace(1, 1)").max_ratio();
    assert!((most - 1f64.exp()).abs() < 1e-14, "{most}");
    let most = law("uniform(0, 2)", "uniform(1, 4)").max_ratio();
    assert!((most - 1.5).abs() < 1e-14, "{most}");
}

#[test]
fn a_table_of_ratios_is_a_pair_of_laws() {
    let (p, q) = ([0.5, 0.3, 0.2, 0.0], [0.1, 0.3, 0.0, 0.6]);
    let table = [(5f64.ln(), 0.5), (0.0, 0.3), (f64::INFINITY, 0.2)];
    let found = RatioLaw::from_log_ratios(&table).unwrap();
    let expected = RatioLaw::from_probabilities(&p, &q).unwrap();
    for (n, k) in [(1, 1), (3, 1), (7, 2), (1000, 1)] {
        let (a, b) = (success(&found, n, k), success(&expected, n, k));
        assert!((a - b).abs() < 1e-14, "{n}: {a}, not {b}");
    }
    for wrong in [&[(0.0, 0.9)][..], &[(-1.0, 1.0)], &[(f64::NAN, 1.0)], &[]] {
        assert!(RatioLaw::from_log_ratios(wrong).is_err());
    }
}

#[test]
fn what_is_no_density_is_refused_or_left_to_others() {
    for other in [
        "passwords.csv",
        "uniform",
        "uniform(size=10)",
        "zipf(0.7)",
        "a+b.csv",
    ] {
        assert_eq!(Density::parse(other).unwrap(), None, "{other}");
    }
    for wrong in [
        "0.5*normal(0, 1)",
        "normal(0, -1)",
        "uniform(2, 1)",
        "2*normal(0, 1) + -1*normal(0, 2)",
        "normal(0)",
    ] {
        assert!(Density::parse(wrong).is_err(), "{wrong}");
    }
}

/// Normal densities have no end: what the decoys hardly ever have is not outside of their support.
#[test]
fn what_underflows_is_no_end_of_the_support() {
    let found = law("normal(0, 100)", "normal(0, 1)");
    assert_eq!(found.certain_mass(), 0.0);
    assert!(found.nearly_certain_mass() > 0.7);
    let ends = law("normal(0, 1)", "uniform(low=0, high=1)");
    assert!((ends.certain_mass() - 0.658_655_253_931_457_1).abs() < 1e-14);
    assert_eq!(ends.nearly_certain_mass(), 0.0);
}
