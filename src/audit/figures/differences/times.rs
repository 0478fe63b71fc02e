//! The times of each secret, as pictures show them.

use crate::audit::figures::differences::last::{Last, OfSecret};
use crate::audit::prepare::Prepared;
use leakgauge_stats::clock::{Clock, Recorded};

/// Which quantiles are shown of the times of a secret.
const QUANTILES: [f64; 5] = [0.05, 0.25, 0.5, 0.75, 0.95];

/// The times of a secret, all rows, as far as they were recorded: for a picture, not for a limit.
#[derive(Debug, Clone, PartialEq)]
pub struct SecretTimes {
    /// The number of the secret.
    pub secret: u32,
    /// Its times at 5, 25, 50, 75 and 95 % of its rows.
    pub quantiles: [f64; 5],
}

/// The times of every secret that has any, from those of each secret, sorted.
pub(super) fn of_secrets(sorted: &[Vec<f64>], last: Option<Last>) -> Vec<SecretTimes> {
    let all = (0..).zip(sorted).filter(|(_, times)| !times.is_empty());
    let found = all.map(|(secret, times)| SecretTimes {
        secret,
        quantiles: QUANTILES.map(|p| {
            let time = quantile(times, p);
            last.map_or(time, |last| last.capped(time))
        }),
    });
    found.collect()
}

/// The same of independent samples, secret by secret.
pub(super) fn of_samples(samples: &[Option<OfSecret>]) -> Vec<SecretTimes> {
    let all = (0..).zip(samples);
    let found = all.filter_map(|(secret, times)| {
        let times = times.as_ref()?;
        Some(SecretTimes {
            secret,
            quantiles: QUANTILES.map(|p| times.ends[0].quantile(p)),
        })
    });
    found.collect()
}

/// The clock of a log: its step is found, or given.
pub(super) fn clock(recorded: Vec<Recorded>, prepared: &Prepared) -> Clock {
    let (options, found) = (prepared.options, Clock::of(&recorded));
    match options.step_of(prepared.log) {
        Some(step) => found.with_step(step),
        None => found,
    }
}

/// The smallest value that at least this share of sorted values does not exceed.
///
/// # Panics
/// Without values.
pub(crate) fn quantile(sorted: &[f64], p: f64) -> f64 {
    let rank = (p * sorted.len() as f64).ceil() as usize;
    sorted[rank.clamp(1, sorted.len()) - 1]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_values_of_the_secret() {
        let sorted = [(1..=100).map(f64::from).collect(), Vec::new(), vec![7.0]];
        let found = of_secrets(&sorted, None);
        assert_eq!(found.len(), 2);
        assert_eq!(found[0].quantiles, [5.0, 25.0, 50.0, 75.0, 95.0]);
        assert_eq!((found[1].secret, found[1].quantiles), (2, [7.0; 5]));
    }
}
