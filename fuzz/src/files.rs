//! Logs, matrices and distributions, most of them good.

use rand::RngExt;
use rand_chacha::ChaCha8Rng;

use crate::values::one;

const FIELDS: &[&str] = &[
    "0",
    "1",
    "-0",
    "0.5",
    "1e308",
    "5e-324",
    "9007199254740993",
    "",
    " ",
    "x",
    "\"a,b\"",
    "\"q\"\"q\"",
    "\"open",
    "é",
    "\u{1b}[31m",
    "\u{202e}x",
    "\u{9b}2J",
    "null",
    "NaN",
    "inf",
    "[1,2]",
    "(null)",
    "12 ms",
    "01",
    "2024-01-01T00:00:00Z",
];

/// A file with its name.
pub type File = (String, Vec<u8>);

/// The files of a case: `log.csv`, `other.csv` and others that options may name.
pub fn files(rng: &mut ChaCha8Rng) -> Vec<File> {
    let log = log(rng);
    let other = match rng.random_range(0..4) {
        0 => log.clone(),
        1 => log[..log.len() / 2].to_vec(),
        _ => self::log(rng),
    };
    let matrix = matrix(rng);
    vec![
        ("log.csv".to_owned(), log),
        ("other.csv".to_owned(), other),
        ("matrix.csv".to_owned(), matrix),
        ("p.csv".to_owned(), law(rng)),
        ("q.csv".to_owned(), law(rng)),
        ("log.jsonl".to_owned(), json_lines(rng)),
        ("empty.csv".to_owned(), Vec::new()),
    ]
}

fn log(rng: &mut ChaCha8Rng) -> Vec<u8> {
    let rows = *one(rng, &[1, 3, 30, 200, 1200]);
    let secrets = rng.random_range(1..5);
    let kind = rng.random_range(0..4);
    let is_nasty = rng.random_bool(0.3);
    let mut text = if rng.random_bool(0.9) {
        "secret,x,y\n".to_owned()
    } else {
        String::new()
    };
    for _ in 0..rows {
        let secret = rng.random_range(0..secrets);
        let leak = if kind == 0 { f64::from(secret) } else { 0.0 };
        let x = match kind {
            0 | 1 => format!("{:.3}", rng.random::<f64>() + leak),
            2 => rng.random_range(0..4u8).to_string(),
            _ => ["red", "green", "blue"][rng.random_range(0..3)].to_owned(),
        };
        let x = if is_nasty && rng.random_bool(0.02) {
            (*one(rng, FIELDS)).to_owned()
        } else {
            x
        };
        text += &format!(
            "{},{x},{}\n",
            ["a", "b", "c", "d"][secret as usize],
            rng.random_range(0..9u8)
        );
    }
    let mut bytes = text.into_bytes();
    if rng.random_bool(0.05) {
        let at = rng.random_range(0..bytes.len());
        bytes[at] = rng.random();
    }
    bytes
}

fn json_lines(rng: &mut ChaCha8Rng) -> Vec<u8> {
    let row = |rng: &mut ChaCha8Rng| {
        let secret = one(rng, &["\"a\"", "\"b\"", "1", "null", "{}"]);
        let x = one(rng, &["1", "2.5", "\"x\"", "[1,2]", "true", "1e999"]);
        format!("{{\"secret\":{secret},\"x\":{x},\"y\":1}}\n")
    };
    (0..rng.random_range(1..200))
        .map(|_| row(rng))
        .collect::<String>()
        .into_bytes()
}

fn matrix(rng: &mut ChaCha8Rng) -> Vec<u8> {
    let (rows, columns) = (rng.random_range(1..5), rng.random_range(1..5));
    let mut text = String::new();
    for _ in 0..rows {
        let weights: Vec<f64> = (0..columns)
            .map(|_| f64::from(rng.random_range(0..5u8)) + 1e-3)
            .collect();
        let sum: f64 = weights.iter().sum();
        let row: Vec<String> = weights
            .iter()
            .map(|weight| (weight / sum).to_string())
            .collect();
        text += &(row.join(",") + "\n");
    }
    if rng.random_bool(0.1) {
        let field: &&str = one(rng, FIELDS);
        text += field;
    }
    text.into_bytes()
}

fn law(rng: &mut ChaCha8Rng) -> Vec<u8> {
    let labels = rng.random_range(1..6);
    let text: String = (0..labels)
        .map(|label| {
            format!(
                "{},{}\n",
                ["a", "b", "c", "d", "e"][label],
                rng.random_range(0..9u8)
            )
        })
        .collect();
    text.into_bytes()
}
