//! Logs are collected from programs that answer, die, hang or talk too much; what was collected is never lost.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use serde_json::Value;

use crate::common::{Place, assert_refused, stderr, stdout};

/// The arguments that ask a shell script, which reads a class a line.
fn asks<'a>(options: &[&'a str], script: &'a str) -> Vec<&'a str> {
    let first = ["probe", "--classes", "a,b,c", "-n", "20", "--warm-up", "2"];
    [&first[..], options, &["--", "sh", "-c", script]].concat()
}

/// Answers each class by its letter and a count.
const COUNTS: &str = "n=0; while read c; do n=$((n+1)); echo $n; done";

fn rows(log: &str) -> Vec<Vec<String>> {
    let mut reader = csv::ReaderBuilder::new()
        .has_headers(false)
        .from_reader(log.as_bytes());
    let rows = reader.records().map(|row| row.expect("a row"));
    rows.map(|row| row.iter().map(str::to_owned).collect())
        .collect()
}

#[test]
fn every_block_holds_every_class_once_in_an_order_of_the_seed() {
    let place = Place::new();
    let log = |seed| stdout(&place.run(&asks(&["--seed", seed], COUNTS)));
    let text = log("1");
    let rows = rows(&text);
    assert_eq!(
        rows[0],
        ["block", "sequence", "secret", "observation", "time_ns"]
    );
    assert_eq!(rows.len(), 61);
    let classes = |text: &str| -> Vec<String> {
        self::rows(text)[1..]
            .iter()
            .map(|row| row[2].clone())
            .collect()
    };
    for (block, rows) in rows[1..].chunks(3).enumerate() {
        let held: BTreeSet<&str> = rows.iter().map(|row| row[2].as_str()).collect();
        assert_eq!(held.into_iter().collect::<Vec<_>>(), ["a", "b", "c"]);
        for (at, row) in rows.iter().enumerate() {
            let sequence = 3 * block + at;
            // Two blocks of warm-up were answered before.
            let expected = [block, sequence, sequence + 7].map(|number| number.to_string());
            assert_eq!(
                [&row[0], &row[1], &row[3]],
                [&expected[0], &expected[1], &expected[2]]
            );
            assert!(row[4].parse::<u64>().is_ok_and(|time| time > 0), "{row:?}");
        }
    }
    assert_eq!(classes(&text), classes(&log("1")));
    assert_ne!(classes(&text), classes(&log("2")));
    let orders: BTreeSet<Vec<String>> = classes(&text).chunks(3).map(<[_]>::to_vec).collect();
    assert!(orders.len() > 2, "{orders:?}");
}

#[test]
fn a_log_is_recognized_with_its_answers_as_observation() {
    let place = Place::new();
    let output = place.run(&asks(&["-o", "log.csv"], COUNTS));
    assert!(output.status.success(), "{}", stderr(&output));
    assert!(stderr(&output).contains("60 rows"), "{}", stderr(&output));
    assert!(stderr(&output).contains("Next: leakgauge check log.csv"));
    let report = place.json(&["check", "log.csv"]);
    assert_eq!(report["input"]["recognized"], "probe");
    let columns = report["input"]["observation"]["columns"].as_array();
    assert_eq!(columns.map(Vec::len), Some(1));
    // Whoever names columns gets them.
    let report = place.json(&["check", "log.csv", "--observe", "time_ns"]);
    assert_eq!(
        report["input"]["observation"]["columns"][0]["name"],
        "time_ns"
    );
}

#[test]
fn answers_of_text_are_read_row_by_row_and_numbers_in_blocks() {
    let place = Place::new();
    let echoes = "while read c; do echo $c; done";
    for (name, script) in [("texts.csv", echoes), ("numbers.csv", COUNTS)] {
        let output = place.run(&asks(&["-o", name], script));
        assert!(output.status.success(), "{}", stderr(&output));
    }
    let report = place.json(&["check", "texts.csv"]);
    assert_eq!(report["input"]["recognized"], "probe");
    assert_eq!(report["input"]["observation"]["kind"], "discrete");
    let report = place.json(&["estimate", "numbers.csv", "--quick"]);
    assert!(report["differences"].is_array(), "{report}");
}

#[test]
fn a_reader_that_closes_the_log_early_is_no_error() {
    let place = Place::new();
    let asked = asks(&[], COUNTS);
    // More than a pipe holds.
    let asked = asked.iter().map(|word| match *word {
        "20" => "20000",
        word => word,
    });
    let mut probe = Command::new(env!("CARGO_BIN_EXE_leakgauge"))
        .args(asked)
        .current_dir(place.path())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("leakgauge");
    // The pipe is closed while rows are still written.
    drop(probe.stdout.take());
    let output = probe.wait_with_output().expect("leakgauge");
    assert!(output.status.success(), "{}", stderr(&output));
}

#[test]
fn objects_become_columns_and_empty_answers_are_timed() {
    let place = Place::new();
    let objects = "while read c; do echo \"{\\\"t\\\": 1.5, \\\"code\\\": \\\"$c\\\"}\"; done";
    let text = rows(&stdout(&place.run(&asks(&[], objects))));
    assert_eq!(text[0][3..], ["code", "t", "time_ns"]);
    assert_eq!(text[1][3], text[1][2]);
    let output = place.run(&asks(&[], "while read c; do echo; done"));
    assert!(
        stderr(&output).contains("round trip"),
        "{}",
        stderr(&output)
    );
    for row in &rows(&stdout(&output))[1..] {
        assert_eq!(row[3], row[4]);
    }
}

/// The message of a program that fails on the way, and the rows that were kept.
fn fails(options: &[&str], script: &str, words: &[&str]) -> usize {
    let place = Place::new();
    let output = place.run(&asks(&[&["-o", "log.csv"], options].concat(), script));
    assert_refused(&output, words);
    let log = std::fs::read_to_string(place.path().join("log.csv")).expect("the log is kept");
    assert!(log.is_empty() || log.ends_with('\n'), "{log:?}");
    let rows = rows(&log);
    assert!(rows.iter().all(|row| row.len() == rows[0].len()));
    rows.len().saturating_sub(1)
}

#[test]
fn a_program_that_dies_leaves_whole_rows() {
    let dies = "n=0; while read c; do n=$((n+1)); [ $n = 17 ] && exit 4; echo $n; done";
    // Six answers of warm-up, then ten.
    assert_eq!(fails(&[], dies, &["`sh`", "exit status: 4", "block 3"]), 10);
    assert_eq!(fails(&[], "exit 0", &["`sh`", "ended"]), 0);
    let partial =
        "n=0; while read c; do n=$((n+1)); [ $n = 9 ] && { printf 9; exit; }; echo $n; done";
    assert_eq!(fails(&[], partial, &["in the middle of an answer"]), 2);
}

#[test]
fn a_program_that_hangs_is_given_up() {
    let hangs = "n=0; while read c; do n=$((n+1)); [ $n = 12 ] && exec sleep 60; echo $n; done";
    let rows = fails(
        &["--timeout", "300ms"],
        hangs,
        &["within 0.3 s", "flush", "--timeout"],
    );
    assert_eq!(rows, 5);
}

#[test]
fn a_program_that_answers_twice_is_found_out() {
    let words = ["not asked for", "another class"];
    let twice =
        "n=0; while read c; do n=$((n+1)); echo $n; [ $n = 10 ] && { echo 0; sleep 0.05; }; done";
    fails(&[], twice, &words);
    // Even if it does so only at the end.
    let at_last = "while read c; do echo 1; done; echo 2";
    assert_eq!(fails(&[], at_last, &words), 60);
    // Before the second answer is seen, a slow machine may have asked again.
    assert!(fails(&[], "echo ready; cat", &words) < 60);
}

#[test]
fn answers_of_another_kind_are_garbage() {
    for (garbage, words) in [
        ("echo oops", "a text, where the first answer was a number"),
        ("echo", "an empty line"),
        ("printf '\\377\\n'", "not UTF-8"),
        ("echo '{\"t\": 1'", "no JSON"),
    ] {
        let script = format!(
            "n=0; while read c; do n=$((n+1)); if [ $n = 20 ]; then {garbage}; else echo $n; fi; done"
        );
        assert_eq!(fails(&[], &script, &[words]), 13, "{garbage}");
    }
    let reserved = "while read c; do echo '{\"secret\": 1}'; done";
    fails(&[], reserved, &["`secret`", "another name"]);
}

#[test]
fn what_cannot_be_asked_is_refused() {
    let place = Place::new().file("log.csv", "kept");
    let with = |classes: &str, others: &[&str]| -> Output {
        let all = [&["probe", "--classes", classes], others, &["--", "cat"]].concat();
        place.run(&all)
    };
    assert_refused(&with("a", &[]), &["--classes", "fewer than two"]);
    assert_refused(&with("a,b,a", &[]), &["--classes", "names a twice"]);
    assert_refused(&with("a,", &[]), &["--classes", "is no class"]);
    assert_refused(&with("a,b", &["-n", "0"]), &["--blocks 0"]);
    assert_refused(&with("a,b", &["--timeout", "soon"]), &["--timeout soon"]);
    assert_refused(&with("a,b", &["-o", "log.csv"]), &["log.csv", "--force"]);
    let kept = std::fs::read_to_string(place.path().join("log.csv"));
    assert_eq!(kept.expect("the file"), "kept");
    assert!(with("a,b", &["-o", "log.csv", "--force"]).status.success());
    let absent = ["probe", "--classes", "a,b", "--", "./no-such-program"];
    place.refuses(&absent, &["no-such-program", "cannot be run"]);
}

#[test]
fn a_process_for_each_sample_is_warned_about() {
    let place = Place::new();
    let all = [
        "probe",
        "--spawn",
        "--classes",
        "a,b",
        "-n",
        "3",
        "--warm-up",
        "0",
        "--",
    ];
    let output = place.run(&[&all[..], &["sh", "-c", "read c; echo $c"]].concat());
    assert!(stderr(&output).contains("warning: every sample is a process"));
    let rows = rows(&stdout(&output));
    assert_eq!(rows.len(), 7);
    assert!(rows[1..].iter().all(|row| row[2] == row[3]));
    for (script, words) in [
        ("read c; echo 1; echo 2", "not asked for"),
        ("exit 3", "exit status: 3"),
    ] {
        place.refuses(&[&all[..], &["sh", "-c", script]].concat(), &[words]);
    }
}

/// Builds an example, or says that this machine cannot.
fn built(place: &Place, compiler: &str, arguments: &[&str]) -> bool {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/probe");
    let status = Command::new(compiler)
        .current_dir(source)
        .args(arguments)
        .arg("-o")
        .arg(place.path().join("compare"))
        .status();
    match status {
        Ok(status) => {
            assert!(status.success(), "{compiler} {arguments:?}");
            true
        }
        Err(_) => {
            eprintln!("skipped: no {compiler}");
            false
        }
    }
}

/// Whether an audit of a comparison that was probed finds that it leaks.
fn leaks(place: &Place, command: &[&str], kind: &str) -> bool {
    let first = "probe --classes early,late,same -n 1500 -o log.csv --";
    let first: Vec<&str> = first.split(' ').collect();
    let output = place.run(&[&first[..], command, &[kind]].concat());
    assert!(output.status.success(), "{}", stderr(&output));
    // At this level one correct program in a thousand is called wrong.
    let audit =
        "audit log.csv --quick --confidence 0.999 --format json --claim attack-advantage(0.3)";
    let output = place.run(&audit.split(' ').collect::<Vec<_>>());
    std::fs::remove_file(place.path().join("log.csv")).expect("a log");
    let report: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!(report["input"]["recognized"], "probe");
    match output.status.code() {
        Some(1) => true,
        Some(0 | 3) => false,
        other => panic!("{other:?}: {}", stderr(&output)),
    }
}

/// In how many of three processes a program is called wrong. One process can have a class that really is slower, for as
/// long as it lives: where its memory lies and what else runs decide that. And other tests that run in bursts make
/// times resemble those before them so much that there are no limits.
fn times_it_leaks(place: &Place, command: &[&str], kind: &str) -> usize {
    (0..3).filter(|_| leaks(place, command, kind)).count()
}

#[test]
#[ignore = "long"]
fn a_comparison_that_stops_early_is_caught_and_a_constant_one_is_not() {
    let place = Place::new();
    let check = |command: &[&str]| {
        assert!(
            times_it_leaks(&place, command, "variable") > 0,
            "{command:?}"
        );
        assert!(
            times_it_leaks(&place, command, "constant") < 3,
            "{command:?}"
        );
    };
    let harnesses = [
        ("rustc", &["-O", "main.rs"][..]),
        ("cc", &["-O1", "compare.c"][..]),
    ];
    for (compiler, arguments) in harnesses {
        if built(&place, compiler, arguments) {
            check(&["./compare"]);
        }
    }
    if Command::new("python3").arg("--version").output().is_ok() {
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/probe/compare.py");
        check(&["python3", script.to_str().expect("a path in UTF-8")]);
    }
}

/// The exit code, what was said and the rows of a collection that stops once a claim is decided.
fn until(options: &[&str], command: &[&str]) -> (Option<i32>, String, usize) {
    let place = Place::new();
    let first = [
        "probe",
        "--classes",
        "a,b",
        "--until",
        "decided",
        "-o",
        "log.csv",
    ];
    let output = place.run(&[&first[..], options, &["--"], command].concat());
    let log = std::fs::read_to_string(place.path().join("log.csv")).unwrap_or_default();
    assert!(log.is_empty() || log.ends_with('\n'), "{log:?}");
    (
        output.status.code(),
        stderr(&output),
        log.lines().count().saturating_sub(1),
    )
}

const CLAIMS_10: [&str; 4] = ["--claim", "time-difference(10ns)", "--unit", "ns"];

#[test]
fn a_collection_ends_when_a_claim_is_violated_or_holds() {
    // b takes 50 longer, in noise that a shell can make.
    let differs = "n=7; while read c; do n=$(( (n * 1103515245 + 12345) % 2147483648 )); t=$(( n / 65536 % 60 )); \
                   [ $c = b ] && t=$((t + 50)); echo $t; done";
    let (code, said, rows) = until(&CLAIMS_10, &["sh", "-c", differs]);
    assert_eq!(code, Some(1), "{said}");
    assert!(rows < 400 && rows % 2 == 0, "{rows}");
    assert!(
        said.contains("VIOLATED after ") && said.contains("b takes at least "),
        "{said}"
    );
    assert!(
        said.contains(" ns longer than a") && said.contains("log that is followed"),
        "{said}"
    );
    let same = differs.replace("t + 50", "t + 0");
    let claim = ["--claim", "time-difference(0.05us)", "--unit", "ns"];
    let (code, said, rows) = until(&claim, &["sh", "-c", &same]);
    assert_eq!(code, Some(0), "{said}");
    assert!(
        rows < 2_000 && said.contains("HOLDS after "),
        "{rows} {said}"
    );
}

#[test]
fn a_budget_that_decides_nothing_is_inconclusive() {
    let (code, said, rows) = until(
        &[&CLAIMS_10[..], &["-n", "4"]].concat(),
        &["sh", "-c", COUNTS],
    );
    assert_eq!((code, rows), (Some(3), 8), "{said}");
    assert!(said.contains("INCONCLUSIVE after 4 blocks"), "{said}");
}

#[test]
fn what_was_proved_before_a_program_died_is_said_and_its_rows_are_kept() {
    // Its times are equal, so that nothing exceeds the claim and few blocks decide nothing.
    let dies = "n=0; while read c; do n=$((n+1)); [ $n = 51 ] && exit 4; echo 5; done";
    let claim = ["--claim", "advantage(0.1)"];
    let (code, said, rows) = until(&claim, &["sh", "-c", dies]);
    // Twenty answers of warm-up, then thirty.
    assert_eq!((code, rows), (Some(2), 30), "{said}");
    for words in [
        "What 15 blocks prove",
        "INCONCLUSIVE",
        "exit status: 4",
        "block 15",
    ] {
        assert!(said.contains(words), "{words}: {said}");
    }
}

#[test]
fn answers_that_cannot_be_judged_are_refused() {
    let words = "while read c; do echo $c; done";
    let (code, said, _) = until(&CLAIMS_10, &["sh", "-c", words]);
    assert_eq!(code, Some(2), "{said}");
    assert!(said.contains("only numbers are judged"), "{said}");
    let objects = "while read c; do echo '{\"t\": 1.5, \"size\": 3}'; done";
    let (code, said, _) = until(&CLAIMS_10, &["sh", "-c", objects]);
    assert_eq!(code, Some(2), "{said}");
    assert!(said.contains("--observe"), "{said}");
    let field = [&CLAIMS_10[..], &["--observe", "size", "-n", "300"]].concat();
    assert_eq!(until(&field, &["sh", "-c", objects]).0, Some(0));
    let unknown = [&CLAIMS_10[..], &["--observe", "weight"]].concat();
    assert_eq!(until(&unknown, &["sh", "-c", objects]).0, Some(2));
    // Empty answers are timed, in ns.
    let empty = "while read c; do echo; done";
    let claim = ["--claim", "time-difference(1s)"];
    assert_eq!(until(&claim, &["sh", "-c", empty]).0, Some(0));
    let no_unit = until(&claim, &["sh", "-c", COUNTS]);
    assert_eq!(no_unit.0, Some(2));
    assert!(no_unit.1.contains("--unit ns"), "{}", no_unit.1);
    let place = Place::new();
    let all = [
        "probe",
        "--classes",
        "a,b",
        "--until",
        "decided",
        "--",
        "cat",
    ];
    assert_eq!(place.run(&all).status.code(), Some(2));
    let mechanism = until(&["--claim", "laplace(scale=1)"], &["sh", "-c", COUNTS]);
    assert_eq!(mechanism.0, Some(2));
}

#[test]
fn a_comparison_is_decided_by_its_median() {
    let place = Place::new();
    if !built(&place, "rustc", &["-O", "main.rs"]) {
        return;
    }
    let decide = |kind: &str| {
        let log = format!("{kind}.csv");
        let first = [
            "probe",
            "--classes",
            "early,late,same",
            "--until",
            "decided",
        ];
        // At this level one correct program in a thousand is called wrong.
        let claim = [
            "--claim",
            "time-difference(1us)",
            "--unit",
            "ns",
            "--confidence",
            "0.999",
        ];
        let last = ["-n", "2000", "-o", &log, "--", "./compare", kind];
        let output = place.run(&[&first[..], &claim, &last].concat());
        (output.status.code(), stderr(&output))
    };
    let (code, said) = decide("variable");
    assert_eq!(code, Some(1), "{said}");
    assert!(said.contains("longer than early"), "{said}");
    let (code, said) = decide("constant");
    assert!(matches!(code, Some(0 | 3)), "{said}");
}

#[cfg(unix)]
#[test]
fn a_process_that_closes_its_output_is_not_waited_for() {
    let begun = std::time::Instant::now();
    let closes = "read c; exec >&-; exec sleep 60";
    let words = ["closed its output for", "within 0.5 s", "--timeout"];
    assert_eq!(fails(&["--spawn", "--timeout", "500ms"], closes, &words), 0);
    let gone = ["ended (it closed its output)"];
    assert_eq!(fails(&["--timeout", "500ms"], closes, &gone), 0);
    assert!(begun.elapsed().as_secs() < 20, "{:?}", begun.elapsed());
}

/// A pipe holds less than the name.
#[cfg(unix)]
#[test]
fn a_class_that_nobody_reads_is_given_up() {
    let classes = format!("{},b", "x".repeat(100_000));
    let ask = |time: &str, more: &[&str], script: &str| {
        let first = ["probe", "--classes", &classes, "-n", "3", "--timeout", time];
        Place::new().run(&[&first[..], more, &["--", "sh", "-c", script]].concat())
    };
    for more in [&[][..], &["--spawn"]] {
        let begun = std::time::Instant::now();
        let output = ask("1s", more, "exec sleep 60");
        // Which class came first is drawn; the short one fits into the pipe.
        assert_refused(&output, &["within 1 s"]);
        assert!(output.stderr.len() < 1_000, "{}", stderr(&output));
        assert!(begun.elapsed().as_secs() < 20, "{:?}", begun.elapsed());
    }
    // Who answers without reading fills the pipe in the end.
    let output = ask(
        "1s",
        &["--warm-up", "0"],
        "sleep 0.3; echo 1; exec sleep 60",
    );
    assert_eq!(output.status.code(), Some(2));
    assert!(
        stderr(&output).contains("within 1 s"),
        "{}",
        stderr(&output)
    );
    // Who reads is asked as ever.
    let output = ask("20s", &[], "exec cat");
    assert!(output.status.success(), "{}", stderr(&output));
}

/// Files may have 1 kB at most, as on a disk that is full then.
#[cfg(target_os = "linux")]
#[test]
fn a_row_that_does_not_fit_on_the_disk_is_not_cut() {
    for shield in ["", "trap '' XFSZ;"] {
        let place = Place::new();
        let program = place.command();
        let script = format!(
            "{shield} ulimit -f 2; exec {} probe --classes a,b -n 300 --warm-up 0 -o log.csv -- \
             sh -c 'while read c; do echo 1.23456789; done'",
            program.get_program().to_string_lossy()
        );
        let output = Command::new("sh")
            .args(["-c", &script])
            .current_dir(place.path())
            .output()
            .expect("a shell");
        assert_refused(&output, &["log.csv"]);
        let log = std::fs::read_to_string(place.path().join("log.csv")).expect("the log is kept");
        let rows = rows(&log);
        assert!(log.ends_with('\n') && rows.len() > 10, "{log}");
        assert!(rows.iter().all(|row| row.len() == 5), "{log}");
        assert_eq!(rows.len() % 2, 1, "a block is cut");
    }
}

#[test]
fn an_attacker_is_a_claim_with_a_name() {
    // Answers are ns, of which b takes 300 longer.
    let differs = r#"n=0; while read c; do n=$((n+7)); t=$((1000+n%13)); [ $c = b ] && t=$((t+300)); echo $t; done"#;
    let command = ["sh", "-c", differs];
    let (code, said, _) = until(&["--attacker", "lan", "--unit", "ns"], &command);
    assert_eq!(code, Some(1), "{said}");
    assert!(
        said.contains("VIOLATED") && said.contains("time-difference(lan)"),
        "{said}"
    );
    let (code, said, _) = until(&["--attacker", "internet", "--unit", "ns"], &command);
    assert_eq!(code, Some(0), "{said}");
    for unknown in ["wan", "5ns", "1); x("] {
        let (code, said, _) = until(&["--attacker", unknown], &command);
        assert_eq!(code, Some(2));
        assert!(said.contains("is no attacker"), "{said}");
    }
    let (code, said, _) = until(&[], &command);
    assert_eq!(code, Some(2));
    assert!(said.contains("--attacker lan"), "{said}");
}
