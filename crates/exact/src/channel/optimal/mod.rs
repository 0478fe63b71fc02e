//! The mechanism of least expected loss under a privacy constraint, by a linear program.

use serde::Serialize;

use crate::channel::{Channel, PayoffTable, Prior, RowProblem, numbered};
use crate::extreme::Extreme;
use leakgauge_base::Tool;
use leakgauge_base::error::{Error, Result};
use leakgauge_base::naming::setting;

use program::Program;

mod program;
mod repair;

/// The largest number of variables of the linear program.
const MOST_VARIABLES: usize = 10_000;
/// The largest number of constraints.
const MOST_CONSTRAINTS: usize = 40_000;

/// What is wanted of a mechanism.
#[derive(Debug, Clone)]
pub struct Wanted {
    secrets: Vec<String>,
    answers: Vec<String>,
    /// ℓ(w, s), one row for each answer.
    loss: Vec<f64>,
    prior: Prior,
    epsilon: f64,
    /// d(s, t), row by row, closed under the triangle inequality.
    distances: Option<Vec<f64>>,
}

/// A mechanism of least expected loss.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Optimal {
    /// Version of this layout.
    pub schema_version: u32,
    /// The program.
    pub tool: Tool,
    /// The labels of the secrets, which are the rows of the matrix.
    pub secrets: Vec<String>,
    /// The labels of the answers, which are its columns.
    pub answers: Vec<String>,
    /// The prior.
    pub prior: Vec<f64>,
    /// The ε that was asked for.
    pub epsilon: f64,
    /// The distances d of the secrets with which ln C\[s,o\]/C\[t,o\] is at most ε·d(s, t); null where all are 1, which is
    /// local differential privacy.
    pub distances: Option<Vec<Vec<f64>>>,
    /// The ε of the matrix: the largest ln C\[s,o\]/C\[t,o\], divided by d(s, t).
    pub reached_epsilon: f64,
    /// The expected loss of the matrix.
    pub loss: f64,
    /// No mechanism with this ε has a smaller expected loss than this.
    pub loss_at_least: f64,
    /// The expected loss of the best answer that does not depend on the secret.
    pub constant_loss: f64,
    /// The expected loss of who answers with the secret in view.
    pub loss_without_privacy: f64,
    /// P(answer given secret), one row for each secret.
    pub matrix: Vec<Vec<f64>>,
}

impl Wanted {
    /// From a loss matrix, one row for each answer, one column for each secret, and ε of local differential privacy.
    ///
    /// # Errors
    /// Fewer than two secrets, a prior over others, or an ε that is not positive and finite.
    pub fn new(table: &PayoffTable, prior: Option<&str>, epsilon: f64) -> Result<Wanted> {
        let width = table.values.len() / table.guesses.len().max(1);
        let secrets = table.columns.clone().unwrap_or_else(|| numbered(width));
        if !(epsilon > 0.0 && epsilon.is_finite()) {
            return Err(Error::parameter(
                setting("epsilon", epsilon),
                "must be above 0 and finite",
            ));
        }
        let loss = table.bind(&secrets)?.values().to_vec();
        // A channel that tells nothing: priors are read against the names of its secrets.
        let names = Channel::new(secrets.clone(), numbered(1), vec![1.0; secrets.len()])?;
        let wanted = Wanted {
            prior: Prior::parse(prior.unwrap_or("uniform"), &names)?,
            answers: table.guesses.clone(),
            secrets,
            loss,
            epsilon,
            distances: None,
        };
        wanted.check_size(2 * wanted.secrets.len())?;
        Ok(wanted)
    }

    /// The labels of the secrets.
    pub fn secrets(&self) -> &[String] {
        &self.secrets
    }

    /// With distances between secrets, one row and one column for each: ln C\[s,o\]/C\[t,o\] is at most ε·d(s, t). Where
    /// distances do not keep the triangle inequality, the sum along the shortest way counts, which says the same.
    ///
    /// # Errors
    /// Another number of rows or columns, other names, an entry that is negative or, of a secret to itself, not 0; too
    /// many constraints.
    pub fn with_distances(mut self, table: &PayoffTable) -> Result<Wanted> {
        let hint = "a matrix of distances has one row and one column per secret";
        let n = self.secrets.len();
        let wrong = |problem: String| Error::file(&table.name, problem).with_hint(hint);
        let values = table.for_secrets(&self.secrets, hint)?;
        if table.guesses.len() != n {
            return Err(wrong(format!(
                "has {} rows for {n} secrets",
                table.guesses.len()
            )));
        }
        let place = |secret: &String| match table.columns.is_some() {
            true => table.guesses.iter().position(|row| row == secret),
            false => self.secrets.iter().position(|other| other == secret),
        };
        let places: Option<Vec<usize>> = self.secrets.iter().map(place).collect();
        let places = places.ok_or_else(|| wrong("has no row for one of the secrets".to_owned()))?;
        let rows = places.iter().flat_map(|&at| &values[at * n..(at + 1) * n]);
        let values: Vec<f64> = rows.copied().collect();
        if let Some(problem) = RowProblem::find_entry(&values) {
            let (RowProblem::Negative { value, .. } | RowProblem::NotFinite { value, .. }) =
                problem
            else {
                return Err(wrong(problem.to_string()));
            };
            return Err(wrong(format!(
                "has the entry {value}, which is no distance"
            )));
        }
        if let Some(s) = (0..n).find(|s| values[s * n + s] != 0.0) {
            let secret = &self.secrets[s];
            return Err(wrong(format!(
                "has a distance of {secret} to itself that is not 0"
            )));
        }
        self.distances = Some(closed(values, n));
        let edges = program::edges(&self).len();
        self.check_size(edges)?;
        Ok(self)
    }

    /// With |s − t| as the distances of secrets that are numbers.
    ///
    /// # Errors
    /// A secret is no number.
    pub fn with_differences(self) -> Result<Wanted> {
        let number = |secret: &String| {
            let number: Option<f64> = secret.trim().parse().ok();
            number.filter(|x| x.is_finite()).ok_or_else(|| {
                Error::parameter(
                    format!("secret {secret}"),
                    "is no number, so that it has no difference to others",
                )
                .with_hint("name the secrets by numbers in the first row of the loss matrix")
            })
        };
        let at: Vec<f64> = self.secrets.iter().map(number).collect::<Result<_>>()?;
        let distances = at
            .iter()
            .flat_map(|s| at.iter().map(move |t| (s - t).abs()));
        let table = PayoffTable {
            name: "differences".to_owned(),
            columns: Some(self.secrets.clone()),
            guesses: self.secrets.clone(),
            values: distances.collect(),
            may_have_header: false,
        };
        self.with_distances(&table)
    }

    fn check_size(&self, edges: usize) -> Result<()> {
        let (n, m) = (self.secrets.len(), self.answers.len());
        let (variables, constraints) = ((n + 1).saturating_mul(m), edges.saturating_mul(m));
        if variables <= MOST_VARIABLES && constraints <= MOST_CONSTRAINTS {
            return Ok(());
        }
        let problem = format!(
            "{n} secrets and {m} answers need a linear program of {variables} variables and {constraints} constraints; \
             the limits are {MOST_VARIABLES} and {MOST_CONSTRAINTS}"
        );
        Err(Error::parameter("loss matrix", problem).with_hint("use fewer secrets or answers"))
    }

    /// d(s, t); 1 where all secrets are alike.
    fn distance(&self, s: usize, t: usize) -> f64 {
        match &self.distances {
            Some(all) => all[s * self.secrets.len() + t],
            None => f64::from(u8::from(s != t)),
        }
    }

    /// ε·d(s, t).
    fn loss_limit(&self, s: usize, t: usize) -> f64 {
        self.epsilon * self.distance(s, t)
    }

    /// π_s ℓ(w, s).
    fn weighted(&self, answer: usize, secret: usize) -> f64 {
        self.prior.weights()[secret] * self.loss[answer * self.secrets.len() + secret]
    }

    /// Σ_s π_s Σ_w C\[s, w\] ℓ(w, s).
    fn expected_loss(&self, rows: &[Vec<f64>]) -> f64 {
        let of = |s: usize| -> f64 {
            let answers = rows[s].iter().enumerate();
            answers.map(|(w, p)| p * self.weighted(w, s)).sum()
        };
        (0..rows.len()).map(of).sum()
    }

    /// The mechanism of least expected loss Σ_s π_s Σ_w C\[s, w\] ℓ(w, s) among those with ln C\[s, w\]/C\[t, w\] ≤ ε·d(s, t).
    ///
    /// # Formula
    /// A linear program. Its solution is rounded to a matrix that keeps all constraints as computed from its entries: each
    /// entry is raised to the least value that the others of its column allow, rows are divided by their sums, and the
    /// result is mixed with as much of one row for all secrets as is needed. Any mechanism with other observations whose
    /// user decides on the best answer is such a C, as post-processing keeps the constraints.
    /// The dual program gives multipliers, which are made feasible: their value is at most the loss of every mechanism.
    ///
    /// # Errors
    /// The linear program could not be solved in double precision.
    ///
    /// # References
    /// A. Ghosh, T. Roughgarden, M. Sundararajan, *Universally utility-maximizing privacy mechanisms*,
    /// doi:10.1137/09076828X; N. E. Bordenabe, K. Chatzikokolakis, C. Palamidessi, *Optimal geo-indistinguishable
    /// mechanisms for location privacy*, doi:10.1145/2660267.2660345.
    pub fn solve(&self) -> Result<Optimal> {
        let n = self.secrets.len();
        let program = Program::of(self);
        let constant = |w: usize| (0..n).map(|s| self.weighted(w, s)).sum::<f64>();
        let answers = 0..self.answers.len();
        let constants = answers.map(|w| (w, constant(w)));
        let (answer, constant_loss) = constants
            .min_by(|x, y| x.1.total_cmp(&y.1))
            .expect("an answer at least");
        let mut matrix = repair::private(self, program.primal()?);
        // Losses of very different sizes are beyond the program: who ignores the secret may lose less than its solution.
        let solved = self.expected_loss(&matrix);
        if solved > constant_loss || solved.is_nan() {
            for row in &mut matrix {
                row.fill(0.0);
                row[answer] = 1.0;
            }
        }
        let values = matrix.iter().flatten().copied().collect();
        let channel = Channel::new(self.secrets.clone(), self.answers.clone(), values)?;
        let best = |s: usize| {
            let each = (0..self.answers.len()).map(|w| self.weighted(w, s));
            each.fold(f64::INFINITY, f64::at_most)
        };
        let without_privacy: f64 = (0..n).map(best).sum();
        let loss = self.expected_loss(&matrix);
        Ok(Optimal {
            schema_version: 1,
            tool: Tool::default(),
            secrets: self.secrets.clone(),
            answers: self.answers.clone(),
            prior: self.prior.weights().to_vec(),
            epsilon: self.epsilon,
            distances: self
                .distances
                .as_ref()
                .map(|all| all.chunks(n).map(<[f64]>::to_vec).collect()),
            reached_epsilon: match self.distances {
                None => channel.epsilon().unwrap_or(f64::INFINITY),
                Some(_) => repair::reached(self, &matrix),
            },
            loss,
            loss_at_least: program.at_least().at_least(without_privacy).at_most(loss),
            constant_loss,
            loss_without_privacy: without_privacy,
            matrix,
        })
    }
}

/// The lengths of the shortest ways.
fn closed(mut distances: Vec<f64>, n: usize) -> Vec<f64> {
    for through in 0..n {
        for s in 0..n {
            let first = distances[s * n + through];
            for t in 0..n {
                let around = first + distances[through * n + t];
                distances[s * n + t] = distances[s * n + t].at_most(around);
            }
        }
    }
    distances
}

#[cfg(test)]
mod tests;
