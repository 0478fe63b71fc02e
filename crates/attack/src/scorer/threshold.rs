//! Guessing by a single numeric column, the most telling one.

use std::sync::Arc;

use crate::scorer::{Parameter, Parameters, Scorer, parameters};
use leakgauge_base::parallel;
use leakgauge_log::observations::{Counts, Observations};

/// Scores an observation by one column alone.
///
/// # Formula
/// Two secrets: score_0 = −score_1 = ±(x − c), so that every threshold is a cut of the column and the
/// decisions at all thresholds are its ROC; column, side and cut c are those of the largest Kolmogorov
/// distance among the fit rows, and stay when it is learned anew, or a threshold chosen for the scores
/// would be another cut. More secrets: score_s = ln((c_s(b) + ½) / (n_s + B/2)), where c counts
/// the fit rows of s in the bin b of x, one of B bins with about equally many rows; the column is the one
/// with which a guess among all secrets is most often right on the fit rows. Column and bins stay when the
/// counts are learned anew.
#[derive(Clone)]
pub struct Threshold {
    column: usize,
    name: String,
    cut: Cut,
    secrets: usize,
}

#[derive(Clone)]
enum Cut {
    /// c, and the side on which secret 0 is.
    At(f64, f64),
    /// Upper ends of all bins but the last, and bins × secrets scores.
    Bins(Vec<f64>, Vec<f64>),
}

/// Values of a column with secret and rows, in order.
type Sorted = Vec<(f64, usize, u64)>;

impl Threshold {
    /// Finds the column.
    ///
    /// # Errors
    /// No numeric column, fewer than two secrets with rows.
    pub fn fit(observations: &Observations, fit: &Counts) -> Result<Self, String> {
        if fit.rows().iter().filter(|&&rows| rows > 0).count() < 2 {
            return Err("fewer than two secrets have rows to learn from".to_owned());
        }
        let columns = parallel::map(observations.dimensions(), |column| {
            let sorted = sorted(observations, fit, column);
            let (telling, cut) = if fit.secrets() == 2 {
                kolmogorov(&sorted, fit.rows())
            } else {
                bins(&sorted, fit.rows())
            };
            (telling, column, cut)
        });
        let best = columns
            .into_iter()
            .reduce(|best, next| if next.0 > best.0 { next } else { best });
        let (_, column, cut) = best.ok_or_else(|| "no numeric column".to_owned())?;
        Ok(Threshold {
            column,
            name: observations.numeric_name(column),
            cut,
            secrets: fit.secrets(),
        })
    }
}

fn sorted(observations: &Observations, fit: &Counts, column: usize) -> Sorted {
    let cells = fit.cells().iter();
    let mut values: Sorted = cells
        .map(|cell| {
            let value = observations.numbers(cell.symbol)[column];
            (value, cell.secret as usize, cell.count)
        })
        .collect();
    values.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
    values
}

/// The largest distance of the two distribution functions, and where.
fn kolmogorov(sorted: &Sorted, rows: &[u64]) -> (f64, Cut) {
    let (mut seen, mut best) = ([0u64; 2], (0.0, Cut::At(sorted[0].0, 1.0)));
    let mut groups = sorted.chunk_by(|a, b| a.0 == b.0).peekable();
    while let Some(group) = groups.next() {
        group
            .iter()
            .for_each(|&(_, secret, count)| seen[secret] += count);
        let [a, b] = [0, 1].map(|secret| seen[secret] as f64 / rows[secret] as f64);
        if let Some(next) = groups.peek()
            && (a - b).abs() > best.0
        {
            let cut = 0.5 * group[0].0 + 0.5 * next[0].0;
            best = ((a - b).abs(), Cut::At(cut, if a > b { -1.0 } else { 1.0 }));
        }
    }
    best
}

/// The share of fit rows guessed right, every secret weighing the same, and the bins.
fn bins(sorted: &Sorted, rows: &[u64]) -> (f64, Cut) {
    let secrets = rows.len();
    let ends = ends(sorted, rows.iter().sum());
    let shares = shares(sorted, rows, &ends);
    let right = shares
        .chunks(secrets)
        .map(|shares| shares.iter().copied().fold(0.0, f64::max));
    let telling = right.sum::<f64>();
    (telling, Cut::Bins(ends, logarithms(shares)))
}

/// Upper ends of bins with about equally many rows, but of the last.
fn ends(sorted: &Sorted, total: u64) -> Vec<f64> {
    let most = (2.0 * (total as f64).cbrt()).clamp(2.0, 256.0);
    let a_bin = (total as f64 / most).ceil() as u64;
    let (mut ends, mut here) = (Vec::new(), 0);
    let mut previous = sorted[0].0;
    for group in sorted.chunk_by(|a, b| a.0 == b.0) {
        if here >= a_bin {
            ends.push(0.5 * previous + 0.5 * group[0].0);
            here = 0;
        }
        here += group.iter().map(|&(_, _, count)| count).sum::<u64>();
        previous = group[0].0;
    }
    ends
}

/// The share of each secret's rows in each bin, bins × secrets.
fn shares(sorted: &Sorted, rows: &[u64], ends: &[f64]) -> Vec<f64> {
    const PSEUDO: f64 = 0.5;
    let (secrets, bins) = (rows.len(), ends.len() + 1);
    let mut counts = vec![0u64; bins * secrets];
    for &(value, secret, count) in sorted {
        counts[bin(ends, value) * secrets + secret] += count;
    }
    let share = |(at, count)| {
        let rows = rows[at % secrets] as f64 + PSEUDO * bins as f64;
        (count as f64 + PSEUDO) / rows
    };
    counts.into_iter().enumerate().map(share).collect()
}

/// The bin of a value.
fn bin(ends: &[f64], value: f64) -> usize {
    ends.partition_point(|&end| end < value)
}

fn logarithms(shares: Vec<f64>) -> Vec<f64> {
    shares.into_iter().map(f64::ln).collect()
}

impl Scorer for Threshold {
    fn name(&self) -> &str {
        "threshold"
    }

    fn memorizes(&self) -> bool {
        false
    }

    /// Columns are numbered from 1 among the numeric ones.
    fn parameters(&self) -> Parameters {
        parameters([("column", Parameter::Count(self.column as u64 + 1))])
    }

    fn description(&self) -> String {
        let name = leakgauge_base::error::shorten(&self.name);
        match &self.cut {
            Cut::At(..) => format!("column {name} alone"),
            Cut::Bins(ends, _) => format!("column {name} alone, in {} bins", ends.len() + 1),
        }
    }

    fn score(&self, observations: &Observations, ids: &[u32], scores: &mut [f64]) {
        for (&symbol, row) in ids.iter().zip(scores.chunks_mut(self.secrets)) {
            let value = observations.numbers(symbol)[self.column];
            match &self.cut {
                Cut::At(cut, side) => {
                    // Quarters, because the difference of scores may overflow.
                    let score = side * (0.25 * value - 0.25 * cut);
                    row.copy_from_slice(&[score, -score]);
                }
                Cut::Bins(ends, scores) => {
                    let bin = bin(ends, value) * self.secrets;
                    row.copy_from_slice(&scores[bin..bin + self.secrets]);
                }
            }
        }
    }

    fn refit(&self, observations: &Observations, fit: &Counts) -> Result<Arc<dyn Scorer>, String> {
        let mut again = self.clone();
        if let Cut::Bins(ends, scores) = &mut again.cut {
            let sorted = sorted(observations, fit, self.column);
            *scores = logarithms(shares(&sorted, fit.rows(), ends));
        }
        Ok(Arc::new(again))
    }
}
