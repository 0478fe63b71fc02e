//! Limits of the total variation of single columns: chosen on other rows, no stronger than what they say of the pair.

use std::fs;

use leakgauge_testing::{at_most, rng};
use rand::{Rng, RngExt};

use crate::common::{Place, stdout};

const COLUMNS: usize = 12;

/// Columns uniform on [0, 1), the fifth shifted by so much for secret b: its total variation is the shift.
fn uniform(rows: usize, shift: f64, rng: &mut impl Rng) -> String {
    let names: Vec<String> = (1..=COLUMNS).map(|column| format!("s{column}")).collect();
    let mut text = format!("{},secret\n", names.join(","));
    for _ in 0..rows {
        let is_b = rng.random::<bool>();
        let common: f64 = rng.random();
        for column in 1..=COLUMNS {
            let value = match column {
                5 => rng.random::<f64>() + if is_b { shift } else { 0.0 },
                _ if column % 2 == 0 => common * f64::from(column as u32),
                _ => rng.random(),
            };
            text += &format!("{value:.9},");
        }
        text += if is_b { "b\n" } else { "a\n" };
    }
    text
}

fn estimate(place: &Place) -> serde_json::Value {
    place.json(&[
        "estimate",
        "log.csv",
        "--scorer",
        "threshold",
        "--budget",
        "1s",
    ])
}

#[test]
fn the_column_that_leaks_has_a_limit_that_the_pair_has_too() {
    let place = Place::with_log(uniform(2_000, 0.3, &mut rng(61)));
    let report = estimate(&place);
    let found = &report["column_limits"];
    assert_eq!(found["columns"].as_array().map(Vec::len), Some(5));
    assert_eq!(found["columns"][0]["column"], "s5");
    assert_eq!(found["method"], "kolmogorov-dkw");
    let lower = found["columns"][0]["lower"].as_f64().expect("a limit");
    assert!(lower > 0.1 && lower <= 0.3, "{lower}");
    let of_pair = report["worst_pair"]["total_variation"]["lower"].as_f64();
    assert!(
        of_pair.is_some_and(|of_pair| of_pair >= lower),
        "{of_pair:?} {lower}"
    );
    let level = report["level"].as_array().expect("the level");
    assert!(
        level.iter().any(|share| share["limit"] == "columns"),
        "{level:?}"
    );
    let all: f64 = level
        .iter()
        .filter_map(|share| share["share"].as_f64())
        .sum();
    assert!(all <= 1.0 + 1e-9, "{all}");
    let text = stdout(&place.run(&[
        "estimate",
        "log.csv",
        "--budget",
        "1s",
        "--full",
        "--columns-file",
        "c.csv",
        "--plots",
        "plots",
    ]));
    let text = text.replace('\n', " ");
    assert!(
        text.contains("in one column alone") && text.contains("s5 at least 0."),
        "{text}"
    );
    let read = |name: &str| fs::read_to_string(place.path().join(name)).expect("written");
    let table = read("c.csv");
    let limits = table.lines().filter(|line| !line.ends_with(',')).count();
    assert_eq!(limits, 6, "a header and five columns: {table}");
    assert!(read("plots/columns.svg").contains("tells secrets apart by itself"));
}

/// Logs at the default seed of the program: where nothing leaks no column has a limit, and where one does its limit is
/// rarely above its total variation.
#[test]
#[ignore = "long"]
fn limits_of_columns_are_rarely_beyond_the_truth() {
    const LOGS: usize = 100;
    let mut rng = rng(62);
    for shift in [0.0, 0.2] {
        let mut wrong = 0;
        for _ in 0..LOGS {
            let place = Place::with_log(uniform(400, shift, &mut rng));
            let report = estimate(&place);
            let columns = report["column_limits"]["columns"].as_array().cloned();
            let is_wrong = |column: serde_json::Value| {
                let truth = if column["column"] == "s5" { shift } else { 0.0 };
                column["lower"].as_f64().is_none_or(|lower| lower > truth)
            };
            wrong += usize::from(columns.expect("columns").into_iter().any(is_wrong));
        }
        assert!(wrong <= at_most(LOGS, 0.05), "{wrong} of {LOGS} at {shift}");
    }
}

/// Fewer columns have none.
#[test]
fn few_columns_have_no_limits_of_their_own() {
    let narrow: String = uniform(300, 0.3, &mut rng(63))
        .lines()
        .map(|line| {
            let fields: Vec<&str> = line.split(',').collect();
            format!("{},{},{}\n", fields[4], fields[2], fields[COLUMNS])
        })
        .collect();
    let report = estimate(&Place::with_log(narrow));
    assert!(report["column_limits"].is_null());
    let level = report["level"].to_string();
    assert!(!level.contains("columns"), "{level}");
}
