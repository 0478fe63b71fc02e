//! When all rows are read: secrets and observations in their canonical order.

use std::borrow::Cow;

use crate::blocks;
use crate::fold::to_counts;
use crate::groups::{self, UnitCell, UnitRows};
use crate::ingest::Ingest;
use crate::last::CountedLast;
use crate::log::Log;
use crate::merge::MergedSecret;
use crate::observations::{Cell, ColumnType, Counts, Observations};
use crate::order::{self, RowOrder};
use crate::recognize::Form;
use crate::row_store::SampledFrom;
use crate::sample::Sample;
use crate::tabulate::{kind_of, natural_order, ranks, ranks_among, tabulate};
use crate::typing::{self, ColumnPlan};
use crate::words;
use leakgauge_base::error::{Error, Place, Result, file_listing, shorten};
use leakgauge_base::naming::{option, setting};

/// Numbers are a discrete observation if integers recur this often on average.
const RECURRENCE: u64 = 5;

/// Half of the times are longer than this in seconds: nobody waits so long for an answer.
const TOO_LONG: f64 = 1000.0;

/// Whether the times of a form are too long to be in its unit.
fn are_ticks(form: Form, observations: &Observations, counts: &Counts) -> bool {
    let [column] = observations.columns() else {
        return false;
    };
    let unit = form.unit(&column.name).and_then(|unit| unit.seconds(None));
    let (Some(seconds), true) = (unit, column.kind == ColumnType::Numeric) else {
        return false;
    };
    let (mut long, mut all) = (0, 0);
    for cell in counts.cells() {
        all += cell.count;
        if observations.numbers(cell.symbol)[0] * seconds > TOO_LONG {
            long += cell.count;
        }
    }
    2 * long > all
}

impl Ingest<'_> {
    /// Puts secrets and observations in their canonical order.
    pub fn finish(mut self) -> Result<Log> {
        let (_, plans) = self.settled.take().expect("at least one file was read");
        self.facts.merged_secrets = self.merged_secrets()?;
        self.check_secrets()?;
        self.facts.decimals = std::mem::take(&mut self.encoder.decimals);
        let labels = self.secrets.texts();
        let by_label = natural_order(labels);
        let secret_rank = ranks(&by_label);
        let secrets: Vec<String> = by_label
            .iter()
            .map(|&id| labels[id as usize].clone())
            .collect();
        self.facts.repeated_runs = std::mem::take(&mut self.overlaps).finish();
        let (cells, sample) = self.counted.finish();
        let (fit_cells, fit_sample) = self.fit_counted.finish();
        let (drawn, fit_drawn) = (self.drawn.take(), self.fit_drawn.take());
        self.note_samples(sample.or(drawn), fit_sample.or(fit_drawn), &secret_rank)?;
        let mut by_value = self.needed(&cells, &fit_cells);
        let plans = self.with_words(&plans);
        let shown = self.shown_labels();
        self.sort(&plans, &shown, &mut by_value);
        let symbol_rank = ranks_among(&by_value, self.tuples.len());
        let recurs = self.facts.rows_used >= RECURRENCE * by_value.len() as u64;
        let kind = kind_of(&plans, self.encoder.integers && recurs);
        let mut observations = tabulate(kind, &plans, &by_value, &self.tuples, &shown);
        let doubtful = mostly_numbers(&plans, &shown);
        drop(shown);
        self.facts.suspicious_columns = doubtful;
        self.facts.merged = self.encoder.merged(&plans);
        let counts = |cells| to_counts(cells, secrets.len(), &secret_rank, &symbol_rank);
        let mut order = self.row_order(&plans, &secret_rank, &symbol_rank);
        let (units, shared) = if self.options.is_blocked() {
            let units = self.take_blocks(&secrets, &observations, &secret_rank, &symbol_rank)?;
            (Some(units), Vec::new())
        } else {
            self.take_units(&secret_rank, &symbol_rank)?
        };
        self.facts.shared_units = shared;
        let fit_units = units.as_ref().and_then(|units| units.fit.as_ref());
        let fit_counts = match fit_units {
            Some(fit) => Some(fit.counts(secrets.len())),
            None => self.options.fit_on.is_some().then(|| counts(fit_cells)),
        };
        let alone = self.facts.blocks.as_ref().map_or(0, |blocks| blocks.alone);
        let in_order = std::mem::take(&mut self.sequence).into_iter();
        let counts_of_log = match &units {
            // What stands alone in its block is not compared.
            Some(units) if alone > 0 => units.rows.counts(secrets.len()),
            _ => counts(cells),
        };
        if matches!(&plans[..], [plan] if plan.last && plan.kind == ColumnType::Numeric) {
            self.count_last(&mut observations, order.as_mut(), &counts_of_log, &secrets)?;
        }
        self.facts.words = words::find(&observations, &counts_of_log);
        self.facts.ticks = self
            .facts
            .recognized
            .is_some_and(|form| are_ticks(form, &observations, &counts_of_log));
        let log = Log {
            sequence: self.options.keep_order.then(|| {
                in_order
                    .map(|(s, o)| (secret_rank[s as usize], symbol_rank[o as usize]))
                    .collect()
            }),
            counts: counts_of_log,
            fit_counts,
            units,
            order,
            left_out: self.left_out.into_texts(),
            observations,
            facts: self.facts,
            secrets,
        };
        if let Some(first) = &self.first_row {
            let rows = log.rows_of_secrets();
            let of_secret = rows[secret_rank[first.secret as usize] as usize];
            first.check(&self.options.files[0], of_secret, rows.iter().sum())?;
        }
        Ok(log)
    }

    /// Observations that count as larger than all others.
    fn count_last(
        &mut self,
        observations: &mut Observations,
        in_order: Option<&mut RowOrder>,
        counts: &Counts,
        secrets: &[String],
    ) -> Result<()> {
        let place = Place::file(file_listing(&self.options.files));
        let last = CountedLast::settle(observations, counts, secrets, place)?;
        let table = in_order.and_then(|order| order.observations.as_mut());
        if let (Some(last), Some(table)) = (&last, table) {
            last.put(table);
        }
        self.facts
            .notes
            .extend(last.as_ref().map(CountedLast::note));
        self.facts.last = last;
        Ok(())
    }

    /// Secrets that were joined, in their canonical order.
    fn merged_secrets(&mut self) -> Result<Vec<MergedSecret>> {
        let Some(rules) = &self.options.merge else {
            return Ok(Vec::new());
        };
        let mut all = self.merging.finish(rules)?;
        for merged in &mut all {
            let order = natural_order(&merged.from);
            let from = order.iter().map(|&at| merged.from[at as usize].clone());
            merged.from = from.collect();
        }
        Ok(all)
    }

    /// What samples were drawn from, for the report.
    fn note_samples(
        &mut self,
        sample: Option<Sample>,
        fit_sample: Option<Sample>,
        secret_rank: &[u32],
    ) -> Result<()> {
        let place = Place::file(file_listing(&self.options.files));
        if self.options.keep_order && sample.is_some() {
            return Err(order::too_different(self.options.max_rows, place));
        }
        if self.options.has_units() && (sample.is_some() || fit_sample.is_some()) {
            return Err(order::too_many_units(self.options.max_rows, place));
        }
        let most = self.options.max_rows.unwrap_or(u64::MAX);
        let from = |sample: Option<Sample>| {
            let from = sample.map(|sample| SampledFrom::new(&sample, most, secret_rank));
            from.map(|from| from.check(&place)).transpose()
        };
        self.facts.sampled = from(sample)?;
        self.facts.fit_sampled = from(fit_sample)?;
        if let Some(sampled) = &self.facts.sampled {
            self.facts.rows_used = sampled.rows_used();
        }
        Ok(())
    }

    /// The blocks of the log.
    fn take_blocks(
        &mut self,
        secrets: &[String],
        observations: &Observations,
        secret_rank: &[u32],
        symbol_rank: &[u32],
    ) -> Result<groups::Units> {
        let column = self.options.block.as_deref().unwrap_or(blocks::ROWS);
        let reader = std::mem::take(&mut self.units);
        let (mut units, labels) = reader.finish_in_order(column, secret_rank, symbol_rank);
        let label = |block: u32| {
            let label = labels.get(block).map(str::to_owned);
            label.unwrap_or_else(|| (block + 1).to_string())
        };
        let form = self.facts.recognized.filter(|form| form.has_blocks());
        let form = form.map(|form| form.to_string());
        let said = (&self.options.files[..], form.as_deref());
        let wide = self.options.wide;
        let facts = blocks::check(&mut units, wide, secrets, observations, label, said)?;
        self.facts.blocks = Some(facts);
        Ok(units)
    }

    /// The units of the log, and those that the log to learn on shares with it.
    fn take_units(
        &mut self,
        secret_rank: &[u32],
        symbol_rank: &[u32],
    ) -> Result<(Option<groups::Units>, Vec<String>)> {
        let Some(column) = &self.options.group else {
            return Ok((None, Vec::new()));
        };
        let fit_on = self.options.fit_on.as_deref();
        let units = std::mem::take(&mut self.units);
        let (units, shared) = units.finish(column, fit_on.is_some(), secret_rank, symbol_rank);
        if let (Some(file), Some(fit)) = (fit_on, &units.fit)
            && fit.is_empty()
        {
            return Err(groups::nothing_to_learn_on(file));
        }
        self.facts.notes.extend(each_alone(column, &units.rows));
        Ok((Some(units), shared))
    }

    /// The observations that are used: all, or those of the samples.
    fn needed(&self, cells: &[Cell], fit_cells: &[Cell]) -> Vec<u32> {
        if self.facts.sampled.is_none() && self.facts.fit_sampled.is_none() {
            return (0..self.tuples.len() as u32).collect();
        }
        let mut needed: Vec<u32> = cells.iter().chain(fit_cells).map(|c| c.symbol).collect();
        needed.sort_unstable();
        needed.dedup();
        needed
    }

    /// What was kept of the order of rows.
    fn row_order(
        &self,
        plans: &[ColumnPlan],
        secret_rank: &[u32],
        symbol_rank: &[u32],
    ) -> Option<RowOrder> {
        let is_counted = self.options.engine.is_some() && !self.options.is_ordered_by_engine();
        if self.facts.aggregated || self.facts.wide || is_counted {
            return None;
        }
        if self.facts.sampled.is_none() {
            return Some(self.order.so_far(secret_rank, symbol_rank));
        }
        let (table, ids) = self.table_of(plans, self.order.kept().map(|row| row.1).collect());
        let symbol_rank = ranks_among(&ids, self.tuples.len());
        Some(RowOrder {
            observations: Some(table),
            ..self.order.so_far(secret_rank, &symbol_rank)
        })
    }

    pub(crate) fn check_secrets(&self) -> Result<()> {
        let file = &self.options.files[0];
        let seen = self.secrets.texts();
        for wanted in &self.options.secrets {
            if !seen.contains(wanted) {
                let error = Error::parameter(
                    setting("secrets", shorten(wanted)),
                    format!("{file} has no row with this secret"),
                );
                return Err(error.with_hint("labels are compared as text, to the letter"));
            }
        }
        let alone = if self.facts.narrowed {
            format!(
                "leakage is a difference between secrets: name at least two with {}",
                option("secrets")
            )
        } else {
            format!(
                "leakage is a difference between secrets: log at least two, or choose another column with {}",
                option("secret")
            )
        };
        match seen {
            [] => Err(Error::file(file, "has no rows to use")),
            [only] => {
                let left_out = match self.facts.skipped.rows + self.facts.missing_rows {
                    0 => String::new(),
                    rows => format!(" (rows left out: {rows})"),
                };
                Err(Error::data(
                    Place::file(file).column(&self.facts.secret_column),
                    format!("there is only one secret, {:?}{left_out}", shorten(only)),
                )
                .with_hint(alone))
            }
            _ => Ok(()),
        }
    }
}

/// That units say nothing, where each has one row.
fn each_alone(column: &str, units: &UnitRows) -> Option<String> {
    let is_alone = |unit: &[UnitCell]| unit.iter().map(|cell| cell.count).sum::<u64>() == 1;
    units.units().all(is_alone).then(|| {
        format!(
            "Every row has a {} of its own: {} should name what several rows come from.",
            shorten(column),
            option("group")
        )
    })
}

/// The columns that are read as labels, and of which many labels are numbers.
fn mostly_numbers(plans: &[ColumnPlan], labels: &[Cow<[String]>]) -> Vec<String> {
    let columns = plans.iter().zip(labels);
    columns
        .filter(|(plan, _)| plan.kind == ColumnType::Categorical)
        .filter(|(plan, labels)| typing::are_mostly_numbers(plan, labels))
        .map(|(plan, _)| plan.name.clone())
        .collect()
}
