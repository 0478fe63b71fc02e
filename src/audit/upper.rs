//! Limits from above for discrete logs: of the total variation and of divergences, from all rows.
//!
//! A twentieth of the rows chooses between methods, the others judge. What is limited is one fixed event of
//! nature, so no alphabet size enters: see [`leakgauge_stats::event_upper`].

use std::sync::OnceLock;

use crate::audit::prepare::Prepared;
use crate::audit::units::laws::UnitLaws;
use crate::estimate::Method;
use leakgauge_attack::measure::by_secret::BySecret;
use leakgauge_attack::measure::plug_in;
use leakgauge_attack::pairwise::{pair_count, pairs};
use leakgauge_attack::split::parts;
use leakgauge_base::parallel;
use leakgauge_judge::{Independence, close_distances};
use leakgauge_log::observations::{Counts, ObservationKind};
use leakgauge_stats::dp_upper::{Allowed, Divergences, PairCells};
use leakgauge_stats::event_upper::{total_variation_upper, vulnerability_upper};
use leakgauge_stats::multiplicity::bonferroni;
use leakgauge_stats::random::{Randomness, Stream};
use leakgauge_stats::reconstruction::{self, other_way, success_at_most};
use leakgauge_stats::sparse_upper;
use leakgauge_stats::two_binomials::{Share, difference_upper_quick};
use rand_chacha::ChaCha8Rng;

/// The part of the rows that chooses methods.
const CHOOSING: f64 = 0.05;
/// Pairs times distinct observations up to which the limit for sparse alphabets is considered.
const MOST_CELLS: usize = 200_000;
/// Fewer distinct observations than this are not sparse.
const SPARSE: usize = 16;
/// Ordered pairs up to which slopes are chosen for limits of reconstructions.
const MOST_SLOPES: usize = 200;
/// A divergence falls in ε, and e^ε must be a number.
const MOST_EPSILON: f64 = 30.0;
/// Pairs times rows up to which limits of unequal rows are computed exactly.
const MOST_WORK: u64 = 400_000;

/// The limits from above.
#[derive(Debug)]
pub struct UpperLimits {
    /// Plug-in total variation of every pair, of all rows.
    pub plug_in: Vec<f64>,
    /// For each pair, its limit at level 1 − α by itself. `None` if a secret has no rows. Few ask for all of them.
    single: OnceLock<Vec<Option<f64>>>,
    /// The largest total variation of all pairs.
    largest: Option<f64>,
    /// For each pair, its limit. All of them and the largest hold together at level 1 − α.
    joint: Vec<Option<f64>>,
    /// For each pair, how.
    methods: Vec<Method>,
    source: Source,
    alpha: f64,
    /// Limits of divergences, from rows.
    divergences: OnceLock<Divergences>,
}

/// What is independent.
#[derive(Debug)]
enum Source {
    Rows(Cells),
    Units(UnitLaws),
}

/// What the limits are computed from.
#[derive(Debug, Clone)]
struct Cells {
    /// Of the rows that choose, and of those that judge: for each secret, its observations and rows.
    choosing: BySecret,
    judging: BySecret,
    pairs: usize,
    random: Randomness,
}

/// What is found of a pair at once.
struct PairLimit {
    /// The limit where those of all pairs hold together; `None` if a secret has no rows.
    joint: Option<f64>,
    /// The limit by itself, or what it does not exceed.
    single: Single,
    method: Method,
}

/// A limit, or a number above it.
#[derive(Clone, Copy)]
enum Single {
    Known(f64),
    AtMost(f64),
}

/// The part of α of the limits of single pairs, which all pairs share. The limit of the largest has the rest: each pair
/// has it too.
const SINGLE_PAIRS: f64 = 0.1;

/// The levels of the largest and of each of so many pairs.
fn levels(alpha: f64, pairs: usize) -> [f64; 2] {
    match pairs {
        1 => [alpha; 2],
        _ => {
            let of_pairs = SINGLE_PAIRS * alpha;
            [alpha - of_pairs, bonferroni(of_pairs, pairs as u64)]
        }
    }
}

/// The limits of all pairs: none exceeds the largest, nor what those of others imply.
fn close(mut joint: Vec<Option<f64>>, largest: Option<f64>, secrets: usize) -> Vec<Option<f64>> {
    if let Some(largest) = largest {
        let limits = joint.iter_mut().flatten();
        limits.for_each(|limit| *limit = limit.min(largest));
    }
    close_distances(&mut joint, secrets);
    joint
}

/// The largest of limits, if there are all of them.
fn largest_of(mut limits: impl Iterator<Item = Option<f64>>) -> Option<f64> {
    limits.try_fold(0.0f64, |largest, upper| Some(largest.max(upper?)))
}

impl UpperLimits {
    /// Chooses methods and computes the limits of all pairs.
    pub fn find(prepared: &Prepared) -> Option<UpperLimits> {
        let log = prepared.log;
        if log.observations.kind() != ObservationKind::Discrete {
            return None;
        }
        match prepared.independence {
            Independence::Time => return None,
            Independence::Units | Independence::Blocks => return Self::of_units(prepared),
            Independence::Rows => {}
        }
        let cells = Cells::new(prepared)?;
        let pair_count = cells.pairs;
        let all: Vec<[u32; 2]> = pairs(log.secrets.len()).map(|(a, b)| [a, b]).collect();
        let sparse = pair_count * log.observations.len() <= MOST_CELLS;
        let alpha = prepared.alpha;
        let levels = levels(alpha, pair_count);
        let limits: Vec<PairLimit> = parallel::map_in_place(all.len(), &|at| {
            let method = cells.method(all[at], sparse, alpha);
            cells.limit(all[at], method, levels)
        });
        let largest = cells.largest(&all, &limits, levels[0]);
        let joint = limits.iter().map(|limit| limit.joint).collect();
        Some(UpperLimits {
            plug_in: plug_in::total_variation(&log.counts),
            single: OnceLock::new(),
            joint: close(joint, largest, log.secrets.len()),
            largest,
            methods: limits.iter().map(|limit| limit.method).collect(),
            source: Source::Rows(cells),
            alpha,
            divergences: OnceLock::new(),
        })
    }

    /// Limits that count units.
    fn of_units(prepared: &Prepared) -> Option<UpperLimits> {
        let secrets = prepared.log.secrets.len();
        let laws = UnitLaws::new(prepared.units_of_the_log()?, secrets);
        let (alpha, pairs) = (prepared.alpha, pair_count(secrets));
        let [of_largest, of_pair] = levels(alpha, pairs);
        let limits = laws.total_variation_at_most(of_largest);
        let largest = largest_of(limits.into_iter());
        let joint = laws.total_variation_at_most(of_pair);
        Some(UpperLimits {
            plug_in: laws.distances().to_vec(),
            single: OnceLock::new(),
            joint: close(joint, largest, secrets),
            largest,
            methods: vec![Method::UnitMcdiarmid; pairs],
            source: Source::Units(laws),
            alpha,
            divergences: OnceLock::new(),
        })
    }

    /// The limit of the Bayes vulnerability at a prior; `counts` are all rows.
    pub fn vulnerability(&self, counts: &Counts, prior: &[f64], alpha: f64) -> f64 {
        match &self.source {
            Source::Rows(_) => vulnerability_upper(&plug_in::named(counts, prior), alpha),
            Source::Units(laws) => laws.vulnerability_at_most(prior, alpha),
        }
    }

    /// How the Bayes vulnerability and divergences are limited.
    pub fn event_method(&self) -> Method {
        match &self.source {
            Source::Rows(_) => Method::FixedEvent,
            Source::Units(_) => Method::UnitMcdiarmid,
        }
    }

    /// The limit of a pair that was fixed before the log was taken.
    pub fn single(&self, pair: usize) -> Option<f64> {
        self.all_single()[pair]
    }

    fn all_single(&self) -> &[Option<f64>] {
        self.single.get_or_init(|| match &self.source {
            Source::Rows(cells) => self.of_rows(cells, self.alpha),
            Source::Units(laws) => laws.total_variation_at_most(self.alpha),
        })
    }

    /// The limits of all pairs at a level, from rows.
    fn of_rows(&self, cells: &Cells, alpha: f64) -> Vec<Option<f64>> {
        let all: Vec<(u32, u32)> = pairs(cells.judging.secrets()).collect();
        parallel::map_in_place(all.len(), &|at| {
            let (a, b) = all[at];
            cells.total_variation([a, b], self.methods[at], alpha)
        })
    }

    /// The limit of a pair, all pairs and the largest together: for a pair that the log chose too.
    pub fn joint(&self, pair: usize) -> Option<f64> {
        self.joint[pair]
    }

    /// The limit of the largest total variation of all pairs: each at the same level, for the truly worst
    /// pair is one fixed pair (Berger 1982, doi:10.1080/00401706.1982.10487790).
    pub fn largest(&self) -> Option<f64> {
        self.largest
    }

    /// How a pair is limited.
    pub fn method(&self, pair: usize) -> Method {
        self.methods[pair]
    }

    /// How far a pair's limit is above its plug-in estimate.
    pub fn radius(&self, pair: usize) -> Option<f64> {
        Some((self.single(pair)? - self.plug_in[pair]).max(0.0))
    }

    /// The limit of the largest total variation at another level.
    pub fn largest_at(&self, alpha: f64) -> Option<f64> {
        largest_of(match &self.source {
            Source::Units(laws) => laws.total_variation_at_most(alpha).into_iter(),
            Source::Rows(cells) => self.of_rows(cells, alpha).into_iter(),
        })
    }

    /// The limit of the success of a reconstruction at κ, the largest over all ordered pairs of the secrets: each at
    /// the same level, as for [`largest`](Self::largest). Every pair's slope is chosen on the rows that choose methods.
    pub fn reconstruction(&self, secrets: usize, kappa: f64) -> Option<f64> {
        let slopes = 2 * self.methods.len() <= MOST_SLOPES;
        let single = self.all_single();
        let all: Vec<(u32, u32)> = pairs(secrets).collect();
        let of_pair = |at: usize| {
            let (a, b) = all[at];
            let flat = success_at_most(1.0, single[at]?, kappa);
            let ordered = [[a, b], [b, a]].map(|pair| match &self.source {
                Source::Rows(cells) if slopes => self.at_slope(pair, cells, flat, kappa),
                Source::Rows(_) | Source::Units(_) => flat,
            });
            Some(ordered[0].max(ordered[1]))
        };
        let limits = parallel::map_in_place(all.len(), &of_pair);
        limits
            .into_iter()
            .try_fold(kappa, |largest, limit| Some(largest.max(limit?)))
    }

    /// The limit of one ordered pair; `flat` is that of slope 1.
    fn at_slope(&self, [a, b]: [u32; 2], cells: &Cells, flat: f64, kappa: f64) -> f64 {
        let (choosing, rows) = (cells.choosing.cells([a, b]), cells.judging.rows([a, b]));
        let slope = reconstruction::slope(&choosing, rows, kappa, self.alpha);
        let divergence = if slope == 1.0 {
            return flat;
        } else if slope > 1.0 {
            self.divergence([a, b], slope.ln())
        } else {
            other_way(slope, self.divergence([b, a], -slope.ln()))
        };
        success_at_most(slope, divergence, kappa)
    }

    /// The limit of the hockey-stick divergence of a after b at ε, at level 1 − α.
    pub fn divergence(&self, pair: [u32; 2], epsilon: f64) -> f64 {
        let epsilon = epsilon.min(MOST_EPSILON);
        match &self.source {
            Source::Rows(cells) => self.divergences(cells).limit(pair, epsilon, cells),
            Source::Units(laws) => laws.divergence_at_most(pair, epsilon, self.alpha),
        }
    }

    /// The ordered pair whose limit of the divergence exceeds its δ most, the first of several, by its position in
    /// `pairs`, and its limit.
    pub fn largest_divergence(&self, pairs: &[Allowed]) -> Option<(usize, f64)> {
        let mut pairs = pairs.to_vec();
        for allowed in &mut pairs {
            allowed.epsilon = allowed.epsilon.min(MOST_EPSILON);
        }
        let laws = match &self.source {
            Source::Rows(cells) => return self.divergences(cells).largest(&pairs, cells),
            Source::Units(laws) => laws,
        };
        let limits = pairs.iter().map(|allowed| {
            let limit = laws.divergence_at_most(allowed.pair, allowed.epsilon, self.alpha);
            (limit - allowed.delta, limit)
        });
        let limits = limits.enumerate();
        let largest = limits.reduce(|best, next| if next.1.0 > best.1.0 { next } else { best });
        largest.map(|(at, (_, limit))| (at, limit))
    }

    /// What claims of privacy share.
    fn divergences(&self, cells: &Cells) -> &Divergences {
        self.divergences.get_or_init(|| {
            let (choosing, judging) = (cells.choosing.all_rows(), cells.judging.all_rows());
            Divergences::new(choosing, judging, self.alpha)
        })
    }
}

/// Hoeffding's limit of a difference, which [`difference_upper_quick`] never exceeds by more than rounding.
fn hoeffding(a: Share, b: Share, alpha: f64) -> f64 {
    const ROUNDING: f64 = 1e-9;
    let rate = |share: Share| share.inside as f64 / share.rows as f64;
    let variation = (1.0 / a.rows as f64 + 1.0 / b.rows as f64) * -alpha.ln() / 2.0;
    rate(a) - rate(b) + variation.sqrt() + ROUNDING
}

impl PairCells for Cells {
    fn choosing(&self, pair: [u32; 2]) -> Vec<(u64, u64)> {
        self.choosing.cells(pair)
    }

    fn judging(&self, pair: [u32; 2]) -> Vec<(u64, u64)> {
        self.judging.cells(pair)
    }
}

impl Cells {
    fn new(prepared: &Prepared) -> Option<Cells> {
        let log = prepared.log;
        let mut rng = prepared.random.rng(Stream::UpperChoice);
        let rows = log.counts.rows();
        let mut dealt =
            parts(&log.counts, &[CHOOSING], |secret| rows[secret], &mut rng).into_iter();
        let (choosing, judging) = (dealt.next()?, dealt.next()?);
        Some(Cells {
            choosing: BySecret::new(&choosing),
            judging: BySecret::new(&judging),
            pairs: pair_count(log.secrets.len()),
            random: prepared.random,
        })
    }

    fn method(&self, pair: [u32; 2], consider_sparse: bool, alpha: f64) -> Method {
        if !consider_sparse {
            return Method::FixedEvent;
        }
        let choosing = self.choosing.cells(pair);
        let mut rng = self.rng(pair);
        if choosing.len() > SPARSE && sparse_upper::is_narrower_on(&choosing, alpha, &mut rng) {
            Method::SparseCloseness
        } else {
            Method::FixedEvent
        }
    }

    /// The limits of a pair at two levels: as one that may be the largest, and with all others.
    fn limit(&self, pair: [u32; 2], method: Method, [alpha, joint]: [f64; 2]) -> PairLimit {
        let none = PairLimit {
            joint: None,
            single: Single::Known(1.0),
            method,
        };
        let rows = self.judging.rows(pair);
        if rows.contains(&0) {
            return none;
        }
        if method != Method::SparseCloseness && self.are_many(rows) {
            // The largest of all single limits is wanted alone, and most pairs are far from it.
            let [a, b] = self.judging.likelier(pair);
            return PairLimit {
                joint: Some(difference_upper_quick(a, b, 1.0, joint)),
                single: Single::AtMost(hoeffding(a, b, alpha)),
                method,
            };
        }
        let level = if self.pairs == 1 { alpha } else { joint };
        let limit = self.total_variation(pair, method, level);
        let single = match method {
            _ if self.pairs == 1 => limit.map(Single::Known),
            // It draws from the rows, at every level anew.
            Method::SparseCloseness => self.total_variation(pair, method, alpha).map(Single::Known),
            // What is good at a smaller level is good at a larger one.
            _ => limit.map(Single::AtMost),
        };
        let found = limit.zip(single).map(|(limit, single)| PairLimit {
            joint: Some(limit),
            single,
            method,
        });
        found.unwrap_or(none)
    }

    /// The largest limit of a pair by itself; `None` if some pair has none.
    fn largest(&self, pairs: &[[u32; 2]], limits: &[PairLimit], alpha: f64) -> Option<f64> {
        if limits.iter().any(|limit| limit.joint.is_none()) {
            return None;
        }
        let exact = |at: usize| match limits[at].single {
            Single::Known(limit) => limit,
            Single::AtMost(bound) => {
                let limit = self.total_variation(pairs[at], limits[at].method, alpha);
                limit.map_or(bound, |limit| limit.min(bound))
            }
        };
        let bound = |limit: &PairLimit| match limit.single {
            Single::Known(limit) | Single::AtMost(limit) => limit,
        };
        let highest = limits.iter().map(bound).enumerate();
        let highest = highest.reduce(|best, next| if next.1 > best.1 { next } else { best });
        let (highest, least) = highest.map_or((0, 0.0), |(at, _)| (at, exact(at)));
        let near = limits.iter().map(bound).enumerate();
        let near: Vec<usize> = near
            .filter(|next| next.0 != highest && next.1 >= least)
            .map(|next| next.0)
            .collect();
        let limits = parallel::map_in_place(near.len(), &|at| exact(near[at]));
        Some(limits.into_iter().fold(least.max(0.0), f64::max))
    }

    /// Whether pairs and rows are too many for exact limits of unequal rows.
    fn are_many(&self, rows: [u64; 2]) -> bool {
        self.pairs as u64 * (rows[0] + rows[1]) > MOST_WORK
    }

    /// The limit of a pair at a level.
    fn total_variation(&self, pair: [u32; 2], method: Method, alpha: f64) -> Option<f64> {
        let rows = self.judging.rows(pair);
        if rows.contains(&0) {
            return None;
        }
        Some(match method {
            Method::SparseCloseness => {
                let cells = self.judging.cells(pair);
                sparse_upper::total_variation_upper(&cells, alpha, &mut self.rng(pair))
            }
            _ if self.are_many(rows) => {
                let [a, b] = self.judging.likelier(pair);
                difference_upper_quick(a, b, 1.0, alpha)
            }
            _ => total_variation_upper(&self.judging.cells(pair), alpha),
        })
    }

    fn rng(&self, pair: [u32; 2]) -> ChaCha8Rng {
        self.random.rng(Stream::Upper(pair))
    }
}
