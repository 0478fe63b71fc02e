//! What a promise bounds.

use libm::{exp, expm1, log, log1p, sqrt};

use super::{BoundsOptions, dominating, smallest_epsilon};
use crate::accountant::Accountant;
use crate::claim::{Guarantee, Promise};
use crate::extreme::Extreme;
use crate::profile::{Cells, Pair, by_curve, capacity_by_curve};
use leakgauge_base::error::{Error, Result};
use leakgauge_base::naming::option;

type Figures = Vec<(&'static str, Option<f64>)>;

/// The bounds that follow from a promise, by name.
pub(super) fn figures(promise: &Promise, options: &BoundsOptions) -> Figures {
    let variation = promise.largest_total_variation();
    // An attack that was found bounds nothing but itself.
    let covers_all = promise.requirement().covers_all_attacks();
    let of_all = |figure: f64| covers_all.then_some(figure);
    let private = privacy(promise);
    let pair = dominating::pair(promise);
    let mut figures = vec![
        ("bayes_security", of_all(promise.least_bayes_security())),
        ("total_variation", of_all(variation)),
        ("advantage", of_all(variation)),
        ("epsilon", epsilon(promise)),
        (
            "capacity",
            of_all(variation)
                .and_then(|_| capacity(promise, options.secrets, |at| delta(promise, &pair, at))),
        ),
        ("delta_at_epsilon_zero", of_all(variation)),
        (
            "guess_probability",
            of_all(1.0 - 0.5 * promise.least_bayes_security()),
        ),
    ];
    figures.extend(of_likelihood_ratios(promise, &pair, options));
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

/// The largest δ(ε) that a promise leaves, given its dominating pair.
fn delta(promise: &Promise, pair: &Option<Pair>, epsilon: f64) -> Option<f64> {
    match (pair, promise.requirement().guarantee()) {
        (_, Some(guarantee)) => Some(guarantee.largest_delta(epsilon)),
        (Some(Pair::Cells(cells)), None) => Some(Cells(cells).delta(epsilon)),
        _ => None,
    }
}

/// δ(ε), ε(δ), Rényi divergences, ρ, μ and reconstruction: those of the pair that the promise leaves possible, or from the
/// δ(ε) that it bounds.
fn of_likelihood_ratios(
    promise: &Promise,
    pair: &Option<Pair>,
    options: &BoundsOptions,
) -> Figures {
    let delta = |epsilon: f64| delta(promise, pair, epsilon);
    let is_known = delta(0.0).is_some();
    let of_pair = |figure: &dyn Fn(&Pair) -> Option<f64>| pair.as_ref().and_then(figure);
    let mut figures = Vec::new();
    if let Some(epsilon) = options.at_epsilon {
        figures.push(("delta_at_epsilon", delta(epsilon)));
    }
    if let Some(at) = options.at_delta {
        let of = |epsilon: f64| delta(epsilon).unwrap_or(1.0);
        figures.push((
            "epsilon_at_delta",
            is_known.then(|| smallest_epsilon(at, of)),
        ));
    }
    if let Some(order) = options.at_order {
        let found = of_pair(&|pair| pair.renyi_divergence(order));
        let found = found.or_else(|| divergence(promise.requirement().guarantee()?, order));
        figures.push(("renyi_divergence", found));
    }
    if options.profile {
        let rho =
            of_pair(&Pair::concentrated_rho).or_else(|| rho(promise.requirement().guarantee()?));
        figures.push(("zcdp_rho", rho));
        let mu = of_pair(&Pair::gaussian_mu).or_else(|| mu(promise.requirement().guarantee()?));
        figures.push(("gdp_mu", mu));
    }
    if let Some(kappa) = options.reconstruction {
        let by_delta = || {
            let of = |epsilon: f64| delta(epsilon).unwrap_or(1.0);
            is_known.then(|| by_curve(kappa, 100, of))
        };
        let found = of_pair(&|pair| pair.reconstruction(kappa)).or_else(by_delta);
        figures.push(("reconstruction", found));
    }
    figures
}

/// The largest Rényi divergence of an order that ρ, or the divergence of one order, leaves: orders grow it, and beyond the
/// one that is promised nothing bounds it.
fn divergence(guarantee: Guarantee, at: f64) -> Option<f64> {
    match guarantee {
        Guarantee::Concentrated { rho } => Some(if rho == 0.0 { 0.0 } else { rho * at }),
        Guarantee::Renyi { epsilon: 0.0, .. } => Some(0.0),
        Guarantee::Renyi { order, epsilon } if at <= order => Some(epsilon),
        Guarantee::Renyi { .. } => Some(f64::INFINITY),
        Guarantee::Dp { .. } | Guarantee::Gaussian { .. } => None,
    }
}

/// The ρ of a promise of ρ; none bounds the orders above the one that a Rényi divergence is promised of.
pub(super) fn rho(guarantee: Guarantee) -> Option<f64> {
    match guarantee {
        Guarantee::Concentrated { rho } => Some(rho),
        Guarantee::Renyi { .. } => divergence(guarantee, f64::INFINITY),
        Guarantee::Dp { .. } | Guarantee::Gaussian { .. } => None,
    }
}

/// The μ that ρ leaves is not known unless it is 0. Beyond the order of a Rényi divergence moments may be infinite, which
/// they are for no μ.
pub(super) fn mu(guarantee: Guarantee) -> Option<f64> {
    match guarantee {
        Guarantee::Concentrated { rho } => (rho == 0.0).then_some(0.0),
        Guarantee::Renyi { .. } => divergence(guarantee, f64::INFINITY),
        Guarantee::Dp { .. } | Guarantee::Gaussian { .. } => None,
    }
}

/// The bounds on T runs with the same secret that each keep a promise.
///
/// # Formula
/// Of μ, ρ and Rényi divergences those of √T·μ, T·ρ and T times the divergence. Of all others the composition of the pair that
/// the promise leaves possible, on its certified upper side: later runs may depend on what earlier ones printed.
///
/// # Errors
/// A promise about attacks that were found or about times, options about whole databases, or too many steps.
pub(super) fn repeated(promise: &Promise, steps: u64, options: &BoundsOptions) -> Result<Figures> {
    let of_databases = [
        ("group", options.group.is_some()),
        ("values", options.values.is_some()),
    ];
    if let Some((name, _)) = of_databases.iter().find(|(_, given)| *given) {
        let problem = format!("is about one run; leave out {}", option("repeat"));
        return Err(Error::parameter(option(name), problem));
    }
    let count = ("steps", Some(steps as f64));
    if let Some(all) = promise.repeated(steps) {
        return Ok([vec![count], figures(&all, options)].concat());
    }
    match dominating::pair(promise) {
        Some(pair @ Pair::Cells(_)) => Ok([vec![count], of_runs(&pair, steps, options)?].concat()),
        _ => {
            let problem = "says nothing of several runs: other attacks may find more in them";
            Err(Error::parameter(promise.to_string(), problem)
                .with_hint("name a promise of privacy, such as ldp(1)"))
        }
    }
}

/// The figures of T independent observations of a pair with finitely many likelihood ratios, which is alike in both orders.
fn of_runs(pair: &Pair, steps: u64, options: &BoundsOptions) -> Result<Figures> {
    let Pair::Cells(cells) = pair else {
        return Ok(Vec::new());
    };
    let accountant = Accountant::of_symmetric_cells(cells, steps)?;
    let times = steps as f64;
    let (variation, security) = accountant.total_variation_and_bayes_security();
    let most = Some(variation.most);
    let epsilon = times * Cells(cells).largest_loss();
    let mut figures = vec![
        ("bayes_security", Some(security.least)),
        ("total_variation", most),
        ("advantage", most),
        ("epsilon", Some(epsilon)),
        (
            "capacity",
            repeated_capacity(epsilon, variation.most, options.secrets, &accountant),
        ),
        ("delta_at_epsilon_zero", most),
        ("guess_probability", Some(1.0 - 0.5 * security.least)),
    ];
    if let Some(epsilon) = options.at_epsilon {
        figures.push(("delta_at_epsilon", Some(accountant.delta(epsilon).most)));
    }
    if let Some(delta) = options.at_delta {
        let most = accountant.epsilon(delta).most.at_most(epsilon);
        figures.push(("epsilon_at_delta", Some(most)));
    }
    if let Some(order) = options.at_order {
        let one = pair.renyi_divergence(order);
        figures.push(("renyi_divergence", one.map(|one| times * one)));
    }
    if options.profile {
        figures.push(("zcdp_rho", pair.concentrated_rho().map(|rho| times * rho)));
        figures.push(("gdp_mu", pair.gaussian_mu().map(|mu| sqrt(times) * mu)));
    }
    if let Some(kappa) = options.reconstruction {
        // Every ε gives a bound: the search may stop early.
        let found = by_curve(kappa, 30, |epsilon| accountant.delta(epsilon).most);
        figures.push(("reconstruction", Some(found)));
    }
    Ok(figures)
}

/// The multiplicative capacity that pure ε and δ(ε) leave: n·e^ε/(e^ε + n − 1), and [`capacity_by_curve`] of n secrets.
fn repeated_capacity(
    epsilon: f64,
    variation: f64,
    secrets: Option<u64>,
    accountant: &Accountant,
) -> Option<f64> {
    let Some(n) = secrets else {
        return epsilon.is_finite().then(|| exp(epsilon));
    };
    let others = n as f64 - 1.0;
    let pure = n as f64 / (1.0 + others * exp(-epsilon));
    let flat = 1.0 + others * variation;
    // Every ε gives a bound: the search may stop early. Of two secrets none is below that of ε = 0.
    let curved = if n > 2 {
        capacity_by_curve(n as f64, 12, |epsilon| accountant.delta(epsilon).most)
    } else {
        flat
    };
    Some(pure.at_most(flat).at_most(curved))
}

/// (ε, δ), if that is what is promised.
fn privacy(promise: &Promise) -> Option<(f64, f64)> {
    match promise.requirement().guarantee()? {
        Guarantee::Dp { epsilon, delta } => Some((epsilon, delta)),
        Guarantee::Gaussian { .. } | Guarantee::Concentrated { .. } | Guarantee::Renyi { .. } => {
            None
        }
    }
}

/// ε, infinite where any total variation leaves it unbounded.
fn epsilon(promise: &Promise) -> Option<f64> {
    match promise.requirement().guarantee() {
        Some(guarantee) => Some(promised_epsilon(guarantee)),
        None => dominating::pair(promise)?.renyi_divergence(f64::INFINITY),
    }
}

/// ε, infinite where any μ, ρ or Rényi divergence above 0 leaves it unbounded.
pub(super) fn promised_epsilon(guarantee: Guarantee) -> f64 {
    match guarantee {
        Guarantee::Dp { epsilon, .. } => epsilon,
        Guarantee::Gaussian { mu: 0.0 } | Guarantee::Concentrated { rho: 0.0 } => 0.0,
        Guarantee::Renyi { epsilon: 0.0, .. } => 0.0,
        Guarantee::Gaussian { .. } | Guarantee::Concentrated { .. } | Guarantee::Renyi { .. } => {
            f64::INFINITY
        }
    }
}

/// The largest Σ_o max_s P(o | s).
///
/// # Formula
/// Pure ε: e^ε, over n secrets n e^ε/(e^ε + n − 1), which is Theorem 6 for one record. Else over n secrets that of
/// [`capacity_by_curve`]; at ε = 0 it is 1 + (n − 1)·tv. Maximal leakage is its logarithm.
fn capacity(
    promise: &Promise,
    secrets: Option<u64>,
    delta: impl Fn(f64) -> Option<f64>,
) -> Option<f64> {
    let pure = match privacy(promise) {
        Some((epsilon, 0.0)) => Some(epsilon),
        _ => None,
    };
    if let Some(capacity) = promise.requirement().largest_capacity() {
        let most = secrets.map_or(f64::INFINITY, |n| n as f64);
        return Some(capacity.at_most(most));
    }
    let Some(n) = secrets else {
        return pure.map(exp);
    };
    let n = n as f64;
    let flat = 1.0 + (n - 1.0) * promise.largest_total_variation();
    let pure = pure.map(|epsilon| n / (1.0 + (n - 1.0) * exp(-epsilon)));
    let curved = delta(0.0)
        .is_some()
        .then(|| capacity_by_curve(n, 100, |epsilon| delta(epsilon).unwrap_or(1.0)));
    Some(
        [pure, curved]
            .into_iter()
            .flatten()
            .fold(flat, f64::at_most),
    )
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
    vec![
        (names[0], Some(leakage)),
        (names[1], Some(risk.at_least(0.0))),
    ]
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
    let mut variation = (k * promise.largest_total_variation()).at_most(1.0);
    let mut security = 1.0 - variation;
    let mut figures = vec![("group_size", Some(k))];
    if let Some(reached) = promise
        .requirement()
        .guarantee()
        .map(|guarantee| guarantee.group(k))
    {
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

    fn figure(text: &str, options: &BoundsOptions, name: &str) -> f64 {
        let table = crate::bounds::bounds(text, options).expect(text);
        table.rows[0].figure(name).expect(name)
    }

    /// δ of T runs, by summing over all multisets of observations of the pair in 30 digits (mpmath); of curves the pair was
    /// built from all places where two of their lines meet.
    #[test]
    fn runs_of_a_promise_compose_as_its_worst_pair() {
        let curve = "dp-curve(dp(1, delta=0.01), dp(2, delta=1e-4))";
        let table = "f-dp(point(0.1, 0.6), point(0.5, 0.1))";
        for (text, runs, at, wanted) in [
            (
                "dp(epsilon=0.5, delta=0.01)",
                10,
                1.0,
                0.395_581_999_618_022_7,
            ),
            (
                "dp(epsilon=1, delta=1e-6)",
                7,
                3.0,
                0.358_055_095_161_546_93,
            ),
            ("ldp(0.3)", 40, 1.0, 0.474_875_214_796_142_6),
            ("advantage(0.2)", 20, 0.0, 0.988_470_784_953_931_5),
            ("bayes-security(0.8)", 20, 5.0, 0.988_470_784_953_931_5),
            (curve, 1, 0.5, 0.294_772_645_278_518_26),
            (curve, 6, 2.0, 0.465_954_583_071_758_47),
            (table, 1, 0.5, 0.235_127_872_929_987_2),
            (table, 5, 1.0, 0.545_066_972_845_454_1),
        ] {
            let options = BoundsOptions {
                at_epsilon: Some(at),
                repeat: (runs > 1).then_some(runs),
                ..BoundsOptions::default()
            };
            let found = figure(text, &options, "delta_at_epsilon");
            // A grid of losses adds a little, never takes any.
            let close = if runs == 1 { 1e-13 } else { 1e-4 };
            let error = found / wanted - 1.0;
            assert!(error > -1e-13 && error < close, "{text}: {found} {wanted}");
        }
    }

    /// Values by mpmath from the densities of the pairs.
    #[test]
    fn promises_have_the_figures_of_their_worst_pair() {
        let options = BoundsOptions {
            at_delta: Some(0.1),
            at_order: Some(4.0),
            profile: true,
            ..BoundsOptions::default()
        };
        let twenty = BoundsOptions {
            repeat: Some(20),
            ..options
        };
        for (text, options, name, wanted) in [
            (
                "ldp(1)",
                &options,
                "renyi_divergence",
                0.895_883_259_645_183_8,
            ),
            (
                "ldp(1)",
                &twenty,
                "renyi_divergence",
                17.917_665_192_903_676,
            ),
            ("ldp(1)", &options, "zcdp_rho", 0.462_117_157_260_009_74),
            ("ldp(1)", &options, "gdp_mu", 1.232_035_385_344_901),
            ("gdp(0.5)", &options, "renyi_divergence", 0.5),
            ("gdp(0.5)", &twenty, "gdp_mu", 0.5 * 20f64.sqrt()),
            ("zcdp(0.1)", &twenty, "renyi_divergence", 8.0),
            (
                "rdp(alpha=8, epsilon=0.3)",
                &twenty,
                "renyi_divergence",
                6.0,
            ),
            (
                "rdp(alpha=3, epsilon=0.3)",
                &options,
                "renyi_divergence",
                f64::INFINITY,
            ),
            ("dp(1, delta=0.01)", &options, "zcdp_rho", f64::INFINITY),
            // δ + (1 − δ)·(1 − e^(x − 1))/(1 + e^−1) = 0.1 at 1 + ln(1 − 0.09·(1 + e^−1)/0.99).
            (
                "dp(1, delta=0.01)",
                &options,
                "epsilon_at_delta",
                0.867_208_132_179_439_9,
            ),
            (
                "advantage(0.2)",
                &options,
                "epsilon_at_delta",
                f64::INFINITY,
            ),
        ] {
            let found = figure(text, options, name);
            let alike = found == wanted || (found / wanted - 1.0).abs() < 1e-12;
            assert!(alike, "{name} of {text}: {found} {wanted}");
        }
    }
}
