//! The smallest leak that a log of this size shows.

use crate::audit::basis::Evidence;
use crate::audit::certified_limit::CertifiedLimit;
use crate::audit::claims::report::{ClaimReport, Verdict};
use crate::audit::evidence::no_leak::NoLeak;
use crate::audit::learn::blocks::{are_few, begins};
use crate::audit::prepare::Prepared;
use crate::audit::warnings::warning::Warning;
use leakgauge_attack::measure::by_secret::BySecret;
use leakgauge_attack::pairwise::pair_index;
use leakgauge_attack::split::{CERTIFY, TUNE};
use leakgauge_base::quantity::Quantity;
use leakgauge_log::observations::ObservationKind;
use leakgauge_stats::special::normal_cdf;

/// With more labels than this some are so rare that no normal law is near.
const MOST_LABELS: usize = 20;
/// The certification rows are the last, and all before them are learned from.
const LEARNED: f64 = 1.0 - CERTIFY;

/// The smallest leak that nine of ten logs of this size prove.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SmallestLeak {
    /// Its total variation.
    pub advantage: f64,
    /// What is proved of it: that the total variation is above this, which a claim allows, or 0.
    pub beyond: f64,
}

impl SmallestLeak {
    /// The share of logs.
    pub const POWER: f64 = 0.9;
}

/// What the log can show beyond the least advantage that an undecided claim allows, or at all where nothing is claimed and
/// nothing was shown. `None` where rows are not independent, where labels are many, and where a leak is shown.
///
/// # Formula
/// Labels with the probabilities p_l have a leak a: half of them are likelier by a factor of 1 + a under one secret, and half
/// under the other. An attack that was fitted on m rows of either takes a label right with probability Φ(z_l), z_l =
/// a √(2 m p_l), so that its advantage is a Σ p_l (2 Φ(z_l) − 1) on average, with variance a² Σ p_l² (1 − (2 Φ(z_l) − 1)²). Each
/// block of rows is judged by an attack that has learned from those before it.
///
/// # Conditions
/// The two rarest secrets have the leak. The pair that has it promises most, and so has an equal part of the level at least.
pub(crate) fn smallest_leak(
    prepared: &Prepared,
    evidence: &Evidence,
    claims: &[ClaimReport],
    warnings: &[Warning],
) -> Option<SmallestLeak> {
    let log = prepared.log;
    let labels = log.observations.len();
    let is_learned = log.fit_counts.is_none() && !prepared.options.attacks.are_given();
    let are_few = are_few(labels, log.counts.total()) && labels <= MOST_LABELS;
    let is_discrete = log.observations.kind() == ObservationKind::Discrete;
    let is_of_rows = evidence.independence.is_of_rows();
    if !(is_learned && are_few && is_discrete && is_of_rows) || is_shown(evidence) {
        return None;
    }
    // Such a log says nothing of another.
    let is_broken = |warning: &Warning| {
        use Warning::{MayBeUnits, NothingObserved, ShiftedRows};
        matches!(
            warning,
            NothingObserved { .. } | ShiftedRows { .. } | MayBeUnits { .. }
        )
    };
    let depends = |warning: &Warning| warning.inflation() > 1.0;
    if warnings.iter().any(|one| is_broken(one) || depends(one)) {
        return None;
    }
    let beyond = match claims {
        [] => 0.0,
        claims => claims
            .iter()
            .filter(|claim| claim.verdict == Verdict::Inconclusive)
            .filter_map(allowed)
            .min_by(f64::total_cmp)?,
    };
    if evidence.largest_total_variation().lower? > beyond {
        return None;
    }
    let pair = rarest(evidence);
    let level = evidence.plan.share(CertifiedLimit::Table(0)) / evidence.pair_count() as f64;
    let learning = Learning::new(prepared, evidence, pair);
    let learned = |leak: f64| learning.learned(leak);
    let advantage = evidence.advantages[pair].least_shown(beyond, level, &learned)?;
    Some(SmallestLeak { advantage, beyond })
}

/// Whether a leak is shown in another way than by the total variation.
fn is_shown(evidence: &Evidence) -> bool {
    const CLEAR: f64 = 1e-3;
    let epsilon = evidence.privacy(0).limit.lower;
    let is_clear = |test: &NoLeak| test.p_value < CLEAR;
    epsilon > Some(0.0) || evidence.no_leak.is_some_and(is_clear)
}

/// The pair of the two secrets with the fewest rows.
fn rarest(evidence: &Evidence) -> usize {
    let rows = evidence.counts.rows();
    let mut secrets: Vec<usize> = (0..rows.len()).collect();
    secrets.sort_by_key(|&secret| rows[secret]);
    let (a, b) = (secrets[0].min(secrets[1]), secrets[0].max(secrets[1]));
    pair_index(rows.len(), a as u32, b as u32)
}

/// Of the rows that are learned from, those that fit the attack; the others choose its cut.
const FITTED: f64 = 1.0 - TUNE / LEARNED;

/// What attacks on a pair learn from.
struct Learning {
    /// The probability of each label, of the rows of the pair.
    labels: Vec<f64>,
    /// For each block that is judged, its part of all judged rows, and how many rows of either secret were learned from.
    blocks: Vec<(f64, f64)>,
}

impl Learning {
    fn new(prepared: &Prepared, evidence: &Evidence, pair: usize) -> Self {
        let secrets = evidence.pair(pair).secrets();
        let counts = BySecret::new(evidence.counts);
        let [a, b] = counts.rows(secrets).map(|rows| rows as f64);
        let share = |(in_a, in_b): (u64, u64)| 0.5 * (in_a as f64 / a + in_b as f64 / b);
        let labels = counts.cells(secrets).into_iter().map(share).collect();
        // Two secrets with a and b rows tell as much as two with the harmonic mean of both.
        let rows = 2.0 / (1.0 / a + 1.0 / b);
        let earlier = begins(prepared).unwrap_or(&[]);
        let begins: Vec<f64> = earlier.iter().copied().chain([LEARNED, 1.0]).collect();
        let first = begins[0];
        let blocks = begins.windows(2).map(|block| {
            let part = (block[1] - block[0]) / (1.0 - first);
            (part, FITTED * block[0] * rows)
        });
        Learning {
            labels,
            blocks: blocks.collect(),
        }
    }

    /// The advantage that attacks reach where there is a leak, and its variance from log to log.
    fn learned(&self, leak: f64) -> (f64, f64) {
        let (mut mean, mut variance) = (0.0, 0.0);
        for &(part, rows) in &self.blocks {
            for &label in &self.labels {
                let z = leak * (2.0 * rows * label).sqrt();
                let right = 2.0 * normal_cdf(z) - 1.0;
                mean += leak * part * label * right;
                variance += (leak * part * label).powi(2) * (1.0 - right * right);
            }
        }
        (mean, variance)
    }
}

/// The advantage that a claim allows.
fn allowed(claim: &ClaimReport) -> Option<f64> {
    match claim.quantity {
        Quantity::Advantage | Quantity::AttackAdvantage => Some(claim.analytic.max(0.0)),
        Quantity::BayesSecurity => Some(1.0 - claim.analytic),
        _ => None,
    }
}
