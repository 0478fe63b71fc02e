//! Differences of times that were taken one by one, pair by pair: independent samples.

use crate::audit::certified_limit::CertifiedLimit;
use crate::audit::claims::time_check::{families, holds_times, is_asked, unfit};
use crate::audit::figures::differences::last::{self, Last, OfSecret};
use crate::audit::figures::differences::rows_in_order::{InOrder, PairInOrder};
use crate::audit::figures::differences::times;
use crate::audit::figures::differences::{Compared, Difference, Differences};
use crate::audit::pair::Pair;
use crate::audit::plan::Plan;
use crate::audit::prepare::Prepared;
use leakgauge_base::parallel;
use leakgauge_exact::claim::BoundClaim;
use leakgauge_log::Log;
use leakgauge_stats::clock::{Clock, Recorded};
use leakgauge_stats::long_run::LongRun;
use leakgauge_stats::paired::DECILES;
use leakgauge_stats::unpaired;

/// The share of the values that a trimmed mean leaves out at either end.
const TRIMMED: f64 = 0.1;

/// Finds the differences of all pairs, of times that come without blocks.
pub(crate) fn find(prepared: &Prepared, plan: &Plan) -> Option<Differences> {
    let (log, options) = (prepared.log, prepared.options);
    if log.facts.blocks.is_some()
        || !is_asked(log, options, &prepared.claims)
        || unfit(log, options).is_some()
    {
        return None;
    }
    let last = Last::of(log);
    let samples = samples(log, last);
    let secrets = samples.len() as u32;
    let pairs: Vec<[u32; 2]> = (0..secrets)
        .flat_map(|a| (a + 1..secrets).map(move |b| [a, b]))
        .collect();
    let recorded = samples.iter().flatten().filter_map(OfSecret::recorded);
    let clock = times::clock(recorded.map(Recorded::ranked).collect(), prepared);
    let level = Level {
        alpha: prepared.alpha,
        each: 0.5 * plan.share(CertifiedLimit::TimeDifference)
            / families(prepared.claims.iter().map(BoundClaim::claim))
            / pairs.len() as f64,
        pairs: pairs.len() as f64,
    };
    let rows = log.order.as_ref().map(|order| InOrder::new(order, log));
    let found = parallel::map(pairs.len(), |at| {
        let [a, b] = pairs[at].map(|secret| samples[secret as usize].as_ref());
        let secrets = Pair::new(prepared.labels.clone(), pairs[at]);
        Some(difference(
            secrets,
            [a?, b?],
            &level,
            (&clock, rows.as_ref()),
        ))
    });
    let mut pairs: Vec<Difference> = found.into_iter().flatten().collect();
    Difference::sort(&mut pairs);
    let p_value = pairs.iter().map(|pair| pair.p_value).fold(1.0, f64::min);
    Some(Differences {
        unit: options.unit_of(log),
        blocks: None,
        clock,
        counts_last: last.is_some(),
        least: unpaired::least_rows(0.5, level.each, rows.is_some()),
        step_is_given: options.clock_step.is_some(),
        negative: match holds_times(log, options) {
            true => samples.iter().flatten().map(|of| of.all.below(0.0)).sum(),
            false => 0,
        },
        p_value,
        pairs,
        times: times::of_samples(&samples),
    })
}

/// The times of every secret that has rows.
fn samples(log: &Log, last: Option<Last>) -> Vec<Option<OfSecret>> {
    let mut of_secrets: Vec<Vec<(f64, u64)>> = vec![Vec::new(); log.secrets.len()];
    for cell in log.counts.cells() {
        let time = log.observations.numbers(cell.symbol)[0];
        of_secrets[cell.secret as usize].push((time, cell.count));
    }
    let of_secrets = of_secrets.iter();
    of_secrets.map(|rows| OfSecret::new(rows, last)).collect()
}

/// How the level is shared.
struct Level {
    /// α of the log.
    alpha: f64,
    /// What each side of each pair has.
    each: f64,
    pairs: f64,
}

fn difference(
    mut secrets: Pair,
    [a, b]: [&OfSecret; 2],
    level: &Level,
    (clock, rows): (&Clock, Option<&InOrder>),
) -> Difference {
    let (mut a, mut b) = (a, b);
    if b.all.quantile(0.5) < a.all.quantile(0.5) {
        (a, b) = (b, a);
        secrets = secrets.reversed();
    }
    let (each, both) = (level.each, [a, b]);
    let [a, b] = both.map(|of| &*of.all);
    let rows = match rows {
        Some(rows) => rows.of_pair(secrets.secrets()),
        None => PairInOrder::default(),
    };
    let middle = rows.quantile([a, b], 0.5);
    let ranks = rows.ranks([a, b]);
    let of_deciles = each / DECILES.len() as f64;
    let deciles = DECILES.map(|p| (p, rows.quantile([a, b], p)));
    let varies = deciles
        .iter()
        .fold(ranks, |most, (_, decile)| most.or(*decile));
    let test = unpaired::same_law(a, b);
    let p_value = (2.0 * varies.p_value(0.5 * test.p_value)).min(1.0);
    let shift = |long_run: LongRun, p: f64, alpha: f64| {
        clock.around(last::ranked(both, |a, b| {
            last::quantile_shift([a, b], p, alpha, long_run)
        }))
    };
    let trimmed = rows.mean([a, b], TRIMMED);
    let whole = rows.mean([a, b], 0.0);
    Difference {
        median: shift(middle, 0.5, each),
        hodges_lehmann: clock.around(last::ranked(both, |a, b| {
            unpaired::hodges_lehmann(a, b, each, ranks)
        })),
        trimmed_mean: clock.around(last::mean(both, |a, b| {
            unpaired::trimmed_mean(a, b, each, trimmed)
        })),
        mean: clock.around(last::mean(both, |a, b| unpaired::mean(a, b, each, whole))),
        deciles: Some(deciles.map(|(p, decile)| shift(decile, p, of_deciles))),
        paired_advantage: None,
        paired_at_most: None,
        p_value: (p_value * level.pairs).min(1.0),
        sense: test.sense,
        alone: shift(middle, 0.5, level.alpha),
        compared: Compared::Samples {
            ends: both.map(|of| of.ends.clone()),
            varies: middle,
        },
        secrets,
    }
}
