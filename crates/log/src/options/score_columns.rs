//! Which columns hold the scores of the user's own attack.

use leakgauge_base::error::{Error, Result, shorten};
use leakgauge_base::naming::{option, setting};

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
        let asked = || setting("scores", shorten(&texts.join(",")));
        if let [column] = texts[..]
            && !column.is_empty()
            && !column.contains('=')
        {
            return Ok(ScoreColumns::One(column.to_owned()));
        }
        if texts.is_empty() {
            return Err(Error::parameter(option("scores"), "names no column"));
        }
        let mut columns: Vec<(String, String)> = Vec::new();
        for text in &texts {
            let (secret, column) = text
                .rsplit_once('=')
                .map(|(secret, column)| (secret.trim(), column.trim()))
                .filter(|(secret, column)| !secret.is_empty() && !column.is_empty())
                .ok_or_else(|| {
                    let error = Error::parameter(asked(), "is not COLUMN or SECRET=COLUMN,…");
                    error.with_hint(format!(
                        "one column for two secrets, or one for each: {}",
                        setting("scores", "yes=score_yes,no=score_no")
                    ))
                })?;
            let twice =
                |what: &str| Error::parameter(asked(), format!("{} is named twice", shorten(what)));
            if columns.iter().any(|(known, _)| known == secret) {
                return Err(twice(secret));
            }
            if columns.iter().any(|(_, known)| known == column) {
                return Err(twice(column).with_hint(format!(
                    "each secret has a column of its own; for two secrets one is enough: {}",
                    setting("scores", "COLUMN")
                )));
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
}
