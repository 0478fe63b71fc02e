//! Figure 8: a census.

use super::super::{Comparison, FigureOutput, ReproduceOptions};
use super::people::Census;
use super::{ALPHA, Between, Effort, Population, Scheme, Spread, VOTERS, shares};
use crate::evaluation::Voters;
use leakgauge_base::error::Result;
use leakgauge_permute::{Groups, Points, Randomness};
use leakgauge_plot::{Axis, Caption, Chart, Layer, Mark, Spot, chart};
use leakgauge_plot::{Figure, Table};

/// People of the data set, and years within which voters and true distributions are looked for.
const PEOPLE: u64 = 32_561;
const REACH: f64 = 1.0;
const RADII: [f64; 8] = [0.0, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 73.0];
const ALPHAS: [f64; 8] = [1.0, 4.0, 16.0, 100.0, 1e3, 1e4, 1e5, 1e6];
/// The radius at which α is swept.
const RADIUS: f64 = 1.0;

fn population(census: &Census, points: &Points, randomness: &Randomness) -> Result<Population> {
    let around = Groups::within(points, REACH)?;
    let members = |i: usize| {
        around
            .of_row(i)
            .map_or(&[][..], |group| around.members(group))
    };
    let voters = Voters::new(
        census.age.len(),
        VOTERS,
        |i| {
            members(i)
                .iter()
                .copied()
                .filter(|j| *j != i as u32)
                .collect()
        },
        |a, b| f64::from(u8::from(census.marital[a] != census.marital[b])),
        randomness,
    );
    // People of one age share their surroundings.
    let of_group: Vec<Vec<f64>> = (0..around.len())
        .map(|group| shares(&census.income, 2, around.members(group)))
        .collect();
    let local = (0..census.age.len()).filter_map(|i| around.of_row(i));
    Ok(Population {
        truth: census.income.clone(),
        classes: 2,
        voters,
        features: census.age.iter().map(|age| *age as f32).collect(),
        dimension: 1,
        local: local.map(|group| of_group[group].clone()).collect(),
    })
}

/// ρ and λ against r, ρ against α, and ρ against λ.
pub(crate) fn figure_8(options: &ReproduceOptions) -> Result<FigureOutput> {
    let effort = Effort::new(options);
    let mut randomness = Randomness::seeded(options.seed);
    let census = match &options.source {
        Some(file) => Census::read(file)?,
        None => Census::generated(PEOPLE.min(options.rows) as usize, &mut randomness),
    };
    let points = census.points()?;
    let people = population(&census, &points, &randomness)?;
    let mut found = Vec::new();
    for radius in RADII {
        let scheme = Scheme::grouped(&Groups::within(&points, radius)?, ALPHA, Some(&points))?;
        found.push(Found::new(radius, &people, &scheme, effort, options.seed));
    }
    let groups = Groups::within(&points, RADIUS)?;
    let mut by_alpha = Vec::new();
    for alpha in ALPHAS {
        let scheme = Scheme::grouped(&groups, alpha, Some(&points))?;
        by_alpha.push((
            alpha,
            Found::new(RADIUS, &people, &scheme, effort, options.seed),
        ));
    }
    let extremes = [Scheme::InOrder, Scheme::Uniform]
        .map(|scheme| Found::new(0.0, &people, &scheme, effort, options.seed));
    Ok(FigureOutput {
        comparisons: comparisons(&found, &by_alpha, &extremes),
        notes: notes(&census, effort, &found, &extremes[0]),
        pictures: pictures(&found, &by_alpha, &extremes),
    })
}

/// At one radius.
#[derive(Clone, Copy)]
struct Found {
    radius: f64,
    /// Of all, and of people with the larger income.
    rho: [Spread; 2],
    lambda: Spread,
    theta: Option<f64>,
}

impl Found {
    fn new(radius: f64, people: &Population, scheme: &Scheme, effort: Effort, seed: u64) -> Found {
        Found {
            radius,
            rho: people.vulnerable(scheme, effort, seed),
            lambda: people.error(scheme, effort, seed),
            theta: match scheme {
                Scheme::Grouped(plan) => Some(plan.theta),
                _ => None,
            },
        }
    }
}

type ByAlpha = [(f64, Found)];

fn comparisons(found: &[Found], by_alpha: &ByAlpha, extremes: &[Found; 2]) -> Vec<Comparison> {
    let (in_order, at_one) = (&extremes[0], &found[1]);
    let times = in_order.rho[0].mean / at_one.rho[0].mean.max(1e-9);
    let error = at_one.lambda.mean / in_order.lambda.mean;
    let ends = (by_alpha[0], by_alpha[by_alpha.len() - 1]);
    vec![
        Comparison::claim(
            "Section 5",
            "ρ of LDP over that at r = 1",
            "1.7",
            times,
            (1.65..1.75).contains(&times),
        )
        .because(
            "most people have the smaller income, so after a shuffle every vote is for it and is right for them; for people with the larger income ρ does decrease, see the notes",
        ),
        Comparison::claim(
            "Section 5",
            "λ at r = 1 over that of LDP",
            "the same",
            error,
            (0.8..1.25).contains(&error),
        )
        .because("with θ = α/Δ the shuffle is already nearly uniform at r = 1, see the notes"),
        Comparison::statement(
            "Section 5, Figure 8b",
            "ρ of people with the larger income as α falls",
            "decreases",
            &format!(
                "{:.3} at α = {}, {:.3} at α = {}",
                ends.1.1.rho[1].mean, ends.1.0, ends.0.1.rho[1].mean, ends.0.0
            ),
            ends.0.1.rho[1].mean < ends.1.1.rho[1].mean,
        ),
    ]
}

fn notes(census: &Census, effort: Effort, found: &[Found], in_order: &Found) -> Vec<String> {
    let n = census.age.len();
    let each = |of: &dyn Fn(&Found) -> String| -> String {
        let parts: Vec<String> = found
            .iter()
            .map(|f| format!("{} at r = {}", of(f), f.radius))
            .collect();
        parts.join(", ")
    };
    vec![
        format!(
            "{}: {n} people, ε = 2.5, α = 4, {} permutations of {} randomizations each. The {VOTERS} voters are within {REACH} year, of the same marital status if there are as many, and not the person. α goes to 10⁶, and people with the larger income are looked at alone, since ρ of all at α up to 16 and r = 4 had shown no effect of α; λ is against the true shares within {REACH} year.",
            census.name, effort.rounds, effort.draws
        ),
        format!(
            "nθ, which is far below 1 for a nearly uniform shuffle: {}.",
            each(&|f| f
                .theta
                .map_or_else(String::new, |theta| format!("{:.1e}", theta * n as f64)))
        ),
        format!(
            "ρ of people with the larger income: {:.3} in order, {}.",
            in_order.rho[1].mean,
            each(&|f| format!("{:.3}", f.rho[1].mean))
        ),
    ]
}

/// File, title, what it says and what is measured, of the pictures against r.
type Measured = ([&'static str; 3], &'static str, fn(&Found) -> Spread);

/// The label of the axis of ρ of people with the larger income.
const LARGER: &str = "ρ of people of larger income";

const BY_RADIUS: [Measured; 3] = [
    (
        [
            "dsigma-figure-8a",
            "Share of people whose income an attack recovers",
            "A vote for the smaller income, which most people have, is right for most people after any shuffle.",
        ],
        "share recovered, ρ",
        |found| found.rho[0],
    ),
    (
        [
            "dsigma-figure-8a-larger",
            "Share of people with the larger income whose income an attack recovers",
            "At α = 4 a shuffle within any radius protects like a uniform shuffle.",
        ],
        LARGER,
        |found| found.rho[1],
    ),
    (
        [
            "dsigma-figure-8c",
            "Error of learned shares of large incomes",
            "At α = 4 a shuffle within any radius allows as much learning as a uniform shuffle.",
        ],
        "error relative to guessing, λ",
        |found| found.lambda,
    ),
];

fn pictures(found: &[Found], by_alpha: &ByAlpha, extremes: &[Found; 2]) -> Vec<Figure> {
    let against_radius = |([file, title, says], y, pick): Measured| {
        let ours: Vec<(f64, Spread)> = found.iter().map(|f| (f.radius, pick(f))).collect();
        Between {
            file,
            title,
            says,
            x: Axis::linear("years within a group, r"),
            y,
            range: (RADII[0], RADII[RADII.len() - 1]),
            in_order: pick(&extremes[0]),
            uniform: pick(&extremes[1]),
        }
        .picture("radius", &ours)
    };
    let [all, larger, learned] = BY_RADIUS.map(against_radius);
    vec![
        all,
        larger,
        against_alpha(by_alpha, extremes),
        learned,
        trade(by_alpha),
    ]
}

fn against_alpha(by_alpha: &ByAlpha, extremes: &[Found; 2]) -> Figure {
    let ours: Vec<(f64, Spread)> = by_alpha.iter().map(|(a, f)| (*a, f.rho[1])).collect();
    Between {
        file: "dsigma-figure-8b",
        title: "Share of people with the larger income whom an attack finds, groups within a year",
        says: "Smaller α protects more.",
        x: Axis::log("α"),
        y: LARGER,
        range: (ALPHAS[0], ALPHAS[ALPHAS.len() - 1]),
        in_order: extremes[0].rho[1],
        uniform: extremes[1].rho[1],
    }
    .picture("alpha", &ours)
}

/// Values of α whose points have labels: others are close to these.
const NAMED: [(f64, &str); 3] = [(1.0, "α = 1"), (1e3, "α = 1000"), (1e6, "α = 10⁶")];

/// ρ against λ, one point an α.
fn trade(by_alpha: &ByAlpha) -> Figure {
    let mut table = Table::new(&["alpha", "error", "recovered"]);
    let (mut line, mut labels) = (Vec::new(), Vec::new());
    for (alpha, found) in by_alpha {
        let place = (found.lambda.mean, found.rho[1].mean);
        table.push([(*alpha).into(), place.0.into(), place.1.into()]);
        line.push(place);
        let name = NAMED.iter().find(|named| named.0 == *alpha);
        labels.extend(name.map(|(_, name)| (place, (*name).to_owned())));
    }
    let spots = line.iter().map(|&(x, y)| Spot {
        x,
        y: Some(y),
        ..Spot::default()
    });
    let all = vec![
        Layer::new("", 0, Mark::Line(line.clone())),
        Layer::new("within groups", 0, Mark::Points(spots.collect())),
        Layer::new("", 0, Mark::Labels(labels)),
    ];
    let most = |of: fn(&(f64, f64)) -> f64| line.iter().map(of).fold(1e-9, f64::max);
    let (widest, highest) = (most(|point| point.0), most(|point| point.1));
    let svg = chart(&Chart {
        caption: Caption::new(
            "People with the larger income who are found against what is learned, groups within a year",
            "Lower left is better: fewer values recovered and smaller errors. A line joins the points in the order of α, which is 1, 4, 16, 100 and from there ten times as large each time.",
        ),
        x: Axis::linear("error relative to guessing, λ").from_to(0.0, 1.25 * widest),
        y: Axis::linear(LARGER).from_to(-0.06 * highest, 1.06 * highest),
        layers: all,
        aspect: 0.62,
    });
    Figure {
        file: "dsigma-figure-8-trade",
        table,
        svg,
    }
}
