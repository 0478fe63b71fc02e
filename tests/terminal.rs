//! What every command does with standard output: color, width, brevity, files; and what a package installs.

use std::fs;
use std::process::Output;

const BROKEN: [&str; 4] = [
    "audit",
    "datasets/randomized-response-broken.csv",
    "--claim=ldp(epsilon=1)",
    "--quick",
];

const CONFUSION: [&str; 5] = ["confusion", "--tp=40", "--fn=460", "--fp=0", "--tn=500"];

fn run(arguments: &[&str]) -> Output {
    assert_cmd::cargo::cargo_bin_cmd!("leakgauge")
        .args(arguments)
        .output()
        .expect("the program")
}

fn text(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).expect("text")
}

#[test]
fn color_is_written_only_where_it_is_asked_for() {
    let plain = text(&run(&BROKEN));
    assert!(!plain.contains('\u{1b}'));
    let short = text(&run(&[&BROKEN[..], &["--color", "always"]].concat()));
    assert!(
        short.contains("\u{1b}[1;31mVIOLATED\u{1b}[0m  ldp(epsilon=1)"),
        "{short}"
    );
    let colored = text(&run(
        &[&BROKEN[..], &["--full", "--color", "always"]].concat()
    ));
    assert!(colored.contains("\u{1b}[1;31mVIOLATED:\u{1b}[0m ldp(epsilon=1)"));
    assert!(colored.contains("\u{1b}[1mFigures\u{1b}[0m"));
    let json = text(&run(&[
        &BROKEN[..],
        &["--color", "always", "--format", "json"],
    ]
    .concat()));
    assert!(!json.contains('\u{1b}'));
    let table = text(&run(&[&CONFUSION[..], &["--color", "always"]].concat()));
    assert!(table.contains("\u{1b}[1mFigures\u{1b}[0m"), "{table}");
    let check = text(&run(&["check", BROKEN[1], "--color", "always"]));
    assert!(check.contains("\u{1b}[1m"), "{check}");
}

#[test]
fn quiet_prints_the_verdicts_and_nothing_else() {
    let output = run(&[&BROKEN[..], &["-q", "--claim", "attack-advantage(0.9)"]].concat());
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(
        text(&output),
        "VIOLATED: ldp(epsilon=1)\n\nHOLDS: attack-advantage(0.9)\n"
    );
    let table = run(&[&CONFUSION[..], &["-q", "--claim", "dp(epsilon=9)"]].concat());
    assert_eq!(text(&table), "INCONCLUSIVE: dp(epsilon=9)\n");
    let check = run(&["check", BROKEN[1], "-q"]);
    assert!(text(&check).starts_with("datasets/randomized-response-broken.csv: secret "));
    assert_eq!(text(&check).lines().count(), 1, "{}", text(&check));
    let estimate = run(&["estimate", BROKEN[1], "--quick", "--quiet"]);
    assert!(text(&estimate).starts_with("The log leaks its secret."));
    assert!(text(&estimate).lines().count() < 8);
}

#[test]
fn a_report_goes_to_a_file_but_never_over_what_is_read() {
    let directory = tempfile::tempdir().expect("a directory");
    let log = directory.path().join("log.csv");
    fs::copy(BROKEN[1], &log).expect("a copy");
    let log = log.to_str().expect("a name");
    let report = directory.path().join("report.txt");
    let report = report.to_str().expect("a name");
    let output = run(&["estimate", log, "--quick", "-o", report]);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    assert!(output.stdout.is_empty());
    let written = fs::read_to_string(report).expect("the report");
    assert!(written.contains("\nLEAK  "), "{written}");
    for arguments in [["-o", log], ["--output", log], ["--junit", log]] {
        let output = run(&[&["audit", log, "--quick"][..], &arguments].concat());
        assert_eq!(output.status.code(), Some(2), "{output:?}");
    }
    let twice = ["audit", log, "--quick", "-o", report, "--junit", report];
    assert_eq!(run(&twice).status.code(), Some(2));
    let joined = format!("--output={log}");
    assert_eq!(run(&["estimate", log, &joined]).status.code(), Some(2));
    assert_eq!(
        fs::read(log).expect("the log"),
        fs::read(BROKEN[1]).expect("the original")
    );
}

#[test]
fn what_cannot_be_done_is_refused_with_a_way_out() {
    let directory = tempfile::tempdir().expect("a directory");
    let place = directory.path().join("man");
    let place = place.to_str().expect("a name");
    let header = directory.path().join("neighbors.csv");
    fs::write(&header, "secret,other\n0,1\n").expect("a file");
    let header = header.to_str().expect("a name");
    let missing = directory.path().join("none/x");
    let missing = missing.to_str().expect("a name");
    for (arguments, words) in [
        (vec!["man", place, "-o", missing], "--output"),
        (
            [&CONFUSION[..], &["--delta", "0,0"]].concat(),
            "--delta 0: is given twice",
        ),
        (
            vec!["estimate", BROKEN[1], "--quick", "-o", missing],
            "create it",
        ),
        (
            vec!["probe", "--classes=a,b", "--", "no-such-program"],
            "hint: name a program",
        ),
        (
            [&BROKEN[..], &["--neighbors-file", header]].concat(),
            "a file of neighbors has no header",
        ),
    ] {
        let output = run(&arguments);
        let error = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {error}");
        assert!(error.contains(words), "{arguments:?}: {error}");
    }
    assert!(!std::path::Path::new(place).exists());
}

#[test]
fn a_job_summary_is_never_appended_to_a_log() {
    let directory = tempfile::tempdir().expect("a directory");
    let log = directory.path().join("log.csv");
    fs::copy(BROKEN[1], &log).expect("a copy");
    let output = assert_cmd::cargo::cargo_bin_cmd!("leakgauge")
        .env("GITHUB_STEP_SUMMARY", &log)
        .arg("audit")
        .arg(&log)
        .args(["--claim=ldp(epsilon=1)", "--quick", "--ci"])
        .output()
        .expect("the program");
    assert_eq!(output.status.code(), Some(2), "{output:?}");
    assert_eq!(
        fs::read(&log).expect("the log"),
        fs::read(BROKEN[1]).expect("the original")
    );
}

#[test]
fn every_command_has_completions_and_a_manual_page() {
    for shell in ["bash", "zsh", "fish"] {
        let script = text(&run(&["completions", shell]));
        for word in ["permute", "resolution"] {
            assert!(script.contains(word), "{shell}: no {word}");
        }
    }
    let directory = tempfile::tempdir().expect("a directory");
    let place = directory.path().join("man");
    let output = run(&["man", place.to_str().expect("a name")]);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    for page in [
        "leakgauge.1",
        "leakgauge-audit.1",
        "leakgauge-shuffle-reidentify.1",
    ] {
        let page = fs::read_to_string(place.join(page)).expect(page);
        assert!(page.contains(".SH NAME"));
    }
}

#[test]
fn the_short_help_is_shorter_and_both_have_groups() {
    let (short, long) = (
        text(&run(&["audit", "-h"])),
        text(&run(&["audit", "--help"])),
    );
    assert!(2 * short.lines().count() < long.lines().count());
    for help in [short, long] {
        for group in [
            "Reading the log:",
            "Claims:",
            "Attack and limits:",
            "Report:",
            "Terminal:",
        ] {
            assert!(help.contains(group), "no {group} in\n{help}");
        }
    }
}
