//! Units before the certification units testify too, before they are learned from.
//!
//! The fitting and tuning units are dealt to blocks, as rows are in `learn/earlier.rs`: each block but the first is
//! judged by an attack that was learned and tuned on the units of the blocks before it. Bets on all blocks together
//! limit the mean advantage of their attacks from below, and the best of these has no less.

use rand_chacha::ChaCha8Rng;

use crate::audit::learn::attack::{for_trying, learn};
use crate::audit::learn::blocks::unit_begins;
use crate::audit::prepare::Prepared;
use leakgauge_attack::pairwise::units::{UnitGuide, UnitTally, judge_units, tally_units};
use leakgauge_attack::pairwise::{Rule, pairs};
use leakgauge_attack::split::{Split, UnitParts, parts_of_units};
use leakgauge_attack::tuning::Tuned;
use leakgauge_base::error::Result;
use leakgauge_log::UnitRows;
use leakgauge_stats::betting::UnitRates;
use leakgauge_stats::random::Stream;

/// A block of units and the attack that judges it.
pub(crate) struct UnitBlock {
    /// The units that are judged.
    units: UnitRows,
    /// The attack, from earlier units alone, and these; `None` where nothing could be learned from them. Then a rule judges
    /// that looks at nothing: which blocks there are does not depend on what was observed.
    attack: Option<(Tuned, UnitParts)>,
}

/// Learns the attacks of the blocks before the certification units; none where these alone judge.
pub(crate) fn earlier(prepared: &Prepared) -> Result<Vec<UnitBlock>> {
    let (Some(begins), Some(parts)) = (unit_begins(prepared), &prepared.units) else {
        return Ok(Vec::new());
    };
    let secrets = prepared.log.secrets.len();
    let mut rng = prepared.random.rng(Stream::Earlier);
    let past = parts.fit.plus(&parts.tune);
    // The certification units are the last block, and not among those that are dealt.
    let ends = begins.iter().skip(1).chain([&LEARNED]);
    let widths = begins.iter().zip(ends).map(|(begin, end)| end - begin);
    let shares: Vec<f64> = begins.iter().take(1).copied().chain(widths).collect();
    let mut dealt = parts_of_units(&past, secrets, &shares, &mut rng).into_iter();
    let mut past = dealt.next().expect("a first part");
    let mut blocks: Vec<UnitBlock> = Vec::new();
    for (units, begin) in dealt.zip(begins) {
        let attack = attack_from(prepared, &past, *begin, &mut rng).ok();
        if blocks.is_empty() && attack.is_none() {
            // The first part, which does not judge, teaches nothing.
            return Ok(blocks);
        }
        blocks.push(UnitBlock {
            units: units.clone(),
            attack,
        });
        past = past.plus(&units);
    }
    Ok(blocks)
}

/// The share of the units that the last attack is learned from.
const LEARNED: f64 = 0.6;

fn attack_from(
    prepared: &Prepared,
    past: &UnitRows,
    share: f64,
    rng: &mut ChaCha8Rng,
) -> Result<(Tuned, UnitParts)> {
    let nobody = UnitRows::new(Vec::new());
    let secrets = prepared.log.secrets.len();
    let (split, parts) = Split::across_units(past, &nobody, secrets, true, rng);
    let budget = for_trying(prepared).part(share);
    Ok((learn(prepared, &split, Some(&parts), budget)?, parts))
}

impl UnitBlock {
    /// The attack, if there is one.
    pub fn tuned(&self) -> Option<&Tuned> {
        self.attack.as_ref().map(|(tuned, _)| tuned)
    }

    /// Of every pair the units' errors in this block, and what the units before it say of how they spread.
    pub(super) fn judge(&self, prepared: &Prepared) -> Vec<(UnitTally, UnitGuide)> {
        let observations = &prepared.log.observations;
        let secrets = prepared.log.secrets.len();
        let Some((tuned, learned)) = &self.attack else {
            let blind = |(a, b)| UnitTally::of_no_attack(&self.units, secrets, [a, b]);
            let pairs = pairs(secrets).map(blind);
            return pairs.map(|tally| (tally, UnitGuide::unknown())).collect();
        };
        let choices = tuned.choices.iter();
        let rules: Vec<Rule> = choices.map(|choice| choice.rule).collect();
        let past = tally_units(&tuned.scores, &learned.tune, &rules, &[]);
        let scorer = &*tuned.scorer;
        let found = judge_units(scorer, observations, &self.units, secrets, &rules, &[]);
        let guides = past.rules.iter().map(UnitGuide::new);
        found.rules.into_iter().zip(guides).collect()
    }
}

/// The sum of both error rates of a pair in all blocks, each weighing as many units as it has of the pair. Blocks that
/// lack one of the secrets are left out.
pub(super) fn join<'a>(
    blocks: impl Iterator<Item = (&'a UnitTally, &'a UnitGuide)>,
) -> Option<UnitRates> {
    let mut first = None;
    let sums: Vec<(f64, UnitRates)> = blocks
        .filter_map(|(tally, guide)| {
            // Those with units of both secrets.
            tally.units().iter().all(|units| *units > 0).then_some(())?;
            let units: u64 = tally.units().iter().sum();
            let first = *first.get_or_insert(guide);
            Some((units as f64, guide.sum_after(first, &tally.errors())?))
        })
        .collect();
    let all: f64 = sums.iter().map(|(units, _)| units).sum();
    let shared: Vec<(f64, UnitRates)> = sums
        .into_iter()
        .map(|(units, sum)| (units / all, sum))
        .collect();
    (shared.len() > 1).then(|| UnitRates::join(&shared))
}
