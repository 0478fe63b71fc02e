use super::*;
use crate::concentration::{mcdiarmid_total_variation_radius, mcdiarmid_vulnerability_radius};
use leakgauge_testing::{at_most, rng};
use rand::RngExt;

fn counts(law: &[f64], rows: u64, rng: &mut impl rand::Rng) -> Vec<u64> {
    let mut counts = vec![0; law.len()];
    for _ in 0..rows {
        let mut left = rng.random::<f64>();
        let at = law.iter().position(|p| {
            left -= p;
            left < 0.0
        });
        counts[at.unwrap_or(law.len() - 1)] += 1;
    }
    counts
}

fn pairs(a: &[f64], b: &[f64], rows: [u64; 2], rng: &mut impl rand::Rng) -> Vec<(u64, u64)> {
    let (x, y) = (counts(a, rows[0], rng), counts(b, rows[1], rng));
    x.into_iter().zip(y).collect()
}

#[test]
fn the_event_is_where_a_is_likelier() {
    let [a, b] = likelier_in_a(&[(6, 2), (3, 2), (1, 2), (0, 4)], 1.0);
    assert_eq!((a.inside, a.rows, b.inside, b.rows), (9, 10, 4, 10));
    assert_eq!(total_variation_upper(&[(0, 3), (0, 2)], 0.05), 1.0);
}

/// Level 2.5 %, 1,000 logs a case; misses beyond mean + 3.29 deviations have probability 1/2000.
#[test]
fn total_variation_is_covered() {
    let cases: [(&[f64], &[f64], [u64; 2]); 5] = [
        (&[0.55, 0.45], &[0.45, 0.55], [400, 400]),
        (&[0.95, 0.05], &[0.05, 0.95], [100, 1000]),
        (&[0.5, 0.3, 0.2], &[0.2, 0.3, 0.5], [1000, 100]),
        (&[0.9, 0.1, 0.0], &[0.9, 0.0, 0.1], [300, 299]),
        (&[0.998, 0.002], &[0.002, 0.998], [500, 500]),
    ];
    let mut rng = rng(1);
    for (a, b, rows) in cases {
        let truth: f64 = a.iter().zip(b).map(|(p, q)| (p - q).abs()).sum::<f64>() / 2.0;
        let mut missed = 0;
        for _ in 0..1000 {
            let cells = pairs(a, b, rows, &mut rng);
            let limit = total_variation_upper(&cells, 0.025);
            missed += usize::from(limit < truth - 1e-12);
            let [x, y] = likelier_in_a(&cells, 1.0);
            let plug_in = x.inside as f64 / rows[0] as f64 - y.inside as f64 / rows[1] as f64;
            let radius = mcdiarmid_total_variation_radius(rows[0], rows[1], 0.025);
            assert!(limit <= plug_in + radius + 1e-12);
        }
        assert!(missed <= at_most(1000, 0.025), "{a:?} {b:?}: {missed}");
    }
}

/// The same for Bayes vulnerability, with equal weights of rows, two secrets, and neither.
#[test]
fn vulnerability_is_covered() {
    let respond =
        |s: usize| -> Vec<f64> { (0..3).map(|o| if o == s { 0.6 } else { 0.2 }).collect() };
    let cases: [(&[f64], &[u64]); 4] = [
        (&[1.0 / 3.0; 3], &[200; 3]),
        (&[0.5, 0.5], &[1000, 60]),
        (&[0.7, 0.3], &[100, 300]),
        (&[0.5, 0.3, 0.2], &[100, 150, 400]),
    ];
    let mut rng = rng(2);
    for (prior, rows) in cases {
        let laws: Vec<Vec<f64>> = (0..prior.len()).map(respond).collect();
        let best = |joint: &dyn Fn(usize) -> f64| {
            (0..prior.len())
                .max_by(|&a, &b| joint(a).total_cmp(&joint(b)))
                .unwrap()
        };
        let truth: f64 = (0..3)
            .map(|o| {
                prior
                    .iter()
                    .zip(&laws)
                    .map(|(p, law)| p * law[o])
                    .fold(0.0, f64::max)
            })
            .sum();
        let mut missed = 0;
        for _ in 0..1000 {
            let seen: Vec<Vec<u64>> = laws
                .iter()
                .zip(rows)
                .map(|(law, &n)| counts(law, n, &mut rng))
                .collect();
            let joint = |s: usize, o: usize| prior[s] * seen[s][o] as f64 / rows[s] as f64;
            let mut right = vec![0; prior.len()];
            let mut plug_in = 0.0;
            for o in 0..3 {
                let named = best(&|s| joint(s, o));
                let of_named: &[u64] = &seen[named];
                right[named] += of_named[o];
                plug_in += joint(named, o);
            }
            let named: Vec<Named> = (0..prior.len())
                .map(|s| Named {
                    prior: prior[s],
                    right: right[s],
                    rows: rows[s],
                })
                .collect();
            let limit = vulnerability_upper(&named, 0.025);
            missed += usize::from(limit < truth - 1e-12);
            let weights = prior.iter().copied().zip(rows.iter().copied());
            let radius = mcdiarmid_vulnerability_radius(weights, 0.025);
            assert!(limit >= plug_in - 1e-12 && limit <= plug_in + radius + 1e-9);
        }
        assert!(
            missed <= at_most(1000, 0.025),
            "{prior:?} {rows:?}: {missed}"
        );
    }
}

#[test]
fn a_secret_without_rows_may_be_named_always() {
    let named = |prior, right, rows| Named { prior, right, rows };
    let limit = vulnerability_upper(&[named(0.5, 90, 100), named(0.5, 0, 0)], 0.05);
    assert!(limit > 0.95 && limit <= 1.0);
}
