//! Mechanisms that are symmetric in the labels: any two secrets have the same total variation.

use crate::extreme::Extreme;
use std::fmt::{Debug, Display};

use libm::expm1;
use rand::Rng;

use super::alphabet::Alphabet;
use super::spelling::Spelling;
use crate::profile::{Cell, Pair};

use super::{
    BoundMechanism, Law, LikelihoodClass, Mechanism, Probabilities, Secrets, listed_secrets,
};
use leakgauge_base::error::Result;

/// The largest number of observations for which a distribution is listed.
const MAX_LAW: u64 = 1_000_000;

/// The parameters of a mechanism that is symmetric in the labels.
pub(super) trait Symmetric: Debug + Display + Send + Sync {
    /// The randomizer for an alphabet of known size.
    type Randomizer: Randomizer + 'static;

    /// The declared secrets.
    fn secrets(&self) -> Option<Secrets>;

    /// The randomizer for this alphabet.
    fn randomizer(&self, alphabet: &Alphabet) -> Result<Self::Randomizer>;
}

/// A randomizer of labels, which are given by their positions in the alphabet.
pub(super) trait Randomizer: Debug + Send + Sync {
    /// Total variation between two different secrets.
    fn total_variation(&self) -> f64;

    /// 1 − total variation, without cancellation.
    fn bayes_security(&self) -> f64;

    /// ε between two different secrets.
    fn epsilon(&self) -> f64;

    /// Multiplicative capacity over the bound secrets, at least one.
    fn capacity(&self, alphabet: &Alphabet) -> Option<f64>;

    /// Classes of observations with equal likelihood ratios over the whole alphabet, if they are known.
    fn likelihood_classes(&self) -> Option<Vec<LikelihoodClass>> {
        None
    }

    /// The number of observations; `None` if it does not fit.
    fn observations(&self) -> Option<u64>;

    /// The label of an observation, numbered below [`Randomizer::observations`].
    fn observation(&self, number: u64, alphabet: &Alphabet) -> String;

    /// The probability of observation `number` under the secret at a position.
    fn probability(&self, position: u64, number: u64) -> f64;

    /// That probability less one that all positions share, if that has more digits.
    fn deviation(&self, _position: u64, _number: u64) -> Option<f64> {
        None
    }

    /// The label of the observation that another program writes so, if there is one.
    fn respelled(&self, _: &str, _: Spelling, _: &Alphabet) -> Option<String> {
        None
    }

    /// Draws an observation under the secret at a position.
    fn sample(&self, position: u64, alphabet: &Alphabet, rng: &mut dyn Rng) -> String;
}

impl<T: Symmetric> Mechanism for T {
    fn declared_secrets(&self) -> Option<Vec<String>> {
        self.secrets().map(Secrets::labels)
    }

    fn declared_count(&self) -> Option<u64> {
        self.secrets().map(Secrets::count)
    }

    fn bind(&self, labels: &[String]) -> Result<Box<dyn BoundMechanism>> {
        let alphabet = Alphabet::bind(&self.to_string(), labels, self.secrets())?;
        let randomizer = self.randomizer(&alphabet)?;
        Ok(Box::new(Bound {
            randomizer,
            alphabet,
        }))
    }

    /// Does not list the secrets: there can be up to 2^53.
    fn bind_declared(&self) -> Result<Box<dyn BoundMechanism>> {
        let Some(secrets) = self.secrets() else {
            return self.bind(&listed_secrets(self)?);
        };
        let alphabet = Alphabet::declared(secrets);
        let randomizer = self.randomizer(&alphabet)?;
        Ok(Box::new(Bound {
            randomizer,
            alphabet,
        }))
    }
}

#[derive(Debug)]
struct Bound<R> {
    randomizer: R,
    alphabet: Alphabet,
}

impl<R: Randomizer> BoundMechanism for Bound<R> {
    fn secret_count(&self) -> usize {
        self.alphabet.count()
    }

    fn total_variation(&self, a: usize, b: usize) -> f64 {
        if self.alphabet.position(a) == self.alphabet.position(b) {
            0.0
        } else {
            self.randomizer.total_variation()
        }
    }

    fn bayes_security(&self, a: usize, b: usize) -> f64 {
        if self.alphabet.position(a) == self.alphabet.position(b) {
            1.0
        } else {
            self.randomizer.bayes_security()
        }
    }

    fn respelled(&self, written: &str, spelling: Spelling) -> Option<String> {
        self.randomizer.respelled(written, spelling, &self.alphabet)
    }

    fn law(&self, secret: usize) -> Law {
        let position = self.alphabet.position(secret);
        let count = self.randomizer.observations();
        match count.filter(|&count| count <= MAX_LAW) {
            None => Law::Unknown("there are too many possible observations to list"),
            Some(count) => Law::Labels(
                (0..count)
                    .map(|number| {
                        (
                            self.randomizer.observation(number, &self.alphabet),
                            self.randomizer.probability(position, number),
                        )
                    })
                    .collect(),
            ),
        }
    }

    fn epsilon(&self) -> f64 {
        if self.secret_count() < 2 {
            0.0
        } else {
            self.randomizer.epsilon()
        }
    }

    fn likelihood_classes(&self) -> Option<Vec<LikelihoodClass>> {
        let whole = self.alphabet.count() as u64 == self.alphabet.size();
        whole
            .then(|| self.randomizer.likelihood_classes())
            .flatten()
    }

    fn sample(&self, secret: usize, rng: &mut dyn Rng) -> Vec<String> {
        let position = self.alphabet.position(secret);
        vec![self.randomizer.sample(position, &self.alphabet, rng)]
    }

    fn worst_pair(&self) -> Option<(usize, usize)> {
        (self.secret_count() >= 2).then_some((0, 1))
    }

    /// Of all these mechanisms the log-likelihood ratio of two secrets is ε, 0 or −ε, so that δ(ε′) is
    /// (1 − e^(ε′ − ε))·P(ratio = e^ε), and total variation is that at ε′ = 0.
    fn delta(&self, epsilon: f64) -> Option<f64> {
        let own = self.epsilon();
        if epsilon >= own {
            return Some(0.0);
        }
        let variation = self.randomizer.total_variation();
        Some(variation * (expm1(epsilon - own) / expm1(-own)))
    }

    /// The three likelihood ratios e^ε, 1 and e^−ε.
    fn pair(&self, a: usize, b: usize) -> Option<Pair> {
        let (own, variation) = (self.epsilon(), self.total_variation(a, b));
        if variation == 0.0 {
            return Some(Pair::Cells(vec![Cell::new(1.0, 1.0)]));
        }
        let more = Cell {
            p: variation / -expm1(-own),
            q: (variation / expm1(own)).at_least(0.0),
            difference: variation,
            loss: own,
        };
        // 1 − p − q with p = variation + q.
        let rest = (self.bayes_security(a, b) - 2.0 * more.q).at_least(0.0);
        Some(Pair::Cells(vec![
            more,
            Cell::new(rest, rest),
            more.swapped(),
        ]))
    }

    /// The worst pair: all pairs are alike.
    fn pairs(&self) -> Option<Vec<Pair>> {
        let (a, b) = self.worst_pair()?;
        Some(vec![self.pair(a, b)?])
    }

    fn capacity(&self) -> Option<f64> {
        match self.secret_count() {
            0 => None,
            1 => Some(1.0),
            _ => self.randomizer.capacity(&self.alphabet),
        }
    }

    fn deviations(&self) -> Option<Vec<Vec<f64>>> {
        let secrets = 0..self.secret_count();
        let observations = self.randomizer.observations()?;
        self.randomizer.deviation(0, 0)?;
        let row = |secret: usize| -> Option<Vec<f64>> {
            let position = self.alphabet.position(secret);
            let each = (0..observations).map(|number| self.randomizer.deviation(position, number));
            each.collect()
        };
        secrets.map(row).collect()
    }

    fn probabilities(&self) -> Option<Probabilities> {
        Probabilities::tabulate(
            self.secret_count(),
            self.randomizer.observations()?,
            |number| self.randomizer.observation(number, &self.alphabet),
            |secret, number| {
                self.randomizer
                    .probability(self.alphabet.position(secret), number)
            },
        )
    }
}

#[cfg(test)]
mod tests {
    use crate::mechanism::parse;

    /// The form that all these mechanisms share against the sum over their observations.
    #[test]
    fn delta_is_the_sum_over_all_observations() {
        for text in [
            "randomized-response(epsilon=1.5, secrets=7)",
            "rappor(epsilon=1, secrets=4)",
            "oue(epsilon=2, secrets=4)",
            "olh(epsilon=1.2, secrets=3)",
            "subset-selection(epsilon=1, secrets=6, size=2)",
            "hadamard-response(epsilon=1, secrets=5)",
            "identity(p=0.3, secrets=4)",
            "identity(p=0.3, secrets=4, otherwise=none)",
        ] {
            let bound = parse(text).expect(text).bind_declared().expect(text);
            let table = bound.probabilities().expect(text);
            for epsilon in [0.0, 1e-9, 0.3, 0.99, 1.3, 5.0, 50.0] {
                let (closed, summed) = (bound.delta(epsilon).unwrap(), table.delta(epsilon));
                let error = (closed - summed).abs();
                assert!(error < 1e-13, "{text} at {epsilon}: {closed:e} {summed:e}");
            }
        }
    }

    /// Near the ε of the mechanism e^ε overflows; the values are −expm1(ε′ − ε).
    #[test]
    fn delta_survives_an_epsilon_whose_exponential_overflows() {
        for (epsilon, at) in [
            (740.0, 739.9),
            (750.0, 745.0),
            (1e6, 999_999.5),
            (1e-12, 5e-13),
        ] {
            for name in ["randomized-response", "hadamard-response", "rappor", "olh"] {
                let text = format!("{name}(epsilon={epsilon}, secrets=2)");
                let bound = parse(&text).unwrap().bind_declared().unwrap();
                let variation = bound.total_variation(0, 1);
                let expected = -variation * f64::exp_m1(at - epsilon) / -f64::exp_m1(-epsilon);
                let found = bound.delta(at).unwrap();
                assert!((found / expected - 1.0).abs() < 1e-12, "{text}: {found:e}");
            }
        }
        let small = parse("randomized-response(epsilon=1e-12, secrets=2)").unwrap();
        let found = small.bind_declared().unwrap().delta(5e-13).unwrap();
        assert!((found / 2.5e-13 - 1.0).abs() < 1e-11, "{found:e}");
    }
}
