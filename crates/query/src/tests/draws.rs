//! What is drawn, in which order, and which of it is judged.

use super::*;

/// No matter how many outputs are asked for at once: who bets is settled by outputs that are not judged.
#[test]
fn the_first_outputs_are_not_judged() {
    for batch in [None, Some(2), Some(1_000)] {
        let labels = ["a".to_owned(), "b".to_owned()];
        let options = QueryOptions {
            batch,
            ..options("dp(epsilon=1)", 0, 5_000)
        };
        let mut auditor = Auditor::new(&labels, options).unwrap();
        let mut drawn = Vec::new();
        for _ in 0..2 {
            let draws: Vec<_> = auditor.wanted().unwrap().to_vec();
            let rows = draws.iter().map(|draw| draw.1).sum::<usize>();
            drawn.push(rows as u64);
            auditor
                .push(vec![Column::Numbers(
                    (0..rows).map(|row| row as f64).collect(),
                )])
                .unwrap();
            let judged = auditor.standing(false).pairs[0].judged;
            assert_eq!(judged, drawn[1..].iter().sum::<u64>());
        }
        assert_eq!(drawn[1], batch.unwrap_or(4) as u64);
    }
}

/// Blocks of one input are small against what was drawn before, however much is asked for at once.
#[test]
fn large_requests_come_in_small_blocks_of_either_input() {
    let labels = ["a".to_owned(), "b".to_owned()];
    let options = QueryOptions {
        batch: Some(20_000),
        ..options("dp(epsilon=1)", 0, 100_000)
    };
    let mut auditor = Auditor::new(&labels, options).unwrap();
    let mut rows = [0; 2];
    let mut largest = 0;
    for _ in 0..3 {
        let draws = auditor.wanted().unwrap().to_vec();
        for &(input, count) in &draws {
            assert!(count <= 4 || 32 * count <= rows[input], "{count} {rows:?}");
            rows[input] += count;
            assert!(rows[0].abs_diff(rows[1]) <= count);
            largest = largest.max(count);
        }
        let same = vec![0.5; draws.iter().map(|draw| draw.1).sum()];
        auditor.push(vec![Column::Numbers(same)]).unwrap();
    }
    assert!(largest > 200, "{largest}");
}

/// Noise that satisfies the claim, whose center drifts by four times its scale over the audit; drawn in large requests.
#[test]
#[ignore = "long"]
fn a_slow_drift_is_seldom_taken_for_a_leak() {
    let runs = 20;
    let flagged = (0..runs).filter(|&seed| {
        let mut rng = rng(3_000 + seed);
        let mut drawn = 0.0;
        let options = QueryOptions {
            batch: Some(4_000),
            ..options("dp(epsilon=1)", seed, 20_000)
        };
        let found = audit(2, options, |input, count| {
            let noisy = (0..count).map(|_| {
                drawn += 1.0;
                4.0 * drawn / 20_000.0 + input as f64 + laplace(&mut rng, 1.0)
            });
            vec![Column::Numbers(noisy.collect())]
        });
        found.claims[0].verdict == Verdict::Violated
    });
    let flagged = flagged.count();
    assert!(flagged <= at_most(runs as usize, 0.05), "{flagged}");
}

/// Ten pairs of five inputs, vectors of ten numbers, nothing to find: how long the choice and the bets take.
///
/// ```text
/// cargo test --release -p leakgauge-query ten_pairs -- --ignored --nocapture
/// ```
#[test]
#[ignore = "long"]
fn ten_pairs_of_vectors_are_judged_fast() {
    let mut rng = rng(1);
    let start = std::time::Instant::now();
    let found = audit(5, options("ldp(epsilon=1)", 0, 200_000), |_, count| {
        let column = |_| {
            let numbers = (0..count).map(|_| laplace(&mut rng, 1.0));
            Column::Numbers(numbers.collect())
        };
        (0..10).map(column).collect()
    });
    println!("{} samples in {:?}", found.samples, start.elapsed());
}
