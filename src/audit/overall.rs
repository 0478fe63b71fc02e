//! Figures of the whole log: Bayes risk at a prior and what it amounts to.

use rand_chacha::ChaCha8Rng;

use crate::audit::evidence::Evidence;
use crate::audit::findings::{Overall, WorstPair};
use crate::audit::prepare::Prepared;
use crate::estimate::{Estimate, Method, Methods, Reason};
use leakgauge_attack::pairwise::{AdvantageGuide, GuessErrors, PairChoice, PairErrors};
use leakgauge_attack::tuning::Tuned;
use leakgauge_exact::leakage;
use leakgauge_stats::binomial::clopper_pearson_upper;
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
    /// Every unit counts once.
    Units,
}

/// How the Bayes vulnerability is limited from below at a prior.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct RiskPlan {
    /// How the errors of guesses among all secrets are limited.
    pub method: RiskMethod,
    /// The part of α that this has.
    pub share: f64,
}

/// The part of α that naming one of all secrets takes, where that promises more at the uniform prior than telling
/// the worst pair apart; the pairs have the rest. As the capacity is at least 1 + the total variation of any pair,
/// both limits serve it, and together they are wrong with probability α at most.
const NAMING_SHARE: f64 = 0.1;

/// How the Bayes vulnerability is limited from below at each prior, and the part of α that is left for pairs.
/// Judged by the errors on the tuning rows and the numbers of certification rows.
pub(super) fn plan(prepared: &Prepared, tuned: &Tuned, worst: usize) -> (Vec<RiskPlan>, f64) {
    let secrets = prepared.labels.len();
    let mut for_pairs = 1.0;
    let plans = prepared.priors.iter().zip(&tuned.naming);
    let plans = plans.map(|(prior, naming)| {
        let choose = |share: f64| {
            if prepared.is_serial() {
                return (RiskMethod::EffectiveRows, 1.0);
            }
            if prepared.units.is_some() {
                return (RiskMethod::Units, 1.0);
            }
            let certify = prepared.split.certify.rows();
            choose_method(naming.tune(), certify, prior, share * prepared.alpha)
        };
        if !is_uniform(prior) {
            return RiskPlan {
                method: choose(1.0).0,
                share: 1.0,
            };
        }
        let (method, risk) = choose(NAMING_SHARE);
        let advantage = AdvantageGuide::new(prepared.alpha).at_least(&expected_errors(
            &tuned.choices[worst],
            prepared.split.certify.rows(),
        ));
        // Rows promise nothing where units count.
        let dependent = prepared.is_serial() || prepared.units.is_some();
        let by_name = dependent || 1.0 - risk > (1.0 + advantage.max(0.0)) / secrets as f64;
        let share = if secrets > 2 && by_name {
            NAMING_SHARE
        } else {
            0.0
        };
        for_pairs = 1.0 - share;
        RiskPlan { method, share }
    });
    (plans.collect(), for_pairs)
}

fn is_uniform(prior: &[f64]) -> bool {
    prior.iter().all(|p| *p == prior[0])
}

/// What the errors of a rule would be on so many rows of each secret.
fn expected_errors(choice: &PairChoice, rows: &[u64]) -> PairErrors {
    let [a_rows, b_rows] = [choice.rule.a, choice.rule.b].map(|secret| rows[secret as usize]);
    let expected = |missed: u64, of: u64, rows: u64| {
        let rate = (missed as f64 + 0.5) / (of as f64 + 1.0);
        (rate * rows as f64).round() as u64
    };
    PairErrors {
        a_rows,
        a_missed: expected(choice.tune.a_missed, choice.tune.a_rows, a_rows),
        b_rows,
        b_missed: expected(choice.tune.b_missed, choice.tune.b_rows, b_rows),
    }
}

/// The method that promises the smaller limit of the Bayes risk at a level on so many rows of every secret, and that
/// limit.
pub(super) fn choose_method(
    tune: &GuessErrors,
    certify: &[u64],
    prior: &[f64],
    alpha: f64,
) -> (RiskMethod, f64) {
    let rate =
        |secret: usize| (tune.errors[secret] as f64 + 0.5) / (tune.rows[secret] as f64 + 1.0);
    let expected = |rows: &[u64]| -> Vec<u64> {
        (0..rows.len())
            .map(|secret| (rate(secret) * rows[secret] as f64) as u64)
            .collect()
    };
    let chernoff = chernoff_upper(&strata(prior, certify, &expected(certify)), alpha);
    let matched = matched_plan(prior, certify).map(|plan| {
        let pooled: u64 = expected(&plan).iter().sum();
        poisson_binomial_upper(pooled, plan.iter().sum(), alpha)
    });
    match matched {
        Some(matched) if matched <= chernoff => (RiskMethod::Matched, matched),
        _ => (RiskMethod::Chernoff, chernoff),
    }
}

pub(super) fn strata(prior: &[f64], rows: &[u64], errors: &[u64]) -> Vec<Stratum> {
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
    let vulnerability = vulnerability(evidence, worst, 0, prior, rng);
    let at_uniform = if prior == uniform {
        vulnerability.clone()
    } else {
        self::vulnerability(evidence, worst, 1, uniform, rng)
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

/// Bayes vulnerability at a prior, within what is possible and certified. At the uniform prior it is at least
/// (1 + total variation)/k for any two of the k secrets, and of two secrets it is just that.
fn vulnerability(
    evidence: &Evidence,
    worst: &WorstPair,
    at: usize,
    prior: &[f64],
    rng: &mut ChaCha8Rng,
) -> Estimate {
    let secrets = prior.len() as f64;
    let by_pair = worst.total_variation.increasing(|tv| (1.0 + tv) / secrets);
    let mut estimate = match (is_uniform(prior), prior.len()) {
        (true, 2) => return by_pair,
        (true, _) => at_least(by_name(evidence, at, prior, rng), &by_pair),
        (false, _) => by_name(evidence, at, prior, rng),
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
fn by_name(evidence: &Evidence, at: usize, prior: &[f64], rng: &mut ChaCha8Rng) -> Estimate {
    let tally = &evidence.judgement.guesses[at];
    let level = evidence.alpha();
    let strata = strata(prior, &tally.rows, &tally.errors);
    let RiskPlan { method, share } = evidence.plan.risk[at];
    let chernoff = || {
        let limit = chernoff_upper(&strata, share * level);
        (limit, Method::WeightedChernoff)
    };
    let (risk, risk_method) = match (method, evidence.units) {
        (RiskMethod::Units, Some(units)) if share > 0.0 => units.risk_at_most(at, share * level),
        (_, _) if share == 0.0 => (1.0, Method::WeightedChernoff),
        (RiskMethod::Matched, _) => {
            let limit = matched_upper(tally, prior, share * level, rng);
            (limit, Method::MatchedClopperPearson)
        }
        (RiskMethod::EffectiveRows, _) => {
            let limit = effective_upper(evidence, at, &strata, share * level);
            (limit, Method::ClopperPearsonEffectiveRows)
        }
        (RiskMethod::Chernoff | RiskMethod::Units, _) => chernoff(),
    };
    let (point, point_method) = point_vulnerability(evidence, at, prior);
    let upper = evidence.upper.map(|limits| {
        let limit = limits.vulnerability(evidence.counts, prior, level);
        (limit.min(1.0), limits.vulnerability_method())
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

/// Draws the same number of certification rows from every secret of positive prior and pools their errors.
pub(super) fn matched_upper(
    tally: &GuessErrors,
    prior: &[f64],
    level: f64,
    rng: &mut ChaCha8Rng,
) -> f64 {
    let plan =
        matched_plan(prior, &tally.rows).expect("the method was chosen because a plan exists");
    let errors = (0..plan.len())
        .map(|secret| {
            hypergeometric::sample(tally.rows[secret], tally.errors[secret], plan[secret], rng)
        })
        .sum();
    poisson_binomial_upper(errors, plan.iter().sum(), level)
}
