//! How many independent rows a series of autocorrelated ones is worth.

/// Lags looked at before the series is coarsened.
const LAGS: usize = 64;
/// A series with fewer values than this says nothing about its autocorrelation.
const MIN_ROWS: usize = 8;

/// The effective sample size of the mean of a series: the number of independent values of the same
/// variance whose mean would vary as much. Between 1 and the number of values; all of them if they are
/// equal, for a constant says nothing about its autocorrelation. Approximate.
///
/// # Formula
/// n/τ with τ = 1 + 2 Σ ρ_k, summed in pairs of lags while these are positive and made monotone
/// (initial monotone sequence). Where 64 lags do not reach the end of the correlation, neighbors are
/// averaged first, which leaves the variance of the mean as it is. A sum over lags up to K about the
/// sample mean is too small by (2K+1)/n of itself; this is put right.
///
/// # Conditions
/// A stationary series whose correlation ends well within its length. Negative correlation is not
/// credited: the result never exceeds n.
///
/// # References
/// Geyer 1992, doi:10.1214/ss/1177011137; Flyvbjerg and Petersen 1989, doi:10.1063/1.457480.
pub fn effective_rows(values: &[f64]) -> f64 {
    let all = values.len() as f64;
    let variance = autocovariances(values, 0)[0];
    // Rounding of a constant is no variation.
    let size = values
        .iter()
        .fold(0.0f64, |most, value| most.max(value.abs()));
    if values.is_empty() || variance <= (size * 1e-12).powi(2) {
        return all;
    }
    let mut series = values.to_vec();
    let mut block = 1.0;
    loop {
        if series.len() < MIN_ROWS {
            return 1.0;
        }
        let gammas = autocovariances(&series, LAGS.min(series.len() / 2));
        let (sum, lags, ended) = initial_sequence(&gammas);
        let truncated = (2 * lags + 1) as f64 / series.len() as f64;
        if !ended {
            series = series
                .chunks_exact(2)
                .map(|two| 0.5 * (two[0] + two[1]))
                .collect();
            block *= 2.0;
        } else if truncated > 0.9 {
            return 1.0;
        } else {
            let time = block * sum / (1.0 - truncated) / variance;
            return (all / time.max(1.0)).clamp(1.0, all);
        }
    }
}

/// The long-run variance, the largest lag in it, and whether the correlation ended within the lags.
fn initial_sequence(gammas: &[f64]) -> (f64, usize, bool) {
    let mut sum = -gammas[0];
    let mut least = f64::INFINITY;
    for (at, pair) in gammas.chunks_exact(2).enumerate() {
        least = least.min(pair[0] + pair[1]);
        if least <= 0.0 {
            return (sum.max(0.0), (2 * at).saturating_sub(1), true);
        }
        sum += 2.0 * least;
    }
    (sum, gammas.len() - 1, false)
}

/// Autocovariances at lags 0 to `most`, about the mean, all divided by n.
fn autocovariances(values: &[f64], most: usize) -> Vec<f64> {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let centered: Vec<f64> = values.iter().map(|value| value - mean).collect();
    (0..=most)
        .map(|lag| {
            let later = centered.iter().skip(lag);
            centered.iter().zip(later).map(|(x, y)| x * y).sum::<f64>() / n
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::SeedableRng;
    use rand_chacha::ChaCha8Rng;
    use rand_distr::{Distribution, StandardNormal};

    fn autoregressive(rows: usize, rho: f64, seed: u64) -> Vec<f64> {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let mut draw = || -> f64 { StandardNormal.sample(&mut rng) };
        let mut state = draw();
        (0..rows)
            .map(|_| {
                state = rho * state + (1.0 - rho * rho).sqrt() * draw();
                state
            })
            .collect()
    }

    /// n_eff of AR(1) is n(1 − ρ)/(1 + ρ); means over 10 seeds.
    #[test]
    fn an_autoregressive_series_is_worth_what_theory_says() {
        for (rho, rows) in [(0.0, 4000), (0.5, 4000), (0.9, 4000), (0.99, 20_000)] {
            let truth = rows as f64 * (1.0 - rho) / (1.0 + rho);
            let seeds = 10;
            let mean = (0..seeds)
                .map(|seed| effective_rows(&autoregressive(rows, rho, seed)))
                .sum::<f64>()
                / seeds as f64;
            assert!(
                (mean / truth - 1.0).abs() < 0.15,
                "{rho}: {mean} for {truth}"
            );
        }
    }

    /// The variance of the mean of a moving average of indicators, by enumeration of its law: x_t = 1 if
    /// u_t + u_{t+1} = 2 for fair bits u: γ_0 = 3/16, γ_1 = 1/8 − 1/16.
    #[test]
    fn a_moving_average_of_bits_is_worth_what_enumeration_says() {
        use rand::RngExt;
        let mut rng = ChaCha8Rng::seed_from_u64(1);
        let bits: Vec<bool> = (0..200_001).map(|_| rng.random()).collect();
        let values: Vec<f64> = bits
            .windows(2)
            .map(|two| f64::from(u8::from(two[0] && two[1])))
            .collect();
        let time = 1.0 + 2.0 * (1.0 / 16.0) / (3.0 / 16.0);
        let worth = effective_rows(&values) / values.len() as f64;
        assert!((worth * time - 1.0).abs() < 0.03, "{worth}");
    }

    #[test]
    fn degenerate_series_have_an_answer() {
        assert_eq!(effective_rows(&[]), 0.0);
        assert_eq!(effective_rows(&[1.0]), 1.0);
        assert_eq!(effective_rows(&[1.0; 50]), 50.0);
        assert_eq!(effective_rows(&[0.0, 1.0]), 1.0);
        let trend: Vec<f64> = (0..5000).map(f64::from).collect();
        assert!(effective_rows(&trend) < 10.0);
        let alternating: Vec<f64> = (0..5000).map(|row| f64::from(row % 2)).collect();
        assert_eq!(effective_rows(&alternating), 5000.0);
    }
}
