//! (η, δ)-preservation: with probability at least 1 − δ, a group keeps at least the share η of its values.

use leakgauge_base::parallel;
use serde::Serialize;

use super::groups::Groups;
use leakgauge_exact::mallows::fixed_weights;
use leakgauge_stats::hypergeometric;

/// The probability that a shuffle by the Mallows model with Hamming distance moves more than ⌊(1 − η)l⌋ values
/// out of a set of l of n rows: the exact δ of Theorem A.4.
///
/// # Formula
/// The model fixes K rows and shuffles the other rows uniformly
/// ([`Hamming`](leakgauge_exact::mallows::Hamming)). Of the set, a hypergeometric number M is
/// fixed; of the other l − M rows, a hypergeometric number stays in the set. The theorem's sum over c_h counts the
/// same permutations by distance. It is printed with a ceiling where a floor is meant.
pub fn hamming_failure(n: u32, set: u32, eta: f64, theta: f64) -> f64 {
    if set == 0 || set > n {
        return 0.0;
    }
    let may_leave = ((1.0 - eta) * f64::from(set) * (1.0 + 4.0 * f64::EPSILON)).floor() as u32;
    let weights = fixed_weights(n, theta);
    let total: f64 = weights.iter().map(|(_, weight)| weight).sum();
    let failure = |kept: u32| -> f64 {
        let moving = n - kept;
        let least = kept.saturating_sub(n - set);
        let most = kept.min(set);
        (least..=most)
            .map(|of_set| {
                let p =
                    hypergeometric::probability(n.into(), set.into(), kept.into(), of_set.into());
                if p < 1e-18 {
                    return 0.0;
                }
                let rest = set - of_set;
                // If more than `may_leave` of the `rest` leave, fewer than this stay.
                let enough = rest.saturating_sub(may_leave);
                p * (0..enough)
                    .map(|stay| {
                        hypergeometric::probability(
                            moving.into(),
                            rest.into(),
                            rest.into(),
                            stay.into(),
                        )
                    })
                    .sum::<f64>()
            })
            .sum()
    };
    let terms = parallel::map(weights.len(), |at| {
        let (kept, weight) = weights[at];
        if weight > 1e-18 * total {
            weight / total * failure(kept)
        } else {
            0.0
        }
    });
    terms.iter().sum::<f64>().clamp(0.0, 1.0)
}

/// How many rows of a group receive the value of a row of the same group. `marked` is scratch space with one
/// entry per row; all entries are false before and after.
pub fn kept(members: &[u32], received: &[u32], marked: &mut [bool]) -> u32 {
    members.iter().for_each(|row| marked[*row as usize] = true);
    let stay = |row: &&u32| marked[received[**row as usize] as usize];
    let count = members.iter().filter(stay).count() as u32;
    members.iter().for_each(|row| marked[*row as usize] = false);
    count
}

/// The share of its values that a group kept in simulated shuffles.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Preserved {
    /// The mean share that stayed.
    pub mean: f64,
    /// A lower confidence limit of the η for which (η, δ)-preservation holds; `None` with too few shuffles.
    pub eta: Option<f64>,
}

/// The smallest number of simulated shuffles that gives a lower limit of η at δ with this confidence. The
/// smallest share of all of them is such a limit, because (1 − δ)^trials ≤ 1 − confidence.
pub fn trials_for(delta: f64, confidence: f64) -> u64 {
    (libm::log1p(-confidence) / libm::log1p(-delta))
        .ceil()
        .max(1.0) as u64
}

impl Preserved {
    /// Computed from the number of rows that stayed in each simulated shuffle.
    ///
    /// # Formula
    /// The i-th smallest share limits the δ-quantile from below unless i or more of the shuffles are below
    /// it, which has probability P(Bin(T, δ) ≤ i − 1); i is the largest for which that is at most
    /// 1 − confidence.
    pub(super) fn new(counts: &mut [u32], size: usize, delta: f64, confidence: f64) -> Self {
        counts.sort_unstable();
        let trials = counts.len() as f64;
        let mean = counts.iter().map(|&c| f64::from(c)).sum::<f64>() / trials / size as f64;
        let alpha = 1.0 - confidence;
        // The sum of P(Bin = j), by logarithms, because the first terms can underflow.
        let mut log_term = trials * libm::log1p(-delta);
        let log_odds = libm::log(delta) - libm::log1p(-delta);
        let mut sum = libm::exp(log_term);
        let mut rank = 0;
        while sum <= alpha && rank < counts.len() {
            let j = rank as f64;
            log_term += libm::log((trials - j) / (j + 1.0)) + log_odds;
            sum += libm::exp(log_term);
            rank += 1;
        }
        let eta = rank
            .checked_sub(1)
            .map(|at| f64::from(counts[at]) / size as f64);
        Preserved { mean, eta }
    }
}

/// What simulated shuffles preserve of some groups; `shuffle` draws the permutation of a number.
pub(super) fn simulate(
    groups: &Groups,
    chosen: &[usize],
    trials: u64,
    delta: f64,
    confidence: f64,
    shuffle: impl Fn(u64) -> Vec<u32> + Sync,
) -> Vec<Preserved> {
    let counts: Vec<Vec<u32>> = parallel::map(trials as usize, |trial| {
        let received = shuffle(trial as u64);
        let mut marked = vec![false; groups.rows()];
        let count = |group: &usize| kept(groups.members(*group), &received, &mut marked);
        chosen.iter().map(count).collect()
    });
    chosen
        .iter()
        .enumerate()
        .map(|(at, &group)| {
            let mut of_group: Vec<u32> = counts.iter().map(|trial| trial[at]).collect();
            Preserved::new(
                &mut of_group,
                groups.members(group).len(),
                delta,
                confidence,
            )
        })
        .collect()
}
