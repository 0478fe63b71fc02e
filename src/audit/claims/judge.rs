//! Verdicts on claims, from the limits that are reported and from nothing else.

use crate::audit::basis::Evidence;
use crate::audit::certified_limit::CertifiedLimit;
use crate::audit::claims::mechanism as mechanism_claim;
use crate::audit::claims::privacy;
use crate::audit::claims::privacy_curve;
use crate::audit::claims::reason::{Grounds, Qualification};
use crate::audit::claims::report::{ClaimReport, Verdict};
use crate::audit::claims::rows_needed;
use crate::audit::claims::time as time_claim;
use crate::audit::claims::time_check::families;
use crate::audit::claims::unlearned;
use crate::audit::figures::differences::BlocksCompared;
use crate::audit::figures::information::estimate as information;
use crate::audit::figures::overall::figure::capacity;
use crate::audit::members;
use crate::audit::options::Design;
use crate::audit::warnings::dependence;
use crate::audit::warnings::warning::Warning;
use crate::estimate::{Estimate, Reason};
use leakgauge_base::parallel;
use leakgauge_base::quantity::{OverallFigure, Quantity};
use leakgauge_exact::claim::{BoundClaim, ClaimKind, Terms};
use leakgauge_log::observations::Column;
use leakgauge_log::{Log, RecordKeeping};

/// Judges every claim.
pub(crate) fn judge_claims(
    evidence: &Evidence,
    log: &Log,
    claims: &[BoundClaim],
    warnings: &[Warning],
) -> Vec<ClaimReport> {
    let judge = |at: usize| {
        let claim = &claims[at];
        let mut report = judge_claim(evidence, log, claims, at);
        let of_privacy = claim.privacy().is_some() || claim.curve().is_some();
        if of_privacy && may_be_one_model(evidence, log) {
            withdraw(&mut report, evidence.options.attacks.are_given());
        }
        // Rows of one model are asked about first.
        if report.is_judged()
            && let Some(grounds) = dependent_rows(evidence, warnings, &report)
        {
            take_away(&mut report, grounds);
            report.p_value = None;
        }
        if warnings.iter().any(|warning| warning.inflation() > 1.0) {
            // More rows of this kind are worth fewer than that, or nothing.
            report.rows_needed = None;
        }
        if warnings.iter().any(is_of_nothing) {
            (report.rows_needed, report.units_needed) = (None, None);
            // More rows of a logger that is broken would show no more.
            if report.verdict == Verdict::Inconclusive
                && let Some(grounds) = nothing_shown(warnings, &report, log)
            {
                take_away(&mut report, grounds);
            }
        }
        if report.verdict == Verdict::Holds
            && let Some(grounds) = nothing_shown(warnings, &report, log)
                .or_else(|| chosen_secret(log))
                .or_else(|| may_be_measured(log))
        {
            take_away(&mut report, grounds);
            report.rows_needed = None;
        }
        if report.verdict == Verdict::Holds
            && let Some(grounds) = match report.quantity {
                Quantity::TimeDifference => None,
                Quantity::AttackAdvantage => unlearned::find(log, warnings),
                _ => unlearned::seen_in_part(log),
            }
        {
            take_away(&mut report, grounds);
        }
        report.rows_needed = report
            .rows_needed
            .and_then(|rows| rows_needed::in_nine_of_ten(evidence, rows));
        report.units_needed = rows_needed::as_units(evidence, log, report.rows_needed);
        qualify(&mut report, evidence, warnings);
        if of_privacy {
            if log.secrets.len() > 2
                && evidence.neighbors.count().is_none()
                && claim.claim().is_of_datasets()
            {
                let pairs = evidence.pair_count();
                let all = Qualification::AllNeighbors { pairs };
                report.reason.qualifications.push(all);
            }
            let neighbors = evidence.neighbors.count();
            report.reason.qualifications.extend(neighbors.map(|given| {
                let all = evidence.pair_count();
                Qualification::Neighbors { given, all }
            }));
        }
        report
    };
    parallel::map_in_place(claims.len(), &judge)
}

/// Judges the `at`-th claim by its limits.
fn judge_claim(evidence: &Evidence, log: &Log, claims: &[BoundClaim], at: usize) -> ClaimReport {
    let claim = &claims[at];
    match claim.terms() {
        Terms::Advantage { at_most } => bound_on_advantage(evidence, claim, *at_most),
        Terms::BayesSecurity { at_least } => bound_on_security(evidence, claim, *at_least),
        Terms::AttackAdvantage { at_most } => bound_on_attack(evidence, claim, *at_most),
        Terms::Overall { figure, at_most } => {
            bound_on_all_secrets(evidence, claim, *figure, *at_most)
        }
        Terms::TimeDifference(bound) => {
            let share = evidence.plan.part(CertifiedLimit::TimeDifference)
                / families(claims.iter().map(BoundClaim::claim));
            let differences = evidence.differences.expect("checked: the log has times");
            time_claim::judge(
                claim,
                bound,
                differences,
                evidence.options,
                (&evidence.labels, share),
            )
        }
        Terms::Privacy(promise) => privacy::judge(evidence, claim, promise, at),
        Terms::Curve(curve) => privacy_curve::judge(evidence, claim, curve, at),
        Terms::Mechanism(mechanism) => mechanism_claim::judge(evidence, log, claim, &**mechanism),
    }
}

/// Whether rows may be about members of a training and others, and nothing says that each is of a training of its own:
/// then they are most often the records of one model. Scores of two secrets are, however these are called; so is a log
/// whose secrets, or the column that names them, say it.
fn may_be_one_model(evidence: &Evidence, log: &Log) -> bool {
    let is_about_members = evidence.options.attacks.are_given() || members::are_named(log);
    evidence.options.design == Design::Unstated
        && !evidence.independence.is_of_units()
        && log.secrets.len() == 2
        && is_about_members
}

/// Why no limit decides: rows depend on each other, and nothing allows for that. Where it was measured what rows are worth, a
/// verdict stands that is far enough from the claim for so few rows.
fn dependent_rows(
    evidence: &Evidence,
    warnings: &[Warning],
    report: &ClaimReport,
) -> Option<Grounds> {
    let is_about_times = report.quantity == Quantity::TimeDifference;
    let warning = dependence::of(warnings, evidence.effective.is_some(), is_about_times)?;
    let inflation = warnings.iter().map(Warning::inflation).fold(1.0, f64::max);
    if warning.inflation() < f64::INFINITY
        && (report.verdict == Verdict::Inconclusive || decides(evidence, report, inflation))
    {
        return None;
    }
    Some(Grounds::DependentRows {
        warning: warning.clone(),
        are_apart: dependence::are_apart(warnings),
        unit: report.reason.grounds.unit(),
    })
}

/// Whether a verdict stands where rows are worth so many times fewer independent ones.
///
/// # Formula
/// The estimate may differ from the truth by 1.5·√(c·(1/n_a + 1/n_b)), c the inflation: the largest difference of two empirical
/// laws of n_a/c and n_b/c rows exceeds that with probability below 0.03 (Kolmogorov). What is claimed otherwise is read by the
/// total variation that it permits.
fn decides(evidence: &Evidence, report: &ClaimReport, inflation: f64) -> bool {
    const DISTANCE: f64 = 1.5;
    let ClaimKind::Promise(promise) = &report.claim.kind else {
        return false;
    };
    let is_about_all_secrets = matches!(report.quantity, Quantity::Overall(_));
    let total_variation = match report.quantity {
        Quantity::AttackAdvantage => report.estimate.point,
        _ => evidence.largest_total_variation().point,
    };
    let Some(point) = total_variation.filter(|_| !is_about_all_secrets) else {
        return false;
    };
    let rows = evidence.counts.rows();
    let of_pair = report
        .pair
        .secrets()
        .map(|secret| rows[secret as usize] as f64);
    let parts: f64 = of_pair.iter().map(|rows| 1.0 / rows).sum();
    let apart = DISTANCE * (inflation * parts).sqrt();
    let allowed = promise.largest_total_variation();
    match report.verdict {
        Verdict::Violated => point - apart > allowed,
        Verdict::Holds => promise.is_a_bound_on_total_variation() && point + apart <= allowed,
        Verdict::Inconclusive => false,
    }
}

/// Whether it says that nothing was observed with some secret.
fn is_of_nothing(warning: &Warning) -> bool {
    matches!(warning, Warning::NothingObserved { .. })
}

/// Of so many times, one may be below zero.
const MOST_NEGATIVE: u64 = 100;

/// Why no difference means nothing: a logger that is broken shows none, several kinds of measurements drown it, slow answers
/// may be missing, and a random row may say more than a random row of a random unit.
fn nothing_shown(warnings: &[Warning], report: &ClaimReport, log: &Log) -> Option<Grounds> {
    let unit = report.reason.grounds.unit();
    let is_bound_of_all = !matches!(
        report.quantity,
        Quantity::TimeDifference | Quantity::AttackAdvantage
    );
    warnings.iter().find_map(|warning| match warning {
        Warning::NothingObserved { value, secrets, .. } => Some(Grounds::NothingObserved {
            value: value.clone(),
            all: *secrets == 0,
            unit,
        }),
        // A few are of a clock that ran backwards, and move no median.
        Warning::NegativeTimes { times }
            if MOST_NEGATIVE * times > log.counts.total() && is_one_number(log, *times) =>
        {
            Some(Grounds::NegativeTimes {
                times: *times,
                unit,
            })
        }
        // What is certified of all that is observed is true of kinds together, whatever they are.
        Warning::PooledKinds(kinds) if kinds.by_ranks_alone && is_bound_of_all => None,
        Warning::PooledKinds(kinds) => Some(Grounds::PooledKinds {
            kinds: kinds.clone(),
            unit,
        }),
        Warning::MissingTimes(missing) => Some(Grounds::MissingTimes {
            missing: missing.clone(),
            unit,
        }),
        Warning::MayBeUnits { column } => Some(Grounds::MayBeUnits {
            column: column.clone(),
        }),
        Warning::ShiftedRows { before, .. } => Some(Grounds::ShiftedRows { before: *before }),
        Warning::UnevenMix { secret, from, to } => Some(Grounds::UnevenMix {
            secret: secret.clone(),
            from: *from,
            to: *to,
        }),
        _ => None,
    })
}

/// Whether at least half of so many numbers below zero are the same, as one that stands for no time is.
fn is_one_number(log: &Log, negative: u64) -> bool {
    let mut symbols = log.counts.by_symbol();
    symbols.any(|cells| {
        let number = log.observations.number_in(cells[0].symbol, 0);
        let rows: u64 = cells.iter().map(|cell| cell.count).sum();
        number.is_some_and(|number| number < 0.0) && 2 * rows >= negative
    })
}

/// That a column was left out which may have been measured.
fn may_be_measured(log: &Log) -> Option<Grounds> {
    let mut left_out = log.facts.left_out_columns.iter();
    let found = left_out.find(|column| column.why == RecordKeeping::NeverFalls)?;
    Some(Grounds::MayBeMeasured {
        column: found.name.clone(),
    })
}

/// That a column of few labels was taken for the secret: what holds of it may be of no interest.
fn chosen_secret(log: &Log) -> Option<Grounds> {
    log.facts.secret_chosen.then(|| Grounds::ChosenSecret {
        column: log.facts.secret_column.clone(),
    })
}

/// Limits for independent runs prove nothing about one.
fn withdraw(report: &mut ClaimReport, scores: bool) {
    report.verdict = Verdict::Inconclusive;
    report.reason = Grounds::OneModel { scores }.into();
    report.p_value = None;
    report.rows_needed = None;
    report.estimate.lower = None;
    report.estimate.method.lower = None;
    without_proof(report);
}

/// What would hold is not shown.
fn take_away(report: &mut ClaimReport, grounds: Grounds) {
    report.verdict = Verdict::Inconclusive;
    report.reason = grounds.into();
    without_proof(report);
}

/// A parameter of privacy has an upper limit only where the claim is proved.
fn without_proof(report: &mut ClaimReport) {
    if let Quantity::Privacy(parameter) = report.quantity {
        let estimate = &mut report.estimate;
        (estimate.upper, estimate.method.upper) = (None, None);
        estimate.reason = Some(Reason::Unbounded(parameter));
    }
}

/// What a verdict rests on beyond its limits belongs in its reason.
fn qualify(report: &mut ClaimReport, evidence: &Evidence, warnings: &[Warning]) {
    let decided = report.verdict != Verdict::Inconclusive;
    let add = &mut report.reason.qualifications;
    if let Some(warning) = warnings.iter().find(|warning| warning.is_about_order())
        && decided
        && (evidence.effective.is_none() || warning.is_about_secrets())
    {
        add.push(Qualification::Order(warning.clone()));
    }
    if report.quantity == Quantity::TimeDifference {
        let compared = evidence.differences.map(|times| times.blocks);
        add.extend(compared.and_then(about_times));
    }
    let clock = warnings.iter().filter(|warning| warning.is_about_clock());
    add.extend(clock.cloned().map(Qualification::Clock));
    let copies = warnings.iter().filter(|warning| warning.is_about_copies());
    add.extend(copies.cloned().map(Qualification::Copies));
    let left_out = warnings
        .iter()
        .filter(|warning| warning.is_about_left_out());
    add.extend(left_out.cloned().map(Qualification::LeftOut));
    if evidence.effective.is_some() && decided {
        add.push(Qualification::Approximate);
    }
    let given = evidence.options.attacks.are_given() && !evidence.independence.is_of_units();
    if given
        && decided
        && evidence.options.design == Design::Unstated
        && matches!(report.quantity, Quantity::Privacy(_))
    {
        add.push(Qualification::UnstatedRuns);
    }
    if let Some(rows) = report.rows_needed
        && let Some(advice) = rows_needed::from_the_log(evidence, rows)
    {
        add.push(Qualification::MoreRows(advice));
    }
    let fit = report.fit.as_ref().and_then(|fit| fit.p_value);
    if let Some(p_value) = fit.filter(|p_value| *p_value < evidence.alpha())
        && report.verdict == Verdict::Holds
    {
        add.push(Qualification::NotThisMechanism { p_value });
    }
    let columns = evidence.observations.columns().iter();
    let binned: Vec<Column> = columns
        .filter(|column| column.resolution.is_some())
        .cloned()
        .collect();
    if !binned.is_empty() {
        add.push(Qualification::Observer(binned));
    }
    // What was certified to leak leaks, whatever else a column may hold.
    let violated = report.verdict == Verdict::Violated;
    let reading = warnings.iter().filter(|warning| warning.is_about_reading());
    let reading = reading.filter(|warning| !(violated && warning.is_about_typing()));
    add.extend(reading.cloned().map(Qualification::Reading));
}

/// What a verdict on times rests on beyond the order of rows.
fn about_times(compared: Option<BlocksCompared>) -> Option<Qualification> {
    let Some(found) = compared else {
        return Some(Qualification::OneByOne);
    };
    (found.alone > 0 || found.incomplete > 0).then_some(Qualification::BlocksLeftOut {
        alone: found.alone,
        incomplete: found.incomplete,
        blocks: found.blocks,
    })
}

/// A figure that should be at most `bound`, decided by its limits.
fn decide(estimate: &Estimate, bound: f64) -> Verdict {
    if estimate.lower.is_some_and(|lower| lower > bound) {
        Verdict::Violated
    } else if estimate.upper.is_some_and(|upper| upper <= bound) {
        Verdict::Holds
    } else {
        Verdict::Inconclusive
    }
}

fn bound_on_advantage(evidence: &Evidence, claim: &BoundClaim, at_most: f64) -> ClaimReport {
    let estimate = evidence.largest_total_variation();
    let verdict = decide(&estimate, at_most);
    let pair = evidence.worst;
    let mut report = ClaimReport {
        claim: claim.claim().clone(),
        quantity: Quantity::Advantage,
        analytic: at_most,
        pair: evidence.pair(pair),
        verdict,
        reason: Grounds::Advantage.into(),
        rows_needed: rows_needed::for_bound(evidence, verdict, &estimate, at_most, pair),
        units_needed: None,
        p_value: p_value(evidence, at_most),
        estimate,
        fit: None,
    };
    if at_most <= 0.0 {
        look_for_any_leak(evidence, &mut report);
    }
    report
}

/// A claim that allows no leak is refuted by a test of that, too, whatever attacks found.
fn look_for_any_leak(evidence: &Evidence, report: &mut ClaimReport) {
    let Some(p_value) = evidence.no_leak_p_value() else {
        return;
    };
    report.p_value = Some(
        report
            .p_value
            .map_or(p_value, |by_limits| by_limits.min(p_value)),
    );
    if report.verdict != Verdict::Violated && p_value <= evidence.alpha() {
        report.verdict = Verdict::Violated;
        report.reason = Grounds::NoLeak.into();
        report.rows_needed = None;
    }
}

fn bound_on_security(evidence: &Evidence, claim: &BoundClaim, at_least: f64) -> ClaimReport {
    let total_variation = evidence.largest_total_variation();
    let estimate = total_variation.decreasing(|tv| 1.0 - tv);
    // Decided on the reported limits of Bayes security itself: 1 − (1 − b) need not be b.
    let verdict = if estimate.upper.is_some_and(|upper| upper < at_least) {
        Verdict::Violated
    } else if estimate.lower.is_some_and(|lower| lower >= at_least) {
        Verdict::Holds
    } else {
        Verdict::Inconclusive
    };
    let pair = evidence.worst;
    let mut report = ClaimReport {
        claim: claim.claim().clone(),
        quantity: Quantity::BayesSecurity,
        analytic: at_least,
        pair: evidence.pair(pair),
        verdict,
        reason: Grounds::BayesSecurity.into(),
        rows_needed: rows_needed::for_bound(
            evidence,
            verdict,
            &total_variation,
            1.0 - at_least,
            pair,
        ),
        units_needed: None,
        p_value: p_value(evidence, 1.0 - at_least),
        estimate,
        fit: None,
    };
    if at_least >= 1.0 {
        look_for_any_leak(evidence, &mut report);
    }
    report
}

fn bound_on_attack(evidence: &Evidence, claim: &BoundClaim, at_most: f64) -> ClaimReport {
    let worst = evidence.worst;
    let mut estimate = evidence.attack_advantage(worst);
    // What the table proves, attacks have done.
    let proved = evidence.largest_total_variation();
    let lower = proved.lower.zip(proved.method.lower);
    estimate.lower = lower.map(|limit| limit.0);
    estimate.method.lower = lower.map(|limit| limit.1);
    estimate.upper = attacks_at_most(evidence, lower.map(|limit| limit.0));
    let reads_all_rows = evidence.attack_reads_all_rows() && estimate.upper.is_some();
    let of_all = proved.upper.filter(|_| reads_all_rows);
    if of_all.is_some() {
        estimate.upper = of_all;
        estimate.method.upper = proved.method.upper;
    }
    let grounds = match of_all {
        Some(_) => Grounds::Advantage,
        None => Grounds::AttackAdvantage,
    };
    if estimate.upper.is_none() {
        estimate.reason = Some(Reason::SecretWithoutRows);
    }
    estimate.constrain(-1.0, 1.0);
    let verdict = decide(&estimate, at_most);
    ClaimReport {
        claim: claim.claim().clone(),
        quantity: Quantity::AttackAdvantage,
        analytic: at_most,
        pair: evidence.pair(worst),
        verdict,
        reason: grounds.into(),
        rows_needed: rows_needed::for_bound(evidence, verdict, &estimate, at_most, worst),
        units_needed: None,
        p_value: p_value(evidence, at_most),
        estimate,
        fit: None,
    }
}

/// The upper limit of the advantages of the attacks that were tried, by their errors: over all pairs, each at its own level,
/// for the pair with the best attack is one fixed pair. `None` where a pair was not judged.
fn attacks_at_most(evidence: &Evidence, proved: Option<f64>) -> Option<f64> {
    let judged = (0..evidence.pair_count()).all(|pair| evidence.tally(pair).is_judged());
    let alpha = evidence.alpha();
    let attacks = evidence.attacks.iter();
    let largest = attacks
        .map(|attack| attack.size_at_most(alpha))
        .fold(proved.unwrap_or(-1.0), f64::max);
    // Telling two measurements of a block apart is an attack too.
    let pairs = evidence.differences.iter().flat_map(|found| &found.pairs);
    let paired = pairs.filter_map(|pair| pair.paired_at_most);
    judged.then(|| paired.fold(largest.min(1.0), f64::max))
}

/// No pair decides on a figure of all secrets; the one that is easiest to tell apart is named in its place.
fn bound_on_all_secrets(
    evidence: &Evidence,
    claim: &BoundClaim,
    figure: OverallFigure,
    at_most: f64,
) -> ClaimReport {
    let estimate = match figure {
        OverallFigure::MutualInformation => information::estimate(evidence, evidence.prior)
            .expect("planned for every claim of mutual information")
            .increasing(|nats| nats / std::f64::consts::LN_2),
        OverallFigure::MaximalLeakage => capacity(evidence).increasing(f64::log2),
    };
    let mut report = ClaimReport {
        claim: claim.claim().clone(),
        quantity: Quantity::Overall(figure),
        analytic: at_most,
        pair: evidence.pair(evidence.worst),
        verdict: decide(&estimate, at_most),
        reason: Grounds::Overall.into(),
        rows_needed: None,
        units_needed: None,
        p_value: None,
        estimate,
        fit: None,
    };
    // Secrets that do not occur may tell themselves, and no information is lost.
    let is_everywhere = evidence.prior.iter().all(|prior| *prior > 0.0);
    if at_most <= 0.0 && (is_everywhere || figure.covers_all_attacks()) {
        look_for_any_leak(evidence, &mut report);
    }
    report
}

/// The estimate beside the limits of maximal leakage is that of the report.
pub(crate) fn adopt_capacity(claims: &mut [ClaimReport], capacity: &Estimate) {
    let of = Quantity::Overall(OverallFigure::MaximalLeakage);
    for claim in claims.iter_mut().filter(|claim| claim.quantity == of) {
        let found = capacity.increasing(f64::log2);
        claim.estimate.point = found.point;
        claim.estimate.raw = found.raw;
        claim.estimate.method.point = found.method.point;
    }
}

/// The p-value of no pair's total variation exceeding `allowed`.
fn p_value(evidence: &Evidence, allowed: f64) -> Option<f64> {
    evidence.all_p_value(allowed)
}
