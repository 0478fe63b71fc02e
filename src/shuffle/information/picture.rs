//! Informations against numbers of messages.

use super::{RandomizerSurvey, Survey};
use crate::plot::{Axis, Caption, Chart, Layer, Mark, Spot, chart};

const MESSAGES: &str = "messages n";

/// File names and pictures of a survey: the position and the message.
pub fn pictures(survey: &Survey) -> Vec<(&'static str, String)> {
    let of = |row: &super::Row, position: bool| if position { row.position } else { row.message };
    let one = |position: bool, title: &str, label: &str| {
        let points = |value: &dyn Fn(super::Figure) -> f64| {
            survey
                .rows
                .iter()
                .map(|row| (row.n as f64, value(of(row, position))))
                .collect::<Vec<_>>()
        };
        let mut layers = vec![
            Layer::new("exact", 0, Mark::Line(points(&|figure| figure.exact))),
            Layer::new(
                "asymptotic",
                1,
                Mark::Line(points(&|figure| figure.asymptotic)),
            ),
        ];
        let spot = |row: &super::Row| {
            of(row, position).monte_carlo.map(|found| Spot {
                x: row.n as f64,
                y: Some(found.mean),
                lower: Some(found.mean - 2.0 * found.standard_error),
                upper: Some(found.mean + 2.0 * found.standard_error),
            })
        };
        let spots: Vec<Spot> = survey.rows.iter().filter_map(spot).collect();
        if !spots.is_empty() {
            layers.push(Layer::new(
                "simulated, ± 2 standard errors",
                2,
                Mark::Points(spots),
            ));
        }
        draw(
            title,
            "The exact value and its expansion, the closer the more messages there are.",
            label,
            layers,
        )
    };
    vec![
        (
            "shuffle-information-position.svg",
            one(true, "Information about the position", "I(K; Z), nats"),
        ),
        (
            "shuffle-information-message.svg",
            one(false, "Information about the message", "I(Y₁; Z), nats"),
        ),
    ]
}

/// File name and picture of a randomizer's survey.
pub fn randomizer_pictures(survey: &RandomizerSurvey) -> Vec<(&'static str, String)> {
    let points = |value: &dyn Fn(&super::RandomizerFigure) -> Option<f64>| {
        let one = |row: &super::RandomizerRow| value(&row.input).map(|y| (row.n as f64, y));
        Mark::Line(survey.rows.iter().filter_map(one).collect())
    };
    let layers = vec![
        Layer::new("exact, others alike", 0, points(&|f| Some(f.exact))),
        Layer::new("asymptotic", 1, points(&|f| f.asymptotic)),
        Layer::new("bound for any others", 2, points(&|f| Some(f.blanket))),
        Layer::new("any ε-private randomizer", 3, points(&|f| f.unified)),
    ];
    let svg = draw(
        "Information about an input",
        "The exact value if the others' inputs have the same law, below the bound by the randomizer's blanket, and the leading term of the bound for all randomizers.",
        "I(X₁; Z), nats",
        layers,
    );
    vec![("shuffle-information-input.svg", svg)]
}

fn draw(title: &str, about: &str, label: &str, layers: Vec<Layer>) -> String {
    chart(&Chart {
        caption: Caption::new(title, about),
        x: Axis::log(MESSAGES),
        y: Axis::linear(label),
        layers,
        aspect: 0.62,
    })
}
