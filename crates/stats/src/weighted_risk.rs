//! Limits for a weighted risk R = Σ π_s p_s from independent Bernoulli rows.
//!
//! Secret s has `errors` in `rows` independent rows of error probability p_s, and the weights π are
//! fixed beforehand. With S = Σ π_s · errors_s/rows_s and w_s = π_s/rows_s, for every t ≥ 0
//!
//! P(S ≤ x) ≤ e^{tx} Π (1 − p_s a_s)^{rows_s},  a_s = 1 − e^{−t w_s}.
//!
//! Let B(R, x) be the least over t of the largest right side over all p ∈ \[0,1\]^S with
//! Σ π_s p_s = R. Then P(S ≤ x) ≤ B(R, x) whatever p is, and B grows with x. The upper limit is
//! U(S) = sup{R : B(R, S) ≥ α}: if R > U(S) then P(S′ ≤ x) < α at the observed x = S, which happens
//! with probability at most α.
//!
//! For a fixed t the right side falls in R, so U = min_t U_t with U_t the R where it meets α. Any
//! set of values of t, also one that depends on the data, gives a minimum of at least U: an
//! imprecise search for t costs width, never validity. It is convex in t, hence U_t is
//! quasi-convex, and a golden-section search finds the minimum. By Hoeffding's lemma the right side
//! at t = √(8 ln(1/α) / Σ π²/n) is at most e^{t(x−R) + t² Σπ²/(8n)}, so that U never exceeds
//! Hoeffding's limit S + √(Σ π²/n · ln(1/α)/2); the search begins there.
//!
//! For a fixed t the largest right side is a concave problem solved by water-filling:
//! p_s = clip(1/a_s − ν/w_s, 0, 1), where −rows_s · ln(1 − p_s a_s) is piecewise linear in ln ν.

/// One secret's errors.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Stratum {
    /// The secret's weight π, at least 0, fixed without looking at the errors.
    pub weight: f64,
    /// Rows with an error, at most `rows`.
    pub errors: u64,
    /// Independent rows.
    pub rows: u64,
}

/// The upper limit at level 1 − `alpha` for Σ weight · p; at most Σ weight.
///
/// A stratum without rows counts as p = 1. The weights need not sum to 1.
///
/// # Formula
/// Chernoff's bound, least favorable p: see the [module](self). Never above Hoeffding's limit.
///
/// # Conditions
/// Independent rows, each stratum's with one p; weights and numbers of rows do not depend on the
/// errors. Valid at every sample size, for any p.
///
/// # References
/// Chernoff (1952), 10.1214/aoms/1177729330; Hoeffding (1963), Theorems 1 and 2,
/// 10.1080/01621459.1963.10500830.
///
/// # Panics
/// If a weight is negative or not finite, errors exceed rows, or `alpha` is not strictly between 0
/// and 1.
pub fn chernoff_upper(strata: &[Stratum], alpha: f64) -> f64 {
    check(strata, alpha);
    let unseen: f64 = strata
        .iter()
        .filter(|s| s.rows == 0)
        .map(|s| s.weight)
        .sum();
    let total: f64 = strata.iter().map(|s| s.weight).sum();
    let seen = Problem::new(strata, alpha).map_or(0.0, |problem| problem.upper());
    (unseen + seen).min(total)
}

/// The lower limit at level 1 − `alpha` for Σ weight · p; at least 0.
///
/// A stratum without rows counts as p = 0. The mirror image of [`chernoff_upper`], with its
/// conditions and references.
///
/// # Panics
/// As [`chernoff_upper`].
pub fn chernoff_lower(strata: &[Stratum], alpha: f64) -> f64 {
    check(strata, alpha);
    let mirrored: Vec<Stratum> = strata
        .iter()
        .filter(|s| s.rows > 0)
        .map(|s| Stratum {
            errors: s.rows - s.errors,
            ..*s
        })
        .collect();
    let total: f64 = mirrored.iter().map(|s| s.weight).sum();
    let Some(problem) = Problem::new(&mirrored, alpha) else {
        return 0.0;
    };
    (total - problem.upper() - 1e-15 * total).max(0.0)
}

/// Hoeffding's radius for Σ weight · p: the plug-in value ± this is a valid limit on either side.
///
/// # Formula
/// √(Σ π²/n · ln(1/α) / 2); infinite if a stratum of positive weight has no rows.
///
/// # Conditions
/// As [`chernoff_upper`], which is never wider.
///
/// # References
/// Hoeffding (1963), Theorem 2, 10.1080/01621459.1963.10500830.
///
/// # Panics
/// As [`chernoff_upper`].
pub fn hoeffding_radius(strata: &[Stratum], alpha: f64) -> f64 {
    check(strata, alpha);
    let positive = strata.iter().filter(|s| s.weight > 0.0);
    let variation: f64 = positive.map(|s| s.weight * s.weight / s.rows as f64).sum();
    (variation * -alpha.ln() / 2.0).sqrt()
}

fn check(strata: &[Stratum], alpha: f64) {
    assert!(alpha > 0.0 && alpha < 1.0, "a level in (0, 1), not {alpha}");
    for s in strata {
        assert!(
            s.weight >= 0.0 && s.weight.is_finite(),
            "weight {}",
            s.weight
        );
        assert!(s.errors <= s.rows, "{} errors in {} rows", s.errors, s.rows);
    }
}

/// Strata of equal weight and rows, taken together: they share the least favorable p.
struct Group {
    /// Weight per row, π/n.
    unit: f64,
    /// Σ π over the group.
    weight: f64,
    /// Σ n over the group.
    rows: f64,
}

/// What the search for t needs.
struct Problem {
    groups: Vec<Group>,
    /// S.
    observed: f64,
    /// ln(1/α).
    cost: f64,
    /// Σ π²/n.
    variation: f64,
    /// Σ π.
    weight: f64,
    /// Absolute error of the exponents' sum, added to the cost: validity before width.
    slack: f64,
}

impl Problem {
    /// None if no stratum of positive weight has rows.
    fn new(strata: &[Stratum], alpha: f64) -> Option<Self> {
        let mut seen: Vec<&Stratum> = strata
            .iter()
            .filter(|s| s.rows > 0 && s.weight > 0.0)
            .collect();
        seen.sort_by(|a, b| a.weight.total_cmp(&b.weight).then(a.rows.cmp(&b.rows)));
        let groups: Vec<Group> = seen
            .chunk_by(|a, b| a.weight == b.weight && a.rows == b.rows)
            .map(|equal| {
                let (n, size) = (equal[0].rows as f64, equal.len() as f64);
                Group {
                    unit: equal[0].weight / n,
                    weight: equal[0].weight * size,
                    rows: n * size,
                }
            })
            .collect();
        if groups.is_empty() {
            return None;
        }
        let rows: f64 = groups.iter().map(|g| g.rows).sum();
        Some(Problem {
            observed: seen
                .iter()
                .map(|s| s.weight * (s.errors as f64 / s.rows as f64))
                .sum(),
            cost: -alpha.ln(),
            variation: groups.iter().map(|g| g.unit * g.weight).sum(),
            weight: groups.iter().map(|g| g.weight).sum(),
            slack: rows * 16.0 * f64::EPSILON,
            groups,
        })
    }

    fn upper(&self) -> f64 {
        let hoeffding = self.observed + (self.variation * self.cost / 2.0).sqrt();
        let best = if self.observed == 0.0 {
            self.limit_at(f64::INFINITY, &mut Vec::new())
        } else if self.observed >= self.weight {
            self.weight
        } else {
            // Below this t the limit is Σ π, a plateau that says nothing about the direction.
            let plateau = self.cost / (self.weight - self.observed);
            let start = (8.0 * self.cost / self.variation).sqrt();
            self.search(start.max(1.1 * plateau).ln())
        };
        (best.min(hoeffding) + 4.0 * f64::EPSILON * self.weight).min(self.weight)
    }

    /// The least U_t over t = e^x, from a starting x: a bracket by doubling, then golden sections.
    fn search(&self, start: f64) -> f64 {
        const GOLDEN: f64 = 0.618_033_988_749_894_8;
        let mut lines = Vec::with_capacity(self.groups.len());
        let mut at = |x: f64| self.limit_at(x.exp(), &mut lines);
        let (mut low, mut middle, mut high) = (start - 0.7, start, start + 0.7);
        let (mut left, mut best, mut right) = (at(low), at(middle), at(high));
        for _ in 0..60 {
            if right < best {
                (low, middle, high) = (middle, high, high + 1.6 * (high - middle));
                (left, best, right) = (best, right, at(high));
            } else if left < best {
                (low, middle, high) = (low - 1.6 * (middle - low), low, middle);
                (left, best, right) = (at(low), left, best);
            } else {
                break;
            }
        }
        while high - low > 2e-4 {
            let into_high = high - middle > middle - low;
            let length = if into_high {
                high - middle
            } else {
                low - middle
            };
            let x = middle + (1.0 - GOLDEN) * length;
            let value = at(x);
            let (edge, inner) = if value < best {
                (middle, x)
            } else {
                (x, middle)
            };
            if into_high == (value < best) {
                low = edge;
            } else {
                high = edge;
            }
            middle = inner;
            best = best.min(value);
        }
        best
    }

    /// U_t, rounded outward: the R of the least favorable p whose cost, −Σ n ln(1 − p a), is
    /// ln(1/α) + tS. What `lines` holds makes no difference.
    fn limit_at(&self, t: f64, lines: &mut Vec<Line>) -> f64 {
        let infinite = t == f64::INFINITY;
        let scale = if infinite {
            1.0 / self.groups[0].unit
        } else {
            t
        };
        let budget = if infinite { 0.0 } else { t * self.observed };
        let cost = (self.cost + budget) * (1.0 + 8.0 * f64::EPSILON) + self.slack;
        if t * self.weight <= cost {
            return self.weight;
        }
        lines.clear();
        lines.extend(self.groups.iter().map(|g| Line::new(g, t, scale)));
        let x = cross(lines, cost);
        lines.iter().map(|line| line.weight * line.p(x)).sum()
    }
}

/// What one group pays, as a function of x = ln(1/ν) up to a constant: n·clip(x − from, 0, length).
struct Line {
    rows: f64,
    weight: f64,
    /// 1 − e^{−tw}.
    a: f64,
    /// Where p leaves 0.
    from: f64,
    /// How far until p = 1.
    length: f64,
}

impl Line {
    fn new(group: &Group, t: f64, scale: f64) -> Self {
        let a = -(-t * group.unit).exp_m1();
        Line {
            rows: group.rows,
            weight: group.weight,
            a,
            from: (a / (scale * group.unit)).ln(),
            length: t * group.unit,
        }
    }

    /// −ln(1 − pa).
    fn cost(&self, x: f64) -> f64 {
        (x - self.from).clamp(0.0, self.length)
    }

    fn p(&self, x: f64) -> f64 {
        (-(-self.cost(x)).exp_m1() / self.a).min(1.0)
    }
}

/// The x at which the lines together cost `cost`, not below it: Newton's method on an increasing
/// piecewise linear function, inside a bracket. The lines together can cost more than `cost`.
fn cross(lines: &[Line], cost: f64) -> f64 {
    let end = |line: &Line| line.from + line.length;
    let mut low = lines.iter().map(|l| l.from).fold(f64::INFINITY, f64::min);
    let mut high = lines.iter().map(end).fold(f64::NEG_INFINITY, f64::max);
    if high.is_infinite() {
        // No line ends; at this point even the last to start has paid its share of `cost`.
        let last = lines.iter().map(|l| l.from).fold(low, f64::max);
        high = last + cost / lines.iter().map(|l| l.rows).sum::<f64>();
    }
    let mut x = low;
    for _ in 0..200 {
        let (mut total, mut slope) = (0.0, 0.0);
        for line in lines {
            total += line.rows * line.cost(x);
            if x >= line.from && x < end(line) {
                slope += line.rows;
            }
        }
        if total >= cost {
            high = x;
        } else {
            low = x;
        }
        let newton = x + (cost - total) / slope;
        let next = if newton > low && newton < high {
            newton
        } else if high - low > 1e-15 * (1.0 + high.abs()) && total != cost {
            0.5 * (low + high)
        } else {
            return high;
        };
        if (next - x).abs() <= 1e-16 * (1.0 + x.abs()) {
            return high.min(next + 4.0 * f64::EPSILON * (1.0 + next.abs()));
        }
        x = next;
    }
    high
}

/// The largest equal numbers of rows that make the pooled rows carry the weights exactly: with the
/// same number m of rows from every secret of positive weight, the mean error probability of the
/// pooled rows is Σ π_s p_s / Σ π_s.
///
/// None if the positive weights differ (by more than rounding, 1e-12), or if a secret of positive
/// weight has no rows. A secret of weight 0 gets no rows. Which rows are drawn must not depend on
/// their errors; the pooled count then goes to [`super::poisson_binomial`].
///
/// # Panics
/// If `weights` and `rows` differ in length.
pub fn matched_plan(weights: &[f64], rows: &[u64]) -> Option<Vec<u64>> {
    assert_eq!(weights.len(), rows.len(), "one number of rows per weight");
    let largest = weights.iter().copied().fold(0.0, f64::max);
    let positive = || weights.iter().zip(rows).filter(|&(&w, _)| w > 0.0);
    let least = positive().map(|(_, &n)| n).min()?;
    let uniform = positive().all(|(&w, _)| largest - w <= 1e-12 * largest);
    (least > 0 && uniform).then(|| {
        weights
            .iter()
            .map(|&w| if w > 0.0 { least } else { 0 })
            .collect()
    })
}

#[cfg(test)]
mod tests;
