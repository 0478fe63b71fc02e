//! Guesses on rows of a small log whose secrets stay masked until the end.

use rand_chacha::ChaCha8Rng;

use leakgauge_attack::pairwise::Event;
use leakgauge_attack::pairwise::column_events::ColumnEvent;
use leakgauge_attack::pairwise::masked::{Features, MaskedGuesses};
use leakgauge_log::observations::Observations;
use leakgauge_stats::groups::GroupTest;
use leakgauge_stats::secret_blind::TakenRows;

/// Guesses with their shares of the level.
#[derive(Default)]
pub(crate) struct MaskedTests {
    pub tests: Vec<(f64, GroupTest, MaskedRows)>,
}

/// What was guessed of which rows.
#[derive(Debug, Clone)]
pub(crate) struct MaskedRows {
    /// Rows of both secrets that were not revealed at random.
    pub rows: [u64; 2],
    /// What is guessed to be of either secret.
    pub events: [Event; 2],
    /// For each secret the rows of it, and of the other, that are guessed to be of it.
    pub guessed: [[u64; 2]; 2],
}

/// A test for each ε that guesses may refute, with equal parts of a share of the level.
pub(crate) fn tests(
    observations: &Observations,
    taken: &TakenRows,
    events: &[ColumnEvent],
    references: &[f64],
    share: f64,
    rng: &mut ChaCha8Rng,
) -> MaskedTests {
    let Some(features) = Features::new(observations, taken, events) else {
        return MaskedTests::default();
    };
    let each = share / references.len().max(1) as f64;
    let test = |&epsilon: &f64| {
        let MaskedGuesses {
            test,
            guessed,
            masked,
            events,
        } = features.guess(taken, epsilon, rng)?;
        let [first, second] = guessed.each_ref().map(|set| taken.inside(set));
        let rows = MaskedRows {
            rows: taken.inside(&masked),
            events,
            guessed: [first, [second[1], second[0]]],
        };
        Some((each, test, rows))
    };
    MaskedTests {
        tests: references.iter().filter_map(test).collect(),
    }
}
