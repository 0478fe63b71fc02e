//! An order-statistics tree of free slots: takes the k-th free slot.

/// The number of slots in a block: eight words.
const BLOCK: usize = 512;
const WORDS: usize = BLOCK / 64;

/// The slots 0 … n − 1, one bit each, with Fenwick sums over blocks of bits. For n = 10⁶ everything that a step
/// reads fits in the cache.
pub(super) struct Slots {
    /// Set if free.
    words: Vec<u64>,
    /// Fenwick sums of free slots of blocks, from 1.
    sums: Vec<u32>,
    /// The largest power of two that is at most the number of blocks.
    top: usize,
}

impl Slots {
    pub fn new(n: usize) -> Self {
        let blocks = n.div_ceil(BLOCK);
        let mut words = vec![0; blocks * WORDS];
        for (at, word) in words.iter_mut().enumerate() {
            *word = match n.saturating_sub(64 * at) {
                0 => 0,
                left @ 1..64 => (1 << left) - 1,
                _ => u64::MAX,
            };
        }
        let mut sums = vec![0u32; blocks + 1];
        for at in 1..=blocks {
            sums[at] += (n - (at - 1) * BLOCK).min(BLOCK) as u32;
            let next = at + (at & at.wrapping_neg());
            if next <= blocks {
                sums[next] += sums[at];
            }
        }
        Slots {
            words,
            sums,
            top: if blocks == 0 { 0 } else { 1 << blocks.ilog2() },
        }
    }

    /// Takes the free slot that has exactly `before` free slots below it, in O(log n).
    ///
    /// More than `before` slots must be free.
    pub fn take(&mut self, before: u32) -> usize {
        let (mut block, mut left, mut step) = (0, before, self.top);
        while step > 0 {
            let next = block + step;
            if next < self.sums.len() {
                if self.sums[next] <= left {
                    left -= self.sums[next];
                    block = next;
                } else {
                    // The slot is below `next`.
                    self.sums[next] -= 1;
                }
            }
            step >>= 1;
        }
        let mut at = block * WORDS;
        loop {
            let free = self.words[at].count_ones();
            if left < free {
                break;
            }
            left -= free;
            at += 1;
        }
        let bit = nth_bit(self.words[at], left);
        self.words[at] &= !(1 << bit);
        64 * at + bit as usize
    }
}

/// The position of the set bit that has exactly `n` set bits below it.
fn nth_bit(mut word: u64, mut n: u32) -> u32 {
    let (mut place, mut width) = (0, 32);
    while width > 0 {
        let low = (word & ((1 << width) - 1)).count_ones();
        if n >= low {
            n -= low;
            place += width;
            word >>= width;
        }
        width /= 2;
    }
    place
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn takes_the_kth_of_what_is_left() {
        for n in [1usize, 2, 3, 63, 64, 65, 511, 512, 513, 3000] {
            let mut slots = Slots::new(n);
            let mut left: Vec<usize> = (0..n).collect();
            let mut k = 5;
            while !left.is_empty() {
                k = (k * 7 + 3) % left.len();
                assert_eq!(slots.take(k as u32), left.remove(k));
            }
        }
    }
}
