//! Radii of plug-in estimates that hold at every sample size.
//!
//! A radius may exceed 1; without rows it is infinite.

/// The two-sided Dvoretzky–Kiefer–Wolfowitz radius of an empirical distribution function.
///
/// # Formula
/// √(ln(2/α) / 2n). With probability at least 1 − α, sup |F_n − F| is at most this.
///
/// # Conditions
/// `n` independent rows of one law, which may have atoms.
///
/// # References
/// Massart (1990), Corollary 1, 10.1214/aop/1176990746.
pub fn dkw_radius(n: u64, alpha: f64) -> f64 {
    ((2.0 / alpha).ln() / (2.0 * n as f64)).sqrt()
}

/// The one-sided Dvoretzky–Kiefer–Wolfowitz radius of an empirical distribution function.
///
/// # Formula
/// √(ln(1/α) / 2n). With probability at least 1 − α, sup (F − F_n) is at most this; so is
/// sup (F_n − F), but not both together.
///
/// # Conditions
/// As [`dkw_radius`], and α ≤ ½.
///
/// # References
/// Massart (1990), Theorem 1, 10.1214/aop/1176990746.
pub fn dkw_one_sided_radius(n: u64, alpha: f64) -> f64 {
    debug_assert!(alpha <= 0.5, "proved for alpha up to 1/2");
    mcdiarmid(1.0 / n as f64, alpha)
}

/// The radius above the plug-in total variation between two samples.
///
/// # Formula
/// √((1/n_a + 1/n_b) ln(1/α) / 2). With probability at least 1 − α the true total variation is at
/// most plug-in + radius: the plug-in is convex in the empirical laws, hence biased upward, and one
/// row moves it by at most 1/n of its sample.
///
/// # Conditions
/// Independent rows; the cells are fixed without looking at them. Says nothing below the plug-in.
///
/// # References
/// McDiarmid (1989), Lemma 1.2, 10.1017/CBO9781107359949.008.
pub fn mcdiarmid_total_variation_radius(n_a: u64, n_b: u64, alpha: f64) -> f64 {
    mcdiarmid(1.0 / n_a as f64 + 1.0 / n_b as f64, alpha)
}

/// The radius above the plug-in Bayes vulnerability Σ_o max_s π_s P̂_s(o).
///
/// `weights` are (prior π_s, rows n_s); a secret of prior 0 does not count.
///
/// # Formula
/// √(Σ π_s²/n_s · ln(1/α) / 2). With probability at least 1 − α the true vulnerability is at most
/// plug-in + radius.
///
/// # Conditions
/// Independent rows given the secrets; prior and cells fixed without looking at the observations.
///
/// # References
/// McDiarmid (1989), Lemma 1.2, 10.1017/CBO9781107359949.008.
pub fn mcdiarmid_vulnerability_radius(
    weights: impl IntoIterator<Item = (f64, u64)>,
    alpha: f64,
) -> f64 {
    let variation = weights
        .into_iter()
        .filter(|&(prior, _)| prior != 0.0)
        .map(|(prior, n)| prior * prior / n as f64)
        .sum();
    mcdiarmid(variation, alpha)
}

/// The radius above the plug-in hockey-stick divergence Σ_o (P̂_a(o) − e^ε P̂_b(o))⁺.
///
/// # Formula
/// √((1/n_a + e^{2ε}/n_b) ln(1/α) / 2). With probability at least 1 − α the true divergence is at
/// most plug-in + radius.
///
/// # Conditions
/// Independent rows; ε and the cells fixed without looking at them.
///
/// # References
/// McDiarmid (1989), Lemma 1.2, 10.1017/CBO9781107359949.008.
pub fn mcdiarmid_hockey_stick_radius(n_a: u64, n_b: u64, epsilon: f64, alpha: f64) -> f64 {
    mcdiarmid(1.0 / n_a as f64 + (2.0 * epsilon).exp() / n_b as f64, alpha)
}

/// The radius of a function of independent parts, each of which moves it by at most c_u.
///
/// # Formula
/// √(V ln(1/α) / 2), V = Σ c_u². With probability at least 1 − α the function is at most this below its
/// expectation.
///
/// # Conditions
/// The parts are independent; the c_u do not depend on them.
///
/// # References
/// McDiarmid (1989), Lemma 1.2, 10.1017/CBO9781107359949.008.
pub fn mcdiarmid_radius(variation: f64, alpha: f64) -> f64 {
    mcdiarmid(variation, alpha)
}

/// √(V ln(1/α) / 2), V the sum of squared bounded differences.
fn mcdiarmid(variation: f64, alpha: f64) -> f64 {
    (variation * -alpha.ln() / 2.0).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;
    use leakgauge_testing::{assert_close, rng};
    use rand::RngExt;

    // References: the formulas in mpmath at 30 digits.
    #[test]
    fn formulas() {
        assert_close(dkw_radius(100, 0.05), 0.135_810_151_574_061_95, 1e-14);
        // Twice the level on one side.
        assert_close(
            dkw_one_sided_radius(100, 0.025),
            dkw_radius(100, 0.05),
            1e-14,
        );
        let radius = mcdiarmid_total_variation_radius(50, 200, 0.01);
        assert_close(radius, 0.239_926_295_609_404_06, 1e-14);
        let radius = mcdiarmid_vulnerability_radius([(0.5, 50), (0.5, 200), (0.0, 0)], 0.01);
        assert_close(radius, 0.119_963_147_804_702_03, 1e-14);
        let radius = mcdiarmid_hockey_stick_radius(50, 200, 0.0, 0.01);
        assert_close(radius, 0.239_926_295_609_404_06, 1e-14);
        let radius = mcdiarmid_hockey_stick_radius(50, 200, 1.0, 0.01);
        assert_close(radius, 0.362_106_826_756_073_7, 1e-14);
        assert_eq!(dkw_radius(0, 0.05), f64::INFINITY);
        assert_eq!(
            mcdiarmid_vulnerability_radius([(0.5, 0)], 0.1),
            f64::INFINITY
        );
    }

    /// TV(Bernoulli(0.5), Bernoulli(0.6)) = 0.1 must be under the limit in at least 90 % of runs.
    #[test]
    fn total_variation_is_covered() {
        let mut rng = rng(1);
        let radius = mcdiarmid_total_variation_radius(40, 60, 0.1);
        let covered = (0..2000)
            .filter(|_| {
                let a = (0..40).filter(|_| rng.random_bool(0.5)).count() as f64 / 40.0;
                let b = (0..60).filter(|_| rng.random_bool(0.6)).count() as f64 / 60.0;
                (a - b).abs() + radius >= 0.1
            })
            .count();
        assert!(covered >= 1800, "{covered} of 2000");
    }
}
