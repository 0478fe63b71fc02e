//! What is asked of a release.

use super::order::OrderChoice;
use leakgauge_exact::permutation::Distance;

/// How rows are grouped: the assignment G of the paper.
#[derive(Debug, Clone, PartialEq)]
pub enum Grouping {
    /// Each row with all rows within a Euclidean distance, measured in some columns.
    Distance {
        /// The names of the columns.
        by: Vec<String>,
        /// The distance, in the unit of the columns.
        radius: f64,
    },
    /// Each row with all rows within a great-circle distance.
    Earth {
        /// The columns of latitude and longitude, in degrees.
        by: Vec<String>,
        /// The distance in kilometers.
        radius: f64,
    },
    /// Each row with its nearest rows.
    Nearest {
        /// The columns, compared by Euclidean distance.
        by: Vec<String>,
        /// The number of rows of a group, the row itself included.
        size: usize,
    },
    /// Each row with all rows within a path length in a graph.
    Path {
        /// The file of the edges; see [`read_edges`](crate::read_edges).
        edges: String,
        /// The number of edges.
        length: u32,
    },
    /// Each row with the rows that are fewest edges away in a graph.
    Closest {
        /// The file of the edges; see [`read_edges`](crate::read_edges).
        edges: String,
        /// The number of rows of a group, the row itself included; fewer where no more can be reached.
        size: usize,
    },
    /// Rows with equal values of a column.
    Equal {
        /// The name of the column.
        by: String,
    },
    /// Groups listed in a file.
    Listed {
        /// The file; see [`read_group_file`](crate::read_group_file).
        file: String,
    },
}

/// The options of a release.
#[derive(Debug, Clone, PartialEq)]
pub struct ReleaseOptions {
    /// How rows are grouped.
    pub groups: Grouping,
    /// The column whose values name rows in files of edges or groups; without it, files use row numbers from 1.
    pub id: Option<String>,
    /// The privacy parameter α, at least 0: any two orders of a group's values are within a factor e^α. Not used where
    /// `within` is set.
    pub alpha: f64,
    /// Whether values never leave their group: each group is shuffled by itself, uniformly. Groups must not overlap.
    pub within: bool,
    /// The distance between permutations in the Mallows model.
    pub distance: Distance,
    /// The reference order σ₀.
    pub order: OrderChoice,
    /// A file that lists all rows in the reference order; see [`read_order`](crate::read_order). Instead of `order`.
    pub order_file: Option<String>,
    /// Whether to use the paper's upper bound on the sensitivity instead of the exact value.
    pub bound_by_width: bool,
    /// The columns whose values are shuffled, together.
    pub moved: Vec<String>,
    /// The mechanism that randomizes each shuffled column first, if any.
    pub randomizer: Option<String>,
    /// The values that a randomized column can have; if empty, those found in the log.
    pub values: Vec<String>,
    /// The ε of a randomization that the values went through before, if any.
    pub prior_epsilon: Option<f64>,
    /// The sizes (in rows) of subsets for Theorem 4.2.
    pub subsets: Vec<u64>,
    /// Radii, lengths or sizes of alternative groups for Theorem 4.4, in the unit of [`Grouping`].
    pub alternative_radii: Vec<f64>,
    /// Files of alternative groups for Theorem 4.4.
    pub other_files: Vec<String>,
    /// The α of earlier independent releases of the same values.
    pub previous: Vec<f64>,
    /// δ of (η, δ)-preservation by simulation: the probability that a group keeps a smaller share than η.
    pub delta: f64,
    /// η of Theorem A.4: the share of its values that a group is to keep.
    pub eta: f64,
    /// The confidence level of the lower limits of η.
    pub confidence: f64,
    /// The number of simulated shuffles, 0 for none; without it, the fewest that can give a limit of η.
    pub trials: Option<u64>,
    /// The seed; without it, the randomness of the operating system.
    pub seed: Option<u64>,
}
