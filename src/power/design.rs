//! What is simulated: the rows of each secret, the pair that leaks, what is claimed.

use crate::audit::{AuditOptions, Planted};
use leakgauge_attack::pairwise::ErrorRates;
use leakgauge_base::error::{Error, Result};
use leakgauge_base::naming::option;
use leakgauge_exact::claim::{BoundClaim, Guarantee, Leak, Terms};
use leakgauge_log::Log;
use leakgauge_log::observations::ColumnType;
use leakgauge_stats::random::{Digest, Randomness};

/// The rows of each secret, which two leak, and how the log is audited.
pub(super) struct Design<'a> {
    pub leak: Leak,
    pub labels: Vec<String>,
    /// Rows of each secret.
    pub rows: Vec<u64>,
    /// Rows of each secret in a log to learn on, if there is one.
    pub fit_rows: Option<Vec<u64>>,
    /// The two secrets that leak.
    pub pair: [usize; 2],
    /// The probability of their own outcomes.
    pub rate: f64,
    /// What rows show.
    pub planted: Planted,
    /// How often each label of the log came, where labels are drawn: either secret has a half of the labels as its own, in which
    /// they keep these proportions.
    pub alphabet: Vec<f64>,
    /// The δ at which an ε is meant.
    pub delta: f64,
    /// Of each claim, whether a log that violates it shows the leak.
    pub shows: Vec<bool>,
    pub options: &'a AuditOptions,
}

impl<'a> Design<'a> {
    /// Secrets with these numbers of rows.
    ///
    /// # Errors
    /// Claims that do not fit the labels; a leak that violates none of them; a claim on times.
    pub fn new(
        labels: Vec<String>,
        rows: Vec<u64>,
        leak: Leak,
        options: &'a AuditOptions,
    ) -> Result<Self> {
        let claims = BoundClaim::bind_all(&options.claims, &labels, &[])?;
        refuse_times(&claims)?;
        let delta = least_delta(&claims);
        let rate = leak.rate(delta);
        let same_kind = |claim: &BoundClaim| is_of_kind(claim, leak.is_of_privacy());
        let any = |_: &BoundClaim| true;
        let kinds: [&dyn Fn(&BoundClaim) -> bool; 2] = [&same_kind, &any];
        // A claim on another figure may be violated by far smaller leaks: it counts where no claim is on this one.
        let found = kinds.into_iter().find_map(|is_kind| {
            let counted: Vec<&BoundClaim> = claims.iter().filter(|claim| is_kind(claim)).collect();
            let pair = leaking_pair(&labels, &rows, &counted, rate, options)?;
            let shows = |claim: &BoundClaim| is_kind(claim) && is_violated(claim, pair, rate);
            Some((pair, claims.iter().map(shows).collect()))
        });
        let (pair, shows) = found.ok_or_else(|| no_leak(&leak, &claims))?;
        Ok(Design {
            leak,
            labels,
            rows,
            fit_rows: None,
            pair,
            rate,
            planted: Planted::TwoOutcomes,
            alphabet: Vec::new(),
            delta,
            shows,
            options,
        })
    }

    /// The random numbers that logs of this design are drawn with: other designs have others.
    pub fn randomness(&self) -> Randomness {
        let [a, b] = self.pair.map(|secret| secret as u64);
        let fit_rows = self.fit_rows.iter().flatten().copied();
        let digest = Digest::EMPTY.with_all([a, b, self.rate.to_bits()]);
        let columns = match self.planted {
            Planted::Numbers { columns } => columns as u64,
            Planted::Labels | Planted::TwoOutcomes => 0,
        };
        let alphabet = self.alphabet.iter().map(|share| share.to_bits());
        let alphabet = alphabet.chain((columns > 0).then_some(columns));
        let digest = digest
            .with_all(alphabet)
            .with_all(self.rows.iter().copied())
            .with_all(fit_rows);
        Randomness::new(self.options.seed, digest)
    }

    /// The secrets of a log.
    ///
    /// # Errors
    /// Those of [`Design::new`].
    pub fn of_log(log: &Log, leak: Leak, options: &'a AuditOptions) -> Result<Self> {
        let rows = log.counts.rows().to_vec();
        let fit_rows = log.fit_counts.as_ref().map(|fit| fit.rows().to_vec());
        let alphabet = alphabet(log);
        Ok(Design {
            fit_rows,
            planted: planted(log, &alphabet, leak, options),
            alphabet,
            ..Design::new(log.secrets.clone(), rows, leak, options)?
        })
    }
}

/// Cells of numbers of a log, at most, whose like are drawn: an audit of more takes too long to be made hundreds of times.
const MOST_CELLS: usize = 300_000;

/// What rows of a log like this one show. Whole numbers that recur are near each other, so that a leak in them is like one of
/// two outcomes; of others the tails matter, and an attack must find where they begin.
/// A claim on another figure may allow noise with the leak that two outcomes with it violate.
fn planted(log: &Log, alphabet: &[f64], leak: Leak, options: &AuditOptions) -> Planted {
    let is_claimed = options.claims.iter().any(|claim| leak.is_of_figure(claim));
    let observations = &log.observations;
    let mut columns = observations.columns().iter();
    let are_numbers = columns.all(|column| column.kind == ColumnType::Numeric);
    let (rows, columns) = (log.counts.total() as usize, observations.columns().len());
    let rows = rows
        + log
            .fit_counts
            .as_ref()
            .map_or(0, |fit| fit.total() as usize);
    let hardly_recur = 2 * observations.len() > rows;
    match is_claimed && are_numbers && hardly_recur && rows.saturating_mul(columns) <= MOST_CELLS {
        true => Planted::Numbers { columns },
        false if alphabet.is_empty() => Planted::TwoOutcomes,
        false => Planted::Labels,
    }
}

/// The frequencies of the labels of a log. A leak may be in all of them, which takes far more rows to show than one in two.
fn alphabet(log: &Log) -> Vec<f64> {
    let observations = &log.observations;
    // Where nothing was observed, no leak can be.
    if observations.len() == 1 {
        return vec![1.0];
    }
    let mut columns = observations.columns().iter();
    let are_labels = columns.all(|column| column.kind == ColumnType::Categorical);
    if !are_labels || observations.len() == 2 {
        return Vec::new();
    }
    let mut frequencies = vec![0.0; observations.len()];
    for cell in log.counts.cells() {
        frequencies[cell.symbol as usize] += cell.count as f64;
    }
    frequencies.retain(|frequency| *frequency > 0.0);
    frequencies
}

fn refuse_times(claims: &[BoundClaim]) -> Result<()> {
    let is_time = |claim: &&BoundClaim| matches!(claim.terms(), Terms::TimeDifference(_));
    match claims.iter().find(is_time) {
        None => Ok(()),
        Some(claim) => Err(Error::parameter(
            claim.claim().to_string(),
            "how many blocks a claim on times needs depends on their noise and is not simulated",
        )
        .with_hint("the report of a first log says how wide its limits are; four times the blocks make them half as wide")),
    }
}

fn no_leak(leak: &Leak, claims: &[BoundClaim]) -> Error {
    if claims.is_empty() {
        return Error::parameter(
            option("claim"),
            "nothing is claimed, so nothing can be violated",
        );
    }
    let claims: Vec<String> = claims
        .iter()
        .map(|claim| claim.claim().to_string())
        .collect();
    Error::parameter(
        leak.to_string(),
        format!(
            "such a leak violates no claim: {} permits it",
            claims.join(" or ")
        ),
    )
    .with_hint("name a leak that is larger than what is claimed")
}

/// The least δ of a claim, at which an ε is the least leak.
fn least_delta(claims: &[BoundClaim]) -> f64 {
    let delta = |claim: &BoundClaim| match claim.privacy()?.between(0, 1) {
        Guarantee::Dp { delta, .. } => Some(delta),
        Guarantee::Gaussian { .. } | Guarantee::Concentrated { .. } | Guarantee::Renyi { .. } => {
            None
        }
    };
    claims
        .iter()
        .filter_map(delta)
        .reduce(f64::min)
        .unwrap_or(0.0)
}

/// Of the pairs at which such a leak violates a claim, the one whose rarer secret has the fewest rows, then whose
/// other secret has; the first of equals.
fn leaking_pair(
    labels: &[String],
    rows: &[u64],
    claims: &[&BoundClaim],
    rate: f64,
    options: &AuditOptions,
) -> Option<[usize; 2]> {
    let is_neighbor = |a: usize, b: usize| {
        let given = &options.neighbors;
        let is = |pair: &[String; 2]| {
            let [x, y] = pair;
            (*x == labels[a] && *y == labels[b]) || (*x == labels[b] && *y == labels[a])
        };
        given.is_empty() || given.iter().any(is)
    };
    let candidates = (0..labels.len()).flat_map(|b| (0..b).map(move |a| [a, b]));
    candidates
        .filter(|&[a, b]| rows[a] > 0 && rows[b] > 0)
        .filter(|&[a, b]| {
            claims.iter().any(|claim| {
                let is_of_neighbors = matches!(claim.terms(), Terms::Privacy(_) | Terms::Curve(_));
                (!is_of_neighbors || is_neighbor(a, b)) && is_violated(claim, [a, b], rate)
            })
        })
        .min_by_key(|&[a, b]| (rows[a].min(rows[b]), rows[a].max(rows[b]), a, b))
}

/// Whether a claim is on privacy, or on total variation; one of a mechanism is on both.
fn is_of_kind(claim: &BoundClaim, is_of_privacy: bool) -> bool {
    match claim.terms() {
        Terms::Privacy(_) | Terms::Curve(_) => is_of_privacy,
        Terms::BayesSecurity { .. } | Terms::Advantage { .. } | Terms::AttackAdvantage { .. } => {
            !is_of_privacy
        }
        Terms::Mechanism(_) => true,
        Terms::Overall { .. } | Terms::TimeDifference(_) => false,
    }
}

/// Whether two secrets with two outcomes violate a claim.
fn is_violated(claim: &BoundClaim, [a, b]: [usize; 2], rate: f64) -> bool {
    let total_variation = 2.0 * rate - 1.0;
    let rates = ErrorRates {
        missed: 1.0 - rate,
        false_alarm: 1.0 - rate,
    };
    // Rates are rounded: a leak of just the size that is claimed violates nothing.
    let exceeds = |leak: f64, allowed: f64| leak > allowed * (1.0 + 1e-9) + 1e-12;
    match claim.terms() {
        Terms::Privacy(promise) => {
            let allowed = promise.between(a, b);
            exceeds(rates.at_least(allowed.quantity()), allowed.parameter())
        }
        Terms::Curve(curve) => {
            let mut points = curve.points().iter();
            points.any(|&(epsilon, delta)| exceeds(rates.epsilon_at_least(delta), epsilon))
        }
        Terms::BayesSecurity { at_least } => exceeds(total_variation, 1.0 - at_least),
        Terms::Advantage { at_most } | Terms::AttackAdvantage { at_most } => {
            exceeds(total_variation, *at_most)
        }
        Terms::Mechanism(mechanism) => {
            exceeds(total_variation, mechanism.total_variation(a, b))
                || exceeds(rates.epsilon_at_least(0.0), mechanism.epsilon())
        }
        Terms::Overall { figure, at_most } => {
            exceeds(total_variation, figure.largest_total_variation(*at_most))
        }
        Terms::TimeDifference(_) => false,
    }
}
