//! Bets on rows that come in an order that nobody chose: of a log that grows, or in blocks.
//!
//! Rows of two secrets meet: the n-th row of one and the n-th row of the other since their pair was first judged, or the
//! two rows of a block. Several pairs are judged side by side, of which no two share a secret, so that what meets is
//! independent given the past, and one capital bets on all of it.
//!
//! A row that waits for one of the other secret teaches nothing before it has met: no rule, no bet and no choice of pairs
//! depends on it. Nor does what it is decide when others meet. So each factor has a mean of at most 1 under the claim,
//! given all rows that met before and all that will never meet: along the meetings, the capital is a nonnegative
//! supermartingale. A row that waits when its pair is given up meets none, and is learned from.
//!
//! Attackers that learn in no time do so again and again. [`Kind::Learned`] learns seldom, and its scores take a while;
//! it judges meetings later, in the order in which they were. Until then its part counts nothing.

use std::collections::VecDeque;

use leakgauge_base::parallel;

use crate::attackers::{Kind, Seen};
use crate::bettor::{Bettor, Lessons};
use crate::capital::Ascent;
use crate::cells::Scored;
use crate::limits::{Quantity, aim};
use crate::product_bets::{Allowed, Meeting};

/// Rows of either secret of a pair before rules are learned from them.
const LEARNED: usize = 4;
/// Rules are learned again once there are so many times as many rows: with few, and with many.
const AGAIN: (f64, f64) = (1.1, 1.5);
/// Rows of a secret that are many.
const MANY: usize = 5_000;
/// Bets that limits come from are placed anew more seldom: each limit reads all of them again.
const AGAIN_FOR_LIMITS: f64 = 1.5;
/// Rows of a secret that are kept, at least, where there were so many.
const MAX_PAST: usize = 100_000;
/// Pairs that are judged side by side at most.
const MAX_PLACES: usize = 8;
/// Nats that bets on past rows of a further pair would have gained, for it to be judged too.
const FURTHER: f64 = 3.0;
/// How much limits weigh in the choice of pairs, beside claims.
const FOR_LIMITS: f64 = 1e-3;

/// How many times as many rows there are when rules are learned again.
fn again(rows: usize) -> f64 {
    if rows < MANY { AGAIN.0 } else { AGAIN.1 }
}

/// What is known outside of the bets.
pub trait Surroundings: Sync {
    /// Rows by number.
    type Rows: Seen + Sync;

    /// Rows by number.
    fn rows(&self) -> &Self::Rows;

    /// The inequalities that the claim at this position implies for a pair of secrets.
    fn allowed(&self, claim: usize, pair: (u32, u32)) -> Vec<Allowed>;

    /// Past rows of a pair in ascending order of learned scores, if there are any.
    fn learned(&self, pair: (u32, u32)) -> Option<Vec<Scored>>;
}

/// A pair that is judged.
#[derive(Debug)]
struct Place {
    pair: (u32, u32),
    /// Rows of the secret that is ahead, in their order.
    waiting: VecDeque<u32>,
    is_second_ahead: bool,
    /// Rows of the secret that has fewer when rules were learned last: for claims, and for limits.
    learned: [usize; 2],
}

/// Two rows that met and were not judged by learned attacks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pending {
    /// The place of their pair.
    pub place: usize,
    /// The pair.
    pub pair: (u32, u32),
    /// The row of either secret.
    pub rows: (u32, u32),
}

/// A limit that rises, with the bets that it comes from.
#[derive(Debug)]
struct Rising {
    quantity: Quantity,
    bettor: Bettor,
    ascent: Ascent,
}

/// Bets on rows as they come.
#[derive(Debug)]
pub struct Watch {
    meeting: Meeting,
    kinds: Vec<Kind>,
    claims: Vec<Bettor>,
    limits: Vec<Rising>,
    places: Vec<Place>,
    /// For each secret its latest rows that may be learned from, in their order.
    past: Vec<Vec<u32>>,
    /// For each secret how many there were.
    rows: Vec<usize>,
    /// Whether some rule is by a model.
    has_model: bool,
    pending: Vec<Pending>,
    met: u64,
}

impl Watch {
    /// Attackers with these shares of each capital bet against claims, at the error probability of each, and for
    /// limits of the two quantities, at theirs.
    pub fn new(
        (kinds, shares): (Vec<Kind>, &[f64]),
        meeting: Meeting,
        claims: &[f64],
        limits: [f64; 2],
    ) -> Self {
        let claims = claims
            .iter()
            .map(|&alpha| Bettor::new(shares, alpha, meeting));
        let quantities = [Quantity::TotalVariation, Quantity::Epsilon];
        let limits = quantities.into_iter().zip(limits);
        Watch {
            meeting,
            claims: claims.collect(),
            limits: limits
                .map(|(quantity, alpha)| Rising {
                    quantity,
                    bettor: Bettor::new(shares, alpha, meeting),
                    ascent: Ascent::new(kinds.len()),
                })
                .collect(),
            has_model: false,
            kinds,
            places: Vec::new(),
            past: Vec::new(),
            rows: Vec::new(),
            pending: Vec::new(),
            met: 0,
        }
    }

    /// A row that came, of a secret.
    pub fn push(&mut self, (secret, row): (u32, u32), around: &impl Surroundings) {
        let places = &mut self.places;
        let is_of = |place: &Place| place.pair.0 == secret || place.pair.1 == secret;
        let Some(at) = places.iter().position(is_of) else {
            self.keep(secret, row);
            return;
        };
        let place = &mut places[at];
        let is_second = place.pair.1 == secret;
        if place.waiting.is_empty() || place.is_second_ahead == is_second {
            place.is_second_ahead = is_second;
            place.waiting.push_back(row);
            return;
        }
        let other = place.waiting.pop_front().expect("not empty");
        let rows = if is_second {
            (other, row)
        } else {
            (row, other)
        };
        let (a, b) = place.pair;
        self.meet(at, rows, around);
        self.keep(a, rows.0);
        self.keep(b, rows.1);
    }

    /// The rows of a block that came, of different secrets. One pair is judged at most: outcomes of two pairs in a block
    /// may depend on each other.
    pub fn push_block(&mut self, block: &[(u32, u32)], around: &impl Surroundings) {
        let row_of = |secret: u32| block.iter().find(|row| row.0 == secret).map(|row| row.1);
        if let Some(&Place { pair: (a, b), .. }) = self.places.first()
            && let (Some(first), Some(second)) = (row_of(a), row_of(b))
        {
            self.meet(0, (first, second), around);
        }
        for &(secret, row) in block {
            self.keep(secret, row);
        }
    }

    /// A row may be learned from.
    fn keep(&mut self, secret: u32, row: u32) {
        let secret = secret as usize;
        if self.past.len() <= secret {
            self.past.resize(secret + 1, Vec::new());
            self.rows.resize(secret + 1, 0);
        }
        let past = &mut self.past[secret];
        if past.len() >= 2 * MAX_PAST {
            past.drain(..past.len() - MAX_PAST);
        }
        past.push(row);
        self.rows[secret] += 1;
    }

    /// For each secret its latest rows that may be learned from, in their order.
    pub fn past(&self) -> &[Vec<u32>] {
        &self.past
    }

    /// Judges two rows that meet.
    fn meet(&mut self, at: usize, rows: (u32, u32), around: &impl Surroundings) {
        let pair = self.places[at].pair;
        self.learn_if_due(at, around);
        let waits = self.waits();
        for bettor in all_of(&mut self.claims, &mut self.limits) {
            for kind in (0..self.kinds.len()).filter(|&kind| Some(kind) != waits) {
                bettor.judge((at, kind), around.rows(), |_| f64::NAN, rows);
            }
        }
        self.met += 1;
        if waits.is_some() {
            let place = at;
            self.pending.push(Pending { place, pair, rows });
        }
        self.look();
    }

    /// The learned attacker, if it judges later.
    fn waits(&self) -> Option<usize> {
        self.learned_kind().filter(|_| self.has_model)
    }

    fn learned_kind(&self) -> Option<usize> {
        self.kinds.iter().position(|kind| *kind == Kind::Learned)
    }

    /// Looks at the capital against every claim, without parts that have not judged all meetings.
    fn look(&mut self) {
        let behind = self.learned_kind().filter(|_| !self.pending.is_empty());
        for bettor in &mut self.claims {
            bettor.capital.look_without(behind);
        }
    }

    /// Learns rules from the past of a pair again, if there are enough more rows.
    fn learn_if_due(&mut self, at: usize, around: &impl Surroundings) {
        let (a, b) = self.places[at].pair;
        let rows = self.rows_of((a, b));
        let times = [again(rows), AGAIN_FOR_LIMITS];
        let is_due = |of: usize| {
            let learned = self.places[at].learned[of];
            rows >= LEARNED && (learned == 0 || rows as f64 >= times[of] * learned as f64)
        };
        let is_due = [is_due(0), is_due(1)];
        if is_due != [false, false] {
            let lessons = Lessons::new(&self.kinds, around.rows(), None, self.past_of((a, b)));
            // What waits is judged by the rules that stood.
            let waits = self.waits();
            self.change_rules(at, &lessons, is_due, around, |kind| Some(kind) != waits);
            for (learned, is_due) in self.places[at].learned.iter_mut().zip(is_due) {
                if is_due {
                    *learned = rows;
                }
            }
        }
    }

    /// New rules at a place, for claims and for limits where they are due, of some kinds of attackers.
    fn change_rules(
        &mut self,
        at: usize,
        lessons: &Lessons,
        is_due: [bool; 2],
        around: &impl Surroundings,
        of: impl Fn(usize) -> bool,
    ) {
        let pair = self.places[at].pair;
        let rows = self.rows_of(pair) as f64;
        let place = (at, number_of(pair));
        if is_due[0] {
            for (claim, bettor) in self.claims.iter_mut().enumerate() {
                let allowed = around.allowed(claim, pair);
                bettor.change_rules(place, lessons, &allowed, &of);
            }
        }
        if is_due[1] {
            for limit in &mut self.limits {
                let front = limit.ascent.next();
                let allowed = aim(limit.quantity, front, lessons, rows, limit.bettor.ln_wanted);
                let bettor = &mut limit.bettor;
                bettor.change_rules(place, lessons, &[allowed], &of);
            }
        }
    }

    /// Rows of the secret of a pair that has fewer.
    fn rows_of(&self, (a, b): (u32, u32)) -> usize {
        let of = |secret: u32| self.rows.get(secret as usize).copied().unwrap_or(0);
        of(a).min(of(b))
    }

    fn past_of(&self, (a, b): (u32, u32)) -> (&[u32], &[u32]) {
        let of = |secret: u32| {
            self.past
                .get(secret as usize)
                .map_or(&[][..], Vec::as_slice)
        };
        (of(a), of(b))
    }

    /// Meetings that learned attacks have not judged, in their order.
    pub fn pending(&self) -> &[Pending] {
        &self.pending
    }

    /// Learned attacks judge what is pending; `score` gives the score of the first or the second row of a meeting by its
    /// position.
    pub fn settle(&mut self, score: impl Fn(usize, bool) -> f64, around: &impl Surroundings) {
        let pending = std::mem::take(&mut self.pending);
        let Some(kind) = self.learned_kind() else {
            return;
        };
        for bettor in all_of(&mut self.claims, &mut self.limits) {
            for (at, met) in pending.iter().enumerate() {
                let score = |is_second: bool| score(at, is_second);
                bettor.judge((met.place, kind), around.rows(), score, met.rows);
            }
        }
        self.look();
    }

    /// New rules of learned attacks, at all places.
    ///
    /// # Panics
    /// If meetings are pending.
    pub fn learn(&mut self, around: &impl Surroundings) {
        assert!(self.pending.is_empty(), "judged by the rules that stood");
        let learned = self.learned_kind();
        for at in 0..self.places.len() {
            let pair = self.places[at].pair;
            if let Some(scored) = around.learned(pair) {
                let past = self.past_of(pair);
                let lessons = Lessons::new(&self.kinds, around.rows(), Some(scored), past);
                self.change_rules(at, &lessons, [true; 2], around, |kind| {
                    Some(kind) == learned
                });
            }
        }
        let mut bettors = all_of(&mut self.claims, &mut self.limits);
        self.has_model = bettors.any(|bettor| bettor.has_model());
    }

    /// The pairs to judge from now on, of these, by what bets on their past rows promise: the best one, and others that share no secret
    /// with those before. With `quick` all attackers are asked, else the learned one.
    pub fn best_pairs(
        &self,
        candidates: &[(u32, u32)],
        quick: bool,
        around: &impl Surroundings,
    ) -> Vec<(u32, u32)> {
        let judged = |&&pair: &&(u32, u32)| self.rows_of(pair) >= LEARNED;
        let candidates: Vec<(u32, u32)> = candidates.iter().filter(judged).copied().collect();
        let rates = parallel::map(candidates.len(), |at| {
            let pair = candidates[at];
            let lessons = match (quick, around.learned(pair)) {
                (false, Some(scored)) => Lessons::of_model(&self.kinds, scored),
                (_, scored) => Lessons::new(&self.kinds, around.rows(), scored, self.past_of(pair)),
            };
            self.promise(pair, &lessons, around)
        });
        let rows = |pair| self.rows_of(pair) as f64;
        let mut ranked: Vec<((u32, u32), f64, f64)> = candidates
            .into_iter()
            .zip(rates)
            .map(|(pair, rate)| {
                let surely = (2.0 * rate).sqrt() - 1.0 / rows(pair).sqrt();
                (pair, surely, rate)
            })
            .collect();
        ranked.sort_by(|x, y| y.1.total_cmp(&x.1));
        let mut chosen: Vec<(u32, u32)> = Vec::new();
        for (pair, _, rate) in ranked {
            let shares = |other: &(u32, u32)| {
                [pair.0, pair.1].contains(&other.0) || [pair.0, pair.1].contains(&other.1)
            };
            let gains = rows(pair) * rate >= FURTHER;
            if chosen.is_empty() || (gains && !chosen.iter().any(shares)) {
                chosen.push(pair);
            }
        }
        chosen.truncate(match self.meeting {
            Meeting::Independent => MAX_PLACES,
            Meeting::Block => 1,
        });
        chosen
    }

    /// How fast bets by learned attacks grow at the pair where they grow fastest, of so many secrets.
    pub fn largest_promise(&self, around: &impl Surroundings, secrets: u32) -> f64 {
        let pairs = (0..secrets).flat_map(|a| (a + 1..secrets).map(move |b| (a, b)));
        let pairs: Vec<(u32, u32)> = pairs.collect();
        let rates = parallel::map(pairs.len(), |at| {
            let scored = around.learned(pairs[at]);
            scored.map_or(0.0, |scored| {
                let lessons = Lessons::of_model(&self.kinds, scored);
                self.promise(pairs[at], &lessons, around)
            })
        });
        rates.into_iter().fold(0.0, f64::max)
    }

    /// How fast bets on a pair grow.
    fn promise(&self, pair: (u32, u32), lessons: &Lessons, around: &impl Surroundings) -> f64 {
        let claims = 0..self.claims.len();
        let claims = claims.map(|claim| lessons.rate(&around.allowed(claim, pair)));
        let limits = self.limits.iter().map(|limit| {
            let front = limit.quantity.at(limit.ascent.next());
            front.map_or(0.0, |front| lessons.rate(&[front]))
        });
        claims.fold(0.0, f64::max) + FOR_LIMITS * limits.fold(0.0, f64::max)
    }

    /// The pairs that are judged now, the most promising first.
    pub fn pairs(&self) -> impl Iterator<Item = (u32, u32)> {
        self.places.iter().map(|place| place.pair)
    }

    /// From the next row on these pairs are judged, no two of which share a secret. Rows of a pair that stays go on
    /// waiting.
    ///
    /// # Panics
    /// If meetings are pending.
    pub fn choose(&mut self, pairs: &[(u32, u32)], around: &impl Surroundings) {
        if self.pairs().eq(pairs.iter().copied()) {
            return;
        }
        assert!(self.pending.is_empty(), "judged by the rules that stood");
        let before = std::mem::take(&mut self.places);
        let (stay, go): (Vec<Place>, Vec<Place>) = before
            .into_iter()
            .partition(|place| pairs.contains(&place.pair));
        for place in go {
            let (a, b) = place.pair;
            let ahead = if place.is_second_ahead { b } else { a };
            for row in place.waiting {
                self.keep(ahead, row);
            }
        }
        let mut stay: Vec<Option<Place>> = stay.into_iter().map(Some).collect();
        for &pair in pairs {
            let same = |place: &&mut Option<Place>| place.as_ref().is_some_and(|p| p.pair == pair);
            let kept = stay.iter_mut().find(same).and_then(Option::take);
            let waiting = kept.map(|place| (place.waiting, place.is_second_ahead));
            let (waiting, is_second_ahead) = waiting.unwrap_or_default();
            self.places.push(Place {
                pair,
                waiting,
                is_second_ahead,
                learned: [0, 0],
            });
        }
        for bettor in all_of(&mut self.claims, &mut self.limits) {
            bettor.forget(0);
        }
        self.learn(around);
    }

    /// Rows have other numbers from now on: what the past is now, for each secret. No pair is judged until one is chosen.
    ///
    /// # Panics
    /// If meetings are pending.
    pub fn renumber(&mut self, past: Vec<Vec<u32>>) {
        assert!(self.pending.is_empty(), "judged by the rules that stood");
        self.places.clear();
        for bettor in all_of(&mut self.claims, &mut self.limits) {
            bettor.forget(0);
        }
        self.has_model = false;
        self.rows = past.iter().map(Vec::len).collect();
        self.past = past;
    }

    /// ln of the largest capital so far against the claim at this position: the p-value is its reciprocal.
    pub fn ln_capital(&self, claim: usize) -> f64 {
        self.claims[claim].capital.ln_largest
    }

    /// A lower limit of a quantity, at some pair of secrets, which holds at all times together.
    pub fn at_least(&mut self, quantity: Quantity) -> f64 {
        let mut limits = self.limits.iter_mut();
        let Some(limit) = limits.find(|limit| limit.quantity == quantity) else {
            return 0.0;
        };
        let Rising { bettor, ascent, .. } = limit;
        ascent.climb(&bettor.capital, |at| quantity.at(at), bettor.ln_wanted);
        quantity.limit(ascent.next())
    }

    /// Pairs of rows that met.
    pub fn met(&self) -> u64 {
        self.met
    }

    /// What the rules of the attacker that gained most show of a quantity, on the latest half of the meetings of the
    /// first pair: an estimate.
    pub fn estimate(&self, quantity: Quantity) -> Option<f64> {
        let limit = self
            .limits
            .iter()
            .find(|limit| limit.quantity == quantity)?;
        let pair = number_of(self.places.first()?.pair);
        let parts = limit.bettor.capital.parts.iter();
        let spoke = parts.filter_map(|part| {
            let of_pair = part.segments.iter().filter(|segment| segment.pair == pair);
            Some((
                part.ln_growth,
                quantity.latest(of_pair.rev().map(|segment| segment.seen()))?,
            ))
        });
        let best = spoke.reduce(|best, next| if next.0 > best.0 { next } else { best });
        best.map(|best| best.1)
    }
}

/// All who bet.
fn all_of<'a>(
    claims: &'a mut [Bettor],
    limits: &'a mut [Rising],
) -> impl Iterator<Item = &'a mut Bettor> {
    let limits = limits.iter_mut().map(|limit| &mut limit.bettor);
    claims.iter_mut().chain(limits)
}

/// A number for a pair of secrets.
fn number_of((a, b): (u32, u32)) -> usize {
    let (small, large) = (a.min(b) as usize, a.max(b) as usize);
    large * (large.saturating_sub(1)) / 2 + small
}

#[cfg(test)]
mod tests;
