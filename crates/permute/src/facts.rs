//! What a report and its warnings are made from.

use super::groups::Groups;
use super::options::ReleaseOptions;
use super::plan::Plan;
use super::randomness::Randomness;
use super::table::Table;

/// The data that a report is built from.
pub(super) struct Facts<'a> {
    pub table: &'a Table,
    pub files: &'a [String],
    pub options: &'a ReleaseOptions,
    pub groups: &'a Groups,
    pub plan: &'a Plan,
    pub moved: &'a [bool],
    pub epsilon: Option<f64>,
    pub others: Vec<(String, u64)>,
    pub trials: u64,
    pub randomness: &'a Randomness,
}
