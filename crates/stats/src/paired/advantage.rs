//! Telling which of two simultaneous measurements is which.

use rand::RngExt;
use rand_chacha::ChaCha8Rng;

use crate::binomial::{clopper_pearson_lower, clopper_pearson_upper};
use crate::long_run::LongRun;

/// A rule of an observer who sees two measurements of a block in unknown order and says which is b's.
///
/// The rule looks at an antisymmetric value of the two, their difference or the difference of their distances from
/// a center. It takes its sign, or the opposite, as it was learned for the size of the value.
#[derive(Debug, Clone, PartialEq)]
pub struct PairedRule {
    feature: Feature,
    /// Ascending sizes at which the next answer begins.
    edges: Vec<f64>,
    /// For sizes up to each edge, then beyond: whether b is the one with the larger value.
    b_is_larger: Vec<bool>,
}

/// A rule is chosen instead of the simplest if it is better by so many.
const STANDARD_ERRORS: f64 = 2.0;

#[derive(Debug, Clone, Copy, PartialEq)]
enum Feature {
    Value,
    Distance { center: f64 },
}

impl Feature {
    fn of(self, a: f64, b: f64) -> f64 {
        match self {
            Feature::Value => b - a,
            Feature::Distance { center } => (b - center).abs() - (a - center).abs(),
        }
    }
}

/// How often a rule was right.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PairedErrors {
    /// Blocks.
    pub blocks: u64,
    /// Blocks in which it was right; where both measurements look alike, a coin decides.
    pub right: u64,
    /// How much right answers vary in the long run.
    pub answers: LongRun,
}

impl PairedErrors {
    /// The advantage of the rule, 2·(share of right answers) − 1; 0 without blocks.
    pub fn advantage(&self) -> f64 {
        if self.blocks == 0 {
            return 0.0;
        }
        2.0 * self.right as f64 / self.blocks as f64 - 1.0
    }

    /// A lower limit of the rule's advantage, and so of the total variation of (X_a, X_b) and (X_b, X_a).
    ///
    /// # Formula
    /// 2p − 1 with the Clopper–Pearson limit p. A rule that errs with probability e in one order errs with e in the
    /// other, by antisymmetry, so that its advantage is 1 − 2e.
    ///
    /// # Conditions
    /// Blocks that the rule was not learned from. Dependent ones count as the [part](LongRun::share) of them that may
    /// be counted, rounded against the rule.
    pub fn at_least(&self, alpha: f64) -> f64 {
        let share = self.answers.share(alpha);
        let right = (share * self.right as f64).floor();
        let wrong = (share * (self.blocks - self.right) as f64).ceil();
        2.0 * clopper_pearson_lower(right as u64, (right + wrong) as u64, alpha) - 1.0
    }

    /// An upper limit of the rule's own advantage: another rule may do better.
    pub fn at_most(&self, alpha: f64) -> f64 {
        let share = self.answers.share(alpha);
        let right = (share * self.right as f64).ceil();
        let wrong = (share * (self.blocks - self.right) as f64).floor();
        2.0 * clopper_pearson_upper(right as u64, (right + wrong) as u64, alpha) - 1.0
    }
}

impl PairedRule {
    /// Learns from some blocks and chooses on others.
    ///
    /// Candidates for either value: its sign for all sizes; opposite answers below and above a quantile of the
    /// sizes; an answer for each of 16 bins of sizes. The sign of the difference is taken unless another is right more
    /// often by two standard errors: a center that was learned may not be that of later blocks.
    ///
    /// # Panics
    /// If `a` and `b` have different lengths.
    pub fn learn(fit: [&[f64]; 2], tune: [&[f64]; 2]) -> PairedRule {
        let features = [
            Feature::Value,
            Feature::Distance {
                center: center(fit),
            },
        ];
        let mut rules = features.iter().flat_map(|&of| candidates(of, fit));
        let simplest = rules.next().expect("each value has a rule");
        let others = rules.map(|rule| (rule.gain(&simplest, tune), rule));
        match others.max_by(|(one, _), (other, _)| one.total_cmp(other)) {
            Some((gain, rule)) if gain > STANDARD_ERRORS => rule,
            _ => simplest,
        }
    }

    /// 1 for the right answer, −1 for the wrong one, 0 where both look alike.
    fn answer(&self, a: f64, b: f64) -> i64 {
        let value = self.feature.of(a, b);
        if value == 0.0 {
            return 0;
        }
        let bin = self.edges.partition_point(|&edge| edge < value.abs());
        if (value > 0.0) == self.b_is_larger[bin] {
            1
        } else {
            -1
        }
    }

    /// By how many standard errors it is right more often than another rule.
    fn gain(&self, other: &PairedRule, [a, b]: [&[f64]; 2]) -> f64 {
        let (mut sum, mut squares) = (0, 0);
        for (&x, &y) in a.iter().zip(b) {
            let more = self.answer(x, y) - other.answer(x, y);
            sum += more;
            squares += more * more;
        }
        match squares {
            0 => 0.0,
            squares => sum as f64 / (squares as f64).sqrt(),
        }
    }

    /// Judges the rule on blocks that it has not seen, given in their order.
    ///
    /// Limits allow for how much right answers vary in the long run.
    pub fn judge(&self, [a, b]: [&[f64]; 2], rng: &mut ChaCha8Rng) -> PairedErrors {
        let mut answer = |(&x, &y): (&f64, &f64)| match self.answer(x, y) {
            0 => f64::from(u8::from(rng.random::<bool>())),
            answer => f64::from(u8::from(answer > 0)),
        };
        let right: Vec<f64> = a.iter().zip(b).map(&mut answer).collect();
        PairedErrors {
            blocks: right.len() as u64,
            right: right.iter().sum::<f64>() as u64,
            answers: LongRun::of(right),
        }
    }

    /// Whether the rule looks at how far measurements are from a center, and not at which is larger.
    pub fn is_about_spread(&self) -> bool {
        matches!(self.feature, Feature::Distance { .. })
    }
}

fn center([a, b]: [&[f64]; 2]) -> f64 {
    let mut all: Vec<f64> = a.iter().chain(b).copied().collect();
    if all.is_empty() {
        return 0.0;
    }
    let middle = all.len() / 2;
    *all.select_nth_unstable_by(middle, f64::total_cmp).1
}

fn candidates(feature: Feature, [a, b]: [&[f64]; 2]) -> Vec<PairedRule> {
    const BINS: usize = 16;
    const SPLITS: [f64; 6] = [0.25, 0.5, 0.75, 0.9, 0.95, 0.99];
    let values = a.iter().zip(b).map(|(&x, &y)| feature.of(x, y));
    let values: Vec<f64> = values.filter(|&value| value != 0.0).collect();
    let mut sizes: Vec<f64> = values.iter().map(|value| value.abs()).collect();
    sizes.sort_unstable_by(f64::total_cmp);
    let at = |p: f64| sizes[(p * (sizes.len() - 1) as f64).round() as usize];
    let mut all = vec![rule(feature, Vec::new(), &values)];
    if sizes.len() >= 10 * BINS {
        all.extend(SPLITS.iter().map(|&p| rule(feature, vec![at(p)], &values)));
        let edges = (1..BINS).map(|bin| at(bin as f64 / BINS as f64));
        all.push(rule(feature, edges.collect(), &values));
    }
    all
}

/// The rule with these edges that is right most often.
fn rule(feature: Feature, mut edges: Vec<f64>, values: &[f64]) -> PairedRule {
    edges.dedup();
    let mut majority = vec![0i64; edges.len() + 1];
    for value in values {
        let bin = edges.partition_point(|&edge| edge < value.abs());
        majority[bin] += if *value > 0.0 { 1 } else { -1 };
    }
    PairedRule {
        feature,
        edges,
        b_is_larger: majority.iter().map(|&votes| votes >= 0).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use leakgauge_testing::rng;

    #[test]
    fn a_rule_finds_which_is_larger_and_which_spreads() {
        let mut rng = rng(7);
        let mut draw = |count: usize| -> Vec<f64> { (0..count).map(|_| rng.random()).collect() };
        let (a, b) = (draw(3000), draw(3000));
        let later: Vec<f64> = b.iter().map(|x| x + 0.5).collect();
        let wider: Vec<f64> = b.iter().map(|x| 3.0 * x - 1.0).collect();
        for (b, is_about_spread) in [(later, false), (wider, true)] {
            let part = |from: usize| [&a[from..from + 1000], &b[from..from + 1000]];
            let rule = PairedRule::learn(part(0), part(1000));
            let [x, y] = part(2000);
            let errors = rule.judge([x, y], &mut leakgauge_testing::rng(1));
            assert_eq!(rule.is_about_spread(), is_about_spread);
            assert!(errors.at_least(0.05) > 0.4, "{errors:?}");
            assert!(errors.at_most(0.05) < 1.0 && errors.advantage() > 0.4);
        }
    }

    #[test]
    fn a_drift_does_not_hide_which_is_larger() {
        // Blocks that choose lie above the center of those that are learned from, those that judge below it.
        let mut rng = rng(5);
        let mut part = |level: f64| -> [Vec<f64>; 2] {
            let mut draw = |more: f64| -> Vec<f64> {
                let noise = (0..200).map(|_| 100.0 * rng.random::<f64>());
                noise.map(|noise| level + more + noise).collect()
            };
            [draw(0.0), draw(40.0)]
        };
        for _ in 0..20 {
            let [fit, tune, judge] = [1000.0, 2000.0, -1000.0].map(&mut part);
            let rule = PairedRule::learn([&fit[0], &fit[1]], [&tune[0], &tune[1]]);
            let errors = rule.judge([&judge[0], &judge[1]], &mut leakgauge_testing::rng(1));
            assert!(errors.advantage() > 0.4, "{errors:?} of {rule:?}");
        }
    }

    #[test]
    fn what_looks_alike_is_a_coin_toss() {
        let same = vec![1.0; 10_000];
        let rule = PairedRule::learn([&same, &same], [&same, &same]);
        let errors = rule.judge([&same, &same], &mut rng(3));
        assert!(errors.advantage().abs() < 0.04, "{errors:?}");
        let none = rule.judge([&[], &[]], &mut rng(3));
        assert_eq!((none.advantage(), none.at_least(0.05)), (0.0, -1.0));
    }
}
