use super::ratio::RatioLaw;
use super::*;
use crate::channel::{Channel, Prior};
use crate::extreme::Extreme;

/// E\[(S/n)·ln(S/n)\] by listing all histograms.
fn listed(pairs: &[(f64, f64)], n: u32) -> f64 {
    fn go(pairs: &[(f64, f64)], left: u32, n: u32, sum: f64, weight: f64) -> f64 {
        let Some((&(p, q), rest)) = pairs.split_first() else {
            let s = sum / f64::from(n);
            return if left == 0 && s > 0.0 {
                weight * s * s.ln()
            } else {
                0.0
            };
        };
        let (mut term, mut all) = (weight, 0.0);
        for count in 0..=left {
            all += go(rest, left - count, n, sum + f64::from(count) * p / q, term);
            term *= q * f64::from(left - count) / f64::from(count + 1);
        }
        all
    }
    go(pairs, n, n, 0.0, 1.0)
}

#[test]
fn the_integral_is_the_sum_over_histograms() {
    let cases: [&[(f64, f64)]; 6] = [
        &[(0.5, 0.25), (0.3, 0.25), (0.2, 0.5)],
        &[(0.0, 0.9), (1.0, 0.1)],
        &[(1e-9, 0.5), (1.0 - 1e-9, 0.5)],
        &[(0.999, 1e-6), (0.001, 1.0 - 1e-6)],
        &[(0.1, 0.1), (0.2, 0.3), (0.0, 0.1), (0.7, 0.5)],
        &[(0.5 + 1e-5, 0.5), (0.5 - 1e-5, 0.5)],
    ];
    for pairs in cases {
        let law = RatioLaw::new(pairs.iter().copied());
        for n in [1, 2, 3, 10, 40] {
            let (found, expected) = (law.mixing_gap(n.into()), listed(pairs, n));
            // The sum itself cancels: its terms are of order 1.
            let error = (found - expected).abs();
            assert!(
                error < 1e-12 * expected.abs() + 3e-15,
                "{pairs:?}, {n}: {found:e} {expected:e}"
            );
        }
        // Far out the expansion is the value.
        let n = 1u64 << 40;
        let leading = law.moment(2) / (2.0 * n as f64);
        let relative = law.moment(3).abs() / law.moment(2) / n as f64;
        assert!(
            (law.mixing_gap(n) / leading - 1.0).abs() < 1e-12 + relative,
            "{pairs:?}"
        );
    }
}

/// The basic setting is that of users with equal laws; the enumeration shares nothing with the integral.
#[test]
fn users_with_equal_laws_are_the_basic_setting() {
    let (target, decoys) = ([0.5, 0.2, 0.3], [0.25, 0.0, 0.75]);
    let users = Users::new(&target, &[(decoys.to_vec(), 6)]).unwrap();
    let basic = Basic::new(&target, &decoys).unwrap();
    assert!((users.position().unwrap() - basic.position(7).unwrap()).abs() < 1e-13);
    assert!((users.message().unwrap() - basic.message(7).unwrap()).abs() < 1e-13);
    assert_eq!(users.position_bound(), f64::INFINITY);
}

/// Messages that no decoy sends tell the input as they would alone.
#[test]
fn signals_with_revealing_messages() {
    let channel = Channel::from_rows(&[[0.5, 0.25, 0.25], [0.1, 0.9, 0.0]]).unwrap();
    let prior = Prior::new(vec![0.3, 0.7]).unwrap();
    let (decoys, n) = ([0.4, 0.6, 0.0], 5u64);
    let signal = Signal::new(&channel, &prior, &decoys).unwrap();
    // The same by the law of the histogram.
    let law = crate::histogram::HistogramLaw::new(&[(&decoys, n - 1)], 3).unwrap();
    let mut brute = 0.0;
    law.for_each_extended(|_, before| {
        let given: Vec<f64> = channel
            .rows()
            .map(|row| row.iter().zip(before).map(|(r, m)| r * m).sum())
            .collect();
        let whole = 0.3 * given[0] + 0.7 * given[1];
        for (l, p) in given.iter().zip(prior.weights()).filter(|(l, _)| **l > 0.0) {
            brute += p * l * (l / whole).ln();
        }
    });
    assert!((signal.information(n).unwrap() - brute).abs() < 1e-13);
    assert_eq!(signal.coefficient(), f64::INFINITY);
}

/// Whatever the others' known inputs are, the blanket bounds what is told (Corollary 3).
#[test]
fn the_blanket_bounds_every_informed_adversary() {
    let channel = Channel::from_rows(&[[0.6, 0.3, 0.1], [0.2, 0.3, 0.5], [0.3, 0.4, 0.3]]).unwrap();
    let prior = Prior::new(vec![0.2, 0.5, 0.3]).unwrap();
    let blanket = Signal::blanket(&channel, &prior).unwrap();
    for known in [[5, 0, 0], [0, 5, 0], [2, 1, 2], [0, 0, 5]] {
        let told = informed(&channel, &prior, &known).unwrap();
        assert!(told <= blanket.information(6).unwrap() + 1e-15 && told > 0.0);
    }
    assert!(informed(&channel, &prior, &[1, 2]).is_err());
}

#[test]
fn what_is_no_distribution_is_refused() {
    let message = |p: &[f64], q: &[f64]| Basic::new(p, q).unwrap_err().to_string();
    assert!(message(&[0.5, 0.4], &[0.5, 0.5]).contains("0.9"));
    assert!(message(&[0.5, 0.5], &[1.0]).contains("messages"));
    assert!(message(&[], &[]).contains("empty"));
    assert!(message(&[1.5, -0.5], &[0.5, 0.5]).contains("negative"));
    let basic = Basic::new(&[0.5, 0.5], &[0.5, 0.5]).unwrap();
    assert!(basic.position(0).is_err() && basic.message(u64::MAX).is_err());
    assert!(privacy_bounds(-1.0, 2, 3).is_err() && privacy_bounds(f64::NAN, 2, 3).is_err());
    assert_eq!(
        privacy_bounds(f64::INFINITY, 2, 3).unwrap().input,
        f64::INFINITY
    );
}

/// Values of 17 digits that were computed with 70: information far below the rounding unit of a sum of probabilities.
#[test]
fn information_of_a_randomizer_has_no_floor() {
    let table: serde_json::Value = serde_json::from_str(include_str!(
        "../../../../../tests/golden/exact_randomizer_information.json"
    ))
    .unwrap();
    for row in table["rows"].as_array().unwrap() {
        let number = |key: &str| row[key].as_f64().unwrap();
        let (k, epsilon, n) = (number("secrets") as usize, number("epsilon"), number("n"));
        let text = format!("randomized-response(epsilon={epsilon}, secrets={k})");
        let mechanism = crate::mechanism::parse(&text).unwrap();
        let channel = Channel::of_mechanism(&*mechanism).unwrap();
        let prior = if row["prior"] == "uniform" {
            Prior::uniform(k)
        } else {
            let rest = 0.5 / (k as f64 - 1.0);
            let weights = (0..k).map(|x| if x == 0 { 0.5 } else { rest });
            Prior::new(weights.collect()).unwrap()
        };
        let among = Signal::among(&channel, &prior, &prior).unwrap();
        let blanket = Signal::blanket(&channel, &prior).unwrap();
        for (signal, key) in [(among, "exact"), (blanket, "blanket")] {
            let found = signal.information(n as u64).unwrap();
            // The entries of the matrix are rounded, by 6e-17 at most: a relative 4.4e-16/ε of the squared difference
            // of two rows.
            let tolerance = 1e-11 + 1e-15 / epsilon;
            let error = (found / number(key) - 1.0).abs();
            assert!(
                error < tolerance,
                "{text}, n = {n}, {key}: {found:e}, off by {error:e}"
            );
        }
    }
}

/// The bound on the position by the blanket against the exact value for every choice of known inputs.
#[test]
fn the_blanket_bounds_the_position_for_all_inputs() {
    let rows = [
        [[0.6, 0.3, 0.1], [0.2, 0.3, 0.5], [0.3, 0.4, 0.3]],
        [[0.8, 0.1, 0.1], [0.1, 0.8, 0.1], [0.1, 0.1, 0.8]],
        [[0.5, 0.25, 0.25], [0.25, 0.5, 0.25], [0.3, 0.3, 0.4]],
    ];
    for rows in rows {
        let channel = Channel::from_rows(&rows).unwrap();
        let bound = Blanket::of(&channel).position_bound(&channel);
        assert!(bound <= channel.epsilon().unwrap());
        let mut largest = 0.0f64;
        for target in 0..3 {
            for known in [
                [0, 6, 0],
                [0, 0, 6],
                [6, 0, 0],
                [2, 2, 2],
                [0, 3, 3],
                [0, 20, 0],
                [0, 0, 20],
            ] {
                let others: Vec<(Vec<f64>, u64)> = rows
                    .iter()
                    .zip(known)
                    .map(|(row, count)| (row.to_vec(), count))
                    .collect();
                let told = Users::new(&rows[target], &others)
                    .unwrap()
                    .position()
                    .unwrap();
                largest = largest.at_least(told);
                assert!(told <= bound, "{target} {known:?}: {told} {bound}");
            }
        }
        assert!(largest > 0.3 * bound, "{largest} {bound}");
    }
}

/// A message that is nearly sure: by mpmath with 60 digits, over all pairs of messages.
#[test]
fn a_nearly_sure_message_keeps_the_digits_of_the_others() {
    let p = [
        0.999_999_999_999,
        9.999_999_999_99e-13,
        9.999_999_999_99e-19,
    ];
    let q = [
        0.999_990_000_089_999_2,
        9.999_900_000_899_99e-12,
        9.999_900_000_899_99e-6,
    ];
    let found = Basic::new(&p, &q).unwrap().message(2).unwrap();
    let expected = 2.5280069067966067e-11;
    assert!(
        (found / expected - 1.0).abs() < 1e-9,
        "{found:e}, not {expected:e}"
    );
}
