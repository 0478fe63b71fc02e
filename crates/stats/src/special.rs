//! Tail probabilities of the normal, χ² and Kolmogorov laws.

use std::f64::consts::{FRAC_1_SQRT_2, PI, SQRT_2, TAU};

use statrs::function::erf::erfc_inv;

use super::saddlepoint::{ln_binomial, poisson};

/// The ninth decile of the standard normal law, to five digits: an estimate falls short of the truth by more standard errors
/// than that in one of ten logs.
pub const NINTH_DECILE: f64 = 1.2816;

/// P(Z ≤ x) for a standard normal Z.
///
/// Relative error below 1e-12 for every x whose value is a normal double.
pub fn normal_cdf(x: f64) -> f64 {
    0.5 * libm::erfc(-x * FRAC_1_SQRT_2)
}

/// P(Z ≥ x) for a standard normal Z, without cancellation.
pub fn normal_survival(x: f64) -> f64 {
    normal_cdf(-x)
}

/// The x with P(Z ≤ x) = p for a standard normal Z; −∞ at 0, ∞ at 1.
///
/// An approximation by rational functions, then one step of Halley's method on [`normal_cdf`].
/// Error below 1e-14 · max(1, |x|).
///
/// # Panics
/// If p is not in \[0, 1\].
pub fn normal_quantile(p: f64) -> f64 {
    assert!((0.0..=1.0).contains(&p), "a probability, not {p}");
    if p > 0.5 {
        return -normal_quantile(1.0 - p);
    }
    if p == 0.0 {
        return f64::NEG_INFINITY;
    }
    let start = -SQRT_2 * erfc_inv(2.0 * p);
    let density = (-0.5 * start * start).exp() / TAU.sqrt();
    if density < f64::MIN_POSITIVE {
        return start;
    }
    let newton = (normal_cdf(start) - p) / density;
    start - newton / (1.0 + 0.5 * start * newton)
}

/// P(X ≥ x) for a χ² variable X with `degrees_of_freedom`; 1 for x ≤ 0.
///
/// With zero degrees of freedom X is 0. Relative error below 1e-11 up to a million degrees of
/// freedom, wherever the value is a normal double.
///
/// # Formula
/// Q(ν/2, x/2), the regularized upper incomplete gamma function: its complement's series left of
/// the mean, Legendre's continued fraction right of it.
///
/// # Panics
/// If an argument is NaN or the degrees of freedom are negative.
pub fn chi_squared_survival(x: f64, degrees_of_freedom: f64) -> f64 {
    assert!(!x.is_nan() && degrees_of_freedom >= 0.0);
    let (a, x) = (0.5 * degrees_of_freedom, 0.5 * x);
    if x <= 0.0 {
        1.0
    } else if a == 0.0 || x == f64::INFINITY {
        0.0
    } else if x < a + 1.0 {
        1.0 - lower_gamma_series(a, x)
    } else {
        upper_gamma_fraction(a, x)
    }
}

/// P(a, x) by its power series, for x < a + 1.
fn lower_gamma_series(a: f64, x: f64) -> f64 {
    let (mut term, mut sum, mut i) = (1.0, 1.0, 0.0);
    while term > sum * 1e-17 {
        i += 1.0;
        term *= x / (a + i);
        sum += term;
    }
    poisson(a, x) * sum
}

/// Q(a, x) by Legendre's continued fraction (modified Lentz), for x ≥ a + 1.
fn upper_gamma_fraction(a: f64, x: f64) -> f64 {
    let mut b = x + 1.0 - a;
    let mut c = f64::MAX.sqrt();
    let mut d = 1.0 / b;
    let mut h = d;
    for i in 1..1_000_000 {
        let i = f64::from(i);
        let numerator = i * (a - i);
        b += 2.0;
        d = 1.0 / (numerator * d + b);
        c = b + numerator / c;
        let factor = c * d;
        h *= factor;
        if (factor - 1.0).abs() < 1e-15 {
            break;
        }
    }
    poisson(a, x) * a * h
}

/// P(D_n ≥ d) for the two-sided Kolmogorov statistic of `n` independent draws of a continuous law.
///
/// Relative error below 1e-9 up to n = 140 and below 5e-6 up to n = 100 000, wherever the value
/// exceeds 1e-100; beyond, below 3e-4 where it exceeds 1e-30.
///
/// # Formula
/// Far out, twice the exact one-sided tail of Birnbaum and Tingey. Otherwise Durbin's matrix for
/// n ≤ 140 (exact) and the expansion of Pelz and Good beyond. Above 100 000 the one-sided tail is
/// exp(−(6nd+1)²/18n − 4nd⁴/9).
///
/// # Conditions
/// The law is fixed beforehand and continuous: for a law with atoms the value is too large
/// (conservative).
///
/// # References
/// Simard and L'Ecuyer (2011), 10.18637/jss.v039.i11; Marsaglia, Tsang and Wang (2003),
/// 10.18637/jss.v008.i18; Pelz and Good (1976), 10.1111/j.2517-6161.1976.tb01579.x; Maag and
/// Dicaire (1971), 10.1093/biomet/58.3.653.
///
/// # Panics
/// If d is NaN or n is 0.
pub fn kolmogorov_survival(d: f64, n: u64) -> f64 {
    assert!(!d.is_nan() && n > 0);
    let size = n as f64;
    if size * d <= 0.5 {
        return 1.0;
    }
    if d >= 1.0 {
        return 0.0;
    }
    let far = if n <= 140 { 4.0 } else { 2.2 };
    let survival = if d >= 0.5 || size * d * d >= far {
        2.0 * one_sided_kolmogorov(d, n)
    } else if n <= 140 {
        1.0 - durbin_matrix(d, n)
    } else {
        1.0 - pelz_good(d * size.sqrt(), size)
    };
    survival.clamp(0.0, 1.0)
}

/// P(D⁺_n ≥ d), 0 < d < 1.
fn one_sided_kolmogorov(d: f64, n: u64) -> f64 {
    let size = n as f64;
    if n > 100_000 {
        let root = 6.0 * size * d + 1.0;
        return (-root * root / (18.0 * size) - 4.0 / 9.0 * size * d.powi(4)).exp();
    }
    let first = (size * (-d).ln_1p()).exp();
    let last = (size * (1.0 - d)).floor() as u64;
    let rest: f64 = (1..=last.min(n - 1))
        .map(|j| {
            let j = j as f64;
            let p = d + j / size;
            if p >= 1.0 {
                return 0.0;
            }
            d / p * ln_binomial(j, size, p, 1.0 - p).exp()
        })
        .sum();
    first + rest
}

/// The four terms of Pelz and Good's expansion of P(D_n < z/√n).
fn pelz_good(z: f64, n: f64) -> f64 {
    let z2 = z * z;
    let (z4, z6) = (z2 * z2, z2 * z2 * z2);
    let (pi2, pi4, pi6) = (PI.powi(2), PI.powi(4), PI.powi(6));
    let mut k = [0.0; 4];
    let mut extra = [0.0; 2];
    for i in 1..=(16.0 * z / PI).ceil() as u32 {
        let m2 = (2.0 * f64::from(i) - 1.0).powi(2);
        let weight = (-pi2 * m2 / (8.0 * z2)).exp();
        k[0] += weight;
        k[1] += weight * (pi2 * m2 / 4.0 - z2);
        k[2] += weight
            * (6.0 * z6
                + 2.0 * z4
                + (2.0 * z4 - 5.0 * z2) * pi2 * m2 / 4.0
                + pi4 * (1.0 - 2.0 * z2) * m2 * m2 / 16.0);
        k[3] += weight
            * (-30.0 * z6 - 90.0 * z4 * z4
                + pi2 * (135.0 * z4 - 96.0 * z6) * m2 / 4.0
                + pi4 * (212.0 * z4 - 60.0 * z2) * m2 * m2 / 16.0
                + pi6 * (5.0 - 30.0 * z2) * m2 * m2 * m2 / 64.0);
        let i2 = f64::from(i).powi(2);
        let weight = i2 * (-pi2 * i2 / (2.0 * z2)).exp();
        extra[0] += weight;
        extra[1] += weight * (3.0 * z2 - pi2 * i2);
    }
    let root = TAU.sqrt();
    let k2 = k[2] / (72.0 * z6 * z) - pi2 * extra[0] / (36.0 * z2 * z);
    let k3 = k[3] / (6480.0 * z6 * z4) + pi2 * extra[1] / (216.0 * z6);
    root * (k[0] / z + k[1] / (6.0 * z4 * n.sqrt()) + k2 / n + k3 / (n * n.sqrt()))
}

/// P(D_n < d) exactly, by the power of a matrix; for ½ < nd, d < 1 and small n.
fn durbin_matrix(d: f64, n: u64) -> f64 {
    let nd = n as f64 * d;
    let k = nd.ceil() as usize;
    let m = 2 * k - 1;
    let mut base = durbin_base(k as f64 - nd, m);
    let mut power: Vec<f64> = (0..m * m)
        .map(|i| f64::from(u8::from(i / m == i % m)))
        .collect();
    // n!/n^n is multiplied in step by step: H is scaled by e/n, so that nothing overflows.
    let scale = std::f64::consts::E / n as f64;
    base.iter_mut().for_each(|x| *x *= scale);
    let mut exponent = n;
    while exponent > 0 {
        if exponent & 1 == 1 {
            power = multiply(&power, &base, m);
        }
        base = multiply(&base, &base, m);
        exponent >>= 1;
    }
    let size = n as f64;
    power[(k - 1) * m + k - 1] * (libm::lgamma(size + 1.0) - size).exp()
}

/// Durbin's matrix of size m for the remainder h.
fn durbin_base(h: f64, m: usize) -> Vec<f64> {
    let mut inverse_factorial = vec![1.0; m + 1];
    for i in 1..=m {
        inverse_factorial[i] = inverse_factorial[i - 1] / i as f64;
    }
    let mut base = vec![0.0; m * m];
    for row in 0..m {
        for column in 0..m.min(row + 2) {
            base[row * m + column] = inverse_factorial[row + 1 - column];
        }
    }
    for i in 0..m {
        let edge = (1.0 - h.powi(i as i32 + 1)) * inverse_factorial[i + 1];
        base[i * m] = edge;
        base[(m - 1) * m + m - 1 - i] = edge;
    }
    let corner = 1.0 - 2.0 * h.powi(m as i32) + (2.0 * h - 1.0).max(0.0).powi(m as i32);
    base[(m - 1) * m] = corner * inverse_factorial[m];
    base
}

/// The product of two square matrices of size m, row by row.
fn multiply(a: &[f64], b: &[f64], m: usize) -> Vec<f64> {
    let mut product = vec![0.0; m * m];
    for (row, out) in a.chunks_exact(m).zip(product.chunks_exact_mut(m)) {
        for (&x, other) in row.iter().zip(b.chunks_exact(m)) {
            for (o, &y) in out.iter_mut().zip(other) {
                *o += x * y;
            }
        }
    }
    product
}

#[cfg(test)]
mod tests {
    use super::*;
    use leakgauge_testing::{assert_close, golden};

    #[test]
    fn normal_cdf_agrees_with_mpmath() {
        for [x, p] in golden(include_str!("../../../tests/golden/stats_normal_cdf.json")) {
            assert_close(normal_cdf(x), p, 1e-12);
            assert_close(normal_survival(-x), p, 1e-12);
        }
    }

    #[test]
    fn normal_quantile_agrees_with_mpmath() {
        for [p, x] in golden(include_str!(
            "../../../tests/golden/stats_normal_quantile.json"
        )) {
            let error = (normal_quantile(p) - x).abs();
            assert!(error <= 1e-14 * x.abs().max(1.0), "{p}: {error:e}");
        }
        assert_eq!(normal_quantile(0.0), f64::NEG_INFINITY);
        assert_eq!(normal_quantile(1.0), f64::INFINITY);
    }

    #[test]
    fn chi_squared_survival_agrees_with_mpmath() {
        for [x, df, p] in golden(include_str!("../../../tests/golden/stats_chi_squared.json")) {
            assert_close(chi_squared_survival(x, df), p, 1e-11);
        }
        assert_eq!(chi_squared_survival(0.0, 3.0), 1.0);
        assert_eq!(chi_squared_survival(1.0, 0.0), 0.0);
    }

    #[test]
    fn kolmogorov_survival_agrees_with_scipy() {
        for [d, n, p] in golden(include_str!("../../../tests/golden/stats_kolmogorov.json")) {
            let relative = if n <= 1e5 { 5e-6 } else { 1e-4 };
            assert_close(kolmogorov_survival(d, n as u64), p, relative);
        }
    }

    proptest::proptest! {
        #[test]
        fn quantile_inverts_the_cdf(x in -37.0..8.0_f64) {
            let p = normal_cdf(x);
            // Near 1 the double p has lost the tail: 1e-16 there is 1e-16/density in x.
            let density = (-0.5 * x * x).exp() / TAU.sqrt();
            let lost = if x > 0.0 { 1.2e-16 / density } else { 0.0 };
            assert!((normal_quantile(p) - x).abs() <= 1e-13 * x.abs().max(1.0) + lost);
        }

        #[test]
        fn survivals_fall(d in 0.001..0.99_f64, n in 1..2000_u64, df in 1..500_u32) {
            assert!(kolmogorov_survival(d * 1.01, n) <= kolmogorov_survival(d, n) * (1.0 + 1e-5));
            let x = 3.0 * d * f64::from(df);
            let (here, there) = (
                chi_squared_survival(x, f64::from(df)),
                chi_squared_survival(x * 1.001, f64::from(df)),
            );
            assert!(there <= here && (0.0..=1.0).contains(&here));
        }
    }
}
