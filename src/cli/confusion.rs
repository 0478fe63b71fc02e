//! `leakgauge confusion`.

use std::process::ExitCode;

use clap::Args;
use leakgauge::attack::pairwise::Confusion;
use leakgauge::base::error::{Error, Result};
use leakgauge::input::claims;
use leakgauge::membership::{self, TableOptions};
use leakgauge::report;

use crate::cli::audit::exit_code;
use crate::cli::options::FormatName;
use crate::cli::to_stdout;

/// `confusion`.
#[derive(Args)]
pub struct ConfusionArguments {
    /// True positives: members that the attack called members
    #[arg(long, value_name = "N")]
    tp: u64,
    /// False negatives: members that it called non-members
    #[arg(long = "fn", value_name = "N")]
    missed: u64,
    /// False positives: non-members that it called members
    #[arg(long, value_name = "N")]
    fp: u64,
    /// True negatives: non-members that it called non-members
    #[arg(long, value_name = "N")]
    tn: u64,
    /// A promise: `dp(epsilon=1, delta=1e-5)`, `gdp(mu=1)`, `dp-sgd(…)`, `advantage(0.1)`; can be repeated
    #[arg(long = "claim", value_name = "CLAIM")]
    claims: Vec<String>,
    /// The δ at which epsilon is limited
    #[arg(long, value_name = "D,…", value_delimiter = ',', default_value = "0")]
    delta: Vec<f64>,
    /// The confidence level of every limit
    #[arg(long, default_value_t = 0.95, value_name = "C")]
    confidence: f64,
    /// The format on standard output
    #[arg(long, value_enum, default_value = "text", value_name = "FORMAT")]
    format: FormatName,
}

/// Runs `confusion`.
pub fn confusion(arguments: &ConfusionArguments) -> Result<ExitCode> {
    let ConfusionArguments {
        tp, missed, fp, tn, ..
    } = *arguments;
    for (at, delta) in arguments.delta.iter().enumerate() {
        if arguments.delta[..at].contains(delta) {
            return Err(
                Error::setting("delta", delta, "is given twice").with_hint("name each delta once")
            );
        }
    }
    let options = TableOptions {
        confidence: arguments.confidence,
        deltas: arguments.delta.clone(),
        claims: claims::parse(&arguments.claims)?,
    };
    let answers = Confusion::new(tp, missed, fp, tn)?;
    let found = membership::table(&answers, [tp, missed, fp, tn], &options)?;
    to_stdout(|out| report::write_answer_table(&found, arguments.format.layout(), out))?;
    Ok(ExitCode::from(exit_code(&found.claims)))
}
