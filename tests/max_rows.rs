//! `--max-rows`: logs with more different rows than fit in memory.

use std::fmt::Write;

use crate::common::{Place, gzip, numeric_log, stdout};
use leakgauge::log::{ReadOptions, read_from};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use serde_json::{Value, json};

const ESTIMATE: [&str; 5] = ["estimate", "log.csv", "--quick", "--scorer", "threshold"];

fn with<'a>(more: &[&'a str]) -> Vec<&'a str> {
    [&ESTIMATE[..], more].concat()
}

/// So many rows of every secret, shuffled, with times that are all different and `b` half a unit later.
fn log_with(secrets: &[(&str, usize)], seed: u64) -> String {
    use rand::seq::SliceRandom;
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let all = secrets
        .iter()
        .flat_map(|&(secret, rows)| vec![secret; rows]);
    let mut rows: Vec<&str> = all.collect();
    rows.shuffle(&mut rng);
    let mut text = "secret,time\n".to_owned();
    for secret in rows {
        let time = rng.random::<f64>() + if secret == "b" { 0.5 } else { 0.0 };
        writeln!(text, "{secret},{time:.12}").unwrap();
    }
    text
}

#[test]
fn up_to_the_limit_nothing_changes_and_one_row_beyond_a_sample_is_used() {
    let place = Place::with_log(log_with(&[("a", 1000), ("b", 1000)], 1));
    let plain = place.run(&with(&["--format", "json"])).stdout;
    for most in ["2000", "2001", "1000000"] {
        let limited = place.run(&with(&["--format", "json", "--max-rows", most]));
        assert!(limited.stdout == plain, "--max-rows {most}");
    }
    let sampled = place.json(&with(&["--max-rows", "1999"]));
    assert_eq!(sampled["input"]["rows"], 2000);
    assert_eq!(sampled["input"]["rows_used"], 1998);
    assert_eq!(
        sampled["input"]["sampled"],
        json!({
            "max_rows": 1999, "cap": 999, "rows_used": 1998, "rows": 2000,
            "secrets": [{"label": "a", "rows": 1000}, {"label": "b", "rows": 1000}]
        })
    );
}

#[test]
fn counts_are_exact_however_many_rows_there_are_of_few_different_ones() {
    // 60,000 rows, at most 1,000 · 2 different ones.
    let mut text = "secret,code\n".to_owned();
    for row in 0..60_000u64 {
        let code = (row * row + row / 7) % 499;
        writeln!(text, "{},{code}", ["a", "b"][(row % 3 == 0) as usize]).unwrap();
    }
    let place = Place::with_log(text);
    let plain = place.run(&with(&["--format", "json"])).stdout;
    let limited = place.run(&with(&["--format", "json", "--max-rows", "1000"]));
    assert!(limited.stdout == plain);
}

#[test]
fn a_sample_has_the_same_number_of_every_secret_but_all_rows_of_rare_ones() {
    let place = Place::with_log(log_with(&[("a", 6000), ("b", 3000), ("c", 150)], 2));
    let found = place.json(&with(&["--max-rows", "1500", "--prior", "empirical"]));
    assert_eq!(
        found["input"]["secrets"],
        json!([{"label": "a", "rows": 675}, {"label": "b", "rows": 675}, {"label": "c", "rows": 150}])
    );
    assert_eq!(found["input"]["sampled"]["cap"], 675);
    assert_eq!(found["input"]["observation"]["distinct"], 1500);
    // The prior is that of the log, not of the sample.
    let guessing = found["overall"]["guessing_error"].as_f64().unwrap();
    assert!((guessing - 3150.0 / 9150.0).abs() < 1e-12, "{guessing}");
    let lower = found["worst_pair"]["total_variation"]["lower"].as_f64();
    assert!(lower.unwrap() > 0.3, "{lower:?}");
    let text = stdout(&place.run(&with(&["--full", "--max-rows", "1500"])));
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    for words in [
        "9150 rows read, 1500 used",
        "more than 1500 different rows",
        "a random sample of 1500 of 9150 rows, at most 675 of each secret",
        "stay valid",
    ] {
        assert!(text.contains(words), "{words:?} is not in: {text}");
    }
    let markdown = place.run(&with(&[
        "--max-rows",
        "1500",
        "--format",
        "markdown",
        "--html",
        "r.html",
    ]));
    assert!(stdout(&markdown).contains("a random sample of 1500 of 9150 rows"));
    let page = std::fs::read_to_string(place.path().join("r.html")).unwrap();
    assert!(page.contains("a random sample of 1500 of 9150 rows"));
}

#[test]
fn the_same_seed_is_the_same_sample_for_any_number_of_threads_and_any_packing() {
    let text = log_with(&[("a", 4000), ("b", 4000)], 3);
    let place = Place::with_log(&text).file("packed.csv.gz", gzip(text.as_bytes()));
    let run = |more: &[&str]| {
        let all = [&["--max-rows", "1000", "--format", "json"], more].concat();
        place.run(&with(&all)).stdout
    };
    let one = run(&["--threads", "1"]);
    assert!(run(&["--threads", "3"]) == one && run(&[]) == one);
    assert!(run(&["--seed", "1"]) != one);
    let mut packed: Value = place.json(&[
        "estimate",
        "packed.csv.gz",
        "--quick",
        "--scorer",
        "threshold",
        "--max-rows",
        "1000",
    ]);
    packed["input"]["files"] = json!(["log.csv"]);
    assert_eq!(packed, serde_json::from_slice::<Value>(&one).unwrap());
}

#[test]
fn rows_of_an_aggregated_log_are_sampled_as_if_they_stood_there_one_by_one() {
    // 3,000 observations of each secret, one of them with a third of all rows.
    let mut text = "secret,code,n\n".to_owned();
    for code in 0..3000u64 {
        let often = if code == 7 {
            1_500_000_000_000u64
        } else {
            1_000_000_000
        };
        writeln!(text, "a,x{code},{often}\nb,x{code},1000000000").unwrap();
    }
    let options = ReadOptions {
        count: Some("n".to_owned()),
        max_rows: Some(5000),
        ..ReadOptions::default()
    };
    let log = read_from("log", std::io::Cursor::new(text), &options).unwrap();
    assert_eq!(log.counts.rows(), [2500, 2500]);
    assert_eq!(log.rows_of_secrets()[1], 3_000_000_000_000);
    let largest = log
        .counts
        .cells()
        .iter()
        .map(|cell| cell.count)
        .max()
        .unwrap();
    // A third of 2,500, ± 4 standard deviations of 24.
    assert!((740..930).contains(&largest), "{largest}");
}

#[test]
fn the_log_to_learn_on_is_sampled_by_itself() {
    let place = Place::with_log(log_with(&[("a", 400), ("b", 400)], 4))
        .file("learn.csv", log_with(&[("a", 3000), ("b", 700)], 5));
    let found = place.json(&with(&["--max-rows", "1200", "--fit-on", "learn.csv"]));
    assert_eq!(found["input"]["rows_used"], 800);
    assert_eq!(found["input"]["sampled"], Value::Null);
    assert_eq!(found["input"]["fit_on_sampled"]["cap"], 600);
    assert_eq!(found["input"]["fit_on_sampled"]["rows"], 3700);
    assert_eq!(found["method"]["rows"]["certify"], 800);
    let learned = &found["method"]["rows"];
    assert_eq!(
        learned["fit"].as_u64().unwrap() + learned["tune"].as_u64().unwrap(),
        1200
    );
    let all = ["--full", "--max-rows", "1200", "--fit-on", "learn.csv"];
    let text = stdout(&place.run(&with(&all)));
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(text.contains("learn.csv, a random sample of 1200 of 3700 rows, at most 600 of each"));
}

#[test]
fn own_scores_are_sampled_too() {
    let place = Place::with_log(log_with(&[("a", 3000), ("b", 3000)], 6));
    let found = place.json(&[
        "estimate",
        "log.csv",
        "--scorer",
        "given",
        "--scores",
        "time",
        "--max-rows",
        "2000",
    ]);
    assert_eq!(found["input"]["rows_used"], 2000);
    assert_eq!(found["method"]["rows"]["certify"], 1500);
    let lower = found["worst_pair"]["total_variation"]["lower"]
        .as_f64()
        .unwrap();
    assert!(lower > 0.4 && lower < 0.5, "{lower}");
}

#[test]
fn the_order_of_all_rows_is_looked_at_whatever_is_in_the_sample() {
    // The times of both secrets grow through the log, and so does the share of one of them.
    let mut text = numeric_log(0);
    let mut rng = ChaCha8Rng::seed_from_u64(9);
    for row in 0..6000 {
        let late = f64::from(row) / 6000.0;
        let secret = ["a", "b"][usize::from(rng.random::<f64>() < 0.2 + 0.6 * late)];
        let time = rng.random::<f64>() + late;
        writeln!(text, "{secret},{time:.9}").unwrap();
    }
    let place = Place::with_log(text);
    let all = place.json(&ESTIMATE);
    let sampled = place.json(&with(&["--max-rows", "1000"]));
    assert_eq!(sampled["warnings"], all["warnings"]);
    assert!(all["warnings"].to_string().contains("drift"));
}

#[test]
fn advice_to_take_more_rows_says_that_the_log_has_them() {
    let place = Place::with_log(log_with(&[("a", 6000), ("b", 6000)], 10));
    let how = ["--quick", "--scorer", "threshold", "--max-rows", "1000"];
    let estimate = place.json(&[&["estimate", "log.csv"], &how[..]].concat());
    // Between the estimate and its upper limit, so that the sample cannot decide.
    let attack = &estimate["worst_pair"]["attack_advantage"];
    let [point, upper] = ["point", "upper"].map(|key| attack[key].as_f64().unwrap());
    let claim = format!("attack-advantage({})", 0.5 * (point + upper));
    let audit = [&["audit", "log.csv", "--claim", &claim], &how[..]].concat();
    let output = place.run(&[&audit[..], &["--format", "json"]].concat());
    assert_eq!(output.status.code(), Some(3));
    let found: Value = serde_json::from_slice(&output.stdout).unwrap();
    let claim = &found["claims"][0];
    let reason = claim["reason"].as_str().unwrap();
    assert!(claim["rows_needed"].as_u64().unwrap() > 1000);
    assert!(
        reason.contains("1000 of the log's 12000 rows were used. --max-rows"),
        "{reason}"
    );
}

#[test]
fn limits_that_cannot_work_are_refused() {
    let place = Place::with_log(log_with(&[("a", 1500), ("b", 1500)], 7));
    for most in ["0", "999"] {
        place.refuses(
            &with(&["--max-rows", most]),
            &["--max-rows", "at least 1000", "1000000"],
        );
    }
    place.refuses(
        &with(&["--max-rows", "2000", "--split", "blocks"]),
        &[
            "--split blocks",
            "more than 2000",
            "larger --max-rows",
            "--split random",
        ],
    );
    place.refuses(
        &with(&["--max-rows", "2000", "--follow"]),
        &["--max-rows", "--follow"],
    );
    let mut many = "secret,time\n".to_owned();
    for row in 0..3000 {
        writeln!(many, "s{},{}.5", row % 30, row * row).unwrap();
    }
    Place::with_log(many).refuses(
        &with(&["--max-rows", "2500"]),
        &[
            "log.csv",
            "--max-rows 2500 leaves 83 rows",
            "30",
            "at least 3000",
            "--secrets",
        ],
    );
}

#[test]
fn a_row_1_of_words_is_doubted_whether_it_is_in_the_sample_or_not() {
    let text = |again: bool| {
        let mut text = "who,what\n".to_owned();
        for row in 0..3000 {
            writeln!(text, "{},w{}", ["a", "b"][row % 2], (row * 7919) % 2999).unwrap();
        }
        if again {
            text += "who,what\n";
        }
        text
    };
    let options = [
        "estimate",
        "log.csv",
        "--quick",
        "--secret",
        "1",
        "--max-rows",
        "1000",
    ];
    Place::with_log(text(false)).refuses(&options, &["looks like a header", "--no-header"]);
    let found = Place::with_log(text(true)).json(&options);
    assert_eq!(found["input"]["sampled"]["rows"], 3002);
}

/// Every row is in the sample equally often, wherever it stands: before the sample began or after.
#[test]
#[ignore = "long"]
fn every_row_is_sampled_with_the_same_probability() {
    let rows = 5000;
    let mut text = "secret,time\n".to_owned();
    for row in 0..rows {
        writeln!(text, "{},{row}.25", ["a", "b"][row % 2]).unwrap();
    }
    let draws = 400;
    let mut kept = [0.0; 10];
    for seed in 0..draws {
        let options = ReadOptions {
            max_rows: Some(1000),
            seed,
            ..ReadOptions::default()
        };
        let log = read_from("log", std::io::Cursor::new(text.clone()), &options).unwrap();
        for cell in log.counts.cells() {
            let row = log.observations.numbers(cell.symbol)[0] as usize;
            kept[10 * row / rows] += 1.0;
        }
    }
    // 500 rows a tenth, each in the sample with probability 1/5; variances are below binomial ones.
    let expected = f64::from(draws as u32) * 100.0;
    for (tenth, kept) in kept.iter().enumerate() {
        let z = (kept - expected) / (0.8 * expected).sqrt();
        assert!(z.abs() < 4.0, "{tenth}: {kept}, {expected} expected");
    }
}

#[test]
fn logs_that_are_compared_are_sampled_each_and_say_so() {
    let place = Place::with_log(log_with(&[("a", 1500), ("b", 1500)], 11))
        .file("later.csv", log_with(&[("a", 400), ("b", 400)], 12));
    let compare = [
        "compare",
        "log.csv",
        "later.csv",
        "--quick",
        "--scorer",
        "threshold",
        "--max-rows",
        "1000",
    ];
    let found = place.json(&compare);
    assert_eq!(found["logs"][0]["sampled"]["rows"], 3000);
    assert_eq!(found["logs"][1]["sampled"], Value::Null);
    let short = stdout(&place.run(&compare));
    assert!(
        short.contains("Check log.csv: a random sample of its 3000 rows was used."),
        "{short}"
    );
    let text = stdout(&place.run(&[&compare[..], &["--full"]].concat()));
    assert!(
        text.contains("1000 rows used (a random sample of 3000)"),
        "{text}"
    );
}
