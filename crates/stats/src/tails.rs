//! Where to guess a secret and where to abstain, for [`guesses`](crate::guesses): chosen on past rows.
//!
//! Nothing here needs to be valid: a bad choice costs width only.

use crate::special::normal_quantile;

/// Cuts that are tried at either end: every percent of the rows.
const CUTS: usize = 100;
/// Guesses on past rows below which a rate is not looked at.
const LEAST: f64 = 10.0;
/// Standard errors of the past that a choice is held to, so that the luckiest cut does not win. With 1 the
/// limit of ε for two Laplace laws is half as far again from the truth.
const DOUBT: f64 = 3.0;
/// Below a percent, cuts follow each other at this factor, so that events of any rarity can be guessed.
const FINER: f64 = 1.25;
/// Shares of rows that may be guessed, in steps of 1/20.
const SHARES: i32 = 20;
/// Smaller shares, for rare events, follow each other at this factor.
const RARER: f64 = 0.7;
/// How much of the share is at the top: one end alone, or both alike. Cuts chosen freely at both ends follow
/// the noise of the past: for two Laplace laws at ε = 1 and 6,000 rows they lose twice as much.
const BALANCES: [f64; 3] = [0.5, 1.0, 0.0];
/// The part of the chosen share that is promised where some rows are not guessed. Guessing rows between the
/// tails dilutes every block; too narrow tails cost the square root of the rows left out.
const PROMISED: f64 = 0.75;
/// Standard deviations by which more rows are reckoned to reveal their secret than are expected to.
const REVEALED: f64 = 3.0;

/// Guess a above `above`, b below `below`, else abstain; scores are large for a.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Tails {
    /// Scores at least this are taken for a.
    pub above: f64,
    /// Of the others, scores at most this are taken for b; at most `above`.
    pub below: f64,
    /// The share of past rows, both secrets weighing alike, that is guessed.
    pub share: f64,
    /// The share of these guesses that is right.
    pub rate: f64,
}

/// Past rows of two secrets by score, for choosing tails.
#[derive(Debug, Clone)]
pub struct Past {
    /// At each cut from the top: where it is, between two scores, and the rates of a and of b above it.
    top: Vec<(f64, f64, f64)>,
    /// At each cut from the bottom: where it is, and the rates of a and of b below it.
    bottom: Vec<(f64, f64, f64)>,
    /// Rows that a rate of both secrets, weighing alike, is worth.
    rows: f64,
    /// The δ of the limits of ε that tails are chosen for.
    delta: f64,
}

/// Which cut is taken where none has just the share wanted.
#[derive(Clone, Copy, PartialEq)]
enum Reach {
    /// With few distinct scores the next one may take twice as many rows.
    Nearest,
    AtLeast,
}

impl Tails {
    /// No guess at all.
    pub const NONE: Tails = Tails {
        above: f64::INFINITY,
        below: f64::NEG_INFINITY,
        share: 0.0,
        rate: 0.5,
    };

    /// The share of rows to promise guesses on, of which so many may be rows that reveal their secret.
    pub fn promised(&self, delta: f64) -> f64 {
        if self.share > 0.99 {
            self.share
        } else {
            let beyond = (self.share - delta).max(0.0);
            self.share - (1.0 - PROMISED) * beyond
        }
    }
}

/// The limit of ε that so many trials promise where shares of rows are guessed right and wrong; at least 0.
///
/// # Formula
/// The log-odds of Wilson's lower limit, with the share that δ may reveal put aside, and the rate held to one standard
/// error of the `rows` that show it.
pub fn promised([right, wrong]: [f64; 2], rows: u64, delta: f64, trials: u64, alpha: f64) -> f64 {
    let right = (right - delta).max(0.0);
    let share = right + wrong;
    if share <= 0.0 {
        return 0.0;
    }
    let rate = right / share;
    let doubted = lower(rate, share * rows as f64, 1.0);
    let limit = lower(doubted, share * trials as f64, -normal_quantile(alpha));
    (limit / (1.0 - limit)).ln().max(0.0)
}

impl Past {
    /// From distinct scores with the rows of a and of b that have them, the largest score first.
    pub fn new(steps: &[(f64, u64, u64)]) -> Self {
        let (a, b) = steps
            .iter()
            .fold((0, 0), |sum, step| (sum.0 + step.1, sum.1 + step.2));
        let rates = |x: u64, y: u64| (x as f64 / a.max(1) as f64, y as f64 / b.max(1) as f64);
        Past {
            top: cuts(steps.iter().copied(), f64::NEG_INFINITY, rates),
            bottom: cuts(steps.iter().rev().copied(), f64::INFINITY, rates),
            rows: 2.0 * a.min(b) as f64,
            delta: 0.0,
        }
    }

    /// The same rows, where tails are chosen for limits of ε at this δ.
    #[must_use]
    pub fn with_delta(self, delta: f64) -> Self {
        Past { delta, ..self }
    }

    /// How many rows these are worth, both secrets weighing alike.
    pub fn rows(&self) -> u64 {
        self.rows as u64
    }

    /// The tails with the largest approximate limit of ε if so many trials are to come; `None` if no tails
    /// have ten guesses.
    pub fn best(&self, trials: u64, alpha: f64) -> Option<Tails> {
        self.best_with_limit(trials, alpha).map(|(tails, _)| tails)
    }

    /// The same with that limit, for choosing among pairs of secrets.
    pub fn best_with_limit(&self, trials: u64, alpha: f64) -> Option<(Tails, f64)> {
        self.best_at(trials, alpha, DOUBT)
    }

    /// The tails with the largest approximate limit where little is lost if they were lucky: they are held to
    /// half a standard error of the past, so that an event seen ten or twenty times may be taken.
    pub fn boldest(&self, trials: u64, alpha: f64) -> Option<Tails> {
        self.best_at(trials, alpha, 0.5).map(|(tails, _)| tails)
    }

    /// Whether tails that are chosen later promise more than those that are chosen now: `later` has, for each time to
    /// come, how many times the rows of now there will be to choose by, and the trials that will be left. Tails that
    /// would be taken, were the rates of now those of more rows, are compared with those that are taken now, all rates
    /// held to one standard error.
    pub fn gains_later(&self, trials: u64, later: &[(f64, u64)], alpha: f64) -> bool {
        let promise = |trials: u64, times: f64| {
            let doubt = DOUBT / times.sqrt();
            let (tails, _) = self.best_at(trials, alpha, doubt)?;
            Some(self.limit(&tails, trials, alpha, 1.0))
        };
        let Some(now) = promise(trials, 1.0) else {
            return !later.is_empty();
        };
        let mut later = later.iter();
        later.any(|&(times, trials)| promise(trials, times).is_some_and(|then| then > now))
    }

    fn best_at(&self, trials: u64, alpha: f64, doubt: f64) -> Option<(Tails, f64)> {
        let all = self.candidates().chain(self.rare_candidates());
        let all = all.map(|tails| (tails, self.limit(&tails, trials, alpha, doubt)));
        all.max_by(|x, y| x.1.total_cmp(&y.1))
    }

    /// The approximate limit of ε that tails promise: what is right of the guesses that revelations leave.
    fn limit(&self, tails: &Tails, trials: u64, alpha: f64, doubt: f64) -> f64 {
        let trials = trials as f64;
        let expected = self.delta * trials;
        let guesses = tails.share * trials - expected - REVEALED * expected.sqrt();
        let wrong = (1.0 - self.doubted(tails, doubt)) * tails.share * trials;
        if guesses <= wrong {
            return f64::NEG_INFINITY;
        }
        let limit = lower(1.0 - wrong / guesses, guesses, -normal_quantile(alpha));
        (limit / (1.0 - limit)).ln()
    }

    /// The tails with the best odds against a claim of (ε, δ): the gain of a bet on them in standard
    /// deviations of one outcome, with the rate held to `doubt` standard errors of the past. With it the gain,
    /// which is positive where the past speaks against the claim. `None` if no tails have ten guesses.
    ///
    /// # Formula
    /// Gain s(ρ − e^ε(1 − ρ)) − δ, variance s(ρ + e^2ε(1 − ρ)) − (gain + δ)², for a share s and a rate ρ.
    pub fn best_against(&self, epsilon: f64, delta: f64, doubt: f64) -> Option<(Tails, f64)> {
        let odds = epsilon.exp();
        let all = self.candidates().map(|tails| {
            let rate = self.doubted(&tails, doubt);
            let gain = tails.share * (rate - odds * (1.0 - rate));
            let square = tails.share * (rate + odds * odds * (1.0 - rate));
            let deviation = (square - gain * gain).max(1e-12).sqrt();
            (tails, gain - delta, (gain - delta) / deviation)
        });
        let best = all.max_by(|x, y| x.2.total_cmp(&y.2));
        best.map(|(tails, gain, _)| (tails, gain))
    }

    /// The gain of a bet on tails against a claim, as [`Past::best_against`] has it.
    pub fn gain(&self, tails: &Tails, epsilon: f64, delta: f64, doubt: f64) -> f64 {
        let rate = self.doubted(tails, doubt);
        tails.share * (rate - epsilon.exp() * (1.0 - rate)) - delta
    }

    /// Tails of every share and balance that have ten guesses.
    fn candidates(&self) -> impl Iterator<Item = Tails> {
        let shares = (1..=SHARES).map(|i| f64::from(i) / f64::from(SHARES));
        shares
            .flat_map(|share| BALANCES.map(|balance| self.tails(share, balance, Reach::Nearest)))
            .filter(|tails| tails.share * self.rows >= LEAST)
    }

    /// The same of shares below those, down to ten guesses.
    fn rare_candidates(&self) -> impl Iterator<Item = Tails> {
        let smaller = |&share: &f64| Some(share * RARER);
        let shares = std::iter::successors(Some(RARER / f64::from(SHARES)), smaller);
        shares
            .take_while(|share| share / RARER * self.rows >= LEAST)
            .flat_map(|share| BALANCES.map(|balance| self.tails(share, balance, Reach::Nearest)))
            .filter(|tails| tails.share * self.rows >= LEAST)
    }

    /// The rate of tails, less so many standard errors of the past.
    fn doubted(&self, tails: &Tails, doubt: f64) -> f64 {
        lower(tails.rate, tails.share * self.rows, doubt)
    }

    /// The tails that guess about this share of the rows, or somewhat more, and are right most often.
    pub fn with_share(&self, least: f64) -> Tails {
        let value = |tails: &Tails| {
            let short = (least - tails.share).max(0.0);
            lower(tails.rate, (tails.share * self.rows).max(1.0), DOUBT) - 10.0 * short
        };
        let reaches = [Reach::Nearest, Reach::AtLeast].into_iter();
        reaches
            .flat_map(|reach| BALANCES.map(|balance| self.tails(least, balance, reach)))
            .reduce(|best, next| {
                if value(&next) > value(&best) {
                    next
                } else {
                    best
                }
            })
            .expect("six candidates")
    }

    /// Tails with a share, so much of it at the top. The bottom gives way where both would meet.
    fn tails(&self, share: f64, balance: f64, reach: Reach) -> Tails {
        let reach = |cuts: &[(f64, f64, f64)], wanted: f64| {
            let taken = |at: usize| 0.5 * (cuts[at].1 + cuts[at].2);
            let at = cuts.partition_point(|&(_, a, b)| 0.5 * (a + b) < wanted);
            let at = at.min(cuts.len() - 1);
            let before = at.saturating_sub(1);
            if reach == Reach::Nearest && wanted - taken(before) < taken(at) - wanted {
                before
            } else {
                at
            }
        };
        let (above, a_right, b_wrong) = self.top[reach(&self.top, share * balance)];
        let mut at = reach(&self.bottom, share * (1.0 - balance));
        while at > 0 && self.bottom[at].0 > above {
            at -= 1;
        }
        let (below, a_wrong, b_right) = self.bottom[at];
        let right = 0.5 * (a_right + b_right);
        let share = right + 0.5 * (a_wrong + b_wrong);
        Tails {
            above,
            below,
            share,
            rate: if share > 0.0 { right / share } else { 0.5 },
        }
    }
}

/// The rates at about a hundred cuts and more for rare events, from one before all rows to one behind them, at `end`.
/// Cuts are halfway between scores: those of a rule that has learned more differ a little from those of the past.
fn cuts(
    steps: impl Iterator<Item = (f64, u64, u64)> + Clone,
    end: f64,
    rates: impl Fn(u64, u64) -> (f64, f64),
) -> Vec<(f64, f64, f64)> {
    let (mut a, mut b, mut next) = (0, 0, 0.0);
    let mut cuts = vec![(-end, 0.0, 0.0)];
    let mut after = steps.clone().skip(1).map(|step| step.0);
    for (score, more_a, more_b) in steps {
        (a, b) = (a + more_a, b + more_b);
        let (x, y) = rates(a, b);
        // The same from either side.
        let cut = after.next().map_or(end, |then| 0.5 * score + 0.5 * then);
        if 0.5 * (x + y) >= next {
            cuts.push((cut, x, y));
            let rate = 0.5 * (x + y);
            next = (rate * FINER).min(rate + 1.0 / CUTS as f64);
        }
    }
    cuts
}

/// Wilson's approximate lower limit of a rate at z standard errors.
fn lower(rate: f64, rows: f64, z: f64) -> f64 {
    let square = z * z;
    let middle = rate + square / (2.0 * rows);
    let spread = (rate * (1.0 - rate) / rows + square / (4.0 * rows * rows)).sqrt();
    ((middle - z * spread) / (1.0 + square / rows)).clamp(1e-12, 1.0 - 1e-12)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Likelihood ratio 9 at both ends, 1 between: the ends are guessed, the middle is not.
    #[test]
    fn the_ends_are_guessed_and_the_middle_is_not() {
        let steps = [
            (2.0, 90, 10),
            (1.0, 100, 100),
            (0.0, 110, 110),
            (-2.0, 10, 90),
        ];
        let past = Past::new(&steps);
        let tails = past.best(2000, 0.05).expect("guesses");
        // Halfway to the next score.
        assert_eq!((tails.above, tails.below), (1.5, -1.0));
        assert!((tails.share - 200.0 / 620.0).abs() < 1e-12);
        let wide = past.with_share(0.9);
        assert!(wide.share >= 0.9 && wide.below <= wide.above);
    }

    /// Against ε = 2 the ends gain, whose odds are e^2.2; against δ above what they take nothing does.
    #[test]
    fn tails_are_chosen_against_a_claim() {
        let steps = [
            (2.0, 900, 100),
            (1.0, 1000, 1000),
            (0.0, 1100, 1100),
            (-2.0, 100, 900),
        ];
        let past = Past::new(&steps);
        let (tails, gain) = past.best_against(2.0, 0.0, 1.0).expect("guesses");
        assert_eq!((tails.above, tails.below), (1.5, -1.0));
        assert!(gain > 0.0 && gain < past.gain(&tails, 2.0, 0.0, 0.0));
        assert!(past.best_against(2.5, 0.0, 1.0).expect("guesses").1 < 0.0);
        assert!(past.best_against(0.0, 0.3, 1.0).expect("guesses").1 < 0.0);
        assert!(past.best_against(0.0, 0.2, 1.0).expect("guesses").1 > 0.0);
    }

    /// An event of probability 1e-3 under one secret alone, beside randomized response at ε = 1: with a million
    /// rows it is guessed alone, with few rows it is not.
    #[test]
    fn a_rare_event_is_guessed_alone_where_rows_allow() {
        let steps = |rows: u64| {
            let rare = rows / 1000;
            let rest = rows - rare;
            [
                (5.0, rare, 0),
                (1.0, rest * 731 / 1000, rows * 269 / 1000),
                (-1.0, rest - rest * 731 / 1000, rows - rows * 269 / 1000),
            ]
        };
        let many = Past::new(&steps(500_000));
        let tails = many.best(1_000_000, 0.05).expect("guesses");
        assert_eq!((tails.above, tails.rate), (3.0, 1.0));
        assert!(tails.below < -1.0);
        let few = Past::new(&steps(20_000));
        let careful = few.best(60_000, 0.05).expect("guesses");
        assert!(careful.share > 0.9);
        assert_eq!(few.boldest(60_000, 0.005).expect("guesses").above, 3.0);
    }

    /// Where a third of the rows may reveal, what is guessed on fewer proves nothing: the ends that suffice at δ = 0 do
    /// not.
    #[test]
    fn a_large_delta_asks_for_more_guesses() {
        let steps = [
            (2.0, 200, 1),
            (1.0, 300, 20),
            (0.0, 479, 479),
            (-1.0, 20, 300),
            (-2.0, 1, 200),
        ];
        let past = Past::new(&steps);
        let pure = past.best(100_000, 0.05).expect("guesses");
        assert_eq!((pure.above, pure.below), (1.5, -1.5));
        let approximate = past.clone().with_delta(0.3).best(100_000, 0.05);
        let approximate = approximate.expect("guesses");
        assert_eq!((approximate.above, approximate.below), (0.5, -0.5));
        assert!(approximate.promised(0.3) > 0.3 && pure.promised(0.0) < pure.share);
    }

    /// One end only: P(A|a) = 0.5, P(A|b) = 0.05, the rest says little.
    #[test]
    fn one_end_alone_can_be_guessed() {
        let steps = [(1.0, 500, 50), (0.0, 500, 950)];
        let tails = Past::new(&steps).best(2000, 0.05).expect("guesses");
        assert_eq!(tails.above, 0.5);
        assert!(tails.below < 0.0);
    }
}
