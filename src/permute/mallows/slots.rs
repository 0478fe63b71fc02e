//! Free slots in a row, of which the k-th is taken: an order-statistics tree in one array.

/// 0 … n − 1, free until taken.
pub(super) struct Slots {
    /// Fenwick sums of free slots, from 1.
    sums: Vec<u32>,
    /// The largest power of two that is at most n.
    top: usize,
}

impl Slots {
    pub fn new(n: usize) -> Self {
        let mut sums: Vec<u32> = vec![0; n + 1];
        for at in 1..=n {
            sums[at] = (at & at.wrapping_neg()) as u32;
        }
        Slots {
            sums,
            top: if n == 0 { 0 } else { 1 << n.ilog2() },
        }
    }

    /// Takes the free slot before which `before` others are free, in O(log n).
    ///
    /// There must be more than `before` free ones.
    pub fn take(&mut self, before: u32) -> usize {
        let (mut at, mut left, mut step) = (0, before, self.top);
        while step > 0 {
            let next = at + step;
            if next < self.sums.len() {
                if self.sums[next] <= left {
                    left -= self.sums[next];
                    at = next;
                } else {
                    // The slot is below `next`.
                    self.sums[next] -= 1;
                }
            }
            step >>= 1;
        }
        at
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn takes_the_kth_of_what_is_left() {
        for n in [1usize, 2, 3, 7, 8, 9, 100] {
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
