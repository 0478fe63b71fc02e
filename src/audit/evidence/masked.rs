//! Guesses on rows of a small log whose secrets stay masked until the end.

use rand_chacha::ChaCha8Rng;

use crate::audit::evidence::pair_test::{Names, PairTest, Planned, Shown, Tested, TestedPair};
use crate::audit::evidence::secret_blind::BlindRows;
use crate::audit::figures::privacy::witness::{MASKED, WitnessEvent};
use crate::estimate::Method;
use leakgauge_attack::pairwise::Event;
use leakgauge_attack::pairwise::masked::{Features, MaskedGuesses};
use leakgauge_log::observations::Observations;

/// What these guesses get of the level beside events of columns, and beside events that rows before chose.
const BESIDE_EVENTS: f64 = 0.4;
const BESIDE_LEARNED_EVENTS: f64 = 0.3;

/// Guesses on rows whose secrets stay masked.
pub(crate) struct Masked;

impl PairTest for Masked {
    fn plan<'a>(&self, pair: &'a TestedPair<'a>) -> Option<Planned<'a>> {
        let blind = pair.blind.as_ref();
        let blind = blind.filter(|blind| !blind.references.is_empty())?;
        let share = match pair.has_many_rows {
            true => BESIDE_LEARNED_EVENTS,
            false => BESIDE_EVENTS,
        };
        let observations = &pair.prepared.log.observations;
        Some(Planned::new(share, move |share| match &blind.rows {
            Some(rows) => tests(observations, rows, &blind.references, share),
            None => Vec::new(),
        }))
    }
}

/// What was guessed of which rows.
#[derive(Debug, Clone)]
struct MaskedRows {
    /// Rows of both secrets that were not revealed at random.
    rows: [u64; 2],
    /// What is guessed to be of either secret.
    events: [Event; 2],
    /// For each secret the rows of it, and of the other, that are guessed to be of it.
    guessed: [[u64; 2]; 2],
}

impl Shown for MaskedRows {
    fn method(&self) -> Method {
        Method::MaskedRows
    }

    fn attack(&self) -> &str {
        MASKED
    }

    /// The guesses of either secret.
    fn events(&self, names: &Names, _: [u32; 2]) -> Vec<WitnessEvent> {
        let event = |secret: usize| WitnessEvent {
            secrets: names.secrets([secret as u32, 1 - secret as u32]),
            event: self.events[secret].clone(),
            rows: [self.rows[secret], self.rows[1 - secret]],
            inside: self.guessed[secret],
        };
        vec![event(0), event(1)]
    }
}

/// A test for each ε that guesses may refute, with equal parts of a share of the level.
fn tests(
    observations: &Observations,
    BlindRows { taken, events, rng }: &BlindRows,
    references: &[f64],
    share: f64,
) -> Vec<Tested> {
    let Some(features) = Features::new(observations, taken, &events.single) else {
        return Vec::new();
    };
    let each = share / references.len().max(1) as f64;
    let mut rng: ChaCha8Rng = rng.clone();
    let test = |&epsilon: &f64| {
        let MaskedGuesses {
            test,
            guessed,
            masked,
            events,
        } = features.guess(taken, epsilon, &mut rng)?;
        let [first, second] = guessed.each_ref().map(|set| taken.inside(set));
        let rows = MaskedRows {
            rows: taken.inside(&masked),
            events,
            guessed: [first, [second[1], second[0]]],
        };
        Some(Tested::new(each, test, rows))
    };
    references.iter().filter_map(test).collect()
}
