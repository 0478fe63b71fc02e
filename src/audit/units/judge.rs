//! Limits that count units (users, devices, sessions) instead of rows, for logs that say which unit each
//! row comes from.
//!
//! Every unit counts once; see [`leakgauge_stats::betting`]. Nothing else of the audit is told from units:
//! attacks learn from the rows of the training units, and are judged on units that they never saw.

use std::sync::Arc;

use rand_chacha::ChaCha8Rng;

use crate::audit::figures::overall::risk::strata;
use crate::audit::plan::Plan;
use crate::audit::prepare::Prepared;
use crate::audit::units::earlier::{UnitBlock, join};
use crate::estimate::Method;
use leakgauge_attack::pairwise::units::{
    UnitAdvantage, UnitGuide, UnitJudgement, UnitMethod, UnitTally, judge_units, tally_units,
};
use leakgauge_attack::split::UnitParts;
use leakgauge_attack::tuning::Tuned;
use leakgauge_base::parallel;
use leakgauge_stats::betting::{Spread, UnitErrors, UnitRates, one_row_a_unit};
use leakgauge_stats::hypergeometric;
use leakgauge_stats::long_run::LongRun;
use leakgauge_stats::poisson_binomial::poisson_binomial_upper;
use leakgauge_stats::random::{Randomness, Stream};
use leakgauge_stats::weighted_risk::{chernoff_upper, matched_plan};

/// What the units say.
#[derive(Debug)]
pub(crate) struct UnitEvidence {
    /// One for each rule that is judged.
    pub rules: Vec<Arc<UnitAdvantage>>,
    /// One for each pair, with what the blocks before the certification units say; none where these alone judge.
    pub joined: Vec<Arc<UnitAdvantage>>,
    /// One for each prior.
    guesses: Vec<UnitGuesses>,
}

/// Judges the rules of the plan on the certification units. How limits are taken is settled on the tuning
/// units.
pub(crate) fn judge(
    prepared: &Prepared,
    parts: &UnitParts,
    tuned: &Tuned,
    earlier: &[UnitBlock],
    plan: &Plan,
) -> UnitEvidence {
    let (log, priors, alpha) = (prepared.log, &prepared.priors, prepared.alpha);
    let rules = plan.rules(tuned);
    let secrets = log.secrets.len();
    let past = tally_units(&tuned.scores, &parts.tune, &rules, priors);
    let found = judge_units(
        &*tuned.scorer,
        &log.observations,
        &parts.certify,
        secrets,
        &rules,
        priors,
    );
    let random = prepared.random;
    let advantage = |at: usize, (tally, past): (&UnitTally, &UnitTally)| {
        let guide = UnitGuide::new(past);
        let mut rng = random.rng(Stream::UnitRule(at as u32));
        let found = UnitAdvantage::new(tally, &guide, alpha, &mut rng);
        // Of units that are no blocks nothing says in which order they were recorded.
        let varies = match log.facts.blocks {
            Some(_) => tally.long_run(),
            None => LongRun::INDEPENDENT,
        };
        Arc::new(found.allowing(varies))
    };
    let of_rules = found.rules.iter().zip(&past.rules);
    let both = of_rules.clone().enumerate();
    let rules: Vec<_> = both.map(|(at, both)| advantage(at, both)).collect();
    let last: Vec<_> = of_rules
        .map(|(found, past)| (found.clone(), UnitGuide::new(past)))
        .collect();
    UnitEvidence {
        joined: joined(prepared, earlier, &rules[..tuned.choices.len()], &last),
        rules,
        guesses: guesses(&found, &past, priors, alpha, random),
    }
}

/// The limits of pairs by the units of all blocks, the certification units last.
fn joined(
    prepared: &Prepared,
    earlier: &[UnitBlock],
    rules: &[Arc<UnitAdvantage>],
    last: &[(UnitTally, UnitGuide)],
) -> Vec<Arc<UnitAdvantage>> {
    if earlier.is_empty() {
        return Vec::new();
    }
    let blocks = parallel::map(earlier.len(), |at| earlier[at].judge(prepared));
    let pairs = rules.iter().zip(last).enumerate();
    pairs
        .map(|(pair, (rule, last))| {
            let of_pair = blocks.iter().map(|block| &block[pair]).chain([last]);
            match join(of_pair.map(|(tally, guide)| (tally, guide))) {
                Some(all) => Arc::new(UnitAdvantage::clone(rule).with_earlier(all)),
                None => Arc::clone(rule),
            }
        })
        .collect()
}

fn guesses(
    found: &UnitJudgement,
    past: &UnitJudgement,
    priors: &[Vec<f64>],
    alpha: f64,
    random: Randomness,
) -> Vec<UnitGuesses> {
    let both = found.guesses.iter().zip(&past.guesses);
    both.zip(priors)
        .enumerate()
        .map(|(at, ((errors, past), prior))| {
            let rng = &mut random.rng(Stream::UnitPrior(at as u32));
            UnitGuesses::new(errors, past, prior, alpha, rng)
        })
        .collect()
}

/// How the Bayes risk is limited from above.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum RiskLimit {
    Betting,
    /// Chernoff's limit for one row of every unit.
    Weighted,
    /// Clopper–Pearson for one row of as many units of every secret as its prior asks for.
    Matched,
}

/// How guesses among all secrets fared on units.
#[derive(Debug)]
struct UnitGuesses {
    prior: Vec<f64>,
    rates: Option<UnitRates>,
    /// Errors and rows of each secret, one row a unit.
    drawn: Vec<(u64, u64)>,
    /// The same of as many rows as the prior asks for, all together.
    matched: Option<(u64, u64)>,
    limit: RiskLimit,
}

impl UnitGuesses {
    fn new(
        errors: &[UnitErrors],
        past: &[UnitErrors],
        prior: &[f64],
        alpha: f64,
        rng: &mut ChaCha8Rng,
    ) -> Self {
        let secrets = prior.len();
        let spreads: Vec<Spread> = (0..secrets)
            .map(|secret| Spread::of(past, secret))
            .collect();
        let rates = UnitRates::new(errors, prior, &spreads).map(|rates| {
            match UnitRates::new(past, prior, &spreads) {
                Some(past) => rates.expecting(&past),
                None => rates,
            }
        });
        let drawn = one_row_a_unit(errors, secrets, rng);
        let plan = matched_plan(prior, &drawn.iter().map(|d| d.1).collect::<Vec<_>>());
        let limit = narrowest(
            rates.as_ref(),
            &spreads,
            prior,
            &drawn,
            plan.as_deref(),
            alpha,
        );
        let matched = plan.map(|plan| {
            let of_secret = plan.iter().zip(&drawn);
            let errors = of_secret
                .map(|(&rows, &(errors, all))| hypergeometric::sample(all, errors, rows, rng))
                .sum();
            (errors, plan.iter().sum())
        });
        UnitGuesses {
            prior: prior.to_vec(),
            rates,
            drawn,
            matched,
            limit,
        }
    }
}

/// The limit that promises to be narrowest: by the errors of the tuning units and by numbers of units.
fn narrowest(
    rates: Option<&UnitRates>,
    spreads: &[Spread],
    prior: &[f64],
    drawn: &[(u64, u64)],
    plan: Option<&[u64]>,
    alpha: f64,
) -> RiskLimit {
    let risk: f64 = prior.iter().zip(spreads).map(|(p, s)| p * s.center).sum();
    let expected = |rows: &[u64]| -> Vec<u64> {
        let of_secret = rows.iter().zip(spreads);
        of_secret
            .map(|(&rows, spread)| (spread.center * rows as f64) as u64)
            .collect()
    };
    let betting = rates.map_or(f64::INFINITY, |rates| risk + rates.width(alpha));
    let rows: Vec<u64> = drawn.iter().map(|drawn| drawn.1).collect();
    let weighted = chernoff_upper(&strata(prior, &rows, &expected(&rows)), alpha);
    let matched = plan.map_or(f64::INFINITY, |plan| {
        poisson_binomial_upper(expected(plan).iter().sum(), plan.iter().sum(), alpha)
    });
    if betting <= weighted.min(matched) {
        RiskLimit::Betting
    } else if matched <= weighted {
        RiskLimit::Matched
    } else {
        RiskLimit::Weighted
    }
}

impl UnitEvidence {
    /// 1 − the prior-weighted mean error over units, every unit counting once; `None` if a secret of positive
    /// prior has no units.
    pub fn vulnerability(&self, at: usize) -> Option<f64> {
        let rates = self.guesses[at].rates.as_ref()?;
        Some((1.0 - rates.point()).max(0.0))
    }

    /// Upper limit of the Bayes risk at a prior, and how it was taken.
    pub fn risk_at_most(&self, at: usize, level: f64) -> (f64, Method) {
        let guesses = &self.guesses[at];
        match (guesses.limit, &guesses.rates, guesses.matched) {
            (RiskLimit::Betting, Some(rates), _) => (rates.at_most(level), Method::UnitBetting),
            (RiskLimit::Matched, _, Some((errors, rows))) => {
                let limit = poisson_binomial_upper(errors, rows, level);
                (limit, Method::OneRowAUnit)
            }
            _ => {
                let (errors, rows): (Vec<u64>, Vec<u64>) = guesses.drawn.iter().copied().unzip();
                let limit = chernoff_upper(&strata(&guesses.prior, &rows, &errors), level);
                (limit, Method::OneRowAUnit)
            }
        }
    }
}

/// How a limit from units was taken.
pub(crate) fn method(method: UnitMethod) -> Method {
    match method {
        UnitMethod::Betting => Method::UnitBetting,
        UnitMethod::Blocks => Method::PrequentialUnits,
        UnitMethod::OneRow => Method::OneRowAUnit,
    }
}
