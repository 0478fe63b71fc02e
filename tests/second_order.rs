//! Masked traces: no sample tells the secret, two together do.

use std::fs;

use leakgauge_testing::rng;
use rand::RngExt;
use rand_distr::{Distribution, StandardNormal};

use crate::common::{Place, stderr, stdout};

const ROWS: usize = 800;
const SAMPLES: usize = 12;

/// Two shares of a byte, 0 or random: the Hamming weight of the mask in sample 4, that of the masked byte in sample 9.
fn masked(seed: u64) -> String {
    let mut rng = rng(seed);
    let names: Vec<String> = (1..=SAMPLES).map(|sample| format!("t{sample}")).collect();
    let mut text = format!("{},secret\n", names.join(","));
    for _ in 0..ROWS {
        let (is_fixed, mask) = (rng.random::<bool>(), rng.random::<u8>());
        let value = if is_fixed { 0 } else { rng.random::<u8>() };
        for sample in 1..=SAMPLES {
            let noise: f64 = StandardNormal.sample(&mut rng);
            let share = match sample {
                4 => f64::from(mask.count_ones()),
                9 => f64::from((value ^ mask).count_ones()),
                _ => 0.0,
            };
            text += &format!("{},", (8.0 * (share + 1.5 * noise)).round());
        }
        text += if is_fixed { "fixed\n" } else { "random\n" };
    }
    text
}

const AUDIT: [&str; 6] = [
    "audit",
    "log.csv",
    "--budget",
    "1s",
    "--claim",
    "advantage(0)",
];

#[test]
fn shares_of_a_masked_byte_are_found_in_their_product() {
    let place = Place::with_log(masked(5));
    let report = |more: &[&str]| {
        let output = place.run(&[&AUDIT, more, &["--format", "json"]].concat());
        let report: serde_json::Value = serde_json::from_str(&stdout(&output))
            .unwrap_or_else(|_| panic!("{}", stderr(&output)));
        (output.status.code(), report)
    };
    let (_, first) = report(&[]);
    assert_eq!(
        first["leaking_columns"]["leaking"].as_array().map(Vec::len),
        Some(0)
    );
    assert_eq!(first["leaking_columns"]["products"], 0);
    let (code, second) = report(&["--order", "2", "--columns-file", "columns.csv"]);
    let found = &second["leaking_columns"];
    assert_eq!((code, &found["tested"]), (Some(1), &SAMPLES.into()));
    assert_eq!(found["products"], SAMPLES * (SAMPLES + 1) / 2);
    let names: Vec<&str> = found["leaking"]
        .as_array()
        .expect("columns")
        .iter()
        .filter_map(|column| column["column"].as_str())
        .collect();
    assert_eq!(names, ["t4 × t9"], "{found}");
    assert!(
        found["leaking"][0]["p_value"]
            .as_f64()
            .is_some_and(|p| p < 1e-3)
    );
    let table = fs::read_to_string(place.path().join("columns.csv")).expect("written");
    assert_eq!(
        table.lines().count(),
        1 + SAMPLES + SAMPLES * (SAMPLES + 1) / 2
    );
    assert!(
        table.contains("\nt4²,") && table.contains("\nt4 × t9,mean,"),
        "{table}"
    );
    let text = stdout(&place.run(&[&AUDIT[..], &["--order", "2", "--html", "page.html"]].concat()));
    let line = "Of 12 columns of numbers and 78 products of two one stands out: t4 × t9 (p < 1e-";
    assert!(text.replace("\n  ", " ").contains(line), "{text}");
    let page = fs::read_to_string(place.path().join("page.html")).expect("written");
    assert!(page.contains("t4 × t9"), "the page");
}

/// Products of more columns than can be multiplied are those of windows, and the report says what to do.
#[test]
fn of_many_columns_windows_are_multiplied() {
    let narrow = masked(6);
    // Whether products are tested hangs on the columns; fewer rows are soon multiplied.
    let wide: String = narrow
        .lines()
        .take(601)
        .enumerate()
        .map(|(row, line)| {
            let more: Vec<String> = (0..110)
                .map(|column| match row {
                    0 => format!("u{column}"),
                    _ => ((row * (37 + column)) % 211).to_string(),
                })
                .collect();
            format!("{},{line}\n", more.join(","))
        })
        .collect();
    let place = Place::with_log(wide);
    let arguments = ["estimate", "log.csv", "--order", "2", "--budget", "1s"];
    let arguments = [&arguments[..], &["--full", "--columns-file", "columns.csv"]].concat();
    let text = stdout(&place.run(&arguments)).replace('\n', " ");
    let table = fs::read_to_string(place.path().join("columns.csv")).expect("written");
    let products = table.lines().filter(|line| line.contains(['×', '²']));
    assert_eq!(products.count(), 60 * 61 / 2);
    assert_eq!(table.lines().count(), 1 + 122 + 60 * 61 / 2);
    assert!(
        text.contains("means of up to 3 neighbors") && text.contains("--observe A..B"),
        "{text}"
    );
}

#[test]
fn products_are_refused_where_columns_are_not_tested() {
    let place = Place::with_log(masked(7)).file(
        "one.csv",
        "secret,x\na,1.5\nb,2.5\n".to_owned() + &"a,1.25\nb,2.25\n".repeat(40),
    );
    for (more, words) in [
        (&["--quick"][..], &["--order 2", "--quick"][..]),
        (&["--group", "t1"], &["--order 2", "independent rows"]),
        (&["--split", "blocks"], &["--order 2", "independent rows"]),
    ] {
        let arguments = [&["estimate", "log.csv", "--order", "2"], more].concat();
        place.refuses(&arguments, words);
    }
    place.refuses(
        &["estimate", "one.csv", "--order", "2"],
        &["--order 2", "two columns of numbers"],
    );
    let output = place.run(&["estimate", "log.csv", "--order", "3"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("1..=2"), "{}", stderr(&output));
}
