//! Long runs of rows that stand in the log twice, verbatim and in the same order: exports that overlap, a
//! file that was appended to itself.
//!
//! A rolling hash of the last [`WINDOW`] rows is held against the hashes of earlier windows, of which every
//! [`WINDOW`]-th is kept: about a byte a row. A run of at least 2·[`WINDOW`] − 1 rows holds a whole kept window,
//! and is followed from there window by window.
//!
//! # What is beyond chance
//! Two runs of L independent rows are equal with probability 2^(−L·H), H the collision entropy of a row in
//! bits, and there are N²/2 pairs of places. A run is reported from L·H ≥ 40 + 2 log₂ N: a chance of about
//! 10⁻¹². H is taken from the first 65,536 rows, those
//! left out that repeat a run: the least of that of single rows, half of that of neighbors
//! together, and, where neighbors recur often enough to tell, what a row adds to the one before it. So secrets
//! in turns and answers that hardly vary need long runs, and a log that repeats one row reports none. Numbers
//! with many digits need 2·[`WINDOW`] rows.

mod rolling;
mod windows;

use std::hash::BuildHasher;

use hashbrown::DefaultHashBuilder;

use rolling::{BASE, WINDOW, roll};
use windows::Windows;

/// Rows whose entropy is looked at.
const SAMPLED: usize = 1 << 16;
/// Bits beyond those of the number of pairs of places.
const MARGIN: f64 = 40.0;
/// Runs listed.
const LISTED: usize = 5;

/// Where a run begins.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunPlace {
    /// The file.
    pub file: String,
    /// The row of data in it, counted from 1.
    pub row: u64,
}

/// A run of rows that stands in the log twice.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RepeatedRun {
    /// The earlier place.
    pub first: RunPlace,
    /// The later place.
    pub second: RunPlace,
    /// How many rows, at least; it may begin and end up to a window earlier or later.
    pub rows: u64,
}

/// All runs that were found.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RepeatedRuns {
    /// How many there are.
    pub runs: u64,
    /// Their rows together.
    pub rows: u64,
    /// The first few.
    pub listed: Vec<RepeatedRun>,
}

/// A run that is being followed: where it began, and which window it reaches next.
#[derive(Debug, Clone, Copy)]
struct Run {
    first: u64,
    second: u64,
    rows: u64,
}

/// Looks for repeated runs while rows are read.
pub(crate) struct Overlaps {
    hasher: DefaultHashBuilder,
    /// The hashes of the last rows, in turns.
    last: [u64; WINDOW],
    rolling: u64,
    /// BASE^WINDOW.
    leaving: u64,
    rows: u64,
    /// Files by the number of their first row.
    files: Vec<(u64, String)>,
    windows: Windows,
    run: Option<Run>,
    found: Vec<Run>,
    sample: Vec<u64>,
    scratch: Scratch,
}

/// Rows that are added at once.
const AT_ONCE: usize = 4096;

/// What is computed of rows that are added at once.
#[derive(Default)]
struct Scratch {
    /// The hashes of the rows, behind those of the window before them.
    recent: Vec<u64>,
    /// What the window hashes to that ends at each row.
    rolling: Vec<u64>,
    /// Rows whose window may be known or is kept, and whether it may be known.
    looks: Vec<(usize, bool)>,
}

impl Default for Overlaps {
    fn default() -> Self {
        let leaving = (0..WINDOW).fold(1u64, |power, _| power.wrapping_mul(BASE));
        Overlaps {
            hasher: DefaultHashBuilder::default(),
            last: [0; WINDOW],
            rolling: 0,
            leaving,
            rows: 0,
            files: Vec::new(),
            windows: Windows::default(),
            run: None,
            found: Vec::new(),
            sample: Vec::new(),
            scratch: Scratch::default(),
        }
    }
}

impl Overlaps {
    /// The rows that follow are of this file.
    pub fn begin(&mut self, file: &str) {
        self.files.push((self.rows, file.to_owned()));
    }

    /// Adds a row.
    #[inline]
    pub fn push(&mut self, secret: u32, observation: &[u64]) {
        self.push_hash(self.hash(secret, observation));
    }

    /// What a row is told apart by.
    #[inline]
    pub fn hash(&self, secret: u32, observation: &[u64]) -> u64 {
        self.hasher.hash_one((secret, observation))
    }

    /// Adds a row by its [`hash`](Self::hash).
    #[inline]
    fn push_hash(&mut self, hash: u64) {
        if self.sample.len() < SAMPLED {
            self.sample.push(hash);
        }
        let at = (self.rows % WINDOW as u64) as usize;
        let left = std::mem::replace(&mut self.last[at], hash);
        self.rolling = self
            .rolling
            .wrapping_mul(BASE)
            .wrapping_add(hash)
            .wrapping_sub(left.wrapping_mul(self.leaving));
        self.rows += 1;
        // Most windows of most logs end here.
        let is_kept = self.rows.is_multiple_of(WINDOW as u64);
        let may_be_known = self.windows.may_hold(self.rolling);
        let is_worth = is_kept || self.run.is_some() || may_be_known;
        if is_worth && self.rows >= WINDOW as u64 {
            self.look(may_be_known);
        }
    }

    /// Adds rows by their hashes.
    pub fn push_all(&mut self, hashes: &[u64]) {
        let mut scratch = std::mem::take(&mut self.scratch);
        for part in hashes.chunks(AT_ONCE) {
            self.push_part(part, &mut scratch);
        }
        self.scratch = scratch;
    }

    /// Adds some rows: first what their windows hash to, then which of these may be known, then those alone.
    fn push_part(&mut self, hashes: &[u64], scratch: &mut Scratch) {
        let room = SAMPLED - self.sample.len();
        self.sample.extend(hashes.iter().take(room));
        let before = self.rows;
        let Scratch {
            recent,
            rolling,
            looks,
        } = scratch;
        recent.clear();
        recent.extend(
            (before..before + WINDOW as u64).map(|row| self.last[(row % WINDOW as u64) as usize]),
        );
        recent.extend_from_slice(hashes);
        let last = roll(recent, self.rolling, self.leaving, rolling);
        self.windows.reserve(hashes.len() / WINDOW + 1);
        looks.resize(looks.len().max(hashes.len()), (0, false));
        let mut many = 0;
        for (at, &rolling) in rolling.iter().enumerate() {
            let is_kept = (before + at as u64 + 1).is_multiple_of(WINDOW as u64);
            let may_be_known = self.windows.may_hold(rolling);
            looks[many] = (at, may_be_known);
            many += usize::from(is_kept | may_be_known);
            if is_kept {
                self.windows.mark(rolling);
            }
        }
        self.windows
            .touch(looks[..many].iter().map(|&(at, may)| (rolling[at], may)));
        let (mut looks, mut at) = (looks[..many].iter().copied(), 0);
        while at < hashes.len() {
            // A run is followed row by row.
            let mut may_be_known = true;
            if self.run.is_none() {
                match looks.find(|&(next, _)| next >= at) {
                    Some(next) => (at, may_be_known) = next,
                    None => break,
                }
            }
            (self.rolling, self.rows) = (rolling[at], before + at as u64 + 1);
            if self.rows >= WINDOW as u64 {
                self.look(may_be_known);
            }
            at += 1;
        }
        (self.rolling, self.rows) = (last, before + hashes.len() as u64);
        let kept = recent.len() - WINDOW;
        for (row, hash) in (self.rows - kept.min(WINDOW) as u64..self.rows)
            .zip(&recent[recent.len() - kept.min(WINDOW)..])
        {
            self.last[(row % WINDOW as u64) as usize] = *hash;
        }
    }

    /// Holds the window that ends here against earlier ones, and keeps it if it is its turn.
    fn look(&mut self, may_be_known: bool) {
        let begin = self.rows - WINDOW as u64;
        match self.run {
            // Within a window that was matched.
            Some(run) if begin < run.second + run.rows => {}
            Some(run) => {
                let next = ((run.first + run.rows) / WINDOW as u64) as usize;
                let goes_on =
                    begin == run.second + run.rows && self.windows.get(next) == Some(self.rolling);
                if goes_on {
                    self.run = Some(Run {
                        rows: run.rows + WINDOW as u64,
                        ..run
                    });
                } else {
                    self.end();
                    self.start(begin);
                }
            }
            None if may_be_known => self.start(begin),
            None => {}
        }
        if begin.is_multiple_of(WINDOW as u64) {
            self.windows.push(self.rolling, !may_be_known);
        }
    }

    fn start(&mut self, begin: u64) {
        let Some(known) = self.windows.first(self.rolling) else {
            return;
        };
        let first = u64::from(known) * WINDOW as u64;
        // Windows that overlap themselves are runs of equal rows, no copies.
        if first + WINDOW as u64 <= begin {
            self.run = Some(Run {
                first,
                second: begin,
                rows: WINDOW as u64,
            });
        }
    }

    fn end(&mut self) {
        if let Some(run) = self.run.take()
            && run.rows > WINDOW as u64
        {
            self.found.push(run);
        }
    }

    /// The sampled rows without those that repeat a run: they recur because they were copied, if they were.
    fn without_repeats(&self) -> Vec<u64> {
        let mut is_repeat = vec![false; self.sample.len()];
        let margin = WINDOW as u64;
        for run in &self.found {
            let end = (run.second + run.rows + margin).min(is_repeat.len() as u64);
            let begin = run.second.saturating_sub(margin).min(end);
            is_repeat[begin as usize..end as usize].fill(true);
        }
        let rows = self.sample.iter().zip(is_repeat);
        rows.filter(|(_, is_repeat)| !is_repeat)
            .map(|(row, _)| *row)
            .collect()
    }

    /// The runs that are beyond chance, in the order in which they came.
    pub fn finish(mut self) -> RepeatedRuns {
        self.end();
        let bits = entropy(&self.without_repeats());
        let needed = (MARGIN + 2.0 * (self.rows.max(2) as f64).log2()) / bits;
        let is_beyond = |run: &&Run| run.rows as f64 >= needed;
        let beyond: Vec<&Run> = self.found.iter().filter(is_beyond).collect();
        let place = |row: u64| {
            let file = self.files.partition_point(|file| file.0 <= row) - 1;
            RunPlace {
                file: self.files[file].1.clone(),
                row: row - self.files[file].0 + 1,
            }
        };
        let listed = beyond.iter().take(LISTED).map(|run| RepeatedRun {
            first: place(run.first),
            second: place(run.second),
            rows: run.rows,
        });
        RepeatedRuns {
            runs: beyond.len() as u64,
            rows: beyond.iter().map(|run| run.rows).sum(),
            listed: listed.collect(),
        }
    }
}

/// About the collision entropy that a row adds to those before it, in bits, from rows in their order.
fn entropy(rows: &[u64]) -> f64 {
    let single = collisions(rows.to_vec());
    let pairs = rows
        .windows(2)
        .map(|pair| pair[0].wrapping_mul(BASE).rotate_left(17) ^ pair[1]);
    let together = collisions(pairs.collect());
    let mut least = single.0.min(0.5 * together.0);
    // With fewer recurrences, neighbors that determine each other cannot be told from rows that differ.
    if together.1 >= 10.0 {
        least = least.min((together.0 - single.0).max(0.0));
    }
    least
}

/// −log₂ of the chance that two of these are equal, and how many pairs are.
fn collisions(mut hashes: Vec<u64>) -> (f64, f64) {
    hashes.sort_unstable();
    let n = hashes.len() as f64;
    let runs = hashes.chunk_by(|one, next| one == next);
    let equal: f64 = runs
        .map(|run| 0.5 * run.len() as f64 * (run.len() as f64 - 1.0))
        .sum();
    let pairs = (0.5 * n * (n - 1.0)).max(1.0);
    // Three, where there are none: an upper limit of their number at 95 %.
    ((pairs / equal.max(3.0)).log2().max(0.0), equal)
}

#[cfg(test)]
mod tests {
    use super::*;
    use leakgauge_testing::rng;
    use rand::RngExt;

    fn found(files: &[(&str, &[(u32, u64)])]) -> RepeatedRuns {
        let mut overlaps = Overlaps::default();
        for (name, rows) in files {
            overlaps.begin(name);
            rows.iter()
                .for_each(|(secret, value)| overlaps.push(*secret, &[*value]));
        }
        overlaps.finish()
    }

    fn rows(seed: u64, count: usize, values: u64) -> Vec<(u32, u64)> {
        let mut rng = rng(seed);
        (0..count)
            .map(|_| (rng.random_range(0..2), rng.random_range(0..values)))
            .collect()
    }

    /// Rows one by one, and in parts of all sizes, some shorter than a window.
    #[test]
    fn rows_can_be_added_together() {
        for values in [1, 2, 50, 1 << 40] {
            let mut all = rows(3, 9_000, values);
            all.extend_from_within(2_000..5_100);
            all.extend_from_within(500..700);
            let one_by_one = found(&[("a", &all)]);
            for size in [1, 7, 31, 32, 33, 1_000, 5_000] {
                let mut overlaps = Overlaps::default();
                overlaps.begin("a");
                for (at, part) in all.chunks(size).enumerate() {
                    let hash = |row: &(u32, u64)| overlaps.hash(row.0, &[row.1]);
                    let hashes: Vec<u64> = part.iter().map(hash).collect();
                    match at % 3 {
                        0 => part.iter().for_each(|row| overlaps.push(row.0, &[row.1])),
                        _ => overlaps.push_all(&hashes),
                    }
                }
                assert_eq!(overlaps.finish(), one_by_one, "{values}, {size}");
            }
        }
    }

    #[test]
    fn exports_that_overlap_are_found_with_their_places() {
        for values in [u64::MAX, 1000, 8] {
            let all = rows(1, 5000, values);
            let found = found(&[("a", &all[..3000]), ("b", &all[2200..])]);
            assert_eq!(found.runs, 1, "{values}: {found:?}");
            let run = &found.listed[0];
            assert_eq!((&run.first.file[..], &run.second.file[..]), ("a", "b"));
            assert!((2201..2233).contains(&run.first.row), "{found:?}");
            assert_eq!(run.first.row - run.second.row, 2200);
            assert!((737..=800).contains(&run.rows), "{found:?}");
        }
    }

    #[test]
    fn a_file_appended_to_itself_is_one_run() {
        let mut all = rows(2, 700, 1000);
        all.extend_from_within(..);
        let found = found(&[("a", &all)]);
        assert_eq!((found.runs, found.listed[0].first.row), (1, 1));
        assert_eq!(found.listed[0].second.row, 701);
        assert!((640..=700).contains(&found.rows));
    }

    /// 100 logs each of laws with few values, of secrets in turns, of a fixed answer, and of a walk.
    #[test]
    fn rows_that_recur_by_chance_are_no_runs() {
        for seed in 0..100 {
            let mut logs = vec![
                rows(seed, 5_000, 1),
                rows(seed, 5_000, 2),
                rows(seed, 5_000, 50),
            ];
            let values = rows(seed, 5_000, 3);
            logs.push(
                (0..5_000)
                    .map(|row| (row % 2, values[row as usize].1))
                    .collect(),
            );
            logs.push(
                (0..5_000)
                    .map(|row| (row % 7, u64::from(row % 7)))
                    .collect(),
            );
            let mut walk = 0u64;
            logs.push(
                values
                    .iter()
                    .map(|&(secret, step)| {
                        walk = walk.wrapping_add(step) % 10;
                        (secret, walk)
                    })
                    .collect(),
            );
            for log in &logs {
                assert_eq!(found(&[("a", log)]), RepeatedRuns::default());
            }
        }
    }
}
