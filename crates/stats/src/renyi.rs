//! Rényi divergence of two Bernoulli laws: what a test between two secrets says of zero-concentrated
//! differential privacy.

/// Orders tried, as α − 1 over powers of 10: below, D_α/α is within a part in a thousand of its value at the end. Above,
/// steps of the same width go on until no larger order can exceed the best one.
const LOWEST: f64 = -3.0;
const HIGHEST: f64 = 6.0;
/// α − 1 of the largest order that fits into a number with its square.
const LAST: f64 = 150.0;

/// P and Q, the laws of "the test says a" under the two secrets, with P(a) > Q(a).
#[derive(Debug, Clone, Copy)]
struct Bernoullis {
    ln_p: f64,
    ln_not_p: f64,
    p: f64,
    not_p: f64,
    /// ln(p/q) > 0.
    up: f64,
    /// ln((1 − p)/(1 − q)) < 0.
    down: f64,
}

impl Bernoullis {
    /// From 1 − p and q.
    fn new(missed: f64, false_alarm: f64) -> Self {
        let (ln_p, ln_not_p) = ((-missed).ln_1p(), missed.ln());
        Bernoullis {
            ln_p,
            ln_not_p,
            p: 1.0 - missed,
            not_p: missed,
            up: ln_p - false_alarm.ln(),
            down: ln_not_p - (-false_alarm).ln_1p(),
        }
    }

    /// The Kullback–Leibler divergence, which is D_α/α at α → 1.
    fn kullback_leibler(&self) -> f64 {
        let rest = if self.not_p > 0.0 {
            self.not_p * self.down
        } else {
            0.0
        };
        self.p * self.up + rest
    }

    /// D_α(P ‖ Q)/α at α = 1 + s.
    fn per_order(&self, s: f64) -> f64 {
        /// e to this is far from overflow.
        const LARGE: f64 = 600.0;
        let up = s * self.up;
        let ln_moment = if up < LARGE {
            // Σ P (P/Q)^s − 1, whose two parts nearly cancel only if P and Q are nearly equal.
            let rest = if self.not_p > 0.0 {
                self.not_p * (s * self.down).exp_m1()
            } else {
                0.0
            };
            (self.p * up.exp_m1() + rest).ln_1p()
        } else {
            let (large, small) = (self.ln_p + up, self.ln_not_p + s * self.down);
            large + (small - large).exp().ln_1p()
        };
        ln_moment / (s * (1.0 + s))
    }

    /// The largest D_α/α of `steps` orders, and the logarithm of its α − 1.
    fn largest(&self, steps: u32) -> (f64, f64) {
        let width = (HIGHEST - LOWEST) / f64::from(steps);
        let mut best = (self.kullback_leibler(), f64::NEG_INFINITY);
        for step in 0u32.. {
            let exponent = LOWEST + width * f64::from(step);
            if exponent > LAST || best.0 == f64::INFINITY {
                break;
            }
            let s = 10f64.powf(exponent);
            let value = self.per_order(s);
            if value > best.0 {
                best = (value, exponent);
            }
            // D_α never exceeds D_∞ = ln(p/q).
            if self.up / (1.0 + s) < best.0 {
                break;
            }
        }
        best
    }

    /// The largest D_α/α, refined between the neighbors of the best of a grid.
    fn supremum(&self) -> f64 {
        const STEPS: u32 = 90;
        const GOLDEN: f64 = 0.618_033_988_749_894_9;
        let (mut best, at) = self.largest(STEPS);
        if at == f64::NEG_INFINITY {
            return best;
        }
        let width = (HIGHEST - LOWEST) / f64::from(STEPS);
        let (mut low, mut high) = (at - width, at + width);
        let value = |exponent: f64| self.per_order(10f64.powf(exponent));
        for _ in 0..40 {
            let (x, y) = (high - GOLDEN * (high - low), low + GOLDEN * (high - low));
            let (at_x, at_y) = (value(x), value(y));
            best = best.max(at_x).max(at_y);
            if at_x >= at_y {
                high = y;
            } else {
                low = x;
            }
        }
        best
    }
}

/// The ρ that ρ-zero-concentrated differential privacy needs at least, given the error rates of a
/// test between two secrets or upper limits of both; 0 for a test no better than guessing.
///
/// # Formula
/// sup over α > 1 of max(D_α(P ‖ Q), D_α(Q ‖ P))/α for the laws P = Bernoulli(1 − `missed`) and
/// Q = Bernoulli(`false_alarm`), α → 1 being the Kullback–Leibler divergence. Any α gives a valid ρ,
/// so what the search over α misses is on the safe side.
///
/// Upper limits of both error rates leave p ≥ p₀ = 1 − `missed` and q ≤ q₀ = `false_alarm`. Where
/// p₀ > q₀ every divergence is smallest at the corner (p₀, q₀): of M = p^α q^(1−α) + (1−p)^α (1−q)^(1−α)
/// the derivative by p is α((p/q)^(α−1) − ((1−p)/(1−q))^(α−1)) ≥ 0, and that by q is
/// −(α−1)((p/q)^α − ((1−p)/(1−q))^α) ≤ 0, for p ≥ q. D_α(Q ‖ P) is the same of 1 − q and 1 − p.
/// Where p₀ ≤ q₀ the box has a point with p = q, and every divergence is 0 there.
///
/// # References
/// M. Bun, T. Steinke, *Concentrated differential privacy*, Definition 1.1,
/// doi:10.1007/978-3-662-53641-4_24. T. van Erven, P. Harremoës, *Rényi divergence and
/// Kullback-Leibler divergence*, Theorem 1 (data processing), doi:10.1109/TIT.2014.2320500.
pub fn concentrated_at_least(missed: f64, false_alarm: f64) -> f64 {
    of_both(missed, false_alarm, |laws| laws.supremum())
}

/// [`concentrated_at_least`] from a dozen orders only, for choosing among many tests.
pub fn concentrated_about(missed: f64, false_alarm: f64) -> f64 {
    of_both(missed, false_alarm, |laws| laws.largest(18).0)
}

/// The ε that (α, ε)-Rényi differential privacy needs at least, given the error rates of a test between two
/// secrets or upper limits of both; 0 for a test no better than guessing, infinite for one that rules a secret out.
///
/// # Formula
/// max(D_α(P ‖ Q), D_α(Q ‖ P)) for the laws and with the argument of [`concentrated_at_least`];
/// D_α = ln(p^α q^(1−α) + (1 − p)^α (1 − q)^(1−α))/(α − 1).
///
/// # Conditions
/// `order`, α, is above 1.
///
/// # References
/// I. Mironov, *Rényi differential privacy*, Definitions 3 and 4, doi:10.1109/CSF.2017.11; van Erven and
/// Harremoës as above.
pub fn divergence_at_least(missed: f64, false_alarm: f64, order: f64) -> f64 {
    of_both(missed, false_alarm, |laws| {
        order * laws.per_order(order - 1.0)
    })
}

/// The Rényi divergence of order α > 0 of Bernoulli(`success`) from Bernoulli(`blind`), in nats, lowered by what
/// rounding may add; 0 where `success` is at most `blind`. Order 1 is the Kullback–Leibler divergence, order ∞
/// ln(success/blind).
///
/// # Formula
/// Sibson's information is I_α(S; O) = min_Q D_α(P_SO ‖ P_S × Q). Whether a guess from O is right is one bit of (S, O),
/// of probability V under P_SO and at most max π under P_S × Q, whatever Q is. Processing does not raise divergences,
/// and this one falls in its second argument up to V: I_α ≥ d_α(V ‖ max π). It grows in V, so that a lower limit of V
/// gives one of I_α.
///
/// # References
/// Y. Polyanskiy, S. Verdú, *Arimoto channel coding converse and Rényi divergence*,
/// doi:10.1109/ALLERTON.2010.5707067; van Erven and Harremoës as above.
pub fn success_divergence(success: f64, blind: f64, order: f64) -> f64 {
    /// What logarithms and their sums may be off by.
    const ROUNDING: f64 = 1e-13;
    if success <= blind || blind <= 0.0 {
        return 0.0;
    }
    /// Closer to 1 than this, the limit of a smaller order serves: divergences grow with the order.
    const NEAR: f64 = 1e-6;
    let order = if (order - 1.0).abs() < NEAR {
        if order < 1.0 { 1.0 - NEAR } else { 1.0 }
    } else {
        order
    };
    let term = |p: f64, q: f64| if p > 0.0 { p * (p / q).ln() } else { 0.0 };
    let divergence = if order == f64::INFINITY {
        (success / blind).ln()
    } else if order == 1.0 {
        term(success, blind) + term(1.0 - success, 1.0 - blind)
    } else {
        let log = |p: f64, q: f64| order * p.ln() + (1.0 - order) * q.ln();
        let logs = [log(success, blind), log(1.0 - success, 1.0 - blind)];
        let most = logs[0].max(logs[1]);
        let sum: f64 = logs.iter().map(|log| (log - most).exp()).sum();
        (most + sum.ln()) / (order - 1.0)
    };
    let allowance = ROUNDING * (1.0 + 1.0 / (order - 1.0).abs().max(NEAR));
    (divergence - allowance).max(0.0)
}

fn of_both(missed: f64, false_alarm: f64, of: impl Fn(&Bernoullis) -> f64) -> f64 {
    let better_than_guessing = missed + false_alarm < 1.0;
    if !better_than_guessing {
        return 0.0;
    }
    let one_way = of(&Bernoullis::new(missed, false_alarm));
    let other_way = of(&Bernoullis::new(false_alarm, missed));
    one_way.max(other_way).max(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Of a binary symmetric channel that errs in a quarter of all cases, uniform prior: α/(α − 1)·ln of half the sum
    /// of (p^α + q^α)/2 to the power 1/α, twice. Its guesses lose nothing.
    #[test]
    fn guesses_of_a_binary_symmetric_channel_show_all_of_its_sibson_information() {
        let (v, w) = (0.75f64, 0.25f64);
        for order in [0.3, 0.5, 2.0, 7.5] {
            let sum = 2.0 * (0.5 * (v.powf(order) + w.powf(order))).powf(1.0 / order);
            let exact = order / (order - 1.0) * sum.ln();
            let found = success_divergence(v, 0.5, order);
            assert!((found - exact).abs() < 1e-11, "{order}: {found} {exact}");
            assert!(found <= exact);
        }
        let shannon = v * (2.0 * v).ln() + w * (2.0 * w).ln();
        assert!((success_divergence(v, 0.5, 1.0) - shannon).abs() < 1e-6);
        assert!((success_divergence(v, 0.5, f64::INFINITY) - 1.5f64.ln()).abs() < 1e-12);
        assert_eq!(success_divergence(0.4, 0.5, 2.0), 0.0);
        assert!((success_divergence(1.0, 0.25, 0.5) - 4f64.ln()).abs() < 1e-11);
    }

    /// α and max(D_α(P ‖ Q), D_α(Q ‖ P)).
    const GOLDEN_ORDERS: [(f64, f64); 4] = [
        (1.5, 1.7147984280919266),
        (2.0, 1.8632184332102),
        (8.0, 2.0475638914925476),
        (64.0, 2.075899580547864),
    ];

    /// D_α(P ‖ Q) by its definition.
    fn divergence(alpha: f64, p: f64, q: f64) -> f64 {
        let moment = p.powf(alpha) * q.powf(1.0 - alpha)
            + (1.0 - p).powf(alpha) * (1.0 - q).powf(1.0 - alpha);
        moment.ln() / (alpha - 1.0)
    }

    /// sup D_α/α by brute force, both ways.
    fn brute(p: f64, q: f64) -> f64 {
        let orders = (0..20_000).map(|i| 1.0 + 10f64.powf(-2.0 + 4.5 * f64::from(i) / 20_000.0));
        orders
            .map(|alpha| {
                let [one, other] = [(p, q), (q, p)].map(|(p, q)| divergence(alpha, p, q));
                (if one.is_finite() { one } else { 0.0 }).max(if other.is_finite() {
                    other
                } else {
                    0.0
                }) / alpha
            })
            .fold(0.0, f64::max)
    }

    #[test]
    fn agrees_with_brute_force_over_orders() {
        for (p, q) in [
            (0.9, 0.1),
            (0.3, 0.05),
            (0.01, 0.0001),
            (0.6, 0.5),
            (0.999, 0.7),
            (0.2, 1e-9),
        ] {
            let (found, expected) = (concentrated_at_least(1.0 - p, q), brute(p, q));
            // The brute force starts at α = 1.01, the supremum may be at 1.
            assert!(
                found >= expected * (1.0 - 1e-9) && found <= expected * 1.02,
                "{p} {q}: {found} {expected}"
            );
            let about = concentrated_about(1.0 - p, q);
            assert!(
                about <= found * (1.0 + 1e-12) && about > 0.9 * found,
                "{p} {q}: {about} {found}"
            );
        }
    }

    /// Symmetric randomized response: the supremum is at α → 1, the divergence ε tanh(ε/2).
    #[test]
    fn of_randomized_response_it_is_the_kullback_leibler_divergence() {
        for epsilon in [1e-6f64, 0.01, 0.5, 1.0, 5.0, 30.0] {
            let error = 1.0 / (1.0 + epsilon.exp());
            let expected = epsilon * (0.5 * epsilon).tanh();
            let found = concentrated_at_least(error, error);
            assert!(
                (found / expected - 1.0).abs() < 1e-8,
                "{epsilon}: {found} {expected}"
            );
        }
    }

    /// The divergence of an order against its definition, and at an α so near to 1 that it is that of Kullback and
    /// Leibler.
    #[test]
    fn the_divergence_of_an_order_is_that_of_its_definition() {
        for (p, q) in [
            (0.9, 0.1),
            (0.3, 0.05),
            (0.6, 0.5),
            (0.999, 0.7),
            (0.2, 1e-9),
        ] {
            for alpha in [1.5, 2.0, 7.25, 30.0] {
                let found = divergence_at_least(1.0 - p, q, alpha);
                let expected = divergence(alpha, p, q).max(divergence(alpha, q, p));
                assert!(
                    (found / expected - 1.0).abs() < 1e-9,
                    "{p} {q} {alpha}: {found} {expected}"
                );
            }
        }
        let kullback_leibler = 0.9 * 9f64.ln() + 0.1 * (1.0f64 / 9.0).ln();
        assert!((divergence_at_least(0.1, 0.1, 1.0 + 1e-9) - kullback_leibler).abs() < 1e-6);
        assert_eq!(divergence_at_least(0.6, 0.6, 2.0), 0.0);
        assert_eq!(divergence_at_least(0.0, 0.5, 2.0), f64::INFINITY);
        // 50 digits (mpmath): P = (0.9, 0.1), Q = (0.2, 0.8).
        for (alpha, golden) in GOLDEN_ORDERS {
            let found = divergence_at_least(0.1, 0.2, alpha);
            assert!((found / golden - 1.0).abs() < 1e-13, "{alpha}: {found:e}");
        }
    }

    /// A rare event that tells: the supremum is far above the Kullback–Leibler divergence.
    #[test]
    fn rare_events_are_seen_at_large_orders() {
        let (p, q) = (1e-3f64, 1e-9f64);
        let divergence = p * (p / q).ln() + (1.0 - p) * ((1.0 - p) / (1.0 - q)).ln();
        assert!(concentrated_at_least(1.0 - p, q) > 50.0 * divergence);
    }

    #[test]
    fn the_least_over_the_box_is_at_its_corner() {
        for (missed, false_alarm) in [(0.4, 0.2), (0.05, 0.9), (0.7, 0.01), (0.3, 0.3)] {
            let corner = concentrated_at_least(missed, false_alarm);
            for i in 0..=20 {
                for j in 0..=20 {
                    let inside = (
                        missed * f64::from(i) / 20.0,
                        false_alarm * f64::from(j) / 20.0,
                    );
                    let found = concentrated_at_least(inside.0.max(1e-12), inside.1.max(1e-12));
                    assert!(
                        found >= corner * (1.0 - 1e-9),
                        "{inside:?}: {found} {corner}"
                    );
                }
            }
        }
    }

    #[test]
    fn any_rates_give_a_number_that_is_not_negative() {
        let rates = [0.0, 1e-300, 1e-12, 0.1, 0.5, 1.0 - 1e-12, 1.0];
        for missed in rates {
            for false_alarm in rates {
                let found = concentrated_at_least(missed, false_alarm);
                assert!(found >= 0.0, "{missed} {false_alarm}: {found}");
                assert!(found == 0.0 || missed + false_alarm < 1.0);
            }
        }
        assert_eq!(concentrated_at_least(0.0, 0.5), f64::INFINITY);
    }
}
