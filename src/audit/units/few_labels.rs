//! Upper limits of the total variation of two secrets with few different observations, where units are independent.
//!
//! # Formula
//! Total variation is P̄_a(E) − P̄_b(E) of one event E, P̄ the mean law of the units. Which event that is is not known, but
//! it is one, and the units look at it as they do at its part among the observations that were made. So the largest of the
//! upper limits of all events of these, the impossible one among them, is an upper limit of the total variation at the
//! level of each, and observations that nobody made are covered.
//!
//! An event is limited by bets on the share of each unit's rows that it has ([`leakgauge_stats::betting`]): units that differ
//! little from each other are worth much more there than by McDiarmid's inequality, which knows only how far a unit could
//! move P̄. Bets need centers near P̄_a(E) and P̄_b(E): those of a unit come from the units before it.
//!
//! # Conditions
//! Independent units, given which secrets they have.

use leakgauge_log::{UnitCell, UnitRows};
use leakgauge_stats::betting::{UnitErrors, UnitRates};

/// Different observations of a pair, at most: they make 2⁶ events.
const MOST_LABELS: usize = 6;
/// How far units are expected to be from their centers: for width only, and only half of the stakes rely on it.
const DEVIATION: f64 = 0.1;

/// The events of a pair, each with what the units say of 1 − (P̄_a(E) − P̄_b(E)).
#[derive(Debug)]
pub(super) struct Events {
    sums: Vec<UnitRates>,
}

impl Events {
    /// Of a pair; `None` where it has more observations, or no units of a secret.
    pub fn of(rows: &UnitRows, pair: [u32; 2]) -> Option<Events> {
        let cells = rows
            .cells()
            .iter()
            .filter(|cell| pair.contains(&cell.secret));
        let mut labels: Vec<u32> = Vec::new();
        for cell in cells {
            if !labels.contains(&cell.symbol) {
                labels.push(cell.symbol);
            }
            if labels.len() > MOST_LABELS {
                return None;
            }
        }
        let sums: Option<Vec<UnitRates>> = (0..1usize << labels.len())
            .map(|event| {
                let has = |symbol: u32| {
                    let at = labels.iter().position(|label| *label == symbol);
                    at.is_some_and(|at| event >> at & 1 == 1)
                };
                let errors = errors(rows, pair, has);
                UnitRates::with_running_centers(&errors, &[1.0, 1.0], DEVIATION)
            })
            .collect();
        Some(Events { sums: sums? })
    }

    /// The upper limit of the total variation at level 1 − `alpha`.
    pub fn total_variation_at_most(&self, alpha: f64) -> f64 {
        let differences = self.sums.iter().map(|sum| 1.0 - sum.at_least(alpha));
        differences.fold(0.0, f64::max)
    }
}

/// Of each unit the rows of the first secret outside of an event, and those of the second in it.
fn errors(rows: &UnitRows, pair: [u32; 2], has: impl Fn(u32) -> bool) -> Vec<UnitErrors> {
    let mut found = Vec::new();
    for (unit, cells) in rows.units().enumerate() {
        for (side, secret) in pair.into_iter().enumerate() {
            let own = || cells.iter().filter(|cell| cell.secret == secret);
            let count = |cell: &UnitCell| cell.count;
            let all: u64 = own().map(count).sum();
            let inside: u64 = own().filter(|cell| has(cell.symbol)).map(count).sum();
            if all > 0 {
                found.push(UnitErrors {
                    unit,
                    secret: side,
                    rows: all,
                    errors: if side == 0 { all - inside } else { inside },
                });
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(of_units: impl Iterator<Item = (u32, u64)>) -> UnitRows {
        let cells = of_units.enumerate().flat_map(|(unit, (secret, ones))| {
            [(0, 100 - ones), (1, ones)].map(|(symbol, count)| UnitCell {
                unit: unit as u32,
                symbol,
                secret,
                count,
            })
        });
        UnitRows::new(cells.filter(|cell| cell.count > 0).collect())
    }

    /// 60 units that differ by a few percent: McDiarmid's radius is 0.32.
    #[test]
    fn units_that_are_alike_say_much() {
        let rows = rows((0..60).map(|unit| (unit % 2, 40 + u64::from(unit * 7 % 11))));
        let events = Events::of(&rows, [0, 1]).expect("two labels");
        let limit = events.total_variation_at_most(0.05);
        assert!((0.0..0.15).contains(&limit), "{limit}");
    }

    #[test]
    fn what_was_never_seen_may_be_there() {
        let rows = rows((0..60).map(|unit| (unit % 2, 0)));
        let events = Events::of(&rows, [0, 1]).expect("one label");
        let limit = events.total_variation_at_most(0.05);
        // An event of probability 0.1 for all units of a is missed by 30 of them with probability 0.04, if they do not
        // differ.
        assert!((0.1..0.6).contains(&limit), "{limit}");
        assert!(Events::of(&rows, [0, 2]).is_none());
    }
}
