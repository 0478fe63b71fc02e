//! Finding what proves a limit.

use crate::audit::basis::Evidence;
use crate::audit::evidence::ends::attack_of;
use crate::audit::figures::privacy::PrivacyLimit;
use crate::audit::figures::privacy::witness::{Stronger, Witness, WitnessEvent};
use leakgauge_attack::pairwise::{Event, PairErrors, ScoreEvent};
use leakgauge_attack::scorer::Scorer;
use leakgauge_base::quantity::PrivacyParameter;
use leakgauge_exact::claim::Guarantee;

/// What proves a planned limit; `None` if it proves nothing.
pub fn of_limit(evidence: &Evidence, at: usize, limit: &PrivacyLimit) -> Option<Witness> {
    let lower = limit.lower.filter(|&lower| lower > 0.0)?;
    let plan = &evidence.plan.privacy[at];
    let pair = [plan.rule.a, plan.rule.b];
    let (attack, events) = match (&evidence.guesses[at], limit.quantity) {
        (Some(guesses), PrivacyParameter::Epsilon { delta }) => {
            let share = evidence.plan.share(plan.read);
            let shown = guesses.strongest(delta, share);
            (shown.attack(), shown.events(&evidence.names(), pair))
        }
        _ if evidence.weighed(at, limit.quantity).is_some() => {
            (attack_of(evidence.tuned).name(), Vec::new())
        }
        _ => {
            let attack = match evidence.tuned.for_privacy {
                Some(_) if plan.position >= evidence.pair_count() => attack_of(evidence.tuned),
                _ => &evidence.tuned.scorer,
            };
            let tally = &evidence.judgement.tallies[plan.position];
            let delta = limit.quantity.delta().unwrap_or(0.0);
            let event = of_errors(evidence, &**attack, pair, plan.rule.threshold, tally, delta);
            (attack.name(), vec![event])
        }
    };
    Some(Witness {
        attack: attack.to_owned(),
        events: events
            .into_iter()
            .filter(|event| event.inside != [0, 0])
            .collect(),
        stronger: stronger(evidence, at, limit.quantity, lower),
    })
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

/// The limit of μ on the same rows, if a Gaussian mechanism with that μ has a larger ε at this δ. At δ = 0 every μ has
/// an infinite one, which says nothing.
fn stronger(
    evidence: &Evidence,
    at: usize,
    quantity: PrivacyParameter,
    lower: f64,
) -> Option<Stronger> {
    let delta = quantity.delta().filter(|&delta| delta > 0.0)?;
    let mu = of_curve(evidence, at)
        .or_else(|| evidence.privacy_of(at, PrivacyParameter::Mu).lower)
        .filter(|&mu| mu > 0.0)?;
    let epsilon = gaussian_epsilon(mu, delta);
    (epsilon > lower).then_some(Stronger { mu, epsilon })
}

/// The limit of μ by all thresholds, where the scores of the pair are those of the trade-off curve.
fn of_curve(evidence: &Evidence, at: usize) -> Option<f64> {
    let rule = evidence.plan.privacy[at].rule;
    let worst = evidence.tuned.choices[evidence.worst].rule;
    let is_worst = (rule.a, rule.b) == (worst.a, worst.b);
    let scored = is_worst.then(|| evidence.worst_scores()).flatten()?;
    scored.mu_at_least(evidence.alpha() * evidence.plan.tables[0][evidence.worst])
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
