//! Known mechanisms: how they draw an observation, and their exact leakage.
//!
//! A [`Mechanism`] is what a user writes, such as `laplace(scale=2)`. Binding it to the secrets of a log
//! ([`Mechanism::bind`]) gives a [`BoundMechanism`]. That can be sampled, and it knows the distribution of its
//! observations and the exact total variation between any two secrets.
//!
//! | name | observation under secret s | Bayes security of a, b at distance Δ |
//! | --- | --- | --- |
//! | `randomized-response` | s with weight e^ε, each other secret with weight 1 | k/(e^ε + k − 1) |
//! | `laplace` | s + Laplace(0, λ) | exp(−Δ/2λ) |
//! | `gaussian` | s + N(0, σ²) | erfc(Δ/(2√2 σ)) |
//! | `geometric` | integer o with weight e^(−ν\|o − s\|) | e^(−νΔ/2), Δ even |
//! | `truncated-geometric` | the same, folded onto the ends of a range | the same |
//! | `normalized-geometric` | the same weights on a range, normalized there | sum of two series |
//! | `exponential` | o of the range with weight e^(−ε\|o − s\|/2d) | sum of two series |
//! | `staircase` | s + staircase noise | probability of noise beyond Δ/2, twice |
//! | `discrete-gaussian` | integer o with weight e^(−(o − s)²/2σ²) | sum of two tails |
//! | `planar-laplace` | a point with density falling as e^(−d/λ) | (2/π)(Ki₁(u) + u K₀(u)), u = Δ/2λ |
//! | `planar-geometric` | a point of a grid with weight e^(−νd), normalized | exact sum |
//! | `rappor`, `oue` | k noisy bits | 2/(1 + e^(ε/2)); 1/2 + 1/(e^ε + 1) |
//! | `olh` | a hash function and the randomized hash | 1 − (1 − 1/g)(e^ε − 1)/(e^ε + g − 1) |
//! | `subset-selection` | d of the k labels | positive sum of hypergeometric terms |
//! | `hadamard-response` | a column of a Hadamard matrix | 1/2 + 1/(e^ε + 1) |
//! | `deterministic` | a function of s | 0 or 1 |
//! | `identity` | s with probability p, else a random label or a fixed word | 1 − p |
//! | `subsampled` | of a record that is used with probability q | 1 − q + q·(that of the mechanism) |
//! | `mixture` | the observation of one of two mechanisms | exact sum |
//! | `shuffled` | the histogram of n users' observations | exact sum |
//!
//! ```
//! let mechanism = leakgauge_exact::mechanism::parse("laplace(scale=2, secrets=0..9)")?;
//! let bound = mechanism.bind_declared()?;
//! assert_eq!(bound.worst_pair(), Some((0, 9)));
//! assert!((bound.bayes_security(0, 9) - (-9.0f64 / 4.0).exp()).abs() < 1e-15);
//! # Ok::<(), leakgauge_base::error::Error>(())
//! ```
//!
//! # References
//! K. Chatzikokolakis, G. Cherubin, C. Palamidessi, C. Troncoso, *Bayes Security: A Not So Average
//! Metric*, CSF 2023, section VI, doi:10.1109/CSF57540.2023.00011.

use crate::extreme::Extreme;
use std::borrow::Cow;
use std::fmt::{Debug, Display};

use rand::Rng;

use crate::profile::{Cell, Cells, Pair};
use leakgauge_base::error::{Error, Result};

mod alphabet;
mod deterministic;
mod discrete_gaussian;
mod entry;
mod exponential;
mod fixed_size;
mod gaussian;
mod geometric;
mod hadamard_response;
mod identity;
mod laplace;
mod law;
mod local_hashing;
mod location;
mod mallows;
mod mixture;
mod nearest;
mod noise_mixture;
mod normalized_geometric;
mod observed;
mod planar_geometric;
mod planar_laplace;
mod points;
mod probabilities;
mod random_allocation;
mod randomized_response;
mod ranged;
mod ranged_geometric;
mod registry;
mod replaced;
mod secrets;
mod shuffled;
mod spelling;
mod staircase;
mod subsampled;
mod subset_selection;
mod symmetric;
mod table;
mod truncated_geometric;
mod unary_encoding;
mod used;

pub use deterministic::Deterministic;
pub use discrete_gaussian::DiscreteGaussian;
use entry::Build;
pub use entry::Entry;
pub use exponential::Exponential;
pub use fixed_size::FixedSize;
pub use gaussian::Gaussian;
pub use geometric::Geometric;
pub use hadamard_response::HadamardResponse;
pub use identity::{Identity, Otherwise};
pub use laplace::{Laplace, LaplaceScale};
pub use law::Law;
pub use local_hashing::LocalHashing;
pub use location::NoiseShape;
pub use mallows::Mallows;
pub use mixture::Mixture;
pub use observed::Observed;
pub use planar_geometric::PlanarGeometric;
pub use planar_laplace::PlanarLaplace;
pub use points::Grid;
pub use probabilities::{MAX_ENTRIES, Probabilities};
pub use random_allocation::RandomAllocation;
pub use randomized_response::RandomizedResponse;
pub use ranged::Range;
pub use ranged_geometric::{Ends, RangedGeometric};
pub use registry::unknown;
pub use registry::{MECHANISMS, from_call, parse};
pub use replaced::Replaced;
pub use secrets::Secrets;
pub use shuffled::Shuffled;
pub use spelling::Spelling;
pub use staircase::Staircase;
pub use subsampled::{Subsampled, dp_sgd};
pub use subset_selection::SubsetSelection;
pub use unary_encoding::{BitNoise, UnaryEncoding};

/// The largest number of declared secrets that are listed one by one.
pub const MAX_LISTED: u64 = 10_000_000;

/// The most likelihood ratios that [`BoundMechanism::pairs`] lists.
const MAX_PAIR_CELLS: usize = 4_000_000;

/// A mechanism with its parameters, not yet bound to secrets. `Display` writes it in the
/// grammar that [`parse`] reads.
pub trait Mechanism: Debug + Display + Send + Sync {
    /// The labels of the secrets that the parameters declare (`secrets=10`, `secrets=0..9`), if they do. There can
    /// be too many for memory: check [`Mechanism::declared_count`] first.
    fn declared_secrets(&self) -> Option<Vec<String>>;

    /// The number of secrets that the parameters declare, if they do.
    fn declared_count(&self) -> Option<u64> {
        self.declared_secrets().map(|labels| labels.len() as u64)
    }

    /// The same as a range of whole numbers, if the secrets are one and need not be listed.
    fn declared_range(&self) -> Option<Secrets> {
        None
    }

    /// Binds the mechanism to the labels of secrets.
    ///
    /// # Errors
    /// The mechanism cannot take a label, such as a word where it needs a number or a secret that the parameters
    /// exclude.
    fn bind(&self, labels: &[String]) -> Result<Box<dyn BoundMechanism>>;

    /// Binds the mechanism to the declared secrets, in their order.
    ///
    /// # Errors
    /// No secrets are declared, or more than [`MAX_LISTED`] and the mechanism must list them.
    fn bind_declared(&self) -> Result<Box<dyn BoundMechanism>> {
        self.bind(&listed_secrets(self)?)
    }
}

/// The labels of the declared secrets.
///
/// # Errors
/// No secrets are declared, or more than [`MAX_LISTED`].
pub fn listed_secrets<M: Mechanism + ?Sized>(mechanism: &M) -> Result<Vec<String>> {
    listed(
        mechanism.declared_count(),
        &|| mechanism.declared_secrets(),
        &|| mechanism.to_string(),
    )
}

/// What [`listed_secrets`] does, compiled once for all mechanisms.
fn listed(
    count: Option<u64>,
    labels: &dyn Fn() -> Option<Vec<String>>,
    mechanism: &dyn Fn() -> String,
) -> Result<Vec<String>> {
    if let Some(count) = count.filter(|&count| count > MAX_LISTED) {
        return Err(Error::parameter(
            mechanism(),
            format!("{count} secrets are too many to list; the limit is {MAX_LISTED}"),
        ));
    }
    labels().ok_or_else(|| {
        Error::parameter(mechanism(), "its secrets are not declared").with_hint(
            "add secrets= to the mechanism: a count, secrets=10, or a range, secrets=0..9",
        )
    })
}

/// A mechanism bound to secrets, which are numbered from 0 in the order of their labels.
///
/// # Panics
/// All methods panic on a number that is not below [`BoundMechanism::secret_count`].
pub trait BoundMechanism: Debug + Send + Sync {
    /// The number of secrets.
    fn secret_count(&self) -> usize;

    /// Exact total variation between the observations of secrets `a` and `b`.
    fn total_variation(&self, a: usize, b: usize) -> f64;

    /// 1 − total variation, computed without cancellation.
    fn bayes_security(&self, a: usize, b: usize) -> f64;

    /// The distribution of the observation under a secret.
    fn law(&self, secret: usize) -> Law;

    /// The label of the observation that another program writes so, if labels can be written so.
    fn respelled(&self, _written: &str, _spelling: Spelling) -> Option<String> {
        None
    }

    /// For a mechanism that adds noise to a number: the shape of the noise, and the numbers of the secrets.
    fn located(&self) -> Option<(NoiseShape, Cow<'_, [f64]>)> {
        None
    }

    /// For a mechanism that adds planar Laplace noise: its scale, and the points of the secrets.
    fn planar(&self) -> Option<(f64, &[[f64; 2]])> {
        None
    }

    /// For a mechanism that uses a record only with a certain probability: the mechanism that is applied, its secrets
    /// without and with the record, and that probability.
    fn subsampled(&self) -> Option<(&dyn BoundMechanism, (usize, usize), f64)> {
        None
    }

    /// For a mechanism on a batch of a fixed size, in which a record may be replaced: the mechanism that is applied, its secrets
    /// without and with the record 1, and the part of the records that is in a batch. Then [`pairs`](Self::pairs) bound all
    /// databases, and those in which all other records are alike have the pair of the mixture.
    fn fixed_size(&self) -> Option<(&dyn BoundMechanism, (usize, usize), f64)> {
        None
    }

    /// For a mechanism whose likelihood ratios are only enclosed: cells of the record, or the second secret, against none that
    /// tell at least as much, and some that tell at most as much, also of any composition.
    fn enclosing(&self) -> Option<&[Vec<Cell>; 2]> {
        None
    }

    /// For noise on a record that is used with a certain probability, or another one in its place: both, the record 1
    /// first.
    fn replaced(&self) -> Option<Pair> {
        None
    }

    /// For a mechanism on numbers: the pair of a record that counts as the secret `records.0`, and one that counts as
    /// `records.1`, if each is used with a probability and else counts as the secret `none`, which lies in the middle.
    fn replacing(&self, _records: (usize, usize), _none: usize, _rate: f64) -> Option<Pair> {
        None
    }

    /// For the histogram of users of randomized response over these secrets, all but the first with uniformly random
    /// ones: the probability of the true one, and the number of users.
    fn shuffled_response(&self) -> Option<(f64, u64)> {
        None
    }

    /// The smallest ε of local differential privacy over these secrets; may be infinite.
    fn epsilon(&self) -> f64;

    /// The names of the columns that an observation has in a log.
    fn columns(&self) -> &'static [&'static str] {
        &["observation"]
    }

    /// Draws an observation, as a log would record it: one field for each of the
    /// [columns](BoundMechanism::columns).
    fn sample(&self, secret: usize, rng: &mut dyn Rng) -> Vec<String>;

    /// As [`sample`](BoundMechanism::sample), with numbers as numbers. Both take the same randomness from `rng`
    /// and their texts are equal. The default implementation returns labels.
    fn draw(&self, secret: usize, rng: &mut dyn Rng) -> Vec<Observed> {
        let fields = self.sample(secret, rng);
        fields.into_iter().map(Observed::Label).collect()
    }

    /// The first pair (a < b) of secrets with the smallest Bayes security; `None` if there are fewer than two
    /// secrets. The default implementation examines every pair.
    fn worst_pair(&self) -> Option<(usize, usize)> {
        let n = self.secret_count();
        let pairs = (0..n).flat_map(|a| (a + 1..n).map(move |b| (a, b)));
        pairs
            .map(|(a, b)| (self.bayes_security(a, b), (a, b)))
            .min_by(|x, y| x.0.total_cmp(&y.0))
            .map(|(_, pair)| pair)
    }

    /// Multiplicative capacity over these secrets, Σ_o max_s P(o | s), in \[1, secrets\]; `None`
    /// if no exact value is known.
    fn capacity(&self) -> Option<f64> {
        None
    }

    /// The smallest δ for which (ε, δ)-differential privacy holds between all secrets; `None` if
    /// no exact value is known. At ε = 0 it is the total variation of the worst pair.
    fn delta(&self, epsilon: f64) -> Option<f64> {
        let pairs = self.pairs();
        let mut listed = pairs.iter().flatten().map(|pair| match pair {
            Pair::Cells(cells) => Some(Cells(cells).delta(epsilon)),
            _ => None,
        });
        let largest = listed.try_fold(0.0, |most, delta| Some(delta?.at_least(most)));
        match largest {
            Some(delta) if pairs.is_some() => Some(delta),
            _ => Some(self.probabilities()?.delta(epsilon)),
        }
    }

    /// The probability of every observation under every secret; `None` if there are
    /// infinitely many observations, or secrets times observations exceed [`MAX_ENTRIES`].
    fn probabilities(&self) -> Option<Probabilities> {
        None
    }

    /// Classes of observations with equal likelihood ratios, the same for every secret; `None` if the mechanism is not
    /// known to be symmetric in its secrets.
    fn likelihood_classes(&self) -> Option<Vec<LikelihoodClass>> {
        None
    }

    /// The distributions P of the observation of secret `a` and Q of that of `b`, for figures of their likelihood
    /// ratio; `None` if they are not known.
    fn pair(&self, a: usize, b: usize) -> Option<Pair> {
        let table = self.probabilities()?;
        let both = table.rows[a].iter().zip(&table.rows[b]);
        Some(Pair::Cells(both.map(|(&p, &q)| Cell::new(p, q)).collect()))
    }

    /// The ordered pairs of secrets that no other pair exceeds in any figure of its likelihood ratio; `None` if they
    /// are not known, or too many.
    fn pairs(&self) -> Option<Vec<Pair>> {
        self.probabilities()?.pairs()
    }

    /// The entries of [`BoundMechanism::probabilities`] less those of one row that all secrets share, if these
    /// differences have digits that the rounded probabilities have lost.
    fn deviations(&self) -> Option<Vec<Vec<f64>>> {
        None
    }
}

/// Observations with the same likelihood ratios between a secret, the mean of all secrets and the least likely one.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LikelihoodClass {
    /// Their probability under the secret.
    pub own: f64,
    /// Their probability under a uniformly random secret.
    pub mean: f64,
    /// The sum of their smallest probabilities under any secret.
    pub least: f64,
}
