//! Words for values, limits and methods, the same in every format.

use crate::audit::ClaimReport;
use crate::estimate::{Estimate, Method};
use crate::report::numbers::{Limits, Texts, at_least, nearest};
use leakgauge_base::quantity::{PrivacyParameter, Quantity};

/// The quantity that decides, in words.
pub fn quantity(claim: &ClaimReport) -> &'static str {
    match claim.quantity {
        Quantity::BayesSecurity => "Bayes security",
        Quantity::TotalVariation => "total variation",
        Quantity::Advantage => "advantage",
        Quantity::AttackAdvantage => "advantage of the attack",
        Quantity::Overall(figure) => figure.words(),
        Quantity::TimeDifference => "time difference",
        Quantity::Privacy(PrivacyParameter::Renyi { .. }) => "Renyi divergence",
        Quantity::Privacy(parameter) => parameter.key(),
    }
}

/// The limits of a claim and its bound, rounded outward, with the same digits in every report: as many as the limits
/// warrant, and as it takes to tell them from each other.
pub fn texts(claim: &ClaimReport) -> Texts {
    Limits::from(&claim.estimate).texts(Some(claim.analytic))
}

pub fn method_name(method: Method) -> &'static str {
    match method {
        Method::HeldOutAttack => "the attack on the certification rows",
        Method::CrossFittedAttack => {
            "attacks of the chosen kind on all rows, each tested on rows that it was not trained on; some of these rows chose the kind"
        }
        Method::MinimaxTotalVariation => "minimax estimate for alphabets larger than the sample",
        Method::ClopperPearson => "Clopper-Pearson on each error rate of the attack",
        Method::KolmogorovDkw => "Kolmogorov distance with the DKW-Massart bound",
        Method::PlugIn => "empirical frequencies, biased upward",
        Method::GuessDivergence => {
            "divergence of right guesses, at a limit of the Bayes vulnerability"
        }
        Method::HeldOutGains => "bets on what held-out rows gain by a posterior from other rows",
        Method::PlugInMoments => "empirical frequencies, moments of the log-likelihood ratio",
        Method::MaximalLeakage => "the limit of maximal leakage, which is no smaller",
        Method::FixedOrder => "Chernoff bound on the guesses of one order",
        Method::ChosenEvent => "Clopper-Pearson and Chernoff on one event chosen on other rows",
        Method::FixedEvent => "plug-in, binomial limit of one event",
        Method::SparseCloseness => "squared differences of a sparse alphabet",
        Method::PrequentialBinomial => {
            "attacks learned from earlier rows, Clopper-Pearson on randomized trials"
        }
        Method::PromisedGuesses => "guesses at extreme scores or on events, Clopper-Pearson",
        Method::GroupsOfRows => "groups of similar rows together, truncated binomial law",
        Method::AveragePair => {
            "one rule for all pairs of secrets, bets on its mean errors over pairs"
        }
        Method::NamedSecret => "how often one of all secrets is named, which some pair must allow",
        Method::MaskedRows => "guesses on held-out rows, weighted by how sure they were",
        Method::MatchedClopperPearson => "Clopper-Pearson on a prior-matched subsample",
        Method::WeightedChernoff => "Chernoff bound on prior-weighted errors",
        Method::UnitBetting => "bets on the error rates of independent units, each counting once",
        Method::PrequentialUnits => {
            "attacks learned from earlier units, bets on the error rates of later ones, each unit counting once"
        }
        Method::OneRowAUnit => "Clopper-Pearson or Chernoff on one random row of every unit",
        Method::UnitMcdiarmid => {
            "plug-in estimate of the mean distribution of the units with McDiarmid's inequality; of few different \
             observations also bets on the shares of events"
        }
        Method::PairedClopperPearson => {
            "Clopper-Pearson on blocks: which of two measurements is which"
        }
        Method::MedianDifference => "the median of the differences inside blocks",
        Method::DifferenceOfMedians => "the difference of the medians",
        Method::OrderStatistics => "order statistics, by the binomial distribution",
        Method::CombinedLimits => "limits of both logs, each at half the level",
        Method::BettingMixture => "bets with a mixture of stakes",
        Method::OrderStatisticClopperPearson => {
            "order statistics of one secret with Clopper-Pearson on the other"
        }
        Method::OneRunGuesses => {
            "guesses about the canaries of one run, binomial domination and f-DP"
        }
        Method::DkwBand => "DKW-Massart band at all thresholds",
        Method::BandAndTails => {
            "DKW-Massart band at all thresholds with Clopper-Pearson in the tails"
        }
        Method::PairedChernoff => "Chernoff bound on independent pairs of rows (Hoeffding)",
        Method::WeighedScores => {
            "weights of all rows by the bin of their score, bets on both means"
        }
        Method::AreaUnderCurve => "the Gaussian shift of the same area under the curve",
        Method::ClopperPearsonEffectiveRows => {
            "Clopper-Pearson on each error rate with effective rows (approximate)"
        }
    }
}

pub fn range(estimate: &Estimate) -> String {
    let [_, lower, upper] = Limits::from(estimate).cells();
    match (estimate.lower, estimate.upper) {
        (Some(_), Some(_)) => format!("between {lower} and {upper}"),
        (Some(_), None) => format!("at least {lower}"),
        (None, Some(_)) => format!("at most {upper}"),
        (None, None) => "no limits".to_owned(),
    }
}

pub fn value(value: Option<f64>) -> String {
    value.map_or("n/a".to_owned(), nearest)
}

pub fn lower(limit: Option<f64>) -> String {
    limit.map_or("n/a".to_owned(), at_least)
}

/// A p-value in words, rounded upward.
pub fn p_value_of(p: f64) -> String {
    if p > 0.25 {
        "p > 0.25".to_owned()
    } else if p < 1e-4 {
        let exponent = p.max(1e-300).log10().ceil() as i32;
        format!("p < 1e{exponent}")
    } else {
        // Two significant digits, never below p.
        let unit = 10f64.powf(p.log10().floor() - 1.0);
        let rounded = (p / unit).ceil() * unit;
        let digits = (1.0 - p.log10().floor()) as usize;
        format!("p = {rounded:.digits$}")
    }
}

/// The name of a column in a picture. The columns of a log without a header have numbers for names.
pub fn column_title(name: &str) -> String {
    let number = name.trim_end_matches('²');
    if !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit()) {
        format!("column {name}")
    } else {
        name.to_owned()
    }
}
