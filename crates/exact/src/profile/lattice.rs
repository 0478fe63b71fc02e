//! Discrete Gaussian noise on a record that is used with a probability.

use libm::{exp, expm1, log, log1p};

use super::cells::{Cell, LARGE, Moment, Side, apart, excess, log_sum};
use super::discrete::{WIDE, divergence, gaussian_mu, log_tail, loss};
use super::rho;
use crate::extreme::Extreme;

/// What a record that is used with a probability is told from.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Other {
    /// No record: noise around 0.
    None,
    /// A record of the opposite sign, used with the same probability.
    Opposite,
}

/// P = (1 − r)·R₀ + r·R_Δ, R_x being discrete Gaussian noise around x, and as Q either R₀ or (1 − r)·R₀ + r·R₋Δ.
pub(super) struct Mixed {
    pub sigma: f64,
    pub distance: f64,
    pub rate: f64,
    pub other: Other,
}

/// Beyond so many σ from a place, weights underflow.
const FAR: f64 = 39.0;
/// Up to so many whole numbers between two places are added one by one.
const LISTED: f64 = 64.0;
/// The largest σ for which many divergences are summed.
const WIDEST: f64 = 100.0;
/// The most corners of a trade-off curve that are looked at.
const MAX_CORNERS: f64 = 1e6;

impl Mixed {
    /// The Rényi divergence of order α of P from Q, or of Q from P.
    ///
    /// # Formula
    /// With m(z) = ln(1 − r + r·e^L(z)) the terms are R₀(z)·e^(αm(z) + (1 − α)m(−z)) against the opposite record, and
    /// R₀(z)·e^(αm) and R₀(z)·e^(−(α − 1)m) against none. They are large around 0 and ±Δ, where the masses are, around αΔ,
    /// −(α − 1)Δ or (2α − 1)Δ, where the powers have their weight, and where both parts of a mixture are equal: m is nearly
    /// linear or constant elsewhere. Farther than 39σ from all of these they vanish.
    pub(super) fn divergence(&self, order: f64, reversed: bool) -> f64 {
        let (sigma, distance) = (self.sigma, self.distance);
        if self.rate == 1.0 || order * distance > 1e12 {
            return self.plain_divergence(order);
        }
        let log_total = log_sum(log_tail(sigma, 0.0), log_tail(sigma, 1.0));
        let mut moment = Moment::default();
        for (from, to) in self.windows(order, reversed) {
            let mut z = from;
            while z <= to {
                let log_none = -0.5 * (z / sigma) * (z / sigma) - log_total;
                let (p, q) = self.log_ratios(z);
                let (p, q) = if reversed { (q, p) } else { (p, q) };
                let (one, other) = self.masses(z, log_total);
                let (one, other) = if reversed { (other, one) } else { (one, other) };
                let cell = Cell::with_loss(one, other, p - q);
                if (order - 1.0) * cell.loss > LARGE || cell.p == 0.0 {
                    moment.add_log(log_none + order * p + (1.0 - order) * q);
                } else if cell.q > 0.0 {
                    moment.add(excess(&cell, order));
                }
                z += 1.0;
            }
        }
        moment.divergence(order)
    }

    /// The divergence of a record that is always used; beside it, of very large orders, the rate does not count, and no
    /// mixture is farther from the other distribution than noise at the distance Δ and ln(1/(1 − r)).
    fn plain_divergence(&self, order: f64) -> f64 {
        match self.other {
            Other::None => divergence(self.sigma, self.distance, order),
            Other::Opposite => {
                let most = divergence(self.sigma, 2.0 * self.distance, order);
                let near = divergence(self.sigma, self.distance, order) - log1p(-self.rate);
                most.at_most(near)
            }
        }
    }

    /// ln of the mixture with the record at Δ over the noise around 0.
    fn log_mixed(&self, z: f64) -> f64 {
        let loss = loss(self.sigma, self.distance, z);
        if self.rate == 1.0 {
            return loss;
        }
        if loss > 30.0 {
            loss + log(self.rate) + log1p((1.0 - self.rate) / self.rate * exp(-loss))
        } else {
            log1p(self.rate * expm1(loss))
        }
    }

    /// P and Q of a whole number.
    fn masses(&self, z: f64, log_total: f64) -> (f64, f64) {
        let at = |z: f64| exp(-0.5 * (z / self.sigma) * (z / self.sigma) - log_total);
        let none = (1.0 - self.rate) * at(z);
        let with = |place: f64| none + self.rate * at(z - place);
        match self.other {
            Other::None => (with(self.distance), at(z)),
            Other::Opposite => (with(self.distance), with(-self.distance)),
        }
    }

    /// ln of P and of Q over the noise around 0.
    fn log_ratios(&self, z: f64) -> (f64, f64) {
        let other = match self.other {
            Other::None => 0.0,
            Other::Opposite => self.log_mixed(-z),
        };
        (self.log_mixed(z), other)
    }

    /// Where terms matter, ascending and apart from each other.
    fn windows(&self, order: f64, reversed: bool) -> Vec<(f64, f64)> {
        let (sigma, distance) = (self.sigma, self.distance);
        let reach = (FAR * sigma).ceil() + 1.0;
        let odds = log((1.0 - self.rate) / self.rate);
        let equal = (0.5 * distance + odds * sigma * sigma / distance).round();
        let mut places = vec![0.0, distance];
        match self.other {
            Other::None => {
                let peak = (if reversed { 1.0 - order } else { order } * distance).round();
                places.push(peak);
                if equal.abs() <= peak.abs() {
                    places.push(equal);
                }
            }
            Other::Opposite => {
                // Both orders are mirror images.
                let sign = if reversed { -1.0 } else { 1.0 };
                let last = (2.0 * order - 1.0) * distance;
                places.push(-distance);
                let powers = [order * distance, (order - 1.0) * distance, last];
                places.extend(powers.map(|place| sign * place.round()));
                places.extend([equal, -equal].into_iter().filter(|x| x.abs() <= last));
            }
        }
        places.sort_by(f64::total_cmp);
        let mut windows: Vec<(f64, f64)> = Vec::new();
        for place in places {
            match windows.last_mut() {
                Some(last) if place - reach <= last.1 => last.1 = place + reach,
                _ => windows.push((place - reach, place + reach)),
            }
        }
        windows
    }

    /// The masses of both at every whole number up to 39σ from the records.
    pub(super) fn cells(&self) -> Vec<Cell> {
        let (sigma, distance) = (self.sigma, self.distance);
        let log_total = log_sum(log_tail(sigma, 0.0), log_tail(sigma, 1.0));
        let reach = ((FAR * sigma).ceil() + 1.0 + distance) as i64;
        let cell = |z: i64| {
            let z = z as f64;
            let ((one, other), (p, q)) = (self.masses(z, log_total), self.log_ratios(z));
            Cell::with_loss(one, other, p - q)
        };
        (-reach..=reach).map(cell).collect()
    }

    /// The smallest ρ of zero-concentrated differential privacy against the opposite record; see
    /// [`ReplacedPair`](super::ReplacedPair), whose reasons hold for whole numbers: up to a rate of ½ the event {z ≥ k} has
    /// at most the probability that noise at the distance Δ gives to an event as likely as κ = (1 − r)T(k) + r·T(k + Δ),
    /// because that is concave in κ and T(k − Δ) at κ = T(k). Of larger rates it is a supremum over orders, `None` for σ above
    /// 100, where the sums are too long.
    pub(super) fn concentrated_rho(&self) -> Option<f64> {
        let mu = self.distance / self.sigma;
        if self.rate == 1.0 {
            return Some(2.0 * mu * mu);
        }
        if self.other == Other::None || self.rate <= 0.5 {
            return Some(0.5 * mu * mu);
        }
        if self.sigma > WIDEST {
            return None;
        }
        let excess = -log1p(-self.rate);
        Some(rho::supremum(
            |order| self.divergence(order, false),
            |order| 0.5 * mu * mu + excess / order,
        ))
    }

    /// The smallest μ of Gaussian differential privacy.
    ///
    /// # Formula
    /// The likelihood ratio rises, so that the corners of the trade-off curve are the half-lines {z ≥ k}, of which all up to
    /// 40(σ² + σ) from the middle are looked at. Beyond, the difference of the quantiles comes near Δ/σ, which it
    /// therefore never is below: from below where it is less there, because what the rate takes away, σ·ln(1/r)/k, falls
    /// more slowly than what noise exceeds Δ/σ by; else it falls, and the bound is that with P(z ≥ k) from the record
    /// alone and Q(z ≥ k) from its absence. Mixing raises no μ: for σ above 30 that of the noise counts, which exceeds Δ/σ
    /// by about 1/24σ² of it; against an opposite record with a rate above ½ it is not known there.
    pub(super) fn gaussian_mu(&self) -> Option<f64> {
        let (sigma, distance) = (self.sigma, self.distance);
        let opposite = self.other == Other::Opposite;
        if self.rate == 1.0 {
            let whole = if opposite { 2.0 * distance } else { distance };
            return Some(gaussian_mu(sigma, whole));
        }
        let never_above = !opposite || self.rate <= 0.5;
        let limit = distance / sigma;
        let odds = log(self.rate) - log1p(-self.rate);
        let takeover = (odds * sigma * sigma / distance).abs();
        let last = (40.0 * (sigma + sigma * sigma) + 2.0 * takeover + 2.0 * distance).ceil();
        if sigma > WIDE || last > MAX_CORNERS {
            return never_above.then(|| gaussian_mu(sigma, distance));
        }
        let tails = Tails::new(sigma, last + 2.0 * distance + 2.0);
        let mut most = limit;
        let mut k = 1.0 - last;
        let mut end = 0.0;
        while k <= last {
            end = self.apart_at(&tails, k);
            most = most.at_least(end);
            k += 1.0;
        }
        if end > limit {
            // Of the record alone, against its absence.
            let rest = |k: f64| tails.beyond(k);
            let below = log1p(-self.rate);
            let lost = if opposite { below } else { 0.0 };
            let side = |log: f64| {
                let (p, rest) = (exp(log), -expm1(log));
                (p, rest, log, log1p(-p))
            };
            let (p, q) = (side(rest(last - distance)), side(rest(last) + lost));
            most = most.at_least(apart(&sides(p, q).0, &sides(p, q).1));
        }
        Some(if never_above {
            most.at_most(gaussian_mu(sigma, distance))
        } else {
            most
        })
    }

    /// Φ⁻¹(P(z ≥ k)) − Φ⁻¹(Q(z ≥ k)).
    fn apart_at(&self, tails: &Tails, k: f64) -> f64 {
        let (distance, rate) = (self.distance, self.rate);
        let mix = |none: f64, with: f64| log_sum(log1p(-rate) + none, log(rate) + with);
        // What is at least k, and what is less, with a record at some place.
        let record = |place: f64| {
            let above = mix(tails.beyond(k), tails.beyond(k - place));
            let below = mix(tails.beyond(1.0 - k), tails.beyond(1.0 - k + place));
            (exp(above), exp(below), above, below)
        };
        let p = record(distance);
        let q = match self.other {
            Other::Opposite => record(-distance),
            Other::None => {
                let (above, below) = (tails.beyond(k), tails.beyond(1.0 - k));
                (exp(above), exp(below), above, below)
            }
        };
        let (mut taken, mut left) = sides(p, q);
        // The whole numbers that the record at Δ has beyond k and the other one has not.
        let to = match self.other {
            Other::None => k,
            Other::Opposite => k + distance,
        };
        taken.difference = rate * tails.between(k - distance, to);
        left.difference = -taken.difference;
        apart(&taken, &left)
    }
}

/// Probabilities of an event and of the rest, and the logarithms of both.
type Event = (f64, f64, f64, f64);

/// An event and the rest, under both distributions.
fn sides(p: Event, q: Event) -> (Side, Side) {
    let taken = Side {
        p: p.0,
        q: q.0,
        difference: p.0 - q.0,
        log_p: p.2,
        log_q: q.2,
    };
    let left = Side {
        p: p.1,
        q: q.1,
        difference: q.0 - p.0,
        log_p: p.3,
        log_q: q.3,
    };
    (taken, left)
}

/// ln P(z ≥ k) of discrete Gaussian noise for all whole numbers up to some size.
struct Tails {
    sigma: f64,
    log_total: f64,
    /// P(z ≥ k)/P(z = k), k from 0.
    ratios: Vec<f64>,
}

impl Tails {
    fn new(sigma: f64, reach: f64) -> Tails {
        let last = reach as usize;
        let log_weight = |k: f64| -0.5 * (k / sigma) * (k / sigma);
        let mut ratios = vec![0.0; last + 1];
        let mut ratio = exp(log_tail(sigma, reach) - log_weight(reach));
        ratios[last] = ratio;
        for k in (0..last).rev() {
            let step = (2.0 * k as f64 + 1.0) / (2.0 * sigma * sigma);
            ratio = 1.0 + ratio * exp(-step);
            ratios[k] = ratio;
        }
        Tails {
            sigma,
            log_total: log_sum(log_tail(sigma, 0.0), log_tail(sigma, 1.0)),
            ratios,
        }
    }

    /// ln P(z = k).
    fn at(&self, k: f64) -> f64 {
        -0.5 * (k / self.sigma) * (k / self.sigma) - self.log_total
    }

    /// ln P(z ≥ k).
    fn beyond(&self, k: f64) -> f64 {
        if k >= 1.0 {
            self.at(k) + log(self.ratios[k as usize])
        } else {
            // All but what is below k, which is as much as from 1 − k on.
            log1p(-exp(self.at(1.0 - k) + log(self.ratios[(1.0 - k) as usize])))
        }
    }

    /// P(from ≤ z < to).
    fn between(&self, from: f64, to: f64) -> f64 {
        let mass = |k: f64| exp(self.beyond(k));
        if to - from <= LISTED {
            let count = (to - from) as u64;
            (0..count).map(|i| exp(self.at(from + i as f64))).sum()
        } else if from >= 0.0 {
            mass(from) - mass(to)
        } else if to <= 0.0 {
            mass(1.0 - to) - mass(1.0 - from)
        } else {
            1.0 - mass(1.0 - from) - mass(to)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By sums of the weights with 40 digits (mpmath 1.3): the largest difference of the normal quantiles of P(z ≥ k) and
    /// Q(z ≥ k) over all k, where that is above Δ/σ; else it comes near Δ/σ from below.
    #[test]
    fn mu_of_a_subsampled_record_is_that_of_the_sums_of_weights() {
        for (sigma, distance, rate, expected) in [
            (0.3, 1.0, 0.01, 1.0 / 0.3),
            (0.3, 1.0, 0.5, 3.346_644_253_254_724),
            (0.3, 1.0, 0.9, 3.930_407_582_584_735),
            (0.5, 1.0, 0.9, 2.161_982_217_614_932),
            (1.0, 1.0, 0.1, 1.0),
            (1.0, 1.0, 0.9, 1.004_022_101_206_897_3),
            (1.0, 1.0, 0.99, 1.037_146_645_667_382_7),
            (2.0, 3.0, 0.99, 1.511_577_556_626_691),
            (2.0, 3.0, 0.5, 1.5),
        ] {
            let pair = Mixed {
                sigma,
                distance,
                rate,
                other: Other::None,
            };
            let found = pair.gaussian_mu().unwrap();
            assert!(
                (found / expected - 1.0).abs() < 1e-12,
                "{sigma} {rate}: {found}"
            );
            let most = gaussian_mu(sigma, distance);
            assert!(found <= most && found >= distance / sigma, "{found} {most}");
        }
        // Wide noise: not above that of the noise, which nearly is Δ/σ.
        for other in [Other::None, Other::Opposite] {
            let pair = Mixed {
                sigma: 1e4,
                distance: 1.0,
                rate: 0.3,
                other,
            };
            let found = pair.gaussian_mu().unwrap() * 1e4;
            assert!((1.0..1.0 + 1e-8).contains(&found), "{found}");
        }
    }
}
