//! Bounds on Bayes security that need one pass over the rows instead of all pairs.

use crate::extreme::Extreme;
use serde::Serialize;

use crate::channel::{Channel, RowProblem};
use leakgauge_base::error::{Error, Result};
use leakgauge_base::parallel;

/// Bounds on Bayes security from the L1 distances of all rows to one distribution.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CenterBound {
    /// The largest L1 distance d of a row from that distribution.
    pub distance: f64,
    /// 1 − d ≤ β*; trivial if negative.
    pub lower: f64,
    /// β* ≤ 1 − d/2; `None` if the distribution is not known to be a mixture of rows.
    pub upper: Option<f64>,
}

/// The mean of all rows: the distribution of the observation under a uniform prior.
pub fn mean_row(channel: &Channel) -> Vec<f64> {
    let mut mean = vec![0.0; channel.observations().len()];
    for row in channel.rows() {
        mean.iter_mut().zip(row).for_each(|(sum, p)| *sum += p);
    }
    let n = channel.secrets().len() as f64;
    mean.iter_mut().for_each(|sum| *sum /= n);
    mean
}

/// Bounds on Bayes security from a distribution q near the middle of the rows, in O(nm).
///
/// # Formula
/// d = max_s |C_s − q|₁; 1 − d ≤ β* and, if q is a mixture of rows, β* ≤ 1 − d/2.
///
/// # Conditions
/// `mixture` states that q is in the convex hull of the rows; their mean and each single row are.
///
/// # Errors
/// q is not a probability distribution over the observations of the channel.
///
/// # References
/// Bayes Security, Proposition 5.
pub fn center_bound(channel: &Channel, q: &[f64], mixture: bool) -> Result<CenterBound> {
    let width = channel.observations().len();
    if q.len() != width {
        return Err(Error::parameter(
            "center",
            format!("has {} entries for {width} observations", q.len()),
        ));
    }
    if let Some(problem) = RowProblem::find(q) {
        return Err(Error::parameter("center", problem.to_string()));
    }
    let distance = channel
        .rows()
        .map(|row| row.iter().zip(q).map(|(p, q)| (p - q).abs()).sum())
        .fold(0.0, f64::at_least);
    Ok(CenterBound {
        distance,
        lower: 1.0 - distance,
        upper: mixture.then_some(1.0 - distance / 2.0),
    })
}

/// Bounds on Bayes security from the Euclidean diameter of the rows; its `distance` is that diameter.
///
/// # Formula
/// |x|₂ ≤ |x|₁ ≤ √m |x|₂, hence 1 − √m·d₂/2 ≤ β* ≤ 1 − d₂/2.
///
/// # References
/// Bayes Security, section VII-C and appendix I.
pub fn l2_bound(channel: &Channel) -> CenterBound {
    let n = channel.secrets().len();
    let squares = parallel::map(n, |a| {
        let distance = |b: usize| -> f64 {
            let pairs = channel.row(a).iter().zip(channel.row(b));
            pairs.map(|(p, q)| (p - q) * (p - q)).sum()
        };
        (a + 1..n).map(distance).fold(0.0, f64::at_least)
    });
    let distance = squares.into_iter().fold(0.0, f64::at_least).sqrt();
    let m = channel.observations().len() as f64;
    CenterBound {
        distance,
        lower: 1.0 - m.sqrt() * distance / 2.0,
        upper: Some(1.0 - distance / 2.0),
    }
}
