//! Compositions of several channels and what their parts guarantee.

use crate::extreme::Extreme;
use serde::Serialize;

use crate::channel::{Channel, SearchMethod, diameter};
use leakgauge_base::error::Result;

/// How the channel was composed, and the Bayes security that its parts guarantee.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Composition {
    /// `parallel`, `cascade`, or null if one channel was only repeated.
    pub kind: Option<&'static str>,
    /// The number of repetitions of the composed channel.
    pub repeat: u64,
    /// Bayes security of each part.
    pub parts_bayes_security: Vec<f64>,
    /// The lower bound of Theorem 3 (product of the parts) or Theorem 4 (maximum of the parts).
    pub guaranteed_bayes_security: f64,
    /// Multiplicative capacity of each part.
    pub parts_capacity: Vec<f64>,
    /// The upper bound on the capacity of the composition: the product of the parts (parallel) or their minimum
    /// (cascade), and at most the number of secrets; section VI of the same paper.
    pub guaranteed_capacity: f64,
    /// Whether the bound is attained, up to rounding, and is not 0.
    pub tight: bool,
    /// The composition before repetition.
    #[serde(skip)]
    pub(super) once: Channel,
}

/// How to compose several channels.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CompositionKind {
    /// The adversary sees one observation of each channel.
    Parallel,
    /// Each channel takes the observation of the previous one as its secret.
    Cascade,
}

/// Composes channels in their order, then repeats the result. Also computes the bounds of the theorems.
///
/// # Errors
/// The channels do not fit together, or the composition is too large for memory.
///
/// # References
/// Bayes Security, Theorems 3 and 4.
pub fn compose(
    channels: &[Channel],
    kind: CompositionKind,
    repeat: u64,
    method: SearchMethod,
) -> Result<(Channel, Composition)> {
    let security = |channel: &Channel| Ok(diameter(channel, method)?.bayes_security);
    let parts: Vec<f64> = channels.iter().map(security).collect::<Result<_>>()?;
    let mut whole = channels[0].clone();
    for next in &channels[1..] {
        whole = match kind {
            CompositionKind::Parallel => whole.parallel(next)?,
            CompositionKind::Cascade => whole.cascade(next)?,
        };
    }
    let guaranteed_once = match kind {
        CompositionKind::Parallel => parts.iter().product(),
        CompositionKind::Cascade => parts.iter().copied().fold(0.0, f64::at_least),
    };
    let guaranteed = f64::powf(guaranteed_once, repeat as f64);
    let capacities: Vec<f64> = channels
        .iter()
        .map(Channel::multiplicative_capacity)
        .collect();
    let capacity_once: f64 = match kind {
        CompositionKind::Parallel => capacities.iter().product(),
        CompositionKind::Cascade => capacities.iter().copied().fold(f64::INFINITY, f64::at_most),
    };
    let most_capacity = capacity_once
        .powf(repeat as f64)
        .at_most(channels[0].secrets().len() as f64);
    let once = whole.clone();
    if repeat != 1 {
        whole = whole.repeat(repeat)?;
    }
    let reached = security(&whole)?;
    let composition = Composition {
        kind: (channels.len() > 1).then_some(match kind {
            CompositionKind::Parallel => "parallel",
            CompositionKind::Cascade => "cascade",
        }),
        repeat,
        parts_bayes_security: parts,
        guaranteed_bayes_security: guaranteed,
        parts_capacity: capacities,
        guaranteed_capacity: most_capacity,
        // 0 may be what underflow left of both.
        tight: reached > 0.0 && (reached - guaranteed).abs() <= 1e-12 * guaranteed,
        once,
    };
    Ok((whole, composition))
}
