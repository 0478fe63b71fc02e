//! How the risk of guesses among all secrets is limited at a prior: settled before any row that judges is looked at.

use rand_chacha::ChaCha8Rng;

use crate::audit::prepare::Prepared;
use leakgauge_attack::pairwise::GuessErrors;
use leakgauge_attack::tuning::Tuned;
use leakgauge_base::quantity::OverallFigure;
use leakgauge_exact::claim::BoundClaim;
use leakgauge_judge::Independence;
use leakgauge_stats::hypergeometric;
use leakgauge_stats::poisson_binomial::poisson_binomial_upper;
use leakgauge_stats::weighted_risk::{Stratum, chernoff_upper, matched_plan};

/// How the Bayes risk is limited from above at a prior.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RiskMethod {
    Matched,
    Chernoff,
    /// Every secret's errors by themselves, with effective rows: secrets in one log may share noise.
    EffectiveRows,
    /// Every unit counts once.
    Units,
}

/// How the Bayes vulnerability is limited from below at a prior.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct RiskPlan {
    /// How the errors of guesses among all secrets are limited.
    pub method: RiskMethod,
    /// The part of α that this has.
    pub share: f64,
}

/// The part of α that naming one of all secrets takes at the uniform prior; the pairs have the rest. As the capacity is at
/// least 1 + the total variation of any pair, both limits serve it, and together they are wrong with probability α at
/// most. Nothing but the number of secrets and the claims decides on it: rows that attacks are chosen on may judge pairs.
const NAMING_SHARE: f64 = 0.1;
/// The same where a claim reads the capacity.
const CLAIMED_NAMING_SHARE: f64 = 0.5;
/// The same at a prior that is not uniform, and was asked for.
const GIVEN_PRIOR_SHARE: f64 = 0.25;

/// How the Bayes vulnerability is limited from below at each prior, by the errors on the tuning rows and the numbers of
/// certification rows; and the part of α that is left for pairs.
pub(crate) fn plan(prepared: &Prepared, tuned: &Tuned) -> (Vec<RiskPlan>, f64) {
    let naming_share = match (prepared.labels.len() > 2, is_claimed(&prepared.claims)) {
        (false, _) => 0.0,
        (true, false) => NAMING_SHARE,
        (true, true) => CLAIMED_NAMING_SHARE,
    };
    let plans = prepared.priors.iter().zip(&tuned.naming);
    let plans = plans.map(|(prior, naming)| {
        let share = match is_uniform(prior) {
            true => naming_share,
            false => GIVEN_PRIOR_SHARE,
        };
        let method = match prepared.independence {
            Independence::Time => RiskMethod::EffectiveRows,
            Independence::Units | Independence::Blocks => RiskMethod::Units,
            // Two secrets: naming is telling the pair apart, and is not limited by itself.
            Independence::Rows if share == 0.0 => RiskMethod::Chernoff,
            Independence::Rows => {
                let certify = prepared.split.certify.rows();
                choose_method(naming.tune(), certify, prior, share * prepared.alpha)
            }
        };
        RiskPlan { method, share }
    });
    let plans: Vec<RiskPlan> = plans.collect();
    // The prior that was asked for may be the uniform one, which then has its part once.
    let [given, _] = &prepared.priors;
    let shares = plans.iter().skip(usize::from(is_uniform(given)));
    let for_pairs = 1.0 - shares.map(|plan| plan.share).sum::<f64>();
    (plans, for_pairs)
}

/// Whether a claim reads the capacity.
fn is_claimed(claims: &[BoundClaim]) -> bool {
    let leakage = Some(OverallFigure::MaximalLeakage);
    claims.iter().any(|claim| claim.overall_figure() == leakage)
}

pub(crate) fn is_uniform(prior: &[f64]) -> bool {
    prior.iter().all(|p| *p == prior[0])
}

/// The method that promises the smaller limit of the Bayes risk at a level on so many rows of every secret.
pub(crate) fn choose_method(
    tune: &GuessErrors,
    certify: &[u64],
    prior: &[f64],
    alpha: f64,
) -> RiskMethod {
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
        Some(matched) if matched <= chernoff => RiskMethod::Matched,
        _ => RiskMethod::Chernoff,
    }
}

pub(crate) fn strata(prior: &[f64], rows: &[u64], errors: &[u64]) -> Vec<Stratum> {
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

/// Draws the same number of certification rows from every secret of positive prior and pools their errors.
pub(crate) fn matched_upper(
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
