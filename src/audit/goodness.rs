//! Goodness of fit of a log to a claimed mechanism: the claim fixes the whole law, so it can be tested
//! as such. The p-value stands beside the verdict and never changes it.

use std::collections::{HashMap, HashSet};

use leakgauge_exact::mechanism::{BoundMechanism, Law};
use leakgauge_log::Log;
use leakgauge_log::observations::{ColumnType, NUMBER};
use leakgauge_stats::goodness_of_fit::{chi_squared_test, kolmogorov_test};
use leakgauge_stats::multiplicity::holm;

/// Goodness of fit of a log to a claimed mechanism. It never changes the verdict.
#[derive(Debug, Clone, PartialEq)]
pub struct Fit {
    /// Smallest p-value over secrets, Holm-corrected; `None` if the law cannot be compared.
    pub p_value: Option<f64>,
    /// The test, or why there is none.
    pub test: FitTest,
}

/// How the fit of a log was tested.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FitTest {
    /// One test a secret, or a secret and a column.
    Tested {
        /// The first of them; `None` if there were no rows.
        test: Option<GoodnessTest>,
        /// Whether there is one a column too.
        columns: bool,
    },
    /// None.
    Untested(Untested),
}

/// A test of goodness of fit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GoodnessTest {
    /// Pearson's, of labels or integers.
    ChiSquared,
    /// Pearson's, of numbers rounded as the log rounds them.
    ChiSquaredRounded,
    /// Kolmogorov's.
    Kolmogorov,
}

/// Why the fit of a log was not tested.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Untested {
    /// The log was read for its scores.
    Scores,
    /// The tests assume independent rows.
    DependentRows,
    /// Numbers of observation columns differ.
    Columns {
        /// Of the mechanism.
        mechanism: usize,
        /// Of the log.
        log: usize,
    },
    /// The law is one of numbers, and observations are not.
    NotNumbers,
    /// The law is not one of a column.
    NotOfAColumn,
    /// The mechanism does not know its law, for this reason.
    UnknownLaw(&'static str),
}

impl Fit {
    /// No test, and why.
    pub(super) fn untested(reason: Untested) -> Fit {
        Fit {
            p_value: None,
            test: FitTest::Untested(reason),
        }
    }
}

/// Tests every secret's rows against the law that the mechanism gives it; Holm over secrets, and over
/// columns where the law is given column by column.
pub(super) fn fit(log: &Log, mechanism: &dyn BoundMechanism) -> Fit {
    if log.facts.scores.is_some() {
        return Fit::untested(Untested::Scores);
    }
    let tested = match tests(log, mechanism) {
        Ok(tested) => tested,
        Err(reason) => return Fit::untested(reason),
    };
    let p_values: Vec<f64> = tested.iter().map(|&(p, _)| p).collect();
    Fit {
        p_value: holm(&p_values).into_iter().reduce(f64::min),
        test: FitTest::Tested {
            test: tested.first().map(|&(_, test)| test),
            columns: mechanism.columns().len() > 1 && tested.len() > log.secrets.len(),
        },
    }
}

/// An observation of the log that a claimed mechanism cannot produce under its secret, if there is one:
/// the log then is not its, with certainty.
pub(super) fn impossible(log: &Log, mechanism: &dyn BoundMechanism) -> Option<String> {
    if log.facts.scores.is_some() {
        return None;
    }
    (0..log.secrets.len()).find_map(|secret| {
        let law = match mechanism.law(secret) {
            Law::Labels(law) => law,
            Law::Unknown(_) => return None,
            Law::Integer(_) | Law::Real(_) | Law::Coordinates(_) => return word(log, secret),
        };
        let possible: HashSet<&str> = law
            .iter()
            .filter(|(_, p)| *p > 0.0)
            .map(|(label, _)| label.as_str())
            .collect();
        let cells = log
            .counts
            .cells()
            .iter()
            .filter(|cell| cell.secret as usize == secret);
        cells
            .map(|cell| log.observations.label(cell.symbol))
            .find(|label| !possible.contains(label.as_str()))
    })
}

/// A word among the numbers of a secret, if there is one.
fn word(log: &Log, secret: usize) -> Option<String> {
    let words = log.observations.words_beside_numbers();
    let cells = log.counts.cells().iter();
    let mut own = cells.filter(|cell| cell.secret as usize == secret);
    own.find_map(|cell| {
        let mut labels = words.iter().flatten();
        let is_word = |&at: &usize| log.observations.label_at(cell.symbol, at) != NUMBER;
        let at = labels.find(|&at| is_word(at))?;
        Some(log.observations.label_at(cell.symbol, *at).to_owned())
    })
}

/// A p-value and its test.
type Tested = (f64, GoodnessTest);

fn tests(log: &Log, mechanism: &dyn BoundMechanism) -> Result<Vec<Tested>, Untested> {
    let (claimed, logged) = (mechanism.columns().len(), log.observations.columns().len());
    if claimed != logged {
        return Err(Untested::Columns {
            mechanism: claimed,
            log: logged,
        });
    }
    let mut tested = Vec::new();
    let secrets = (0..log.secrets.len()).filter(|&secret| log.counts.rows()[secret] > 0);
    for secret in secrets {
        match mechanism.law(secret) {
            Law::Coordinates(laws) => {
                for (column, law) in laws.iter().enumerate() {
                    tested.push(test(log, secret, column, law)?);
                }
            }
            law => tested.push(test(log, secret, 0, &law)?),
        }
    }
    Ok(tested)
}

/// Tests the rows of a secret against a law: of whole observations for labels, of a column else.
fn test(log: &Log, secret: usize, column: usize, law: &Law) -> Result<Tested, Untested> {
    if let Law::Labels(law) = law {
        return Ok((labels_p_value(log, secret, law), GoodnessTest::ChiSquared));
    }
    let values = || numbers(log, secret, column).ok_or(Untested::NotNumbers);
    let grid = Grid::of(log, column);
    match law {
        Law::Integer(cdf) => {
            let spacing = grid.unwrap_or(Grid::INTEGERS).integers();
            Ok((
                grid_p_value(&values()?, spacing, cdf),
                GoodnessTest::ChiSquared,
            ))
        }
        Law::Real(cdf) => Ok(match grid {
            Some(grid) => (
                grid_p_value(&values()?, grid, cdf),
                GoodnessTest::ChiSquaredRounded,
            ),
            None => (
                kolmogorov_test(&values()?, cdf).p_value,
                GoodnessTest::Kolmogorov,
            ),
        }),
        Law::Unknown(reason) => Err(Untested::UnknownLaw(reason)),
        Law::Labels(_) | Law::Coordinates(_) => Err(Untested::NotOfAColumn),
    }
}

fn labels_p_value(log: &Log, secret: usize, law: &[(String, f64)]) -> f64 {
    let position: HashMap<&str, usize> = law
        .iter()
        .enumerate()
        .map(|(at, (label, _))| (label.as_str(), at))
        .collect();
    let mut observed = vec![0; law.len()];
    for cell in log
        .counts
        .cells()
        .iter()
        .filter(|cell| cell.secret as usize == secret)
    {
        let label = log.observations.label(cell.symbol);
        match position.get(label.as_str()) {
            Some(&at) => observed[at] += cell.count,
            None => return 0.0,
        }
    }
    let probabilities: Vec<f64> = law.iter().map(|&(_, p)| p).collect();
    chi_squared_test(&observed, &probabilities).p_value
}

/// The number in a column of an observation, if it is one.
fn number(log: &Log, symbol: u32, column: usize) -> Option<f64> {
    let observations = &log.observations;
    match observations.columns()[column].kind {
        ColumnType::Numeric | ColumnType::Mixed => observations.number_in(symbol, column),
        ColumnType::Categorical => {
            let before = observations.columns()[..column].iter();
            let labels = before.filter(|column| column.kind != ColumnType::Numeric);
            observations.label_at(symbol, labels.count()).parse().ok()
        }
    }
}

/// The values of a secret in a column, ascending, with their counts; `None` if some are not numbers.
fn numbers(log: &Log, secret: usize, column: usize) -> Option<Vec<(f64, u64)>> {
    let cells = log
        .counts
        .cells()
        .iter()
        .filter(|cell| cell.secret as usize == secret);
    let mut values = cells
        .map(|cell| Some((number(log, cell.symbol, column)?, cell.count)))
        .collect::<Option<Vec<_>>>()?;
    values.sort_unstable_by(|a: &(f64, u64), b| a.0.total_cmp(&b.0));
    values.dedup_by(|next, kept| {
        let same = next.0 == kept.0;
        if same {
            kept.1 += next.1;
        }
        same
    });
    Some(values)
}

/// Whether a column holds some number more than once.
fn has_ties(log: &Log, column: usize) -> bool {
    if log.observations.columns().len() == 1 {
        return (log.observations.len() as u64) < log.counts.total();
    }
    let mut values: Vec<u64> = (0..log.observations.len() as u32)
        .filter_map(|symbol| number(log, symbol, column).map(f64::to_bits))
        .collect();
    values.sort_unstable();
    values.dedup();
    (values.len() as u64) < log.counts.total()
}

/// How the log records a real number: as the multiple of `width` that it is rounded to, or as the
/// number of the bin of that width that it falls into.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Grid {
    width: f64,
    /// Values are bin numbers.
    binned: bool,
    /// The law lives on the integers: no rounding happened.
    integers: bool,
}

impl Grid {
    const INTEGERS: Grid = Grid {
        width: 1.0,
        binned: false,
        integers: true,
    };

    /// The grid of a column of a log; `None` if it is written in full.
    fn of(log: &Log, at: usize) -> Option<Grid> {
        let column = &log.observations.columns()[at];
        if let Some(width) = column.resolution {
            return Some(Grid {
                width,
                binned: true,
                integers: false,
            });
        }
        let decimals = match column.kind {
            ColumnType::Numeric | ColumnType::Mixed => log.facts.decimals[at]?,
            ColumnType::Categorical => 0,
        };
        (decimals <= 15 && has_ties(log, at)).then(|| Grid {
            width: 10f64.powi(-(decimals as i32)),
            binned: false,
            integers: false,
        })
    }

    fn integers(self) -> Grid {
        Grid {
            integers: true,
            ..self
        }
    }

    /// The number of a recorded value on the grid.
    fn number(self, value: f64) -> f64 {
        if self.binned {
            value
        } else {
            (value / self.width).round()
        }
    }

    /// The largest unrecorded value that is recorded as number m or less.
    fn upper_edge(self, m: f64) -> f64 {
        match (self.binned, self.integers) {
            // The last integer before the next bin.
            (true, true) => ((m + 1.0) * self.width).ceil() - 1.0,
            (true, false) => (m + 1.0) * self.width,
            (false, true) => m * self.width,
            (false, false) => (m + 0.5) * self.width,
        }
    }
}

/// χ² of values on a grid against a law that is rounded alike. Cells are fixed by the law: about 200
/// between its extreme quantiles, each whole grid steps wide.
fn grid_p_value(values: &[(f64, u64)], grid: Grid, cdf: &dyn Fn(f64) -> f64) -> f64 {
    const CELLS: f64 = 200.0;
    let on_grid = |x: f64| (x / grid.width).floor();
    let (low, high) = (
        on_grid(quantile(cdf, 1e-4)),
        on_grid(quantile(cdf, 1.0 - 1e-4)),
    );
    let step = ((high - low) / CELLS).ceil().max(1.0);
    let cells = ((high - low) / step).ceil() as usize + 1;
    let edge = |cell: usize| low + step * cell as f64;
    let mut observed = vec![0u64; cells + 1];
    for &(value, count) in values {
        let cell = ((grid.number(value) - low) / step)
            .ceil()
            .clamp(0.0, cells as f64);
        observed[cell as usize] += count;
    }
    let below: Vec<f64> = (0..cells)
        .map(|cell| cdf(grid.upper_edge(edge(cell))))
        .collect();
    let mut probabilities = Vec::with_capacity(cells + 1);
    let mut previous = 0.0;
    for &below in &below {
        probabilities.push((below - previous).max(0.0));
        previous = below;
    }
    probabilities.push((1.0 - previous).max(0.0));
    // The law may be on a coarser grid than the log (integers), which leaves cells empty: the test
    // merges them with their neighbors.
    chi_squared_test(&observed, &probabilities).p_value
}

/// The smallest x with cdf(x) ≥ p, to rounding, by bisection.
fn quantile(cdf: &dyn Fn(f64) -> f64, p: f64) -> f64 {
    let mut reach = 1.0;
    while reach < 1e300 && (cdf(-reach) >= p || cdf(reach) < p) {
        reach *= 2.0;
    }
    let (mut low, mut high) = (-reach, reach);
    for _ in 0..1100 {
        let middle = 0.5 * (low + high);
        if middle <= low || middle >= high {
            break;
        }
        if cdf(middle) >= p {
            high = middle
        } else {
            low = middle
        }
    }
    high
}

#[cfg(test)]
mod tests {
    use super::*;

    fn laplace(x: f64) -> f64 {
        if x < 0.0 {
            0.5 * x.exp()
        } else {
            1.0 - 0.5 * (-x).exp()
        }
    }

    #[test]
    fn the_quantile_inverts_the_distribution_function() {
        for p in [1e-4, 0.3, 0.5, 0.999] {
            assert!((laplace(quantile(&laplace, p)) - p).abs() < 1e-12);
        }
    }

    /// A Laplace sample rounded to one decimal: its own law is kept when rounded alike, and a law of
    /// 1.2 times the scale is refused. Quantile-spaced sample, so no chance is involved.
    #[test]
    fn rounding_is_part_of_the_law() {
        let n = 50_000;
        let mut counts: std::collections::BTreeMap<i64, u64> = std::collections::BTreeMap::new();
        for i in 0..n {
            let value = quantile(&laplace, (f64::from(i) + 0.5) / f64::from(n));
            *counts.entry((value * 10.0).round() as i64).or_default() += 1;
        }
        let values: Vec<(f64, u64)> = counts
            .into_iter()
            .map(|(tenths, count)| (tenths as f64 / 10.0, count))
            .collect();
        let grid = Grid {
            width: 0.1,
            binned: false,
            integers: false,
        };
        assert!(grid_p_value(&values, grid, &laplace) > 0.99);
        assert!(grid_p_value(&values, grid, &|x| laplace(x / 1.2)) < 1e-6);
    }
}
