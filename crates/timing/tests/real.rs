//! Real functions on the machine that runs this, as busy as it is: what leaks far more than it is allowed to is found,
//! and what does not is never said to. The second is certain up to 1 in 64,000 for each test, the first needs a machine
//! that is not stopped.

use std::time::Duration;

use leakgauge_timing::{Attacker, Outcome, Report, Test, assert_constant_time};
use subtle::ConstantTimeEq;

/// Ends at the first difference.
fn naive(a: &[u8], b: &[u8]) -> bool {
    a.iter().zip(b).all(|(a, b)| a == b)
}

/// Of a secret whose bytes are all 7: the byte at this place is wrong.
fn guess(length: usize, place: usize) -> Vec<u8> {
    let mut guess = vec![7; length];
    guess[place] = 0;
    guess
}

fn compare(
    name: &str,
    length: usize,
    seconds: u64,
    equal: impl Fn(&[u8], &[u8]) -> bool,
) -> Report {
    let secret = vec![7; length];
    let report = Test::new(
        format!("{name} of {length} bytes"),
        Attacker::SharedHardware,
    )
    .class("first byte", || guess(length, 0))
    .class("last byte", || guess(length, length - 1))
    .time_limit(Duration::from_secs(seconds))
    .run(|guess| equal(&secret, guess));
    println!("{report}  {:?}", report.elapsed);
    report
}

#[test]
fn a_naive_comparison_leaks() {
    for length in [32, 256, 1024] {
        let report = compare("naive comparison", length, 60, naive);
        assert_eq!(report.outcome, Outcome::Leaks, "{report}");
        let found = report.difference.expect("limits");
        assert_eq!(
            (&*found.slower, &*found.faster),
            ("last byte", "first byte")
        );
        assert!(found.at_least > 0.6 && found.at_least <= found.estimate);
        let log = std::fs::read_to_string(report.log.expect("a log")).expect("text");
        assert!(
            log.starts_with("block,sequence,class,time_ns\n0,0,"),
            "{log:.60}"
        );
        assert_eq!(log.lines().count(), 1 + 2 * report.measured_blocks);
    }
}

#[test]
fn a_comparison_in_constant_time_does_not_leak() {
    for length in [32, 256, 1024] {
        // It need not be decided.
        let report = compare("subtle", length, 2, |a, b| a.ct_eq(b).into());
        assert!(!report.leaks(), "{report}");
    }
}

#[test]
#[should_panic(expected = "`in one call`: the time of a call depends on its class of inputs")]
fn an_assertion_fails() {
    let secret = [7; 256];
    assert_constant_time(
        "in one call",
        Attacker::SharedHardware,
        ("first byte", || guess(256, 0)),
        ("last byte", || guess(256, 255)),
        |guess| naive(&secret, guess),
    );
}

/// Too few blocks for any limit: no failure, unless it was asked for.
#[test]
fn what_is_not_decided_is_its_own_outcome() {
    let test = |name| {
        Test::new(name, Duration::from_nanos(20))
            .class("a", || 1_u64)
            .class("b", || 2)
            .max_blocks(10)
            .seed(1)
    };
    let report = test("ten blocks").run(|input| *input + 1);
    assert_eq!(
        (report.outcome, report.measured_blocks),
        (Outcome::TooNoisy, 10)
    );
    assert_eq!((report.difference.as_ref(), report.seed), (None, 1));
    assert!(
        report.to_string().contains("10 blocks were measured"),
        "{report}"
    );
    test("ten blocks again").assert(|input| *input + 1);
    let required = std::panic::catch_unwind(|| {
        test("ten blocks required")
            .require_decision()
            .assert(|input| *input + 1);
    });
    assert!(required.is_err());
}

#[test]
#[should_panic(expected = "test `alone` has 1 class(es)")]
fn one_class_is_none() {
    let _ = Test::new("alone", Attacker::Lan)
        .class("a", || 1)
        .run(|input| *input);
}

#[test]
#[should_panic(expected = "two classes have the name `a`")]
fn names_are_not_shared() {
    let _ = Test::new("shared", Attacker::Lan)
        .class("a", || 1)
        .class("a", || 2);
}
