//! What the two secrets of the worst pair look like: the column in which they differ most.
//!
//! For looking at: all rows of the log, and nothing follows from them.

pub(crate) mod figure;

/// The rows of two secrets in one column.
#[derive(Debug, Clone)]
pub struct Distributions {
    /// The column.
    pub column: String,
    /// Out of so many columns, the one with the largest difference in these pictures.
    pub columns: usize,
    /// The picture.
    pub shape: Shape,
}

/// Shares of rows.
#[derive(Debug, Clone)]
pub enum Shape {
    /// Of a number: shares of each secret's rows between the edges and beyond them.
    Numbers {
        /// Ends of the bins, one more than there are bins.
        edges: Vec<f64>,
        /// Whether bins are equally wide on a logarithmic axis.
        logarithmic: bool,
        /// For each secret, a share a bin.
        shares: [Vec<f64>; 2],
        /// For each secret, the shares of its rows before the first and after the last edge.
        outside: [[f64; 2]; 2],
        /// Share of the rows of both that lie beyond the first and the last edge.
        beyond: f64,
    },
    /// Of labels, or of few numbers.
    Labels {
        /// The likeliest; an empty label stands for all others.
        labels: Vec<String>,
        /// For each secret, a share a label.
        shares: [Vec<f64>; 2],
    },
}
