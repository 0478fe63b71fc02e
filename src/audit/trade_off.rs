//! The trade-off section: what the attack's score achieves at every threshold on the worst pair.

use crate::audit::evidence::Evidence;
use crate::audit::pair::Pair;
use crate::estimate::{Estimate, Method, Methods, Reason};
use leakgauge_attack::pairwise::{Detection, ScoredRows, rows_for_detection};
use leakgauge_base::quantity::PrivacyParameter;

/// False positive rates at which true positives are reported.
const FALSE_POSITIVE_RATES: [f64; 3] = [0.1, 0.01, 0.001];
/// δ at which ε is reported.
const DELTAS: [f64; 4] = [0.0, 1e-5, 1e-3, 1e-2];
/// Points of the curve, unless its convex hull has more corners.
const CURVE_POINTS: usize = 200;

/// What the attack's score achieves on a pair of secrets, at every threshold. The score was chosen on the
/// tuning rows; of several pairs, each has a part of α, as in the table of their total variations.
#[derive(Debug, Clone, PartialEq)]
pub struct TradeOff {
    /// True positives at a few false positive rates, in both directions.
    pub operating_points: Vec<OperatingPoint>,
    /// At which level these limits hold.
    pub operating_levels: Levels,
    /// The empirical trade-off curve.
    pub curve: Curve,
    /// What holds around the curve.
    pub band: Band,
    /// The area under the ROC curve; limits are about this attack, and hold for any law of its scores.
    pub area: Estimate,
    /// DeLong's standard error of it, an approximation; `None` with fewer than two rows of a secret.
    pub area_standard_error: Option<f64>,
    /// The mean of both shares of right answers at the threshold for the advantage, of this attack.
    pub balanced_accuracy: Estimate,
    /// μ of Gaussian differential privacy: the limit is about the mechanism, at the level of the report.
    pub mu: Estimate,
    /// The Gaussian curve that is most like the attack's; not a bound of anything.
    pub gaussian_fit: GaussianFit,
    /// Lower limits of ε for some δ; they hold for all δ, and with that of μ, together.
    pub epsilon: Vec<BandEpsilon>,
}

/// True positives at a false positive rate.
#[derive(Debug, Clone, PartialEq)]
pub struct OperatingPoint {
    /// The secret whose rows are found, then the one whose rows raise false alarms.
    pub secrets: Pair,
    /// Share of these at most.
    pub false_positive_rate: f64,
    /// Share of the rows that are found, with the best threshold on this score.
    pub true_positive_rate: Estimate,
}

/// How limits of several figures hold.
#[derive(Debug, Clone, PartialEq)]
pub struct Levels {
    /// Both limits of one operating point.
    pub each: f64,
    /// All limits of all operating points together, at least (Bonferroni).
    pub together: f64,
}

/// Both errors of the attack at descending thresholds.
#[derive(Debug, Clone, PartialEq)]
pub struct Curve {
    /// The secret that the attack says above the threshold, missing which is the type II error; then the one
    /// that it takes for it there, the type I error.
    pub secrets: Pair,
    /// How many thresholds differ; so many that only some are listed.
    pub thresholds: usize,
    /// Share of the second secret above the threshold.
    pub type_1: Vec<f64>,
    /// Share of the first secret at or below it.
    pub type_2: Vec<f64>,
}

/// A simultaneous band: at every threshold each error is at most its radius away from the curve.
#[derive(Debug, Clone, PartialEq)]
pub struct Band {
    /// Of the type I error.
    pub type_1_radius: f64,
    /// Of the type II error.
    pub type_2_radius: f64,
    /// The level at which both hold at all thresholds.
    pub confidence: f64,
    /// How.
    pub method: Method,
}

/// The trade-off curve of two normal laws that are μ deviations apart.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct GaussianFit {
    /// Their distance; `None` where it is infinite.
    pub mu: Option<f64>,
    /// How it was fitted.
    pub method: Method,
}

/// A lower limit of ε.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BandEpsilon {
    /// The δ.
    pub delta: f64,
    /// The limit.
    pub lower: Option<f64>,
}

/// The trade-off of the worst pair; `None` if it was not judged.
pub(super) fn of_worst_pair(evidence: &Evidence) -> Option<TradeOff> {
    let scored = &*evidence.worst_scores()?;
    let (a_rows, b_rows) = scored.rows();
    if a_rows == 0 || b_rows == 0 {
        return None;
    }
    // All pairs together: the log picked this one.
    let alpha = evidence.alpha() * evidence.plan.tables[0][evidence.worst];
    let pair = evidence.pair(evidence.worst);
    let mut operating_points = directed(scored, &pair, alpha);
    operating_points.extend(directed(&scored.exchanged(), &pair.reversed(), alpha));
    let figures = operating_points.len() as f64;
    let points = scored.curve(CURVE_POINTS);
    let radius = scored.band(alpha);
    Some(TradeOff {
        operating_points,
        operating_levels: Levels {
            each: 1.0 - alpha,
            together: (1.0 - figures * alpha).max(0.0),
        },
        curve: Curve {
            secrets: pair,
            thresholds: scored.cuts(),
            type_1: points.iter().map(|point| point.type_1).collect(),
            type_2: points.iter().map(|point| point.type_2).collect(),
        },
        band: Band {
            type_1_radius: radius.type_1,
            type_2_radius: radius.type_2,
            confidence: 1.0 - alpha,
            method: Method::DkwBand,
        },
        area: area(scored, alpha),
        area_standard_error: scored.area_standard_error(),
        balanced_accuracy: evidence
            .attack_advantage(evidence.worst)
            .increasing(|advantage| 0.5 * (1.0 + advantage)),
        mu: mu(scored, alpha),
        gaussian_fit: GaussianFit {
            mu: scored.mu_by_area(),
            method: Method::AreaUnderCurve,
        },
        epsilon: DELTAS
            .into_iter()
            .map(|delta| BandEpsilon {
                delta,
                lower: scored.epsilon_at_least(delta, alpha),
            })
            .collect(),
    })
}

/// Why [`of_worst_pair`] finds nothing, if so.
pub(super) fn missing(evidence: &Evidence) -> Option<Reason> {
    match evidence.scored {
        None if evidence.units.is_some() => Some(Reason::GroupedRows),
        None => Some(Reason::DependentRows),
        Some(_) if !evidence.tally(evidence.worst).is_judged() => Some(Reason::PairWithoutRows),
        Some(_) => None,
    }
}

/// The operating points that find rows of one secret among those of another.
fn directed(scored: &ScoredRows, secrets: &Pair, alpha: f64) -> Vec<OperatingPoint> {
    let rows = scored.rows().1;
    let point = |false_positive_rate: f64| OperatingPoint {
        secrets: secrets.clone(),
        false_positive_rate,
        true_positive_rate: detection(
            scored.detection(false_positive_rate, alpha / 2.0),
            false_positive_rate,
            rows,
            rows_for_detection(false_positive_rate, alpha / 2.0),
        ),
    };
    FALSE_POSITIVE_RATES.map(point).into()
}

fn detection(found: Detection, rate: f64, rows: u64, needed: u64) -> Estimate {
    let limit = Method::OrderStatisticClopperPearson;
    Estimate {
        point: found.point,
        raw: None,
        lower: found.lower,
        upper: found.upper,
        method: Methods {
            point: found.point.map(|_| Method::HeldOutAttack),
            lower: found.lower.map(|_| limit),
            upper: found.upper.map(|_| limit),
        },
        reason: found
            .lower
            .is_none()
            .then_some(Reason::RareFalsePositives { rows, rate, needed }),
    }
}

fn area(scored: &ScoredRows, alpha: f64) -> Estimate {
    let point = scored.area();
    let limits = scored.area_limits(0.5 * alpha);
    Estimate {
        point,
        raw: None,
        lower: limits.map(|limits| limits[0]),
        upper: limits.map(|limits| limits[1]),
        method: Methods {
            point: point.map(|_| Method::HeldOutAttack),
            lower: limits.map(|_| Method::PairedChernoff),
            upper: limits.map(|_| Method::PairedChernoff),
        },
        reason: None,
    }
}

fn mu(scored: &ScoredRows, alpha: f64) -> Estimate {
    let lower = scored.mu_at_least(alpha);
    Estimate {
        // What fits on the whole says nothing of the threshold that needs the largest μ.
        point: None,
        raw: None,
        lower,
        upper: None,
        method: Methods {
            point: None,
            lower: lower.map(|_| Method::BandAndTails),
            upper: None,
        },
        reason: Some(Reason::Unbounded(PrivacyParameter::Mu)),
    }
}
