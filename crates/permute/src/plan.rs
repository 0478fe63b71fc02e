//! The shuffler: groups, reference order and dispersion, which do not depend on the values.

use rand::seq::SliceRandom;

use super::groups::Groups;
use super::order::{Order, OrderChoice, given, orders};
use super::points::Points;
use super::preservation::{Preserved, simulate};
use super::randomness::Randomness;
use super::sensitivity::{bound_by_width, sensitivity};
use leakgauge_base::error::{Error, Result};
use leakgauge_base::naming::setting;
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
    /// The dispersion θ = α/Δ; 0 if α is; infinite if no group has two rows and α is
    /// positive, in which case no value moves.
    pub theta: f64,
    /// The groups, where each is shuffled by itself.
    apart: Option<Groups>,
}

impl Plan {
    /// Finds the reference order and the dispersion. `points` are the points that the groups were built from, if
    /// any.
    ///
    /// # Formula
    /// θ = α/Δ. A group of one row has sensitivity 0: with Δ = 0 the identity is (α, G)-d_σ private for
    /// every α. With α = 0 the shuffle of all rows is uniform.
    ///
    /// # Errors
    /// α is negative or not finite; there are no rows; [`OrderName::Sweep`](crate::OrderName::Sweep) without points.
    pub fn new(
        groups: &Groups,
        alpha: f64,
        distance: Distance,
        choice: OrderChoice,
        points: Option<&Points>,
    ) -> Result<Plan> {
        let tried = orders(groups, points, choice);
        let by_width = choice == OrderChoice::Narrowest || distance == Distance::Hamming;
        Self::of(groups, (alpha, distance), tried, by_width)
    }

    /// The same near a reference order of the caller's: a list of all rows.
    ///
    /// # Errors
    /// As [`Plan::new`]; the order does not list every row once.
    pub fn at(groups: &Groups, alpha: f64, distance: Distance, rows: Vec<u32>) -> Result<Plan> {
        Self::of(groups, (alpha, distance), vec![given(groups, rows)?], false)
    }

    fn of(
        groups: &Groups,
        (alpha, distance): (f64, Distance),
        mut tried: Vec<Order>,
        by_width: bool,
    ) -> Result<Plan> {
        if !(alpha >= 0.0 && alpha.is_finite()) {
            return Err(Error::setting(
                "alpha",
                alpha,
                "must be 0 or a positive number",
            )
            .with_hint(
                "a smaller alpha hides the order within a group better; alpha 0 is a uniform shuffle of all rows",
            ));
        }
        if groups.is_empty() {
            return Err(Error::parameter("groups", "there are no rows to group"));
        }
        let key = |order: &Order| {
            if by_width {
                (order.width, order.kendall)
            } else {
                (order.kendall, order.width)
            }
        };
        let best = (0..tried.len())
            .min_by_key(|at| key(&tried[*at]))
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
            theta: if alpha == 0.0 {
                0.0
            } else if sensitivity == 0 {
                f64::INFINITY
            } else {
                alpha / sensitivity as f64
            },
            reference,
            tried,
            apart: None,
        })
    }

    /// Shuffles every group by itself, uniformly: all orders of a group's values are equally likely (α = 0), and which
    /// group a value is of is not hidden at all. Rows in no group keep their values.
    ///
    /// # Errors
    /// Two groups have a row in common.
    pub fn within(mut self, groups: &Groups) -> Result<Self> {
        if groups.memberships() + groups.uncovered() > groups.rows() {
            return Err(
                Error::option("within", "needs groups that do not overlap").with_hint(format!(
                    "use {}, or a file of groups with every row in one group",
                    setting("groups", "equal")
                )),
            );
        }
        self.alpha = 0.0;
        self.theta = 0.0;
        self.apart = Some(groups.clone());
        Ok(self)
    }

    /// Whether every group is shuffled by itself.
    pub fn is_within(&self) -> bool {
        self.apart.is_some()
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
        if let Some(groups) = &self.apart {
            return uniform_within(groups, randomness);
        }
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

/// Uniform permutations of every group, each independent of the others.
fn uniform_within(groups: &Groups, randomness: &mut Randomness) -> Vec<u32> {
    let mut received: Vec<u32> = (0..groups.rows() as u32).collect();
    for group in 0..groups.len() {
        let members = groups.members(group);
        let mut shuffled = members.to_vec();
        shuffled.shuffle(randomness);
        for (row, from) in members.iter().zip(shuffled) {
            received[*row as usize] = from;
        }
    }
    received
}
