//! Branch and bound over what an attacker guesses after each observation.

use crate::extreme::Extreme;
use microlp::{ComparisonOp, OptimizationDirection, Problem, Variable};
use std::cmp::Ordering;
use std::collections::BinaryHeap;

use crate::channel::Payoff;

/// The largest number of linear programs, for small ones.
const MOST_PROGRAMS: f64 = 5_000.0;
/// The entries of all their matrices.
const MOST_ENTRIES: f64 = 2e6;
/// The terms of all vulnerabilities that are computed.
const MOST_TERMS: f64 = 2e9;
/// How often a prior and a strategy are improved in turn.
const TURNS: usize = 30;
/// The pairs of secrets whose uniform prior is tried.
const PAIRS: usize = 500;
/// The part of the largest gain by which both limits may differ at the end.
const GAP: f64 = 1e-10;

/// A channel and a gain.
pub(super) struct Question {
    columns: Vec<Vec<f64>>,
    /// One row for each guess that no other one dominates; the least gain of every secret is 0.
    gain: Vec<Vec<f64>>,
    secrets: usize,
}

impl Question {
    /// From the columns of the channel. Gains are moved by a number for each secret, which changes no additive leakage.
    pub(super) fn new(columns: Vec<Vec<f64>>, gain: &Payoff, secrets: usize) -> Question {
        let rows: Vec<&[f64]> = gain.values().chunks(secrets).collect();
        let least = |s: usize| {
            rows.iter()
                .map(|row| row[s])
                .fold(f64::INFINITY, f64::at_most)
        };
        let least: Vec<f64> = (0..secrets).map(least).collect();
        let moved =
            |row: &&[f64]| -> Vec<f64> { row.iter().zip(&least).map(|(g, m)| g - m).collect() };
        let mut gain: Vec<Vec<f64>> = rows.iter().map(moved).collect();
        gain.sort_by(|x, y| y.partial_cmp(x).unwrap_or(Ordering::Equal));
        gain.dedup();
        let below = |x: &[f64], y: &[f64]| x != y && x.iter().zip(y).all(|(x, y)| x <= y);
        let kept = gain
            .iter()
            .filter(|row| !gain.iter().any(|other| below(row, other)));
        let kept = kept.cloned().collect();
        Question {
            columns,
            gain: kept,
            secrets,
        }
    }

    pub(super) fn columns(&self) -> &[Vec<f64>] {
        &self.columns
    }

    /// The largest gain.
    pub(super) fn largest_gain(&self) -> f64 {
        let all = self.gain.iter().flatten().copied();
        all.fold(0.0, f64::at_least)
    }

    /// What rounding may add to a vulnerability.
    pub(super) fn rounding(&self) -> f64 {
        let terms = self.columns.len() + self.secrets + self.gain.len();
        2.0 * f64::EPSILON * (4 + terms) as f64 * self.largest_gain()
    }

    /// The gain of a right guess, where the guess is the secret and a wrong one gains nothing.
    pub(super) fn guesses_the_secret(&self) -> Option<f64> {
        let gains = |row: &[f64]| {
            let mut right = row.iter().enumerate().filter(|(_, g)| **g != 0.0);
            right
                .next()
                .filter(|_| right.next().is_none())
                .map(|(s, g)| (s, *g))
        };
        let mut found: Vec<(usize, f64)> = self
            .gain
            .iter()
            .map(|row| gains(row))
            .collect::<Option<_>>()?;
        found.sort_by_key(|(s, _)| *s);
        found.dedup_by_key(|(s, _)| *s);
        let scale = found.first()?.1;
        let same = found.iter().all(|(_, g)| *g == scale);
        (same && found.len() == self.secrets && self.gain.len() == self.secrets).then_some(scale)
    }

    /// Σ_s π_s C\[s,o\] g(w, s).
    fn expected(&self, prior: &[f64], o: usize, guess: &[f64]) -> f64 {
        let secrets = prior.iter().zip(&self.columns[o]).zip(guess);
        secrets.map(|((p, c), g)| p * c * g).sum()
    }

    /// The best guess after an observation, and its share of the vulnerability.
    fn best(&self, prior: &[f64], o: usize) -> (usize, f64) {
        let each = self.gain.iter().map(|guess| self.expected(prior, o, guess));
        let first = (0, f64::NEG_INFINITY);
        each.enumerate().fold(
            first,
            |best, next| if next.1 > best.1 { next } else { best },
        )
    }

    /// The additive leakage at a prior.
    fn leakage(&self, prior: &[f64]) -> f64 {
        let after: f64 = (0..self.columns.len()).map(|o| self.best(prior, o).1).sum();
        let blind = |guess: &Vec<f64>| prior.iter().zip(guess).map(|(p, g)| p * g).sum();
        let before = self
            .gain
            .iter()
            .map(blind)
            .fold(f64::NEG_INFINITY, f64::at_least);
        after - before
    }

    /// What every secret gains if these guesses are made; where none is, the best one for that secret.
    fn payoffs(&self, guesses: &[Option<usize>]) -> Vec<f64> {
        let most = |s: usize| self.gain.iter().map(|row| row[s]).fold(0.0, f64::at_least);
        let of = |s: usize| {
            let best = most(s);
            let each = self.columns.iter().zip(guesses);
            each.map(|(column, guess)| column[s] * guess.map_or(best, |w| self.gain[w][s]))
                .sum()
        };
        (0..self.secrets).map(of).collect()
    }

    /// max_π min_μ Σ_s π_s (payoff_s − Σ_w μ_w g(w, s)) is at most this, whatever the solver did: the value for the
    /// mixture that it found.
    fn at_most(&self, payoffs: &[f64]) -> f64 {
        let mut problem = Problem::new(OptimizationDirection::Minimize);
        let value = problem.add_var(1.0, (f64::NEG_INFINITY, f64::INFINITY));
        let mixture: Vec<Variable> = self
            .gain
            .iter()
            .map(|_| problem.add_var(0.0, (0.0, 1.0)))
            .collect();
        let whole: Vec<(Variable, f64)> = mixture.iter().map(|&w| (w, 1.0)).collect();
        problem.add_constraint(whole, ComparisonOp::Eq, 1.0);
        for (s, &payoff) in payoffs.iter().enumerate() {
            let blind = mixture
                .iter()
                .zip(&self.gain)
                .filter(|(_, row)| row[s] > 0.0);
            let mut terms: Vec<(Variable, f64)> = blind.map(|(&w, row)| (w, row[s])).collect();
            terms.push((value, 1.0));
            problem.add_constraint(terms, ComparisonOp::Ge, payoff);
        }
        let weights: Vec<f64> = match problem.solve() {
            Ok(solution) => mixture.iter().map(|w| solution[*w].at_least(0.0)).collect(),
            Err(_) => vec![1.0; self.gain.len()],
        };
        let found: f64 = weights.iter().sum();
        let (weights, sum) = match found > 0.0 {
            true => (weights, found),
            false => (vec![1.0; self.gain.len()], self.gain.len() as f64),
        };
        let left = |(s, payoff): (usize, &f64)| {
            let each = weights.iter().zip(&self.gain);
            payoff - each.map(|(w, row)| w / sum * row[s]).sum::<f64>()
        };
        payoffs
            .iter()
            .enumerate()
            .map(left)
            .fold(f64::NEG_INFINITY, f64::at_least)
    }

    /// The prior that is worst for who defends against these payoffs.
    fn worst_prior(&self, payoffs: &[f64]) -> Option<Vec<f64>> {
        let mut problem = Problem::new(OptimizationDirection::Maximize);
        let blind = problem.add_var(-1.0, (0.0, f64::INFINITY));
        let prior: Vec<Variable> = payoffs
            .iter()
            .map(|&payoff| problem.add_var(payoff, (0.0, 1.0)))
            .collect();
        let whole: Vec<(Variable, f64)> = prior.iter().map(|&p| (p, 1.0)).collect();
        problem.add_constraint(whole, ComparisonOp::Eq, 1.0);
        for row in &self.gain {
            let gains = prior.iter().zip(row).filter(|(_, g)| **g > 0.0);
            let mut terms: Vec<(Variable, f64)> = gains.map(|(&p, &g)| (p, g)).collect();
            terms.push((blind, -1.0));
            problem.add_constraint(terms, ComparisonOp::Le, 0.0);
        }
        let solution = problem.solve().ok()?;
        let weights: Vec<f64> = prior.iter().map(|p| solution[*p].at_least(0.0)).collect();
        let sum: f64 = weights.iter().sum();
        (sum > 0.0).then(|| weights.iter().map(|p| p / sum).collect())
    }
}

/// The best prior that was found.
struct Best {
    leakage: f64,
    prior: Vec<f64>,
    /// The largest limit of a single strategy whose own prior attains less.
    missed: f64,
}

impl Best {
    fn look_at(&mut self, question: &Question, prior: &[f64]) {
        let leakage = question.leakage(prior);
        if leakage > self.leakage {
            self.leakage = leakage;
            self.prior = prior.to_vec();
        }
    }

    /// The best strategy at a prior, the worst prior for that strategy, and so on.
    fn climb(&mut self, question: &Question, prior: &[f64]) {
        self.look_at(question, prior);
        let mut at = prior.to_vec();
        for _ in 0..TURNS {
            let before = question.leakage(&at);
            let best = (0..question.columns.len()).map(|o| Some(question.best(&at, o).0));
            let Some(next) = question.worst_prior(&question.payoffs(&best.collect::<Vec<_>>()))
            else {
                return;
            };
            self.look_at(question, &next);
            if question.leakage(&next) <= before + f64::EPSILON {
                return;
            }
            at = next;
        }
    }
}

/// A part of the strategies: those that make these guesses.
struct Node {
    limit: f64,
    guesses: Vec<Option<usize>>,
}

impl PartialEq for Node {
    fn eq(&self, other: &Node) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Node {}

impl PartialOrd for Node {
    fn partial_cmp(&self, other: &Node) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Node {
    fn cmp(&self, other: &Node) -> Ordering {
        let by_limit = self.limit.total_cmp(&other.limit);
        by_limit.then_with(|| self.guesses.cmp(&other.guesses))
    }
}

/// Limits of the largest additive leakage, and the prior of the lower one. The search ends when both are `limit` or
/// each other, or after a fixed amount of work.
pub(super) fn search(question: &Question, start: &[f64], limit: f64) -> (f64, f64, Vec<f64>) {
    let n = question.secrets;
    let mut best = Best {
        leakage: 0.0,
        prior: start.to_vec(),
        missed: 0.0,
    };
    best.climb(question, start);
    best.climb(question, &vec![1.0 / n as f64; n]);
    let pairs = (0..n).flat_map(|a| (a + 1..n).map(move |b| (a, b)));
    for (a, b) in pairs.take(PAIRS) {
        let mut pair = vec![0.0; n];
        (pair[a], pair[b]) = (0.5, 0.5);
        best.look_at(question, &pair);
    }
    let from = best.prior.clone();
    best.climb(question, &from);
    let gap = GAP * question.largest_gain();
    let entries = (n * question.gain.len()) as f64;
    let terms = entries * question.columns.len() as f64;
    let most = MOST_PROGRAMS
        .at_most(MOST_ENTRIES / entries)
        .at_most(MOST_TERMS / terms);
    let nothing = vec![None; question.columns.len()];
    let mut open = BinaryHeap::new();
    open.push(Node {
        limit: question.at_most(&question.payoffs(&nothing)).at_most(limit),
        guesses: nothing,
    });
    let mut programs = 1.0;
    while let Some(node) = open.pop() {
        if node.limit <= best.leakage + gap || limit <= best.leakage + gap {
            break;
        }
        if programs >= most {
            let upper = node.limit.at_least(best.missed);
            return (best.leakage, upper, best.prior);
        }
        programs += expand(question, &node, &mut best, &mut open, gap);
    }
    let upper = (best.leakage + gap).at_least(best.missed);
    (best.leakage, upper, best.prior)
}

/// Adds the parts of a part, one for each guess after the observation that its limit flatters most. Returns how many
/// linear programs it took.
fn expand(
    question: &Question,
    node: &Node,
    best: &mut Best,
    open: &mut BinaryHeap<Node>,
    gap: f64,
) -> f64 {
    let payoffs = question.payoffs(&node.guesses);
    let n = question.secrets;
    let prior = question.worst_prior(&payoffs);
    let prior = prior.unwrap_or_else(|| vec![1.0 / n as f64; n]);
    best.look_at(question, &prior);
    let most: Vec<f64> = (0..n)
        .map(|s| {
            question
                .gain
                .iter()
                .map(|row| row[s])
                .fold(0.0, f64::at_least)
        })
        .collect();
    let flattered = |o: usize| question.expected(&prior, o, &most) - question.best(&prior, o).1;
    let free = (0..node.guesses.len()).filter(|&o| node.guesses[o].is_none());
    let Some((_, at)) = free
        .map(|o| (flattered(o), o))
        .max_by(|x, y| x.0.total_cmp(&y.0).then(y.1.cmp(&x.1)))
    else {
        // Every guess is made: the limit is that of one game, whose solution the solver missed by a little.
        best.missed = best.missed.at_least(node.limit);
        return 1.0;
    };
    let mut programs = 1.0;
    for guess in 0..question.gain.len() {
        let mut guesses = node.guesses.clone();
        guesses[at] = Some(guess);
        let limit = question
            .at_most(&question.payoffs(&guesses))
            .at_most(node.limit);
        programs += 1.0;
        if limit > best.leakage + gap {
            open.push(Node { limit, guesses });
        }
    }
    programs
}
