//! The README and the book: their examples print what they say, their links lead somewhere, every page is listed.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// A README beyond this is a manual, and belongs into the book.
const MAX_README_BYTES: u64 = 12 * 1024;

#[test]
fn the_examples_of_the_readme_and_the_book_are_what_the_program_prints() {
    let directory = tempfile::tempdir().expect("a directory");
    let pages: Vec<Page> = pages()
        .into_iter()
        .map(|page| Page::new(page, directory.path()))
        .collect();
    let cases = trycmd::TestCases::new();
    for page in &pages {
        cases.case(&page.copy);
    }
}

/// A page whose exit codes stand in comments, where they are no riddle, and a copy of it that has them where the test
/// looks for them. The page is written back if it is to be overwritten, also where it was found to differ.
struct Page {
    page: PathBuf,
    copy: PathBuf,
}

impl Page {
    fn new(page: PathBuf, directory: &Path) -> Self {
        let copy = directory.join(page.file_name().expect("a name"));
        fs::write(&copy, with_exit_codes(&read(&page))).expect("a copy");
        Page { page, copy }
    }
}

impl Drop for Page {
    fn drop(&mut self) {
        if std::env::var_os("TRYCMD").is_some_and(|action| action == "overwrite") {
            let copy = read(&self.copy);
            let lines = copy.lines().filter(|line| !line.starts_with("? "));
            let text: String = lines.flat_map(|line| [line, "\n"]).collect();
            fs::write(&self.page, text).expect("a page");
        }
    }
}

/// A page whose exit codes stand below their commands: those of a block stand in a comment before it, in order. A command
/// for which there is none succeeds.
fn with_exit_codes(page: &str) -> String {
    let mut text = String::new();
    let mut codes = Vec::new().into_iter();
    for line in page.lines() {
        text += line;
        text.push('\n');
        if let Some(found) = line.strip_prefix("<!-- exit code") {
            let found = found.trim_start_matches('s').trim_end_matches("-->");
            codes = found
                .split(',')
                .map(|code| code.trim().to_owned())
                .collect::<Vec<_>>()
                .into_iter();
        }
        if line.starts_with("$ ")
            && let Some(code) = codes.next()
        {
            text += &format!("? {code}\n");
        }
    }
    text
}

#[test]
fn the_readme_is_short() {
    let size = fs::metadata(root().join("README.md"))
        .expect("a README")
        .len();
    assert!(size <= MAX_README_BYTES, "README.md has {size} bytes");
}

#[test]
fn every_page_of_the_book_is_in_its_summary() {
    let listed: BTreeSet<String> = links(&read(&root().join("docs/SUMMARY.md")))
        .into_iter()
        .collect();
    let pages: BTreeSet<String> = pages()
        .iter()
        .filter_map(|page| Some(page.file_name()?.to_str()?.to_owned()))
        .filter(|name| name.ends_with(".md") && name != "SUMMARY.md" && name != "README.md")
        .collect();
    let missing: Vec<_> = pages.difference(&listed).collect();
    assert!(
        missing.is_empty(),
        "docs/SUMMARY.md does not list {missing:?}: add a line `- [Title](page.md)` for each"
    );
}

#[test]
fn every_link_between_files_leads_to_a_file_and_a_heading() {
    let mut broken = Vec::new();
    for page in pages() {
        let directory = page.parent().expect("a directory");
        for link in links(&read(&page)) {
            if link.contains("://") || link.starts_with("mailto:") {
                continue;
            }
            let (path, heading) = link.split_once('#').unwrap_or((&link, ""));
            let target = if path.is_empty() {
                page.clone()
            } else {
                directory.join(path)
            };
            let has_heading = || headings(&read(&target)).contains(heading);
            if !target.exists() || !heading.is_empty() && !has_heading() {
                broken.push(format!("{}: {link}", page.display()));
            }
        }
    }
    assert!(broken.is_empty(), "broken links:\n{}", broken.join("\n"));
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The README and every page of the book.
fn pages() -> Vec<PathBuf> {
    let book = fs::read_dir(root().join("docs")).expect("the book");
    book.map(|entry| entry.expect("a page").path())
        .filter(|path| path.extension().is_some_and(|end| end == "md"))
        .chain([root().join("README.md")])
        .collect()
}

fn read(file: &Path) -> String {
    fs::read_to_string(file).unwrap_or_else(|error| panic!("{}: {error}", file.display()))
}

/// The lines of a page that are not code.
fn prose(page: &str) -> impl Iterator<Item = &str> {
    let mut is_code = false;
    page.lines().filter(move |line| {
        let is_fence = line.trim_start().starts_with("```");
        is_code ^= is_fence;
        !is_code && !is_fence
    })
}

/// The targets of all links and pictures of a page.
fn links(page: &str) -> Vec<String> {
    let mut links = Vec::new();
    for line in prose(page) {
        // What stands between backticks is code.
        let text: String = line.split('`').step_by(2).collect();
        let targets = text
            .split("](")
            .skip(1)
            .filter_map(|rest| rest.split_once(')'));
        links.extend(targets.map(|(target, _)| target.to_owned()));
    }
    links
}

/// The anchors of a page's headings, as mdBook and code forges write them.
fn headings(page: &str) -> BTreeSet<String> {
    let titles = prose(page).filter(|line| line.starts_with('#'));
    let anchor = |title: &str| {
        let kept = title.trim_start_matches('#').trim().to_lowercase();
        let kept = kept
            .chars()
            .filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
        kept.map(|c| if c == ' ' { '-' } else { c }).collect()
    };
    titles.map(anchor).collect()
}
