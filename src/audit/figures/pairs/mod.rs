//! The figures of a pair of secrets.

pub(crate) mod agreement;
pub(crate) mod figure;
pub(crate) mod points;

use crate::audit::figures::distributions::Distributions;
use crate::audit::figures::privacy::EpsilonLimit;
use crate::audit::figures::trade_off::TradeOff;
use crate::audit::pair::Pair;
use crate::estimate::{Estimate, Reason};

/// The pair that is easiest to tell apart; its limits hold on their own.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct WorstPair {
    /// The two secrets.
    pub secrets: Pair,
    /// 1 − total variation.
    pub bayes_security: Estimate,
    /// Total variation.
    pub total_variation: Estimate,
    /// All points of the total variation; discrete logs only.
    pub total_variation_points: Option<TotalVariationPoints>,
    /// Of the optimal adversary.
    pub advantage: Estimate,
    /// Of the best attack found.
    pub attack_advantage: Estimate,
    /// What differential privacy needs at least.
    pub epsilon: EpsilonLimit,
    /// What the attack's score achieves at every threshold.
    pub trade_off: Option<TradeOff>,
    /// Why there is none.
    pub trade_off_reason: Option<Reason>,
    /// The rows of both secrets, in the column in which they differ most.
    pub distributions: Option<Distributions>,
}

/// Points of the total variation of a pair of a discrete log; for the worst pair plug-in and minimax are
/// from rows that did not choose it.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct TotalVariationPoints {
    /// Of the empirical frequencies: biased upward, by much where observations are many and rows few.
    pub plug_in: f64,
    /// See [`leakgauge_attack::measure::minimax_tv`]; `None` with fewer than 16 rows.
    pub minimax: Option<f64>,
    /// The attack on the certification rows.
    pub held_out_attack: Option<f64>,
    /// Attacks on all rows, raised to what is certified.
    pub cross_fitted_attack: Option<f64>,
    /// Distinct observations of the pair in the rows of plug-in and minimax.
    pub distinct: u64,
    /// Harmonic mean of the two secrets' numbers of these rows.
    pub effective_rows: f64,
    /// Share of rows whose observation was seen once.
    pub seen_once: f64,
}

/// The figures of a pair; the limits of all pairs hold together. A log of thousands of secrets has millions of pairs:
/// what follows from another figure is not kept.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct PairFigures {
    /// The two secrets.
    pub secrets: Pair,
    /// Total variation.
    pub total_variation: Estimate,
    /// All points of the total variation, where they were asked for
    /// ([`Findings::with_points`](crate::audit::Findings::with_points)); discrete logs only.
    pub total_variation_points: Option<Box<TotalVariationPoints>>,
    /// Of an observer who is asked which of two measurements of a block is which, where there are blocks.
    pub paired_advantage: Option<Box<Estimate>>,
    /// p-value of "no leak between these two", corrected so that all pairs hold together (Holm); `None` where it
    /// was not computed.
    pub no_leak_p_value: Option<f64>,
}

impl PairFigures {
    /// 1 − total variation.
    pub fn bayes_security(&self) -> Estimate {
        self.total_variation.decreasing(|tv| 1.0 - tv)
    }

    /// Of the optimal adversary: the total variation.
    pub fn advantage(&self) -> Estimate {
        self.total_variation.clone()
    }
}
