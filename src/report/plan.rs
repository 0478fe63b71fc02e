//! How many rows an audit needs, and whether a log could have shown a leak.

use crate::audit::Detection;
use crate::power::RowsPlan;
use crate::report::document::Document;
use crate::report::sentences::power;
use leakgauge_base::Tool;

/// The report of a plan.
pub fn document(plan: &RowsPlan) -> Document {
    let mut document = Document::default();
    let tool = Tool::default();
    document.paragraph(format!("{} {}", tool.name, tool.version));
    document.heading("Rows");
    document.paragraph(power::answer(plan));
    document.list(power::grounds(plan));
    document
}

/// The answer alone.
pub fn brief(plan: &RowsPlan) -> Document {
    let mut document = Document::default();
    document.paragraph(power::answer(plan));
    document
}

/// Whether a log could have shown a leak, and what that rests on.
pub fn detection(document: &mut Document, detection: &Detection) {
    document.paragraph(power::headline(detection));
    document.list(vec![power::reason(detection)]);
}
