//! Differences of times that were taken one by one, pair by pair: independent samples.

use std::sync::Arc;

use crate::audit::differences::{Compared, Difference, Differences};
use crate::audit::options::{AuditOptions, SplitChoice};
use crate::audit::pair::Pair;
use crate::audit::plan::{CertifiedLimit, Plan};
use crate::audit::prepare::Prepared;
use crate::audit::times;
use leakgauge_base::naming::{option, setting};
use leakgauge_base::parallel;
use leakgauge_exact::claim::{BoundClaim, Terms};
use leakgauge_log::Log;
use leakgauge_log::observations::ColumnType;
use leakgauge_stats::paired::DECILES;
use leakgauge_stats::unpaired::{self, Ranked};

/// Why the observations of a log without blocks are no times that can be compared; `None` if they can, or if the log
/// has blocks.
pub(super) fn unfit(log: &Log, options: &AuditOptions) -> Option<String> {
    if log.facts.blocks.is_some() {
        return None;
    }
    let columns = log.observations.columns();
    Some(match columns {
        [column] if column.resolution.is_some() => {
            format!("this log was reduced to bins ({})", option("resolution"))
        }
        [column] if column.kind != ColumnType::Numeric => {
            "what is observed of this log is no column of numbers".to_owned()
        }
        [_] if log.units.is_some() => format!(
            "rows of a unit of this log depend on each other ({}): only blocks of simultaneous measurements can be \
             compared then ({})",
            option("group"),
            option("block")
        ),
        [_] if options.split == SplitChoice::Blocks => format!(
            "limits of times need independent rows without blocks, which {} says they are not",
            setting("split", "blocks")
        ),
        [_] if options.attacks.are_given() => {
            format!("this log holds scores ({})", option("scores"))
        }
        [_] if !is_finite(log) => "this log holds a value that is not a finite number".to_owned(),
        [_] => return None,
        _ => format!(
            "several columns of this log are observed; name that of the times with {}",
            option("observe")
        ),
    })
}

/// Whether every value of the one column of numbers is finite.
fn is_finite(log: &Log) -> bool {
    let mut all = 0..log.observations.len() as u32;
    all.all(|symbol| {
        log.observations
            .numbers(symbol)
            .iter()
            .all(|x| x.is_finite())
    })
}

/// Whether a log is known to hold times, by what it says or by a unit that was given.
pub(super) fn holds_times(log: &Log, options: &AuditOptions) -> bool {
    let is_timed = log.facts.recognized.is_some_and(|form| form.is_timed());
    is_timed || options.unit_of(log).is_some()
}

/// Whether times are asked for: by a claim, by a unit, or by a log that is known to hold times.
pub(super) fn is_asked(log: &Log, options: &AuditOptions, claims: &[BoundClaim]) -> bool {
    let mut claims = claims.iter();
    holds_times(log, options)
        || claims.any(|claim| matches!(claim.terms(), Terms::TimeDifference(_)))
}

/// Finds the differences of all pairs, of times that come without blocks.
pub(super) fn find(prepared: &Prepared, plan: &Plan) -> Option<Differences> {
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
