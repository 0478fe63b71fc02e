//! The analysis of a mechanism whose matrix cannot be written: between two channels, or by counting.

use std::f64::consts::LN_2;

use super::cells::{self, MOST_SECRETS, Sides};
use super::{
    Analysis, AnalysisOptions, Channel, ChannelProfile, Prior, ReconstructionAt, WorstPair, analyze,
};
use crate::accountant::divided::Divided;
use crate::channel::analysis::AtLeast;
use crate::channel::{LeakageFamily, PriorFigures};
use crate::extreme::Extreme;
use crate::mechanism::{BoundMechanism, LikelihoodClass, Mechanism, NoiseShape, listed_secrets};
use crate::profile::Pair;
use leakgauge_base::error::{Error, Result};
use leakgauge_base::grammar::format_number;
use leakgauge_base::naming::{option, setting};

/// A mechanism without a matrix of its own whose figures those of other matrices enclose.
#[derive(Debug)]
pub struct Enclosed {
    bound: Box<dyn BoundMechanism>,
    name: String,
    /// Leaks at least as much.
    above: Channel,
    /// Leaks at most as much; `None` where `above` leaks as much as the mechanism under the uniform prior.
    below: Option<Channel>,
}

/// The most entries of a matrix in which observations are counted together.
const MOST_COUNTED: usize = 20_000_000;
/// What rounding may take from what is left of 1.
const ROUNDING: f64 = 1e-15;

impl Enclosed {
    /// Of Laplace and Gaussian noise, of a record that is used with a probability, and of mechanisms on labels whose observations are too many to list but have few
    /// likelihood ratios; else `None`.
    ///
    /// # Errors
    /// No secrets are declared, only one or too many.
    pub fn of(mechanism: &dyn Mechanism) -> Result<Option<Enclosed>> {
        Self::with_cells(mechanism, f64::INFINITY)
    }

    /// The same with so many cells of the line at most.
    fn with_cells(mechanism: &dyn Mechanism, cells: f64) -> Result<Option<Enclosed>> {
        let bound = mechanism.bind_declared()?;
        let name = mechanism.to_string();
        if let Some((NoiseShape::Laplace { .. } | NoiseShape::Gaussian { .. }, _)) = bound.located()
        {
            let sides = noise(&*bound, &name, mechanism, cells)?;
            return Ok(Some(Enclosed {
                bound,
                name,
                above: sides.above,
                below: Some(sides.below),
            }));
        }
        if bound.probabilities().is_some() {
            return Ok(None);
        }
        if bound.subsampled().is_some() || bound.replaced().is_some() {
            let sides = two_secrets(&*bound, &name, mechanism, cells)?;
            return Ok(Some(Enclosed {
                bound,
                name,
                above: sides.above,
                below: Some(sides.below),
            }));
        }
        let classes = bound.likelihood_classes();
        let count = bound.secret_count();
        let counted = classes.and_then(|classes| counted(&classes, count, bound.epsilon()));
        let Some(columns) = counted else {
            return Ok(None);
        };
        let entries = columns.len().saturating_mul(count).saturating_mul(count);
        if entries > MOST_COUNTED {
            let problem = format!(
                "has no finite matrix, and with {count} secrets its observations are too many even when they are counted"
            );
            return Err(Error::parameter(name, problem)
                .with_hint("`leakgauge bounds` computes its exact figures without a matrix"));
        }
        let above = cyclic(&columns, listed_secrets(mechanism)?)?;
        Ok(Some(Enclosed {
            bound,
            name,
            above,
            below: None,
        }))
    }

    /// A channel with the secrets of the mechanism.
    pub fn secrets(&self) -> &Channel {
        &self.above
    }

    /// Whether observations are counted, so that figures are exact for the uniform prior.
    pub fn is_counted(&self) -> bool {
        self.below.is_none()
    }

    /// All figures: those of the channel that leaks at least as much, with the other side where both may differ, and those
    /// of pairs of secrets from the mechanism itself.
    ///
    /// # Errors
    /// Those of [`analyze`]; of observations that are counted another prior than the uniform one, a gain or a loss, or one
    /// pair, because these do not treat all secrets alike.
    pub fn analyze(&self, options: &AnalysisOptions) -> Result<Analysis> {
        if options.hyper {
            let problem = format!(
                "has observations that cannot be listed, which {} would do",
                option("hyper")
            );
            return Err(Error::parameter(self.name.as_str(), problem)
                .with_hint("write the mechanism, with its observations in bins, as a matrix"));
        }
        let pairwise = AnalysisOptions {
            epsilons: Vec::new(),
            reconstruction: Vec::new(),
            profile: false,
            ..options.clone()
        };
        let mut found = match &self.below {
            Some(below) => {
                let mut found = analyze(&self.above, &pairwise)?;
                let mut least = analyze(below, &pairwise)?;
                join_limits(&mut found, &mut least);
                let bounds = &mut found.bayes_security_bounds;
                bounds.mean_row.upper = least.bayes_security_bounds.mean_row.upper;
                bounds.first_row.upper = least.bayes_security_bounds.first_row.upper;
                bounds.prior_row.upper = least.bayes_security_bounds.prior_row.upper;
                found.at_least = Some(AtLeast {
                    at_prior: least.at_prior,
                    shannon_capacity: least.shannon_capacity,
                    leakage_family: least.leakage_family,
                    gain: least.gain,
                    loss: least.loss,
                    additive_capacity: least.additive_capacity,
                    property: least.property,
                    correlated: least.correlated,
                });
                found
            }
            None => {
                self.check_symmetric(options)?;
                let mut found = analyze(&self.above, &pairwise)?;
                let variation = self.bound.total_variation(0, 1);
                // The distance of one row from another; the mean is as far from all rows as it is here.
                let first = &mut found.bayes_security_bounds.first_row;
                first.distance = 2.0 * variation;
                first.lower = 1.0 - 2.0 * variation;
                first.upper = first.upper.map(|_| self.bound.bayes_security(0, 1));
                found
            }
        };
        self.of_pairs(&mut found, options)?;
        self.at_the_best_prior(&mut found);
        self.bounded(&mut found);
        Ok(found)
    }

    /// The vulnerability is at most the largest prior times the multiplicative capacity, which is known exactly, and at a
    /// uniform prior it is that.
    fn at_the_best_prior(&self, found: &mut Analysis) {
        let (Some(least), Some(capacity)) = (&mut found.at_least, self.bound.capacity()) else {
            return;
        };
        let largest = found.prior.iter().copied().fold(0.0, f64::at_least);
        let vulnerability = capacity * largest;
        let at = &mut found.at_prior;
        if vulnerability < at.vulnerability {
            let risk = (1.0 - vulnerability - ROUNDING).at_least(at.bayes_risk);
            at.set_vulnerability(vulnerability, risk);
        }
        if is_uniform(&found.prior) && vulnerability > least.at_prior.vulnerability {
            let at = &mut least.at_prior;
            let risk = (1.0 - vulnerability + ROUNDING).at_most(at.bayes_risk);
            at.set_vulnerability(vulnerability, risk);
        }
    }

    /// What is known of the leakage of any channel with this capacity and prior, which the cells may exceed by a little.
    fn bounded(&self, found: &mut Analysis) {
        let positive = found.prior.iter().copied().filter(|w| *w > 0.0);
        let farthest = -positive.fold(1.0, f64::at_most).ln();
        let all_count = found.prior.iter().all(|w| *w > 0.0);
        let limit = |at: &mut PriorFigures, family: &mut LeakageFamily| {
            family.largest_pointwise_leakage = family.largest_pointwise_leakage.at_most(farthest);
            if at.vulnerability > 1.0 {
                at.set_vulnerability(1.0, at.bayes_risk.at_least(0.0));
            }
        };
        limit(&mut found.at_prior, &mut found.leakage_family);
        if let Some(least) = &mut found.at_least {
            limit(&mut least.at_prior, &mut least.leakage_family);
        }
        let Some(capacity) = self.bound.capacity() else {
            return;
        };
        let family = &mut found.leakage_family;
        family.maximal_leakage = family.maximal_leakage.at_most(capacity.ln());
        if let Some(least) = found.at_least.as_mut().filter(|_| all_count) {
            least.leakage_family.maximal_leakage = capacity.ln();
        }
    }

    fn check_symmetric(&self, options: &AnalysisOptions) -> Result<()> {
        let uniform = |prior: &Prior| is_uniform(prior.weights());
        let asked = [
            (
                "prior",
                options.prior.as_ref().is_some_and(|prior| !uniform(prior)),
            ),
            ("gain", options.gain.is_some()),
            ("loss", options.loss.is_some()),
            ("pair", options.pair.is_some()),
            ("capacity", options.capacity),
            ("property", options.property.is_some()),
            ("correlation", options.correlated.is_some()),
        ];
        match asked.iter().find(|(_, asked)| *asked) {
            None => Ok(()),
            Some((name, _)) => {
                let problem = format!(
                    "has too many observations to list: they are counted, which needs secrets that are all alike: {} does not treat them so",
                    option(name)
                );
                Err(Error::parameter(self.name.as_str(), problem)
                    .with_hint("give fewer secrets, so that the matrix can be listed"))
            }
        }
    }

    /// Figures of pairs of secrets, which the mechanism has exactly.
    fn of_pairs(&self, found: &mut Analysis, options: &AnalysisOptions) -> Result<()> {
        let bound = &*self.bound;
        found.epsilon = finite(bound.epsilon());
        if let Some((a, b)) = bound.worst_pair() {
            found.worst_pair = self.pair(a, b);
            found.bayes_security = found.worst_pair.bayes_security;
            found.total_variation = found.worst_pair.total_variation;
            found.advantage = found.total_variation;
        }
        if let Some(capacity) = bound.capacity() {
            found.capacity = capacity;
            found.min_entropy_capacity = capacity.ln();
            found.min_entropy_capacity_bits = capacity.ln() / LN_2;
        }
        let guess = found.at_prior.guessing_error;
        found.bayes_risk_bounds.by_bayes_security = found.bayes_security * guess;
        found.bayes_risk_bounds.by_capacity = 1.0 - found.capacity * (1.0 - guess);
        let bounds = &mut found.bayes_security_bounds;
        for bounds in [
            &mut bounds.mean_row,
            &mut bounds.first_row,
            &mut bounds.prior_row,
        ] {
            bounds.lower = bounds.lower.at_most(found.bayes_security);
            bounds.upper = bounds.upper.map(|most| most.at_least(found.bayes_security));
        }
        if let Some(matrix) = &mut found.total_variation_matrix {
            for (a, row) in matrix.iter_mut().enumerate() {
                let each = row.iter_mut().enumerate();
                each.for_each(|(b, entry)| *entry = bound.total_variation(a, b));
            }
        }
        if let (Some(pair), Some((a, b))) = (&mut found.pair, options.pair) {
            pair.figures = self.pair(a, b);
        }
        for &epsilon in &options.epsilons {
            found.deltas.push(self.delta(epsilon)?);
        }
        for &kappa in &options.reconstruction {
            found.reconstruction.push(self.reconstruction(kappa)?);
        }
        found.profile = options.profile.then(|| {
            let most = |figure: fn(&Pair) -> Option<f64>| self.largest(figure).and_then(finite);
            ChannelProfile {
                zcdp_rho: most(Pair::concentrated_rho),
                gdp_mu: most(Pair::gaussian_mu),
            }
        });
        for orders in &mut found.leakage_family.orders {
            if orders.order >= 1.0 {
                let order = orders.order;
                orders.renyi_divergence = self
                    .largest(|pair| pair.renyi_divergence(order))
                    .and_then(finite);
            }
        }
        Ok(())
    }
}

impl Enclosed {
    fn pair(&self, a: usize, b: usize) -> WorstPair {
        let labels = self.above.secrets();
        let both = self.bound.pair(a, b).zip(self.bound.pair(b, a));
        let losses = both.and_then(|(one, other)| one.largest_loss().zip(other.largest_loss()));
        let epsilon = losses.map_or(f64::INFINITY, |(one, other)| one.at_least(other));
        WorstPair {
            secrets: [labels[a].clone(), labels[b].clone()],
            bayes_security: self.bound.bayes_security(a, b),
            total_variation: self.bound.total_variation(a, b),
            epsilon: finite(epsilon),
        }
    }

    /// The largest figure of all ordered pairs of secrets.
    fn largest(&self, figure: impl Fn(&Pair) -> Option<f64>) -> Option<f64> {
        let pairs = self.bound.pairs()?;
        let found: Option<Vec<f64>> = pairs.iter().map(figure).collect();
        Some(found?.into_iter().fold(0.0, f64::at_least))
    }

    fn delta(&self, epsilon: f64) -> Result<super::DeltaAt> {
        let known = self.bound.delta(epsilon).zip(self.bound.worst_pair());
        let (delta, (a, b)) = match known {
            Some(known) if epsilon >= 0.0 => known,
            _ => self.above.delta(epsilon)?,
        };
        let labels = self.above.secrets();
        Ok(super::DeltaAt {
            epsilon,
            delta,
            secrets: [labels[a].clone(), labels[b].clone()],
        })
    }

    fn reconstruction(&self, kappa: f64) -> Result<ReconstructionAt> {
        if !(kappa > 0.0 && kappa < 1.0) {
            return Err(Error::parameter(
                setting("reconstruction", kappa),
                "must be above 0 and below 1",
            ));
        }
        match self.largest(|pair| pair.reconstruction(kappa)) {
            Some(success) => Ok(ReconstructionAt {
                without: kappa,
                success,
            }),
            None => self.above.reconstruction(kappa),
        }
    }
}

/// The cells of the privacy loss of two secrets.
const CELLS: f64 = 2e4;

/// A record that is used with a probability, by its privacy loss: the second secret against the first.
fn two_secrets(
    bound: &dyn BoundMechanism,
    name: &str,
    mechanism: &dyn Mechanism,
    most: f64,
) -> Result<Sides> {
    let found = Divided::of(bound, name, CELLS.at_most(most) as usize)?;
    let labels = listed_secrets(mechanism)?;
    let channel = |columns: &[(f64, f64)]| {
        let sum = |of: fn(&(f64, f64)) -> f64| columns.iter().map(of).sum::<f64>();
        let (p, q) = (sum(|column| column.0), sum(|column| column.1));
        cells::check_sums(&[p, q])?;
        let first = columns.iter().map(|column| column.1 / q);
        let second = columns.iter().map(|column| column.0 / p);
        let names = columns
            .iter()
            .map(|(p, q)| format!("ratio {}", format_number(p / q)));
        Channel::new(
            labels.clone(),
            names.collect(),
            first.chain(second).collect(),
        )
    };
    Ok(Sides {
        below: channel(&found.below)?,
        above: channel(&found.above)?,
    })
}

/// Certified limits of a capacity reach from the lower one of the channel that leaks less to the upper one of the other.
fn join_limits(most: &mut Analysis, least: &mut Analysis) {
    let (one, other) = (&mut most.shannon_capacity, &mut least.shannon_capacity);
    // Where both are one number, rounding may exchange them.
    one.lower = other.lower.at_most(one.upper);
    one.lower_bits = one.lower / LN_2;
    *other = one.clone();
    let both = (&mut most.additive_capacity, &mut least.additive_capacity);
    if let (Some(one), Some(other)) = both {
        one.lower = other.lower.at_most(one.upper);
        one.prior.clone_from(&other.prior);
        other.upper = one.upper;
    }
    let orders = most.leakage_family.orders.iter_mut();
    for (one, other) in orders.zip(&mut least.leakage_family.orders) {
        let limits = (
            &mut one.maximal_alpha_leakage,
            &mut other.maximal_alpha_leakage,
        );
        if let (Some(one), Some(other)) = limits {
            one.lower = other.lower.at_most(one.upper);
            *other = *one;
        }
    }
}

fn finite(figure: f64) -> Option<f64> {
    Some(figure).filter(|figure| figure.is_finite())
}

fn is_uniform(prior: &[f64]) -> bool {
    let first = prior[0];
    prior.iter().all(|w| (w - first).abs() <= 1e-12 * first)
}

fn noise(
    bound: &dyn BoundMechanism,
    name: &str,
    mechanism: &dyn Mechanism,
    most: f64,
) -> Result<Sides> {
    if bound.secret_count() > MOST_SECRETS {
        let problem = format!(
            "has {} secrets; between {MOST_SECRETS} secrets the line is divided into too many cells",
            bound.secret_count()
        );
        return Err(Error::parameter(name, problem)
            .with_hint("`leakgauge bounds` computes its exact figures of pairs of secrets"));
    }
    let labels = listed_secrets(mechanism)?;
    let count = cells::number_of_cells(labels.len()).at_most(most);
    match bound.located() {
        Some((NoiseShape::Laplace { scale }, centers)) => {
            cells::laplace(scale, &centers, &labels, count)
        }
        Some((NoiseShape::Gaussian { sigma }, centers)) => {
            cells::gaussian(sigma, &centers, &labels, count)
        }
        _ => Err(Error::parameter(name, "adds no noise with a known density")),
    }
}

/// Observations that are sets of labels, of so many members.
struct Sets {
    members: usize,
    /// The probability of all of them under a secret that is in each.
    with: f64,
    /// That of one of them under a secret that is not in it, over that under one that is.
    fall: f64,
}

/// The sets behind classes of likelihood ratios of a mechanism under which all sets with as many members are alike;
/// `None` if the classes are not those of sets.
fn counted(classes: &[LikelihoodClass], secrets: usize, epsilon: f64) -> Option<Vec<Sets>> {
    let (k, fall) = (secrets as f64, (-epsilon).exp());
    if !(1e-6..700.0).contains(&epsilon) {
        return None;
    }
    let mut neutral = 0.0;
    let mut sets = Vec::new();
    for class in classes.iter().filter(|class| class.own > 0.0) {
        // m + (k − m)·e^−ε of sets with the secret; those without it follow.
        let ratio = class.mean / class.own * k;
        let members = ((ratio - k * fall) / (1.0 - fall)).round();
        if (ratio - k).abs() <= 1e-9 * k {
            neutral += class.own;
        } else if ratio < k {
            let expected = members + (k - members) * fall;
            if (ratio / expected - 1.0).abs() > 1e-9 || members < 1.0 {
                return None;
            }
            sets.push(Sets {
                members: members as usize,
                with: class.own,
                fall,
            });
        }
    }
    sets.push(Sets {
        members: secrets,
        with: neutral,
        fall: 1.0,
    });
    let all = |set: &Sets| {
        let m = set.members as f64;
        set.with * (1.0 + (k - m) / m * set.fall)
    };
    let whole: f64 = sets.iter().map(all).sum();
    ((whole - 1.0).abs() < 1e-10).then_some(sets)
}

/// The channel that tells, instead of a set of labels, a stretch of as many labels in a circle.
///
/// # Formula
/// Under the uniform prior every figure that treats secrets alike is the sum over the sets of a term that depends on their
/// number of members, so that k stretches stand for all C(k, m) sets. Its maxima over priors are at the uniform one: mutual
/// information and (Σ_o (Σ_s π_s C\[s,o\]^α)^(1/α)) are concave in the prior, and turning the circle changes neither, as
/// permuting labels does not of the mechanism.
fn cyclic(sets: &[Sets], labels: Vec<String>) -> Result<Channel> {
    let k = labels.len();
    let mut columns = Vec::new();
    let mut entries: Vec<(usize, usize, f64, f64)> = Vec::new();
    for set in sets.iter().filter(|set| set.with > 0.0) {
        let m = set.members;
        let starts = if m == k { 1 } else { k };
        let with = set.with / if m == k { 1.0 } else { m as f64 };
        for (start, label) in labels.iter().enumerate().take(starts) {
            columns.push(format!("{m} labels from {label}"));
            entries.push((m, start, with, with * set.fall));
        }
    }
    let row = |secret: usize| {
        let of = move |&(m, start, with, without): &(usize, usize, f64, f64)| {
            let inside = (secret + k - start) % k < m;
            if inside { with } else { without }
        };
        entries.iter().map(of).collect::<Vec<f64>>()
    };
    let mut values = Vec::with_capacity(k * columns.len());
    for secret in 0..k {
        let row = row(secret);
        let sum: f64 = row.iter().sum();
        values.extend(row.iter().map(|p| p / sum));
    }
    Channel::new(labels, columns, values)
}

#[cfg(test)]
mod tests;
