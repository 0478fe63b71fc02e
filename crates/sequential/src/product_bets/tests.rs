use super::*;
use leakgauge_testing::{assert_close, rng};
use rand::RngExt;

/// Laplace noise at half the scale that ε = 1 needs: P(A) = 1/2, Q(A) = e⁻²/2.
fn half_the_noise() -> Counts {
    let rare = 0.5 * (-2.0f64).exp();
    Counts {
        first: [0.5, 0.5 - rare, rare],
        second: [rare, 0.5 - rare, 0.5],
    }
}

/// On the boundary of the claim and inside it the expected factor is at most 1, for bets on any past.
#[test]
fn a_bet_gains_nothing_on_laws_that_satisfy_the_claim() {
    let mut rng = rng(1);
    let mut largest = 0.0f64;
    for _ in 0..3_000 {
        let allowed = Allowed {
            weight: [1.0, 1.5, 2.7, 20.0][rng.random_range(0..4)],
            delta: [0.0, 1e-3, 0.2][rng.random_range(0..3)],
        };
        let mut row = || -> [f64; 3] { std::array::from_fn(|_| rng.random_range(0..50) as f64) };
        let past = Counts {
            first: row(),
            second: row(),
        };
        let bet = best_bet(&past.drawn_together(1.0), allowed, Meeting::Independent);
        let q = rng.random::<f64>() / allowed.weight * (1.0 - allowed.delta);
        let p = allowed.weight * q + allowed.delta;
        let at_b = rng.random::<f64>() * (1.0 - p);
        let other = (allowed.weight * at_b + allowed.delta).min(1.0 - q);
        let laws = [[p, 1.0 - p - at_b, at_b], [q, 1.0 - q - other, other]];
        let mean = |law: &[f64; 3], factors: &[f64; 3]| -> f64 {
            law.iter().zip(factors).map(|(p, factor)| p * factor).sum()
        };
        largest = largest.max(mean(&laws[0], &bet.first) * mean(&laws[1], &bet.second));
    }
    assert!(largest <= 1.0 + 1e-12 && largest > 0.99, "{largest}");
}

/// The same of two rows of one block, however they depend on each other: the extreme joint laws with the same margins.
#[test]
fn a_bet_on_a_block_gains_nothing_however_its_rows_depend_on_each_other() {
    let mut rng = rng(2);
    let mut largest = 0.0f64;
    for _ in 0..3_000 {
        let allowed = Allowed {
            weight: [1.0, 1.5, 2.7, 20.0][rng.random_range(0..4)],
            delta: [0.0, 1e-3, 0.2][rng.random_range(0..3)],
        };
        let mut row = || -> [f64; 3] { std::array::from_fn(|_| rng.random_range(0..50) as f64) };
        let past = Counts {
            first: row(),
            second: row(),
        };
        let bet = best_bet(&past.drawn_together(1.0), allowed, Meeting::Block);
        let factors = bet.ln_factors(Meeting::Block);
        assert!(factors.iter().flatten().all(|ln| ln.is_finite()), "{bet:?}");
        let q = rng.random::<f64>() / allowed.weight * (1.0 - allowed.delta);
        let p = allowed.weight * q + allowed.delta;
        let at_b = rng.random::<f64>() * (1.0 - p);
        let other = (allowed.weight * at_b + allowed.delta).min(1.0 - q);
        let [first, second] = [[p, 1.0 - p - at_b, at_b], [q, 1.0 - q - other, other]];
        // One number u decides both rows: alike, or against each other.
        let cell =
            |law: &[f64; 3], u: f64| usize::from(u >= law[0]) + usize::from(u >= law[0] + law[1]);
        for is_turned in [false, true] {
            let mut cuts = vec![0.0, 1.0, first[0], first[0] + first[1]];
            let turn = |u: f64| if is_turned { 1.0 - u } else { u };
            cuts.extend([turn(second[0]), turn(second[0] + second[1])]);
            cuts.sort_by(f64::total_cmp);
            let pieces = cuts.windows(2).map(|two| {
                let middle = 0.5 * (two[0] + two[1]);
                let cells = (cell(&first, middle), cell(&second, turn(middle)));
                (two[1] - two[0]) * factors[cells.0][cells.1].exp()
            });
            largest = largest.max(pieces.sum());
        }
    }
    assert!(largest <= 1.0 + 1e-12 && largest > 0.99, "{largest}");
}

/// A bet on blocks has the largest growth that a search over both λ finds, and less than that on independent rows.
#[test]
fn the_best_bet_on_blocks_grows_most() {
    let counts = half_the_noise();
    let allowed = Allowed::privacy(1.0, 0.0);
    let met: Met = std::array::from_fn(|first| {
        std::array::from_fn(|second| counts.first[first] * counts.second[second])
    });
    let growth = |bet: &Bet| ln_growth(&bet.ln_factors(Meeting::Block), &met);
    let found = growth(&best_bet(&counts, allowed, Meeting::Block));
    let mut largest = 0.0f64;
    for one in 0..100 {
        for two in 0..100 {
            let bet = Bet::of([1.0, 0.01 * f64::from(one), 0.01 * f64::from(two)], allowed);
            let growth = growth(&bet);
            if growth.is_finite() {
                largest = largest.max(growth);
            }
        }
    }
    assert_close(found, largest, 1e-3);
    let apart = best_bet(&counts, allowed, Meeting::Independent);
    assert!(found > 0.3 * apart.ln_growth(&counts) && found < apart.ln_growth(&counts));
}

/// The growth of the best bet is the least divergence to laws of the claim, here found by search.
#[test]
fn the_best_bet_grows_by_the_divergence_to_the_claim() {
    let counts = half_the_noise();
    let allowed = Allowed::privacy(1.0, 0.0);
    let growth = best_bet(&counts, allowed, Meeting::Independent).ln_growth(&counts);
    // By symmetry the nearest laws are (wy, 1 − (1 + w)y, y) and its mirror image.
    let divergence = |y: f64| {
        let w = 1f64.exp();
        let nearest = [w * y, 1.0 - (1.0 + w) * y, y];
        let terms = counts.first.iter().zip(&nearest);
        2.0 * terms.map(|(p, q)| p * (p / q).ln()).sum::<f64>()
    };
    let least = (1..2_000)
        .map(|i| divergence(f64::from(i) / 8_000.0))
        .fold(f64::INFINITY, f64::min);
    assert_close(growth, least, 1e-4);
    // One event alone grows more slowly, and as fast as a search finds.
    let [p, q] = [counts.first[0], counts.second[0]];
    let one = Counts {
        first: [p, 1.0 - p, 0.0],
        second: [q, 1.0 - q, 0.0],
    };
    let alone = best_bet(&one, allowed, Meeting::Independent).ln_growth(&one);
    let binary = |p: f64, q: f64| p * (p / q).ln() + (1.0 - p) * ((1.0 - p) / (1.0 - q)).ln();
    let least = (1..3_000)
        .map(|i| f64::from(i) / 10_000.0)
        .map(|y| binary(p, 1f64.exp() * y) + binary(q, y))
        .fold(f64::INFINITY, f64::min);
    assert_close(alone, least, 1e-4);
    assert!(growth > 1.5 * alone);
    assert!((approximate_rate(p, q, allowed) / alone - 1.0).abs() < 0.3);
}

#[test]
fn nothing_is_bet_on_a_past_within_the_claim() {
    let counts = half_the_noise();
    assert_eq!(
        best_bet(&counts, Allowed::privacy(2.01, 0.0), Meeting::Independent),
        Bet::NONE
    );
    assert_eq!(
        best_bet(
            &counts,
            Allowed::total_variation(0.44),
            Meeting::Independent
        ),
        Bet::NONE
    );
    assert_eq!(
        best_bet(
            &Counts::default().drawn_together(4.0),
            Allowed::privacy(0.0, 0.0),
            Meeting::Independent
        ),
        Bet::NONE
    );
    assert!(best_bet(&counts, Allowed::total_variation(0.4), Meeting::Independent) != Bet::NONE);
    assert_eq!(approximate_rate(0.2, 0.1, Allowed::privacy(1.0, 0.0)), 0.0);
}

/// Cells without rows, cells with all rows, and large ε give bets that are positive everywhere.
#[test]
fn extreme_counts_give_bets_that_cannot_lose_everything() {
    for (first, second) in [
        ([1e6, 0.0, 0.0], [0.0, 0.0, 1e6]),
        ([1.0, 1e6, 0.0], [0.0, 1e6, 0.0]),
        ([5.0, 0.0, 0.0], [0.0, 3.0, 2.0]),
    ] {
        for epsilon in [0.0, 1.0, 10.0, 40.0] {
            let past = Counts { first, second }.drawn_together(4.0);
            let bet = best_bet(&past, Allowed::privacy(epsilon, 0.0), Meeting::Independent);
            assert!(
                bet.first
                    .iter()
                    .chain(&bet.second)
                    .all(|&f| f > 0.0 && f.is_finite()),
                "{bet:?}"
            );
            assert!(bet.ln_growth(&past.balanced()) >= 0.0);
        }
    }
}

/// What is learned from many more rows of one law than of the other grows as fast, for a row of each.
#[test]
fn a_past_of_unequal_sizes_gives_the_same_bet() {
    let law = half_the_noise();
    let allowed = Allowed::privacy(1.0, 0.0);
    let growth = best_bet(&law, allowed, Meeting::Independent).ln_growth(&law);
    assert!(growth > 0.07, "{growth}");
    for [first, second] in [[2_000.0, 1_000.0], [300.0, 1_200.0], [10_000.0, 100.0]] {
        let past = Counts {
            first: law.first.map(|share| first * share),
            second: law.second.map(|share| second * share),
        };
        assert_close(
            best_bet(&past, allowed, Meeting::Independent).ln_growth(&law),
            growth,
            1e-6,
        );
        let balanced = past.balanced();
        let [first, second] =
            [balanced.first, balanced.second].map(|rows| rows.iter().sum::<f64>());
        assert_close(first, second, 1e-9);
    }
    let one_side = Counts {
        first: [5.0, 2.0, 1.0],
        second: [0.0; 3],
    };
    assert_eq!(
        best_bet(&one_side, allowed, Meeting::Independent),
        Bet::NONE
    );
}
