//! Numbers with words among them: neither the numbers nor the words may be lost.

use leakgauge::audit::{AuditOptions, audit};
use leakgauge::claim::Claim;
use leakgauge::log::{LogBuilder, ReadOptions, Value as LogValue, read_from};
use leakgauge::report::{Format, write_audit};
use rand::{Rng, RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution, Normal};
use serde_json::Value;

use crate::common::{Place, stderr};

/// Rows of two secrets: times around 100 with a spread of 10, later by `later` for the second secret, and a time-out
/// with the probability of its secret.
fn rows(count: usize, later: f64, timeouts: [f64; 2], seed: u64) -> Vec<(usize, Option<f64>)> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let normal = Normal::new(100.0, 10.0).expect("a positive spread");
    let row = |rng: &mut ChaCha8Rng| {
        let secret = rng.random_range(0..2usize);
        let time = normal.sample(rng) + if secret == 1 { later } else { 0.0 };
        let is_out = rng.random::<f64>() < timeouts[secret];
        // Rounded as it is written, so that values in memory are those of a file.
        let time = (time * 1e4).round() / 1e4;
        (secret, (!is_out).then_some(time))
    };
    (0..count).map(|_| row(&mut rng)).collect()
}

fn csv(rows: &[(usize, Option<f64>)], word: &str) -> String {
    let line = |(secret, time): &(usize, Option<f64>)| {
        let time = time.map_or(word.to_owned(), |time| time.to_string());
        format!("{secret},{time}\n")
    };
    rows.iter()
        .map(line)
        .fold("secret,time\n".to_owned(), |all, line| all + &line)
}

fn audited(place: &Place, arguments: &[&str], exit: i32) -> Value {
    let mut all = vec!["audit", "log.csv", "--format", "json", "--quick"];
    all.extend(arguments);
    let output = place.run(&all);
    assert_eq!(output.status.code(), Some(exit), "{}", stderr(&output));
    serde_json::from_slice(&output.stdout).expect("JSON")
}

fn warning<'r>(report: &'r Value, code: &str) -> Option<&'r str> {
    let warnings = report["warnings"].as_array().expect("a list");
    let found = warnings.iter().find(|warning| warning["code"] == code)?;
    found["message"].as_str()
}

#[test]
fn seven_timeouts_do_not_hide_a_leak() {
    let mut log = rows(4_000, 22.0, [0.0; 2], 1);
    for at in 0..7 {
        log[at * 571].1 = None;
    }
    let place = Place::with_log(csv(&log, "timeout"));
    let report = audited(
        &place,
        &[
            "--claim",
            "advantage(0.1)",
            "--claim",
            "attack-advantage(0.1)",
        ],
        1,
    );
    let observation = &report["input"]["observation"];
    assert_eq!(observation["kind"], "mixed");
    assert_eq!(observation["columns"][0]["type"], "mixed");
    for claim in report["claims"].as_array().unwrap() {
        assert_eq!(claim["verdict"], "violated");
        assert!(
            claim["estimate"]["lower"].as_f64().unwrap() > 0.63,
            "{claim}"
        );
        let reason = claim["reason"].as_str().unwrap();
        assert!(reason.contains("timeout in 7 rows"), "{reason}");
    }
    let message = warning(&report, "words-among-numbers").expect("a warning");
    assert!(
        message.contains("numbers in 3993 rows and 1 word in 7"),
        "{message}"
    );
}

#[test]
fn a_word_that_comes_late_is_one_like_others() {
    let mut log = rows(11_000, 22.0, [0.0; 2], 2);
    log[10_500].1 = None;
    let place = Place::with_log(csv(&log, "timeout"));
    let report = audited(&place, &["--claim", "advantage(0.1)"], 1);
    assert_eq!(report["input"]["observation"]["kind"], "mixed");
    assert!(warning(&report, "words-among-numbers").is_some());
}

#[test]
fn a_timeout_that_leaks_is_seen() {
    let log = rows(4_000, 0.0, [0.05, 0.4], 3);
    for word in ["timeout", "", "(null)"] {
        let place = Place::with_log(csv(&log, word));
        let report = audited(&place, &["--claim", "advantage(0.1)"], 1);
        let lower = report["claims"][0]["estimate"]["lower"].as_f64().unwrap();
        assert!((0.2..0.35).contains(&lower), "{lower}");
    }
}

#[test]
fn without_a_leak_the_verdict_names_the_words() {
    let log = rows(4_000, 0.0, [0.1; 2], 4);
    let place = Place::with_log(csv(&log, "timeout"));
    let claims = [
        "--claim",
        "attack-advantage(0.2)",
        "--claim",
        "advantage(0.2)",
    ];
    let report = audited(&place, &claims, 3);
    let verdicts = ["holds", "inconclusive"];
    for (claim, verdict) in report["claims"].as_array().unwrap().iter().zip(verdicts) {
        assert_eq!(claim["verdict"], verdict);
        let reason = claim["reason"].as_str().unwrap();
        assert!(
            reason.contains("a word in its place (timeout in"),
            "{reason}"
        );
    }
    // In bins there is an upper limit, for an observer that sees bins and words.
    let report = audited(
        &place,
        &["--resolution", "time=10", "--claim", "advantage(0.2)"],
        0,
    );
    assert_eq!(report["input"]["observation"]["kind"], "discrete");
    let reason = report["claims"][0]["reason"].as_str().unwrap();
    assert!(
        reason.contains("bins of 10") && reason.contains("timeout"),
        "{reason}"
    );
}

#[test]
fn integers_that_recur_with_words_are_discrete() {
    let mut rng = ChaCha8Rng::seed_from_u64(5);
    let line = |_| {
        let secret = rng.next_u32() % 2;
        match rng.next_u32() % 20 {
            0 => format!("{secret},ERR\n"),
            _ => format!("{secret},{}\n", rng.next_u32() % 40),
        }
    };
    let text: String = (0..6_000).map(line).collect();
    let place = Place::with_log("secret,size\n".to_owned() + &text);
    let report = audited(&place, &["--claim", "advantage(0.3)"], 0);
    let observation = &report["input"]["observation"];
    assert_eq!(
        (&observation["kind"], &observation["distinct"]),
        (&"discrete".into(), &41.into())
    );
    assert_eq!(observation["columns"][0]["type"], "mixed");
}

#[test]
fn a_claimed_mechanism_of_numbers_has_no_words() {
    let log = rows(3_000, 1.0, [0.01; 2], 6);
    let place = Place::with_log(csv(&log, "timeout"));
    let report = audited(&place, &["--claim", "gaussian(sigma=10)"], 3);
    let reason = report["claims"][0]["reason"].as_str().unwrap();
    assert!(
        reason.contains("\"timeout\", which this mechanism cannot produce"),
        "{reason}"
    );
}

#[test]
fn numbers_in_other_notations_are_refused_where_they_stand() {
    let times = |write: &dyn Fn(u32) -> String| {
        let line = |at: u32| format!("{},{}\n", at % 2, write(1_000 + at * 7919 % 9_000));
        (0..300)
            .map(line)
            .fold("secret,time\n".to_owned(), |all, line| all + &line)
    };
    let separated = |mark: &'static str| {
        move |time: u32| format!("\"{}{mark}{:03}\"", time / 1000, time % 1000)
    };
    let cases: [(&dyn Fn(u32) -> String, &str); 8] = [
        (&separated(","), "a thousands separator"),
        (&separated(" "), "thousands separators"),
        (&separated("'"), "thousands separators"),
        (&separated("_"), "thousands separators"),
        (&|time| format!("\"{time},5\""), "a decimal comma"),
        (&|time| format!("0x{time:X}"), "hexadecimal"),
        (&|time| format!("{:x}", time * 4057 % 65_536), "hexadecimal"),
        (
            &|time| format!("{time}{}", if time % 3 == 0 { "ms?" } else { "" }),
            "begins like a number",
        ),
    ];
    for (write, problem) in cases {
        let place = Place::with_log(times(write));
        place.refuses(
            &["estimate", "log.csv"],
            &["log.csv, row ", "time", problem, "--categorical time"],
        );
        place.json(&["estimate", "log.csv", "--quick", "--categorical", "time"]);
    }
}

#[test]
fn behind_the_first_rows_what_is_no_word_is_refused_too() {
    let log = csv(&rows(10_500, 0.0, [0.0; 2], 7), "");
    for (row, problem) in [
        ("0,\"1,234\"", "a comma"),
        ("0,0x1F", "hexadecimal"),
        ("0,12 ms", "begins like a number"),
    ] {
        let place = Place::with_log(format!("{log}{row}\n"));
        place.refuses(
            &["estimate", "log.csv"],
            &["row 10502, column time", problem],
        );
    }
    let place = Place::with_log(format!("{log}secret,time\n"));
    place.refuses(
        &["estimate", "log.csv"],
        &["row 10502", "repeats the header"],
    );
    let place = Place::with_log(format!("{log}1,time\n"));
    place.refuses(
        &["estimate", "log.csv"],
        &["row 10502, column time", "is the name of the column"],
    );
    let place = Place::with_log(format!("{log}0,slow\n"));
    place.refuses(
        &["estimate", "log.csv", "--numeric", "time"],
        &["row 10502, column time", "is not a number"],
    );
}

/// The report without what is said of the file and of who typed its columns.
fn report(log: &leakgauge::log::Log) -> Value {
    let options = AuditOptions {
        claims: vec![Claim::parse("advantage(0.1)").expect("a claim")],
        ..AuditOptions::default()
    };
    let findings = audit(log, &options).expect("audited");
    let mut out = Vec::new();
    write_audit(&findings, Format::Json, &mut out).expect("written");
    let mut report: Value = serde_json::from_slice(&out).expect("JSON");
    let input = report["input"].take();
    report["input"] = input["observation"].clone();
    report
        .as_object_mut()
        .expect("an object")
        .remove("assumptions");
    report
}

#[test]
fn every_format_gives_the_same_report() {
    let rows = rows(1_500, 5.0, [0.1, 0.2], 8);
    let word = |at: usize| [Some("timeout"), Some(""), None][at % 3];
    let text = |delimiter: char| {
        let lines = rows.iter().enumerate().map(|(at, (secret, time))| {
            let time = time.map_or(word(at).unwrap_or("(null)").to_owned(), |time| {
                time.to_string()
            });
            format!("{secret}{delimiter}{time}\n")
        });
        lines.fold(format!("secret{delimiter}time\n"), |all, line| all + &line)
    };
    let lines = rows.iter().enumerate().map(|(at, (secret, time))| {
        let time = time.map_or_else(|| Value::from(word(at)), Value::from);
        format!("{{\"secret\":\"{secret}\",\"time\":{time}}}\n")
    });
    let read = |name: &str, text: String| {
        let text = std::io::Cursor::new(text);
        report(&read_from(name, text, &ReadOptions::default()).expect("read"))
    };
    let expected = read("log.csv", text(','));
    assert!(read("log.tsv", text('\t')) == expected);
    assert!(read("log.jsonl", lines.collect()) == expected);
    let secrets: Vec<String> = rows.iter().map(|row| row.0.to_string()).collect();
    let values = rows.iter().enumerate();
    let values: Vec<LogValue> = values
        .map(|(at, (_, time))| time.map_or_else(|| word(at).into(), LogValue::Number))
        .collect();
    let columns = LogBuilder::new().secrets(&secrets).mixed("time", &values);
    assert_eq!(report(&columns.build().expect("built")), expected);
    let mut pushed = LogBuilder::new().mixed_column("time");
    for (secret, value) in secrets.iter().zip(values) {
        pushed.push(secret, &[value]).expect("pushed");
    }
    assert!(report(&pushed.build().expect("built")) == expected);
}
