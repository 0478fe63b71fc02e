//! Audits of a known leak, simulated on counts: outputs are bins of scores, and a run costs about as much for a million
//! samples as for ten thousand.

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use leakgauge_sequential::capital::bet_on;
use leakgauge_sequential::cells::{Scored, choose, choose_always};
use leakgauge_sequential::product_bets::{Allowed, Counts, Meeting};
use leakgauge_stats::special::normal_quantile;

use crate::allocation::Allocation;
use crate::auditor::{LEARNED, again, batch, first};

/// Bins of scores at most.
const BINS: usize = 24;
/// Rows after which the capital is looked at, as a part of those before.
const LOOK: usize = 32;
/// Draws of a bin whose variance is above this are normal.
const NORMAL: f64 = 25.0;

/// A leak, and the audit that is to find it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Alternative {
    pub allowed: Allowed,
    /// The error probability times the share of the attacker that sees the leak.
    pub alpha: f64,
    pub pairs: usize,
    /// Different scores of outputs.
    pub scores: usize,
    /// Laws of the pair that leaks.
    pub leak: Counts,
    /// Laws of all other pairs.
    pub within: Counts,
    /// Samples at most.
    pub most: u64,
}

/// Samples that a simulated audit draws until it finds the leak; `most` if it does not.
pub(crate) fn samples_until_found(alternative: &Alternative, seed: u64) -> u64 {
    Run::new(alternative, seed).samples()
}

/// A pair of inputs: the laws of the bins, from the lowest score to the highest, and the rows so far.
struct Pair {
    laws: [Vec<f64>; 2],
    seen: Vec<Scored>,
    rows: usize,
}

impl Pair {
    fn new(law: &Counts, bins: [usize; 3], is_graded: bool) -> Self {
        let laws = if is_graded {
            graded(law, bins)
        } else {
            [&law.first, &law.second].map(|law| stepped(law, bins))
        };
        let empty = |score: usize| Scored {
            score: score as f64,
            first: 0.0,
            second: 0.0,
        };
        Pair {
            seen: (0..laws[0].len()).map(empty).collect(),
            laws,
            rows: 0,
        }
    }

    /// Rows of both inputs by bin.
    fn draw(&self, rows: usize, rng: &mut ChaCha8Rng) -> [Vec<f64>; 2] {
        [0, 1].map(|input| bins_of(&self.laws[input], rows, rng))
    }

    fn add(&mut self, drawn: &[Vec<f64>; 2], rows: usize) {
        for (at, bin) in self.seen.iter_mut().enumerate() {
            bin.first += drawn[0][at];
            bin.second += drawn[1][at];
        }
        self.rows += rows;
    }
}

struct Rule {
    pair: usize,
    learned: usize,
    /// ln of the factors of a row of either input, by bin.
    ln: [Vec<f64>; 2],
}

struct Run<'a> {
    of: &'a Alternative,
    pairs: Vec<Pair>,
    allocation: Allocation,
    rule: Option<Rule>,
    ln_growth: f64,
    drawn: u64,
    rng: ChaCha8Rng,
}

impl<'a> Run<'a> {
    fn new(of: &'a Alternative, seed: u64) -> Self {
        let bins = bins(of);
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let leaks = rng.random_range(0..of.pairs);
        let law = |at: usize| if at == leaks { &of.leak } else { &of.within };
        Run {
            of,
            pairs: (0..of.pairs)
                .map(|at| Pair::new(law(at), bins, of.scores > BINS))
                .collect(),
            allocation: Allocation::new(of.pairs),
            rule: None,
            ln_growth: 0.0,
            drawn: 0,
            rng,
        }
    }

    fn samples(mut self) -> u64 {
        for at in 0..self.pairs.len() {
            let rows = first(self.pairs.len());
            let drawn = self.pairs[at].draw(rows, &mut self.rng);
            self.pairs[at].add(&drawn, rows);
            self.drawn += 2 * rows as u64;
            self.estimate(at);
        }
        while self.drawn < self.of.most {
            let pairs = &self.pairs;
            let at = self.allocation.choose(|at| pairs[at].rows, false);
            if self.play(at) {
                return self.drawn;
            }
            self.estimate(at);
        }
        self.of.most
    }

    /// Judges a batch of a pair. Whether the claim is refuted.
    fn play(&mut self, at: usize) -> bool {
        let mut left = batch(self.pairs[at].rows);
        self.drawn += 2 * left as u64;
        while left > 0 {
            let rows = self.pairs[at].rows;
            let some = (rows / LOOK).clamp(1, left);
            let stands = self.rule.as_ref().is_some_and(|rule| {
                rule.pair == at && (rows as f64) < again(rows) * rule.learned as f64
            });
            if !stands && rows >= LEARNED {
                self.rule = Some(self.learn(at));
            }
            let drawn = self.pairs[at].draw(some, &mut self.rng);
            if let Some(rule) = &self.rule {
                for (ln, drawn) in rule.ln.iter().zip(&drawn) {
                    let gained = ln.iter().zip(drawn).map(|(ln, rows)| ln * rows);
                    self.ln_growth += gained.sum::<f64>();
                }
            }
            self.pairs[at].add(&drawn, some);
            if self.ln_growth >= -self.of.alpha.ln() {
                return true;
            }
            left -= some;
        }
        false
    }

    fn learn(&self, at: usize) -> Rule {
        let pair = &self.pairs[at];
        let seen: Vec<Scored> = scores_of(pair).collect();
        let (cuts, _) = choose_always(&seen, [pair.rows as f64; 2], self.of.allowed);
        let bet = bet_on(
            &cuts.counts(&pair.seen),
            self.of.allowed,
            Meeting::Independent,
        );
        let ln = [bet.first, bet.second].map(|factors| {
            let bins = pair.seen.iter().map(|bin| cuts.cell(bin.score));
            bins.map(|cell| factors[cell].ln()).collect()
        });
        Rule {
            pair: at,
            learned: pair.rows,
            ln,
        }
    }

    fn estimate(&mut self, at: usize) {
        let pair = &self.pairs[at];
        if self.pairs.len() == 1 || !self.allocation.is_due(at, 2 * pair.rows) {
            return;
        }
        let seen: Vec<Scored> = scores_of(pair).collect();
        let (_, rate) = choose(&seen, [pair.rows as f64; 2], self.of.allowed);
        self.allocation.record(at, rate, pair.rows, 2 * pair.rows);
    }
}

/// Bins that have been seen.
fn scores_of(pair: &Pair) -> impl Iterator<Item = Scored> + '_ {
    let seen = pair.seen.iter().copied();
    seen.filter(|bin| bin.first + bin.second > 0.0)
}

/// The bins of each cell, about in proportion to the outputs there.
fn bins(of: &Alternative) -> [usize; 3] {
    let all = of.scores.clamp(3, BINS) as f64;
    [0, 1, 2].map(|cell| {
        let mass = 0.5 * (of.leak.first[cell] + of.leak.second[cell]);
        if mass == 0.0 {
            0
        } else {
            ((all - 3.0) * mass).round() as usize + 1
        }
    })
}

/// A law that is flat within each cell. Cell 2 holds the lowest scores.
fn stepped(law: &[f64; 3], bins: [usize; 3]) -> Vec<f64> {
    let flat = |cell: usize| vec![law[cell] / bins[cell].max(1) as f64; bins[cell]];
    [2, 1, 0].into_iter().flat_map(flat).collect()
}

/// Laws whose odds are those of A and B in the outer half of these cells, and go from there to the square root at the
/// cuts, which stand where the odds promised by a weaker claim are, and on to even odds in the middle.
fn graded(law: &Counts, bins: [usize; 3]) -> [Vec<f64>; 2] {
    let ln_odds = |cell: usize| {
        if law.first[cell] > 0.0 && law.second[cell] > 0.0 {
            (law.first[cell] / law.second[cell]).ln()
        } else {
            0.0
        }
    };
    let share = |ln: f64| 1.0 / (1.0 + (-ln).exp());
    let mut laws = [Vec::new(), Vec::new()];
    // Of an outer cell, from its cut outward.
    let outer = |cell: usize| {
        let mass = (law.first[cell] + law.second[cell]) / bins[cell].max(1) as f64;
        (0..bins[cell]).map(move |bin| {
            let at = (bin as f64 + 0.5) / bins[cell] as f64;
            let ln = ln_odds(cell) * (0.5 + at).min(1.0);
            (mass * share(ln), mass * share(-ln))
        })
    };
    let low: Vec<(f64, f64)> = outer(2).collect();
    let high: Vec<(f64, f64)> = outer(0).collect();
    let used = low.iter().chain(&high);
    let used = used.fold((0.0, 0.0), |sum, bin| (sum.0 + bin.0, sum.1 + bin.1));
    let ramp = |bin: usize| {
        let at = (bin as f64 + 0.5) / bins[1] as f64;
        0.5 * (ln_odds(2) * (1.0 - at) + ln_odds(0) * at)
    };
    let weights = |sign: f64| (0..bins[1]).map(move |bin| share(sign * ramp(bin)));
    let totals: [f64; 2] = [weights(1.0).sum(), weights(-1.0).sum()];
    let middle = weights(1.0).zip(weights(-1.0)).map(|(first, second)| {
        let left = [1.0 - used.0, 1.0 - used.1].map(|left| left.max(0.0));
        (left[0] * first / totals[0], left[1] * second / totals[1])
    });
    for (first, second) in low
        .iter()
        .rev()
        .copied()
        .chain(middle)
        .chain(high.iter().copied())
    {
        laws[0].push(first);
        laws[1].push(second);
    }
    laws
}

/// How many of so many rows fall into each bin.
fn bins_of(law: &[f64], rows: usize, rng: &mut ChaCha8Rng) -> Vec<f64> {
    let mut counts = vec![0.0; law.len()];
    if (rows as f64) < NORMAL * law.len() as f64 {
        for _ in 0..rows {
            let mut at: f64 = rng.random();
            let bin = law.iter().position(|mass| {
                at -= mass;
                at < 0.0
            });
            counts[bin.unwrap_or(law.len() - 1)] += 1.0;
        }
        return counts;
    }
    let (mut left, mut mass) = (rows as f64, 1.0);
    for (bin, &own) in law.iter().enumerate() {
        let rate = if mass > own { own / mass } else { 1.0 };
        counts[bin] = binomial(left, rate, rng);
        left -= counts[bin];
        mass -= own;
    }
    counts
}

/// A binomial number, approximately where its variance is large.
fn binomial(rows: f64, rate: f64, rng: &mut ChaCha8Rng) -> f64 {
    if rate >= 1.0 || rows == 0.0 {
        return rows;
    }
    let variance = rows * rate * (1.0 - rate);
    if variance > NORMAL {
        let at = rng.random::<f64>().clamp(1e-15, 1.0 - 1e-15);
        let drawn = rows * rate + variance.sqrt() * normal_quantile(at);
        return drawn.round().clamp(0.0, rows);
    }
    (0..rows as u64)
        .filter(|_| rng.random::<f64>() < rate)
        .count() as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bins_are_drawn_as_often_as_their_law_says() {
        let mut rng = ChaCha8Rng::seed_from_u64(1);
        let law = [0.0, 0.5, 0.001, 0.2, 0.299];
        for rows in [7, 90, 2_000, 40_000] {
            let runs = 400;
            let mut sums = vec![[0.0; 2]; law.len()];
            for _ in 0..runs {
                let drawn = bins_of(&law, rows, &mut rng);
                assert_eq!(drawn.iter().sum::<f64>(), rows as f64);
                for (sums, drawn) in sums.iter_mut().zip(drawn) {
                    sums[0] += drawn;
                    sums[1] += drawn * drawn;
                }
            }
            for (sums, rate) in sums.iter().zip(law) {
                let mean = sums[0] / f64::from(runs);
                let variance = rows as f64 * rate * (1.0 - rate);
                // Five standard errors, of the mean and about of the variance.
                let error = 5.0 * (variance / f64::from(runs)).sqrt();
                assert!(
                    (mean - rows as f64 * rate).abs() <= error,
                    "{rows} {rate} {mean}"
                );
                let spread = sums[1] / f64::from(runs) - mean * mean;
                let error = 5.0 * variance * (2.0 / f64::from(runs)).sqrt() + 5.0 * error;
                assert!((spread - variance).abs() <= error, "{rows} {rate} {spread}");
            }
        }
    }
}
