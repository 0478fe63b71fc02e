//! Figures of the paper on shuffling within groups.
//!
//! # References
//! C. Meehan, A. Roy Chowdhury, K. Chaudhuri, S. Jha, *Privacy Implications of Shuffling*, ICLR 2022.

mod adult;
mod example;
mod orders;
mod people;
mod preserved;
mod sample;
mod swept;
mod syn;
mod twitch;

pub(super) use adult::figure_8;
pub(super) use example::figure_6;
pub(super) use orders::{figure_9, figure_10};
pub(super) use preserved::figure_7;
pub(super) use sample::figure_1;
pub(super) use syn::{figure_4_syn, figure_5};
pub(super) use twitch::figure_4_twitch;

use swept::Swept;

use super::{Comparison, ReproduceOptions};
use crate::evaluation::{
    Boosting, Classifier, Voters, error_of_uniform, randomized_response, recovered,
    total_variation_error, uniform_shuffle, vulnerable,
};
use leakgauge_base::error::Result;
use leakgauge_exact::permutation::{Distance, apply};
use leakgauge_permute::{Groups, OrderChoice, Plan, Points, Randomness};
use leakgauge_plot::{Axis, Caption, Chart, Layer, Mark, Spot, chart};
use leakgauge_plot::{Figure, Table};

/// The privacy parameters of the paper's evaluation.
const EPSILON: f64 = 2.5;
const ALPHA: f64 = 4.0;
/// The number of people whose values vote.
const VOTERS: usize = 25;

/// The amount of simulation.
#[derive(Debug, Clone, Copy)]
struct Effort {
    /// The number of permutations.
    rounds: u64,
    /// The number of randomizations per permutation.
    draws: u32,
    boosting: Boosting,
}

impl Effort {
    /// The paper's amount, unless fewer draws are requested.
    fn new(options: &ReproduceOptions) -> Effort {
        let full = options.priors >= 100;
        Effort {
            rounds: if full { 10 } else { 2 },
            draws: if full { 50 } else { 10 },
            boosting: Boosting {
                trees: if full { 40 } else { 6 },
                ..Boosting::default()
            },
        }
    }
}

/// Mean and standard deviation.
#[derive(Debug, Clone, Copy, Default)]
struct Spread {
    mean: f64,
    deviation: f64,
}

fn spread(values: &[f64]) -> Spread {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let squares: f64 = values.iter().map(|x| (x - mean) * (x - mean)).sum();
    Spread {
        mean,
        deviation: (squares / (n - 1.0).max(1.0)).sqrt(),
    }
}

/// How values are released.
#[derive(Debug, Clone)]
enum Scheme {
    /// In order: only local differential privacy.
    InOrder,
    /// Shuffled within groups.
    Grouped(Box<Plan>),
    /// Shuffled as a whole.
    Uniform,
}

impl Scheme {
    fn grouped(groups: &Groups, alpha: f64, points: Option<&Points>) -> Result<Scheme> {
        let plan = Plan::new(
            groups,
            alpha,
            Distance::Kendall,
            OrderChoice::Narrowest,
            points,
        )?;
        Ok(Scheme::Grouped(Box::new(plan)))
    }

    fn permutation(&self, n: usize, randomness: &mut Randomness) -> Vec<u32> {
        match self {
            Scheme::InOrder => (0..n as u32).collect(),
            Scheme::Grouped(plan) => plan.permutation(randomness),
            Scheme::Uniform => uniform_shuffle(n, randomness),
        }
    }
}

/// People with a private value each, as the attacker and the analyst see them.
struct Population {
    truth: Vec<u8>,
    classes: u8,
    voters: Voters,
    /// The features for learning.
    features: Vec<f32>,
    dimension: usize,
    /// The true distribution around each person.
    local: Vec<Vec<f64>>,
}

impl Population {
    /// ρ over several permutations: for all people, and for those with the rarest value, whom a vote for the most
    /// common value never finds.
    fn vulnerable(&self, scheme: &Scheme, effort: Effort, seed: u64) -> [Spread; 2] {
        let mut counts = vec![0usize; usize::from(self.classes)];
        self.truth.iter().for_each(|x| counts[usize::from(*x)] += 1);
        let rarest = (0..self.classes).min_by_key(|x| counts[usize::from(*x)]);
        let rounds = (0..effort.rounds).map(|round| {
            let mut randomness = Randomness::seeded(seed.wrapping_add(round << 32));
            let received = scheme.permutation(self.truth.len(), &mut randomness);
            let times = recovered(
                &self.truth,
                self.classes,
                &self.voters,
                &received,
                EPSILON,
                effort.draws,
                &randomness,
            );
            let rare = times
                .iter()
                .zip(&self.truth)
                .filter(|(_, x)| Some(**x) == rarest);
            let rare: Vec<u32> = rare.map(|(times, _)| *times).collect();
            [
                vulnerable(&times, effort.draws),
                vulnerable(&rare, effort.draws),
            ]
        });
        let rounds: Vec<[f64; 2]> = rounds.collect();
        [0, 1].map(|at| spread(&rounds.iter().map(|r| r[at]).collect::<Vec<f64>>()))
    }

    /// λ over several permutations: the error of a calibrated classifier relative to guessing uniformly.
    fn error(&self, scheme: &Scheme, effort: Effort, seed: u64) -> Spread {
        let of_uniform = error_of_uniform(&self.local);
        let rounds = (0..effort.rounds.min(3)).map(|round| {
            let mut randomness = Randomness::seeded(seed.wrapping_add(round << 32));
            let received = scheme.permutation(self.truth.len(), &mut randomness);
            let told = randomized_response(&self.truth, self.classes, EPSILON, &mut randomness);
            let seen = apply(&received, &told);
            let model = Classifier::fit(
                &self.features,
                self.dimension,
                &seen,
                self.classes,
                effort.boosting,
            );
            let predicted = model.predict(&self.features, self.dimension);
            total_variation_error(&predicted, &self.local) / of_uniform
        });
        spread(&rounds.collect::<Vec<f64>>())
    }
}

/// The distribution of some people's values.
fn shares(truth: &[u8], classes: u8, people: &[u32]) -> Vec<f64> {
    let mut shares = vec![0.0; usize::from(classes)];
    for person in people {
        shares[usize::from(truth[*person as usize])] += 1.0 / people.len() as f64;
    }
    shares
}

/// A line of means with one standard deviation to each side.
fn layers(name: &str, series: usize, points: &[(f64, Spread)]) -> Vec<Layer> {
    let spots = points.iter().map(|(x, s)| Spot {
        x: *x,
        y: Some(s.mean),
        lower: Some(s.mean - s.deviation),
        upper: Some(s.mean + s.deviation),
    });
    vec![
        Layer::new(
            "",
            series,
            Mark::Line(points.iter().map(|(x, s)| (*x, s.mean)).collect()),
        )
        .with_dashes(0),
        Layer::new(name, series, Mark::Points(spots.collect())),
    ]
}

fn level(name: &str, y: f64, (from, to): (f64, f64), series: usize) -> Layer {
    Layer::new(name, series, Mark::Line(vec![(from, y), (to, y)]))
}

/// A picture of group shuffling between the two extremes.
struct Between<'a> {
    file: &'static str,
    title: &'a str,
    says: &'a str,
    x: Axis,
    y: &'a str,
    /// The x range of the lines for the extremes.
    range: (f64, f64),
    in_order: Spread,
    uniform: Spread,
}

impl Between<'_> {
    /// Group shuffling at several x, and the data.
    fn picture(self, column: &'static str, ours: &[(f64, Spread)]) -> Figure {
        let mut table = Table::new(&[
            column,
            "mean",
            "standard_deviation",
            "in_order",
            "uniform_shuffle",
        ]);
        for (x, found) in ours {
            table.push([
                (*x).into(),
                found.mean.into(),
                found.deviation.into(),
                self.in_order.mean.into(),
                self.uniform.mean.into(),
            ]);
        }
        let extremes = [self.in_order, self.uniform];
        let most = ours.iter().map(|point| &point.1).chain(&extremes);
        let most = most.fold(0.0, |most: f64, s| most.max(s.mean + s.deviation));
        // Dashes stay visible over a line that coincides.
        let mut all = layers("within groups", 0, ours);
        all.push(level("in order (LDP)", self.in_order.mean, self.range, 1));
        all.push(level("uniform shuffle", self.uniform.mean, self.range, 2));
        let svg = chart(&Chart {
            caption: Caption::new(self.title, self.says),
            x: self.x,
            y: Axis::linear(self.y).from_to(0.0, 1.06 * most.max(1e-9)),
            layers: all,
            aspect: 0.62,
        });
        Figure {
            file: self.file,
            table,
            svg,
        }
    }
}

/// Mean rows of a person's group.
fn mean_group(groups: &Groups) -> f64 {
    let rows = groups.rows();
    let sum: f64 = (0..rows)
        .filter_map(|row| groups.of_row(row))
        .map(|group| groups.members(group).len() as f64)
        .sum();
    sum / rows as f64
}

/// Whether ρ goes from near its value without a shuffle to near that of a uniform shuffle as groups grow.
fn spans(
    ours: &[(f64, Spread)],
    in_order: Spread,
    uniform: Spread,
    place: &'static str,
) -> Comparison {
    let (first, last) = (ours[0].1.mean, ours[ours.len() - 1].1.mean);
    let range = (in_order.mean - uniform.mean).abs().max(1e-9);
    let falls = first > last && (last - uniform.mean).abs() < 0.35 * range;
    Comparison::statement(
        place,
        "ρ as groups grow",
        "varies from that of LDP to that of a uniform shuffle",
        &format!(
            "in order {:.3}, smallest groups {first:.3}, largest {last:.3}, uniform {:.3}",
            in_order.mean, uniform.mean
        ),
        falls,
    )
}
