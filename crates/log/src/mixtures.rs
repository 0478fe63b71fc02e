//! Any mixture of words, numbers, blanks and separators is read, or refused with one message; and alike as delimited
//! text and as JSON.

use proptest::prelude::*;
use proptest::sample::select;

use crate::observations::NUMBER;
use crate::{Log, ReadOptions, read_from};
use leakgauge_base::error::Result;

const CELLS: &[&str] = &[
    "0",
    "1",
    "1.0",
    "+1",
    "01",
    "-0",
    "1e3",
    "1E+03",
    ".5",
    "5.",
    "0.30000000000000004",
    "9007199254740993",
    "17",
    "timeout",
    "ERR",
    "time",
    "N/A",
    "-",
    "?",
    "",
    " ",
    "  2",
    "(null)",
    "(missing)",
    "(number)",
    "NaN",
    "inf",
    "1e999",
    "1,234",
    "1 234",
    "1'234",
    "1_000",
    "0,5",
    "1.234.567",
    "0x1F",
    "0b1",
    "3fa9",
    "dead",
    "12ms",
    "1s",
    "PT1M",
    "2026-01-01",
    "2026-01-01T00:00:00.0000001Z",
    "$5",
    "5%",
    "−5",
    "½",
    "é",
    "null",
    "true",
    "[1,2]",
    "\u{1b}[31m",
    "true",
    "0x",
    "1e",
    "e5",
    "+",
    ".",
    "--5",
    "1.2.3",
    "12:30",
];

/// Rows of numbers and of a few other texts.
fn rows() -> impl Strategy<Value = Vec<(bool, String)>> {
    let other = prop_oneof![9 => select(CELLS).prop_map(str::to_owned), 1 => "[ -~]{0,6}"];
    prop::collection::vec(other, 1..4).prop_flat_map(|others| {
        let number = (0..400u32).prop_map(|n| (f64::from(n) / 8.0).to_string());
        let cell = prop_oneof![3 => number, 1 => select(others)];
        prop::collection::vec((any::<bool>(), cell), 2..120)
    })
}

fn delimited(rows: &[(bool, String)]) -> String {
    let line =
        |(secret, cell): &(bool, String)| format!("{secret},\"{}\"\n", cell.replace('"', "\"\""));
    "secret,time\n".to_owned() + &rows.iter().map(line).collect::<String>()
}

fn json(rows: &[(bool, String)]) -> String {
    let line = |(secret, cell): &(bool, String)| {
        let cell = serde_json::Value::from(cell.as_str());
        format!("{{\"secret\":\"{secret}\",\"time\":{cell}}}\n")
    };
    rows.iter().map(line).collect()
}

fn read(name: &str, text: String, options: &ReadOptions) -> Result<Log> {
    read_from(name, std::io::Cursor::new(text), options)
}

/// Counts, labels and numbers agree with each other, and nothing is lost.
fn check(log: &Log, rows: u64) {
    let observations = &log.observations;
    assert_eq!(log.counts.total(), rows);
    assert!(
        observations
            .all_numbers()
            .iter()
            .all(|number| number.is_finite())
    );
    let words: u64 = log
        .facts
        .words
        .iter()
        .map(|words| words.rows + words.numbers)
        .sum();
    assert!(words == 0 || words == rows);
    let mut labels: Vec<String> = (0..observations.len() as u32)
        .map(|symbol| observations.label(symbol))
        .collect();
    assert!(!labels.iter().any(|label| label == NUMBER));
    labels.sort();
    labels.dedup();
    assert_eq!(
        labels.len(),
        observations.len(),
        "labels tell observations apart"
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]
    #[test]
    fn any_mixture_is_read_or_refused(
        mut rows in rows(),
        asked in 0..3u8,
    ) {
        (rows[0].0, rows[1].0) = (false, true);
        let time = || vec!["time".to_owned()];
        let options = ReadOptions {
            categorical: if asked == 1 { time() } else { Vec::new() },
            numeric: if asked == 2 { time() } else { Vec::new() },
            ..ReadOptions::default()
        };
        let text = read("log", delimited(&rows), &options);
        let lines = read("log.jsonl", json(&rows), &options);
        match (&text, &lines) {
            (Ok(text), Ok(lines)) => {
                check(text, rows.len() as u64);
                prop_assert_eq!(&text.counts, &lines.counts);
                let found = |log: &Log| format!("{:?} {:?}", log.observations, log.facts.words);
                prop_assert_eq!(found(text), found(lines));
            }
            (Err(text), Err(lines)) => {
                prop_assert_eq!(text.problem(), lines.problem());
                prop_assert!(!text.problem().is_empty());
            }
            _ => prop_assert!(false, "{:?} but {:?}", text.err(), lines.err()),
        }
        if asked == 1 {
            prop_assert!(read("log", delimited(&rows), &options).is_ok());
        }
    }
}
