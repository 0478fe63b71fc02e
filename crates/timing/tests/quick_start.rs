//! The test of the book's page, word for word, and the page that shows it.

use std::hint::black_box;

use leakgauge_timing::{Attacker, assert_constant_time};
use subtle::ConstantTimeEq;

const SECRET: &[u8] = &[7; 32];

/// What an attacker sends: a guess that is wrong in one byte.
fn guess(wrong: usize) -> Vec<u8> {
    let mut guess = SECRET.to_vec();
    guess[wrong] = 0;
    guess
}

fn naive(a: &[u8], b: &[u8]) -> bool {
    a.iter().zip(b).all(|(a, b)| a == b) // ends at the first difference
}

#[test]
#[should_panic(expected = "last byte takes longer than first byte")]
fn naive_comparison() {
    assert_constant_time(
        "naive comparison",
        Attacker::SharedHardware,
        ("first byte", || guess(0)),
        ("last byte", || guess(31)),
        |guess| naive(black_box(SECRET), guess),
    );
}

#[test]
fn subtle_comparison() {
    assert_constant_time(
        "subtle comparison",
        Attacker::SharedHardware,
        ("first byte", || guess(0)),
        ("last byte", || guess(31)),
        |guess| bool::from(black_box(SECRET).ct_eq(guess)),
    );
}

/// The page and the README show this file from its first `use` to its second test.
#[test]
fn the_page_shows_this_file() {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
    let read = |path| std::fs::read_to_string(root.join(path)).expect("a text");
    let own = read("tests/quick_start.rs");
    let begin = own.find("use std::hint").expect("a beginning");
    let end = own.find("\n/// The page").expect("an end");
    let shown: String = own[begin..end]
        .lines()
        .filter(|line| !line.starts_with("#[should_panic"))
        .map(|line| format!("{line}\n"))
        .collect();
    for page in ["README.md", "../../docs/constant-time.md"] {
        assert!(
            read(page).contains(&format!("```rust\n{shown}```")),
            "{page} shows another test:\n{shown}"
        );
    }
}
