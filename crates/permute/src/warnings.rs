//! What a promise does not cover.

use super::release::Grouping;
use super::report::{Facts, Warning};

/// What is to be known about a release.
pub(super) fn of(facts: &Facts<'_>) -> Vec<Warning> {
    let mut warnings = Vec::new();
    of_randomness(facts, &mut warnings);
    of_groups(facts, &mut warnings);
    of_values(facts, &mut warnings);
    of_rows(facts, &mut warnings);
    warnings
}

fn warn(warnings: &mut Vec<Warning>, code: &'static str, message: impl Into<String>) {
    warnings.push(Warning {
        code,
        message: message.into(),
    });
}

fn of_randomness(facts: &Facts<'_>, warnings: &mut Vec<Warning>) {
    let options = facts.options;
    if options.seed.is_some() {
        warn(
            warnings,
            "seed-given",
            "Whoever knows the seed can undo this shuffle, and the JSON report has it. For a release leave --seed out: \
             the operating system then gives the randomness, and nobody keeps it.",
        );
    }
    if !options.previous.is_empty() {
        let seed =
            "Releases with one seed are not independent, and their alphas do not add up so. ";
        let epsilon = "What is randomized anew for each release spends its epsilon each time; the figures count it once.";
        let mut message =
            "Alphas add up for one and the same groups; for others take those of Theorem 4.4. "
                .to_owned();
        message.push_str(if options.seed.is_some() { seed } else { "" });
        message.push_str(epsilon);
        warn(warnings, "several-releases", message);
    }
}

fn of_groups(facts: &Facts<'_>, warnings: &mut Vec<Warning>) {
    if facts.plan.sensitivity == 0 {
        let message = "No group has two rows, so nothing had to move, and nothing did.";
        warn(warnings, "nothing-moved", message);
    }
    let uncovered = facts.groups.uncovered();
    if uncovered > 0 {
        let message = format!("{uncovered} rows are in no group: nothing is promised to them.");
        warn(warnings, "rows-in-no-group", message);
    }
}

fn of_values(facts: &Facts<'_>, warnings: &mut Vec<Warning>) {
    let options = facts.options;
    if options.randomizer.is_none() && facts.epsilon.is_none() {
        warn(
            warnings,
            "not-randomized",
            "The values were not randomized: whoever recognizes a value by itself finds it in any order. \
             --epsilon randomizes them first.",
        );
    }
    if options.randomizer.is_some() && options.values.is_empty() {
        warn(
            warnings,
            "values-from-the-log",
            "The values that the randomizer draws from are those in the log, which tells which there are, so that no \
             epsilon can be stated. --values names them beforehand.",
        );
    }
}

/// Columns that stay and make no groups, and rows in an order that tells of the values.
fn of_rows(facts: &Facts<'_>, warnings: &mut Vec<Warning>) {
    let options = facts.options;
    let grouping: &[String] = match &options.groups {
        Grouping::Distance { by, .. }
        | Grouping::Earth { by, .. }
        | Grouping::Nearest { by, .. } => by,
        Grouping::Equal { by } => std::slice::from_ref(by),
        Grouping::Path { .. } | Grouping::Listed { .. } => &[],
    };
    let names = facts.table.names.iter().zip(facts.moved);
    let others: Vec<&str> = names
        .filter(|(name, moved)| {
            !**moved && !grouping.contains(name) && options.id.as_ref() != Some(*name)
        })
        .map(|(name, _)| name.as_str())
        .collect();
    if !others.is_empty() {
        let message = format!(
            "Columns that stay with their row and make no groups: {}. Where they tell of the values that move, they \
             lead back to them, and no shuffle prevents that.",
            leakgauge_base::error::listing(others.iter().copied())
        );
        warn(warnings, "columns-that-stay", message);
    }
    for column in (0..facts.moved.len()).filter(|column| facts.moved[*column]) {
        if facts.table.is_ordered_by(column) {
            let message = format!(
                "Rows with like values of {} stand together more often than by chance. The place of a row is taken for \
                 public: where it depends on the values, it tells them, and no shuffle prevents that. Sort the rows by \
                 columns that stay, or put them in random order, first.",
                facts.table.names[column]
            );
            warn(warnings, "rows-in-order-of-values", message);
        }
    }
}
