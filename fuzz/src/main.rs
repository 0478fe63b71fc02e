//! Runs the program on command lines and files that are drawn from a seed, and holds every answer against what must
//! hold of all of them. What commands and options there are is read from the program's own help.
//!
//! ```text
//! cargo build --release && cargo run --release -p leakgauge-fuzz -- --seconds 60 --seed 1
//! ```

mod answer;
mod case;
mod files;
mod grammar;
mod implied;
mod packed;
mod sound;
mod values;

use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use clap::Parser;

use crate::answer::Judge;
use crate::case::Case;
use crate::grammar::Grammar;

/// Runs the program on cases drawn from a seed; exit code 1 if an answer is wrong.
#[derive(Parser)]
struct Arguments {
    /// The program
    #[arg(long, default_value = "target/release/leakgauge")]
    program: PathBuf,
    /// Stop after this time
    #[arg(long, conflicts_with = "cases")]
    seconds: Option<u64>,
    /// Stop after this many cases
    #[arg(long)]
    cases: Option<u64>,
    /// The first case
    #[arg(long, default_value_t = 0)]
    first: u64,
    /// The seed of all cases
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// The number of cases at once
    #[arg(long, default_value_t = 2)]
    threads: usize,
    /// Seconds after which an answer is too late
    #[arg(long, default_value_t = 60)]
    patience: u64,
    /// Write the files of this case here and print its command line, instead of running it
    #[arg(long, requires = "first")]
    show: Option<PathBuf>,
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let program = match arguments.program.canonicalize() {
        Ok(program) => program,
        Err(error) => {
            eprintln!("error: {}: {error}", arguments.program.display());
            return ExitCode::from(2);
        }
    };
    let grammar = Grammar::of(&program);
    if let Some(directory) = &arguments.show {
        let case = Case::draw(&grammar, arguments.seed, arguments.first);
        case.write(directory);
        println!("{}", case.command_line());
        return ExitCode::SUCCESS;
    }
    let judge = Judge::new(&program, Duration::from_secs(arguments.patience));
    let (next, wrong) = (AtomicU64::new(arguments.first), AtomicU64::new(0));
    let codes: [AtomicU64; 4] = Default::default();
    let begun = Instant::now();
    let is_over = |case: u64| {
        let late = arguments
            .seconds
            .is_some_and(|seconds| begun.elapsed().as_secs() >= seconds);
        let cases = arguments.cases.unwrap_or(if arguments.seconds.is_some() {
            u64::MAX
        } else {
            1000
        });
        late || case - arguments.first >= cases
    };
    std::thread::scope(|scope| {
        for _ in 0..arguments.threads {
            scope.spawn(|| {
                loop {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    if is_over(number) {
                        break;
                    }
                    let case = Case::draw(&grammar, arguments.seed, number);
                    match judge.judge(&case) {
                        Ok(code) => {
                            codes[usize::from(code)].fetch_add(1, Ordering::Relaxed);
                        }
                        Err(problem) => {
                            wrong.fetch_add(1, Ordering::Relaxed);
                            println!(
                                "seed {} case {number}: {problem}\n  {}",
                                arguments.seed,
                                case.command_line()
                            );
                        }
                    }
                }
            });
        }
    });
    let codes = codes.map(AtomicU64::into_inner);
    let wrong = wrong.into_inner();
    println!(
        "{} cases in {:.0} s: exit codes 0 to 3 {codes:?}, {wrong} wrong",
        codes.iter().sum::<u64>() + wrong,
        begun.elapsed().as_secs_f64()
    );
    ExitCode::from(u8::from(wrong > 0))
}
