//! The rows that the best event needs, told in advance and judged on all rows.

use leakgauge_stats::binomial::{clopper_pearson_lower, clopper_pearson_upper};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use rand_distr::{Binomial, Distribution};

use super::cases::{Case, Mechanism};
use super::truth::{self, Outcomes};

/// Draws that a chance of 9 in 10 is counted on.
const DRAWS: u32 = 1_000;

/// Rows, half of either input, from which 9 of 10 logs refute the claim through the best event: ln((p − δ)/q) > ε for
/// Clopper–Pearson limits of p from below and q from above, 2.5 % each.
pub fn rows(case: &Case, claimed: f64) -> u64 {
    let outcomes = truth::outcomes(case, claimed);
    let delta = match case.mechanism {
        Mechanism::ClassicGaussian { delta } => delta,
        _ => 0.0,
    };
    let turned = outcomes.iter().map(|&(a, b)| (b, a)).collect();
    let events = [level_sets(outcomes), level_sets(turned)].concat();
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    let mut half = 50.0_f64;
    loop {
        let n = half as u64;
        let promised = |&(p, q): &(f64, f64)| {
            let unlucky = |share: f64, sign: f64| {
                let count = n as f64 * share;
                (count + sign * count.sqrt()).clamp(0.0, n as f64) as u64
            };
            limit(unlucky(p, -1.0), unlucky(q, 1.0), n, delta)
        };
        let best = events
            .iter()
            .max_by(|x, y| promised(x).total_cmp(&promised(y)));
        if best.is_some_and(|&(p, q)| {
            let draw = |share| Binomial::new(n, share).expect("a share");
            let (p, q) = (draw(p), draw(q));
            let caught = (0..DRAWS)
                .filter(|_| limit(p.sample(&mut rng), q.sample(&mut rng), n, delta) > claimed);
            caught.count() as u32 >= DRAWS * 9 / 10
        }) {
            return 2 * n;
        }
        half *= 1.05;
    }
}

fn limit(p: u64, q: u64, n: u64, delta: f64) -> f64 {
    let p = clopper_pearson_lower(p, n, 0.025) - delta;
    let q = clopper_pearson_upper(q, n, 0.025);
    if p > 0.0 { (p / q).ln() } else { 0.0 }
}

/// Probabilities of the events "the ratio of probabilities is at least so large", thinned out.
fn level_sets(mut outcomes: Outcomes) -> Outcomes {
    outcomes.retain(|(a, b)| a.max(*b) > 0.0);
    let total = outcomes
        .iter()
        .fold((0.0, 0.0), |sum, one| (sum.0 + one.0, sum.1 + one.1));
    let share = |(a, b): &(f64, f64)| a / (a + b);
    outcomes.sort_unstable_by(|x, y| share(y).total_cmp(&share(x)));
    let mut found = Vec::new();
    let (mut p, mut q, mut next) = (0.0, 0.0, 0.0);
    for (a, b) in outcomes {
        p += a / total.0;
        q += b / total.1;
        if p >= next {
            found.push((p.min(1.0), q.min(1.0)));
            next = (p * 1.02).max(1e-7);
        }
    }
    found
}
