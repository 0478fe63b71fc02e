//! Texts of one width that are bits: `01101`, `9f86d081884c7d65`, identifiers such as UUIDs. They are no numbers: as such
//! they would lose digits, and near numbers are not near bits.

use std::borrow::Cow;
use std::collections::HashSet;

/// Strings of 0 and 1 that never begin with 0 are bits from this width on; a number keeps 15 digits.
const MIN_WIDTH: usize = 16;
/// More bits than this are not taken apart.
const MAX_BITS: usize = 1024;
/// Characters of a hexadecimal text, those between its digits included: as many as the mask has bits.
const MAX_HEXADECIMAL: usize = 128;
/// Hexadecimal digits that are taken apart into bits; of more, each digit is a number.
const MAX_IN_BITS: u32 = 16;
/// Texts of so many hexadecimal digits, some of which are letters, are certainly some.
const MIN_LONG: u32 = 8;
/// Different texts, and different letters in them, of which a column of hexadecimal numbers has more.
const FEW: (usize, usize) = (20, 4);
/// The values of a hexadecimal digit.
const VALUES: [&str; 16] = [
    "0", "1", "2", "3", "4", "5", "6", "7", "8", "9", "10", "11", "12", "13", "14", "15",
];

/// How texts of one width stand for bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Digits {
    /// So many characters, each 0 or 1.
    Bits(usize),
    /// So many characters, each one of two others: `+-+-`, `UDUD`.
    Symbols {
        /// The characters of a text.
        width: usize,
        /// The two, the one that stands for 0 first.
        both: [u8; 2],
    },
    /// Hexadecimal digits, and one character between groups of them.
    Hexadecimal {
        /// The characters of a text.
        width: usize,
        /// The places of digits among them, the first as the lowest bit.
        places: u128,
        /// What stands at all other places.
        separator: u8,
        /// Whether letters are capitals.
        is_upper: bool,
    },
}

impl Digits {
    /// How these texts are written, if all of them are in one way. Those of 0 and 1 are numbers where none begins with
    /// a 0 and they are short.
    pub fn of(cells: &[Cow<str>]) -> Option<Self> {
        let first = cells.first()?.trim();
        let bits = Digits::Bits(first.len());
        if bits.fits(first) {
            let is_padded = || cells.iter().any(|cell| cell.trim().starts_with('0'));
            let is_wide = first.len() >= MIN_WIDTH;
            let is_bits = (2..=MAX_BITS).contains(&first.len())
                && cells.iter().all(|cell| bits.fits(cell))
                && (is_wide || is_padded());
            // Hexadecimal numbers may begin with one of zeros and ones.
            if is_bits {
                return Some(bits);
            }
        }
        if let Some(symbols) = Self::symbols(first, cells) {
            return Some(symbols);
        }
        let found = Self::hexadecimal(first, cells)?;
        cells.iter().all(|cell| found.fits(cell)).then_some(found)
    }

    /// Two characters that are no digits, in texts that are different enough to be no names.
    fn symbols(first: &str, cells: &[Cow<str>]) -> Option<Self> {
        let mut both: Vec<u8> = Vec::new();
        for cell in cells {
            let cell = cell.trim();
            if cell.len() != first.len() {
                return None;
            }
            for byte in cell.bytes() {
                if both.contains(&byte) {
                    continue;
                }
                if both.len() == 2 || !byte.is_ascii_graphic() || byte.is_ascii_digit() {
                    return None;
                }
                both.push(byte);
            }
        }
        both.sort_unstable();
        let different: HashSet<&str> = cells.iter().map(|cell| cell.trim()).collect();
        let is_many = different.len() > FEW.0 && first.len() <= MAX_BITS;
        let &[zero, one] = &both[..] else { return None };
        is_many.then_some(Digits::Symbols {
            width: first.len(),
            both: [zero, one],
        })
    }

    /// Hexadecimal digits that are no decimal ones, in many different texts: names such as `a1` and `b2` are none.
    fn hexadecimal(first: &str, cells: &[Cow<str>]) -> Option<Self> {
        let width = first.len();
        if !(2..=MAX_HEXADECIMAL).contains(&width) || !first.is_ascii() {
            return None;
        }
        let (mut places, mut separator) = (0u128, None);
        for (at, byte) in first.bytes().enumerate() {
            match byte {
                _ if byte.is_ascii_hexdigit() => places |= 1 << at,
                b'-' | b':' if separator.is_none_or(|known| known == byte) => {
                    separator = Some(byte);
                }
                _ => return None,
            }
        }
        let letters = || cells.iter().flat_map(|cell| cell.bytes());
        let is_upper = letters()
            .find(u8::is_ascii_alphabetic)?
            .is_ascii_uppercase();
        let found = Digits::Hexadecimal {
            width,
            places,
            separator: separator.unwrap_or(b'-'),
            is_upper,
        };
        if places.count_ones() < 2 || !cells.iter().all(|cell| found.fits(cell)) {
            return None;
        }
        let (texts, different) = FEW;
        let distinct: HashSet<&str> = cells.iter().map(|cell| cell.trim()).collect();
        let used: HashSet<u8> = letters().filter(u8::is_ascii_alphabetic).collect();
        let with_letters = cells
            .iter()
            .filter(|cell| cell.bytes().any(|byte| byte.is_ascii_alphabetic()));
        let begins = |with: fn(&u8) -> bool| {
            let mut firsts = cells.iter().filter_map(|cell| cell.trim().bytes().next());
            firsts.any(|byte| with(&byte))
        };
        // Nothing else is so long; short names may look like it.
        let is_long = places.count_ones() >= MIN_LONG && used.len() > 1;
        let looks_random = 4 * with_letters.count() >= cells.len()
            && used.len() > different
            && begins(u8::is_ascii_digit)
            && begins(u8::is_ascii_alphabetic);
        let is_hexadecimal = distinct.len() > texts && (is_long || looks_random);
        is_hexadecimal.then_some(found)
    }

    /// Whether a cell is written like this.
    pub fn fits(self, cell: &str) -> bool {
        let cell = cell.trim().as_bytes();
        match self {
            Digits::Bits(of) => {
                cell.len() == of && cell.iter().all(|byte| matches!(byte, b'0' | b'1'))
            }
            Digits::Symbols { width, both } => {
                cell.len() == width && cell.iter().all(|byte| both.contains(byte))
            }
            Digits::Hexadecimal {
                width,
                places,
                separator,
                is_upper,
            } => {
                let is_digit = |byte: u8| match byte {
                    b'0'..=b'9' => true,
                    b'a'..=b'f' => !is_upper,
                    b'A'..=b'F' => is_upper,
                    _ => false,
                };
                cell.len() == width
                    && cell
                        .iter()
                        .enumerate()
                        .all(|(at, &byte)| match places >> at & 1 == 1 {
                            true => is_digit(byte),
                            false => byte == separator,
                        })
            }
        }
    }

    /// Whether each number is a bit.
    pub fn is_in_bits(self) -> bool {
        match self {
            Digits::Bits(_) | Digits::Symbols { .. } => true,
            Digits::Hexadecimal { places, .. } => places.count_ones() <= MAX_IN_BITS,
        }
    }

    /// The number of numbers that a text becomes.
    pub fn count(self) -> usize {
        match self {
            Digits::Bits(of) | Digits::Symbols { width: of, .. } => of,
            Digits::Hexadecimal { places, .. } => {
                let digits = places.count_ones() as usize;
                if self.is_in_bits() {
                    4 * digits
                } else {
                    digits
                }
            }
        }
    }

    /// The number at a position, of a cell that fits.
    pub fn number(self, at: usize, cell: &str) -> &'static str {
        let cell = cell.trim().as_bytes();
        let places = match self {
            Digits::Bits(_) => return VALUES[usize::from(cell[at] == b'1')],
            Digits::Symbols { both, .. } => return VALUES[usize::from(cell[at] == both[1])],
            Digits::Hexadecimal { places, .. } => places,
        };
        let digit = |wanted: usize| {
            let mut of_digits = (0..cell.len()).filter(|place| places >> place & 1 == 1);
            let byte = of_digits.nth(wanted).map_or(b'0', |place| cell[place]);
            char::from(byte).to_digit(16).unwrap_or(0)
        };
        let value = match self.is_in_bits() {
            // The highest bit of a digit comes first.
            true => digit(at / 4) >> (3 - at % 4) & 1,
            false => digit(at),
        };
        VALUES[value as usize]
    }

    /// What its numbers are, in words.
    pub fn description(self) -> String {
        match self {
            Digits::Bits(of) => format!("strings of {of} bits"),
            Digits::Symbols { width, both } => format!(
                "strings of {width} bits, of which `{}` stands for 0 and `{}` for 1",
                both[0].escape_ascii(),
                both[1].escape_ascii()
            ),
            Digits::Hexadecimal { places, .. } => {
                format!("strings of {} hexadecimal digits", places.count_ones())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(cells: &[&str]) -> Option<Digits> {
        let cells: Vec<Cow<str>> = cells.iter().map(|&cell| cell.into()).collect();
        Digits::of(&cells)
    }

    fn numbers(digits: Digits, cell: &str) -> Vec<&'static str> {
        (0..digits.count())
            .map(|at| digits.number(at, cell))
            .collect()
    }

    /// Numbers that look random.
    fn words(count: u64) -> impl Iterator<Item = u64> {
        (1..=count).map(|at| at.wrapping_mul(0x9e37_79b9_7f4a_7c15))
    }

    #[test]
    fn strings_of_zeros_and_ones_of_one_width_are_bits() {
        assert_eq!(of(&["01", "10"]), Some(Digits::Bits(2)));
        assert_eq!(of(&["0010", "1111"]), Some(Digits::Bits(4)));
        let wide = "1".repeat(16);
        assert_eq!(of(&[&wide, &wide]), Some(Digits::Bits(16)));
        assert_eq!(numbers(Digits::Bits(4), " 0110"), ["0", "1", "1", "0"]);
        for numbers in [
            &["0", "1"][..],
            &["10", "11"],
            &["01", "1"],
            &["01", "12"],
            &["00100", "0010"],
            &["0.1", "1.0"],
            &[],
        ] {
            assert_eq!(of(numbers), None, "{numbers:?}");
        }
        assert_eq!(of(&["01".repeat(1000).as_str()]), None);
    }

    #[test]
    fn strings_of_two_symbols_are_bits() {
        for (both, zero) in [("+-", '+'), ("UD", 'D'), ("ab", 'a'), ("xX", 'X')] {
            let text = |word: u64| -> String {
                let letters = both.as_bytes();
                let letter = |at: u64| char::from(letters[(word >> (20 + at) & 1) as usize]);
                (0..8).map(letter).collect()
            };
            let texts: Vec<String> = words(60).map(text).collect();
            let cells: Vec<&str> = texts.iter().map(String::as_str).collect();
            let found = of(&cells).expect("bits");
            assert_eq!(found.count(), 8);
            let first = numbers(found, cells[0]);
            let expected = cells[0]
                .chars()
                .map(|letter| if letter == zero { "0" } else { "1" });
            assert_eq!(first, expected.collect::<Vec<_>>(), "{both}");
            assert!(!found.fits("UDUDUDUx") && !found.fits(&cells[0][1..]));
            // Few are names, and three symbols are no bits.
            assert_eq!(of(&cells[..10]), None);
            assert_eq!(of(&[&cells[..], &["+-+-+-+?"]].concat()), None);
        }
    }

    #[test]
    fn hexadecimal_texts_of_one_width_are_bits_or_digits() {
        let short: Vec<String> = words(60)
            .map(|word| format!("{:08x}", word >> 32))
            .collect();
        let short: Vec<&str> = short.iter().map(String::as_str).collect();
        let found = of(&short).expect("hexadecimal digits");
        assert_eq!(found.count(), 32);
        let bits = numbers(found, "8000000f").concat();
        assert_eq!(bits, format!("1{}1111", "0".repeat(27)));
        let uuid = |word: u64| {
            format!(
                "{:08X}-{:04X}-{:016X}",
                word as u32,
                word as u16,
                word.rotate_left(9)
            )
        };
        let long: Vec<String> = words(60).map(uuid).collect();
        let long: Vec<&str> = long.iter().map(String::as_str).collect();
        let found = of(&long).expect("an identifier");
        assert!(!found.is_in_bits());
        assert_eq!(found.count(), 28);
        let text = "0123456F-89AB-CDEF0123456789AB";
        assert_eq!(numbers(found, text)[6..10], ["6", "15", "8", "9"]);
        // In other letters, of another width, with something else between digits: not written like this.
        for other in [
            &text.to_ascii_lowercase(),
            "0123456F",
            &text.replace('-', ":"),
            "",
        ] {
            assert!(!found.fits(other), "{other}");
        }
    }

    /// Bits that are hardly ever set: most digits are 0, 1, 2, 4 and 8.
    #[test]
    fn sparse_bits_in_hexadecimal_digits_are_bits() {
        let sparse =
            |word: u64| format!("{:016x}", word & word.rotate_left(7) & word.rotate_left(19));
        let texts: Vec<String> = words(60).map(sparse).collect();
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        assert_eq!(of(&texts).map(Digits::count), Some(64));
    }

    #[test]
    fn numbers_and_names_are_no_hexadecimal_digits() {
        let texts = |text: fn(u64) -> String| {
            let texts: Vec<String> = words(60).map(text).collect();
            let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
            of(&texts)
        };
        assert_eq!(texts(|word| format!("{:08}", word % 100_000_000)), None);
        assert_eq!(texts(|word| format!("a{:02}", word % 100)), None);
        assert_eq!(texts(|word| format!("{:x}", word >> (word % 50))), None);
        assert_eq!(texts(|word| format!("0x{:08x}", word >> 32)), None);
        assert_eq!(
            texts(|word| format!("{:02}:{:02}", word % 24, word % 60)),
            None
        );
    }
}
