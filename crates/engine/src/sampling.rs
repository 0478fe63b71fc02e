//! Counting a log, and what is kept of one with more distinct rows than there is room for.
//!
//! Up to a given number of distinct rows, all are kept with their counts. Beyond, of every secret so
//! many rows are drawn without replacement that all secrets together have that number. A row is drawn
//! by a hash of what it holds and, among equal rows, of its number: who counted, in how many parts and
//! in which order, makes no difference.

use datafusion::arrow::array::{Array, AsArray, RecordBatch};
use datafusion::dataframe::DataFrame;
use hashbrown::HashMap;

use crate::answer::Pick;
use crate::failure;
use crate::query::{self, Shape};
use crate::scan::Scan;
use leakgauge_base::error::{Error, Result};
use leakgauge_log::sample::{Priorities, cap};
use leakgauge_log::{ReadMeter, ReadOptions};

/// What is kept of a log.
pub(super) struct Counted {
    pub(super) batches: Vec<RecordBatch>,
    /// The groups that are used, in the order of their hashes.
    pub(super) picks: Vec<Pick>,
    /// What the rows are a sample of, if they are one.
    pub(super) sampled: Option<Sampled>,
    /// Secrets that are left out, and their rows.
    pub(super) left_out: Vec<(String, u64)>,
    /// Rows that are counted or sampled from.
    pub(super) rows: u64,
}

/// What a sample is drawn from.
pub(super) struct Sampled {
    /// The most rows of a secret.
    pub(super) cap: u64,
    /// The rows of each secret.
    pub(super) seen: Vec<(String, u64)>,
}

/// A group that has been received.
#[derive(Clone, Copy)]
struct Group {
    batch: u32,
    row: u32,
    count: u64,
    hash: u64,
    secret: u32,
}

/// Groups that have been received, and what is known of those that have not.
#[derive(Default)]
struct Received {
    batches: Vec<RecordBatch>,
    groups: Vec<Group>,
    /// All groups, those that are not kept included.
    all: u64,
    /// Rows of all groups.
    rows: u64,
}

/// Counts a log's rows.
pub(super) struct Counting<'a> {
    /// The rows, those of secrets that are left out too.
    pub(super) frame: DataFrame,
    pub(super) scan: &'a Scan,
    pub(super) options: &'a ReadOptions,
    pub(super) meter: &'a ReadMeter,
    pub(super) shape: Shape,
}

impl Counting<'_> {
    /// Counts all that is distinct, or draws a sample where that is too much.
    ///
    /// # Errors
    /// Whatever the engine meets.
    pub(super) async fn count(&self) -> Result<Counted> {
        let most = self.options.max_rows.unwrap_or(u64::MAX);
        let is_narrowed = !self.options.secrets.is_empty();
        if !self.scan.seems_distinct
            && !is_narrowed
            && let Some(counted) = self.all(most).await?
        {
            return Ok(counted);
        }
        let seen = self.secrets().await?;
        if is_narrowed {
            return self.narrowed(most, seen).await;
        }
        self.known(most, seen).await
    }

    /// Counts the rows of the secrets that are asked for.
    async fn narrowed(&self, most: u64, seen: Vec<(String, u64)>) -> Result<Counted> {
        let asked = |key: &str| self.options.secrets.contains(&query::label(key));
        let (seen, left_out): (Vec<_>, Vec<_>) = seen.into_iter().partition(|(key, _)| asked(key));
        let frame = query::only(self.frame.clone(), self.shape, &seen)?;
        let counting = Counting { frame, ..*self };
        let label = |(key, rows): (String, u64)| (query::label(&key), rows);
        Ok(Counted {
            left_out: left_out.into_iter().map(label).collect(),
            ..counting.known(most, seen).await?
        })
    }

    /// Counts the rows of secrets that have so many.
    async fn known(&self, most: u64, seen: Vec<(String, u64)>) -> Result<Counted> {
        let rows = seen.iter().map(|(_, rows)| rows).sum::<u64>();
        if rows <= most {
            let all = self.all(most).await?;
            return Ok(all.expect("there are no more distinct rows than rows"));
        }
        self.sample(most, seen, rows).await
    }

    /// All groups with their counts; `None` if there are more than `most`.
    async fn all(&self, most: u64) -> Result<Option<Counted>> {
        let groups = query::groups(self.frame.clone(), self.shape, self.options.seed)?;
        let mut received = Received::default();
        self.run(groups, |batch| {
            received.take(batch, &|_| None)?;
            Ok(received.all <= most)
        })
        .await?;
        if received.all > most {
            return Ok(None);
        }
        let chosen = received
            .groups
            .iter()
            .map(|group| (*group, group.count))
            .collect();
        Ok(Some(Counted {
            picks: in_order(chosen),
            rows: received.rows,
            batches: received.batches,
            sampled: None,
            left_out: Vec::new(),
        }))
    }

    /// The rows of each secret.
    async fn secrets(&self) -> Result<Vec<(String, u64)>> {
        let query = query::secrets(self.frame.clone(), self.shape)?;
        let mut seen = Vec::new();
        self.run(query, |batch| {
            let counts = query::counts(&batch)?;
            let labels = query::named(&batch, "k").as_string_view();
            seen.extend((0..labels.len()).map(|row| (labels.value(row).to_owned(), counts[row])));
            Ok(true)
        })
        .await?;
        seen.sort_unstable();
        Ok(seen)
    }

    /// A sample of at most `most` of the rows, stratified by secret.
    async fn sample(&self, most: u64, seen: Vec<(String, u64)>, rows: u64) -> Result<Counted> {
        let sizes: Vec<u64> = seen.iter().map(|(_, rows)| *rows).collect();
        let cap = cap(&sizes, most);
        let numbers: HashMap<String, u32> = (0u32..)
            .zip(&seen)
            .map(|(at, (label, _))| (label.clone(), at))
            .collect();
        let mut slack = 1;
        loop {
            let thresholds: Vec<u64> = sizes
                .iter()
                .map(|&rows| threshold(rows, cap, slack))
                .collect();
            let received = self.below(&seen, &numbers, &thresholds).await?;
            // What was not received is groups of one row.
            let distinct = received.all + (rows - received.rows);
            if distinct <= most {
                let all = self.all(most).await?;
                return all.ok_or_else(changed);
            }
            if let Some(picks) = draw(&received.groups, &sizes, cap, &thresholds) {
                return Ok(Counted {
                    batches: received.batches,
                    picks,
                    sampled: Some(Sampled { cap, seen }),
                    left_out: Vec::new(),
                    rows,
                });
            }
            // Of a billion samples, about one needs more candidates.
            slack *= 2;
        }
    }

    /// The groups that may have rows in a sample: of a secret, those with a row below its threshold.
    async fn below(
        &self,
        seen: &[(String, u64)],
        numbers: &HashMap<String, u32>,
        thresholds: &[u64],
    ) -> Result<Received> {
        let groups = query::groups(self.frame.clone(), self.shape, self.options.seed)?;
        let limited = seen
            .iter()
            .zip(thresholds)
            .filter(|(_, threshold)| **threshold < u64::MAX)
            .map(|((label, _), &threshold)| (label.clone(), threshold));
        let groups = query::below(groups, &limited.collect::<Vec<_>>())?;
        let mut received = Received::default();
        self.run(groups, |batch| {
            received.take(batch, &|label| {
                numbers
                    .get(label)
                    .map(|&secret| (secret, thresholds[secret as usize]))
            })?;
            Ok(true)
        })
        .await?;
        Ok(received)
    }

    async fn run(
        &self,
        query: DataFrame,
        take: impl FnMut(RecordBatch) -> Result<bool>,
    ) -> Result<()> {
        query::run(query, self.meter, self.scan.bytes_per_row, take).await
    }
}

impl Received {
    /// Takes a batch of groups. Of those whose secret has a threshold, the ones with a row below it are
    /// kept.
    fn take(
        &mut self,
        batch: RecordBatch,
        threshold: &dyn Fn(&str) -> Option<(u32, u64)>,
    ) -> Result<()> {
        let counts = query::counts(&batch)?;
        let hashes = query::named(&batch, "h").as_string_view();
        let labels = query::named(&batch, "k").as_string_view();
        let number = u32::try_from(self.batches.len()).expect("fewer batches than fit into memory");
        let mut kept = Vec::with_capacity(counts.len());
        let mut next = 0;
        for (row, &count) in counts.iter().enumerate() {
            self.all += u64::from(count > 0);
            self.rows += count;
            let hash = u64::from_str_radix(&hashes.value(row)[..16], 16)
                .map_err(|error| Error::parameter(failure::engine(), error.to_string()))?;
            let (secret, below) = threshold(labels.value(row)).unwrap_or((0, u64::MAX));
            let is_kept = count > 0
                && Priorities::of_hash(hash, count)
                    .next()
                    .is_some_and(|first| first < fraction(below));
            kept.push(is_kept);
            if is_kept {
                self.groups.push(Group {
                    batch: number,
                    row: next,
                    count,
                    hash,
                    secret,
                });
                next += 1;
            }
        }
        self.batches.push(query::keep(&batch, kept)?);
        Ok(())
    }
}

/// Of each secret the `cap` rows of lowest priority, or all if it has no more; `None` if some secret has
/// too few candidates.
fn draw(groups: &[Group], sizes: &[u64], cap: u64, thresholds: &[u64]) -> Option<Vec<Pick>> {
    let mut candidates: Vec<Vec<(u64, u32)>> = vec![Vec::new(); sizes.len()];
    for (at, group) in (0u32..).zip(groups) {
        let secret = group.secret as usize;
        let below = fraction(thresholds[secret]);
        let rows =
            Priorities::of_hash(group.hash, group.count).take_while(|&priority| priority < below);
        candidates[secret].extend(rows.map(|priority| (priority.to_bits(), at)));
    }
    let mut counts = vec![0u64; groups.len()];
    for (mut rows, &size) in candidates.into_iter().zip(sizes) {
        let wanted = usize::try_from(size.min(cap)).ok()?;
        if rows.len() < wanted {
            return None;
        }
        let key = |&(priority, at): &(u64, u32)| (priority, groups[at as usize].hash);
        if wanted < rows.len() {
            rows.select_nth_unstable_by_key(wanted, key);
        }
        rows[..wanted]
            .iter()
            .for_each(|&(_, at)| counts[at as usize] += 1);
    }
    let used = groups.iter().zip(counts).filter(|(_, count)| *count > 0);
    Some(in_order(
        used.map(|(group, count)| (*group, count)).collect(),
    ))
}

/// The hash below which there are, nearly for sure, `cap` of so many rows; none of [`u64::MAX`] is below it
/// by more than that.
fn threshold(rows: u64, cap: u64, slack: u64) -> u64 {
    if rows <= cap {
        return u64::MAX;
    }
    let cap = cap as f64;
    let share = (cap + slack as f64 * (6.0 * cap.sqrt() + 20.0)) / rows as f64;
    if share >= 1.0 {
        u64::MAX
    } else {
        (share * 2f64.powi(64)) as u64
    }
}

/// A threshold as a fraction of all hashes.
fn fraction(threshold: u64) -> f64 {
    match threshold {
        u64::MAX => 2.0,
        _ => threshold as f64 / 2f64.powi(64),
    }
}

/// Groups in the order of their hashes, which no one's way of counting changes.
fn in_order(mut groups: Vec<(Group, u64)>) -> Vec<Pick> {
    groups.sort_unstable_by_key(|(group, _)| (group.hash, group.batch, group.row));
    let pick = |(group, count): (Group, u64)| Pick {
        batch: group.batch,
        row: group.row,
        count,
    };
    groups.into_iter().map(pick).collect()
}

/// Between two queries.
fn changed() -> Error {
    Error::parameter(failure::engine(), "the log changed while it was read")
        .with_hint("wait until nobody writes to it, or read a copy")
}
