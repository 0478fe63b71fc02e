//! Claims about times, on clocks that are coarse and on times that resemble their neighbors.

use std::fmt::Write;
use std::io::Cursor;

use leakgauge::audit::{AuditOptions, Verdict, audit};
use leakgauge::base::parallel;
use leakgauge::claim::Claim;
use leakgauge::log::{Missing, ReadOptions, read_from};
use leakgauge_testing::{at_most, rng};
use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution, StandardNormal};

fn normal(rng: &mut ChaCha8Rng) -> f64 {
    StandardNormal.sample(rng)
}

/// Times of classes, turn by turn: each turn has one of each class.
type Turns = Vec<Vec<f64>>;

/// The verdicts on claims about a log of these times in ms: blocks, or rows one by one in random order within each
/// turn.
fn verdicts(turns: &Turns, in_blocks: bool, claims: &[&str], order: u64) -> Vec<Verdict> {
    let name = |class: usize| char::from(b'a' + class as u8);
    let classes = turns[0].len();
    let mut text = String::new();
    let mut options = ReadOptions::default();
    if in_blocks {
        let names: Vec<String> = (0..classes).map(|class| name(class).to_string()).collect();
        writeln!(text, "{}", names.join(",")).expect("memory");
        for turn in turns {
            let cells: Vec<String> = turn.iter().map(f64::to_string).collect();
            writeln!(text, "{}", cells.join(",")).expect("memory");
        }
        (options.wide, options.blocks) = (true, true);
    } else {
        text.push_str("class,ms\n");
        let mut rng = rng(order);
        for turn in turns {
            let first = rng.random_range(0..classes);
            for at in 0..classes {
                let class = (first + at) % classes;
                writeln!(text, "{},{}", name(class), turn[class]).expect("memory");
            }
        }
        options.numeric = vec!["ms".to_owned()];
    }
    // Nobody waited for some.
    if turns.iter().flatten().any(|time| time.is_infinite()) {
        options.missing = Missing::Last;
    }
    let log = read_from("log", Cursor::new(text), &options).expect("a log");
    let claims = claims
        .iter()
        .map(|claim| Claim::parse(claim).expect("a claim"));
    let options = AuditOptions {
        claims: claims.collect(),
        unit: Some(leakgauge::base::time::TimeUnit::Milliseconds),
        quick: true,
        ..AuditOptions::default()
    };
    let found = audit(&log, &options).expect("an audit");
    found.claims.iter().map(|claim| claim.verdict).collect()
}

/// How a clock of steps of 1 reads a time.
#[derive(Debug, Clone, Copy)]
enum Reading {
    Rounded,
    Cut,
    /// The difference of two readings that are cut.
    Stopwatch,
}

/// 2,000 logins: a class takes 0.3 ms longer, in noise of this many ms, read by a clock of whole milliseconds.
fn logins(seed: u64, reading: Reading, noise: f64) -> Turns {
    let mut rng = rng(seed);
    let base = 12.0 + rng.random::<f64>();
    let mut read = |time: f64| match reading {
        Reading::Rounded => time.round(),
        Reading::Cut => time.floor(),
        Reading::Stopwatch => {
            let start: f64 = rng.random();
            (start + time).floor()
        }
    };
    let mut draws = leakgauge_testing::rng(seed + 1_000_000);
    (0..2_000)
        .map(|_| {
            let mut time = |longer: f64| base + longer + noise * normal(&mut draws);
            [0.0, 0.3].map(|longer| read(time(longer))).to_vec()
        })
        .collect()
}

/// So many logs of each kind: no false claim holds, no true one is violated.
fn assert_step_is_known(logs: usize) {
    let of_log = |at: usize| {
        let reading = [Reading::Rounded, Reading::Cut, Reading::Stopwatch][at % 3];
        let noise = [0.2, 0.6, 3.0][at / 3 % 3];
        let turns = logins(31_000 + at as u64, reading, noise);
        let claims = ["time-difference(0.1ms)", "time-difference(0.5ms)"];
        for in_blocks in [true, false] {
            let found = verdicts(&turns, in_blocks, &claims, at as u64);
            let what = format!("{reading:?}, noise {noise}, in blocks {in_blocks}: {found:?}");
            assert_ne!(found[0], Verdict::Holds, "{what}");
            assert_ne!(found[1], Verdict::Violated, "{what}");
        }
    };
    parallel::map(logs, of_log);
}

#[test]
fn a_coarse_clock_proves_nothing_that_it_does_not_see() {
    assert_step_is_known(9);
}

#[test]
#[ignore = "long"]
fn a_coarse_clock_proves_nothing_that_it_does_not_see_in_many_logs() {
    assert_step_is_known(108);
}

/// What times of equal laws are like beside noise.
#[derive(Debug, Clone, Copy)]
enum Course {
    /// An autoregressive process of this weight for each class.
    Own(f64),
    /// The same for all classes together.
    Shared(f64),
    Drift,
    Season,
    /// A random walk that all classes share.
    Walk,
}

const COURSES: [Course; 9] = [
    Course::Own(0.0),
    Course::Own(0.5),
    Course::Own(0.8),
    Course::Own(0.9),
    Course::Own(0.95),
    Course::Shared(0.95),
    Course::Drift,
    Course::Season,
    Course::Walk,
];

fn of_course(course: Course, classes: usize, turns: usize, seed: u64) -> Turns {
    let mut rng = rng(seed);
    let mut levels: Vec<f64> = (0..classes).map(|_| normal(&mut rng)).collect();
    let mut walk = 0.0;
    (0..turns)
        .map(|at| {
            let part = at as f64 / turns as f64;
            let next = |level: &mut f64, kept: f64, rng: &mut ChaCha8Rng| {
                *level = kept * *level + (1.0 - kept * kept).sqrt() * normal(rng);
                *level
            };
            let shared = match course {
                Course::Own(_) => 0.0,
                Course::Shared(kept) => 5.0 * next(&mut levels[0], kept, &mut rng),
                Course::Drift => 10.0 * part,
                Course::Season => 5.0 * (part * 31.0).sin(),
                Course::Walk => {
                    walk += 0.2 * normal(&mut rng);
                    walk
                }
            };
            (0..classes)
                .map(|class| {
                    let own = match course {
                        Course::Own(kept) => next(&mut levels[class], kept, &mut rng),
                        _ => normal(&mut rng),
                    };
                    // Six digits: the clock hides next to nothing.
                    ((100.0 + shared + own) * 1e6).round() / 1e6
                })
                .collect()
        })
        .collect()
}

/// How many of so many logs of equal classes violate a claim of next to no difference.
fn violated(
    course: Course,
    (classes, turns): (usize, usize),
    in_blocks: bool,
    logs: usize,
) -> usize {
    let found = parallel::map(logs, |at| {
        let log = of_course(course, classes, turns, 47_000 + at as u64);
        let claims = ["time-difference(0.0001ms)"];
        verdicts(&log, in_blocks, &claims, at as u64) == [Verdict::Violated]
    });
    found.into_iter().filter(|&violated| violated).count()
}

fn assert_seldom_violated(sizes: &[(usize, usize)], logs: usize, courses: &[Course]) {
    for &size in sizes {
        for &course in courses {
            for in_blocks in [true, false] {
                let found = violated(course, size, in_blocks, logs);
                println!("{course:?}, {size:?}, in blocks {in_blocks}: {found} of {logs}");
                let most = at_most(logs, 0.05);
                assert!(
                    found <= most,
                    "{course:?}, {size:?}, in blocks {in_blocks}: {found}"
                );
            }
        }
    }
}

#[test]
#[ignore = "long"]
fn equal_classes_seldom_differ_whatever_their_course() {
    assert_seldom_violated(&[(2, 1_000)], 20, &[Course::Own(0.9), Course::Walk]);
    assert_seldom_violated(&[(6, 200)], 20, &[Course::Own(0.5)]);
}

#[test]
#[ignore = "long"]
fn equal_classes_seldom_differ_whatever_their_course_in_many_logs() {
    assert_seldom_violated(&[(2, 1_000), (2, 5_000), (6, 1_000)], 200, &COURSES);
    assert_seldom_violated(&[(6, 200), (13, 200)], 200, &COURSES[..4]);
}

/// Times of two classes, of which one takes 0.3 ms longer, in noise with a long tail; nobody waits for the longest ones:
/// of this share of the first class.
fn waited(seed: u64, share: f64) -> Turns {
    let mut rng = rng(seed);
    let mut time = |longer: f64| 10.0 + longer + (normal(&mut rng) * 0.7).exp();
    let mut turns: Turns = (0..400)
        .map(|_| [0.0, 0.3].map(&mut time).to_vec())
        .collect();
    let mut first: Vec<f64> = turns.iter().map(|turn| turn[0]).collect();
    first.sort_unstable_by(f64::total_cmp);
    let most = first[((1.0 - share) * 399.0) as usize];
    let times = turns.iter_mut().flatten();
    times
        .filter(|time| **time > most)
        .for_each(|time| *time = f64::INFINITY);
    turns
}

/// Logs in which no false claim may hold and no true one be violated, at most one in twenty.
fn assert_waiting_misleads_no_one(logs: usize) {
    for share in [0.1, 0.3, 0.6] {
        for in_blocks in [true, false] {
            let found = parallel::map(logs, |at| {
                let claims = ["time-difference(0.25ms)", "time-difference(0.3ms)"];
                let turns = waited(83_000 + at as u64, share);
                let found = verdicts(&turns, in_blocks, &claims, at as u64);
                [found[0] == Verdict::Holds, found[1] == Verdict::Violated]
            });
            for (which, what) in ["a false claim holds", "a true one is violated"]
                .iter()
                .enumerate()
            {
                let wrong = found.iter().filter(|wrong| wrong[which]).count();
                println!("{share}, in blocks {in_blocks}, {what}: {wrong} of {logs}");
                assert!(
                    wrong <= at_most(logs, 0.05),
                    "{share}, {in_blocks}, {what}: {wrong}"
                );
            }
        }
    }
}

#[test]
fn times_that_nobody_waited_for_mislead_no_one() {
    assert_waiting_misleads_no_one(10);
}

#[test]
#[ignore = "long"]
fn times_that_nobody_waited_for_mislead_no_one_in_many_logs() {
    assert_waiting_misleads_no_one(400);
}

/// Times of classes, of which the last takes longer than the first by so much; those between are a little slower than the first.
fn one_longer(seed: u64, classes: usize, longer: f64) -> Turns {
    let mut rng = rng(seed);
    let turn = |_| {
        let shared = 2.0 * rng.random::<f64>();
        let time = |class: usize| {
            let extra = match class {
                0 => 0.0,
                last if last + 1 == classes => longer,
                _ => 0.02,
            };
            ((20.0 + shared + extra + normal(&mut rng)) * 1e6).round() / 1e6
        };
        (0..classes).map(time).collect()
    };
    (0..400).map(turn).collect()
}

/// Of logs with a difference at the bound, at most one in twenty is violated; of those with one beyond it, none but so
/// many hold; the other direction is never violated by more.
fn assert_one_side(logs: usize) {
    for classes in [2, 4] {
        for in_blocks in [true, false] {
            let found = parallel::map(logs, |at| {
                let last = char::from(b'a' + classes as u8 - 1);
                let of = |which: char| format!("time-difference(0.3ms, slower={which})");
                let turns = one_longer(61_000 + at as u64, classes, 0.3);
                let at_bound = verdicts(&turns, in_blocks, &[&of(last)], at as u64);
                let other = verdicts(&turns, in_blocks, &[&of('a')], at as u64);
                let both = [&of(last)[..], "time-difference(0.351ms)"];
                let both = verdicts(&turns, in_blocks, &both, at as u64);
                let turns = one_longer(62_000 + at as u64, classes, 0.3001);
                let beyond = verdicts(&turns, in_blocks, &[&of(last)], at as u64);
                [
                    at_bound[0] == Verdict::Violated,
                    other[0] == Verdict::Violated,
                    both.contains(&Verdict::Violated),
                    beyond[0] == Verdict::Holds,
                ]
            });
            for (which, what) in [
                "at the bound",
                "the other way",
                "of two claims",
                "beyond it",
            ]
            .iter()
            .enumerate()
            {
                let wrong = found.iter().filter(|wrong| wrong[which]).count();
                println!("{classes} classes, in blocks {in_blocks}, {what}: {wrong} of {logs}");
                assert!(
                    wrong <= at_most(logs, 0.05),
                    "{classes}, {in_blocks}, {what}: {wrong}"
                );
            }
        }
    }
}

#[test]
fn claims_of_one_direction_are_seldom_wrong() {
    assert_one_side(10);
}

#[test]
#[ignore = "long"]
fn claims_of_one_direction_are_seldom_wrong_in_many_logs() {
    assert_one_side(400);
}
