//! Small logs of few labels, all judged with the default seed: verdicts and limits are wrong as rarely as they promise.
//!
//! With random numbers that depended on the seed alone, all logs of a size were dealt at the same quantiles. Of the
//! designs below some were then wrong in a fifth of their logs, and others in none.

use leakgauge::audit::{AuditOptions, Verdict, audit};
use leakgauge::claim::Claim;
use leakgauge::log::{Log, LogBuilder};
use leakgauge_testing::rng;
use rand_distr::{Binomial, Distribution};
use rayon::prelude::*;

use super::quick::{Rates, all_pass};

const ALPHA: f64 = 0.05;

/// Two secrets with so many rows each and their laws.
#[derive(Debug, Clone)]
struct Design {
    rows: u64,
    laws: [Vec<f64>; 2],
}

impl Design {
    /// Randomized response that keeps the secret with this probability.
    fn response(keep: f64, rows: u64) -> Design {
        let laws = [vec![keep, 1.0 - keep], vec![1.0 - keep, keep]];
        Design { rows, laws }
    }

    /// Two frequent labels that tell the secret, and rare ones that do not.
    fn with_rare_labels(rows: u64, frequent: f64, shift: f64, rare: usize) -> Design {
        let left = (1.0 - 2.0 * frequent) / rare as f64;
        let law = |sign: f64| {
            let mut law = vec![frequent + sign * shift, frequent - sign * shift];
            law.extend(vec![left; rare]);
            law
        };
        Design {
            rows,
            laws: [law(1.0), law(-1.0)],
        }
    }

    fn total_variation(&self) -> f64 {
        let [a, b] = &self.laws;
        0.5 * a.iter().zip(b).map(|(a, b)| (a - b).abs()).sum::<f64>()
    }

    fn log(&self, number: u64) -> Log {
        let mut rng = rng(number);
        let (mut secrets, mut labels, mut counts) = (Vec::new(), Vec::new(), Vec::new());
        for (secret, law) in ["a", "b"].into_iter().zip(&self.laws) {
            let (mut rows, mut mass) = (self.rows, 1.0);
            for (label, &share) in law.iter().enumerate() {
                let share_of_rest = (share / mass).clamp(0.0, 1.0);
                let count = match label + 1 == law.len() {
                    true => rows,
                    false => Binomial::new(rows, share_of_rest)
                        .expect("a share")
                        .sample(&mut rng),
                };
                rows -= count;
                mass -= share;
                if count > 0 {
                    secrets.push(secret);
                    labels.push(format!("v{label:02}"));
                    counts.push(count);
                }
            }
        }
        LogBuilder::new()
            .secrets(&secrets)
            .labels("label", &labels)
            .counts(&counts)
            .build()
            .expect("a good log")
    }

    /// Whether a claim of the truth is violated, one just below the truth holds, and the lower and the upper limit of
    /// total variation miss.
    fn wrong(&self, number: u64) -> Vec<bool> {
        let truth = self.total_variation();
        let claims = [truth + 1e-9, truth - 1e-9];
        let claims = claims.map(|bound| Claim::parse(&format!("advantage({bound})")).unwrap());
        let options = AuditOptions {
            claims: claims.to_vec(),
            ..AuditOptions::default()
        };
        let found = audit(&self.log(number), &options).expect("a good log");
        let limits = &found.worst_pair.total_variation;
        vec![
            found.claims[0].verdict == Verdict::Violated,
            found.claims[1].verdict == Verdict::Holds,
            limits.lower.is_some_and(|lower| lower > truth + 1e-9),
            limits.upper.is_some_and(|upper| upper < truth - 1e-9),
        ]
    }

    fn rates(self, case: String) -> Rates {
        let names = ["violated", "holds", "lower limit", "upper limit"];
        Rates {
            case,
            names: names.map(str::to_owned).to_vec(),
            nominal: ALPHA,
            wrong: Box::new(move |number| self.wrong(number)),
        }
    }
}

/// Nine probabilities times nineteen sizes, none of them round.
fn responses() -> impl Iterator<Item = (f64, u64)> {
    let sizes = (0..19).map(|at| (300.0 * 1.13f64.powi(at)) as u64 + at as u64 % 7);
    sizes.flat_map(|rows| (0..9).map(move |at| (0.53 + 0.04 * f64::from(at), rows)))
}

/// Fast enough for builds without optimization: the seeded run of coverage that every change passes.
#[test]
fn limits_of_small_discrete_logs_cover_at_the_default_seed() {
    let mut some: Vec<Rates> = [(0.75, 1_600), (0.61, 1_425), (0.55, 400)]
        .into_iter()
        .map(|(keep, rows)| {
            Design::response(keep, rows).rates(format!("response {keep}, {rows} rows"))
        })
        .collect();
    let rare = Design::with_rare_labels(780, 0.475, 0.1, 18);
    some.push(rare.rates("20 labels, 780 rows".to_owned()));
    all_pass(some);
}

/// Of each design 200 logs. Over all designs the share of wrong logs is at most α; a single design may be above it by
/// chance: by more than 4.1 standard errors with probability 2e-5, so with 171 × 4 rates once in 70 times.
#[test]
#[ignore = "long"]
fn no_design_misses_more_often_than_it_promises() {
    const LOGS: u64 = 200;
    let most = (LOGS as f64 * ALPHA + 4.1 * (LOGS as f64 * ALPHA * (1.0 - ALPHA)).sqrt()) as usize;
    let mut bad = Vec::new();
    for (keep, rows) in responses() {
        let design = Design::response(keep, rows);
        let wrong: Vec<Vec<bool>> = (0..LOGS)
            .into_par_iter()
            .map(|number| design.wrong(number))
            .collect();
        let errors = [0, 1, 2, 3].map(|at| wrong.iter().filter(|wrong| wrong[at]).count());
        println!("p = {keep:.2}, {rows} rows: {errors:?} of {LOGS}");
        if errors.into_iter().any(|errors| errors > most) {
            bad.push((keep, rows, errors));
        }
    }
    assert!(bad.is_empty(), "more than {most}: {bad:?}");
}

/// The same label counts with the same seed are split alike; other logs of the same size differ in how their parts
/// deviate, as random parts do: of 400 logs, means and variances within five standard errors.
#[test]
fn logs_of_a_size_are_split_at_quantiles_of_their_own() {
    use leakgauge::attack::split::Split;
    const LOGS: u64 = 400;
    let design = Design::response(0.75, 1_600);
    let mut deviations = Vec::new();
    let options = AuditOptions::default();
    for number in 0..LOGS {
        let counts = design.log(number).counts;
        let split = Split::stratified(&counts, &mut rng(options.seed));
        let first = |counts: &leakgauge::log::observations::Counts| {
            let cell = counts
                .cells()
                .iter()
                .find(|cell| (cell.secret, cell.symbol) == (0, 0));
            cell.map_or(0.0, |cell| cell.count as f64)
        };
        let [all, rows] = [first(&counts), 1_600.0];
        let certify = split.certify.rows()[0] as f64;
        let expected = certify * all / rows;
        let variance = expected * (1.0 - all / rows) * (rows - certify) / (rows - 1.0);
        deviations.push((first(&split.certify) - expected) / variance.sqrt());
    }
    let n = deviations.len() as f64;
    let mean = deviations.iter().sum::<f64>() / n;
    let variance = deviations.iter().map(|d| (d - mean).powi(2)).sum::<f64>() / (n - 1.0);
    assert!(mean.abs() < 5.0 / n.sqrt(), "{mean}");
    assert!(
        (variance - 1.0).abs() < 5.0 * (2.0 / n).sqrt(),
        "{variance}"
    );
}
