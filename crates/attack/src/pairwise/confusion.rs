//! What a table of an attack's answers proves, where nothing was chosen on its rows.

use crate::pairwise::advantage::Advantage;
use crate::pairwise::{ErrorRates, PairErrors};
use leakgauge_base::error::{Error, Result};
use leakgauge_base::quantity::PrivacyParameter;
use leakgauge_stats::binomial::{clopper_pearson_lower, clopper_pearson_upper};

/// How often an attack said yes and no, by the truth. Attack and threshold were fixed before these rows were seen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Confusion {
    errors: PairErrors,
}

/// Limits of one rate or difference of rates; both hold together at the level that was asked for.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RateLimits {
    /// As observed.
    pub point: f64,
    /// At least.
    pub lower: f64,
    /// At most.
    pub upper: f64,
}

impl Confusion {
    /// From the counts of right and wrong answers.
    ///
    /// # Errors
    /// No row of one of the two truths; more than 2⁵³ rows of one.
    pub fn new(
        true_positives: u64,
        false_negatives: u64,
        false_positives: u64,
        true_negatives: u64,
    ) -> Result<Self> {
        const MOST: u64 = 1 << 53;
        let rows = |right: u64, wrong: u64, truth: &str| match right.checked_add(wrong) {
            Some(0) => Err(
                Error::parameter("confusion", format!("there is no {truth} row"))
                    .with_hint("an advantage is a difference between two rates: both need rows"),
            ),
            Some(rows) if rows <= MOST => Ok(rows),
            _ => Err(Error::parameter(
                "confusion",
                format!("there are more than 2^53 {truth} rows"),
            )),
        };
        Ok(Confusion {
            errors: PairErrors {
                a_rows: rows(true_positives, false_negatives, "positive")?,
                a_missed: false_negatives,
                b_rows: rows(true_negatives, false_positives, "negative")?,
                b_missed: false_positives,
            },
        })
    }

    /// The error rates as observed.
    pub fn rates(&self) -> ErrorRates {
        ErrorRates {
            missed: self.errors.a_missed as f64 / self.errors.a_rows as f64,
            false_alarm: self.errors.b_missed as f64 / self.errors.b_rows as f64,
        }
    }

    /// Limits of the true positive rate: Clopper–Pearson, `alpha`/2 on either side.
    pub fn true_positive_rate(&self, alpha: f64) -> RateLimits {
        rate(
            self.errors.a_rows - self.errors.a_missed,
            self.errors.a_rows,
            alpha,
        )
    }

    /// Limits of the false positive rate: Clopper–Pearson, `alpha`/2 on either side.
    pub fn false_positive_rate(&self, alpha: f64) -> RateLimits {
        rate(self.errors.b_missed, self.errors.b_rows, alpha)
    }

    /// Limits of the attack's advantage TPR − FPR: from Clopper–Pearson limits of both error rates, `alpha`/2 on
    /// either side, shared equally by the two rates.
    pub fn advantage(&self, alpha: f64) -> RateLimits {
        let advantage = Advantage::separate(self.errors, None);
        RateLimits {
            point: self.errors.advantage().unwrap_or_default(),
            lower: advantage.at_least(alpha / 2.0),
            upper: advantage.at_most(alpha / 2.0),
        }
    }

    /// Lower limits of what the mechanism leaks, at every parameter of privacy: all of them hold together at level
    /// 1 − `alpha`, since all are functions of the same two upper limits.
    ///
    /// # Formula
    /// Clopper–Pearson upper limits of FNR and FPR at `alpha`/2 each; then total variation ≥ 1 − FNR − FPR, and
    /// [`ErrorRates::at_least`].
    ///
    /// # Conditions
    /// Independent rows; attack and threshold fixed beforehand.
    pub fn at_least(&self, alpha: f64) -> LeakAtLeast {
        LeakAtLeast {
            errors: self.errors.errors_at_most(alpha),
        }
    }
}

fn rate(inside: u64, rows: u64, alpha: f64) -> RateLimits {
    RateLimits {
        point: inside as f64 / rows as f64,
        lower: clopper_pearson_lower(inside, rows, alpha / 2.0),
        upper: clopper_pearson_upper(inside, rows, alpha / 2.0),
    }
}

/// Lower limits that hold together.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LeakAtLeast {
    errors: ErrorRates,
}

impl LeakAtLeast {
    /// Of the total variation, which is the advantage of the optimal adversary; 0 where nothing is shown.
    pub fn total_variation(&self) -> f64 {
        self.errors.advantage().max(0.0)
    }

    /// Of a parameter of privacy; 0 where nothing is shown.
    pub fn privacy(&self, parameter: PrivacyParameter) -> f64 {
        self.errors.at_least(parameter)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::{RngExt, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    const EPSILON: PrivacyParameter = PrivacyParameter::Epsilon { delta: 0.0 };

    #[test]
    fn an_attack_that_never_errs_has_limits_in_closed_form() {
        let table = Confusion::new(100, 0, 0, 50).unwrap();
        let found = table.at_least(0.05);
        let (missed, false_alarm) = (1.0 - 0.025f64.powf(0.01), 1.0 - 0.025f64.powf(0.02));
        assert!((found.total_variation() - (1.0 - missed - false_alarm)).abs() < 1e-9);
        let epsilon = ((1.0 - missed) / false_alarm)
            .ln()
            .max(((1.0 - false_alarm) / missed).ln());
        assert!((found.privacy(EPSILON) - epsilon).abs() < 1e-9);
        assert_eq!(table.true_positive_rate(0.05).upper, 1.0);
        assert!((table.true_positive_rate(0.05).lower - 0.025f64.powf(0.01)).abs() < 1e-9);
        assert_eq!(table.advantage(0.05).point, 1.0);
    }

    #[test]
    fn an_attack_that_guesses_shows_nothing_and_both_truths_need_rows() {
        let blind = Confusion::new(50, 50, 50, 50).unwrap();
        let found = blind.at_least(0.05);
        assert_eq!(
            (found.total_variation(), found.privacy(EPSILON)),
            (0.0, 0.0)
        );
        let limits = blind.advantage(0.05);
        assert!(limits.lower < 0.0 && limits.upper > 0.0);
        for (counts, truth) in [([0, 0, 1, 1], "positive"), ([1, 1, 0, 0], "negative")] {
            let [tp, missed, fp, tn] = counts;
            let error = Confusion::new(tp, missed, fp, tn).unwrap_err();
            assert!(error.to_string().contains(truth), "{error}");
        }
        assert!(Confusion::new(u64::MAX, 1, 1, 1).is_err());
    }

    /// Limits at level 0.9 miss in at most a tenth of tables: 3,000 tables, so that 12.2 % would be four standard
    /// errors above.
    #[test]
    fn limits_hold_at_their_level() {
        let (tpr, fpr, tables) = (0.6, 0.3, 3_000);
        let mut rng = ChaCha8Rng::seed_from_u64(7);
        let (mut above, mut outside) = (0, 0);
        let epsilon = ErrorRates {
            missed: 1.0 - tpr,
            false_alarm: fpr,
        }
        .at_least(EPSILON);
        for _ in 0..tables {
            let mut yes =
                |rows: u64, p: f64| (0..rows).filter(|_| rng.random_bool(p)).count() as u64;
            let (tp, fp) = (yes(80, tpr), yes(120, fpr));
            let table = Confusion::new(tp, 80 - tp, fp, 120 - fp).unwrap();
            above += usize::from(table.at_least(0.1).privacy(EPSILON) > epsilon);
            let limits = table.advantage(0.1);
            outside += usize::from(limits.lower > tpr - fpr || limits.upper < tpr - fpr);
        }
        let most = tables * 122 / 1_000;
        assert!(above <= most && outside <= most, "{above} {outside}");
    }
}
