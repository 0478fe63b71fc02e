//! A table of an attack's answers.

use crate::audit::{ClaimReport, Pair, PrivacyLimit, Unproved};
use crate::estimate::{Estimate, Method, Reason};
use crate::membership::claims::{Case, Evidence, refuse_mechanisms};
use leakgauge_attack::pairwise::{Confusion, RateLimits};
use leakgauge_base::error::{Error, Result};
use leakgauge_base::naming::setting;
use leakgauge_base::quantity::{PrivacyParameter, Quantity};
use leakgauge_exact::claim::{BoundClaim, Claim};

/// How to judge a table.
#[derive(Debug, Clone)]
pub struct TableOptions {
    /// Level of every limit, in [0.5, 1).
    pub confidence: f64,
    /// The δ at which ε is limited.
    pub deltas: Vec<f64>,
    /// What is claimed.
    pub claims: Vec<Claim>,
}

/// What a table of answers proves.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct AnswerTable {
    /// Level of every limit.
    pub confidence: f64,
    /// True positives, false negatives, false positives, true negatives.
    pub counts: [u64; 4],
    /// Share of members that the attack calls members.
    pub true_positive_rate: Estimate,
    /// Share of others that the attack calls members.
    pub false_positive_rate: Estimate,
    /// True positive rate − false positive rate.
    pub advantage: Estimate,
    /// Mean of both shares of right answers: (1 + advantage)/2.
    pub balanced_accuracy: Estimate,
    /// Of the optimal adversary; at least what this attack proves.
    pub total_variation: Estimate,
    /// Lower limits of ε at every δ, of μ and of ρ.
    pub privacy: Vec<PrivacyLimit>,
    /// One entry a claim.
    pub claims: Vec<ClaimReport>,
}

/// Judges a table of answers. Attack and threshold were fixed before its rows were seen, and rows are independent.
///
/// Lower limits of what the mechanism leaks all follow from the same two upper limits of error rates, so they hold
/// together, and claims share nothing.
///
/// # Errors
/// A level or a δ that is none; a claim that a table says nothing about.
pub fn table(answers: &Confusion, counts: [u64; 4], options: &TableOptions) -> Result<AnswerTable> {
    check(options)?;
    refuse_mechanisms(&options.claims)?;
    let labels = ["member", "non-member"].map(str::to_owned);
    let claims = BoundClaim::bind_all(&options.claims, &labels, &[])?;
    let pair = Pair::new(labels.into(), [0, 1]);
    let alpha = 1.0 - options.confidence;
    let case = Case {
        evidence: &Answers { answers },
        pair: &pair,
        alpha,
    };
    let advantage = limits(answers.advantage(alpha));
    let deltas = options.deltas.iter();
    let epsilons = deltas.map(|&delta| PrivacyParameter::Epsilon { delta });
    let privacy = epsilons.chain([PrivacyParameter::Mu, PrivacyParameter::Rho]);
    Ok(AnswerTable {
        confidence: options.confidence,
        counts,
        true_positive_rate: limits(answers.true_positive_rate(alpha)),
        false_positive_rate: limits(answers.false_positive_rate(alpha)),
        balanced_accuracy: advantage.increasing(|advantage| 0.5 * (1.0 + advantage)),
        advantage,
        total_variation: case.estimate(Quantity::Advantage),
        privacy: privacy.map(|parameter| case.privacy(parameter)).collect(),
        claims: claims
            .iter()
            .map(|claim| case.judge(claim))
            .collect::<Result<_>>()?,
    })
}

fn check(options: &TableOptions) -> Result<()> {
    if !(0.5..1.0).contains(&options.confidence) {
        return Err(Error::parameter(
            setting("confidence", options.confidence),
            "the level of confidence must be at least 0.5 and below 1",
        ));
    }
    for delta in &options.deltas {
        if !(0.0..1.0).contains(delta) {
            return Err(Error::parameter(
                setting("delta", delta),
                "must be at least 0 and below 1",
            ));
        }
    }
    Ok(())
}

fn limits(found: RateLimits) -> Estimate {
    let mut estimate = Estimate {
        point: Some(found.point),
        lower: Some(found.lower),
        upper: Some(found.upper),
        ..Estimate::default()
    };
    estimate.method.point = Some(Method::HeldOutAttack);
    estimate.method.lower = Some(Method::ClopperPearson);
    estimate.method.upper = Some(Method::ClopperPearson);
    estimate
}

struct Answers<'a> {
    answers: &'a Confusion,
}

impl Evidence for Answers<'_> {
    fn point(&self, quantity: Quantity) -> Option<f64> {
        let bare = self.answers.rates();
        let point = match quantity {
            Quantity::Privacy(parameter) => bare.at_least(parameter),
            _ => bare.advantage(),
        };
        Some(point).filter(|point| point.is_finite())
    }

    fn limits(&self, quantity: Quantity, alpha: f64) -> [Option<f64>; 2] {
        let proved = self.answers.at_least(alpha);
        match quantity {
            Quantity::Privacy(parameter) => [Some(proved.privacy(parameter)), None],
            Quantity::AttackAdvantage => {
                // The interval of the report: its two sides hold together.
                let both = self.answers.advantage(alpha);
                [Some(both.lower), Some(both.upper)]
            }
            _ => [Some(proved.total_variation()), None],
        }
    }

    fn refutes(&self, quantity: Quantity, allowed: f64, alpha: f64) -> bool {
        self.limits(quantity, alpha)[0] > Some(allowed)
    }

    fn refutes_curve(&self, curve: &[(f64, f64)], alpha: f64) -> bool {
        let proved = self.answers.at_least(alpha);
        let exceeds = |&(epsilon, delta): &(f64, f64)| {
            proved.privacy(PrivacyParameter::Epsilon { delta }) > epsilon
        };
        curve.iter().any(exceeds)
    }

    fn method(&self) -> Method {
        Method::ClopperPearson
    }

    fn unproved(&self) -> Unproved {
        Unproved::OneAttack
    }

    fn no_upper(&self) -> Reason {
        Reason::GivenScores
    }
}
