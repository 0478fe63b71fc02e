//! `--follow` of logs in blocks: blocks are judged once they are whole, and claims about times are decided.

use std::fmt::Write as _;
use std::io::Write;
use std::process::Stdio;
use std::time::{Duration, Instant};

use crate::common::{Place, assert_refused, check_schema_of, stderr, stdout};
use leakgauge::stats::special::normal_quantile;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use serde_json::Value;

/// Times of three classes in each block: a drift that they share, noise of 100, and a last one that takes longer.
fn blocks(count: usize, longer: f64) -> Vec<[f64; 3]> {
    let mut rng = ChaCha8Rng::seed_from_u64(7);
    let mut normal = || normal_quantile(rng.random::<f64>().clamp(1e-16, 1.0 - 1e-16));
    let mut level = 10_000.0;
    let block = |_| {
        level += 20.0 * normal();
        let mut times = [(); 3].map(|()| (level + 100.0 * normal()).round());
        times[2] += longer;
        times
    };
    (0..count).map(block).collect()
}

fn wide(blocks: &[[f64; 3]]) -> String {
    let rows = blocks.iter().map(|[a, b, c]| format!("{a},{b},{c}\n"));
    format!("a,b,c\n{}", rows.collect::<String>())
}

fn long(blocks: &[[f64; 3]]) -> String {
    let mut text = "block,secret,time\n".to_owned();
    for (at, block) in blocks.iter().enumerate() {
        for class in 0..3 {
            // Every order of the classes.
            let class = (class * (1 + at % 2) + at) % 3;
            let name = ["a", "b", "c"][class];
            writeln!(text, "{at},{name},{}", block[class]).expect("memory");
        }
    }
    text
}

fn lines(text: &str) -> Vec<Value> {
    let lines = text.lines().map(serde_json::from_str);
    lines.map(|line| line.expect("a line of JSON")).collect()
}

const FOLLOW: [&str; 5] = ["audit", "-", "--follow", "--format", "json"];
const CLAIM: [&str; 4] = ["--claim", "time-difference(10ns)", "--unit", "ns"];

#[test]
fn wide_and_long_logs_are_followed_alike_until_a_claim_is_violated() {
    let blocks = blocks(2_000, 50.0);
    let every = ["--every", "300"];
    let of = |options: &[&str], text: String| {
        let output = Place::new().run_on(&[&FOLLOW[..], &CLAIM, &every, options].concat(), text);
        assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
        lines(&stdout(&output))
    };
    let found = of(&["--wide", "--blocks"], wide(&blocks));
    let last = found.last().expect("a line");
    check_schema_of("follow", last);
    assert_eq!(
        last["rows"].as_u64(),
        last["blocks"].as_u64().map(|blocks| 3 * blocks)
    );
    assert!(last["blocks"].as_u64() < Some(1_500), "{last}");
    assert_eq!(last["claims"][0]["verdict"], "violated");
    let reason = last["claims"][0]["reason"].as_str().expect("words");
    assert!(
        reason.contains("c takes at least 1") && reason.contains(" ns longer"),
        "{reason}"
    );
    assert!(reason.contains("if blocks are independent"), "{reason}");
    let lower = |line: &Value| line["differences"][0]["lower"].as_f64().unwrap_or(f64::MIN);
    assert!(lower(last) > 10.0, "{last}");
    // Rows may stand in any order inside their block.
    let of_long = of(&["--block", "block"], long(&blocks));
    assert_eq!(
        of_long.last().expect("a line")["differences"],
        last["differences"]
    );
}

#[test]
fn a_claim_that_holds_ends_well_and_is_said() {
    let text = wide(&blocks(2_000, 2.0));
    let claim = ["--claim", "time-difference(40ns)", "--unit", "ns"];
    let options = [
        &["audit", "-", "--follow"][..],
        &claim,
        &["--wide", "--blocks"],
    ]
    .concat();
    let output = Place::new().run_on(&options, text);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let text = stdout(&output);
    assert!(text.contains("2000 blocks of 6000 rows"), "{text}");
    assert!(text.contains("HOLDS: time-difference(40ns)"), "{text}");
    assert!(text.starts_with("takes at least X longer"), "{text}");
    assert!(
        text.lines()
            .last()
            .is_some_and(|line| line.contains(" takes between -"))
    );
}

/// As in an audit of the whole log: a name such as `time_ns` says the unit, and no option may say another.
#[test]
fn the_name_of_the_column_says_the_unit() {
    let text = long(&blocks(2_000, 2.0)).replacen("time", "time_ns", 1);
    let options = [
        "audit",
        "-",
        "--follow",
        "--block",
        "block",
        "--claim",
        "time-difference(40ns)",
    ];
    let output = Place::new().run_on(&options, text.clone());
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let output = Place::new().run_on(&[&options[..], &["--unit", "ms"]].concat(), text);
    assert_eq!(output.status.code(), Some(2));
    assert!(
        stderr(&output).contains("the name of the column time_ns says ns"),
        "{}",
        stderr(&output)
    );
}

/// The last block of a log that grows may not be whole.
#[test]
fn a_file_that_grows_is_followed_block_by_block() {
    let text = long(&blocks(900, 60.0));
    let cut = text
        .lines()
        .take(902)
        .fold(String::new(), |all, line| all + line + "\n");
    let place = Place::with_log(&cut);
    let claims = [
        "--claim",
        "time-difference(5)",
        "--every",
        "300",
        "--format",
        "json",
    ];
    let mut program = std::process::Command::new(assert_cmd::cargo::cargo_bin("leakgauge"))
        .current_dir(place.path())
        .args(
            [
                &["audit", "log.csv", "--follow", "--block", "block"][..],
                &claims,
            ]
            .concat(),
        )
        .stdout(Stdio::piped())
        .spawn()
        .expect("the program");
    std::thread::sleep(Duration::from_millis(1_500));
    assert!(
        program.try_wait().expect("a program").is_none(),
        "it waits for more"
    );
    let file = std::fs::OpenOptions::new()
        .append(true)
        .open(place.path().join("log.csv"));
    let rest = &text[cut.len()..];
    file.expect("the log")
        .write_all(rest.as_bytes())
        .expect("more rows");
    let deadline = Instant::now() + Duration::from_secs(60);
    while program.try_wait().expect("a program").is_none() && Instant::now() < deadline {
        std::thread::sleep(Duration::from_millis(100));
    }
    let _ = program.kill();
    let output = program.wait_with_output().expect("its output");
    assert_eq!(output.status.code(), Some(1), "it ends at the violation");
    let found = lines(&String::from_utf8(output.stdout).expect("UTF-8"));
    // 301 rows and 1 row of the 302nd block were there first: no line counts a part of a block.
    for line in &found {
        assert_eq!(
            line["rows"].as_u64(),
            line["blocks"].as_u64().map(|blocks| 3 * blocks)
        );
    }
}

#[test]
fn an_incomplete_last_block_is_not_judged() {
    let text = long(&blocks(100, 0.0));
    let options = [
        "estimate", "-", "--follow", "--block", "block", "--format", "json",
    ];
    for (rows, judged) in [(300, 100), (299, 99), (298, 99), (297, 99)] {
        let cut = text
            .lines()
            .take(rows + 1)
            .fold(String::new(), |all, line| all + line + "\n");
        let output = Place::new().run_on(&options, cut);
        let found = lines(&stdout(&output));
        assert_eq!(found[0]["blocks"], judged, "{rows}");
    }
}

#[test]
fn blocks_that_cannot_be_meant_are_refused_with_their_place() {
    let head: String = long(&blocks(50, 0.0));
    let options = ["estimate", "-", "--follow", "--block", "block"];
    let on = |tail: &str| Place::new().run_on(&options, format!("{head}{tail}"));
    assert_refused(
        &on("50,a,1\n50,b,2\n50,a,3\n"),
        &["row 154", "\"50\"", "\"a\"", "more than once"],
    );
    assert_refused(
        &on("50,a,1\n3,b,2\n"),
        &["row 153", "\"3\"", "goes on behind"],
    );
    assert_refused(&on("50,a,slow\n"), &["row 152", "slow"]);
    let singles: String = (0..60)
        .map(|at| format!("{at},{},1\n", ["a", "b"][at % 2]))
        .collect();
    let output = Place::new().run_on(&options, format!("block,secret,time\n{singles}"));
    assert_refused(&output, &["no block has two secrets"]);
    let claim = ["audit", "-", "--follow", "--claim", "time-difference(1ns)"];
    let output = Place::new().run_on(&claim, "secret,time\na,1\nb,2\na,1\nb,2\n");
    assert_refused(&output, &["measured in blocks", "--block"]);
    let two = [
        "audit",
        "-",
        "--follow",
        "--block",
        "block",
        "--claim",
        "time-difference(1ns)",
    ];
    let output = Place::new().run_on(&two, head.clone());
    assert_refused(&output, &["--unit ns"]);
    // Both numbers in a row of measurements.
    let columns = head
        .replace("time\n", "time,size\n")
        .replace("\n", ",1\n")
        .replacen(",1\n", "\n", 1);
    let output = Place::new().run_on(&options, columns);
    assert_refused(&output, &["one column of numbers", "--observe"]);
}

/// Times that are all equal, negative, or run backwards are times.
#[test]
fn odd_clocks_are_followed() {
    let clock = |name: &str, at: usize| match name {
        "equal" => 5,
        "negative" => -((at % 7) as i64),
        _ => 1_000_000 - at as i64,
    };
    for name in ["equal", "negative", "backwards"] {
        let mut text = "block,secret,time\n".to_owned();
        for at in 0..1_200 {
            writeln!(
                text,
                "{},{},{}",
                at / 2,
                ["a", "b"][at % 2],
                clock(name, at / 2)
            )
            .expect("memory");
        }
        // Two steps of the clock, which may hide as much.
        let claim = ["--claim", "time-difference(2)", "--block", "block"];
        let output = Place::new().run_on(&[&FOLLOW[..], &claim].concat(), text);
        assert_eq!(output.status.code(), Some(0), "{name}: {}", stderr(&output));
        let found = lines(&stdout(&output));
        assert_eq!(found[0]["claims"][0]["verdict"], "holds", "{name}");
    }
}
