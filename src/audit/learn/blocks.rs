//! Which logs have rows before the certification rows that testify too, and where their blocks begin.
//!
//! An attack that has seen a tenth of the rows is nearly as good as one that has seen most of them only where learning
//! is quick: with scores that the log brings, with one column of numbers, with few distinct observations. Elsewhere
//! more rows would judge worse attacks, but for one block where rows are many. Whether blocks are judged, and from when
//! on, follows from numbers of secrets, rows, columns and distinct observations alone.

use crate::audit::prepare::Prepared;
use leakgauge_attack::pairwise::pair_count;
use leakgauge_judge::Independence;
use leakgauge_log::observations::ObservationKind;

/// Where the blocks of a log of two secrets begin, as shares of its rows; the certification rows are the last
/// block.
const TWO_SECRETS: [f64; 4] = [0.05, 0.1, 0.2, 0.4];
/// With more, the shares of α among the pairs are settled before the first judged block.
const MORE_SECRETS: [f64; 2] = [0.2, 0.4];
/// Where learning is slow, two secrets with this many rows each have one block before the certification rows: an attack
/// from two fifths of the rows is nearly as good as one from three fifths there, and half as many rows more judge.
const SLOW: [f64; 1] = [0.4];
const SLOW_ROWS: u64 = 10_000;
/// The rarest secret has so many rows in the first block, at least.
const FIRST_ROWS: [f64; 2] = [20.0, 200.0];
/// With more rows of numbers than this the certification rows alone leave little to prove.
const MOST_NUMBERS: u64 = 1_000_000;
/// With more rows times pairs than this, coins would be tossed for seconds.
const MOST_TOSSES: u64 = 200_000_000;
/// Distinct observations are few if there are so many rows for each.
const ROWS_EACH: u64 = 100;

/// Where blocks of units begin, as shares of them, and how many units of the rarest secret the first is learned from, at
/// least: one to learn from and one to choose by.
const UNIT_BEGINS: [f64; 3] = [0.1, 0.2, 0.4];
const FIRST_UNITS: f64 = 2.0;
/// Rows a unit from which on units are more than rows.
const UNIT_ROWS: u64 = 4;
/// With more rows learning four times takes too long: the certification units alone judge.
const MOST_UNIT_ROWS: u64 = 200_000;
/// Units times pairs whose errors are held at once, block by block.
const MOST_UNIT_PAIRS: usize = 500_000;

/// Where blocks begin, as shares of the rows.
pub(crate) fn begins(prepared: &Prepared) -> Option<&'static [f64]> {
    let log = prepared.log;
    if !prepared.independence.is_of_rows() || log.fit_counts.is_some() {
        return None;
    }
    let rarest = log.counts.rows().iter().copied().min()?;
    if !learns_quickly(prepared) {
        let is_enough = log.secrets.len() == 2 && rarest >= SLOW_ROWS;
        return (is_enough && log.counts.total() <= MOST_NUMBERS).then_some(&SLOW);
    }
    let rarest = rarest as f64;
    let given = prepared.options.attacks.are_given();
    let mut begins: &'static [f64] = match pair_count(log.secrets.len()) {
        1 => &TWO_SECRETS,
        _ => &MORE_SECRETS,
    };
    let needed = FIRST_ROWS[usize::from(log.secrets.len() > 2)];
    while begins.first().is_some_and(|first| rarest * first < needed) {
        begins = &begins[1..];
    }
    // Scores that the log brings leave a quarter of the rows for tuning.
    let last = if given { 0.25 } else { 0.6 };
    let before = begins.partition_point(|&begin| begin < last);
    Some(&begins[..before]).filter(|begins| !begins.is_empty())
}

/// The same of units. Their rows depend on each other, so what learning needs is counted in units.
pub(crate) fn unit_begins(prepared: &Prepared) -> Option<&'static [f64]> {
    let log = prepared.log;
    let judges = prepared.independence == Independence::Units
        && log.fit_counts.is_none()
        && !prepared.options.attacks.are_given();
    let units = log.units.as_ref().filter(|_| judges)?;
    let slow = log.counts.total() > MOST_UNIT_ROWS;
    let of_secrets = units.rows.units_of_secrets(log.secrets.len());
    let rarest = of_secrets.into_iter().min()? as f64;
    let pairs = pair_count(log.secrets.len());
    let is_large = pairs.saturating_mul(units.rows.len()) > MOST_UNIT_PAIRS;
    // With a row a unit, one random row of every certification unit proves as much.
    if slow || is_large || log.counts.total() < UNIT_ROWS * units.rows.len() as u64 {
        return None;
    }
    let from = UNIT_BEGINS.partition_point(|begin| begin * rarest < FIRST_UNITS);
    Some(&UNIT_BEGINS[from..]).filter(|begins| !begins.is_empty())
}

/// Whether there are many rows for each of so many distinct observations.
pub(crate) fn are_few(observations: usize, rows: u64) -> bool {
    observations as u64 * ROWS_EACH <= rows
}

fn learns_quickly(prepared: &Prepared) -> bool {
    let (log, observations) = (prepared.log, &prepared.log.observations);
    if prepared.options.attacks.are_given() {
        return true;
    }
    match observations.kind() {
        ObservationKind::Discrete => {
            let (rows, pairs) = (log.counts.total(), pair_count(log.secrets.len()) as u64);
            are_few(observations.len(), rows) && rows.saturating_mul(pairs) <= MOST_TOSSES
        }
        _ => {
            observations.columns().len() == 1
                && observations.dimensions() == 1
                && log.counts.total() <= MOST_NUMBERS
        }
    }
}
