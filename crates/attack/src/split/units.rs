//! Splitting by units: all rows of a unit are in one part.

use rand::RngExt;
use rand_chacha::ChaCha8Rng;

use crate::split::{Split, most_of_numbers};
use leakgauge_log::groups::secrets_of;
use leakgauge_log::{UnitCell, UnitRows};

/// The units of each part.
#[derive(Debug, Clone)]
pub struct UnitParts {
    /// Units that were learned from.
    pub fit: UnitRows,
    /// Units that choose.
    pub tune: UnitRows,
    /// Units that judge.
    pub certify: UnitRows,
}

impl UnitParts {
    /// The values of two secrets in the units of each part, learned from first: unit by unit, ascending.
    pub fn of_both(&self, units: &[u32], values: [&[f64]; 2]) -> [[Vec<f64>; 2]; 3] {
        [&self.fit, &self.tune, &self.certify].map(|part| {
            let mut of_part = part.units().map(|unit| unit[0].unit).peekable();
            let (mut x, mut y) = (Vec::new(), Vec::new());
            for (at, &unit) in units.iter().enumerate() {
                while of_part.next_if(|&other| other < unit).is_some() {}
                if of_part.peek() == Some(&unit) {
                    x.push(values[0][at]);
                    y.push(values[1][at]);
                }
            }
            [x, y]
        })
    }
}

/// Parts in the order in which they get units where they lack equally many.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Part {
    Fit,
    Certify,
    Tune,
}

/// Shares of fit, certify and tune.
type Shares = [i64; 3];

/// 40 % fit, 40 % certify, 20 % tune.
const THREE: Shares = [2, 2, 1];
/// Where nothing is to be learned: the rest certifies, 25 % tune.
const WITHOUT_FIT: Shares = [0, 3, 1];
/// A log that only teaches: 67 % fit, 33 % tune.
const TEACHING: Shares = [2, 0, 1];
/// A log that only chooses.
const CHOOSING: Shares = [0, 0, 1];

impl Split {
    /// Splits the units at random: 40 % fit, 20 % tune, 40 % certify; where nothing is to be learned, 25 %
    /// tune and the rest certifies. Every secret has about its share of each part, also where units have
    /// several secrets.
    ///
    /// # Conditions
    /// The draw depends on which secrets units have, never on what was observed.
    pub fn by_units(
        rows: &UnitRows,
        secrets: usize,
        learns: bool,
        rng: &mut ChaCha8Rng,
    ) -> (Split, UnitParts) {
        let shares = if learns { THREE } else { WITHOUT_FIT };
        let parts = deal(rows, secrets, shares, rng);
        (of_parts(&parts, secrets), parts)
    }

    /// Splits the units by their numbers, as [`Split::by_units`] in size: the first to learn, the last to judge.
    ///
    /// # Conditions
    /// Units are numbered in the order in which they were recorded.
    pub fn by_units_in_order(rows: &UnitRows, secrets: usize, learns: bool) -> (Split, UnitParts) {
        let units = rows.len();
        let [fit, tune] = if learns { [0.4, 0.6] } else { [0.0, 0.25] };
        let first_of = |share: f64| {
            let at = (units as f64 * share).round() as usize;
            rows.units().nth(at).map_or(u32::MAX, |unit| unit[0].unit)
        };
        let (tune, certify) = (first_of(fit), first_of(tune));
        let parts = UnitParts {
            fit: rows.filtered(|unit| unit < tune),
            tune: rows.filtered(|unit| (tune..certify).contains(&unit)),
            certify: rows.filtered(|unit| unit >= certify),
        };
        (of_parts(&parts, secrets), parts)
    }

    /// Learns and tunes on the units of one log and certifies on all units of another, which must be
    /// others. Where nothing is to be learned, all units of the first tune.
    pub fn across_units(
        learn: &UnitRows,
        certify: &UnitRows,
        secrets: usize,
        learns: bool,
        rng: &mut ChaCha8Rng,
    ) -> (Split, UnitParts) {
        let shares = if learns { TEACHING } else { CHOOSING };
        let parts = UnitParts {
            certify: certify.clone(),
            ..deal(learn, secrets, shares, rng)
        };
        (of_parts(&parts, secrets), parts)
    }
}

/// Deals units at random to parts with these shares, which sum to 1: each to the part that lacks most units with its
/// secrets.
///
/// # Conditions
/// The draw depends on which secrets units have, never on what was observed.
pub fn parts_of_units(
    rows: &UnitRows,
    secrets: usize,
    shares: &[f64],
    rng: &mut ChaCha8Rng,
) -> Vec<UnitRows> {
    let whole: f64 = shares.iter().sum();
    let mut dealt = vec![vec![0.0; shares.len()]; secrets];
    let mut parts = vec![0; rows.cells().last().map_or(0, |cell| cell.unit as usize + 1)];
    for (_, cells) in in_random_order(rows, rng) {
        let of_unit = secrets_of(cells);
        let lack = |part: &usize| -> f64 {
            let lacks = of_unit.iter().map(|&secret| {
                let of_secret: &Vec<f64> = &dealt[secret as usize];
                let units: f64 = of_secret.iter().sum();
                shares[*part] / whole * (units + 1.0) - of_secret[*part]
            });
            lacks.sum()
        };
        // Of equals the first.
        let all = (0..shares.len()).rev();
        let part = all.max_by(|x, y| lack(x).total_cmp(&lack(y)));
        let part = part.expect("a part");
        for secret in of_unit {
            dealt[secret as usize][part] += 1.0;
        }
        parts[cells[0].unit as usize] = part;
    }
    let of = |wanted: usize| rows.filtered(|unit| parts[unit as usize] == wanted);
    (0..shares.len()).map(of).collect()
}

fn in_random_order<'a>(rows: &'a UnitRows, rng: &mut ChaCha8Rng) -> Vec<(u64, &'a [UnitCell])> {
    let units = rows.units();
    let mut order: Vec<(u64, &[UnitCell])> =
        units.map(|unit| (rng.random::<u64>(), unit)).collect();
    order.sort_unstable_by_key(|of| (of.0, of.1[0].unit));
    order
}

fn of_parts(parts: &UnitParts, secrets: usize) -> Split {
    Split {
        fit: parts.fit.counts(secrets),
        tune: parts.tune.counts(secrets),
        certify: parts.certify.counts(secrets),
    }
}

/// Deals units in random order: each to the part that lacks most units with its secrets. Of the units of one
/// secret the first is learned from, the second judges, the third chooses.
fn deal(rows: &UnitRows, secrets: usize, shares: Shares, rng: &mut ChaCha8Rng) -> UnitParts {
    let whole: i64 = shares.iter().sum();
    let order = in_random_order(rows, rng);
    let most = most_of_numbers(secrets) as i64;
    let mut dealt = vec![[0i64; 3]; secrets];
    let mut parts = vec![Part::Fit; rows.cells().last().map_or(0, |cell| cell.unit as usize + 1)];
    for (_, cells) in order {
        let (unit, of_unit) = (cells[0].unit, secrets_of(cells));
        let of_secret = |secret: u32| dealt[secret as usize];
        let lack = |part: Part| -> i64 {
            let part = part as usize;
            let lacks = of_unit.iter().map(|&secret| {
                let units: i64 = of_secret(secret).iter().sum();
                shares[part] * (units + 1) - whole * of_secret(secret)[part]
            });
            lacks.sum()
        };
        let has = |part: &Part| shares[*part as usize] > 0;
        let wanted = [Part::Fit, Part::Certify, Part::Tune]
            .into_iter()
            .filter(has);
        let wanted = wanted.reduce(|best, next| if lack(next) > lack(best) { next } else { best });
        let tuned = |secret: &u32| of_secret(*secret)[Part::Tune as usize] >= most;
        let part = match wanted.expect("some part has a share") {
            // Choosing needs no more; a log that does not judge has nobody else to give them to.
            Part::Tune if has(&Part::Certify) && of_unit.iter().all(tuned) => Part::Certify,
            part => part,
        };
        for secret in of_unit {
            dealt[secret as usize][part as usize] += 1;
        }
        parts[unit as usize] = part;
    }
    let of = |wanted: Part| rows.filtered(|unit| parts[unit as usize] == wanted);
    UnitParts {
        fit: of(Part::Fit),
        tune: of(Part::Tune),
        certify: of(Part::Certify),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::SeedableRng;

    fn rows(units: impl Iterator<Item = (u32, Vec<u32>)>) -> UnitRows {
        let cells = units.flat_map(|(unit, secrets)| {
            secrets.into_iter().map(move |secret| UnitCell {
                unit,
                symbol: unit * 7 % 5,
                secret,
                count: 1 + u64::from(unit % 3),
            })
        });
        UnitRows::new(cells.collect())
    }

    fn split(rows: &UnitRows, secrets: usize) -> (Split, UnitParts) {
        Split::by_units(rows, secrets, true, &mut ChaCha8Rng::seed_from_u64(1))
    }

    #[test]
    fn values_go_to_the_part_of_their_unit() {
        let rows = rows((0..100).map(|unit| (unit, vec![0, 1])));
        let (_, parts) = split(&rows, 2);
        let units: Vec<u32> = (0..100).filter(|unit| unit % 3 > 0).collect();
        let x: Vec<f64> = units.iter().map(|&unit| f64::from(unit)).collect();
        let y: Vec<f64> = x.iter().map(|x| -x).collect();
        let found = parts.of_both(&units, [&x, &y]);
        assert_eq!(
            found.iter().map(|of| of[0].len()).sum::<usize>(),
            units.len()
        );
        for ([x, y], part) in found.iter().zip([&parts.fit, &parts.tune, &parts.certify]) {
            let is_in = |x: &f64| part.units().any(|unit| f64::from(unit[0].unit) == *x);
            assert!(x.is_sorted() && x.iter().all(is_in));
            assert!(x.iter().zip(y).all(|(x, y)| *y == -x));
        }
    }

    #[test]
    fn no_unit_is_in_two_parts_and_shares_are_kept_per_secret() {
        let rows = rows((0..100).map(|unit| (unit, vec![unit % 2])));
        let (split, parts) = split(&rows, 2);
        let units = [&parts.fit, &parts.tune, &parts.certify];
        assert_eq!(
            units.map(|part| part.units_of_secrets(2)),
            [[20, 20], [10, 10], [20, 20]]
        );
        let all: Vec<UnitCell> = units
            .iter()
            .flat_map(|part| part.cells().to_vec())
            .collect();
        assert_eq!(UnitRows::new(all), rows);
        assert_eq!(
            split.fit.plus(&split.tune).plus(&split.certify),
            rows.counts(2)
        );
    }

    #[test]
    fn the_rarest_secrets_are_learned_first_then_certified() {
        for (units, expected) in [
            (1, [1, 0, 0]),
            (2, [1, 0, 1]),
            (3, [1, 1, 1]),
            (4, [2, 1, 1]),
        ] {
            let (_, parts) = split(&rows((0..units).map(|unit| (unit, vec![0]))), 1);
            assert_eq!(
                [&parts.fit, &parts.tune, &parts.certify].map(UnitRows::len),
                expected
            );
        }
    }

    #[test]
    fn units_with_sets_of_secrets_of_their_own_are_dealt_out_all_the_same() {
        let rows = rows((0..40).map(|unit| (unit, vec![unit % 8, 8 + unit / 8])));
        let (split, parts) = split(&rows, 13);
        let units = [&parts.fit, &parts.tune, &parts.certify].map(UnitRows::len);
        assert!(
            (14..19).contains(&units[0]) && (14..19).contains(&units[2]),
            "{units:?}"
        );
        assert!(split.certify.rows().iter().all(|&rows| rows > 0));
    }

    #[test]
    fn without_anything_to_learn_three_quarters_certify() {
        let rows = rows((0..40).map(|unit| (unit, vec![0, 1])));
        let mut rng = ChaCha8Rng::seed_from_u64(1);
        let (split, parts) = Split::by_units(&rows, 2, false, &mut rng);
        assert_eq!(
            (parts.tune.len(), parts.certify.len(), split.fit.total()),
            (10, 30, 0)
        );
        let (_, parts) = Split::across_units(&rows, &rows, 2, true, &mut rng);
        assert_eq!(
            (parts.fit.len(), parts.tune.len(), parts.certify.len()),
            (27, 13, 40)
        );
    }
}
