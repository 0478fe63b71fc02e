//! The p-value of "no leak at all" in words.

use crate::audit::NoLeak;
use crate::report::words::p_value_of;

/// How it was tested.
pub fn test(found: &NoLeak) -> String {
    if found.of_units {
        return "permutation test of the secrets of all units, each unit counting once".to_owned();
    }
    let columns = match found.columns {
        1 => String::new(),
        n => format!(", {n} columns one by one, corrected (Bonferroni)"),
    };
    format!("permutation test of all secrets together{columns}")
}

/// The p-value in a sentence, and why it may seem to contradict the limits of an attack: whether one is above 0, and α.
pub fn sentence(found: &NoLeak, proven: bool, alpha: f64) -> String {
    let p_value = p_value_of(found.p_value);
    let note = match (proven, found.p_value <= alpha) {
        (true, false) => {
            " This test can miss a difference that an attack finds. The limit of the attack counts."
        }
        (false, true) => {
            " This test uses all rows, also those that attacks learned from, and can find a difference that the attack missed on its certification rows."
        }
        _ => "",
    };
    format!("Test of no leak at all: {p_value} ({}).{note}", test(found))
}
