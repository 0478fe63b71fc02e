//! Where a learning curve seems to end.

/// The exponents γ of n^−γ that are tried: from slow nonparametric rates to that of a model with few
/// parameters.
const EXPONENTS: [f64; 6] = [0.2, 0.25, 1.0 / 3.0, 0.5, 0.75, 1.0];

/// y(n) = limit + gap·n^−exponent.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LearningCurve {
    /// y(∞).
    pub limit: f64,
    /// The factor of n^−exponent; negative if the errors seem to rise.
    pub gap: f64,
    /// The exponent.
    pub exponent: f64,
    /// Mean square of the residuals.
    pub residual: f64,
}

impl LearningCurve {
    /// y(n) − y(∞).
    pub fn gap_at(&self, n: f64) -> f64 {
        self.gap * n.powf(-self.exponent)
    }
}

/// Where the curve ends, and how sure that is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Extrapolation {
    /// The curve that fits best.
    pub curve: LearningCurve,
    /// y(∞), the mean over exponents weighted by how well they fit.
    pub limit: f64,
    /// Standard error of the limit: sampling (jackknife over groups of judged rows) and choice of the
    /// exponent together.
    pub standard_error: f64,
}

/// Extrapolates a curve that is seen once with all judged rows and once without each group of them.
/// `None` with fewer than three points.
///
/// # Formula
/// Least squares for each exponent of a grid and for a flat curve; weights ∝ (residual sum of
/// squares)^(−points/2)·points^(−parameters/2), as exp(−BIC/2). The gap may be negative: were it not, noise alone would
/// always look like something still to be learned. Standard error² = (g−1)/g·Σ(limit₋ᵢ − mean)² + the weighted variance
/// of the limits over exponents.
///
/// # Conditions
/// An extrapolation: nothing bounds how far it may be off. Errors that have not begun to fall are not
/// foreseen.
pub fn extrapolate(rows: &[f64], all: &[f64], without: &[Vec<f64>]) -> Option<Extrapolation> {
    if rows.len() < 3 {
        return None;
    }
    let (curve, limit, spread) = averaged(rows, all);
    let limits: Vec<f64> = without
        .iter()
        .map(|values| averaged(rows, values).1)
        .collect();
    let groups = limits.len() as f64;
    let mean = limits.iter().sum::<f64>() / groups.max(1.0);
    let squares: f64 = limits.iter().map(|limit| (limit - mean).powi(2)).sum();
    let sampling = if limits.is_empty() {
        0.0
    } else {
        (groups - 1.0) / groups * squares
    };
    Some(Extrapolation {
        curve,
        limit,
        standard_error: (sampling + spread).sqrt(),
    })
}

/// The best curve, the weighted mean of limits and their weighted variance.
fn averaged(rows: &[f64], values: &[f64]) -> (LearningCurve, f64, f64) {
    /// Curves that fit to less than this differ by rounding only.
    const PERFECT: f64 = 1e-8;
    let points = rows.len() as f64;
    let mut curves: Vec<LearningCurve> = EXPONENTS
        .iter()
        .map(|&exponent| fit(rows, values, exponent))
        .collect();
    curves.push(flat(values));
    let least = curves
        .iter()
        .map(|curve| curve.residual)
        .fold(f64::INFINITY, f64::min);
    let weight = |curve: &LearningCurve| {
        let fit = (least + PERFECT) / (curve.residual + PERFECT);
        // One parameter fewer.
        let saved = if curve.gap == 0.0 { points.sqrt() } else { 1.0 };
        saved * fit.powf(0.5 * points)
    };
    let best = curves
        .iter()
        .copied()
        .reduce(|best, next| {
            if weight(&next) > weight(&best) {
                next
            } else {
                best
            }
        })
        .expect("the flat curve is always there");
    let total: f64 = curves.iter().map(weight).sum();
    let limit = curves
        .iter()
        .map(|curve| weight(curve) * curve.limit)
        .sum::<f64>()
        / total;
    let spread = curves
        .iter()
        .map(|curve| weight(curve) * (curve.limit - limit).powi(2))
        .sum::<f64>()
        / total;
    (best, limit, spread)
}

/// The mean.
fn flat(values: &[f64]) -> LearningCurve {
    let n = values.len() as f64;
    let limit = values.iter().sum::<f64>() / n;
    LearningCurve {
        limit,
        gap: 0.0,
        exponent: 1.0,
        residual: values
            .iter()
            .map(|value| (value - limit).powi(2))
            .sum::<f64>()
            / n,
    }
}

/// Least squares.
fn fit(rows: &[f64], values: &[f64], exponent: f64) -> LearningCurve {
    let n = rows.len() as f64;
    let powers: Vec<f64> = rows.iter().map(|rows| rows.powf(-exponent)).collect();
    let mean = |values: &[f64]| values.iter().sum::<f64>() / n;
    let (x, y) = (mean(&powers), mean(values));
    let (mut xx, mut xy) = (0.0, 0.0);
    for (power, value) in powers.iter().zip(values) {
        xx += (power - x).powi(2);
        xy += (power - x) * (value - y);
    }
    let gap = if xx > 0.0 { xy / xx } else { 0.0 };
    let limit = y - gap * x;
    let residual = powers
        .iter()
        .zip(values)
        .map(|(power, value)| (value - limit - gap * power).powi(2))
        .sum::<f64>()
        / n;
    LearningCurve {
        limit,
        gap,
        exponent,
        residual,
    }
}

/// What the nearest-neighbor error says of the Bayes risk in the limit of many rows: between these two.
///
/// # Formula
/// (1 − 1/m)·(1 − √(1 − r·m/(m−1))) ≤ R* ≤ r for m secrets, r the error of the nearest neighbor.
///
/// # Conditions
/// Asymptotic only: r must be the limit for infinitely many rows, drawn like those that are judged.
///
/// # References
/// Cover and Hart 1967, Theorem 2, doi:10.1109/TIT.1967.1053964.
pub fn cover_hart(nearest_neighbor_error: f64, secrets: usize) -> (f64, f64) {
    let blind = 1.0 - 1.0 / secrets as f64;
    let least = blind * (1.0 - (1.0 - nearest_neighbor_error / blind).max(0.0).sqrt());
    (least, nearest_neighbor_error)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows() -> Vec<f64> {
        (0..7).map(|step| 100.0 * f64::from(1 << step)).collect()
    }

    #[test]
    fn a_curve_of_the_family_is_found_again() {
        for exponent in EXPONENTS {
            let values: Vec<f64> = rows()
                .iter()
                .map(|n| 0.2 + 1.5 * n.powf(-exponent))
                .collect();
            let found = extrapolate(&rows(), &values, &[]).expect("enough points");
            assert!((found.limit - 0.2).abs() < 1e-3, "{found:?}");
            assert_eq!(found.curve.exponent, exponent);
            let gap = found.curve.gap_at(1e4);
            assert!((gap / (1.5 * 1e4f64.powf(-exponent)) - 1.0).abs() < 1e-6);
        }
    }

    #[test]
    fn a_flat_curve_ends_at_its_mean() {
        let found = extrapolate(&rows(), &[0.5; 7], &[]).expect("enough points");
        assert_eq!((found.limit, found.standard_error), (0.5, 0.0));
        assert!(extrapolate(&[1.0, 2.0], &[0.1, 0.2], &[]).is_none());
    }

    /// Noise around a flat curve, each value and its mirror image: no bias.
    #[test]
    fn noise_does_not_look_like_something_to_be_learned() {
        let noise = [0.03, -0.01, 0.02, -0.03, 0.0, 0.01, -0.02];
        let ends = [1.0, -1.0].map(|sign| {
            let values: Vec<f64> = noise.iter().map(|noise| 0.5 + sign * noise).collect();
            extrapolate(&rows(), &values, &[])
                .expect("enough points")
                .limit
        });
        assert!((0.5 * (ends[0] + ends[1]) - 0.5).abs() < 1e-12, "{ends:?}");
    }

    /// Of a mean, the jackknife over equal groups is the usual standard error.
    #[test]
    fn the_jackknife_of_a_flat_curve_is_the_standard_error_of_a_mean() {
        let groups = [0.1, 0.3, 0.2, 0.4];
        let mean = 0.25;
        let without: Vec<Vec<f64>> = groups
            .iter()
            .map(|group| vec![(4.0 * mean - group) / 3.0; 7])
            .collect();
        let found = extrapolate(&rows(), &[mean; 7], &without).expect("enough points");
        let variance = groups.iter().map(|g| (g - mean) * (g - mean)).sum::<f64>() / 3.0;
        assert!((found.standard_error - (variance / 4.0).sqrt()).abs() < 1e-12);
    }

    /// Two secrets, densities 1 and 2x on the unit interval: by the formulas R* = ½∫min and
    /// r = ∫ pq/(p+q).
    #[test]
    fn the_bracket_of_cover_and_hart_holds_on_a_known_pair() {
        let steps = 100_000;
        let (mut risk, mut nearest) = (0.0, 0.0);
        for step in 0..steps {
            let x = (f64::from(step) + 0.5) / f64::from(steps);
            let (p, q) = (1.0f64, 2.0 * x);
            risk += 0.5 * p.min(q);
            nearest += p * q / (p + q);
        }
        let (risk, nearest) = (risk / f64::from(steps), nearest / f64::from(steps));
        let (least, most) = cover_hart(nearest, 2);
        assert!(least <= risk && risk <= most, "{least} {risk} {most}");
        assert_eq!(cover_hart(0.0, 5), (0.0, 0.0));
        let (least, _) = cover_hart(0.8, 5);
        assert!((least - 0.8).abs() < 1e-12);
    }
}
