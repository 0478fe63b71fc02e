//! Which pairs of secrets the claims of privacy are about.

use crate::audit::pair::{Labels, Pair};
use leakgauge_base::error::{Error, Result, listing, shorten};
use leakgauge_base::naming::option;
use leakgauge_exact::claim::BoundClaim;
use leakgauge_log::Log;

/// The pairs of secrets that are neighbors.
#[derive(Debug)]
pub(super) struct NeighborPairs {
    /// The smaller index first, in order, each once; `None` if all secrets are neighbors of each other.
    listed: Option<Vec<[u32; 2]>>,
}

impl NeighborPairs {
    /// The pairs with these labels; without any, all pairs.
    ///
    /// # Errors
    /// A label that no secret of the log has, a secret that is its own neighbor, or no claim that is about neighbors.
    pub fn of(given: &[[String; 2]], log: &Log, claims: &[BoundClaim]) -> Result<Self> {
        if given.is_empty() {
            return Ok(NeighborPairs { listed: None });
        }
        if claims
            .iter()
            .all(|claim| claim.privacy().is_none() && claim.curve().is_none())
        {
            return Err(Error::parameter(
                option("neighbors"),
                "no claim is about neighbors: every figure without a claim is about all pairs",
            )
            .with_hint("claim dp, ldp, gdp, zcdp or another kind of differential privacy"));
        }
        let listed = given.iter().map(|labels| pair(labels, log));
        let mut listed = listed.collect::<Result<Vec<_>>>()?;
        listed.sort_unstable();
        listed.dedup();
        Ok(NeighborPairs {
            listed: Some(listed),
        })
    }

    /// Whether all secrets are neighbors of each other.
    pub fn are_all(&self) -> bool {
        self.listed.is_none()
    }

    /// Whether two secrets are neighbors.
    pub fn contain(&self, a: u32, b: u32) -> bool {
        let pair = [a.min(b), a.max(b)];
        let listed = self.listed.as_ref();
        listed.is_none_or(|listed| listed.binary_search(&pair).is_ok())
    }

    /// How many pairs were given, if any were.
    pub fn count(&self) -> Option<usize> {
        self.listed.as_ref().map(Vec::len)
    }

    /// The pairs, if they were given.
    pub fn pairs(&self, labels: &Labels) -> Option<Vec<Pair>> {
        let pair = |&secrets| Pair::new(labels.clone(), secrets);
        Some(self.listed.as_ref()?.iter().map(pair).collect())
    }
}

/// The indices of two secrets, the smaller first.
fn pair(labels: &[String; 2], log: &Log) -> Result<[u32; 2]> {
    let [a, b] = labels.each_ref().map(|label| shorten(label));
    // They were given by themselves or in a file.
    let refused = |problem: String| Error::parameter(format!("neighbors {a}:{b}"), problem);
    let index = |label: &String| {
        let found = log.secrets.iter().position(|secret| secret == label);
        found.map(|at| at as u32).ok_or_else(|| {
            let problem = match log.left_out.contains(label) {
                true => format!("{} leaves out the secret {label:?}", option("secrets")),
                false => format!("the log has no secret {:?}", shorten(label)),
            };
            let secrets = log.secrets.iter().map(String::as_str);
            refused(problem).with_hint(format!(
                "its secrets are {}; a file of neighbors has no header",
                listing(secrets)
            ))
        })
    };
    let [first, second] = [index(&labels[0])?, index(&labels[1])?];
    if first == second {
        return Err(refused("a secret is not its own neighbor".to_owned()));
    }
    Ok([first.min(second), first.max(second)])
}
