//! What a pipeline sees: exit codes, JUnit files and the job summary.

use std::fs;
use std::process::Output;

use crate::common::Place;

const CLAIMS: [&str; 4] = [
    "audit",
    "datasets/randomized-response-broken.csv",
    "--quick",
    "--claim=attack-advantage(0.9)",
];

fn run(more: &[&str], summary: Option<&str>) -> Output {
    let mut command = assert_cmd::cargo::cargo_bin_cmd!("leakgauge");
    command.args(CLAIMS).args(more);
    command.env("GITHUB_STEP_SUMMARY", summary.unwrap_or(""));
    command.output().expect("the program")
}

fn code(more: &[&str]) -> Option<i32> {
    run(more, None).status.code()
}

#[test]
fn the_verdicts_that_fail_are_chosen_by_an_option() {
    let violated = "--claim=ldp(epsilon=1)";
    let inconclusive = "--claim=ldp(epsilon=3)";
    assert_eq!(code(&[inconclusive]), Some(3));
    assert_eq!(code(&[inconclusive, "--fail-on", "violated"]), Some(0));
    assert_eq!(code(&[inconclusive, "--ci"]), Some(0));
    assert_eq!(
        code(&[inconclusive, "--ci", "--fail-on", "inconclusive"]),
        Some(3)
    );
    assert_eq!(code(&[violated, inconclusive, "--ci"]), Some(1));
    assert_eq!(code(&[violated, "--fail-on", "none"]), Some(0));
    assert_eq!(code(&["--fail-on", "inconclusive"]), Some(0));
}

/// A logger that is broken shows no leak. It had a green gate.
#[test]
fn a_log_that_could_not_be_judged_is_no_passing_gate() {
    let dead = "secret,value\n".to_owned() + &"a,nan\nb,nan\n".repeat(500);
    let place = Place::with_log(dead);
    let claimed = ["audit", "log.csv", "--quick", "--claim=advantage(0.1)"];
    let code = |more: &[&str]| {
        let output = place.run(&[&claimed[..], more].concat());
        output.status.code()
    };
    assert_eq!(code(&[]), Some(3));
    assert_eq!(code(&["--ci", "--junit", "verdicts.xml"]), Some(3));
    assert_eq!(code(&["--fail-on", "violated"]), Some(3));
    assert_eq!(code(&["--fail-on", "none"]), Some(0));
    let junit = fs::read_to_string(place.path().join("verdicts.xml")).expect("a file");
    assert!(junit.contains("<failure type=\"not judged\""), "{junit}");
}

#[test]
fn pipelines_have_a_confidence_of_their_own() {
    for (options, confidence) in [
        (&["--ci"][..], 0.99999),
        (&["--ci", "--confidence", "0.9"][..], 0.9),
        (&[][..], 0.95),
    ] {
        let output = run(&[options, &["--format", "json"]].concat(), None);
        let report: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
        assert_eq!(report["confidence"], confidence);
    }
}

#[test]
fn verdicts_are_written_as_junit_and_appended_to_the_job_summary() {
    let directory = tempfile::tempdir().expect("a directory");
    let junit = directory.path().join("junit.xml");
    let summary = directory.path().join("summary.md");
    fs::write(&summary, "before\n").expect("a summary");
    let more = [
        "--ci",
        "--claim=ldp(epsilon=1)",
        "--claim=ldp(epsilon=3)",
        "--junit",
        junit.to_str().expect("a name"),
    ];
    let output = run(&more, summary.to_str());
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    let text = fs::read_to_string(&junit).expect("a JUnit file");
    let document = roxmltree::Document::parse(&text).expect("XML");
    let named = |name: &str| {
        let nodes = document.descendants();
        nodes
            .filter(|node| node.has_tag_name(name))
            .collect::<Vec<_>>()
    };
    let suite = named("testsuite")[0];
    let counts = ["tests", "failures", "skipped"].map(|count| suite.attribute(count));
    assert_eq!(counts, [Some("3"), Some("1"), Some("1")]);
    let failed = named("failure")[0].parent().expect("a case");
    assert_eq!(failed.attribute("name"), Some("ldp(epsilon=1)"));
    let summary = fs::read_to_string(&summary).expect("a summary");
    assert!(summary.starts_with("before\n"));
    assert!(summary.contains("| violated"), "{summary}");
}

#[test]
fn a_log_that_grows_has_no_gate() {
    let output = run(&["--follow", "--ci"], None);
    assert_eq!(output.status.code(), Some(2));
}

/// The log has 20,000 rows of four secrets: ε = 3.5 shows in it, 3.02 does not.
#[test]
fn a_log_that_cannot_show_a_leak_is_too_weak() {
    let inconclusive = "--claim=ldp(epsilon=3)";
    let strong = [inconclusive, "--ci", "--must-detect", "epsilon=4"];
    let output = run(&[&strong[..], &["-q"]].concat(), None);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let text = String::from_utf8(output.stdout).expect("text");
    assert!(text.contains("STRONG ENOUGH: epsilon=4"), "{text}");
    let weak = [inconclusive, "--ci", "--must-detect", "epsilon=3.02"];
    assert_eq!(code(&weak), Some(1));
    assert_eq!(code(&[&weak[..], &["--fail-on", "none"]].concat()), Some(0));
    // Without --ci the inconclusive claim alone has exit code 3; a log that is too weak comes first.
    assert_eq!(code(&[inconclusive, "--must-detect", "epsilon=4"]), Some(3));
    assert_eq!(
        code(&[inconclusive, "--must-detect", "epsilon=3.02"]),
        Some(1)
    );
}

/// The summary is appended to, and everything else is written anew.
#[test]
fn the_job_summary_is_no_file_of_another_output() {
    let directory = tempfile::tempdir().expect("a directory");
    let file = directory.path().join("both");
    let name = file.to_str().expect("a name");
    for flag in ["--junit", "--html", "--output"] {
        let output = run(&["--ci", flag, name], Some(name));
        let error = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{error}");
        assert!(
            error.contains(flag) && error.contains("GITHUB_STEP_SUMMARY"),
            "{error}"
        );
        assert!(!file.exists());
    }
}

#[test]
fn too_weak_a_log_is_a_failure_in_junit_and_in_json() {
    let directory = tempfile::tempdir().expect("a directory");
    let junit = directory.path().join("junit.xml");
    let more = [
        "--ci",
        "--claim=ldp(epsilon=3)",
        "--must-detect=epsilon=4",
        "--must-detect=epsilon=3.02",
        "--format=json",
        "--junit",
        junit.to_str().expect("a name"),
    ];
    let output = run(&more, None);
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    let report: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
    crate::common::check_schema_of("audit", &report);
    let weak: Vec<_> = report["must_detect"]
        .as_array()
        .expect("a list")
        .iter()
        .collect();
    assert_eq!([&weak[0]["too_weak"], &weak[1]["too_weak"]], [false, true]);
    let text = fs::read_to_string(&junit).expect("a JUnit file");
    let document = roxmltree::Document::parse(&text).expect("XML");
    let failure = document
        .descendants()
        .find(|node| node.has_tag_name("failure"));
    let failure = failure.expect("a failure");
    assert_eq!(failure.attribute("type"), Some("too weak"));
    let message = failure.attribute("message").expect("a message");
    assert!(message.contains("simulated logs"), "{message}");
    let case = failure.parent().expect("a case").attribute("name");
    assert_eq!(case, Some("must detect epsilon=3.02"));
}

#[test]
fn what_a_log_must_detect_has_to_violate_a_claim_and_to_be_simulated() {
    for more in [
        &["--must-detect", "advantage=0.5"][..],
        &["--must-detect", "epsilon"],
        &["--must-detect", "advantage=0.95", "--follow"],
        &["--must-detect", "advantage=0.95", "--split", "blocks"],
        &["--power", "0.8"],
    ] {
        assert_eq!(code(more), Some(2), "{more:?}");
    }
}

/// A strict claim on advantage beside it is violated by far smaller leaks, and says nothing about epsilon.
#[test]
fn a_leak_is_shown_by_claims_on_its_own_figure() {
    let mut text = "secret,observation\n".to_owned();
    (0..400).for_each(|at| text.push_str(&format!("{},{}\n", at % 2, at / 2 % 2)));
    let place = Place::with_log(text);
    let audit = ["audit", "log.csv", "--quick", "--quiet", "--claim"];
    let code = |more: &[&str]| {
        let more = [&audit[..], more, &["--must-detect", "epsilon=1.25", "--ci"]].concat();
        place.run(&more).status.code()
    };
    let claims = ["ldp(epsilon=1)", "advantage(0.01)"];
    assert_eq!(code(&claims[..1]), Some(1));
    assert_eq!(code(&[claims[0], "--claim", claims[1]]), Some(1));
    assert_eq!(code(&claims[1..]), Some(0));
}

/// Laplace noise of scale 1, rounded: it keeps what `geometric(nu=1)` promises, and has another law.
fn rounded_laplace() -> String {
    use rand::{RngExt, SeedableRng};
    let mut rng = rand_chacha::ChaCha8Rng::seed_from_u64(5);
    let mut text = "secret,observation\n".to_owned();
    for at in 0..6000 {
        let u = rng.random::<f64>() - 0.5;
        let noise = -u.signum() * (1.0 - 2.0 * u.abs()).ln();
        text.push_str(&format!(
            "{},{}\n",
            at % 2,
            (f64::from(at % 2) + noise).round()
        ));
    }
    text
}

#[test]
fn a_log_that_does_not_fit_fails_where_that_is_asked_for() {
    let place = Place::with_log(rounded_laplace());
    let audit = ["audit", "log.csv", "--quick", "--quiet", "--claim"];
    let code = |claim: &str, fail_on: &str| {
        let output = place.run(&[&audit[..], &[claim, "--fail-on", fail_on]].concat());
        output.status.code()
    };
    let law = "geometric(nu=1)";
    assert_ne!(code(law, "violated"), Some(1));
    assert_eq!(code(law, "misfit"), Some(1));
    assert_eq!(code(law, "violated,misfit"), Some(1));
    assert_eq!(code("advantage(0.9)", "misfit"), Some(2));
    let told = place.run(&[&audit[..], &[law, "--fail-on", "misfit"]].concat());
    let told = String::from_utf8_lossy(&told.stderr).into_owned();
    assert!(
        told.starts_with("MISFIT: fit of geometric(nu=1). "),
        "{told}"
    );
    let junit = [
        "geometric(nu=1)",
        "--fail-on",
        "misfit",
        "--junit",
        "out.xml",
    ];
    place.run(&[&audit[..], &junit].concat());
    let xml = std::fs::read_to_string(place.path().join("out.xml")).expect("a report");
    assert!(
        xml.contains("fit of geometric(nu=1)") && xml.contains("type=\"misfit\""),
        "{xml}"
    );
}

#[test]
fn a_summary_that_cannot_be_written_is_said_and_changes_no_verdict() {
    let place = tempfile::tempdir().unwrap();
    let nowhere = place.path().join("no/summary.md");
    for (claim, code) in [("--claim=ldp(epsilon=1)", 1), ("--claim=ldp(epsilon=3)", 0)] {
        let output = run(&[claim, "--ci"], Some(&nowhere.to_string_lossy()));
        let message = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(code), "{message}");
        assert!(message.contains("job summary is not written"), "{message}");
        assert!(message.contains("summary.md"), "{message}");
        assert!(!output.stdout.is_empty());
    }
}

/// Gaussian noise whose ε at 1e-5 is 1.5 needs far more rows than two outcomes: an audit proves 0.2 of 10,000.
#[test]
fn a_leak_in_numbers_is_planted_in_numbers() {
    use rand_distr::{Distribution, StandardNormal};
    let mut rng = leakgauge_testing::rng(8);
    let mut text = "secret,x\n".to_owned();
    for row in 0..6000 {
        let noise: f64 = StandardNormal.sample(&mut rng);
        text += &format!("{},{noise}\n", ["a", "b"][row % 2]);
    }
    let place = Place::with_log(text);
    let detect = |claim: &str, leak: &str| {
        let more = ["--format", "json", "--quick", "--claim", claim];
        let all = [&["audit", "log.csv", "--must-detect", leak][..], &more].concat();
        let output = place.run(&all);
        let report: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
        let found = &report["must_detect"][0];
        assert_eq!(found["planted"], "numbers");
        found["too_weak"] == true
    };
    assert!(detect("dp(epsilon=1, delta=1e-5)", "epsilon=1.5"));
    assert!(!detect("advantage(0.1)", "advantage=0.3"));
}
