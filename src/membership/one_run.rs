//! Guesses about the canaries of a single training run, from scores that stand in a log.

use rand::Rng;

use crate::audit::{ClaimReport, Pair, PrivacyLimit, Qualification, Unproved, Verdict, is_member};
use crate::estimate::{Method, Reason};
use crate::membership::claims::{Case, Evidence, quantity, refuse_mechanisms};
use leakgauge_base::error::{Error, Result, listing, shorten};
use leakgauge_base::naming::{option, setting};
use leakgauge_base::quantity::{PrivacyParameter, Quantity};
use leakgauge_exact::claim::{BoundClaim, Claim, Guarantee};
use leakgauge_log::{Log, ScoreColumns};
use leakgauge_stats::binomial_tail::at_most;
use leakgauge_stats::one_run::{CanaryGuesses, least};
use leakgauge_stats::random::Stream;

/// The scores of which canaries are larger.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    /// Those of members.
    High,
    /// Those of others, as for losses.
    Low,
}

/// How to judge a run.
#[derive(Debug, Clone)]
pub struct OneRunOptions {
    /// Level of every limit, in [0.5, 1).
    pub confidence: f64,
    /// Seed of the order of equal scores.
    pub seed: u64,
    /// What is claimed.
    pub claims: Vec<Claim>,
    /// The secret of the canaries that were included; by default a usual word for them.
    pub member: Option<String>,
    /// Which scores are larger; if not given, both directions are tried, each at half the level.
    pub direction: Option<Direction>,
    /// How many canaries are guessed to be included, and not to be; if not given, a few numbers share the level.
    pub guesses: Option<[u64; 2]>,
}

/// Guesses at both ends of the scores, and how many are right.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct RunGuesses {
    /// Which scores were taken for those of members.
    pub direction: Direction,
    /// Canaries guessed to be included.
    pub included: u64,
    /// Canaries guessed not to be.
    pub excluded: u64,
    /// Right guesses.
    pub right: u64,
    /// Their part of the level.
    pub part: f64,
}

/// What one training run proves.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct OneRun {
    /// Level of the limits.
    pub confidence: f64,
    /// Seed of the order of equal scores.
    pub seed: u64,
    /// The files.
    pub files: Vec<String>,
    /// The canaries.
    pub canaries: u64,
    /// Those that were included.
    pub included: u64,
    /// The columns of scores.
    pub scores: Vec<String>,
    /// Everything that was guessed; the parts of the level add up to 1.
    pub guesses: Vec<RunGuesses>,
    /// Lower limits of what claims read, without claims of ε at two δ; and of μ. They hold together.
    pub privacy: Vec<PrivacyLimit>,
    /// Lower limits of ε of a training that keeps no more than Gaussian differential privacy: those that the limit of μ
    /// implies.
    pub privacy_if_gaussian: Vec<PrivacyLimit>,
    /// One entry a claim.
    pub claims: Vec<ClaimReport>,
}

/// Shares of canaries that are guessed, half at either end, and their parts of the level. The second and the third are
/// of 1,000 canaries: of more, fewer tell most.
const BOTH_ENDS: [(f64, f64); 3] = [(0.25, 0.2), (0.1875, 0.35), (0.0735, 0.3)];
const CANARIES: f64 = 1000.0;
/// How shares fall with the number of canaries.
const POWER: f64 = 0.3;
/// Share that is guessed at one end alone, and its part of the level.
const ONE_END: (f64, f64) = (0.0625, 0.075);
const DEFAULT_DELTA: f64 = 1e-5;
/// With fewer canaries no guesses prove anything.
const FEWEST: u64 = 10;
const MOST: u64 = 20_000_000;
/// A split of canaries that is this unlikely under coin tosses was not made by coin tosses.
const UNEVEN: f64 = 1e-4;

/// Judges the scores of one run.
///
/// # Errors
/// A log of other than two secrets, without scores, of units, or of too few canaries; guesses of more canaries than
/// there are; no known word for members; a claim that one run says nothing about.
pub fn one_run(log: &Log, options: &OneRunOptions) -> Result<OneRun> {
    if !(0.5..1.0).contains(&options.confidence) {
        return Err(Error::parameter(
            setting("confidence", options.confidence),
            "the level of confidence must be at least 0.5 and below 1",
        ));
    }
    refuse_mechanisms(&options.claims)?;
    let (canaries, included) = canaries(log, options)?;
    let member = member(log, options)?;
    let labels = [&log.secrets[member], &log.secrets[1 - member]].map(String::clone);
    let claims = BoundClaim::bind_all(&options.claims, &labels, &[])?;
    let quantities = quantities(&claims)?;
    let guesses = guess(&sorted(log, member, options.seed)?, options)?;
    let evidence = Run {
        guesses: &guesses,
        canaries,
    };
    let pair = Pair::new(labels.into(), [0, 1]);
    let case = Case {
        evidence: &evidence,
        pair: &pair,
        // Every statement about the same guesses is wrong from some number of right ones on: of several, the first to be
        // wrong is wrong whenever another is. So they hold together, and share nothing.
        alpha: 1.0 - options.confidence,
    };
    let mut judged = claims
        .iter()
        .map(|claim| case.judge(claim))
        .collect::<Result<Vec<_>>>()?;
    let mut privacy: Vec<PrivacyLimit> = listed(&quantities)
        .into_iter()
        .map(|parameter| case.privacy(parameter))
        .collect();
    let mut privacy_if_gaussian = through_mu(&case, &privacy);
    if is_uneven(canaries, included) {
        // The limits need fair coins: without them there are none.
        let limits = privacy.iter_mut().chain(&mut privacy_if_gaussian);
        limits.for_each(|limit| limit.lower = None);
        for claim in &mut judged {
            claim.verdict = Verdict::Inconclusive;
            claim.p_value = None;
            claim.estimate.lower = None;
            claim.estimate.method.lower = None;
            let doubt = Qualification::UnevenInclusion { included, canaries };
            claim.reason.qualifications.push(doubt);
        }
    }
    Ok(OneRun {
        confidence: options.confidence,
        seed: options.seed,
        files: log.facts.files.clone(),
        canaries,
        included,
        scores: score_columns(log),
        privacy,
        privacy_if_gaussian,
        guesses,
        claims: judged,
    })
}

/// What a limit of μ implies of ε, at every δ above 0 that a limit is listed at.
fn through_mu(case: &Case, listed: &[PrivacyLimit]) -> Vec<PrivacyLimit> {
    let mu = case.privacy(PrivacyParameter::Mu).lower;
    let deltas = listed.iter().filter_map(|limit| limit.quantity.delta());
    let mut deltas: Vec<f64> = deltas.filter(|&delta| delta > 0.0).collect();
    if deltas.is_empty() {
        deltas.push(DEFAULT_DELTA);
    }
    let implied = |delta: f64| PrivacyLimit {
        quantity: PrivacyParameter::Epsilon { delta },
        lower: mu.map(|mu| {
            let keeps = Guarantee::Gaussian { mu };
            least(|epsilon| keeps.largest_delta(epsilon) > delta)
        }),
        ..case.privacy(PrivacyParameter::Epsilon { delta })
    };
    deltas.into_iter().map(implied).collect()
}

/// What claims read.
fn quantities(claims: &[BoundClaim]) -> Result<Vec<Quantity>> {
    let quantities = claims.iter().map(quantity);
    let quantities = quantities.collect::<Result<Vec<Quantity>>>()?;
    if quantities.contains(&Quantity::AttackAdvantage) {
        return Err(Error::parameter(
            option("claim"),
            "one run says nothing about the advantage of an attack over many runs",
        )
        .with_hint("claim dp, gdp, zcdp or dp-sgd"));
    }
    Ok(quantities)
}

/// How many canaries there are, and how many were included.
fn canaries(log: &Log, options: &OneRunOptions) -> Result<(u64, u64)> {
    let refused = |problem: String| Error::parameter(setting("design", "one-run"), problem);
    if log.secrets.len() != 2 {
        return Err(refused(format!(
            "needs two secrets, the canaries that were included and the others; the log has {}: {}",
            log.secrets.len(),
            listing(log.secrets.iter().map(String::as_str))
        )));
    }
    if log.units.is_some() {
        return Err(refused("counts canaries, one a row, not units".to_owned()));
    }
    let rows = log.counts.rows();
    let all: u64 = rows.iter().sum();
    if !(FEWEST..=MOST).contains(&all) {
        return Err(refused(format!(
            "needs {FEWEST} to {MOST} canaries; the log has {all}"
        )));
    }
    Ok((all, rows[member(log, options)?]))
}

/// The index of the secret of members.
fn member(log: &Log, options: &OneRunOptions) -> Result<usize> {
    let labels = || listing(log.secrets.iter().map(String::as_str));
    if let Some(wanted) = &options.member {
        let found = log.secrets.iter().position(|secret| secret == wanted);
        return found.ok_or_else(|| {
            Error::parameter(
                setting("member", shorten(wanted)),
                "the log has no such secret",
            )
            .with_hint(format!("its secrets are {}", labels()))
        });
    }
    let mut words = log.secrets.iter().filter(|secret| is_member(secret));
    match (words.next(), words.next()) {
        (Some(only), None) => Ok(usize::from(*only == log.secrets[1])),
        _ => Err(Error::parameter(
            option("member"),
            format!(
                "which of {} were included in the training is not said",
                labels()
            ),
        )
        .with_hint(format!("name them with {}", setting("member", "LABEL")))),
    }
}

fn score_columns(log: &Log) -> Vec<String> {
    let scores = log.facts.scores.as_ref();
    scores.map_or_else(Vec::new, |scores| {
        scores.columns().into_iter().map(str::to_owned).collect()
    })
}

/// Whether each canary is a member, from the largest score to the smallest. Equal scores are in random order, which
/// cannot depend on membership.
fn sorted(log: &Log, member: usize, seed: u64) -> Result<Vec<bool>> {
    let columns = match &log.facts.scores {
        Some(ScoreColumns::One(_)) => None,
        Some(ScoreColumns::PerSecret(columns)) => {
            let column = |secret: usize| {
                columns
                    .iter()
                    .position(|(label, _)| *label == log.secrets[secret])
            };
            let both = column(member).zip(column(1 - member));
            Some(both.ok_or_else(|| {
                Error::parameter(option("scores"), "some secret has no column of scores")
            })?)
        }
        None => {
            return Err(Error::parameter(
                setting("design", "one-run"),
                "needs the scores of an attack",
            )
            .with_hint(format!(
                "add {} and {}",
                setting("scorer", "given"),
                setting("scores", "COLUMN")
            )));
        }
    };
    let score = |symbol: u32| {
        let numbers = log.observations.numbers(symbol);
        columns.map_or(numbers[0], |(of_member, of_other)| {
            numbers[of_member] - numbers[of_other]
        })
    };
    let mut rng = log.randomness(seed).rng(Stream::Canaries);
    let mut canaries: Vec<(f64, u64, bool)> = Vec::new();
    for cell in log.counts.cells() {
        let score = score(cell.symbol);
        let is_member = cell.secret as usize == member;
        canaries.extend((0..cell.count).map(|_| (score, rng.next_u64(), is_member)));
    }
    canaries.sort_unstable_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
    Ok(canaries.into_iter().map(|canary| canary.2).collect())
}

/// All guesses that share the level.
fn guess(sorted: &[bool], options: &OneRunOptions) -> Result<Vec<RunGuesses>> {
    let ways = match options.guesses {
        None => default_ways(sorted.len() as u64),
        Some([included, excluded]) => {
            let all = included.checked_add(excluded);
            if !all.is_some_and(|all| (1..=sorted.len() as u64).contains(&all)) {
                return Err(Error::parameter(
                    setting("guesses", format_args!("{included},{excluded}")),
                    format!(
                        "must be between 1 and {} guesses in all, one a canary",
                        sorted.len()
                    ),
                ));
            }
            vec![([included, excluded], 1.0)]
        }
    };
    let directions = match options.direction {
        Some(direction) => vec![direction],
        None => vec![Direction::High, Direction::Low],
    };
    let of_each = 1.0 / directions.len() as f64;
    let all = directions.into_iter().flat_map(|direction| {
        let ways = ways.iter();
        ways.map(move |&(numbers, part)| count(sorted, direction, numbers, part * of_each))
    });
    Ok(all.collect())
}

/// Numbers of canaries guessed to be included, and not to be, with their parts of the level; settled by the number of
/// canaries alone.
fn default_ways(canaries: u64) -> Vec<([u64; 2], f64)> {
    let number = |share: f64| ((canaries as f64 * share).round() as u64).max(1);
    let fall = (CANARIES / canaries as f64).powf(POWER);
    let [first, others @ ..] = BOTH_ENDS;
    let others = others.map(|(share, part)| ((share * fall).min(0.5), part));
    // Of few canaries no fewer prove anything.
    let first = (first.0.max(others[0].0), first.1);
    let both = [first, others[0], others[1]].map(|(share, part)| ([number(0.5 * share); 2], part));
    let end = number(ONE_END.0);
    let one = [[end, 0], [0, end]].map(|numbers| (numbers, ONE_END.1));
    let mut ways: Vec<([u64; 2], f64)> = Vec::new();
    for (numbers, part) in both.into_iter().chain(one) {
        match ways.iter_mut().find(|way| way.0 == numbers) {
            Some(same) => same.1 += part,
            None => ways.push((numbers, part)),
        }
    }
    ways
}

fn count(
    sorted: &[bool],
    direction: Direction,
    [included, excluded]: [u64; 2],
    part: f64,
) -> RunGuesses {
    let (of_top, of_bottom) = match direction {
        Direction::High => (included, excluded),
        Direction::Low => (excluded, included),
    };
    let top_is_member = direction == Direction::High;
    let top = sorted
        .iter()
        .take(of_top as usize)
        .filter(|&&is| is == top_is_member);
    let bottom = sorted.iter().rev().take(of_bottom as usize);
    let bottom = bottom.filter(|&&is| is != top_is_member);
    RunGuesses {
        direction,
        included,
        excluded,
        right: (top.count() + bottom.count()) as u64,
        part,
    }
}

/// The limits that are listed.
fn listed(quantities: &[Quantity]) -> Vec<PrivacyParameter> {
    let mut listed = Vec::new();
    let read = quantities.iter().filter_map(|quantity| match quantity {
        Quantity::Privacy(parameter) => Some(*parameter),
        _ => None,
    });
    let deltas = [0.0, DEFAULT_DELTA].map(|delta| PrivacyParameter::Epsilon { delta });
    let unasked = deltas.into_iter().filter(|_| quantities.is_empty());
    for parameter in read.chain(unasked).chain([PrivacyParameter::Mu]) {
        if !listed.contains(&parameter) {
            listed.push(parameter);
        }
    }
    listed
}

fn is_uneven(canaries: u64, included: u64) -> bool {
    let fewer = included.min(canaries - included);
    2.0 * at_most(fewer, canaries, 0.5) < UNEVEN
}

struct Run<'a> {
    guesses: &'a [RunGuesses],
    canaries: u64,
}

impl Run<'_> {
    /// All guesses with their parts of α.
    fn each(&self, alpha: f64) -> impl Iterator<Item = (CanaryGuesses, f64)> {
        self.guesses.iter().map(move |guesses| {
            let made = guesses.included + guesses.excluded;
            let counted = CanaryGuesses::new(self.canaries, made, guesses.right);
            (counted, alpha * guesses.part)
        })
    }

    fn lower(&self, quantity: Quantity, alpha: f64) -> Option<f64> {
        let limit = |(guesses, part): (CanaryGuesses, f64)| match quantity {
            Quantity::Privacy(PrivacyParameter::Epsilon { delta }) => {
                guesses.epsilon_at_least(delta, part)
            }
            Quantity::Privacy(PrivacyParameter::Mu) => guesses.mu_at_least(part),
            Quantity::Privacy(PrivacyParameter::Rho) => {
                least(|rho| guesses.refutes_curve(&concentrated(rho), part))
            }
            Quantity::Privacy(PrivacyParameter::Renyi { order }) => {
                least(|epsilon| guesses.refutes_curve(&renyi(order, epsilon), part))
            }
            _ => guesses.total_variation_at_least(part),
        };
        self.each(alpha).map(limit).reduce(f64::max)
    }
}

/// Some (ε, δ) that zero-concentrated differential privacy implies.
fn concentrated(rho: f64) -> Vec<(f64, f64)> {
    implied(Guarantee::Concentrated { rho }, rho, rho.sqrt())
}

/// Some (ε, δ) that Rényi differential privacy of one order implies.
fn renyi(order: f64, epsilon: f64) -> Vec<(f64, f64)> {
    let guarantee = Guarantee::Renyi { order, epsilon };
    implied(guarantee, epsilon, (epsilon / order).sqrt())
}

/// The δ that a guarantee leaves at some ε from the first on, in steps of a part of this deviation.
fn implied(guarantee: Guarantee, first: f64, deviation: f64) -> Vec<(f64, f64)> {
    const POINTS: u32 = 24;
    const STEP: f64 = 0.3;
    let epsilon = |at: u32| first + STEP * f64::from(at) * deviation;
    let point = |at: u32| (epsilon(at), guarantee.largest_delta(epsilon(at)));
    let total_variation = (0.0, guarantee.largest_total_variation());
    (0..POINTS).map(point).chain([total_variation]).collect()
}

impl Evidence for Run<'_> {
    fn point(&self, _: Quantity) -> Option<f64> {
        None
    }

    fn limits(&self, quantity: Quantity, alpha: f64) -> [Option<f64>; 2] {
        [self.lower(quantity, alpha), None]
    }

    fn refutes(&self, quantity: Quantity, allowed: f64, alpha: f64) -> bool {
        self.each(alpha).any(|(guesses, part)| match quantity {
            Quantity::Privacy(PrivacyParameter::Epsilon { delta }) => {
                guesses.refutes_curve(&[(allowed, delta)], part)
            }
            Quantity::Privacy(PrivacyParameter::Mu) => guesses.refutes_gaussian(allowed, part),
            Quantity::Privacy(PrivacyParameter::Rho) => {
                guesses.refutes_curve(&concentrated(allowed), part)
            }
            Quantity::Privacy(PrivacyParameter::Renyi { order }) => {
                guesses.refutes_curve(&renyi(order, allowed), part)
            }
            _ => guesses.refutes_curve(&[(0.0, allowed)], part),
        })
    }

    fn refutes_curve(&self, curve: &[(f64, f64)], alpha: f64) -> bool {
        self.each(alpha)
            .any(|(guesses, part)| guesses.refutes_curve(curve, part))
    }

    fn method(&self) -> Method {
        Method::OneRunGuesses
    }

    fn unproved(&self) -> Unproved {
        Unproved::OneAttack
    }

    fn no_upper(&self) -> Reason {
        Reason::OneRun
    }
}
