//! Dates and durations as numbers of seconds, and numbers with one unit behind them: `97.5 %`, `0.58 km`.

use std::borrow::Cow;

use jiff::civil::DateTime;
use jiff::{SignedDuration, Timestamp, tz::TimeZone};

/// What the texts of a column say in words of time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    /// ISO 8601 and RFC 3339: `2026-01-01`, `2026-01-01T12:00:00.5+02:00`.
    Date,
    /// `1h2m3.5s`, `12ms`, `1.2e-3 s`, `PT1M`.
    Duration,
    /// `29/11/2026`, the day first or the month, as no other order fits the column.
    SlashedDate {
        /// Whether the day comes before the month.
        day_first: bool,
    },
    /// Numbers with the same unit.
    Suffix(Suffix),
    /// Numbers whose units differ by what multiplies them: `512`, `1.7 k`, `3 M`; `512 B`, `2.5 GiB`.
    Scaled(Option<Suffix>),
}

/// A unit that stands behind numbers, or around them: `%`, `km`, `$`, `np.float64()`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Suffix {
    bytes: [u8; Suffix::MAX],
    len: usize,
}

impl Suffix {
    /// The longest.
    const MAX: usize = 24;

    /// The unit behind a number.
    pub fn of(text: &str) -> Option<Self> {
        let (_, unit) = split(text)?;
        let mut bytes = [0; Suffix::MAX];
        bytes
            .get_mut(..unit.len())?
            .copy_from_slice(unit.as_bytes());
        Some(Suffix {
            bytes,
            len: unit.len(),
        })
    }

    /// How it is written.
    pub fn text(&self) -> &str {
        std::str::from_utf8(&self.bytes[..self.len]).unwrap_or_default()
    }
}

/// A number and its unit: letters behind it, or a sign such as `%`; a currency before it, perhaps with what multiplies it
/// behind; or how a language prints a number of a type, `np.float64(0.5)`.
fn split(text: &str) -> Option<(f64, Cow<'_, str>)> {
    if let Some((value, unit)) = with_unit_behind(text) {
        return Some((value, unit.into()));
    }
    let (sign, rest) = match text.strip_prefix('-') {
        Some(rest) => (-1.0, rest),
        None => (1.0, text),
    };
    if let Some(number) = rest.strip_prefix(CURRENCIES) {
        let currency = &rest[..rest.len() - number.len()];
        let number = number.trim_start();
        if let Some(value) = plain_number(number) {
            return Some((sign * value, currency.into()));
        }
        // `$1.5k` is 1.5 `k$`.
        let (value, multiple) = with_unit_behind(number)?;
        return Some((sign * value, format!("{multiple}{currency}").into()));
    }
    let (kind, number) = text.strip_suffix(')')?.split_once('(')?;
    let number = number.trim_matches(['\'', '"']);
    is_type_of_numbers(kind).then_some(())?;
    Some((plain_number(number)?, format!("{kind}()").into()))
}

/// Bytes of a unit behind a number; what is longer is a word.
const LONGEST: usize = 12;

/// Signs of currencies.
pub(crate) const CURRENCIES: [char; 4] = ['€', '$', '£', '¥'];

/// Whether a type holds one number: `np.float64`, `Decimal`.
fn is_type_of_numbers(name: &str) -> bool {
    let last = name.rsplit('.').next().unwrap_or(name);
    let last = last.trim_end_matches(|c: char| c.is_ascii_digit());
    matches!(
        last,
        "float" | "int" | "uint" | "longdouble" | "Decimal" | "array" | "Array" | "tensor"
    )
}

/// A finite number without a unit.
fn plain_number(text: &str) -> Option<f64> {
    let begins = text.starts_with(|c: char| c.is_ascii_digit() || matches!(c, '-' | '+' | '.'));
    let value = text.parse::<f64>().ok()?;
    (begins && value.is_finite()).then_some(value)
}

/// A number and the letters or signs behind it.
fn with_unit_behind(text: &str) -> Option<(f64, &str)> {
    let is_of_unit = |c: char| {
        c.is_alphabetic() || CURRENCIES.contains(&c) || matches!(c, '%' | '°' | '‰' | '/')
    };
    let number = text.trim_end_matches(is_of_unit);
    let (unit, number) = (&text[number.len()..], number.trim_end());
    // `1e5` is a number, and `inf` and `nan` are none.
    let value = plain_number(number)?;
    let is_unit = !unit.is_empty() && unit.len() <= LONGEST && !unit.starts_with('/');
    is_unit.then_some((value, unit))
}

/// Names of units of time, and their seconds.
const SECONDS: [(&str, f64); 8] = [
    ("ns", 1e-9),
    ("us", 1e-6),
    ("µs", 1e-6),
    ("μs", 1e-6),
    ("ms", 1e-3),
    ("s", 1.0),
    ("min", 60.0),
    ("h", 3600.0),
];

/// The seconds of a number with an exponent: `1.2e-3 s`.
fn scientific(text: &str) -> Option<f64> {
    let (value, unit) = split(text)?;
    let (_, seconds) = SECONDS.iter().find(|(name, _)| *name == unit)?;
    text.contains(['e', 'E']).then_some(value * seconds)
}

/// A date in which the month has its name, as C, mail and web servers write it: `Mon Mar  2 10:11:12 2026`,
/// `Mon, 02 Mar 2026 10:11:12 GMT`, `02/Mar/2026:10:11:12 +0100`. As ISO 8601 writes it.
fn with_month_named(text: &str) -> Option<String> {
    const MONTHS: [&str; 12] = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ];
    const WITHOUT_MEANING: [&str; 10] = [
        "Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun", "GMT", "UTC", "at",
    ];
    let (mut year, mut month, mut day, mut time) = (None, None, None, None);
    let mut offset = "Z".to_owned();
    let words = text.split([' ', ',', '/']).filter(|word| !word.is_empty());
    let words = words.flat_map(|word| match word.split_once(':') {
        Some((year, time)) if year.len() == 4 => [Some(year), Some(time)],
        _ => [Some(word), None],
    });
    for word in words.flatten() {
        let digits = word.bytes().all(|byte| byte.is_ascii_digit());
        if let Some(at) = MONTHS.iter().position(|name| *name == word) {
            month.replace(at + 1).is_none().then_some(())?;
        } else if digits && word.len() == 4 {
            year.replace(word).is_none().then_some(())?;
        } else if digits && word.len() <= 2 {
            day.replace(word).is_none().then_some(())?;
        } else if word.contains(':') {
            time.replace(word).is_none().then_some(())?;
        } else if word.len() == 5 && word.starts_with(['+', '-']) && word.is_ascii() {
            offset = format!("{}:{}", &word[..3], &word[3..]);
        } else if !WITHOUT_MEANING.contains(&word) {
            return None;
        }
    }
    let (year, month, day) = (year?, month?, day?);
    let time = time.unwrap_or("00:00:00");
    Some(format!("{year}-{month:02}-{day:0>2}T{time}{offset}"))
}

/// A date with the day first and points between: `02.03.2026 10:11:12.5`; or with slashes and the year first. As ISO 8601
/// writes it.
fn iso(text: &str) -> Option<String> {
    let (date, time) = match text.split_once([' ', 'T']) {
        Some((date, time)) => (date, Some(time.trim())),
        None => (text, None),
    };
    let separator = if date.contains('.') { '.' } else { '/' };
    let mut parts = date.split(separator);
    let [first, month, last] = [parts.next()?, parts.next()?, parts.next()?];
    let (year, day) = match separator {
        '.' => (last, first),
        _ => (first, last),
    };
    let is_number = |text: &str, least: usize, most: usize| {
        (least..=most).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit())
    };
    let is_date = parts.next().is_none()
        && is_number(year, 4, 4)
        && is_number(month, 1, 2)
        && is_number(day, 1, 2);
    let time = time.map_or(String::new(), |time| format!("T{time}"));
    is_date.then(|| format!("{year}-{month:0>2}-{day:0>2}{time}"))
}

/// What multiplies a unit.
const MULTIPLES: [(&str, f64); 12] = [
    ("", 1.0),
    ("k", 1e3),
    ("K", 1e3),
    ("M", 1e6),
    ("G", 1e9),
    ("T", 1e12),
    ("P", 1e15),
    ("Ki", 1024.0),
    ("Mi", 1_048_576.0),
    ("Gi", 1_073_741_824.0),
    ("Ti", 1_099_511_627_776.0),
    ("Pi", 1_125_899_906_842_624.0),
];

/// The parts of a unit; behind a number alone they are something else.
const PARTS: [(&str, f64); 4] = [("m", 1e-3), ("u", 1e-6), ("µ", 1e-6), ("n", 1e-9)];

/// What multiplies a unit in these words.
fn factor(words: &str, unit: &str) -> Option<f64> {
    let before = words.strip_suffix(unit)?;
    // `$20m` are millions.
    let has_parts = !unit.is_empty() && !unit.starts_with(CURRENCIES);
    let parts = PARTS.iter().filter(|_| has_parts);
    let mut all = MULTIPLES.iter().chain(parts);
    all.find(|(name, _)| *name == before)
        .map(|(_, factor)| *factor)
}

/// A date with slashes and the year last, as ISO 8601 writes it.
fn slashed_iso(text: &str, day_first: bool) -> Option<String> {
    let (date, time) = text.split_once(' ').unwrap_or((text, ""));
    let mut parts = date.split('/');
    let [first, second, year] = [parts.next()?, parts.next()?, parts.next()?];
    let is_number = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    let is_date = parts.next().is_none()
        && year.len() == 4
        && [first, second]
            .iter()
            .all(|part| (1..=2).contains(&part.len()))
        && [first, second, year].into_iter().all(is_number);
    let (day, month) = if day_first {
        (first, second)
    } else {
        (second, first)
    };
    let time = match time.trim() {
        "" => String::new(),
        time => format!("T{time}"),
    };
    is_date.then(|| format!("{year}-{month:0>2}-{day:0>2}{time}"))
}

impl Unit {
    /// The order of day and month of dates with slashes, where all can be read in one order only.
    pub fn of_slashed<'t>(texts: impl Iterator<Item = &'t str> + Clone) -> Option<Self> {
        texts.clone().next()?;
        let fits = |day_first| {
            let unit = Unit::SlashedDate { day_first };
            texts.clone().all(|text| unit.seconds(text).is_some())
        };
        match (fits(true), fits(false)) {
            (true, false) => Some(Unit::SlashedDate { day_first: true }),
            (false, true) => Some(Unit::SlashedDate { day_first: false }),
            _ => None,
        }
    }

    /// The unit of numbers behind which it is multiplied in several ways.
    pub fn of_scaled<'t>(texts: impl Iterator<Item = &'t str>) -> Option<Self> {
        let mut units: Vec<Cow<str>> = Vec::new();
        for text in texts {
            let unit = match text.parse::<f64>() {
                Ok(_) => "".into(),
                Err(_) => split(text)?.1,
            };
            if !units.contains(&unit) {
                units.push(unit);
            }
        }
        let shortest = units.iter().min_by_key(|unit| unit.len())?;
        if units.len() < 2 {
            return None;
        }
        let mut bases = shortest
            .char_indices()
            .map(|(at, _)| &shortest[at..])
            .chain([""]);
        let base = bases.find(|base| units.iter().all(|unit| factor(unit, base).is_some()))?;
        match base {
            "" => Some(Unit::Scaled(None)),
            base => Some(Unit::Scaled(Some(Suffix::of(&format!("1 {base}"))?))),
        }
    }

    /// The unit that all of some texts are in; `None` if there is none, or no text.
    pub fn of<'t>(mut texts: impl Iterator<Item = &'t str> + Clone) -> Option<Self> {
        let first = texts.clone().next()?;
        let unit = [Unit::Date, Unit::Duration]
            .into_iter()
            .find(|unit| unit.seconds(first).is_some())?;
        texts
            .all(|text| unit.seconds(text).is_some())
            .then_some(unit)
    }

    /// Seconds, since 1970 of a date; the number before another unit.
    pub fn seconds(self, text: &str) -> Option<f64> {
        // Anything else would be a number or a word; parsing those is most of the work.
        if !text.bytes().any(|byte| byte.is_ascii_digit()) {
            return None;
        }
        match self {
            Unit::Date => {
                let seconds = |text: &str| {
                    let since = text.parse::<Timestamp>().or_else(|_| {
                        let date = text.parse::<DateTime>()?;
                        date.to_zoned(TimeZone::UTC).map(|date| date.timestamp())
                    });
                    since.ok().map(|since| since.as_duration().as_secs_f64())
                };
                seconds(text)
                    .or_else(|| seconds(&iso(text)?))
                    .or_else(|| seconds(&with_month_named(text)?))
            }
            Unit::Duration => {
                let duration = text.parse::<SignedDuration>();
                let seconds = duration.ok().map(|duration| duration.as_secs_f64());
                seconds.or_else(|| scientific(text))
            }
            Unit::SlashedDate { day_first } => Unit::Date.seconds(&slashed_iso(text, day_first)?),
            Unit::Suffix(suffix) => {
                let (value, unit) = split(text)?;
                (unit == suffix.text()).then_some(value)
            }
            Unit::Scaled(base) => {
                let base = base.as_ref().map_or("", Suffix::text);
                let (value, unit) = match text.parse::<f64>() {
                    Ok(value) => (value, "".into()),
                    Err(_) => split(text)?,
                };
                let scaled = value * factor(&unit, base)?;
                scaled.is_finite().then_some(scaled)
            }
        }
    }

    /// Whether a value is a whole number of the smallest unit, and told apart from its neighbors: those
    /// are counted like integers. Durations are whole nanoseconds; a date is one if it is a whole second.
    pub(crate) fn is_whole(self, seconds: f64) -> bool {
        match self {
            Unit::Date | Unit::SlashedDate { .. } => seconds == seconds.trunc(),
            Unit::Duration => seconds.abs() < (1u64 << 53) as f64 * 1e-9,
            Unit::Suffix(_) | Unit::Scaled(_) => {
                seconds == seconds.trunc() && seconds.abs() < (1u64 << 53) as f64
            }
        }
    }

    /// Whether a text has digits that its seconds have not: those of a date beyond the microsecond.
    pub(crate) fn loses_digits(self, text: &str) -> bool {
        let Some((_, fraction)) = text.split_once('.').filter(|_| self.is_date()) else {
            return false;
        };
        let digits = fraction.bytes().take_while(u8::is_ascii_digit);
        digits.skip(6).any(|digit| digit != b'0')
    }

    /// Whether its numbers are seconds.
    pub(crate) fn is_time(self) -> bool {
        !matches!(self, Unit::Suffix(_) | Unit::Scaled(_))
    }

    fn is_date(self) -> bool {
        matches!(self, Unit::Date | Unit::SlashedDate { .. })
    }

    /// What a column holds and what is made of it.
    pub(crate) fn description(self) -> String {
        match self {
            Unit::Date => {
                "holds dates, read as seconds since 1970-01-01T00:00Z, to the microsecond; UTC where no offset is written"
                    .to_owned()
            }
            Unit::SlashedDate { day_first } => format!(
                "holds dates with the {} first, read as seconds since 1970-01-01T00:00Z",
                if day_first { "day" } else { "month" }
            ),
            Unit::Duration => "holds durations, read as seconds".to_owned(),
            Unit::Suffix(unit) => format!("holds numbers with a unit, `{}`, which is left out", unit.text()),
            Unit::Scaled(base) => format!(
                "holds numbers with units that are multiplied, read as numbers{}: 1 k is 1000, 1 Ki is 1024",
                base.map_or(String::new(), |base| format!(" of `{}`", base.text()))
            ),
        }
    }

    /// What is wrong with a text that is not in this unit.
    pub(crate) fn problem(self) -> &'static str {
        match self {
            Unit::Date | Unit::SlashedDate { .. } => {
                "is not a date, as those of the first rows are"
            }
            Unit::Duration => "is not a duration with its unit, as those of the first rows are",
            Unit::Suffix(_) => "is not a number with the unit of the first rows",
            Unit::Scaled(_) => "is not a number with a unit like those of the first rows",
        }
    }
}

#[cfg(test)]
mod tests;
