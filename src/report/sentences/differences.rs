//! Differences of times in words.

use crate::audit::{BlocksCompared, Difference, Differences, Reference};
use crate::report::numbers::{Limits, at_least, confidence_percent, time_scale as scale};
use crate::report::words::p_value_of;
use leakgauge_base::error::shorten;
use leakgauge_base::naming::option;
use leakgauge_base::time::TimeUnit;
use leakgauge_stats::paired::{DECILES, Located, Sense};

/// Why a mean has neither an estimate nor limits.
pub const NO_MEAN: &str = "some times have no end, and a mean of them is not known";

/// Why a mean has no limits.
pub const FEW_DECIDE: &str =
    "too few times, or a few long ones decide the mean, and longer ones may not have been seen";

/// What measurements were seen relative to.
pub fn reference(reference: Reference) -> &'static str {
    match reference {
        Reference::Nothing => "times as they are",
        Reference::MedianOfOthers => {
            "times relative to the median of the other times of their block"
        }
        Reference::MeanOfOthers => "times relative to the mean of the other times of their block",
    }
}

/// Where evidence is.
pub fn sense(sense: Sense) -> &'static str {
    match sense {
        Sense::Shift => "one takes longer",
        Sense::Tail => "one takes much longer in a few blocks",
        Sense::Spread => "the times of one spread more",
        Sense::Deciles => "a decile of their times differs",
    }
}

/// The answer for the pair that differs most, in a sentence.
pub fn answer(found: &Differences) -> Option<String> {
    let pair = found.pairs.first()?;
    let [a, b] = pair.secrets.labels().map(shorten);
    let [estimate, lower, upper] = located(&pair.median, found.unit);
    let p_value = p_value_of(pair.p_value);
    let what = match found.blocks {
        Some(_) => "the median over blocks",
        None => "the difference of the medians",
    };
    if pair.median.lower > 0.0 {
        return Some(format!(
            "{b} takes {estimate} longer than {a}: at least {lower}, at most {upper} ({what}; {p_value})."
        ));
    }
    let limits = if !(pair.median.lower.is_finite() && pair.median.upper.is_finite()) {
        let few = match found.blocks {
            Some(_) => "blocks",
            None => "rows",
        };
        match pair.rows().iter().all(|&rows| rows >= found.least) {
            true => {
                format!(
                    "There are too few times of {a} and {b} for limits, which allow for times that resemble those before \
                     them."
                )
            }
            false => format!(
                "There are too few {few} for limits of the median of {a} and {b}: at least {} are needed.",
                found.least
            ),
        }
    } else {
        format!(
            "The pair that may differ most: {b} takes between {lower} and {upper} longer than {a} ({what})."
        )
    };
    let seen = if pair.p_value < 0.01 {
        format!(
            " Their times differ all the same: {} ({p_value}). The test of no difference looks at more than the median.",
            sense(pair.sense)
        )
    } else {
        String::new()
    };
    Some(format!("No difference of medians is shown. {limits}{seen}"))
}

/// What the columns of the table are.
pub fn legend(found: &Differences, confidence: f64) -> String {
    let last = match found.blocks {
        Some(_) => {
            "Paired advantage: of an attacker who sees two times of a block and says which is which, at least."
        }
        None => {
            "Median, mean: the difference of the two medians, of the two means. Hodges-Lehmann: the median of all \
             differences between a time of one and a time of the other. Widest decile: the decile that differs most; the \
             limits of all nine hold together."
        }
    };
    format!(
        "How much longer the second secret takes than the first, with limits that hold for all pairs together with {} \
         confidence. {last}",
        confidence_percent(confidence)
    )
}

/// What was compared.
pub fn read(found: &Differences) -> String {
    let mut text = match &found.blocks {
        Some(compared) => blocks(compared),
        None => format!(
            "Times were taken one by one. Drift of the machine counts as noise; if secrets are not in random order, it looks \
             like a difference. Limits are wider where rows resemble those before them, if the order of rows is known. If times \
             of all secrets were taken together, name their block with {}.",
            option("block")
        ),
    };
    if found.counts_last {
        text.push_str(
            " Times without an end count as longer than all others, by an unknown length: means of their secrets have no \
             limits.",
        );
    }
    text.push_str(&clock(found));
    if found.unit.is_none() {
        text.push_str(&format!(
            " Times are in the unit of the log, which it does not say: say it with {}.",
            option("unit")
        ));
    }
    text
}

/// What the step of the clock hides.
fn clock(found: &Differences) -> String {
    let step = found.clock.step();
    if step == 0.0 {
        return String::new();
    }
    let (factor, unit) = scale(step, found.unit);
    let [step, blur] = [step, found.clock.blur()].map(|size| significant(factor * size) + unit);
    let how = match found.step_is_given {
        true => String::new(),
        false => format!(", by their values ({})", option("clock_step")),
    };
    format!(
        " Times were recorded in steps of {step}{how}. A time is known to within a step, so limits of a difference are {blur} \
         wider on either side."
    )
}

/// A number with four digits at most.
fn significant(number: f64) -> String {
    let decimals = (3.0 - number.abs().log10().floor()).clamp(0.0, 12.0);
    trimmed(format!("{number:.*}", decimals as usize))
}

/// How the blocks were read.
fn blocks(found: &BlocksCompared) -> String {
    let mut text = format!(
        "{} blocks; limits count blocks, not rows. Attacks saw {}.",
        found.blocks,
        reference(found.reference)
    );
    if found.attacked < found.blocks {
        text.push_str(&format!(
            " Differences are of all blocks; attacks and the paired advantage are of a random sample of {} blocks.",
            found.attacked
        ));
    }
    if found.incomplete > 0 {
        text.push_str(&format!(
            " {} of them lack a secret and are used for the pairs that they have.",
            found.incomplete
        ));
    }
    if found.alone > 0 {
        text.push_str(&format!(
            " {} blocks with only one measurement were left out.",
            found.alone
        ));
    }
    text
}

/// A line of the table of differences.
pub fn row(pair: &Difference, unit: Option<TimeUnit>) -> Vec<String> {
    let cell = |figure: &Located| {
        let [point, lower, upper] = located(figure, unit);
        let bare = lower.split(' ').next().unwrap_or_default();
        format!("{point} ({bare} to {upper})")
    };
    let limit = |limit: Option<f64>| limit.map_or("n/a".to_owned(), at_least);
    vec![
        pair.secrets.labels().map(shorten).join(" | "),
        cell(&pair.median),
        cell(&pair.hodges_lehmann),
        cell(&pair.mean),
        match &pair.paired_advantage {
            Some(advantage) => limit(advantage.lower),
            None => decile(pair).map_or("n/a".to_owned(), |(name, decile)| {
                format!("{name}: {}", cell(decile))
            }),
        },
        p_value_of(pair.p_value),
    ]
}

/// The decile that is shown to differ most, or else seems to, and its name.
fn decile(pair: &Difference) -> Option<(f64, &Located)> {
    let shown = |one: &Located| one.lower.max(-one.upper).max(0.0);
    let all = DECILES.into_iter().zip(pair.deciles.as_ref()?);
    all.max_by(|(_, x), (_, y)| {
        let by_limit = shown(x).total_cmp(&shown(y));
        by_limit.then(x.point.abs().total_cmp(&y.point.abs()))
    })
}

/// The estimate and its limits, rounded outward, with as many digits as the limits warrant, in a unit that fits.
pub fn located(figure: &Located, unit: Option<TimeUnit>) -> [String; 3] {
    let all = [figure.point, figure.lower, figure.upper];
    let finite = all.into_iter().filter(|x| x.is_finite());
    let size = finite.map(f64::abs).fold(0.0, f64::max);
    let (factor, name) = scale(size, unit);
    let limits = Limits::from(figure).map(|value| factor * value);
    let texts = limits.texts(None).with_unit(name);
    [texts.point, texts.lower, texts.upper]
}

/// A number without zeros at the end of its decimals.
fn trimmed(number: String) -> String {
    if !number.contains('.') {
        return number;
    }
    number
        .trim_end_matches('0')
        .trim_end_matches('.')
        .to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_written_in_a_unit_that_fits_and_rounded_outward() {
        let figure = Located {
            point: 4.123e-8,
            lower: 3.812e-8,
            upper: 4.451e-8,
        };
        let seconds = located(&figure, Some(TimeUnit::Seconds));
        assert_eq!(seconds, ["41.2 ns", "38.1 ns", "44.6 ns"]);
        let whole = Located {
            point: 0.0,
            lower: -12.0,
            upper: f64::INFINITY,
        };
        assert_eq!(located(&whole, None), ["0", "-12", "n/a"]);
        assert_eq!(located(&whole, Some(TimeUnit::Cycles))[1], "-12 cycles");
    }
}
