//! The upper tail of Student's law.

/// The probability that a variable of Student's law with `freedom` degrees of freedom exceeds `t ≥ 0`.
///
/// # Formula
/// ½·I_x(ν/2, ½) with x = ν/(ν + t²), by the continued fraction of the incomplete beta function (Lentz's method).
pub(crate) fn survival(t: f64, freedom: f64) -> f64 {
    if t <= 0.0 {
        return 0.5;
    }
    let x = freedom / (freedom + t * t);
    let (a, b) = (0.5 * freedom, 0.5);
    let front = libm::lgamma(a + b) - libm::lgamma(a) - libm::lgamma(b)
        + a * libm::log(x)
        + b * libm::log1p(-x);
    let tail = if x < (a + 1.0) / (a + b + 2.0) {
        libm::exp(front) * fraction(a, b, x) / a
    } else {
        1.0 - libm::exp(front) * fraction(b, a, 1.0 - x) / b
    };
    0.5 * tail
}

fn fraction(a: f64, b: f64, x: f64) -> f64 {
    const TINY: f64 = 1e-300;
    let away = |value: f64| if value.abs() < TINY { TINY } else { value };
    let mut c = 1.0;
    let mut d = 1.0 / away(1.0 - (a + b) * x / (a + 1.0));
    let mut result = d;
    for m in 1..500 {
        let m = f64::from(m);
        let even = m * (b - m) * x / ((a + 2.0 * m - 1.0) * (a + 2.0 * m));
        let odd = -(a + m) * (a + b + m) * x / ((a + 2.0 * m) * (a + 2.0 * m + 1.0));
        let mut change = 1.0;
        for term in [even, odd] {
            d = 1.0 / away(1.0 + term * d);
            c = away(1.0 + term / c);
            change = c * d;
            result *= change;
        }
        if (change - 1.0).abs() < 1e-15 {
            break;
        }
    }
    result
}

/// The value that a variable of Student's law exceeds with probability `alpha < ½`, from above.
pub(crate) fn upper_quantile(alpha: f64, freedom: f64) -> f64 {
    let (mut low, mut high) = (0.0, 1.0);
    while survival(high, freedom) > alpha {
        low = high;
        high *= 2.0;
        if high > 1e30 {
            return f64::INFINITY;
        }
    }
    for _ in 0..80 {
        let middle = 0.5 * (low + high);
        if survival(middle, freedom) > alpha {
            low = middle;
        } else {
            high = middle;
        }
    }
    high
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Tables of the law: 95 %, 97.5 %, 99.9 % and 99.95 % points.
    #[test]
    fn quantiles_are_those_of_tables() {
        for (alpha, freedom, expected) in [
            (0.05, 7.0, 1.8946),
            (0.025, 7.0, 2.3646),
            (0.001, 15.0, 3.7328),
            (0.0005, 15.0, 4.0728),
            (0.0005, 120.0, 3.3735),
        ] {
            let found = upper_quantile(alpha, freedom);
            assert!((found - expected).abs() < 6e-5, "{found} {expected}");
        }
    }

    /// The tail far out against Simpson's rule on the density in ln t.
    #[test]
    fn tails_are_integrals_of_the_density() {
        for (t, freedom) in [(3.0, 7.0), (8.0, 15.0), (6.5, 31.0), (6.0, 127.0)] {
            let ln_scale = libm::lgamma(0.5 * (freedom + 1.0))
                - libm::lgamma(0.5 * freedom)
                - 0.5 * libm::log(freedom * std::f64::consts::PI);
            let density = |s: f64| {
                let t = libm::exp(s);
                t * libm::exp(ln_scale - 0.5 * (freedom + 1.0) * libm::log1p(t * t / freedom))
            };
            let (from, steps) = (libm::log(t), 20_000);
            let width = 8.0 / f64::from(steps);
            let sum: f64 = (0..=steps)
                .map(|at| {
                    let weight = if at == 0 || at == steps {
                        1.0
                    } else {
                        f64::from(2 + 2 * (at % 2))
                    };
                    weight * density(from + width * f64::from(at))
                })
                .sum();
            let (expected, found) = (sum * width / 3.0, survival(t, freedom));
            assert!((found / expected - 1.0).abs() < 1e-8, "{found} {expected}");
        }
    }
}
