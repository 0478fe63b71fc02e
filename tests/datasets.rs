//! The logs in `datasets/` are what their README says: drawn by its commands, judged as it states.
//! The commands are read from the README.

use std::collections::BTreeMap;
use std::io::Read;
use std::path::Path;

use crate::agreement::checks::disagreements;
use crate::common::check_schema;
use assert_cmd::Command;
use serde_json::Value;

#[path = "../examples/draw_mixed.rs"]
mod draw_mixed;

#[path = "../examples/draw_membership.rs"]
mod draw_membership;

const ROOT: &str = env!("CARGO_MANIFEST_DIR");

fn dataset(name: &str) -> String {
    let path = Path::new(ROOT).join("datasets").join(name);
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The lines of the README that start a subcommand.
fn commands(subcommand: &str) -> Vec<String> {
    let start = format!("leakgauge {subcommand} ");
    let readme = dataset("README.md");
    let lines = readme.lines().filter(|line| line.starts_with(&start));
    lines.map(ToOwned::to_owned).collect()
}

/// The words of a shell line that quotes with ' only, without the name of the program.
fn arguments(line: &str) -> Vec<String> {
    let mut words = Vec::new();
    for (at, part) in line.split('\'').enumerate() {
        if at % 2 == 1 {
            words.push(part.to_owned());
        } else {
            words.extend(part.split_whitespace().map(ToOwned::to_owned));
        }
    }
    words.remove(0);
    words
}

fn leakgauge(arguments: &[String]) -> Command {
    let mut command = Command::cargo_bin("leakgauge").unwrap();
    command.current_dir(ROOT).args(arguments);
    command
}

fn stdout_of(mut command: Command) -> String {
    String::from_utf8(command.output().unwrap().stdout).unwrap()
}

/// Not `assert_eq`, which would print both files.
fn assert_same(made: &str, name: &str) {
    let stored = dataset(name);
    if let Some((row, (made, stored))) = made
        .lines()
        .zip(stored.lines())
        .enumerate()
        .find(|(_, (made, stored))| made != stored)
    {
        panic!("{name}, line {}: made {made:?}, stored {stored:?}", row + 1);
    }
    assert!(made == stored, "{name}: one is longer or ends otherwise");
}

#[test]
fn simulated_logs_are_what_their_commands_write() {
    let mut files = 0;
    for line in commands("simulate") {
        // The aggregated log has a test of its own.
        let Some((command, file)) = line.split_once(" > datasets/") else {
            continue;
        };
        assert_same(&stdout_of(leakgauge(&arguments(command))), file);
        files += 1;
    }
    assert_eq!(files, 5);
}

#[test]
fn the_aggregated_log_counts_the_rows_of_its_command() {
    let line = commands("simulate")
        .into_iter()
        .find(|line| line.contains('|'))
        .unwrap();
    let (command, _) = line.split_once('|').unwrap();
    let mut counts = BTreeMap::<String, u64>::new();
    for row in stdout_of(leakgauge(&arguments(command))).lines() {
        *counts.entry(row.to_owned()).or_default() += 1;
    }
    let rows = counts.iter().map(|(row, count)| format!("{row},{count}\n"));
    let made: String = std::iter::once("secret,observation,rows\n".to_owned())
        .chain(rows)
        .collect();
    assert_same(&made, "randomized-response-counts.csv");
}

#[test]
fn the_headerless_log_is_that_of_its_command_with_the_columns_swapped() {
    let commands = commands("simulate");
    let line = commands.iter().rfind(|line| line.ends_with('|')).unwrap();
    let drawn = stdout_of(leakgauge(&arguments(line.trim_end_matches('|'))));
    let swapped = drawn.lines().map(|row| {
        let (secret, observation) = row.split_once(',').unwrap();
        format!("{observation},{secret}\n")
    });
    assert_same(&swapped.collect::<String>(), "headerless.csv");
}

/// The same rows three times: as measured, as JSON lines, and with a column for each secret.
#[test]
fn the_rewritten_logs_are_the_measured_one() {
    let measured = dataset("measured-comparison.csv");
    let rows: Vec<(&str, &str)> = measured
        .lines()
        .skip(1)
        .filter_map(|l| l.split_once(','))
        .collect();
    let json = rows.iter().map(|(wrong, took)| {
        format!("{{\"compared\":{{\"wrong\":{wrong}}},\"took\":\"{took}ns\"}}\n")
    });
    let path = format!("{ROOT}/datasets/measured-comparison.jsonl.zst");
    let mut unpacked = String::new();
    leakgauge::log::open(&path, &leakgauge::log::ReadMeter::default())
        .unwrap()
        .read_to_string(&mut unpacked)
        .unwrap();
    assert!(unpacked == json.collect::<String>());

    let wide = dataset("measured-comparison-wide.csv");
    let mut lines = wide.lines().map(|line| line.split(';'));
    let secrets: Vec<&str> = lines.next().unwrap().collect();
    let mut cells: Vec<(&str, &str)> = lines
        .flat_map(|line| secrets.iter().copied().zip(line))
        .filter(|(_, cell)| !cell.is_empty())
        .collect();
    let mut rows = rows;
    rows.sort_unstable();
    cells.sort_unstable();
    assert!(rows == cells);
}

#[test]
fn the_mixed_log_is_what_its_example_writes() {
    let mut made = Vec::new();
    draw_mixed::draw(&mut made).unwrap();
    assert_same(&String::from_utf8(made).unwrap(), "mixed.csv");
}

#[test]
fn the_losses_are_what_their_example_writes() {
    let mut made = Vec::new();
    draw_membership::draw(&mut made).unwrap();
    assert_same(&String::from_utf8(made).unwrap(), "membership-losses.csv");
}

/// By the midpoint rule, on the model as the example's documentation writes it; and its true positives at
/// few false ones, which the printed limits enclose.
#[test]
fn quadrature_agrees_with_the_stated_figures_of_the_losses() {
    let bell = |t: f64| (-0.5 * t * t).exp() / std::f64::consts::TAU.sqrt();
    let (mut total_variation, mut found, mut alarms, mut at_a_thousandth) = (0.0, 0.0, 0.0, 0.0);
    let (steps, from, to) = (400_000, -15.0, 10.0);
    let width = (to - from) / f64::from(steps);
    for step in 0..steps {
        let t = from + (f64::from(step) + 0.5) * width;
        let (member, other) = (0.95 * bell(t + 0.3) + 0.05 * bell(t + 5.0), bell(t));
        total_variation += 0.5 * (member - other).abs() * width;
        found += member * width;
        alarms += other * width;
        if alarms <= 0.001 {
            at_a_thousandth = found;
        }
    }
    assert!(
        (total_variation - 0.142936).abs() < 1e-6,
        "{total_variation}"
    );
    assert!((at_a_thousandth - 0.0511).abs() < 1e-4, "{at_a_thousandth}");
    let options = [
        "--scorer",
        "given",
        "--scores",
        "loss",
        "--confidence",
        "0.9999",
    ];
    let report = estimate("membership-losses.csv", &options);
    let point = &report["worst_pair"]["trade_off"]["operating_points"][2];
    assert_eq!(
        (&point["detects"], &point["false_positive_rate"]),
        (&"in".into(), &0.001.into())
    );
    let rate = &point["true_positive_rate"];
    let [lower, upper] = ["lower", "upper"].map(|key| rate[key].as_f64());
    assert!(lower.is_none_or(|lower| lower < at_a_thousandth) && at_a_thousandth < upper.unwrap());
}

/// By the midpoint rule, on the model as the example's documentation writes it.
#[test]
fn quadrature_agrees_with_the_stated_total_variation_of_the_mixed_log() {
    let normal = |t: f64, mean: f64, deviation: f64| {
        let z = (t - mean) / deviation;
        (-0.5 * z * z).exp() / (deviation * std::f64::consts::TAU.sqrt())
    };
    let (steps, from, to) = (400_000, -8.0, 20.0);
    let width = (to - from) / f64::from(steps);
    let total_variation: f64 = (0..steps)
        .map(|step| {
            let t = from + (f64::from(step) + 0.5) * width;
            let hit = (0.3 - 0.6) * normal(t, 2.0, 0.5);
            let miss = 0.7 * normal(t, 8.0, 1.0) - 0.4 * normal(t, 7.0, 1.0);
            0.5 * (hit.abs() + miss.abs()) * width
        })
        .sum();
    assert!(
        (total_variation - 0.389231).abs() < 1e-6,
        "{total_variation}"
    );
}

#[test]
fn audits_end_as_the_readme_says() {
    let lines = commands("audit");
    assert!(lines.len() >= 16);
    for line in lines {
        let (command, expected) = line.split_once(" # ").unwrap();
        let (verdicts, code) = expected.rsplit_once(", exit ").unwrap();
        let mut json = arguments(command);
        json.extend(["--format".to_owned(), "json".to_owned()]);
        let output = leakgauge(&json).output().unwrap();
        check_schema(&json, &output);
        assert_eq!(output.status.code(), code.parse().ok(), "{line}");
        let report: Value = serde_json::from_slice(&output.stdout).unwrap();
        let wrong = disagreements(&report);
        assert!(wrong.is_empty(), "{line}: {wrong:?}");
        let claims = report["claims"].as_array().unwrap().iter();
        let found: Vec<_> = claims.filter_map(|c| c["verdict"].as_str()).collect();
        assert_eq!(found.join(", "), verdicts, "{line}");
    }
}

fn estimate(file: &str, options: &[&str]) -> Value {
    let path = format!("datasets/{file}");
    let mut words = vec!["estimate", &path, "--format", "json"];
    words.extend(options);
    let words: Vec<_> = words.into_iter().map(ToOwned::to_owned).collect();
    let output = leakgauge(&words).output().unwrap();
    check_schema(&words, &output);
    serde_json::from_slice(&output.stdout).unwrap()
}

fn warning_codes(report: &Value) -> Vec<&str> {
    let warnings = report["warnings"].as_array().unwrap().iter();
    warnings.filter_map(|w| w["code"].as_str()).collect()
}

/// Nine logs at a confidence of 0.9999: correct limits miss on at most 9 of 10,000 such sets of
/// seeds. (At 0.95 one of nine may well miss, and the limit of the broken randomized response does,
/// by 0.006.)
#[test]
#[ignore = "long"]
fn limits_of_the_drawn_logs_enclose_the_stated_bayes_security() {
    for (file, options, truth) in [
        ("randomized-response-correct.csv", &[][..], 0.699463),
        ("randomized-response-broken.csv", &[], 0.534638),
        (
            "randomized-response-counts.csv",
            &["--count", "rows"],
            0.699463,
        ),
        ("laplace.csv", &[], 0.105399),
        ("geometric.csv", &[], 0.636832),
        ("leak-free.csv", &[], 1.0),
        ("mixed.csv", &[], 0.610769),
        ("headerless.csv", &["--secret", "2"], 0.317311),
        (
            "membership-losses.csv",
            &["--scorer", "given", "--scores", "loss"],
            0.857064,
        ),
    ] {
        let report = estimate(file, &[options, &["--confidence", "0.9999"]].concat());
        let found = &report["overall"]["bayes_security"];
        let lower = found["lower"].as_f64().unwrap_or(0.0);
        let upper = found["upper"].as_f64().unwrap();
        assert!(
            lower <= truth && truth <= upper,
            "{file}: {truth} in [{lower}, {upper}]"
        );
        if options.is_empty() {
            assert!(warning_codes(&report).is_empty(), "{file}");
        }
    }
}

/// Times drift for all secrets alike, which are in random order; in the first log some secrets show it more than
/// others do.
#[test]
fn measured_logs_carry_the_warnings_that_the_readme_names() {
    for (file, expected) in [
        ("measured-comparison.csv", &["autocorrelation", "drift"][..]),
        ("measured-constant-time.csv", &[]),
    ] {
        let report = estimate(file, &[]);
        assert_eq!(warning_codes(&report), expected, "{file}");
        assert_eq!(report["input"]["rows"], 10_000, "{file}");
    }
}
