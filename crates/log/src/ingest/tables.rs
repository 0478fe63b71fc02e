//! Tables of what was read: observations in their canonical order, the first rows.

use std::borrow::Cow;

use crate::fold::Interner;
use crate::ingest::Ingest;
use crate::labels;
use crate::layout::Layout;
use crate::log::FirstRows;
use crate::observations::{ColumnType, Observations};
use crate::row::Row;
use crate::tabulate::{kind_of, natural_order, ranks, tabulate};
use crate::typing::ColumnPlan;

/// Rows that show what a log is like.
pub(super) const FIRST_ROWS: usize = 5;

impl Ingest<'_> {
    /// Some of the observations so far, without repetition, in their canonical order; and the order.
    pub(crate) fn table(&self, ids: Vec<u32>) -> (Observations, Vec<u32>) {
        let (_, plans) = self.settled.as_ref().expect("settled before rows are read");
        self.table_of(plans, ids)
    }

    /// The columns that are observed, and what they hold.
    pub(crate) fn observed(&self) -> Vec<(&str, ColumnType)> {
        let (_, plans) = self.settled.as_ref().expect("settled before rows are read");
        let plans = plans.iter();
        plans.map(|plan| (plan.name.as_str(), plan.kind)).collect()
    }

    pub(super) fn table_of(
        &self,
        plans: &[ColumnPlan],
        mut ids: Vec<u32>,
    ) -> (Observations, Vec<u32>) {
        ids.sort_unstable();
        ids.dedup();
        let plans = self.with_words(plans);
        let labels = self.shown_labels();
        self.sort(&plans, &labels, &mut ids);
        let kind = kind_of(&plans, false);
        let table = tabulate(kind, &plans, &ids, &self.tuples, &labels);
        (table, ids)
    }

    /// How the columns are read, now that it is known which of them hold words among numbers.
    pub(super) fn with_words(&self, plans: &[ColumnPlan]) -> Vec<ColumnPlan> {
        let labels = self.encoder.labels.iter();
        let is_mixed =
            |plan: &ColumnPlan, words: usize| plan.kind == ColumnType::Numeric && words > 0;
        let plans = plans.iter().zip(labels);
        let plan = |(plan, labels): (&ColumnPlan, &Interner)| ColumnPlan {
            kind: match is_mixed(plan, labels.texts().len()) {
                true => ColumnType::Mixed,
                false => plan.kind,
            },
            ..plan.clone()
        };
        plans.map(plan).collect()
    }

    /// The labels or words of each column.
    pub(super) fn shown_labels(&self) -> Vec<Cow<'_, [String]>> {
        let labels = self.encoder.labels.iter();
        labels.map(|labels| labels::shown(labels.texts())).collect()
    }

    /// Puts observations in their canonical order: of a mixed column numbers first.
    pub(super) fn sort(&self, plans: &[ColumnPlan], labels: &[Cow<[String]>], ids: &mut [u32]) {
        let label_ranks: Vec<Vec<u32>> = labels
            .iter()
            .map(|labels| ranks(&natural_order(labels)))
            .collect();
        let sortable = |id: u32, column: usize| {
            let word = self.tuples.word(id, column);
            let rank = |label: u64| label_ranks[column][label as usize];
            match plans[column].kind {
                ColumnType::Categorical => f64::from(rank(word)),
                _ => match labels::word_of(word) {
                    // What is no number comes behind all numbers, in the order of its bits.
                    Some(word) => f64::from_bits(labels::word_bits(rank(u64::from(word)))),
                    None => f64::from_bits(word),
                },
            }
        };
        ids.sort_unstable_by(|&a, &b| {
            (0..plans.len())
                .map(|column| sortable(a, column).total_cmp(&sortable(b, column)))
                .find(|order| order.is_ne())
                .unwrap_or(std::cmp::Ordering::Equal)
        });
    }
}

/// The names of all columns and the first rows, for whoever wants to see how they are read.
pub(super) fn first_rows(layout: &Layout, body: &[Row]) -> FirstRows {
    FirstRows {
        columns: layout.names.clone(),
        rows: body.iter().take(FIRST_ROWS).map(texts).collect(),
    }
}

/// The fields of a row.
pub(super) fn texts(row: &Row) -> Vec<String> {
    row.fields()
        .map(|field| field.text().into_owned())
        .collect()
}
