//! Shuffling within groups: d_σ-privacy.
//!
//! Values are shuffled within groups of rows that have similar public attributes. This lies between publishing
//! the values in order and shuffling all of them. A shuffler is (α, G)-d_σ private if, for every group
//! of G, any two orders of the group's values give every output with probabilities within a factor
//! e^α. The mechanism here draws a permutation near a reference order σ₀ from a Mallows model,
//! P(σ) ∝ e^(−θ d(σ, σ₀)), with θ = α/Δ, where the sensitivity Δ is the largest change
//! of the distance d by reordering one group.
//!
//! # Convention
//! Rows count from 0. An order lists rows: `order[k]` is the k-th. The model's σ lists rows too, and row
//! σ₀(k) of the output receives the value of row σ(k): σ* = σ∘σ₀⁻¹.
//!
//! ```
//! use leakgauge_permute::{Distance, Groups, OrderChoice, Plan, Points, Randomness};
//!
//! let points = Points::new(vec![0.0, 5.0, 0.2, 5.1, 0.1], 1)?;
//! let groups = Groups::within(&points, 0.3)?;
//! let plan = Plan::new(&groups, 1.0, Distance::Kendall, OrderChoice::Best, Some(&points))?;
//! assert_eq!((plan.reference.width, plan.sensitivity), (2, 3));
//! let received = plan.permutation(&mut Randomness::seeded(1));
//! assert_eq!(received.len(), 5);
//! # Ok::<(), leakgauge_base::error::Error>(())
//! ```
//!
//! # References
//! C. Meehan, A. Roy Chowdhury, K. Chaudhuri, S. Jha, *Privacy Implications of Shuffling*, ICLR 2022.

mod edges;
mod facts;
mod graph;
mod groups;
mod guarantee;
mod lists;
mod near;
mod options;
mod order;
mod plan;
mod points;
mod preservation;
mod randomness;
mod release;
mod report;
mod sensitivity;
mod table;
#[cfg(test)]
mod tests;
mod warnings;

pub use edges::{Edges, read_edges, read_group_file, read_order};
pub use groups::{Groups, MAX_MEMBERSHIPS, Names};
pub use guarantee::{SubsetBound, composed, for_other_groups, subset_bound};
pub use leakgauge_exact::permutation::{
    Distance, apply, compose, hamming, inverse, inversions, kendall,
};
pub use options::{Grouping, ReleaseOptions};
pub use order::{Order, OrderChoice, OrderName, orders};
pub use plan::Plan;
pub use points::{EARTH_RADIUS_KM, Points};
pub use preservation::{Preserved, hamming_failure, kept, trials_for};
pub use randomness::Randomness;
pub use release::{Release, release};
pub use report::{Composition, GroupReport, GroupsReport, OtherGroups, Report, TriedOrder};
pub use sensitivity::{Spread, bound_by_width, kendall_of_group, of_groups, spread};
pub use table::{Table, TableOptions};
pub use warnings::Warning;
