//! Limits of the advantage of a rule.

use std::sync::Arc;

use rand_chacha::ChaCha8Rng;

use crate::pairwise::units::UnitAdvantage;
use crate::pairwise::{ErrorRates, PairErrors};
use leakgauge_stats::all_rows::Trials;
use leakgauge_stats::binomial::clopper_pearson_lower;
use leakgauge_stats::bisection::bisect;
use leakgauge_stats::hypergeometric;
use leakgauge_stats::level;
use leakgauge_stats::poisson_binomial::{poisson_binomial_lower, poisson_binomial_upper};
use leakgauge_stats::special::NINTH_DECILE;
use leakgauge_stats::wilson::Wilson;

/// How the advantage is limited. To be settled before the rows that judge are seen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AdvantageMethod {
    /// Clopper–Pearson on each error rate, α split between them.
    Separate,
    /// Clopper–Pearson on the errors of the same number of rows of either secret: their rate is
    /// (FNR + FPR)/2 = (1 − advantage)/2. Narrower unless one secret is much rarer.
    Pooled,
    /// Clopper–Pearson on the right answers of coin-tossed trials in several blocks of rows, each judged by
    /// an attack that had learned from the blocks before it; see [`leakgauge_stats::all_rows`].
    Prequential,
}

/// What judged rows say about the advantage of a rule.
#[derive(Debug, Clone, PartialEq)]
pub struct Advantage {
    tally: PairErrors,
    limits: Limits,
}

/// What the limits rest on.
#[derive(Debug, Clone, PartialEq)]
enum Limits {
    Separate,
    /// Each error rate with as many rows of a and of b as they are worth.
    Effective([u64; 2]),
    /// Errors of equally many rows of either secret, and the number of these rows.
    Pooled(u64, u64),
    Prequential(Trials),
    /// Where units are independent and rows are not.
    Units(Arc<UnitAdvantage>),
}

impl Advantage {
    /// Prepares the limits of one rule. Pooling draws equally many rows of either secret at random.
    ///
    /// # Panics
    /// If the method is [`AdvantageMethod::Prequential`], which [`Advantage::prequential`] is for.
    pub fn new(tally: PairErrors, method: AdvantageMethod, rng: &mut ChaCha8Rng) -> Self {
        assert!(
            method != AdvantageMethod::Prequential,
            "one rule, not one a block"
        );
        let rows = tally.a_rows.min(tally.b_rows);
        let limits = if method == AdvantageMethod::Pooled && rows > 0 {
            let a = hypergeometric::sample(tally.a_rows, tally.a_missed, rows, rng);
            let b = hypergeometric::sample(tally.b_rows, tally.b_missed, rows, rng);
            Limits::Pooled(a + b, 2 * rows)
        } else {
            Limits::Separate
        };
        Advantage { tally, limits }
    }

    /// Each error rate limited separately, with as many rows of a and of b as they are worth if that is
    /// given.
    pub fn separate(tally: PairErrors, effective: Option<[u64; 2]>) -> Self {
        Advantage {
            tally,
            limits: effective.map_or(Limits::Separate, Limits::Effective),
        }
    }

    /// Rules that judged one block of rows each, as trials made of these blocks. The tally is that of the
    /// last.
    pub fn prequential(tally: PairErrors, trials: Trials) -> Self {
        Advantage {
            tally,
            limits: Limits::Prequential(trials),
        }
    }

    /// Limits that count units; the tally is of their rows.
    pub fn units(tally: PairErrors, units: Arc<UnitAdvantage>) -> Self {
        Advantage {
            tally,
            limits: Limits::Units(units),
        }
    }

    /// What units say, where limits count units.
    pub fn of_units(&self) -> Option<&UnitAdvantage> {
        match &self.limits {
            Limits::Units(units) => Some(units),
            _ => None,
        }
    }

    /// The error rates as observed: over rows, or with units the means over units. `None` if a secret has no
    /// rows.
    pub fn rates(&self) -> Option<ErrorRates> {
        let rate = |missed: u64, rows: u64| missed as f64 / rows as f64;
        match self.of_units() {
            Some(units) => units.rates(),
            None => self.tally.is_judged().then(|| ErrorRates {
                missed: rate(self.tally.a_missed, self.tally.a_rows),
                false_alarm: rate(self.tally.b_missed, self.tally.b_rows),
            }),
        }
    }

    /// TPR − FPR as observed. Not clipped.
    pub fn point(&self) -> Option<f64> {
        match self.of_units() {
            Some(units) => units.rates().map(|rates| rates.advantage()),
            None => self.tally.advantage(),
        }
    }

    /// Whether the limits rest on effective rows, and so are approximate.
    pub fn is_approximate(&self) -> bool {
        matches!(self.limits, Limits::Effective(_))
    }

    /// Upper limits of both error rates that hold together with probability 1 − alpha; approximate with
    /// effective rows.
    pub fn errors_at_most(&self, alpha: f64) -> ErrorRates {
        match &self.limits {
            Limits::Units(units) => units.errors_at_most(alpha),
            Limits::Effective(rows) => self.tally.errors_at_most_of(*rows, alpha),
            _ => self.tally.errors_at_most(alpha),
        }
    }

    /// The upper limits of both error rates that [`at_least`](Self::at_least) is the difference of; `None` where only their sum is
    /// limited.
    pub fn rates_at_most(&self, alpha: f64) -> Option<ErrorRates> {
        match self.limits {
            Limits::Separate | Limits::Effective(_) => Some(self.errors_at_most(alpha)),
            Limits::Pooled(..) | Limits::Prequential(_) | Limits::Units(_) => None,
        }
    }

    fn errors_at_least(&self, alpha: f64) -> ErrorRates {
        match self.limits {
            Limits::Effective(rows) => self.tally.errors_at_least_of(rows, alpha),
            _ => self.tally.errors_at_least(alpha),
        }
    }

    /// The errors and rows that the limits rest on; of trials, those of the last block.
    pub fn tally(&self) -> &PairErrors {
        &self.tally
    }

    /// Which method it is.
    pub fn method(&self) -> AdvantageMethod {
        match self.limits {
            Limits::Separate | Limits::Effective(_) | Limits::Units(_) => AdvantageMethod::Separate,
            Limits::Pooled(..) => AdvantageMethod::Pooled,
            Limits::Prequential(_) => AdvantageMethod::Prequential,
        }
    }

    /// Lower limit of TPR − FPR at level 1 − alpha; of trials, of the best rule's.
    ///
    /// # Conditions
    /// Rule and method were fixed before the rows were seen; rows are independent.
    ///
    /// # References
    /// Clopper and Pearson 1934; for pooled errors of unequal rates Hoeffding 1956,
    /// doi:10.1214/aoms/1177728178; for trials [`leakgauge_stats::all_rows`].
    pub fn at_least(&self, alpha: f64) -> f64 {
        match &self.limits {
            &Limits::Pooled(errors, rows) => {
                1.0 - 2.0 * poisson_binomial_upper(errors, rows, alpha)
            }
            Limits::Units(units) => units.at_least(alpha),
            Limits::Prequential(trials) => trials.advantage_at_least(alpha),
            _ => self.errors_at_most(alpha).advantage(),
        }
    }

    /// Upper limit of |TPR − FPR|, no lower than that of a rule with the same TPR − FPR that errs as often with both secrets.
    ///
    /// # Formula
    /// Whoever sees that a rule is wrong more often than right turns it round: of both the larger is at most the larger of their
    /// limits, each at the level 1 − alpha. A rule that nearly always says the same has an advantage of 0 beyond doubt: that is
    /// no evidence of what it could have learned from so few rows. So no limit is below 1 − 2·(Clopper-Pearson's lower limit of
    /// the mean error rate over 2·n rows), 1/n the mean of 1/rows of both secrets.
    ///
    /// # Conditions
    /// See [`Advantage::at_least`].
    pub fn size_at_most(&self, alpha: f64) -> f64 {
        // Of trials the lower limit is about the best of several rules, and the last is meant.
        let turned = match &self.limits {
            Limits::Prequential(_) => self.errors_at_most(alpha).advantage(),
            _ => self.at_least(alpha),
        };
        let own = self.at_most(alpha).max(-turned);
        let (Some(point), None) = (self.point(), self.of_units()) else {
            return own.min(1.0);
        };
        let [a, b] = [self.tally.a_rows, self.tally.b_rows].map(|rows| rows as f64);
        let rows = (4.0 * a * b / (a + b)).floor() as u64;
        let errors = (0.5 * (1.0 - point.abs()) * rows as f64).floor() as u64;
        let balanced = 1.0 - 2.0 * clopper_pearson_lower(errors.min(rows), rows, alpha);
        own.max(balanced).min(1.0)
    }

    /// Upper limit of TPR − FPR of this rule at level 1 − alpha; of trials, of the last block's rule, which
    /// may be better than those before it. Conditions: see [`Advantage::at_least`].
    pub fn at_most(&self, alpha: f64) -> f64 {
        match &self.limits {
            &Limits::Pooled(errors, rows) => {
                1.0 - 2.0 * poisson_binomial_lower(errors, rows, alpha)
            }
            Limits::Units(units) => units.at_most(alpha),
            _ => self.errors_at_least(alpha).advantage(),
        }
    }

    /// The p-value of an advantage of at most `allowed`: the smallest level at which
    /// [`at_least`](Self::at_least) exceeds it. 1 where that is more than a quarter and has no closed form.
    pub fn p_value(&self, allowed: f64) -> f64 {
        if let Limits::Prequential(trials) = self.limits {
            return trials.p_value(allowed);
        }
        level::smallest(|alpha| self.at_least(alpha) > allowed).unwrap_or(1.0)
    }

    /// The same rates on a multiple of the rows. Units cannot be multiplied: with them it is the same.
    #[must_use]
    pub fn scaled(&self, factor: f64) -> Advantage {
        let scale = |count: u64| (count as f64 * factor).round() as u64;
        Advantage {
            tally: self.tally.scaled(factor),
            limits: match self.limits.clone() {
                limits @ (Limits::Separate | Limits::Units(_)) => limits,
                Limits::Effective(rows) => Limits::Effective(rows.map(scale)),
                Limits::Pooled(errors, rows) => Limits::Pooled(scale(errors), scale(rows)),
                Limits::Prequential(trials) => Limits::Prequential(Trials {
                    right: scale(trials.right),
                    all: scale(trials.all),
                }),
            },
        }
    }
}

/// Halvings that settle an advantage.
const HALVINGS: u32 = 40;

impl Advantage {
    /// The least leak that rules on so many rows prove to be above `bound` in nine of ten logs, at level 1 − alpha, given the mean
    /// and the variance of the advantage that rules reach where there is such a leak. `None` where there is none, and where units
    /// count.
    ///
    /// # Formula
    /// Both error rates are the same. Right answers fall short of what is expected by 1.2816 standard errors in one of ten logs;
    /// the lower limit is that of as many.
    pub fn least_shown(
        &self,
        bound: f64,
        alpha: f64,
        learned: &dyn Fn(f64) -> (f64, f64),
    ) -> Option<f64> {
        let shows = |leak: f64| {
            let limit = self.limit_of(learned(leak), alpha);
            limit.is_some_and(|limit| limit > bound)
        };
        if alpha <= 0.0 || bound >= 1.0 || !shows(1.0) {
            return None;
        }
        Some(bisect((bound.max(0.0), 1.0), HALVINGS, |leak| !shows(leak)).1)
    }

    /// The lower limit that all but one of ten logs of so many rows exceed, given the mean and the variance of the advantage of
    /// the rules.
    fn limit_of(&self, (advantage, variance): (f64, f64), alpha: f64) -> Option<f64> {
        let (right, wrong) = (0.5 * (1.0 + advantage), 0.5 * (1.0 - advantage));
        // Of the share of errors, among so many rows.
        let off = |rows: f64| NINTH_DECILE * (right * wrong / rows + 0.25 * variance).sqrt();
        let errors = |rows: u64, rate: f64| (rate.min(1.0) * rows as f64).ceil() as u64;
        let unlucky = |rows: u64| errors(rows, wrong + off(rows as f64));
        match &self.limits {
            &Limits::Prequential(trials) => {
                let all = trials.all;
                let right = all - unlucky(all);
                Some(Trials { right, all }.advantage_at_least(alpha))
            }
            &Limits::Pooled(_, rows) => {
                Some(1.0 - 2.0 * poisson_binomial_upper(unlucky(rows), rows, alpha))
            }
            Limits::Separate => {
                let [a_rows, b_rows] = [self.tally.a_rows, self.tally.b_rows];
                // The mean of both rates is off as that of so many rows is.
                let rows = 4.0 / (1.0 / a_rows as f64 + 1.0 / b_rows as f64);
                let rate = wrong + off(rows);
                let tally = PairErrors {
                    a_rows,
                    a_missed: errors(a_rows, rate),
                    b_rows,
                    b_missed: errors(b_rows, rate),
                };
                Some(tally.errors_at_most(alpha).advantage())
            }
            Limits::Effective(_) | Limits::Units(_) => None,
        }
    }
}

/// Approximate lower limits of the advantage, for choosing.
#[derive(Debug, Clone, Copy)]
pub struct AdvantageGuide {
    separate: Wilson,
    strict: Wilson,
    pooled: Wilson,
}

/// Where the luckiest of very many cuts would win, cuts are held to this share of the level.
const STRICT_SHARE: f64 = 0.1;

impl AdvantageGuide {
    /// For limits at level 1 − alpha.
    pub fn new(alpha: f64) -> Self {
        AdvantageGuide {
            separate: Wilson::new(alpha / 2.0),
            strict: Wilson::new(STRICT_SHARE * alpha / 2.0),
            pooled: Wilson::new(alpha),
        }
    }

    /// Approximate limits of each error rate at half the level.
    pub fn separate(&self) -> &Wilson {
        &self.separate
    }

    /// Approximate limits of each error rate at a tenth of that.
    pub fn strict(&self) -> &Wilson {
        &self.strict
    }

    /// The larger of the two approximate lower limits.
    pub fn at_least(&self, tally: &PairErrors) -> f64 {
        let [separate, pooled] = self.both(tally);
        separate.max(pooled)
    }

    /// The method that promises the larger limit if a tally's rates recur on so many rows.
    pub fn method(&self, tune: &PairErrors, a_rows: u64, b_rows: u64) -> AdvantageMethod {
        let expected = |missed: u64, rows: u64, then: u64| {
            let rate = (missed as f64 + 0.5) / (rows as f64 + 1.0);
            (rate * then as f64).round() as u64
        };
        let [separate, pooled] = self.both(&PairErrors {
            a_rows,
            a_missed: expected(tune.a_missed, tune.a_rows, a_rows),
            b_rows,
            b_missed: expected(tune.b_missed, tune.b_rows, b_rows),
        });
        if pooled > separate {
            AdvantageMethod::Pooled
        } else {
            AdvantageMethod::Separate
        }
    }

    fn both(&self, tally: &PairErrors) -> [f64; 2] {
        let separate = tally.errors_about(&self.separate).advantage();
        let rows = tally.a_rows.min(tally.b_rows);
        let share = |missed: u64, of: u64| missed as f64 * (rows as f64 / of.max(1) as f64);
        let errors = share(tally.a_missed, tally.a_rows) + share(tally.b_missed, tally.b_rows);
        let pooled = 1.0 - 2.0 * self.pooled.upper(errors.round() as u64, 2 * rows);
        [separate, pooled]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::SeedableRng;

    fn tally(a_rows: u64, a_missed: u64, b_rows: u64, b_missed: u64) -> PairErrors {
        PairErrors {
            a_rows,
            a_missed,
            b_rows,
            b_missed,
        }
    }

    #[test]
    fn pooling_is_narrower_when_rows_are_balanced_and_wider_when_they_are_not() {
        let guide = AdvantageGuide::new(0.05);
        let tune = tally(100, 25, 100, 25);
        assert_eq!(guide.method(&tune, 2000, 2000), AdvantageMethod::Pooled);
        assert_eq!(
            guide.method(&tally(100, 10, 20, 0), 4000, 20),
            AdvantageMethod::Separate
        );
        let mut rng = ChaCha8Rng::seed_from_u64(0);
        let balanced = tally(2000, 500, 2000, 500);
        let pooled = Advantage::new(balanced, AdvantageMethod::Pooled, &mut rng);
        let separate = Advantage::new(balanced, AdvantageMethod::Separate, &mut rng);
        assert!(pooled.at_least(0.05) > separate.at_least(0.05) + 0.01);
        assert!(pooled.at_most(0.05) < separate.at_most(0.05) - 0.01);
    }

    /// scipy.stats.beta.ppf(0.95, 1001, 3000): 1000 errors in 4000 rows.
    #[test]
    fn with_equal_rows_all_of_them_are_pooled() {
        let mut rng = ChaCha8Rng::seed_from_u64(0);
        let advantage = Advantage::new(
            tally(2000, 300, 2000, 700),
            AdvantageMethod::Pooled,
            &mut rng,
        );
        let expected = 1.0 - 2.0 * 0.261_519_756_003_184_67;
        assert!((advantage.at_least(0.05) - expected).abs() < 1e-9);
    }
}
