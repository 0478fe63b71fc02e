//! How many rows standard questions need, by audits and by a test that knows the best attack: the table of
//! `docs/evaluation.md`.
//!
//! ```text
//! cargo test --release --test all statistics::rows_needed -- --ignored --nocapture
//! ```

use leakgauge::audit::{AuditOptions, audit};
use leakgauge::stats::binomial::clopper_pearson_upper;
use leakgauge::stats::special::normal_quantile;
use rayon::prelude::*;

use super::mechanisms::simulated;

const ALPHA: f64 = 0.05;
/// Logs whose median limit is looked at.
const LOGS: u64 = 101;
/// A lower limit counts as near from this part of the truth on.
const NEAR: f64 = 0.9;
/// An upper limit counts as near up to this much above the truth.
const ABOVE: f64 = 0.05;
/// How the page names it all, with the command that printed it.
const PAGE: &str = include_str!("../../docs/evaluation.md");

#[derive(Clone, Copy, PartialEq)]
enum Wanted {
    TotalVariation,
    Epsilon,
    Upper,
}

/// What is asked of two secrets of a mechanism.
struct Question {
    text: String,
    mechanism: String,
    wanted: Wanted,
    truth: f64,
    /// The share of rows on which the best test guesses, and how often it is wrong there.
    guessed: f64,
    wrong: f64,
}

fn questions() -> Vec<Question> {
    let mut all = Vec::new();
    for tv in [0.1, 0.3, 0.6, 0.9f64] {
        let response = format!(
            "randomized-response(epsilon={}, secrets=2)",
            2.0 * tv.atanh()
        );
        let shift = 2.0 * normal_quantile((1.0 + tv) / 2.0);
        let gaussian = format!("gaussian(sigma={}, secrets=2)", 1.0 / shift);
        let kinds = [
            ("labels, total variation", &response, Wanted::TotalVariation),
            (
                "numbers, total variation",
                &gaussian,
                Wanted::TotalVariation,
            ),
            ("labels, total variation at most", &response, Wanted::Upper),
        ];
        all.extend(kinds.map(|(kind, mechanism, wanted)| Question {
            text: format!("{kind} {tv}"),
            mechanism: mechanism.clone(),
            wanted,
            truth: tv,
            guessed: 1.0,
            wrong: (1.0 - tv) / 2.0,
        }));
    }
    for epsilon in [1.0, 3.0f64] {
        let wrong = 1.0 / (1.0 + epsilon.exp());
        let kinds = [
            ("labels", "randomized-response", 1.0),
            // Outside the interval between the two secrets the ratio is e^ε.
            ("numbers", "laplace", 0.5 * (1.0 + (-epsilon).exp())),
        ];
        all.extend(kinds.map(|(kind, mechanism, guessed)| Question {
            text: format!("{kind}, ε = {epsilon}"),
            mechanism: format!("{mechanism}(epsilon={epsilon}, secrets=2)"),
            wanted: Wanted::Epsilon,
            truth: epsilon,
            guessed,
            wrong,
        }));
    }
    all
}

impl Question {
    /// Whether a limit answers the question.
    fn is_answered(&self, limit: f64) -> bool {
        match self.wanted {
            Wanted::Upper => limit <= self.truth + ABOVE,
            _ => limit >= NEAR * self.truth,
        }
    }

    /// The limit of a test that knows the best guesses, with as many errors as are expected.
    fn ideal(&self, rows: u64) -> f64 {
        let guessed = (rows as f64 * self.guessed).floor() as u64;
        let expected = guessed as f64 * self.wrong;
        let at_most = clopper_pearson_upper(expected.ceil() as u64, guessed, ALPHA);
        match self.wanted {
            Wanted::TotalVariation => 1.0 - 2.0 * at_most,
            Wanted::Epsilon => ((1.0 - at_most) / at_most).ln(),
            // The same of the right guesses.
            Wanted::Upper => {
                let right = guessed - expected.floor() as u64;
                2.0 * clopper_pearson_upper(right, guessed, ALPHA) - 1.0
            }
        }
    }

    /// The median limit of audits.
    fn median(&self, rows: u64) -> f64 {
        let limit = |seed| {
            let options = AuditOptions {
                quick: true,
                ..AuditOptions::default()
            };
            let log = simulated(&self.mechanism, rows as usize, seed);
            let worst = audit(&log, &options).expect(&self.mechanism).worst_pair;
            match self.wanted {
                Wanted::TotalVariation => worst.total_variation.lower.expect("judged"),
                Wanted::Epsilon => worst.epsilon.lower.expect("judged"),
                Wanted::Upper => worst.total_variation.upper.expect("labels"),
            }
        };
        let mut limits: Vec<f64> = (0..LOGS).into_par_iter().map(limit).collect();
        limits.sort_by(f64::total_cmp);
        limits[limits.len() / 2]
    }

    /// The fewest rows of the series 30·2^(k/8) at which a limit answers, for limits that get better with rows.
    fn rows(&self, limit: impl Fn(u64) -> f64) -> u64 {
        let rows = |k: u32| (30.0 * 2f64.powf(f64::from(k) / 8.0)).round() as u64;
        let (mut low, mut high) = (0, 8 * 16);
        while high - low > 1 {
            let middle = (low + high) / 2;
            if self.is_answered(limit(rows(middle))) {
                high = middle;
            } else {
                low = middle;
            }
        }
        rows(high)
    }
}

/// One line of the page's table.
fn line(question: &Question, ours: u64) -> String {
    let ideal = question.rows(|rows| question.ideal(rows));
    format!(
        "| {} | {ideal} | {ours} | {:.1} |",
        question.text,
        ours as f64 / ideal as f64
    )
}

/// The column of the test that knows everything is computed; the audits' is as it was measured.
#[test]
fn the_page_has_the_rows_of_the_best_test() {
    for question in questions() {
        let cells = PAGE
            .lines()
            .find(|line| line.starts_with(&format!("| {} |", question.text)))
            .unwrap_or_else(|| panic!("no line for {}", question.text));
        let ours = cells.split('|').nth(3).expect("a cell").trim();
        let ours: u64 = ours.parse().expect("a number of rows");
        assert_eq!(cells, line(&question, ours));
    }
}

/// A number of rows that was measured may be off by two steps of the series, as medians are.
#[test]
#[ignore = "minutes; see the head of this file"]
fn standard_questions_need_the_rows_that_the_page_says() {
    let mut failed = Vec::new();
    for question in questions() {
        let ours = question.rows(|rows| question.median(rows));
        let line = line(&question, ours);
        println!("{line}");
        let steps = PAGE.lines().filter_map(|known| {
            let known = known.strip_prefix(&format!("| {} |", question.text))?;
            let known: f64 = known.split('|').nth(1)?.trim().parse().ok()?;
            Some((8.0 * (known / ours as f64).log2()).abs())
        });
        if steps.fold(f64::INFINITY, f64::min) > 2.5 {
            failed.push(line);
        }
    }
    assert!(failed.is_empty(), "not as the page says: {failed:#?}");
}
