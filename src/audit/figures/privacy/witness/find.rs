//! Finding what proves a limit.

use crate::audit::basis::Evidence;
use crate::audit::closure::Read;
use crate::audit::figures::privacy::witness::{Stronger, Witness, WitnessEvent};
use crate::estimate::Method;
use leakgauge_attack::pairwise::{Event, PairErrors, ScoreEvent};
use leakgauge_attack::scorer::Scorer;
use leakgauge_base::quantity::PrivacyParameter;
use leakgauge_exact::claim::Guarantee;

/// What proves a limit; `None` if it proves nothing, and where all thresholds
/// of the scores do.
pub fn of_limit(evidence: &Evidence, read: &Read) -> Option<Witness> {
    let lower = read.limit.lower.filter(|&lower| lower > 0.0)?;
    let source = read.source?;
    let (attack, events) = match source.planned {
        Some(at) => of_plan(evidence, at, read.limit.quantity),
        None if source.method.is_of_some_pair() => return None,
        None if matches!(source.method, Method::BandAndTails | Method::KolmogorovDkw) => {
            return None;
        }
        None => {
            let rule = evidence.tuned.choices[read.pair].rule;
            let tally = evidence.tally(read.pair);
            let scorer = &*evidence.tuned.scorer;
            let delta = read.limit.quantity.delta().unwrap_or(0.0);
            let pair = [rule.a, rule.b];
            let event = of_errors(evidence, scorer, pair, rule.threshold, tally, delta);
            (scorer.name(), vec![event])
        }
    };
    Some(Witness {
        attack: attack.to_owned(),
        events: events
            .into_iter()
            .filter(|event| event.inside != [0, 0])
            .collect(),
        stronger: stronger(evidence, read, lower),
    })
}

/// The attack and the events of a planned limit.
fn of_plan<'a>(
    evidence: &'a Evidence,
    at: usize,
    quantity: PrivacyParameter,
) -> (&'a str, Vec<WitnessEvent>) {
    let plan = &evidence.plan.privacy[at];
    let pair = [plan.rule.a, plan.rule.b];
    if let Some(guesses) = &evidence.guesses[at] {
        // Guesses at another δ may imply the limit.
        let asked = quantity.delta().filter(|delta| plan.deltas.contains(delta));
        let delta = asked.unwrap_or(plan.deltas[plan.deltas.len() - 1]);
        let share = evidence.plan.share(plan.read);
        let shown = guesses.strongest(delta, share);
        return (shown.attack(), shown.events(&evidence.names(), pair));
    }
    if evidence.bins[at].is_some() {
        return (evidence.tuned.privacy_attack().name(), Vec::new());
    }
    let attack = evidence.tuned.privacy_attack();
    let tally = &evidence.judgement.tallies[plan.position];
    let delta = quantity.delta().unwrap_or(0.0);
    let event = of_errors(evidence, &**attack, pair, plan.rule.threshold, tally, delta);
    (attack.name(), vec![event])
}

/// The event of a rule, or its complement with the secrets exchanged where that is the rarer one that tells more.
fn of_errors(
    evidence: &Evidence,
    attack: &dyn Scorer,
    [a, b]: [u32; 2],
    threshold: f64,
    tally: &PairErrors,
    delta: f64,
) -> WitnessEvent {
    let found = tally.a_rows - tally.a_missed;
    let kept = tally.b_rows - tally.b_missed;
    let odds = |missed: u64, rows: u64, false_alarms: u64, others: u64| {
        let false_alarm = (false_alarms.max(1)) as f64 / others.max(1) as f64;
        (1.0 - delta - missed as f64 / rows.max(1) as f64) / false_alarm
    };
    let says_a = odds(tally.a_missed, tally.a_rows, tally.b_missed, tally.b_rows);
    let says_b = odds(tally.b_missed, tally.b_rows, tally.a_missed, tally.a_rows);
    let (secrets, event, rows, inside) = if says_a >= says_b {
        let rows = [tally.a_rows, tally.b_rows];
        (
            [a, b],
            ScoreEvent::Above(threshold),
            rows,
            [found, tally.b_missed],
        )
    } else {
        let rows = [tally.b_rows, tally.a_rows];
        (
            [b, a],
            ScoreEvent::AtMost(threshold),
            rows,
            [kept, tally.a_missed],
        )
    };
    WitnessEvent {
        secrets: evidence.secrets(secrets),
        event: Event::describe(
            attack,
            evidence.observations,
            evidence.certify,
            [a, b],
            event,
        ),
        rows,
        inside,
    }
}

/// The limit of μ of the same pair, if a Gaussian mechanism with that μ has a larger ε at this δ. At δ = 0 every μ has
/// an infinite one, which says nothing.
fn stronger(evidence: &Evidence, read: &Read, lower: f64) -> Option<Stronger> {
    let delta = read.limit.quantity.delta().filter(|&delta| delta > 0.0)?;
    let mu = evidence
        .privacy_at(read.pair, PrivacyParameter::Mu)
        .limit
        .lower;
    let mu = mu.filter(|&mu| mu > 0.0)?;
    let epsilon = gaussian_epsilon(mu, delta);
    (epsilon > lower).then_some(Stronger { mu, epsilon })
}

/// The ε of a Gaussian mechanism with this μ at a δ, from below.
fn gaussian_epsilon(mu: f64, delta: f64) -> f64 {
    let guarantee = Guarantee::Gaussian { mu };
    let (mut low, mut high) = (0.0, 0.5 * mu * mu + 40.0 * mu);
    if guarantee.largest_delta(low) <= delta {
        return 0.0;
    }
    for _ in 0..80 {
        let middle = 0.5 * (low + high);
        if guarantee.largest_delta(middle) > delta {
            low = middle;
        } else {
            high = middle;
        }
    }
    low
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Dong, Roth and Su's conversion: δ(ε) = Φ(μ/2 − ε/μ) − e^ε Φ(−μ/2 − ε/μ), solved to 30 digits by mpmath.
    #[test]
    fn the_epsilon_of_a_gaussian_is_that_of_its_curve() {
        for (mu, delta, golden) in [
            (0.5, 1e-5, 1.9930914044151196),
            (1.0, 1e-5, 4.3771780956812246),
            (2.0, 1e-3, 7.581_279_924_570_114),
        ] {
            let found = gaussian_epsilon(mu, delta);
            assert!(
                (found / golden - 1.0).abs() < 1e-9,
                "{mu} {delta}: {found} {golden}"
            );
        }
        assert_eq!(gaussian_epsilon(0.1, 0.5), 0.0);
    }
}
