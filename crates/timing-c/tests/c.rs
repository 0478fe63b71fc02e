//! A program in C is compiled against the header and the library, and run.

use std::path::{Path, PathBuf};
use std::process::Command;

use libtest_mimic::{Arguments, Failed, Trial};

fn main() {
    let arguments = Arguments::from_args();
    let has_compiler = cfg!(unix) && Command::new("cc").arg("--version").output().is_ok();
    let trial = Trial::test("a_program_in_c_tests_two_comparisons", compare);
    libtest_mimic::run(&arguments, vec![trial.with_ignored_flag(!has_compiler)]).exit();
}

/// The library that was built with this test: the latest in its directory, or in the one above.
fn library() -> Result<PathBuf, Failed> {
    let program = std::env::current_exe()?;
    let deps = program.parent().ok_or("no directory")?;
    let mut found = Vec::new();
    for directory in deps.ancestors().take(2) {
        for entry in std::fs::read_dir(directory)? {
            let path = entry?.path();
            let name = path
                .file_name()
                .and_then(|name| name.to_str())
                .unwrap_or_default();
            if name.starts_with("libleakgauge_timing_c") && name.ends_with(".a") {
                found.push((path.metadata()?.modified()?, path));
            }
        }
    }
    found.sort();
    let (_, latest) = found.pop().ok_or("no library for C was built")?;
    Ok(latest)
}

fn compare() -> Result<(), Failed> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let directory = PathBuf::from(env!("CARGO_TARGET_TMPDIR"));
    let program = directory.join("compare");
    let built = Command::new("cc")
        .args([
            "-std=c99",
            "-O1",
            "-Wall",
            "-Wextra",
            "-Werror",
            "-pedantic",
            "-I",
        ])
        .arg(root.join("include"))
        .arg(root.join("tests/compare.c"))
        .arg(library()?)
        .args(["-lm", "-lpthread", "-ldl", "-o"])
        .arg(&program)
        .output()?;
    if !built.status.success() {
        return Err(String::from_utf8_lossy(&built.stderr).into_owned().into());
    }
    let run = |seed: &str| {
        Command::new(&program)
            .env("LEAKGAUGE_SEED", seed)
            .env("LEAKGAUGE_LOG", &directory)
            .output()
    };
    let output = String::from_utf8(run("7")?.stdout)?;
    let lines: Vec<&str> = output.lines().collect();
    let has = |line: &str| lines.contains(&line);
    // Leaks, the class of the last byte is slower, and the limit is above the threshold.
    let naive = has("naive 1 1 1") && output.contains("last byte takes longer than first byte");
    // Whatever the machine does, never that it leaks.
    let constant = has("constant 0") || has("constant 3");
    let wrong = has("wrong 2 class_count is to be 2 to 64") && has("null 2");
    if !(naive && constant && wrong && directory.join("comparison-in-C.csv").exists()) {
        return Err(output.into());
    }
    // What Rust panics about is a message too.
    let output = String::from_utf8(run("seven")?.stdout)?;
    if !output.contains("naive 2 0 0\nLEAKGAUGE_SEED=seven: a whole number is expected") {
        return Err(output.into());
    }
    Ok(())
}
