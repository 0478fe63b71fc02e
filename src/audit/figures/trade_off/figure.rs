//! The trade-off of the worst pair.

use crate::audit::basis::Evidence;
use crate::audit::figures::trade_off::{
    Band, BandEpsilon, Curve, GaussianFit, Levels, OperatingPoint, TradeOff,
};
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

/// The trade-off of the worst pair; `None` if it was not judged.
pub fn of_worst_pair(evidence: &Evidence) -> Option<TradeOff> {
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
        mu: mu(evidence),
        gaussian_fit: GaussianFit {
            mu: scored.mu_by_area(),
            method: Method::AreaUnderCurve,
        },
        epsilon: DELTAS
            .into_iter()
            .map(|delta| {
                let quantity = PrivacyParameter::Epsilon { delta };
                BandEpsilon {
                    delta,
                    lower: evidence.privacy_at(evidence.worst, quantity).limit.lower,
                }
            })
            .collect(),
    })
}

/// Why [`of_worst_pair`] finds nothing, if so.
pub fn missing(evidence: &Evidence) -> Option<Reason> {
    match evidence.scored {
        None if evidence.independence.is_of_units() => Some(Reason::GroupedRows),
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

fn mu(evidence: &Evidence) -> Estimate {
    let read = evidence.privacy_at(evidence.worst, PrivacyParameter::Mu);
    Estimate {
        // What fits on the whole says nothing of the threshold that needs the largest μ.
        point: None,
        raw: None,
        lower: read.limit.lower,
        upper: None,
        method: Methods {
            point: None,
            lower: read.source.map(|source| source.method),
            upper: None,
        },
        reason: Some(Reason::Unbounded(PrivacyParameter::Mu)),
    }
}
