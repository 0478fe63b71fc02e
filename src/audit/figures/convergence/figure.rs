//! Would more rows help? The attack learned from ever fewer rows, and where its errors seem to end.

use rand_chacha::ChaCha8Rng;

use crate::audit::basis::Evidence;
use crate::audit::claims::rows_needed;
use crate::audit::figures::convergence::conclusion::{Conclusion, Course, Learning};
use crate::audit::figures::convergence::{Asymptotic, Convergence, ConvergencePoint, Extrapolated};
use crate::audit::figures::pairs::WorstPair;
use crate::audit::figures::stages::{Figure, Settled};
use crate::audit::plan::Plan;
use crate::audit::prepare::Prepared;
use leakgauge_attack::pairwise::{Judgement, Rule, judge};
use leakgauge_attack::scorer::{KNearest, Neighbors, Origin, Rank};
use leakgauge_attack::split::{self, Split};
use leakgauge_attack::tuning::{Attackers, Tuned};
use leakgauge_base::parallel;
use leakgauge_exact::leakage;
use leakgauge_log::observations::{Counts, Observations};
use leakgauge_stats::learning_curve::{self, Extrapolation};
use leakgauge_stats::random::Stream;

/// Numbers of learning rows, each half of the next.
const MOST_SIZES: usize = 8;
/// Fewer rows than this of the most frequent secret show nothing.
const LEAST_ROWS: u64 = 8;
/// Rows that judge every size: enough for a rate to within 0.01.
const JUDGED: u64 = 20_000;
/// Groups of judged rows, for standard errors.
const GROUPS: usize = 8;
/// Learning rows of the nearest neighbor.
const NEAREST_ROWS: u64 = 50_000;
/// A change that is worth more rows.
const WORTH: f64 = 0.01;
/// Errors at one number of learning rows: of the whole log, and of the worst pair.
struct Size {
    rows: u64,
    /// Bayes risk and 1 − advantage, for all judged rows first, then without each group.
    risk: Vec<f64>,
    pair: Vec<f64>,
}

/// The learning curve of the attack.
pub(crate) struct LearningCurve;

impl Figure for LearningCurve {
    type Plan = ();
    type Judged = ();
    type Found = Option<Convergence>;

    fn plan(_: &Prepared, _: &Tuned, _: &mut Plan) {}

    fn judge(_: &Prepared, _: &Tuned, (): &()) {}

    fn figure((): &(), (): &(), settled: &Settled) -> Self::Found {
        let Prepared { split, priors, .. } = settled.prepared;
        let mut found = convergence(settled.evidence, split, settled.worst_pair, &priors[0])?;
        // Rows are too few for what holds with infinitely many, where it contradicts a limit.
        let risk = &settled.overall.bayes_risk;
        let blind = settled.overall.guessing_error;
        found.cover_hart = found.cover_hart.filter(|found| {
            let [least, most] = found.bayes_risk;
            let is_above = risk.upper.is_some_and(|upper| least > upper);
            let is_below = risk.lower.is_some_and(|lower| most < lower);
            !is_above && !is_below && most <= blind
        });
        Some(found)
    }
}

/// The attack at several numbers of learning rows. `None` where they are too few, and for scores that the
/// log brings.
///
/// The same rows judge every size, and nothing is chosen by what they say.
fn convergence(
    evidence: &Evidence,
    split: &Split,
    worst: &WorstPair,
    prior: &[f64],
) -> Option<Convergence> {
    // Standard errors over rows say nothing of rows that depend on each other.
    if evidence.independence.is_of_units() {
        return None;
    }
    if evidence.options.quick || evidence.tuned.scorer.origin() == Origin::Given {
        return None;
    }
    let mut rng = evidence.random.rng(Stream::Convergence);
    let judged = thin(&split.certify, JUDGED, &mut rng);
    let groups = split::folds(&judged, GROUPS, &mut rng);
    let rule = evidence.tuned.choices[evidence.worst].rule;
    let learn = split.fit.plus(&split.tune);
    let observations = evidence.observations;
    let parts = halves(learn.clone(), &mut rng);
    let judged_sizes = parallel::map(parts.len(), |at| {
        let part = &parts[at];
        let attackers = if at == 0 {
            evidence.tuned.attackers()
        } else {
            let attackers = evidence.tuned.attackers();
            attackers.learned_from(observations, part).ok()?
        };
        let rows = part.total();
        Some(Size::judge(
            &attackers,
            observations,
            &groups,
            rule,
            prior,
            rows,
        ))
    });
    // Where too few rows are left to learn from, the curve begins.
    let learned = judged_sizes.into_iter().map_while(|size| size);
    let mut sizes = learned.collect::<Option<Vec<Size>>>()?;
    sizes.reverse();
    let (points, [risk, pair]) = curves(&sizes, leakage::guessing_error(prior));
    Some(Convergence {
        judged_rows: judged.total(),
        cover_hart: cover_hart(evidence, &learn, &judged, &mut rng),
        conclusion: conclude(evidence, &points, risk.as_ref(), worst),
        bayes_risk: risk.map(|found| Extrapolated {
            limit: found.limit,
            standard_error: found.standard_error,
        }),
        total_variation: pair.map(|found| Extrapolated {
            limit: 1.0 - found.limit,
            standard_error: found.standard_error,
        }),
        points,
    })
}

/// About so many rows, every secret's share, but at least a few of each.
fn thin(counts: &Counts, most: u64, rng: &mut ChaCha8Rng) -> Counts {
    const LEAST: u64 = 20;
    let share = most as f64 / counts.total().max(1) as f64;
    if share >= 1.0 {
        return counts.clone();
    }
    split::subset(
        counts,
        |rows| ((rows as f64 * share) as u64).max(LEAST),
        rng,
    )
}

/// All learning rows, half of them, half of those, …
fn halves(learn: Counts, rng: &mut ChaCha8Rng) -> Vec<Counts> {
    let enough = |part: &Counts| part.rows().iter().any(|&rows| rows >= LEAST_ROWS);
    let mut parts = vec![learn];
    while parts.len() < MOST_SIZES {
        let last = parts.last().expect("all of them at least");
        let half = split::subset(last, |rows| rows.div_ceil(2), rng);
        if !enough(&half) || half.total() == last.total() {
            break;
        }
        parts.push(half);
    }
    parts
}

impl Size {
    /// `None` if a secret that counts was not judged.
    fn judge(
        attackers: &Attackers,
        observations: &Observations,
        groups: &[Counts],
        rule: Rule,
        prior: &[f64],
        rows: u64,
    ) -> Option<Size> {
        let judged: Vec<Judgement> = attackers.judge_groups(observations, groups, &[rule]);
        let without = |left_out: usize| {
            let kept = judged
                .iter()
                .enumerate()
                .filter(move |(at, _)| *at != left_out);
            errors(kept.map(|(_, judgement)| judgement), prior)
        };
        let (risk, pair) = (0..=groups.len())
            .map(|at| without(at.checked_sub(1).unwrap_or(usize::MAX)))
            .collect::<Option<Vec<(f64, f64)>>>()?
            .into_iter()
            .unzip();
        Some(Size { rows, risk, pair })
    }
}

/// Bayes risk and 1 − advantage of the pair over several groups.
fn errors<'a>(groups: impl Iterator<Item = &'a Judgement>, prior: &[f64]) -> Option<(f64, f64)> {
    let mut pair = [0u64; 4];
    let mut guesses = vec![(0u64, 0u64); prior.len()];
    for group in groups {
        let tally = group.tallies[0];
        let counts = [tally.a_missed, tally.a_rows, tally.b_missed, tally.b_rows];
        pair.iter_mut().zip(counts).for_each(|(sum, n)| *sum += n);
        let judged = group.guesses[0].errors.iter().zip(&group.guesses[0].rows);
        for (sum, (errors, rows)) in guesses.iter_mut().zip(judged) {
            *sum = (sum.0 + errors, sum.1 + rows);
        }
    }
    let rate = |errors: u64, rows: u64| (rows > 0).then(|| errors as f64 / rows as f64);
    let counted = prior.iter().zip(&guesses).filter(|(p, _)| **p > 0.0);
    let risk = counted
        .map(|(p, &(errors, rows))| Some(p * rate(errors, rows)?))
        .sum::<Option<f64>>()?;
    Some((risk, rate(pair[0], pair[1])? + rate(pair[2], pair[3])?))
}

/// The points of the report, within what is possible, and both curves extrapolated. Blind guessing errs so often.
fn curves(sizes: &[Size], blind: f64) -> (Vec<ConvergencePoint>, [Option<Extrapolation>; 2]) {
    let points = sizes
        .iter()
        .map(|size| ConvergencePoint {
            rows: size.rows,
            bayes_risk: size.risk[0].min(blind),
            total_variation: (1.0 - size.pair[0]).max(0.0),
        })
        .collect();
    let rows: Vec<f64> = sizes.iter().map(|size| size.rows as f64).collect();
    let extrapolate = |values: &dyn Fn(&Size) -> &[f64]| {
        let at = |group: usize| sizes.iter().map(|size| values(size)[group]).collect();
        let without: Vec<Vec<f64>> = (1..=GROUPS).map(at).collect();
        learning_curve::extrapolate(&rows, &at(0), &without)
    };
    let both = [
        extrapolate(&|size| &size.risk),
        extrapolate(&|size| &size.pair),
    ];
    (points, both)
}

/// The bracket of Cover and Hart, where there are numbers and the rows that learn are drawn like those that
/// judge: its secrets are as frequent as in the log.
fn cover_hart(
    evidence: &Evidence,
    learn: &Counts,
    judged: &Counts,
    rng: &mut ChaCha8Rng,
) -> Option<Asymptotic> {
    /// Shares of secrets among learning and judged rows may differ by so much.
    const ALIKE: f64 = 0.01;
    let observations = evidence.observations;
    if observations.dimensions() == 0 || observations.category_count() > 1 {
        return None;
    }
    let learn = thin(learn, NEAREST_ROWS, rng);
    let share =
        |rows: &[u64], secret: usize| rows[secret] as f64 / rows.iter().sum::<u64>().max(1) as f64;
    let differ = |secret: usize| {
        let learned = share(learn.rows(), secret);
        let in_log = evidence.sampled.map(|sampled| &sampled.rows[..]);
        let mut others = [Some(judged.rows()), in_log].into_iter().flatten();
        others.any(|rows| (learned - share(rows, secret)).abs() > ALIKE)
    };
    if (0..learn.secrets()).any(differ) {
        return None;
    }
    let neighbors = Neighbors::fit(observations, &learn);
    let nearest = KNearest::new("nearest", neighbors.into(), Rank::Fixed(1), 1.0);
    let secrets = learn.secrets();
    // The scores take out how often a secret was learned; the rule of the nearest neighbor does not.
    let prior = learn.rows().iter().map(|&rows| rows as f64).collect();
    let found = judge(&nearest, observations, judged, &[], &[prior]);
    let errors: u64 = found.guesses[0].errors.iter().sum();
    let error = errors as f64 / judged.total() as f64;
    let (lower, upper) = learning_curve::cover_hart(error, secrets);
    Some(Asymptotic {
        bayes_risk: [lower, upper],
        nearest_neighbor_error: error,
        rows: learn.total(),
    })
}

/// Whether more rows would help.
fn conclude(
    evidence: &Evidence,
    points: &[ConvergencePoint],
    risk: Option<&Extrapolation>,
    worst: &WorstPair,
) -> Conclusion {
    let attack = &worst.attack_advantage;
    let learning = match (risk, points.last()) {
        (Some(risk), Some(last)) => learning(evidence, risk, last),
        _ => Learning::Unknown,
    };
    Conclusion {
        learning,
        // What earlier rows prove may be beyond what the last attack reached.
        certification_gap: attack
            .point
            .zip(worst.total_variation.lower)
            .map(|(point, lower)| (point - lower).max(0.0)),
    }
}

fn learning(evidence: &Evidence, risk: &Extrapolation, last: &ConvergencePoint) -> Learning {
    let course = Course {
        risk: last.bayes_risk,
        end: risk.limit,
        standard_error: risk.standard_error,
    };
    let Some((factor, then)) = longer(risk, last) else {
        return Learning::Enough(course);
    };
    let used = evidence.counts.total() as f64;
    Learning::More {
        course,
        rows: rows_needed::sensible((factor - 1.0) * used),
        factor,
        risk: then,
        at_hand: rows_needed::from_the_log(evidence, (factor * used) as u64),
    }
}

/// The first of some longer logs on which the attack would do clearly better, and its errors there.
fn longer(risk: &Extrapolation, last: &ConvergencePoint) -> Option<(f64, f64)> {
    let clear = last.bayes_risk - risk.limit >= WORTH.max(2.0 * risk.standard_error);
    let now = risk.curve.gap_at(last.rows as f64);
    [2.0, 4.0, 10.0, 100.0]
        .into_iter()
        .map(|factor| (factor, now - risk.curve.gap_at(factor * last.rows as f64)))
        .find(|(_, gain)| clear && *gain >= WORTH)
        .map(|(factor, gain)| (factor, last.bayes_risk - gain))
}
