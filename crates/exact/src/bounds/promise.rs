//! What a promise bounds.

use libm::{exp, expm1, log, log1p};

use super::BoundsOptions;
use crate::claim::{Guarantee, Promise};
use crate::profile::by_curve;

type Figures = Vec<(&'static str, Option<f64>)>;

/// The bounds that follow from a promise, by name.
pub(super) fn figures(promise: &Promise, options: &BoundsOptions) -> Figures {
    let variation = promise.largest_total_variation();
    // An attack that was found bounds nothing but itself.
    let covers_all = promise.requirement().covers_all_attacks();
    let of_all = |figure: f64| covers_all.then_some(figure);
    let private = privacy(promise);
    let mut figures = vec![
        ("bayes_security", of_all(promise.least_bayes_security())),
        ("total_variation", of_all(variation)),
        ("advantage", of_all(variation)),
        ("epsilon", epsilon(promise)),
        (
            "capacity",
            of_all(variation).and_then(|_| capacity(promise, options.secrets)),
        ),
        ("delta_at_epsilon_zero", of_all(variation)),
        (
            "guess_probability",
            of_all(1.0 - 0.5 * promise.least_bayes_security()),
        ),
    ];
    if let Some(epsilon) = options.at_epsilon {
        let delta = promise
            .guarantee()
            .map(|guarantee| guarantee.largest_delta(epsilon));
        figures.push(("delta_at_epsilon", delta));
    }
    if let Some(kappa) = options.reconstruction {
        let found = promise
            .guarantee()
            .map(|guarantee| by_curve(kappa, 100, |epsilon| guarantee.largest_delta(epsilon)));
        figures.push(("reconstruction", found));
    }
    if let Some((epsilon, delta)) = private {
        figures.extend(advantages(epsilon, delta));
        if let Some(values) = options.values {
            figures.extend(database(epsilon, delta, values, options));
        }
    }
    if let Some(size) = options.group.filter(|_| covers_all) {
        figures.extend(group(promise, size));
    }
    figures
}

/// (ε, δ), if that is what is promised.
fn privacy(promise: &Promise) -> Option<(f64, f64)> {
    match promise.guarantee()? {
        Guarantee::Dp { epsilon, delta } => Some((epsilon, delta)),
        Guarantee::Gaussian { .. } | Guarantee::Concentrated { .. } | Guarantee::Renyi { .. } => {
            None
        }
    }
}

/// ε, infinite where any μ, ρ or Rényi divergence above 0 leaves it unbounded.
fn epsilon(promise: &Promise) -> Option<f64> {
    Some(match promise.guarantee()? {
        Guarantee::Dp { epsilon, .. } => epsilon,
        Guarantee::Gaussian { mu: 0.0 } | Guarantee::Concentrated { rho: 0.0 } => 0.0,
        Guarantee::Renyi { epsilon: 0.0, .. } => 0.0,
        Guarantee::Gaussian { .. } | Guarantee::Concentrated { .. } | Guarantee::Renyi { .. } => {
            f64::INFINITY
        }
    })
}

/// The largest Σ_o max_s P(o | s).
///
/// # Formula
/// Pure ε: e^ε, over n secrets n e^ε/(e^ε + n − 1), which is Theorem 6 for one record. Else
/// 1 + (n − 1)·tv over n secrets, from max_s P(o | s) ≤ P(o | 1) + Σ_s (P(o | s) − P(o | 1))⁺.
fn capacity(promise: &Promise, secrets: Option<u64>) -> Option<f64> {
    match (privacy(promise), secrets) {
        (Some((epsilon, 0.0)), None) => Some(exp(epsilon)),
        (Some((epsilon, 0.0)), Some(n)) => {
            let n = n as f64;
            Some(n / (1.0 + (n - 1.0) * exp(-epsilon)))
        }
        (_, Some(n)) => Some(1.0 + (n as f64 - 1.0) * promise.largest_total_variation()),
        (_, None) => None,
    }
}

/// Bounds on a membership adversary's advantage, as they were published: they are not cut at 1.
///
/// # Formula
/// Corollary 2, (e^ε − 1)/(e^ε + 1), for δ = 0; Yeom et al., e^ε − 1, for δ = 0; Humphries et al.,
/// (e^ε − 1 + 2δ)/(e^ε + 1).
///
/// # References
/// S. Yeom et al., *Privacy risk in machine learning*, doi:10.1109/CSF.2018.00027. T. Humphries
/// et al., *Investigating membership inference attacks under data dependencies*, arXiv:2010.12112.
fn advantages(epsilon: f64, delta: f64) -> Figures {
    let inverse = exp(-epsilon);
    let corollary = -expm1(-epsilon) / (1.0 + inverse);
    let pure = |figure: f64| (delta == 0.0).then_some(figure);
    vec![
        ("advantage_corollary_2", pure(corollary)),
        ("advantage_yeom", pure(expm1(epsilon))),
        ("bayes_security_yeom", pure(1.0 - expm1(epsilon))),
        (
            "advantage_humphries",
            Some(corollary + 2.0 * delta * inverse / (1.0 + inverse)),
        ),
    ]
}

/// Leakage about whole databases of n records with v values each.
///
/// # Formula
/// Theorem 6: L× ≤ (v e^ε/(v − 1 + e^ε))ⁿ. Corollary 1: β(π) ≥ (1 − P·L×)/(1 − P) for the largest
/// prior P; (vⁿ − L×)/(vⁿ − 1) at the uniform prior, computed as ratios. β is not below 0.
fn database(epsilon: f64, delta: f64, values: u64, options: &BoundsOptions) -> Figures {
    let names = ["database_leakage", "database_risk_leakage"];
    if delta > 0.0 {
        return names.map(|name| (name, None)).into();
    }
    let (v, n) = (values as f64, options.records.unwrap_or(1) as f64);
    // ln(1 + (v − 1)e^−ε): what a record keeps back.
    let kept = log1p((v - 1.0) * exp(-epsilon));
    let leakage = exp(n * (log(v) - kept));
    let risk = match options.largest_prior {
        None => expm1(-n * kept) / expm1(-n * log(v)),
        Some(prior) => (1.0 - prior * leakage) / (1.0 - prior),
    };
    vec![(names[0], Some(leakage)), (names[1], Some(risk.max(0.0)))]
}

/// Secrets that are k steps of adjacency apart.
///
/// # Formula
/// What [`Guarantee::group`] leaves at k steps. Total variation is at most what that leaves, and at
/// most k times that of neighbors.
///
/// # References
/// C. Dwork, A. Roth, *The algorithmic foundations of differential privacy*, Theorem 2.2,
/// doi:10.1561/0400000042, and those of [`Guarantee::group`].
fn group(promise: &Promise, size: u64) -> Figures {
    let k = size as f64;
    let mut variation = (k * promise.largest_total_variation()).min(1.0);
    let mut security = 1.0 - variation;
    let mut figures = vec![("group_size", Some(k))];
    if let Some(reached) = promise.guarantee().map(|guarantee| guarantee.group(k)) {
        if reached.largest_total_variation() <= variation {
            variation = reached.largest_total_variation();
            security = reached.least_bayes_security();
        }
        figures.extend(match reached {
            Guarantee::Dp { epsilon, delta } => vec![
                ("group_epsilon", Some(epsilon)),
                ("group_delta", Some(delta)),
            ],
            Guarantee::Gaussian { mu } => vec![("group_mu", Some(mu))],
            Guarantee::Concentrated { rho } => vec![("group_rho", Some(rho))],
            Guarantee::Renyi { order, epsilon } => vec![
                ("group_order", Some(order)),
                ("group_renyi_divergence", Some(epsilon)),
            ],
        });
    }
    figures.push(("group_advantage", Some(variation)));
    figures.push(("group_bayes_security", Some(security)));
    figures
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_step_is_the_promise_itself() {
        for promise in [
            Promise::LocalDp {
                epsilon: 0.3,
                unit: None,
            },
            Promise::GaussianDp {
                mu: 0.3,
                unit: None,
            },
            Promise::ConcentratedDp {
                rho: 0.3,
                unit: None,
            },
            Promise::Dp {
                epsilon: 0.3,
                delta: 0.01,
                unit: None,
            },
            Promise::Advantage { at_most: 0.25 },
        ] {
            let figures = group(&promise, 1);
            let advantage = figures.iter().find(|figure| figure.0 == "group_advantage");
            let found = advantage.unwrap().1.unwrap();
            assert!((found - promise.largest_total_variation()).abs() < 1e-15);
        }
    }
}
