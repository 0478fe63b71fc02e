//! The smallest ρ of zero-concentrated differential privacy: a supremum over all orders.

use libm::{exp, log};

use super::search::highest;
use crate::extreme::Extreme;

/// Between orders that are looked at no value exceeds the largest one by more than this part of it, before the largest is
/// looked for between its neighbors.
const NEAR: f64 = 1e-3;
/// The smallest α − 1 that is looked at; below, divergences are bounded by that of this order.
const FIRST: f64 = 1e-9;
/// Where the orders end that fit into a number with their square.
const LAST: f64 = 1e150;
/// The most divergences that are computed; what is left then counts by its bound.
const MAX_ORDERS: usize = 3000;

/// sup D_α/α over all α ≥ 1.
///
/// # Formula
/// With s = α − 1, K(s) = s·D_{1+s} = ln E_P\[(P/Q)^s\] is convex, so that between two orders it is at most its chord A + B·s.
/// A is at most K(0) = 0, so (A + B·s)/(s(s + 1)) is largest at s = (−A + √(A(A − B)))/B, or at the end nearer to that. An
/// interval whose bound exceeds the largest value found by more than a part in a thousand is halved; then the largest is
/// looked for between its neighbors. D_α/α of all orders from α on is at most `beyond`(α), which ends the search: no order
/// is left out.
///
/// # References
/// T. van Erven, P. Harremoës, *Rényi divergence and Kullback-Leibler divergence*, theorem 3 and corollary 2,
/// doi:10.1109/TIT.2014.2320500.
pub(super) fn supremum(divergence: impl Fn(f64) -> f64, beyond: impl Fn(f64) -> f64) -> f64 {
    let at = |s: f64| {
        // The order is rounded: α − 1 is what is left of it.
        let order = 1.0 + s;
        let (s, divergence) = (order - 1.0, divergence(order));
        Order { s, divergence }
    };
    let limit = divergence(1.0);
    let first = at(FIRST);
    let mut best = limit.at_least(first.value());
    let mut orders = vec![first];
    // Widening steps up to where no order can exceed the best.
    let (mut left, mut rest) = (first, 0.0);
    while best.is_finite() && beyond(1.0 + left.s) > best {
        if left.s >= LAST {
            rest = beyond(1.0 + left.s);
            break;
        }
        left = at((left.s * if left.s > 1e9 { 16.0 } else { 4.0 }).at_most(LAST));
        best = best.at_least(left.value());
        orders.push(left);
    }
    if !best.is_finite() {
        return best;
    }
    let mut open: Vec<(Order, Order)> = orders.windows(2).map(|x| (x[0], x[1])).collect();
    while let Some((left, right)) = open.pop() {
        let bound = left.bound(right);
        if bound <= best * (1.0 + NEAR) {
            continue;
        }
        let middle = at((left.s * right.s).sqrt());
        if orders.len() >= MAX_ORDERS || middle.s <= left.s || middle.s >= right.s {
            rest = rest.at_least(bound);
            continue;
        }
        best = best.at_least(middle.value());
        orders.push(middle);
        open.push((left, middle));
        open.push((middle, right));
    }
    orders.sort_by(|x, y| x.s.total_cmp(&y.s));
    let value = |log_s: f64| at(exp(log_s)).value();
    for near in orders.windows(3) {
        let [left, top, right] = near else { continue };
        let is_top = top.value() >= left.value() && top.value() >= right.value();
        if is_top && top.value() > best * (1.0 - 2.0 * NEAR) {
            best = best.at_least(highest((log(left.s), log(right.s)), value));
        }
    }
    best.at_least(rest)
}

/// A divergence and its order, as s = α − 1.
#[derive(Clone, Copy)]
struct Order {
    s: f64,
    divergence: f64,
}

impl Order {
    /// D_α/α.
    fn value(self) -> f64 {
        self.divergence / (1.0 + self.s)
    }

    /// The largest value of the chord of K over s(s + 1) up to another order.
    fn bound(self, next: Order) -> f64 {
        // In units of the left order, so that no product overflows.
        let unit = self.s;
        let (low, high) = (self.divergence, next.s / unit * next.divergence);
        let slope = (high - low) / (next.s / unit - 1.0);
        let chord = |x: f64| (low + slope * (x - 1.0)) / (x * (1.0 + x * unit));
        let ends = chord(1.0).at_least(chord(next.s / unit));
        if slope <= 0.0 {
            return ends;
        }
        // Where the derivative is 0: unit·x² + 2·start·unit·x + start = 0, with the chord's value at 0 over its slope.
        let start = (low / slope - 1.0).at_most(0.0);
        let top = (start * start - start / unit).sqrt() - start;
        if top > 1.0 && top < next.s / unit {
            ends.at_least(chord(top))
        } else {
            ends
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::extreme::Extreme;
    use crate::mechanism::parse;
    use crate::profile::{Cell, Pair};
    use proptest::prelude::*;

    fn table() -> serde_json::Value {
        serde_json::from_str(include_str!("../../../../tests/golden/exact_orders.json")).unwrap()
    }

    fn largest(text: &str, figure: impl Fn(&Pair) -> Option<f64>) -> f64 {
        let bound = parse(text).unwrap().bind_declared().unwrap();
        let pairs = bound.pairs().unwrap();
        let found: Vec<f64> = pairs.iter().map(|pair| figure(pair).unwrap()).collect();
        found.into_iter().fold(0.0, f64::at_least)
    }

    /// The supremum may be at any order: here between 1 and 1e9.
    #[test]
    fn rho_is_the_supremum_over_all_orders() {
        for row in table()["rho"].as_array().unwrap() {
            let (text, expected) = (row[0].as_str().unwrap(), row[1].as_f64().unwrap());
            let found = largest(text, Pair::concentrated_rho);
            let error = found / expected - 1.0;
            assert!((-1e-12..1e-9).contains(&error), "{text}: {found:e}");
        }
    }

    #[test]
    fn divergences_of_subsampled_discrete_noise_are_those_of_its_sums() {
        for row in table()["subsampled"].as_array().unwrap() {
            let number = |at: usize| row[at].as_f64().unwrap();
            let base = Pair::DiscreteGaussian {
                sigma: number(0),
                distance: number(4),
            };
            let pair = Pair::Subsampled {
                base: Box::new(base),
                rate: number(1),
                reversed: row[3].as_bool().unwrap(),
            };
            let found = pair.renyi_divergence(number(2)).unwrap();
            assert!((found / number(5) - 1.0).abs() < 1e-11, "{row}: {found:e}");
        }
    }

    /// Whole orders have a binomial sum: E\[(1 − r + r·e^L)^α\] = Σ C(α, k)(1 − r)^(α − k) r^k e^(k(k − 1)Δ²/2σ²).
    #[test]
    fn whole_orders_of_subsampled_discrete_noise_are_binomial_sums() {
        for (sigma, rate) in [
            (1.0, 0.1),
            (2.0, 0.01),
            (0.4, 0.5),
            (30.0, 0.9),
            (0.05, 1e-4),
        ] {
            for order in [2u32, 3, 8, 20, 61] {
                let (alpha, each) = (f64::from(order), 0.5 / (sigma * sigma));
                let mut binomial = 1.0f64;
                let mut logs = Vec::new();
                for k in 0..=order {
                    let x = f64::from(k);
                    logs.push(
                        binomial.ln()
                            + (alpha - x) * f64::ln_1p(-rate)
                            + x * rate.ln()
                            + x * (x - 1.0) * each,
                    );
                    binomial *= (alpha - x) / (x + 1.0);
                }
                let most = logs.iter().copied().fold(f64::NEG_INFINITY, f64::at_least);
                let sum: f64 = logs.iter().map(|log| (log - most).exp()).sum();
                let expected = (most + sum.ln()) / (alpha - 1.0);
                let text = format!("subsampled(discrete-gaussian(sigma={sigma}), rate={rate})");
                let found = largest(&text, |pair| pair.renyi_divergence(alpha));
                let rounding = 1e-11 * expected + 1e-13;
                assert!(
                    (found - expected).abs() < rounding,
                    "{text} {order}: {found:e} {expected:e}"
                );
            }
        }
    }

    #[test]
    fn mu_of_narrow_discrete_noise_is_not_that_of_gaussian_noise() {
        for row in table()["mu"].as_array().unwrap() {
            let (text, expected) = (row[0].as_str().unwrap(), row[1].as_f64().unwrap());
            let found = largest(text, Pair::gaussian_mu);
            assert!((found / expected - 1.0).abs() < 1e-9, "{text}: {found}");
        }
    }

    /// ln Σ p^α q^(1 − α) by its definition.
    fn log_moment(cells: &[(f64, f64)], order: f64) -> f64 {
        let log = |&(p, q): &(f64, f64)| order * p.ln() + (1.0 - order) * q.ln();
        let most = cells.iter().map(log).fold(f64::NEG_INFINITY, f64::at_least);
        let sum: f64 = cells.iter().map(|cell| (log(cell) - most).exp()).sum();
        most + sum.ln()
    }

    proptest! {
        /// No supremum over a part of the orders: D_α/α of no order of many decades exceeds ρ. The masses of the first
        /// observation go down to e^−40 under both.
        #[test]
        fn no_order_exceeds_rho(
            logs in prop::collection::vec((-40.0..0.0f64, -12.0..12.0f64), 1..6),
            places in prop::collection::vec(-6.0..14.0f64, 40),
        ) {
            let raw: Vec<(f64, f64)> = logs.iter().map(|(p, l)| (p.exp(), (p - l).exp())).collect();
            let sums = raw.iter().fold((1.0, 1.0), |s, c| (s.0 + c.0, s.1 + c.1));
            let mut cells: Vec<(f64, f64)> =
                raw.iter().map(|(p, q)| (p / sums.0, q / sums.1)).collect();
            cells.push((1.0 / sums.0, 1.0 / sums.1));
            let pair = Pair::Cells(cells.iter().map(|&(p, q)| Cell::new(p, q)).collect());
            let rho = pair.concentrated_rho().unwrap();
            for place in places {
                let order = 1.0 + 10f64.powf(place);
                // Logarithms of up to 60 are rounded, and so are the masses.
                let rounding = 1e-13 * order / (order - 1.0);
                let value = log_moment(&cells, order) / (order - 1.0);
                prop_assert!(rho * order * (1.0 + 1e-11) >= value - rounding, "{rho:e} at {order:e}: {value:e}");
            }
        }
    }

    /// The same of mechanisms whose divergences are integrals, with divergences of the program.
    #[test]
    fn no_order_of_quick_mechanisms_exceeds_rho() {
        let quick = [
            "laplace(scale=1, secrets=2)",
            "laplace(scale=1e-3, secrets=2)",
            "subsampled(randomized-response(epsilon=1e-4, secrets=50), rate=0.01)",
            "rappor(epsilon=1, secrets=3)",
            "staircase(epsilon=1e-4, secrets=3)",
            "geometric(nu=1e-5, secrets=3)",
        ];
        no_order_of_these_exceeds_rho(&quick, 8);
    }

    #[test]
    #[ignore = "ten minutes of integrals"]
    fn no_order_of_any_mechanism_exceeds_rho() {
        let all = [
            "laplace(scale=1, secrets=2)",
            "laplace(scale=1e-3, secrets=2)",
            "planar-laplace(scale=0.5, secrets=0..1)",
            "subsampled(laplace(scale=0.05), rate=1e-6)",
            "subsampled(planar-laplace(scale=0.2, secrets=0..1), rate=1e-4)",
            "subsampled(gaussian(sigma=0.8), rate=0.7, relation=replace)",
            "subsampled(gaussian(sigma=0.8), rate=0.2, relation=replace)",
            "subsampled(laplace(scale=0.2), rate=0.01, relation=replace)",
            "subsampled(discrete-gaussian(sigma=1), rate=0.1)",
            "subsampled(randomized-response(epsilon=1e-4, secrets=5000), rate=0.01)",
            "rappor(epsilon=1, secrets=30)",
            "staircase(epsilon=1e-4, secrets=3)",
            "geometric(nu=1e-5, secrets=3)",
        ];
        no_order_of_these_exceeds_rho(&all, 1);
    }

    /// At every so many of 80 orders between 1.00001 and 10^15.
    fn no_order_of_these_exceeds_rho(texts: &[&str], every: usize) {
        for text in texts {
            let bound = parse(text).unwrap().bind_declared().unwrap();
            for pair in bound.pairs().unwrap() {
                let rho = pair.concentrated_rho().unwrap();
                assert!(rho > 0.0, "{text}: {rho}");
                let mut best = 0.0f64;
                for step in (-20..60).step_by(every) {
                    let order = 1.0 + 10f64.powf(0.25 * f64::from(step));
                    best = best.at_least(pair.renyi_divergence(order).unwrap() / order);
                }
                assert!(best <= rho * (1.0 + 1e-9), "{text}: {best:e} {rho:e}");
            }
        }
    }
}
