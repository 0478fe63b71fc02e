//! Exact nearest neighbors: ours beside kiddo, on normal and on tied data, of one secret or of each of ten.
//!
//! With `LEAKGAUGE_NEIGHBORS_DIR` set, prints one line a case, `dimensions tied secrets k name
//! microseconds-a-query`, and leaves the same points there for `neighbors.py`; `neighbors.sh` does
//! both. Else criterion measures. `RAYON_NUM_THREADS` is the number of threads that share the queries.

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
use rayon::iter::ParallelIterator as _;
use rayon::slice::ParallelSlice as _;

const POINTS: usize = 100_000;
const QUERIES: usize = 2_048;

/// Points of some secrets in turn, then queries.
struct Case {
    d: usize,
    tied: bool,
    secrets: usize,
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

fn case((d, tied, secrets): (usize, bool, usize)) -> Case {
    let mut csv = "secret".to_owned();
    (0..d).for_each(|column| write!(csv, ",x{column}").expect("a string"));
    csv.push('\n');
    for (row, point) in numbers(d, tied).chunks(d).enumerate() {
        let secret = if row < POINTS { row % secrets } else { secrets };
        write!(csv, "{secret}").expect("a string");
        point
            .iter()
            .for_each(|x| write!(csv, ",{x}").expect("a string"));
        csv.push('\n');
    }
    let options = ReadOptions::default();
    let log = read_from("bench", std::io::Cursor::new(csv), &options).expect("a good log");
    let is_point = |cell: &Cell| (cell.secret as usize) < secrets;
    let cells = log.counts.cells().iter().copied();
    let (points, queries): (Vec<Cell>, Vec<Cell>) = cells.partition(is_point);
    let fit = Counts::new(secrets, points);
    // As often as they occur: others search for each.
    let queries = queries
        .iter()
        .flat_map(|cell| vec![cell.symbol; cell.count as usize])
        .collect();
    Case {
        d,
        tied,
        secrets,
        log,
        fit,
        queries,
    }
}

impl Case {
    fn ours(&self, index: &Neighbors, k: usize) {
        let ranks = [Rank::Fixed(k)];
        let observations = &self.log.observations;
        shared(&self.queries, |queries| {
            let mut out = vec![0.0; queries.len() * self.secrets];
            index.ln_distances(observations, queries, &ranks, &mut [&mut out]);
            black_box(out);
        });
    }

    fn kiddo(&self, numbers: &[f64], k: usize) -> Option<f64> {
        let (points, queries) = numbers.split_at(POINTS * self.d);
        match self.d {
            1 => kiddo::<1>(points, self.secrets, queries, k),
            2 => kiddo::<2>(points, self.secrets, queries, k),
            3 => kiddo::<3>(points, self.secrets, queries, k),
            5 => kiddo::<5>(points, self.secrets, queries, k),
            10 => kiddo::<10>(points, self.secrets, queries, k),
            20 => kiddo::<20>(points, self.secrets, queries, k),
            _ => None,
        }
    }
}

/// Each thread gets one part of the queries.
fn shared<T: Sync>(queries: &[T], search: impl Fn(&[T]) + Send + Sync) {
    let threads = rayon::current_num_threads();
    if threads == 1 {
        search(queries);
    } else {
        let parts = queries.par_chunks(queries.len().div_ceil(threads));
        parts.for_each(search);
    }
}

fn kiddo<const D: usize>(points: &[f64], secrets: usize, queries: &[f64], k: usize) -> Option<f64> {
    let points: &[[f64; D]] = points.as_chunks().0;
    let tree = |secret: usize| {
        let of: Vec<[f64; D]> = points
            .iter()
            .skip(secret)
            .step_by(secrets)
            .copied()
            .collect();
        ImmutableKdTree::new_from_slice(&of).expect("finite points")
    };
    let trees: Vec<ImmutableKdTree<f64, D>> = (0..secrets).map(tree).collect();
    let many = NonZero::new(k)?;
    let queries = queries.as_chunks::<D>().0;
    Some(microseconds(queries.len(), || {
        shared(queries, |queries| {
            for tree in &trees {
                for query in queries {
                    let search = tree.query(query);
                    if k == 1 {
                        black_box(search.nearest_one::<SquaredEuclidean<f64>>().execute());
                    } else {
                        black_box(search.nearest_n::<SquaredEuclidean<f64>>(many).execute());
                    }
                }
            }
        });
    }))
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

/// Dimensions, whether points are tied, and secrets.
const CASES: [(usize, bool, usize); 14] = [
    (1, false, 1),
    (2, false, 1),
    (3, false, 1),
    (5, false, 1),
    (10, false, 1),
    (20, false, 1),
    (50, false, 1),
    (100, false, 1),
    (1, true, 1),
    (2, true, 1),
    (1, false, 10),
    (2, false, 10),
    (5, false, 10),
    (20, false, 10),
];

fn print_table(folder: &str) {
    for of in CASES {
        let case = case(of);
        let (d, tied, secrets) = of;
        let numbers = numbers(d, tied);
        let path = format!("{folder}/{d}_{tied}.f64");
        let mut file = std::fs::File::create(path).expect("a writable folder");
        let bytes: Vec<u8> = numbers.iter().flat_map(|x| x.to_le_bytes()).collect();
        file.write_all(&bytes).expect("room");
        let index = Neighbors::fit(&case.log.observations, &case.fit);
        for k in [1, 10] {
            let ours = microseconds(case.queries.len(), || case.ours(&index, k));
            let begins = format!("{d} {tied} {secrets} {k}");
            println!("{begins} ours:{} {ours:.4}", index.index_name());
            // Leaves of equal points overflow or swell there.
            if let Some(theirs) = (!tied).then(|| case.kiddo(&numbers, k)).flatten() {
                println!("{begins} kiddo {theirs:.4}");
            }
        }
    }
}

fn benches(c: &mut Criterion) {
    if let Ok(folder) = std::env::var("LEAKGAUGE_NEIGHBORS_DIR") {
        print_table(&folder);
        return;
    }
    let mut group = c.benchmark_group("2,048 queries among 100,000 points");
    group.sample_size(10);
    for of in CASES {
        let case = case(of);
        let index = Neighbors::fit(&case.log.observations, &case.fit);
        for k in [1, 10] {
            let kind = if case.tied { "tied" } else { "normal" };
            let name = format!(
                "{} {kind}, secrets={}, k={k}",
                index.index_name(),
                case.secrets
            );
            group.bench_function(BenchmarkId::new(name, case.d), |b| {
                b.iter(|| case.ours(&index, k));
            });
        }
    }
    group.finish();
}

criterion_group!(all, benches);
criterion_main!(all);
