//! Everything that is certified of a pair of secrets, closed under implication: no limit that is printed and no verdict is
//! weaker than another limit of the report implies.
//!
//! *Level.* All statements about all pairs hold together at the level of the report: each has its part of α by the
//! [plan](super::plan), and what is said of the worst pair alone its part of the table's. So whatever follows
//! from any of them may be printed and may refute a claim.

use crate::audit::basis::Evidence;
use crate::audit::certified_limit::{CertifiedLimit, Source};
use crate::audit::figures::privacy::PrivacyLimit;
use crate::audit::figures::privacy::plan::{PrivacyPlan, Scope};
use crate::estimate::Method;
use leakgauge_attack::pairwise::{Rule, pair_index};
use leakgauge_base::quantity::PrivacyParameter;
use leakgauge_judge::{Certified, Limits, largest_epsilon};
use leakgauge_stats::band;
use leakgauge_stats::level;

/// A certified limit of privacy, and what it comes from.
#[derive(Debug, Clone)]
pub(super) struct Read {
    pub limit: PrivacyLimit,
    pub pair: usize,
    pub source: Option<Source>,
}

/// Statements about a pair.
pub(super) type Statements = Limits<Source>;

impl Evidence<'_> {
    /// Closes what is certified of the pairs of which more than the tables of all pairs says something, and settles the worst
    /// pair.
    pub(super) fn close(&mut self) {
        let mut pairs: Vec<usize> = self
            .plan
            .privacy
            .iter()
            .map(|p| self.pair_of(p.rule))
            .collect();
        pairs.sort_unstable();
        pairs.dedup();
        let alpha = self.alpha();
        let closed = |pair: usize| (pair, self.statements(pair, alpha));
        self.closures = pairs.into_iter().map(closed).collect();
        self.worst = self.worst_pair(|_| true);
        let neighbors = self.neighbors;
        self.worst_neighbors = if neighbors.are_all() {
            self.worst
        } else {
            self.worst_pair(|rule| neighbors.contain(rule.a, rule.b))
        };
        self.thresholds = self.worst_scores().map(|scored| scored.thresholds());
        let worst = self.worst;
        let of_worst = self.statements(worst, alpha);
        self.closures.retain(|closed| closed.0 != worst);
        self.closures.push((worst, of_worst));
    }

    /// The number of the pair of a rule.
    pub(super) fn pair_of(&self, rule: Rule) -> usize {
        let (a, b) = (rule.a.min(rule.b), rule.a.max(rule.b));
        pair_index(self.labels.len(), a, b)
    }

    /// Everything that is certified of a pair, had the level of the log been 1 − `alpha`.
    fn statements(&self, pair: usize, alpha: f64) -> Statements {
        let mut all = Limits::new();
        if self.tally(pair).is_judged() {
            self.add_tables(pair, alpha, &mut all);
            for (at, plan) in self.planned(pair) {
                self.add_planned(at, plan, alpha, &mut all);
            }
            self.add_band(pair, alpha, &mut all);
            self.add_columns(pair, alpha, &mut all);
        }
        all
    }

    /// What the tables of all pairs say of one, each at its own part of the level.
    fn add_tables(&self, pair: usize, alpha: f64, all: &mut Statements) {
        for table in 0..self.plan.tables.len() {
            let level = alpha * self.plan.pair_part(CertifiedLimit::Table(table), pair);
            if level <= 0.0 {
                continue;
            }
            let kolmogorov = self.plan.kolmogorov.filter(|planned| planned.pair == pair);
            let share = kolmogorov.map_or(0.0, |planned| planned.share);
            let source = |method: Method| Source {
                method,
                planned: None,
            };
            if share < 1.0 {
                let (advantage, level) = (&self.advantages[pair], level * (1.0 - share));
                let rates = advantage.rates_at_most(level);
                let total_variation =
                    || Certified::TotalVariation(advantage.at_least(level).max(0.0));
                let certified = rates.map_or_else(total_variation, Certified::Errors);
                all.add(certified, source(self.attack_method(pair)));
            }
            if let Some((distance, [a, b])) = self.kolmogorov.filter(|_| share > 0.0) {
                let limit = band::total_variation_at_least(distance, a, b, level * share);
                let certified = Certified::TotalVariation(limit);
                all.add(certified, source(Method::KolmogorovDkw));
            }
        }
    }

    /// The planned limits of privacy at a pair; of those that read the same, the first.
    fn planned(&self, pair: usize) -> impl Iterator<Item = (usize, &PrivacyPlan)> {
        let plans = self.plan.privacy.iter().enumerate();
        plans.filter(move |(at, plan)| {
            let before = &self.plan.privacy[..*at];
            let known = before.iter().any(|known| known.read == plan.read);
            self.pair_of(plan.rule) == pair && !known
        })
    }

    fn add_planned(&self, at: usize, plan: &PrivacyPlan, alpha: f64, all: &mut Statements) {
        let level = alpha * self.plan.part(plan.read);
        let source = |method: Method| Source {
            method,
            planned: Some(at),
        };
        if let Some(guesses) = &self.guesses[at] {
            for &delta in &plan.deltas {
                let limit = guesses.tests.epsilon_at_least(delta, level);
                let certified = Certified::Parameter(PrivacyParameter::Epsilon { delta }, limit);
                all.add(certified, source(guesses.strongest(delta, level).method()));
            }
        } else if let (Some(weights), Some(bins)) = (&plan.weights, &self.bins[at]) {
            let certified = Certified::Parameter(plan.quantity, weights.plan.limit(bins, level));
            all.add(certified, source(Method::WeighedScores));
        } else if self.judgement.tallies[plan.position].is_judged() {
            let rates = self.errors(plan.position).errors_at_most(level);
            let method = self.errors_method(plan.position);
            all.add(Certified::Errors(rates), source(method));
        }
    }

    /// The errors at all thresholds of the scores of the worst pair. The log picked the pair: it has its part of the table's
    /// level.
    fn add_band(&self, pair: usize, alpha: f64, all: &mut Statements) {
        let Some(thresholds) = self.thresholds.as_ref().filter(|_| pair == self.worst) else {
            return;
        };
        let part = self.plan.part(CertifiedLimit::Band) * self.plan.tables[0][pair];
        let source = Source {
            method: Method::BandAndTails,
            planned: None,
        };
        let limits = thresholds.errors_at_most(alpha * part).into_iter();
        all.extend(limits.map(|rates| (Certified::Errors(rates), source)));
    }

    /// The total variations of single columns of the pair that promised most.
    fn add_columns(&self, pair: usize, alpha: f64, all: &mut Statements) {
        let Some(distances) = self.columns.filter(|_| pair == self.plan.worst) else {
            return;
        };
        let source = Source {
            method: Method::KolmogorovDkw,
            planned: None,
        };
        let limits = distances.limits(alpha * self.plan.part(CertifiedLimit::Columns));
        all.extend(limits.map(|limit| (Certified::TotalVariation(limit), source)));
    }

    /// What is certified of a pair at the level of the report.
    fn closed(&self, pair: usize) -> Option<&Statements> {
        let known = self.closures.iter().find(|closed| closed.0 == pair);
        known.map(|closed| &closed.1)
    }

    /// The lower limit of a pair's total variation, and how it was obtained; `None` if the pair was not judged.
    pub(super) fn lower(&self, pair: usize) -> Option<(f64, Method)> {
        let read = |all: &Statements| {
            let (limit, source) = all.total_variation()?;
            Some((limit, source.method))
        };
        match self.closed(pair) {
            Some(closed) => read(closed),
            None => {
                let mut all = Limits::new();
                if self.tally(pair).is_judged() {
                    self.add_tables(pair, self.alpha(), &mut all);
                    self.add_columns(pair, self.alpha(), &mut all);
                }
                read(&all)
            }
        }
    }

    /// The lower limit of a parameter at a pair.
    pub(super) fn privacy_at(&self, pair: usize, quantity: PrivacyParameter) -> Read {
        let read = |all: &Statements| {
            let found = all.at_least(quantity);
            found.map(|(limit, source)| (limit, *source))
        };
        let found = match self.closed(pair) {
            Some(closed) => read(closed),
            None => read(&self.statements(pair, self.alpha())),
        };
        let lower = found.map(|found| found.0);
        // Where nothing is shown, it is what was planned that shows nothing.
        let nothing = lower.is_none_or(|lower| lower <= 0.0);
        let planned = self
            .closed(pair)
            .filter(|_| nothing)
            .and_then(planned_source);
        let source = planned.or(found.map(|found| found.1));
        let point = self.privacy_point(pair, quantity, source);
        Read {
            limit: PrivacyLimit {
                quantity,
                secrets: self.pair(pair),
                is_of_some_pair: false,
                point: point.map(|point| lower.map_or(point, |lower| point.max(lower))),
                lower,
                witness: None,
            },
            pair,
            source,
        }
    }

    /// The estimate beside a limit: of what was planned for the parameter at the pair, and not less than what the estimate of
    /// the total variation implies where that is what the limit comes from. `None` if it is infinite.
    fn privacy_point(
        &self,
        pair: usize,
        quantity: PrivacyParameter,
        source: Option<Source>,
    ) -> Option<f64> {
        let of_pair = || {
            let plans = self.plan.privacy.iter().enumerate();
            plans.filter(|(_, plan)| self.pair_of(plan.rule) == pair)
        };
        let same = of_pair().find(|(_, plan)| plan.quantity == quantity);
        let planned = same.or_else(|| of_pair().next());
        let planned = planned.map(|(at, _)| self.planned_point(at, quantity));
        let implied = || {
            let total_variation = self.advantages[pair].point()?;
            let implied = Certified::TotalVariation(total_variation).at_least(quantity);
            Some(implied).filter(|point| point.is_finite())
        };
        let is_planned = source.is_some_and(|source| source.planned.is_some());
        match planned {
            Some(planned) if is_planned => planned,
            Some(planned) => Some(planned?.max(implied()?)),
            None => implied(),
        }
    }

    fn planned_point(&self, at: usize, quantity: PrivacyParameter) -> Option<f64> {
        if let (Some(guesses), PrivacyParameter::Epsilon { delta }) = (&self.guesses[at], quantity)
        {
            return guesses.tests.epsilon(delta);
        }
        let plan = &self.plan.privacy[at];
        if let (Some(weights), Some(bins)) = (&plan.weights, &self.bins[at])
            && plan.quantity == quantity
        {
            return weights.plan.point(bins);
        }
        let rates = self.errors(plan.position).rates()?;
        Some(rates.at_least(quantity)).filter(|point| point.is_finite())
    }

    /// The pairs of which limits of a parameter are compared.
    fn candidates(&self, scope: Scope, planned: usize) -> Vec<usize> {
        let is_neighbor = |pair: &usize| {
            let rule = self.tuned.choices[*pair].rule;
            self.neighbors.contain(rule.a, rule.b)
        };
        let closed = self.closures.iter().map(|closed| closed.0);
        let mut pairs = vec![planned];
        match scope {
            Scope::Pair => {}
            Scope::All => pairs.extend(closed),
            Scope::Neighbors => {
                pairs.extend(closed.filter(is_neighbor));
                pairs.push(self.worst_neighbors);
            }
        }
        pairs
    }

    /// The certified lower limit planned at a position, of its own parameter.
    pub(super) fn privacy(&self, at: usize) -> Read {
        self.privacy_of(at, self.plan.privacy[at].quantity)
    }

    /// The limit of another parameter at the pairs that a planned limit is about: the largest, at the planned pair of equals.
    pub(super) fn privacy_of(&self, at: usize, quantity: PrivacyParameter) -> Read {
        let plan = &self.plan.privacy[at];
        let pairs = self.candidates(plan.scope, self.pair_of(plan.rule));
        let reads = pairs
            .into_iter()
            .map(|pair| self.privacy_at(pair, quantity));
        let larger = |best: Read, next: Read| {
            if next.limit.lower > best.limit.lower {
                next
            } else {
                best
            }
        };
        // What is said of some pair is about the worst of them all.
        let of_some_pair = match plan.scope {
            Scope::All => self.some_pair_at(quantity, self.pair_of(plan.rule)),
            Scope::Neighbors | Scope::Pair => None,
        };
        let largest = reads.chain(of_some_pair).reduce(larger);
        largest.expect("the planned pair is one")
    }

    /// The p-value of no pair's total variation exceeding `allowed`.
    pub(super) fn all_p_value(&self, allowed: f64) -> Option<f64> {
        let of_pairs = self.smallest_p_value(|_| allowed)?;
        Some(of_pairs.min(self.some_total_variation_p_value(allowed)))
    }

    /// The p-value of a total variation of at most `allowed` at a pair.
    pub(super) fn p_value(&self, pair: usize, allowed: f64) -> f64 {
        if !self.tally(pair).is_judged() {
            return 1.0;
        }
        let tables = (0..self.plan.tables.len()).map(CertifiedLimit::Table);
        let tables = tables.map(|table| self.table_p_value(table, pair, allowed));
        let guesses = self.planned(pair).filter_map(|(at, plan)| {
            // Where no ε will do at a δ, the total variation exceeds it.
            let beyond = plan.deltas.iter().filter(|delta| **delta > allowed);
            let tests = &self.guesses[at].as_ref()?.tests;
            let p_values = beyond.map(|&delta| tests.p_value(0.0, delta));
            Some(p_values.reduce(f64::min)? / self.plan.part(plan.read))
        });
        let p = tables.chain(guesses).fold(1.0, f64::min);
        self.p_value_beside_tables(pair, p, &|all| {
            all.total_variation().is_some_and(|found| found.0 > allowed)
        })
    }

    fn table_p_value(&self, table: CertifiedLimit, pair: usize, allowed: f64) -> f64 {
        let part = self.plan.pair_part(table, pair);
        if part <= 0.0 {
            return 1.0;
        }
        let kolmogorov = self.plan.kolmogorov.filter(|planned| planned.pair == pair);
        let share = kolmogorov.map_or(0.0, |planned| planned.share);
        let mut p = 1.0f64;
        if share < 1.0 {
            p = self.advantages[pair].p_value(allowed) / (1.0 - share);
        }
        if let Some((distance, [a, b])) = self.kolmogorov.filter(|_| share > 0.0) {
            p = p.min(band::p_value(distance, allowed, a, b) / share);
        }
        (p / part).min(1.0)
    }

    /// The smallest of the pairs' p-values, all together; `None` if no pair was judged. Of many pairs, those with the largest
    /// limits are looked at: others could only make it smaller.
    pub(super) fn smallest_p_value(&self, allowed: impl Fn(usize) -> f64) -> Option<f64> {
        const MOST: usize = 20;
        let mut pairs: Vec<(f64, usize)> = (0..self.pair_count())
            .filter_map(|pair| Some((self.lower(pair)?.0 - allowed(pair), pair)))
            .collect();
        pairs.sort_by(|x, y| y.0.total_cmp(&x.0));
        let pairs = pairs.into_iter().take(MOST);
        pairs
            .map(|(_, pair)| self.p_value(pair, allowed(pair)))
            .reduce(f64::min)
    }

    /// The p-value of a parameter being at most `allowed` at a pair.
    pub(super) fn privacy_p_value(
        &self,
        pair: usize,
        quantity: PrivacyParameter,
        allowed: f64,
    ) -> f64 {
        self.privacy_p_value_up_to(pair, quantity, allowed, 1.0)
    }

    /// The p-value, or `most` if it is not smaller.
    pub(super) fn privacy_p_value_up_to(
        &self,
        pair: usize,
        quantity: PrivacyParameter,
        allowed: f64,
        most: f64,
    ) -> f64 {
        if !self.tally(pair).is_judged() {
            return most;
        }
        let refuted = |all: &Statements| {
            let found = all.at_least(quantity);
            found.is_some_and(|found| found.0 > allowed)
        };
        let p = self.by_guesses(pair, quantity, allowed, most);
        let p = smaller(p, |alpha| {
            let mut all = Limits::new();
            self.add_tables(pair, alpha, &mut all);
            refuted(&all)
        });
        self.p_value_beside_tables(pair, p, &refuted)
    }

    /// The smallest p-value of the guesses at a pair, at each of their δ for the ε that would imply more than is allowed;
    /// at most `most`.
    fn by_guesses(&self, pair: usize, quantity: PrivacyParameter, allowed: f64, most: f64) -> f64 {
        let mut p = most;
        for (at, plan) in self.planned(pair) {
            let Some(guesses) = &self.guesses[at] else {
                continue;
            };
            let part = self.plan.part(plan.read);
            for &delta in &plan.deltas {
                let known = PrivacyParameter::Epsilon { delta };
                let needed = if known == quantity {
                    Some(allowed)
                } else {
                    largest_epsilon(delta, quantity, allowed)
                };
                let Some(epsilon) = needed else {
                    continue;
                };
                let of_delta = guesses.tests.p_value_up_to(epsilon, delta, p * part);
                p = p.min(of_delta / part);
            }
        }
        p
    }

    /// The smaller of a p-value and those of the other statements about a pair, but for guesses.
    fn p_value_beside_tables(
        &self,
        pair: usize,
        p: f64,
        refuted: &dyn Fn(&Statements) -> bool,
    ) -> f64 {
        let planned = self
            .planned(pair)
            .filter(|(at, _)| self.guesses[*at].is_none());
        let p = planned.fold(p, |p, (at, plan)| {
            smaller(p, |alpha| {
                let mut all = Limits::new();
                self.add_planned(at, plan, alpha, &mut all);
                refuted(&all)
            })
        });
        let p = smaller(p, |alpha| {
            let mut all = Limits::new();
            self.add_columns(pair, alpha, &mut all);
            refuted(&all)
        });
        smaller(p, |alpha| {
            let mut all = Limits::new();
            self.add_band(pair, alpha, &mut all);
            refuted(&all)
        })
    }
}

/// The source of the first planned limit of a pair.
fn planned_source(all: &Statements) -> Option<Source> {
    let mut sources = all.certified().iter().map(|(_, source)| *source);
    sources.find(|source| source.planned.is_some())
}

/// The smaller of a p-value and the smallest level at which something is refuted.
pub(super) fn smaller(p: f64, refuted: impl Fn(f64) -> bool) -> f64 {
    if p <= level::SMALLEST {
        return p;
    }
    let largest = p.min(level::LARGEST);
    level::smallest_up_to(largest, refuted).map_or(p, |other| p.min(other))
}
