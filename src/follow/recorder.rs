//! Some of the times of a secret, spread evenly over the blocks so far, which show the step of the clock.

use leakgauge_stats::clock::{Clock, Recorded};

/// Times that are kept at most; then every second is dropped.
const MOST: usize = 4096;

/// Times of one secret.
#[derive(Default)]
pub(super) struct Recorder {
    kept: Vec<f64>,
    seen: usize,
    /// One time in 2^this is kept.
    halvings: u32,
}

impl Recorder {
    pub fn push(&mut self, time: f64) {
        if self.seen.is_multiple_of(1 << self.halvings) {
            self.kept.push(time);
        }
        self.seen += 1;
        if self.kept.len() == MOST {
            let mut at = 0;
            self.kept.retain(|_| {
                at += 1;
                at % 2 == 1
            });
            self.halvings += 1;
        }
    }

    /// The clock by the times of all secrets, with its step if that is known.
    pub fn clock(all: &[Recorder], step: Option<f64>) -> Clock {
        let recorded: Vec<Recorded> = all.iter().map(|one| Recorded::some(&one.kept)).collect();
        let found = Clock::of(&recorded);
        step.map_or(found, |step| found.with_step(step))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_kept_is_spread_over_all_times() {
        let mut recorder = Recorder::default();
        (0..100_000).for_each(|at| recorder.push(f64::from(at)));
        let (kept, step) = (&recorder.kept, f64::from(1 << recorder.halvings));
        assert!(kept.len() < MOST && kept.len() >= MOST / 2);
        assert!(kept.windows(2).all(|two| two[1] - two[0] == step));
        assert_eq!(Recorder::clock(&[recorder], Some(0.5)).step(), 0.5);
    }
}
