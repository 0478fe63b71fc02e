//! The observations that say most about one secret, for pointwise maximal leakage.
//!
//! # Formula
//! The largest pointwise maximal leakage is max ln(P_s(o)/(πP)(o)) over observations and secrets. Of a set E of
//! observations ln(P_s(E)/(πP)(E)) is no larger, because a ratio of sums is at most the largest ratio: rare
//! observations count together.
//!
//! # References
//! S. Saeidian, G. Cervia, T. J. Oechtering, M. Skoglund, *Pointwise maximal leakage*, doi:10.1109/TIT.2023.3304378.

use leakgauge_log::observations::{Cell, Counts};
use leakgauge_stats::weighted_risk::Stratum;
use leakgauge_stats::wilson::Wilson;

/// A set of observations that is likelier with one secret than on the whole.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LeakingEvent {
    /// The secret.
    pub secret: u32,
    /// The observations, the most telling first.
    pub observations: Vec<u32>,
}

/// Rows of an event.
#[derive(Debug, Clone, PartialEq)]
pub struct EventRows {
    /// The rows of the event's secret: in the event, and all.
    pub own: [u64; 2],
    /// The prior probability of that secret.
    pub prior: f64,
    /// The other secrets; errors are rows in the event.
    pub others: Vec<Stratum>,
}

/// Sums over nested sets of observations: of 1, 2, 4, … of them.
#[derive(Debug, Clone, Copy, Default)]
struct Sums {
    own: u64,
    others: f64,
    variance: f64,
}

impl LeakingEvent {
    /// The event that promises most. Observations are put in the order of their smoothed ratios on the rows of `fit`,
    /// each beside the secret that it speaks for; the number of observations is chosen on the rows of `tune`. `None` if
    /// no secret of positive prior has rows in both.
    pub fn find(fit: &Counts, tune: &Counts, prior: &[f64], alpha: f64) -> Option<Self> {
        let mut of_secret: Vec<Vec<(f64, u32)>> = vec![Vec::new(); prior.len()];
        for cells in fit.by_symbol() {
            let (secret, ratio) = speaks_for(cells, fit.rows(), prior)?;
            of_secret[secret].push((ratio, cells[0].symbol));
        }
        for observations in &mut of_secret {
            observations.sort_unstable_by(|x, y| y.0.total_cmp(&x.0).then(x.1.cmp(&y.1)));
        }
        let sums = nested(&of_secret, tune, prior);
        let level = Wilson::new(alpha / 2.0);
        let mut best: Option<(f64, usize, usize)> = None;
        for (secret, sums) in sums.iter().enumerate() {
            let mut all = Sums::default();
            for (size, more) in sums.iter().enumerate() {
                all.own += more.own;
                all.others += more.others;
                all.variance += more.variance;
                let value = promised(&all, tune.rows()[secret], prior[secret], &level);
                if best.is_none_or(|best| value > best.0) {
                    best = Some((value, secret, size));
                }
            }
        }
        let (_, secret, size) = best?;
        let observations = &of_secret[secret];
        let taken = observations.len().min(1 << size);
        Some(LeakingEvent {
            secret: secret as u32,
            observations: observations[..taken].iter().map(|one| one.1).collect(),
        })
    }

    /// The rows in the event.
    pub fn rows(&self, counts: &Counts, prior: &[f64]) -> EventRows {
        let mut members = self.observations.clone();
        members.sort_unstable();
        let mut inside = vec![0; prior.len()];
        for cell in counts.cells() {
            if members.binary_search(&cell.symbol).is_ok() {
                inside[cell.secret as usize] += cell.count;
            }
        }
        let own = self.secret as usize;
        let others = (0..prior.len()).filter(|&secret| secret != own && prior[secret] > 0.0);
        EventRows {
            own: [inside[own], counts.rows()[own]],
            prior: prior[own],
            others: others
                .map(|secret| Stratum {
                    weight: prior[secret],
                    errors: inside[secret],
                    rows: counts.rows()[secret],
                })
                .collect(),
        }
    }
}

/// The secret of positive prior whose smoothed frequency at an observation is largest, relative to that of all secrets.
fn speaks_for(cells: &[Cell], rows: &[u64], prior: &[f64]) -> Option<(usize, f64)> {
    let smoothed = |secret: usize, count: u64| (count as f64 + 0.5) / (rows[secret] as f64 + 1.0);
    let absent: f64 = (0..prior.len())
        .map(|secret| prior[secret] * smoothed(secret, 0))
        .sum();
    let present = cells.iter().map(|cell| {
        let secret = cell.secret as usize;
        prior[secret] * (smoothed(secret, cell.count) - smoothed(secret, 0))
    });
    let all = absent + present.sum::<f64>();
    let candidates = cells.iter().filter_map(|cell| {
        let secret = cell.secret as usize;
        (prior[secret] > 0.0).then(|| (secret, smoothed(secret, cell.count) / all))
    });
    let blind = (0..prior.len()).find(|&secret| prior[secret] > 0.0)?;
    let best = candidates.reduce(|best, next| if next.1 > best.1 { next } else { best });
    Some(best.unwrap_or((blind, 0.0)))
}

/// For each secret, what the rows add at each size of its set.
fn nested(of_secret: &[Vec<(f64, u32)>], rows: &Counts, prior: &[f64]) -> Vec<Vec<Sums>> {
    let mut place: Vec<(u32, usize, usize)> = Vec::new();
    let mut sums: Vec<Vec<Sums>> = Vec::new();
    for (secret, observations) in of_secret.iter().enumerate() {
        let size = |at: usize| usize::BITS as usize - at.leading_zeros() as usize;
        let sizes = observations
            .len()
            .checked_sub(1)
            .map_or(0, |last| size(last) + 1);
        sums.push(vec![Sums::default(); sizes]);
        let places = observations.iter().enumerate();
        place.extend(places.map(|(at, &(_, symbol))| (symbol, secret, size(at))));
    }
    place.sort_unstable();
    for cell in rows.cells() {
        let Ok(at) = place.binary_search_by_key(&cell.symbol, |place| place.0) else {
            continue;
        };
        let (_, secret, size) = place[at];
        let sums = &mut sums[secret][size];
        let of = cell.secret as usize;
        if of == secret {
            sums.own += cell.count;
        } else {
            let unit = prior[of] / rows.rows()[of] as f64;
            sums.others += unit * cell.count as f64;
            sums.variance += unit * unit * cell.count as f64;
        }
    }
    sums
}

/// The approximate limit that the rows of an event show.
fn promised(sums: &Sums, rows: u64, prior: f64, level: &Wilson) -> f64 {
    if rows == 0 {
        return f64::NEG_INFINITY;
    }
    let own = 1.0 - level.upper(rows - sums.own.min(rows), rows);
    // As if one more row of the rarest weight had been seen, for nothing is certain of what was not.
    let one = (1.0 - prior) / rows as f64;
    let others = sums.others + one + 2.0 * (sums.variance + one * one).sqrt();
    pointwise(own, prior, others)
}

/// ln(p/(πp + u)) for the probability p of an event under a secret of prior π, and u = Σ π_s P_s(E) over the others:
/// the pointwise leakage of the event. It grows in p and falls in u.
pub fn pointwise(own: f64, prior: f64, others: f64) -> f64 {
    (own / (prior * own + others)).ln()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counts(table: &[Vec<u64>]) -> Counts {
        let cells = table.iter().enumerate().flat_map(|(s, row)| {
            row.iter().enumerate().map(move |(o, &count)| Cell {
                secret: s as u32,
                symbol: o as u32,
                count,
            })
        });
        Counts::new(table.len(), cells.filter(|cell| cell.count > 0).collect())
    }

    #[test]
    fn the_observation_that_speaks_for_one_secret_is_found() {
        let table = vec![
            vec![400, 500, 100, 0],
            vec![500, 490, 1, 9],
            vec![500, 500, 0, 0],
        ];
        let (fit, tune, prior) = (counts(&table), counts(&table), [1.0 / 3.0; 3]);
        let found = LeakingEvent::find(&fit, &tune, &prior, 0.05).unwrap();
        assert_eq!((found.secret, found.observations[0]), (0, 2));
        let rows = found.rows(&tune, &prior);
        assert_eq!(rows.own, [100, 1000]);
        assert_eq!(rows.others.iter().map(|s| s.errors).sum::<u64>(), 1);
    }

    /// A hundred observations that occur once or twice each speak for one secret: only together they prove anything.
    #[test]
    fn rare_observations_count_together() {
        let mut table = vec![vec![0; 101], vec![0; 101]];
        table[0][..100].fill(2);
        table[0][100] = 800;
        table[1][100] = 1_000;
        let log = counts(&table);
        let found = LeakingEvent::find(&log, &log, &[0.5; 2], 0.05).unwrap();
        assert_eq!(found.secret, 0);
        assert!(found.observations.len() >= 64, "{found:?}");
    }

    #[test]
    fn leakage_of_an_event_by_hand() {
        assert!((pointwise(0.3, 0.5, 0.05) - 1.5f64.ln()).abs() < 1e-12);
        assert!((pointwise(1.0, 0.25, 0.0) - 4f64.ln()).abs() < 1e-12);
    }
}
