//! The observation of a row as a tuple of words: bits of numbers, numbers of labels.

use std::borrow::Cow;

use crate::cell::{self, at_column, bin, canonical};
use crate::fold::Interner;
use crate::integers::{self, Part};
use crate::labels;
use crate::layout::Layout;
use crate::lists::{Element, Lists};
use crate::notation::Notation;
use crate::number::Number;
use crate::observations::ColumnType;
use crate::options::{Missing, is_last};
use crate::row::{Field, MISSING, Row, is_not_a_number, is_number};
use crate::spelling::{Merged, Spelling};
use crate::typing::{self, ColumnPlan};
use leakgauge_base::error::{Error, Place, Result, shorten};
use leakgauge_base::naming::{option, setting};

/// Encodes observations, and what is found on the way.
#[derive(Default)]
pub struct Encoder {
    /// Per column: the keys of its labels, or of the words among its numbers.
    pub labels: Vec<Interner>,
    /// Per column: the most decimals that a number was written with.
    pub decimals: Vec<Option<u32>>,
    /// Whether all numbers are integers that are told apart.
    pub integers: bool,
    /// The observation encoded last.
    pub tuple: Vec<u64>,
    /// Per column: how its numbers are written.
    spellings: Vec<Spelling>,
    /// Whether numbers are scores.
    scores: bool,
    lists: Lists,
    /// Where numbers are written that are labels.
    text: String,
}

/// Where a cell stands, should something be wrong with it.
struct At<'r> {
    place: &'r dyn Fn() -> Place,
    layout: &'r Layout,
    column: usize,
    row: &'r Row,
}

impl At<'_> {
    /// What the cell is; an element of a list is a text.
    fn field(&self, plan: &ColumnPlan) -> Field<'_> {
        match plan.element {
            None => self.row.get(self.column).unwrap_or(Field::Missing),
            Some(_) => Field::Text(b""),
        }
    }

    fn error(&self, problem: &str) -> Error {
        at_column((self.place)(), self.layout, self.column, self.row, problem)
    }
}

impl Encoder {
    /// An encoder of columns that are read by these plans.
    pub fn new(plans: &[ColumnPlan], scores: bool) -> Self {
        let exact = |plan: &ColumnPlan| plan.kind == ColumnType::Numeric && plan.unit.is_none();
        Encoder {
            labels: plans.iter().map(|_| Interner::default()).collect(),
            decimals: plans.iter().map(|plan| exact(plan).then_some(0)).collect(),
            integers: true,
            spellings: plans.iter().map(spelling_of).collect(),
            scores,
            ..Encoder::default()
        }
    }

    /// What reading numbers lost, in the columns of these plans. Bins lose more, and scores are no observation.
    pub fn merged(&self, plans: &[ColumnPlan]) -> Vec<Merged> {
        let columns = plans.iter().zip(&self.spellings);
        columns
            .filter(|(plan, _)| plan.resolution.is_none() && !self.scores)
            // What is seen of items is a part of their texts, and is said to be one.
            .filter(|(plan, _)| !matches!(plan.element, Some(Element::Item { .. })))
            .flat_map(|(plan, spelling)| spelling.merged(&plan.name))
            .collect()
    }

    /// Encodes a row.
    ///
    /// # Errors
    /// A cell that is not what its column holds, with its place.
    pub fn row(
        &mut self,
        plans: &[ColumnPlan],
        layout: &Layout,
        row: &Row,
        place: &dyn Fn() -> Place,
    ) -> Result<()> {
        self.tuple.clear();
        self.lists.begin_row();
        for (index, plan) in plans.iter().enumerate() {
            let column = layout.observe[index];
            let at = At {
                place,
                layout,
                column,
                row,
            };
            let number = match row.get(column) {
                Some(Field::Number(number)) if is_plain_number(plan) => Some(number),
                _ => None,
            };
            let word = match number {
                Some(number) => self.number(index, plan, number, &at)?.to_bits(),
                None => self.text(index, plan, &at)?,
            };
            self.tuple.push(word);
        }
        Ok(())
    }

    /// Encodes a cell by its text.
    fn text(&mut self, index: usize, plan: &ColumnPlan, at: &At) -> Result<u64> {
        let (mut lists, mut scratch) = (
            std::mem::take(&mut self.lists),
            std::mem::take(&mut self.text),
        );
        let whole = cell::text(at.row, at.column, at.layout, at.place, &mut scratch)?;
        let text = match &plan.element {
            None => Cow::Borrowed(whole),
            Some(element) => lists.text(at.column, element, whole).map_err(|problem| {
                at.error(&problem)
                    .with_hint("every row needs a list; sums and sets are of lists without null")
            })?,
        };
        let word = match plan.kind {
            ColumnType::Categorical => self.label(index, plan, &text, at)?,
            _ => self.number_text(index, plan, &text, at)?,
        };
        drop(text);
        (self.lists, self.text) = (lists, scratch);
        Ok(word)
    }

    fn label(&mut self, index: usize, plan: &ColumnPlan, label: &str, at: &At) -> Result<u64> {
        let field = at.field(plan);
        let labels = &mut self.labels[index];
        let number = if plan.integers {
            if let Ok(value) = label.trim().parse() {
                let quoted = matches!(field, Field::Quoted(_));
                self.spellings[index].add(label, value, quoted);
                labels.intern(&canonical(label.trim()))
            } else {
                labels.intern(&labels::key(field, label.trim()))
            }
        } else if !plan.padded {
            // A label is what it is, blanks around it included: they may be what leaks.
            labels.intern(&labels::key(field, label))
        } else if let Some(label) = label.strip_prefix(' ') {
            labels.intern(&labels::key(field, label))
        } else {
            let problem = "does not begin with a blank, as the first rows do";
            return Err(at
                .error(problem)
                .with_hint("write all rows alike: after each delimiter a blank, or none"));
        };
        Ok(u64::from(number))
    }

    /// A number as it is stored.
    fn number(&mut self, index: usize, plan: &ColumnPlan, number: Number, at: &At) -> Result<f64> {
        if self.scores {
            return score(cell::score_of(number.value()), at);
        }
        let value = number.value();
        if plan.last && (value.is_nan() || value == f64::INFINITY) {
            return Ok(f64::INFINITY);
        }
        let value = measured(typing::finite(value), at)?;
        let most = &mut self.decimals[index];
        *most = most.map(|most| number.max_decimals(most));
        self.spellings[index].add_binary(number);
        self.resolved(plan, value, at)
    }

    /// The number that a text says, or the word that it is, in bits.
    fn number_text(
        &mut self,
        index: usize,
        plan: &ColumnPlan,
        whole: &str,
        at: &At,
    ) -> Result<u64> {
        let text = whole.trim();
        if text == MISSING && plan.element.as_ref().is_some_and(Element::may_be_missing) {
            return Ok(0.0f64.to_bits());
        }
        if self.scores {
            return Ok(score(cell::score(text), at)?.to_bits());
        }
        if plan.last && is_last(text) {
            return Ok(f64::INFINITY.to_bits());
        }
        let value = match plan.unit {
            None => typing::finite_number(text),
            Some(unit) => unit.seconds(text).ok_or_else(|| match text {
                "" => "is blank, and the column is numeric",
                _ => unit.problem(),
            }),
        };
        let is_word =
            plan.unit.is_some() || !is_number(text) || plan.nan_is_word && is_not_a_number(text);
        let value = match value {
            Ok(value) => value,
            Err(problem) if plan.words && is_word => {
                return self.word(index, plan, text, problem, at);
            }
            Err(problem) => return Ok(measured(Err(problem), at)?.to_bits()),
        };
        let spelling = &mut self.spellings[index];
        let most = &mut self.decimals[index];
        match plan.unit {
            None => {
                let quoted = matches!(at.row.get(at.column), Some(Field::Quoted(_)));
                // What an integer loses stands beside it.
                let is_held = plan.element == Some(Element::Integer(Part::Nearest))
                    && integers::are_held(text, value);
                let decimals = spelling.add_unless_held(whole, value, quoted, is_held);
                *most = most.and_then(|most| Some(most.max(decimals?)));
            }
            Some(unit) => {
                spelling.add_in_unit(text, value);
                if unit.loses_digits(text) {
                    spelling.lose(text);
                }
                *most = None;
            }
        }
        Ok(self.resolved(plan, value, at)?.to_bits())
    }

    /// A word among numbers, in bits.
    fn word(
        &mut self,
        index: usize,
        plan: &ColumnPlan,
        text: &str,
        problem: &'static str,
        at: &At,
    ) -> Result<u64> {
        let as_labels = || setting("categorical", shorten(&at.layout.names[at.column]));
        match Notation::of(text) {
            Some(_) if plan.unit.is_some() => {
                return measured(Err(problem), at).map(f64::to_bits);
            }
            Some(notation) => {
                return Err(notation.advise(at.error(notation.problem()), &as_labels()));
            }
            None => {}
        }
        let is_taken_apart = plan.element.as_ref().is_some_and(Element::is_number);
        let own = if is_taken_apart {
            text.trim_matches('"')
        } else {
            text
        };
        if !own.is_empty() && own == at.layout.names[at.column] {
            let error = at.error("is the name of the column, in a column of numbers");
            return Err(error.with_hint("remove rows that repeat the header"));
        }
        let word = self.labels[index].intern(&labels::key(at.field(plan), text));
        Ok(labels::word_bits(word))
    }

    /// What an observer can tell of a number.
    fn resolved(&mut self, plan: &ColumnPlan, value: f64, at: &At) -> Result<f64> {
        let value = match plan.resolution {
            Some(width) => bin(value, width).map_err(|problem| {
                at.error(problem)
                    .with_hint(format!("give a larger width with {}", option("resolution")))
            })?,
            None => value,
        };
        // Beyond 2^53 different integers are one number: no alphabet to count on.
        self.integers &= match plan.unit.filter(|_| plan.resolution.is_none()) {
            Some(unit) => unit.is_whole(value),
            None => value == value.trunc() && value.abs() < (1u64 << 53) as f64,
        };
        // Adding 0 turns −0 into 0, so that equal numbers have equal bits.
        Ok(value + 0.0)
    }
}

fn spelling_of(plan: &ColumnPlan) -> Spelling {
    match plan.integers && plan.kind == ColumnType::Categorical {
        true => Spelling::of_labels(),
        false => Spelling::default(),
    }
}

/// Whether a number in binary is what the column holds, as it is.
fn is_plain_number(plan: &ColumnPlan) -> bool {
    plan.kind == ColumnType::Numeric && plan.unit.is_none() && plan.element.is_none()
}

/// A finite number, or the error of its cell.
fn measured(value: std::result::Result<f64, &'static str>, at: &At) -> Result<f64> {
    value.map_err(|problem| {
        let text = at.row.text(at.column);
        let is_missing = text.is_none_or(|text| {
            let text = text.trim();
            text.is_empty() || is_not_a_number(text)
        });
        at.error(problem).with_hint(match is_missing {
            true => format!(
                "leave out rows without a value with {}",
                setting("missing", Missing::Drop.name())
            ),
            false => format!(
                "leave out rows that cannot be read with {}; or, if it holds labels, {}",
                setting("skip_bad", "N"),
                setting("categorical", shorten(&at.layout.names[at.column]))
            ),
        })
    })
}

/// A score, or the error of its cell.
fn score(value: std::result::Result<f64, &'static str>, at: &At) -> Result<f64> {
    let value = value.map_err(|problem| {
        at.error(problem)
            .with_hint("give every row a score, or remove the row")
    })?;
    Ok(value + 0.0)
}
