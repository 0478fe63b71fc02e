//! What is said about a release; nothing of the permutation or the values.

use std::io::Write;

use serde::Serialize;

use super::groups::Groups;
use super::guarantee::{SubsetBound, composed, for_other_groups, subset_bound};
use super::order::OrderName;
use super::plan::Plan;
use super::preservation::{Preserved, hamming_failure};
use super::randomness::Randomness;
use super::release::ReleaseOptions;
use super::sensitivity::{Spread, of_groups};
use super::table::Table;
use super::warnings;
use leakgauge_base::Tool;
use leakgauge_exact::permutation::Distance;

/// Groups whose preservation is looked at.
const LOOKED_AT: usize = 1000;

/// A release, as it is reported.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Report {
    /// 1.
    pub schema_version: u32,
    /// What computed this.
    pub tool: Tool,
    /// The seed; null if it came from the operating system.
    pub seed: Option<u64>,
    /// The files.
    pub files: Vec<String>,
    /// Their rows.
    pub rows: usize,
    /// The file of the shuffled log; null if nothing was written.
    pub out: Option<String>,
    /// Columns whose values were shuffled.
    pub moved: Vec<String>,
    /// Columns that stayed with their row.
    pub stayed: Vec<String>,
    /// α.
    pub alpha: f64,
    /// ε of local differential privacy of the values that were shuffled; null if they were not randomized.
    pub epsilon: Option<f64>,
    /// The distance of the Mallows model.
    pub distance: Distance,
    /// The reference order.
    pub order: OrderName,
    /// Every order that was looked at.
    pub orders: Vec<TriedOrder>,
    /// Places between the members of the widest group.
    pub width: u64,
    /// Δ that θ was computed with.
    pub sensitivity: u64,
    /// The paper's bound of it.
    pub sensitivity_bound: u64,
    /// θ; null if infinite: nothing moved.
    pub dispersion: Option<f64>,
    /// The groups.
    pub groups: GroupsReport,
    /// Theorem 4.2; empty without an ε.
    pub subsets: Vec<SubsetBound>,
    /// Theorem 4.4.
    pub other_groups: Vec<OtherGroups>,
    /// Theorem A.2.
    pub composition: Composition,
    /// What to know.
    pub warnings: Vec<Warning>,
}

/// A reference order.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct TriedOrder {
    /// How it was found.
    pub name: OrderName,
    /// Its width.
    pub width: u64,
    /// Its Kendall sensitivity.
    pub kendall_sensitivity: u64,
}

/// The groups together.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct GroupsReport {
    /// Distinct groups.
    pub count: usize,
    /// The fewest rows of a group.
    pub smallest: usize,
    /// The median.
    pub median: usize,
    /// The most.
    pub largest: usize,
    /// Rows in no group.
    pub uncovered: usize,
    /// δ of the limits of η.
    pub delta: f64,
    /// Their level, for each group on its own.
    pub confidence: f64,
    /// Simulated shuffles behind them.
    pub trials: u64,
    /// η of the failure probabilities.
    pub eta: f64,
    /// All groups, or if there are many the largest, the widest and every so-manieth.
    pub list: Vec<GroupReport>,
}

/// One group.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct GroupReport {
    /// Its label, or the first row that has it.
    pub name: String,
    /// Its rows.
    pub size: usize,
    /// Places between its members in the reference order.
    pub width: u64,
    /// Its sensitivity.
    pub sensitivity: u64,
    /// Its own α, θ times its sensitivity.
    pub alpha: f64,
    /// What simulated shuffles preserved; null without any.
    pub preserved: Option<Preserved>,
    /// Theorem A.4: the probability that less than a share η stays, exact; for Hamming distance only.
    pub failure: Option<f64>,
}

/// Groups that the shuffle was not made for.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct OtherGroups {
    /// The radius, length or size, or the file.
    pub groups: String,
    /// Their sensitivity at the same order.
    pub sensitivity: u64,
    /// α′.
    pub alpha: f64,
}

/// Several releases.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Composition {
    /// The α of those before.
    pub previous: Vec<f64>,
    /// The α of all together.
    pub alpha: f64,
}

/// What to know.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Warning {
    /// For scripts.
    pub code: &'static str,
    /// For people.
    pub message: String,
}

/// What a report is made from.
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

pub(super) fn build(facts: &Facts<'_>) -> Report {
    let (plan, options) = (facts.plan, facts.options);
    let mut sizes: Vec<usize> = facts.groups.sizes().collect();
    sizes.sort_unstable();
    let all = [&options.previous[..], &[plan.alpha]].concat();
    Report {
        schema_version: 1,
        tool: Tool::default(),
        seed: options.seed,
        files: facts.files.to_vec(),
        rows: facts.table.rows(),
        out: None,
        moved: columns(facts, true),
        stayed: columns(facts, false),
        alpha: plan.alpha,
        epsilon: facts.epsilon,
        distance: plan.distance,
        order: plan.reference.name,
        orders: plan
            .tried
            .iter()
            .map(|order| TriedOrder {
                name: order.name,
                width: order.width,
                kendall_sensitivity: order.kendall,
            })
            .collect(),
        width: plan.reference.width,
        sensitivity: plan.sensitivity,
        sensitivity_bound: plan.sensitivity_bound,
        dispersion: plan.theta.is_finite().then_some(plan.theta),
        subsets: subsets(facts, &sizes, composed(&all)),
        groups: groups(facts, &sizes),
        other_groups: others(facts),
        composition: Composition {
            previous: options.previous.clone(),
            alpha: composed(&all),
        },
        warnings: warnings::of(facts),
    }
}

/// The names of the columns that move, or of those that stay.
fn columns(facts: &Facts<'_>, moves: bool) -> Vec<String> {
    let names = facts.table.names.iter().zip(facts.moved);
    names
        .filter(|(_, moved)| **moved == moves)
        .map(|(name, _)| name.clone())
        .collect()
}

/// Theorem 4.4 for the groups that were asked about.
fn others(facts: &Facts<'_>) -> Vec<OtherGroups> {
    let plan = facts.plan;
    let other = |(groups, sensitivity): &(String, u64)| OtherGroups {
        groups: groups.clone(),
        sensitivity: *sensitivity,
        // Nothing moved, and any order of groups that do have two rows shows.
        alpha: if plan.sensitivity == 0 && *sensitivity > 0 {
            f64::INFINITY
        } else {
            for_other_groups(plan.alpha, plan.sensitivity, *sensitivity)
        },
    };
    facts.others.iter().map(other).collect()
}

/// Theorem 4.2 for the smallest, the median and the largest group, with the α of all releases together.
fn subsets(facts: &Facts<'_>, sizes: &[usize], alpha: f64) -> Vec<SubsetBound> {
    let Some(epsilon) = facts.epsilon else {
        return Vec::new();
    };
    let mut of = vec![sizes[0], sizes[sizes.len() / 2], sizes[sizes.len() - 1]];
    of.dedup();
    of.iter()
        .flat_map(|size| {
            facts
                .options
                .subsets
                .iter()
                .map(move |k| (*size as u64, *k))
        })
        .filter_map(|(size, k)| subset_bound(size, k, epsilon, alpha).ok())
        .collect()
}

fn groups(facts: &Facts<'_>, sizes: &[usize]) -> GroupsReport {
    let (groups, plan, options) = (facts.groups, facts.plan, facts.options);
    let spreads = of_groups(groups, &plan.reference.rows);
    let chosen = chosen(groups, &spreads);
    let preserved = if facts.trials > 0 {
        let limits = (options.delta, options.confidence);
        plan.preservation(groups, &chosen, facts.trials, limits, facts.randomness)
            .into_iter()
            .map(Some)
            .collect()
    } else {
        vec![None; chosen.len()]
    };
    let n = facts.table.rows() as u32;
    let names = groups.names();
    let list = chosen.iter().zip(preserved).map(|(&group, preserved)| {
        let size = groups.members(group).len();
        let (sensitivity, alpha) = own(plan, size, spreads[group]);
        GroupReport {
            name: names.get(group),
            size,
            width: spreads[group].width,
            sensitivity,
            alpha,
            preserved,
            failure: (plan.distance == Distance::Hamming)
                .then(|| hamming_failure(n, size as u32, options.eta, plan.theta)),
        }
    });
    GroupsReport {
        count: groups.len(),
        smallest: sizes[0],
        median: sizes[sizes.len() / 2],
        largest: sizes[sizes.len() - 1],
        uncovered: groups.uncovered(),
        delta: options.delta,
        confidence: options.confidence,
        trials: facts.trials,
        eta: options.eta,
        list: list.collect(),
    }
}

/// The sensitivity and α of one group.
fn own(plan: &Plan, size: usize, spread: Spread) -> (u64, f64) {
    let sensitivity = match plan.distance {
        Distance::Hamming => super::sensitivity::hamming_of_group(size as u64),
        Distance::Kendall => spread.kendall,
    };
    (
        sensitivity,
        for_other_groups(plan.alpha, plan.sensitivity.max(1), sensitivity),
    )
}

/// All groups, or the largest, the widest and every so-manieth.
fn chosen(groups: &Groups, spreads: &[Spread]) -> Vec<usize> {
    if groups.len() <= LOOKED_AT {
        return (0..groups.len()).collect();
    }
    let all = || 0..groups.len();
    let largest = all().max_by_key(|g| (groups.members(*g).len(), std::cmp::Reverse(*g)));
    let widest = all().max_by_key(|g| (spreads[*g].width, std::cmp::Reverse(*g)));
    let every = (0..LOOKED_AT - 2).map(|at| at * groups.len() / (LOOKED_AT - 2));
    let mut chosen: Vec<usize> = largest.into_iter().chain(widest).chain(every).collect();
    chosen.sort_unstable();
    chosen.dedup();
    chosen
}

/// One row a group.
pub(super) fn write_groups(
    groups: &Groups,
    plan: &Plan,
    out: &mut dyn Write,
) -> std::io::Result<()> {
    let spreads = of_groups(groups, &plan.reference.rows);
    let names = groups.names();
    let mut writer = csv::Writer::from_writer(out);
    let io = |error: csv::Error| std::io::Error::other(error.to_string());
    writer
        .write_record(["group", "size", "width", "sensitivity", "alpha"])
        .map_err(io)?;
    for (group, spread) in spreads.iter().enumerate() {
        let size = groups.members(group).len();
        let (sensitivity, alpha) = own(plan, size, *spread);
        writer
            .write_record([
                names.get(group),
                size.to_string(),
                spread.width.to_string(),
                sensitivity.to_string(),
                alpha.to_string(),
            ])
            .map_err(io)?;
    }
    writer.flush()
}
