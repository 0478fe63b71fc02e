//! What an audit warns of.

use crate::audit::{MissingTimes, Warning};
use crate::report::numbers::plain;
use crate::report::sentences::copies;
use crate::report::sentences::left_out;
use crate::report::sentences::reading;
use crate::report::words::p_value_of;
use leakgauge_base::error::{listing, shorten};
use leakgauge_base::naming::{option, setting};

/// What is said where rows have no order.
const ORDER_NOT_CHECKED: &str = "the order of rows was not checked: aggregated logs, wide logs and logs counted by \
                                 the query engine have none";

/// One to three sentences, without the last period.
pub fn message(warning: &Warning) -> String {
    let found = copies::message(warning).or_else(|| left_out::message(warning));
    if let Some(message) = found.or_else(|| of_order(warning)) {
        return message;
    }
    match warning {
        Warning::LabelsNotInterleaved { .. }
        | Warning::LabelsAlternate { .. }
        | Warning::Autocorrelation { .. }
        | Warning::Periodic { .. }
        | Warning::Drift { .. } => String::new(),
        Warning::DependentBlocks {
            secrets,
            pairs,
            blocks,
            worth,
        } => dependent_blocks(secrets, *pairs, *blocks, *worth),
        Warning::NegativeTimes { times } => negative_times(*times),
        Warning::ReadSeveralTimes { .. }
        | Warning::CopiesDropped { .. }
        | Warning::CopiesSuspected { .. }
        | Warning::TiesOfOneSecret { .. }
        | Warning::SharedRows { .. }
        | Warning::SharedRowsSuspected { .. }
        | Warning::RepeatedIds { .. }
        | Warning::NothingObserved { .. }
        | Warning::PooledKinds(_)
        | Warning::RowsSkipped { .. }
        | Warning::MissingDropped { .. }
        | Warning::NotCertifiable { .. }
        | Warning::RepeatedRuns(_) => String::new(),
        Warning::OrderNotChecked => ORDER_NOT_CHECKED.to_owned(),
        Warning::UnevenMix { secret, from, to } => uneven_mix(secret, *from, *to),
        Warning::MissingTimes(missing) => missing_times(missing),
        Warning::FewRows { examples, secrets } => format!(
            "{}. Little can be certified about them",
            left_out::without("fewer than 30 certification rows", examples, *secrets)
        ),
        Warning::FewUnits { examples, secrets } => format!(
            "{}. Little can be certified about them: limits count units, so take more units rather than more rows of each",
            left_out::without("fewer than 20 certification units", examples, *secrets)
        ),
        Warning::SharedUnits { examples, units } => format!(
            "{units} units of {} are also in the log itself ({}). Their rows there were not used for training, because \
             no unit may be used both to train and to judge",
            option("fit_on"),
            listing(examples.iter().map(String::as_str))
        ),
        Warning::NotLearned { examples, secrets } => format!(
            "{}. No attack on them can be found",
            left_out::without("no training rows", examples, *secrets)
        ),
        Warning::MostlySeenOnce { share } => seen_once(*share),
        Warning::NamesSecret { column } => format!(
            "column {} alone names the secret in all of the first rows. If an observer does not see it, name what is seen: {}",
            shorten(column),
            option("observe")
        ),
        Warning::MayBeUnits { column } => may_be_units(column),
        Warning::ObservedUnits { column } => observed_units(column),
        Warning::SecretsAlike { labels, secrets } => secrets_alike(labels, *secrets),
        Warning::ShiftedRows {
            column,
            before,
            p_value,
        } => shifted_rows(column.as_deref(), *before, *p_value),
        Warning::ConstantColumn { column } => format!(
            "column {} has the same value in every row and reveals nothing",
            shorten(column)
        ),
        Warning::WordsAmongNumbers(words) => reading::words(words),
        Warning::MergedSpellings(merged) => reading::merged(merged),
        Warning::MostlyNumbers { column } => mostly_numbers(&shorten(column)),
        Warning::NumbersAsLabels { column, example } => numbers_as_labels(column, example),
        Warning::LastBits { column, p_value } => last_bits(&shorten(column), *p_value),
        Warning::ResolutionIncomplete { columns } => resolution_incomplete(columns),
    }
}

/// What the order of rows gives reason to doubt.
fn of_order(warning: &Warning) -> Option<String> {
    Some(match warning {
        Warning::LabelsNotInterleaved {
            share,
            expected,
            splits,
        } => not_interleaved(*share, *expected, *splits),
        Warning::LabelsAlternate { share, expected } => alternate(*share, *expected),
        Warning::Autocorrelation {
            column,
            correlation,
            splits,
            ..
        } => autocorrelation(&shorten(column), *correlation, *splits),
        Warning::Periodic {
            column,
            lag,
            correlation,
            ..
        } => periodic(&shorten(column), *lag, *correlation),
        Warning::Drift {
            column,
            correlation,
            splits,
            ..
        } => drift(&shorten(column), *correlation, *splits),
        _ => return None,
    })
}

fn negative_times(times: u64) -> String {
    format!(
        "times below zero: {times}. No time is negative: the clock ran backwards, or its counter wrapped around, and \
             other times may be wrong without showing it. Differences of medians hardly depend on a few such times, \
             means do. Measure again with a clock that only goes forward (CLOCK_MONOTONIC, QueryPerformanceCounter)"
    )
}

fn not_interleaved(share: f64, expected: f64, splits: bool) -> String {
    format!(
        "secrets are not in random order: {}. Whatever changed while the log was taken can look like leakage. Take the \
         log again with secrets in random order. If it consists of recordings (users, devices, sessions), name their \
         column with {}{}",
        equal_neighbors(share, expected),
        setting("group", "COLUMN"),
        match splits {
            true => format!(
                "; {} trains on earlier rows and certifies on later ones",
                setting("split", "blocks")
            ),
            false => String::new(),
        }
    )
}

fn alternate(share: f64, expected: f64) -> String {
    format!(
        "secrets alternate: {}. Anything with the same period can look like leakage. Take the log again with secrets in \
         random order",
        equal_neighbors(share, expected)
    )
}

fn periodic(column: &str, lag: usize, correlation: f64) -> String {
    format!(
        "rows {lag} apart are correlated in column {column} (correlation {correlation:.2}), and secrets are not in random \
         order: noise with a period can look like leakage. Take the log again with secrets in random order"
    )
}

/// That groups differ in their mix, with a small first letter and without the last period.
pub(super) fn missing_times(missing: &MissingTimes) -> String {
    let MissingTimes {
        secret,
        lacking,
        all,
        in_blocks,
        lack,
    } = missing;
    if !in_blocks {
        return format!(
            "which rows were left out depends on the secret: {lacking} of {all} {} are of {}. What is left can look alike where the \
             log does not. If an observer sees them, judge the log {}",
            left_out::rows_that(*lack),
            shorten(secret),
            left_out::with_them(*lack)
        );
    }
    format!(
        "which times are missing depends on the secret: {lacking} of {all} missing times are of {}. If slow answers were not \
         recorded, the blocks that are complete show no difference. Record them, with the time at which they were given up",
        shorten(secret)
    )
}

/// That rows may be of units, with a small first letter and without the last period.
pub(super) fn may_be_units(column: &str) -> String {
    format!(
        "each value of column {} stands beside one secret only. Rows of one value, of one device or user say, may depend on each \
         other, and count here as if they did not: {}. If they are independent, leave the column out of the file",
        shorten(column),
        left_out::units_of(column)
    )
}

fn observed_units(column: &str) -> String {
    format!(
        "column {} is observed, and its name is one of users or devices. If rows of one may depend on each other, say so: {}",
        shorten(column),
        left_out::units_of(column)
    )
}

fn secrets_alike(labels: &[String; 2], secrets: usize) -> String {
    let [a, b] = labels.each_ref().map(|label| shorten(label));
    format!(
        "the labels of {secrets} secrets are the same as others but for upper and lower case, as {a} and {b} are. If they are \
         one secret, join them: {}",
        setting("merge", format!("{a}={b}"))
    )
}

/// Which row's secret observations depend on.
pub(super) fn neighbor(before: bool) -> &'static str {
    match before {
        true => "of the row before",
        false => "of the row behind",
    }
}

fn shifted_rows(column: Option<&str>, before: bool, p_value: f64) -> String {
    let what = match column {
        Some(column) => format!("the values of column {}", shorten(column)),
        None => "observations".to_owned(),
    };
    format!(
        "{what} depend on the secret {}, more than on their own ({}). If the logger writes a secret beside the observation \
         of another row, correct it. If not, a row shows the secret of another one, which no figure here counts",
        neighbor(before),
        p_value_of(p_value)
    )
}

pub(super) fn uneven_mix(secret: &str, from: f64, to: f64) -> String {
    format!(
        "groups differ in their mix of secrets. The share of {} is at most {} % in a tenth of the groups, and at least {} % in \
         another tenth. Figures are about an attacker who meets a random group and sees one of its rows. Who sees a random \
         row of the log may learn more, from whose row it is. If the former is meant, say so with {}",
        shorten(secret),
        plain(100.0 * from, 2),
        plain(100.0 * to, 2),
        setting("attacker", "unit")
    )
}

fn drift(column: &str, correlation: f64, splits: bool) -> String {
    format!(
        "column {column} drifts across the file within a secret (correlation with position {correlation:.2}). Drift can \
         look like leakage unless secrets are in random order. Take the log again in random order{}",
        match splits {
            true => format!(", or try {}", setting("split", "blocks")),
            false => String::new(),
        }
    )
}

fn numbers_as_labels(column: &str, example: &str) -> String {
    format!(
        "column {column} is read as labels, but its values look like numbers ({example}). As labels they show next to \
         nothing. Write them with a decimal point and without a unit"
    )
}

fn resolution_incomplete(columns: &[String]) -> String {
    format!(
        "{} does not cover the numeric columns {}. There is no upper limit until every numeric column has a resolution",
        option("resolution"),
        listing(columns.iter().map(String::as_str))
    )
}

fn equal_neighbors(share: f64, expected: f64) -> String {
    format!(
        "{:.0} % of neighboring rows have the same secret where {:.0} % are expected",
        100.0 * share,
        100.0 * expected
    )
}

fn autocorrelation(column: &str, correlation: f64, splits: bool) -> String {
    if counts_rows(correlation) {
        return format!(
            "column {column} counts up or down with the rows. If it is a row number, leave it out with {}",
            option("observe")
        );
    }
    format!(
        "neighboring rows of the same secret are correlated in column {column} (correlation {correlation:.2}), so these \
         limits are too optimistic. Name the column of what they share (user, device, session) with {}{}",
        setting("group", "COLUMN"),
        match splits {
            true => format!(", or try {}", setting("split", "blocks")),
            false => String::new(),
        }
    )
}

/// Whether a column goes up or down with the rows.
pub fn counts_rows(correlation: f64) -> bool {
    correlation > 0.999
}

fn seen_once(share: f64) -> String {
    format!(
        "{:.0} % of rows show an observation that occurs once among the rows used. In such a log, secrets with equal \
         observations and secrets with nothing in common look the same: estimates only say what attacks reach. Observe \
         fewer columns, or coarser ones",
        100.0 * share
    )
}

fn mostly_numbers(column: &str) -> String {
    format!(
        "column {column} is read as labels, but many of its values are numbers, and as labels they show next to nothing. Set \
         {} if it is numeric, {} if it is not",
        setting("numeric", column),
        setting("categorical", column)
    )
}

fn last_bits(column: &str, p_value: f64) -> String {
    format!(
        "the last bits of the numbers in column {column} depend on the secret ({}), as they do where noise is added in \
         floating point and the sum is not rounded. The attacks of this report do not read them. If all these digits are \
         released, judge them with {}; if not, round the log as the mechanism rounds",
        p_value_of(p_value),
        setting("attacks", "bits")
    )
}

fn dependent_blocks([a, b]: &[String; 2], pairs: usize, blocks: u64, worth: u64) -> String {
    let others = match pairs {
        1 => String::new(),
        _ => format!(" (and at {} other pairs)", pairs - 1),
    };
    format!(
        "consecutive blocks depend on each other: the differences of {} and {}{others} resemble those of the blocks \
         before, and {blocks} blocks are worth about {worth} independent ones. Limits of differences and of the \
         advantage allow for it; those of the Bayes risk do not. Measure the secrets of each block in a new random order",
        shorten(a),
        shorten(b)
    )
}

/// What a warning about the order does to a verdict, in a sentence.
pub fn doubt(warning: &Warning) -> String {
    let doubt = match warning {
        Warning::LabelsNotInterleaved { .. } => {
            "its secrets were not logged in random order, so drift could imitate a leak"
        }
        Warning::LabelsAlternate { .. } => {
            "its secrets alternate, so anything with the same period could imitate a leak"
        }
        Warning::Periodic { .. } => {
            "its secrets are not in random order, so noise with a period could imitate a leak"
        }
        Warning::DependentBlocks { .. } => {
            "differences of consecutive blocks resemble each other, so what hits one secret for many blocks could imitate \
             a leak"
        }
        Warning::NegativeTimes { .. } => {
            "some of its times are negative, so its clock cannot be trusted"
        }
        Warning::MayBeUnits { .. } => {
            "each value of some column has one secret, so rows that share a value may depend on each other"
        }
        _ => "limits need independent rows, and those of this log are not",
    };
    format!("But {doubt} ({}).", warning.code())
}
