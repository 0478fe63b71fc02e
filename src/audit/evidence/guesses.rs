//! Guesses between two secrets where the scores are extreme, for limits of ε.

use std::fmt;
use std::sync::Arc;

use rand_chacha::ChaCha8Rng;

use crate::audit::evidence::groups::Judged;
use crate::audit::evidence::masked::MaskedRows;
use crate::audit::evidence::secret_blind;
use crate::audit::evidence::tails as events;
use crate::audit::evidence::tails::{Candidate, EventTests};
use crate::audit::figures::privacy::plan::{
    PrivacyPlan, blocks_for_guesses, delta_of_guesses, deltas_at, past_scores,
};
use crate::audit::learn::earlier::{Block, Learned};
use crate::audit::learn::trials::trials;
use crate::audit::plan::Plan;
use crate::audit::prepare::Prepared;
use leakgauge_attack::pairwise::PairScores;
use leakgauge_attack::scorer::Scorer;
use leakgauge_attack::tuning::Tuned;
use leakgauge_log::observations::Counts;
use leakgauge_stats::guess_tests::{GuessTests, PairTest, RARE_SHARE};
use leakgauge_stats::guesses::{Guesses, Side, wanted};
use leakgauge_stats::random::Stream;
use leakgauge_stats::tails::Tails;

/// A secret has so many rows, at least, where rows before say which events have a test of their own. With fewer, all rows
/// are needed to judge.
const OTHER_ROWS: u64 = 10_000;

/// The guesses of a limit of privacy.
#[derive(Debug, Clone)]
pub(crate) struct PairGuesses {
    /// What they prove.
    pub tests: GuessTests,
    /// The event of each of these tests.
    pub shown: Vec<Shown>,
}

impl PairGuesses {
    /// What the largest limit of ε at level 1 − `alpha` rests on.
    pub fn strongest(&self, delta: f64, alpha: f64) -> &Shown {
        &self.shown[self.tests.largest(delta, alpha)]
    }
}

/// What a test guessed on, and how that went.
#[derive(Debug, Clone)]
pub(crate) enum Shown {
    /// The ends of the scores of the last attack that guessed anything: on the certification rows, or on the block of
    /// rows before them.
    Ends(Ends),
    /// An event of observations.
    Event(Candidate),
    /// Groups of similar rows.
    Groups(Judged),
    /// Rows whose secrets stayed masked until the end.
    Masked(MaskedRows),
}

/// Guesses at both ends of an attack's scores, on rows that it did not learn from.
#[derive(Clone)]
pub(crate) struct Ends {
    pub attack: Arc<dyn Scorer>,
    pub tails: Tails,
    pub sides: [Side; 2],
}

impl fmt::Debug for Ends {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Ends")
            .field("attack", &self.attack.name())
            .field("tails", &self.tails)
            .field("sides", &self.sides)
            .finish()
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
    let pair = [privacy.rule.a, privacy.rule.b];
    let mut rng = prepared.random.rng(Stream::Guesses(pair));
    let blocks = blocks_for_guesses(prepared, tuned, earlier, privacy.rule);
    let (main, last) = if blocks.is_empty() {
        let trials = trials(prepared, &[], privacy.rule)[0];
        let last = ends(prepared, tuned, pair, first);
        let all = Guesses::of_one_rule(&[(last.sides, trials)], &mut rng);
        (all, last)
    } else {
        of_blocks(prepared, tuned, blocks, privacy, first, &mut rng)
    };
    let mut others = Others::NONE;
    if tuned.choices.len() == 1 {
        let rare = &mut prepared.random.rng(Stream::RareGuesses(pair));
        others = Others::of_pair(prepared, earlier, privacy, rare);
    }
    let Others {
        left,
        tests: others,
    } = others;
    let first = (left, main.into(), Shown::Ends(last));
    let all = std::iter::once(first).chain(others);
    let deltas = deltas_at(prepared, pair);
    let (tests, shown) = all
        .map(|(share, test, shown)| ((share, test.for_deltas(deltas)), shown))
        .unzip();
    PairGuesses {
        tests: GuessTests::new(tests),
        shown,
    }
}

/// A test with its share of the level, and what it guesses on.
type Test = (f64, PairTest, Shown);

/// Tests beside the one whose guesses were promised, and what they leave it of the level.
struct Others {
    left: f64,
    tests: Vec<Test>,
}

impl Others {
    const NONE: Self = Others {
        left: 1.0,
        tests: Vec::new(),
    };

    /// Those of the only two secrets. Which there are follows from numbers of rows, columns, secrets and observations, and from claims.
    fn of_pair(
        prepared: &Prepared,
        earlier: &[Block],
        privacy: &PrivacyPlan,
        rng: &mut ChaCha8Rng,
    ) -> Self {
        let rows = [privacy.rule.a, privacy.rule.b]
            .map(|secret| prepared.log.counts.rows()[secret as usize]);
        let are_many = rows[0].min(rows[1]) >= OTHER_ROWS;
        let mut others = Others::NONE;
        if are_many {
            others.learned(prepared, earlier, privacy, rng);
        }
        if let Some(blind) = secret_blind::tests(prepared, are_many) {
            others.left *= blind.left;
            others
                .tests
                .iter_mut()
                .for_each(|test| test.0 *= blind.left);
            others.add_events(blind.events);
            let groups = blind.groups.tests.into_iter().map(|(share, judged)| {
                let test = judged.groups.clone().into();
                (share, test, Shown::Groups(judged))
            });
            others.tests.extend(groups);
            let masked = blind.masked.tests.into_iter();
            let masked =
                masked.map(|(share, test, rows)| (share, test.into(), Shown::Masked(rows)));
            others.tests.extend(masked);
        }
        others
    }

    /// Tests on events of observations, else on a rare event of scores, by what rows before say of them.
    fn learned(
        &mut self,
        prepared: &Prepared,
        earlier: &[Block],
        privacy: &PrivacyPlan,
        rng: &mut ChaCha8Rng,
    ) {
        if let Some(found) = events::tests(prepared, earlier) {
            self.left = 1.0 - events::SHARE;
            self.add_events(found);
        } else if let Some((rare, ends)) = of_rare_event(prepared, earlier, privacy, rng) {
            self.left = 1.0 - RARE_SHARE;
            self.tests
                .push((RARE_SHARE, rare.into(), Shown::Ends(ends)));
        }
    }

    fn add_events(&mut self, found: EventTests) {
        let tests = found.tests.into_iter().zip(found.events);
        let tests = tests.map(|((share, test), event)| (share, test.into(), Shown::Event(event)));
        self.tests.extend(tests);
    }
}

/// The number of guesses is promised by the first block's ends; the ends of later ones are chosen so that
/// the promise is kept.
fn of_blocks(
    prepared: &Prepared,
    tuned: &Tuned,
    earlier: &[Block],
    privacy: &PrivacyPlan,
    first: Tails,
    rng: &mut ChaCha8Rng,
) -> (Guesses, Ends) {
    let pair = [privacy.rule.a, privacy.rule.b];
    let trials = trials(prepared, earlier, privacy.rule);
    let mut left: u64 = trials.iter().sum();
    let mut guesses = Guesses::new(wanted(first.promised(delta_of_guesses(prepared)), left));
    let blocks = earlier
        .iter()
        .map(|block| (&block.tuned, &block.learned, &block.rows));
    let last = Learned::of(&prepared.split);
    let blocks = blocks.chain([(tuned, &last, &prepared.split.certify)]);
    let mut shown: Option<Ends> = None;
    for (at, ((tuned, learned, rows), trials)) in blocks.zip(trials).enumerate() {
        let tails = if at == 0 {
            first
        } else {
            let past = past_scores(prepared, tuned, learned, pair).past();
            past.with_share(guesses.share_needed(left, past.rows()))
        };
        let sides = scores(prepared, tuned, rows, pair).guess(&tails);
        guesses.add(&sides[0], &sides[1], trials, rng);
        left -= trials;
        // Once the promise is kept, later blocks may guess at nothing.
        let guessed = sides.iter().any(|side| side.right + side.wrong > 0);
        if guessed || shown.is_none() {
            shown = Some(Ends {
                attack: attack_of(tuned).clone(),
                tails,
                sides,
            });
        }
    }
    (guesses, shown.expect("the certification rows are a block"))
}

/// Guesses on all rows from the last block before the certification rows on, by the ends that its past promises
/// most of. Whether there are such guesses follows from numbers of rows alone.
fn of_rare_event(
    prepared: &Prepared,
    earlier: &[Block],
    privacy: &PrivacyPlan,
    rng: &mut ChaCha8Rng,
) -> Option<(Guesses, Ends)> {
    let pair = [privacy.rule.a, privacy.rule.b];
    let block = earlier.last()?;
    let trials = trials(prepared, &earlier[earlier.len() - 1..], privacy.rule);
    let past = past_scores(prepared, &block.tuned, &block.learned, pair).past();
    let past = past.with_delta(delta_of_guesses(prepared));
    let tails = past.boldest(trials.iter().sum(), RARE_SHARE * prepared.alpha);
    let tails = tails.unwrap_or(Tails::NONE);
    let judged = [&block.rows, &prepared.split.certify]
        .map(|rows| scores(prepared, &block.tuned, rows, pair).guess(&tails));
    let sides = judged[1];
    let blocks: Vec<_> = judged.into_iter().zip(trials).collect();
    let attack = attack_of(&block.tuned).clone();
    let ends = Ends {
        attack,
        tails,
        sides,
    };
    Some((Guesses::of_one_rule(&blocks, rng), ends))
}

fn ends(prepared: &Prepared, tuned: &Tuned, pair: [u32; 2], tails: Tails) -> Ends {
    Ends {
        attack: attack_of(tuned).clone(),
        tails,
        sides: scores(prepared, tuned, &prepared.split.certify, pair).guess(&tails),
    }
}

/// The attack that limits of privacy rest on.
pub(crate) fn attack_of(tuned: &Tuned) -> &Arc<dyn Scorer> {
    tuned.for_privacy.as_ref().unwrap_or(&tuned.scorer)
}

fn scores(prepared: &Prepared, tuned: &Tuned, rows: &Counts, pair: [u32; 2]) -> PairScores {
    PairScores::judge(&**attack_of(tuned), &prepared.log.observations, rows, pair)
}
