//! `--follow`: lines while a log grows.

use std::io::Write;
use std::process::Stdio;
use std::time::Duration;

use crate::common::{Place, assert_refused, numeric_log, stderr, stdout};
use serde_json::Value;

fn lines(text: &str) -> Vec<Value> {
    text.lines()
        .map(|line| serde_json::from_str(line).expect("a line of JSON"))
        .collect()
}

#[test]
fn standard_input_is_read_to_its_end_and_limits_never_fall() {
    let arguments = [
        "estimate", "-", "--follow", "--every", "1000", "--format", "json",
    ];
    let output = Place::new().run_on(&arguments, numeric_log(5500));
    assert!(output.status.success(), "{}", stderr(&output));
    let lines = lines(&stdout(&output));
    let rows: Vec<u64> = lines
        .iter()
        .map(|line| line["rows"].as_u64().unwrap())
        .collect();
    assert_eq!(rows, [1000, 2000, 3000, 4000, 5000, 5500]);
    let limits: Vec<f64> = lines
        .iter()
        .map(|line| line["advantage"]["lower"].as_f64().unwrap())
        .collect();
    assert!(limits.is_sorted() && limits[0] > 0.2, "{limits:?}");
    // The truth is 0.5.
    let last = &lines[5];
    assert!((0.35..0.5).contains(&limits[5]), "{limits:?}");
    assert!((last["advantage"]["point"].as_f64().unwrap() - 0.5).abs() < 0.05);
    assert_eq!(last["advantage"]["method"]["lower"], "betting-mixture");
    assert_eq!(last["pair"], serde_json::json!(["a", "b"]));
    assert!(last["judged"].as_u64().unwrap() <= 5500);
}

#[test]
fn what_follows_does_not_change_earlier_lines() {
    let arguments = ["estimate", "-", "--follow", "--every", "700"];
    let place = Place::new();
    let text = numeric_log(5000);
    let all = stdout(&place.run_on(&arguments, text.clone()));
    let part: String = text
        .lines()
        .take(2801)
        .map(|line| format!("{line}\n"))
        .collect();
    let part = stdout(&place.run_on(&arguments, part));
    assert_eq!(part.lines().count(), 5);
    assert!(all.starts_with(&part), "{part}\n{all}");
    assert!(part.starts_with("advantage at least X: some pair"));
}

#[test]
fn an_audit_stops_at_a_violation_and_ends_inconclusive_else() {
    let place = Place::new();
    let audit = |claim: &str| {
        let arguments = ["audit", "-", "--follow", "--every", "500", "--claim", claim];
        place.run_on(&arguments, numeric_log(4000))
    };
    for claim in ["advantage(0.1)", "bayes-security(0.9)", "ldp(epsilon=0.2)"] {
        let output = audit(claim);
        assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
        let text = stdout(&output);
        let last = text.lines().last().unwrap();
        assert!(last.contains(&format!("VIOLATED: {claim}")), "{text}");
        assert!(!last.starts_with("4000 rows"), "{text}");
    }
    assert_eq!(audit("advantage(0.6)").status.code(), Some(3));
    for claim in ["attack-advantage(0.1)", "gdp(mu=1, unit=1)"] {
        assert_refused(&audit(claim), &["cannot be followed", claim]);
    }
    // Its secrets are words, where the mechanism needs numbers.
    assert_refused(&audit("laplace(scale=1)"), &["laplace(scale=1)", "a"]);
}

/// Rows of a mechanism, as `simulate` writes them.
fn log_of(mechanism: &str, rows: usize, seed: u64) -> String {
    let mechanism = leakgauge::exact::mechanism::parse(mechanism).unwrap();
    let mut simulation = leakgauge::exact::simulate::Simulation::new(&*mechanism, seed).unwrap();
    let mut csv = "secret,observation\n".to_owned();
    for _ in 0..rows {
        let (secret, fields) = simulation.next_row();
        csv.push_str(&format!("{secret},{}\n", fields.join(",")));
    }
    csv
}

/// Total variation at ε = 1.2 is 0.4512, and `ldp(1)` allows 0.4621: bets on the advantage never refute it.
#[test]
fn a_laplace_mechanism_with_too_little_noise_is_refuted_through_epsilon() {
    let log = log_of("laplace(epsilon=1.2, secrets=0..1)", 20_000, 3);
    // A claim about ε alone raises the limit of ε once it is refuted; a mechanism is more than that.
    for (claim, least, levels, reason) in [
        ("ldp(epsilon=1)", 1.0, [0.025, 0.1], "an epsilon of "),
        (
            "laplace(epsilon=1)",
            0.6,
            [0.025, 0.05],
            "than the claim allows",
        ),
    ] {
        let arguments = [
            "audit", "-", "--follow", "--every", "1000", "--claim", claim, "--format", "json",
        ];
        let output = Place::new().run_on(&arguments, log.clone());
        assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
        let lines = lines(&stdout(&output));
        let last = lines.last().unwrap();
        let found = &last["claims"][0];
        assert_eq!(found["verdict"], "violated");
        assert!(found["p_value"].as_f64().unwrap() <= 0.05, "{last}");
        assert_eq!(found["epsilon"].as_f64().unwrap(), 1.0);
        let lower = last["epsilon"]["lower"].as_f64().unwrap();
        assert!((least..1.2).contains(&lower), "{last}");
        assert_eq!(last["epsilon_pairs"].as_array().unwrap().len(), 1);
        for (key, level) in ["advantage_confidence", "epsilon_confidence"]
            .iter()
            .zip(levels)
        {
            let found = 1.0 - last[key].as_f64().unwrap();
            assert!((found - level).abs() < 1e-12, "{last}");
        }
        let limits: Vec<f64> = lines
            .iter()
            .map(|line| line["epsilon"]["lower"].as_f64().unwrap())
            .collect();
        assert!(limits.is_sorted(), "{limits:?}");
        assert!(
            found["reason"].as_str().unwrap().contains(reason),
            "{found}"
        );
    }
    let arguments = [
        "audit",
        "-",
        "--follow",
        "--every",
        "20000",
        "--claim",
        "ldp(epsilon=2)",
    ];
    let output = Place::new().run_on(&arguments, log);
    assert_eq!(output.status.code(), Some(3));
    let text = stdout(&output);
    let (_, limit) = text.rsplit_once("; epsilon at least ").expect("a limit");
    let limit: f64 = limit.split(';').next().unwrap().parse().expect("a number");
    assert!(limit > 0.9, "{text}");
    assert!(text.contains("; ldp(epsilon=2): p > 0.25"), "{text}");
}

/// Whatever reads several limits shares one error probability: p-values say what they count for together.
#[test]
fn several_claims_are_followed_together() {
    let log = log_of("randomized-response(epsilon=1.5, secrets=4)", 30_000, 5);
    let claims = [
        ("ldp(epsilon=1)", true),
        ("dp(epsilon=1, delta=0.01)", true),
        ("randomized-response(epsilon=1)", true),
        ("ldp(epsilon=1.5)", false),
        ("dp(epsilon=1.5, delta=0.01)", false),
        ("randomized-response(epsilon=1.5)", false),
    ];
    let mut arguments = vec![
        "audit", "-", "--follow", "--every", "30000", "--format", "json",
    ];
    for (claim, _) in claims {
        arguments.extend(["--claim", claim]);
    }
    let output = Place::new().run_on(&arguments, log);
    assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
    let line = &lines(&stdout(&output))[0];
    for (at, (claim, violated)) in claims.into_iter().enumerate() {
        let found = &line["claims"][at];
        let p_value = found["p_value"].as_f64().unwrap();
        assert_eq!(p_value <= 0.05, violated, "{claim}: {p_value}");
        assert_eq!(found["verdict"] == "violated", violated, "{claim}");
    }
    // All four secrets are bet on: two pairs.
    assert_eq!(line["epsilon_pairs"].as_array().unwrap().len(), 2, "{line}");
}

/// Rows that tell their secret, which has one of these labels, in turn.
fn telling_log(labels: &[&str], rows: usize) -> String {
    let mut text = "secret,seen\n".to_owned();
    for row in 0..rows {
        let at = row % labels.len();
        text.push_str(&format!("{},{at}\n", labels[at]));
    }
    text
}

#[test]
fn a_claim_about_other_labels_is_refused_as_in_an_audit_of_the_whole_log() {
    let claim = "dsigma(alpha=0.1, group=1..2)";
    let place = Place::new();
    let audit = |follow: &[&str], text: String| {
        let mut arguments = vec!["audit", "-", "--claim", claim];
        arguments.extend(follow);
        place.run_on(&arguments, text)
    };
    let follow = ["--follow", "--every", "1000"];
    // Labels that are no orders of the same items.
    let text = telling_log(&["a", "b"], 4000);
    let (whole, followed) = (audit(&[], text.clone()), audit(&follow, text));
    assert_refused(&whole, &[claim, "orders of the items of a", "\"b\""]);
    assert_eq!(stderr(&whole), stderr(&followed));
    assert_eq!(followed.status.code(), Some(2));
    assert_eq!(stdout(&followed), "", "no line about such secrets");
    // Orders that differ outside the group.
    let text = telling_log(&["1-2-3", "1-3-2"], 4000);
    let (whole, followed) = (audit(&[], text.clone()), audit(&follow, text));
    assert_refused(&whole, &["outside its group", "at place 3"]);
    assert_eq!(stderr(&whole), stderr(&followed));
    // Orders that the claim is about.
    let text = telling_log(&["1-2-3", "2-1-3"], 4000);
    let followed = audit(&follow, text);
    assert_eq!(followed.status.code(), Some(1), "{}", stderr(&followed));
    assert!(stdout(&followed).contains(&format!("VIOLATED: {claim}")));
}

#[test]
fn a_label_that_does_not_fit_is_refused_when_it_comes() {
    let claim = "dsigma(alpha=0.1)";
    let mut text = "secret,seen\n".to_owned();
    for row in 0..2500 {
        text.push_str(&format!("{},x\n", ["1-2", "2-1"][row % 2]));
    }
    text.push_str("other,x\n");
    let arguments = [
        "audit", "-", "--follow", "--every", "1000", "--claim", claim,
    ];
    let output = Place::new().run_on(&arguments, text);
    assert_refused_after_lines(&output, 2, &[claim, "\"other\""]);
}

/// Exit code 2 and these words, after so many lines about rows.
fn assert_refused_after_lines(output: &std::process::Output, lines: usize, words: &[&str]) {
    assert_eq!(output.status.code(), Some(2), "{}", stderr(output));
    let text = stdout(output);
    assert_eq!(text.matches(" rows, ").count(), lines, "{text}");
    for word in words {
        assert!(stderr(output).contains(word), "{}", stderr(output));
    }
}

#[test]
fn labels_and_secrets_that_come_late_are_learned_later() {
    let mut text = "secret,seen\n".to_owned();
    for row in 0..6000 {
        let secret = if row < 1500 { row % 2 } else { row % 3 };
        // Secret 2 has an observation of its own.
        let seen = if secret == 2 {
            "own"
        } else {
            ["x", "y"][row / 7 % 2]
        };
        text.push_str(&format!("s{secret},{seen}\n"));
    }
    let arguments = [
        "estimate", "-", "--follow", "--every", "6000", "--format", "json",
    ];
    let output = Place::new().run_on(&arguments, text);
    let last = &lines(&stdout(&output))[0];
    assert_eq!(last["pair"][1], "s2");
    assert!(last["advantage"]["lower"].as_f64().unwrap() > 0.9, "{last}");
}

#[test]
fn options_that_need_the_whole_log_are_refused() {
    let place = Place::with_log(numeric_log(50)).file("other.csv", numeric_log(60));
    for (extra, word) in [
        (&["--split", "blocks"][..], "--split blocks"),
        (&["--prior", "empirical"], "--prior"),
        (&["--scorer", "given", "--scores", "time"], "--scorer given"),
        (&["--count", "time"], "--count"),
        (&["--fit-on", "other.csv"], "--fit-on"),
        (&["--format", "markdown"], "--format"),
        (&["--every", "0"], "--every 0"),
        (&["other.csv"], "one log"),
        (&["--confidence", "2"], "--confidence"),
    ] {
        let mut arguments = vec!["estimate", "log.csv", "--follow"];
        arguments.extend(extra);
        place.refuses(&arguments, &[word]);
    }
    let output = place.run_on(&["estimate", "-", "--follow"], "secret,time\na,1\na,2\n");
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("only one secret"));
}

#[test]
fn a_row_that_does_not_fit_is_an_error_with_its_place() {
    let text = numeric_log(3000) + "a,0.5 slow\n";
    let output = Place::new().run_on(&["estimate", "-", "--follow", "--every", "1000"], text);
    assert_eq!(output.status.code(), Some(2));
    let message = stderr(&output);
    assert!(
        message.contains("row 3002") && message.contains("slow"),
        "{message}"
    );
    assert_eq!(stdout(&output).lines().count(), 4);
}

/// A file is waited on: lines come as rows do, and a file that becomes shorter is an error.
#[test]
fn a_growing_file_is_followed() {
    let text = numeric_log(3000);
    let (before, after) = text.split_at(text.len() / 2);
    let place = Place::with_log(before);
    let path = place.path().join("log.csv");
    let mut program = std::process::Command::new(assert_cmd::cargo::cargo_bin!("leakgauge"))
        .args(["estimate", "log.csv", "--follow", "--every", "2500"])
        .current_dir(place.path())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program runs");
    std::thread::sleep(Duration::from_millis(500));
    let mut file = std::fs::OpenOptions::new()
        .append(true)
        .open(&path)
        .unwrap();
    file.write_all(after.as_bytes()).unwrap();
    std::thread::sleep(Duration::from_millis(2500));
    assert!(program.try_wait().unwrap().is_none(), "it waits for more");
    std::fs::write(&path, "secret,time\n").unwrap();
    let output = program.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(stdout(&output).contains("2500 rows"), "{}", stdout(&output));
    assert!(stderr(&output).contains("shorter"), "{}", stderr(&output));
}

/// Runs `--follow` on a pipe that stays open, and sends it what a user's Ctrl-C sends.
#[cfg(unix)]
#[test]
fn rows_before_an_interruption_are_counted() {
    let place = Place::new();
    let mut child = std::process::Command::new(place.command().get_program())
        .args(["estimate", "-", "--follow", "--format", "json"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("the program runs");
    let mut input = child.stdin.take().unwrap();
    input.write_all(numeric_log(999).as_bytes()).unwrap();
    input.flush().unwrap();
    // Long enough for 12 kB, also on a busy machine.
    std::thread::sleep(Duration::from_secs(3));
    let killed = std::process::Command::new("kill")
        .args(["-INT", &child.id().to_string()])
        .status();
    assert!(killed.expect("kill").success());
    let output = child.wait_with_output().unwrap();
    drop(input);
    let lines = lines(&stdout(&output));
    assert_eq!(lines.last().expect("a line")["rows"], 999);
}

/// The log goes on, so that only the row itself can end the program.
#[test]
fn an_early_row_that_does_not_fit_is_reported_when_it_comes() {
    let place = Place::new();
    let mut child = std::process::Command::new(place.command().get_program())
        .args(["estimate", "-", "--follow"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program runs");
    let mut input = child.stdin.take().unwrap();
    let text = numeric_log(20) + "a,1.5,3\n";
    input.write_all(text.as_bytes()).unwrap();
    input.flush().unwrap();
    let output = child.wait_with_output().unwrap();
    drop(input);
    assert_refused(&output, &["row 22"]);
}

/// Follows a file that something happens to once its first rows are read.
fn meets(happens: impl Fn(&std::path::Path), words: &[&str]) {
    let place = Place::with_log(numeric_log(2_000));
    let mut program = std::process::Command::new(assert_cmd::cargo::cargo_bin!("leakgauge"))
        .args(["estimate", "log.csv", "--follow", "--every", "1000"])
        .current_dir(place.path())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program runs");
    let mut first = [0; 20];
    std::io::Read::read_exact(program.stdout.as_mut().unwrap(), &mut first).unwrap();
    std::thread::sleep(Duration::from_secs(2));
    happens(&place.path().join("log.csv"));
    let output = program.wait_with_output().unwrap();
    let message = stderr(&output);
    assert_eq!(output.status.code(), Some(2), "{message}");
    for word in words.iter().chain(&["log.csv", "rotated"]) {
        assert!(message.contains(word), "{message}");
    }
}

#[cfg(unix)]
#[test]
fn a_longer_file_in_the_place_of_the_log_is_not_followed() {
    meets(
        |log| {
            std::fs::rename(log, log.with_file_name("log.csv.1")).unwrap();
            std::fs::write(log, numeric_log(5_000)).unwrap();
        },
        &["replaced by another file"],
    );
}

#[test]
fn a_log_that_is_written_anew_is_not_followed() {
    let other = numeric_log(5_000).replace("a,", "c,");
    meets(
        |log| std::fs::write(log, &other).unwrap(),
        &["while it was followed"],
    );
}

/// All rows so far were read again with every 4 kB: 75 times.
#[test]
fn the_first_rows_of_many_columns_are_soon_there() {
    let row = |at: usize| {
        let cells: String = (0..120)
            .map(|c| format!(",{}.5", (at * 7_919 + c * 104_729) % 100_003))
            .collect();
        format!("{}{cells}\n", ["a", "b"][at % 2])
    };
    let names: String = (0..120).map(|c| format!(",c{c}")).collect();
    let log: String = (0..900).map(row).collect();
    let place = Place::with_log(format!("secret{names}\n{log}"));
    let begun = std::time::Instant::now();
    place.json(&["check", "log.csv"]);
    let once = begun.elapsed();
    let mut child = std::process::Command::new(assert_cmd::cargo::cargo_bin!("leakgauge"))
        .args(["estimate", "-", "--follow", "--every", "8"])
        .current_dir(place.path())
        .stdin(std::fs::File::open(place.path().join("log.csv")).unwrap())
        .stdout(Stdio::piped())
        .spawn()
        .expect("the program runs");
    let begun = std::time::Instant::now();
    let mut first = [0; 20];
    std::io::Read::read_exact(child.stdout.as_mut().unwrap(), &mut first).unwrap();
    let followed = begun.elapsed();
    child.kill().unwrap();
    child.wait().unwrap();
    // Half a megabyte is looked at once or twice.
    assert!(
        followed < 15 * once + Duration::from_secs(1),
        "{followed:?}, {once:?}"
    );
}
