//! Do the limits of the trade-off cover? Scores of a Gaussian shift by μ: T(x) = Φ(Φ⁻¹(x) + μ), and a
//! mechanism that gave them is μ-Gaussian private and no better.

use leakgauge::attack::pairwise::{ErrorRates, ScoredRows};
use leakgauge::attack::tuning::ScorerChoice;
use leakgauge::audit::{AuditOptions, TradeOff, audit};
use leakgauge::log::{ReadOptions, ScoreColumns, read_from};
use leakgauge::stats::special::{normal_cdf, normal_quantile};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution, StandardNormal};
use rayon::prelude::*;

use super::quick::Rates;

const ALPHA: f64 = 0.05;

fn normal(rng: &mut ChaCha8Rng) -> f64 {
    StandardNormal.sample(rng)
}

/// More errors than chance explains once in 700.
fn too_many(what: &str, errors: usize, replicates: usize) -> bool {
    let n = replicates as f64;
    let most = n * ALPHA + 3.0 * (n * ALPHA * (1.0 - ALPHA)).sqrt();
    println!("{what:<52} {errors:>5} of {replicates}, at most {most:.0}");
    errors as f64 > most
}

fn detected(x: f64, mu: f64) -> f64 {
    normal_cdf(normal_quantile(x) + mu)
}

#[test]
fn limits_on_a_gaussian_shift_cover_in_few_logs() {
    const REPLICATES: usize = 300;
    let mut failed = false;
    for mu in [0.0, 1.0] {
        let missed: Vec<[bool; 4]> = (0..REPLICATES)
            .into_par_iter()
            .map(|replicate| {
                let mut rng = ChaCha8Rng::seed_from_u64(replicate as u64);
                let scores = (0..1000)
                    .flat_map(|_| [(normal(&mut rng) + mu, 1, 0), (normal(&mut rng), 0, 1)]);
                let scored = ScoredRows::new(scores.collect());
                let limits = scored.thresholds().errors_at_most(ALPHA);
                let largest = |of: &dyn Fn(&ErrorRates) -> f64| {
                    let values = limits.iter().map(of);
                    values.reduce(f64::max).expect("rows")
                };
                let outside = |x: f64| {
                    let found = scored.detection(x, ALPHA / 2.0);
                    let truth = detected(x, mu);
                    found.lower.expect("rows enough") > truth
                        || found.upper.expect("rows enough") < truth
                };
                [
                    outside(0.1),
                    outside(0.01),
                    largest(&ErrorRates::mu_at_least) > mu + 1e-12,
                    largest(&|errors| errors.epsilon_at_least(0.01)) > epsilon(mu, 0.01),
                ]
            })
            .collect();
        let names = [
            "found at 10 %",
            "found at 1 %",
            "mu",
            "epsilon at delta 0.01",
        ];
        for (at, name) in names.into_iter().enumerate() {
            let errors = missed.iter().filter(|missed| missed[at]).count();
            failed |= too_many(&format!("shift {mu}: {name}"), errors, REPLICATES);
        }
    }
    assert!(!failed);
}

/// The ε of μ-Gaussian privacy at a δ, by bisection of δ(ε) = Φ(μ/2 − ε/μ) − e^ε Φ(−μ/2 − ε/μ).
///
/// Dong, Roth and Su (2022), Corollary 1, 10.1111/rssb.12454.
fn epsilon(mu: f64, delta: f64) -> f64 {
    if mu == 0.0 {
        return 0.0;
    }
    let needed = |epsilon: f64| {
        normal_cdf(mu / 2.0 - epsilon / mu) - epsilon.exp() * normal_cdf(-mu / 2.0 - epsilon / mu)
    };
    let (mut low, mut high) = (0.0, 50.0);
    for _ in 0..100 {
        let middle = 0.5 * (low + high);
        if needed(middle) > delta {
            low = middle
        } else {
            high = middle
        }
    }
    high
}

/// The scores of one log, smaller for the first secret, perhaps rounded.
fn trade_off(replicate: u64, rows: usize, mu: f64, decimals: usize) -> TradeOff {
    let mut rng = ChaCha8Rng::seed_from_u64(replicate);
    let mut csv = "secret,loss\n".to_owned();
    for _ in 0..rows {
        let member = rng.random::<bool>();
        let loss = normal(&mut rng) - if member { mu } else { 0.0 };
        let name = if member { "in" } else { "out" };
        csv.push_str(&format!("{name},{loss:.decimals$}\n"));
    }
    let read = ReadOptions {
        scores: Some(ScoreColumns::One("loss".to_owned())),
        ..ReadOptions::default()
    };
    let log = read_from("log.csv", std::io::Cursor::new(csv), &read).expect("a good log");
    let options = AuditOptions {
        quick: true,
        attacks: ScorerChoice::Given.into(),
        ..AuditOptions::default()
    };
    let found = audit(&log, &options).expect("a good log");
    found.worst_pair.trade_off.expect("a pair that was judged")
}

/// Whether a printed limit misses: those of the six operating points, then of μ and of ε. Rounding makes
/// the mechanism no easier to tell apart, and a rounded threshold is one of the thresholds.
fn missed(found: &TradeOff, mu: f64, is_rounded: bool) -> Vec<bool> {
    let mut missed: Vec<bool> = found
        .operating_points
        .iter()
        .map(|point| {
            let truth = detected(point.false_positive_rate, mu);
            let rate = &point.true_positive_rate;
            // The direction of a leak-free score is a coin's: its truth is the same.
            rate.lower.is_some_and(|lower| lower > truth)
                || (!is_rounded && rate.upper.is_some_and(|upper| upper < truth))
        })
        .collect();
    missed.push(found.mu.lower.is_some_and(|lower| lower > mu));
    let too_large = |limit: &leakgauge::audit::BandEpsilon| {
        let truth = if limit.delta > 0.0 || mu == 0.0 {
            epsilon(mu, limit.delta)
        } else {
            f64::INFINITY
        };
        limit.lower.is_some_and(|lower| lower > truth)
    };
    missed.push(found.epsilon.iter().any(too_large));
    // What the report says of the band: μ and all ε hold together.
    missed.push(missed[6] || missed[7]);
    missed
}

/// Shifts, and the decimals of their scores.
const SHIFTS: [(f64, usize); 5] = [(0.0, 17), (0.5, 17), (1.0, 17), (3.0, 17), (1.0, 0)];

/// What [`missed`] is about.
const PRINTED: [&str; 9] = [
    "found at 10 %",
    "found at 1 %",
    "found at 0.1 %",
    "mirror at 10 %",
    "mirror at 1 %",
    "mirror at 0.1 %",
    "mu",
    "epsilon",
    "mu and epsilon",
];

/// The same for [`super::quick`].
pub fn quick() -> Vec<Rates> {
    let rates = |(mu, decimals): (f64, usize)| Rates {
        case: format!("shift {mu}, {decimals} decimals"),
        names: PRINTED.map(str::to_owned).to_vec(),
        nominal: ALPHA,
        wrong: Box::new(move |seed| {
            missed(&trade_off(seed, 3_000, mu, decimals), mu, decimals < 17)
        }),
    };
    SHIFTS.into_iter().map(rates).collect()
}

#[test]
#[ignore = "minutes; see the head of this suite"]
fn limits_of_the_trade_off_of_given_scores_cover() {
    const REPLICATES: usize = 1000;
    let mut failed = false;
    for (mu, decimals) in SHIFTS {
        let outcomes: Vec<(Vec<bool>, f64)> = (0..REPLICATES as u64)
            .into_par_iter()
            .map(|replicate| {
                let found = trade_off(replicate, 10_000, mu, decimals);
                (
                    missed(&found, mu, decimals < 17),
                    found.mu.lower.unwrap_or(0.0),
                )
            })
            .collect();
        for (at, name) in PRINTED.into_iter().enumerate() {
            let errors = outcomes.iter().filter(|(missed, _)| missed[at]).count();
            failed |= too_many(
                &format!("shift {mu}, {decimals} decimals: {name}"),
                errors,
                REPLICATES,
            );
        }
        let together = outcomes
            .iter()
            .filter(|(missed, _)| missed[..6].contains(&true))
            .count();
        println!(
            "shift {mu}: some operating point {together} of {REPLICATES}, at most 30 % promised"
        );
        failed |= 10 * together > 3 * REPLICATES;
        let mut limits: Vec<f64> = outcomes.iter().map(|(_, mu)| *mu).collect();
        limits.sort_by(f64::total_cmp);
        println!(
            "shift {mu}: median limit of mu {:.4}",
            limits[REPLICATES / 2]
        );
    }
    assert!(!failed, "see the lines above");
}
