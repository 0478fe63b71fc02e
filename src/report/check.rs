//! How a log would be read.

use crate::audit::{Input, Reading};
use crate::report::command::{command_line, quoted};
use crate::report::document::Document;
use crate::report::input::{as_read, observed_of_file};
use crate::report::sentences::doubts::{numbered_blocks, within_blocks};
use crate::report::sentences::warnings;
use leakgauge_base::error::{file_listing, shorten};
use leakgauge_base::naming::setting;
use leakgauge_log::observations::ColumnType;
use leakgauge_log::{Glance, SeenColumn};

/// Secrets listed with their rows.
const LISTED_SECRETS: usize = 20;
/// Commands that are shown where the secret is not known.
const COMMANDS: usize = 3;

/// What is read as what, and the doubts alone.
pub fn brief(reading: &Reading) -> Document {
    let input = &reading.input;
    let mut document = Document::default();
    let names = |part: &str| {
        let columns = columns(input).into_iter();
        let names = columns.filter(|column| column.part == part);
        names
            .map(|column| column.name)
            .collect::<Vec<_>>()
            .join(", ")
    };
    document.paragraph(format!(
        "{}: secret {} ({} values), observation {}.",
        file_listing(&input.facts.files),
        names("secret"),
        input.secrets.len(),
        names("observation")
    ));
    let doubts = reading.warnings.iter();
    document.list(
        doubts
            .map(|warning| format!("{}: {}.", warning.code(), warnings::message(warning)))
            .collect(),
    );
    document
}

/// The report.
pub fn document(reading: &Reading, arguments: &[String]) -> Document {
    let input = &reading.input;
    let mut document = Document::default();
    document.heading(format!("How {} is read", file_listing(&input.facts.files)));
    document.list(as_read(input));
    document.heading("Columns");
    let parts = columns(input);
    let line = |part: &ColumnPart| vec![part.name.clone(), part.part.to_owned(), part.kind()];
    document.table(
        vec!["column", "part", "type"],
        3,
        parts.iter().map(line).collect(),
    );
    document.heading("Secrets");
    let secrets = input.secrets.iter().zip(&input.rows_of_secrets);
    let line = |(label, rows): (&String, &u64)| vec![shorten(label), rows.to_string()];
    document.table(
        vec!["secret", "rows"],
        1,
        secrets.take(LISTED_SECRETS).map(line).collect(),
    );
    if input.secrets.len() > LISTED_SECRETS {
        document.paragraph(format!("… {} secrets in all.", input.secrets.len()));
    }
    document.heading("First rows");
    let rows = input.facts.first_rows.rows.iter();
    document.list(rows.map(|row| texts(row)).collect());
    document.heading("Doubts");
    let doubt = |warning| format!("{}.", warnings::message(warning));
    let doubts = reading.warnings.iter();
    let doubts: Vec<String> = doubts
        .map(|warning| format!("{}: {}", warning.code(), doubt(warning)))
        .collect();
    let blocks = numbered_blocks(input).map(within_blocks);
    let doubts: Vec<String> = blocks.into_iter().chain(doubts).collect();
    match doubts.is_empty() {
        true => document.paragraph("None."),
        false => document.list(doubts),
    }
    document.heading("Command");
    document.paragraph(command(input, arguments));
    document
}

/// The columns of a log whose secret is not known, and the commands that name one.
pub fn first_look(look: &Glance, arguments: &[String]) -> Document {
    let mut document = Document::default();
    document.heading(format!("What stands in {}", look.file));
    let row = match look.header {
        true => "row 1 is a header",
        false => "there is no header",
    };
    document.list(vec![format!("{} rows were looked at; {row}.", look.rows)]);
    document.heading("Columns");
    let line = |column: &SeenColumn| {
        let more = column.distinct > column.examples.len();
        let examples = column.examples.join(", ");
        vec![
            column.name.clone(),
            if column.may_be_secret {
                "may be the secret"
            } else {
                ""
            }
            .to_owned(),
            if more {
                format!("{examples}, …")
            } else {
                examples
            },
            column.distinct.to_string(),
        ]
    };
    let lines = look.columns.iter().map(line).collect();
    document.table(vec!["column", "part", "values", "different"], 3, lines);
    document.heading("Commands");
    let header = match look.say_header {
        true => &format!(" {}", setting("header", "present")),
        false => "",
    };
    let likeliest = look.secrets.iter().take(COMMANDS);
    let commands: Vec<String> = likeliest
        .map(|name| with_secret(arguments, &quoted(name)) + header)
        .collect();
    match commands.is_empty() {
        true => document.paragraph(with_secret(arguments, "COLUMN") + header),
        false => document.list(commands),
    }
    document
}

fn with_secret(arguments: &[String], column: &str) -> String {
    let given = std::iter::once("estimate").chain(arguments.iter().map(String::as_str));
    format!("{} {}", command_line(given), setting("secret", column))
}

fn texts(row: &[String]) -> String {
    let texts = row.iter().map(|text| shorten(text));
    texts.collect::<Vec<_>>().join(" | ")
}

/// The command that reads the log so, with what was found by looking said.
pub fn command(input: &Input, arguments: &[String]) -> String {
    let given = std::iter::once("estimate").chain(arguments.iter().map(String::as_str));
    let line = command_line(given);
    let facts = &input.facts;
    let found = match facts.recognized {
        // Recognized again, which naming its columns would prevent.
        Some(_) => Vec::new(),
        None => found_by_looking(input),
    };
    [vec![line], found].concat().join(" ")
}

/// The options that say what was found by looking.
fn found_by_looking(input: &Input) -> Vec<String> {
    let facts = &input.facts;
    let secret = facts
        .secret_chosen
        .then(|| setting("secret", quoted(&facts.secret_column)));
    let observed = (!facts.left_out_columns.is_empty())
        .then(|| setting("observe", quoted(observed_of_file(input).join(","))));
    secret.into_iter().chain(observed).collect()
}

/// A column of the file and the part it plays.
pub struct ColumnPart {
    /// Its name.
    pub name: String,
    /// What it is.
    pub part: &'static str,
    /// Its type, if it is observed.
    pub kind: Option<ColumnType>,
}

impl ColumnPart {
    fn kind(&self) -> String {
        match self.kind {
            Some(ColumnType::Numeric) => "numbers",
            Some(ColumnType::Categorical) => "labels",
            Some(ColumnType::Mixed) => "numbers and words",
            None => "",
        }
        .to_owned()
    }
}

/// The part of a column that plays none.
pub const OTHER: &str = "other";

/// What a column is that is neither secret nor observed.
fn other_part(input: &Input, name: &str) -> &'static str {
    let facts = &input.facts;
    let blocks = facts.blocks.as_ref();
    let units = input.units.as_ref();
    if blocks.is_some_and(|blocks| blocks.column.as_deref() == Some(name)) {
        "block"
    } else if units.is_some_and(|units| units.column == name) {
        "unit"
    } else if facts.row_id.as_deref() == Some(name) {
        "row id"
    } else if facts
        .left_out_columns
        .iter()
        .any(|column| column.name == name)
    {
        "left out"
    } else {
        OTHER
    }
}

/// All columns of the file, then observations that are made of several or of parts of one.
pub fn columns(input: &Input) -> Vec<ColumnPart> {
    let facts = &input.facts;
    let observed = |name: &str| input.columns.iter().find(|column| column.name == name);
    let is_secret = |name: &str| {
        facts.secret_column == name || facts.secret_column.split(',').any(|own| own == name)
    };
    let of_file = facts.first_rows.columns.iter().map(|name| {
        let kind = observed(name).map(|column| column.kind);
        let part = match kind {
            _ if is_secret(name) => "secret",
            Some(_) => "observation",
            None => other_part(input, name),
        };
        let kind = kind.filter(|_| part == "observation");
        let name = shorten(name);
        ColumnPart { name, part, kind }
    });
    let is_new = |name: &String| !facts.first_rows.columns.contains(name);
    let made = input.columns.iter().filter(|column| is_new(&column.name));
    let made = made.map(|column| ColumnPart {
        name: shorten(&column.name),
        part: "observation",
        kind: Some(column.kind),
    });
    of_file.chain(made).collect()
}
