//! The hashes of the windows that are kept, and where each first occurred.

/// Bits a window at least in the filter.
const SPARSE: usize = 8;
/// The end of a chain.
const NONE: u32 = u32::MAX;
/// A window that stands in no chain, since one before it hashes to the same.
const AGAIN: u32 = u32::MAX - 1;

/// Windows in order, with what finds them by their hash.
///
/// Nearly every row asks whether a window is known, and nearly none is. So a filter answers first: three bits of one
/// word for each window. What it lets pass is looked for in chains, of which a window needs eight bytes.
#[derive(Default)]
pub(super) struct Windows {
    hashes: Vec<u64>,
    /// The last window of each chain, and the one before each window in its chain.
    last: Vec<u32>,
    before: Vec<u32>,
    filter: Vec<u64>,
    /// The bits of a hash beyond those that say where its word is.
    shift: u32,
}

impl Windows {
    /// The hash of the window with this number.
    pub(super) fn get(&self, number: usize) -> Option<u64> {
        self.hashes.get(number).copied()
    }

    /// Whether there may be a window that hashes to this.
    #[inline]
    pub(super) fn may_hold(&self, hash: u64) -> bool {
        let word = self
            .filter
            .get(hash.checked_shr(self.shift).unwrap_or(0) as usize);
        let bits = bits(hash);
        word.is_some_and(|word| word & bits == bits)
    }

    /// Lets the filter pass a hash.
    #[inline]
    pub(super) fn mark(&mut self, hash: u64) {
        let at = hash.checked_shr(self.shift).unwrap_or(0) as usize;
        if let Some(word) = self.filter.get_mut(at) {
            *word |= bits(hash);
        }
    }

    /// Makes room in the filter for so many windows more.
    pub(super) fn reserve(&mut self, more: usize) {
        let all = self.hashes.len() + more;
        if self.filter.len() * 64 < SPARSE * all {
            let words = (2 * SPARSE * all).next_power_of_two().max(1 << 15) / 64;
            self.filter = vec![0; words];
            self.shift = 64 - words.trailing_zeros();
            for at in 0..self.hashes.len() {
                self.mark(self.hashes[at]);
            }
        }
    }

    /// The first window that hashes to this.
    pub(super) fn first(&self, hash: u64) -> Option<u32> {
        let mut at = *self.last.get(self.chain(hash))?;
        while at != NONE && self.hashes[at as usize] != hash {
            at = self.before[at as usize];
        }
        (at != NONE).then_some(at)
    }

    /// Reads what [`first`](Self::first) and [`push`](Self::push) will need of some hashes, those that may be known marked.
    /// The processor fetches it for all of them at the same time, where one after another would wait for it.
    pub(super) fn touch(&self, hashes: impl Iterator<Item = (u64, bool)>) {
        let mut sum = 0;
        for (hash, may_be_known) in hashes {
            let last = self.last.get(self.chain(hash)).copied().unwrap_or(NONE);
            sum ^= u64::from(last);
            if may_be_known {
                sum ^= self.get(last as usize).unwrap_or(0);
            }
        }
        std::hint::black_box(sum);
    }

    /// Adds a window, which is not known for certain if `is_new`.
    pub(super) fn push(&mut self, hash: u64, is_new: bool) {
        self.reserve(1);
        self.mark(hash);
        if self.hashes.len() >= 2 * self.last.len() {
            self.grow();
        }
        let number = self.hashes.len() as u32;
        let is_again = !is_new && self.first(hash).is_some();
        self.hashes.push(hash);
        match is_again {
            true => self.before.push(AGAIN),
            false => {
                let chain = self.chain(hash);
                self.before
                    .push(std::mem::replace(&mut self.last[chain], number));
            }
        }
    }

    /// The chain of a hash, by other bits than those that the filter looks at.
    fn chain(&self, hash: u64) -> usize {
        (hash >> 18) as usize & self.last.len().saturating_sub(1)
    }

    /// Makes twice as many chains.
    fn grow(&mut self) {
        let chains = (2 * self.last.len()).max(1 << 10);
        self.last = vec![NONE; chains];
        for (at, &hash) in self.hashes.iter().enumerate() {
            if self.before[at] != AGAIN {
                let chain = (hash >> 18) as usize & (chains - 1);
                self.before[at] = std::mem::replace(&mut self.last[chain], at as u32);
            }
        }
    }
}

/// The bits of a hash in its word.
#[inline]
fn bits(hash: u64) -> u64 {
    1 << (hash & 63) | 1 << (hash >> 6 & 63) | 1 << (hash >> 12 & 63)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_window_is_found_where_it_first_occurred() {
        let mut windows = Windows::default();
        assert!(!windows.may_hold(0) && windows.first(0).is_none());
        let hash = |at: u32| u64::from(at % 3_000).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        for at in 0..10_000 {
            windows.push(hash(at), at < 3_000);
            assert_eq!(windows.get(at as usize), Some(hash(at)));
        }
        for at in 0..3_000 {
            assert!(windows.may_hold(hash(at)));
            assert_eq!(windows.first(hash(at)), Some(at));
        }
        let others = (3_000..100_000u64).map(|at| at.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        let passed = others.clone().filter(|&hash| windows.may_hold(hash));
        assert!(passed.count() < 3_000);
        assert!(others.clone().all(|hash| windows.first(hash).is_none()));
    }
}
