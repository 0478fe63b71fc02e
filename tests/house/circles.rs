//! Which files of a crate use which others, read from their text.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use super::source::{end_of_block, is_word, position, production, word_at};

/// A module, by the names of its path below the root of the crate; the root has none.
type Module = Vec<String>;

/// For each file, the files that it uses.
pub type Graph = BTreeMap<String, BTreeSet<String>>;

/// A file: its module, its name, its code without comments and tests.
struct File {
    module: Module,
    name: String,
    code: Vec<u8>,
}

/// The files of a package. The root only passes names on.
pub fn graph(package: &Path) -> Graph {
    let directory = package.join("src");
    let files = production(package).into_iter().filter_map(|source| {
        let inside = source.path.strip_prefix(&directory).ok()?.to_owned();
        let module = module_of(&inside)?;
        Some(File {
            module,
            name: inside.display().to_string(),
            code: source.code,
        })
    });
    graph_of(&files.collect::<Vec<_>>())
}

/// The module of a file below `src`; `None` of a program.
fn module_of(path: &Path) -> Option<Module> {
    let mut module: Module = path
        .with_extension("")
        .components()
        .map(|part| part.as_os_str().to_string_lossy().into_owned())
        .collect();
    match module.last().map(String::as_str) {
        Some("main") => return None,
        Some("mod" | "lib") => drop(module.pop()),
        _ => {}
    }
    (module.first().map(String::as_str) != Some("bin")).then_some(module)
}

fn graph_of(files: &[File]) -> Graph {
    let names: BTreeMap<&Module, &str> = files
        .iter()
        .filter(|file| !file.module.is_empty())
        .map(|file| (&file.module, file.name.as_str()))
        .collect();
    let passed_on = passed_on(files);
    let mut graph = Graph::new();
    for file in files.iter().filter(|file| !file.module.is_empty()) {
        let uses = imports(&file.code)
            .into_iter()
            .flat_map(|import| import.paths);
        for path in uses.chain(inline_paths(&file.code)) {
            let target = target(&path, &file.module, &names, &passed_on);
            // What a folder's own file declares is the ground that the files in it stand on.
            let Some(target) = target.filter(|target| !file.module.starts_with(target)) else {
                continue;
            };
            let used = names[&target].to_owned();
            graph.entry(file.name.clone()).or_default().insert(used);
        }
    }
    graph
}

/// Which module each name is really from that a module passes on: `pub use module::Name`.
fn passed_on(files: &[File]) -> BTreeMap<Module, Module> {
    let mut passed_on = BTreeMap::new();
    for file in files {
        for import in imports(&file.code).iter().filter(|one| one.is_public) {
            for path in &import.paths {
                let name = path.last().expect("a path has a name").clone();
                let here: Module = file.module.iter().cloned().chain([name]).collect();
                passed_on.insert(here, resolved(path, &file.module));
            }
        }
    }
    passed_on
}

/// The module that a path leads to, by way of names that are passed on.
fn target(
    path: &[String],
    module: &Module,
    names: &BTreeMap<&Module, &str>,
    passed_on: &BTreeMap<Module, Module>,
) -> Option<Module> {
    let mut full = resolved(path, module);
    for _ in 0..8 {
        let known = (1..=full.len()).rev().find_map(|length| {
            let (front, rest) = full.split_at(length);
            let is_module = names.contains_key(&front.to_vec());
            let origin = passed_on.get(front).filter(|_| !is_module)?;
            Some([origin, rest].concat())
        });
        match known {
            Some(origin) if origin != full => full = origin,
            _ => break,
        }
    }
    while !full.is_empty() && !names.contains_key(&full) {
        full.pop();
    }
    (!full.is_empty()).then_some(full)
}

/// A path from the root of the crate.
fn resolved(path: &[String], module: &Module) -> Module {
    let mut base = module.clone();
    let mut rest = path;
    match path.first().map(String::as_str) {
        Some("crate") => (base, rest) = (Module::new(), &path[1..]),
        Some("self") => rest = &path[1..],
        _ => {}
    }
    while rest.first().is_some_and(|name| name == "super") {
        base.pop();
        rest = &rest[1..];
    }
    [base.as_slice(), rest].concat()
}

/// A `use` item.
struct Import {
    is_public: bool,
    paths: Vec<Vec<String>>,
}

fn imports(code: &[u8]) -> Vec<Import> {
    let mut found = Vec::new();
    let mut from = 0;
    while let Some(at) = position(code, b"use ", from) {
        from = at + 4;
        if at > 0 && is_word(char::from(code[at - 1])) {
            continue;
        }
        let end = position(code, b";", at).unwrap_or(code.len());
        let mut paths = Vec::new();
        leaves(&code[from..end], &[], &mut paths);
        let before = String::from_utf8_lossy(&code[at.saturating_sub(40)..at]).into_owned();
        let line = before.rsplit(['\n', ';', '}']).next().unwrap_or_default();
        found.push(Import {
            is_public: line.trim_start().starts_with("pub"),
            paths,
        });
        from = end;
    }
    found
}

/// The paths of a tree such as `a::{b, c::{self, D as E}}`.
fn leaves(tree: &[u8], prefix: &[String], paths: &mut Vec<Vec<String>>) {
    let open = position(tree, b"{", 0).unwrap_or(tree.len());
    let text = String::from_utf8_lossy(&tree[..open]).into_owned();
    let text = text.split(" as ").next().unwrap_or_default();
    let names = text.split("::").map(str::trim);
    let names = names.filter(|name| !name.is_empty() && (*name != "self" || prefix.is_empty()));
    let path: Vec<String> = prefix
        .iter()
        .cloned()
        .chain(names.map(str::to_owned))
        .collect();
    if open == tree.len() {
        if !path.is_empty() {
            paths.push(path);
        }
        return;
    }
    let inside = &tree[open + 1..end_of_block(tree, open) - 1];
    let (mut depth, mut start) = (0, 0);
    for (at, byte) in inside.iter().enumerate() {
        match byte {
            b'{' => depth += 1,
            b'}' => depth -= 1,
            b',' if depth == 0 => {
                if !inside[start..at].trim_ascii().is_empty() {
                    leaves(&inside[start..at], &path, paths);
                }
                start = at + 1;
            }
            _ => {}
        }
    }
    if !inside[start..].trim_ascii().is_empty() {
        leaves(&inside[start..], &path, paths);
    }
}

/// Paths that begin with `crate::` or `super::`, in `use` items or not.
fn inline_paths(code: &[u8]) -> Vec<Vec<String>> {
    let mut found = Vec::new();
    for first in ["crate", "super"] {
        let mut from = 0;
        let start = format!("{first}::");
        while let Some(at) = position(code, start.as_bytes(), from) {
            from = at + start.len();
            if at > 0 && (is_word(char::from(code[at - 1])) || code[at - 1] == b':') {
                continue;
            }
            let mut path = vec![first.to_owned()];
            let mut next = from;
            loop {
                let name = word_at(code, next);
                if name.is_empty() {
                    break;
                }
                path.push(name.to_owned());
                next += name.len();
                if !code[next..].starts_with(b"::") {
                    break;
                }
                next += 2;
            }
            if path.len() > 1 {
                found.push(path);
            }
        }
    }
    found
}

fn reachable(graph: &Graph, from: &str) -> BTreeSet<String> {
    let mut reached = BTreeSet::new();
    let mut open = vec![from.to_owned()];
    while let Some(file) = open.pop() {
        for next in graph.get(&file).into_iter().flatten() {
            if reached.insert(next.clone()) {
                open.push(next.clone());
            }
        }
    }
    reached
}

/// The sets of files that reach each other.
pub fn circles(graph: &Graph) -> BTreeSet<BTreeSet<String>> {
    let reach: BTreeMap<&String, BTreeSet<String>> = graph
        .keys()
        .map(|file| (file, reachable(graph, file)))
        .collect();
    reach
        .iter()
        .filter(|(file, reached)| reached.contains(**file))
        .map(|(file, reached)| {
            let back = |other: &&String| reach.get(other).is_some_and(|all| all.contains(*file));
            reached.iter().filter(back).cloned().collect()
        })
        .collect()
}

/// The imports of a circle, a line each.
pub fn imports_of(graph: &Graph, circle: &BTreeSet<String>) -> String {
    let mut lines = String::new();
    for file in circle {
        for used in graph.get(file).into_iter().flatten() {
            if circle.contains(used) {
                lines += &format!("  {file} uses {used}\n");
            }
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    fn graph_of_texts(texts: &[(&str, &str)]) -> Graph {
        let file = |&(name, code): &(&str, &str)| File {
            module: module_of(Path::new(name)).expect("a module"),
            name: name.to_owned(),
            code: code.as_bytes().to_vec(),
        };
        graph_of(&texts.iter().map(file).collect::<Vec<_>>())
    }

    fn only_circle(texts: &[(&str, &str)]) -> Vec<String> {
        let mut found = circles(&graph_of_texts(texts)).into_iter();
        let circle = found.next().unwrap_or_default();
        assert!(found.next().is_none(), "one circle");
        circle.into_iter().collect()
    }

    #[test]
    fn a_circle_inside_a_folder_is_found_whatever_way_it_takes() {
        let ring = ["a/b.rs", "a/c.rs"];
        for back in [
            "use crate::a::b::B;",
            "use super::b::{self, B};",
            "use crate::{a::{b::B as D}, f};",
            "fn f() -> super::b::B {}",
            "fn f() -> crate::a::b::B {}",
            // By the name that the folder passes on, and by the one that the root does.
            "use crate::a::B;",
            "use crate::B;",
        ] {
            let texts = [
                ("lib.rs", "pub mod a; pub use a::B;"),
                ("a/mod.rs", "mod b; mod c; pub(crate) use b::{B, Other};"),
                ("a/b.rs", "use crate::a::c::C; pub struct B;"),
                ("a/c.rs", back),
                ("e.rs", "use crate::a::c::C;"),
            ];
            assert_eq!(only_circle(&texts), ring, "{back}");
        }
    }

    #[test]
    fn files_that_stand_on_each_other_are_no_circle() {
        let texts = [
            ("a/mod.rs", "mod b; mod c; pub use c::C; pub struct A;"),
            ("a/b.rs", "use super::A; use super::C; pub struct B;"),
            ("a/c.rs", "use super::A; pub struct C;"),
            ("d.rs", "use crate::a::C; use std::a::b; use other::d::D;"),
        ];
        let graph = graph_of_texts(&texts);
        assert!(circles(&graph).is_empty(), "{graph:?}");
        assert!(graph["d.rs"].contains("a/c.rs") && graph["a/b.rs"].contains("a/c.rs"));
    }
}
