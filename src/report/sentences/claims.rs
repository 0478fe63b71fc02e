//! Why a claim is judged as it is.

use crate::audit::{ClaimReport, Divergence, Grounds, Impossible, Qualification, Verdict};
use crate::report::numbers::{Limits, Texts, plain, plain_above, time_scale as scale};
use crate::report::sentences::advice::more_rows;
use crate::report::sentences::copies;
use crate::report::sentences::dependence;
use crate::report::sentences::left_out;
use crate::report::sentences::privacy;
use crate::report::sentences::reading::observer;
use crate::report::sentences::reasons;
use crate::report::sentences::warnings::{self, doubt};
use crate::report::words::{p_value_of, quantity, texts};
use leakgauge_base::error::shorten;
use leakgauge_base::naming::{option, setting};
use leakgauge_base::rounding::at_most_beyond;
use leakgauge_base::time::TimeUnit;
use leakgauge_log::observations::bins;

/// What decided, and what the verdict rests on.
pub fn reason(claim: &ClaimReport) -> String {
    let mut sentences = vec![grounds(claim)];
    sentences.extend(claim.reason.qualifications.iter().filter_map(qualification));
    sentences.join(" ")
}

fn qualification(qualification: &Qualification) -> Option<String> {
    Some(match qualification {
        Qualification::BlocksLeftOut {
            alone,
            incomplete,
            blocks,
        } => blocks_left_out(*alone, *incomplete, *blocks),
        Qualification::OneByOne => {
            "Times were taken one by one. Drift of the machine counts as noise; if secrets are not in random order, it looks \
             like a difference. Limits are wider where rows resemble those before them, if the order of rows is known."
                .to_owned()
        }
        Qualification::Order(warning) | Qualification::Clock(warning) => doubt(warning),
        Qualification::Copies(warning) => copies::qualification(warning)?,
        Qualification::LeftOut(warning) => left_out::qualification(warning)?,
        Qualification::Approximate => {
            "The limit is approximate: it uses an effective number of rows.".to_owned()
        }
        Qualification::NotThisMechanism { p_value } => format!(
            "This is about the leakage alone: the log does not fit this mechanism ({}).",
            p_value_of(*p_value)
        ),
        Qualification::Neighbors { given, all } => format!(
            "Judged on {} alone, of the {all} of the log ({}).",
            match given {
                1 => "the one pair of neighbors".to_owned(),
                _ => format!("the {given} pairs of neighbors"),
            },
            option("neighbors")
        ),
        Qualification::AllNeighbors { pairs } => format!(
            "All {pairs} pairs of secrets were taken for neighbors. If only some are, name them: {}.",
            setting("neighbors", "A:B,…")
        ),
        Qualification::UnstatedRuns => format!(
            "This counts every row as a separate run of the mechanism. The scores of one trained model are one run: judge \
             them with {}. If every row comes from a training of its own, say so with {}.",
            setting("design", "one-run"),
            setting("design", "many-runs")
        ),
        Qualification::UnevenInclusion { included, canaries } => format!(
            "{included} of {canaries} canaries were included. Independent fair coins hardly ever give such a number, and the \
             limit is valid for such coins only."
        ),
        Qualification::MoreRows(advice) => more_rows(advice),
        Qualification::Observer(columns) => {
            format!("This is for an observer that sees {}.", bins(columns)?)
        }
        Qualification::Reading(warning) => observer(warning)?,
    })
}

/// What lost measurements do to a verdict.
fn blocks_left_out(alone: u64, incomplete: u64, blocks: u64) -> String {
    let mut parts = Vec::new();
    if alone > 0 {
        parts.push(format!(
            "{alone} blocks of one measurement were left out, beside {blocks} that were compared"
        ));
    }
    if incomplete > 0 {
        parts.push(format!("{incomplete} of {blocks} blocks lack a secret"));
    }
    format!(
        "{}. If slow answers are missing, the difference is larger.",
        parts.join("; ")
    )
}

fn grounds(claim: &ClaimReport) -> String {
    match &claim.reason.grounds {
        Grounds::Advantage => at_most("advantage", claim),
        Grounds::NoLeak => {
            "What is observed depends on the secret: tests of no leak at all say so. The claim allows no dependence. How much \
             one row tells is not shown."
                .to_owned()
        }
        Grounds::AttackAdvantage => format!(
            "{} This is about the best attack found. It says nothing about attacks that were not found.",
            at_most("advantage of the best attack found", claim)
        ),
        Grounds::Overall => at_most(quantity(claim), claim),
        Grounds::TimeDifference {
            in_blocks,
            unit,
            least,
            needed,
        } => time_difference(claim, *in_blocks, (*unit, *least, *needed)),
        Grounds::BayesSecurity => security(claim),
        Grounds::MechanismEpsilon => format!(
            "Its ε is at least {}, more than the {} of the mechanism. No total variation is shown to exceed its analytic \
             value.",
            texts(claim).lower,
            texts(claim).bound
        ),
        Grounds::Mechanism {
            impossible,
            margin,
            divergence,
        } => {
            let note = beside_security(claim.verdict, impossible.as_ref(), *margin, divergence.as_ref());
            format!("{}{note}", security(claim))
        }
        Grounds::PrivacyCurve(found) => privacy::curve(claim, found),
        Grounds::Curve => match claim.verdict {
            Verdict::Violated => {
                "Such answers are not possible under every (epsilon, delta) that the claim implies."
            }
            Verdict::Holds | Verdict::Inconclusive => {
                "Such answers are possible under every (epsilon, delta) that the claim implies. They are those of one \
                 attack, and another attack may do better."
            }
        }
        .to_owned(),
        Grounds::Privacy(found) => privacy::grounds(claim, found),
        Grounds::OneModel { scores } => one_model(*scores),
        Grounds::DependentRows {
            warning, are_apart, ..
        } => dependence::reason(warning, *are_apart),
        doubted => in_doubt(doubted),
    }
}

/// What is said of a mechanism beside its Bayes security.
fn beside_security(
    verdict: Verdict,
    impossible: Option<&Impossible>,
    margin: f64,
    divergence: Option<&Divergence>,
) -> String {
    match (verdict, impossible, divergence) {
        (_, _, Some(found)) => {
            let [a, b] = found.pair.labels().map(shorten);
            format!(
                " No pair's total variation exceeds its own analytic value by more than the margin of \
                 {margin}, but the hockey-stick divergence of {a} from {b} at the mechanism's ε may be up \
                 to {}, where the mechanism has 0.",
                at_most_beyond(found.upper, margin)
            )
        }
        (
            Verdict::Inconclusive,
            Some(Impossible {
                label,
                example: Some(example),
            }),
            _,
        ) => format!(
            " But no observation of the log is one of this mechanism: the log has {:?}, the mechanism {:?}. Either \
             they are written in another way, or the log is not from this mechanism, whatever it leaks.",
            shorten(label),
            shorten(example)
        ),
        (Verdict::Inconclusive, Some(Impossible { label, .. }), _) => format!(
            " But the log has the observation {:?}, which this mechanism cannot produce: the log is not from this \
             mechanism, whatever it leaks.",
            shorten(label)
        ),
        (Verdict::Holds, ..) => format!(
            " No pair's total variation exceeds its own analytic value by more than the margin of {margin}."
        ),
        _ => String::new(),
    }
}

/// Why nothing is said to hold, though limits are within the claim.
fn in_doubt(grounds: &Grounds) -> String {
    match grounds {
        Grounds::NothingObserved { value, all, .. } => format!(
            "Not judged: {} show nothing but {}, as if nothing was observed. Check what writes the log.",
            if *all {
                "rows"
            } else {
                "the rows of some secret"
            },
            left_out::shown(value)
        ),
        Grounds::PooledKinds { kinds, .. } => format!("Not shown: {}.", left_out::pooled(kinds)),
        Grounds::NegativeTimes { times, .. } => format!(
            "Not shown: {} below zero, as where a number stands for no time.",
            left_out::times(*times)
        ),
        Grounds::MissingTimes { missing, .. } => not_shown(&warnings::missing_times(missing)),
        Grounds::UnevenMix { secret, from, to } => {
            not_shown(&warnings::uneven_mix(secret, *from, *to))
        }
        Grounds::LabelsSeenOnce { column, share } => format!(
            "Not shown: no attack can have learned from column {}, whose labels are in one row only in {} % of the rows. The \
             best attack found says nothing of an attacker who knows what they mean. {}",
            shorten(column),
            plain(100.0 * share, 2),
            left_out::of_labels_seen_once()
        ),
        Grounds::ShiftedRows { before } => format!(
            "Not shown: observations depend on the secret {}, more than on their own. Either the log is shifted by a row, or a \
             row shows the secret of another one.",
            warnings::neighbor(*before)
        ),
        Grounds::MayBeUnits { column } => not_shown(&warnings::may_be_units(column)),
        Grounds::LastBits { column } => format!(
            "Not shown: the last bits of column {} depend on the secret, and the attacks tried do not read them. If an \
             observer sees them, {} does.",
            shorten(column),
            setting("attacks", "bits")
        ),
        Grounds::MayBeMeasured { column } => format!(
            "Not shown: column {} was left out, for it never falls and is called as clocks are. If an observer sees it, name it \
             with {}; if not, name the others.",
            shorten(column),
            option("observe")
        ),
        Grounds::LostDigits { column } => format!(
            "Not shown: column {} has more digits than a number holds, and what the others tell no attack has seen. If an \
             observer sees them all: {}.",
            shorten(column),
            setting("categorical", shorten(column))
        ),
        Grounds::ChosenSecret { column } => format!(
            "Not shown: nobody said what the secret is, and column {} was taken for it, as the only one of a few labels. Say \
             which column it is: {}, or another one.",
            shorten(column),
            setting("secret", shorten(column))
        ),
        Grounds::NumbersAsLabels { column, example } => format!(
            "Not shown: column {} was read as labels, but looks like numbers ({}), so attacks saw neither their order nor how far \
             they are apart. Write numbers alone, or say that these are labels: {}.",
            shorten(column),
            shorten(example),
            setting("categorical", shorten(column))
        ),
        Grounds::RareItems { column, share } => format!(
            "Not shown: {} % of the rows have items of column {} too rare for a column of their own, which may tell more. If an \
             observer sees a part of the texts only, log that part.",
            plain(100.0 * share, 2),
            shorten(column)
        ),
        Grounds::ListsInPart { column, reading } => format!(
            "Not shown: attacks saw a part of the lists of column {}, and the rest may tell more. If an observer sees no more, \
             say so: {}, or another part of them.",
            shorten(column),
            left_out::as_list(column, *reading)
        ),
        _ => String::new(),
    }
}

fn not_shown(why: &str) -> String {
    format!("Not shown: {why}.")
}

/// Whether rows are runs or records of one.
fn one_model(scores: bool) -> String {
    let rows = match scores {
        true => "scores of members and of others",
        false => "about members and others",
    };
    let records = match scores {
        true => "Many records scored against one trained model",
        false => "Many records of one trained model",
    };
    format!(
        "Not judged: the rows are {rows}, and it is not said that each is from a training of its own. {records} are one run, \
         about which limits for independent rows prove nothing. Judge one run with {}. If every row does come from its own \
         training, say so with {}.",
        reasons::one_run(scores),
        setting("design", "many-runs")
    )
}

/// A figure that should be at most a bound.
fn at_most(what: &str, claim: &ClaimReport) -> String {
    let estimate = &claim.estimate;
    let Texts {
        lower,
        upper,
        bound,
        ..
    } = texts(claim);
    match claim.verdict {
        Verdict::Violated => format!("The {what} is at least {lower}, more than {bound}."),
        Verdict::Holds if claim.is_about_all_secrets() => {
            format!("The {what} is at most {upper}, within {bound}.")
        }
        Verdict::Holds => format!("The {what} is at most {upper} for every pair, within {bound}."),
        Verdict::Inconclusive => match (estimate.upper, &estimate.reason) {
            (Some(_), _) => format!(
                "The {what} lies between {lower} and {upper}; the claim says at most {bound}."
            ),
            (None, Some(reason)) => format!(
                "Not refuted: the log shows that the {what} is at least {lower}, and the claim allows {bound}. Not \
                 confirmed: {}",
                reasons::continued(reason)
            ),
            (None, None) => format!("The {what} is at least {lower}."),
        },
    }
}

/// The largest median of differences.
fn time_difference(
    claim: &ClaimReport,
    in_blocks: bool,
    (unit, least, needed): (Option<TimeUnit>, Option<f64>, Option<u64>),
) -> String {
    let [where_, what, whats] = match in_blocks {
        true => [
            "Inside a block, ",
            "median of the differences inside blocks",
            "medians of the differences inside blocks",
        ],
        false => ["", "difference of medians", "differences of medians"],
    };
    let Texts {
        lower,
        upper,
        bound,
        ..
    } = Limits::from(&claim.estimate).texts_of_times(claim.analytic, unit);
    let coarse = || least.map_or(String::new(), |least| too_coarse(least, unit));
    let [a, b] = claim.pair.labels().map(shorten);
    let slower = claim.claim.slower().map(shorten);
    match claim.verdict {
        Verdict::Violated => format!(
            "{where_}{b} takes at least {lower} longer than {a} (the median), more than {bound}."
        ),
        Verdict::Holds => match slower {
            Some(slower) => format!(
                "{where_}{slower} takes at most {upper} longer than any other secret (the median), within \
                 {bound}."
            ),
            None => format!("The {whats} are at most {upper} for every pair, within {bound}."),
        },
        Verdict::Inconclusive if claim.estimate.upper.is_none() => no_limits(in_blocks, needed),
        Verdict::Inconclusive if slower.is_some() => format!(
            "{where_}{b} takes up to {upper} longer than another secret, at least {lower} (the median); the claim \
             says at most {bound}.{}",
            coarse()
        ),
        Verdict::Inconclusive => format!(
            "The largest {what} lies between {lower} and {upper}; the claim says \
             at most {bound}.{}",
            coarse()
        ),
    }
}

/// That some pair has no limits.
fn no_limits(in_blocks: bool, needed: Option<u64>) -> String {
    let of = match in_blocks {
        true => "blocks with each pair of secrets",
        false => "rows of each secret",
    };
    match needed {
        Some(needed) => format!("Some pair has too few measurements for limits: at least {needed} {of} are needed."),
        None => "Some pair has too few times for limits, which allow for times that resemble those before them. Take a longer log."
            .to_owned(),
    }
}

/// That the step of the clock keeps a claim from being shown.
fn too_coarse(least: f64, unit: Option<TimeUnit>) -> String {
    let (factor, unit) = scale(least, unit);
    let least = plain_above(factor * least, 4);
    format!(
        " The clock is too coarse for this claim: with its step, the smallest claim that can hold is {least}{unit}."
    )
}

/// The same for a Bayes security that should be at least a bound.
fn security(claim: &ClaimReport) -> String {
    let estimate = &claim.estimate;
    let Texts {
        lower,
        upper,
        bound,
        ..
    } = texts(claim);
    match claim.verdict {
        Verdict::Violated => {
            format!("The Bayes security is at most {upper}, less than {bound}.")
        }
        Verdict::Holds => {
            format!("The Bayes security is at least {lower}; the claim says {bound}.")
        }
        Verdict::Inconclusive => match (estimate.lower, &estimate.reason) {
            (None, Some(reason)) => format!(
                "Not refuted: the log shows a Bayes security of at most {upper}, and the claim allows {bound}. Not \
                 confirmed: {}",
                reasons::continued(reason)
            ),
            _ => format!(
                "The Bayes security lies between {lower} and {upper}; the claim says {bound}."
            ),
        },
    }
}

/// How much more would decide an open claim, if its estimate is right.
pub fn would_settle(claim: &ClaimReport) -> Option<String> {
    let needed = match (claim.units_needed, claim.rows_needed?) {
        (Some(units), _) => format!("{units} units with as many rows each"),
        (None, rows) => format!("{rows} rows in total"),
    };
    Some(format!(
        "If the estimate is right, about {needed} would settle it in nine of ten logs."
    ))
}
