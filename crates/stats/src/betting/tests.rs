//! Limits by units.

use super::*;
use leakgauge_testing::{at_most, rng};

fn error(unit: usize, secret: usize, rows: u64, errors: u64) -> UnitErrors {
    UnitErrors {
        unit,
        secret,
        rows,
        errors,
    }
}

#[test]
fn every_unit_counts_once() {
    let errors = [
        error(0, 0, 1000, 1000),
        error(1, 0, 1, 0),
        error(2, 1, 4, 1),
        error(0, 1, 2, 1),
    ];
    let rates = UnitRates::new(&errors, &[1.0, 1.0], &[Spread::UNKNOWN; 2]).unwrap();
    assert!((rates.point() - (0.5 + 0.375)).abs() < 1e-12);
    let one = UnitRates::new(&errors, &[0.0, 1.0], &[Spread::UNKNOWN; 2]).unwrap();
    assert!((one.point() - 0.375).abs() < 1e-12);
    assert!(one.at_least(0.05) <= 0.375 && one.at_most(0.05) >= 0.375);
    assert!(UnitRates::new(&errors[..2], &[1.0, 1.0], &[Spread::UNKNOWN; 2]).is_none());
}

#[test]
fn limits_narrow_with_units_and_mirror() {
    let limits = |units: usize| {
        let errors: Vec<UnitErrors> = (0..units)
            .map(|unit| error(unit, 0, 10, 2 + (unit % 3) as u64))
            .collect();
        let spread = Spread {
            center: 0.3,
            deviation: 0.1,
        };
        let rates = UnitRates::new(&errors, &[1.0], &[spread]).unwrap();
        (rates.at_least(0.05), rates.at_most(0.05))
    };
    let (few, many) = (limits(15), limits(300));
    assert!(few.0 < many.0 && many.1 < few.1);
    assert!(many.0 > 0.27 && many.1 < 0.33, "{many:?}");
    let mirrored = |errors: u64| {
        let units: Vec<UnitErrors> = (0..20).map(|unit| error(unit, 0, 10, errors)).collect();
        UnitRates::new(&units, &[1.0], &[Spread::UNKNOWN]).unwrap()
    };
    let sum = mirrored(3).at_least(0.05) + mirrored(7).at_most(0.05);
    assert!((sum - 1.0).abs() < 1e-9);
}

/// The width that is promised is about that of the limits, and falls with more units.
#[test]
fn the_width_is_known_beforehand() {
    let rates = |units: usize| {
        let errors: Vec<UnitErrors> = (0..units)
            .map(|unit| error(unit, 0, 10, 3 + 4 * (unit % 2) as u64))
            .collect();
        let spread = Spread {
            center: 0.5,
            deviation: 0.2,
        };
        UnitRates::new(&errors, &[1.0], &[spread]).unwrap()
    };
    for units in [20, 100, 1000] {
        let rates = rates(units);
        let found = rates.at_most(0.05) - rates.point();
        let promised = rates.width(0.05);
        assert!((found / promised - 1.0).abs() < 0.25, "{found} {promised}");
    }
    assert!(rates(1000).width(0.05) < 0.4 * rates(100).width(0.05));
}

/// Units whose offsets move both secrets' rows alike: the pair's limit is narrower than with the same
/// numbers in different units.
#[test]
fn what_a_unit_adds_to_both_secrets_cancels() {
    let spread = Spread {
        center: 0.5,
        deviation: 0.1,
    };
    let limit = |shift: usize| {
        let errors: Vec<UnitErrors> = (0..60)
            .flat_map(|unit| {
                let offset = (unit % 5) as u64;
                [
                    error(unit, 0, 10, 3 + offset),
                    error(unit + shift, 1, 10, 7 - offset),
                ]
            })
            .collect();
        let rates = UnitRates::new(&errors, &[1.0, 1.0], &[spread; 2]).unwrap();
        rates.clone().expecting(&rates).at_least(0.05)
    };
    assert!(limit(0) > limit(60) + 0.005, "{} {}", limit(0), limit(60));
}

/// 3,000 logs of 12 + 12 units of unequal sizes and unequal fixed means: each limit misses at most 5 %.
#[test]
fn unequal_means_are_covered() {
    let mut rng = rng(11);
    let runs = 3000;
    let means: Vec<f64> = (0..24)
        .map(|unit| [0.02, 0.9, 0.5, 0.1][unit % 4])
        .collect();
    let truth = means.iter().sum::<f64>() / 12.0;
    let (mut above, mut below) = (0, 0);
    for _ in 0..runs {
        let errors: Vec<UnitErrors> = (0..24)
            .map(|unit| {
                let rows = [1, 3, 40][unit % 3];
                let wrong = (0..rows).filter(|_| rng.random_bool(means[unit])).count();
                error(unit, unit / 12, rows, wrong as u64)
            })
            .collect();
        let rates = UnitRates::new(&errors, &[1.0, 1.0], &[Spread::UNKNOWN; 2]).unwrap();
        above += usize::from(rates.at_least(0.05) > truth);
        below += usize::from(rates.at_most(0.05) < truth);
    }
    assert!(
        above <= at_most(runs, 0.05) && below <= at_most(runs, 0.05),
        "{above} {below}"
    );
}

#[test]
fn one_row_of_every_unit() {
    let errors = [
        error(0, 0, 9, 9),
        error(0, 1, 5, 0),
        error(1, 1, 3, 3),
        error(4, 0, 2, 0),
    ];
    let tallies = one_row_a_unit(&errors, 2, &mut rng(1));
    assert_eq!(tallies.iter().map(|tally| tally.1).sum::<u64>(), 3);
    assert!(betting_is_narrower(
        &Spread {
            center: 0.5,
            deviation: 0.1
        },
        0.05
    ));
    assert!(!betting_is_narrower(
        &Spread {
            center: 0.5,
            deviation: 0.5
        },
        0.05
    ));
}

#[test]
fn blocks_are_joined_by_their_shares() {
    let block = |errors: u64| {
        let units: Vec<UnitErrors> = (0..10).map(|unit| error(unit, 0, 10, errors)).collect();
        UnitRates::new(&units, &[1.0], &[Spread::UNKNOWN]).unwrap()
    };
    let joined = UnitRates::join(&[(0.25, block(2)), (0.75, block(6))]);
    assert!((joined.point() - 0.5).abs() < 1e-12);
}

/// Of 400 draws of 30 units with means of their own, no more limits are wrong than at 5 %, though centers follow the units
/// before.
#[test]
fn running_centers_are_valid_where_units_have_different_means() {
    let mut rng = rng(8);
    let mut misses = 0;
    for _ in 0..400 {
        let errors: Vec<UnitErrors> = (0..30)
            .map(|unit| {
                // 0.1 to 0.7, in an order that runs against the centers.
                let mean = 0.1 + 0.6 * (unit % 15) as f64 / 14.0;
                let errors = (0..5).filter(|_| rng.random_bool(mean)).count() as u64;
                error(unit, unit / 15, 5, errors)
            })
            .collect();
        let rates = UnitRates::with_running_centers(&errors, &[1.0, 1.0], 0.1).unwrap();
        misses += usize::from(rates.at_least(0.05) > 0.8);
    }
    assert!(misses <= at_most(400, 0.05), "{misses}");
}
