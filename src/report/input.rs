//! What was read and how it was judged.

use crate::audit::{Findings, Input, Sample};
use crate::estimate::Method;
use crate::report::command::quoted;
use crate::report::numbers::nearest;
use crate::report::sentences::witness::column_name;
use crate::report::words::{method_name, value};
use leakgauge_base::error::{listing, shorten};
use leakgauge_base::naming::setting;
use leakgauge_log::observations::{ColumnType, ObservationKind};
use leakgauge_log::{Form, Format, Like, RecordKeeping};

/// Observation columns listed.
const LISTED_COLUMNS: usize = 8;
/// Secrets listed with their rows.
const LISTED_SECRETS: usize = 8;

/// How the log was read.
pub fn as_read(input: &Input) -> Vec<String> {
    let mut items = vec![rows_read(input)];
    items.extend(input.sampled().as_ref().map(sample));
    items.extend(units(input));
    items.extend(recognized(input));
    items.extend([secrets(input), observation(input)]);
    items.extend(left_out_columns(input));
    items.extend(merged(input));
    items.extend(files(&input.facts.files));
    items.extend(input.facts.notes.iter().cloned());
    items
}

/// Facts of the log and of the method.
pub fn input(audit: &Findings) -> Vec<String> {
    let input = &audit.input;
    let mut items = as_read(input);
    if let Some(file) = &input.facts.fit_on {
        let of = input.fit_sampled();
        let of = of.map_or(String::new(), |of| format!(", {}", sample_of(&of)));
        items.push(format!("Training and tuning rows are from {file}{of}."));
    }
    let rows = &audit.method.rows;
    items.push(format!(
        "{} training rows, {} tuning rows, {} certification rows; seed {}.",
        rows.fit, rows.tune, rows.certify, audit.seed
    ));
    let units = input.units.as_ref();
    if let Some(parts) = units.and_then(|units| units.parts.as_ref()) {
        items.push(format!(
            "Split by units: {} training units, {} tuning units, {} certification units; all rows of a unit are in one part.",
            parts.fit, parts.tune, parts.certify
        ));
    }
    if let Some(rows) = &audit.method.effective_rows {
        let least = rows.iter().min().unwrap_or(&0);
        items.push(format!(
            "Split by time: earlier rows for training, later ones for certification, with gaps between. The certification \
             rows of a secret are worth at least {least} independent rows, by the autocorrelation of the attack's errors."
        ));
    }
    items.push(attack(audit));
    items.extend(points(audit));
    items.push(limits(audit));
    items
}

/// How many units there are, which is what limits count.
fn units(input: &Input) -> Option<String> {
    let units = input.units.as_ref()?;
    let what = if input.facts.blocks.is_some() {
        "blocks"
    } else {
        "units"
    };
    let of_secrets = input.secrets.iter().zip(&units.of_secrets);
    let mut listed: Vec<String> = of_secrets
        .take(LISTED_SECRETS)
        .map(|(label, units)| format!("{} ({units} {what})", shorten(label)))
        .collect();
    if input.secrets.len() > LISTED_SECRETS {
        listed.push(format!("… {} secrets in all", input.secrets.len()));
    }
    let blocks = input.facts.blocks.as_ref();
    let lost = blocks.map_or(String::new(), |blocks| {
        lost(blocks.incomplete, blocks.alone)
    });
    let column = match blocks.is_some_and(|blocks| blocks.column.is_none()) {
        true => "rows of the file".to_owned(),
        false => format!("column {}", shorten(&units.column)),
    };
    Some(format!(
        "{} {what} ({column}) have these rows: {}. Limits count {what}, not rows, and every one counts once.{lost}",
        units.units,
        listed.join(", ")
    ))
}

/// What blocks lack.
fn lost(incomplete: u64, alone: u64) -> String {
    let mut text = String::new();
    if incomplete > 0 {
        text.push_str(&format!(" {incomplete} blocks lack a secret."));
    }
    if alone > 0 {
        text.push_str(&format!(
            " {alone} more blocks of one measurement were left out."
        ));
    }
    text
}

/// The tool whose log this is.
fn recognized(input: &Input) -> Option<String> {
    let form = input.facts.recognized?;
    let otherwise = setting("like", Like::Nothing.name());
    let blocks = match (form.has_blocks(), input.facts.blocks.is_some()) {
        (true, true) => format!(
            " Measurements are compared inside their blocks, and limits count blocks; rows are read one by one with {}.",
            setting("block", "none")
        ),
        (true, false) => {
            " Its rows come in blocks; each row counts as new evidence here, although what is shared within a block is \
             not new."
                .to_owned()
        }
        (false, _) => String::new(),
    };
    let otherwise = match form {
        // Its format, or what the user said.
        Form::ApacheBench | Form::Hyperfine | Form::PromptCache | Form::Fbleau => String::new(),
        _ => format!(" If it is something else: {otherwise}."),
    };
    Some(format!("Recognized as {form}.{blocks}{otherwise}"))
}

/// The secrets that were joined, and those that stay.
fn merged(input: &Input) -> Option<String> {
    let merged = &input.facts.merged_secrets;
    if merged.is_empty() {
        return None;
    }
    let joined: Vec<String> = merged
        .iter()
        .map(|one| {
            let from = one.from.iter().map(String::as_str);
            format!("{} is {}", shorten(&one.label), listing(from))
        })
        .collect();
    let stays = |label: &&String| merged.iter().all(|one| one.label != **label);
    let staying: Vec<&str> = input
        .secrets
        .iter()
        .filter(stays)
        .map(String::as_str)
        .collect();
    let others = match staying.is_empty() {
        true => String::new(),
        false => format!(" As they are: {}.", listing(staying.into_iter())),
    };
    Some(format!(
        "Secrets were joined by rules, which must be chosen before this log was collected: {}.{others}",
        joined.join("; ")
    ))
}

fn secrets(input: &Input) -> String {
    let rows = input.secrets.iter().zip(&input.rows_of_secrets);
    let mut secrets: Vec<String> = rows
        .take(LISTED_SECRETS)
        .map(|(label, rows)| format!("{} ({rows} rows)", shorten(label)))
        .collect();
    if input.secrets.len() > LISTED_SECRETS {
        secrets.push(format!("… {} in all", input.secrets.len()));
    }
    format!(
        "Secret: column {}{}: {}.",
        shorten(&input.facts.secret_column),
        match input.facts.secret_chosen {
            true => " (no column is named `secret`; this is the only one of a few labels)",
            false => "",
        },
        secrets.join(", ")
    )
}

/// How many rows there are, and how they stand in the file.
fn rows_read(input: &Input) -> String {
    let input = &input.facts;
    let header = match (input.header, input.header_detected) {
        (true, true) => "row 1 was taken as a header",
        (true, false) => "row 1 is a header, as set",
        (false, true) => "row 1 was taken as data, not as a header",
        (false, false) => "no header, as set",
    };
    let form = match (input.format, input.delimiter) {
        (Format::Memory, _) => "from memory, typed as given".to_owned(),
        (Format::JsonLines, _) => {
            "each is a JSON object on a line, its fields named by their paths".to_owned()
        }
        (Format::JsonArray, _) => {
            "each is an object of a JSON array, its fields named by their paths".to_owned()
        }
        (
            format @ (Format::Hyperfine
            | Format::PromptCache
            | Format::Npy
            | Format::Npz
            | Format::TraceSet),
            _,
        ) => {
            format!("from {format}")
        }
        (format, None) => format!("from {format}, columns named by their paths"),
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
fn sample(sampled: &Sample) -> String {
    format!(
        "The log has more than {} different rows (secret and observation), so {} is used. Limits come from the sample and \
         stay valid. {} uses more rows and more memory.",
        sampled.from.max_rows,
        sample_of(sampled),
        setting("max_rows", "N")
    )
}

fn sample_of(sampled: &Sample) -> String {
    let from = &sampled.from;
    format!(
        "a random sample of {} of {} rows, at most {} of each secret",
        from.rows_used(),
        from.rows_in_all(),
        from.cap
    )
}

/// How several files are one log.
fn files(files: &[String]) -> Option<String> {
    let [first, .., last] = files else {
        return None;
    };
    let order = if files.is_sorted() {
        "sorted by name"
    } else {
        "in the order given"
    };
    Some(format!(
        "{} files are one log, {order}: from {first} to {last}.",
        files.len()
    ))
}

fn observation(input: &Input) -> String {
    let mut columns: Vec<String> = input
        .columns
        .iter()
        .take(LISTED_COLUMNS)
        .map(|column| {
            let kind = match column.kind {
                ColumnType::Numeric => "numbers",
                ColumnType::Categorical => "labels",
                ColumnType::Mixed => "numbers and words",
            };
            let name = column_name(&column.name);
            match column.resolution {
                Some(width) => format!("{name} ({kind}, in bins of {width})"),
                None => format!("{name} ({kind})"),
            }
        })
        .collect();
    if input.columns.len() > LISTED_COLUMNS {
        columns.push(format!("… {} in all", input.columns.len()));
    }
    let kind = match input.kind {
        ObservationKind::Discrete => "discrete",
        ObservationKind::Numeric => "numeric",
        ObservationKind::Mixed => "mixed",
    };
    format!(
        "Observation: {kind}, {} distinct: {}.",
        input.distinct,
        columns.join(", ")
    )
}

/// The columns of the file that are observed, as they are or by what their cells consist of: `sizes` is where `sizes.length`
/// and `sizes[0]` are.
pub(super) fn observed_of_file(input: &Input) -> Vec<&str> {
    let facts = &input.facts;
    let is_of = |column: &str, name: &str| {
        let rest = column.strip_prefix(name);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '[']))
    };
    let is_left_out = |name: &str| facts.left_out_columns.iter().any(|one| one.name == name);
    let is_observed = |name: &&str| {
        let mut columns = input.columns.iter();
        let is_part = columns.any(|column| is_of(&column.name, name));
        is_part && !is_left_out(name) && **name != *facts.secret_column
    };
    let of_file = facts.first_rows.columns.iter();
    of_file.map(String::as_str).filter(is_observed).collect()
}

/// The columns that were not observed because they number rows, or say when they were recorded.
fn left_out_columns(input: &Input) -> Option<String> {
    let columns = &input.facts.left_out_columns;
    if columns.is_empty() {
        return None;
    }
    let listed = columns.iter().map(|column| {
        format!(
            "{} ({})",
            column_name(&column.name),
            why_left_out(column.why)
        )
    });
    let listed: Vec<String> = listed.collect();
    let names = observed_of_file(input).into_iter();
    let all: Vec<&str> = names
        .chain(columns.iter().map(|column| column.name.as_str()))
        .collect();
    Some(format!(
        "Left out, because no attacker is taken to see them: {}. With {} they are observed.",
        listed.join(", "),
        setting("observe", quoted(all.join(",")))
    ))
}

/// Why a column is not observed, in a few words.
pub fn why_left_out(why: RecordKeeping) -> &'static str {
    match why {
        RecordKeeping::Counts => "counts with the rows",
        RecordKeeping::CountsBlocks => "counts with blocks of rows",
        RecordKeeping::Clock => "says when a row was recorded",
        RecordKeeping::NeverFalls => "never falls, as a clock",
        RecordKeeping::RowId => "names rows",
        RecordKeeping::Filter => "chose the rows",
        RecordKeeping::Blank => "is blank",
    }
}

fn attack(audit: &Findings) -> String {
    let method = &audit.method;
    let index = method
        .index
        .map_or(String::new(), |index| format!(", neighbors by {index}"));
    let fitted: Vec<_> = method
        .tried
        .iter()
        .filter(|tried| tried.quality.is_ok())
        .collect();
    // What it chose depends on how many rows it learns from: the table of attackers shows it with fewer.
    let is_listed = fitted
        .iter()
        .any(|tried| tried.scorer == method.scorer && tried.description == method.description);
    let again = match is_listed {
        true => "",
        false => ", then learned anew from training and tuning rows together",
    };
    format!(
        "Attack: {} ({}{index}), the best of {} on the tuning rows{again}. Nominal budget: {} s.",
        method.scorer,
        method.description,
        fitted.len(),
        method.budget.seconds()
    )
}

/// Which point of the total variation is reported, and why.
fn points(audit: &Findings) -> Option<String> {
    let points = audit.worst_pair.total_variation_points.as_ref()?;
    let method = audit.worst_pair.total_variation.method.point?;
    let minimax = points.minimax;
    Some(match method {
        Method::MinimaxTotalVariation => format!(
            "Estimate of total variation: minimax, because {} distinct observations are too many for {:.0} rows of a \
             secret: attacks cannot learn them (the attack: {}), and relative frequencies overstate the difference \
             (plug-in: {}).",
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

fn limits(audit: &Findings) -> String {
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
