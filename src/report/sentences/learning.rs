//! Whether more rows would help.

use crate::audit::{Conclusion, Course, Learning};
use crate::report::sentences::advice::more_rows;

/// Two or three sentences.
pub fn conclusion(conclusion: &Conclusion) -> String {
    let learning = match &conclusion.learning {
        Learning::Unknown => {
            "There are too few rows to tell whether more would improve the attack.".to_owned()
        }
        Learning::Enough(course) => {
            format!("There are enough rows to learn from: {}.", errs(course))
        }
        Learning::More {
            course,
            rows,
            factor,
            risk,
            at_hand,
        } => {
            let rows = rows.map_or("many".to_owned(), |rows| rows.to_string());
            let at_hand = at_hand
                .as_ref()
                .map_or(String::new(), |advice| format!(" {}", more_rows(advice)));
            format!(
                "About {rows} more rows, a log {factor} times as long, would improve the attack: {}. With them the error rate \
                 would be about {risk:.3}.{at_hand}",
                errs(course)
            )
        }
    };
    let certifying = match conclusion.certification_gap {
        Some(0.0) => "The lower limit of the worst pair is as large as the estimate of its attack."
            .to_owned(),
        Some(gap) => format!(
            "The lower limit of the worst pair is {gap:.3} below the estimate of its attack; four times as many rows would \
             halve that."
        ),
        None => "The worst pair has no limit: both secrets need rows.".to_owned(),
    };
    format!("{learning} {certifying}")
}

fn errs(course: &Course) -> String {
    format!(
        "this kind of attack has an error rate of {:.3}, and with ever more rows it seems to approach {:.3} \
         (extrapolated, standard error {:.3})",
        course.risk, course.end, course.standard_error
    )
}
