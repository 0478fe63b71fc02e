//! "About N rows would settle it in nine of ten logs": another log of that size, of the same mechanism, is settled so often.

use std::fmt::Write;
use std::io::Cursor;

use leakgauge::audit::{AuditOptions, ClaimReport, Verdict, audit};
use leakgauge::claim::Claim;
use leakgauge::log::{ReadOptions, read_from};
use leakgauge_testing::rng;
use rand_distr::{Binomial, Distribution};
use rayon::prelude::*;

/// Logs a case.
const LOGS: u64 = 60;
/// Sizes beyond this are not drawn.
const MOST_ROWS: u64 = 3_000_000;

/// Randomized response of two secrets: the probability of the own answer, and a claim that is not quite what it keeps.
struct Case {
    own: f64,
    rows: u64,
    claim: &'static str,
    /// How the truth settles the claim.
    settled: Verdict,
}

impl Case {
    fn judged(&self, rows: u64, seed: u64) -> ClaimReport {
        let mut rng = rng(seed);
        let mut text = "secret,seen,count\n".to_owned();
        for (secret, share) in [("a", self.own), ("b", 1.0 - self.own)] {
            let own = Binomial::new(rows / 2, share).expect("a share");
            let own = own.sample(&mut rng);
            writeln!(text, "{secret},x,{own}\n{secret},y,{}", rows / 2 - own).expect("memory");
        }
        let read = ReadOptions {
            count: Some("count".to_owned()),
            ..ReadOptions::default()
        };
        let log = read_from("counts", Cursor::new(text), &read).expect("a log");
        let options = AuditOptions {
            quick: true,
            claims: vec![Claim::parse(self.claim).expect("a claim")],
            ..AuditOptions::default()
        };
        let mut found = audit(&log, &options).expect("an audit");
        found.claims.remove(0)
    }
}

const CASES: [Case; 5] = [
    // Total variation 0.5, ε = 1.099.
    Case {
        own: 0.75,
        rows: 2_000,
        claim: "advantage(0.45)",
        settled: Verdict::Violated,
    },
    Case {
        own: 0.75,
        rows: 500,
        claim: "advantage(0.6)",
        settled: Verdict::Holds,
    },
    Case {
        own: 0.75,
        rows: 1_000,
        claim: "ldp(epsilon=0.95)",
        settled: Verdict::Violated,
    },
    Case {
        own: 0.75,
        rows: 1_000,
        claim: "bayes-security(0.4)",
        settled: Verdict::Holds,
    },
    Case {
        own: 0.6,
        rows: 1_000,
        claim: "attack-advantage(0.13)",
        settled: Verdict::Violated,
    },
];

/// Of advice that is given, nine of ten pieces are right: a log of that size is settled as the truth is. Estimates that are
/// far off by chance, and then name too few rows, count against it.
#[test]
fn logs_as_large_as_advised_are_settled() {
    let (mut given, mut right) = (0, 0);
    for (number, case) in CASES.iter().enumerate() {
        let tries: Vec<Option<bool>> = (0..LOGS)
            .into_par_iter()
            .map(|log| {
                let seed = 10_000 * number as u64 + 2 * log;
                let first = case.judged(case.rows, seed);
                let rows = first.rows_needed.filter(|rows| *rows <= MOST_ROWS)?;
                assert_eq!(first.verdict, Verdict::Inconclusive);
                Some(case.judged(rows, seed + 1).verdict == case.settled)
            })
            .collect();
        let advice = tries.iter().flatten().count();
        let good = tries.iter().flatten().filter(|good| **good).count();
        println!(
            "{}: {good} of {advice} pieces of advice are right, {LOGS} logs",
            case.claim
        );
        given += advice;
        right += good;
    }
    assert!(given >= 50, "{given} pieces of advice");
    assert!(10 * right >= 9 * given, "{right} of {given}");
}
