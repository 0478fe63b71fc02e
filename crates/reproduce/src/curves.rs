//! Curves of closed forms: Figures 4, 6 and 8.

use super::{Comparison, FigureOutput, ReproduceOptions};
use leakgauge_base::error::Result;
use leakgauge_exact::bounds::{BoundsOptions, Row, bounds};
use leakgauge_exact::channel::{Channel, SearchMethod, center_bound, diameter, l2_bound, mean_row};
use leakgauge_exact::mechanism;
use leakgauge_plot::{Axis, Caption, Chart, Layer, Mark, chart};
use leakgauge_plot::{Figure, Table};

/// The label of an axis of β*.
pub(super) const SECURITY: &str = "Bayes security β*";

/// The rows of a grid of a mechanism or promise.
fn rows(text: &str) -> Result<Vec<Row>> {
    Ok(bounds(text, &BoundsOptions::default())?.rows)
}

/// One figure of one mechanism.
pub(super) fn figure(text: &str, name: &str) -> Result<f64> {
    let found = rows(text)?.first().and_then(|row| row.figure(name));
    Ok(found.unwrap_or(f64::NAN))
}

/// `steps` + 1 values from one number to another, both exact.
fn grid(from: f64, to: f64, steps: u32) -> Vec<f64> {
    let at = |k: u32| from + (to - from) * f64::from(k) / f64::from(steps);
    (0..=steps).map(at).collect()
}

fn security_chart(caption: Caption, x: Axis, layers: Vec<Layer>) -> String {
    chart(&Chart {
        caption,
        x,
        y: Axis::linear(SECURITY).from_to(0.0, 1.0),
        layers,
        aspect: 0.62,
    })
}

/// Corollary 2 and the bound of Yeom et al.
pub(super) fn figure_4(_: &ReproduceOptions) -> Result<FigureOutput> {
    let mut table = Table::new(&[
        "epsilon",
        "bayes_security_corollary_2",
        "bayes_security_yeom",
    ]);
    let (mut corollary, mut yeom) = (Vec::new(), Vec::new());
    for epsilon in grid(0.0, 3.0, 300) {
        let row = &rows(&format!("ldp(epsilon={epsilon})"))?[0];
        let least = row.figure("bayes_security").unwrap_or(f64::NAN);
        let published = row.figure("bayes_security_yeom").unwrap_or(f64::NAN);
        table.push([epsilon.into(), least.into(), published.into()]);
        corollary.push((epsilon, least));
        yeom.push((epsilon, published));
    }
    let svg = security_chart(
        Caption::new(
            "Bayes security that ε-differential privacy guarantees",
            "Corollary 2, 2/(1 + exp ε), decreases slowly from 1; the bound of Yeom et al., 2 − exp ε, reaches 0 at ε = 0.69.",
        ),
        Axis::linear("ε").from_to(0.0, 3.0),
        vec![
            Layer::new("Corollary 2: 2/(1 + exp ε)", 0, Mark::Line(corollary)),
            Layer::new("Yeom et al.: 2 − exp ε", 1, Mark::Line(yeom)),
        ],
    );
    Ok(FigureOutput {
        notes: vec![
            "The bound of Yeom et al. is trivial from ε = ln 2 = 0.6931 on; its negative values are in the data, not in the picture.".to_owned(),
        ],
        pictures: vec![Figure {
            file: "bayes-security-figure-4",
            table,
            svg,
        }],
        ..FigureOutput::default()
    })
}

/// Randomized response over increasing numbers of secrets.
pub(super) fn figure_6a(_: &ReproduceOptions) -> Result<FigureOutput> {
    let counts: [(u64, &str); 5] = [
        (10, "10 secrets"),
        (1_000, "1000"),
        (100_000, "10⁵"),
        (1_000_000, "10⁶"),
        (10_000_000, "10⁷"),
    ];
    let mut table = Table::new(&["secrets", "epsilon", "bayes_security", "guess_probability"]);
    let mut layers = Vec::new();
    for (series, (secrets, name)) in counts.into_iter().enumerate() {
        let mut points = Vec::new();
        for epsilon in grid(0.0, 25.0, 250) {
            let row = &rows(&format!(
                "randomized-response(epsilon={epsilon}, secrets={secrets})"
            ))?[0];
            let security = row.figure("bayes_security");
            table.push([
                secrets.into(),
                epsilon.into(),
                security.into(),
                row.figure("guess_probability").into(),
            ]);
            points.push((epsilon, security.unwrap_or(f64::NAN)));
        }
        layers.push(Layer::new(name, series, Mark::Line(points)));
    }
    let svg = security_chart(
        Caption::new(
            "Bayes security of randomized response",
            "Each curve decreases from 1 to 0 around ε = ln n, later for more secrets n.",
        ),
        Axis::linear("ε").from_to(0.0, 25.0),
        layers,
    );
    Ok(FigureOutput {
        comparisons: numbers_6a()?,
        notes: vec![
            "n of eq. (7) is the number of secrets, which section VI-A calls data records: it is the number of possible labels of a record, not the number of people.".to_owned(),
        ],
        pictures: vec![Figure {
            file: "bayes-security-figure-6a",
            table,
            svg,
        }],
    })
}

/// The numbers of section VI-A.
pub(super) fn numbers_6a() -> Result<Vec<Comparison>> {
    let mut found = Vec::new();
    for (secrets, about, printed, guess) in [
        (1_000_000u64, "ε = 10, 10⁶ secrets", "0.978", "0.511"),
        (10_000_000, "ε = 10, 10⁷ secrets", "0.998", "0.501"),
    ] {
        let text = format!("randomized-response(epsilon=10, secrets={secrets})");
        let place = "section VI-A";
        let security = figure(&text, "bayes_security")?;
        found.push(Comparison::number(
            place,
            &format!("β*, RR, {about}"),
            printed,
            security,
        ));
        let right = figure(&text, "guess_probability")?;
        found.push(Comparison::number(
            place,
            &format!("guess, RR, {about}"),
            guess,
            right,
        ));
    }
    Ok(found)
}

/// The Laplace mechanism with scale Δ/ε.
pub(super) fn figure_6b(_: &ReproduceOptions) -> Result<FigureOutput> {
    let mut table = Table::new(&["epsilon", "bayes_security", "guess_probability"]);
    let mut points = vec![(0.0, 1.0)];
    table.push([0.0.into(), 1.0.into(), 0.5.into()]);
    for epsilon in grid(0.0, 10.0, 200).into_iter().skip(1) {
        let row = &rows(&format!("laplace(epsilon={epsilon}, secrets=2)"))?[0];
        let security = row.figure("bayes_security");
        table.push([
            epsilon.into(),
            security.into(),
            row.figure("guess_probability").into(),
        ]);
        points.push((epsilon, security.unwrap_or(f64::NAN)));
    }
    let svg = security_chart(
        Caption::new(
            "Bayes security of the Laplace mechanism",
            "exp(−ε/2), from 1 at ε = 0 to 0.007 at ε = 10.",
        ),
        Axis::linear("ε").from_to(0.0, 10.0),
        vec![Layer::new(
            "Laplace, scale Δ/ε: exp(−ε/2)",
            0,
            Mark::Line(points),
        )],
    );
    Ok(FigureOutput {
        comparisons: numbers_6b()?,
        pictures: vec![Figure {
            file: "bayes-security-figure-6b",
            table,
            svg,
        }],
        ..FigureOutput::default()
    })
}

/// The numbers of section VI-B.
pub(super) fn numbers_6b() -> Result<Vec<Comparison>> {
    let text = "laplace(epsilon=0.1, secrets=2)";
    let place = "section VI-B";
    Ok(vec![
        Comparison::number(
            place,
            "β*, Laplace, ε = 0.1",
            "0.95",
            figure(text, "bayes_security")?,
        ),
        Comparison::number(
            place,
            "guess, Laplace, ε = 0.1",
            "0.525",
            figure(text, "guess_probability")?,
        )
        .because("0.525 follows from the rounded β* = 0.95"),
    ])
}

/// The Gaussian mechanism calibrated to (ε, δ).
pub(super) fn figure_6c(_: &ReproduceOptions) -> Result<FigureOutput> {
    let deltas = [
        ("1e-3", "δ = 10⁻³"),
        ("1e-6", "10⁻⁶"),
        ("1e-9", "10⁻⁹"),
        ("1e-12", "10⁻¹²"),
    ];
    let mut table = Table::new(&["delta", "epsilon", "bayes_security", "guess_probability"]);
    let mut layers = Vec::new();
    for (series, (delta, name)) in deltas.into_iter().enumerate() {
        let mut points = vec![(0.0, 1.0)];
        table.push([delta.into(), 0.0.into(), 1.0.into(), 0.5.into()]);
        for epsilon in grid(0.0, 1.0, 100).into_iter().skip(1) {
            let row = &rows(&format!(
                "gaussian(epsilon={epsilon}, delta={delta}, secrets=2)"
            ))?[0];
            let security = row.figure("bayes_security");
            table.push([
                delta.into(),
                epsilon.into(),
                security.into(),
                row.figure("guess_probability").into(),
            ]);
            points.push((epsilon, security.unwrap_or(f64::NAN)));
        }
        layers.push(Layer::new(name, series, Mark::Line(points)));
    }
    let svg = chart(&Chart {
        caption: Caption::new(
            "Bayes security of the Gaussian mechanism",
            "Nearly straight lines from 1 at ε = 0 to between 0.9 and 0.95 at ε = 1, higher for smaller δ.",
        ),
        x: Axis::linear("ε").from_to(0.0, 1.0),
        y: Axis::linear(SECURITY).from_to(0.88, 1.0),
        layers,
        aspect: 0.62,
    });
    Ok(FigureOutput {
        comparisons: numbers_6c()?,
        notes: vec!["σ = Δ √(2 ln(1.25/δ))/ε, proved for ε < 1; the end at ε = 1 is included because the text uses it.".to_owned()],
        pictures: vec![Figure {
            file: "bayes-security-figure-6c",
            table,
            svg,
        }],
    })
}

/// The numbers of section VI-C.
pub(super) fn numbers_6c() -> Result<Vec<Comparison>> {
    let text = |epsilon: &str| format!("gaussian(epsilon={epsilon}, delta=1e-6, secrets=2)");
    let place = "section VI-C";
    let number = |epsilon: &str, name: &str, what: &str, printed: &str| -> Result<Comparison> {
        let quantity = format!("{what}, Gaussian, ε = {epsilon}, δ = 10⁻⁶");
        Ok(Comparison::number(
            place,
            &quantity,
            printed,
            figure(&text(epsilon), name)?,
        ))
    };
    Ok(vec![
        number("1", "bayes_security", "β*", "0.925")?,
        number("1", "guess_probability", "guess", "0.538")?,
        number("0.1", "bayes_security", "β*", "0.992")?,
    ])
}

/// β* of randomized response, and its bounds from Proposition 5 and the Euclidean diameter.
#[derive(Debug, Clone, Copy)]
pub(super) struct Bounded {
    pub exact: f64,
    pub mean_row: f64,
    pub any_row: f64,
    pub l2: f64,
}

pub(super) fn bounded(epsilon: f64, secrets: u64) -> Result<Bounded> {
    let text = format!("randomized-response(epsilon={epsilon}, secrets={secrets})");
    let channel = Channel::of_mechanism(&*mechanism::parse(&text)?)?;
    Ok(Bounded {
        exact: diameter(&channel, SearchMethod::Auto)?.bayes_security,
        mean_row: center_bound(&channel, &mean_row(&channel), true)?.lower,
        any_row: center_bound(&channel, channel.row(0), true)?.lower,
        l2: l2_bound(&channel).lower,
    })
}

/// Both panels of Figure 8.
pub(super) fn figure_8(_: &ReproduceOptions) -> Result<FigureOutput> {
    let left: Vec<(f64, Bounded)> = grid(0.0, 3.0, 60)
        .into_iter()
        .map(|epsilon| Ok((epsilon, bounded(epsilon, 10)?)))
        .collect::<Result<_>>()?;
    let right: Vec<(f64, Bounded)> = (2..=50u32)
        .map(|secrets| Ok((f64::from(secrets), bounded(0.5, secrets.into())?)))
        .collect::<Result<_>>()?;
    let pictures = vec![
        Figure {
            file: "bayes-security-figure-8-left",
            table: bounded_table("epsilon", &left),
            svg: bounded_chart(
                Caption::new(
                    "Bounds on the Bayes security of randomized response over 10 secrets, against ε",
                    "The exact value is above the mean-row bound, which is above the any-row bound and the L2 bound.",
                ),
                Axis::linear("ε").from_to(0.0, 3.0),
                (0.0, 1.0),
                &left,
            ),
        },
        Figure {
            file: "bayes-security-figure-8-right",
            table: bounded_table("secrets", &right),
            svg: bounded_chart(
                Caption::new(
                    "Bounds on the Bayes security of randomized response at ε = 0.5, against the number of secrets",
                    "For 3 to 5 secrets the L2 bound is nearest to the exact value, from 6 on the mean-row bound.",
                ),
                Axis::log("secrets = observations").from_to(2.0, 50.0),
                (0.5, 1.0),
                &right,
            ),
        },
    ];
    Ok(FigureOutput {
        comparisons: vec![appendix_i(&right)],
        notes: Vec::new(),
        pictures,
    })
}

/// Whether the mean-row bound is the best of the three.
pub(super) fn appendix_i(right: &[(f64, Bounded)]) -> Comparison {
    let better: Vec<String> = right
        .iter()
        .filter(|(_, b)| b.l2 > b.mean_row + 1e-12)
        .map(|(secrets, _)| secrets.to_string())
        .collect();
    let recomputed = if better.is_empty() {
        "so at every number of secrets".to_owned()
    } else {
        format!("the L2 bound is better at n = {}", better.join(", "))
    };
    Comparison::statement(
        "appendix I",
        "best of the three bounds, RR, ε = 0.5",
        "the mean-row bound is the most accurate",
        &recomputed,
        better.is_empty(),
    )
}

fn bounded_table(first: &'static str, rows: &[(f64, Bounded)]) -> Table {
    let mut table = Table::new(&[first, "exact", "mean_row", "any_row", "l2_diameter"]);
    for (x, b) in rows {
        table.push([
            (*x).into(),
            b.exact.into(),
            b.mean_row.into(),
            b.any_row.into(),
            b.l2.into(),
        ]);
    }
    table
}

fn bounded_chart(caption: Caption, x: Axis, y: (f64, f64), rows: &[(f64, Bounded)]) -> String {
    let layer = |name: &str, series: usize, pick: fn(&Bounded) -> f64| {
        let points = rows.iter().map(|(x, b)| (*x, pick(b))).collect();
        Layer::new(name, series, Mark::Line(points))
    };
    chart(&Chart {
        caption,
        x,
        y: Axis::linear(SECURITY).from_to(y.0, y.1),
        layers: vec![
            layer("exact", 0, |b| b.exact),
            layer("mean row", 1, |b| b.mean_row),
            layer("any row", 2, |b| b.any_row),
            layer("L2 diameter", 3, |b| b.l2),
        ],
        aspect: 0.62,
    })
}
