//! How claims stand: the least p-value so far, and what it is of.

use super::claims::Allowed;
use super::line::{FollowedClaim, FollowedGrounds, FollowedReason};
use crate::audit::{Verdict, Warning, dependence};
use leakgauge_exact::claim::Claim;

/// The least p-value of each claim over all times looked at. At every time it is valid by Ville's inequality, so
/// the least is.
pub(super) struct Standing {
    least: Vec<Option<(f64, FollowedGrounds)>>,
    /// Which are shown to hold for the secrets so far.
    holds: Vec<bool>,
}

impl Standing {
    /// So many claims at which nothing was looked.
    pub fn new(claims: usize) -> Self {
        Standing {
            least: vec![None; claims],
            holds: vec![false; claims],
        }
    }

    /// Looks at a claim: a p-value that counts for it, and what it is of.
    pub fn look(&mut self, claim: usize, p_value: f64, grounds: FollowedGrounds) {
        let least = &mut self.least[claim];
        let p_value = p_value.min(1.0);
        match least {
            Some((least, of)) if *least <= p_value => of.raise(grounds),
            _ => *least = Some((p_value, grounds)),
        }
    }

    /// Whether a claim is shown to hold now.
    pub fn holds(&mut self, claim: usize, holds: bool) {
        self.holds[claim] = holds;
    }

    /// Whether some claim is violated at this error probability.
    pub fn is_violated(&self, alpha: f64) -> bool {
        let mut all = self.least.iter().flatten();
        all.any(|(p_value, _)| *p_value <= alpha)
    }

    /// The claims as they stand.
    pub fn claims(
        &self,
        claims: &[(&Claim, Allowed)],
        alpha: f64,
        warnings: &[Warning],
        of_blocks: bool,
    ) -> Vec<FollowedClaim> {
        let doubt = warnings.iter().find(|warning| warning.is_about_order());
        let all = claims.iter().zip(&self.least).zip(&self.holds);
        all.map(|(((claim, allowed), least), &holds)| {
            let nothing = FollowedGrounds::Advantage {
                lower: 0.0,
                bound: allowed.advantage,
            };
            let (p_value, grounds) = least.clone().unwrap_or((1.0, nothing));
            let violated = p_value <= alpha;
            let of_times = allowed.time.is_some();
            let void = dependence::of(warnings, false, of_times);
            // Bets are not wider where rows are worth fewer: that stays a doubt.
            let decides = |warning: &Warning| {
                warning.inflation() < f64::INFINITY && !dependence::are_apart(warnings)
            };
            let void = void.filter(|warning| violated && !decides(warning));
            let verdict = match (violated, holds) {
                (true, _) if void.is_some() => Verdict::Inconclusive,
                (true, _) => Verdict::Violated,
                (false, true) => Verdict::Holds,
                (false, false) => Verdict::Inconclusive,
            };
            FollowedClaim {
                claim: (*claim).clone(),
                analytic: allowed.time.unwrap_or(allowed.advantage),
                epsilon: allowed.privacy.map(|(epsilon, _)| epsilon),
                delta: allowed.privacy.map(|(_, delta)| delta),
                verdict,
                p_value,
                reason: FollowedReason {
                    verdict,
                    of_blocks,
                    slower: claim.slower().map(str::to_owned),
                    grounds,
                    p_value,
                    doubt: void.or(doubt).filter(|_| violated).cloned(),
                },
            }
        })
        .collect()
    }
}

impl FollowedGrounds {
    /// The lower limit of a difference of times; 0 of others.
    fn size(&self) -> f64 {
        match self {
            FollowedGrounds::TimeDifference { lower, .. } => *lower,
            _ => 0.0,
        }
    }

    /// Takes the limit of a later look at the same thing, if it is higher.
    fn raise(&mut self, later: FollowedGrounds) {
        match (self, later) {
            (
                FollowedGrounds::Advantage { lower, .. },
                FollowedGrounds::Advantage { lower: later, .. },
            )
            | (
                FollowedGrounds::Epsilon { lower, .. },
                FollowedGrounds::Epsilon { lower: later, .. },
            ) => *lower = lower.max(later),
            (this @ FollowedGrounds::TimeDifference { .. }, later)
                if later.size() > this.size() =>
            {
                *this = later;
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_least_p_value_stays_and_its_limit_rises() {
        let at = |lower: f64| FollowedGrounds::Epsilon { lower, bound: 1.0 };
        let other = FollowedGrounds::Advantage {
            lower: 0.4,
            bound: 0.5,
        };
        let mut standing = Standing::new(2);
        for (p_value, grounds) in [
            (0.3, at(0.8)),
            (0.9, other.clone()),
            (0.04, at(1.01)),
            (0.2, at(1.1)),
        ] {
            standing.look(0, p_value, grounds);
        }
        assert!(standing.is_violated(0.05) && !standing.is_violated(0.03));
        assert_eq!(standing.least[0], Some((0.04, at(1.1))));
        assert_eq!(standing.least[1], None);
    }
}
