//! Which of many columns depend on the secret, all columns together.
//!
//! *What is compared.* Of each column the means of the secrets, of its values, of their ranks and of the squared
//! distances of the ranks from the middle: a shift, a shift of values with outliers, and a change of the spread.
//!
//! *All together.* If rows do not depend on the secret, all assignments of the secrets to the rows are equally likely,
//! whatever the columns have to do with each other. So the largest statistic of all columns is compared with the
//! largest after random assignments (Westfall and Young 1993): the probability that any p-value is at most u is at most
//! u, for every u. Columns that say nearly the same cost nearly nothing, which a correction by their number (Bonferroni,
//! Holm) does not see.
//!
//! *Beside columns that leak* the same holds of the others where these, taken together, do not depend on the secret.
//! Columns each of which does not, but which hang together differently with each secret, are named too often where
//! the secrets have very different numbers of rows; with equal numbers they are not.
//!
//! *Smaller than permutations can say.* Where none of B assignments reaches the statistic of a column,
//! p = min(1/(1 + B), d·p′), where p′ is the exact two-sample Kolmogorov–Smirnov test of the column and d the number of
//! columns. This costs nothing, for the reason that [`no_leak`](super::no_leak) gives. It is made of the columns that
//! differ most, as many as do not take long.
//!
//! *Products.* A masked implementation leaks where no single column does: in the product of two columns, each less its
//! mean. [`Products`] are tested beside the columns, as columns of one family. Means and scales are those of all rows,
//! whatever their secrets, so a random assignment leaves the products as they are, and the test of all is as exact as
//! before.
//!
//! *Early end.* Where a tenth of the first assignments reach the largest statistic of the log, no more are drawn. Then no
//! p-value is small, and those that are small come from all of them.

use rand::RngExt;
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

use leakgauge_base::parallel;

use crate::no_leak::{Table, kolmogorov_p_value, ordered_bits};

pub use products::Products;
use standard::compared;

mod products;
mod standard;

/// Numbers of many columns, row by row, and the secret of each row.
#[derive(Debug, Clone, Copy)]
pub struct Rows<'a> {
    /// The numbers of every row, one a column.
    pub numbers: &'a [&'a [f64]],
    /// The secret of every row.
    pub secrets: &'a [u32],
    /// How many secrets there are.
    pub secret_count: usize,
    /// How many columns there are.
    pub columns: usize,
    /// Products of columns that are tested too, behind the columns.
    pub products: Option<&'a Products>,
}

impl Rows<'_> {
    /// How many columns and products are tested.
    fn tested(&self) -> usize {
        self.columns + self.products.map_or(0, Products::len)
    }

    /// The numbers of a column, or of a product behind the columns.
    fn values(&self, at: usize) -> Vec<f64> {
        match (at.checked_sub(self.columns), self.products) {
            (Some(product), Some(products)) => products.values(product),
            _ => self.numbers.iter().map(|row| row[at]).collect(),
        }
    }
}

/// What is compared of a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Compared {
    /// The means of its values.
    Mean,
    /// The means of their ranks.
    Rank,
    /// The means of the squared distances of the ranks from the middle.
    Spread,
}

/// What a column says about the secret.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ColumnTest {
    /// Where the secrets differ most.
    pub compared: Compared,
    /// The largest of the three statistics: of two secrets |z|, of more √χ², each by the variance of all rows; of the
    /// spread nine tenths of it.
    pub statistic: f64,
    /// Of the means of its values: Welch's t of the second secret against the first; of more than two secrets the
    /// analysis of variance's F. Not a number where no secret varies.
    pub t_or_f: f64,
    /// The variance of the secrets' means over the mean variance of the rows of a secret, every secret weighing the same.
    pub signal_to_noise: f64,
    /// The p-value, all columns together.
    pub p_value: f64,
}

/// What all columns say.
#[derive(Debug, Clone, PartialEq)]
pub struct ColumnTests {
    /// Of each column, then of each product.
    pub columns: Vec<ColumnTest>,
    /// The largest statistic after each random assignment, in increasing order.
    pub largest: Vec<f64>,
    /// How many columns, those that no assignment reached, were tested exactly too.
    pub exact: usize,
    /// Statistics may be off by this in sum, of a column and of an assignment: so much nearer ones count as reached.
    pub rounding: f64,
}

impl ColumnTests {
    /// The statistic beyond which a p-value is at most `alpha`; `None` where so few assignments were drawn that none
    /// decides it.
    pub fn threshold(&self, alpha: f64) -> Option<f64> {
        // p ≤ α where at most so many assignments reach a statistic.
        let most = (alpha * (self.largest.len() + 1) as f64 + 1e-9).floor();
        let most = (most as usize).checked_sub(1)?;
        let at = self.largest.len().checked_sub(most + 1)?;
        Some(self.largest[at] + self.rounding)
    }
}

/// Additions that all random assignments may cost: seconds on one core.
const MOST_WORK: f64 = 2e10;
/// With fewer assignments there are none: they could not decide at 1 %.
const FEWEST: usize = 99;
/// If so many of the first assignments reach the largest statistic, no more are drawn.
const ENOUGH: usize = 10;
/// The Kolmogorov–Smirnov test is made of so many columns at most, and costs so many steps.
const MOST_EXACT: usize = 20;
const MOST_STEPS: f64 = 2e9;
/// Rows that are added up in single precision at once: equal values one after the other are rounded alike.
const CHUNK: usize = 32;
/// Columns that are added up together at most: their sums and as many rows as fit stay in fast memory.
const BLOCK: usize = 16;
/// Rows times columns that are held at once, and rows times assignments.
const MOST_HELD: usize = 4_000_000;
const MOST_ASSIGNED: f64 = 5e7;
/// Rows that the place of a list of rows is worth.
const LIST: usize = 8;
/// What the statistic of the spread is multiplied by: changes of the spread alone are rare, and so those of the means are
/// found nearly as often as without it.
const OF_SPREAD: f64 = 0.9;
/// What is compared of each.
const KINDS: [Compared; 3] = [Compared::Mean, Compared::Rank, Compared::Spread];

/// Tests all columns.
///
/// # Formula
/// The [module](self)'s, with the statistic Σ_s n_s (m_s − m)²/v of the means m_s of the secrets, the mean m and the
/// variance v of all rows: what does not depend on the assignment is left out of it.
///
/// # Conditions
/// Independent rows, or secrets that were assigned to rows at random, whatever rows have to do with each other. At most
/// `most` assignments are drawn, fewer of large logs. The same `seed` gives the same values.
///
/// # References
/// Westfall and Young (1993), *Resampling-Based Multiple Testing*; Phipson and Smyth (2010), 10.2202/1544-6115.1585.
pub fn test_columns(rows: &Rows, most: u64, seed: u64) -> ColumnTests {
    let affordable = affordable(rows).min(most as usize);
    let first = if affordable < FEWEST { 0 } else { FEWEST };
    let (mut columns, mut largest) = statistics(rows, &Assignments::draw(rows, 0..first, seed));
    let top = columns.iter().map(|column| column.statistic);
    let top = top.fold(0.0, f64::max);
    let rounding = rounding(rows);
    if first > 0 && reached(&largest, top - rounding) < ENOUGH {
        let more = Assignments::draw(rows, first..affordable, seed);
        largest.extend(statistics(rows, &more).1);
    }
    largest.sort_unstable_by(f64::total_cmp);
    let drawn = largest.len();
    for column in &mut columns {
        let reached = reached(&largest, column.statistic - rounding);
        column.p_value = (1 + reached) as f64 / (1 + drawn) as f64;
    }
    let exact = sharpen(rows, &mut columns, 1.0 / (1 + drawn) as f64);
    ColumnTests {
        columns,
        largest,
        exact,
        rounding,
    }
}

/// How many of these reach a bar.
fn reached(largest: &[f64], bar: f64) -> usize {
    largest.iter().filter(|value| **value >= bar).count()
}

/// By how much two statistics may differ through rounding where they are equal.
///
/// # Formula
/// A value z is rounded to single precision and added to at most 31 others: the sum of the n_s values of a secret is off
/// by at most c·Σ|z|, c = 34·2⁻²⁴ (two of the 34 are for the sums of those sums, in double precision). A statistic
/// (Σ_s S_s²/n_s)^½ is a norm, so it is off by at most the norm of the errors: by Cauchy's inequality and Σz² = n, of all secrets
/// but the last at most c·√n, and of the last, whose sum is what the others lack, c·n/√n_last.
fn rounding(rows: &Rows) -> f64 {
    let last = rows.secret_count.saturating_sub(1) as u32;
    let of_last = rows
        .secrets
        .iter()
        .filter(|secret| **secret == last)
        .count();
    let number = rows.secrets.len() as f64;
    let c = (CHUNK as f64 + 2.0) * f64::from(f32::EPSILON) / 2.0;
    2.0 * c * (number + number * number / of_last.max(1) as f64).sqrt()
}

/// How many assignments take neither long nor much memory.
fn affordable(rows: &Rows) -> usize {
    assignments(rows.secrets.len(), rows.tested(), rows.secret_count)
}

fn assignments(rows: usize, tested: usize, secrets: usize) -> usize {
    let work = rows as f64 * (tested * KINDS.len()) as f64;
    let held = (rows + LIST * secrets) as f64;
    (MOST_WORK / work.max(1.0)).min(MOST_ASSIGNED / held.max(1.0)) as usize
}

/// How many windows [`Products::of`] may have, `most` at most, so that enough assignments can be drawn to test all columns
/// and products; `None` where not even two may.
pub fn affordable_windows(
    rows: usize,
    columns: usize,
    secrets: usize,
    most: usize,
) -> Option<usize> {
    /// Twice the fewest: a p-value of a half of 1 %.
    const ENOUGH: usize = 2 * FEWEST + 1;
    let is_affordable = |windows: &usize| {
        let products = windows * (windows + 1) / 2;
        assignments(rows, columns + products, secrets) >= ENOUGH
    };
    (2..=most.min(columns)).rev().find(is_affordable)
}

/// The tests of all columns but for their p-values, and the largest statistic after each assignment.
fn statistics(rows: &Rows, assigned: &Assignments) -> (Vec<ColumnTest>, Vec<f64>) {
    let block = (MOST_HELD / rows.secrets.len().max(1)).clamp(1, BLOCK);
    let blocks: Vec<std::ops::Range<usize>> = (0..rows.tested())
        .step_by(block)
        .map(|first| first..(first + block).min(rows.tested()))
        .collect();
    let found = parallel::map(blocks.len(), |at| {
        block_statistics(rows, assigned, blocks[at].clone())
    });
    let mut largest = vec![0.0f64; assigned.drawn.len()];
    let mut columns = Vec::with_capacity(rows.tested());
    for (of_columns, of_assignments) in found {
        columns.extend(of_columns);
        for (largest, of_block) in largest.iter_mut().zip(of_assignments) {
            *largest = largest.max(of_block);
        }
    }
    (columns, largest)
}

/// Exact tests of the columns that no assignment reaches; how many are made.
fn sharpen(rows: &Rows, columns: &mut [ColumnTest], least: f64) -> usize {
    let mut beyond: Vec<usize> = (0..columns.len())
        .filter(|&at| columns[at].statistic > 0.0 && columns[at].p_value <= least)
        .collect();
    beyond.sort_by(|&x, &y| columns[y].statistic.total_cmp(&columns[x].statistic));
    // Each secret against the others takes as many steps as pairs of their rows; of two, one test is both.
    let number = rows.secrets.len() as f64;
    let steps = match rows.secret_count {
        0..=2 => number * number / 4.0,
        _ => number * number,
    };
    beyond.truncate(MOST_EXACT.min((MOST_STEPS / steps.max(1.0)) as usize));
    let (number, made) = (columns.len() as f64, beyond.len());
    let exact = parallel::map(beyond.len(), |at| {
        let column = beyond[at];
        let of_rows = rows.values(column).into_iter().zip(rows.secrets);
        let keys = of_rows.map(|(value, &secret)| (ordered_bits(value), secret, 1));
        kolmogorov_p_value(&Table::by_key(rows.secret_count, keys.collect())) * number
    });
    for (column, exact) in beyond.into_iter().zip(exact) {
        let p_value = &mut columns[column].p_value;
        *p_value = p_value.min(exact);
    }
    made
}

/// Assignments of the secrets to the rows.
struct Assignments {
    /// That of the log.
    own: Vec<Vec<u32>>,
    /// Random ones.
    drawn: Vec<Vec<Vec<u32>>>,
    rows: Vec<usize>,
}

impl Assignments {
    /// The assignments of these numbers. Of each the rows of all secrets but the last, whose sums follow from the others'.
    fn draw(rows: &Rows, numbers: std::ops::Range<usize>, seed: u64) -> Self {
        let mut of_secrets = vec![0; rows.secret_count];
        for &secret in rows.secrets {
            of_secrets[secret as usize] += 1;
        }
        Assignments {
            own: rows_of(rows.secrets, &of_secrets),
            drawn: parallel::map(numbers.len(), |at| {
                let mut rng = ChaCha8Rng::seed_from_u64(seed);
                rng.set_stream((numbers.start + at) as u64);
                let mut secrets = rows.secrets.to_vec();
                for done in (1..secrets.len()).rev() {
                    secrets.swap(done, rng.random_range(0..=done));
                }
                rows_of(&secrets, &of_secrets)
            }),
            rows: of_secrets,
        }
    }
}

/// The rows of each secret but the last.
fn rows_of(secrets: &[u32], of_secrets: &[usize]) -> Vec<Vec<u32>> {
    let but_last = &of_secrets[..of_secrets.len().saturating_sub(1)];
    let mut rows: Vec<Vec<u32>> = but_last
        .iter()
        .map(|&number| Vec::with_capacity(number))
        .collect();
    for (row, &secret) in secrets.iter().enumerate() {
        if let Some(of_secret) = rows.get_mut(secret as usize) {
            of_secret.push(row as u32);
        }
    }
    rows
}

/// The tests of a block of columns but for their p-values, and the largest statistic after each assignment.
fn block_statistics(
    rows: &Rows,
    assigned: &Assignments,
    columns: std::ops::Range<usize>,
) -> (Vec<ColumnTest>, Vec<f64>) {
    let width = columns.len() * KINDS.len();
    let mut values = vec![0.0f32; rows.secrets.len() * width];
    let mut tests = Vec::with_capacity(columns.len());
    for (at, column) in columns.enumerate() {
        let numbers = rows.values(column);
        for (kind, of_kind) in compared(&numbers).iter().enumerate() {
            let place = at * KINDS.len() + kind;
            for (row, value) in of_kind.iter().enumerate() {
                values[row * width + place] = *value as f32;
            }
        }
        tests.push(by_means(&numbers, rows));
    }
    let mut sums = Sums::new(&assigned.rows, width);
    let own = sums.statistics(&values, &assigned.own).to_vec();
    for (test, own) in tests.iter_mut().zip(own.chunks(KINDS.len())) {
        let largest = (0..KINDS.len()).max_by(|&x, &y| own[x].total_cmp(&own[y]).then(y.cmp(&x)));
        let largest = largest.expect("three statistics");
        test.compared = KINDS[largest];
        test.statistic = own[largest].sqrt();
    }
    let of_assignments = assigned.drawn.iter().map(|drawn| {
        let statistics = sums.statistics(&values, drawn);
        statistics.iter().copied().fold(0.0, f64::max).sqrt()
    });
    let of_assignments = of_assignments.collect();
    (tests, of_assignments)
}

/// Sums of the columns of a block by secret.
struct Sums<'a> {
    rows: &'a [usize],
    width: usize,
    sums: Vec<f32>,
    of_secret: Vec<f64>,
    rest: Vec<f64>,
    statistics: Vec<f64>,
}

impl<'a> Sums<'a> {
    fn new(rows: &'a [usize], width: usize) -> Self {
        Sums {
            rows,
            width,
            sums: vec![0.0; width],
            of_secret: vec![0.0; width],
            rest: vec![0.0; width],
            statistics: vec![0.0; width],
        }
    }

    /// Σ_s (Σ_i z_i)²/n_s of every column, where its values have the mean 0 and the variance 1.
    fn statistics(&mut self, values: &[f32], of_secrets: &[Vec<u32>]) -> &[f64] {
        self.statistics.fill(0.0);
        self.rest.fill(0.0);
        for (rows, &number) in of_secrets.iter().zip(self.rows) {
            if number == 0 {
                continue;
            }
            self.of_secret.fill(0.0);
            for chunk in rows.chunks(CHUNK) {
                self.sums.fill(0.0);
                for &row in chunk {
                    let at = row as usize * self.width;
                    let of_row = &values[at..at + self.width];
                    for (sum, value) in self.sums.iter_mut().zip(of_row) {
                        *sum += value;
                    }
                }
                for (all, sum) in self.of_secret.iter_mut().zip(&self.sums) {
                    *all += f64::from(*sum);
                }
            }
            let each = self.statistics.iter_mut().zip(&mut self.rest);
            for ((statistic, rest), &sum) in each.zip(&self.of_secret) {
                *statistic += sum * sum / number as f64;
                *rest += sum;
            }
        }
        // All values sum to 0, so the last secret has what the others lack.
        if let Some(&number) = self.rows.last().filter(|number| **number > 0) {
            for (statistic, rest) in self.statistics.iter_mut().zip(&self.rest) {
                *statistic += rest * rest / number as f64;
            }
        }
        for statistic in self.statistics.iter_mut().skip(2).step_by(KINDS.len()) {
            *statistic *= OF_SPREAD * OF_SPREAD;
        }
        &self.statistics
    }
}

/// What is known of a column's means beside the test.
fn by_means(numbers: &[f64], rows: &Rows) -> ColumnTest {
    let mut moments = vec![(0.0, 0.0, 0.0); rows.secret_count];
    for (value, &secret) in numbers.iter().zip(rows.secrets) {
        // Welford's recursion.
        let (number, mean, squares) = &mut moments[secret as usize];
        *number += 1.0;
        let from = value - *mean;
        *mean += from / *number;
        *squares += from * (value - *mean);
    }
    let t_or_f = match moments[..] {
        [a, b] => {
            let of_mean = |(number, _, squares): (f64, f64, f64)| squares / (number - 1.0) / number;
            (b.1 - a.1) / (of_mean(a) + of_mean(b)).sqrt()
        }
        _ => {
            moments.retain(|moments| moments.0 > 0.0);
            f_statistic(&moments)
        }
    };
    moments.retain(|moments| moments.0 > 0.0);
    ColumnTest {
        compared: Compared::Mean,
        statistic: 0.0,
        t_or_f,
        signal_to_noise: signal_to_noise(&moments),
        p_value: 1.0,
    }
}

fn f_statistic(moments: &[(f64, f64, f64)]) -> f64 {
    let number: f64 = moments.iter().map(|moments| moments.0).sum();
    let mean = moments
        .iter()
        .map(|(n, mean, _)| n / number * mean)
        .sum::<f64>();
    let between = moments.iter().map(|(n, own, _)| n * (own - mean).powi(2));
    let within: f64 = moments.iter().map(|moments| moments.2).sum();
    let groups = moments.len() as f64;
    (between.sum::<f64>() / (groups - 1.0)) / (within / (number - groups))
}

fn signal_to_noise(moments: &[(f64, f64, f64)]) -> f64 {
    let groups = moments.len() as f64;
    let mean = moments
        .iter()
        .map(|moments| moments.1 / groups)
        .sum::<f64>();
    let between = moments.iter().map(|moments| (moments.1 - mean).powi(2));
    let within = moments.iter().map(|(number, _, squares)| squares / number);
    between.sum::<f64>() / within.sum::<f64>()
}

#[cfg(test)]
#[path = "column_tests/tests.rs"]
mod tests;
