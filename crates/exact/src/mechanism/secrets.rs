//! The parameter `secrets=`.

use std::fmt;

use leakgauge_base::error::Result;
use leakgauge_base::grammar::{Arguments, MAX_WHOLE, Parameter, Value};

/// The parameter `secrets`, the same for every mechanism.
pub(super) const PARAMETER: Parameter = Parameter::named(
    "secrets",
    "the possible secrets: a count n, meaning 0 to n-1, or a range a..b of whole numbers; default: \
     the secrets of the log",
);

/// Declared secrets: consecutive whole numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Secrets {
    /// `secrets=n`: 0, 1, …, n − 1.
    Count(u64),
    /// `secrets=a..b`: a, a + 1, …, b.
    Range {
        /// The first secret.
        from: i64,
        /// The last secret.
        to: i64,
    },
}

impl Secrets {
    /// Reads `secrets=`, if it is given.
    pub(super) fn from_arguments(arguments: &Arguments<'_>) -> Result<Option<Self>> {
        Self::read(arguments, "secrets")
    }

    /// Reads a count or a range of whole numbers, if it is given.
    pub(super) fn read(arguments: &Arguments<'_>, parameter: &str) -> Result<Option<Self>> {
        match arguments.value(parameter) {
            None => Ok(None),
            Some(&Value::Number(count))
                if count >= 1.0 && count.fract() == 0.0 && count <= MAX_WHOLE as f64 =>
            {
                Ok(Some(Secrets::Count(count as u64)))
            }
            Some(&Value::Range { from, to }) if from <= to => Ok(Some(Secrets::Range { from, to })),
            Some(Value::Range { from, to }) => Err(arguments
                .error(format!("the range of {parameter} {from}..{to} is empty"))
                .with_hint(format!("write {parameter}={to}..{from}"))),
            Some(value) => Err(arguments
                .error(format!(
                    "{parameter} must be a count, at least 1, or a range of whole numbers, got {}",
                    value.describe()
                ))
                .with_hint(format!(
                    "{parameter}=10 and {parameter}=0..9 are the same ten {parameter}"
                ))),
        }
    }

    /// The number of secrets.
    pub fn count(self) -> u64 {
        match self {
            Secrets::Count(count) => count,
            // The ends are within ±2^53.
            Secrets::Range { from, to } => (to - from) as u64 + 1,
        }
    }

    /// The first secret.
    pub fn first(self) -> i64 {
        match self {
            Secrets::Count(_) => 0,
            Secrets::Range { from, .. } => from,
        }
    }

    /// The last secret.
    pub fn last(self) -> i64 {
        self.first() + (self.count() - 1) as i64
    }

    /// The position (from 0) of the secret with this label, if there is one. Only the form that [`Secrets::labels`]
    /// gives is recognized: `7`, not `07` or `7.0`.
    pub fn position(self, label: &str) -> Option<u64> {
        let value: i64 = label.parse().ok()?;
        let inside = (self.first()..=self.last()).contains(&value) && value.to_string() == label;
        inside.then(|| (value - self.first()) as u64)
    }

    /// The labels, in increasing order. Needs memory for each: see [`MAX_LISTED`](super::MAX_LISTED).
    pub fn labels(self) -> Vec<String> {
        (self.first()..=self.last())
            .map(|secret| secret.to_string())
            .collect()
    }
}

/// The text after `secrets=`.
impl fmt::Display for Secrets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Secrets::Count(count) => write!(f, "{count}"),
            Secrets::Range { from, to } => write!(f, "{from}..{to}"),
        }
    }
}

/// `, secrets=…` for the `Display` of a mechanism; empty if none are declared.
pub(super) fn suffix(secrets: Option<Secrets>) -> String {
    secrets.map_or_else(String::new, |secrets| format!(", secrets={secrets}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_count_starts_at_zero_and_a_range_where_it_says() {
        assert_eq!(Secrets::Count(3).labels(), ["0", "1", "2"]);
        let range = Secrets::Range { from: -1, to: 2 };
        assert_eq!(range.labels(), ["-1", "0", "1", "2"]);
        assert_eq!(range.count(), 4);
        assert_eq!(range.position("2"), Some(3));
    }

    #[test]
    fn labels_are_found_only_as_they_are_written() {
        let secrets = Secrets::Count(10);
        for label in ["10", "-1", "07", "+7", "7.0", " 7", "seven", ""] {
            assert_eq!(secrets.position(label), None, "{label:?}");
        }
    }
}
