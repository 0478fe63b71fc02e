//! Guesses between two secrets where the scores of an attack are extreme.

use std::fmt;
use std::sync::Arc;

use rand_chacha::ChaCha8Rng;

use crate::audit::evidence::pair_test::{Names, PairTest, Planned, Shown, Tested, TestedPair};
use crate::audit::figures::privacy::plan::{
    PrivacyPlan, blocks_for_guesses, delta_of_guesses, past_scores,
};
use crate::audit::figures::privacy::witness::WitnessEvent;
use crate::audit::learn::earlier::{Block, Learned};
use crate::audit::learn::trials::trials;
use crate::audit::prepare::Prepared;
use leakgauge_attack::pairwise::{Event, PairScores, ScoreEvent};
use leakgauge_attack::scorer::Scorer;
use leakgauge_attack::tuning::Tuned;
use leakgauge_log::observations::Counts;
use leakgauge_stats::guess_tests::RARE_SHARE;
use leakgauge_stats::guesses::{Guesses, Side, wanted};
use leakgauge_stats::random::Stream;
use leakgauge_stats::tails::Tails;

/// Guesses at both ends of an attack's scores, on rows that it did not learn from.
struct Ends {
    attack: Arc<dyn Scorer>,
    tails: Tails,
    sides: [Side; 2],
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

impl Shown for Ends {
    fn attack(&self) -> &str {
        self.attack.name()
    }

    /// The events of guesses for the first and for the second secret.
    fn events(&self, names: &Names, [a, b]: [u32; 2]) -> Vec<WitnessEvent> {
        let [of_a, of_b] = self.sides;
        let event = |secrets: [u32; 2], event: ScoreEvent, rows: [u64; 2], inside: [u64; 2]| {
            // There is nothing to name in an end that was never reached.
            (inside != [0, 0]).then(|| WitnessEvent {
                secrets: names.secrets(secrets),
                event: Event::describe(
                    &*self.attack,
                    names.observations,
                    names.certify,
                    [a, b],
                    event,
                ),
                rows,
                inside,
            })
        };
        let above = event(
            [a, b],
            ScoreEvent::AtLeast(self.tails.above),
            [of_a.rows, of_b.rows],
            [of_a.right, of_b.wrong],
        );
        let below = event(
            [b, a],
            ScoreEvent::AtMost(self.tails.below),
            [of_b.rows, of_a.rows],
            [of_b.right, of_a.wrong],
        );
        above.into_iter().chain(below).collect()
    }
}

/// The guesses that were promised by what the first judged block's past showed, at a share of the level: on the
/// certification rows, or on blocks of rows before them, too. What is shown is the last attack that guessed anything.
pub(crate) fn promised(
    prepared: &Prepared,
    tuned: &Tuned,
    earlier: &[Block],
    privacy: &PrivacyPlan,
    first: Tails,
) -> impl FnOnce(f64) -> Tested {
    let pair = [privacy.rule.a, privacy.rule.b];
    let mut rng = prepared.random.rng(Stream::Guesses(pair));
    let blocks = blocks_for_guesses(prepared, tuned, earlier, privacy.rule);
    let (guesses, last) = if blocks.is_empty() {
        let trials = trials(prepared, &[], privacy.rule)[0];
        let last = ends(prepared, tuned, pair, first);
        let all = Guesses::of_one_rule(&[(last.sides, trials)], &mut rng);
        (all, last)
    } else {
        of_blocks(prepared, tuned, blocks, privacy, first, &mut rng)
    };
    move |share| Tested::new(share, guesses, last)
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
                attack: tuned.privacy_attack().clone(),
                tails,
                sides,
            });
        }
    }
    (guesses, shown.expect("the certification rows are a block"))
}

/// Guesses on all rows from the last block before the certification rows on, by the ends that its past promises
/// most of. Whether there are such guesses follows from numbers of rows alone.
pub(crate) struct RareEvent;

impl PairTest for RareEvent {
    fn plan<'a>(&self, pair: &'a TestedPair<'a>) -> Option<Planned<'a>> {
        let TestedPair {
            prepared,
            earlier,
            privacy,
            ..
        } = *pair;
        let block = earlier.last()?;
        let judge = move |share| {
            let (guesses, ends) = of_rare_event(prepared, block, privacy);
            vec![Tested::new(share, guesses, ends)]
        };
        Some(Planned::new(RARE_SHARE, judge))
    }
}

fn of_rare_event(prepared: &Prepared, block: &Block, privacy: &PrivacyPlan) -> (Guesses, Ends) {
    let pair = [privacy.rule.a, privacy.rule.b];
    let trials = trials(prepared, std::slice::from_ref(block), privacy.rule);
    let past = past_scores(prepared, &block.tuned, &block.learned, pair).past();
    let past = past.with_delta(delta_of_guesses(prepared));
    let tails = past.boldest(trials.iter().sum(), RARE_SHARE * prepared.alpha);
    let tails = tails.unwrap_or(Tails::NONE);
    let judged = [&block.rows, &prepared.split.certify]
        .map(|rows| scores(prepared, &block.tuned, rows, pair).guess(&tails));
    let sides = judged[1];
    let blocks: Vec<_> = judged.into_iter().zip(trials).collect();
    let attack = block.tuned.privacy_attack().clone();
    let ends = Ends {
        attack,
        tails,
        sides,
    };
    let mut rng = prepared.random.rng(Stream::RareGuesses(pair));
    (Guesses::of_one_rule(&blocks, &mut rng), ends)
}

fn ends(prepared: &Prepared, tuned: &Tuned, pair: [u32; 2], tails: Tails) -> Ends {
    Ends {
        attack: tuned.privacy_attack().clone(),
        tails,
        sides: scores(prepared, tuned, &prepared.split.certify, pair).guess(&tails),
    }
}

fn scores(prepared: &Prepared, tuned: &Tuned, rows: &Counts, pair: [u32; 2]) -> PairScores {
    PairScores::judge(
        &**tuned.privacy_attack(),
        &prepared.log.observations,
        rows,
        pair,
    )
}
