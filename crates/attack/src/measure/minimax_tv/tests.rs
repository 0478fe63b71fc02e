use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::*;

/// The largest weighted error of each approximation, as the linear program reported it.
const ERRORS: [f64; 3] = [0.14891, 0.11925, 0.09532];

fn value(terms: &[(usize, usize, f64)], x: f64, y: f64) -> f64 {
    let term =
        |&(i, j, c): &(usize, usize, f64)| c * (x + y).powi(i as i32) * (x - y).powi(j as i32);
    terms.iter().map(term).sum()
}

#[test]
fn approximations_are_as_near_as_the_linear_program_said() {
    for (approximation, expected) in APPROXIMATIONS.iter().zip(ERRORS) {
        let mut largest = 0.0f64;
        for sum in (1..=1000).map(|at| (f64::from(at) / 1000.0).powi(3)) {
            for share in (0..=500).map(|at| f64::from(at) / 1000.0) {
                let (x, y) = (sum * share, sum * (1.0 - share));
                let error = value(approximation.terms, x, y) - (x - y).abs();
                largest = largest.max(error.abs() / sum.sqrt());
            }
        }
        assert!(
            (largest / expected - 1.0).abs() < 2e-3,
            "{largest} {expected}"
        );
        // The rate of the theory: proportional to 1/degree.
        assert!((0.55..0.61).contains(&(expected * approximation.degree as f64)));
    }
}

/// Two coefficients and a value forced at 0: the best approximation errs equally at three places with
/// alternating sign (Chebyshev).
#[test]
fn the_strip_polynomial_alternates() {
    let error = |s: f64| STRIP[0] * s * s + STRIP[1] * s.powi(4) - s;
    let mut extremes: Vec<f64> = Vec::new();
    for at in 1..=10_000 {
        let here = error(f64::from(at) / 10_000.0);
        match extremes.last_mut() {
            Some(last) if last.signum() == here.signum() => {
                if here.abs() > last.abs() {
                    *last = here;
                }
            }
            _ => extremes.push(here),
        }
    }
    assert_eq!(extremes.len(), 3);
    for extreme in extremes {
        assert!((extreme.abs() - 0.109_874).abs() < 1e-5, "{extreme}");
    }
}

fn binomial(rows: u32, p: f64) -> Vec<f64> {
    let mut law = vec![0.0; rows as usize + 1];
    law[0] = 1.0;
    for _ in 0..rows {
        for x in (0..law.len()).rev() {
            law[x] = (1.0 - p) * law[x] + if x > 0 { p * law[x - 1] } else { 0.0 };
        }
    }
    law
}

/// By enumeration of both counts: the polynomial's estimate is unbiased, whatever the rows.
#[test]
fn the_expected_polynomial_is_the_polynomial_of_the_probabilities() {
    for (a_rows, b_rows, p, q) in [
        (24u32, 40u32, 0.03, 0.07),
        (24, 24, 0.1, 0.1),
        (200, 300, 0.004, 0.0),
        (1500, 4000, 0.0007, 0.0011),
    ] {
        let estimator = Estimator::new(u64::from(a_rows), u64::from(b_rows)).unwrap();
        let (of_a, of_b) = (binomial(a_rows, p), binomial(b_rows, q));
        let mut expected = 0.0;
        for (x, px) in of_a.iter().enumerate().filter(|(_, p)| **p > 1e-18) {
            for (y, py) in of_b.iter().enumerate().filter(|(_, p)| **p > 1e-18) {
                expected += px * py * estimator.polynomial(x as f64, y as f64);
            }
        }
        let rows = effective_rows(u64::from(a_rows), u64::from(b_rows));
        let approximation = APPROXIMATIONS
            .iter()
            .rfind(|approximation| rows >= approximation.least_rows)
            .unwrap();
        let reach = estimator.reach;
        let exact = reach * value(approximation.terms, p / reach, q / reach);
        assert!(
            (expected - exact).abs() < 1e-9 * reach,
            "{expected} {exact}"
        );
        if p == q {
            assert!(exact.abs() < 1e-15);
        }
    }
}

/// Computed apart from this code, the polynomials in exact fractions.
#[test]
fn golden_values() {
    let few = [(3, 1), (0, 2), (1, 1), (9, 8), (7, 0), (0, 8)];
    let repeated = |parts: &[((u64, u64), usize)]| {
        let parts = parts.iter();
        parts
            .flat_map(|&(counts, times)| std::iter::repeat_n(counts, times))
            .collect::<Vec<_>>()
    };
    let some = repeated(&[
        ((1, 0), 50),
        ((0, 1), 40),
        ((2, 1), 30),
        ((40, 35), 1),
        ((100, 60), 1),
        ((50, 85), 1),
    ]);
    let many = repeated(&[
        ((1, 1), 500),
        ((5, 0), 200),
        ((0, 2), 150),
        ((3, 2), 300),
        ((600, 300), 1),
        ((2000, 800), 1),
        ((1000, 0), 1),
    ]);
    for (a_rows, b_rows, counts, expected) in [
        (20, 20, few.to_vec(), 0.248_152_735_776_214_1),
        (300, 250, some, -0.033_552_733_280_423_214),
        (6000, 2500, many, 0.012_855_872_394_053_156),
    ] {
        let found = total_variation(a_rows, b_rows, counts.into_iter());
        let found = found.total_variation.unwrap();
        assert!((found - expected).abs() < 1e-10, "{found} {expected}");
    }
}

fn draw(law: &[f64], rows: u64, rng: &mut ChaCha8Rng) -> Vec<u64> {
    let mut counts = vec![0; law.len()];
    let cumulative: Vec<f64> = law
        .iter()
        .scan(0.0, |sum, p| {
            *sum += p;
            Some(*sum)
        })
        .collect();
    for _ in 0..rows {
        let place: f64 = rng.random();
        let at = cumulative.partition_point(|&sum| sum <= place);
        counts[at.min(law.len() - 1)] += 1;
    }
    counts
}

/// Root mean square errors of this estimate and of the plug-in, and the mean of this estimate.
fn errors(p: &[f64], q: &[f64], rows: [u64; 2], logs: u64) -> (f64, f64, f64) {
    let truth: f64 = 0.5 * p.iter().zip(q).map(|(p, q)| (p - q).abs()).sum::<f64>();
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    let (mut mine, mut plug, mut mean) = (0.0, 0.0, 0.0);
    for _ in 0..logs {
        let (x, y) = (draw(p, rows[0], &mut rng), draw(q, rows[1], &mut rng));
        let pairs = x.into_iter().zip(y);
        let found = total_variation(rows[0], rows[1], pairs.clone());
        let found = found.total_variation.unwrap();
        let plug_in = pairs
            .map(|(x, y)| 0.5 * (x as f64 / rows[0] as f64 - y as f64 / rows[1] as f64).abs())
            .sum::<f64>();
        mine += (found - truth).powi(2) / logs as f64;
        plug += (plug_in - truth).powi(2) / logs as f64;
        mean += found / logs as f64;
    }
    (mine.sqrt(), plug.sqrt(), mean)
}

#[test]
fn equal_distributions_give_zero_on_average_and_others_a_smaller_error_than_the_plug_in() {
    let uniform = |from: usize, to: usize, of: usize| -> Vec<f64> {
        let inside = |o: usize| (from..to).contains(&o);
        (0..of)
            .map(|o| f64::from(inside(o)) / (to - from) as f64)
            .collect()
    };
    for (symbols, rows) in [(10, [500, 500]), (300, [300, 600]), (3000, [2000, 3000])] {
        let p = uniform(0, symbols, symbols);
        let (error, plug_in, mean) = errors(&p, &p, rows, 60);
        assert!(mean.abs() < 4.0 * error / 60f64.sqrt(), "{mean} {error}");
        assert!(error < 0.75 * plug_in, "{error} {plug_in}");
    }
    for (symbols, rows) in [(300, [500, 500]), (900, [600, 900]), (3000, [2000, 2000])] {
        let (p, q) = (
            uniform(0, 2 * symbols / 3, symbols),
            uniform(symbols / 3, symbols, symbols),
        );
        let (error, plug_in, _) = errors(&p, &q, rows, 30);
        assert!(error < 0.8 * plug_in, "{symbols}: {error} {plug_in}");
    }
}

#[test]
fn any_counts_give_a_number_or_none() {
    let tv = |a_rows, b_rows, counts: &[(u64, u64)]| {
        total_variation(a_rows, b_rows, counts.iter().copied()).total_variation
    };
    assert_eq!(tv(0, 0, &[]), None);
    assert_eq!(tv(1, 1, &[(1, 1)]), None);
    assert_eq!(tv(1, u64::MAX, &[(1, u64::MAX)]), None);
    assert_eq!(tv(100, 100, &[(100, 100)]), Some(0.0));
    assert_eq!(tv(100, 100, &[(100, 0), (0, 100)]), Some(1.0));
    let disjoint: Vec<(u64, u64)> = (0..20)
        .map(|o| if o < 10 { (10, 0) } else { (0, 10) })
        .collect();
    assert!((tv(100, 100, &disjoint).unwrap() - 1.0).abs() < 1e-12);
    let tenth = u64::MAX / 10;
    let billions = [
        (tenth, tenth),
        (tenth, 2 * tenth),
        (8 * tenth, tenth),
        (0, 2 * tenth),
        (0, 4 * tenth),
    ];
    let found = tv(u64::MAX, u64::MAX, &billions).unwrap();
    assert!((found - 0.7).abs() < 1e-6, "{found}");
    let lone = tv(
        u64::MAX,
        20,
        &[(u64::MAX - 4, 0), (1, 5), (1, 5), (1, 5), (1, 5)],
    );
    assert!((lone.unwrap() - 1.0).abs() < 1e-6, "{lone:?}");
    let one = tv(1, 1 << 40, &[(1, 0), (0, 1 << 40)]);
    assert_eq!(one, None);
}
