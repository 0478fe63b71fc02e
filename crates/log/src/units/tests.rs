use super::*;

#[test]
fn dates_and_durations_become_seconds() {
    for (text, seconds) in [
        ("1970-01-02", 86_400.0),
        ("1970-01-01T00:00:01.5Z", 1.5),
        ("1970-01-01 01:00:00+01:00", 0.0),
        ("1970-01-01T00:01:00", 60.0),
        ("2026-01-01T00:00:00Z", 1_767_225_600.0),
    ] {
        assert_eq!(Unit::Date.seconds(text), Some(seconds), "{text}");
        assert_eq!(Unit::Duration.seconds(text), None, "{text}");
    }
    for (text, seconds) in [
        ("12ms", 0.012),
        ("1h2m3.5s", 3_723.5),
        ("0.58 ms", 0.000_58),
        ("250us", 0.000_25),
        ("250µs", 0.000_25),
        ("7ns", 7e-9),
        ("PT1M", 60.0),
        ("-2s", -2.0),
    ] {
        assert_eq!(Unit::Duration.seconds(text), Some(seconds), "{text}");
        assert_eq!(Unit::Date.seconds(text), None, "{text}");
    }
    for text in [
        "",
        "12",
        "1.5",
        "12 km",
        "hello",
        "2026-13-01",
        "1h2h",
        "P",
        "s",
    ] {
        assert_eq!(Unit::Date.seconds(text), None, "{text}");
        assert_eq!(Unit::Duration.seconds(text), None, "{text}");
    }
}

#[test]
fn units_stand_before_behind_and_around_numbers() {
    for (text, value, unit) in [
        ("52.57 €", 52.57, "€"),
        ("$50", 50.0, "$"),
        ("-$0.5", -0.5, "$"),
        ("$-0.5", -0.5, "$"),
        ("-$1.5k", -1.5, "k$"),
        ("50.5 req/s", 50.5, "req/s"),
        ("np.float64(-1e-3)", -1e-3, "np.float64()"),
        ("Decimal('12.50')", 12.5, "Decimal()"),
    ] {
        let suffix = Suffix::of(text).unwrap_or_else(|| panic!("{text}"));
        assert_eq!(suffix.text(), unit, "{text}");
        assert_eq!(Unit::Suffix(suffix).seconds(text), Some(value), "{text}");
    }
    for text in [
        "$",
        "$a",
        "--$1",
        "$1 5",
        "exit(1)",
        "float64()",
        "np.float64(nan)",
        "(1)",
        "1)",
    ] {
        assert_eq!(Suffix::of(text), None, "{text}");
    }
}

#[test]
fn other_notations_of_dates_and_durations_are_read() {
    let seconds = Unit::Date.seconds("2026-03-02T10:11:00Z");
    for text in ["02.03.2026 10:11", "2.3.2026 10:11:00", "2026/03/02 10:11"] {
        assert_eq!(Unit::Date.seconds(text), seconds, "{text}");
    }
    let seconds = Unit::Date.seconds("2026-03-02T10:11:12Z");
    for text in [
        "Mon Mar  2 10:11:12 2026",
        "Mon, 02 Mar 2026 10:11:12 GMT",
        "02/Mar/2026:11:11:12 +0100",
        "2 Mar 2026 10:11:12",
    ] {
        assert_eq!(Unit::Date.seconds(text), seconds, "{text}");
    }
    for text in [
        "Mar 2",
        "2 Mar Mar 2026",
        "2 Mai 2026",
        "Mar 32 2026",
        "Sep 2 2026 x",
    ] {
        assert_eq!(Unit::Date.seconds(text), None, "{text}");
    }
    // Which is the day cannot be told.
    for text in ["02/03/2026", "02.03.26", "1.2.3", "10.0.0.1", "32.01.2026"] {
        assert_eq!(Unit::Date.seconds(text), None, "{text}");
    }
    assert_eq!(Unit::Duration.seconds("1.2e-3 s"), Some(1.2e-3));
    assert_eq!(Unit::Duration.seconds("5E2ms"), Some(0.5));
    assert_eq!(Unit::Duration.seconds("1.2e-3 km"), None);
}

#[test]
fn numbers_with_one_unit_are_numbers() {
    for (text, unit, value) in [
        ("97.5%", "%", 97.5),
        ("-3 %", "%", -3.0),
        ("0.58 km", "km", 0.58),
        ("1e3 MB/s", "MB/s", 1e3),
        ("2e", "e", 2.0),
    ] {
        let suffix = Suffix::of(text).expect("a unit");
        assert_eq!(suffix.text(), unit);
        assert_eq!(Unit::Suffix(suffix).seconds(text), Some(value), "{text}");
        assert_eq!(Unit::Suffix(suffix).seconds("5 kg"), None);
    }
    for text in [
        "5",
        "km",
        "1e5",
        "a5%",
        "5 / 6",
        "1.2.3 km",
        "12 very long words",
        "",
    ] {
        assert!(Suffix::of(text).is_none(), "{text}");
    }
}

#[test]
fn units_that_are_multiplied_are_numbers() {
    for (texts, base, values) in [
        (
            &["512", "1.7 k", "3M", "2 G"][..],
            None,
            &[512.0, 1700.0, 3e6, 2e9][..],
        ),
        (
            &["512 B", "1.5 KiB", "2 MiB"],
            Some("B"),
            &[512.0, 1536.0, 2_097_152.0],
        ),
        (&["1 KB", "2 MB"], Some("B"), &[1e3, 2e6]),
        (&["2 m", "1 km", "3 mm"], Some("m"), &[2.0, 1e3, 3e-3]),
        (
            &["$500", "$1.5k", "-$2M"],
            Some("$"),
            &[500.0, 1500.0, -2e6],
        ),
    ] {
        let unit = Unit::of_scaled(texts.iter().copied()).expect("a unit");
        let Unit::Scaled(found) = unit else {
            panic!("{unit:?}");
        };
        assert_eq!(found.as_ref().map(Suffix::text), base);
        let read: Vec<f64> = texts.iter().filter_map(|text| unit.seconds(text)).collect();
        assert_eq!(read, values);
        assert_eq!(unit.seconds("5 x"), None);
    }
    for texts in [
        &["3 k"][..],
        &["3 k", "2 %"],
        &["3 m", "2"],
        &["$3", "$20m"],
        &["1A", "2B"],
        &["x", "1 k"],
    ] {
        assert_eq!(Unit::of_scaled(texts.iter().copied()), None, "{texts:?}");
    }
}

#[test]
fn dates_with_slashes_are_read_where_one_order_fits() {
    let day = Unit::of_slashed(["02/03/2026", "29/03/2026 10:11"].into_iter()).unwrap();
    assert_eq!(day, Unit::SlashedDate { day_first: true });
    assert_eq!(day.seconds("02/03/2026"), Unit::Date.seconds("2026-03-02"));
    let month = Unit::of_slashed(["3/29/2026", "02/03/2026 10:11:12.5"].into_iter());
    assert_eq!(month, Some(Unit::SlashedDate { day_first: false }));
    for texts in [
        &["02/03/2026"][..],
        &["29/03/2026", "03/29/2026"],
        &["x"],
        &[],
    ] {
        assert_eq!(Unit::of_slashed(texts.iter().copied()), None, "{texts:?}");
    }
}

#[test]
fn dates_lose_what_is_beyond_the_microsecond() {
    for (text, loses) in [
        ("2026-01-01T00:00:00.0000001Z", true),
        ("2026-01-01T00:00:00.123456Z", false),
        ("2026-01-01T00:00:00.123456000Z", false),
        ("2026-01-01", false),
    ] {
        assert_eq!(Unit::Date.loses_digits(text), loses, "{text}");
    }
    assert!(!Unit::Duration.loses_digits("1.0000001s"));
}

#[test]
fn one_text_that_does_not_fit_and_there_is_no_unit() {
    assert_eq!(Unit::of(["1s", "2ms"].into_iter()), Some(Unit::Duration));
    assert_eq!(Unit::of(["1s", "2026-01-01"].into_iter()), None);
    assert_eq!(Unit::of([].into_iter()), None);
}
