//! What was read, how it was used, and what the limits rest on.

use crate::audit::{
    AuditOptions, Input, MethodSection, Observation, PartRows, PriorChoice, Sampled, SecretRows,
    SplitChoice, TriedScorer, given,
};
use leakgauge_attack::pairwise::EffectiveRows;
use leakgauge_attack::split::Split;
use leakgauge_attack::tuning::Tuned;
use leakgauge_base::error::shorten;
use leakgauge_log::{Log, SampledFrom};

pub(super) fn input(log: &Log) -> Input {
    let facts = &log.facts;
    Input {
        files: facts.files.clone(),
        fit_on: facts.fit_on.clone(),
        rows: facts.rows,
        rows_used: facts.rows_used,
        sampled: sampled(log, facts.sampled.as_ref()),
        fit_on_sampled: sampled(log, facts.fit_sampled.as_ref()),
        aggregated: facts.aggregated,
        header: facts.header,
        header_detected: facts.header_detected,
        format: facts.format,
        delimiter: facts.delimiter,
        wide: facts.wide,
        notes: facts.notes.clone(),
        secret_column: facts.secret_column.clone(),
        secrets: secret_rows(log, log.counts.rows()),
        observation: Observation {
            kind: log.observations.kind(),
            columns: log.observations.columns().to_vec(),
            distinct: log.observations.len(),
        },
    }
}

fn secret_rows(log: &Log, rows: &[u64]) -> Vec<SecretRows> {
    let secrets = log.secrets.iter().zip(rows);
    secrets
        .map(|(label, &rows)| SecretRows {
            label: label.clone(),
            rows,
        })
        .collect()
}

fn sampled(log: &Log, from: Option<&SampledFrom>) -> Option<Sampled> {
    from.map(|from| Sampled {
        max_rows: from.max_rows,
        cap: from.cap,
        rows_used: from.rows_used(),
        rows: from.rows_in_all(),
        secrets: secret_rows(log, &from.rows),
    })
}

pub(super) fn method(
    tuned: &Tuned,
    split: &Split,
    log: &Log,
    options: &AuditOptions,
    effective: Option<&EffectiveRows>,
) -> MethodSection {
    let worth = |effective: &EffectiveRows| secret_rows(log, &effective.least(log.secrets.len()));
    MethodSection {
        split: if effective.is_some() {
            "blocks"
        } else {
            "random"
        },
        effective_rows: effective.map(worth),
        scorer: tuned.scorer.name().to_owned(),
        origin: tuned.scorer.origin(),
        parameters: tuned.scorer.parameters(),
        in_words: tuned.scorer.description(),
        index: tuned.index,
        rows: PartRows {
            fit: split.fit.total(),
            tune: split.tune.total(),
            certify: split.certify.total(),
        },
        budget: options.budget.seconds(),
        tried: tuned.tried.iter().map(TriedScorer::new).collect(),
    }
}

pub(super) fn assumptions(log: &Log, options: &AuditOptions) -> Vec<String> {
    let rows = match options.split {
        SplitChoice::Random => {
            "Rows are independent, and the rows of a secret all come from one distribution."
        }
        SplitChoice::Blocks => {
            "What the attack gets wrong depends on rows nearby only, far fewer than those that certify. Limits come from \
             an estimate of how many independent rows these are worth, and are approximate. They are about the time of \
             the certify rows."
        }
    };
    let mut assumptions = vec![
        rows.to_owned(),
        format!(
            "Seed {} was fixed beforehand: running with several seeds and keeping one spends confidence that was not \
             paid for.",
            options.seed
        ),
    ];
    if !options.claims.is_empty() {
        assumptions.push(
            "The claims and the margin were settled before this log was looked at.".to_owned(),
        );
    }
    if log
        .facts
        .decided
        .contains(&leakgauge_log::Decision::Inferred)
    {
        assumptions.push(
            "Types of columns that were not said were inferred from how the first rows are written."
                .to_owned(),
        );
    }
    if let Some(scores) = &log.facts.scores {
        assumptions.extend(given::assumptions(scores));
    }
    if options.prior == PriorChoice::Empirical {
        assumptions
            .push("The prior is exactly how often each secret occurs in this log.".to_owned());
    }
    if log.facts.narrowed {
        assumptions.push(
            "The secrets given with --secrets were chosen before this log was taken: choosing them by looking at it \
             spends confidence that was not paid for."
                .to_owned(),
        );
    }
    if let Some(file) = &log.facts.fit_on {
        assumptions.push(format!(
            "The rows of {file} are not rows of the log that is judged."
        ));
    }
    for column in log.observations.columns() {
        if let Some(width) = column.resolution {
            assumptions.push(format!(
                "The observer sees column {} in bins of {width} only, a width settled beforehand: limits are for that \
                 observer.",
                shorten(&column.name)
            ));
        }
    }
    assumptions
}
