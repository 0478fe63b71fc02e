//! Differences inside blocks, pair by pair, from the measurements themselves.

use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

use crate::audit::differences::{BlocksCompared, Compared, Difference, Differences, InBlocks};
use crate::audit::measured::Measured;
use crate::audit::pair::Pair;
use crate::audit::plan::{CertifiedLimit, Plan};
use crate::audit::prepare::Prepared;
use crate::audit::times;
use crate::estimate::{Estimate, Method, Methods, Reason};
use leakgauge_attack::split::UnitParts;
use leakgauge_base::parallel;
use leakgauge_log::UnitRows;
use leakgauge_stats::paired::{self, PairedRule, Sample};

/// A stream of the seed's random numbers for each pair, which no other use reaches.
const PAIRED: u64 = 1 << 53;

/// Finds the differences of all pairs.
pub(super) fn find(prepared: &Prepared, plan: &Plan) -> Option<Differences> {
    let measured = prepared.measured.as_ref()?;
    let facts = prepared.log.facts.blocks.as_ref()?;
    let secrets = prepared.labels.len() as u32;
    let pairs: Vec<[u32; 2]> = (0..secrets)
        .flat_map(|a| (a + 1..secrets).map(move |b| [a, b]))
        .collect();
    let level = Level {
        alpha: prepared.alpha,
        share: plan.share(CertifiedLimit::TimeDifference),
        pairs: pairs.len() as f64,
    };
    let found = parallel::map(pairs.len(), |at| {
        let mut rng = ChaCha8Rng::seed_from_u64(prepared.options.seed);
        rng.set_stream(PAIRED + at as u64);
        difference(prepared, measured, pairs[at], level, &mut rng)
    });
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
        largest: measured.largest(),
        p_value,
        pairs,
        times: times::of_secrets(measured),
    })
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
    prepared: &Prepared,
    measured: &Measured,
    [a, b]: [u32; 2],
    level: Level,
    rng: &mut ChaCha8Rng,
) -> Option<Difference> {
    let (blocks, [mut x, mut y]) = in_both(measured, a, b);
    if blocks.is_empty() {
        return None;
    }
    let mut sample = Sample::new(&x, &y);
    let is_dependent = sample.is_dependent();
    // Before the two are put in order by all blocks: what is learned must not know those that judge.
    let (paired_advantage, paired_at_most) =
        paired_advantage(prepared, &blocks, [&x, &y], level, is_dependent, rng);
    let mut secrets = Pair::new(prepared.labels.clone(), [a, b]);
    if paired::median(&sample, level.alpha).point < 0.0 {
        (x, y) = (y, x);
        secrets = secrets.reversed();
        sample = Sample::new(&x, &y);
    }
    let each = 0.5 * level.share / level.pairs;
    let test = paired::exchangeable(&x, &y, &sample);
    Some(Difference {
        median: paired::median(&sample, each),
        hodges_lehmann: paired::hodges_lehmann(&sample, each),
        trimmed_mean: paired::trimmed_mean(&sample, each),
        mean: paired::mean(&sample, each),
        deciles: paired::decile_shifts(&x, &y, &sample, each / 9.0),
        paired_advantage: Some(paired_advantage),
        paired_at_most,
        p_value: (test.p_value * level.pairs).min(1.0),
        sense: test.sense,
        alone: paired::median(&sample, level.alpha),
        secrets,
        compared: Compared::Blocks(InBlocks {
            dependence: sample.dependence(),
            effective_signs: sample.effective_signs(),
            sorted: sample.into_sorted(),
        }),
    })
}

/// The blocks that have both secrets, with their measurements.
fn in_both(measured: &Measured, a: u32, b: u32) -> (Vec<u32>, [Vec<f64>; 2]) {
    let [a, b] = [a, b].map(|secret| &measured.of_secrets[secret as usize]);
    let (mut blocks, mut x, mut y) = (Vec::new(), Vec::new(), Vec::new());
    let mut others = b.iter().peekable();
    for &(block, value) in a {
        while others.next_if(|other| other.0 < block).is_some() {}
        if let Some(other) = others.peek().filter(|other| other.0 == block) {
            blocks.push(block);
            x.push(value);
            y.push(other.1);
        }
    }
    (blocks, [x, y])
}

/// A rule learned on training blocks and chosen on tuning blocks, judged on certification blocks; and the upper limit of
/// the rule's own advantage, at the whole level.
fn paired_advantage(
    prepared: &Prepared,
    blocks: &[u32],
    [x, y]: [&[f64]; 2],
    level: Level,
    is_dependent: bool,
    rng: &mut ChaCha8Rng,
) -> (Estimate, Option<f64>) {
    let Some(parts) = &prepared.units else {
        return (Estimate::default(), None);
    };
    let [fit, tune, certify] = in_parts(parts, blocks).map(|chosen| {
        let of = |values: &[f64]| -> Vec<f64> { chosen.iter().map(|&at| values[at]).collect() };
        [of(x), of(y)]
    });
    let rule = PairedRule::learn([&fit[0], &fit[1]], [&tune[0], &tune[1]]);
    let errors = rule.judge([&certify[0], &certify[1]], is_dependent, rng);
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

/// The positions of the blocks of each part: fit, tune, certify.
fn in_parts(parts: &UnitParts, blocks: &[u32]) -> [Vec<usize>; 3] {
    let positions = |rows: &UnitRows| {
        let mut of_part: Vec<u32> = rows.units().map(|block| block[0].unit).collect();
        of_part.sort_unstable();
        let is_in = |&at: &usize| of_part.binary_search(&blocks[at]).is_ok();
        (0..blocks.len()).filter(is_in).collect()
    };
    [&parts.fit, &parts.tune, &parts.certify].map(positions)
}
