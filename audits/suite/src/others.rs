//! The rest of DP-Sniper's mechanisms, all with noise for ε = 0.1.

use rand::RngExt;
use rand_chacha::ChaCha8Rng;

use crate::mechanisms::{Mechanism, laplace, nearer_to_one, number, printed, rounded};
use crate::svt::{INPUTS, Svt3, Transcripts};

type Features = fn(&[String]) -> Vec<f64>;

/// A mechanism that is described by its functions.
struct Other {
    name: &'static str,
    claim: &'static str,
    truth: fn() -> f64,
    sample: fn(bool, &mut ChaCha8Rng) -> Vec<String>,
    ratio: Option<fn(&[String]) -> f64>,
    features: Option<Features>,
}

impl Mechanism for Other {
    fn name(&self) -> &'static str {
        self.name
    }

    fn claim(&self) -> &'static str {
        self.claim
    }

    fn truth(&self) -> f64 {
        (self.truth)()
    }

    fn sample(&self, second: bool, rng: &mut ChaCha8Rng) -> Vec<String> {
        (self.sample)(second, rng)
    }

    fn ratio(&self, output: &[String]) -> Option<f64> {
        self.ratio.map(|ratio| ratio(output))
    }

    fn features(&self, output: &[String]) -> Vec<f64> {
        match self.features {
            Some(features) => features(output),
            None => output.iter().map(|cell| number(cell)).collect(),
        }
    }
}

/// A mechanism of numbers without a likelihood ratio of simple form.
fn of_numbers(
    name: &'static str,
    truth: fn() -> f64,
    sample: fn(bool, &mut ChaCha8Rng) -> Vec<String>,
) -> Other {
    Other {
        name,
        claim: "ldp(epsilon=0.1)",
        truth,
        sample,
        ratio: None,
        features: None,
    }
}

/// All of them.
pub fn all() -> Vec<Box<dyn Mechanism>> {
    let others = [
        Other {
            ratio: Some(|output| histogram_ratio(output, 10.0)),
            ..of_numbers(
                "noisy histogram (0.1)",
                || 0.1,
                |b, rng| histogram(b, 10.0, rng),
            )
        },
        Other {
            ratio: Some(|output| histogram_ratio(output, 0.1)),
            ..of_numbers(
                "noisy histogram, scale ε (0.1)",
                || 10.0,
                |b, rng| histogram(b, 0.1, rng),
            )
        },
        Other {
            ratio: Some(index_ratio),
            features: Some(index_features),
            ..of_numbers(
                "noisy max, Laplace (0.1)",
                || index_truth(laplace_law),
                |b, rng| index(b, |rng| 20.0 * laplace(rng), rng),
            )
        },
        Other {
            ratio: Some(index_ratio),
            features: Some(index_features),
            ..of_numbers(
                "noisy max, exponential (0.1)",
                || index_truth(exponential_law),
                |b, rng| index(b, |rng| 20.0 * exponential(rng), rng),
            )
        },
        of_numbers(
            "noisy max returning the value, exponential (0.1)",
            || f64::INFINITY,
            |b, rng| {
                let noisy = (0..5).map(|_| f64::from(u8::from(b)) + 20.0 * exponential(rng));
                printed([noisy.fold(f64::MIN, f64::max)])
            },
        ),
        Other {
            ratio: Some(geometric_ratio),
            ..of_numbers("truncated geometric (0.1)", || 0.1, geometric)
        },
        Other {
            ratio: Some(rappor_ratio),
            ..of_numbers("RAPPOR, 20 bits (0.4)", rappor_truth, rappor)
        },
        of_numbers("numerical SVT (0.1)", numerical_truth, numerical),
        Other {
            features: Some(parallel_features),
            ..of_numbers(
                "SVT3 and SVT4 in parallel (0.1)",
                || f64::INFINITY,
                parallel,
            )
        },
    ];
    let boxed = |other| Box::new(other) as Box<dyn Mechanism>;
    others.into_iter().map(boxed).collect()
}

/// An exponential variable of scale 1.
fn exponential(rng: &mut ChaCha8Rng) -> f64 {
    -(1.0 - rng.random::<f64>()).ln()
}

/// Five counts of one; the first is two for input b.
fn histogram(second: bool, scale: f64, rng: &mut ChaCha8Rng) -> Vec<String> {
    let first = 1.0 + f64::from(u8::from(second));
    let counts = [first, 1.0, 1.0, 1.0, 1.0];
    printed(counts.map(|count| count + scale * laplace(rng)))
}

fn histogram_ratio(output: &[String], scale: f64) -> f64 {
    nearer_to_one(number(&output[0]) - 1.0) / scale
}

/// Five numbers, each of which differs by one between the inputs.
const NUMBERS: [[f64; 5]; 2] = [[0.0, 1.0, 1.0, 1.0, 1.0], [1.0, 0.0, 0.0, 0.0, 0.0]];

fn index(
    second: bool,
    mut noise: impl FnMut(&mut ChaCha8Rng) -> f64,
    rng: &mut ChaCha8Rng,
) -> Vec<String> {
    let mut best = (0, f64::MIN);
    for (at, number) in NUMBERS[usize::from(second)].into_iter().enumerate() {
        let noisy = number + noise(rng);
        if noisy > best.1 {
            best = (at, noisy);
        }
    }
    vec![best.0.to_string()]
}

/// Distribution function and quantile of noise of scale 20.
type Law = (fn(f64) -> f64, fn(f64) -> f64);

fn laplace_law() -> Law {
    let below = |x: f64| {
        if x < 0.0 {
            0.5 * (x / 20.0).exp()
        } else {
            1.0 - 0.5 * (-x / 20.0).exp()
        }
    };
    let quantile = |u: f64| {
        if u < 0.5 {
            20.0 * (2.0 * u).ln()
        } else {
            -20.0 * (2.0 - 2.0 * u).ln()
        }
    };
    (below, quantile)
}

fn exponential_law() -> Law {
    (
        |x| if x > 0.0 { -(-x / 20.0).exp_m1() } else { 0.0 },
        |u| -20.0 * (-u).ln_1p(),
    )
}

/// The probabilities that each number is the largest, by quadrature over its own noise.
fn index_law(second: bool, law: fn() -> Law) -> [f64; 5] {
    const STEPS: u32 = 20_000;
    let (below, quantile) = law();
    let numbers = NUMBERS[usize::from(second)];
    let mut shares = [0.0; 5];
    for (at, share) in shares.iter_mut().enumerate() {
        for step in 0..STEPS {
            let value = numbers[at] + quantile((f64::from(step) + 0.5) / f64::from(STEPS));
            let others = numbers.iter().enumerate().filter(|(other, _)| *other != at);
            *share += others
                .map(|(_, other)| below(value - other))
                .product::<f64>()
                / f64::from(STEPS);
        }
    }
    shares
}

fn index_ratios(law: fn() -> Law) -> [f64; 5] {
    let laws = [false, true].map(|second| index_law(second, law));
    std::array::from_fn(|at| (laws[0][at] / laws[1][at]).ln())
}

fn index_truth(law: fn() -> Law) -> f64 {
    index_ratios(law)
        .into_iter()
        .map(f64::abs)
        .fold(0.0, f64::max)
}

/// By the first index or another: the four others are alike.
fn index_ratio(output: &[String]) -> f64 {
    if output[0] == "0" { -1.0 } else { 1.0 }
}

fn index_features(output: &[String]) -> Vec<f64> {
    (0..5)
        .map(|at| f64::from(u8::from(output[0] == at.to_string())))
        .collect()
}

/// Two or three with two-sided geometric noise, cut to 0 to 5.
fn geometric(second: bool, rng: &mut ChaCha8Rng) -> Vec<String> {
    let one_sided = |rng: &mut ChaCha8Rng| (exponential(rng) / 0.1).floor();
    let value = 2.0 + f64::from(u8::from(second)) + one_sided(rng) - one_sided(rng);
    printed([value.clamp(0.0, 5.0)])
}

fn geometric_ratio(output: &[String]) -> f64 {
    let x = number(&output[0]);
    0.1 * ((x - 3.0).abs() - (x - 2.0).abs())
}

/// 20 bits, four hashes, f = 3/4, p = 0.45, q = 0.55: probabilities of a 1 where the bit is set and where it is not.
const RAPPOR: [f64; 2] = [0.5125, 0.4875];
const RAPPOR_SETS: [[usize; 4]; 2] = [[0, 5, 9, 14], [0, 3, 7, 18]];

/// Six bits differ.
fn rappor_truth() -> f64 {
    let [set, unset] = RAPPOR;
    3.0 * (set * (1.0 - unset) / (unset * (1.0 - set))).ln()
}

fn rappor(second: bool, rng: &mut ChaCha8Rng) -> Vec<String> {
    let set = RAPPOR_SETS[usize::from(second)];
    let bit = |at: usize| {
        let one = RAPPOR[usize::from(!set.contains(&at))];
        u8::from(rng.random_bool(one)).to_string()
    };
    (0..20).map(bit).collect()
}

fn rappor_ratio(output: &[String]) -> f64 {
    let of = |at: usize| {
        let bit = 2.0 * number(&output[at]) - 1.0;
        let is_in = |input: usize| f64::from(u8::from(RAPPOR_SETS[input].contains(&at)));
        bit * (is_in(0) - is_in(1))
    };
    (0..20).map(of).sum()
}

/// The technique that answers a query above the threshold with fresh noise, and stops.
const NUMERICAL: Transcripts = Transcripts {
    name: "",
    claim: "",
    scales: [30.0, 60.0],
    stops: true,
};

fn numerical_truth() -> f64 {
    let laws = [0, 1].map(|input| NUMERICAL.probabilities(input));
    let ratios = laws[0].iter().zip(&laws[1]);
    let ratios = ratios.map(|(a, b)| {
        // A number tells one more part in thirty, in either direction.
        let number = if a.0.contains('T') { 1.0 / 30.0 } else { 0.0 };
        (a.1 / b.1).ln().abs() + number
    });
    ratios.fold(0.0, f64::max)
}

fn numerical(second: bool, rng: &mut ChaCha8Rng) -> Vec<String> {
    let threshold = 1.0 + 30.0 * laplace(rng);
    let mut output = vec!["-2000".to_owned(); 10];
    for (cell, query) in output.iter_mut().zip(INPUTS[usize::from(second)]) {
        if query + 60.0 * laplace(rng) >= threshold {
            *cell = rounded(query + 30.0 * laplace(rng));
            break;
        }
        *cell = "-1000".to_owned();
    }
    output
}

const THIRD: Svt3 = Svt3 { epsilon: 0.1 };

/// Two techniques on the same answers.
fn parallel(second: bool, rng: &mut ChaCha8Rng) -> Vec<String> {
    let mut output = THIRD.sample(second, rng);
    let threshold = 1.0 + 40.0 * laplace(rng);
    let mut stopped = false;
    for query in INPUTS[usize::from(second)] {
        let above = query + 40.0 / 3.0 * laplace(rng) >= threshold;
        let word = match (stopped, above) {
            (true, _) => "stop",
            (false, true) => "above",
            (false, false) => "below",
        };
        stopped |= above;
        output.push(word.to_owned());
    }
    output
}

fn parallel_features(output: &[String]) -> Vec<f64> {
    let mut features = THIRD.features(&output[..10]);
    for cell in &output[10..] {
        features.extend(["above", "below"].map(|word| f64::from(u8::from(cell == word))));
    }
    features
}
