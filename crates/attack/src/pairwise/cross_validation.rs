//! What an attacker's scores promise of privacy, by cross-validation inside the tune rows.
//!
//! The largest limit over all cuts of the rows that chose the cut is mostly that of the luckiest cut, and most so for
//! the attackers whose scores are noisiest. So cuts are chosen on one half of the rows and counted on the other, both
//! ways.

use leakgauge_base::parallel;
use leakgauge_base::quantity::PrivacyParameter;
use leakgauge_log::observations::Counts;
use leakgauge_stats::guess_tests::RARE_SHARE;
use leakgauge_stats::tails::{Past, Tails, promised};

use crate::pairwise::choose::{Cuts, at_least};
use crate::pairwise::guesses::guess;
use crate::pairwise::rows::{by_score, rows_by_secret};
use crate::pairwise::{AdvantageGuide, PairErrors, Target, pairs};
use crate::scores::ScoreTable;

/// The rows that will judge, and at which level.
#[derive(Debug, Clone, Copy)]
pub struct Judging {
    /// Tosses to come at a pair.
    pub trials: u64,
    /// Level of limits.
    pub alpha: f64,
}

/// For each target, the largest cross-validated limit over all pairs; at least 0.
pub fn promises(
    scores: &ScoreTable,
    tune: &Counts,
    judging: Judging,
    targets: &[&Target],
) -> Vec<f64> {
    let by_secret = rows_by_secret(tune);
    let guide = AdvantageGuide::new(judging.alpha);
    let all: Vec<(u32, u32)> = pairs(tune.secrets()).collect();
    let of_pairs: Vec<Vec<f64>> = parallel::map(all.len(), |pair| {
        let (a, b) = all[pair];
        let halves = Halves::new(scores, &by_secret, [a, b]);
        let targets = targets.iter().map(|target| target.at(pair));
        targets
            .map(|parameter| match parameter {
                Some(PrivacyParameter::Epsilon { delta }) => halves.epsilon(delta, judging),
                Some(other) => halves.other(&guide, other),
                None => 0.0,
            })
            .collect()
    });
    let largest = |target: usize| of_pairs.iter().map(|pair| pair[target]).fold(0.0, f64::max);
    (0..targets.len()).map(largest).collect()
}

/// Score differences of a pair in two halves, the largest first, with the rows of a and of b that have them.
struct Halves {
    pair: [u32; 2],
    steps: [Vec<(f64, u64, u64)>; 2],
}

impl Halves {
    /// Rows go to either half in turn.
    fn new(scores: &ScoreTable, by_secret: &[Vec<(usize, u64)>], [a, b]: [u32; 2]) -> Self {
        let mut steps = [Vec::new(), Vec::new()];
        for (secret, of_a) in [(a, true), (b, false)] {
            let mut odd = 0;
            for &(row, count) in &by_secret[secret as usize] {
                let scores = scores.row(row);
                let difference = scores[a as usize] - scores[b as usize];
                let first = (count + odd) / 2;
                odd = (count + odd) % 2;
                for (steps, count) in steps.iter_mut().zip([first, count - first]) {
                    if count > 0 {
                        let [x, y] = if of_a { [count, 0] } else { [0, count] };
                        steps.push((difference, x, y));
                    }
                }
            }
        }
        Halves {
            pair: [a, b],
            steps: steps.map(by_score),
        }
    }

    /// ε as guesses at both ends will limit it; a rare event alone is tested beside them.
    fn epsilon(&self, delta: f64, judging: Judging) -> f64 {
        let past = self.steps.each_ref();
        let past = past.map(|steps| Past::new(steps).with_delta(delta));
        let rows = past[0].rows() + past[1].rows();
        let Judging { trials, alpha } = judging;
        let of = |tails: [Option<Tails>; 2], alpha: f64| {
            let [Some(first), Some(second)] = tails else {
                return 0.0;
            };
            // Both secrets weigh alike.
            let mut sums = [0.0; 2];
            for (tails, steps) in [first, second].iter().zip(self.steps.iter().rev()) {
                for side in guess(steps, tails) {
                    let weight = 0.25 / side.rows.max(1) as f64;
                    sums[0] += weight * side.right as f64;
                    sums[1] += weight * side.wrong as f64;
                }
            }
            promised(sums, rows, delta, trials, alpha)
        };
        let most = past.each_ref().map(|past| past.best(trials, alpha));
        let rare = past
            .each_ref()
            .map(|past| past.boldest(trials, RARE_SHARE * alpha));
        of(most, alpha).max(of(rare, RARE_SHARE * alpha))
    }

    /// Everything else as two error rates will limit it.
    fn other(&self, guide: &AdvantageGuide, parameter: PrivacyParameter) -> f64 {
        let [a, b] = self.pair;
        let cuts = self
            .steps
            .each_ref()
            .map(|steps| Cuts::of(a, b, steps.clone()));
        let judged = [0, 1].map(|half| {
            let threshold = cuts[half].threshold_for(guide, parameter);
            cuts[1 - half].tally_at(threshold)
        });
        let sum = PairErrors {
            a_rows: judged[0].a_rows + judged[1].a_rows,
            a_missed: judged[0].a_missed + judged[1].a_missed,
            b_rows: judged[0].b_rows + judged[1].b_rows,
            b_missed: judged[0].b_missed + judged[1].b_missed,
        };
        if !sum.is_judged() {
            return 0.0;
        }
        at_least(&sum, guide.separate(), parameter).max(0.0)
    }
}
