//! Bayes risk at a prior and what it amounts to.

use crate::audit::basis::Evidence;
use crate::audit::figures::overall::Overall;
use crate::audit::figures::overall::risk::{
    RiskMethod, RiskPlan, is_uniform, matched_upper, strata,
};
use crate::audit::figures::pairs::{WorstPair, figure as pairs};
use crate::estimate::{Estimate, Method, Methods, Reason};
use leakgauge_attack::pairwise::GuessErrors;
use leakgauge_exact::leakage;
use leakgauge_stats::binomial::clopper_pearson_upper;
use leakgauge_stats::random::Stream;
use leakgauge_stats::weighted_risk::{Stratum, chernoff_upper};

/// The capacity, before the estimates of all tables agree: its limits are final.
pub fn capacity(evidence: &Evidence) -> Estimate {
    overall(evidence, &pairs::worst_pair(evidence)).capacity
}

/// The figures of the whole log.
pub fn overall(evidence: &Evidence, worst: &WorstPair) -> Overall {
    let [prior, uniform] = evidence.priors;
    let vulnerability = vulnerability(evidence, worst, 0, prior);
    let at_uniform = if prior == uniform {
        vulnerability.clone()
    } else {
        self::vulnerability(evidence, worst, 1, uniform)
    };
    let blind = leakage::prior_vulnerability(prior);
    let guessing_error = leakage::guessing_error(prior);
    let bayes_risk = vulnerability.decreasing(|v| 1.0 - v);
    let risk_leakage = if guessing_error > 0.0 {
        bayes_risk.increasing(|risk| risk / guessing_error)
    } else {
        Estimate {
            reason: Some(Reason::NothingToGuess),
            ..Estimate::default()
        }
    };
    Overall {
        bayes_security: bayes_security(evidence, worst),
        prior: evidence.options.prior.clone(),
        guessing_error,
        bayes_risk,
        risk_leakage,
        multiplicative_leakage: vulnerability.increasing(|v| leakage::multiplicative(v, blind)),
        additive_leakage: vulnerability.increasing(|v| leakage::additive(v, blind)),
        min_entropy_leakage: vulnerability.increasing(|v| leakage::min_entropy(v, blind)),
        min_entropy_leakage_bits: vulnerability
            .increasing(|v| leakage::min_entropy(v, blind) / std::f64::consts::LN_2),
        capacity: at_uniform.increasing(|v| leakage::capacity(v, uniform.len())),
    }
}

/// β* of the whole log: limited from above by the certified worst pair, from below by the largest
/// upper limit of all pairs.
fn bayes_security(evidence: &Evidence, worst: &WorstPair) -> Estimate {
    let some = evidence.largest_total_variation();
    let mut estimate = match some.lower > worst.total_variation.lower {
        true => some.decreasing(|tv| 1.0 - tv),
        false => worst.bayes_security.clone(),
    };
    estimate.lower = some.upper.map(|tv| 1.0 - tv);
    estimate
}

/// Bayes vulnerability at a prior, within what is possible and certified. At the uniform prior it is at least
/// (1 + total variation)/k for any two of the k secrets, and of two secrets it is just that.
fn vulnerability(evidence: &Evidence, worst: &WorstPair, at: usize, prior: &[f64]) -> Estimate {
    let secrets = prior.len() as f64;
    let mut total_variation = worst.total_variation.clone();
    let some = evidence.largest_total_variation();
    if some.lower > total_variation.lower {
        total_variation.lower = some.lower;
        total_variation.method.lower = some.method.lower;
    }
    let by_pair = total_variation.increasing(|tv| (1.0 + tv) / secrets);
    let mut estimate = match (is_uniform(prior), prior.len()) {
        (true, 2) => return by_pair,
        (true, _) => at_least(by_name(evidence, at, prior), &by_pair),
        (false, _) => by_name(evidence, at, prior),
    };
    estimate.constrain(leakage::prior_vulnerability(prior), 1.0);
    estimate
}

/// The same, raised to another figure that it is not below.
fn at_least(mut figure: Estimate, other: &Estimate) -> Estimate {
    if other.lower > figure.lower {
        figure.lower = other.lower;
        figure.method.lower = other.method.lower;
    }
    if figure.point.is_some() && other.unconstrained() > figure.unconstrained() {
        figure.point = other.point;
        figure.raw = other.raw;
        figure.method.point = other.method.point;
    }
    figure
}

/// Bayes vulnerability at a prior: from below by the errors of naming one of all secrets, from above (discrete logs)
/// by the limits of the log.
fn by_name(evidence: &Evidence, at: usize, prior: &[f64]) -> Estimate {
    let level = evidence.alpha();
    let (risk, risk_method) = risk_at_most(evidence, at, prior, level);
    let (point, point_method) = point_vulnerability(evidence, at, prior);
    let upper = evidence.upper.map(|limits| {
        let limit = limits.vulnerability(evidence.counts, prior, level);
        (limit.min(1.0), limits.event_method())
    });
    let blind = leakage::prior_vulnerability(prior);
    Estimate {
        point,
        raw: None,
        lower: Some((1.0 - risk).max(blind)),
        upper: upper.map(|upper| upper.0.max(blind)),
        method: Methods {
            point: point.map(|_| point_method),
            lower: Some(risk_method),
            upper: upper.map(|upper| upper.1),
        },
        reason: match (point, upper) {
            (None, _) => Some(Reason::PriorWithoutRows),
            (_, None) => Some(evidence.no_upper()),
            _ => None,
        },
    }
}

/// The upper limit of the risk of naming one of all secrets at a prior, as planned, had the level of the log been 1 − `level`.
fn risk_at_most(evidence: &Evidence, at: usize, prior: &[f64], level: f64) -> (f64, Method) {
    let tally = &evidence.judgement.guesses[at];
    let strata = strata(prior, &tally.rows, &tally.errors);
    let RiskPlan { method, share } = evidence.plan.risk[at];
    let chernoff = || {
        let limit = chernoff_upper(&strata, share * level);
        (limit, Method::WeightedChernoff)
    };
    match (method, evidence.units) {
        (RiskMethod::Units, Some(units)) if share > 0.0 => units.risk_at_most(at, share * level),
        (_, _) if share == 0.0 => (1.0, Method::WeightedChernoff),
        (RiskMethod::Matched, _) => {
            // The same rows are drawn at every level.
            let rng = &mut evidence.random.rng(Stream::MatchedPrior);
            let limit = matched_upper(tally, prior, share * level, rng);
            (limit, Method::MatchedClopperPearson)
        }
        (RiskMethod::EffectiveRows, _) => {
            let limit = effective_upper(evidence, at, &strata, share * level);
            (limit, Method::ClopperPearsonEffectiveRows)
        }
        (RiskMethod::Chernoff | RiskMethod::Units, _) => chernoff(),
    }
}

/// Where the uniform prior stands among the priors of a report.
fn uniform_at(evidence: &Evidence) -> usize {
    let [prior, _] = evidence.priors;
    usize::from(!is_uniform(prior))
}

/// How often one of all secrets is named rightly at the uniform prior, at least, had the level of the log been 1 − `alpha`;
/// `None` where that has no part of the level.
pub(crate) fn named_at_least(evidence: &Evidence, alpha: f64) -> Option<f64> {
    let at = uniform_at(evidence);
    let is_planned = evidence.labels.len() > 2 && evidence.plan.risk[at].share > 0.0;
    is_planned.then(|| 1.0 - risk_at_most(evidence, at, &evidence.priors[at], alpha).0)
}

/// The estimate of the same.
pub(crate) fn named_rate(evidence: &Evidence) -> Option<f64> {
    let at = uniform_at(evidence);
    point_vulnerability(evidence, at, &evidence.priors[at]).0
}

/// From all rows where that can be had, else from the certification rows.
fn point_vulnerability(evidence: &Evidence, at: usize, prior: &[f64]) -> (Option<f64>, Method) {
    let held_out = match evidence.units {
        Some(units) => units.vulnerability(at),
        None => success(&evidence.judgement.guesses[at], prior),
    };
    let all_rows = evidence.cross_fit.map(|cross_fit| &cross_fit.guesses[at]);
    match all_rows.and_then(|guesses| success(guesses, prior)) {
        Some(point) if held_out.is_some() => (Some(point), Method::CrossFittedAttack),
        _ => (held_out, Method::HeldOutAttack),
    }
}

/// 1 − the prior-weighted errors; `None` if a secret of positive prior was not tested.
fn success(tally: &GuessErrors, prior: &[f64]) -> Option<f64> {
    let strata = strata(prior, &tally.rows, &tally.errors);
    let mut risk = 0.0;
    for stratum in strata.iter().filter(|stratum| stratum.weight > 0.0) {
        if stratum.rows == 0 {
            return None;
        }
        risk += stratum.weight * stratum.errors as f64 / stratum.rows as f64;
    }
    Some((1.0 - risk).max(0.0))
}

/// Limits every secret's error rate at an equal part of the level and adds them up by their weights.
fn effective_upper(evidence: &Evidence, at: usize, strata: &[Stratum], level: f64) -> f64 {
    let worth = &evidence.effective.expect("a split by time").guesses[at];
    let weighed = strata.iter().filter(|stratum| stratum.weight > 0.0).count();
    let level = level / weighed as f64;
    strata
        .iter()
        .zip(worth)
        .filter(|(stratum, _)| stratum.weight > 0.0)
        .map(|(stratum, &rows)| {
            let errors = stratum.errors as f64 * rows as f64 / stratum.rows.max(1) as f64;
            let errors = (errors.ceil() as u64).min(rows);
            stratum.weight * clopper_pearson_upper(errors, rows, level)
        })
        .sum()
}
