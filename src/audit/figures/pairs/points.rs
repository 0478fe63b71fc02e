//! Estimates of the total variation: from attacks, plug-in, minimax; and which of them is reported. A pair has
//! one estimate, whichever table shows it.

use std::ops::Range;

use crate::audit::basis::Evidence;
use crate::audit::figures::pairs::TotalVariationPoints;
use crate::estimate::Method;
use leakgauge_attack::measure::by_secret::BySecret;
use leakgauge_attack::measure::minimax_tv::SparsePair;
use leakgauge_attack::measure::plug_in;
use leakgauge_log::observations::Counts;

/// The estimate of a pair, not constrained by anything.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PairEstimate {
    /// With its method; `None` where a secret has no rows to judge.
    pub best: Option<(f64, Method)>,
    /// What serves where the best is outside of what is certified.
    pub second: Option<(f64, Method)>,
}

/// The estimates of all pairs.
pub(crate) struct PairEstimates<'e> {
    evidence: &'e Evidence<'e>,
    /// Discrete logs only.
    counts: Option<BySecret>,
}

impl PairEstimates<'_> {
    /// The estimates of some pairs.
    pub(crate) fn of(&self, pairs: Range<usize>) -> Vec<PairEstimate> {
        leakgauge_base::parallel::map(pairs.len(), |at| {
            let pair = pairs.start + at;
            let rule = self.evidence.tuned.choices[pair].rule;
            // Of most logs no pair is sparse, and counting says so.
            let counts = self.counts.as_ref().filter(|_| self.evidence.is_alone());
            let counts = counts.filter(|counts| counts.is_sparse([rule.a, rule.b]));
            let sparse = counts.map(|counts| counts.sparse([rule.a, rule.b]));
            self.evidence.pair_estimate(pair, sparse.as_ref())
        })
    }
}

impl Evidence<'_> {
    /// The estimates of all pairs, computed where they are asked for: millions of pairs would fill memory.
    pub(crate) fn pair_estimates(&self) -> PairEstimates<'_> {
        PairEstimates {
            evidence: self,
            counts: self.upper.map(|_| BySecret::new(self.counts)),
        }
    }

    /// Whether nothing but the promise of the rows that were learned from chose a pair out of several. What is said
    /// of it then comes from the certification rows, which did not.
    fn is_chosen(&self, pair: usize) -> bool {
        let certified = || self.lower(pair);
        self.pair_count() > 1
            && pair == self.worst
            && certified().is_none_or(|(lower, _)| lower <= 0.0)
    }

    fn pair_estimate(&self, pair: usize, sparse: Option<&SparsePair>) -> PairEstimate {
        let held_out = self.advantages[pair].point();
        let held_out = held_out.map(|point| (point, Method::HeldOutAttack));
        let all_rows = held_out.and(self.cross_fit).and_then(|c| c.advantage(pair));
        let all_rows = all_rows.map(|point| (point, Method::CrossFittedAttack));
        let (best, second) = match all_rows {
            Some(all_rows) if !self.is_chosen(pair) => (Some(all_rows), held_out),
            _ => (held_out, all_rows),
        };
        let points = sparse.and_then(|sparse| self.discrete_points(pair, sparse));
        let minimax = points.and_then(|points| self.minimax(&points, sparse?));
        PairEstimate {
            best: minimax.filter(|_| best.is_some()).or(best),
            second: if minimax.is_some() { best } else { second },
        }
    }

    /// All estimates of the worst pair of a discrete log.
    pub(crate) fn points_of_worst(&self) -> Option<TotalVariationPoints> {
        let rule = self.tuned.choices[self.worst].rule;
        let cells = self.counts.cells().iter().copied();
        let cells = cells.filter(|cell| [rule.a, rule.b].contains(&cell.secret));
        let of_pair = Counts::new(self.counts.secrets(), cells.collect());
        let sparse = BySecret::new(&of_pair).sparse([rule.a, rule.b]);
        self.discrete_points(self.worst, &sparse)
    }

    /// All estimates of a pair of a discrete log.
    fn discrete_points(&self, pair: usize, sparse: &SparsePair) -> Option<TotalVariationPoints> {
        let of_all = self.upper?.plug_in[pair];
        let (plug_in, minimax) = if self.is_chosen(pair) {
            self.certified_points(pair)
        } else {
            (of_all, sparse.total_variation)
        };
        Some(TotalVariationPoints {
            plug_in,
            minimax,
            held_out_attack: self.advantages[pair].point(),
            cross_fitted_attack: self.cross_fit.and_then(|c| c.advantage(pair)),
            distinct: sparse.distinct,
            effective_rows: sparse.rows,
            seen_once: sparse.seen_once,
        })
    }

    /// Plug-in and minimax estimates of a pair from the certification rows.
    fn certified_points(&self, pair: usize) -> (f64, Option<f64>) {
        let rule = self.tuned.choices[pair].rule;
        let cells = self.certify.cells().iter().copied();
        let cells = cells.filter(|cell| [rule.a, rule.b].contains(&cell.secret));
        let of_pair = Counts::new(self.certify.secrets(), cells.collect());
        (
            plug_in::total_variation(&of_pair)[pair],
            BySecret::new(&of_pair)
                .sparse([rule.a, rule.b])
                .total_variation,
        )
    }

    /// The rule which estimate is reported knows rows, distinct observations and columns, never a value:
    /// minimax where most observations are seen about once, but not most rows show what was seen once,
    /// and there is nothing besides the observation as a whole for an attack to learn from; else the attack.
    /// Whether the log is sparse is a matter of all rows.
    fn minimax(&self, points: &TotalVariationPoints, sparse: &SparsePair) -> Option<(f64, Method)> {
        let minimax = points
            .minimax
            .filter(|_| self.is_alone() && sparse.is_sparse() && !sparse.is_hopeless())?;
        Some((minimax, Method::MinimaxTotalVariation))
    }

    /// Whether there is nothing besides the observation as a whole. Of given scores the attack is what is asked about.
    fn is_alone(&self) -> bool {
        self.observations.columns().len() == 1 && !self.options.attacks.are_given()
    }
}
