//! Composition by Fourier transforms of exponentially tilted measures.

use crate::extreme::Extreme;
use std::f64::consts::TAU;
use std::sync::{LazyLock, Mutex, PoisonError};

use leakgauge_fourier::{Complex, Planner};
use libm::{exp, log};

use super::contour::{epsilon_of_saddles, log_size};
use super::grid::Measure;
use super::terms::Terms;

/// The sum of the losses of all steps around a value of ε, tilted so that its mean is there.
///
/// # Formula
/// With K(θ) = ln Σ p e^(θL) the tilted step has the masses p·e^(θL − K(θ)), and θ is chosen so that T·K′(θ) = ε: then
/// δ(ε) is e^(TK(θ) − θε) times the mean of e^(−θ(L − ε))·(1 − e^(ε − L))⁺ under the tilted sum, which is of order 1
/// however small δ is. For ε below the mean of the sum, θ is negative and 1 − δ(ε), the mean of min(1, e^(ε − L)), is
/// computed in the same way.
///
/// # References
/// A. Koskela, J. Jälkö, A. Honkela, *Computing tight differential privacy guarantees using FFT*, arXiv:1906.03049.
/// S. Gopi, Y. T. Lee, L. Wutschitz, *Numerical composition of differential privacy*, arXiv:2106.02848.
pub(super) struct Window {
    /// The loss of the first entry.
    start: f64,
    step: f64,
    /// With w the tilted masses times e^(−θ(L − ε)): Σ w over entries from each on, or below the mean before each, and
    /// Σ w·e^(ε − L) over entries from each on.
    sums: Vec<(f64, f64)>,
    /// ln of the factor of all sums.
    scale: f64,
    /// By how much sums may be wrong: the mass outside of the window and rounding.
    pub error: f64,
    /// The ε in the middle, and the standard deviation of the tilted sum.
    pub middle: f64,
    pub spread: f64,
    theta: f64,
}

/// K(θ), K′(θ) and K″(θ).
struct Cumulants {
    value: f64,
    mean: f64,
    variance: f64,
}

impl Cumulants {
    /// Those of so many independent sums.
    fn times(&self, times: f64) -> Cumulants {
        Cumulants {
            value: times * self.value,
            mean: times * self.mean,
            variance: times * self.variance,
        }
    }

    /// Those of a sum of two independent ones.
    fn plus(self, other: Cumulants) -> Cumulants {
        Cumulants {
            value: self.value + other.value,
            mean: self.mean + other.mean,
            variance: self.variance + other.variance,
        }
    }
}

impl Measure {
    pub fn loss(&self, at: usize) -> f64 {
        self.grid.loss(self.first + at as i64)
    }

    /// The mean and the variance of one step.
    pub fn moments(&self) -> (f64, f64) {
        let cumulants = self.cumulants(0.0);
        (cumulants.mean, cumulants.variance)
    }

    fn cumulants(&self, theta: f64) -> Cumulants {
        let points = self.masses.iter().enumerate();
        let points = points.map(|(at, &mass)| (self.loss(at), mass));
        cumulants(points, theta, |_| {})
    }

    /// K and its derivatives, and of each mass above 0 its place, tilted mass, and relative error: of the exponent, its
    /// exponential, K, and a sum.
    fn tilted(&self, theta: f64) -> (Cumulants, Vec<(usize, f64, f64)>) {
        let places = || (0..self.masses.len()).filter(|&at| self.masses[at] > 0.0);
        let mut weights = Vec::with_capacity(self.masses.len());
        let points = places().map(|at| (self.loss(at), self.masses[at]));
        let cumulants = cumulants(points, theta, |weight| weights.push(weight));
        let sum: f64 = weights.iter().sum();
        let shift = (cumulants.value - log(sum)).abs() + cumulants.value.abs();
        let each = places().zip(weights).map(|(at, weight)| {
            let exponent = (theta * self.loss(at)).abs();
            (at, weight / sum, UNIT * (8.0 + 2.0 * (exponent + shift)))
        });
        let each = each.collect();
        (cumulants, each)
    }

    /// Points that keep the mass and the mean of each stretch of the measure at its ends, so that no mean of a convex
    /// function is smaller, such as that of e^(θL). Stretches grow with the distance from the median, of which each is a
    /// small part: rare losses may be thousands of times as large as most. Measures of few masses are kept as they are: few
    /// losses far apart would be spread over many times their variance.
    fn coarse(&self) -> Vec<(f64, f64)> {
        let possible = |at: &usize| self.masses[*at] > 0.0;
        let places = || (0..self.masses.len()).filter(possible);
        if places().nth(COARSE).is_none() {
            return places()
                .map(|at| (self.loss(at), self.masses[at]))
                .collect();
        }
        let median = self.median();
        let mut points = Vec::with_capacity(COARSE);
        let mut first = 0;
        while first < self.masses.len() {
            let far = if first < median {
                // The stretch must not be too long for the distance at its other end.
                (median - first) / (PART + 1)
            } else {
                (first - median) / PART
            };
            let masses = &self.masses[first..(first + 1 + far).min(self.masses.len())];
            let mass: f64 = masses.iter().sum();
            let ends = (self.loss(first), self.loss(first + masses.len() - 1));
            let steps = masses.iter().enumerate().map(|(at, mass)| at as f64 * mass);
            let share = steps.sum::<f64>() / (masses.len().max(2) - 1) as f64;
            points.push((ends.0, (mass - share).at_least(0.0)));
            points.push((ends.1, share.at_most(mass)));
            first += masses.len();
        }
        points.retain(|(_, mass)| *mass > 0.0);
        points
    }

    /// The place up to which half of the mass is.
    fn median(&self) -> usize {
        let half = 0.5 * self.masses.iter().sum::<f64>();
        let mut sum = 0.0;
        let at = self.masses.iter().position(|mass| {
            sum += mass;
            sum >= half
        });
        at.unwrap_or(0)
    }
}

/// Measures of no more masses are not made coarse.
const COARSE: usize = 4096;
/// The distance of a stretch from the median over its length.
const PART: usize = 160;

/// Of the points (loss, mass); `each` is told the tilted masses, up to a factor.
fn cumulants(
    points: impl Iterator<Item = (f64, f64)> + Clone,
    theta: f64,
    mut each: impl FnMut(f64),
) -> Cumulants {
    let points = points.filter(|(_, mass)| *mass > 0.0);
    // A mass is at most 1 and rarely needed where it is tiny: small exponents avoid a logarithm each.
    let farthest = points.clone().map(|(loss, _)| loss.abs());
    let farthest = farthest.fold(0.0, f64::at_least);
    let most = if theta.abs() < 1.0 && theta.abs() * farthest < 300.0 {
        0.0
    } else {
        let each = points.clone().map(|(loss, mass)| log(mass) + theta * loss);
        each.fold(f64::NEG_INFINITY, f64::at_least)
    };
    let (mut sum, mut first, mut second) = (0.0, 0.0, 0.0);
    for (loss, mass) in points {
        let weight = mass * exp(theta * loss - most);
        each(weight);
        sum += weight;
        first += weight * loss;
        second += weight * loss * loss;
    }
    let mean = first / sum;
    Cumulants {
        value: most + log(sum),
        mean,
        variance: (second / sum - mean * mean).at_least(0.0),
    }
}

/// Coarse measures with the number of steps of each.
struct Sum(Vec<(Vec<(f64, f64)>, f64)>);

impl Sum {
    fn new(terms: &Terms) -> Sum {
        let coarse = terms.each();
        Sum(coarse
            .map(|(measure, steps)| (measure.coarse(), steps as f64))
            .collect())
    }

    /// Those of all steps together.
    fn cumulants(&self, theta: f64) -> Cumulants {
        let each = self
            .0
            .iter()
            .map(|(points, times)| cumulants(points.iter().copied(), theta, |_| {}).times(*times));
        each.reduce(Cumulants::plus).expect("a measure")
    }

    /// The largest sum of losses.
    fn largest(&self) -> Option<f64> {
        let each = self.0.iter();
        each.map(|(points, times)| Some(times * points.last()?.0))
            .sum()
    }

    /// θ with T·K′(θ) = ε, not below −1; `None` if no sum of losses reaches ε.
    fn tilt(&self, epsilon: f64) -> Option<f64> {
        if self.largest()? <= epsilon {
            return None;
        }
        let (mut low, mut high) = (-1.0, 1.0);
        while self.cumulants(high).mean < epsilon && high < 1e9 {
            (low, high) = (high, 4.0 * high);
        }
        let mut theta = if low < 0.0 { 0.0 } else { low };
        for _ in 0..60 {
            let cumulants = self.cumulants(theta);
            let gap = cumulants.mean - epsilon;
            if gap > 0.0 {
                high = theta;
            } else {
                low = theta;
            }
            // The middle need not be exact: a tenth of a standard deviation is enough.
            if gap.abs() <= 0.1 * cumulants.variance.sqrt() || high - low < 1e-12 {
                break;
            }
            let newton = theta - gap / cumulants.variance.at_least(f64::MIN_POSITIVE);
            theta = if newton > low && newton < high {
                newton
            } else {
                0.5 * (low + high)
            };
        }
        Some(theta)
    }

    /// The distance from the middle, on one side, beyond which the tilted sum has a mass of at most [`OUTSIDE`], or the
    /// largest that is allowed, and Chernoff's bound on that mass.
    fn reach(
        &self,
        (theta, base): (f64, f64),
        (middle, deviation): (f64, f64),
        side: Side,
    ) -> (f64, f64) {
        // Far tails forbid large exponents: small ones are tried too, down to those at which the largest loss counts little.
        let exponents = (-20..13).map(|k| side.sign * 0.1 * 1.6f64.powi(k) / deviation);
        let grown: Vec<(f64, f64)> = exponents
            .map(|more| (more, self.cumulants(theta + more).value - base))
            .collect();
        let bound = |width: f64| {
            let far = middle + side.sign * width;
            let each = grown.iter().map(|(more, grown)| exp(grown - more * far));
            each.fold(1.0, f64::at_most)
        };
        let mut width = (6.0 * deviation).at_most(side.most);
        while bound(width) > OUTSIDE && width < side.most {
            width = (1.1 * width).at_most(side.most);
        }
        (width, bound(width))
    }
}

/// About the ε at which δ(ε) of the sum of the losses of independent steps is a value: by the saddle of
/// TK(θ) − θε − ln θ(θ + 1), whose ε rises with θ.
pub(super) fn about(terms: &Terms, delta: f64) -> f64 {
    let sum = Sum::new(terms);
    let at = |log_theta: f64| {
        let theta = exp(log_theta);
        let cumulants = sum.cumulants(theta);
        let epsilon = cumulants.mean - 1.0 / theta - 1.0 / (1.0 + theta);
        let scale = cumulants.value - theta * epsilon;
        (epsilon, scale + log_size(theta, cumulants.variance))
    };
    // Beyond a θ of e^20 an ε is the largest sum of losses.
    epsilon_of_saddles(&at, (-10.0, 20.0), SADDLES, delta)
}

/// How often the saddles between which δ is are halved.
const SADDLES: u32 = 24;

/// A side of a window: below (−1) or above (1) the middle, and how wide it may be.
struct Side {
    sign: f64,
    most: f64,
}

/// The largest number of cells of a window.
const MAX_CELLS: f64 = (1 << 23) as f64;
/// The mass outside of a window.
const OUTSIDE: f64 = 1e-13;

/// The tilted sum of independent steps in cells around a target.
pub(super) struct Tilted {
    pub cells: Vec<f64>,
    /// The value of the first cell.
    pub start: f64,
    pub theta: f64,
    /// ln of the factor of means, T·K(θ) − θ·target.
    pub scale: f64,
    /// The mass outside of the cells, and rounding.
    pub error: f64,
    spread: f64,
}

impl Tilted {
    /// `None` if no sum exceeds the target.
    pub fn new(terms: &Terms, target: f64) -> Option<Tilted> {
        let step = terms.step();
        let sum = Sum::new(terms);
        let theta = sum.tilt(target)?;
        let tilted: Vec<_> = terms
            .each()
            .map(|(measure, steps)| (measure.tilted(theta), measure.first, steps))
            .collect();
        let each = tilted.iter();
        let cumulants = each
            .map(|((cumulants, _), _, steps)| cumulants.times(*steps as f64))
            .reduce(Cumulants::plus)?;
        let variance = cumulants.variance.at_least(step * step);
        let middle = cumulants.mean;
        let sides = [-1.0, 1.0].map(|sign| {
            let most = 0.49 * MAX_CELLS * step;
            sum.reach(
                (theta, cumulants.value),
                (middle, variance.sqrt()),
                Side { sign, most },
            )
        });
        let [(left, out_left), (right, out_right)] = sides;
        let cells = (((left + right) / step) as usize + 16).next_power_of_two();
        // What the power of two leaves over is shared.
        let spare = 0.5 * (cells as f64 * step - left - right);
        let offset = terms.offset();
        let start = ((middle - left - spare - offset) / step).round() as i64;
        let mut rounding = 0.0;
        let mut factors = Vec::new();
        for ((_, weights), first, steps) in tilted {
            let mut masses = vec![0.0; cells];
            let mut wrong = 0.0;
            for (at, tilt, error) in weights {
                let place = (first + at as i64).rem_euclid(cells as i64) as usize;
                masses[place] += tilt;
                wrong += tilt * error;
            }
            rounding += steps as f64 * wrong;
            factors.push((masses, steps));
        }
        let (mut tilted, of_product) = product(factors);
        tilted.rotate_left(start.rem_euclid(cells as i64) as usize);
        Some(Tilted {
            cells: tilted,
            start: start as f64 * step + offset,
            theta,
            scale: cumulants.value - theta * target,
            error: out_left + out_right + rounding + of_product,
            spread: variance.sqrt(),
        })
    }
}

impl Window {
    /// The window around ε of the sum of the losses of all independent steps; `None` if no sum of losses that are
    /// finite exceeds ε.
    pub fn new(terms: &Terms, epsilon: f64) -> Option<Window> {
        let tilted = Tilted::new(terms, epsilon)?;
        let step = terms.step();
        let first = tilted.start - epsilon;
        Some(Window {
            start: tilted.start,
            step,
            sums: sums(&tilted.cells, (first, step), tilted.theta),
            scale: tilted.scale,
            error: tilted.error,
            middle: epsilon,
            spread: tilted.spread,
            theta: tilted.theta,
        })
    }

    /// How far from its middle an ε may be: the exponents that it needs are far from those of numbers that are too large
    /// or too small. Where losses are hundreds apart this is less than the standard deviation.
    pub fn reach(&self) -> f64 {
        FARTHEST / (1.0 + self.theta.abs())
    }

    /// Σ (1 − e^(ε − L))⁺, or 1 minus it if the window is below the mean, at an ε within reach. What may be wrong is
    /// added to δ or taken from it, by the sign.
    ///
    /// # Formula
    /// With x = L − ε, a tilted mass counts for e^(−θ(ε − middle)) times e^(−θx)·(1 − e^−x)⁺, which is at most
    /// θ^θ/(1 + θ)^(1 + θ), or, below the mean, times at most 1. Of sums of N numbers above 0 rounding is N units at most.
    pub fn told(&self, epsilon: f64, sign: f64) -> Told {
        let cells = self.sums.len() - 1;
        let place = ((epsilon - self.start) / self.step).floor() + 1.0;
        let at = place.clamp(0.0, cells as f64) as usize;
        let (p, q) = self.sums[at];
        let factor = exp(epsilon - self.middle);
        let moved = exp(self.theta * (self.middle - epsilon));
        if self.theta < 0.0 {
            let kept = p + factor * q;
            Told::Kept(exp(self.scale) * (kept - sign * self.error * moved).at_least(0.0))
        } else {
            let theta = self.theta;
            // (1 + 1/θ)^−θ, without overflow.
            let share = match theta > 0.0 {
                true => exp(-theta * (1.0 / theta).ln_1p()) / (1.0 + theta),
                false => 1.0,
            };
            let summed = 2.0 * UNIT * (cells + 100) as f64 * p;
            let error = self.error * share * (1.0 + 1e-9) * moved + summed;
            Told::Delta(exp(self.scale) * (p - factor * q + sign * error).at_least(0.0))
        }
    }
}

/// The largest exponent of a weight that the sums of a window need.
const FARTHEST: f64 = 300.0;

/// The sums of a window whose first loss less ε is given, and the step.
fn sums(tilted: &[f64], (first, step): (f64, f64), theta: f64) -> Vec<(f64, f64)> {
    let cells = tilted.len();
    let weights = powers(-theta, (first, step), cells);
    let falling = powers(-(1.0 + theta), (first, step), cells);
    let mut sums = vec![(0.0, 0.0); cells + 1];
    for at in (0..cells).rev() {
        sums[at].1 = sums[at + 1].1 + tilted[at] * falling[at];
    }
    if theta < 0.0 {
        for at in 0..cells {
            sums[at + 1].0 = sums[at].0 + tilted[at] * weights[at];
        }
    } else {
        for at in (0..cells).rev() {
            sums[at].0 = sums[at + 1].0 + tilted[at] * weights[at];
        }
    }
    sums
}

/// e^(rate·(first + k·step)) for k below `count`, where it is at most e^600: beyond, no sum uses it. Of one distance in
/// the middle, all rates have the same rounding, which moves a loss: a difference of sums keeps its digits.
fn powers(rate: f64, (first, step): (f64, f64), count: usize) -> Vec<f64> {
    const TOGETHER: usize = 64;
    let rise = rate * step;
    // Between a number that is too large or too small and one that is needed there must be many steps.
    let together = if TOGETHER as f64 * rise.abs() > 8.0 {
        1
    } else {
        TOGETHER
    };
    let ratio = exp(rise);
    let mut all = Vec::with_capacity(count + TOGETHER);
    while all.len() < count {
        let mut value = exp((rate * (first + all.len() as f64 * step)).at_most(600.0));
        for _ in 0..together {
            all.push(value);
            value *= ratio;
        }
    }
    all
}

/// δ, or 1 − δ where that is the smaller.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Told {
    Delta(f64),
    Kept(f64),
}

/// Plans take as long as transforms: they are kept.
static PLANNER: LazyLock<Mutex<Planner>> = LazyLock::new(|| Mutex::new(Planner::new()));

/// The cyclic convolution of masses, each with itself so many times and with the others, and a bound on the sum of its
/// errors.
///
/// # Formula
/// With u = 2⁻⁵³, exp, ln, sin and cos right to a unit in the last place, and N cells, a power of two: the factors of a
/// transform are right to 17u, because their angles are up to 2π with a relative error of 2.4u. A step of radix 4 is
/// wrong by at most 22u of the norm of its values, one of a higher radix by less for each halving; all of them and the
/// last one, which is that of real numbers, by at most ε = 12u·(log₂ N + 4), and a single value by at most ε·Σ|x|. So
/// the spectrum φ is wrong by at most ε everywhere, since masses sum to 1. Its power is wrong by w = |φ|ᵀ·(T·ε/|φ| +
/// 12uT + 110u) to first order, twice that is taken, and what is set to 0 by at most e^−50. A product of powers is wrong by
/// Π(|φ| + ε)ᵀ − Π|φ|ᵀ at most, beside twice the sum of the rest. The inverse adds ε·‖Π|φ|ᵀ‖.
/// By the inequality of Cauchy and Schwarz and Parseval's identity, errors with the spectrum w sum to at most ‖w‖ in N
/// cells.
///
/// # References
/// N. J. Higham, *Accuracy and stability of numerical algorithms*, chapter 24, doi:10.1137/1.9780898718027.
fn product(factors: Vec<(Vec<f64>, u64)>) -> (Vec<f64>, f64) {
    let cells = factors[0].0.len();
    let (forward, inverse) = {
        let mut planner = PLANNER.lock().unwrap_or_else(PoisonError::into_inner);
        (planner.real(cells), planner.real_inverse(cells))
    };
    let spectra = factors.into_iter().map(|(mut masses, steps)| {
        let mut spectrum = forward.make_output_vec();
        // Lengths agree by construction.
        forward
            .process(&mut masses, &mut spectrum)
            .expect("equal lengths");
        (spectrum, steps as f64)
    });
    let mut spectra: Vec<(Vec<Complex<f64>>, f64)> = spectra.collect();
    let of_transform = 12.0 * UNIT * ((cells as f64).log2() + 4.0);
    let (mut wrong, mut total) = (0.0, 0.0);
    let (mut spectrum, times) = spectra.swap_remove(0);
    for (at, value) in spectrum.iter_mut().enumerate() {
        let mut power = Power::of(*value, times, of_transform);
        for (other, times) in &spectra {
            power = power.and(&Power::of(other[at], *times, of_transform));
        }
        if power.log_length < -50.0 {
            // It might be above by the error of the transforms.
            wrong += exp(2.0 * power.log_most);
            *value = 0.0.into();
            continue;
        }
        let (length, angle) = (exp(power.log_length), power.angle % TAU);
        let of_transforms = match spectra.is_empty() {
            true => 2.0 * power.first_order,
            false => (power.log_more).exp_m1(),
        };
        wrong += (length * (of_transforms + 2.0 * power.rounding)).powi(2);
        total += length * length;
        *value = Complex::new(length * angle.cos(), length * angle.sin());
    }
    // The first and the last value of a real sequence are real.
    let last = spectrum.len() - 1;
    spectrum[0].im = 0.0;
    spectrum[last].im = 0.0;
    let mut masses = inverse.make_output_vec();
    inverse
        .process(&mut spectrum, &mut masses)
        .expect("equal lengths");
    masses.iter_mut().for_each(|mass| *mass /= cells as f64);
    // All frequencies but two occur twice.
    let error = (2.0 * wrong).sqrt() + of_transform * (2.0 * total).sqrt();
    (masses, error)
}

/// A power of a value of a spectrum, and by how much it may be wrong.
struct Power {
    /// T·ln |φ|, and T·ln(|φ| + ε), at most 0.
    log_length: f64,
    log_most: f64,
    /// T·arg φ.
    angle: f64,
    /// T·ε/|φ|, and T·ln(1 + ε/|φ|).
    first_order: f64,
    log_more: f64,
    /// What the power itself is wrong by.
    rounding: f64,
}

impl Power {
    fn of(value: Complex<f64>, times: f64, error: f64) -> Power {
        let size = value.norm_sqr().sqrt();
        Power {
            log_length: times * log(size),
            log_most: times * log(size + error).at_most(0.0),
            angle: times * value.arg(),
            first_order: times * error / size,
            log_more: times * (error / size).ln_1p(),
            rounding: UNIT * (12.0 * times + 110.0),
        }
    }

    fn and(&self, other: &Power) -> Power {
        Power {
            log_length: self.log_length + other.log_length,
            log_most: self.log_most + other.log_most,
            angle: self.angle + other.angle,
            first_order: self.first_order + other.first_order,
            log_more: self.log_more + other.log_more,
            rounding: self.rounding + other.rounding,
        }
    }
}

/// Half of the distance from 1 to the next number.
const UNIT: f64 = 0.5 * f64::EPSILON;
