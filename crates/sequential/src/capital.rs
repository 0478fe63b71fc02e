//! The capital of bets against one claim: several attackers bet side by side, and all that they bet on is kept, so
//! that other claims can be judged by the same rules afterwards.

use crate::product_bets::{
    Allowed, Bet, Counts, LnFactors, Meeting, Met, best_bet, ln_growth, rows_of,
};

/// Rows that past counts are drawn together by, before the bet on them is chosen. With fewer a bet on the first dozens
/// of rows loses, with more it is timid.
const DRAWN: f64 = 4.0;
/// What noise adds to the χ² of past counts: two degrees of freedom, and one for cuts that were chosen by the same rows.
const NOISE: f64 = 3.0;
/// The part of a difference that is left at least.
const LEAST_KEPT: f64 = 0.01;

/// The bet that past rows in these cells suggest.
///
/// Differences of the two laws are shrunk as James and Stein (1961) do, by the part 1 − 3/χ² that noise leaves: bets on the
/// differences of noise lose more than is won until a small leak is known. Leaks that hundreds of rows show are refuted after
/// half of the rows that bets without it need; those that fifty rows show after an eighth more.
pub fn bet_on(past: &Counts, allowed: Allowed, meeting: Meeting) -> Bet {
    // Inputs that several pairs share have more rows than their partners: first balanced, else the larger side decides
    // what both are drawn toward.
    let past = past.balanced();
    let rows = 0.5 * (past.first.iter().sum::<f64>() + past.second.iter().sum::<f64>());
    let kept = (1.0 - NOISE / past.chi_squared()).max(LEAST_KEPT);
    let drawn = (rows * (1.0 - kept) / kept).max(DRAWN);
    best_bet(&past.drawn_together(drawn), allowed, meeting)
}

/// Rows judged by one rule.
#[derive(Debug, Clone, Copy)]
pub struct Segment {
    /// The number of the pair of laws.
    pub pair: usize,
    /// What the bet was against.
    pub allowed: Allowed,
    /// Rows of the past in the rule's cells.
    pub past: Counts,
    /// The pairs of rows that were judged.
    pub met: Met,
}

impl Segment {
    /// The factors of a bet on the same past against another claim.
    pub fn factors_against(&self, allowed: Allowed, meeting: Meeting) -> LnFactors {
        bet_on(&self.past, allowed, meeting).ln_factors(meeting)
    }

    /// Whether no rows were judged.
    pub fn is_empty(&self) -> bool {
        self.met.iter().flatten().all(|&pairs| pairs == 0.0)
    }

    /// The rows of either law that were judged.
    pub fn seen(&self) -> Counts {
        rows_of(&self.met)
    }
}

/// One attacker's part of the capital.
#[derive(Debug, Clone)]
pub struct Part {
    /// ln of its share at the beginning.
    pub ln_share: f64,
    /// ln of what a unit of it has become.
    pub ln_growth: f64,
    /// What it bet on.
    pub segments: Vec<Segment>,
}

/// The parts of all attackers. Their sum begins at 1.
#[derive(Debug, Clone)]
pub struct Capital {
    /// The parts.
    pub parts: Vec<Part>,
    /// How rows meet.
    pub meeting: Meeting,
    /// The largest ln of the sum so far.
    pub ln_largest: f64,
}

impl Capital {
    /// Parts with these shares, which sum to 1.
    pub fn new(shares: &[f64], meeting: Meeting) -> Self {
        let parts = shares.iter().map(|share| Part {
            ln_share: share.ln(),
            ln_growth: 0.0,
            segments: Vec::new(),
        });
        Capital {
            parts: parts.collect(),
            meeting,
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

    /// Looks at the sum, in which one part may count nothing.
    pub fn look_without(&mut self, part: Option<usize>) {
        let counted = self.parts.iter().enumerate();
        let counted = counted.filter(|(at, _)| Some(*at) != part);
        let sum = ln_sum(counted.map(|(_, part)| part.ln_share + part.ln_growth));
        self.ln_largest = self.ln_largest.max(sum);
    }

    /// ln of what all parts would have become against another claim, by the same rules and bets on the same past.
    pub fn ln_against(&self, allowed: Allowed) -> f64 {
        ln_sum(self.parts.iter().map(|part| {
            let judged = part.segments.iter().filter(|segment| !segment.is_empty());
            let grown = judged.map(|segment| {
                let factors = segment.factors_against(allowed, self.meeting);
                ln_growth(&factors, &segment.met)
            });
            part.ln_share + grown.sum::<f64>()
        }))
    }

    /// Begins a segment of a part, in place of the segment at `before` if that judged nothing. Returns its position.
    pub fn begin(&mut self, part: usize, before: Option<usize>, segment: Segment) -> usize {
        let segments = &mut self.parts[part].segments;
        match before.filter(|&at| segments[at].is_empty()) {
            Some(at) => {
                segments[at] = segment;
                at
            }
            None => {
                segments.push(segment);
                segments.len() - 1
            }
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
pub fn largest_refuted(
    capital: &Capital,
    grid: impl Iterator<Item = f64>,
    allowed: impl Fn(f64) -> Allowed,
    ln_wanted: f64,
) -> Option<f64> {
    grid.take_while(|&value| capital.ln_against(allowed(value)) >= ln_wanted)
        .last()
}

/// A limit that rises along a grid: the largest value such that each up to it was refuted at some time.
///
/// As [`largest_refuted`], at all times together, and with what was computed kept: only rows that came since the last time
/// cost anything while the limit stays.
#[derive(Debug, Clone)]
pub struct Ascent {
    next: usize,
    /// For each part the factors of its segments against the next value, of those that judged rows.
    factors: Vec<Vec<Option<LnFactors>>>,
}

impl Ascent {
    /// Nothing is refuted.
    pub fn new(parts: usize) -> Self {
        Ascent {
            next: 0,
            factors: vec![Vec::new(); parts],
        }
    }

    /// The position on the grid of the first value that is not refuted.
    pub fn next(&self) -> usize {
        self.next
    }

    /// Goes on as far as the capital refutes now; `grid` has the values by position, until it ends.
    pub fn climb(
        &mut self,
        capital: &Capital,
        grid: impl Fn(usize) -> Option<Allowed>,
        ln_wanted: f64,
    ) {
        while let Some(allowed) = grid(self.next) {
            if self.ln_against(capital, allowed) < ln_wanted {
                return;
            }
            self.next += 1;
            self.factors.iter_mut().for_each(Vec::clear);
        }
    }

    fn ln_against(&mut self, capital: &Capital, allowed: Allowed) -> f64 {
        let parts = capital.parts.iter().zip(&mut self.factors);
        let grown = parts.map(|(part, known)| {
            known.resize(part.segments.len(), None);
            let segments = part.segments.iter().zip(known);
            let judged = segments.filter(|(segment, _)| !segment.is_empty());
            let grown = judged.map(|(segment, known)| {
                let factors =
                    known.get_or_insert_with(|| segment.factors_against(allowed, capital.meeting));
                ln_growth(factors, &segment.met)
            });
            part.ln_share + grown.sum::<f64>()
        });
        let grown: Vec<f64> = grown.collect();
        ln_sum(grown.into_iter())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn capital_of_randomized_response() -> Capital {
        let mut capital = Capital::new(&[0.5, 0.5], Meeting::Independent);
        // Randomized response at ε = 1.2.
        let segment = Segment {
            pair: 0,
            allowed: Allowed::privacy(1.0, 0.0),
            past: Counts {
                first: [77.0, 0.0, 23.0],
                second: [23.0, 0.0, 77.0],
            },
            met: [[177.0, 0.0, 592.0], [0.0; 3], [53.0, 0.0, 178.0]],
        };
        capital.begin(0, None, segment);
        capital
    }

    #[test]
    fn limits_are_those_values_that_rows_refute() {
        let capital = capital_of_randomized_response();
        let grid = || (0..300).map(|step| 0.01 * f64::from(step));
        let privacy = |epsilon: f64| Allowed::privacy(epsilon, 0.0);
        let epsilon = largest_refuted(&capital, grid(), privacy, 20f64.ln()).unwrap();
        assert!(epsilon > 1.0 && epsilon < 1.2, "{epsilon}");
        let variation = largest_refuted(&capital, grid(), Allowed::total_variation, 20f64.ln());
        assert!((0.46..0.538).contains(&variation.unwrap()), "{variation:?}");
        let none = Capital::new(&[1.0], Meeting::Independent);
        assert_eq!(largest_refuted(&none, grid(), privacy, 20f64.ln()), None);
    }

    /// Looked at after every tenth of the rows, each in a segment of its own that first stands empty.
    #[test]
    fn an_ascent_ends_where_all_values_up_to_it_are_refuted() {
        let segment = capital_of_randomized_response().parts[0].segments[0];
        let privacy = |epsilon: f64| Allowed::privacy(epsilon, 0.0);
        let grid = |at: usize| (at < 300).then(|| privacy(0.01 * at as f64));
        let mut capital = Capital::new(&[0.5, 0.5], Meeting::Independent);
        let mut ascent = Ascent::new(2);
        let mut largest = 0.0f64;
        for _ in 0..10 {
            let met = segment
                .met
                .map(|row| row.map(|pairs| (pairs / 10.0).floor()));
            let empty = Segment {
                past: Counts::default(),
                met: [[0.0; 3]; 3],
                ..segment
            };
            let at = capital.begin(0, None, empty);
            ascent.climb(&capital, grid, 20f64.ln());
            assert_eq!(capital.begin(0, Some(at), Segment { met, ..segment }), at);
            ascent.climb(&capital, grid, 20f64.ln());
            let values = (0..300).map(|at| 0.01 * f64::from(at));
            let now = largest_refuted(&capital, values, privacy, 20f64.ln());
            largest = largest.max(now.unwrap_or(0.0));
        }
        assert_eq!(capital.parts[0].segments.len(), 10);
        let found = 0.01 * (ascent.next() as f64 - 1.0);
        assert!(
            largest > 1.0 && (found - largest).abs() < 1e-9,
            "{found} {largest}"
        );
    }

    #[test]
    fn the_sum_is_looked_at_where_it_may_be_large_enough() {
        let mut capital = Capital::new(&[0.25, 0.75], Meeting::Independent);
        capital.parts[0].ln_growth = 5.0;
        assert!(capital.look(3.0, false) && !capital.look(4.0, true));
        let sum = 0.25 * 5f64.exp() + 0.75;
        assert!((capital.ln_largest - sum.ln()).abs() < 1e-12);
    }
}
