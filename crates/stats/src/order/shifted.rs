//! Do observations depend on the secret of the row before or behind theirs? Then rows may be shifted by one.

use super::BySecret;
use statrs::distribution::{ChiSquared, ContinuousCDF};
use std::collections::HashMap;

/// Rows that are looked at, at most: what a shift hides shows in the first.
pub const MOST_ROWS: usize = 20_000;
/// Rows that a neighbor's secret has, at least; rarer ones count as one.
const LEAST_ROWS: usize = 5;
/// Labels that are told apart, the most frequent ones.
const MOST_LABELS: usize = 16;
/// How often each of them occurs for each secret of a neighbor, at least on average: rarer ones have no χ² law.
const LEAST_OF_LABEL: usize = 5;
/// How many times as much as on their own secret observations depend on a neighbor's, at least. What drifts while the mix of
/// secrets does depends on both alike; of rows that are shifted in blocks of two secrets it is three times.
const MORE: f64 = 2.0;

/// Which row's secret an observation is compared with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Neighbor {
    /// That of the row before.
    Before,
    /// That of the row behind.
    Behind,
}

/// How observations depend on the secret of a neighbor of their row.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct NeighborSecret {
    /// The p-value of "given its own secret, an observation does not depend on the neighbor's".
    pub p_value: f64,
    /// Whether observations depend on the neighbor's secret at least twice as much as on their own.
    pub is_more: bool,
}

/// Of numbers.
///
/// # Formula
/// z_i is the rank of a value among those of its secret, less the mean rank and over their number, and T_k the sum of z
/// over the n_k rows whose neighbor has secret k. Σ T_k²/n_k over the variance of z has about a χ² law with one degree of
/// freedom less than there are secrets of neighbors. It is compared with the same of ranks among all rows, with rows' own
/// secrets, each less its degrees of freedom.
///
/// # Conditions
/// Rows are in their order; blocks of `block` rows follow each other without a gap. The first 20,000 are looked at.
///
/// # References
/// Kruskal and Wallis (1952), 10.1080/01621459.1952.10483441; with strata: van Elteren (1960).
pub fn neighbor_secret(
    secrets: &[u32],
    values: &[f64],
    block: usize,
    neighbor: Neighbor,
) -> NeighborSecret {
    let rows = secrets.len().min(MOST_ROWS);
    let (secrets, values) = (&secrets[..rows], &values[..rows]);
    let by_secret = BySecret::new(secrets, count(secrets));
    let mut within = vec![0.0; rows];
    for rows in by_secret.iter() {
        rank(rows, values, &mut within);
    }
    let all: Vec<usize> = (0..rows).collect();
    let mut among_all = vec![0.0; rows];
    rank(&all, values, &mut among_all);
    let own = Groups::new(secrets.iter().map(|&secret| Some(secret)));
    let others = Groups::new(neighbors(secrets, block, neighbor));
    compare(&[within], &[among_all], &own, &others)
}

/// Of labels, by their codes: the same with indicators of the most frequent ones instead of ranks.
pub fn neighbor_secret_of_labels(
    secrets: &[u32],
    codes: &[u32],
    block: usize,
    neighbor: Neighbor,
) -> NeighborSecret {
    let rows = secrets.len().min(MOST_ROWS);
    let (secrets, codes) = (&secrets[..rows], &codes[..rows]);
    let mut counts: HashMap<u32, usize> = HashMap::new();
    for &code in codes {
        *counts.entry(code).or_default() += 1;
    }
    let mut frequent: Vec<(usize, u32)> = counts.into_iter().map(|(code, n)| (n, code)).collect();
    frequent.sort_unstable_by(|a, b| b.cmp(a));
    let others = Groups::new(neighbors(secrets, block, neighbor));
    // The last of two or more labels says nothing that the others do not.
    let most = frequent.len().saturating_sub(1).min(MOST_LABELS);
    let is_told = |&&(n, _): &&(usize, u32)| n >= LEAST_OF_LABEL * others.sizes.len();
    let told = frequent[..most].iter().take_while(is_told).count();
    let by_secret = BySecret::new(secrets, count(secrets));
    let (mut within, mut among_all) = (Vec::new(), Vec::new());
    for &(n, label) in &frequent[..told] {
        let is = |row: usize| f64::from(u8::from(codes[row] == label));
        let mut residuals = vec![0.0; rows];
        for of_secret in by_secret.iter() {
            let share = of_secret.iter().map(|&row| is(row)).sum::<f64>() / of_secret.len() as f64;
            for &row in of_secret {
                residuals[row] = is(row) - share;
            }
        }
        within.push(residuals);
        let share = n as f64 / rows as f64;
        among_all.push((0..rows).map(|row| is(row) - share).collect());
    }
    let own = Groups::new(secrets.iter().map(|&secret| Some(secret)));
    compare(&within, &among_all, &own, &others)
}

fn count(secrets: &[u32]) -> usize {
    secrets.iter().max().map_or(0, |&most| most as usize + 1)
}

/// The secret of each row's neighbor, where it has one in its block.
fn neighbors(
    secrets: &[u32],
    block: usize,
    neighbor: Neighbor,
) -> impl Iterator<Item = Option<u32>> + '_ {
    (0..secrets.len()).map(move |row| {
        let at = match neighbor {
            Neighbor::Before => row.checked_sub(1)?,
            Neighbor::Behind => row + 1,
        };
        (at / block == row / block).then(|| secrets.get(at).copied())?
    })
}

/// Centered mid-ranks of some rows' values, over their number.
fn rank(rows: &[usize], values: &[f64], ranks: &mut [f64]) {
    let mut sorted: Vec<usize> = rows.to_vec();
    sorted.sort_unstable_by(|&a, &b| values[a].total_cmp(&values[b]));
    let all = sorted.len() as f64;
    let mut at = 0;
    while at < sorted.len() {
        let value = values[sorted[at]];
        let ties = sorted[at..].iter().take_while(|&&row| values[row] == value);
        // NaN equals nothing, not even itself.
        let ties = ties.count().max(1);
        let middle = at as f64 + 0.5 * (ties as f64 - 1.0);
        for &row in &sorted[at..at + ties] {
            ranks[row] = (middle - 0.5 * (all - 1.0)) / all;
        }
        at += ties;
    }
}

/// Rows in groups; rare groups are one.
struct Groups {
    of_row: Vec<Option<usize>>,
    sizes: Vec<usize>,
}

impl Groups {
    fn new(secrets: impl Iterator<Item = Option<u32>>) -> Self {
        let secrets: Vec<Option<u32>> = secrets.collect();
        let mut counts: HashMap<u32, usize> = HashMap::new();
        for secret in secrets.iter().flatten() {
            *counts.entry(*secret).or_default() += 1;
        }
        let mut frequent: Vec<u32> = counts
            .into_iter()
            .filter(|&(_, rows)| rows >= LEAST_ROWS)
            .map(|(secret, _)| secret)
            .collect();
        frequent.sort_unstable();
        let places: HashMap<u32, usize> = frequent.iter().copied().zip(0..).collect();
        let rare = frequent.len();
        let of_row: Vec<Option<usize>> = secrets
            .into_iter()
            .map(|secret| Some(places.get(&secret?).copied().unwrap_or(rare)))
            .collect();
        let mut sizes = vec![0; rare + 1];
        for &group in of_row.iter().flatten() {
            sizes[group] += 1;
        }
        Groups { of_row, sizes }
    }

    /// Σ T_k²/n_k over the variance, and its degrees of freedom.
    fn statistic(&self, scores: &[Vec<f64>]) -> (f64, f64) {
        let groups = self.sizes.iter().filter(|&&rows| rows > 0).count();
        let (mut sum, mut freedom) = (0.0, 0.0);
        for scores in scores {
            let mut sums = vec![0.0; self.sizes.len()];
            let (mut squares, mut rows) = (0.0, 0.0);
            for (score, group) in scores.iter().zip(&self.of_row) {
                if let Some(group) = group {
                    sums[*group] += score;
                    squares += score * score;
                    rows += 1.0;
                }
            }
            if squares <= 0.0 {
                continue;
            }
            let between = sums.iter().zip(&self.sizes).filter(|(_, rows)| **rows > 0);
            let between: f64 = between.map(|(sum, &rows)| sum * sum / rows as f64).sum();
            sum += between / (squares / rows);
            freedom += groups as f64 - 1.0;
        }
        (sum, freedom)
    }
}

fn compare(
    within: &[Vec<f64>],
    among_all: &[Vec<f64>],
    own: &Groups,
    others: &Groups,
) -> NeighborSecret {
    let (found, freedom) = others.statistic(within);
    let (of_own, own_freedom) = own.statistic(among_all);
    let p_value = match ChiSquared::new(freedom) {
        Ok(law) if freedom > 0.0 => law.sf(found),
        _ => 1.0,
    };
    NeighborSecret {
        p_value,
        is_more: found - freedom > MORE * (of_own - own_freedom),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use leakgauge_testing::{at_most, rng};
    use rand::RngExt;

    /// Rows in complete random blocks whose values depend on the secret so many rows before.
    fn rows(seed: u64, secrets: usize, shift: usize, effect: f64) -> (Vec<u32>, Vec<f64>) {
        use rand::seq::SliceRandom;
        let mut rng = rng(seed);
        let mut order: Vec<u32> = Vec::new();
        while order.len() < 1_200 {
            let mut block: Vec<u32> = (0..secrets as u32).collect();
            block.shuffle(&mut rng);
            order.extend(block);
        }
        let value = |row: usize| {
            let secret = order[row.saturating_sub(shift)];
            effect * f64::from(secret) + rng.random::<f64>()
        };
        let values = (0..order.len()).map(value).collect();
        (order, values)
    }

    #[test]
    fn observations_of_the_row_before_are_found_and_their_own_are_not() {
        for secrets in [2, 3, 40] {
            let effect = 0.6 / secrets as f64;
            let found = |shift: usize, neighbor: Neighbor| {
                let (order, values) = rows(5, secrets, shift, effect);
                neighbor_secret(&order, &values, usize::MAX, neighbor)
            };
            let before = found(1, Neighbor::Before);
            assert!(
                before.p_value < 1e-6 && before.is_more,
                "{secrets}: {before:?}"
            );
            // In blocks the secret behind is seldom that of the row before, which says a little too.
            assert!(found(1, Neighbor::Behind).p_value > 1e3 * before.p_value);
            for neighbor in [Neighbor::Before, Neighbor::Behind] {
                let own = found(0, neighbor);
                assert!(own.p_value > 1e-4 || !own.is_more, "{secrets}: {own:?}");
            }
        }
    }

    #[test]
    fn labels_are_compared_alike() {
        let (order, values) = rows(6, 3, 1, 0.6);
        let codes: Vec<u32> = values.iter().map(|value| (3.0 * value) as u32).collect();
        let before = neighbor_secret_of_labels(&order, &codes, usize::MAX, Neighbor::Before);
        assert!(before.p_value < 1e-6 && before.is_more, "{before:?}");
        let behind = neighbor_secret_of_labels(&order, &codes, usize::MAX, Neighbor::Behind);
        assert!(behind.p_value > 1e3 * before.p_value, "{behind:?}");
    }

    /// At one in a hundred, with leaks of rows' own secrets: of 400 logs a case about 4 are expected.
    #[test]
    fn rows_in_their_places_are_seldom_taken_for_shifted() {
        for secrets in [2, 5, 30] {
            for effect in [0.0, 0.5 / secrets as f64] {
                let mut found = [0; 2];
                for seed in 0..400 {
                    let (order, values) = rows(100 + seed, secrets, 0, effect);
                    let codes: Vec<u32> = values.iter().map(|value| (4.0 * value) as u32).collect();
                    let numbers = neighbor_secret(&order, &values, usize::MAX, Neighbor::Before);
                    let labels =
                        neighbor_secret_of_labels(&order, &codes, usize::MAX, Neighbor::Before);
                    found[0] += usize::from(numbers.p_value < 0.01);
                    found[1] += usize::from(labels.p_value < 0.01);
                }
                let most = at_most(400, 0.01);
                assert!(
                    found.iter().all(|&n| n <= most),
                    "{secrets}, {effect}: {found:?}"
                );
            }
        }
    }
}
