//! Are there copies among the rows? Repeats on columns that should not tie, judged from counts.
//!
//! Equal rows arise when observations take few values (labels, rounding, a timer's ticks) and when rows
//! were written twice. The first is harmless; the second puts the same row into the part that is learned
//! and the part that judges, and leak-free logs are then certified to leak. Three questions tell them apart.
//!
//! # How often is often? ([`multiplicities`])
//!
//! A *cell* is a secret with an observation. If rows of a secret are independent draws of *any* law, cell
//! v has Poisson(λ_v) rows (about: the rows are multinomial, whose counts are negatively associated), so
//! that with N_j cells seen exactly j times, for every c and j ≥ 2,
//!
//! E\[c²(j−1)! N_{j−1} − 2c j! N_j + (j+1)! N_{j+1}\] = Σ_v e^{−λ_v} λ_v^{j−1} (c − λ_v)² ≥ 0.
//!
//! Whatever the law, rounded or not, leaking or not, there cannot be many cells seen exactly j times
//! without cells seen j − 1 and j + 1 times. A log of distinct rows read twice has N_2 alone; one with a
//! tenth of its rows repeated has N_1 and N_2 but no N_3. The statistic is a sum over cells, a z-value
//! comes from its own squares, and the smallest over a grid of c and j ≤ 5 is Bonferroni-corrected. This
//! accuses no law: it needs no assumption but independence.
//!
//! # More often than near misses? ([`coincidences`])
//!
//! On a grid of step h that is fine against the law (a rounded measurement) two rows of a secret are equal
//! about as often as they are one or two steps apart; on copies far more often. Rows of *different*
//! secrets show how much of that excess is the law's own (spikes, coarse clocks): copies keep the secret.
//! So repeats within secrets are held against near misses within secrets, times the same ratio across
//! secrets where that is above 1. Cells with more than three rows are left out: a law's own spikes are
//! tall, copies are many and low. This finds copies among rounded values, where the first question is
//! silent, but a law with many low spikes that differ between secrets would be accused: ask it only of
//! measurements (numbers with a grid), never of identifiers or labels, and call what it finds a
//! suspicion.
//!
//! # Do secrets never share a value? ([`of_one_secret`])
//!
//! Copies keep the secret. Values that recur by themselves recur under every secret: with n_s rows of secret
//! s, two rows that tie are of different secrets in the ratio Σ_{s<t} n_s n_t to Σ_s n_s (n_s − 1)/2. Ties
//! within secrets and none across are copies, unless every secret has recurring values of its own. So ask it
//! only where values are so fine that hardly any recur, and say what was left out.
//!
//! # Are rows of one log in another? ([`of_two_logs`])
//!
//! Rows that two independent logs hold of one cell are as many in one as in the other no more often than fair coins
//! fall in halves. Copies make them equal in every cell, or in every cell that both share.
//!
//! # References
//! Good 1953, doi:10.1093/biomet/40.3-4.237 (numbers of cells seen j times); Joag-Dev and Proschan 1983,
//! doi:10.1214/aos/1176346079 (negative association).

use crate::binomial_tail;
use crate::special::normal_survival;

/// The largest multiplicity that is looked at for a bulge.
const MOST: usize = 5;
/// Cells seen j times below which nothing is said: the sums are then far from normal.
const LEAST: u64 = 20;
/// Values of c a doubling.
const PER_DOUBLING: f64 = 2.0;
/// Cells with more rows than this are a law's own spikes.
const TALLEST: u64 = 3;
/// The share of tall cells above which the grid counts as coarse.
const MOST_TALL: f64 = 0.05;
/// Steps of the grid that count as a near miss.
const NEAR: usize = 3;

/// What a question found.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Finding {
    /// The p-value, corrected for all that was looked at; 1 if nothing can be said.
    pub p_value: f64,
    /// About how many rows are copies of others, at least; 0 if none are shown.
    pub copies: f64,
}

impl Finding {
    const NOTHING: Finding = Finding {
        p_value: 1.0,
        copies: 0.0,
    };
}

/// Whether some multiplicity is commoner than independent rows of any laws allow.
///
/// `counts` are the rows of every cell, one number a pair of secret and observation.
///
/// # Formula
/// z = −L/√Q with L the sum of the [module](self) and Q the sum of its squared terms; normal tail, times
/// the number of pairs (j, c) looked at.
///
/// # Conditions
/// Rows independent if they are no copies. The normal law is an approximation, asked only where at least
/// 20 cells have the multiplicity: in simulations of 19 laws a p-value below 0.001 arose in at most 0.4 %
/// of logs without copies (where cells seen thrice are rare). Act on p-values below 0.0001.
pub fn multiplicities(counts: impl IntoIterator<Item = u64>) -> Finding {
    let mut seen = [0u64; MOST + 2];
    for count in counts {
        if count > 0 && count as usize <= MOST + 1 {
            seen[count as usize] += 1;
        }
    }
    let factorial = |j: usize| (1..=j).map(|i| i as f64).product::<f64>();
    let mut best: Option<(f64, usize)> = None;
    let mut looked = 0u32;
    for j in (2..=MOST).filter(|&j| seen[j] >= LEAST) {
        // λ where cells seen j times are commonest is j; beyond, nothing is gained by looking.
        let steps = (PER_DOUBLING * (f64::from(j as u32) * 64.0).log2()).ceil() as i32;
        for step in 0..=steps {
            let c = j as f64 * 0.5f64.powf(f64::from(step) / PER_DOUBLING);
            let terms = [
                (seen[j - 1] as f64, c * c * factorial(j - 1)),
                (seen[j] as f64, -2.0 * c * factorial(j)),
                (seen[j + 1] as f64, factorial(j + 1)),
            ];
            let sum: f64 = terms.iter().map(|(n, value)| n * value).sum();
            // One cell more of either neighbor than were seen: what is missing may be so by chance.
            let squares: f64 = terms.iter().map(|(n, v)| (n + 1.0) * v * v).sum();
            let z = -sum / squares.sqrt();
            looked += 1;
            if best.is_none_or(|(most, _)| z > most) {
                best = Some((z, j));
            }
        }
    }
    let Some((z, j)) = best else {
        return Finding::NOTHING;
    };
    let p_value = (f64::from(looked) * normal_survival(z)).min(1.0);
    Finding {
        p_value,
        copies: bulge(&seen, j, p_value),
    }
}

/// Rows above what the neighbors allow: m_j ≤ √(m_{j−1} m_{j+1}), each of the excess cells holding j − 1
/// copies.
fn bulge(seen: &[u64; MOST + 2], j: usize, p_value: f64) -> f64 {
    if p_value > 0.01 {
        return 0.0;
    }
    // √(m_{j−1} m_{j+1})/j! = √((j+1)/j · N_{j−1} N_{j+1}).
    let ratio = (j as f64 + 1.0) / j as f64;
    let allowed = (ratio * seen[j - 1] as f64 * seen[j + 1] as f64).sqrt();
    ((seen[j] as f64 - allowed) * (j as f64 - 1.0)).max(0.0)
}

/// One cell on a grid: the secret, the number of the grid point, and its rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct GridCell {
    /// The grid point.
    pub point: i64,
    /// The secret.
    pub secret: u32,
    /// Rows.
    pub rows: u64,
}

/// Whether rows of a secret are equal more often than they are near misses.
///
/// # Formula
/// With W_d the pairs of rows of one secret at d steps (ties: 0) and X_d those of different secrets,
/// expected E = ½ mean(W_1..W_3) · max(1, X_0/mean(X_1..X_3) + two standard errors), with both means over
/// pairs either way; z = (W_0 − E)/√(W_0 + E + var of the means), normal tail.
///
/// # Conditions
/// A measurement on a known grid; see the [module](self). Rows independent if they are no copies. The
/// law's density changes little over three steps: with a coarse grid, cells are tall and left out.
pub fn coincidences(mut cells: Vec<GridCell>) -> Finding {
    cells.retain(|cell| cell.rows > 0);
    let all = cells.len();
    cells.retain(|cell| cell.rows <= TALLEST);
    // Where many cells are tall the law is coarse: what is left of it is a selection.
    if (all - cells.len()) as f64 > MOST_TALL * all as f64 {
        return Finding::NOTHING;
    }
    cells.sort_unstable();
    let (within, across) = pairs_by_distance(&cells);
    let mean = |pairs: &[f64; NEAR + 1]| pairs[1..].iter().sum::<f64>() / NEAR as f64;
    let (near, far) = (0.5 * mean(&within), 0.5 * mean(&across));
    let spikes = if far > 0.0 {
        (across[0] + 2.0 * (across[0] + 1.0).sqrt()) / far
    } else {
        1.0
    };
    let expected = near * spikes.max(1.0);
    let excess = within[0] - expected;
    if within[0] < LEAST as f64 {
        return Finding::NOTHING;
    }
    // Pairs share rows: the variance of a number of pairs is its mean and more where cells are tall.
    let z = excess / (within[0] + 2.0 * expected + 1.0).sqrt();
    Finding {
        p_value: normal_survival(z),
        copies: excess.max(0.0),
    }
}

/// Pairs of rows at 0 to [`NEAR`] steps: of one secret, and of different ones. The cells ascend.
fn pairs_by_distance(cells: &[GridCell]) -> ([f64; NEAR + 1], [f64; NEAR + 1]) {
    let mut within = [0.0f64; NEAR + 1];
    let mut across = [0.0f64; NEAR + 1];
    for (at, cell) in cells.iter().enumerate() {
        let n = cell.rows as f64;
        within[0] += 0.5 * n * (n - 1.0);
        let near = cells[at + 1..]
            .iter()
            .take_while(|other| other.point - cell.point <= NEAR as i64);
        for other in near {
            let pairs = n * other.rows as f64;
            let distance = (other.point - cell.point) as usize;
            if other.secret == cell.secret {
                within[distance] += pairs;
            } else {
                across[distance] += pairs;
            }
        }
    }
    (within, across)
}

/// The p-value of values that recur under all secrets alike: whether rows tie within secrets, and hardly ever
/// across them.
///
/// `within` are the rows beyond the first of every cell, `across` the secrets beyond the first of every
/// observation, `rows` the rows of every secret.
///
/// # Formula
/// P(Bin(`within` + `across`, q) ≤ `across`), q the part of pairs of rows that are of different secrets; 1 where
/// more than a twentieth of the ties that q lets expect are across.
///
/// # Conditions
/// See the [module](self). Values that recur for one secret alone are accused.
pub fn of_one_secret(within: u64, across: u64, rows: &[u64]) -> f64 {
    let total: f64 = rows.iter().map(|&rows| rows as f64).sum();
    let same: f64 = rows
        .iter()
        .map(|&rows| rows as f64 * (rows as f64 - 1.0))
        .sum();
    let pairs = total * (total - 1.0);
    if within == 0 || pairs <= 0.0 {
        return 1.0;
    }
    let different = 1.0 - same / pairs;
    let ratio = different / (1.0 - different).max(f64::MIN_POSITIVE);
    if across as f64 > 0.05 * ratio * within as f64 {
        return 1.0;
    }
    binomial_tail::at_most(across, within + across, different)
}

/// Whether two logs share rows: the p-value of cells that have exactly as many rows in one log as in the other.
///
/// `cells` are the rows of every cell (a secret with an observation) in either log, and those of its secret in the
/// smaller log.
///
/// # Formula
/// Given that a cell has t = 2h rows in both logs together, either has half of them with probability at most p_t = C(m,
/// h)² / C(2m, 2h), whatever the laws of the two logs, where the secret has m rows in the smaller one. With b of n such
/// cells balanced and p the mean of their p_t, the p-value is exp(−n KL(b/n ‖ p)) (Hoeffding 1963, Theorem 1,
/// doi:10.1080/01621459.1963.10500830). It is asked of all cells and of those with two rows alone, and the smaller of
/// the two is doubled.
///
/// # Conditions
/// Rows independent, within a log and between both. A cell whose rows follow from those of other cells (the last of a
/// secret whose number of rows was planned) must be left out. Logs of a planned experiment without chance, made
/// twice, are accused.
pub fn of_two_logs(cells: impl IntoIterator<Item = ([u64; 2], u64)>) -> f64 {
    // All cells, then those with two rows: how many, how many balanced, the sum of their p_t.
    let mut sums = [(0u64, 0u64, 0.0f64); 2];
    for ([one, other], of_secret) in cells {
        let rows = one + other;
        if rows == 0 || !rows.is_multiple_of(2) {
            continue;
        }
        let balanced = u64::from(one == other);
        for (cells, equal, chance) in &mut sums[..if rows == 2 { 2 } else { 1 }] {
            *cells += 1;
            *equal += balanced;
            *chance += chance_of_half(rows / 2, of_secret);
        }
    }
    let p_values = sums.map(|(cells, equal, chance)| {
        let (n, p) = (cells as f64, chance / cells.max(1) as f64);
        let share = equal as f64 / n.max(1.0);
        if share <= p {
            return 1.0;
        }
        let rest = if share < 1.0 {
            (1.0 - share) * ((1.0 - share) / (1.0 - p)).ln()
        } else {
            0.0
        };
        (-n * (share * (share / p).ln() + rest)).exp()
    });
    (2.0 * p_values[0].min(p_values[1])).min(1.0)
}

/// The largest probability, over all laws of two logs, that one of them has half of the 2h rows of a cell, where the
/// secret has `rows` rows in the smaller log.
///
/// # Formula
/// Fisher's noncentral hypergeometric law is the most concentrated for two logs of equal size m and equal laws:
/// C(m, h)² / C(2m, 2h) = c(h)·c(m − h) / c(m), with c(k) = C(2k, k) / 4ᵏ. It tends to c(h) as m grows.
fn chance_of_half(half: u64, rows: u64) -> f64 {
    match rows.checked_sub(half) {
        Some(rest) => central(half) * central(rest) / central(rows),
        None => 1.0,
    }
}

/// C(2k, k) / 4ᵏ: exact for few, by Stirling's series beyond, to 1e-7 and better.
fn central(k: u64) -> f64 {
    const FEW: u64 = 16;
    if k <= FEW {
        return (1..=k)
            .map(|i| (2.0 * i as f64 - 1.0) / (2.0 * i as f64))
            .product();
    }
    let k = k as f64;
    let series = 1.0 - 1.0 / (8.0 * k) + 1.0 / (128.0 * k * k) + 5.0 / (1024.0 * k * k * k);
    series / (std::f64::consts::PI * k).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;
    use leakgauge_testing::rng;
    use rand::RngExt;
    use std::collections::HashMap;

    fn counts(rows: &[(u32, i64)]) -> Vec<u64> {
        let mut counts: HashMap<(u32, i64), u64> = HashMap::new();
        for row in rows {
            *counts.entry(*row).or_default() += 1;
        }
        counts.into_values().collect()
    }

    #[test]
    fn a_log_read_twice_or_thrice_and_one_with_a_tenth_repeated_are_found() {
        for times in [2u64, 3, 4] {
            let found = multiplicities((0..1000).map(|_| times));
            assert!(found.p_value < 1e-6, "{times}: {}", found.p_value);
            assert_eq!(found.copies, 1000.0 * (times - 1) as f64);
        }
        let found = multiplicities((0..900).map(|row| 1 + u64::from(row < 100)));
        assert!(found.p_value < 1e-3 && found.copies == 100.0, "{found:?}");
    }

    /// Laws at the boundary, all cells alike with λ from 0.1 to 4, and a mixture: at the level 0.001 at
    /// most 4 of 2,000 logs of 600 rows (the 0.05 % point of the binomial is 9).
    #[test]
    fn no_law_is_accused() {
        let mut rng = rng(4);
        let mut accused = 0;
        for run in 0..2000 {
            let values = [150, 300, 600, 1200, 6000][run % 5];
            let rows: Vec<(u32, i64)> = (0..600)
                .map(|_| {
                    let value = rng.random_range(0..values);
                    (
                        0,
                        if run % 2 == 0 {
                            value
                        } else {
                            value * value / values
                        },
                    )
                })
                .collect();
            accused += usize::from(multiplicities(counts(&rows)).p_value < 1e-3);
        }
        assert!(accused <= 4, "{accused}");
    }

    #[test]
    fn nothing_is_said_of_few_repeats() {
        assert_eq!(multiplicities([1, 1, 2, 3]), Finding::NOTHING);
        assert_eq!(coincidences(Vec::new()), Finding::NOTHING);
    }

    fn cells(rows: &[(u32, i64)]) -> Vec<GridCell> {
        let mut counts: HashMap<(u32, i64), u64> = HashMap::new();
        for row in rows {
            *counts.entry(*row).or_default() += 1;
        }
        let cell = |((secret, point), rows)| GridCell {
            point,
            secret,
            rows,
        };
        counts.into_iter().map(cell).collect()
    }

    /// 1,000 rounded rows, triangular law over 4,000 steps, a tenth repeated: found; without: not.
    #[test]
    fn copies_among_rounded_values_are_found() {
        let mut rng = rng(6);
        let mut rows: Vec<(u32, i64)> = (0..1000)
            .map(|row| {
                (
                    row % 2,
                    rng.random_range(0..2000) + rng.random_range(0..2000),
                )
            })
            .collect();
        assert!(coincidences(cells(&rows)).p_value > 1e-3);
        rows.extend_from_within(..100);
        let found = coincidences(cells(&rows));
        assert!(
            found.p_value < 1e-3 && (found.copies - 100.0).abs() < 50.0,
            "{found:?}"
        );
    }

    /// Two secrets with equal rows: each tie is across with probability about ½.
    #[test]
    fn ties_of_one_secret_are_counted_like_tosses_of_a_coin() {
        let rows = [500, 500];
        let p = of_one_secret(14, 0, &rows);
        assert!((p - 0.5f64.powi(14)).abs() < 2e-6, "{p}");
        assert_eq!(of_one_secret(14, 2, &rows), 1.0);
        assert_eq!(of_one_secret(0, 0, &rows), 1.0);
        // Rows of a rare secret hardly ever tie with anything.
        assert!(of_one_secret(14, 0, &[1000, 10]) > 0.5);
        assert_eq!(of_one_secret(14, 0, &[1000, 0]), 1.0);
    }

    /// Values that recur by themselves, of all secrets alike, are not accused.
    #[test]
    fn values_that_recur_under_all_secrets_are_no_copies() {
        let mut accused = 0;
        for seed in 0..400 {
            let mut rng = rng(seed);
            let mut counts: HashMap<(u32, i64), u64> = HashMap::new();
            for _ in 0..1000 {
                let row = (rng.random_range(0..2), rng.random_range(0..10_000));
                *counts.entry(row).or_default() += 1;
            }
            let within = counts.values().map(|count| count - 1).sum();
            let both = |value: i64| (0..2).all(|secret| counts.contains_key(&(secret, value)));
            let across = (0..10_000).filter(|&value| both(value)).count() as u64;
            let rows = [0, 1].map(|secret| {
                let of = counts.iter().filter(|(cell, _)| cell.0 == secret);
                of.map(|(_, count)| count).sum()
            });
            accused += u32::from(of_one_secret(within, across, &rows) < 1e-4);
        }
        assert_eq!(accused, 0);
    }

    /// Two rows a secret and log, a coin each: a planned number of rows makes balance commoner than a coin does. At
    /// the level 0.001 at most 4 of 500 pairs of logs (the 0.05 % point of the binomial is 4).
    #[test]
    fn independent_logs_of_planned_rows_are_not_accused() {
        assert!((chance_of_half(1, 2) - 2.0 / 3.0).abs() < 1e-12);
        assert!((chance_of_half(1, 1 << 40) - 0.5).abs() < 1e-9);
        // C(20, 5)² / C(40, 10).
        assert!((chance_of_half(5, 20) - 15_504.0f64.powi(2) / 847_660_528.0).abs() < 1e-7);
        let mut rng = rng(5);
        let mut accused = 0;
        for _ in 0..500 {
            let cells: Vec<([u64; 2], u64)> = (0..300)
                .map(|_| {
                    let mut ones = || (0..2).map(|_| u64::from(rng.random::<bool>())).sum();
                    ([ones(), ones()], 2)
                })
                .collect();
            accused += u32::from(of_two_logs(cells) < 0.001);
        }
        assert!(accused <= 4, "{accused}");
    }
}
