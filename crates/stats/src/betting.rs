//! Limits of error rates where rows are not independent but units (users, devices, sessions) are.
//!
//! # What is estimated
//!
//! Every unit counts once: the error rate of secret s is the mean, over the units that have rows of s, of
//! the unit's own error rate on them. It is the error of an adversary who meets a random unit and sees one
//! of its rows, so all inequalities hold that join error rates to total variation, ε and Bayes risk, for
//! the law "random unit, random row of it". The ratio of sums (every row counts once) is not used: one
//! unit with most of the rows would be most of the estimate, its variance has no bound in terms of the
//! number of units, and no limit holds at every sample size. With units of equal size both agree.
//!
//! # The limit
//!
//! Let r_us be unit u's error rate at secret s, n_s the units that have s, w_s weights, and
//! θ = Σ_s w_s · mean over u of E r_us. For fixed centers t_s put c_u = Σ_s (w_s/n_s)(r_us − t_s), the sum
//! over the secrets that u has, so that Σ_u E c_u = θ − Σ_s w_s t_s. For a fixed Λ > 0 with 1 + Λc_u > 0
//! always,
//!
//! E Π_u (1 + Λ c_u) = Π_u (1 + Λ E c_u) ≤ (1 + Λ(θ − Σ w_s t_s)/n)ⁿ
//!
//! for n units, as units are independent and a geometric mean is at most the arithmetic one. So Π (1 + Λ c_u) over that
//! bound at θ₀ is an e-value for "θ ≤ θ₀", and so is its mean over several Λ fixed beforehand; where it reaches 1/α
//! (Markov), θ > θ₀.
//! Units may have *different* means, any number of rows, one secret or several, and their rows may depend
//! on each other in any way: what a unit adds to both error rates of a pair enters as one number, so an
//! offset of a unit that moves a row of a and a row of b alike cancels. Stakes that follow earlier units
//! (the plug-in bets of the reference) are not used: with unequal means in random order the units left
//! are known to be better or worse than the mean, which such stakes could profit from.
//!
//! Stakes are chosen from what is *planned*: numbers of units, and centers and deviations that were known before the first
//! of them was judged. A later center may let a factor sink below what a stake allows. Then that factor's center is moved
//! for this stake, by an amount that was known before the unit, and the sum of the centers with it.
//!
//! Centers near the true rates make the limit narrow (errors of the center add their square to the
//! variance); take them, and [`Spread`], from rows other than those that judge.
//!
//! *Several blocks.* If later rules learn from units judged before ([`all_rows`](crate::all_rows)), the
//! product over that of the blocks' bounds is a supermartingale, and the product of these is at most the bound of all n
//! units (the same inequality): θ becomes the mean of the blocks' θ with shares fixed beforehand, [`UnitRates::join`].
//!
//! # References
//! Waudby-Smith and Ramdas 2024, doi:10.1093/jrsssb/qkad009 (betting; mixtures over fixed stakes are its
//! section on grids); Hoeffding 1963, doi:10.1080/01621459.1963.10500830 (unequal means).

use crate::bisection::bisect;
use rand::{Rng, RngExt};

/// Stakes: the best for spreads of 1, ½, ¼, … of the largest possible.
const STAKES: i32 = 5;
/// The largest share of the capital that one unit can lose.
const MOST_LOST: f64 = 0.9;

/// One unit's errors at one secret.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UnitErrors {
    /// The unit's number.
    pub unit: usize,
    /// The secret's number.
    pub secret: usize,
    /// Its rows of the secret that were judged, at least one.
    pub rows: u64,
    /// Those with an error.
    pub errors: u64,
}

/// What is known of a secret beforehand, from other rows; for width only.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Spread {
    /// About the mean of the units' error rates.
    pub center: f64,
    /// About their standard deviation from it.
    pub deviation: f64,
}

impl Spread {
    /// When nothing is known.
    pub const UNKNOWN: Spread = Spread {
        center: 0.5,
        deviation: 0.5,
    };

    /// From units that do not judge. The center is drawn to ½ by one unit's worth, the deviation is not
    /// below what one such unit adds.
    pub fn of(units: &[UnitErrors], secret: usize) -> Spread {
        let rates: Vec<f64> = units
            .iter()
            .filter(|unit| unit.secret == secret && unit.rows > 0)
            .map(|unit| unit.errors as f64 / unit.rows as f64)
            .collect();
        let n = rates.len() as f64;
        let center = (rates.iter().sum::<f64>() + 0.5) / (n + 1.0);
        let squares: f64 = rates.iter().map(|rate| (rate - center).powi(2)).sum();
        Spread {
            center,
            deviation: ((squares + 0.25) / (n + 1.0)).sqrt(),
        }
    }
}

/// What each unit adds to a weighted sum of error rates.
#[derive(Debug, Clone, PartialEq)]
pub struct UnitRates {
    /// c_u of each unit.
    parts: Vec<f64>,
    /// The different ones and how many units have each, where that is much shorter.
    groups: Option<Vec<(f64, f64)>>,
    /// The least and the largest value that each could have had.
    ranges: Vec<(f64, f64)>,
    /// The same as planned.
    planned: Vec<(f64, f64)>,
    /// Σ w_s t_s, or that of the mean centers.
    center: f64,
    /// Σ w_s.
    weight: f64,
    /// About the variance of the sum.
    variance: f64,
}

impl UnitRates {
    /// The weighted sum Σ weight·rate of the secrets' error rates, every unit counting once.
    ///
    /// Weights (1, 1) give a pair's 1 − advantage, a single 1 one error rate, a prior the Bayes risk.
    /// `None` if a secret of positive weight has no unit. A unit and secret must come once.
    ///
    /// # Conditions
    /// Weights and spreads were fixed without the errors.
    ///
    /// # Panics
    /// If errors exceed rows, a number of rows is 0, a weight is negative or not finite, or a center is not
    /// in \[0, 1\].
    pub fn new(errors: &[UnitErrors], weights: &[f64], spreads: &[Spread]) -> Option<UnitRates> {
        UnitRates::centered(errors, weights, spreads, |error| {
            spreads[error.secret].center
        })
    }

    /// The same where nothing is known of the centers: that of a unit is the mean rate of the units of its secret before
    /// it, with half an error in one row.
    ///
    /// # Formula
    /// With units in an order that is fixed, the factor of each has the expectation 1 + Λ(w_s/n_s)(E r_us − t_us) given those
    /// before it, whatever these make of its center t_us, and the sum of these terms is θ less the weighted mean of
    /// the centers, which is seen. So the [module](self)'s limit holds with that mean in place of Σ w_s t_s.
    ///
    /// # Conditions, Panics
    /// As of [`new`](Self::new); units are numbered without looking at their errors.
    pub fn with_running_centers(
        errors: &[UnitErrors],
        weights: &[f64],
        deviation: f64,
    ) -> Option<UnitRates> {
        /// Stakes for lower limits allow for centers up to this, and lift what lies above.
        const PLANNED: f64 = 0.65;
        let spread = Spread {
            center: PLANNED,
            deviation,
        };
        let mut sorted = errors.to_vec();
        sorted.sort_by_key(|error| error.unit);
        let mut before = vec![(0.5, 1.0); weights.len()];
        let centers: Vec<f64> = sorted
            .iter()
            .map(|error| {
                let (sum, units) = &mut before[error.secret];
                let center = *sum / *units;
                *sum += error.errors as f64 / error.rows as f64;
                *units += 1.0;
                center
            })
            .collect();
        let mut next = centers.into_iter();
        let spreads = vec![spread; weights.len()];
        UnitRates::centered(&sorted, weights, &spreads, |_| {
            next.next().expect("as many")
        })
    }

    /// The same with centers that were not known when the first unit was judged; the spreads were.
    pub fn with_later_centers(
        errors: &[UnitErrors],
        weights: &[f64],
        spreads: &[Spread],
        centers: &[f64],
    ) -> Option<UnitRates> {
        assert!(
            centers.iter().all(|center| (0.0..=1.0).contains(center)),
            "centers"
        );
        UnitRates::centered(errors, weights, spreads, |error| centers[error.secret])
    }

    /// With a center for each unit and secret, in the order of the errors.
    fn centered(
        errors: &[UnitErrors],
        weights: &[f64],
        spreads: &[Spread],
        mut center: impl FnMut(&UnitErrors) -> f64,
    ) -> Option<UnitRates> {
        assert!(
            weights.iter().all(|&w| w >= 0.0 && w.is_finite()),
            "weights"
        );
        assert!(
            spreads.iter().all(|s| (0.0..=1.0).contains(&s.center)),
            "centers"
        );
        let mut units_of = vec![0u64; weights.len()];
        for error in errors {
            assert!(error.errors <= error.rows && error.rows > 0, "{error:?}");
            units_of[error.secret] += 1;
        }
        if weights
            .iter()
            .zip(&units_of)
            .any(|(&w, &n)| w > 0.0 && n == 0)
        {
            return None;
        }
        let units = errors.iter().map(|error| error.unit + 1).max().unwrap_or(0);
        let mut parts = vec![0.0; units];
        let mut ranges = vec![(0.0, 0.0); units];
        let mut planned = ranges.clone();
        let mut deviations = vec![0.0f64; units];
        let mut centers = 0.0;
        for error in errors {
            let center = center(error);
            if weights[error.secret] <= 0.0 {
                continue;
            }
            let scale = weights[error.secret] / units_of[error.secret] as f64;
            let Spread {
                center: plan,
                deviation,
            } = spreads[error.secret];
            centers += scale * center;
            let range = &mut planned[error.unit];
            *range = (range.0 - scale * plan, range.1 + scale * (1.0 - plan));
            let range = &mut ranges[error.unit];
            parts[error.unit] += scale * (error.errors as f64 / error.rows as f64 - center);
            *range = (range.0 - scale * center, range.1 + scale * (1.0 - center));
            deviations[error.unit] = deviations[error.unit].hypot(scale * deviation);
        }
        Some(UnitRates {
            groups: None,
            parts,
            ranges,
            planned,
            center: centers,
            weight: weights.iter().sum(),
            variance: deviations.iter().map(|d| d * d).sum(),
        })
    }

    /// Blocks judged one after another, with shares that sum to 1 and were fixed beforehand: limits are of
    /// the mean of the blocks' sums.
    ///
    /// # Conditions
    /// All spreads, and what variances are [expected](Self::expecting), were known before the first block was judged.
    pub fn join(blocks: &[(f64, UnitRates)]) -> UnitRates {
        let mut all = UnitRates {
            parts: Vec::new(),
            groups: None,
            ranges: Vec::new(),
            planned: Vec::new(),
            center: 0.0,
            weight: 0.0,
            variance: 0.0,
        };
        for (share, block) in blocks {
            all.parts
                .extend(block.parts.iter().map(|part| share * part));
            let scaled = |range: &(f64, f64)| (share * range.0, share * range.1);
            all.ranges.extend(block.ranges.iter().map(scaled));
            all.planned.extend(block.planned.iter().map(scaled));
            all.center += share * block.center;
            all.weight += share * block.weight;
            all.variance += share * share * block.variance;
        }
        all
    }

    /// The same, with the variance to expect taken from other units with the same weights and centers, which
    /// sees what cancels between the secrets of a unit. For width only.
    #[must_use]
    pub fn expecting(mut self, past: &UnitRates) -> UnitRates {
        let widest = past
            .ranges
            .iter()
            .fold(0.0f64, |most, r| most.max(r.1 - r.0));
        let squares: f64 = past.parts.iter().map(|part| part * part).sum();
        if past.units() > 0.0 && self.units() > 0.0 {
            // A unit that is off by a quarter of the range, lest few equal units promise no variance.
            self.variance = (squares + widest * widest / 16.0) * past.units() / self.units();
        }
        self
    }

    /// About how far the limits at a level are from the point: for choosing between methods before errors
    /// are seen. It depends on the units, the centers and the variance to expect, never on the errors.
    ///
    /// # Formula
    /// The least over the stakes Λ of weight w of (ln(1/α) + ln(1/w))/Λ + Λ·variance/2.
    pub fn width(&self, alpha: f64) -> f64 {
        let most_down = self
            .planned
            .iter()
            .fold(0.0f64, |most, r| most.max(-r.0).max(r.1));
        stakes(most_down, self.squares(), self.variance, alpha)
            .into_iter()
            .map(|(stake, weight)| {
                -(alpha.ln() + weight.ln()) / stake + 0.5 * stake * self.variance
            })
            .fold(f64::INFINITY, f64::min)
    }

    /// The same, with equal parts taken together: much faster where there are few different ones.
    #[must_use]
    pub fn grouped(mut self) -> UnitRates {
        self.groups = groups(&self.parts);
        self
    }

    /// How many units could have moved the sum.
    fn units(&self) -> f64 {
        self.ranges.iter().filter(|r| r.1 > r.0).count() as f64
    }

    /// Parts, or their mirror images, with how often each comes and how far it could have fallen, where that may be more
    /// than planned.
    fn terms(&self, sign: f64) -> impl Iterator<Item = Term> + Clone {
        let groups = self.groups.as_deref();
        let alone = match groups {
            Some(_) => 0,
            None => self.parts.len(),
        };
        let groups = groups.unwrap_or_default().iter();
        let groups = groups.map(move |&(part, times)| Term::of(sign * part, times));
        let alone = (0..alone).map(move |at| {
            let (low, high) = self.ranges[at];
            Term {
                fall: if sign > 0.0 { -low } else { high },
                ..Term::of(sign * self.parts[at], 1.0)
            }
        });
        groups.chain(alone)
    }

    /// Stakes for limits from one side, by what was planned.
    fn stakes(&self, sign: f64, alpha: f64) -> Vec<(f64, f64)> {
        let falls = self.planned.iter();
        let most_down = falls
            .map(|range| if sign > 0.0 { -range.0 } else { range.1 })
            .fold(0.0, f64::max);
        stakes(most_down, self.squares(), self.variance, alpha)
    }

    /// The largest variance that was planned for.
    fn squares(&self) -> f64 {
        let planned = self.planned.iter();
        planned.map(|r| r.0.abs().max(r.1).powi(2)).sum()
    }

    /// The weighted sum as observed.
    pub fn point(&self) -> f64 {
        self.center + self.parts.iter().sum::<f64>()
    }

    /// The lower limit at level 1 − `alpha` of the weighted sum of error rates; at least 0.
    ///
    /// # Formula
    /// The θ₀ where the mean over the stakes of the e-value of the [module](self) is 1/α.
    ///
    /// # Conditions
    /// Independent units; rule, weights and spreads fixed before their rows were seen.
    ///
    /// # References
    /// See the [module](self).
    pub fn at_least(&self, alpha: f64) -> f64 {
        let stakes = self.stakes(1.0, alpha);
        let above = limit_above_center(self.terms(1.0), self.units(), &stakes, alpha);
        (self.center + above).clamp(0.0, self.weight)
    }

    /// The upper limit at level 1 − `alpha` of the weighted sum of error rates; at most Σ weights.
    /// Formula and conditions: the mirror image of [`at_least`](Self::at_least).
    pub fn at_most(&self, alpha: f64) -> f64 {
        let stakes = self.stakes(-1.0, alpha);
        let above = limit_above_center(self.terms(-1.0), self.units(), &stakes, alpha);
        (self.center - above).clamp(0.0, self.weight)
    }
}

/// The different parts and how many units have each; `None` if that is hardly shorter.
fn groups(parts: &[f64]) -> Option<Vec<(f64, f64)>> {
    const SHORTER: usize = 4;
    let mut sorted = parts.to_vec();
    sorted.sort_by(f64::total_cmp);
    let groups = sorted.chunk_by(|one, next| one == next);
    let groups: Vec<(f64, f64)> = groups.map(|equal| (equal[0], equal.len() as f64)).collect();
    (SHORTER * groups.len() <= parts.len()).then_some(groups)
}

/// Stakes Λ with their weights: half on the one for the expected variance, the rest spread.
pub(crate) fn stakes(most_down: f64, squares: f64, variance: f64, alpha: f64) -> Vec<(f64, f64)> {
    let largest = MOST_LOST / most_down.max(f64::MIN_POSITIVE);
    let cost = 2.0 * ((1.0 / alpha).ln() + 1.0);
    let best = |variance: f64| (cost / variance.max(f64::MIN_POSITIVE)).sqrt().min(largest);
    let spread = (0..STAKES).map(|j| (best(squares * 0.25f64.powi(j)), 0.5 / f64::from(STAKES)));
    spread.chain([(best(variance), 0.5)]).collect()
}

/// A factor 1 + Λc of the capital.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Term {
    part: f64,
    /// How often it comes.
    times: f64,
    /// How far below 0 it could have been, where stakes were chosen without knowing that; 0 where they were not.
    fall: f64,
}

impl Term {
    /// One that stakes allow for.
    pub(crate) fn of(part: f64, times: f64) -> Self {
        Term {
            part,
            times,
            fall: 0.0,
        }
    }
}

/// The x with Σ_j weight_j Π (1 + Λ_j(c + d))/(1 + Λ_j(x + D)/n)ⁿ = 1/α, from below, for n terms that are not 0 throughout. Each d
/// lifts a term as far as its stake needs, and D is their sum.
pub(crate) fn limit_above_center(
    terms: impl Iterator<Item = Term> + Clone,
    number: f64,
    stakes: &[(f64, f64)],
    alpha: f64,
) -> f64 {
    let number = number.max(1.0);
    let grown: Vec<(f64, f64, f64)> = stakes
        .iter()
        .map(|&(stake, weight)| {
            let (mut ln, mut lifted) = (weight.ln(), 0.0);
            for Term { part, times, fall } in terms.clone() {
                let lift = (fall - MOST_LOST / stake).max(0.0);
                ln += times * (stake * (part + lift)).ln_1p();
                lifted += times * lift;
            }
            (stake, ln, lifted)
        })
        .collect();
    // Each stake alone gives a limit; the mixture's is at least the best of them, and at most the best with all stakes
    // as good as it.
    let alone = |more: f64| {
        let limits = grown.iter().map(|&(stake, ln, lifted)| {
            let ln = ln + alpha.ln() + more;
            number / stake * (ln / number).exp_m1() - lifted
        });
        limits.fold(f64::NEG_INFINITY, f64::max)
    };
    let ln_capital = |x: f64| {
        let terms = grown.iter().map(|&(stake, ln, lifted)| {
            let mean = stake * (x + lifted) / number;
            // A mean that low is impossible.
            match mean > -1.0 {
                true => ln - number * mean.ln_1p(),
                false => f64::INFINITY,
            }
        });
        let most = terms.clone().fold(f64::NEG_INFINITY, f64::max);
        if most == f64::INFINITY {
            return most;
        }
        most + terms.map(|term| (term - most).exp()).sum::<f64>().ln()
    };
    let bracket = (alone(0.0), alone((grown.len() as f64).ln()));
    bisect(bracket, 60, |middle| ln_capital(middle) >= -alpha.ln()).0
}

/// One row of every unit, at random: (errors, rows) of each secret, independent, for limits that count rows
/// (Clopper–Pearson, pooled). A unit with several secrets gives a row of one of them, each alike.
///
/// With few rows a unit, or units that differ little, betting on unit means is wider than the binomial by
/// nearly half; with units that vary less than rows do, it is narrower: see [`betting_is_narrower`].
///
/// # Conditions
/// `rng` is independent of the log. Units of one secret may have different means (Hoeffding 1956,
/// doi:10.1214/aoms/1177728178: use [`poisson_binomial`](crate::poisson_binomial)).
pub fn one_row_a_unit(
    errors: &[UnitErrors],
    secrets: usize,
    rng: &mut impl Rng,
) -> Vec<(u64, u64)> {
    let mut sorted: Vec<&UnitErrors> = errors.iter().filter(|error| error.rows > 0).collect();
    sorted.sort_by_key(|error| (error.unit, error.secret));
    let mut tallies = vec![(0, 0); secrets];
    for unit in sorted.chunk_by(|x, y| x.unit == y.unit) {
        let chosen = unit[rng.random_range(0..unit.len())];
        let tally = &mut tallies[chosen.secret];
        tally.0 += u64::from(rng.random_range(0..chosen.rows) < chosen.errors);
        tally.1 += 1;
    }
    tallies
}

/// Whether limits by betting promise to be narrower than one row a unit, at the spread expected.
///
/// # Formula
/// √(2(ln(1/α) + 1)) · deviation < z_α √(center(1 − center)).
pub fn betting_is_narrower(spread: &Spread, alpha: f64) -> bool {
    let z = -crate::special::normal_quantile(alpha);
    let row = (spread.center * (1.0 - spread.center)).sqrt();
    (2.0 * (1.0 - alpha.ln())).sqrt() * spread.deviation < z * row
}

#[cfg(test)]
mod tests;
