//! Why a claim of privacy is judged as it is.

use crate::audit::{
    ClaimReport, CurveGrounds, CurveOutcome, Distance, Divergence, Pair, PrivacyGrounds,
    PrivacyKind, PrivacyOutcome, Unproved,
};
use crate::estimate::Reason;
use crate::report::numbers::{Texts, at_most};
use crate::report::sentences::reasons;
use crate::report::words::texts;
use leakgauge_base::error::shorten;
use leakgauge_base::quantity::PrivacyParameter;
use leakgauge_base::rounding::{allowance, at_most_beyond};

/// One to three sentences.
pub fn grounds(claim: &ClaimReport, found: &PrivacyGrounds) -> String {
    match &found.outcome {
        PrivacyOutcome::Refuted => refuted(claim, found),
        PrivacyOutcome::Proved(divergence) => proved(divergence),
        PrivacyOutcome::Open(why) => open(claim, found, why),
    }
}

/// A claim of several (ε, δ).
pub fn curve(claim: &ClaimReport, found: &CurveGrounds) -> String {
    let secrets = subject(claim);
    let delta = allowance(found.delta);
    let Texts { lower, bound, .. } = texts(claim);
    let points = match found.points {
        1 => "the one (epsilon, delta)".to_owned(),
        points => format!("all {points} (epsilon, delta)"),
    };
    match found.outcome {
        CurveOutcome::Refuted => format!(
            "{secrets} need an epsilon of at least {} at delta {delta}, where the claim allows {bound}.",
            lower
        ),
        CurveOutcome::Proved => format!(
            "At {points} of the claim, every ordered pair needs no more than the delta that it allows."
        ),
        CurveOutcome::Open { proved } => format!(
            "Not refuted. Of {points} of the claim, closest to the limit is epsilon {bound} at delta {delta}, where the log shows \
             at least {}. Not confirmed: {proved} of them hold.",
            lower
        ),
    }
}

/// The parameter with its article.
fn named(quantity: PrivacyParameter) -> String {
    match quantity {
        PrivacyParameter::Epsilon { .. } => format!("an {quantity}"),
        PrivacyParameter::Mu | PrivacyParameter::Rho => format!("a {quantity}"),
        PrivacyParameter::Renyi { order } => {
            format!("a Renyi divergence of order {}", allowance(order))
        }
    }
}

/// At which δ an ε is meant, where that is not 0.
fn at_delta(quantity: PrivacyParameter) -> String {
    match quantity {
        PrivacyParameter::Epsilon { delta } if delta > 0.0 => {
            format!(" at delta {}", allowance(delta))
        }
        _ => String::new(),
    }
}

fn labels(pair: &Pair) -> [String; 2] {
    pair.labels().map(shorten)
}

/// The two secrets that a sentence is about.
fn subject(claim: &ClaimReport) -> String {
    match claim.deciding_pair() {
        Some(pair) => {
            let [a, b] = labels(pair);
            format!("Secrets {a} and {b}")
        }
        None => "Some two secrets (all pairs were looked at together)".to_owned(),
    }
}

fn apart(distance: &Distance) -> String {
    format!(
        "{} {} of {} apart",
        allowance(distance.steps),
        if distance.steps == 1.0 {
            "step"
        } else {
            "steps"
        },
        allowance(distance.unit)
    )
}

fn refuted(claim: &ClaimReport, found: &PrivacyGrounds) -> String {
    let [a, b] = labels(&claim.pair);
    if claim.estimate.lower.is_none() {
        return format!("For secrets {a} and {b} there is no valid limit.");
    }
    let Texts { lower, bound, .. } = texts(claim);
    let name = named(found.quantity);
    let at_delta = at_delta(found.quantity);
    let Some(distance) = &found.distance else {
        return format!(
            "{} need {name} of at least {lower}{at_delta}, more than {bound}.",
            subject(claim)
        );
    };
    format!(
        "Secrets {a} and {b}, {}, need {name} of at least {lower}{at_delta}, more than the {bound} that the claim allows \
         there.",
        apart(distance)
    )
}

fn proved(found: &Divergence) -> String {
    let upper = at_most_beyond(found.upper, found.delta);
    let (epsilon, delta) = (allowance(found.epsilon), allowance(found.delta));
    match &found.distance {
        None => format!(
            "At epsilon {epsilon} every ordered pair needs a delta of at most {upper}, within {delta}."
        ),
        Some(distance) => {
            let [a, b] = labels(&found.pair);
            format!(
                "Every ordered pair needs no more delta than the claim allows at its distance. Closest to the limit are {a} and \
                 {b}, {}: at epsilon {epsilon} a delta of at most {upper}, within {delta}.",
                apart(distance)
            )
        }
    }
}

fn open(claim: &ClaimReport, found: &PrivacyGrounds, why: &Unproved) -> String {
    let name = named(found.quantity);
    let Texts { lower, bound, .. } = texts(claim);
    let lower = match claim.estimate.lower {
        Some(_) => format!("at least {lower}{}", at_delta(found.quantity)),
        None => "no limit".to_owned(),
    };
    let shown = match &found.distance {
        None => format!("{name} of {lower}, and the claim allows {bound}"),
        Some(distance) => {
            let [a, b] = labels(&claim.pair);
            format!(
                "{name} of {lower} between {a} and {b}, {}, where the claim allows {bound}",
                apart(distance)
            )
        }
    };
    format!(
        "Not refuted: the log shows {shown}. Not confirmed: {}",
        unproved(why)
    )
}

fn unproved(why: &Unproved) -> String {
    let kind = match why {
        Unproved::Divergence(found) => return unproved_divergence(found),
        Unproved::DependentRows => return reasons::continued(&Reason::DependentRows),
        Unproved::SecretWithoutRows => return "some secret has no rows in this log.".to_owned(),
        Unproved::RawNumbers => return reasons::continued(&Reason::RawNumbers),
        Unproved::OneAttack => {
            return "the answers are those of one attack, and another attack may do better."
                .to_owned();
        }
        Unproved::Never(PrivacyKind::Pure) => "pure",
        Unproved::Never(PrivacyKind::Gaussian) => "Gaussian",
        Unproved::Never(PrivacyKind::Concentrated) => "concentrated",
        Unproved::Never(PrivacyKind::Renyi) => "Renyi",
    };
    format!(
        "samples can refute {kind} differential privacy but never prove it, because an observation too rare to be seen could \
         still break it."
    )
}

fn unproved_divergence(found: &Divergence) -> String {
    let of = found.distance.as_ref().map_or(String::new(), |distance| {
        let [a, b] = labels(&found.pair);
        format!(
            " of {a} and {b}, {}, where {} is allowed,",
            apart(distance),
            allowance(found.delta)
        )
    });
    format!(
        "the delta needed at epsilon {}{of} may be as large as {}.",
        allowance(found.epsilon),
        at_most(found.upper)
    )
}
