//! Texts of values: numbers, mechanisms, columns.

use rand::RngExt;
use rand_chacha::ChaCha8Rng;

use crate::grammar::{Flag, Grammar, Named};

/// Numbers that are often right.
const PLAIN: &[&str] = &["1", "2", "3", "5", "10", "0.5", "0.1", "0.95", "1.5", "100"];
/// Numbers that are often wrong.
const NASTY: &[&str] = &[
    "0",
    "-1",
    "-0",
    "1e-320",
    "5e-324",
    "1e308",
    "1e15",
    "1e9",
    "9007199254740993",
    "18446744073709551615",
    "18446744073709551616",
    "nan",
    "inf",
    "-inf",
    "",
    " ",
    "x",
    "1e-9",
    "0.9999999999999999",
    "1,2",
    "2..5",
    "0..1:3",
    "5..2",
    "1..1e12:1000000",
    "1e400",
    "+1",
    "0x10",
    "١",
    "1_000",
    "1e-309",
    "2.2250738585072014e-308",
    "1e-300",
    "1e-160",
    "1e-15",
    "1e160",
    "1.7e308",
    "709.8",
    "1500",
    "0.00000000000000000000000000000000000000000000000000000000000000000001",
    "1e999999999999",
];

/// One of these.
pub fn one<'a, T>(rng: &mut ChaCha8Rng, from: &'a [T]) -> &'a T {
    &from[rng.random_range(0..from.len())]
}

/// A number as a text.
pub fn number(rng: &mut ChaCha8Rng) -> String {
    let list = if rng.random_bool(0.8) { PLAIN } else { NASTY };
    (*one(rng, list)).to_owned()
}

/// A mechanism or a promise, sometimes inside another.
pub fn mechanism(rng: &mut ChaCha8Rng, grammar: &Grammar, depth: u32) -> String {
    // What most commands take.
    if rng.random_bool(0.3) {
        let secrets = rng.random_range(2..5);
        let plain = [
            "randomized-response(epsilon=1, secrets=",
            "laplace(scale=2, secrets=",
            "deterministic(modulus=2, secrets=",
        ];
        return format!("{}{secrets})", one(rng, &plain));
    }
    let Named { name, parameters } = one(rng, &grammar.named);
    let mut given = Vec::new();
    for parameter in parameters {
        if rng.random_bool(0.7) {
            let value = match parameter.as_str() {
                "secrets" if rng.random_bool(0.8) => rng.random_range(1..6).to_string(),
                "secrets" => "1e9".to_owned(),
                _ if depth < 2 && rng.random_bool(0.05) => mechanism(rng, grammar, depth + 1),
                _ => number(rng),
            };
            given.push(format!("{parameter}={value}"));
        }
    }
    if depth < 2 && rng.random_bool(0.1) {
        given.insert(0, mechanism(rng, grammar, depth + 1));
    }
    format!("{name}({})", given.join(", "))
}

/// What may stand behind an option.
pub fn value(rng: &mut ChaCha8Rng, flag: &Flag, grammar: &Grammar, files: &[String]) -> String {
    if !flag.possible.is_empty() && rng.random_bool(0.95) {
        return one(rng, &flag.possible).clone();
    }
    let columns = ["secret", "x", "y", "1", "2", "absent", "x,y", ""];
    let kind = flag.value.as_deref().unwrap_or_default();
    match kind {
        _ if rng.random_bool(0.03) => "\u{1b}[31m\u{9b}\u{202e}".to_owned(),
        _ if matches!(
            flag.name.as_str(),
            "--html" | "--out" | "--plots" | "--best-decoys-to"
        ) || flag.name.ends_with("-out") =>
        {
            format!("out-{}", rng.random_range(0..3))
        }
        "FILE" | "LOG" | "P" | "Q" | "MATRIX" | "DIR" => one(rng, files).clone(),
        "MECHANISM" | "CLAIM" => mechanism(rng, grammar, 0),
        "PRIOR" => (*one(
            rng,
            &[
                "uniform",
                "empirical",
                "0.5,0.5",
                "a=0.5,b=0.5",
                "1e-320,1",
                "a=0,b=1",
                "x",
            ],
        ))
        .to_owned(),
        "TIME" => (*one(rng, &["100ms", "1s", "0s", "x"])).to_owned(),
        "C" => (*one(rng, &["0.95", "0.5", "0.999", "1", "0", ",", ";", "tab"])).to_owned(),
        "COLUMN=WIDTH,…" => format!("x={}", number(rng)),
        "COLUMN=HOW" => format!(
            "x={}",
            one(rng, &["first:2", "length", "sum", "set", "first:0"])
        ),
        _ if kind.starts_with("COLUMN") || kind.starts_with("A,B") => {
            (*one(rng, &columns)).to_owned()
        }
        _ => number(rng),
    }
}
