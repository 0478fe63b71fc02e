//! The figures of the leakage family.

use super::judge::{FamilyEvidence, judge, weighted_share};
use super::{FamilyOrder, FamilyTries, LeakageFamily, TellingEvent};
use crate::audit::basis::Evidence;
use crate::audit::figures::information::estimate as information;
use crate::audit::figures::overall::Overall;
use crate::audit::figures::overall::risk::strata;
use crate::audit::figures::stages::{Figure, Settled};
use crate::audit::plan::Plan;
use crate::audit::prepare::Prepared;
use crate::estimate::{Estimate, Method, Methods, Reason};
use leakgauge_attack::measure::leaking_event::pointwise;
use leakgauge_attack::pairwise::Ranks;
use leakgauge_attack::tuning::Tuned;
use leakgauge_exact::channel::{
    Channel, Prior, numbered, prior_guesswork, prior_tries_vulnerability,
};
use leakgauge_log::observations::{Counts, ObservationKind};
use leakgauge_stats::binomial::clopper_pearson_lower;
use leakgauge_stats::event_upper::{Named, vulnerability_upper};
use leakgauge_stats::renyi::success_divergence;
use leakgauge_stats::weighted_risk::{Stratum, chernoff_lower, chernoff_upper};

/// The largest matrix of frequencies, in entries.
const MOST_ENTRIES: usize = 4_000_000;
/// The most observations of an event that are named.
const NAMED_OBSERVATIONS: usize = 20;

/// The leakage family.
pub(crate) struct Family;

impl Figure for Family {
    type Plan = ();
    type Judged = Option<FamilyEvidence>;
    type Found = Option<LeakageFamily>;

    fn plan(_: &Prepared, _: &Tuned, _: &mut Plan) {}

    fn judge(prepared: &Prepared, tuned: &Tuned, (): &()) -> Self::Judged {
        judge(prepared, tuned)
    }

    fn figure((): &(), judged: &Self::Judged, settled: &Settled) -> Self::Found {
        let prior = &settled.prepared.priors[0];
        let found = judged.as_ref()?;
        Some(found.figures(settled.evidence, settled.overall, prior))
    }
}

impl FamilyEvidence {
    /// All figures. Each limit holds at the level of the report by itself.
    fn figures(&self, evidence: &Evidence, overall: &Overall, prior: &[f64]) -> LeakageFamily {
        let requested = &evidence.options.requested;
        let known = Prior::new(prior.to_vec()).expect("a prior of the audit");
        let maximal_leakage = self.maximal_leakage(evidence, overall);
        let plug_in = (!requested.orders.is_empty())
            .then(|| frequencies(evidence))
            .flatten();
        let orders = requested.orders.iter().map(|&order| {
            let of = OfOrder {
                evidence,
                overall,
                prior: &known,
                plug_in: plug_in.as_ref(),
                maximal_leakage: &maximal_leakage,
            };
            of.figures(order)
        });
        LeakageFamily {
            orders: orders.collect(),
            largest_pointwise_leakage: self.pointwise_leakage(evidence),
            telling_event: self.telling_event(evidence),
            prior_guesswork: prior_guesswork(&known),
            guesswork: self.guesswork(evidence, prior),
            tries: requested
                .tries
                .iter()
                .map(|&tries| self.tries(evidence, overall, (&known, prior), tries))
                .collect(),
            maximal_leakage,
        }
    }

    /// Why rows that may depend on each other have no such limit.
    fn dependence(&self, evidence: &Evidence) -> Option<Reason> {
        let reason = match evidence.units {
            Some(_) => Reason::GroupedRows,
            None => Reason::DependentRows,
        };
        (!self.independent).then_some(reason)
    }

    fn tries(
        &self,
        evidence: &Evidence,
        overall: &Overall,
        (known, prior): (&Prior, &[f64]),
        tries: u64,
    ) -> FamilyTries {
        let blind = prior_tries_vulnerability(known, tries).expect("checked with the options");
        let vulnerability = if tries == 1 {
            overall.bayes_risk.decreasing(|risk| 1.0 - risk)
        } else {
            self.success(evidence, (&self.ranks, self.plug_in.as_ref()), prior, tries)
        };
        FamilyTries {
            tries,
            prior_vulnerability: blind,
            vulnerability,
        }
    }

    /// The probability that one of k guesses is right.
    fn success(
        &self,
        evidence: &Evidence,
        (ranks, plug_in): (&Ranks, Option<&Ranks>),
        prior: &[f64],
        tries: u64,
    ) -> Estimate {
        let known = Prior::new(prior.to_vec()).expect("a prior of the audit");
        let blind = prior_tries_vulnerability(&known, tries).expect("checked with the options");
        let missed = strata(prior, &ranks.rows(), &ranks.missed(tries));
        let point = weighted_share(&missed).map(|missed| 1.0 - missed);
        let dependence = self.dependence(evidence);
        let alpha = evidence.alpha();
        let lower = dependence
            .is_none()
            .then(|| self.success_at_least(ranks, prior, tries, blind, alpha));
        let upper = plug_in.filter(|_| dependence.is_none()).map(|ranks| {
            let (rows, missed) = (ranks.rows(), ranks.missed(tries));
            let named = (0..prior.len()).filter(|&s| prior[s] > 0.0).map(|s| Named {
                prior: prior[s],
                right: rows[s] - missed[s],
                rows: rows[s],
            });
            vulnerability_upper(&named.collect::<Vec<_>>(), alpha).clamp(blind, 1.0)
        });
        let mut success = Estimate {
            point,
            raw: None,
            lower: lower.map(|(limit, _)| limit.max(blind)),
            upper,
            method: Methods {
                point: point.map(|_| Method::HeldOutAttack),
                lower: lower.map(|(_, method)| method),
                upper: upper.map(|_| Method::FixedEvent),
            },
            reason: match (dependence, point, upper) {
                (Some(reason), ..) => Some(reason),
                (_, None, _) => Some(Reason::PriorWithoutRows),
                (_, _, None) => Some(evidence.no_upper()),
                _ => None,
            },
        };
        success.constrain(blind, 1.0);
        success
    }

    /// The expected number of guesses: 1 + (m − 1)·E\[wrong guesses/(m − 1)\] over the m secrets of positive prior, a
    /// mean of numbers in \[0, 1\], to which Chernoff's bound applies as to errors.
    fn guesswork(&self, evidence: &Evidence, prior: &[f64]) -> Estimate {
        let blind = prior_guesswork(&Prior::new(prior.to_vec()).expect("a prior of the audit"));
        let others = prior.iter().filter(|p| **p > 0.0).count() as u64 - 1;
        if others == 0 {
            return Estimate {
                reason: Some(Reason::NothingToGuess),
                ..Estimate::default()
            };
        }
        let shares = |ranks: &Ranks, rounded: fn(u64, u64) -> u64| -> Vec<Stratum> {
            let wrong = ranks.wrong_guesses().into_iter();
            let wrong: Vec<u64> = wrong.map(|wrong| rounded(wrong, others)).collect();
            let rows = ranks.rows();
            // Secrets that the prior excludes are guessed last, and weigh nothing.
            let wrong = wrong
                .iter()
                .zip(&rows)
                .map(|(wrong, rows)| *wrong.min(rows));
            strata(prior, &rows, &wrong.collect::<Vec<_>>())
        };
        let guesses = |share: f64| 1.0 + others as f64 * share;
        let found = strata(prior, &self.ranks.rows(), &self.ranks.wrong_guesses());
        let point = weighted_share(&found).map(|wrong| 1.0 + wrong);
        let (dependence, alpha) = (self.dependence(evidence), evidence.alpha());
        let upper = dependence.is_none().then(|| {
            let limit = chernoff_upper(&shares(&self.ranks, u64::div_ceil), alpha);
            guesses(limit).min(blind)
        });
        let plug_in = self.plug_in.as_ref().filter(|_| dependence.is_none());
        let lower = plug_in.map(|ranks| {
            let floor = |wrong: u64, others: u64| wrong / others;
            guesses(chernoff_lower(&shares(ranks, floor), alpha))
        });
        let mut guesswork = Estimate {
            point,
            raw: None,
            lower,
            upper,
            method: Methods {
                point: point.map(|_| Method::HeldOutAttack),
                lower: lower.map(|_| Method::FixedEvent),
                upper: upper.map(|_| Method::FixedOrder),
            },
            reason: match (dependence, point, lower) {
                (Some(reason), ..) => Some(reason),
                (_, None, _) => Some(Reason::PriorWithoutRows),
                (_, _, None) => Some(evidence.no_upper()),
                _ => None,
            },
        };
        guesswork.constrain(1.0, blind);
        guesswork
    }

    /// ln(m·V) of the Bayes vulnerability V at the uniform prior over the m secrets that the prior allows.
    fn maximal_leakage(&self, evidence: &Evidence, overall: &Overall) -> Estimate {
        let Some((support, ranks)) = &self.of_support else {
            return overall.capacity.increasing(f64::ln);
        };
        let size = support.iter().filter(|p| **p > 0.0).count() as f64;
        if size < 2.0 {
            return Estimate {
                reason: Some(Reason::NothingToGuess),
                ..Estimate::default()
            };
        }
        let plug_in = self.plug_in.is_some();
        let plug_in = plug_in.then(|| Ranks::plug_in(evidence.counts, support));
        self.success(evidence, (ranks, plug_in.as_ref()), support, 1)
            .increasing(|v| (size * v).ln())
    }

    /// ln(P_s(E)/(πP)(E)) of the event that other rows chose: p from below, the other secrets from above, half of the
    /// level each.
    fn pointwise_leakage(&self, evidence: &Evidence) -> Estimate {
        let Some((_, rows)) = &self.event else {
            return Estimate {
                reason: Some(evidence.no_upper()),
                ..Estimate::default()
            };
        };
        let [inside, all] = rows.own;
        let half = 0.5 * evidence.alpha();
        let point = weighted_share(&rows.others)
            .filter(|_| all > 0)
            .map(|others| pointwise(inside as f64 / all as f64, rows.prior, others))
            .filter(|point| point.is_finite());
        let dependence = self.dependence(evidence);
        let lower = (dependence.is_none() && all > 0).then(|| {
            let own = clopper_pearson_lower(inside, all, half);
            let others = chernoff_upper(&rows.others, half);
            pointwise(own, rows.prior, others).max(0.0)
        });
        let mut leakage = Estimate {
            point,
            raw: None,
            lower,
            upper: None,
            method: Methods {
                point: point.map(|_| Method::HeldOutAttack),
                lower: lower.map(|_| Method::ChosenEvent),
                upper: None,
            },
            reason: Some(dependence.unwrap_or(Reason::UnseenObservations)),
        };
        leakage.constrain(0.0, f64::INFINITY);
        leakage
    }

    fn telling_event(&self, evidence: &Evidence) -> Option<TellingEvent> {
        let (event, _) = self.event.as_ref()?;
        let named = event.observations.iter().take(NAMED_OBSERVATIONS);
        let label = |&symbol: &u32| evidence.observations.label(symbol);
        let observations: Vec<String> = named.map(label).collect();
        Some(TellingEvent {
            secret: evidence.labels[event.secret as usize].clone(),
            left_out: event.observations.len() - observations.len(),
            observations,
        })
    }
}

/// What measures with an order follow from.
struct OfOrder<'a> {
    evidence: &'a Evidence<'a>,
    overall: &'a Overall,
    prior: &'a Prior,
    plug_in: Option<&'a Channel>,
    maximal_leakage: &'a Estimate,
}

impl OfOrder<'_> {
    fn figures(&self, order: f64) -> FamilyOrder {
        let weights = self.prior.weights();
        let blind = weights.iter().copied().fold(0.0, f64::max);
        let success = self.overall.bayes_risk.decreasing(|risk| 1.0 - risk);
        let sibson = self
            .plug_in
            .and_then(|channel| channel.sibson_information(self.prior, order).ok());
        let shannon = (order == 1.0).then(|| information::estimate(self.evidence, weights));
        let sibson_information = if order == f64::INFINITY {
            self.maximal_leakage.clone()
        } else if let Some(shannon) = shannon.flatten() {
            shannon
        } else {
            self.figure(sibson, success.lower, blind, order)
        };
        let maximal = || {
            if order == 1.0 || order == f64::INFINITY {
                return sibson_information.clone();
            }
            let size = weights.iter().filter(|p| **p > 0.0).count() as f64;
            let found = self
                .plug_in
                .and_then(|channel| channel.maximal_alpha_leakage(self.prior, order).ok());
            // Maximal leakage is ln(m·V) at the uniform prior over m secrets, which is one of the priors.
            let success = self.maximal_leakage.lower.map(|nats| nats.exp() / size);
            self.figure(found.map(|found| found.lower), success, 1.0 / size, order)
        };
        FamilyOrder {
            order,
            maximal_alpha_leakage: (order >= 1.0).then(maximal),
            sibson_information,
        }
    }

    /// From below by the divergence of guesses, from above by maximal leakage: leakage grows with the order.
    fn figure(&self, point: Option<f64>, success: Option<f64>, blind: f64, order: f64) -> Estimate {
        let lower = success.map(|success| success_divergence(success, blind, order));
        let upper = self.maximal_leakage.upper;
        let mut figure = Estimate {
            point,
            raw: None,
            lower,
            upper,
            method: Methods {
                point: point.map(|_| Method::PlugIn),
                lower: lower.map(|_| Method::GuessDivergence),
                upper: upper.map(|_| Method::MaximalLeakage),
            },
            reason: match (point, upper) {
                (_, None) => Some(self.evidence.no_upper()),
                (None, _) => Some(Reason::NoFrequencies),
                _ => None,
            },
        };
        figure.constrain(0.0, f64::INFINITY);
        figure
    }
}

/// The matrix of frequencies of all rows; `None` for numbers, a secret without rows, or too many entries.
fn frequencies(evidence: &Evidence) -> Option<Channel> {
    let counts: &Counts = evidence.counts;
    let symbols = counts.symbols();
    let fits = symbols.len().saturating_mul(counts.secrets()) <= MOST_ENTRIES;
    let discrete = evidence.observations.kind() == ObservationKind::Discrete;
    if !fits || !discrete || counts.rows().contains(&0) {
        return None;
    }
    let mut values = vec![0.0; symbols.len() * counts.secrets()];
    for (column, cells) in counts.by_symbol().enumerate() {
        for cell in cells {
            let secret = cell.secret as usize;
            values[secret * symbols.len() + column] =
                cell.count as f64 / counts.rows()[secret] as f64;
        }
    }
    let labels = evidence.labels.to_vec();
    Some(Channel::trusted(labels, numbered(symbols.len()), values))
}
