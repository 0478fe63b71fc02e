//! Sparse vector techniques (Lyu, Su and Li 2017, figure 1), on ten queries.

use rand_chacha::ChaCha8Rng;

use crate::mechanisms::{Mechanism, laplace, rounded};

/// Answers to ten queries of either input; they differ by at most one.
pub const INPUTS: [[f64; 10]; 2] = [
    [1.0, 1.0, 1.0, 1.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0],
    [0.0, 0.0, 0.0, 0.0, 0.0, 1.0, 1.0, 1.0, 1.0, 1.0],
];
const THRESHOLD: f64 = 1.0;

/// Roth's lecture notes: what exceeds the threshold is returned with the noise that was compared (algorithm 3);
/// it stops after one. Below the threshold a query answers -1000, what comes after the stop -2000.
pub struct Svt3 {
    /// The ε that it was said to have.
    pub epsilon: f64,
}

impl Mechanism for Svt3 {
    fn name(&self) -> &'static str {
        if self.epsilon < 1.0 {
            "SVT3, with sentinels (0.1)"
        } else {
            "SVT3, with sentinels (1)"
        }
    }

    fn claim(&self) -> &'static str {
        if self.epsilon < 1.0 {
            "ldp(epsilon=0.1)"
        } else {
            "ldp(epsilon=1)"
        }
    }

    fn truth(&self) -> f64 {
        f64::INFINITY
    }

    fn sample(&self, second: bool, rng: &mut ChaCha8Rng) -> Vec<String> {
        let scale = 2.0 / self.epsilon;
        let threshold = THRESHOLD + scale * laplace(rng);
        let mut output = vec!["-2000".to_owned(); 10];
        for (cell, query) in output.iter_mut().zip(INPUTS[usize::from(second)]) {
            let noisy = query + scale * laplace(rng);
            if noisy >= threshold {
                *cell = rounded(noisy);
                break;
            }
            *cell = "-1000".to_owned();
        }
        output
    }

    fn ratio(&self, _: &[String]) -> Option<f64> {
        None
    }

    /// The numbers, and which cells are sentinels.
    fn features(&self, output: &[String]) -> Vec<f64> {
        let of = |cell: &String| {
            let value: f64 = cell.parse().unwrap_or(0.0);
            let is = |sentinel: f64| f64::from(u8::from(value == sentinel));
            let number = if value <= -1000.0 { 0.0 } else { value };
            [number, is(-1000.0), is(-2000.0)]
        };
        output.iter().flat_map(of).collect()
    }
}

/// The same at ε = 1 as one text: `below/below/3.52/stop`.
struct Svt3AsText;

impl Svt3AsText {
    const SENTINELS: Svt3 = Svt3 { epsilon: 1.0 };
}

impl Mechanism for Svt3AsText {
    fn name(&self) -> &'static str {
        "SVT3, as text (1)"
    }

    fn claim(&self) -> &'static str {
        Self::SENTINELS.claim()
    }

    fn truth(&self) -> f64 {
        Self::SENTINELS.truth()
    }

    fn sample(&self, second: bool, rng: &mut ChaCha8Rng) -> Vec<String> {
        let cells = Self::SENTINELS.sample(second, rng);
        let word = |cell: String| match cell.as_str() {
            "-1000" => "below".to_owned(),
            "-2000" => "stop".to_owned(),
            _ => cell,
        };
        let mut items: Vec<String> = cells.into_iter().map(word).collect();
        let end = items.iter().position(|item| item == "stop");
        items.truncate(end.map_or(items.len(), |end| end + 1));
        vec![items.join("/")]
    }

    fn ratio(&self, _: &[String]) -> Option<f64> {
        None
    }

    /// Those of the cells with sentinels.
    fn features(&self, output: &[String]) -> Vec<f64> {
        let sentinel = |item: &str| match item {
            "below" => "-1000".to_owned(),
            "stop" => "-2000".to_owned(),
            number => number.to_owned(),
        };
        let mut cells: Vec<String> = output[0].split('/').map(sentinel).collect();
        cells.resize(10, "-2000".to_owned());
        Self::SENTINELS.features(&cells)
    }
}

/// A technique whose transcripts of ⊤ and ⊥ have known probabilities.
pub struct Transcripts {
    /// Its name.
    pub name: &'static str,
    /// The claim.
    pub claim: &'static str,
    /// Scale of the noise of the threshold and of the queries.
    pub scales: [f64; 2],
    /// Whether it stops after the first ⊤.
    pub stops: bool,
}

/// Algorithms 2 and 4 (stopping after one; there algorithm 1 is the same as 2), 5 and 6 (which never stop).
pub fn transcripts() -> [Transcripts; 5] {
    [
        Transcripts {
            name: "SVT2, counted (0.1)",
            claim: "ldp(epsilon=0.1)",
            scales: [20.0, 40.0],
            stops: true,
        },
        Transcripts {
            name: "SVT4, counted (0.1)",
            claim: "ldp(epsilon=0.1)",
            scales: [40.0, 40.0 / 3.0],
            stops: true,
        },
        Transcripts {
            name: "SVT5, counted (0.1)",
            claim: "ldp(epsilon=0.1)",
            scales: [20.0, 0.0],
            stops: false,
        },
        Transcripts {
            name: "SVT6, counted (0.1)",
            claim: "ldp(epsilon=0.1)",
            scales: [20.0, 20.0],
            stops: false,
        },
        Transcripts {
            name: "SVT6, counted (1)",
            claim: "ldp(epsilon=1)",
            scales: [2.0, 2.0],
            stops: false,
        },
    ]
}

impl Transcripts {
    /// The probabilities of all transcripts for an input: bit i of a transcript says ⊤ at query i.
    pub fn probabilities(&self, input: usize) -> Vec<(String, f64)> {
        let codes: Vec<u32> = if self.stops {
            (0..=10)
                .map(|at| if at < 10 { 1 << at } else { 0 })
                .collect()
        } else {
            (0..1024).collect()
        };
        let mut sums = vec![0.0; codes.len()];
        // The quantiles of the threshold's noise, in even steps of probability.
        const STEPS: u32 = 20_000;
        for step in 0..STEPS {
            let u = (f64::from(step) + 0.5) / f64::from(STEPS);
            let noise = if u < 0.5 {
                (2.0 * u).ln()
            } else {
                -(2.0 - 2.0 * u).ln()
            };
            let threshold = THRESHOLD + self.scales[0] * noise;
            let above = INPUTS[input].map(|query| {
                let z = (threshold - query) / self.scales[1];
                if z > 0.0 {
                    0.5 * (-z).exp()
                } else {
                    1.0 - 0.5 * z.exp()
                }
            });
            for (sum, code) in sums.iter_mut().zip(&codes) {
                *sum += self.of_code(*code, &above) / f64::from(STEPS);
            }
        }
        let text = |code: u32| self.text(code);
        codes.into_iter().map(text).zip(sums).collect()
    }

    fn of_code(&self, code: u32, above: &[f64; 10]) -> f64 {
        let mut product = 1.0;
        for (at, above) in above.iter().enumerate() {
            let is_above = code >> at & 1 == 1;
            product *= if is_above { *above } else { 1.0 - above };
            if is_above && self.stops {
                break;
            }
        }
        product
    }

    fn text(&self, code: u32) -> String {
        let mut text = String::new();
        for at in 0..10 {
            let is_above = code >> at & 1 == 1;
            text.push(if is_above { 'T' } else { 'F' });
            if is_above && self.stops {
                break;
            }
        }
        text
    }
}

/// Those that answer row by row.
pub fn rows() -> Vec<Box<dyn Mechanism>> {
    vec![
        Box::new(Svt3 { epsilon: 0.1 }),
        Box::new(Svt3 { epsilon: 1.0 }),
        Box::new(Svt3AsText),
    ]
}
