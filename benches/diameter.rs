//! The direct search for the worst pair against the one that discards pairs unseen, on one core.
//!
//! Prints both and their ratio for each kind of channel, then measures with criterion.

use std::hint::black_box;
use std::time::Instant;

use criterion::{BenchmarkId, Criterion};
use leakgauge::exact::channel::{Channel, SearchMethod, diameter};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

fn normalized(rows: Vec<Vec<f64>>) -> Channel {
    let normal = |row: Vec<f64>| -> Vec<f64> {
        let sum: f64 = row.iter().sum();
        row.into_iter().map(|x| x / sum).collect()
    };
    let rows: Vec<Vec<f64>> = rows.into_iter().map(normal).collect();
    Channel::from_rows(&rows).unwrap()
}

/// Powers of exponential variables: flat Dirichlet rows at power 1, sharper ones above.
fn random(n: usize, m: usize, power: f64) -> Channel {
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    let mut weight = |_| (-rng.random::<f64>().max(1e-300).ln()).powf(power);
    normalized((0..n).map(|_| (0..m).map(&mut weight).collect()).collect())
}

fn geometric(n: usize, m: usize, nu: f64) -> Channel {
    let weight =
        |s: usize, o: usize| (-nu * (s as f64 * m as f64 / n as f64 - o as f64).abs()).exp();
    normalized(
        (0..n)
            .map(|s| (0..m).map(|o| weight(s, o)).collect())
            .collect(),
    )
}

/// Secrets that come in twenty groups of near-duplicates.
fn clusters(n: usize, m: usize) -> Channel {
    let base = random(n, m, 1.0);
    let row = |s: usize| -> Vec<f64> {
        let pairs = base.row(s % 20).iter().zip(base.row(s));
        pairs.map(|(a, b)| 0.999 * a + 0.001 * b).collect()
    };
    normalized((0..n).map(row).collect())
}

/// All pairs equally far apart: nothing can be discarded.
fn ties(n: usize, m: usize) -> Channel {
    let weight = |s: usize, o: usize| {
        if s % m == o {
            20.0 + (s / m) as f64
        } else {
            1.0
        }
    };
    normalized(
        (0..n)
            .map(|s| (0..m).map(|o| weight(s, o)).collect())
            .collect(),
    )
}

fn seconds(channel: &Channel, method: SearchMethod) -> f64 {
    let start = Instant::now();
    black_box(diameter(channel, method).unwrap());
    start.elapsed().as_secs_f64()
}

/// Alternates the two methods, so that other work on the machine meets both alike.
fn compare(name: &str, channel: &Channel) {
    const ROUNDS: usize = 5;
    let (mut direct, mut auto) = (f64::INFINITY, f64::INFINITY);
    for _ in 0..ROUNDS {
        direct = direct.min(seconds(channel, SearchMethod::Direct));
        auto = auto.min(seconds(channel, SearchMethod::Auto));
    }
    let search = diameter(channel, SearchMethod::Auto).unwrap().search;
    println!(
        "{name:<28} direct {direct:>8.4} s  {:<9} {auto:>8.4} s  ratio {:>6.2}  pairs evaluated {:>8.4} %  \
         entries {:>8.4} %",
        format!("{:?}", search.method).to_lowercase(),
        direct / auto,
        100.0 * search.pairs_evaluated as f64 / search.pairs as f64,
        100.0 * search.share_of_entries,
    );
}

fn measure(criterion: &mut Criterion) {
    let channel = random(1000, 500, 1.0);
    let mut group = criterion.benchmark_group("worst pair of 1000 x 500");
    group.sample_size(10);
    for method in [SearchMethod::Direct, SearchMethod::Pruned] {
        let name = format!("{method:?}").to_lowercase();
        group.bench_function(BenchmarkId::from_parameter(name), |bench| {
            bench.iter(|| diameter(black_box(&channel), method).unwrap());
        });
    }
    group.finish();
}

fn main() {
    let one_core = rayon::ThreadPoolBuilder::new()
        .num_threads(1)
        .build()
        .unwrap();
    one_core.install(|| {
        for (n, m) in [(2000, 1000), (700, 1000)] {
            compare(&format!("random {n} x {m}"), &random(n, m, 1.0));
            compare(&format!("sharp {n} x {m}"), &random(n, m, 4.0));
            compare(&format!("very sharp {n} x {m}"), &random(n, m, 12.0));
            compare(&format!("geometric 0.1 {n} x {m}"), &geometric(n, m, 0.1));
            compare(
                &format!("geometric 0.001 {n} x {m}"),
                &geometric(n, m, 0.001),
            );
            compare(&format!("clusters {n} x {m}"), &clusters(n, m));
            compare(&format!("ties {n} x {m}"), &ties(n, m));
        }
        compare("random 5000 x 12", &random(5000, 12, 1.0));
        compare("random 5000 x 8", &random(5000, 8, 1.0));
        compare("random 5000 x 1000", &random(5000, 1000, 1.0));
        let mut criterion = Criterion::default().configure_from_args();
        measure(&mut criterion);
        criterion.final_summary();
    });
}
