//! The claims that are followed, bound to the secrets seen so far.

use crate::audit::{
    about_one_observation, factor, families, incomparable_step, needs_blocks, slower, unknown_unit,
};
use crate::follow::line::FollowedGrounds;
use leakgauge_base::error::{Error, Result};
use leakgauge_base::naming::{option, setting};
use leakgauge_base::time::{ClockStep, TimeUnit};
use leakgauge_exact::claim::{BoundClaim, Claim, ClaimKind, Guarantee, Requirement, TimeBound};
use leakgauge_exact::mechanism::Mechanism;
use leakgauge_sequential::claims::inequalities;
use leakgauge_sequential::product_bets::Allowed as Inequality;

/// A claim about ε above this is compared through the advantage only: e^ε would overflow, and no log shows it.
const MAX_EPSILON: f64 = 300.0;

/// What a claim leaves possible at every pair of secrets.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Allowed {
    /// The largest advantage of any attack.
    pub advantage: f64,
    /// ε and δ, if it is a promise of (ε, δ)-differential privacy or implies one.
    pub privacy: Option<(f64, f64)>,
    /// Whether it is about that advantage alone, or about that ε alone at δ = 0, at every pair.
    pub is_one_number: bool,
    /// The largest median of differences of times, in the unit of the log, if it is about that alone.
    pub time: Option<f64>,
}

impl Allowed {
    /// What a p-value is of, given the lower limits of the advantage and of ε. Where a claim is more than a bound on one of
    /// them, its bets may refute it before a limit does.
    pub fn grounds(&self, [lower, epsilon]: [f64; 2], is_violated: bool) -> FollowedGrounds {
        match self.privacy {
            Some((bound, 0.0)) if self.is_one_number => FollowedGrounds::Epsilon {
                lower: epsilon,
                bound,
            },
            Some((epsilon, delta)) if delta > 0.0 => {
                FollowedGrounds::Approximate { epsilon, delta }
            }
            _ if is_violated && !self.is_one_number => FollowedGrounds::Claim,
            _ => FollowedGrounds::Advantage {
                lower,
                bound: self.advantage,
            },
        }
    }
}

/// The scale of measurements in blocks.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(super) struct Scale {
    /// Their unit, if it is known.
    pub unit: Option<TimeUnit>,
    /// The frequency of the clock in hertz, for times in cycles.
    pub clock_frequency: Option<f64>,
    /// The step in which the clock records them, if it was given.
    pub clock_step: Option<ClockStep>,
}

impl Scale {
    /// The step of the clock in the unit of the measurements, if it was given.
    ///
    /// # Errors
    /// A step that cannot be compared with them.
    pub fn step(&self) -> Result<Option<f64>> {
        let Some(step) = self.clock_step else {
            return Ok(None);
        };
        let (unit, frequency) = (self.unit, self.clock_frequency);
        let found = step.in_unit(unit, frequency);
        found
            .map(Some)
            .ok_or_else(|| incomparable_step(step, unit, frequency))
    }
}

/// The claims, in their order.
pub(super) struct Followed {
    claims: Vec<Claim>,
    allowed: Vec<Allowed>,
    /// How many secrets they are bound to.
    secrets: usize,
    is_blocked: bool,
    /// What they say about these, once there are two.
    bound: Vec<BoundClaim>,
}

impl Followed {
    /// Claims about rows of which nothing has been seen, or about measurements in blocks with their scale.
    ///
    /// # Errors
    /// A claim that no limit of the advantage or of ε can refute; about times of rows without blocks, or in another
    /// unit; about single observations of blocks.
    pub fn new(claims: &[Claim], scale: Option<Scale>) -> Result<Self> {
        let allowed = claims.iter().map(|claim| match scale {
            None => of_rows(claim),
            Some(scale) => of_blocks(claim, scale),
        });
        let allowed: Result<Vec<Allowed>> = allowed.collect();
        Ok(Followed {
            allowed: allowed?,
            claims: claims.to_vec(),
            secrets: 0,
            is_blocked: scale.is_some(),
            bound: Vec::new(),
        })
    }

    /// Binds the claims to the labels of all secrets seen so far, as an audit does to those of a whole log.
    /// It is called before a row is judged, so that no verdict is given about secrets that a claim says
    /// nothing about.
    ///
    /// # Errors
    /// Those of [`BoundClaim::bind`].
    pub fn meet(&mut self, labels: &[String]) -> Result<()> {
        if labels.len() == self.secrets {
            return Ok(());
        }
        if labels.len() > 1 {
            self.bound = BoundClaim::bind_all(&self.claims, labels, &[])?;
        } else {
            // A mechanism may need two secrets.
            let promises = self.claims.iter();
            let mut promises = promises.filter(|claim| matches!(claim.kind, ClaimKind::Promise(_)));
            promises.try_for_each(|claim| BoundClaim::bind(claim, labels, &[]).map(drop))?;
        }
        self.secrets = labels.len();
        Ok(())
    }

    /// The claims with what each leaves possible between the secrets with these labels.
    ///
    /// # Errors
    /// Labels that a mechanism cannot take.
    pub fn bounds(&self, labels: &[String]) -> Result<Vec<(&Claim, Allowed)>> {
        let all = self.claims.iter().zip(&self.allowed);
        all.map(|(claim, &allowed)| {
            let allowed = match &claim.kind {
                ClaimKind::Mechanism(mechanism) if labels.len() > 1 => {
                    of_mechanism(&**mechanism, labels)?
                }
                _ => allowed,
            };
            Ok((claim, allowed))
        })
        .collect()
    }

    /// Whether the log is in blocks.
    pub fn are_of_blocks(&self) -> bool {
        self.is_blocked
    }

    /// The first claim about differences of times.
    pub fn first_about_time(&self) -> Option<&str> {
        let mut all = self.claims.iter();
        let claim = all.find(|claim| time_bound(claim).is_some())?;
        Some(&claim.text)
    }

    /// What each claim leaves possible at every pair, as far as that does not depend on the secrets.
    pub fn allowed(&self) -> &[Allowed] {
        &self.allowed
    }

    /// The label of the only secret that a claim says is no slower than the others.
    pub fn slower(&self, claim: usize) -> Option<&str> {
        self.claims[claim].slower()
    }

    /// The families of limits of times that share the level.
    pub fn families(&self) -> f64 {
        families(self.claims.iter())
    }

    /// Whether all claims are about secrets of a log that has ended with these labels.
    ///
    /// # Errors
    /// A claim that names a secret which never came.
    pub fn check_named(&self, labels: &[String]) -> Result<()> {
        let mut claims = self.claims.iter();
        claims.try_for_each(|claim| slower(claim, labels).map(drop))
    }

    /// The inequalities that a claim implies for a pair of secrets; none where it is about differences of times.
    pub fn inequalities(&self, claim: usize, (a, b): (u32, u32)) -> Vec<Inequality> {
        let bound = self.bound.get(claim);
        let found = bound.and_then(|bound| inequalities(bound, a as usize, b as usize));
        found.unwrap_or_default()
    }

    /// The distinct δ that are claimed, and 0.
    pub fn deltas(&self) -> Vec<f64> {
        let mut distinct = vec![0.0];
        for (_, delta) in self.allowed.iter().filter_map(|allowed| allowed.privacy) {
            if !distinct.contains(&delta) {
                distinct.push(delta);
            }
        }
        distinct
    }
}

/// Checks that claims can be followed, of some log.
///
/// # Errors
/// A claim that no limit can refute row by row or block by block.
pub(super) fn check(claims: &[Claim]) -> Result<()> {
    for claim in claims {
        if time_bound(claim).is_none() {
            promised(claim)?;
        }
    }
    Ok(())
}

/// What a claim says about differences of times, if it is about those.
fn time_bound(claim: &Claim) -> Option<TimeBound> {
    match &claim.kind {
        ClaimKind::Promise(promise) => match promise.requirement() {
            Requirement::TimeDifference(bound) => Some(bound),
            _ => None,
        },
        ClaimKind::Mechanism(_) => None,
    }
}

fn of_rows(claim: &Claim) -> Result<Allowed> {
    if time_bound(claim).is_none() {
        return promised(claim);
    }
    Err(needs_blocks(&claim.text))
}

fn of_blocks(claim: &Claim, scale: Scale) -> Result<Allowed> {
    let Some(bound) = time_bound(claim) else {
        if matches!(claim.kind, ClaimKind::Mechanism(_)) {
            return Err(about_one_observation(&claim.text));
        }
        return promised(claim);
    };
    let factor = factor(scale.unit, scale.clock_frequency, &bound)
        .ok_or_else(|| unknown_unit(scale.unit, &claim.text, &bound))?;
    Ok(Allowed {
        advantage: 1.0,
        privacy: None,
        is_one_number: false,
        time: Some(bound.at_most / factor),
    })
}

/// What a claim leaves possible at every pair, if it is the same at all. A mechanism says so once its secrets
/// are known, and until then leaves everything.
fn promised(claim: &Claim) -> Result<Allowed> {
    let promise = match &claim.kind {
        ClaimKind::Promise(promise) => promise,
        ClaimKind::Mechanism(_) => {
            return Ok(Allowed {
                advantage: 1.0,
                privacy: None,
                is_one_number: false,
                time: None,
            });
        }
    };
    let advantage = promise
        .largest_advantage_of_all_pairs()
        .ok_or_else(|| cannot_be_followed(claim))?;
    // ε = 0 is a bound on the advantage, and nothing more.
    let is_bound = promise.is_a_bound_on_total_variation();
    let privacy = match promise.requirement().guarantee() {
        Some(Guarantee::Dp { epsilon, delta }) if !is_bound && epsilon <= MAX_EPSILON => {
            Some((epsilon, delta))
        }
        _ => None,
    };
    Ok(Allowed {
        advantage,
        privacy,
        is_one_number: is_bound || matches!(privacy, Some((_, 0.0))),
        time: None,
    })
}

/// What a mechanism leaves possible between these secrets: its largest total variation of all pairs, and its ε
/// if that is finite.
fn of_mechanism(mechanism: &dyn Mechanism, labels: &[String]) -> Result<Allowed> {
    let bound = mechanism.bind(labels)?;
    let epsilon = bound.epsilon();
    let worst = bound.worst_pair();
    Ok(Allowed {
        advantage: worst.map_or(0.0, |(a, b)| bound.total_variation(a, b)),
        privacy: (epsilon <= MAX_EPSILON).then_some((epsilon, 0.0)),
        is_one_number: false,
        time: None,
    })
}

fn cannot_be_followed(claim: &Claim) -> Error {
    Error::parameter(
        setting("claim", &claim.text),
        "cannot be followed: only a claim that leaves the same advantage to the attacks on all pairs can be refuted \
         row by row",
    )
    .with_hint(format!(
        "follow a mechanism, advantage, bayes-security, or a promise of privacy without unit=; for others audit the \
         log without {}",
        option("follow")
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn followed(claims: &[&str]) -> Followed {
        let claims: Vec<Claim> = claims
            .iter()
            .map(|text| Claim::parse(text).expect("a claim"))
            .collect();
        Followed::new(&claims, None).expect("claims that can be followed")
    }

    #[test]
    fn a_mechanism_allows_what_its_secrets_make_of_it() {
        let followed = followed(&["laplace(scale=2)", "gaussian(sigma=1)"]);
        let labels = |labels: &[&str]| -> Vec<String> {
            labels.iter().map(|&label| label.to_owned()).collect()
        };
        let allowed = |of: &[&str]| -> Vec<Allowed> {
            let bounds = followed.bounds(&labels(of)).expect("numbers");
            bounds.into_iter().map(|(_, allowed)| allowed).collect()
        };
        let two = allowed(&["0", "1"]);
        assert!((two[0].advantage - (1.0 - (-0.25f64).exp())).abs() < 1e-12);
        assert_eq!(two[0].privacy, Some((0.5, 0.0)));
        assert_eq!(two[1].privacy, None);
        assert_eq!(allowed(&["0", "1", "4"])[0].privacy, Some((2.0, 0.0)));
        assert_eq!(allowed(&["0"])[0].advantage, 1.0);
    }
}
