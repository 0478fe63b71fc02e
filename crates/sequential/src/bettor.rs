//! Who bets against one claim: for every pair that is judged the rules that stand, one an attacker, and the capital.

use crate::attackers::{Kind, Past, Scoring, Seen, learn};
use crate::capital::{Capital, Segment, bet_on};
use crate::cells::{Cuts, Scored, choose, choose_wide};
use crate::product_bets::{Allowed, Counts, LnFactors, Meeting};

/// Rows of each law that rules are chosen on at most: the latest.
pub const MAX_LEARNED: usize = 20_000;

/// A rule with its bet.
#[derive(Debug, Clone)]
struct Rule {
    scoring: Scoring,
    cuts: Cuts,
    ln_factors: LnFactors,
    /// Its segment of the attacker's part.
    segment: usize,
}

/// What a rule is made of: the inequality that it is against, scores and cuts, and past rows in its cells.
struct Found<'a> {
    against: Allowed,
    scoring: &'a Scoring,
    cuts: Cuts,
    past: Counts,
    /// About how fast a bet grows: nats for a row of each law.
    rate: f64,
}

/// The attackers whose scores one bets on. A learned attack that has learned nothing yet bets on thresholds, as what it has of
/// the capital would be idle. Bins promise too much to be followed, because their scores were learned from the same rows, and
/// so do values where numbers can be ordered.
fn followed(kinds: &[Kind], kind: usize, has_learned: bool) -> Vec<usize> {
    if kinds[kind] != Kind::Learned || has_learned {
        return vec![kind];
    }
    let has_numbers = kinds
        .iter()
        .any(|kind| matches!(kind, Kind::Threshold { .. }));
    let is_followed = |&other: &usize| match kinds[other] {
        Kind::Threshold { .. } | Kind::Distance { .. } | Kind::Window { .. } | Kind::Learned => {
            true
        }
        Kind::Values => !has_numbers,
        Kind::Bins { .. } | Kind::Bits { .. } => false,
    };
    (0..kinds.len()).filter(is_followed).collect()
}

/// The past of a pair, for all claims alike: what every attacker makes of it.
pub struct Lessons {
    by_kind: Vec<Vec<(Scoring, Vec<Scored>)>>,
    /// For each attacker those whose scores it bets on: its own, and of a learned one others too.
    follows: Vec<Vec<usize>>,
    rows: [f64; 2],
}

impl Lessons {
    /// What the attackers learn from these rows of two laws, the latest of them. [`Kind::Learned`] has the past rows in
    /// ascending order of scores that were learned elsewhere, if there are any.
    pub fn new<S: Seen + ?Sized>(
        kinds: &[Kind],
        seen: &S,
        learned: Option<Vec<Scored>>,
        (first, second): (&[u32], &[u32]),
    ) -> Lessons {
        let latest = |rows: usize| rows.saturating_sub(MAX_LEARNED);
        let past = Past {
            seen,
            first: &first[latest(first.len())..],
            second: &second[latest(second.len())..],
        };
        let has_learned = learned.is_some();
        let mut learned = learned;
        let by_kind = kinds.iter().map(|&kind| match kind {
            Kind::Learned => {
                let scored = learned.take().into_iter();
                scored.map(|scored| (Scoring::Model, scored)).collect()
            }
            kind => learn(kind, past),
        });
        Lessons {
            by_kind: by_kind.collect(),
            follows: (0..kinds.len())
                .map(|kind| followed(kinds, kind, has_learned))
                .collect(),
            rows: [past.first.len(), past.second.len()].map(|rows| rows as f64),
        }
    }

    /// What learned attacks make of past rows, in ascending order of their scores; of no other attacker.
    pub fn of_model(kinds: &[Kind], scored: Vec<Scored>) -> Lessons {
        let mut scored = Some(scored);
        let by_kind = kinds.iter().map(|kind| {
            let of_kind = scored.take_if(|_| *kind == Kind::Learned).into_iter();
            of_kind.map(|scored| (Scoring::Model, scored)).collect()
        });
        Lessons {
            by_kind: by_kind.collect(),
            follows: (0..kinds.len()).map(|kind| vec![kind]).collect(),
            rows: [0.0; 2],
        }
    }

    /// The rule that promises most against a claim, of some attackers.
    fn best(&self, kinds: &[usize], allowed: &[Allowed]) -> Option<Found<'_>> {
        let mut best: Option<(Allowed, &Scoring, Cuts, &[Scored], f64)> = None;
        for &against in allowed {
            let of_kinds = kinds.iter().flat_map(|&kind| &self.by_kind[kind]);
            for (scoring, scored) in of_kinds {
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
        Some(Found {
            against,
            scoring,
            cuts,
            past: self.counts(cuts, scored),
            rate,
        })
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

    /// Rows of either law: those scored by a model are fewer or more than those that others learn from.
    fn rows_of(&self, scored: &[Scored]) -> [f64; 2] {
        let first = scored.iter().map(|rows| rows.first).sum::<f64>();
        let second = scored.iter().map(|rows| rows.second).sum::<f64>();
        [self.rows[0].max(first), self.rows[1].max(second)]
    }

    /// About how fast the best bet against a claim grows: nats for a row of each law.
    pub fn rate(&self, allowed: &[Allowed]) -> f64 {
        let kinds = 0..self.by_kind.len();
        let rates = kinds
            .filter_map(|kind| self.best(&[kind], allowed))
            .map(|found| found.rate);
        rates.fold(0.0, f64::max)
    }
}

/// The bets against one claim.
#[derive(Debug)]
pub struct Bettor {
    /// The capital of all attackers.
    pub capital: Capital,
    /// By place, then by attacker.
    rules: Vec<Vec<Option<Rule>>>,
    /// ln of 1/α.
    pub ln_wanted: f64,
}

impl Bettor {
    /// Attackers with these shares of the capital bet at this error probability.
    pub fn new(shares: &[f64], alpha: f64, meeting: Meeting) -> Self {
        Bettor {
            capital: Capital::new(shares, meeting),
            rules: Vec::new(),
            ln_wanted: -alpha.ln(),
        }
    }

    /// From the next row on, rules learned from the past judge the pair with this number, which is judged at this place
    /// of several; those of the attackers that `is_due` names. Others stand as they do.
    pub fn change_rules(
        &mut self,
        (place, pair): (usize, usize),
        lessons: &Lessons,
        allowed: &[Allowed],
        is_due: impl Fn(usize) -> bool,
    ) {
        let kinds = self.capital.parts.len();
        if self.rules.len() <= place {
            self.rules.resize_with(place + 1, || vec![None; kinds]);
        }
        let meeting = self.capital.meeting;
        for kind in (0..kinds).filter(|&kind| is_due(kind)) {
            let rule = &mut self.rules[place][kind];
            let before = rule.take().map(|rule| rule.segment);
            *rule = lessons.best(&lessons.follows[kind], allowed).map(|found| {
                let segment = Segment {
                    pair,
                    allowed: found.against,
                    past: found.past,
                    met: [[0.0; 3]; 3],
                };
                Rule {
                    scoring: found.scoring.clone(),
                    cuts: found.cuts,
                    ln_factors: bet_on(&found.past, found.against, meeting).ln_factors(meeting),
                    segment: self.capital.begin(kind, before, segment),
                }
            });
        }
    }

    /// Whether some rule is by a model.
    pub fn has_model(&self) -> bool {
        let mut rules = self.rules.iter().flatten().flatten();
        rules.any(|rule| matches!(rule.scoring, Scoring::Model))
    }

    /// Rules of places from this one on are forgotten.
    pub fn forget(&mut self, place: usize) {
        self.rules.truncate(place);
    }

    /// One attacker judges two rows that meet at a place; `learned` scores the first or the second where a model does.
    #[inline]
    pub fn judge<S: Seen + ?Sized>(
        &mut self,
        (place, kind): (usize, usize),
        seen: &S,
        learned: impl Fn(bool) -> f64,
        rows: (u32, u32),
    ) {
        let Some(rule) = self.rules.get(place).and_then(|rules| rules[kind].as_ref()) else {
            return;
        };
        let cell = |is_second: bool| {
            let row = if is_second { rows.1 } else { rows.0 };
            let score = match rule.scoring {
                Scoring::Model => learned(is_second),
                ref scoring => scoring.score(seen, row),
            };
            rule.cuts.cell(score)
        };
        let (first, second) = (cell(false), cell(true));
        let part = &mut self.capital.parts[kind];
        part.ln_growth += rule.ln_factors[first][second];
        part.segments[rule.segment].met[first][second] += 1.0;
    }

    /// All attackers judge two rows that meet at a place; `learned` scores a row where a model does. Whether the claim is
    /// refuted.
    #[inline]
    pub fn judge_all<S: Seen + ?Sized>(
        &mut self,
        place: usize,
        seen: &S,
        learned: impl Fn(u32) -> f64 + Copy,
        rows: (u32, u32),
    ) -> bool {
        for kind in 0..self.capital.parts.len() {
            let learned = |is_second| learned(if is_second { rows.1 } else { rows.0 });
            self.judge((place, kind), seen, learned, rows);
        }
        self.capital.look(self.ln_wanted, false)
    }
}
