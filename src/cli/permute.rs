//! `leakgauge permute`.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{Args, ValueEnum};
use leakgauge::base::error::{Error, Result};
use leakgauge::base::files::{AtomicFile, check_outputs};
use leakgauge::exact::permutation::Distance;
use leakgauge::permute::{
    Grouping, OrderChoice, OrderName, ReleaseOptions, Table, TableOptions, release,
};
use leakgauge::report::{self, Outputs};

use crate::cli::options::{FormatName, delimiter, use_threads};
use crate::cli::progress::{Progress, Stage};
use crate::cli::{command_line, terminal, to_stdout};

/// `permute`.
#[derive(Args)]
#[command(after_long_help = KEYS)]
pub struct PermuteArguments {
    /// CSV or TSV files, plain or gzip, `-` for standard input; several files with the same columns are one log
    #[arg(required = true, value_name = "LOG")]
    logs: Vec<String>,
    /// The file for the shuffled log; without it, only the report about the guarantee is printed
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// The columns whose values are shuffled, together; the other columns stay in their rows
    #[arg(
        long = "move",
        required = true,
        value_name = "COLUMN,…",
        value_delimiter = ','
    )]
    moved: Vec<String>,
    /// How rows are grouped. Groups may overlap. Values are shuffled near a reference order of all rows, so they also
    /// leave their groups, the more often the smaller alpha is; --within keeps them inside
    #[arg(long, value_enum, value_name = "KIND")]
    groups: GroupsName,
    /// The privacy parameter, smaller is more private: two orders of a group's values make any output equally
    /// likely up to a factor e^alpha; 0 shuffles all rows uniformly
    #[arg(long, value_name = "A", required_unless_present = "within")]
    alpha: Option<f64>,
    /// Instead of --alpha: shuffle every group by itself, uniformly, so that no value leaves its group; groups must not
    /// overlap. All orders of a group's values are then equally likely, and which group a value is of is not hidden
    #[arg(long, conflicts_with_all = ["alpha", "distance", "order", "bound_by_width", "also", "also_group_file"])]
    within: bool,
    /// The columns that define the groups
    #[arg(long, value_name = "COLUMN,…", value_delimiter = ',')]
    by: Vec<String>,
    /// The radius of a group: a distance, kilometers, or a number of edges
    #[arg(long, value_name = "R")]
    radius: Option<f64>,
    /// With --groups nearest, or path instead of --radius: the number of rows of a group
    #[arg(long, value_name = "N")]
    size: Option<usize>,
    /// With --groups path: a file with a header; each row is an edge between two rows of the log
    #[arg(long, value_name = "FILE")]
    edges: Option<String>,
    /// With --groups file: a file with a header; each row has the label of a group and a row of the log
    #[arg(long, value_name = "FILE")]
    group_file: Option<String>,
    /// The column whose values name rows in --edges, --group-file and --order-file [default: row numbers from 1]
    #[arg(long, value_name = "COLUMN")]
    id: Option<String>,
    /// The distance between permutations
    #[arg(long, value_enum, default_value = "kendall", value_name = "NAME")]
    distance: DistanceName,
    /// The reference order; alpha holds with each of them
    #[arg(long, value_enum, default_value = "best", value_name = "NAME")]
    order: OrderArgument,
    /// A file with a header that lists all rows in the reference order, one per row
    #[arg(long, value_name = "FILE", conflicts_with_all = ["order", "within"])]
    order_file: Option<String>,
    /// Use the paper's bound on the sensitivity, w(w + 1)/2 for width w, instead of the exact value
    #[arg(long)]
    bound_by_width: bool,
    /// First randomize every shuffled value by randomized response with this epsilon
    #[arg(long, value_name = "E", conflicts_with = "randomizer")]
    epsilon: Option<f64>,
    /// First randomize every shuffled value by this mechanism
    #[arg(long, value_name = "MECHANISM")]
    randomizer: Option<String>,
    /// The possible inputs of the randomizer [default: the values in the log]
    #[arg(long, value_name = "A,B,…", value_delimiter = ',')]
    values: Vec<String>,
    /// The epsilon of a randomization that was applied to the values before
    #[arg(long, value_name = "E")]
    already_epsilon: Option<f64>,
    /// Sizes of subsets, for the bound on locating their values (Theorem 4.2)
    #[arg(
        long,
        default_value = "1,5,10",
        value_name = "K,…",
        value_delimiter = ','
    )]
    subsets: Vec<u64>,
    /// Also report alpha for groups of these other radii or sizes (Theorem 4.4)
    #[arg(long, value_name = "R,…", value_delimiter = ',')]
    also: Vec<f64>,
    /// Also report alpha for the groups in these files (Theorem 4.4)
    #[arg(long, value_name = "FILE,…", value_delimiter = ',')]
    also_group_file: Vec<String>,
    /// The alphas of earlier independent releases of the same values with the same groups
    #[arg(long, value_name = "A,…", value_delimiter = ',')]
    previous: Vec<f64>,
    /// The probability with which a group may keep a smaller share than the simulated limit of eta
    #[arg(long, default_value_t = 0.05, value_name = "D")]
    delta: f64,
    /// With --distance hamming: the share of its values that a group is to keep (Theorem A.4)
    #[arg(long, default_value_t = 0.8, value_name = "H")]
    eta: f64,
    /// The number of simulated shuffles, 0 for none [default: the fewest that give a limit of eta at --delta]
    #[arg(long, value_name = "N")]
    trials: Option<u64>,
    /// The confidence level of the limits of eta
    #[arg(long, default_value_t = 0.95, value_name = "C")]
    confidence: f64,
    /// A seed, for tests only: anyone who knows it can undo the shuffle [default: randomness of the operating
    /// system]
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
    /// Also write the report as JSON
    #[arg(long, value_name = "FILE")]
    report: Option<PathBuf>,
    /// Also write the report as a self-contained HTML page
    ///
    /// Replaces an existing page of leakgauge, but no other file unless --force is given.
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
    /// Also write size, width, sensitivity and alpha of every group, as CSV
    #[arg(long, value_name = "FILE")]
    group_report: Option<PathBuf>,
    /// Also write which row received the values of which row; this file undoes the shuffle
    #[arg(long, value_name = "FILE", requires = "out")]
    permutation: Option<PathBuf>,
    /// Replace existing files, but never an input
    #[arg(long)]
    force: bool,
    /// Row 1 is data
    #[arg(long)]
    no_header: bool,
    /// Field delimiter, one character or `tab` [default: found in the first line]
    #[arg(long, value_name = "C")]
    delimiter: Option<String>,
    /// The number of threads; it does not change the result [default: all cores]
    #[arg(long, value_name = "N")]
    threads: Option<usize>,
    /// The format of the report on standard output
    #[arg(long, value_enum, default_value = "text", value_name = "FORMAT")]
    format: FormatName,
}

const KEYS: &str = "\
Keys of the JSON: alpha, within, epsilon (null: not randomized), width, sensitivity, sensitivity_bound (of the
paper), dispersion (theta; null: no value moved), distance, order, orders [{name, width,
kendall_sensitivity}], moved, stayed, groups {count, smallest, median, largest, uncovered, delta, confidence,
trials, eta, stay (the mean share of values that stay in their group), stay_if_uniform, list [{name, size, width, sensitivity, alpha, preserved {mean, eta}, failure}]}, subsets [{group,
subset, odds_of_losing, losing, winning}], other_groups [{groups, sensitivity, alpha}], composition
{previous, alpha}, warnings";

/// Groups by name.
#[derive(Clone, Copy, ValueEnum)]
enum GroupsName {
    /// Within --radius in the columns --by, Euclidean
    Distance,
    /// Within --radius kilometers; --by latitude,longitude in degrees
    Haversine,
    /// Each row with the --size − 1 rows nearest to it in the columns --by
    Nearest,
    /// At most --radius edges away in the graph --edges, or the --size rows that are fewest edges away
    Path,
    /// Equal values in the column --by
    Equal,
    /// The groups listed in --group-file
    File,
}

/// Distances by name.
#[derive(Clone, Copy, ValueEnum)]
enum DistanceName {
    /// Kendall's tau: the number of pairs in different order
    Kendall,
    /// The number of positions that differ
    Hamming,
}

/// Orders by name.
#[derive(Clone, Copy, ValueEnum)]
enum OrderArgument {
    /// The one with the smallest sensitivity
    Best,
    /// The one with the smallest width
    Narrowest,
    /// Breadth first from the largest group, as in the paper
    BreadthFirst,
    /// Reverse Cuthill–McKee
    ReverseCuthillMckee,
    /// By distance from the two ends of the graph, smoothed
    TwoEnded,
    /// By the column with the largest range
    Sweep,
}

/// Runs `permute`: the shuffled log into its file, the report on standard output.
pub fn permute(arguments: &PermuteArguments) -> Result<ExitCode> {
    use_threads(arguments.threads)?;
    let options = options(arguments)?;
    let places = check_places(arguments)?;
    let progress = Progress::of_stage(Stage::Shuffling);
    let table = Table::read(
        &arguments.logs,
        &TableOptions {
            no_header: arguments.no_header,
            delimiter: arguments.delimiter.as_deref().map(delimiter).transpose()?,
        },
    )?;
    let mut made = release(&table, &arguments.logs, &options)?;
    made.report.out = arguments
        .out
        .as_ref()
        .map(|file| file.display().to_string());
    let mut pending = Vec::new();
    if let Some(file) = &arguments.out {
        pending.push(AtomicFile::write(file, |out| made.write(&table, out))?);
    }
    if let Some(file) = &arguments.report {
        pending.push(AtomicFile::write(file, |out| {
            report::write_json(&made.report, out)
        })?);
    }
    if let Some(file) = &arguments.group_report {
        pending.push(AtomicFile::write(file, |out| made.write_groups(out))?);
    }
    if let Some(file) = &arguments.permutation {
        pending.push(AtomicFile::write_private(file, |out| {
            made.write_permutation(out)
        })?);
    }
    // All files are complete on disk before the first one gets its final name.
    pending.into_iter().try_for_each(AtomicFile::finish)?;
    let page = || report::permute_page(&made.report, &command_line());
    places.write(page, Vec::new)?;
    progress.finish();
    to_stdout(|out| report::write_permute(&made.report, arguments.format.layout(), out))?;
    Ok(ExitCode::SUCCESS)
}

fn check_places(arguments: &PermuteArguments) -> Result<Outputs> {
    let inputs: Vec<&Path> = arguments
        .logs
        .iter()
        .chain(&arguments.edges)
        .chain(&arguments.group_file)
        .chain(&arguments.also_group_file)
        .filter(|file| *file != "-")
        .map(Path::new)
        .collect();
    let mut outputs = Vec::new();
    for (option, file) in [
        ("out", &arguments.out),
        ("report", &arguments.report),
        ("group_report", &arguments.group_report),
        ("permutation", &arguments.permutation),
    ] {
        outputs.extend(file.iter().map(|file| (option, file.as_path())));
    }
    check_outputs(&outputs, &inputs, arguments.force)?;
    // The report replaces a file without being asked, but none of these.
    let report = terminal::output_file();
    outputs.extend(report.as_deref().map(|file| ("output", file)));
    outputs.extend(arguments.html.as_deref().map(|file| ("html", file)));
    check_outputs(&outputs, &inputs, true)?;
    Outputs::check(
        arguments.html.clone(),
        None,
        Vec::new(),
        arguments.force,
        &inputs,
    )
}

fn options(arguments: &PermuteArguments) -> Result<ReleaseOptions> {
    let epsilon = arguments.epsilon;
    if let Some(epsilon) = epsilon.filter(|epsilon| !(*epsilon > 0.0 && epsilon.is_finite())) {
        return Err(Error::setting(
            "epsilon",
            epsilon,
            "must be a positive number",
        ));
    }
    let randomizer = match epsilon {
        Some(epsilon) => Some(format!("randomized-response(epsilon={epsilon})")),
        None => arguments.randomizer.clone(),
    };
    if randomizer.is_none() && !arguments.values.is_empty() {
        return Err(Error::option("values", "needs --epsilon or --randomizer"));
    }
    Ok(ReleaseOptions {
        groups: grouping(arguments)?,
        id: arguments.id.clone(),
        // One of both is there; `within` has no use for the number.
        alpha: arguments.alpha.unwrap_or(1.0),
        within: arguments.within,
        distance: match arguments.distance {
            DistanceName::Kendall => Distance::Kendall,
            DistanceName::Hamming => Distance::Hamming,
        },
        order: order(arguments.order),
        order_file: arguments.order_file.clone(),
        bound_by_width: arguments.bound_by_width,
        moved: arguments.moved.clone(),
        randomizer,
        values: arguments.values.clone(),
        prior_epsilon: arguments.already_epsilon,
        subsets: arguments.subsets.clone(),
        alternative_radii: arguments.also.clone(),
        other_files: arguments.also_group_file.clone(),
        previous: arguments.previous.clone(),
        delta: arguments.delta,
        eta: arguments.eta,
        confidence: arguments.confidence,
        trials: arguments.trials,
        seed: arguments.seed,
    })
}

fn order(argument: OrderArgument) -> OrderChoice {
    OrderChoice::Named(match argument {
        OrderArgument::Best => return OrderChoice::Best,
        OrderArgument::Narrowest => return OrderChoice::Narrowest,
        OrderArgument::BreadthFirst => OrderName::BreadthFirst,
        OrderArgument::ReverseCuthillMckee => OrderName::ReverseCuthillMckee,
        OrderArgument::TwoEnded => OrderName::TwoEnded,
        OrderArgument::Sweep => OrderName::Sweep,
    })
}

/// Refuses grouping options that do not apply to the kind of groups, and the lack of those that it needs.
fn check_grouping(arguments: &PermuteArguments) -> Result<()> {
    let kind = arguments.groups;
    let name = kind
        .to_possible_value()
        .map_or_else(String::new, |value| value.get_name().to_owned());
    let given = [
        ("--by", !arguments.by.is_empty()),
        ("--radius", arguments.radius.is_some()),
        ("--size", arguments.size.is_some()),
        ("--edges", arguments.edges.is_some()),
        ("--group-file", arguments.group_file.is_some()),
        ("--id", arguments.id.is_some()),
    ];
    let (needed, allowed): (&[&str], &[&str]) = match kind {
        GroupsName::Distance | GroupsName::Haversine => (&["--by", "--radius"], &["--id"]),
        GroupsName::Nearest => (&["--by", "--size"], &["--id"]),
        GroupsName::Path if arguments.size.is_some() => (&["--edges", "--size"], &["--id"]),
        GroupsName::Path => (&["--edges", "--radius"], &["--id"]),
        GroupsName::Equal => (&["--by"], &["--id"]),
        GroupsName::File => (&["--group-file"], &["--id"]),
    };
    for (option, is_given) in given {
        if needed.contains(&option) && !is_given {
            return Err(Error::setting("groups", name, format!("needs {option}")));
        }
        if is_given && !needed.contains(&option) && !allowed.contains(&option) {
            let problem = format!("does not apply to --groups {name}");
            return Err(Error::parameter(option, problem));
        }
    }
    Ok(())
}

fn grouping(arguments: &PermuteArguments) -> Result<Grouping> {
    check_grouping(arguments)?;
    let by = arguments.by.clone();
    let radius = arguments.radius.unwrap_or_default();
    Ok(match arguments.groups {
        GroupsName::Distance => Grouping::Distance { by, radius },
        GroupsName::Haversine => Grouping::Earth { by, radius },
        GroupsName::Nearest => Grouping::Nearest {
            by,
            size: arguments.size.unwrap_or_default(),
        },
        GroupsName::Path if arguments.size.is_some() => Grouping::Closest {
            edges: arguments.edges.clone().unwrap_or_default(),
            size: arguments.size.unwrap_or_default(),
        },
        GroupsName::Path => Grouping::Path {
            edges: arguments.edges.clone().unwrap_or_default(),
            length: whole(radius)?,
        },
        GroupsName::Equal => match &by[..] {
            [column] => Grouping::Equal { by: column.clone() },
            _ => {
                let problem = "must be one column for --groups equal";
                return Err(Error::setting("by", by.join(","), problem));
            }
        },
        GroupsName::File => Grouping::Listed {
            file: arguments.group_file.clone().unwrap_or_default(),
        },
    })
}

fn whole(radius: f64) -> Result<u32> {
    if radius >= 0.0 && radius.fract() == 0.0 && radius <= f64::from(u32::MAX) {
        return Ok(radius as u32);
    }
    let problem = "must be a whole number of edges for --groups path";
    Err(Error::setting("radius", radius, problem))
}
