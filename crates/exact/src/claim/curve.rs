//! Several (ε, δ) at once, all of which a promise keeps.

use crate::extreme::Extreme;
use std::sync::Arc;

use super::Guarantee;
use crate::accountant::Accountant;
use crate::mechanism::Mechanism;
use leakgauge_base::error::{Error, Result};
use leakgauge_base::grammar::{Arguments, Bounds, Call, Parameter, Value};

/// How far a point may lie above the chord of its neighbors, through the rounding of a table.
const ROUNDING: f64 = 1e-9;

/// Some (ε, δ), in ascending order of ε. A mechanism keeps the curve if it keeps all of them.
#[derive(Debug, Clone, PartialEq)]
pub struct Curve {
    points: Arc<[(f64, f64)]>,
}

impl Curve {
    /// A curve with these points: ε at least 0, δ in \[0, 1\].
    fn new(mut points: Vec<(f64, f64)>) -> Self {
        points.sort_by(|x, y| x.0.total_cmp(&y.0).then(x.1.total_cmp(&y.1)));
        // Of equal ε the smallest δ says all.
        points.dedup_by(|next, kept| next.0 == kept.0);
        Curve {
            points: points.into(),
        }
    }

    /// The points.
    pub fn points(&self) -> &[(f64, f64)] {
        &self.points
    }

    /// Points that are spread over the curve, its ends among them: all of few, else five.
    pub fn spread(&self) -> Vec<(f64, f64)> {
        const MOST: usize = 5;
        let few = self.points.len().min(MOST);
        let last = self.points.len() - 1;
        let spread = |at: usize| self.points[at * last / (few - 1).max(1)];
        (0..few).map(spread).collect()
    }

    /// What a composition of steps of a mechanism keeps at ε = 0 and at 48 values from 0.05 to 12.7, up to the first
    /// whose δ no log could tell from 0: the certified upper sides.
    ///
    /// # Errors
    /// A mechanism without privacy losses, or too many steps.
    pub fn of_composition(step: &dyn Mechanism, steps: u64) -> Result<Self> {
        const POINTS: i32 = 48;
        /// Fewer than a log of any size has rows to show.
        const NEGLIGIBLE: f64 = 1e-15;
        let epsilons = (0..POINTS).map(|at| 0.05 * 1.125f64.powi(at));
        let epsilons: Vec<f64> = [0.0].into_iter().chain(epsilons).collect();
        let deltas = Accountant::deltas_at_most(step, steps, &epsilons, NEGLIGIBLE)?;
        Ok(Curve::new(epsilons.into_iter().zip(deltas).collect()))
    }

    /// The (ε, δ) that a trade-off function f implies, which is linear between neighboring points
    /// (false positive rate, least false negative rate). (0, 1) and (1, 0) are among the points unless others are
    /// given there.
    ///
    /// # Formula
    /// FNR ≥ f(FPR) is the same as FNR ≥ c − s·FPR for every segment of f, with its slope −s and its intercept c.
    /// Where s ≥ 1 this is (ln s, 1 − c); where s < 1 it is FPR ≥ c/s − FNR/s, which is (−ln s, 1 − c/s) with the
    /// answers exchanged. Neighbors are neighbors both ways, so f binds both orders of two secrets.
    ///
    /// # Errors
    /// Points that no trade-off function has: above the diagonal 1 − FPR, not falling, or not convex.
    ///
    /// # References
    /// J. Dong, A. Roth, W. J. Su, *Gaussian differential privacy*, Propositions 2.2 and 2.12,
    /// doi:10.1111/rssb.12454.
    pub fn of_trade_off(name: &str, table: &[(f64, f64)]) -> Result<Self> {
        let mut table = table.to_vec();
        let has = |table: &[(f64, f64)], rate: f64| table.iter().any(|point| point.0 == rate);
        if !has(&table, 0.0) {
            table.push((0.0, 1.0));
        }
        if !has(&table, 1.0) {
            table.push((1.0, 0.0));
        }
        table.sort_by(|x, y| x.0.total_cmp(&y.0));
        check(name, &table)?;
        let lines = table.windows(2).filter_map(|ends| {
            let ((x0, y0), (x1, y1)) = (ends[0], ends[1]);
            let slope = (y0 - y1) / (x1 - x0);
            let intercept = y0 + slope * x0;
            let (epsilon, delta) = if slope >= 1.0 {
                (slope.ln(), 1.0 - intercept)
            } else {
                (-slope.ln(), 1.0 - intercept / slope)
            };
            (slope > 0.0).then_some((epsilon, delta.clamp(0.0, 1.0)))
        });
        Ok(Curve::new(lines.collect()))
    }

    /// The largest total variation that all points together leave possible.
    ///
    /// # Formula
    /// The least (e^ε − 1 + 2δ)/(e^ε + 1) of all points: the largest of the lines 1 − δ − e^ε x, which is the
    /// trade-off function that they leave, has its errors equal where the last of the lines has, and is steepest
    /// around there.
    pub fn largest_total_variation(&self) -> f64 {
        let points = self.points.iter();
        let largest = |&(epsilon, delta): &(f64, f64)| {
            Guarantee::Dp { epsilon, delta }.largest_total_variation()
        };
        points.map(largest).fold(1.0, f64::at_most)
    }
}

fn check(name: &str, table: &[(f64, f64)]) -> Result<()> {
    let problem = |point: &(f64, f64), why: &str| {
        Err(Error::parameter(
            name,
            format!(
                "is no trade-off function at the false positive rate {}: the false negative rate {} {why}",
                point.0, point.1
            ),
        ))
    };
    for ends in table.windows(2) {
        if ends[0].0 == ends[1].0 {
            return problem(&ends[1], "is one of two there");
        }
        if ends[1].1 > ends[0].1 {
            return problem(&ends[1], "is above that of a smaller false positive rate");
        }
    }
    if let Some(point) = table
        .iter()
        .find(|point| point.1 > 1.0 - point.0 + ROUNDING)
    {
        return problem(point, "is above 1 minus that, which guessing blind has");
    }
    for three in table.windows(3) {
        let [(x0, y0), (x1, y1), (x2, y2)] = [three[0], three[1], three[2]];
        let chord = y0 + (y2 - y0) * (x1 - x0) / (x2 - x0);
        if y1 > chord + ROUNDING {
            return problem(&three[1], "is above the line between its neighbors");
        }
    }
    Ok(())
}

/// The points of `name(dp(…), dp(…), …)`.
///
/// # Errors
/// An argument that is no `dp(…)`, or none at all.
pub(super) fn of_dp_calls(call: &Call) -> Result<Curve> {
    const PARAMETERS: &[Parameter] = &[
        Parameter::positional("epsilon", "ε, at least 0"),
        Parameter::named("delta", "δ, between 0 and 1; default 0"),
    ];
    let points = inner(call, "dp", "dp(epsilon=1, delta=1e-5)", |point| {
        let arguments = Arguments::new(point, PARAMETERS)?;
        let epsilon = arguments.number("epsilon", Bounds::AtLeast(0.0))?;
        let delta = arguments.number_if_given("delta", Bounds::Between(0.0, 1.0))?;
        Ok((epsilon, delta.unwrap_or(0.0)))
    })?;
    Ok(Curve::new(points))
}

/// The points of `name(point(…), point(…), …)`.
///
/// # Errors
/// An argument that is no `point(…)`, or none at all.
pub(super) fn of_point_calls(call: &Call) -> Result<Vec<(f64, f64)>> {
    const PARAMETERS: &[Parameter] = &[
        Parameter::positional("fpr", "the false positive rate"),
        Parameter::positional("fnr", "the least false negative rate that it leaves"),
    ];
    inner(call, "point", "point(fpr=0.1, fnr=0.6)", |point| {
        let arguments = Arguments::new(point, PARAMETERS)?;
        let rate = |name: &str| arguments.number(name, Bounds::Between(0.0, 1.0));
        Ok((rate("fpr")?, rate("fnr")?))
    })
}

fn inner<T>(
    call: &Call,
    name: &str,
    example: &str,
    read: impl Fn(&Call) -> Result<T>,
) -> Result<Vec<T>> {
    let problem = || {
        Error::call(
            &call.to_string(),
            None,
            format!(
                "{} takes one or more {name}(…), separated by commas",
                call.name
            ),
        )
        .with_hint(format!("write {}({example}, …)", call.name))
    };
    if call.arguments.is_empty() {
        return Err(problem());
    }
    let points = call.arguments.iter();
    points
        .map(|argument| match (&argument.name, &argument.value) {
            (None, Value::Call(point)) if point.name == name => read(point),
            _ => Err(problem()),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Φ(Φ⁻¹(1 − x) − 1) to 25 digits by mpmath, and the chords' (ε, δ) computed there.
    const GAUSSIAN: [(f64, f64); 5] = [
        (0.01, 0.907637751926306),
        (0.1, 0.610856308354639),
        (0.3, 0.31717987036400426),
        (0.5, 0.15865525393145705),
        (0.8, 0.03276528645272375),
    ];
    const GOLDEN_LINES: [(f64, f64); 6] = [
        (0.23240747656715716, 0.2998351833275491),
        (0.3841612436873721, 0.24230547265004357),
        (0.8683742232088847, 0.12191922730079625),
        (1.193186317349596, 0.05938653212128649),
        (1.808947751451004, 0.0),
        (2.2231332315348533, 0.0),
    ];

    #[test]
    fn a_table_of_a_gaussian_is_refuted_by_what_the_gaussian_cannot_do() {
        let curve = Curve::of_trade_off("f", &GAUSSIAN).expect("convex");
        for ((epsilon, delta), (golden, of_delta)) in curve.points().iter().zip(GOLDEN_LINES) {
            assert!((epsilon - golden).abs() < 1e-12, "{epsilon} {golden}");
            assert!((delta - of_delta).abs() < 1e-12, "{delta} {of_delta}");
        }
        assert_eq!(curve.points().len(), GOLDEN_LINES.len());
    }

    /// The largest of the lines, both ways, against the table between its points, by a grid of rates.
    #[test]
    fn the_lines_are_the_function_of_the_table() {
        let symmetric = [(0.0, 0.9), (0.1, 0.4), (0.4, 0.1), (0.9, 0.0)];
        let curve = Curve::of_trade_off("f", &symmetric).expect("convex");
        let of_table = |x: f64| {
            let ends = symmetric.windows(2).find(|ends| x <= ends[1].0);
            ends.map_or(0.0, |ends| {
                let ((x0, y0), (x1, y1)) = (ends[0], ends[1]);
                y0 + (y1 - y0) * (x - x0) / (x1 - x0)
            })
        };
        let of_lines = |x: f64| {
            let lines = curve.points().iter();
            let both = lines.flat_map(|&(epsilon, delta)| {
                let steep = 1.0 - delta - epsilon.exp() * x;
                [steep, (1.0 - delta - x) * (-epsilon).exp()]
            });
            both.fold(0.0, f64::at_least)
        };
        for k in 0..=1000 {
            let x = f64::from(k) / 1000.0;
            assert!((of_table(x) - of_lines(x)).abs() < 1e-12, "{x}");
        }
        let advantage = (0..=100_000).map(|k| {
            let x = f64::from(k) / 100_000.0;
            1.0 - x - of_table(x)
        });
        let largest = advantage.fold(0.0, f64::at_least);
        assert!((curve.largest_total_variation() - largest).abs() < 1e-9);
    }

    #[test]
    fn what_is_no_trade_off_function_is_refused_by_its_rate() {
        for (table, named) in [
            (vec![(0.1, 0.95)], "guessing blind"),
            (vec![(0.1, 0.3), (0.2, 0.4)], "smaller false positive rate"),
            (vec![(0.1, 0.5), (0.3, 0.45), (0.5, 0.1)], "neighbors"),
            (vec![(0.1, 0.5), (0.1, 0.4)], "two"),
        ] {
            let error = Curve::of_trade_off("f-dp(…)", &table).unwrap_err();
            assert!(error.to_string().contains(named), "{error}");
        }
    }
}
