//! `leakgauge schema`.

use std::process::ExitCode;

use clap::Args;
use leakgauge::base::error::{Error, Result};
use leakgauge::base::suggest::nearest;
use leakgauge::report;

use crate::cli::to_stdout;

/// All schemas in one object.
const ALL: &str = "all";

/// `schema`.
#[derive(Args)]
pub struct SchemaArguments {
    /// The command: `audit`, `shuffle information`; `follow` for the lines of --follow; `all` for an object with all
    /// schemas by name
    #[arg(value_name = "COMMAND", required_unless_present = "list", num_args = 1..)]
    command: Vec<String>,
    /// List the names of all schemas
    #[arg(long, conflicts_with = "command")]
    list: bool,
}

/// Runs `schema`: a JSON Schema (draft 2020-12) on standard output.
pub fn schema(arguments: &SchemaArguments) -> Result<ExitCode> {
    if arguments.list {
        to_stdout(|out| report::json_schema_names().try_for_each(|name| writeln!(out, "{name}")))?;
        return Ok(ExitCode::SUCCESS);
    }
    let name = arguments.command.join("-");
    let schema = if name == ALL {
        report::json_schemas()
    } else {
        report::json_schema(&name).ok_or_else(|| unknown(&arguments.command.join(" "), &name))?
    };
    to_stdout(|out| report::write_json(&schema, out))?;
    Ok(ExitCode::SUCCESS)
}

fn unknown(written: &str, name: &str) -> Error {
    let error = Error::parameter(written, "is not the name of a command that writes JSON");
    match nearest(name, report::json_schema_names().chain([ALL])) {
        Some(near) => error.with_hint(format!("did you mean {near}?")),
        None => error.with_hint("`leakgauge schema --list` lists the names"),
    }
}
