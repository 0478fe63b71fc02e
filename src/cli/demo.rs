//! `leakgauge demo`.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::builder::PossibleValue;
use clap::{Args, ValueEnum};
use leakgauge::base::error::{Error, Result};
use leakgauge::base::files::{check_outputs, create_file};
use leakgauge::demo::Demo;
use leakgauge::report;

use crate::cli::terminal;

/// `demo`.
#[derive(Args)]
pub struct DemoArguments {
    /// What to try. The log goes to demo-WHAT.csv, or to the file of --output; no file is overwritten
    #[arg(value_enum, value_name = "WHAT")]
    what: DemoName,
}

/// A demonstration by its name.
#[derive(Clone, Copy)]
struct DemoName(Demo);

impl ValueEnum for DemoName {
    fn value_variants<'a>() -> &'a [Self] {
        const ALL: [DemoName; Demo::ALL.len()] = [
            DemoName(Demo::ALL[0]),
            DemoName(Demo::ALL[1]),
            DemoName(Demo::ALL[2]),
        ];
        &ALL
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        let about = match self.0 {
            Demo::Timing => "Times of a check that takes 15 ns longer on one of two inputs",
            Demo::DifferentialPrivacy => "Noisy counts with too little noise for epsilon = 1",
            Demo::Traffic => "Packets, bytes and seconds of visits to five web sites",
        };
        Some(PossibleValue::new(self.0.name()).help(about))
    }
}

/// Runs `demo`: writes the log, and prints the command to run on it.
pub fn demo(arguments: &DemoArguments) -> Result<ExitCode> {
    let demo = arguments.what.0;
    let default = || PathBuf::from(format!("demo-{}.csv", demo.name()));
    let file = terminal::output_option().unwrap_or_else(default);
    let is_there = || {
        Error::file(&file, "already exists, and demo overwrites no file")
            .with_hint("name another file with --output, or remove this one")
    };
    if file.symlink_metadata().is_ok() {
        return Err(is_there());
    }
    check_outputs(&[("output", &file)], &[], true)?;
    create_file(&file, demo.log()?).map_err(|error| match file.symlink_metadata() {
        Ok(_) => is_there(),
        Err(_) => error,
    })?;
    let text = report::demo_text(demo, &file.to_string_lossy(), terminal::is_quiet());
    terminal::to_standard_output(|out| out.write_all(text.as_bytes()))?;
    Ok(ExitCode::SUCCESS)
}
