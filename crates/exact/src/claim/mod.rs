//! What a user claims about a log: a mechanism, or a promise about leakage.
//!
//! A mechanism claim fixes the whole law of the observations. A [`Promise`] only bounds what they
//! tell about the secrets.
//!
//! ```
//! use leakgauge_exact::claim::{Claim, ClaimKind, Promise};
//!
//! let claim = Claim::parse("ldp(epsilon=1)")?;
//! assert!(matches!(claim.kind, ClaimKind::Promise(Promise::LocalDp { epsilon: 1.0, unit: None })));
//!
//! let claim = Claim::parse("laplace(scale=2)")?;
//! assert!(matches!(claim.kind, ClaimKind::Mechanism(_)));
//! # Ok::<(), leakgauge_base::error::Error>(())
//! ```

use std::fmt;
use std::sync::Arc;

use serde::{Serialize, Serializer};

use crate::mechanism::{self, MECHANISMS, Mechanism};
use leakgauge_base::error::{Error, Result};
use leakgauge_base::grammar::Call;
use leakgauge_base::suggest::nearest;

mod adjacency;
mod bound;
mod curve;
mod guarantee;
mod leak;
mod matrix;
mod orders;
mod promise;
mod requirement;
mod training;

pub use adjacency::{BoundPromise, Neighbors};
pub use bound::{BoundClaim, Terms};
pub use curve::Curve;
pub use guarantee::Guarantee;
pub use leak::{Leak, MovedNoise};
pub use matrix::MatrixGaussian;
pub use promise::{PROMISES, Promise, PromiseEntry};
pub use requirement::{Requirement, TimeBound};
pub use training::Training;

/// A claim as the user wrote it, and what it means. It is written to JSON as its text. A clone shares the
/// mechanism.
#[derive(Debug, Clone)]
pub struct Claim {
    /// The text, without the space around it.
    pub text: String,
    /// What it claims.
    pub kind: ClaimKind,
}

/// The kinds of claims.
#[derive(Debug, Clone)]
pub enum ClaimKind {
    /// The observations come from this mechanism.
    Mechanism(Arc<dyn Mechanism>),
    /// The observations tell at most so much.
    Promise(Promise),
}

impl Claim {
    /// Whether it is about differences of times.
    pub fn is_about_times(&self) -> bool {
        match &self.kind {
            ClaimKind::Promise(promise) => {
                matches!(promise.requirement(), Requirement::TimeDifference(_))
            }
            ClaimKind::Mechanism(_) => false,
        }
    }

    /// Whether it is about neighboring datasets, which are those that the user means: not about inputs of a local mechanism, and
    /// not with a distance that makes neighbors.
    pub fn is_of_datasets(&self) -> bool {
        match &self.kind {
            ClaimKind::Promise(promise) => {
                let is_of_privacy = matches!(
                    promise.requirement(),
                    Requirement::Privacy(_) | Requirement::Curve { .. }
                );
                is_of_privacy
                    && !promise.is_local()
                    && matches!(promise.neighbors(), Neighbors::All)
            }
            ClaimKind::Mechanism(_) => false,
        }
    }

    /// The label of the only secret that a claim about times says is no slower than the others.
    pub fn slower(&self) -> Option<&str> {
        match &self.kind {
            ClaimKind::Promise(promise) => promise.slower(),
            ClaimKind::Mechanism(_) => None,
        }
    }

    /// Reads a claim: a promise of [`PROMISES`] or a mechanism of [`MECHANISMS`].
    ///
    /// # Errors
    /// Text that is not in the [grammar](leakgauge_base::grammar), a name that is neither a promise nor a
    /// mechanism, or arguments that it does not take.
    pub fn parse(text: &str) -> Result<Claim> {
        let call = Call::parse(text)?;
        Ok(Claim {
            text: text.trim().to_owned(),
            kind: ClaimKind::from_call(&call)?,
        })
    }
}

impl ClaimKind {
    /// Makes what a call claims.
    pub fn from_call(call: &Call) -> Result<ClaimKind> {
        if let Some(entry) = PROMISES.iter().find(|entry| entry.name == call.name) {
            return entry.build(call).map(ClaimKind::Promise);
        }
        let mechanisms: Vec<_> = MECHANISMS.iter().map(|entry| entry.name).collect();
        if mechanisms.contains(&call.name.as_str()) {
            return Ok(ClaimKind::Mechanism(mechanism::from_call(call)?.into()));
        }
        let promises = PROMISES.iter().map(|entry| entry.name);
        let names: Vec<&str> = promises.chain(mechanisms).collect();
        Err(unknown_claim(&call.name, &names))
    }
}

/// What people call claims that have another name here.
const OTHER_NAMES: [(&str, &str); 12] = [
    ("anonymity", "attack-advantage(0.1)"),
    ("constant-time", "time-difference(10ns)"),
    ("differential-privacy", "dp(epsilon=1, delta=1e-5)"),
    ("epsilon", "dp(epsilon=1)"),
    ("leak-free", "advantage(0)"),
    ("local-differential-privacy", "ldp(epsilon=1)"),
    ("membership", "attack-advantage(0.1)"),
    ("no-leak", "advantage(0)"),
    ("privacy", "dp(epsilon=1)"),
    ("rr", "randomized-response(epsilon=1)"),
    ("timing", "time-difference(10ns)"),
    ("tv", "advantage(0.1)"),
];

/// The nearest name first; all of them are in the help.
fn unknown_claim(name: &str, names: &[&str]) -> Error {
    if name.contains(['.', '/', '\\']) {
        return Error::call(
            name,
            None,
            "looks like a file, and a claim is expected here",
        )
        .with_hint("claims look like 'dp(epsilon=1)' or 'advantage(0.1)'");
    }
    let error = Error::call(name, None, "no claim has this name");
    let plain = name
        .to_lowercase()
        .replace('_', "-")
        .replace("ised-", "ized-");
    let other = OTHER_NAMES.iter().find(|other| other.0 == plain);
    // `lap` and `gauss` are the beginnings of names.
    let begun = |known: &&&str| plain.len() > 2 && known.starts_with(&plain);
    let begun = names.iter().find(begun).copied();
    let near = begun.or_else(|| nearest(&plain, names.iter().copied()));
    error.with_hint(match (other, near) {
        (Some((_, claim)), _) => format!("did you mean {claim}?"),
        (None, Some(near)) => format!("did you mean {near}?"),
        (None, None) => {
            "usual ones are dp, ldp, gdp, zcdp, advantage, attack-advantage, bayes-security and time-difference; the help of \
             bounds lists all"
                .to_owned()
        }
    })
}

/// The text as the user wrote it.
impl fmt::Display for Claim {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// The text as the user wrote it.
impl Serialize for Claim {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.text)
    }
}

#[cfg(feature = "schema")]
impl schemars::JsonSchema for Claim {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Claim".into()
    }

    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        String::json_schema(generator)
    }
}

/// Equal texts claim the same.
impl PartialEq for Claim {
    fn eq(&self, other: &Claim) -> bool {
        self.text == other.text
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::{Path, PathBuf};

    use super::*;

    fn error(text: &str) -> String {
        Claim::parse(text).expect_err(text).to_string()
    }

    #[test]
    fn keeps_the_text_and_reads_promises_and_mechanisms() {
        let claim = Claim::parse("  dp( epsilon=1,delta = 1e-5 ) ").unwrap();
        assert_eq!(claim.text, "dp( epsilon=1,delta = 1e-5 )");
        assert_eq!(claim.to_string(), claim.text);
        let ClaimKind::Promise(promise) = claim.kind else {
            panic!("not a promise")
        };
        assert_eq!(promise.to_string(), "dp(epsilon=1, delta=1e-5)");

        let claim = Claim::parse("geometric(0.1)").unwrap();
        let ClaimKind::Mechanism(mechanism) = claim.kind else {
            panic!("not a mechanism")
        };
        assert_eq!(mechanism.to_string(), "geometric(nu=0.1)");
    }

    #[test]
    fn an_unknown_claim_is_told_the_nearest_name() {
        let text = error("bayes-securty(0.9)");
        assert!(text.contains("did you mean bayes-security?"), "{text}");
        let other = error("randomi\u{73}ed-response(1)");
        assert!(
            other.contains("did you mean randomized-response?"),
            "{other}"
        );
        assert!(error("no_leak").contains("did you mean advantage(0)?"));
        assert!(error("lap(1)").contains("did you mean laplace?"));
        assert!(error("log.csv").contains("looks like a file"));
        assert!(error("quux(1)").contains("usual ones are dp, ldp"));
    }

    /// Rust sources of a folder, without tests.
    fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
        for entry in fs::read_dir(folder).expect("a folder").flatten() {
            let path = entry.path();
            let name = entry.file_name();
            if path.is_dir() {
                if name != "target" && name != "tests" {
                    sources(&path, found);
                }
            } else if path.extension().is_some_and(|extension| extension == "rs")
                && name != "tests.rs"
            {
                found.push(path);
            }
        }
    }

    /// Whoever judges or reports a promise reads its requirement and its neighbors. So a new promise with
    /// a known requirement changes `promise.rs`, documentation and tests, and nothing else.
    #[test]
    fn no_other_source_names_a_variant_of_promise() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let mut found = Vec::new();
        for folder in ["src", "crates"] {
            sources(&root.join(folder), &mut found);
        }
        assert!(found.len() > 100, "{} sources", found.len());
        let mut naming = found.into_iter().filter(|path| {
            let text = fs::read_to_string(path).expect("a source");
            let code = text.split("#[cfg(test)]").next().unwrap_or_default();
            let mut lines = code
                .lines()
                .filter(|line| !line.trim_start().starts_with("//"));
            lines.any(|line| {
                let mut names =
                    line.split(|c: char| !(c.is_alphanumeric() || c == ':' || c == '_'));
                names.any(|name| {
                    let variant = name.strip_prefix("Promise::");
                    variant.is_some_and(|variant| variant.starts_with(char::is_uppercase))
                })
            })
        });
        let here = naming.next().expect("promise.rs names them");
        assert!(here.ends_with("exact/src/claim/promise.rs"), "{here:?}");
        assert_eq!(naming.next(), None);
    }
}
