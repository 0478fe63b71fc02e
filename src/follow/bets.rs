//! The bets of a log that is followed: who bets, on which pairs, by which learned attack.

use leakgauge_attack::cross_fit::PairScores;
use leakgauge_base::error::Result;
use leakgauge_log::observations::{Cell, Counts, Observations};
use leakgauge_sequential::attackers::{Kind, Seen};
use leakgauge_sequential::cells::Scored;
use leakgauge_sequential::limits::Quantity;
use leakgauge_sequential::product_bets::{Allowed, Meeting};
use leakgauge_sequential::watch::{Surroundings, Watch};

use super::FollowOptions;
use super::attack::{Learned, Rows, renumbered};
use super::claims::Followed;
use super::learn::{PastRows, learn};
use super::levels::Levels;

/// Pairs of secrets up to which attackers that learn in no time are asked which to judge.
const MAX_QUICK_PAIRS: usize = 64;
/// Rows that an attack is learned from at most.
pub(super) const MAX_LEARNED: usize = 100_000;

/// An attack that learns seldom.
struct Attack {
    learned: Learned,
    /// Its scores of the past, each part by an attack that learned from the others.
    scores: PairScores,
}

/// The bets.
pub(super) struct Bets {
    watch: Watch,
    attack: Option<Attack>,
}

/// What bets read.
struct Around<'a, S> {
    seen: &'a S,
    claims: &'a Followed,
    scores: Option<&'a PairScores>,
}

impl<S: Seen + Sync> Surroundings for Around<'_, S> {
    type Rows = S;

    fn rows(&self) -> &S {
        self.seen
    }

    fn allowed(&self, claim: usize, pair: (u32, u32)) -> Vec<Allowed> {
        self.claims.inequalities(claim, pair)
    }

    fn learned(&self, (a, b): (u32, u32)) -> Option<Vec<Scored>> {
        let scores = self.scores?;
        if scores.secrets() <= a.max(b) as usize {
            return None;
        }
        let steps = scores.steps(a, b).into_iter().rev();
        let scored = steps.map(|(score, first, second)| Scored {
            score,
            first: first as f64,
            second: second as f64,
        });
        let scored: Vec<Scored> = scored.collect();
        (!scored.is_empty()).then_some(scored)
    }
}

impl Bets {
    /// These attackers with their shares bet against claims, at their levels. Where the attack is chosen by the user, it
    /// bets alone.
    pub fn new(
        attackers: (Vec<Kind>, Vec<f64>),
        meeting: Meeting,
        options: &FollowOptions,
        levels: &Levels,
    ) -> Self {
        let (kinds, shares) = if options.attacks.are_auto() {
            attackers
        } else {
            (vec![Kind::Learned], vec![1.0])
        };
        let claims = vec![levels.each; options.claims.len()];
        Bets {
            watch: Watch::new((kinds, &shares), meeting, &claims, levels.limits()),
            attack: None,
        }
    }

    /// Takes a row of a secret.
    pub fn push(&mut self, row: (u32, u32), seen: &(impl Seen + Sync), claims: &Followed) {
        let scores = self.attack.as_ref().map(|attack| &attack.scores);
        let around = Around {
            seen,
            claims,
            scores,
        };
        self.watch.push(row, &around);
    }

    /// Takes the rows of a block.
    pub fn push_block(
        &mut self,
        block: &[(u32, u32)],
        seen: &(impl Seen + Sync),
        claims: &Followed,
    ) {
        let scores = self.attack.as_ref().map(|attack| &attack.scores);
        let around = Around {
            seen,
            claims,
            scores,
        };
        self.watch.push_block(block, &around);
    }

    /// Rows that met and wait for the learned attack.
    pub fn pending(&self) -> usize {
        self.watch.pending().len()
    }

    /// Whether there is a learned attack.
    pub fn has_learned(&self) -> bool {
        self.attack.is_some()
    }

    /// The learned attack judges what waits for it.
    ///
    /// # Errors
    /// An attack that cannot be learned again from the same rows.
    pub fn settle(
        &mut self,
        rows: &dyn Rows,
        seen: &(impl Seen + Sync),
        claims: &Followed,
    ) -> Result<()> {
        let pending = self.watch.pending();
        let Some(attack) = self.attack.as_ref().filter(|_| !pending.is_empty()) else {
            return Ok(());
        };
        let symbols = pending.iter().flat_map(|met| [met.rows.0, met.rows.1]);
        let scored = attack.learned.scores(&symbols.collect::<Vec<_>>(), rows)?;
        let pairs: Vec<(u32, u32)> = pending.iter().map(|met| met.pair).collect();
        let score = |at: usize, is_second: bool| {
            let (a, b) = pairs[at];
            scored.difference(2 * at + usize::from(is_second), a, b)
        };
        let around = Around {
            seen,
            claims,
            scores: Some(&attack.scores),
        };
        self.watch.settle(score, &around);
        Ok(())
    }

    /// Chooses the pairs to judge, of so many secrets, by the past.
    ///
    /// # Errors
    /// Those of [`Bets::settle`].
    pub fn choose(
        &mut self,
        rows: &dyn Rows,
        seen: &(impl Seen + Sync),
        claims: &Followed,
    ) -> Result<()> {
        let secrets = rows.labels().len() as u32;
        let all: Vec<(u32, u32)> = (0..secrets)
            .flat_map(|a| (a + 1..secrets).map(move |b| (a, b)))
            .collect();
        let is_quick = all.len() <= MAX_QUICK_PAIRS;
        if !is_quick && self.attack.is_none() || all.len() == 1 && self.pairs().count() == 1 {
            return Ok(());
        }
        let around = Around {
            seen,
            claims,
            scores: self.attack.as_ref().map(|attack| &attack.scores),
        };
        let chosen = self.watch.best_pairs(&all, is_quick, &around);
        if chosen.is_empty() || self.watch.pairs().eq(chosen.iter().copied()) {
            return Ok(());
        }
        self.settle(rows, seen, claims)?;
        let around = Around {
            seen,
            claims,
            scores: self.attack.as_ref().map(|attack| &attack.scores),
        };
        self.watch.choose(&chosen, &around);
        Ok(())
    }

    /// Learns an attack from the past, and chooses pairs by it.
    ///
    /// # Errors
    /// Attacks that cannot be learned; those of [`Bets::settle`].
    pub fn learn(
        &mut self,
        options: &FollowOptions,
        rows: &dyn Rows,
        seen: &(impl Seen + Sync),
        claims: &Followed,
    ) -> Result<()> {
        self.settle(rows, seen, claims)?;
        let secrets = rows.labels().len();
        let (table, ids, counts) = self.past(secrets, rows);
        let past = PastRows {
            table: &table,
            counts: &counts,
        };
        let promise = |scores: &PairScores| {
            let around = Around {
                seen,
                claims,
                scores: Some(scores),
            };
            self.watch.largest_promise(&around, secrets as u32)
        };
        let (scorer, scores) = learn(&past, options, &claims.deltas(), promise)?;
        self.attack = Some(Attack {
            // What was chosen is kept, and learned from all of the past.
            learned: Learned::new(scorer, &table, &counts, &ids)?,
            scores,
        });
        self.choose(rows, seen, claims)?;
        let around = Around {
            seen,
            claims,
            scores: self.attack.as_ref().map(|attack| &attack.scores),
        };
        self.watch.learn(&around);
        Ok(())
    }

    /// The latest rows that may be learned from: a table of their observations, these by their numbers in the stream, and how
    /// often each came up.
    fn past(&self, secrets: usize, rows: &dyn Rows) -> (Observations, Vec<u32>, Counts) {
        let past = self.watch.past();
        let total: usize = past.iter().map(Vec::len).sum();
        let part = (MAX_LEARNED as f64 / total.max(1) as f64).min(1.0);
        let latest = |of: &[u32]| (part * of.len() as f64).ceil() as usize;
        let latest: Vec<(u32, u32)> = (0u32..)
            .zip(past)
            .flat_map(|(secret, of)| {
                let kept = &of[of.len() - latest(of)..];
                kept.iter().map(move |&symbol| (secret, symbol))
            })
            .collect();
        let (table, ids) = rows.table(latest.iter().map(|row| row.1).collect());
        let cells = latest.iter().map(|&(secret, symbol)| Cell {
            secret,
            symbol,
            count: 1,
        });
        let counts = renumbered(secrets, cells, &ids);
        (table, ids, counts)
    }

    /// Rows have other numbers from now on: the past, for each secret. What was learned from the old numbers is forgotten.
    pub fn renumber(&mut self, past: Vec<Vec<u32>>) {
        self.attack = None;
        self.watch.renumber(past);
    }

    /// The pairs that are judged now, the most promising first.
    pub fn pairs(&self) -> impl Iterator<Item = (u32, u32)> {
        self.watch.pairs()
    }

    /// Rows that were judged, in pairs of one row of either secret.
    pub fn judged(&self) -> u64 {
        2 * self.watch.met()
    }

    /// The least p-value of a claim so far, by itself.
    pub fn p_value(&self, claim: usize) -> f64 {
        (-self.watch.ln_capital(claim)).exp().min(1.0)
    }

    /// The lower limit of a quantity so far, and an estimate.
    pub fn limit(&mut self, quantity: Quantity) -> (f64, Option<f64>) {
        (self.watch.at_least(quantity), self.watch.estimate(quantity))
    }
}
