//! The reports of an audit and of a comparison that fit on a screen: at most 25 lines, whatever the logs.

pub mod answer;
pub mod claims;
pub mod comparison;
pub mod doubts;
mod lines;
pub mod next;
pub mod read;
mod times;

use crate::audit::Findings;
use crate::compare::Comparison;
use crate::report::layout::Layout;
use lines::fitted;

/// Lines of the report at most.
const LINES: usize = 25;

/// The report, given the arguments of the command line behind the name of the program.
pub fn text(audit: &Findings, arguments: &[String], layout: &Layout) -> String {
    let width = layout.line_width();
    let sections = [
        read::section(audit),
        claims::section(audit, width),
        claims::detections(audit),
        answer::section(audit),
        doubts::section(audit),
        next::section(audit, arguments, width),
    ];
    let lines = fitted(&sections, (LINES, width)).into_iter();
    lines.map(|line| layout.begun(&line) + "\n").collect()
}

/// The report of a comparison.
pub fn comparison(found: &Comparison, layout: &Layout) -> String {
    let width = layout.line_width();
    let sections = comparison::sections(found, width);
    let lines = fitted(&sections, (LINES, width)).into_iter();
    lines.map(|line| line + "\n").collect()
}
