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
        let bet = best_bet(&past.drawn_together(1.0), allowed);
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

/// The growth of the best bet is the least divergence to laws of the claim, here found by search.
#[test]
fn the_best_bet_grows_by_the_divergence_to_the_claim() {
    let counts = half_the_noise();
    let allowed = Allowed::privacy(1.0, 0.0);
    let growth = best_bet(&counts, allowed).ln_growth(&counts);
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
    let alone = best_bet(&one, allowed).ln_growth(&one);
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
    assert_eq!(best_bet(&counts, Allowed::privacy(2.01, 0.0)), Bet::NONE);
    assert_eq!(best_bet(&counts, Allowed::total_variation(0.44)), Bet::NONE);
    assert_eq!(
        best_bet(
            &Counts::default().drawn_together(4.0),
            Allowed::privacy(0.0, 0.0)
        ),
        Bet::NONE
    );
    assert!(best_bet(&counts, Allowed::total_variation(0.4)) != Bet::NONE);
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
            let bet = best_bet(&past, Allowed::privacy(epsilon, 0.0));
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
    let growth = best_bet(&law, allowed).ln_growth(&law);
    assert!(growth > 0.07, "{growth}");
    for [first, second] in [[2_000.0, 1_000.0], [300.0, 1_200.0], [10_000.0, 100.0]] {
        let past = Counts {
            first: law.first.map(|share| first * share),
            second: law.second.map(|share| second * share),
        };
        assert_close(best_bet(&past, allowed).ln_growth(&law), growth, 1e-6);
        let balanced = past.balanced();
        let [first, second] =
            [balanced.first, balanced.second].map(|rows| rows.iter().sum::<f64>());
        assert_close(first, second, 1e-9);
    }
    let one_side = Counts {
        first: [5.0, 2.0, 1.0],
        second: [0.0; 3],
    };
    assert_eq!(best_bet(&one_side, allowed), Bet::NONE);
}
