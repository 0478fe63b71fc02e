//! Upper limits for discrete logs whose units are independent and whose rows are not.
//!
//! # Formula
//! P̄_s is the mean over the units that have secret s of the unit's own frequencies: every unit counts once.
//! Total variation, Bayes vulnerability and hockey-stick divergences of P̄ are convex in it, so that their
//! expectation is at least their value at the expectation of P̄, the law of a random row of a random unit. A
//! unit moves P̄_s by at most 1/n_s, n_s the units that have s, and so it moves a measure with weights w_s by
//! at most c_u = Σ w_s/n_s over the secrets that it has. McDiarmid's inequality over units: with probability
//! 1 − α the true value is at most the plug-in value + √(Σ c_u² ln(1/α)/2). Total variation of few observations has
//! a second limit, of its [events](super::few_labels); both hold together, with parts of α that depend on nothing.
//!
//! # Conditions
//! Independent units, given which secrets they have.
//!
//! # References
//! McDiarmid 1989, Lemma 1.2, doi:10.1017/CBO9781107359949.008.

use super::few_labels::Events;
use leakgauge_attack::pairwise::{pair_index, pairs};
use leakgauge_base::parallel;
use leakgauge_log::UnitRows;
use leakgauge_log::groups::secrets_of;
use leakgauge_stats::concentration::mcdiarmid_radius;

/// The mean law of the units of every secret.
#[derive(Debug)]
pub(crate) struct UnitLaws {
    secrets: usize,
    /// (observation, secret, probability), by observation, then secret.
    law: Vec<(u32, u32, f64)>,
    /// Units that have each secret.
    units: Vec<u64>,
    /// For each unit with several secrets, these.
    sets: Vec<Vec<u32>>,
    /// Units that have both secrets of each pair.
    both: Vec<u64>,
    /// Total variation between the laws of each pair.
    distances: Vec<f64>,
    /// The events of each pair with few observations.
    events: Vec<Option<Events>>,
}

/// The part of α of limits of events, which every limit of the total variation by McDiarmid's inequality lacks.
const EVENTS: f64 = 0.3;
/// With more pairs times cells their events are not looked at: 64 events of so many units would take gigabytes, and many
/// units need none.
const MOST_CELLS: usize = 50_000;

impl UnitLaws {
    /// The mean laws of the units of a log.
    pub fn new(rows: &UnitRows, secrets: usize) -> Self {
        let units = rows.units_of_secrets(secrets);
        let (mut law, mut sets) = (Vec::new(), Vec::new());
        let mut both = vec![0; secrets * secrets.saturating_sub(1) / 2];
        let mut of_secret = vec![0u64; secrets];
        for unit in rows.units() {
            let has = secrets_of(unit);
            has.iter()
                .for_each(|&secret| of_secret[secret as usize] = 0);
            unit.iter()
                .for_each(|cell| of_secret[cell.secret as usize] += cell.count);
            law.extend(unit.iter().map(|cell| {
                let secret = cell.secret as usize;
                let weight = units[secret] as f64 * of_secret[secret] as f64;
                (cell.symbol, cell.secret, cell.count as f64 / weight)
            }));
            for (at, &a) in has.iter().enumerate() {
                for &b in &has[at + 1..] {
                    both[pair_index(secrets, a, b)] += 1;
                }
            }
            if has.len() > 1 {
                sets.push(has);
            }
        }
        law.sort_unstable_by(|x, y| (x.0, x.1).cmp(&(y.0, y.1)).then(x.2.total_cmp(&y.2)));
        law.dedup_by(|next, kept| {
            let same = (next.0, next.1) == (kept.0, kept.1);
            if same {
                kept.2 += next.2;
            }
            same
        });
        let all: Vec<[u32; 2]> = pairs(secrets).map(|(a, b)| [a, b]).collect();
        let few = all.len().saturating_mul(rows.cells().len()) <= MOST_CELLS;
        UnitLaws {
            events: parallel::map(all.len(), |at| {
                few.then(|| Events::of(rows, all[at])).flatten()
            }),
            distances: distances(&law, secrets),
            secrets,
            law,
            units,
            sets,
            both,
        }
    }

    fn by_symbol(&self) -> impl Iterator<Item = &[(u32, u32, f64)]> {
        self.law.chunk_by(|one, next| one.0 == next.0)
    }

    /// Upper limits of the total variation of every pair, each at level 1 − alpha; `None` where a secret has
    /// no units.
    pub fn total_variation_at_most(&self, alpha: f64) -> Vec<Option<f64>> {
        let events = |events: &Option<Events>| {
            let events = events.as_ref();
            events.map_or(1.0, |events| events.total_variation_at_most(EVENTS * alpha))
        };
        pairs(self.secrets)
            .zip(self.distances.iter().zip(&self.events))
            .map(|((a, b), (distance, of_events))| {
                let radius = self.pair_radius(a, b, 1.0, (1.0 - EVENTS) * alpha)?;
                Some((distance + radius).min(events(of_events)))
            })
            .collect()
    }

    /// The radius of a measure of a pair that weighs a once and b so many times.
    fn pair_radius(&self, a: u32, b: u32, weight: f64, alpha: f64) -> Option<f64> {
        let [x, y] = [a, b].map(|secret| self.units[secret as usize] as f64);
        let shared = self.both[pair_index(self.secrets, a.min(b), a.max(b))] as f64;
        let variation = 1.0 / x + weight * weight / y + 2.0 * weight * shared / (x * y);
        (x > 0.0 && y > 0.0).then(|| mcdiarmid_radius(variation, alpha))
    }

    /// Upper limit of the Bayes vulnerability at a prior, at level 1 − alpha; infinite if a secret of
    /// positive prior has no units.
    pub fn vulnerability_at_most(&self, prior: &[f64], alpha: f64) -> f64 {
        let joint = |&(_, secret, p): &(u32, u32, f64)| prior[secret as usize] * p;
        let largest = |cells: &[(u32, u32, f64)]| cells.iter().map(joint).fold(0.0, f64::max);
        let plug_in: f64 = self.by_symbol().map(largest).sum();
        let weight = |secret: usize| match prior[secret] > 0.0 {
            true => prior[secret] / self.units[secret] as f64,
            false => 0.0,
        };
        // Σ c_u² of units with one secret each, then what units with several have beyond that.
        let alone: f64 = (0..self.secrets)
            .map(|secret| self.units[secret] as f64 * weight(secret).powi(2))
            .sum();
        let beyond = |set: &Vec<u32>| {
            let weights = || set.iter().map(|&secret| weight(secret as usize));
            weights().sum::<f64>().powi(2) - weights().map(|w| w * w).sum::<f64>()
        };
        let variation = alone + self.sets.iter().map(beyond).sum::<f64>();
        let limit = plug_in + mcdiarmid_radius(variation, alpha);
        // 0 · (0/0)² is no number: nothing limits a secret that no unit has.
        if limit.is_nan() { f64::INFINITY } else { limit }
    }

    /// Total variation between the laws of each pair.
    pub fn distances(&self) -> &[f64] {
        &self.distances
    }

    /// Upper limit of the hockey-stick divergence of a after b at ε, at level 1 − alpha; 1 where a secret has no
    /// units.
    pub fn divergence_at_most(&self, [a, b]: [u32; 2], epsilon: f64, alpha: f64) -> f64 {
        let weight = epsilon.exp();
        let mut divergence = 1.0;
        for cells in self.by_symbol() {
            let share = |secret: u32| {
                let cell = cells.iter().find(|cell| cell.1 == secret);
                cell.map_or(0.0, |cell| cell.2)
            };
            divergence -= share(a).min(weight * share(b));
        }
        let radius = self.pair_radius(a, b, weight, alpha);
        radius.map_or(1.0, |radius| (divergence.max(0.0) + radius).min(1.0))
    }
}

/// Total variation of every pair: 1 − Σ_o min(p_a(o), p_b(o)).
fn distances(law: &[(u32, u32, f64)], secrets: usize) -> Vec<f64> {
    let mut overlap = vec![0.0; secrets * secrets.saturating_sub(1) / 2];
    for cells in law.chunk_by(|one, next| one.0 == next.0) {
        for (at, &(_, a, p)) in cells.iter().enumerate() {
            for &(_, b, q) in &cells[at + 1..] {
                overlap[pair_index(secrets, a, b)] += p.min(q);
            }
        }
    }
    let apart = overlap.into_iter().map(|overlap| 1.0 - overlap);
    apart.map(|apart| apart.clamp(0.0, 1.0)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use leakgauge_attack::measure::plug_in;
    use leakgauge_log::UnitCell;
    use leakgauge_stats::concentration::{
        mcdiarmid_hockey_stick_radius, mcdiarmid_total_variation_radius,
        mcdiarmid_vulnerability_radius,
    };

    fn cell(unit: u32, symbol: u32, secret: u32, count: u64) -> UnitCell {
        UnitCell {
            unit,
            symbol,
            secret,
            count,
        }
    }

    /// Units of one row each are rows.
    #[test]
    fn with_a_row_a_unit_the_limits_are_those_of_rows() {
        let cells = (0..60).map(|unit| cell(unit, unit * 7 % 5, unit % 3, 1));
        let rows = UnitRows::new(cells.collect());
        let (laws, counts) = (UnitLaws::new(&rows, 3), rows.counts(3));
        let tv = plug_in::total_variation(&counts);
        for (found, tv) in laws.total_variation_at_most(0.1).into_iter().zip(tv) {
            let expected = tv + mcdiarmid_total_variation_radius(20, 20, 0.07);
            assert!(found.unwrap() <= expected + 1e-12);
        }
        let prior = [0.2, 0.0, 0.8];
        let expected = plug_in::vulnerability(&counts, &prior)
            + mcdiarmid_vulnerability_radius([(0.2, 20), (0.8, 20)], 0.1);
        assert!((laws.vulnerability_at_most(&prior, 0.1) - expected).abs() < 1e-12);
        let rows = plug_in::hockey_stick(&counts, |_, _| 0.3);
        for (a, b, x) in rows {
            let upper = laws.divergence_at_most([a, b], 0.3, 0.5);
            let radius = mcdiarmid_hockey_stick_radius(20, 20, 0.3, 0.5);
            assert!((upper - (x + radius).min(1.0)).abs() < 1e-12);
        }
    }

    #[test]
    fn every_unit_counts_once_and_units_with_both_secrets_move_both() {
        let rows = UnitRows::new(vec![
            cell(0, 0, 0, 1000),
            cell(1, 1, 0, 1),
            cell(1, 1, 1, 3),
            cell(2, 0, 1, 1),
            cell(2, 1, 1, 1),
        ]);
        let laws = UnitLaws::new(&rows, 2);
        // a: (½, ½), b: (¼, ¾); one of three units has both.
        let radius = laws.pair_radius(0, 1, 1.0, 0.9).unwrap();
        assert!((radius - mcdiarmid_radius(0.5 + 0.5 + 0.5, 0.9)).abs() < 1e-12);
        assert_eq!(laws.distances(), [0.25]);
        let radius = mcdiarmid_radius(0.25 * 0.25 + 0.25 * 0.25 + 0.5 * 0.5, 0.9);
        let found = laws.vulnerability_at_most(&[0.5, 0.5], 0.9);
        assert!((found - (0.625 + radius)).abs() < 1e-12, "{found}");
    }

    #[test]
    fn a_secret_without_units_has_no_limit() {
        let laws = UnitLaws::new(&UnitRows::new(vec![cell(0, 0, 0, 1)]), 2);
        assert_eq!(laws.total_variation_at_most(0.1), [None]);
        assert_eq!(laws.vulnerability_at_most(&[0.5, 0.5], 0.1), f64::INFINITY);
        assert_eq!(laws.divergence_at_most([0, 1], 0.0, 0.1), 1.0);
    }
}
