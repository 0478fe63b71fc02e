//! The distance to the k-th nearest fit row of **each** secret, so that one pass serves all pairs.
//!
//! # Formula
//! score_s(x) = ln(k_s/n_s) − d·ln r_s(x): r_s is the distance from x to the k_s-th nearest of the n_s
//! fit rows of s, d the intrinsic dimension estimated on the tune rows. Up to a constant this is the
//! logarithm of the k-nearest-neighbour density estimate (Loftsgaarden and Quesenberry 1965,
//! doi:10.1214/aoms/1177700079).
//!
//! Observations with a categorical part are compared within it: the neighbours of x are the rows of s
//! with the same labels. Where s has none, r is taken a million times the
//! spread of the data. Where all k neighbours coincide with x, the number of rows that do decides.

mod brute;
mod sorted;
mod tree;

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::observations::{Counts, Observations};
use crate::scorer::scaling::Scaling;
use crate::scorer::{Parameter, Scorer};

use brute::Brute;
use sorted::Sorted;
use tree::Tree;

/// How the number of neighbours grows with the number of fit rows.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Rank {
    /// The same k for every secret.
    Fixed(usize),
    /// k = c·√n, at least 1.
    RootTimes(f64),
}

impl Rank {
    /// The k for a secret (within a category) of so many fit rows.
    pub fn neighbors(self, rows: usize) -> usize {
        let k = match self {
            Rank::Fixed(k) => k,
            Rank::RootTimes(c) => (c * (rows as f64).sqrt()).round() as usize,
        };
        k.clamp(1, rows.max(1))
    }
}

/// The fit rows, arranged for finding neighbours secret by secret.
pub struct Neighbors {
    /// One per categorical part.
    groups: Vec<Group>,
    fit: Counts,
    scaling: Scaling,
}

struct Group {
    index: Index,
    /// Fit rows of each secret in this group.
    rows: Vec<usize>,
}

enum Index {
    /// One dimension.
    Sorted(Sorted),
    /// Low intrinsic dimension.
    Trees(Vec<Tree>),
    /// Anything else.
    Brute(Brute),
    /// No fit row.
    Empty,
}

/// The logarithm of a distance that stands for "no neighbour at all", in scaled units of spread 1.
const LN_FAR: f64 = 14.0;
/// The logarithm of the smallest distance that is told from 0.
const LN_NEAR: f64 = -36.0;

impl Neighbors {
    /// ln r at or below which a distance counts as 0.
    pub const LN_ZERO: f64 = LN_NEAR;

    /// The number of numeric columns that vary among the fit rows.
    pub fn dimensions(&self) -> usize {
        self.scaling.dimensions()
    }

    /// Arranges the fit rows. Scaling is fitted on them.
    pub fn fit(observations: &Observations, fit: &Counts) -> Self {
        let scaling = Scaling::fit(observations, fit);
        let secrets = fit.secrets();
        let mut points = vec![vec![Points::default(); secrets]; observations.category_count()];
        let mut scaled = Vec::new();
        for cells in fit.by_symbol() {
            let symbol = cells[0].symbol;
            scaling.apply(observations.numbers(symbol), &mut scaled);
            let group = &mut points[observations.category(symbol) as usize];
            for cell in cells {
                group[cell.secret as usize].push(&scaled, cell.count);
            }
        }
        let groups = points
            .iter()
            .map(|points| Group {
                rows: points.iter().map(Points::rows).collect(),
                index: build(points, scaling.dimensions()),
            })
            .collect();
        Neighbors {
            groups,
            fit: fit.clone(),
            scaling,
        }
    }

    /// Which index serves, for the report: `sorted`, `tree` or `brute`.
    pub fn index_name(&self) -> &'static str {
        let name = |group: &Group| match group.index {
            Index::Sorted(_) => Some("sorted"),
            Index::Trees(_) => Some("tree"),
            Index::Brute(_) => Some("brute"),
            Index::Empty => None,
        };
        self.groups.iter().find_map(name).unwrap_or("none")
    }

    /// ln r for each observation, secret and rank: `out[j]` is row-major, observations × secrets.
    pub fn ln_distances(
        &self,
        observations: &Observations,
        symbols: &[u32],
        ranks: &[Rank],
        out: &mut [&mut [f64]],
    ) {
        let secrets = self.fit.secrets();
        let mut by_group: BTreeMap<u32, Vec<usize>> = BTreeMap::new();
        for (row, &symbol) in symbols.iter().enumerate() {
            by_group
                .entry(observations.category(symbol))
                .or_default()
                .push(row);
        }
        let d = self.scaling.dimensions();
        for (group, rows) in by_group {
            let group = &self.groups[group as usize];
            let mut queries = Vec::with_capacity(rows.len() * d);
            let mut scaled = Vec::new();
            for &row in &rows {
                self.scaling
                    .apply(observations.numbers(symbols[row]), &mut scaled);
                queries.extend_from_slice(&scaled);
            }
            for secret in 0..secrets {
                let ks: Vec<usize> = ranks
                    .iter()
                    .map(|rank| rank.neighbors(group.rows[secret]))
                    .collect();
                group.search(secret, &queries, d, &ks, &mut |query, rank, ln_distance| {
                    let row = rows[query];
                    out[rank][row * secrets + secret] = if d > 1 && ln_distance <= LN_NEAR {
                        self.ln_coincident(symbols[row], secret, ks[rank], d)
                    } else {
                        ln_distance
                    };
                });
            }
        }
    }

    /// ln r where all k neighbours are at distance 0: the more rows coincide, the smaller.
    fn ln_coincident(&self, symbol: u32, secret: usize, k: usize, d: usize) -> f64 {
        let cells = self.fit.cells();
        let at =
            cells.binary_search_by_key(&(symbol, secret as u32), |cell| (cell.symbol, cell.secret));
        let rows = at.map_or(k as f64, |at| cells[at].count as f64);
        LN_NEAR + (k as f64 / rows).ln().min(0.0) / d as f64
    }

    /// ln(k_s/n_s) for an observation's category: what a score adds to −d·ln r.
    fn ln_share(&self, category: u32, secret: usize, rank: Rank) -> f64 {
        let here = self.groups[category as usize].rows[secret];
        let k = if here == 0 {
            0.5
        } else {
            rank.neighbors(here) as f64
        };
        (k / (self.fit.rows()[secret] as f64).max(1.0)).ln()
    }
}

impl Group {
    /// Calls `found(query, rank, ln r)` for every query and every k.
    fn search(
        &self,
        secret: usize,
        queries: &[f64],
        d: usize,
        ks: &[usize],
        found: &mut dyn FnMut(usize, usize, f64),
    ) {
        if self.rows[secret] == 0 {
            for query in 0..queries.len() / d.max(1) {
                (0..ks.len()).for_each(|rank| found(query, rank, LN_FAR));
            }
            return;
        }
        match &self.index {
            Index::Sorted(sorted) => sorted.search(secret, queries, ks, found),
            Index::Trees(trees) => trees[secret].search(queries, ks, found),
            Index::Brute(brute) => brute.search(secret, queries, ks, found),
            Index::Empty => unreachable!("a group without rows has no secret with rows"),
        }
    }
}

fn build(points: &[Points], d: usize) -> Index {
    if points.iter().all(|points| points.counts.is_empty()) {
        return Index::Empty;
    }
    if d == 1 {
        let counted = |points: &Points| {
            let values = points.numbers.iter().copied();
            values.zip(points.counts.iter().copied()).collect()
        };
        return Index::Sorted(Sorted::new(points.iter().map(counted)));
    }
    let rows: Vec<Vec<f64>> = points.iter().map(|points| points.repeated(d)).collect();
    let trees: Vec<Tree> = rows.iter().map(|rows| Tree::new(rows, d)).collect();
    if tree::pays(&trees, &rows, d) {
        Index::Trees(trees)
    } else {
        Index::Brute(Brute::new(&rows, d))
    }
}

/// The distinct fit points of a secret in one category, row-major and in canonical order, with their
/// numbers of rows.
#[derive(Default, Clone)]
struct Points {
    numbers: Vec<f64>,
    counts: Vec<usize>,
}

impl Points {
    fn push(&mut self, point: &[f64], count: u64) {
        self.numbers.extend_from_slice(point);
        self.counts.push(count as usize);
    }

    fn rows(&self) -> usize {
        self.counts.iter().sum()
    }

    /// The points with equal rows repeated.
    fn repeated(&self, d: usize) -> Vec<f64> {
        let points = self.numbers.chunks_exact(d).zip(&self.counts);
        points
            .flat_map(|(point, &count)| point.repeat(count))
            .collect()
    }
}

/// Class-wise k-th-neighbour scorer.
pub struct KNearest {
    name: &'static str,
    neighbors: Arc<Neighbors>,
    rank: Rank,
    dimension: f64,
}

impl KNearest {
    /// A scorer with a rank and an intrinsic dimension chosen elsewhere.
    pub fn new(name: &'static str, neighbors: Arc<Neighbors>, rank: Rank, dimension: f64) -> Self {
        KNearest {
            name,
            neighbors,
            rank,
            dimension,
        }
    }

    /// Turns ln distances into scores, in place.
    pub fn to_scores(&self, observations: &Observations, symbols: &[u32], values: &mut [f64]) {
        let secrets = self.neighbors.fit.secrets();
        let categories = observations.category_count() as u32;
        let shares: Vec<f64> = (0..categories)
            .flat_map(|category| (0..secrets).map(move |secret| (category, secret)))
            .map(|(category, secret)| self.neighbors.ln_share(category, secret, self.rank))
            .collect();
        for (row, &symbol) in values.chunks_mut(secrets).zip(symbols) {
            let category = observations.category(symbol) as usize;
            for (value, share) in row.iter_mut().zip(&shares[category * secrets..]) {
                *value = share - self.dimension * *value;
            }
        }
    }
}

impl Scorer for KNearest {
    fn name(&self) -> &'static str {
        self.name
    }

    fn parameters(&self) -> BTreeMap<&'static str, Parameter> {
        let rows = self.neighbors.fit.rows().iter().copied().max().unwrap_or(0);
        BTreeMap::from([
            (
                "k",
                Parameter::Count(self.rank.neighbors(rows as usize) as u64),
            ),
            ("dimension", Parameter::Real(self.dimension)),
        ])
    }

    fn in_words(&self) -> String {
        let rows = self.neighbors.fit.rows().iter().copied().max().unwrap_or(0);
        match self.rank.neighbors(rows as usize) {
            1 => "the nearest neighbour of each secret".to_owned(),
            k => format!("neighbour {k} of each secret"),
        }
    }

    fn index(&self) -> Option<&'static str> {
        Some(self.neighbors.index_name())
    }

    fn score(&self, observations: &Observations, symbols: &[u32], scores: &mut [f64]) {
        self.neighbors
            .ln_distances(observations, symbols, &[self.rank], &mut [scores]);
        self.to_scores(observations, symbols, scores);
    }

    fn refit(&self, observations: &Observations, fit: &Counts) -> Result<Arc<dyn Scorer>, String> {
        Ok(Arc::new(KNearest {
            neighbors: Arc::new(Neighbors::fit(observations, fit)),
            ..*self
        }))
    }
}
