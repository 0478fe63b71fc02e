//! Measures of the empirical frequencies. All are convex functions of them, hence biased upward, which
//! is what makes their upper limits valid for any alphabet.

use crate::pairs::{pair_count, pair_index};
use leakgauge_log::observations::{Cell, Counts, Observations};
use leakgauge_stats::event_upper::Named;

/// Mutual information of secret and observation at a prior, of the empirical frequencies, in nats; `None` if a secret of
/// positive prior has no rows.
///
/// # Formula
/// Σ_s π_s Σ_o p̂_s(o) ln(p̂_s(o)/Σ_t π_t p̂_t(o)).
pub fn information(counts: &Counts, prior: &[f64]) -> Option<f64> {
    let rows = counts.rows();
    let is_missing = |(p, rows): (&f64, &u64)| *p > 0.0 && *rows == 0;
    if prior.iter().zip(rows).any(is_missing) {
        return None;
    }
    let joint = |cell: &Cell| {
        let secret = cell.secret as usize;
        prior[secret] * (cell.count as f64 / rows[secret].max(1) as f64)
    };
    let of = |cells: &[Cell]| -> f64 {
        let mixed: f64 = cells.iter().map(joint).sum();
        let parts = cells
            .iter()
            .map(|cell| (joint(cell), prior[cell.secret as usize]));
        let parts = parts.filter(|(part, _)| *part > 0.0);
        parts.map(|(part, p)| part * (part / p / mixed).ln()).sum()
    };
    let sum: f64 = counts.by_symbol().map(of).sum();
    Some(sum.max(0.0))
}

/// Total variation between the empirical frequencies of every pair, in the order of
/// [`pairs`](crate::pairs::pairs); 1 where a secret has no rows.
///
/// # Formula
/// TV = 1 − Σ_o min(p̂_a(o), p̂_b(o)).
pub fn total_variation(counts: &Counts) -> Vec<f64> {
    let secrets = counts.secrets();
    let mut overlap = vec![0.0; pair_count(secrets)];
    let rows = counts.rows();
    let mut frequencies: Vec<(u32, f64)> = Vec::new();
    for cells in counts.by_symbol() {
        frequencies.clear();
        frequencies.extend(cells.iter().map(|cell| {
            (
                cell.secret,
                cell.count as f64 / rows[cell.secret as usize] as f64,
            )
        }));
        for (at, &(a, p)) in frequencies.iter().enumerate() {
            let Some(&(next, _)) = frequencies.get(at + 1) else {
                break;
            };
            let base = pair_index(secrets, a, next);
            for &(b, q) in &frequencies[at + 1..] {
                overlap[base + (b - next) as usize] += p.min(q);
            }
        }
    }
    overlap
        .into_iter()
        .map(|overlap| (1.0 - overlap).clamp(0.0, 1.0))
        .collect()
}

/// Bayes vulnerability of the empirical frequencies at a prior: Σ_o max_s π_s p̂_s(o). A secret without
/// rows contributes nothing.
pub fn vulnerability(counts: &Counts, prior: &[f64]) -> f64 {
    let joint = |cell: &Cell| {
        let secret = cell.secret as usize;
        prior[secret] * cell.count as f64 / counts.rows()[secret] as f64
    };
    counts
        .by_symbol()
        .map(|cells| cells.iter().map(joint).fold(0.0, f64::max))
        .sum()
}

/// The rows of every secret of positive prior that the rule argmax π_s p̂_s(o), first of equals, names rightly on
/// these very rows: Σ π_s right_s/rows_s is [`vulnerability`].
pub fn named(counts: &Counts, prior: &[f64]) -> Vec<Named> {
    let rows = counts.rows();
    let mut right = vec![0; counts.secrets()];
    for cells in counts.by_symbol() {
        let mut best: Option<(f64, &Cell)> = None;
        for cell in cells {
            let secret = cell.secret as usize;
            let value = prior[secret] * cell.count as f64 / rows[secret] as f64;
            if best.is_none_or(|best| value > best.0) {
                best = Some((value, cell));
            }
        }
        if let Some((_, cell)) = best {
            right[cell.secret as usize] += cell.count;
        }
    }
    let secrets = prior.iter().zip(rows.iter().zip(right));
    secrets
        .filter(|(prior, _)| **prior > 0.0)
        .map(|(&prior, (&rows, right))| Named { prior, right, rows })
        .collect()
}

/// The hockey-stick divergence Σ_o max(p̂_a(o) − e^ε p̂_b(o), 0) of every ordered pair (a, b) at an ε
/// of its own, as (a, b, divergence).
pub fn hockey_stick(counts: &Counts, epsilon: impl Fn(u32, u32) -> f64) -> Vec<(u32, u32, f64)> {
    let secrets = counts.secrets();
    let rows = counts.rows();
    let numbers = 0..secrets as u32;
    let factors: Vec<f64> = numbers
        .clone()
        .flat_map(|a| numbers.clone().map(move |b| (a, b)))
        .map(|(a, b)| epsilon(a, b).exp())
        .collect();
    // Start from Σ p̂_a = 1, and take min(p̂_a, e^ε p̂_b) off: only shared observations matter.
    let mut divergence = vec![1.0; secrets * secrets];
    for cells in counts.by_symbol() {
        for x in cells {
            let p = x.count as f64 / rows[x.secret as usize] as f64;
            for y in cells.iter().filter(|y| y.secret != x.secret) {
                let q = y.count as f64 / rows[y.secret as usize] as f64;
                let at = x.secret as usize * secrets + y.secret as usize;
                divergence[at] -= p.min(factors[at] * q);
            }
        }
    }
    (0..secrets as u32)
        .flat_map(|a| (0..secrets as u32).map(move |b| (a, b)))
        .filter(|(a, b)| a != b)
        .map(|(a, b)| (a, b, divergence[a as usize * secrets + b as usize].max(0.0)))
        .collect()
}

/// The same of one ordered pair.
pub fn hockey_stick_of(counts: &Counts, [a, b]: [u32; 2], epsilon: f64) -> f64 {
    let (rows, factor) = (counts.rows(), epsilon.exp());
    let mut divergence = 1.0;
    for cells in counts.by_symbol() {
        let rate = |secret: u32| {
            let cell = cells.iter().find(|cell| cell.secret == secret)?;
            Some(cell.count as f64 / rows[secret as usize] as f64)
        };
        if let Some((p, q)) = rate(a).zip(rate(b)) {
            divergence -= p.min(factor * q);
        }
    }
    divergence.max(0.0)
}

/// Kolmogorov distance sup_x |F̂_a(x) − F̂_b(x)| of a log with one numeric column and nothing else.
pub fn kolmogorov_distance(observations: &Observations, counts: &Counts, a: u32, b: u32) -> f64 {
    debug_assert_eq!(observations.columns().len(), 1);
    let rows = counts.rows();
    let (mut below_a, mut below_b, mut largest) = (0u64, 0u64, 0.0f64);
    for cells in counts.by_symbol() {
        for cell in cells {
            below_a += if cell.secret == a { cell.count } else { 0 };
            below_b += if cell.secret == b { cell.count } else { 0 };
        }
        let gap =
            below_a as f64 / rows[a as usize] as f64 - below_b as f64 / rows[b as usize] as f64;
        largest = largest.max(gap.abs());
    }
    largest
}

/// An observation, whether the first of two secrets produced it, and how often.
pub type OfPair = (u32, bool, u64);

/// Kolmogorov distance sup_x |F̂_a(x) − F̂_b(x)| of two secrets in one column of numbers; 0 without rows of either.
pub fn kolmogorov_distance_in(observations: &Observations, rows: &[OfPair], column: usize) -> f64 {
    let mut sorted: Vec<(f64, bool, u64)> = rows
        .iter()
        .map(|&(symbol, is_first, count)| (observations.numbers(symbol)[column], is_first, count))
        .collect();
    sorted.sort_unstable_by(|x, y| x.0.total_cmp(&y.0));
    let (mut of_first, mut of_second) = (0u64, 0u64);
    for &(_, is_first, count) in &sorted {
        *(if is_first {
            &mut of_first
        } else {
            &mut of_second
        }) += count;
    }
    if of_first == 0 || of_second == 0 {
        return 0.0;
    }
    let (mut first, mut second, mut largest) = (0u64, 0u64, 0.0f64);
    for same in sorted.chunk_by(|x, y| x.0 == y.0) {
        for &(_, is_first, count) in same {
            *(if is_first { &mut first } else { &mut second }) += count;
        }
        let gap = first as f64 / of_first as f64 - second as f64 / of_second as f64;
        largest = largest.max(gap.abs());
    }
    largest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_distance_in_a_column_counts_equal_values_together() {
        let numbers = vec![0.0, 2.0, 1.0, 1.0, 2.0, 1.0, 3.0, -1.0];
        let observations = Observations::of_numbers(2, numbers);
        let rows = [
            (0, true, 3),
            (1, true, 1),
            (1, false, 1),
            (2, false, 2),
            (3, false, 1),
        ];
        // The first column: of a 3/4 at 0, then 1 at 1; of b 1/4 at 1, 3/4 at 2.
        let first = kolmogorov_distance_in(&observations, &rows, 0);
        assert!((first - 0.75).abs() < 1e-15, "{first}");
        // The second: of a 1/4 up to 1, of b 1/4 at −1 and all at 1.
        let second = kolmogorov_distance_in(&observations, &rows, 1);
        assert!((second - 0.75).abs() < 1e-15, "{second}");
        assert_eq!(kolmogorov_distance_in(&observations, &rows[..2], 0), 0.0);
    }

    fn counts() -> Counts {
        let table = [[6u64, 3, 1, 0], [2, 2, 2, 4], [0, 0, 5, 5]];
        let cells = table.iter().enumerate().flat_map(|(s, row)| {
            row.iter().enumerate().map(move |(o, &count)| Cell {
                secret: s as u32,
                symbol: o as u32,
                count,
            })
        });
        Counts::new(3, cells.collect())
    }

    #[test]
    fn by_hand() {
        let tv = total_variation(&counts());
        for (found, expected) in tv.iter().zip([0.5, 0.9, 0.4]) {
            assert!((found - expected).abs() < 1e-15, "{found} {expected}");
        }
        let uniform = [1.0 / 3.0; 3];
        assert!((vulnerability(&counts(), &uniform) - (0.6 + 0.3 + 0.5 + 0.5) / 3.0).abs() < 1e-15);
        let named = named(&counts(), &uniform).into_iter();
        let success: f64 = named
            .map(|s| s.prior * s.right as f64 / s.rows as f64)
            .sum();
        assert!((success - vulnerability(&counts(), &uniform)).abs() < 1e-15);
        let divergence = hockey_stick(&counts(), |_, _| 2.0f64.ln());
        let (_, _, ab) = divergence[0];
        assert!((ab - (0.6 - 0.4)).abs() < 1e-15);
        assert_eq!(divergence.len(), 6);
    }

    #[test]
    fn at_epsilon_zero_the_hockey_stick_is_total_variation() {
        let tv = total_variation(&counts());
        for (a, b, divergence) in hockey_stick(&counts(), |_, _| 0.0) {
            let (low, high) = (a.min(b), a.max(b));
            assert!((divergence - tv[pair_index(3, low, high)]).abs() < 1e-15);
        }
    }
}
