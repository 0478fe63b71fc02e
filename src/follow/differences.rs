//! Differences of times inside blocks, by limits of their medians that hold at all times together.
//!
//! Every pair of secrets has a part of the error probability. Pairs that are known when the limits are first looked at
//! share nine tenths of it; pairs with a secret that comes later share the rest, so that a part never depends on what
//! was measured.
//!
//! Two limits are taken, and the farther one counts: that of bets, exact for independent blocks; and that of the first
//! 12, 24, 48, 68, 96, … blocks ([`Milestones`]), which allows for blocks that resemble their neighbors. Both are moved
//! outward by what the step of the clock hides.

use super::line::{FollowedDifference, FollowedGrounds};
use super::milestones::{Milestones, UNKNOWN, closer};
use super::recorder::Recorder;
use leakgauge_base::time::TimeUnit;
use leakgauge_log::Block;
use leakgauge_sequential::median::{median, p_value};
use leakgauge_stats::clock::{Clock, within_rounding};
use leakgauge_stats::paired::Located;

/// Differences are kept for pairs of at most so many secrets.
pub(super) const MAX_SECRETS: usize = 32;
/// The part of the error probability of the pairs that are known first.
const FIRST_PAIRS: f64 = 0.9;
/// Pairs in a line.
const SHOWN: usize = 10;

/// The differences of a pair.
struct Differences {
    a: u32,
    b: u32,
    /// Its part of the error probability of either limit, once that is settled.
    share: Option<f64>,
    /// b − a of every block that has both.
    values: Vec<f64>,
    /// What they say at some numbers of blocks.
    milestones: Milestones,
    /// The median, and its limits for all pairs together.
    together: Located,
    /// The same, with limits at the whole level: a claim holds by these, because the pair that breaks a false one is
    /// one fixed pair.
    alone: Located,
    /// The same, with limits of one side for all pairs together.
    sided: Located,
}

/// The differences of all pairs.
pub(super) struct Medians {
    /// What was measured of each secret, for the step of the clock.
    recorders: Vec<Recorder>,
    /// The step of the clock, if it was given.
    step: Option<f64>,
    clock: Clock,
    unit: Option<TimeUnit>,
    /// By the larger number of the two secrets, then the smaller.
    pairs: Vec<Differences>,
    secrets: usize,
    /// How many times pairs were given their parts.
    groups: u32,
}

/// Of two limits of one thing, the farther ones.
fn farther(one: Located, other: Located) -> Located {
    Located {
        point: one.point,
        lower: one.lower.min(other.lower),
        upper: one.upper.max(other.upper),
    }
}

/// The same of the two secrets exchanged.
fn turned(found: Located) -> Located {
    Located {
        point: -found.point,
        lower: -found.upper,
        upper: -found.lower,
    }
}

impl Differences {
    fn new(a: u32, b: u32) -> Self {
        Differences {
            a,
            b,
            share: None,
            values: Vec::new(),
            milestones: Milestones::default(),
            together: UNKNOWN,
            alone: UNKNOWN,
            sided: UNKNOWN,
        }
    }

    /// The median of the times' differences with limits for all pairs together.
    fn together(&self, clock: &Clock) -> Located {
        clock.around(farther(self.together, self.milestones.together))
    }

    /// The same with limits at the whole level.
    fn alone(&self, clock: &Clock) -> Located {
        clock.around(farther(self.alone, self.milestones.alone))
    }

    /// By how much this secret takes longer than the other of the pair, by limits of one side, and by those at the whole
    /// level; `None` if it is neither.
    fn slower_by(&self, secret: u32, clock: &Clock) -> Option<[Located; 2]> {
        let sided = clock.around(farther(self.sided, self.milestones.sided));
        let found = [sided, self.alone(clock)];
        if secret == self.b {
            return Some(found);
        }
        (secret == self.a).then(|| found.map(turned))
    }

    /// The p-value of "this secret takes longer by at most so much", by recorded differences, at the pair's share; it may
    /// exceed 1.
    fn slower_against(&self, secret: u32, bound: f64) -> f64 {
        let is_longer = secret == self.b;
        let is_beyond = |value: &&f64| match is_longer {
            true => **value > bound,
            false => **value < -bound,
        };
        let beyond = self.values.iter().filter(is_beyond).count() as u64;
        let by_bets = p_value(beyond, self.values.len() as u64 - beyond);
        let at_milestones = match is_longer {
            true => self.milestones.above(&self.values, bound),
            false => self.milestones.below(&self.values, bound),
        };
        by_bets.max(at_milestones) / self.share.unwrap_or(0.0)
    }

    /// The smallest size that the median may have.
    fn smallest(&self, clock: &Clock) -> f64 {
        let found = self.together(clock);
        found.lower.max(-found.upper).max(0.0)
    }

    /// The smaller and the larger secret by their times, and the median with limits in that direction.
    fn ascending(&self, clock: &Clock) -> ([u32; 2], Located) {
        let found = self.together(clock);
        if found.point >= 0.0 {
            return ([self.a, self.b], found);
        }
        ([self.b, self.a], turned(found))
    }

    /// The p-value of a median of recorded differences within the bound, both directions together, at its share; it may
    /// exceed 1.
    fn against(&self, bound: f64) -> f64 {
        let count = |is_beyond: &dyn Fn(f64) -> bool| {
            self.values
                .iter()
                .filter(|&&value| is_beyond(value))
                .count() as u64
        };
        let n = self.values.len() as u64;
        let beyond = count(&|value| value > bound).max(count(&|value| value < -bound));
        let by_bets = p_value(beyond, n - beyond);
        let share = self.share.unwrap_or(0.0);
        2.0 * by_bets.max(self.milestones.against(&self.values, bound)) / share
    }
}

impl Medians {
    /// No block was seen.
    pub fn new(unit: Option<TimeUnit>, step: Option<f64>) -> Self {
        Medians {
            unit,
            recorders: Vec::new(),
            step,
            clock: Clock::EXACT,
            pairs: Vec::new(),
            secrets: 0,
            groups: 0,
        }
    }

    /// Takes the next block, of so many secrets so far.
    pub fn push(&mut self, block: &Block, secrets: usize) {
        for b in self.secrets..secrets {
            let pairs = (0..b).map(|a| Differences::new(a as u32, b as u32));
            self.pairs.extend(pairs);
            self.recorders.push(Recorder::default());
        }
        self.secrets = self.secrets.max(secrets);
        for &(secret, value) in block {
            self.recorders[secret as usize].push(value);
        }
        for &(a, x) in block {
            for &(b, y) in block.iter().filter(|other| other.0 > a) {
                let at = b as usize * (b as usize - 1) / 2 + a as usize;
                self.pairs[at].values.push(y - x);
            }
        }
    }

    /// Looks at the limits: those of all pairs together at `level`, those of each alone at `alpha`.
    pub fn look(&mut self, level: f64, alpha: f64) {
        self.share();
        self.clock = Recorder::clock(&self.recorders, self.step);
        for pair in &mut self.pairs {
            let Some(share) = pair.share.filter(|_| !pair.values.is_empty()) else {
                continue;
            };
            let mut values = pair.values.clone();
            let each = 0.5 * level * share;
            pair.together = closer(pair.together, median(&mut values, each));
            pair.alone = closer(pair.alone, median(&mut values, alpha));
            pair.sided = closer(pair.sided, median(&mut values, 2.0 * each));
            pair.milestones
                .pass(&pair.values, [each, alpha, 2.0 * each]);
        }
    }

    /// Gives pairs that have none their part.
    fn share(&mut self) {
        let new = self.pairs.iter().filter(|pair| pair.share.is_none());
        let new = new.count();
        if new == 0 {
            return;
        }
        let group = f64::from(self.groups);
        let part = match self.groups {
            0 => FIRST_PAIRS,
            _ => (1.0 - FIRST_PAIRS) / (group * (group + 1.0)),
        };
        self.groups += 1;
        let of_none = |pair: &&mut Differences| pair.share.is_none();
        for pair in self.pairs.iter_mut().filter(of_none) {
            pair.share = Some(part / new as f64);
        }
    }

    /// The p-value of medians within the bound for all pairs, or of one secret that takes no longer than the others by more,
    /// and what it is of.
    pub fn against(
        &self,
        bound: f64,
        slower: Option<u32>,
        labels: &[String],
    ) -> (f64, FollowedGrounds) {
        if let Some(secret) = slower {
            return self.against_slower(bound, secret, labels);
        }
        let recorded = self.clock.hides(bound);
        let with = |pair| (pair, Differences::against(pair, recorded));
        let all = self.pairs.iter().map(with);
        let least = all.reduce(|best, next| if next.1 < best.1 { next } else { best });
        let (p_value, pair, lower) = match least {
            None => (1.0, [0, 0], 0.0),
            Some((pair, p_value)) => (
                p_value.min(1.0),
                pair.ascending(&self.clock).0,
                pair.smallest(&self.clock),
            ),
        };
        let grounds = FollowedGrounds::TimeDifference {
            pair: pair.map(|secret| labels[secret as usize].clone()),
            lower,
            bound,
            unit: self.unit,
        };
        (p_value, grounds)
    }

    /// The same of one secret and the others.
    fn against_slower(&self, bound: f64, secret: u32, labels: &[String]) -> (f64, FollowedGrounds) {
        let recorded = self.clock.hides(bound);
        let of_secret = self.pairs.iter().filter_map(|pair| {
            let [sided, _] = pair.slower_by(secret, &self.clock)?;
            Some((pair, sided, pair.slower_against(secret, recorded)))
        });
        let least = of_secret.reduce(|best, next| if next.2 < best.2 { next } else { best });
        let name = |secret: u32| labels.get(secret as usize).cloned().unwrap_or_default();
        let (p_value, other, lower) = match least {
            None => (1.0, 0, 0.0),
            Some((pair, sided, p_value)) => (
                p_value.min(1.0),
                if pair.a == secret { pair.b } else { pair.a },
                sided.lower.max(0.0),
            ),
        };
        let grounds = FollowedGrounds::TimeDifference {
            pair: [other, secret].map(name),
            lower,
            bound,
            unit: self.unit,
        };
        (p_value, grounds)
    }

    /// Whether the medians of all pairs are shown to be within the bound, or one secret to take no longer than the others
    /// by more.
    pub fn are_within(&self, bound: f64, slower: Option<u32>) -> bool {
        let allowed = within_rounding(bound);
        if let Some(secret) = slower {
            let of_secret = self
                .pairs
                .iter()
                .filter_map(|pair| pair.slower_by(secret, &self.clock));
            let mut of_secret = of_secret.peekable();
            return of_secret.peek().is_some()
                && of_secret.all(|[_, alone]| alone.upper <= allowed);
        }
        let is_within = |pair: &Differences| {
            let found = pair.alone(&self.clock);
            found.lower >= -allowed && found.upper <= allowed
        };
        !self.pairs.is_empty() && self.pairs.iter().all(is_within)
    }

    /// The pairs that differ most.
    pub fn differences(&self, labels: &[String]) -> Vec<FollowedDifference> {
        let seen = self.pairs.iter().filter(|pair| !pair.values.is_empty());
        let mut order: Vec<&Differences> = seen.collect();
        let size = |pair: &Differences| pair.together.point.abs();
        order.sort_by(|x, y| {
            let [by_x, by_y] = [x, y].map(|pair| pair.smallest(&self.clock));
            let by_limit = by_y.total_cmp(&by_x);
            by_limit.then(size(y).total_cmp(&size(x)))
        });
        let finite = |limit: f64| limit.is_finite().then_some(limit);
        let shown = order.into_iter().take(SHOWN).map(|pair| {
            let (secrets, found) = pair.ascending(&self.clock);
            FollowedDifference {
                secrets: secrets.map(|secret| labels[secret as usize].clone()),
                unit: self.unit.map(TimeUnit::name),
                blocks: pair.values.len() as u64,
                median: found.point,
                lower: finite(found.lower),
                upper: finite(found.upper),
            }
        });
        shown.collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_of_the_error_probability_are_never_more_than_the_whole() {
        let mut medians = Medians::new(None, None);
        for secrets in [3, 3, 4, 6, 7] {
            let block: Block = (0..secrets as u32).map(|s| (s, f64::from(s))).collect();
            medians.push(&block, secrets);
            medians.look(0.05, 0.05);
        }
        let shares: Vec<f64> = medians.pairs.iter().filter_map(|pair| pair.share).collect();
        assert_eq!(shares.len(), 21);
        assert!((shares[0] - 0.3).abs() < 1e-15 && (shares[3] - 0.05 / 3.0).abs() < 1e-15);
        let sum: f64 = shares.iter().sum();
        assert!(sum <= 1.0, "{sum}");
    }

    #[test]
    fn a_claim_is_judged_by_the_limits_that_are_shown() {
        let labels = ["x", "y", "z"].map(str::to_owned);
        let mut medians = Medians::new(Some(TimeUnit::Nanoseconds), None);
        for at in 0..400 {
            let noise = f64::from(at * 7 % 40) / 40.0;
            // z lacks every other block.
            let block = [(0, 100.0), (1, 95.0 + noise), (2, 101.0)];
            medians.push(&block[..if at % 2 == 0 { 3 } else { 2 }].to_vec(), 3);
        }
        medians.look(0.05, 0.05);
        let found = medians.differences(&labels);
        assert_eq!(found[0].secrets, ["y", "z"]);
        assert_eq!((found[0].blocks, found[1].blocks), (200, 400));
        let lower = found[0].lower.expect("enough blocks");
        for (bound, violated) in [(lower - 0.01, true), (lower, false)] {
            let (p_value, grounds) = medians.against(bound, None, &labels);
            assert_eq!(p_value <= 0.05, violated, "{bound}: {p_value}");
            let FollowedGrounds::TimeDifference { pair, .. } = grounds else {
                panic!("{grounds:?}");
            };
            assert_eq!(pair, ["y", "z"]);
        }
        let upper = found[0].upper.expect("enough blocks");
        assert!(medians.are_within(upper, None) && !medians.are_within(5.5, None));
        // z takes longer than both others, y than neither.
        let (p_value, grounds) = medians.against(0.5, Some(2), &labels);
        assert!(
            p_value <= 0.01 && !medians.are_within(5.5, Some(2)),
            "{grounds:?}"
        );
        let (p_value, _) = medians.against(0.5, Some(1), &labels);
        assert!(p_value == 1.0 && medians.are_within(0.5, Some(1)));
        let (p_value, _) = medians.against(0.5, Some(u32::MAX), &labels);
        assert!(p_value == 1.0 && !medians.are_within(0.5, Some(u32::MAX)));
    }
}
