//! Loops over all rows, with instructions for many values at once where the processor has them.

/// Rows whose least value is looked for together.
pub(super) const BLOCK: usize = 32;

/// The least value of each [`BLOCK`] rows, up to the first of them that is not above a value; how many blocks these
/// are.
pub(super) fn least_values(values: &[u32], above: u32, least: &mut [u32]) -> usize {
    #[cfg(target_arch = "x86_64")]
    if std::arch::is_x86_feature_detected!("avx2") {
        // SAFETY: the processor has AVX2.
        #[allow(unsafe_code)]
        return unsafe { avx2_least_values(values, above, least) };
    }
    each_least_value(values, above, least)
}

/// The sums of hashes and of values.
pub(super) fn sums(hashes: &[u64], values: &[u32]) -> [u64; 2] {
    #[cfg(target_arch = "x86_64")]
    if std::arch::is_x86_feature_detected!("avx2") {
        // SAFETY: the processor has AVX2.
        #[allow(unsafe_code)]
        return unsafe { avx2_sums(hashes, values) };
    }
    each_sum(hashes, values)
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn avx2_least_values(values: &[u32], above: u32, least: &mut [u32]) -> usize {
    each_least_value(values, above, least)
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn avx2_sums(hashes: &[u64], values: &[u32]) -> [u64; 2] {
    each_sum(hashes, values)
}

#[inline(always)]
fn each_least_value(values: &[u32], above: u32, least: &mut [u32]) -> usize {
    let (blocks, rest) = values.as_chunks::<BLOCK>();
    let minimum = |values: &[u32]| values.iter().fold(u32::MAX, |one, &next| one.min(next));
    let mut count = 0;
    for (block, least) in blocks.iter().zip(&mut *least) {
        *least = minimum(block);
        count += 1;
        if *least <= above {
            return count;
        }
    }
    if !rest.is_empty() {
        least[count] = minimum(rest);
        count += 1;
    }
    count
}

#[inline(always)]
fn each_sum(hashes: &[u64], values: &[u32]) -> [u64; 2] {
    let hash_sum = hashes
        .iter()
        .fold(0u64, |sum, &hash| sum.wrapping_add(hash));
    let value_sum = values
        .iter()
        .fold(0u64, |sum, &value| sum.wrapping_add(value.into()));
    [hash_sum, value_sum]
}

#[cfg(test)]
mod tests {
    use super::*;
    use leakgauge_testing::rng;
    use rand::RngExt;

    #[test]
    fn all_instructions_give_the_same() {
        let mut rng = rng(11);
        for rows in [0usize, 1, 31, 32, 33, 64, 1_000, 2_048] {
            let values: Vec<u32> = (0..rows).map(|_| rng.random()).collect();
            let hashes: Vec<u64> = (0..rows).map(|_| rng.random()).collect();
            assert_eq!(sums(&hashes, &values), each_sum(&hashes, &values));
            let lowest = values.iter().min().copied().unwrap_or_default();
            for above in [0, lowest, 1 << 24, u32::MAX] {
                let (mut one, mut other) = ([7; 64], [7; 64]);
                let count = least_values(&values, above, &mut one);
                assert_eq!(count, each_least_value(&values, above, &mut other));
                assert_eq!(one, other);
                let up_to = values.iter().position(|&value| value <= above);
                let all = rows.div_ceil(BLOCK);
                assert_eq!(count, up_to.map_or(all, |at| at / BLOCK + 1));
                for (least, block) in one[..count].iter().zip(values.chunks(BLOCK)) {
                    assert_eq!(Some(least), block.iter().min());
                }
            }
        }
    }
}
