//! The observation of a row as a tuple of words: bits of numbers, numbers of labels.

use std::borrow::Cow;

use csv::ByteRecord;

use crate::cell::{bin, canonical};
use crate::fold::Interner;
use crate::layout::Layout;
use crate::lists::Lists;
use crate::observations::ColumnType;
use crate::rows::{at_column, whole_field};
use crate::score_columns;
use crate::typing::{self, ColumnPlan};
use leakgauge_base::error::{Error, Place, Result, shorten};

/// Encodes observations, and what is found on the way.
#[derive(Default)]
pub struct Encoder {
    /// Per column: its labels.
    pub labels: Vec<Interner>,
    /// Per column: the most decimals that a number was written with.
    pub decimals: Vec<Option<u32>>,
    /// Whether all numbers are integers that are told apart.
    pub integers: bool,
    /// The observation encoded last.
    pub tuple: Vec<u64>,
    /// Whether numbers are scores.
    scores: bool,
    lists: Lists,
}

/// Where a cell stands, should something be wrong with it.
struct At<'r> {
    place: &'r dyn Fn() -> Place,
    layout: &'r Layout,
    column: usize,
    record: &'r ByteRecord,
}

impl At<'_> {
    fn error(&self, problem: &str) -> Error {
        at_column(
            (self.place)(),
            self.layout,
            self.column,
            self.record,
            problem,
        )
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
            scores,
            ..Encoder::default()
        }
    }

    /// Encodes a row.
    ///
    /// # Errors
    /// A cell that is not what its column holds, with its place.
    pub fn row(
        &mut self,
        plans: &[ColumnPlan],
        layout: &Layout,
        record: &ByteRecord,
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
                record,
            };
            let whole = whole_field(record, column, layout, place)?;
            let mut lists = std::mem::take(&mut self.lists);
            let label = match plan.element {
                None => Cow::Borrowed(whole),
                Some(element) => lists.text(column, element, whole).map_err(|problem| {
                    at.error(&problem).with_hint(
                        "every row needs a list with as many elements as are observed: give a smaller number \
                         (first:N), or observe length, sum or set",
                    )
                })?,
            };
            let word = match plan.kind {
                ColumnType::Categorical => self.label(index, plan, &label, &at)?,
                ColumnType::Numeric => self.number(index, plan, label.trim(), &at)?.to_bits(),
            };
            drop(label);
            self.lists = lists;
            self.tuple.push(word);
        }
        Ok(())
    }

    fn label(&mut self, index: usize, plan: &ColumnPlan, label: &str, at: &At) -> Result<u64> {
        let labels = &mut self.labels[index];
        let number = if plan.integers {
            labels.intern(&canonical(label.trim()))
        } else if !plan.padded {
            // A label is what it is, blanks around it included: they may be what leaks.
            labels.intern(label)
        } else if let Some(label) = label.strip_prefix(' ') {
            labels.intern(label)
        } else {
            let problem = "does not begin with a blank, as the first rows do";
            return Err(at
                .error(problem)
                .with_hint("write all rows alike: after each delimiter a blank, or none"));
        };
        Ok(u64::from(number))
    }

    fn number(&mut self, index: usize, plan: &ColumnPlan, text: &str, at: &At) -> Result<f64> {
        if self.scores {
            let value = score_columns::score(text).map_err(|problem| {
                at.error(problem)
                    .with_hint("give every row a score, or remove the row")
            })?;
            return Ok(value + 0.0);
        }
        let value = match plan.unit {
            None => typing::finite_number(text),
            Some(unit) => unit.seconds(text).ok_or_else(|| match text {
                "" => "is blank, and the column is numeric",
                _ => unit.problem(),
            }),
        };
        let value = value.map_err(|problem| {
            at.error(problem).with_hint(format!(
                "remove or repair the row, or read the column as labels with --categorical {}",
                shorten(&at.layout.names[at.column])
            ))
        })?;
        let most = &mut self.decimals[index];
        *most = most
            .filter(|_| plan.unit.is_none())
            .and_then(|most| Some(most.max(typing::decimals(text)?)));
        let value = match plan.resolution {
            Some(width) => bin(value, width).map_err(|problem| {
                at.error(problem)
                    .with_hint("give a larger width with --resolution")
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
