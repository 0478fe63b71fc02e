//! Exact nearest neighbours: ours beside kiddo, on normal and on tied data, single-threaded.
//!
//! With `LEAKGAUGE_NEIGHBORS_DIR` set, prints one line a case, `dimensions tied k name
//! microseconds-a-query`, and leaves the same points there for `neighbors.py`; `neighbors.sh` does
//! both. Else criterion measures.

use std::fmt::Write as _;
use std::hint::black_box;
use std::io::Write as _;
use std::num::NonZero;
use std::time::Instant;

use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use kiddo::{ImmutableKdTree, SquaredEuclidean};
use leakgauge::attack::scorer::{Neighbors, Rank};
use leakgauge::log::observations::{Cell, Counts};
use leakgauge::log::{Log, ReadOptions, read_from};
use rand::SeedableRng;
use rand::distr::Distribution;
use rand_chacha::ChaCha8Rng;
use rand_distr::{StandardNormal, Uniform};

const POINTS: usize = 100_000;
const QUERIES: usize = 2_048;

/// Points, then queries, of one secret.
struct Case {
    d: usize,
    tied: bool,
    log: Log,
    fit: Counts,
    queries: Vec<u32>,
}

fn numbers(d: usize, tied: bool) -> Vec<f64> {
    let mut rng = ChaCha8Rng::seed_from_u64(d as u64);
    let integers = Uniform::new(0, 21).expect("a range");
    (0..(POINTS + QUERIES) * d)
        .map(|_| {
            if tied {
                f64::from(integers.sample(&mut rng))
            } else {
                StandardNormal.sample(&mut rng)
            }
        })
        .collect()
}

fn case(d: usize, tied: bool) -> Case {
    let mut csv = "secret".to_owned();
    (0..d).for_each(|column| write!(csv, ",x{column}").expect("a string"));
    csv.push('\n');
    for (row, point) in numbers(d, tied).chunks(d).enumerate() {
        write!(csv, "{}", u8::from(row >= POINTS)).expect("a string");
        point
            .iter()
            .for_each(|x| write!(csv, ",{x}").expect("a string"));
        csv.push('\n');
    }
    let options = ReadOptions::default();
    let log = read_from("bench", std::io::Cursor::new(csv), &options).expect("a good log");
    let of = |secret: u32| -> Vec<Cell> {
        let cells = log.counts.cells().iter().copied();
        cells.filter(|cell| cell.secret == secret).collect()
    };
    let fit = Counts::new(1, of(0));
    // As often as they occur: others search for each.
    let queries = of(1)
        .iter()
        .flat_map(|cell| vec![cell.symbol; cell.count as usize])
        .collect();
    Case {
        d,
        tied,
        log,
        fit,
        queries,
    }
}

impl Case {
    fn ours(&self, index: &Neighbors, k: usize) -> f64 {
        let mut out = vec![0.0; self.queries.len()];
        let ranks = [Rank::Fixed(k)];
        let observations = &self.log.observations;
        index.ln_distances(observations, &self.queries, &ranks, &mut [&mut out]);
        out[0]
    }
}

fn kiddo_search<const D: usize>(points: &[f64], queries: &[f64], k: usize) -> Option<f64> {
    let points: Vec<[f64; D]> = points.as_chunks().0.to_vec();
    let tree = ImmutableKdTree::new_from_slice(&points).expect("finite points");
    let many = NonZero::new(k)?;
    Some(microseconds(queries.len() / D, || {
        for query in queries.as_chunks::<D>().0 {
            let search = tree.query(query);
            if k == 1 {
                black_box(search.nearest_one::<SquaredEuclidean<f64>>().execute());
            } else {
                black_box(search.nearest_n::<SquaredEuclidean<f64>>(many).execute());
            }
        }
    }))
}

fn kiddo(d: usize, numbers: &[f64], k: usize) -> Option<f64> {
    let (points, queries) = numbers.split_at(POINTS * d);
    match d {
        1 => kiddo_search::<1>(points, queries, k),
        2 => kiddo_search::<2>(points, queries, k),
        3 => kiddo_search::<3>(points, queries, k),
        5 => kiddo_search::<5>(points, queries, k),
        10 => kiddo_search::<10>(points, queries, k),
        20 => kiddo_search::<20>(points, queries, k),
        _ => None,
    }
}

/// The best of at least five, in half a second or more, a query.
fn microseconds(queries: usize, mut run: impl FnMut()) -> f64 {
    let (mut best, mut all, mut times) = (f64::INFINITY, 0.0, 0);
    while times < 5 || all < 0.5 {
        let start = Instant::now();
        run();
        let seconds = start.elapsed().as_secs_f64();
        best = best.min(seconds);
        all += seconds;
        times += 1;
    }
    best / queries as f64 * 1e6
}

const CASES: [(usize, bool); 10] = [
    (1, false),
    (2, false),
    (3, false),
    (5, false),
    (10, false),
    (20, false),
    (50, false),
    (100, false),
    (1, true),
    (2, true),
];

fn print_table(folder: &str) {
    for (d, tied) in CASES {
        let numbers = numbers(d, tied);
        let path = format!("{folder}/{d}_{tied}.f64");
        let mut file = std::fs::File::create(path).expect("a writable folder");
        let bytes: Vec<u8> = numbers.iter().flat_map(|x| x.to_le_bytes()).collect();
        file.write_all(&bytes).expect("room");
        let case = case(d, tied);
        let index = Neighbors::fit(&case.log.observations, &case.fit);
        for k in [1, 10] {
            let ours = microseconds(case.queries.len(), || {
                black_box(case.ours(&index, k));
            });
            println!("{d} {tied} {k} ours:{} {ours:.4}", index.index_name());
            // Leaves of equal points overflow or swell there.
            if let Some(theirs) = (!tied).then(|| kiddo(d, &numbers, k)).flatten() {
                println!("{d} {tied} {k} kiddo {theirs:.4}");
            }
        }
    }
}

fn benches(c: &mut Criterion) {
    if let Ok(folder) = std::env::var("LEAKGAUGE_NEIGHBORS_DIR") {
        print_table(&folder);
        return;
    }
    let mut group = c.benchmark_group("2,048 queries among 100,000 points of one secret");
    group.sample_size(10);
    for (d, tied) in CASES {
        let case = case(d, tied);
        let index = Neighbors::fit(&case.log.observations, &case.fit);
        for k in [1, 10] {
            let kind = if case.tied { "tied" } else { "normal" };
            let name = format!("{} {kind} k={k}", index.index_name());
            group.bench_function(BenchmarkId::new(name, case.d), |b| {
                b.iter(|| case.ours(&index, k));
            });
        }
    }
    group.finish();
}

criterion_group!(all, benches);
criterion_main!(all);
