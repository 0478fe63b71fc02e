//! Pictures of a comparison.

use crate::compare::{Comparison, Difference, Differences, LogEntry};
use crate::estimate::Estimate;
use crate::report::log_names::log_names;
use leakgauge_base::rounding::allowance;
use leakgauge_plot::Picture;
use leakgauge_plot::{Axis, Caption, Chart, Dot, Dots, Layer, Mark, Spot, chart, dots};

/// Names of all pictures that [`comparison_plots`] can give.
pub const COMPARISON_PLOTS: [&str; 4] = [
    "compare-total-variation",
    "compare-residuals",
    "compare-vulnerability",
    "compare-differences",
];

/// The pictures of a comparison; residuals only where there are any.
pub fn comparison_plots(found: &Comparison) -> Vec<Picture> {
    let has_residuals = found.logs.iter().any(|log| log.residual.is_some());
    let drawn = [
        Some(total_variations(found)),
        has_residuals.then(|| residuals(found)),
        Some(vulnerabilities(found)),
        Some(differences(found)),
    ];
    let named = COMPARISON_PLOTS.into_iter().zip(drawn);
    named
        .filter_map(|(name, svg)| Some(Picture { name, svg: svg? }))
        .collect()
}

/// Where a log is on the axis: at its parameter, else at its number.
fn place(at: usize, log: &LogEntry) -> f64 {
    log.parameter
        .as_ref()
        .map_or((at + 1) as f64, |parameter| parameter.value)
}

/// Along which logs lie: the parameter in which their mechanisms differ.
fn x_axis(found: &Comparison) -> Option<Axis> {
    let mut parameters = found.logs.iter().filter_map(|log| log.parameter.as_ref());
    Some(Axis::linear(parameters.next()?.name.clone()))
}

/// A line for each log, where they lie along nothing.
fn by_log(
    found: &Comparison,
    caption: Caption,
    x: Axis,
    name: String,
    dot: impl Fn(&LogEntry) -> Dot,
) -> String {
    let logs = log_names(found).into_iter().zip(&found.logs);
    let rows: Vec<Dot> = logs.map(|(label, log)| Dot { label, ..dot(log) }).collect();
    let exact = rows.iter().any(|row| row.reference.is_some());
    dots(&Dots {
        caption,
        x,
        name,
        reference_name: if exact { "analytic" } else { "" }.to_owned(),
        rows,
    })
}

fn dot(estimate: &Estimate, reference: Option<f64>) -> Dot {
    Dot {
        label: String::new(),
        point: estimate.point,
        lower: estimate.lower,
        upper: estimate.upper,
        reference,
        ..Dot::default()
    }
}

fn spots(found: &Comparison, estimate: impl Fn(&LogEntry) -> &Estimate) -> Mark {
    let logs = found.logs.iter().enumerate();
    Mark::Points(
        logs.map(|(at, log)| {
            let estimate = estimate(log);
            Spot {
                x: place(at, log),
                y: estimate.point,
                lower: estimate.lower,
                upper: estimate.upper,
            }
        })
        .collect(),
    )
}

fn percent(found: &Comparison) -> String {
    allowance(100.0 * found.confidence)
}

/// Estimates with limits on the analytic curve.
fn total_variations(found: &Comparison) -> String {
    let caption = Caption::new(
        "Total variation of the worst pair, log by log",
        "Total variation of the pair that is easiest to tell apart in each log, with confidence limits where there are \
         any, and the analytic value of the mechanism.",
    );
    let name = format!("estimate, {} % limits", percent(found));
    let y = Axis::linear("total variation").from_to(0.0, 1.0);
    let Some(x) = x_axis(found) else {
        return by_log(found, caption, y, name, |log| {
            let exact = log.analytic.as_ref().map(|exact| exact.total_variation);
            dot(&log.worst_pair.total_variation, exact)
        });
    };
    let mut layers = Vec::new();
    if let Some(curve) = &found.curve {
        let points = curve.points.iter();
        layers.push(Layer::new(
            "analytic, worst pair",
            0,
            Mark::Line(
                points
                    .map(|point| (point.value, point.total_variation))
                    .collect(),
            ),
        ));
    }
    let exact = found.logs.iter().enumerate().filter_map(|(at, log)| {
        let exact = log.analytic.as_ref()?;
        // The curve says the rest.
        let beside =
            found.curve.is_none() || exact.total_variation != exact.worst_pair.total_variation;
        beside.then_some(Spot {
            x: place(at, log),
            y: Some(exact.total_variation),
            ..Spot::default()
        })
    });
    let exact: Vec<Spot> = exact.collect();
    if !exact.is_empty() {
        layers.push(Layer::new(
            "analytic, the pair estimated",
            2,
            Mark::Points(exact),
        ));
    }
    let estimates = spots(found, |log| &log.worst_pair.total_variation);
    layers.push(Layer::new(name, 1, estimates));
    chart(&Chart {
        caption,
        x,
        y,
        layers,
        aspect: 0.62,
    })
}

/// Estimates minus analytic values at the pair estimated, with limits moved likewise.
fn residuals(found: &Comparison) -> String {
    let caption = Caption::new(
        "Residuals of the worst pair, log by log",
        "Estimated total variation minus that of the mechanism for the same pair, with confidence limits. Limits that \
         exclude 0 are evidence against the mechanism.",
    );
    let residual = |log: &LogEntry| -> Dot {
        let Some(exact) = &log.analytic else {
            return Dot::default();
        };
        let estimate = &log.worst_pair.total_variation;
        Dot {
            point: log.residual.map(|residual| residual.total_variation),
            lower: estimate.lower.map(|limit| limit - exact.total_variation),
            upper: estimate.upper.map(|limit| limit - exact.total_variation),
            ..Dot::default()
        }
    };
    let name = format!("residual, {} % limits", percent(found));
    let y = Axis::linear("estimate − analytic");
    let dots: Vec<Dot> = found.logs.iter().map(residual).collect();
    let Some(x) = x_axis(found) else {
        return by_log(
            found,
            caption,
            around_zero("estimate − analytic", &dots),
            name,
            residual,
        );
    };
    let logs = found.logs.iter().enumerate();
    let spots = logs.map(|(at, log)| {
        let residual = residual(log);
        Spot {
            x: place(at, log),
            y: residual.point,
            lower: residual.lower,
            upper: residual.upper,
        }
    });
    chart(&Chart {
        caption,
        x,
        y,
        layers: vec![
            Layer::new("", 0, Mark::Level(0.0)),
            Layer::new(name, 1, Mark::Points(spots.collect())),
        ],
        aspect: 0.4,
    })
}

/// Success of guesses among all secrets.
fn vulnerabilities(found: &Comparison) -> String {
    let caption = Caption::new(
        "Success of guessing the secret, log by log",
        "How often the attack found guesses the secret of a row, with confidence limits.",
    );
    let name = format!("attack found, {} % limits", percent(found));
    let y = Axis::linear("probability of success").from_to(0.0, 1.0);
    let Some(x) = x_axis(found) else {
        return by_log(found, caption, y, name, |log| {
            let exact = log.analytic.as_ref();
            let exact = exact.and_then(|exact| exact.bayes_vulnerability);
            dot(&log.overall.attack_vulnerability, exact)
        });
    };
    let mut layers = Vec::new();
    let logs = found.logs.iter().enumerate();
    let blind = logs.map(|(at, log)| Spot {
        x: place(at, log),
        y: Some(1.0 - log.overall.guessing_error),
        ..Spot::default()
    });
    layers.push(Layer::new(
        "guessing blind",
        3,
        Mark::Points(blind.collect()),
    ));
    let logs = found.logs.iter().enumerate();
    let exact = logs.filter_map(|(at, log)| {
        Some(Spot {
            x: place(at, log),
            y: Some(log.analytic.as_ref()?.bayes_vulnerability?),
            ..Spot::default()
        })
    });
    let exact: Vec<Spot> = exact.collect();
    if !exact.is_empty() {
        layers.push(Layer::new("analytic, best attack", 2, Mark::Points(exact)));
    }
    let attack = spots(found, |log| &log.overall.attack_vulnerability);
    layers.push(Layer::new(name, 1, attack));
    chart(&Chart {
        caption,
        x,
        y,
        layers,
        aspect: 0.62,
    })
}

/// An axis of differences, on which 0 always is.
fn around_zero(label: &str, rows: &[Dot]) -> Axis {
    let numbers = rows
        .iter()
        .flat_map(|row| [row.point, row.lower, row.upper, row.reference]);
    let (least, most) = numbers
        .flatten()
        .filter(|x| x.is_finite())
        .fold((0.0, 0.0), |(least, most): (f64, f64), x| {
            (least.min(x), most.max(x))
        });
    let room = 0.04 * (most - least);
    Axis::linear(label).from_to(least - room, most + room)
}

fn differences(found: &Comparison) -> String {
    type Figure = fn(&Differences) -> &Difference;
    let figures: [(&str, Figure); 4] = [
        ("success, attack found", |all| &all.attack_vulnerability),
        ("success, best attack", |all| &all.bayes_vulnerability),
        ("advantage, attack found", |all| &all.attack_advantage),
        ("largest total variation", |all| &all.total_variation),
    ];
    // A figure after the other: what is compared stands side by side.
    let rows = figures.into_iter().flat_map(|(name, figure)| {
        found.differences.iter().map(move |differences| {
            let [earlier, later] = differences.logs;
            let figure = figure(differences);
            Dot {
                // Of two logs there is one difference only, which the caption explains.
                label: match found.differences.len() {
                    1 => name.to_owned(),
                    _ => format!("{name}, {later} − {earlier}"),
                },
                point: figure.difference.point,
                lower: figure.difference.lower,
                upper: figure.difference.upper,
                reference: figure.analytic,
                ..Dot::default()
            }
        })
    });
    let rows: Vec<Dot> = rows.collect();
    let exact = rows.iter().any(|row| row.reference.is_some());
    dots(&Dots {
        caption: Caption::new(
            "Differences between logs",
            "The later log minus the earlier one, with confidence limits where there are any. Left of 0, the later log \
             leaks less.",
        ),
        x: around_zero("difference", &rows),
        name: format!("estimate, {} % limits", percent(found)),
        reference_name: if exact { "analytic" } else { "" }.to_owned(),
        rows,
    })
}
