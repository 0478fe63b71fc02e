//! The smallest of many keys.

/// The largest number of points that are offered together: a few vector registers.
pub const LEAF: usize = 16;

/// What a search keeps of the points that it visits. A key is offered once for each point.
pub trait Collect {
    /// Whether points may be of use whose keys are no smaller than this.
    fn reaches(&self, bound: f64) -> bool;

    /// Offers a point by its key, its place in the index, and the number of rows that it stands for.
    fn offer(&mut self, key: f64, place: usize, rows: usize);

    /// Offers points at consecutive places; keys beyond them are infinite.
    #[inline]
    fn offer_all(&mut self, keys: &[f64; LEAF], first: usize, rows: &[u32]) {
        for (place, (&key, &rows)) in (first..).zip(keys.iter().zip(rows)) {
            self.offer(key, place, rows as usize);
        }
    }
}

#[inline(always)]
fn smaller(a: f64, b: f64) -> f64 {
    if b < a { b } else { a }
}

/// The smallest key.
pub(crate) struct Smallest {
    pub key: f64,
}

impl Default for Smallest {
    fn default() -> Self {
        Smallest { key: f64::INFINITY }
    }
}

impl Collect for Smallest {
    #[inline]
    fn reaches(&self, bound: f64) -> bool {
        bound < self.key
    }

    #[inline]
    fn offer(&mut self, key: f64, _: usize, _: usize) {
        self.key = smaller(self.key, key);
    }

    #[inline(always)]
    fn offer_all(&mut self, keys: &[f64; LEAF], _: usize, _: &[u32]) {
        let mut least = [self.key; 4];
        for keys in keys.as_chunks::<4>().0 {
            for (least, &key) in least.iter_mut().zip(keys) {
                *least = smaller(*least, key);
            }
        }
        self.key = smaller(smaller(least[0], least[1]), smaller(least[2], least[3]));
    }
}

/// The k smallest keys offered so far.
pub struct Nearest(Kept);

enum Kept {
    /// Ascending, infinite where there are none yet; few.
    Short {
        k: usize,
        len: usize,
        keys: [f64; SHORT],
    },
    /// Many: in any order, and now and then those beyond the k-th smallest are dropped.
    Long {
        k: usize,
        keys: Vec<f64>,
        /// No key from here on is among the k smallest.
        farthest: f64,
        /// Number of keys at which that is done.
        full: usize,
    },
}

/// Up to which k keys are inserted in their order.
const SHORT: usize = 24;

impl Nearest {
    /// Keeps the `k` smallest, at least one.
    pub fn new(k: usize) -> Self {
        Nearest(if k <= SHORT {
            Kept::Short {
                k,
                len: 0,
                keys: [f64::INFINITY; SHORT],
            }
        } else {
            Kept::Long {
                k,
                keys: Vec::with_capacity(k + k / 4 + 1),
                farthest: f64::INFINITY,
                full: k,
            }
        })
    }

    /// The k-th smallest so far, or somewhat more if they are many; infinite while there are fewer.
    #[inline]
    pub fn farthest(&self) -> f64 {
        match &self.0 {
            Kept::Short { k, keys, .. } => keys[*k - 1],
            Kept::Long { farthest, .. } => *farthest,
        }
    }

    /// Offers a key that so many rows share.
    #[inline]
    pub fn offer_rows(&mut self, key: f64, rows: usize) {
        for _ in 0..rows {
            if key >= self.farthest() {
                return;
            }
            self.insert(key);
        }
    }

    fn insert(&mut self, key: f64) {
        match &mut self.0 {
            Kept::Short { k, len, keys } => {
                *len = (*len + 1).min(*k);
                let mut at = *len - 1;
                while at > 0 && keys[at - 1] > key {
                    keys[at] = keys[at - 1];
                    at -= 1;
                }
                keys[at] = key;
            }
            Kept::Long {
                k,
                keys,
                farthest,
                full,
            } => {
                keys.push(key);
                if keys.len() >= *full {
                    *farthest = first(keys, *k);
                    *full = *k + *k / 4 + 1;
                }
            }
        }
    }

    /// Replaces `sorted` by the keys, ascending, and forgets them.
    pub fn drain_into(&mut self, sorted: &mut Vec<f64>) {
        sorted.clear();
        match &mut self.0 {
            Kept::Short { len, keys, .. } => {
                sorted.extend_from_slice(&keys[..*len]);
                keys.fill(f64::INFINITY);
                *len = 0;
            }
            Kept::Long {
                k,
                keys,
                farthest,
                full,
            } => {
                first(keys, *k);
                std::mem::swap(keys, sorted);
                sort(sorted);
                *farthest = f64::INFINITY;
                *full = *k;
            }
        }
    }
}

impl Collect for Nearest {
    /// An equal key changes nothing.
    #[inline]
    fn reaches(&self, bound: f64) -> bool {
        bound < self.farthest()
    }

    #[inline]
    fn offer(&mut self, key: f64, _: usize, rows: usize) {
        self.offer_rows(key, rows);
    }

    #[inline]
    fn offer_all(&mut self, keys: &[f64; LEAF], _: usize, rows: &[u32]) {
        let farthest = self.farthest();
        let mut nearer = 0u32;
        for (at, &key) in keys.iter().enumerate() {
            nearer |= u32::from(key < farthest) << at;
        }
        while nearer != 0 {
            let at = nearer.trailing_zeros() as usize;
            nearer &= nearer - 1;
            self.offer_rows(keys[at], rows[at] as usize);
        }
    }
}

/// Sorts keys, which are never negative, so that their bits have their order.
pub(crate) fn sort(keys: &mut [f64]) {
    keys.sort_unstable_by_key(|key| key.to_bits());
}

/// Leaves the k smallest in any order. Returns the k-th; infinite if there are fewer.
fn first(keys: &mut Vec<f64>, k: usize) -> f64 {
    if keys.len() < k {
        return f64::INFINITY;
    }
    let farthest = *keys.select_nth_unstable_by(k - 1, f64::total_cmp).1;
    keys.truncate(k);
    farthest
}

/// Leaves the k smallest of some keys with their numbers of rows in `sorted`, ascending, each as often
/// as it has rows; `keys` may be reordered.
pub fn smallest(keys: &mut Vec<(f64, u32)>, k: usize, sorted: &mut Vec<f64>) {
    if k < keys.len() {
        keys.select_nth_unstable_by(k - 1, |a, b| a.0.total_cmp(&b.0));
        keys.truncate(k);
    }
    keys.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
    sorted.clear();
    for &(key, rows) in keys.iter() {
        let room = k - sorted.len();
        sorted.resize(sorted.len() + room.min(rows as usize), key);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn both_ways_keep_the_smallest(
            offered in prop::collection::vec((0u8..40, 0u32..4), 1..200),
            k in 1usize..60,
        ) {
            let mut all: Vec<f64> = Vec::new();
            let mut nearest = Nearest::new(k);
            for &(key, rows) in &offered {
                all.extend(vec![f64::from(key); rows as usize]);
                nearest.offer_rows(f64::from(key), rows as usize);
            }
            all.sort_by(f64::total_cmp);
            all.truncate(k);
            let mut sorted = Vec::new();
            nearest.drain_into(&mut sorted);
            prop_assert_eq!(&sorted, &all);
            let mut keys: Vec<_> = offered
                .iter()
                .filter(|(_, rows)| *rows > 0)
                .map(|&(key, rows)| (f64::from(key), rows))
                .collect();
            if !keys.is_empty() {
                smallest(&mut keys, k, &mut sorted);
                prop_assert_eq!(&sorted, &all);
            }
        }
    }
}
