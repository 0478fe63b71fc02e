//! An event of observations that one of two secrets is guessed on.

use rand_chacha::ChaCha8Rng;

use crate::audit::evidence::pair_test::{Names, Shown};
use crate::audit::figures::privacy::witness::WitnessEvent;
use leakgauge_attack::pairwise::Event;
use leakgauge_attack::tuning::ScorerChoice;
use leakgauge_stats::all_rows::tosses;
use leakgauge_stats::guesses::{Guesses, Side};

/// An event that one of two secrets is guessed on.
#[derive(Debug, Clone)]
pub(crate) struct Candidate {
    pub event: Observed,
    /// The secret that is guessed, then the other.
    pub secrets: [u32; 2],
    /// Rows of both that judge.
    pub rows: [u64; 2],
    /// Those of them in the event.
    pub inside: [u64; 2],
}

/// What is seen in a row of the event.
#[derive(Debug, Clone)]
pub(crate) enum Observed {
    /// One observation.
    Symbol(u32),
    /// A number of the only column that is at least this.
    AtLeast(f64),
    /// One that is at most this.
    AtMost(f64),
    /// An event of one column or two.
    Columns(Event),
}

impl Candidate {
    pub fn guesses(&self, rng: &mut ChaCha8Rng) -> Guesses {
        let [rows, others] = self.rows;
        let guessed = Side {
            rows,
            right: self.inside[0],
            wrong: 0,
        };
        let other = Side {
            rows: others,
            right: 0,
            wrong: self.inside[1],
        };
        Guesses::of_one_rule(&[([guessed, other], tosses(rows, others))], rng)
    }
}

impl Shown for Candidate {
    /// The attack that looks for such events, were they to be found by learning.
    fn attack(&self) -> &str {
        let attack = match &self.event {
            Observed::Symbol(_) => ScorerChoice::Frequentist,
            Observed::AtLeast(_) | Observed::AtMost(_) => ScorerChoice::Threshold,
            Observed::Columns(event) => attack_on(event),
        };
        attack.name()
    }

    fn events(&self, names: &Names, _: [u32; 2]) -> Vec<WitnessEvent> {
        let column = || names.observations.columns()[0].name.clone();
        let tail = |at_least, at_most| Event::Interval {
            column: column(),
            at_least,
            at_most,
        };
        let event = match &self.event {
            Observed::Symbol(symbol) => Event::Outcomes(vec![names.observations.label(*symbol)]),
            Observed::AtLeast(bound) => tail(Some(*bound), None),
            Observed::AtMost(bound) => tail(None, Some(*bound)),
            Observed::Columns(event) => event.clone(),
        };
        vec![WitnessEvent {
            secrets: names.secrets(self.secrets),
            event,
            rows: self.rows,
            inside: self.inside,
        }]
    }
}

fn attack_on(event: &Event) -> ScorerChoice {
    let labels = |event: &Event| matches!(event, Event::Labels { .. });
    let is_of_labels = match event {
        Event::Both(both) => both.iter().all(labels),
        one => labels(one),
    };
    if is_of_labels {
        ScorerChoice::Frequentist
    } else {
        ScorerChoice::Threshold
    }
}
