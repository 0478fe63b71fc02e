//! Several mechanisms that are applied to the same two secrets: `compose(M1*T1, M2*T2)`.

use std::sync::Arc;

use crate::claim::ClaimKind;
use crate::mechanism::Mechanism;
use leakgauge_base::error::{Error, Result};
use leakgauge_base::grammar::Call;
use leakgauge_base::naming::option;

/// A mechanism, and how often it is applied.
pub(super) type Term = (Arc<dyn Mechanism>, u64);

/// The terms of a composition; `None` if a text is none.
///
/// # Errors
/// A term that is no mechanism, or a number of times that is none.
pub(super) fn terms(text: &str) -> Result<Option<Vec<Term>>> {
    let inside = text.trim().strip_prefix("compose").map(str::trim_start);
    let Some(inside) = inside.and_then(|rest| rest.strip_prefix('(')) else {
        return Ok(None);
    };
    let Some(inside) = inside.strip_suffix(')') else {
        return Err(
            Error::parameter(text, "has no closing parenthesis").with_hint(
                "write compose(gaussian(sigma=2, secrets=2)*10, laplace(scale=3, secrets=2))",
            ),
        );
    };
    let parts = outside_parentheses(inside, ',').into_iter();
    parts.map(term).collect::<Result<_>>().map(Some)
}

fn term(text: &str) -> Result<Term> {
    let mut parts = outside_parentheses(text, '*').into_iter();
    let (name, times) = (parts.next().unwrap_or_default().trim(), parts.next());
    let times = times.map_or(Ok(1), |times| match times.trim().parse::<u64>() {
        Ok(times) if times > 0 && parts.next().is_none() => Ok(times),
        _ => Err(
            Error::parameter(text.trim(), "is not a mechanism * a whole number of times")
                .with_hint(
                    "write compose(gaussian(sigma=2, secrets=2)*10, laplace(scale=3, secrets=2))",
                ),
        ),
    })?;
    let problem = "only mechanisms are composed, and this is a promise";
    match ClaimKind::from_call(&Call::parse(name)?)? {
        ClaimKind::Mechanism(mechanism) => Ok((mechanism, times)),
        ClaimKind::Promise(promise) => match promise.composition() {
            Some((step, steps)) => Ok((step, steps.saturating_mul(times))),
            None => Err(Error::parameter(name, problem).with_hint(format!(
                "name the mechanism that keeps it, or one promise alone with {}",
                option("repeat")
            ))),
        },
    }
}

/// The parts of a text between signs that stand outside of parentheses and quotes.
fn outside_parentheses(text: &str, sign: char) -> Vec<&str> {
    let (mut parts, mut depth, mut quoted, mut from) = (Vec::new(), 0i32, false, 0);
    for (at, letter) in text.char_indices() {
        match letter {
            '"' => quoted = !quoted,
            '(' if !quoted => depth += 1,
            ')' if !quoted => depth -= 1,
            _ if letter == sign && depth == 0 && !quoted => {
                parts.push(&text[from..at]);
                from = at + letter.len_utf8();
            }
            _ => {}
        }
    }
    parts.push(&text[from..]);
    parts
}

#[cfg(test)]
mod tests {
    use crate::bounds::{BoundsOptions, bounds};
    use crate::extreme::Extreme;

    fn figures(text: &str, repeat: Option<u64>) -> crate::bounds::Row {
        let options = BoundsOptions {
            at_epsilon: Some(1.0),
            at_delta: Some(1e-5),
            at_order: Some(3.0),
            profile: true,
            repeat,
            ..BoundsOptions::default()
        };
        bounds(text, &options).unwrap().rows.remove(0)
    }

    /// δ(ε) of N(0, 1) against N(μ, 1), Balle and Wang 2018, theorem 8, doi:10.48550/arXiv.1805.06530.
    fn of_normal(mu: f64, epsilon: f64) -> f64 {
        let phi = |x: f64| 0.5 * libm::erfc(-x / std::f64::consts::SQRT_2);
        phi(mu / 2.0 - epsilon / mu) - epsilon.exp() * phi(-mu / 2.0 - epsilon / mu)
    }

    /// Gaussian noise of any sizes is Gaussian noise with the root of the sum of squares.
    #[test]
    fn gaussian_noise_of_two_sizes_is_that_of_one() {
        let row = figures(
            "compose(gaussian(sigma=4, secrets=2)*3, gaussian(sigma=10, secrets=2)*50)",
            None,
        );
        let mu = (3.0 / 16.0 + 50.0 / 100.0f64).sqrt();
        let exact = of_normal(mu, 1.0);
        let (most, least) = (
            row.figure("delta_at_epsilon").unwrap(),
            row.figure("delta_at_epsilon_at_least").unwrap(),
        );
        assert!(least <= exact && exact <= most, "{least} {exact} {most}");
        assert!(most / least < 1.002, "{least} {most}");
        assert!((row.figure("gdp_mu").unwrap() / mu - 1.0).abs() < 1e-9);
        assert!((row.figure("renyi_divergence").unwrap() / (1.5 * mu * mu) - 1.0).abs() < 1e-9);
        assert_eq!(row.figure("steps"), Some(53.0));
    }

    /// Randomized response of two ε: all sums of losses, one by one.
    #[test]
    fn responses_of_two_sizes_are_summed() {
        let row = figures(
            "compose(randomized-response(epsilon=0.4, secrets=2)*3, randomized-response(epsilon=1.1, secrets=2)*2)",
            None,
        );
        let mut sums = vec![(0.0f64, 1.0f64)];
        for epsilon in [0.4, 0.4, 0.4, 1.1, 1.1f64] {
            let right = 1.0 / (1.0 + (-epsilon).exp());
            let both = |&(loss, mass): &(f64, f64)| {
                [
                    (loss + epsilon, mass * right),
                    (loss - epsilon, mass * (1.0 - right)),
                ]
            };
            sums = sums.iter().flat_map(both).collect();
        }
        let delta = |epsilon: f64| -> f64 {
            let part =
                |&(loss, mass): &(f64, f64)| mass * (1.0 - (epsilon - loss).exp()).at_least(0.0);
            sums.iter().map(part).sum()
        };
        for (key, at, exact) in [
            ("delta_at_epsilon", "delta_at_epsilon_at_least", delta(1.0)),
            ("total_variation", "total_variation_at_least", delta(0.0)),
        ] {
            let (most, least) = (row.figure(key).unwrap(), row.figure(at).unwrap());
            assert!(
                least <= exact * (1.0 + 1e-9) && exact <= most * (1.0 + 1e-9),
                "{key}: {least} {exact} {most}"
            );
            assert!(most - least < 2e-3 * exact, "{key}: {least} {most}");
        }
        assert!((row.figure("epsilon").unwrap() - 3.4).abs() < 1e-12);
    }

    /// Terms that are the same are what repeating is.
    #[test]
    fn equal_terms_are_repeated_ones() {
        let noise = "laplace(scale=4, secrets=2)";
        let repeated = figures(noise, Some(12));
        let row = figures(&format!("compose({noise}*5, {noise}*7)"), None);
        for key in [
            "delta_at_epsilon",
            "epsilon_at_delta",
            "total_variation",
            "zcdp_rho",
        ] {
            let (found, expected) = (row.figure(key).unwrap(), repeated.figure(key).unwrap());
            let error = (found / expected - 1.0).abs();
            assert!(error < 2e-3, "{key}: {found} {expected}");
        }
        let steps = |text: &str| super::terms(text).unwrap().unwrap()[0].1;
        assert_eq!(steps("compose(dp-sgd(sigma=2, rate=0.05, steps=20)*2)"), 40);
        assert_eq!(steps(&format!("compose({noise})")), 1);
    }

    /// The truth by a transform of 2^21 cells of 2.4e-5, on which both atoms of the response and of Laplace noise lie, in
    /// Python; half as many cells of twice the size give the same eight digits.
    #[test]
    fn noise_of_several_kinds_has_two_sides() {
        let row = figures(
            "compose(laplace(scale=5, secrets=2)*20, subsampled(gaussian(sigma=3), rate=0.2)*60, \
             randomized-response(epsilon=0.1, secrets=2)*9)",
            None,
        );
        for (most, least, exact) in [
            ("total_variation", "total_variation_at_least", 0.402_999_945),
            (
                "delta_at_epsilon",
                "delta_at_epsilon_at_least",
                0.147_672_638,
            ),
        ] {
            let [least, most] = [least, most].map(|key| row.figure(key).unwrap());
            assert!(
                least <= exact + 1e-9 && exact <= most + 1e-9,
                "{least} {exact} {most}"
            );
            assert!(most / least < 1.002, "{least} {most}");
        }
    }

    /// A record that is used with a probability comes first in its own law, and the first secret in a table: both must be
    /// about the same secret. The truth by sums over all outcomes.
    #[test]
    fn terms_that_are_not_symmetric_point_the_same_way() {
        let row = figures(
            "compose(subsampled(randomized-response(epsilon=3, secrets=2), rate=0.1)*3, \
             shuffled(randomized-response(epsilon=2, secrets=2), n=4, others=0)*3)",
            None,
        );
        let least = row.figure("total_variation_at_least").unwrap();
        let most = row.figure("total_variation").unwrap();
        assert!(least <= 0.75225 && 0.75215 <= most, "{least} {most}");
        let refused = "compose(subsampled(gaussian(sigma=1), rate=0.1), \
                       subsampled(gaussian(sigma=1), rate=0.1, relation=replace))";
        assert!(bounds(refused, &BoundsOptions::default()).is_err());
        // A tiny loss beside a wide one is no reason for billions of cells.
        let row = figures(
            "compose(gaussian(sigma=1, secrets=2), randomized-response(epsilon=1e-8, secrets=2))",
            None,
        );
        assert!((row.figure("total_variation").unwrap() - 0.382_924_92).abs() < 1e-4);
    }

    /// Some event has no probability under one secret.
    #[test]
    fn what_is_told_for_certain_is_so_in_any_composition() {
        for (text, repeat) in [
            ("deterministic(modulus=2, secrets=2)", Some(10)),
            (
                "compose(deterministic(modulus=2, secrets=2), gaussian(sigma=9, secrets=2)*3)",
                None,
            ),
        ] {
            let row = figures(text, repeat);
            assert_eq!(row.figure("total_variation"), Some(1.0), "{text}");
            let least = row.figure("total_variation_at_least").unwrap();
            assert!(least > 1.0 - 1e-9, "{text}: {least}");
            assert_eq!(row.figure("epsilon"), Some(f64::INFINITY), "{text}");
        }
    }

    #[test]
    fn what_cannot_be_composed_is_refused() {
        for (text, words) in [
            ("compose(ldp(1)*3)", "is a promise"),
            (
                "compose(laplace(scale=1, secrets=2)*0)",
                "whole number of times",
            ),
            (
                "compose(laplace(scale=1, secrets=2)*2*3)",
                "whole number of times",
            ),
            (
                "compose(laplace(scale=1, secrets=2)*2",
                "closing parenthesis",
            ),
            ("compose(laplace(scale=1)*2)", "secrets"),
            (
                "compose(laplace(scale=1, secrets=3), gaussian(sigma=1, secrets=2))",
                "others than those of",
            ),
            ("compose()", "empty"),
        ] {
            let error = bounds(text, &BoundsOptions::default())
                .unwrap_err()
                .to_string();
            assert!(error.contains(words), "{text}: {error}");
        }
    }
}
