//! A release: a log whose values are shuffled within groups of rows, and the report about it.

use std::collections::BTreeMap;

use super::edges::{read_edges, read_group_file, read_order};
use super::facts::Facts;
use super::groups::Groups;
use super::options::{Grouping, ReleaseOptions};
use super::order::OrderChoice;
use super::plan::Plan;
use super::points::Points;
use super::preservation::trials_for;
use super::randomness::Randomness;
use super::report::{self, Report};
use super::sensitivity::{sensitivity, spread};
use super::table::Table;
use leakgauge_base::error::{Error, Result};
use leakgauge_base::naming::{option, setting};
use leakgauge_exact::mechanism::{self, BoundMechanism, Law};

/// A shuffled log. The values stay in the [`Table`] they were read into; this holds the permutation and the
/// randomized values.
#[derive(Debug, Clone)]
pub struct Release {
    /// The report.
    pub report: Report,
    /// The groups.
    pub groups: Groups,
    /// The shuffler.
    pub plan: Plan,
    /// Row i received the value of row `permutation[i]`, rows from 0. Keep it secret: it undoes the shuffle.
    pub permutation: Vec<u32>,
    moved: Vec<bool>,
    replaced: Vec<Option<Vec<String>>>,
}

impl Release {
    /// Writes the shuffled log.
    ///
    /// # Errors
    /// An error of the writer.
    pub fn write(&self, table: &Table, out: &mut dyn std::io::Write) -> std::io::Result<()> {
        table.write(out, &self.permutation, &self.moved, &self.replaced)
    }

    /// The randomized values of a column, before they are shuffled: row i of the output has value
    /// `permutation[i]` of them. `None` if the column's values stayed as they were.
    pub fn randomized(&self, column: usize) -> Option<&[String]> {
        self.replaced[column].as_deref()
    }

    /// Writes the permutation as CSV with columns `row,received_from`, rows from 1.
    ///
    /// # Errors
    /// An error of the writer.
    pub fn write_permutation(&self, out: &mut dyn std::io::Write) -> std::io::Result<()> {
        writeln!(out, "row,received_from")?;
        for (row, from) in self.permutation.iter().enumerate() {
            writeln!(out, "{},{}", row + 1, u64::from(*from) + 1)?;
        }
        Ok(())
    }

    /// Writes size, width, sensitivity and α of every group as CSV, one row per group.
    ///
    /// # Errors
    /// An error of the writer.
    pub fn write_groups(&self, out: &mut dyn std::io::Write) -> std::io::Result<()> {
        report::write_groups(&self.groups, &self.plan, out)
    }
}

/// Shuffles a log.
///
/// # Errors
/// An invalid option; a missing column or row; a field that is blank or not a number where one is needed.
pub fn release(table: &Table, files: &[String], options: &ReleaseOptions) -> Result<Release> {
    check(options)?;
    let moved = moved_columns(table, options)?;
    let ids = match &options.id {
        Some(name) => Some(table.labels(table.column("id", name)?)?),
        None => None,
    };
    let (groups, points) = group(table, &options.groups, ids.as_deref())?;
    let order = match &options.order_file {
        Some(file) => Some(read_order(file, table.rows(), ids.as_deref())?),
        None => None,
    };
    let plan = plan(&groups, points.as_ref(), order, options)?;
    let mut randomness = match options.seed {
        Some(seed) => Randomness::seeded(seed),
        None => Randomness::fresh()?,
    };
    let (replaced, randomized) = randomize(table, &moved, options, &randomness)?;
    let epsilon = match (options.prior_epsilon, randomized) {
        // Post-processing: a second randomization cannot weaken the first.
        (Some(prior), Some(now)) => Some(prior.min(now)),
        (prior, now) => prior.or(now),
    };
    let others = others(table, &plan, options, ids.as_deref(), points.as_ref())?;
    let permutation = plan.permutation(&mut randomness);
    let trials = if options.within { 0 } else { trials(options)? };
    let report = report::build(&Facts {
        table,
        files,
        options,
        groups: &groups,
        plan: &plan,
        moved: &moved,
        epsilon,
        others,
        trials,
        randomness: &randomness,
    });
    Ok(Release {
        report,
        groups,
        plan,
        permutation,
        moved,
        replaced,
    })
}

fn plan(
    groups: &Groups,
    points: Option<&Points>,
    given: Option<Vec<u32>>,
    options: &ReleaseOptions,
) -> Result<Plan> {
    let ReleaseOptions {
        alpha,
        distance,
        order,
        ..
    } = *options;
    if options.within {
        // The width of the groups does not depend on alpha.
        return Plan::new(groups, 1.0, distance, order, points)?.within(groups);
    }
    // θ of the bound depends on the width alone.
    let order = match order {
        OrderChoice::Best if options.bound_by_width => OrderChoice::Narrowest,
        order => order,
    };
    let plan = match given {
        Some(rows) => Plan::at(groups, alpha, distance, rows)?,
        None => Plan::new(groups, alpha, distance, order, points)?,
    };
    Ok(if options.bound_by_width {
        plan.with_bound()
    } else {
        plan
    })
}

/// The largest number of simulated shuffles; more take too long.
const MAX_TRIALS: u64 = 1_000_000;

fn trials(options: &ReleaseOptions) -> Result<u64> {
    let fewest = || trials_for(options.delta, options.confidence);
    let trials = options.trials.unwrap_or_else(fewest);
    if trials <= MAX_TRIALS {
        return Ok(trials);
    }
    if options.trials.is_some() {
        let problem = format!("at most {MAX_TRIALS} simulated shuffles are possible");
        return Err(Error::setting("trials", trials, problem));
    }
    let problem = format!("needs {trials} simulated shuffles; at most {MAX_TRIALS} are possible");
    let hint = format!(
        "use a larger delta, or {} to simulate none",
        setting("trials", 0)
    );
    Err(Error::setting("delta", options.delta, problem).with_hint(hint))
}

fn check(options: &ReleaseOptions) -> Result<()> {
    let wrong = |field: &str, value: f64, problem: &str| Err(Error::setting(field, value, problem));
    let share = |x: f64| x > 0.0 && x < 1.0;
    if !share(options.delta) {
        return wrong("delta", options.delta, "must be between 0 and 1");
    }
    if !share(options.confidence) {
        return wrong("confidence", options.confidence, "must be between 0 and 1");
    }
    if !(0.0..=1.0).contains(&options.eta) {
        return wrong("eta", options.eta, "must be between 0 and 1");
    }
    if let Some(epsilon) = options.prior_epsilon.filter(|e| e.is_nan() || *e < 0.0) {
        return wrong("prior_epsilon", epsilon, "must be at least 0");
    }
    if let Some(alpha) = options.previous.iter().find(|a| a.is_nan() || **a < 0.0) {
        return wrong("previous", *alpha, "must be at least 0");
    }
    let others = !options.alternative_radii.is_empty() || !options.other_files.is_empty();
    if options.within && (others || options.bound_by_width) {
        let problem = "says nothing of other groups, and has no sensitivity to bound";
        return Err(Error::option("within", problem));
    }
    trials(options).map(|_| ())
}

/// For each column, whether its values are shuffled.
fn moved_columns(table: &Table, options: &ReleaseOptions) -> Result<Vec<bool>> {
    let mut moved = vec![false; table.names.len()];
    for name in &options.moved {
        moved[table.column("moved", name)?] = true;
    }
    let stay: Vec<&String> = match &options.groups {
        Grouping::Distance { by, .. }
        | Grouping::Earth { by, .. }
        | Grouping::Nearest { by, .. } => by.iter().collect(),
        Grouping::Equal { by } => vec![by],
        Grouping::Path { .. } | Grouping::Closest { .. } | Grouping::Listed { .. } => Vec::new(),
    };
    for name in stay.into_iter().chain(&options.id) {
        if moved[table.column("by", name)?] {
            let problem = "this column defines the groups, so its values must stay in their rows";
            return Err(Error::setting("moved", name, problem));
        }
    }
    Ok(moved)
}

/// The groups, and the points that they were built from, if any.
fn group(
    table: &Table,
    grouping: &Grouping,
    ids: Option<&[String]>,
) -> Result<(Groups, Option<Points>)> {
    let columns = |by: &[String]| -> Result<Vec<usize>> {
        by.iter().map(|name| table.column("by", name)).collect()
    };
    Ok(match grouping {
        Grouping::Distance { by, radius } => {
            let points = table.points(&columns(by)?)?;
            (Groups::within(&points, *radius)?, Some(points))
        }
        Grouping::Earth { by, radius } => {
            let &[latitude, longitude] = &columns(by)?[..] else {
                let problem = "must be two columns: latitude, longitude";
                return Err(Error::setting("by", by.join(","), problem));
            };
            let places = table.numbers(&[latitude, longitude])?;
            let places: Vec<[f64; 2]> = places.chunks_exact(2).map(|p| [p[0], p[1]]).collect();
            let points = Points::on_earth(&places)?;
            (Groups::within(&points, *radius)?, Some(points))
        }
        Grouping::Nearest { by, size } => {
            let points = table.points(&columns(by)?)?;
            (Groups::nearest(&points, *size)?, Some(points))
        }
        Grouping::Path { edges, length } => {
            let edges = read_edges(edges, table.rows(), ids)?;
            (Groups::by_path(&edges, *length)?, None)
        }
        Grouping::Closest { edges, size } => {
            let edges = read_edges(edges, table.rows(), ids)?;
            (Groups::closest(&edges, *size)?, None)
        }
        Grouping::Equal { by } => {
            let labels = table.labels(table.column("by", by)?)?;
            (Groups::equal(&labels)?, None)
        }
        Grouping::Listed { file } => {
            let named = read_group_file(file, table.rows(), ids)?;
            (Groups::listed(table.rows(), named)?, None)
        }
    })
}

/// The same grouping with another radius, length or size.
fn with_size(grouping: &Grouping, size: f64) -> Option<Grouping> {
    let whole = (size >= 0.0 && size.fract() == 0.0 && size < 4e9).then_some(size as u32);
    Some(match grouping {
        Grouping::Distance { by, .. } => Grouping::Distance {
            by: by.clone(),
            radius: size,
        },
        Grouping::Earth { by, .. } => Grouping::Earth {
            by: by.clone(),
            radius: size,
        },
        Grouping::Nearest { by, .. } => Grouping::Nearest {
            by: by.clone(),
            size: whole? as usize,
        },
        Grouping::Path { edges, .. } => Grouping::Path {
            edges: edges.clone(),
            length: whole?,
        },
        Grouping::Closest { edges, .. } => Grouping::Closest {
            edges: edges.clone(),
            size: whole? as usize,
        },
        Grouping::Equal { .. } | Grouping::Listed { .. } => return None,
    })
}

/// The sensitivity of the alternative groups at the same reference order, with their names.
fn others(
    table: &Table,
    plan: &Plan,
    options: &ReleaseOptions,
    ids: Option<&[String]>,
    points: Option<&Points>,
) -> Result<Vec<(String, u64)>> {
    let mut found = Vec::new();
    let sensitivity = |groups: &Groups| {
        let spread = spread(groups, &plan.reference.rows);
        sensitivity(plan.distance, groups, spread.kendall)
    };
    for size in &options.alternative_radii {
        let grouping = with_size(&options.groups, *size).ok_or_else(|| {
            let problem = "is not a radius, length or size for this kind of groups";
            Error::setting("alternative_radii", size, problem)
        })?;
        let groups = match (&grouping, points) {
            (Grouping::Distance { radius, .. } | Grouping::Earth { radius, .. }, Some(points)) => {
                Groups::within(points, *radius)?
            }
            _ => group(table, &grouping, ids)?.0,
        };
        found.push((
            leakgauge_base::grammar::format_number(*size),
            sensitivity(&groups),
        ));
    }
    for file in &options.other_files {
        let grouping = Grouping::Listed { file: file.clone() };
        found.push((file.clone(), sensitivity(&group(table, &grouping, ids)?.0)));
    }
    Ok(found)
}

/// The randomized values of the shuffled columns, and the ε of all columns together. There is no ε if the
/// possible values were taken from the log: they differ between logs, so the randomizer depends on the data.
type Randomized = (Vec<Option<Vec<String>>>, Option<f64>);

fn randomize(
    table: &Table,
    moved: &[bool],
    options: &ReleaseOptions,
    randomness: &Randomness,
) -> Result<Randomized> {
    let mut replaced = vec![None; moved.len()];
    let Some(text) = &options.randomizer else {
        return Ok((replaced, None));
    };
    let mechanism = mechanism::parse(text)?;
    let mut epsilon = 0.0;
    for column in (0..moved.len()).filter(|column| moved[*column]) {
        let labels = table.labels(column)?;
        let known = known(&labels, options);
        let values: Vec<String> = known.keys().map(|&label| label.to_owned()).collect();
        let bound = mechanism.bind(&values)?;
        check_randomizer(text, &*bound)?;
        epsilon += bound.epsilon();
        let mut rng = randomness.stream(u64::MAX - column as u64);
        let randomized = labels.iter().enumerate().map(|(row, label)| {
            let value = known.get(label.as_str()).ok_or_else(|| {
                let problem = format!("is not one of {}", option("values"));
                Error::data(table.place(row, column), problem)
            })?;
            Ok(bound.sample(*value, &mut rng).concat())
        });
        replaced[column] = Some(randomized.collect::<Result<Vec<String>>>()?);
    }
    let fixed_beforehand = !options.values.is_empty();
    Ok((replaced, fixed_beforehand.then_some(epsilon)))
}

/// The possible values of a column, with their positions in sorted order.
fn known<'a>(labels: &'a [String], options: &'a ReleaseOptions) -> BTreeMap<&'a str, usize> {
    let mut known: BTreeMap<&str, usize> = if options.values.is_empty() {
        labels.iter().map(|label| (label.as_str(), 0)).collect()
    } else {
        let values = options.values.iter();
        values.map(|label| (label.trim(), 0)).collect()
    };
    for (number, at) in known.values_mut().enumerate() {
        *at = number;
    }
    known
}

fn check_randomizer(text: &str, bound: &dyn BoundMechanism) -> Result<()> {
    if bound.columns().len() != 1 {
        return Err(Error::parameter(
            text,
            "writes several columns for one value; a randomizer must write one",
        ));
    }
    match bound.law(0) {
        Law::Labels(_) | Law::Integer(_) => Ok(()),
        Law::Real(_) | Law::Coordinates(_) | Law::Unknown(_) => Err(Error::parameter(
            text,
            "is continuous: the last digits of its output can reveal its input",
        )
        .with_hint("use geometric, discrete-gaussian or randomized-response")),
    }
}
