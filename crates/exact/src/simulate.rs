//! Logs drawn from a known mechanism.

use std::borrow::Cow;

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::mechanism::{BoundMechanism, Mechanism, Observed, Secrets, listed_secrets};
use leakgauge_base::error::{Error, Result};

/// An endless log of a mechanism: each row has a secret drawn uniformly and independently, and an
/// observation drawn under it. The same mechanism, secrets and seed give the same rows.
///
/// ```
/// use leakgauge_exact::{mechanism, simulate::Simulation};
///
/// let mechanism = mechanism::parse("laplace(scale=2, secrets=0..9)")?;
/// let mut simulation = Simulation::new(&*mechanism, 0)?;
/// let (secret, fields) = simulation.next_row();
/// assert!(secret.parse::<u8>().is_ok_and(|secret| secret < 10));
/// assert!(fields.len() == 1 && fields[0].parse::<f64>().is_ok());
/// # Ok::<(), leakgauge_base::error::Error>(())
/// ```
#[derive(Debug)]
pub struct Simulation {
    labels: Labels,
    /// The label of the last row's secret.
    label: String,
    bound: Box<dyn BoundMechanism>,
    rng: ChaCha8Rng,
}

/// The labels of the secrets.
#[derive(Debug)]
enum Labels {
    Listed(Vec<String>),
    /// Millions of numbers are not listed to draw a few.
    Range(Secrets),
}

impl Simulation {
    /// Draws over the secrets that the mechanism's parameters fix.
    ///
    /// # Errors
    /// The parameters fix no secrets, or more than
    /// [`MAX_LISTED`](crate::mechanism::MAX_LISTED) that must be listed.
    pub fn new(mechanism: &dyn Mechanism, seed: u64) -> Result<Self> {
        if let Some(range) = mechanism.declared_range() {
            return Ok(Simulation {
                bound: mechanism.bind_declared()?,
                labels: Labels::Range(range),
                label: String::new(),
                rng: ChaCha8Rng::seed_from_u64(seed),
            });
        }
        let labels = listed_secrets(mechanism)?;
        Self::over(mechanism, labels, seed)
    }

    /// Draws over given secrets.
    ///
    /// # Errors
    /// No secrets, or secrets that the mechanism cannot take.
    pub fn over(mechanism: &dyn Mechanism, labels: Vec<String>, seed: u64) -> Result<Self> {
        if labels.is_empty() {
            return Err(Error::parameter(
                mechanism.to_string(),
                "there are no secrets to draw from",
            ));
        }
        Ok(Simulation {
            bound: mechanism.bind(&labels)?,
            labels: Labels::Listed(labels),
            label: String::new(),
            rng: ChaCha8Rng::seed_from_u64(seed),
        })
    }

    /// The secrets that are drawn from. Needs memory for each.
    pub fn secrets(&self) -> Cow<'_, [String]> {
        match &self.labels {
            Labels::Listed(labels) => Cow::Borrowed(labels),
            Labels::Range(range) => Cow::Owned(range.labels()),
        }
    }

    /// The names of the observation columns.
    pub fn columns(&self) -> &'static [&'static str] {
        self.bound.columns()
    }

    /// The next row as a log records it: the label of its secret, and the fields of its observation.
    pub fn next_row(&mut self) -> (&str, Vec<String>) {
        let secret = self.next_secret();
        let observation = self.bound.sample(secret, &mut self.rng);
        (self.label(secret), observation)
    }

    /// The next row with numbers as numbers, to build a log in memory without printing and parsing them. The
    /// rows are those of [`next_row`](Simulation::next_row).
    ///
    /// ```
    /// use leakgauge_exact::mechanism::{self, Observed};
    /// use leakgauge_exact::simulate::Simulation;
    ///
    /// let mechanism = mechanism::parse("laplace(scale=2, secrets=0..9)")?;
    /// let mut simulation = Simulation::new(&*mechanism, 0)?;
    /// let (_, observation) = simulation.next_values();
    /// assert!(matches!(observation[..], [Observed::Number(_)]));
    /// # Ok::<(), leakgauge_base::error::Error>(())
    /// ```
    pub fn next_values(&mut self) -> (&str, Vec<Observed>) {
        let secret = self.next_secret();
        let observation = self.bound.draw(secret, &mut self.rng);
        (self.label(secret), observation)
    }

    fn next_secret(&mut self) -> usize {
        let secrets = match &self.labels {
            Labels::Listed(labels) => labels.len() as u64,
            Labels::Range(range) => range.count(),
        };
        self.rng.random_range(0..secrets) as usize
    }

    fn label(&mut self, secret: usize) -> &str {
        match &self.labels {
            Labels::Listed(labels) => &labels[secret],
            Labels::Range(range) => {
                self.label = (range.first() + secret as i64).to_string();
                &self.label
            }
        }
    }
}

/// The rows one after another; never ends.
impl Iterator for Simulation {
    type Item = (String, Vec<String>);

    fn next(&mut self) -> Option<Self::Item> {
        let (secret, observation) = self.next_row();
        Some((secret.to_owned(), observation))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mechanism::parse;

    fn rows(text: &str, seed: u64, n: usize) -> Vec<(String, Vec<String>)> {
        let mechanism = parse(text).unwrap();
        Simulation::new(&*mechanism, seed)
            .unwrap()
            .take(n)
            .collect()
    }

    #[test]
    fn the_seed_decides_the_rows() {
        for text in [
            "randomized-response(epsilon=1, secrets=10)",
            "laplace(scale=2, secrets=0..9)",
            "gaussian(sigma=1, secrets=3)",
            "geometric(nu=0.1, secrets=-5..5)",
        ] {
            assert_eq!(rows(text, 7, 100), rows(text, 7, 100));
            assert_ne!(rows(text, 7, 100), rows(text, 8, 100));
        }
    }

    #[test]
    fn rows_with_numbers_are_the_rows_that_a_log_records() {
        for text in [
            "randomized-response(epsilon=1, secrets=4)",
            "laplace(scale=2, secrets=0..3)",
            "geometric(nu=0.1, secrets=-5..5)",
            "mixture(randomized-response(2, secrets=4), deterministic(modulus=2), weight=0.8)",
        ] {
            let mechanism = parse(text).unwrap();
            let mut texts = Simulation::new(&*mechanism, 3).unwrap();
            let mut values = Simulation::new(&*mechanism, 3).unwrap();
            for _ in 0..50 {
                let (secret, observation) = values.next_values();
                let observation = observation.iter().map(Observed::to_string).collect();
                assert_eq!(texts.next_row(), (secret, observation), "{text}");
            }
        }
    }

    /// Pins the stream: users compare simulated logs by their seed. The rows are what the code
    /// gave when it was written, checked by nothing else.
    #[test]
    fn the_first_rows_of_a_seed_never_change() {
        let rows = rows("randomized-response(epsilon=1, secrets=10)", 0, 4);
        let rows: Vec<_> = rows
            .iter()
            .map(|(s, o)| (s.as_str(), o[0].as_str()))
            .collect();
        assert_eq!(rows, [("7", "6"), ("0", "5"), ("8", "8"), ("1", "7")]);
    }

    /// Rows of each secret are binomial(20,000, 1/4): 5,000 ± 61; of 4 secrets one is off by more
    /// than 6 deviations with probability below 1e-8. Runs of equal secrets, likewise, are
    /// 15,001 ± 61.
    #[test]
    fn secrets_are_uniform_and_interleaved() {
        for text in [
            "laplace(scale=2, secrets=4)",
            "gaussian(sigma=1, secrets=4)",
        ] {
            let rows = rows(text, 1, 20_000);
            for secret in ["0", "1", "2", "3"] {
                let count = rows.iter().filter(|row| row.0 == secret).count();
                assert!(count.abs_diff(5_000) < 366, "{text}, {secret}: {count}");
            }
            let changes = rows.windows(2).filter(|pair| pair[0].0 != pair[1].0);
            let runs = changes.count() + 1;
            assert!(runs.abs_diff(15_001) < 366, "{text}: {runs}");
        }
    }

    #[test]
    fn secrets_must_be_known() {
        let mechanism = parse("laplace(scale=2)").unwrap();
        let error = Simulation::new(&*mechanism, 0).unwrap_err().to_string();
        assert!(error.contains("secrets="), "{error}");

        let many = parse("laplace(scale=1, secrets=1000000000)").unwrap();
        let error = Simulation::new(&*many, 0).unwrap_err().to_string();
        assert!(error.contains("too many to list"), "{error}");

        let labels = vec!["yes".to_owned(), "no".to_owned()];
        let mechanism = parse("randomized-response(1)").unwrap();
        let mut simulation = Simulation::over(&*mechanism, labels, 0).unwrap();
        assert!(["yes", "no"].contains(&simulation.next_row().1[0].as_str()));
        assert!(Simulation::over(&*mechanism, Vec::new(), 0).is_err());
    }
}
