//! Deciding what a column holds: numbers with an order and a distance, or categories.

use std::borrow::Cow;
use std::collections::BTreeSet;

use serde::Serialize;

use crate::cell::occurrences_of;
use crate::layout::{self, Layout};
use crate::lists::{Element, Lists};
use crate::number::Number;
use crate::observations::ColumnType;
use crate::options::ReadOptions;
use crate::row::{Field, MISSING, NULL, Row, is_absent, is_number};
use crate::units::Unit;
use leakgauge_base::error::{Error, Place, Result, listing, shorten};
use leakgauge_base::naming::{option, setting};

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
    /// Numbers that were given as integers: where they recur, they are counted like labels, whoever decided
    /// the type.
    pub countable: bool,
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
/// A type or a resolution asked of something that is no observation column, types that contradict each other;
/// numbers with a decimal comma.
pub fn plan_columns(
    file: &str,
    rows: &[Row],
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
        .map(|(&position, &element)| Probe::of(&cells(rows, position, element), occurrences))
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
    let is_named = |wanted: &str| layout.is_named(position, wanted);
    let categorical = options.categorical.iter().any(|wanted| is_named(wanted));
    let numeric = options.numeric.iter().any(|wanted| is_named(wanted));
    let resolution = resolution(layout, position, options)?;
    if categorical && (numeric || resolution.is_some()) {
        return Err(Error::parameter(
            setting("categorical", shorten(&name)),
            "the same column is also asked to be numeric",
        )
        .with_hint(format!(
            "{} and {} are for numbers, {} for everything else",
            option("numeric"),
            option("resolution"),
            option("categorical")
        )));
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
        countable: decided == Decision::Inferred,
        number_share: probe.number_share,
        like_a_number: probe
            .like_a_number
            .clone()
            .filter(|_| kind == ColumnType::Categorical && !categorical),
    })
}

/// Numbers with a decimal comma, read as labels, would show next to nothing.
fn refuse_decimal_comma(file: &str, rows: &[Row], plan: &ColumnPlan) -> Result<()> {
    let with_comma = |text: &str| text.contains(',') && looks_like_a_number(text);
    let Some(example) = plan
        .like_a_number
        .as_deref()
        .filter(|text| with_comma(text))
    else {
        return Ok(());
    };
    let holds = |row: &&Row| row.text(plan.position).is_some_and(|f| f.trim() == example);
    let mut place = Place::file(file).column(&plan.name).value(example);
    if let Some(before) = rows.iter().find(holds).and_then(Row::position) {
        place = place.row(before + 1);
    }
    Err(Error::data(
        place,
        "is written with a decimal comma, as are nearly all of the column",
    )
    .with_hint(format!(
        "write numbers with a decimal point, or read the column as labels with {}",
        setting("categorical", shorten(&plan.name))
    )))
}

/// The width of a column's bins, if it has one.
pub(crate) fn resolution(
    layout: &Layout,
    position: usize,
    options: &ReadOptions,
) -> Result<Option<f64>> {
    let mut resolutions = options
        .resolution
        .iter()
        .filter(|(wanted, _)| layout.is_named(position, wanted));
    let resolution = resolutions.next().map(|&(_, width)| width);
    if resolutions.next().is_some() {
        return Err(Error::parameter(
            setting("resolution", shorten(&layout.names[position])),
            "the column is given two resolutions",
        )
        .with_hint("give each column one"));
    }
    Ok(resolution)
}

fn check_names(file: &str, layout: &Layout, options: &ReadOptions) -> Result<()> {
    let asked = [
        ("categorical", &options.categorical),
        ("numeric", &options.numeric),
    ];
    let resolutions = options
        .resolution
        .iter()
        .map(|(name, _)| ("resolution", name));
    for (field, wanted) in asked
        .iter()
        .flat_map(|(field, names)| names.iter().map(move |name| (*field, name)))
        .chain(resolutions)
    {
        if layout.names.iter().filter(|name| *name == wanted).count() > 1 {
            return Err(layout::ambiguous(file, field, wanted));
        }
        if !layout
            .observe
            .iter()
            .any(|&position| layout.is_named(position, wanted))
        {
            let columns = layout.observe.iter().map(|&p| layout.names[p].as_str());
            return Err(Error::parameter(
                setting(field, shorten(wanted)),
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
fn occurrences(rows: &[Row], count: Option<usize>) -> u64 {
    let occurred = |row: &Row| {
        let count = count.and_then(|column| match row.get(column)? {
            Field::Number(number) => occurrences_of(number).ok(),
            field => field.text().trim().parse().ok(),
        });
        count.unwrap_or(1u64)
    };
    rows.iter().map(occurred).fold(0, u64::saturating_add)
}

/// What a field says to whoever decides the type of its column.
enum Cell<'r> {
    /// A text, or what stands for no value.
    Text(Cow<'r, str>),
    /// A number in binary.
    Number(Number),
}

/// The fields of a column. What is no list in a column of lists is reported when its row is read.
fn cells(rows: &[Row], position: usize, element: Option<Element>) -> Vec<Cell<'_>> {
    let fields = rows.iter().filter_map(|row| row.get(position));
    let Some(element) = element else {
        return fields
            .map(|field| match field {
                Field::Number(number) => Cell::Number(number),
                field => Cell::Text(field.text()),
            })
            .collect();
    };
    let of_list = |field: Field| {
        let mut lists = Lists::default();
        let text = lists.text(position, element, &field.text());
        text.map_or(String::new(), Cow::into_owned)
    };
    fields
        .map(|field| Cell::Text(of_list(field).into()))
        .collect()
}

impl Probe {
    fn of(cells: &[Cell], occurrences: u64) -> Self {
        let is_present = |cell: &&Cell| match cell {
            Cell::Text(text) => !is_absent(text.trim()),
            Cell::Number(_) => true,
        };
        let present = || cells.iter().filter(is_present);
        let unit = unit_of(present());
        let value = |cell: &Cell| match (cell, unit) {
            (Cell::Text(text), Some(unit)) => unit.seconds(text.trim()),
            (Cell::Text(text), None) => text.trim().parse::<f64>().ok(),
            (Cell::Number(number), _) => Some(number.value()),
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
        let absent = cells.len() - present().count();
        let is_padded = |cell: &Cell| matches!(cell, Cell::Text(text) if text.starts_with(' '));
        Probe {
            like_a_number: like_a_number(cells).filter(|_| unit.is_none()),
            unit,
            padded: !cells.is_empty() && cells.iter().all(is_padded),
            all_numbers: numbers + absent == cells.len() && finite > 0,
            few_integers: integers
                && distinct.len() <= FEW_VALUES
                && occurrences >= OFTEN * distinct.len() as u64,
            number_share: numbers as f64 / cells.len().max(1) as f64,
        }
    }
}

/// The unit that all present cells are written in. A number in binary has none.
fn unit_of<'c>(present: impl Iterator<Item = &'c Cell<'c>>) -> Option<Unit> {
    let text = |cell: &'c Cell<'c>| match cell {
        Cell::Text(text) => Some(text.trim()),
        Cell::Number(_) => None,
    };
    let mut present = present.map(text).peekable();
    let first = (*present.peek()?)?;
    if is_number(first) {
        return None;
    }
    let texts: Vec<&str> = present.collect::<Option<_>>()?;
    Unit::of(texts.into_iter())
}

/// A text of a column of many, nearly all of which begin like a number.
fn like_a_number(cells: &[Cell]) -> Option<String> {
    let texts = || {
        cells.iter().filter_map(|cell| match cell {
            Cell::Text(text) => Some(text.trim()),
            Cell::Number(_) => None,
        })
    };
    let like_numbers = texts().filter(|text| looks_like_a_number(text)).count();
    let different: BTreeSet<&str> = texts().take(1000).collect();
    let nearly_all = 10 * like_numbers >= 9 * cells.len().max(1);
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
        let words = plan.unit?.description();
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
        Ok(value) => finite(value),
        Err(_) if field.is_empty() => Err("is blank, and the column is numeric"),
        Err(_) if field == MISSING => Err("the field is missing, and the column is numeric"),
        Err(_) if field == NULL => Err("is null, and the column is numeric"),
        Err(_) => Err("is not a number, and the column is numeric"),
    }
}

/// A number that is finite, or what is wrong with it.
pub fn finite(value: f64) -> std::result::Result<f64, &'static str> {
    match value.is_finite() {
        true => Ok(value),
        false => Err("is not a finite number, and the column is numeric"),
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
        let rows: Vec<Row> = values.iter().map(|v| Row::of_texts(["s", v])).collect();
        let layout = Layout {
            header: true,
            names: vec!["secret".into(), "x".into()],
            secret: vec![0],
            observe: vec![1],
            count: None,
            group: None,
            row_id: None,
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
