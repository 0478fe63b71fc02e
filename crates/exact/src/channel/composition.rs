//! Composition of channels: parallel, cascade, mixture; posteriors.

use std::borrow::Cow;

use crate::channel::{Channel, MAX_ENTRIES, Prior};
use leakgauge_base::error::{Error, Result, listing};
use leakgauge_base::parallel;

impl Channel {
    /// Parallel composition: the adversary sees one observation of each channel, independent given the secret.
    ///
    /// # Formula
    /// (A‖B)\[s, (o₁, o₂)\] = A\[s, o₁\]·B\[s, o₂\], observations in lexicographic order. Bayes security
    /// is at least the product of both; it is equal for A = B = ((.4, .6), (0, 1)).
    ///
    /// # Errors
    /// The secrets differ in number or labels, or the product is too large for memory.
    ///
    /// # References
    /// Bayes Security, Theorem 3.
    pub fn parallel(&self, other: &Channel) -> Result<Channel> {
        self.check_same_secrets(other)?;
        let (n, m1, m2) = (
            self.secrets.len(),
            self.observations.len(),
            other.observations.len(),
        );
        check_size(n, m1.saturating_mul(m2))?;
        let mut values = Vec::with_capacity(n * m1 * m2);
        for (p, q) in self.rows().zip(other.rows()) {
            values.extend(p.iter().flat_map(|p| q.iter().map(move |q| p * q)));
        }
        let pair = |a: &String| {
            let a = a.clone();
            other
                .observations
                .iter()
                .map(move |b| format!("({a}, {b})"))
        };
        let observations = self.observations.iter().flat_map(pair).collect();
        Ok(Channel::trusted(self.secrets.clone(), observations, values))
    }

    /// This channel with its secrets in the order of others that have the same names. Where one of the two has no names but
    /// numbers in their order, the order is taken as it is.
    ///
    /// # Errors
    /// Other names.
    pub(super) fn in_order_of(
        &self,
        names: &[String],
        what: &str,
        others: &str,
    ) -> Result<Cow<'_, Channel>> {
        let secrets = &self.secrets;
        if secrets[..] == *names || are_numbers(secrets) || are_numbers(names) {
            return Ok(Cow::Borrowed(self));
        }
        let place = |name: &String| secrets.iter().position(|secret| secret == name);
        let places: Option<Vec<usize>> = names.iter().map(place).collect();
        let Some(places) = places.filter(|places| places.len() == secrets.len()) else {
            let problem = format!(
                "the {others} are {}, the secrets of the channel {}",
                listing(names.iter().map(String::as_str)),
                listing(secrets.iter().map(String::as_str))
            );
            return Err(Error::parameter(what, problem).with_hint(
                "name them alike, or write the matrix without names, in the same order",
            ));
        };
        let rows = places.iter().flat_map(|&at| self.row(at).to_vec());
        let (values, observations) = (rows.collect(), self.observations.clone());
        Ok(Cow::Owned(Channel::trusted(
            names.to_vec(),
            observations,
            values,
        )))
    }

    /// Cascade: the second channel takes the observation of the first as its secret, by its name.
    ///
    /// # Formula
    /// The product of the matrices. Bayes security is at least the larger of both.
    ///
    /// # Errors
    /// The second channel does not have one secret for each observation of the first, or has others.
    ///
    /// # References
    /// Bayes Security, Theorem 4.
    pub fn cascade(&self, then: &Channel) -> Result<Channel> {
        if self.observations.len() != then.secrets.len() {
            return Err(Error::parameter(
                "cascade",
                format!(
                    "the first channel has {} observations, the second {} secrets",
                    self.observations.len(),
                    then.secrets.len()
                ),
            )
            .with_hint(
                "in a cascade, the observations of the first channel are the secrets of the second",
            ));
        }
        let then = &*then.in_order_of(
            &self.observations,
            "cascade",
            "observations of the first channel",
        )?;
        let width = then.observations.len();
        check_size(self.secrets.len(), width)?;
        let mut values = vec![0.0; self.secrets.len() * width];
        parallel::for_each_row(&mut values, width, &|s, out| {
            for (p, row) in self.row(s).iter().zip(then.rows()) {
                out.iter_mut().zip(row).for_each(|(sum, q)| *sum += p * q);
            }
        });
        Ok(Channel::trusted(
            self.secrets.clone(),
            then.observations.clone(),
            values,
        ))
    }

    /// The mixture: this channel is used with probability `weight`, else the other one. The adversary sees only the
    /// observation, not which channel was used.
    ///
    /// # Formula
    /// w·A + (1 − w)·B.
    ///
    /// # Errors
    /// The secrets or observations differ, or the weight is outside \[0, 1\].
    pub fn mixture(&self, weight: f64, other: &Channel) -> Result<Channel> {
        if !(0.0..=1.0).contains(&weight) {
            return Err(Error::parameter(
                format!("mixture weight {weight}"),
                "must be between 0 and 1",
            ));
        }
        self.check_same_secrets(other)?;
        if self.observations != other.observations {
            return Err(Error::parameter(
                "mixture",
                "the channels have different observations",
            ));
        }
        let both = self.values.iter().zip(&other.values);
        let values = both.map(|(a, b)| weight * a + (1.0 - weight) * b).collect();
        Ok(Channel::trusted(
            self.secrets.clone(),
            self.observations.clone(),
            values,
        ))
    }

    /// For each observation its probability and the posterior over secrets (Bayes' theorem). Observations of
    /// probability 0 are left out.
    ///
    /// # Formula
    /// P(s | o) = π_s C\[s,o\] / (πC)_o.
    ///
    /// # Errors
    /// A prior over another number of secrets.
    pub fn posteriors(&self, prior: &Prior) -> Result<Vec<(f64, Vec<f64>)>> {
        let law = self.push_forward(prior)?;
        let observed = law.iter().enumerate().filter(|(_, p)| **p > 0.0);
        Ok(observed
            .map(|(o, &p)| {
                let rows = self.rows().zip(prior.weights());
                (p, rows.map(|(row, weight)| weight * row[o] / p).collect())
            })
            .collect())
    }

    fn check_same_secrets(&self, other: &Channel) -> Result<()> {
        if self.secrets.len() != other.secrets.len() {
            return Err(Error::parameter(
                "composition",
                format!(
                    "the first channel has {} secrets, the second {}",
                    self.secrets.len(),
                    other.secrets.len()
                ),
            ));
        }
        let mut both = self.secrets.iter().zip(&other.secrets);
        match both.position(|(a, b)| a != b) {
            None => Ok(()),
            Some(at) => Err(Error::parameter(
                format!("composition, row {}", at + 1),
                format!(
                    "is secret {} in the first channel, {} in the second",
                    self.secrets[at], other.secrets[at]
                ),
            )
            .with_hint("both matrices need the same secrets in the same order")),
        }
    }
}

/// Whether names are numbers in their order, from 0 or 1, as where nothing was named.
fn are_numbers(names: &[String]) -> bool {
    [0, 1].iter().any(|from| {
        let mut numbered = names.iter().zip(*from..);
        numbered.all(|(name, number): (_, u64)| *name == number.to_string())
    })
}

/// Refuses a matrix too large for memory.
pub fn check_size(rows: usize, columns: usize) -> Result<()> {
    match rows.checked_mul(columns) {
        Some(entries) if entries <= MAX_ENTRIES => Ok(()),
        _ => Err(Error::parameter(
            "composition",
            format!("a matrix of {rows} secrets by {columns} observations is too large"),
        )
        .with_hint(format!("a matrix can have at most {MAX_ENTRIES} entries"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn channel(secrets: &[&str], observations: &[&str], values: &[f64]) -> Channel {
        let owned = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect();
        Channel::new(owned(secrets), owned(observations), values.to_vec()).expect("a channel")
    }

    /// The same channel with its rows in another order is the same channel.
    #[test]
    fn names_decide_which_secret_follows_which_observation() {
        let first = channel(
            &["a", "b"],
            &["x", "y", "z"],
            &[0.8, 0.1, 0.1, 0.1, 0.8, 0.1],
        );
        let then = channel(
            &["x", "y", "z"],
            &["0", "1"],
            &[1.0, 0.0, 0.0, 1.0, 0.5, 0.5],
        );
        let moved = channel(
            &["z", "y", "x"],
            &["0", "1"],
            &[0.5, 0.5, 0.0, 1.0, 1.0, 0.0],
        );
        let expected = first.cascade(&then).unwrap();
        let found = first.cascade(&moved).unwrap();
        assert!(expected.rows().eq(found.rows()));
        assert!((found.total_variation(0, 1) - 0.7).abs() < 1e-12);
        // A matrix without names is taken as it stands; foreign names are refused.
        let bare = channel(
            &["1", "2", "3"],
            &["0", "1"],
            &[1.0, 0.0, 0.0, 1.0, 0.5, 0.5],
        );
        assert!(expected.rows().eq(first.cascade(&bare).unwrap().rows()));
        let foreign = channel(
            &["k", "l", "m"],
            &["0", "1"],
            &[1.0, 0.0, 0.0, 1.0, 0.5, 0.5],
        );
        let problem = first.cascade(&foreign).unwrap_err().to_string();
        assert!(
            problem.contains("x, y, z") && problem.contains("k, l, m"),
            "{problem}"
        );
    }

    #[test]
    fn refinement_compares_secrets_of_one_name() {
        // X tells c from the others, Y tells b.
        let x = channel(
            &["a", "b", "c"],
            &["0", "1"],
            &[1.0, 0.0, 1.0, 0.0, 0.0, 1.0],
        );
        let y = channel(
            &["c", "a", "b"],
            &["0", "1"],
            &[1.0, 0.0, 1.0, 0.0, 0.0, 1.0],
        );
        let found = x.refinement(&y, "y").unwrap();
        assert!(!found.refines && !found.refined_by);
        let same = channel(
            &["c", "a", "b"],
            &["0", "1"],
            &[0.0, 1.0, 1.0, 0.0, 1.0, 0.0],
        );
        assert!(x.refinement(&same, "same").unwrap().equivalent);
        let foreign = channel(
            &["a", "b", "d"],
            &["0", "1"],
            &[1.0, 0.0, 1.0, 0.0, 0.0, 1.0],
        );
        assert!(x.refinement(&foreign, "foreign").is_err());
    }
}
