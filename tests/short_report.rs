//! The report that `estimate` and `audit` print fits on a screen, whatever the log, and `--full` has everything.

use std::fmt::Write;
use std::process::Output;

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::common::{Place, numeric_log, stderr, stdout};

const LINES: usize = 25;
const COLUMNS: usize = 100;
const DECIMALS: usize = 7;
const VERDICTS: [&str; 3] = ["VIOLATED", "INCONCLUSIVE", "HOLDS"];

fn rng(seed: u64) -> ChaCha8Rng {
    ChaCha8Rng::seed_from_u64(seed)
}

/// Runs the program and holds what it prints against what every short report must be.
fn short(place: &Place, arguments: &[&str]) -> String {
    let output = place.run(arguments);
    checked(&output, arguments)
}

fn checked(output: &Output, arguments: &[&str]) -> String {
    let text = stdout(output);
    let about = format!("{arguments:?}: {}\n{text}", stderr(output));
    assert_ne!(output.status.code(), Some(2), "{about}");
    assert!(text.lines().count() <= LINES, "{about}");
    for line in text.lines() {
        assert!(line.chars().count() <= COLUMNS, "{line}\n{about}");
        assert!(!line.chars().any(char::is_control), "{line:?}\n{about}");
        assert!(line.trim_end() == line, "{line:?}\n{about}");
    }
    assert!(longest_decimals(&text) <= DECIMALS, "{about}");
    assert!(!text.contains("NaN") && !text.contains(" inf"), "{about}");
    let last = text.lines().last().unwrap_or_default();
    assert!(last.starts_with("Everything: --full"), "{about}");
    assert!(text.contains(": ") && text.contains("observed"), "{about}");
    let claims = arguments
        .iter()
        .filter(|word| word.starts_with("--claim"))
        .count();
    assert_eq!(verdicts(&text), claims, "{about}");
    let leaks = ["LEAK", "LEAK, IF ROWS ARE INDEPENDENT", "NO LEAK SHOWN"];
    let is_leak = leaks
        .iter()
        .any(|word| text.contains(&format!("\n{word}  ")));
    assert_eq!(is_leak, claims == 0, "{about}");
    if output.status.code() == Some(1) {
        assert!(
            text.contains("VIOLATED") || text.contains("TOO WEAK"),
            "{about}"
        );
    }
    text
}

/// The words of a text, however it is wrapped.
fn flat(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Verdicts in sight, and those that are counted.
fn verdicts(text: &str) -> usize {
    let begins = |line: &&str| VERDICTS.iter().any(|verdict| line.starts_with(verdict));
    let shown = text.lines().filter(begins).count();
    let counted = text.lines().find_map(|line| {
        let rest = line.strip_prefix("and ")?;
        let (number, rest) = rest.split_once(" more claims (")?;
        let number: usize = number.parse().expect("a number of claims");
        let (counts, _) = rest.split_once(')').expect("their verdicts");
        let counts = counts.split(", ").map(|count| {
            let (count, verdict) = count.split_once(' ').expect("a verdict");
            let verdict = verdict.to_uppercase();
            assert!(
                VERDICTS.iter().any(|known| known.starts_with(&verdict)),
                "{line}"
            );
            count.parse::<usize>().expect("a number")
        });
        assert_eq!(counts.sum::<usize>(), number, "{line}");
        Some(number)
    });
    shown + counted.unwrap_or(0)
}

fn longest_decimals(text: &str) -> usize {
    let after = text.split('.').skip(1);
    after
        .map(|rest| rest.chars().take_while(char::is_ascii_digit).count())
        .max()
        .unwrap_or(0)
}

#[test]
fn reports_of_all_datasets_are_short() {
    let of_claim = |claim: &'static str| ["--claim", claim];
    let logs: [(&str, &[&str], [&str; 2]); 13] = [
        (
            "randomized-response-correct.csv",
            &[],
            of_claim("randomized-response(epsilon=1, secrets=4)"),
        ),
        (
            "randomized-response-broken.csv",
            &[],
            of_claim("ldp(epsilon=1)"),
        ),
        (
            "randomized-response-counts.csv",
            &["--count", "rows"],
            of_claim("dp(epsilon=1, delta=0.02)"),
        ),
        ("laplace.csv", &[], of_claim("laplace(scale=3)")),
        ("geometric.csv", &[], of_claim("geometric(nu=0.1)")),
        ("leak-free.csv", &[], of_claim("bayes-security(0.9)")),
        (
            "mixed.csv",
            &["--observe", "answer"],
            of_claim("bayes-security(0.65)"),
        ),
        (
            "headerless.csv",
            &["--no-header", "--secret", "2", "--observe", "1"],
            of_claim("gaussian(sigma=2)"),
        ),
        (
            "measured-comparison.csv",
            &[],
            of_claim("time-difference(10ns)"),
        ),
        (
            "measured-comparison.jsonl.zst",
            &["--secret", "compared.wrong"],
            of_claim("bayes-security(0.9)"),
        ),
        (
            "measured-comparison-wide.csv",
            &["--wide"],
            of_claim("bayes-security(0.9)"),
        ),
        (
            "measured-constant-time.csv",
            &["--resolution", "nanoseconds=100"],
            of_claim("bayes-security(0.9)"),
        ),
        (
            "membership-losses.csv",
            &["--scorer", "given", "--scores", "loss"],
            of_claim("ldp(epsilon=2)"),
        ),
    ];
    let place = Place::new();
    for (file, options, claim) in logs {
        let path = format!("{}/datasets/{file}", env!("CARGO_MANIFEST_DIR"));
        let text = short(
            &place,
            &[&["audit", &path, "--quick"][..], options, &claim].concat(),
        );
        assert!(text.contains(file), "{text}");
        short(
            &place,
            &[&["estimate", &path, "--quick"][..], options].concat(),
        );
    }
}

/// Rows of so many secrets, each with several numbers that depend on it.
fn many_columns(secrets: usize, rows: usize, seed: u64) -> String {
    let mut rng = rng(seed);
    let mut text = "site,packets_in,packets_out,bytes_in,bytes_out,duration_s,client\n".to_owned();
    for _ in 0..rows {
        let site = rng.random_range(0..secrets);
        write!(text, "site number {site} of the list").expect("memory");
        for column in 0..5 {
            let value = (site * (column + 3)) as f64 + 9.0 * rng.random::<f64>();
            write!(text, ",{value:.6}").expect("memory");
        }
        writeln!(text, ",{}", rng.random_range(0..40)).expect("memory");
    }
    text
}

#[test]
fn two_twenty_and_seven_hundred_secrets_fit() {
    let two = Place::with_log(numeric_log(1000));
    let text = short(&two, &["estimate", "log.csv"]);
    assert!(text.contains("tells a from b at least"), "{text}");
    assert!(text.contains("--claim 'attack-advantage(0.1)'"), "{text}");
    short(&two, &["estimate", "log.csv", "--split", "blocks"]);
    short(
        &two,
        &[
            "estimate",
            "log.csv",
            "--resolution",
            "time=0.25",
            "--prior",
            "empirical",
        ],
    );

    let twenty = Place::with_log(many_columns(20, 2400, 1));
    let columns = [
        "--secret",
        "site",
        "--observe",
        "packets_in,bytes_out,duration_s",
    ];
    let text = short(&twenty, &[&["estimate", "log.csv"][..], &columns].concat());
    assert!(text.contains("names its site at least"), "{text}");
    assert!(text.contains("20 values"), "{text}");
    assert!(
        text.contains("left out: packets_out, bytes_in, client (not asked for)"),
        "{text}"
    );
    let requested = [
        "--tries",
        "1,2,3,4",
        "--reconstruction",
        "0.01,0.1",
        "--at-order",
        "2,inf",
    ];
    short(
        &twenty,
        &[
            &["estimate", "log.csv", "--quick"][..],
            &columns,
            &requested,
        ]
        .concat(),
    );

    let mut rng = rng(2);
    let mut text = "secret,seen\n".to_owned();
    for row in 0..7000 {
        let seen = (row + rng.random_range(0..3)) % 700;
        writeln!(text, "user-{},answer-{seen}", row % 700).expect("memory");
    }
    let many = Place::with_log(text);
    let text = short(&many, &["estimate", "log.csv", "--quick"]);
    assert!(text.contains("700 values with 10 rows"), "{text}");
    short(
        &many,
        &["audit", "log.csv", "--quick", "--claim", "advantage(0.5)"],
    );
}

/// Blocks of times, a column a class; each class is so much slower than the one before.
fn blocks(classes: usize, rows: usize, slower: f64) -> String {
    let mut rng = rng(3);
    let names: Vec<String> = (0..classes)
        .map(|class| format!("padding of {class} bytes"))
        .collect();
    let mut text = names.join(",") + "\n";
    for _ in 0..rows {
        let shared = 40.0 * rng.random::<f64>();
        let times: Vec<String> = (0..classes)
            .map(|class| {
                format!(
                    "{:.1}",
                    900.0 + shared + slower * class as f64 + 20.0 * rng.random::<f64>()
                )
            })
            .collect();
        writeln!(text, "{}", times.join(",")).expect("memory");
    }
    text
}

#[test]
fn times_have_their_unit() {
    let place = Place::with_log(blocks(6, 600, 8.0)).file("equal.csv", blocks(3, 600, 0.0));
    let wide = ["--wide", "--blocks", "--unit", "us"];
    let text = short(&place, &[&["estimate", "log.csv"][..], &wide].concat());
    assert!(text.contains("µs longer than padding of 0 bytes"), "{text}");
    assert!(text.contains("600 blocks"), "{text}");
    let said = text
        .lines()
        .filter(|line| !line.contains("leakgauge audit"));
    assert!(!said.collect::<String>().contains(" us"), "{text}");
    let claim = [
        "--claim",
        "time-difference(10us)",
        "--claim",
        "attack-advantage(0.1)",
    ];
    let text = short(&place, &[&["audit", "log.csv"][..], &wide, &claim].concat());
    assert!(text.contains("≤ 10 µs"), "{text}");
    let text = short(
        &place,
        &[&["audit", "equal.csv"][..], &wide, &claim[..2]].concat(),
    );
    assert!(
        text.contains("of no two secrets are shown to differ"),
        "{text}"
    );
    // The same times without blocks, and without a unit.
    let mut rows = "class,time\n".to_owned();
    for line in blocks(4, 400, 6.0).lines().skip(1) {
        for (class, time) in line.split(',').enumerate() {
            writeln!(rows, "class {class},{time}").expect("memory");
        }
    }
    let place = Place::with_log(rows);
    short(&place, &["estimate", "log.csv", "--secret", "class"]);
    let claim = ["--unit", "ns", "--claim", "time-difference(1ns)"];
    let text = short(
        &place,
        &[&["audit", "log.csv", "--secret", "class"][..], &claim].concat(),
    );
    assert!(text.contains("ns longer than class"), "{text}");
}

#[test]
fn units_lists_scores_and_parts_fit() {
    let mut rng = rng(4);
    let mut text = "device,secret,time,flags\n".to_owned();
    for row in 0..3000 {
        let secret = rng.random_range(0..2);
        let time = f64::from(secret) * 0.4 + rng.random::<f64>();
        let flags = [rng.random_range(0..2), secret, rng.random_range(0..2)];
        writeln!(
            text,
            "d{},{},{time:.4},\"{flags:?}\"",
            row % 60,
            ["in", "out"][secret as usize]
        )
        .expect("memory");
    }
    let rest: String = text
        .lines()
        .skip(1500)
        .map(|line| format!("{line}\n"))
        .collect();
    let place = Place::with_log(&text).file("old.csv", format!("device,secret,time,flags\n{rest}"));
    let observe = ["--observe", "time"];
    let text = short(
        &place,
        &[&["estimate", "log.csv", "--group", "device"][..], &observe].concat(),
    );
    assert!(text.contains("limits count 60 units (device)"), "{text}");
    assert!(text.contains("one row of a random device"), "{text}");
    let list = ["--observe", "flags", "--list", "flags=first:3"];
    short(&place, &[&["estimate", "log.csv"][..], &list].concat());
    short(
        &place,
        &[
            &["estimate", "log.csv", "--fit-on", "old.csv"][..],
            &observe,
        ]
        .concat(),
    );
    let scored = ["--scorer", "given", "--scores", "time"];
    let text = short(&place, &[&["estimate", "log.csv"][..], &scored].concat());
    assert!(text.contains("Finding in among out: TPR"), "{text}");
    let claim = [
        "--claim",
        "ldp(epsilon=1)",
        "--claim",
        "attack-advantage(0.9)",
    ];
    let text = short(
        &place,
        &[&["audit", "log.csv"][..], &scored, &claim].concat(),
    );
    assert!(flat(&text).contains("--design many-runs"), "{text}");
}

#[test]
fn every_claim_has_its_verdict_in_sight_or_counted() {
    let mut text = "secret,count\n".to_owned();
    let mut rng = rng(5);
    for _ in 0..4000 {
        let secret = rng.random_range(0..2);
        let noise = (0..3).map(|_| rng.random_range(0..4)).sum::<i32>();
        writeln!(text, "{},{}", ["D", "D'"][secret as usize], secret + noise).expect("memory");
    }
    let place = Place::with_log(text);
    let claims = [
        "--claim=dp(epsilon=1, delta=1e-5)",
        "--claim=ldp(epsilon=9)",
        "--claim=gdp(mu=3)",
        "--claim=zcdp(rho=2)",
        "--claim=rdp(alpha=2, epsilon=3)",
        "--claim=advantage(0.9)",
        "--claim=attack-advantage(0.1)",
        "--claim=bayes-security(0.5)",
        "--claim=advantage(0.05)",
        "--claim=dp(epsilon=0.1, delta=0.0001)",
        "--claim=dp-curve(dp(epsilon=1, delta=0.001), dp(epsilon=2, delta=0.0001), dp(epsilon=3, delta=1e-5))",
        "--claim=ldp(epsilon=0.01)",
    ];
    for count in [1, 2, 3, 5, 8, 12] {
        let arguments = [&["audit", "log.csv", "--quick"][..], &claims[..count]].concat();
        let text = short(&place, &arguments);
        // What is violated is never out of sight while what holds is in sight.
        if let Some(hidden) = text.lines().find(|line| line.contains(" more claims (")) {
            let has_violated = hidden.contains("violated");
            assert!(!has_violated || !text.contains("\nHOLDS"), "{text}");
        }
    }
    let detect = ["--claim=ldp(epsilon=1)", "--must-detect", "epsilon=2"];
    let text = short(
        &place,
        &[&["audit", "log.csv", "--quick"][..], &detect].concat(),
    );
    assert!(text.contains("STRONG ENOUGH: epsilon=2"), "{text}");
}

/// Whatever can be doubtful about a log, at once.
fn doubtful() -> String {
    let mut rng = rng(6);
    let mut text = "secret,drifting,constant,also constant,words,repeated,padded\n".to_owned();
    for row in 0..2000 {
        let secret = ["a", "b", "c", "rare"][if row == 700 { 3 } else { row / 100 % 3 }];
        let drifting = row as f64 / 100.0 + rng.random::<f64>();
        let word = match rng.random_range(0..20) {
            0 => "timeout".to_owned(),
            1 => String::new(),
            _ => format!("{:.3}", rng.random::<f64>()),
        };
        let padded = match row % 7 {
            0 => "01.50".to_owned(),
            _ => format!("{:.2}", 1.5 + f64::from(rng.random_range(0..30)) / 100.0),
        };
        writeln!(
            text,
            "{secret},{drifting:.4},1,same,{word},{},{padded}",
            row % 50 / 25
        )
        .expect("memory");
    }
    text
}

#[test]
fn many_doubts_and_hostile_texts_fit() {
    let place = Place::with_log(doubtful());
    let text = short(&place, &["estimate", "log.csv"]);
    assert!(text.contains("\nCheck: "), "{text}");
    assert!(text.contains("more doubt"), "{text}");
    let claims = [
        "--claim=advantage(0.1)",
        "--claim=attack-advantage(0.2)",
        "--claim=ldp(epsilon=1)",
    ];
    let text = short(
        &place,
        &[&["audit", "log.csv", "--quick"][..], &claims].concat(),
    );
    assert!(
        text.contains("Check: Secrets are not in random order"),
        "{text}"
    );

    let long = "x".repeat(5000);
    let rows =
        format!("\"a\u{1b}[31m{long}\",1.5,\u{7}x\n\"b\u{9b}2J\nc {long}\",2.5,y\n").repeat(50);
    let name = format!("deep/{}.csv", "n".repeat(200));
    let text = format!("secret,\"ti\u{1b}[0mme{long}\",\"\n\"\n{rows}");
    let place = Place::with_log(&text);
    std::fs::create_dir(place.path().join("deep")).expect("a directory");
    std::fs::write(place.path().join(&name), &text).expect("a file");
    let claim = ["--claim=ldp(0.1)", "--claim=advantage(0.5)"];
    let text = short(&place, &[&["audit", &name][..], &claim].concat());
    assert!(text.contains("u{1b}"), "{text}");
}

#[test]
fn the_whole_report_is_what_markdown_has_and_quiet_stays() {
    let place = Place::with_log(numeric_log(1000));
    let claim = ["audit", "log.csv", "--quick", "--claim", "advantage(0.1)"];
    let full = stdout(&place.run(&[&claim[..], &["--full"]].concat()));
    for heading in [
        "Verdict\n-------",
        "Summary\n-------",
        "What the limits rest on\n---",
    ] {
        assert!(full.contains(heading), "{full}");
    }
    let markdown = |more: &[&str]| {
        let all = [&claim[..], &["--format", "markdown"], more].concat();
        stdout(&place.run(&all))
    };
    assert_eq!(markdown(&[]), markdown(&["--full"]));
    let quiet = |more: &[&str]| stdout(&place.run(&[&claim[..], &["-q"], more].concat()));
    assert_eq!(quiet(&[]), "VIOLATED: advantage(0.1)\n");
    assert_eq!(quiet(&[]), quiet(&["--full"]));
    place.refuses(
        &["estimate", "log.csv", "--follow", "--full"],
        &["--full", "--follow"],
    );
}
