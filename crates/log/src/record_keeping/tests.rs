use super::*;

fn rows(columns: &[Vec<String>]) -> Vec<Row> {
    (0..columns[0].len())
        .map(|at| Row::of_texts(columns.iter().map(|column| &column[at])))
        .collect()
}

/// What is found of columns of these names behind a secret that is one of `a` and `b` at each row.
fn found(columns: &[(&str, Vec<String>)]) -> Vec<(String, RecordKeeping)> {
    let secret: Vec<String> = (0..columns[0].1.len())
        .map(|at| ["a", "b"][at * 7 % 5 % 2].into())
        .collect();
    let names: Vec<String> = std::iter::once("secret")
        .chain(columns.iter().map(|c| c.0))
        .map(String::from)
        .collect();
    let values = columns.iter().map(|column| column.1.clone());
    let body = rows(&std::iter::once(secret).chain(values).collect::<Vec<_>>());
    let look = FirstLook {
        names: &names,
        body: &body,
        secret: &[0],
    };
    let all: Vec<usize> = (1..names.len()).collect();
    look.find(&all)
        .into_iter()
        .map(|one| (one.name, one.why))
        .collect()
}

fn texts(of: impl Fn(usize) -> String) -> Vec<String> {
    (0..100).map(of).collect()
}

/// Something that neither counts nor comes again.
fn noise(at: usize) -> f64 {
    (at as f64 * 0.618_033_988_7).fract()
}

#[test]
fn whole_seconds_since_1970_and_dates_of_any_order_say_when_a_row_was_recorded() {
    let seconds = texts(|at| (1_764_270_000 + at * 7919 % 5).to_string());
    let clock = |name: &str| [(name.to_owned(), RecordKeeping::Clock)];
    assert_eq!(found(&[("seconds", seconds.clone())]), clock("seconds"));
    assert_eq!(found(&[("sent", seconds)]), []);
    let took = texts(|at| (at * 7919 % 51).to_string());
    assert_eq!(found(&[("seconds", took)]), []);
    let slashed = texts(|at| format!("{:02}/11/2026 10:{:02}", 1 + at / 4, at % 4));
    assert_eq!(found(&[("when", slashed)]), clock("when"));
    let points = texts(|at| format!("{:02}.11.2026 10:{:02}", 1 + at / 4, at % 4));
    assert_eq!(found(&[("when", points)]), clock("when"));
}

#[test]
fn a_day_and_a_time_of_day_say_when_a_row_was_recorded() {
    let date = texts(|at| format!("2026-11-{:02}", 1 + at / 60));
    let time = texts(|at| format!("10:{:02}:01", at % 60));
    let clocks = ["date", "time"].map(|name| (name.to_owned(), RecordKeeping::Clock));
    assert_eq!(found(&[("date", date.clone()), ("time", time)]), clocks);
    let took = texts(|at| format!("{}ms", 1 + at * 7 % 31));
    // A day alone is no moment of a row where few days are.
    assert_eq!(found(&[("date", date), ("time", took)]), []);
}

#[test]
fn what_counts_with_the_rows_is_left_out() {
    for (counter, why) in [
        (texts(|at| at.to_string()), RecordKeeping::Counts),
        (
            texts(|at| format!("{}.0", 3 * at + 1)),
            RecordKeeping::Counts,
        ),
        (texts(|at| (1_000 - at).to_string()), RecordKeeping::Counts),
        // Two files that were joined.
        (texts(|at| (at % 50).to_string()), RecordKeeping::Counts),
        // Groups of five, in which a secret comes again.
        (texts(|at| (at / 5).to_string()), RecordKeeping::Counts),
    ] {
        let noisy = texts(|at| noise(at).to_string());
        let found = found(&[("x", counter.clone()), ("y", noisy)]);
        assert_eq!(found, [("x".to_owned(), why)], "{counter:?}");
    }
}

#[test]
fn clocks_and_names_of_rows_are_left_out() {
    let cases = [
        (
            "Timestamp",
            texts(|at| format!("2026-05-11T10:{:02}:{:02}Z", at / 60, at % 60)),
            RecordKeeping::Clock,
        ),
        (
            "at",
            texts(|at| (1_770_000_000.0 + 3.7 * at as f64 + noise(at)).to_string()),
            RecordKeeping::Clock,
        ),
        (
            "uuid",
            texts(|at| format!("{:032x}", (noise(at) * 1e30) as u128)),
            RecordKeeping::RowId,
        ),
        (
            "Run ID",
            texts(|at| (at * 37 % 101).to_string()),
            RecordKeeping::RowId,
        ),
    ];
    for (name, column, why) in cases {
        let noisy = texts(|at| noise(at).to_string());
        assert_eq!(
            found(&[(name, column), ("y", noisy)]),
            [(name.to_owned(), why)]
        );
    }
    let (number, time) = (
        texts(|at| (at + 1).to_string()),
        texts(|at| format!("{:.6}", 0.01 * (at as f64 + noise(at)))),
    );
    let kept = found(&[
        ("No.", number),
        ("Time", time),
        ("Length", texts(|at| (60 + at * 13 % 7).to_string())),
    ]);
    assert_eq!(kept.len(), 2);
    assert_eq!(kept[1], ("Time".to_owned(), RecordKeeping::Clock));
}

#[test]
fn what_may_be_an_answer_is_kept() {
    for column in [
        // Sorted by what was observed.
        texts(|at| (at as f64 + noise(at)).to_string()),
        texts(|at| noise(at).to_string()),
        // A label that changes when the secret does, in a file sorted by the secret.
        texts(|at| (at / 50).to_string()),
        texts(|at| ["yes", "no"][at % 2].to_owned()),
    ] {
        let noisy = texts(|at| noise(at).to_string());
        assert_eq!(found(&[("x", column), ("y", noisy)]), []);
    }
}

#[test]
fn the_name_of_a_measurement_does_not_make_it_a_clock_or_an_id() {
    let measured = [
        // A second and more, in nanoseconds: as large as a time since 1970 in seconds.
        ("time", texts(|at| (1e9 + 1e9 * noise(at)).to_string())),
        ("timestamp", texts(|at| (1e9 + 1e9 * noise(at)).to_string())),
        ("start", texts(|at| noise(at).to_string())),
        ("id", texts(|at| noise(at).to_string())),
        ("id", texts(|at| format!("[{at},{}]", at * 7 % 11))),
        ("sequence", texts(|at| format!("{at} {} 0", at * 7 % 11))),
        ("num", texts(|at| (at * 37 % 101).to_string())),
    ];
    for (name, column) in measured {
        let noisy = texts(|at| noise(at).to_string());
        assert_eq!(found(&[(name, column), ("y", noisy)]), [], "{name}");
    }
}

#[test]
fn a_column_that_ceases_to_count_is_no_counter() {
    let column = LeftOutColumn {
        position: 0,
        name: "n".to_owned(),
        why: RecordKeeping::Counts,
    };
    let watch = |of: &dyn Fn(usize) -> usize| {
        let mut watch = Watch::of(std::slice::from_ref(&column)).remove(0);
        (0..1_000).for_each(|at| watch.push(&Row::of_texts([of(at).to_string()])));
        watch.check("log.csv", &["x"])
    };
    assert!(watch(&|at| at).is_ok());
    assert!(watch(&|at| at % 100).is_ok());
    let error = watch(&|at| if at < 300 { at } else { at * 7919 % 1_000 }).unwrap_err();
    assert!(error.to_string().contains("not with later ones"), "{error}");
}

#[test]
fn blocks_have_each_secret_once() {
    let names = ["secret", "trial", "x"].map(String::from);
    let columns = [
        texts(|at| ["a", "b"][at % 2].into()),
        texts(|at| (at / 2).to_string()),
        texts(|at| noise(at).to_string()),
    ];
    let body = rows(&columns);
    let look = FirstLook {
        names: &names,
        body: &body,
        secret: &[0],
    };
    let why: Vec<_> = look.find(&[1, 2]).iter().map(|one| one.why).collect();
    assert_eq!(why, [RecordKeeping::CountsBlocks]);
}
