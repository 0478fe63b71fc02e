//! What a claim leaves to an attacker, in terms that people use: right guesses, false positives, posteriors.

use libm::{exp, log};

use super::{Kind, dominating, names, profile, promise, shuffled_capacity, smallest_epsilon};
use crate::accountant::Accountant;
use crate::claim::{BoundPromise, Claim, ClaimKind, Guarantee, Promise, Requirement};
use crate::extreme::Extreme;
use crate::mechanism::{BoundMechanism, Mechanism};
use crate::profile::{Cells, Pair, by_curve, capacity_by_curve};
use leakgauge_base::error::{Error, Result};

mod overall;

/// The prior probabilities of the less likely of two secrets.
const PRIORS: [f64; 3] = [0.5, 0.1, 0.01];
/// The false positive rates at which true positives are told.
pub const FALSE_POSITIVE_RATES: [f64; 2] = [0.01, 0.001];
/// The prior at which it is told how far a positive answer is to be believed.
const RARE: f64 = 0.01;
/// Numbers of equally likely secrets.
const SECRETS: [u64; 2] = [10, 1000];
/// The δ at which ε is told besides.
const DELTA: f64 = 1e-5;

/// What a claim leaves to an attacker who sees one observation.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Explanation {
    /// Whether it is a mechanism, whose figures are exact, or a promise, which bounds them.
    pub kind: Kind,
    /// What the claim is about.
    pub covered: Covered,
    /// How many steps two secrets are apart at most, and the unit, of a promise in which distance plays a part.
    pub steps: Option<(f64, f64)>,
    /// The labels of the pair that is told apart best, of a mechanism whose secrets are not too many to list.
    pub worst_pair: Option<[String; 2]>,
    /// True positive rate − false positive rate.
    pub advantage: Allowed,
    /// 1 − advantage; the least of a promise.
    pub bayes_security: Implied,
    /// Guesses which of two secrets it is, at priors.
    pub guesses: Vec<Guess>,
    /// True positives at false positive rates.
    pub detections: Vec<Detection>,
    /// Guesses which of several equally likely secrets it is.
    pub namings: Vec<Naming>,
    /// The smallest ε that follows, with δ = 0.
    pub epsilon: Implied,
    /// The δ, and the smallest ε that follows with it.
    pub epsilon_at_delta: (f64, Implied),
    /// The smallest μ of Gaussian differential privacy that follows.
    pub mu: Implied,
    /// The smallest ρ of zero-concentrated differential privacy that follows.
    pub rho: Implied,
}

/// What a claim is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Covered {
    /// All attacks.
    AllAttacks,
    /// The best attack that was found.
    FoundAttacks,
    /// Differences of times, of which no probability follows.
    Times,
    /// What all secrets tell on average, of which nothing follows for two of them.
    Average,
}

/// A figure of the best attack that a claim leaves possible.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Allowed {
    /// The same without an observation.
    pub without: f64,
    /// With it: the value, or a bound from above.
    pub most: Implied,
    /// Whether it is the value.
    pub is_exact: bool,
}

/// A guess which of two secrets it is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Guess {
    /// The prior probability of the less likely secret.
    pub prior: f64,
    /// The probability that the guess is right.
    pub success: Allowed,
}

/// How often one of two secrets is detected.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Detection {
    /// The probability that the other is taken for it.
    pub false_positive_rate: f64,
    /// The probability that it is detected.
    pub true_positive_rate: Allowed,
    /// A prior probability of the secret.
    pub prior: f64,
    /// The probability that it is the secret when it is detected.
    pub posterior: Allowed,
}

/// A guess which of several secrets it is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Naming {
    /// How many secrets there are, all equally likely.
    pub secrets: u64,
    /// The probability that the guess is right.
    pub success: Allowed,
}

/// A figure that follows from a claim, finite, or why none does.
pub type Implied = std::result::Result<f64, NotImplied>;

/// Why no figure follows, or none that is finite.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NotImplied {
    /// With a probability, which is a δ, the secret may be told outright.
    Revealed,
    /// A bound on total variation leaves observations that only one of two secrets has.
    Variation,
    /// Rare observations may tell as much as one likes.
    Tails,
    /// A bound on the Rényi divergence of one order leaves those of larger orders unbounded.
    Orders,
    /// Some observations of the mechanism tell as much as one likes.
    Mechanism,
    /// It is not known.
    Unknown,
    /// The claim is not about all attacks, or not about two secrets.
    NotCovered,
}

/// What a claim leaves to an attacker. With the labels of a log's secrets, distances and mechanisms are theirs;
/// without, a promise is about neighbors, and a mechanism declares its secrets.
///
/// # Formula
/// With the largest δ(ε) of an ordered pair of secrets: a guess is right with probability 1 − π + π·δ(ln((1 − π)/π))
/// where the less likely secret has the prior π ≤ 1/2. True positives t at a false positive rate f are
/// sup P(E) with Q(E) ≤ f, and a positive answer is right with probability πt/(πt + (1 − π)f). Of n equally likely secrets one
/// is named with probability C/n, where C is the multiplicative capacity; it is at most
/// n·(e^ε + (n − 1)·δ(ε))/(e^ε + n − 1) for every ε ≥ 0.
///
/// # Errors
/// A mechanism whose secrets are neither declared nor given, or fewer than two; labels that the claim says nothing about;
/// figures that double precision does not hold.
///
/// # References
/// Kairouz, Oh, Viswanath, doi:10.1109/TIT.2017.2685505 (trade-off of (ε, δ)); Dong, Roth, Su, doi:10.1111/rssb.12454;
/// Alvim et al., *The science of quantitative information flow*, doi:10.1007/978-3-319-96131-6 (capacity).
pub fn explain(claim: &Claim, labels: Option<&[String]>) -> Result<Explanation> {
    let found = match &claim.kind {
        ClaimKind::Mechanism(mechanism) => of_mechanism(&**mechanism, labels)?,
        ClaimKind::Promise(promise) => of_promise(claim, promise, labels)?,
    };
    match found.is_a_number() {
        true => Ok(found),
        false => Err(
            Error::parameter(claim.text.as_str(), "what it means cannot be computed")
                .with_hint("a parameter is too small or too large for double precision"),
        ),
    }
}

impl Explanation {
    fn is_a_number(&self) -> bool {
        let guesses = self.guesses.iter().map(|guess| guess.success);
        let detections = self.detections.iter();
        let detections = detections.flat_map(|found| [found.true_positive_rate, found.posterior]);
        let namings = self.namings.iter().map(|naming| naming.success);
        let allowed = guesses.chain(detections).chain(namings);
        let allowed = allowed.chain([self.advantage]).map(|allowed| allowed.most);
        let parameters = [
            self.bayes_security,
            self.epsilon,
            self.epsilon_at_delta.1,
            self.mu,
            self.rho,
        ];
        let mut all = allowed.chain(parameters);
        all.all(|found| !found.is_ok_and(f64::is_nan))
    }

    /// Of a claim of mutual information at a prior that is not uniform: of equally likely secrets nothing follows.
    #[must_use]
    pub fn of_another_prior(labels: &[String]) -> Self {
        Self::of_nothing(Covered::Average, Some(labels))
    }

    /// An explanation of a claim that is not about all attacks.
    fn of_nothing(covered: Covered, labels: Option<&[String]>) -> Self {
        let mut found = Laws::NotCovered.explanation(&numbers_of_secrets(labels));
        found.covered = covered;
        found
    }
}

fn of_promise(claim: &Claim, promise: &Promise, labels: Option<&[String]>) -> Result<Explanation> {
    let mut requirement = promise.requirement();
    match requirement {
        Requirement::TimeDifference(_) => {
            return Ok(Explanation::of_nothing(Covered::Times, labels));
        }
        Requirement::AttackAdvantage { at_most } => {
            return Ok(of_found_attacks(at_most, labels));
        }
        Requirement::Overall { figure, at_most } => {
            return Ok(overall::explanation(figure, at_most, labels));
        }
        _ => {}
    }
    let mut steps = promise.unit().map(|unit| (1.0, unit));
    if let (Some(labels), Requirement::Privacy(guarantee)) = (labels, requirement) {
        let bound = BoundPromise::bind(guarantee, promise.neighbors(), &claim.text, labels)?;
        steps = farthest(&bound, labels.len());
        if let Some((steps, _)) = steps {
            requirement = Requirement::Privacy(guarantee.group(steps));
        }
    }
    let laws = Laws::Promise {
        requirement,
        pair: dominating::of_requirement(requirement, promise.curve()),
    };
    let secrets = match promise.composition() {
        // Data without and with one record.
        Some(_) => Vec::new(),
        None => numbers_of_secrets(labels),
    };
    let mut found = laws.explanation(&secrets);
    found.steps = steps;
    if let Some((step, times)) = promise.composition() {
        let bound = step.bind_declared()?;
        let options = super::BoundsOptions {
            profile: true,
            ..super::BoundsOptions::default()
        };
        let figures = profile::figures(&*bound, &options, times);
        let of = |name: &str| figures.iter().find(|figure| figure.0 == name)?.1;
        found.mu = finite(of("gdp_mu"), NotImplied::Tails);
        found.rho = finite(of("zcdp_rho"), NotImplied::Tails);
        found.epsilon = finite(Some(times as f64 * bound.epsilon()), NotImplied::Tails);
        // The points of the curve end before small δ, and lie on the upper side.
        let accountant = Accountant::of_mechanism(&*step, times)?;
        let (variation, security) = accountant.total_variation_and_bayes_security();
        found.advantage.most = Ok(variation.most);
        found.bayes_security = Ok(security.least);
        found.guesses[0].success.most = Ok(0.5 + 0.5 * variation.most);
        let at_delta = accountant.epsilon(DELTA).most;
        found.epsilon_at_delta.1 = finite(Some(at_delta), NotImplied::Unknown);
    }
    Ok(found)
}

/// The largest number of steps between two secrets.
fn farthest(bound: &BoundPromise, secrets: usize) -> Option<(f64, f64)> {
    let pairs = (0..secrets).flat_map(|a| (a + 1..secrets).map(move |b| (a, b)));
    pairs
        .filter_map(|(a, b)| bound.steps(a, b))
        .max_by(|x, y| x.0.total_cmp(&y.0))
}

/// Numbers of secrets to name one of: those of a log, if there is one. Of two, a guess at the prior 1/2 says it.
fn numbers_of_secrets(labels: Option<&[String]>) -> Vec<u64> {
    match labels {
        None => SECRETS.into(),
        Some(labels) => {
            let count = labels.len() as u64;
            Some(count).filter(|&count| count > 2).into_iter().collect()
        }
    }
}

/// The best attack found is right on one of two equally likely secrets with probability (1 + a)/2.
fn of_found_attacks(at_most: f64, labels: Option<&[String]>) -> Explanation {
    let mut found = Explanation::of_nothing(Covered::FoundAttacks, labels);
    found.advantage.most = Ok(at_most);
    found.guesses[0].success.most = Ok(0.5 + 0.5 * at_most);
    found
}

fn of_mechanism(mechanism: &dyn Mechanism, labels: Option<&[String]>) -> Result<Explanation> {
    let bound = match labels {
        Some(labels) => mechanism.bind(labels)?,
        None => mechanism.bind_declared()?,
    };
    let Some(worst) = bound.worst_pair() else {
        return Err(super::one_secret(mechanism));
    };
    let pairs = bound.pairs();
    if pairs.is_none() && compared(&*bound) > MAX_COMPARED {
        let problem = "has too many secrets and observations to compare all pairs of secrets";
        return Err(Error::parameter(mechanism.to_string(), problem)
            .with_hint("declare fewer secrets, such as the two that differ most"));
    }
    let laws = Laws::Mechanism {
        bound: &*bound,
        worst,
        pairs,
    };
    let count = bound.secret_count() as u64;
    let several: Vec<u64> = Some(count).filter(|&count| count > 2).into_iter().collect();
    let mut found = laws.explanation(&several);
    found.worst_pair = match labels {
        Some(labels) => Some([labels[worst.0].clone(), labels[worst.1].clone()]),
        None => names(mechanism, worst),
    };
    Ok(found)
}

/// Pairs of secrets times observations that are gone through for one δ: a search for ε takes some two hundred of them,
/// which is half a minute.
const MAX_COMPARED: f64 = 2e8;

/// How many probabilities are compared for one δ of a table; 0 of laws that have another form.
fn compared(bound: &dyn BoundMechanism) -> f64 {
    if bound.likelihood_classes().is_some() {
        return 0.0;
    }
    let table = bound.probabilities();
    table.map_or(0.0, |table| {
        let secrets = table.rows.len() as f64;
        let observations = table.rows.first().map_or(0, |row| row.len());
        secrets * secrets * observations as f64
    })
}

/// What is known of the distributions of observations.
enum Laws<'a> {
    Promise {
        requirement: Requirement,
        /// What the observations of any two secrets are a post-processing of, where it is known.
        pair: Option<Pair>,
    },
    Mechanism {
        bound: &'a dyn BoundMechanism,
        worst: (usize, usize),
        /// The pairs that no other pair exceeds.
        pairs: Option<Vec<Pair>>,
    },
    /// The claim is not about them.
    NotCovered,
}

impl Laws<'_> {
    fn explanation(&self, secrets: &[u64]) -> Explanation {
        let variation = self.total_variation();
        let success = |prior: f64| match (prior == 0.5, variation) {
            (true, variation) => variation.map(|variation| 0.5 + 0.5 * variation),
            (false, _) => {
                let delta = self.delta(log((1.0 - prior) / prior))?;
                Some(1.0 - prior + prior * delta)
            }
        };
        let guesses = PRIORS.map(|prior| Guess {
            prior,
            success: self.allowed(1.0 - prior, success(prior)),
        });
        let delta_of = |epsilon: f64| self.delta(epsilon).unwrap_or(1.0);
        let at_delta = self.delta(0.0).map(|_| smallest_epsilon(DELTA, delta_of));
        Explanation {
            kind: match self {
                Laws::Promise { .. } | Laws::NotCovered => Kind::Promise,
                Laws::Mechanism { .. } => Kind::Mechanism,
            },
            covered: Covered::AllAttacks,
            steps: None,
            worst_pair: None,
            advantage: self.allowed(0.0, variation),
            bayes_security: self.implied(self.bayes_security()),
            guesses: guesses.into(),
            detections: FALSE_POSITIVE_RATES.map(|rate| self.detection(rate)).into(),
            namings: secrets
                .iter()
                .map(|&secrets| self.naming(secrets))
                .collect(),
            epsilon: self.implied(self.epsilon()),
            epsilon_at_delta: (DELTA, self.implied(at_delta)),
            mu: self.implied(self.mu()),
            rho: self.implied(self.rho()),
        }
    }

    /// A figure, or why there is none.
    fn implied(&self, found: Option<f64>) -> Implied {
        match found {
            None if matches!(self, Laws::NotCovered) => Err(NotImplied::NotCovered),
            found => finite(found, self.why_unbounded()),
        }
    }

    /// A figure of which this is the value, or the bound.
    fn allowed(&self, without: f64, most: Option<f64>) -> Allowed {
        Allowed {
            without,
            most: self.implied(most.map(|most| most.at_least(without).at_most(1.0))),
            is_exact: matches!(self, Laws::Mechanism { .. }),
        }
    }

    fn detection(&self, rate: f64) -> Detection {
        let found = self.reconstruction(rate);
        let posterior = |hit: f64| RARE * hit / (RARE * hit + (1.0 - RARE) * rate);
        let of = |without: f64, most: Option<f64>| Allowed {
            is_exact: found.is_some_and(|found| found.1),
            ..self.allowed(without, most)
        };
        Detection {
            false_positive_rate: rate,
            true_positive_rate: of(rate, found.map(|found| found.0)),
            prior: RARE,
            posterior: of(RARE, found.map(|found| posterior(found.0))),
        }
    }

    fn naming(&self, secrets: u64) -> Naming {
        let n = secrets as f64;
        let found = self.capacity(n);
        let success = Allowed {
            is_exact: found.is_some_and(|found| found.1),
            ..self.allowed(1.0 / n, found.map(|found| found.0 / n))
        };
        Naming { secrets, success }
    }

    fn total_variation(&self) -> Option<f64> {
        match self {
            Laws::Promise { requirement, .. } => Some(requirement.largest_total_variation()),
            Laws::Mechanism { bound, worst, .. } => Some(bound.total_variation(worst.0, worst.1)),
            Laws::NotCovered => None,
        }
    }

    fn bayes_security(&self) -> Option<f64> {
        match self {
            Laws::Promise { requirement, .. } => Some(requirement.least_bayes_security()),
            Laws::Mechanism { bound, worst, .. } => Some(bound.bayes_security(worst.0, worst.1)),
            Laws::NotCovered => None,
        }
    }

    /// The largest δ(ε) of any two secrets.
    fn delta(&self, epsilon: f64) -> Option<f64> {
        match self {
            Laws::Promise {
                requirement: Requirement::Privacy(guarantee),
                ..
            } => Some(guarantee.largest_delta(epsilon)),
            Laws::Promise {
                pair: Some(Pair::Cells(cells)),
                ..
            } => Some(Cells(cells).delta(epsilon)),
            Laws::Promise { .. } | Laws::NotCovered => None,
            Laws::Mechanism { bound, .. } => bound.delta(epsilon),
        }
    }

    /// The largest figure of all pairs.
    fn largest(&self, figure: impl Fn(&Pair) -> Option<f64>) -> Option<f64> {
        match self {
            Laws::Promise { pair, .. } => pair.as_ref().and_then(figure),
            Laws::Mechanism { pairs, .. } => {
                let mut found = pairs.as_ref()?.iter().map(figure);
                found.try_fold(0.0, |most, figure| Some(figure?.at_least(most)))
            }
            Laws::NotCovered => None,
        }
    }

    /// sup P(E) with Q(E) ≤ κ, and whether it is the value.
    fn reconstruction(&self, kappa: f64) -> Option<(f64, bool)> {
        let is_mechanism = matches!(self, Laws::Mechanism { .. });
        let found = self.largest(|pair| pair.reconstruction(kappa));
        found.map(|found| (found, is_mechanism)).or_else(|| {
            self.delta(0.0)?;
            let delta = |epsilon: f64| self.delta(epsilon).unwrap_or(1.0);
            Some((by_curve(kappa, 100, delta), false))
        })
    }

    /// The multiplicative capacity of n secrets, and whether it is the value.
    fn capacity(&self, n: f64) -> Option<(f64, bool)> {
        if let Laws::Mechanism { bound, .. } = self
            && let Some(known) = bound.capacity().or_else(|| shuffled_capacity(*bound))
        {
            return Some((known, true));
        }
        let flat = 1.0 + (n - 1.0) * self.total_variation()?;
        let pure = self.epsilon().filter(|epsilon| epsilon.is_finite());
        let pure = pure.map(|epsilon| n / (1.0 + (n - 1.0) * exp(-epsilon)));
        let curved = self.delta(0.0).map(|_| {
            let delta = |epsilon: f64| self.delta(epsilon).unwrap_or(1.0);
            capacity_by_curve(n, 100, delta)
        });
        let bounds = [pure, curved].into_iter().flatten();
        Some((bounds.fold(flat, f64::at_most), false))
    }

    fn epsilon(&self) -> Option<f64> {
        match self {
            Laws::Promise {
                requirement: Requirement::Privacy(guarantee),
                ..
            } => Some(match guarantee {
                Guarantee::Dp { delta, .. } if *delta > 0.0 => f64::INFINITY,
                guarantee => promise::promised_epsilon(*guarantee),
            }),
            Laws::Promise { pair, .. } => pair.as_ref()?.renyi_divergence(f64::INFINITY),
            Laws::Mechanism { bound, .. } => Some(bound.epsilon()),
            Laws::NotCovered => None,
        }
    }

    fn mu(&self) -> Option<f64> {
        let found = self.largest(Pair::gaussian_mu);
        found.or_else(|| promise::mu(self.guarantee()?))
    }

    fn rho(&self) -> Option<f64> {
        let found = self.largest(Pair::concentrated_rho);
        found.or_else(|| promise::rho(self.guarantee()?))
    }

    fn guarantee(&self) -> Option<Guarantee> {
        match self {
            Laws::Promise { requirement, .. } => requirement.guarantee(),
            Laws::Mechanism { .. } | Laws::NotCovered => None,
        }
    }

    /// Why a parameter of privacy is infinite, if it is.
    fn why_unbounded(&self) -> NotImplied {
        let requirement = match self {
            Laws::Promise { requirement, .. } => requirement,
            Laws::Mechanism { .. } => return NotImplied::Mechanism,
            Laws::NotCovered => return NotImplied::NotCovered,
        };
        match requirement {
            Requirement::Privacy(Guarantee::Dp { .. }) | Requirement::Curve { .. } => {
                NotImplied::Revealed
            }
            Requirement::Privacy(Guarantee::Gaussian { .. } | Guarantee::Concentrated { .. }) => {
                NotImplied::Tails
            }
            Requirement::Privacy(Guarantee::Renyi { .. }) => NotImplied::Orders,
            Requirement::BayesSecurity { .. } | Requirement::Advantage { .. } => {
                NotImplied::Variation
            }
            Requirement::AttackAdvantage { .. }
            | Requirement::Overall { .. }
            | Requirement::TimeDifference(_) => NotImplied::NotCovered,
        }
    }
}

/// A figure, or why it is not finite.
fn finite(found: Option<f64>, why: NotImplied) -> Implied {
    match found {
        None => Err(NotImplied::Unknown),
        Some(f64::INFINITY) => Err(why),
        Some(found) => Ok(found),
    }
}

#[cfg(test)]
mod tests;
