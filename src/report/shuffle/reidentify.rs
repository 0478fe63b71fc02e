//! The report about re-identification, as a document and as graphs.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use super::with_points;
use crate::report::document::Document;
use crate::report::figure_files::write_with_data;
use crate::report::numbers::{at_least, at_most, nearest};
use crate::report::{Layout, write_summed};
use leakgauge_base::error::Result;
use leakgauge_base::naming::option;
use leakgauge_exact::shuffle::reidentification::{
    Estimated, Exact, Figures, Form, Game, Given, RatioLaw, Reidentification, Shuffled,
    honeyword::System,
};
use leakgauge_plot::{Axis, Caption, Chart, Layer, Mark, Spot, chart};
use leakgauge_plot::{Figure, Table};

/// Writes a report.
///
/// # Errors
/// An error of the writer.
pub fn write_reidentification(
    found: &Reidentification,
    layout: impl Into<Layout>,
    out: &mut dyn Write,
) -> io::Result<()> {
    write_summed(found, || document(found), layout, out)
}

fn document(found: &Reidentification) -> Document {
    let mut document = Document::default();
    match (&found.figures, &found.decoys) {
        (_, Some(decoys)) => document.heading(format!(
            "Re-identification of {} among {decoys}",
            found.target
        )),
        (_, None) => document.heading(format!("Re-identification: shuffled {}", found.target)),
    }
    if let (Some(forms), Some(decoys)) = (&found.read, &found.decoys) {
        document.list(read_lines([&found.target, decoys], forms, &found.figures));
    }
    match &found.figures {
        Figures::Exact(exact) => exact_sections(&mut document, exact),
        Figures::Estimate(estimate) => estimate_sections(&mut document, estimate),
        Figures::Randomizer(shuffled) => randomizer_sections(&mut document, shuffled),
        Figures::GivenInputs(given) => given_section(&mut document, given),
    }
    document.list(found.notes.clone());
    document
}

/// How the target and the decoys were read.
fn read_lines(names: [&String; 2], forms: &[Form; 2], figures: &Figures) -> Vec<String> {
    let line = |(name, form): (&String, &Form)| match form {
        Form::Probabilities { labels } => {
            Some(format!("{name}: probabilities of {labels} messages."))
        }
        Form::Counts { labels, messages } => Some(format!(
            "{name}: counts of {labels} different messages, {messages} in all."
        )),
        Form::Messages { messages } => Some(format!("{name}: {messages} messages, one per row.")),
        Form::Family => None,
    };
    let mut lines: Vec<String> = names.into_iter().zip(forms).filter_map(line).collect();
    let is_sample = |form: &Form| matches!(form, Form::Counts { .. } | Form::Messages { .. });
    if matches!(figures, Figures::Exact(_)) && forms.iter().any(is_sample) {
        lines.push(format!(
            "Frequencies are taken as the true probabilities. {} gives estimates with limits instead.",
            option("samples")
        ));
    }
    lines
}

/// Six significant digits.
fn number(x: f64) -> String {
    let rounded = format!("{x:.5e}").parse().unwrap_or(x);
    leakgauge_base::grammar::format_number(rounded)
}

fn or(x: Option<f64>, otherwise: &str) -> String {
    x.map_or(otherwise.to_owned(), number)
}

fn exact_sections(document: &mut Document, exact: &Exact) {
    document.list(vec![
        format!(
            "Mass of the target outside the support of the decoys, f(∞): {}.",
            number(exact.certain_mass)
        ),
        format!(
            "Largest likelihood ratio, M: {}.",
            or(exact.max_ratio, "infinite")
        ),
        format!("Total variation: {}.", number(exact.total_variation)),
    ]);
    let rows = exact.rows.iter().map(|row| {
        vec![
            row.success.n.to_string(),
            row.success.guesses.to_string(),
            number(row.success.success),
            number(row.success.additive_advantage),
            number(row.success.multiplicative_advantage),
            or(row.asymptotic, "n/a"),
        ]
    });
    let header = vec![
        "n",
        "guesses",
        "success",
        "additive advantage",
        "multiplicative advantage",
        "asymptotic",
    ];
    if !exact.rows.is_empty() {
        document.table(header, 0, rows.collect());
    }
    let needed = exact.needed.iter().map(|needed| {
        let n = needed
            .n
            .map_or("no n is enough".to_owned(), |n| n.to_string());
        vec![number(needed.success), needed.guesses.to_string(), n]
    });
    if !exact.needed.is_empty() {
        document.table(
            vec!["success at most", "guesses", "needs n"],
            0,
            needed.collect(),
        );
    }
}

fn estimate_sections(document: &mut Document, estimate: &Estimated) {
    let none = || "n/a".to_owned();
    let rows = estimate.rows.iter().map(|row| {
        vec![
            row.n.to_string(),
            row.guesses.to_string(),
            row.success.point.map_or_else(none, nearest),
            at_least(row.success.lower),
            row.success.upper.map_or_else(none, at_most),
            at_least(row.multiplicative_advantage.lower),
            row.multiplicative_advantage
                .upper
                .map_or_else(none, at_most),
        ]
    });
    let header = vec![
        "n",
        "guesses",
        "success",
        "at least",
        "at most",
        "multiplicative advantage at least",
        "at most",
    ];
    document.table(header, 0, rows.collect());
    let method = &estimate.method;
    document.list(vec![
        format!(
            "Messages are read as {}; the scorer {} was trained on {} + {} rows (target + decoys) and certified on {} + {}.",
            method.messages,
            method.scorer,
            method.fit[0],
            method.fit[1],
            method.certify[0],
            method.certify[1]
        ),
        format!(
            "Confidence limits at {} %: {}, {} thresholds{}.",
            leakgauge_base::rounding::percent_beyond(estimate.confidence, 0.0),
            method.lower,
            method.thresholds,
            method.upper.map_or(String::new(), |upper| format!("; {upper}"))
        ),
    ]);
}

fn given_section(document: &mut Document, given: &Given) {
    let rows = given.rows.iter().map(|row| {
        vec![
            row.input.clone(),
            row.success.n.to_string(),
            row.success.guesses.to_string(),
            number(row.success.success),
            number(row.success.additive_advantage),
            number(row.success.multiplicative_advantage),
        ]
    });
    let header = vec![
        "input",
        "n",
        "guesses",
        "success",
        "additive advantage",
        "multiplicative advantage",
    ];
    document.table(header, 1, rows.collect());
}

fn randomizer_sections(document: &mut Document, shuffled: &Shuffled) {
    document.list(vec![
        format!("Epsilon: {}.", or(shuffled.epsilon, "infinite")),
        format!(
            "Mass of the blanket, which the messages of all inputs share: {}.",
            number(shuffled.blanket_mass)
        ),
        format!(
            "Success is at most {} times that of random guesses, and approaches this for large n.",
            or(shuffled.max_ratio, "any number of")
        ),
    ]);
    let rows = shuffled.rows.iter().map(|row| {
        vec![
            row.n.to_string(),
            row.guesses.to_string(),
            number(row.clone),
            number(row.blanket),
            or(row.limit, "n/a"),
        ]
    });
    let header = vec!["n", "guesses", "clone", "blanket", "e^epsilon/n"];
    document.table(header, 0, rows.collect());
    let inputs = shuffled.inputs.iter().map(|input| {
        let last = input.blanket.last().copied();
        vec![
            input.input.clone(),
            or(input.max_ratio, "infinite"),
            or(last, "n/a"),
        ]
    });
    if shuffled.inputs.len() > 1 && shuffled.inputs.len() <= 50 {
        document.table(vec!["input", "M", "blanket, last row"], 1, inputs.collect());
    }
}

/// The success against n, one series for each number of guesses.
pub fn pictures(found: &Reidentification) -> Vec<Figure> {
    let mut table = Table::new(&["n", "guesses", "series", "success", "lower", "upper"]);
    let mut layers = Vec::new();
    let mut series: Vec<(String, Vec<Spot>)> = Vec::new();
    let mut add = |name: &str, n: u64, guesses: u64, spot: Spot| {
        let title = format!(
            "{name}, {guesses} guess{}",
            if guesses == 1 { "" } else { "es" }
        );
        table.push([
            n.into(),
            guesses.into(),
            name.into(),
            spot.y.into(),
            spot.lower.into(),
            spot.upper.into(),
        ]);
        match series.iter_mut().find(|(known, _)| *known == title) {
            Some((_, spots)) => spots.push(spot),
            None => series.push((title, vec![spot])),
        }
    };
    let at = |n: u64, y: f64| Spot {
        x: n as f64,
        y: Some(y),
        ..Spot::default()
    };
    match &found.figures {
        Figures::Exact(exact) => exact.rows.iter().for_each(|row| {
            let row = &row.success;
            add("success", row.n, row.guesses, at(row.n, row.success));
        }),
        Figures::Estimate(estimate) => estimate.rows.iter().for_each(|row| {
            let spot = Spot {
                x: row.n as f64,
                y: row.success.point,
                lower: Some(row.success.lower),
                upper: row.success.upper,
            };
            add("estimate", row.n, row.guesses, spot);
        }),
        // One number of messages gives no graph.
        Figures::GivenInputs(_) => {}
        Figures::Randomizer(shuffled) => shuffled.rows.iter().for_each(|row| {
            add("clone", row.n, row.guesses, at(row.n, row.clone));
            add("blanket", row.n, row.guesses, at(row.n, row.blanket));
        }),
    }
    if series.is_empty() {
        return Vec::new();
    }
    let is_estimate = matches!(found.figures, Figures::Estimate(_));
    for (number, (name, spots)) in series.into_iter().enumerate() {
        // Series beyond the capacity of the legend have no name.
        let name = if number < 6 { name } else { String::new() };
        let line = spots.iter().filter_map(|spot| Some((spot.x, spot.y?)));
        let mark = if is_estimate || spots.len() == 1 {
            Mark::Points(spots)
        } else {
            Mark::Line(line.collect())
        };
        layers.push(Layer::new(name, number, mark));
    }
    let svg = chart(&Chart {
        caption: Caption::new(
            "Success of re-identification",
            "The probability that the target's message is among the guesses, against the number of shuffled messages.",
        ),
        x: Axis::log("messages n"),
        y: Axis::log("success"),
        layers: with_points(layers),
        aspect: 0.62,
    });
    vec![Figure {
        file: "reidentification",
        table,
        svg,
    }]
}

/// The largest number of guesses of a flatness graph.
const MAX_GUESSES: u64 = 200;

/// The flatness graph: success against guesses among n sweetwords; a straight line is perfect.
///
/// # Errors
/// `n` is 0.
pub fn flatness(law: &RatioLaw, n: u64) -> Result<Figure> {
    let last = n.min(MAX_GUESSES);
    let games = (1..=last)
        .map(|k| Game::new(n, k))
        .collect::<Result<Vec<_>>>()?;
    let mut table = Table::new(&["guesses", "success", "blind"]);
    let (mut line, mut blind) = (vec![(0.0, 0.0)], vec![(0.0, 0.0)]);
    for (game, found) in games.iter().zip(law.grid(&games)) {
        let k = found.guesses;
        table.push([k.into(), found.success.into(), game.blind_success().into()]);
        line.push((k as f64, found.success));
        blind.push((k as f64, game.blind_success()));
    }
    let svg = chart(&Chart {
        caption: Caption::new(
            format!("Flatness among {n} sweetwords"),
            "The probability of finding the password, against the number of guesses; the straight line is for random guesses.",
        ),
        x: Axis::linear(format!("guesses among {n} sweetwords")),
        y: Axis::linear("success").from_to(0.0, 1.0),
        layers: vec![
            Layer::new("optimal attack", 0, Mark::Line(line)),
            Layer::new("random guesses", 1, Mark::Line(blind)),
        ],
        aspect: 0.62,
    });
    Ok(Figure {
        file: "flatness",
        table,
        svg,
    })
}

/// The success-number graph: passwords found against logins with honeywords.
pub fn success_number(points: &[(u64, u64)], system: &System) -> Figure {
    let mut table = Table::new(&["honeyword_logins", "successful_logins"]);
    for &(failed, found) in points {
        table.push([failed.into(), found.into()]);
    }
    let line = points.iter().map(|&(x, y)| (x as f64, y as f64)).collect();
    let most = points.last().map_or(0.0, |last| last.0 as f64);
    let blind = 1.0 / (system.sweetwords as f64 - 1.0).max(1.0);
    let svg = chart(&Chart {
        caption: Caption::new(
            "Successes against honeyword logins",
            format!(
                "Passwords found against honeywords tried, for {} accounts with {} sweetwords each, most likely first.",
                system.accounts, system.sweetwords
            ),
        ),
        x: Axis::linear(format!(
            "honeyword logins, {} sweetwords each",
            system.sweetwords
        )),
        y: Axis::linear("successful logins"),
        layers: vec![
            Layer::new("optimal attack", 0, Mark::Step(line)),
            Layer::new(
                "blind",
                1,
                Mark::Line(vec![(0.0, 0.0), (most, most * blind)]),
            ),
        ],
        aspect: 0.62,
    });
    Figure {
        file: "success-number",
        table,
        svg,
    }
}

/// Writes pictures and their data into a directory; replaces existing files.
///
/// # Errors
/// The directory cannot be written.
pub fn write_pictures(pictures: Vec<Figure>, directory: &Path) -> Result<Vec<PathBuf>> {
    write_with_data(&pictures, directory, true)
}
