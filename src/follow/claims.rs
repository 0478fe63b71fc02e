//! The claims that are followed, bound to the secrets seen so far, and how they share the error probability.

use crate::audit::{about_one_observation, factor, incomparable_step, needs_blocks, unknown_unit};
use leakgauge_base::error::{Error, Result};
use leakgauge_base::naming::{option, setting};
use leakgauge_base::time::{ClockStep, TimeUnit};
use leakgauge_exact::claim::{BoundClaim, Claim, ClaimKind, Guarantee, Requirement, TimeBound};
use leakgauge_exact::mechanism::Mechanism;

/// A claim about ε above this is compared through the advantage only: e^ε would overflow, and no log shows it.
const MAX_EPSILON: f64 = 300.0;
/// The weight of the advantage where no claim reads it first, beside 1 for each limit that one does.
const SECOND: f64 = 0.25;

/// What a claim leaves possible at every pair of secrets.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Allowed {
    /// The largest advantage of any attack.
    pub advantage: f64,
    /// ε and δ, if it is a promise of (ε, δ)-differential privacy or implies one.
    pub privacy: Option<(f64, f64)>,
    /// Whether the advantage is what it is about, and not only a consequence of its ε.
    pub is_about_advantage: bool,
    /// The largest median of differences of times, in the unit of the log, if it is about that alone.
    pub time: Option<f64>,
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

/// How the error probability is shared: the level of every limit that can refute a claim.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Levels {
    /// Of the advantage.
    pub advantage: f64,
    /// Of ε at δ = 0.
    pub pure: f64,
    /// Of a bet against one (ε, δ) with δ > 0.
    pub approximate: f64,
    /// Of the medians of differences of times, all pairs together.
    pub time: f64,
    /// For each claim, whether the limit of ε at δ = 0 can refute it.
    pub reads_pure: Vec<bool>,
}

/// The claims, in their order.
pub(super) struct Followed {
    claims: Vec<Claim>,
    allowed: Vec<Allowed>,
    /// How many secrets they are bound to.
    secrets: usize,
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
        for claim in &self.claims {
            // A mechanism may need two secrets.
            if labels.len() > 1 || matches!(claim.kind, ClaimKind::Promise(_)) {
                BoundClaim::bind(claim, labels, &[])?;
            }
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

    /// The first claim about differences of times.
    pub fn first_about_time(&self) -> Option<&str> {
        let mut all = self.claims.iter();
        let claim = all.find(|claim| time_bound(claim).is_some())?;
        Some(&claim.text)
    }

    /// The distinct (ε, δ) with δ > 0 that are claimed, in order. They are fixed beforehand.
    pub fn approximate(&self) -> Vec<(f64, f64)> {
        let mut distinct = Vec::new();
        for privacy in self.allowed.iter().filter_map(|allowed| allowed.privacy) {
            if privacy.1 > 0.0 && !distinct.contains(&privacy) {
                distinct.push(privacy);
            }
        }
        distinct
    }

    /// The shares of an error probability. Claims that read the same limit share it free: the limit of the
    /// advantage and that of ε at δ = 0 are wrong with the probability of their level, whatever is compared
    /// with them. Without claims each holds by itself.
    ///
    /// # Conditions
    /// It is settled once, by the labels seen before the first row is judged: what a mechanism allows them says
    /// whether it has an ε to read.
    ///
    /// # Errors
    /// Those of [`Followed::bounds`].
    pub fn levels(&self, labels: &[String], alpha: f64) -> Result<Levels> {
        let bounds = self.bounds(labels)?;
        let allowed = || bounds.iter().map(|(_, allowed)| allowed);
        let is_pure = |allowed: &Allowed| matches!(allowed.privacy, Some((_, 0.0)));
        let pure = allowed().any(is_pure);
        let first = allowed().any(|allowed| allowed.is_about_advantage);
        let reads_advantage = allowed().any(|allowed| allowed.time.is_none());
        let time = allowed().any(|allowed| allowed.time.is_some());
        let advantage = match (reads_advantage, first) {
            (false, _) => 0.0,
            (true, true) => 1.0,
            (true, false) => SECOND,
        };
        let one_each = [pure, time].map(|is_read| f64::from(u8::from(is_read)));
        let total = advantage + one_each[0] + one_each[1] + self.approximate().len() as f64;
        let share = |weight: f64, is_read: bool| {
            if is_read {
                alpha * weight / total
            } else {
                alpha
            }
        };
        Ok(Levels {
            advantage: share(advantage, reads_advantage),
            pure: share(1.0, pure),
            approximate: share(1.0, !self.approximate().is_empty()),
            time: share(1.0, time),
            reads_pure: allowed().map(is_pure).collect(),
        })
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
        is_about_advantage: false,
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
                is_about_advantage: true,
                time: None,
            });
        }
    };
    let advantage = promise
        .largest_advantage_of_all_pairs()
        .ok_or_else(|| cannot_be_followed(claim))?;
    // ε = 0 is a bound on the advantage, and nothing more.
    let is_bound = promise.is_a_bound_on_total_variation();
    let privacy = match promise.guarantee() {
        Some(Guarantee::Dp { epsilon, delta }) if !is_bound && epsilon <= MAX_EPSILON => {
            Some((epsilon, delta))
        }
        _ => None,
    };
    Ok(Allowed {
        advantage,
        privacy,
        is_about_advantage: privacy.is_none(),
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
        is_about_advantage: true,
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

    /// The shares of what claims read add up to the error probability, each counted once.
    #[test]
    fn claims_share_one_error_probability() {
        let labels = ["0".to_owned(), "1".to_owned()];
        let levels = |claims: &[&str]| followed(claims).levels(&labels, 0.05).expect("numbers");
        for (claims, advantage, pure) in [
            (&[][..], 0.05, 0.05),
            (&["ldp(1)"], 0.01, 0.04),
            (&["ldp(1)", "ldp(2)", "dp(3)"], 0.01, 0.04),
            (&["advantage(0.1)", "gdp(1)"], 0.05, 0.05),
            (&["ldp(0)"], 0.05, 0.05),
            (&["laplace(scale=1)"], 0.025, 0.025),
            (&["gaussian(sigma=1)"], 0.05, 0.05),
        ] {
            let found = levels(claims);
            assert!(
                (found.advantage - advantage).abs() < 1e-15,
                "{claims:?} {found:?}"
            );
            assert!((found.pure - pure).abs() < 1e-15, "{claims:?} {found:?}");
        }
        let several = levels(&["laplace(scale=1)", "dp(1, delta=0.1)", "dp(2, delta=0.1)"]);
        let sum = several.advantage + several.pure + 2.0 * several.approximate;
        assert!((sum - 0.05).abs() < 1e-15);
        assert_eq!(several.reads_pure, [true, false, false]);
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
