//! Figures of the likelihood ratio beyond δ(ε).

use super::BoundsOptions;
use crate::mechanism::BoundMechanism;
use crate::profile::Pair;

type Figures = Vec<(&'static str, Option<f64>)>;

/// The Rényi divergence of the order in the options, and ρ and μ, of so many independent steps.
///
/// # Formula
/// Rényi divergences of steps add, and so does ρ; μ of Gaussian noise grows with the root of the steps.
pub(super) fn figures(bound: &dyn BoundMechanism, options: &BoundsOptions, steps: u64) -> Figures {
    let mut figures = Vec::new();
    let times = steps as f64;
    if let Some(order) = options.at_order {
        let found = largest(bound, |pair| pair.renyi_divergence(order));
        figures.push(("renyi_divergence", found.map(|found| times * found)));
    }
    if options.profile {
        let rho = largest(bound, Pair::concentrated_rho);
        figures.push(("zcdp_rho", rho.map(|rho| times * rho)));
        let mu = largest(bound, |pair| match pair {
            Pair::Gaussian { mu } => Some(times.sqrt() * mu),
            pair => (steps == 1).then(|| pair.gaussian_mu()).flatten(),
        });
        figures.push(("gdp_mu", mu));
    }
    figures
}

/// sup P(E) with Q(E) ≤ κ over all pairs.
pub(super) fn reconstruction(bound: &dyn BoundMechanism, kappa: f64) -> Option<f64> {
    largest(bound, |pair| pair.reconstruction(kappa))
}

/// The largest figure of all pairs; `None` if some pair has none.
fn largest(bound: &dyn BoundMechanism, figure: impl Fn(&Pair) -> Option<f64>) -> Option<f64> {
    let pairs = bound.pairs()?;
    let found: Option<Vec<f64>> = pairs.iter().map(figure).collect();
    Some(found?.into_iter().fold(0.0, f64::max))
}
