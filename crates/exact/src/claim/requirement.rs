//! What a promise requires of every pair of neighboring secrets.

use super::Guarantee;
use leakgauge_base::quantity::{OverallFigure, PrivacyParameter, Quantity};
use leakgauge_base::time::TimeUnit;

/// A bound on leakage, in the terms in which it can be judged. Several promises make the same kind of
/// requirement: local differential privacy is (ε, 0)-differential privacy of secrets that are all neighbors.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Requirement {
    /// Differential privacy of some form.
    Privacy(Guarantee),
    /// Bayes security is at least this.
    BayesSecurity {
        /// The least Bayes security.
        at_least: f64,
    },
    /// The advantage of the optimal adversary is at most this.
    Advantage {
        /// The largest advantage.
        at_most: f64,
    },
    /// Several (ε, δ) at once, which the promise lists; this follows from them.
    Curve {
        /// The largest advantage that they leave.
        advantage: f64,
    },
    /// The advantage of the best attack found is at most this.
    AttackAdvantage {
        /// The largest advantage.
        at_most: f64,
    },
    /// A figure of all secrets together is at most this.
    Overall {
        /// Which figure.
        figure: OverallFigure,
        /// The most bits.
        at_most: f64,
    },
    /// The medians of differences of times are at most this.
    TimeDifference(TimeBound),
}

/// A largest difference of times.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TimeBound {
    /// The largest difference.
    pub at_most: f64,
    /// Its unit; that of the log if not given.
    pub unit: Option<TimeUnit>,
}

impl Requirement {
    /// The quantity that decides whether it is met.
    pub fn quantity(self) -> Quantity {
        match self {
            Requirement::Privacy(guarantee) => Quantity::Privacy(guarantee.quantity()),
            Requirement::BayesSecurity { .. } => Quantity::BayesSecurity,
            Requirement::Advantage { .. } | Requirement::Curve { .. } => Quantity::Advantage,
            Requirement::AttackAdvantage { .. } => Quantity::AttackAdvantage,
            Requirement::Overall { figure, .. } => Quantity::Overall(figure),
            Requirement::TimeDifference(_) => Quantity::TimeDifference,
        }
    }

    /// The form of privacy, if it is one.
    pub fn guarantee(self) -> Option<Guarantee> {
        match self {
            Requirement::Privacy(guarantee) => Some(guarantee),
            Requirement::BayesSecurity { .. }
            | Requirement::Advantage { .. }
            | Requirement::Curve { .. }
            | Requirement::AttackAdvantage { .. }
            | Requirement::Overall { .. }
            | Requirement::TimeDifference(_) => None,
        }
    }

    /// Whether it limits all attacks on any two secrets: not if it is about attacks that were found, about times, or about
    /// an average over all secrets, of which two may be told apart although the average is small.
    pub fn covers_all_attacks(self) -> bool {
        match self {
            Requirement::Privacy(_)
            | Requirement::BayesSecurity { .. }
            | Requirement::Advantage { .. }
            | Requirement::Curve { .. } => true,
            Requirement::Overall { figure, .. } => figure.covers_all_attacks(),
            Requirement::AttackAdvantage { .. } | Requirement::TimeDifference(_) => false,
        }
    }

    /// Whether it is a bound on total variation and nothing more. Differential privacy is not, unless ε
    /// is 0: it also bounds how likely rare observations are.
    pub fn is_a_bound_on_total_variation(self) -> bool {
        match self {
            // (0, δ) is total variation at most δ (Proposition 2).
            Requirement::Privacy(Guarantee::Dp { epsilon, .. }) => epsilon == 0.0,
            Requirement::Privacy(
                Guarantee::Gaussian { .. }
                | Guarantee::Concentrated { .. }
                | Guarantee::Renyi { .. },
            )
            | Requirement::Curve { .. }
            | Requirement::AttackAdvantage { .. }
            | Requirement::Overall { .. }
            | Requirement::TimeDifference(_) => false,
            Requirement::BayesSecurity { .. } | Requirement::Advantage { .. } => true,
        }
    }

    /// The largest Σ_o max_s P(o | s) that is promised as such: maximal leakage is its binary logarithm. `None` of other
    /// requirements.
    pub fn largest_capacity(&self) -> Option<f64> {
        match *self {
            Requirement::Overall {
                figure: OverallFigure::MaximalLeakage,
                at_most,
            } => Some(at_most.exp2()),
            _ => None,
        }
    }

    /// The largest total variation between two neighboring secrets that it leaves possible.
    ///
    /// For an attack advantage this is the bound on the attack: total variation is the advantage
    /// of the best possible attack, so an attack found cannot exceed it, but attacks that were not found
    /// may exceed the bound.
    ///
    /// # Formula
    /// That of the [`Guarantee`] for privacy; 1 − b for Bayes security b; a for an advantage a; that of the
    /// [`OverallFigure`] for a figure of all secrets; 1 for a difference of times, which leaves any other difference possible.
    pub fn largest_total_variation(self) -> f64 {
        match self {
            Requirement::Privacy(guarantee) => guarantee.largest_total_variation(),
            Requirement::BayesSecurity { at_least } => 1.0 - at_least,
            Requirement::Curve { advantage } => advantage,
            Requirement::Advantage { at_most } | Requirement::AttackAdvantage { at_most } => {
                at_most
            }
            Requirement::Overall { figure, at_most } => figure.largest_total_variation(at_most),
            Requirement::TimeDifference(_) => 1.0,
        }
    }

    /// 1 − [`Requirement::largest_total_variation`], computed without cancellation.
    pub fn least_bayes_security(self) -> f64 {
        match self {
            Requirement::Privacy(guarantee) => guarantee.least_bayes_security(),
            Requirement::BayesSecurity { at_least } => at_least,
            Requirement::Curve { advantage } => 1.0 - advantage,
            Requirement::Advantage { at_most } | Requirement::AttackAdvantage { at_most } => {
                1.0 - at_most
            }
            Requirement::Overall { figure, at_most } => {
                1.0 - figure.largest_total_variation(at_most)
            }
            Requirement::TimeDifference(_) => 0.0,
        }
    }
}

impl Guarantee {
    /// The parameter whose lower limit refutes the guarantee.
    pub fn quantity(self) -> PrivacyParameter {
        match self {
            Guarantee::Dp { delta, .. } => PrivacyParameter::Epsilon { delta },
            Guarantee::Gaussian { .. } => PrivacyParameter::Mu,
            Guarantee::Concentrated { .. } => PrivacyParameter::Rho,
            Guarantee::Renyi { order, .. } => PrivacyParameter::Renyi { order },
        }
    }
}
