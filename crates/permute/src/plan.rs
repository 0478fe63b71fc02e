//! The shuffler: groups, reference order and dispersion, which do not depend on the values.

use super::groups::Groups;
use super::order::{Order, OrderChoice, orders};
use super::points::Points;
use super::preservation::{Preserved, simulate};
use super::randomness::Randomness;
use super::sensitivity::{bound_by_width, sensitivity};
use leakgauge_base::error::{Error, Result};
use leakgauge_exact::mallows::{Hamming, Kendall};
use leakgauge_exact::permutation::Distance;

/// An (α, G)-d_σ private shuffler (Theorem 4.3), from which permutations can be drawn.
#[derive(Debug, Clone)]
pub struct Plan {
    /// α.
    pub alpha: f64,
    /// The distance of the Mallows model.
    pub distance: Distance,
    /// The reference order.
    pub reference: Order,
    /// All candidate orders, without their rows.
    pub tried: Vec<Order>,
    /// The sensitivity Δ, exact.
    pub sensitivity: u64,
    /// The paper's upper bound on Δ: ω(ω + 1)/2 for Kendall's τ, Δ itself for Hamming.
    pub sensitivity_bound: u64,
    /// The dispersion θ = α/Δ; infinite if no group has two rows, in which case no value moves.
    pub theta: f64,
}

impl Plan {
    /// Finds the reference order and the dispersion. `points` are the points that the groups were built from, if
    /// any.
    ///
    /// # Formula
    /// θ = α/Δ. A group of one row has sensitivity 0: with Δ = 0 the identity is (α, G)-d_σ private for
    /// every α.
    ///
    /// # Errors
    /// α is not positive and finite; there are no rows; [`OrderName::Sweep`](crate::OrderName::Sweep) without points.
    pub fn new(
        groups: &Groups,
        alpha: f64,
        distance: Distance,
        choice: OrderChoice,
        points: Option<&Points>,
    ) -> Result<Plan> {
        if !(alpha > 0.0 && alpha.is_finite()) {
            return Err(Error::setting(
                "alpha",
                alpha,
                "must be a positive number",
            )
            .with_hint(
                "a smaller alpha hides the order within a group better; alpha 0 would be a uniform shuffle of all \
                 rows",
            ));
        }
        if groups.is_empty() {
            return Err(Error::parameter("groups", "there are no rows to group"));
        }
        let mut tried = orders(groups, points, choice);
        let best = (0..tried.len())
            .min_by_key(|at| (tried[*at].width, tried[*at].kendall))
            .ok_or_else(|| {
                Error::parameter("the order sweep", "needs groups by numeric columns")
            })?;
        let rows = std::mem::take(&mut tried[best].rows);
        tried.iter_mut().for_each(|order| order.rows = Vec::new());
        let reference = Order {
            rows,
            ..tried[best].clone()
        };
        let sensitivity = sensitivity(distance, groups, reference.kendall);
        Ok(Plan {
            alpha,
            distance,
            sensitivity,
            sensitivity_bound: match distance {
                Distance::Kendall => bound_by_width(reference.width),
                Distance::Hamming => sensitivity,
            },
            theta: if sensitivity == 0 {
                f64::INFINITY
            } else {
                alpha / sensitivity as f64
            },
            reference,
            tried,
        })
    }

    /// The same shuffler with the paper's bound instead of the exact sensitivity: a smaller θ.
    #[must_use]
    pub fn with_bound(mut self) -> Self {
        self.sensitivity = self.sensitivity_bound;
        if self.sensitivity > 0 {
            self.theta = self.alpha / self.sensitivity as f64;
        }
        self
    }

    /// Draws σ*: row i of the output receives the value of row σ*(i).
    pub fn permutation(&self, randomness: &mut Randomness) -> Vec<u32> {
        let n = self.reference.rows.len() as u32;
        let theta = self.theta;
        let near = match self.distance {
            Distance::Kendall => Kendall { n, theta }.sample(randomness),
            Distance::Hamming => Hamming { n, theta }.sample(randomness),
        };
        self.at_reference(&near)
    }

    /// σ* = σ₀∘τ∘σ₀⁻¹ for a permutation τ near the identity: σ = σ₀∘τ is near σ₀, and row σ₀(k) receives
    /// the value of row σ(k).
    pub(super) fn at_reference(&self, near: &[u32]) -> Vec<u32> {
        let reference = &self.reference.rows;
        let mut received = vec![0; near.len()];
        for (row, from) in reference.iter().zip(near) {
            received[*row as usize] = reference[*from as usize];
        }
        received
    }

    /// What `trials` simulated shuffles preserve of some groups: the mean share that stays, and a lower limit of
    /// the η for which (η, δ)-preservation holds. Each simulation uses its own random stream.
    pub fn preservation(
        &self,
        groups: &Groups,
        chosen: &[usize],
        trials: u64,
        (delta, confidence): (f64, f64),
        randomness: &Randomness,
    ) -> Vec<Preserved> {
        let shuffle = |trial| self.permutation(&mut randomness.stream(trial + 1));
        simulate(groups, chosen, trials, delta, confidence, shuffle)
    }
}
