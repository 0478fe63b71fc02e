//! Jurado, Gonze, Alvim, Palamidessi, *Analyzing the Shuffle Model through the Lens of Quantitative
//! Information Flow*: Figures 2 to 7.

use super::{Comparison, FigureOutput, ReproduceOptions};
use leakgauge_base::error::Result;
use leakgauge_exact::channel::Prior;
use leakgauge_exact::shuffle::vulnerability::{
    RandomizedResponseShuffle, expected_max_normal, informed_vulnerability, randomized_response,
};
use leakgauge_plot::{Axis, Caption, Chart, Layer, Mark, chart};
use leakgauge_plot::{Figure, Table};

/// Dashes: what is exact, what is approximate, and noise alone.
const SOLID: usize = 0;
const BROKEN: usize = 1;
const DOTTED: usize = 2;

fn draw(title: &str, about: &str, x: Axis, layers: Vec<Layer>) -> String {
    chart(&Chart {
        caption: Caption::new(title, about),
        x,
        y: Axis::linear("vulnerability V"),
        layers,
        aspect: 0.62,
    })
}

/// Noise and shuffling against the number of users, for several probabilities of a true report.
fn against_users(
    values: u64,
    keeps: &[f64],
    sizes: &[u64],
    file: &'static str,
    title: &str,
) -> Result<Figure> {
    let mut table = Table::new(&["keep", "n", "noise", "noise_and_shuffle"]);
    let mut layers = Vec::new();
    for (series, &keep) in keeps.iter().enumerate() {
        let users = RandomizedResponseShuffle::new(values, keep)?;
        let mut curve = Vec::new();
        for &n in sizes {
            let found = users.noise_and_shuffle(n)?;
            table.push([keep.into(), n.into(), users.noise().into(), found.into()]);
            curve.push((n as f64, found));
        }
        let ends = [sizes.first(), sizes.last()].map(|n| n.map_or(0.0, |n| *n as f64));
        let alone = ends.map(|n| (n, users.noise())).to_vec();
        let both = Layer::new(format!("NS, p = {keep}"), series, Mark::Line(curve));
        layers.push(both.with_dashes(SOLID));
        let alone = Layer::new(format!("N, p = {keep}"), series, Mark::Line(alone));
        layers.push(alone.with_dashes(DOTTED));
    }
    let svg = draw(
        title,
        "Dotted: noise alone (N). With shuffling (NS) the curves decrease to the prior vulnerability.",
        Axis::linear("users n"),
        layers,
    );
    Ok(Figure { file, table, svg })
}

/// Two values.
pub(super) fn figure_2(_: &ReproduceOptions) -> Result<FigureOutput> {
    let sizes: Vec<u64> = (1..=200).collect();
    let at = |keep: f64, n: u64| RandomizedResponseShuffle::new(2, keep)?.noise_and_shuffle(n);
    let place = "section IV-B";
    Ok(FigureOutput {
        comparisons: vec![
            Comparison::number(place, "p = 0.9, n = 1", "0.9", at(0.9, 1)?),
            Comparison::number(place, "p = 0.9, n = 2", "0.7", at(0.9, 2)?),
            Comparison::number(place, "p = 0.9, n = 200", "0.5225", at(0.9, 200)?),
            Comparison::number(place, "p = 1, n = 200", "0.5282", at(1.0, 200)?),
            Comparison::number(
                place,
                "p = 1, n = 200, last paragraph",
                "0.5286",
                at(1.0, 200)?,
            )
            .because("the same section has 0.5282 before"),
            Comparison::number(place, "p = 0.6, n = 200", "0.5056", at(0.6, 200)?),
            Comparison::claim(
                place,
                "smallest p for which noise alone is worse than shuffling alone, n = 200",
                "0.53",
                at(1.0, 200)?,
                format!("{:.2}", at(1.0, 200)?) == "0.53",
            ),
            Comparison::claim(
                place,
                "excess at n = 100 over that at n = 200",
                "decreases exponentially",
                (at(1.0, 100)? - 0.5) / (at(1.0, 200)? - 0.5),
                false,
            )
            .because("it decreases as 1/√n: with twice the users, 1/√2 of the excess"),
        ],
        notes: Vec::new(),
        pictures: vec![against_users(
            2,
            &[1.0, 0.9, 0.75, 0.6, 0.5],
            &sizes,
            "shuffle-flow-figure-2",
            "Guessing one of two values",
        )?],
    })
}

/// The strong adversary.
pub(super) fn figure_3(_: &ReproduceOptions) -> Result<FigureOutput> {
    let mut table = Table::new(&["keep", "known_a", "vulnerability"]);
    let mut layers = Vec::new();
    let at = |keep: f64, known: u64| {
        informed_vulnerability(
            &randomized_response(2, keep)?,
            &Prior::uniform(2),
            &[known, 200 - known],
        )
    };
    for (series, keep) in [1.0, 0.9, 0.8, 0.6, 0.5].into_iter().enumerate() {
        let mut curve = Vec::new();
        for known in (0..=200u64).step_by(10) {
            let found = at(keep, known)?;
            table.push([keep.into(), known.into(), found.into()]);
            curve.push((known as f64 / 2.0, found));
        }
        layers.push(Layer::new(format!("p = {keep}"), series, Mark::Line(curve)));
    }
    let svg = draw(
        "An adversary who knows 200 of 201 values",
        "Nearly independent of the known values; without noise the last value is certain.",
        Axis::linear("known users with the first value, %"),
        layers,
    );
    let place = "section V";
    Ok(FigureOutput {
        comparisons: vec![
            Comparison::number(
                place,
                "p = 0.8, none of 200 has the first value",
                "0.52111",
                at(0.8, 0)?,
            ),
            Comparison::number(
                place,
                "p = 0.8, 100 of 200 have it",
                "0.52116",
                at(0.8, 100)?,
            ),
            Comparison::number(place, "p = 1", "1", at(1.0, 0)?),
        ],
        notes: Vec::new(),
        pictures: vec![Figure {
            file: "shuffle-flow-figure-3",
            table,
            svg,
        }],
    })
}

/// Five values.
pub(super) fn figure_4(_: &ReproduceOptions) -> Result<FigureOutput> {
    let sizes: Vec<u64> = (1..=20).chain((25..=150).step_by(5)).collect();
    Ok(FigureOutput {
        pictures: vec![against_users(
            5,
            &[1.0, 0.8, 0.6, 0.4, 0.2],
            &sizes,
            "shuffle-flow-figure-4",
            "Guessing one of five values",
        )?],
        comparisons: figure_4_numbers()?,
        ..FigureOutput::default()
    })
}

fn figure_4_numbers() -> Result<Vec<Comparison>> {
    let users = RandomizedResponseShuffle::new(5, 0.8)?;
    let excess = |n: u64| {
        Ok::<f64, leakgauge_base::error::Error>(users.noise_and_shuffle(n)? - users.prior())
    };
    let place = "section VI-B";
    Ok(vec![
        Comparison::number(place, "p = 0.8, noise alone", "0.8", users.noise()),
        Comparison::number(place, "lower bound, 1/k", "0.2", users.prior()),
        Comparison::claim(
            place,
            "excess at n = 400 over that at n = 100",
            "drops exponentially",
            excess(400)? / excess(100)?,
            false,
        )
        .because("it decreases as 1/√n: with four times the users, half the excess"),
    ])
}

/// Shuffling alone for increasing numbers of values.
pub(super) fn figure_5(_: &ReproduceOptions) -> Result<FigureOutput> {
    let mut table = Table::new(&["values", "n", "shuffle"]);
    let mut layers = Vec::new();
    let sizes = [10u64, 20, 30, 50, 70, 100, 150, 200, 300, 500, 700, 1000];
    for (series, values) in [2u64, 3, 4, 5, 10, 100].into_iter().enumerate() {
        let users = RandomizedResponseShuffle::new(values, 1.0)?;
        let mut curve = Vec::new();
        for n in sizes {
            let found = users.shuffle(n)?;
            table.push([values.into(), n.into(), found.into()]);
            curve.push((n as f64, found));
        }
        layers.push(Layer::new(
            format!("k = {values}"),
            series,
            Mark::Line(curve),
        ));
    }
    let at = |n: u64| RandomizedResponseShuffle::new(3, 1.0)?.shuffle(n);
    let svg = draw(
        "Guessing one of k values after shuffling alone",
        "The curves fall to 1/k.",
        Axis::log("users n"),
        layers,
    );
    Ok(FigureOutput {
        comparisons: vec![
            Comparison::number("section VI-B", "k = 3, n = 100", "0.3826", at(100)?),
            Comparison::number("section VI-B", "k = 3, n = 1000", "0.3488", at(1000)?),
        ],
        notes: vec!["The paper uses few values because its sum has n^(k − 1) terms; the expected maximum load is computed here without that sum.".to_owned()],
        pictures: vec![Figure { file: "shuffle-flow-figure-5", table, svg }],
    })
}

/// Exact values and equation (16) with the constant 1 and with the exact constant.
fn beside_asymptotic(kinds: &[(u64, f64)], file: &'static str, title: &str) -> Result<Figure> {
    let mut table = Table::new(&["values", "keep", "n", "exact", "asymptotic", "leading_term"]);
    let mut layers = Vec::new();
    for (series, &(values, keep)) in kinds.iter().enumerate() {
        let users = RandomizedResponseShuffle::new(values, keep)?;
        let (mut exact, mut asymptotic) = (Vec::new(), Vec::new());
        for n in [10u64, 15, 20, 30, 50, 70, 100, 150, 200, 300, 500, 1000] {
            let values_at = [users.noise_and_shuffle(n)?, users.asymptotic(n)?];
            table.push([
                values.into(),
                keep.into(),
                n.into(),
                values_at[0].into(),
                values_at[1].into(),
                users.leading_term(n)?.into(),
            ]);
            exact.push((n as f64, values_at[0]));
            asymptotic.push((n as f64, values_at[1]));
        }
        layers.push(
            Layer::new(
                format!("k = {values}, p = {keep}"),
                series,
                Mark::Line(exact),
            )
            .with_dashes(SOLID),
        );
        layers.push(
            Layer::new(
                format!("k = {values}, p = {keep}, equation (16) with f = 1"),
                series,
                Mark::Line(asymptotic),
            )
            .with_dashes(BROKEN),
        );
    }
    let svg = draw(
        title,
        "Broken: the asymptotic value, whose constant f the paper sets to 1; it stays above the exact one.",
        Axis::log("users n"),
        layers,
    );
    Ok(Figure { file, table, svg })
}

fn constants() -> Vec<Comparison> {
    let one = |k: u32| {
        let constant = expected_max_normal(k.into()) / f64::from(k).ln().sqrt();
        Comparison::claim("section VI-C", &format!("the constant f for k = {k}"), "1", constant, false)
            .because("for fixed k it converges to e_k/√(ln k), e_k the expected maximum of k standard normal numbers")
    };
    [2, 3, 4, 5].map(one).to_vec()
}

/// Shuffling alone beside equation (15).
pub(super) fn figure_6(_: &ReproduceOptions) -> Result<FigureOutput> {
    Ok(FigureOutput {
        comparisons: constants(),
        notes: Vec::new(),
        pictures: vec![beside_asymptotic(
            &[(3, 1.0), (4, 1.0), (5, 1.0)],
            "shuffle-flow-figure-6",
            "Shuffling alone and its asymptotic value",
        )?],
    })
}

/// Noise and shuffling beside equation (16).
pub(super) fn figure_7(_: &ReproduceOptions) -> Result<FigureOutput> {
    Ok(FigureOutput {
        pictures: vec![beside_asymptotic(
            &[(4, 1.0), (4, 0.8), (4, 0.6)],
            "shuffle-flow-figure-7",
            "Noise and shuffling and their asymptotic value",
        )?],
        ..FigureOutput::default()
    })
}
