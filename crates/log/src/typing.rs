//! Deciding what a column holds: numbers with an order and a distance, or categories.

mod probe;

use serde::Serialize;

use crate::last;
use crate::layout::{self, Layout};
use crate::lists::Element;
use crate::notation::Notation;
use crate::observations::ColumnType;
use crate::options::{Missing, ReadOptions};
use crate::row::{MISSING, NULL, Row, is_number};
use crate::units::Unit;
use leakgauge_base::error::{Error, Place, Result, listing, shorten};
use leakgauge_base::naming::{option, setting};
pub(crate) use probe::occurrences;
use probe::{Probe, Unclear, cells};

/// Different numbers, or different words, of which a column has few.
pub(crate) const FEW_VALUES: usize = 20;

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
    /// Whether a word in a column of numbers is an observation of its own, not an error.
    pub words: bool,
    /// Whether what says that there is no time is an observation that is larger than all others.
    pub last: bool,
    /// Whether `nan` is a word among numbers, as what is missing is a label.
    pub nan_is_word: bool,
    /// A probed value, where nearly all begin like a number that cannot be read: `0.58 km`, `5 %`.
    pub like_a_number: Option<String>,
}

impl ColumnPlan {
    /// The same column, of forms: labels, whatever stands in them.
    fn of_forms(self) -> Self {
        ColumnPlan {
            unit: None,
            kind: ColumnType::Categorical,
            resolution: None,
            padded: false,
            integers: false,
            words: false,
            nan_is_word: false,
            like_a_number: None,
            ..self
        }
    }

    /// The same column, of numbers, whatever stands in it: in place of one a word is an observation of its own. Where
    /// there is more in a cell than these numbers, they are no alphabet to count on.
    fn of_numbers(self, is_summary: bool) -> Self {
        ColumnPlan {
            unit: None,
            kind: ColumnType::Numeric,
            padded: false,
            integers: false,
            countable: !is_summary,
            words: true,
            nan_is_word: false,
            like_a_number: None,
            ..self
        }
    }
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
/// A column holds numbers if at least half of its values are written as numbers, or if it has at most 20 different
/// words and more than 20 different numbers; blanks count for neither. Words and blanks among its numbers are
/// observations of their own: the column is mixed. But few numbers, each seen often, are categories: where they are
/// integers (but not where most columns are plain numbers: a vector of sizes stays a vector; nor where the log is known
/// to be `timed`: a coarse clock gives few times), and where words are among them. Anything else holds labels.
///
/// What is a number in a notation that is not read is an error, here or later, with its place; nothing is silently
/// retyped.
///
/// # Errors
/// A type or a resolution asked of something that is no observation column, types that contradict each other;
/// numbers with a decimal comma, with separators, or hexadecimal.
pub fn plan_columns(
    file: &str,
    rows: &[Row],
    layout: &Layout,
    elements: &[Option<Element>],
    options: &ReadOptions,
    timed: bool,
) -> Result<Vec<ColumnPlan>> {
    check_names(file, layout, elements, options)?;
    if options.missing == Missing::Last {
        let observed = layout.observe.iter().map(|&at| layout.names[at].as_str());
        let are_parts = elements.iter().any(Option::is_some);
        last::check(&observed.collect::<Vec<_>>(), are_parts, Place::file(file))?;
    }
    let occurrences = occurrences(rows, layout.count);
    let probes: Vec<Probe> = layout
        .observe
        .iter()
        .zip(elements)
        .map(|(&position, element)| {
            // What is known to be a number is not looked at.
            let is_known = element.as_ref().is_some_and(Element::is_number);
            let rows = if is_known { &[] } else { rows };
            Probe::of(&cells(rows, position, element.as_ref()), occurrences)
        })
        .collect();
    let number_columns = probes.iter().filter(|probe| probe.holds_numbers).count();
    let few_valued = probes.iter().filter(|probe| probe.few_integers).count();
    let integers_are_categories = !timed && 2 * few_valued >= number_columns;
    layout
        .observe
        .iter()
        .zip(elements)
        .zip(&probes)
        .map(|((&position, element), probe)| {
            let name = element
                .as_ref()
                .map(|element| element.name(&layout.names[position]));
            let column = (position, name.as_deref());
            let mut plan = plan_column(probe, integers_are_categories, layout, column, options)?;
            let known = element.as_ref();
            let known = known.filter(|element| element.is_label() || element.is_number());
            match known {
                Some(element) if element.is_label() => plan = plan.of_forms(),
                Some(element) => plan = plan.of_numbers(element.is_summary()),
                None => {}
            }
            let may_be_foreign = plan.decided == Decision::Inferred || plan.resolution.is_some();
            if may_be_foreign && known.is_none() {
                refuse_foreign(file, rows, &plan, probe)?;
            }
            if plan.resolution.is_some() && known.is_none() {
                refuse_words_in_bins(&plan, probe)?;
            }
            Ok(ColumnPlan {
                name: name.unwrap_or(plan.name.clone()),
                element: element.clone(),
                ..plan
            })
        })
        .collect()
}

fn plan_column(
    probe: &Probe,
    integers_are_categories: bool,
    layout: &Layout,
    (position, element): (usize, Option<&str>),
    options: &ReadOptions,
) -> Result<ColumnPlan> {
    let name = layout.names[position].clone();
    let is_named = |wanted: &str| layout.is_named(position, wanted);
    let categorical = options.categorical.iter().any(|wanted| is_named(wanted));
    // Blocks compare numbers, and what is larger than all others is one.
    let last = options.missing == Missing::Last;
    let numeric =
        last || options.is_blocked() || options.numeric.iter().any(|wanted| is_named(wanted));
    let resolution = match resolution_of_element(element, options) {
        Some(width) => Some(width),
        None => resolution(layout, position, options)?,
    };
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
    let integers = probe.few_integers && integers_are_categories;
    let is_strict = numeric || options.scores.is_some();
    let (kind, decided) = if categorical {
        (ColumnType::Categorical, Decision::Asked)
    } else if is_strict || resolution.is_some() {
        (ColumnType::Numeric, Decision::Asked)
    } else if probe.holds_numbers && !integers && !probe.few_with_words {
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
        integers: !categorical && integers,
        countable: decided == Decision::Inferred,
        words: kind == ColumnType::Numeric && !is_strict,
        last,
        nan_is_word: options.missing == Missing::Label,
        like_a_number: probe
            .like_a_number
            .clone()
            .filter(|_| kind == ColumnType::Categorical && !categorical),
    })
}

/// Bins are of numbers.
fn refuse_words_in_bins(plan: &ColumnPlan, probe: &Probe) -> Result<()> {
    if probe.has_numbers || plan.unit.is_some() {
        return Ok(());
    }
    let option = setting("resolution", shorten(&plan.name));
    Err(
        Error::parameter(option, "the first rows of this column hold no numbers").with_hint(
            "leave it out, or write numbers; of a list of numbers every cell must be written alike",
        ),
    )
}

/// The width of the bins of what is observed of a list, where it is named itself.
fn resolution_of_element(element: Option<&str>, options: &ReadOptions) -> Option<f64> {
    let mut resolutions = options.resolution.iter();
    let found = resolutions.find(|(wanted, _)| Some(wanted.as_str()) == element);
    found.map(|&(_, width)| width)
}

/// Numbers in a notation that is not read: as labels or as words they would show next to nothing.
fn refuse_foreign(file: &str, rows: &[Row], plan: &ColumnPlan, probe: &Probe) -> Result<()> {
    let labels = || setting("categorical", shorten(&plan.name));
    let (example, notation) = match (&probe.foreign, &probe.hexadecimal) {
        (Some((example, notation)), _) => (example, Some(*notation)),
        (None, Some(example)) if plan.kind == ColumnType::Categorical => (example, None),
        _ => match &probe.odd {
            Some(example) if plan.kind == ColumnType::Numeric => (example, Some(Notation::Other)),
            _ => match &probe.unclear {
                Some(unclear) if plan.kind == ColumnType::Categorical => {
                    return Err(refuse_unclear(file, rows, plan, unclear));
                }
                _ => return Ok(()),
            },
        },
    };
    let place = place_of(file, rows, plan, example);
    Err(match notation {
        Some(notation) => notation.advise(Error::data(place, notation.problem()), &labels()),
        None => {
            let problem = "looks like a hexadecimal number, as nearly all of the column do";
            Notation::Radix.advise(Error::data(place, problem), &labels())
        }
    })
}

/// Where a value stands in the first rows.
fn place_of(file: &str, rows: &[Row], plan: &ColumnPlan, value: &str) -> Place {
    let holds = |row: &&Row| row.text(plan.position).is_some_and(|f| f.trim() == value);
    let place = Place::file(file).column(&plan.name).value(value);
    match rows.iter().find(holds).and_then(Row::position) {
        Some(before) => place.row(before + 1),
        None => place,
    }
}

/// Numbers with units, or dates, that can mean several things.
fn refuse_unclear(file: &str, rows: &[Row], plan: &ColumnPlan, unclear: &Unclear) -> Error {
    let place = place_of(file, rows, plan, unclear.example());
    let (problem, advice) = match unclear {
        Unclear::Units(_) => (
            "is a number with a unit, and the numbers of this column have several units",
            "write all numbers in one unit",
        ),
        Unclear::Date(_) => (
            "is a date of which day and month cannot be told apart",
            "write dates as 2026-03-02",
        ),
    };
    let labels = setting("categorical", shorten(&plan.name));
    Error::data(place, problem).with_hint(format!(
        "{advice}, or read the column as labels with {labels}"
    ))
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

fn check_names(
    file: &str,
    layout: &Layout,
    elements: &[Option<Element>],
    options: &ReadOptions,
) -> Result<()> {
    let observed = || layout.observe.iter().zip(elements);
    let is_element = |wanted: &str| {
        observed().any(|(&position, element)| {
            element
                .as_ref()
                .is_some_and(|element| element.name(&layout.names[position]) == wanted)
        })
    };
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
        if layout.had_twice(wanted) {
            return Err(layout::ambiguous(file, field, wanted));
        }
        let is_column = layout
            .observe
            .iter()
            .any(|&position| layout.is_named(position, wanted));
        if !(is_column || field == "resolution" && is_element(wanted)) {
            let names = observed().map(|(&position, element)| {
                let name = &layout.names[position];
                let element = element.as_ref();
                element.map_or(name.clone(), |element| element.name(name))
            });
            let names: Vec<String> = names.collect();
            let columns = names.iter().map(String::as_str);
            return Err(Error::parameter(
                setting(field, shorten(wanted)),
                "is not an observation column",
            )
            .with_hint(format!("the observation columns are: {}", listing(columns))));
        }
    }
    Ok(())
}

/// What columns hold that are read as numbers of something, for the report.
pub fn notes(plans: &[ColumnPlan]) -> impl Iterator<Item = String> {
    plans.iter().filter_map(|plan| {
        let words = plan.unit?.description();
        Some(format!("Column {} {words}.", shorten(&plan.name)))
    })
}

/// Whether labels that were not asked for are mostly numbers: more than 20 different ones, and at least half of all.
pub(crate) fn are_mostly_numbers(plan: &ColumnPlan, labels: &[String]) -> bool {
    if plan.decided != Decision::Inferred || plan.integers || labels.len() <= FEW_VALUES {
        return false;
    }
    let numbers = labels.iter().filter(|label| is_number(label)).count();
    numbers > FEW_VALUES && 2 * numbers >= labels.len()
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

#[cfg(test)]
mod tests {
    use super::*;

    fn layout() -> Layout {
        Layout {
            secret_chosen: false,
            header: true,
            names: vec!["secret".into(), "x".into()],
            secret: vec![0],
            observe: vec![1],
            left_out: Vec::new(),
            count: None,
            group: None,
            row_id: None,
            order: Vec::new(),
        }
    }

    fn plan(values: &[&str], options: &ReadOptions) -> ColumnPlan {
        let rows: Vec<Row> = values.iter().map(|v| Row::of_texts(["s", v])).collect();
        plan_columns("log.csv", &rows, &layout(), &[None], options, false)
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
    fn words_among_many_numbers_are_observations_of_their_own() {
        let numbers: Vec<String> = (0..60).map(|n| format!("{}.5", n)).collect();
        let with = |words: &[&str]| {
            let mut values: Vec<&str> = numbers.iter().map(String::as_str).collect();
            values.extend(words);
            plan(&values, &ReadOptions::default())
        };
        for words in [&["timeout"; 7][..], &["ERR", ""], &["timeout"; 500]] {
            let plan = with(words);
            assert_eq!(
                (plan.kind, plan.words),
                (ColumnType::Numeric, true),
                "{words:?}"
            );
        }
        // As many different words as anything: labels.
        let words: Vec<String> = (0..70).map(|n| format!("w{n}")).collect();
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        assert_eq!(with(&words).kind, ColumnType::Categorical);
    }

    #[test]
    fn few_numbers_with_words_are_labels() {
        let mut values = vec!["0.5"; 99];
        values.push("oops");
        let plan = plan(&values, &ReadOptions::default());
        assert_eq!(plan.kind, ColumnType::Categorical);
        let labels = ["0.5", "oops"].map(str::to_owned);
        assert!(!are_mostly_numbers(&plan, &labels));
        let labels: Vec<String> = (0..30).map(|n| n.to_string()).collect();
        assert!(are_mostly_numbers(&plan, &labels));
    }

    #[test]
    fn foreign_notations_are_refused_unless_labels_are_asked_for() {
        let error = |values: &[&str]| {
            let rows: Vec<Row> = values.iter().map(|v| Row::of_texts(["s", v])).collect();
            plan_columns(
                "log.csv",
                &rows,
                &layout(),
                &[None],
                &ReadOptions::default(),
                false,
            )
            .unwrap_err()
            .to_string()
        };
        let hexadecimal: Vec<String> = (0..200u32).map(|n| format!("{:04x}", n * 331)).collect();
        let hexadecimal: Vec<&str> = hexadecimal.iter().map(String::as_str).collect();
        let categorical = ReadOptions {
            categorical: vec!["x".into()],
            ..ReadOptions::default()
        };
        for (values, problem) in [
            (&["1,234", "5,678"][..], "a comma"),
            (&["1 234", "999"], "thousands separators"),
            (&["1'234", "999", "timeout"], "thousands separators"),
            (&["1_000", "2_000"], "thousands separators"),
            (&["0x1F", "0x2A"], "hexadecimal"),
            (&["12", "13", "14a"], "begins like a number"),
            (&hexadecimal, "looks like a hexadecimal number"),
        ] {
            let error = error(values);
            assert!(error.contains(problem), "{problem}: {error}");
            assert!(error.contains("`categorical = x`"), "{error}");
            assert_eq!(plan(values, &categorical).kind, ColumnType::Categorical);
        }
        // Labels of any other kind stay labels.
        for values in [
            &["10.0.0.1", "10.0.0.2"][..],
            &["12:30", "12:45"],
            &["a1", "b2", "c3"],
            &["0,1", "1,0", "1,1"],
        ] {
            assert_eq!(
                plan(values, &ReadOptions::default()).kind,
                ColumnType::Categorical
            );
        }
    }
}
