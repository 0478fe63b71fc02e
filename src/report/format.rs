//! The formats of a report.

/// How a report is written to standard output. A new format needs its variant here and a renderer of
/// `Document`; the command line's names follow.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Format {
    /// For reading in a terminal.
    #[default]
    Text,
    /// For scripts; the keys are stable.
    Json,
    /// For tickets and documents.
    Markdown,
}

impl Format {
    /// All formats, in the order of the help.
    pub const ALL: [Format; 3] = [Format::Text, Format::Json, Format::Markdown];

    /// Its name on the command line, and what it is for.
    pub fn about(self) -> (&'static str, &'static str) {
        match self {
            Format::Text => ("text", "Text for a terminal"),
            Format::Json => ("json", "JSON for scripts, with stable keys"),
            Format::Markdown => ("markdown", "Markdown for tickets and documents"),
        }
    }
}
