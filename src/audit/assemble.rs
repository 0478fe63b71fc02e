//! The last stage: findings from what the stages before found.

use crate::audit::assumptions::assumptions;
use crate::audit::basis::Evidence;
use crate::audit::certified_limit::CertifiedLimit;
use crate::audit::claims::judge::{adopt_capacity, judge_claims};
use crate::audit::claims::smallest::smallest_leak;
use crate::audit::evidence::column_limits::ColumnLimits;
use crate::audit::figures::differences::Differences;
use crate::audit::figures::overall::figure::overall;
use crate::audit::figures::pairs::agreement::agree;
use crate::audit::figures::pairs::figure as pairs;
use crate::audit::figures::{JudgedFigures, Settled};
use crate::audit::findings::{
    Correction, CountedUnits, Findings, MethodUsed, Multiplicity, PartRows,
};
use crate::audit::judge::Judged;
use crate::audit::level::LevelShare;
use crate::audit::pair::{Labels, Pair};
use crate::audit::plan::Plan;
use crate::audit::prepare::Prepared;
use crate::audit::reading::input_of;
use crate::audit::tallies::Tallies;
use crate::audit::warnings::find as warnings;
use crate::audit::warnings::last_bits;
use leakgauge_attack::tuning::Tuned;
use leakgauge_base::parallel;
use leakgauge_log::UnitRows;

/// Puts the findings together.
pub(super) fn assemble(
    prepared: &Prepared,
    tuned: &Tuned,
    plan: &Plan,
    judged: &Judged,
    figures: &JudgedFigures,
) -> Findings {
    let (log, options, split) = (prepared.log, prepared.options, &prepared.split);
    let evidence = &Evidence::new(prepared, tuned, plan, judged);
    let prior = &prepared.priors[0];
    let (found, (mut worst_pair, mut all_pairs)) = parallel::both(
        || {
            warnings::find(
                log,
                split,
                prepared.units.as_ref(),
                prepared.options.attacker,
            )
        },
        || (pairs::worst_pair(evidence), pairs::all_pairs(evidence)),
    );
    let mut warnings = prepared.copies.clone();
    warnings.extend(found);
    warnings.extend(last_bits::warning(prepared));
    let differences = judged.differences.as_ref();
    warnings.extend(differences.and_then(Differences::dependent_blocks));
    warnings.extend(differences.and_then(Differences::negative_times));
    let mut claims = judge_claims(evidence, log, &prepared.claims, &warnings);
    let estimates = evidence.pair_estimates();
    agree(&mut all_pairs, &mut worst_pair, &mut claims, &estimates);
    let pairs = evidence.pair_count();
    let overall = overall(evidence, &worst_pair);
    adopt_capacity(&mut claims, &overall.capacity);
    let smallest_leak = smallest_leak(prepared, evidence, &claims, &warnings);
    Findings {
        figures: figures.figures(&Settled {
            prepared,
            evidence,
            worst_pair: &worst_pair,
            overall: &overall,
        }),
        seed: options.seed,
        confidence: options.confidence,
        input: input_of(prepared.log, prepared.labels.clone(), units(prepared)),
        method: method(prepared, evidence),
        assumptions: assumptions(log, options),
        pairs: all_pairs,
        multiplicity: Multiplicity {
            pairs,
            correction: match pairs {
                0 | 1 => Correction::None,
                _ => Correction::Bonferroni,
            },
            limits_read_by_claims: plan.reads(),
        },
        level: level(plan, &prepared.labels),
        no_leak: judged.no_leak.clone(),
        leaking_columns: judged.leaking_columns.clone(),
        column_limits: column_limits(evidence),
        neighbors: prepared.neighbors.pairs(&prepared.labels),
        overall,
        differences: evidence.differences.cloned(),
        claims,
        detections: Vec::new(),
        smallest_leak,
        privacy: pairs::privacy(evidence),
        tallies: Tallies::of(evidence, judged, prior),
        worst_pair,
        warnings,
    }
}

fn level(plan: &Plan, labels: &Labels) -> Vec<LevelShare> {
    let level = plan.level();
    level
        .parts()
        .iter()
        .map(|&(spender, share)| LevelShare::new(spender, share, labels))
        .collect()
}

fn units(prepared: &Prepared) -> Option<CountedUnits> {
    let (units, parts) = (prepared.log.units.as_ref()?, prepared.units.as_ref()?);
    let number = |rows: &UnitRows| rows.len() as u64;
    Some(CountedUnits {
        column: units.column.clone(),
        units: number(&units.rows),
        of_secrets: units.rows.units_of_secrets(prepared.labels.len()),
        parts: Some(PartRows {
            fit: number(&parts.fit),
            tune: number(&parts.tune),
            certify: number(&parts.certify),
        }),
    })
}

fn method(prepared: &Prepared, evidence: &Evidence) -> MethodUsed {
    let (split, tuned) = (&prepared.split, evidence.tuned);
    MethodUsed {
        split: prepared.options.split,
        effective_rows: evidence
            .effective
            .map(|rows| rows.least(prepared.labels.len())),
        scorer: tuned.scorer.name().to_owned(),
        origin: tuned.scorer.origin(),
        parameters: tuned.scorer.parameters(),
        description: tuned.scorer.description(),
        index: tuned.index,
        rows: PartRows {
            fit: split.fit.total(),
            tune: split.tune.total(),
            certify: split.certify.total(),
        },
        budget: prepared.options.budget,
        tried: tuned.tried.clone(),
    }
}

/// What is certified of single columns.
fn column_limits(evidence: &Evidence) -> Option<ColumnLimits> {
    let (distances, (secrets, _)) = (evidence.columns?, evidence.plan.columns.as_ref()?);
    let pair = Pair::new(evidence.labels.clone(), *secrets);
    let alpha = evidence.alpha() * evidence.plan.part(CertifiedLimit::Columns);
    Some(distances.reported(pair, evidence.observations, alpha))
}
