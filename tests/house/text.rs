//! How words are written.

use std::path::{Path, PathBuf};
use std::process::Command;

use super::source::{all_sources, root};

/// The beginnings of words that American English spells otherwise, in small letters.
const BRITISH: &[&str] = &[
    "analysed",
    "analysing",
    "artefact",
    "behaviour",
    "cancelled",
    "centre",
    "characterise",
    "colour",
    "emphasise",
    "favour",
    "generalis",
    "honour",
    "initialis",
    "labelled",
    "labelling",
    "licence",
    "maximis",
    "memoris",
    "minimis",
    "modelled",
    "modelling",
    "neighbour",
    "normalis",
    "optimise",
    "optimising",
    "organis",
    "penalis",
    "randomis",
    "recognis",
    "regularis",
    "serialis",
    "standardis",
    "summaris",
    "travelled",
    "visualis",
    "whilst",
];

/// Names that others have chosen, and a misspelling that a test is about.
const FOREIGN: &[&str] = &[
    "NearestNeighbour",
    "aria-labelledby",
    "mechanism.randomise",
    "randomised-response(1)",
];

/// The British words of a line.
fn british(line: &str) -> Option<&'static str> {
    let own = FOREIGN
        .iter()
        .fold(line.to_owned(), |line, name| line.replace(name, ""));
    let own = own.to_lowercase();
    BRITISH.iter().copied().find(|word| own.contains(word))
}

/// Texts that git keeps; all below the usual folders where there is no git.
fn texts() -> Vec<PathBuf> {
    let listed = Command::new("git")
        .args([
            "ls-files", "*.rs", "*.md", "*.py", "*.pyi", "*.html", "*.toml",
        ])
        .current_dir(root())
        .output();
    let listed = listed.map(|found| String::from_utf8_lossy(&found.stdout).into_owned());
    let listed: Vec<PathBuf> = listed
        .unwrap_or_default()
        .lines()
        .map(PathBuf::from)
        .collect();
    if listed.is_empty() {
        return all_sources()
            .into_iter()
            .map(|source| source.path)
            .collect();
    }
    listed
}

#[test]
fn spelling_is_american() {
    let own = Path::new("tests/house/text.rs");
    let mut found = String::new();
    let mut count = 0;
    for path in texts().iter().filter(|path| *path != own) {
        let Ok(text) = std::fs::read_to_string(root().join(path)) else {
            continue;
        };
        count += 1;
        for (at, line) in text.lines().enumerate() {
            if let Some(word) = british(line) {
                found += &format!("{}:{}: {word}\n", path.display(), at + 1);
            }
        }
    }
    assert!(count > 500, "only {count} texts are seen");
    assert!(found.is_empty(), "British spellings:\n{found}");
}

#[test]
fn british_words_are_found_and_names_of_others_are_not() {
    assert_eq!(british("/// The Neighbours of a row."), Some("neighbour"));
    assert_eq!(british("use linfa_nn::NearestNeighbourIndex;"), None);
    assert_eq!(british("an optimistic neighbor"), None);
}
