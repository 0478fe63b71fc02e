//! Every number printed in the text of the paper.

use libm::exp;

use super::{Comparison, FigureOutput, ReproduceOptions, composition, curves, response};
use leakgauge_base::error::Result;
use leakgauge_exact::channel::{Channel, Prior, SearchMethod, diameter};
use leakgauge_plot::{Axis, Caption, Dot, Dots, dots};
use leakgauge_plot::{Figure, Table};

pub(super) fn numbers(_: &ReproduceOptions) -> Result<FigureOutput> {
    let mut all = composition::numbers_proposition_1()?;
    all.extend(bounds()?);
    all.extend(curves::numbers_6a()?);
    all.extend(curves::numbers_6b()?);
    all.extend(curves::numbers_6c()?);
    all.extend(response::numbers_7()?);
    let right: Vec<_> = (2..=50u32)
        .map(|secrets| Ok((f64::from(secrets), curves::bounded(0.5, secrets.into())?)))
        .collect::<Result<_>>()?;
    all.push(curves::appendix_i(&right));
    Ok(FigureOutput {
        pictures: vec![Figure {
            file: "bayes-security-numbers",
            table: table(&all),
            svg: picture(&all),
        }],
        comparisons: all,
        notes: Vec::new(),
    })
}

/// Theorem 3, Theorem 5 with Figure 3, eq. (21) and footnote 3.
fn bounds() -> Result<Vec<Comparison>> {
    let tight = Channel::from_rows(&[[0.4, 0.6], [0.0, 1.0]])?;
    let twice = tight.parallel(&tight)?;
    let least = |channel: &Channel| Ok(diameter(channel, SearchMethod::Auto)?.bayes_security);
    let filled = figure_3(0.1)?;
    let epsilon = filled.epsilon().unwrap_or(f64::INFINITY);
    let identity = Channel::from_rows(&[[1.0, 0.0], [0.0, 1.0]])?;
    let nearly_sure = identity
        .risk_leakage(&Prior::new(vec![1.0 - 1e-9, 1e-9])?)?
        .unwrap_or(f64::NAN);
    let guaranteed = 2.0 / (1.0 + exp(0.1));
    Ok(vec![
        Comparison::number(
            "proof of Theorem 3",
            "β*(C‖C) of the tight example",
            "0.36",
            least(&twice)?,
        ),
        Comparison::claim(
            "Figure 3, left",
            "ε, Figure 3 left, c = 1/m",
            "0.1",
            epsilon,
            epsilon <= 0.1,
        )
        .because(
            "at n = m = 3, k = 1: c = 1/m keeps ε-LDP only if 1/(1 + e^ε) ≤ k/m ≤ e^ε/(1 + e^ε)",
        ),
        Comparison::claim(
            "Figure 3, left",
            "β*, Figure 3 left, c = 1/m",
            "2/(1 + e^0.1) = 0.95",
            least(&filled)?,
            (least(&filled)? - guaranteed).abs() < 1e-9,
        )
        .because("as above"),
        Comparison::claim(
            "eq. (21)",
            "least R* at ε = 1",
            "1/(e^ε − 1) = 0.582",
            1.0 / (1.0 + exp(1.0)),
            false,
        )
        .because("the last step must read 1/(e^ε + 1): a risk above 1/2 is worse than guessing"),
        Comparison::claim(
            "footnote 3",
            "β near a point mass, identity channel",
            "limit 1",
            nearly_sure,
            (nearly_sure - 1.0).abs() < 1e-3,
        )
        .because("true only if the likely secret has every observation of the other secrets"),
    ])
}

/// The left matrix of Figure 3 for three secrets and observations, k = 1, filled with c = 1/m.
fn figure_3(epsilon: f64) -> Result<Channel> {
    let (a, b) = (
        exp(epsilon) / (1.0 + exp(epsilon)),
        1.0 / (1.0 + exp(epsilon)),
    );
    let third = 1.0 / 3.0;
    Channel::from_rows(&[[a, b / 2.0, b / 2.0], [b, a / 2.0, a / 2.0], [third; 3]])
}

fn table(all: &[Comparison]) -> Table {
    let mut table = Table::new(&[
        "place",
        "quantity",
        "printed",
        "recomputed",
        "agrees",
        "comment",
    ]);
    for found in all {
        let agrees = if found.agrees { "yes" } else { "no" };
        let recomputed = found
            .value
            .map_or_else(|| found.recomputed.as_str().into(), Into::into);
        table.push([
            found.place.into(),
            found.quantity.as_str().into(),
            found.printed.as_str().into(),
            recomputed,
            agrees.into(),
            found.comment.as_str().into(),
        ]);
    }
    table
}

fn picture(all: &[Comparison]) -> String {
    let row = |found: &Comparison| {
        Some(Dot {
            label: found.quantity.clone(),
            point: Some(found.value?),
            reference: Some(found.printed.parse().ok()?),
            ..Dot::default()
        })
    };
    dots(&Dots {
        caption: Caption::new(
            "Numbers printed in the text and recomputed",
            "Printed and recomputed numbers agree except for β* of randomized response with 400 secrets.",
        ),
        x: Axis::linear("value").from_to(0.0, 1.03),
        name: "recomputed".to_owned(),
        reference_name: "printed".to_owned(),
        rows: all.iter().filter_map(row).collect(),
    })
}
