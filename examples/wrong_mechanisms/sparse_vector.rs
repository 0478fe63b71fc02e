//! The sparse-vector technique and its variants: which of a stream of queries lie above a threshold.
//!
//! Numbered as in Lyu, Su, Li, *Understanding the Sparse Vector Technique for Differential Privacy*,
//! PVLDB 10(6), 2017. 1 and 2 are private, 3 to 6 are not, or not as much as they say.

use rand::Rng;

use super::noise::laplace;

/// Where a variant puts its noise, for queries of sensitivity 1.
#[derive(Debug, Clone, Copy)]
pub struct SparseVector {
    /// Scale of the noise on the threshold.
    pub threshold_scale: f64,
    /// Scale of the noise on an answer; 0 is none.
    pub answer_scale: f64,
    /// The number of answers above after which it stops.
    pub cutoff: Option<usize>,
    /// Whether the threshold gets fresh noise after each answer above.
    pub refresh: bool,
    /// Whether an answer above is returned with its noise instead of as "above".
    pub reveal: bool,
}

/// What a query is answered with.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Answer {
    Below,
    Above,
    Value(f64),
}

impl SparseVector {
    /// The published algorithm of that number, as it claims ε.
    ///
    /// | algorithm | threshold | answers | stops | its flaw |
    /// | --- | --- | --- | --- | --- |
    /// | 1 | 2/ε | 4c/ε | after c | none |
    /// | 2 | 2c/ε, fresh after each answer above | 4c/ε | after c | none, more noise than needed |
    /// | 3 | 2/ε | 2c/ε, and the noisy answer is returned | after c | the answer tells of the threshold's noise |
    /// | 4 | 4/ε | 4/(3ε) | after c | the noise on answers does not grow with c |
    /// | 5 | 2/ε | none | never | answers have no noise |
    /// | 6 | 2/ε | 2/ε | never | the number of answers above is not limited |
    pub fn published(algorithm: u8, cutoff: usize, epsilon: f64) -> Self {
        let c = cutoff as f64;
        let (threshold, answer, stops) = match algorithm {
            1 => (2.0, 4.0 * c, true),
            2 => (2.0 * c, 4.0 * c, true),
            3 => (2.0, 2.0 * c, true),
            4 => (4.0, 4.0 / 3.0, true),
            5 => (2.0, 0.0, false),
            6 => (2.0, 2.0, false),
            _ => unreachable!("there are six"),
        };
        SparseVector {
            threshold_scale: threshold / epsilon,
            answer_scale: answer / epsilon,
            cutoff: stops.then_some(cutoff),
            refresh: algorithm == 2,
            reveal: algorithm == 3,
        }
    }

    /// Answers a stream of queries; shorter than the stream if it stopped.
    pub fn run(&self, queries: &[f64], threshold: f64, rng: &mut impl Rng) -> Vec<Answer> {
        let mut bar = threshold + laplace(self.threshold_scale, rng);
        let mut above = 0;
        let mut answers = Vec::with_capacity(queries.len());
        for query in queries {
            let noisy = query + laplace(self.answer_scale, rng);
            if noisy < bar {
                answers.push(Answer::Below);
                continue;
            }
            answers.push(if self.reveal {
                Answer::Value(noisy)
            } else {
                Answer::Above
            });
            above += 1;
            if self.cutoff == Some(above) {
                break;
            }
            if self.refresh {
                bar = threshold + laplace(self.threshold_scale, rng);
            }
        }
        answers
    }
}
