//! The stages of a figure.

use std::fmt::Debug;

use crate::audit::basis::Evidence;
use crate::audit::figures::overall::Overall;
use crate::audit::figures::pairs::WorstPair;
use crate::audit::plan::Plan;
use crate::audit::prepare::Prepared;
use leakgauge_attack::tuning::Tuned;

/// A figure that no other figure, limit or verdict reads.
pub(crate) trait Figure {
    /// What is settled before any row that judges is looked at.
    type Plan: Debug;
    /// What these rows say.
    type Judged;
    /// What is reported.
    type Found;

    /// Settles what will be judged. Rules of the attack are handed to the plan of the audit, which judges them with its
    /// own ([`Plan::add_rules`]).
    fn plan(prepared: &Prepared, tuned: &Tuned, plan: &mut Plan) -> Self::Plan;

    /// Looks at the rows that judge, for what the audit does not look for by itself.
    fn judge(prepared: &Prepared, tuned: &Tuned, planned: &Self::Plan) -> Self::Judged;

    /// What it comes to.
    fn figure(planned: &Self::Plan, judged: &Self::Judged, settled: &Settled) -> Self::Found;
}

/// What figures may read when all else is settled.
pub(crate) struct Settled<'a> {
    pub prepared: &'a Prepared<'a>,
    pub evidence: &'a Evidence<'a>,
    pub worst_pair: &'a WorstPair,
    pub overall: &'a Overall,
}
