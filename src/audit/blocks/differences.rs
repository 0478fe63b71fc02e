//! Differences between secrets in the unit of the measurements.

use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

use crate::audit::blocks::{Measured, Reference};
use crate::audit::pair::Pair;
use crate::audit::plan::{CertifiedLimit, Plan};
use crate::audit::prepare::Prepared;
use crate::estimate::{Estimate, Method, Methods, Reason};
use leakgauge_attack::split::UnitParts;
use leakgauge_base::parallel;
use leakgauge_base::time::TimeUnit;
use leakgauge_log::UnitRows;
use leakgauge_stats::paired::{self, Located, PairedRule, Sense};

/// A stream of the seed's random numbers for each pair, which no other use reaches.
const PAIRED: u64 = 1 << 53;

/// The differences between all pairs of secrets, inside blocks.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Differences {
    /// The unit of the measurements, if it is known.
    pub unit: Option<TimeUnit>,
    /// What the attacks saw measurements relative to.
    pub reference: Reference,
    /// Blocks.
    pub blocks: u64,
    /// Of these, blocks that lack a secret.
    pub incomplete: u64,
    /// Blocks of one measurement, which were left out.
    pub alone: u64,
    /// Every pair that some block has both secrets of, those that differ most first.
    pub pairs: Vec<Difference>,
    /// The p-value of "no secret differs from another", all pairs together.
    pub p_value: f64,
}

impl Differences {
    /// The paired advantage at two secrets.
    pub(in crate::audit) fn paired_advantage(&self, [a, b]: [u32; 2]) -> Option<Estimate> {
        let is_of = |pair: &&Difference| [[a, b], [b, a]].contains(&pair.secrets.secrets());
        let pair = self.pairs.iter().find(is_of)?;
        Some(pair.paired_advantage.clone())
    }
}

/// How the second secret of a pair differs from the first, in blocks that have both.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Difference {
    /// The two secrets, the one with the shorter times first.
    pub secrets: Pair,
    /// Blocks that have both.
    pub blocks: u64,
    /// The median of the differences. The limits of all pairs hold together, and likewise of each figure below.
    pub median: Located,
    /// The median of all pairwise means of differences.
    pub hodges_lehmann: Located,
    /// The mean without the smallest and the largest tenth.
    pub trimmed_mean: Located,
    /// The mean.
    pub mean: Located,
    /// By how much each decile of the times differs; `None` with too few blocks. All nine hold together.
    pub deciles: Option<[Located; 9]>,
    /// The advantage of an observer who is asked which of two measurements of a block is which.
    pub paired_advantage: Estimate,
    /// The p-value of "which is which makes no difference", corrected so that all pairs hold together.
    pub p_value: f64,
    /// Where the evidence is.
    pub sense: Sense,
    /// The limits of the median at the whole level, one by one: a claim holds over all pairs by these.
    pub(in crate::audit) alone: Located,
    /// The differences, sorted.
    pub(in crate::audit) sorted: Vec<f64>,
}

impl Difference {
    /// The largest size that the median may have.
    pub(in crate::audit) fn largest(&self) -> f64 {
        self.alone.lower.abs().max(self.alone.upper.abs())
    }

    /// The smallest size that the median may have, all pairs together.
    pub(in crate::audit) fn smallest(&self) -> f64 {
        self.median.lower.max(-self.median.upper).max(0.0)
    }
}

/// Finds the differences of all pairs.
pub(in crate::audit) fn find(prepared: &Prepared, plan: &Plan) -> Option<Differences> {
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
        unit: prepared.options.unit,
        reference: measured.reference,
        blocks: facts.blocks,
        incomplete: facts.incomplete,
        alone: facts.alone,
        p_value,
        pairs,
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
    let slices = |[x, y]: &[Vec<f64>; 2]| -> [Vec<f64>; 2] { [x.clone(), y.clone()] };
    let (fit, tune) = (slices(&fit), slices(&tune));
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
