//! Warnings about what the guarantee does not cover.

use serde::Serialize;

use super::facts::Facts;
use super::options::Grouping;
use leakgauge_base::naming::{option, setting};

/// Something that the guarantee does not cover.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Warning {
    /// A name for scripts.
    pub code: &'static str,
    /// The text.
    pub message: String,
}

/// The warnings about a release. `shares` are those of values that stay in their group, and that would stay in a
/// uniform shuffle of all rows.
pub(super) fn of(facts: &Facts<'_>, shares: (Option<f64>, f64)) -> Vec<Warning> {
    let mut warnings = Vec::new();
    of_randomness(facts, &mut warnings);
    of_groups(facts, &mut warnings);
    of_shares(facts, shares, &mut warnings);
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
            format!(
                "Anyone who knows the seed can undo this shuffle, and the JSON report contains it. For a release, do not \
                 set {}: the operating system then provides the randomness, and nobody keeps it.",
                option("seed")
            ),
        );
    }
    if !options.previous.is_empty() {
        let seed = "Releases with the same seed are not independent, so their alphas do not simply add up. ";
        let epsilon = "If values are randomized again for each release, each release spends epsilon; the figures count it once.";
        let mut message =
            "Alphas add up only if the groups are the same; for other groups use the alphas of Theorem 4.4. "
                .to_owned();
        message.push_str(if options.seed.is_some() { seed } else { "" });
        message.push_str(epsilon);
        warn(warnings, "several-releases", message);
    }
}

fn of_groups(facts: &Facts<'_>, warnings: &mut Vec<Warning>) {
    let alone = facts.groups.sizes().filter(|&rows| rows == 1).count();
    if facts.plan.theta == f64::INFINITY {
        let message = "No group has two rows, so no value was moved.";
        warn(warnings, "nothing-moved", message);
    } else if alone > 0 {
        let what = match facts.plan.is_within() {
            true => "their values stay in their rows, as they were",
            false => "the guarantee says nothing about their values",
        };
        let message = match alone {
            1 => format!(
                "1 row is alone in its group: {}.",
                what.replace("their", "its")
            ),
            _ => format!("{alone} rows are alone in their groups: {what}."),
        };
        warn(warnings, "rows-alone", message);
    }
    of_equal_values(facts, warnings);
    of_degrees(facts, warnings);
    let uncovered = facts.groups.uncovered();
    if uncovered > 0 {
        let message =
            format!("{uncovered} rows are in no group: the guarantee does not cover them.");
        warn(warnings, "rows-in-no-group", message);
    }
}

/// Groups whose values never leave them, and are all the same: whoever knows the group knows the value.
fn of_equal_values(facts: &Facts<'_>, warnings: &mut Vec<Warning>) {
    if !facts.plan.is_within() {
        return;
    }
    let moved = (0..facts.moved.len()).filter(|&column| facts.moved[column]);
    let columns: Vec<Vec<String>> = moved
        .filter_map(|column| facts.table.labels(column).ok())
        .collect();
    let is_known = |group: &usize| {
        let rows = facts.groups.members(*group);
        let first = rows.first().copied().unwrap_or_default() as usize;
        let same = |column: &Vec<String>| {
            let mut values = rows.iter().map(|&row| &column[row as usize]);
            values.all(|value| *value == column[first])
        };
        rows.len() > 1 && columns.iter().all(same)
    };
    let known = (0..facts.groups.len()).filter(is_known).count();
    if known > 0 {
        let message = format!(
            "In {known} of {} groups all rows have the same values: whoever knows the group of a row knows its value.",
            facts.groups.len()
        );
        warn(warnings, "equal-values", message);
    }
}

/// Degrees of latitude and longitude, which are no distances.
fn of_degrees(facts: &Facts<'_>, warnings: &mut Vec<Warning>) {
    let (Grouping::Distance { by, .. } | Grouping::Nearest { by, .. }) = &facts.options.groups
    else {
        return;
    };
    let is_named =
        |name: &String, words: [&str; 4]| words.contains(&name.trim().to_lowercase().as_str());
    let is_north = |name: &String| is_named(name, ["lat", "latitude", "lat_deg", "gps_lat"]);
    let is_east = |name: &String| is_named(name, ["lon", "lng", "long", "longitude"]);
    if by.iter().any(is_north) && by.iter().any(is_east) {
        let message = format!(
            "Degrees are taken for distances, and one of longitude is shorter than one of latitude. {} measures \
             kilometers.",
            setting("groups", "haversine")
        );
        warn(warnings, "degrees", message);
    }
}

/// Of the share that a uniform shuffle takes out of its group, a shuffle must keep this share at least.
const KEPT: f64 = 0.1;

/// Groups that hardly keep more of their values than if there were none.
fn of_shares(facts: &Facts<'_>, (stay, uniform): (Option<f64>, f64), warnings: &mut Vec<Warning>) {
    let Some(stay) = stay.filter(|_| facts.groups.len() > 1) else {
        return;
    };
    if stay < uniform + KEPT * (1.0 - uniform) {
        warn(
            warnings,
            "groups-hardly-kept",
            format!(
                "Values go nearly anywhere: {stay:.3} of them stay in their group, and a uniform shuffle of all rows would \
                 leave {uniform:.3}. Groups decide between which orders alpha makes a difference, not where values may \
                 go. A larger alpha keeps more; {} keeps all of them in groups that do not overlap.",
                option("within")
            ),
        );
    }
}

fn of_values(facts: &Facts<'_>, warnings: &mut Vec<Warning>) {
    let options = facts.options;
    if options.randomizer.is_none() && facts.epsilon.is_none() {
        warn(
            warnings,
            "not-randomized",
            format!(
                "The values were not randomized: anyone who recognizes a value can find it in any order. {} randomizes \
                 them first.",
                option("randomizer")
            ),
        );
    }
    if options.randomizer.is_some() && options.values.is_empty() {
        warn(
            warnings,
            "values-from-the-log",
            format!(
                "The randomizer uses the values found in the log, which reveals which values occur, so no epsilon can be \
                 stated. Give the possible values with {}.",
                option("values")
            ),
        );
    }
}

/// Columns that stay without defining groups, and rows whose order depends on the values.
fn of_rows(facts: &Facts<'_>, warnings: &mut Vec<Warning>) {
    let options = facts.options;
    let grouping: &[String] = match &options.groups {
        Grouping::Distance { by, .. }
        | Grouping::Earth { by, .. }
        | Grouping::Nearest { by, .. } => by,
        Grouping::Equal { by } => std::slice::from_ref(by),
        Grouping::Path { .. } | Grouping::Closest { .. } | Grouping::Listed { .. } => &[],
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
            "Columns that stay in their rows and do not define groups: {}. If they depend on the shuffled values, they \
             reveal them, and no shuffle can prevent that.",
            leakgauge_base::error::listing(others.iter().copied())
        );
        warn(warnings, "columns-that-stay", message);
    }
    for column in (0..facts.moved.len()).filter(|column| facts.moved[*column]) {
        if facts.table.is_ordered_by(column) {
            let message = format!(
                "Similar values of {} are in adjacent rows more often than by chance. The guarantee assumes that the order \
                 of the rows is public; if it depends on the values, it reveals them, and no shuffle can prevent that. \
                 First sort the rows by columns that stay, or put them in random order.",
                facts.table.names[column]
            );
            warn(warnings, "rows-in-order-of-values", message);
        }
    }
}
