//! Alphabets that are large for the rows: total variation by plug-in, minimax and held-out attack, and
//! guessing by counts against add-one-half.

use std::sync::Arc;

use leakgauge::attack::measure::minimax_tv::total_variation;
use leakgauge::attack::pairwise::{Rule, judge, pairs};
use leakgauge::attack::scorer::{Frequentist, Parameters, Scorer};
use leakgauge::attack::split::Split;
use leakgauge::log::observations::{Counts, Observations};
use leakgauge::log::{Log, ReadOptions, read_from};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rand_distr::{Binomial, Distribution, Exp1};
use rayon::prelude::*;

type Laws = (&'static str, Vec<f64>, Vec<f64>);

fn normalized(weights: Vec<f64>) -> Vec<f64> {
    let sum: f64 = weights.iter().sum();
    weights.into_iter().map(|weight| weight / sum).collect()
}

fn law(symbols: usize, weight: impl Fn(f64) -> f64) -> Vec<f64> {
    normalized((0..symbols).map(|o| weight(o as f64)).collect())
}

fn rotated(law: &[f64], by: usize) -> Vec<f64> {
    let mut law = law.to_vec();
    law.rotate_right(by);
    law
}

/// What the constants were chosen on.
fn training(symbols: usize) -> Vec<Laws> {
    let s = symbols as f64;
    let uniform = law(symbols, |_| 1.0);
    let within = |from: f64, to: f64| law(symbols, move |o| f64::from(o >= from * s && o < to * s));
    let zipf = law(symbols, |o| 1.0 / (o + 1.0));
    let geometric = |rate: f64| law(symbols, move |o| (-rate * o / s).exp());
    let perturbed = |by: f64| {
        law(
            symbols,
            move |o| {
                if o % 2.0 == 0.0 { 1.0 + by } else { 1.0 - by }
            },
        )
    };
    vec![
        ("uniform, equal", uniform.clone(), uniform),
        ("uniform, half shared", within(0.0, 0.67), within(0.33, 1.0)),
        ("uniform, disjoint", within(0.0, 0.5), within(0.5, 1.0)),
        ("perturbed 0.3", perturbed(0.3), perturbed(-0.3)),
        ("Zipf, equal", zipf.clone(), zipf.clone()),
        ("Zipf, rotated", rotated(&zipf, symbols / 3), zipf),
        ("geometric", geometric(10.0), geometric(5.0)),
    ]
}

/// What they are verified on.
fn verification(symbols: usize) -> Vec<Laws> {
    let s = symbols as f64;
    let flat = law(symbols, |o| (o + 1.0).powf(-0.7));
    let steep = law(symbols, |o| (o + 1.0).powf(-1.3));
    let mut rng = ChaCha8Rng::seed_from_u64(2);
    let mut dirichlet =
        || -> Vec<f64> { normalized((0..symbols).map(|_| Exp1.sample(&mut rng)).collect()) };
    let (random, other) = (dirichlet(), dirichlet());
    let spiked = |from: f64| {
        law(symbols, move |o| {
            if o == 0.0 {
                s
            } else {
                f64::from((from..from + 0.5 * s).contains(&o))
            }
        })
    };
    let uniform = law(symbols, |_| 1.0);
    vec![
        ("Zipf 0.7, equal", flat.clone(), flat.clone()),
        ("Zipf 0.7 and uniform", flat, uniform.clone()),
        (
            "Zipf 1.3, rotated",
            steep.clone(),
            rotated(&steep, symbols / 2),
        ),
        ("random, equal", random.clone(), random.clone()),
        ("random, two", random.clone(), other),
        ("random and uniform", random, uniform),
        ("a spike and disjoint", spiked(1.0), spiked(0.5 * s + 1.0)),
    ]
}

/// Multinomial counts by conditional binomials.
fn multinomial(law: &[f64], rows: u64, rng: &mut ChaCha8Rng) -> Vec<u64> {
    let (mut left, mut mass) = (rows, 1.0);
    law.iter()
        .map(|&p| {
            let share = (p / mass).clamp(0.0, 1.0);
            let count = Binomial::new(left, if mass > 1e-12 { share } else { 1.0 })
                .expect("a probability")
                .sample(rng);
            let count = if p > 0.0 { count } else { 0 };
            left -= count;
            mass -= p;
            count
        })
        .collect()
}

/// Advantage on 40 % of the rows of the rule "more often seen" on the others, ties by coin.
fn held_out(x: &[u64], y: &[u64], rng: &mut ChaCha8Rng) -> f64 {
    let deal = |counts: &[u64], rng: &mut ChaCha8Rng| -> Vec<u64> {
        let counts = counts.iter();
        counts
            .map(|&count| Binomial::new(count, 0.4).expect("a share").sample(rng))
            .collect()
    };
    let (test_x, test_y) = (deal(x, rng), deal(y, rng));
    let [of_x, of_y] = [&test_x, &test_y].map(|test| test.iter().sum::<u64>() as f64);
    let fit = |all: &[u64], test: &[u64], o: usize| (all[o] - test[o]) as f64;
    let total = |all: &[u64], of: f64| all.iter().sum::<u64>() as f64 - of;
    let (fit_x, fit_y) = (total(x, of_x), total(y, of_y));
    (0..x.len())
        .map(|o| {
            let lead = fit(x, &test_x, o) / fit_x - fit(y, &test_y, o) / fit_y;
            let says_x = if lead > 0.0 {
                1.0
            } else {
                0.5 * f64::from(lead == 0.0)
            };
            says_x * (test_x[o] as f64 / of_x - test_y[o] as f64 / of_y)
        })
        .sum()
}

/// Errors of plug-in, minimax and held-out attack.
fn errors(laws: &Laws, rows: [u64; 2], seed: u64) -> [f64; 3] {
    let (_, p, q) = laws;
    let truth: f64 = 0.5 * p.iter().zip(q).map(|(p, q)| (p - q).abs()).sum::<f64>();
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let x = multinomial(p, rows[0], &mut rng);
    let y = multinomial(q, rows[1], &mut rng);
    let counts = || x.iter().copied().zip(y.iter().copied());
    let plug_in: f64 = counts()
        .map(|(x, y)| 0.5 * (x as f64 / rows[0] as f64 - y as f64 / rows[1] as f64).abs())
        .sum();
    let minimax = total_variation(rows[0], rows[1], counts());
    let attack = held_out(&x, &y, &mut rng);
    [
        plug_in,
        minimax.total_variation.expect("rows enough"),
        attack,
    ]
    .map(|point| point - truth)
}

/// Root mean squares over all laws and logs, for one number of rows and of symbols.
fn table_row(kind: &str, all: &[Laws], rows: [u64; 2], symbols: usize) -> [f64; 3] {
    let logs = (4_000_000 / (rows[0] + symbols as u64)).clamp(6, 100);
    let mut pooled = [0.0; 3];
    for laws in all {
        let found: Vec<[f64; 3]> = (0..logs)
            .into_par_iter()
            .map(|log| errors(laws, rows, log))
            .collect();
        let mean = |f: &dyn Fn(&[f64; 3]) -> f64| found.iter().map(f).sum::<f64>() / logs as f64;
        let square = [0, 1, 2].map(|at| mean(&|error| error[at].powi(2)));
        if laws.1 == laws.2 {
            let (bias, spread) = (mean(&|error| error[1]), (square[1] / logs as f64).sqrt());
            // With very unequal rows the normal approximation of the second regime leaves a bias.
            let allowed = if rows[0] == rows[1] { 0.0 } else { 0.05 };
            assert!(
                bias.abs() < 5.0 * spread + allowed,
                "{}: biased by {bias}",
                laws.0
            );
        }
        for (sum, square) in pooled.iter_mut().zip(square) {
            *sum += square / all.len() as f64;
        }
    }
    let found = pooled.map(f64::sqrt);
    println!(
        "{kind:<13} {:>7} {:>7} {symbols:>8} {:>9.4} {:>9.4} {:>9.4}",
        rows[0], rows[1], found[0], found[1], found[2]
    );
    found
}

#[test]
#[ignore = "minutes; see the head of this suite"]
fn minimax_total_variation_is_nearer_than_plug_in_and_attack() {
    minimax_is_near(100_000);
}

/// At up to so many rows of the first secret.
pub fn minimax_is_near(most_rows: u64) {
    println!(
        "{:<13} {:>7} {:>7} {:>8} {:>9} {:>9} {:>9}   RMSE of total variation",
        "", "rows", "rows", "symbols", "plug-in", "minimax", "held-out"
    );
    type Family = fn(usize) -> Vec<Laws>;
    let families: [(&str, Family); 2] = [("training", training), ("verification", verification)];
    for (kind, family) in families {
        for rows in [
            [1_000, 1_000],
            [10_000, 10_000],
            [100_000, 100_000],
            [1_000, 20_000],
        ]
        .into_iter()
        .filter(|rows| rows[0] <= most_rows)
        {
            for share in [0.1, 1.0, 10.0] {
                let symbols = (share * rows[0] as f64) as usize;
                let [plug_in, minimax, attack] = table_row(kind, &family(symbols), rows, symbols);
                assert!(minimax < 0.8 * plug_in);
                assert!(minimax < 1.1 * attack || rows[0] != rows[1]);
            }
        }
        for (rows, symbols) in [
            (200, 6),
            (1_000, 6),
            (10_000, 6),
            (10_000, 60),
            (100_000, 60),
        ]
        .into_iter()
        .filter(|(rows, _)| *rows <= most_rows)
        {
            let [plug_in, minimax, _] = table_row(kind, &family(symbols), [rows, rows], symbols);
            assert!(
                minimax < 1.15 * plug_in,
                "few symbols: as good as the plug-in"
            );
        }
    }
}

/// The Krichevsky–Trofimov rule: ln((c + ½) / (n + m/2)).
struct AddHalf(Counts, f64);

impl Scorer for AddHalf {
    fn name(&self) -> &'static str {
        "add-half"
    }

    fn parameters(&self) -> Parameters {
        Parameters::new()
    }

    fn score(&self, _: &Observations, symbols: &[u32], scores: &mut [f64]) {
        let secrets = self.0.secrets();
        for (symbol, row) in symbols.iter().zip(scores.chunks_mut(secrets)) {
            let cells = self.0.cells();
            let from = cells.partition_point(|cell| cell.symbol < *symbol);
            let mut counts = vec![0.5; secrets];
            for cell in cells[from..]
                .iter()
                .take_while(|cell| cell.symbol == *symbol)
            {
                counts[cell.secret as usize] += cell.count as f64;
            }
            for ((score, count), rows) in row.iter_mut().zip(counts).zip(self.0.rows()) {
                *score = (count / (*rows as f64 + 0.5 * self.1)).ln();
            }
        }
    }

    fn refit(&self, _: &Observations, fit: &Counts) -> Result<Arc<dyn Scorer>, String> {
        Ok(Arc::new(AddHalf(
            fit.clone(),
            1.0 + fit.symbols().len() as f64,
        )))
    }
}

/// Rows of a secret, as text without the secret.
type Draw = fn(secret: usize, rng: &mut ChaCha8Rng) -> String;

fn zipf(symbols: f64, rng: &mut ChaCha8Rng) -> f64 {
    // The continuous law 1/x on [1, symbols + 1).
    ((symbols + 1.0).ln() * rng.random::<f64>()).exp().floor() - 1.0
}

/// Name, secrets, rows of a secret, draw.
type Problem = (&'static str, usize, fn(usize) -> usize, Draw);

const PROBLEMS: [Problem; 6] = [
    (
        "Zipf, unequal rows",
        8,
        |s| 100 << (s % 4),
        |s, rng| {
            let rank = zipf(3000.0, rng) as usize;
            format!("v{}", (rank * 7 + s * (rank % 5)) % 3000)
        },
    ),
    (
        "narrow and wide",
        4,
        |_| 400,
        |s, rng| {
            let wide = [40, 200, 1000, 5000][s];
            format!("v{}", rng.random_range(0..wide))
        },
    ),
    (
        "five columns",
        5,
        |_| 200,
        |s, rng| {
            let mut column = |at: usize| {
                let leans = rng.random::<f64>() < 0.3;
                let any = rng.random_range(0..8);
                if leans { (s * (at + 1)) % 8 } else { any }
            };
            (0..5)
                .map(|at| format!("v{}", column(at)))
                .collect::<Vec<_>>()
                .join(",")
        },
    ),
    (
        "twins of columns",
        4,
        |_| 300,
        |s, rng| {
            let value = (rng.random_range(0..20) + s * usize::from(rng.random::<f64>() < 0.3)) % 20;
            format!(
                "v{value},v{value},v{},v{}",
                value / 2,
                rng.random_range(0..30)
            )
        },
    ),
    (
        "dense",
        6,
        |_| 2000,
        |s, rng| {
            let value = rng.random_range(0..10) + s * usize::from(rng.random::<f64>() < 0.2);
            format!("v{}", value % 10)
        },
    ),
    (
        "dense, unequal rows",
        6,
        |s| 300 * (s + 1),
        |s, rng| {
            let value = rng.random_range(0..10) + s * usize::from(rng.random::<f64>() < 0.2);
            format!("v{}", value % 10)
        },
    ),
];

fn log_of(problem: &Problem, seed: u64) -> Log {
    let (_, secrets, rows, draw) = problem;
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let columns = draw(0, &mut rng).split(',').count();
    let names: Vec<String> = (0..columns).map(|at| format!("c{at}")).collect();
    let mut csv = format!("secret,{}\n", names.join(","));
    for secret in 0..*secrets {
        for _ in 0..rows(secret) {
            csv.push_str(&format!("s{secret},{}\n", draw(secret, &mut rng)));
        }
    }
    read_from("made", std::io::Cursor::new(csv), &ReadOptions::default()).expect("a good log")
}

/// Mean pairwise advantage at threshold 0 and Bayes vulnerability at the uniform prior, on these rows.
fn success(scorer: &dyn Scorer, log: &Log, rows: &Counts) -> [f64; 2] {
    let secrets = log.secrets.len();
    let rules: Vec<Rule> = pairs(secrets)
        .map(|(a, b)| Rule {
            a,
            b,
            threshold: 0.0,
        })
        .collect();
    let uniform = vec![1.0 / secrets as f64; secrets];
    let judged = judge(scorer, &log.observations, rows, &rules, &[uniform]);
    let advantages = judged
        .tallies
        .iter()
        .map(|tally| tally.advantage().unwrap());
    let advantage = advantages.sum::<f64>() / rules.len() as f64;
    let guesses = &judged.guesses[0];
    let risks = guesses.errors.iter().zip(&guesses.rows);
    let risk = risks
        .map(|(&errors, &rows)| errors as f64 / rows as f64)
        .sum::<f64>();
    [advantage, 1.0 - risk / secrets as f64]
}

/// Counts of whole observations or of columns one by one: what guesses better on the tune rows.
fn shrunk(log: &Log, split: &Split) -> Frequentist {
    let whole = Frequentist::fit(&split.fit);
    let vulnerability = |scorer: &Frequentist| success(scorer, log, &split.tune)[1];
    match Frequentist::fit_by_column(&log.observations, &split.fit) {
        Some(columns) if vulnerability(&columns) > vulnerability(&whole) => columns,
        _ => whole,
    }
}

#[test]
#[ignore = "minutes; see the head of this suite"]
fn shrinkage_tells_more_than_add_half_from_few_rows_and_no_less_from_many() {
    shrinkage_tells_more(60);
}

/// Of so many logs of each problem.
pub fn shrinkage_tells_more(logs: u64) {
    println!(
        "{:<22} {:>19} {:>19}   advantage, vulnerability",
        "", "add-half", "shrinkage"
    );
    for problem in &PROBLEMS {
        let found: Vec<[[f64; 2]; 2]> = (0..logs)
            .into_par_iter()
            .map(|seed| {
                let log = log_of(problem, seed);
                let split = Split::stratified(&log.counts, &mut ChaCha8Rng::seed_from_u64(0));
                let half = AddHalf(split.fit.clone(), 0.0)
                    .refit(&log.observations, &split.fit)
                    .unwrap();
                let shrunk = shrunk(&log, &split);
                if seed == 0 {
                    println!("{:<22} {:?}", problem.0, shrunk.parameters());
                }
                [
                    success(&*half, &log, &split.certify),
                    success(&shrunk, &log, &split.certify),
                ]
            })
            .collect();
        let mean = |at: usize, what: usize| {
            found.iter().map(|found| found[at][what]).sum::<f64>() / found.len() as f64
        };
        println!(
            "{:<22} {:>9.4} {:>9.4} {:>9.4} {:>9.4}",
            problem.0,
            mean(0, 0),
            mean(0, 1),
            mean(1, 0),
            mean(1, 1)
        );
        // No less: the mean gain over logs is not below 0 by three standard errors of the paired differences. No
        // theorem says so for finite logs: smoothing is chosen by log-loss, and only in the limit of many rows do both
        // rules agree. But no true loss is seen: with fresh seeds the gain in advantage is 0.0001 ± 0.0002 (Zipf) and
        // 0.0006 ± 0.0006 (twins) in 1,500 logs, 0.0001 ± 0.0003 (dense, unequal rows) in 150; where rows are equal
        // and nothing is borrowed, both rules are the same. Without a loss, one of the twelve comparisons fails with
        // probability at most 0.05 from 20 logs (Student's t), 0.03 from 60.
        for what in [0, 1] {
            let gain = mean(1, what) - mean(0, what);
            let squares = found
                .iter()
                .map(|found| (found[1][what] - found[0][what] - gain).powi(2));
            let (sum, logs) = (squares.sum::<f64>(), found.len() as f64);
            let standard_error = (sum / (logs * (logs - 1.0))).sqrt();
            assert!(gain >= -3.0 * standard_error, "{}", problem.0);
        }
        if ["narrow and wide", "five columns"].contains(&problem.0) {
            assert!(mean(1, 1) > mean(0, 1) + 0.02, "{}", problem.0);
        }
    }
}
