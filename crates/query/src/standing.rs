//! What is known at some moment: numbers and enums.

use leakgauge_exact::claim::Claim;
use leakgauge_sequential::attackers::Kind;
use leakgauge_sequential::bettor::Lessons;
use leakgauge_sequential::capital::{Part, largest_refuted};
use leakgauge_sequential::product_bets::{Allowed, Counts, ln_growth};

use crate::auditor::Auditor;
use crate::outcome::{Fate, Stop};
use crate::power::{Attacker, Power};

/// Steps of ε, and from ε = 2 on of ln ε.
const STEP: f64 = 0.01;
/// The largest ε that is looked at.
const MAX_EPSILON: f64 = 40.0;

/// What became of a claim.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// Refuted.
    Violated,
    /// Proved.
    Holds,
    /// Neither.
    Inconclusive,
}

/// A claim.
#[derive(Debug, Clone)]
pub struct ClaimStanding {
    /// The claim.
    pub claim: Claim,
    /// What became of it.
    pub verdict: Verdict,
    /// The smallest error probability, shared by all claims, at which it would be violated by now.
    pub p_value: f64,
}

/// A pair of inputs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PairStanding {
    /// Positions of the inputs.
    pub inputs: (usize, usize),
    /// Outputs of both that met in bets.
    pub judged: u64,
    /// ln of what bets on this pair alone multiplied the capital by, of the attacker that gained most.
    pub ln_growth: f64,
    /// Judged outputs in the cells of the rules.
    pub cells: Counts,
    /// ln of how often the rules named the right input for once that they named the wrong one: an estimate of the ε
    /// that these rules show. `None` if one of the two never happened.
    pub epsilon: Option<f64>,
    /// The advantage of the rules: an estimate.
    pub advantage: Option<f64>,
    /// The attacker that gained most.
    pub attacker: Option<Kind>,
}

/// What gives reason to doubt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Doubt {
    /// Every input always gave one and the same output: a function without randomness, or one that is seeded afresh
    /// at every call.
    Constant,
    /// All outputs of all inputs are equal.
    AllEqual,
    /// Calls of one input begin with the same outputs: a generator that is seeded afresh at every call.
    SameStart,
}

/// What is known.
#[derive(Debug, Clone)]
pub struct Standing {
    /// Outputs drawn.
    pub samples: u64,
    /// Why the audit ended, if it has.
    pub stop: Option<Stop>,
    /// The claims, in their order.
    pub claims: Vec<ClaimStanding>,
    /// The pairs, in their order.
    pub pairs: Vec<PairStanding>,
    /// The position of the pair that looks worst.
    pub worst: Option<usize>,
    /// Some pair needs an ε of at least this, at δ = 0; if a claim is about one.
    pub epsilon_lower: Option<f64>,
    /// Some pair has a total variation of at least this; if a claim is about one.
    pub total_variation_lower: Option<f64>,
    /// The confidence of these two, of each by itself.
    pub confidence: f64,
    /// Who bet.
    pub attackers: Vec<Kind>,
    /// The name of the learned attack, if there was one.
    pub learned: Option<String>,
    /// What gives reason to doubt.
    pub doubts: Vec<Doubt>,
}

impl Auditor {
    /// What is known now. The limits take some time where many rules were learned; `limits` leaves them out.
    pub fn standing(&self, limits: bool) -> Standing {
        let pairs: Vec<PairStanding> = (0..self.pairs.len()).map(|at| self.pair(at)).collect();
        let judged = pairs.iter().enumerate().filter(|(_, pair)| pair.judged > 0);
        let worst = judged.max_by(|x, y| x.1.ln_growth.total_cmp(&y.1.ln_growth));
        Standing {
            samples: self.drawn(),
            stop: self.stop,
            claims: self.claims(),
            worst: worst.map(|(at, _)| at),
            epsilon_lower: self.limit(
                limits,
                epsilons,
                |epsilon| Allowed::privacy(epsilon, 0.0),
                |a| (a.delta == 0.0).then(|| a.weight.ln()),
            ),
            total_variation_lower: self.limit(limits, variations, Allowed::total_variation, |a| {
                (a.weight == 1.0).then_some(a.delta)
            }),
            confidence: 1.0 - 2.0 * self.alpha(),
            attackers: self.kinds.clone(),
            learned: self.model.name(),
            doubts: self.doubts(),
            pairs,
        }
    }

    fn claims(&self) -> Vec<ClaimStanding> {
        let standing = |at: usize, claim: &Claim| {
            let target = self
                .targets
                .iter()
                .position(|target| target.claims.contains(&at));
            let target = target.expect("every claim has a target");
            let ln = self
                .bettors
                .get(target)
                .map_or(0.0, |bettor| bettor.capital.ln_largest);
            ClaimStanding {
                claim: claim.clone(),
                verdict: match self.fates[target] {
                    Fate::Violated => Verdict::Violated,
                    Fate::Proved => Verdict::Holds,
                    Fate::Open => Verdict::Inconclusive,
                },
                p_value: (self.targets.len() as f64 * (-ln).exp()).min(1.0),
            }
        };
        let all = self.options.claims.iter().enumerate();
        all.map(|(at, claim)| standing(at, claim)).collect()
    }

    fn pair(&self, at: usize) -> PairStanding {
        let mut best = (f64::NEG_INFINITY, None, Counts::default());
        let parts = self.bettors.iter().flat_map(|bettor| {
            bettor
                .capital
                .parts
                .iter()
                .enumerate()
                .map(move |part| (bettor, part))
        });
        for (bettor, (kind, part)) in parts {
            let of_pair = part.segments.iter().filter(|segment| segment.pair == at);
            let growth = of_pair
                .map(|segment| {
                    let meeting = bettor.capital.meeting;
                    ln_growth(
                        &segment.factors_against(segment.allowed, meeting),
                        &segment.met,
                    )
                })
                .sum();
            let cells = cells_of(part, at);
            // One that never spoke has no figures.
            let spoke = cells.total() > cells.first[1] + cells.second[1];
            if spoke && growth > best.0 {
                best = (growth, Some(self.kinds[kind]), cells);
            }
        }
        let (growth, attacker, cells) = best;
        let rows = 0.5 * cells.total();
        let right = cells.first[0] + cells.second[2];
        let wrong = cells.second[0] + cells.first[2];
        PairStanding {
            inputs: self.pairs[at],
            judged: 2 * self.judged[at],
            ln_growth: if growth.is_finite() { growth } else { 0.0 },
            cells,
            epsilon: (right > 0.0 && wrong > 0.0).then(|| (right / wrong).ln()),
            advantage: (rows > 0.0).then(|| (right - wrong) / rows),
            attacker,
        }
    }

    /// A lower limit at level 1 − 2α: what the claim's own bets say if they refute it, else what they would have said
    /// of smaller values.
    fn limit(
        &self,
        wanted: bool,
        grid: impl Fn() -> Vec<f64>,
        allowed: impl Fn(f64) -> Allowed + Copy,
        claimed: impl Fn(Allowed) -> Option<f64>,
    ) -> Option<f64> {
        if !wanted || self.bettors.is_empty() {
            return None;
        }
        let own = |at: &usize| self.targets[*at].uniform().and_then(&claimed).is_some();
        let target = (0..self.targets.len()).find(own)?;
        let bettor = &self.bettors[target];
        let claim = self.targets[target].uniform().and_then(&claimed);
        let refuted = self.fates[target] == Fate::Violated;
        let floor = claim.filter(|_| refuted).unwrap_or(f64::NEG_INFINITY);
        let values = grid().into_iter().filter(|&value| value >= floor);
        let largest = largest_refuted(&bettor.capital, values, allowed, bettor.ln_wanted);
        let least = claim.filter(|_| refuted);
        let limit = largest.into_iter().chain(least).fold(0.0, f64::max);
        Some(limit)
    }

    /// What says how many samples find a leak, by the outputs of the pair that was judged most; `None` if no claim
    /// allows all pairs the same, or nothing was drawn.
    pub fn power(&self) -> Option<Power> {
        let claimed = |at: usize| self.targets[at].uniform();
        let (target, allowed) = (0..self.targets.len()).find_map(|at| Some((at, claimed(at)?)))?;
        let parts = &self.bettors.get(target)?.capital.parts;
        let pair = (0..self.pairs.len()).max_by_key(|&pair| self.judged[pair])?;
        let (a, b) = self.pairs[pair];
        let rows = (self.samples.rows(a), self.samples.rows(b));
        let learned = self.model.past(a, b);
        let lessons = Lessons::new(&self.kinds, &self.samples, learned, rows);
        let attackers = parts.iter().enumerate().filter_map(|(kind, part)| {
            let (cells, scores) = lessons.cells(kind, allowed)?;
            Some(Attacker {
                share: part.ln_share.exp(),
                cells,
                scores,
            })
        });
        Some(Power {
            allowed,
            alpha: self.alpha(),
            pairs: self.pairs.len(),
            attackers: attackers.collect(),
        })
    }

    fn doubts(&self) -> Vec<Doubt> {
        let mut doubts = Vec::new();
        let inputs = 0..self.samples.inputs();
        let is_constant = |input: usize| {
            let rows = self.samples.rows(input);
            rows.len() > 3 && self.samples.distinct(rows, 1) == 1
        };
        if inputs.clone().all(is_constant) && self.samples.inputs() > 0 {
            let firsts: Vec<u32> = inputs.map(|input| self.samples.rows(input)[0]).collect();
            let one = self.samples.distinct(&firsts, 1) == 1;
            doubts.push(if one {
                Doubt::AllEqual
            } else {
                Doubt::Constant
            });
        } else if self.repeats.begin_alike() {
            doubts.push(Doubt::SameStart);
        }
        doubts
    }
}

fn epsilons() -> Vec<f64> {
    let mut all: Vec<f64> = (0..200).map(|step| STEP * f64::from(step)).collect();
    let mut next = 2.0;
    while next <= MAX_EPSILON {
        all.push(next);
        next *= 1.0 + STEP;
    }
    all
}

fn variations() -> Vec<f64> {
    (0..100).map(|step| STEP * f64::from(step)).collect()
}

/// What one attacker's rules judged of a pair.
fn cells_of(part: &Part, pair: usize) -> Counts {
    let mut cells = Counts::default();
    for segment in part.segments.iter().filter(|segment| segment.pair == pair) {
        let seen = segment.seen();
        for cell in 0..3 {
            cells.first[cell] += seen.first[cell];
            cells.second[cell] += seen.second[cell];
        }
    }
    cells
}
