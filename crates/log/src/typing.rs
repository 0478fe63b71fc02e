//! Deciding what a column holds: numbers with an order and a distance, or categories.

use std::borrow::Cow;
use std::collections::BTreeSet;

use csv::StringRecord;
use serde::Serialize;

use crate::ReadOptions;
use crate::layout::{self, Layout, is_number};
use crate::lists::{Element, Lists};
use crate::observations::ColumnType;
use crate::records::{MISSING, NULL};
use crate::units::Unit;
use leakgauge_base::error::{Error, Place, Result, listing, shorten};

/// Integers that take at most this many values are read as categories.
const FEW_VALUES: usize = 20;
/// … if each is seen at least this often on average.
const OFTEN: u64 = 5;

/// How an observation column is read, and why.
#[derive(Debug, Clone, PartialEq)]
pub struct ColumnPlan {
    /// The column's name.
    pub name: String,
    /// Position in the file.
    pub position: usize,
    /// What is observed of it, if it holds lists.
    pub element: Option<Element>,
    /// What its numbers count, if it holds dates or durations.
    pub unit: Option<Unit>,
    /// Numbers or categories.
    pub kind: ColumnType,
    /// Who or what decided.
    pub decided: Decision,
    /// Width of the bins an observer can resolve, if the user gave one.
    pub resolution: Option<f64>,
    /// Labels that all begin with a blank, as after a delimiter: it is not part of them.
    pub padded: bool,
    /// Categories that are integers, however they are written.
    pub integers: bool,
    /// The share of the probed values that are numbers.
    pub number_share: f64,
    /// A probed value, where nearly all begin like a number that cannot be read: `0,966`, `0.58 ms`.
    pub like_a_number: Option<String>,
}

/// What a column's type rests on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Decision {
    /// The user said so.
    Asked,
    /// The first rows of the log.
    Inferred,
}

/// Types the observation columns of a log from its first rows.
///
/// A column is numeric if every probed value is written as a number and at least one is finite, unless
/// it holds few integers, each seen often: those are categories (but not where most columns are plain
/// numbers: a vector of sizes stays a vector). What is not a finite number in a
/// numeric column is an error later, with its place; nothing is silently retyped.
///
/// # Errors
/// `--categorical`, `--numeric` or `--resolution` naming something that is no observation column, or
/// contradicting each other; numbers with a decimal comma.
pub fn plan_columns(
    file: &str,
    rows: &[StringRecord],
    layout: &Layout,
    elements: &[Option<Element>],
    options: &ReadOptions,
) -> Result<Vec<ColumnPlan>> {
    check_names(file, layout, options)?;
    let occurrences = occurrences(rows, layout.count);
    let probes: Vec<Probe> = layout
        .observe
        .iter()
        .zip(elements)
        .map(|(&position, &element)| Probe::of(&texts(rows, position, element), occurrences))
        .collect();
    let number_columns = probes.iter().filter(|probe| probe.all_numbers).count();
    let few_valued = probes
        .iter()
        .filter(|probe| probe.all_numbers && probe.few_integers)
        .count();
    let integers_are_categories = 2 * few_valued >= number_columns;
    layout
        .observe
        .iter()
        .zip(elements)
        .zip(&probes)
        .map(|((&position, &element), probe)| {
            let plan = plan_column(probe, integers_are_categories, layout, position, options)?;
            refuse_decimal_comma(file, rows, &plan)?;
            Ok(ColumnPlan {
                name: element.map_or(plan.name.clone(), |element| element.name(&plan.name)),
                element,
                ..plan
            })
        })
        .collect()
}

fn plan_column(
    probe: &Probe,
    integers_are_categories: bool,
    layout: &Layout,
    position: usize,
    options: &ReadOptions,
) -> Result<ColumnPlan> {
    let name = layout.names[position].clone();
    let is_named = |wanted: &str| names_column(layout, position, wanted);
    let categorical = options.categorical.iter().any(|wanted| is_named(wanted));
    let numeric = options.numeric.iter().any(|wanted| is_named(wanted));
    let resolution = resolution(layout, position, options)?;
    if categorical && (numeric || resolution.is_some()) {
        return Err(Error::parameter(
            format!("--categorical {}", shorten(&name)),
            "the same column is also asked to be numeric",
        )
        .with_hint(
            "--numeric and --resolution are for numbers, --categorical for everything else",
        ));
    }
    let category_like = probe.few_integers && integers_are_categories;
    let (kind, decided) = if categorical {
        (ColumnType::Categorical, Decision::Asked)
    } else if numeric || resolution.is_some() || options.scores.is_some() {
        (ColumnType::Numeric, Decision::Asked)
    } else if probe.all_numbers && !category_like {
        (ColumnType::Numeric, Decision::Inferred)
    } else {
        (ColumnType::Categorical, Decision::Inferred)
    };
    Ok(ColumnPlan {
        name,
        position,
        element: None,
        unit: probe.unit.filter(|_| kind == ColumnType::Numeric),
        kind,
        decided,
        resolution,
        padded: probe.padded,
        integers: !categorical && probe.all_numbers && category_like,
        number_share: probe.number_share,
        like_a_number: probe
            .like_a_number
            .clone()
            .filter(|_| kind == ColumnType::Categorical && !categorical),
    })
}

/// Numbers with a decimal comma, read as labels, would show next to nothing.
fn refuse_decimal_comma(file: &str, rows: &[StringRecord], plan: &ColumnPlan) -> Result<()> {
    let with_comma = |text: &str| text.contains(',') && looks_like_a_number(text);
    let Some(example) = plan
        .like_a_number
        .as_deref()
        .filter(|text| with_comma(text))
    else {
        return Ok(());
    };
    let holds = |row: &&StringRecord| row.get(plan.position).is_some_and(|f| f.trim() == example);
    let mut place = Place::file(file).column(&plan.name).value(example);
    if let Some(position) = rows.iter().find(holds).and_then(StringRecord::position) {
        place = place.row(position.record() + 1);
    }
    let name = shorten(&plan.name);
    Err(Error::data(
        place,
        "is written with a decimal comma, as are nearly all of the column",
    )
    .with_hint(format!(
        "write numbers with a decimal point, or read the column as labels with --categorical {name}"
    )))
}

/// The width of a column's bins, if it has one.
fn resolution(layout: &Layout, position: usize, options: &ReadOptions) -> Result<Option<f64>> {
    let mut resolutions = options
        .resolution
        .iter()
        .filter(|(wanted, _)| names_column(layout, position, wanted));
    let resolution = resolutions.next().map(|&(_, width)| width);
    if resolutions.next().is_some() {
        return Err(Error::parameter(
            format!("--resolution {}", shorten(&layout.names[position])),
            "the column is given two resolutions",
        )
        .with_hint("give each column one"));
    }
    Ok(resolution)
}

pub fn names_column(layout: &Layout, position: usize, wanted: &str) -> bool {
    layout.names[position] == wanted
        || (!layout.names.iter().any(|name| name == wanted) && wanted.parse() == Ok(position + 1))
}

fn check_names(file: &str, layout: &Layout, options: &ReadOptions) -> Result<()> {
    let asked = [
        ("--categorical", &options.categorical),
        ("--numeric", &options.numeric),
    ];
    let resolutions = options
        .resolution
        .iter()
        .map(|(name, _)| ("--resolution", name));
    for (option, wanted) in asked
        .iter()
        .flat_map(|(option, names)| names.iter().map(move |name| (*option, name)))
        .chain(resolutions)
    {
        if layout.names.iter().filter(|name| *name == wanted).count() > 1 {
            return Err(layout::ambiguous(file, option, wanted));
        }
        if !layout
            .observe
            .iter()
            .any(|&position| names_column(layout, position, wanted))
        {
            let columns = layout.observe.iter().map(|&p| layout.names[p].as_str());
            return Err(Error::parameter(
                format!("{option} {}", shorten(wanted)),
                "is not an observation column",
            )
            .with_hint(format!("the observation columns are: {}", listing(columns))));
        }
    }
    Ok(())
}

/// What the first rows say of a column.
struct Probe {
    like_a_number: Option<String>,
    unit: Option<Unit>,
    padded: bool,
    all_numbers: bool,
    few_integers: bool,
    number_share: f64,
}

/// How many rows the first rows stand for.
fn occurrences(rows: &[StringRecord], count: Option<usize>) -> u64 {
    let occurred = |row: &StringRecord| {
        let count = count.and_then(|column| row.get(column)?.trim().parse().ok());
        count.unwrap_or(1u64)
    };
    rows.iter().map(occurred).fold(0, u64::saturating_add)
}

/// The texts of a column. What is no list in a column of lists is reported when its row is read.
fn texts(rows: &[StringRecord], position: usize, element: Option<Element>) -> Vec<Cow<'_, str>> {
    let fields = rows.iter().filter_map(|row| row.get(position));
    let Some(element) = element else {
        return fields.map(Cow::Borrowed).collect();
    };
    let of_list = |field: &str| {
        let mut lists = Lists::default();
        let text = lists.text(position, element, field);
        text.map_or(String::new(), Cow::into_owned)
    };
    fields.map(|field| of_list(field).into()).collect()
}

/// Whether a field holds nothing.
fn is_absent(text: &str) -> bool {
    matches!(text, "" | MISSING | NULL)
}

impl Probe {
    fn of(fields: &[Cow<str>], occurrences: u64) -> Self {
        let texts = || fields.iter().map(|field| field.trim());
        let present = || texts().filter(|text| !is_absent(text));
        let unit = match present().next() {
            Some(first) if !is_number(first) => Unit::of(present()),
            _ => None,
        };
        let value = |text: &str| match unit {
            Some(unit) => unit.seconds(text),
            None => text.parse::<f64>().ok(),
        };
        let (mut numbers, mut finite, mut integers) = (0usize, 0usize, true);
        let mut distinct = BTreeSet::new();
        for value in present().filter_map(value) {
            numbers += 1;
            finite += usize::from(value.is_finite());
            integers &= unit.map_or(value == value.trunc(), |unit| unit.is_whole(value));
            if distinct.len() <= FEW_VALUES {
                distinct.insert(value.to_bits());
            }
        }
        // A blank among numbers is a missing number, to be reported; a column of words may hold blanks.
        let absent = fields.len() - present().count();
        Probe {
            like_a_number: like_a_number(fields).filter(|_| unit.is_none()),
            unit,
            padded: !fields.is_empty() && fields.iter().all(|field| field.starts_with(' ')),
            all_numbers: numbers + absent == fields.len() && finite > 0,
            few_integers: integers
                && distinct.len() <= FEW_VALUES
                && occurrences >= OFTEN * distinct.len() as u64,
            number_share: numbers as f64 / fields.len().max(1) as f64,
        }
    }
}

/// A text of a column of many, nearly all of which begin like a number.
fn like_a_number(fields: &[Cow<str>]) -> Option<String> {
    let texts = || fields.iter().map(|field| field.trim());
    let like_numbers = texts().filter(|text| looks_like_a_number(text)).count();
    let different: BTreeSet<&str> = texts().take(1000).collect();
    let nearly_all = 10 * like_numbers >= 9 * fields.len().max(1);
    let mut like = texts().filter(|text| looks_like_a_number(text));
    like.next()
        .filter(|_| nearly_all && different.len() > FEW_VALUES)
        .map(str::to_owned)
}

/// A number with a decimal comma, or with a unit behind it.
fn looks_like_a_number(text: &str) -> bool {
    let with_point = text.replacen(',', ".", 1);
    let value = with_point
        .trim_end_matches(|letter: char| letter.is_alphabetic() || letter == ' ' || letter == '%');
    text.parse::<f64>().is_err()
        && value.contains(['.', '0', '1', '2', '3', '4', '5', '6', '7', '8', '9'])
        && value.parse::<f64>().is_ok()
}

/// What columns hold that are read as numbers of something, for the report.
pub fn notes(plans: &[ColumnPlan]) -> impl Iterator<Item = String> {
    plans.iter().filter_map(|plan| {
        let words = plan.unit?.in_words();
        Some(format!("Column {} {words}.", shorten(&plan.name)))
    })
}

/// Whether a column of categories holds numbers nearly everywhere: probably a typo in a numeric column.
pub fn is_suspicious(plan: &ColumnPlan) -> bool {
    plan.kind == ColumnType::Categorical
        && plan.decided == Decision::Inferred
        && (0.9..1.0).contains(&plan.number_share)
}

/// The finite number a field holds, or what is wrong with it.
pub fn finite_number(field: &str) -> std::result::Result<f64, &'static str> {
    match field.parse::<f64>() {
        Ok(value) if value.is_finite() => Ok(value),
        Ok(_) => Err("is not a finite number, and the column is numeric"),
        Err(_) if field.is_empty() => Err("is blank, and the column is numeric"),
        Err(_) if field == MISSING => Err("the field is missing, and the column is numeric"),
        Err(_) if field == NULL => Err("is null, and the column is numeric"),
        Err(_) => Err("is not a number, and the column is numeric"),
    }
}

/// The number of decimals a number is written with, or `None` if it is written with an exponent.
pub fn decimals(field: &str) -> Option<u32> {
    debug_assert!(is_number(field));
    let mut after_point = 0;
    for (at, byte) in field.bytes().enumerate() {
        match byte {
            b'e' | b'E' => return None,
            b'.' => after_point = field.len() - at - 1,
            _ => {}
        }
    }
    u32::try_from(after_point).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan(values: &[&str], options: &ReadOptions) -> ColumnPlan {
        let rows: Vec<StringRecord> = values
            .iter()
            .map(|v| StringRecord::from(vec!["s", v]))
            .collect();
        let layout = Layout {
            header: true,
            names: vec!["secret".into(), "x".into()],
            secret: vec![0],
            observe: vec![1],
            count: None,
        };
        plan_columns("log.csv", &rows, &layout, &[None], options)
            .unwrap()
            .remove(0)
    }

    #[test]
    fn few_integers_seen_often_are_categories_and_the_user_may_say_otherwise() {
        let values: Vec<&str> = ["0", "1", "2"].repeat(10);
        assert_eq!(
            plan(&values, &ReadOptions::default()).kind,
            ColumnType::Categorical
        );
        let numeric = ReadOptions {
            numeric: vec!["x".into()],
            ..ReadOptions::default()
        };
        assert_eq!(plan(&values, &numeric).kind, ColumnType::Numeric);
    }

    #[test]
    fn nan_inf_and_blank_do_not_make_a_column_of_numbers_categorical() {
        for hole in ["NaN", "inf", ""] {
            let values = ["0.5", "1.5", hole, "2.5"];
            assert_eq!(
                plan(&values, &ReadOptions::default()).kind,
                ColumnType::Numeric,
                "{hole}"
            );
        }
        assert_eq!(
            finite_number("NaN"),
            Err("is not a finite number, and the column is numeric")
        );
    }

    #[test]
    fn one_word_among_numbers_makes_categories_and_looks_suspicious() {
        let mut values = vec!["0.5"; 99];
        values.push("oops");
        let plan = plan(&values, &ReadOptions::default());
        assert_eq!(plan.kind, ColumnType::Categorical);
        assert!(is_suspicious(&plan));
    }

    #[test]
    fn decimals_are_read_from_the_text() {
        assert_eq!(decimals("1.250"), Some(3));
        assert_eq!(decimals("-7"), Some(0));
        assert_eq!(decimals("1e-3"), None);
    }
}
