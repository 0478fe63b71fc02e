//! Matrix mechanisms with Gaussian noise (DP-FTRL), as a claim.

use std::fmt;

use libm::sqrt;

use leakgauge_base::error::{Error, Result};
use leakgauge_base::grammar::{Arguments, Bounds, Parameter, Value, format_number};

pub(super) const PARAMETERS: &[Parameter] = &[
    Parameter::named(
        "sigma",
        "the standard deviation of the noise in every entry of C·X + Z, in units of the largest norm of a contribution, above 0",
    ),
    Parameter::named(
        "strategy",
        "C: identity, prefix (all ones from the diagonal on), prefix-sqrt (its square root), banded-sqrt (its first bands), tree (sums \
         over a binary tree)",
    ),
    Parameter::named("steps", "the number of steps, a whole number"),
    Parameter::named("bands", "with banded-sqrt: how many diagonals it has"),
    Parameter::named(
        "participations",
        "in how many steps a record takes part at most; default 1",
    ),
    Parameter::named(
        "separation",
        "how many steps apart participations are at least; default 1, next to each other",
    ),
];

/// Steps at most: a number is kept for each.
const MAX_STEPS: f64 = 4e6;

/// The strategy matrix C.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Strategy {
    Identity,
    Prefix,
    PrefixSqrt,
    BandedSqrt { bands: u64 },
    Tree,
}

const STRATEGIES: [&str; 5] = ["identity", "prefix", "prefix-sqrt", "banded-sqrt", "tree"];

/// Noise of one size in every entry of C·X: X has a row for each step, to which a record adds rows of norm at most 1 in the
/// steps in which it takes part.
///
/// # Formula
/// Gaussian differential privacy with μ = s/σ, also if later rows depend on earlier releases, and no smaller μ. Where CᵀC has no entry
/// below 0, the sensitivity s is the largest norm of a sum of columns of C over steps in which a record may take part. C is
/// lower triangular with c₀ ≥ c₁ ≥ … ≥ 0 along each column: the first k steps that are exactly b apart have the largest. The square
/// root of the prefix sums has c_j = (2j choose j)/4^j. Of a tree, no level has more than its nodes allow: it is known where
/// steps that are exactly b apart, from the first on, attain that.
///
/// # References
/// S. Denisov, H. B. McMahan, J. Rush, A. Smith, A. Guha Thakurta, *Improved differential privacy for SGD via optimal private
/// linear operators on adaptive streams*, theorem 2.1, arXiv:2202.08312 (adaptive rows). C. Choquette-Choo, H. B. McMahan, K. Rush, A.
/// Thakurta, *Multi-epoch matrix factorization mechanisms for private machine learning*, arXiv:2211.06530 (columns that are
/// nowhere opposed). N. Kalinin, C. Lampert, *Banded square root matrix factorization for differentially private model
/// training*, theorem 2, arXiv:2405.13763 (decreasing columns). H. Fichtenberger, M. Henzinger, J. Upadhyay, *Constant matters*,
/// arXiv:2202.11205 (the square root).
#[derive(Debug, Clone, PartialEq)]
pub struct MatrixGaussian {
    sigma: f64,
    strategy: Strategy,
    steps: u64,
    participations: u64,
    separation: u64,
    /// s/σ.
    mu: f64,
}

impl MatrixGaussian {
    /// `matrix-gaussian(sigma=…, strategy=…, steps=…)`.
    ///
    /// # Errors
    /// A parameter is out of range, or the sensitivity of the tree is not known.
    pub(super) fn read(arguments: &Arguments<'_>) -> Result<MatrixGaussian> {
        let sigma = arguments.number("sigma", Bounds::Above(0.0))?;
        let steps = whole(arguments, "steps")?;
        let or_one = |name: &str| match arguments.value(name) {
            Some(_) => whole(arguments, name),
            None => Ok(1),
        };
        let (participations, separation) = (or_one("participations")?, or_one("separation")?);
        let strategy = match arguments.value("strategy") {
            Some(Value::Word(word)) => match word.as_str() {
                "identity" => Strategy::Identity,
                "prefix" => Strategy::Prefix,
                "prefix-sqrt" => Strategy::PrefixSqrt,
                "banded-sqrt" => Strategy::BandedSqrt {
                    bands: whole(arguments, "bands")?,
                },
                "tree" => Strategy::Tree,
                _ => return Err(wrong_strategy(arguments)),
            },
            _ => return Err(wrong_strategy(arguments)),
        };
        let is_banded = matches!(strategy, Strategy::BandedSqrt { .. });
        if arguments.value("bands").is_some() && !is_banded {
            return Err(arguments.error("bands is for strategy=banded-sqrt"));
        }
        // More do not fit.
        let most = (steps - 1) / separation + 1;
        let times = participations.min(most);
        let squared = match strategy {
            Strategy::Tree => tree(steps, times, separation).ok_or_else(|| {
                arguments
                    .error("the largest sum of nodes of the tree is not known")
                    .with_hint(
                        "give steps and separation that are powers of 2, or participations=1",
                    )
            })?,
            _ => toeplitz(&strategy.column(steps), steps, times, separation),
        };
        let mu = sqrt(squared) / sigma;
        if !(mu > 0.0 && mu.is_finite()) {
            return Err(arguments.error("sigma is too small or too large for double precision"));
        }
        Ok(MatrixGaussian {
            sigma,
            strategy,
            steps,
            participations,
            separation,
            mu,
        })
    }

    /// μ of Gaussian differential privacy.
    pub fn mu(&self) -> f64 {
        self.mu
    }
}

fn wrong_strategy(arguments: &Arguments<'_>) -> Error {
    arguments.error(format!("strategy must be one of {}", STRATEGIES.join(", ")))
}

fn whole(arguments: &Arguments<'_>, name: &str) -> Result<u64> {
    let number = arguments.number(name, Bounds::Between(1.0, MAX_STEPS))?;
    match number.fract() == 0.0 {
        true => Ok(number as u64),
        false => Err(arguments.error(format!("{name} must be a whole number"))),
    }
}

impl Strategy {
    /// c₀, c₁, … along a column.
    fn column(self, steps: u64) -> Vec<f64> {
        let roots = |count: u64| {
            let mut root = 1.0;
            let next = |j: u64| {
                let here = root;
                root *= (j as f64 + 0.5) / (j as f64 + 1.0);
                here
            };
            (0..count).map(next).collect()
        };
        match self {
            Strategy::Identity => vec![1.0],
            Strategy::Prefix => vec![1.0; steps as usize],
            Strategy::PrefixSqrt => roots(steps),
            Strategy::BandedSqrt { bands } => roots(bands.min(steps)),
            Strategy::Tree => Vec::new(),
        }
        .into_iter()
        .take(steps as usize)
        .collect()
    }

    fn name(self) -> &'static str {
        match self {
            Strategy::Identity => STRATEGIES[0],
            Strategy::Prefix => STRATEGIES[1],
            Strategy::PrefixSqrt => STRATEGIES[2],
            Strategy::BandedSqrt { .. } => STRATEGIES[3],
            Strategy::Tree => STRATEGIES[4],
        }
    }
}

/// The squared norm of the sum of the first so many columns that are `separation` apart, of a lower triangular matrix with the
/// same numbers along each column.
fn toeplitz(column: &[f64], steps: u64, times: u64, separation: u64) -> f64 {
    let entry = |at: u64| column.get(at as usize).copied().unwrap_or(0.0);
    let mut sums: Vec<f64> = Vec::with_capacity(steps as usize);
    for at in 0..steps {
        let before = at.checked_sub(separation);
        let before = before.map_or(0.0, |before| sums[before as usize]);
        let ended = at.checked_sub(times.saturating_mul(separation));
        sums.push(before + entry(at) - ended.map_or(0.0, entry));
    }
    sums.iter().map(|sum| sum * sum).sum()
}

/// The largest sum over all complete nodes of the squared number of participations below them, where that of steps exactly
/// `separation` apart, from the first on, is as large as any could be.
fn tree(steps: u64, times: u64, separation: u64) -> Option<f64> {
    let mut size = 1;
    while size <= steps {
        let nodes = steps / size;
        // So many lie below one node at most.
        let most = (size - 1) / separation + 1;
        let full = nodes.min(times / most);
        let rest = if full < nodes { times - full * most } else { 0 };
        let bound = full * most * most + rest * rest;
        if spaced(size, nodes, times, separation) != bound {
            return None;
        }
        size *= 2;
    }
    let sizes = (0..u64::BITS).map(|level| 1 << level);
    let levels = sizes.take_while(|size| *size <= steps);
    let sum = levels.map(|size| spaced(size, steps / size, times, separation) as f64);
    Some(sum.sum())
}

/// That of the nodes of one size of steps exactly `separation` apart.
fn spaced(size: u64, nodes: u64, times: u64, separation: u64) -> u64 {
    let (mut sum, mut node, mut count) = (0, 0, 0u64);
    for at in (0..times).map(|at| at * separation / size) {
        if at >= nodes {
            break;
        }
        if at != node {
            sum += count * count;
            (node, count) = (at, 0);
        }
        count += 1;
    }
    sum + count * count
}

/// As it is written in the [grammar](leakgauge_base::grammar).
impl fmt::Display for MatrixGaussian {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (sigma, strategy) = (format_number(self.sigma), self.strategy.name());
        write!(
            f,
            "matrix-gaussian(sigma={sigma}, strategy={strategy}, steps={}",
            self.steps
        )?;
        if let Strategy::BandedSqrt { bands } = self.strategy {
            write!(f, ", bands={bands}")?;
        }
        if self.participations > 1 {
            write!(f, ", participations={}", self.participations)?;
        }
        if self.separation > 1 {
            write!(f, ", separation={}", self.separation)?;
        }
        f.write_str(")")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use leakgauge_base::grammar::Call;

    fn mu(text: &str) -> Result<f64> {
        let call = Call::parse(text)?;
        Ok(MatrixGaussian::read(&Arguments::new(&call, PARAMETERS)?)?.mu())
    }

    /// Rows of C, written out: of a tree all complete nodes.
    fn matrix(strategy: &str, steps: usize, bands: usize) -> Vec<Vec<f64>> {
        let mut root = vec![1.0];
        for j in 1..steps {
            // (2j choose j)/4^j from the product of (2i − 1)/(2i).
            root.push(
                (1..=j)
                    .map(|i| (2 * i - 1) as f64 / (2 * i) as f64)
                    .product(),
            );
        }
        if strategy == "tree" {
            let sizes = (0..8)
                .map(|level| 1usize << level)
                .filter(|size| *size <= steps);
            let nodes =
                sizes.flat_map(|size| (0..steps / size).map(move |node| (node * size, size)));
            let row = |(from, size): (usize, usize)| {
                (0..steps)
                    .map(|i| f64::from(u8::from((from..from + size).contains(&i))))
                    .collect()
            };
            return nodes.map(row).collect();
        }
        let entry = |row: usize, at: usize| match row.checked_sub(at) {
            None => 0.0,
            Some(far) => match strategy {
                "identity" => f64::from(u8::from(far == 0)),
                "prefix" => 1.0,
                "prefix-sqrt" => root[far],
                _ if far < bands => root[far],
                _ => 0.0,
            },
        };
        (0..steps)
            .map(|row| (0..steps).map(|at| entry(row, at)).collect())
            .collect()
    }

    /// The largest norm over all patterns, one by one.
    fn largest(matrix: &[Vec<f64>], steps: usize, times: u32, separation: u32) -> f64 {
        let mut most = 0.0f64;
        for pattern in 1u32..1 << steps {
            let at: Vec<u32> = (0..steps as u32)
                .filter(|i| pattern >> i & 1 == 1)
                .collect();
            let is_allowed = at.len() <= times as usize
                && at.windows(2).all(|two| two[1] - two[0] >= separation);
            if is_allowed {
                let sum = |row: &Vec<f64>| at.iter().map(|i| row[*i as usize]).sum::<f64>();
                let norm: f64 = matrix.iter().map(|row| sum(row) * sum(row)).sum();
                if norm > most {
                    most = norm;
                }
            }
        }
        most.sqrt()
    }

    #[test]
    fn sensitivities_are_those_of_all_patterns() {
        let mut refused = 0;
        for strategy in STRATEGIES {
            for (steps, times, separation, bands) in [
                (1, 1, 1, 1),
                (8, 1, 1, 3),
                (8, 3, 2, 2),
                (8, 2, 4, 4),
                (11, 3, 4, 3),
                (12, 12, 1, 5),
                (12, 4, 3, 7),
                (13, 2, 6, 13),
                (5, 2, 4, 2),
                (8, 8, 1, 1),
                (7, 3, 2, 3),
            ] {
                let more = match strategy {
                    "banded-sqrt" => format!(", bands={bands}"),
                    _ => String::new(),
                };
                let text = format!(
                    "m(sigma=2, strategy={strategy}, steps={steps}, participations={times}, separation={separation}{more})"
                );
                let exact =
                    0.5 * largest(&matrix(strategy, steps, bands), steps, times, separation);
                match mu(&text) {
                    Ok(found) => assert!(
                        (found / exact - 1.0).abs() < 1e-13,
                        "{text}: {found} {exact}"
                    ),
                    Err(_) => {
                        assert_eq!(strategy, "tree", "{text}");
                        refused += 1;
                    }
                }
            }
        }
        assert!(refused <= 6, "{refused}");
    }

    /// Columns of a banded matrix whose participations are farther apart are orthogonal; a column of the square root grows as
    /// a logarithm: its squares sum to (ln n + γ + 4·ln 2)/π + O(1/n).
    #[test]
    fn long_trainings_have_their_closed_forms() {
        let one = mu("m(sigma=1, strategy=banded-sqrt, steps=1000000, bands=4)").unwrap();
        let many = mu(
            "m(sigma=1, strategy=banded-sqrt, steps=1000000, bands=4, participations=25, separation=1000)",
        );
        assert!((many.unwrap() / (5.0 * one) - 1.0).abs() < 1e-12);
        let root = mu("m(sigma=1, strategy=prefix-sqrt, steps=1000000)").unwrap();
        let sum = (1e6f64.ln() + 0.577_215_664_901_532_9 + 4.0 * 2f64.ln()) / std::f64::consts::PI;
        assert!(
            (root * root / sum - 1.0).abs() < 1e-6,
            "{} {sum}",
            root * root
        );
        let tree = mu("m(sigma=1, strategy=tree, steps=1048576)").unwrap();
        assert!((tree * tree - 21.0).abs() < 1e-12);
        let all = mu("m(sigma=3, strategy=identity, steps=100, participations=4000000)").unwrap();
        assert!((all - 10.0 / 3.0).abs() < 1e-15);
    }

    #[test]
    fn what_has_no_sensitivity_is_refused() {
        for (text, words) in [
            (
                "m(sigma=0, strategy=tree, steps=4)",
                "sigma must be above 0",
            ),
            ("m(sigma=1, strategy=haar, steps=4)", "one of identity"),
            ("m(sigma=1, steps=4)", "one of identity"),
            (
                "m(sigma=1, strategy=tree, steps=1e9)",
                "steps must be between",
            ),
            (
                "m(sigma=1, strategy=tree, steps=0)",
                "steps must be between",
            ),
            (
                "m(sigma=1, strategy=tree, steps=4, bands=2)",
                "bands is for",
            ),
            (
                "m(sigma=1, strategy=banded-sqrt, steps=4)",
                "bands is missing",
            ),
            (
                "m(sigma=1e-320, strategy=tree, steps=4)",
                "too small or too large",
            ),
            (
                "m(sigma=1, strategy=tree, steps=12, participations=4, separation=3)",
                "powers of 2",
            ),
            ("m(sigma=1, strategy=tree, steps=4.5)", "whole number"),
        ] {
            let error = mu(text).unwrap_err().to_string();
            assert!(error.contains(words), "{text}: {error}");
        }
    }
}
