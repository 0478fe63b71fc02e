use std::fmt::Write;
use std::sync::Arc;

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::*;
use crate::scorer::Scorer;
use leakgauge_log::{Log, ReadOptions, read_from};

fn read(csv: &str) -> Log {
    let csv = std::io::Cursor::new(csv.to_owned());
    read_from("test", csv, &ReadOptions::default()).unwrap()
}

/// Three secrets; d columns of integers 0..values, thrice as many rows of secret 1; labels if asked.
fn tied(d: usize, values: u32, rows: usize, label: bool, seed: u64) -> Log {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let mut csv = "secret".to_owned();
    (0..d).for_each(|column| write!(csv, ",x{column}").unwrap());
    csv += if label { ",l\n" } else { "\n" };
    for row in 0..rows {
        let secret = [0, 1, 1, 1, 2][row % 5];
        write!(csv, "{secret}").unwrap();
        for _ in 0..d {
            let x = rng.random_range(0..values) + secret;
            write!(csv, ",{:.1}", f64::from(x) * 0.1).unwrap();
        }
        if label {
            write!(csv, ",{}", ["a", "b"][rng.random_range(0..2)]).unwrap();
        }
        csv.push('\n');
    }
    read(&csv)
}

fn transformed(neighbors: &Neighbors, log: &Log, symbol: u32) -> Vec<f64> {
    let mut point = Vec::new();
    if let Space::Numbers(numbers) = &neighbors.space {
        numbers
            .transform
            .apply(log.observations.numbers(symbol), &mut point);
    }
    point
}

/// The definition, without any index.
fn keys(neighbors: &Neighbors, log: &Log, x: u32, secret: u32) -> Vec<f64> {
    let labels = |symbol: u32| log.observations.label(symbol);
    let here = transformed(neighbors, log, x);
    let mut keys = Vec::new();
    for cell in log
        .counts
        .cells()
        .iter()
        .filter(|cell| cell.secret == secret)
    {
        let there = transformed(neighbors, log, cell.symbol);
        let differences = here.iter().zip(&there).map(|(a, b)| (a - b).abs());
        let key = match neighbors.metric {
            Metric::Euclidean => differences.fold(0.0, |sum, d| sum + d * d),
            Metric::Manhattan => differences.fold(0.0, |sum, d| sum + d),
            Metric::Chebyshev => differences.fold(0.0, f64::max),
            Metric::Hamming => {
                let (a, b) = (labels(x), labels(cell.symbol));
                a.split(',')
                    .zip(b.split(','))
                    .filter(|(a, b)| a != b)
                    .count() as f64
            }
        };
        let compared = neighbors.metric == Metric::Hamming
            || log.observations.category(x) == log.observations.category(cell.symbol);
        if compared {
            keys.extend(vec![key; cell.count as usize]);
        }
    }
    keys.sort_by(f64::total_cmp);
    keys
}

#[test]
fn every_metric_and_transform_finds_the_keys_of_the_definition_to_the_bit() {
    for (d, values, label) in [(1, 9, false), (2, 5, true), (3, 40, false), (12, 3, true)] {
        let log = tied(d, values, 250, label, 7);
        let ids: Vec<u32> = log.counts.symbols().into_iter().step_by(3).collect();
        for metric in Metric::ALL {
            for transform in [TransformKind::Scaled, TransformKind::Whitened] {
                let fitted = Neighbors::fit_with(&log.observations, &log.counts, metric, transform);
                let Ok(neighbors) = fitted else {
                    assert!(d == 1 && transform == TransformKind::Whitened);
                    continue;
                };
                for (secret, k) in [(0, 1), (1, 7), (1, 60), (2, 200)] {
                    let mut seen = 0;
                    neighbors.nearest(&log.observations, &ids, secret, k, &mut |row, found| {
                        let mut expected = keys(&neighbors, &log, ids[row], secret as u32);
                        expected.truncate(k);
                        assert_eq!(found, expected, "{metric:?} {transform:?} {d}-D");
                        seen += 1;
                    });
                    assert_eq!(seen, ids.len());
                }
            }
        }
    }
}

#[test]
fn labels_alone_have_hamming_neighbors_only() {
    let log = read("secret,a,b\n0,x,p\n0,x,q\n1,y,q\n1,y,p\n");
    let fit = |metric| {
        let transform = TransformKind::Scaled;
        Neighbors::fit_with(&log.observations, &log.counts, metric, transform)
    };
    assert!(fit(Metric::Manhattan).is_err());
    let neighbors = Arc::new(fit(Metric::Hamming).unwrap());
    assert_eq!(
        (neighbors.dimensions(), neighbors.index_name()),
        (2, "codes")
    );
    let ids = log.counts.symbols();
    let mut scores = vec![0.0; ids.len() * 2];
    KNearest::new("nearest", neighbors.clone(), Rank::Fixed(1), 2.0).score(
        &log.observations,
        &ids,
        &mut scores,
    );
    for (row, &symbol) in ids.iter().enumerate() {
        let zero = log.observations.label(symbol).starts_with('x');
        assert_eq!(scores[2 * row] > scores[2 * row + 1], zero);
    }
}

/// Weighted votes by the definition, on distances without ties.
#[test]
fn votes_are_those_of_the_definition() {
    let mut rng = ChaCha8Rng::seed_from_u64(3);
    let mut csv = "secret,x,y\n".to_owned();
    for row in 0..300 {
        let secret = [0, 1, 1, 1, 2][row % 5];
        let (x, y): (f64, f64) = (rng.random(), rng.random());
        writeln!(csv, "{secret},{},{y}", x + 0.3 * f64::from(secret)).unwrap();
    }
    let log = read(&csv);
    let neighbors = Arc::new(Neighbors::fit(&log.observations, &log.counts));
    let ids = log.counts.symbols();
    for k in [1, 3, 40] {
        let vote = Vote::new("vote", neighbors.clone(), Rank::Fixed(k));
        let mut scores = vec![0.0; ids.len() * 3];
        vote.score(&log.observations, &ids, &mut scores);
        for (row, &symbol) in ids.iter().enumerate() {
            let mut all: Vec<(f64, u32)> = (0..3)
                .flat_map(|s| {
                    keys(&neighbors, &log, symbol, s)
                        .into_iter()
                        .map(move |key| (key, s))
                })
                .collect();
            all.sort_by(|a, b| a.0.total_cmp(&b.0));
            let weight = |s: u32| {
                let rows = all[..k].iter().filter(|(_, secret)| *secret == s).count();
                rows as f64 / log.counts.rows()[s as usize] as f64
            };
            let total: f64 = (0..3).map(weight).sum();
            for s in 0..3 {
                let score = scores[3 * row + s as usize];
                let expected = weight(s) / total;
                assert!(score.exp() > expected && score.exp() <= expected + 1.001e-3);
            }
        }
    }
}
