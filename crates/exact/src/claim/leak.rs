//! A leak that an audit should find, by one figure of the pair of secrets that shows it.

use std::fmt;

use super::{Claim, ClaimKind, Guarantee, Requirement};
use crate::hockey_stick;
use leakgauge_base::error::{Error, Result, shorten};
use leakgauge_base::grammar::format_number;
use leakgauge_base::suggest::nearest;
use leakgauge_stats::special::normal_quantile;

/// The size of a leak: `epsilon=1.25`, `advantage=0.1`.
///
/// # Formula
/// It stands for two secrets and two outcomes: each secret gives an outcome of its own with probability
/// r = (1 + TV)/2, and the other one else. TV is the largest total variation that the figure permits
/// ([`Requirement::largest_total_variation`]), so that the two secrets have just this figure.
///
/// *What that is an example of.* Every two laws of observations that are ε-close are made from these two by processing
/// their outcome, so no test needs fewer rows for them. Two laws with a total variation of `advantage` become these two
/// if each outcome is reduced to whether it is in the best event, and a coin decides between the event and its
/// complement.
///
/// # References
/// Kairouz, Oh and Viswanath 2015, doi:10.1109/TIT.2017.2685505, Theorem 3.1.
///
/// ```
/// use leakgauge_exact::claim::Leak;
///
/// let leak = Leak::parse("advantage=0.1")?;
/// assert_eq!(leak.rate(0.0), 0.55);
/// assert_eq!(leak.to_string(), "advantage=0.1");
/// # Ok::<(), leakgauge_base::error::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Leak {
    figure: Figure,
    value: f64,
}

/// The figure that a leak is given by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Figure {
    Epsilon,
    Mu,
    Rho,
    Advantage,
    BayesSecurity,
}

impl Figure {
    const ALL: [Figure; 5] = [
        Figure::Epsilon,
        Figure::Mu,
        Figure::Rho,
        Figure::Advantage,
        Figure::BayesSecurity,
    ];

    fn name(self) -> &'static str {
        match self {
            Figure::Epsilon => "epsilon",
            Figure::Mu => "mu",
            Figure::Rho => "rho",
            Figure::Advantage => "advantage",
            Figure::BayesSecurity => "bayes-security",
        }
    }

    /// What is wrong with a value, if anything is.
    fn problem(self, value: f64) -> Option<&'static str> {
        match self {
            Figure::Epsilon | Figure::Mu | Figure::Rho => {
                (value <= 0.0).then_some("must be above 0")
            }
            Figure::Advantage => {
                (!(value > 0.0 && value <= 1.0)).then_some("must be above 0 and at most 1")
            }
            Figure::BayesSecurity => {
                (!(0.0..1.0).contains(&value)).then_some("must be at least 0 and below 1")
            }
        }
    }
}

/// The figure that a claim bounds.
fn of_claim(name: &str) -> &str {
    match name {
        "dp" | "ldp" => "epsilon",
        "gdp" => "mu",
        "zcdp" => "rho",
        "attack-advantage" => "advantage",
        other => other,
    }
}

impl Leak {
    /// Reads `figure=value`: one of `epsilon`, `mu`, `rho`, `advantage` and `bayes-security`.
    ///
    /// # Errors
    /// Another figure, or a value that is no number or out of range.
    pub fn parse(text: &str) -> Result<Leak> {
        let refused = |problem: &str| Error::parameter(shorten(text), problem);
        let names = Figure::ALL.map(Figure::name);
        // A claim has the same figures in parentheses.
        if let Some((name, inside)) = text.split_once('(') {
            let inside = inside.trim_end().trim_end_matches(')').trim();
            let leak = match inside.contains('=') {
                true => inside.split(',').next().unwrap_or(inside).to_owned(),
                false => format!("{}={inside}", of_claim(name.trim())),
            };
            let error = refused("is a claim, and a leak is a figure and its value");
            return Err(match Leak::parse(&leak) {
                Ok(_) => error.with_hint(format!("write {leak}")),
                Err(_) => error.with_hint("epsilon=1.25 or advantage=0.1, for example"),
            });
        }
        let Some((name, value)) = text.split_once('=') else {
            return Err(refused("a leak is a figure and its value")
                .with_hint("epsilon=1.25 or advantage=0.1, for example"));
        };
        let name = name.trim();
        let Some(figure) = Figure::ALL.into_iter().find(|figure| figure.name() == name) else {
            let error = refused("no leak is given by this figure");
            return Err(match nearest(name, names) {
                Some(near) => error.with_hint(format!("did you mean {near}?")),
                None => error.with_hint(format!("figures are {}", names.join(", "))),
            });
        };
        let value: f64 = value
            .trim()
            .parse()
            .ok()
            .filter(|value: &f64| value.is_finite())
            .ok_or_else(|| refused("the value is not a number"))?;
        match figure.problem(value) {
            Some(problem) => Err(refused(&format!("{} {problem}", figure.name()))),
            None => Ok(Leak { figure, value }),
        }
    }

    /// What the pair with this leak just satisfies. An ε is that of (ε, `delta`)-differential privacy.
    pub fn requirement(&self, delta: f64) -> Requirement {
        let value = self.value;
        match self.figure {
            Figure::Epsilon => Requirement::Privacy(Guarantee::Dp {
                epsilon: value,
                delta,
            }),
            Figure::Mu => Requirement::Privacy(Guarantee::Gaussian { mu: value }),
            Figure::Rho => Requirement::Privacy(Guarantee::Concentrated { rho: value }),
            Figure::Advantage => Requirement::Advantage { at_most: value },
            Figure::BayesSecurity => Requirement::BayesSecurity { at_least: value },
        }
    }

    /// Two laws of numbers that have just this leak: noise of one kind, moved by so much. An ε at δ = 0 has Laplace noise, for
    /// which alone it is finite; all else Gaussian noise.
    ///
    /// # Formula
    /// N(0, 1) and N(μ, 1) have total variation 2Φ(μ/2) − 1, ρ = μ²/2, and δ(ε) by the hockey-stick divergence; Laplace noise of
    /// scale 1 that is moved by ε has ε.
    /// Laws that are farther apart than [`MovedNoise::FAR`] do not overlap, and are no farther apart than that.
    pub fn moved_noise(&self, delta: f64) -> MovedNoise {
        self.unbounded_noise(delta).bounded()
    }

    fn unbounded_noise(&self, delta: f64) -> MovedNoise {
        match self.requirement(delta) {
            Requirement::Privacy(Guarantee::Dp { epsilon, delta }) if delta > 0.0 => {
                MovedNoise::Gaussian(gaussian_of(epsilon, delta))
            }
            Requirement::Privacy(Guarantee::Dp { epsilon, .. }) => MovedNoise::Laplace(epsilon),
            Requirement::Privacy(Guarantee::Gaussian { mu }) => MovedNoise::Gaussian(mu),
            Requirement::Privacy(Guarantee::Concentrated { rho }) => {
                MovedNoise::Gaussian((2.0 * rho).sqrt())
            }
            other => {
                let total_variation = other.largest_total_variation();
                MovedNoise::Gaussian(2.0 * normal_quantile(0.5 * (1.0 + total_variation)))
            }
        }
    }

    /// Whether a claim bounds the figure that it is given by.
    pub fn is_of_figure(&self, claim: &Claim) -> bool {
        let ClaimKind::Promise(promise) = &claim.kind else {
            return false;
        };
        match (promise.requirement(), self.figure) {
            (Requirement::Privacy(guarantee), figure) => matches!(
                (guarantee, figure),
                (Guarantee::Dp { .. }, Figure::Epsilon)
                    | (Guarantee::Gaussian { .. }, Figure::Mu)
                    | (Guarantee::Concentrated { .. }, Figure::Rho)
            ),
            (
                Requirement::Advantage { .. }
                | Requirement::AttackAdvantage { .. }
                | Requirement::BayesSecurity { .. },
                figure,
            ) => matches!(figure, Figure::Advantage | Figure::BayesSecurity),
            _ => false,
        }
    }

    /// Whether it is given by a parameter of differential privacy.
    pub fn is_of_privacy(&self) -> bool {
        match self.figure {
            Figure::Epsilon | Figure::Mu | Figure::Rho => true,
            Figure::Advantage | Figure::BayesSecurity => false,
        }
    }

    /// r, the probability of a secret's own outcome, in (½, 1].
    pub fn rate(&self, delta: f64) -> f64 {
        0.5 * (1.0 + self.requirement(delta).largest_total_variation())
    }
}

/// Noise, and how far it is moved between two secrets, in standard deviations or scales.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum MovedNoise {
    /// Gaussian, of standard deviation 1.
    Gaussian(f64),
    /// Laplace, of scale 1.
    Laplace(f64),
}

impl MovedNoise {
    /// No number of one law is one of the other.
    pub const FAR: f64 = 1e3;

    fn bounded(self) -> Self {
        // Not a number is as far as can be.
        let bounded = |distance: f64| match distance < Self::FAR {
            true => distance,
            false => Self::FAR,
        };
        match self {
            MovedNoise::Gaussian(distance) => MovedNoise::Gaussian(bounded(distance)),
            MovedNoise::Laplace(distance) => MovedNoise::Laplace(bounded(distance)),
        }
    }
}

/// The distance of Gaussian noise whose ε at `delta` is this.
fn gaussian_of(epsilon: f64, delta: f64) -> f64 {
    let (mut below, mut above) = (0.0, 1.0);
    while hockey_stick::gaussian(above, epsilon) < delta && above < f64::MAX / 4.0 {
        (below, above) = (above, 2.0 * above);
    }
    for _ in 0..100 {
        let middle = 0.5 * (below + above);
        match hockey_stick::gaussian(middle, epsilon) < delta {
            true => below = middle,
            false => above = middle,
        }
    }
    above
}

/// As it is written.
impl fmt::Display for Leak {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}={}", self.figure.name(), format_number(self.value))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_figure_gives_the_pair_that_has_it() {
        let rate = |text: &str| Leak::parse(text).expect(text).rate(0.0);
        let e = 1.25f64.exp();
        assert!((rate("epsilon=1.25") - e / (1.0 + e)).abs() < 1e-15);
        assert!((rate("advantage=0.1") - 0.55).abs() < 1e-15);
        assert!((rate("bayes-security=0.8") - 0.6).abs() < 1e-15);
        // Randomized response at ε has ρ = ε tanh(ε/2), and N(0, 1) against N(μ, 1) has TV 2Φ(μ/2) − 1.
        let rho = 1.25 * (0.625f64).tanh();
        assert!((rate(&format!("rho={rho}")) - e / (1.0 + e)).abs() < 1e-9);
        assert!((rate("mu=2") - 0.841_344_746).abs() < 1e-8);
        // (r − δ)/(1 − r) = e^ε.
        let rate = Leak::parse("epsilon=1").expect("a leak").rate(0.01);
        assert!(((rate - 0.01) / (1.0 - rate)).ln() - 1.0 < 1e-12);
    }

    #[test]
    fn moved_noise_has_the_leak() {
        let noise = |text: &str, delta| Leak::parse(text).expect(text).moved_noise(delta);
        assert_eq!(noise("epsilon=1.5", 0.0), MovedNoise::Laplace(1.5));
        assert_eq!(noise("mu=0.7", 0.0), MovedNoise::Gaussian(0.7));
        assert_eq!(noise("rho=0.5", 0.0), MovedNoise::Gaussian(1.0));
        let MovedNoise::Gaussian(distance) = noise("advantage=0.382924922548026", 0.0) else {
            panic!("Gaussian noise");
        };
        assert!((distance - 1.0).abs() < 1e-9, "{distance}");
        // Φ(½ − 1) − e·Φ(−½ − 1) = 0.126936737507 (mpmath).
        let MovedNoise::Gaussian(distance) = noise("epsilon=1", 0.126_936_737_506_644) else {
            panic!("Gaussian noise");
        };
        assert!((distance - 1.0).abs() < 1e-9, "{distance}");
        let MovedNoise::Gaussian(distance) = noise("epsilon=1e6", 1e-9) else {
            panic!("Gaussian noise");
        };
        assert_eq!(distance, MovedNoise::FAR);
        let far = |text: &str| noise(text, 0.0);
        assert_eq!(far("advantage=1"), MovedNoise::Gaussian(MovedNoise::FAR));
        assert_eq!(
            far("bayes-security=0"),
            MovedNoise::Gaussian(MovedNoise::FAR)
        );
        assert_eq!(far("rho=1e308"), MovedNoise::Gaussian(MovedNoise::FAR));
    }

    #[test]
    fn what_is_no_leak_is_refused() {
        let error = |text: &str| Leak::parse(text).expect_err(text).to_string();
        assert!(error("epsilon").contains("epsilon=1.25"));
        assert!(error("epsilom=1").contains("did you mean epsilon?"));
        assert!(error("advantage=2").contains("at most 1"));
        for text in [
            "epsilon=0",
            "epsilon=inf",
            "mu=x",
            "rho=-1",
            "bayes-security=1",
        ] {
            error(text);
        }
        let written = Leak::parse(" bayes-security = 0.90 ").expect("a leak");
        assert_eq!(written.to_string(), "bayes-security=0.9");
    }
}
