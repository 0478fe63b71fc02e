//! How to audit a mechanism that can be asked.

use leakgauge_attack::tuning::{Attacks, Budget};
use leakgauge_base::error::{Error, Result};
use leakgauge_base::naming::setting;
use leakgauge_exact::claim::Claim;

/// How to audit a mechanism that can be asked.
#[derive(Debug)]
pub struct QueryOptions {
    /// What is claimed.
    pub claims: Vec<Claim>,
    /// The probability that some true claim is found violated; and, on its own, that a false one is found to hold.
    pub alpha: f64,
    /// Outputs drawn at most, of all inputs together.
    pub max_samples: u64,
    /// Outputs asked for at once, of both inputs of a pair, in blocks of one input each; if not given, few at first,
    /// then a 32nd of what there is, and of many outputs half. The first outputs of all are fewer.
    pub batch: Option<usize>,
    /// Seed of every random choice.
    pub seed: u64,
    /// The pairs of inputs that the claims are about; all if not given.
    pub pairs: Option<Vec<(usize, usize)>>,
    /// Whether the low bits of floating-point numbers are looked at.
    pub bits: bool,
    /// Whether every draw is a request of its own, in random order: for a mechanism that gives one output a call.
    pub single: bool,
    /// The attacks on outputs of several columns.
    pub attacks: Attacks,
    /// Nominal seconds for choosing one of them, all choices of an audit together.
    pub budget: Budget,
}

impl Default for QueryOptions {
    fn default() -> Self {
        QueryOptions {
            claims: Vec::new(),
            alpha: 0.05,
            max_samples: 1_000_000,
            batch: None,
            seed: 0,
            pairs: None,
            bits: false,
            single: false,
            attacks: Attacks::default(),
            budget: Budget::default(),
        }
    }
}

impl QueryOptions {
    /// The pairs of so many inputs.
    ///
    /// # Errors
    /// An option out of range; a pair of what is no input, or of one input with itself.
    pub(crate) fn check(&self, inputs: usize) -> Result<Vec<(usize, usize)>> {
        if !(self.alpha > 0.0 && self.alpha <= 0.5) {
            let what = setting("alpha", self.alpha);
            return Err(Error::parameter(what, "must be above 0 and at most 0.5"));
        }
        if inputs < 2 {
            let problem = "a leak is a difference between the outputs of two inputs at least";
            return Err(Error::parameter(setting("inputs", inputs), problem));
        }
        if self.max_samples < 2 * inputs as u64 || self.max_samples > u64::from(u32::MAX) {
            let what = setting("max_samples", self.max_samples);
            let problem = format!("must be at least {} and below 2^32", 2 * inputs);
            return Err(Error::parameter(what, problem));
        }
        if self.batch == Some(0) {
            return Err(Error::parameter(setting("batch", 0), "must be at least 1"));
        }
        let all = || {
            let all = (0..inputs).flat_map(|a| (a + 1..inputs).map(move |b| (a, b)));
            all.collect()
        };
        let pairs: Vec<(usize, usize)> = self.pairs.clone().unwrap_or_else(all);
        let wrong = |&&(a, b): &&(usize, usize)| a == b || a.max(b) >= inputs;
        if let Some((a, b)) = pairs.iter().find(wrong) {
            let what = setting("pairs", format_args!("({a}, {b})"));
            return Err(Error::parameter(
                what,
                format!("must be two of the {inputs} inputs, from 0"),
            ));
        }
        if pairs.is_empty() {
            return Err(Error::parameter(setting("pairs", "[]"), "must have a pair"));
        }
        Ok(pairs)
    }
}
