//! Lists of whole numbers, as users write them.

use leakgauge_base::error::{Error, Result, shorten};

/// The most samples of a simulation: minutes to hours.
const MAX_SAMPLES: u64 = 1_000_000_000;

/// Checks a number of samples.
///
/// # Errors
/// Fewer than 2, or more than 10⁹.
pub(super) fn check_samples(samples: u64) -> Result<()> {
    let problem = match samples {
        0 | 1 => "a standard error needs at least 2".to_owned(),
        2..=MAX_SAMPLES => return Ok(()),
        _ => format!("must be at most {MAX_SAMPLES}: more would take days"),
    };
    Err(Error::setting("samples", samples, problem))
}

/// The largest number of numbers in one list.
const MAX_NUMBERS: u64 = 100_000;

/// Reads `2,10,1000`, `2..50` (every whole number) and `2..1e12:30` (about 30 numbers, evenly spaced by their
/// logarithm, ends included), or several of these separated by commas. Returns the numbers in increasing order
/// without duplicates. `field` is the option that they come from, for messages.
///
/// # Errors
/// A number is not a whole number from 1 to 2⁵³, a range is empty, or there are more than 100,000 numbers.
pub fn parse_numbers(field: &str, text: &str) -> Result<Vec<u64>> {
    let wrong = |part: &str, problem: &str| {
        Error::setting(field, shorten(part), problem)
            .with_hint("write whole numbers from 1 to 2^53: 2,10,1000, or 2..50, or 2..1e12:30")
    };
    let whole = |part: &str| {
        let number: f64 = part
            .trim()
            .parse()
            .map_err(|_| wrong(part, "is not a number"))?;
        if number.fract() != 0.0 || !(1.0..=(1_u64 << 53) as f64).contains(&number) {
            return Err(wrong(part, "is not a whole number from 1 to 2^53"));
        }
        Ok(number as u64)
    };
    let mut numbers = Vec::new();
    for part in text.split(',') {
        let Some((from, rest)) = part.split_once("..") else {
            numbers.push(whole(part)?);
            continue;
        };
        let (to, points) = match rest.split_once(':') {
            Some((to, points)) => (to, Some(whole(points)?)),
            None => (rest, None),
        };
        let (from, to) = (whole(from)?, whole(to)?);
        if from > to {
            return Err(wrong(part, "is an empty range"));
        }
        let count = points.unwrap_or(to - from + 1);
        if count > MAX_NUMBERS {
            return Err(wrong(part, "has more than 100000 numbers"));
        }
        match points {
            None => numbers.extend(from..=to),
            Some(points) => numbers.extend(spread(from, to, points)),
        }
    }
    numbers.sort_unstable();
    numbers.dedup();
    Ok(numbers)
}

fn spread(from: u64, to: u64, points: u64) -> impl Iterator<Item = u64> {
    let ratio = libm::log(to as f64 / from as f64);
    (0..points).map(move |i| match i {
        0 => from,
        i if i + 1 == points => to,
        i => {
            let at = from as f64 * libm::exp(ratio * i as f64 / (points - 1) as f64);
            (at.round() as u64).clamp(from, to)
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_ranges_and_grids() {
        let read = |text| parse_numbers("n", text).unwrap();
        assert_eq!(read("10,2,2"), [2, 10]);
        assert_eq!(read("2..5,9"), [2, 3, 4, 5, 9]);
        assert_eq!(read("1..1e12:13").len(), 13);
        assert_eq!(read("1..1000:4"), [1, 10, 100, 1000]);
        for bad in [
            "", "0", "1.5", "x", "5..2", "1..1e9", "-1", "1e300", "2..9:0", "1,",
        ] {
            assert!(parse_numbers("n", bad).is_err(), "{bad}");
        }
    }
}
