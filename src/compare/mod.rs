//! Several logs side by side: a fix before and after, one mechanism at several parameters. Every log is
//! audited by itself, and differences between logs get limits of their own.
//!
//! Verdicts on several logs share the error probability: each log with a mechanism is audited at α divided by the
//! number of logs, so that some verdict is *violated* with probability α at most if all mechanisms are true
//! (Bonferroni). Verdicts that all hold need no such share: if one of the mechanisms is false, its own verdict is
//! wrong with probability α/logs at most (intersection–union). Limits of differences decide nothing; each holds at
//! level 1 − α by itself.
//!
//! ```
//! use leakgauge::audit::AuditOptions;
//! use leakgauge::compare::{Against, compare, measure, mechanisms};
//! use leakgauge::log::{ReadOptions, read_from};
//!
//! let texts = ["randomized-response(epsilon=0.5..4:2)".to_owned()];
//! let claims = mechanisms(&texts, 2)?;
//! let rows = ["0,0\n1,1\n0,0\n1,1\n0,1\n1,0\n", "0,0\n1,1\n"];
//! let logs = rows.iter().zip(&claims).enumerate().map(|(at, (rows, claim))| {
//!     let csv = "secret,observation\n".to_owned() + &rows.repeat(200);
//!     let log = read_from(&format!("log {at}"), std::io::Cursor::new(csv), &ReadOptions::default())?;
//!     measure(&log, AuditOptions::default(), Some(claim), 2)
//! });
//! let found = compare(logs.collect::<Result<_, leakgauge::base::error::Error>>()?, Against::Previous)?;
//! let change = &found.differences[0].attack_vulnerability.difference;
//! assert!(change.lower.unwrap() > 0.0 && change.upper.unwrap() < 1.0);
//! # Ok::<(), leakgauge::base::error::Error>(())
//! ```

mod analytic;
mod difference;
mod grid;
mod model;
mod shared;

use leakgauge_base::Tool;
use std::collections::BTreeSet;

use crate::audit::{AuditOptions, Findings, Warning, audit};
use crate::estimate::{Estimate, Method, Methods};
use leakgauge_base::error::{Error, Result};
use leakgauge_base::grammar::Call;
use leakgauge_base::naming::option;
use leakgauge_exact::claim::{Claim, ClaimKind};
use leakgauge_log::Log;
use leakgauge_stats::multiplicity::bonferroni;

pub use analytic::Analytic;
pub use grid::mechanisms;
pub use model::{
    Caution, Comparison, Curve, CurvePoint, Difference, Differences, LogEntry, OverallEntry,
    PairDifference, PairSummary, ParameterPoint, Residual, WorstPairEntry,
};

/// Which log each log is compared with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Against {
    /// The one before it.
    #[default]
    Previous,
    /// The first.
    First,
}

impl Against {
    /// Its name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Against::Previous => "previous",
            Against::First => "first",
        }
    }
}

/// A log that was audited, and what its mechanism says.
#[derive(Debug)]
pub struct Measured {
    /// The audit, with the mechanism as its only claim.
    pub audit: Findings,
    /// What the mechanism says of the secrets of this log.
    pub analytic: Option<Analytic>,
    /// The mechanism in full, all parameters named.
    call: Option<Call>,
    /// Level of differences, and of the verdicts on all logs together.
    confidence: f64,
    /// How many logs share the error probability.
    logs: usize,
    /// The rows of every cell.
    cells: shared::Cells,
}

impl Measured {
    /// The error probability of a limit of a difference.
    fn alpha(&self) -> f64 {
        1.0 - self.confidence
    }
}

/// Audits a log, with its mechanism as the only claim. Claims in the options are replaced.
///
/// The confidence in the options is that of the verdicts on all `logs` that are compared together. A log with a
/// mechanism is audited at 1 − (1 − confidence)/`logs`, one without at the confidence itself.
///
/// # Errors
/// As [`audit()`]; a claim that is no mechanism.
pub fn measure(
    log: &Log,
    options: AuditOptions,
    mechanism: Option<&Call>,
    logs: usize,
) -> Result<Measured> {
    let claim = mechanism.map(|call| Claim::parse(&call.to_string()));
    let claims: Vec<Claim> = claim.transpose()?.into_iter().collect();
    let confidence = options.confidence;
    let options = AuditOptions {
        confidence: match claims.is_empty() {
            true => confidence,
            false => 1.0 - bonferroni(1.0 - confidence, logs as u64),
        },
        claims,
        ..options
    };
    let audit = audit(log, &options)?;
    let Some(claim) = options.claims.first() else {
        return Ok(Measured {
            audit,
            analytic: None,
            call: None,
            confidence,
            logs,
            cells: shared::cells(log),
        });
    };
    let ClaimKind::Mechanism(mechanism) = &claim.kind else {
        return Err(grid::not_a_mechanism(&claim.text));
    };
    Ok(Measured {
        analytic: Some(Analytic::of(&**mechanism, log, &audit)?),
        call: Call::parse(&mechanism.to_string()).ok(),
        audit,
        confidence,
        logs,
        cells: shared::cells(log),
    })
}

/// Sets logs side by side.
///
/// # Conditions
/// Limits of differences count on logs that are independent of each other, given whatever both were
/// learned from.
///
/// # Errors
/// Fewer than two logs; logs measured at different confidence, or for another number of logs; a log that holds the
/// rows of another.
pub fn compare(mut logs: Vec<Measured>, against: Against) -> Result<Comparison> {
    shared::doubt(&mut logs)?;
    let first = check(&logs)?;
    let (seed, confidence) = (first.audit.seed, first.confidence);
    let log_confidence = first.audit.confidence;
    let parameter = grid::varying(&logs);
    let pairs_of_logs = (1..logs.len()).map(|at| match against {
        Against::Previous => (at - 1, at),
        Against::First => (0, at),
    });
    Ok(Comparison {
        schema_version: 1,
        tool: Tool::default(),
        seed,
        confidence,
        log_confidence,
        against: against.name(),
        differences: pairs_of_logs
            .map(|(from, to)| difference::between(&logs, from, to))
            .collect(),
        first_to_last: (against == Against::Previous && logs.len() > 2)
            .then(|| difference::between(&logs, 0, logs.len() - 1)),
        curve: parameter
            .as_ref()
            .and_then(|parameter| grid::curve(&logs, parameter)),
        notes: notes(&logs),
        cautions: cautions(&logs),
        logs: logs
            .iter()
            .enumerate()
            .map(|(at, log)| entry(log, parameter.as_ref().map(|found| found.at(at))))
            .collect(),
    })
}

fn check(logs: &[Measured]) -> Result<&Measured> {
    let [first, rest @ ..] = logs else {
        return Err(too_few(0));
    };
    if rest.is_empty() {
        return Err(too_few(1));
    }
    if logs.iter().any(|log| log.audit.input.units.is_some()) {
        return Err(grouped());
    }
    let same = |log: &Measured| {
        log.confidence == first.confidence && log.audit.confidence == first.audit.confidence
    };
    if !rest.iter().all(same) {
        return Err(Error::parameter(
            "confidence",
            "logs that are compared are measured at the same confidence, all with mechanisms or all without",
        ));
    }
    if logs.iter().any(|log| log.logs != logs.len()) {
        return Err(Error::parameter(
            "logs",
            format!(
                "{} logs are compared, but they were measured for another number, and so share another error \
                 probability",
                logs.len()
            ),
        ));
    }
    Ok(first)
}

/// The error for logs whose rows come in units.
pub fn grouped() -> Error {
    Error::parameter(
        option("group"),
        "limits of differences between logs count rows, not units",
    )
    .with_hint("audit each log by itself with its units")
}

/// The error for fewer than two logs.
pub fn too_few(logs: usize) -> Error {
    Error::parameter(
        "LOG",
        format!("a comparison needs at least two logs, not {logs}"),
    )
    .with_hint(
        "leakgauge compare before.csv after.csv; for one log there are `estimate` and `audit`",
    )
}

fn entry(log: &Measured, parameter: Option<ParameterPoint>) -> LogEntry {
    let audit = &log.audit;
    let worst = &audit.worst_pair;
    let standard_error = audit.tallies.worst_error(&worst.total_variation);
    let point = worst.total_variation.point;
    LogEntry {
        files: audit.input.facts.files.clone(),
        rows: audit.input.facts.rows,
        rows_used: audit.input.facts.rows_used,
        sampled: audit.input.sampled(),
        secrets: audit.input.secrets.len(),
        scorer: audit.method.scorer.clone(),
        warnings: audit.warnings.clone(),
        mechanism: log.analytic.as_ref().map(|found| found.mechanism.clone()),
        parameter,
        worst_pair: WorstPairEntry {
            secrets: worst.secrets.clone(),
            bayes_security: worst.bayes_security.clone(),
            total_variation: worst.total_variation.clone(),
            attack_advantage: worst.attack_advantage.clone(),
            standard_error,
        },
        residual: log.analytic.as_ref().and_then(|analytic| {
            let total_variation = point? - analytic.total_variation;
            Some(Residual {
                total_variation,
                standard_errors: standard_error.map(|error| total_variation / error),
            })
        }),
        analytic: log.analytic.clone(),
        verdict: audit.claims.first().map(|claim| claim.verdict),
        claim: audit.claims.first().cloned(),
        overall: OverallEntry {
            prior: audit.overall.prior.to_string(),
            guessing_error: audit.overall.guessing_error,
            bayes_risk: audit.overall.bayes_risk.clone(),
            bayes_vulnerability: audit.overall.bayes_risk.decreasing(|risk| 1.0 - risk),
            standard_error: audit.tallies.risk_error(&audit.overall.bayes_risk),
            attack_vulnerability: attack_vulnerability(audit),
            attack_standard_error: audit.tallies.attack_error(),
        },
    }
}

fn attack_vulnerability(audit: &Findings) -> Estimate {
    let alpha = 1.0 - audit.confidence;
    match difference::risk_limits(&audit.tallies, alpha / 2.0) {
        Ok((lower, upper, method)) => Estimate {
            point: Some(1.0 - difference::attack_risk(&audit.tallies)),
            raw: None,
            lower: Some(1.0 - upper),
            upper: Some(1.0 - lower),
            method: Methods {
                point: Some(Method::HeldOutAttack),
                lower: Some(method),
                upper: Some(method),
            },
            reason: None,
        },
        Err(reason) => Estimate {
            reason: Some(reason),
            ..Estimate::default()
        },
    }
}

fn notes(logs: &[Measured]) -> Vec<String> {
    let percent = |confidence: f64| leakgauge_base::rounding::allowance(100.0 * confidence);
    let together = percent(logs[0].confidence);
    let alone = percent(logs[0].audit.confidence);
    let mut notes = vec![
        format!(
            "Differences are the later log minus the earlier one. Each limit of a difference holds with {together} % \
             confidence by itself, if the logs and their rows are independent; it is not corrected for the number of \
             logs."
        ),
        match logs[0].analytic {
            Some(_) => format!(
                "Verdicts on all {} logs hold together with {together} % confidence. So each log is judged at {alone} %, \
                 and limits of single logs hold at that level. A p-value of a claim is that of its log alone.",
                logs.len()
            ),
            None => format!("Limits of single logs hold with {alone} % confidence, each by itself."),
        },
        "The attack found is learned from each log, and its limits are about this attack. A fix that stops it may not stop \
         another attack."
            .to_owned(),
        "Standard errors are binomial, from the certification rows (for cross-fitted estimates: from all rows, as if parts \
         were independent). They and z are descriptive; limits do not use them. An estimate that is a limit has none."
            .to_owned(),
    ];
    notes.extend(cautions(logs).iter().map(note));
    if logs.iter().any(|log| log.analytic.is_some()) {
        notes.push(
            "A residual is the estimate minus the analytic value for the same pair. The pair was chosen on other rows of the \
             same log."
                .to_owned(),
        );
    }
    notes
}

/// What makes the comparison of these logs doubtful.
fn cautions(logs: &[Measured]) -> Vec<Caution> {
    let mut cautions = Vec::new();
    let is_shared = |warning: &Warning| matches!(warning, Warning::SharedRowsSuspected { .. });
    if logs
        .iter()
        .any(|log| log.audit.warnings.iter().any(is_shared))
    {
        cautions.push(Caution::SharedRows);
    }
    cautions.extend(learned(logs));
    let sets: Vec<BTreeSet<&str>> = logs
        .iter()
        .map(|log| difference::labels(&log.audit).collect())
        .collect();
    if sets.iter().any(|set| *set != sets[0]) {
        cautions.push(Caution::OtherSecrets);
    }
    cautions
}

fn note(caution: &Caution) -> String {
    match caution {
        Caution::SharedRows => {
            "Some rows may stand in two of the logs (see the warnings). Limits of differences need independent logs, and \
             are too narrow or wrong otherwise."
                .to_owned()
        }
        Caution::TrainingRows(rows) => {
            let rows: Vec<String> = rows.iter().map(u64::to_string).collect();
            format!(
                "The attacks learned from different numbers of rows ({}). An attack with more training rows is stronger, \
                 which may explain part of a difference.",
                rows.join(", ")
            )
        }
        Caution::OtherSecrets => {
            "The logs do not have the same secrets: figures over all secrets are not about the same task, and only pairs \
             that both logs have are compared."
                .to_owned()
        }
    }
}

/// That more rows teach an attack more, where logs differ much in that.
fn learned(logs: &[Measured]) -> Option<Caution> {
    const MUCH: u64 = 5;
    let rows: Vec<u64> = logs
        .iter()
        .map(|log| log.audit.method.rows.fit + log.audit.method.rows.tune)
        .collect();
    let (least, most) = (rows.iter().min()?, rows.iter().max()?);
    // A fifth more.
    (most - least > least / MUCH).then_some(Caution::TrainingRows(rows))
}

#[cfg(test)]
mod tests;
