//! Logs of a design, drawn and audited.

use rand::RngExt;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;

use crate::audit::{AuditOptions, Detection, Planted, Verdict, audit};
use crate::power::design::Design;
use leakgauge_base::error::Result;
use leakgauge_base::parallel;
use leakgauge_base::progress::Work;
use leakgauge_exact::claim::MovedNoise;
use leakgauge_exact::sampling::multinomial;
use leakgauge_log::{Log, LogBuilder};
use leakgauge_stats::binomial::{clopper_pearson_lower, clopper_pearson_upper};
use leakgauge_stats::random::Stream;
use leakgauge_stats::special::normal_quantile;

/// Logs that are drawn at most: the standard error of a share of 0.9 is then 0.015.
pub(super) const LOGS: u64 = 400;
/// Logs that are drawn at a time.
const BATCH: u64 = 50;
/// The error probability with which a clear case ends early.
const EARLY: f64 = 1e-3;

/// In how many of at most so many logs the leak is found. Few are drawn where they show clearly on which side of
/// `threshold` the share is.
pub(super) fn detection(
    design: &Design,
    power: f64,
    threshold: f64,
    most: u64,
) -> Result<Detection> {
    let mut detection = Detection {
        leak: design.leak,
        planted: design.planted,
        power,
        logs: 0,
        found: 0,
    };
    while detection.logs < most {
        let from = detection.logs;
        let batch = parallel::map(BATCH as usize, |at| is_found(design, from + at as u64));
        for found in batch {
            detection.found += u64::from(found?);
            detection.logs += 1;
        }
        let (found, logs) = (detection.found, detection.logs);
        let is_clear = clopper_pearson_lower(found, logs, EARLY) > threshold
            || clopper_pearson_upper(found, logs, EARLY) < threshold;
        if is_clear {
            break;
        }
    }
    Ok(detection)
}

/// Whether the audit of a log violates a claim that shows the leak.
fn is_found(design: &Design, number: u64) -> Result<bool> {
    let mut rng = design.randomness().rng(Stream::Simulated(number));
    let log = draw(design, &mut rng)?;
    let options = AuditOptions {
        confidence: design.options.confidence,
        margin: design.options.margin,
        claims: design.options.claims.clone(),
        neighbors: design.options.neighbors.clone(),
        quick: true,
        design: design.options.design,
        seed: design.options.seed,
        ..AuditOptions::default()
    };
    let found = audit(&log, &options)?;
    Work::LogsAudited.advance(1);
    let mut claims = found.claims.iter().zip(&design.shows);
    Ok(claims.any(|(claim, shows)| *shows && claim.verdict == Verdict::Violated))
}

fn draw(design: &Design, rng: &mut ChaCha8Rng) -> Result<Log> {
    if let Planted::Numbers { columns } = design.planted {
        let log = numbers(design, columns, &design.rows, rng);
        return match &design.fit_rows {
            None => log.build(),
            Some(rows) => log.fit_on(numbers(design, columns, rows, rng)).build(),
        };
    }
    let outcomes = outcomes(design, rng);
    let log = counted(design, &outcomes, &design.rows, rng);
    match &design.fit_rows {
        None => log.build(),
        Some(rows) => log.fit_on(counted(design, &outcomes, rows, rng)).build(),
    }
}

/// So many rows of each secret: noise, moved in the first column. Secrets that do not leak stand in the middle.
fn numbers(design: &Design, columns: usize, rows: &[u64], rng: &mut ChaCha8Rng) -> LogBuilder {
    let noise = design.leak.moved_noise(design.delta);
    let each = rows.iter().enumerate();
    let mut secrets: Vec<usize> = each
        .flat_map(|(secret, &rows)| std::iter::repeat_n(secret, rows as usize))
        .collect();
    // Rows of one secret after the other would be doubted.
    secrets.shuffle(rng);
    let mut drawn = vec![Vec::with_capacity(secrets.len()); columns];
    for &secret in &secrets {
        let half = match design.pair {
            [a, _] if a == secret => -0.5,
            [_, b] if b == secret => 0.5,
            _ => 0.0,
        };
        for (at, column) in drawn.iter_mut().enumerate() {
            let moved = if at == 0 { half } else { 0.0 };
            column.push(draw_number(noise, moved, rng));
        }
    }
    let labels = secrets.iter().map(|&secret| design.labels[secret].as_str());
    let labels: Vec<&str> = labels.collect();
    let log = LogBuilder::new().secrets(&labels);
    let named = drawn.iter().enumerate();
    named.fold(log, |log, (at, column)| {
        log.numbers(&format!("number {at}"), column)
    })
}

/// Noise that is moved by a part of the distance.
fn draw_number(noise: MovedNoise, part: f64, rng: &mut ChaCha8Rng) -> f64 {
    // In the open interval, where quantiles are finite.
    let uniform = rng.random::<f64>().max(f64::MIN_POSITIVE);
    match noise {
        MovedNoise::Gaussian(distance) => {
            part * distance + normal_quantile(uniform.min(1.0 - f64::EPSILON / 2.0))
        }
        MovedNoise::Laplace(distance) => {
            let magnitude = -uniform.ln();
            let sign = if rng.random::<bool>() { 1.0 } else { -1.0 };
            part * distance + sign * magnitude
        }
    }
}

/// The own outcomes of the first of the secrets that leak, and the others: each a label with its part of them.
fn outcomes(design: &Design, rng: &mut ChaCha8Rng) -> [Vec<(String, f64)>; 2] {
    let mut labels: Vec<usize> = (0..design.alphabet.len()).collect();
    if labels.is_empty() {
        return ["0", "1"].map(|outcome| vec![(outcome.to_owned(), 1.0)]);
    }
    labels.shuffle(rng);
    // To the lighter half, so that both have about as many rows.
    let mut halves: [Vec<(String, f64)>; 2] = Default::default();
    let mut masses = [0.0; 2];
    for label in labels {
        let half = usize::from(masses[1] < masses[0]);
        masses[half] += design.alphabet[label];
        halves[half].push((format!("v{label}"), design.alphabet[label]));
    }
    for (half, mass) in halves.iter_mut().zip(masses) {
        half.iter_mut().for_each(|(_, part)| *part /= mass);
    }
    halves
}

/// So many rows of each secret, aggregated.
fn counted(
    design: &Design,
    outcomes: &[Vec<(String, f64)>; 2],
    rows: &[u64],
    rng: &mut ChaCha8Rng,
) -> LogBuilder {
    let (mut secrets, mut labels, mut counts) = (Vec::new(), Vec::new(), Vec::new());
    let all = || outcomes.iter().flatten();
    let mut drawn = vec![0; all().count()];
    for (secret, &rows) in rows.iter().enumerate() {
        let first = match design.pair {
            [a, _] if a == secret => design.rate,
            [_, b] if b == secret => 1.0 - design.rate,
            _ => 0.5,
        };
        // One label alone is everybody's.
        let shares = match outcomes[1].is_empty() {
            true => [1.0, 0.0],
            false => [first, 1.0 - first],
        };
        let of_half = |(half, share): (&Vec<(String, f64)>, f64)| {
            let parts = half.iter().map(|(_, part)| part * share);
            parts.collect::<Vec<f64>>()
        };
        let law: Vec<f64> = outcomes.iter().zip(shares).flat_map(of_half).collect();
        drawn.fill(0);
        multinomial(rows, &law, rng, &mut drawn);
        for ((label, _), &count) in all().zip(&drawn).filter(|of| *of.1 > 0) {
            secrets.push(design.labels[secret].as_str());
            labels.push(label.as_str());
            counts.push(count);
        }
    }
    LogBuilder::new()
        .secrets(&secrets)
        .labels("outcome", &labels)
        .counts(&counts)
}
