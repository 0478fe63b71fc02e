//! Texts of several items: what they hold is seen, and a leak in one item is found.

use rand::seq::SliceRandom;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::common::Place;

const ROWS: usize = 1_500;

/// A row's items, some of eight; `rare` is in so many of the rows of each secret.
fn items(rng: &mut ChaCha8Rng, second: bool, rare: [f64; 2]) -> Vec<(String, f64)> {
    let mut all = Vec::new();
    for key in 1..=8 {
        if rng.random_bool(0.5) {
            all.push((format!("{}", 7 * key), 10.0 * rng.random::<f64>()));
        }
    }
    if rng.random_bool(rare[usize::from(second)]) {
        all.push(("99".to_owned(), rng.random::<f64>()));
    }
    all.shuffle(rng);
    all
}

fn log(seed: u64, rare: [f64; 2], cell: fn(&[(String, f64)]) -> String) -> Place {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let mut text = "secret\tx\n".to_owned();
    for _ in 0..ROWS {
        let second = rng.random_bool(0.5);
        let items = items(&mut rng, second, rare);
        let label = if second { "b" } else { "a" };
        text.push_str(&format!("{label}\t{}\n", cell(&items)));
    }
    Place::new().file("log.tsv", text)
}

fn joined(items: &[(String, f64)], separator: &str, item: fn(&(String, f64)) -> String) -> String {
    items.iter().map(item).collect::<Vec<_>>().join(separator)
}

fn pairs(items: &[(String, f64)]) -> String {
    joined(items, ";", |(key, value)| format!("k{key}:{value:.1}"))
}

fn objects(items: &[(String, f64)]) -> String {
    let inner = joined(items, ", ", |(key, value)| format!("'k{key}': {value:.1}"));
    format!("{{{inner}}}")
}

fn words(items: &[(String, f64)]) -> String {
    joined(items, " ", |(key, _)| format!("k{key}"))
}

fn ids(items: &[(String, f64)]) -> String {
    joined(items, ",", |(key, _)| key.clone())
}

const AUDIT: [&str; 5] = ["audit", "log.tsv", "--quick", "--claim", "ldp(epsilon=0.5)"];

#[test]
fn a_leak_in_one_item_is_found() {
    for (cell, note) in [
        (
            pairs as fn(&[(String, f64)]) -> String,
            "items with values between `;`",
        ),
        (objects, "items with values in brackets"),
        (words, "items between blanks"),
        (ids, "lists of numbers"),
    ] {
        let place = log(1, [0.02, 0.4], cell);
        let output = place.run(&AUDIT);
        let text = String::from_utf8_lossy(&output.stdout);
        assert_eq!(output.status.code(), Some(1), "{text}");
        assert!(text.contains(note), "{text}");
        assert!(!text.contains("not asked for"), "{text}");
    }
}

#[test]
fn a_correct_mechanism_is_not_refuted() {
    // Randomized response with ε = 0.5 says whether the item is there. One of twenty may fail.
    let refuted = (0..3).filter(|&seed| {
        let place = log(100 + seed, [0.377_541, 0.622_459], words);
        place.run(&AUDIT).status.code() == Some(1)
    });
    assert_eq!(refuted.count(), 0);
}

#[test]
fn whoever_says_that_items_are_all_that_is_seen_is_believed() {
    let place = log(1, [0.1, 0.1], pairs);
    let claim = [&AUDIT[..4], &["attack-advantage(0.2)"]].concat();
    let output = place.run(&claim);
    let text = String::from_utf8_lossy(&output.stdout);
    assert_eq!(output.status.code(), Some(3), "{text}");
    assert!(text.contains("--list x=items"), "{text}");
    let output = place.run(&[&claim[..], &["--list", "x=items"]].concat());
    let text = String::from_utf8_lossy(&output.stdout);
    assert_eq!(output.status.code(), Some(0), "{text}");
    let few = Place::with_log("secret,x\na,u\nb,v\n");
    let asked = ["estimate", "log.csv", "--list", "x=items"];
    few.refuses(&asked, &["--list x=items", "no items that recur"]);
}

/// A word that is in two rows has no column, and a thousand such words may tell the secret.
#[test]
fn nothing_holds_where_many_items_are_too_rare_to_be_seen() {
    let mut rng = ChaCha8Rng::seed_from_u64(7);
    let mut text = "secret\tx\n".to_owned();
    for _ in 0..ROWS {
        let second = rng.random_bool(0.5);
        let mut words: Vec<String> = (0..4)
            .map(|_| format!("w{}", rng.random_range(0..20)))
            .collect();
        let of_secret = if second { "q" } else { "z" };
        words.push(format!("{of_secret}{}", rng.random_range(0..ROWS / 2)));
        words.shuffle(&mut rng);
        let label = if second { "b" } else { "a" };
        text.push_str(&format!("{label}\t{}\n", words.join(" ")));
    }
    let place = Place::new().file("log.tsv", text);
    let claim = [
        &AUDIT[..4],
        &["attack-advantage(0.3)", "--claim", "advantage(0.9)"],
    ]
    .concat();
    for more in [&[][..], &["--list", "x=items"]] {
        let output = place.run(&[&claim[..], more].concat());
        let text = String::from_utf8_lossy(&output.stdout);
        assert_eq!(output.status.code(), Some(3), "{text}");
        assert!(
            text.contains("too rare for a column of their own"),
            "{text}"
        );
    }
}
