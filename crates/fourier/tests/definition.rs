//! Transforms against their definition.

use std::f64::consts::TAU;

use leakgauge_fourier::{Complex, Planner};

/// Powers of 2, primes, and products that are transformed in several ways.
const LENGTHS: [usize; 9] = [1, 2, 7, 16, 31, 60, 97, 128, 360];

fn values(length: usize) -> Vec<f64> {
    (0..length)
        .map(|at| ((at * at + 3) % 17) as f64 - 8.0)
        .collect()
}

/// Σⱼ xⱼ·e^(sign·2πijk/length), by definition.
fn by_definition(values: &[Complex<f64>], sign: f64, k: usize) -> Complex<f64> {
    let length = values.len();
    let terms = values.iter().enumerate();
    terms
        .map(|(j, value)| {
            let angle = sign * TAU * (j * k % length) as f64 / length as f64;
            value * Complex::new(libm::cos(angle), libm::sin(angle))
        })
        .sum()
}

fn assert_near(found: Complex<f64>, expected: Complex<f64>, length: usize) {
    assert!(
        (found - expected).norm() <= 1e-11 * (1.0 + length as f64),
        "{length}: {found} instead of {expected}"
    );
}

#[test]
fn real_values_are_transformed_as_defined_and_come_back_times_their_number() {
    let mut planner = Planner::new();
    for length in LENGTHS {
        let values = values(length);
        let complex: Vec<_> = values.iter().map(|&x| Complex::new(x, 0.0)).collect();
        let there = planner.real(length);
        let mut spectrum = there.make_output_vec();
        there.process(&mut values.clone(), &mut spectrum).unwrap();
        assert_eq!(spectrum.len(), length / 2 + 1);
        for (k, found) in spectrum.iter().enumerate() {
            assert_near(*found, by_definition(&complex, -1.0, k), length);
        }
        let back = planner.real_inverse(length);
        let mut again = back.make_output_vec();
        back.process(&mut spectrum, &mut again).unwrap();
        for (found, expected) in again.iter().zip(&values) {
            assert_near(
                Complex::new(*found, 0.0),
                Complex::new(expected * length as f64, 0.0),
                length,
            );
        }
    }
}

#[test]
fn complex_values_are_transformed_as_defined() {
    let mut planner = Planner::new();
    for length in LENGTHS {
        let parts = values(2 * length);
        let values: Vec<_> = parts
            .chunks(2)
            .map(|pair| Complex::new(pair[0], pair[1]))
            .collect();
        let mut found = values.clone();
        planner.inverse(length).process(&mut found);
        for (k, found) in found.iter().enumerate() {
            assert_near(*found, by_definition(&values, 1.0, k), length);
        }
    }
}
