//! Command lines that should be answered: mechanisms with parameters in their range, logs of the kinds that people have,
//! and options that fit them. Most faults of answers hide behind a command that is not refused.

use rand::RngExt;
use rand_chacha::ChaCha8Rng;

use crate::values::one;

/// Mechanisms with secrets of their own, with places for numbers: `{e}` an ε, `{x}` a scale, `{q}` a probability, `{s}`
/// secrets, `{n}` users.
const MECHANISMS: &[&str] = &[
    "randomized-response(epsilon={e}, secrets={s})",
    "randomized-response(p=0.75, secrets=2)",
    "laplace(scale={x}, secrets={s})",
    "laplace(epsilon={e}, secrets={s})",
    "gaussian(sigma={x}, secrets={s})",
    "geometric(nu={e}, secrets={s})",
    "truncated-geometric(nu={e}, secrets={s})",
    "normalized-geometric(nu={e}, secrets={s})",
    "discrete-gaussian(sigma={x}, secrets={s})",
    "exponential(epsilon={e}, secrets={s})",
    "staircase(epsilon={e}, secrets={s})",
    "identity(p={q}, secrets={s})",
    "deterministic(modulus=2, secrets={s})",
    "rappor(epsilon={e}, secrets={s})",
    "oue(epsilon={e}, secrets={s})",
    "olh(epsilon={e}, secrets={s})",
    "subset-selection(epsilon={e}, secrets={s})",
    "hadamard-response(epsilon={e}, secrets={s})",
    "mallows(n=3, theta={e})",
    "planar-laplace(epsilon={e}, secrets={s})",
    "subsampled(gaussian(sigma={x}), rate={q})",
    "subsampled(laplace(scale={x}), rate={q})",
    "subsampled(discrete-gaussian(sigma={x}), rate={q}, relation=replace)",
    "subsampled(randomized-response(epsilon={e}, secrets=2), rate={q})",
    "mixture(randomized-response(epsilon={e}, secrets=3), identity(p={q}, secrets=3), weight={q})",
    "mixture(laplace(scale={x}, secrets=2), gaussian(sigma={x}, secrets=2), weight={q})",
    "shuffled(randomized-response(epsilon={e}, secrets={s}), n={n})",
];

/// Claims that need no mechanism.
const PROMISES: &[&str] = &[
    "ldp(epsilon={e})",
    "dp(epsilon={e}, delta=1e-5)",
    "dp(epsilon={e}, delta=0.05)",
    "gdp(mu={x})",
    "zcdp(rho={e})",
    "rdp(alpha=2, epsilon={e})",
    "dp-curve(dp({e}), dp(epsilon=0.1, delta={q}))",
    "f-dp(point(fpr=0.1, fnr=0.6), point(0.3, 0.3))",
    "dp-sgd(sigma={x}, rate=0.01, steps=100)",
    "bayes-security({q})",
    "advantage({q})",
    "attack-advantage({q})",
    "mutual-information({q})",
    "maximal-leakage({e})",
    "time-difference({x}ms)",
    "time-difference(lan)",
];

/// A text of such a list with numbers in its places; of a log with so many secrets, if it is of a log.
fn filled(rng: &mut ChaCha8Rng, list: &[&str], secrets: Option<u32>) -> String {
    let mut text = (*one(rng, list)).to_owned();
    if let Some(secrets) = secrets {
        text = text.replace("{s}", &secrets.to_string());
    }
    let places: [(&str, &[&str]); 5] = [
        ("{e}", &["0.1", "0.5", "1", "1.5", "2", "4", "0", "30"]),
        ("{x}", &["0.3", "0.5", "1", "2", "5", "100"]),
        ("{q}", &["0.01", "0.1", "0.3", "0.5", "0.9", "1"]),
        ("{s}", &["2", "2", "3", "4", "6"]),
        ("{n}", &["1", "2", "10", "50"]),
    ];
    for (place, numbers) in places {
        while text.contains(place) {
            text = text.replacen(place, one::<&str>(rng, numbers), 1);
        }
    }
    text
}

/// A mechanism that has figures without a log.
pub fn mechanism(rng: &mut ChaCha8Rng) -> String {
    filled(rng, MECHANISMS, None)
}

/// A promise that needs no log.
pub fn promise(rng: &mut ChaCha8Rng) -> String {
    filled(rng, PROMISES, None)
}

/// A claim about a log.
pub fn claim(rng: &mut ChaCha8Rng, log: &Log) -> String {
    match rng.random_range(0..4) {
        0 => filled(rng, MECHANISMS, Some(log.secrets)),
        _ => filled(rng, PROMISES, None),
    }
}

/// A log that people have.
#[derive(Debug)]
pub struct Log {
    /// Its name and what is in it.
    pub file: (String, Vec<u8>),
    /// The columns beside the secret.
    pub columns: Vec<&'static str>,
    /// How many secrets it has at most.
    pub secrets: u32,
}

/// Draws a log: its secrets, its columns, and whether they tell of the secrets.
pub fn log(rng: &mut ChaCha8Rng) -> Log {
    let rows = *one(rng, &[40, 200, 600, 1500]);
    let secrets = *one(rng, &[2, 2, 3, 5, 20]);
    let leak = *one(rng, &[0.0, 0.0, 0.3, 3.0]);
    let mut columns: Vec<&'static str> = vec!["x"];
    for more in [
        "y", "word", "items", "bits", "time_ms", "user", "trial", "when", "run_id",
    ] {
        if rng.random_bool(0.2) {
            columns.push(more);
        }
    }
    // Mechanisms have numbers as secrets.
    let prefix = *one(rng, &["", "", "s"]);
    let is_sorted = rng.random_bool(0.1);
    let is_json = rng.random_bool(0.2);
    let step = *one(rng, &[0.0, 0.001, 0.25, 1.0]);
    let mut text = String::new();
    if !is_json {
        text = format!("secret,{}\n", columns.join(","));
    }
    for row in 0..rows {
        let secret = match is_sorted {
            true => row * secrets / rows,
            false => rng.random_range(0..secrets),
        };
        let shift = leak * f64::from(secret) / f64::from(secrets);
        let cells: Vec<String> = columns
            .iter()
            .map(|column| cell(rng, column, row, secrets, shift, step))
            .collect();
        let name = format!("{prefix}{secret}");
        text += &match is_json {
            false => format!("{name},{}\n", cells.join(",")),
            true => {
                let pairs = columns.iter().zip(&cells);
                let fields: Vec<String> = pairs.map(|(column, cell)| field(column, cell)).collect();
                format!("{{\"secret\":\"{name}\",{}}}\n", fields.join(","))
            }
        };
    }
    let name = if is_json { "sound.jsonl" } else { "sound.csv" };
    Log {
        file: (name.to_owned(), text.into_bytes()),
        columns,
        secrets,
    }
}

fn field(column: &str, cell: &str) -> String {
    let cell = cell.trim_matches('"');
    match cell.parse::<f64>() {
        _ if cell.starts_with('[') => format!("\"{column}\":{cell}"),
        Ok(_) if column != "bits" => format!("\"{column}\":{cell}"),
        _ => format!("\"{column}\":\"{cell}\""),
    }
}

/// What stands in a column. A step rounds numbers, as clocks do.
fn cell(
    rng: &mut ChaCha8Rng,
    column: &str,
    row: u32,
    secrets: u32,
    shift: f64,
    step: f64,
) -> String {
    let number = rng.random::<f64>() + rng.random::<f64>() + shift;
    let number = match step {
        0.0 => number,
        step => (number / step).round() * step,
    };
    match column {
        "x" | "y" => number.to_string(),
        "word" => ["red", "green", "blue", "grey"][(number as usize).min(3)].to_owned(),
        "items" => {
            let length = rng.random_range(0..4) + number as u32;
            let items: Vec<String> = (0..length)
                .map(|_| rng.random_range(0..9u8).to_string())
                .collect();
            format!("\"[{}]\"", items.join(","))
        }
        "bits" => (0..8)
            .map(|_| {
                if rng.random::<f64>() < 0.3 + shift / 9.0 {
                    '1'
                } else {
                    '0'
                }
            })
            .collect(),
        "time_ms" => format!("{:.3}", 10.0 * number),
        "user" => format!("u{}", row % 17),
        "trial" => (row / secrets).to_string(),
        "when" => format!("2026-03-{:02}T10:{:02}:00Z", 1 + row / 60 % 28, row % 60),
        _ => row.to_string(),
    }
}

/// What else is asked of a mechanism.
pub fn question(rng: &mut ChaCha8Rng) -> Vec<String> {
    let words: [&[&str]; 8] = [
        &[],
        &["--at-epsilon", "0.5"],
        &["--at-epsilon", "2", "--repeat", "10"],
        &["--at-delta", "1e-5", "--repeat", "100"],
        &["--at-order", "2"],
        &["--at-order", "32", "--repeat", "3"],
        &["--profile"],
        &["--reconstruction", "0.1"],
    ];
    one(rng, &words)
        .iter()
        .map(|word| (*word).to_owned())
        .collect()
}

/// An option of a log with a value that fits, most often.
pub fn option(rng: &mut ChaCha8Rng, log: &Log) -> Vec<String> {
    let column = (*one(rng, &log.columns)).to_owned();
    let all: [(&str, &[&str]); 22] = [
        ("", &["--observe", &column]),
        ("", &["--categorical", &column]),
        ("", &["--resolution", "x=0.5"]),
        ("user", &["--group", "user"]),
        ("trial", &["--block", "trial"]),
        ("", &["--split", "blocks"]),
        ("", &["--confidence", "0.8"]),
        ("", &["--confidence", "0.999"]),
        ("", &["--prior", "empirical"]),
        ("", &["--prior", "uniform"]),
        ("", &["--merge", "*=others"]),
        ("", &["--missing", "drop"]),
        ("time_ms", &["--missing", "last"]),
        ("word", &["--keep", "word=red,blue"]),
        ("word", &["--drop", "word=red"]),
        ("time_ms", &["--observe", "time_ms", "--unit", "ms"]),
        ("time_ms", &["--observe", "time_ms", "--clock-step", "1ms"]),
        ("", &["--max-rows", "1000"]),
        ("", &["--seed", "7"]),
        ("items", &["--list", "items=length"]),
        ("", &["--ci"]),
        ("", &["--full"]),
    ];
    let fits = all
        .iter()
        .filter(|(needed, _)| needed.is_empty() || log.columns.contains(needed));
    let fits: Vec<&[&str]> = fits.map(|(_, words)| *words).collect();
    one(rng, &fits)
        .iter()
        .map(|word| (*word).to_owned())
        .collect()
}
