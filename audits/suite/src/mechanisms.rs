//! Mechanisms with two neighboring inputs, a and b, as DP-Sniper and StatDP define them.
//!
//! Bichsel, Steffen, Bogunovic and Vechev 2021, doi:10.1109/SP40001.2021.00081; Ding, Wang, Wang, Zhang and Kifer
//! 2018, doi:10.1145/3243734.3243818; the sparse vector techniques after Lyu, Su and Li 2017,
//! doi:10.14778/3055330.3055331.

use leakgauge::attack::ScorerChoice;
use rand::{Rng, RngExt};
use rand_chacha::ChaCha8Rng;

/// A mechanism that is asked one of two questions.
pub trait Mechanism {
    /// Its name and parameters.
    fn name(&self) -> &'static str;
    /// The claim that it makes, or is said to make.
    fn claim(&self) -> &'static str;
    /// The δ of the claim.
    fn delta(&self) -> f64 {
        0.0
    }
    /// The attack that is asked for.
    fn attack(&self) -> ScorerChoice {
        ScorerChoice::Auto
    }
    /// The ε of the two inputs at that δ.
    fn truth(&self) -> f64;
    /// An output for input b (`second`) or a: one text a column.
    fn sample(&self, second: bool, rng: &mut ChaCha8Rng) -> Vec<String>;
    /// ln P(output | a) − ln P(output | b); `None` where it has no simple form.
    fn ratio(&self, output: &[String]) -> Option<f64>;
    /// The output as numbers, for a logistic regression.
    fn features(&self, output: &[String]) -> Vec<f64> {
        output
            .iter()
            .map(|cell| cell.parse().unwrap_or(0.0))
            .collect()
    }
}

/// Those of this file.
pub fn all() -> Vec<Box<dyn Mechanism>> {
    vec![
        Box::new(Rappor),
        Box::new(PrefixSum),
        Box::new(LaplaceParallel),
        Box::new(NoisyMaxValue),
        Box::new(RareEvent),
        Box::new(Gaussian),
        Box::new(LaplaceBits),
    ]
}

/// A Laplace variable of scale 1 by an exponential one and a sign.
pub fn laplace(rng: &mut ChaCha8Rng) -> f64 {
    let size = -(1.0 - rng.random::<f64>()).ln();
    if rng.random_bool(0.5) { size } else { -size }
}

/// With six decimals: the last bits of a sum of a number and noise would tell the number, which is no part of the
/// mechanism that is meant.
pub fn printed(numbers: impl IntoIterator<Item = f64>) -> Vec<String> {
    numbers.into_iter().map(rounded).collect()
}

pub fn rounded(number: f64) -> String {
    let rounded = (number * 1e6).round() / 1e6;
    rounded.to_string()
}

/// The difference |x − 1| − |x|, exactly ±1 outside of the two points. Subtracting would leave the last bits of x.
pub fn nearer_to_one(x: f64) -> f64 {
    1.0 - 2.0 * x.clamp(0.0, 1.0)
}

pub fn number(cell: &str) -> f64 {
    cell.parse().unwrap_or(f64::NAN)
}

/// One-time RAPPOR: 20 bits, four hashes, f = 0.95. The inputs differ in six bits.
struct Rappor;

impl Rappor {
    const A: [usize; 4] = [0, 5, 9, 14];
    const B: [usize; 4] = [0, 3, 7, 18];
    const KEEP: f64 = 0.525;
}

impl Mechanism for Rappor {
    fn name(&self) -> &'static str {
        "one-time RAPPOR, 20 bits (0.8)"
    }

    fn claim(&self) -> &'static str {
        "ldp(epsilon=0.8)"
    }

    fn truth(&self) -> f64 {
        6.0 * (Self::KEEP / (1.0 - Self::KEEP)).ln()
    }

    fn sample(&self, second: bool, rng: &mut ChaCha8Rng) -> Vec<String> {
        let set = if second { Self::B } else { Self::A };
        let bit = |at: usize| {
            let keep = if set.contains(&at) {
                Self::KEEP
            } else {
                1.0 - Self::KEEP
            };
            u8::from(rng.random_bool(keep)).to_string()
        };
        (0..20).map(bit).collect()
    }

    fn ratio(&self, output: &[String]) -> Option<f64> {
        let odds = (Self::KEEP / (1.0 - Self::KEEP)).ln();
        let of = |at: usize| {
            let bit = 2.0 * number(&output[at]) - 1.0;
            let sign = f64::from(u8::from(Self::A.contains(&at)))
                - f64::from(u8::from(Self::B.contains(&at)));
            sign * bit * odds
        };
        Some((0..20).map(of).sum())
    }
}

/// Sums of ten numbers with noise on each of them; all ten differ by one.
struct PrefixSum;

impl Mechanism for PrefixSum {
    fn name(&self) -> &'static str {
        "PrefixSum (0.1)"
    }

    fn claim(&self) -> &'static str {
        "ldp(epsilon=0.1)"
    }

    fn truth(&self) -> f64 {
        1.0
    }

    fn sample(&self, second: bool, rng: &mut ChaCha8Rng) -> Vec<String> {
        let mut sum = 0.0;
        let prefix = |_| {
            sum += f64::from(u8::from(second)) + 10.0 * laplace(rng);
            sum
        };
        printed((0..10).map(prefix))
    }

    fn ratio(&self, output: &[String]) -> Option<f64> {
        let mut before = 0.0;
        let of = |cell: &String| {
            let x = number(cell) - before;
            before += x;
            nearer_to_one(x)
        };
        Some(output.iter().map(of).sum::<f64>() / 10.0)
    }
}

/// One number answered twenty times with Laplace noise of scale 20.
struct LaplaceParallel;

impl Mechanism for LaplaceParallel {
    fn name(&self) -> &'static str {
        "LaplaceParallel (1)"
    }

    fn claim(&self) -> &'static str {
        "ldp(epsilon=1)"
    }

    fn truth(&self) -> f64 {
        1.0
    }

    fn sample(&self, second: bool, rng: &mut ChaCha8Rng) -> Vec<String> {
        let center = f64::from(u8::from(second));
        printed((0..20).map(|_| center + 20.0 * laplace(rng)))
    }

    fn ratio(&self, output: &[String]) -> Option<f64> {
        let of = |cell: &String| nearer_to_one(number(cell));
        Some(output.iter().map(of).sum::<f64>() / 20.0)
    }
}

/// The largest of five equal numbers, with its noise and without its index; all five differ by one. At small outputs
/// the ratio of the densities is e^(5/20).
struct NoisyMaxValue;

impl Mechanism for NoisyMaxValue {
    fn name(&self) -> &'static str {
        "noisy max returning the value (0.1)"
    }

    fn claim(&self) -> &'static str {
        "ldp(epsilon=0.1)"
    }

    fn truth(&self) -> f64 {
        0.25
    }

    fn sample(&self, second: bool, rng: &mut ChaCha8Rng) -> Vec<String> {
        let inputs = [f64::from(u8::from(second)); 5];
        let noisy = inputs.map(|x| x + 20.0 * laplace(rng));
        printed([noisy.into_iter().fold(f64::MIN, f64::max)])
    }

    /// Of the law of the largest of five: density 5 F⁴ f.
    fn ratio(&self, output: &[String]) -> Option<f64> {
        let ln_density = |x: f64| {
            let z = x / 20.0;
            let below = if z < 0.0 {
                0.5 * z.exp()
            } else {
                1.0 - 0.5 * (-z).exp()
            };
            4.0 * below.ln() - z.abs()
        };
        let x = number(&output[0]);
        Some(ln_density(x) - ln_density(x - 1.0))
    }
}

/// Randomized response at ε = 1, and a third answer with probability 1e-3 under input a alone.
struct RareEvent;

impl Mechanism for RareEvent {
    fn name(&self) -> &'static str {
        "rare event of probability 1e-3 (1)"
    }

    fn claim(&self) -> &'static str {
        "ldp(epsilon=1)"
    }

    fn truth(&self) -> f64 {
        f64::INFINITY
    }

    fn sample(&self, second: bool, rng: &mut ChaCha8Rng) -> Vec<String> {
        if !second && rng.random_bool(1e-3) {
            return vec!["rare".to_owned()];
        }
        let keep = rng.random_bool(1.0 / (1.0 + (-1.0f64).exp()));
        vec![if keep == second { "yes" } else { "no" }.to_owned()]
    }

    fn ratio(&self, output: &[String]) -> Option<f64> {
        Some(match output[0].as_str() {
            "rare" => 100.0,
            "no" => 1.0,
            _ => -1.0,
        })
    }

    fn features(&self, output: &[String]) -> Vec<f64> {
        ["rare", "no"]
            .map(|word| f64::from(u8::from(output[0] == word)))
            .to_vec()
    }
}

/// Normal noise whose δ at ε = 1 is 1e-5 (Balle and Wang 2018).
struct Gaussian;

impl Mechanism for Gaussian {
    fn name(&self) -> &'static str {
        "Gaussian, δ = 1e-5 (1)"
    }

    fn claim(&self) -> &'static str {
        "dp(epsilon=1, delta=1e-5)"
    }

    fn delta(&self) -> f64 {
        1e-5
    }

    fn truth(&self) -> f64 {
        1.0
    }

    fn sample(&self, second: bool, rng: &mut ChaCha8Rng) -> Vec<String> {
        let radius = (-2.0 * (1.0 - rng.random::<f64>()).ln()).sqrt();
        let normal = radius * (std::f64::consts::TAU * rng.random::<f64>()).cos();
        printed([f64::from(u8::from(second)) + 3.730_631_634_8 * normal])
    }

    fn ratio(&self, output: &[String]) -> Option<f64> {
        Some(-number(&output[0]))
    }
}

/// Laplace noise by the textbook inverse transform of 53 random bits, printed in full.
struct LaplaceBits;

impl Mechanism for LaplaceBits {
    fn name(&self) -> &'static str {
        "Laplace by inverse transform, as printed (1)"
    }

    fn claim(&self) -> &'static str {
        "ldp(epsilon=1)"
    }

    fn attack(&self) -> ScorerChoice {
        ScorerChoice::Bits
    }

    fn truth(&self) -> f64 {
        f64::INFINITY
    }

    fn sample(&self, second: bool, rng: &mut ChaCha8Rng) -> Vec<String> {
        let uniform = rng.next_u64() >> 11;
        let u = uniform as f64 / (1u64 << 53) as f64 - 0.5;
        let noise = -u.signum() * (1.0 - 2.0 * u.abs()).max(f64::MIN_POSITIVE).ln();
        vec![(f64::from(u8::from(second)) + noise).to_string()]
    }

    fn ratio(&self, _: &[String]) -> Option<f64> {
        None
    }
}
