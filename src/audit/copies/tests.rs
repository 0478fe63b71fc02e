use super::*;
use leakgauge_log::LogBuilder;
use leakgauge_stats::special::normal_quantile;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;

/// Logs a case.
const LOGS: u64 = 200;

fn normal(rng: &mut ChaCha8Rng) -> f64 {
    normal_quantile(rng.random::<f64>().clamp(1e-16, 1.0 - 1e-16))
}

fn rounded(value: f64, decimals: i32) -> f64 {
    let scale = 10f64.powi(decimals);
    (value * scale).round() / scale
}

/// A value of a law for one of two secrets.
type Law = fn(&mut ChaCha8Rng, usize) -> f64;

/// Measurements, integers and identifiers, with leaks and without.
const LAWS: [(&str, Law); 14] = [
    ("normal", |rng, _| normal(rng)),
    ("normal, 5 decimals", |rng, _| rounded(normal(rng), 5)),
    ("normal, 4 decimals", |rng, _| rounded(normal(rng), 4)),
    ("normal, 3 decimals", |rng, _| rounded(normal(rng), 3)),
    ("normal, 2 decimals", |rng, _| rounded(normal(rng), 2)),
    ("normal, 1 decimal", |rng, _| rounded(normal(rng), 1)),
    ("3 apart, 3 decimals", |rng, secret| {
        rounded(normal(rng) + 3.0 * secret as f64, 3)
    }),
    ("10 apart, 4 decimals", |rng, secret| {
        rounded(normal(rng) + 10.0 * secret as f64, 4)
    }),
    ("clamped, 4 decimals", |rng, _| {
        rounded(normal(rng).clamp(-1.0, 1.0), 4)
    }),
    ("an atom at 0", |rng, _| {
        if rng.random_bool(0.2) {
            0.0
        } else {
            normal(rng)
        }
    }),
    ("ticks of 41.67", |rng, _| {
        41.67 * (250.0 + 4.0 * normal(rng)).round()
    }),
    ("500 integers", |rng, _| f64::from(rng.random_range(0..500))),
    ("2,000 integers apart", |rng, secret| {
        f64::from(rng.random_range(0..2000)) + 5000.0 * secret as f64
    }),
    ("geometric", |rng, _| {
        (-300.0 * rng.random::<f64>().max(1e-300).ln()).floor()
    }),
];

fn rows(law: Law, rows: usize, seed: u64) -> Vec<(usize, f64)> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    (0..rows)
        .map(|_| {
            let secret = rng.random_range(0..2);
            (secret, law(&mut rng, secret))
        })
        .collect()
}

fn log(rows: &[(usize, f64)]) -> Log {
    let secrets: Vec<&str> = rows.iter().map(|row| ["a", "b"][row.0]).collect();
    let values: Vec<f64> = rows.iter().map(|row| row.1).collect();
    let builder = LogBuilder::new().secrets(&secrets);
    let builder = if values.iter().all(|value| value.trunc() == *value) {
        let values: Vec<i64> = values.iter().map(|&value| value as i64).collect();
        builder.integers("x", &values)
    } else {
        builder.numbers("x", &values)
    };
    builder.build().expect("a log")
}

/// What was found: the codes of warnings, or a refusal; and how many rows are left.
fn found(rows: &[(usize, f64)]) -> (Vec<&'static str>, u64) {
    match without_copies(Cow::Borrowed(&log(rows))) {
        Ok((log, warnings)) => (
            warnings.iter().map(Warning::code).collect(),
            log.counts.total(),
        ),
        Err(_) => (vec!["refused"], 0),
    }
}

/// P(Bin(200, 0.001) > 2) = 0.001: the level of a test is 0.0001, its normal law approximate.
fn assert_hardly_accused(count: usize) {
    for (name, law) in LAWS {
        let accused = (0..LOGS).into_par_iter();
        let accused = accused.filter(|&seed| !found(&rows(law, count, seed)).0.is_empty());
        let accused = accused.count();
        assert!(accused <= 2, "{name}, {count} rows: {accused} of {LOGS}");
    }
}

#[test]
#[ignore = "long"]
fn independent_rows_are_hardly_ever_taken_for_copies() {
    assert_hardly_accused(1000);
}

#[test]
#[ignore = "minutes: cargo test -p leakgauge --lib -- --ignored longer_logs_are_hardly"]
fn longer_logs_are_hardly_ever_taken_for_copies() {
    assert_hardly_accused(6000);
}

/// Every law, with values however coarse: all cells have an even number of rows.
#[test]
fn a_log_that_was_read_twice_is_counted_once() {
    for (name, law) in LAWS {
        for seed in 0..20 {
            let mut twice = rows(law, 1000, seed);
            twice.extend_from_within(..);
            let (codes, left) = found(&twice);
            assert_eq!((codes, left), (vec!["read-several-times"], 1000), "{name}");
        }
    }
}

#[test]
fn repeated_rows_of_fine_values_are_dropped() {
    for seed in 0..20 {
        let mut some = rows(LAWS[0].1, 1000, seed);
        some.extend_from_within(..100);
        assert_eq!(found(&some), (vec!["copies-dropped"], 1000));
    }
}

/// Fewer copies, and some of them more than twice: no multiplicity says that they are some, and secrets that draw from
/// few values of their own tie in the same way. That is a leak, and nothing is left out.
#[test]
fn ties_of_one_secret_are_copies_or_a_leak() {
    for seed in 0..20 {
        let mut few = rows(LAWS[0].1, 1000, seed);
        few.extend_from_within(..30);
        few.extend_from_within(..10);
        assert_eq!(found(&few), (vec!["ties-of-one-secret"], 1040));
        // A generator of 16 bits, seeded by the secret.
        let short = |rng: &mut ChaCha8Rng, secret: usize| {
            let state = rng.random_range(0..1u32 << 16);
            (f64::from(state) + 0.1 + secret as f64 / 3.0).sin()
        };
        let few = rows(short, 20_000, seed);
        let (codes, left) = found(&few);
        assert_eq!((codes, left), (vec!["ties-of-one-secret"], 20_000));
    }
}

/// Values of three decimals, beside a column that is constant for each secret: rows of different secrets never tie, and
/// rows of one as often as their values do.
#[test]
fn a_column_that_tells_the_secret_makes_no_copies() {
    for seed in 0..20 {
        let measured = rows(LAWS[3].1, 4000, seed);
        let secrets: Vec<&str> = measured.iter().map(|row| ["a", "b"][row.0]).collect();
        let values: Vec<f64> = measured.iter().map(|row| row.1).collect();
        let doses: Vec<f64> = measured
            .iter()
            .map(|row| 1.25 * (row.0 + 1) as f64)
            .collect();
        let log = LogBuilder::new().secrets(&secrets);
        let log = log.numbers("dose", &doses).numbers("level", &values);
        let log = log.build().expect("a log");
        let (kept, warnings) = without_copies(Cow::Borrowed(&log)).expect("no copies");
        assert!(warnings.is_empty(), "{warnings:?}");
        assert_eq!(kept.counts.total(), 4000);
    }
}

/// Nobody can tell which of the equal rows are copies: not dropped, and not passed over in silence.
#[test]
fn repeated_rows_of_coarser_values_are_suspected_or_refused() {
    for seed in 0..20 {
        let mut some = rows(LAWS[2].1, 6000, seed);
        some.extend_from_within(..600);
        let (codes, _) = found(&some);
        assert!(
            codes == ["refused"] || codes == ["copies-suspected"],
            "{codes:?}"
        );
    }
}

/// Secrets that always give the same observation twice are no copies: two rows of a secret prove nothing.
#[test]
fn few_rows_of_many_secrets_are_no_copies() {
    let secrets: Vec<String> = (0..200).map(|row| (row / 2).to_string()).collect();
    let values: Vec<f64> = (0..200).map(|row| f64::from(row / 2) + 0.25).collect();
    let log = LogBuilder::new().secrets(&secrets).numbers("x", &values);
    let log = log.build().expect("a log");
    let (same, warnings) = without_copies(Cow::Borrowed(&log)).expect("no copies");
    assert!(warnings.is_empty());
    assert_eq!(same.counts, log.counts);
}

#[test]
fn the_order_keeps_the_first_of_equal_rows() {
    let mut twice = rows(LAWS[0].1, 300, 7);
    let once = twice.clone();
    twice.extend_from_within(..);
    let order = |log: &Log| {
        let order = log.order.clone().expect("an order");
        (order.secrets, order.symbols)
    };
    let log_twice = log(&twice);
    let (cleaned, _) = without_copies(Cow::Borrowed(&log_twice)).expect("copies");
    assert_eq!(order(&cleaned), order(&log(&once)));
    assert_eq!(cleaned.facts.rows_used, 300);
}

#[test]
fn rows_of_both_logs_are_not_learned_from() {
    let all = rows(LAWS[0].1, 900, 8);
    let builder = |rows: &[(usize, f64)]| {
        let secrets: Vec<&str> = rows.iter().map(|row| ["a", "b"][row.0]).collect();
        let values: Vec<f64> = rows.iter().map(|row| row.1).collect();
        LogBuilder::new().secrets(&secrets).numbers("x", &values)
    };
    let log = builder(&all[..500])
        .fit_on(builder(&all[400..]))
        .build()
        .expect("a log");
    let (cleaned, warnings) = without_copies(Cow::Borrowed(&log)).expect("no copies within");
    assert_eq!(warnings, [Warning::SharedRows { rows: 100 }]);
    assert_eq!(cleaned.fit_counts.as_ref().map(Counts::total), Some(400));
    assert_eq!(cleaned.counts.total(), 500);
}
