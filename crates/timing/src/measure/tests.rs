//! Measuring with a clock of the tests: functions move it.

use std::cell::{Cell, RefCell};

use super::*;
use crate::clock::Paired;
use crate::judge::Verdict;

/// A clock that stands still until a function moves it, in steps of `step` ns.
struct Moved {
    now: Cell<f64>,
    step: f64,
}

impl Moved {
    fn new(step: f64) -> Self {
        // Soon it wraps around.
        Self {
            now: Cell::new(-1000.0),
            step,
        }
    }

    fn moves(&self, nanoseconds: f64) {
        self.now.set(self.now.get() + nanoseconds);
    }
}

impl Clock for Moved {
    fn now(&self) -> u64 {
        self.moves(0.1);
        ((self.now.get() / self.step).floor() * self.step) as i64 as u64
    }

    fn fence(&self) {}

    fn agrees(&self, _: &Paired) -> Option<bool> {
        None
    }

    fn facts(&self) -> Facts {
        Facts {
            name: "test",
            nanoseconds_per_tick: 1.0,
            step_ticks: self.step,
            reading_ticks: 1.0,
        }
    }
}

fn plan(threshold: f64, most_blocks: usize) -> Plan {
    Plan {
        threshold,
        alarm: 1e-5,
        pass: 1e-3,
        time_limit: Duration::from_secs(600),
        most_blocks,
    }
}

fn makers<'a>(classes: usize) -> Vec<Maker<'a, usize>> {
    (0..classes)
        .map(|class| -> Maker<'_, usize> { Box::new(move || class) })
        .collect()
}

/// Every class once a block, in all orders equally often; its time is that of its own input.
#[test]
fn blocks_are_complete_and_in_random_order() {
    let clock = Moved::new(1.0);
    let mut run = |class: &mut usize| clock.moves(100.0 * (1 + *class) as f64);
    let measured = measure(
        &clock,
        &mut makers(3),
        &mut run,
        Random::new(5),
        &plan(1e6, 1024),
    );
    assert_eq!(measured.judge.blocks(), 1024);
    assert_eq!(measured.order.len(), 3 * 1024);
    let mut orders = std::collections::BTreeMap::new();
    for block in measured.order.chunks_exact(3) {
        *orders.entry(block.to_vec()).or_insert(0) += 1;
    }
    // 171 ± 4.4 standard errors of 12.
    assert_eq!(orders.len(), 6);
    assert!(
        orders.values().all(|count| (118..=224).contains(count)),
        "{orders:?}"
    );
    for block in measured.judge.times().chunks_exact(3) {
        for (class, time) in block.iter().enumerate() {
            assert!(
                (time - 100.0 * (1 + class) as f64).abs() <= 1.1,
                "{block:?}"
            );
        }
    }
    assert_eq!((measured.calls, measured.backwards), (1, 0));
}

#[test]
fn the_same_seed_gives_the_same_order() {
    let order = |seed| {
        let clock = Moved::new(1.0);
        let mut run = |_: &mut usize| clock.moves(100.0);
        let random = Random::of_test(seed, "order");
        let measured = measure(&clock, &mut makers(2), &mut run, random, &plan(1e6, 300));
        (measured.calls, measured.order)
    };
    let (first, again, other) = (order(1), order(1), order(2));
    assert_eq!(first, again);
    assert!(first.1 != other.1);
}

/// Inputs are made outside of the timed part, outputs are dropped outside of it, and each input is used once.
#[test]
fn only_the_call_is_timed() {
    struct Output<'a>(&'a Moved);
    impl Drop for Output<'_> {
        fn drop(&mut self) {
            self.0.moves(1e5);
        }
    }
    let clock = Moved::new(1.0);
    let made = Cell::new(0);
    let used = RefCell::new(std::collections::BTreeSet::new());
    let make = || {
        clock.moves(1e6);
        made.set(made.get() + 1);
        made.get()
    };
    let mut makers: Vec<Maker<'_, i32>> = vec![Box::new(make), Box::new(make)];
    let mut run = |input: &mut i32| {
        assert!(used.borrow_mut().insert(*input), "an input is used twice");
        clock.moves(60.0);
        Output(&clock)
    };
    let measured = measure(
        &clock,
        &mut makers,
        &mut run,
        Random::new(6),
        &plan(100.0, 300),
    );
    assert!(
        measured
            .judge
            .times()
            .iter()
            .all(|time| (time - 60.0).abs() < 1.5)
    );
}

/// Calls far below the step of the clock are made in batches, and what they differ by is found. Without batches, the
/// limit is two steps away.
#[test]
fn calls_below_the_step_are_made_in_batches() {
    // 41.67 ns, as of a counter of 24 MHz.
    let clock = Moved::new(41.67);
    let mut run = |class: &mut usize| clock.moves(5.0 + 2.0 * *class as f64);
    let measured = measure(
        &clock,
        &mut makers(2),
        &mut run,
        Random::new(7),
        &plan(1.0, 5000),
    );
    // 50 steps by calls of 6 ns, and two steps in a quarter of the threshold.
    assert!((334..500).contains(&measured.calls), "{}", measured.calls);
    let look = measured.judge.last().expect("a look");
    assert_eq!((look.verdict, look.pair.slower), (Verdict::Leaks, 1));
    assert!(
        look.pair.at_least > 1.5 && look.pair.at_least <= 2.0 && look.pair.at_most >= 2.0,
        "{look:?}"
    );
    let mut same = |_: &mut usize| clock.moves(5.0);
    let measured = measure(
        &clock,
        &mut makers(2),
        &mut same,
        Random::new(7),
        &plan(1.0, 5000),
    );
    assert_eq!(
        measured.judge.last().map(|look| look.verdict),
        Some(Verdict::Passes)
    );
}

/// Slow calls are not made in batches, and a clock that runs backwards is counted.
#[test]
fn slow_calls_and_odd_clocks() {
    let clock = Moved::new(1.0);
    let calls = Cell::new(0);
    let mut run = |_: &mut usize| {
        calls.set(calls.get() + 1);
        clock.moves(if calls.get() % 97 == 0 { -5e6 } else { 2e6 });
    };
    let measured = measure(
        &clock,
        &mut makers(2),
        &mut run,
        Random::new(8),
        &plan(1e7, 2000),
    );
    assert_eq!(measured.calls, 1);
    assert!(measured.backwards > 10, "{}", measured.backwards);
    assert_eq!(
        measured.judge.last().map(|look| look.verdict),
        Some(Verdict::Passes)
    );
}

/// The budget ends a test whose calls are slow, with what there is.
#[test]
fn the_time_limit_ends_a_test() {
    let limit = Duration::from_millis(200);
    let mut run = |_: &mut usize| std::thread::sleep(Duration::from_millis(5));
    let plan = Plan {
        time_limit: limit,
        ..plan(1.0, 5000)
    };
    let measured = measure(
        &crate::clock::SystemClock,
        &mut makers(2),
        &mut run,
        Random::new(9),
        &plan,
    );
    // How many blocks that is depends on what else the machine does.
    assert!(measured.judge.blocks() < 5000 && measured.judge.last().is_none());
    assert!(measured.elapsed >= limit);
}
