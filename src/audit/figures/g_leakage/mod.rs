//! g-leakage: the expected gain, or loss, of an attacker with a gain or loss function of the user's.
//!
//! From below (a gain) by the best guess at an attack's scores, which is settled before the certification rows are looked at,
//! with bets on what it gains. From above, where the log is discrete, by the plug-in gain: the best guess at every
//! observation is one fixed rule of nature, the plug-in gain is at least that rule's own on the same rows, and that is below
//! its mean by more than √(ln(1/α)/2·Σ π_s² r_s²/n_s) with probability α at most (Hoeffding; r_s is the range of gains under
//! s). A loss is a negative gain.

use crate::audit::figures::stages::{Figure, Settled};
use crate::audit::plan::Plan;
use crate::audit::prepare::Prepared;
use crate::estimate::{Estimate, Method, Methods, Reason};
use leakgauge_attack::pairwise::{GainMatrix, PayoffRule, plug_in_gain};
use leakgauge_attack::tuning::Tuned;
use leakgauge_log::observations::ObservationKind;
use leakgauge_stats::information::{Gains, mean_gain, weighted_mean_at_least};

/// The expected gain or loss of an attacker.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct GLeakage {
    /// Whether the function is a loss, which an attacker makes small.
    pub is_loss: bool,
    /// Without an observation.
    pub without: f64,
    /// With it.
    pub with: Estimate,
    /// How much the observation changes it in the attacker's favor.
    pub additive: Estimate,
}

/// The figure.
pub(crate) struct Payoffs;

/// The function as gains, with the rule that judges.
#[derive(Debug)]
pub(crate) struct PayoffPlan {
    is_loss: bool,
    values: Vec<f64>,
    rule: PayoffRule,
}

/// What the rows say.
pub(crate) struct PayoffEvidence {
    gains: Option<Vec<Gains>>,
    /// The plug-in gain and its deviation at the level of the report.
    plug_in: Option<(f64, f64)>,
}

impl Figure for Payoffs {
    type Plan = Option<PayoffPlan>;
    type Judged = Option<PayoffEvidence>;
    type Found = Option<GLeakage>;

    fn plan(prepared: &Prepared, tuned: &Tuned, _: &mut Plan) -> Self::Plan {
        let (payoff, is_loss) = prepared.payoff.as_ref()?;
        let sign = if *is_loss { -1.0 } else { 1.0 };
        let values: Vec<f64> = payoff.values().iter().map(|value| sign * value).collect();
        let (prior, secrets) = (&prepared.priors[0], prepared.labels.len());
        let gains = GainMatrix {
            values: &values,
            secrets,
        };
        let rule = PayoffRule::choose(&tuned.scores, &prepared.split.tune, prior, gains);
        Some(PayoffPlan {
            is_loss: *is_loss,
            values,
            rule,
        })
    }

    fn judge(prepared: &Prepared, tuned: &Tuned, planned: &Self::Plan) -> Self::Judged {
        let planned = planned.as_ref()?;
        let (log, prior) = (prepared.log, &prepared.priors[0]);
        let gains = planned.gains(prepared.labels.len());
        let independent = prepared.independence.is_of_rows();
        let discrete = independent && log.observations.kind() == ObservationKind::Discrete;
        let certify = &prepared.split.certify;
        let plug_in = discrete.then(|| plug_in_gain(&log.counts, prior, gains));
        let deviation = || {
            let secrets = prior.iter().zip(log.counts.rows()).enumerate();
            let parts = secrets.map(|(secret, (prior, rows))| {
                let (least, most) = gains.range(secret);
                (prior * (most - least)).powi(2) / (*rows).max(1) as f64
            });
            (-0.5 * prepared.alpha.ln() * parts.sum::<f64>()).sqrt()
        };
        Some(PayoffEvidence {
            gains: independent.then(|| {
                let rule = &planned.rule;
                rule.gains(&*tuned.scorer, &log.observations, certify, gains)
            }),
            plug_in: plug_in.flatten().map(|plug_in| (plug_in, deviation())),
        })
    }

    fn figure(planned: &Self::Plan, judged: &Self::Judged, settled: &Settled) -> Self::Found {
        let (planned, judged) = (planned.as_ref()?, judged.as_ref()?);
        let (evidence, prior) = (settled.evidence, &settled.prepared.priors[0]);
        let gains = planned.gains(prior.len());
        let blind = gains.best(prior).1;
        let possible = prior.iter().enumerate().map(|(s, p)| p * gains.range(s).1);
        let possible: f64 = possible.sum();
        let lower = judged.gains.as_ref();
        let lower = lower.and_then(|gains| weighted_mean_at_least(gains, evidence.alpha()));
        let upper = judged
            .plug_in
            .map(|(plug_in, deviation)| (plug_in + deviation).min(possible));
        let point = judged.gains.as_deref().and_then(mean_gain);
        let mut gain = Estimate {
            point,
            raw: None,
            lower: lower.map(|lower| lower.max(blind)),
            upper,
            method: Methods {
                point: point.map(|_| Method::HeldOutAttack),
                lower: lower.map(|_| Method::HeldOutGains),
                upper: upper.map(|_| Method::FixedEvent),
            },
            reason: match (&judged.gains, lower, upper) {
                (None, ..) if evidence.independence.is_of_units() => Some(Reason::GroupedRows),
                (None, ..) => Some(Reason::DependentRows),
                (_, None, _) => Some(Reason::PriorWithoutRows),
                (_, _, None) => Some(evidence.no_upper()),
                _ => None,
            },
        };
        gain.constrain(blind, possible);
        Some(GLeakage {
            is_loss: planned.is_loss,
            without: if planned.is_loss { -blind } else { blind },
            additive: gain.increasing(|gain| gain - blind),
            with: match planned.is_loss {
                true => gain.decreasing(|gain| -gain),
                false => gain,
            },
        })
    }
}

impl PayoffPlan {
    fn gains(&self, secrets: usize) -> GainMatrix<'_> {
        GainMatrix {
            values: &self.values,
            secrets,
        }
    }
}
