//! Words by which logs of attacks on membership call their secrets.

use leakgauge_log::Log;

/// Words that say nothing but that a record was in the training.
const MEMBERS: [&str; 5] = ["in", "member", "members", "included", "train"];
/// Words that say it where the log is known to be about membership.
const YES: [&str; 6] = ["1", "true", "yes", "training", "trained", "seen"];

/// Whether a secret is called by a word for members, in a log that is about membership.
pub fn is_member(secret: &str) -> bool {
    is_one_of(secret, &MEMBERS) || is_one_of(secret, &YES)
}

/// Words by which columns are called that say which records were in a training.
const COLUMNS: [&str; 19] = [
    "in training set",
    "in train set",
    "in training data",
    "mia label",
    "membership label",
    "seen",
    "member",
    "members",
    "is member",
    "ismember",
    "membership",
    "in train",
    "in training",
    "is train",
    "is in train",
    "is in training",
    "trained on",
    "canary in",
    "included",
];

/// Whether two secrets are members and others, by their names or by that of their column.
pub(super) fn are_named(log: &Log) -> bool {
    let secrets = &log.secrets;
    let named = secrets.iter().filter(|secret| is_one_of(secret, &MEMBERS));
    let column = log.facts.secret_column.replace(['_', '-', '.'], " ");
    secrets.len() == 2 && (named.count() == 1 || is_one_of(&column, &COLUMNS))
}

fn is_one_of(secret: &str, words: &[&str]) -> bool {
    words.contains(&secret.to_lowercase().as_str())
}
