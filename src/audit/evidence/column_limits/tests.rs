use super::*;
use leakgauge_testing::{at_most, rng};
use rand::RngExt;

/// The largest distance between the shares below a value.
fn distance(a: &mut [f64], b: &mut [f64]) -> f64 {
    a.sort_by(f64::total_cmp);
    b.sort_by(f64::total_cmp);
    let below =
        |sample: &[f64], x: f64| sample.partition_point(|&y| y <= x) as f64 / sample.len() as f64;
    let all = a.iter().chain(b.iter());
    all.map(|&x| (below(a, x) - below(b, x)).abs())
        .fold(0.0, f64::max)
}

/// Five columns that tell nothing, 2,000 logs: in a fifth of them at most any limit is above 0, and without a part for each
/// it would be in more.
#[test]
fn five_limits_hold_together() {
    const LOGS: usize = 2_000;
    const ALPHA: f64 = 0.2;
    let mut rng = rng(64);
    let (mut wrong, mut without_parts) = (0, 0);
    for _ in 0..LOGS {
        let mut column = || {
            let mut sample = || -> Vec<f64> { (0..100).map(|_| rng.random()).collect() };
            distance(&mut sample(), &mut sample())
        };
        let columns: Vec<(usize, f64)> = (0..CHOSEN).map(|at| (at, column())).collect();
        let found = |parts: f64| {
            let distances = Distances {
                rows: [100, 100],
                columns: columns.clone(),
            };
            distances.limits(parts * ALPHA).any(|limit| limit > 0.0)
        };
        wrong += usize::from(found(1.0));
        without_parts += usize::from(found(CHOSEN as f64));
    }
    assert!(wrong <= at_most(LOGS, ALPHA), "{wrong} of {LOGS}");
    assert!(
        without_parts > at_most(LOGS, ALPHA),
        "{without_parts} of {LOGS}: nothing to hold together"
    );
}
