//! The planar geometric mechanism on a finite grid.

use crate::extreme::Extreme;
use std::fmt;
use std::sync::OnceLock;

use crate::profile::{Cell, Cells, Pair};
use libm::{exp, expm1, log, log1p};
use rand::{Rng, RngExt};

use super::observed::texts;
use super::points::{self, Grid};
use super::ranged;
use super::{
    BoundMechanism, Build, Entry, Law, MAX_ENTRIES, Mechanism, Observed, Probabilities, Secrets,
};
use leakgauge_base::error::{Error, Result};
use leakgauge_base::grammar::{Arguments, Parameter, format_number};

pub(super) const ENTRY: Entry = Entry {
    name: "planar-geometric",
    about: "outputs a point of a grid with geometric weights around the secret",
    parameters: &[
        Parameter::positional(
            "nu",
            "the rate ν: a point at distance d has weight exp(-ν·d); at least 1e-12",
        ),
        points::PARAMETER,
        Parameter::named(
            "observations",
            "the possible outputs, given as the secrets are; default: the smallest grid that \
             contains all secrets",
        ),
    ],
    build: Build::Alone(build),
};

/// Outputs a point o of a square grid with weight e^(−νd), where d is its Euclidean distance from the secret. The
/// weights of each secret are normalized by their sum. The observation has two columns, x
/// and y.
///
/// # Formula
/// All figures are sums over the grid: Bayes security Σ_o min, total variation ½ Σ_o |P − Q|, ε the
/// largest logarithm of a ratio. Between secrets a and b, ε is at most 2νd(a, b).
///
/// # Conditions
/// ν ≥ 1e-12; secrets are points, not necessarily on the grid; secrets times points of the grid are at most
/// [`MAX_ENTRIES`].
///
/// # References
/// K. Chatzikokolakis, C. Palamidessi, M. Stronati, *Constructing elastic distinguishability
/// metrics for location privacy*, doi:10.1515/popets-2015-0023 (the planar geometric mechanism).
#[derive(Debug, Clone, PartialEq)]
pub struct PlanarGeometric {
    /// The rate ν.
    pub nu: f64,
    /// The declared secrets.
    pub secrets: Option<Grid>,
    /// The declared observations.
    pub observations: Option<Grid>,
}

fn build(arguments: &Arguments<'_>) -> Result<Box<dyn Mechanism>> {
    Ok(Box::new(PlanarGeometric {
        nu: ranged::nu(arguments)?,
        secrets: Grid::read(arguments, "secrets")?,
        observations: Grid::read(arguments, "observations")?,
    }))
}

impl fmt::Display for PlanarGeometric {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let secrets = super::secrets::suffix(self.secrets.map(|grid| grid.0));
        write!(f, "planar-geometric(nu={}{secrets}", format_number(self.nu))?;
        if let Some(grid) = self.observations {
            write!(f, ", observations={}", grid.0)?;
        }
        f.write_str(")")
    }
}

impl PlanarGeometric {
    /// The possible outputs.
    fn grid(&self, secrets: &[[f64; 2]]) -> Grid {
        self.observations.or(self.secrets).unwrap_or_else(|| {
            let all = || secrets.iter().flatten().copied();
            let (from, to) = (
                all().fold(f64::INFINITY, f64::at_most).floor() as i64,
                all().fold(f64::NEG_INFINITY, f64::at_least).ceil() as i64,
            );
            Grid(Secrets::Range { from, to })
        })
    }
}

impl Mechanism for PlanarGeometric {
    fn declared_secrets(&self) -> Option<Vec<String>> {
        self.secrets.map(Grid::labels)
    }

    fn declared_count(&self) -> Option<u64> {
        self.secrets.map(Grid::count)
    }

    fn bind(&self, labels: &[String]) -> Result<Box<dyn BoundMechanism>> {
        let secrets = points::bind(&self.to_string(), labels, self.secrets)?;
        let far = secrets.iter().flatten().any(|x| x.abs() > 1e9);
        let grid = self.grid(&secrets);
        let side = grid.0.count().min(1 << 30);
        let entries = (side * side).saturating_mul(secrets.len() as u64);
        if far || entries > MAX_ENTRIES {
            let problem = format!(
                "{} secrets on a grid of side {side} are too many; secrets times points can be at \
                 most {MAX_ENTRIES}",
                secrets.len()
            );
            return Err(Error::parameter(self.to_string(), problem)
                .with_hint("use a smaller grid: observations=0..9 has 100 points"));
        }
        Ok(Box::new(Bound::new(self.nu, &secrets, grid)))
    }
}

#[derive(Debug)]
struct Bound {
    grid: Grid,
    table: Probabilities,
    /// Logarithms of the probabilities, up to a number that all secrets share.
    logs: Vec<Vec<f64>>,
    epsilon: f64,
    /// Cumulative sums of the rows of the table, for sampling; computed when first needed.
    sums: OnceLock<Vec<Vec<f64>>>,
}

impl Bound {
    fn new(nu: f64, secrets: &[[f64; 2]], grid: Grid) -> Self {
        let points: Vec<_> = (0..grid.count()).map(|number| grid.point(number)).collect();
        let all = secrets
            .iter()
            .flat_map(|s| points.iter().map(move |p| (*s, *p)));
        let flat = all
            .into_iter()
            .all(|(s, p)| nu * points::distance(s, p) < 0.5);
        let logs: Vec<Vec<f64>> = secrets
            .iter()
            .map(|&secret| log_probabilities(nu, secret, &points, flat))
            .collect();
        let spread = |o: usize| {
            let column = logs.iter().map(|row| row[o]);
            let (least, most) = column
                .fold((f64::INFINITY, f64::NEG_INFINITY), |(least, most), x| {
                    (x.at_most(least), x.at_least(most))
                });
            most - least
        };
        let shared = if flat { log(points.len() as f64) } else { 0.0 };
        Bound {
            grid,
            epsilon: (0..points.len()).map(spread).fold(0.0, f64::at_least),
            table: Probabilities {
                observations: points.iter().map(|[x, y]| format!("{x},{y}")).collect(),
                rows: logs
                    .iter()
                    .map(|row| row.iter().map(|&x| exp(x - shared)).collect())
                    .collect(),
            },
            logs,
            sums: OnceLock::new(),
        }
    }

    fn cells(&self, a: usize, b: usize) -> Vec<Cell> {
        let masses = self.table.rows[a].iter().zip(&self.table.rows[b]);
        let losses = self.logs[a].iter().zip(&self.logs[b]);
        let cell = |((p, q), (x, y)): ((&f64, &f64), (&f64, &f64))| Cell::with_loss(*p, *q, x - y);
        masses.zip(losses).map(cell).collect()
    }
}

/// Logarithms of the probabilities, which do not underflow; where weights are nearly equal (`flat`) without the
/// logarithm of the number of points, beside which they would lose their digits.
fn log_probabilities(nu: f64, secret: [f64; 2], points: &[[f64; 2]], flat: bool) -> Vec<f64> {
    let logs: Vec<f64> = points
        .iter()
        .map(|&point| -nu * points::distance(secret, point))
        .collect();
    let total = if flat {
        let above: f64 = logs.iter().map(|x| expm1(*x)).sum();
        log1p(above / points.len() as f64)
    } else {
        let most = logs.iter().copied().fold(f64::NEG_INFINITY, f64::at_least);
        most + log(logs.iter().map(|x| exp(x - most)).sum())
    };
    logs.into_iter().map(|x| x - total).collect()
}

impl BoundMechanism for Bound {
    fn secret_count(&self) -> usize {
        self.table.rows.len()
    }

    fn total_variation(&self, a: usize, b: usize) -> f64 {
        // In one order, so that both orders agree to the last digit.
        Cells(&self.cells(a.min(b), a.max(b))).delta(0.0)
    }

    fn bayes_security(&self, a: usize, b: usize) -> f64 {
        self.table.bayes_security(a, b)
    }

    fn law(&self, secret: usize) -> Law {
        self.table.law(secret)
    }

    fn epsilon(&self) -> f64 {
        self.epsilon
    }

    fn columns(&self) -> &'static [&'static str] {
        points::COLUMNS
    }

    fn sample(&self, secret: usize, rng: &mut dyn Rng) -> Vec<String> {
        texts(self.draw(secret, rng))
    }

    fn draw(&self, secret: usize, rng: &mut dyn Rng) -> Vec<Observed> {
        let sums = self.sums.get_or_init(|| {
            let running = |row: &Vec<f64>| {
                let mut sum = 0.0;
                let add = |p: &f64| {
                    sum += p;
                    sum
                };
                row.iter().map(add).collect()
            };
            self.table.rows.iter().map(running).collect()
        });
        let sums = &sums[secret];
        let u = rng.random::<f64>() * sums[sums.len() - 1];
        let number = sums.partition_point(|&sum| sum <= u).min(sums.len() - 1);
        self.grid.point(number as u64).map(Observed::Number).into()
    }

    fn pair(&self, a: usize, b: usize) -> Option<Pair> {
        Some(Pair::Cells(self.cells(a, b)))
    }

    fn pairs(&self) -> Option<Vec<Pair>> {
        let n = self.table.rows.len();
        if n * n * self.table.observations.len() > super::MAX_PAIR_CELLS {
            return None;
        }
        let ordered = (0..n).flat_map(|a| (0..n).map(move |b| (a, b)));
        let pairs = ordered
            .filter(|(a, b)| a != b)
            .map(|(a, b)| self.pair(a, b));
        pairs.collect()
    }

    fn capacity(&self) -> Option<f64> {
        (!self.table.rows.is_empty()).then(|| self.table.capacity())
    }

    fn probabilities(&self) -> Option<Probabilities> {
        Some(self.table.clone())
    }
}
