//! How well single columns tell the worst pair apart, with limits.
//!
//! *Choice.* Columns are chosen on rows that judge nothing here: those by which two secrets differ most there. *Judgement.*
//! On the certification rows the Kolmogorov distance of each has a limit of the total variation
//! ([`band`]), at an equal part of the level that all of them have: they hold together. What an
//! observer of one column sees is a part of what an observer of the row sees, so each is a limit of the pair as well.

use crate::audit::pair::Pair;
use crate::audit::prepare::{MOST_ROWS_BY_COLUMN, Prepared};
use leakgauge_attack::measure::plug_in::{OfPair, kolmogorov_distance_in};
use leakgauge_base::parallel;
use leakgauge_log::observations::{Counts, Observations};
use leakgauge_stats::band;

/// Limits of the total variation of single columns.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct ColumnLimits {
    /// The two secrets.
    pub secrets: Pair,
    /// The certification rows of either.
    pub rows: [u64; 2],
    /// The columns, the largest limit first.
    pub columns: Vec<ColumnLimit>,
    /// The level at which all of them hold together.
    pub alpha: f64,
}

/// A limit of the total variation of one column.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct ColumnLimit {
    /// The name of the column.
    pub name: String,
    /// The Kolmogorov distance of the certification rows.
    pub distance: f64,
    /// The total variation is at least this; all columns together.
    pub lower: f64,
}

/// What was measured of the chosen columns: the rows of either secret, and the distance of each.
#[derive(Debug, Clone)]
pub(crate) struct Distances {
    rows: [u64; 2],
    columns: Vec<(usize, f64)>,
}

/// Columns that are limited.
const CHOSEN: usize = 5;
/// With fewer columns an attack on one of them is among those that are tried.
const MANY: usize = 10;
/// Distances are compared on so many rows times columns at most when columns are chosen.
const MOST_WORK: usize = 20_000_000;

/// Whether columns are limited. No row is looked at.
pub(crate) fn applies(prepared: &Prepared) -> bool {
    let is_asked = prepared.independence.is_of_rows() && !prepared.options.quick;
    let log = prepared.log;
    is_asked
        && log.observations.dimensions() >= MANY
        && log.secrets.len() > 1
        && log.counts.total() <= MOST_ROWS_BY_COLUMN
}

/// The columns by which two secrets differ most on rows that do not judge.
pub(crate) fn choose(prepared: &Prepared, secrets: [u32; 2]) -> Vec<usize> {
    let (observations, split) = (&prepared.log.observations, &prepared.split);
    let columns = observations.dimensions();
    let most = MOST_WORK / columns;
    let of_pair = |counts: &Counts| -> Vec<OfPair> { measured(counts, secrets) };
    let mut rows = of_pair(&split.fit);
    rows.extend(of_pair(&split.tune));
    // Every so many: cells stand in the order of their numbers.
    let rows: Vec<OfPair> = rows
        .iter()
        .step_by(rows.len().div_ceil(most).max(1))
        .copied()
        .collect();
    let distances = parallel::map(columns, |column| {
        kolmogorov_distance_in(observations, &rows, column)
    });
    let mut order: Vec<usize> = (0..columns).collect();
    order.sort_by(|&x, &y| distances[y].total_cmp(&distances[x]).then(x.cmp(&y)));
    order.truncate(CHOSEN);
    order
}

/// Measures the chosen columns on the certification rows.
pub(crate) fn judge(prepared: &Prepared, (secrets, columns): (&[u32; 2], &[usize])) -> Distances {
    let certify = &prepared.split.certify;
    let rows = measured(certify, *secrets);
    let of_column = |&column: &usize| {
        (
            column,
            kolmogorov_distance_in(&prepared.log.observations, &rows, column),
        )
    };
    Distances {
        rows: secrets.map(|secret| certify.rows()[secret as usize]),
        columns: columns.iter().map(of_column).collect(),
    }
}

impl Distances {
    /// The limits at this level, in the order of the columns: all hold together.
    pub fn limits(&self, alpha: f64) -> impl Iterator<Item = f64> + '_ {
        let [a, b] = self.rows;
        let each = alpha / self.columns.len().max(1) as f64;
        let limit = move |distance: f64| match a > 0 && b > 0 && each > 0.0 {
            true => band::total_variation_at_least(distance, a, b, each),
            false => 0.0,
        };
        self.columns.iter().map(move |column| limit(column.1))
    }

    /// The limits for the report.
    pub fn reported(&self, secrets: Pair, observations: &Observations, alpha: f64) -> ColumnLimits {
        let limits = self.columns.iter().zip(self.limits(alpha));
        let mut columns: Vec<ColumnLimit> = limits
            .map(|(&(column, distance), lower)| ColumnLimit {
                name: observations.numeric_name(column),
                distance,
                lower,
            })
            .collect();
        columns.sort_by(|x, y| y.distance.total_cmp(&x.distance));
        ColumnLimits {
            secrets,
            rows: self.rows,
            columns,
            alpha,
        }
    }
}

fn measured(counts: &Counts, secrets: [u32; 2]) -> Vec<OfPair> {
    let cells = counts.cells().iter();
    let of_pair = cells.filter(|cell| secrets.contains(&cell.secret));
    of_pair
        .map(|cell| (cell.symbol, cell.secret == secrets[0], cell.count))
        .collect()
}

#[cfg(test)]
mod tests;
