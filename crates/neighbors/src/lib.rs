//! Exact search of nearest points, for any number of dimensions: a tree, or a pass over all points.
//!
//! A search works with *keys*: the square of a Euclidean distance, or a Manhattan or Chebyshev distance itself. Keys
//! are summed in the order of the columns and without fused operations, so that every search gives the same bits on
//! every machine. Points that are equal may stand as one with their number of rows.
//!
//! ```
//! use leakgauge_neighbors::{Metric, Points, Tree};
//!
//! let mut points = Points::default();
//! points.push(&[0.0, 0.0], 2);
//! points.push(&[3.0, 4.0], 1);
//! let tree = Tree::new(&points, 2, Metric::Euclidean);
//! tree.search(&[0.0, 1.0], 3, &mut |_, keys| assert_eq!(keys, [1.0, 1.0, 18.0]));
//! ```

mod brute;
mod filter;
mod kernel;
mod metric;
mod nearest;
mod points;
mod tree;

pub use brute::Brute;
pub use metric::Metric;
pub use nearest::{Collect, LEAF, Nearest, smallest};
pub use points::Points;
pub use tree::{Tree, pays};
