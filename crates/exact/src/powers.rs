//! Powers of likelihood ratios without cancellation near 1 and without overflow.

/// r^α − 1 − αd, where r = 1 + d, without cancellation.
pub(crate) fn power_excess(d: f64, ratio: f64, order: f64) -> f64 {
    if d == 0.0 {
        return 0.0;
    }
    if d.abs() <= 0.25 && order * d.abs() <= 0.5 {
        // The binomial series from its second power on.
        let mut term = order * (order - 1.0) / 2.0 * d * d;
        let (mut sum, mut k) = (0.0, 2.0);
        while term.abs() > 1e-18 * f64::abs(sum) && k < 200.0 {
            sum += term;
            term *= (order - k) / (k + 1.0) * d;
            k += 1.0;
        }
        return sum;
    }
    if ratio == 0.0 {
        return order - 1.0;
    }
    // Near 1 the ratio has lost digits that d has.
    let log = if d.abs() < 0.5 { d.ln_1p() } else { ratio.ln() };
    if order < 0.5 {
        return (order * log).exp_m1() - order * d;
    }
    // r^α = r·r^(α − 1).
    ratio * ((order - 1.0) * log).exp_m1() - (order - 1.0) * d
}

/// (1 + d)·ln(1 + d) − d without cancellation.
pub(crate) fn entropy_excess(d: f64) -> f64 {
    if d <= -1.0 {
        return 1.0;
    }
    if d.abs() > 0.1 {
        return (1.0 + d) * d.ln_1p() - d;
    }
    // Σ (−1)^k d^k/(k(k − 1)), k from 2.
    let (mut power, mut sum) = (d * d, 0.0);
    for k in 2..24 {
        let k = f64::from(k);
        sum += power / (k * (k - 1.0));
        power *= -d;
    }
    sum
}
