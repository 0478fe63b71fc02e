//! A record that is used with a certain probability, against another one in its place.

use crate::extreme::Extreme;
use libm::{asinh, erfc, exp, expm1, log, log1p, sinh};

use super::cells::{Cell, Side, apart, excess, log_sum};
use super::rho;
use super::search::{adaptive, crossing, largest};
use crate::hockey_stick::scaled_erfc;

/// Noise of scale 1 around 0, the records at ± so much.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Noise {
    Gaussian(f64),
    Laplace(f64),
}

impl Noise {
    /// The mass between two points of the noise around a center, with a small relative error.
    pub(crate) fn between(self, from: f64, to: f64, center: f64) -> f64 {
        let (from, to) = (from - center, to - center);
        if from >= 0.0 {
            self.beyond(from) - self.beyond(to)
        } else if to <= 0.0 {
            self.beyond(-to) - self.beyond(-from)
        } else {
            1.0 - self.beyond(-from) - self.beyond(to)
        }
    }

    /// The mass beyond a point, which may be negative.
    fn beyond(self, x: f64) -> f64 {
        match self {
            Noise::Gaussian(_) => 0.5 * erfc(x * std::f64::consts::FRAC_1_SQRT_2),
            Noise::Laplace(_) if x > 0.0 => 0.5 * exp(-x),
            Noise::Laplace(_) => 1.0 - 0.5 * exp(x),
        }
    }

    /// How far the records are from 0.
    pub(crate) fn distance(self) -> f64 {
        let (Noise::Gaussian(distance) | Noise::Laplace(distance)) = self;
        distance
    }

    /// The largest privacy loss of the two records.
    pub(crate) fn most(self, rate: f64) -> f64 {
        match self {
            Noise::Gaussian(_) => f64::INFINITY,
            Noise::Laplace(t) if t > 600.0 => t + log(rate) - log((1.0 - rate) + rate * exp(-t)),
            Noise::Laplace(t) => log1p(rate * expm1(t)) - log1p(rate * expm1(-t)),
        }
    }

    /// The point where the privacy loss is so large, at most the largest in absolute value.
    pub(crate) fn place(self, loss: f64, rate: f64) -> f64 {
        let half = 0.5 * loss;
        match self {
            Noise::Gaussian(mu) => {
                if rate == 1.0 {
                    return half / mu;
                }
                // The argument of asinh may overflow, its logarithm does not.
                let ln_c = 0.5 * mu * mu + log((1.0 - rate) / rate);
                let ln_sinh = if half.abs() > 20.0 {
                    half.abs() - std::f64::consts::LN_2
                } else {
                    log(sinh(half.abs()))
                };
                let shift = if ln_c + ln_sinh > 300.0 {
                    std::f64::consts::LN_2 + ln_c + ln_sinh
                } else {
                    asinh(exp(ln_c + ln_sinh))
                };
                (half + shift.copysign(half)) / mu
            }
            Noise::Laplace(t) => {
                // e^(2y − t) = 1 + ((1 − q + q·e^−t)·e^L − 1)/q.
                let loss = loss.abs();
                let rest = if loss > 600.0 {
                    loss + log1p(rate * expm1(-t)) - log(rate)
                } else {
                    log1p((expm1(loss) * (1.0 + rate * expm1(-t)) + rate * expm1(-t)) / rate)
                };
                (0.5 * (t + rest)).clamp(0.0, t).copysign(half)
            }
        }
    }

    /// The masses of both records between two points, that of record 1 first.
    pub(crate) fn masses(self, from: f64, to: f64, rate: f64) -> (f64, f64) {
        let none = (1.0 - rate) * self.between(from, to, 0.0);
        let mass = |center: f64| none + rate * self.between(from, to, center);
        (mass(self.distance()), mass(-self.distance()))
    }

    /// ln of the density, without its constant factor.
    fn log_density(self, x: f64) -> f64 {
        match self {
            Noise::Gaussian(_) => -0.5 * x * x,
            Noise::Laplace(_) => -x.abs(),
        }
    }

    /// ln of the constant factor of the density.
    fn log_norm(self) -> f64 {
        match self {
            Noise::Gaussian(_) => -0.5 * log(std::f64::consts::TAU),
            Noise::Laplace(_) => -std::f64::consts::LN_2,
        }
    }

    /// Beyond so much the mass underflows.
    fn reach(self) -> f64 {
        match self {
            Noise::Gaussian(_) => 40.0,
            Noise::Laplace(_) => 750.0,
        }
    }

    /// ln of the mass beyond a point, also where it underflows.
    fn log_beyond(self, x: f64) -> f64 {
        if x < 0.0 {
            return log1p(-self.beyond(-x));
        }
        match self {
            Noise::Gaussian(_) => {
                -0.5 * x * x + log(0.5 * scaled_erfc(x * std::f64::consts::FRAC_1_SQRT_2))
            }
            Noise::Laplace(_) => -x - std::f64::consts::LN_2,
        }
    }
}

/// (1 − q)·R₀ + q·R₁ and (1 − q)·R₀ + q·R₋₁, R_x being noise around the place of a record: mirror images of each other.
///
/// # Formula
/// The likelihood ratio rises along the line, so that the best events are half-lines. Integrals are over the privacy
/// loss between the records and, for Laplace noise, what is beyond them, where the ratio is constant.
#[derive(Debug, Clone, Copy)]
pub struct ReplacedPair {
    noise: Noise,
    rate: f64,
}

/// What is this far below the largest exponent does not count.
const DEPTH: f64 = 60.0;

impl ReplacedPair {
    pub(crate) fn new(noise: Noise, rate: f64) -> ReplacedPair {
        ReplacedPair { noise, rate }
    }

    /// The noise, and the probability of a record.
    pub(crate) fn parts(&self) -> (Noise, f64) {
        (self.noise, self.rate)
    }

    /// δ(ε): the masses beyond the point where the privacy loss is ε.
    pub(crate) fn delta(&self, epsilon: f64) -> f64 {
        if epsilon >= self.epsilon() {
            return 0.0;
        }
        let from = self.noise.place(epsilon, self.rate);
        let (p, q) = self.noise.masses(from, f64::INFINITY, self.rate);
        // e^ε·Q is at most P, also where e^ε overflows.
        let scaled = if epsilon < 700.0 {
            exp(epsilon) * q
        } else {
            exp(epsilon + log(q))
        };
        (p - scaled).at_least(0.0)
    }

    /// The largest privacy loss.
    pub(super) fn epsilon(&self) -> f64 {
        self.noise.most(self.rate)
    }

    /// ln of the sum of both parts of a mixture.
    fn mix(&self, without: f64, with: f64) -> f64 {
        log_sum(log(1.0 - self.rate) + without, log(self.rate) + with)
    }

    /// ln of the density without the record, and ln of both densities over it, with few digits lost where they are
    /// small.
    fn log_densities(&self, x: f64) -> (f64, f64, f64) {
        let (none, distance) = (self.noise.log_density(x), self.noise.distance());
        let above = |center: f64| {
            let step = match self.noise {
                Noise::Gaussian(_) => center * (x - 0.5 * center),
                Noise::Laplace(_) => x.abs() - (x - center).abs(),
            };
            let above = self.rate * expm1(step);
            if above.abs() < 0.5 {
                log1p(above)
            } else {
                // Neither e^step nor what is left of 1 may overflow or vanish.
                self.mix(0.0, step)
            }
        };
        (none, above(distance), above(-distance))
    }

    /// The mass beyond a point under both, and the rest.
    fn sides(&self, from: f64) -> (Side, Side) {
        let (rate, distance) = (self.rate, self.noise.distance());
        let beyond = |x: f64| {
            let mass = |center: f64| self.noise.beyond(x - center);
            let logs = |center: f64| self.noise.log_beyond(x - center);
            let of = |center: f64| (1.0 - rate) * mass(0.0) + rate * mass(center);
            let log_of = |center: f64| self.mix(logs(0.0), logs(center));
            (
                (of(distance), log_of(distance)),
                (of(-distance), log_of(-distance)),
            )
        };
        let ((p, log_p), (q, log_q)) = beyond(from);
        // The mirror image: what is below a point under one is what is above its negative under the other.
        let ((rest_q, log_rest_q), (rest_p, log_rest_p)) = beyond(-from);
        let difference = rate * self.noise.between(from - distance, from + distance, 0.0);
        let side = |p, q, difference, log_p, log_q| Side {
            p,
            q,
            difference,
            log_p,
            log_q,
        };
        (
            side(p, q, difference, log_p, log_q),
            side(rest_p, rest_q, -difference, log_rest_p, log_rest_q),
        )
    }

    /// The largest probability of an event whose probability under the other is κ.
    pub(super) fn reconstruction(&self, kappa: f64) -> f64 {
        let reach = self.noise.distance() + self.noise.reach();
        // Rising in its argument, from 0 to 1.
        let place = |share: f64| reach * (1.0 - 2.0 * share);
        let other = |share: f64| self.sides(place(share)).0.q;
        let (taken, left) = self.sides(place(crossing(kappa, other)));
        let found = if taken.p > 0.5 { 1.0 - left.p } else { taken.p };
        found.clamp(kappa, 1.0)
    }

    /// Where parts of the densities change: the records, and where the probability of a used record takes over.
    fn breaks(&self, order: f64) -> Vec<f64> {
        let distance = self.noise.distance();
        let odds = log(self.rate) - log1p(-self.rate);
        let mut breaks = vec![-distance, 0.0, distance];
        match self.noise {
            Noise::Gaussian(mu) => {
                let takeover = (0.5 * mu - odds / mu, -0.5 * mu + odds / mu);
                let last = (2.0 * order - 1.0) * mu + 40.0;
                breaks.extend([takeover.0, takeover.1, order * mu, last, -mu - 40.0]);
                breaks.retain(|x| (-mu - 40.0..=last).contains(x));
            }
            Noise::Laplace(t) => {
                let takeover = 0.5 * (t - odds);
                breaks.extend([takeover, -takeover]);
                breaks.retain(|x| x.abs() <= t);
            }
        }
        breaks.sort_by(f64::total_cmp);
        breaks.dedup();
        breaks
    }

    /// Rényi divergence of order α ≥ 1: E_Q\[r^α − 1 − α(r − 1)\], or the mean of r^α where it is large.
    pub(super) fn renyi_divergence(&self, order: f64) -> f64 {
        let breaks = self.breaks(order);
        let power = |x: f64| {
            let (none, p, q) = self.log_densities(x);
            none + order * p + (1.0 - order) * q
        };
        let (pieces, most) = pieces(&breaks, power);
        let norm = self.noise.log_norm();
        let mut tails = Vec::new();
        if let Noise::Laplace(t) = self.noise {
            let (p, q) = self.noise.masses(t, f64::INFINITY, self.rate);
            let cell = Cell::with_loss(p, q, self.epsilon());
            tails = vec![cell, cell.swapped()];
        }
        if order > 1.0 && most + norm > 1.0 {
            let inside = adaptive(&pieces, 1e-14 * order, |x| exp(power(x) - most));
            // Beyond the records of Laplace noise lies as much as one unit of the density there.
            let beyond: f64 = match self.noise {
                Noise::Laplace(t) => [t, -t].iter().map(|&x| exp(power(x) - most)).sum(),
                Noise::Gaussian(_) => 0.0,
            };
            return (most + norm + log(inside + beyond)) / (order - 1.0);
        }
        let inside = adaptive(&pieces, 1e-14, |x| {
            let (none, p, q) = self.log_densities(x);
            let masses = [p, q].map(|log| exp(none + log + norm));
            excess(&Cell::with_loss(masses[0], masses[1], p - q), order)
        });
        let beyond: f64 = tails.iter().map(|cell| excess(cell, order)).sum();
        if order == 1.0 {
            inside + beyond
        } else {
            log1p(inside + beyond) / (order - 1.0)
        }
    }

    /// The smallest ρ of zero-concentrated differential privacy.
    ///
    /// # Formula
    /// With Gaussian noise and a rate of at most ½ it is μ²/2: B₀(κ) = Φ(Φ⁻¹(κ) + μ) is concave, and the event {x > −a} has
    /// κ = (1 − q)Φ(a) + qΦ(a − μ), so that B₀(κ) ≥ (1 − q)Φ(a + μ) + qΦ(a), which is at least the
    /// (1 − q)Φ(a) + qΦ(a + μ) of the other record. So no event is told better than with noise at distance μ, which large
    /// orders attain. Else see [`rho::supremum`].
    pub(super) fn concentrated_rho(&self) -> f64 {
        let divergence = |order: f64| self.renyi_divergence(order);
        match self.noise {
            Noise::Gaussian(mu) if self.rate == 1.0 => 2.0 * mu * mu,
            Noise::Gaussian(mu) if self.rate <= 0.5 => 0.5 * mu * mu,
            Noise::Gaussian(mu) => {
                let excess = -log1p(-self.rate);
                rho::supremum(divergence, |order| 0.5 * mu * mu + excess / order)
            }
            Noise::Laplace(_) => {
                let most = self.epsilon();
                rho::supremum(divergence, |order| most / order)
            }
        }
    }

    /// The largest difference of the normal quantiles of both probabilities of half-lines.
    pub(super) fn gaussian_mu(&self) -> f64 {
        let apart = |x: f64| {
            let (taken, left) = self.sides(x);
            apart(&taken, &left)
        };
        match self.noise {
            Noise::Gaussian(mu) if self.rate == 1.0 => 2.0 * mu,
            // See [`Self::concentrated_rho`].
            Noise::Gaussian(mu) if self.rate <= 0.5 => mu,
            Noise::Gaussian(mu) => {
                // Where the other record takes over from none; beyond, the difference approaches μ.
                let odds = log(self.rate) - log1p(-self.rate);
                let last = (odds / mu - 0.5 * mu).at_least(0.0) + mu + 10.0;
                largest((0.0, last), apart).at_least(mu)
            }
            Noise::Laplace(distance) => {
                // Between the records the largest difference may be anywhere, also close to the end.
                let near = distance.at_most(30.0);
                largest((0.0, distance), apart)
                    .at_least(largest((distance - near, distance), apart))
                    .at_least(largest((0.0, near), apart))
            }
        }
    }
}

/// The parts between breaks where an exponent is not negligible against its largest value, and that value.
fn pieces(breaks: &[f64], exponent: impl Fn(f64) -> f64) -> (Vec<(f64, f64)>, f64) {
    let mut tops = Vec::new();
    for pair in breaks.windows(2) {
        let (from, to) = (pair[0], pair[1]);
        let step = (to - from) / 400.0;
        let place = |k: u32| from + step * f64::from(k);
        let best = (0..=400)
            .max_by(|&a, &b| exponent(place(a)).total_cmp(&exponent(place(b))))
            .unwrap_or(0);
        // By golden sections: the places beside the best one enclose the top.
        let golden = 0.5 * (5f64.sqrt() - 1.0);
        let (mut low, mut high) = (place(best.saturating_sub(1)), place((best + 1).min(400)));
        for _ in 0..60 {
            let (left, right) = (high - golden * (high - low), low + golden * (high - low));
            if exponent(left) < exponent(right) {
                low = left;
            } else {
                high = right;
            }
        }
        let ends = [from, to, place(best), 0.5 * (low + high)];
        let top = ends
            .into_iter()
            .max_by(|a, b| exponent(*a).total_cmp(&exponent(*b)));
        tops.push((from, top.unwrap_or(from), to));
    }
    let most = tops
        .iter()
        .map(|part| exponent(part.1))
        .fold(f64::NEG_INFINITY, f64::at_least);
    // Where the largest exponent is moderate, all of the mass counts, not only that of the power.
    let least = most.at_most(0.0) - DEPTH;
    let edge = |top: f64, end: f64| {
        if exponent(end) >= least || exponent(top) < least {
            return end;
        }
        let (mut inside, mut outside) = (top, end);
        for _ in 0..100 {
            let middle = 0.5 * (inside + outside);
            if exponent(middle) >= least {
                inside = middle;
            } else {
                outside = middle;
            }
        }
        outside
    };
    let mut pieces = Vec::new();
    for (from, top, to) in tops {
        let (start, end) = (edge(top, from), edge(top, to));
        pieces.extend(
            [(start, top), (top, end)]
                .into_iter()
                .filter(|(a, b)| a < b),
        );
    }
    (pieces, most)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn close(found: f64, expected: f64, what: &str) {
        let error = (found / expected - 1.0).abs();
        assert!(error < 1e-11, "{what}: {found:e}, not {expected:e}");
    }

    /// By quadrature of the densities and bisection of the tails with 25 digits (mpmath 1.3).
    #[test]
    fn figures_are_those_of_the_densities() {
        let gaussian = |mu: f64, rate: f64| ReplacedPair::new(Noise::Gaussian(mu), rate);
        let laplace = |t: f64, rate: f64| ReplacedPair::new(Noise::Laplace(t), rate);
        for (pair, order, expected) in [
            (laplace(1.25, 0.01), 1.0, 1.849_299_256_066_9e-4),
            (laplace(1.25, 0.01), 2.5, 4.622_939_048_955_3e-4),
            (laplace(30.0, 0.5), 3.0, 29.398_013_597_837),
            (laplace(1e-3, 0.25), 64.0, 7.993_327_841_245_3e-6),
            (gaussian(1.25, 0.3), 2.5, 0.774_257_751_773_18),
            (gaussian(0.01, 0.5), 1.0, 4.999_875_003_125e-5),
            (gaussian(5.0, 0.999), 1.5, 25.654_753_792_729),
            (gaussian(1.0, 0.5), 64.0, 31.988_997_663_801),
        ] {
            let what = format!("{pair:?}, order {order}");
            close(pair.renyi_divergence(order), expected, &what);
        }
        for (pair, kappa, expected) in [
            (laplace(1.25, 0.01), 0.1, 0.103_226_861_663_78),
            (laplace(30.0, 0.5), 1e-6, 0.500_000_994_151_49),
            (gaussian(1.25, 0.3), 0.1, 0.266_588_618_148_25),
            (gaussian(5.0, 0.999), 1e-12, 0.159_027_287_466_27),
        ] {
            let what = format!("{pair:?} at {kappa}");
            close(pair.reconstruction(kappa), expected, &what);
        }
        for (pair, expected) in [
            (laplace(1.25, 0.01), 0.020_874_545_272_532),
            (laplace(1e-3, 0.25), 6.263_438_547_784_5e-4),
            (laplace(30.0, 0.5), 7.202_374_760_778_3),
            // Approached far out.
            (gaussian(1.25, 0.3), 1.25),
            (gaussian(1.25, 0.9), 2.115_499_301_959_6),
            (gaussian(0.25, 0.75), 0.373_286_098_235_47),
        ] {
            close(pair.gaussian_mu(), expected, &format!("mu of {pair:?}"));
        }
    }

    /// At rate 1 the pair is that of two records 2μ or 2t apart.
    #[test]
    fn a_record_that_is_always_used_is_plain_noise() {
        use crate::profile::Pair;
        for (noise, plain) in [
            (Noise::Gaussian(0.7), Pair::Gaussian { mu: 1.4 }),
            (Noise::Laplace(0.7), Pair::Laplace { distance: 1.4 }),
        ] {
            let pair = ReplacedPair::new(noise, 1.0);
            for order in [1.0, 1.5, 8.0, 300.0] {
                let expected = plain.renyi_divergence(order).unwrap();
                close(
                    pair.renyi_divergence(order),
                    expected,
                    &format!("order {order}"),
                );
            }
            for kappa in [1e-200, 1e-9, 0.3, 0.9] {
                let expected = plain.reconstruction(kappa).unwrap();
                close(pair.reconstruction(kappa), expected, &format!("at {kappa}"));
            }
            close(pair.gaussian_mu(), plain.gaussian_mu().unwrap(), "mu");
        }
    }

    /// Bounds by quasi-convexity, attained at large orders: ρ of subsampled noise is that of the noise.
    #[test]
    fn rho_of_subsampled_noise_is_finite() {
        use crate::mechanism::parse;
        for (text, expected) in [
            ("subsampled(gaussian(sigma=0.8), rate=0.01)", 0.781_25),
            ("subsampled(discrete-gaussian(sigma=2), rate=0.1)", 0.125),
        ] {
            let bound = parse(text).unwrap().bind_declared().unwrap();
            for pair in bound.pairs().unwrap() {
                close(pair.concentrated_rho().unwrap(), expected, text);
            }
        }
    }
}
