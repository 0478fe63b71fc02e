//! The linear program and its dual.

use crate::extreme::Extreme;
use microlp::{ComparisonOp, OptimizationDirection, Problem, Variable};

use super::Wanted;
use leakgauge_base::error::{Error, Result};

/// The largest factor between probabilities that a constraint of the program has. What is larger binds no solution by more
/// than the solver's tolerance; the repair keeps it.
const LARGEST_FACTOR: f64 = 1e12;
/// The part of a distance below which a stop on the way counts as no stop.
const STOP: f64 = 1e-9;

/// X_s ≤ factor·X_t, for every answer.
#[derive(Debug, Clone, Copy)]
pub(super) struct Edge {
    from: usize,
    to: usize,
    factor: f64,
}

/// The program min Σ π_s ℓ(w, s) C\[s, w\] under edges between rows; each row of a secret sums to 1.
pub(super) struct Program<'w> {
    wanted: &'w Wanted,
    edges: Vec<Edge>,
    /// The rows: one for each secret and, where all distances are the same, one of the least probabilities.
    rows: usize,
}

/// The constraints that imply all. Of equal distances those against the least probability of each column, a row of its own
/// after the secrets; else those between secrets without another one on the way.
pub(super) fn edges(wanted: &Wanted) -> Vec<Edge> {
    let n = wanted.secrets.len();
    if wanted.distances.is_none() {
        let factor = wanted.epsilon.exp();
        let of = |s| {
            let below = Edge {
                from: n,
                to: s,
                factor: 1.0,
            };
            let above = Edge {
                from: s,
                to: n,
                factor,
            };
            [below, above]
        };
        return (0..n)
            .flat_map(of)
            .filter(|edge| edge.factor <= LARGEST_FACTOR)
            .collect();
    }
    let distance = |s, t| wanted.distance(s, t);
    let is_direct = |&(s, t): &(usize, usize)| {
        let whole = distance(s, t);
        let stops = |u: usize| {
            let (first, second) = (distance(s, u), distance(u, t));
            let apart = first > STOP * whole && second > STOP * whole;
            u != s && u != t && apart && first + second <= whole * (1.0 + 1e-12)
        };
        s != t && !(0..n).any(stops)
    };
    let pairs = (0..n).flat_map(|s| (0..n).map(move |t| (s, t)));
    let edge = |(s, t)| Edge {
        from: s,
        to: t,
        factor: wanted.loss_limit(s, t).exp(),
    };
    let edges = pairs.filter(is_direct).map(edge);
    edges.filter(|edge| edge.factor <= LARGEST_FACTOR).collect()
}

impl<'w> Program<'w> {
    pub(super) fn of(wanted: &'w Wanted) -> Program<'w> {
        let n = wanted.secrets.len();
        Program {
            wanted,
            edges: edges(wanted),
            rows: n + usize::from(wanted.distances.is_none()),
        }
    }

    fn cost(&self, row: usize, answer: usize) -> f64 {
        match row < self.wanted.secrets.len() {
            true => self.wanted.weighted(answer, row),
            false => 0.0,
        }
    }

    /// C as the solver finds it, one row for each secret.
    pub(super) fn primal(&self) -> Result<Vec<Vec<f64>>> {
        let (n, m) = (self.wanted.secrets.len(), self.wanted.answers.len());
        let mut problem = Problem::new(OptimizationDirection::Minimize);
        let rows: Vec<Vec<Variable>> = (0..self.rows)
            .map(|row| {
                (0..m)
                    .map(|w| problem.add_var(self.cost(row, w), (0.0, 1.0)))
                    .collect()
            })
            .collect();
        for row in &rows[..n] {
            let whole: Vec<(Variable, f64)> = row.iter().map(|&p| (p, 1.0)).collect();
            problem.add_constraint(whole, ComparisonOp::Eq, 1.0);
        }
        for edge in &self.edges {
            for (&x, &y) in rows[edge.from].iter().zip(&rows[edge.to]) {
                problem.add_constraint([(x, 1.0), (y, -edge.factor)], ComparisonOp::Le, 0.0);
            }
        }
        let solution = problem.solve().map_err(|_| {
            Error::parameter(
                "loss matrix",
                "the linear program could not be solved in double precision",
            )
        })?;
        let values = |row: &Vec<Variable>| row.iter().map(|p| solution[*p]).collect();
        Ok(rows[..n].iter().map(values).collect())
    }

    /// The expected loss of every mechanism is at least this: minus infinity where the dual program has no solution in
    /// double precision.
    ///
    /// Multipliers λ_s of the sums of the rows and μ ≥ 0 of the edges give Σ_s λ_s where no entry has a negative reduced
    /// cost, and every λ_s may be lowered until that is so.
    pub(super) fn at_least(&self) -> f64 {
        match self.dual() {
            Some((lambda, mu)) => self.feasible(lambda, mu),
            None => f64::NEG_INFINITY,
        }
    }

    fn dual(&self) -> Option<(Vec<f64>, Vec<f64>)> {
        let (n, m) = (self.wanted.secrets.len(), self.wanted.answers.len());
        let mut problem = Problem::new(OptimizationDirection::Maximize);
        let free = (f64::NEG_INFINITY, f64::INFINITY);
        let lambda: Vec<Variable> = (0..n).map(|_| problem.add_var(1.0, free)).collect();
        let mu: Vec<Variable> = (0..self.edges.len() * m)
            .map(|_| problem.add_var(0.0, (0.0, f64::INFINITY)))
            .collect();
        for row in 0..self.rows {
            for w in 0..m {
                let mut terms: Vec<(Variable, f64)> =
                    lambda.get(row).map(|&l| (l, 1.0)).into_iter().collect();
                for (at, edge) in self.edges.iter().enumerate() {
                    if edge.from == row {
                        terms.push((mu[at * m + w], -1.0));
                    } else if edge.to == row {
                        terms.push((mu[at * m + w], edge.factor));
                    }
                }
                problem.add_constraint(terms, ComparisonOp::Le, self.cost(row, w));
            }
        }
        let solution = problem.solve().ok()?;
        let lambda = lambda.iter().map(|l| solution[*l]).collect();
        let mu = mu.iter().map(|x| solution[*x].at_least(0.0)).collect();
        Some((lambda, mu))
    }

    /// Σ_s λ_s after the multipliers are made feasible, less what rounding may add.
    fn feasible(&self, mut lambda: Vec<f64>, mut mu: Vec<f64>) -> f64 {
        let (n, m) = (self.wanted.secrets.len(), self.wanted.answers.len());
        let mut size = 1.0;
        for w in 0..m {
            // The row without a sum first: its deficit goes to the first secret, whose λ pays.
            for row in (0..self.rows).rev() {
                let (mut left, mut whole) = (self.cost(row, w), self.cost(row, w).abs());
                for (at, edge) in self.edges.iter().enumerate() {
                    let term = match row {
                        _ if edge.from == row => mu[at * m + w],
                        _ if edge.to == row => -edge.factor * mu[at * m + w],
                        _ => continue,
                    };
                    left += term;
                    whole += term.abs();
                }
                let rounding = 4.0 * f64::EPSILON * (self.edges.len() + 2) as f64 * whole;
                left -= rounding;
                size = whole.at_least(size);
                if row < n {
                    lambda[row] = lambda[row].at_most(left);
                } else if left < 0.0
                    && let Some(at) = self.edges.iter().position(|edge| edge.from == row)
                {
                    mu[at * m + w] -= left * (1.0 + 4.0 * f64::EPSILON);
                }
            }
        }
        let sum: f64 = lambda.iter().sum();
        sum - 4.0 * f64::EPSILON * (n + 1) as f64 * size
    }
}
