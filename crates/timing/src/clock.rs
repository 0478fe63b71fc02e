//! Clocks: what one reads, how long a tick is, and the step in which it moves.

use std::sync::OnceLock;
use std::time::{Duration, Instant};

use crate::counter;
use crate::random::Random;

/// What is measured with. Tests have a clock of their own.
pub(crate) trait Clock {
    /// Ticks. They may wrap around.
    fn now(&self) -> u64;

    /// Waits until what comes before has been done.
    fn fence(&self);

    /// What is known of the clock.
    fn facts(&self) -> Facts;

    /// Whether it agrees, from `begun` on, with the clock of the system. `None` for a clock that has no other beside it.
    fn agrees(&self, begun: &Paired) -> Option<bool>;

    /// A reading beside one of the clock of the system.
    fn paired(&self) -> Paired {
        // Of several pairs of readings, the one that was taken fastest: an interruption between the two would count as
        // time.
        (0..20)
            .map(|_| {
                let ticks = self.now();
                let system = Instant::now();
                Paired {
                    ticks,
                    system,
                    took: self.now().wrapping_sub(ticks),
                }
            })
            .min_by_key(|pair| pair.took)
            .expect("some pairs")
    }
}

/// Two clocks, read one after the other.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Paired {
    ticks: u64,
    system: Instant,
    /// Ticks between the readings before and after that of the system.
    took: u64,
}

/// Whether ticks and the clock of the system agree to 1 % from one pair of readings to the next. A counter whose speed
/// follows that of the processor, or that stands still while a virtual machine does, does not.
fn agrees(begun: &Paired, ended: &Paired, nanoseconds_per_tick: f64) -> bool {
    let system = ended.system.duration_since(begun.system).as_nanos() as f64;
    let ticks = ended.ticks.wrapping_sub(begun.ticks) as f64;
    let slack = (begun.took + ended.took) as f64 * nanoseconds_per_tick;
    // Infinite and missing lengths of a tick agree with nothing.
    (ticks * nanoseconds_per_tick - system).abs() <= 0.01 * system + slack && slack.is_finite()
}

/// What is known of a clock.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Facts {
    pub(crate) name: &'static str,
    pub(crate) nanoseconds_per_tick: f64,
    /// Readings are multiples of this, cut to whole ticks.
    pub(crate) step_ticks: f64,
    /// How long it takes to read the clock.
    pub(crate) reading_ticks: f64,
}

impl Facts {
    pub(crate) fn step_nanoseconds(&self) -> f64 {
        self.step_ticks * self.nanoseconds_per_tick
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

    #[inline(always)]
    fn fence(&self) {
        counter::fence();
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

    fn agrees(&self, begun: &Paired) -> Option<bool> {
        counter::COUNTS_TICKS
            .then(|| agrees(begun, &self.paired(), self.facts().nanoseconds_per_tick))
    }
}

/// Step and time of a reading, from readings one after the other.
///
/// No step is longer than the smallest difference of two readings, and one tick for what was cut off. Readings that were
/// converted into nanoseconds say no more, so that stands for their step: what is said of the step is never finer than
/// it is. Ticks of a counter lie on a [`grid`]. A clock that stands still has a step without end.
fn steps(read: impl Fn() -> u64, counts_ticks: bool) -> Facts {
    const READINGS: usize = 2000;
    let mut random = Random::new(1);
    // Each after `work` of up to so many rounds.
    let readings = |rounds: usize, random: &mut Random| {
        let mut differences = Vec::with_capacity(READINGS);
        let begun = Instant::now();
        let mut last = read();
        // A clock of milliseconds stands still for most of these readings.
        while differences.len() < READINGS && begun.elapsed() < Duration::from_millis(50) {
            work(random.below(rounds + 1));
            let now = read();
            let difference = now.wrapping_sub(last);
            if difference > 0 && difference < u64::MAX / 2 {
                differences.push(difference);
            }
            last = now;
        }
        differences.sort_unstable();
        differences
    };
    let close = readings(0, &mut random);
    let Some(&least) = close.first() else {
        return Facts {
            name: "",
            nanoseconds_per_tick: 1.0,
            step_ticks: f64::INFINITY,
            reading_ticks: 1.0,
        };
    };
    let step_ticks = if counts_ticks {
        // Differences of up to some twenty steps.
        let mut apart = readings(1, &mut random);
        let mut rounds = 1;
        while apart
            .get(apart.len() / 2)
            .is_some_and(|half| *half < 10 * least)
            && rounds < 1 << 20
        {
            rounds *= 2;
            apart = readings(rounds, &mut random);
        }
        apart.truncate(apart.len() * 9 / 10);
        grid(&apart, least)
    } else {
        least as f64 + 1.0
    };
    Facts {
        name: "",
        nanoseconds_per_tick: 1.0,
        step_ticks,
        reading_ticks: close[close.len() / 2] as f64,
    }
}

/// Takes a while, longer for more rounds.
fn work(rounds: usize) {
    let mut state = 1_u64;
    for _ in 0..rounds {
        state = std::hint::black_box(state.wrapping_mul(5).wrapping_add(1));
    }
}

/// The grid of differences of ticks, of which the smallest is `least`.
///
/// Whole grids are the greatest common divisor. A processor may also multiply a slower clock by a fraction: its counter
/// then moves by 24 or 25 ticks, and all numbers occur. With θ = 2πd/s, differences d lie on a grid of s where the mean
/// of e^(iθ) has a length near 1; cutting to whole ticks leaves 0.9 of it for s ≥ 4, and less than 0.2 is left where
/// there is no grid. The largest s is the step. Between the two nothing is sure, and the smallest difference stands for
/// the step; grids finer than four ticks are not looked for, and count as four.
fn grid(differences: &[u64], least: u64) -> f64 {
    /// A grid leaves at least so much,
    const CLEAR: f64 = 0.8;
    /// and where there is none, less than this is left.
    const NONE: f64 = 0.3;
    const FINEST: f64 = 4.0;
    let Some(&most) = differences.last() else {
        return least as f64 + 1.0;
    };
    let common = differences.iter().copied().fold(0, divisor) as f64;
    let finest = common.max(FINEST);
    let length = |step: f64| {
        let angles = differences
            .iter()
            .map(|d| std::f64::consts::TAU * (*d as f64 / step));
        let (sine, cosine) = angles.fold((0.0, 0.0), |(sine, cosine), angle| {
            (sine + libm::sin(angle), cosine + libm::cos(angle))
        });
        libm::sqrt(sine * sine + cosine * cosine) / differences.len() as f64
    };
    let mut step = least as f64 + 1.0;
    let (mut best, mut found) = (0.0, finest);
    while step > finest {
        let here = length(step);
        if here > best {
            (best, found) = (here, step);
        } else if best > CLEAR {
            // Past the top of the first hill.
            return found;
        }
        // The angle of the largest difference turns by 1/16.
        step -= step * step / (16.0 * most as f64);
    }
    // All differences are multiples of `common`, a grid of whole ticks.
    if best < NONE || common >= FINEST {
        finest
    } else if best > CLEAR {
        found
    } else {
        least as f64 + 1.0
    }
}

fn divisor(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { divisor(b, a % b) }
}

/// Length of a tick, by the clock of the system over 20 ms. Infinite for a counter that stands still.
fn nanoseconds_per_tick() -> f64 {
    let begun = SystemClock.paired();
    while begun.system.elapsed() < Duration::from_millis(20) {
        std::hint::spin_loop();
    }
    let ended = SystemClock.paired();
    length(&begun, &ended)
}

fn length(begun: &Paired, ended: &Paired) -> f64 {
    let nanoseconds = ended.system.duration_since(begun.system).as_nanos() as f64;
    nanoseconds / ended.ticks.wrapping_sub(begun.ticks) as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;

    /// A clock that moves by `step` ticks, and of which each reading takes 7 to 9.
    fn coarse(step: f64) -> impl Fn() -> u64 {
        let at = Cell::new(0_u64);
        move || {
            at.set(at.get() + 7 + at.get() * 7 % 3);
            ((at.get() as f64 / step).floor() * step) as u64
        }
    }

    #[test]
    fn the_step_of_a_coarse_clock_is_found() {
        let whole = steps(coarse(24.0), true).step_ticks;
        assert!((24.0..=25.0).contains(&whole), "{whole}");
        let fraction = steps(coarse(24.45), true).step_ticks;
        assert!((24.0..=25.0).contains(&fraction), "{fraction}");
        assert!(steps(coarse(41.67), false).step_ticks >= 41.67);
        assert_eq!(steps(|| 7, true).step_ticks, f64::INFINITY);
    }

    #[test]
    fn a_clock_that_runs_at_another_speed_does_not_agree() {
        let begun = SystemClock.paired();
        let after = |ticks: u64, milliseconds: u64| Paired {
            ticks: begun.ticks.wrapping_add(ticks),
            system: begun.system + Duration::from_millis(milliseconds),
            took: begun.took,
        };
        let begun = Paired { took: 50, ..begun };
        assert!(agrees(&begun, &after(10_000_000, 10), 1.0));
        assert!(agrees(&begun, &after(10_090_000, 10), 1.0));
        assert!(!agrees(&begun, &after(10_200_000, 10), 1.0));
        assert!(!agrees(&begun, &after(0, 10), 1.0));
        assert_eq!(length(&begun, &after(0, 10)), f64::INFINITY);
        assert!(!agrees(&begun, &after(0, 10), f64::INFINITY));
        assert!(!agrees(&begun, &after(10_000_000, 10), f64::NAN));
    }

    #[test]
    fn grids_are_told_from_none() {
        let mut random = Random::new(3);
        let mut differences = |step: f64, count: usize| {
            let mut all: Vec<u64> = (0..count)
                .map(|_| {
                    ((step * (1 + random.below((600.0 / step) as usize)) as f64).floor() as u64)
                        .max(25)
                })
                .collect();
            all.sort_unstable();
            all
        };
        assert_eq!(grid(&differences(1.0, 1800), 25), 4.0);
        let found = grid(&differences(36.36, 1800), 36);
        assert!((found / 36.36 - 1.0).abs() < 0.02, "{found}");
        assert_eq!(grid(&[], 25), 26.0);
        // Half on a grid of 20, half on none: not sure.
        let mut mixed = differences(20.0, 900);
        mixed.extend(differences(1.0, 900));
        mixed.sort_unstable();
        assert_eq!(grid(&mixed, 25), 26.0);
        assert_eq!(grid(&[48, 96, 120], 3), 24.0);
    }

    #[test]
    fn the_clock_of_this_machine_agrees_with_that_of_the_system() {
        let facts = SystemClock.facts();
        assert!(facts.step_ticks >= 1.0 && facts.reading_ticks >= 1.0);
        println!("{facts:?}");
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
