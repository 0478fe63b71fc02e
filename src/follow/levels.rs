//! How claims share the error probability, and what became of them at the share of each.
//!
//! Claims of which one follows from the other need one share together: the stricter one is refuted first, or the
//! other is not refuted.

use super::claims::Allowed;

/// What claims are ordered by: of two with the same quantity, the larger value follows from the smaller.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Scale {
    /// The largest advantage.
    Advantage(f64),
    /// The largest ε at δ = 0.
    Epsilon(f64),
    /// Neither, or more than that.
    Own,
    /// Differences of times.
    Time,
}

impl Scale {
    fn of(allowed: &Allowed) -> Scale {
        match (allowed.time, allowed.privacy, allowed.is_one_number) {
            (Some(_), ..) => Scale::Time,
            (None, Some((epsilon, 0.0)), true) => Scale::Epsilon(epsilon),
            (None, None, true) => Scale::Advantage(allowed.advantage),
            _ => Scale::Own,
        }
    }

    /// Whether this claim follows from the other, or is the same.
    fn follows_from(self, other: Scale) -> bool {
        match (self, other) {
            (Scale::Advantage(own), Scale::Advantage(other))
            | (Scale::Epsilon(own), Scale::Epsilon(other)) => other <= own,
            _ => false,
        }
    }
}

/// The shares.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Levels {
    scales: Vec<Scale>,
    /// The error probability of all claims together.
    alpha: f64,
    /// That of the bets against one claim, or one chain of claims; and of the medians of differences of times.
    pub each: f64,
}

impl Levels {
    /// Of claims that allow this.
    pub fn new(allowed: &[Allowed], alpha: f64) -> Levels {
        let scales: Vec<Scale> = allowed.iter().map(Scale::of).collect();
        let any = |is: fn(&Scale) -> bool| usize::from(scales.iter().any(is));
        let own = scales.iter().filter(|scale| **scale == Scale::Own).count();
        let shares = own
            + any(|scale| matches!(scale, Scale::Advantage(_)))
            + any(|scale| matches!(scale, Scale::Epsilon(_)))
            + any(|scale| *scale == Scale::Time);
        Levels {
            each: alpha / shares.max(1) as f64,
            scales,
            alpha,
        }
    }

    /// What a p-value at the share of a claim counts for all claims together.
    pub fn shared(&self, p_value: f64) -> f64 {
        (p_value * self.alpha / self.each).min(1.0)
    }

    /// The p-value of a claim, shared by all, where each has one by itself: the largest of those that it follows from.
    pub fn p_value(&self, claim: usize, alone: impl Fn(usize) -> f64) -> f64 {
        let own = self.scales[claim];
        let before = self.scales.iter().enumerate();
        let before = before.filter(|(_, scale)| own.follows_from(**scale));
        let largest = before.map(|(at, _)| alone(at)).fold(alone(claim), f64::max);
        self.shared(largest)
    }

    /// The largest advantage, and the largest ε, that a claim about that alone allows, of those that `is_violated`.
    pub fn refuted(&self, is_violated: impl Fn(usize) -> bool) -> [Option<f64>; 2] {
        let mut largest = [None; 2];
        for (at, scale) in self.scales.iter().enumerate() {
            let (which, value) = match *scale {
                Scale::Advantage(value) => (0, value),
                Scale::Epsilon(value) => (1, value),
                Scale::Own | Scale::Time => continue,
            };
            let exceeds = largest[which].is_none_or(|largest: f64| value > largest);
            if is_violated(at) && exceeds {
                largest[which] = Some(value);
            }
        }
        largest
    }

    /// The least advantage, and the least ε, that a claim about that alone allows, of those that `stands`.
    pub fn open(&self, stands: impl Fn(usize) -> bool) -> [f64; 2] {
        let mut least = [1.0f64, f64::INFINITY];
        for (_, scale) in self.scales.iter().enumerate().filter(|(at, _)| stands(*at)) {
            match *scale {
                Scale::Advantage(value) => least[0] = least[0].min(value),
                Scale::Epsilon(value) => least[1] = least[1].min(value),
                Scale::Own | Scale::Time => {}
            }
        }
        least
    }

    /// The error probabilities at which limits of the advantage and of ε are bet for: half of what each may have, for a limit
    /// of the advantage is one of ε too.
    pub fn limits(&self) -> [f64; 2] {
        self.read()
            .map(|is_read| 0.5 * if is_read { self.each } else { self.alpha })
    }

    /// The error probabilities of these limits: where a claim that is refuted raises one, those of both together. A limit of ε
    /// rests on that of the advantage as well.
    pub fn of_limits(&self) -> [f64; 2] {
        let (own, read) = (self.limits(), self.read());
        let [advantage, epsilon] =
            [0, 1].map(|at| own[at] + if read[at] { self.each } else { 0.0 });
        [advantage, advantage + epsilon]
    }

    /// Whether some claim is about the advantage alone, and about ε alone.
    fn read(&self) -> [bool; 2] {
        let any = |is: fn(&Scale) -> bool| self.scales.iter().any(is);
        [
            any(|scale| matches!(scale, Scale::Advantage(_))),
            any(|scale| matches!(scale, Scale::Epsilon(_))),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::follow::claims::Followed;
    use leakgauge_exact::claim::Claim;

    fn levels(claims: &[&str]) -> Levels {
        let claims: Vec<Claim> = claims
            .iter()
            .map(|text| Claim::parse(text).expect("a claim"))
            .collect();
        let followed = Followed::new(&claims, None).expect("claims that can be followed");
        Levels::new(followed.allowed(), 0.06)
    }

    #[test]
    fn claims_of_which_one_follows_from_the_other_share_one_level() {
        for (claims, each, limits) in [
            (&[][..], 0.06, [0.03, 0.06]),
            (&["ldp(1)"], 0.06, [0.03, 0.12]),
            (&["ldp(1)", "ldp(2)", "dp(3)"], 0.06, [0.03, 0.12]),
            (&["advantage(0.1)", "gdp(1)"], 0.03, [0.045, 0.075]),
            (&["ldp(0)"], 0.06, [0.09, 0.12]),
            (
                &["laplace(scale=1)", "ldp(1)", "bayes-security(0.9)"],
                0.02,
                [0.03, 0.06],
            ),
            (
                &["dp(1, delta=0.1)", "dp(2, delta=0.1)"],
                0.03,
                [0.03, 0.06],
            ),
        ] {
            let found = levels(claims);
            assert!((found.each - each).abs() < 1e-15, "{claims:?} {found:?}");
            for (found, expected) in found.of_limits().into_iter().zip(limits) {
                assert!((found - expected).abs() < 1e-15, "{claims:?} {found}");
            }
        }
    }

    /// A claim that follows from another is refuted only with it.
    #[test]
    fn a_chain_is_refuted_from_the_strictest_claim_on() {
        let levels = levels(&["ldp(2)", "advantage(0.3)", "ldp(1)", "ldp(3)"]);
        let alone = [0.01, 0.5, 0.02, 0.001];
        let p_values: Vec<f64> = (0..4)
            .map(|claim| levels.p_value(claim, |at| alone[at]))
            .collect();
        assert_eq!(p_values, [0.04, 1.0, 0.04, 0.04]);
        let refuted = levels.refuted(|at| p_values[at] <= 0.06);
        assert_eq!(refuted, [None, Some(3.0)]);
    }
}
