//! Wilson's score limits: quick approximations for choosing, never for reporting.

use super::special::normal_quantile;

/// One-sided Wilson score limits at a level.
///
/// # Formula
/// (p̂ + z²/2n + z √(p̂(1−p̂)/n + z²/4n²)) / (1 + z²/n), with z the normal quantile of 1 − α.
///
/// # Conditions
/// An approximation: its coverage can fall well short of 1 − α near 0 and 1. For choosing candidates
/// only, never for a reported limit.
///
/// # References
/// Wilson 1927, doi:10.1080/01621459.1927.10502953.
#[derive(Debug, Clone, Copy)]
pub struct Wilson {
    z: f64,
}

impl Wilson {
    /// Limits at level 1 − `alpha`.
    ///
    /// # Panics
    /// If `alpha` is not strictly between 0 and 1.
    pub fn new(alpha: f64) -> Self {
        assert!(alpha > 0.0 && alpha < 1.0, "a level in (0, 1), not {alpha}");
        Wilson {
            z: -normal_quantile(alpha),
        }
    }

    /// The upper limit; 1 without trials.
    #[inline]
    pub fn upper(&self, successes: u64, trials: u64) -> f64 {
        if trials == 0 {
            return 1.0;
        }
        let n = trials as f64;
        let share = successes as f64 / n;
        let half = self.z * self.z / (2.0 * n);
        let spread = self.z * (share * (1.0 - share) / n + half / (2.0 * n)).sqrt();
        ((share + half + spread) / (1.0 + 2.0 * half)).clamp(0.0, 1.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The formula in Python with `scipy.stats.norm.ppf`.
    #[test]
    fn agrees_with_scipy() {
        let wilson = Wilson::new(0.05);
        assert!(
            (wilson.upper(3, 50) - 0.140_941_946_460_699).abs() < 1e-12,
            "{}",
            wilson.upper(3, 50)
        );
        assert!(
            (wilson.upper(0, 20) - 0.119_157_837_360_965).abs() < 1e-12,
            "{}",
            wilson.upper(0, 20)
        );
        // mpmath.
        assert!((wilson.upper(10, 50) - 0.307_326_384_810_822_9).abs() < 1e-14);
        assert_eq!(wilson.upper(0, 0), 1.0);
    }
}
