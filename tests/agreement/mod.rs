//! No report contains two numbers that disagree: all figures of a report are read and the inequalities between them
//! checked, over every dataset, over simulated logs of many shapes, and (in `tests/outside`) over real logs.
//!
//! The long run is ignored:
//!
//! ```text
//! cargo test --release --test all agreement -- --ignored --nocapture
//! ```

pub mod checks;
mod logs;

use checks::{contradictory_sentences, disagreements};
use leakgauge::audit::{AuditOptions, Findings, audit};
use leakgauge::claim::Claim;
use leakgauge::report::{Format, json, write_audit};
use serde_json::Value;

use crate::common::{Place, stdout};

/// Everything that does not agree, by report and check.
#[derive(Default)]
struct Tally {
    reports: usize,
    wrong: Vec<String>,
}

impl Tally {
    fn add(&mut self, name: &str, report: &Value) {
        self.reports += 1;
        let found = disagreements(report).into_iter();
        let texts = found.map(|found| format!("{name}: [{}] {}", found.check, found.text));
        self.wrong.extend(texts);
    }

    fn add_text(&mut self, name: &str, text: &str) {
        let found = contradictory_sentences(text);
        self.wrong
            .extend(found.iter().map(|words| format!("{name}: says {words:?}")));
    }

    #[track_caller]
    fn end(self, least: usize) {
        assert!(self.reports >= least, "{} reports", self.reports);
        let wrong = self.wrong.len();
        assert!(
            wrong == 0,
            "{wrong} disagreements:\n{}",
            self.wrong.join("\n")
        );
    }
}

/// What the library says in JSON and in words.
fn reported(found: &Findings) -> (Value, String) {
    let report =
        serde_json::from_str(&json(found).expect("findings can be written")).expect("JSON");
    let mut text = Vec::new();
    write_audit(found, Format::Text, &mut text).expect("memory can be written");
    (report, String::from_utf8(text).expect("reports are UTF-8"))
}

/// Reports of so many simulated logs.
fn simulated(logs: std::ops::Range<u64>) -> Tally {
    use rayon::prelude::*;
    let reports: Vec<(String, Value, String)> = logs
        .into_par_iter()
        .map(|number| {
            let drawn = logs::draw(number);
            let claims = drawn.claims.iter();
            let options = AuditOptions {
                claims: claims
                    .map(|claim| Claim::parse(claim).expect("a claim"))
                    .collect(),
                prior: drawn.prior.clone(),
                seed: number,
                ..AuditOptions::default()
            };
            let name = format!("log {number}, {}", drawn.name);
            let found =
                audit(&drawn.log, &options).unwrap_or_else(|error| panic!("{name}: {error}"));
            let (report, text) = reported(&found);
            (name, report, text)
        })
        .collect();
    let mut tally = Tally::default();
    for (name, report, text) in &reports {
        tally.add(name, report);
        tally.add_text(name, text);
    }
    tally
}

#[test]
#[ignore = "long"]
fn reports_of_simulated_logs_agree_with_themselves() {
    simulated(0..48).end(40);
}

#[test]
#[ignore = "minutes; see the head of this file"]
fn reports_of_two_hundred_simulated_logs_agree_with_themselves() {
    simulated(1000..1200).end(200);
}

/// How datasets are read otherwise than in the README, whose audits are checked where they are run: the file, then more
/// words of the command line.
const DATASETS: [(&str, &[&str]); 6] = [
    (
        "randomized-response-correct.csv",
        &["--claim", "randomized-response(epsilon=1, secrets=4)"],
    ),
    (
        "randomized-response-counts.csv",
        &["--count", "rows", "--claim", "dp(epsilon=1, delta=0.01)"],
    ),
    ("mixed.csv", &["--prior", "rare=0.9,popular=0.1"]),
    ("measured-comparison.csv", &["--prior", "empirical"]),
    (
        "measured-constant-time.csv",
        &["--resolution", "nanoseconds=10"],
    ),
    (
        "membership-losses.csv",
        &["--observe", "loss", "--resolution", "loss=0.1"],
    ),
];

fn dataset(name: &str) -> String {
    format!("{}/datasets/{name}", env!("CARGO_MANIFEST_DIR"))
}

#[test]
fn reports_of_the_datasets_agree_with_themselves() {
    let mut tally = Tally::default();
    let place = Place::new();
    for (name, words) in DATASETS {
        let file = dataset(name);
        let claims = [
            "--claim",
            "advantage(0.1)",
            "--claim",
            "bayes-security(0.9)",
            "--claim",
            "ldp(0.5)",
        ];
        let more = [
            "--claim",
            "attack-advantage(0.1)",
            "--html",
            "page.html",
            "--format",
            "json",
        ];
        let arguments = [&["audit", &file], words, &claims, &more].concat();
        let report = serde_json::from_str(&stdout(&place.run(&arguments)));
        tally.add(
            name,
            &report.unwrap_or_else(|error| panic!("{name}: {error}")),
        );
        let page = std::fs::read_to_string(place.path().join("page.html")).expect("a page");
        tally.add_text(name, &page);
    }
    tally.end(DATASETS.len());
}

#[test]
fn comparisons_agree_with_themselves() {
    let place = Place::new();
    let mut tally = Tally::default();
    for [earlier, later] in [
        ["measured-comparison.csv", "measured-constant-time.csv"],
        ["randomized-response-broken.csv", "leak-free.csv"],
    ] {
        let files = [earlier, later].map(dataset);
        tally.add(earlier, &place.json(&["compare", &files[0], &files[1]]));
    }
    tally.end(2);
}

#[test]
fn lines_of_a_followed_log_agree_with_themselves() {
    let place = Place::new();
    let mut tally = Tally::default();
    for name in ["randomized-response-broken.csv", "leak-free.csv"] {
        let arguments = [
            "audit",
            "-",
            "--follow",
            "--every",
            "2000",
            "--claim",
            "advantage(0.2)",
        ];
        let arguments = [&arguments[..], &["--format", "json"]].concat();
        let rows = std::fs::read(dataset(name)).expect("a dataset");
        let lines = stdout(&place.run_on(&arguments, rows));
        for line in lines.lines() {
            tally.add(name, &serde_json::from_str(line).expect("a line of JSON"));
        }
    }
    tally.end(10);
}

/// A leak of a thousandth, certified by two million rows: the page gives as many digits as it takes to see that
/// it is more than a coin flip.
#[test]
fn a_certified_leak_is_never_printed_as_guessing_blind() {
    let rows = "secret,seen,rows\na,0,500500\na,1,499500\nb,0,497500\nb,1,502500\n";
    let place = Place::with_log(rows);
    let arguments = [
        "estimate",
        "log.csv",
        "--count",
        "rows",
        "--html",
        "page.html",
        "--full",
    ];
    let text = stdout(&place.run(&arguments));
    let page = std::fs::read_to_string(place.path().join("page.html")).expect("a page");
    assert!(text.contains("leaks its secret"), "{text}");
    for words in [&text, &page] {
        assert_eq!(contradictory_sentences(words), Vec::<String>::new());
        let flat = words.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(flat.contains("at least 50.0"), "{words}");
    }
}

/// The checks see what they are there for.
#[test]
fn reports_that_disagree_are_found() {
    let (report, _) = reported(&{
        let drawn = logs::draw(3);
        let claims = drawn
            .claims
            .iter()
            .map(|claim| Claim::parse(claim).expect("a claim"));
        let options = AuditOptions {
            claims: claims.collect(),
            ..AuditOptions::default()
        };
        audit(&drawn.log, &options).expect("a good log")
    });
    let spoilt = |pointer: &str, value: f64| {
        let mut report = report.clone();
        *report
            .pointer_mut(pointer)
            .unwrap_or_else(|| panic!("no {pointer}")) = value.into();
        let found = disagreements(&report);
        found.iter().map(|found| found.check).collect::<Vec<_>>()
    };
    for (pointer, value, check) in [
        ("/worst_pair/total_variation/point", -0.1, "estimate"),
        ("/worst_pair/bayes_security/point", 0.123, "mirror"),
        ("/pairs/0/total_variation/point", 0.987, "mirror"),
        ("/overall/bayes_risk/point", 0.97, "risk"),
        ("/overall/multiplicative_leakage/point", 0.84, "estimate"),
        ("/overall/capacity/lower", 1.0, "capacity"),
        ("/claims/0/analytic", 1.5, "verdict"),
        ("/privacy/0/lower", 0.0, "implied"),
        ("/worst_pair/trade_off/mu/lower", 0.0, "implied"),
        ("/worst_pair/trade_off/epsilon/3/lower", 0.0, "implied"),
    ] {
        let found = spoilt(pointer, value);
        assert!(found.contains(&check), "{pointer}: {found:?}");
    }
}
