//! The p-value of "no leak at all" in words.

use crate::audit::NoLeak;
use crate::report::sentences::claims::p_value_of;

/// How it was tested.
pub fn test(found: &NoLeak) -> String {
    let columns = match found.columns {
        1 => String::new(),
        n => format!(", {n} columns one by one, corrected (Bonferroni)"),
    };
    format!("permutation test of all secrets together{columns}")
}

/// The p-value in a sentence.
pub fn sentence(found: &NoLeak) -> String {
    format!(
        "Against no leak at all: {} ({}).",
        p_value_of(found.p_value),
        test(found)
    )
}
