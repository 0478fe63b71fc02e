//! The measurements of a log in blocks, secret by secret.

use std::borrow::Cow;

use leakgauge_base::parallel;
use leakgauge_log::UnitRows;
use leakgauge_log::observations::Observations;
use leakgauge_stats::paired::{Times, sorted};

/// The measurements of every secret, in the order of the blocks.
#[derive(Debug)]
pub struct Measurements {
    /// The numbers of all blocks, ascending.
    blocks: Vec<u32>,
    of_secrets: Vec<OfSecret>,
}

#[derive(Debug)]
struct OfSecret {
    /// The numbers of its blocks, ascending; `None` where it is in every block, which takes no memory then.
    blocks: Option<Vec<u32>>,
    values: Vec<f64>,
}

/// The measurements of two secrets in the blocks that have both.
#[derive(Debug)]
pub struct InBoth<'a> {
    /// The numbers of these blocks, ascending.
    pub blocks: Cow<'a, [u32]>,
    /// The measurements of either secret.
    pub times: [Times<'a>; 2],
}

impl Measurements {
    /// The measurements of blocks that have each of so many secrets once at most, each a number of its own.
    pub fn new(rows: &UnitRows, observations: &Observations, secrets: usize) -> Self {
        let mut blocks = Vec::with_capacity(rows.len());
        let mut counts = vec![0; secrets];
        for block in rows.units() {
            blocks.push(block[0].unit);
            block
                .iter()
                .for_each(|cell| counts[cell.secret as usize] += 1);
        }
        let whole = blocks.len();
        let empty = |&count: &usize| OfSecret {
            blocks: (count < whole).then(|| Vec::with_capacity(count)),
            values: Vec::with_capacity(count),
        };
        let mut of_secrets: Vec<OfSecret> = counts.iter().map(empty).collect();
        for cell in rows.cells() {
            let secret = &mut of_secrets[cell.secret as usize];
            secret.values.push(observations.numbers(cell.symbol)[0]);
            if let Some(blocks) = &mut secret.blocks {
                blocks.push(cell.unit);
            }
        }
        Measurements { blocks, of_secrets }
    }

    /// The measurements of every secret, sorted.
    pub fn sorted(&self) -> Vec<Vec<f64>> {
        parallel::map(self.of_secrets.len(), |secret| {
            sorted(&self.of_secrets[secret].values)
        })
    }

    /// The measurements of a secret in the order of the blocks.
    pub fn in_order(&self, secret: u32) -> &[f64] {
        &self.of_secrets[secret as usize].values
    }

    /// The measurements of two secrets in the blocks that have both; `sorted` as of [`sorted`](Self::sorted).
    pub fn in_both<'a>(&'a self, pair: [u32; 2], sorted: &'a [Vec<f64>]) -> InBoth<'a> {
        let [a, b] = pair.map(|secret| &self.of_secrets[secret as usize]);
        if a.blocks.is_none() && b.blocks.is_none() {
            let times = pair.map(|secret| secret as usize);
            return InBoth {
                blocks: Cow::Borrowed(&self.blocks),
                times: times.map(|at| Times::with_sorted(&self.of_secrets[at].values, &sorted[at])),
            };
        }
        let of = |secret: &'a OfSecret| {
            let blocks = secret.blocks.as_ref().unwrap_or(&self.blocks);
            blocks.iter().copied().zip(secret.values.iter().copied())
        };
        let (mut blocks, mut x, mut y) = (Vec::new(), Vec::new(), Vec::new());
        let mut others = of(b).peekable();
        for (block, value) in of(a) {
            while others.next_if(|other| other.0 < block).is_some() {}
            if let Some(other) = others.peek().filter(|other| other.0 == block) {
                blocks.push(block);
                x.push(value);
                y.push(other.1);
            }
        }
        InBoth {
            blocks: Cow::Owned(blocks),
            times: [Times::new(x), Times::new(y)],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use leakgauge_log::UnitCell;

    #[test]
    fn pairs_have_the_blocks_that_both_secrets_are_in() {
        // Secrets 0 and 1 are in every block, 2 in every second one, 3 in every third one, 4 in none.
        let secrets =
            |block: u32| (0..4).filter(move |&secret| secret < 2 || block.is_multiple_of(secret));
        let cells = (0..60).flat_map(|unit| {
            secrets(unit).map(move |secret| UnitCell {
                unit,
                symbol: (unit * 7 + secret) % 60,
                secret,
                count: 1,
            })
        });
        let numbers = (0..60).map(f64::from).collect();
        let all = Measurements::new(
            &UnitRows::new(cells.collect()),
            &Observations::of_numbers(1, numbers),
            5,
        );
        let sorted = all.sorted();
        for a in 0..4 {
            for b in a + 1..4 {
                let both = all.in_both([a, b], &sorted);
                let blocks: Vec<u32> = (0..60)
                    .filter(|&block| [a, b].iter().all(|&of| secrets(block).any(|s| s == of)))
                    .collect();
                for (times, secret) in both.times.iter().zip([a, b]) {
                    let values: Vec<f64> = blocks
                        .iter()
                        .map(|block| f64::from((block * 7 + secret) % 60))
                        .collect();
                    assert_eq!(times.in_order(), values);
                    assert!(times.sorted().is_sorted() && times.sorted().len() == values.len());
                }
                assert_eq!(both.blocks, blocks);
            }
        }
        assert!(all.in_both([0, 4], &sorted).blocks.is_empty());
    }
}
