//! Splitting a log into training, tuning and certification rows.

mod blocks;
mod units;

use rand::{Rng, RngExt};
use rand_chacha::ChaCha8Rng;

use leakgauge_log::observations::{Cell, Counts};
use leakgauge_stats::hypergeometric;
use leakgauge_stats::random::{Randomness, Stream};

pub use units::{UnitParts, parts_of_units};

/// The three parts of a log. Nothing that was learned or chosen on `fit` and `tune` has seen `certify`.
#[derive(Debug, Clone)]
pub struct Split {
    /// Scorers learn from these rows.
    pub fit: Counts,
    /// Scorer, parameters, thresholds and pairs are chosen on these rows.
    pub tune: Counts,
    /// Limits come from these rows.
    pub certify: Counts,
}

/// Share of a secret's rows that certify.
pub const CERTIFY: f64 = 0.4;
/// Share of a secret's rows that tune.
pub const TUNE: f64 = 0.2;
/// Share of a secret's rows that tune where nothing is learned.
const TUNE_ALONE: f64 = 0.25;
/// Where observations are numbers, choosing needs no more rows than this over all secrets, but [`MIN_TUNE`] a
/// secret. Where they recur, rows cost nothing: distinct observations are scored once, however often they occur.
const MAX_TUNE: u64 = 100_000;
const MIN_TUNE: u64 = 1_000;

impl Split {
    /// Splits every secret's rows at random: 40 % fit, 20 % tune (at most about 100,000 rows in all
    /// unless there are no more distinct observations than that; the rest certifies), 40 % certify.
    ///
    /// # Conditions
    /// The draw depends on the counts, never on the order of rows, and is the same for rows and for
    /// their aggregate.
    pub fn stratified(counts: &Counts, rng: &mut ChaCha8Rng) -> Split {
        let most = tune_most(counts);
        let sizes = |rows: u64| {
            let certify = share(rows, CERTIFY);
            let tune = share(rows, TUNE);
            let fit = rows - certify - tune;
            [fit, tune.min(most), certify + tune.saturating_sub(most)]
        };
        let [fit, tune, certify] = draw(counts, sizes, rng);
        Split { fit, tune, certify }
    }

    /// Splits every secret's rows where nothing is to be learned: 25 % tune (at most about 100,000 rows in
    /// all), the rest certifies.
    pub fn without_fit(counts: &Counts, rng: &mut ChaCha8Rng) -> Split {
        let most = tune_most(counts);
        let sizes = |rows: u64| {
            let tune = share(rows, TUNE_ALONE).min(most);
            [0, tune, rows - tune]
        };
        let [fit, tune, certify] = draw(counts, sizes, rng);
        Split { fit, tune, certify }
    }

    /// Tunes on one log, where nothing is to be learned, and certifies on all rows of another.
    pub fn across_without_fit(tune: &Counts, certify: Counts) -> Split {
        Split {
            fit: Counts::new(tune.secrets(), Vec::new()),
            tune: tune.clone(),
            certify,
        }
    }

    /// The same split for an attack that learns nothing: the fit rows tune too.
    #[must_use]
    pub fn all_to_tune(self) -> Split {
        Split {
            tune: self.fit.plus(&self.tune),
            fit: Counts::new(self.fit.secrets(), Vec::new()),
            certify: self.certify,
        }
    }

    /// Learns and tunes on one log and certifies on all rows of another.
    pub fn across(learn: &Counts, certify: Counts, rng: &mut ChaCha8Rng) -> Split {
        let most = tune_most(learn);
        let sizes = |rows: u64| {
            let tune = share(rows, TUNE / (1.0 - CERTIFY)).min(most);
            [rows - tune, tune, 0]
        };
        let [fit, tune, _] = draw(learn, sizes, rng);
        Split { fit, tune, certify }
    }
}

/// Deals every secret's rows at random to so many parts of equal size, give or take a row.
pub fn folds(counts: &Counts, parts: usize, rng: &mut ChaCha8Rng) -> Vec<Counts> {
    let mut rest = counts.clone();
    let mut folds = Vec::with_capacity(parts);
    for left in (1..=parts as u64).rev() {
        let [fold, later, _] = draw(&rest, |rows| [rows / left, rows - rows / left, 0], rng);
        folds.push(fold);
        rest = later;
    }
    folds
}

/// Deals every secret's rows at random to consecutive parts, the first so many shares of `of` (a secret's
/// number of rows) and the last whatever is left.
///
/// # Conditions
/// The shares sum to at most 1 of `counts`.
pub fn parts(
    counts: &Counts,
    shares: &[f64],
    of: impl Fn(usize) -> u64,
    rng: &mut ChaCha8Rng,
) -> Vec<Counts> {
    let mut rest = counts.clone();
    let mut parts = Vec::with_capacity(shares.len() + 1);
    for &taken in shares {
        let sizes: Vec<u64> = rest
            .rows()
            .iter()
            .enumerate()
            .map(|(secret, &left)| share(of(secret), taken).min(left))
            .collect();
        let [part, later, _] = draw_each(
            &rest,
            |secret, left| [sizes[secret], left - sizes[secret], 0],
            rng,
        );
        parts.push(part);
        rest = later;
    }
    parts.push(rest);
    parts
}

/// At most so many rows of every secret, drawn at random; all of them if there are no more.
pub fn subset(counts: &Counts, most: impl Fn(u64) -> u64, rng: &mut ChaCha8Rng) -> Counts {
    let kept = |rows: u64| most(rows).min(rows);
    let [subset, ..] = draw(counts, |rows| [kept(rows), rows - kept(rows), 0], rng);
    subset
}

/// The most tuning rows of a secret.
fn tune_most(counts: &Counts) -> u64 {
    if counts.cells().len() as u64 <= MAX_TUNE {
        return u64::MAX;
    }
    most_of_numbers(counts.secrets())
}

fn most_of_numbers(secrets: usize) -> u64 {
    (MAX_TUNE / secrets.max(1) as u64).max(MIN_TUNE)
}

fn share(rows: u64, share: f64) -> u64 {
    (rows as f64 * share + 0.5).floor() as u64
}

/// Draws parts of given sizes from each secret's rows, without replacement.
fn draw(counts: &Counts, sizes: impl Fn(u64) -> [u64; 3], rng: &mut ChaCha8Rng) -> [Counts; 3] {
    draw_each(counts, |_, rows| sizes(rows), rng)
}

/// The same with sizes that depend on the secret.
fn draw_each(
    counts: &Counts,
    sizes: impl Fn(usize, u64) -> [u64; 3],
    rng: &mut ChaCha8Rng,
) -> [Counts; 3] {
    // The same numbers for all counts would deal logs of the same size at the same quantiles.
    let rng = &mut Randomness::new(rng.next_u64(), counts.digest()).rng(Stream::Deal);
    let rows = counts.rows().iter().enumerate();
    let mut left: Vec<[u64; 3]> = rows.map(|(secret, &rows)| sizes(secret, rows)).collect();
    let mut parts: [Vec<Cell>; 3] = Default::default();
    for cell in counts.cells() {
        let room = &mut left[cell.secret as usize];
        let taken = deal(cell.count, room, rng);
        for (part, count) in taken.into_iter().enumerate() {
            room[part] -= count;
            if count > 0 {
                parts[part].push(Cell { count, ..*cell });
            }
        }
    }
    parts.map(|cells| Counts::new(counts.secrets(), cells))
}

/// Deals `count` equal rows to three parts with so much room left, every arrangement of rows equally
/// likely.
fn deal(count: u64, room: &[u64; 3], rng: &mut ChaCha8Rng) -> [u64; 3] {
    /// Beyond this a hypergeometric draw is cheaper than a draw a row.
    const ONE_BY_ONE: u64 = 64;
    if count > ONE_BY_ONE {
        let first = hypergeometric::sample(room.iter().sum(), room[0], count, rng);
        let second = hypergeometric::sample(room[1] + room[2], room[1], count - first, rng);
        return [first, second, count - first - second];
    }
    let mut room = *room;
    let mut taken = [0; 3];
    for _ in 0..count {
        let place = rng.random_range(0..room.iter().sum::<u64>());
        let part = if place < room[0] {
            0
        } else if place < room[0] + room[1] {
            1
        } else {
            2
        };
        room[part] -= 1;
        taken[part] += 1;
    }
    taken
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::SeedableRng;

    fn counts(cells: &[(u32, u32, u64)]) -> Counts {
        let cells = cells.iter().map(|&(secret, symbol, count)| Cell {
            secret,
            symbol,
            count,
        });
        Counts::new(2, cells.collect())
    }

    #[test]
    fn every_row_goes_to_one_part_and_shares_are_kept_per_secret() {
        let all = counts(&[(0, 0, 3), (0, 1, 500), (0, 2, 497), (1, 0, 1), (1, 2, 4)]);
        let split = Split::stratified(&all, &mut ChaCha8Rng::seed_from_u64(1));
        assert_eq!(split.fit.rows(), &[400, 2]);
        assert_eq!(split.tune.rows(), &[200, 1]);
        assert_eq!(split.certify.rows(), &[400, 2]);
        assert_eq!(split.fit.plus(&split.tune).plus(&split.certify), all);
    }

    #[test]
    fn without_anything_to_learn_three_quarters_certify() {
        for (rows, expected) in [(1, [0, 1]), (2, [1, 1]), (1000, [250, 750])] {
            let all = counts(&[(0, 0, rows)]);
            let split = Split::without_fit(&all, &mut ChaCha8Rng::seed_from_u64(1));
            assert_eq!([split.tune.rows()[0], split.certify.rows()[0]], expected);
            assert_eq!(split.fit.total(), 0);
            assert_eq!(split.tune.plus(&split.certify), all);
        }
    }

    #[test]
    fn the_rarest_secrets_are_learned_first_then_certified_then_tuned() {
        for (rows, expected) in [
            (1, [1, 0, 0]),
            (2, [1, 0, 1]),
            (3, [1, 1, 1]),
            (4, [1, 1, 2]),
        ] {
            let split =
                Split::stratified(&counts(&[(0, 0, rows)]), &mut ChaCha8Rng::seed_from_u64(1));
            assert_eq!(
                [
                    split.fit.rows()[0],
                    split.tune.rows()[0],
                    split.certify.rows()[0]
                ],
                expected
            );
        }
    }

    /// The mean and variance of a dealt cell, one by one and by the library's draw, against the
    /// hypergeometric formulas; 20,000 draws, five standard errors.
    #[test]
    fn cells_are_dealt_as_rows_would_be() {
        for cell in [40u64, 400] {
            let all = counts(&[(0, 0, cell), (0, 1, 1000 - cell)]);
            let mut rng = ChaCha8Rng::seed_from_u64(7);
            let draws = 20_000;
            let (mut sum, mut squares) = (0.0, 0.0);
            for _ in 0..draws {
                let split = Split::stratified(&all, &mut rng);
                let first = split.certify.cells()[0];
                let taken = if first.symbol == 0 {
                    first.count as f64
                } else {
                    0.0
                };
                sum += taken;
                squares += taken * taken;
            }
            let mean = sum / f64::from(draws);
            let variance = squares / f64::from(draws) - mean * mean;
            let share = cell as f64 / 1000.0;
            let expected = 400.0 * share * (1.0 - share) * 600.0 / 999.0;
            assert!((mean - 400.0 * share).abs() < 5.0 * (expected / f64::from(draws)).sqrt());
            assert!((variance / expected - 1.0).abs() < 5.0 * (2.0 / f64::from(draws)).sqrt());
        }
    }

    #[test]
    fn a_cell_of_billions_is_dealt_at_once() {
        let all = counts(&[(0, 0, 3_000_000_000), (0, 1, 1_000_000_000)]);
        let split = Split::stratified(&all, &mut ChaCha8Rng::seed_from_u64(3));
        let cells = split.certify.cells();
        assert!((cells[0].count as f64 / split.certify.rows()[0] as f64 - 0.75).abs() < 1e-4);
    }
}
