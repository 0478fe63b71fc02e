//! URLs that stand for several objects: patterns, and places whose name ends in `/`.

use futures::TryStreamExt;
use glob::{MatchOptions, Pattern};
use leakgauge_base::error::{Error, Result};
use object_store::path::Path;

use crate::failure;
use crate::kind::Kind;
use crate::location::Location;
use crate::runtime::wait;

/// `*` stays within a directory, as for files.
const MATCHING: MatchOptions = MatchOptions {
    case_sensitive: true,
    require_literal_separator: true,
    require_literal_leading_dot: false,
};

/// The objects that a URL stands for, sorted; itself, if it has no `*` and no `/` at its end.
///
/// # Errors
/// A pattern that no object matches or that is none; a store that does not answer.
pub(crate) fn expand(location: &Location) -> Result<Vec<String>> {
    let is_place = location.key.is_empty() || location.key.ends_with('/');
    if location.kind == Kind::Web || !(is_place || location.key.contains('*')) {
        return Ok(vec![location.url.clone()]);
    }
    let pattern = match is_place {
        true => format!("{}**/*", Pattern::escape(&location.key)),
        false => location.key.clone(),
    };
    let pattern = Pattern::new(&pattern).map_err(|error| {
        Error::file(
            &location.url,
            format!("is no pattern of keys: {}", error.msg),
        )
        .with_hint("`*` is any text within a directory, `**` any directories")
    })?;
    let before = location
        .key
        .split(['*', '?', '['])
        .next()
        .unwrap_or_default();
    let directory = before
        .rsplit_once('/')
        .map_or("", |(directory, _)| directory);
    let prefix = Path::parse(directory)
        .map_err(|error| Error::file(&location.url, format!("has a key that is none: {error}")))?;
    let store = location.store.clone();
    let found = wait(async move { store.list(Some(&prefix)).try_collect::<Vec<_>>().await })
        .map_err(|error| Error::file(&location.url, error.to_string()))?
        .map_err(|error| failure::explain(&location.url, location.kind, &error))?;
    // Markers of directories, and what writers leave beside the data (`_SUCCESS`), are no logs.
    let is_log = |key: &str| {
        let name = key.rsplit('/').next().unwrap_or(key);
        !is_place || !(name.starts_with(['_', '.']) || name.is_empty())
    };
    let found = found.iter().filter(|object| object.size > 0 || !is_place);
    let keys = found.map(|object| object.location.as_ref());
    let mut urls: Vec<String> = keys
        .filter(|key| pattern.matches_with(key, MATCHING) && is_log(key))
        .map(|key| format!("{}{key}", location.root))
        .collect();
    if urls.is_empty() {
        return Err(Error::file(&location.url, "no object matches")
            .with_hint("`*` does not match the `/` between directories; `**/` does"));
    }
    urls.sort_unstable();
    Ok(urls)
}
