//! The README and the book: their examples print what they say, their links lead somewhere, every page is listed.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// A README beyond this is a manual, and belongs into the book.
const MAX_README_BYTES: u64 = 12 * 1024;

#[test]
fn the_examples_of_the_readme_and_the_book_are_what_the_program_prints() {
    trycmd::TestCases::new().case("README.md").case("docs/*.md");
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
