//! More rows prove more: certified ε of discrete logs grows with the rows, and tends to the truth.

use std::fmt::Write;
use std::io::Cursor;

use leakgauge::audit::{AuditOptions, audit};
use leakgauge::claim::Claim;
use leakgauge::log::{ReadOptions, read_from};
use leakgauge_testing::rng;
use rand::Rng;
use rand_distr::{Binomial, Distribution};
use rayon::prelude::*;

const SEEDS: u64 = 20;
const ROWS: [u64; 5] = [1_000, 10_000, 100_000, 1_000_000, 10_000_000];

/// Probabilities of the outcomes with either secret, and the claim, which is false.
struct Law {
    name: &'static str,
    rates: [Vec<f64>; 2],
    claim: &'static str,
    /// The part of the truth that most rows prove at least.
    proved: f64,
}

impl Law {
    fn truth(&self) -> f64 {
        let [a, b] = &self.rates;
        let ratios = a.iter().zip(b).map(|(p, q)| (p / q).ln().abs());
        ratios.fold(0.0, f64::max)
    }

    /// A log of counts, half of the rows of either secret.
    fn log(&self, rows: u64, seed: u64) -> String {
        let mut rng = rng(seed);
        let mut text = "secret,seen,count\n".to_owned();
        for (secret, rates) in ["a", "b"].into_iter().zip(&self.rates) {
            for (outcome, count) in multinomial(rates, rows / 2, &mut rng).iter().enumerate() {
                if *count > 0 {
                    writeln!(text, "{secret},o{outcome},{count}").expect("memory");
                }
            }
        }
        text
    }

    fn certified(&self, rows: u64, seed: u64) -> f64 {
        let read = ReadOptions {
            count: Some("count".to_owned()),
            ..ReadOptions::default()
        };
        let log = read_from("counts", Cursor::new(self.log(rows, seed)), &read);
        let options = AuditOptions {
            quick: true,
            claims: vec![Claim::parse(self.claim).expect("a claim")],
            ..AuditOptions::default()
        };
        let found = audit(&log.expect("a log"), &options).expect("an audit");
        found.claims[0].estimate.lower.unwrap_or(0.0)
    }

    /// The median of the limits of all seeds.
    fn median(&self, rows: u64) -> f64 {
        let seeds = (0..SEEDS).into_par_iter();
        let limits = seeds.map(|seed| self.certified(rows, 7_000 + seed));
        let mut limits: Vec<f64> = limits.collect();
        limits.sort_unstable_by(f64::total_cmp);
        limits[limits.len() / 2]
    }
}

fn multinomial(rates: &[f64], rows: u64, rng: &mut impl Rng) -> Vec<u64> {
    let (mut left, mut mass) = (rows, 1.0);
    let mut draw = |rate: &f64| {
        let share = (rate / mass).clamp(0.0, 1.0);
        let law = Binomial::new(left, share).expect("a share");
        let count = law.sample(rng);
        left -= count;
        mass = (mass - rate).max(1e-300);
        count
    };
    rates.iter().map(&mut draw).collect()
}

fn laws() -> [Law; 4] {
    let odds = 1f64.exp();
    // Five outcomes whose odds are e^0.2 at most.
    let weak = [0.18, 0.19, 0.2, 0.21, 0.22];
    let tilted: Vec<f64> = weak.iter().rev().copied().collect();
    // A rare event tells much, a frequent one little.
    let rare = [vec![0.001, 0.5, 0.499], vec![0.00005, 0.45, 0.54995]];
    // Geometric laws: ever rarer outcomes tell ever more.
    let geometric = |rate: f64| {
        let mut rates: Vec<f64> = (0..20).map(|at| rate * (1.0 - rate).powi(at)).collect();
        let rest = 1.0 - rates.iter().sum::<f64>();
        rates.push(rest);
        rates
    };
    [
        Law {
            name: "randomized response, 1",
            rates: [
                vec![odds / (1.0 + odds), 1.0 / (1.0 + odds)],
                vec![1.0 / (1.0 + odds), odds / (1.0 + odds)],
            ],
            claim: "ldp(epsilon=0.5)",
            proved: 0.99,
        },
        Law {
            name: "five outcomes",
            rates: [weak.to_vec(), tilted],
            claim: "ldp(epsilon=0.05)",
            proved: 0.9,
        },
        Law {
            name: "rare event",
            rates: rare,
            claim: "ldp(epsilon=0.1)",
            proved: 0.85,
        },
        Law {
            name: "geometric",
            rates: [geometric(0.3), geometric(0.25)],
            claim: "ldp(epsilon=0.1)",
            proved: 0.85,
        },
    ]
}

/// Medians of 20 logs from 1,000 to 10,000,000 rows: ten times the rows never prove less, and most rows prove nearly
/// all.
#[test]
#[cfg_attr(debug_assertions, ignore = "slow without optimization")]
fn ten_times_the_rows_never_prove_less() {
    for law in laws() {
        let medians: Vec<f64> = ROWS.iter().map(|&rows| law.median(rows)).collect();
        eprintln!("{}: {medians:.4?} of {:.4}", law.name, law.truth());
        assert!(medians.is_sorted(), "{}: {medians:?}", law.name);
        let last = medians[medians.len() - 1];
        assert!(
            last >= law.proved * law.truth() && last <= law.truth() * 1.001,
            "{}: {medians:?} of {}",
            law.name,
            law.truth()
        );
    }
}
