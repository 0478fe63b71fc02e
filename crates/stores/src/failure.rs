//! What a store's answer means for whoever named the object.

use leakgauge_base::error::{Error, Result};
use object_store::Error as StoreError;

use crate::kind::Kind;
use crate::profile;

fn is_set(name: &str) -> bool {
    std::env::var_os(name).is_some_and(|value| !value.is_empty())
}

/// Refuses what cannot go well: half of a credential.
///
/// # Errors
/// A variable of the environment that is missing, by its name.
pub(crate) fn check_credentials(url: &str, kind: Kind) -> Result<()> {
    let pair = ["AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"];
    let missing = match kind {
        Kind::S3 if is_set(pair[0]) != is_set(pair[1]) => {
            pair.into_iter().find(|name| !is_set(name))
        }
        Kind::Azure => {
            let names = [
                "AZURE_STORAGE_ACCOUNT_NAME",
                "AZURE_STORAGE_CONNECTION_STRING",
                "AZURE_STORAGE_USE_EMULATOR",
            ];
            (!names.into_iter().any(is_set)).then_some(names[0])
        }
        _ => None,
    };
    match missing {
        None => Ok(()),
        Some(name) => Err(
            Error::file(url, format!("the credential {name} is not set"))
                .with_hint(format!("set {name} in the environment")),
        ),
    }
}

/// What the environment lacks for access with a credential.
fn lacks(kind: Kind) -> Option<&'static str> {
    let (names, hint): (&[&str], _) = match kind {
        Kind::S3 => (
            &[
                "AWS_ACCESS_KEY_ID",
                "AWS_WEB_IDENTITY_TOKEN_FILE",
                "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI",
                "AWS_CONTAINER_CREDENTIALS_FULL_URI",
                "AWS_SKIP_SIGNATURE",
            ],
            "the credentials AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY are not set: set them, or for a public bucket AWS_SKIP_SIGNATURE=true",
        ),
        Kind::Google => (
            &[
                "GOOGLE_SERVICE_ACCOUNT",
                "GOOGLE_SERVICE_ACCOUNT_PATH",
                "GOOGLE_SERVICE_ACCOUNT_KEY",
                "GOOGLE_APPLICATION_CREDENTIALS",
                "GOOGLE_SKIP_SIGNATURE",
            ],
            "the credential GOOGLE_APPLICATION_CREDENTIALS is not set: set it to the path of a key file, or for a public bucket GOOGLE_SKIP_SIGNATURE=true",
        ),
        Kind::Azure => (
            &[
                "AZURE_STORAGE_ACCOUNT_KEY",
                "AZURE_STORAGE_ACCESS_KEY",
                "AZURE_STORAGE_SAS_TOKEN",
                "AZURE_STORAGE_SAS_KEY",
                "AZURE_STORAGE_CLIENT_ID",
                "AZURE_STORAGE_TOKEN",
                "AZURE_SKIP_SIGNATURE",
                "AZURE_STORAGE_USE_EMULATOR",
                "AZURE_STORAGE_CONNECTION_STRING",
            ],
            "the credential AZURE_STORAGE_ACCOUNT_KEY is not set: set it, or for a public container AZURE_SKIP_SIGNATURE=true",
        ),
        Kind::Web => return None,
    };
    let has_some =
        names.iter().any(|name| is_set(name)) || (kind == Kind::S3 && profile::has_keys());
    (!has_some).then_some(hint)
}

/// The error of a request.
pub(crate) fn explain(url: &str, kind: Kind, error: &StoreError) -> Error {
    let words = innermost(error);
    match error {
        StoreError::NotFound { .. } if words.contains("NoSuchBucket") => {
            Error::file(url, "no such bucket")
                .with_hint("check the name of the bucket and its store")
        }
        StoreError::NotFound { .. } => Error::file(url, "no such object")
            .with_hint("check the name of the bucket, and the key letter by letter"),
        StoreError::Precondition { .. } => Error::file(url, "has changed while it was read")
            .with_hint("read it again when its writer has finished"),
        StoreError::PermissionDenied { .. } | StoreError::Unauthenticated { .. } => {
            Error::file(url, "the store refuses access").with_hint(
                lacks(kind).unwrap_or("check the credentials, and what they are allowed to read"),
            )
        }
        _ => Error::file(url, format!("cannot be fetched: {words}")).with_hint(
            lacks(kind).unwrap_or(
                "check the name of the host, the network, and the endpoint if one is set",
            ),
        ),
    }
}

/// What the lowest floor says, and what the store wrote if it wrote anything: the floors above repeat it.
fn innermost(error: &StoreError) -> String {
    let mut lowest: &dyn std::error::Error = error;
    while let Some(source) = lowest.source() {
        lowest = source;
    }
    let words = lowest.to_string();
    let words: Vec<&str> = words.split_whitespace().collect();
    words.join(" ").chars().take(300).collect()
}
