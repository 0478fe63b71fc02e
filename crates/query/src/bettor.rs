//! Who bets against one claim: the rules of the pair that is judged now, one an attacker, and the capital.

use leakgauge_stats::product_bets::{Allowed, Bet, Counts};

use crate::attackers::{Kind, Past, Scoring, learn};
use crate::capital::{Capital, Segment, bet_on};
use crate::cells::{Cuts, Scored, choose, choose_wide};
use crate::model::Model;
use crate::samples::Samples;

/// Rows of each input that rules are chosen on at most: the latest.
const MAX_LEARNED: usize = 20_000;

/// A rule with its bet.
#[derive(Debug, Clone)]
struct Rule {
    scoring: Scoring,
    cuts: Cuts,
    /// ln of the factors of a row of either input, by cell.
    ln_first: [f64; 3],
    ln_second: [f64; 3],
}

/// The past of a pair, for all claims alike: what every attacker makes of it.
pub(crate) struct Lessons {
    by_kind: Vec<Vec<(Scoring, Vec<Scored>)>>,
    rows: [f64; 2],
}

impl Lessons {
    /// What the attackers learn from these rows of the inputs `a` and `b`, the latest of them.
    pub fn new(
        kinds: &[Kind],
        samples: &Samples,
        model: &Model,
        (a, b): (usize, usize),
        (first, second): (&[u32], &[u32]),
    ) -> Lessons {
        let latest = |rows: usize| rows.saturating_sub(MAX_LEARNED);
        let past = Past {
            samples,
            first: &first[latest(first.len())..],
            second: &second[latest(second.len())..],
        };
        let by_kind = kinds.iter().map(|&kind| match kind {
            Kind::Learned => {
                let past = model.past(a, b);
                past.into_iter()
                    .map(|scored| (Scoring::Model, scored))
                    .collect()
            }
            kind => learn(kind, past),
        });
        Lessons {
            by_kind: by_kind.collect(),
            rows: [past.first.len(), past.second.len()].map(|rows| rows as f64),
        }
    }

    /// The rule of an attacker that promises most against a claim, and about how fast it grows: nats for a row of
    /// each input.
    fn best(
        &self,
        kind: usize,
        allowed: &[Allowed],
    ) -> Option<(Allowed, &Scoring, Cuts, Counts, f64)> {
        let mut best: Option<(Allowed, &Scoring, Cuts, &[Scored], f64)> = None;
        for &against in allowed {
            for (scoring, scored) in &self.by_kind[kind] {
                // Rows that say nothing are in the middle cell.
                let (cuts, rate) = choose(scored, self.rows_of(scored), against);
                if best.as_ref().is_none_or(|best| rate > best.4) {
                    best = Some((against, scoring, cuts, scored, rate));
                }
            }
        }
        let (against, scoring, mut cuts, scored, rate) = best?;
        if rate == 0.0 {
            cuts = choose_wide(scored, self.rows_of(scored), against);
        }
        Some((against, scoring, cuts, self.counts(cuts, scored), rate))
    }

    /// The rows in the cells of a rule; those that say nothing are in the middle.
    fn counts(&self, cuts: Cuts, scored: &[Scored]) -> Counts {
        let mut counts = cuts.counts(scored);
        let rows = self.rows_of(scored);
        for (count, rows) in [(&mut counts.first, rows[0]), (&mut counts.second, rows[1])] {
            count[1] += (rows - count.iter().sum::<f64>()).max(0.0);
        }
        counts
    }

    /// Where an attacker would look for a leak: the rows in the cells against a weaker claim, and how many different
    /// scores there are, at the scoring that speaks of most rows.
    pub fn cells(&self, kind: usize, allowed: Allowed) -> Option<(Counts, usize)> {
        let cells = self.by_kind[kind].iter().map(|(_, scored)| {
            let cuts = choose_wide(scored, self.rows_of(scored), allowed);
            let scores = scored.windows(2).filter(|two| two[0].score != two[1].score);
            (self.counts(cuts, scored), scores.count() + 1)
        });
        let silent = |counts: &Counts| counts.first[1] + counts.second[1];
        cells.min_by(|x, y| silent(&x.0).total_cmp(&silent(&y.0)))
    }

    /// Rows of either input: those scored by a model are fewer or more than those that others learn from.
    fn rows_of(&self, scored: &[Scored]) -> [f64; 2] {
        let first = scored.iter().map(|rows| rows.first).sum::<f64>();
        let second = scored.iter().map(|rows| rows.second).sum::<f64>();
        [self.rows[0].max(first), self.rows[1].max(second)]
    }

    /// About how fast the best bet against a claim grows.
    pub fn rate(&self, allowed: &[Allowed]) -> f64 {
        let kinds = 0..self.by_kind.len();
        let rates = kinds
            .filter_map(|kind| self.best(kind, allowed))
            .map(|best| best.4);
        rates.fold(0.0, f64::max)
    }
}

/// The bets against one claim.
#[derive(Debug)]
pub(crate) struct Bettor {
    pub capital: Capital,
    rules: Vec<Option<Rule>>,
    /// ln of 1/α.
    pub ln_wanted: f64,
}

impl Bettor {
    /// Attackers with these shares of the capital bet at this error probability.
    pub fn new(shares: &[f64], alpha: f64) -> Self {
        Bettor {
            capital: Capital::new(shares),
            rules: vec![None; shares.len()],
            ln_wanted: -alpha.ln(),
        }
    }

    /// From the next row on, rules learned from the past judge the pair at this position.
    pub fn change_rules(&mut self, pair: usize, lessons: &Lessons, allowed: &[Allowed]) {
        for kind in 0..self.rules.len() {
            self.rules[kind] =
                lessons
                    .best(kind, allowed)
                    .map(|(allowed, scoring, cuts, past, _)| {
                        let bet: Bet = bet_on(&past, allowed);
                        let seen = Counts::default();
                        self.capital.begin(
                            kind,
                            Segment {
                                pair,
                                allowed,
                                past,
                                seen,
                            },
                        );
                        Rule {
                            scoring: scoring.clone(),
                            cuts,
                            ln_first: bet.first.map(f64::ln),
                            ln_second: bet.second.map(f64::ln),
                        }
                    });
        }
    }

    /// Judges a row of either input. Whether the claim is refuted.
    #[inline]
    pub fn judge(
        &mut self,
        samples: &Samples,
        model: &Model,
        pair: (usize, usize),
        rows: (u32, u32),
    ) -> bool {
        for (kind, rule) in self.rules.iter().enumerate() {
            let Some(rule) = rule else { continue };
            let cell = |row: u32| {
                let score = match rule.scoring {
                    Scoring::Model => model.difference(row, pair.0, pair.1),
                    ref scoring => scoring.score(samples, row),
                };
                rule.cuts.cell(score)
            };
            let (first, second) = (cell(rows.0), cell(rows.1));
            let part = &mut self.capital.parts[kind];
            part.ln_growth += rule.ln_first[first] + rule.ln_second[second];
            if let Some(segment) = part.segments.last_mut() {
                segment.seen.add(false, first);
                segment.seen.add(true, second);
            }
        }
        self.capital.look(self.ln_wanted, false)
    }
}
