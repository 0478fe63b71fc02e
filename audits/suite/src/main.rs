//! Audits mechanisms of the literature, correct and wrong ones, and prints a markdown table: what this program
//! certifies of ε, beside a logistic regression with a threshold, the best event known, and the truth.
//!
//! ```text
//! cargo run --release -p audit-suite -- [--rows N,…] [--seeds N] [--from SEED] [--only TEXT] [--attack NAME]
//!     [--logs DIRECTORY]
//! ```
//!
//! Figures are medians over seeds, from `--from` on; *above truth* counts the seeds whose certified limit is
//! wrong. *Goal* is 85 % of what the best event has to prove on 40 % of the rows, or the regression's limit plus 10 %,
//! whichever is larger. Half of the rows are of either input. `--attack` asks for one attack by its name, in place of
//! the mechanism's own. `--logs` writes the logs too.

mod mechanisms;
mod others;
mod reference;
mod svt;

use std::error::Error;
use std::fmt::Write;
use std::io::Cursor;
use std::path::PathBuf;
use std::time::Instant;

use leakgauge::attack::ScorerChoice;
use leakgauge::audit::{AuditOptions, audit};
use leakgauge::claim::Claim;
use leakgauge::log::{ReadOptions, read_from};
use leakgauge_stats::binomial::{clopper_pearson_lower, clopper_pearson_upper};
use mechanisms::Mechanism;
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use rand_distr::{Binomial, Distribution};

type Result<T> = std::result::Result<T, Box<dyn Error>>;

struct Arguments {
    rows: Vec<u64>,
    seeds: u64,
    from: u64,
    only: String,
    attack: Option<ScorerChoice>,
    logs: Option<PathBuf>,
}

impl Arguments {
    fn seeds(&self) -> std::ops::Range<u64> {
        self.from..self.from + self.seeds
    }
}

fn main() -> Result<()> {
    let arguments = arguments()?;
    println!(
        "| mechanism | rows | truth | certified | above truth | regression | best event | goal | seconds | attack |"
    );
    println!("| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |");
    let by_rows = mechanisms::all().into_iter().chain(svt::rows());
    for mechanism in by_rows.chain(others::all()) {
        if mechanism.name().contains(&arguments.only) {
            for &rows in arguments.rows.iter().filter(|&&rows| rows <= 2_000_000) {
                let runs = arguments.seeds();
                let runs = runs.map(|seed| of_rows(&*mechanism, rows, seed, &arguments));
                let runs = runs.collect::<Result<Vec<_>>>()?;
                print(mechanism.name(), rows, mechanism.truth(), &runs);
            }
        }
    }
    for technique in svt::transcripts() {
        if technique.name.contains(&arguments.only) {
            for &rows in &arguments.rows {
                let runs = arguments.seeds();
                let runs = runs.map(|seed| counted(&technique, rows, seed, &arguments));
                let runs = runs.collect::<Result<Vec<_>>>()?;
                let tables = [0, 1].map(|input| technique.probabilities(input));
                let of_event = |(a, b): (&(String, f64), &(String, f64))| (a.1 / b.1).ln().abs();
                let truth = tables[0]
                    .iter()
                    .zip(&tables[1])
                    .map(of_event)
                    .fold(0.0, f64::max);
                print(technique.name, rows, truth, &runs);
            }
        }
    }
    Ok(())
}

fn arguments() -> Result<Arguments> {
    let mut found = Arguments {
        rows: vec![100_000],
        seeds: 3,
        from: 0,
        only: String::new(),
        attack: None,
        logs: None,
    };
    let mut rest = std::env::args().skip(1);
    while let Some(option) = rest.next() {
        let value = rest
            .next()
            .ok_or_else(|| format!("{option} needs a value"))?;
        match option.as_str() {
            "--rows" => {
                found.rows = value
                    .split(',')
                    .map(str::parse)
                    .collect::<std::result::Result<_, _>>()?
            }
            "--seeds" => found.seeds = value.parse()?,
            "--from" => found.from = value.parse()?,
            "--only" => found.only = value,
            "--attack" => {
                let mut all = ScorerChoice::ALL.iter();
                let named = all.find(|choice| choice.name() == value);
                found.attack = Some(*named.ok_or_else(|| format!("no attack {value}"))?);
            }
            "--logs" => found.logs = Some(value.into()),
            _ => return Err(format!("unknown option {option}").into()),
        }
    }
    Ok(found)
}

/// What one log shows.
struct Run {
    certified: f64,
    regression: Option<f64>,
    best_event: Option<f64>,
    /// The best event on a part of the rows.
    best_of_part: Option<f64>,
    seconds: f64,
    attack: String,
}

/// The part of the rows that the goal is proved on.
const PART: f64 = 0.4;

fn print(name: &str, rows: u64, truth: f64, runs: &[Run]) {
    let median = |value: &dyn Fn(&Run) -> Option<f64>| {
        let mut values: Vec<f64> = runs.iter().filter_map(value).collect();
        values.sort_unstable_by(f64::total_cmp);
        values.get(values.len() / 2).copied()
    };
    let text = |value: Option<f64>| value.map_or("–".to_owned(), |value| format!("{value:.3}"));
    let regression = median(&|run| run.regression);
    let part = median(&|run| run.best_of_part);
    let goal = regression.map_or(0.0, |limit| 1.1 * limit);
    let goal = part.map_or(goal, |limit| goal.max(0.85 * limit));
    // The truth of a transcript is rounded itself.
    let above = runs.iter().filter(|run| run.certified > truth + 1e-6);
    let above = above.count();
    let shown = if truth.is_finite() {
        format!("{truth:.3}")
    } else {
        "∞".to_owned()
    };
    println!(
        "| {name} | {rows} | {shown} | {} | {above} of {} | {} | {} | {} | {} | {} |",
        text(median(&|run| Some(run.certified))),
        runs.len(),
        text(regression),
        text(median(&|run| run.best_event)),
        text(Some(goal)),
        text(median(&|run| Some(run.seconds))),
        runs[0].attack,
    );
}

fn of_rows(mechanism: &dyn Mechanism, rows: u64, seed: u64, arguments: &Arguments) -> Result<Run> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let mut outputs: [Vec<Vec<String>>; 2] = [Vec::new(), Vec::new()];
    for row in 0..rows {
        let second = row % 2 == 1;
        outputs[usize::from(second)].push(mechanism.sample(second, &mut rng));
    }
    let columns = (1..=outputs[0][0].len()).map(|column| format!(",x{column}"));
    let mut text = format!("secret{}\n", columns.collect::<String>());
    for (a, b) in outputs[0].iter().zip(&outputs[1]) {
        writeln!(text, "a,{}\nb,{}", a.join(","), b.join(","))?;
    }
    let (certified, seconds, attack) = ours(
        text,
        mechanism.claim(),
        mechanism.attack(),
        seed,
        rows,
        arguments,
    )?;
    let features = outputs.each_ref().map(|rows| {
        let rows = rows.iter();
        rows.map(|row| mechanism.features(row)).collect::<Vec<_>>()
    });
    let scores = outputs.each_ref().map(|rows| {
        let rows = rows.iter();
        rows.map(|row| mechanism.ratio(row))
            .collect::<Option<Vec<f64>>>()
    });
    let (best_event, best_of_part) = match scores {
        [Some(a), Some(b)] => {
            let mut other = |second: bool| {
                let drawn = (0..rows / 2).map(|_| mechanism.sample(second, &mut rng));
                drawn.filter_map(|row| mechanism.ratio(&row)).collect()
            };
            let choose = [other(false), other(true)];
            let part = [&a, &b].map(|scores| {
                let rows = (PART * scores.len() as f64) as usize;
                scores[..rows].to_vec()
            });
            let best = |judge| Some(reference::certified(&choose, &judge, mechanism.delta()));
            (best([a, b]), best(part))
        }
        _ => (None, None),
    };
    Ok(Run {
        certified,
        regression: Some(reference::regression(&features, mechanism.delta())),
        best_event,
        best_of_part,
        seconds,
        attack,
    })
}

/// A log of counts; the best event is the best of the outcomes alone, by their probabilities.
fn counted(
    technique: &svt::Transcripts,
    rows: u64,
    seed: u64,
    arguments: &Arguments,
) -> Result<Run> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let tables = [0, 1].map(|input| technique.probabilities(input));
    let counts = tables
        .each_ref()
        .map(|table| multinomial(table, rows / 2, &mut rng));
    let mut text = "secret,transcript,count\n".to_owned();
    for (secret, (table, counts)) in ["a", "b"].into_iter().zip(tables.iter().zip(&counts)) {
        for ((transcript, _), count) in table.iter().zip(counts).filter(|(_, count)| **count > 0) {
            writeln!(text, "{secret},{transcript},{count}")?;
        }
    }
    let (certified, seconds, attack) = ours(
        text,
        technique.claim,
        ScorerChoice::Auto,
        seed,
        rows,
        arguments,
    )?;
    let part = (PART * (rows / 2) as f64) as u64;
    let counts_of_part = tables
        .each_ref()
        .map(|table| multinomial(table, part, &mut rng));
    Ok(Run {
        certified,
        regression: None,
        best_event: Some(best_outcome(&tables, &counts, rows / 2)),
        best_of_part: Some(best_outcome(&tables, &counts_of_part, part)),
        seconds,
        attack,
    })
}

/// What the outcome that is expected to prove most proves.
fn best_outcome(tables: &[Vec<(String, f64)>; 2], counts: &[Vec<u64>; 2], rows: u64) -> f64 {
    let limit = |counts: &dyn Fn(usize) -> u64, top: usize| {
        let p = clopper_pearson_lower(counts(top), rows, 0.025);
        let q = clopper_pearson_upper(counts(1 - top), rows, 0.025);
        (p / q).max(1.0).ln()
    };
    let expected = |at: usize| move |side: usize| (tables[side][at].1 * rows as f64) as u64;
    let all = (0..tables[0].len()).flat_map(|at| [(at, 0), (at, 1)]);
    let promised = |&(at, top): &(usize, usize)| limit(&expected(at), top);
    let best = all.max_by(|x, y| promised(x).total_cmp(&promised(y)));
    best.map_or(0.0, |(at, top)| limit(&|side| counts[side][at], top))
}

fn multinomial(table: &[(String, f64)], rows: u64, rng: &mut ChaCha8Rng) -> Vec<u64> {
    let (mut left, mut mass) = (rows, 1.0);
    let mut draw = |&(_, probability): &(String, f64)| {
        let share = (probability / mass).clamp(0.0, 1.0);
        let count = Binomial::new(left, share).map_or(0, |law| law.sample(rng));
        left -= count;
        mass = (mass - probability).max(1e-300);
        count
    };
    table.iter().map(&mut draw).collect()
}

fn ours(
    text: String,
    claim: &str,
    attack: ScorerChoice,
    seed: u64,
    rows: u64,
    arguments: &Arguments,
) -> Result<(f64, f64, String)> {
    if let Some(directory) = &arguments.logs {
        let name: String = text
            .chars()
            .take(40)
            .filter(char::is_ascii_alphanumeric)
            .collect();
        std::fs::create_dir_all(directory)?;
        let name = format!("{name}-{}-{rows}-{seed}.csv", claim.len());
        std::fs::write(directory.join(name), &text)?;
    }
    let read = ReadOptions {
        count: text
            .starts_with("secret,transcript")
            .then(|| "count".to_owned()),
        ..ReadOptions::default()
    };
    let start = Instant::now();
    let log = read_from("suite", Cursor::new(text), &read)?;
    let options = AuditOptions {
        seed,
        attacks: arguments.attack.unwrap_or(attack).into(),
        claims: vec![Claim::parse(claim)?],
        ..AuditOptions::default()
    };
    let found = audit(&log, &options)?;
    let seconds = start.elapsed().as_secs_f64();
    let certified = found.claims[0].estimate.lower.unwrap_or(0.0);
    Ok((certified, seconds, found.method.scorer.clone()))
}
