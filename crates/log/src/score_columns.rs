//! Which columns hold the scores of the user's own attack.

use crate::ReadOptions;
use leakgauge_base::error::{Error, Result, shorten};

/// Columns of scores, by name or number.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ScoreColumns {
    /// One column that tells two secrets apart: losses, or log-likelihood ratios.
    One(String),
    /// (secret, column) for every secret; the larger its score, the likelier the secret.
    PerSecret(Vec<(String, String)>),
}

impl ScoreColumns {
    /// Reads `COLUMN`, or `SECRET=COLUMN` for each secret.
    ///
    /// # Errors
    /// Nothing, a mixture of both, a secret or a column named twice.
    pub fn parse<T: AsRef<str>>(texts: &[T]) -> Result<Self> {
        let texts: Vec<&str> = texts.iter().map(|text| text.as_ref().trim()).collect();
        let option = || format!("--scores {}", shorten(&texts.join(",")));
        if let [column] = texts[..]
            && !column.is_empty()
            && !column.contains('=')
        {
            return Ok(ScoreColumns::One(column.to_owned()));
        }
        if texts.is_empty() {
            return Err(Error::parameter("--scores", "names no column"));
        }
        let mut columns: Vec<(String, String)> = Vec::new();
        for text in &texts {
            let (secret, column) = text
                .rsplit_once('=')
                .map(|(secret, column)| (secret.trim(), column.trim()))
                .filter(|(secret, column)| !secret.is_empty() && !column.is_empty())
                .ok_or_else(|| {
                    let error = Error::parameter(option(), "is not COLUMN or SECRET=COLUMN,…");
                    error.with_hint(
                        "one column for two secrets, or one for each: --scores yes=score_yes,no=score_no",
                    )
                })?;
            let twice = |what: &str| {
                Error::parameter(option(), format!("{} is named twice", shorten(what)))
            };
            if columns.iter().any(|(known, _)| known == secret) {
                return Err(twice(secret));
            }
            if columns.iter().any(|(_, known)| known == column) {
                return Err(twice(column).with_hint(
                    "each secret has a column of its own; for two secrets one is enough: --scores COLUMN",
                ));
            }
            columns.push((secret.to_owned(), column.to_owned()));
        }
        Ok(ScoreColumns::PerSecret(columns))
    }

    /// The columns, in the order given.
    pub fn columns(&self) -> Vec<&str> {
        match self {
            ScoreColumns::One(column) => vec![column],
            ScoreColumns::PerSecret(columns) => {
                columns.iter().map(|(_, column)| column.as_str()).collect()
            }
        }
    }
}

/// Refuses options that say something else of what is observed.
pub fn refuse_others(options: &ReadOptions) -> Result<()> {
    let others = [
        ("--observe", options.observe.is_some()),
        ("--categorical", !options.categorical.is_empty()),
        ("--resolution", !options.resolution.is_empty()),
        ("--list", !options.lists.is_empty()),
    ];
    match others.into_iter().find(|(_, is_given)| *is_given) {
        None => Ok(()),
        Some((option, _)) => Err(Error::parameter(
            option,
            "cannot be together with --scores: the scores are what is observed, as exact numbers",
        )
        .with_hint("other columns are left aside anyway")),
    }
}

/// Larger scores count as this large: sums and differences of scores stay finite.
const LARGEST: f64 = f64::MAX / 4.0;

/// The score that a field holds, or what is wrong with it. An attack that is certain writes infinity: it
/// is the largest score there is.
pub fn score(field: &str) -> std::result::Result<f64, &'static str> {
    match field.parse::<f64>() {
        Ok(value) if value.is_nan() => Err("is not a number, where a score belongs"),
        Ok(value) => Ok(value.clamp(-LARGEST, LARGEST)),
        Err(_) if field.is_empty() => Err("is blank, where a score belongs"),
        Err(_) => Err("is not a number, where a score belongs"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_column_or_one_for_each_secret() {
        assert_eq!(
            ScoreColumns::parse(&["loss"]).unwrap(),
            ScoreColumns::One("loss".into())
        );
        let both = ScoreColumns::parse(&["a=x", " b = 3"]).unwrap();
        assert_eq!(both.columns(), ["x", "3"]);
        for wrong in [&[][..], &[""], &["a="], &["=x"], &["x", "y"], &["a=x", "y"]] {
            assert!(ScoreColumns::parse(wrong).is_err(), "{wrong:?}");
        }
        for twice in [["a=x", "a=y"], ["a=x", "b=x"]] {
            let error = ScoreColumns::parse(&twice).unwrap_err().to_string();
            assert!(error.contains("twice"), "{error}");
        }
    }

    #[test]
    fn infinity_is_the_largest_score_and_nan_is_none() {
        assert_eq!(score("inf"), Ok(LARGEST));
        assert_eq!(score("-1e400"), Ok(-LARGEST));
        assert_eq!(score("-2.5"), Ok(-2.5));
        for wrong in ["NaN", "", "high", "0,5"] {
            assert!(score(wrong).is_err(), "{wrong}");
        }
    }
}
