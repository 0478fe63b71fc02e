//! Where random numbers come from: a seed, what they are drawn for, and the data that they deal.
//!
//! # Why data
//! Rows of counts are dealt by inverting uniform numbers. With numbers that depend on the seed alone, all logs of the
//! same size are dealt at the same quantile: a program that everybody runs with seed 0 would then be wrong on a whole
//! kind of logs, or on none of it. A limit that holds for 95 % of random splits holds for 95 % of *logs* only if each log
//! has a split of its own. So a [`Digest`] of the data is a part of the key.
//!
//! # Why names
//! Every use of randomness has a name of its own in [`Stream`], so that no two uses get the same numbers.

use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

/// What random numbers are for. No two uses share a name, and so no two get the same numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Stream {
    /// Training, tuning and certification rows.
    Split,
    /// Dealing the rows of counts to parts, within any other use.
    Deal,
    /// Blocks of rows before the certification rows.
    Earlier,
    /// Parts of a log that are judged by attacks from the others.
    CrossFit,
    /// Parts of growing size, for the learning curve.
    Convergence,
    /// Rows that choose between upper limits.
    UpperChoice,
    /// The upper limit at a pair of secrets.
    Upper([u32; 2]),
    /// The rows of a rule that are pooled.
    Pooled(u32),
    /// Trials of a rule on rows of all blocks.
    Trials(u32),
    /// Guesses between a pair of secrets.
    Guesses([u32; 2]),
    /// Guesses at rare events of a pair.
    RareGuesses([u32; 2]),
    /// Events of discrete observations.
    Events,
    /// Tests that were chosen without looking at secrets.
    SecretBlind,
    /// One row of each unit, for a rule.
    UnitRule(u32),
    /// One row of each unit, for guesses at a prior.
    UnitPrior(u32),
    /// Errors matched to a prior.
    MatchedPrior,
    /// A pair of secrets measured in the same blocks.
    Paired(u32),
    /// Blocks that an attack learns from, where there are too many.
    Blocks,
    /// The permutation test against no leak.
    NoLeak,
    /// The permutation test of all columns.
    Columns,
    /// What an audit of a growing log learns from its past.
    Follow,
    /// What an audit that asks for samples learns from.
    Query(u64),
    /// A simulated log, by its number.
    Simulated(u64),
    /// The order of equal scores of canaries.
    Canaries,
    /// Messages that teach, and those that judge.
    Messages,
}

impl Stream {
    /// A number for the use, and one within it.
    fn place(self) -> [u64; 2] {
        let pair = |[a, b]: [u32; 2]| (u64::from(a) << 32) | u64::from(b);
        match self {
            Stream::Split => [0, 0],
            Stream::Deal => [1, 0],
            Stream::Earlier => [2, 0],
            Stream::CrossFit => [3, 0],
            Stream::Convergence => [4, 0],
            Stream::UpperChoice => [5, 0],
            Stream::Upper(secrets) => [6, pair(secrets)],
            Stream::Pooled(rule) => [7, rule.into()],
            Stream::Trials(rule) => [8, rule.into()],
            Stream::Guesses(secrets) => [9, pair(secrets)],
            Stream::RareGuesses(secrets) => [10, pair(secrets)],
            Stream::Events => [11, 0],
            Stream::SecretBlind => [12, 0],
            Stream::UnitRule(rule) => [13, rule.into()],
            Stream::UnitPrior(prior) => [14, prior.into()],
            Stream::MatchedPrior => [15, 0],
            Stream::Paired(pair) => [16, pair.into()],
            Stream::Blocks => [17, 0],
            Stream::NoLeak => [18, 0],
            Stream::Follow => [19, 0],
            Stream::Query(rows) => [20, rows],
            Stream::Simulated(number) => [21, number],
            Stream::Canaries => [22, 0],
            Stream::Messages => [23, 0],
            Stream::Columns => [24, 0],
        }
    }
}

/// A digest of data, the same on every machine. Not a cryptographic one.
///
/// Each number is added to the state, which is then mixed by the finalizer of SplitMix64 (Steele, Lea and Flood 2014,
/// doi:10.1145/2660193.2660195, with Stafford's thirteenth constants).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Digest(u64);

impl Digest {
    /// The digest of nothing.
    pub const EMPTY: Digest = Digest(0);

    /// With one more number.
    #[must_use]
    pub fn with(self, number: u64) -> Digest {
        // The odd constant keeps zeros from vanishing.
        let mut mixed = self.0.rotate_left(23) ^ number.wrapping_add(0x9e37_79b9_7f4a_7c15);
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        Digest(mixed ^ (mixed >> 31))
    }

    /// With more numbers, in their order.
    #[must_use]
    pub fn with_all(self, numbers: impl IntoIterator<Item = u64>) -> Digest {
        numbers.into_iter().fold(self, Digest::with)
    }
}

/// A seed and the data that it is used on: the key of all random numbers of a computation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Randomness {
    seed: u64,
    digest: Digest,
}

impl Randomness {
    /// The random numbers of a seed on some data.
    pub fn new(seed: u64, digest: Digest) -> Randomness {
        Randomness { seed, digest }
    }

    /// A generator for one use.
    pub fn rng(&self, stream: Stream) -> ChaCha8Rng {
        let [use_of, within] = stream.place();
        let mut key = [0; 32];
        let words = [self.seed, self.digest.0, use_of, within];
        for (bytes, word) in key.chunks_exact_mut(8).zip(words) {
            bytes.copy_from_slice(&word.to_le_bytes());
        }
        ChaCha8Rng::from_seed(key)
    }

    /// A seed for a computation that takes one.
    pub fn seed(&self, stream: Stream) -> u64 {
        rand::Rng::next_u64(&mut self.rng(stream))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::RngExt;
    use std::collections::HashSet;

    #[test]
    fn no_two_uses_share_numbers() {
        let pairs = [[0, 1], [1, 0], [1, 2], [u32::MAX, 0]];
        let mut streams = vec![
            Stream::Split,
            Stream::Deal,
            Stream::Earlier,
            Stream::CrossFit,
            Stream::Convergence,
            Stream::UpperChoice,
            Stream::Events,
            Stream::SecretBlind,
            Stream::MatchedPrior,
            Stream::Blocks,
            Stream::NoLeak,
            Stream::Columns,
            Stream::Follow,
            Stream::Canaries,
            Stream::Messages,
        ];
        for at in [0, 1, u32::MAX] {
            streams.extend([
                Stream::Pooled(at),
                Stream::Trials(at),
                Stream::UnitRule(at),
                Stream::UnitPrior(at),
                Stream::Paired(at),
                Stream::Query(at.into()),
                Stream::Simulated(at.into()),
            ]);
        }
        for pair in pairs {
            streams.extend([
                Stream::Upper(pair),
                Stream::Guesses(pair),
                Stream::RareGuesses(pair),
            ]);
        }
        let first =
            |stream: &Stream| -> u64 { Randomness::new(0, Digest::EMPTY).rng(*stream).random() };
        let numbers: HashSet<u64> = streams.iter().map(first).collect();
        assert_eq!(numbers.len(), streams.len());
    }

    #[test]
    fn data_and_seeds_have_numbers_of_their_own() {
        let digests = [
            Digest::EMPTY,
            Digest::EMPTY.with(0),
            Digest::EMPTY.with(0).with(0),
            Digest::EMPTY.with(1).with(2),
            Digest::EMPTY.with(2).with(1),
            Digest::EMPTY.with_all([1, 2, 0]),
        ];
        let mut numbers = HashSet::new();
        for digest in digests {
            for seed in [0, 1] {
                let randomness = Randomness::new(seed, digest);
                assert!(numbers.insert(randomness.seed(Stream::Split)));
                assert_eq!(
                    randomness.seed(Stream::Split),
                    randomness.seed(Stream::Split)
                );
            }
        }
    }

    /// Of data that differ in one bit, half of the bits of the digest differ: the mean over 64 bits and 200 numbers,
    /// within five standard errors.
    #[test]
    fn one_bit_changes_half_of_a_digest() {
        let mut changed = 0;
        for number in 0..200u64 {
            let digest = Digest::EMPTY.with(number).with(7);
            for bit in 0..64 {
                let other = Digest::EMPTY.with(number ^ (1 << bit)).with(7);
                changed += (digest.0 ^ other.0).count_ones();
            }
        }
        let all = f64::from(200 * 64 * 64);
        let share = f64::from(changed) / all;
        assert!((share - 0.5).abs() < 5.0 * 0.5 / all.sqrt(), "{share}");
    }

    /// A generator by key is one that others compute, too: the first word of ChaCha8 with a zero key and nonce (RFC
    /// 8439's layout, eight rounds), 3e00ef2f little-endian by the reference implementation of eSTREAM.
    #[test]
    fn the_empty_key_gives_the_published_stream() {
        let first: u32 = Randomness::new(0, Digest::EMPTY)
            .rng(Stream::Split)
            .random();
        assert_eq!(first.to_le_bytes(), [0x3e, 0x00, 0xef, 0x2f]);
    }
}
