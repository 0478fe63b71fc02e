//! Mistakes that newcomers make: one clear message each, with what to do, and exit code 2.

use crate::common::{Place, assert_refused, stderr, stdout};

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

/// A log that is no log, or is read otherwise than it was meant.
fn other_files() -> Place {
    let mut log = "secret,time\n".to_owned();
    let mut other = "secret,time\n".to_owned();
    let mut failed = "secret,time\n".to_owned();
    let mut kinds = "arm,kind,time\n".to_owned();
    let mut alone = "secret,user,time\n".to_owned();
    let mut swapped = "secret,time\n".to_owned();
    let mut drawn = "# Times\n\n| secret | time |\n| --- | ---: |\n".to_owned();
    let (mut secrets, mut times) = (Vec::new(), Vec::new());
    for row in 0..400usize {
        let (secret, time) = (
            ["a", "b"][row * 7919 % 13 % 2],
            (row * 7919 % 1009) as f64 / 8.0,
        );
        log += &format!("{secret},{time}\n");
        other += &format!("{},{time}\n", ["c", "d"][row % 3 % 2]);
        let is_failed = row % 40 == 3;
        failed += &format!(
            "{secret},{}\n",
            if is_failed {
                "ERROR".into()
            } else {
                time.to_string()
            }
        );
        kinds += &format!("{secret},{},{time}\n", ["x", "y", "z"][row % 3]);
        alone += &format!("{secret},u{row},{time}\n");
        swapped += &format!("{time},{secret}\n");
        drawn += &format!("| {secret} | {time} |\n");
        secrets.push(format!("\"{secret}\""));
        times.push(time.to_string());
    }
    let columns = format!(
        "{{\"secret\": [{}],\n \"time\": [{}]}}",
        secrets.join(","),
        times.join(", ")
    );
    let place = Place::with_log(log.clone())
        .file("other.csv", other)
        .file("failed.csv", failed)
        .file("kinds.csv", kinds)
        .file("alone.csv", alone)
        .file("swapped.csv", swapped)
        .file("table.md", &drawn)
        .file("columns.json", columns)
        .file(
            "notebook.ipynb",
            "{\n \"cells\": [\n  {\"cell_type\": \"code\", \"source\": []}\n ],\n \"nbformat\": 4}",
        )
        .file(
            "page.csv",
            "\n<!DOCTYPE html>\n<html><body>secret</body></html>\n",
        )
        .file(
            "pointer.csv",
            "version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 12\n",
        )
        .file("two.md", format!("{drawn}\n{drawn}"));
    std::fs::create_dir(place.path().join("logs")).expect("a directory");
    std::fs::create_dir(place.path().join("papers")).expect("a directory");
    place
        .file("logs/README.md", "# Logs\n\nThese are logs, of rows.\n")
        .file("logs/log.csv", log)
        .file("papers/README.md", "# None\n")
}

#[test]
fn files_that_are_no_logs_are_named() {
    let place = other_files();
    place.refuses(
        &["estimate", "notebook.ipynb"],
        &["Jupyter notebook", "to_csv"],
    );
    place.refuses(&["estimate", "page.csv"], &["HTML"]);
    place.refuses(&["estimate", "pointer.csv"], &["Git LFS", "git lfs pull"]);
    place.refuses(
        &["estimate", "papers"],
        &["without logs", "papers/README.md"],
    );
    place.refuses(&["estimate", "two.md"], &["a second table"]);
    // Tables and columns are read as the same rows in CSV.
    let expected = place.json(&["estimate", "log.csv"]);
    for other in ["table.md", "columns.json", "logs"] {
        let found = place.json(&["estimate", other]);
        assert_eq!(found["worst_pair"], expected["worst_pair"], "{other}");
        assert_eq!(found["input"]["rows"], 400, "{other}");
    }
    let text = stdout(&place.run(&["estimate", "logs"]));
    assert!(
        text.contains("logs/README.md is for readers and was not read."),
        "{text}"
    );
}

#[test]
fn a_log_without_a_named_secret_is_shown_with_the_commands_that_name_one() {
    let place = other_files();
    let output = place.run(&["check", "kinds.csv"]);
    assert_eq!(output.status.code(), Some(2));
    let text = stdout(&output);
    for words in [
        "arm     may be the secret  a, b",
        "- leakgauge estimate kinds.csv --secret arm",
        "- leakgauge estimate kinds.csv --secret kind",
    ] {
        assert!(text.contains(words), "{words} is not in {text}");
    }
    assert!(stderr(&output).contains("--secret arm or --secret kind"));
    // Scripts get the error alone.
    place.refuses(
        &["check", "kinds.csv", "--format", "json"],
        &["no column is named"],
    );
    place.refuses(
        &["estimate", "kinds.csv"],
        &["--secret arm or --secret kind"],
    );
}

#[test]
fn columns_that_are_meant_otherwise_are_named() {
    let place = other_files();
    let says = |arguments: &[&str], words: &str| {
        let output = place.run(arguments);
        let text = stdout(&output)
            .split_whitespace()
            .collect::<Vec<_>>()
            .join(" ");
        assert!(
            text.contains(words),
            "{arguments:?}: {words} is not in {text}"
        );
    };
    says(&["estimate", "failed.csv"], "--drop time=ERROR");
    says(
        &["estimate", "failed.csv", "--drop", "time=ERROR"],
        "390 of 400 rows, secret (a:",
    );
    says(
        &["estimate", "failed.csv", "--drop", "time=ERROR"],
        "observed time (numbers)",
    );
    says(
        &["estimate", "alone.csv", "--group", "user"],
        "Every row has a user of its own",
    );
    says(
        &["estimate", "swapped.csv", "--secret", "time"],
        "Column secret is observed",
    );
    says(
        &["compare", "log.csv", "other.csv"],
        "do not have the same secrets",
    );
    place.refuses(
        &["estimate", "log.csv", "--secret", "time"],
        &["leave --secret out"],
    );
    let twice = [
        "estimate",
        "log.csv",
        "--secret",
        "time",
        "--observe",
        "time",
    ];
    place.refuses(&twice, &["two parts", "--secret time, and --observe time"]);
    let named = ["estimate", "log.csv", "--observe", "secret"];
    place.refuses(
        &named,
        &[
            "two parts",
            "the secret, as its name says",
            "--observe secret",
        ],
    );
    place.refuses(&["channel", "log.csv"], &["leakgauge estimate log.csv"]);
    let claim = ["audit", "log.csv", "--claim", "advantage(0.1)"];
    for (option, value, words) in [
        ("--must-detect", "dp(epsilon=1.5)", "write epsilon=1.5"),
        ("--must-detect", "advantage(0.3)", "write advantage=0.3"),
        ("--margin", "5%", "--margin 0.05"),
        ("--margin", "0,05", "--margin 0.05"),
        ("--confidence", "high", "is not a number"),
        ("--seed", "x", "is not a whole number"),
        ("--max-rows", "1e5", "--max-rows 100000"),
        ("--output", "json", "--format json"),
        ("--output", "other.csv", "seems to be a log"),
        ("--output", "log.csv", "is a file that the command reads"),
    ] {
        place.refuses(&[&claim[..], &[option, value]].concat(), &[words]);
    }
}

/// As frames are written with blanks between their columns.
#[test]
fn names_may_stand_over_numbers_between_spaces() {
    let mut spaced = " class time\n".to_owned();
    let mut commas = ",class,time\n".to_owned();
    for row in 0..200usize {
        let (class, time) = (row * 31 % 7 % 2, (row * 7919 % 1009) as f64 / 8.0);
        spaced += &format!("{row} {class} {time}\n");
        commas += &format!("{row},{class},{time}\n");
    }
    let place = Place::new()
        .file("spaced.txt", spaced)
        .file("commas.csv", commas);
    let report = |file: &str| place.json(&["estimate", file, "--secret", "class"]);
    let (spaced, commas) = (report("spaced.txt"), report("commas.csv"));
    assert_eq!(spaced["worst_pair"], commas["worst_pair"]);
    assert_eq!(
        spaced["input"]["observation"],
        commas["input"]["observation"]
    );
}

/// One file a secret, whatever the format.
#[test]
fn each_file_may_be_a_secret() {
    let mut place = Place::new();
    for (secret, shift) in [("in", 0.0), ("out", 3.0)] {
        let times: Vec<String> = (0..200usize)
            .map(|row| ((row * 7919 % 1009) as f64 / 1009.0 + shift).to_string())
            .collect();
        let objects: Vec<String> = times
            .iter()
            .map(|time| format!("{{\"time\":{time}}}"))
            .collect();
        place = place
            .file(&format!("{secret}.txt"), times.join("\n"))
            .file(
                &format!("{secret}.csv"),
                format!("time\n{}\n", times.join("\n")),
            )
            .file(&format!("{secret}.jsonl"), objects.join("\n"));
    }
    for end in ["txt", "csv", "jsonl"] {
        let files = [format!("in.{end}"), format!("out.{end}")];
        let all = ["estimate", &files[0], &files[1]];
        place.refuses(&all, &["--secret-from file"]);
        let report = place.json(&[&all[..], &["--secret-from", "file"]].concat());
        assert_eq!(report["input"]["rows_used"], 400, "{end}");
        assert_eq!(report["input"]["secrets"][0]["label"], "in", "{end}");
        assert_eq!(report["input"]["secrets"][1]["rows"], 200, "{end}");
        let certified = report["worst_pair"]["total_variation"]["lower"].as_f64();
        assert!(certified.is_some_and(|lower| lower > 0.8), "{end}");
    }
    place.refuses(
        &["estimate", "in.csv", "--secret-from", "file"],
        &["one file is given"],
    );
    let mixed = ["estimate", "in.txt", "out.csv", "--secret-from", "file"];
    place.refuses(&mixed, &["out.csv"]);
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

/// Rows of a table of counts are no rows of a log: where a column is called so, it is asked.
#[test]
fn a_column_of_counts_is_asked_about() {
    let table = "secret,answer,count\nA,x,900\nA,y,100\nB,x,100\nB,y,900\n";
    let more = "secret,size,kind,n\n0,1,a,7\n0,2,a,9\n0,2,b,4\n1,1,a,8\n1,2,a,3\n1,2,b,1\n";
    let place = Place::new()
        .file("table.csv", table)
        .file("more.csv", more)
        .file(
            "seen.csv",
            "secret,answer,count\n".to_owned() + &"A,x,3\nB,y,4\n".repeat(40),
        );
    place.refuses(
        &["estimate", "table.csv"],
        &[
            "may say how often each row occurred",
            "--count count",
            "--observe answer,count",
        ],
    );
    place.refuses(
        &["check", "more.csv"],
        &["--count n", "--observe size,kind,n"],
    );
    let counted = place.json(&["estimate", "table.csv", "--count", "count"]);
    assert_eq!(counted["input"]["rows"], 2000);
    let observed = place.json(&["check", "table.csv", "--observe", "answer,count"]);
    assert_eq!(observed["input"]["rows"], 4);
    // A number that was seen, with rows that come again.
    assert_eq!(place.json(&["estimate", "seen.csv"])["input"]["rows"], 80);
}

#[test]
fn points_between_thousands_are_no_decimal_points() {
    let log = |number: &dyn Fn(u32) -> String| {
        let rows =
            (0..400u32).map(|row| format!("{};{}\n", ["a", "b"][row as usize % 2], number(row)));
        format!("class;us\n{}", rows.collect::<String>())
    };
    let value = |row: u32| 600 + row * 7919 % 1000;
    let thousands = |row: u32| match value(row) {
        small @ 0..1000 => small.to_string(),
        large => format!("{}.{:03}", large / 1000, large % 1000),
    };
    let decimals = |row: u32| format!("{}", f64::from(value(row)) / 1000.0);
    let sentinel = |row: u32| match row % 9 {
        0 => "-1".to_owned(),
        _ => format!("{:.3}", 1.0 + f64::from(value(row)) / 1000.0),
    };
    let place = Place::new()
        .file("thousands.csv", log(&thousands))
        .file("decimals.csv", log(&decimals))
        .file("sentinel.csv", log(&sentinel));
    let arguments = |file| ["check", file, "--secret", "class"];
    place.refuses(&arguments("thousands.csv"), &["thousands separators"]);
    for file in ["decimals.csv", "sentinel.csv"] {
        assert_eq!(place.json(&arguments(file))["input"]["rows"], 400, "{file}");
    }
}

/// A list goes by the name of its column in what is suggested, and ids of users who never come again are left out.
#[test]
fn columns_go_by_the_names_that_they_have_in_the_file() {
    let rows = (0..300u32).map(|row| {
        format!(
            "u{:05},{},\"[{}, {}]\",{}\n",
            row * 7919 % 100_000,
            ["a", "b"][row as usize % 2],
            row % 7,
            row % 5,
            row % 3
        )
    });
    let place = Place::with_log(format!(
        "user,secret,sizes,kind\n{}",
        rows.collect::<String>()
    ));
    let text = stdout(&place.run(&["check", "log.csv"]));
    let flat = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(flat.contains("--observe sizes,kind"), "{text}");
    assert!(flat.contains("--observe sizes,kind,user"), "{text}");
    let observed = ["check", "log.csv", "--observe", "sizes,kind,user"];
    assert_eq!(place.run(&observed).status.code(), Some(0));
}

/// Who was born when takes no time.
#[test]
fn dates_are_no_times_that_something_takes() {
    let rows = (0..400u32).map(|row| {
        let (secret, day) = (row % 2, 1 + row * 7919 % 28);
        format!("{secret},{}-03-{day:02}\n", 1960 + row * 31 % 40)
    });
    let place = Place::with_log(format!("secret,born\n{}", rows.collect::<String>()));
    let report = place.json(&["estimate", "log.csv"]);
    assert!(report["differences"].is_null(), "{}", report["differences"]);
}

/// The last line sums up the others.
#[test]
fn a_line_of_totals_is_named_with_what_leaves_it_out() {
    let rows = (0..400u32)
        .map(|row| format!("{},{}.5\n", ["a", "b"][row as usize % 2], row * 7919 % 1000));
    let log = format!("secret,time\n{}Total,199999.5\n", rows.collect::<String>());
    let place = Place::with_log(log);
    let text = stdout(&place.run(&["estimate", "log.csv"]));
    assert!(text.contains("--drop secret=Total"), "{text}");
    let dropped = ["estimate", "log.csv", "--drop", "secret=Total"];
    assert_eq!(place.json(&dropped)["input"]["rows"], 400);
    // It hides no difference of the others.
    let rows = (0..2000u32).map(|row| {
        let time = 1000 + row * 7919 % 997 + 400 * (row % 2);
        format!("{},{time}\n", ["a", "b"][row as usize % 2])
    });
    let log = format!(
        "secret,time_us\n{}Total,49876543\n",
        rows.collect::<String>()
    );
    let place = Place::with_log(log);
    let arguments = ["audit", "log.csv", "--claim", "time-difference(100us)"];
    let output = place.run(&arguments);
    assert_eq!(output.status.code(), Some(1), "{}", stdout(&output));
}

/// What is missing leaks, however it is written: the label that is suggested for it is one for `nan` too.
#[test]
fn nan_is_a_label_where_what_is_missing_is_one() {
    let rows = (0..600u32).map(|row| match row % 6 {
        0 => "a,nan\n".to_owned(),
        other => format!(
            "{},{}.25\n",
            ["a", "b"][other as usize % 2],
            row * 7919 % 1000
        ),
    });
    let place = Place::with_log(format!("secret,time\n{}", rows.collect::<String>()));
    place.refuses(&["estimate", "log.csv"], &["--missing drop"]);
    let arguments = [
        "audit",
        "log.csv",
        "--missing",
        "label",
        "--claim",
        "advantage(0.1)",
    ];
    let output = place.run(&arguments);
    assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
}
