//! The rules of the house, kept by reading the sources: files without circles, no flags of the command line in
//! libraries, files and functions of a length that one can read.

mod circles;
mod source;
mod text;

use std::path::Path;

use circles::{circles, graph, imports_of};
use source::{
    Source, all_sources, end_of_item, is_word, packages, position, production, without_text,
    word_at,
};

/// Circles that are known and on their way out: a crate, and files of it that import each other.
const KNOWN_CIRCLES: &[(&str, &[&str])] = &[];

/// Where libraries name flags of other programs.
const FOREIGN_FLAGS: &[&str] = &[
    // In a message of `leakgauge-timing`, which is no part of the program.
    "--block block --secret class --follow --claim",
    "cargo test --release",
    "aws configure export-credentials --profile {name} --format env",
    "cargo build --release --features",
    "cargo install --path . --features",
    "zstd --long",
];

/// Files that may be longer than [`MAX_FILE_LINES`].
const LONG_FILES: &[&str] = &[
    // One list of cases.
    "tests/mechanism_exact.rs",
];

/// Functions that may be longer than [`MAX_FUNCTION_LINES`]: file and name.
const LONG_FUNCTIONS: &[(&str, &str)] = &[
    // Tests that are one list of cases.
    ("crates/attack/src/tuning/tests.rs", "no_log_is_too_odd"),
    ("tests/bounds.rs", "what_is_wrong_is_said_by_name"),
    (
        "tests/mechanism_text.rs",
        "labels_that_cannot_be_bound_are_named",
    ),
    (
        "tests/mechanism_text.rs",
        "impossible_parameters_are_refused",
    ),
    (
        "tests/permute/command.rs",
        "values_are_randomized_first_and_the_meaning_is_told",
    ),
    (
        "tests/permute/refused.rs",
        "what_cannot_be_done_is_refused_and_nothing_is_written",
    ),
    ("tests/shuffle_cli.rs", "what_cannot_be_is_refused"),
];

const MAX_FILE_LINES: usize = 600;
const MAX_FUNCTION_LINES: usize = 80;

/// A list of exceptions. One that nothing needs any more would hide a relapse, so it fails the test.
struct Exceptions<T: 'static> {
    list: &'static [T],
    is_met: Vec<bool>,
}

impl<T: std::fmt::Debug> Exceptions<T> {
    fn new(list: &'static [T]) -> Self {
        Self {
            list,
            is_met: vec![false; list.len()],
        }
    }

    /// Whether something is an exception, which it then was for.
    fn has(&mut self, is_it: impl Fn(&T) -> bool) -> bool {
        let at = self.list.iter().position(is_it);
        if let Some(at) = at {
            self.is_met[at] = true;
        }
        at.is_some()
    }

    fn unmet(&self) -> Vec<&T> {
        let all = self.list.iter().zip(&self.is_met);
        all.filter(|(_, is_met)| !**is_met)
            .map(|(known, _)| known)
            .collect()
    }

    fn assert_all_met(&self) {
        let unmet = self.unmet();
        assert!(
            unmet.is_empty(),
            "exceptions that nothing needs, to be removed from their list: {unmet:?}"
        );
    }
}

#[test]
fn an_exception_that_nothing_needs_is_found() {
    let mut known = Exceptions::new(&["a", "b"]);
    assert!(known.has(|known| *known == "b") && !known.has(|known| *known == "c"));
    assert_eq!(known.unmet(), [&"a"]);
}

#[test]
fn files_have_no_circles() {
    let mut found = String::new();
    let mut known = Exceptions::new(KNOWN_CIRCLES);
    for package in packages() {
        let graph = graph(&package);
        let name = package.display().to_string();
        for circle in circles(&graph) {
            let names: Vec<&str> = circle.iter().map(String::as_str).collect();
            if !known.has(|known| known.0 == name && known.1 == names) {
                let imports = imports_of(&graph, &circle);
                found += &format!("{name}: {}\n{imports}", names.join(", "));
            }
        }
    }
    assert!(found.is_empty(), "files in circles:\n{found}");
    known.assert_all_met();
}

/// The reading that the test above rests on sees imports where they are.
#[test]
fn imports_are_seen() {
    let graph = graph(Path::new(""));
    for (file, used) in [
        ("report/pairs.rs", "audit/figures/pairs/mod.rs"),
        ("compare/mod.rs", "audit/mod.rs"),
        ("audit/judge.rs", "audit/plan.rs"),
    ] {
        let uses = graph.get(file).is_some_and(|uses| uses.contains(used));
        assert!(uses, "{file} uses {used}: {:?}", graph.get(file));
    }
}

#[test]
fn texts_are_blank() {
    let (code, strings) = without_text("a /* \" */ \"b{\" 'c' r#\"d\"# // e\n'f");
    let code = String::from_utf8(code).expect("text");
    assert!(
        !code.contains(['{', 'd', 'e']) && code.ends_with("'f"),
        "{code}"
    );
    let strings: Vec<&str> = strings.iter().map(|(_, text)| text.as_str()).collect();
    assert_eq!(strings[0], "b{");
}

/// Whether a text names a flag: two dashes at the beginning of a word.
fn names_a_flag(text: &str) -> bool {
    text.match_indices("--").any(|(at, _)| {
        let before = text[..at].chars().next_back();
        let after = text[at + 2..].chars().next();
        after.is_some_and(|letter| letter.is_ascii_lowercase())
            && before.is_none_or(|letter| !is_word(letter) && letter != '-')
    })
}

#[test]
fn only_the_command_line_names_its_flags() {
    let mut found = String::new();
    let mut known = Exceptions::new(FOREIGN_FLAGS);
    for package in packages()
        .iter()
        .filter(|package| !package.starts_with("audits"))
    {
        for source in production(package) {
            if source.path.starts_with("src/cli") || source.path == Path::new("src/main.rs") {
                continue;
            }
            for (at, text) in source.strings.iter().filter(|(_, text)| names_a_flag(text)) {
                let foreign = FOREIGN_FLAGS.iter().filter(|flags| {
                    known.has(|foreign| foreign == *flags && text.contains(foreign))
                });
                let own = foreign.fold(text.clone(), |text, flags| text.replace(flags, ""));
                if names_a_flag(&own) {
                    found += &format!("{}:{}: {text}\n", source.name(), source.line(*at));
                }
            }
        }
    }
    assert!(found.is_empty(), "flags outside of src/cli:\n{found}");
    known.assert_all_met();
}

#[test]
fn files_are_short() {
    let mut known = Exceptions::new(LONG_FILES);
    let found: Vec<String> = all_sources()
        .iter()
        .filter(|source| {
            source.lines > MAX_FILE_LINES && !known.has(|known| *known == source.name())
        })
        .map(|source| format!("{} lines  {}", source.lines, source.name()))
        .collect();
    assert!(
        found.is_empty(),
        "over {MAX_FILE_LINES} lines:\n{}",
        found.join("\n")
    );
    known.assert_all_met();
}

/// The functions of a file: line, name, lines from `fn` to the closing brace.
fn functions(source: &Source) -> Vec<(usize, String, usize)> {
    let mut found = Vec::new();
    let mut from = 0;
    while let Some(at) = position(&source.code, b"fn ", from) {
        from = at + 3;
        let name = word_at(&source.code, from);
        let is_whole = at == 0 || !is_word(char::from(source.code[at - 1]));
        if !is_whole || name.is_empty() {
            continue;
        }
        let end = end_of_item(&source.code, from);
        let lines = 1 + source.line(end) - source.line(at);
        found.push((source.line(at), name.to_owned(), lines));
    }
    found
}

#[test]
fn functions_are_short() {
    let mut found = String::new();
    let mut count = 0;
    let mut known = Exceptions::new(LONG_FUNCTIONS);
    for source in all_sources() {
        for (line, name, lines) in functions(&source) {
            count += 1;
            if lines > MAX_FUNCTION_LINES
                && !known.has(|known| known.0 == source.name() && known.1 == name)
            {
                found += &format!("{lines} lines  {name}, {}:{line}\n", source.name());
            }
        }
    }
    assert!(count > 1000, "only {count} functions are seen");
    assert!(
        found.is_empty(),
        "over {MAX_FUNCTION_LINES} lines:\n{found}"
    );
    known.assert_all_met();
}
