//! Would more rows help?

pub(crate) mod conclusion;
pub(crate) mod figure;

use crate::audit::figures::convergence::conclusion::Conclusion;

/// Whether more rows would help.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Convergence {
    /// The attack learned from ever more rows, tried on the same rows.
    pub points: Vec<ConvergencePoint>,
    /// Rows it was tried on, certification rows all of them.
    pub judged_rows: u64,
    /// Where the Bayes risk of this kind of attack seems to end; `None` with fewer than three points.
    pub bayes_risk: Option<Extrapolated>,
    /// Where the advantage at the worst pair seems to end.
    pub total_variation: Option<Extrapolated>,
    /// What the nearest neighbor would say of the true Bayes risk if it had seen infinitely many rows.
    pub cover_hart: Option<Asymptotic>,
    /// Whether more rows would help.
    pub conclusion: Conclusion,
}

/// The attack learned from so many rows. Points, not limits.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct ConvergencePoint {
    /// Rows it learned from.
    pub rows: u64,
    /// Its risk at the prior.
    pub bayes_risk: f64,
    /// Its advantage at the worst pair.
    pub total_variation: f64,
}

/// Where a curve seems to end. Not a limit: nothing bounds how far an extrapolation may be off.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct Extrapolated {
    /// The value that the curve approaches.
    pub limit: f64,
    /// Its standard error, approximately.
    pub standard_error: f64,
}

/// A bracket that holds for infinitely many rows only: no limit of this log.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct Asymptotic {
    /// The true Bayes risk, were the error below that of infinitely many rows; secrets as frequent as in
    /// the log (Cover and Hart 1967).
    pub bayes_risk: [f64; 2],
    /// Error of the nearest neighbor.
    pub nearest_neighbor_error: f64,
    /// Rows it learned from.
    pub rows: u64,
}
