//! A uniform sample of rows without replacement, stratified, in memory for twice the rows that it keeps.
//!
//! Every row has a priority, uniform in (0, 1) and decided by a seed and by which row it is, never by what
//! was observed. Of every stratum the rows of lowest priority are kept, as many as a common cap allows
//! ([`cap`]). Rows that are equal may be offered together, as a count: they are exchangeable, so the
//! priorities of a count are drawn in ascending order, and only as many as may still be kept.
//!
//! Why limits from the sample stay valid: given their secrets, rows are independent draws from the law of
//! their secret. Which of them are kept follows from priorities and from the numbers of rows of the secrets,
//! both independent of what was observed. So the rows kept are independent draws from the same laws, only
//! fewer. How often a secret occurs among them means nothing any more: the exact numbers of rows are kept
//! for that (`Sample::rows`).

use crate::observations::Cell;

/// The odd constant and the finaliser of SplitMix64 (Steele, Lea and Flood 2014,
/// doi:10.1145/2660193.2660195), whose output passes the usual tests of uniformity on consecutive inputs. It
/// is written out because samples must not change with the version of a library.
const GAMMA: u64 = 0x9e37_79b9_7f4a_7c15;

const fn mix(mut z: u64) -> u64 {
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// The priorities of equal rows, in ascending order.
///
/// # Formula
/// The least of n independent uniform numbers above x is x + (1 − x)(1 − V^(1/n)), V uniform.
#[derive(Debug, Clone)]
pub struct Priorities {
    state: u64,
    /// The first uniform number, if it is not drawn.
    first: Option<f64>,
    left: u64,
    last: f64,
}

impl Priorities {
    /// Of `count` equal rows, told from all others by `identity`.
    fn new(key: u64, identity: u64, count: u64) -> Self {
        Priorities {
            state: mix(key ^ mix(identity.wrapping_add(GAMMA))),
            first: None,
            left: count,
            last: 0.0,
        }
    }

    /// Of `count` equal rows, told from all others by a hash that already depends on the seed. That of a
    /// single row is the hash itself as a fraction of all hashes, so that whoever counts rows can leave out
    /// those above a threshold.
    pub fn of_hash(hash: u64, count: u64) -> Self {
        Priorities {
            first: Some(1.0 - fraction(hash)),
            ..Priorities::new(0, hash, count)
        }
    }
}

/// A word as a number in (0, 1).
fn fraction(word: u64) -> f64 {
    ((word >> 11) as f64 + 0.5) / (1u64 << 53) as f64
}

impl Iterator for Priorities {
    type Item = f64;

    fn next(&mut self) -> Option<f64> {
        if self.left == 0 {
            return None;
        }
        let uniform = self.first.take().unwrap_or_else(|| {
            self.state = self.state.wrapping_add(GAMMA);
            fraction(mix(self.state))
        });
        let step = if self.left == 1 {
            1.0 - uniform
        } else {
            // The same bits on every platform, which logarithms of the system do not promise.
            -libm::expm1(libm::log(uniform) / self.left as f64)
        };
        self.last += (1.0 - self.last) * step;
        self.left -= 1;
        Some(self.last)
    }
}

/// A row that may be kept. Rows of equal priority are told apart by their identity.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Candidate {
    /// The bits of the priority: those of positive numbers are in the order of the numbers.
    priority: u64,
    identity: u64,
    item: u32,
}

/// The rows of one stratum.
#[derive(Debug, Clone)]
struct Stratum {
    /// All rows offered.
    rows: u64,
    /// Priority and identity of the last row that may still be kept.
    last: (u64, u64),
    candidates: Vec<Candidate>,
}

/// Draws the sample while rows are offered.
#[derive(Debug, Clone)]
pub(crate) struct Sampler {
    most: u64,
    key: u64,
    strata: Vec<Stratum>,
    candidates: usize,
}

/// A sample.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Sample {
    /// The most rows of a stratum that are kept.
    pub(crate) cap: u64,
    /// How many rows of every stratum were offered.
    pub(crate) rows: Vec<u64>,
    /// The rows that are kept: stratum, item and how often, by item, then stratum.
    pub(crate) cells: Vec<Cell>,
}

impl Sampler {
    /// A sample of at most so many rows; seeds give samples that are independent of each other.
    pub(crate) fn new(most: u64, seed: u64) -> Self {
        Sampler {
            most,
            key: mix(mix(seed).wrapping_add(GAMMA)),
            strata: Vec::new(),
            candidates: 0,
        }
    }

    /// Offers `count` equal rows of a stratum. `identity` tells these rows from all others: every value
    /// may be offered once. The item that stands for them is asked for only if a row may be kept.
    ///
    /// True if candidates were dropped, so that items that nothing stands for any more may be freed: see
    /// [`items`](Self::items) and [`renumber`](Self::renumber).
    ///
    /// The sample does not depend on the order of offers.
    pub(crate) fn offer(
        &mut self,
        stratum: u32,
        count: u64,
        identity: u64,
        item: impl FnOnce() -> u32,
    ) -> bool {
        let at = stratum as usize;
        if self.strata.len() <= at {
            self.strata.resize(at + 1, Stratum::EMPTY);
        }
        let known = &mut self.strata[at];
        known.rows = known.rows.saturating_add(count);
        let mut priorities = Priorities::new(self.key, identity, count);
        let next = |priorities: &mut Priorities| priorities.next().map(f64::to_bits);
        let may_stay = |known: &Stratum, priority: u64| (priority, identity) <= known.last;
        let Some(mut priority) = next(&mut priorities).filter(|first| may_stay(known, *first))
        else {
            return false;
        };
        let item = item();
        let mut dropped = false;
        loop {
            self.strata[at].candidates.push(Candidate {
                priority,
                identity,
                item,
            });
            self.candidates += 1;
            if self.candidates as u64 >= self.most.saturating_mul(2).max(2) {
                self.cut();
                dropped = true;
            }
            match next(&mut priorities) {
                Some(later) if may_stay(&self.strata[at], later) => priority = later,
                _ => return dropped,
            }
        }
    }

    /// Drops candidates that cannot be kept. The cap only falls as rows come, so that a row that is
    /// above it among those offered so far is above it among all.
    fn cut(&mut self) -> u64 {
        let rows: Vec<u64> = self.rows();
        let cap = cap(&rows, self.most);
        for stratum in &mut self.strata {
            stratum.keep(cap);
        }
        let lengths = self.strata.iter().map(|stratum| stratum.candidates.len());
        self.candidates = lengths.sum();
        cap
    }

    /// How many rows of every stratum were offered.
    pub fn rows(&self) -> Vec<u64> {
        self.strata.iter().map(|stratum| stratum.rows).collect()
    }

    /// The items of the rows that may be kept, with repetitions.
    pub(crate) fn items(&self) -> impl Iterator<Item = u32> {
        let all = self.strata.iter().flat_map(|stratum| &stratum.candidates);
        all.map(|candidate| candidate.item)
    }

    /// Gives the items other numbers. The sample is the same, except for these.
    pub(crate) fn renumber(&mut self, number: impl Fn(u32) -> u32) {
        let all = self.strata.iter_mut();
        for candidate in all.flat_map(|stratum| &mut stratum.candidates) {
            candidate.item = number(candidate.item);
        }
    }

    /// The sample.
    pub(crate) fn finish(mut self) -> Sample {
        let cap = self.cut();
        let rows = self.rows();
        let mut cells = Vec::with_capacity(self.candidates);
        for (secret, stratum) in self.strata.into_iter().enumerate() {
            cells.extend(stratum.candidates.into_iter().map(|candidate| Cell {
                secret: secret as u32,
                symbol: candidate.item,
                count: 1,
            }));
        }
        cells.sort_unstable_by_key(|cell| (cell.symbol, cell.secret));
        cells.dedup_by(|next, kept| {
            let same = (next.symbol, next.secret) == (kept.symbol, kept.secret);
            kept.count += u64::from(same);
            same
        });
        Sample { cap, rows, cells }
    }
}

impl Stratum {
    const EMPTY: Stratum = Stratum {
        rows: 0,
        last: (u64::MAX, u64::MAX),
        candidates: Vec::new(),
    };

    /// Keeps at most so many candidates, those of lowest priority.
    fn keep(&mut self, most: u64) {
        if self.candidates.len() as u64 <= most {
            return;
        }
        let most = most as usize;
        if most > 0 {
            let (_, last, _) = self.candidates.select_nth_unstable(most - 1);
            self.last = (last.priority, last.identity);
        } else {
            self.last = (0, 0);
        }
        self.candidates.truncate(most);
        self.candidates.shrink_to(most.saturating_mul(2));
    }
}

/// The largest c for which Σ min(nₛ, c) ≤ `most`: rare strata keep all of their rows, and the others as many
/// as each other. The largest nₛ where all rows together are no more than `most`.
pub fn cap(rows: &[u64], most: u64) -> u64 {
    let mut rows = rows.to_vec();
    rows.sort_unstable();
    let mut left = most;
    for (at, &n) in rows.iter().enumerate() {
        let share = left / (rows.len() - at) as u64;
        if n > share {
            return share;
        }
        left -= n;
    }
    rows.last().copied().unwrap_or(0)
}

#[cfg(test)]
mod tests;
