//! How well a log fits a claimed mechanism.

use crate::audit::{Fit, FitTest, GoodnessTest, Untested};

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

/// What the fit says, in a few sentences.
pub fn fit(fit: &Fit) -> String {
    let test = test(&fit.test);
    match fit.p_value {
        Some(p) if p < 0.001 => format!(
            "Fit of the log to the claimed mechanism as a whole: p < 0.001 ({test}). Whatever it leaks, the log does not \
             look like it came from this mechanism. The verdict is about leakage alone."
        ),
        Some(p) => format!(
            "Fit of the log to the claimed mechanism as a whole: p = {p:.3} ({test}). It does not change the verdict."
        ),
        None => format!("Fit of the log to the claimed mechanism as a whole: {test}."),
    }
}
