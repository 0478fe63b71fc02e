//! Which attackers bet, and with which share of the capital.

use crate::attackers::Kind;

/// Columns of numbers with a threshold of their own at most.
pub const MAX_COLUMNS: usize = 8;
/// What a threshold has where an output is one number, and a distance from the middle.
const THRESHOLD: f64 = 10.0;
const DISTANCE: f64 = 3.0;
/// What a threshold in the middle of the values has.
const WINDOW: f64 = 4.0;
/// What learned attacks have where an output is one number or one label. Until they are learned,
/// they bet as the threshold or distance that promises most.
const LEARNED: f64 = 10.0;

/// What outputs are like.
#[derive(Debug, Clone, Copy)]
pub struct Shape<'a> {
    /// The columns of numbers, each with whether its low bits are looked at.
    pub numbers: &'a [(usize, bool)],
    /// Whether there is one column.
    pub is_alone: bool,
    /// Whether the first outputs repeat.
    pub recurs: bool,
    /// Whether attacks are learned where there is one column; where there are several they always are.
    pub is_learned_alone: bool,
}

/// The attackers for outputs of a shape with their shares, which sum to 1.
pub fn of(shape: Shape) -> (Vec<Kind>, Vec<f64>) {
    let numbers = &shape.numbers[..shape.numbers.len().min(MAX_COLUMNS)];
    let mut all: Vec<(Kind, f64)> = Vec::new();
    for &(column, bits) in numbers {
        let share = if shape.is_alone { THRESHOLD } else { 1.0 };
        all.push((Kind::Threshold { column }, share));
        if shape.is_alone {
            all.push((Kind::Distance { column }, DISTANCE));
            all.push((Kind::Window { column }, WINDOW));
            all.push((Kind::Bins { column }, 1.0));
        }
        if bits {
            all.push((Kind::Bits { column }, 1.0));
        }
    }
    // Numbers that did not repeat so far will seldom.
    let values = match (numbers.is_empty(), shape.recurs) {
        (true, _) => 4.0,
        (false, true) => 1.0,
        (false, false) => 0.2,
    };
    all.push((Kind::Values, values));
    if !shape.is_alone {
        all.push((Kind::Learned, all.iter().map(|kind| kind.1).sum()));
    } else if shape.is_learned_alone {
        all.push((Kind::Learned, LEARNED));
    }
    let total: f64 = all.iter().map(|kind| kind.1).sum();
    all.into_iter()
        .map(|(kind, share)| (kind, share / total))
        .unzip()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_of_one_capital() {
        for numbers in [&[][..], &[(0, false)], &[(0, true), (2, false)]] {
            for (is_alone, is_learned_alone) in [(true, false), (true, true), (false, false)] {
                let shape = Shape {
                    numbers,
                    is_alone,
                    recurs: true,
                    is_learned_alone,
                };
                let (kinds, shares) = of(shape);
                assert!((shares.iter().sum::<f64>() - 1.0).abs() < 1e-12);
                assert_eq!(
                    kinds.contains(&Kind::Learned),
                    is_learned_alone || !is_alone
                );
            }
        }
    }
}
