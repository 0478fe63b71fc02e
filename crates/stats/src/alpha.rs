//! A ledger of the error probability: who spends which part of it.

/// The error probability α of many limits, of which each use takes a part.
///
/// # Formula
/// Limits that take the parts s₁, s₂, … of α, each wrong with probability at most sᵢα, are all right with probability
/// at least 1 − α Σ sᵢ ≥ 1 − α (Bonferroni's inequality), whatever hangs together among them.
///
/// # Conditions
/// Parts are taken before the rows that judge are looked at. All parts together are at most 1.
///
/// # Example
/// ```
/// use leakgauge_stats::alpha::Alpha;
///
/// let mut alpha = Alpha::new(0.05);
/// alpha.take("epsilon", 0.25);
/// alpha.take("total variation", 0.75);
/// assert_eq!(alpha.part(&"epsilon"), Some(0.25));
/// assert_eq!(alpha.left(), 0.0);
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Alpha<Use> {
    whole: f64,
    taken: Vec<(Use, f64)>,
}

/// What rounding may add to a sum of parts.
const ROUNDING: f64 = 1e-12;

impl<Use: PartialEq + std::fmt::Debug> Alpha<Use> {
    /// A level of which nothing is taken.
    pub fn new(whole: f64) -> Self {
        Alpha {
            whole,
            taken: Vec::new(),
        }
    }

    /// The whole error probability.
    pub fn whole(&self) -> f64 {
        self.whole
    }

    /// Takes a part for a use that has none yet.
    ///
    /// # Panics
    /// In builds for debugging, where more is taken than there is, or a use takes twice: both void the level.
    pub fn take(&mut self, of: Use, part: f64) {
        debug_assert!(
            self.part(&of).is_none(),
            "{of:?} has a part of the level already"
        );
        debug_assert!(
            part > 0.0 && part <= self.left() + ROUNDING,
            "{of:?} asks for {part} of the level, and {} is left",
            self.left()
        );
        self.taken.push((of, part));
    }

    /// The part of a use; `None` if it took none.
    pub fn part(&self, of: &Use) -> Option<f64> {
        let mut taken = self.taken.iter();
        taken.find(|(by, _)| by == of).map(|&(_, part)| part)
    }

    /// What is left, between 0 and 1.
    pub fn left(&self) -> f64 {
        let taken: f64 = self.taken.iter().map(|(_, part)| part).sum();
        (1.0 - taken).max(0.0)
    }

    /// All uses with their parts, in the order in which they took them.
    pub fn parts(&self) -> &[(Use, f64)] {
        &self.taken
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_may_use_up_the_level() {
        let mut alpha = Alpha::new(0.05);
        for tenth in 0..10 {
            alpha.take(tenth, 0.1);
        }
        assert!(alpha.left() < 1e-12);
        assert_eq!(alpha.parts().len(), 10);
        assert_eq!(alpha.part(&11), None);
    }

    #[test]
    #[cfg(debug_assertions)]
    #[should_panic(expected = "is left")]
    fn more_than_there_is_cannot_be_taken() {
        let mut alpha = Alpha::new(0.05);
        alpha.take("a", 0.6);
        alpha.take("b", 0.5);
    }

    #[test]
    #[cfg(debug_assertions)]
    #[should_panic(expected = "already")]
    fn nobody_takes_twice() {
        let mut alpha = Alpha::new(0.05);
        alpha.take("a", 0.1);
        alpha.take("a", 0.1);
    }

    #[test]
    #[cfg(debug_assertions)]
    #[should_panic(expected = "is left")]
    fn no_part_is_not_a_number() {
        Alpha::new(0.05).take("a", f64::NAN);
    }
}
