//! The report of a log through the engine, in JSON: `engine-report [--cluster URL] LOG…`. What is wrong goes to
//! standard error.

use std::process::ExitCode;

use leakgauge::audit::{AuditOptions, audit};
use leakgauge::log::{EngineOptions, ReadMeter, ReadOptions, expand, is_directory, read};
use leakgauge::report::{Format, write_audit};

fn main() -> ExitCode {
    match report() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::from(2)
        }
    }
}

fn report() -> Result<(), Box<dyn std::error::Error>> {
    let mut names: Vec<String> = std::env::args().skip(1).collect();
    let cluster = (names.first().is_some_and(|name| name == "--cluster")).then(|| {
        names.remove(0);
        names.remove(0)
    });
    let log = read(
        &ReadOptions {
            files: expand(&names)?,
            directories: names
                .into_iter()
                .filter(|name| is_directory(name))
                .collect(),
            engine: Some(EngineOptions {
                cluster,
                ..EngineOptions::default()
            }),
            ..ReadOptions::default()
        },
        &ReadMeter::default(),
    )?;
    let options = AuditOptions {
        quick: true,
        ..AuditOptions::default()
    };
    let found = audit(&log, &options)?;
    write_audit(&found, Format::Json, &mut std::io::stdout())?;
    Ok(())
}
