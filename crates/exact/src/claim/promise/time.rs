//! Bounds of differences of times: a number, or who measures; and of which secret.

use std::fmt;
use std::sync::Arc;

use crate::claim::TimeBound;
use leakgauge_base::error::Result;
use leakgauge_base::grammar::{Arguments, Bounds, Value, format_number, list};
use leakgauge_base::time::TimeUnit;

/// Thresholds that go by where the attacker measures. They are conventions: what attackers of the kind were seen to
/// resolve, and no proof that less is safe.
///
/// `lan` and `internet`: Crosby, Wallach and Riedi (2009), 10.1145/1455526.1455530, who measured to 100 ns over a local
/// network and to 15 to 100 µs across the Internet. `shared-hardware`: two cycles at 3.3 GHz.
const ATTACKERS: [(&str, f64, TimeUnit); 3] = [
    ("shared-hardware", 0.6, TimeUnit::Nanoseconds),
    ("lan", 100.0, TimeUnit::Nanoseconds),
    ("internet", 50.0, TimeUnit::Microseconds),
];

/// A claim as it is written.
pub(super) fn write(
    f: &mut fmt::Formatter<'_>,
    TimeBound { at_most, unit }: TimeBound,
    slower: Option<&str>,
) -> fmt::Result {
    let unit = unit.map_or("", TimeUnit::name);
    write!(f, "time-difference({}{unit}", format_number(at_most))?;
    if let Some(slower) = slower {
        write!(f, ", slower={}", Value::Word(slower.to_owned()))?;
    }
    f.write_str(")")
}

/// The label of the secret that may be the slower one, if one is named.
pub(super) fn slower(arguments: &Arguments<'_>) -> Result<Option<Arc<str>>> {
    let Some(value) = arguments.value("slower") else {
        return Ok(None);
    };
    match value {
        Value::Word(word) => Ok(Some(word.as_str().into())),
        Value::Number(number) => Ok(Some(format_number(*number).into())),
        _ => {
            let problem = format!("slower must be a secret, got {}", value.describe());
            let error = arguments.parameter_error("slower", problem);
            Err(error.with_hint("write its label in quotes: slower=\"5ms\""))
        }
    }
}

pub(super) fn time_bound(arguments: &Arguments<'_>) -> Result<TimeBound> {
    if let Some(Value::Word(word)) = arguments.value("at-most") {
        let known = ATTACKERS.iter().find(|(name, ..)| name == word);
        let &(_, at_most, unit) = known.ok_or_else(|| {
            let names = ATTACKERS.map(|(name, ..)| name);
            let problem = format!(
                "{word} is no time and no attacker; attackers are {}",
                list(&names)
            );
            arguments.parameter_error("at-most", problem)
        })?;
        return Ok(TimeBound {
            at_most,
            unit: Some(unit),
        });
    }
    let Some(Value::Measure { number, unit }) = arguments.value("at-most") else {
        let at_most = arguments.number("at-most", Bounds::Above(0.0))?;
        return Ok(TimeBound {
            at_most,
            unit: None,
        });
    };
    let Some(known) = TimeUnit::parse(unit) else {
        let names = TimeUnit::ALL.map(TimeUnit::name);
        return Err(arguments.parameter_error(
            "at-most",
            format!("{unit} is no unit of time; units are {}", list(&names)),
        ));
    };
    if *number <= 0.0 {
        return Err(arguments.parameter_error("at-most", "at-most must be above 0"));
    }
    Ok(TimeBound {
        at_most: *number,
        unit: Some(known),
    })
}
