//! Composition by an integral along a line in the complex plane, without a grid of losses.

use std::f64::consts::{PI, TAU};

use libm::{cos, exp, log, log1p, sin, sqrt};

use super::closed_forms::UNKNOWN;
use super::crossing::{crossing, nearest_crossing};
use super::normal::{MAX_POINTS, Normal, Tilted};
use super::sides::{Sides, ToldSides};
use super::source::Source;
use super::spectrum::{Moment, moments};
use crate::extreme::Extreme;
use leakgauge_stats::bisection::bisect;

/// The composition of a step of Gaussian noise that is used with a probability.
///
/// # Formula
/// With S the sum of T losses, K(z) = ln E\[e^(zL)\] and θ > 0, δ(ε) = E\[(1 − e^(ε − S))⁺\] is
/// (1/2πi)·∫ e^(TK(z) − zε)/(z(z + 1)) dz along z = θ + it; for −1 < θ < 0 it is δ(ε) − 1.
/// Sides: in γ = e^ε δ is convex, so that the mean of δ(ε + u) with u normal of variance s² and E\[e^u\] = 1 is at least δ(ε),
/// and at most δ(ε) + E\[s·φ((S − ε)/s)·e^(−(S − ε)/2)\], which is the integral over s of the derivative φ(x/s + s/2) of
/// Black and Scholes' formula. Both are integrals of the same kind with the factor e^(s²(z² + z)/2), which ends them. The
/// trapezoidal rule with step 2π/Λ adds Σ_k e^(θkΛ)·δ(ε + kΛ), which is positive, over k ≠ 0, and bounded by
/// Chernoff's inequality on the lower side.
///
/// # References
/// J. Abate, W. Whitt, *The Fourier-series method for inverting transforms of probability distributions*,
/// doi:10.1007/BF01158520. F. Black, M. Scholes, *The pricing of options and corporate liabilities*, doi:10.1086/260062.
#[derive(Debug)]
pub(super) struct Contour {
    source: Source,
    steps: u64,
}

/// A δ below which nothing is integrated or summed: the upper side is told, and 0 as the lower one.
pub(super) const NOTHING: f64 = 1e-290;

/// How much work a line takes: points times values of t.
#[derive(Debug, Clone, Copy)]
struct Effort {
    /// The smoothing in the beginning; sides differ by about its square.
    tolerance: f64,
    /// Sides are brought this near to each other, relative to δ, where the work allows.
    gap: f64,
    /// The work that is always done, and the most.
    least: f64,
    most: f64,
}

const EXACT: Effort = Effort {
    tolerance: 0.025,
    gap: 5e-4,
    least: 4e7,
    most: 3e8,
};
/// For curves of many points.
const QUICK: Effort = Effort {
    tolerance: 0.06,
    gap: 5e-3,
    least: 4e6,
    most: 4e7,
};
/// The widest noise that is smoothed away, e^(−t²s²/2) at the end of the integral.
const END: f64 = 8.8;
/// What aliases may add, as a part of δ, by its logarithm.
const ALIAS: f64 = -11.5;
/// The parts of θ at the saddle that are tried.
const PARTS: [f64; 6] = [1.0, 0.9, 0.8, 0.65, 0.5, 0.35];
/// Half of the distance from 1 to the next number.
const UNIT: f64 = 0.5 * f64::EPSILON;

impl Contour {
    /// `None` if the noise is so narrow that points are too many.
    pub fn new(normal: Normal, steps: u64) -> Option<Contour> {
        let contour = Contour::of(Source::Normal(normal), steps);
        let few = normal.plain().is_some()
            || (normal.mu <= 30.0 && normal.points(1.0, 0.0, contour.times()) < MAX_POINTS);
        few.then_some(contour)
    }

    /// Of any losses.
    pub fn of(source: Source, steps: u64) -> Contour {
        Contour { source, steps }
    }

    /// The number of steps.
    pub fn steps(&self) -> u64 {
        self.steps
    }

    fn times(&self) -> f64 {
        self.steps as f64
    }

    /// Both sides of δ(ε) and 1 − δ(ε), which may be far apart where Chernoff's bound shows that δ is no larger than `floor`.
    pub fn told(&self, epsilon: f64, floor: f64) -> ToldSides {
        if let Some(known) = self.known(epsilon) {
            return known;
        }
        let most = self.chernoff(epsilon);
        let bounded = ToldSides {
            most: (most.at_most(1.0), (1.0 - most).at_least(0.0)),
            ..UNKNOWN
        };
        if most <= floor.at_least(NOTHING) {
            return bounded;
        }
        Line::new(self, epsilon, EXACT).told(epsilon).with(&bounded)
    }

    /// Where δ needs no integral.
    pub fn known(&self, epsilon: f64) -> Option<ToldSides> {
        if let Some(known) = self.source.known(epsilon, self.steps) {
            return Some(known);
        }
        let most = self.times() * self.source.largest_loss();
        (epsilon >= most).then_some(ToldSides {
            most: (0.0, 1.0),
            least: (0.0, 1.0),
        })
    }

    /// Upper and lower sides of δ at ascending ε, up to the first that is negligible. Where δ is no larger than the floor of
    /// an ε, they may be far apart.
    pub fn deltas(&self, epsilons: &[f64], negligible: f64, floors: &[f64]) -> Vec<(f64, f64)> {
        let mut deltas = Vec::new();
        let mut line: Option<Line> = None;
        for (at, &epsilon) in epsilons.iter().enumerate() {
            let floor = floors.get(at).copied().unwrap_or(0.0);
            let near = line.take().filter(|line| line.is_near(epsilon));
            // A line that is there costs less than a bound.
            let needed = floor > 0.0 || near.is_none();
            let floor = floor.at_least(NOTHING);
            let sides = match self.known(epsilon) {
                Some(known) => (known.most.0, known.least.0),
                None if needed && self.chernoff(epsilon) <= floor => (floor, 0.0),
                None => {
                    let near = near.unwrap_or_else(|| Line::new(self, epsilon, QUICK));
                    let told = near.told(epsilon);
                    line = Some(near);
                    (told.most.0, told.least.0)
                }
            };
            deltas.push(sides);
            if sides.0 <= negligible {
                break;
            }
        }
        deltas
    }

    /// Both sides of the ε at which δ(ε) is a value. Where no δ above `floor` is possible at `floor`, the lower side is 0.
    pub fn epsilon(&self, delta: f64, floor: f64) -> Sides {
        let limit = self.times() * self.source.largest_loss();
        if delta <= 0.0 {
            return Sides {
                least: 0.0,
                most: limit,
            };
        }
        if self.known(0.0).is_some() {
            let known = |epsilon: f64| self.known(epsilon).unwrap_or(UNKNOWN);
            return Sides {
                least: crossing(0.0, |epsilon| known(epsilon).least.0 > delta).0,
                most: crossing(0.0, |epsilon| known(epsilon).most.0 > delta).1,
            };
        }
        if floor > 0.0 && self.chernoff(floor) <= delta {
            return Sides {
                least: 0.0,
                most: floor.at_most(limit),
            };
        }
        self.by_lines(delta, limit)
    }

    /// Lines are moved to where the one before crosses δ, until one crosses it nearby. Every ε of every line is a bound.
    fn by_lines(&self, delta: f64, limit: f64) -> Sides {
        let mut middle = self.about(delta).at_most(limit);
        let mut found = Sides {
            least: 0.0,
            most: limit,
        };
        for _ in 0..8 {
            let line = Line::new(self, middle, EXACT);
            let (low, high) = (
                (middle - 8.0 * line.reach).at_least(0.0),
                (middle + 8.0 * line.reach).at_most(limit),
            );
            let side = |of: fn(&ToldSides) -> f64| {
                let above = |epsilon: f64| of(&line.told(epsilon)) > delta;
                nearest_crossing((low, middle, high), line.reach, above)
            };
            let (least, most) = (side(|told| told.least.0), side(|told| told.most.0));
            // At the ends a line bounds nothing on the other side.
            if least.0 > low {
                found.least = found.least.at_least(least.0);
            }
            if most.1 < high {
                found.most = found.most.at_most(most.1);
            }
            let next = 0.5 * (least.0 + most.1);
            let near = (next - middle).abs() <= line.reach;
            middle = next;
            if near {
                break;
            }
        }
        found
    }

    /// δ(ε) is at most this, which may be a little above 1.
    fn chernoff(&self, epsilon: f64) -> f64 {
        let times = self.times();
        let at = |theta: f64| {
            let tilted = self.source.tilted(theta, 0.0, times);
            let log_moment = times * (tilted.log_moment + tilted.log_rounding());
            let factor = theta * log(theta) - (1.0 + theta) * log1p(theta);
            log_moment - theta * epsilon + factor
        };
        let saddle = self.saddle(epsilon, false);
        // Each θ above 0 gives a bound. Far out the moment at the saddle is no number.
        let mut tried = (0..12).map(|part| at(saddle * 0.125f64.powi(part)));
        let bound = tried.find(|bound| bound.is_finite()).unwrap_or(0.0);
        // No δ is nothing where a loss may be as large as ε.
        (exp(bound.at_most(0.0)) * (1.0 + 1e-6)).at_least(f64::MIN_POSITIVE)
    }

    /// About the ε at which δ(ε) is a value: by the saddle, whose ε rises with θ.
    fn about(&self, delta: f64) -> f64 {
        let times = self.times();
        let at = |log_theta: f64| {
            let theta = exp(log_theta);
            let tilted = self.source.tilted(theta, 0.0, times);
            let epsilon = times * tilted.mean - 1.0 / theta - 1.0 / (1.0 + theta);
            let scale = times * tilted.log_moment - theta * epsilon;
            (epsilon, scale + log_size(theta, times * tilted.variance))
        };
        let few = |x: f64| self.source.points(exp(x), 0.0, times) < 1e5;
        let (low, mut high) = (-6.0, 0.0);
        while high < 20.0 && few(high + 1.0) && at(high).1 > log(delta) {
            high += 1.0;
        }
        epsilon_of_saddles(&at, (low, high), 16, delta)
    }

    /// θ near the saddle of TK(θ) − θε − ln|θ(θ + 1)|, above 0 or between −1 and 0.
    fn saddle(&self, epsilon: f64, is_kept: bool) -> f64 {
        let times = self.times();
        let slope = |theta: f64| {
            let mean = self.source.tilted(theta, 0.0, times).mean;
            times * mean - epsilon - 1.0 / theta - 1.0 / (1.0 + theta)
        };
        let (mut low, mut high) = if is_kept { (-1.0, 0.0) } else { (0.0, 1.0) };
        if !is_kept {
            let many = |theta: f64| self.source.points(theta, 0.0, times) > 1e5;
            while high < 1e9 && !many(2.0 * high) && slope(high) < 0.0 {
                (low, high) = (high, 2.0 * high);
            }
        }
        for _ in 0..30 {
            let middle = if low > 0.0 {
                sqrt(low * high)
            } else {
                0.5 * (low + high)
            };
            if slope(middle) < 0.0 {
                low = middle;
            } else {
                high = middle;
            }
            if (high - low).abs() <= 0.01 * middle.abs() {
                break;
            }
        }
        0.5 * (low + high)
    }

    /// How far apart aliases must be so that they are below a level: where δ, or 1 − δ, is at most 1, and on the other side
    /// by Chernoff's bound e^(TK(θ′) − θ′ε) with a θ′ beyond θ.
    fn apart(&self, theta: f64, epsilon: f64, level: f64) -> Apart {
        let times = self.times();
        let few = |tried: &f64| self.source.points(*tried, 0.0, times) < 1e5;
        let tried: Vec<f64> = if theta < 0.0 {
            vec![-1.0, 0.5 * (theta - 1.0)]
        } else {
            let tried = (0..10).map(|k| theta + (0.1 + 0.1 * theta) * 1.7f64.powi(k));
            tried.filter(few).collect()
        };
        let mut best = Apart {
            distance: f64::INFINITY,
            other: theta,
            log_moment: f64::INFINITY,
        };
        for other in tried {
            let log_moment = times * self.source.tilted(other, 0.0, times).log_moment;
            let distance = (log_moment - other * epsilon - level) / (other - theta).abs();
            if distance < best.distance {
                best = Apart {
                    distance,
                    other,
                    log_moment,
                };
            }
        }
        if best.distance.is_infinite() {
            // The lower side is then 0.
            best.distance = 0.0;
        }
        best.distance = best
            .distance
            .at_least(-level / theta.abs())
            .at_least(3.0 / theta.abs())
            .at_least(3.0 / (best.other - theta).abs());
        best
    }
}

/// The ε at least 0 at which δ is about a value, given ε and ln δ at the saddle of each ln θ: between two of them, halved so
/// often.
pub(super) fn epsilon_of_saddles(
    at: &dyn Fn(f64) -> (f64, f64),
    range: (f64, f64),
    halvings: u32,
    delta: f64,
) -> f64 {
    let (_, theta) = bisect(range, halvings, |theta| at(theta).1 > log(delta));
    let found = at(theta).0;
    if found.is_finite() {
        found.at_least(0.0)
    } else {
        0.0
    }
}

/// About ln of δ over e^(TK(θ) − θε) at a saddle, given T·K″(θ).
pub(super) fn log_size(theta: f64, variance: f64) -> f64 {
    let next = 1.0 + theta;
    let curvature = variance + 1.0 / (theta * theta) + 1.0 / (next * next);
    -log((theta * next).abs()) - 0.5 * log(TAU * curvature)
}

/// The distance Λ of aliases, and the θ′ with T·K(θ′) that bounds those on one side.
#[derive(Debug)]
struct Apart {
    distance: f64,
    other: f64,
    log_moment: f64,
}

/// The integral along one line.
#[derive(Debug)]
struct Line {
    theta: f64,
    /// The distance of the values of t.
    step: f64,
    moments: Vec<Moment>,
    /// T·K(θ), and by how much it may be wrong.
    log_moment: f64,
    log_error: f64,
    /// The smoothing.
    s: f64,
    apart: Apart,
    middle: f64,
    /// Where δ changes by a factor of about e.
    reach: f64,
}

impl Line {
    fn new(contour: &Contour, epsilon: f64, effort: Effort) -> Line {
        let line = Line::with_aliases(contour, epsilon, ALIAS, effort);
        // The size of δ was only estimated.
        let exponent = line.log_moment - line.theta * epsilon;
        let part = line.alias(epsilon, exponent) / line.sums(epsilon).smooth;
        if part > 10.0 * exp(ALIAS) && part < 1e30 {
            return Line::with_aliases(contour, epsilon, 2.0 * ALIAS - log(part), effort);
        }
        line
    }

    fn with_aliases(contour: &Contour, epsilon: f64, aliases: f64, effort: Effort) -> Line {
        let times = contour.times();
        let plain = contour.source.tilted(0.0, 0.0, times);
        let (mean, spread) = (times * plain.mean, sqrt(times * plain.variance));
        let is_kept = mean - epsilon > 0.5f64.at_least(0.5 * spread);
        let saddle = contour.saddle(epsilon, is_kept);
        let tilted = contour.source.tilted(saddle, 0.0, times);
        let product = (saddle * (1.0 + saddle)).abs();
        let scale = times * tilted.log_moment - saddle * epsilon;
        let level = scale + log_size(saddle, times * tilted.variance) + aliases;
        // Near the saddle far aliases may be large, where rare losses are: a smaller θ is then better.
        let parts = if is_kept { &PARTS[..1] } else { &PARTS[..] };
        let tried = parts.iter().filter_map(|part| {
            let theta = part * saddle;
            let tilted = contour.source.tilted(theta, 0.0, times);
            let loss = times * tilted.log_moment - theta * epsilon - scale;
            let apart = contour.apart(theta, epsilon, level.at_most(ALIAS));
            (loss <= contour.source.most_lost()).then_some((theta, tilted, apart))
        });
        let nearest = |x: (f64, Tilted, Apart), y: (f64, Tilted, Apart)| {
            if y.2.distance < x.2.distance { y } else { x }
        };
        let Some((theta, tilted, apart)) = tried.reduce(nearest) else {
            unreachable!("the saddle itself loses nothing");
        };
        let step = TAU / apart.distance;
        let mut line = Line {
            theta,
            step,
            moments: Vec::new(),
            log_moment: times * tilted.log_moment,
            log_error: times * tilted.log_rounding(),
            s: (effort.tolerance / sqrt(product)).at_most(4.0 * effort.tolerance),
            apart,
            middle: epsilon,
            reach: 1.0 / saddle.abs(),
        };
        line.settle(contour, product, effort);
        line
    }

    /// Computes the moments with as little smoothing as the work allows.
    fn settle(&mut self, contour: &Contour, product: f64, effort: Effort) {
        let work = |s: f64| self.work(contour, s);
        let mut s = self.s;
        let least = contour.source.always_done(effort.least);
        while work(s) < least && s * s * product > 1e-8 {
            s *= 0.8;
        }
        while work(s) > effort.most {
            s *= 1.25;
        }
        self.integrate(contour, s);
        // Where rare losses count, δ may change on shorter distances than the saddle says.
        let sums = self.sums(self.middle);
        let ratio = sums.bump / sums.smooth;
        if ratio > effort.gap && sums.error < 0.1 * sums.smooth {
            let mut finer = s * sqrt(effort.gap / ratio);
            while self.work(contour, finer) > effort.most {
                finer *= 1.1;
            }
            if finer < 0.8 * s {
                self.integrate(contour, finer);
            }
        }
    }

    /// Points times values of t.
    fn work(&self, contour: &Contour, s: f64) -> f64 {
        let count = END / s / self.step;
        let points = contour.source.points(self.theta, END / s, contour.times());
        count * 0.5 * (points + 100.0)
    }

    fn integrate(&mut self, contour: &Contour, s: f64) {
        let count = (END / s / self.step).ceil() as usize + 1;
        self.s = s;
        self.moments = moments(
            &contour.source,
            contour.times(),
            self.theta,
            (self.step, count),
        );
    }

    fn is_near(&self, epsilon: f64) -> bool {
        (epsilon - self.middle).abs() <= 2.0 * self.reach
    }

    fn told(&self, epsilon: f64) -> ToldSides {
        let Sums {
            smooth,
            bump,
            error,
        } = self.sums(epsilon);
        let exponent = self.log_moment - self.theta * epsilon;
        let rounded =
            self.log_error + 4.0 * UNIT * (self.log_moment.abs() + (self.theta * epsilon).abs());
        let scale = exp(exponent);
        let above = |x: f64| (scale * exp(rounded) * (x + error).at_least(0.0)).at_most(1.0);
        let alias = self.alias(epsilon, exponent);
        let below = |x: f64| scale * exp(-rounded) * (x - error - alias).at_least(0.0);
        let told = if self.theta > 0.0 {
            let (most, least) = (above(smooth), below(smooth - bump));
            ToldSides {
                most: (most, 1.0 - most),
                least: (least, 1.0 - least),
            }
        } else {
            let (most, least) = (above(smooth + bump), below(smooth));
            ToldSides {
                most: (1.0 - least, least),
                least: (1.0 - most, most),
            }
        };
        // Far out sums are no numbers, which are no sides.
        if told.is_known() { told } else { UNKNOWN }
    }

    /// What aliases add at most, over the factor of all sums, whose logarithm is given. They fall by 1/20 each at least.
    fn alias(&self, epsilon: f64, exponent: f64) -> f64 {
        let Apart {
            distance,
            other,
            log_moment,
        } = self.apart;
        let flat = -self.theta.abs() * distance - exponent;
        let smoothed = 0.5 * self.s * self.s * other * (other + 1.0);
        let far = log_moment + smoothed - other * epsilon - (other - self.theta).abs() * distance;
        1.06 * (exp(flat.at_most(600.0)) + exp((far - exponent).at_most(600.0)))
    }

    /// The smoothed δ, or 1 − δ, and the mean of what smoothing may have added or taken, over e^(TK(θ) − θε).
    fn sums(&self, epsilon: f64) -> Sums {
        let (theta, s) = (self.theta, self.s);
        let square = s * s;
        let weight = square * exp(0.125 * square);
        let sign = if theta > 0.0 { 1.0 } else { -1.0 };
        let mut sums = Sums::default();
        for (n, moment) in self.moments.iter().enumerate() {
            let t = self.step * n as f64;
            let part = if n == 0 { 0.5 } else { 1.0 };
            // z(z + 1) with z = θ + it, and e^(s²·z(z + 1)/2).
            let product = (theta * (theta + 1.0) - t * t, t * (2.0 * theta + 1.0));
            let size = exp(0.5 * square * product.0);
            let angle = 0.5 * square * product.1 - t * epsilon;
            let turned = (cos(angle), sin(angle));
            let value = (
                size * (moment.re * turned.0 - moment.im * turned.1),
                size * (moment.re * turned.1 + moment.im * turned.0),
            );
            let norm = product.0 * product.0 + product.1 * product.1;
            let smooth = (value.0 * product.0 + value.1 * product.1) / norm;
            sums.smooth += part * sign * smooth;
            sums.bump += part * weight * value.0;
            let length = size * (moment.re.abs() + moment.im.abs());
            let each = size * moment.error + length * UNIT * (30.0 + 4.0 * (t * epsilon).abs());
            sums.error += part * each * (1.0 / sqrt(norm) + weight);
        }
        // Beyond the end no moment is above 1.
        let end = self.step * self.moments.len() as f64;
        let rest = exp(0.5 * square * (theta * (theta + 1.0) - end * end)) * (2.0 / end + 2.0 * s);
        let unit = self.step / PI;
        Sums {
            smooth: unit * sums.smooth,
            bump: unit * sums.bump,
            error: unit * sums.error * (1.0 + 1e-9) + rest,
        }
    }
}

#[derive(Debug, Default)]
struct Sums {
    smooth: f64,
    bump: f64,
    error: f64,
}
