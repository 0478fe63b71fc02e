//! How well a log fits a claimed mechanism.

use crate::audit::{Fit, FitTest, GoodnessTest, RecordedGrid, Untested};
use leakgauge_base::error::shorten;
use leakgauge_stats::grid::{Convention, Grid};

/// The test, or why there is none.
pub fn test(test: &FitTest) -> String {
    match test {
        FitTest::Tested { test, columns } => {
            let test = match test {
                Some(GoodnessTest::ChiSquared) => "chi-squared",
                Some(GoodnessTest::ChiSquaredRounded) => "chi-squared on the log's own rounding",
                Some(GoodnessTest::Kolmogorov) => "kolmogorov",
                None => "none",
            };
            let over = if *columns {
                "secrets and columns"
            } else {
                "secrets"
            };
            format!("{test}, Holm over {over}")
        }
        FitTest::Untested(reason) => format!("none: {}", untested(reason)),
    }
}

fn untested(reason: &Untested) -> String {
    match reason {
        Untested::Scores => {
            "the log was read for its scores, not for what the mechanism gave".to_owned()
        }
        Untested::DependentRows => "the tests need independent rows".to_owned(),
        Untested::Columns { mechanism, log } => format!(
            "the mechanism has {}, the log has {}",
            columns(*mechanism),
            columns(*log)
        ),
        Untested::NotNumbers => "the observations are not numbers".to_owned(),
        Untested::NotOfAColumn => "the distribution is not one of a column".to_owned(),
        Untested::UnknownLaw(reason) => (*reason).to_owned(),
    }
}

fn columns(count: usize) -> String {
    match count {
        1 => "one observation column".to_owned(),
        _ => format!("{count} observation columns"),
    }
}

/// How the numbers of the log were read, a sentence for each column that was rounded; empty if none was.
fn recorded(grids: &[RecordedGrid]) -> String {
    let rounded = grids.iter().filter(|found| found.grid != Grid::Full);
    rounded
        .map(|found| {
            let column = shorten(&found.column);
            format!(" Column {column} was read as {}.", rounding(found))
        })
        .collect()
}

fn rounding(found: &RecordedGrid) -> String {
    // Which way is a guess where several conventions fit.
    let how = match found.convention {
        Convention::Nearest => "rounding to the nearest fits best",
        Convention::Down => "rounding down fits best",
        Convention::TowardZero => "cutting off toward zero fits best",
        Convention::Up => "rounding up fits best",
    };
    match found.grid {
        Grid::Full => "numbers in full".to_owned(),
        Grid::Step { step, offset: 0.0 } => format!("multiples of {step} ({how})"),
        Grid::Step { step, offset } => format!("{offset} plus multiples of {step} ({how})"),
        Grid::Digits(1) => format!("one significant digit ({how})"),
        Grid::Digits(digits) => format!("{digits} significant digits ({how})"),
    }
}

/// What the fit says, in a few sentences.
pub fn fit(fit: &Fit) -> String {
    let test = test(&fit.test);
    let recorded = recorded(&fit.grids);
    match fit.p_value {
        Some(p) if p < 0.001 => format!(
            "Fit of the log to the claimed mechanism as a whole: p < 0.001 ({test}).{recorded} Whatever it leaks, the log \
             does not look like it came from this mechanism. The verdict is about leakage alone."
        ),
        Some(p) => format!(
            "Fit of the log to the claimed mechanism as a whole: p = {p:.3} ({test}).{recorded} It does not change the \
             verdict."
        ),
        None => format!("Fit of the log to the claimed mechanism as a whole: {test}."),
    }
}
