//! Distributions over the secrets of a channel.

use crate::channel::{Channel, RowProblem, SUM_TOLERANCE};
use leakgauge_base::error::{Error, Result};

/// A distribution over secrets.
#[derive(Debug, Clone, PartialEq)]
pub struct Prior {
    weights: Vec<f64>,
}

impl Prior {
    /// The uniform distribution.
    ///
    /// # Panics
    /// If `secrets` is 0.
    pub fn uniform(secrets: usize) -> Prior {
        assert!(secrets > 0, "a prior is over at least one secret");
        Prior {
            weights: vec![1.0 / secrets as f64; secrets],
        }
    }

    /// A distribution from its probabilities, in the order of the secrets.
    ///
    /// # Errors
    /// An entry is negative or not finite, or the sum differs from 1 by more than [`SUM_TOLERANCE`].
    pub fn new(weights: Vec<f64>) -> Result<Prior> {
        match RowProblem::find(&weights) {
            None => Ok(Prior { weights }),
            Some(problem) => Err(Error::parameter("prior", problem.to_string())),
        }
    }

    /// Reads the prior of a channel as users write it: `uniform`, `p1,p2,…` in the order of the rows, or
    /// `label=p,…`, where other secrets have probability 0.
    ///
    /// # Errors
    /// The text has another form or a wrong length, a label is unknown or repeated, or the sum is not 1.
    pub fn parse(text: &str, channel: &Channel) -> Result<Prior> {
        let secrets = channel.secrets().len();
        if text == "uniform" {
            return Ok(Prior::uniform(secrets));
        }
        let weights = if text.contains('=') {
            named(text, channel)?
        } else {
            let weights: Vec<f64> = text
                .split(',')
                .map(|part| number(text, part))
                .collect::<Result<_>>()?;
            if weights.len() != secrets {
                return Err(bad(
                    text,
                    &format!("has {} entries for {secrets} secrets", weights.len()),
                ));
            }
            weights
        };
        match RowProblem::find(&weights) {
            None => Ok(Prior { weights }),
            Some(problem) => Err(bad(text, &problem.to_string())),
        }
    }

    /// The probabilities, in the order of the secrets.
    pub fn weights(&self) -> &[f64] {
        &self.weights
    }

    /// The most likely secret; among ties, the first.
    pub fn mode(&self) -> usize {
        let mut mode = 0;
        for (secret, weight) in self.weights.iter().enumerate() {
            if *weight > self.weights[mode] {
                mode = secret;
            }
        }
        mode
    }

    /// Guessing error G(π) = 1 − max π, computed as the sum over the other secrets, which is accurate if
    /// one secret is nearly certain.
    pub fn guessing_error(&self) -> f64 {
        let mode = self.mode();
        let others = self.weights.iter().enumerate();
        others
            .filter(|(secret, _)| *secret != mode)
            .map(|(_, weight)| weight)
            .sum()
    }

    /// Checks that the prior has this number of secrets.
    pub fn check_over(&self, secrets: usize) -> Result<()> {
        if self.weights.len() == secrets {
            return Ok(());
        }
        Err(Error::parameter(
            "prior",
            format!(
                "has {} entries, the channel has {secrets} secrets",
                self.weights.len()
            ),
        ))
    }
}

fn named(text: &str, channel: &Channel) -> Result<Vec<f64>> {
    let mut weights = vec![None; channel.secrets().len()];
    for part in text.split(',') {
        let (label, p) = part
            .rsplit_once('=')
            .ok_or_else(|| bad(text, &format!("{part:?} is not label=p")))?;
        let secret = channel.secret_number(label.trim())?;
        if weights[secret].replace(number(text, p)?).is_some() {
            return Err(bad(text, &format!("{} is given twice", label.trim())));
        }
    }
    Ok(weights.into_iter().map(Option::unwrap_or_default).collect())
}

fn number(text: &str, part: &str) -> Result<f64> {
    part.trim()
        .parse()
        .map_err(|_| bad(text, &format!("{part:?} is not a number")))
}

fn bad(text: &str, problem: &str) -> Error {
    Error::setting("prior", leakgauge_base::error::shorten(text), problem).with_hint(format!(
        "write `uniform`, `p1,p2,…` in the order of the rows, or `label=p,…`; the sum must be 1 \
         within {SUM_TOLERANCE:e}"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn priors_are_read_by_order_or_by_label_and_checked() {
        let channel = Channel::from_rows(&[vec![1.0], vec![1.0], vec![1.0]]).unwrap();
        let read = |text: &str| Prior::parse(text, &channel).map(|prior| prior.weights);
        assert_eq!(read("0.5, 0.25,0.25").unwrap(), [0.5, 0.25, 0.25]);
        assert_eq!(read("3=0.75,1=0.25").unwrap(), [0.25, 0.0, 0.75]);
        for wrong in [
            "0.5,0.5",
            "0.5,0.5,0.1",
            "1.5,-0.5,0",
            "NaN,0,1",
            "1=1,1=0",
            "4=1",
            "x",
            "1=x",
        ] {
            assert!(read(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn guessing_error_keeps_its_digits_near_certainty() {
        let prior = Prior::new(vec![1.0 - 1e-13, 1e-13]).unwrap();
        assert_eq!(prior.guessing_error(), 1e-13);
    }
}
