//! The vote of the nearest neighbors.
//!
//! # Formula
//! Of the k nearest of all fit rows, v_s = (rows of s among them)/n_s, so that secrets with more rows
//! have no more say; score_s = ln(v_s/Σv + 10⁻³·(1+R)/(1+max(r_s, R))) with R the distance of the k-th
//! and r_s that of the nearest row of s: among secrets without a vote, the nearest comes first. Rows
//! that tie for the last places share them.

use std::sync::Arc;

use crate::scorer::neighbors::{LN_FAR, Neighbors, Rank};
use crate::scorer::{Kind, Parameter, Parameters, Scorer};
use leakgauge_log::observations::{Counts, Observations};

/// What a secret without any vote keeps, at most.
const WITHOUT_VOTES: f64 = 1e-3;

/// Numbers that a search may hold at a time.
const MAX_HELD: usize = 1 << 21;

/// Scores secrets by the vote of the k nearest of all fit rows.
#[derive(Clone)]
pub struct Vote {
    name: String,
    neighbors: Arc<Neighbors>,
    /// Of all fit rows.
    rank: Rank,
}

impl Vote {
    /// A scorer with a rank chosen elsewhere; the rank is of the number of all fit rows.
    pub fn new(name: impl Into<String>, neighbors: Arc<Neighbors>, rank: Rank) -> Self {
        Vote {
            name: name.into(),
            neighbors,
            rank,
        }
    }
}

impl Neighbors {
    /// Scores by vote for each observation, secret and rank (of the number of all fit rows), from one
    /// search: the k nearest of all rows are among the k nearest of each secret. `out[j]` is
    /// row-major, observations × secrets.
    pub fn votes(
        &self,
        observations: &Observations,
        ids: &[u32],
        ranks: &[Rank],
        out: &mut [&mut [f64]],
    ) {
        let secrets = self.fit.secrets();
        let total = self.fit.total() as usize;
        let ks: Vec<usize> = ranks.iter().map(|rank| rank.neighbors(total)).collect();
        let most = ks.iter().copied().max().unwrap_or(1);
        let held: usize = self.fit.rows().iter().map(|&n| most.min(n as usize)).sum();
        let at_a_time = (MAX_HELD / held.max(1)).max(64);
        for (part, ids) in ids.chunks(at_a_time).enumerate() {
            let mut ballots = vec![Vec::with_capacity(held); ids.len()];
            for secret in (0..secrets).filter(|&secret| self.fit.rows()[secret] > 0) {
                self.nearest(observations, ids, secret, most, &mut |row, keys| {
                    let cast = keys.iter().map(|&key| (key, secret as u32));
                    ballots[row].extend(cast);
                });
            }
            for (row, ballots) in ballots.iter_mut().enumerate() {
                ballots.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
                let at = (part * at_a_time + row) * secrets;
                for (out, &k) in out.iter_mut().zip(&ks) {
                    self.count_votes(ballots, k, &mut out[at..at + secrets]);
                }
            }
        }
    }

    /// Turns rows by ascending key, with their secrets, into scores.
    fn count_votes(&self, ballots: &[(f64, u32)], k: usize, scores: &mut [f64]) {
        let rows = self.fit.rows();
        let last = ballots.get(k.min(ballots.len()).wrapping_sub(1));
        let radius = last.map_or(f64::INFINITY, |last| last.0);
        let inside = ballots.partition_point(|ballot| ballot.0 < radius);
        let within = ballots.partition_point(|ballot| ballot.0 <= radius);
        let share = (k.min(ballots.len()) - inside) as f64 / (within - inside).max(1) as f64;
        scores.fill(0.0);
        for (place, &(_, secret)) in ballots[..within].iter().enumerate() {
            let weight = if place < inside { 1.0 } else { share };
            scores[secret as usize] += weight / rows[secret as usize] as f64;
        }
        let votes = scores.iter().sum::<f64>().max(f64::MIN_POSITIVE);
        let mut nearest = vec![LN_FAR.exp(); scores.len()];
        for &(key, secret) in ballots.iter().rev() {
            nearest[secret as usize] = self.metric.distance(key);
        }
        let radius = self.metric.distance(radius.min(f64::MAX));
        for (score, near) in scores.iter_mut().zip(nearest) {
            let kept = WITHOUT_VOTES * (1.0 + radius) / (1.0 + near.max(radius));
            *score = (*score / votes + kept).ln();
        }
    }
}

impl Scorer for Vote {
    fn name(&self) -> &str {
        &self.name
    }

    fn parameters(&self) -> Parameters {
        let k = self.rank.neighbors(self.neighbors.fit.total() as usize);
        let k = ("k".to_owned(), Parameter::Count(k as u64));
        self.neighbors.words().chain([k]).collect()
    }

    fn description(&self) -> String {
        let k = self.rank.neighbors(self.neighbors.fit.total() as usize);
        format!(
            "vote of the {k} nearest rows{}",
            self.neighbors.description()
        )
    }

    fn kinds(&self) -> Vec<Kind> {
        vec![self.neighbors.kind()]
    }

    fn index(&self) -> Option<&'static str> {
        Some(self.neighbors.index_name())
    }

    fn score(&self, observations: &Observations, ids: &[u32], scores: &mut [f64]) {
        self.neighbors
            .votes(observations, ids, &[self.rank], &mut [scores]);
    }

    fn refit(&self, observations: &Observations, fit: &Counts) -> Result<Arc<dyn Scorer>, String> {
        Ok(Arc::new(Vote {
            neighbors: Arc::new(self.neighbors.refit(observations, fit)?),
            ..self.clone()
        }))
    }
}
