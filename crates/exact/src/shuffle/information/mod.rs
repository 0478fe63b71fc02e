//! Mutual information in the shuffle model, in nats, between the shuffled messages and the target's position,
//! message or input.
//!
//! # References
//! Su, Cheng, Wang, *Mutual Information Bounds in the Shuffle Model*.

mod basic;
mod distribution;
mod input;
mod monte_carlo;
mod optimal;
mod posterior;
mod randomizer;
mod ratio;
mod reports;
mod spread;
mod survey;
mod users;

pub use basic::check_size;
pub use basic::{Basic, Coefficients, MAX_MESSAGES};
pub use distribution::Distribution;
pub use input::{Blanket, PrivacyBounds, Signal, privacy_bounds};
pub use monte_carlo::{MonteCarlo, StoppingRule};
pub use optimal::{OptimalDecoys, message_coefficient, optimal_decoys};
pub use posterior::{Posterior, posteriors};
pub use randomizer::{
    InputPosition, Question, RandomizerFigure, RandomizerRow, RandomizerSurvey, survey_randomizer,
    survey_reports,
};
#[cfg(test)]
pub(super) use ratio::excess;
pub(super) use reports::noise_cells;
pub use reports::{Alike, Continuous, Kernel, Reports};
pub use survey::{
    Figure, LabelProbability, Row, Survey, SurveyOptions, UsersSurvey, survey, survey_users,
};
pub use users::informed_law;
pub use users::{BlanketBound, Users, informed};

#[cfg(test)]
mod report_tests;
#[cfg(test)]
mod tests;
