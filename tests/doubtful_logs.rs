//! Logs of which nothing may be said to hold, though no attack finds a difference: each was once said to.

use crate::common::{Place, stdout};

/// A number in [0, 1) that looks random.
fn noise(at: usize) -> f64 {
    let mixed = (at as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ 0x1234_5678;
    let mixed = (mixed ^ (mixed >> 29)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    (mixed >> 11) as f64 / (1u64 << 53) as f64
}

/// A secret of two that looks random.
fn secret(at: usize) -> usize {
    usize::from(noise(at + 1_000_000) < 0.5)
}

/// An integer of 61 bits whose lowest bit is the secret, as a text.
fn integer(at: usize) -> String {
    let high = (noise(at) * (1u64 << 52) as f64) as u64;
    ((high << 9 | 1 << 8) + secret(at) as u64).to_string()
}

fn log(header: &str, rows: usize, row: impl Fn(usize) -> String) -> Place {
    let rows: String = (0..rows).map(|at| row(at) + "\n").collect();
    Place::with_log(format!("{header}\n{rows}"))
}

/// The text and the exit code of an audit of `log.csv`.
fn audit(place: &Place, more: &[&str]) -> (String, Option<i32>) {
    let command = ["audit", "log.csv", "--secret", "secret", "--quick"];
    let output = place.run(&[&command, more].concat());
    (stdout(&output), output.status.code())
}

#[track_caller]
fn is_not_shown(place: &Place, more: &[&str], reason: &str) {
    let (text, code) = audit(place, more);
    let words: Vec<&str> = text.split_whitespace().collect();
    assert!(words.join(" ").contains(reason), "{text}");
    assert_eq!(code, Some(3), "{text}");
}

/// Whatever a logger writes where it has nothing, and however many words it has for that.
#[test]
fn several_words_for_nothing_are_no_observations() {
    let nothing = ["nan", "", "ERROR: timeout", "Error: connection refused"];
    let place = log("secret,x", 4000, |at| {
        format!("{},{}", secret(at), nothing[(4.0 * noise(at)) as usize])
    });
    let claim = ["--claim", "advantage(0.2)"];
    is_not_shown(&place, &claim, "Not judged: rows show nothing but");
}

/// A log that can show nothing is too weak for any leak.
#[test]
fn a_dead_logger_is_too_weak() {
    let place = log("secret,x", 2000, |at| format!("{},nan", secret(at)));
    let detect = ["--claim", "ldp(1)", "--must-detect", "epsilon=1.5"];
    let (text, code) = audit(&place, &detect);
    assert!(text.contains("TOO WEAK"), "{text}");
    assert_ne!(code, Some(0), "{text}");
}

/// A leak of this size that is in all of many labels takes more rows than one in two answers.
#[test]
fn leaks_are_planted_in_the_labels_of_the_log() {
    let detect = [
        "--claim",
        "advantage(0.1)",
        "--must-detect",
        "advantage=0.3",
    ];
    for (labels, expected) in [(2.0, "STRONG ENOUGH"), (500.0, "TOO WEAK")] {
        let place = log("secret,x", 2000, |at| {
            format!("{},v{}", secret(at), (labels * noise(at)) as usize)
        });
        let (text, _) = audit(&place, &detect);
        assert!(text.contains(expected), "{labels}: {text}");
    }
}

#[test]
fn digits_that_are_not_read_may_tell_the_secret() {
    let claim = ["--claim", "attack-advantage(0.15)"];
    let with_point = log("secret,x", 2000, |at| {
        format!("{},{}.0", secret(at), integer(at))
    });
    is_not_shown(
        &with_point,
        &claim,
        "Not shown: attacks do not see all digits of x.",
    );
    let in_lists = log("secret,x", 2000, |at| {
        let [a, b] = [at + 50_000, at + 90_000].map(integer);
        format!("{},\"[{a}, {}, {b}]\"", secret(at), integer(at))
    });
    is_not_shown(
        &in_lists,
        &claim,
        "Not shown: attacks do not see all digits of x[1].",
    );
}

/// Every bit of a machine word is looked at, and elements that are true or false are bits.
#[test]
fn bits_anywhere_are_seen() {
    let claim = ["--claim", "attack-advantage(0.15)"];
    let place = log("secret,x", 2000, |at| {
        let high = (noise(at) * (1u64 << 40) as f64) as u64;
        format!(
            "{},{}",
            secret(at),
            high << 21 | (secret(at) as u64) << 20 | at as u64
        )
    });
    let (text, code) = audit(&place, &claim);
    assert_eq!(code, Some(1), "{text}");
    let place = log("secret,x", 2000, |at| {
        let bit = |k: usize| match k {
            9 => secret(at) == 1,
            _ => noise(64 * at + k) < 0.5,
        };
        let bits: Vec<&str> = (0..16)
            .map(|k| if bit(k) { "True" } else { "False" })
            .collect();
        format!("{},\"[{}]\"", secret(at), bits.join(", "))
    });
    let (text, code) = audit(&place, &claim);
    assert_eq!(code, Some(1), "{text}");
}

/// What never falls, and is called as a clock is, was not measured: beside sorted secrets it would name them.
#[test]
fn clocks_beside_sorted_secrets_are_left_out() {
    let at_second = |at: usize| 32_401.0 + 0.5 * at as f64 + 0.4 * noise(at);
    let of_day = |seconds: f64| {
        let whole = seconds as usize;
        format!(
            "{:02}:{:02}:{:06.3}",
            whole / 3600,
            whole / 60 % 60,
            seconds % 60.0
        )
    };
    type Moment<'a> = &'a dyn Fn(usize) -> String;
    let moments: [(&str, Moment); 6] = [
        ("Time (s)", &|at| format!("{:.6}", at_second(at))),
        ("frame.time_relative", &|at| format!("{:.6}", at_second(at))),
        ("uptime_ms", &|at| format!("{:.0}", 1e3 * at_second(at))),
        ("clock", &|at| of_day(at_second(at))),
        ("day", &|at| format!("2026-01-{:02}", 1 + at / 100)),
        ("batch", &|at| (at / 90).to_string()),
    ];
    for (name, moment) in moments {
        let place = log(&format!("{name},secret,noisy"), 2000, |at| {
            format!("{},{},{:.4}", moment(at), at / 1000, noise(at))
        });
        let (text, code) = audit(&place, &["--claim", "ldp(1)"]);
        assert!(text.contains(&format!("left out: {name}")), "{text}");
        assert_eq!(code, Some(3), "{text}");
    }
    // The same numbers in another order may be measured.
    let place = log("time,secret,noisy", 2000, |at| {
        format!("{:.6},{},{:.4}", noise(at + 7), secret(at), noise(at))
    });
    let (text, _) = audit(&place, &["--claim", "ldp(1)"]);
    assert!(text.contains("observed time, noisy"), "{text}");
}

/// Blocks in random order are what the advice asks for.
#[test]
fn complete_random_blocks_do_not_alternate() {
    let place = log("secret,answer", 3000, |at| {
        let swapped = usize::from(noise(at / 2 + 77) < 0.5);
        format!("{},{}", (at + swapped) % 2, ["yes", "no"][secret(at)])
    });
    let (text, _) = audit(&place, &["--claim", "advantage(0.2)"]);
    assert!(!text.contains("alternate"), "{text}");
}

/// A flag or a host that is not observed explains nearly all of the times.
#[test]
fn a_flag_that_explains_most_of_the_times_is_named() {
    let claim = [
        "--observe",
        "ms",
        "--unit",
        "ms",
        "--claim",
        "time-difference(50ms)",
    ];
    for names in [["0", "1"], ["host-a", "host-b"]] {
        let place = log("secret,kind,ms", 3000, |at| {
            let kind = usize::from(noise(at + 31) < 0.4);
            let ms = [100.0, 160.0][kind] + 9.0 * noise(at);
            format!("{},{},{ms:.4}", secret(at), names[kind])
        });
        is_not_shown(
            &place,
            &claim,
            "kind tells several kinds of measurements apart",
        );
    }
}

#[test]
fn times_below_zero_stand_for_no_time() {
    let place = log("secret,ms", 3000, |at| match noise(at + 5) < 0.9 {
        true => format!("{},-1", secret(at)),
        false => format!("{},{:.3}", secret(at), 50.0 + noise(at)),
    });
    let claim = ["--unit", "ms", "--claim", "time-difference(10ms)"];
    is_not_shown(
        &place,
        &claim,
        "times are below zero, as where a number stands for no time.",
    );
}

/// A coarse time that was taken class by class never falls either: it is observed, and tells the secrets apart.
#[test]
fn what_each_secret_has_one_of_was_measured() {
    let place = log("secret,time_us,status", 2000, |at| {
        format!("{},{},{}", at / 1000, 5 + at / 1000, secret(at))
    });
    let (text, code) = audit(&place, &["--claim", "advantage(0.1)"]);
    assert!(text.contains("observed time_us, status"), "{text}");
    assert_eq!(code, Some(1), "{text}");
}

/// Rows that were sorted by a time that was measured: nothing is said to hold without it.
#[test]
fn a_column_that_may_have_been_measured_is_asked_about() {
    let place = log("secret,time,status", 3000, |at| {
        let time = 3.0 * at as f64 + noise(at);
        format!("{},{time:.3},{}", secret(at), ["x", "y"][secret(at + 9)])
    });
    let claim = ["--claim", "advantage(0.2)"];
    is_not_shown(&place, &claim, "Not shown: time was left out as a clock.");
    let (text, code) = audit(&place, &[&claim[..], &["--observe", "status"]].concat());
    assert_eq!(code, Some(0), "{text}");
}

/// What is certified of all that is observed holds of kinds together; signed numbers are no missing times.
#[test]
fn doubts_about_medians_leave_other_limits_alone() {
    let place = log("secret,latency_us,cache_hit", 3000, |at| {
        let hit = usize::from(noise(at + 3) < 0.5);
        format!("{},{},{hit}", secret(at), [400, 100][hit])
    });
    let observed = ["--observe", "latency_us", "--resolution", "latency_us=100"];
    let claim = ["--claim", "advantage(0.2)"];
    let (text, code) = audit(&place, &[&observed[..], &claim].concat());
    assert_eq!(code, Some(0), "{text}");
    let place = log("secret,offset_ms", 4000, |at| {
        format!("{},{:.5}", secret(at), noise(at) - 0.5)
    });
    let claim = ["--unit", "ms", "--claim", "time-difference(300us)"];
    let (text, code) = audit(&place, &claim);
    assert_eq!(code, Some(0), "{text}");
}
