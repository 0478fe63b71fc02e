//! Differences between two logs, with limits.
//!
//! Of attacks found: errors of both logs together are one weighted risk of independent rows, and
//! Chernoff's bound for it holds at every sample size. Of the best adversary, in discrete logs: a
//! difference X − Y is at least (lower limit of X) − (upper limit of Y) unless one of the two is wrong;
//! with both at a quarter of α, and the same from above, the interval is wrong with probability α at
//! most.

use std::collections::{BTreeMap, BTreeSet};

use super::{Difference, Differences, Measured, PairDifference, PairSummary};
use crate::audit::{Findings, PairFigures, Tallies};
use crate::estimate::{Estimate, Method, Methods, Reason};
use leakgauge_attack::pairwise::PairErrors;
use leakgauge_exact::leakage;
use leakgauge_stats::binomial::{clopper_pearson_lower, clopper_pearson_upper};
use leakgauge_stats::weighted_risk::{Stratum, chernoff_lower, chernoff_upper};

/// The labels of the secrets.
pub(super) fn labels(audit: &Findings) -> impl Iterator<Item = &str> {
    audit.input.secrets.iter().map(String::as_str)
}

/// What changed from one log to another.
pub(super) fn between(logs: &[Measured], from: usize, to: usize) -> Differences {
    let (earlier, later) = (&logs[from], &logs[to]);
    let only = |here: &Findings, there: &Findings| {
        let there: BTreeSet<&str> = labels(there).collect();
        let missing = labels(here).filter(|label| !there.contains(label));
        missing.map(str::to_owned).collect()
    };
    let pairs = pairs(&earlier.audit, &later.audit);
    Differences {
        logs: [from + 1, to + 1],
        bayes_vulnerability: bayes_vulnerability(earlier, later),
        attack_vulnerability: attack_vulnerability(earlier, later),
        total_variation: total_variation(earlier, later),
        attack_advantage: attack_advantage(earlier, later),
        pair_summary: summary(&pairs),
        pairs,
        pairs_left_out: None,
        only_in_earlier: only(&earlier.audit, &later.audit),
        only_in_later: only(&later.audit, &earlier.audit),
    }
}

/// A point with its standard error.
type Point = (Option<f64>, Option<f64>);

/// Lower and upper limit with their method, or why there are none.
type Limits = Result<(f64, f64, Method), Reason>;

/// How an estimate changed: the difference, its standard error, the difference in standard errors.
fn change(earlier: Point, later: Point) -> [Option<f64>; 3] {
    let both = |x: Option<f64>, y: Option<f64>| Some((x?, y?));
    let point = both(earlier.0, later.0).map(|(earlier, later)| later - earlier);
    let standard_error = both(earlier.1, later.1).map(|(x, y)| x.hypot(y));
    let z = both(point, standard_error).map(|(point, error)| point / error);
    [point, standard_error, z]
}

/// What arithmetic may cost.
const ROUNDING: f64 = 1e-12;

fn difference(earlier: Point, later: Point, limits: Limits, analytic: Option<f64>) -> Difference {
    let [point, standard_error, z] = change(earlier, later);
    let (lower, upper, method, reason) = match limits {
        Ok((lower, upper, method)) => (Some(lower), Some(upper), Some(method), None),
        Err(reason) => (None, None, None, Some(reason)),
    };
    // An estimate at its limit may be beyond it by a rounding error.
    let point = point.map(|point| {
        let least = lower.filter(|lower| *lower > point && lower - point < ROUNDING);
        let most = upper.filter(|upper| *upper < point && point - upper < ROUNDING);
        least.or(most).unwrap_or(point)
    });
    Difference {
        earlier: earlier.0,
        later: later.0,
        z,
        difference: Estimate {
            point,
            raw: None,
            lower,
            upper,
            method: Methods {
                point: None,
                lower: method,
                upper: method,
            },
            reason,
        },
        standard_error,
        analytic,
    }
}

/// Of two secrets that are equally likely, the best guess is right with probability (1 + total variation)/2: its
/// change is half of the other, and is read from it, so that no limit says less than the other implies.
fn bayes_vulnerability(earlier: &Measured, later: &Measured) -> Difference {
    let halved = |log: &Measured| log.audit.tallies.prior == [0.5, 0.5];
    if halved(earlier) && halved(later) {
        return half(total_variation(earlier, later));
    }
    let point = |log: &Measured| {
        let risk = &log.audit.overall.bayes_risk;
        (
            risk.point.map(|risk| 1.0 - risk),
            log.audit.tallies.risk_error(risk),
        )
    };
    let value = |log: &Measured| log.analytic.as_ref()?.bayes_vulnerability;
    let level = earlier.alpha() / 4.0;
    let limits = |log: &Measured| -> Result<(f64, f64), Reason> {
        let tallies = &log.audit.tallies;
        let blind = leakage::prior_vulnerability(&tallies.prior);
        let upper = tallies.plug_in.as_ref().ok_or(Reason::RawNumbersCompared)?;
        let (_, risk, _) = risk_limits(tallies, level)?;
        Ok((
            (1.0 - risk).max(blind),
            upper.vulnerability_at_most(level).max(blind),
        ))
    };
    difference(
        point(earlier),
        point(later),
        combined(limits(earlier), limits(later)),
        value(later)
            .zip(value(earlier))
            .map(|(later, earlier)| later - earlier),
    )
}

fn total_variation(earlier: &Measured, later: &Measured) -> Difference {
    let point = |log: &Measured| {
        let estimate = &log.audit.worst_pair.total_variation;
        let error = log.audit.tallies.worst_error(estimate);
        (estimate.point, error)
    };
    let value = |log: &Measured| Some(log.analytic.as_ref()?.worst_pair.total_variation);
    let level = earlier.alpha() / 4.0;
    let limits = |log: &Measured| -> Result<(f64, f64), Reason> {
        let tallies = &log.audit.tallies;
        let upper = tallies.plug_in.as_ref().ok_or(Reason::RawNumbersCompared)?;
        let upper = upper
            .total_variation_at_most(level)
            .ok_or(Reason::WorstPairWithoutRows)?;
        if !tallies.worst.tally().is_judged() {
            return Err(Reason::WorstPairWithoutRows);
        }
        Ok((tallies.worst.at_least(level).max(0.0), upper))
    };
    difference(
        point(earlier),
        point(later),
        combined(limits(earlier), limits(later)),
        value(later)
            .zip(value(earlier))
            .map(|(later, earlier)| later - earlier),
    )
}

/// The change of (1 + x)/2 where x changes.
fn half(of: Difference) -> Difference {
    let value = |x: Option<f64>| x.map(|x| 0.5 * (1.0 + x));
    Difference {
        earlier: value(of.earlier),
        later: value(of.later),
        difference: of.difference.increasing(|x| 0.5 * x),
        standard_error: of.standard_error.map(|error| 0.5 * error),
        analytic: of.analytic.map(|x| 0.5 * x),
        z: of.z,
    }
}

/// Limits of later − earlier from those of both.
fn combined(earlier: Result<(f64, f64), Reason>, later: Result<(f64, f64), Reason>) -> Limits {
    let ((lower, upper), (later_lower, later_upper)) = (earlier?, later?);
    Ok((
        later_lower - upper,
        later_upper - lower,
        Method::CombinedLimits,
    ))
}

fn attack_vulnerability(earlier: &Measured, later: &Measured) -> Difference {
    let alpha = earlier.alpha();
    let (earlier, later) = (&earlier.audit, &later.audit);
    let point = |audit: &Findings| {
        let tallies = &audit.tallies;
        let risk = risk_strata(tallies).map(|_| attack_risk(tallies));
        (risk.ok().map(|risk| 1.0 - risk), tallies.attack_error())
    };
    let limits = || -> Limits {
        let (a, b) = (&earlier.tallies, &later.tallies);
        let (before, after) = (risk_strata(a)?, risk_strata(b)?);
        if a.effective.is_some() || b.effective.is_some() {
            let (least, most, method) = risk_limits(a, alpha / 4.0)?;
            let (later_least, later_most, _) = risk_limits(b, alpha / 4.0)?;
            return Ok((least - later_most, most - later_least, method));
        }
        let (lower, upper) = weighted_difference(&before, &after, alpha / 2.0);
        Ok((lower, upper, Method::WeightedChernoff))
    };
    difference(point(earlier), point(later), limits(), None)
}

fn attack_advantage(earlier: &Measured, later: &Measured) -> Difference {
    let alpha = earlier.alpha();
    let (earlier, later) = (&earlier.audit, &later.audit);
    let point = |audit: &Findings| {
        let estimate = &audit.worst_pair.attack_advantage;
        let error = audit.tallies.worst_error(estimate);
        (estimate.point, error)
    };
    let limits = || -> Limits {
        let (a, b) = (&earlier.tallies.worst, &later.tallies.worst);
        if !a.tally().is_judged() || !b.tally().is_judged() {
            return Err(Reason::WorstPairWithoutRows);
        }
        if a.is_approximate() || b.is_approximate() {
            let level = alpha / 4.0;
            return Ok((
                b.at_least(level) - a.at_most(level),
                b.at_most(level) - a.at_least(level),
                Method::ClopperPearsonEffectiveRows,
            ));
        }
        let strata = |tally: &PairErrors| {
            [
                (tally.a_missed, tally.a_rows),
                (tally.b_missed, tally.b_rows),
            ]
            .map(|(errors, rows)| Stratum {
                weight: 1.0,
                errors,
                rows,
            })
        };
        let (lower, upper) =
            weighted_difference(&strata(a.tally()), &strata(b.tally()), alpha / 2.0);
        Ok((lower, upper, Method::WeightedChernoff))
    };
    difference(point(earlier), point(later), limits(), None)
}

/// Both limits of (weighted risk of `minuend`) − (weighted risk of `subtrahend`), each at level
/// 1 − alpha, for independent rows.
///
/// # Formula
/// R − R′ = R + Σ w′(1 − p′) − Σ w′, and the first two terms are one weighted risk, whose errors in the
/// subtrahend's rows are what is right there: [`chernoff_upper`], [`chernoff_lower`].
pub(super) fn weighted_difference(
    minuend: &[Stratum],
    subtrahend: &[Stratum],
    alpha: f64,
) -> (f64, f64) {
    let total: f64 = subtrahend.iter().map(|stratum| stratum.weight).sum();
    let mirrored = subtrahend.iter().map(|stratum| Stratum {
        errors: stratum.rows - stratum.errors,
        ..*stratum
    });
    let all: Vec<Stratum> = minuend.iter().copied().chain(mirrored).collect();
    // What rounding in the last subtraction could take away.
    let slack = 4.0 * f64::EPSILON * total;
    (
        chernoff_lower(&all, alpha) - total - slack,
        chernoff_upper(&all, alpha) - total + slack,
    )
}

/// The errors of guesses among all secrets by secret; an error if a secret of positive prior was not
/// tested.
fn risk_strata(tallies: &Tallies) -> Result<Vec<Stratum>, Reason> {
    let guesses = &tallies.guesses;
    let all = tallies
        .prior
        .iter()
        .zip(guesses.rows.iter().zip(&guesses.errors));
    let strata: Vec<Stratum> = all
        .filter(|(p, _)| **p > 0.0)
        .map(|(&weight, (&rows, &errors))| Stratum {
            weight,
            errors,
            rows,
        })
        .collect();
    if strata.iter().any(|stratum| stratum.rows == 0) {
        return Err(Reason::PriorWithoutRows);
    }
    Ok(strata)
}

/// The prior-weighted error rate of the attack found on the certify rows; 0 for secrets without rows.
pub(super) fn attack_risk(tallies: &Tallies) -> f64 {
    let guesses = &tallies.guesses;
    let rates = guesses.rows.iter().zip(&guesses.errors);
    tallies
        .prior
        .iter()
        .zip(rates)
        .filter(|(p, (rows, _))| **p > 0.0 && **rows > 0)
        .map(|(p, (&rows, &errors))| p * errors as f64 / rows as f64)
        .sum()
}

/// Both limits of the risk of the attack found, each at level 1 − alpha. With effective rows every
/// secret is limited by itself, for secrets may share noise; approximate then.
pub(super) fn risk_limits(tallies: &Tallies, alpha: f64) -> Result<(f64, f64, Method), Reason> {
    let strata = risk_strata(tallies)?;
    let Some(worth) = &tallies.effective else {
        return Ok((
            chernoff_lower(&strata, alpha),
            chernoff_upper(&strata, alpha),
            Method::WeightedChernoff,
        ));
    };
    let level = alpha / strata.len() as f64;
    let weighed = tallies.prior.iter().zip(&worth.guesses);
    let worth = weighed.filter(|(p, _)| **p > 0.0).map(|(_, &rows)| rows);
    let (mut lower, mut upper) = (0.0, 0.0);
    for (stratum, rows) in strata.iter().zip(worth) {
        let errors = stratum.errors as f64 * rows as f64 / stratum.rows as f64;
        let (least, most) = (errors.floor() as u64, (errors.ceil() as u64).min(rows));
        lower += stratum.weight * clopper_pearson_lower(least.min(rows), rows, level);
        upper += stratum.weight * clopper_pearson_upper(most, rows, level);
    }
    Ok((lower, upper, Method::ClopperPearsonEffectiveRows))
}

fn summary(pairs: &[PairDifference]) -> PairSummary {
    let mut changes: Vec<f64> = pairs.iter().filter_map(|pair| pair.difference).collect();
    changes.sort_by(f64::total_cmp);
    let middle = changes.len() / 2;
    let median = changes.get(middle).map(|&above| match changes.len() % 2 {
        0 => (changes[middle - 1] + above) / 2.0,
        _ => above,
    });
    PairSummary {
        compared: changes.len(),
        fell: changes.iter().filter(|change| **change < 0.0).count(),
        rose: changes.iter().filter(|change| **change > 0.0).count(),
        median,
    }
}

/// Pairs of secrets that both logs have, in the order of the earlier one.
fn pairs(earlier: &Findings, later: &Findings) -> Vec<PairDifference> {
    fn key(pair: &PairFigures) -> [&str; 2] {
        let [a, b] = pair.secrets.labels();
        if a <= b { [a, b] } else { [b, a] }
    }
    let there: BTreeMap<[&str; 2], usize> = later
        .pairs
        .iter()
        .enumerate()
        .map(|(at, pair)| (key(pair), at))
        .collect();
    let of_both = earlier.pairs.iter().enumerate();
    of_both
        .filter_map(|(at, pair)| {
            let other = *there.get(&key(pair))?;
            let (x, y) = (&pair.total_variation, &later.pairs[other].total_variation);
            let [difference, standard_error, z] = change(
                (x.point, earlier.tallies.pair_error(x, at)),
                (y.point, later.tallies.pair_error(y, other)),
            );
            Some(PairDifference {
                secrets: pair.secrets.clone(),
                earlier: x.point,
                later: y.point,
                difference,
                standard_error,
                z,
            })
        })
        .collect()
}
