//! What a randomizer reports, in the form in which expectations over its messages are sums: all messages, the nodes of
//! a quadrature rule, or classes of messages.

use super::ratio::RatioLaw;
use crate::channel::{Channel, Prior};
use crate::extreme::Extreme;
use crate::mechanism::{LikelihoodClass, Mechanism, NoiseShape, listed_secrets};
use crate::shuffle::reidentification::mass_between;
use crate::shuffle::reidentification::quadrature::{POINTS, RULE};
use leakgauge_base::error::{Error, Result};

/// The largest number of entries of a matrix over nodes.
const MAX_ENTRIES: usize = 1 << 20;
/// Normal noise farther from its center than this many σ has mass below 1e-50.
const NORMAL_REACH: f64 = 15.0;
/// Integer noise is cut off where its mass is below this.
const INTEGER_REST: f64 = 1e-40;

/// The messages of a randomizer.
#[derive(Debug, Clone)]
pub enum Reports {
    /// Every message.
    Listed(Channel),
    /// The nodes of a quadrature rule in place of messages: exact for functions of the likelihood ratios that are
    /// smooth between the points where the ratios are not, up to double precision.
    Nodes {
        /// The masses of the nodes under every input.
        channel: Channel,
        /// The ε of the mechanism; `None` if infinite.
        epsilon: Option<f64>,
        /// The noise itself, where it has a density; `None` where the nodes are its messages.
        noise: Option<Continuous>,
    },
    /// Classes of messages with equal likelihood ratios, of a randomizer that is the same for all inputs.
    Alike(Alike),
}

impl Reports {
    /// The reports of a mechanism over the secrets that its parameters declare.
    ///
    /// # Errors
    /// It declares no secrets or only one, or it has no finite matrix, does not add noise to a number, and is not
    /// symmetric in its secrets.
    pub fn of(mechanism: &dyn Mechanism) -> Result<Reports> {
        let bound = mechanism.bind_declared()?;
        let epsilon = bound.epsilon();
        if bound.probabilities().is_some() {
            return Channel::of_mechanism(mechanism).map(Reports::Listed);
        }
        if let Some(classes) = bound.likelihood_classes() {
            return Ok(Reports::Alike(Alike {
                inputs: bound.secret_count() as f64,
                epsilon,
                capacity: bound.capacity(),
                classes,
            }));
        }
        let Some((shape, centers)) = bound.located() else {
            return Err(Error::parameter(
                mechanism.to_string(),
                "has no finite matrix, does not add noise to a number, and has no known classes of messages",
            ));
        };
        let secrets = listed_secrets(mechanism)?;
        let rows = rows(&shape, &centers)
            .map_err(|problem| Error::parameter(mechanism.to_string(), problem))?;
        let nodes = (0..rows.len() / secrets.len()).map(|at| at.to_string());
        Ok(Reports::Nodes {
            channel: Channel::new(secrets.clone(), nodes.collect(), rows)?,
            epsilon: Some(epsilon).filter(|epsilon| epsilon.is_finite()),
            noise: Continuous::of(&shape, &centers),
        })
    }
}

/// A density around every input, which is a number.
#[derive(Debug, Clone)]
pub struct Continuous {
    /// The density of the noise.
    pub kernel: Kernel,
    /// The numbers of the inputs.
    pub centers: Vec<f64>,
}

/// A density that is smooth but at 0.
#[derive(Debug, Clone, Copy)]
pub enum Kernel {
    /// e^(−|x|/λ)/2λ.
    Laplace {
        /// λ.
        scale: f64,
    },
    /// The normal density.
    Gaussian {
        /// σ.
        sigma: f64,
    },
}

impl Continuous {
    fn of(shape: &NoiseShape, centers: &[f64]) -> Option<Self> {
        let kernel = match *shape {
            NoiseShape::Laplace { scale } => Kernel::Laplace { scale },
            NoiseShape::Gaussian { sigma } => Kernel::Gaussian { sigma },
            NoiseShape::Steps { .. } | NoiseShape::Integer(_) => return None,
        };
        Some(Continuous {
            kernel,
            centers: centers.to_vec(),
        })
    }

    /// The smallest and the largest input.
    pub fn range(&self) -> (f64, f64) {
        let all = || self.centers.iter().copied();
        (
            all().fold(f64::INFINITY, f64::at_most),
            all().fold(f64::NEG_INFINITY, f64::at_least),
        )
    }
}

impl Reports {
    /// The prior of the inputs that a text names.
    ///
    /// # Errors
    /// It does not fit the inputs, or it is not uniform where messages have only classes.
    pub fn prior(&self, text: &str) -> Result<Prior> {
        match self {
            Reports::Listed(channel) | Reports::Nodes { channel, .. } => {
                Prior::parse(text, channel)
            }
            Reports::Alike(_) if text == "uniform" => Ok(Prior::uniform(1)),
            Reports::Alike(_) => Err(Error::setting(
                "prior",
                text,
                "must be uniform: the randomizer has too many messages to list",
            )),
        }
    }
}

type Problem = &'static str;

/// The masses of all nodes under every center, center by center; each row sums to 1.
fn rows(shape: &NoiseShape, centers: &[f64]) -> std::result::Result<Vec<f64>, Problem> {
    let low = centers.iter().copied().fold(f64::INFINITY, f64::at_most);
    let high = centers
        .iter()
        .copied()
        .fold(f64::NEG_INFINITY, f64::at_least);
    let cells = match shape {
        NoiseShape::Laplace { scale } => {
            let mut cuts = centers.to_vec();
            cuts.push(0.5 * (low + high));
            let nodes = nodes(cuts, 0.25 * scale, centers.len())?;
            let mass = |c: f64| {
                let density = |y: f64| libm::exp(-(y - c).abs() / scale) / (2.0 * scale);
                let tail = |d: f64| 0.5 * libm::exp(-d / scale);
                let inside = nodes.iter().map(|(y, w)| w * density(*y));
                let ends = [tail(c - low), tail(high - c)];
                ends.into_iter().chain(inside).collect::<Vec<f64>>()
            };
            centers.iter().map(|c| mass(*c)).collect()
        }
        NoiseShape::Gaussian { sigma } => {
            let reach = NORMAL_REACH * sigma;
            let cuts = vec![low - reach, 0.5 * (low + high), high + reach];
            // Ratios grow by e over σ²/(high − low).
            let width = (0.5 * sigma).at_most(0.5 * sigma * (sigma / (high - low)));
            let nodes = nodes(cuts, width, centers.len())?;
            let mass = |c: f64| {
                let density = |y: f64| libm::exp(-0.5 * ((y - c) / sigma).powi(2));
                nodes.iter().map(|(y, w)| w * density(*y)).collect()
            };
            centers.iter().map(|c| mass(*c)).collect()
        }
        NoiseShape::Steps { .. } | NoiseShape::Integer(_) => noise_cells(shape, centers)?,
    };
    let normalized = |row: Vec<f64>| {
        let whole: f64 = row.iter().sum();
        row.into_iter().map(move |x| x / whole)
    };
    let cells: Vec<Vec<f64>> = cells;
    Ok(cells.into_iter().flat_map(normalized).collect())
}

/// The masses of all cells of equal density, or of all numbers, under every center of piecewise constant or integer
/// noise; none of smooth noise.
pub(in crate::shuffle) fn noise_cells(
    shape: &NoiseShape,
    centers: &[f64],
) -> std::result::Result<Vec<Vec<f64>>, Problem> {
    let low = centers.iter().copied().fold(f64::INFINITY, f64::at_most);
    let high = centers
        .iter()
        .copied()
        .fold(f64::NEG_INFINITY, f64::at_least);
    match shape {
        NoiseShape::Steps {
            edges,
            distribution,
        } => steps(edges, distribution, centers),
        NoiseShape::Integer(distribution) => integers(distribution, centers, (low, high)),
        NoiseShape::Laplace { .. } | NoiseShape::Gaussian { .. } => Ok(Vec::new()),
    }
}

/// Nodes and weights of Gauss and Legendre's rule on panels between cuts, none wider than `width`.
fn nodes(
    mut cuts: Vec<f64>,
    width: f64,
    rows: usize,
) -> std::result::Result<Vec<(f64, f64)>, Problem> {
    cuts.sort_by(f64::total_cmp);
    cuts.dedup();
    let panels = |cut: &[f64]| ((cut[1] - cut[0]) / width).ceil().at_least(1.0);
    let all: f64 = cuts.windows(2).map(panels).sum();
    if all * POINTS as f64 * rows as f64 > MAX_ENTRIES as f64 {
        return Err("its inputs are too many, or too far apart for its noise");
    }
    let mut found = Vec::new();
    for cut in cuts.windows(2) {
        let count = panels(cut);
        let step = (cut[1] - cut[0]) / count;
        for panel in 0..count as usize {
            let from = cut[0] + step * panel as f64;
            let rule = RULE.nodes.iter().zip(&RULE.weights);
            found.extend(rule.map(|(u, w)| (from + u * step, w * step)));
        }
    }
    Ok(found)
}

/// The cells between all steps of a piecewise constant density around every center.
fn steps(
    edges: &[f64],
    distribution: &dyn Fn(f64) -> f64,
    centers: &[f64],
) -> std::result::Result<Vec<Vec<f64>>, Problem> {
    if edges
        .len()
        .saturating_mul(2 * centers.len() * centers.len())
        > MAX_ENTRIES
    {
        return Err("its steps and inputs are too many");
    }
    let offsets = edges.iter().flat_map(|&e| [-e, e]);
    let mut cuts: Vec<f64> = offsets
        .flat_map(|e| centers.iter().map(move |c| c + e))
        .collect();
    cuts.sort_by(f64::total_cmp);
    // Steps that should meet and do not, by rounding, enclose no cell.
    let hair = 1e-10 * edges.last().map_or(1.0, |far| far / edges.len() as f64);
    cuts.dedup_by(|b, a| *b - *a <= hair);
    let row = |c: &f64| {
        let cell = |cut: &[f64]| mass_between(distribution, cut[0] - c, cut[1] - c);
        cuts.windows(2).map(cell).collect()
    };
    Ok(centers.iter().map(row).collect())
}

/// All integers where the noise around some center has mass.
fn integers(
    distribution: &dyn Fn(f64) -> f64,
    centers: &[f64],
    (low, high): (f64, f64),
) -> std::result::Result<Vec<Vec<f64>>, Problem> {
    let mut reach = 1.0;
    while distribution(-reach) > INTEGER_REST {
        reach *= 2.0;
        if reach > MAX_ENTRIES as f64 {
            return Err("the tails of its noise are too heavy");
        }
    }
    let cells = high - low + 2.0 * reach + 1.0;
    if cells * centers.len() as f64 > MAX_ENTRIES as f64 {
        return Err("its inputs are too many, or too far apart");
    }
    let mass = |x: f64| (distribution(-x.abs()) - distribution(-x.abs() - 1.0)).at_least(0.0);
    let row = |c: &f64| {
        (0..cells as u64)
            .map(|i| mass(low - reach + i as f64 - c))
            .collect()
    };
    Ok(centers.iter().map(row).collect())
}

/// A randomizer whose messages of every input fall into the same classes of equal likelihood ratios. Its inputs are
/// uniform.
#[derive(Debug, Clone)]
pub struct Alike {
    /// The number of inputs.
    pub inputs: f64,
    /// Σ_y max_x R_x(y), if it is known.
    pub capacity: Option<f64>,
    /// The ε of local differential privacy.
    pub epsilon: f64,
    /// The classes.
    pub classes: Vec<LikelihoodClass>,
}

impl Alike {
    fn law(&self, pair: impl Fn(&LikelihoodClass) -> (f64, f64), rest: f64) -> RatioLaw {
        let pairs = self.classes.iter().map(pair).chain([(0.0, rest)]);
        RatioLaw::new(pairs.filter(|&(_, q)| q > 0.0))
    }

    /// An input among decoys of the mean message.
    fn among(&self) -> RatioLaw {
        self.law(|class| (class.own, class.mean), 0.0)
    }

    /// An input, and a random input, among decoys of the generalized blanket.
    fn mixed(&self) -> [RatioLaw; 2] {
        let rest = 1.0 - self.gamma();
        [
            self.law(|class| (class.own, class.least), rest),
            self.law(|class| (class.mean, class.least), rest),
        ]
    }

    /// γ, the mass of the blanket.
    pub fn gamma(&self) -> f64 {
        self.classes
            .iter()
            .map(|class| class.least)
            .sum::<f64>()
            .at_most(1.0)
    }

    /// I(X₁; Z) among uniform inputs: E_{Qⁿ}\[(T/n)·ln(T/n)\], T = Σ R_x(zᵢ)/Q(zᵢ), Q the mean message.
    pub fn information(&self, n: u64) -> f64 {
        self.among().mixing_gap(n).at_least(0.0)
    }

    /// The information of the blanket-mixed instance, a bound for any inputs of the other users.
    pub fn blanket_information(&self, n: u64) -> f64 {
        let [own, mean] = self.mixed();
        (own.mixing_gap(n) - mean.mixing_gap(n)).at_least(0.0)
    }

    /// I(K; Z) of an input among decoys of the generalized blanket, a bound for any inputs of the other users.
    pub fn position(&self, n: u64) -> f64 {
        let [own, _] = self.mixed();
        if n == 1 {
            return 0.0;
        }
        (own.divergence() - own.mixing_gap(n)).at_least(0.0)
    }

    /// The limit of [`Alike::position`], which it never exceeds.
    pub fn position_bound(&self) -> f64 {
        self.mixed()[0].divergence()
    }

    /// c of I(X₁; Z) ≈ c/2n.
    pub fn coefficient(&self) -> f64 {
        self.among().moment(2)
    }

    /// The same of the blanket-mixed instance.
    pub fn blanket_coefficient(&self) -> f64 {
        let [own, mean] = self.mixed();
        own.moment(2) - mean.moment(2)
    }
}
