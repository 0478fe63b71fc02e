//! Discards pairs by the triangle inequality, then by sketches, before it computes exact distances.
//!
//! Each of the two tests is used only if a short trial shows that it saves more than it costs. So a channel on
//! which neither helps takes no longer than with the direct algorithm.

use std::ops::Range;

use crate::channel::Channel;
use crate::channel::diameter::pairs::{self, TileFound};
use crate::channel::diameter::reduced::{Order, Reduced};
use crate::channel::diameter::sketch::Sketch;
use crate::channel::diameter::{Found, Frontier, Work};
use crate::channel::measures::total_variation;

/// The number of pivots: rows whose distances to all rows are computed first. Each is the row furthest from the
/// previous one.
const PIVOTS: usize = 4;
/// Tolerance for rounding in sums of distances, as a share of the mass of a row.
const SLACK: f64 = 1e-12;
/// The number of sketch bytes that are compared in the time of one exact entry.
const BYTES_PER_ENTRY: f64 = 12.0;
/// The number of later rows between two trials of a tile, and the number in each trial.
const SEGMENT: usize = 256;
const TRIAL: usize = 6;
/// The number of rows whose pairs show whether sketches are worth building.
const SAMPLE: usize = 40;

/// Searches all pairs of some rows of a channel.
pub fn search(channel: &Channel, rows: &[usize]) -> Found {
    let (order, center_distances) = furthest_first(channel, rows);
    let sorted: Vec<usize> = order.iter().map(|&at| rows[at]).collect();
    let reduced = Reduced::new(channel, &sorted, Order::Strided);
    let mut started = TileFound::default();
    let pivots = pivots(&reduced, &order, &center_distances, &mut started);
    let sketch = sketches_could_pay(&reduced, &started.frontier).then(|| Sketch::new(&reduced));
    let context = Context {
        reduced: &reduced,
        order: &order,
        pivots: &pivots,
        sketch: sketch.as_ref(),
    };
    let (best, mut work) = pairs::rounds(reduced.rows, started.frontier, |tile, best| {
        context.tile(tile, best)
    });
    work.add(started.work);
    Found {
        pair: best.first().unwrap_or((0, 1)),
        work,
    }
}

struct Context<'a> {
    /// The rows, those furthest from the center first.
    reduced: &'a Reduced,
    /// Their numbers before sorting.
    order: &'a [usize],
    /// Distances of each row to the center and to the pivots.
    pivots: &'a [Distances],
    sketch: Option<&'a Sketch>,
}

type Distances = [f64; PIVOTS + 1];

/// Which tests are currently worth their cost.
#[derive(Debug, Clone, Copy)]
struct Tests {
    pivots: bool,
    sketch: bool,
}

impl Context<'_> {
    /// Compares the rows of a tile with all later rows.
    fn tile(&self, tile: Range<usize>, best: Frontier) -> TileFound {
        let mut found = TileFound::starting_at(best);
        let slack = SLACK * self.reduced.mass;
        let all = Tests {
            pivots: true,
            sketch: self.sketch.is_some(),
        };
        let mut tests = all;
        let mut trial = Trial::default();
        for (met, b) in (tile.start + 1..self.reduced.rows).enumerate() {
            // No pair of this tile with b or a later row can be further apart than that.
            let reach = self.pivots[tile.start][0] + self.pivots[b][0];
            if self.reduced.least_mass - reach > found.frontier.limit() + slack {
                break;
            }
            match met % SEGMENT {
                0 => (tests, trial) = (all, Trial::starting(&found.work)),
                TRIAL => tests = self.verdict(&trial, &found.work),
                _ => {}
            }
            for a in tile.start..tile.end.min(b) {
                trial.pairs += 1;
                trial.reached += u64::from(self.pair(a, b, slack, tests, &mut found));
            }
        }
        found
    }

    /// Examines one pair. Returns whether the pivots could not discard it.
    #[inline]
    fn pair(&self, a: usize, b: usize, slack: f64, tests: Tests, found: &mut TileFound) -> bool {
        let limit = found.frontier.limit() + slack;
        if tests.pivots {
            let reach = reach(&self.pivots[a], &self.pivots[b]);
            if self.reduced.least_mass - reach > limit {
                return false;
            }
        }
        if let (true, Some(sketch)) = (tests.sketch, self.sketch) {
            found.work.sketched += 1;
            if !sketch.may_be_within(a, b, limit) {
                return true;
            }
        }
        let names = (self.order[a], self.order[b]);
        pairs::evaluate(self.reduced, (a, b), names, found);
        true
    }

    /// The tests to use after a trial.
    fn verdict(&self, trial: &Trial, work: &Work) -> Tests {
        let sketched = (work.sketched - trial.before.sketched) as f64;
        let begun = (work.begun - trial.before.begun) as f64;
        let entries = (work.entries - trial.before.entries) as f64;
        let width = self.reduced.width as f64;
        // A discarded pair would have cost the average of the computed ones.
        let a_pair = if begun > 0.0 { entries / begun } else { width };
        let sketch = self.sketch.is_some_and(|sketch| {
            (sketched - begun) * a_pair > sketched * sketch.width() as f64 / BYTES_PER_ENTRY
        });
        Tests {
            pivots: (trial.pairs - trial.reached) * 16 > trial.pairs,
            sketch,
        }
    }
}

/// Counts during a trial.
#[derive(Default)]
struct Trial {
    before: Work,
    pairs: u64,
    reached: u64,
}

impl Trial {
    fn starting(work: &Work) -> Self {
        Trial {
            before: *work,
            ..Trial::default()
        }
    }
}

/// The shortest path from one row to the other through the center or a pivot: an upper bound on their distance.
#[inline]
fn reach(a: &Distances, b: &Distances) -> f64 {
    let mut least = f64::INFINITY;
    for (a, b) in a.iter().zip(b) {
        let way = a + b;
        least = if way < least { way } else { least };
    }
    least
}

/// Positions of the rows by their distance from the mean row, the furthest first; and the distances.
fn furthest_first(channel: &Channel, rows: &[usize]) -> (Vec<usize>, Vec<f64>) {
    let mut center = vec![0.0; channel.observations().len()];
    for &row in rows {
        let entries = center.iter_mut().zip(channel.row(row));
        entries.for_each(|(sum, p)| *sum += p);
    }
    center.iter_mut().for_each(|sum| *sum /= rows.len() as f64);
    let distances: Vec<f64> = rows
        .iter()
        .map(|&row| total_variation(channel.row(row), &center))
        .collect();
    let mut order: Vec<usize> = (0..rows.len()).collect();
    order.sort_by(|&a, &b| distances[b].total_cmp(&distances[a]));
    (order, distances)
}

/// Distances of all rows to the center and to a few rows that are far apart.
fn pivots(
    reduced: &Reduced,
    order: &[usize],
    center_distances: &[f64],
    found: &mut TileFound,
) -> Vec<Distances> {
    let to_center = |&at: &usize| {
        let mut distances = [f64::INFINITY; PIVOTS + 1];
        distances[0] = center_distances[at];
        distances
    };
    let mut distances: Vec<Distances> = order.iter().map(to_center).collect();
    let mut used = Vec::new();
    let mut pivot = 0;
    for k in 1..=PIVOTS.min(reduced.rows - 1) {
        used.push(pivot);
        for row in 0..reduced.rows {
            distances[row][k] = if row == pivot {
                0.0
            } else {
                // No early stop: the distance itself is needed.
                let (overlap, seen) = reduced.overlap(pivot, row, f64::INFINITY);
                found.work.begun += 1;
                found.work.full += 1;
                found.work.entries += seen as u64;
                found.frontier.offer(overlap, order[pivot], order[row]);
                reduced.mass - overlap
            };
        }
        pivot = furthest(&distances, k, &used);
    }
    distances
}

/// The unused row furthest from a pivot; among ties, the first.
fn furthest(distances: &[Distances], pivot: usize, used: &[usize]) -> usize {
    let rows = (0..distances.len()).filter(|row| !used.contains(row));
    rows.reduce(|best, row| {
        if distances[row][pivot] > distances[best][pivot] {
            row
        } else {
            best
        }
    })
    .unwrap_or(0)
}

/// Whether sketches save more than they cost, judged on the pairs of a sample of rows.
fn sketches_could_pay(reduced: &Reduced, best: &Frontier) -> bool {
    let step = reduced.rows.div_ceil(SAMPLE);
    let sample: Vec<usize> = (0..reduced.rows).step_by(step).collect();
    let sketch = Sketch::of(reduced, &sample);
    let limit = best.limit() + SLACK * reduced.mass;
    let (mut pairs, mut spared) = (0usize, 0usize);
    for b in 1..sample.len() {
        for a in 0..b {
            pairs += 1;
            if !sketch.may_be_within(a, b, limit) {
                spared += reduced.overlap(sample[a], sample[b], limit).1;
            }
        }
    }
    spared as f64 > pairs as f64 * sketch.width() as f64 / BYTES_PER_ENTRY
}
