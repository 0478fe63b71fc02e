//! A figure with what is known about it.

use serde::Serialize;

use leakgauge_base::quantity::PrivacyParameter;

/// How a point or limit was obtained.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Method {
    /// The chosen attack on rows it never saw.
    HeldOutAttack,
    /// Attacks of the chosen kind on every row of the log, each learned and tuned without the part of
    /// the log that it is tried on.
    CrossFittedAttack,
    /// Polynomial approximation of |x − y|, for alphabets larger than the sample.
    MinimaxTotalVariation,
    /// Clopper–Pearson on each error rate of the attack, α split between them.
    ClopperPearson,
    /// Kolmogorov distance with the Dvoretzky–Kiefer–Wolfowitz–Massart bound.
    KolmogorovDkw,
    /// The binomial limit of the one event in which the laws differ most, at the plug-in estimate.
    FixedEvent,
    /// A statistic of the squared differences, for alphabets with few rows for each observation.
    SparseCloseness,
    /// Clopper–Pearson on the answers to coin-tossed trials, each row judged by an attack that learned from
    /// earlier blocks of rows.
    PrequentialBinomial,
    /// Clopper–Pearson on a number of guesses promised beforehand, made where scores are extreme.
    PromisedGuesses,
    /// Counts in groups of similar rows together, against truncated binomial ones: [`leakgauge_stats::groups`].
    GroupsOfRows,
    /// Bets on the mean errors of one rule over all pairs: [`leakgauge_attack::pairwise::average`].
    AveragePair,
    /// The limit of how often one of all secrets is named, which some pair must allow.
    NamedSecret,
    /// Guesses of secrets that stayed masked until the end, weighed beforehand: [`leakgauge_attack::pairwise::masked`].
    MaskedRows,
    /// Pooled errors of a prior-matched subsample, Clopper–Pearson (Hoeffding 1956).
    MatchedClopperPearson,
    /// Chernoff bound for the prior-weighted errors.
    WeightedChernoff,
    /// A threshold by order statistics of one secret's rows, Clopper–Pearson on the other's.
    OrderStatisticClopperPearson,
    /// A band around both errors at all thresholds, Dvoretzky–Kiefer–Wolfowitz–Massart.
    DkwBand,
    /// That band, and order statistics with Clopper–Pearson in either tail, together.
    BandAndTails,
    /// The Gaussian shift with the same area under the ROC curve.
    AreaUnderCurve,
    /// Chernoff's bound on the pairs of rows that are independent: [`leakgauge_stats::area`].
    PairedChernoff,
    /// Bets on the mean weights of all rows by the bin of their score: [`leakgauge_stats::variational`].
    WeighedScores,
    /// Clopper–Pearson on each error rate with as many rows as the autocorrelated errors are worth;
    /// approximate.
    ClopperPearsonEffectiveRows,
    /// Bets on the error rates of independent units, every unit counting once.
    UnitBetting,
    /// The same, each unit judged by an attack that learned from earlier blocks of units.
    PrequentialUnits,
    /// One random row of every unit, Clopper–Pearson or Chernoff on their errors.
    OneRowAUnit,
    /// Plug-in estimate of the mean law of the units plus McDiarmid's inequality over units.
    UnitMcdiarmid,
    /// Clopper–Pearson on blocks: which of two measurements is which.
    PairedClopperPearson,
    /// The median of the differences inside blocks.
    MedianDifference,
    /// The difference of the medians of two independent samples.
    DifferenceOfMedians,
    /// Order statistics, by the binomial law.
    OrderStatistics,
    /// Limits of two independent logs, each at half the level, taken from each other.
    CombinedLimits,
    /// Guesses about the canaries of one training run: binomial domination, and the recursion of f-differential
    /// privacy.
    OneRunGuesses,
    /// The empirical frequencies of all rows: biased upward, by much where observations are many and rows few.
    PlugIn,
    /// The Rényi divergence between right guesses with and without the observation, at a limit of the Bayes
    /// vulnerability.
    GuessDivergence,
    /// The limit of maximal leakage, which is no smaller.
    MaximalLeakage,
    /// Bets on what held-out rows gain, on average, by a posterior that other rows chose
    /// ([`leakgauge_stats::information`]).
    HeldOutGains,
    /// The plug-in information, and the exponential moments of the true log-likelihood ratio
    /// ([`leakgauge_stats::information`]).
    PlugInMoments,
    /// Chernoff bound for the prior-weighted numbers of guesses in one order, which is fixed beforehand.
    FixedOrder,
    /// Clopper–Pearson and Chernoff on the probabilities of one event, chosen on other rows.
    ChosenEvent,
    /// Bets with a mixture of stakes; holds however often it is looked at.
    BettingMixture,
}

impl Method {
    /// Whether what it shows is about some pair of secrets, without a word on which.
    pub(crate) fn is_of_some_pair(self) -> bool {
        matches!(self, Method::AveragePair | Method::NamedSecret)
    }
}

/// The methods behind a figure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Methods {
    /// Of the point.
    pub point: Option<Method>,
    /// Of the lower limit.
    pub lower: Option<Method>,
    /// Of the upper limit.
    pub upper: Option<Method>,
}

/// Why a limit cannot be had.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Reason {
    /// A secret of the pair has no certification rows.
    PairWithoutRows,
    /// Some secret has no certification rows.
    SecretWithoutRows,
    /// A secret of positive prior has no certification rows.
    PriorWithoutRows,
    /// A secret of a pair of one of two logs has no certification rows.
    WorstPairWithoutRows,
    /// No distribution-free upper limit exists for numbers.
    RawNumbers,
    /// The same of one of two logs, so that their difference has no limits.
    RawNumbersCompared,
    /// Measurements in blocks are numbers relative to each other.
    RelativeNumbers,
    /// The limit assumes independent rows, and a split by time does not.
    DependentRows,
    /// The limit assumes independent rows, and rows of one unit are not.
    GroupedRows,
    /// Another attack than the one whose scores are given may do better.
    GivenScores,
    /// The prior leaves nothing to guess.
    NothingToGuess,
    /// The pair was picked for its upper limit, and a lower limit was planned for another.
    PickedForUpper,
    /// Samples give no upper limit of what privacy needs.
    Unbounded(PrivacyParameter),
    /// Too few rows for a threshold with few false positives.
    RareFalsePositives {
        /// Rows of the secret that raises false positives.
        rows: u64,
        /// The rate of false positives at most.
        rate: f64,
        /// The fewest rows that certify a threshold.
        needed: u64,
    },
    /// A log that is followed has lower limits only.
    Followed,
    /// One training run has lower limits only.
    OneRun,
    /// An observation that did not occur may say more than those that did.
    UnseenObservations,
    /// A matrix of all frequencies would be too large, or a secret has no rows.
    NoFrequencies,
}

/// An estimate with limits. `None` means that no such limit can be had, and `reason` says why.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Estimate {
    /// The best available estimate within what is possible and certified: the nearest such value. Not a bound.
    pub point: Option<f64>,
    /// The estimate as it was computed, where that is another number.
    pub raw: Option<f64>,
    /// Lower limit.
    pub lower: Option<f64>,
    /// Upper limit.
    pub upper: Option<f64>,
    /// How each was obtained.
    pub method: Methods,
    /// Why a limit is missing.
    pub reason: Option<Reason>,
}

impl Estimate {
    /// The estimate as it was computed.
    pub fn unconstrained(&self) -> Option<f64> {
        self.raw.or(self.point)
    }

    /// The rule for every figure: the estimate is the value nearest to the computed one that lies between the
    /// least and the largest value possible and between the limits. What was computed stays in `raw`, and the
    /// method is that of the estimate.
    ///
    /// ```
    /// use leakgauge::Estimate;
    ///
    /// let mut tv = Estimate { point: Some(-0.02), upper: Some(0.3), ..Estimate::default() };
    /// tv.constrain(0.0, 1.0);
    /// assert_eq!((tv.point, tv.raw), (Some(0.0), Some(-0.02)));
    /// ```
    pub fn constrain(&mut self, least: f64, most: f64) {
        let computed = self.unconstrained();
        // Two limits that are proved apart from each other may cross: the upper one gives way and stays true.
        if let (Some(lower), Some(upper)) = (self.lower, self.upper) {
            self.upper = Some(upper.max(lower));
        }
        let least = self.lower.map_or(least, |lower| least.max(lower));
        let most = self.upper.map_or(most, |upper| most.min(upper));
        self.point = computed.map(|point| point.min(most).max(least));
        self.raw = computed.filter(|computed| Some(*computed) != self.point);
    }

    /// Takes another estimate than the one at hand.
    pub(crate) fn set_point(&mut self, point: f64, method: Method) {
        self.point = Some(point);
        self.raw = None;
        self.method.point = Some(method);
    }

    /// The estimate of an increasing function of the figure.
    #[must_use]
    pub fn increasing(&self, f: impl Fn(f64) -> f64) -> Estimate {
        let (point, raw) = self.points_of(&f);
        Estimate {
            point,
            raw,
            lower: self.lower.map(&f),
            upper: self.upper.map(&f),
            method: Methods {
                point: self.method.point.filter(|_| point.is_some()),
                ..self.method
            },
            reason: self.reason,
        }
    }

    /// The estimate of a decreasing function of the figure: limits change places.
    #[must_use]
    pub fn decreasing(&self, f: impl Fn(f64) -> f64) -> Estimate {
        let (point, raw) = self.points_of(&f);
        Estimate {
            point,
            raw,
            lower: self.upper.map(&f),
            upper: self.lower.map(&f),
            method: Methods {
                point: self.method.point.filter(|_| point.is_some()),
                lower: self.method.upper,
                upper: self.method.lower,
            },
            reason: self.reason,
        }
    }

    /// An attack that is never right has an infinitely negative logarithm, which is no estimate.
    fn points_of(&self, f: impl Fn(f64) -> f64) -> (Option<f64>, Option<f64>) {
        let of = |value: Option<f64>| value.map(&f).filter(|point| point.is_finite());
        (of(self.point), of(self.raw))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_point_without_a_finite_value_is_none() {
        let never = Estimate {
            point: Some(0.0),
            lower: Some(0.5),
            method: Methods {
                point: Some(Method::HeldOutAttack),
                ..Methods::default()
            },
            ..Estimate::default()
        };
        let bits = never.increasing(f64::log2);
        assert_eq!(
            (bits.point, bits.method.point, bits.lower),
            (None, None, Some(-1.0))
        );
    }

    #[test]
    fn a_decreasing_function_swaps_the_limits_and_their_methods() {
        let tv = Estimate {
            point: Some(0.5),
            lower: Some(0.4),
            upper: None,
            method: Methods {
                point: Some(Method::HeldOutAttack),
                lower: Some(Method::ClopperPearson),
                upper: None,
            },
            ..Estimate::default()
        };
        let beta = tv.decreasing(|tv| 1.0 - tv);
        assert_eq!((beta.lower, beta.upper), (None, Some(0.6)));
        assert_eq!(beta.method.upper, Some(Method::ClopperPearson));
    }

    #[test]
    fn an_estimate_stays_within_what_is_possible_and_certified_and_what_was_computed_is_kept() {
        let tv = |point: f64| {
            let mut tv = Estimate {
                point: Some(point),
                lower: Some(0.4),
                upper: Some(0.6),
                ..Estimate::default()
            };
            tv.constrain(0.0, 1.0);
            (tv.point, tv.raw)
        };
        assert_eq!(tv(0.5), (Some(0.5), None));
        assert_eq!(tv(0.3), (Some(0.4), Some(0.3)));
        assert_eq!(tv(0.7), (Some(0.6), Some(0.7)));
        let mut again = Estimate {
            point: Some(0.4),
            raw: Some(0.3),
            lower: Some(0.35),
            ..Estimate::default()
        };
        again.constrain(0.0, 1.0);
        assert_eq!((again.point, again.raw), (Some(0.35), Some(0.3)));
        let security = again.decreasing(|tv| 1.0 - tv);
        assert_eq!((security.point, security.raw), (Some(0.65), Some(0.7)));
    }
}
