//! Figures 4 and 5 on generated crescents.

use super::super::{Comparison, FigureOutput, ReproduceOptions};
use super::{
    ALPHA, Effort, Population, Scheme, Spread, Swept, VOTERS, layers, level, mean_group, shares,
    spread,
};
use crate::evaluation::{Classifier, Crescents, Voters, crescents, randomized_response};
use leakgauge_base::error::Result;
use leakgauge_exact::permutation::apply;
use leakgauge_permute::{Groups, Points, Randomness};
use leakgauge_plot::{Axis, Caption, Chart, Layer, Mark, chart};
use leakgauge_plot::{Figure, Table};

/// The number of points to learn from.
const MANY: u64 = 20_000;
/// Within which voters and true distributions are looked for.
const REACH: f64 = 0.15;

pub(super) fn places(points: &[[f64; 2]]) -> Result<Points> {
    Points::new(points.concat(), 2)
}

fn floats(points: &[[f64; 2]]) -> Vec<f32> {
    points.concat().iter().map(|x| *x as f32).collect()
}

/// The radii.
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

fn population(made: Crescents, points: &Points, randomness: &Randomness) -> Result<Population> {
    let n = made.labels.len();
    let around = Groups::within(points, REACH)?;
    let members = |i: usize| {
        around
            .of_row(i)
            .map_or(&[][..], |group| around.members(group))
    };
    let others = |i: usize| {
        let members = members(i).iter().copied();
        members.filter(|j| *j != i as u32).collect()
    };
    let distance = |a, b| points.distance(a, b);
    Ok(Population {
        voters: Voters::new(n, VOTERS, others, distance, randomness),
        local: (0..n)
            .map(|i| shares(&made.labels, 8, members(i)))
            .collect(),
        features: floats(&made.points),
        dimension: 2,
        truth: made.labels,
        classes: 8,
    })
}

/// Attack and local distributions on the crescents.
pub(crate) fn figure_4_syn(options: &ReproduceOptions) -> Result<FigureOutput> {
    let effort = Effort::new(options);
    let n = size(options);
    let mut randomness = Randomness::seeded(options.seed);
    let made = crescents(n, &mut randomness);
    let points = places(&made.points)?;
    let population = population(made, &points, &randomness)?;
    let mut swept = Swept::new(&population, effort, options.seed);
    for &radius in radii(options) {
        let groups = Groups::within(&points, radius)?;
        let scheme = Scheme::grouped(&groups, ALPHA, Some(&points))?;
        swept.add(mean_group(&groups), &scheme);
    }
    Ok(FigureOutput {
        comparisons: vec![swept.spans("Figure 4")],
        notes: vec![format!(
            "{n} generated points, ε = 2.5, α = 4, {} permutations of {} randomizations each (3 at most for λ); the radii were reduced once because the first ones only showed the uniform end; in the attack the {VOTERS} nearest points within {REACH} vote, and λ compares with the true distribution within {REACH}.",
            effort.rounds, effort.draws
        )],
        pictures: swept.pictures(
            [
                "dsigma-figure-4-syn-attack",
                "dsigma-figure-4-syn-learnability",
            ],
            "crescents",
        ),
    })
}

/// The training and test points.
struct Lesson {
    train: Crescents,
    test: Crescents,
    features: Vec<f32>,
    queries: Vec<f32>,
    effort: Effort,
    seed: u64,
}

/// How many classes labels are made of, and how many labels each.
const CLASSES: [(u8, u8); 3] = [(1, 8), (2, 4), (4, 2)];

impl Lesson {
    fn new(options: &ReproduceOptions) -> Lesson {
        let n = size(options);
        let mut randomness = Randomness::seeded(options.seed);
        let train = crescents(n, &mut randomness);
        let test = crescents(n, &mut randomness);
        Lesson {
            features: floats(&train.points),
            queries: floats(&test.points),
            train,
            test,
            effort: Effort::new(options),
            seed: options.seed,
        }
    }

    /// The accuracies at 8, 4 and 2 classes.
    fn accuracy(&self, scheme: &Scheme) -> [Spread; 3] {
        let rounds = (0..self.effort.rounds.min(2)).map(|round| {
            let mut randomness = Randomness::seeded(self.seed.wrapping_add(1 + round));
            let labels = &self.train.labels;
            let received = scheme.permutation(labels.len(), &mut randomness);
            let told = randomized_response(labels, 8, super::EPSILON, &mut randomness);
            let seen = apply(&received, &told);
            CLASSES.map(|classes| self.share_right(&seen, classes))
        });
        let rounds: Vec<[f64; 3]> = rounds.collect();
        [0, 1, 2].map(|at| spread(&rounds.iter().map(|r| r[at]).collect::<Vec<f64>>()))
    }

    fn share_right(&self, seen: &[u8], (coarse, classes): (u8, u8)) -> f64 {
        let labels: Vec<u8> = seen.iter().map(|x| x / coarse).collect();
        let model = Classifier::fit(&self.features, 2, &labels, classes, self.effort.boosting);
        let predicted = model.predict(&self.queries, 2);
        let likeliest = |p: &Vec<f64>| {
            (0..classes).max_by(|a, b| p[usize::from(*a)].total_cmp(&p[usize::from(*b)]))
        };
        let right = predicted
            .iter()
            .zip(&self.test.labels)
            .filter(|(p, x)| likeliest(p) == Some(**x / coarse));
        right.count() as f64 / predicted.len() as f64
    }
}

/// The accuracy of 8-way, 4-way and 2-way classification learned from published values.
pub(crate) fn figure_5(options: &ReproduceOptions) -> Result<FigureOutput> {
    let lesson = Lesson::new(options);
    let points = places(&lesson.train.points)?;
    let mut ours: [Vec<(f64, Spread)>; 3] = Default::default();
    for &radius in radii(options) {
        let groups = Groups::within(&points, radius)?;
        let found = lesson.accuracy(&Scheme::grouped(&groups, ALPHA, Some(&points))?);
        for (line, found) in ours.iter_mut().zip(found) {
            line.push((radius, found));
        }
    }
    let extremes = [Scheme::InOrder, Scheme::Uniform].map(|scheme| lesson.accuracy(&scheme));
    let say = |found: &[Spread; 3]| {
        let [eight, four, two] = found.map(|found| found.mean);
        format!("{eight:.3}, {four:.3}, {two:.3}")
    };
    let last = extremes[1][0].mean;
    let halves = [0, 1, 2].map(|at| {
        let half = halfway(&ours[at], extremes[0][at], extremes[1][at]);
        half.map_or("none".to_owned(), |(radius, _)| format!("{radius:.3}"))
    });
    Ok(FigureOutput {
        comparisons: vec![Comparison::claim(
            "Section 5, Figure 5",
            "8-way accuracy after a uniform shuffle",
            "uniform shuffling allows none",
            last,
            last < 0.25,
        )],
        notes: vec![format!(
            "{} generated training points and as many test points, ε = 2.5, α = 4; boosted trees. The radii are those of Figure 4, which were reduced once because the first ones only showed the uniform end. Without a shuffle the accuracies are {}; after a uniform shuffle {}. r₈, r₄ and r₂, where accuracies are halfway between these two: {}. The paper does not say how it marks them.",
            size(options),
            say(&extremes[0]),
            say(&extremes[1]),
            halves.join(", ")
        )],
        pictures: vec![accuracies(&ours, &extremes)],
    })
}

/// The radius at which an accuracy is halfway between that in order and that after a uniform shuffle, and this
/// accuracy; between two radii along a line over their logarithms.
fn halfway(line: &[(f64, Spread)], in_order: Spread, uniform: Spread) -> Option<(f64, f64)> {
    let half = 0.5 * (in_order.mean + uniform.mean);
    let falls = |two: &&[(f64, Spread)]| two[0].1.mean >= half && two[1].1.mean < half;
    let two = line.windows(2).find(falls)?;
    let share = (two[0].1.mean - half) / (two[0].1.mean - two[1].1.mean);
    Some((two[0].0 * (two[1].0 / two[0].0).powf(share), half))
}

/// Dashes of the lines without groups: values in order, and after a uniform shuffle.
const IN_ORDER: usize = 1;
const UNIFORM: usize = 2;

fn accuracies(ours: &[Vec<(f64, Spread)>; 3], extremes: &[[Spread; 3]; 2]) -> Figure {
    let [in_order, uniform] = extremes;
    let mut table = Table::new(&[
        "radius",
        "classes",
        "accuracy",
        "standard_deviation",
        "in_order",
        "uniform_shuffle",
    ]);
    let mut all = Vec::new();
    for (at, (_, classes)) in CLASSES.into_iter().enumerate() {
        for (radius, found) in &ours[at] {
            table.push([
                (*radius).into(),
                u64::from(classes).into(),
                found.mean.into(),
                found.deviation.into(),
                in_order[at].mean.into(),
                uniform[at].mean.into(),
            ]);
        }
        let range = (ours[at][0].0, ours[at][ours[at].len() - 1].0);
        let name = format!("{classes}-way, in order");
        all.extend(layers(&format!("{classes}-way"), at, &ours[at]));
        all.push(level(&name, in_order[at].mean, range, at).with_dashes(IN_ORDER));
        let name = format!("{classes}-way, uniform");
        all.push(level(&name, uniform[at].mean, range, at).with_dashes(UNIFORM));
        if let Some((radius, half)) = halfway(&ours[at], in_order[at], uniform[at]) {
            all.push(Layer::new(
                ["halfway", "", ""][at],
                at,
                Mark::Rule((radius, 0.0), (radius, half)),
            ));
            let text = ["r₈", "r₄", "r₂"][at].to_owned();
            all.push(Layer::new(
                "",
                at,
                Mark::Labels(vec![((radius, half), text)]),
            ));
        }
    }
    let svg = chart(&Chart {
        caption: Caption::new(
            "Accuracy of classifiers learned from crescents shuffled within a radius",
            "Fine classes are lost at small radii, coarse ones at large radii. At r₈, r₄ and r₂ the accuracy is halfway between that in order and that after a uniform shuffle.",
        ),
        x: Axis::log("radius of the groups"),
        // Room for whole markers at 1.
        y: Axis::linear("accuracy").from_to(0.0, 1.04),
        layers: all,
        aspect: 0.62,
    });
    Figure {
        file: "dsigma-figure-5",
        table,
        svg,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn halfway_is_between_two_radii_along_logarithms() {
        let at = |radius, mean| {
            let found = Spread {
                mean,
                deviation: 0.0,
            };
            (radius, found)
        };
        let line = [at(0.01, 1.0), at(0.1, 0.8), at(10.0, 0.2), at(100.0, 0.0)];
        let [high, low] = [at(0.0, 1.0).1, at(0.0, 0.0).1];
        let (radius, half) = halfway(&line, high, low).unwrap();
        assert!(
            (radius - 1.0).abs() < 1e-12 && half == 0.5,
            "{radius} {half}"
        );
        assert_eq!(halfway(&line[..2], high, low), None);
    }
}
