//! What is certified of some pair of secrets, without a word on which: by one rule for all pairs, and by naming one of all
//! secrets.
//!
//! # Formula
//! Whoever names one of k secrets, and is right with probability p at the uniform prior, names another one with probability
//! (1 − p)/(k − 1) on the average over the secrets that it is not. So over all pairs the test "it is a, and not b" has the mean
//! error rates 1 − p and (1 − p)/(k − 1). All parameters are convex in the two laws together, hence some pair has at least what
//! these error rates imply.

use crate::audit::basis::Evidence;
use crate::audit::certified_limit::{CertifiedLimit, Source};
use crate::audit::closure::{Read, Statements, smaller};
use crate::audit::figures::overall::figure::{named_at_least, named_rate};
use crate::audit::figures::privacy::PrivacyLimit;
use crate::estimate::Method;
use leakgauge_base::quantity::PrivacyParameter;
use leakgauge_judge::Certified;
use leakgauge_stats::error_rates::ErrorRates;

impl Evidence<'_> {
    /// What is certified of some pair, had the level of the log been 1 − `alpha`.
    fn of_some_pair(&self, alpha: f64) -> Statements {
        let mut all = Statements::new();
        if !self.neighbors.are_all() {
            return all;
        }
        let source = |method: Method| Source {
            method,
            planned: None,
        };
        if let Some(average) = self.average {
            let level = alpha * self.plan.part(CertifiedLimit::Average);
            let certified = Certified::Errors(average.errors_at_most(level));
            all.add(certified, source(Method::AveragePair));
        }
        if let Some(right) = named_at_least(self, alpha) {
            let certified = Certified::Errors(self.mean_rates(right));
            all.add(certified, source(Method::NamedSecret));
        }
        all
    }

    /// The mean error rates over all pairs of who names one of all secrets and is so often right.
    fn mean_rates(&self, right: f64) -> ErrorRates {
        let wrong = (1.0 - right).max(0.0);
        ErrorRates {
            missed: wrong,
            false_alarm: wrong / (self.labels.len() as f64 - 1.0),
        }
    }

    /// The estimated error rates behind a limit.
    fn estimated_rates(&self, method: Method) -> Option<ErrorRates> {
        match method {
            Method::NamedSecret => named_rate(self).map(|right| self.mean_rates(right)),
            _ => self.average.map(|average| average.rates()),
        }
    }

    /// A parameter of some pair. The pair is the one that was planned for.
    pub(super) fn some_pair_at(&self, quantity: PrivacyParameter, pair: usize) -> Option<Read> {
        let all = self.of_some_pair(self.alpha());
        let (lower, source) = all.at_least(quantity)?;
        let rates = self.estimated_rates(source.method);
        let point = rates.map_or(lower, |rates| rates.at_least(quantity).max(lower));
        Some(Read {
            limit: PrivacyLimit {
                quantity,
                secrets: self.pair(pair),
                is_of_some_pair: true,
                point: Some(point).filter(|point| point.is_finite()),
                lower: Some(lower),
                witness: None,
            },
            pair,
            source: Some(*source),
        })
    }

    /// The total variation of some pair: its estimate and its limit, and how that was obtained.
    pub(super) fn some_total_variation(&self) -> Option<(f64, f64, Method)> {
        let all = self.of_some_pair(self.alpha());
        let (lower, source) = all.total_variation()?;
        let rates = self.estimated_rates(source.method);
        let point = rates.map_or(lower, |rates| rates.advantage().max(lower));
        Some((point, lower, source.method))
    }

    /// The p-value of a parameter of all pairs being at most `allowed`, by what is said of some pair.
    pub(super) fn some_privacy_p_value(&self, quantity: PrivacyParameter, allowed: f64) -> f64 {
        self.some_p_value(|all| {
            let found = all.at_least(quantity);
            found.is_some_and(|found| found.0 > allowed)
        })
    }

    /// The same of the total variation.
    pub(super) fn some_total_variation_p_value(&self, allowed: f64) -> f64 {
        self.some_p_value(|all| {
            let found = all.total_variation();
            found.is_some_and(|found| found.0 > allowed)
        })
    }

    fn some_p_value(&self, refuted: impl Fn(&Statements) -> bool) -> f64 {
        smaller(1.0, |alpha| refuted(&self.of_some_pair(alpha)))
    }
}
