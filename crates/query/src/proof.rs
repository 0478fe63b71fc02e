//! Proofs that a claim holds, for outputs that repeat.
//!
//! A claim (ε, δ > 0) or on total variation holds where an upper limit of the divergence of every pair of inputs is
//! within it ([`leakgauge_stats::dp_upper`], [`leakgauge_stats::event_upper`]). The truly worst pair is one fixed
//! pair, so no correction for the number of pairs is needed: a claim that is false is false at some pair, whose own
//! limit is wrong with the probability of its level.
//!
//! It is looked at when every input has 500, 1,000, 2,000, … outputs, on exactly so many of its first outputs: these
//! are independent whatever was drawn when. The k-th look has α/(k(k + 1)), and all looks together α.

use hashbrown::HashMap;

use leakgauge_stats::dp_upper::hockey_stick_upper;
use leakgauge_stats::event_upper::total_variation_upper;

use crate::claims::Provable;
use crate::samples::Samples;

/// Outputs of each input at the first look.
const FIRST: usize = 500;
/// Distinct outputs at most: with more no limit comes near a claim before long.
const MAX_DISTINCT: usize = 5_000;

/// When to look next.
#[derive(Debug, Clone)]
pub(crate) struct Proof {
    looks: u32,
}

impl Proof {
    pub fn new() -> Self {
        Proof { looks: 0 }
    }

    /// How many outputs of each input the next look needs.
    pub fn wanted(&self) -> usize {
        FIRST << self.looks.min(40)
    }

    /// The part of α of the next look.
    fn share(&self) -> f64 {
        let look = f64::from(self.looks + 1);
        1.0 / (look * (look + 1.0))
    }

    /// Looks, if every input has enough outputs. Whether the claim is proved.
    pub fn look(
        &mut self,
        provable: Provable,
        samples: &Samples,
        pairs: &[(usize, usize)],
        alpha: f64,
    ) -> bool {
        let mut proved = false;
        while !proved && self.is_due(samples, pairs) {
            let (rows, alpha) = (self.wanted(), alpha * self.share());
            self.looks += 1;
            proved = pairs.iter().all(|&(a, b)| {
                let of = |input: usize| &samples.rows(input)[..rows];
                match cells(samples, of(a), of(b)) {
                    None => false,
                    Some(cells) => is_within(provable, &cells, alpha),
                }
            });
        }
        proved
    }

    fn is_due(&self, samples: &Samples, pairs: &[(usize, usize)]) -> bool {
        let has = |input: usize| samples.rows(input).len() >= self.wanted();
        pairs.iter().all(|&(a, b)| has(a) && has(b))
    }
}

fn is_within(provable: Provable, cells: &[(u64, u64)], alpha: f64) -> bool {
    match provable {
        Provable::TotalVariation(at_most) => total_variation_upper(cells, alpha) <= at_most,
        Provable::Privacy { epsilon, delta } => {
            let swapped: Vec<(u64, u64)> = cells.iter().map(|&(a, b)| (b, a)).collect();
            hockey_stick_upper(cells, epsilon, alpha) <= delta
                && hockey_stick_upper(&swapped, epsilon, alpha) <= delta
        }
    }
}

/// The rows of either input with each output, in an order that does not depend on that of a hash; `None` if there are
/// too many different ones.
fn cells(samples: &Samples, first: &[u32], second: &[u32]) -> Option<Vec<(u64, u64)>> {
    let mut counts: HashMap<u64, (u64, u64)> = HashMap::new();
    for &row in first {
        counts.entry(samples.key_bits(row)).or_default().0 += 1;
        if counts.len() > MAX_DISTINCT {
            return None;
        }
    }
    for &row in second {
        counts.entry(samples.key_bits(row)).or_default().1 += 1;
    }
    let mut cells: Vec<(u64, u64)> = counts.into_values().collect();
    cells.sort_unstable();
    (cells.len() <= MAX_DISTINCT).then_some(cells)
}
