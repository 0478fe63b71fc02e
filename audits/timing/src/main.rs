//! Real primitives, measured by `leakgauge-timing` and, on the same functions in the same run, by tacet 0.4.2 and
//! dudect-bencher.
//!
//! ```text
//! cargo run --release --manifest-path audits/timing/Cargo.toml -- RUNS NAME
//! ```
//!
//! Each line of the table says how many runs each tool calls a leak, for primitives with NAME in their name, or all. Each
//! tool has the same time for a run: AUDIT_SECONDS of the environment, or 10.

mod primitives;

use std::process::Command;
use std::time::{Duration, Instant};

use dudect_bencher::ctbench::{BenchMetadata, BenchName, BenchOpts, run_benches_console};
use dudect_bencher::rand::RngExt;
use dudect_bencher::{BenchRng, Class, CtRunner};
use leakgauge_timing::{Attacker, Outcome, Test};
use primitives::*;

/// Measurements of a class.
const SAMPLES: usize = 50_000;
/// dudect: t-values beyond this are leaks.
const LARGE_T: f64 = 5.0;

/// How long a run takes at most.
fn limit() -> Duration {
    let seconds =
        std::env::var("AUDIT_SECONDS").map(|text| text.parse().expect("a number of seconds"));
    Duration::from_secs(seconds.unwrap_or(10))
}

/// What tools say in all runs of a primitive: leaks, passes, neither; and how long it took.
#[derive(Default)]
struct Count {
    leaks: usize,
    passes: usize,
    neither: usize,
    seconds: f64,
}

impl Count {
    fn add(&mut self, leaks: bool, passes: bool, begun: Instant) {
        self.leaks += usize::from(leaks);
        self.passes += usize::from(passes);
        self.neither += usize::from(!leaks && !passes);
        self.seconds += begun.elapsed().as_secs_f64();
    }

    fn cell(&self, runs: usize) -> String {
        format!(
            "{}/{}/{} {:5.2} s",
            self.leaks,
            self.passes,
            self.neither,
            self.seconds / runs as f64
        )
    }
}

fn ours<P: Primitive>(attacker: Attacker, count: &mut Count) {
    let begun = Instant::now();
    let report = Test::new(P::NAME, attacker)
        .class("fixed", || P::input(false))
        .class("random", || P::input(true))
        .time_limit(limit())
        .run(|input| P::call(input));
    count.add(
        report.outcome == Outcome::Leaks,
        report.outcome == Outcome::Passes,
        begun,
    );
}

fn tacet<P: Primitive>(attacker: tacet::AttackerModel, count: &mut Count) {
    let begun = Instant::now();
    let inputs = tacet::helpers::InputPair::new(|| P::input(false), || P::input(true));
    let oracle = tacet::TimingOracle::for_attacker(attacker)
        .time_budget(limit())
        .max_samples(SAMPLES);
    let outcome = oracle.test(inputs, |input| {
        std::hint::black_box(P::call(input));
    });
    let (leaks, passes) = (
        matches!(outcome, tacet::Outcome::Fail { .. }),
        matches!(outcome, tacet::Outcome::Pass { .. }),
    );
    count.add(leaks, passes, begun);
}

/// What dudect-bencher runs: it makes all inputs first.
fn bench<P: Primitive>(runner: &mut CtRunner, random: &mut BenchRng) {
    let begun = Instant::now();
    let mut inputs = Vec::new();
    while inputs.len() < 2 * SAMPLES && begun.elapsed() < limit() / 2 {
        let is_random = random.random::<bool>();
        inputs.push((is_random, P::input(is_random)));
    }
    for (is_random, input) in &inputs {
        if begun.elapsed() > limit() {
            break;
        }
        let class = if *is_random {
            Class::Right
        } else {
            Class::Left
        };
        runner.run_one(class, || P::call(input));
    }
}

/// The child's side of [`dudect`].
fn run_dudect<P: Primitive>() {
    let benches = vec![BenchMetadata {
        name: BenchName("bench"),
        seed: None,
        benchfn: bench::<P>,
    }];
    let options = BenchOpts {
        continuous: false,
        filter: None,
        file_out: None,
    };
    run_benches_console(options, benches).expect("a console");
}

/// dudect-bencher tells its t-value to the console only: a process of its own.
fn dudect<P: Primitive>(count: &mut Count) {
    let begun = Instant::now();
    let program = std::env::current_exe().expect("a program");
    let output = Command::new(program)
        .args(["dudect", P::NAME])
        .output()
        .expect("a process");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let t = text
        .split("max t = ")
        .nth(1)
        .and_then(|rest| rest.split(',').next()?.trim().parse::<f64>().ok());
    let t = t.unwrap_or_else(|| panic!("dudect-bencher says: {text}"));
    count.add(t.abs() > LARGE_T, t.abs() <= LARGE_T, begun);
}

fn row<P: Primitive>(runs: usize) {
    let mut counts: [Count; 5] = Default::default();
    for _ in 0..runs {
        ours::<P>(Attacker::SharedHardware, &mut counts[0]);
        tacet::<P>(tacet::AttackerModel::SharedHardware, &mut counts[1]);
        ours::<P>(Attacker::Lan, &mut counts[2]);
        tacet::<P>(tacet::AttackerModel::AdjacentNetwork, &mut counts[3]);
        dudect::<P>(&mut counts[4]);
    }
    let cells: Vec<String> = counts.iter().map(|count| count.cell(runs)).collect();
    println!(
        "| {} | {} | {} |",
        P::NAME,
        if P::LEAKS { "yes" } else { "no" },
        cells.join(" | ")
    );
}

/// Does the same with every primitive.
macro_rules! each {
    ($primitive:ident => $body:expr) => {
        each!(@ $primitive => $body; Aes ChaCha Sha X25519 Ed25519 P256 Subtle Naive Table Marvin)
    };
    (@ $primitive:ident => $body:expr; $($type:ident)*) => {
        $({ type $primitive = $type; $body; })*
    };
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if let [first, name] = &arguments[..]
        && first == "dudect"
    {
        each!(P => if P::NAME == name { run_dudect::<P>() });
        return;
    }
    let runs = arguments
        .first()
        .map_or(1, |runs| runs.parse().expect("a number of runs"));
    let part = arguments.get(1).map_or("", String::as_str);
    println!("leaks/passes/neither of {runs} runs, and seconds a run");
    println!("tacet and dudect-bencher: {SAMPLES} measurements of a class\n");
    println!(
        "| primitive | leaks | leakgauge 0.6 ns | tacet 0.6 ns | leakgauge 100 ns | tacet 100 ns | dudect-bencher |"
    );
    println!("| --- | --- | --- | --- | --- | --- | --- |");
    each!(P => if P::NAME.contains(part) { row::<P>(runs) });
}
