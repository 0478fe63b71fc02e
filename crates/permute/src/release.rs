//! A release: a log shuffled within groups, and what is to be said about it.

use std::collections::BTreeMap;

use super::edges::{read_edges, read_group_file};
use super::groups::Groups;
use super::order::OrderChoice;
use super::plan::Plan;
use super::points::Points;
use super::preservation::trials_for;
use super::randomness::Randomness;
use super::report::{self, Report};
use super::sensitivity::{sensitivity, spread};
use super::table::Table;
use leakgauge_base::error::{Error, Result};
use leakgauge_exact::mechanism::{self, BoundMechanism, Law};
use leakgauge_exact::permutation::Distance;

/// Where groups come from.
#[derive(Debug, Clone, PartialEq)]
pub enum Grouping {
    /// All rows within a Euclidean distance in some columns.
    Distance {
        /// The columns.
        by: Vec<String>,
        /// The distance.
        radius: f64,
    },
    /// All rows within so many kilometers; the columns are latitude and longitude in degrees.
    Earth {
        /// The columns.
        by: Vec<String>,
        /// Kilometers.
        radius: f64,
    },
    /// So many nearest rows, itself included.
    Nearest {
        /// The columns.
        by: Vec<String>,
        /// Rows of a group.
        size: usize,
    },
    /// All rows at most so many edges away in a graph.
    Path {
        /// The file of the edges.
        edges: String,
        /// Edges.
        length: u32,
    },
    /// Rows with equal values of a column.
    Equal {
        /// The column.
        by: String,
    },
    /// Groups in a file.
    Listed {
        /// The file.
        file: String,
    },
}

/// What a release is to be.
#[derive(Debug, Clone, PartialEq)]
pub struct ReleaseOptions {
    /// The groups.
    pub groups: Grouping,
    /// The column that files of edges or groups call rows by; their numbers from 1 if not given.
    pub id: Option<String>,
    /// α.
    pub alpha: f64,
    /// The distance of the Mallows model.
    pub distance: Distance,
    /// The reference order.
    pub order: OrderChoice,
    /// Whether to use the paper's bound of the sensitivity in place of the exact one.
    pub bound_by_width: bool,
    /// The columns that move.
    pub moved: Vec<String>,
    /// A mechanism that each column that moves goes through first.
    pub randomizer: Option<String>,
    /// The values that such a column can have; those of the log if empty.
    pub values: Vec<String>,
    /// The ε of a randomization that happened before.
    pub prior_epsilon: Option<f64>,
    /// Sizes of subsets for Theorem 4.2.
    pub subsets: Vec<u64>,
    /// Other radii, lengths or sizes for Theorem 4.4.
    pub alternative_radii: Vec<f64>,
    /// Other files of groups for Theorem 4.4.
    pub other_files: Vec<String>,
    /// The α of independent releases of the same values that there were before.
    pub previous: Vec<f64>,
    /// δ of the simulated preservation.
    pub delta: f64,
    /// η of Theorem A.4.
    pub eta: f64,
    /// Level of the limits of η.
    pub confidence: f64,
    /// Simulated shuffles; as few as can limit η if not given, 0 for none.
    pub trials: Option<u64>,
    /// A seed; that of the operating system if not given.
    pub seed: Option<u64>,
}

/// A shuffled log.
#[derive(Debug, Clone)]
pub struct Release {
    /// What is to be said about it.
    pub report: Report,
    /// The groups.
    pub groups: Groups,
    /// The shuffler.
    pub plan: Plan,
    /// Row i received the value of row `permutation[i]`. To be kept secret.
    pub permutation: Vec<u32>,
    moved: Vec<bool>,
    replaced: Vec<Option<Vec<String>>>,
}

impl Release {
    /// Writes the shuffled log.
    ///
    /// # Errors
    /// What the writer reports.
    pub fn write(&self, table: &Table, out: &mut dyn std::io::Write) -> std::io::Result<()> {
        table.write(out, &self.permutation, &self.moved, &self.replaced)
    }

    /// Writes the permutation, rows from 1.
    ///
    /// # Errors
    /// What the writer reports.
    pub fn write_permutation(&self, out: &mut dyn std::io::Write) -> std::io::Result<()> {
        writeln!(out, "row,received_from")?;
        for (row, from) in self.permutation.iter().enumerate() {
            writeln!(out, "{},{}", row + 1, u64::from(*from) + 1)?;
        }
        Ok(())
    }

    /// Writes size, width, sensitivity and α of every group.
    ///
    /// # Errors
    /// What the writer reports.
    pub fn write_groups(&self, out: &mut dyn std::io::Write) -> std::io::Result<()> {
        report::write_groups(&self.groups, &self.plan, out)
    }
}

/// Shuffles a log.
///
/// # Errors
/// Options that cannot be, columns or rows that are not there, fields that are no numbers or blank.
pub fn release(table: &Table, files: &[String], options: &ReleaseOptions) -> Result<Release> {
    check(options)?;
    let moved = moved_columns(table, options)?;
    let ids = match &options.id {
        Some(name) => Some(table.labels(table.column("--id", name)?)?),
        None => None,
    };
    let (groups, points) = group(table, &options.groups, ids.as_deref())?;
    let plan = plan(&groups, points.as_ref(), options)?;
    let mut randomness = match options.seed {
        Some(seed) => Randomness::seeded(seed),
        None => Randomness::fresh()?,
    };
    let (replaced, randomized) = randomize(table, &moved, options, &randomness)?;
    let epsilon = match (options.prior_epsilon, randomized) {
        // What is done to randomized values cannot weaken what was promised of them.
        (Some(already), Some(now)) => Some(already.min(now)),
        (already, now) => already.or(now),
    };
    let others = others(table, &plan, options, ids.as_deref(), points.as_ref())?;
    let permutation = plan.permutation(&mut randomness);
    let trials = trials(options)?;
    let report = report::build(&report::Facts {
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

fn plan(groups: &Groups, points: Option<&Points>, options: &ReleaseOptions) -> Result<Plan> {
    let ReleaseOptions {
        alpha,
        distance,
        order,
        ..
    } = *options;
    let plan = Plan::new(groups, alpha, distance, order, points)?;
    Ok(if options.bound_by_width {
        plan.with_bound()
    } else {
        plan
    })
}

/// More simulated shuffles than this take too long.
const MAX_TRIALS: u64 = 1_000_000;

fn trials(options: &ReleaseOptions) -> Result<u64> {
    let fewest = || trials_for(options.delta, options.confidence);
    let trials = options.trials.unwrap_or_else(fewest);
    if trials <= MAX_TRIALS {
        return Ok(trials);
    }
    let (what, hint) = match options.trials {
        Some(trials) => (format!("--trials {trials}"), "name fewer"),
        None => (
            format!("--delta {}", options.delta),
            "a larger delta needs fewer, --trials 0 none",
        ),
    };
    let problem = format!("needs {trials} simulated shuffles, and {MAX_TRIALS} are the most");
    Err(Error::parameter(what, problem).with_hint(hint))
}

fn check(options: &ReleaseOptions) -> Result<()> {
    let wrong = |what: String, problem: &str| Err(Error::parameter(what, problem));
    let share = |x: f64| x > 0.0 && x < 1.0;
    if !share(options.delta) {
        return wrong(
            format!("--delta {}", options.delta),
            "must be between 0 and 1",
        );
    }
    if !share(options.confidence) {
        return wrong(
            format!("--confidence {}", options.confidence),
            "must be between 0 and 1",
        );
    }
    if !(0.0..=1.0).contains(&options.eta) {
        return wrong(format!("--eta {}", options.eta), "must be between 0 and 1");
    }
    if let Some(epsilon) = options.prior_epsilon.filter(|e| e.is_nan() || *e < 0.0) {
        return wrong(format!("--already-epsilon {epsilon}"), "must be at least 0");
    }
    if let Some(alpha) = options.previous.iter().find(|a| a.is_nan() || **a < 0.0) {
        return wrong(format!("--previous {alpha}"), "must be at least 0");
    }
    trials(options).map(|_| ())
}

/// Which columns move.
fn moved_columns(table: &Table, options: &ReleaseOptions) -> Result<Vec<bool>> {
    let mut moved = vec![false; table.names.len()];
    for name in &options.moved {
        moved[table.column("--move", name)?] = true;
    }
    let stay: Vec<&String> = match &options.groups {
        Grouping::Distance { by, .. }
        | Grouping::Earth { by, .. }
        | Grouping::Nearest { by, .. } => by.iter().collect(),
        Grouping::Equal { by } => vec![by],
        Grouping::Path { .. } | Grouping::Listed { .. } => Vec::new(),
    };
    for name in stay.into_iter().chain(&options.id) {
        if moved[table.column("--by", name)?] {
            return Err(Error::parameter(
                format!("--move {name}"),
                "this column makes the groups, and has to stay with its row",
            ));
        }
    }
    Ok(moved)
}

/// The groups, and the points that they were made from.
fn group(
    table: &Table,
    grouping: &Grouping,
    ids: Option<&[String]>,
) -> Result<(Groups, Option<Points>)> {
    let columns = |by: &[String]| -> Result<Vec<usize>> {
        by.iter().map(|name| table.column("--by", name)).collect()
    };
    Ok(match grouping {
        Grouping::Distance { by, radius } => {
            let points = table.points(&columns(by)?)?;
            (Groups::within(&points, *radius)?, Some(points))
        }
        Grouping::Earth { by, radius } => {
            let &[latitude, longitude] = &columns(by)?[..] else {
                return Err(Error::parameter(
                    format!("--by {}", by.join(",")),
                    "needs two columns on earth: latitude, longitude",
                ));
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
        Grouping::Equal { by } => {
            let labels = table.labels(table.column("--by", by)?)?;
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
        Grouping::Equal { .. } | Grouping::Listed { .. } => return None,
    })
}

/// The sensitivity of other groups at the same reference order, by what they are called.
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
            Error::parameter(
                format!("--also {size}"),
                "is no radius, length or size of these groups",
            )
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

/// New values for the columns that move, and the ε of all together; none where the values that there can
/// be were taken from the log, for then another log has others.
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
        let told = labels.iter().enumerate().map(|(row, label)| {
            let value = known
                .get(label.as_str())
                .ok_or_else(|| Error::data(table.place(row, column), "is none of --values"))?;
            Ok(bound.sample(*value, &mut rng).concat())
        });
        replaced[column] = Some(told.collect::<Result<Vec<String>>>()?);
    }
    let fixed_beforehand = !options.values.is_empty();
    Ok((replaced, fixed_beforehand.then_some(epsilon)))
}

/// The values that a column can have, with their numbers.
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
            "tells several columns of one value, which cannot take the place of it",
        ));
    }
    match bound.law(0) {
        Law::Labels(_) | Law::Integer(_) => Ok(()),
        Law::Real(_) | Law::Coordinates(_) | Law::Unknown(_) => Err(Error::parameter(
            text,
            "is continuous: the last digits of what it writes would give its input away",
        )
        .with_hint("use geometric, discrete-gaussian or randomized-response")),
    }
}
