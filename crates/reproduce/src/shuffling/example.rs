//! Figure 6 and Appendix A.10: the worked example of Algorithm 1, eight people.

use super::super::{Comparison, FigureOutput, ReproduceOptions};
use leakgauge_base::error::Result;
use leakgauge_exact::permutation::{Distance, apply};
use leakgauge_permute::{Groups, Plan, compose, inverse, of_groups};
use leakgauge_plot::{Axis, Caption, Chart, Layer, Mark, Spot, chart};
use leakgauge_plot::{Figure, Table};

/// The number of people, who count from 1 as in the paper.
const PEOPLE: u32 = 8;
/// The groups that the paper states. Those of the others are in a drawing only.
const GROUPS: [(u32, &[u32]); 3] = [(4, &[4, 5, 7]), (5, &[5, 2, 3, 8, 4]), (8, &[8, 3, 5])];
/// σ₀, from the largest group on, breadth first.
const ORDER: [u32; 8] = [5, 2, 3, 8, 4, 1, 6, 7];
/// The drawn permutation σ.
const DRAWN: [u32; 8] = [3, 2, 5, 4, 8, 1, 7, 6];

/// How far above its point, out of the way of lines, a label is.
const ABOVE: f64 = 0.35;

fn from_0(people: &[u32]) -> Vec<u32> {
    people.iter().map(|person| person - 1).collect()
}

/// Groups in the reference order, and the values that the drawn permutation publishes.
pub(crate) fn figure_6(_: &ReproduceOptions) -> Result<FigureOutput> {
    let named = GROUPS.map(|(person, members)| (format!("G{person}"), from_0(members)));
    let groups = Groups::listed(PEOPLE as usize, named.to_vec())?;
    let order = from_0(&ORDER);
    let plan = Plan::at(&groups, 1.0, Distance::Kendall, order.clone())?;
    let widths: Vec<u64> = of_groups(&groups, &order).iter().map(|s| s.width).collect();
    // σ* = σ∘σ₀⁻¹: the person at a place of σ₀ publishes the value of the one at this place of σ.
    let received = compose(&from_0(&DRAWN), &inverse(&order));
    let released: Vec<u32> = apply(&received, &(1..=PEOPLE).collect::<Vec<u32>>());
    let values: Vec<String> = released.iter().map(|person| format!("y{person}")).collect();
    let place = "A.10";
    let printed = "y1 y2 y5 y8 y3 y7 y6 y4";
    let found = values.join(" ");
    Ok(FigureOutput {
        comparisons: vec![
            Comparison::number(place, "width of G4", "7", widths[0] as f64),
            Comparison::number(place, "width of G5", "4", widths[1] as f64),
            Comparison::number(
                place,
                "bound ω(ω + 1)/2 on Δ",
                "28",
                plan.sensitivity_bound as f64,
            ),
            Comparison::statement(
                place,
                "values published with σ = (3 2 5 4 8 1 7 6)",
                printed,
                &found,
                found == printed,
            ),
        ],
        notes: vec![
            format!(
                "The paper draws the graph and states three groups; its edges of people 1 and 6 cannot be read from the text. The exact Δ of the three groups is {}, less than the bound of 28, so θ = α/{} hides as much and moves less.",
                plan.sensitivity, plan.sensitivity
            ),
            "The paper writes σ* = σᵀσ₀ in one place; its numbers are those of σ∘σ₀⁻¹.".to_owned(),
        ],
        pictures: vec![of_groups_in_order(&order, &widths), of_release(&released)],
    })
}

fn spot((x, y): (f64, f64)) -> Spot {
    Spot {
        x,
        y: Some(y),
        ..Spot::default()
    }
}

/// Axes of the places of eight people.
fn places(label: &str) -> Axis {
    Axis::linear(label).from_to(0.5, f64::from(PEOPLE) + 0.9)
}

/// The place of every person in σ₀, and from where to where each group goes.
fn of_groups_in_order(order: &[u32], widths: &[u64]) -> Figure {
    let place_of = inverse(order);
    let place = |person: u32| f64::from(place_of[person as usize - 1] + 1);
    let mut table = Table::new(&["group", "member", "place"]);
    let mut layers = Vec::new();
    for (series, ((person, members), width)) in GROUPS.into_iter().zip(widths).enumerate() {
        let up = f64::from(person);
        let mut spots: Vec<(f64, f64)> = members.iter().map(|&one| (place(one), up)).collect();
        for &one in members {
            table.push([
                u64::from(person).into(),
                u64::from(one).into(),
                place(one).into(),
            ]);
        }
        let names = members
            .iter()
            .map(|&one| ((place(one), up + ABOVE), one.to_string()));
        let names = names.collect();
        spots.sort_by(|a, b| a.0.total_cmp(&b.0));
        layers.push(Layer::new("", series, Mark::Line(spots.clone())).with_dashes(0));
        layers.push(Layer::new(
            format!("G{person}, width {width}"),
            series,
            Mark::Points(spots.into_iter().map(spot).collect()),
        ));
        layers.push(Layer::new("", series, Mark::Labels(names)));
    }
    let all = (1..=PEOPLE).map(|person| spot((place(person), f64::from(person))));
    layers.push(Layer::new("everybody's place", 7, Mark::Points(all.collect())).with_size(0.5));
    let svg = chart(&Chart {
        caption: Caption::new(
            "Groups in the reference order σ₀ = (5 2 3 8 4 1 6 7)",
            "The members of the groups of people 4, 5 and 8, which the points are labeled with, at their places in the reference order. A group is as wide as the distance from its first to its last member.",
        ),
        x: places("place in the reference order σ₀"),
        y: places("person"),
        layers,
        aspect: 0.62,
    });
    Figure {
        file: "dsigma-figure-6-groups",
        table,
        svg,
    }
}

/// Whose value stands at every person's place.
fn of_release(released: &[u32]) -> Figure {
    let mut table = Table::new(&["person", "value_of"]);
    let mut points = Vec::new();
    for (person, &of) in (1..=PEOPLE).zip(released) {
        table.push([u64::from(person).into(), u64::from(of).into()]);
        points.push((f64::from(person), f64::from(of)));
    }
    let names = points.iter().map(|&point| (point, format!("y{}", point.1)));
    let last = f64::from(PEOPLE);
    let layers = vec![
        Layer::new("in order", 0, Mark::Rule((1.0, 1.0), (last, last))),
        Layer::new("", 0, Mark::Labels(names.collect())),
        Layer::new(
            "published",
            0,
            Mark::Points(points.into_iter().map(spot).collect()),
        ),
    ];
    let svg = chart(&Chart {
        caption: Caption::new(
            "Values that σ = (3 2 5 4 8 1 7 6) publishes",
            "Whose value every person publishes. Points on the line keep their own.",
        ),
        x: places("person"),
        y: places("whose value is published"),
        layers,
        aspect: 0.62,
    });
    Figure {
        file: "dsigma-figure-6-release",
        table,
        svg,
    }
}
