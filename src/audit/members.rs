//! Words by which logs of attacks on membership call their secrets.

/// Words that say nothing but that a record was in the training.
const MEMBERS: [&str; 5] = ["in", "member", "members", "included", "train"];
/// Words that say it where the log is known to be about membership.
const YES: [&str; 3] = ["1", "true", "yes"];

/// Whether a secret is called by a word for members, in a log that is about membership.
pub fn is_member(secret: &str) -> bool {
    is_one_of(secret, &MEMBERS) || is_one_of(secret, &YES)
}

/// Whether two secrets are, by their names, members and others.
pub(super) fn are_named(secrets: &[String]) -> bool {
    let named = secrets.iter().filter(|secret| is_one_of(secret, &MEMBERS));
    secrets.len() == 2 && named.count() == 1
}

fn is_one_of(secret: &str, words: &[&str]) -> bool {
    words.contains(&secret.to_lowercase().as_str())
}
