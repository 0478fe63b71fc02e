//! Which points may be among the k nearest, from single-precision products.
//!
//! # Formula
//! For centered points, half the squared distance is ½|x|² + h(p), h(p) = ½|p|² − x·p. Computed from
//! numbers rounded to `f32`, products summed in any way, h is off by at most
//! e = 2⁻²⁴(d + 8)(½|p|² + |x||p|) + 2⁻⁴⁰|x|² + 10⁻³⁶; the second term also covers the rounding of the
//! distances in `f64` that decide in the end (Higham 2002, Accuracy and Stability of Numerical
//! Algorithms, section 3.1). With U the k-th smallest h + e, no point of h − e > U is among the k
//! nearest: the rest is left to the exact computation, however the machine sums.

use crate::kernel::{Kernel, QUERIES, Run, TILE};

/// Points beyond are not filtered: their squares leave the range of `f32`.
const FARTHEST: f64 = 1e15;
/// Numbers of a block of points, which should stay near the processor.
const BLOCK: usize = 1 << 16;

/// Points in ascending order of their distance from a center, as `f32`.
pub(crate) struct Filter {
    d: usize,
    kernel: Kernel,
    center: Vec<f64>,
    tiles: Vec<f32>,
    /// ½|p|², infinite for what fills up the last tile.
    base: Vec<f32>,
    blocks: Vec<Block>,
    /// The points that are filtered, the nearest to the center.
    points: usize,
}

/// Consecutive points, and between which distances from the center they lie.
struct Block {
    from: usize,
    to: usize,
    nearest: f64,
    farthest: f64,
}

/// What may be near one query.
struct Candidates {
    k: usize,
    norm: f64,
    /// The k-th smallest upper end so far.
    bound: f32,
    /// Whether the bound is a guess, so that it must be seen at the end that `k` points are within.
    guessed: bool,
    found: Vec<Candidate>,
    /// Number of candidates at which those beyond the bound are dropped.
    full: usize,
}

/// A point and between which numbers its h lies.
#[derive(Clone, Copy)]
struct Candidate {
    lower: f32,
    upper: f32,
    point: u32,
}

impl Filter {
    /// Arranges row-major points, and returns the order in which it did.
    pub fn new(numbers: &[f64], d: usize, kernel: Kernel) -> (Self, Vec<usize>) {
        let rows = numbers.len() / d;
        let center = medians(numbers, d);
        let norm = |row: usize| norm(&numbers[row * d..(row + 1) * d], &center);
        let norms: Vec<f64> = (0..rows).map(norm).collect();
        let mut order: Vec<usize> = (0..rows).collect();
        order.sort_by(|&a, &b| norms[a].total_cmp(&norms[b]));
        let points = order.partition_point(|&row| norms[row] <= FARTHEST);
        let padded = points.next_multiple_of(TILE);
        let (mut tiles, mut base) = (vec![0f32; padded * d], vec![f32::INFINITY; padded]);
        for (at, &row) in order[..points].iter().enumerate() {
            let tile = &mut tiles[at / TILE * TILE * d..];
            let point = numbers[row * d..(row + 1) * d].iter().zip(&center);
            for (column, (value, center)) in point.enumerate() {
                tile[column * TILE + at % TILE] = (value - center) as f32;
            }
            base[at] = (0.5 * norms[row] * norms[row]) as f32;
        }
        let span = (BLOCK / d).next_multiple_of(TILE);
        let block = |from: usize| {
            let to = (from + span).min(padded);
            Block {
                from,
                to,
                nearest: norms[order[from]],
                farthest: norms[order[to.min(points) - 1]],
            }
        };
        let blocks = (0..padded).step_by(span).map(block).collect();
        let filter = Filter {
            d,
            kernel,
            center,
            tiles,
            base,
            blocks,
            points,
        };
        (filter, order)
    }

    /// Calls `found(query, points)` for every row-major query: the places, in the order returned by
    /// `new`, of all points that may be among the k nearest.
    pub fn candidates(&self, queries: &[f64], k: usize, found: &mut dyn FnMut(usize, &[u32])) {
        // So many that their candidates stay few and every block serves many of them.
        const TOGETHER: usize = 512;
        let mut places = Vec::with_capacity(self.base.len().max(self.points).min(4 * k));
        for (part, queries) in queries.chunks(TOGETHER * self.d).enumerate() {
            let mut all: Vec<Candidates> = queries
                .chunks_exact(self.d)
                .map(|x| Candidates::new(k, norm(x, &self.center)))
                .collect();
            let parts = queries.chunks(QUERIES * self.d).map(|x| self.pack(x));
            let packed: Vec<Vec<f32>> = parts.collect();
            for (queries, candidates) in packed.iter().zip(all.chunks_mut(QUERIES)) {
                self.guess(queries, candidates);
            }
            self.passes(&packed, &mut all);
            // A guess that was too small: from the start, without one.
            for (queries, candidates) in packed.iter().zip(all.chunks_mut(QUERIES)) {
                if candidates.iter().any(Candidates::is_short) {
                    for candidates in candidates.iter_mut() {
                        *candidates = Candidates::new(k, candidates.norm);
                    }
                    self.passes(std::slice::from_ref(queries), candidates);
                }
            }
            for (query, candidates) in all.into_iter().enumerate() {
                candidates.into_places(&mut places, self.points);
                found(part * TOGETHER + query, &places);
            }
        }
    }

    /// Looks at all points, block by block.
    fn passes(&self, packed: &[Vec<f32>], candidates: &mut [Candidates]) {
        for block in &self.blocks {
            for (queries, candidates) in packed.iter().zip(candidates.chunks_mut(QUERIES)) {
                self.pass(block, queries, candidates);
            }
        }
    }

    /// Guesses the bounds of queries with many neighbors from one tile in `EVERY`, a little too large.
    fn guess(&self, queries: &[f32], candidates: &mut [Candidates]) {
        const EVERY: usize = 8;
        const LEAST: usize = 8 * EVERY;
        let k = candidates[0].k;
        // Three standard deviations of how many of the k nearest are in the sample.
        let wanted = k as f64 / EVERY as f64;
        let wanted = (wanted + 3.0 * wanted.sqrt()).ceil() as usize;
        if k < LEAST || 2 * wanted * EVERY > self.points {
            return;
        }
        let mut seen = [const { Vec::new() }; QUERIES];
        for block in &self.blocks {
            let mut errors = [0.0; QUERIES];
            for (error, candidates) in errors.iter_mut().zip(candidates.iter()) {
                *error = single(self::error(candidates.norm, block.farthest, self.d));
            }
            for tile in (block.from / TILE..block.to / TILE).filter(|tile| tile % EVERY == 0) {
                let mut limits = [f32::MAX; QUERIES];
                let run = self.run(tile * TILE, (tile + 1) * TILE);
                self.kernel
                    .products(run, queries, &mut limits, &mut |query, _, value| {
                        seen[query].push((value + errors[query]).next_up());
                        f32::MAX
                    });
            }
        }
        for (candidates, seen) in candidates.iter_mut().zip(&mut seen) {
            if seen.len() >= wanted {
                let (_, bound, _) = seen.select_nth_unstable_by(wanted - 1, f32::total_cmp);
                candidates.bound = *bound;
                candidates.guessed = true;
            }
        }
    }

    fn run(&self, from: usize, to: usize) -> Run<'_> {
        Run {
            tiles: &self.tiles[from * self.d..to * self.d],
            base: &self.base[from..to],
            d: self.d,
        }
    }

    /// The number of points that are filtered; what comes after them is never ruled out.
    pub fn points(&self) -> usize {
        self.points
    }

    /// Up to `QUERIES` queries, column by column.
    fn pack(&self, queries: &[f64]) -> Vec<f32> {
        let mut packed = vec![0f32; QUERIES * self.d];
        for (at, x) in queries.chunks_exact(self.d).enumerate() {
            for (column, (value, center)) in x.iter().zip(&self.center).enumerate() {
                packed[column * QUERIES + at] = (value - center) as f32;
            }
        }
        packed
    }

    fn pass(&self, block: &Block, queries: &[f32], candidates: &mut [Candidates]) {
        let mut limits = [f32::NEG_INFINITY; QUERIES];
        let mut errors = [0.0; QUERIES];
        for (at, candidates) in candidates.iter().enumerate() {
            let error = error(candidates.norm, block.farthest, self.d);
            errors[at] = single(error);
            if candidates.reaches(block, error) {
                limits[at] = limit(candidates.bound, errors[at]);
            }
        }
        if limits.iter().all(|limit| *limit == f32::NEG_INFINITY) {
            return;
        }
        let run = self.run(block.from, block.to);
        let kernel = self.kernel;
        kernel.products(run, queries, &mut limits, &mut |query, point, value| {
            let place = (block.from + point) as u32;
            candidates[query].add(place, value, errors[query]);
            limit(candidates[query].bound, errors[query])
        });
    }
}

/// How far a computed h can be off.
fn error(query: f64, point: f64, d: usize) -> f64 {
    const UNIT: f64 = 1.0 / (1u64 << 24) as f64;
    const TINY: f64 = 1.0 / (1u64 << 40) as f64;
    UNIT * (d + 8) as f64 * (0.5 * point * point + query * point) + TINY * query * query + 1e-36
}

/// At least so much, in single precision.
fn single(error: f64) -> f32 {
    (error as f32).next_up()
}

/// The largest computed h that may still matter, rounded up; less than infinity, which fills tiles.
fn limit(bound: f32, error: f32) -> f32 {
    (bound + error).next_up().min(f32::MAX)
}

impl Candidates {
    fn new(k: usize, norm: f64) -> Self {
        Candidates {
            k,
            norm,
            bound: f32::INFINITY,
            guessed: false,
            found: Vec::new(),
            full: 2 * k + 16,
        }
    }

    /// Whether points of a block may matter, by the triangle inequality. Queries far out are not
    /// filtered at all.
    fn reaches(&self, block: &Block, error: f64) -> bool {
        let gap = (block.nearest - self.norm)
            .max(self.norm - block.farthest)
            .max(0.0);
        self.norm <= FARTHEST
            && 0.5 * (gap * gap - self.norm * self.norm) <= f64::from(self.bound) + 2.0 * error
    }

    fn add(&mut self, point: u32, value: f32, error: f32) {
        let (lower, upper) = ((value - error).next_down(), (value + error).next_up());
        self.found.push(Candidate {
            lower,
            upper,
            point,
        });
        if self.k == 1 {
            self.bound = self.bound.min(upper);
        }
        if self.found.len() >= self.full {
            self.tighten();
            self.full = (2 * self.found.len()).max(2 * self.k + 16);
        }
    }

    /// Whether fewer than k points are certainly within a bound that was guessed.
    fn is_short(&self) -> bool {
        let within = |candidate: &&Candidate| candidate.upper <= self.bound;
        self.guessed
            && self.norm <= FARTHEST
            && self.found.iter().filter(within).take(self.k).count() < self.k
    }

    /// Drops what is beyond the k-th smallest upper end.
    fn tighten(&mut self) {
        if self.found.len() >= self.k {
            let by_upper = |a: &Candidate, b: &Candidate| a.upper.total_cmp(&b.upper);
            let (_, kth, _) = self.found.select_nth_unstable_by(self.k - 1, by_upper);
            self.bound = self.bound.min(kth.upper);
        }
        let bound = self.bound;
        self.found.retain(|candidate| candidate.lower <= bound);
    }

    fn into_places(mut self, places: &mut Vec<u32>, points: usize) {
        places.clear();
        if self.norm <= FARTHEST {
            self.tighten();
            places.extend(self.found.iter().map(|candidate| candidate.point));
        } else {
            places.extend(0..points as u32);
        }
    }
}

fn norm(point: &[f64], center: &[f64]) -> f64 {
    let squares = point
        .iter()
        .zip(center)
        .map(|(x, center)| (x - center).powi(2));
    squares.sum::<f64>().sqrt()
}

/// The median of every column, which outliers do not move.
fn medians(numbers: &[f64], d: usize) -> Vec<f64> {
    let rows = numbers.len() / d;
    let median = |column: usize| {
        let mut values: Vec<f64> = numbers.iter().skip(column).step_by(d).copied().collect();
        *values.select_nth_unstable_by(rows / 2, f64::total_cmp).1
    };
    (0..d).map(median).collect()
}
