use super::*;
use rand::{RngExt, SeedableRng};

#[test]
fn secrets_in_turns_and_in_blocks_are_told_from_secrets_in_random_order() {
    let code = |rows: Vec<u32>| interleaving(&rows, 100, || true).map(|warning| warning.code());
    let mut rng = rand_chacha::ChaCha8Rng::seed_from_u64(3);
    assert_eq!(
        code((0..5000).map(|row| row % 2).collect()),
        Some("labels-alternate")
    );
    assert_eq!(
        code((0..50_000).map(|row| row % 100).collect()),
        Some("labels-alternate")
    );
    assert_eq!(
        code((0..5000).map(|row| row / 100 % 2).collect()),
        Some("labels-not-interleaved")
    );
    assert_eq!(
        code((0..5000).map(|_| rng.random_range(0..2)).collect()),
        None
    );
    assert_eq!(code((0..8).map(|row| row % 2).collect()), None);
    let random_blocks = (0..2000).flat_map(|_| match rng.random_range(0..2) {
        0 => [0, 1],
        _ => [1, 0],
    });
    let random_blocks: Vec<u32> = random_blocks.collect();
    assert_eq!(interleaving(&random_blocks, 2, || true), None);
    let turns: Vec<u32> = (0..4000).map(|row| row % 2).collect();
    let swapped_once: Vec<u32> = (0..4000).map(|row| (row + row / 2000) % 2).collect();
    assert!(interleaving(&turns, 2, || true).is_some());
    assert!(interleaving(&swapped_once, 2, || true).is_some());
}

/// Logs a case.
const LOGS: u64 = 200;
/// Logs of which nearly all must be accused.
const ACCUSED_LOGS: u64 = 40;
const ROWS: usize = 1500;

/// How secrets follow each other.
#[derive(Debug, Clone, Copy)]
enum Secrets {
    Random,
    InTurns,
    /// a, a, b, b, …: neighbors are equal as often as by chance.
    PairsInTurns,
}

/// Noise of leak-free logs.
#[derive(Debug, Clone, Copy)]
enum Noise {
    Independent,
    /// Autoregressive, one for all rows.
    Shared(f64),
    /// Autoregressive, each secret its own.
    Own(f64),
    /// A wave of so many rows beside independent noise of half its deviation.
    Wave(f64),
    /// A line beside independent noise.
    Line,
}

/// Codes of the warnings about the order of a log.
fn warned(secrets: Secrets, noise: Noise, seed: u64) -> Vec<&'static str> {
    let mut rng = rand_chacha::ChaCha8Rng::seed_from_u64(seed);
    let normal = |rng: &mut rand_chacha::ChaCha8Rng| {
        let uniform: f64 = rng.random();
        leakgauge_stats::special::normal_quantile(uniform.clamp(1e-16, 1.0 - 1e-16))
    };
    let mut state = [normal(&mut rng), normal(&mut rng)];
    let mut rows = RowOrder::default();
    let mut values = Vec::new();
    for row in 0..ROWS {
        let secret = match secrets {
            Secrets::Random => rng.random_range(0..2),
            Secrets::InTurns => row as u32 % 2,
            Secrets::PairsInTurns => row as u32 / 2 % 2,
        };
        let fresh = normal(&mut rng);
        let mut step = |which: usize, rho: f64| {
            state[which] = rho * state[which] + (1.0 - rho * rho).sqrt() * fresh;
            state[which]
        };
        let at = row as f64;
        values.push(match noise {
            Noise::Independent => fresh,
            Noise::Shared(rho) => step(0, rho),
            Noise::Own(rho) => step(secret as usize, rho),
            Noise::Wave(period) => (std::f64::consts::TAU * at / period).sin() + 0.35 * fresh,
            Noise::Line => at / ROWS as f64 + fresh,
        });
        rows.secrets.push(secret);
        rows.symbols.push(row as u32);
    }
    let table = Observations::of_numbers(1, values);
    let warnings = order_warnings(&table, 2, &rows);
    warnings.iter().map(Warning::code).collect()
}

fn share(logs: u64, secrets: Secrets, noise: Noise, is: impl Fn(&[&str]) -> bool + Sync) -> f64 {
    use rayon::prelude::*;
    let all = (0..logs).into_par_iter();
    let found = all
        .filter(|&seed| is(&warned(secrets, noise, seed)))
        .count();
    found as f64 / logs as f64
}

/// Leak-free, secrets in random order: what all rows share accuses nobody. At most 5 %, and three standard
/// errors of 200 logs at the level of 1 % that this is tested at.
#[test]
fn shared_noise_is_not_accused_where_secrets_are_in_random_order() {
    for noise in [
        Noise::Independent,
        Noise::Shared(0.9),
        Noise::Wave(7.0),
        Noise::Line,
    ] {
        let accused = share(LOGS, Secrets::Random, noise, |codes| !codes.is_empty());
        assert!(accused <= 0.05, "{noise:?}: {accused}");
    }
}

#[test]
fn noise_of_each_secret_is_accused_in_any_order() {
    for secrets in [Secrets::Random, Secrets::InTurns] {
        for noise in [Noise::Own(0.5), Noise::Own(0.99)] {
            let seen = share(ACCUSED_LOGS, secrets, noise, |codes| {
                codes.contains(&"autocorrelation")
            });
            assert!(seen >= 0.95, "{secrets:?} {noise:?}: {seen}");
        }
    }
}

#[test]
fn shared_noise_is_accused_where_secrets_are_not_in_random_order() {
    for secrets in [Secrets::InTurns, Secrets::PairsInTurns] {
        let seen = share(ACCUSED_LOGS, secrets, Noise::Shared(0.9), |codes| {
            codes.contains(&"autocorrelation")
        });
        assert!(seen >= 0.95, "{secrets:?}: {seen}");
        let drift = share(ACCUSED_LOGS, secrets, Noise::Line, |codes| {
            codes.contains(&"drift")
        });
        assert!(drift >= 0.95, "{secrets:?}: {drift}");
    }
}

/// Waves whose neighbors hardly resemble each other are seen by the rows that are a period apart; independent
/// rows are accused at a level of 0.1 %: P(Bin(200, 0.001) > 3) < 0.0001.
#[test]
fn periodic_noise_is_seen_where_secrets_are_not_in_random_order() {
    for period in [4.0, 8.0, 100.0] {
        let seen = share(
            ACCUSED_LOGS,
            Secrets::PairsInTurns,
            Noise::Wave(period),
            |codes| codes.contains(&"periodic") || codes.contains(&"autocorrelation"),
        );
        assert!(seen >= 0.95, "{period}: {seen}");
    }
    let accused = share(LOGS, Secrets::PairsInTurns, Noise::Independent, |codes| {
        codes
            .iter()
            .any(|code| *code != "labels-alternate" && *code != "labels-not-interleaved")
    });
    assert!(accused <= 0.015, "{accused}");
}
