//! The program without arguments, on a log alone, and on the logs that it writes to be tried on.

use crate::common::{Place, stderr, stdout};

#[test]
fn without_arguments_it_says_what_to_try() {
    let place = Place::new();
    let output = place.run(&[]);
    // A pipeline whose arguments got lost must not pass.
    assert_eq!(output.status.code(), Some(2));
    assert!(output.stdout.is_empty());
    let text = stderr(&output);
    assert_eq!(text.lines().count(), 6, "{text}");
    assert!(text.contains("leakgauge demo timing"), "{text}");

    let place = place.file("my times.csv", "secret,time\na,1\n");
    let text = stderr(&place.run(&[]));
    assert_eq!(text.lines().count(), 6, "{text}");
    assert!(text.contains("  leakgauge 'my times.csv' "), "{text}");
}

#[test]
fn a_log_alone_is_estimated_with_all_options() {
    let rows = "secret,answer\n".to_owned() + &"a,x\nb,y\na,y\nb,x\n".repeat(200);
    let place = Place::with_log(rows);
    for more in [
        &[][..],
        &["--quick", "--format", "markdown"],
        &["--full", "--seed=3"],
    ] {
        let short = place.run(&[&["log.csv"][..], more].concat());
        let long = place.run(&[&["estimate", "log.csv"][..], more].concat());
        assert_eq!(short.status.code(), Some(0), "{}", stderr(&short));
        assert_eq!(stdout(&short), stdout(&long));
    }
    let missing = place.run(&["lag.csv"]);
    assert_eq!(missing.status.code(), Some(2));
    assert!(stderr(&missing).contains("lag.csv"), "{}", stderr(&missing));
    let unknown = place.run(&["estimat", "log.csv"]);
    assert!(
        stderr(&unknown).contains("'estimate'"),
        "{}",
        stderr(&unknown)
    );
}

#[test]
fn a_demonstration_writes_a_log_and_says_what_to_run() {
    for (name, code, shown) in [
        ("timing", 1, "VIOLATED  time-difference(10ns)"),
        ("dp", 1, "VIOLATED  dp(epsilon=1)"),
        ("traffic", 0, "LEAK  "),
    ] {
        let place = Place::new();
        let output = place.run(&["demo", name]);
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
        let text = stdout(&output);
        let command = text.lines().last().expect("a line");
        let command = command.strip_prefix("Try: leakgauge ").expect("a command");
        let arguments: Vec<String> = command
            .split(' ')
            .map(|word| word.replace('\'', ""))
            .collect();
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        let report = place.run(&arguments);
        assert_eq!(report.status.code(), Some(code), "{}", stderr(&report));
        assert!(stdout(&report).contains(shown), "{}", stdout(&report));
    }
}

#[test]
fn a_demonstration_overwrites_nothing() {
    let place = Place::new()
        .file("demo-dp.csv", "mine")
        .file("own.csv", "mine too");
    for (arguments, file) in [
        (&["demo", "dp"][..], "demo-dp.csv"),
        (&["demo", "dp", "-o", "own.csv"], "own.csv"),
    ] {
        let before = std::fs::read(place.path().join(file)).expect("the file");
        let output = place.run(arguments);
        assert_eq!(output.status.code(), Some(2));
        assert!(
            stderr(&output).contains("already exists"),
            "{}",
            stderr(&output)
        );
        assert_eq!(
            std::fs::read(place.path().join(file)).expect("the file"),
            before
        );
    }
    let output = place.run(&["demo", "dp", "-o", "a new.csv", "-q"]);
    assert_eq!(
        stdout(&output),
        "leakgauge audit 'a new.csv' --secret dataset --claim 'dp(epsilon=1)'\n"
    );
    assert!(place.path().join("a new.csv").exists());
    let output = place.run(&["demo", "dp", "-o", "none/log.csv"]);
    assert_eq!(output.status.code(), Some(2));
}
