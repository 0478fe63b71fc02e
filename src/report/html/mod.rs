//! An audit, a comparison, a shuffled or a followed log as one page that needs nothing else: no network. A script sorts and filters tables and copies
//! commands; all is there without it.
//!
//! The page is HTML that is XML too, so that any reader of either can check it.

mod answers;
mod comparison;
mod content;
mod document;
mod documents;
mod name;

use minijinja::syntax::SyntaxConfig;
use minijinja::value::Serde;
use minijinja::{AutoEscape, Environment, UndefinedBehavior};
use serde::Serialize;

use crate::audit::Findings;
use crate::compare::Comparison;
use crate::follow::Line;
use crate::report::layout::MOST_PAIRS;
use content::Content;
use leakgauge_base::error::{Error, Result};

const PAGE: &str = concat!(
    include_str!("macros.html"),
    include_str!("page.html"),
    include_str!("end.html")
);
const DOCUMENT: &str = concat!(
    include_str!("macros.html"),
    include_str!("document.html"),
    include_str!("end.html")
);
const COMPARISON: &str = concat!(
    include_str!("macros.html"),
    include_str!("comparison.html"),
    include_str!("end.html")
);

/// The page of an audit. `command` is shown as what made it, see
/// [`command_line`](crate::report::command_line).
///
/// # Errors
/// None that a log or a command could cause: what the template engine reports.
pub fn page(audit: &Findings, command: &str) -> Result<String> {
    page_with_pairs(audit, command, MOST_PAIRS)
}

/// The same with at most so many pairs: those with the largest lower limits.
///
/// # Errors
/// As of [`page`].
pub fn page_with_pairs(audit: &Findings, command: &str, most_pairs: usize) -> Result<String> {
    render(PAGE, &Content::new(audit, command, most_pairs))
}

/// The page of a comparison. `command` is shown as what made it.
///
/// # Errors
/// None that a log or a command could cause: what the template engine reports.
pub fn comparison_page(found: &Comparison, command: &str) -> Result<String> {
    render(COMPARISON, &comparison::Content::new(found, command))
}

/// The page about a shuffled log. `command` is shown as what made it.
///
/// # Errors
/// None that a log or a command could cause: what the template engine reports.
pub fn permute_page(report: &leakgauge_permute::Report, command: &str) -> Result<String> {
    render(DOCUMENT, &documents::permuted(report, command))
}

/// The page of a log that is followed, given its lines so far. `command` is shown as what made it.
///
/// # Errors
/// None that a log or a command could cause: what the template engine reports.
pub fn follow_page(lines: &[Line], log: &str, command: &str) -> Result<String> {
    render(DOCUMENT, &documents::followed(lines, log, command))
}

fn render(template: &'static str, content: &impl Serialize) -> Result<String> {
    let failed = |error: minijinja::Error| Error::file("the report page", format!("{error:#}"));
    let mut syntax = SyntaxConfig::builder();
    syntax.trim_blocks(true).lstrip_blocks(true);
    let syntax = syntax.build().map_err(failed)?;
    let mut environment = Environment::new();
    environment.set_undefined_behavior(UndefinedBehavior::Strict);
    environment.set_syntax(syntax);
    environment.set_auto_escape_callback(|_| AutoEscape::Html);
    environment
        .add_template("page.html", template)
        .map_err(failed)?;
    let template = environment.get_template("page.html").map_err(failed)?;
    template.render(Serde(content)).map_err(failed)
}

#[cfg(test)]
mod tests;
