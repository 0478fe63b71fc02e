//! What proves a limit of privacy.

use crate::audit::{PrivacyLimit, Stronger, Witness, WitnessEvent};
use crate::report::numbers::{Limits, at_least, plain_exact};
use leakgauge_attack::pairwise::{Event, ScoreEvent};
use leakgauge_base::error::shorten;
use leakgauge_base::quantity::PrivacyParameter;
use leakgauge_base::rounding::allowance;

/// Digits of the ends of an interval; the JSON report has all.
const DIGITS: i32 = 7;

/// The limit, the attack and its events on the certification rows; `None` where nothing is proved.
pub fn proof(limit: &PrivacyLimit) -> Option<String> {
    let found = limit.witness.as_ref()?;
    limit.lower?;
    let lower = Limits::from(limit).texts(None).lower;
    let events: Vec<String> = found.events.iter().map(counts).collect();
    let by = if of_groups(found) {
        "groups of similar rows".to_owned()
    } else if found.is_of_masked_rows() {
        "guesses on held-out rows".to_owned()
    } else {
        format!("the attack {}", shorten(&found.attack))
    };
    let mut text = format!(
        "{} at least {lower}, by {by}: {}.",
        name(limit.quantity),
        if events.is_empty() {
            "every row counts, with a weight by its score".to_owned()
        } else {
            events.join("; ")
        }
    );
    if let Some(stronger) = &found.stronger {
        text.push(' ');
        text.push_str(&of_stronger(stronger, &lower));
    }
    Some(text)
}

/// Whether groups of similar rows prove a limit.
pub fn of_groups(found: &Witness) -> bool {
    let is_of_groups = |one: &WitnessEvent| matches!(one.event, Event::Groups { .. });
    found.events.iter().any(is_of_groups)
}

fn name(quantity: PrivacyParameter) -> String {
    match quantity {
        PrivacyParameter::Epsilon { delta } => format!("Epsilon (delta {})", allowance(delta)),
        PrivacyParameter::Mu => "Mu".to_owned(),
        PrivacyParameter::Rho => "Rho".to_owned(),
        PrivacyParameter::Renyi { order } => {
            format!("Renyi divergence (order {})", allowance(order))
        }
    }
}

fn counts(found: &WitnessEvent) -> String {
    let [likely, other] = found.secrets.labels().map(shorten);
    let ([inside, beside], [rows, others]) = (found.inside, found.rows);
    if let Event::Groups { groups, of } = found.event {
        let have = if groups == 1 { "has" } else { "have" };
        return format!(
            "{groups} of {of} groups {have} {inside} of {rows} rows of {likely} against {beside} of {others} of {other}"
        );
    }
    if let Event::Guessed { columns } = &found.event {
        return format!(
            "{likely} is guessed{} in {inside} of {rows} rows of {likely} against {beside} of {others} of {other}",
            mostly_from(columns)
        );
    }
    format!(
        "{} in {inside} of {rows} rows of {likely} against {beside} of {others} of {other}",
        event(&found.event)
    )
}

/// The columns that tell most; nothing where none does.
fn mostly_from(columns: &[String]) -> String {
    let columns: Vec<String> = columns.iter().map(|name| shorten(name)).collect();
    if columns.is_empty() {
        String::new()
    } else {
        format!(" (mostly from {})", columns.join(", "))
    }
}

/// The event in words.
pub fn event(event: &Event) -> String {
    let listed = |values: &[String]| {
        let values: Vec<String> = values.iter().map(|value| shorten(value)).collect();
        match &values[..] {
            [one] => one.clone(),
            _ => format!("one of {}", values.join(" | ")),
        }
    };
    match event {
        Event::Outcomes(outcomes) => format!("the observation is {}", listed(outcomes)),
        Event::Labels { column, labels } => {
            format!("{} is {}", column_name(column), listed(labels))
        }
        Event::Interval {
            column,
            at_least,
            at_most,
        } => {
            let column = column_name(column);
            let number = |value: &f64| plain_exact(*value, DIGITS);
            match (at_least.as_ref().map(number), at_most.as_ref().map(number)) {
                (Some(low), Some(high)) if low == high => format!("{column} is {low}"),
                (Some(low), Some(high)) => format!("{column} is from {low} to {high}"),
                (Some(low), None) => format!("{column} is at least {low}"),
                (None, Some(high)) => format!("{column} is at most {high}"),
                (None, None) => format!("{column} is any number"),
            }
        }
        Event::Both(both) => {
            let [first, second] = both.each_ref().map(self::event);
            format!("{first} and {second}")
        }
        Event::Groups { groups, of } => {
            format!("the row is in one of {groups} groups of similar rows, of {of}")
        }
        Event::Guessed { columns } => {
            format!("the first secret is guessed{}", mostly_from(columns))
        }
        Event::Score(ScoreEvent::AtLeast(bound)) => {
            format!("the difference of scores is at least {bound:.4}")
        }
        Event::Score(ScoreEvent::Above(bound)) => {
            format!("the difference of scores is above {bound:.4}")
        }
        Event::Score(ScoreEvent::AtMost(bound)) => {
            format!("the difference of scores is at most {bound:.4}")
        }
    }
}

fn of_stronger(found: &Stronger, lower: &str) -> String {
    let (mu, epsilon) = (at_least(found.mu), at_least(found.epsilon));
    format!(
        "A claim of Gaussian privacy is easier to refute with these rows: they need a mu of at least {mu}. Gaussian noise with \
         this mu has an epsilon of {epsilon} at this delta, more than the {lower} that is shown."
    )
}
/// The name of a column; of one that has none, `column` and its number.
pub fn column_name(name: &str) -> String {
    match name.parse::<u32>() {
        Ok(number) => format!("column {number}"),
        Err(_) => shorten(name),
    }
}
