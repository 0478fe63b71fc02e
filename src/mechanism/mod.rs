//! Known mechanisms: how they draw an observation, and what is exactly known about them.
//!
//! A [`Mechanism`] is what a user writes, `laplace(scale=2)`. Bound to the secrets of a log
//! ([`Mechanism::bind`]) it becomes a [`BoundMechanism`]: it can be sampled, and it knows the exact
//! total variation between any two of its secrets and the law of its observations.

use std::fmt::{Debug, Display};

use rand::Rng;

use crate::error::Result;

/// A mechanism with its parameters, not yet tied to particular secrets. `Display` writes it in the
/// grammar that [`parse`] reads.
pub trait Mechanism: Debug + Display + Send + Sync {
    /// The secrets the parameters fix, if they do (`secrets=10`, `secrets=0..9`).
    fn declared_secrets(&self) -> Option<Vec<String>>;

    /// Ties the mechanism to secret labels.
    ///
    /// # Errors
    /// A label that the mechanism cannot take (a word where it needs a number, a secret that the
    /// parameters exclude).
    fn bind(&self, labels: &[String]) -> Result<Box<dyn BoundMechanism>>;
}

/// A mechanism over given secrets, numbered in the order of the labels it was bound to.
pub trait BoundMechanism: Debug + Send + Sync {
    /// Exact total variation between the observations of secrets `a` and `b`.
    fn total_variation(&self, a: usize, b: usize) -> f64;

    /// 1 − total variation, computed without cancellation.
    fn bayes_security(&self, a: usize, b: usize) -> f64;

    /// The law of the observation under a secret.
    fn law(&self, secret: usize) -> Law;

    /// The smallest ε of local differential privacy over these secrets; infinite if there is none.
    fn epsilon(&self) -> f64;

    /// One observation, as a log would record it.
    fn sample(&self, secret: usize, rng: &mut dyn Rng) -> String;
}

/// The law of an observation.
pub enum Law {
    /// Finitely many labels with their probabilities.
    Labels(Vec<(String, f64)>),
    /// A law on the integers, by its distribution function at integers.
    Integer(Box<dyn Fn(f64) -> f64 + Send + Sync>),
    /// A continuous law on the real line, by its distribution function.
    Real(Box<dyn Fn(f64) -> f64 + Send + Sync>),
}
