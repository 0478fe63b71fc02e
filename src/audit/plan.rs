//! The third stage: what will be judged, settled before any of the rows that judge is looked at.
//!
//! *Two errors.* A wrong "violated" has probability at most α, and so has a wrong "holds": each limit from
//! below and each limit from above holds with probability 1 − α by itself.
//!
//! *From below.* Exit code 1 must have probability at most α if all claims are true, and every limit that is printed may
//! refute a claim that another limit is about: a total variation needs an ε ([`closure`](super::closure)). So all
//! limits of what tells secrets apart hold *together* at level 1 − α. Each has a part of α in proportion to its weight:
//! what a claim reads weighs most, and claims that read the same limit share it free. Differences of times imply nothing
//! of all this, and nothing implies them: they share the level with the others only where claims read both.
//!
//! *All pairs.* Limits of the total variation are read from one table of all pairs, whose parts of α are
//! settled beforehand ([`leakgauge_stats::joint`]), so that no pair proves more than the verdict says.

use crate::audit::certified_limit::{CertifiedLimit, Spender};
use crate::audit::evidence::{average, column_limits, no_leak};
use crate::audit::figures::information::judge as information;
use crate::audit::figures::overall::risk;
use crate::audit::figures::overall::risk::RiskPlan;
use crate::audit::figures::privacy::plan as privacy_plan;
use crate::audit::figures::privacy::plan::PrivacyPlan;
use crate::audit::learn::earlier::Block;
use crate::audit::prepare::Prepared;
use crate::audit::promises::{Promises, largest};
use leakgauge_attack::measure::plug_in;
use leakgauge_attack::pairwise::{AdvantageGuide, AdvantageMethod, Posterior, Rule};
use leakgauge_attack::tuning::{ForAverage, Tuned};
use leakgauge_base::quantity::{OverallFigure, PrivacyParameter};
use leakgauge_exact::claim::{BoundClaim, Terms};
use leakgauge_log::observations::ObservationKind;
use leakgauge_stats::alpha::Alpha;
use leakgauge_stats::{band, joint};

/// The Kolmogorov distance of a pair as a limit of its total variation, beside its attack's.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Kolmogorov {
    /// The pair.
    pub pair: usize,
    /// Its part of what the pair has of α; the attack has the rest.
    pub share: f64,
    /// Whether all rows serve, or those that certify.
    pub all_rows: bool,
}

/// What is judged and at which level.
#[derive(Debug)]
pub(super) struct Plan {
    alpha: f64,
    /// The part of α that naming one of all secrets leaves for everything else from below.
    for_pairs: f64,
    /// The part of α of the tests of no leak at all, where a claim reads them.
    for_no_leak: Option<f64>,
    /// For each pair, how its advantage is limited.
    pub methods: Vec<AdvantageMethod>,
    /// For each pair, how the advantage of the last attack is limited, by the certification rows alone.
    pub attack_methods: Vec<AdvantageMethod>,
    /// The pair that promises most.
    pub worst: usize,
    /// Parts of α of all pairs: for the worst pair first, then for the claims of mechanisms.
    pub tables: Vec<Vec<f64>>,
    /// For each claim of a mechanism, its table.
    table_of_claims: Vec<Option<usize>>,
    pub kolmogorov: Option<Kolmogorov>,
    /// Two secrets, and the columns by which they differ most on rows that do not judge; of many columns only.
    pub columns: Option<([u32; 2], Vec<usize>)>,
    /// ε at δ = 0 first, then those that claims read, each once.
    pub privacy: Vec<PrivacyPlan>,
    /// What is judged on the average over pairs.
    pub average: Option<ForAverage>,
    /// The posterior by which rows gain, where the mutual information is wanted.
    pub information: Option<Posterior>,
    /// Rules that figures want to be judged.
    of_figures: Vec<Rule>,
    /// For each claim of privacy, which of these it reads.
    privacy_of_claims: Vec<Option<usize>>,
    /// What is certified from below, with weights: shares of α are in proportion. What claims read comes first.
    reads: Vec<(CertifiedLimit, f64)>,
    /// How many of these claims read.
    read_by_claims: usize,
    /// For each prior, how the Bayes risk is limited from above.
    pub risk: Vec<RiskPlan>,
}

/// The weight of the limit of ε beside that of the total variation, for a claim of a mechanism.
const EPSILON_WEIGHT: f64 = 0.25;
/// The weight of the total variation beside claims of privacy, which it may refute where their own limits do not.
const TABLE_BESIDE_PRIVACY: f64 = 0.25;
/// The weight of a limit that no claim reads, beside 1 of those that claims read: it is printed, and rarely the one
/// that another follows from. A total variation at 0.87 α is 4 % farther from its estimate than at α.
const UNCLAIMED_WEIGHT: f64 = 0.1;
/// The weight of the average over all pairs, where claims may read it: as much as that of any other.
const AVERAGE_WEIGHT: f64 = 1.0;
/// The same of the mutual information, which was asked for.
const INFORMATION_WEIGHT: f64 = 0.5;
/// The part of α of the tests of no leak at all, where a claim allows none.
const NO_LEAK_PART: f64 = 0.5;
/// The same of the band of all thresholds, which is wide.
const BAND_WEIGHT: f64 = 0.05;
/// The same of single columns: what tells two secrets apart in many columns is rarely in one.
const COLUMNS_WEIGHT: f64 = 0.05;
/// The Kolmogorov distance's part of a pair's α, where two secrets have one column of numbers.
const KOLMOGOROV_SHARE: f64 = 0.1;

/// Settles the plan. In a split by time each error rate is limited by itself: nothing is said of how the
/// errors of one secret and of the other hang together. `first` is the attack from rows that do not judge.
pub(super) fn plan(prepared: &Prepared, tuned: &Tuned, first: &Tuned, earlier: &[Block]) -> Plan {
    let promises = Promises::new(prepared, first, earlier);
    let pairs = tuned.choices.len();
    let attack_methods = if !prepared.independence.is_of_rows() {
        vec![AdvantageMethod::Separate; pairs]
    } else {
        attack_methods(prepared, tuned)
    };
    let methods = if earlier.is_empty() {
        attack_methods.clone()
    } else {
        vec![AdvantageMethod::Prequential; pairs]
    };
    let by_pair = promises.all(|_| 0.0);
    let worst = largest(by_pair.iter().copied());
    let (privacy, privacy_of_claims) = privacy_plan::plan(prepared, tuned, earlier);
    let (risk, for_pairs) = risk::plan(prepared, tuned);
    let mut plan = Plan {
        alpha: prepared.alpha,
        for_pairs,
        for_no_leak: None,
        methods,
        attack_methods,
        worst,
        tables: vec![joint::shares(&by_pair)],
        table_of_claims: Vec::new(),
        kolmogorov: kolmogorov(prepared, tuned, worst, earlier),
        columns: column_limits::applies(prepared).then(|| {
            let rule = tuned.choices[worst].rule;
            let secrets = [rule.a, rule.b];
            (secrets, column_limits::choose(prepared, secrets))
        }),
        average: average::plan(prepared, tuned),
        information: information::plan(prepared, tuned),
        of_figures: Vec::new(),
        privacy,
        privacy_of_claims,
        reads: Vec::new(),
        read_by_claims: 0,
        risk,
    };
    for claim in &prepared.claims {
        let table = claim.mechanism().map(|mechanism| {
            plan.add_table(joint::shares(&promises.all(|choice| {
                let rule = choice.rule;
                mechanism.total_variation(rule.a as usize, rule.b as usize)
            })))
        });
        plan.table_of_claims.push(table);
    }
    plan.share_level(&prepared.claims);
    plan.take_for_no_leak(prepared);
    plan.read_by_claims = plan.reads.len();
    let has_band = prepared.independence.is_of_rows();
    plan.add_unclaimed(&prepared.claims, has_band);
    plan
}

impl Plan {
    fn add_table(&mut self, shares: Vec<f64>) -> usize {
        let known = self.tables.iter().position(|known| *known == shares);
        known.unwrap_or_else(|| {
            self.tables.push(shares);
            self.tables.len() - 1
        })
    }

    /// Every distinct limit that a claim reads gets a share of the level.
    ///
    /// Earlier rows judge too, and what is left of α for them may not depend on what attacks made of these rows.
    /// Between two secrets the sum of the weights follows from the claims: limits of μ, of ρ and of each Rényi
    /// divergence count once each, whether or not some happen to be read from the same error rates.
    fn share_level(&mut self, claims: &[BoundClaim]) {
        let mut counted = Vec::new();
        for (at, claim) in claims.iter().enumerate() {
            match claim.terms() {
                Terms::Privacy(_) | Terms::Curve(_) => {
                    let at = self.privacy_at(at);
                    let read = self.privacy[at].read;
                    if matches!(self.privacy[at].quantity, PrivacyParameter::Epsilon { .. }) {
                        self.add_read(read, 1.0);
                    } else if !counted.contains(&at) {
                        counted.push(at);
                        let known = self.reads.iter().find(|known| known.0 == read);
                        let weight = known.map_or(0.0, |known| known.1);
                        self.add_read(read, weight + 1.0);
                    }
                }
                Terms::BayesSecurity { .. }
                | Terms::Advantage { .. }
                | Terms::AttackAdvantage { .. } => self.add_read(CertifiedLimit::Table(0), 1.0),
                Terms::Overall { figure, .. } => {
                    let read = match figure {
                        OverallFigure::MutualInformation => CertifiedLimit::Information,
                        OverallFigure::MaximalLeakage => CertifiedLimit::Table(0),
                    };
                    self.add_read(read, 1.0);
                }
                Terms::TimeDifference(_) => self.add_read(CertifiedLimit::TimeDifference, 1.0),
                Terms::Mechanism(mechanism) => {
                    self.add_read(self.table_read(at), 1.0);
                    if mechanism.epsilon().is_finite() {
                        self.add_read(self.privacy[0].read, EPSILON_WEIGHT);
                    }
                }
            }
        }
    }

    fn add_read(&mut self, read: CertifiedLimit, weight: f64) {
        match self.reads.iter_mut().find(|known| known.0 == read) {
            Some(known) => known.1 = known.1.max(weight),
            None => self.reads.push((read, weight)),
        }
    }

    /// Limits that no claim reads hold together with those that claims read. Which there are, and their weights, follows
    /// from claims and from how rows hang together.
    fn add_unclaimed(&mut self, claims: &[BoundClaim], has_band: bool) {
        let of_privacy = claims
            .iter()
            .any(|claim| matches!(claim.terms(), Terms::Privacy(_) | Terms::Curve(_)));
        let table = if of_privacy {
            TABLE_BESIDE_PRIVACY
        } else if self.claims_are_about_leaks() {
            UNCLAIMED_WEIGHT
        } else {
            1.0
        };
        self.add_read(CertifiedLimit::Table(0), table);
        self.add_read(self.privacy[0].read, UNCLAIMED_WEIGHT);
        if self.average.is_some() {
            let is_read = average::is_read(claims);
            let weight = if is_read {
                AVERAGE_WEIGHT
            } else {
                UNCLAIMED_WEIGHT
            };
            self.add_read(CertifiedLimit::Average, weight);
        }
        if self.information.is_some() {
            self.add_read(CertifiedLimit::Information, INFORMATION_WEIGHT);
        }
        if has_band {
            self.add_read(CertifiedLimit::Band, BAND_WEIGHT);
        }
        if self.columns.is_some() {
            self.add_read(CertifiedLimit::Columns, COLUMNS_WEIGHT);
        }
    }

    fn claims_are_about_leaks(&self) -> bool {
        let by_claims = &self.reads[..self.read_by_claims];
        by_claims
            .iter()
            .any(|read| read.0 != CertifiedLimit::TimeDifference)
    }

    /// The table that a claim of a mechanism reads.
    fn table_read(&self, claim: usize) -> CertifiedLimit {
        CertifiedLimit::Table(self.table_of_claims[claim].expect("planned for every mechanism"))
    }

    /// Rules that a figure wants to be judged, too: the position of the first.
    pub fn add_rules(&mut self, tuned: &Tuned, rules: impl Iterator<Item = Rule>) -> usize {
        let first = tuned.choices.len() + self.privacy.len() + self.of_figures.len();
        self.of_figures.extend(rules);
        first
    }

    /// All rules that are judged: one per pair, then those for limits of privacy, then those of figures.
    pub fn rules(&self, tuned: &Tuned) -> Vec<Rule> {
        let pairs = tuned.choices.iter().map(|choice| choice.rule);
        pairs
            .chain(self.privacy.iter().map(|privacy| privacy.rule))
            .chain(self.of_figures.iter().copied())
            .collect()
    }

    /// Tests of no leak at all read all rows, also those that attacks were chosen on: what they have of α may depend on
    /// nothing but claims. All else from below has the rest.
    fn take_for_no_leak(&mut self, prepared: &Prepared) {
        let is_tested = no_leak::applies(prepared) || no_leak::is_tested_in_blocks(prepared);
        if !is_tested || !allow_no_leak(prepared) {
            return;
        }
        self.for_no_leak = Some(NO_LEAK_PART);
        self.for_pairs *= 1.0 - NO_LEAK_PART;
        for risk in &mut self.risk {
            risk.share *= 1.0 - NO_LEAK_PART;
        }
    }

    /// The part of α of the tests of no leak at all; `None` where no claim reads them.
    pub fn no_leak_part(&self) -> Option<f64> {
        self.for_no_leak
    }

    /// The number of limits that claims read.
    pub fn reads(&self) -> usize {
        self.read_by_claims
    }

    /// The part of α that a limit gets, in (0, 1]. A difference of times that no claim reads has all of it, and shares
    /// with no other limit.
    pub fn part(&self, read: CertifiedLimit) -> f64 {
        let Some(&(_, weight)) = self.reads.iter().find(|known| known.0 == read) else {
            return self.for_pairs;
        };
        let is_time = |read: CertifiedLimit| read == CertifiedLimit::TimeDifference;
        let beside = self.claims_are_about_leaks();
        let beside = self
            .reads
            .iter()
            .filter(|other| beside || is_time(other.0) == is_time(read));
        self.for_pairs * weight / beside.map(|other| other.1).sum::<f64>()
    }

    /// Who takes which part of α: the limits that hold together with those that claims read. Claims of times alone
    /// read no other limit, and these then share a level of their own.
    ///
    /// # Panics
    /// In builds for debugging, where the parts are more than the whole.
    pub fn level(&self) -> Alpha<Spender> {
        let mut level = Alpha::new(self.alpha);
        if let Some(part) = self.for_no_leak {
            level.take(Spender::Limit(CertifiedLimit::NoLeak), part);
        }
        let rest = 1.0 - self.for_no_leak.unwrap_or(0.0);
        if self.for_pairs < rest {
            level.take(Spender::Identification, rest - self.for_pairs);
        }
        let about_leaks = self.claims_are_about_leaks();
        let about_times = self.read_by_claims > 0 && !about_leaks;
        for &(read, _) in &self.reads {
            if about_leaks || (read == CertifiedLimit::TimeDifference) == about_times {
                level.take(Spender::Limit(read), self.part(read));
            }
        }
        level
    }

    /// The level of a limit.
    pub fn share(&self, read: CertifiedLimit) -> f64 {
        self.alpha * self.part(read)
    }

    /// The part of α that a pair's limit in a table gets.
    pub fn pair_part(&self, table: CertifiedLimit, pair: usize) -> f64 {
        let of_pair = match table {
            CertifiedLimit::Table(table) => self.tables[table][pair],
            _ => 1.0,
        };
        self.part(table) * of_pair
    }

    /// The level of a pair's limit in a table.
    pub fn pair_share(&self, table: CertifiedLimit, pair: usize) -> f64 {
        self.alpha * self.pair_part(table, pair)
    }

    /// Which of the limits of privacy a claim of privacy reads.
    pub fn privacy_at(&self, claim: usize) -> usize {
        self.privacy_of_claims[claim].expect("planned for every claim of privacy")
    }
}

/// Whether a claim says that observations do not depend on the secret.
fn allow_no_leak(prepared: &Prepared) -> bool {
    let is_everywhere = prepared.priors[0].iter().all(|prior| *prior > 0.0);
    let allows = |claim: &BoundClaim| match claim.terms() {
        Terms::Advantage { at_most } => *at_most <= 0.0,
        Terms::BayesSecurity { at_least } => *at_least >= 1.0,
        Terms::Overall { figure, at_most } => {
            *at_most <= 0.0 && (is_everywhere || figure.covers_all_attacks())
        }
        _ => false,
    };
    prepared.claims.iter().any(allows)
}

/// For each pair, the method that promises the larger limit on its certification rows.
fn attack_methods(prepared: &Prepared, tuned: &Tuned) -> Vec<AdvantageMethod> {
    let guide = AdvantageGuide::new(prepared.alpha);
    let rows = prepared.split.certify.rows();
    let choices = tuned.choices.iter();
    choices
        .map(|choice| {
            guide.method(
                &choice.tune,
                rows[choice.rule.a as usize],
                rows[choice.rule.b as usize],
            )
        })
        .collect()
}

/// One column of numbers has an alternative to the attack, which needs no rows to learn from. With two
/// secrets it serves beside the attack; with more it stands in for it at the pair that promises most, if it
/// does better on the tuning rows.
fn kolmogorov(
    prepared: &Prepared,
    tuned: &Tuned,
    worst: usize,
    earlier: &[Block],
) -> Option<Kolmogorov> {
    let observations = &prepared.log.observations;
    let applies = observations.columns().len() == 1
        && observations.kind() == ObservationKind::Numeric
        && !prepared.options.attacks.are_given()
        && prepared.independence.is_of_rows();
    let two = tuned.choices.len() == 1;
    if !applies || two {
        return applies.then_some(Kolmogorov {
            pair: 0,
            share: KOLMOGOROV_SHARE,
            all_rows: true,
        });
    }
    let (choice, tune) = (&tuned.choices[worst], &prepared.split.tune);
    let (a, b) = (choice.rule.a, choice.rule.b);
    let rows = [a, b].map(|secret| tune.rows()[secret as usize]);
    let distance = plug_in::kolmogorov_distance(observations, tune, a, b);
    let lower = band::total_variation_at_least(distance, rows[0], rows[1], prepared.alpha);
    (choice.tune.is_judged() && earlier.is_empty() && lower > choice.lower).then_some(Kolmogorov {
        pair: worst,
        share: 1.0,
        all_rows: false,
    })
}
