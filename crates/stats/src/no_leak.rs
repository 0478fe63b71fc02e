//! P-values of "no leak at all": that the observation does not depend on the secret.
//!
//! Under that hypothesis, given how many rows each secret has and how often each observation occurs, all
//! assignments of the secrets to the rows are equally likely. So the p-value is a permutation test's:
//! valid at every size, for any law, no asymptotics.
//!
//! *Sequential.* Tables are drawn until `enough` of them are at least as extreme, l in all: p = enough/l;
//! else, after `most` of them, p = (1 + extreme)/(1 + most) (Besag and Clifford 1991). Leak-free logs stop
//! early.
//!
//! *Smaller than permutations can say.* If none of `most` is as extreme, an exact p-value p′ of another
//! test takes over: p = min(1/(1 + most), p′). This costs nothing: for u ≥ 1/(1 + most), p ≤ u only if the
//! permutation test says so; for a smaller u, only if p′ ≤ u. p′ is the exact two-sample
//! Kolmogorov–Smirnov test (of each secret against the others, times their number) where observations
//! are ordered, else the hypergeometric tail of the most extreme cell, times twice the number of cells.

use rand::{Rng, RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use leakgauge_base::parallel;

use super::hypergeometric::{sample, tail};
use super::two_sample_kolmogorov::{deciding_distance, p_value_at_least, two_sample_kolmogorov};

/// Rows by observation and secret.
#[derive(Debug, Clone, PartialEq)]
pub struct Table {
    /// Rows of each secret.
    rows: Vec<u64>,
    /// (secret, rows) at each distinct observation, in the order of the observations.
    cells: Vec<(usize, u64)>,
    /// Where each observation ends in `cells`.
    ends: Vec<usize>,
}

impl Table {
    /// From the (secret, rows) pairs at each distinct observation, in the order of the observations if
    /// they have one. A secret occurs at most once an observation.
    ///
    /// # Panics
    /// If a secret is not below `secrets`.
    pub fn new(secrets: usize, cells: Vec<Vec<(usize, u64)>>) -> Self {
        let mut table = Table::empty(secrets);
        for cells in cells {
            cells.into_iter().for_each(|cell| table.push(cell));
            table.ends.push(table.cells.len());
        }
        table
    }

    /// From rows as (key, secret, how many), in any order: equal keys are one observation, and observations are in the
    /// order of their keys.
    ///
    /// # Panics
    /// If a secret is not below `secrets`.
    pub fn by_key(secrets: usize, mut rows: Vec<(u64, u32, u64)>) -> Self {
        rows.sort_unstable_by_key(|row| (row.0, row.1));
        let mut table = Table::empty(secrets);
        for of_key in rows.chunk_by(|x, y| x.0 == y.0) {
            for of_secret in of_key.chunk_by(|x, y| x.1 == y.1) {
                let count = of_secret.iter().map(|row| row.2).sum();
                table.push((of_secret[0].1 as usize, count));
            }
            table.ends.push(table.cells.len());
        }
        table
    }

    fn empty(secrets: usize) -> Self {
        Table {
            rows: vec![0; secrets],
            cells: Vec::new(),
            ends: Vec::new(),
        }
    }

    fn push(&mut self, (secret, count): (usize, u64)) {
        self.rows[secret] += count;
        self.cells.push((secret, count));
    }

    /// The number of distinct observations.
    fn len(&self) -> usize {
        self.ends.len()
    }

    /// (secret, rows) at an observation, by its number; nothing behind the last.
    fn at(&self, number: usize) -> &[(usize, u64)] {
        let from = number.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.cells[from..self.ends.get(number).copied().unwrap_or(from)]
    }

    /// (secret, rows) at each observation.
    fn iter(&self) -> impl Iterator<Item = &[(usize, u64)]> {
        (0..self.len()).map(|number| self.at(number))
    }

    /// The table of two secrets alone.
    fn pair(&self, a: usize, b: usize) -> Table {
        let number = |secret: usize| match secret {
            s if s == a => Some(0),
            s if s == b => Some(1),
            _ => None,
        };
        let only = |cells: &[(usize, u64)]| -> Vec<(usize, u64)> {
            let known = cells.iter().filter(|cell| cell.1 > 0);
            known
                .filter_map(|&(s, count)| Some((number(s)?, count)))
                .collect()
        };
        let cells = self.iter().map(only).filter(|cells| !cells.is_empty());
        Table::new(2, cells.collect())
    }

    /// Neighbors merged while they hold at most 3 % of the rows on the nearer side: a thousand groups,
    /// finest at both ends, where the statistic weighs most. The secrets are not looked at, so the test
    /// stays exact.
    fn merged(&self) -> Table {
        const PART: f64 = 0.03;
        let total = self.total() as f64;
        let (mut groups, mut counts) = (Vec::new(), vec![0u64; self.rows.len()]);
        let (mut start, mut end) = (0.0f64, 0.0f64);
        for (at, cells) in self.iter().enumerate() {
            for &(secret, count) in cells {
                counts[secret] += count;
                end += count as f64;
            }
            let next: u64 = self.at(at + 1).iter().map(|cell| cell.1).sum();
            let most = PART * start.min(total - end);
            if end + next as f64 - start > most || at + 1 == self.len() {
                let filled = counts
                    .iter_mut()
                    .enumerate()
                    .filter(|(_, count)| **count > 0);
                groups.push(
                    filled
                        .map(|(s, count)| (s, std::mem::take(count)))
                        .collect(),
                );
                start = end;
            }
        }
        Table::new(self.rows.len(), groups)
    }

    fn total(&self) -> u64 {
        self.rows.iter().sum()
    }

    /// At each observation, the rows of one secret and those of all others.
    fn against(&self, secret: usize) -> Vec<(u64, u64)> {
        let split = |cells: &[(usize, u64)]| {
            cells.iter().fold((0, 0), |(one, others), &(s, count)| {
                if s == secret {
                    (one + count, others)
                } else {
                    (one, others + count)
                }
            })
        };
        self.iter().map(split).collect()
    }
}

/// With more distinct ordered observations, neighbors are merged.
const MANY: usize = 2000;
/// An exact p′ this small is the p-value, and no table is drawn; all others pay this much for it.
const BEYOND_DOUBT: f64 = 1e-9;
/// No p-value is smaller: zero would claim what rounding did.
const LEAST: f64 = 1e-300;

/// What is compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Observations without an order: Pearson's χ² statistic.
    Unordered,
    /// Observations in an order: the Anderson–Darling statistic of several samples.
    Ordered,
}

/// How many tables are drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Effort {
    /// At most.
    pub most: u64,
    /// Until so many are at least as extreme as the log.
    pub enough: u64,
    /// Of the generator.
    pub seed: u64,
}

impl Default for Effort {
    fn default() -> Self {
        Effort {
            most: 999,
            enough: 20,
            seed: 0,
        }
    }
}

/// The p-value of "no leak at all" over all secrets.
///
/// # Formula
/// The [module](self)'s, with Pearson's Σ (O − E)²/E or Anderson and Darling's
/// Σ_s 1/n_s Σ_j l_j (N M_sj − n_s B_j)²/(B_j (N − B_j)), which does with Σ_s M_sj²/n_s: one addition a row.
/// Of more than 2,000 distinct ordered observations, about a thousand groups of neighbors are compared.
///
/// # Conditions
/// Independent rows, or at least exchangeable ones given the secrets' places. Same seed, same value.
///
/// # References
/// Besag and Clifford (1991), 10.1093/biomet/78.2.301; Scholz and Stephens (1987),
/// 10.1080/01621459.1987.10478517; Phipson and Smyth (2010), 10.2202/1544-6115.1585.
pub fn no_leak(table: &Table, kind: Kind, effort: &Effort) -> f64 {
    on_stream(table, kind, effort, 0, true)
}

/// The least p-value of several tables of the same rows, of which the caller knows the number; `None` without tables.
///
/// Where ordered observations of two secrets have so many rows that the distance alone decides the exact p-value, it is
/// computed for the largest distance only, as the one that proves most: it would take seconds with many columns. For
/// the others it counts as 1, which makes no p-value smaller.
///
/// # Conditions, References
/// Those of [`no_leak`].
pub fn least_no_leak(tables: &[(Table, Kind)], effort: &Effort) -> Option<f64> {
    let distances = parallel::map(tables.len(), |at| {
        let (table, kind) = &tables[at];
        let is_one_test = *kind == Kind::Ordered && table.rows.len() == 2;
        is_one_test
            .then(|| deciding_distance(&table.against(0)))
            .flatten()
    });
    let largest = distances.iter().flatten().copied().fold(0.0, f64::max);
    let each = parallel::map(tables.len(), |at| {
        let (table, kind) = &tables[at];
        let exactly = distances[at].is_none_or(|distance| distance >= largest);
        on_stream(table, *kind, effort, 0, exactly)
    });
    each.into_iter().reduce(f64::min)
}

/// The p-value of every pair of secrets, in the order (0, 1), (0, 2), …, (1, 2), …: the exact p′ of the
/// [module](self) on the pair's rows, without random tables, for there may be many pairs.
///
/// # Conditions, References
/// Those of [`no_leak`].
pub fn no_leak_pairs(table: &Table, kind: Kind) -> Vec<f64> {
    let secrets = table.rows.len();
    let pairs: Vec<(usize, usize)> = (0..secrets)
        .flat_map(|a| (a + 1..secrets).map(move |b| (a, b)))
        .collect();
    parallel::map(pairs.len(), |at| {
        let (a, b) = pairs[at];
        exact(&table.pair(a, b), kind).max(LEAST)
    })
}

/// Bits that are ordered as the numbers are, for [`Table::by_key`].
pub fn ordered_bits(number: f64) -> u64 {
    let bits = (number + 0.0).to_bits();
    if bits >> 63 == 0 {
        bits | 1 << 63
    } else {
        !bits
    }
}

/// The exact Kolmogorov–Smirnov test of ordered observations: of each secret against the others, times their number.
///
/// # Conditions
/// Those of [`no_leak`].
pub fn kolmogorov_p_value(table: &Table) -> f64 {
    exact(table, Kind::Ordered).max(LEAST)
}

/// The exact p-value of a table; 1 if there is nothing to compare.
fn exact(table: &Table, kind: Kind) -> f64 {
    if table.rows.iter().filter(|&&rows| rows > 0).count() < 2 || table.len() < 2 {
        return 1.0;
    }
    match kind {
        Kind::Ordered => against_others(table),
        Kind::Unordered => extreme_cell(table),
    }
}

fn on_stream(table: &Table, kind: Kind, effort: &Effort, stream: u64, exactly: bool) -> f64 {
    let mut rng = ChaCha8Rng::seed_from_u64(effort.seed);
    rng.set_stream(stream);
    if table.rows.iter().filter(|&&rows| rows > 0).count() < 2 || table.len() < 2 {
        return 1.0;
    }
    // Where the exact p-value is not beyond doubt, only a log that no random table reaches asks for it.
    let doubtful = !exactly || kind == Kind::Ordered && bounded_below(table) > BEYOND_DOUBT;
    let known = (!doubtful).then(|| exact(table, kind));
    if let Some(exact) = known.filter(|&exact| exact <= BEYOND_DOUBT) {
        return exact.max(LEAST);
    }
    let merged = (kind == Kind::Ordered && table.len() > MANY).then(|| table.merged());
    let read = merged.as_ref().unwrap_or(table);
    let mut tables = Tables::new(read);
    let observed = tables.observed(read, kind);
    // Equal statistics may differ by rounding: they count as extreme.
    let bar = observed * (1.0 - 1e-11);
    let mut extreme = 0;
    for drawn in 1..=effort.most {
        extreme += u64::from(tables.draw(kind, &mut rng) >= bar);
        if extreme == effort.enough {
            return (extreme as f64 / drawn as f64 + BEYOND_DOUBT).min(1.0);
        }
    }
    let p_value = (1 + extreme) as f64 / (1 + effort.most) as f64 + BEYOND_DOUBT;
    if extreme > 0 || !exactly {
        return p_value.min(1.0);
    }
    p_value.min(known.unwrap_or_else(|| exact(table, kind)))
}

/// Random tables with a table's margins.
struct Tables {
    rows: Vec<u64>,
    /// Rows with each observation.
    widths: Vec<u64>,
    /// One secret a row, if that is quicker than drawing counts.
    labels: Option<Vec<u32>>,
    sum: Sum,
}

impl Tables {
    fn new(table: &Table) -> Self {
        /// A draw of one count costs about as much as the shuffling of so many rows.
        const DRAW: u64 = 25;
        let widths: Vec<u64> = table
            .iter()
            .map(|cells| cells.iter().map(|cell| cell.1).sum())
            .collect();
        let draws = (widths.len() * (table.rows.len() - 1)) as u64;
        let shuffled = table.total() <= draws.saturating_mul(DRAW);
        let label = |(secret, &rows): (usize, &u64)| vec![secret as u32; rows as usize];
        let labels = shuffled.then(|| table.rows.iter().enumerate().flat_map(label).collect());
        Tables {
            sum: Sum::new(&table.rows),
            rows: table.rows.clone(),
            widths,
            labels,
        }
    }

    fn observed(&mut self, table: &Table, kind: Kind) -> f64 {
        self.sum.start(kind);
        for cells in table.iter() {
            for &(secret, count) in cells {
                self.sum.add(secret, count);
            }
            self.sum.close();
        }
        self.sum.value
    }

    /// The statistic of a random table.
    fn draw(&mut self, kind: Kind, rng: &mut impl Rng) -> f64 {
        self.sum.start(kind);
        match &mut self.labels {
            Some(labels) => {
                let mut done = 0;
                for &width in &self.widths {
                    for _ in 0..width {
                        let other = rng.random_range(done..labels.len());
                        labels.swap(done, other);
                        self.sum.add(labels[done] as usize, 1);
                        done += 1;
                    }
                    self.sum.close();
                }
            }
            None => {
                let mut left = self.rows.clone();
                let mut all: u64 = left.iter().sum();
                for &width in &self.widths {
                    let (mut rest, mut pool) = (width, all);
                    for (secret, rows) in left.iter_mut().enumerate() {
                        let count = sample(pool, *rows, rest, rng);
                        (pool, rest) = (pool - *rows, rest - count);
                        *rows -= count;
                        self.sum.add(secret, count);
                    }
                    all -= width;
                    self.sum.close();
                }
            }
        }
        self.sum.value
    }
}

/// The statistic, observation by observation.
struct Sum {
    per_row: Vec<f64>,
    total: f64,
    kind: Kind,
    /// Of this observation, or of all up to here where they are ordered.
    counts: Vec<f64>,
    touched: Vec<usize>,
    /// Σ count²/n_s and Σ count.
    squares: f64,
    width: f64,
    before: f64,
    value: f64,
}

impl Sum {
    fn new(rows: &[u64]) -> Self {
        let per_row = |&rows: &u64| 1.0 / rows.max(1) as f64;
        Sum {
            per_row: rows.iter().map(per_row).collect(),
            total: rows.iter().sum::<u64>() as f64,
            kind: Kind::Unordered,
            counts: vec![0.0; rows.len()],
            touched: Vec::new(),
            squares: 0.0,
            width: 0.0,
            before: 0.0,
            value: 0.0,
        }
    }

    fn start(&mut self, kind: Kind) {
        self.kind = kind;
        self.counts.fill(0.0);
        self.touched.clear();
        (self.squares, self.width, self.before, self.value) = (0.0, 0.0, 0.0, 0.0);
    }

    fn add(&mut self, secret: usize, count: u64) {
        let (old, more) = (self.counts[secret], count as f64);
        self.squares += (2.0 * old + more) * more * self.per_row[secret];
        self.counts[secret] = old + more;
        self.width += more;
        if self.kind == Kind::Unordered {
            self.touched.push(secret);
        }
    }

    /// The end of an observation.
    fn close(&mut self) {
        match self.kind {
            Kind::Unordered => {
                self.value += self.squares / self.width.max(1.0);
                for secret in self.touched.drain(..) {
                    self.counts[secret] = 0.0;
                }
                (self.squares, self.width) = (0.0, 0.0);
            }
            Kind::Ordered => {
                let rest = self.width * (self.total - self.width);
                if rest > 0.0 {
                    let between = self.total * self.squares - self.width * self.width;
                    self.value += (self.width - self.before) * between / rest;
                }
                self.before = self.width;
            }
        }
    }
}

/// What the p-value of each secret against all others is not below; of two secrets, one test says all.
fn bounds_of_each(table: &Table) -> Vec<f64> {
    let secrets = table.rows.len();
    let tests = if secrets == 2 { 1 } else { secrets };
    // One secret at a time: all tables together would take memory for every secret at every observation.
    let bound = |secret| p_value_at_least(&table.against(secret));
    (0..tests).map(bound).collect()
}

/// The least p-value of the exact Kolmogorov–Smirnov tests of a secret against all others, times their number.
///
/// A test takes a step for every pair of rows, and only the least p-value counts: tests are taken by a bound of their
/// p-values from below, until no other can be less.
fn against_others(table: &Table) -> f64 {
    let bounds = bounds_of_each(table);
    let mut order: Vec<usize> = (0..bounds.len()).collect();
    order.sort_by(|&a, &b| bounds[a].total_cmp(&bounds[b]));
    let mut least = 1.0;
    for secret in order {
        if bounds[secret] >= least {
            break;
        }
        if let Some(test) = two_sample_kolmogorov(&table.against(secret)) {
            least = f64::min(least, test.p_value);
        }
    }
    (least * bounds.len() as f64).min(1.0)
}

/// What [`against_others`] is not below.
fn bounded_below(table: &Table) -> f64 {
    let bounds = bounds_of_each(table);
    let least = bounds.iter().copied().fold(1.0, f64::min);
    (least * bounds.len() as f64).min(1.0)
}

/// The least hypergeometric tail over all cells, either side, times their number.
fn extreme_cell(table: &Table) -> f64 {
    let total = table.total();
    let tests = 2.0 * (table.len() * table.rows.len()) as f64;
    let mut least = 1.0f64;
    for cells in table.iter() {
        let width = cells.iter().map(|cell| cell.1).sum();
        let mut counts = vec![0; table.rows.len()];
        for &(secret, count) in cells {
            counts[secret] = count;
        }
        for (&rows, count) in table.rows.iter().zip(counts) {
            least = least.min(tail(total, rows, width, count, least));
        }
    }
    (tests * least).min(1.0)
}

#[cfg(test)]
#[path = "no_leak/tests.rs"]
mod tests;
