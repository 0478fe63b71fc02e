//! δ(ε) of a mechanism or promise at many ε.

use std::io::{self, Write};

use super::{BoundsOptions, bounds, composition};
use crate::accountant::{Accountant, Sides};
use crate::claim::ClaimKind;
use leakgauge_base::error::{Error, Result};
use leakgauge_base::grammar::Call;

/// A point of a curve.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CurvePoint {
    /// ε.
    pub epsilon: f64,
    /// The smallest δ with which (ε, δ)-differential privacy holds, or one that is not below it.
    pub delta: f64,
    /// A δ that is not above it, where it is only known from both sides.
    pub delta_at_least: Option<f64>,
}

/// δ at ε = 0 and at 63 values from 0.01 to 50, up to the first δ below 1e-30. Of the options only the number of
/// repetitions is read.
///
/// # Errors
/// Those of [`bounds`]; a grid of mechanisms; δ that is not known.
pub fn curve(text: &str, options: &BoundsOptions) -> Result<Vec<CurvePoint>> {
    const POINTS: i32 = 63;
    const NEGLIGIBLE: f64 = 1e-30;
    let accountant = accountant(text, options)?;
    let mut points = Vec::new();
    let epsilons = (0..POINTS).map(|at| 0.01 * 5000f64.powf(f64::from(at) / f64::from(POINTS - 1)));
    for epsilon in [0.0].into_iter().chain(epsilons) {
        let (delta, delta_at_least) = match &accountant {
            Some(accountant) => {
                let Sides { least, most } = accountant.delta(epsilon);
                (most, Some(least))
            }
            None => (delta(text, options, epsilon)?, None),
        };
        if delta.is_nan() || delta_at_least.is_some_and(f64::is_nan) {
            return Err(Error::parameter(text, "its delta cannot be computed")
                .with_hint("a parameter is too small or too large for double precision"));
        }
        points.push(CurvePoint {
            epsilon,
            delta,
            delta_at_least,
        });
        if delta <= NEGLIGIBLE {
            break;
        }
    }
    Ok(points)
}

/// Writes rows `epsilon,delta` with a head, and `delta_at_least` where both sides are known. Numbers read back as the same.
///
/// # Errors
/// The output cannot be written.
pub fn write_curve(points: &[CurvePoint], out: &mut dyn Write) -> io::Result<()> {
    let has_sides = points.iter().any(|point| point.delta_at_least.is_some());
    out.write_all(match has_sides {
        true => b"epsilon,delta,delta_at_least\n",
        false => b"epsilon,delta\n",
    })?;
    for point in points {
        write!(out, "{:e},{:e}", point.epsilon, point.delta)?;
        match point.delta_at_least {
            Some(least) => writeln!(out, ",{least:e}")?,
            None => writeln!(out)?,
        }
    }
    Ok(())
}

/// What composes the steps of a composition, once for all ε.
fn accountant(text: &str, options: &BoundsOptions) -> Result<Option<Accountant>> {
    let repeat = options.repeat.unwrap_or(1);
    if let Some(mut terms) = composition::terms(text)? {
        terms
            .iter_mut()
            .for_each(|(_, steps)| *steps = steps.saturating_mul(repeat));
        return Accountant::of_composition(&terms).map(Some);
    }
    let calls = Call::parse(text)?.expand_grids(2)?;
    let [call] = &calls[..] else {
        return Err(
            Error::parameter(text, "is a grid, and a curve is that of one mechanism")
                .with_hint("give every parameter one value"),
        );
    };
    match ClaimKind::from_call(call)? {
        ClaimKind::Promise(promise) => match promise.composition() {
            Some((step, steps)) => {
                Accountant::of_mechanism(&*step, steps.saturating_mul(repeat)).map(Some)
            }
            None => Ok(None),
        },
        ClaimKind::Mechanism(mechanism) => match options.repeat {
            Some(steps) => Accountant::of_mechanism(&*mechanism, steps).map(Some),
            None => Ok(None),
        },
    }
}

/// δ of one run of a mechanism, or of a promise.
fn delta(text: &str, options: &BoundsOptions, epsilon: f64) -> Result<f64> {
    let asked = BoundsOptions {
        at_epsilon: Some(epsilon),
        repeat: options.repeat,
        ..BoundsOptions::default()
    };
    let table = bounds(text, &asked)?;
    let row = table.rows.first();
    row.and_then(|row| row.figure("delta_at_epsilon"))
        .ok_or_else(|| Error::parameter(text, "its delta at an epsilon is not known"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn points_are_those_of_closed_forms() {
        let none = BoundsOptions::default();
        for point in curve("laplace(scale=2, secrets=2)", &none).unwrap() {
            let exact = -libm::expm1(if point.epsilon < 0.5 {
                0.5 * (point.epsilon - 0.5)
            } else {
                0.0
            });
            assert!((point.delta - exact).abs() < 1e-15, "{point:?} {exact}");
        }
        let repeated = BoundsOptions {
            repeat: Some(9),
            ..none
        };
        let points = curve("gaussian(sigma=3, secrets=2)", &repeated).unwrap();
        assert!(points.len() > 20);
        for CurvePoint {
            epsilon,
            delta,
            delta_at_least,
        } in points
        {
            let exact = crate::hockey_stick::gaussian(1.0, epsilon);
            let least = delta_at_least.unwrap();
            assert!(
                least <= exact && exact <= delta && delta - least <= 1e-6 * exact,
                "{epsilon}: {least} {exact} {delta}"
            );
        }
        let response = "randomized-response(epsilon=0.2, secrets=2)";
        let points = curve(&format!("compose({response}*2)"), &none).unwrap();
        let twice = BoundsOptions {
            repeat: Some(2),
            ..none
        };
        let other = curve(response, &twice).unwrap();
        assert!((points[3].delta / other[3].delta - 1.0).abs() < 1e-3);
        assert!(curve("dp-sgd(sigma=4, rate=1, steps=4)", &none).unwrap()[0].delta > 0.19);
        assert_eq!(
            curve("gdp(1)", &none).unwrap()[0].delta,
            crate::hockey_stick::gaussian(1.0, 0.0)
        );
    }

    #[test]
    fn rows_read_back_and_what_has_no_curve_is_refused() {
        let none = BoundsOptions::default();
        let mut written = Vec::new();
        let points = curve("dp(epsilon=1, delta=1e-5)", &none).unwrap();
        write_curve(&points, &mut written).unwrap();
        let text = String::from_utf8(written).unwrap();
        let rows: Vec<Vec<f64>> = text
            .lines()
            .skip(1)
            .map(|line| {
                line.split(',')
                    .map(|field| field.parse().unwrap())
                    .collect()
            })
            .collect();
        assert_eq!(rows.len(), points.len());
        assert!(
            rows.iter()
                .zip(&points)
                .all(|(row, point)| row[..] == [point.epsilon, point.delta])
        );
        for text in ["gdp(1..2:2)", "nothing(1)", "gaussian(sigma=1)"] {
            assert!(curve(text, &none).is_err(), "{text}");
        }
    }
}
