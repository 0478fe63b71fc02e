//! Guesses between two secrets where the scores are extreme, for limits of ε.

use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

use crate::audit::earlier::{Block, Learned};
use crate::audit::plan::{Plan, trials};
use crate::audit::prepare::Prepared;
use crate::audit::privacy_plan::{PrivacyPlan, blocks_for_guesses, past_scores};
use leakgauge_attack::pairwise::PairScores;
use leakgauge_attack::tuning::Tuned;
use leakgauge_log::observations::Counts;
use leakgauge_stats::guesses::{Guesses, wanted};
use leakgauge_stats::tails::Tails;

/// A stream of random numbers that no other use of the seed reaches.
const STREAM: u64 = 1 << 51;

/// The guesses of every limit of privacy that rests on some. Limits at the same two secrets share them.
pub(super) fn guesses(
    prepared: &Prepared,
    tuned: &Tuned,
    earlier: &[Block],
    plan: &Plan,
) -> Vec<Option<Guesses>> {
    let mut known: Vec<([u32; 2], Guesses)> = Vec::new();
    let of_plan = |privacy: &PrivacyPlan| {
        let first = privacy.tails?;
        let pair = [privacy.rule.a, privacy.rule.b];
        if let Some((_, guesses)) = known.iter().find(|known| known.0 == pair) {
            return Some(*guesses);
        }
        let earlier = &earlier[..blocks_for_guesses(tuned, earlier)];
        let guesses = of_pair(prepared, tuned, earlier, privacy, first);
        known.push((pair, guesses));
        Some(guesses)
    };
    plan.privacy.iter().map(of_plan).collect()
}

/// The number of guesses is promised by the first block's ends; the ends of later ones are chosen so that
/// the promise is kept.
fn of_pair(
    prepared: &Prepared,
    tuned: &Tuned,
    earlier: &[Block],
    privacy: &PrivacyPlan,
    first: Tails,
) -> Guesses {
    let pair = [privacy.rule.a, privacy.rule.b];
    let mut rng = ChaCha8Rng::seed_from_u64(prepared.options.seed);
    rng.set_stream(STREAM + (u64::from(pair[0]) << 20) + u64::from(pair[1]));
    let trials = trials(prepared, earlier, privacy.rule);
    let mut left: u64 = trials.iter().sum();
    let mut guesses = Guesses::new(wanted(first.promised(), left));
    let blocks = earlier
        .iter()
        .map(|block| (&block.tuned, &block.learned, &block.rows));
    let last = Learned::of(&prepared.split);
    let blocks = blocks.chain([(tuned, &last, &prepared.split.certify)]);
    for (at, ((tuned, learned, rows), trials)) in blocks.zip(trials).enumerate() {
        let tails = if at == 0 {
            first
        } else {
            let past = past_scores(prepared, tuned, learned, pair).past();
            past.with_share(guesses.share_needed(left, past.rows()))
        };
        let [a, b] = scores(prepared, tuned, rows, pair).guess(&tails);
        guesses.add(&a, &b, trials, &mut rng);
        left -= trials;
    }
    guesses
}

fn scores(prepared: &Prepared, tuned: &Tuned, rows: &Counts, pair: [u32; 2]) -> PairScores {
    let attack = tuned.for_privacy.as_ref().unwrap_or(&tuned.scorer);
    PairScores::judge(&**attack, &prepared.log.observations, rows, pair)
}
