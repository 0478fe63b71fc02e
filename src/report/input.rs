//! What was read and how it was judged.

use crate::audit::{Audit, Input, Sampled};
use crate::estimate::Method;
use crate::report::words::{method_name, value};
use leakgauge_base::error::shorten;
use leakgauge_base::rounding::nearest;
use leakgauge_log::Format;
use leakgauge_log::observations::{ColumnType, ObservationKind};

/// Observation columns listed.
const LISTED_COLUMNS: usize = 8;
/// Secrets listed with their rows.
const LISTED_SECRETS: usize = 8;

/// Facts of the log and of the method.
pub fn input(audit: &Audit) -> Vec<String> {
    let input = &audit.input;
    let mut secrets: Vec<String> = input
        .secrets
        .iter()
        .take(LISTED_SECRETS)
        .map(|secret| format!("{} ({} rows)", shorten(&secret.label), secret.rows))
        .collect();
    if input.secrets.len() > LISTED_SECRETS {
        secrets.push(format!("… {} in all", input.secrets.len()));
    }
    let mut items = vec![rows_read(input)];
    items.extend(input.sampled.as_ref().map(sample));
    items.extend([
        format!(
            "Secret: column {}: {}.",
            shorten(&input.secret_column),
            secrets.join(", ")
        ),
        observation(audit),
    ]);
    items.extend(files(input));
    items.extend(input.notes.iter().cloned());
    if let Some(file) = &input.fit_on {
        let of = input.fit_on_sampled.as_ref();
        let of = of.map_or(String::new(), |of| format!(", {}", sample_of(of)));
        items.push(format!("Learned and tuned on {file}{of}."));
    }
    let rows = &audit.method.rows;
    items.push(format!(
        "{} rows to learn from, {} to choose with, {} to certify on; seed {}.",
        rows.fit, rows.tune, rows.certify, audit.seed
    ));
    if let Some(worth) = &audit.method.effective_rows {
        let least = worth.iter().map(|secret| secret.rows).min().unwrap_or(0);
        items.push(format!(
            "Split by time: earlier rows to learn from, later ones to certify on, with gaps between. The certify rows of a \
             secret are worth {least} independent ones at least, by the autocorrelation of the attack's errors."
        ));
    }
    items.push(attack(audit));
    items.extend(points(audit));
    items.push(limits(audit));
    items
}

/// How many rows there are, and how they stand in the file.
fn rows_read(input: &Input) -> String {
    let header = match (input.header, input.header_detected) {
        (true, true) => "row 1 was taken as a header",
        (true, false) => "row 1 is a header, as said",
        (false, true) => "row 1 was taken as data, not as a header",
        (false, false) => "no header, as said",
    };
    let form = match (input.format, input.delimiter) {
        (Format::Parquet, _) => "from Parquet, columns named by their paths".to_owned(),
        (Format::Arrow, _) => "from Arrow IPC, columns named by their paths".to_owned(),
        (Format::Memory, _) => "from memory, typed as given".to_owned(),
        (_, None) => "each is a JSON object on a line, its fields named by their paths".to_owned(),
        (_, Some('\t')) => format!("{header}; fields are separated by tabs"),
        (_, Some(delimiter)) => format!("{header}; fields are separated by `{delimiter}`"),
    };
    let wide = if input.wide {
        " Every column is a secret, every cell an observation of it."
    } else {
        ""
    };
    format!(
        "{} rows{} read, {} used; {form}.{wide}",
        input.rows,
        if input.aggregated {
            ", aggregated,"
        } else {
            ""
        },
        input.rows_used,
    )
}

/// That rows are a sample, and what follows.
fn sample(sampled: &Sampled) -> String {
    format!(
        "The log has more than {} different rows (secret and observation), so {} is used. Limits come from the sample and \
         stay valid; --max-rows N uses more rows and more memory.",
        sampled.max_rows,
        sample_of(sampled)
    )
}

fn sample_of(sampled: &Sampled) -> String {
    format!(
        "a random sample of {} of {} rows, at most {} of each secret",
        sampled.rows_used, sampled.rows, sampled.cap
    )
}

/// How several files are one log.
fn files(input: &Input) -> Option<String> {
    let [first, .., last] = &input.files[..] else {
        return None;
    };
    let order = if input.files.is_sorted() {
        "sorted by name"
    } else {
        "in the order given"
    };
    Some(format!(
        "{} files are one log, {order}: from {first} to {last}.",
        input.files.len()
    ))
}

fn observation(audit: &Audit) -> String {
    let observation = &audit.input.observation;
    let mut columns: Vec<String> = observation
        .columns
        .iter()
        .take(LISTED_COLUMNS)
        .map(|column| {
            let kind = match column.kind {
                ColumnType::Numeric => "numbers",
                ColumnType::Categorical => "labels",
            };
            let name = shorten(&column.name);
            match column.resolution {
                Some(width) => format!("{name} ({kind}, in bins of {width})"),
                None => format!("{name} ({kind})"),
            }
        })
        .collect();
    if observation.columns.len() > LISTED_COLUMNS {
        columns.push(format!("… {} in all", observation.columns.len()));
    }
    let kind = match observation.kind {
        ObservationKind::Discrete => "discrete",
        ObservationKind::Numeric => "numeric",
        ObservationKind::Mixed => "mixed",
    };
    format!(
        "Observation: {kind}, {} distinct: {}.",
        observation.distinct,
        columns.join(", ")
    )
}

fn attack(audit: &Audit) -> String {
    let method = &audit.method;
    let index = method
        .index
        .map_or(String::new(), |index| format!(", neighbours by {index}"));
    format!(
        "Attack: {} ({}{index}), the best of {} on the rows to choose with. Their advantages above are approximate lower \
         limits: at the pair where it is largest, on average, and of naming one of all secrets; their costs are \
         nominal, of a budget of {} s.",
        method.scorer,
        method.in_words,
        method
            .tried
            .iter()
            .filter(|tried| tried.quality.is_some())
            .count(),
        method.budget
    )
}

/// Which point of the total variation is reported, and why.
fn points(audit: &Audit) -> Option<String> {
    let points = audit.worst_pair.total_variation_points.as_ref()?;
    let method = audit.worst_pair.total_variation.method.point?;
    let minimax = points.minimax;
    Some(match method {
        Method::MinimaxTotalVariation => format!(
            "Estimate of total variation: minimax, because {} distinct observations are more than {:.0} rows of a secret: \
             attacks cannot learn them (the attack: {}), and counts take chance for difference (plug-in: {}).",
            points.distinct,
            points.effective_rows,
            value(points.cross_fitted_attack.or(points.held_out_attack)),
            nearest(points.plug_in)
        ),
        _ => format!(
            "Estimate of total variation: {}. For comparison: plug-in {} (biased upward), minimax {}.",
            method_name(method),
            nearest(points.plug_in),
            value(minimax)
        ),
    })
}

fn limits(audit: &Audit) -> String {
    let worst = &audit.worst_pair.total_variation;
    let risk = &audit.overall.bayes_risk;
    let mut used: Vec<Method> = [
        worst.method.lower,
        worst.method.upper,
        risk.method.lower,
        risk.method.upper,
    ]
    .into_iter()
    .flatten()
    .collect();
    let mut seen = Vec::new();
    used.retain(|method| {
        let new = !seen.contains(method);
        seen.push(*method);
        new
    });
    let names: Vec<&str> = used.into_iter().map(method_name).collect();
    format!(
        "Limits: {}.",
        if names.is_empty() {
            "none".to_owned()
        } else {
            names.join("; ")
        }
    )
}
