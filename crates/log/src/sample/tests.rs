use super::*;

use rand::seq::SliceRandom;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use statrs::distribution::{Binomial, ChiSquared, ContinuousCDF, DiscreteCDF};

/// The probability of a larger χ² by chance.
fn chi_square(observed: &[f64], expected: impl Fn(usize) -> f64) -> f64 {
    let terms = observed.iter().enumerate();
    let sum: f64 = terms
        .map(|(at, n)| (n - expected(at)).powi(2) / expected(at))
        .sum();
    let law = ChiSquared::new(observed.len() as f64 - 1.0).unwrap();
    law.sf(sum)
}

fn sampled(most: u64, seed: u64, offers: &[(u32, u64, u64)]) -> Sample {
    let mut sampler = Sampler::new(most, seed);
    for &(stratum, count, identity) in offers {
        sampler.offer(stratum, count, identity, || identity as u32);
    }
    sampler.finish()
}

/// By water: a row more for every stratum, as long as there is room for all.
fn cap_by_search(rows: &[u64], most: u64) -> u64 {
    let most_rows = rows.iter().copied().max().unwrap_or(0);
    let fits = |cap: u64| rows.iter().map(|&n| n.min(cap)).sum::<u64>() <= most;
    (0..=most_rows).rev().find(|&cap| fits(cap)).unwrap_or(0)
}

#[test]
fn rare_strata_keep_all_rows_and_the_others_share_the_rest() {
    assert_eq!(cap(&[10, 1000, 1000], 110), 50);
    assert_eq!(cap(&[10, 20, 30], 60), 30);
    assert_eq!(cap(&[5, 5, 5], 2), 0);
    assert_eq!(cap(&[], 7), 0);
    assert_eq!(cap(&[u64::MAX, u64::MAX], 9), 4);
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    for _ in 0..2000 {
        let strata = rng.random_range(1..8);
        let rows: Vec<u64> = (0..strata).map(|_| rng.random_range(0..40)).collect();
        let most = rng.random_range(0..150);
        assert_eq!(
            cap(&rows, most),
            cap_by_search(&rows, most),
            "{rows:?} {most}"
        );
    }
}

#[test]
fn priorities_of_consecutive_rows_are_uniform_and_without_memory() {
    for seed in [0, 1, u64::MAX] {
        let key = Sampler::new(1, seed).key;
        let priority = |row: u64| Priorities::new(key, row, 1).next().unwrap();
        let rows = 200_000;
        let (mut bins, mut pairs) = (vec![0.0; 100], vec![0.0; 100]);
        for row in 0..rows {
            let (this, next) = (priority(row), priority(row + 1));
            bins[(100.0 * this) as usize] += 1.0;
            pairs[10 * (10.0 * this) as usize + (10.0 * next) as usize] += 1.0;
        }
        let expected = rows as f64 / 100.0;
        assert!(chi_square(&bins, |_| expected) > 1e-4, "seed {seed}");
        assert!(chi_square(&pairs, |_| expected) > 1e-4, "seed {seed}");
    }
    let other = |seed| Priorities::new(Sampler::new(1, seed).key, 7, 1).next();
    assert_ne!(other(1), other(2));
}

/// The k-th lowest of n uniform numbers, against its law Beta(k, n − k + 1) through the binomial: P(U₍ₖ₎ ≤ x) is
/// that of k or more of n below x.
#[test]
fn priorities_of_a_count_are_the_order_statistics() {
    let n = 12u64;
    for k in [1usize, 4, 12] {
        let mut bins = vec![0.0; 20];
        for identity in 0..20_000 {
            let all: Vec<f64> = Priorities::new(3, identity, n).collect();
            assert!(all.len() == n as usize && all.is_sorted() && all[11] < 1.0);
            let x = all[k - 1];
            let below = Binomial::new(x, n).unwrap().sf(k as u64 - 1);
            bins[((20.0 * below) as usize).min(19)] += 1.0;
        }
        let p = chi_square(&bins, |_| 1000.0);
        assert!(p > 1e-4, "{k}: {p} {bins:?}");
    }
}

#[test]
fn every_row_is_as_likely_to_be_kept_offered_alone_or_as_part_of_a_count() {
    // Stratum 0 has 60 rows as counts of 1, 9, 20 and 30; stratum 1 has 5 rows.
    let offers = [(0, 1, 1), (0, 9, 2), (1, 5, 3), (0, 20, 4), (0, 30, 5)];
    let draws = 20_000;
    let mut kept = [0.0; 4];
    for seed in 0..draws {
        let sample = sampled(25, seed, &offers);
        assert_eq!((sample.cap, &sample.rows[..]), (20, &[60, 5][..]));
        let total: u64 = sample.cells.iter().map(|cell| cell.count).sum();
        assert_eq!(total, 25);
        for cell in sample.cells.iter().filter(|cell| cell.secret == 0) {
            kept[[1, 2, 4, 5]
                .iter()
                .position(|&item| item == cell.symbol)
                .unwrap()] += cell.count as f64;
        }
    }
    // Hypergeometric: mean count·20/60, and variances of at most that.
    for (sum, count) in kept.into_iter().zip([1.0, 9.0, 20.0, 30.0]) {
        let (share, n) = (20.0 / 60.0, f64::from(draws as u32));
        let variance = count * share * (1.0 - share) * (60.0 - count) / 59.0;
        let z = (sum - n * count * share) / (n * variance).sqrt();
        assert!(z.abs() < 4.0, "{count}: {z}");
    }
}

#[test]
fn the_sample_does_not_depend_on_the_order_of_offers() {
    let mut rng = ChaCha8Rng::seed_from_u64(5);
    let mut offers: Vec<(u32, u64, u64)> = (0..3000)
        .map(|identity| {
            let most = 1 << rng.random_range(1..12);
            (rng.random_range(0..4), rng.random_range(0..most), identity)
        })
        .collect();
    let first = sampled(500, 9, &offers);
    for _ in 0..5 {
        offers.shuffle(&mut rng);
        assert_eq!(sampled(500, 9, &offers), first);
    }
    assert_ne!(sampled(500, 10, &offers), first);
}

/// All priorities at once, sorted: what the sampler finds in little memory.
#[test]
fn the_rows_of_lowest_priority_are_kept_whenever_candidates_were_dropped() {
    let mut rng = ChaCha8Rng::seed_from_u64(8);
    for most in [1, 2, 10, 333, 100_000] {
        let offers: Vec<(u32, u64, u64)> = (0..2000)
            .map(|identity| (rng.random_range(0..3), rng.random_range(0..20), identity))
            .collect();
        let sample = sampled(most, 4, &offers);
        let key = Sampler::new(most, 4).key;
        let mut cells = Vec::new();
        for stratum in 0..3u32 {
            let mut rows: Vec<(f64, u64)> = offers
                .iter()
                .filter(|offer| offer.0 == stratum)
                .flat_map(|&(_, count, identity)| {
                    Priorities::new(key, identity, count).map(move |priority| (priority, identity))
                })
                .collect();
            rows.sort_by(|a, b| a.partial_cmp(b).unwrap());
            rows.truncate(sample.cap as usize);
            cells.extend(rows.into_iter().map(|(_, identity)| Cell {
                secret: stratum,
                symbol: identity as u32,
                count: 1,
            }));
        }
        let expected = crate::observations::Counts::new(3, cells);
        assert_eq!(sample.cells, expected.cells());
        assert!(expected.total() <= most);
    }
}

#[test]
fn counts_of_trillions_cost_no_more_than_what_is_kept() {
    let offers: Vec<(u32, u64, u64)> = (0..2000)
        .map(|identity| (identity as u32 % 2, 1_000_000_000_000 + identity, identity))
        .collect();
    let sample = sampled(10_000, 1, &offers);
    assert_eq!(sample.cap, 5000);
    assert_eq!(
        sample.cells.iter().map(|cell| cell.count).sum::<u64>(),
        10_000
    );
    // 1,000 items a stratum, about 5 rows each: none has a share far from its own.
    assert!(sample.cells.iter().all(|cell| cell.count < 30));
}

#[test]
fn items_are_asked_for_only_where_rows_may_be_kept_and_can_be_renumbered() {
    let mut sampler = Sampler::new(100, 0);
    let (mut asked, mut cuts) = (0u32, 0);
    for row in 0..100_000u64 {
        cuts += u32::from(sampler.offer(0, 1, row, || {
            asked += 1;
            row as u32
        }));
        assert!(sampler.items().count() < 200 || row % 1000 != 0);
    }
    // About 100·ln(100,000/100) rows are candidates for a while.
    assert!(asked < 2000 && (3..30).contains(&cuts), "{asked} {cuts}");
    let mut renumbered = sampler.clone();
    renumbered.renumber(|item| 2 * item);
    let (first, second) = (sampler.finish(), renumbered.finish());
    let doubled: Vec<u32> = first.cells.iter().map(|cell| 2 * cell.symbol).collect();
    assert_eq!(
        second
            .cells
            .iter()
            .map(|cell| cell.symbol)
            .collect::<Vec<_>>(),
        doubled
    );
    assert_eq!((first.cells.len(), first.rows), (100, vec![100_000]));
}
