//! Tests of order for labels.

use super::{BySecret, two_sided};
use crate::special::{chi_squared_survival, normal_quantile};

/// How often neighbors are equal, against a random order.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct NeighborTest {
    /// Share of neighboring pairs that are equal; 0 without pairs.
    pub share: f64,
    /// The share expected under a random order.
    pub expected_share: f64,
    /// The number of equal pairs, in standard deviations from its mean under a random order:
    /// positive if equals flock together, negative if they avoid each other.
    pub z: f64,
    /// Two-sided p-value; 1 if nothing can be tested.
    pub p_value: f64,
}

/// How the labels of the first half of each secret's rows differ from those of the second half.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CategoryDrift {
    /// √(X²/n), pooled: 0 for the same shares, 1 if the halves have no label in common.
    pub phi: f64,
    /// The same less what chance adds, √max(0, (X² − degrees of freedom)/n).
    pub corrected_phi: f64,
    /// X², summed over the secrets.
    pub statistic: f64,
    /// Degrees of freedom, summed over the secrets; 0 if nothing can be tested.
    pub degrees_of_freedom: u64,
    /// The normal score, at least 0, with the same two-sided p-value; at most about 37.
    pub z: f64,
    /// P(χ² ≥ X²); 1 if nothing can be tested.
    pub p_value: f64,
}

/// Are the secrets interleaved as in a random order? Blocks of one secret give a large positive z,
/// a round-robin a large negative one.
///
/// # Formula
/// The number of neighboring rows with equal secrets; over all orders of the secrets its mean is
/// Σ n_s(n_s − 1)/n and its variance (Q₂(Q₂ + n(n+1)) − 2nQ₃ − n³)/(n²(n−1)), Q_k = Σ n_s^k.
///
/// # Conditions
/// Null hypothesis: every order of the secrets, with their numbers of rows, is equally likely.
/// Secrets of a fixed design are not random, and nothing is wrong with that; what then fails is the
/// argument that disturbances hit all secrets alike.
///
/// # References
/// Barton and David (1957), 10.1093/biomet/44.1-2.168.
///
/// # Panics
/// If a secret is not below `n_secrets`.
pub fn interleaving(secrets: &[u32], n_secrets: usize) -> NeighborTest {
    Interleaving::new(secrets, n_secrets).test(count_equal(secrets.iter()))
}

/// The law of equal neighbors over all orders of some secrets.
pub(super) struct Interleaving(EqualNeighbors);

impl Interleaving {
    /// # Panics
    /// If a secret is not below `n_secrets`.
    pub(super) fn new(secrets: &[u32], n_secrets: usize) -> Self {
        let mut counts = vec![0.0; n_secrets];
        for &secret in secrets {
            counts[secret as usize] += 1.0;
        }
        let mut law = EqualNeighbors::default();
        law.add(0.0, &counts);
        Interleaving(law)
    }

    /// Of an order with so many equal neighbors.
    pub(super) fn test(&self, equal: usize) -> NeighborTest {
        let observed = equal as f64;
        EqualNeighbors { observed, ..self.0 }.test()
    }
}

/// Do successive observations of one secret agree more often than in a random order?
///
/// # Formula
/// As [`interleaving`], on the labels of each secret's own rows; numbers, means and variances are
/// summed over the secrets.
///
/// # Conditions
/// Null hypothesis: the rows of each secret are exchangeable, and secrets independent of each
/// other.
///
/// # Panics
/// If the slices differ in length or a secret is not below `n_secrets`.
pub fn agreement_autocorrelation(secrets: &[u32], codes: &[u32], n_secrets: usize) -> NeighborTest {
    assert_eq!(secrets.len(), codes.len(), "one code per secret");
    let mut pool = EqualNeighbors::default();
    for rows in BySecret::new(secrets, n_secrets).iter() {
        let mut own: Vec<u32> = rows.iter().map(|&row| codes[row]).collect();
        let observed = count_equal(own.iter()) as f64;
        own.sort_unstable();
        let counts: Vec<f64> = own
            .chunk_by(|a, b| a == b)
            .map(|c| c.len() as f64)
            .collect();
        pool.add(observed, &counts);
    }
    pool.test()
}

fn count_equal<'a>(codes: impl Iterator<Item = &'a u32> + Clone) -> usize {
    let equal = codes.clone().zip(codes.skip(1)).filter(|(a, b)| a == b);
    equal.count()
}

/// Numbers of equal neighbors, summed over sequences.
#[derive(Default, Clone, Copy)]
struct EqualNeighbors {
    observed: f64,
    mean: f64,
    variance: f64,
    fourths: f64,
    pairs: f64,
}

impl EqualNeighbors {
    /// Adds a sequence with its number of equal neighbors and the counts of its labels.
    fn add(&mut self, observed: f64, counts: &[f64]) {
        let n: f64 = counts.iter().sum();
        if n < 2.0 {
            return;
        }
        let q2: f64 = counts.iter().map(|m| m * m).sum();
        let q3: f64 = counts.iter().map(|m| m * m * m).sum();
        let variance = (q2 * (q2 + n * (n + 1.0)) - 2.0 * n * q3 - n * n * n) / (n * n * (n - 1.0));
        self.observed += observed;
        self.mean += (q2 - n) / n;
        self.variance += variance.max(0.0);
        self.fourths += n * fourth_moment(counts, n);
        self.pairs += n - 1.0;
    }

    fn test(&self) -> NeighborTest {
        let share = |number: f64| {
            if self.pairs > 0.0 {
                number / self.pairs
            } else {
                0.0
            }
        };
        let testable = self.variance > 1e-12 * self.pairs;
        let z = if testable {
            (self.observed - self.mean) / self.variance.sqrt()
        } else {
            0.0
        };
        NeighborTest {
            share: share(self.observed),
            expected_share: share(self.mean),
            z,
            p_value: if testable {
                two_sided(z, self.fourths / (self.variance * self.variance))
            } else {
                1.0
            },
        }
    }
}

/// The fourth moment of h(x, y) = 1{x = y} − f_x − f_y + Σ f², for x and y independent with shares
/// f: the part of one pair in the number of equal neighbors once what is fixed is removed.
fn fourth_moment(counts: &[f64], n: f64) -> f64 {
    let shares = || counts.iter().map(|m| m / n);
    let square: f64 = shares().map(|f| f * f).sum();
    let moment = |power: i32| -> f64 { shares().map(|f| f * (0.5 * square - f).powi(power)).sum() };
    let apart = 2.0 * moment(4) + 8.0 * moment(3) * moment(1) + 6.0 * moment(2) * moment(2);
    let equal: f64 = shares()
        .map(|f| {
            let g = square - 2.0 * f;
            f * f * ((1.0 + g).powi(4) - g.powi(4))
        })
        .sum();
    apart + equal
}

/// Do the labels of a secret drift? χ² of the first against the second half of each secret's rows.
///
/// # Formula
/// X² of the table of halves by labels, times (n−1)/n, which makes its mean over all orders equal
/// to the degrees of freedom; summed over the secrets. Labels with fewer than 10 rows of the secret
/// count as one, and together with the next rarest if they are still fewer than 10.
///
/// # Conditions
/// Null hypothesis: the rows of each secret are exchangeable, and secrets independent of each
/// other. Labels are merged by the secret's totals, which do not depend on the order. The χ² law is
/// an approximation, every expected count being about 5 or more. Labels that are all rare are
/// left untested.
///
/// # References
/// Cochran (1954), 10.2307/3001616.
///
/// # Panics
/// If the slices differ in length or a secret is not below `n_secrets`.
pub fn category_drift(secrets: &[u32], codes: &[u32], n_secrets: usize) -> CategoryDrift {
    assert_eq!(secrets.len(), codes.len(), "one code per secret");
    let (mut statistic, mut degrees_of_freedom, mut tested) = (0.0, 0, 0.0);
    for rows in BySecret::new(secrets, n_secrets).iter() {
        let cells = halves(rows, codes);
        if cells.len() < 2 {
            continue;
        }
        let n = rows.len() as f64;
        let first = (rows.len() / 2) as f64;
        let scale = n * (n - 1.0) / (first * (n - first));
        statistic += cells
            .iter()
            .map(|cell| (cell.first - cell.total * first / n).powi(2) * scale / cell.total)
            .sum::<f64>();
        degrees_of_freedom += cells.len() as u64 - 1;
        tested += n;
    }
    if degrees_of_freedom == 0 {
        return CategoryDrift {
            phi: 0.0,
            corrected_phi: 0.0,
            statistic,
            degrees_of_freedom,
            z: 0.0,
            p_value: 1.0,
        };
    }
    let p_value = chi_squared_survival(statistic, degrees_of_freedom as f64);
    CategoryDrift {
        phi: (statistic / tested).sqrt(),
        corrected_phi: ((statistic - degrees_of_freedom as f64).max(0.0) / tested).sqrt(),
        statistic,
        degrees_of_freedom,
        z: 0.0 - normal_quantile(0.5 * p_value.max(2.0 * f64::MIN_POSITIVE)),
        p_value,
    }
}

/// A label's rows: in all, and in the first half.
#[derive(Clone, Copy, Default)]
struct Cell {
    total: f64,
    first: f64,
}

/// The labels of one secret, rare ones merged.
fn halves(rows: &[usize], codes: &[u32]) -> Vec<Cell> {
    const MIN_COUNT: f64 = 10.0;
    let half = rows.len() / 2;
    let mut marked: Vec<(u32, bool)> = rows
        .iter()
        .enumerate()
        .map(|(place, &row)| (codes[row], place < half))
        .collect();
    marked.sort_unstable();
    let mut rare = Cell::default();
    let mut cells = Vec::new();
    for label in marked.chunk_by(|a, b| a.0 == b.0) {
        let cell = Cell {
            total: label.len() as f64,
            first: label.iter().filter(|(_, first)| *first).count() as f64,
        };
        if cell.total < MIN_COUNT {
            rare.total += cell.total;
            rare.first += cell.first;
        } else {
            cells.push(cell);
        }
    }
    if rare.total >= MIN_COUNT {
        cells.push(rare);
    } else if let Some(next) = cells.iter_mut().min_by(|a, b| a.total.total_cmp(&b.total)) {
        next.total += rare.total;
        next.first += rare.first;
    }
    cells
}
