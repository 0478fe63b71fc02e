//! Choosing a threshold for every pair on the tune rows.

use leakgauge_base::parallel;

use crate::pairwise::rows::{by_score, rows_by_secret};
use crate::pairwise::{AdvantageGuide, PairErrors, Rule, Target, pair_count, pairs};
use crate::scores::{PairView, ScoreTable};
use leakgauge_base::quantity::PrivacyParameter;
use leakgauge_log::observations::Counts;
use leakgauge_stats::renyi;
use leakgauge_stats::wilson::Wilson;

/// What the tune rows say about a pair. Good for choosing, worthless as evidence.
#[derive(Debug, Clone)]
pub struct PairChoice {
    /// The rule with the best advantage.
    pub rule: Rule,
    /// How it did on the tune rows.
    pub tune: PairErrors,
    /// Its approximate lower limit of the advantage on the tune rows; −1 if a secret has none.
    pub lower: f64,
    /// For each target: the rule with the largest lower limit on the tune rows, and that limit; −1 if a secret has
    /// no rows or the target is not about this pair.
    pub privacy: Vec<(Rule, f64)>,
}

/// Chooses the rules of all pairs, in the order of [`pairs`].
///
/// The threshold of the advantage is 0, where the scores say that both secrets are equally likely,
/// unless another does better on the tune rows by more than a standard error.
pub fn choose_rules(
    scores: &ScoreTable,
    tune: &Counts,
    alpha: f64,
    targets: &[Target],
) -> Vec<PairChoice> {
    let by_secret = rows_by_secret(tune);
    let guide = AdvantageGuide::new(alpha);
    let all: Vec<(u32, u32)> = pairs(tune.secrets()).collect();
    debug_assert_eq!(all.len(), pair_count(tune.secrets()));
    let scores = &scores.for_pairs();
    parallel::map_in_place(all.len(), &|pair| {
        let (a, b) = all[pair];
        let parameters = targets.iter().map(|target| target.at(pair));
        Cuts::new(scores, &by_secret, a, b).choose(&guide, parameters)
    })
}

/// All ways of cutting the score differences of a pair.
pub(super) struct Cuts {
    a: u32,
    b: u32,
    /// Distinct differences, descending, with the rows of a and of b that have them.
    steps: Vec<(f64, u64, u64)>,
    a_rows: u64,
    b_rows: u64,
}

impl Cuts {
    pub(super) fn new(scores: &PairView, by_secret: &[Vec<(usize, u64)>], a: u32, b: u32) -> Self {
        let [of_a, of_b] = [a, b].map(|secret| &by_secret[secret as usize]);
        let mut rows = Vec::with_capacity(of_a.len() + of_b.len());
        // Rows that both secrets have become one entry before anything is sorted.
        let mut rest = &of_b[..];
        let mut add = |row: usize, of_a: u64, of_b: u64| {
            let [a, b] = scores.pair(row, [a, b]);
            rows.push((a - b, of_a, of_b));
        };
        for &(row, count) in of_a {
            while let Some((&(before, alone), later)) =
                rest.split_first().filter(|next| next.0.0 < row)
            {
                add(before, 0, alone);
                rest = later;
            }
            let both = rest.split_first().filter(|next| next.0.0 == row);
            add(row, count, both.map_or(0, |next| next.0.1));
            rest = both.map_or(rest, |next| next.1);
        }
        rest.iter().for_each(|&(row, count)| add(row, 0, count));
        Cuts::of(a, b, by_score(rows))
    }

    /// From distinct differences, the largest first, with the rows of a and of b that have them.
    pub(super) fn of(a: u32, b: u32, steps: Vec<(f64, u64, u64)>) -> Self {
        Cuts {
            a,
            b,
            a_rows: steps.iter().map(|step| step.1).sum(),
            b_rows: steps.iter().map(|step| step.2).sum(),
            steps,
        }
    }

    fn choose(
        &self,
        guide: &AdvantageGuide,
        parameters: impl Iterator<Item = Option<PrivacyParameter>>,
    ) -> PairChoice {
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
            privacy: parameters
                .map(|parameter| match parameter {
                    Some(parameter) => self.best_privacy(rule, tune, guide, parameter),
                    None => (rule, -1.0),
                })
                .collect(),
        }
    }

    pub(super) fn rule(&self, threshold: f64) -> Rule {
        Rule {
            a: self.a,
            b: self.b,
            threshold,
        }
    }

    /// Every cut: a threshold and what it does on the tune rows.
    pub(super) fn all(&self) -> impl Iterator<Item = (f64, PairErrors)> {
        let mut tally = PairErrors {
            a_rows: self.a_rows,
            a_missed: self.a_rows,
            b_rows: self.b_rows,
            b_missed: 0,
        };
        self.steps.windows(2).map(move |pair| {
            let ((here, a, b), (next, ..)) = (pair[0], pair[1]);
            tally.a_missed -= a;
            tally.b_missed += b;
            // Halfway, but below `here` even if the two are neighboring floats.
            let threshold = next + 0.5 * (here - next);
            (if threshold < here { threshold } else { next }, tally)
        })
    }

    fn best_advantage(&self) -> (Rule, PairErrors) {
        let gain = |tally: &PairErrors| tally.advantage().unwrap_or(-1.0);
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

    /// The threshold with the largest approximate limit of a parameter.
    pub(super) fn threshold_for(&self, guide: &AdvantageGuide, parameter: PrivacyParameter) -> f64 {
        let (rule, tally) = self.best_advantage();
        self.best_privacy(rule, tally, guide, parameter).0.threshold
    }

    pub(super) fn tally_at(&self, threshold: f64) -> PairErrors {
        let taken_for_a = self.steps.iter().take_while(|step| step.0 > threshold);
        let (a, b) = taken_for_a.fold((0, 0), |(a, b), step| (a + step.1, b + step.2));
        PairErrors {
            a_rows: self.a_rows,
            a_missed: self.a_rows - a,
            b_rows: self.b_rows,
            b_missed: b,
        }
    }

    /// The rule with the largest approximate limit of a parameter, and that limit.
    ///
    /// In the tail, where few rows decide, the best of many cuts is mostly a lucky one. So limits at a
    /// stricter level choose, unless they show nothing at any cut.
    fn best_privacy(
        &self,
        rule: Rule,
        tally: PairErrors,
        guide: &AdvantageGuide,
        parameter: PrivacyParameter,
    ) -> (Rule, f64) {
        if !tally.is_judged() {
            return (rule, -1.0);
        }
        let first = (rule.threshold, tally);
        let chosen = match self.best_cut(first, guide.strict(), parameter) {
            (_, value) if value <= 0.0 => self.best_cut(first, guide.separate(), parameter).0,
            (chosen, _) => chosen,
        };
        let limit = at_least(&chosen.1, guide.separate(), parameter);
        (self.rule(chosen.0), limit)
    }

    /// The cut with the largest approximate limit, and that limit.
    fn best_cut(
        &self,
        first: (f64, PairErrors),
        level: &Wilson,
        parameter: PrivacyParameter,
    ) -> ((f64, PairErrors), f64) {
        let value = |tally: &PairErrors| match parameter {
            // Ordered as its logarithm, which is left to the end.
            PrivacyParameter::Epsilon { delta } => {
                tally.errors_about(level).odds_at_least(delta) - 1.0
            }
            PrivacyParameter::Mu | PrivacyParameter::Rho | PrivacyParameter::Renyi { .. } => {
                at_least(tally, level, parameter)
            }
        };
        match parameter {
            PrivacyParameter::Epsilon { .. } => largest(first, self.all(), value),
            PrivacyParameter::Mu | PrivacyParameter::Rho | PrivacyParameter::Renyi { .. } => {
                largest(first, self.hull(), value)
            }
        }
    }

    /// The cuts at the corners of the convex hull of the ROC curve. μ, ρ and Rényi divergences are quasi-convex in both
    /// error rates, so that no other cut has larger rates of them; their limits differ little from
    /// that, and are too dear to be computed for every cut.
    fn hull(&self) -> impl Iterator<Item = (f64, PairErrors)> {
        let end = |a_missed: u64, b_missed: u64| {
            let tally = PairErrors {
                a_rows: self.a_rows,
                a_missed,
                b_rows: self.b_rows,
                b_missed,
            };
            (f64::NAN, tally)
        };
        let mut corners: Vec<(f64, PairErrors)> = vec![end(self.a_rows, 0)];
        for next in self.all().chain([end(0, self.b_rows)]) {
            while let [.., before, last] = &corners[..]
                && !turns_down(&before.1, &last.1, &next.1)
            {
                corners.pop();
            }
            corners.push(next);
        }
        corners
            .into_iter()
            .filter(|(threshold, _)| !threshold.is_nan())
    }
}

/// The approximate limit of a parameter that a cut shows.
pub(super) fn at_least(tally: &PairErrors, level: &Wilson, parameter: PrivacyParameter) -> f64 {
    let errors = tally.errors_about(level);
    match parameter {
        PrivacyParameter::Epsilon { delta } => errors.odds_at_least(delta).max(1.0).ln(),
        PrivacyParameter::Mu => errors.mu_at_least(),
        PrivacyParameter::Rho => renyi::concentrated_about(errors.missed, errors.false_alarm),
        PrivacyParameter::Renyi { order } => {
            renyi::divergence_at_least(errors.missed, errors.false_alarm, order)
        }
    }
}

/// The cut with the largest value, the first of equals, and that value.
fn largest(
    first: (f64, PairErrors),
    others: impl Iterator<Item = (f64, PairErrors)>,
    value: impl Fn(&PairErrors) -> f64,
) -> ((f64, PairErrors), f64) {
    let start = (first, value(&first.1));
    others.map(|cut| (cut, value(&cut.1))).fold(
        start,
        |best, next| if next.1 > best.1 { next } else { best },
    )
}

/// Whether a ROC curve becomes flatter at `here`: b taken for a to the right, a taken for a upward.
fn turns_down(before: &PairErrors, here: &PairErrors, next: &PairErrors) -> bool {
    let step = |from: &PairErrors, to: &PairErrors| {
        let right = i128::from(to.b_missed) - i128::from(from.b_missed);
        let up = i128::from(from.a_missed) - i128::from(to.a_missed);
        (right, up)
    };
    let ((right, up), (then_right, then_up)) = (step(before, here), step(here, next));
    up * then_right > then_up * right
}

/// The standard error of TPR − FPR, with the counts drawn half a row to the middle.
fn standard_error(tally: &PairErrors) -> f64 {
    let variance = |missed: u64, rows: u64| {
        let rate = (missed as f64 + 0.5) / (rows as f64 + 1.0);
        rate * (1.0 - rate) / (rows as f64).max(1.0)
    };
    (variance(tally.a_missed, tally.a_rows) + variance(tally.b_missed, tally.b_rows)).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;
    use leakgauge_log::observations::Cell;

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
    fn ties_at_zero_go_to_the_side_that_the_tune_rows_favor() {
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
        let targets = [Target::All(PrivacyParameter::Epsilon { delta: 0.0 })];
        let choice = &choose_rules(&scores, &counts, 0.05, &targets)[0];
        let (rule, epsilon) = choice.privacy[0];
        assert!(rule.threshold > 0.5 && rule.threshold < 3.0);
        assert!(epsilon > 3.0, "{epsilon}");
    }

    #[test]
    fn the_hull_has_the_best_cut_for_what_is_quasi_convex() {
        let counts = [40u64, 7, 30, 30, 12, 25, 3, 1, 9, 2];
        let others = [1u64, 0, 4, 9, 2, 30, 30, 12, 40, 55];
        let steps: Vec<_> = (0..10)
            .map(|i| (10.0 - i as f64, counts[i], others[i]))
            .collect();
        let cuts = Cuts {
            a: 0,
            b: 1,
            a_rows: counts.iter().sum(),
            b_rows: others.iter().sum(),
            steps,
        };
        let rates = |tally: &PairErrors| crate::pairwise::ErrorRates {
            missed: tally.a_missed as f64 / tally.a_rows as f64,
            false_alarm: tally.b_missed as f64 / tally.b_rows as f64,
        };
        assert!(cuts.hull().count() < cuts.all().count());
        for parameter in [PrivacyParameter::Mu, PrivacyParameter::Rho] {
            let best = |cuts: &mut dyn Iterator<Item = (f64, PairErrors)>| {
                cuts.map(|(_, tally)| rates(&tally).at_least(parameter))
                    .filter(|value| value.is_finite())
                    .fold(0.0, f64::max)
            };
            assert_eq!(best(&mut cuts.hull()), best(&mut cuts.all()));
        }
    }
}
