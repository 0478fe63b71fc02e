//! No limit says less than another one of the same pair implies.
//!
//! The implications are written down here once more, by other formulas than those of the program where there are any.

use leakgauge::stats::special::{normal_cdf, normal_quantile};
use serde_json::Value;

use super::{Found, list, number};

/// What a lower limit is about.
#[derive(Debug, Clone, Copy, PartialEq)]
enum About {
    TotalVariation,
    Epsilon(f64),
    Mu,
    Rho,
    Renyi(f64),
}

/// A lower limit of a report.
#[derive(Debug, Clone)]
struct Limit {
    name: String,
    /// The secrets, the smaller first; `None` where it is the largest over all pairs.
    pair: Option<[String; 2]>,
    about: About,
    least: f64,
}

/// Every lower limit of the pairs of a report against every other.
pub(super) fn implied(report: &Value, found: &mut Found) {
    let limits = limits(report);
    for known in &limits {
        for other in &limits {
            // What the largest over all pairs is the largest of is not said.
            let same = match (&known.pair, &other.pair) {
                (_, None) => true,
                (Some(known), Some(other)) => known == other,
                (None, Some(_)) => false,
            };
            let least = what_follows(known, other.about).filter(|_| same);
            found.at_most(
                "implied",
                (&format!("what {} implies", known.name), least),
                (&other.name, Some(other.least)),
            );
        }
    }
    first_epsilon(report, found);
    by_names(report, found);
}

/// Who names one of k secrets rightly with probability p at the uniform prior takes another one for it with probability
/// (1 − p)/(k − 1), on the average: some pair is told apart by just that.
fn by_names(report: &Value, found: &mut Found) {
    let secrets = list(&report["input"]["secrets"]).len() as f64;
    let risk = number(&report["overall"]["bayes_risk"], "upper");
    let is_known = report["overall"]["prior"] == "uniform" && report["neighbors"].is_null();
    let Some(risk) = risk.filter(|risk| is_known && *risk > 0.0) else {
        return;
    };
    let wrong = risk / (secrets - 1.0);
    let security = number(&report["overall"]["bayes_security"], "upper");
    found.at_most(
        "implied",
        ("the total variation by names", Some(1.0 - risk - wrong)),
        ("that of all pairs", security.map(|security| 1.0 - security)),
    );
    let of_all = list(&report["claims"]).iter().all(|claim| {
        let claim = claim["claim"].as_str().unwrap_or_default();
        !claim.contains("unit=") && !claim.contains("dsigma")
    });
    found.at_most(
        "implied",
        (
            "epsilon by names",
            Some(((1.0 - risk) / wrong).ln()).filter(|_| of_all),
        ),
        (
            "that of the worst pair",
            number(&report["worst_pair"]["epsilon"], "lower"),
        ),
    );
}

/// ε of the worst pair is the first of the list.
fn first_epsilon(report: &Value, found: &mut Found) {
    let worst = &report["worst_pair"];
    let Some(first) = list(&report["privacy"]).first() else {
        return;
    };
    for key in ["point", "lower"] {
        found.equal(
            "privacy",
            (&format!("{key} of epsilon"), number(&worst["epsilon"], key)),
            ("that of the list", number(first, key)),
        );
    }
    found.at_most(
        "possible",
        ("0", Some(0.0)),
        ("epsilon", number(first, "lower")),
    );
}

fn limits(report: &Value) -> Vec<Limit> {
    let worst = &report["worst_pair"];
    let mut all = Vec::new();
    let mut add = |name: String, pair: Option<&Value>, about: About, figure: &Value| {
        let least = number(figure, "lower").filter(|least| *least > 0.0);
        all.push(Limit {
            name,
            // Of some pair, by the average over all: the largest too.
            pair: pair.filter(|pair| !pair.is_null()).map(secrets),
            about,
            least: least.unwrap_or(0.0),
        });
    };
    let own = Some(&worst["secrets"]);
    add(
        "the total variation".to_owned(),
        own,
        About::TotalVariation,
        &worst["total_variation"],
    );
    for pair in list(&report["pairs"]) {
        let name = format!("the total variation of {}", pair["secrets"]);
        add(
            name,
            Some(&pair["secrets"]),
            About::TotalVariation,
            &pair["total_variation"],
        );
    }
    // Claims with a unit, or about neighbors, read other pairs than all.
    let of_all = report["neighbors"].is_null();
    let claims = list(&report["claims"]);
    let with_unit = |claim: &&Value| claim["claim"].as_str().is_some_and(|c| c.contains("unit="));
    let of_all = of_all && claims.iter().find(with_unit).is_none();
    for (at, limit) in list(&report["privacy"]).iter().enumerate() {
        let Some(about) = about(limit, limit) else {
            continue;
        };
        let name = format!("/privacy/{at} ({about:?})");
        let pair = Some(&limit["secrets"]).filter(|_| at > 0 && !of_all);
        add(name.clone(), pair, about, limit);
        add(name, Some(&limit["secrets"]), about, limit);
    }
    for claim in claims {
        if let Some(about) = about(claim, claim) {
            let name = format!("{} ({about:?})", claim["claim"]);
            add(name, Some(&claim["pair"]), about, &claim["estimate"]);
        }
    }
    let trade_off = &worst["trade_off"];
    if trade_off.is_object() {
        add(
            "mu of the trade-off".to_owned(),
            own,
            About::Mu,
            &trade_off["mu"],
        );
        for limit in list(&trade_off["epsilon"]) {
            let delta = limit["delta"].as_f64().expect("a delta");
            let name = format!("epsilon of the trade-off at {delta}");
            add(name, own, About::Epsilon(delta), limit);
        }
    }
    all
}

fn secrets(pair: &Value) -> [String; 2] {
    let label = |at: usize| pair[at].as_str().expect("a label").to_owned();
    let (a, b) = (label(0), label(1));
    if a <= b { [a, b] } else { [b, a] }
}

/// What a limit of privacy is about; `None` if it is about something else.
fn about(limit: &Value, parameters: &Value) -> Option<About> {
    match limit["quantity"].as_str()? {
        "epsilon" => Some(About::Epsilon(parameters["delta"].as_f64()?)),
        "mu" => Some(About::Mu),
        "rho" => Some(About::Rho),
        "renyi_divergence" => Some(About::Renyi(parameters["order"].as_f64()?)),
        _ => None,
    }
}

/// The least that follows, if anything does.
fn what_follows(known: &Limit, of: About) -> Option<f64> {
    let least = known.least;
    match (known.about, of) {
        (known, of) if known == of => Some(least),
        (About::TotalVariation, of) => Some(of_total_variation(least, of)),
        (About::Epsilon(delta), About::TotalVariation) if least > 0.0 => Some(delta),
        // An event of probability 1 under one secret: e^ε of it is least.
        (About::Epsilon(delta), About::Epsilon(other)) if other < delta && least > 0.0 => {
            Some(least + ((1.0 - other) / (1.0 - delta)).ln())
        }
        (About::Mu, About::Epsilon(0.0)) => {
            Some((normal_cdf(0.5 * least) / normal_cdf(-0.5 * least)).ln())
        }
        (About::Rho, About::Mu) => Some((2.0 * least).sqrt()),
        // ρ is at most ε²/2, and at most ε.
        (About::Rho, About::Epsilon(0.0)) => Some((2.0 * least).sqrt().max(least)),
        (About::Renyi(order), About::Rho) => Some(least / order),
        (About::Renyi(order), About::Mu) => Some((2.0 * least / order).sqrt()),
        (About::Renyi(_), About::Epsilon(0.0)) => Some(least),
        (About::Renyi(order), About::Renyi(larger)) if larger >= order => Some(least),
        _ => None,
    }
}

/// Of randomized response, which tells secrets of this total variation apart least by every measure.
fn of_total_variation(tv: f64, of: About) -> f64 {
    let (p, q) = (0.5 * (1.0 + tv), 0.5 * (1.0 - tv));
    match of {
        About::TotalVariation => tv,
        About::Epsilon(delta) => ((p - delta) / q).ln().max(0.0),
        About::Mu => 2.0 * normal_quantile(p),
        About::Rho => 2.0 * tv * tv.atanh(),
        About::Renyi(order) => {
            let moment = p.powf(order) * q.powf(1.0 - order) + q.powf(order) * p.powf(1.0 - order);
            moment.ln() / (order - 1.0)
        }
    }
}
