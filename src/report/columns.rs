//! Which columns depend on the secret: a table, a sentence, a file, a picture.

use crate::audit::{ColumnLimits, ColumnTest, Compared, Findings, LeakingColumns};
use crate::estimate::Method;
use crate::report::document::Document;
use crate::report::numbers::{plain, plain_below};
use crate::report::pairs::for_spreadsheets;
use crate::report::words::{column_title, method_name, p_value_of};
use leakgauge_base::error::{Error, Result, shorten};
use leakgauge_base::naming::setting;
use leakgauge_log::observations::ColumnType;
use leakgauge_plot::{self as plot, Axis, Caption, Chart, Layer, Mark, Spot};

/// Columns in the table.
const LISTED: usize = 10;
/// Columns that are named in a line.
const NAMED: usize = 3;
/// With fewer columns the short report leaves them to the whole one.
const MANY: usize = 10;
/// Columns that have their names beside their points.
const NAMED_IN_PICTURE: usize = 5;
/// The size of points that say nothing, of which there are many.
const SMALL: f64 = 0.5;
/// The first line of a file of columns, by which it is known as one of ours.
pub const COLUMNS_HEADER: &str = "column,compared,statistic,t_or_f,signal_to_noise,p_value";

/// What the section is called.
pub const HEADING: &str = "Which columns depend on the secret";

/// The section with its heading; nothing of a log of one column.
pub fn section(document: &mut Document, audit: &Findings) {
    if audit.leaking_columns.is_some() {
        document.heading(HEADING);
        body(document, audit);
    }
}

/// Columns that depend on the secret, the most certain first.
pub fn body(document: &mut Document, audit: &Findings) {
    let Some(found) = &audit.leaking_columns else {
        return;
    };
    let leaking = found.leaking();
    if !leaking.is_empty() {
        let is_pair = audit.input.secrets.len() == 2;
        let rows = leaking.iter().take(LISTED).map(|(name, test)| {
            vec![
                title(name),
                compared(test.compared).to_owned(),
                number(test.t_or_f),
                number(test.signal_to_noise),
                p_value_of(test.p_value),
            ]
        });
        let statistic = if is_pair { "Welch's t" } else { "F" };
        let header = vec![
            "column",
            "differs in",
            statistic,
            "signal to noise",
            "p-value",
        ];
        document.table(header, 2, rows.collect());
    }
    document.paragraph(whole(found, leaking.len()) + &labels_beside(audit));
    if let Some(limits) = &audit.column_limits {
        document.paragraph(alone(limits));
    }
}

/// What single columns say by themselves, with limits.
fn alone(limits: &ColumnLimits) -> String {
    let [a, b] = limits.secrets.labels().map(shorten);
    let columns = limits.columns.iter().map(|column| {
        let name = title(&column.name);
        match column.lower > 0.0 {
            true => format!(
                "{name} at least {} (estimate {})",
                plain_below(column.lower, 3),
                plain(column.distance, 3)
            ),
            false => format!("{name} nothing (estimate {})", plain(column.distance, 3)),
        }
    });
    let columns: Vec<String> = columns.collect();
    format!(
        "Total variation between {a} and {b} in one column alone, the {} that differ most on rows that do not judge: {}. These \
         limits hold together ({}; {} and {} independent certification rows).",
        columns.len(),
        columns.join(", "),
        method_name(Method::KolmogorovDkw),
        limits.rows[0],
        limits.rows[1]
    )
}

fn whole(found: &LeakingColumns, leaking: usize) -> String {
    let tested = found.single().len();
    if !found.are_tested() {
        return format!(
            "The {tested} columns of numbers were not tested one by one: with so many rows that takes too long. Observe fewer."
        );
    }
    let more = match leaking > LISTED {
        true => format!(" {} writes all.", setting("columns_file", "FILE")),
        false => String::new(),
    };
    let method = match found.assignments {
        0 => {
            format!(
                "too large a log for random assignments: exact tests of the {} that differ most, times their number",
                found.exact
            )
        }
        drawn => format!(
            "the largest statistic of all columns against that of {drawn} random assignments of the secrets"
        ),
    };
    let beside = products(found);
    format!(
        "{leaking} of {tested} columns of numbers{beside} stand out, all p-values together ({method}). Each is compared in its \
         mean, the mean of its ranks and their spread.{more}{}",
        made_of(found)
    )
}

/// How many products of two columns were tested too.
fn products(found: &LeakingColumns) -> String {
    match found.products {
        0 => String::new(),
        products => format!(" and {products} products of two"),
    }
}

/// What the products are of.
fn made_of(found: &LeakingColumns) -> String {
    match (found.products, found.window) {
        (0, _) => String::new(),
        (_, 1) => " In a product each column is less its mean over all rows.".to_owned(),
        (_, window) => format!(
            " A product is of the means of up to {window} neighbors, each column less its mean over all rows; with {} of \
             fewer columns it is of the columns themselves.",
            setting("observe", "A..B")
        ),
    }
}

/// That columns of labels were not tested, where there are any.
fn labels_beside(audit: &Findings) -> String {
    let columns = audit.input.columns.iter();
    let labels = columns.filter(|column| column.kind == ColumnType::Categorical);
    match labels.count() {
        0 => String::new(),
        1 => " One column of labels was not tested so.".to_owned(),
        labels => format!(" {labels} columns of labels were not tested so."),
    }
}

/// Whether any column stands out.
pub fn any(audit: &Findings) -> bool {
    let columns = audit.leaking_columns.as_ref();
    columns.is_some_and(|found| !found.leaking().is_empty())
}

/// A line for a report that fits on a screen: of many columns only.
pub fn line(audit: &Findings) -> Option<String> {
    let found = audit.leaking_columns.as_ref()?;
    let tested = found.single().len();
    if found.columns.len() < MANY {
        return None;
    }
    let beside = products(found);
    let leaking = found.leaking();
    let labels = labels_beside(audit);
    if !found.are_tested() {
        return Some(format!(
            "The {tested} columns of numbers were not tested one by one: they are too many.{labels}"
        ));
    }
    let named: Vec<String> = leaking
        .iter()
        .take(NAMED)
        .map(|(name, test)| format!("{} ({})", title(name), p_value_of(test.p_value)))
        .collect();
    Some(match leaking.len() {
        0 => match first(found) {
            Some((name, test)) => format!(
                "None of the {tested} columns of numbers{beside} stands out at this level; the first is {} ({}).{labels}",
                title(name),
                p_value_of(test.p_value)
            ),
            None => {
                format!(
                    "None of the {tested} columns of numbers{beside} stands out by itself.{labels}"
                )
            }
        },
        1 => format!(
            "Of {tested} columns of numbers{beside} one stands out: {}.{labels}",
            named[0]
        ),
        number => format!(
            "Of {tested} columns of numbers{beside} {number} stand out: {}{}.{labels}",
            named.join(", "),
            if number > NAMED { ", …" } else { "" }
        ),
    })
}

/// The column with the smallest p-value, where that is small.
fn first(found: &LeakingColumns) -> Option<&(String, ColumnTest)> {
    const SMALL: f64 = 0.05;
    let columns = found
        .columns
        .iter()
        .filter(|column| column.1.p_value <= SMALL);
    columns.min_by(|x, y| x.1.p_value.total_cmp(&y.1.p_value))
}

/// What a column is called, also one that has only a number, or a product of two.
fn title(name: &str) -> String {
    let factors = name.split(" × ").map(column_title);
    shorten(&factors.collect::<Vec<_>>().join(" × "))
}

/// What differs.
pub fn compared(compared: Compared) -> &'static str {
    match compared {
        Compared::Mean => "mean",
        Compared::Rank => "rank",
        Compared::Spread => "spread",
    }
}

fn number(value: f64) -> String {
    match value.is_finite() {
        true => plain(value, 3),
        false => "n/a".to_owned(),
    }
}

/// All columns as CSV, in the order of the log. A number that could not be had is an empty field.
///
/// # Errors
/// What the CSV writer reports.
pub fn columns_csv(audit: &Findings) -> Result<Vec<u8>> {
    let mut bytes = format!("{COLUMNS_HEADER},total_variation_at_least\n").into_bytes();
    let columns = audit
        .leaking_columns
        .iter()
        .flat_map(|found| &found.columns);
    let mut writer = csv::Writer::from_writer(&mut bytes);
    for (name, test) in columns {
        let ColumnTest {
            statistic,
            t_or_f,
            signal_to_noise,
            p_value,
            ..
        } = test;
        let limit = certified(audit, name).unwrap_or(f64::NAN);
        let numbers = [statistic, t_or_f, signal_to_noise, p_value, &limit];
        let numbers = numbers.map(|value| match value.is_finite() {
            true => value.to_string(),
            false => String::new(),
        });
        let fields = [
            for_spreadsheets(name).into_owned(),
            compared(test.compared).to_owned(),
        ];
        writer
            .write_record(fields.iter().chain(&numbers))
            .map_err(|error| Error::file("CSV", error.to_string()))?;
    }
    writer
        .flush()
        .map_err(|error| Error::file("CSV", error.to_string()))?;
    drop(writer);
    Ok(bytes)
}

/// The limit of the total variation of a column, where it has one.
fn certified(audit: &Findings, name: &str) -> Option<f64> {
    let limits = audit.column_limits.as_ref()?;
    let mut columns = limits.columns.iter();
    columns
        .find(|column| column.name == name)
        .map(|column| column.lower)
}

/// The statistic along the columns, and what all of them together need; of many columns.
pub fn picture(audit: &Findings) -> Option<String> {
    let found = audit.leaking_columns.as_ref()?;
    if found.single().len() < MANY {
        return None;
    }
    let place = |at: usize| at as f64 + 1.0;
    let (mut quiet, mut leaking, mut alone) = (Vec::new(), Vec::new(), Vec::new());
    for (at, (name, test)) in found.single().iter().enumerate() {
        let point = Spot {
            x: place(at),
            y: Some(test.statistic),
            ..Spot::default()
        };
        match found.stands_out(test) {
            _ if certified(audit, name).is_some_and(|limit| limit > 0.0) => alone.push(point),
            true => leaking.push(point),
            false => quiet.push(point),
        }
    }
    let quiet = Layer::new("does not stand out", 0, Mark::Points(quiet));
    let mut layers = vec![quiet.with_size(SMALL)];
    if !leaking.is_empty() {
        layers.push(Layer::new(
            "depends on the secret",
            1,
            Mark::Points(leaking),
        ));
    }
    if !alone.is_empty() {
        layers.push(Layer::new(
            "tells secrets apart by itself, certified",
            3,
            Mark::Points(alone),
        ));
    }
    let named = found.leaking().into_iter().filter_map(|(name, test)| {
        let at = found.single().iter().position(|column| column.0 == *name)?;
        Some(((place(at), test.statistic), shorten(name)))
    });
    let named = named.take(NAMED_IN_PICTURE);
    layers.push(Layer::new("", 1, Mark::Labels(named.collect())));
    if let Some(threshold) = found.threshold {
        layers.push(Layer::new(
            "threshold of all columns",
            2,
            Mark::Level(threshold),
        ));
    }
    let statistics = found.single().iter().map(|column| column.1.statistic);
    let top = 1.05 * statistics.fold(found.threshold.unwrap_or(1.0), f64::max);
    Some(plot::chart(&Chart {
        caption: Caption::new(
            "Which columns depend on the secret",
            format!(
                "The largest of three statistics of each of {} columns: of its mean, of its ranks, of their spread. A column \
                 above the threshold stands out among all.",
                found.single().len()
            ),
        ),
        x: Axis::linear("column"),
        y: Axis::linear("statistic").from_to(0.0, top),
        layers,
        aspect: 0.45,
    }))
}
