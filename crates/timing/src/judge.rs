//! Blocks of times, and what they show.

use crate::bets;
use crate::stretches::Spread;
use crate::student::upper_quantile;

/// Blocks at the first look. The next ones have √2 times as many. Where each class has an autoregressive process of its
/// own of weight 0.95, stretches of fewer blocks are wrong too often (`tests.rs`).
const FIRST_LOOK: f64 = 1024.0;
/// Limits are searched for among order statistics this part of all blocks apart.
const RESOLUTION: usize = 512;

/// How many blocks there are at a look, counted from 0.
fn blocks_at(look: usize) -> usize {
    libm::round(FIRST_LOOK * libm::pow(2.0, 0.5 * look as f64)) as usize
}

/// What is to be decided, and how surely.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Question {
    /// Difference of medians that is allowed, in ns.
    pub(crate) threshold: f64,
    /// How far a recorded difference of two times may be from the true one, in ns: two steps of the clock.
    pub(crate) blur: f64,
    /// The probability of a false alarm, all looks, pairs and directions together.
    pub(crate) alarm: f64,
    /// The probability that a difference above the threshold passes.
    pub(crate) pass: f64,
}

/// What blocks show so far.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Verdict {
    Leaks,
    Passes,
    Open,
}

/// Two classes. All times are in ns, and of the median of `slower` less `faster`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Pair {
    pub(crate) slower: usize,
    pub(crate) faster: usize,
    pub(crate) at_least: f64,
    pub(crate) estimate: f64,
    pub(crate) at_most: f64,
    /// The limit of the difference in either direction: at most this.
    pub(crate) size_at_most: f64,
    leaks: bool,
    passes: bool,
}

/// A look at all blocks so far.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Look {
    pub(crate) blocks: usize,
    pub(crate) verdict: Verdict,
    /// The pair that decides.
    pub(crate) pair: Pair,
    /// The limit of the difference of every pair.
    pub(crate) largest: f64,
}

/// All blocks, and the last look at them.
#[derive(Debug)]
pub(crate) struct Judge {
    classes: usize,
    question: Question,
    /// Block by block, in the order of the classes.
    times: Vec<f64>,
    looks: usize,
    last: Option<Look>,
}

impl Judge {
    pub(crate) fn new(classes: usize, question: Question) -> Self {
        Self {
            classes,
            question,
            times: Vec::new(),
            looks: 0,
            last: None,
        }
    }

    pub(crate) fn blocks(&self) -> usize {
        self.times.len() / self.classes
    }

    /// Times of all blocks, block by block, in the order of the classes.
    pub(crate) fn times(&self) -> &[f64] {
        &self.times
    }

    pub(crate) fn last(&self) -> Option<&Look> {
        self.last.as_ref()
    }

    /// Takes the times of a block, in the order of the classes. Whether all is decided.
    pub(crate) fn push(&mut self, block: &[f64]) -> bool {
        self.times.extend_from_slice(block);
        if self.blocks() < blocks_at(self.looks) {
            return false;
        }
        let look = self.look();
        self.looks += 1;
        self.last = Some(look);
        look.verdict != Verdict::Open
    }

    fn look(&self) -> Look {
        let mut differences = vec![0.0; self.blocks()];
        let mut sorted = differences.clone();
        let mut all: Option<Pair> = None;
        let mut passes = true;
        let mut largest = 0.0_f64;
        let directions = (self.classes * (self.classes - 1)) as f64;
        let alarm = self.needed(self.question.alarm / directions);
        // A test passes wrongly only if one given limit, of the pair and the direction that exceed the threshold, is
        // wrong.
        let pass = self.needed(self.question.pass);
        for second in 1..self.classes {
            for first in 0..second {
                for (difference, block) in differences
                    .iter_mut()
                    .zip(self.times.chunks_exact(self.classes))
                {
                    *difference = block[second] - block[first];
                }
                let pair = self.pair((second, first), (&alarm, &pass), &differences, &mut sorted);
                passes &= pair.passes;
                // A limit that is not a number limits nothing.
                let size = if pair.size_at_most.is_nan() {
                    f64::INFINITY
                } else {
                    pair.size_at_most
                };
                largest = largest.max(size);
                // The pair that decides: the surest leak, or else the one that keeps the test from passing, or nearly
                // did.
                let rank = |pair: &Pair| {
                    (
                        pair.leaks,
                        if pair.leaks {
                            pair.at_least
                        } else {
                            pair.size_at_most
                        },
                    )
                };
                if all.is_none_or(|other| rank(&pair) > rank(&other)) {
                    all = Some(pair);
                }
            }
        }
        let pair = all.expect("two classes");
        Look {
            blocks: self.blocks(),
            verdict: match (pair.leaks, passes) {
                (true, _) => Verdict::Leaks,
                (false, true) => Verdict::Passes,
                (false, false) => Verdict::Open,
            },
            pair,
            largest,
        }
    }

    /// Of differences `classes.0` less `classes.1`; what an alarm needs, and what a pass does.
    fn pair(
        &self,
        classes: (usize, usize),
        (alarm, pass): (&Needed, &Needed),
        differences: &[f64],
        sorted: &mut [f64],
    ) -> Pair {
        let n = differences.len();
        sorted.copy_from_slice(differences);
        sorted.sort_unstable_by(f64::total_cmp);
        let estimate = 0.5 * (sorted[(n - 1) / 2] + sorted[n / 2]);
        let question = &self.question;
        let limits = |needed| {
            (
                lower(differences, sorted, needed),
                upper(differences, sorted, needed),
            )
        };
        let (low, high) = limits(alarm);
        let (all_low, all_high) = limits(pass);
        let is_first_slower = if low > 0.0 || high < 0.0 {
            low > 0.0
        } else {
            estimate >= 0.0
        };
        let (slower, faster, sign, least, most) = if is_first_slower {
            (classes.0, classes.1, 1.0, low, all_high)
        } else {
            (classes.1, classes.0, -1.0, -high, -all_low)
        };
        // What decides is asked of the very bound that decides: limits come from a search.
        let above = |bound: f64| refutes(differences, |value| sign * value > bound, alarm);
        let beyond = question.threshold + question.blur;
        // Without a difference at all, recorded times are exchangeable too: no allowance for the clock.
        let leaks = least > beyond && above(beyond)
            || question.threshold == 0.0 && least > 0.0 && above(0.0);
        let within = question.threshold - question.blur;
        let size_at_most = all_high.max(-all_low) + question.blur;
        let passes = size_at_most <= question.threshold
            && refutes(differences, |value| value <= within, pass)
            && refutes(differences, |value| value >= -within, pass);
        Pair {
            slower,
            faster,
            at_least: least - question.blur,
            estimate: sign * estimate,
            at_most: most + question.blur,
            size_at_most,
            leaks,
            passes,
        }
    }

    /// What refutes at this look that at most half of the blocks are expected on a side of a bound. Wrong at any look
    /// with probability at most `alpha`.
    fn needed(&self, alpha: f64) -> Needed {
        let n = self.blocks();
        let look = self.looks as f64;
        // All parts make 1.
        let part = 2.0 * alpha / ((look + 2.0) * (look + 3.0));
        Needed {
            right: bets::needed(n, alpha).unwrap_or(usize::MAX),
            errors: Spread::freedom(n)
                .map_or(f64::INFINITY, |freedom| upper_quantile(part, freedom)),
        }
    }
}

/// How many values on one side of a bound refute that at most half are expected there.
struct Needed {
    /// By bets.
    right: usize,
    /// Standard errors, by stretches.
    errors: f64,
}

fn refutes(differences: &[f64], is_right: impl Fn(f64) -> bool, needed: &Needed) -> bool {
    let n = differences.len();
    Spread::of(differences, is_right)
        .is_some_and(|spread| spread.right >= needed.right && spread.beyond(n) >= needed.errors)
}

/// A lower limit of the median: values below it are refuted as the median, because too many differences lie above them.
fn lower(differences: &[f64], sorted: &[f64], needed: &Needed) -> f64 {
    let n = sorted.len();
    if !refutes(differences, |_| true, needed) {
        return f64::NEG_INFINITY;
    }
    // All bounds below the value at `low` are refuted, those below the value at `high` are not: half lie above.
    let (mut low, mut high) = (0, n / 2);
    while high - low > 1 + n / RESOLUTION {
        let middle = low + (high - low) / 2;
        if refutes(differences, |value| value >= sorted[middle], needed) {
            low = middle;
        } else {
            high = middle;
        }
    }
    sorted[low]
}

/// An upper limit of the median, as [`lower`].
fn upper(differences: &[f64], sorted: &[f64], needed: &Needed) -> f64 {
    let n = sorted.len();
    if !refutes(differences, |_| true, needed) {
        return f64::INFINITY;
    }
    let (mut low, mut high) = (0, n / 2);
    while high - low > 1 + n / RESOLUTION {
        let middle = low + (high - low) / 2;
        if refutes(differences, |value| value <= sorted[n - 1 - middle], needed) {
            low = middle;
        } else {
            high = middle;
        }
    }
    sorted[n - 1 - low]
}

#[cfg(test)]
mod tests;
