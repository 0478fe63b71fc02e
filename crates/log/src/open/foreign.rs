//! Texts that are no logs, told by their first bytes: what each is, and what to do about it.

use crate::unpack::without_packing;
use leakgauge_base::error::{Error, Result};

/// Refuses what no log begins with.
///
/// # Errors
/// A pointer to a file that is elsewhere, a page, a notebook.
pub(super) fn refuse(name: &str, head: &[u8]) -> Result<()> {
    let head = head.trim_ascii_start();
    let lower = head[..head.len().min(64)].to_ascii_lowercase();
    let holds = |word: &[u8]| head.windows(word.len()).any(|part| part == word);
    let is_object = head.starts_with(b"{");
    let (what, hint) = if head.starts_with(b"version https://git-lfs.github.com/spec/") {
        (
            "is a pointer of Git LFS, and the log itself is not here",
            "fetch it: git lfs pull",
        )
    } else if head.starts_with(b"/annex/objects/") || head.starts_with(b".git/annex/") {
        (
            "is a pointer of git-annex, and the log itself is not here",
            "fetch it: git annex get",
        )
    } else if lower.starts_with(b"<!doctype html") || lower.starts_with(b"<html") {
        (
            "is a page of HTML, no log",
            "download the file itself, which on code hosts is behind Raw; save a table of a page as CSV",
        )
    } else if lower.starts_with(b"<?xml") || lower.starts_with(b"<!doctype") {
        (
            "is XML, which is not read",
            "save its rows as CSV or as JSON lines",
        )
    } else if is_object && head[1..].trim_ascii_start().starts_with(b"'") {
        (
            "holds dicts as Python prints them, which are no JSON",
            "write each with json.dumps, one a line",
        )
    } else if is_object
        && holds(b"\"cells\"")
        && (holds(b"\"cell_type\"") || holds(b"\"nbformat\""))
    {
        (
            "is a Jupyter notebook: it holds a program, not the rows of a log",
            "write the rows to a file in it: frame.to_csv('log.csv', index=False)",
        )
    } else {
        return Ok(());
    };
    Err(Error::file(name, what).with_hint(hint))
}

/// Whether a file is written for readers, by its name.
pub(crate) fn is_document(name: &str) -> bool {
    const ENDINGS: [&str; 12] = [
        ".md",
        ".markdown",
        ".rst",
        ".adoc",
        ".html",
        ".htm",
        ".pdf",
        ".ipynb",
        ".py",
        ".sh",
        ".png",
        ".svg",
    ];
    const NAMES: [&str; 5] = ["readme", "license", "changelog", "authors", "citation"];
    let name = without_packing(name).to_ascii_lowercase();
    let name = name.rsplit(['/', '\\']).next().unwrap_or_default();
    let stem = name.split('.').next().unwrap_or_default();
    NAMES.contains(&stem) || ENDINGS.iter().any(|end| name.ends_with(end))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_log_is_named() {
        for (text, word) in [
            (
                "version https://git-lfs.github.com/spec/v1\noid sha256:0\n",
                "Git LFS",
            ),
            ("/annex/objects/SHA256E-s1--0.csv\n", "git-annex"),
            ("\n<!DOCTYPE HTML>\n<html>", "HTML"),
            ("<?xml version=\"1.0\"?>", "XML"),
            ("{\n \"cells\": [{\"cell_type\": \"code\"}]}", "notebook"),
        ] {
            let error = refuse("x", text.as_bytes()).unwrap_err();
            assert!(error.problem().contains(word), "{error}");
            assert!(error.hint().is_some());
        }
        let printed = refuse("x", b"{'secret': 'a', 'time': 1}").unwrap_err();
        assert!(printed.hint().unwrap().contains("json.dumps"), "{printed}");
        for log in [
            "secret,time\na,1\n",
            "<1ms,a\n",
            "{\"cells\":3,\"secret\":1}",
        ] {
            assert!(refuse("x", log.as_bytes()).is_ok(), "{log}");
        }
    }

    #[test]
    fn documents_are_told_by_their_names() {
        for name in ["logs/README", "README.md.gz", "a/License.txt", "plot.PNG"] {
            assert!(is_document(name), "{name}");
        }
        for name in ["log.csv", "readme-times.csv", "md", "x.txt", "a.md/log.csv"] {
            assert!(!is_document(name), "{name}");
        }
    }
}
