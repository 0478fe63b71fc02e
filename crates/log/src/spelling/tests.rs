//! Columns that one writer wrote, and columns that none did.

use super::*;

fn column(texts: &[&str]) -> Vec<Merged> {
    let mut spelling = Spelling::default();
    for text in texts {
        let (text, quoted) = match text.strip_prefix('"') {
            Some(text) => (text.trim_end_matches('"'), true),
            None => (*text, false),
        };
        spelling.add(text, text.trim().parse().unwrap(), quoted);
    }
    spelling.merged("x")
}

#[test]
fn what_one_writer_writes_loses_nothing() {
    for texts in [
        &["1", "2.5", "-0.25", "1000", "0"][..],
        // Python's repr.
        &[
            "1.0",
            "2.5",
            "1e-05",
            "0.0001",
            "1e+16",
            "0.30000000000000004",
        ],
        // %.2f, %+.1f, %05d, %8.3f, %.6e, %g.
        &["1.50", "-2.25", "100.00", "0.00"],
        &["+1.5", "-2.0", "+0.0"],
        &["00012", "-0345", "12345", "123456"],
        &["   1.500", "  12.000", "1234.250", "12345.125"],
        &["1.500000e+00", "2.250000e-03", "1.000000e+10"],
        &["1e-05", "0.0001", "2.5", "123456", "1e+06", "1.5e+07"],
        // After each comma a blank; quotes around all.
        &[" 1", " 25", " -3"],
        &["\"1\"", "\"25\""],
        // Doubles in full.
        &["0.1000000000000000055511151231257827", "9007199254740994"],
        &["1.", "2.", "2.5"],
    ] {
        assert_eq!(column(texts), [], "{texts:?}");
    }
}

#[test]
fn several_ways_of_writing_are_shown() {
    for (texts, example) in [
        (&["1", "1.0"][..], "1.0"),
        (&["1", "01"], "01"),
        (&["1", "+1"], "+1"),
        (&["5", "+7"], "+7"),
        (&["1", "1e0"], "1e0"),
        (&["1.5", "1.50"], "1.50"),
        (&["0.5", ".5"], ".5"),
        (&["5", "5."], "5."),
        (&["1", " 1"], " 1"),
        (&["1", "\"1\""], "\"1\""),
        (&["0", "-0"], "-0"),
        (&["1e5", "1E5"], "1E5"),
        (&["1e5", "10e4"], "10e4"),
        (&["1e+05", "1e05"], "1e+05"),
        (&["007", "08"], "007"),
    ] {
        let merged = column(texts);
        assert_eq!(merged.len(), 1, "{texts:?}");
        assert_eq!(merged[0].loss, Loss::Spelling);
        let found = merged[0].examples.iter();
        let found: Vec<&str> = found.map(|(text, _)| text.as_str()).collect();
        assert!(found.contains(&example) && found.len() == 2, "{found:?}");
    }
}

#[test]
fn digits_beyond_double_precision_are_lost() {
    for texts in [
        &["9007199254740993"][..],
        &["1767225600123456789"],
        &["0.1000000000000000055"],
        &["123456789012345678.5"],
    ] {
        let merged = column(texts);
        assert_eq!(merged.len(), 1, "{texts:?}");
        assert_eq!(merged[0].loss, Loss::Digits);
    }
    let mut spelling = Spelling::default();
    spelling.add_binary(Number::Integer(i64::MAX - 1));
    spelling.add_binary(Number::Unsigned(1 << 60));
    assert_eq!(spelling.merged("x")[0].examples[0].1, 1);
}

#[test]
fn counts_are_those_of_the_texts() {
    let texts: Vec<&str> = ["1", "+1", "1", "01", "1.0", "+1"].repeat(3);
    let merged = column(&texts);
    let examples = &merged[0].examples;
    assert_eq!(examples.len(), 4);
    assert_eq!(examples[0], ("+1".to_owned(), 6));
    assert_eq!(examples[3], ("1".to_owned(), 6));
}

#[test]
fn one_date_in_two_texts_is_seen() {
    let mut spelling = Spelling::default();
    spelling.add_in_unit("2026-01-01T00:00:00Z", 1.0);
    spelling.add_in_unit("2026-01-01T00:00:01Z", 2.0);
    assert_eq!(spelling.merged("x"), []);
    spelling.add_in_unit("2026-01-01", 1.0);
    assert_eq!(spelling.merged("x")[0].examples.len(), 2);
}
