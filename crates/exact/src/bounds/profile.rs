//! Figures of the likelihood ratio beyond δ(ε).

use super::BoundsOptions;
use crate::extreme::Extreme;
use crate::mechanism::BoundMechanism;
use crate::profile::{Pair, by_curve};

type Figures = Vec<(&'static str, Option<f64>)>;

/// The Rényi divergence of the order in the options, and ρ and μ, of so many independent steps.
///
/// # Formula
/// Rényi divergences of steps add, and so does ρ. T steps that are each μ-Gaussian differentially private are together
/// √T·μ-so, which of Gaussian noise is the smallest μ and of other mechanisms may be more.
///
/// # References
/// J. Dong, A. Roth, W. Su, *Gaussian differential privacy*, corollary 2, arXiv:1905.02383.
pub(super) fn figures(bound: &dyn BoundMechanism, options: &BoundsOptions, steps: u64) -> Figures {
    let mut figures = Vec::new();
    let times = steps as f64;
    if let Some(order) = options.at_order {
        let found = largest(bound, |pair| pair.renyi_divergence(order));
        figures.push(("renyi_divergence", found.map(|found| times * found)));
        if let Some(found) = attained(bound, |pair| pair.renyi_divergence(order)) {
            figures.push(("renyi_divergence_at_least", Some(times * found)));
        }
    }
    if options.profile {
        let rho = largest(bound, Pair::concentrated_rho);
        figures.push(("zcdp_rho", rho.map(|rho| times * rho)));
        if let Some(least) = attained(bound, Pair::concentrated_rho) {
            // The search may end above the supremum, by less than this part of it.
            let is_less = rho.is_some_and(|rho| least < rho * (1.0 - 1e-9));
            if is_less {
                let least = least * (1.0 - 1e-11);
                figures.push(("zcdp_rho_at_least", Some(times * least)));
            }
        }
        let mu = largest(bound, Pair::gaussian_mu);
        figures.push(("gdp_mu", mu.map(|mu| times.sqrt() * mu)));
    }
    figures
}

/// The same of several mechanisms, each applied so many times to the same secrets; μ is the root of the sum of squares.
pub(super) fn of_terms(terms: &[(&dyn BoundMechanism, u64)], options: &BoundsOptions) -> Figures {
    let each = terms.iter();
    let each = each.map(|(bound, steps)| {
        let mut figures = figures(*bound, options, *steps);
        // Not every term has the other side.
        figures.retain(|(name, _)| terms.len() == 1 || !name.ends_with("_at_least"));
        figures
    });
    let joined = each.reduce(|all, next| {
        let both = all.into_iter().zip(next);
        both.map(|((name, x), (_, y))| {
            let sum = match name {
                "gdp_mu" => f64::hypot,
                _ => |x: f64, y: f64| x + y,
            };
            (name, x.zip(y).map(|(x, y)| sum(x, y)))
        })
        .collect()
    });
    joined.unwrap_or_default()
}

/// sup P(E) with Q(E) ≤ κ over all pairs; where only δ(ε) is known, the smallest bound that it gives, which is never too
/// small.
pub(super) fn reconstruction(bound: &dyn BoundMechanism, kappa: f64) -> Option<f64> {
    largest(bound, |pair| pair.reconstruction(kappa)).or_else(|| {
        bound.delta(0.0)?;
        let delta = |epsilon: f64| bound.delta(epsilon).unwrap_or(1.0);
        Some(by_curve(kappa, 100, delta))
    })
}

/// The figure of databases that exist, where all pairs of secrets are only bounded: the larger of both orders.
pub(super) fn attained(
    bound: &dyn BoundMechanism,
    figure: impl Fn(&Pair) -> Option<f64>,
) -> Option<f64> {
    let (base, (without, with), rate) = bound.fixed_size()?;
    let base = base.pair(with, without)?;
    let orders = [false, true].map(|reversed| {
        figure(&Pair::Subsampled {
            base: Box::new(base.clone()),
            rate,
            reversed,
        })
    });
    Some(orders[0]?.at_least(orders[1]?))
}

/// The largest figure of all pairs; `None` if some pair has none.
pub(super) fn largest(
    bound: &dyn BoundMechanism,
    figure: impl Fn(&Pair) -> Option<f64>,
) -> Option<f64> {
    let pairs = bound.pairs()?;
    let found: Option<Vec<f64>> = pairs.iter().map(figure).collect();
    Some(found?.into_iter().fold(0.0, f64::at_least))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mechanism::parse;

    fn close(found: Option<f64>, expected: f64, what: &str) {
        let found = found.unwrap_or(f64::NAN);
        let error = (found / expected - 1.0).abs();
        assert!(error < 3e-11, "{what}: {found:e}, not {expected:e}");
    }

    /// Values by sums and integrals of the densities themselves.
    #[test]
    fn figures_are_those_of_the_densities() {
        let table = include_str!("../../../../tests/golden/exact_profiles.json");
        let table: serde_json::Value = serde_json::from_str(table).unwrap();
        let cases = table["cases"].as_array().unwrap();
        assert!(cases.len() > 14);
        for case in cases {
            let text = case["mechanism"].as_str().unwrap();
            let bound = match case["labels"].as_array() {
                None => parse(text).unwrap().bind_declared().unwrap(),
                Some(labels) => {
                    let labels: Vec<String> = labels
                        .iter()
                        .map(|x| x.as_str().unwrap().to_owned())
                        .collect();
                    let name = text.split(", secrets").next().unwrap().to_owned() + ")";
                    parse(&name).unwrap().bind(&labels).unwrap()
                }
            };
            for row in case["renyi"].as_array().unwrap() {
                let (order, expected) = (row[0].as_f64().unwrap(), row[1].as_f64().unwrap());
                let found = largest(&*bound, |pair| pair.renyi_divergence(order));
                close(found, expected, &format!("{text}, order {order}"));
            }
            for row in case["reconstruction"].as_array().unwrap() {
                let (kappa, expected) = (row[0].as_f64().unwrap(), row[1].as_f64().unwrap());
                let found = reconstruction(&*bound, kappa);
                close(found, expected, &format!("{text} at {kappa}"));
            }
            if let Some(rho) = case["rho"].as_f64() {
                let found = largest(&*bound, Pair::concentrated_rho);
                close(found, rho, &format!("rho of {text}"));
            }
            if let Some(mu) = case["mu"].as_f64() {
                let found = largest(&*bound, Pair::gaussian_mu);
                let error = (found.unwrap() / mu - 1.0).abs();
                // Two quantiles lose the digits that they share.
                assert!(error < 1e-6, "mu of {text}: {found:?}, not {mu:e}");
            }
        }
    }

    /// Of a mixture of noise only δ(ε) is known. With two Laplace laws the likelihood ratio is at least e^(2/3) = 1.95 left of
    /// the first secret, at most e^(−2/3) = 0.51 right of the second one, and falls in between: where it is between these, a
    /// half-line is the best event of its probability.
    #[test]
    fn a_mixture_has_the_reconstruction_of_its_half_lines() {
        let text =
            "mixture(laplace(scale=1, secrets=0..2), laplace(scale=3, secrets=0..2), weight=0.7)";
        let bound = parse(text).unwrap().bind_declared().unwrap();
        // The mass beyond x ≥ 0 on one side.
        let tail = |x: f64| 0.35 * (-x).exp() + 0.15 * (-x / 3.0).exp();
        for t in [0.7, 0.9, 1.0, 1.3] {
            let (p, q) = (1.0 - tail(t), tail(2.0 - t));
            let found = reconstruction(&*bound, q).unwrap();
            assert!(
                (found - p).abs() < 1e-6 && found >= p - 1e-12,
                "{t}: {found} {p}"
            );
        }
    }

    /// Two ways to the same figures: closed forms or cells of a mechanism, and its δ(ε) alone.
    #[test]
    fn the_delta_of_a_mechanism_gives_its_reconstruction() {
        for text in [
            "laplace(scale=2, secrets=0..3)",
            "gaussian(sigma=0.4, secrets=2)",
            "discrete-gaussian(sigma=3, secrets=0..2)",
            "geometric(nu=0.4, secrets=0..5)",
            "staircase(epsilon=1.3, sensitivity=2, secrets=0..5)",
            "randomized-response(epsilon=2, secrets=5)",
            "rappor(epsilon=2, secrets=40)",
            "olh(epsilon=1, secrets=100)",
            "subset-selection(epsilon=1, secrets=50, size=9)",
            "hadamard-response(epsilon=1, secrets=50)",
            "planar-geometric(nu=0.4, secrets=4)",
            "normalized-geometric(nu=0.4, secrets=4)",
            "exponential(epsilon=1, secrets=5)",
        ] {
            let Ok(mechanism) = parse(text) else {
                panic!("{text} is no mechanism");
            };
            let bound = mechanism.bind_declared().expect(text);
            for kappa in [1e-4, 0.03, 0.3, 0.5, 0.77] {
                let found = reconstruction(&*bound, kappa).expect(text);
                let by_delta = by_curve(kappa, 100, |epsilon| bound.delta(epsilon).unwrap());
                let alike = (found - by_delta).abs() < 1e-9;
                // δ of several pairs together can exceed that of each.
                let many = bound.pairs().is_some_and(|pairs| pairs.len() > 1);
                assert!(
                    alike || (many && found <= by_delta),
                    "{text} at {kappa}: {found} {by_delta}"
                );
            }
        }
    }
}
