//! How the numbers of a column are written. A number is read, not its text: where the way of writing is no function of
//! the number, something is lost that an observer of the log may see.
//!
//! What is looked for are not two texts of one number: in a column of many decimals no number comes twice. It is a
//! column that no single writer of numbers writes: `1` beside `1.0`, `+5` beside `7`. All of it costs one pass over a
//! text and needs memory for each way of writing, not for each number.

use hashbrown::HashMap;

use crate::number::Number;

/// Ways of writing that are told apart. A column that has more is written in several ways anyway.
const MAX_STYLES: usize = 256;
/// Dates and durations whose texts are remembered.
const MAX_TEXTS: usize = 1 << 16;
/// Ways of writing that are shown.
const MAX_EXAMPLES: usize = 4;
/// Integers up to this one are told apart.
const EXACT: f64 = (1u64 << 53) as f64;

/// What is unusual about a text.
mod flag {
    pub const PLUS: u32 = 1;
    /// `01`.
    pub const LEADING_ZERO: u32 = 1 << 1;
    /// `.5`.
    pub const NO_INTEGER: u32 = 1 << 2;
    /// `5.`.
    pub const NO_DECIMALS: u32 = 1 << 3;
    /// `1.50`.
    pub const TRAILING_ZERO: u32 = 1 << 4;
    pub const EXPONENT: u32 = 1 << 5;
    pub const UPPER: u32 = 1 << 6;
    /// `e+05`.
    pub const EXPONENT_PLUS: u32 = 1 << 7;
    pub const EXPONENT_ZERO: u32 = 1 << 8;
    /// `e5`.
    pub const EXPONENT_DIGIT: u32 = 1 << 9;
    /// `10e5`, `0.1e5`.
    pub const UNSCALED: u32 = 1 << 10;
    pub const BLANK: u32 = 1 << 11;
    pub const QUOTED: u32 = 1 << 12;
    pub const MINUS_ZERO: u32 = 1 << 13;
    /// Any of those above.
    pub const UNUSUAL: u32 = (1 << 14) - 1;
    /// A number without a sign that is not 0.
    pub const UNSIGNED: u32 = 1 << 14;
    /// `0.5`.
    pub const ZERO_INTEGER: u32 = 1 << 15;
    pub const ZERO: u32 = 1 << 16;
    /// A positive exponent without its plus.
    pub const EXPONENT_BARE: u32 = 1 << 17;
}

/// A way of writing numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Style {
    flags: u32,
    decimals: u32,
    /// Blanks before and behind.
    blanks: (u32, u32),
    /// The length of the whole text, where zeros or blanks fill it up; 0 else.
    width: u32,
}

impl Style {
    fn has(&self, flags: u32) -> bool {
        self.flags & flags != 0
    }
}

/// A style, how many texts are in it, and the first of them.
#[derive(Debug, Clone)]
struct Found {
    style: Style,
    count: u64,
    example: String,
}

/// Smallest and largest of some absolute values.
#[derive(Debug, Clone, Copy)]
struct Span {
    low: f64,
    high: f64,
}

impl Span {
    const NONE: Span = Span {
        low: f64::INFINITY,
        high: 0.0,
    };

    fn add(&mut self, value: f64) {
        self.low = self.low.min(value);
        self.high = self.high.max(value);
    }
}

/// What reading numbers lost of a column.
#[derive(Debug, Clone, PartialEq)]
pub struct Merged {
    /// The name of the column.
    pub column: String,
    /// What was lost.
    pub loss: Loss,
    /// Texts, and at least how many rows are written like them.
    pub examples: Vec<(String, u64)>,
}

/// What reading a number loses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Loss {
    /// Which of several ways it was written in.
    Spelling,
    /// Digits beyond double precision; of a date, those beyond the microsecond.
    Digits,
}

/// How the numbers of a column are written.
#[derive(Debug, Clone)]
pub struct Spelling {
    /// Texts with nothing unusual.
    usual: u64,
    usual_example: String,
    /// The numbers of decimals of usual texts, as bits.
    usual_decimals: u32,
    unusual: Vec<Found>,
    /// Where the style was found last.
    last: usize,
    /// All flags that were seen.
    seen: u32,
    /// The shortest text that nothing fills up.
    narrowest: u32,
    plain: Span,
    small_exponents: Span,
    large_exponents: Span,
    digits: Option<(String, u64)>,
    /// Whether texts keep all their digits.
    keeps_digits: bool,
    /// The first text of each date or duration.
    texts: HashMap<u64, Box<str>>,
    /// Two texts of one date or duration.
    twins: Option<[(String, u64); 2]>,
}

impl Default for Spelling {
    fn default() -> Self {
        Spelling {
            usual: 0,
            usual_example: String::new(),
            usual_decimals: 0,
            unusual: Vec::new(),
            last: 0,
            seen: 0,
            narrowest: u32::MAX,
            plain: Span::NONE,
            small_exponents: Span::NONE,
            large_exponents: Span::NONE,
            digits: None,
            keeps_digits: false,
            texts: HashMap::new(),
            twins: None,
        }
    }
}

/// A number's text taken apart.
struct Anatomy {
    flags: u32,
    decimals: u32,
    /// Digits of the mantissa, but for zeros before a fraction.
    digits: usize,
}

impl Anatomy {
    /// Of the text of a finite number without blanks around it.
    #[inline]
    fn of(text: &[u8], value: f64) -> Self {
        let mut flags = match text.first() {
            Some(b'+') => flag::PLUS,
            Some(b'-') if value == 0.0 => flag::MINUS_ZERO,
            Some(b'-') => 0,
            _ if value == 0.0 => flag::ZERO,
            _ => flag::UNSIGNED,
        };
        let start = usize::from(matches!(text.first(), Some(b'+' | b'-')));
        let (mut point, mut end) = (None, text.len());
        for (at, byte) in text.iter().enumerate().skip(start) {
            match byte {
                b'.' => point = Some(at),
                b'e' | b'E' => {
                    end = at;
                    break;
                }
                _ => {}
            }
        }
        let integer = &text[start..point.unwrap_or(end)];
        let decimals = point.map_or(0, |point| end - point - 1);
        match integer {
            [] => flags |= flag::NO_INTEGER,
            [b'0', _, ..] => flags |= flag::LEADING_ZERO,
            [b'0'] if decimals > 0 => flags |= flag::ZERO_INTEGER,
            _ => {}
        }
        if point.is_some() && decimals == 0 {
            flags |= flag::NO_DECIMALS;
        }
        if decimals > 0 && text[end - 1] == b'0' {
            flags |= flag::TRAILING_ZERO;
        }
        if end < text.len() {
            flags |= exponent(&text[end..]);
            let is_scaled = integer.len() == 1 && (integer != b"0" || value == 0.0);
            flags |= if is_scaled { 0 } else { flag::UNSCALED };
        }
        Anatomy {
            flags,
            decimals: decimals as u32,
            digits: match (integer, point) {
                // Zeros before the first digit of a fraction do not count.
                ([] | [b'0'], Some(point)) => {
                    let fraction = text[point + 1..end].iter();
                    decimals - fraction.take_while(|&&byte| byte == b'0').count()
                }
                _ => integer.len() + decimals,
            },
        }
    }
}

/// What is to be said of an exponent, its letter included.
fn exponent(text: &[u8]) -> u32 {
    let upper = if text[0] == b'E' { flag::UPPER } else { 0 };
    let (sign, digits) = match &text[1..] {
        [b'+', digits @ ..] => (flag::EXPONENT_PLUS, digits),
        [b'-', digits @ ..] => (0, digits),
        digits => (flag::EXPONENT_BARE, digits),
    };
    let zero = match digits {
        [b'0', _, ..] => flag::EXPONENT_ZERO,
        [_] => flag::EXPONENT_DIGIT,
        _ => 0,
    };
    flag::EXPONENT | upper | sign | zero
}

impl Spelling {
    /// Of integers that are labels: those of different digits are told apart.
    pub(crate) fn of_labels() -> Self {
        Spelling {
            keeps_digits: true,
            ..Spelling::default()
        }
    }

    /// Looks at the text of a finite number, as it stands in the log; the number of decimals, `None` if it has an
    /// exponent. A text of JSON may stand in quotes.
    #[inline]
    pub(crate) fn add(&mut self, whole: &str, value: f64, quoted: bool) -> Option<u32> {
        self.add_unless_held(whole, value, quoted, false)
    }

    /// As [`add`](Self::add); the digits that the number has not may be held elsewhere.
    #[inline]
    pub(crate) fn add_unless_held(
        &mut self,
        whole: &str,
        value: f64,
        quoted: bool,
        is_held: bool,
    ) -> Option<u32> {
        // Blanks are rare, and looking for them is not: the ends tell.
        let ends = (whole.as_bytes().first(), whole.as_bytes().last());
        let is_trimmed = matches!(ends, (Some(b'+'..=b'9'), Some(b'.'..=b'9')));
        let text = if is_trimmed { whole } else { whole.trim() };
        let anatomy = Anatomy::of(text.as_bytes(), value);
        let mut flags = anatomy.flags | if quoted { flag::QUOTED } else { 0 };
        if text.len() < whole.len() {
            flags |= flag::BLANK;
        }
        self.seen |= flags;
        let decimals = (flags & flag::EXPONENT == 0).then_some(anatomy.decimals);
        if value != 0.0 {
            let span = match (decimals, value.abs() < 1.0) {
                (Some(_), _) => &mut self.plain,
                (None, true) => &mut self.small_exponents,
                (None, false) => &mut self.large_exponents,
            };
            span.add(value.abs());
        }
        let is_integer = anatomy.decimals == 0 && decimals.is_some();
        let may_lose = !is_held && anatomy.digits > if is_integer { 15 } else { 17 };
        if may_lose && loses_digits(text, value) {
            self.lose(text);
        }
        if flags & (flag::LEADING_ZERO | flag::BLANK) == 0 {
            self.narrowest = self.narrowest.min(text.len() as u32);
        }
        if flags & flag::UNUSUAL != 0 {
            self.add_unusual(whole, text, anatomy.decimals, flags & flag::UNUSUAL);
        } else {
            if self.usual == 0 {
                self.usual_example.push_str(text);
            }
            self.usual += 1;
            self.usual_decimals |= 1 << anatomy.decimals.min(31);
        }
        decimals
    }

    fn add_unusual(&mut self, whole: &str, text: &str, decimals: u32, flags: u32) {
        let is_filled = flags & (flag::LEADING_ZERO | flag::BLANK) != 0;
        let before = whole.len() - whole.trim_start().len();
        let style = Style {
            flags,
            decimals,
            blanks: (before as u32, (whole.len() - before - text.len()) as u32),
            width: if is_filled { whole.len() as u32 } else { 0 },
        };
        let is_it = |found: &Found| found.style == style;
        if !self.unusual.get(self.last).is_some_and(is_it) {
            self.last = match self.unusual.iter().position(is_it) {
                Some(at) => at,
                None if self.unusual.len() == MAX_STYLES => return,
                None => {
                    let example = match style.has(flag::QUOTED) {
                        true => format!("\"{whole}\""),
                        false => whole.to_owned(),
                    };
                    self.unusual.push(Found {
                        style,
                        count: 0,
                        example,
                    });
                    self.unusual.len() - 1
                }
            };
        }
        self.unusual[self.last].count += 1;
    }

    /// Looks at a number in binary.
    pub(crate) fn add_binary(&mut self, number: Number) {
        let value = number.value();
        if value == 0.0 {
            let is_minus = value.is_sign_negative();
            self.seen |= if is_minus {
                flag::MINUS_ZERO
            } else {
                flag::ZERO
            };
            if is_minus {
                self.add_unusual("-0", "-0", 0, flag::MINUS_ZERO);
            } else if self.usual == 0 {
                self.usual = 1;
                self.usual_example.push('0');
            }
        } else if value.abs() >= EXACT {
            let is_exact = match number {
                Number::Integer(exact) => value as i128 == i128::from(exact),
                Number::Unsigned(exact) => value as i128 == i128::from(exact),
                Number::Float(_) => true,
            };
            if !is_exact {
                self.lose(&number.to_string());
            }
        }
    }

    /// Looks at the text of a date or a duration that is so many seconds.
    pub(crate) fn add_in_unit(&mut self, text: &str, seconds: f64) {
        if self.texts.len() < MAX_TEXTS {
            let first = self.texts.entry(seconds.to_bits());
            let first = first.or_insert_with(|| text.into());
            if **first != *text {
                let twins = self.twins.get_or_insert_with(|| {
                    let [one, other] = [&**first, text].map(str::to_owned);
                    [(other, 0), (one, 1)]
                });
                twins[0].1 += 1;
            }
        }
    }

    /// Counts a text with digits that its number has not.
    pub(crate) fn lose(&mut self, text: &str) {
        if self.keeps_digits {
            return;
        }
        let (_, count) = self.digits.get_or_insert_with(|| (text.to_owned(), 0));
        *count += 1;
    }

    /// What reading lost of the column of this name.
    pub(crate) fn merged(&self, column: &str) -> Vec<Merged> {
        let merged = |loss, examples| Merged {
            column: column.to_owned(),
            loss,
            examples,
        };
        let digits = self.digits.iter();
        let digits = digits.map(|example| merged(Loss::Digits, vec![example.clone()]));
        let twins = self.twins.iter();
        let twins = twins.map(|twins| merged(Loss::Spelling, twins.to_vec()));
        let examples = self.contradictions();
        let spelling = (!examples.is_empty()).then(|| merged(Loss::Spelling, examples));
        digits.chain(twins).chain(spelling).collect()
    }

    /// Texts in styles that no single writer mixes with those of the others, and one of the others.
    fn contradictions(&self) -> Vec<(String, u64)> {
        let wrong = self.contradicting_flags();
        let (mut odd, others): (Vec<&Found>, Vec<&Found>) = self
            .unusual
            .iter()
            .partition(|found| found.style.has(wrong));
        odd.sort_by_key(|found| std::cmp::Reverse(found.count));
        let text = |found: &&Found| (found.example.clone(), found.count);
        let mut examples: Vec<(String, u64)> =
            odd.iter().take(MAX_EXAMPLES - 1).map(text).collect();
        if examples.is_empty() {
            return examples;
        }
        if self.usual > 0 {
            examples.push((self.usual_example.clone(), self.usual));
        } else if let Some(other) = others.iter().max_by_key(|found| found.count) {
            examples.push(text(other));
        } else if let Some(other) = odd.get(MAX_EXAMPLES - 1) {
            examples.push(text(other));
        }
        examples
    }

    /// The flags that are no function of the number.
    fn contradicting_flags(&self) -> u32 {
        let mut wrong = 0;
        let mut check = |flags: u32, contradicts: bool| {
            if self.seen & flags != 0 && contradicts {
                wrong |= flags;
            }
        };
        let seen = |flags: u32| self.seen & flags != 0;
        let all = |flags: u32| {
            self.unusual
                .iter()
                .filter(move |found| found.style.has(flags))
        };
        let any_without =
            |flags: u32| self.usual > 0 || self.unusual.iter().any(|found| !found.style.has(flags));
        check(flag::PLUS, seen(flag::UNSIGNED));
        check(flag::QUOTED, any_without(flag::QUOTED));
        check(flag::MINUS_ZERO, seen(flag::ZERO));
        check(flag::NO_INTEGER, seen(flag::ZERO_INTEGER));
        check(flag::LEADING_ZERO, !self.fills_up(flag::LEADING_ZERO));
        let is_padded = {
            let mut blanks = all(flag::BLANK).map(|found| found.style.blanks);
            let first = blanks.next();
            !any_without(flag::BLANK) && blanks.all(|blanks| Some(blanks) == first)
        };
        check(flag::BLANK, !is_padded && !self.fills_up(flag::BLANK));
        check(
            flag::NO_DECIMALS,
            self.decimals(0, flag::NO_DECIMALS) & 1 != 0,
        );
        check(
            flag::TRAILING_ZERO,
            [0, flag::EXPONENT].into_iter().any(|exponent| {
                let trailing = all(flag::TRAILING_ZERO);
                let mut trailing =
                    trailing.filter(|found| found.style.flags & flag::EXPONENT == exponent);
                let decimals = self.decimals(exponent, 0);
                let is_fixed = decimals.count_ones() <= 1;
                let only_point_zero = trailing.clone().all(|found| found.style.decimals == 1);
                trailing.next().is_some() && !is_fixed && !(only_point_zero && decimals & 1 == 0)
            }),
        );
        let by_size = self.small_exponents.high < self.plain.low
            && self.large_exponents.low > self.plain.high;
        check(flag::EXPONENT, !by_size);
        check(
            flag::UPPER,
            all(flag::EXPONENT).any(|found| !found.style.has(flag::UPPER)),
        );
        check(
            flag::UNSCALED,
            all(flag::EXPONENT).any(|found| !found.style.has(flag::UNSCALED)),
        );
        check(flag::EXPONENT_PLUS, seen(flag::EXPONENT_BARE));
        check(flag::EXPONENT_ZERO, seen(flag::EXPONENT_DIGIT));
        wrong
    }

    /// Whether zeros or blanks fill texts up to one width, and no text without them is shorter.
    fn fills_up(&self, flags: u32) -> bool {
        let mut filled = self.unusual.iter().filter(|found| found.style.has(flags));
        let width = filled.next().map(|found| found.style.width);
        filled.all(|found| Some(found.style.width) == width)
            && width.is_none_or(|width| width <= self.narrowest)
    }

    /// The numbers of decimals, as bits, of texts with an exponent or without, but for those with some flag.
    fn decimals(&self, exponent: u32, but: u32) -> u32 {
        let usual = if exponent == 0 {
            self.usual_decimals
        } else {
            0
        };
        let unusual = self.unusual.iter().map(|found| found.style);
        unusual
            .filter(|style| style.flags & flag::EXPONENT == exponent && !style.has(but))
            .fold(usual, |bits, style| bits | 1 << style.decimals.min(31))
    }
}

/// Whether a text has digits that its number has not. Seventeen are those of a number in double precision; more are,
/// if they are written out exactly.
fn loses_digits(text: &str, value: f64) -> bool {
    let text = text.trim_start_matches(['+', '-']).trim_start_matches('0');
    let is_integer = text.bytes().all(|byte| byte.is_ascii_digit());
    if is_integer {
        return value.abs() >= EXACT && format!("{:.0}", value.abs()) != text;
    }
    let mantissa = text.split(['e', 'E']).next().unwrap_or_default();
    let significant = mantissa.trim_start_matches(['0', '.']);
    let significant = match significant.contains('.') || mantissa.starts_with('.') {
        true => significant.trim_end_matches('0'),
        false => significant,
    };
    let count = significant.bytes().filter(u8::is_ascii_digit).count();
    if count <= 17 {
        return false;
    }
    let decimals = text.find('.').map_or(0, |at| text.len() - at - 1);
    let exact = format!("{:.*}", decimals, value.abs());
    exact.trim_start_matches('0') != text
}

#[cfg(test)]
mod tests;
