//! Do outputs repeat as those of a generator that is seeded afresh at every call?

use crate::samples::Samples;

/// Outputs at the beginning of a call that are compared.
const COMPARED: usize = 4;

/// What calls have in common.
#[derive(Debug)]
pub(crate) struct Repeats {
    /// For each input, the first outputs of its latest call.
    starts: Vec<Vec<u64>>,
    calls: u64,
    alike: u64,
}

impl Repeats {
    pub fn new(inputs: usize) -> Self {
        Repeats {
            starts: vec![Vec::new(); inputs],
            calls: 0,
            alike: 0,
        }
    }

    /// Compares the first outputs of draws with those of the draws of the same input before.
    pub fn look(&mut self, samples: &Samples, draws: &[(usize, usize)], first: u32) {
        let mut row = first;
        for &(input, count) in draws {
            let start: Vec<u64> = (row..row + count.min(COMPARED) as u32)
                .map(|row| samples.key_bits(row))
                .collect();
            row += count as u32;
            let before = std::mem::replace(&mut self.starts[input], start);
            let shared = before.len().min(self.starts[input].len());
            if shared == COMPARED {
                self.calls += 1;
                let differ = before.windows(2).any(|two| two[0] != two[1]);
                self.alike += u64::from(differ && before == self.starts[input]);
            }
        }
    }

    /// Whether calls begin with the same outputs, though these differ within a call.
    pub fn begin_alike(&self) -> bool {
        self.calls >= 4 && 2 * self.alike > self.calls
    }
}
