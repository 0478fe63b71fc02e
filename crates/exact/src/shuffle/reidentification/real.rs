//! Likelihood ratios of densities, from segments of the real line on which the ratio is monotone or constant.

use crate::extreme::Extreme;
use libm::exp;

use super::law::RatioLaw;
use super::panel::{Atom, Panel};
use super::quadrature::{POINTS, RULE, Sum};
use leakgauge_base::error::{Error, Result};

/// A function of one number.
type Function<'a> = Box<dyn Fn(f64) -> f64 + 'a>;
/// The mass between two numbers.
type Mass<'a> = Box<dyn Fn(f64, f64) -> f64 + 'a>;

/// A segment of the real line on which the likelihood ratio P/Q is monotone or constant.
pub struct Segment<'a> {
    /// Its start; may be −∞.
    pub from: f64,
    /// Its end; may be ∞.
    pub to: f64,
    /// ln P/Q at both ends; equal if the ratio is constant; ±∞ is possible.
    pub ends: (f64, f64),
    /// The inverse of ln P/Q: the point at which it has a given value between its ends. Not called for a constant
    /// ratio.
    pub place: Function<'a>,
    /// The mass of P between two points of the segment.
    pub p_mass: Mass<'a>,
    /// The mass of Q between two points of the segment, with small relative error in the tails.
    pub q_mass: Mass<'a>,
}

impl Segment<'_> {
    fn is_constant(&self) -> bool {
        self.ends.0 == self.ends.1
    }

    /// The masses of P and Q where ln P/Q exceeds `level`.
    fn above(&self, level: f64) -> (f64, f64) {
        let (first, last) = self.ends;
        let (from, to) = if level >= first.at_least(last) {
            return (0.0, 0.0);
        } else if level < first.at_most(last) {
            (self.from, self.to)
        } else if first > last {
            (self.from, (self.place)(level).clamp(self.from, self.to))
        } else {
            ((self.place)(level).clamp(self.from, self.to), self.to)
        };
        ((self.p_mass)(from, to), (self.q_mass)(from, to))
    }
}

/// Log-likelihood ratios beyond this count as infinite.
const FARTHEST: f64 = 680.0;
/// Panels are halved towards both ends of a smooth part, down to these shares of its width.
const HALVINGS_DOWN: i32 = 100;
const HALVINGS_UP: i32 = 44;

impl RatioLaw {
    /// The distribution of the likelihood ratio of two densities, from segments that cover both.
    ///
    /// # Formula
    /// t(h) is found by bisection on 16-point panels that are halved towards every point where it is not
    /// smooth. The integrals of [`RatioLaw::success`] then have about 12 correct digits.
    ///
    /// # Conditions
    /// Inside a segment the logarithm of the ratio is smooth. Levels beyond e^±680 count as 0 or
    /// infinity.
    ///
    /// # Errors
    /// The masses of P or of Q do not sum to 1 within 1e-6.
    pub fn from_segments(segments: &[Segment<'_>]) -> Result<RatioLaw> {
        let levels = Levels { segments };
        let (p, q) = levels.above(f64::NEG_INFINITY, true);
        for (name, sum) in [("P", p), ("Q", q)] {
            if (sum - 1.0).abs() > 1e-6 {
                return Err(Error::parameter(
                    name,
                    format!("the masses of its segments sum to {sum}, not 1"),
                ));
            }
        }
        let ends = segments.iter().flat_map(|s| [s.ends.0, s.ends.1]);
        let mut bends: Vec<f64> = ends.clone().map(|l| l.clamp(-FARTHEST, FARTHEST)).collect();
        bends.sort_by(|a, b| b.total_cmp(a));
        bends.dedup();
        let certain = levels.above(FARTHEST, false).0;
        let mut parts = Parts::default();
        for (at, &level) in bends.iter().enumerate() {
            parts.atom(&levels, level);
            if let Some(&next) = bends.get(at + 1) {
                parts.smooth(&levels, level, next);
            }
        }
        if let Some(&lowest) = bends.last() {
            parts.push_atom(levels.above(lowest, true), (p, q));
        }
        // Where Q has no mass the ratio is none.
        let without = |s: &&Segment<'_>| s.is_constant() && s.ends.0 == f64::INFINITY;
        let outside = segments.iter().filter(without);
        let outside = Sum::of(outside.map(|s| (s.p_mass)(s.from, s.to)));
        let shared = segments.iter().filter(|s| !without(s));
        let max_ratio = shared
            .flat_map(|s| [s.ends.0, s.ends.1])
            .fold(0.0_f64, |most, l| most.at_least(exp(l)));
        let (p, q) = levels.above(0.0, false);
        let law = RatioLaw::assemble(certain, max_ratio, parts.atoms, parts.panels);
        Ok(law.with_outside(outside).with_total_variation(p - q))
    }
}

/// All segments, evaluated at levels of ln P/Q.
struct Levels<'a, 's> {
    segments: &'s [Segment<'a>],
}

impl Levels<'_, '_> {
    /// The masses of P and Q above a level, optionally including the level.
    fn above(&self, level: f64, with: bool) -> (f64, f64) {
        let mut sums = (0.0, 0.0);
        for segment in self.segments {
            let whole = with && segment.is_constant() && segment.ends.0 >= level;
            let (p, q) = if whole || (with && level == f64::NEG_INFINITY) {
                let (from, to) = (segment.from, segment.to);
                ((segment.p_mass)(from, to), (segment.q_mass)(from, to))
            } else {
                segment.above(level)
            };
            sums = (sums.0 + p, sums.1 + q);
        }
        sums
    }

    /// The level that Q exceeds with mass h, searched between two levels.
    fn level(&self, h: f64, high: f64, low: f64) -> f64 {
        let (mut high, mut low) = (high, low);
        loop {
            let middle = 0.5 * (high + low);
            if middle >= high || middle <= low {
                return middle;
            }
            if self.above(middle, false).1 < h {
                high = middle;
            } else {
                low = middle;
            }
        }
    }
}

#[derive(Default)]
struct Parts {
    atoms: Vec<Atom>,
    panels: Vec<Panel>,
}

impl Parts {
    /// The segments whose ratio is constant at this level.
    fn atom(&mut self, levels: &Levels<'_, '_>, level: f64) {
        let above = levels.above(level, false);
        let with = levels.above(level, true);
        if with.1 > above.1 {
            self.push_atom(above, with);
        }
    }

    fn push_atom(&mut self, above: (f64, f64), with: (f64, f64)) {
        let width = (with.1 - above.1).at_least(0.0);
        self.atoms.push(Atom {
            above: above.1,
            width,
            excess: (with.0 - above.0) - width,
        });
    }

    /// The panels between two adjacent points where the ratio is not smooth.
    fn smooth(&mut self, levels: &Levels<'_, '_>, high: f64, low: f64) {
        let first = levels.above(high, true);
        let last = levels.above(low, false);
        let width = last.1 - first.1;
        if width <= 0.0 {
            return;
        }
        let end = |j: i32| first.1 + width * 0.5_f64.powi(j);
        // No panel is narrower than the resolution of h.
        let down =
            (1..=HALVINGS_DOWN).take_while(|&j| end(j) - first.1 > 4.0 * f64::EPSILON * first.1);
        let down = down.last().unwrap_or(1);
        let near = levels.level(end(down), high, low);
        self.first(first, end(down), near, levels.above(near, false));
        let mut from = end(down);
        let mut at = near;
        for j in (1..down).rev() {
            at = self.panel(levels, from, end(j), at, low);
            from = end(j);
        }
        for j in 2..=HALVINGS_UP {
            let to = first.1 + width * (1.0 - 0.5_f64.powi(j));
            at = self.panel(levels, from, to, at, low);
            from = to;
        }
        self.push_atom((levels.above(at, false).0, from), last);
    }

    /// The part before the first panel: by its mass under P if that can be resolved, else by the ratio at its end.
    fn first(&mut self, start: (f64, f64), end: f64, level: f64, above: (f64, f64)) {
        let width = end - start.1;
        let told_apart = ((above.1 - start.1) - width).abs() <= 1e-6 * width;
        self.atoms.push(Atom {
            above: start.1,
            width,
            excess: if told_apart {
                (above.0 - start.0) - width
            } else {
                width * libm::expm1(level)
            },
        });
    }

    /// Adds one panel and returns the level at its end.
    fn panel(&mut self, levels: &Levels<'_, '_>, from: f64, to: f64, high: f64, low: f64) -> f64 {
        let width = to - from;
        let mut level = high;
        let mut values = [0.0; POINTS];
        for (value, &u) in values.iter_mut().zip(&RULE.nodes) {
            level = levels.level(from + u * width, level, low);
            *value = libm::expm1(level);
        }
        self.panels.push(Panel::smooth(from, width, values));
        levels.level(to, level, low)
    }
}
