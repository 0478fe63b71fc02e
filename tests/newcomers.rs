//! Mistakes that newcomers make: one clear message each, with what to do, and exit code 2.

use crate::common::{Place, assert_refused, stderr};

/// 200 rows of two sites and a time.
fn place() -> Place {
    let mut log = "site,time_ms\n".to_owned();
    let mut secret = "secret,observation\n".to_owned();
    let mut unique = "class1,class2\n".to_owned();
    for row in 0..200u32 {
        let time = f64::from(row * 7919 % 1000) / 8.0;
        log += &format!("{},{time}\n", ["a", "b"][row as usize % 2]);
        secret += &format!("{},{}\n", row % 2, row * 7 % 5);
        unique += &format!("{},{}\n", f64::from(row) + 0.25, time);
    }
    let repeated = format!("{secret}{secret}");
    Place::with_log(&secret)
        .file("my log.csv", &secret)
        .file("site.csv", log)
        .file("unique.csv", unique)
        .file("repeated.csv", repeated)
        .file("picture.csv", b"\x89PNG\r\n\x1a\n0000IHDR")
        .file("pickle.pkl", b"\x80\x04\x95rest")
        .file("utf16.csv", b"\xff\xfes\0e\0")
        .file("empty.csv", "")
        .file("header.csv", "secret,observation\n")
        .file("one.csv", "secret,observation\na,1\na,2\na,3\n")
}

#[test]
fn every_mistake_has_a_message_that_helps() {
    let place = place();
    let claim = |claim: &'static str| vec!["audit", "log.csv", "--claim", claim];
    let mistakes: [(Vec<&str>, &[&str]); 35] = [
        (claim("dp(1, 1e-5)"), &["write dp(epsilon=1, delta=1e-5)"]),
        (claim("dp(1,5)"), &["only the first value", "a point: 1.5"]),
        (claim("dp(eps=1)"), &["epsilon"]),
        (claim("DP(1)"), &["did you mean dp?"]),
        (claim("no-leak"), &["did you mean advantage(0)?"]),
        (claim("constant-time"), &["time-difference(10ns)"]),
        (claim("membership(0.1)"), &["attack-advantage(0.1)"]),
        (
            claim("randomi\u{73}ed-response(1)"),
            &["randomized-response"],
        ),
        (claim("laplac(1)"), &["did you mean laplace?"]),
        (
            claim("nonsense(1)"),
            &["no claim has this name", "usual ones are"],
        ),
        (claim("log.csv"), &["looks like a file"]),
        (claim("advantage(5)"), &["between 0 and 1"]),
        (claim("dp(epsilon=-1)"), &["epsilon", "at least 0"]),
        (claim("dp(1"), &["dp(1"]),
        (
            vec!["audit", "log.csv"],
            &["--claim", "leakgauge estimate log.csv"],
        ),
        (
            vec!["audit", "my log.csv"],
            &["leakgauge estimate 'my log.csv'"],
        ),
        (
            vec!["audit", "log.csv", "dp(epsilon=1)"],
            &["leakgauge audit log.csv --claim 'dp(epsilon=1)'"],
        ),
        (
            vec!["audit", "dp(epsilon=1)", "log.csv"],
            &["leakgauge audit log.csv --claim 'dp(epsilon=1)'"],
        ),
        (
            vec!["estimate", "log.csv", "--claim", "advantage(0)"],
            &["leakgauge audit"],
        ),
        (vec!["estimate", "log.csv", "--json"], &["--format json"]),
        (
            vec!["estimate", "log.csv", "--output-format", "json"],
            &["--format json"],
        ),
        (vec!["estimate", "log.csv", "--verbose"], &["--full"]),
        (
            vec!["audit", "log.csv", "--epsilon", "1"],
            &["--claim 'dp(epsilon=1)'"],
        ),
        (vec!["estimate", "--input", "log.csv"], &["leakgauge LOG"]),
        (vec!["bounds", "log.csv"], &["looks like a file"]),
        (vec!["explain", "log.csv"], &["looks like a file"]),
        (vec!["estimate", "no.csv"], &["no such file"]),
        (vec!["estimate", "site.csv", "--secret", "Site"], &["site"]),
        (
            vec!["estimate", "unique.csv", "--secret", "class1"],
            &["most of them once", "--wide"],
        ),
        (vec!["estimate", "repeated.csv"], &["header"]),
        (vec!["estimate", "picture.csv"], &["a picture"]),
        (vec!["estimate", "pickle.pkl"], &["a pickle of Python"]),
        (vec!["estimate", "utf16.csv"], &["iconv -f utf-16 -t utf-8"]),
        (vec!["estimate", "header.csv"], &["header.csv"]),
        (vec!["estimate", "one.csv"], &["one secret"]),
    ];
    for (arguments, words) in mistakes {
        let output = place.run(&arguments);
        assert_refused(&output, words);
        let message = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(message.len() < 600, "{arguments:?}: {message}");
    }
    place.refuses(&["estimate", "empty.csv"], &["is empty"]);
}

/// Values that are called as their fields are no header.
#[test]
fn records_whose_values_are_their_names_are_data() {
    let mut text = String::new();
    for row in 0..200 {
        text += ["{\"x\":\"x\",\"y\":\"y\"}\n", "{\"x\":\"z\",\"y\":\"w\"}\n"][row % 2];
    }
    let place = Place::new().file("log.jsonl", text);
    let output = place.run(&[
        "audit",
        "log.jsonl",
        "--secret",
        "x",
        "--claim",
        "advantage(0.1)",
    ]);
    assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
    // Every column a secret, and each shown as it is.
    let wide = format!("red,blue\n{}", "red,blue\n".repeat(200));
    let place = Place::with_log(wide);
    let output = place.run(&["audit", "log.csv", "--wide", "--claim", "advantage(0.1)"]);
    assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
}
