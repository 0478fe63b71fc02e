//! Graphs of mutual information against the number of messages.

use super::{curve, with_points};
use leakgauge_exact::shuffle::information::{
    Figure as Information, RandomizerFigure, RandomizerSurvey, Row, Survey,
};
use leakgauge_plot::{Axis, Caption, Chart, Layer, Mark, Spot, chart};
use leakgauge_plot::{Figure, Table};

/// The graphs of a survey: the position and the message.
pub fn information_pictures(survey: &Survey) -> Vec<Figure> {
    vec![
        one_figure(
            survey,
            "shuffle-information-position",
            ("Information about the position", "I(K; Z), nats"),
            |row| row.position,
        ),
        one_figure(
            survey,
            "shuffle-information-message",
            ("Information about the message", "I(Y₁; Z), nats"),
            |row| row.message,
        ),
    ]
}

fn one_figure(
    survey: &Survey,
    file: &'static str,
    (title, label): (&str, &str),
    of: fn(&Row) -> Information,
) -> Figure {
    let mut table = Table::new(&["n", "exact", "asymptotic", "simulated", "standard_error"]);
    let [mut exact, mut asymptotic] = [const { Vec::new() }; 2];
    let mut spots = Vec::new();
    for row in &survey.rows {
        let figure = of(row);
        let found = figure.monte_carlo;
        table.push([
            row.n.into(),
            figure.exact.into(),
            figure.asymptotic.into(),
            found.map(|found| found.mean).into(),
            found.map(|found| found.standard_error).into(),
        ]);
        exact.push((row.n as f64, figure.exact));
        asymptotic.push((row.n as f64, figure.asymptotic));
        spots.extend(found.map(|found| Spot {
            x: row.n as f64,
            y: Some(found.mean),
            lower: Some(found.mean - 2.0 * found.standard_error),
            upper: Some(found.mean + 2.0 * found.standard_error),
        }));
    }
    let mut layers = vec![
        Layer::new("exact", 0, curve(exact)),
        Layer::new("asymptotic", 1, curve(asymptotic)),
    ];
    if !spots.is_empty() {
        let name = "simulated, ± 2 standard errors";
        layers.push(Layer::new(name, 2, Mark::Points(spots)));
    }
    let about = "The exact value and its asymptotic expansion, which is closer for more messages.";
    let svg = draw(title, about, label, layers);
    Figure { file, table, svg }
}

/// The graph of a randomizer's survey.
pub fn randomizer_pictures(survey: &RandomizerSurvey) -> Vec<Figure> {
    type Of = fn(&RandomizerFigure) -> Option<f64>;
    let figures: [(&str, Of); 4] = [
        ("exact, same distribution", |figure| Some(figure.exact)),
        ("asymptotic", |figure| figure.asymptotic),
        ("bound for any other inputs", |figure| Some(figure.blanket)),
        ("any ε-private randomizer", |figure| figure.unified),
    ];
    let mut table = Table::new(&["n", "exact", "asymptotic", "blanket", "unified"]);
    for row in &survey.rows {
        let [a, b, c, d] = figures.map(|(_, of)| of(&row.input).into());
        table.push([row.n.into(), a, b, c, d]);
    }
    let layer = |(series, (name, of)): (usize, (&str, Of))| {
        let point = |row: &leakgauge_exact::shuffle::information::RandomizerRow| {
            of(&row.input).map(|y| (row.n as f64, y))
        };
        Layer::new(
            name,
            series,
            curve(survey.rows.iter().filter_map(point).collect()),
        )
    };
    let svg = draw(
        "Information about an input",
        "The exact value if the other users' inputs have the same distribution, the bound from the randomizer's blanket, and the leading term of the bound for all randomizers.",
        "I(X₁; Z), nats",
        figures.into_iter().enumerate().map(layer).collect(),
    );
    vec![Figure {
        file: "shuffle-information-input",
        table,
        svg,
    }]
}

/// A logarithmic scale, unless some value is 0.
fn draw(title: &str, about: &str, label: &str, layers: Vec<Layer>) -> String {
    let positive = |layer: &Layer| match &layer.mark {
        Mark::Line(points) => points.iter().all(|(_, y)| *y > 0.0),
        Mark::Points(spots) => spots
            .iter()
            .all(|spot| [spot.y, spot.lower].into_iter().flatten().all(|y| y > 0.0)),
        _ => false,
    };
    let y = if layers.iter().all(positive) {
        Axis::log(label)
    } else {
        Axis::linear(label)
    };
    chart(&Chart {
        caption: Caption::new(title, about),
        x: Axis::log("messages n"),
        y,
        layers: with_points(layers),
        aspect: 0.62,
    })
}
