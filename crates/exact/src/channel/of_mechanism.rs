//! The channel of a known mechanism.

use crate::channel::Channel;
use crate::mechanism::{Mechanism, listed_secrets};
use leakgauge_base::error::{Error, Result};

impl Channel {
    /// The matrix of a mechanism over the secrets that its parameters declare. Its ε is that of the mechanism, which
    /// the matrix rounds where it is tiny, and where a probability underflows.
    ///
    /// # Errors
    /// The mechanism declares no secrets or only one, or its observations are infinitely many or too many to list.
    pub fn of_mechanism(mechanism: &dyn Mechanism) -> Result<Channel> {
        let secrets = listed_secrets(mechanism)?;
        let bound = mechanism.bind_declared()?;
        let written = bound.probabilities().ok_or_else(|| {
            Error::parameter(
                mechanism.to_string(),
                "has no finite matrix, or one that is too large",
            )
            .with_hint("`leakgauge bounds` computes its exact figures without a matrix")
        })?;
        let mut channel = Channel::new(secrets, written.observations, written.rows.concat())?;
        channel.deviations = bound.deviations().map(|rows| rows.concat());
        channel.epsilon = Some(bound.epsilon()).filter(|epsilon| epsilon.is_finite());
        Ok(channel)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::channel::{SearchMethod, diameter};
    use crate::mechanism::parse;

    /// Two rooms that compute alone: the mechanism's closed forms and the measures of its matrix.
    #[test]
    fn the_figures_of_a_mechanism_are_those_of_its_channel() {
        for text in [
            "randomized-response(epsilon=1.5, secrets=7)",
            "truncated-geometric(nu=0.3, secrets=6, observations=10)",
            "rappor(epsilon=1, secrets=4)",
            "oue(epsilon=2, secrets=4)",
            "subset-selection(epsilon=1, secrets=6, size=2)",
            "hadamard-response(epsilon=1, secrets=5)",
            "identity(p=0.3, secrets=4)",
            "exponential(epsilon=1, secrets=5)",
        ] {
            let mechanism = parse(text).expect(text);
            let bound = mechanism.bind_declared().expect(text);
            let channel = Channel::of_mechanism(&*mechanism).expect(text);
            let found = diameter(&channel, SearchMethod::Direct).expect(text);
            let (a, b) = bound.worst_pair().expect(text);
            let close = |x: f64, y: f64| (x - y).abs() < 1e-12;
            assert!(
                close(found.bayes_security, bound.bayes_security(a, b)),
                "{text}"
            );
            if let Some(capacity) = bound.capacity() {
                assert!(
                    (channel.multiplicative_capacity() / capacity - 1.0).abs() < 1e-12,
                    "{text}"
                );
            }
            let epsilon = channel.epsilon().unwrap_or(f64::INFINITY);
            assert!(
                epsilon == bound.epsilon() || close(epsilon, bound.epsilon()),
                "{text}: {epsilon}"
            );
        }
    }

    #[test]
    fn epsilon_is_not_that_of_rounded_probabilities() {
        for epsilon in [1e-12, 1e-5, 2.0, 740.0, 1e4] {
            let text = format!("randomized-response(epsilon={epsilon}, secrets=3)");
            let channel = Channel::of_mechanism(&*parse(&text).unwrap()).unwrap();
            assert_eq!(channel.epsilon(), Some(epsilon));
        }
        let channel =
            Channel::of_mechanism(&*parse("identity(p=0.5, secrets=2, otherwise=none)").unwrap());
        assert_eq!(channel.unwrap().epsilon(), None);
    }

    /// Randomized response with ε = 1e-12, by mpmath with 60 digits.
    #[test]
    fn figures_of_a_tiny_epsilon_have_all_digits() {
        let text = "randomized-response(epsilon=1e-12, secrets=2)";
        let channel = Channel::of_mechanism(&*parse(text).unwrap()).unwrap();
        let uniform = crate::channel::Prior::uniform(2);
        let shannon = channel.shannon_capacity();
        let figures = [
            (channel.total_variation(0, 1), 5e-13),
            (channel.additive_leakage(&uniform).unwrap(), 2.5e-13),
            (
                channel.min_entropy_leakage(&uniform).unwrap(),
                4.999_999_999_998_75e-13,
            ),
            (channel.min_entropy_capacity(), 4.999_999_999_998_75e-13),
            (channel.mutual_information(&uniform).unwrap(), 1.25e-25),
            (shannon.lower, 1.25e-25),
            (shannon.upper, 1.25e-25),
            (channel.pair_epsilon(0, 1).unwrap().unwrap(), 1e-12),
            (channel.delta(5e-13).unwrap().0, 2.5e-13),
        ];
        for (at, (found, expected)) in figures.into_iter().enumerate() {
            assert!((found / expected - 1.0).abs() < 1e-12, "{at}: {found:e}");
        }
        let prior = crate::channel::Prior::new(vec![0.25, 0.75]).unwrap();
        assert_eq!(channel.additive_leakage(&prior).unwrap(), 0.0);
        let found = channel.mutual_information(&prior).unwrap();
        assert!((found / 9.375e-26 - 1.0).abs() < 1e-12, "{found:e}");
    }

    #[test]
    fn a_mechanism_on_the_real_line_has_no_matrix() {
        let error =
            Channel::of_mechanism(&*parse("laplace(scale=1, secrets=0..3)").unwrap()).unwrap_err();
        assert!(error.to_string().contains("no finite matrix"), "{error}");
    }
}
