//! Names of columns that are not their own.

use std::collections::{HashMap, HashSet};

/// The names of columns, each once: of several equal ones, `x (1)`, `x (2)`, …
pub(crate) fn numbered(names: Vec<String>) -> Vec<String> {
    let mut times: HashMap<&str, usize> = HashMap::new();
    for name in &names {
        *times.entry(name).or_default() += 1;
    }
    if times.len() == names.len() {
        return names;
    }
    let mut taken: HashSet<String> = names.iter().cloned().collect();
    let mut given: HashMap<&str, usize> = HashMap::new();
    let mut unique = Vec::with_capacity(names.len());
    for name in &names {
        if times[name.as_str()] == 1 {
            unique.push(name.clone());
            continue;
        }
        let number = given.entry(name).or_default();
        unique.push(loop {
            *number += 1;
            let own = format!("{name} ({number})");
            if taken.insert(own.clone()) {
                break own;
            }
        });
    }
    unique
}
