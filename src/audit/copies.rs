//! Copies of rows: a row that was written twice would be learned from and judged, and logs without a leak
//! would be certified to have one.
//!
//! Three cases are told apart. Where all cells (a secret with an observation) have a multiple of g rows, the
//! log was read g times, whatever the law: each cell keeps its g-th part. Where some multiplicity is commoner
//! than independent rows of any law allow ([`copies::multiplicities`]) and the values are so fine that rows hardly ever
//! tie by themselves, equal rows of a secret are copies, and one of them is kept. Where values are
//! coarser, nobody can say which of the equal rows are copies: numbers are refused, labels and recurring
//! integers are audited with the doubt in the verdict. A suspicion alone ([`copies::coincidences`]) changes
//! nothing but the verdict's words.
//!
//! Rows that tie within secrets and not across them ([`copies::of_one_secret`]) are copies, or they are the strongest
//! leak there is: a mechanism that draws from few values, which differ between secrets. Only whole runs of rows that
//! come again tell the one from the other. Without these nothing is left out, and the verdict says both.
//!
//! # Conditions
//! What is dropped does not depend on what is a leak: independent rows of fine values never tie, so that
//! without copies nothing is dropped. Whether values are fine is asked given the secret: a column that is constant
//! for each secret makes no row different from another one of its secret.

use std::borrow::Cow;

use hashbrown::HashMap;

use crate::audit::warnings::warning::Warning;
use leakgauge_base::error::{Error, Place, Result, file_listing};
use leakgauge_base::naming::setting;
use leakgauge_log::observations::{Cell, ColumnType, Counts, ObservationKind};
use leakgauge_log::{Log, RowOrder};
use leakgauge_stats::copies::{self, GridCell};
use leakgauge_stats::grid::{self, Grid};

/// Independent rows are taken for copies at most about this often.
const ALARM: f64 = 1e-4;
/// Cells with more rows than this are a law's own atoms.
const TALLEST: u64 = 6;
/// Secrets with fewer rows say nothing: their cells hold a large part of them.
const MIN_ROWS: u64 = 100;
/// Chance divides the rows of all cells that could have had another number of rows with at most this probability.
const CHANCE: f64 = 1e-12;
/// Cells that could, at least: few cells may have as many rows each because somebody planned it.
const MIN_CELLS: f64 = 20.0;
/// Rows of fine values may tie by themselves on at most this part of 1/√rows: a quarter of the width that
/// limits have anyway.
const MAX_TIES: f64 = 0.25;
/// Rows that two logs share, at least, before they are copies.
const MIN_SHARED: u64 = 20;
/// Logs whose cells are all equal are one log where that has at most this probability.
const SAME_LOG: f64 = 1e-9;

/// A log without its copies, and what was found.
///
/// # Errors
/// Copies that cannot be told from rows that are equal by chance.
pub(super) fn without_copies(mut log: Cow<'_, Log>) -> Result<(Cow<'_, Log>, Vec<Warning>)> {
    // Units and numbers of rows tell what is a copy.
    if log.units.is_some() || log.facts.row_id.is_some() {
        return Ok((log, Vec::new()));
    }
    let suspected = suspected_in_fit(&log)?;
    let mut warnings = Vec::new();
    let times = times_read(&log.counts);
    if times > 1 {
        warnings.push(Warning::ReadSeveralTimes { times });
        keep(log.to_mut(), |count| count / times);
    }
    let found = copies::multiplicities(informative(&log.counts).map(|cell| cell.count));
    if found.p_value < ALARM {
        if log.observations.kind() == ObservationKind::Discrete {
            let copies = found.copies.round() as u64;
            warnings.push(Warning::CopiesSuspected { copies });
        } else if !is_fine(&log) {
            return Err(undecidable(&log, found.copies));
        } else {
            warnings.push(drop_ties(log.to_mut()));
        }
    } else if ties_of_one_secret(&log) < ALARM && is_fine(&log) {
        warnings.push(match log.facts.repeated_runs.runs {
            0 => Warning::TiesOfOneSecret { rows: ties(&log) },
            _ => drop_ties(log.to_mut()),
        });
    } else if ties_of_one_secret(&log) < ALARM && are_few_of_many(&log) {
        warnings.push(Warning::TiesOfOneSecret { rows: ties(&log) });
    } else if let Some(copies) = suspicion(&log) {
        warnings.push(Warning::CopiesSuspected { copies });
    }
    if let Some(shared) = shared_with_fit(&log) {
        warnings.push(Warning::SharedRows { rows: shared });
        drop_shared(log.to_mut());
    } else if let Some(with) = suspected {
        warnings.push(Warning::SharedRowsSuspected { with });
    }
    Ok((log, warnings))
}

/// Cells of secrets with enough rows to say something.
fn informative(counts: &Counts) -> impl Iterator<Item = &Cell> {
    let rows = counts.rows();
    counts
        .cells()
        .iter()
        .filter(|cell| rows[cell.secret as usize] >= MIN_ROWS)
}

/// The largest number that divides the rows of every cell; 1 where chance could have done that.
fn times_read(counts: &Counts) -> u64 {
    let divisor = counts
        .cells()
        .iter()
        .fold(0, |sum, cell| gcd(sum, cell.count));
    let mut free = vec![0u64; counts.secrets()];
    informative(counts).for_each(|cell| free[cell.secret as usize] += 1);
    // The last cell of a secret has what the others leave.
    let free: u64 = free.iter().map(|cells| cells.saturating_sub(1)).sum();
    let divisor = divisor.max(1);
    let enough = (CHANCE.ln() / divided(divisor).ln()).max(MIN_CELLS);
    if free as f64 >= enough { divisor } else { 1 }
}

/// How probable it is at most that a cell has a multiple of so many rows by chance, if it has any: a number that is no multiple
/// of g is beside each that is, and of many rows no number is as probable as that.
fn divided(divisor: u64) -> f64 {
    // Of a Poisson law of mean m ≥ g/2 no number is more probable than 0.4/√m, and multiples are g apart.
    let likeliest = 1.2 * 0.4 / (0.5 * divisor as f64).sqrt();
    likeliest.clamp(f64::MIN_POSITIVE, 0.5)
}

fn gcd(mut a: u64, mut b: u64) -> u64 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

/// Keeps so many rows of every cell, the first ones where the order is known.
fn keep(log: &mut Log, kept: impl Fn(u64) -> u64) {
    let cells = log.counts.cells().iter().map(|cell| Cell {
        count: kept(cell.count),
        ..*cell
    });
    log.counts = Counts::new(log.counts.secrets(), cells.collect());
    log.facts.rows_used = log.counts.total();
    let mut left: HashMap<(u32, u32), u64> = HashMap::new();
    let cells = log.counts.cells().iter();
    left.extend(cells.map(|cell| ((cell.secret, cell.symbol), cell.count)));
    let first = |left: &mut HashMap<(u32, u32), u64>, row: (u32, u32)| {
        let left = left.get_mut(&row);
        left.is_some_and(|left| {
            let is_first = *left > 0;
            *left = left.saturating_sub(1);
            is_first
        })
    };
    if let Some(order) = &mut log.order
        && order.observations.is_none()
    {
        let mut left = left.clone();
        let rows = order
            .secrets
            .iter()
            .copied()
            .zip(order.symbols.iter().copied());
        let (secrets, symbols) = rows.filter(|&row| first(&mut left, row)).unzip();
        *order = RowOrder {
            secrets,
            symbols,
            thinned: order.thinned,
            observations: None,
        };
    }
    if let Some(sequence) = &mut log.sequence {
        sequence.retain(|&row| first(&mut left, row));
    }
}

/// One of equal rows stays.
fn drop_ties(log: &mut Log) -> Warning {
    let rows = log.counts.total();
    keep(log, |_| 1);
    let copies = rows - log.counts.total();
    Warning::CopiesDropped { rows, copies }
}

/// Whether rows are so fine that they hardly ever tie by themselves.
fn is_fine(log: &Log) -> bool {
    log.observations.kind() != ObservationKind::Discrete
        && own_ties(log) <= MAX_TIES / (log.counts.total() as f64).sqrt()
}

/// Whether rows are of few numbers, which stand apart from each other though their digits could write many between them.
/// Whole numbers, such as sizes, are a law's own; a measurement with digits behind the point that recurs is more often a copy.
fn are_few_of_many(log: &Log) -> bool {
    /// Rows of a number of a secret on average, and such numbers of a secret, at least.
    const ROWS: u64 = 5;
    const NUMBERS: usize = 5;
    let cells = log.counts.cells().len();
    let columns = log.observations.dimensions();
    let has_fractions = |column: usize| {
        let mut symbols = 0..log.observations.len() as u32;
        symbols.any(|symbol| log.observations.numbers(symbol)[column].fract() != 0.0)
    };
    let stand_apart = |column: usize| {
        let (near, numbers) = neighbors_on_grid(log, column);
        4 * near < numbers && numbers >= NUMBERS * log.counts.secrets()
    };
    log.observations.kind() == ObservationKind::Numeric
        && log.counts.total() >= ROWS * cells as u64
        && (0..columns).any(has_fractions)
        && (0..columns).all(stand_apart)
}

/// The p-value of ties within secrets being as many as across them lets expect, among secrets with enough rows.
fn ties_of_one_secret(log: &Log) -> f64 {
    let mut rows = log.counts.rows().to_vec();
    rows.iter_mut()
        .filter(|rows| **rows < MIN_ROWS)
        .for_each(|rows| *rows = 0);
    let (mut within, mut across) = (0, 0u64);
    for cells in log.counts.by_symbol() {
        let cells = cells.iter().filter(|cell| rows[cell.secret as usize] > 0);
        within += cells.clone().map(|cell| cell.count - 1).sum::<u64>();
        across += (cells.count() as u64).saturating_sub(1);
    }
    copies::of_one_secret(within, across, &rows)
}

/// Rows that equal another row of their secret, but for one of each.
fn ties(log: &Log) -> u64 {
    log.counts.cells().iter().map(|cell| cell.count - 1).sum()
}

/// The share of rows that are equal without being copies, about: rows of tall cells, and as many ties as there
/// are near misses, values of a secret a step of the grid apart; or as many as rows tie in the column and not in others.
/// The column with the fewest tells.
fn own_ties(log: &Log) -> f64 {
    let rows = log.counts.total() as f64;
    let cells = log.counts.cells().iter();
    let tall = cells.filter(|cell| cell.count > TALLEST);
    let tall = tall.map(|cell| cell.count).sum::<u64>() as f64;
    let ties = (0..log.observations.dimensions())
        .map(|column| near_misses(log, column).max(ties_alone(log, column)))
        .fold(f64::INFINITY, f64::min);
    (tall + ties) / rows
}

/// Pairs of neighboring values of a secret that are one to three steps apart, a third of them: about how many
/// pairs of independent rows tie in a numeric column.
fn near_misses(log: &Log, column: usize) -> f64 {
    neighbors_on_grid(log, column).0 as f64 / 3.0
}

/// How many numbers of a secret are at most three steps behind another one, and how many there are.
fn neighbors_on_grid(log: &Log, column: usize) -> (usize, usize) {
    let value = |symbol: u32| log.observations.numbers(symbol)[column];
    let grid = grid_of(log, column);
    let mut of_secrets: Vec<(u32, f64)> = log
        .counts
        .cells()
        .iter()
        .map(|cell| (cell.secret, value(cell.symbol)))
        .collect();
    of_secrets.sort_unstable_by(|x, y| x.0.cmp(&y.0).then(x.1.total_cmp(&y.1)));
    of_secrets.dedup();
    if grid == Grid::Full {
        return (0, of_secrets.len());
    }
    let near = of_secrets.windows(2).filter(|pair| {
        let step = grid.step_at(pair[0].1).max(grid.step_at(pair[1].1));
        pair[0].0 == pair[1].0 && pair[1].1 - pair[0].1 <= 3.5 * step
    });
    (near.count(), of_secrets.len())
}

/// Pairs of rows of a secret that are equal in a numeric column and different in another one: no copies, so that the
/// column makes rows equal by itself.
fn ties_alone(log: &Log, column: usize) -> f64 {
    if log.observations.columns().len() < 2 {
        return 0.0;
    }
    let pairs = |rows: u64| rows as f64 * (rows as f64 - 1.0) / 2.0;
    let mut of_values: HashMap<(u32, u64), u64> = HashMap::new();
    let mut equal = 0.0;
    for cell in log.counts.cells() {
        let value = log.observations.numbers(cell.symbol)[column].to_bits();
        *of_values.entry((cell.secret, value)).or_default() += cell.count;
        equal += pairs(cell.count);
    }
    // Sums of whole numbers, whose order does not matter.
    of_values.values().map(|&rows| pairs(rows)).sum::<f64>() - equal
}

fn grid_of(log: &Log, column: usize) -> Grid {
    let rows = log.counts.by_symbol().map(|cells| {
        let value = log.observations.numbers(cells[0].symbol)[column];
        (value, cells.iter().map(|cell| cell.count).sum::<u64>())
    });
    let mut values: Vec<(f64, u64)> = rows.collect();
    values.sort_unstable_by(|x, y| x.0.total_cmp(&y.0));
    values.dedup_by(|next, kept| {
        let same = next.0 == kept.0;
        if same {
            kept.1 += next.1;
        }
        same
    });
    grid::recognize(&values)
}

/// About how many rows are copies, if one column of measurements on a grid has many more ties than near
/// misses. Integers may be identifiers, and are not asked.
fn suspicion(log: &Log) -> Option<u64> {
    let columns = log.observations.columns();
    let [column] = columns else {
        return None;
    };
    if column.kind != ColumnType::Numeric || column.resolution.is_some() {
        return None;
    }
    let Grid::Step { step, offset } = grid_of(log, 0) else {
        return None;
    };
    let is_measured = (step - 1.0).abs() > 1e-9;
    let cells = log.counts.cells().iter().map(|cell| GridCell {
        point: ((log.observations.numbers(cell.symbol)[0] - offset) / step).round() as i64,
        secret: cell.secret,
        rows: cell.count,
    });
    let found = is_measured.then(|| copies::coincidences(cells.collect()))?;
    (found.p_value < ALARM).then_some(found.copies.round() as u64)
}

/// How many rows of the log to learn on are also in the log itself, where values are so fine that this is no
/// chance.
fn shared_with_fit(log: &Log) -> Option<u64> {
    let fit = log.fit_counts.as_ref()?;
    if log.observations.kind() == ObservationKind::Discrete {
        return None;
    }
    let (mut same, mut other) = (0u64, 0u64);
    both(&log.counts, fit, |judged, learned| {
        if judged.secret == learned.secret {
            same += 1;
        } else {
            other += 1;
        }
    });
    (is_fine(log) && same >= MIN_SHARED && same > 4 * (other + 5)).then_some(same)
}

/// The log to learn on, if it seems to hold rows of the log itself.
fn suspected_in_fit(log: &Log) -> Result<Option<String>> {
    let Some(fit) = &log.fit_counts else {
        return Ok(None);
    };
    let cells = |counts: &Counts| -> HashMap<(u32, u32), u64> {
        let cells = counts.cells().iter();
        cells
            .map(|cell| ((cell.secret, cell.symbol), cell.count))
            .collect()
    };
    let found = in_common(&cells(&log.counts), &cells(fit));
    let with = log.facts.fit_on.clone().unwrap_or_default();
    if found.is_same() {
        return Err(same_as_fit(log, with));
    }
    Ok(found.is_suspect().then_some(with))
}

/// What two logs have in common.
pub(crate) struct InCommon {
    /// Of cells that are balanced by chance.
    p_value: f64,
    /// Whether every cell has as many rows in one log as in the other.
    is_equal: bool,
}

impl InCommon {
    /// Whether the two are one log.
    pub fn is_same(&self) -> bool {
        self.is_equal && self.p_value < SAME_LOG
    }

    /// Whether the two seem to share rows.
    pub fn is_suspect(&self) -> bool {
        self.p_value < ALARM
    }
}

/// Whether two logs share rows, given the rows of each of their cells: a secret with an observation. The largest
/// cell of a secret is not asked: it has what a planned number of rows leaves.
pub(crate) fn in_common<S, O>(one: &HashMap<(S, O), u64>, other: &HashMap<(S, O), u64>) -> InCommon
where
    S: Copy + Eq + std::hash::Hash,
    O: Copy + Eq + std::hash::Hash + Ord,
{
    let rows = |cell: &(S, O)| {
        (
            one.get(cell).copied().unwrap_or(0),
            other.get(cell).copied().unwrap_or(0),
        )
    };
    let mut largest: HashMap<S, (u64, O)> = HashMap::new();
    let both = || {
        one.keys()
            .chain(other.keys().filter(|cell| !one.contains_key(*cell)))
    };
    for cell in both() {
        let (x, y) = rows(cell);
        let known = largest.entry(cell.0).or_insert((x + y, cell.1));
        *known = (*known).max((x + y, cell.1));
    }
    let mut of_secrets: HashMap<S, [u64; 2]> = HashMap::new();
    for (at, log) in [one, other].into_iter().enumerate() {
        for (cell, rows) in log {
            of_secrets.entry(cell.0).or_default()[at] += rows;
        }
    }
    let asked = both().filter(|cell| largest[&cell.0].1 != cell.1);
    let asked = asked.map(|cell| {
        let (x, y) = rows(cell);
        let [one, other] = of_secrets[&cell.0];
        ([x, y], one.min(other))
    });
    InCommon {
        p_value: copies::of_two_logs(asked),
        is_equal: one == other,
    }
}

fn same_as_fit(log: &Log, fit_on: String) -> Error {
    let files = file_listing(&log.facts.files);
    Error::file(fit_on, format!("holds the same rows as {files}")).with_hint(
        "rows that an attack learned from certify nothing: give the log alone, and it is split",
    )
}

/// The cells of both logs that have an observation in common.
fn both(one: &Counts, other: &Counts, mut found: impl FnMut(&Cell, &Cell)) {
    let mut others = other.by_symbol().peekable();
    for cells in one.by_symbol() {
        while others
            .next_if(|other| other[0].symbol < cells[0].symbol)
            .is_some()
        {}
        if let Some(same) = others
            .peek()
            .filter(|other| other[0].symbol == cells[0].symbol)
        {
            for judged in cells {
                same.iter().for_each(|learned| found(judged, learned));
            }
        }
    }
}

/// No row may be learned from and judged: those of the log to learn on go.
fn drop_shared(log: &mut Log) {
    let Some(fit) = &log.fit_counts else {
        return;
    };
    let mut shared = hashbrown::HashSet::new();
    both(&log.counts, fit, |judged, learned| {
        if judged.secret == learned.secret {
            shared.insert((learned.symbol, learned.secret));
        }
    });
    let kept = fit.cells().iter().copied();
    let kept = kept.filter(|cell| !shared.contains(&(cell.symbol, cell.secret)));
    log.fit_counts = Some(Counts::new(fit.secrets(), kept.collect()));
}

fn undecidable(log: &Log, copies: f64) -> Error {
    Error::data(
        Place::file(file_listing(&log.facts.files)),
        format!(
            "at least {copies:.0} rows look like copies of others, and the values are too coarse to tell copies from \
             rows that are equal by chance"
        ),
    )
    .with_hint(format!(
        "limits count every row as new evidence: remove the copies, or name a column that identifies rows with {}",
        setting("row_id", "COLUMN")
    ))
}

#[cfg(test)]
mod tests;
