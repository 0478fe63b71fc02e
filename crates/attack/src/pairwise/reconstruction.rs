//! Choosing an event for the success of a reconstruction: sup P(E) with Q(E) ≤ κ of all ordered pairs of secrets.

use leakgauge_base::parallel;

use crate::pairwise::choose::Cuts;
use crate::pairwise::{AdvantageGuide, ErrorRates, PairErrors, Rule, pairs, rows_by_secret};
use crate::scores::ScoreTable;
use leakgauge_log::observations::Counts;
use leakgauge_stats::reconstruction::success_at_least;

/// One of the two events of a rule.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct DirectedRule {
    /// The rule.
    pub rule: Rule,
    /// Whether the event is that the rule says b, which finds rows of b; otherwise it is that it says a.
    pub reversed: bool,
}

impl DirectedRule {
    /// The secret whose rows the event finds, of law P, then the other, of law Q.
    pub fn secrets(&self) -> [u32; 2] {
        let Rule { a, b, .. } = self.rule;
        if self.reversed { [b, a] } else { [a, b] }
    }

    /// The success at κ that the error rates of the rule show; of upper limits of both that hold together, a lower
    /// limit. See [`success_at_least`].
    pub fn success(&self, errors: &ErrorRates, kappa: f64) -> f64 {
        let (missed, without) = if self.reversed {
            (errors.false_alarm, errors.missed)
        } else {
            (errors.missed, errors.false_alarm)
        };
        success_at_least(1.0 - missed, without, kappa)
    }
}

/// For each κ the event of any two secrets whose approximate lower limit on the tune rows is largest. `judged` are the
/// rows of every secret that will judge: a pair without is no candidate unless all are.
///
/// In the tail, where few rows decide, the best of many cuts is mostly a lucky one. So limits at a stricter level
/// choose, unless they show nothing at any cut.
pub fn choose_events(
    scores: &ScoreTable,
    tune: &Counts,
    judged: &[u64],
    alpha: f64,
    kappas: &[f64],
) -> Vec<DirectedRule> {
    let by_secret = rows_by_secret(tune);
    let guide = AdvantageGuide::new(alpha);
    let all: Vec<(u32, u32)> = pairs(tune.secrets()).collect();
    let scores = &scores.for_pairs();
    let of_pairs = parallel::map(all.len(), |pair| {
        let (a, b) = all[pair];
        let cuts = Cuts::new(scores, &by_secret, a, b);
        let is_judged = [a, b].iter().all(|&secret| judged[secret as usize] > 0);
        let best = |&kappa: &f64| {
            let (value, event) = best_event(&cuts, &guide, kappa);
            (if is_judged { value } else { [-1.0; 2] }, event)
        };
        kappas.iter().map(best).collect::<Vec<_>>()
    });
    (0..kappas.len())
        .map(|at| {
            let candidates = of_pairs.iter().map(|events| events[at]);
            let best = candidates.reduce(|best, next| if next.0 > best.0 { next } else { best });
            best.expect("a log has two secrets").1
        })
        .collect()
}

/// The best event of a pair, with its approximate limits beyond κ: at the stricter level, then at the usual one.
fn best_event(cuts: &Cuts, guide: &AdvantageGuide, kappa: f64) -> ([f64; 2], DirectedRule) {
    let valued = |(threshold, tally): (f64, PairErrors), reversed: bool| {
        let event = DirectedRule {
            rule: cuts.rule(threshold),
            reversed,
        };
        let levels = [guide.strict(), guide.separate()];
        let value = levels.map(|level| event.success(&tally.errors_about(level), kappa) - kappa);
        (value, event)
    };
    let neutral = valued((0.0, cuts.tally_at(0.0)), false);
    let others = cuts
        .all()
        .flat_map(|cut| [false, true].map(|reversed| valued(cut, reversed)));
    others.fold(
        neutral,
        |best, next| if next.0 > best.0 { next } else { best },
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use leakgauge_log::observations::Cell;

    /// Three secrets; the third shows observation 2 in a tenth of its rows, which the others nearly never do, and looks
    /// like the first otherwise. The second differs from the first by total variation 0.3.
    fn counts() -> Counts {
        let table = [
            [5_000u64, 4_999, 1],
            [8_000, 1_999, 1],
            [4_500, 4_500, 1_000],
        ];
        let cells = table.iter().enumerate().flat_map(|(s, row)| {
            row.iter().enumerate().map(move |(o, &count)| Cell {
                secret: s as u32,
                symbol: o as u32,
                count,
            })
        });
        Counts::new(3, cells.collect())
    }

    fn scores() -> ScoreTable {
        let rows = [[0.5, 0.8, 0.45], [0.5, 0.2, 0.45], [1e-4, 1e-4, 0.1f64]];
        let values = rows.iter().flatten().map(|p| p.ln()).collect();
        ScoreTable::new(vec![0, 1, 2], 3, values)
    }

    #[test]
    fn a_rare_event_serves_a_small_kappa_and_a_common_one_a_large() {
        let found = choose_events(&scores(), &counts(), &[1_000; 3], 0.05, &[0.001, 0.5]);
        assert_eq!(found[0].secrets()[0], 2, "{found:?}");
        let mut common = found[1].secrets();
        common.sort_unstable();
        assert!(common.contains(&1), "{found:?}");
        let bare = ErrorRates {
            missed: 0.9,
            false_alarm: 1e-4,
        };
        let event = DirectedRule {
            rule: Rule {
                a: 2,
                b: 0,
                threshold: 0.0,
            },
            reversed: false,
        };
        // κ above the event's own probability: the rest of Q is filled with the complement.
        let expected = 0.1 + 0.9 * (0.001 - 1e-4) / (1.0 - 1e-4);
        assert!((event.success(&bare, 0.001) - expected).abs() < 1e-12);
        assert_eq!(event.secrets(), [2, 0]);
    }

    #[test]
    fn a_pair_that_cannot_be_judged_is_no_candidate() {
        let found = choose_events(&scores(), &counts(), &[10, 10, 0], 0.05, &[0.001]);
        assert!(!found[0].secrets().contains(&2), "{found:?}");
    }
}
