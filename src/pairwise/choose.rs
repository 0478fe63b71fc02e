//! Choosing a threshold for every pair on the tune rows.

use rayon::prelude::*;

use crate::observations::Counts;
use crate::pairwise::{AdvantageGuide, Rule, Tally, pair_count, pairs};
use crate::scores::ScoreTable;

/// What the tune rows say about a pair. Good for choosing, worthless as evidence.
#[derive(Debug, Clone)]
pub struct PairChoice {
    /// The rule with the best advantage.
    pub rule: Rule,
    /// How it did on the tune rows.
    pub tune: Tally,
    /// Its approximate lower limit of the advantage on the tune rows; −1 if a secret has none.
    pub lower: f64,
    /// For each δ: the rule with the largest lower limit of ε on the tune rows, and that limit.
    pub epsilon: Vec<(Rule, f64)>,
}

/// Chooses the rules of all pairs, in the order of [`pairs`].
///
/// The threshold of the advantage is 0, where the scores say that both secrets are equally likely,
/// unless another does better on the tune rows by more than a standard error.
pub fn choose_rules(
    scores: &ScoreTable,
    tune: &Counts,
    alpha: f64,
    deltas: &[f64],
) -> Vec<PairChoice> {
    let by_secret = rows_by_secret(tune);
    let guide = AdvantageGuide::new(alpha);
    let all: Vec<(u32, u32)> = pairs(tune.secrets()).collect();
    debug_assert_eq!(all.len(), pair_count(tune.secrets()));
    all.into_par_iter()
        .map(|(a, b)| Cuts::new(scores, &by_secret, a, b).choose(&guide, deltas))
        .collect()
}

/// For each secret, the table rows it occurs in and how often.
pub(crate) fn rows_by_secret(counts: &Counts) -> Vec<Vec<(usize, u64)>> {
    let mut by_secret = vec![Vec::new(); counts.secrets()];
    for (row, cells) in counts.by_symbol().enumerate() {
        for cell in cells {
            by_secret[cell.secret as usize].push((row, cell.count));
        }
    }
    by_secret
}

/// All ways of cutting the score differences of a pair.
struct Cuts {
    a: u32,
    b: u32,
    /// Distinct differences, descending, with the rows of a and of b that have them.
    steps: Vec<(f64, u64, u64)>,
    a_rows: u64,
    b_rows: u64,
}

impl Cuts {
    fn new(scores: &ScoreTable, by_secret: &[Vec<(usize, u64)>], a: u32, b: u32) -> Self {
        let difference = |row: usize| {
            let scores = scores.row(row);
            scores[a as usize] - scores[b as usize]
        };
        let of_a = by_secret[a as usize]
            .iter()
            .map(|&(row, count)| (difference(row), count, 0));
        let of_b = by_secret[b as usize]
            .iter()
            .map(|&(row, count)| (difference(row), 0, count));
        let mut steps: Vec<(f64, u64, u64)> = of_a.chain(of_b).collect();
        steps.sort_unstable_by(|x, y| y.0.total_cmp(&x.0));
        steps.dedup_by(|next, kept| {
            let same = next.0 == kept.0;
            if same {
                kept.1 += next.1;
                kept.2 += next.2;
            }
            same
        });
        Cuts {
            a,
            b,
            a_rows: steps.iter().map(|step| step.1).sum(),
            b_rows: steps.iter().map(|step| step.2).sum(),
            steps,
        }
    }

    fn choose(&self, guide: &AdvantageGuide, deltas: &[f64]) -> PairChoice {
        let (rule, tune) = self.best_advantage();
        let lower = if tune.is_judged() {
            guide.at_least(&tune)
        } else {
            -1.0
        };
        PairChoice {
            rule,
            tune,
            lower,
            epsilon: deltas
                .iter()
                .map(|&delta| self.best_epsilon(rule, tune, guide, delta))
                .collect(),
        }
    }

    fn rule(&self, threshold: f64) -> Rule {
        Rule {
            a: self.a,
            b: self.b,
            threshold,
        }
    }

    /// Every cut: a threshold and what it does on the tune rows.
    fn all(&self) -> impl Iterator<Item = (f64, Tally)> {
        let mut tally = Tally {
            a_rows: self.a_rows,
            a_missed: self.a_rows,
            b_rows: self.b_rows,
            b_missed: 0,
        };
        self.steps.windows(2).map(move |pair| {
            let ((here, a, b), (next, ..)) = (pair[0], pair[1]);
            tally.a_missed -= a;
            tally.b_missed += b;
            // Halfway, but below `here` even if the two are neighbouring floats.
            let threshold = next + 0.5 * (here - next);
            (if threshold < here { threshold } else { next }, tally)
        })
    }

    fn best_advantage(&self) -> (Rule, Tally) {
        let gain = |tally: &Tally| tally.advantage().unwrap_or(-1.0);
        let neutral = [0.0, -f64::MIN_POSITIVE]
            .map(|threshold| (threshold, self.tally_at(threshold)))
            .into_iter()
            .reduce(|best, next| {
                if gain(&next.1) > gain(&best.1) {
                    next
                } else {
                    best
                }
            });
        let neutral = neutral.expect("two candidates");
        let best = self
            .all()
            .reduce(|best, next| {
                if gain(&next.1) > gain(&best.1) {
                    next
                } else {
                    best
                }
            })
            .unwrap_or(neutral);
        let margin = standard_error(&neutral.1);
        let (threshold, tally) = if gain(&best.1) > gain(&neutral.1) + margin {
            best
        } else {
            neutral
        };
        (self.rule(threshold), tally)
    }

    fn tally_at(&self, threshold: f64) -> Tally {
        let taken_for_a = self.steps.iter().take_while(|step| step.0 > threshold);
        let (a, b) = taken_for_a.fold((0, 0), |(a, b), step| (a + step.1, b + step.2));
        Tally {
            a_rows: self.a_rows,
            a_missed: self.a_rows - a,
            b_rows: self.b_rows,
            b_missed: b,
        }
    }

    fn best_epsilon(
        &self,
        rule: Rule,
        tally: Tally,
        guide: &AdvantageGuide,
        delta: f64,
    ) -> (Rule, f64) {
        if !tally.is_judged() {
            return (rule, -1.0);
        }
        let value = |tally: &Tally| tally.errors_about(guide.separate()).odds_at_least(delta);
        let first = (rule.threshold, value(&tally));
        let (threshold, odds) = self
            .all()
            .map(|(threshold, tally)| (threshold, value(&tally)))
            .fold(
                first,
                |best, next| if next.1 > best.1 { next } else { best },
            );
        (self.rule(threshold), odds.max(1.0).ln())
    }
}

/// The standard error of TPR − FPR, with the counts drawn half a row to the middle.
fn standard_error(tally: &Tally) -> f64 {
    let variance = |missed: u64, rows: u64| {
        let rate = (missed as f64 + 0.5) / (rows as f64 + 1.0);
        rate * (1.0 - rate) / (rows as f64).max(1.0)
    };
    (variance(tally.a_missed, tally.a_rows) + variance(tally.b_missed, tally.b_rows)).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::observations::Cell;

    fn table(differences: &[f64], cells: &[(u32, u32, u64)]) -> (ScoreTable, Counts) {
        let cells = cells.iter().map(|&(secret, symbol, count)| Cell {
            secret,
            symbol,
            count,
        });
        let counts = Counts::new(2, cells.collect());
        let values = differences
            .iter()
            .flat_map(|&difference| [difference, 0.0])
            .collect();
        (ScoreTable::new(counts.symbols(), 2, values), counts)
    }

    #[test]
    fn zero_is_kept_unless_another_threshold_is_clearly_better() {
        let cells = [(0, 0, 50), (1, 0, 10), (0, 1, 50), (1, 1, 40), (1, 2, 50)];
        let (scores, counts) = table(&[1.0, 0.1, -1.0], &cells);
        let choice = &choose_rules(&scores, &counts, 0.05, &[])[0];
        assert_eq!(choice.rule.threshold, 0.0);
        let (scores, counts) = table(&[5.0, 4.0, 3.0], &cells);
        let choice = &choose_rules(&scores, &counts, 0.05, &[])[0];
        assert!(choice.rule.threshold > 3.0 && choice.rule.threshold < 4.0);
        assert_eq!((choice.tune.a_missed, choice.tune.b_missed), (0, 50));
    }

    #[test]
    fn ties_at_zero_go_to_the_side_that_the_tune_rows_favour() {
        let (scores, counts) = table(
            &[0.0, -1.0],
            &[(0, 0, 90), (1, 0, 10), (0, 1, 10), (1, 1, 90)],
        );
        let choice = &choose_rules(&scores, &counts, 0.05, &[])[0];
        assert!(choice.rule.threshold < 0.0);
        assert_eq!((choice.tune.a_missed, choice.tune.b_missed), (10, 10));
    }

    #[test]
    fn the_threshold_for_epsilon_goes_into_the_tail() {
        let cells = [
            (0, 0, 300),
            (0, 1, 400),
            (1, 1, 400),
            (0, 2, 300),
            (1, 2, 600),
        ];
        let (scores, counts) = table(&[3.0, 0.5, -1.0], &cells);
        let choice = &choose_rules(&scores, &counts, 0.05, &[0.0])[0];
        let (rule, epsilon) = choice.epsilon[0];
        assert!(rule.threshold > 0.5 && rule.threshold < 3.0);
        assert!(epsilon > 3.0, "{epsilon}");
    }
}
