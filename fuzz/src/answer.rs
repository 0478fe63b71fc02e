//! What must hold of every answer.

use std::collections::HashMap;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Mutex;
use std::time::{Duration, Instant};

use boon::{Compiler, Schemas};
use serde_json::Value;

use crate::case::Case;
use crate::implied;

/// Memory of a run at most, in kB.
const MEMORY: u64 = 6_000_000;

/// Options that write a file.
const WRITING: [&str; 7] = [
    "--group-report",
    "--html",
    "--junit",
    "--out",
    "--permutation",
    "--plots",
    "--report",
];

/// Runs cases and looks at the answers.
pub struct Judge {
    program: PathBuf,
    patience: Duration,
    /// The schema of each kind of report, as the program prints it.
    schemas: Mutex<HashMap<String, Option<Value>>>,
}

struct Answer {
    code: Option<i32>,
    out: Vec<u8>,
    err: String,
}

impl Judge {
    /// Of this program, which answers after so long at the latest.
    pub fn new(program: &Path, patience: Duration) -> Self {
        Judge {
            program: program.to_owned(),
            patience,
            schemas: Mutex::default(),
        }
    }

    /// Runs a case: its exit code, or what is wrong with its answer.
    pub fn judge(&self, case: &Case) -> Result<u8, String> {
        let place = tempfile::tempdir().map_err(|error| error.to_string())?;
        case.write(place.path());
        let answer = self.run(place.path(), &case.arguments, &case.input, case.signal)?;
        check_children(place.path())?;
        check_files(place.path(), case)?;
        let is_to_file = case
            .arguments
            .iter()
            .any(|word| word == "--output" || word == "-o");
        if case.signal.is_some() && is_ended(&answer) {
            return Ok(2);
        }
        let code = check_answer(&answer, is_to_file)?;
        if case.signal.is_some() {
            return Ok(code);
        }
        if let Some(format) = case.arguments.iter().position(|word| word == "--format")
            && case
                .arguments
                .get(format + 1)
                .is_some_and(|format| format == "json")
            && code != 2
            && !is_to_file
        {
            let reports = self.check_json(case, &answer.out)?;
            let mut arguments = case.arguments.clone();
            arguments[format + 1] = "text".to_owned();
            // The short text of a log has no table of figures.
            let is_of_log = |word: &String| word == "audit" || word == "estimate";
            if arguments.first().is_some_and(is_of_log)
                && !arguments
                    .iter()
                    .any(|word| word == "--full" || word == "--follow")
            {
                arguments.push("--full".to_owned());
            }
            // What was written once may not be replaced, and a quiet answer has no figures.
            let is_once = |word: &String| {
                word.starts_with("out-") || WRITING.contains(&word.as_str()) || word == "--quiet"
            };
            if !arguments.iter().any(is_once) {
                let text = self.run(place.path(), &arguments, &case.input, None)?;
                if check_answer(&text, false)? != code {
                    return Err(format!(
                        "exit code {code} with JSON and {:?} with text",
                        text.code
                    ));
                }
                if let [report] = &reports[..] {
                    check_text(report, &String::from_utf8_lossy(&text.out))?;
                }
            }
        }
        Ok(code)
    }

    fn run(
        &self,
        place: &Path,
        arguments: &[String],
        input: &[u8],
        signal: Option<(&str, u64)>,
    ) -> Result<Answer, String> {
        let mut child = Command::new("sh")
            .args(["-c", &format!("ulimit -v {MEMORY}; exec \"$0\" \"$@\"")])
            .arg(&self.program)
            .args(arguments)
            .current_dir(place)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(|error| error.to_string())?;
        let mut stdin = child.stdin.take().ok_or("no standard input")?;
        let mut out = child.stdout.take().ok_or("no standard output")?;
        let mut err = child.stderr.take().ok_or("no standard error")?;
        let (close, told) = std::sync::mpsc::channel::<()>();
        std::thread::scope(|scope| {
            scope.spawn(move || {
                // A program that does not read its input closes the pipe.
                let _ = stdin.write_all(input);
                if signal.is_some() {
                    let _ = told.recv();
                }
            });
            let out = scope.spawn(move || read(&mut out));
            let err = scope.spawn(move || read(&mut err));
            let code = match signal {
                None => self.wait(&mut child, self.patience),
                Some((signal, after)) => {
                    std::thread::sleep(Duration::from_millis(after));
                    send(signal, &child)?;
                    self.wait(&mut child, AFTER_SIGNAL)
                }
            };
            drop(close);
            let code = code?;
            Ok(Answer {
                code,
                out: out.join().map_err(|_| "no standard output")?,
                err: String::from_utf8(err.join().map_err(|_| "no standard error")?)
                    .map_err(|_| "standard error is not UTF-8")?,
            })
        })
    }

    fn wait(&self, child: &mut Child, patience: Duration) -> Result<Option<i32>, String> {
        let begun = Instant::now();
        loop {
            if let Some(status) = child.try_wait().map_err(|error| error.to_string())? {
                return Ok(status.code());
            }
            if begun.elapsed() > patience {
                let _ = child.kill();
                let _ = child.wait();
                return Err(format!("no answer after {} s", patience.as_secs()));
            }
            std::thread::sleep(Duration::from_millis(if begun.elapsed().as_millis() < 50 {
                1
            } else {
                20
            }));
        }
    }

    /// Holds JSON against its schema, and limits against each other.
    fn check_json(&self, case: &Case, out: &[u8]) -> Result<Vec<Value>, String> {
        let is_followed = case.arguments.iter().any(|word| word == "--follow");
        let name = match &case.arguments[..] {
            _ if is_followed => "follow".to_owned(),
            [first, second, ..] if first == "shuffle" => format!("shuffle-{second}"),
            [first, ..] => first.clone(),
            [] => return Ok(Vec::new()),
        };
        let reports: Result<Vec<Value>, _> = serde_json::Deserializer::from_slice(out)
            .into_iter()
            .collect();
        let reports = reports.map_err(|error| format!("no JSON: {error}"))?;
        if let Some(schema) = self.schema(&name) {
            let (mut schemas, mut compiler) = (Schemas::new(), Compiler::new());
            let url = "http://localhost/schema.json";
            compiler
                .add_resource(url, schema)
                .map_err(|error| error.to_string())?;
            let index = compiler
                .compile(url, &mut schemas)
                .map_err(|error| error.to_string())?;
            for report in &reports {
                schemas
                    .validate(report, index)
                    .map_err(|error| format!("not its schema: {error:#}"))?;
            }
        }
        reports.iter().try_for_each(check_limits)?;
        reports.iter().try_for_each(implied::check)?;
        Ok(reports)
    }

    fn schema(&self, name: &str) -> Option<Value> {
        let mut schemas = self.schemas.lock().ok()?;
        let of_program = || {
            let output = Command::new(&self.program)
                .args(["schema", name])
                .output()
                .ok()?;
            serde_json::from_slice(&output.stdout).ok()
        };
        schemas
            .entry(name.to_owned())
            .or_insert_with(of_program)
            .clone()
    }
}

/// A program that was told to end may take so long: half of it where nobody else runs.
const AFTER_SIGNAL: Duration = Duration::from_secs(2);

fn send(signal: &str, child: &Child) -> Result<(), String> {
    let mut kill = Command::new("kill");
    kill.args([&format!("-{signal}"), &child.id().to_string()]);
    // It may have ended by itself.
    kill.stderr(Stdio::null());
    kill.status().map(drop).map_err(|error| error.to_string())
}

/// Whether it ended as a signal demands; before it watches for signals, the signal itself ends it.
fn is_ended(answer: &Answer) -> bool {
    !answer.err.contains("panicked") && matches!(answer.code, Some(129 | 130 | 143) | None)
}

/// What a program started ends with it.
fn check_children(place: &Path) -> Result<(), String> {
    let Ok(id) = std::fs::read_to_string(place.join("out-child")) else {
        return Ok(());
    };
    // One that has ended and that nobody has asked yet how is listed as a zombie.
    let runs = || {
        let mut ask = Command::new("ps");
        let asked = ask.args(["-o", "stat=", "-p", id.trim()]).output();
        asked.is_ok_and(|asked| {
            let state = String::from_utf8_lossy(&asked.stdout);
            !state.trim().is_empty() && !state.trim().starts_with('Z')
        })
    };
    let begun = Instant::now();
    while runs() {
        if begun.elapsed() > Duration::from_secs(1) {
            return Err(format!("process {} goes on", id.trim()));
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    Ok(())
}

fn read(from: &mut impl Read) -> Vec<u8> {
    let mut bytes = Vec::new();
    // What was read before an error is looked at.
    let _ = from.read_to_end(&mut bytes);
    bytes
}

/// Exit code, messages, characters. An answer may be in a file instead.
fn check_answer(answer: &Answer, is_to_file: bool) -> Result<u8, String> {
    let err = &answer.err;
    if err.contains("panicked") {
        return Err(format!("a panic: {err}"));
    }
    let code = match answer.code {
        Some(code @ 0..=3) => code as u8,
        other => return Err(format!("exit code {other:?}: {err}")),
    };
    // Warnings may stand before it, and what was proved up to the error.
    let has_message = err.lines().any(|line| line.starts_with("error: "));
    if code == 2 && !has_message {
        return Err(format!("exit code 2 without a message: {err}"));
    }
    if code != 2 && answer.out.is_empty() && !is_to_file {
        return Err("no answer".to_owned());
    }
    let out = String::from_utf8(answer.out.clone()).map_err(|_| "standard output is not UTF-8")?;
    let acts = |letter: char| {
        letter.is_control() && letter != '\n'
            || matches!(letter, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
    };
    // A log that is drawn is no report.
    if [&out, err].into_iter().any(|text| text.contains(acts)) {
        return Err("a terminal would act on the answer".to_owned());
    }
    Ok(code)
}

/// No file is left but those that were there and those that were asked for.
fn check_files(place: &Path, case: &Case) -> Result<(), String> {
    let files = std::fs::read_dir(place).map_err(|error| error.to_string())?;
    for file in files.flatten() {
        let name = file.file_name().to_string_lossy().into_owned();
        let is_input = case.files.iter().any(|(known, _)| *known == name);
        let is_named = case.arguments.iter().any(|word| word.contains(&name));
        if !is_input && !is_named {
            return Err(format!("{name} is left"));
        }
    }
    Ok(())
}

/// Every lower limit is at most its upper limit, and the point lies between.
fn check_limits(value: &Value) -> Result<(), String> {
    match value {
        Value::Array(items) => items.iter().try_for_each(check_limits),
        Value::Object(object) => {
            let number = |key: &str| object.get(key).and_then(Value::as_f64);
            let ordered = [("lower", "upper"), ("lower", "point"), ("point", "upper")];
            for (low, high) in ordered {
                if let (Some(x), Some(y)) = (number(low), number(high))
                    && x > y
                {
                    return Err(format!("{low} {x} is above {high} {y}"));
                }
            }
            object.values().try_for_each(check_limits)
        }
        _ => Ok(()),
    }
}

/// The limits of the worst pair's total variation are those of the text, which has as many digits as their width warrants:
/// they differ by one in the last place at most, and no limit is stronger there.
fn check_text(report: &Value, text: &str) -> Result<(), String> {
    let limits = report.pointer("/worst_pair/total_variation");
    // A channel has one exact figure there.
    let Some(limits) = limits.filter(|limits| limits.is_object()) else {
        return Ok(());
    };
    let Some(line) = text
        .lines()
        .find(|line| line.trim_start().starts_with("total variation "))
    else {
        return Err("the text has no total variation".to_owned());
    };
    let mut shown: Vec<&str> = line.split_whitespace().rev().take(3).collect();
    shown.reverse();
    for (key, shown) in ["point", "lower", "upper"].iter().zip(shown) {
        let exact = limits.get(*key).and_then(Value::as_f64);
        let same = match (exact, shown.parse::<f64>().ok()) {
            (Some(exact), Some(number)) => {
                let places = shown.split_once('.').map_or(0, |(_, places)| places.len());
                let unit = 0.1f64.powi(places as i32);
                let is_stronger = match *key {
                    "lower" => number > exact + 1e-9,
                    "upper" => number < exact - 1e-9,
                    _ => false,
                };
                (exact - number).abs() <= 1.01 * unit && !is_stronger
            }
            (None, None) => true,
            _ => false,
        };
        if !same {
            return Err(format!("{key} is {exact:?} in JSON and {shown} in text"));
        }
    }
    Ok(())
}
