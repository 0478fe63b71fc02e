//! One estimate a pair, whichever table shows it, and within everything that is certified of the pair.
//!
//! The rule is [`Estimate::constrain`], by the closest limits that any table has of the pair. The pairs of a log
//! are compared by these estimates, and the figures of the whole log follow from them.

use crate::audit::claims::report::ClaimReport;
use crate::audit::figures::pairs::points::{PairEstimate, PairEstimates};
use crate::audit::figures::pairs::{PairFigures, WorstPair};
use crate::estimate::Estimate;
use leakgauge_base::quantity::Quantity;

/// Settles the estimate of every pair and writes it wherever the pair is shown.
pub(crate) fn agree(
    pairs: &mut [PairFigures],
    worst: &mut WorstPair,
    claims: &mut [ClaimReport],
    estimates: &PairEstimates,
) {
    for (at, part) in pairs.chunks_mut(AT_ONCE).enumerate() {
        let from = at * AT_ONCE;
        let estimates = estimates.of(from..from + part.len());
        settle_all(part, worst, claims, &estimates);
    }
}

/// Pairs whose estimates are computed at once.
const AT_ONCE: usize = 1 << 16;

fn settle_all(
    pairs: &mut [PairFigures],
    worst: &mut WorstPair,
    claims: &mut [ClaimReport],
    estimates: &[PairEstimate],
) {
    for (pair, estimate) in pairs.iter_mut().zip(estimates) {
        let is_worst = pair.secrets.secrets() == worst.secrets.secrets();
        let of_claims = || {
            let of_pair = |claim: &&ClaimReport| claim.pair.secrets() == pair.secrets.secrets();
            claims.iter().filter(of_pair).filter_map(total_variation)
        };
        let mut all: Vec<Estimate> = of_claims().collect();
        all.push(pair.total_variation.clone());
        all.extend(is_worst.then(|| worst.total_variation.clone()));
        let settled = settle(&all, estimate);
        adopt(&mut pair.total_variation, &settled);
        for claim in claims.iter_mut() {
            if claim.pair.secrets() == pair.secrets.secrets() {
                adopt_in_claim(claim, &settled);
            }
        }
        if is_worst {
            adopt(&mut worst.total_variation, &settled);
            worst.advantage = worst.total_variation.clone();
            worst.bayes_security = worst.total_variation.decreasing(|tv| 1.0 - tv);
        }
    }
}

/// The total variation that a claim is about, if it is about that.
fn total_variation(claim: &ClaimReport) -> Option<Estimate> {
    match claim.quantity {
        Quantity::Advantage | Quantity::TotalVariation => Some(claim.estimate.clone()),
        Quantity::BayesSecurity => Some(claim.estimate.decreasing(|security| 1.0 - security)),
        Quantity::AttackAdvantage
        | Quantity::Overall(_)
        | Quantity::TimeDifference
        | Quantity::Privacy(_) => None,
    }
}

fn adopt_in_claim(claim: &mut ClaimReport, settled: &Estimate) {
    match claim.quantity {
        Quantity::Advantage | Quantity::TotalVariation => adopt(&mut claim.estimate, settled),
        Quantity::BayesSecurity => {
            adopt(&mut claim.estimate, &settled.decreasing(|tv| 1.0 - tv));
        }
        Quantity::AttackAdvantage
        | Quantity::Overall(_)
        | Quantity::TimeDifference
        | Quantity::Privacy(_) => {}
    }
}

fn adopt(figure: &mut Estimate, settled: &Estimate) {
    figure.point = settled.point;
    figure.raw = settled.raw;
    figure.method.point = settled.method.point;
}

/// The better estimate that the limits allow; the best, constrained, where they allow neither.
fn settle(figures: &[Estimate], estimate: &PairEstimate) -> Estimate {
    let lower = figures.iter().filter_map(|figure| figure.lower);
    let upper = figures.iter().filter_map(|figure| figure.upper);
    let lower = lower.fold(0.0, f64::max);
    let upper = upper.fold(1.0, f64::min);
    let within = |(point, _): &(f64, _)| (lower..=upper).contains(point);
    let second = estimate.second.filter(within);
    // Below the least possible value an estimate of nothing is as good as another.
    let best = estimate.best.filter(|best| within(best) || lower <= 0.0);
    let mut settled = Estimate::default();
    if let Some((point, method)) = best.or(second).or(estimate.best) {
        settled.set_point(point, method);
        settled.constrain(lower, upper);
    }
    settled
}
