//! False alarms of the test of no difference, and its power beside others.

use leakgauge_base::parallel;
use leakgauge_testing::{at_most, rng};

use super::others::{rtlf, sign_test, t_test, wilcoxon};
use super::{NOISES, Noise, blocks};
use crate::paired::{Sample, Times, exchangeable};

/// The tests: ours, sign, Wilcoxon, t, RTLF.
const NAMES: [&str; 5] = ["ours", "sign", "Wilcoxon", "t", "RTLF"];

/// How many classes and blocks, and how many times as many blocks ours has as the others. These take blocks to be
/// independent, and ours does not.
type Size = (usize, usize, f64);

/// Which tests flag each log: the smallest p-value of all pairs, corrected for their number.
fn flags(
    noise: Noise,
    (classes, n, price): Size,
    shift: f64,
    logs: usize,
    alpha: f64,
) -> Vec<[bool; 5]> {
    let fewer = (n as f64 / price) as usize;
    // RTLF compares two classes, and a bootstrap cannot speak of a small level.
    let with_rtlf = classes == 2 && alpha > 0.01;
    parallel::map(logs, |log| {
        let times = blocks(noise, classes, n, shift, 90_000 + log as u64);
        let pairs = (0..classes).flat_map(|a| (a + 1..classes).map(move |b| (a, b)));
        let (mut least, mut count) = ([1.0f64; 4], 0.0);
        for (a, b) in pairs {
            let (a, b) = (&times[a], &times[b]);
            let sample = Sample::new(a, b);
            let others = Sample::new(&a[..fewer], &b[..fewer]);
            let sorted = others.sorted();
            let p = [
                exchangeable([&Times::new(a), &Times::new(b)], &sample).p_value,
                sign_test(sorted),
                wilcoxon(sorted),
                t_test(sorted),
            ];
            least = std::array::from_fn(|at| least[at].min(p[at]));
            count += 1.0;
        }
        let [ours, sign, ranks, t] = least.map(|p| p * count <= alpha);
        let rtlf = with_rtlf
            && rtlf(
                [&times[0][..fewer], &times[1][..fewer]],
                alpha,
                &mut rng(log as u64),
            );
        [ours, sign, ranks, t, rtlf]
    })
}

fn count(flags: &[[bool; 5]], test: usize) -> usize {
    flags.iter().filter(|log| log[test]).count()
}

/// Ours flags leak-free logs at most at the level, and, with more blocks, finds as many leaks as the best of the other
/// tests that do: at most three standard deviations of the logs that only one of the two finds fewer, shift by shift,
/// and over all.
fn assert_power(sizes: Size, shifts: &[f64], logs: usize, alpha: f64) {
    for noise in NOISES {
        let without = flags(noise, sizes, 0.0, logs, alpha);
        let is_valid: [bool; 5] =
            std::array::from_fn(|test| count(&without, test) <= at_most(logs, alpha));
        let mut all: Vec<[bool; 5]> = Vec::new();
        let mut each = Vec::new();
        for &shift in shifts {
            let found = flags(noise, sizes, shift, logs, alpha);
            each.push(format!(
                "{shift}: {:?}",
                [0, 1, 2, 3, 4].map(|test| count(&found, test))
            ));
            compare(
                &found,
                is_valid,
                &format!("{noise:?}, {sizes:?}, {shift}, {alpha}"),
            );
            all.extend(found);
        }
        let share = |found: &[[bool; 5]], test: usize| {
            100.0 * count(found, test) as f64 / found.len() as f64
        };
        let rates: Vec<String> = (0..5)
            .map(|test| {
                let (power, alarms) = (share(&all, test), share(&without, test));
                format!("{} {power:.1} ({alarms:.1})", NAMES[test])
            })
            .collect();
        println!("{noise:?}, {sizes:?}, level {alpha}: {}", rates.join(", "));
        println!("    {}", each.join(", "));
        assert!(is_valid[0], "{noise:?}: {} flagged", count(&without, 0));
    }
}

fn compare(found: &[[bool; 5]], is_valid: [bool; 5], what: &str) {
    for test in (1..5).filter(|&test| is_valid[test]) {
        let only = |one: usize, other: usize| {
            found.iter().filter(|log| log[one] && !log[other]).count() as f64
        };
        let (missed, gained) = (only(test, 0), only(0, test));
        let most = 3.0 * (missed + gained).sqrt();
        assert!(
            missed - gained <= most,
            "{what}: {} finds {missed} more",
            NAMES[test]
        );
    }
}

#[test]
#[ignore = "full tier: how good the test is beside others, not whether it is right"]
fn what_the_best_of_other_tests_finds_is_found() {
    assert_power((2, 300, 1.4), &[0.2], 100, 0.05);
}

const SHIFTS: [f64; 7] = [0.02, 0.05, 0.1, 0.2, 0.3, 0.5, 1.0];

#[test]
#[ignore = "long"]
fn power_with_two_classes() {
    assert_power((2, 1_000, 1.3), &SHIFTS, 200, 0.05);
    assert_power((2, 1_000, 1.6), &SHIFTS, 200, 1e-5);
}

#[test]
#[ignore = "long"]
fn power_with_three_classes() {
    assert_power((3, 1_000, 1.3), &SHIFTS, 200, 0.05);
    assert_power((3, 1_000, 1.7), &SHIFTS, 200, 1e-5);
}

#[test]
#[ignore = "long"]
fn power_with_ten_classes() {
    for (alpha, price) in [(0.05, 1.8), (1e-5, 3.0)] {
        assert_power((10, 500, price), &[0.1, 0.2, 0.3, 0.5], 200, alpha);
    }
}

#[test]
fn logs_without_a_leak_are_flagged_at_the_level() {
    const LOGS: usize = 2_000;
    for noise in NOISES {
        // Few blocks cannot show that they depend on each other.
        let n = if noise == Noise::Autocorrelated {
            400
        } else {
            60
        };
        let found = parallel::map(LOGS, |log| {
            let times = blocks(noise, 2, n, 0.0, 500_000 + log as u64);
            let sample = Sample::new(&times[0], &times[1]);
            exchangeable([&Times::new(&times[0]), &Times::new(&times[1])], &sample).p_value
        });
        for alpha in [0.2, 0.05, 0.01] {
            let flagged = found.iter().filter(|&&p| p <= alpha).count();
            let most = at_most(LOGS, alpha);
            assert!(flagged <= most, "{noise:?} at {alpha}: {flagged} > {most}");
        }
    }
}
