//! Differences inside blocks, pair by pair, from the measurements themselves.

use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

use crate::audit::differences::{Difference, Differences};
use crate::audit::measured::Measured;
use crate::audit::pair::Pair;
use crate::audit::plan::{CertifiedLimit, Plan};
use crate::audit::prepare::Prepared;
use crate::audit::times;
use crate::estimate::{Estimate, Method, Methods, Reason};
use leakgauge_attack::split::UnitParts;
use leakgauge_base::parallel;
use leakgauge_log::UnitRows;
use leakgauge_stats::paired::{self, PairedRule};

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
    let order = |x: &Difference, y: &Difference| {
        let by_limit = y.smallest().total_cmp(&x.smallest());
        by_limit.then(y.median.point.total_cmp(&x.median.point))
    };
    pairs.sort_by(order);
    let p_value = pairs.iter().map(|pair| pair.p_value).fold(1.0, f64::min);
    Some(Differences {
        unit: prepared.options.unit_of(prepared.log),
        reference: measured.reference,
        blocks: facts.blocks,
        incomplete: facts.incomplete,
        alone: facts.alone,
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
    let middle = |x: &[f64], y: &[f64]| {
        let mut sorted: Vec<f64> = x.iter().zip(y).map(|(x, y)| y - x).collect();
        sorted.sort_unstable_by(f64::total_cmp);
        sorted
    };
    let mut sorted = middle(&x, &y);
    let mut secrets = Pair::new(prepared.labels.clone(), [a, b]);
    if paired::median(&sorted, level.alpha).point < 0.0 {
        (x, y) = (y, x);
        secrets = secrets.reversed();
        sorted = middle(&x, &y);
    }
    let each = 0.5 * level.share / level.pairs;
    let test = paired::exchangeable(&x, &y);
    Some(Difference {
        blocks: blocks.len() as u64,
        median: paired::median(&sorted, each),
        hodges_lehmann: paired::hodges_lehmann(&sorted, each),
        trimmed_mean: paired::trimmed_mean(&sorted, each),
        mean: paired::mean(&sorted, each),
        deciles: paired::decile_shifts(&x, &y, each / 9.0),
        paired_advantage: paired_advantage(prepared, &blocks, [&x, &y], level, rng),
        p_value: (test.p_value * level.pairs).min(1.0),
        sense: test.sense,
        alone: paired::median(&sorted, level.alpha),
        secrets,
        sorted,
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

/// A rule learned on training blocks and chosen on tuning blocks, judged on certification blocks.
fn paired_advantage(
    prepared: &Prepared,
    blocks: &[u32],
    [x, y]: [&[f64]; 2],
    level: Level,
    rng: &mut ChaCha8Rng,
) -> Estimate {
    let Some(parts) = &prepared.units else {
        return Estimate::default();
    };
    let [fit, tune, certify] = in_parts(parts, blocks).map(|chosen| {
        let of = |values: &[f64]| -> Vec<f64> { chosen.iter().map(|&at| values[at]).collect() };
        [of(x), of(y)]
    });
    let rule = PairedRule::learn([&fit[0], &fit[1]], [&tune[0], &tune[1]]);
    let errors = rule.judge(&certify[0], &certify[1], rng);
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
            Reason::RawNumbers
        } else {
            Reason::PairWithoutRows
        }),
        ..Estimate::default()
    };
    estimate.constrain(0.0, 1.0);
    estimate
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
