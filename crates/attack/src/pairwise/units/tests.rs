use super::*;
use crate::pairwise::judge;
use leakgauge_log::UnitCell;
use rand::{RngExt, SeedableRng};

/// 30 units, the first 20 with both of two secrets; observation o has the scores (o, 3).
fn log() -> (ScoreTable, UnitRows) {
    let mut rng = ChaCha8Rng::seed_from_u64(4);
    let cells = (0..400).map(|_| {
        let unit = rng.random_range(0..30);
        UnitCell {
            unit,
            symbol: rng.random_range(0..7),
            secret: if unit < 20 {
                rng.random_range(0..2)
            } else {
                unit % 2
            },
            count: rng.random_range(1..4),
        }
    });
    let rows = UnitRows::new(cells.collect());
    let values = (0..7u32).flat_map(|symbol| [f64::from(symbol), 3.0]);
    (ScoreTable::new((0..7).collect(), 2, values.collect()), rows)
}

struct Same;

impl Scorer for Same {
    fn name(&self) -> &str {
        "same"
    }

    fn parameters(&self) -> crate::scorer::Parameters {
        crate::scorer::Parameters::new()
    }

    fn score(&self, _: &Observations, ids: &[u32], scores: &mut [f64]) {
        for (&id, row) in ids.iter().zip(scores.chunks_mut(2)) {
            (row[0], row[1]) = (f64::from(id), 3.0);
        }
    }

    fn refit(
        &self,
        _: &Observations,
        _: &leakgauge_log::observations::Counts,
    ) -> Result<Arc<dyn Scorer>, String> {
        Err("learns nothing".to_owned())
    }
}

const RULE: Rule = Rule {
    a: 0,
    b: 1,
    threshold: 1.0,
};

#[test]
fn the_rows_of_all_units_together_are_judged_as_rows() {
    let (scores, rows) = log();
    let prior = vec![0.5, 0.5];
    let found = tally_units(&scores, &rows, &[RULE], std::slice::from_ref(&prior));
    let observations = Observations::of_numbers(1, (0..7).map(f64::from).collect());
    let counts = rows.counts(2);
    let expected = judge(
        &Same,
        &observations,
        &counts,
        &[RULE],
        std::slice::from_ref(&prior),
    );
    let errors = found.rules[0].errors();
    let sum = |secret: usize| {
        let of_secret = errors.iter().filter(|error| error.secret == secret);
        of_secret.fold((0, 0), |sum, error| {
            (sum.0 + error.rows, sum.1 + error.errors)
        })
    };
    let tally = &expected.tallies[0];
    assert_eq!(
        (sum(0), sum(1)),
        (
            (tally.a_rows, tally.a_missed),
            (tally.b_rows, tally.b_missed)
        )
    );
    let guesses = &found.guesses[0];
    for secret in 0..2 {
        let wrong = guesses.iter().filter(|error| error.secret == secret);
        let wrong: u64 = wrong.map(|error| error.errors).sum();
        assert_eq!(wrong, expected.guesses[0].errors[secret]);
    }
    let again = judge_units(&Same, &observations, &rows, 2, &[RULE], &[prior]);
    assert_eq!(
        (&again.rules, &again.guesses),
        (&found.rules, &found.guesses)
    );
}

#[test]
fn every_unit_counts_once_in_the_rates() {
    let (scores, rows) = log();
    let found = &tally_units(&scores, &rows, &[RULE], &[]).rules[0];
    let mean = |secret: usize| {
        let errors = found.errors();
        let rates: Vec<f64> = errors
            .iter()
            .filter(|error| error.secret == secret)
            .map(|error| error.errors as f64 / error.rows as f64)
            .collect();
        assert_eq!(rates.len() as u64, found.units()[secret]);
        rates.iter().sum::<f64>() / rates.len() as f64
    };
    let rates = found.rates().unwrap();
    assert!((rates.missed - mean(0)).abs() < 1e-12);
    assert!((rates.false_alarm - mean(1)).abs() < 1e-12);
}

/// Units of a row each are rows: one row a unit is taken, and the limits are those of rows. Units of many
/// rows that err alike are bet on.
#[test]
fn the_method_follows_how_much_units_differ() {
    let tally = |rows: u64, wrong: &dyn Fn(u32) -> u64| {
        let units: Vec<(u32, u64)> = (0..300).map(|unit| (unit, rows)).collect();
        let others = (300..600).map(|unit| (unit, rows)).collect();
        UnitTally {
            units: Arc::new(vec![units, others]),
            secrets: [0, 1],
            errors: [0, 300].map(|first| (first..first + 300).map(wrong).collect()),
        }
    };
    let advantage = |tally: &UnitTally| {
        let mut rng = ChaCha8Rng::seed_from_u64(1);
        UnitAdvantage::new(tally, &UnitGuide::new(tally), 0.05, &mut rng)
    };
    let single = advantage(&tally(1, &|unit| u64::from(unit % 4 == 0)));
    assert_eq!(single.method(), UnitMethod::OneRow);
    let rows = 1.0 - 2.0 * poisson_binomial_upper(150, 600, 0.05);
    assert!((single.at_least(0.05) - rows).abs() < 1e-12);
    let many = advantage(&tally(100, &|unit| 23 + u64::from(unit % 5)));
    assert_eq!(many.method(), UnitMethod::Betting);
    assert!(many.at_least(0.05) > rows + 0.02 && many.at_most(0.05) < 0.52);
    for found in [&single, &many] {
        let [lower, upper] = [found.at_least(0.05), found.at_most(0.05)];
        assert!(lower < 0.5 && upper > 0.5, "{lower} {upper}");
        let errors = found.errors_at_most(0.05);
        assert!(errors.missed > 0.25 && errors.false_alarm > 0.25);
        assert_eq!(found.units(), [300, 300]);
    }
}

#[test]
fn a_secret_without_units_has_no_rates() {
    let tally = UnitTally {
        units: Arc::new(vec![vec![(0, 3)], Vec::new()]),
        secrets: [0, 1],
        errors: [vec![1], Vec::new()],
    };
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    let found = UnitAdvantage::new(&tally, &UnitGuide::new(&tally), 0.05, &mut rng);
    assert_eq!(found.rates(), None);
    assert_eq!((found.at_least(0.05), found.at_most(0.05)), (-1.0, 1.0));
    assert_eq!(found.errors_at_most(0.05).advantage(), -1.0);
    assert_eq!(tally.advantage_about(0.05), None);
}
