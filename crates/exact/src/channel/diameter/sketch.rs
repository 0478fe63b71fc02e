//! Rows quantized to one byte per entry with a known error: distances at a tenth of the cost.

use crate::extreme::Extreme;
use rayon::prelude::*;

use crate::channel::diameter::reduced::Reduced;

/// The number of bytes compared at a time.
const CHUNK: usize = 32;
/// The largest value of a byte.
const LEVELS: f64 = 255.0;

/// Reduced rows rounded to multiples of a step.
///
/// A column whose range exceeds 255 steps takes several bytes, filled one after the other, so that sums
/// of absolute differences of bytes are those of the rounded numbers. With e the L1 distance between a
/// row and its rounded version, |p − q|₁ ≤ step·SAD + e_p + e_q.
pub struct Sketch {
    bytes: Vec<u8>,
    stride: usize,
    step: f64,
    /// For each row its sum minus its L1 rounding error.
    firm: Vec<f64>,
}

impl Sketch {
    /// Rounds all rows; about one byte an entry.
    pub fn new(reduced: &Reduced) -> Self {
        let rows: Vec<usize> = (0..reduced.rows).collect();
        Self::of(reduced, &rows)
    }

    /// Rounds some rows, numbered in the order given.
    pub fn of(reduced: &Reduced, rows: &[usize]) -> Self {
        let total: f64 = reduced.ranges.iter().sum();
        let step = 1.5 * total / reduced.width as f64 / LEVELS;
        let places: Vec<usize> = reduced
            .ranges
            .iter()
            .map(|range| (range / step / LEVELS).ceil() as usize)
            .collect();
        let stride = places.iter().sum::<usize>().next_multiple_of(2 * CHUNK);
        let mut bytes = vec![0; stride * rows.len()];
        let firm = bytes
            .par_chunks_mut(stride)
            .zip(rows)
            .map(|(bytes, &row)| round(reduced.row(row), bytes, &places, step))
            .collect();
        Sketch {
            bytes,
            stride,
            step,
            firm,
        }
    }

    /// The number of bytes per row.
    pub fn width(&self) -> usize {
        self.stride
    }

    fn row(&self, number: usize) -> &[u8] {
        &self.bytes[number * self.stride..(number + 1) * self.stride]
    }

    /// Whether the overlap of two rows could be at most a limit.
    ///
    /// 2·overlap = Σp + Σq − |p − q|₁ ≥ firm_p + firm_q − step·SAD.
    pub fn may_be_within(&self, a: usize, b: usize, limit: f64) -> bool {
        let sad = sum_of_differences(self.row(a), self.row(b)) as f64;
        self.firm[a] + self.firm[b] - self.step * sad <= 2.0 * limit
    }
}

/// Writes one row; returns its sum minus its L1 rounding error.
fn round(row: &[f64], bytes: &mut [u8], places: &[usize], step: f64) -> f64 {
    let (mut sum, mut error, mut at) = (0.0, 0.0, 0);
    for (&value, &places) in row.iter().zip(places) {
        let levels = ((value / step + 0.5) as u64 as f64).at_most(LEVELS * places as f64);
        let mut left = levels;
        for byte in &mut bytes[at..at + places] {
            let here = left.at_most(LEVELS);
            *byte = here as u8;
            left -= here;
        }
        at += places;
        sum += value;
        error += (value - step * levels).abs();
    }
    sum - error
}

/// Sum of absolute differences of bytes; the lengths are equal multiples of [`CHUNK`].
#[inline]
fn sum_of_differences(a: &[u8], b: &[u8]) -> u64 {
    #[cfg(target_arch = "x86_64")]
    if std::arch::is_x86_feature_detected!("avx2") {
        // SAFETY: the processor has AVX2.
        #[allow(unsafe_code)]
        return unsafe { avx2_sum_of_differences(a, b) };
    }
    portable_sum_of_differences(a, b)
}

/// The same with one instruction for 32 bytes, which compilers do not find by themselves.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn avx2_sum_of_differences(a: &[u8], b: &[u8]) -> u64 {
    use std::arch::x86_64::{__m256i, _mm256_add_epi64, _mm256_extract_epi64, _mm256_sad_epu8};
    use std::arch::x86_64::{_mm256_loadu_si256, _mm256_setzero_si256};

    #[allow(unsafe_code)]
    let load = |bytes: &[u8; CHUNK]| -> __m256i {
        // SAFETY: 32 bytes are readable, and the load needs no alignment.
        unsafe { _mm256_loadu_si256(bytes.as_ptr().cast()) }
    };
    let mut sums = [_mm256_setzero_si256(); 2];
    let (a, _) = a.as_chunks::<CHUNK>();
    let (b, _) = b.as_chunks::<CHUNK>();
    for (a, b) in a.chunks_exact(2).zip(b.chunks_exact(2)) {
        sums[0] = _mm256_add_epi64(sums[0], _mm256_sad_epu8(load(&a[0]), load(&b[0])));
        sums[1] = _mm256_add_epi64(sums[1], _mm256_sad_epu8(load(&a[1]), load(&b[1])));
    }
    let sum = _mm256_add_epi64(sums[0], sums[1]);
    let low = _mm256_extract_epi64::<0>(sum) + _mm256_extract_epi64::<1>(sum);
    (low + _mm256_extract_epi64::<2>(sum) + _mm256_extract_epi64::<3>(sum)) as u64
}

/// The same on any processor.
fn portable_sum_of_differences(a: &[u8], b: &[u8]) -> u64 {
    let chunks = a.chunks(CHUNK).zip(b.chunks(CHUNK));
    chunks
        .map(|(a, b)| {
            let differences = a.iter().zip(b).map(|(&a, &b)| u32::from(a.abs_diff(b)));
            u64::from(differences.sum::<u32>())
        })
        .sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_sums_of_differences_agree() {
        let a: Vec<u8> = (0..192u32).map(|i| (i * 37 % 256) as u8).collect();
        let b: Vec<u8> = (0..192u32).map(|i| (i * i * 11 % 256) as u8).collect();
        assert_eq!(
            sum_of_differences(&a, &b),
            portable_sum_of_differences(&a, &b)
        );
        assert_eq!(sum_of_differences(&[255; 64], &[0; 64]), 255 * 64);
    }
}
