//! Logs made to mislead: what the program must not say about them.

use leakgauge::audit::{AuditOptions, Findings, Verdict, audit};
use leakgauge::claim::Claim;
use leakgauge::exact::mechanism;
use leakgauge::exact::simulate::Simulation;
use leakgauge::log::{HeaderChoice, ReadMeter, ReadOptions, read, read_from};
use leakgauge::report::sentences::claims::reason;

fn claimed(claims: &[&str]) -> AuditOptions {
    AuditOptions {
        claims: claims
            .iter()
            .map(|claim| Claim::parse(claim).expect("a claim"))
            .collect(),
        ..AuditOptions::default()
    }
}

fn judged(csv: String, options: &ReadOptions, claims: &[&str]) -> Findings {
    let log = read_from("log.csv", std::io::Cursor::new(csv), options).expect("a good log");
    audit(&log, &claimed(claims)).expect("a log that can be audited")
}

fn log(rows: impl IntoIterator<Item = (String, String)>) -> String {
    let rows = rows
        .into_iter()
        .map(|(secret, seen)| format!("{secret},{seen}\n"));
    "secret,seen\n".to_owned() + &rows.collect::<String>()
}

fn drawn(mechanism: &str, rows: usize) -> String {
    let mechanism = mechanism::parse(mechanism).expect("a mechanism");
    let simulation = Simulation::new(&*mechanism, 5).expect("secrets are declared");
    log(simulation
        .take(rows)
        .map(|(secret, fields)| (secret, fields.join(","))))
}

fn resolution(width: f64) -> ReadOptions {
    ReadOptions {
        resolution: vec![("seen".into(), width)],
        ..ReadOptions::default()
    }
}

/// Times since 1970 in milliseconds, in bins of a second: a stands in even seconds, b in odd ones.
#[test]
fn bins_far_from_zero_are_the_bins_named() {
    let rows = (0..2000u64).map(|i| {
        let (secret, offset) = if i % 2 == 0 { ("a", 700) } else { ("b", 1100) };
        let time = 1_700_000_000_000 + 2000 * (i * 7919 % 10) + offset;
        (secret.to_owned(), time.to_string())
    });
    let found = judged(log(rows), &resolution(1000.0), &["advantage(0.05)"]);
    assert_eq!(
        found.claims[0].verdict,
        Verdict::Violated,
        "{:?}",
        found.claims[0]
    );
}

/// Beyond 2^53 neighboring integers are one number: what they tell must not be called nothing.
#[test]
fn integers_too_large_to_tell_apart_certify_nothing_from_above() {
    let rows = (0..4000u64).map(|i| {
        let value = (1u64 << 53) + 64 * (i * 7919 % 40) + i % 2;
        ((i % 2).to_string(), value.to_string())
    });
    let found = judged(log(rows), &ReadOptions::default(), &["advantage(0.05)"]);
    assert_ne!(found.claims[0].verdict, Verdict::Holds);
    assert_eq!(found.worst_pair.total_variation.upper, None);
}

/// A mechanism over ten secrets is not one over two because only two are looked at.
#[test]
fn narrowing_to_two_secrets_does_not_change_the_mechanism_claimed() {
    let csv = drawn("randomized-response(epsilon=2, secrets=10)", 40_000);
    let narrowed = ReadOptions {
        secrets: vec!["0".into(), "1".into()],
        ..ReadOptions::default()
    };
    let claim = ["randomized-response(epsilon=1)"];
    let whole = judged(csv.clone(), &ReadOptions::default(), &claim);
    let narrow = judged(csv, &narrowed, &claim);
    assert_eq!(whole.claims[0].analytic, narrow.claims[0].analytic);
    assert_ne!(narrow.claims[0].verdict, Verdict::Holds);
}

/// Randomized response over three secrets, in a log of two: the third answer is impossible.
#[test]
fn a_log_with_observations_that_the_mechanism_cannot_produce_never_holds() {
    let rows = (0..40_000u32).map(|i| {
        let secret = i % 2;
        let seen = match i / 2 % 100 {
            0..40 => secret,
            40..70 => 1 - secret,
            _ => 2,
        };
        (secret.to_string(), seen.to_string())
    });
    let found = judged(
        log(rows),
        &ReadOptions::default(),
        &["randomized-response(epsilon=1)"],
    );
    assert_ne!(found.claims[0].verdict, Verdict::Holds);
    assert!(
        reason(&found.claims[0]).contains("cannot produce"),
        "{}",
        reason(&found.claims[0])
    );
}

#[test]
fn the_way_a_number_is_written_is_no_leak() {
    let rows = (0..4000u32).map(|i| {
        let value = i * 7919 % 1009 % 4;
        let (secret, text) = match i % 2 {
            0 => ("a", value.to_string()),
            _ => ("b", format!("{value}.0")),
        };
        (secret.to_owned(), text)
    });
    let found = judged(log(rows), &ReadOptions::default(), &["advantage(0.1)"]);
    assert_ne!(
        found.claims[0].verdict,
        Verdict::Violated,
        "{:?}",
        found.claims[0]
    );
}

#[test]
fn a_blank_behind_a_label_is_a_leak() {
    let rows = (0..2000).map(|i| match i % 2 {
        0 => ("a".to_owned(), "ok".to_owned()),
        _ => ("b".to_owned(), "ok ".to_owned()),
    });
    let found = judged(log(rows), &ReadOptions::default(), &["advantage(0.05)"]);
    assert_eq!(found.claims[0].verdict, Verdict::Violated);
}

#[test]
fn a_blank_after_every_delimiter_is_layout() {
    let rows = (0..2000).map(|i| ((i % 2).to_string(), format!(" {}", i % 2)));
    let found = judged(
        log(rows),
        &ReadOptions::default(),
        &["randomized-response(epsilon=20)"],
    );
    assert_eq!(
        found.claims[0].fit.as_ref().and_then(|fit| fit.p_value),
        Some(1.0)
    );
}

/// A secret that only the learning log has is no candidate for the worst pair of the other.
#[test]
fn the_worst_pair_is_one_that_can_be_judged() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = |name: &str, csv: String| {
        let path = folder.path().join(name);
        std::fs::write(&path, csv).expect("a file");
        path.display().to_string()
    };
    let rows = |secrets: u32| {
        (0..6000 * secrets / 2).map(move |i| {
            let secret = i % secrets;
            let seen = match secret {
                2 => 9,
                _ => u32::from(i / secrets % 10 < 2) ^ secret,
            };
            (secret.to_string(), seen.to_string())
        })
    };
    let options = ReadOptions {
        files: vec![file("judged.csv", log(rows(2)))],
        fit_on: Some(file("learn.csv", log(rows(3)))),
        ..ReadOptions::default()
    };
    let log = read(&options, &ReadMeter::default()).expect("good logs");
    let found = audit(&log, &claimed(&["advantage(0.1)"])).expect("good logs");
    assert_eq!(found.worst_pair.secrets, ["0", "1"]);
    assert_eq!(found.claims[0].verdict, Verdict::Violated);
}

/// A correct log, in bins or not, fits its mechanism (alarm level 1e-4 each).
#[test]
fn goodness_of_fit_knows_bins() {
    let csv = drawn("geometric(nu=0.1, secrets=0..2)", 30_000);
    for options in [ReadOptions::default(), resolution(5.0), resolution(2.5)] {
        let found = judged(csv.clone(), &options, &["geometric(nu=0.1)"]);
        let p_value = found.claims[0]
            .fit
            .as_ref()
            .and_then(|fit| fit.p_value)
            .expect("a test");
        assert!(p_value > 1e-4, "{:?}: {p_value}", options.resolution);
    }
}

/// Laplace noise that was rounded to steps of 0.05, which two decimals do not tell: it fits, and the report says how it
/// was read (alarm level 1e-4).
#[test]
fn goodness_of_fit_knows_the_steps_of_the_log() {
    let mechanism = mechanism::parse("laplace(scale=1, secrets=0..1)").expect("a mechanism");
    let simulation = Simulation::new(&*mechanism, 5).expect("secrets are declared");
    let rounded = |text: &str| {
        let value: f64 = text.parse().expect("a number");
        format!("{:.2}", (value / 0.05).round() * 0.05)
    };
    let csv = log(simulation
        .take(20_000)
        .map(|(secret, fields)| (secret, rounded(&fields[0]))));
    let found = judged(csv, &ReadOptions::default(), &["laplace(scale=1)"]);
    let fit = found.claims[0].fit.as_ref().expect("a test");
    assert!(fit.p_value.expect("a law of numbers") > 1e-4, "{fit:?}");
    let sentence = leakgauge::report::sentences::fit::fit(fit);
    assert!(
        sentence.contains("Column seen was read as multiples of 0.05 ("),
        "{sentence}"
    );
    let report = leakgauge::report::json(&found).expect("JSON");
    let report: serde_json::Value = serde_json::from_str(&report).expect("JSON");
    let grid = &report["claims"][0]["fit"]["grids"][0];
    assert_eq!(grid["grid"], "step");
    assert_eq!(grid["step"], 0.05);
    assert!(grid["rounding"].is_string(), "{grid}");
}

/// The rows named for proving (ε, δ) are enough, give or take chance.
#[test]
fn the_rows_that_would_prove_differential_privacy_are_named() {
    let mechanism = "randomized-response(epsilon=1, secrets=3)";
    let claim = ["dp(epsilon=1.2, delta=0.02)"];
    let few = judged(drawn(mechanism, 6_000), &ReadOptions::default(), &claim);
    assert_eq!(few.claims[0].verdict, Verdict::Inconclusive);
    let rows = few.claims[0].rows_needed.expect("rows are named");
    assert!((10_000..2_000_000).contains(&rows), "{rows}");
    let enough = judged(
        drawn(mechanism, 2 * rows as usize),
        &ReadOptions::default(),
        &claim,
    );
    assert_eq!(
        enough.claims[0].verdict,
        Verdict::Holds,
        "{:?}",
        enough.claims[0]
    );
}

/// A header of words above words is not to be taken for a secret that was seen once.
#[test]
fn a_row_of_words_that_occur_nowhere_else_is_not_guessed_about() {
    let rows = (0..200).map(|i| format!("{},{}\n", ["yes", "no"][i % 2], ["yes", "no"][i / 2 % 2]));
    let csv = "truth,answer\n".to_owned() + &rows.collect::<String>();
    let by_number = ReadOptions {
        secret: Some("1".into()),
        ..ReadOptions::default()
    };
    let input = std::io::Cursor::new(csv.clone());
    let message = read_from("log.csv", input, &by_number)
        .expect_err("unclear")
        .to_string();
    assert!(message.contains("`header = present`"), "{message}");
    for (header, secrets) in [(HeaderChoice::Present, 2), (HeaderChoice::Absent, 3)] {
        let said = ReadOptions {
            header,
            ..by_number.clone()
        };
        let log = read_from("log.csv", std::io::Cursor::new(csv.clone()), &said).expect("said");
        assert_eq!(log.secrets.len(), secrets);
    }
}

#[test]
fn numbers_of_several_things_are_warned_about_and_a_decimal_comma_is_refused() {
    let rows = (0..400u32).map(|i| ((i % 2).to_string(), format!("\"0,{i}\"")));
    let csv = std::io::Cursor::new(log(rows));
    let refused = read_from("log.csv", csv, &ReadOptions::default()).expect_err("commas");
    let message = refused.to_string();
    assert!(message.contains("row 2, column "), "{message}");
    assert!(message.contains("decimal comma"), "{message}");
    let written = |i: u32| format!("0.{i} {}", ["apples", "pieces"][i as usize % 2]);
    let rows = (0..400u32).map(|i| ((i % 2).to_string(), written(i)));
    let found = judged(log(rows), &ReadOptions::default(), &["advantage(0.9)"]);
    let mut codes = found.warnings.iter().map(|warning| warning.code());
    assert!(codes.any(|code| code == "numbers-as-labels"));
}

/// Points of the plane as secrets, in one column or in two.
#[test]
fn a_secret_may_be_two_columns() {
    let one = drawn_points();
    let two = one
        .replace("0;0,", "0,0,")
        .replace("1;0,", "1,0,")
        .replace("secret,", "sx,sy,");
    let claim = ["planar-laplace(scale=1)"];
    let options = ReadOptions {
        secret: Some("sx,sy".into()),
        ..ReadOptions::default()
    };
    let [of_one, of_two] = [
        judged(one, &ReadOptions::default(), &claim),
        judged(two, &options, &claim),
    ];
    assert_eq!(of_one.worst_pair.secrets, ["0;0", "1;0"]);
    assert_eq!(
        of_one.worst_pair.total_variation,
        of_two.worst_pair.total_variation
    );
    assert_eq!(of_two.input.facts.secret_column, "sx,sy");
    assert_ne!(of_two.claims[0].verdict, Verdict::Violated);
}

fn drawn_points() -> String {
    let mechanism = mechanism::parse("planar-laplace(scale=1)").expect("a mechanism");
    let labels = ["0;0".to_owned(), "1;0".to_owned()];
    let simulation = Simulation::over(&*mechanism, labels.to_vec(), 5).expect("points");
    let rows = simulation
        .take(1500)
        .map(|(secret, fields)| format!("{secret},{}\n", fields.join(",")));
    "secret,x,y\n".to_owned() + &rows.collect::<String>()
}
