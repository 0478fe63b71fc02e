//! The figures of a mechanism that is applied many times to the same secret.

use libm::{erfc, pow};

use super::composition::Term;
use super::{BoundsOptions, ParameterValue, Row, names};
use crate::accountant::Accountant;
use crate::claim::Promise;
use crate::extreme::Extreme;
use crate::hockey_stick::gaussian;
use crate::mechanism::{BoundMechanism, Mechanism};
use crate::profile::{Pair, by_curve, capacity_by_curve};
use leakgauge_base::error::{Error, Result};

/// What the figures are about.
pub(super) const NOTES: &[&str] = &[
    "Certified: of two sides of a figure the true value is between them. The first named is the one to rely on: at \
     least for Bayes security, at most for everything else.",
    "Privacy losses of all steps are added; the larger of both directions of a pair of secrets counts. With \
     subsampled, secrets are databases without and with one record.",
    "A closed form, which Gaussian noise has, is the leading term for large sigma and no bound: where it lies outside of \
     the two sides, they are right.",
];

/// The row of a promise that is the composition of a mechanism.
pub(super) fn of_promise(
    promise: &Promise,
    parameters: Vec<(&'static str, ParameterValue)>,
    options: &BoundsOptions,
) -> Result<Row> {
    let Some((mechanism, steps)) = promise.composition() else {
        let problem = "is no composition of a mechanism";
        return Err(Error::parameter(promise.to_string(), problem));
    };
    let steps = steps.saturating_mul(options.repeat.unwrap_or(1));
    row(&*mechanism, steps, parameters, options)
}

/// The row of a mechanism that is applied `steps` times.
///
/// # Formula
/// Those of [`Accountant`]; ε is T times that of a step. The closed form is that of Cherubin et al., corollary 8 for
/// adding or removing a record, erfc(q·√T·Δ/(2√2·σ)): the leading term of a bound whose error is O(√(qT)/σ).
///
/// # References
/// G. Cherubin, B. Köpf, A. Paverd, S. Tople, L. Wutschitz, S. Zanella-Béguelin, *Closed-form bounds for DP-SGD against
/// record-level inference*, USENIX Security 2024, arXiv:2402.14397.
pub(super) fn row(
    mechanism: &dyn Mechanism,
    steps: u64,
    parameters: Vec<(&'static str, ParameterValue)>,
    options: &BoundsOptions,
) -> Result<Row> {
    let accountant = Accountant::of_mechanism(mechanism, steps)?;
    let bound = mechanism.bind_declared()?;
    let mut row = Row::new(
        parameters,
        figures(&accountant, &[(&*bound, steps)], options),
    );
    row.worst_pair = bound.worst_pair().and_then(|pair| names(mechanism, pair));
    Ok(row)
}

/// The row of several mechanisms, each applied so many times.
pub(super) fn row_of_terms(terms: &[Term], options: &BoundsOptions) -> Result<Row> {
    let repeat = options.repeat.unwrap_or(1);
    let terms: Vec<Term> = terms
        .iter()
        .map(|(mechanism, steps)| (mechanism.clone(), steps.saturating_mul(repeat)))
        .collect();
    let accountant = Accountant::of_composition(&terms)?;
    let bounds: Vec<_> = terms
        .iter()
        .map(|(mechanism, steps)| Ok((mechanism.bind_declared()?, *steps)))
        .collect::<Result<_>>()?;
    let bounds: Vec<(&dyn BoundMechanism, u64)> = bounds
        .iter()
        .map(|(bound, steps)| (&**bound, *steps))
        .collect();
    let mut row = Row::new(Vec::new(), figures(&accountant, &bounds, options));
    let (mechanism, worst) = (&*terms[0].0, bounds[0].0.worst_pair());
    row.worst_pair = worst.and_then(|pair| names(mechanism, pair));
    Ok(row)
}

/// The figures of mechanisms, each applied so many times to the same two secrets.
fn figures(
    accountant: &Accountant,
    terms: &[(&dyn BoundMechanism, u64)],
    options: &BoundsOptions,
) -> Vec<(&'static str, Option<f64>)> {
    let steps = accountant.steps();
    let all: f64 = terms
        .iter()
        .map(|(bound, steps)| *steps as f64 * bound.epsilon())
        .sum();
    let (variation, security) = accountant.total_variation_and_bayes_security();
    let capacity = capacity(terms, accountant, (variation.least, variation.most));
    let mut figures = vec![
        ("steps", Some(steps as f64)),
        ("bayes_security", Some(security.least)),
        ("bayes_security_at_most", Some(security.most)),
        ("total_variation", Some(variation.most)),
        ("total_variation_at_least", Some(variation.least)),
        ("advantage", Some(variation.most)),
        ("epsilon", Some(all)),
        ("capacity", Some(capacity.1)),
        ("capacity_at_least", Some(capacity.0)),
        ("delta_at_epsilon_zero", Some(variation.most)),
        ("guess_probability", Some(1.0 - 0.5 * security.least)),
    ];
    if let [(bound, _)] = terms
        && let Some(mu) = normal_distance(*bound)
    {
        let root = (steps as f64).sqrt();
        let closed = erfc(mu * root / 8f64.sqrt());
        figures.push(("bayes_security_closed_form", Some(closed)));
    }
    if let Some(epsilon) = options.at_epsilon {
        let delta = accountant.delta(epsilon);
        figures.push(("delta_at_epsilon", Some(delta.most)));
        figures.push(("delta_at_epsilon_at_least", Some(delta.least)));
    }
    if let Some(delta) = options.at_delta {
        let epsilon = accountant.epsilon(delta);
        // No grid of losses needs to reach as far as they do.
        let most = epsilon.most.at_most(all);
        figures.push(("epsilon_at_delta", Some(most)));
        figures.push(("epsilon_at_delta_at_least", Some(epsilon.least)));
    }
    figures.extend(super::profile::of_terms(terms, options));
    if options.profile {
        let least = least_mu(figures.last().and_then(|(_, mu)| *mu), |epsilon| {
            accountant.delta(epsilon).least
        });
        figures.push(("gdp_mu_at_least", least));
    }
    if let Some(kappa) = options.reconstruction {
        // Every ε gives a bound: the search may stop early.
        let found = by_curve(kappa, 30, |epsilon| accountant.delta(epsilon).most);
        figures.push(("reconstruction", Some(found)));
    }
    figures
}

/// Multiplicative capacity of all steps, from below and above.
///
/// # Formula
/// Of two secrets 1 + TV. Of n secrets at least 1 + TV of the worst pair, and at least that of any one step; at most n, at most
/// the product of those of all steps, and at most n·(e^ε + (n − 1)·δ(ε))/(e^ε + n − 1) of every ε
/// ([`capacity_by_curve`]).
///
/// # References
/// M. S. Alvim, K. Chatzikokolakis, A. McIver, C. Morgan, C. Palamidessi, G. Smith, *The science of quantitative information
/// flow*, doi:10.1007/978-3-319-96131-6 (capacity of products).
fn capacity(
    terms: &[(&dyn BoundMechanism, u64)],
    accountant: &Accountant,
    (least, most): (f64, f64),
) -> (f64, f64) {
    let secrets = terms[0].0.secret_count() as f64;
    let one = terms.iter().filter_map(|(bound, _)| bound.capacity());
    let one = one.fold(1.0, f64::at_least);
    let powers = terms.iter().map(|(bound, steps)| {
        let one = bound.capacity();
        one.map_or(f64::INFINITY, |one| pow(one, *steps as f64))
    });
    let power: f64 = powers.product();
    let flat = 1.0 + (secrets - 1.0) * most;
    // A few ε: each is a bound. Of two secrets none is below that of ε = 0.
    let curved = if secrets > 2.0 && flat > 2.0 {
        capacity_by_curve(secrets, 8, |epsilon| accountant.delta(epsilon).most)
    } else {
        flat
    };
    let above = power.at_most(flat).at_most(curved).at_most(secrets);
    let below = (1.0 + least).at_least(one).at_most(above);
    (below, above)
}

/// A μ of Gaussian differential privacy that is not too large: δ of Gaussian noise grows with μ, and is at least that of
/// all steps at every ε.
fn least_mu(most: Option<f64>, delta: impl Fn(f64) -> f64) -> Option<f64> {
    let most = most?;
    if !most.is_finite() {
        // Some event has no probability under one secret: no μ is large enough.
        return Some(most);
    }
    let at = |epsilon: f64| {
        let wanted = delta(epsilon);
        let (mut low, mut high) = (0.0, most);
        for _ in 0..60 {
            let middle = 0.5 * (low + high);
            if gaussian(middle, epsilon) <= wanted {
                low = middle;
            } else {
                high = middle;
            }
        }
        low
    };
    let places = [0.0, 0.125, 0.25, 0.5, 1.0, 1.5, 2.0, 3.0];
    let found = places.map(|share| at(share * most * (1.0 + 0.5 * most)));
    Some(found.into_iter().fold(0.0, f64::at_least))
}

/// q·Δ/σ of Gaussian noise, q = 1 without subsampling.
fn normal_distance(bound: &dyn BoundMechanism) -> Option<f64> {
    let (base, (a, b), rate) = match bound.subsampled() {
        Some(found) => found,
        None => (bound, bound.worst_pair()?, 1.0),
    };
    match base.pair(a, b)? {
        Pair::Gaussian { mu } => Some(rate * mu),
        _ => None,
    }
}
