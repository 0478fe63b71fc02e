//! Auditing with the user's own attack, whose scores stand in the log.

use std::sync::Arc;

use crate::audit::options::AuditOptions;
use leakgauge_attack::pairwise::{Target, choose_rules};
use leakgauge_attack::scorer::{Given, Kind, Scorer, score_table};
use leakgauge_attack::split::Split;
use leakgauge_attack::tuning::{Attacks, Naming, ScorerChoice, Tried, Tuned, quality};
use leakgauge_base::error::{Error, Result, listing, shorten};
use leakgauge_base::naming::{option, setting};
use leakgauge_base::suggest;
use leakgauge_log::{Log, ScoreColumns};

/// Refuses scores without the scorer that reads them, and the reverse.
///
/// # Errors
/// One of them is there without the other.
pub fn check_scores(attacks: &Attacks, has_scores: bool) -> Result<()> {
    match (attacks.are_given(), has_scores) {
        (true, false) => Err(Error::parameter(
            setting("scorer", "given"),
            format!("needs {}", setting("scores", "COLUMN")),
        )
        .with_hint(format!(
            "{} for two secrets, or {} for each",
            setting("scores", "COLUMN"),
            setting("scores", "SECRET=COLUMN,…")
        ))),
        (false, true) => Err(Error::parameter(
            option("scores"),
            "only the scorer `given` reads scores, and another is set",
        )
        .with_hint(format!("add {}", setting("scorer", "given")))),
        _ => Ok(()),
    }
}

/// The attack that a log brings, with rules chosen on the tuning rows.
///
/// # Errors
/// Scores that do not fit the log's secrets.
pub(crate) fn tune(
    log: &Log,
    split: &Split,
    options: &AuditOptions,
    targets: &[Target],
    priors: &[Vec<f64>],
) -> Result<Tuned> {
    let alpha = 1.0 - options.confidence;
    let scorer: Arc<dyn Scorer> = Arc::new(scorer(log, split)?);
    let (secrets, symbols) = (split.tune.secrets(), split.tune.symbols());
    let scores = score_table(&*scorer, &log.observations, symbols, secrets);
    let naming = priors.iter().map(|prior| {
        let mut naming = Naming::blind(prior, &split.tune);
        naming.consider(&scorer, &scores, &split.tune);
        naming
    });
    let tried = Tried {
        kind: Kind::named(ScorerChoice::Given.name()),
        scorer: scorer.name().to_owned(),
        parameters: scorer.parameters(),
        description: scorer.description(),
        quality: Ok(quality(&scores, &split.tune, alpha)),
        cost: 0.0,
        rows: 0,
    };
    Ok(Tuned {
        average: None,
        choices: choose_rules(&scores, &split.tune, alpha, targets),
        for_privacy: None,
        naming: naming.collect(),
        scores,
        tried: vec![tried],
        index: None,
        scorer,
    })
}

fn scorer(log: &Log, split: &Split) -> Result<Given> {
    match &log.facts.scores {
        None => Err(check_scores(&ScorerChoice::Given.into(), false).expect_err("no scores")),
        Some(ScoreColumns::One(_)) if log.secrets.len() == 2 => {
            Ok(Given::single(&log.observations, &split.tune))
        }
        Some(ScoreColumns::One(column)) => Err(Error::parameter(
            setting("scores", shorten(column)),
            format!(
                "one column of scores tells two secrets apart, and the log has {}: {}",
                log.secrets.len(),
                listing(log.secrets.iter().map(String::as_str))
            ),
        )
        .with_hint(format!(
            "give one column for each, {}, or two secrets with {}",
            setting("scores", "SECRET=COLUMN,…"),
            setting("secrets", "A,B")
        ))),
        Some(ScoreColumns::PerSecret(columns)) => per_secret(log, columns),
    }
}

fn per_secret(log: &Log, columns: &[(String, String)]) -> Result<Given> {
    let known = || log.secrets.iter().chain(&log.left_out).map(String::as_str);
    if let Some((secret, column)) = columns
        .iter()
        .find(|(secret, _)| !known().any(|label| label == secret))
    {
        let error = Error::parameter(
            setting(
                "scores",
                format_args!("{}={}", shorten(secret), shorten(column)),
            ),
            format!(
                "the log has no such secret; its secrets: {}",
                listing(known().collect::<Vec<_>>().into_iter())
            ),
        );
        return Err(match suggest::nearest(secret, known()) {
            Some(near) => error.with_hint(format!("did you mean `{near}`?")),
            None => error.with_hint("labels are compared as text, letter by letter"),
        });
    }
    let column_of = |secret: &String| {
        let column = columns.iter().position(|(named, _)| named == secret);
        column.ok_or_else(|| {
            Error::parameter(
                option("scores"),
                format!("the secret {} has no column of scores", shorten(secret)),
            )
            .with_hint(format!(
                "name a column for every secret of the log, or some secrets with {}",
                setting("secrets", "A,B")
            ))
        })
    };
    let columns = log.secrets.iter().map(column_of).collect::<Result<_>>()?;
    Ok(Given::per_secret(columns))
}
