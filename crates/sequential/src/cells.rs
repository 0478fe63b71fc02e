//! Where scores are cut into the cells A, middle and B of a rule: chosen on past rows.
//!
//! Nothing here needs to be valid: a bad choice costs samples only.

use crate::product_bets::{Allowed, Counts, approximate_rate};

/// Cuts that are tried at either end at most.
const CUTS: usize = 200;
/// Rows that a rate is moved by toward what both inputs have there, while cuts are compared: the luckiest cut of few
/// rows must not win.
const CAUTION: f64 = 8.0;

/// Past rows of a pair: their score, large for the first input, and how many rows of either input they count for.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Scored {
    /// Large for the first law.
    pub score: f64,
    /// Rows of the first law.
    pub first: f64,
    /// Rows of the second law.
    pub second: f64,
}

impl Scored {
    /// One row of either input.
    pub fn row(score: f64, is_second: bool) -> Scored {
        let second = f64::from(u8::from(is_second));
        Scored {
            score,
            first: 1.0 - second,
            second,
        }
    }
}

/// Scores at least `above` are A, of the others those at most `below` are B, the rest and NaN are the middle.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Cuts {
    /// The least score of A.
    pub above: f64,
    /// The largest score of B.
    pub below: f64,
}

impl Cuts {
    /// 0 for A, 1 for the middle, 2 for B.
    #[inline]
    pub fn cell(&self, score: f64) -> usize {
        if score >= self.above {
            0
        } else if score <= self.below {
            2
        } else {
            1
        }
    }

    /// The rows in each cell.
    pub fn counts(&self, scored: &[Scored]) -> Counts {
        let mut counts = Counts::default();
        for rows in scored {
            let cell = self.cell(rows.score);
            counts.first[cell] += rows.first;
            counts.second[cell] += rows.second;
        }
        counts
    }
}

/// The cuts that promise the fastest growth against a claim, and about how fast: nats for a row of each.
/// `sorted` is in ascending order of score, without NaN; `rows` are both inputs' rows with those.
pub fn choose(sorted: &[Scored], rows: [f64; 2], allowed: Allowed) -> (Cuts, f64) {
    let top = best_end(sorted.iter().rev().copied(), sorted.len(), rows, allowed);
    let swapped = sorted.iter().map(|rows| Scored {
        score: rows.score,
        first: rows.second,
        second: rows.first,
    });
    let bottom = best_end(swapped, sorted.len(), [rows[1], rows[0]], allowed);
    let (mut above, mut below) = (
        top.map_or(f64::INFINITY, |end| end.0),
        bottom.map_or(f64::NEG_INFINITY, |end| end.0),
    );
    let gain = |end: Option<(f64, f64)>| end.map_or(0.0, |end| end.1);
    // Where both ends want the same rows, the one that gains more has them.
    if below >= above {
        if gain(top) >= gain(bottom) {
            below = above.next_down();
        } else {
            above = below.next_up();
        }
    }
    (Cuts { above, below }, gain(top) + gain(bottom))
}

/// As [`choose`], but where rows within the claim promise no growth, the cuts against a weaker claim: such rows still
/// say how much of it is used.
pub fn choose_always(sorted: &[Scored], rows: [f64; 2], allowed: Allowed) -> (Cuts, f64) {
    let (cuts, rate) = choose(sorted, rows, allowed);
    if rate > 0.0 {
        return (cuts, rate);
    }
    (choose_wide(sorted, rows, allowed), rate)
}

/// The cuts against a weaker claim, at the first of two at which there is something to see.
pub fn choose_wide(sorted: &[Scored], rows: [f64; 2], allowed: Allowed) -> Cuts {
    let part = |part: f64| Allowed {
        weight: allowed.weight.powf(part),
        delta: part * allowed.delta,
    };
    let (cuts, rate) = choose(sorted, rows, part(0.5));
    if rate > 0.0 {
        return cuts;
    }
    choose(sorted, rows, part(0.0)).0
}

/// The best cut from one end, halfway between two scores, and its rate; `None` if none gains.
fn best_end(
    from_end: impl Iterator<Item = Scored>,
    len: usize,
    rows: [f64; 2],
    allowed: Allowed,
) -> Option<(f64, f64)> {
    let stride = len / CUTS + 1;
    let [mut own, mut others] = [0.0; 2];
    let mut best: Option<(f64, f64)> = None;
    let mut scores = from_end.enumerate().peekable();
    while let Some((
        at,
        Scored {
            score,
            first,
            second,
        },
    )) = scores.next()
    {
        own += first;
        others += second;
        let Some(&(_, Scored { score: next, .. })) = scores.peek() else {
            break;
        };
        if next == score || (at % stride != 0 && at > CUTS / 2) {
            continue;
        }
        let share = (own + others) / (rows[0] + rows[1]);
        let rate = |count: f64, rows: f64| (count + CAUTION * share) / (rows + CAUTION);
        let gain = approximate_rate(rate(own, rows[0]), rate(others, rows[1]), allowed);
        if gain > best.map_or(0.0, |best| best.1) {
            best = Some((0.5 * score + 0.5 * next, gain));
        }
    }
    best
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 40 rows of each: the top 20 are of the first, the lowest 20 of the second.
    #[test]
    fn both_ends_are_cut_where_they_tell_most() {
        let mut scored: Vec<Scored> = (0..20).map(|i| Scored::row(f64::from(i), true)).collect();
        scored.extend((20..60).map(|i| Scored::row(f64::from(i), i % 2 == 0)));
        scored.extend((60..80).map(|i| Scored::row(f64::from(i), false)));
        let (cuts, rate) = choose(&scored, [40.0, 40.0], Allowed::privacy(1.0, 0.0));
        assert!((19.0..22.0).contains(&cuts.below), "{cuts:?}");
        assert!((57.0..60.0).contains(&cuts.above), "{cuts:?}");
        assert!(rate > 0.05);
        let counts = cuts.counts(&scored);
        assert!(counts.first[0] >= 20.0 && counts.second[2] >= 20.0);
        assert_eq!(cuts.cell(f64::NAN), 1);
    }

    #[test]
    fn rows_within_the_claim_are_not_cut() {
        let scored: Vec<Scored> = (0..80)
            .map(|i| Scored::row(f64::from(i), i % 2 == 0))
            .collect();
        let (cuts, rate) = choose(&scored, [40.0, 40.0], Allowed::privacy(1.0, 0.0));
        assert!(rate < 0.01, "{rate}");
        assert!(cuts.above > 77.0 && cuts.below < 2.0, "{cuts:?}");
    }
}
