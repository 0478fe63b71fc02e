//! The audit as a machine without input and output: it asks for draws, takes outputs, and says what they prove.

use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;

use leakgauge_base::error::{Error, Result};
use leakgauge_sequential::attackers::Kind;
use leakgauge_sequential::bettor::{Bettor, Lessons};
use leakgauge_sequential::product_bets::Meeting;

use crate::allocation::Allocation;
use crate::claims::{Target, targets};
use crate::model::Model;
use crate::options::QueryOptions;
use crate::outcome::{Fate, Stop};
use crate::proof::Proof;
use crate::samples::{Column, Samples};

/// Outputs of each input before a pair is chosen. They settle who bets, and are not judged.
const FIRST: usize = 8;
/// Outputs of either input of a pair before rules are learned from them; the first ones if there is but one pair.
pub(crate) const LEARNED: usize = 4;
/// Outputs of each input of a pair that are drawn at once, at least and at most.
const BATCH: (usize, usize) = (2, 50_000);
/// The outputs of one input in a row are at most this part of those before, so that a drift meets both inputs alike.
const BLOCK: usize = 32;
/// Rules are learned again once there are so many times as many outputs: with few, and with many.
const AGAIN: (f64, f64) = (1.1, 1.5);
/// Outputs of one input that are many.
const MANY: usize = 5_000;
/// The part of all draws after which it is asked whether what is left can decide.
const PATIENCE: f64 = 0.25;

/// How many outputs of each input of a pair that has so many are drawn at once.
pub(crate) fn batch(rows: usize) -> usize {
    let more = if rows < MANY { rows / 32 } else { rows / 2 };
    more.clamp(BATCH.0, BATCH.1)
}

/// How many times as many outputs there are when rules are learned again.
pub(crate) fn again(rows: usize) -> f64 {
    if rows < MANY { AGAIN.0 } else { AGAIN.1 }
}

/// Pairs whose rules stand at the same time: drawing from another pair in between does not cost them.
const PLACES: usize = 64;

/// The pair whose rules stand at a place.
#[derive(Debug, Clone, Copy)]
struct Ruled {
    pair: usize,
    /// The version of the model then.
    version: usize,
    /// How many rows of each input there were.
    rows: usize,
}

/// Outputs of each input that are drawn before a pair is chosen.
pub(crate) fn first(pairs: usize) -> usize {
    // With one pair there is nothing to choose.
    if pairs == 1 { LEARNED } else { FIRST }
}

/// A sequential audit of a mechanism that can be asked.
///
/// [`wanted`](Self::wanted) says what to draw, [`push`](Self::push) takes the outputs; [`standing`](Self::standing)
/// says at any time what is known. Errors of the first kind are valid whenever one stops.
pub struct Auditor {
    pub(crate) options: QueryOptions,
    pub(crate) pairs: Vec<(usize, usize)>,
    pub(crate) targets: Vec<Target>,
    pub(crate) bettors: Vec<Bettor>,
    pub(crate) fates: Vec<Fate>,
    proofs: Vec<Proof>,
    pub(crate) samples: Samples,
    pub(crate) kinds: Vec<Kind>,
    pub(crate) model: Model,
    allocation: Allocation,
    rng: ChaCha8Rng,
    /// What was asked for last.
    asked: Vec<(usize, usize)>,
    /// Outputs of either input in the batch that was asked for, where the blocks of both inputs begin together. Rules
    /// are learned again there only: within a block they would see more of one input's time than of the other's.
    blocks: Vec<usize>,
    /// The position of the pair that is judged next; `None` before anything is bet.
    playing: Option<usize>,
    /// By place, the pair whose rules stand there.
    ruled: Vec<Option<Ruled>>,
    /// How often either input's outputs of a pair met.
    pub(crate) judged: Vec<u64>,
    pub(crate) stop: Option<Stop>,
    pub(crate) repeats: crate::repeats::Repeats,
}

impl Auditor {
    /// An audit of the inputs with these labels, of which nothing has been drawn.
    ///
    /// # Errors
    /// Options out of range; no claim, or one that no bet can refute.
    pub fn new(labels: &[String], options: QueryOptions) -> Result<Self> {
        let pairs = options.check(labels.len())?;
        let targets = targets(&options.claims, labels, &pairs)?;
        let model = Model::new(options.attacks.clone(), options.budget, options.seed);
        Ok(Auditor {
            fates: vec![Fate::Open; targets.len()],
            proofs: vec![Proof::new(); targets.len()],
            bettors: Vec::new(),
            samples: Samples::new(labels.len()),
            kinds: Vec::new(),
            model,
            allocation: Allocation::new(pairs.len()),
            rng: ChaCha8Rng::seed_from_u64(options.seed),
            asked: Vec::new(),
            blocks: Vec::new(),
            playing: None,
            ruled: vec![None; PLACES.min(pairs.len())],
            judged: vec![0; pairs.len()],
            stop: None,
            repeats: crate::repeats::Repeats::new(labels.len()),
            options,
            pairs,
            targets,
        })
    }

    /// The error probability of one target.
    pub(crate) fn alpha(&self) -> f64 {
        self.options.alpha / self.targets.len() as f64
    }

    /// How many outputs there are.
    pub fn drawn(&self) -> u64 {
        self.samples.len() as u64
    }

    /// The largest number of outputs.
    pub fn max_samples(&self) -> u64 {
        self.options.max_samples
    }

    /// What to draw next: inputs with how many outputs of each, in this order. `None` once the audit is over.
    pub fn wanted(&mut self) -> Option<&[(usize, usize)]> {
        if self.stop.is_some() {
            return None;
        }
        if self.asked.is_empty() {
            self.asked = self.draws();
        }
        Some(&self.asked)
    }

    fn draws(&mut self) -> Vec<(usize, usize)> {
        let inputs = self.samples.inputs();
        let left = (self.options.max_samples - self.drawn()) as usize;
        if self.samples.len() == 0 {
            let first = first(self.pairs.len());
            return self.in_order((0..inputs).collect(), first.min(left / inputs), first);
        }
        let even = self.can_prove();
        let (pairs, samples) = (&self.pairs, &self.samples);
        let fewer = |at: usize| {
            let (a, b) = pairs[at];
            samples.rows(a).len().min(samples.rows(b).len())
        };
        let pair = self.allocation.choose(fewer, even);
        self.playing = Some(pair);
        let (a, b) = self.pairs[pair];
        let rows = self.samples.rows(a).len().min(self.samples.rows(b).len());
        let each = batch(rows);
        let each = self.options.batch.map_or(each, |batch| (batch / 2).max(1));
        self.in_order(vec![a, b], each.min(left / 2), rows)
    }

    /// Draws of inputs, so many of each, in random order: blocks that are small against the `rows` before, or single
    /// draws.
    fn in_order(
        &mut self,
        mut inputs: Vec<usize>,
        each: usize,
        rows: usize,
    ) -> Vec<(usize, usize)> {
        self.blocks.clear();
        let mut all = Vec::new();
        let mut done = 0;
        while done < each {
            let block = ((rows + done) / BLOCK).max(BATCH.0).min(each - done);
            self.blocks.push(done);
            if self.options.single {
                let from = all.len();
                let singles = |&input: &usize| std::iter::repeat_n((input, 1), block);
                all.extend(inputs.iter().flat_map(singles));
                all[from..].shuffle(&mut self.rng);
            } else {
                inputs.shuffle(&mut self.rng);
                all.extend(inputs.iter().map(|&input| (input, block)));
            }
            done += block;
        }
        all
    }

    /// Takes the outputs that were asked for, in the order of the draws.
    ///
    /// # Errors
    /// Nothing was asked for; another number of outputs or of columns.
    pub fn push(&mut self, outputs: Vec<Column>) -> Result<()> {
        if self.asked.is_empty() || self.stop.is_some() {
            return Err(Error::parameter("outputs", "were not asked for"));
        }
        let draws = std::mem::take(&mut self.asked);
        let before = self.samples.len() as u32;
        self.samples.push(&draws, outputs)?;
        self.repeats.look(&self.samples, &draws, before);
        if self.bettors.is_empty() {
            self.begin();
        }
        if let Some(pair) = self.playing {
            self.judge(pair, before);
        }
        if self.kinds.contains(&Kind::Learned) {
            self.model.learn(&self.samples);
        }
        self.estimate();
        self.settle();
        Ok(())
    }

    /// Settles who bets, by the shape of the first outputs.
    fn begin(&mut self) {
        let (kinds, shares) = crate::kinds::of(&self.samples, self.options.bits);
        self.kinds = kinds;
        let alpha = self.alpha();
        self.bettors = (0..self.targets.len())
            .map(|_| Bettor::new(&shares, alpha, Meeting::Independent))
            .collect();
    }

    /// Judges the outputs of a pair that came last.
    fn judge(&mut self, pair: usize, before: u32) {
        let (a, b) = self.pairs[pair];
        let (first, second) = (self.samples.rows(a), self.samples.rows(b));
        let old = |rows: &[u32]| rows.partition_point(|&row| row < before);
        let (old_a, old_b) = (old(first), old(second));
        if self.kinds.contains(&Kind::Learned) {
            let new = first[old_a..].iter().map(|&row| (a, row));
            let new = new.chain(second[old_b..].iter().map(|&row| (b, row)));
            self.model.score(&self.samples, &new.collect::<Vec<_>>());
        }
        let count = (first.len() - old_a).min(second.len() - old_b);
        let place = pair % self.ruled.len();
        for at in 0..count {
            let rows = (old_a + at).min(old_b + at);
            let stands = self.ruled[place].is_some_and(|ruled| {
                let is_recent = (rows as f64) < again(rows) * ruled.rows as f64;
                let within_block = at > 0 && self.blocks.binary_search(&at).is_err();
                ruled.pair == pair
                    && ruled.version == self.model.version()
                    && (is_recent || within_block)
            });
            if rows < LEARNED {
                continue;
            }
            if !stands {
                let past = (&first[..old_a + at], &second[..old_b + at]);
                let learned = self.model.past(a, b);
                let lessons = Lessons::new(&self.kinds, &self.samples, learned, past);
                for (target, bettor) in self.targets.iter().zip(&mut self.bettors) {
                    bettor.change_rules((place, pair), &lessons, target.allowed(pair), |_| true);
                }
                self.ruled[place] = Some(Ruled {
                    pair,
                    version: self.model.version(),
                    rows,
                });
            }
            let rows = (first[old_a + at], second[old_b + at]);
            let bettors = self.bettors.iter_mut().zip(&mut self.fates);
            for (bettor, fate) in bettors {
                let learned = |row: u32| self.model.difference(row, a, b);
                let refuted = bettor.judge_all(place, &self.samples, learned, rows);
                if refuted && *fate == Fate::Open {
                    *fate = Fate::Violated;
                }
            }
        }
        self.judged[pair] += count as u64;
        for bettor in &mut self.bettors {
            bettor.capital.look(f64::INFINITY, true);
        }
    }

    /// Estimates how fast bets on each pair would grow, where its outputs changed.
    fn estimate(&mut self) {
        for (at, &(a, b)) in self.pairs.iter().enumerate() {
            let rows = (self.samples.rows(a), self.samples.rows(b));
            if !self.allocation.is_due(at, rows.0.len() + rows.1.len()) {
                continue;
            }
            let learned = self.model.past(a, b);
            let lessons = Lessons::new(&self.kinds, &self.samples, learned, rows);
            let rates = self
                .targets
                .iter()
                .map(|target| lessons.rate(target.allowed(at)));
            let rate = rates.fold(0.0, f64::max);
            self.allocation.record(
                at,
                rate,
                rows.0.len().min(rows.1.len()),
                rows.0.len() + rows.1.len(),
            );
        }
    }

    /// Whether some open claim can be proved by more outputs.
    fn can_prove(&self) -> bool {
        let mut open = self
            .targets
            .iter()
            .zip(&self.fates)
            .filter(|(_, fate)| **fate == Fate::Open);
        open.any(|(target, _)| target.provable.is_some())
    }

    /// Looks whether the audit is over.
    fn settle(&mut self) {
        let alpha = self.alpha();
        for (at, target) in self.targets.iter().enumerate() {
            if let (Some(provable), Fate::Open) = (target.provable, self.fates[at])
                && self.proofs[at].look(provable, &self.samples, &self.pairs, alpha)
            {
                self.fates[at] = Fate::Proved;
            }
        }
        if self.fates.contains(&Fate::Violated) {
            self.stop = Some(Stop::Violated);
        } else if self.fates.iter().all(|fate| *fate == Fate::Proved) {
            self.stop = Some(Stop::Holds);
        } else if self.options.max_samples - self.drawn() < 2 {
            self.stop = Some(Stop::Samples);
        } else if self.is_futile() {
            self.stop = Some(Stop::Futile);
        }
    }

    /// Whether what is left cannot decide: even where the largest growth that the outputs so far leave plausible sets
    /// in now, no capital reaches what it must.
    fn is_futile(&self) -> bool {
        let drawn = self.drawn() as f64;
        if drawn < PATIENCE * self.options.max_samples as f64 || self.playing.is_none() {
            return false;
        }
        let left = (self.options.max_samples as f64 - drawn) / 2.0;
        let gain = left * self.allocation.plausible_rate();
        let reach = |bettor: &Bettor| {
            let now = bettor.capital.parts.iter().map(|part| part.ln_growth);
            now.fold(f64::NEG_INFINITY, f64::max) + gain >= bettor.ln_wanted
        };
        let open = || (0..self.targets.len()).filter(|&at| self.fates[at] == Fate::Open);
        let provable = open().any(|at| {
            let next = self.proofs[at].wanted() as u64 * self.samples.inputs() as u64;
            self.targets[at].provable.is_some() && next <= self.options.max_samples
        });
        !provable && !open().any(|at| reach(&self.bettors[at]))
    }

    /// Ends the audit before it is over: at the caller's wish, or because time is up.
    pub fn finish(&mut self, reason: Stop) {
        self.stop.get_or_insert(reason);
    }
}
