//! Figures of the whole log: Bayes risk at a prior and what it amounts to.

use rand_chacha::ChaCha8Rng;

use crate::audit::evidence::Evidence;
use crate::audit::findings::{Overall, WorstPair};
use crate::estimate::{Estimate, Method, Methods, Reason};
use leakgauge_attack::measure::plug_in;
use leakgauge_attack::pairwise::{GuessErrors, tally_guesses};
use leakgauge_attack::split::Split;
use leakgauge_attack::tuning::Tuned;
use leakgauge_exact::leakage;
use leakgauge_stats::binomial::clopper_pearson_upper;
use leakgauge_stats::event_upper::vulnerability_upper;
use leakgauge_stats::hypergeometric;
use leakgauge_stats::poisson_binomial::poisson_binomial_upper;
use leakgauge_stats::weighted_risk::{Stratum, chernoff_upper, matched_plan};

/// How the Bayes risk is limited from above at a prior.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RiskMethod {
    Matched,
    Chernoff,
    /// Every secret's errors by themselves, with effective rows: secrets in one log may share noise.
    EffectiveRows,
}

/// For each prior, the method that promises the smaller limit, judged by the errors on the tuning rows
/// and the numbers of certification rows.
pub(super) fn choose_methods(
    tuned: &Tuned,
    split: &Split,
    priors: &[Vec<f64>],
    alpha: f64,
) -> Vec<RiskMethod> {
    priors
        .iter()
        .map(|prior| {
            let tally = tally_guesses(&tuned.scores, &split.tune, prior);
            let Some(plan) = matched_plan(prior, split.certify.rows()) else {
                return RiskMethod::Chernoff;
            };
            let rate = |secret: usize| {
                (tally.errors[secret] as f64 + 0.5) / (tally.rows[secret] as f64 + 1.0)
            };
            let expected = |rows: &[u64]| -> Vec<u64> {
                (0..rows.len())
                    .map(|secret| (rate(secret) * rows[secret] as f64) as u64)
                    .collect()
            };
            let strata = strata(prior, split.certify.rows(), &expected(split.certify.rows()));
            let pooled: u64 = expected(&plan).iter().sum();
            let matched = poisson_binomial_upper(pooled, plan.iter().sum(), alpha);
            if matched <= chernoff_upper(&strata, alpha) {
                RiskMethod::Matched
            } else {
                RiskMethod::Chernoff
            }
        })
        .collect()
}

fn strata(prior: &[f64], rows: &[u64], errors: &[u64]) -> Vec<Stratum> {
    prior
        .iter()
        .zip(rows.iter().zip(errors))
        .map(|(&weight, (&rows, &errors))| Stratum {
            weight,
            errors,
            rows,
        })
        .collect()
}

/// The figures of the whole log. `priors` are the prior asked for and the uniform one.
pub(super) fn overall(
    evidence: &Evidence,
    worst: &WorstPair,
    priors: &[Vec<f64>; 2],
    rng: &mut ChaCha8Rng,
) -> Overall {
    let [prior, uniform] = priors;
    let methods = &evidence.plan.risk_methods;
    let vulnerability = vulnerability(evidence, 0, prior, methods[0], rng);
    let at_uniform = if prior == uniform {
        vulnerability.clone()
    } else {
        self::vulnerability(evidence, 1, uniform, methods[1], rng)
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
    let largest = evidence.largest_upper();
    let mut estimate = worst.bayes_security.clone();
    estimate.lower = largest.map(|tv| 1.0 - tv);
    estimate
}

/// Bayes vulnerability at a prior: from below by the attack's errors, from above (discrete logs) by the
/// limit of the best fixed rule, at the plug-in value.
fn vulnerability(
    evidence: &Evidence,
    at: usize,
    prior: &[f64],
    method: RiskMethod,
    rng: &mut ChaCha8Rng,
) -> Estimate {
    let tally = &evidence.judgement.guesses[at];
    let level = evidence.alpha();
    let strata = strata(prior, &tally.rows, &tally.errors);
    let risk = match method {
        RiskMethod::Chernoff => chernoff_upper(&strata, level),
        RiskMethod::Matched => matched_upper(tally, prior, level, rng),
        RiskMethod::EffectiveRows => effective_upper(evidence, at, &strata, level),
    };
    let point = point_vulnerability(tally, prior);
    let upper = evidence
        .is_discrete()
        .then(|| vulnerability_upper(&plug_in::named(evidence.counts, prior), level).min(1.0));
    let blind = leakage::prior_vulnerability(prior);
    let mut estimate = Estimate {
        point,
        lower: Some((1.0 - risk).max(blind)),
        upper: upper.map(|upper| upper.max(blind)),
        method: Methods {
            point: point.map(|_| Method::HeldOutAttack),
            lower: Some(match method {
                RiskMethod::Matched => Method::MatchedClopperPearson,
                RiskMethod::Chernoff => Method::WeightedChernoff,
                RiskMethod::EffectiveRows => Method::ClopperPearsonEffectiveRows,
            }),
            upper: upper.map(|_| Method::FixedEvent),
        },
        reason: match (point, upper) {
            (None, _) => Some(Reason::PriorWithoutRows),
            (_, None) => Some(evidence.no_upper()),
            _ => None,
        },
    };
    let cross_fit = evidence.cross_fit;
    let guesses = cross_fit.map(|cross_fit| &cross_fit.guesses[at]);
    if let Some(point) = guesses.and_then(|guesses| point_vulnerability(guesses, prior)) {
        estimate.set_point(point, Method::CrossFittedAttack, blind);
    }
    estimate
}

/// 1 − the prior-weighted errors; `None` if a secret of positive prior was not tested.
fn point_vulnerability(tally: &GuessErrors, prior: &[f64]) -> Option<f64> {
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

/// Draws the same number of certification rows from every secret of positive prior and pools their errors.
fn matched_upper(tally: &GuessErrors, prior: &[f64], level: f64, rng: &mut ChaCha8Rng) -> f64 {
    let plan =
        matched_plan(prior, &tally.rows).expect("the method was chosen because a plan exists");
    let errors = (0..plan.len())
        .map(|secret| {
            hypergeometric::sample(tally.rows[secret], tally.errors[secret], plan[secret], rng)
        })
        .sum();
    poisson_binomial_upper(errors, plan.iter().sum(), level)
}
