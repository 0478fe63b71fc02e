//! Differences of times that were taken one by one, pair by pair: independent samples.

use std::sync::Arc;

use crate::audit::certified_limit::CertifiedLimit;
use crate::audit::claims::time_check::{holds_times, is_asked, unfit};
use crate::audit::figures::differences::times;
use crate::audit::figures::differences::{Compared, Difference, Differences};
use crate::audit::pair::Pair;
use crate::audit::plan::Plan;
use crate::audit::prepare::Prepared;
use leakgauge_base::parallel;
use leakgauge_log::Log;
use leakgauge_stats::paired::DECILES;
use leakgauge_stats::unpaired::{self, Ranked};

/// Finds the differences of all pairs, of times that come without blocks.
pub(crate) fn find(prepared: &Prepared, plan: &Plan) -> Option<Differences> {
    let (log, options) = (prepared.log, prepared.options);
    if log.facts.blocks.is_some()
        || !is_asked(log, options, &prepared.claims)
        || unfit(log, options).is_some()
    {
        return None;
    }
    let samples = samples(log);
    let secrets = samples.len() as u32;
    let pairs: Vec<[u32; 2]> = (0..secrets)
        .flat_map(|a| (a + 1..secrets).map(move |b| [a, b]))
        .collect();
    let level = Level {
        alpha: prepared.alpha,
        each: 0.5 * plan.share(CertifiedLimit::TimeDifference) / pairs.len() as f64,
        pairs: pairs.len() as f64,
    };
    let found = parallel::map(pairs.len(), |at| {
        let [a, b] = pairs[at].map(|secret| samples[secret as usize].as_ref());
        let secrets = Pair::new(prepared.labels.clone(), pairs[at]);
        Some(difference(secrets, [a?, b?], &level))
    });
    let mut pairs: Vec<Difference> = found.into_iter().flatten().collect();
    Difference::sort(&mut pairs);
    let p_value = pairs.iter().map(|pair| pair.p_value).fold(1.0, f64::min);
    let all = samples.iter().flatten();
    let sizes = all.flat_map(|times| [times.quantile(0.0).abs(), times.quantile(1.0).abs()]);
    Some(Differences {
        unit: options.unit_of(log),
        blocks: None,
        largest: sizes.fold(0.0, f64::max),
        negative: match holds_times(log, options) {
            true => samples.iter().flatten().map(|times| times.below(0.0)).sum(),
            false => 0,
        },
        p_value,
        pairs,
        times: times::of_samples(&samples),
    })
}

/// The times of every secret that has rows.
fn samples(log: &Log) -> Vec<Option<Arc<Ranked>>> {
    let mut of_secrets: Vec<Vec<(f64, u64)>> = vec![Vec::new(); log.secrets.len()];
    for cell in log.counts.cells() {
        let time = log.observations.numbers(cell.symbol)[0];
        of_secrets[cell.secret as usize].push((time, cell.count));
    }
    let ranked = of_secrets.into_iter().map(|rows| {
        let has_rows = rows.iter().any(|row| row.1 > 0);
        has_rows.then(|| Arc::new(Ranked::new(rows)))
    });
    ranked.collect()
}

/// How the level is shared.
struct Level {
    /// α of the log.
    alpha: f64,
    /// What each side of each pair has.
    each: f64,
    pairs: f64,
}

fn difference(mut secrets: Pair, [a, b]: [&Arc<Ranked>; 2], level: &Level) -> Difference {
    let (mut a, mut b) = (a, b);
    if b.quantile(0.5) < a.quantile(0.5) {
        (a, b) = (b, a);
        secrets = secrets.reversed();
    }
    let each = level.each;
    let test = unpaired::same_law(a, b);
    let of_deciles = each / DECILES.len() as f64;
    Difference {
        secrets,
        median: unpaired::quantile_shift(a, b, 0.5, each),
        hodges_lehmann: unpaired::hodges_lehmann(a, b, each),
        trimmed_mean: unpaired::trimmed_mean(a, b, each),
        mean: unpaired::mean(a, b, each),
        deciles: Some(DECILES.map(|p| unpaired::quantile_shift(a, b, p, of_deciles))),
        paired_advantage: None,
        paired_at_most: None,
        p_value: (test.p_value * level.pairs).min(1.0),
        sense: test.sense,
        alone: unpaired::quantile_shift(a, b, 0.5, level.alpha),
        compared: Compared::Samples([a.clone(), b.clone()]),
    }
}
