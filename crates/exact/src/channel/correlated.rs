//! Leakage about something else than the secret: a property of it, or a variable that is correlated with it.

use std::collections::HashSet;

use serde::Serialize;

use super::at_prior::prior_figures;
use super::composition::check_size;
use super::gain::{gain_figures, loss_figures};
use crate::channel::{
    Channel, GainFigures, LossFigures, Payoff, PayoffTable, Prior, PriorFigures, RowProblem,
    SUM_TOLERANCE,
};
use leakgauge_base::error::{Error, Result, shorten};

/// The joint distribution of another variable Z and the secret.
#[derive(Debug, Clone, PartialEq)]
pub struct Correlation {
    values: Vec<String>,
    secrets: usize,
    /// Row-major: P(z, s), one row for each value of Z.
    joint: Vec<f64>,
}

/// A question about another variable.
#[derive(Debug, Clone, PartialEq)]
pub struct Correlated {
    /// How it depends on the secret.
    pub with: Correlation,
    /// A gain of guesses of it.
    pub gain: Option<Payoff>,
    /// A loss of guesses of it.
    pub loss: Option<Payoff>,
}

/// What the channel says about another variable.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CorrelatedFigures {
    /// The values of the variable.
    pub values: Vec<String>,
    /// Their probabilities.
    pub prior: Vec<f64>,
    /// The figures of guessing the variable.
    #[serde(flatten)]
    pub at_prior: PriorFigures,
    /// Figures under the given gain.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gain: Option<GainFigures>,
    /// Figures under the given loss.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub loss: Option<LossFigures>,
}

impl Correlation {
    /// A property, a function of the secret: the value of every secret, in the order of the secrets.
    ///
    /// # Errors
    /// The prior is over another number of secrets, or all secrets have the same value.
    pub fn of_property(of_secret: &[String], prior: &Prior) -> Result<Correlation> {
        prior.check_over(of_secret.len())?;
        let mut seen = HashSet::new();
        let values = of_secret.iter().filter(|value| seen.insert(value.as_str()));
        let values: Vec<String> = values.cloned().collect();
        if values.len() < 2 {
            return Err(Error::parameter(
                "property",
                format!(
                    "has the value {} for every secret",
                    shorten(&values.join(""))
                ),
            )
            .with_hint("a property needs at least two values, else there is nothing to guess"));
        }
        check_size(values.len(), of_secret.len())?;
        let share = |value: &String| -> Vec<f64> {
            let secrets = of_secret.iter().zip(prior.weights());
            secrets
                .map(|(of, weight)| if of == value { *weight } else { 0.0 })
                .collect()
        };
        Ok(Correlation {
            joint: values.iter().flat_map(share).collect(),
            secrets: of_secret.len(),
            values,
        })
    }

    /// A correlation as a matrix, one row for each value of the variable, one column for each secret: the joint
    /// distribution if all entries sum to 1, P(z given s) if every column does. Returns the prior of the secrets too.
    ///
    /// # Errors
    /// The columns are not the secrets; an entry is negative; neither sum is 1; the joint distribution has another prior
    /// than the one that is given; P(z given s) comes without a prior.
    pub fn of_table(
        table: &PayoffTable,
        secrets: &[String],
        prior: Option<&Prior>,
    ) -> Result<(Correlation, Prior)> {
        let hint =
            "a correlation has one row per value of the other variable and one column per secret";
        let mut joint = table.for_secrets(secrets, hint)?;
        let n = secrets.len();
        let wrong = |problem: String| Error::file(&table.name, problem);
        if let Some(RowProblem::Negative { value, .. } | RowProblem::NotFinite { value, .. }) =
            RowProblem::find_entry(&joint)
        {
            return Err(wrong(format!(
                "has the entry {value}, which is no probability"
            )));
        }
        if table.guesses.len() < 2 {
            return Err(wrong(
                "has one row; the other variable needs at least two values".to_owned(),
            ));
        }
        let sums: Vec<f64> = (0..n)
            .map(|s| joint.iter().skip(s).step_by(n).sum())
            .collect();
        let is_one = |sum: &f64| (sum - 1.0).abs() <= SUM_TOLERANCE;
        let whole: f64 = sums.iter().sum();
        let prior = if is_one(&whole) {
            agreed(&table.name, sums, prior)?
        } else if sums.iter().all(is_one) {
            let prior = prior.cloned().unwrap_or_else(|| Prior::uniform(n));
            let weights = prior.weights().iter().zip(&sums).map(|(w, sum)| w / sum);
            let weights: Vec<f64> = weights.collect();
            joint.chunks_exact_mut(n).for_each(|row| {
                row.iter_mut().zip(&weights).for_each(|(p, w)| *p *= w);
            });
            prior
        } else {
            return Err(wrong(format!(
                "is no correlation: all entries sum to {whole}, and not every column sums to 1"
            ))
            .with_hint(
                "write joint probabilities, which sum to 1 together, or P(other given secret), where every column \
                 sums to 1; rows that sum to 1 need the probability of the other value as a factor",
            ));
        };
        let correlation = Correlation {
            values: table.guesses.clone(),
            secrets: n,
            joint,
        };
        Ok((correlation, prior))
    }

    /// The values of the variable.
    pub fn values(&self) -> &[String] {
        &self.values
    }

    /// The channel from the variable to the observation, P(o given z) = Σ_s P(s given z) C\[s, o\], and the prior of
    /// the variable. The row of a value of probability 0, which no figure reads, is that of any secret.
    ///
    /// # Errors
    /// Another number of secrets, or two values with the same name.
    pub fn channel(&self, channel: &Channel) -> Result<(Channel, Prior)> {
        let (n, width) = (self.secrets, channel.observations().len());
        if channel.secrets().len() != n {
            let problem = format!(
                "is over {n} secrets, the channel has {}",
                channel.secrets().len()
            );
            return Err(Error::parameter("correlation", problem));
        }
        check_size(self.values.len(), width)?;
        let mut rows = Vec::with_capacity(self.values.len() * width);
        let mut weights = Vec::with_capacity(self.values.len());
        for shares in self.joint.chunks_exact(n) {
            let weight: f64 = shares.iter().sum();
            weights.push(weight);
            if weight == 0.0 {
                rows.extend_from_slice(channel.row(0));
                continue;
            }
            let mut row = vec![0.0; width];
            for (share, secret) in shares.iter().zip(channel.rows()) {
                row.iter_mut()
                    .zip(secret)
                    .for_each(|(sum, p)| *sum += share / weight * p);
            }
            rows.extend(row);
        }
        let observations = channel.observations().to_vec();
        let of = Channel::new(self.values.clone(), observations, rows)?;
        Ok((of, Prior::new(weights)?))
    }
}

impl Correlated {
    /// Dalenius leakage: what the channel says about a variable that is correlated with the secret.
    ///
    /// # Formula
    /// The figures of the channel P(o given z) at the prior of Z. The multiplicative leakage is at most ML×, and the mutual
    /// information at most that of the secret, as Z, secret and observation are a Markov chain.
    ///
    /// # Errors
    /// Another number of secrets, or a gain or loss of other values.
    ///
    /// # References
    /// N. E. Bordenabe, G. Smith, *Correlated secrets in quantitative information flow*, doi:10.1109/CSF.2016.14; Alvim et
    /// al., *The Science of Quantitative Information Flow*, chapter 10.
    pub fn figures(&self, channel: &Channel) -> Result<CorrelatedFigures> {
        let (of, prior) = self.with.channel(channel)?;
        Ok(CorrelatedFigures {
            values: self.with.values.clone(),
            at_prior: prior_figures(&of, &prior)?,
            gain: gain_figures(&of, &prior, self.gain.as_ref())?,
            loss: loss_figures(&of, &prior, self.loss.as_ref())?,
            prior: prior.weights().to_vec(),
        })
    }
}

/// The prior of a joint distribution, which must be the one that is given.
fn agreed(name: &str, sums: Vec<f64>, given: Option<&Prior>) -> Result<Prior> {
    let differs = |given: &&Prior| {
        let mut pairs = given.weights().iter().zip(&sums);
        pairs.any(|(given, sum)| (given - sum).abs() > SUM_TOLERANCE)
    };
    match given.filter(differs) {
        None => Prior::new(sums),
        Some(_) => Err(Error::file(
            name,
            "is a joint distribution, whose columns give the secrets another prior than the given one",
        )
        .with_hint("leave the prior out, or write P(other given secret), where every column sums to 1")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::extreme::Extreme;

    fn names<const N: usize>(names: [&str; N]) -> Vec<String> {
        names.map(str::to_owned).to_vec()
    }

    fn channel() -> Channel {
        let rows = vec![0.5, 0.3, 0.2, 0.1, 0.6, 0.3, 0.25, 0.25, 0.5];
        Channel::new(names(["a", "b", "c"]), names(["x", "y", "z"]), rows).unwrap()
    }

    fn table(values: &[f64]) -> PayoffTable {
        PayoffTable {
            name: "other.csv".to_owned(),
            columns: Some(names(["c", "a", "b"])),
            guesses: super::super::numbered(values.len() / 3),
            values: values.to_vec(),
            may_have_header: false,
        }
    }

    /// Σ_o max over the values of the variable of Σ_s P(z, s) C\[s, o\], written out for a property.
    #[test]
    fn a_property_is_guessed_by_the_sums_over_its_secrets() {
        let prior = Prior::new(vec![0.2, 0.5, 0.3]).unwrap();
        let with = Correlation::of_property(&names(["odd", "even", "odd"]), &prior).unwrap();
        assert_eq!(with.values(), ["odd", "even"]);
        let about = Correlated {
            with,
            gain: None,
            loss: None,
        };
        let found = about.figures(&channel()).unwrap();
        assert_eq!(found.prior, [0.5, 0.5]);
        // a and c: 0.1 + 0.075, 0.06 + 0.075, 0.04 + 0.15; b: 0.05, 0.3, 0.15.
        assert!((found.at_prior.vulnerability - (0.175 + 0.3 + 0.19)).abs() < 1e-15);
        assert!((found.at_prior.additive_leakage - 0.165).abs() < 1e-15);
        let joint = [[0.175, 0.135, 0.19], [0.05, 0.3, 0.15]];
        let cell = |p: f64, q: f64| p * (p / (0.5 * q)).ln();
        let information: f64 = (0..3)
            .map(|o| {
                let q = joint[0][o] + joint[1][o];
                cell(joint[0][o], q) + cell(joint[1][o], q)
            })
            .sum();
        assert!((found.at_prior.mutual_information - information).abs() < 1e-15);
        assert!(Correlation::of_property(&names(["x", "x", "x"]), &prior).is_err());
    }

    /// The same correlation, joint and given the secret, and the limits of the documentation.
    #[test]
    fn joint_and_conditional_matrices_say_the_same_and_leak_at_most_the_capacities() {
        let prior = Prior::new(vec![0.2, 0.5, 0.3]).unwrap();
        // Columns c, a, b.
        let given = table(&[0.1, 0.75, 0.4, 0.9, 0.25, 0.6]);
        let joint = table(&[0.03, 0.15, 0.2, 0.27, 0.05, 0.3]);
        let secrets = channel().secrets().to_vec();
        let (one, of_one) = Correlation::of_table(&given, &secrets, Some(&prior)).unwrap();
        let (other, of_other) = Correlation::of_table(&joint, &secrets, None).unwrap();
        for (x, y) in one.joint.iter().zip(&other.joint) {
            assert!((x - y).abs() < 1e-15);
        }
        for (x, y) in of_one.weights().iter().zip(of_other.weights()) {
            assert!((x - y).abs() < 1e-15);
        }
        let gain = Payoff::new(names(["1", "2"]), 2, vec![2.0, 0.0, 0.0, 1.0]).unwrap();
        let about = Correlated {
            with: one,
            gain: Some(gain),
            loss: None,
        };
        let found = about.figures(&channel()).unwrap();
        // P(z, o), written out: the first value with a 0.15, b 0.2, c 0.03.
        let first = |o: usize| {
            let rows = [(0, 0.15), (1, 0.2), (2, 0.03)];
            rows.iter()
                .map(|(s, p)| p * channel().row(*s)[o])
                .sum::<f64>()
        };
        let second = |o: usize| {
            let rows = [(0, 0.05), (1, 0.3), (2, 0.27)];
            rows.iter()
                .map(|(s, p)| p * channel().row(*s)[o])
                .sum::<f64>()
        };
        let best: f64 = (0..3).map(|o| first(o).at_least(second(o))).sum();
        assert!((found.at_prior.vulnerability - best).abs() < 1e-15);
        let doubled: f64 = (0..3).map(|o| (2.0 * first(o)).at_least(second(o))).sum();
        assert!((found.gain.unwrap().vulnerability - doubled).abs() < 1e-15);
        let secret = channel().mutual_information(&prior).unwrap();
        assert!(found.at_prior.mutual_information <= secret);
        assert!(found.at_prior.multiplicative_leakage <= channel().multiplicative_capacity());
    }

    #[test]
    fn what_is_no_correlation_is_refused_with_what_to_write() {
        let secrets = channel().secrets().to_vec();
        let refused = |values: &[f64], prior: Option<&Prior>| {
            let error = Correlation::of_table(&table(values), &secrets, prior).unwrap_err();
            error.to_string()
        };
        let rows = refused(&[0.2, 0.3, 0.5, 0.1, 0.1, 0.8], None);
        assert!(
            rows.contains("sum to 2") && rows.contains("every column"),
            "{rows}"
        );
        assert!(refused(&[-0.5, 0.5, 0.5, 0.5, 0.0, 0.0], None).contains("-0.5"));
        let joint = [0.03, 0.15, 0.2, 0.27, 0.05, 0.3];
        assert!(refused(&joint, Some(&Prior::uniform(3))).contains("another prior"));
        assert!(refused(&[1.0, 1.0, 1.0], None).contains("one row"));
    }

    /// A value that never occurs changes nothing.
    #[test]
    fn values_of_probability_zero_are_never_guessed() {
        let prior = Prior::new(vec![0.5, 0.5, 0.0]).unwrap();
        let with = Correlation::of_property(&names(["p", "q", "r"]), &prior).unwrap();
        let about = Correlated {
            with,
            gain: None,
            loss: None,
        };
        let found = about.figures(&channel()).unwrap();
        let secret = channel().vulnerability(&prior).unwrap();
        assert!((found.at_prior.vulnerability - secret).abs() < 1e-15);
    }
}
