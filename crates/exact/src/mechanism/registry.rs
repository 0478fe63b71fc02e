//! The registry of mechanisms.

use super::{
    Entry, Mechanism, deterministic, discrete_gaussian, exponential, gaussian, geometric,
    hadamard_response, identity, laplace, local_hashing, mallows, mixture, planar_geometric,
    planar_laplace, randomized_response, ranged_geometric, shuffled, staircase, subsampled,
    subset_selection, unary_encoding,
};
use leakgauge_base::error::{Error, Result};
use leakgauge_base::grammar::{Call, list};
use leakgauge_base::suggest::nearest;

/// All mechanisms that [`parse`] knows.
pub static MECHANISMS: &[Entry] = &[
    randomized_response::ENTRY,
    laplace::ENTRY,
    gaussian::ENTRY,
    geometric::ENTRY,
    ranged_geometric::TRUNCATED,
    ranged_geometric::NORMALIZED,
    exponential::ENTRY,
    staircase::ENTRY,
    discrete_gaussian::ENTRY,
    planar_laplace::ENTRY,
    planar_geometric::ENTRY,
    unary_encoding::RAPPOR,
    unary_encoding::OUE,
    local_hashing::ENTRY,
    subset_selection::ENTRY,
    hadamard_response::ENTRY,
    deterministic::ENTRY,
    identity::ENTRY,
    mixture::ENTRY,
    subsampled::ENTRY,
    mallows::ENTRY,
    shuffled::ENTRY,
];

/// Reads a mechanism.
///
/// ```
/// let mechanism = leakgauge_exact::mechanism::parse("gaussian(sigma=1.5)")?;
/// assert_eq!(mechanism.to_string(), "gaussian(sigma=1.5)");
///
/// let error = leakgauge_exact::mechanism::parse("gausian(sigma=1.5)").unwrap_err();
/// assert!(error.to_string().contains("did you mean gaussian?"));
/// # Ok::<(), leakgauge_base::error::Error>(())
/// ```
///
/// # Errors
/// [`Error::Grammar`] for text that is not in the [grammar](leakgauge_base::grammar); [`Error::Call`] for a name that
/// is not in [`MECHANISMS`] or an invalid argument.
pub fn parse(text: &str) -> Result<Box<dyn Mechanism>> {
    from_call(&Call::parse(text)?)
}

/// Builds the mechanism that a call describes.
///
/// # Errors
/// As [`parse`].
pub fn from_call(call: &Call) -> Result<Box<dyn Mechanism>> {
    match MECHANISMS.iter().find(|entry| entry.name == call.name) {
        Some(entry) => entry.build(call, from_call),
        None => {
            let names: Vec<_> = MECHANISMS.iter().map(|entry| entry.name).collect();
            let problem = format!("no such mechanism; the mechanisms are {}", list(&names));
            Err(unknown(&call.name, &names, &problem))
        }
    }
}

/// The error for an unknown name, with a suggestion if a known name is close.
pub fn unknown(name: &str, known: &[&str], problem: &str) -> Error {
    let error = Error::call(name, None, problem);
    match nearest(name, known.iter().copied()) {
        Some(meant) => error.with_hint(format!("did you mean {meant}?")),
        None => error,
    }
}
