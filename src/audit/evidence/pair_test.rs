//! What a test of a pair of secrets is: it plans its share of the level, judges, and names what it guessed on.

use std::fmt::Debug;
use std::sync::Arc;

use crate::audit::evidence::secret_blind::Blind;
use crate::audit::figures::privacy::plan::PrivacyPlan;
use crate::audit::figures::privacy::witness::WitnessEvent;
use crate::audit::learn::earlier::Block;
use crate::audit::pair::{Labels, Pair};
use crate::audit::prepare::Prepared;
use crate::estimate::Method;
use leakgauge_log::observations::{Counts, Observations};
use leakgauge_stats::guess_tests;

/// A kind of test beside the guesses at the ends of an attack's scores.
pub(crate) trait PairTest: Sync {
    /// What is tested, and the share of the level for it; `None` where this kind is not tried. That follows from
    /// numbers of rows, columns, secrets and observations, from the attacks asked for and from claims, never from how a
    /// row that judges would be guessed.
    fn plan<'a>(&self, pair: &'a TestedPair<'a>) -> Option<Planned<'a>>;
}

/// What tests may read.
pub(crate) struct TestedPair<'a> {
    pub prepared: &'a Prepared<'a>,
    /// Blocks of rows before the certification rows.
    pub earlier: &'a [Block],
    /// The limit that the tests are for.
    pub privacy: &'a PrivacyPlan,
    /// Whether both secrets have so many rows that rows before may say what is tested.
    pub has_many_rows: bool,
    /// What is known of rows without their secrets, where tests are chosen by that.
    pub blind: Option<Blind>,
}

/// A share of the level, and what judges at it.
pub(crate) struct Planned<'a> {
    pub share: f64,
    pub judge: Box<dyn FnOnce(f64) -> Vec<Tested> + 'a>,
}

impl<'a> Planned<'a> {
    /// With tests that share a part of the level.
    pub fn new(share: f64, judge: impl FnOnce(f64) -> Vec<Tested> + 'a) -> Self {
        let judge = Box::new(judge);
        Planned { share, judge }
    }
}

/// A test with its share of the level, and what it guessed on.
pub(crate) struct Tested {
    pub share: f64,
    pub test: guess_tests::PairTest,
    pub shown: Arc<dyn Shown>,
}

impl Tested {
    pub fn new(
        share: f64,
        test: impl Into<guess_tests::PairTest>,
        shown: impl Shown + 'static,
    ) -> Self {
        Tested {
            share,
            test: test.into(),
            shown: Arc::new(shown),
        }
    }
}

/// What a test guessed on, and how that went.
pub(crate) trait Shown: Debug + Send + Sync {
    /// How a limit that rests on it is obtained.
    fn method(&self) -> Method {
        Method::PromisedGuesses
    }

    /// What stands for the attack.
    fn attack(&self) -> &str;

    /// The events that were guessed on for these two secrets.
    fn events(&self, names: &Names, pair: [u32; 2]) -> Vec<WitnessEvent>;
}

/// What secrets and observations are called.
pub(crate) struct Names<'a> {
    pub labels: &'a Labels,
    pub observations: &'a Observations,
    /// The certification rows.
    pub certify: &'a Counts,
}

impl Names<'_> {
    /// Two secrets by their numbers.
    pub fn secrets(&self, secrets: [u32; 2]) -> Pair {
        Pair::new(self.labels.clone(), secrets)
    }
}
