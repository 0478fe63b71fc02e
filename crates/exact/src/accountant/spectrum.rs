//! Moments E\[e^((θ + it)L)\] of sums of losses along a line of complex numbers.

use std::f64::consts::TAU;

use leakgauge_base::parallel;
use libm::{atan2, cos, exp, log, sin, sqrt};

use super::normal::Tilted;
use super::source::Source;
use crate::extreme::Extreme;

/// Values of t that are gone through together, from one exact angle on.
const BLOCK: usize = 64;
/// Points that fit into the fastest memory.
const CHUNK: usize = 512;
/// Half of the distance from 1 to the next number.
const UNIT: f64 = 0.5 * f64::EPSILON;

/// E\[e^((θ + it)L)\]^T over that of θ at a multiple of the step of t, with what may be wrong in it.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Moment {
    pub re: f64,
    pub im: f64,
    pub error: f64,
}

/// The moments at the first multiples of a step of t.
pub(super) fn moments(
    source: &Source,
    times: f64,
    theta: f64,
    (step, count): (f64, usize),
) -> Vec<Moment> {
    let blocks = count.div_ceil(BLOCK);
    let level = |block: usize| (block + 1).next_power_of_two().trailing_zeros() as usize;
    let levels = level(blocks - 1) + 1;
    let tilted = parallel::map(levels, |level| {
        let limit = step * (BLOCK << level) as f64;
        source.tilted(theta, limit, times)
    });
    let found = parallel::map(blocks, |block| {
        block_moments(&tilted[level(block)], block * BLOCK, step, times)
    });
    let mut all: Vec<Moment> = found.into_iter().flatten().collect();
    all.truncate(count);
    all
}

/// The moments of one block: each point turns by a fixed angle from one value of t to the next.
fn block_moments(tilted: &Tilted, first: usize, step: f64, times: f64) -> Vec<Moment> {
    let start = step * first as f64;
    let mut sums = [(0.0, 0.0); BLOCK];
    let chunks = tilted
        .weights
        .chunks(CHUNK)
        .zip(tilted.losses.chunks(CHUNK));
    for (weights, losses) in chunks {
        let mut points = Points::new(weights, losses, start, step);
        for sum in &mut sums {
            let (re, im) = points.turn();
            sum.0 += re;
            sum.1 += im;
        }
    }
    let power = |(n, (re, im)): (usize, (f64, f64))| {
        let t = start + step * n as f64;
        let rounding = tilted.rounding(t);
        let length = sqrt(re * re + im * im);
        let log_length = log(length.at_least(f64::MIN_POSITIVE));
        let all = exp(times * log_length);
        let angle = (times * atan2(im, re)) % TAU;
        let least = (times - 1.0) * log((length + rounding).at_most(1.0));
        let error = times * rounding * exp(least) + all * UNIT * (40.0 + 12.0 * times);
        Moment {
            re: all * cos(angle),
            im: all * sin(angle),
            error,
        }
    };
    sums.into_iter().enumerate().map(power).collect()
}

/// Points with their current value and the turn from one t to the next.
struct Points {
    value: [[f64; CHUNK]; 2],
    turn: [[f64; CHUNK]; 2],
}

impl Points {
    fn new(weights: &[f64], losses: &[f64], start: f64, step: f64) -> Points {
        let mut points = Points {
            value: [[0.0; CHUNK]; 2],
            turn: [[0.0; CHUNK]; 2],
        };
        for (at, (weight, loss)) in weights.iter().zip(losses).enumerate() {
            let (angle, turn) = (start * loss, step * loss);
            points.value[0][at] = weight * cos(angle);
            points.value[1][at] = weight * sin(angle);
            points.turn[0][at] = cos(turn);
            points.turn[1][at] = sin(turn);
        }
        points
    }

    /// The sum of all values, which then turn.
    fn turn(&mut self) -> (f64, f64) {
        const LANES: usize = 8;
        let (mut re, mut im) = ([0.0; LANES], [0.0; LANES]);
        let [value_re, value_im] = &mut self.value;
        let [turn_re, turn_im] = &self.turn;
        for at in (0..CHUNK).step_by(LANES) {
            for lane in 0..LANES {
                let k = at + lane;
                let (x, y) = (value_re[k], value_im[k]);
                re[lane] += x;
                im[lane] += y;
                value_re[k] = x * turn_re[k] - y * turn_im[k];
                value_im[k] = x * turn_im[k] + y * turn_re[k];
            }
        }
        (re.iter().sum(), im.iter().sum())
    }
}
