//! Guessing by a sum of functions of one column each.

mod features;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

use crate::scorer::{Parameter, Parameters, Scorer, parameters};
use crate::split::folds;
use features::{BINS, Feature, features};
use leakgauge_base::parallel;
use leakgauge_log::observations::{Counts, Observations};

pub use features::{View, lowest_bit};

/// Scores an observation by a sum of terms, each a step function of one column, of a difference of neighboring
/// columns, or of the lowest bit of a number.
///
/// # Formula
/// score_s(x) = Σ_j ln((c_js(b_j(x)) + M·p_j(b_j(x))) / (n_s + M)), where c_js(b) counts the fit rows of s whose value
/// of feature j is b, p_j is the share of b among all fit rows, and M = 20. It is the log-likelihood where features are
/// independent given the secret (naive Bayes). With many secrets most differ from the others in few features, and what
/// chance makes of all others drowns these: each secret's frequencies may be drawn to those of all rows by the part of
/// their distance that chance explains, λ = max(0, 1 − (f + 3 √(2f))/G) of it left, G the likelihood ratio of the secret
/// against all with f degrees of freedom. The number of bins of a number, whether all columns share one term, whether
/// terms are left out that chance explains, and whether secrets are drawn to all are those that separate the secrets
/// best on one half of the fit rows when learned from the other, both ways.
///
/// # References
/// Hastie and Tibshirani 1986, doi:10.1214/ss/1177013604; Domingos and Pazzani 1997, doi:10.1023/A:1007413511361. For
/// secrets drawn to all: Efron and Morris 1973, doi:10.1080/01621459.1973.10481350. For lowest bits: Mironov 2012,
/// doi:10.1145/2382196.2382264.
pub struct Additive {
    view: View,
    features: Vec<Feature>,
    shape: Shape,
    /// By feature; empty where a term was left out.
    terms: Vec<Vec<f64>>,
    secrets: usize,
}

/// What is chosen inside the fit rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Shape {
    /// Bins of a column with more values than [`BINS`].
    bins: usize,
    /// All columns share one term.
    is_shared: bool,
    noise: Noise,
}

/// What becomes of what chance may have made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Noise {
    /// It stays.
    Kept,
    /// Terms that chance explains are left out.
    WithoutTerms,
    /// Each secret's frequencies are drawn to those of all rows.
    Shrunk,
}

/// Rows of each secret that have the frequencies of all.
const BORROWED: f64 = 20.0;
/// Standard deviations of G by which a term must exceed what chance makes of it.
const CLEAR: f64 = 3.0;
/// Secrets from which on each may differ from all others in features of its own.
const MANY_SECRETS: usize = 3;

/// How often each secret has each value of each feature.
struct Tables {
    /// By feature, values × secrets.
    counts: Vec<Vec<f64>>,
    rows: Vec<f64>,
}

/// Values of features of rows: `features` numbers a row, with secret and count.
struct Coded {
    codes: Vec<u16>,
    rows: Vec<(usize, f64)>,
}

impl Additive {
    /// Learns the terms.
    ///
    /// # Errors
    /// The view has nothing to look at in this log; fewer than two secrets with rows.
    pub fn fit(observations: &Observations, fit: &Counts, view: View) -> Result<Self, String> {
        if fit.rows().iter().filter(|&&rows| rows > 0).count() < 2 {
            return Err("fewer than two secrets have rows to learn from".to_owned());
        }
        let mut best: Option<(f64, Vec<Feature>, Shape)> = None;
        for is_shared in [false, true] {
            let Some(features) = features(observations, fit, view, is_shared) else {
                continue;
            };
            if is_shared && features.len() < 2 {
                continue;
            }
            let (separation, shape) = choose(&features, observations, fit, is_shared);
            if best.as_ref().is_none_or(|best| separation > best.0) {
                best = Some((separation, features, shape));
            }
        }
        let Some((_, features, shape)) = best else {
            return Err(format!("no {} that vary", view.name()));
        };
        let tables = Tables::new(
            &features,
            &code(&features, observations, fit),
            fit.rows(),
            shape,
        );
        let kept = tables.kept(shape);
        Ok(Self::of(view, features, shape, &tables, &kept))
    }

    /// Whether most numbers of a column of numbers have more digits than a rounded one, so that their lowest bits
    /// say something.
    pub fn is_printed_in_full(observations: &Observations, fit: &Counts, column: usize) -> bool {
        features::is_printed_in_full(observations, &features::thin(&fit.symbols()), column)
    }

    fn of(
        view: View,
        features: Vec<Feature>,
        shape: Shape,
        tables: &Tables,
        kept: &[bool],
    ) -> Self {
        let secrets = tables.rows.len();
        Additive {
            terms: tables.terms(kept, shape),
            view,
            features,
            shape,
            secrets,
        }
    }

    /// Terms that were not left out.
    fn kept(&self) -> Vec<bool> {
        self.terms.iter().map(|term| !term.is_empty()).collect()
    }
}

/// Rows that one thread takes at a time.
const BLOCK: usize = 4096;

/// The values of all features of some rows.
fn code(features: &[Feature], observations: &Observations, rows: &Counts) -> Coded {
    let cells = rows.cells();
    let codes = parallel::map(cells.len().div_ceil(BLOCK), |block| {
        let cells = &cells[block * BLOCK..cells.len().min((block + 1) * BLOCK)];
        let codes = cells.iter().flat_map(|cell| {
            let of = |feature: &Feature| feature.of(observations, cell.symbol) as u16;
            features.iter().map(of)
        });
        codes.collect::<Vec<u16>>()
    });
    Coded {
        codes: codes.concat(),
        rows: cells
            .iter()
            .map(|cell| (cell.secret as usize, cell.count as f64))
            .collect(),
    }
}

/// The shape with the largest mean separation of either half of the fit rows by terms of the other, and that.
fn choose(
    features: &[Feature],
    observations: &Observations,
    fit: &Counts,
    is_shared: bool,
) -> (f64, Shape) {
    // Any halves do: the draw depends on the counts alone.
    let halves = folds(fit, 2, &mut ChaCha8Rng::seed_from_u64(0));
    let coded: Vec<Coded> = halves
        .iter()
        .map(|half| code(features, observations, half))
        .collect();
    let bins = if features.iter().any(Feature::is_binned) {
        vec![2, 4, 8, BINS]
    } else {
        vec![BINS]
    };
    let shapes = bins.into_iter().flat_map(|bins| {
        let all = [Noise::Kept, Noise::WithoutTerms, Noise::Shrunk];
        let all = all.into_iter().take(match fit.secrets() {
            MANY_SECRETS.. => 3,
            _ => 2,
        });
        all.map(move |noise| Shape {
            bins,
            is_shared,
            noise,
        })
    });
    let of_shape = |shape: Shape| {
        let separations = [(0, 1), (1, 0)].map(|(learn, judge): (usize, usize)| {
            let tables = Tables::new(features, &coded[learn], halves[learn].rows(), shape);
            let terms = tables.terms(&tables.kept(shape), shape);
            separation(&terms, &coded[judge], fit.secrets())
        });
        (0.5 * (separations[0] + separations[1]), shape)
    };
    shapes
        .map(of_shape)
        .reduce(|best, next| if next.0 > best.0 { next } else { best })
        .expect("two shapes or more")
}

/// By how many standard deviations the score of a row's own secret, less the mean over secrets, exceeds 0.
fn separation(terms: &[Vec<f64>], coded: &Coded, secrets: usize) -> f64 {
    let mut scores = vec![0.0; secrets];
    let (mut sum, mut squares, mut rows) = (0.0, 0.0, 0.0);
    for (codes, (secret, count)) in coded.codes.chunks_exact(terms.len()).zip(&coded.rows) {
        scores.fill(0.0);
        for (term, code) in terms.iter().zip(codes) {
            add(term, usize::from(*code), &mut scores);
        }
        let own = scores[*secret] - scores.iter().sum::<f64>() / secrets as f64;
        sum += count * own;
        squares += count * own * own;
        rows += count;
    }
    let mean = sum / rows;
    let deviation = (squares / rows - mean * mean).max(0.0).sqrt();
    if deviation > 0.0 {
        mean / deviation
    } else {
        0.0
    }
}

/// Adds a term's scores; what is new, and terms left out, add nothing.
fn add(term: &[f64], code: usize, scores: &mut [f64]) {
    if let Some(of_code) = term.get(code * scores.len()..(code + 1) * scores.len()) {
        scores
            .iter_mut()
            .zip(of_code)
            .for_each(|(score, term)| *score += term);
    }
}

impl Tables {
    /// Counts, coarse bins merged: every value of a coarse bin has the counts of the bin.
    fn new(features: &[Feature], coded: &Coded, rows: &[u64], shape: Shape) -> Self {
        let secrets = rows.len();
        let mut counts: Vec<Vec<f64>> = features
            .iter()
            .map(|feature| vec![0.0; feature.size() * secrets])
            .collect();
        for (codes, (secret, count)) in coded.codes.chunks_exact(features.len()).zip(&coded.rows) {
            for (counts, code) in counts.iter_mut().zip(codes) {
                if let Some(cell) = counts.get_mut(usize::from(*code) * secrets + secret) {
                    *cell += count;
                }
            }
        }
        for (counts, feature) in counts.iter_mut().zip(features) {
            if feature.is_binned() && shape.bins < BINS {
                merge(counts, secrets, BINS / shape.bins);
            }
        }
        let mut rows: Vec<f64> = rows.iter().map(|&rows| rows as f64).collect();
        if shape.is_shared {
            let mut sum = vec![0.0; counts[0].len()];
            for counts in &counts {
                sum.iter_mut()
                    .zip(counts)
                    .for_each(|(sum, count)| *sum += count);
            }
            counts.fill(sum);
            rows.iter_mut()
                .for_each(|rows| *rows *= features.len() as f64);
        }
        Tables { counts, rows }
    }

    /// Which terms stay.
    fn kept(&self, shape: Shape) -> Vec<bool> {
        let of_counts =
            |counts: &Vec<f64>| shape.noise != Noise::WithoutTerms || self.is_clear(counts);
        self.counts.iter().map(of_counts).collect()
    }

    /// Whether G, twice the log-likelihood ratio against "the same for all secrets", exceeds its degrees of freedom by
    /// so many of its standard deviations.
    fn is_clear(&self, counts: &[f64]) -> bool {
        let total: f64 = self.rows.iter().sum();
        let (mut g, mut values) = (0.0, 0.0);
        for counts in counts.chunks_exact(self.rows.len()) {
            let all: f64 = counts.iter().sum();
            values += if all > 0.0 { 1.0 } else { 0.0 };
            for (count, rows) in counts
                .iter()
                .zip(&self.rows)
                .filter(|(count, _)| **count > 0.0)
            {
                g += 2.0 * count * (count * total / (rows * all)).ln();
            }
        }
        let secrets = self.rows.iter().filter(|rows| **rows > 0.0).count() as f64;
        let freedom = ((values - 1.0) * (secrets - 1.0)).max(1.0);
        g - freedom > CLEAR * (2.0 * freedom).sqrt()
    }

    /// Of each secret, how much of the distance from the frequencies of all rows stays.
    fn left(&self, counts: &[f64], noise: Noise) -> Vec<f64> {
        let secrets = self.rows.len();
        if noise != Noise::Shrunk {
            return vec![1.0; secrets];
        }
        let total: f64 = self.rows.iter().sum();
        let mut g = vec![0.0f64; secrets];
        let mut values = 0.0f64;
        for counts in counts.chunks_exact(secrets) {
            let all: f64 = counts.iter().sum();
            values += if all > 0.0 { 1.0 } else { 0.0 };
            for ((count, rows), g) in counts.iter().zip(&self.rows).zip(&mut g) {
                if *count > 0.0 {
                    *g += 2.0 * count * (count * total / (rows * all)).ln();
                }
            }
        }
        let freedom = (values - 1.0).max(1.0);
        let chance = freedom + CLEAR * (2.0 * freedom).sqrt();
        g.into_iter()
            .map(|g| if g > chance { 1.0 - chance / g } else { 0.0 })
            .collect()
    }

    fn terms(&self, kept: &[bool], shape: Shape) -> Vec<Vec<f64>> {
        let secrets = self.rows.len();
        let total: f64 = self.rows.iter().sum();
        let term = |(counts, kept): (&Vec<f64>, &bool)| {
            if !kept {
                return Vec::new();
            }
            let left = &self.left(counts, shape.noise);
            let of_value = counts.chunks_exact(secrets).flat_map(|counts| {
                let share = (counts.iter().sum::<f64>() + 0.5) / (total + 0.5);
                let of_secret = counts.iter().zip(&self.rows).zip(left);
                of_secret.map(move |((count, rows), left)| {
                    let own = (count + BORROWED * share) / (rows + BORROWED);
                    (left * own + (1.0 - left) * share).ln() - share.ln()
                })
            });
            of_value.collect()
        };
        self.counts.iter().zip(kept).map(term).collect()
    }
}

/// Gives so many neighboring values the mean of their counts.
fn merge(counts: &mut [f64], secrets: usize, merged: usize) {
    for group in counts.chunks_mut(secrets * merged) {
        for secret in 0..secrets {
            let places = || (secret..group.len()).step_by(secrets);
            let mean = places().map(|at| group[at]).sum::<f64>() / merged as f64;
            places().for_each(|at| group[at] = mean);
        }
    }
}

impl Scorer for Additive {
    fn name(&self) -> &str {
        match self.view {
            View::Bits => "bits",
            View::Columns | View::Steps => "additive",
        }
    }

    fn memorizes(&self) -> bool {
        false
    }

    /// The values of all terms that were kept but one a term; columns that share a term learn it once.
    fn freedom(&self) -> f64 {
        let values = self
            .terms
            .iter()
            .map(|term| term.len() / self.secrets.max(1));
        let free = values.map(|values| values.saturating_sub(1) as f64);
        match self.shape.is_shared {
            true => free.fold(0.0, f64::max),
            false => free.sum(),
        }
    }

    fn parameters(&self) -> Parameters {
        let terms = self.kept().iter().filter(|kept| **kept).count();
        parameters([
            ("view", Parameter::Word(self.view.name().into())),
            ("bins", Parameter::Count(self.shape.bins as u64)),
            ("terms", Parameter::Count(terms as u64)),
            ("shared", Parameter::Count(u64::from(self.shape.is_shared))),
        ])
    }

    fn description(&self) -> String {
        let terms = self.kept().iter().filter(|kept| **kept).count();
        let what = match self.view {
            View::Columns => "columns one by one",
            View::Steps => "differences of neighboring columns",
            View::Bits => "columns and the lowest bits of their numbers",
        };
        let shared = if self.shape.is_shared {
            ", one for all"
        } else {
            ""
        };
        let bins = self.shape.bins;
        format!("sum of {terms} terms{shared}: {what}, numbers in at most {bins} bins")
    }

    fn is_portable(&self) -> bool {
        true
    }

    fn score(&self, observations: &Observations, ids: &[u32], scores: &mut [f64]) {
        for (&symbol, row) in ids.iter().zip(scores.chunks_mut(self.secrets)) {
            row.fill(0.0);
            for (feature, term) in self.features.iter().zip(&self.terms) {
                if !term.is_empty() {
                    add(term, feature.of(observations, symbol), row);
                }
            }
        }
    }

    /// Bins, values and which terms there are stay.
    fn refit(&self, observations: &Observations, fit: &Counts) -> Result<Arc<dyn Scorer>, String> {
        let coded = code(&self.features, observations, fit);
        let tables = Tables::new(&self.features, &coded, fit.rows(), self.shape);
        let features = self.features.clone();
        Ok(Arc::new(Self::of(
            self.view,
            features,
            self.shape,
            &tables,
            &self.kept(),
        )))
    }
}
