//! Clocks: what one reads, how long a tick is, and the step in which it moves.

use std::sync::OnceLock;
use std::time::{Duration, Instant};

use crate::counter;

/// What is measured with. Tests have a clock of their own.
pub(crate) trait Clock {
    /// Ticks. They may wrap around.
    fn now(&self) -> u64;

    /// What is known of the clock.
    fn facts(&self) -> Facts;
}

/// What is known of a clock.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Facts {
    pub(crate) name: &'static str,
    pub(crate) nanoseconds_per_tick: f64,
    /// All readings are whole multiples of this.
    pub(crate) step_ticks: u64,
    /// How long it takes to read the clock.
    pub(crate) reading_ticks: u64,
}

impl Facts {
    pub(crate) fn step_nanoseconds(&self) -> f64 {
        self.step_ticks as f64 * self.nanoseconds_per_tick
    }
}

/// The counter of the processor, or else the clock of the system.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SystemClock;

impl Clock for SystemClock {
    #[inline(always)]
    fn now(&self) -> u64 {
        counter::read()
    }

    fn facts(&self) -> Facts {
        static FACTS: OnceLock<Facts> = OnceLock::new();
        *FACTS.get_or_init(|| Facts {
            name: counter::NAME,
            nanoseconds_per_tick: if counter::COUNTS_TICKS {
                nanoseconds_per_tick()
            } else {
                1.0
            },
            ..steps(counter::read, counter::COUNTS_TICKS)
        })
    }
}

/// Step and time of a reading, from readings one after the other.
///
/// Ticks of a counter have a grid: the greatest common divisor of all differences. Readings that were converted into nanoseconds
/// have none, so the smallest difference stands for the step: never finer than it is.
fn steps(read: impl Fn() -> u64, counts_ticks: bool) -> Facts {
    const READINGS: usize = 4000;
    let mut differences = Vec::with_capacity(READINGS);
    let mut last = read();
    let begun = Instant::now();
    // A clock of milliseconds stands still for most of these readings.
    while differences.len() < READINGS && begun.elapsed() < Duration::from_millis(100) {
        let now = read();
        let difference = now.wrapping_sub(last);
        if difference > 0 && difference < u64::MAX / 2 {
            differences.push(difference);
        }
        last = now;
    }
    differences.sort_unstable();
    let least = differences.first().copied().unwrap_or(1);
    Facts {
        name: "",
        nanoseconds_per_tick: 1.0,
        step_ticks: if counts_ticks {
            differences.iter().copied().fold(0, divisor).max(1)
        } else {
            least
        },
        reading_ticks: differences.get(differences.len() / 2).copied().unwrap_or(1),
    }
}

fn divisor(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { divisor(b, a % b) }
}

/// Length of a tick, by the clock of the system over 20 ms.
fn nanoseconds_per_tick() -> f64 {
    // Of several pairs of readings, the one that was taken fastest: an interruption between the two would count as time.
    let pair = || {
        (0..20)
            .map(|_| {
                let before = counter::read();
                let now = Instant::now();
                (counter::read().wrapping_sub(before), before, now)
            })
            .min_by_key(|(took, _, _)| *took)
            .expect("some pairs")
    };
    let (_, first, begun) = pair();
    while begun.elapsed() < Duration::from_millis(20) {
        std::hint::spin_loop();
    }
    let (_, second, ended) = pair();
    ended.duration_since(begun).as_nanos() as f64 / second.wrapping_sub(first).max(1) as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;

    #[test]
    fn the_step_of_a_coarse_clock_is_found() {
        let at = Cell::new(0_u64);
        // Reading takes 7 to 9 ticks of a counter that moves by 24.
        let read = || {
            at.set(at.get() + 7 + at.get() % 3);
            at.get() / 24 * 24
        };
        assert_eq!(steps(read, true).step_ticks, 24);
        let converted = || (read() as f64 * 41.666_7) as u64;
        assert!(steps(converted, false).step_ticks >= 1000);
    }

    #[test]
    fn the_clock_of_this_machine_agrees_with_that_of_the_system() {
        let facts = SystemClock.facts();
        assert!(facts.step_ticks >= 1 && facts.reading_ticks >= 1);
        // The best of several tries: the machine may be busy with something else.
        let off = (0..20).map(|_| {
            let (begun, first) = (Instant::now(), SystemClock.now());
            while begun.elapsed() < Duration::from_millis(2) {}
            let ticks = SystemClock.now().wrapping_sub(first) as f64;
            let nanoseconds = begun.elapsed().as_nanos() as f64;
            (ticks * facts.nanoseconds_per_tick / nanoseconds - 1.0).abs()
        });
        let best = off.fold(f64::INFINITY, f64::min);
        assert!(best < 0.01, "{best} off: {facts:?}");
    }
}
