//! The rules of the house, kept by reading the sources: modules without circles, no flags of the command line in
//! libraries, files and functions of a length that one can read.

mod source;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use source::{
    Source, all_sources, end_of_block, end_of_item, is_word, packages, position, production,
    without_text, word_at,
};

/// Circles that are known and on their way out: a crate, and modules of it that import each other.
const KNOWN_CIRCLES: &[(&str, &[&str])] = &[];

/// Where libraries name flags of other programs.
const FOREIGN_FLAGS: &[&str] = &[
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

/// The names that a path or a braced list of paths begins with.
fn first_names(code: &[u8], from: usize) -> Vec<&str> {
    if code.get(from) != Some(&b'{') {
        return vec![word_at(code, from)];
    }
    let mut names = Vec::new();
    let (mut depth, mut is_first) = (0, true);
    for at in from..end_of_block(code, from) {
        match code[at] {
            b'{' => depth += 1,
            b'}' => depth -= 1,
            b',' if depth == 1 => is_first = true,
            byte if depth == 1 && is_first && is_word(char::from(byte)) => {
                names.push(word_at(code, at));
                is_first = false;
            }
            _ => {}
        }
    }
    names
}

/// The names below the root of the crate that a file uses: by `crate::`, or by as many `super::` as it is deep.
fn names_of_root(source: &Source, directory: &Path) -> Vec<String> {
    let inside = source.children();
    let depth = inside
        .strip_prefix(directory)
        .expect("a file of the crate")
        .components()
        .count();
    let supers = "super::".repeat(depth);
    let mut names = Vec::new();
    for prefix in ["crate::", &supers] {
        let mut from = 0;
        while let Some(at) = position(&source.code, prefix.as_bytes(), from) {
            from = at + prefix.len();
            let is_whole = at == 0 || !matches!(source.code[at - 1], b':' | b'_' | b'a'..=b'z');
            if is_whole && !prefix.is_empty() {
                names.extend(
                    first_names(&source.code, from)
                        .into_iter()
                        .map(str::to_owned),
                );
            }
            if prefix.is_empty() {
                break;
            }
        }
    }
    names
}

/// Which module each name is from that the root of the crate passes on: `pub use module::Name`.
fn passed_on(lib: &Source) -> BTreeMap<String, String> {
    let mut names = BTreeMap::new();
    let mut from = 0;
    while let Some(at) = position(&lib.code, b"use ", from) {
        from = position(&lib.code, b";", at).unwrap_or(lib.code.len());
        let path = String::from_utf8_lossy(&lib.code[at + 4..from]).into_owned();
        let path = path
            .trim_start_matches("crate::")
            .trim_start_matches("self::");
        let Some((module, rest)) = path.split_once("::") else {
            continue;
        };
        for name in rest
            .split(|letter| !is_word(letter))
            .filter(|name| !name.is_empty())
        {
            names.insert(name.to_owned(), module.to_owned());
        }
    }
    names
}

/// For each top-level module, the ones that it uses, and in which files.
type Graph = BTreeMap<String, BTreeMap<String, BTreeSet<String>>>;

fn graph(package: &Path) -> Graph {
    let directory = package.join("src");
    let sources = production(package);
    let module = |source: &Source| -> String {
        let first = source
            .path
            .strip_prefix(&directory)
            .ok()
            .and_then(|path| path.components().next())
            .expect("a file of the crate");
        let name = Path::new(first.as_os_str()).with_extension("");
        name.display().to_string()
    };
    let is_root = |name: &str| ["lib", "main", "bin"].contains(&name);
    let modules: BTreeSet<String> = sources
        .iter()
        .map(module)
        .filter(|name| !is_root(name))
        .collect();
    let passed: BTreeMap<String, String> = sources
        .iter()
        .filter(|source| source.path == directory.join("lib.rs"))
        .flat_map(passed_on)
        .collect();
    let mut graph = Graph::new();
    for source in sources.iter().filter(|source| !is_root(&module(source))) {
        for name in names_of_root(source, &directory) {
            let name = if modules.contains(&name) {
                name
            } else {
                passed.get(&name).cloned().unwrap_or(name)
            };
            if modules.contains(&name) && name != module(source) {
                let uses = graph.entry(module(source)).or_default();
                uses.entry(name).or_default().insert(source.name());
            }
        }
    }
    graph
}

fn reachable(graph: &Graph, from: &str) -> BTreeSet<String> {
    let mut reached = BTreeSet::new();
    let mut open = vec![from.to_owned()];
    while let Some(module) = open.pop() {
        for next in graph.get(&module).into_iter().flat_map(BTreeMap::keys) {
            if reached.insert(next.clone()) {
                open.push(next.clone());
            }
        }
    }
    reached
}

/// The sets of modules that reach each other.
fn circles(graph: &Graph) -> BTreeSet<BTreeSet<String>> {
    let reach: BTreeMap<&String, BTreeSet<String>> = graph
        .keys()
        .map(|module| (module, reachable(graph, module)))
        .collect();
    reach
        .iter()
        .filter(|(module, reached)| reached.contains(**module))
        .map(|(module, reached)| {
            let back = |other: &&String| reach.get(other).is_some_and(|all| all.contains(*module));
            reached.iter().filter(back).cloned().collect()
        })
        .collect()
}

/// The imports of a circle, a line each.
fn imports(graph: &Graph, circle: &BTreeSet<String>) -> String {
    let mut lines = String::new();
    for module in circle {
        for (used, files) in graph.get(module).into_iter().flatten() {
            if circle.contains(used) {
                let files: Vec<&str> = files.iter().map(String::as_str).collect();
                lines += &format!("  {module} uses {used} in {}\n", files.join(", "));
            }
        }
    }
    lines
}

#[test]
fn modules_have_no_circles() {
    let mut found = String::new();
    let mut known = Exceptions::new(KNOWN_CIRCLES);
    for package in packages() {
        let graph = graph(&package);
        let name = package.display().to_string();
        for circle in circles(&graph) {
            let names: Vec<&str> = circle.iter().map(String::as_str).collect();
            if !known.has(|known| known.0 == name && known.1 == names) {
                found += &format!("{name}: {}\n{}", names.join(", "), imports(&graph, &circle));
            }
        }
    }
    assert!(found.is_empty(), "modules in circles:\n{found}");
    known.assert_all_met();
}

/// The reading that the test above rests on sees imports where they are.
#[test]
fn circles_are_found() {
    let graph = graph(Path::new(""));
    for (module, used) in [("report", "audit"), ("compare", "audit")] {
        let uses = graph
            .get(module)
            .is_some_and(|uses| uses.contains_key(used));
        assert!(uses, "{module} uses {used}");
    }
    let edge = |to: &str| BTreeMap::from([(to.to_owned(), BTreeSet::from(["file".to_owned()]))]);
    let ring = Graph::from([
        ("a".to_owned(), edge("b")),
        ("b".to_owned(), edge("c")),
        ("c".to_owned(), edge("b")),
    ]);
    let circle = BTreeSet::from(["b".to_owned(), "c".to_owned()]);
    assert_eq!(circles(&ring), BTreeSet::from([circle]));
    let code = b"crate::{a::{b, c}, d::e, f}; crate::g::h";
    assert_eq!(first_names(code, 7), ["a", "d", "f"]);
    assert_eq!(first_names(code, 36), ["g"]);
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
