//! Inner loops for the widest vectors that the machine has.
//!
//! What they compute in `f32` only says which points may be near; see `filter`. What they compute in
//! `f64` has the same bits for every instruction set: no fused operations, columns in order.

use crate::metric::Norm;

/// Points a tile of the filter.
pub(crate) const TILE: usize = 32;
/// Queries that pass over a tile together.
pub(crate) const QUERIES: usize = 8;

/// Is told the query, the point and the value that passed, and returns the query's next limit.
pub(crate) type Passed<'a> = &'a mut dyn FnMut(usize, usize, f32) -> f32;

/// An instruction set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kernel {
    Portable,
    #[cfg(target_arch = "x86_64")]
    Avx2,
    #[cfg(target_arch = "x86_64")]
    Avx512,
}

/// A run of tiles: column by column, `TILE` points each, and each point's base value.
#[derive(Clone, Copy)]
pub(crate) struct Run<'a> {
    pub tiles: &'a [f32],
    pub base: &'a [f32],
    pub d: usize,
}

impl Kernel {
    /// Those that this machine has, the best last.
    pub fn available() -> Vec<Kernel> {
        #[cfg(target_arch = "x86_64")]
        {
            let mut kernels = vec![Kernel::Portable];
            if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma") {
                kernels.push(Kernel::Avx2);
                if is_x86_feature_detected!("avx512f") {
                    kernels.push(Kernel::Avx512);
                }
            }
            kernels
        }
        #[cfg(not(target_arch = "x86_64"))]
        vec![Kernel::Portable]
    }

    /// The best that this machine has.
    pub fn best() -> Kernel {
        *Self::available().last().expect("one is always there")
    }

    /// Computes `base − point·query` for every point and each of `QUERIES` queries, stored column by
    /// column in `queries`, and reports what is at most the query's limit.
    #[allow(unsafe_code)]
    pub fn products(
        self,
        run: Run,
        queries: &[f32],
        limits: &mut [f32; QUERIES],
        passed: Passed<'_>,
    ) {
        let points = run.base.len();
        assert!(points.is_multiple_of(TILE) && run.tiles.len() == points * run.d);
        assert_eq!(queries.len(), run.d * QUERIES);
        match self {
            Kernel::Portable => portable(run, queries, limits, passed),
            // SAFETY: this kernel is only made where the features were detected; the lengths that its
            // loads rely on were asserted above.
            #[cfg(target_arch = "x86_64")]
            Kernel::Avx2 => unsafe { x86::avx2(run, queries, limits, passed) },
            // SAFETY: as above.
            #[cfg(target_arch = "x86_64")]
            Kernel::Avx512 => unsafe { x86::avx512(run, queries, limits, passed) },
        }
    }

    /// The keys between a query and tiles of `WIDTH` points, each tile column by column.
    #[allow(unsafe_code)]
    pub fn keys<N: Norm, const WIDTH: usize>(self, tiles: &[f64], x: &[f64], keys: &mut [f64]) {
        match self {
            Kernel::Portable => keys_of::<N, WIDTH>(tiles, x, keys),
            // SAFETY: this kernel is only made where AVX2 was detected; the function is safe code.
            #[cfg(target_arch = "x86_64")]
            _ => unsafe { x86::keys_avx2::<N, WIDTH>(tiles, x, keys) },
        }
    }
}

#[inline(always)]
fn keys_of<N: Norm, const WIDTH: usize>(tiles: &[f64], x: &[f64], keys: &mut [f64]) {
    let tiles = tiles.chunks_exact(WIDTH * x.len());
    for (tile, keys) in tiles.zip(keys.chunks_exact_mut(WIDTH)) {
        let mut sums = [0.0; WIDTH];
        for (column, &coordinate) in tile.chunks_exact(WIDTH).zip(x) {
            for (sum, &value) in sums.iter_mut().zip(column) {
                *sum = N::add(*sum, coordinate - value);
            }
        }
        keys.copy_from_slice(&sums);
    }
}

fn portable(run: Run, queries: &[f32], limits: &mut [f32; QUERIES], passed: Passed<'_>) {
    let tiles = run.tiles.chunks_exact(TILE * run.d);
    for (tile, (points, base)) in tiles.zip(run.base.chunks_exact(TILE).enumerate()) {
        for (query, limit) in limits.iter_mut().enumerate() {
            let mut values = [0f32; TILE];
            values.copy_from_slice(base);
            let coordinates = queries.iter().skip(query).step_by(QUERIES);
            for (column, coordinate) in tile.chunks_exact(TILE).zip(coordinates) {
                for (value, point) in values.iter_mut().zip(column) {
                    *value -= coordinate * point;
                }
            }
            for (at, &value) in values.iter().enumerate() {
                if value <= *limit {
                    *limit = passed(query, points * TILE + at, value);
                }
            }
        }
    }
}

#[cfg(target_arch = "x86_64")]
#[allow(unsafe_code)]
mod x86 {
    use super::{Norm, Passed, QUERIES, Run, TILE, keys_of};
    use std::arch::x86_64::*;

    #[target_feature(enable = "avx2")]
    pub fn keys_avx2<N: Norm, const WIDTH: usize>(tiles: &[f64], x: &[f64], keys: &mut [f64]) {
        keys_of::<N, WIDTH>(tiles, x, keys);
    }

    /// Two registers of points times so many queries are summed in registers.
    macro_rules! products {
        (
            $name:ident, $features:literal, $register:ty, $lanes:literal, $together:literal,
            $load:ident, $store:ident, $splat:ident, $fused:ident, $minus:ident, $at_most:expr
        ) => {
            /// # Safety
            /// The processor has the features; the lengths are those that `Kernel::products` asserts.
            #[target_feature(enable = $features)]
            pub unsafe fn $name(
                run: Run,
                queries: &[f32],
                limits: &mut [f32; QUERIES],
                passed: Passed<'_>,
            ) {
                const SPAN: usize = 2 * $lanes;
                let tiles = run.tiles.chunks_exact(TILE * run.d);
                for (number, (tile, base)) in tiles.zip(run.base.chunks_exact(TILE)).enumerate() {
                    for part in (0..TILE).step_by(SPAN) {
                        for first in (0..QUERIES).step_by($together) {
                            let mut sums: [[$register; 2]; $together] =
                                [[$splat(0.0); 2]; $together];
                            let columns =
                                tile.chunks_exact(TILE).zip(queries.chunks_exact(QUERIES));
                            for (column, query) in columns {
                                // SAFETY: a column holds TILE numbers, part + SPAN is at most TILE,
                                // and first + $together is at most QUERIES.
                                unsafe {
                                    let at = column.as_ptr().add(part);
                                    let (low, high) = ($load(at), $load(at.add($lanes)));
                                    for (query_at, sum) in sums.iter_mut().enumerate() {
                                        let x = $splat(*query.get_unchecked(first + query_at));
                                        sum[0] = $fused(x, low, sum[0]);
                                        sum[1] = $fused(x, high, sum[1]);
                                    }
                                }
                            }
                            for (query, sum) in (first..).zip(&sums) {
                                let mut values = [0f32; SPAN];
                                let limit = $splat(limits[query]);
                                // SAFETY: base holds TILE numbers, values SPAN.
                                let mut mask = unsafe {
                                    let at = base.as_ptr().add(part);
                                    let low = $minus($load(at), sum[0]);
                                    let high = $minus($load(at.add($lanes)), sum[1]);
                                    let at_most = $at_most;
                                    let mask: u32 = at_most(low, limit) as u32
                                        | (at_most(high, limit) as u32) << $lanes;
                                    if mask != 0 {
                                        $store(values.as_mut_ptr(), low);
                                        $store(values.as_mut_ptr().add($lanes), high);
                                    }
                                    mask
                                };
                                while mask != 0 {
                                    let lane = mask.trailing_zeros() as usize;
                                    mask &= mask - 1;
                                    if values[lane] <= limits[query] {
                                        let point = number * TILE + part + lane;
                                        limits[query] = passed(query, point, values[lane]);
                                    }
                                }
                            }
                        }
                    }
                }
            }
        };
    }

    products!(
        avx512,
        "avx512f",
        __m512,
        16,
        8,
        _mm512_loadu_ps,
        _mm512_storeu_ps,
        _mm512_set1_ps,
        _mm512_fmadd_ps,
        _mm512_sub_ps,
        |a, b| _mm512_cmp_ps_mask::<_CMP_LE_OQ>(a, b)
    );
    products!(
        avx2,
        "avx2,fma",
        __m256,
        8,
        4,
        _mm256_loadu_ps,
        _mm256_storeu_ps,
        _mm256_set1_ps,
        _mm256_fmadd_ps,
        _mm256_sub_ps,
        |a, b| _mm256_movemask_ps(_mm256_cmp_ps::<_CMP_LE_OQ>(a, b))
    );
}
