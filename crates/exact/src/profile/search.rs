//! Extrema and integrals of functions of one variable.

use crate::extreme::Extreme;

/// The smallest value of a function that falls, then rises, between two numbers.
pub(super) fn smallest((mut from, mut to): (f64, f64), steps: u32, f: impl Fn(f64) -> f64) -> f64 {
    let golden = 0.5 * (5f64.sqrt() - 1.0);
    let mut best = f(from).at_most(f(to)).at_most(f(0f64.clamp(from, to)));
    let (mut left, mut right) = (to - golden * (to - from), from + golden * (to - from));
    let (mut at_left, mut at_right) = (f(left), f(right));
    for _ in 0..steps {
        best = best.at_most(at_left).at_most(at_right);
        // Where rounding leaves no difference on the left, the function still falls.
        if at_left < at_right {
            (to, right, at_right) = (right, left, at_left);
            left = to - golden * (to - from);
            at_left = f(left);
        } else {
            (from, left, at_left) = (left, right, at_right);
            right = from + golden * (to - from);
            at_right = f(right);
        }
    }
    best
}

/// The largest value of a function that rises, then falls, between two numbers.
pub(super) fn highest(ends: (f64, f64), f: impl Fn(f64) -> f64) -> f64 {
    -smallest(ends, 60, |x| -f(x))
}

/// The largest value of a function between two numbers: the best of 240 places, improved between its neighbors.
pub(super) fn largest((from, to): (f64, f64), f: impl Fn(f64) -> f64) -> f64 {
    const PLACES: u32 = 240;
    let place = |k: u32| from + (to - from) * f64::from(k) / f64::from(PLACES);
    let values: Vec<f64> = (0..=PLACES).map(|k| f(place(k))).collect();
    let mut best = 0;
    for (k, value) in values.iter().enumerate() {
        if *value > values[best] {
            best = k;
        }
    }
    if values[best] == f64::INFINITY {
        return f64::INFINITY;
    }
    let best = best as u32;
    let ends = (place(best.saturating_sub(1)), place((best + 1).min(PLACES)));
    highest(ends, f).at_least(values[best as usize])
}

/// The x in \[0, 1\] where an increasing function reaches a value.
pub(super) fn crossing(value: f64, f: impl Fn(f64) -> f64) -> f64 {
    let (mut low, mut high) = (0.0, 1.0);
    for _ in 0..200 {
        let middle = 0.5 * (low + high);
        if f(middle) < value {
            low = middle;
        } else {
            high = middle;
        }
    }
    high
}

/// Nodes and weights of Gauss–Legendre quadrature with ten points on \[−1, 1\], positive half.
const GAUSS: [(f64, f64); 5] = [
    (0.148_874_338_981_631_22, 0.295_524_224_714_752_87),
    (0.433_395_394_129_247_2, 0.269_266_719_309_996_35),
    (0.679_409_568_299_024_4, 0.219_086_362_515_982_04),
    (0.865_063_366_688_984_5, 0.149_451_349_150_580_6),
    (0.973_906_528_517_171_7, 0.066_671_344_308_688_14),
];

/// The integral from 0 to `end` of a function that is smooth on the length of a panel.
pub(super) fn integral(end: f64, panel: f64, f: impl Fn(f64) -> f64) -> f64 {
    let panels = (end / panel).ceil().clamp(4.0, 1e5);
    integral_between((0.0, end), panels as u32, f)
}

/// The integral between two numbers of a function that is smooth on each of some panels.
pub(crate) fn integral_between(ends: (f64, f64), panels: u32, f: impl Fn(f64) -> f64) -> f64 {
    nodes_between(ends, panels)
        .map(|(x, weight)| weight * f(x))
        .sum()
}

/// The integral over some pieces of a function that is nowhere negative and has relative rounding errors of some size:
/// panels are halved until their parts add up to them.
pub(super) fn adaptive(pieces: &[(f64, f64)], rounding: f64, f: impl Fn(f64) -> f64) -> f64 {
    const MOST: u32 = 20_000;
    let tolerance = rounding.clamp(1e-12, 1e-3);
    let rule = |from: f64, to: f64| integral_between((from, to), 1, &f);
    let mut open: Vec<(f64, f64, f64, u32)> = Vec::new();
    for &(from, to) in pieces {
        // Panels that get narrow at both ends, where the function may change most.
        let mut cuts: Vec<f64> = (0..40).map(|k| (to - from) * 0.5f64.powi(k + 1)).collect();
        cuts.reverse();
        let up = cuts.iter().map(|cut| from + cut);
        let down = cuts.iter().rev().skip(1).map(|cut| to - cut);
        let mut edges: Vec<f64> = std::iter::once(from).chain(up).chain(down).collect();
        edges.push(to);
        edges.dedup();
        open.extend(edges.windows(2).map(|e| (e[0], e[1], rule(e[0], e[1]), 0)));
    }
    let whole: f64 = open.iter().map(|panel| panel.2).sum();
    let (mut sum, mut halved) = (0.0, 0);
    while let Some((from, to, value, depth)) = open.pop() {
        let middle = 0.5 * (from + to);
        let halves = (rule(from, middle), rule(middle, to));
        let both = halves.0 + halves.1;
        let near = (both - value).abs() <= tolerance * both.at_least(1e-2 * whole);
        halved += 1;
        if near || depth == 40 || halved > MOST {
            sum += both;
        } else {
            open.push((from, middle, halves.0, depth + 1));
            open.push((middle, to, halves.1, depth + 1));
        }
    }
    sum
}

/// Nodes and weights of the rule on panels of equal width between two numbers.
pub(super) fn nodes_between(
    (from, to): (f64, f64),
    panels: u32,
) -> impl Iterator<Item = (f64, f64)> {
    let half = 0.5 * (to - from) / f64::from(panels);
    (0..panels).flat_map(move |at| {
        let middle = from + (2.0 * f64::from(at) + 1.0) * half;
        let both = move |(x, w): (f64, f64)| {
            [middle - x * half, middle + x * half].map(|node| (node, w * half))
        };
        GAUSS.into_iter().flat_map(both)
    })
}
