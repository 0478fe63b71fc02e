//! Figure 8: a census.

use super::super::{Comparison, Made, Picture, ReproduceOptions, Table};
use super::people::Census;
use super::{ALPHA, Between, Effort, Population, Scheme, Spread, VOTERS, layers, shares};
use crate::error::Result;
use crate::permute::evaluation::Voters;
use crate::permute::{Groups, Points, Randomness};
use crate::plot::{Axis, Caption, Chart, Layer, Mark, chart};

/// People of the data set, and years within which voters and true distributions are looked for.
const PEOPLE: u64 = 32_561;
const REACH: f64 = 1.0;
const RADII: [f64; 8] = [0.0, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 73.0];
const ALPHAS: [f64; 7] = [0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0];
/// The radius at which α is swept.
const RADIUS: f64 = 4.0;

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
pub(in super::super) fn figure_8(options: &ReproduceOptions) -> Result<Made> {
    let effort = Effort::new(options);
    let mut randomness = Randomness::seeded(options.seed);
    let census = match &options.source {
        Some(file) => Census::read(file)?,
        None => Census::generated(PEOPLE.min(options.rows) as usize, &mut randomness),
    };
    let points = census.points()?;
    let people = population(&census, &points, &randomness)?;
    let (mut rho, mut lambda) = (Vec::new(), Vec::new());
    for radius in RADII {
        let scheme = Scheme::grouped(&Groups::within(&points, radius)?, ALPHA, Some(&points))?;
        rho.push((radius, people.vulnerable(&scheme, effort, options.seed)));
        lambda.push((radius, people.error(&scheme, effort, options.seed)));
    }
    let groups = Groups::within(&points, RADIUS)?;
    let by_alpha: Vec<(f64, Spread)> = ALPHAS
        .iter()
        .map(|&alpha| {
            let scheme = Scheme::grouped(&groups, alpha, Some(&points))?;
            Ok((alpha, people.vulnerable(&scheme, effort, options.seed)))
        })
        .collect::<Result<_>>()?;
    let of = |scheme: Scheme| {
        (
            people.vulnerable(&scheme, effort, options.seed),
            people.error(&scheme, effort, options.seed),
        )
    };
    let ((rho_in_order, lambda_in_order), (rho_uniform, lambda_uniform)) =
        (of(Scheme::InOrder), of(Scheme::Uniform));
    let at_one = (rho[1].1.mean, lambda[1].1.mean);
    let falls = by_alpha[0].1.mean <= by_alpha[by_alpha.len() - 1].1.mean;
    let comparisons = vec![
        Comparison::claim(
            "Section 5",
            "ρ of LDP over that at r = 1",
            "1.7",
            rho_in_order.mean / at_one.0.max(1e-9),
            (1.5..1.9).contains(&(rho_in_order.mean / at_one.0.max(1e-9))),
        )
        .because("the distance of the attack and its voters are not given in the paper"),
        Comparison::claim(
            "Section 5",
            "λ at r = 1 over that of LDP",
            "the same",
            at_one.1 / lambda_in_order.mean,
            (0.8..1.25).contains(&(at_one.1 / lambda_in_order.mean)),
        ),
        Comparison::statement(
            "Section 5, Figure 8b",
            "ρ as α falls",
            "decreases",
            &format!(
                "{:.3} at α = {}, {:.3} at α = {}",
                by_alpha[ALPHAS.len() - 1].1.mean,
                ALPHAS[ALPHAS.len() - 1],
                by_alpha[0].1.mean,
                ALPHAS[0]
            ),
            falls,
        ),
    ];
    let range = (RADII[0], RADII[RADII.len() - 1]);
    let x = || Axis::linear("years within a group, r");
    Ok(Made {
        comparisons,
        notes: vec![format!(
            "{}: {} people, ε = 2.5, α = 4, {} permutations of {} randomizations each. The {VOTERS} voters are within {REACH} year, of the same marital status if there are as many, and not the person; λ is against the true shares within {REACH} year.",
            census.name,
            census.age.len(),
            effort.rounds,
            effort.draws
        )],
        pictures: vec![
            Between {
                file: "dsigma-figure-8a",
                title: "Share of people whose income an attack recovers",
                says: "Wider groups protect more.",
                x: x(),
                y: "share recovered, ρ",
                range,
                in_order: rho_in_order,
                uniform: rho_uniform,
            }
            .picture("radius", &rho),
            Between {
                file: "dsigma-figure-8b",
                title: "Share of people whose income an attack recovers, groups within 4 years",
                says: "Smaller α protects more.",
                x: Axis::log("α"),
                y: "share recovered, ρ",
                range: (ALPHAS[0], ALPHAS[ALPHAS.len() - 1]),
                in_order: rho_in_order,
                uniform: rho_uniform,
            }
            .picture("alpha", &by_alpha),
            Between {
                file: "dsigma-figure-8c",
                title: "Error of learned shares of large incomes",
                says: "Wider groups leave less to learn.",
                x: x(),
                y: "error relative to guessing, λ",
                range,
                in_order: lambda_in_order,
                uniform: lambda_uniform,
            }
            .picture("radius", &lambda),
            trade(&rho, &lambda),
        ],
    })
}

/// ρ against λ, one point a radius.
fn trade(rho: &[(f64, Spread)], lambda: &[(f64, Spread)]) -> Picture {
    let mut table = Table::new(&["radius", "error", "recovered"]);
    let mut line = Vec::new();
    for ((radius, rho), (_, lambda)) in rho.iter().zip(lambda) {
        table.push([(*radius).into(), lambda.mean.into(), rho.mean.into()]);
        line.push((
            lambda.mean,
            Spread {
                mean: rho.mean,
                deviation: 0.0,
            },
        ));
    }
    let mut all = layers("within groups, r = 0 to 73 years", 0, &line);
    // The points tell the order by themselves.
    all.retain(|layer: &Layer| !matches!(layer.mark, Mark::Line(_)));
    let svg = chart(&Chart {
        caption: Caption::new(
            "What is recovered against what is learned",
            "Lower left is better: less is recovered, and errors are smaller.",
        ),
        x: Axis::linear("error relative to guessing, λ"),
        y: Axis::linear("share recovered, ρ"),
        layers: all,
        aspect: 0.62,
    });
    Picture {
        file: "dsigma-figure-8-trade",
        table,
        svg,
    }
}
