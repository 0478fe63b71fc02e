//! Planar Laplace noise against the blanket of its points.

use crate::extreme::Extreme;
use leakgauge_base::parallel;
use std::f64::consts::{PI, TAU};

use libm::{cos, exp, hypot};

use super::law::RatioLaw;

/// The number of steps of the log-likelihood ratio, from 0 to its largest value.
const LEVELS: u32 = 4096;
/// The number of directions from the target.
const DIRECTIONS: u32 = 720;

/// Noise around one point against a blanket below the densities of the noise around all points, and the mass of that
/// blanket.
///
/// # Formula
/// With λ = 1 the logarithm of the ratio at distance r from the target is D − r, D the distance of the farthest
/// point. Along a ray it falls with r: for a point at distance d, at an angle φ to the ray, it exceeds s for
/// r < (d² − s²)/2(s + d·cos φ), for all r if that denominator is not positive. Within r lies the mass
/// 1 − (1 + r)e^−r. Between two levels the larger ratio is used, so that the blanket is slightly below the true
/// one. It is still a decomposition, so its ψ is a valid bound. It exceeds the best bound by a relative difference
/// below max D/4096, plus 1e-4 from the quadrature over directions.
pub(super) fn against_blanket(scale: f64, points: &[[f64; 2]], target: usize) -> (RatioLaw, f64) {
    let center = points[target];
    // The farthest point is always a vertex of the convex hull.
    let corners: Vec<(f64, f64)> = hull(points)
        .into_iter()
        .map(|point| {
            let step = [point[0] - center[0], point[1] - center[1]];
            (hypot(step[0], step[1]) / scale, step[1].atan2(step[0]))
        })
        .collect();
    let most = corners.iter().map(|(d, _)| *d).fold(0.0, f64::at_least);
    if most == 0.0 {
        return (RatioLaw::from_sorted(&[(1.0, 1.0)]), 1.0);
    }
    let level = |k: u32| most * f64::from(k) / f64::from(LEVELS);
    let beyond = parallel::map(LEVELS as usize + 1, |k| exceeds(&corners, level(k as u32)));
    let mut cells: Vec<(f64, f64)> = (1..=LEVELS as usize)
        .rev()
        .map(|k| ((beyond[k - 1] - beyond[k]).at_least(0.0), level(k as u32)))
        .collect();
    cells.push((1.0 - beyond[0], 0.0));
    let whole: f64 = cells.iter().map(|(p, _)| p).sum();
    let masses: Vec<(f64, f64)> = cells
        .iter()
        .map(|&(p, level)| (p / whole, p / whole * exp(-level)))
        .filter(|(p, _)| *p > 0.0)
        .collect();
    let mass: f64 = masses.iter().map(|(_, q)| q).sum();
    if mass == 0.0 {
        return (RatioLaw::from_sorted(&[(1.0, 0.0)]), 0.0);
    }
    let normalized: Vec<(f64, f64)> = masses.iter().map(|&(p, q)| (p, q / mass)).collect();
    (RatioLaw::from_sorted(&normalized), mass.at_most(1.0))
}

/// The mass of the target's noise where the log-likelihood ratio exceeds a level.
fn exceeds(corners: &[(f64, f64)], level: f64) -> f64 {
    let within = |r: f64| {
        if r == f64::INFINITY {
            1.0
        } else {
            -libm::expm1(-r) - r * exp(-r)
        }
    };
    let mass = |i: u32| {
        let direction = TAU * (f64::from(i) + 0.5) / f64::from(DIRECTIONS) - PI;
        let reach = |&(d, angle): &(f64, f64)| {
            if d <= level {
                return 0.0;
            }
            let fall = level + d * cos(angle - direction);
            if fall <= 0.0 {
                f64::INFINITY
            } else {
                (d - level) * (d + level) / (2.0 * fall)
            }
        };
        within(corners.iter().map(reach).fold(0.0, f64::at_least)).at_least(0.0)
    };
    (0..DIRECTIONS).map(mass).sum::<f64>() / f64::from(DIRECTIONS)
}

/// The vertices of the convex hull (monotone chains).
fn hull(points: &[[f64; 2]]) -> Vec<[f64; 2]> {
    let mut sorted = points.to_vec();
    sorted.sort_by(|a, b| a[0].total_cmp(&b[0]).then(a[1].total_cmp(&b[1])));
    sorted.dedup();
    if sorted.len() < 3 {
        return sorted;
    }
    let chain = |order: &mut dyn Iterator<Item = &[f64; 2]>| {
        let mut kept: Vec<[f64; 2]> = Vec::new();
        for point in order {
            while let [.., a, b] = kept[..] {
                let turn = (b[0] - a[0]) * (point[1] - a[1]) - (b[1] - a[1]) * (point[0] - a[0]);
                if turn > 0.0 {
                    break;
                }
                kept.pop();
            }
            kept.push(*point);
        }
        kept.pop();
        kept
    };
    let mut corners = chain(&mut sorted.iter());
    corners.extend(chain(&mut sorted.iter().rev()));
    corners
}

#[cfg(test)]
mod tests {
    use super::super::{Game, Randomizer};
    use super::*;
    use crate::mechanism;

    #[test]
    fn corners_of_a_grid_are_four() {
        let grid: Vec<[f64; 2]> = (0..12)
            .map(|i| [f64::from(i % 4), f64::from(i / 4)])
            .collect();
        assert_eq!(
            hull(&grid),
            [[0.0, 0.0], [3.0, 0.0], [3.0, 2.0], [0.0, 2.0]]
        );
        let line: Vec<[f64; 2]> = (0..5).map(|i| [f64::from(i), 0.0]).collect();
        assert_eq!(hull(&line), [[0.0, 0.0], [4.0, 0.0]]);
    }

    /// Of two points the blanket's mass is their Bayes security, which has a closed form of its own.
    #[test]
    fn the_blanket_of_two_points_has_the_mass_of_their_overlap() {
        for (distance, scale) in [(1.0, 1.0), (3.0, 1.0), (0.1, 2.0), (20.0, 1.0)] {
            let mechanism = mechanism::parse(&format!("planar-laplace(scale={scale})")).unwrap();
            let labels = ["0,0".to_owned(), format!("0,{distance}")];
            let exact = mechanism.bind(&labels).unwrap().bayes_security(0, 1);
            let (law, mass) = against_blanket(scale, &[[0.0, 0.0], [0.0, distance]], 0);
            let share = distance / scale / f64::from(LEVELS) + 1e-4;
            assert!(mass <= exact * (1.0 + 1e-4), "{mass} {exact}");
            assert!(mass >= exact * (1.0 - share), "{mass} {exact}");
            let ratio = law.max_ratio() / mass;
            assert!(
                (ratio / exp(distance / scale) - 1.0).abs() < 1e-9,
                "{ratio}"
            );
        }
    }

    #[test]
    fn inputs_in_the_plane_are_bounded() {
        let mechanism = mechanism::parse("planar-laplace(scale=1, secrets=4)").unwrap();
        let randomizer = Randomizer::new(&*mechanism, None).unwrap();
        let input = randomizer.input(0).unwrap();
        let games: Vec<Game> = [1, 2, 100].map(|n| Game::new(n, 1).unwrap()).into();
        for bounds in input.bounds(&games).unwrap() {
            assert!(bounds.blanket <= bounds.clone * (1.0 + 1e-3), "{bounds:?}");
            assert!(bounds.blanket >= 1.0 / bounds.n as f64, "{bounds:?}");
        }
    }
}
