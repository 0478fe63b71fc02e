//! Could so many samples have found a leak of a given size?

use leakgauge_sequential::product_bets::{Allowed, Counts, Meeting, best_bet};

use crate::simulate::{Alternative, samples_until_found};

/// What learning costs: nats that bets on the best cells lose until they are known. It only ranks attackers.
const LEARNING: f64 = 3.0;
/// Audits that are simulated, at least and at most; of those that do not find the leak there are about so many.
const RUNS: (f64, f64) = (200.0, 2_000.0);
const MISSES: f64 = 20.0;
/// Growth of a bet below which no number of samples is said to find a leak.
const NO_GROWTH: f64 = 1e-9;
/// More samples than this are not stated.
const MOST: u64 = 1 << 40;

/// An attacker, and how often outputs fall where it would look for a leak.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Attacker {
    /// Its share of the capital.
    pub share: f64,
    /// Outputs in the cells of the rule that tells most of what the claim allows.
    pub cells: Counts,
    /// How many different scores outputs have: a threshold among many has to be found.
    pub scores: usize,
}

/// What says how many samples find a leak: plain numbers, so that it can be kept with a result.
#[derive(Debug, Clone, PartialEq)]
pub struct Power {
    /// What the claim allows.
    pub allowed: Allowed,
    /// Its share of the error probability.
    pub alpha: f64,
    /// The number of pairs of inputs.
    pub pairs: usize,
    /// Who bets.
    pub attackers: Vec<Attacker>,
}

impl Power {
    /// About how many samples find, with the probability `power`, a pair of this ε. `None` if the claim allows it, or
    /// no attacker would see it.
    ///
    /// # Formula
    /// Audits of the alternative are simulated by the rules of this audit: batches, choice of pairs, cuts, bets,
    /// learning. The answer is the sample quantile at `power` of the numbers of samples until the claim is refuted,
    /// raised by one standard error. The alternative: one pair of inputs whose outputs fall into both cells of a rule
    /// as often as those that were drawn, with odds e^ε, while other pairs use all that the claim allows. It shows to
    /// one attacker, which bets its own share of the capital: the one that needs least.
    ///
    /// # Conditions
    /// It holds for leaks that show where this attacker looks. One that shows in rarer outputs needs more samples,
    /// about in inverse proportion to how often they occur. What an attacker of vectors has to learn beside a threshold
    /// is not simulated.
    pub fn samples_to_find(&self, epsilon: f64, power: f64) -> Option<u64> {
        let leaks = self.attackers.iter().filter_map(|attacker| {
            let leak = with_odds(&attacker.cells, epsilon)?;
            let growth = best_bet(&leak, self.allowed, Meeting::Independent).ln_growth(&leak);
            let alpha = self.alpha * attacker.share;
            let rows = (LEARNING - alpha.ln()) / growth;
            (growth > NO_GROWTH).then_some((rows, attacker, leak, alpha))
        });
        let (_, attacker, leak, alpha) = leaks.min_by(|x, y| x.0.total_cmp(&y.0))?;
        let within = if self.allowed.delta == 0.0 {
            with_odds(&attacker.cells, self.allowed.weight.ln())?
        } else {
            with_odds(&attacker.cells, 0.0)?
        };
        let alternative = Alternative {
            allowed: self.allowed,
            alpha,
            pairs: self.pairs,
            scores: attacker.scores,
            leak,
            within,
            most: MOST,
        };
        let runs = (MISSES / (1.0 - power)).clamp(RUNS.0, RUNS.1);
        let error = (runs * power * (1.0 - power)).sqrt();
        let mut samples: Vec<u64> = (0..runs as u64)
            .map(|seed| samples_until_found(&alternative, seed))
            .collect();
        samples.sort_unstable();
        let rank = (runs * power + error).ceil() as usize;
        let found = samples[rank.clamp(1, samples.len()) - 1];
        (found < MOST).then_some(found)
    }
}

/// Laws whose odds in A and in B are e^ε, and whose cells are as likely as those of these rows, both inputs together.
fn with_odds(cells: &Counts, epsilon: f64) -> Option<Counts> {
    let rates = |rows: &[f64; 3]| {
        let total: f64 = rows.iter().sum();
        rows.map(|count| count / total.max(1.0))
    };
    let [first, second] = [rates(&cells.first), rates(&cells.second)];
    let likely = 1.0 / (1.0 + (-epsilon).exp());
    // An event of a rate above this cannot have such odds.
    let most = likely.recip() * 0.999;
    let a = (first[0] + second[0]).min(most);
    let b = (first[2] + second[2]).min(most);
    if a + b <= 0.0 {
        return None;
    }
    // Both laws must keep room for the other cells.
    let scale = |share_a: f64, share_b: f64| (a * share_a + b * share_b).max(1.0);
    let scale = scale(likely, 1.0 - likely).max(scale(1.0 - likely, likely));
    let (a, b) = (a / scale, b / scale);
    let law = |share: f64| {
        let (at_a, at_b) = (a * share, b * (1.0 - share));
        [at_a, (1.0 - at_a - at_b).max(0.0), at_b]
    };
    Some(Counts {
        first: law(likely),
        second: law(1.0 - likely),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Laplace at ε = 1.25 in place of 1, with cells at 0 and 1.
    #[test]
    fn nearer_leaks_need_more_samples() {
        let cells = Counts {
            first: [50.0, 32.0, 18.0],
            second: [18.0, 32.0, 50.0],
        };
        let needed = |cells: Counts, epsilon: f64, alpha: f64| {
            let attacker = Attacker {
                share: 1.0,
                cells,
                scores: 3,
            };
            let power = Power {
                allowed: Allowed::privacy(1.0, 0.0),
                alpha,
                pairs: 1,
                attackers: vec![attacker],
            };
            power.samples_to_find(epsilon, 0.9)
        };
        let (near, far) = (needed(cells, 1.25, 0.05), needed(cells, 2.0, 0.05));
        // The best bet of all reaches 1/α after about 1,000 and 90 samples, without luck and without learning.
        assert!((1_500..9_000).contains(&near.unwrap()), "{near:?}");
        assert!((100..400).contains(&far.unwrap()), "{far:?}");
        assert!(needed(cells, 1.25, 1e-5).unwrap() > 3 * near.unwrap() / 2);
        assert_eq!(needed(cells, 0.9, 0.05), None);
        assert_eq!(needed(Counts::default(), 2.0, 0.05), None);
    }
}
