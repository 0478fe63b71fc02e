//! All exact figures of a channel at a prior, as a serializable report.

use crate::extreme::Extreme;
use std::f64::consts::LN_2;

use serde::Serialize;

use super::at_prior::prior_figures;
use super::family::{LeakageFamily, family_figures};
use super::gain::{gain_figures, loss_figures};
use crate::channel::MatrixLayout;
use crate::channel::{
    AdditiveCapacity, CenterBound, Channel, ChannelProfile, Composition, Correlated,
    CorrelatedFigures, GainFigures, Inner, LossFigures, Payoff, Prior, PriorFigures,
    ReconstructionAt, Refinement, Search, SearchMethod, TradeOff, center_bound, diameter, mean_row,
};
use crate::leakage;
use leakgauge_base::Tool;
use leakgauge_base::error::Result;

/// The largest number of secrets for which the matrix of all pairs is part of the report.
const MAX_LISTED_SECRETS: usize = 200;

/// What to compute.
#[derive(Debug, Clone, Default)]
pub struct AnalysisOptions {
    /// The prior; uniform if not given.
    pub prior: Option<Prior>,
    /// The algorithm that finds the worst pair.
    pub method: SearchMethod,
    /// The values of ε at which δ is computed.
    pub epsilons: Vec<f64>,
    /// A pair of secrets (rows from 0) for a trade-off curve of its own.
    pub pair: Option<(usize, usize)>,
    /// The gain function g, if any.
    pub gain: Option<Payoff>,
    /// The loss function ℓ, if any.
    pub loss: Option<Payoff>,
    /// The orders α of Sibson's information and maximal α-leakage.
    pub orders: Vec<f64>,
    /// The numbers of guesses.
    pub tries: Vec<u64>,
    /// The successes κ without the secret at which the success of a reconstruction is computed.
    pub reconstruction: Vec<f64>,
    /// Whether ρ and μ are computed.
    pub profile: bool,
    /// Whether the largest additive leakage over all priors is computed, under the gain or of guessing the secret.
    pub capacity: bool,
    /// Whether the distributions of the secret after the observation are listed.
    pub hyper: bool,
    /// A property of the secret.
    pub property: Option<Correlated>,
    /// A variable that is correlated with the secret.
    pub correlated: Option<Correlated>,
}

/// Exact figures of a channel. Natural logarithms, except in keys that end in `_bits`.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Analysis {
    /// Version of this layout.
    pub schema_version: u32,
    /// The program.
    pub tool: Tool,
    /// How the matrices were read.
    pub input: Vec<MatrixLayout>,
    /// How they were composed.
    pub composition: Option<Composition>,
    /// The labels of the secrets.
    pub secrets: Vec<String>,
    /// Number of observations.
    pub observations: usize,
    /// Bayes security β*, that of the worst pair.
    pub bayes_security: f64,
    /// The two secrets that are easiest to tell apart.
    pub worst_pair: WorstPair,
    /// Total variation of the worst pair.
    pub total_variation: f64,
    /// The advantage of the optimal adversary against the worst pair; equal to the total variation.
    pub advantage: f64,
    /// The prior of the following figures.
    pub prior: Vec<f64>,
    /// The figures at that prior.
    #[serde(flatten)]
    pub at_prior: PriorFigures,
    /// ML×, the largest L× over all priors.
    pub capacity: f64,
    /// ln ML×.
    pub min_entropy_capacity: f64,
    /// log₂ ML×.
    pub min_entropy_capacity_bits: f64,
    /// The Shannon capacity, between certified limits.
    pub shannon_capacity: CapacityBracket,
    /// The ε of local differential privacy; null if infinite.
    pub epsilon: Option<f64>,
    /// δ at the given values of ε.
    pub deltas: Vec<DeltaAt>,
    /// Lower bounds on the Bayes risk at this prior from figures that do not depend on the prior.
    pub bayes_risk_bounds: RiskBounds,
    /// The leakage family at this prior.
    pub leakage_family: LeakageFamily,
    /// Bounds on Bayes security that need one pass over the rows (Proposition 5).
    pub bayes_security_bounds: SecurityBounds,
    /// Total variation between all secrets; null for more than 200 secrets.
    pub total_variation_matrix: Option<Vec<Vec<f64>>>,
    /// The pair given in the options.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pair: Option<PairAnalysis>,
    /// Figures under the given gain.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gain: Option<GainFigures>,
    /// Figures under the given loss.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub loss: Option<LossFigures>,
    /// The success of a reconstruction at the given κ.
    pub reconstruction: Vec<ReconstructionAt>,
    /// ρ and μ, if they were asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub profile: Option<ChannelProfile>,
    /// Of noise on the line, where figures lie between those of two matrices: the other side.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub at_least: Option<AtLeast>,
    /// The largest additive leakage over all priors, if it was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub additive_capacity: Option<AdditiveCapacity>,
    /// What the channel says about a property of the secret.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub property: Option<CorrelatedFigures>,
    /// What it says about a variable that is correlated with the secret.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub correlated: Option<CorrelatedFigures>,
    /// The distributions of the secret after the observation, the likeliest first, if they were asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hyper: Option<Vec<Inner>>,
    /// How the channel relates to another one, if one was given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub refinement: Option<Refinement>,
    /// How the worst pair was found.
    pub search: Search,
}

/// Figures of a channel that leaks at most as much as another one.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct AtLeast {
    /// The figures at the prior.
    #[serde(flatten)]
    pub at_prior: PriorFigures,
    /// The Shannon capacity, between certified limits.
    pub shannon_capacity: CapacityBracket,
    /// The leakage family at the prior.
    pub leakage_family: LeakageFamily,
    /// Figures under the given gain.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gain: Option<GainFigures>,
    /// Figures under the given loss.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub loss: Option<LossFigures>,
    /// The largest additive leakage over all priors, if it was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub additive_capacity: Option<AdditiveCapacity>,
    /// What the channel says about a property of the secret.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub property: Option<CorrelatedFigures>,
    /// What it says about a variable that is correlated with the secret.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub correlated: Option<CorrelatedFigures>,
}

/// The two secrets that are easiest to tell apart.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct WorstPair {
    /// Their labels.
    pub secrets: [String; 2],
    /// Their Bayes security.
    pub bayes_security: f64,
    /// Total variation between them.
    pub total_variation: f64,
    /// The ε that covers both directions; null if infinite.
    pub epsilon: Option<f64>,
}

/// Certified bounds on the Shannon capacity.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CapacityBracket {
    /// In nats.
    pub lower: f64,
    /// In nats.
    pub upper: f64,
    /// In bits.
    pub lower_bits: f64,
    /// In bits.
    pub upper_bits: f64,
    /// Steps of the iteration.
    pub iterations: u64,
}

/// One point of δ(ε).
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DeltaAt {
    /// ε; null if infinite.
    #[cfg_attr(feature = "schema", schemars(with = "Option<f64>"))]
    pub epsilon: f64,
    /// δ(ε).
    pub delta: f64,
    /// The ordered pair that attains it.
    pub secrets: [String; 2],
}

/// Lower bounds on the Bayes risk at the prior. A negative bound is trivial.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RiskBounds {
    /// R* ≥ β*·G.
    pub by_bayes_security: f64,
    /// R* ≥ 1 − ML×·max π.
    pub by_capacity: f64,
    /// If nothing is left to guess at this prior (R* = 0), the largest β of the uniform prior that is possible,
    /// (1 − k/n)/(1 − 1/n) for k of n secrets with a positive probability (Theorem 7); else null.
    pub uniform_risk_leakage_at_most: Option<f64>,
}

/// Two-sided bounds on Bayes security.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SecurityBounds {
    /// From the mean row.
    pub mean_row: CenterBound,
    /// From the first row.
    pub first_row: CenterBound,
    /// From the distribution of the observation at the prior, πC; every mixture of rows is one.
    pub prior_row: CenterBound,
}

/// The figures and the trade-off curve of one pair.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PairAnalysis {
    /// Bayes security, total variation, ε.
    #[serde(flatten)]
    pub figures: WorstPair,
    /// The smallest false-negative rate at every false-positive rate.
    pub trade_off: TradeOff,
}

/// Computes all figures of a channel.
///
/// # Errors
/// The prior, gain, loss or pair does not fit the channel, or an ε is negative.
pub fn analyze(channel: &Channel, options: &AnalysisOptions) -> Result<Analysis> {
    let n = channel.secrets().len();
    let prior = options.prior.clone().unwrap_or_else(|| Prior::uniform(n));
    prior.check_over(n)?;
    let worst = diameter(channel, options.method)?;
    let at_prior = prior_figures(channel, &prior)?;
    let capacity = channel.multiplicative_capacity();
    let blind = leakage::prior_vulnerability(prior.weights());
    Ok(Analysis {
        schema_version: 1,
        tool: Tool::default(),
        input: Vec::new(),
        composition: None,
        secrets: channel.secrets().to_vec(),
        observations: channel.observations().len(),
        bayes_security: worst.bayes_security,
        worst_pair: pair_figures(channel, worst.pair)?,
        total_variation: worst.total_variation,
        advantage: worst.total_variation,
        capacity,
        min_entropy_capacity: channel.min_entropy_capacity(),
        min_entropy_capacity_bits: channel.min_entropy_capacity() / LN_2,
        shannon_capacity: bracket(channel),
        epsilon: channel.epsilon(),
        deltas: deltas(channel, &options.epsilons)?,
        bayes_risk_bounds: RiskBounds {
            by_bayes_security: worst.bayes_security * at_prior.guessing_error,
            by_capacity: 1.0 - capacity * blind,
            uniform_risk_leakage_at_most: theorem_7(&prior, at_prior.risk_leakage),
        },
        leakage_family: family_figures(channel, &prior, &options.orders, &options.tries)?,
        bayes_security_bounds: SecurityBounds {
            mean_row: center_bound(channel, &mean_row(channel), true)?,
            first_row: center_bound(channel, channel.row(0), true)?,
            prior_row: center_bound(channel, &channel.push_forward(&prior)?, true)?,
        },
        total_variation_matrix: (n <= MAX_LISTED_SECRETS)
            .then(|| channel.total_variation_matrix())
            .transpose()?,
        pair: pair_analysis(channel, options.pair)?,
        gain: gain_figures(channel, &prior, options.gain.as_ref())?,
        loss: loss_figures(channel, &prior, options.loss.as_ref())?,
        reconstruction: reconstruction(channel, &options.reconstruction)?,
        profile: options.profile.then(|| channel.profile()),
        additive_capacity: additive_capacity(channel, &prior, options)?,
        property: correlated(channel, options.property.as_ref())?,
        correlated: correlated(channel, options.correlated.as_ref())?,
        hyper: match options.hyper {
            true => Some(channel.hyper_distribution(&prior)?),
            false => None,
        },
        at_least: None,
        refinement: None,
        prior: prior.weights().to_vec(),
        at_prior,
        search: worst.search,
    })
}

fn additive_capacity(
    channel: &Channel,
    prior: &Prior,
    options: &AnalysisOptions,
) -> Result<Option<AdditiveCapacity>> {
    if !options.capacity {
        return Ok(None);
    }
    let guess = || Payoff::identity(channel.secrets().len());
    let gain = options.gain.clone().unwrap_or_else(guess);
    AdditiveCapacity::of(channel, &gain, prior).map(Some)
}

fn correlated(channel: &Channel, about: Option<&Correlated>) -> Result<Option<CorrelatedFigures>> {
    about.map(|about| about.figures(channel)).transpose()
}

fn reconstruction(channel: &Channel, kappas: &[f64]) -> Result<Vec<ReconstructionAt>> {
    let at = |&kappa: &f64| channel.reconstruction(kappa);
    kappas.iter().map(at).collect()
}

/// The bound of Theorem 7 where β is 0.
fn theorem_7(prior: &Prior, risk_leakage: Option<f64>) -> Option<f64> {
    let n = prior.weights().len() as f64;
    let k = prior.weights().iter().filter(|w| **w > 0.0).count() as f64;
    (risk_leakage == Some(0.0)).then(|| (n - k) / (n - 1.0))
}

fn pair_figures(channel: &Channel, (a, b): (usize, usize)) -> Result<WorstPair> {
    Ok(WorstPair {
        secrets: [channel.secrets()[a].clone(), channel.secrets()[b].clone()],
        bayes_security: channel.pair_bayes_security(a, b).at_most(1.0),
        total_variation: channel.total_variation(a, b).at_most(1.0),
        epsilon: channel.pair_epsilon(a, b)?,
    })
}

fn pair_analysis(channel: &Channel, pair: Option<(usize, usize)>) -> Result<Option<PairAnalysis>> {
    pair.map(|(a, b)| {
        let trade_off = channel.trade_off(a, b)?;
        Ok(PairAnalysis {
            figures: pair_figures(channel, (a, b))?,
            trade_off,
        })
    })
    .transpose()
}

fn bracket(channel: &Channel) -> CapacityBracket {
    let found = channel.shannon_capacity();
    CapacityBracket {
        lower: found.lower,
        upper: found.upper,
        lower_bits: found.lower / LN_2,
        upper_bits: found.upper / LN_2,
        iterations: found.iterations,
    }
}

fn deltas(channel: &Channel, epsilons: &[f64]) -> Result<Vec<DeltaAt>> {
    let at = |&epsilon: &f64| {
        let (delta, (a, b)) = channel.delta(epsilon)?;
        Ok(DeltaAt {
            epsilon,
            delta,
            secrets: [channel.secrets()[a].clone(), channel.secrets()[b].clone()],
        })
    };
    epsilons.iter().map(at).collect()
}

impl Analysis {
    /// This analysis with the composition that its channel came from. For n repetitions, ε is n times the ε of
    /// one, which avoids probabilities that underflow.
    ///
    /// # Errors
    /// The composition is not one of this channel.
    pub fn of_composition(mut self, composition: Composition) -> Result<Analysis> {
        let (once, uses) = (&composition.once, composition.repeat as f64);
        let times = |epsilon: Option<f64>| epsilon.map(|epsilon| uses * epsilon);
        if composition.repeat > 1 {
            self.epsilon = times(once.epsilon());
            let figures = self.pair.iter_mut().map(|pair| &mut pair.figures);
            for pair in figures.chain([&mut self.worst_pair]) {
                let a = once.secret_number(&pair.secrets[0])?;
                let b = once.secret_number(&pair.secrets[1])?;
                pair.epsilon = times(once.pair_epsilon(a, b)?);
            }
        }
        self.composition = Some(composition);
        Ok(self)
    }
}
