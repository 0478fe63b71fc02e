//! Every error rate of this suite again, in minutes: Wald's sequential test of the nominal rate against twice that
//! rate, on logs with fewer rows. Ignored in builds without optimization; `.ci/full` runs it:
//!
//! ```text
//! cargo test --release --test all statistics::quick
//! ```
//!
//! After n logs of which e were wrong, the likelihood ratio of the rates 2α and α is 2^e ((1 − 2α)/(1 − α))^(n−e). A
//! rate passes once the ratio is at most 1/100 and fails once it is at least 1000. Whenever one looks, a ratio of
//! likelihoods exceeds x with probability at most 1/x if the rate below the line is true (Ville's inequality). A miss
//! rate that is doubled is thus caught with probability at least 0.99, and a nominal one raises an alarm with
//! probability at most 0.001. [`tests::a_doubled_rate_is_caught`] computes both from binomials, with the batches as
//! they are. At α = 0.05 limits that never miss pass after 100 logs, in which the test allows one miss; after 200 it
//! allows 8, after 400 it allows 22.
//!
//! Wald (1945), Sequential tests of statistical hypotheses, 10.1214/aoms/1177731118.
//!
//! Seeds are fixed and each rate looks at the logs in the same batches, so a run repeats to the bit whatever the
//! number of threads.

use rayon::prelude::*;

use super::{
    accuracy, coverage, every_row, hard_logs, mechanisms, order, privacy, requested, sampled,
    shuffled_groups, shuffling, sparse, trade_off, wrong_mechanisms,
};

/// Logs between two looks at the ratio.
const BATCH: u64 = 20;
/// Odds against passing a rate that is doubled.
const PASS_ODDS: f64 = 100.0;
/// Odds against failing a rate that is nominal.
const FAIL_ODDS: f64 = 1000.0;

/// Error rates that one simulated log after another tells about.
pub struct Rates {
    pub case: String,
    /// What can be wrong.
    pub names: Vec<String>,
    /// The rate that each may have.
    pub nominal: f64,
    /// For each name, whether the log of this seed was wrong.
    pub wrong: Box<dyn Fn(u64) -> Vec<bool> + Send + Sync>,
}

impl Rates {
    /// A single rate.
    pub fn one(
        case: impl Into<String>,
        nominal: f64,
        wrong: impl Fn(u64) -> bool + Send + Sync + 'static,
    ) -> Self {
        Self {
            case: case.into(),
            names: vec![String::new()],
            nominal,
            wrong: Box::new(move |seed| vec![wrong(seed)]),
        }
    }
}

/// Whether the ratio has decided, and how: `Some(true)` for a rate that passes.
fn decision(nominal: f64, errors: u64, logs: u64) -> Option<bool> {
    let fine = ((1.0 - 2.0 * nominal) / (1.0 - nominal)).ln();
    let ratio = errors as f64 * 2f64.ln() + (logs - errors) as f64 * fine;
    if ratio <= -PASS_ODDS.ln() {
        Some(true)
    } else if ratio >= FAIL_ODDS.ln() {
        Some(false)
    } else {
        None
    }
}

/// Draws logs until each rate has passed or failed; the failed ones.
fn failed(rates: &Rates) -> Vec<String> {
    let mut errors = vec![0; rates.names.len()];
    let mut open = vec![true; rates.names.len()];
    let mut failed = Vec::new();
    let mut logs = 0;
    while open.contains(&true) {
        let batch: Vec<Vec<bool>> = (logs..logs + BATCH)
            .into_par_iter()
            .map(|seed| (rates.wrong)(seed))
            .collect();
        logs += BATCH;
        for at in 0..errors.len() {
            errors[at] += batch.iter().filter(|wrong| wrong[at]).count() as u64;
            let Some(passes) = decision(rates.nominal, errors[at], logs).filter(|_| open[at])
            else {
                continue;
            };
            open[at] = false;
            let line = format!(
                "{} {}: {} of {logs}",
                rates.case, rates.names[at], errors[at]
            );
            println!("{line}{}", if passes { "" } else { "  FAILED" });
            if !passes {
                failed.push(line);
            }
        }
    }
    failed
}

pub fn all_pass(all: Vec<Rates>) {
    assert!(!all.is_empty());
    let failed: Vec<String> = all.iter().flat_map(failed).collect();
    assert!(failed.is_empty(), "wrong too often:\n{}", failed.join("\n"));
}

/// A test for each module of this suite.
macro_rules! quick {
    ($($name:ident: $run:expr;)*) => {$(
        #[test]
        #[cfg_attr(debug_assertions, ignore = "needs optimization; see the head of this file")]
        fn $name() {
            $run;
        }
    )*};
}

quick! {
    limits_cover_and_true_claims_are_not_refuted: all_pass(coverage::quick());
    limits_cover_the_error_rates_of_the_attack_itself: all_pass(coverage::quick_attack());
    estimates_from_simulated_logs_contain_the_exact_value: all_pass(mechanisms::quick());
    a_split_by_time_keeps_its_level_where_rows_are_not_exchangeable: all_pass(order::quick());
    a_log_that_is_followed_keeps_its_level_over_whole_paths: all_pass(order::quick_followed());
    claims_of_privacy_are_not_wrongly_judged: all_pass(privacy::quick());
    limits_of_figures_on_request_cover: all_pass(requested::quick());
    limits_of_sampled_logs_cover_and_true_claims_stay: all_pass(sampled::quick());
    shufflers_that_keep_their_alpha_are_not_accused: all_pass(shuffled_groups::quick());
    audited_shufflers_cover_the_exact_bayes_risk: all_pass(shuffling::quick());
    limits_of_reidentification_cover_all_games: all_pass(shuffling::quick_games());
    limits_of_the_trade_off_of_given_scores_cover: all_pass(trade_off::quick());
    correct_counterparts_are_not_flagged: all_pass(wrong_mechanisms::quick());
    wrong_mechanisms_are_caught_in_few_rows: wrong_mechanisms::are_caught(10_000);
    broken_shufflers_are_caught_in_few_rows: shuffled_groups::are_caught(10_000, 10);
    the_median_lower_limit_is_near_the_truth: coverage::median_lower_limits_are_near(40);
    every_row_testifies_at_its_level: all_pass(every_row::quick());
    limits_of_hard_logs_keep_their_level: all_pass(hard_logs::quick());
    points_are_near: accuracy::points_are_near(10);
    minimax_total_variation_is_near: sparse::minimax_is_near(10_000);
    shrinkage_tells_more_than_add_half: sparse::shrinkage_tells_more(20);
}

mod tests {
    use super::{BATCH, decision};

    /// Probabilities of 0..=n errors in n logs.
    fn binomial(n: u64, rate: f64) -> Vec<f64> {
        let mut law = vec![(1.0 - rate).powi(n as i32)];
        for k in 1..=n {
            let ratio = (n - k + 1) as f64 / k as f64 * rate / (1.0 - rate);
            law.push(law[k as usize - 1] * ratio);
        }
        law
    }

    /// Probabilities to pass and to fail at a rate, and the logs expected.
    fn fate(nominal: f64, rate: f64) -> [f64; 3] {
        let step = binomial(BATCH, rate);
        let mut open = vec![1.0];
        let (mut passes, mut fails, mut expected) = (0.0, 0.0, 0.0);
        for batch in 1..=400 {
            let logs = batch * BATCH;
            expected += BATCH as f64 * open.iter().sum::<f64>();
            let mut next = vec![0.0; open.len() + BATCH as usize];
            for (before, mass) in open.iter().enumerate() {
                for (more, p) in step.iter().enumerate() {
                    next[before + more] += mass * p;
                }
            }
            for (errors, mass) in next.iter_mut().enumerate() {
                match decision(nominal, errors as u64, logs) {
                    Some(true) => passes += std::mem::take(mass),
                    Some(false) => fails += std::mem::take(mass),
                    None => {}
                }
            }
            open = next;
        }
        assert!(open.iter().sum::<f64>() < 1e-9, "nearly every run ends");
        [passes, fails, expected]
    }

    #[test]
    #[ignore = "long"]
    fn a_doubled_rate_is_caught() {
        for nominal in [0.05, 0.06] {
            let [missed, caught, logs] = fate(nominal, 2.0 * nominal);
            println!("doubled: {missed:.5} pass, {caught:.5} fail, {logs:.0} logs");
            assert!(missed <= 0.01 && caught >= 0.99);
            let [passes, alarms, logs] = fate(nominal, nominal);
            println!("nominal: {passes:.5} pass, {alarms:.5} fail, {logs:.0} logs");
            assert!(alarms <= 0.001 && passes >= 0.999 - 1e-9);
        }
        // As the head of this file says.
        let allowed = |logs: u64| {
            (0..=logs)
                .rev()
                .find(|e| decision(0.05, *e, logs) == Some(true))
        };
        assert_eq!(
            [80, 100, 200, 400].map(allowed),
            [None, Some(1), Some(8), Some(22)]
        );
    }
}
