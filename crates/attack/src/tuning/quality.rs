//! How well an attacker does on the tune rows.

use leakgauge_base::parallel;

use crate::pairwise::{self, AdvantageGuide, PairErrors};
use crate::scores::{PairView, ScoreTable};
use leakgauge_log::observations::Counts;
use leakgauge_stats::wilson::Wilson;

/// How well scores tell the secrets apart, pair by pair at threshold 0 and all at once: approximate lower
/// limits, negative ones of pairs counting 0. Limits rather than rates, so that secrets with a handful of
/// rows do not decide.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Quality {
    /// The advantage at the pair where it is largest.
    pub largest: f64,
    /// The mean advantage over all pairs.
    pub mean: f64,
    /// The advantage of naming one of all k secrets, equally likely: (success − 1/k)/(1 − 1/k). An attack
    /// can be good at pairs, where near misses do not count, and worse at this.
    pub naming: f64,
}

impl Quality {
    /// What attackers are compared by: the sum of the three.
    pub fn total(self) -> f64 {
        self.largest + self.mean + self.naming
    }
}

/// How well scores do on the tune rows.
///
/// The largest of many limits is mostly luck, so those are held to the level divided by their number.
pub fn quality(scores: &ScoreTable, tune: &Counts, alpha: f64) -> Quality {
    let by_secret: Vec<Vec<(usize, u64)>> = pairwise::rows_by_secret(tune);
    let pairs: Vec<(u32, u32)> = pairwise::pairs(tune.secrets()).collect();
    let view = scores.for_pairs();
    let guides = [alpha, alpha / pairs.len().max(1) as f64].map(AdvantageGuide::new);
    let lower: Vec<[f64; 2]> = parallel::map(pairs.len(), |pair| {
        let (a, b) = pairs[pair];
        let tallies = neutral(&view, tune, &by_secret, a, b);
        guides.map(|guide| {
            let judged = tallies.iter().filter(|tally| tally.is_judged());
            judged
                .map(|tally| guide.at_least(tally))
                .fold(0.0, f64::max)
        })
    });
    Quality {
        largest: lower.iter().map(|both| both[1]).fold(0.0, f64::max),
        mean: lower.iter().map(|both| both[0]).sum::<f64>() / lower.len().max(1) as f64,
        naming: naming(scores, tune, &Wilson::new(alpha)),
    }
}

/// The errors at threshold 0, ties taken for a and taken for b.
fn neutral(
    scores: &PairView,
    tune: &Counts,
    by_secret: &[Vec<(usize, u64)>],
    a: u32,
    b: u32,
) -> [PairErrors; 2] {
    let (wins_a, ties_a) = wins(scores, &by_secret[a as usize], a, b);
    let (wins_b, ties_b) = wins(scores, &by_secret[b as usize], b, a);
    let (a_rows, b_rows) = (tune.rows()[a as usize], tune.rows()[b as usize]);
    let tally = |a_right: u64, b_right: u64| PairErrors {
        a_rows,
        a_missed: a_rows - a_right,
        b_rows,
        b_missed: b_rows - b_right,
    };
    [
        tally(wins_a + ties_a, wins_b),
        tally(wins_a, wins_b + ties_b),
    ]
}

/// The advantage of naming the secret with the highest score; ties are guessed among.
fn naming(scores: &ScoreTable, tune: &Counts, level: &Wilson) -> f64 {
    let mut right = vec![0.0; tune.secrets()];
    for (row, cells) in tune.by_symbol().enumerate() {
        let scores = scores.row(row);
        let highest = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let ties = scores.iter().filter(|&&score| score == highest).count();
        for cell in cells {
            if scores[cell.secret as usize] == highest {
                right[cell.secret as usize] += cell.count as f64 / ties as f64;
            }
        }
    }
    let judged = || tune.rows().iter().filter(|&&rows| rows > 0);
    let secrets = judged().count();
    if secrets < 2 {
        return 0.0;
    }
    let shares = right.iter().zip(tune.rows()).filter(|(_, rows)| **rows > 0);
    let success = shares
        .map(|(right, &rows)| right / rows as f64)
        .sum::<f64>()
        / secrets as f64;
    let rows: u64 = judged().sum();
    let errors = ((1.0 - success) * rows as f64).round() as u64;
    let blind = 1.0 / scores.secrets() as f64;
    (1.0 - level.upper(errors, rows) - blind) / (1.0 - blind)
}

/// Rows on which one secret scores higher than another, and rows on which they tie.
fn wins(scores: &PairView, rows: &[(usize, u64)], one: u32, other: u32) -> (u64, u64) {
    let (mut wins, mut ties) = (0, 0);
    for &(row, count) in rows {
        let [mine, theirs] = scores.pair(row, [one, other]);
        wins += if mine > theirs { count } else { 0 };
        ties += if mine == theirs { count } else { 0 };
    }
    (wins, ties)
}
