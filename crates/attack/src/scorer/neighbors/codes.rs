//! Points as codes, compared column by column in vector registers.

/// The code of a value that no fit row has.
pub(super) const UNSEEN: u32 = u32::MAX;

/// Points a tile: a few vector registers.
const TILE: usize = 32;
/// Counters a distance, so that equal distances in a row need not wait for each other.
const LANES: usize = 4;

/// Points of each secret, in the narrowest codes that hold all values and all distances.
pub(super) enum Codes {
    Bytes(Table<u8>),
    Words(Table<u16>),
    Wide(Table<u32>),
}

/// Points of each secret.
pub(super) struct Table<C> {
    columns: usize,
    secrets: Vec<Points<C>>,
}

/// Distinct points: those that occur once, then the others with their numbers of rows.
struct Points<C> {
    once: Tiles<C>,
    often: Tiles<C>,
    rows: Vec<u64>,
}

/// Points tile by tile, each tile column by column.
struct Tiles<C> {
    codes: Vec<C>,
    points: usize,
}

/// An integer that holds codes and distances.
pub(super) trait Code: Copy + Eq {
    const ZERO: Self;
    /// `UNSEEN` becomes the largest value, which is no other's code.
    fn narrowed(code: u32) -> Self;
    /// One more if asked.
    fn plus(self, one: bool) -> Self;
    fn index(self) -> usize;
}

macro_rules! code {
    ($type:ty) => {
        impl Code for $type {
            const ZERO: Self = 0;

            fn narrowed(code: u32) -> Self {
                <$type>::try_from(code).unwrap_or(<$type>::MAX)
            }

            #[inline(always)]
            fn plus(self, one: bool) -> Self {
                self.wrapping_add(<$type>::from(one))
            }

            #[inline(always)]
            fn index(self) -> usize {
                self as usize
            }
        }
    };
}

code!(u8);
code!(u16);
code!(u32);

impl Codes {
    /// Arranges points, given for each secret as codes below `values`, row-major, with numbers of rows.
    pub fn new(secrets: &[(Vec<u32>, Vec<u64>)], columns: usize, values: usize) -> Self {
        // The largest integer stands for unseen values; distances go up to the number of columns.
        let most = values.max(columns + 1);
        if most <= usize::from(u8::MAX) {
            Codes::Bytes(Table::new(secrets, columns))
        } else if most <= usize::from(u16::MAX) {
            Codes::Words(Table::new(secrets, columns))
        } else {
            Codes::Wide(Table::new(secrets, columns))
        }
    }

    /// For each query the number of rows of a secret at every distance.
    pub fn search(&self, secret: usize, queries: &[u32], found: &mut dyn FnMut(usize, &[u64])) {
        match self {
            Codes::Bytes(table) => table.search(secret, queries, found),
            Codes::Words(table) => table.search(secret, queries, found),
            Codes::Wide(table) => table.search(secret, queries, found),
        }
    }
}

impl<C: Code> Table<C> {
    fn new(secrets: &[(Vec<u32>, Vec<u64>)], columns: usize) -> Self {
        let arranged = secrets
            .iter()
            .map(|(codes, rows)| Points::new(codes, rows, columns));
        Table {
            columns,
            secrets: arranged.collect(),
        }
    }

    fn search(&self, secret: usize, queries: &[u32], found: &mut dyn FnMut(usize, &[u64])) {
        let points = &self.secrets[secret];
        let mut query = Vec::with_capacity(self.columns);
        let mut counters = vec![0u32; LANES * (self.columns + 1)];
        let mut histogram = vec![0u64; self.columns + 1];
        for (at, codes) in queries.chunks_exact(self.columns).enumerate() {
            query.clear();
            query.extend(codes.iter().map(|&code| C::narrowed(code)));
            counters.fill(0);
            points.once.distances(&query, &mut |_, distances| {
                for (point, distance) in distances.iter().enumerate() {
                    counters[distance.index() * LANES + point % LANES] += 1;
                }
            });
            for (rows, counters) in histogram.iter_mut().zip(counters.chunks_exact(LANES)) {
                *rows = counters.iter().map(|&points| u64::from(points)).sum();
            }
            points.often.distances(&query, &mut |first, distances| {
                for (distance, rows) in distances.iter().zip(&points.rows[first..]) {
                    histogram[distance.index()] += rows;
                }
            });
            found(at, &histogram);
        }
    }
}

impl<C: Code> Points<C> {
    /// Equal points become one.
    fn new(codes: &[u32], rows: &[u64], columns: usize) -> Self {
        let point = |at: usize| &codes[at * columns..(at + 1) * columns];
        let mut order: Vec<usize> = (0..rows.len()).collect();
        order.sort_unstable_by(|&a, &b| point(a).cmp(point(b)).then(a.cmp(&b)));
        let empty = || Tiles {
            codes: Vec::new(),
            points: 0,
        };
        let mut points = Points {
            once: empty(),
            often: empty(),
            rows: Vec::new(),
        };
        for same in order.chunk_by(|&a, &b| point(a) == point(b)) {
            let here = same.iter().map(|&at| rows[at]).sum();
            if here == 1 {
                points.once.push(point(same[0]));
            } else {
                points.often.push(point(same[0]));
                points.rows.push(here);
            }
        }
        points
    }
}

impl<C: Code> Tiles<C> {
    fn push(&mut self, codes: &[u32]) {
        let within = self.points % TILE;
        let start = self.points / TILE * TILE * codes.len();
        if within == 0 {
            let filled = self.codes.len() + TILE * codes.len();
            self.codes.resize(filled, C::ZERO);
        }
        for (column, &code) in codes.iter().enumerate() {
            self.codes[start + column * TILE + within] = C::narrowed(code);
        }
        self.points += 1;
    }

    /// Calls `found(first, distances)` tile by tile.
    #[inline(always)]
    fn distances(&self, query: &[C], found: &mut impl FnMut(usize, &[C])) {
        let tiles = self.codes.chunks_exact(TILE * query.len());
        for (tile, codes) in tiles.enumerate() {
            let mut sums = [C::ZERO; TILE];
            for (column, &code) in codes.chunks_exact(TILE).zip(query) {
                for (sum, &value) in sums.iter_mut().zip(column) {
                    *sum = sum.plus(value != code);
                }
            }
            let first = tile * TILE;
            found(first, &sums[..TILE.min(self.points - first)]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Whatever the width of codes: the definition, row by row.
        #[test]
        fn rows_are_counted_at_their_distance(
            points in prop::collection::vec((prop::collection::vec(0u32..4, 3), 1u64..3), 0..100),
            queries in prop::collection::vec(prop::collection::vec(0u32..5, 3), 1..5),
            wide in 0usize..3,
        ) {
            let unseen = |&code: &u32| if code == 4 { UNSEEN } else { code };
            let flat = points.iter().flat_map(|(point, _)| point.clone()).collect();
            let rows = points.iter().map(|&(_, rows)| rows).collect();
            let codes = Codes::new(&[(flat, rows)], 3, [4, 300, 70_000][wide]);
            let asked: Vec<u32> = queries.iter().flatten().map(unseen).collect();
            let mut seen = 0;
            codes.search(0, &asked, &mut |at, histogram| {
                let mut expected = [0; 4];
                for (point, rows) in &points {
                    let differ = point.iter().zip(&queries[at]).filter(|(a, b)| a != b);
                    expected[differ.count()] += rows;
                }
                assert_eq!(histogram, expected);
                seen += 1;
            });
            prop_assert_eq!(seen, queries.len());
        }
    }
}
