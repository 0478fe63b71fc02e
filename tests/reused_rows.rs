//! Rows that were learned from certify nothing, and a log is not independent of itself: whatever form the second copy
//! has.

use rand::RngExt;
use rand::seq::SliceRandom;

use crate::common::{Place, gzip, stdout};
use leakgauge_testing::rng;

/// Rows of two secrets that reveal nothing, whose values are of this kind.
fn noise(seed: u64, kind: &str) -> Vec<String> {
    let mut rng = rng(seed);
    (0..2000)
        .map(|_| {
            let secret = rng.random_range(0..2u8);
            let value = match kind {
                "numbers" => rng.random::<f64>().to_string(),
                "rounded" => format!("{:.3}", rng.random::<f64>()),
                "integers" => rng.random_range(0..300u32).to_string(),
                "labels" => format!("l{}", rng.random_range(0..1_000_000u32)),
                _ => format!("l{}", rng.random_range(0..8u8)),
            };
            format!("{secret},{value}\n")
        })
        .collect()
}

const KINDS: [&str; 5] = ["numbers", "rounded", "integers", "labels", "few labels"];

fn csv(rows: &[String]) -> String {
    "secret,x\n".to_owned() + &rows.concat()
}

fn shuffled(rows: &[String]) -> Vec<String> {
    let mut rows = rows.to_vec();
    rows.shuffle(&mut rng(99));
    rows
}

#[test]
fn the_log_to_learn_on_may_not_be_the_log() {
    for kind in KINDS {
        let rows = noise(1, kind);
        let json: String = rows
            .iter()
            .map(|row| {
                let (secret, value) = row.trim().split_once(',').unwrap();
                let value = if value.starts_with('l') {
                    format!("\"{value}\"")
                } else {
                    value.to_owned()
                };
                format!("{{\"secret\":{secret},\"x\":{value}}}\n")
            })
            .collect();
        let place = Place::with_log(csv(&rows))
            .file("copy.csv", csv(&rows))
            .file("log.csv.gz", gzip(csv(&rows).as_bytes()))
            .file("shuffled.csv", csv(&shuffled(&rows)))
            .file("log.jsonl", json);
        std::fs::hard_link(place.path().join("log.csv"), place.path().join("hard.csv")).unwrap();
        for other in [
            "copy.csv",
            "hard.csv",
            "log.csv.gz",
            "shuffled.csv",
            "log.jsonl",
        ] {
            place.refuses(
                &["estimate", "log.csv", "--quick", "--fit-on", other],
                &["rows that an attack learned from certify nothing"],
            );
        }
        for other in ["copy.csv", "log.csv.gz", "shuffled.csv"] {
            place.refuses(
                &["compare", "log.csv", other, "--quick"],
                &["a log is not independent of itself"],
            );
        }
    }
}

/// Half of the rows are in both logs: they are not learned from, or the verdict says what is in doubt.
#[test]
fn logs_that_overlap_are_not_used_in_silence() {
    for kind in KINDS {
        let (rows, others) = (noise(2, kind), noise(3, kind));
        let half = shuffled(&[&rows[..1000], &others[..1000]].concat());
        let place = Place::with_log(csv(&rows)).file("half.csv", csv(&half));
        let claim = ["--claim", "advantage(0.001)", "--quick", "--format", "json"];
        let audit =
            place.run(&[&["audit", "log.csv", "--fit-on", "half.csv"][..], &claim].concat());
        let report: serde_json::Value = serde_json::from_slice(&audit.stdout).expect("JSON");
        let codes = report["warnings"].to_string();
        // Labels of which each has many rows do not show which rows are copies.
        let is_seen = codes.contains("\"shared-rows") || codes.contains("repeated-runs");
        assert!(is_seen || kind == "few labels", "{kind}: {codes}");
        if codes.contains("shared-rows-suspected") {
            let reason = report["claims"][0]["reason"].as_str().expect("a reason");
            assert!(reason.contains("shared-rows-suspected"), "{kind}: {reason}");
        }
        let compared = place.run(&["compare", "log.csv", "half.csv", "--quick"]);
        let text = stdout(&compared);
        assert!(
            text.contains("too. Give each row to one log only") || kind == "few labels",
            "{kind}: {text}"
        );
    }
}

/// 50 pairs of independent logs of each kind, with a leak and without: two in 10⁴ may be accused.
#[test]
fn independent_logs_are_not_accused() {
    use leakgauge_stats::copies::of_two_logs;
    for kind in KINDS {
        for seed in 0..50 {
            let mut cells = std::collections::HashMap::<String, [u64; 2]>::new();
            let mut secrets = std::collections::HashMap::<String, [u64; 2]>::new();
            for log in 0..2 {
                for row in noise(2 * seed + 10 + log, kind) {
                    let secret = row.split(',').next().expect("a secret").to_owned();
                    secrets.entry(secret).or_default()[log as usize] += 1;
                    cells.entry(row).or_default()[log as usize] += 1;
                }
            }
            let cells = cells.into_iter().map(|(row, rows)| {
                let [one, other] = secrets[row.split(',').next().expect("a secret")];
                (rows, one.min(other))
            });
            let p_value = of_two_logs(cells);
            assert!(p_value > 1e-4, "{kind}, seed {seed}: {p_value}");
        }
    }
}

#[test]
fn a_pattern_that_matches_a_log_and_its_packed_copy_is_said_in_the_verdict() {
    for kind in KINDS {
        let rows = noise(4, kind);
        let place = Place::new()
            .file("day.csv", csv(&rows))
            .file("day.csv.gz", gzip(csv(&rows).as_bytes()));
        let claim = ["--claim", "advantage(0.001)", "--quick", "--full"];
        let run = place.run(&[&["audit", "day*"][..], &claim].concat());
        let text = stdout(&run);
        let verdict = text.split("Summary").next().unwrap();
        let is_said = [
            "read-several-times",
            "copies-dropped",
            "copies-suspected",
            "repeated-runs",
        ];
        let refused = run.status.code() == Some(2);
        assert!(
            refused || is_said.iter().any(|code| verdict.contains(code)),
            "{kind}: {verdict}"
        );
    }
}
