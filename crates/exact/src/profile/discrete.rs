//! Two secrets with discrete Gaussian noise.

use std::f64::consts::PI;

use libm::{exp, expm1, log, log1p};

use super::cells::{Cell, Side, apart, log_sum};
use crate::extreme::Extreme;

pub(super) fn divergence(sigma: f64, distance: f64, order: f64) -> f64 {
    let ratio = distance / sigma;
    // The place of the shifted weights between two whole numbers.
    let shift = ((1.0 - order) * distance).rem_euclid(1.0);
    if order == 1.0 || shift == 0.0 || order * distance > 1e15 {
        return 0.5 * order * ratio * ratio;
    }
    0.5 * order * ratio * ratio + shifted_sum(sigma, shift) / (order - 1.0)
}

/// ln(Σ_z e^(−(z − c)²/2σ²)/Σ_z e^(−z²/2σ²)) over the whole numbers z.
///
/// # Formula
/// For σ from ½ on both sums are theta functions, 1 + 2·Σ_k e^(−2π²σ²k²)·cos(2πkc) up to a common factor, by Poisson
/// summation: their difference has the terms −4·e^(−2π²σ²k²)·sin²(πkc).
fn shifted_sum(sigma: f64, shift: f64) -> f64 {
    if sigma >= 0.5 {
        let term = |k: f64| exp(-2.0 * PI * PI * sigma * sigma * k * k);
        let sine = |k: f64| (PI * k * shift).sin();
        let powers = || (1..=8).map(f64::from);
        let whole = 1.0 + 2.0 * powers().map(term).sum::<f64>();
        let change: f64 = powers().map(|k| term(k) * sine(k) * sine(k)).sum();
        return log1p(-4.0 * change / whole);
    }
    let sum = |center: f64| -> f64 {
        (-21..=21)
            .map(|z| {
                let x = (f64::from(z) - center) / sigma;
                exp(-0.5 * x * x)
            })
            .sum()
    };
    log(sum(shift) / sum(0.0))
}

pub(super) fn cells(sigma: f64, distance: f64) -> Vec<Cell> {
    let reach = (38.0 * sigma).ceil() as i64 + 1;
    let weight = |z: f64| exp(-0.5 * (z / sigma) * (z / sigma));
    let total: f64 = (-reach..=reach).map(|z| weight(z as f64)).sum();
    let cells = -reach..=reach + distance as i64;
    cells
        .map(|z| {
            let z = z as f64;
            let (p, q) = (weight(z - distance) / total, weight(z) / total);
            // p − q = q·(e^loss − 1).
            let loss = loss(sigma, distance, z);
            let difference = if loss < 0.5 { q * expm1(loss) } else { p - q };
            Cell {
                p,
                q,
                difference,
                loss,
            }
        })
        .collect()
}

/// ln P(z)/Q(z).
pub(super) fn loss(sigma: f64, distance: f64, z: f64) -> f64 {
    distance * (z - 0.5 * distance) / (sigma * sigma)
}

/// From this σ on the middle of the curve is looked at alone.
pub(super) const WIDE: f64 = 30.0;

/// μ of discrete Gaussian noise around Δ and around 0.
///
/// # Formula
/// Events are half-lines of whole numbers, and only they are corners of the trade-off curve. P(z ≥ k) is the sum of
/// e^(−k²/2σ²)·e^(−(2kj + j²)/2σ²) over j ≥ 0. The difference of the normal quantiles is largest near k = Δ/2, which is
/// the middle of the curve, and approaches Δ/σ far out; corners are searched from the middle until k is many times σ².
/// For large σ the quantile of P(z ≥ k) grows by (1 + 1/24σ²)/σ per step in the middle and by at most (1 + 1/40σ²)/σ
/// far out, up to higher powers of 1/σ, so that the middle is largest. That is an expansion and no proof; by sums of 40
/// digits (mpmath) for σ = 30, 45 and 100 and Δ = 1, 2, 5 and 30, all corners tried up to 14σ are below the middle, the
/// next by 1.1e-6/σ⁴ of it.
pub(super) fn gaussian_mu(sigma: f64, distance: f64) -> f64 {
    if distance == 0.0 {
        return 0.0;
    }
    let log_total = log_sum(log_tail(sigma, 0.0), log_tail(sigma, 1.0));
    let of_all = |k: f64| {
        if k >= 1.0 {
            log_tail(sigma, k) - log_total
        } else {
            // All but what is below k, which is as much as from 1 − k on.
            log1p(-exp(log_tail(sigma, 1.0 - k) - log_total))
        }
    };
    let side = |k: f64| (of_all(k), of_all(1.0 - k));
    let apart_at = |k: f64| {
        let ((log_q, log_rest_q), (log_p, log_rest_p)) = (side(k), side(k - distance));
        let (p, q) = (exp(log_p), exp(log_q));
        // Terms that P has and Q has not; few enough to add where the difference is small.
        let difference = if distance < 0.5 * sigma {
            let weight = |z: f64| exp(-0.5 * (z / sigma) * (z / sigma) - log_total);
            (0..distance as u64)
                .map(|i| weight(k - 1.0 - i as f64))
                .sum()
        } else {
            p - q
        };
        let taken = Side {
            p,
            q,
            difference,
            log_p,
            log_q,
        };
        let (rest_p, rest_q) = (exp(log_rest_p), exp(log_rest_q));
        let left = Side {
            p: rest_p,
            q: rest_q,
            difference: -difference,
            log_p: log_rest_p,
            log_q: log_rest_q,
        };
        apart(&taken, &left)
    };
    let first = (0.5 * distance).floor() + 1.0;
    // The corner in the middle is always among them.
    let last = if sigma <= WIDE {
        first.at_least(0.5 * distance + 40.0 * (sigma + sigma * sigma))
    } else {
        first
    };
    let mut most = distance / sigma;
    let mut step = 0.0;
    while first + step <= last {
        most = most.at_least(apart_at(first + step));
        step = if step < 12.0 {
            step + 1.0
        } else {
            (1.4 * step).floor()
        };
    }
    most
}

/// ln Σ_{z ≥ k} e^(−z²/2σ²) for k ≥ 0.
pub(super) fn log_tail(sigma: f64, k: f64) -> f64 {
    let scale = 0.5 / (sigma * sigma);
    let mut sum = 0.0;
    for j in 0u64.. {
        let j = j as f64;
        let term = exp(-scale * j * (2.0 * k + j));
        sum += term;
        if term < 1e-18 * sum {
            break;
        }
    }
    log(sum) - scale * k * k
}

#[cfg(test)]
mod tests {
    /// By sums of the weights with 25 digits (mpmath 1.3), over corners up to 12σ² from the middle.
    #[test]
    fn mu_is_that_of_the_sums_of_weights() {
        for (sigma, distance, expected) in [
            (0.3, 1.0, 5.332_302_371_660_3),
            (0.7, 4.0, 6.190_653_940_110_1),
            (2.0, 3.0, 1.515_958_071_855_3),
            (3.0, 1.0, 0.334_891_729_092_59),
        ] {
            let found = super::gaussian_mu(sigma, distance);
            assert!((found / expected - 1.0).abs() < 1e-12, "{sigma}: {found}");
        }
        let wide = super::gaussian_mu(1e5, 1.0) * 1e5;
        assert!((wide - 1.0).abs() < 1e-9, "{wide}");
        assert_eq!(super::gaussian_mu(2.0, 0.0), 0.0);
    }
}
