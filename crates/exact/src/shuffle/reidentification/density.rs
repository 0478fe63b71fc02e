//! P and Q as densities: mixtures of known families, or a table of log-likelihood ratios.

use crate::extreme::Extreme;
use libm::{exp, expm1, log};

use super::law::RatioLaw;
use super::quadrature::Sum;
use super::real::Segment;
use leakgauge_base::error::{Error, Result};
use leakgauge_base::grammar::{Arguments, Bounds, Call, Parameter};
use leakgauge_stats::special::{normal_cdf, normal_survival};

/// A density is looked at in steps of this share of the scale of each of its parts,
const STEP: f64 = 0.05;
/// up to this many scales from its center, and then farther and farther out,
const NEAR: f64 = 60.0;
/// up to this many scales.
const FAR: f64 = 1e8;
/// A slope of the log-likelihood ratio below this, over the smallest scale, is none.
const FLAT: f64 = 1e-12;
/// Log-likelihood ratios beyond this count as infinite.
const INFINITE: f64 = 680.0;

/// A probability density on the real line: a mixture of known families.
#[derive(Debug, Clone, PartialEq)]
pub struct Density {
    parts: Vec<(f64, Family)>,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Family {
    Normal { mean: f64, sigma: f64 },
    Laplace { mean: f64, scale: f64 },
    Logistic { mean: f64, scale: f64 },
    Uniform { low: f64, high: f64 },
    Exponential { low: f64, scale: f64 },
}

const MEAN: Parameter = Parameter::positional("mean", "the center");
const SCALE: Parameter = Parameter::positional("scale", "the scale, above 0");

impl Family {
    fn read(call: &Call) -> Result<Family> {
        const SIGMA: Parameter = Parameter::positional("sigma", "the standard deviation, above 0");
        const LOW: Parameter = Parameter::positional("low", "the smallest value");
        const HIGH: Parameter = Parameter::positional("high", "the largest value");
        let parameters: [Parameter; 2] = match call.name.as_str() {
            "normal" => [MEAN, SIGMA],
            "exponential" => [LOW, SCALE],
            "uniform" => [LOW, HIGH],
            _ => [MEAN, SCALE],
        };
        let arguments = Arguments::new(call, &parameters)?;
        let place = |name| arguments.number(name, Bounds::Between(-1e100, 1e100));
        let size = |name| arguments.number(name, Bounds::Above(0.0));
        Ok(match call.name.as_str() {
            "normal" => Family::Normal {
                mean: place("mean")?,
                sigma: size("sigma")?,
            },
            "laplace" => Family::Laplace {
                mean: place("mean")?,
                scale: size("scale")?,
            },
            "logistic" => Family::Logistic {
                mean: place("mean")?,
                scale: size("scale")?,
            },
            "exponential" => Family::Exponential {
                low: place("low")?,
                scale: size("scale")?,
            },
            _ => {
                let (low, high) = (place("low")?, place("high")?);
                if low >= high {
                    return Err(arguments.error("low must be below high"));
                }
                Family::Uniform { low, high }
            }
        })
    }

    /// A point inside, and a length over which the density changes.
    fn scale(&self) -> (f64, f64) {
        match *self {
            Family::Normal { mean, sigma } => (mean, sigma),
            Family::Laplace { mean, scale } | Family::Logistic { mean, scale } => (mean, scale),
            Family::Uniform { low, high } => (0.5 * (low + high), high - low),
            Family::Exponential { low, scale } => (low, scale),
        }
    }

    /// The points where the density is not smooth.
    fn cuts(&self) -> Vec<f64> {
        match *self {
            Family::Normal { .. } | Family::Logistic { .. } => Vec::new(),
            Family::Laplace { mean, .. } => vec![mean],
            Family::Uniform { low, high } => vec![low, high],
            Family::Exponential { low, .. } => vec![low],
        }
    }

    /// Whether the density is positive around a point that is no cut.
    fn covers(&self, inside: f64) -> bool {
        match *self {
            Family::Uniform { low, high } => (low..=high).contains(&inside),
            Family::Exponential { low, .. } => inside >= low,
            _ => true,
        }
    }

    /// ln of the density where it is positive, and its slope; at a center, as at `inside`, a point of the same piece.
    fn log(&self, y: f64, inside: f64) -> (f64, f64) {
        match *self {
            Family::Normal { mean, sigma } => {
                let x = (y - mean) / sigma;
                let norm = sigma * std::f64::consts::TAU.sqrt();
                (-0.5 * x * x - log(norm), -x / sigma)
            }
            Family::Laplace { mean, scale } => {
                let side = (inside - mean).signum();
                (-side * (y - mean) / scale - log(2.0 * scale), -side / scale)
            }
            Family::Logistic { mean, scale } => {
                let x = (y - mean) / scale;
                let tail = exp(-x.abs());
                let value = -x.abs() - 2.0 * tail.ln_1p() - log(scale);
                (value, -(0.5 * x).tanh() / scale)
            }
            Family::Uniform { low, high } => (-log(high - low), 0.0),
            Family::Exponential { low, scale } => (-(y - low) / scale - log(scale), -1.0 / scale),
        }
    }

    /// P(X ≤ y) and P(X > y), the smaller with small relative error.
    fn tails(&self, y: f64) -> (f64, f64) {
        let halves = |x: f64, small: f64| {
            if x < 0.0 {
                (small, 1.0 - small)
            } else {
                (1.0 - small, small)
            }
        };
        match *self {
            Family::Normal { mean, sigma } => {
                let x = (y - mean) / sigma;
                (normal_cdf(x), normal_survival(x))
            }
            Family::Laplace { mean, scale } => {
                let x = (y - mean) / scale;
                halves(x, 0.5 * exp(-x.abs()))
            }
            Family::Logistic { mean, scale } => {
                let x = (y - mean) / scale;
                let tail = exp(-x.abs());
                halves(x, tail / (1.0 + tail))
            }
            Family::Uniform { low, high } => {
                let y = y.clamp(low, high);
                ((y - low) / (high - low), (high - y) / (high - low))
            }
            Family::Exponential { low, scale } => {
                let x = ((y - low) / scale).at_least(0.0);
                (-expm1(-x), exp(-x))
            }
        }
    }

    fn mass(&self, from: f64, to: f64) -> f64 {
        let ((below, above), (until, beyond)) = (self.tails(from), self.tails(to));
        let mass = if until <= 0.5 {
            until - below
        } else if above <= 0.5 {
            above - beyond
        } else {
            1.0 - below - beyond
        };
        mass.at_least(0.0)
    }
}

impl Density {
    /// Reads a mixture: `0.9*normal(mean=0, sigma=1) + 0.1*laplace(mean=3, scale=2)`; families are `normal`, `laplace`,
    /// `logistic`, `uniform(low=…, high=…)` and `exponential(low=…, scale=…)`. `None` for anything else, such as a file
    /// or a family of labels.
    ///
    /// # Errors
    /// An argument is invalid, or the weights do not sum to 1.
    pub fn parse(text: &str) -> Result<Option<Density>> {
        const NAMES: [&str; 5] = ["normal", "laplace", "logistic", "uniform", "exponential"];
        let terms = terms(text);
        let is_family = |term: &&str| {
            let call = term.rsplit_once('*').map_or(*term, |(_, call)| call).trim();
            let name = call.split_once('(');
            // `uniform(size=…)` is over labels.
            name.is_some_and(|(name, rest)| {
                NAMES.contains(&name.trim()) && (name.trim() != "uniform" || rest.contains(','))
            })
        };
        if !terms.iter().all(is_family) {
            return Ok(None);
        }
        let part = |term: &&str| -> Result<(f64, Family)> {
            let (weight, call) = match term.rsplit_once('*') {
                None => (1.0, *term),
                Some((weight, call)) => {
                    let weight = weight.trim().parse::<f64>().ok();
                    let weight = weight.filter(|w| *w > 0.0 && *w <= 1.0).ok_or_else(|| {
                        Error::parameter(*term, "its weight must be a number between 0 and 1")
                    })?;
                    (weight, call)
                }
            };
            Ok((weight, Family::read(&Call::parse(call.trim())?)?))
        };
        let parts: Vec<(f64, Family)> = terms.iter().map(part).collect::<Result<_>>()?;
        let whole: f64 = parts.iter().map(|(weight, _)| weight).sum();
        if (whole - 1.0).abs() > 1e-9 {
            return Err(Error::parameter(
                text,
                format!("the weights of its parts sum to {whole}, not 1"),
            ));
        }
        Ok(Some(Density { parts }))
    }

    /// ln of the density and its slope, in the piece of `inside`; −∞ where the density is 0.
    fn log(&self, y: f64, inside: f64) -> (f64, f64) {
        let parts = self
            .parts
            .iter()
            .filter(|(_, family)| family.covers(inside));
        let logs: Vec<(f64, f64)> = parts
            .map(|(weight, family)| {
                let (value, slope) = family.log(y, inside);
                (value + log(*weight), slope)
            })
            .collect();
        let most = logs
            .iter()
            .map(|l| l.0)
            .fold(f64::NEG_INFINITY, f64::at_least);
        if most == f64::NEG_INFINITY {
            return (most, 0.0);
        }
        let (mut sum, mut rise) = (0.0, 0.0);
        for (value, slope) in logs {
            let share = exp(value - most);
            sum += share;
            rise += share * slope;
        }
        (most + log(sum), rise / sum)
    }

    fn mass(&self, from: f64, to: f64) -> f64 {
        Sum::of(
            self.parts
                .iter()
                .map(|(weight, family)| weight * family.mass(from, to)),
        )
    }
}

/// The terms of a sum, without sums inside brackets.
fn terms(text: &str) -> Vec<&str> {
    let (mut depth, mut from, mut found) = (0i32, 0, Vec::new());
    for (at, letter) in text.char_indices() {
        match letter {
            '(' => depth += 1,
            ')' => depth -= 1,
            '+' if depth == 0 => {
                found.push(text[from..at].trim());
                from = at + 1;
            }
            _ => {}
        }
    }
    found.push(text[from..].trim());
    found
}

impl RatioLaw {
    /// From two densities.
    ///
    /// # Formula
    /// Between the points where a density is not smooth, ln P/Q is followed in steps of a twentieth of the scale of
    /// every part; zeros of its slope between two steps cut it into monotone segments, as [`RatioLaw::from_segments`]
    /// needs them.
    ///
    /// # Conditions
    /// ln P/Q has at most one extremum within a step.
    ///
    /// # Errors
    /// As [`RatioLaw::from_segments`].
    pub fn from_densities(p: &Density, q: &Density) -> Result<RatioLaw> {
        let both = Both { p, q };
        let pieces = both.pieces();
        let segments: Vec<Segment<'_>> = pieces.iter().map(|piece| both.segment(piece)).collect();
        RatioLaw::from_segments(&segments)
    }

    /// From a table of log-likelihood ratios: ln P/Q, and the probability under P of each. Of Q, what they do not
    /// account for has the ratio 0.
    ///
    /// # Formula
    /// Q of an entry is P·e^(−ln P/Q); at ∞ it is 0.
    ///
    /// # Errors
    /// A ratio is NaN or −∞, a probability is negative, they do not sum to 1 within 1e-9, or those under Q to more
    /// than 1.
    pub fn from_log_ratios(table: &[(f64, f64)]) -> Result<RatioLaw> {
        let wrong = |problem: String| Error::parameter("table of log-likelihood ratios", problem);
        if let Some((ratio, p)) = table
            .iter()
            .find(|(ratio, p)| !(*ratio > f64::NEG_INFINITY && *p >= 0.0))
        {
            return Err(wrong(format!("has probability {p} at the ratio {ratio}")));
        }
        let under_p = Sum::of(table.iter().map(|(_, p)| *p));
        let mut masses: Vec<(f64, f64, f64)> = table
            .iter()
            .filter(|(_, p)| *p > 0.0)
            .map(|(ratio, p)| (*ratio, *p, p * exp(-ratio)))
            .collect();
        let under_q = Sum::of(masses.iter().map(|(_, _, q)| *q));
        if !((under_p - 1.0).abs() <= 1e-9 && under_q <= 1.0 + 1e-9) {
            return Err(wrong(format!(
                "sums to {under_p} under the target and to {under_q} under the decoys"
            ))
            .with_hint("the first must be 1, the second at most 1"));
        }
        masses.sort_by(|a, b| b.0.total_cmp(&a.0));
        let mut sorted: Vec<(f64, f64)> = masses.iter().map(|&(_, p, q)| (p, q)).collect();
        if under_q < 1.0 - 1e-12 {
            sorted.push((0.0, 1.0 - under_q));
        }
        Ok(RatioLaw::from_sorted(&sorted))
    }
}

/// A piece of the line on which ln P/Q is monotone or constant.
struct Piece {
    from: f64,
    to: f64,
    inside: f64,
    ends: (f64, f64),
    /// Points in ascending order, with ln P/Q.
    known: Vec<(f64, f64)>,
}

struct Both<'a> {
    p: &'a Density,
    q: &'a Density,
}

impl<'a> Both<'a> {
    fn parts(&self) -> impl Iterator<Item = &Family> {
        self.p
            .parts
            .iter()
            .chain(&self.q.parts)
            .map(|(_, family)| family)
    }

    /// ln P/Q and its slope.
    fn log_ratio(&self, y: f64, inside: f64) -> (f64, f64) {
        let ((p, rise), (q, other)) = (self.p.log(y, inside), self.q.log(y, inside));
        match (p == f64::NEG_INFINITY, q == f64::NEG_INFINITY) {
            (true, _) => (f64::NEG_INFINITY, 0.0),
            (false, true) => (f64::INFINITY, 0.0),
            _ => (p - q, rise - other),
        }
    }

    fn pieces(&self) -> Vec<Piece> {
        let mut steps: Vec<f64> = Vec::new();
        for family in self.parts() {
            let (center, scale) = family.scale();
            let count = (NEAR / STEP) as i32;
            steps.extend((-count..=count).map(|k| center + scale * STEP * f64::from(k)));
            let far = (0..=63).map(|k| NEAR * (FAR / NEAR).powf(f64::from(k) / 63.0));
            steps.extend(far.flat_map(|d| [center - scale * d, center + scale * d]));
        }
        steps.sort_by(f64::total_cmp);
        let mut cuts: Vec<f64> = self.parts().flat_map(Family::cuts).collect();
        cuts.extend([f64::NEG_INFINITY, f64::INFINITY]);
        cuts.sort_by(f64::total_cmp);
        cuts.dedup();
        let smallest = self
            .parts()
            .map(|family| family.scale().1)
            .fold(f64::INFINITY, f64::at_most);
        let whole = cuts.windows(2).flat_map(|cut| {
            let from = steps.partition_point(|y| *y <= cut[0]);
            let to = steps.partition_point(|y| *y < cut[1]);
            self.monotone((cut[0], cut[1]), &steps[from..to], FLAT / smallest)
        });
        whole.collect()
    }

    /// Cuts a smooth piece at the extrema of ln P/Q.
    fn monotone(&self, (from, to): (f64, f64), steps: &[f64], flat: f64) -> Vec<Piece> {
        let inside = match (from.is_finite(), to.is_finite(), steps) {
            (true, true, _) => 0.5 * (from + to),
            (_, _, steps) => steps.get(steps.len() / 2).copied().unwrap_or(0.0),
        };
        let slope = |y: f64| self.log_ratio(y, inside).1;
        let mut extrema = vec![from];
        let mut last: Option<(f64, f64)> = None;
        for &y in steps {
            let rise = slope(y);
            if rise.abs() <= flat {
                continue;
            }
            if let Some((before, sign)) = last
                && sign != rise.signum()
            {
                extrema.push(bisect(before, y, |x| slope(x) * sign > 0.0));
            }
            last = Some((y, rise.signum()));
        }
        extrema.push(to);
        let ends = |end: f64, near: &[f64], first: bool| -> f64 {
            let at = match (end.is_finite(), first) {
                (true, _) => end,
                (false, true) => near.first().copied().unwrap_or(inside),
                (false, false) => near.last().copied().unwrap_or(inside),
            };
            let value = self.log_ratio(at, inside).0;
            if end.is_finite() || value.abs() < INFINITE {
                value
            } else {
                value.signum() * f64::INFINITY
            }
        };
        let piece = |cut: &[f64]| {
            let (from, to) = (cut[0], cut[1]);
            let mut known: Vec<(f64, f64)> = steps
                .iter()
                .filter(|y| (from..=to).contains(*y))
                .chain([&from, &to].into_iter().filter(|y| y.is_finite()))
                .map(|y| (*y, self.log_ratio(*y, inside).0))
                .collect();
            known.sort_by(|a, b| a.0.total_cmp(&b.0));
            let level = self.log_ratio(inside, inside).0;
            Piece {
                from,
                to,
                inside,
                ends: if last.is_none() || level.is_infinite() {
                    (level, level)
                } else {
                    (ends(from, steps, true), ends(to, steps, false))
                },
                known,
            }
        };
        extrema.windows(2).map(piece).collect()
    }

    fn segment<'s>(&'s self, piece: &'s Piece) -> Segment<'s> {
        Segment {
            from: piece.from,
            to: piece.to,
            ends: piece.ends,
            place: Box::new(move |level| self.place(piece, level)),
            p_mass: Box::new(|a, b| self.p.mass(a, b)),
            q_mass: Box::new(|a, b| self.q.mass(a, b)),
        }
    }

    /// The point of a piece at which ln P/Q has a value: bracketed by the steps, then by Newton's method.
    fn place(&self, piece: &Piece, level: f64) -> f64 {
        let sign = if piece.ends.0 < piece.ends.1 {
            1.0
        } else {
            -1.0
        };
        let below = |value: f64| sign * (value - level) < 0.0;
        let at = piece.known.partition_point(|(_, value)| below(*value));
        if at == 0 {
            return piece.from;
        }
        if at == piece.known.len() {
            return piece.to;
        }
        let (mut low, mut high) = (piece.known[at - 1].0, piece.known[at].0);
        let mut y = 0.5 * (low + high);
        for _ in 0..200 {
            let (value, slope) = self.log_ratio(y, piece.inside);
            if below(value) {
                low = y;
            } else {
                high = y;
            }
            let newton = y - (value - level) / slope;
            let next = if newton > low && newton < high {
                newton
            } else {
                0.5 * (low + high)
            };
            if (next - y).abs() <= 1e-16 * y.abs() || next <= low || next >= high {
                return next;
            }
            y = next;
        }
        y
    }
}

/// The point up to which a property holds.
fn bisect(mut low: f64, mut high: f64, holds: impl Fn(f64) -> bool) -> f64 {
    loop {
        let middle = 0.5 * (low + high);
        if middle <= low || middle >= high {
            return middle;
        }
        if holds(middle) {
            low = middle;
        } else {
            high = middle;
        }
    }
}

#[cfg(test)]
mod tests;
