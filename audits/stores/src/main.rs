//! Reads a log and prints all that was read but the names of its files, or the error that the reader gave. Its tests
//! start a server of objects on loopback and hold what comes from there against what comes from disk.

use std::process::ExitCode;

use leakgauge_log::{ObjectReader, ReadMeter, ReadOptions, is_url};
use leakgauge_stores::Stores;

fn main() -> ExitCode {
    let names: Vec<String> = std::env::args().skip(1).collect();
    match read(names) {
        Ok(text) => {
            println!("{text}");
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("{error}");
            ExitCode::from(2)
        }
    }
}

fn read(names: Vec<String>) -> leakgauge_base::error::Result<String> {
    let mut files = Vec::new();
    for name in names {
        match is_url(&name) {
            true => files.extend(Stores.expand(&name)?),
            false => files.push(name),
        }
    }
    let options = ReadOptions {
        files,
        columnar: Some(&leakgauge_columnar::ArrowReader),
        objects: Some(&Stores),
        ..ReadOptions::default()
    };
    let meter = ReadMeter::default();
    let mut log = leakgauge_log::read(&options, &meter)?;
    log.facts.files.clear();
    Ok(format!(
        "{} of {} bytes\n{:?}\n{:?}\n{:?}\n{:?}",
        meter.read(),
        meter.total(),
        log.secrets,
        log.facts,
        log.counts,
        log.observations
    ))
}
