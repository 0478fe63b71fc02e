//! Why a claim is judged as it is, in a line or two: what the numbers beside it do not say.

use crate::audit::{
    ClaimReport, CurveOutcome, Divergence, Grounds, Impossible, PrivacyKind, PrivacyOutcome,
    Qualification, Unproved, Verdict,
};
use crate::estimate::Reason;
use crate::report::numbers::{Limits, plain, plain_above, time_scale};
use crate::report::sentences::claims::would_settle;
use crate::report::sentences::dependence;
use crate::report::sentences::left_out;
use crate::report::sentences::reasons;
use crate::report::sentences::warnings::neighbor;
use crate::report::words::p_value_of;
use leakgauge_base::error::shorten;
use leakgauge_base::naming::{option, setting};
use leakgauge_base::quantity::Quantity;

/// A log does not fit a mechanism below this probability, as full reports say it.
const MISFIT: f64 = 0.001;

/// Sentences, the most important first.
pub fn of(claim: &ClaimReport) -> Vec<String> {
    // That a log is not from the mechanism comes before what it says about the mechanism.
    let mut sentences: Vec<String> = fit(claim).into_iter().collect();
    match claim.verdict {
        Verdict::Violated => {
            sentences.extend(refuted(claim));
            sentences.extend(claim.p_value.map(strength));
        }
        Verdict::Holds => sentences.extend(held(claim)),
        Verdict::Inconclusive => sentences.extend(open(claim)),
    }
    let pairs = claim.reason.qualifications.iter();
    sentences.extend(pairs.filter_map(neighbors));
    sentences
}

/// The same without how strong the evidence is, for a line of several logs.
pub fn of_one_of_many(claim: &ClaimReport) -> Vec<String> {
    let mut sentences: Vec<String> = fit(claim).into_iter().collect();
    match claim.verdict {
        Verdict::Violated => sentences.extend(refuted(claim)),
        Verdict::Holds => sentences.extend(held(claim)),
        Verdict::Inconclusive => sentences.extend(open(claim)),
    }
    sentences
}

fn strength(p: f64) -> String {
    format!(
        "{}: how probable such a log, or a worse one, is if the claim is true.",
        p_value_of(p)
    )
}

/// What refuted a claim, where its limit did not.
fn refuted(claim: &ClaimReport) -> Option<String> {
    (claim.reason.grounds == Grounds::NoLeak).then(|| {
        "Tests of no leak at all say that observations depend on the secret; how much one row tells is not shown."
            .to_owned()
    })
}

/// What a verdict of *holds* is about.
fn held(claim: &ClaimReport) -> Option<String> {
    Some(match &claim.reason.grounds {
        Grounds::AttackAdvantage => {
            "This is about the best attack found; a better one may exist.".to_owned()
        }
        Grounds::Mechanism { margin, .. } => format!(
            "No pair exceeds the total variation of the mechanism by more than {} ({}).",
            plain(*margin, 4),
            option("margin")
        ),
        Grounds::Privacy(found) => match &found.outcome {
            PrivacyOutcome::Proved(divergence) => proved(divergence),
            _ => return None,
        },
        Grounds::PrivacyCurve(found) => format!(
            "At {} of the claim, every pair needs no more than the delta that it allows.",
            match found.points {
                1 => "the one (epsilon, delta)".to_owned(),
                points => format!("all {points} (epsilon, delta)"),
            }
        ),
        _ => return None,
    })
}

fn proved(found: &Divergence) -> String {
    format!(
        "At epsilon {} every pair needs a delta of at most {}, within {}.",
        plain(found.epsilon, 4),
        plain_upper(found.upper, found.delta),
        plain(found.delta, 4)
    )
}

/// An upper limit with as many digits as it takes to stay on its side of a bound.
fn plain_upper(upper: f64, bound: f64) -> String {
    let limits = Limits {
        upper: Some(upper),
        ..Default::default()
    };
    limits.texts(Some(bound)).upper
}

/// Why nothing is decided, and what would decide it.
fn open(claim: &ClaimReport) -> Vec<String> {
    let mut sentences: Vec<String> = unproved(claim).into_iter().collect();
    let is_time = claim.quantity == Quantity::TimeDifference;
    match claim.rows_needed {
        Some(_) => sentences.extend(would_settle(claim)),
        None if is_time && claim.estimate.upper.is_none() => {}
        None if is_time && !is_final(claim) => {
            sentences
                .push("Four times as many measurements make the limits half as wide.".to_owned());
        }
        // The reason says it, or nobody knows without an estimate.
        None if is_final(claim) || claim.estimate.point.is_none() => {}
        None => sentences.push("This log does not tell how many rows would settle it.".to_owned()),
    }
    match sentences.is_empty() {
        true => Vec::new(),
        // One line says both where there is room.
        false => vec![sentences.join(" ")],
    }
}

/// Whether the reason says that no rows would settle the claim.
pub(crate) fn is_final(claim: &ClaimReport) -> bool {
    match &claim.reason.grounds {
        Grounds::Privacy(found) => {
            !matches!(found.outcome, PrivacyOutcome::Open(Unproved::Divergence(_)))
        }
        Grounds::PrivacyCurve(_) => false,
        Grounds::OneModel { .. } | Grounds::Curve => true,
        grounds if nothing_shown(grounds).is_some() => true,
        Grounds::TimeDifference { least, .. } => least.is_some(),
        Grounds::Mechanism { divergence, .. } => divergence.is_none() && of_limit(claim).is_some(),
        _ => of_limit(claim).is_some(),
    }
}

/// Why no difference means nothing.
fn nothing_shown(grounds: &Grounds) -> Option<String> {
    Some(match grounds {
        Grounds::PooledKinds { kinds, .. } => format!(
            "Not shown: {} tells several kinds of measurements apart. Look at one: {}.",
            shorten(&kinds.column),
            left_out::one_kind(kinds)
        ),
        Grounds::NegativeTimes { times, .. } => format!(
            "Not shown: {} below zero, as where a number stands for no time.",
            left_out::times(*times)
        ),
        Grounds::MissingTimes { missing, .. } if !missing.in_blocks => format!(
            "Not shown: {} of {} {} are of {}. If an observer sees them, judge the log {}.",
            missing.lacking,
            missing.all,
            left_out::rows_that(missing.lack),
            shorten(&missing.secret),
            left_out::with_them(missing.lack)
        ),
        Grounds::MissingTimes { missing, .. } => format!(
            "Not shown: {} of {} missing times are of {}. Slow answers may be among them.",
            missing.lacking,
            missing.all,
            shorten(&missing.secret)
        ),
        Grounds::ShiftedRows { before } => format!(
            "Not shown: observations depend on the secret {}, so the log may be shifted by a row.",
            neighbor(*before)
        ),
        Grounds::MayBeUnits { column } => format!(
            "Not shown: each value of {} has one secret, so its rows may depend on each other: {}.",
            shorten(column),
            left_out::units_of(column)
        ),
        Grounds::ChosenSecret { column } => format!(
            "Not shown: nobody said what the secret is. If it is {}: {}.",
            shorten(column),
            setting("secret", shorten(column))
        ),
        Grounds::UnevenMix { .. } => format!(
            "Not shown: groups differ in their mix of secrets. If an attacker meets a random group: {}.",
            setting("attacker", "unit")
        ),
        Grounds::DependentRows {
            warning, are_apart, ..
        } => dependence::reason(warning, *are_apart),
        Grounds::NothingObserved { value, all, .. } => format!(
            "Not judged: {} show nothing but {}. Check what writes the log.",
            match all {
                true => "rows",
                false => "the rows of some secret",
            },
            shorten(value)
        ),
        _ => return not_seen(grounds),
    })
}

/// What attacks did not see or learn.
fn not_seen(grounds: &Grounds) -> Option<String> {
    Some(match grounds {
        Grounds::LabelsSeenOnce { column, share } => format!(
            "Not shown: {} % of the labels of {} occur once, so no attack could learn from them. {}",
            plain(100.0 * share, 2),
            shorten(column),
            left_out::of_labels_seen_once()
        ),
        Grounds::LastBits { column } => format!(
            "Not shown: the last bits of {} depend on the secret, and attacks do not read them. If they are seen: {}.",
            shorten(column),
            setting("attacks", "bits")
        ),
        Grounds::MayBeMeasured { column } => format!(
            "Not shown: {} was left out as a clock. Name what is observed: {}.",
            shorten(column),
            setting("observe", "COLUMN")
        ),
        Grounds::LostDigits { column } => format!(
            "Not shown: attacks do not see all digits of {}. If an observer does: {}.",
            shorten(column),
            setting("categorical", shorten(column))
        ),
        Grounds::NumbersAsLabels { column, example } => format!(
            "Not shown: {} was read as labels, but looks like numbers ({}). Write numbers alone, or say that these are labels: {}.",
            shorten(column),
            shorten(example),
            setting("categorical", shorten(column))
        ),
        Grounds::RareItems { column, share } => format!(
            "Not shown: {} % of the rows have items of {} too rare for a column of their own, which may tell more. If an \
             observer sees a part of the texts only, log that part.",
            plain(100.0 * share, 2),
            shorten(column)
        ),
        Grounds::ListsInPart { column, reading } => format!(
            "Not shown: attacks saw a part of the lists of {}. Say which part an observer sees: {}.",
            shorten(column),
            left_out::as_list(column, *reading)
        ),
        _ => return None,
    })
}

fn unproved(claim: &ClaimReport) -> Option<String> {
    match &claim.reason.grounds {
        Grounds::Privacy(found) => match &found.outcome {
            PrivacyOutcome::Open(why) => Some(of_privacy(why)),
            _ => None,
        },
        Grounds::PrivacyCurve(found) => match found.outcome {
            CurveOutcome::Open { proved } => Some(format!(
                "Of {} (epsilon, delta) of the claim, {proved} are shown to hold.",
                found.points
            )),
            _ => None,
        },
        Grounds::OneModel { scores } => Some(format!(
            "Not judged: are {} of one model ({}), or is every row from a training of its own ({})?",
            match scores {
                true => "the scores",
                false => "the rows",
            },
            reasons::one_run(*scores),
            setting("design", "many-runs")
        )),
        Grounds::Curve => Some("Such answers are possible under the claim.".to_owned()),
        Grounds::TimeDifference {
            in_blocks,
            unit,
            least,
            needed,
        } => match (claim.estimate.upper, needed, least) {
            (None, Some(needed), _) => Some(format!(
                "Some pair has too few measurements for limits: at least {needed} {} are needed.",
                match in_blocks {
                    true => "blocks with both",
                    false => "rows of each secret",
                }
            )),
            (None, None, _) => Some(
                "Too few times for limits, which allow for times that resemble those before them: take a longer log."
                    .to_owned(),
            ),
            (Some(_), _, Some(least)) => {
                let (factor, unit) = time_scale(*least, *unit);
                Some(format!(
                    "The clock is too coarse: with its step, the smallest claim that can hold is {}{unit}.",
                    plain_above(factor * least, 4)
                ))
            }
            _ => None,
        },
        Grounds::Mechanism {
            divergence: Some(found),
            ..
        } => Some(format!(
            "The total variation is within the margin, but at the mechanism's epsilon the pair {} may need a delta of {}.",
            found.pair.labels().map(shorten).join(" | "),
            plain_upper(found.upper, 0.0)
        )),
        Grounds::Advantage
        | Grounds::NoLeak
        | Grounds::AttackAdvantage
        | Grounds::Overall
        | Grounds::BayesSecurity
        | Grounds::Mechanism { .. }
        | Grounds::MechanismEpsilon => of_limit(claim),
        grounds => nothing_shown(grounds),
    }
}

/// Why the limit that would show the claim to hold is missing.
fn of_limit(claim: &ClaimReport) -> Option<String> {
    let limit = match claim.quantity.protects() {
        true => claim.estimate.lower,
        false => claim.estimate.upper,
    };
    match (limit, claim.estimate.reason) {
        (None, Some(Reason::RawNumbers)) => Some(raw_numbers()),
        (None, Some(reason)) => Some(reasons::reason(&reason)),
        _ => None,
    }
}

/// What raw numbers cannot show.
fn raw_numbers() -> String {
    format!(
        "Raw numbers have no upper limit: set a resolution ({}) or claim attack-advantage.",
        setting("resolution", "COLUMN=WIDTH")
    )
}

fn of_privacy(why: &Unproved) -> String {
    let kind = match why {
        Unproved::Divergence(found) => {
            return format!(
                "At epsilon {} the delta needed is at most {}; the claim allows {}.",
                plain(found.epsilon, 4),
                plain_upper(found.upper, found.delta),
                plain(found.delta, 4)
            );
        }
        Unproved::DependentRows => {
            return format!(
                "It cannot hold with {}: upper limits need independent rows.",
                setting("split", "blocks")
            );
        }
        Unproved::SecretWithoutRows => return "Some secret has no rows in this log.".to_owned(),
        Unproved::RawNumbers => {
            return format!(
                "Raw numbers cannot prove it; this log does not refute it. A resolution helps: {}.",
                setting("resolution", "COLUMN=WIDTH")
            );
        }
        Unproved::OneAttack => {
            return "The answers are those of one attack, and another may do better.".to_owned();
        }
        Unproved::Never(PrivacyKind::Pure) => "pure",
        Unproved::Never(PrivacyKind::Gaussian) => "Gaussian",
        Unproved::Never(PrivacyKind::Concentrated) => "concentrated",
        Unproved::Never(PrivacyKind::Renyi) => "Renyi",
    };
    format!("No log can prove {kind} differential privacy; this one does not refute it.")
}

/// That the log is not from the claimed mechanism, whatever it leaks.
fn fit(claim: &ClaimReport) -> Option<String> {
    if let Grounds::Mechanism {
        impossible: Some(Impossible { label, example }),
        ..
    } = &claim.reason.grounds
    {
        let label = shorten(label);
        return Some(match example {
            None => {
                format!("The log is not from this mechanism, which cannot produce {label:?}.")
            }
            Some(example) => format!(
                "No observation of the log is one of the mechanism: the log has {label:?}, the mechanism {:?}.",
                shorten(example)
            ),
        });
    }
    let p_value = claim.fit.as_ref()?.p_value?;
    (p_value < MISFIT).then(|| {
        format!(
            "The log is not from this mechanism, whatever it leaks: it does not fit (p < {MISFIT})."
        )
    })
}

fn neighbors(qualification: &Qualification) -> Option<String> {
    match qualification {
        Qualification::Neighbors { given, all } => Some(format!(
            "Judged on {given} of the {all} pairs alone ({}).",
            option("neighbors")
        )),
        _ => None,
    }
}
