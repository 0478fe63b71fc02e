use super::*;
use crate::multiplicity::holm;
use leakgauge_testing::{at_most, rng};
use rand::{Rng, RngExt};
use rand_distr::{Distribution, StandardNormal};
use statrs::distribution::{ContinuousCDF, Normal};

fn normal(rng: &mut impl Rng) -> f64 {
    StandardNormal.sample(rng)
}

fn tests_of(numbers: &[Vec<f64>], secrets: &[u32], count: usize) -> ColumnTests {
    let numbers: Vec<&[f64]> = numbers.iter().map(Vec::as_slice).collect();
    let rows = Rows {
        numbers: &numbers,
        secrets,
        secret_count: count,
        columns: numbers[0].len(),
        products: None,
    };
    test_columns(&rows, 199, 0)
}

fn least(found: &ColumnTests) -> f64 {
    let p_values = found.columns.iter().map(|column| column.p_value);
    p_values.fold(1.0, f64::min)
}

/// A log of correlated columns that do not depend on the secret: normal, with heavy tails, with ties, one constant.
fn leak_free(rows: usize, columns: usize, rng: &mut impl Rng) -> Vec<Vec<f64>> {
    let row = |_| {
        let mut before = normal(rng);
        let mut column = |at: usize| {
            before = 0.9 * before + 0.44 * normal(rng);
            match at % 4 {
                0 => before,
                1 => (5.0 * before).exp(),
                2 => before.round(),
                _ if at == 3 => 7.0,
                _ => before * before,
            }
        };
        (0..columns).map(&mut column).collect()
    };
    (0..rows).map(row).collect()
}

/// Any column accused by mistake at 5 %, over 400 logs a case at one seed of the program.
#[test]
fn columns_without_a_leak_are_rarely_accused() {
    const LOGS: usize = 400;
    let mut rng = rng(3);
    for (secrets, rows, columns) in [(2, 40, 40), (2, 120, 12), (5, 60, 12)] {
        let (mut wrong, mut beside) = (0, 0);
        for _ in 0..LOGS {
            let numbers = leak_free(rows, columns, &mut rng);
            let of_rows: Vec<u32> = (0..rows as u32).map(|row| row % secrets).collect();
            wrong += usize::from(least(&tests_of(&numbers, &of_rows, secrets as usize)) <= 0.05);
            // One column leaks; the others must not be accused for it.
            let mut leaking = numbers;
            for (row, secret) in leaking.iter_mut().zip(&of_rows) {
                row[0] += 3.0 * f64::from(*secret);
            }
            let found = tests_of(&leaking, &of_rows, secrets as usize);
            let others = found.columns[1..].iter();
            beside += usize::from(others.map(|column| column.p_value).fold(1.0, f64::min) <= 0.05);
        }
        let most = at_most(LOGS, 0.05);
        assert!(
            wrong <= most && beside <= most,
            "{secrets} secrets: {wrong}, {beside} of {LOGS}"
        );
    }
}

/// A leak of one column of many is found nearly as often as by Welch's t with Holm's correction, where columns are
/// independent, and more often where they are not.
#[test]
#[ignore = "long"]
fn a_leak_of_one_column_is_found_as_often_as_by_t_tests() {
    const LOGS: usize = 150;
    let standard = Normal::standard();
    let mut rng = rng(4);
    for correlated in [false, true] {
        let (mut ours, mut by_t) = (0, 0);
        for _ in 0..LOGS {
            let secrets: Vec<u32> = (0..400).map(|row| row % 2).collect();
            let row = |secret: &u32| {
                let common = normal(&mut rng);
                let mut column = |at| {
                    let own = normal(&mut rng);
                    let noise = if correlated {
                        0.95 * common + 0.31 * own
                    } else {
                        own
                    };
                    noise
                        + if at == 17 {
                            0.38 * f64::from(*secret)
                        } else {
                            0.0
                        }
                };
                (0..100).map(&mut column).collect()
            };
            let numbers: Vec<Vec<f64>> = secrets.iter().map(row).collect();
            let found = tests_of(&numbers, &secrets, 2);
            ours += usize::from(found.columns[17].p_value <= 0.05);
            let two_sided = |t: f64| 2.0 * standard.sf(t.abs());
            let each: Vec<f64> = found
                .columns
                .iter()
                .map(|column| two_sided(column.t_or_f))
                .collect();
            by_t += usize::from(holm(&each)[17] <= 0.05);
        }
        assert!(by_t > LOGS / 3 && by_t < LOGS, "{by_t} of {LOGS}");
        let least = if correlated { by_t } else { by_t * 9 / 10 };
        assert!(
            ours >= least,
            "{ours} against {by_t}, correlated: {correlated}"
        );
    }
}

#[test]
fn a_change_of_the_spread_and_a_shift_under_outliers_are_found() {
    let mut rng = rng(5);
    let secrets: Vec<u32> = (0..600).map(|row| row % 2).collect();
    let row = |&secret: &u32| {
        let heavy = normal(&mut rng) / normal(&mut rng).abs().powi(3);
        vec![
            normal(&mut rng),
            normal(&mut rng) * (1.0 + 0.5 * f64::from(secret)),
            heavy + f64::from(secret),
        ]
    };
    let numbers: Vec<Vec<f64>> = secrets.iter().map(row).collect();
    let found = tests_of(&numbers, &secrets, 2).columns;
    assert!(found[0].p_value > 0.05);
    assert_eq!(
        (found[1].compared, found[1].p_value <= 0.005),
        (Compared::Spread, true)
    );
    assert_eq!(
        (found[2].compared, found[2].p_value <= 0.005),
        (Compared::Rank, true)
    );
}

/// By hand: means 2 and 5, variances 1 and 4 of three rows each.
#[test]
fn figures_of_a_column_are_those_of_the_textbook() {
    let numbers: Vec<Vec<f64>> = [1.0, 3.0, 2.0, 5.0, 3.0, 7.0].map(|x| vec![x, 4.0]).into();
    let found = tests_of(&numbers, &[0, 0, 0, 1, 1, 1], 2).columns;
    assert!((found[0].t_or_f - 3.0 / (5.0f64 / 3.0).sqrt()).abs() < 1e-12);
    // Means lie 1.5 from theirs; the mean of the variances 2/3 and 8/3 is 5/3.
    assert!((found[0].signal_to_noise - 2.25 / (5.0 / 3.0)).abs() < 1e-12);
    // Ranks from 0: 0, 1 and 2.5 against 2.5, 4 and 5, whose means lie 4/3 from 2.5; all have the variance 17/6.
    let statistic: f64 = 6.0 * (16.0 / 9.0) / (17.0 / 6.0);
    assert_eq!(found[0].compared, Compared::Rank);
    assert!((found[0].statistic - statistic.sqrt()).abs() < 1e-5);
    assert_eq!(found[1].p_value, 1.0);
}

#[test]
fn a_plain_leak_has_a_p_value_beyond_permutations() {
    let mut rng = rng(6);
    let secrets: Vec<u32> = (0..1000).map(|row| row % 2).collect();
    let row = |&secret: &u32| vec![normal(&mut rng), normal(&mut rng) + f64::from(secret)];
    let numbers: Vec<Vec<f64>> = secrets.iter().map(row).collect();
    let found = tests_of(&numbers, &secrets, 2);
    assert!(found.columns[1].p_value < 1e-20);
    assert!(found.columns[0].p_value > 0.01);
    let threshold = found.threshold(0.05).expect("enough assignments");
    for column in &found.columns {
        assert_eq!(column.statistic > threshold, column.p_value <= 0.05);
    }
    assert!((1.7..3.5).contains(&threshold), "{threshold}");
    assert_eq!(found, tests_of(&numbers, &secrets, 2));
}

/// Sums of many rows are those of the textbook, too: the statistic is the z of the means.
#[test]
fn many_rows_of_few_values_lose_no_digits() {
    let secrets: Vec<u32> = (0..60_000).map(|row| row % 2).collect();
    let value = |(row, &secret): (usize, &u32)| {
        vec![f64::from(
            u32::from(row % 7 == 0) + secret * u32::from(row % 1000 < 4),
        )]
    };
    let mut numbers: Vec<Vec<f64>> = secrets.iter().enumerate().map(value).collect();
    // As counts are: equal values side by side.
    let mut order: Vec<usize> = (0..numbers.len()).collect();
    order.sort_by(|&x, &y| numbers[x][0].total_cmp(&numbers[y][0]));
    let secrets: Vec<u32> = order.iter().map(|&row| secrets[row]).collect();
    numbers = order.iter().map(|&row| numbers[row].clone()).collect();
    let flat: Vec<f64> = numbers.iter().map(|row| row[0]).collect();
    let mean = flat.iter().sum::<f64>() / flat.len() as f64;
    let variance = flat.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / flat.len() as f64;
    let of_first = flat
        .iter()
        .zip(&secrets)
        .filter(|(_, secret)| **secret == 0);
    let sum = of_first.map(|(x, _)| x - mean).sum::<f64>();
    let z = (sum * sum * 2.0 / 30_000.0 / variance).sqrt();
    let found = tests_of(&numbers, &secrets, 2).columns[0];
    assert!(
        (found.statistic / z - 1.0).abs() < 2e-4,
        "{} for {z}",
        found.statistic
    );
}

#[test]
fn the_smallest_numbers_are_compared() {
    let row = |at: usize| {
        vec![
            if at.is_multiple_of(10) {
                f64::from_bits(1)
            } else {
                0.0
            },
            1.0,
        ]
    };
    let numbers: Vec<Vec<f64>> = (0..100).map(row).collect();
    let secrets: Vec<u32> = (0..100).map(|row| u32::from(row % 10 == 0)).collect();
    let found = tests_of(&numbers, &secrets, 2).columns;
    assert!(found[0].p_value < 0.01 && found[1].p_value == 1.0);
}

/// The same with products of all columns; the smallest p-value of the columns and that of the products.
fn second_order(numbers: &[Vec<f64>], secrets: &[u32], windows: usize) -> (f64, f64, ColumnTests) {
    let numbers: Vec<&[f64]> = numbers.iter().map(Vec::as_slice).collect();
    let columns = numbers[0].len();
    let products = Products::of(&numbers, columns, windows);
    let rows = Rows {
        numbers: &numbers,
        secrets,
        secret_count: 2,
        columns,
        products: Some(&products),
    };
    let found = test_columns(&rows, 199, 0);
    assert_eq!(found.columns.len(), columns + products.len());
    let least = |columns: &[ColumnTest]| {
        columns
            .iter()
            .map(|column| column.p_value)
            .fold(1.0, f64::min)
    };
    let (first, second) = found.columns.split_at(columns);
    (least(first), least(second), found)
}

/// Any column or product accused by mistake at 5 %, over 500 logs a case at one seed of the program: samples that share
/// their noise, heavy tails, ties; secrets of unequal numbers.
#[test]
fn products_without_a_leak_are_rarely_accused() {
    const LOGS: usize = 500;
    let mut rng = rng(31);
    for (every, windows) in [(2, 60), (5, 60), (2, 3)] {
        let mut wrong = 0;
        for _ in 0..LOGS {
            let numbers = leak_free(60, 8, &mut rng);
            let secrets: Vec<u32> = (0..60).map(|row| u32::from(row % every == 0)).collect();
            let (first, second, _) = second_order(&numbers, &secrets, windows);
            wrong += usize::from(first.min(second) <= 0.05);
        }
        assert!(
            wrong <= at_most(LOGS, 0.05),
            "{wrong} of {LOGS}, {every}, {windows}"
        );
    }
}

/// Two shares of a masked bit in two of twenty columns: no column tells, their product does, also where the leak is in
/// windows of columns.
#[test]
fn two_shares_are_found_in_their_product() {
    const LOGS: usize = 20;
    let mut rng = rng(32);
    for (windows, wide) in [(60, 1), (10, 2)] {
        let (mut by_column, mut by_product) = (0, 0);
        for _ in 0..LOGS {
            let secrets: Vec<u32> = (0..600).map(|row| row % 2).collect();
            let row = |secret: &u32| {
                let mask = u32::from(rng.random::<bool>());
                let shares = [f64::from(mask), f64::from(mask ^ secret)];
                let column = |at: usize| {
                    let share = [4, 12]
                        .iter()
                        .position(|&from| (from..from + wide).contains(&at));
                    normal(&mut rng) + share.map_or(0.0, |share| 1.5 * shares[share])
                };
                (0..20).map(column).collect()
            };
            let numbers: Vec<Vec<f64>> = secrets.iter().map(row).collect();
            let (first, second, found) = second_order(&numbers, &secrets, windows);
            by_column += usize::from(first <= 0.05);
            by_product += usize::from(second <= 0.05);
            let largest = (20..found.columns.len()).max_by(|&x, &y| {
                found.columns[x]
                    .statistic
                    .total_cmp(&found.columns[y].statistic)
            });
            let numbers: Vec<&[f64]> = numbers.iter().map(Vec::as_slice).collect();
            let (left, right) =
                Products::of(&numbers, 20, windows).windows(largest.expect("some") - 20);
            let is_it = left.contains(&4) && right.contains(&12);
            by_product -= usize::from(second <= 0.05 && !is_it);
        }
        assert!(
            by_column <= 4 && by_product >= 19,
            "{by_column}, {by_product} of {LOGS}"
        );
    }
}

#[test]
fn products_are_those_of_what_they_name() {
    let numbers = [
        vec![1.0, 10.0, 0.0],
        vec![3.0, 10.0, 2.0],
        vec![2.0, 10.0, 4.0],
    ];
    let numbers: Vec<&[f64]> = numbers.iter().map(Vec::as_slice).collect();
    let products = Products::of(&numbers, 3, 9);
    let named: Vec<_> = (0..products.len()).map(|at| products.windows(at)).collect();
    let names = [(0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2)];
    assert_eq!(
        named,
        names.map(|(left, right)| (left..left + 1, right..right + 1))
    );
    // Each less its mean over its deviation: √1.5·(−1, 1, 0) and √1.5·(−1, 0, 1).
    let near = |at: usize, wanted: [f64; 3]| {
        for (found, wanted) in products.values(at).into_iter().zip(wanted) {
            assert!((found - wanted).abs() < 1e-6, "{at}: {found}, not {wanted}");
        }
    };
    near(0, [1.5, 1.5, 0.0]);
    near(2, [1.5, 0.0, 0.0]);
    near(1, [0.0; 3]);
    let two = Products::of(&numbers, 3, 2);
    let named: Vec<_> = (0..two.len()).map(|at| two.windows(at)).collect();
    assert_eq!(named, [(0..2, 0..2), (0..2, 2..3), (2..3, 2..3)]);
}

/// Sixty windows have 1,830 products: the more rows, the fewer are tested, and always enough assignments are drawn.
#[test]
fn products_are_as_many_as_can_be_tested() {
    assert_eq!(affordable_windows(10_000, 60, 2, 60), Some(60));
    assert_eq!(affordable_windows(100_000, 60, 2, 60), Some(22));
    assert_eq!(affordable_windows(4_000_000, 60, 2, 60), None);
    assert!(assignments(100_000, 60 + 22 * 23 / 2, 2) > 2 * FEWEST);
    assert_eq!(affordable_windows(1_000, 3, 2, 60), Some(3));
}
