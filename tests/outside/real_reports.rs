//! Reports of the real logs: no two numbers of one disagree, and naming one of all secrets is done by what is good
//! at that.

#[path = "../agreement/checks/mod.rs"]
mod checks;

use leakgauge::audit::{AuditOptions, PriorChoice, audit};
use leakgauge::claim::Claim;
use leakgauge::log::{HeaderChoice, Log, ReadMeter, ReadOptions, read};
use leakgauge::report::json;
use libtest_mimic::Trial;

use crate::real_logs::path_of;

/// Limits that say less than others imply; see `tests/agreement`.
const LESS_SHARP: [&str; 2] = ["epsilon", "band"];

/// The logs with their secret and, where not all columns are observed, these.
const LOGS: [(&str, &str, &[&str]); 14] = [
    ("minerva/time_athena.csv", "2", &[]),
    ("minerva/time_gcrypt.csv", "2", &[]),
    ("minerva/time_sunec.csv", "2", &[]),
    ("minerva/time_cryptopp.csv", "2", &[]),
    ("epassport/timesBritish1000NoFix.csv", "relation", &[]),
    ("epassport/timesBritish1000FixMedian.csv", "relation", &[]),
    ("epassport/timesGerman500NoFix.csv", "relation", &[]),
    ("epassport/timesGerman500FixMedian.csv", "relation", &[]),
    ("epassport/timesIrish500NoFix.csv", "relation", &[]),
    ("epassport/timesIrish500FixMedian.csv", "relation", &[]),
    ("rtlf/example-1.csv", "V1", &[]),
    ("doh/LOC1_100.csv.gz", "domain", &[]),
    ("twitch-de/target.csv", "mature", &["days", "views"]),
    ("adult/adult.data.gz", "income", &["age", "marital-status"]),
];

/// They take many minutes without optimization, and are ignored there: `cargo test --release --test outside`.
pub fn trials() -> Vec<Trial> {
    let is_here = !cfg!(debug_assertions) && LOGS.iter().all(|(name, ..)| path_of(name).exists());
    vec![
        super::trial(
            "reports_of_real_logs_agree_with_themselves",
            is_here,
            reports_agree,
        ),
        super::trial(
            "naming_is_never_worse_than_blind_guessing_nor_much_worse_than_a_histogram",
            is_here,
            naming_is_good,
        ),
    ]
}

fn read_log(name: &str, secret: &str, observe: &[&str]) -> Log {
    let options = ReadOptions {
        files: vec![path_of(name).display().to_string()],
        secret: Some(secret.to_owned()),
        observe: (!observe.is_empty())
            .then(|| observe.iter().map(|&name| name.to_owned()).collect()),
        header: if secret == "2" {
            HeaderChoice::Absent
        } else {
            HeaderChoice::default()
        },
        ..ReadOptions::default()
    };
    read(&options, &ReadMeter::default()).expect("the log is good")
}

fn reports_agree() {
    let mut wrong = Vec::new();
    for (name, secret, observe) in LOGS {
        let log = read_log(name, secret, observe);
        for prior in [PriorChoice::Uniform, PriorChoice::Empirical] {
            let claims = [
                "advantage(0.1)",
                "bayes-security(0.9)",
                "attack-advantage(0.1)",
                "ldp(0.5)",
            ];
            let options = AuditOptions {
                claims: claims
                    .map(|claim| Claim::parse(claim).expect("a claim"))
                    .into(),
                prior,
                ..AuditOptions::default()
            };
            let found = audit(&log, &options).expect("the log can be audited");
            let report = serde_json::from_str(&json(&found).expect("JSON")).expect("JSON");
            for found in checks::disagreements(&report) {
                if !LESS_SHARP.contains(&found.check) {
                    wrong.push(format!("{name}: [{}] {}", found.check, found.text));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Success of naming the likeliest secret of each of a hundred bins with equally many learning rows. Of one column;
/// every fifth row is judged.
fn histogram(name: &str) -> f64 {
    let text = std::fs::read_to_string(path_of(name)).expect("a log");
    let rows: Vec<(f64, usize)> = text
        .lines()
        .map(|line| {
            let (time, bits) = line.split_once(',').expect("two columns");
            (
                time.trim().parse().expect("a time"),
                bits.trim().parse().expect("a number of bits"),
            )
        })
        .collect();
    let learned = rows.iter().enumerate().filter(|(at, _)| at % 5 != 0);
    let mut learned: Vec<(f64, usize)> = learned.map(|(_, row)| *row).collect();
    learned.sort_by(|x, y| x.0.total_cmp(&y.0));
    let edges: Vec<f64> = (1..100)
        .map(|bin| learned[bin * learned.len() / 100].0)
        .collect();
    let bin = |time: f64| edges.partition_point(|edge| *edge <= time);
    let mut counts = vec![[0u64; 64]; 100];
    for &(time, bits) in &learned {
        counts[bin(time)][bits] += 1;
    }
    let named: Vec<usize> = counts
        .iter()
        .map(|counts| {
            (0..64).fold(0, |best, bits| {
                if counts[bits] > counts[best] {
                    bits
                } else {
                    best
                }
            })
        })
        .collect();
    let judged = rows.iter().step_by(5);
    let right = judged
        .filter(|(time, bits)| named[bin(*time)] == *bits)
        .count();
    right as f64 / rows.len().div_ceil(5) as f64
}

/// At the prior of the log itself, where half of the rows have one secret.
fn naming_is_good() {
    for (name, secret, observe) in LOGS {
        let log = read_log(name, secret, observe);
        let options = AuditOptions {
            prior: PriorChoice::Empirical,
            ..AuditOptions::default()
        };
        let found = audit(&log, &options)
            .expect("the log can be audited")
            .overall;
        // Secrets with a single row cannot all be judged.
        let Some(risk) = found.bayes_risk.unconstrained() else {
            println!("{name}: some secret has no rows that judge");
            continue;
        };
        println!("{name}: {risk:.4}, blind {:.4}", found.guessing_error);
        assert!(risk <= found.guessing_error + 0.005, "{name}: {risk}");
        if name.starts_with("minerva") {
            let histogram = 1.0 - histogram(name);
            println!("a histogram of 100 bins: {histogram:.4}");
            // Its 10,000 rows have a standard error of 0.005.
            assert!(risk <= histogram + 0.015, "{name}: {risk} and {histogram}");
        }
    }
}
