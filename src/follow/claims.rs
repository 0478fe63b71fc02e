//! The claims that are followed, bound to the secrets seen so far.

use leakgauge_base::error::{Error, Result};
use leakgauge_base::naming::{option, setting};
use leakgauge_exact::claim::{BoundClaim, Claim, ClaimKind};

/// Claims that bound the advantage of any attack by the same number at every pair of secrets.
pub(super) struct Followed {
    claims: Vec<(Claim, f64)>,
    /// How many secrets they are bound to.
    secrets: usize,
}

impl Followed {
    /// Claims about a log of which nothing has been seen.
    ///
    /// # Errors
    /// A claim that no limit of the advantage can refute.
    pub fn new(claims: &[Claim]) -> Result<Self> {
        let claims = claims.iter();
        Ok(Followed {
            claims: claims
                .map(|claim| Ok((claim.clone(), largest_advantage(claim)?)))
                .collect::<Result<_>>()?,
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
        for (claim, _) in &self.claims {
            BoundClaim::bind(claim, labels, &[])?;
        }
        self.secrets = labels.len();
        Ok(())
    }

    /// The claims with the largest advantage that each leaves possible.
    pub fn bounds(&self) -> impl Iterator<Item = (&Claim, f64)> {
        self.claims.iter().map(|(claim, bound)| (claim, *bound))
    }
}

/// The largest advantage that a claim leaves to any attack, if it is the same at every pair.
fn largest_advantage(claim: &Claim) -> Result<f64> {
    let bound = match &claim.kind {
        ClaimKind::Promise(promise) => promise.largest_advantage_of_all_pairs(),
        ClaimKind::Mechanism(_) => None,
    };
    bound.ok_or_else(|| {
        Error::parameter(
            setting("claim", &claim.text),
            "cannot be followed: only a claim that bounds the advantage of all pairs by one number can be refuted \
             row by row",
        )
        .with_hint(format!(
            "follow advantage, bayes-security, or a promise of privacy without unit=; for others audit the log \
             without {}",
            option("follow")
        ))
    })
}
