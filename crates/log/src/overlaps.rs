//! Long runs of rows that stand in the log twice, verbatim and in the same order: exports that overlap, a
//! file that was appended to itself.
//!
//! Rows choose places: in every window of 32 rows the one of the least rolling hash, so that the same rows choose the
//! same places wherever they stand. Of these, up to 32,768 are kept: once there are more, only the least of windows of
//! twice the length. Each new place is looked for among those kept, and a run is followed from place to place: sums of
//! the hashes of all rows say whether the rows between two places are equal too.
//!
//! # What is found
//! Every run that holds a whole window and the rows that its place hashes, so from 63 rows on in logs of up to about
//! 500,000 rows, and from N/8,000 + 31 rows on in longer ones; shorter runs by chance. A log that repeats its rows
//! again and again has fewer places that differ. The hash is fixed: the same log gives the same runs.
//!
//! # What is beyond chance
//! Two runs of L independent rows are equal with probability 2^(−L·H), H the collision entropy of a row in
//! bits, and there are N²/2 pairs of places. A run is reported from L·H ≥ 40 + 2 log₂ N: a chance of about
//! 10⁻¹². H is taken from the first 65,536 rows, those
//! left out that repeat a run: the least of that of single rows, half of that of neighbors
//! together, and, where neighbors recur often enough to tell, what a row adds to the one before it. So secrets
//! in turns and answers that hardly vary need long runs, and a log that repeats one row reports none. Numbers
//! with many digits need 2·[`WINDOW`] rows.

mod kept;
mod minima;
mod wide;

use kept::Kept;
use minima::{Minima, PlaceHash, WINDOW, mix};

/// Rows whose entropy is looked at.
const SAMPLED: usize = 1 << 16;
/// Fewer rows say nothing of the entropy.
const FEWEST: usize = 48;
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
    /// How many rows, at least: from the first to the last of its places that were looked at.
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

/// A run that is being followed.
#[derive(Debug, Clone, Copy)]
struct Run {
    first: u64,
    second: u64,
    rows: u64,
    /// The sums at its last place, and at that place's earlier counterpart.
    sums: [[u64; 2]; 2],
}

impl Run {
    /// Where it began, if these two places have the same key.
    fn begin(place: &PlaceHash, earlier: &PlaceHash) -> Option<Run> {
        let window = WINDOW as u64;
        // Windows that overlap themselves are runs of equal rows, no copies.
        (earlier.row + window <= place.row).then(|| Run {
            first: earlier.row + 1 - window,
            second: place.row + 1 - window,
            rows: window,
            sums: [place.sums, earlier.sums],
        })
    }

    /// Whether the rows from its last place up to this one are those from that place's counterpart.
    fn reaches(&self, place: &PlaceHash, earlier: &PlaceHash) -> bool {
        let [later, before] = self.sums;
        let grown =
            |sums: [u64; 2], from: [u64; 2]| [0, 1].map(|at| sums[at].wrapping_sub(from[at]));
        place.key == earlier.key && grown(place.sums, later) == grown(earlier.sums, before)
    }
}

/// Looks for repeated runs while rows are read.
#[derive(Default)]
pub(crate) struct Overlaps {
    rows: u64,
    /// Files by the number of their first row.
    files: Vec<(u64, String)>,
    minima: Minima,
    kept: Kept,
    run: Option<Run>,
    found: Vec<Run>,
    sample: Vec<u64>,
    places: Vec<PlaceHash>,
}

/// Rows that are added at once: as many as the nearest cache holds the hashes and values of.
pub(crate) const AT_ONCE: usize = 2048;

impl Overlaps {
    /// The rows that follow are of this file.
    pub fn begin(&mut self, file: &str) {
        self.files.push((self.rows, file.to_owned()));
    }

    /// Adds a row.
    #[inline]
    pub fn push(&mut self, secret: u32, observation: &[u64]) {
        self.push_with(|hashes| hashes.push(Self::hash(secret, observation)));
    }

    /// What a row is told apart by: the same in every run of the program, for it decides which places are looked at.
    #[inline]
    pub fn hash(secret: u32, observation: &[u64]) -> u64 {
        observation
            .iter()
            .fold(mix(u64::from(secret) + 1), |hash, &value| {
                mix(hash.rotate_left(23) ^ value)
            })
    }

    /// Adds rows by their [hashes](Self::hash), which `add` appends: best up to [`AT_ONCE`].
    pub fn push_with(&mut self, add: impl FnOnce(&mut Vec<u64>)) {
        let added = self.minima.add(add);
        let room = SAMPLED - self.sample.len();
        self.sample.extend(added.iter().take(room));
        self.rows += added.len() as u64;
        if self.minima.waiting() >= AT_ONCE {
            self.choose();
        }
    }

    /// Chooses the places of all rows that wait.
    fn choose(&mut self) {
        let mut places = std::mem::take(&mut self.places);
        let mut kept = std::mem::take(&mut self.kept);
        while self.minima.waiting() > 0 {
            let chosen = |place| places.push(place);
            self.minima.choose_some(kept.quiet(), chosen);
            for place in places.drain(..) {
                kept.add(place, |kept, place| self.look(kept, &place));
            }
        }
        self.kept = kept;
        self.places = places;
    }

    /// Holds a place against earlier ones.
    fn look(&mut self, kept: &Kept, place: &PlaceHash) {
        if let Some(run) = &mut self.run {
            let earlier = kept.at(place.row - (run.second - run.first));
            match earlier {
                Some(earlier) if run.reaches(place, earlier) => {
                    run.rows = place.row + 1 - run.second;
                    run.sums = [place.sums, earlier.sums];
                    return;
                }
                // A place that was not kept then: the next one tells.
                None if place.row < run.second + run.rows + 2 * kept.window() => return,
                _ => self.end(),
            }
        }
        let earlier = kept.first(place.key);
        self.run = earlier.and_then(|earlier| Run::begin(place, earlier));
    }

    fn end(&mut self) {
        self.found.extend(self.run.take());
    }

    /// The sampled rows without those that repeat a run: they recur because they were copied, if they were.
    fn without_repeats(&self) -> Vec<u64> {
        let mut is_repeat = vec![false; self.sample.len()];
        let margin = self.kept.window();
        for run in &self.found {
            let end = (run.second + run.rows + margin).min(is_repeat.len() as u64);
            let begin = run.second.saturating_sub(margin).min(end);
            is_repeat[begin as usize..end as usize].fill(true);
        }
        let rows = self.sample.iter().zip(is_repeat);
        let once: Vec<u64> = rows
            .filter(|(_, is_repeat)| !is_repeat)
            .map(|(row, _)| *row)
            .collect();
        // Rows that repeat the first few again and again, as secrets in turns do: these few do not tell.
        match once.len() < FEWEST {
            true => self.sample.clone(),
            false => once,
        }
    }

    /// The runs that are beyond chance, in the order in which they came.
    pub fn finish(mut self) -> RepeatedRuns {
        self.choose();
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
        .map(|pair| mix(pair[0].rotate_left(17) ^ pair[1]));
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
                    let hash = |row: &(u32, u64)| Overlaps::hash(row.0, &[row.1]);
                    let hashes: Vec<u64> = part.iter().map(hash).collect();
                    match at % 3 {
                        0 => part.iter().for_each(|row| overlaps.push(row.0, &[row.1])),
                        _ => overlaps.push_with(|all| all.extend_from_slice(&hashes)),
                    }
                }
                assert_eq!(overlaps.finish(), one_by_one, "{values}, {size}");
            }
        }
    }

    /// A log so long that places are far apart, with copies, equal rows and few values: places of all rows one by one.
    #[test]
    fn of_a_long_log_the_same_places_are_kept_as_of_all_that_are_chosen() {
        let mut all = rows(4, 2_500_000, 10);
        all.extend_from_within(1_000_000..1_100_000);
        all.extend_from_within(1_700_000..1_700_500);
        all.extend((0..50_000).map(|row| (0, row % 7)));
        all.extend((0..50_000).map(|_| (1, 3)));
        all.extend_from_within(2_599_000..2_602_000);
        let hashes: Vec<u64> = all
            .iter()
            .map(|row| Overlaps::hash(row.0, &[row.1]))
            .collect();
        let (mut minima, mut each) = (Minima::default(), Overlaps::default());
        for part in hashes.chunks(AT_ONCE) {
            let (mut kept, mut places) = (std::mem::take(&mut each.kept), Vec::new());
            minima.add(|all| all.extend_from_slice(part));
            minima.choose(part.len(), |place| places.push(place));
            for place in places {
                kept.add(place, |kept, place| each.look(kept, &place));
            }
            each.kept = kept;
        }
        let mut overlaps = Overlaps::default();
        for part in hashes.chunks(AT_ONCE) {
            overlaps.push_with(|all| all.extend_from_slice(part));
        }
        overlaps.choose();
        assert!(overlaps.kept.window() >= 8 * WINDOW as u64);
        let kept = |row: u64| (overlaps.kept.at(row), each.kept.at(row));
        assert!((0..all.len() as u64).all(|row| kept(row).0 == kept(row).1));
        let state = |overlaps: &Overlaps| {
            let (run, found) = (&overlaps.run, &overlaps.found);
            format!("{run:?} {found:?} {:?}", overlaps.kept.quiet())
        };
        assert_eq!(state(&overlaps), state(&each));
        assert!(overlaps.found.len() > 1);
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

    /// Runs at every place, just long enough; and in a log that is so long that places are far apart.
    #[test]
    #[ignore = "long"]
    fn every_run_of_63_rows_is_found_and_longer_ones_in_long_logs() {
        let all = rows(7, 20_000, 1 << 40);
        for from in (0..15_000).step_by(97) {
            let mut log = all[..19_000].to_vec();
            log.extend_from_slice(&all[from..from + 63]);
            log.extend_from_slice(&all[19_000..]);
            let found = found(&[("a", &log)]);
            assert_eq!(found.runs, 1, "{from}: {found:?}");
            let run = &found.listed[0];
            assert_eq!(run.second.row - run.first.row, 19_000 - from as u64);
            assert!((32..=63).contains(&run.rows));
        }
        let long = rows(8, 2_000_000, 1 << 40);
        let length = 2_000_000 / 8_000 + 31;
        for from in [5, 123_456, 1_000_000, 1_600_000] {
            let mut log = long[..1_900_000].to_vec();
            log.extend_from_slice(&long[from..from + length]);
            log.extend_from_slice(&long[1_900_000..]);
            let found = found(&[("a", &log)]);
            assert_eq!(found.runs, 1, "{from}: {found:?}");
        }
    }

    /// A run with one row changed is two runs, wherever that row is.
    #[test]
    fn rows_between_places_are_compared_too() {
        let all = rows(9, 4_000, 1 << 40);
        for at in 100..132 {
            let mut log = all.clone();
            log.extend_from_slice(&all[..1_000]);
            log[4_000 + at].1 ^= 1;
            let found = found(&[("a", &log)]);
            let ends = |run: &RepeatedRun| {
                let begin = run.second.row as usize - 1;
                begin..begin + run.rows as usize
            };
            assert!(
                found
                    .listed
                    .iter()
                    .all(|run| !ends(run).contains(&(4_000 + at))),
                "{at}: {found:?}"
            );
        }
    }

    #[test]
    fn a_file_appended_to_itself_is_one_run() {
        let mut all = rows(2, 700, 1000);
        all.extend_from_within(..);
        let found = found(&[("a", &all)]);
        let run = &found.listed[0];
        assert!(found.runs == 1 && run.first.row <= 32, "{found:?}");
        assert_eq!(run.second.row, run.first.row + 700);
        assert!((637..=700).contains(&found.rows), "{found:?}");
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
