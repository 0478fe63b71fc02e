//! Reading a property of the secret: its value for every secret.

use std::path::Path;

use leakgauge_base::error::{Error, Result, shorten};
use leakgauge_exact::channel::Channel;

use super::rows;

/// The value of every secret of a channel, in their order: from `a,b|c`, groups of secrets with the same value, or from a
/// file with the secret in column 1 and its value in column 2.
///
/// # Errors
/// A secret is missing, unknown or named twice, or the file has rows of another form.
pub fn property(text: &str, channel: &Channel) -> Result<Vec<String>> {
    if Path::new(text).is_file() {
        return of_file(text, channel);
    }
    let mut values = vec![None; channel.secrets().len()];
    for group in text.split('|') {
        for secret in group.split(',').map(str::trim) {
            let at = channel.secret_number(secret)?;
            let value = group.trim().to_owned();
            if values[at].replace(value).is_some() {
                return Err(wrong(text, &format!("names {secret} twice")));
            }
        }
    }
    complete(text, values, channel)
}

fn of_file(file: &str, channel: &Channel) -> Result<Vec<String>> {
    let mut values = vec![None; channel.secrets().len()];
    for (number, (place, row)) in rows::read(file)?.into_iter().enumerate() {
        if row.len() != 2 {
            let problem = format!("has {} fields, not a secret and its value", row.len());
            return Err(Error::data(place, problem));
        }
        let found = channel
            .secrets()
            .iter()
            .position(|secret| *secret == row[0]);
        let Some(at) = found else {
            // Row 1 may name the columns.
            if number == 0 {
                continue;
            }
            channel.secret_number(&row[0])?;
            continue;
        };
        if values[at].replace(row[1].to_owned()).is_some() {
            return Err(Error::data(place.value(&row[0]), "has a value already"));
        }
    }
    complete(file, values, channel)
}

fn complete(text: &str, values: Vec<Option<String>>, channel: &Channel) -> Result<Vec<String>> {
    let missing = values.iter().position(Option::is_none);
    if let Some(at) = missing {
        let secret = &channel.secrets()[at];
        return Err(wrong(
            text,
            &format!("has no value for the secret {secret}"),
        ));
    }
    Ok(values.into_iter().flatten().collect())
}

fn wrong(text: &str, problem: &str) -> Error {
    Error::setting("property", shorten(text), problem).with_hint(
        "write groups of secrets with the same value, `a,b|c`, or a file with a secret and its value in each row",
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn channel() -> Channel {
        let names = ["a", "b", "c"].map(str::to_owned).to_vec();
        Channel::new(names, vec!["x".to_owned()], vec![1.0; 3]).unwrap()
    }

    #[test]
    fn groups_of_secrets_are_values_and_every_secret_has_one() {
        let found = property("a, b|c", &channel()).unwrap();
        assert_eq!(found, ["a, b", "a, b", "c"]);
        for (text, problem) in [
            ("a|b", "no value for the secret c"),
            ("a,b|b,c", "names b twice"),
            ("a,b|d", "is not a secret"),
            ("", "is not a secret"),
        ] {
            let error = property(text, &channel()).unwrap_err().to_string();
            assert!(error.contains(problem), "{text}: {error}");
        }
    }

    #[test]
    fn a_file_has_a_secret_and_its_value_in_each_row() {
        let folder = tempfile::tempdir().unwrap();
        let read = |text: &str| {
            let path = folder.path().join("property.csv");
            std::fs::write(&path, text).unwrap();
            property(path.to_str().unwrap(), &channel())
        };
        assert_eq!(
            read("secret,age\na,old\nc,old\nb,young\n").unwrap(),
            ["old", "young", "old"]
        );
        for (text, problem) in [
            ("a,old\nb,young\n", "no value for the secret c"),
            ("a,old\na,young\nb,old\nc,old\n", "has a value already"),
            ("a,old\nb,young\nd,old\nc,old\n", "is not a secret"),
            ("a\nb\nc\n", "1 fields"),
        ] {
            let error = read(text).unwrap_err().to_string();
            assert!(error.contains(problem), "{text}: {error}");
        }
    }
}
