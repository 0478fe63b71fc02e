//! What an attack achieves against what a claim allows.

use libm::{exp, floor, log10, pow};

use super::axis::Axis;
use super::canvas::Caption;
use super::chart::{Chart, Layer, Mark, chart};
use super::hover::between;

/// The receiver operating characteristic of an attack that tells a secret from another.
#[derive(Debug, Clone, PartialEq)]
pub struct TradeOff {
    /// What it is called and shows.
    pub caption: Caption,
    /// What the curve is.
    pub name: String,
    /// (False positive rate, true positive rate), from (0, 0) to (1, 1).
    pub curve: Vec<(f64, f64)>,
    /// What the band is.
    pub band_name: String,
    /// (False positive rate, lower, upper limit of the true positive rate).
    pub band: Vec<(f64, f64, f64)>,
    /// A claimed (ε, δ).
    pub claim: Option<(f64, f64)>,
    /// What the claim is called.
    pub claim_name: String,
}

/// Draws the curve with its band, the diagonal of blind guessing, and the region that the claim allows:
/// a curve that leaves it refutes the claim.
pub fn trade_off(data: &TradeOff) -> String {
    let mut layers = Vec::new();
    if let Some((epsilon, delta)) = data.claim {
        let boundary = allowed(epsilon, delta);
        let mut region = boundary.clone();
        region.extend([(1.0, 1.0), (0.0, 0.0)]);
        layers.push(Layer::new("", 2, Mark::Region(region)));
        layers.push(Layer::new(&data.claim_name, 2, Mark::Line(boundary)));
    }
    layers.push(Layer::new(
        "guessing blind",
        6,
        Mark::Line(vec![(0.0, 0.0), (1.0, 1.0)]),
    ));
    if !data.band.is_empty() {
        layers.push(Layer::new(
            &data.band_name,
            0,
            Mark::Band(data.band.clone()),
        ));
    }
    layers.push(Layer::new(&data.name, 0, Mark::Line(data.curve.clone())));
    chart(&Chart {
        caption: data.caption.clone(),
        x: Axis::linear("false positive rate").from_to(0.0, 1.0),
        y: Axis::linear("true positive rate").from_to(0.0, 1.0),
        layers,
        aspect: 1.0,
    })
}

/// Draws the same on two logarithmic axes, which shows what few false positives achieve. A rate below the smallest
/// that is drawn, such as 0, is drawn there.
pub fn trade_off_log(data: &TradeOff) -> String {
    let least = lowest(&data.curve);
    let up = |x: f64| x.max(least);
    let line = |points: &[(f64, f64)]| {
        curved(points, least)
            .into_iter()
            .map(|(x, y)| (x, up(y)))
            .collect()
    };
    let mut layers = Vec::new();
    if let Some((epsilon, delta)) = data.claim {
        let points = allowed(epsilon, delta);
        layers.push(Layer::new(&data.claim_name, 2, Mark::Line(line(&points))));
    }
    layers.push(Layer::new(
        "guessing blind",
        6,
        Mark::Line(vec![(least, least), (1.0, 1.0)]),
    ));
    if !data.band.is_empty() {
        let band = data.band.iter();
        let band = band.map(|&(x, lower, upper)| (up(x), up(lower), up(upper)));
        layers.push(Layer::new(&data.band_name, 0, Mark::Band(band.collect())));
    }
    layers.push(Layer::new(&data.name, 0, Mark::Line(line(&data.curve))));
    chart(&Chart {
        caption: data.caption.clone(),
        x: Axis::log("false positive rate").from_to(least, 1.0),
        y: Axis::log("true positive rate").from_to(least, 1.0),
        layers,
        aspect: 1.0,
    })
}

/// A line from (0, 0) on, from the smallest rate that is drawn on: what is straight between its points is not on
/// logarithmic axes.
fn curved(points: &[(f64, f64)], least: f64) -> Vec<(f64, f64)> {
    const STEPS: u32 = 60;
    let steps = (0..=STEPS).map(|k| pow(least, f64::from(k) / f64::from(STEPS)));
    let between = steps.filter_map(|x| Some((x, between(points, x)?)));
    let drawn = points.iter().copied().filter(|point| point.0 > least);
    let mut all: Vec<(f64, f64)> = between.chain(drawn).collect();
    // Rates grow together, so that a step up stays one.
    all.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1)));
    all.dedup();
    all
}

/// The power of ten at or below the smallest positive false positive rate, between 1e-6 and 0.01.
fn lowest(curve: &[(f64, f64)]) -> f64 {
    let positive = curve.iter().map(|point| point.0).filter(|x| *x > 0.0);
    let least = positive.fold(1.0, f64::min);
    pow(10.0, floor(log10(least)).clamp(-6.0, -2.0))
}

/// The largest true positive rate that (ε, δ) allows at a false positive rate.
fn highest(epsilon: f64, delta: f64, x: f64) -> f64 {
    let one = delta + exp(epsilon) * x;
    let other = 1.0 - exp(-epsilon) * (1.0 - delta - x);
    one.min(other).clamp(0.0, 1.0)
}

/// The largest true positive rates that (ε, δ) allows.
///
/// # Formula
/// min(1, δ + e^ε x, 1 − e^−ε (1 − δ − x)), at its corners.
fn allowed(epsilon: f64, delta: f64) -> Vec<(f64, f64)> {
    let corner = (1.0 - delta) / (1.0 + exp(epsilon));
    let mut xs: Vec<f64> = [0.0, corner, 1.0 - delta, 1.0].into();
    xs.retain(|x| (0.0..=1.0).contains(x));
    xs.sort_by(f64::total_cmp);
    xs.dedup();
    xs.into_iter()
        .map(|x| (x, highest(epsilon, delta, x)))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::super::testing::{check, hostile};
    use super::*;

    #[test]
    fn the_corner_of_the_region_is_the_best_attack_on_randomized_response() {
        let region = allowed(1.0, 0.0);
        let corner = 1.0 / (1.0 + exp(1.0));
        let at = region.iter().position(|point| point.0 == corner).unwrap();
        assert!((region[at].1 - (1.0 - corner)).abs() < 1e-15);
        assert!(region.windows(2).all(|pair| pair[0].1 <= pair[1].1));
        assert!((allowed(0.0, 0.2)[0].1 - 0.2).abs() < 1e-15);
    }

    #[test]
    fn the_logarithmic_axes_begin_below_the_fewest_false_positives() {
        assert_eq!(lowest(&[(0.0, 0.1), (0.0004, 0.2), (1.0, 1.0)]), 1e-4);
        assert_eq!(lowest(&[(0.0, 0.0), (1.0, 1.0)]), 0.01);
    }

    /// An attack that exceeds a claim between two of its thresholds does so on any axes.
    #[test]
    fn a_straight_part_is_curved_on_logarithmic_axes() {
        let line = curved(&[(0.0, 0.0), (0.2, 0.8), (1.0, 1.0)], 0.01);
        assert!(
            (line[0].1 - 0.04).abs() < 1e-12 && line[0].0 == 0.01,
            "{line:?}"
        );
        let at = line.iter().find(|point| point.0 > 0.05).unwrap();
        assert!((at.1 - 4.0 * at.0).abs() < 1e-12, "{at:?}");
    }

    #[test]
    fn curves_of_anything() {
        for claim in [
            None,
            Some((1.0, 1e-5)),
            Some((f64::INFINITY, 0.0)),
            Some((800.0, 2.0)),
        ] {
            let line: Vec<(f64, f64)> = (0..=50_000)
                .map(|k| f64::from(k) / 5e4)
                .map(|x| (x, x.sqrt()))
                .collect();
            let band = line.iter().map(|&(x, y)| (x, y - 0.1, y + 0.1)).collect();
            let data = TradeOff {
                caption: Caption::new(hostile(), hostile()),
                name: hostile(),
                curve: line,
                band_name: hostile(),
                band,
                claim,
                claim_name: hostile(),
            };
            check(&trade_off_log(&data));
            let svg = trade_off(&data);
            check(&svg);
            assert!(svg.len() < 100_000, "{}", svg.len());
        }
    }
}
