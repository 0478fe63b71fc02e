//! Figure 4, right: friends.

use super::super::{FigureOutput, ReproduceOptions};
use super::people::Network;
use super::{ALPHA, Effort, Population, Scheme, Swept, VOTERS, mean_group, shares};
use crate::evaluation::Voters;
use leakgauge_base::error::Result;
use leakgauge_permute::{Groups, Randomness};

/// The number of people of a generated network.
const PEOPLE: u64 = 6_000;
/// The number of best-connected people; friendship with them gives the features for learning.
const KNOWN: usize = 60;
/// The numbers of rows in a group, the axis of the paper's picture: a person with the closest ones by friendship.
const SIZES: [usize; 6] = [1, 5, 20, 100, 500, 2000];

fn features(network: &Network) -> (Vec<f32>, usize) {
    let n = network.edges.rows();
    let mut best: Vec<u32> = (0..n as u32).collect();
    best.sort_by_key(|row| std::cmp::Reverse(network.edges.neighbors(*row as usize).len()));
    best.truncate(KNOWN);
    let mut features = Vec::with_capacity(n * (best.len() + 1));
    for row in 0..n {
        let friends = network.edges.neighbors(row);
        features.push(friends.len() as f32);
        let knows = |known: &u32| f32::from(u8::from(friends.binary_search(known).is_ok()));
        features.extend(best.iter().map(knows));
    }
    (features, best.len() + 1)
}

fn population(network: &Network, randomness: &Randomness) -> Population {
    let n = network.edges.rows();
    let (features, dimension) = features(network);
    let friends = |i: usize| network.edges.neighbors(i).to_vec();
    let around = |i: usize| [&[i as u32], network.edges.neighbors(i)].concat();
    Population {
        voters: Voters::new(n, VOTERS, friends, |_, _| 0.0, randomness),
        local: (0..n)
            .map(|i| shares(&network.mature, 2, &around(i)))
            .collect(),
        features,
        dimension,
        truth: network.mature.clone(),
        classes: 2,
    }
}

/// Attack and local distributions on a network of friends.
pub(crate) fn figure_4_twitch(options: &ReproduceOptions) -> Result<FigureOutput> {
    let effort = Effort::new(options);
    let mut randomness = Randomness::seeded(options.seed);
    let network = match &options.source {
        Some(directory) => Network::read(directory)?,
        None => Network::generated(PEOPLE.min(options.rows / 4) as usize, &mut randomness)?,
    };
    let n = network.edges.rows();
    let population = population(&network, &randomness);
    let mut swept = Swept::new(&population, effort, options.seed);
    let mut thetas = Vec::new();
    let sizes = SIZES.iter().copied().filter(|&size| size <= n);
    for size in sizes {
        let groups = Groups::closest(&network.edges, size)?;
        let scheme = Scheme::grouped(&groups, ALPHA, None)?;
        if let Scheme::Grouped(plan) = &scheme {
            thetas.push(format!("{:.1e}", n as f64 * plan.theta));
        }
        swept.add(mean_group(&groups), &scheme);
    }
    Ok(FigureOutput {
        comparisons: vec![swept.spans("Figure 4b")],
        notes: vec![
            format!(
                "{}: {n} people, ε = 2.5, α = 4, groups of the 1 to 2000 closest people, {} permutations of {} randomizations each. Up to {VOTERS} random friends vote; λ compares with the true shares among friends, learned from friendship with the {KNOWN} best-connected people and the number of friends.",
                network.name, effort.rounds, effort.draws
            ),
            format!(
                "nθ at each size: {}; a shuffle with nθ far below 1 is nearly uniform.",
                thetas.join(", ")
            ),
        ],
        pictures: swept.pictures(
            [
                "dsigma-figure-4-twitch-attack",
                "dsigma-figure-4-twitch-learnability",
            ],
            "a network of friends",
        ),
    })
}
