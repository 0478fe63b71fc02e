//! Tables of columns in memory, and what a release makes of them.

use crate::{Grouping, OrderChoice, ReleaseOptions, Table, release};
use leakgauge_exact::permutation::Distance;

fn column(name: &str, values: &[&str]) -> (String, Vec<String>) {
    let values = values.iter().map(|&value| value.to_owned()).collect();
    (name.to_owned(), values)
}

fn options() -> ReleaseOptions {
    ReleaseOptions {
        groups: Grouping::Equal { by: "g".to_owned() },
        id: None,
        alpha: 1.0,
        within: false,
        distance: Distance::Kendall,
        order: OrderChoice::Best,
        order_file: None,
        bound_by_width: false,
        moved: vec!["v".to_owned()],
        randomizer: None,
        values: Vec::new(),
        prior_epsilon: None,
        subsets: vec![1],
        alternative_radii: Vec::new(),
        other_files: Vec::new(),
        previous: Vec::new(),
        delta: 0.05,
        eta: 0.8,
        confidence: 0.95,
        trials: Some(0),
        seed: Some(3),
    }
}

#[test]
fn columns_in_memory_are_shuffled_as_those_of_a_file() {
    let columns = [
        column("g", &["a", "b", "a", "b", "a"]),
        column("v", &["1", "two, three", "3", "", "5"]),
    ];
    let table = Table::from_columns("memory", &columns).unwrap();
    let place = tempfile::tempdir().unwrap();
    let file = place.path().join("log.csv");
    std::fs::write(&file, "g,v\na,1\nb,\"two, three\"\na,3\nb,\na,5\n").unwrap();
    let files = [file.display().to_string()];
    let read = Table::read(&files, &Default::default()).unwrap();
    let written = |table: &Table| {
        let made = release(table, &files, &options()).unwrap();
        let mut out = Vec::new();
        made.write(table, &mut out).unwrap();
        let text = String::from_utf8(out).unwrap();
        (
            made.permutation,
            text.trim_start_matches("g,v\n").to_owned(),
        )
    };
    assert_eq!(written(&table), written(&read));
}

#[test]
fn randomized_values_are_those_that_are_written() {
    let columns = [
        column("g", &["a"; 6]),
        column("v", &["x", "y", "x", "y", "x", "y"]),
    ];
    let table = Table::from_columns("memory", &columns).unwrap();
    let options = ReleaseOptions {
        randomizer: Some("randomized-response(epsilon=0.5)".to_owned()),
        values: vec!["x".to_owned(), "y".to_owned()],
        ..options()
    };
    let made = release(&table, &["memory".to_owned()], &options).unwrap();
    assert_eq!(made.randomized(0), None);
    let values = made.randomized(1).unwrap();
    let mut out = Vec::new();
    made.write(&table, &mut out).unwrap();
    let received = made.permutation.iter().map(|&from| &values[from as usize]);
    let lines: String = received.map(|value| format!("a,{value}\n")).collect();
    assert_eq!(String::from_utf8(out).unwrap(), lines);
}

#[test]
fn columns_that_are_no_table_are_refused() {
    for (columns, words) in [
        (vec![], "memory: has no columns"),
        (vec![column("g", &[])], "memory: has no rows"),
        (
            vec![column("g", &["a", "b"]), column("v", &["1"])],
            "memory, column v: has 1 values where column g has 2",
        ),
    ] {
        let error = Table::from_columns("memory", &columns).unwrap_err();
        assert!(error.to_string().contains(words), "{error}");
    }
}

/// Groups of 3, 2 and 1 rows, 6,000 seeds: every order of the three values has the expected count 1,000 with standard
/// deviation 29, and none is off by more than 5 deviations (probability below 4e-6). The orders of the two groups are
/// independent: the same holds of their 12 combinations, 500 ± 21.
#[test]
fn groups_that_are_shuffled_by_themselves_have_all_orders_equally_likely() {
    let columns = [
        column("g", &["a", "b", "a", "c", "b", "a"]),
        column("v", &["1", "2", "3", "4", "5", "6"]),
    ];
    let table = Table::from_columns("memory", &columns).unwrap();
    let mut counts = std::collections::BTreeMap::<Vec<u32>, u32>::new();
    for seed in 0..6_000 {
        let options = ReleaseOptions {
            within: true,
            seed: Some(seed),
            ..options()
        };
        let made = release(&table, &["memory".to_owned()], &options).unwrap();
        assert_eq!(
            (made.report.alpha, made.report.groups.stay),
            (0.0, Some(1.0))
        );
        *counts.entry(made.permutation).or_default() += 1;
    }
    assert_eq!(counts.len(), 12);
    for (order, count) in counts {
        assert!(order[3] == 3 && [1, 4].contains(&order[1]), "{order:?}");
        assert!(count.abs_diff(500) < 107, "{order:?}: {count}");
    }
}

#[test]
fn groups_that_overlap_are_not_shuffled_by_themselves() {
    let columns = [column("x", &["0", "1", "2"]), column("v", &["1", "2", "3"])];
    let table = Table::from_columns("memory", &columns).unwrap();
    let options = ReleaseOptions {
        groups: Grouping::Distance {
            by: vec!["x".to_owned()],
            radius: 1.0,
        },
        within: true,
        ..options()
    };
    let error = release(&table, &["memory".to_owned()], &options).unwrap_err();
    assert!(error.to_string().contains("do not overlap"), "{error}");
}

/// A city of 100 of 300 rows at α = 0.5: about a third of its values stay, as in a uniform shuffle, and that is said.
#[test]
fn groups_that_are_hardly_kept_are_a_warning() {
    let cities: Vec<&str> = (0..300).map(|row| ["a", "b", "c"][row % 3]).collect();
    let columns = [column("g", &cities), column("v", &cities)];
    let table = Table::from_columns("memory", &columns).unwrap();
    let warned = |alpha: f64| {
        let options = ReleaseOptions {
            alpha,
            trials: None,
            ..options()
        };
        let report = release(&table, &["memory".to_owned()], &options)
            .unwrap()
            .report;
        assert!((report.groups.stay_if_uniform - 1.0 / 3.0).abs() < 1e-12);
        let codes: Vec<_> = report.warnings.iter().map(|warning| warning.code).collect();
        (
            report.groups.stay.unwrap(),
            codes.contains(&"groups-hardly-kept"),
        )
    };
    let (stay, is_warned) = warned(0.5);
    assert!((stay - 1.0 / 3.0).abs() < 0.05 && is_warned, "{stay}");
    let (stay, is_warned) = warned(1e4);
    assert!(stay > 0.9 && !is_warned, "{stay}");
}
