//! Sources as text whose comments, literals and tests are blank.

use std::path::{Path, PathBuf};

/// A source file. Positions in `code` are those of the file.
pub struct Source {
    /// Relative to the workspace.
    pub path: PathBuf,
    pub lines: usize,
    /// Bytes in which comments and the insides of literals are blank.
    pub code: Vec<u8>,
    /// Where a string literal begins, and what is in it as written.
    pub strings: Vec<(usize, String)>,
}

impl Source {
    fn read(root: &Path, path: &Path) -> Self {
        let text = std::fs::read_to_string(path).expect("a source file");
        let (code, strings) = without_text(&text);
        Self {
            path: path.strip_prefix(root).expect("a file of ours").to_owned(),
            lines: text.lines().count(),
            code,
            strings,
        }
    }

    pub fn line(&self, at: usize) -> usize {
        1 + self.code[..at]
            .iter()
            .filter(|byte| **byte == b'\n')
            .count()
    }

    pub fn name(&self) -> String {
        self.path.display().to_string()
    }

    /// The directory of the modules that this file declares.
    pub fn children(&self) -> PathBuf {
        let directory = self.path.parent().expect("a file in a directory");
        match self.path.file_stem().and_then(|stem| stem.to_str()) {
            Some("mod" | "lib" | "main") | None => directory.to_owned(),
            Some(stem) => directory.join(stem),
        }
    }

    /// Blanks what is compiled for tests only, and returns the paths of modules that are.
    fn drop_tests(&mut self) -> Vec<PathBuf> {
        const ATTRIBUTE: &[u8] = b"#[cfg(test)]";
        let mut modules = Vec::new();
        let mut from = 0;
        while let Some(start) = position(&self.code, ATTRIBUTE, from) {
            let body = start + ATTRIBUTE.len();
            let end = end_of_item(&self.code, body);
            let item = String::from_utf8_lossy(&self.code[body..end]).into_owned();
            if let Some(name) = item.strip_suffix(';').and_then(|item| {
                let (_, name) = item.rsplit_once("mod ")?;
                name.chars().all(is_word).then(|| name.to_owned())
            }) {
                modules.push(self.children().join(name));
            }
            for byte in &mut self.code[start..end] {
                if *byte != b'\n' {
                    *byte = b' ';
                }
            }
            self.strings.retain(|(at, _)| !(start..end).contains(at));
            from = end;
        }
        modules
    }
}

pub fn is_word(letter: char) -> bool {
    letter.is_alphanumeric() || letter == '_'
}

pub fn word_at(code: &[u8], from: usize) -> &str {
    let length = code[from..]
        .iter()
        .take_while(|byte| is_word(char::from(**byte)))
        .count();
    std::str::from_utf8(&code[from..from + length]).expect("a word of ASCII letters")
}

pub fn position(code: &[u8], what: &[u8], from: usize) -> Option<usize> {
    code.get(from..)?
        .windows(what.len())
        .position(|window| window == what)
        .map(|at| at + from)
}

/// The end of the item that begins here: its first semicolon outside of brackets, or its first block.
pub fn end_of_item(code: &[u8], from: usize) -> usize {
    let mut depth = 0;
    for (at, byte) in code.iter().enumerate().skip(from) {
        match byte {
            b'(' | b'[' => depth += 1,
            b')' | b']' => depth -= 1,
            b';' if depth == 0 => return at + 1,
            b'{' if depth == 0 => return end_of_block(code, at),
            _ => {}
        }
    }
    code.len()
}

/// The end of the block that opens here.
pub fn end_of_block(code: &[u8], open: usize) -> usize {
    let mut depth = 0_usize;
    for (at, byte) in code.iter().enumerate().skip(open) {
        match byte {
            b'{' => depth += 1,
            b'}' if depth == 1 => return at + 1,
            b'}' => depth -= 1,
            _ => {}
        }
    }
    code.len()
}

/// Blanks comments and the insides of literals, so that braces and names that are left are code.
pub fn without_text(text: &str) -> (Vec<u8>, Vec<(usize, String)>) {
    let mut code = text.as_bytes().to_vec();
    let mut strings = Vec::new();
    let mut at = 0;
    while at < text.len() {
        let rest = &text.as_bytes()[at..];
        let after_word = at > 0 && is_word(char::from(text.as_bytes()[at - 1]));
        let (skip, length) = match rest[0] {
            b'/' if rest.starts_with(b"//") => (0, until(rest, 0, b"\n")),
            b'/' if rest.starts_with(b"/*") => (0, until(rest, 2, b"*/")),
            b'"' => (1, quoted(rest, b'"')),
            b'r' if !after_word || text.as_bytes()[at - 1] == b'b' => raw(rest).unwrap_or((0, 0)),
            b'\'' if is_character(rest) => (1, quoted(rest, b'\'')),
            _ => (0, 0),
        };
        if length == 0 {
            at += 1;
            continue;
        }
        let inside = at + skip..at + length - skip;
        if skip > 0 && rest[0] != b'\'' {
            strings.push((at, text[inside.clone()].to_owned()));
        }
        for byte in &mut code[inside] {
            if *byte != b'\n' {
                *byte = b' ';
            }
        }
        at += length;
    }
    (code, strings)
}

fn until(rest: &[u8], from: usize, end: &[u8]) -> usize {
    position(rest, end, from).map_or(rest.len(), |at| at + end.len())
}

/// Length of a quoted literal, its quotes included.
fn quoted(rest: &[u8], quote: u8) -> usize {
    let mut at = 1;
    while at < rest.len() && rest[at] != quote {
        at += if rest[at] == b'\\' { 2 } else { 1 };
    }
    (at + 1).min(rest.len())
}

/// Of a raw string: how far its inside is from either end, and its length.
fn raw(rest: &[u8]) -> Option<(usize, usize)> {
    let hashes = rest[1..].iter().take_while(|byte| **byte == b'#').count();
    if rest.get(1 + hashes) != Some(&b'"') {
        return None;
    }
    let end: Vec<u8> = std::iter::once(b'"')
        .chain(std::iter::repeat_n(b'#', hashes))
        .collect();
    // The opening has one byte more than the closing, which stays in the code as a quote.
    Some((hashes + 1, until(rest, hashes + 2, &end)))
}

/// Whether an apostrophe opens a character and not a lifetime.
fn is_character(rest: &[u8]) -> bool {
    let text = String::from_utf8_lossy(&rest[..rest.len().min(8)]);
    let mut letters = text.chars().skip(1);
    match letters.next() {
        Some('\\') => true,
        Some(_) => letters.next() == Some('\''),
        None => false,
    }
}

pub fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

fn files(directory: &Path, found: &mut Vec<PathBuf>) {
    let Ok(entries) = std::fs::read_dir(directory) else {
        return;
    };
    for entry in entries {
        let path = entry.expect("a readable directory").path();
        if path.is_dir() {
            files(&path, found);
        } else if path.extension().is_some_and(|end| end == "rs") {
            found.push(path);
        }
    }
}

fn sources_in(directories: &[PathBuf]) -> Vec<Source> {
    let mut found = Vec::new();
    for directory in directories {
        files(directory, &mut found);
    }
    found.sort();
    assert!(!found.is_empty(), "no sources in {directories:?}");
    let root = root();
    found.iter().map(|path| Source::read(&root, path)).collect()
}

/// The root package and the members under `crates` and `audits`, relative to the workspace.
pub fn packages() -> Vec<PathBuf> {
    let mut packages = vec![PathBuf::new(), PathBuf::from("python")];
    for directory in ["crates", "audits"] {
        for entry in std::fs::read_dir(root().join(directory)).expect("a directory of crates") {
            packages.push(Path::new(directory).join(entry.expect("an entry").file_name()));
        }
    }
    packages.sort();
    packages
}

/// What a package compiles outside of tests.
pub fn production(package: &Path) -> Vec<Source> {
    let mut sources = sources_in(&[root().join(package).join("src")]);
    let tests: Vec<PathBuf> = sources.iter_mut().flat_map(Source::drop_tests).collect();
    sources.retain(|source| {
        !tests
            .iter()
            .any(|test| source.path.starts_with(test) || source.path == test.with_extension("rs"))
    });
    sources
}

/// Every file of Rust in the workspace.
pub fn all_sources() -> Vec<Source> {
    let inside = ["src", "tests", "benches", "examples"];
    let directories: Vec<PathBuf> = packages()
        .iter()
        .flat_map(|package| inside.map(|directory| root().join(package).join(directory)))
        .collect();
    sources_in(&directories)
}
