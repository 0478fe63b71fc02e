use super::*;
use crate::multiplicity::holm;
use leakgauge_testing::{at_most, rng};
use std::collections::BTreeMap;

fn table(secrets: usize, rows: impl IntoIterator<Item = (usize, i64)>) -> Table {
    let mut cells: BTreeMap<i64, BTreeMap<usize, u64>> = BTreeMap::new();
    for (secret, observation) in rows {
        *cells
            .entry(observation)
            .or_default()
            .entry(secret)
            .or_insert(0) += 1;
    }
    Table::new(
        secrets,
        cells
            .into_values()
            .map(|c| c.into_iter().collect())
            .collect(),
    )
}

fn effort(seed: u64) -> Effort {
    Effort {
        seed,
        ..Effort::default()
    }
}

/// False alarms at 5 % and 1 % over 1,000 leak-free logs a case: ties, 50:1, many secrets of ten rows.
#[test]
#[ignore = "long"]
fn leak_free_logs_are_rarely_accused() {
    let cases: [(Kind, usize, usize, i64); 5] = [
        (Kind::Ordered, 2, 200, 1_000_000),
        (Kind::Ordered, 51, 510, 7),
        (Kind::Ordered, 30, 300, 1_000_000),
        (Kind::Unordered, 3, 200, 4),
        (Kind::Unordered, 20, 200, 300),
    ];
    let mut rng = rng(1);
    for (kind, secrets, rows, values) in cases {
        let (mut five, mut one) = (0, 0);
        for run in 0..1000 {
            // 51 stands for two secrets, 50:1.
            let secret = |i: usize| {
                if secrets == 51 {
                    usize::from(i.is_multiple_of(51))
                } else {
                    i % secrets
                }
            };
            let number = if secrets == 51 { 2 } else { secrets };
            let log: Vec<(usize, i64)> = (0..rows)
                .map(|i| (secret(i), rng.random_range(0..values)))
                .collect();
            let p_value = no_leak(&table(number, log), kind, &effort(run));
            five += usize::from(p_value <= 0.05);
            one += usize::from(p_value <= 0.01);
        }
        assert!(five <= at_most(1000, 0.05), "{kind:?} {secrets}: {five}");
        assert!(one <= at_most(1000, 0.01), "{kind:?} {secrets}: {one}");
    }
}

/// The mean p-value of tables and shuffled labels agree: both draw the same law.
#[test]
fn both_ways_of_drawing_agree() {
    let mut generator = rng(2);
    let log = table(3, (0..600).map(|i| (i % 3, generator.random_range(0..5))));
    for kind in [Kind::Ordered, Kind::Unordered] {
        let mean = |labels: bool| {
            let mut tables = Tables::new(&log);
            let all = || (0..3).flat_map(|s| vec![s; 200]).collect();
            tables.labels = labels.then(all);
            let mut rng = rng(3);
            let draws: Vec<f64> = (0..4000).map(|_| tables.draw(kind, &mut rng)).collect();
            let mean = draws.iter().sum::<f64>() / 4000.0;
            let variance = draws.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / 4000.0;
            (mean, variance)
        };
        let ((one, spread), (other, _)) = (mean(true), mean(false));
        // Four standard errors of the difference.
        assert!(
            (one - other).abs() < 4.0 * (2.0 * spread / 4000.0).sqrt(),
            "{one} {other}"
        );
    }
}

#[test]
fn leaks_are_found_beyond_what_permutations_can_say() {
    let shifted = table(
        2,
        (0..2000).map(|i| (i % 2, (i as i64 * 7919) % 1000 + 300 * (i as i64 % 2))),
    );
    assert!(no_leak(&shifted, Kind::Ordered, &effort(0)) < 1e-12);
    let labels = table(
        3,
        (0..300).map(|i| (i % 3, if i % 4 == 0 { 9 } else { (i % 3) as i64 })),
    );
    assert!(no_leak(&labels, Kind::Unordered, &effort(0)) < 1e-12);
    let raw = no_leak_pairs(&labels, Kind::Unordered);
    let holm = holm(&raw);
    assert_eq!(raw.len(), 3);
    assert!(holm.iter().zip(&raw).all(|(h, p)| h >= p && *h < 1e-6));
}

#[test]
fn the_statistics_by_hand() {
    let log = Table::new(2, vec![vec![(0, 3), (1, 1)], vec![(0, 1), (1, 3)]]);
    let mut tables = Tables::new(&log);
    // Σ c²/(R m) = (9 + 1 + 1 + 9)/16; Pearson's statistic is N (this − 1) = 2.
    assert!((tables.observed(&log, Kind::Unordered) - 1.25).abs() < 1e-12);
    // l (N Σ M²/n − B²)/(B (N − B)) = 4 (8 · 10/4 − 16)/16.
    assert!((tables.observed(&log, Kind::Ordered) - 1.0).abs() < 1e-12);
}

#[test]
fn merging_keeps_rows_and_is_finest_at_the_ends() {
    let log = table(2, (0..50_000).map(|i| (i % 2, i as i64 / 3)));
    let merged = log.merged();
    assert_eq!(merged.rows, log.rows);
    assert!(merged.len() < 1500, "{}", merged.len());
    let width = |cells: &[(usize, u64)]| cells.iter().map(|c| c.1).sum::<u64>();
    assert!(width(merged.at(0)) <= 3);
    assert!(merged.iter().map(width).max().unwrap() < 1000);
}

#[test]
fn same_seed_same_value_and_nothing_to_compare_is_one() {
    let log = table(2, (0..100).map(|i| (i % 2, (i as i64 * 37) % 11)));
    let once = no_leak(&log, Kind::Unordered, &effort(5));
    assert_eq!(once, no_leak(&log, Kind::Unordered, &effort(5)));
    assert_eq!(
        no_leak(&table(2, [(0, 1), (0, 2)]), Kind::Ordered, &effort(0)),
        1.0
    );
    assert_eq!(
        no_leak(&table(2, [(0, 1), (1, 1)]), Kind::Unordered, &effort(0)),
        1.0
    );
}

/// The exact tail of the most extreme cell, times the number of tests: an enumerated example.
#[test]
fn an_extreme_cell() {
    // C(4, 4) C(4, 0)/C(8, 4) = 1/70 either way.
    assert!((tail(8, 4, 4, 4, 1.0) - 1.0 / 70.0).abs() < 1e-9);
    assert!((tail(8, 4, 4, 0, 1.0) - 1.0 / 70.0).abs() < 1e-9);
    // 17/70 in full; no more than is needed is summed.
    assert!((tail(8, 4, 4, 3, 1.0) - 17.0 / 70.0).abs() < 1e-9);
    assert!((tail(8, 4, 4, 3, 0.2) - 16.0 / 70.0).abs() < 1e-9);
}

#[test]
fn rows_by_key_are_the_observations_in_their_order() {
    let rows = vec![(7, 1, 2), (3, 0, 5), (7, 0, 1), (7, 1, 4), (9, 1, 3)];
    let cells = vec![vec![(0, 5)], vec![(0, 1), (1, 6)], vec![(1, 3)]];
    assert_eq!(Table::by_key(2, rows), Table::new(2, cells));
}

/// Columns of 7,000 rows a secret, more than are taken with their ties: the column that leaks most decides, as if each
/// had been tested; without a leak no p-value is smaller than that of each alone.
#[test]
fn the_least_of_many_columns_is_that_of_the_one_that_leaks_most() {
    let column = |shift: u64| {
        let cells = (0..7_000 + shift).map(|at| {
            let of = |secret: usize, is_there: bool| is_there.then_some((secret, 1));
            let both = [of(0, at < 7_000), of(1, at >= shift)];
            both.into_iter().flatten().collect()
        });
        (Table::new(2, cells.collect()), Kind::Ordered)
    };
    let effort = Effort {
        most: 19,
        ..Effort::default()
    };
    let alone = |tables: &[(Table, Kind)]| {
        let each = tables
            .iter()
            .map(|(table, kind)| no_leak(table, *kind, &effort));
        each.fold(1.0, f64::min)
    };
    let leaking = [column(3), column(700), column(90), column(400)];
    let least = least_no_leak(&leaking, &effort).unwrap();
    assert_eq!(least, alone(&leaking));
    assert!(least < 1e-9);
    let quiet = [column(0), column(7), column(2)];
    assert!(least_no_leak(&quiet, &effort).unwrap() >= alone(&quiet));
    assert_eq!(least_no_leak(&[], &effort), None);
}

#[test]
fn bits_are_ordered_as_numbers() {
    let numbers = [f64::MIN, -1.5, -1e-300, 0.0, 1e-300, 2.0, f64::MAX];
    assert!(numbers.map(ordered_bits).is_sorted());
    assert_eq!(ordered_bits(-0.0), ordered_bits(0.0));
}

/// A test that is left out could not have been the least.
#[test]
fn the_least_of_all_exact_tests() {
    for seed in 0..40 {
        let mut rng = rng(seed);
        let shift = (seed % 4) as i64;
        let draw = |at: usize| {
            (
                at % 6,
                rng.random_range(0..12) + shift * (at % 6) as i64 / 3,
            )
        };
        let table = table(6, (0..400).map(draw));
        let all = (0..6).map(|secret| {
            two_sample_kolmogorov(&table.against(secret))
                .unwrap()
                .p_value
        });
        let expected = (6.0 * all.fold(1.0, f64::min)).min(1.0);
        assert_eq!(kolmogorov_p_value(&table), expected, "seed {seed}");
        assert!(bounded_below(&table) <= expected, "seed {seed}");
    }
}
