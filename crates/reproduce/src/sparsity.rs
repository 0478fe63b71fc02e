//! Figure 5: the gap between leakage at a sparse prior and its worst case.

use leakgauge_base::parallel;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution, Exp1};

use super::{Comparison, FigureOutput, ReproduceOptions};
use leakgauge_base::error::Result;
use leakgauge_exact::channel::{Channel, Prior, SearchMethod, diameter};
use leakgauge_exact::mechanism;
use leakgauge_plot::{Axis, Caption, Chart, Layer, Mark, Spot, chart};
use leakgauge_plot::{Figure, Table};

const SECRETS: usize = 10;
const OBSERVATIONS: usize = 1000;
/// The channel "used by Cherubin et al." with ν = 0.1: ten secrets, a hundred observations apart.
pub(super) const GEOMETRIC: &str =
    "normalized-geometric(nu=0.1, secrets=10, spacing=100, observations=1000)";

/// The same with secrets one observation apart.
const NEAR: &str = "normalized-geometric(nu=0.1, secrets=10, spacing=1, observations=1000)";

/// The results for one level of sparsity.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Gap {
    mean: f64,
    low: f64,
    high: f64,
}

/// The gaps at one level of sparsity: between multiplicative leakage and capacity, and between β and β*.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Level {
    zeros: usize,
    capacity: Gap,
    security: Gap,
}

/// The results for one channel.
struct Studied {
    file: &'static str,
    what: &'static str,
    levels: Vec<Level>,
    /// β*.
    least: f64,
    facts: String,
}

impl Studied {
    /// The mean gap between β and β* at the sparsest priors, divided by 1 − β*.
    fn looseness(&self) -> String {
        let gap = self
            .levels
            .last()
            .map_or(f64::NAN, |level| level.security.mean);
        format!("{:.3}", gap / (1.0 - self.least))
    }
}

/// A random channel and two geometric ones.
pub(super) fn figure_5(options: &ReproduceOptions) -> Result<FigureOutput> {
    let geometric = |text: &str| Channel::of_mechanism(&*mechanism::parse(text)?);
    let channels = [
        (
            "bayes-security-figure-5-random",
            "the random channel",
            random_channel(options.seed)?,
        ),
        (
            "bayes-security-figure-5-geometric",
            "geometric channel, secrets far apart",
            geometric(GEOMETRIC)?,
        ),
        (
            "bayes-security-figure-5-geometric-near",
            "geometric channel, secrets close together",
            geometric(NEAR)?,
        ),
    ];
    let studied: Vec<Studied> = channels
        .into_iter()
        .zip(1u64..)
        .map(|((file, what, channel), number)| {
            let seed = options.seed.wrapping_add(number << 32);
            Ok(Studied {
                file,
                what,
                levels: levels(&channel, options.priors, seed)?,
                least: diameter(&channel, SearchMethod::Auto)?.bayes_security,
                facts: facts(&channel)?,
            })
        })
        .collect::<Result<_>>()?;
    Ok(FigureOutput {
        comparisons: vec![tighter(&studied[0].levels)],
        notes: notes(&studied, options.priors),
        pictures: studied
            .iter()
            .map(|channel| Figure {
                file: channel.file,
                table: table(&channel.levels),
                svg: picture(channel.what, &channel.levels),
            })
            .collect(),
    })
}

/// Notes on choices that the paper leaves open.
fn notes(studied: &[Studied], priors: usize) -> Vec<String> {
    let [random, far, near] = [0, 1, 2].map(|at| &studied[at]);
    vec![
        format!(
            "{} priors per level, each uniform over the distributions on a uniformly drawn support. Points are means; bars are from the 5 % to the 95 % quantile.",
            priors
        ),
        format!(
            "Random channel: every row uniform over the distributions on 1000 observations. {}",
            random.facts
        ),
        format!(
            "Geometric channel: the paper does not define it. Far apart: {GEOMETRIC}. {}",
            far.facts
        ),
        format!("Close together: {NEAR}. {}", near.facts),
        format!(
            "According to the text, the bound from β* is loose at high sparsity for the geometric channel, not for the random one. The mean gap at 8 zeros, as a share of its maximum 1 − β*, is {} for the random channel, {} for the geometric one with distant secrets, {} with close secrets: it depends on the definition.",
            random.looseness(),
            far.looseness(),
            near.looseness()
        ),
    ]
}

fn facts(channel: &Channel) -> Result<String> {
    let security = diameter(channel, SearchMethod::Auto)?.bayes_security;
    let capacity = channel.multiplicative_capacity();
    Ok(format!(
        "It has capacity ML× = {capacity:.4} and β* = {security:.4e}."
    ))
}

fn random_channel(seed: u64) -> Result<Channel> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let rows: Vec<Vec<f64>> = (0..SECRETS)
        .map(|_| simplex(OBSERVATIONS, &mut rng))
        .collect();
    Channel::from_rows(&rows)
}

/// A distribution drawn uniformly from all of them.
fn simplex(size: usize, rng: &mut ChaCha8Rng) -> Vec<f64> {
    let weights: Vec<f64> = (0..size).map(|_| Exp1.sample(rng)).collect();
    let sum: f64 = weights.iter().sum();
    weights.into_iter().map(|weight| weight / sum).collect()
}

/// A prior with a given number of zeros, at uniformly drawn positions.
fn sparse(zeros: usize, rng: &mut ChaCha8Rng) -> Vec<f64> {
    let mut places: Vec<usize> = (0..SECRETS).collect();
    for at in 0..SECRETS - 1 {
        let other = at + rng.random_range(0..(SECRETS - at) as u64) as usize;
        places.swap(at, other);
    }
    let mut prior = vec![0.0; SECRETS];
    let support = &places[zeros..];
    for (at, weight) in support.iter().zip(simplex(support.len(), rng)) {
        prior[*at] = weight;
    }
    prior
}

fn levels(channel: &Channel, priors: usize, seed: u64) -> Result<Vec<Level>> {
    let least = diameter(channel, SearchMethod::Auto)?.bayes_security;
    let most = channel.multiplicative_capacity();
    let levels = parallel::map(SECRETS - 1, |zeros| {
        let mut rng = ChaCha8Rng::seed_from_u64(seed.wrapping_add(zeros as u64));
        let mut capacity = Vec::with_capacity(priors);
        let mut security = Vec::with_capacity(priors);
        for _ in 0..priors {
            let prior = Prior::new(sparse(zeros, &mut rng))?;
            capacity.push(most - channel.multiplicative_leakage(&prior)?);
            // Two secrets or more have a probability: the prior leaves something to guess.
            security.extend(channel.risk_leakage(&prior)?.map(|beta| beta - least));
        }
        Ok(Level {
            zeros,
            capacity: gap(capacity),
            security: gap(security),
        })
    });
    levels.into_iter().collect()
}

fn gap(mut gaps: Vec<f64>) -> Gap {
    let mean = gaps.iter().sum::<f64>() / gaps.len() as f64;
    gaps.sort_by(f64::total_cmp);
    let quantile = |share: f64| gaps[((gaps.len() - 1) as f64 * share).round() as usize];
    Gap {
        mean,
        low: quantile(0.05),
        high: quantile(0.95),
    }
}

fn table(levels: &[Level]) -> Table {
    let mut table = Table::new(&[
        "zeros",
        "capacity_gap_mean",
        "capacity_gap_5_percent",
        "capacity_gap_95_percent",
        "bayes_security_gap_mean",
        "bayes_security_gap_5_percent",
        "bayes_security_gap_95_percent",
    ]);
    for level in levels {
        let (c, s) = (level.capacity, level.security);
        table.push([
            level.zeros.into(),
            c.mean.into(),
            c.low.into(),
            c.high.into(),
            s.mean.into(),
            s.low.into(),
            s.high.into(),
        ]);
    }
    table
}

fn picture(what: &str, levels: &[Level]) -> String {
    let layer = |name: &str, series: usize, pick: fn(&Level) -> Gap| {
        let spot = |level: &Level| Spot {
            // Side by side.
            x: level.zeros as f64 + 0.16 * (series as f64 - 0.5),
            y: Some(pick(level).mean),
            lower: Some(pick(level).low),
            upper: Some(pick(level).high),
        };
        Layer::new(
            name,
            series,
            Mark::Points(levels.iter().map(spot).collect()),
        )
    };
    let most = levels
        .iter()
        .map(|level| level.capacity.high)
        .fold(1e-3, f64::max);
    let least = levels
        .iter()
        .map(|level| level.security.low)
        .fold(most, f64::min);
    // Bars that end at rounding errors would leave no room for anything else.
    let ends = (0.7 * least.max(2e-5 * most), 1.6 * most);
    chart(&Chart {
        caption: Caption::new(
            format!("Tightness of two bounds against sparsity, {what}"),
            "With more zeros in the prior, multiplicative leakage is further from its capacity.",
        ),
        x: Axis::linear("zeros in a prior over 10 secrets").from_to(-0.5, 8.5),
        y: distances(ends),
        layers: vec![
            layer("capacity: ML× − L×", 0, |level| level.capacity),
            layer("security: β − β*", 1, |level| level.security),
        ],
        aspect: 0.62,
    })
}

/// The axis of distances: logarithmic, unless they are within a factor of ten.
fn distances((least, most): (f64, f64)) -> Axis {
    let label = "distance to the worst value";
    if most > 10.0 * least {
        Axis::log(label).from_to(least, most)
    } else {
        Axis::linear(label).from_to(0.0, 0.75 * most)
    }
}

fn ends(levels: &[Level], pick: fn(&Level) -> f64) -> String {
    match levels {
        [first, .., last] => format!("{:.3} → {:.3}", pick(first), pick(last)),
        _ => String::new(),
    }
}

/// Whether a mean is larger without any than with all zeros.
fn falls(levels: &[Level], pick: fn(&Level) -> f64) -> bool {
    matches!(levels, [first, .., last] if pick(last) < pick(first))
}

/// "Tighter for less sparse" vectors and "for higher sparsity levels".
fn tighter(random: &[Level]) -> Comparison {
    let (capacity, security) = (|l: &Level| l.capacity.mean, |l: &Level| l.security.mean);
    Comparison::statement(
        "section V-E",
        "mean gaps from 0 to 8 zeros, random channel",
        "the gap of ML× grows, that of β* shrinks",
        &format!(
            "ML×: {}, β*: {}",
            ends(random, capacity),
            ends(random, security)
        ),
        !falls(random, capacity) && falls(random, security),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn priors_have_the_zeros_asked_for_and_every_place_gets_some() {
        let mut rng = ChaCha8Rng::seed_from_u64(3);
        let mut zero_at = [0usize; SECRETS];
        for _ in 0..2000 {
            let prior = sparse(4, &mut rng);
            assert_eq!(prior.iter().filter(|p| **p == 0.0).count(), 4);
            assert!((prior.iter().sum::<f64>() - 1.0).abs() < 1e-12);
            zero_at
                .iter_mut()
                .zip(&prior)
                .for_each(|(n, p)| *n += usize::from(*p == 0.0));
        }
        // Binomial(2000, 0.4): 800 ± 22; six deviations.
        assert!(zero_at.iter().all(|n| n.abs_diff(800) < 132), "{zero_at:?}");
    }

    /// The bounds hold at every prior, so no gap is negative.
    #[test]
    fn gaps_are_not_negative() {
        let channel = Channel::of_mechanism(&*mechanism::parse(GEOMETRIC).unwrap()).unwrap();
        for level in levels(&channel, 50, 1).unwrap() {
            assert!(
                level.capacity.low > -1e-12 && level.security.low > -1e-12,
                "{level:?}"
            );
        }
    }
}
