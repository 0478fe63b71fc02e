//! Points of the total variation of discrete logs: from the attack, plug-in, minimax; and which of them
//! is reported.

use crate::audit::evidence::Evidence;
use crate::audit::findings::TotalVariationPoints;
use crate::estimate::{Estimate, Method};
use leakgauge_attack::measure::minimax_tv::{BySecret, SparsePair};
use leakgauge_attack::measure::plug_in;
use leakgauge_log::observations::Counts;

impl Evidence<'_> {
    /// Every point of the worst pair, from rows that did not choose it; and the best of them as the
    /// point of the estimate.
    pub(super) fn worst_points(&self, estimate: &mut Estimate) -> Option<TotalVariationPoints> {
        self.upper?;
        let rule = self.tuned.choices[self.worst].rule;
        let chosen = self.pair_count() > 1;
        let rows = if chosen { self.certify } else { self.counts };
        let of_pair = |rows: &Counts| {
            let cells = rows.cells().iter().copied();
            let cells = cells.filter(|cell| [rule.a, rule.b].contains(&cell.secret));
            Counts::new(rows.secrets(), cells.collect())
        };
        let of_pair_of_all = of_pair(self.counts);
        let of_pair = of_pair(rows);
        // Whether the log is sparse is a matter of all rows, as it is in the list of pairs.
        let all = BySecret::new(&of_pair_of_all).pair(rule.a, rule.b);
        let sparse = SparsePair {
            total_variation: BySecret::new(&of_pair).pair(rule.a, rule.b).total_variation,
            ..all
        };
        let plug_in = plug_in::total_variation(&of_pair)[self.worst];
        self.points(self.worst, &sparse, plug_in, estimate)
    }

    /// Sparseness and minimax estimate of every pair, from all rows: nothing chose these pairs.
    pub(super) fn listed_sparse(&self) -> Option<Vec<SparsePair>> {
        self.upper?;
        Some(BySecret::new(self.counts).all_pairs())
    }

    /// Every point of a pair that nothing in the log chose.
    pub(super) fn listed_points(
        &self,
        pair: usize,
        sparse: Option<&SparsePair>,
        estimate: &mut Estimate,
    ) -> Option<TotalVariationPoints> {
        let plug_in = self.upper?.plug_in[pair];
        self.points(pair, sparse?, plug_in, estimate)
    }

    /// The rule which point is reported knows rows, distinct observations and columns, never a value:
    /// minimax where most observations are seen about once, but not most rows show what was seen once,
    /// and there is nothing besides the observation as a whole for an attack to learn from; else the attack.
    fn points(
        &self,
        pair: usize,
        sparse: &SparsePair,
        plug_in: f64,
        estimate: &mut Estimate,
    ) -> Option<TotalVariationPoints> {
        let attack = |method: Method| {
            let point = estimate.point;
            point.filter(|_| estimate.method.point == Some(method))
        };
        let points = TotalVariationPoints {
            plug_in,
            minimax: sparse.total_variation,
            held_out_attack: self.tally(pair).advantage(),
            cross_fitted_attack: attack(Method::CrossFittedAttack),
            distinct: sparse.distinct,
            effective_rows: sparse.rows,
            seen_once: sparse.seen_once,
        };
        // Of given scores the attack is what is asked about.
        let alone = self.observations.columns().len() == 1 && !self.options.attacks.are_given();
        if let Some(minimax) = points.minimax.filter(|_| {
            alone && sparse.is_sparse() && !sparse.is_hopeless() && estimate.point.is_some()
        }) {
            estimate.set_point(minimax, Method::MinimaxTotalVariation, 0.0);
        }
        Some(points)
    }
}
