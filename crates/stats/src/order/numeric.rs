//! Tests of order for numbers, by their ranks within the secret.

use super::{BySecret, OrderTest, two_sided};

/// Mid-ranks less their mean, with the sums of their squares and fourth powers.
struct Scores {
    values: Vec<f64>,
    squares: f64,
    fourths: f64,
}

impl Scores {
    fn new(values: impl Iterator<Item = f64>) -> Self {
        let values: Vec<f64> = values.collect();
        assert!(values.iter().all(|x| !x.is_nan()), "a value is NaN");
        let n = values.len();
        let mut order: Vec<u32> = (0..n as u32).collect();
        order.sort_unstable_by(|&i, &j| {
            let (a, b) = (values[i as usize], values[j as usize]);
            a.partial_cmp(&b).unwrap_or(std::cmp::Ordering::Equal)
        });
        let mut scores = vec![0.0; n];
        let (mut squares, mut fourths, mut below) = (0.0, 0.0, 0);
        for tied in order.chunk_by(|&i, &j| values[i as usize] == values[j as usize]) {
            // Mid-rank − (n+1)/2, exact in halves.
            let score = below as f64 + 0.5 * (tied.len() as f64 - n as f64);
            for &i in tied {
                scores[i as usize] = score;
            }
            let square = score * score;
            squares += tied.len() as f64 * square;
            fourths += tied.len() as f64 * square * square;
            below += tied.len();
        }
        Scores {
            values: scores,
            squares,
            fourths,
        }
    }

    fn len(&self) -> f64 {
        self.values.len() as f64
    }

    /// E d₁²d₂², E d₁d₂²d₃ and E d₁d₂d₃d₄ over orders, for scores of unit variance. Those that
    /// need more rows than there are come out as 0.
    fn fourth_order_means(&self) -> [f64; 3] {
        let n = self.len();
        let fourths = self.fourths * n * n / (self.squares * self.squares);
        let over = |sum: f64, orders: f64| if orders > 0.0 { sum / orders } else { 0.0 };
        let (two, three) = (n * (n - 1.0), n * (n - 1.0) * (n - 2.0));
        [
            over(n * n - fourths, two),
            over(2.0 * fourths - n * n, three),
            over(3.0 * n * n - 6.0 * fourths, three * (n - 3.0)),
        ]
    }
}

/// The rows of each secret with their mid-ranks among them.
struct Ranks<'a> {
    secrets: &'a [u32],
    rows: BySecret,
    scores: Vec<Scores>,
}

impl<'a> Ranks<'a> {
    /// # Panics
    /// If the slices differ in length, a secret is not below `n_secrets` or a value is NaN.
    fn new(secrets: &'a [u32], values: &[f64], n_secrets: usize) -> Self {
        assert_eq!(secrets.len(), values.len(), "one value per secret");
        let rows = BySecret::new(secrets, n_secrets);
        let scores = rows.iter().map(|rows| rows.iter().map(|&row| values[row]));
        Ranks {
            scores: scores.map(Scores::new).collect(),
            secrets,
            rows,
        }
    }
}

/// What [`rank_autocorrelation`], [`neighbor_correlation`] and [`drift`] say, the values ranked once.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct NumericTests {
    /// Successive values of a secret.
    pub serial: OrderTest,
    /// Neighboring rows, whichever secrets they have.
    pub across: OrderTest,
    /// Value and position.
    pub trend: OrderTest,
}

/// All three tests of numbers.
///
/// # Panics
/// As [`rank_autocorrelation`].
pub fn numeric_tests(secrets: &[u32], values: &[f64], n_secrets: usize) -> NumericTests {
    let ranks = Ranks::new(secrets, values, n_secrets);
    NumericTests {
        serial: ranks.autocorrelation(),
        across: ranks.neighbor_correlation(),
        trend: ranks.drift(),
    }
}

/// Are successive values of one secret correlated? Lag-1 serial correlation of the ranks within
/// each secret's own rows, pooled.
///
/// # Formula
/// For a secret with n rows and centered mid-ranks d: r = Σ d_i d_{i+1} / Σ d². Under the null
/// hypothesis r has mean −1/n, and its exact variance follows from the second and fourth moments of
/// d. Pooled with weights n: correlation = Σ n (r + 1/n) / Σ n.
///
/// # Conditions
/// Null hypothesis: the rows of each secret are exchangeable, and secrets independent of each
/// other. Secrets with one value or fewer than 2 rows add nothing. A slow disturbance shared by
/// all secrets shows; one that lasts a few rows among many interleaved secrets is seen by
/// [`neighbor_correlation`] only.
///
/// # References
/// Wald and Wolfowitz (1943), 10.1214/aoms/1177731358 (the circular statistic; this one is open).
///
/// # Panics
/// If the slices differ in length, a secret is not below `n_secrets` or a value is NaN.
pub fn rank_autocorrelation(secrets: &[u32], values: &[f64], n_secrets: usize) -> OrderTest {
    Ranks::new(secrets, values, n_secrets).autocorrelation()
}

/// Are neighboring rows of the log correlated, whichever secrets they have? Values are ranked
/// within their secret first, so that what the secret does to the value is removed.
///
/// # Formula
/// With u the mid-ranks of a row within its secret, centered and of unit variance: the mean of
/// u_i u_{i+1} over neighboring rows, less its expectation (−1/(n_s − 1) where both rows have
/// secret s, else 0). The variance over all orders within the secrets is exact: it counts how often
/// the same two secrets are neighbors.
///
/// # Conditions
/// Null hypothesis: given the order of the secrets, the values of each secret are exchangeable and
/// those of different secrets independent.
///
/// # Panics
/// As [`rank_autocorrelation`].
pub fn neighbor_correlation(secrets: &[u32], values: &[f64], n_secrets: usize) -> OrderTest {
    Ranks::new(secrets, values, n_secrets).neighbor_correlation()
}

/// Mid-ranks within the secret, centered and of unit variance; 0 where a secret has one value only.
pub(super) fn unit_scores(secrets: &[u32], values: &[f64], n_secrets: usize) -> Vec<f64> {
    Ranks::new(secrets, values, n_secrets).unit_scores()
}

/// How the unit scores of one secret are distributed over orders.
struct SecretLaw {
    rows: f64,
    kurtosis: f64,
    means: [f64; 3],
}

impl SecretLaw {
    /// None where a secret has one value only.
    fn new(law: &Scores) -> Option<Self> {
        let n = law.len();
        (law.squares > 0.0).then(|| SecretLaw {
            rows: n,
            kurtosis: n * law.fourths / (law.squares * law.squares),
            means: law.fourth_order_means(),
        })
    }
}

/// What pairs that share a row add to the variance beyond what [`add_pairs`] takes for any two
/// pairs of the same secrets.
fn add_triples(pool: &mut Pool, secrets: &[u32], laws: &[Option<SecretLaw>]) {
    for triple in secrets.windows(3).filter(|triple| triple[0] == triple[2]) {
        let (Some(outer), Some(inner)) = (&laws[triple[0] as usize], &laws[triple[1] as usize])
        else {
            continue;
        };
        pool.variance += if triple[0] == triple[1] {
            2.0 * (outer.means[1] - outer.means[2])
        } else {
            -2.0 * inner.rows / ((outer.rows - 1.0) * (inner.rows - 1.0))
        };
    }
}

/// Mean and variance by pairs of neighboring secrets.
fn add_pairs(pool: &mut Pool, secrets: &[u32], laws: &[Option<SecretLaw>]) {
    let mut types: Vec<(u32, u32)> = secrets
        .windows(2)
        .map(|pair| (pair[0].min(pair[1]), pair[0].max(pair[1])))
        .collect();
    types.sort_unstable();
    for equal in types.chunk_by(|a, b| a == b) {
        let (first, second) = equal[0];
        let (Some(a), Some(b)) = (&laws[first as usize], &laws[second as usize]) else {
            continue;
        };
        let pairs = equal.len() as f64;
        if first == second {
            let mean = -pairs / (a.rows - 1.0);
            pool.statistic -= mean;
            pool.variance += pairs * a.means[0] + pairs * (pairs - 1.0) * a.means[2] - mean * mean;
        } else {
            pool.variance += pairs + pairs * (pairs - 1.0) / ((a.rows - 1.0) * (b.rows - 1.0));
        }
        pool.fourths += pairs * a.kurtosis * b.kurtosis;
        pool.terms += pairs;
    }
}

/// A centered sum with what its law needs.
#[derive(Default)]
struct Pool {
    statistic: f64,
    variance: f64,
    fourths: f64,
    terms: f64,
}

impl Pool {
    fn test(&self) -> OrderTest {
        if self.variance <= 1e-12 * self.terms {
            return OrderTest {
                correlation: 0.0,
                z: 0.0,
                p_value: 1.0,
            };
        }
        let z = self.statistic / self.variance.sqrt();
        OrderTest {
            correlation: self.statistic / self.terms,
            z,
            p_value: two_sided(z, self.fourths / (self.variance * self.variance)),
        }
    }
}

/// Do the values of a secret drift? Rank correlation of value and position within each secret's
/// own rows, pooled.
///
/// # Formula
/// Spearman's r for each secret, with mid-ranks; variance 1/(n − 1) exactly under the null
/// hypothesis. Pooled with weights n − 1: z = Σ (n−1) r / √Σ (n−1).
///
/// # Conditions
/// Null hypothesis: as [`rank_autocorrelation`]. Sees a trend that goes one way; a disturbance that
/// comes and goes is left to the autocorrelations. The normal tail is on the safe side with ties,
/// where the statistic has lighter tails.
///
/// # References
/// Spearman (1904), 10.2307/1412159; Hoeffding (1951), 10.1214/aoms/1177729545 (normal limit).
///
/// # Panics
/// As [`rank_autocorrelation`].
pub fn drift(secrets: &[u32], values: &[f64], n_secrets: usize) -> OrderTest {
    Ranks::new(secrets, values, n_secrets).drift()
}

impl Ranks<'_> {
    fn autocorrelation(&self) -> OrderTest {
        let mut pool = Pool::default();
        for scores in self.scores.iter().filter(|scores| scores.squares != 0.0) {
            let n = scores.len();
            let product: f64 = scores.values.windows(2).map(|pair| pair[0] * pair[1]).sum();
            // n(n−1)(n−2) and n(n−1)(n−2)(n−3) cancel against the numbers of pairs of pairs.
            let kurtosis = n * scores.fourths / (scores.squares * scores.squares);
            let variance = n - kurtosis + (n - 2.0 * kurtosis) / (n - 1.0) - 1.0;
            pool.statistic += product / scores.squares * n + 1.0;
            pool.variance += variance;
            pool.fourths += n * kurtosis * kurtosis;
            pool.terms += n;
        }
        pool.test()
    }

    fn neighbor_correlation(&self) -> OrderTest {
        let scores = self.unit_scores();
        let laws: Vec<Option<SecretLaw>> = self.scores.iter().map(SecretLaw::new).collect();
        let mut pool = Pool {
            statistic: scores.windows(2).map(|pair| pair[0] * pair[1]).sum(),
            ..Pool::default()
        };
        add_triples(&mut pool, self.secrets, &laws);
        add_pairs(&mut pool, self.secrets, &laws);
        pool.test()
    }

    fn unit_scores(&self) -> Vec<f64> {
        let mut scores = vec![0.0; self.secrets.len()];
        for (rows, law) in self.rows.iter().zip(&self.scores) {
            if law.squares > 0.0 {
                let scale = (law.len() / law.squares).sqrt();
                for (&row, score) in rows.iter().zip(&law.values) {
                    scores[row] = scale * score;
                }
            }
        }
        scores
    }

    fn drift(&self) -> OrderTest {
        let mut pool = Pool::default();
        for scores in self.scores.iter().filter(|scores| scores.squares != 0.0) {
            let n = scores.len();
            let middle = 0.5 * (n - 1.0);
            let positions = (0..scores.values.len()).map(|i| i as f64 - middle);
            let product: f64 = positions.zip(&scores.values).map(|(i, d)| i * d).sum();
            let spread = n * (n * n - 1.0) / 12.0;
            pool.statistic += (n - 1.0) * product / (scores.squares * spread).sqrt();
            pool.variance += n - 1.0;
            pool.terms += n - 1.0;
        }
        pool.test()
    }
}
