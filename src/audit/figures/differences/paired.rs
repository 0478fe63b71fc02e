//! Differences inside blocks, pair by pair, from the measurements themselves.

use rand_chacha::ChaCha8Rng;

use crate::audit::certified_limit::CertifiedLimit;
use crate::audit::claims::time_check::{families, holds_times};
use crate::audit::figures::differences::last::{Differing, Last};
use crate::audit::figures::differences::times;
use crate::audit::figures::differences::{
    BlocksCompared, Compared, Difference, Differences, InBlocks,
};
use crate::audit::pair::Pair;
use crate::audit::plan::Plan;
use crate::audit::prepare::Prepared;
use crate::estimate::{Estimate, Method, Methods, Reason};
use leakgauge_attack::blocks::{InBoth, Measurements};
use leakgauge_base::parallel;
use leakgauge_exact::claim::BoundClaim;
use leakgauge_stats::clock::{Clock, Recorded};
use leakgauge_stats::paired::{self, PairedRule, Sample, Times};
use leakgauge_stats::random::Stream;

/// Blocks of all pairs that are compared at a time, unless one pair has more: a block takes about 40 bytes.
const MAX_AT_ONCE: usize = 10_000_000;

/// Finds the differences of all pairs.
pub(crate) fn find(prepared: &Prepared, plan: &Plan) -> Option<Differences> {
    let measured = prepared.measured.as_ref()?;
    let facts = prepared.log.facts.blocks.as_ref()?;
    let secrets = prepared.labels.len() as u32;
    let pairs: Vec<[u32; 2]> = (0..secrets)
        .flat_map(|a| (a + 1..secrets).map(move |b| [a, b]))
        .collect();
    let level = Level {
        alpha: prepared.alpha,
        share: plan.share(CertifiedLimit::TimeDifference)
            / families(prepared.claims.iter().map(BoundClaim::claim)),
        pairs: pairs.len() as f64,
    };
    let sorted = measured.rows.sorted();
    let last = Last::of(prepared.log);
    let times = times::of_secrets(&sorted, last);
    let clock = times::clock(recorded(&measured.rows, &sorted, last), prepared);
    let find = |at: usize| {
        let mut rng = prepared.random.rng(Stream::Paired(at as u32));
        let both = measured.rows.in_both(pairs[at], &sorted);
        difference((prepared, &clock, last), both, pairs[at], level, &mut rng)
    };
    // Few pairs at a time, where each takes much memory.
    let at_once = (MAX_AT_ONCE / facts.blocks.max(1) as usize).max(1);
    let mut found = Vec::with_capacity(pairs.len());
    for first in (0..pairs.len()).step_by(at_once) {
        let some = at_once.min(pairs.len() - first);
        found.extend(parallel::map(some, |at| find(first + at)));
    }
    let mut pairs: Vec<Difference> = found.into_iter().flatten().collect();
    Difference::sort(&mut pairs);
    let p_value = pairs.iter().map(|pair| pair.p_value).fold(1.0, f64::min);
    Some(Differences {
        unit: prepared.options.unit_of(prepared.log),
        blocks: Some(BlocksCompared {
            reference: measured.reference,
            blocks: facts.blocks,
            attacked: measured.attacked,
            incomplete: facts.incomplete,
            alone: facts.alone,
        }),
        clock,
        counts_last: last.is_some(),
        least: paired::least_blocks(0.5 * level.share / level.pairs),
        step_is_given: prepared.options.clock_step.is_some(),
        negative: match holds_times(prepared.log, prepared.options) {
            true => sorted
                .iter()
                .map(|of| of.partition_point(|&x| x < 0.0) as u64)
                .sum(),
            false => 0,
        },
        p_value,
        pairs,
        times,
    })
}

/// What was recorded: each secret, and early and late parts of the log, whose clock may be another.
fn recorded(rows: &Measurements, sorted: &[Vec<f64>], last: Option<Last>) -> Vec<Recorded> {
    const PARTS: usize = 4;
    /// Of fewer values parts tell nothing that the whole does not.
    const LEAST: usize = 200;
    let of_clock = |of: &[f64]| Recorded::sorted(last.map_or(of, |last| last.recorded(of)));
    let mut parts: Vec<Recorded> = sorted.iter().map(|of| of_clock(of)).collect();
    for (secret, of) in sorted.iter().enumerate() {
        if of.len() >= PARTS * LEAST {
            let in_order = rows.in_order(secret as u32).iter().copied();
            let is_recorded = |time: &f64| last.is_none_or(|last| last.capped(*time) == *time);
            let in_order: Vec<f64> = in_order.filter(is_recorded).collect();
            parts.extend(
                in_order
                    .chunks(of.len().div_ceil(PARTS))
                    .map(Recorded::some),
            );
        }
    }
    parts
}

/// How the level is shared.
#[derive(Clone, Copy)]
struct Level {
    /// α of the log.
    alpha: f64,
    /// The part that the lower limits of the differences have.
    share: f64,
    pairs: f64,
}

fn difference(
    (prepared, clock, last): (&Prepared, &Clock, Option<Last>),
    both: InBoth,
    pair: [u32; 2],
    level: Level,
    rng: &mut ChaCha8Rng,
) -> Option<Difference> {
    let blocks = &both.blocks;
    if blocks.is_empty() {
        return None;
    }
    let [mut x, mut y] = both.times.each_ref();
    let mut sample = Sample::new(x.in_order(), y.in_order());
    // Before the two are put in order by all blocks: what is learned must not know those that judge.
    let times = [x.in_order(), y.in_order()];
    let (paired_advantage, paired_at_most) = paired_advantage(prepared, blocks, times, level, rng);
    let mut secrets = Pair::new(prepared.labels.clone(), pair);
    if paired::median(&sample, level.alpha).point < 0.0 {
        (x, y) = (y, x);
        secrets = secrets.reversed();
        sample = sample.reversed();
    }
    let each = 0.5 * level.share / level.pairs;
    let test = paired::exchangeable([x, y], &sample);
    let known = Differing::new(&sample, [x, y], last);
    let longest = last.map_or(f64::INFINITY, Last::longest);
    let median = |alpha| clock.around(known.ranked(|sample| paired::median(sample, alpha)));
    Some(Difference {
        median: median(each),
        hodges_lehmann: clock.around(known.ranked(|sample| paired::hodges_lehmann(sample, each))),
        trimmed_mean: clock.around(known.mean(|sample| paired::trimmed_mean(sample, each))),
        mean: clock.around(known.mean(|sample| paired::mean(sample, each))),
        deciles: paired::decile_shifts([x, y], each / 9.0, longest)
            .map(|all| all.map(|decile| clock.around(decile))),
        paired_advantage: Some(paired_advantage),
        paired_at_most,
        p_value: (test.p_value * level.pairs).min(1.0),
        sense: test.sense,
        alone: median(level.alpha),
        secrets,
        compared: Compared::Blocks(InBlocks {
            dependence: sample.dependence(),
            signs: known.signs(),
            ends: known.into_ends(),
            sorted: match last {
                Some(last) => capped([x, y], last),
                None => sample.into_sorted(),
            },
        }),
    })
}

/// The differences, sorted, of times as far as they were recorded.
fn capped([x, y]: [&Times; 2], last: Last) -> Vec<f64> {
    let [x, y] = [x, y].map(|of| -> Vec<f64> {
        let times = of.in_order().iter();
        times.map(|&time| last.capped(time)).collect()
    });
    Sample::new(&x, &y).into_sorted()
}

/// A rule learned on training blocks and chosen on tuning blocks, judged on certification blocks; and the upper limit
/// of the rule's own advantage, at the whole level.
fn paired_advantage(
    prepared: &Prepared,
    blocks: &[u32],
    [x, y]: [&[f64]; 2],
    level: Level,
    rng: &mut ChaCha8Rng,
) -> (Estimate, Option<f64>) {
    let Some(parts) = &prepared.units else {
        return (Estimate::default(), None);
    };
    let [fit, tune, certify] = parts.of_both(blocks, [x, y]);
    let rule = PairedRule::learn([&fit[0], &fit[1]], [&tune[0], &tune[1]]);
    let errors = rule.judge([&certify[0], &certify[1]], rng);
    let judged = errors.blocks > 0;
    let mut estimate = Estimate {
        point: judged.then(|| errors.advantage()),
        lower: judged.then(|| errors.at_least(level.alpha / level.pairs).max(0.0)),
        method: Methods {
            point: judged.then_some(Method::HeldOutAttack),
            lower: judged.then_some(Method::PairedClopperPearson),
            upper: None,
        },
        reason: Some(if judged {
            Reason::RelativeNumbers
        } else {
            Reason::PairWithoutRows
        }),
        ..Estimate::default()
    };
    estimate.constrain(0.0, 1.0);
    (estimate, judged.then(|| errors.at_most(level.alpha)))
}
