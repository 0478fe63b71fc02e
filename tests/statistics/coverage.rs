//! Do the limits cover, and do true claims stay unrefuted?

use leakgauge::attack::pairwise::{Advantage, AdvantageMethod, Rule, judge};
use leakgauge::attack::split::Split;
use leakgauge::attack::tuning::{Budget, Goals, ScorerChoice, tune};
use leakgauge::audit::{AuditOptions, Findings, Pair, Verdict, audit};
use leakgauge::claim::Claim;
use leakgauge::estimate::Estimate;
use leakgauge::log::observations::{Cell, Counts};
use leakgauge::log::{Log, ReadOptions, read_from};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;

use super::cases::{self, Case, Shape};
use super::quick::Rates;

const REPLICATES: u64 = 1000;
const ROWS: usize = 10_000;
const QUICK_ROWS: usize = 2_000;
const ALPHA: f64 = 0.05;

pub fn log_of(case: &Case, replicate: u64, rows: usize) -> Log {
    let mut rng = cases::generator(case, replicate);
    let mut csv = case.header().to_owned();
    for (secret, observation) in case.rows(rows, &mut rng) {
        case.write(&case.labels[secret], observation, &mut csv);
    }
    read_from(
        case.name,
        std::io::Cursor::new(csv),
        &ReadOptions::default(),
    )
    .expect("a good log")
}

pub fn audit_with(log: &Log, claims: &[String], scorer: ScorerChoice) -> Findings {
    let options = AuditOptions {
        quick: true,
        attacks: scorer.into(),
        claims: claims
            .iter()
            .map(|claim| Claim::parse(claim).expect("a good claim"))
            .collect(),
        ..AuditOptions::default()
    };
    audit(log, &options).expect("a good log")
}

/// Whether the lower and the upper limit cover: each may be wrong with probability α.
fn covers(estimate: &Estimate, truth: f64) -> [bool; 2] {
    // A truth of 0 is met by limits that are 0 up to rounding.
    [
        estimate.lower.is_none_or(|lower| lower <= truth + 1e-12),
        estimate.upper.is_none_or(|upper| upper >= truth - 1e-12),
    ]
}

pub fn violates(found: &Findings) -> bool {
    found
        .claims
        .iter()
        .any(|claim| claim.verdict == Verdict::Violated)
}

/// A rate of errors against its nominal value.
pub fn check(case: &str, what: &str, errors: usize, replicates: u64, nominal: f64) -> bool {
    let n = replicates as f64;
    let most = n * nominal + 3.0 * (n * nominal * (1.0 - nominal)).sqrt();
    let fine = errors as f64 <= most;
    println!(
        "{case:<22} {what:<44} {errors:>5} of {replicates}, at most {most:.0}{}",
        if fine { "" } else { "  FAILED" }
    );
    fine
}

/// The figures whose coverage is counted.
pub const FIGURES: [&str; 9] = [
    "worst pair at least",
    "worst pair at most",
    "all pairs together at least",
    "all pairs together at most",
    "overall Bayes security at least",
    "overall Bayes security at most",
    "Bayes risk, uniform prior, at least",
    "Bayes risk, uniform prior, at most",
    "attack below total variation",
];

/// Whether each printed figure of an audit covers the truth.
pub fn coverage_of(case: &Case, found: &Findings) -> [bool; FIGURES.len()] {
    let position = |label: &str| case.labels.iter().position(|known| known == label);
    let truth = |pair: &Pair| {
        let [a, b] = pair
            .labels()
            .map(|label| position(label).expect("a known label"));
        (case.total_variation)(a, b)
    };
    let worst = &found.worst_pair;
    let tv = truth(&worst.secrets);
    // Two secrets, or secrets that are all alike. A rare one may be missing from a log.
    let bayes_risk = match found.pairs.len() {
        1 => 0.5 * (1.0 - tv),
        _ => 1.0 - 1.0 / found.input.secrets.len() as f64,
    };
    let pairs = found.pairs.iter();
    let pairs = pairs.map(|pair| covers(&pair.total_variation, truth(&pair.secrets)));
    let [pairs_lower, pairs_upper] =
        pairs.fold([true; 2], |all, one| [0, 1].map(|at| all[at] && one[at]));
    let [worst_lower, worst_upper] = covers(&worst.total_variation, tv);
    let [security_lower, security_upper] =
        covers(&found.overall.bayes_security, 1.0 - case.worst());
    let [risk_lower, risk_upper] = covers(&found.overall.bayes_risk, bayes_risk);
    // The attack's own advantage cannot exceed total variation.
    let [attack_lower, _] = covers(&worst.attack_advantage, tv);
    [
        worst_lower,
        worst_upper,
        pairs_lower,
        pairs_upper,
        security_lower,
        security_upper,
        risk_lower,
        risk_upper,
        attack_lower,
    ]
}

/// What happened with one log: which figures covered, whether all true claims together or each alone
/// were refuted.
struct Outcome {
    covered: [bool; FIGURES.len()],
    together: bool,
    alone: Vec<bool>,
}

fn outcome(case: &Case, scorer: ScorerChoice, replicate: u64, rows: usize) -> Outcome {
    let log = log_of(case, replicate, rows);
    let refutes = |claims: &[String]| violates(&audit_with(&log, claims, scorer));
    Outcome {
        covered: coverage_of(case, &audit_with(&log, &[], scorer)),
        together: refutes(&case.claims),
        alone: case
            .claims
            .iter()
            .map(|claim| refutes(std::slice::from_ref(claim)))
            .collect(),
    }
}

/// Runs a case and says whether all its error rates are within bounds.
fn run(case: &Case, scorer: ScorerChoice, name: &str) -> bool {
    let outcomes: Vec<Outcome> = (0..REPLICATES)
        .into_par_iter()
        .map(|replicate| outcome(case, scorer, replicate, ROWS))
        .collect();
    let count =
        |wrong: &dyn Fn(&Outcome) -> bool| outcomes.iter().filter(|outcome| wrong(outcome)).count();
    let mut fine = true;
    for (at, figure) in FIGURES.into_iter().enumerate() {
        fine &= check(
            name,
            figure,
            count(&|outcome| !outcome.covered[at]),
            REPLICATES,
            ALPHA,
        );
    }
    fine &= check(
        name,
        "all true claims: exit 1",
        count(&|outcome| outcome.together),
        REPLICATES,
        ALPHA,
    );
    for (at, claim) in case.claims.iter().enumerate() {
        fine &= check(
            name,
            &format!("{claim}: exit 1"),
            count(&|outcome| outcome.alone[at]),
            REPLICATES,
            ALPHA,
        );
    }
    fine
}

/// Every case, and those that are harder for one attack with it.
fn cases_and_scorers() -> Vec<(Case, ScorerChoice, String)> {
    let mut all = Vec::new();
    for case in cases::all() {
        let name = case.name;
        all.push((case, ScorerChoice::Auto, name.to_owned()));
    }
    // On continuous data without a leak `auto` may settle on an attack that never errs by chance:
    // neighbors are the harder test.
    let harder = |case: &Case| case.shape == Shape::Number && case.worst() == 0.0;
    for case in cases::all().into_iter().filter(harder) {
        let name = format!("{} (knn)", case.name);
        all.push((case, ScorerChoice::KNearest, name));
    }
    all
}

#[test]
#[ignore = "minutes; see the head of this suite"]
fn limits_cover_and_true_claims_are_not_refuted() {
    let mut fine = true;
    for (case, scorer, name) in cases_and_scorers() {
        fine &= run(&case, scorer, &name);
    }
    assert!(fine, "see the lines marked FAILED");
}

/// The same for [`super::quick`].
pub fn quick() -> Vec<Rates> {
    let rates = |(case, scorer, name): (Case, ScorerChoice, String)| Rates {
        names: FIGURES
            .map(str::to_owned)
            .into_iter()
            .chain(["all true claims: exit 1".to_owned()])
            .chain(case.claims.iter().map(|claim| format!("{claim}: exit 1")))
            .collect(),
        case: name,
        nominal: ALPHA,
        wrong: Box::new(move |seed| {
            let found = outcome(&case, scorer, seed, QUICK_ROWS);
            let missed = found.covered.iter().map(|covered| !covered);
            missed.chain([found.together]).chain(found.alone).collect()
        }),
    };
    cases_and_scorers().into_iter().map(rates).collect()
}

/// A log in which fresh rows stand under secrets of their own, so that the attack's true error rates
/// can be measured on the same table of observations.
fn log_with_fresh_rows(
    case: &Case,
    replicate: u64,
    rows: usize,
    fresh: usize,
) -> (Log, Counts, Counts) {
    let mut rng = cases::generator(case, replicate);
    let mut csv = case.header().to_owned();
    for (secret, observation) in case.rows(rows, &mut rng) {
        case.write(&format!("old {secret:02}"), observation, &mut csv);
    }
    for secret in 0..case.labels.len() {
        for _ in 0..fresh {
            let observation = (case.draw)(secret, &mut rng);
            case.write(&format!("new {secret:02}"), observation, &mut csv);
        }
    }
    let log = read_from(
        case.name,
        std::io::Cursor::new(csv),
        &ReadOptions::default(),
    )
    .expect("a good log");
    let secrets = case.labels.len();
    let part = |prefix: &str| {
        let number = |secret: u32| {
            log.secrets[secret as usize]
                .strip_prefix(prefix)?
                .trim()
                .parse::<u32>()
                .ok()
        };
        let cells = log.counts.cells().iter().filter_map(|cell| {
            Some(Cell {
                secret: number(cell.secret)?,
                ..*cell
            })
        });
        Counts::new(secrets, cells.collect())
    };
    let (old, new) = (part("old"), part("new"));
    (log, old, new)
}

/// What is counted of an attack.
const OF_THE_ATTACK: [&str; 6] = [
    "error rates at most",
    "error rates at least",
    "advantage at least",
    "advantage at most",
    "advantage at least, pooled",
    "advantage at most, pooled",
];

/// The attack's own error rates and advantage, measured on 20,000 fresh rows a secret, are covered by
/// their limits.
#[test]
#[ignore = "minutes; see the head of this suite"]
fn limits_cover_the_error_rates_of_the_attack_itself() {
    const FRESH: usize = 20_000;
    let mut fine = true;
    for case in cases::all()
        .into_iter()
        .filter(|case| case.labels.len() == 2)
    {
        let outside: Vec<[bool; 6]> = (0..REPLICATES)
            .into_par_iter()
            .map(|replicate| outside(&case, replicate, ROWS, FRESH))
            .collect();
        for (at, name) in OF_THE_ATTACK.into_iter().enumerate() {
            let errors = outside.iter().filter(|outside| outside[at]).count();
            // The fresh rows have noise of their own, a tenth of the certify rows' variance.
            fine &= check(case.name, name, errors, REPLICATES, ALPHA + 0.01);
        }
    }
    assert!(fine, "see the lines marked FAILED");
}

/// Which limits of one log's attack miss its true rates.
fn outside(case: &Case, replicate: u64, rows: usize, fresh: usize) -> [bool; 6] {
    let (log, old, new) = log_with_fresh_rows(case, replicate, rows, fresh);
    let mut rng = ChaCha8Rng::seed_from_u64(replicate);
    let split = Split::stratified(&old, &mut rng);
    let tuned = tune(
        &log.observations,
        &split,
        &ScorerChoice::Auto.into(),
        Budget::default(),
        Goals::advantage(ALPHA),
    )
    .expect("a good log");
    let rules: [Rule; 1] = [tuned.choices[0].rule];
    let tally =
        |counts: &Counts| judge(&*tuned.scorer, &log.observations, counts, &rules, &[]).tallies[0];
    let (certify, truth) = (tally(&split.certify), tally(&new));
    let rate = |missed: u64| missed as f64 / fresh as f64;
    let (missed, false_alarm) = (rate(truth.a_missed), rate(truth.b_missed));
    let advantage = 1.0 - missed - false_alarm;
    let (above, below) = (
        certify.errors_at_most(ALPHA),
        certify.errors_at_least(ALPHA),
    );
    let [separate, pooled] = [AdvantageMethod::Separate, AdvantageMethod::Pooled]
        .map(|method| Advantage::new(certify, method, &mut rng));
    [
        missed > above.missed || false_alarm > above.false_alarm,
        missed < below.missed || false_alarm < below.false_alarm,
        advantage < separate.at_least(ALPHA),
        advantage > separate.at_most(ALPHA),
        advantage < pooled.at_least(ALPHA),
        advantage > pooled.at_most(ALPHA),
    ]
}

/// The same for [`super::quick`], with as large a share of fresh rows.
pub fn quick_attack() -> Vec<Rates> {
    let rates = |case: Case| Rates {
        case: case.name.to_owned(),
        names: OF_THE_ATTACK.map(str::to_owned).to_vec(),
        nominal: ALPHA + 0.01,
        wrong: Box::new(move |seed| outside(&case, seed, QUICK_ROWS, 2 * QUICK_ROWS).to_vec()),
    };
    let two = |case: &Case| case.labels.len() == 2;
    cases::all().into_iter().filter(two).map(rates).collect()
}

/// With 10,000 rows of two secrets the certified lower limit is near the truth: not vacuous.
#[test]
#[ignore = "minutes; see the head of this suite"]
fn the_median_lower_limit_is_within_six_hundredths_of_the_truth() {
    median_lower_limits_are_near(200);
}

/// Of so many logs of 10,000 rows.
pub fn median_lower_limits_are_near(logs: u64) {
    let mut fine = true;
    for case in cases::all()
        .into_iter()
        .filter(|case| matches!(case.name, "randomized response" | "gaussian"))
    {
        let mut lower: Vec<f64> = (0..logs)
            .into_par_iter()
            .map(|replicate| {
                audit_with(&log_of(&case, replicate, ROWS), &[], ScorerChoice::Auto)
                    .worst_pair
                    .total_variation
                    .lower
                    .unwrap_or(0.0)
            })
            .collect();
        lower.sort_by(f64::total_cmp);
        let gap = case.worst() - lower[lower.len() / 2];
        println!(
            "{:<22} truth {:.4}, median lower limit {:.4}, gap {gap:.4}",
            case.name,
            case.worst(),
            lower[lower.len() / 2]
        );
        fine &= gap <= 0.06;
    }
    assert!(fine, "a gap is larger than 0.06");
}
