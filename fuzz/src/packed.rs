//! Files of formats that are no text, whole and damaged.

use rand::RngExt;
use rand_chacha::ChaCha8Rng;

use crate::files::File;
use crate::values::one;

macro_rules! kept {
    ($($name:literal),* $(,)?) => {
        &[$(($name, include_bytes!(concat!("../corpus/", $name)))),*]
    };
}

/// Small logs with the columns `secret`, `x` and `y`, as other programs write them.
const WHOLE: &[(&str, &[u8])] = kept![
    "brotli.parquet",
    "column.npy",
    "file.arrow",
    "log.csv.gz",
    "log.csv.zst",
    "log.npz",
    "matrix.npy",
    "nested.parquet",
    "odd.parquet",
    "packed.npz",
    "packed.parquet",
    "plain.parquet",
    "stream.arrow",
];

/// A file of such a format, often damaged, sometimes under the name of another.
pub fn file(rng: &mut ChaCha8Rng) -> File {
    let (mut name, whole) = *one(rng, WHOLE);
    let mut bytes = whole.to_vec();
    for _ in 0..*one(rng, &[0, 1, 1, 2, 4]) {
        damage(rng, &mut bytes);
    }
    if rng.random_bool(0.05) {
        name = one(rng, WHOLE).0;
    }
    (format!("log-{name}"), bytes)
}

fn damage(rng: &mut ChaCha8Rng, bytes: &mut Vec<u8>) {
    if bytes.len() < 9 {
        return;
    }
    let at = rng.random_range(0..bytes.len());
    match rng.random_range(0..7) {
        0 => bytes.truncate(at),
        1 => bytes[at] ^= 1 << rng.random_range(0..8),
        2 => bytes[at] = rng.random(),
        // A length that lies.
        3 | 4 => {
            let wide = *one(rng, &[1, 2, 4, 8]);
            let at = at.min(bytes.len() - wide);
            let lie = *one(rng, &[0, 1, 0x7fff_ffff, u64::MAX, 1 << 40, u64::MAX >> 1]);
            bytes[at..at + wide].copy_from_slice(&lie.to_le_bytes()[..wide]);
        }
        5 => {
            let end = rng.random_range(at..bytes.len());
            let again = bytes[at..end].to_vec();
            bytes.splice(at..at, again);
        }
        _ => {
            let end = rng.random_range(at..bytes.len());
            bytes.drain(at..end);
        }
    }
}
