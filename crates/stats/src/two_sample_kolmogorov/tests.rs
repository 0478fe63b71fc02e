use super::*;
use leakgauge_testing::rng;
use rand::RngExt;

/// All orders of the pooled rows, counted.
fn by_hand(cells: &[(u64, u64)], reached: i64) -> f64 {
    let ends: Vec<usize> = cells
        .iter()
        .scan(0, |sum, c| {
            *sum += (c.0 + c.1) as usize;
            Some(*sum)
        })
        .collect();
    let (n, m) = cells
        .iter()
        .fold((0, 0), |s, c| (s.0 + c.0 as i64, s.1 + c.1 as i64));
    let all = (n + m) as usize;
    let (mut far, mut paths) = (0, 0);
    for set in 0u32..1 << all {
        if i64::from(set.count_ones()) != n {
            continue;
        }
        paths += 1;
        let distance = |&end: &usize| {
            let i = i64::from((set & ((1 << end) - 1)).count_ones());
            (i * m - (end as i64 - i) * n).abs()
        };
        far += i32::from(ends.iter().map(distance).max().unwrap_or(0) >= reached);
    }
    f64::from(far) / f64::from(paths)
}

#[test]
fn agrees_with_all_orders_with_ties() {
    let mut rng = rng(1);
    for _ in 0..40 {
        let cells: Vec<(u64, u64)> = (0..rng.random_range(2..7))
            .map(|_| (rng.random_range(0..3), rng.random_range(0..3)))
            .filter(|c| c.0 + c.1 > 0)
            .collect();
        let test = two_sample_kolmogorov(&cells).unwrap();
        let (n, m) = cells.iter().fold((0, 0), |s, c| (s.0 + c.0, s.1 + c.1));
        if n == 0 || m == 0 {
            assert_eq!(test.p_value, 1.0);
            continue;
        }
        let reached = (test.distance * (n * m) as f64).round() as i64;
        let expected = if reached == 0 {
            1.0
        } else {
            by_hand(&cells, reached)
        };
        assert!((test.p_value - expected).abs() < 1e-12, "{cells:?}");
    }
}

/// The recursion as it stands, row by row.
fn row_by_row(cells: &[(u64, u64)], n: i64, m: i64, reached: i64) -> f64 {
    let mut ends = vec![false; (n + m + 1) as usize];
    let mut below = 0;
    for cell in cells {
        below += (cell.0 + cell.1) as usize;
        ends[below] = true;
    }
    let mut row = vec![0.0f64; (m + 1) as usize];
    for i in 0..=n {
        let mut left = 0.0;
        for j in 0..=m {
            let at = &mut row[j as usize];
            let far = ends[(i + j) as usize] && (i * m - j * n).abs() >= reached;
            *at = if far {
                1.0
            } else if i + j == 0 {
                0.0
            } else {
                (i as f64 * *at + j as f64 * left) / (i + j) as f64
            };
            left = *at;
        }
    }
    row[m as usize]
}

/// In which order the recursion is followed makes no difference, to the last bit.
#[test]
fn what_does_not_change_need_not_be_visited() {
    let mut rng = rng(3);
    for case in 0..60 {
        let sizes = [1, 3, 12][case % 3];
        let cells: Vec<(u64, u64)> = (0..rng.random_range(1..16))
            .map(|_| (rng.random_range(0..=sizes), rng.random_range(0..=7)))
            .collect();
        let (n, m) = cells.iter().fold((0, 0), |s, c| (s.0 + c.0, s.1 + c.1));
        let (n, m) = (n as i64, m as i64);
        if n == 0 || m == 0 {
            continue;
        }
        let found = farthest(&cells, n as u64, m as u64).0 as i64;
        for reached in [found, rng.random_range(1..=n * m), 1, n * m] {
            let reached = reached.max(1);
            let expected = row_by_row(&cells, n, m, reached);
            let same = with_ties(&cells, n, m, reached);
            assert!(
                (same - expected).abs() <= 1e-13 * expected,
                "{cells:?} {reached}"
            );
            let single = vec![(1, 0); (n + m) as usize];
            let expected = row_by_row(&single, n, m, reached);
            let same = in_band(n, m, reached);
            assert!(
                (same - expected).abs() <= 1e-13 * expected,
                "{n} {m} {reached}"
            );
        }
    }
}

/// Without ties the band is exact; with ties, and beyond it, the bounds are larger.
#[test]
fn the_band_and_the_bound_are_above() {
    let mut rng = rng(2);
    for (n, m) in [(7, 9), (30, 30), (200, 13), (90, 110)] {
        for reached in [1, n * m / 20, n * m / 5, n * m / 2, n * m] {
            let single: Vec<(u64, u64)> = (0..n + m)
                .map(|i| if i < n { (1, 0) } else { (0, 1) })
                .collect();
            let exact = with_ties(&single, n, m, reached.max(1));
            let band = in_band(n, m, reached.max(1));
            assert!(
                (band / exact - 1.0).abs() < 1e-10,
                "{n} {m} {reached}: {band} {exact}"
            );
            assert!(union_bound(n as f64, m as f64, reached as f64) >= exact.min(1.0));
        }
        let tied: Vec<(u64, u64)> = vec![
            (n as u64 / 2, m as u64 / 2),
            ((n - n / 2) as u64, (m - m / 2) as u64),
        ];
        let reached = rng.random_range(1..n * m / 2);
        assert!(with_ties(&tied, n, m, reached) <= in_band(n, m, reached) + 1e-12);
    }
}

/// Equal sizes at distance 1: two of the C(2n, n) orders.
#[test]
fn the_smallest_p_values_keep_their_accuracy() {
    let cells: Vec<(u64, u64)> = (0..200)
        .map(|i| if i < 100 { (1, 0) } else { (0, 1) })
        .collect();
    let test = two_sample_kolmogorov(&cells).unwrap();
    // 2/C(200, 100).
    let ln: f64 = (1..=100)
        .map(|k| (f64::from(k) / f64::from(100 + k)).ln())
        .sum::<f64>()
        + 2f64.ln();
    assert!((test.p_value.ln() - ln).abs() < 1e-9 * ln.abs());
    assert_eq!(test.distance, 1.0);
}

/// Shifted, spread and equal laws, with many ties and few.
#[test]
fn no_p_value_is_below_its_bound() {
    let mut rng = rng(5);
    let mut near = 0;
    for case in 0..200 {
        let (values, shift) = (rng.random_range(2..60), rng.random_range(0..9));
        let cells: Vec<(u64, u64)> = (0..values)
            .map(|at| {
                let b = rng.random_range(0..9 + at * shift / 30);
                (rng.random_range(0..9), b as u64)
            })
            .collect();
        let p_value = two_sample_kolmogorov(&cells).unwrap().p_value;
        let bound = p_value_at_least(&cells);
        assert!(bound <= p_value, "case {case}: {bound} {p_value}");
        near += i32::from(bound > p_value / 30.0);
    }
    assert!(near > 150, "a bound that says little: {near} of 200");
}
