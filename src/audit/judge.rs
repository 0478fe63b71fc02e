//! The fourth stage: the rows that judge are looked at, by the plan and by nothing else.

use std::sync::Arc;

use crate::audit::evidence::average;
use crate::audit::evidence::column_limits::{self, Distances};
use crate::audit::evidence::guesses::{PairGuesses, guesses};
use crate::audit::evidence::leaking_columns::{self, LeakingColumns};
use crate::audit::evidence::no_leak::{self, NoLeak};
use crate::audit::figures::differences::Differences;
use crate::audit::figures::differences::paired;
use crate::audit::figures::differences::unpaired;
use crate::audit::figures::information::judge::{self as information, InformationEvidence};
use crate::audit::figures::privacy::plan::PrivacyPlan;
use crate::audit::learn::cross_fit::{CrossFit, Granted};
use crate::audit::learn::earlier::Block;
use crate::audit::learn::trials::trials;
use crate::audit::plan::Plan;
use crate::audit::prepare::Prepared;
use crate::audit::units::earlier::UnitBlock;
use crate::audit::units::judge as units;
use crate::audit::units::judge::UnitEvidence;
use crate::audit::upper::UpperLimits;
use leakgauge_attack::measure::plug_in;
use leakgauge_attack::pairwise::average::AverageLimits;
use leakgauge_attack::pairwise::units::UnitAdvantage;
use leakgauge_attack::pairwise::{
    self, Advantage, AdvantageMethod, EffectiveRows, Judgement, PairErrors, PairScores, Rule,
    ScoredRows, effective_rows, judge_and_keep,
};
use leakgauge_attack::tuning::{ForPrivacy, Tuned};
use leakgauge_stats::all_rows::{Fresh, Trials, toss};
use leakgauge_stats::random::{Randomness, Stream};
use leakgauge_stats::variational::Bins;

/// What the rows say.
pub(super) struct Judged {
    pub judgement: Arc<Judgement>,
    /// The certification rows of the pair that promised most by their scores, where limits may use their order.
    pub scored: Option<ScoredRows>,
    /// What all rows that judge say about the advantage at every pair.
    pub advantages: Arc<Vec<Advantage>>,
    /// What the certification rows say about the last attack.
    pub attacks: Arc<Vec<Advantage>>,
    /// For each limit of privacy that rests on guesses, these.
    pub guesses: Vec<Option<PairGuesses>>,
    /// For each limit of privacy that rests on weighed scores, the certification rows in its bins.
    pub bins: Vec<Option<Bins>>,
    /// Kolmogorov distance of the pair that the plan names, and the rows of both secrets.
    pub kolmogorov: Option<(f64, [u64; 2])>,
    pub effective: Option<EffectiveRows>,
    /// Limits from above; discrete logs only, and not in a split by time.
    pub upper: Option<Arc<UpperLimits>>,
    pub cross_fit: Option<CrossFit>,
    /// Differences of times, inside blocks where there are blocks.
    pub differences: Option<Differences>,
    /// What all pairs say on the average, where that is planned.
    pub average: Option<AverageLimits>,
    /// What rows gain by the posterior of the plan, where there is one.
    pub information: Option<InformationEvidence>,
    /// What units say, where limits count units.
    pub units: Option<UnitEvidence>,
    /// Whether the log leaks anything at all, and which columns do.
    pub no_leak: Option<NoLeak>,
    pub leaking_columns: Option<LeakingColumns>,
    /// How far two secrets are apart in single columns.
    pub columns: Option<Distances>,
}

/// Judges the rules of the plan.
pub(super) fn judge(
    prepared: &Prepared,
    tuned: &Tuned,
    (earlier, earlier_units): (&[Block], &[UnitBlock]),
    plan: &Plan,
) -> Judged {
    let (log, priors) = (prepared.log, &prepared.priors);
    let (judgement, scored) = judgement(prepared, tuned, plan);
    let effective = prepared.ordered.map(|rows| {
        let rules = plan.rules(tuned);
        effective_rows(&*tuned.scorer, &log.observations, rows, &rules, priors)
    });
    let units = prepared.units.as_ref();
    let units = units.map(|parts| units::judge(prepared, parts, tuned, earlier_units, plan));
    let dependent = !prepared.independence.is_of_rows();
    let attacks = match &units {
        Some(units) => of_units(&units.rules[..plan.methods.len()], &judgement),
        None => attacks(plan, &judgement, effective.as_ref(), prepared.random),
    };
    let attacks = Arc::new(attacks);
    let joined = units.as_ref().filter(|units| !units.joined.is_empty());
    let advantages = match joined {
        Some(units) => Arc::new(of_units(&units.joined, &judgement)),
        None => advantages(prepared, tuned, earlier, plan, &attacks),
    };
    Judged {
        advantages,
        attacks,
        guesses: guesses(prepared, tuned, earlier, plan),
        bins: plan
            .privacy
            .iter()
            .map(|privacy| bins(prepared, tuned, privacy))
            .collect(),
        kolmogorov: kolmogorov(prepared, tuned, plan),
        judgement: Arc::new(judgement),
        // The order statistics of dependent rows have no such limits.
        scored: (!dependent).then_some(scored),
        effective,
        upper: UpperLimits::find(prepared).map(Arc::new),
        // Parts dealt at random would put neighbors in time, or rows of a unit, on both sides.
        cross_fit: Granted::of(tuned)
            .filter(|_| !dependent && !prepared.options.quick)
            .and_then(|granted| CrossFit::run(prepared, &granted)),
        differences: paired::find(prepared, plan).or_else(|| unpaired::find(prepared, plan)),
        average: plan
            .average
            .as_ref()
            .and_then(|planned| average::judge(prepared, planned)),
        information: plan
            .information
            .as_ref()
            .map(|posterior| information::judge(prepared, tuned, posterior)),
        units,
        no_leak: no_leak::judge(prepared),
        leaking_columns: leaking_columns::judge(prepared, plan),
        columns: plan
            .columns
            .as_ref()
            .map(|(secrets, columns)| column_limits::judge(prepared, (secrets, columns))),
    }
}

fn judgement(prepared: &Prepared, tuned: &Tuned, plan: &Plan) -> (Judgement, ScoredRows) {
    let (observations, certify) = (&prepared.log.observations, &prepared.split.certify);
    let worst = tuned.choices[plan.worst].rule;
    let rules = plan.rules(tuned);
    let attackers = tuned.attackers();
    let (mut judgement, scored) = judge_and_keep(
        &*tuned.scorer,
        observations,
        certify,
        &rules,
        &attackers.priors(),
        Some((worst.a, worst.b)),
    );
    attackers.judge_others(observations, certify, &mut judgement.guesses);
    if let Some(ForPrivacy { scorer, .. }) = &tuned.for_privacy {
        // Its thresholds were chosen for what it had learned by then.
        let first = tuned.choices.len();
        let places = first..first + plan.privacy.len();
        let rules = &rules[places.clone()];
        let judged = pairwise::judge(&**scorer, observations, certify, rules, &[]);
        judgement.tallies.splice(places, judged.tallies);
    }
    (judgement, scored)
}

/// The advantages of all pairs, by their units.
fn of_units(units: &[Arc<UnitAdvantage>], judgement: &Judgement) -> Vec<Advantage> {
    let rules = judgement.tallies.iter().zip(units);
    rules
        .map(|(&tally, units)| Advantage::units(tally, units.clone()))
        .collect()
}

/// Every pair has random numbers of its own, whatever the other pairs need.
fn attacks(
    plan: &Plan,
    judgement: &Judgement,
    effective: Option<&EffectiveRows>,
    random: Randomness,
) -> Vec<Advantage> {
    let pairs = plan.attack_methods.iter().zip(&judgement.tallies);
    pairs
        .enumerate()
        .map(|(pair, (&method, &tally))| {
            if let Some(effective) = effective {
                return Advantage::separate(tally, Some(effective.rules[pair]));
            }
            Advantage::new(tally, method, &mut random.rng(Stream::Pooled(pair as u32)))
        })
        .collect()
}

/// The same from the blocks before the certification rows too, where they judge.
fn advantages(
    prepared: &Prepared,
    tuned: &Tuned,
    earlier: &[Block],
    plan: &Plan,
    attacks: &Arc<Vec<Advantage>>,
) -> Arc<Vec<Advantage>> {
    let has_earlier = |method: &AdvantageMethod| *method == AdvantageMethod::Prequential;
    if !plan.methods.iter().any(has_earlier) {
        return Arc::clone(attacks);
    }
    let blocks: Vec<Vec<PairErrors>> = earlier
        .iter()
        .map(|block| {
            let choices = block.tuned.choices.iter();
            let rules: Vec<Rule> = choices.map(|choice| choice.rule).collect();
            let observations = &prepared.log.observations;
            pairwise::judge(&*block.tuned.scorer, observations, &block.rows, &rules, &[]).tallies
        })
        .collect();
    let pairs = attacks.iter().zip(&plan.methods).enumerate();
    let all = pairs.map(|(pair, (attack, method))| {
        if !has_earlier(method) {
            return attack.clone();
        }
        let mut rng = prepared.random.rng(Stream::Trials(pair as u32));
        let tallies = blocks.iter().map(|block| &block[pair]);
        let tallies = tallies.chain([attack.tally()]);
        let trials = trials(prepared, earlier, tuned.choices[pair].rule);
        let all = tallies
            .zip(trials)
            .map(|(tally, trials)| toss(&fresh(tally), trials, &mut rng))
            .fold(Trials::default(), Trials::plus);
        Advantage::prequential(*attack.tally(), all)
    });
    Arc::new(all.collect())
}

fn bins(prepared: &Prepared, tuned: &Tuned, privacy: &PrivacyPlan) -> Option<Bins> {
    let weights = privacy.weights.as_ref()?;
    let (observations, certify) = (&prepared.log.observations, &prepared.split.certify);
    let pair = [privacy.rule.a, privacy.rule.b];
    let scores = PairScores::judge(&**tuned.privacy_attack(), observations, certify, pair);
    Some(scores.between(&weights.edges))
}

fn fresh(tally: &PairErrors) -> Fresh {
    Fresh {
        a_rows: tally.a_rows,
        a_missed: tally.a_missed,
        b_rows: tally.b_rows,
        b_missed: tally.b_missed,
    }
}

fn kolmogorov(prepared: &Prepared, tuned: &Tuned, plan: &Plan) -> Option<(f64, [u64; 2])> {
    let planned = plan.kolmogorov?;
    let rule = tuned.choices[planned.pair].rule;
    let counts = if planned.all_rows {
        &prepared.log.counts
    } else {
        &prepared.split.certify
    };
    let rows = [rule.a, rule.b].map(|secret| counts.rows()[secret as usize]);
    let distance = plug_in::kolmogorov_distance(&prepared.log.observations, counts, rule.a, rule.b);
    (rows[0] > 0 && rows[1] > 0).then_some((distance, rows))
}
