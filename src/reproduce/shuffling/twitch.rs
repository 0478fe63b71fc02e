//! Figure 4, right: friends.

use super::super::{Made, ReproduceOptions};
use super::people::Network;
use super::{ALPHA, Between, Effort, Population, Scheme, VOTERS, mean_group, shares, spans};
use crate::error::Result;
use crate::permute::evaluation::Voters;
use crate::permute::{Groups, Randomness};
use crate::plot::Axis;

/// People of a generated network.
const PEOPLE: u64 = 6_000;
/// The best-known people, friendship with whom is what is learned from.
const KNOWN: usize = 60;

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

/// Attack and local distributions on a network of friends.
pub(in super::super) fn figure_4_twitch(options: &ReproduceOptions) -> Result<Made> {
    let effort = Effort::new(options);
    let mut randomness = Randomness::seeded(options.seed);
    let network = match &options.source {
        Some(directory) => Network::read(directory)?,
        None => Network::generated(PEOPLE.min(options.rows / 4) as usize, &mut randomness)?,
    };
    let n = network.edges.rows();
    let (features, dimension) = features(&network);
    let friends = |i: usize| network.edges.neighbors(i).to_vec();
    let around = |i: usize| [&[i as u32], network.edges.neighbors(i)].concat();
    let population = Population {
        voters: Voters::new(n, VOTERS, friends, |_, _| 0.0, &randomness),
        local: (0..n)
            .map(|i| shares(&network.mature, 2, &around(i)))
            .collect(),
        features,
        dimension,
        truth: network.mature.clone(),
        classes: 2,
    };
    let (mut rho, mut lambda, mut thetas) = (Vec::new(), Vec::new(), Vec::new());
    for length in 0..=4 {
        let groups = Groups::by_path(&network.edges, length)?;
        let scheme = Scheme::grouped(&groups, ALPHA, None)?;
        let size = mean_group(&groups);
        let theta = if let Scheme::Grouped(plan) = &scheme {
            plan.theta
        } else {
            0.0
        };
        thetas.push(format!("{:.1e}", n as f64 * theta));
        rho.push((
            size,
            population.vulnerable(&scheme, effort, options.seed)[0],
        ));
        lambda.push((size, population.error(&scheme, effort, options.seed)));
    }
    let of = |scheme: Scheme| {
        (
            population.vulnerable(&scheme, effort, options.seed)[0],
            population.error(&scheme, effort, options.seed),
        )
    };
    let ((rho_in_order, lambda_in_order), (rho_uniform, lambda_uniform)) =
        (of(Scheme::InOrder), of(Scheme::Uniform));
    let range = (rho[0].0, rho[rho.len() - 1].0);
    Ok(Made {
        comparisons: vec![spans(&rho, rho_in_order, rho_uniform, "Figure 4b")],
        notes: vec![
            format!(
                "{}: {n} people, ε = 2.5, α = 4, path lengths 0 to 4, {} permutations of {} randomizations each. Up to {VOTERS} friends vote, taken at random; λ is against the true shares among friends, learned from friendship with the {KNOWN} best-known people and the number of friends.",
                network.name, effort.rounds, effort.draws
            ),
            format!(
                "nθ at each length: {}; a shuffle with nθ far below 1 is all but uniform.",
                thetas.join(", ")
            ),
        ],
        pictures: vec![
            Between {
                file: "dsigma-figure-4-twitch-attack",
                title: "Share of people whose value an attack recovers, a network of friends",
                says: "Larger groups protect more, from no shuffle to a uniform one.",
                x: Axis::log("mean rows of a group"),
                y: "share recovered, ρ",
                range,
                in_order: rho_in_order,
                uniform: rho_uniform,
            }
            .picture("group_size", &rho),
            Between {
                file: "dsigma-figure-4-twitch-learnability",
                title: "Error of learned local distributions, a network of friends",
                says: "Larger groups leave less to learn.",
                x: Axis::log("mean rows of a group"),
                y: "error relative to guessing, λ",
                range,
                in_order: lambda_in_order,
                uniform: lambda_uniform,
            }
            .picture("group_size", &lambda),
        ],
    })
}
