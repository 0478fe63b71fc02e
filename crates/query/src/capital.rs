//! The capital of bets against one claim: several attackers bet side by side, and all that they bet on is kept, so
//! that other claims can be judged by the same rules afterwards.

use leakgauge_stats::product_bets::{Allowed, Bet, Counts, best_bet};

/// Rows that past counts are drawn together by, before the bet on them is chosen. With fewer a bet on the first dozens
/// of rows loses, with more it is timid.
const DRAWN: f64 = 4.0;

/// The bet that past rows in these cells suggest.
pub(crate) fn bet_on(past: &Counts, allowed: Allowed) -> Bet {
    // Inputs that several pairs share have more rows than their partners: first balanced, else the larger side decides
    // what both are drawn toward.
    best_bet(&past.balanced().drawn_together(DRAWN), allowed)
}

/// Rows judged by one rule.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Segment {
    /// The position of the pair.
    pub pair: usize,
    /// What the bet was against.
    pub allowed: Allowed,
    /// Rows of the past in the rule's cells.
    pub past: Counts,
    /// Rows judged.
    pub seen: Counts,
}

impl Segment {
    /// What the rows judged would have made of a unit of capital against another claim.
    pub fn ln_growth_against(&self, allowed: Allowed) -> f64 {
        bet_on(&self.past, allowed).ln_growth(&self.seen)
    }
}

/// One attacker's part of the capital.
#[derive(Debug, Clone)]
pub(crate) struct Part {
    /// ln of its share at the beginning.
    pub ln_share: f64,
    /// ln of what a unit of it has become.
    pub ln_growth: f64,
    pub segments: Vec<Segment>,
}

/// The parts of all attackers. Their sum begins at 1.
#[derive(Debug, Clone)]
pub(crate) struct Capital {
    pub parts: Vec<Part>,
    /// The largest ln of the sum so far.
    pub ln_largest: f64,
}

impl Capital {
    /// Parts with these shares, which sum to 1.
    pub fn new(shares: &[f64]) -> Self {
        let parts = shares.iter().map(|share| Part {
            ln_share: share.ln(),
            ln_growth: 0.0,
            segments: Vec::new(),
        });
        Capital {
            parts: parts.collect(),
            ln_largest: 0.0,
        }
    }

    /// Looks at the sum, if it can have reached `ln_wanted` or `always`; whether it has.
    #[inline]
    pub fn look(&mut self, ln_wanted: f64, always: bool) -> bool {
        let most = self
            .parts
            .iter()
            .fold(f64::NEG_INFINITY, |most, part| most.max(part.ln_growth));
        // The sum is at most the largest, as shares sum to 1.
        if most < ln_wanted && !always {
            return false;
        }
        let sum = ln_sum(self.parts.iter().map(|part| part.ln_share + part.ln_growth));
        self.ln_largest = self.ln_largest.max(sum);
        sum >= ln_wanted
    }

    /// ln of what all parts would have become against another claim, by the same rules and bets on the same past.
    pub fn ln_against(&self, allowed: Allowed) -> f64 {
        ln_sum(self.parts.iter().map(|part| {
            let grown = part
                .segments
                .iter()
                .map(|segment| segment.ln_growth_against(allowed));
            part.ln_share + grown.sum::<f64>()
        }))
    }

    /// Joins neighboring segments that were bet on alike, so that their number stays small.
    pub fn begin(&mut self, part: usize, segment: Segment) {
        let segments = &mut self.parts[part].segments;
        if let Some(last) = segments.last_mut().filter(|last| last.seen.total() == 0.0) {
            *last = segment;
        } else {
            segments.push(segment);
        }
    }
}

/// ln Σ e^x.
pub(crate) fn ln_sum(terms: impl Iterator<Item = f64> + Clone) -> f64 {
    let most = terms.clone().fold(f64::NEG_INFINITY, f64::max);
    if most == f64::NEG_INFINITY {
        return most;
    }
    most + terms.map(|term| (term - most).exp()).sum::<f64>().ln()
}

/// The largest value of a grid such that the capital refutes all values up to it; `None` if it does not refute the
/// first. If that exceeds the truth, the value of the grid next above the truth was refuted, which is true too and was
/// fixed beforehand: the probability is that of one test, at every time.
pub(crate) fn largest_refuted(
    capital: &Capital,
    grid: impl Iterator<Item = f64>,
    allowed: impl Fn(f64) -> Allowed,
    ln_wanted: f64,
) -> Option<f64> {
    grid.take_while(|&value| capital.ln_against(allowed(value)) >= ln_wanted)
        .last()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counts(first: [f64; 3], second: [f64; 3]) -> Counts {
        Counts { first, second }
    }

    #[test]
    fn limits_are_those_values_that_rows_refute() {
        let mut capital = Capital::new(&[0.5, 0.5]);
        // Randomized response at ε = 1.2.
        let past = counts([77.0, 0.0, 23.0], [23.0, 0.0, 77.0]);
        let seen = counts([769.0, 0.0, 231.0], [231.0, 0.0, 769.0]);
        let allowed = Allowed::privacy(1.0, 0.0);
        capital.begin(
            0,
            Segment {
                pair: 0,
                allowed,
                past,
                seen,
            },
        );
        let grid = || (0..300).map(|step| 0.01 * f64::from(step));
        let privacy = |epsilon: f64| Allowed::privacy(epsilon, 0.0);
        let epsilon = largest_refuted(&capital, grid(), privacy, 20f64.ln()).unwrap();
        assert!(epsilon > 1.0 && epsilon < 1.2, "{epsilon}");
        let variation = largest_refuted(&capital, grid(), Allowed::total_variation, 20f64.ln());
        assert!((0.48..0.538).contains(&variation.unwrap()), "{variation:?}");
        assert_eq!(
            largest_refuted(&Capital::new(&[1.0]), grid(), privacy, 20f64.ln()),
            None
        );
    }

    #[test]
    fn the_sum_is_looked_at_where_it_may_be_large_enough() {
        let mut capital = Capital::new(&[0.25, 0.75]);
        capital.parts[0].ln_growth = 5.0;
        assert!(capital.look(3.0, false) && !capital.look(4.0, true));
        let sum = 0.25 * 5f64.exp() + 0.75;
        assert!((capital.ln_largest - sum.ln()).abs() < 1e-12);
    }
}
