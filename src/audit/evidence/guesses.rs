//! The tests of a pair of secrets that a limit of ε rests on, and how they share the level.

use std::sync::Arc;

use crate::audit::evidence::columns::Columns;
use crate::audit::evidence::ends::{RareEvent, promised};
use crate::audit::evidence::groups::Groups;
use crate::audit::evidence::masked::Masked;
use crate::audit::evidence::pair_test::{PairTest, Planned, Shown, Tested, TestedPair};
use crate::audit::evidence::secret_blind::Blind;
use crate::audit::evidence::tails;
use crate::audit::figures::privacy::plan::PrivacyPlan;
use crate::audit::learn::earlier::Block;
use crate::audit::plan::Plan;
use crate::audit::prepare::Prepared;
use leakgauge_attack::tuning::Tuned;
use leakgauge_stats::guess_tests::GuessTests;
use leakgauge_stats::tails::Tails;

/// Tests that rows before choose, where there are many: the first that is tried at all.
const LEARNED: [&dyn PairTest; 2] = [&tails::Tails, &RareEvent];
/// Tests that are chosen without looking at secrets: all that are tried.
const BLIND: [&dyn PairTest; 3] = [&Columns, &Groups, &Masked];

/// A secret has so many rows, at least, where rows before say which events have a test of their own. With fewer, all
/// rows are needed to judge.
const OTHER_ROWS: u64 = 10_000;

/// The guesses of a limit of privacy.
#[derive(Debug, Clone)]
pub(crate) struct PairGuesses {
    /// What they prove.
    pub tests: GuessTests,
    /// What each of these tests guessed on.
    pub shown: Vec<Arc<dyn Shown>>,
}

impl PairGuesses {
    /// What the largest limit of ε at level 1 − `alpha` rests on.
    pub fn strongest(&self, delta: f64, alpha: f64) -> &dyn Shown {
        &*self.shown[self.tests.largest(delta, alpha)]
    }
}

/// The guesses of every limit of privacy that rests on some. Limits at the same two secrets share them.
pub(crate) fn guesses(
    prepared: &Prepared,
    tuned: &Tuned,
    earlier: &[Block],
    plan: &Plan,
) -> Vec<Option<PairGuesses>> {
    let mut known: Vec<([u32; 2], PairGuesses)> = Vec::new();
    let of_plan = |privacy: &PrivacyPlan| {
        let first = privacy.tails?;
        let pair = [privacy.rule.a, privacy.rule.b];
        if let Some((_, guesses)) = known.iter().find(|known| known.0 == pair) {
            return Some(guesses.clone());
        }
        let guesses = of_pair(prepared, tuned, earlier, privacy, first);
        known.push((pair, guesses.clone()));
        Some(guesses)
    };
    plan.privacy.iter().map(of_plan).collect()
}

fn of_pair(
    prepared: &Prepared,
    tuned: &Tuned,
    earlier: &[Block],
    privacy: &PrivacyPlan,
    first: Tails,
) -> PairGuesses {
    let promised = promised(prepared, tuned, earlier, privacy, first);
    let (left, others) = match tuned.choices.len() {
        1 => others(prepared, earlier, privacy),
        _ => (1.0, Vec::new()),
    };
    let deltas = privacy.deltas.len() as u64 - 1;
    let all = std::iter::once(promised(left)).chain(others);
    let (tests, shown) = all
        .map(|tested| {
            let test = tested.test.for_deltas(deltas);
            ((tested.share, test), tested.shown)
        })
        .unzip();
    PairGuesses {
        tests: GuessTests::new(tests),
        shown,
    }
}

/// Tests of the only two secrets beside the one whose guesses were promised, and what they leave it of the level.
fn others(prepared: &Prepared, earlier: &[Block], privacy: &PrivacyPlan) -> (f64, Vec<Tested>) {
    let rows =
        [privacy.rule.a, privacy.rule.b].map(|secret| prepared.log.counts.rows()[secret as usize]);
    let has_many_rows = rows[0].min(rows[1]) >= OTHER_ROWS;
    let pair = TestedPair {
        prepared,
        earlier,
        privacy,
        has_many_rows,
        blind: Blind::of(prepared, has_many_rows),
    };
    let learned = || LEARNED.iter().find_map(|test| test.plan(&pair));
    let (mut left, mut tests) = match has_many_rows.then(learned).flatten() {
        Some(Planned { share, judge }) => (1.0 - share, judge(share)),
        None => (1.0, Vec::new()),
    };
    let blind = BLIND.iter().filter_map(|test| test.plan(&pair));
    let blind: Vec<Planned> = blind.collect();
    let beside = blind.iter().fold(1.0, |left, test| left - test.share);
    left *= beside;
    for test in &mut tests {
        test.share *= beside;
    }
    tests.extend(
        blind
            .into_iter()
            .flat_map(|Planned { share, judge }| judge(share)),
    );
    (left, tests)
}
