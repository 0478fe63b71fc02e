//! The report about a release. It contains neither the permutation nor any value.

use std::io::Write;

use serde::Serialize;

use super::facts::Facts;
use super::groups::Groups;
use super::guarantee::{SubsetBound, composed, for_other_groups, subset_bound};
use super::order::OrderName;
use super::plan::Plan;
use super::preservation::{Preserved, hamming_failure};
use super::sensitivity::{Spread, of_groups};
use super::warnings::{self, Warning};
use leakgauge_base::Tool;
use leakgauge_exact::permutation::Distance;

/// The number of groups that are listed and whose preservation is simulated.
const LOOKED_AT: usize = 1000;

/// The report about a release, as its JSON is written.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Report {
    /// 1.
    pub schema_version: u32,
    /// The program.
    pub tool: Tool,
    /// The seed; null if the randomness came from the operating system.
    pub seed: Option<u64>,
    /// The files of the log.
    pub files: Vec<String>,
    /// The number of rows of the log.
    pub rows: usize,
    /// The file of the shuffled log; null if nothing was written.
    pub out: Option<String>,
    /// Columns whose values were shuffled.
    pub moved: Vec<String>,
    /// Columns whose values stayed in their rows.
    pub stayed: Vec<String>,
    /// α of the shuffle; 0 where every group is shuffled by itself.
    pub alpha: f64,
    /// Whether every group is shuffled by itself, so that no value leaves its group.
    pub within: bool,
    /// ε of local differential privacy of the values that were shuffled; null if they were not randomized.
    pub epsilon: Option<f64>,
    /// The distance of the Mallows model.
    pub distance: Distance,
    /// The reference order.
    pub order: OrderName,
    /// All candidate orders.
    pub orders: Vec<TriedOrder>,
    /// The width of the widest group in the reference order.
    pub width: u64,
    /// The sensitivity Δ from which θ = α/Δ was computed.
    pub sensitivity: u64,
    /// The paper's upper bound on Δ.
    pub sensitivity_bound: u64,
    /// The dispersion θ; null if it is infinite, in which case no value moved.
    pub dispersion: Option<f64>,
    /// The groups.
    pub groups: GroupsReport,
    /// Bounds on locating the values of a subset (Theorem 4.2); empty without an ε.
    pub subsets: Vec<SubsetBound>,
    /// α of other groups (Theorem 4.4).
    pub other_groups: Vec<OtherGroups>,
    /// α of several releases (Theorem A.2).
    pub composition: Composition,
    /// What the guarantee does not cover.
    pub warnings: Vec<Warning>,
}

/// A candidate for the reference order.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TriedOrder {
    /// How it was found.
    pub name: OrderName,
    /// The width of the widest group in it.
    pub width: u64,
    /// The largest Kendall sensitivity of a group in it.
    pub kendall_sensitivity: u64,
}

/// A summary of all groups.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct GroupsReport {
    /// The number of distinct groups.
    pub count: usize,
    /// The number of rows of the smallest group.
    pub smallest: usize,
    /// The median number of rows.
    pub median: usize,
    /// The number of rows of the largest group.
    pub largest: usize,
    /// The number of rows in no group.
    pub uncovered: usize,
    /// δ of the limits of η.
    pub delta: f64,
    /// Their confidence level, for each group separately.
    pub confidence: f64,
    /// The number of simulated shuffles.
    pub trials: u64,
    /// η of the failure probabilities.
    pub eta: f64,
    /// The mean share of values that stay in their group, over the groups of `list`; null without simulation.
    pub stay: Option<f64>,
    /// The same share if all rows of the log were shuffled uniformly.
    pub stay_if_uniform: f64,
    /// All groups; if there are more than 1000, the largest, the widest and a regular sample.
    pub list: Vec<GroupReport>,
}

/// One group.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct GroupReport {
    /// Its label, or else the first row (from 1) that it belongs to.
    pub name: String,
    /// Its number of rows.
    pub size: usize,
    /// The difference between the positions of its first and last member in the reference order.
    pub width: u64,
    /// Its sensitivity.
    pub sensitivity: u64,
    /// Its own α, θ times its sensitivity.
    pub alpha: f64,
    /// What simulated shuffles preserved; null without simulation.
    pub preserved: Option<Preserved>,
    /// The exact probability that less than the share η stays (Theorem A.4); for Hamming distance only.
    pub failure: Option<f64>,
}

/// Groups other than those of the shuffle.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct OtherGroups {
    /// Their radius, length or size, or their file.
    pub groups: String,
    /// Their sensitivity in the same reference order.
    pub sensitivity: u64,
    /// α′, the guarantee of the shuffle for these groups; null if infinite.
    #[cfg_attr(feature = "schema", schemars(with = "Option<f64>"))]
    pub alpha: f64,
}

/// The guarantee of several releases together.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Composition {
    /// The α of earlier releases; null if infinite.
    #[cfg_attr(feature = "schema", schemars(with = "Vec<Option<f64>>"))]
    pub previous: Vec<f64>,
    /// The α of all releases together; null if infinite.
    #[cfg_attr(feature = "schema", schemars(with = "Option<f64>"))]
    pub alpha: f64,
}

pub(super) fn build(facts: &Facts<'_>) -> Report {
    let (plan, options) = (facts.plan, facts.options);
    let mut sizes: Vec<usize> = facts.groups.sizes().collect();
    sizes.sort_unstable();
    let all = [&options.previous[..], &[plan.alpha]].concat();
    let groups = groups(facts, &sizes);
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
        within: plan.is_within(),
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
        warnings: warnings::of(facts, (groups.stay, groups.stay_if_uniform)),
        groups,
        other_groups: others(facts),
        composition: Composition {
            previous: options.previous.clone(),
            alpha: composed(&all),
        },
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

/// Theorem 4.4 for the groups that the options ask about.
fn others(facts: &Facts<'_>) -> Vec<OtherGroups> {
    let plan = facts.plan;
    let other = |(groups, sensitivity): &(String, u64)| OtherGroups {
        groups: groups.clone(),
        sensitivity: *sensitivity,
        // No value moved, so the order within any group of two rows is visible.
        alpha: if plan.theta == f64::INFINITY && *sensitivity > 0 {
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
            failure: (plan.distance == Distance::Hamming).then(|| {
                if plan.is_within() {
                    0.0
                } else {
                    hamming_failure(n, size as u32, options.eta, plan.theta)
                }
            }),
        }
    });
    let list: Vec<GroupReport> = list.collect();
    let mean = |share: &dyn Fn(&GroupReport) -> Option<f64>| -> Option<f64> {
        let (mut all, mut sum) = (0.0, 0.0);
        for group in &list {
            all += group.size as f64;
            sum += share(group)? * group.size as f64;
        }
        Some(sum / all)
    };
    let stay = if plan.is_within() {
        Some(1.0)
    } else {
        mean(&|group| group.preserved.map(|preserved| preserved.mean))
    };
    GroupsReport {
        stay,
        stay_if_uniform: mean(&|group| Some(group.size as f64 / f64::from(n))).unwrap_or(1.0),
        count: groups.len(),
        smallest: sizes[0],
        median: sizes[sizes.len() / 2],
        largest: sizes[sizes.len() - 1],
        uncovered: groups.uncovered(),
        delta: options.delta,
        confidence: options.confidence,
        trials: facts.trials,
        eta: options.eta,
        list,
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

/// All groups, or the largest, the widest and a regular sample.
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

/// One row per group.
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
