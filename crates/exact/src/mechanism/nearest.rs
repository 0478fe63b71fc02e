//! Points in the plane with planar Laplace noise: how much of it stays nearest to its own point.

use crate::extreme::Extreme;
use std::f64::consts::{FRAC_PI_2, LN_2, TAU};

use libm::{asinh, atan2, cosh, log, tan};

use super::points;
use crate::profile::{integral_between, within};

/// With more points the cells of all are too many to look at.
const MAX_POINTS: usize = 1_500;

/// Σ over points of the probability that noise of scale 1 around a point stays nearer to it than to any other: the
/// multiplicative capacity. `None` if there are too many points.
///
/// # Formula
/// The point whose density is largest is the nearest one. Seen from a point, its cell ends in the direction φ at the
/// distance R(φ) = 1/max_j 2u·d_j/|d_j|², u the direction and d_j the way to point j: the support function of the
/// convex hull of 0 and the points 2d_j/|d_j|². Each vertex of that hull is nearest for the directions between the
/// normals of its two sides, and the mass of the cell there is ∫ (1 − (1 + R)e^−R) dφ/2π.
pub(super) fn capacity(sites: &[[f64; 2]], scale: f64) -> Option<f64> {
    let mut sites: Vec<[f64; 2]> = sites.iter().map(|site| site.map(|x| x / scale)).collect();
    sites.sort_by(|a, b| a[0].total_cmp(&b[0]).then(a[1].total_cmp(&b[1])));
    sites.dedup();
    (sites.len() <= MAX_POINTS).then(|| {
        let cells = (0..sites.len()).map(|own| cell(&sites, own));
        cells.sum()
    })
}

/// The capacity of all points of a square grid with `side` points along each side, `step` apart in units of the scale.
///
/// # Formula
/// Cells are squares, half strips at the border and quadrants in the corners. A(θ) is the mass before a line at half a
/// step, between its normal and the angle θ from it: squares have 8·A(π/4), half strips 4·A(π/4) + 2·A(π/2), corners
/// 2·A(π/4) + 2·A(π/2) + ¼.
pub(super) fn grid_capacity(side: u64, step: f64) -> f64 {
    if side < 2 {
        return 1.0;
    }
    let (eighth, quarter) = (
        sector(0.5 * step, 0.0, 0.5 * FRAC_PI_2),
        sector(0.5 * step, 0.0, FRAC_PI_2),
    );
    let inner = (side - 2) as f64;
    let squares = inner * inner * 8.0 * eighth;
    let strips = 4.0 * inner * (4.0 * eighth + 2.0 * quarter);
    squares + strips + 4.0 * (2.0 * eighth + 2.0 * quarter + 0.25)
}

/// The probability that noise around a point stays in its cell.
fn cell(sites: &[[f64; 2]], own: usize) -> f64 {
    let [x, y] = sites[own];
    let ways = sites.iter().enumerate().filter(|(other, _)| *other != own);
    let mut inverted = vec![[0.0, 0.0]];
    inverted.extend(ways.map(|(_, site)| {
        let way = [site[0] - x, site[1] - y];
        let square = way[0] * way[0] + way[1] * way[1];
        way.map(|step| 2.0 * step / square)
    }));
    let corners = points::ring(&inverted);
    if corners.len() < 2 {
        return 1.0;
    }
    // The normal of the side from one corner to the next, counterclockwise, points outward.
    let normal = |from: usize, to: usize| {
        let ([ax, ay], [bx, by]) = (inverted[from], inverted[to]);
        atan2(ax - bx, by - ay)
    };
    let count = corners.len();
    let arcs = (0..count).map(|at| {
        let (before, this, next) = (
            corners[(at + count - 1) % count],
            corners[at],
            corners[(at + 1) % count],
        );
        let (from, to) = (normal(before, this), normal(this, next));
        let length = (to - from).rem_euclid(TAU);
        if this == 0 {
            // No other point is in these directions.
            return length / TAU;
        }
        let [px, py] = inverted[this];
        let distance = 1.0 / px.hypot(py);
        let around = |angle: f64| (angle - atan2(py, px) + 0.5 * TAU).rem_euclid(TAU) - 0.5 * TAU;
        let start = around(from);
        sector(distance, start, start + length)
    });
    arcs.sum()
}

/// ∫ (1 − (1 + R)e^−R) dφ/2π between two angles, R the distance to a line whose normal has the angle 0.
///
/// # Formula
/// With tan φ = sinh t it is ∫ (1 − (1 + z)e^−z)/cosh t dt/2π, z = distance·cosh t.
fn sector(distance: f64, from: f64, to: f64) -> f64 {
    if distance == 0.0 {
        return 0.0;
    }
    // Beyond, the integrand is below 1e-17 of its largest value. 1/distance may be too large for a number.
    let end = (LN_2 - log(distance)).at_least(0.0) + 45.0;
    let place = |angle: f64| match angle {
        angle if angle <= -FRAC_PI_2 => -end,
        angle if angle >= FRAC_PI_2 => end,
        angle => asinh(tan(angle)).clamp(-end, end),
    };
    let (from, to) = (place(from), place(to));
    if to <= from {
        return 0.0;
    }
    let panels = ((to - from) / 0.5).ceil() as u32;
    let value = |t: f64| {
        let beside = cosh(t);
        within(distance * beside) / beside
    };
    integral_between((from, to), panels, value) / TAU
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mechanism::parse;

    fn capacity_of(text: &str, labels: &[&str]) -> f64 {
        let labels: Vec<String> = labels.iter().map(|&label| label.to_owned()).collect();
        let bound = parse(text).unwrap().bind(&labels).unwrap();
        bound.capacity().unwrap()
    }

    /// Where 1/distance is no number any more, integrals still end: all points look alike.
    #[test]
    fn points_that_are_hardly_apart_are_soon_computed() {
        for scale in ["1.7e308", "1e300"] {
            for secrets in ["0..1", "0..20"] {
                let grid = parse(&format!("planar-laplace(scale={scale}, secrets={secrets})"));
                let capacity = grid.unwrap().bind_declared().unwrap().capacity().unwrap();
                assert!(
                    (capacity - 1.0).abs() < 1e-9,
                    "{scale} {secrets}: {capacity}"
                );
            }
            let line = capacity_of(
                &format!("planar-laplace(scale={scale})"),
                &["0;0", "1;0", "3;0"],
            );
            assert!((line - 1.0).abs() < 1e-9, "{scale}: {line}");
        }
    }

    /// The mass nearest to each point, by the distances to all lines between it and others in 2,000,000 directions
    /// (numpy).
    #[test]
    fn capacity_is_the_mass_of_the_cells() {
        let five = ["0;0", "3;1", "1.5;4", "-2;0.5", "1;1.2"];
        let found = capacity_of("planar-laplace(scale=1)", &five);
        assert!((found - 3.093_686_529_018_5).abs() < 1e-9, "{found}");
        let grid = parse("planar-laplace(scale=2, secrets=0..2)").unwrap();
        let found = grid.bind_declared().unwrap().capacity().unwrap();
        assert!((found - 1.752_819_529_916).abs() < 1e-9, "{found}");
    }

    #[test]
    fn the_cells_of_a_grid_are_those_of_its_points() {
        for (side, scale) in [(2, 0.3), (3, 2.0), (6, 50.0), (5, 1e-3)] {
            let place = |number: u64| [(number / side) as f64, (number % side) as f64];
            let sites: Vec<[f64; 2]> = (0..side * side).map(place).collect();
            let (whole, parts) = (grid_capacity(side, 1.0 / scale), capacity(&sites, scale));
            let gap = (whole / parts.unwrap() - 1.0).abs();
            assert!(gap < 1e-12, "{side} {scale}: {gap:e}");
        }
    }

    /// Two equal labels are one point, and points beside a line hardly move the capacity of the line.
    #[test]
    fn points_on_a_line_and_twice_are_no_exceptions() {
        let twice = capacity(&[[0.0, 0.0], [1.0, 0.0], [0.0, 0.0]], 1.0).unwrap();
        let line = capacity_of("planar-laplace(scale=1)", &["0;0", "1;0"]);
        assert!((twice - line).abs() < 1e-12, "{twice} {line}");
        let line = capacity_of("planar-laplace(scale=1)", &["0;0", "1;0", "3;0"]);
        let beside = capacity(&[[0.0, 0.0], [1.0, 0.0], [3.0, 1e-9]], 1.0).unwrap();
        assert!((beside - line).abs() < 1e-8, "{beside} {line}");
    }
}
