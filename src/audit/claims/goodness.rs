//! Goodness of fit of a log to a claimed mechanism: the claim fixes the whole law, so it can be tested
//! as such. The p-value stands beside the verdict and never changes it.
//!
//! Real numbers are tested as they were recorded: on the grid that the values of all secrets together show, and under
//! the convention of rounding that fits best ([`leakgauge_stats::grid`]).

use std::collections::{HashMap, HashSet};

use crate::audit::claims::written::Written;
use leakgauge_exact::mechanism::{BoundMechanism, Law};
use leakgauge_log::Log;
use leakgauge_log::observations::{ColumnType, NUMBER};
use leakgauge_stats::bisection::quantile;
use leakgauge_stats::goodness_of_fit::chi_squared_test;
use leakgauge_stats::grid::{self, Claimed, Convention, Grid};
use leakgauge_stats::multiplicity::holm;

/// Goodness of fit of a log to a claimed mechanism. It never changes the verdict.
#[derive(Debug, Clone, PartialEq)]
pub struct Fit {
    /// Smallest p-value over secrets, Holm-corrected; `None` if the law cannot be compared.
    pub p_value: Option<f64>,
    /// The test, or why there is none.
    pub test: FitTest,
    /// The grids that real numbers were found to be recorded on, one for each column of them.
    pub grids: Vec<RecordedGrid>,
}

/// How a column's numbers were recorded, as it was recognized from their values.
#[derive(Debug, Clone, PartialEq)]
pub struct RecordedGrid {
    /// The name of the column.
    pub column: String,
    /// The grid.
    pub grid: Grid,
    /// How numbers became those of the grid: the convention that fits the claim best. It means nothing for numbers
    /// written in full.
    pub convention: Convention,
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
    pub(crate) fn untested(reason: Untested) -> Fit {
        Fit {
            p_value: None,
            test: FitTest::Untested(reason),
            grids: Vec::new(),
        }
    }
}

/// Tests every secret's rows against the law that the mechanism gives it; Holm over secrets, and over
/// columns where the law is given column by column.
pub(crate) fn fit(log: &Log, mechanism: &dyn BoundMechanism) -> Fit {
    if log.facts.scores.is_some() {
        return Fit::untested(Untested::Scores);
    }
    let tested = match tests(log, mechanism) {
        Ok(tested) => tested,
        Err(reason) => return Fit::untested(reason),
    };
    let p_values: Vec<f64> = tested.iter().map(|tested| tested.p_value).collect();
    Fit {
        p_value: holm(&p_values).into_iter().reduce(f64::min),
        test: FitTest::Tested {
            test: tested.first().map(|tested| tested.test),
            columns: mechanism.columns().len() > 1 && is_by_column(mechanism),
        },
        grids: tested
            .into_iter()
            .filter_map(|tested| tested.grid)
            .collect(),
    }
}

fn is_by_column(mechanism: &dyn BoundMechanism) -> bool {
    mechanism.secret_count() > 0 && matches!(mechanism.law(0), Law::Coordinates(_))
}

/// An observation that a claimed mechanism cannot produce under its secret: the log then is not its, with certainty,
/// unless it writes observations in another way.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Impossible {
    /// The observation.
    pub label: String,
    /// One of the mechanism, where no observation of the log is one of its.
    pub example: Option<String>,
}

/// One of the log, if there is one.
pub(crate) fn impossible(log: &Log, mechanism: &dyn BoundMechanism) -> Option<Impossible> {
    if log.facts.scores.is_some() {
        return None;
    }
    let written = Written::of(log, mechanism);
    let certain = |label| Impossible {
        label,
        example: None,
    };
    (0..log.secrets.len()).find_map(|secret| {
        let law = match mechanism.law(secret) {
            Law::Labels(law) => law,
            Law::Unknown(_) => return None,
            Law::Integer(_) | Law::Real(_) | Law::Coordinates(_) => {
                return word(log, secret).map(certain);
            }
        };
        let possible: HashSet<&str> = law
            .iter()
            .filter(|(_, p)| *p > 0.0)
            .map(|(label, _)| label.as_str())
            .collect();
        let cells = log.counts.cells().iter();
        let label = cells
            .filter(|cell| cell.secret as usize == secret)
            .map(|cell| written.label(log, mechanism, cell.symbol))
            .find(|label| !possible.contains(label.as_str()))?;
        let example = possible.iter().min().map(|example| (*example).to_owned());
        Some(Impossible {
            label,
            example: example.filter(|_| written == Written::Unknown),
        })
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

/// A test of a secret, or of all secrets together.
struct Tested {
    p_value: f64,
    test: GoodnessTest,
    /// The grid that was recognized for it.
    grid: Option<RecordedGrid>,
}

impl Tested {
    fn chi_squared(p_value: f64) -> Self {
        Tested {
            p_value,
            test: GoodnessTest::ChiSquared,
            grid: None,
        }
    }
}

fn tests(log: &Log, mechanism: &dyn BoundMechanism) -> Result<Vec<Tested>, Untested> {
    let (claimed, logged) = (mechanism.columns().len(), log.observations.columns().len());
    let written = Written::of(log, mechanism);
    let is_whole = matches!(written, Written::Otherwise(_));
    if claimed != logged && !is_whole {
        return Err(Untested::Columns {
            mechanism: claimed,
            log: logged,
        });
    }
    // One list of laws for each column, or for whole observations.
    let mut by_column: Vec<Vec<(usize, Law)>> = Vec::new();
    for secret in (0..log.secrets.len()).filter(|&secret| log.counts.rows()[secret] > 0) {
        let laws = match mechanism.law(secret) {
            Law::Coordinates(laws) => laws,
            law => vec![law],
        };
        by_column.resize_with(laws.len().max(by_column.len()), Vec::new);
        for (column, law) in by_column.iter_mut().zip(laws) {
            column.push((secret, law));
        }
    }
    let mut tested = Vec::new();
    for (column, laws) in by_column.iter().enumerate() {
        let label = |symbol| written.label(log, mechanism, symbol);
        tested.extend(test(log, column, laws, &label)?);
    }
    Ok(tested)
}

/// Tests the rows of secrets against their laws: of whole observations for labels, of a column else. A recorder
/// turns the real numbers of all secrets into those of one grid, so that they are one test.
fn test(
    log: &Log,
    column: usize,
    laws: &[(usize, Law)],
    label: &dyn Fn(u32) -> String,
) -> Result<Vec<Tested>, Untested> {
    let mut tested = Vec::new();
    let mut real: Vec<Claimed> = Vec::new();
    for (secret, law) in laws {
        let values = || numbers(log, *secret, column).ok_or(Untested::NotNumbers);
        let bins = log.observations.columns()[column].resolution;
        match law {
            Law::Labels(law) => {
                let p_value = labels_p_value(log, *secret, law, label);
                tested.push(Tested::chi_squared(p_value));
            }
            Law::Integer(cdf) => {
                let spacing = Spacing::of_integers(log, column);
                tested.push(Tested::chi_squared(spaced_p_value(
                    &values()?,
                    spacing,
                    cdf,
                )));
            }
            Law::Real(cdf) => match bins {
                Some(width) => tested.push(Tested {
                    test: GoodnessTest::ChiSquaredRounded,
                    ..Tested::chi_squared(spaced_p_value(&values()?, Spacing::bins(width), cdf))
                }),
                None => real.push((values()?, cdf)),
            },
            Law::Unknown(reason) => return Err(Untested::UnknownLaw(reason)),
            Law::Coordinates(_) => return Err(Untested::NotOfAColumn),
        }
    }
    if !real.is_empty() {
        tested.push(recorded(log, column, &real));
    }
    Ok(tested)
}

/// Tests real numbers of all secrets on the grid that they were recorded on.
fn recorded(log: &Log, column: usize, laws: &[Claimed]) -> Tested {
    let mut values: Vec<(f64, u64)> = laws.iter().flat_map(|law| law.0.iter().copied()).collect();
    merge_equal(&mut values);
    let grid = grid::recognize(&values);
    let (p_value, convention) = grid::fit(laws, grid);
    Tested {
        p_value,
        test: match grid {
            Grid::Full => GoodnessTest::Kolmogorov,
            Grid::Step { .. } | Grid::Digits(_) => GoodnessTest::ChiSquaredRounded,
        },
        grid: Some(RecordedGrid {
            column: log.observations.columns()[column].name.clone(),
            grid,
            convention,
        }),
    }
}

fn labels_p_value(
    log: &Log,
    secret: usize,
    law: &[(String, f64)],
    label: &dyn Fn(u32) -> String,
) -> f64 {
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
        match position.get(label(cell.symbol).as_str()) {
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
    merge_equal(&mut values);
    Some(values)
}

/// Sorts values and adds up the counts of equal ones.
fn merge_equal(values: &mut Vec<(f64, u64)>) {
    values.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
    values.dedup_by(|next, kept| {
        let same = next.0 == kept.0;
        if same {
            kept.1 += next.1;
        }
        same
    });
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

/// Equally spaced numbers that a law's own are recorded as: the numbers themselves if the law lives on the integers,
/// or the bins of this width that they fall into.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Spacing {
    width: f64,
    /// Values are bin numbers.
    binned: bool,
    /// The law lives on the integers: no rounding happened.
    integers: bool,
}

impl Spacing {
    /// How a column records a law on the integers.
    fn of_integers(log: &Log, at: usize) -> Spacing {
        let column = &log.observations.columns()[at];
        let decimals = match column.kind {
            ColumnType::Numeric | ColumnType::Mixed => log.facts.decimals[at],
            ColumnType::Categorical => Some(0),
        };
        let width = match (column.resolution, decimals) {
            (Some(width), _) => width,
            (None, Some(decimals)) if decimals <= 15 && has_ties(log, at) => {
                10f64.powi(-(decimals as i32))
            }
            _ => 1.0,
        };
        Spacing {
            width,
            binned: column.resolution.is_some(),
            integers: true,
        }
    }

    /// Bins of real numbers.
    fn bins(width: f64) -> Spacing {
        Spacing {
            width,
            binned: true,
            integers: false,
        }
    }

    /// The number of a recorded value.
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
            (false, _) => m * self.width,
        }
    }
}

/// χ² of spaced values against a law that is recorded alike. Cells are fixed by the law: about 200
/// between its extreme quantiles, each whole grid steps wide.
fn spaced_p_value(values: &[(f64, u64)], spacing: Spacing, cdf: &dyn Fn(f64) -> f64) -> f64 {
    const CELLS: f64 = 200.0;
    const EXACT: (f64, f64) = (0.0, 0.0);
    let on_grid = |x: f64| (x / spacing.width).floor();
    let (low, high) = (
        on_grid(quantile(cdf, 1e-4, EXACT)),
        on_grid(quantile(cdf, 1.0 - 1e-4, EXACT)),
    );
    // A law that is wider than numbers reach in widths of the grid: no cells, no test.
    if !(high - low).is_finite() {
        return 1.0;
    }
    let step = ((high - low) / CELLS).ceil().max(1.0);
    let cells = ((high - low) / step).ceil() as usize + 1;
    let edge = |cell: usize| low + step * cell as f64;
    let mut observed = vec![0u64; cells + 1];
    for &(value, count) in values {
        let cell = ((spacing.number(value) - low) / step)
            .ceil()
            .clamp(0.0, cells as f64);
        observed[cell as usize] += count;
    }
    let below: Vec<f64> = (0..cells)
        .map(|cell| cdf(spacing.upper_edge(edge(cell))))
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

#[cfg(test)]
mod tests;
