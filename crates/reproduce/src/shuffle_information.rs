//! Su, Cheng, Wang, *Mutual Information Bounds in the Shuffle Model*: Figures 2, 3 and 4.

use super::{Comparison, FigureOutput, ReproduceOptions};
use leakgauge_base::error::Result;
use leakgauge_exact::channel::{Channel, Prior};
use leakgauge_exact::mechanism;
use leakgauge_exact::shuffle::information::{
    Basic, Blanket, MonteCarlo, Signal, StoppingRule, Users, message_coefficient, optimal_decoys,
    privacy_bounds,
};
use leakgauge_plot::{Axis, Caption, Chart, Layer, Mark, Spot, chart};
use leakgauge_plot::{Figure, Table};

/// Zipf's law over the first `count` numbers.
fn zipf(count: u32, exponent: f64) -> Vec<f64> {
    let weights: Vec<f64> = (1..=count).map(|i| f64::from(i).powf(-exponent)).collect();
    let whole: f64 = weights.iter().sum();
    weights.iter().map(|w| w / whole).collect()
}

/// As many samples per point as in the paper, unless fewer rows are requested.
fn rule(options: &ReproduceOptions) -> StoppingRule {
    StoppingRule {
        max_samples: (options.rows * 5 / 2).max(2),
        standard_error: None,
    }
}

fn draw(title: &str, about: &str, label: &str, layers: Vec<Layer>) -> String {
    chart(&Chart {
        caption: Caption::new(title, about),
        x: Axis::log("messages n"),
        y: Axis::log(label),
        layers,
        aspect: 0.62,
    })
}

/// Exact and asymptotic information about the message, for decoys with the target's own distribution.
pub(super) fn figure_2(_: &ReproduceOptions) -> Result<FigureOutput> {
    let uniform = |m: usize| vec![1.0 / m as f64; m];
    let cases = [
        [
            (uniform(2), "m = 2"),
            (uniform(4), "m = 4"),
            (uniform(10), "m = 10"),
        ],
        [
            (zipf(4, 0.7), "Zipf(4, 0.7)"),
            (zipf(10, 0.7), "Zipf(10, 0.7)"),
            (zipf(10, 1.0), "Zipf(10, 1)"),
        ],
    ];
    let mut made = FigureOutput {
        notes: vec![
            "The paper does not state its numbers of messages and values; those here were chosen."
                .to_owned(),
        ],
        ..FigureOutput::default()
    };
    for (cases, file) in cases.iter().zip([
        "shuffle-information-figure-2a",
        "shuffle-information-figure-2b",
    ]) {
        let mut table = Table::new(&["law", "n", "exact", "asymptotic"]);
        let mut layers = Vec::new();
        for (series, (law, name)) in cases.iter().enumerate() {
            let basic = Basic::new(law, law)?;
            let (mut exact, mut asymptotic) = (Vec::new(), Vec::new());
            for n in [5u64, 10, 20, 30, 50, 70, 100, 140, 200, 300, 500] {
                let (one, other) = (basic.message(n)?, basic.message_asymptotic(n)?);
                table.push([(*name).into(), n.into(), one.into(), other.into()]);
                exact.push(Spot {
                    x: n as f64,
                    y: Some(one),
                    ..Spot::default()
                });
                asymptotic.push((n as f64, other));
            }
            // Laws over as many messages have nearly the same values: later points are smaller.
            let alike = |cases: &[(Vec<f64>, &str)]| {
                cases
                    .iter()
                    .filter(|case| case.0.len() == law.len())
                    .count() as f64
            };
            let size = 1.0 + 0.4 * alike(&cases[series + 1..]) - 0.3 * alike(&cases[..series]);
            let line = Layer::new(
                format!("{name}, (m − 1)/2n"),
                series,
                Mark::Line(asymptotic),
            );
            layers.push(line.with_dashes(APPROXIMATE));
            layers.push(
                Layer::new(format!("{name}, exact"), series, Mark::Points(exact)).with_size(size),
            );
        }
        let svg = draw(
            "Information about the message, decoys with the target's distribution",
            "From a few dozen messages on, the exact values agree with (m − 1)/2n.",
            "I(Y₁; Z), nats",
            layers,
        );
        made.pictures.push(Figure { file, table, svg });
    }
    Ok(made)
}

/// Dashes of lines: color says what of, dashes say how good.
const EXACT: usize = 0;
const APPROXIMATE: usize = 1;

/// Values of n in Figures 3 and 4.
const SIZES: [u64; 10] = [10, 20, 30, 50, 70, 100, 140, 200, 300, 500];

fn spot(n: u64, found: MonteCarlo) -> Spot {
    let (lower, upper) = (
        found.mean - 2.0 * found.standard_error,
        found.mean + 2.0 * found.standard_error,
    );
    Spot {
        x: n as f64,
        y: Some(found.mean),
        lower: Some(lower),
        upper: Some(upper),
    }
}

/// Zipf(4, 0.7) among uniform decoys, and among those of Theorem 6.
pub(super) fn figure_3(options: &ReproduceOptions) -> Result<FigureOutput> {
    let target = zipf(4, 0.7);
    let best = optimal_decoys(&target)?;
    let place = "Example III.2";
    let comparisons = vec![
        Comparison::number(
            place,
            "C₁, decoys of the target's law",
            "3",
            message_coefficient(&target, &target)?,
        ),
        Comparison::number(place, "C₂, the best decoys", "2.81", best.coefficient),
        Comparison::claim(
            "section II-C",
            "n·I(Y₁; Z) in the limit, P = (0.7, 0.3), Q = (0.4, 0.6)",
            "Σ(p − p²)/q = 0.875",
            message_coefficient(&[0.7, 0.3], &[0.4, 0.6])? / 2.0,
            false,
        )
        .because("a factor 1/2 is missing there; Theorem 5 has it"),
        outliers()?,
    ];
    let pictures = vec![
        figure_3a(&target, options)?,
        figure_3b(&target, &best.decoys, options)?,
    ];
    let notes = vec!["The paper estimates by simulation. The curves here are exact one-dimensional integrals; the points are simulations with as many samples.".to_owned()];
    Ok(FigureOutput {
        comparisons,
        notes,
        pictures,
    })
}

/// Users 2 and 3 of Example III.3; user 4, who always sends the first message, is left out.
fn outliers() -> Result<Comparison> {
    let others = [[0.3, 0.7], [0.5, 0.5], [1.0, 0.0]].map(|law| (law.to_vec(), 1));
    let bound = Users::new(&[0.4, 0.6], &others)?.blanket_bound(true)?;
    let blanket: Vec<String> = bound.blanket.iter().map(|p| format!("{p:.1}")).collect();
    let found = format!("({})", blanket.join(","));
    let printed = "(0.3,0.5,0.2)";
    let agrees = found == printed && bound.excluded == [2];
    Ok(Comparison::statement(
        "Example III.3",
        "generalized blanket without user 4",
        printed,
        &found,
        agrees,
    ))
}

fn figure_3a(target: &[f64], options: &ReproduceOptions) -> Result<Figure> {
    let basic = Basic::new(target, &[0.25; 4])?;
    let mut table = Table::new(&[
        "quantity",
        "n",
        "exact",
        "asymptotic",
        "simulated",
        "standard_error",
    ]);
    let mut layers = Vec::new();
    for (series, name) in ["position", "message"].into_iter().enumerate() {
        let (mut exact, mut asymptotic, mut simulated) = (Vec::new(), Vec::new(), Vec::new());
        for n in SIZES {
            let values = if series == 0 {
                [basic.position(n)?, basic.position_asymptotic(n)?]
            } else {
                [basic.message(n)?, basic.message_asymptotic(n)?]
            };
            let found = basic.simulate(n, rule(options), options.seed)?[series];
            table.push([
                name.into(),
                n.into(),
                values[0].into(),
                values[1].into(),
                found.mean.into(),
                found.standard_error.into(),
            ]);
            exact.push((n as f64, values[0]));
            asymptotic.push((n as f64, values[1]));
            simulated.push(spot(n, found));
        }
        layers.push(
            Layer::new(format!("{name}, exact"), series, Mark::Line(exact)).with_dashes(EXACT),
        );
        let name_of = format!("{name}, asymptotic");
        layers.push(Layer::new(name_of, series, Mark::Line(asymptotic)).with_dashes(APPROXIMATE));
        layers.push(Layer::new(
            format!("{name}, simulated"),
            series,
            Mark::Points(simulated),
        ));
    }
    let svg = draw(
        "Zipf(4, 0.7) among uniform decoys",
        "The information about the position converges to D(P‖Q), that about the message to 0.",
        "information, nats",
        layers,
    );
    Ok(Figure {
        file: "shuffle-information-figure-3a",
        table,
        svg,
    })
}

fn figure_3b(target: &[f64], best: &[f64], options: &ReproduceOptions) -> Result<Figure> {
    let mut table = Table::new(&[
        "decoys",
        "n",
        "exact",
        "asymptotic",
        "simulated",
        "standard_error",
    ]);
    let mut layers = Vec::new();
    for (series, (decoys, name)) in [(target, "the target's law"), (best, "best decoys")]
        .into_iter()
        .enumerate()
    {
        let basic = Basic::new(target, decoys)?;
        let (mut exact, mut simulated) = (Vec::new(), Vec::new());
        for n in SIZES {
            let (value, asymptotic) = (basic.message(n)?, basic.message_asymptotic(n)?);
            let found = basic.simulate(n, rule(options), options.seed)?[1];
            table.push([
                name.into(),
                n.into(),
                value.into(),
                asymptotic.into(),
                found.mean.into(),
                found.standard_error.into(),
            ]);
            exact.push((n as f64, value));
            simulated.push(spot(n, found));
        }
        layers.push(
            Layer::new(format!("{name}, exact"), series, Mark::Line(exact)).with_dashes(EXACT),
        );
        layers.push(Layer::new(
            format!("{name}, simulated"),
            series,
            Mark::Points(simulated),
        ));
    }
    let svg = draw(
        "Information about the message, two decoy distributions",
        "Decoys proportional to √(p(1 − p)) reveal less than decoys with the target's own distribution.",
        "I(Y₁; Z), nats",
        layers,
    );
    Ok(Figure {
        file: "shuffle-information-figure-3b",
        table,
        svg,
    })
}

/// Four-ary randomized response with uniform inputs.
pub(super) fn figure_4(_: &ReproduceOptions) -> Result<FigureOutput> {
    let mut table = Table::new(&[
        "epsilon",
        "n",
        "exact",
        "asymptotic",
        "blanket_exact",
        "blanket_asymptotic",
        "unified",
    ]);
    let mut layers = Vec::new();
    let uniform = Prior::uniform(4);
    for epsilon in [1.0, 2.0] {
        let text = format!("randomized-response(epsilon={epsilon}, secrets=4)");
        let channel = Channel::of_mechanism(&*mechanism::parse(&text)?)?;
        let among = Signal::among(&channel, &uniform, &uniform)?;
        let blanket = Signal::blanket(&channel, &uniform)?;
        let mut curves = [const { Vec::new() }; 4];
        for n in SIZES {
            let (x, twice) = (n as f64, 2.0 * n as f64);
            // The blanket bound of the paper leaves out what the mean message takes from it.
            let values = [
                among.information(n)?,
                among.coefficient() / twice,
                blanket.mean_chi_squared() / twice,
                privacy_bounds(epsilon, 4, n)?.input,
            ];
            table.push([
                epsilon.into(),
                n.into(),
                values[0].into(),
                values[1].into(),
                blanket.information(n)?.into(),
                values[2].into(),
                values[3].into(),
            ]);
            curves
                .iter_mut()
                .zip(values)
                .for_each(|(curve, y)| curve.push((x, y)));
        }
        if epsilon == 1.0 {
            let names = ["exact", "asymptotic", "blanket, χ̄²/2n", "(e^ε − 1)/2n"];
            let lines = curves.into_iter().zip(names).enumerate();
            layers = lines
                .map(|(series, (curve, name))| Layer::new(name, series, Mark::Line(curve)))
                .collect();
        }
    }
    let svg = draw(
        "Information about the input of 4-ary randomized response, ε = 1",
        "The exact value agrees with its expansion and is below the blanket bound and the bound for all randomizers.",
        "I(X₁; Z), nats",
        layers,
    );
    Ok(FigureOutput {
        comparisons: figure_4_numbers()?,
        notes: vec![
            "The paper does not state its ε; the picture uses 1, the data also have 2.".to_owned(),
            "Section II-B uses a nonstandard definition of min-entropy; −log of the expected largest posterior is meant.".to_owned(),
            "The paper estimates I(X₁; Z) from 10⁵ samples; the values here are exact.".to_owned(),
        ],
        pictures: vec![Figure {
            file: "shuffle-information-figure-4",
            table,
            svg,
        }],
    })
}

/// The closed forms of Example IV.1, k = 4 and ε = 1.
fn figure_4_numbers() -> Result<Vec<Comparison>> {
    let (k, e) = (4.0, 1f64.exp());
    let channel = Channel::of_mechanism(&*mechanism::parse("randomized-response(1, secrets=4)")?)?;
    let uniform = Prior::uniform(4);
    let place = "Example IV.1";
    let claim = |quantity: &str, printed: &str, value: f64, formula: f64| {
        let agrees = (value - formula).abs() < 1e-12 * formula;
        Comparison::claim(place, quantity, printed, value, agrees)
    };
    let (blanket, among) = (
        Signal::blanket(&channel, &uniform)?,
        Signal::among(&channel, &uniform, &uniform)?,
    );
    let whole = e + k - 1.0;
    Ok(vec![
        claim(
            "χ̄²(P‖Q̄) of the blanket, k = 4, ε = 1",
            "e^ε(e^ε − 1)/(e^ε + k − 1)",
            blanket.mean_chi_squared(),
            e * (e - 1.0) / whole,
        ),
        claim(
            "χ̄²(P‖Q), others uniform",
            "(k − 1)(e^ε − 1)²/(e^ε + k − 1)²",
            among.mean_chi_squared(),
            (k - 1.0) * ((e - 1.0) / whole).powi(2),
        ),
        claim(
            "2n·I(X₁; Z) in the limit, all uniform",
            "(k − 1)(e^ε − 1)²/(e^ε + k − 1)²",
            among.coefficient(),
            (k - 1.0) * ((e - 1.0) / whole).powi(2),
        ),
        claim(
            "mass that is not the blanket's",
            "(e^ε − 1)/(e^ε + k − 1)",
            1.0 - Blanket::of(&channel).gamma,
            (e - 1.0) / whole,
        ),
    ])
}
