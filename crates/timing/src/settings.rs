//! Environment variables. What cannot be read is an error: a gate must not run with other settings than were meant.

use std::path::PathBuf;
use std::str::FromStr;

/// `LEAKGAUGE_SEED`: the seed of the orders of all tests.
pub(crate) fn seed() -> Option<u64> {
    number("LEAKGAUGE_SEED")
}

/// `LEAKGAUGE_TESTS`: how many tests share the rate of false alarms.
pub(crate) fn tests() -> Option<usize> {
    let tests = number("LEAKGAUGE_TESTS");
    assert!(
        tests != Some(0),
        "LEAKGAUGE_TESTS=0: it is the number of constant-time tests, 1 or more"
    );
    tests
}

/// `LEAKGAUGE_LOG`: the directory in which every test leaves its times, whatever it came to.
pub(crate) fn log() -> Option<PathBuf> {
    std::env::var_os("LEAKGAUGE_LOG")
        .filter(|value| !value.is_empty())
        .map(PathBuf::from)
}

fn number<N: FromStr>(name: &str) -> Option<N> {
    let value = std::env::var_os(name).filter(|value| !value.is_empty())?;
    let text = value.to_string_lossy();
    Some(parse(name, &text))
}

fn parse<N: FromStr>(name: &str, text: &str) -> N {
    text.trim()
        .parse()
        .unwrap_or_else(|_| panic!("{name}={text}: a whole number is expected"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_read() {
        assert_eq!(parse::<u64>("LEAKGAUGE_SEED", " 7 "), 7);
    }

    #[test]
    #[should_panic(expected = "LEAKGAUGE_SEED=seven: a whole number is expected")]
    fn what_is_no_number_is_refused() {
        parse::<u64>("LEAKGAUGE_SEED", "seven");
    }
}
