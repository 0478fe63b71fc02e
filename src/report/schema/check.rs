//! How a log would be read.

use leakgauge_base::Tool;
use leakgauge_log::observations::ColumnType;
use serde::Serialize;

use super::input::Input;
use crate::audit::{Reading, Warning};
use crate::report::check;

/// The keys of the report of `leakgauge check`.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Check<'a> {
    /// Version of this layout.
    schema_version: u32,
    /// Program and version.
    tool: Tool,
    /// What was read.
    input: Input<'a>,
    /// All columns of the file, and what they are.
    columns: Vec<CheckedColumn>,
    /// The first rows: texts in the order of the file's columns.
    first_rows: &'a [Vec<String>],
    /// What is doubtful about it, as far as that can be said before anything is measured.
    warnings: &'a [Warning],
    /// The command that measures the log as it was read here.
    command: String,
}

/// A column of the file.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct CheckedColumn {
    /// Its name, or its number.
    name: String,
    /// Secret, observation, block, unit, row id or other.
    part: &'static str,
    /// Its type, if it is observed.
    #[serde(rename = "type")]
    kind: Option<ColumnType>,
}

impl<'a> Check<'a> {
    /// The report, given the arguments of the command line behind the name of the command.
    pub fn of(reading: &'a Reading, arguments: &[String]) -> Self {
        let columns = check::columns(&reading.input).into_iter();
        Check {
            schema_version: 1,
            tool: Tool::default(),
            input: Input::of(&reading.input),
            columns: columns
                .map(|column| CheckedColumn {
                    name: column.name,
                    part: column.part,
                    kind: column.kind,
                })
                .collect(),
            first_rows: &reading.input.facts.first_rows.rows,
            warnings: &reading.warnings,
            command: check::command(&reading.input, arguments),
        }
    }
}
