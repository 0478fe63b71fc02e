//! All that is certified of two secrets, closed under implication.

use crate::Certified;
use leakgauge_base::quantity::PrivacyParameter;

/// Everything that is certified of two secrets, each statement with what it comes from.
///
/// ```
/// use leakgauge_base::quantity::PrivacyParameter;
/// use leakgauge_judge::{Certified, Limits};
///
/// let mut limits = Limits::new();
/// limits.add(Certified::TotalVariation(0.7673), "an attack");
/// let pure = PrivacyParameter::Epsilon { delta: 0.0 };
/// limits.add(Certified::Parameter(pure, 0.1), "guesses");
/// // 2 artanh(0.7673) = 2.0274.
/// let (epsilon, from) = limits.at_least(pure).expect("both say something");
/// assert!(epsilon > 2.0274 && *from == "an attack");
/// ```
///
/// # Conditions
/// All statements hold together at the level that is stated of what is read here: whoever certifies them shares the level
/// among them.
#[derive(Debug, Clone, PartialEq)]
pub struct Limits<S> {
    certified: Vec<(Certified, S)>,
}

impl<S> Default for Limits<S> {
    fn default() -> Self {
        Limits::new()
    }
}

impl<S> Limits<S> {
    /// Nothing yet.
    pub fn new() -> Self {
        Limits {
            certified: Vec::new(),
        }
    }

    /// One statement more.
    pub fn add(&mut self, certified: Certified, source: S) {
        self.certified.push((certified, source));
    }

    /// The statements, in the order in which they were added.
    pub fn certified(&self) -> &[(Certified, S)] {
        &self.certified
    }

    /// The largest total variation that follows, at least 0, and what it comes from, the first of equals; `None` where nothing
    /// is certified.
    pub fn total_variation(&self) -> Option<(f64, &S)> {
        self.largest(&|certified| certified.total_variation())
    }

    /// The same of a parameter of privacy.
    pub fn at_least(&self, asked: PrivacyParameter) -> Option<(f64, &S)> {
        self.largest(&|certified| certified.at_least(asked))
    }

    fn largest(&self, value: &dyn Fn(&Certified) -> f64) -> Option<(f64, &S)> {
        let values = self.certified.iter();
        values
            .map(|(certified, source)| (value(certified), source))
            .reduce(|best, next| if next.0 > best.0 { next } else { best })
    }
}

impl<S> Extend<(Certified, S)> for Limits<S> {
    fn extend<I: IntoIterator<Item = (Certified, S)>>(&mut self, more: I) {
        self.certified.extend(more);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use leakgauge_stats::error_rates::ErrorRates;

    #[test]
    fn the_largest_of_all_statements_is_read_with_its_source() {
        let mut limits = Limits::new();
        assert_eq!(limits.total_variation(), None);
        let mu = PrivacyParameter::Mu;
        limits.add(Certified::TotalVariation(0.3), "table");
        limits.add(Certified::Parameter(mu, 0.9), "band");
        let rates = ErrorRates {
            missed: 0.9,
            false_alarm: 1e-4,
        };
        limits.extend([(Certified::Errors(rates), "tail")]);
        assert_eq!(limits.total_variation(), Some((0.3, &"table")));
        assert_eq!(limits.at_least(mu).map(|found| *found.1), Some("tail"));
        let pure = PrivacyParameter::Epsilon { delta: 0.0 };
        let (epsilon, source) = limits.at_least(pure).expect("something is certified");
        assert!((epsilon - 1000f64.ln()).abs() < 1e-9 && *source == "tail");
        // At a δ of all that the tail finds, the total variation says more.
        let other = PrivacyParameter::Epsilon { delta: 0.1 };
        assert_eq!(limits.at_least(other).map(|found| *found.1), Some("table"));
    }
}
