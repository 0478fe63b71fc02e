//! Speed of the parts of an estimate and of the whole, on simulated logs.

use std::fmt::Write;
use std::hint::black_box;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use leakgauge::attack::scorer::{Neighbors, Rank};
use leakgauge::attack::split::Split;
use leakgauge::audit::{AuditOptions, audit};
use leakgauge::exact::mechanism;
use leakgauge::exact::simulate::Simulation;
use leakgauge::log::{Log, ReadOptions, read_from};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

fn simulated(mechanism: &str, rows: usize) -> String {
    let mechanism = mechanism::parse(mechanism).expect("a mechanism");
    let mut simulation = Simulation::new(&*mechanism, 1).expect("secrets are declared");
    let mut csv = "secret,observation\n".to_owned();
    for _ in 0..rows {
        let (secret, observation) = simulation.next_row();
        writeln!(csv, "{secret},{}", observation.join(",")).expect("a string takes everything");
    }
    csv
}

/// Two secrets, uniform in a cube, shifted by a fifth.
fn cube(dimensions: usize, rows: usize) -> String {
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    let names: Vec<String> = (0..dimensions).map(|column| format!("x{column}")).collect();
    let mut csv = format!("secret,{}\n", names.join(","));
    for row in 0..rows {
        write!(csv, "{}", row % 2).expect("a string takes everything");
        for _ in 0..dimensions {
            let x = rng.random::<f64>() + 0.2 * (row % 2) as f64;
            write!(csv, ",{x}").expect("a string takes everything");
        }
        csv.push('\n');
    }
    csv
}

fn read(csv: &str) -> Log {
    read_from(
        "bench",
        std::io::Cursor::new(csv.to_owned()),
        &ReadOptions::default(),
    )
    .expect("a good log")
}

const LAPLACE: &str = "laplace(scale=2, secrets=0..9)";
const GEOMETRIC: &str = "geometric(nu=0.1, secrets=0..99)";

fn reading(c: &mut Criterion) {
    let mut group = c.benchmark_group("reading, 100,000 rows");
    for (name, mechanism) in [("numeric", LAPLACE), ("discrete", GEOMETRIC)] {
        let csv = simulated(mechanism, 100_000);
        group.throughput(Throughput::Bytes(csv.len() as u64));
        group.bench_function(name, |b| b.iter(|| read(black_box(&csv))));
    }
    group.finish();
}

fn neighbors(c: &mut Criterion) {
    let mut group =
        c.benchmark_group("neighbors of 2,000 queries among 20,000 rows of two secrets");
    group.sample_size(10);
    for dimensions in [1, 2, 3, 5, 10, 20] {
        let log = read(&cube(dimensions, 22_000));
        let split = Split::stratified(&log.counts, &mut ChaCha8Rng::seed_from_u64(0));
        let index = Neighbors::fit(&log.observations, &split.fit.plus(&split.certify));
        let queries: Vec<u32> = split.tune.symbols().into_iter().take(2000).collect();
        let mut out = vec![0.0; queries.len() * 2];
        let name = BenchmarkId::new(index.index_name(), dimensions);
        group.bench_function(name, |b| {
            b.iter(|| {
                let ranks = [Rank::RootTimes(1.0)];
                index.ln_distances(&log.observations, &queries, &ranks, &mut [&mut out]);
            });
        });
    }
    group.finish();
}

fn whole(c: &mut Criterion) {
    let mut group = c.benchmark_group("audit without reading, 60,000 rows");
    group.sample_size(10);
    for (name, mechanism) in [
        ("numeric, 10 secrets", LAPLACE),
        ("discrete, 100 secrets", GEOMETRIC),
    ] {
        let log = read(&simulated(mechanism, 60_000));
        let options = AuditOptions::default();
        group.bench_function(name, |b| {
            b.iter(|| audit(black_box(&log), &options).expect("a good log"))
        });
    }
    group.finish();
}

criterion_group!(benches, reading, neighbors, whole);
criterion_main!(benches);
