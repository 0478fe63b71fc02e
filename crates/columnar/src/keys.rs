//! Keys into the dictionary of a column, as Parquet packs them: runs of one key, and groups of eight keys of some bits
//! each (the hybrid of run lengths and bit packing in the format's specification).

/// Bits of a key at most.
const MAX_BITS: u32 = 16;

/// Appends the next `count` keys of `bits` each.
///
/// `None` if the bytes end before, or hold no such keys.
pub(super) fn unpack(mut bytes: &[u8], bits: u32, count: usize, out: &mut Vec<u16>) -> Option<()> {
    let end = out.len() + count;
    if bits == 0 {
        out.resize(end, 0);
        return Some(());
    }
    out.reserve(count);
    while out.len() < end {
        let left = end - out.len();
        match run(&mut bytes, bits)? {
            Run::Same { key, count } => out.resize(out.len() + count.min(left), key),
            Run::Packed(packed) => {
                unpack_groups(packed, bits, out)?;
                out.truncate(end);
            }
        }
    }
    Some(())
}

/// Whether the next `count` of some levels of one bit each are all 1: no row is null. Writers say so in one run.
pub(super) fn are_ones(mut bytes: &[u8], count: usize) -> bool {
    matches!(run(&mut bytes, 1), Some(Run::Same { key: 1, count: ones }) if ones >= count)
}

/// Keys that stand together.
enum Run<'b> {
    Same { key: u16, count: usize },
    Packed(&'b [u8]),
}

/// Takes the next run off the bytes.
fn run<'b>(bytes: &mut &'b [u8], bits: u32) -> Option<Run<'b>> {
    let head = length(bytes)?;
    let many = usize::try_from(head >> 1).ok()?;
    if head & 1 == 1 {
        // The last groups may be cut off behind the last key.
        let length = many.checked_mul(bits as usize)?.min(bytes.len());
        let packed = bytes.split_off(..length)?;
        return (!packed.is_empty()).then_some(Run::Packed(packed));
    }
    let key = match *bytes.split_off(..bits.div_ceil(8) as usize)? {
        [low] => u16::from(low),
        [low, high] => u16::from_le_bytes([low, high]),
        _ => return None,
    };
    (many > 0).then_some(Run::Same { key, count: many })
}

/// Takes a number off the bytes, seven bits a byte, the lowest first.
fn length(bytes: &mut &[u8]) -> Option<u64> {
    let mut value = 0;
    for shift in (0..64).step_by(7) {
        let byte = *bytes.split_off_first()?;
        value |= u64::from(byte & 0x7f) << shift;
        if byte < 0x80 {
            return Some(value);
        }
    }
    None
}

/// Appends the keys of groups of eight.
fn unpack_groups(packed: &[u8], bits: u32, out: &mut Vec<u16>) -> Option<()> {
    macro_rules! by_bits {
        ($($bits:literal)*) => {
            match bits {
                $($bits => groups::<$bits>(packed, out),)*
                _ => return None,
            }
        };
    }
    const { assert!(MAX_BITS == 16) };
    by_bits!(1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16);
    Some(())
}

/// The same where the number of bits, and so of bytes of a group, is known.
fn groups<const BITS: usize>(packed: &[u8], out: &mut Vec<u16>) {
    let begin = out.len();
    out.resize(begin + 8 * packed.len().div_ceil(BITS), 0);
    let mut keys = out[begin..].chunks_exact_mut(8);
    let chunks = packed.chunks_exact(BITS);
    let rest = chunks.remainder();
    for (bytes, keys) in chunks.zip(&mut keys) {
        let bytes: &[u8; BITS] = bytes.first_chunk().expect("chunks are of this length");
        keys.copy_from_slice(&group::<BITS>(bytes));
    }
    if let Some(keys) = keys.next() {
        keys.copy_from_slice(&group::<BITS>(rest));
    }
}

/// Eight keys, four at a time: halves are moved apart, then the keys in them.
fn group<const BITS: usize>(bytes: &[u8]) -> [u16; 8] {
    let mut word = [0; 16];
    word[..bytes.len()].copy_from_slice(bytes);
    let word = u128::from_le_bytes(word);
    let lowest = |bits: usize| u64::MAX >> (64 - bits);
    let (pair, key) = (lowest(2 * BITS), lowest(BITS));
    let apart = |four: u64| {
        let pairs = four & pair | (four >> (2 * BITS) & pair) << 32;
        let key = key | key << 32;
        pairs & key | (pairs >> BITS & key) << 16
    };
    let halves = [word as u64, (word >> (4 * BITS)) as u64].map(apart);
    std::array::from_fn(|at| (halves[at / 4] >> (16 * (at % 4))) as u16)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Groups of eight keys, packed bit by bit.
    fn packed(keys: &[u16], bits: u32) -> Vec<u8> {
        let mut bytes = vec![0; (keys.len() * bits as usize).div_ceil(8)];
        for (at, key) in keys.iter().enumerate() {
            for bit in 0..bits as usize {
                let place = at * bits as usize + bit;
                bytes[place / 8] |= ((key >> bit & 1) as u8) << (place % 8);
            }
        }
        bytes
    }

    #[test]
    fn keys_of_any_number_of_bits_are_those_that_were_packed() {
        for bits in 1..=MAX_BITS {
            let mask = ((1u32 << bits) - 1) as u16;
            let keys: Vec<u16> = (0..40u16)
                .map(|at| at.wrapping_mul(40_503) & mask)
                .collect();
            // Five groups, then 300 times the same key.
            let mut bytes = vec![5 << 1 | 1];
            bytes.extend(packed(&keys, bits));
            bytes.extend([0x80 | (600 & 0x7f) as u8, (600 >> 7) as u8]);
            bytes.extend(&mask.to_le_bytes()[..bits.div_ceil(8) as usize]);
            let mut expected = keys;
            expected.resize(340, mask);
            let mut found = Vec::new();
            assert_eq!(unpack(&bytes, bits, 340, &mut found), Some(()));
            assert_eq!(found, expected, "{bits}");
            let mut first = Vec::new();
            assert_eq!(unpack(&bytes, bits, 13, &mut first), Some(()));
            assert_eq!(first, expected[..13]);
            assert_eq!(unpack(&bytes, bits, 341, &mut Vec::new()), None);
        }
    }

    #[test]
    fn bytes_that_are_no_keys_are_refused() {
        for bytes in [&[][..], &[0, 1], &[3], &[0xff; 12], &[4]] {
            assert_eq!(unpack(bytes, 3, 2, &mut Vec::new()), None, "{bytes:?}");
        }
        assert_eq!(unpack(&[4, 0, 0, 0], 17, 2, &mut Vec::new()), None);
        let mut zeros = Vec::new();
        assert_eq!(unpack(&[], 0, 3, &mut zeros), Some(()));
        assert_eq!(zeros, [0; 3]);
    }

    #[test]
    fn levels_are_all_one_only_in_a_run_that_is_long_enough() {
        assert!(are_ones(&[20, 1], 10));
        assert!(!are_ones(&[20, 1], 11));
        assert!(!are_ones(&[20, 0], 10));
        assert!(!are_ones(&[3, 0xff], 8));
        assert!(!are_ones(&[], 0));
    }
}
