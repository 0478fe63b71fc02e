//! Figure 1: the most distinguishable of five secrets in the plane.

use libm::{exp, hypot};

use super::{FigureOutput, ReproduceOptions};
use leakgauge_base::error::Result;
use leakgauge_exact::mechanism;
use leakgauge_plot::{Axis, Caption, Field, FieldPoint, field};
use leakgauge_plot::{Figure, Table};

/// The positions of the five secrets; the paper does not print them.
pub(super) const SECRETS: [(f64, f64); 5] =
    [(0.0, 0.0), (2.0, 1.0), (4.5, 0.5), (1.0, 3.0), (3.5, 3.5)];
/// The scale of the noise; the paper does not print it.
const SCALE: f64 = 0.5;
const X: (f64, f64) = (-1.5, 6.0);
const Y: (f64, f64) = (-1.5, 5.0);
const COLUMNS: usize = 150;
const ROWS: usize = 130;

/// Density of an observation under a secret.
///
/// # Formula
/// e^(−d/λ)/2πλ².
fn density(secret: (f64, f64), at: (f64, f64)) -> f64 {
    let distance = hypot(at.0 - secret.0, at.1 - secret.1);
    exp(-distance / SCALE) / (2.0 * std::f64::consts::PI * SCALE * SCALE)
}

/// Centers of the cells, row by row from the bottom.
fn places() -> impl Iterator<Item = (f64, f64)> {
    let at = |(from, to): (f64, f64), k: usize, of: usize| {
        from + (to - from) * (k as f64 + 0.5) / of as f64
    };
    (0..ROWS).flat_map(move |row| {
        (0..COLUMNS).map(move |column| (at(X, column, COLUMNS), at(Y, row, ROWS)))
    })
}

/// The worst pair of the five by the closed form of the mechanism, and its Bayes security.
pub(super) fn worst() -> Result<(usize, usize, f64)> {
    let labels: Vec<String> = SECRETS.iter().map(|(x, y)| format!("{x};{y}")).collect();
    let bound = mechanism::parse(&format!("planar-laplace(scale={SCALE})"))?.bind(&labels)?;
    let (a, b) = bound.worst_pair().unwrap_or((0, 1));
    Ok((a, b, bound.bayes_security(a, b)))
}

pub(super) fn figure_1(_: &ReproduceOptions) -> Result<FigureOutput> {
    let (a, b, security) = worst()?;
    let mut table = Table::new(&[
        "x",
        "y",
        "density_s1",
        "density_s2",
        "density_s3",
        "density_s4",
        "density_s5",
    ]);
    let mut values = Vec::new();
    for at in places() {
        let d = SECRETS.map(|secret| density(secret, at));
        table.push([
            at.0.into(),
            at.1.into(),
            d[0].into(),
            d[1].into(),
            d[2].into(),
            d[3].into(),
            d[4].into(),
        ]);
        values.push(d.iter().sum::<f64>() / d.len() as f64);
    }
    let point = |(at, (x, y)): (usize, (f64, f64))| FieldPoint {
        x,
        y,
        label: format!("s{}", at + 1),
        marked: at == a || at == b,
    };
    let svg = field(&Field {
        caption: Caption::new(
            "Five secrets under a planar Laplace mechanism",
            format!(
                "Density of the observation, with a peak at each secret. The worst pair is s{} and s{}: Bayes security {security:.4}.",
                a + 1,
                b + 1
            ),
        ),
        x: Axis::linear("x").from_to(X.0, X.1),
        y: Axis::linear("y").from_to(Y.0, Y.1),
        columns: COLUMNS,
        values,
        scale: Axis::linear("density of the observation").from_to(0.0, 0.1),
        points: SECRETS.into_iter().enumerate().map(point).collect(),
        joined: Some((a, b, format!("β* = {security:.4}"))),
    });
    Ok(FigureOutput {
        notes: vec![
            format!(
                "The paper prints neither the positions of the secrets nor the scale; this program uses (0, 0), (2, 1), (4.5, 0.5), (1, 3), (3.5, 3.5) and scale {SCALE}."
            ),
            format!(
                "The worst pair is s{} and s{}, Bayes security {security:.6} (closed form). The picture is the density at a uniform prior; colors end at 0.1.",
                a + 1,
                b + 1
            ),
        ],
        pictures: vec![Figure {
            file: "bayes-security-figure-1",
            table,
            svg,
        }],
        ..FigureOutput::default()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The closed form against a sum over cells: 1e-3 of its size, the cells being coarse at the peaks.
    #[test]
    fn the_overlap_of_the_worst_pair_is_its_bayes_security() {
        let (a, b, security) = worst().unwrap();
        let step = 0.01;
        let mut sum = 0.0;
        for i in -500..1000 {
            for k in -500..1000 {
                let at = (f64::from(i) * step, f64::from(k) * step);
                sum += density(SECRETS[a], at).min(density(SECRETS[b], at));
            }
        }
        let sum = sum * step * step;
        assert!((sum / security - 1.0).abs() < 1e-3, "{sum} {security}");
    }
}
