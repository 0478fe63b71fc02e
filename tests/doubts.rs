//! Doubts that take a verdict away: nothing is said to hold where attacks learned nothing, or rows may not be what they seem.

use leakgauge_testing::rng;
use rand::RngExt;
use serde_json::Value;

use crate::common::Place;

fn verdict(place: &Place, arguments: &[&str]) -> (String, String) {
    let how = ["--quick", "--format", "json"];
    let output = place.run(&[&["audit", "log.csv"], arguments, &how[..]].concat());
    let report: Value = serde_json::from_slice(&output.stdout).expect("a report");
    let found = report["claims"][0]["verdict"].as_str().expect("a verdict");
    (found.to_owned(), report["warnings"].to_string())
}

/// The 12th of twenty sizes tells the secret, however the sizes are written.
#[test]
fn sizes_are_no_labels() {
    for (before, between, after) in [
        ("", " ", ""),
        ("", ";", ""),
        ("{", ", ", "}"),
        ("tensor([", ", ", "])"),
    ] {
        let mut rng = rng(1);
        let mut text = "secret\tvisit\tpkts\n".to_owned();
        for row in 0..1500 {
            let secret = ["a", "b"][rng.random_range(0..2usize)];
            let sizes: Vec<String> = (0..20)
                .map(|at| match at {
                    11 if rng.random::<f64>() < 0.9 => i32::from(secret == "a") * 3000 - 1500,
                    _ => [60, -60, 600, -600, 1500, -1500][rng.random_range(0..6usize)],
                })
                .map(|size| size.to_string())
                .collect();
            text += &format!("{secret}\tv{row}\t{before}{}{after}\n", sizes.join(between));
        }
        let place = Place::with_log(text);
        let claim = ["--observe", "pkts", "--claim", "attack-advantage(0.1)"];
        assert_eq!(
            verdict(&place, &claim).0,
            "violated",
            "{before}{between}{after}"
        );
    }
    // What no attack can learn from is no proof, though a number stands beside it.
    let mut rng = rng(2);
    let rows = (0..1500).map(|row| {
        let secret = ["a", "b"][row % 2];
        let word: String = (0..30)
            .map(|_| ["+", "-", "~"][rng.random_range(0..3usize)])
            .collect();
        format!("{secret},{word},{}\n", rng.random::<f64>())
    });
    let place =
        Place::with_log("secret,directions,duration\n".to_owned() + &rows.collect::<String>());
    assert_eq!(
        verdict(&place, &["--claim", "attack-advantage(0.2)"]).0,
        "inconclusive"
    );
}

/// Forty devices with one secret each: their rows are no independent ones.
#[test]
fn rows_of_devices_are_not_independent() {
    let mut rng = rng(3);
    let bits: Vec<u8> = (0..40)
        .map(|_| u8::from(rng.random::<f64>() < 0.5))
        .collect();
    let mut rows: Vec<String> = (0..4000)
        .map(|row| {
            let device = row % 40;
            let told = if rng.random::<f64>() < 0.9 {
                bits[device]
            } else {
                1 - bits[device]
            };
            format!("{},d{device},{told}\n", ["a", "b"][device % 2])
        })
        .collect();
    for at in (1..rows.len()).rev() {
        rows.swap(at, rng.random_range(0..=at));
    }
    let place = Place::with_log("secret,device,report\n".to_owned() + &rows.concat());
    let claim = ["--observe", "report", "--claim", "advantage(0.6)"];
    let (found, warnings) = verdict(&place, &claim);
    assert_eq!(found, "inconclusive");
    assert!(warnings.contains("may-be-units"), "{warnings}");
    let grouped = [&claim[..], &["--group", "device"]].concat();
    assert!(!verdict(&place, &grouped).1.contains("may-be-units"));
    // Nor does it say that an attacker sees which device it is.
    let claim = ["--claim", "advantage(0.3)"];
    assert_eq!(verdict(&place, &claim).0, "inconclusive");
    let observed = [&claim[..], &["--observe", "device,report"]].concat();
    assert_eq!(verdict(&place, &observed).0, "violated");
}

/// Nobody said what the secret is.
#[test]
fn nothing_holds_of_a_secret_that_was_guessed() {
    let mut rng = rng(4);
    let rows = (0..2000).map(|row| {
        let reading = (rng.random::<f64>() * 1e4).round() / 1e2;
        format!("{},{reading}\n", ["1.0.3", "1.0.4"][row % 2])
    });
    let place = Place::with_log("version,reading\n".to_owned() + &rows.collect::<String>());
    let claim = ["--claim", "attack-advantage(0.3)"];
    assert_eq!(verdict(&place, &claim).0, "inconclusive");
    let named = [&claim[..], &["--secret", "version"]].concat();
    assert_eq!(verdict(&place, &named).0, "holds");
}

/// A remark on the first line is no header, and a line that is left out decides nothing.
#[test]
fn stray_lines_are_named() {
    let rows = |at: usize| format!("{at},{},{}\n", ["x", "y"][at % 2], 100 + at * 7919 % 97);
    let rows: String = (1..400).map(rows).collect();
    let place = Place::with_log("run 7\nid,class,time_us\n".to_owned() + &rows);
    let claim = ["audit", "log.csv", "--claim", "advantage(0.1)"];
    place.refuses(&claim, &["row 1", "1 field", "put #"]);
    assert_eq!(place.run(&["check", "log.csv"]).status.code(), Some(2));
    let place = Place::with_log(
        "id,class,time_us\n".to_owned() + &rows + "1,2\n" + &rows.replace('x', "y"),
    );
    let output = place.run(&["check", "log.csv", "--secret", "class", "--skip-bad", "1"]);
    let text = crate::common::stdout(&output);
    assert!(text.contains("id"), "{text}");
}

/// Readings of a clock of 15.625 ms, cut to whole milliseconds: 5 ms more are neither shown to be less than 3 nor more than 10.
#[test]
fn cut_readings_of_a_coarse_clock_decide_nothing_below_its_step() {
    for seed in 0..6 {
        let mut rng = rng(100 + seed);
        let read = |time: f64| ((time / 15.625).floor() * 15.625).floor();
        let rows: String = (0..1500)
            .map(|row| {
                let slower = if row % 2 == 0 { 5.0 } else { 0.0 };
                let (from, time) = (
                    1e5 * rng.random::<f64>(),
                    17.0 + slower + rng.random::<f64>(),
                );
                format!(
                    "{},{}\n",
                    ["known", "unknown"][row % 2],
                    read(from + time) - read(from)
                )
            })
            .collect();
        let place = Place::with_log("secret,elapsed_ms\n".to_owned() + &rows);
        for claim in ["time-difference(3ms)", "time-difference(10ms)"] {
            assert_eq!(
                verdict(&place, &["--claim", claim]).0,
                "inconclusive",
                "{seed} {claim}"
            );
        }
        assert_eq!(
            verdict(&place, &["--claim", "time-difference(60ms)"]).0,
            "holds",
            "{seed}"
        );
    }
}

/// Of ten devices with either secret, each tells its own bit: no row tells more of the secret than its device does.
#[test]
fn rows_of_devices_of_one_secret_are_not_judged() {
    let mut rng = rng(5);
    let mut rows: Vec<String> = (0..2000)
        .map(|row| {
            let device = row % 20;
            let told = u8::from(device % 2 == 0) ^ u8::from(rng.random::<f64>() < 0.1);
            format!("{},d{device},{told}\n", ["a", "b"][device % 2])
        })
        .collect();
    for at in (1..rows.len()).rev() {
        rows.swap(at, rng.random_range(0..=at));
    }
    let place = Place::with_log("secret,device,report\n".to_owned() + &rows.concat());
    let claim = [
        "--observe",
        "report",
        "--claim",
        "advantage(0.1)",
        "--quick",
    ];
    let output = place.run(&[&["audit", "log.csv", "--format", "json"], &claim[..]].concat());
    let report: Value = serde_json::from_slice(&output.stdout).expect("a report");
    assert_eq!(report["claims"][0]["verdict"], "inconclusive");
    let reason = report["claims"][0]["reason"].to_string();
    assert!(
        reason.contains("Not judged") && reason.contains("--group device"),
        "{reason}"
    );
}

/// A logger that writes each observation beside the secret of the next row shows no leak.
#[test]
fn nothing_holds_where_rows_are_shifted() {
    use rand::{RngExt, SeedableRng};
    let mut rng = rand_chacha::ChaCha8Rng::seed_from_u64(3);
    let secrets: Vec<usize> = (0..4_001).map(|_| rng.random_range(0..3)).collect();
    for shift in [0, 1] {
        let line = |row: usize| {
            let observation = match rng.random::<f64>() < 0.4 {
                true => secrets[row],
                false => rng.random_range(0..3),
            };
            format!("{},v{observation}\n", secrets[row + shift])
        };
        let text = (0..4_000)
            .map(line)
            .fold("secret,x\n".to_owned(), |all, line| all + &line);
        let place = Place::with_log(text);
        let output = place.run(&["audit", "log.csv", "--quick", "--claim", "advantage(0.2)"]);
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        assert_eq!(text.contains("row before"), shift == 1, "{text}");
        assert_eq!(output.status.code(), Some([1, 3][shift]), "{text}");
    }
}
