//! Figures 1, 4 and 5 on generated crescents.

use super::super::{Comparison, Made, Picture, ReproduceOptions, Table};
use super::{
    ALPHA, Between, Effort, Population, Scheme, Spread, VOTERS, layers, level, mean_group, shares,
    spread,
};
use crate::error::Result;
use crate::permute::evaluation::{Classifier, Voters, crescents, randomized_response};
use crate::permute::{Groups, Points, Randomness, apply};
use crate::plot::{Axis, Caption, Chart, Layer, Mark, Spot, chart};

/// Points of Figure 1 and of Figures 4 and 5.
const FEW: usize = 800;
const MANY: u64 = 20_000;
/// ε and the two thresholds of Figure 1.
const EPSILON_1: f64 = 2.55;
const RADII_1: [f64; 2] = [0.05, 0.13];

fn places(points: &[[f64; 2]]) -> Result<Points> {
    Points::new(points.concat(), 2)
}

fn scatter(file: &'static str, title: &str, points: &[[f64; 2]], labels: &[Option<u8>]) -> Picture {
    const NAMES: [&str; 8] = [
        "warm, red, light",
        "warm, red, dark",
        "warm, orange, light",
        "warm, orange, dark",
        "cool, blue, light",
        "cool, blue, dark",
        "cool, green, light",
        "cool, green, dark",
    ];
    let mut table = Table::new(&["x", "y", "label"]);
    for (point, label) in points.iter().zip(labels) {
        let label = label.map_or_else(String::new, |label| label.to_string());
        table.push([point[0].into(), point[1].into(), label.into()]);
    }
    let of = |wanted: Option<u8>| -> Vec<Spot> {
        let all = points
            .iter()
            .zip(labels)
            .filter(|(_, label)| **label == wanted);
        all.map(|(point, _)| Spot {
            x: point[0],
            y: Some(point[1]),
            ..Spot::default()
        })
        .collect()
    };
    let mut all: Vec<Layer> = (0..8u8)
        .map(|label| {
            Layer::new(
                NAMES[usize::from(label)],
                usize::from(label),
                Mark::Points(of(Some(label))),
            )
        })
        .collect();
    let undecided = of(None);
    if !undecided.is_empty() {
        all.push(Layer::new("undecided", 8, Mark::Points(undecided)));
    }
    let svg = chart(&Chart {
        caption: Caption::new(title, "Positions are public, colours private."),
        x: Axis::linear("x"),
        y: Axis::linear("y"),
        layers: all,
        aspect: 0.5,
    });
    Picture { file, table, svg }
}

/// The share of points whose label the attack finds, at 8, 4 and 2 classes.
fn found(labels: &[u8], guesses: &[Option<u8>]) -> [f64; 3] {
    [1, 2, 4].map(|coarse| {
        let right = |(x, guess): &(&u8, &Option<u8>)| {
            guess.is_some_and(|guess| guess / coarse == **x / coarse)
        };
        labels.iter().zip(guesses).filter(right).count() as f64 / labels.len() as f64
    })
}

/// One sample in full: what is published, and what an attack makes of it.
pub(in super::super) fn figure_1(options: &ReproduceOptions) -> Result<Made> {
    const PUBLISHED: [(&str, &str, &str); 4] = [
        (
            "dsigma-figure-1b-in-order",
            "dsigma-figure-1f-attack-in-order",
            "in order",
        ),
        (
            "dsigma-figure-1c-small-groups",
            "dsigma-figure-1g-attack-small-groups",
            "small groups",
        ),
        (
            "dsigma-figure-1d-large-groups",
            "dsigma-figure-1h-attack-large-groups",
            "large groups",
        ),
        (
            "dsigma-figure-1e-uniform",
            "dsigma-figure-1i-attack-uniform",
            "uniform shuffle",
        ),
    ];
    let mut randomness = Randomness::seeded(options.seed);
    let made = crescents(FEW, &mut randomness);
    let points = places(&made.points)?;
    let schemes = [
        Scheme::InOrder,
        Scheme::grouped(&Groups::within(&points, RADII_1[0])?, 1.0, Some(&points))?,
        Scheme::grouped(&Groups::within(&points, RADII_1[1])?, 1.0, Some(&points))?,
        Scheme::Uniform,
    ];
    let told = randomized_response(&made.labels, 8, EPSILON_1, &mut randomness);
    let near = |i: usize| (0..FEW as u32).filter(|j| *j != i as u32).collect();
    let voters = Voters::new(FEW, VOTERS, near, |a, b| points.distance(a, b), &randomness);
    let labels = |values: &[u8]| values.iter().map(|x| Some(*x)).collect::<Vec<_>>();
    let mut pictures = vec![scatter(
        "dsigma-figure-1a-original",
        "Private labels at public places",
        &made.points,
        &labels(&made.labels),
    )];
    let mut accuracy = Vec::new();
    for ((file, attack, name), scheme) in PUBLISHED.iter().zip(&schemes) {
        let received = scheme.permutation(FEW, &mut randomness);
        let seen = apply(&received, &told);
        let guesses = voters.majority(&seen, 8);
        accuracy.push(found(&made.labels, &guesses));
        pictures.push(scatter(
            file,
            &format!("What is published: {name}"),
            &made.points,
            &labels(&seen),
        ));
        pictures.push(scatter(
            attack,
            &format!("What an attack finds: {name}"),
            &made.points,
            &guesses,
        ));
    }
    let say = |[eight, four, two]: [f64; 3]| format!("{eight:.2}, {four:.2}, {two:.2}");
    let (first, last) = (accuracy[0], accuracy[3]);
    Ok(Made {
        comparisons: vec![
            Comparison::claim(
                "Figure 1",
                "share of labels that the attack finds without a shuffle",
                "almost the entire dataset",
                first[0],
                first[0] > 0.85,
            ),
            Comparison::claim(
                "Figure 1",
                "share of labels that the attack finds after a uniform shuffle",
                "prevents all classification",
                last[0],
                last[0] < 0.2,
            ),
        ],
        notes: vec![
            format!(
                "{FEW} generated points, ε = {EPSILON_1}, α = 1, radii {} and {}, picked from ten between 0.03 and 0.4 after seeing what the attack finds at each (the paper gives none); the attack is the vote of the {VOTERS} nearest others, not the paper's Gaussian process.",
                RADII_1[0], RADII_1[1]
            ),
            format!(
                "Labels found at 8, 4 and 2 classes: in order {}; small groups {}; large groups {}; uniform {}.",
                say(accuracy[0]),
                say(accuracy[1]),
                say(accuracy[2]),
                say(accuracy[3])
            ),
        ],
        pictures,
    })
}

/// Radii that are swept.
const RADII: [f64; 9] = [0.005, 0.01, 0.02, 0.04, 0.08, 0.15, 0.3, 0.7, 2.5];

fn size(options: &ReproduceOptions) -> usize {
    MANY.min(options.rows) as usize
}

fn radii(options: &ReproduceOptions) -> &'static [f64] {
    if options.priors >= 100 {
        &RADII
    } else {
        &[0.1, 0.7]
    }
}

/// Attack and local distributions on the crescents.
pub(in super::super) fn figure_4_syn(options: &ReproduceOptions) -> Result<Made> {
    const REACH: f64 = 0.15;
    let effort = Effort::new(options);
    let n = size(options);
    let mut randomness = Randomness::seeded(options.seed);
    let made = crescents(n, &mut randomness);
    let points = places(&made.points)?;
    let around = Groups::within(&points, REACH)?;
    let members = |i: usize| {
        around
            .of_row(i)
            .map_or(&[][..], |group| around.members(group))
    };
    let others = |i: usize| {
        members(i)
            .iter()
            .copied()
            .filter(|j| *j != i as u32)
            .collect()
    };
    let population = Population {
        voters: Voters::new(n, VOTERS, others, |a, b| points.distance(a, b), &randomness),
        local: (0..n)
            .map(|i| shares(&made.labels, 8, members(i)))
            .collect(),
        features: made.points.concat().iter().map(|x| *x as f32).collect(),
        dimension: 2,
        truth: made.labels,
        classes: 8,
    };
    let (mut rho, mut lambda) = (Vec::new(), Vec::new());
    for &radius in radii(options) {
        let groups = Groups::within(&points, radius)?;
        let scheme = Scheme::grouped(&groups, ALPHA, Some(&points))?;
        let x = mean_group(&groups);
        rho.push((x, population.vulnerable(&scheme, effort, options.seed)[0]));
        lambda.push((x, population.error(&scheme, effort, options.seed)));
    }
    let both = |measure: fn(&Population, &Scheme, Effort, u64) -> Spread| {
        [Scheme::InOrder, Scheme::Uniform]
            .map(|scheme| measure(&population, &scheme, effort, options.seed))
    };
    let [rho_in_order, rho_uniform] = both(|p, s, e, seed| p.vulnerable(s, e, seed)[0]);
    let [lambda_in_order, lambda_uniform] = both(Population::error);
    let range = |points: &[(f64, Spread)]| (points[0].0, points[points.len() - 1].0);
    Ok(Made {
        comparisons: vec![super::spans(&rho, rho_in_order, rho_uniform, "Figure 4")],
        notes: vec![format!(
            "{n} generated points, ε = 2.5, α = 4, {} permutations of {} randomizations each (3 at most for λ); the radii were moved down once the first ones had left only the uniform end; the attack has the {VOTERS} nearest others within {REACH} vote, λ is against the true distribution within {REACH}.",
            effort.rounds, effort.draws
        )],
        pictures: vec![
            Between {
                file: "dsigma-figure-4-syn-attack",
                title: "Share of people whose value an attack recovers, crescents",
                says: "Larger groups protect more, from no shuffle to a uniform one.",
                x: Axis::log("mean rows of a group"),
                y: "share recovered, ρ",
                range: range(&rho),
                in_order: rho_in_order,
                uniform: rho_uniform,
            }
            .picture("group_size", &rho),
            Between {
                file: "dsigma-figure-4-syn-learnability",
                title: "Error of learned local distributions, crescents",
                says: "Larger groups leave less to learn.",
                x: Axis::log("mean rows of a group"),
                y: "error relative to guessing, λ",
                range: range(&lambda),
                in_order: lambda_in_order,
                uniform: lambda_uniform,
            }
            .picture("group_size", &lambda),
        ],
    })
}

/// Accuracy of 8-way, 4-way and 2-way classification learned from what is published.
pub(in super::super) fn figure_5(options: &ReproduceOptions) -> Result<Made> {
    let effort = Effort::new(options);
    let n = size(options);
    let mut randomness = Randomness::seeded(options.seed);
    let train = crescents(n, &mut randomness);
    let test = crescents(n, &mut randomness);
    let floats = |points: &[[f64; 2]]| {
        points
            .concat()
            .iter()
            .map(|x| *x as f32)
            .collect::<Vec<f32>>()
    };
    let (features, queries) = (floats(&train.points), floats(&test.points));
    let points = places(&train.points)?;
    let accuracy = |scheme: &Scheme| -> [Spread; 3] {
        let rounds: Vec<[f64; 3]> = (0..effort.rounds.min(2))
            .map(|round| {
                let mut randomness = Randomness::seeded(options.seed.wrapping_add(1 + round));
                let received = scheme.permutation(n, &mut randomness);
                let told = randomized_response(&train.labels, 8, super::EPSILON, &mut randomness);
                let seen = apply(&received, &told);
                [(1u8, 8u8), (2, 4), (4, 2)].map(|(coarse, classes)| {
                    let labels: Vec<u8> = seen.iter().map(|x| x / coarse).collect();
                    let model = Classifier::fit(&features, 2, &labels, classes, effort.boosting);
                    let predicted = model.predict(&queries, 2);
                    let likeliest = |p: &Vec<f64>| {
                        (0..classes)
                            .max_by(|a, b| p[usize::from(*a)].total_cmp(&p[usize::from(*b)]))
                    };
                    let right = predicted
                        .iter()
                        .zip(&test.labels)
                        .filter(|(p, x)| likeliest(p) == Some(**x / coarse));
                    right.count() as f64 / n as f64
                })
            })
            .collect();
        [0, 1, 2].map(|at| spread(&rounds.iter().map(|r| r[at]).collect::<Vec<f64>>()))
    };
    let mut ours: [Vec<(f64, Spread)>; 3] = Default::default();
    for &radius in radii(options) {
        let groups = Groups::within(&points, radius)?;
        let found = accuracy(&Scheme::grouped(&groups, ALPHA, Some(&points))?);
        for (line, found) in ours.iter_mut().zip(found) {
            line.push((radius, found));
        }
    }
    let (in_order, uniform) = (accuracy(&Scheme::InOrder), accuracy(&Scheme::Uniform));
    let mut table = Table::new(&[
        "radius",
        "classes",
        "accuracy",
        "standard_deviation",
        "in_order",
        "uniform_shuffle",
    ]);
    let mut all = Vec::new();
    let range = (radii(options)[0], radii(options)[radii(options).len() - 1]);
    for (at, classes) in [8u64, 4, 2].into_iter().enumerate() {
        for (radius, found) in &ours[at] {
            table.push([
                (*radius).into(),
                classes.into(),
                found.mean.into(),
                found.deviation.into(),
                in_order[at].mean.into(),
                uniform[at].mean.into(),
            ]);
        }
        all.extend(layers(&format!("{classes}-way"), at, &ours[at]));
        all.push(level(
            &format!("{classes}-way, in order"),
            in_order[at].mean,
            range,
            at + 3,
        ));
    }
    let svg = chart(&Chart {
        caption: Caption::new(
            "Accuracy of what is learned from crescents shuffled within a radius",
            "Fine classes are lost at small radii, coarse ones at large radii.",
        ),
        x: Axis::log("radius of the groups"),
        y: Axis::linear("accuracy").from_to(0.0, 1.0),
        layers: all,
        aspect: 0.62,
    });
    let last = |at: usize| uniform[at].mean;
    Ok(Made {
        comparisons: vec![Comparison::claim(
            "Section 5, Figure 5",
            "8-way accuracy after a uniform shuffle",
            "uniform shuffling allows none",
            last(0),
            last(0) < 0.25,
        )],
        notes: vec![format!(
            "{n} generated points to learn from and as many to test with, ε = 2.5, α = 4; boosted trees. Without a shuffle the accuracies are {:.3}, {:.3}, {:.3}; after a uniform one {:.3}, {:.3}, {:.3}.",
            in_order[0].mean,
            in_order[1].mean,
            in_order[2].mean,
            last(0),
            last(1),
            last(2)
        )],
        pictures: vec![Picture {
            file: "dsigma-figure-5",
            table,
            svg,
        }],
    })
}
