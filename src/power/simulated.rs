//! Logs of a design, drawn and audited.

use rand_chacha::ChaCha8Rng;

use crate::audit::{AuditOptions, Detection, Verdict, audit};
use crate::power::design::Design;
use leakgauge_base::error::Result;
use leakgauge_base::parallel;
use leakgauge_base::progress::Work;
use leakgauge_exact::sampling::multinomial;
use leakgauge_log::{Log, LogBuilder};
use leakgauge_stats::binomial::{clopper_pearson_lower, clopper_pearson_upper};
use leakgauge_stats::random::Stream;

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
    let log = counted(design, &design.rows, rng);
    match &design.fit_rows {
        None => log.build(),
        Some(rows) => log.fit_on(counted(design, rows, rng)).build(),
    }
}

/// So many rows of each secret, aggregated.
fn counted(design: &Design, rows: &[u64], rng: &mut ChaCha8Rng) -> LogBuilder {
    const OUTCOMES: [&str; 2] = ["0", "1"];
    let (mut secrets, mut outcomes, mut counts) = (Vec::new(), Vec::new(), Vec::new());
    for (secret, &rows) in rows.iter().enumerate() {
        let first = match design.pair {
            [a, _] if a == secret => design.rate,
            [_, b] if b == secret => 1.0 - design.rate,
            _ => 0.5,
        };
        let mut drawn = [0; 2];
        multinomial(rows, &[first, 1.0 - first], rng, &mut drawn);
        for (outcome, count) in OUTCOMES.into_iter().zip(drawn).filter(|of| of.1 > 0) {
            secrets.push(design.labels[secret].as_str());
            outcomes.push(outcome);
            counts.push(count);
        }
    }
    LogBuilder::new()
        .secrets(&secrets)
        .labels("outcome", &outcomes)
        .counts(&counts)
}
