//! `leakgauge estimate` and `leakgauge audit`.

use std::path::Path;
use std::process::ExitCode;

use clap::Args;
use leakgauge::audit::{
    self, Attacker, AuditOptions, ClaimReport, Detection, Findings, PriorChoice, SplitChoice,
    Verdict,
};
use leakgauge::base::error::{Error, Result, shorten};
use leakgauge::claim::{Claim, ClaimKind, Leak};
use leakgauge::input::{claims, neighbors};
use leakgauge::log::{Like, Log};
use leakgauge::power;
use leakgauge::report::Layout;
use leakgauge::{log, report};

use crate::cli::design::{self, DesignOptions};
use crate::cli::follow::{self, FollowOptions};
use crate::cli::gate::{self, GateOptions};
use crate::cli::options::{self, AttackerName, EstimateOptions, LikeName, LogArguments};
use crate::cli::outputs::{self, OutputOptions};
use crate::cli::progress::{Progress, Stage};
use crate::cli::requested::RequestedOptions;
use crate::cli::{arguments_given, command_line, to_stdout};

/// `estimate`.
#[derive(Args)]
pub struct EstimateArguments {
    #[command(flatten)]
    log: LogArguments,
    #[command(flatten)]
    options: EstimateOptions,
    #[command(flatten)]
    requested: RequestedOptions,
    #[command(flatten)]
    outputs: OutputOptions,
    #[command(flatten)]
    follow: FollowOptions,
    #[command(flatten)]
    design: DesignOptions,
}

/// `audit`.
#[derive(Args)]
pub struct AuditArguments {
    #[command(flatten)]
    log: LogArguments,
    /// A claim: `ldp(epsilon=1)`, `laplace(scale=2)`, `advantage(0.1)`; can be repeated
    ///
    /// The mechanism of the log, or a promise about it: `laplace(scale=2)`, `randomized-response(epsilon=1,
    /// secrets=10)`, `ldp(epsilon=1)`, `dp(epsilon=1, delta=1e-5)`, `gdp(mu=1)`, `zcdp(rho=0.5)` (these four with
    /// `unit=1` if the distance between secrets matters), `bayes-security(0.9)`, `advantage(0.1)`,
    /// `attack-advantage(0.1)`, `time-difference(10ns)`. `leakgauge help bounds` lists all claims.
    #[arg(long = "claim", value_name = "CLAIM", help_heading = "Claims")]
    claims: Vec<String>,
    /// For `holds`, an upper limit must be within this margin of the mechanism's analytic value
    #[arg(
        long,
        default_value_t = 0.02,
        value_name = "X",
        help_heading = "Claims"
    )]
    margin: f64,
    /// Pairs of secrets that are neighbors: `A:B,C:D`. Claims of differential privacy are judged on these alone;
    /// settle them before the log is looked at [default: all pairs]
    #[arg(
        long,
        value_name = "A:B",
        value_delimiter = ',',
        help_heading = "Claims"
    )]
    neighbors: Vec<String>,
    /// A file with such pairs, one in a row: `A,B`, no header
    #[arg(
        long,
        value_name = "FILE",
        conflicts_with = "neighbors",
        help_heading = "Claims"
    )]
    neighbors_file: Option<String>,
    /// A leak that the log must be able to show: `epsilon=1.25`, `advantage=0.1`; can be repeated
    ///
    /// Fails with exit code 1, as too weak, if an audit of a log with so many rows would find such a leak too rarely.
    /// Figures are `epsilon`, `mu`, `rho`, `advantage` and `bayes-security`. `leakgauge plan` says how many rows are
    /// needed.
    #[arg(long, value_name = "LEAK", help_heading = "Continuous integration")]
    must_detect: Vec<String>,
    /// How often a log with such a leak must show it, between 0 and 1
    #[arg(
        long,
        default_value_t = power::POWER,
        value_name = "P",
        requires = "must_detect",
        help_heading = "Continuous integration"
    )]
    power: f64,
    #[command(flatten)]
    gate: GateOptions,
    #[command(flatten)]
    options: EstimateOptions,
    #[command(flatten)]
    requested: RequestedOptions,
    #[command(flatten)]
    outputs: OutputOptions,
    #[command(flatten)]
    follow: FollowOptions,
    #[command(flatten)]
    design: DesignOptions,
}

/// Runs `estimate`.
pub fn estimate(arguments: &EstimateArguments) -> Result<ExitCode> {
    options::use_threads(arguments.options.threads)?;
    let log = &arguments.log.expanded()?.in_parts()?;
    let design = &arguments.design;
    let options = AuditOptions {
        design: design.design(),
        requested: arguments.requested.figures()?,
        ..audit_options(&arguments.options, log)?
    };
    design.check(options.attacks.are_given())?;
    if design.is_one_run() {
        let how = (&arguments.outputs, &arguments.follow);
        design::one_run(log, &arguments.options, design, options, how)?;
        return Ok(ExitCode::SUCCESS);
    }
    if arguments.follow.follow {
        let how = (&arguments.follow, &arguments.outputs);
        return follow::run(log, &arguments.options, how, options);
    }
    let inputs = outputs::inputs(log);
    run(
        log,
        &arguments.options,
        &options,
        (&arguments.outputs, &inputs),
        None::<fn(&Log) -> Result<Vec<Detection>>>,
    )?;
    Ok(ExitCode::SUCCESS)
}

/// Runs `audit`.
pub fn audit(arguments: &AuditArguments) -> Result<ExitCode> {
    if arguments.claims.is_empty() {
        return Err(no_claim(&arguments.log.logs));
    }
    // Before claims are read: that of dp-sgd computes.
    options::use_threads(arguments.options.threads)?;
    let log = &arguments.log.expanded()?.in_parts()?;
    let design = &arguments.design;
    let options = AuditOptions {
        design: design.design(),
        requested: arguments.requested.figures()?,
        margin: arguments.margin,
        confidence: arguments.gate.confidence(arguments.options.confidence),
        claims: claims::parse(&arguments.claims)?,
        neighbors: match &arguments.neighbors_file {
            Some(file) => neighbors::read(file)?,
            None => neighbors::parse(&arguments.neighbors)?,
        },
        ..audit_options(&arguments.options, log)?
    };
    let mut inputs = outputs::inputs(log);
    inputs.extend(arguments.neighbors_file.iter().map(Path::new));
    arguments.gate.check(&inputs, arguments.outputs.page())?;
    design.check(options.attacks.are_given())?;
    let leaks = arguments.must_detect.iter().map(|text| Leak::parse(text));
    let leaks = leaks.collect::<Result<Vec<_>>>()?;
    let is_law = |claim: &Claim| matches!(claim.kind, ClaimKind::Mechanism(_));
    if arguments.gate.judges_fit() && !options.claims.iter().any(is_law) {
        return Err(gate::no_law());
    }
    if design.is_one_run() {
        refuse_must_detect(&leaks, "--design one-run")?;
        let how = (&arguments.outputs, &arguments.follow);
        let found = design::one_run(log, &arguments.options, design, options, how)?;
        let cases = report::claim_cases(&log.logs, &found.claims);
        return Ok(ExitCode::from(arguments.gate.finish(&cases)?));
    }
    if arguments.follow.follow {
        arguments.gate.refuse_follow()?;
        refuse_must_detect(&leaks, "--follow")?;
        let how = (&arguments.follow, &arguments.outputs);
        return follow::run(log, &arguments.options, how, options);
    }
    let detect = (!leaks.is_empty()).then_some(|log: &Log| {
        let leaks = leaks.iter();
        leaks
            .map(|leak| power::detection(leak, arguments.power, log, &options))
            .collect()
    });
    let outputs = (&arguments.outputs, &inputs[..]);
    let found = run(log, &arguments.options, &options, outputs, detect)?;
    let mut cases = report::audit_cases(&found);
    if arguments.gate.judges_fit() {
        let alpha = 1.0 - arguments.gate.confidence(arguments.options.confidence);
        cases.extend(report::fit_cases(&found, alpha));
    }
    Ok(ExitCode::from(arguments.gate.finish(&cases)?))
}

/// What to claim is for the user to say: how large a leak matters.
fn no_claim(logs: &[String]) -> Error {
    let error = Error::parameter("--claim", "is needed: an audit judges claims");
    let is_claim = |text: &&String| Claim::parse(text).is_ok() && !Path::new(text).exists();
    if let Some(claim) = logs.iter().find(is_claim) {
        let logs = logs.iter().filter(|log| *log != claim).map(String::as_str);
        let words = ["audit"].into_iter().chain(logs);
        let again = report::command_line(words.chain(["--claim", claim.as_str()]));
        return error.with_hint(format!("{} is a claim: {again}", shorten(claim)));
    }
    let logs = logs.iter().map(String::as_str);
    error.with_hint(format!(
        "for times: --claim 'time-difference(10ns)'; for any log: --claim 'advantage(0.1)' or --claim \
         'attack-advantage(0.1)'. To see what the log shows without a claim: {}",
        report::command_line(["estimate"].into_iter().chain(logs))
    ))
}

/// How often other designs find a leak is not simulated.
fn refuse_must_detect(leaks: &[Leak], other: &str) -> Result<()> {
    match leaks {
        [] => Ok(()),
        _ => Err(
            Error::parameter("--must-detect", format!("does not go with {other}"))
                .with_hint("it goes with audits of logs of independent rows"),
        ),
    }
}

/// The options of an audit without claims.
pub fn audit_options(options: &EstimateOptions, log: &LogArguments) -> Result<AuditOptions> {
    let prior = match (&options.prior, log.like) {
        (Some(prior), _) => options::prior(prior)?,
        (None, Some(LikeName(Like::Fbleau))) => PriorChoice::Empirical,
        (None, Some(LikeName(Like::Nothing)) | None) => PriorChoice::Uniform,
    };
    Ok(AuditOptions {
        confidence: options.confidence.unwrap_or(gate::CONFIDENCE),
        seed: options.seed,
        attacks: options.scorer.0.into(),
        budget: options.budget.parse()?,
        quick: options.quick,
        split: options.split.into(),
        attacker: match options.attacker {
            Some(AttackerName::Unit) => Attacker::OfUnits,
            None => Attacker::Unstated,
        },
        unit: options.unit.as_deref().map(options::unit).transpose()?,
        clock_frequency: options.clock_frequency,
        clock_step: options
            .clock_step
            .as_deref()
            .map(options::clock_step)
            .transpose()?,
        prior,
        ..AuditOptions::default()
    })
}

fn run(
    log: &LogArguments,
    shared: &EstimateOptions,
    options: &AuditOptions,
    (wanted, inputs): (&OutputOptions, &[&Path]),
    detect: Option<impl FnOnce(&Log) -> Result<Vec<Detection>>>,
) -> Result<Findings> {
    let outputs = wanted.check(inputs)?;
    let meter = log::ReadMeter::default();
    let progress = Progress::start(meter.clone());
    let keep_order = options.split == SplitChoice::Blocks;
    let mut read = shared.reading(log.read_options(keep_order)?)?;
    read.timed = options.is_timed();
    let log = log::read(&read, &meter)?;
    progress.stage(Stage::Estimating);
    let found = match detect {
        Some(detect) => {
            let mut found = audit::audit(&log, options)?;
            progress.stage(Stage::Simulating);
            found.detections = detect(&log)?;
            found
        }
        None => audit::audit_owned(log, options)?,
    };
    progress.finish();
    // A page that cannot be written must not lose the report.
    let written = outputs
        .write(
            || report::page_with_pairs(&found, &command_line(), wanted.pairs()),
            || report::pictures(&found),
        )
        .and(outputs.write_tables(&found));
    let layout = Layout {
        pairs: wanted.pairs(),
        ..shared.format.layout()
    };
    to_stdout(|out| match wanted.full() {
        true => report::write_audit(&found, layout, out),
        false => report::write_short_audit(&found, &arguments_given(), layout, out),
    })?;
    written?;
    Ok(found)
}

/// What the verdicts make of the exit code.
pub fn exit_code(claims: &[ClaimReport]) -> u8 {
    let any = |verdict| claims.iter().any(|claim| claim.verdict == verdict);
    if any(Verdict::Violated) {
        1
    } else if any(Verdict::Inconclusive) {
        3
    } else {
        0
    }
}
