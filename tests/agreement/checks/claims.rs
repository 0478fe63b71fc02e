//! Verdicts and the limits that they rest on.

use serde_json::Value;

use super::{Found, list, number};

/// A verdict follows from the limits beside it.
pub(super) fn claim(claim: &Value, found: &mut Found) {
    let estimate = &claim["estimate"];
    let (lower, upper) = (number(estimate, "lower"), number(estimate, "upper"));
    let bound = claim["analytic"].as_f64().expect("what the claim says");
    let protects = claim["quantity"] == "bayes_security";
    let beyond = if protects {
        upper.is_some_and(|upper| upper < bound)
    } else {
        lower.is_some_and(|lower| lower > bound)
    };
    let verdict = claim["verdict"].as_str().expect("a verdict");
    let text = || format!("{}: {verdict}, {estimate}", claim["claim"]);
    found.expect("verdict", (verdict == "violated") == beyond, text);
    let is_bound = ["advantage", "attack_advantage"]
        .iter()
        .any(|name| claim["quantity"] == *name);
    if is_bound {
        let within = upper.is_some_and(|upper| upper <= bound);
        found.expect("verdict", verdict != "holds" || within, text);
        found.expect(
            "verdict",
            !within || verdict == "holds" || claim["quantity"] == "attack_advantage",
            text,
        );
    }
}

/// A claim shows what the tables show of its pair.
pub(super) fn of_the_same_pair(report: &Value, claim: &Value, found: &mut Found) {
    let (estimate, worst) = (&claim["estimate"], &report["worst_pair"]);
    let reverse = |key| number(estimate, key).map(|security| 1.0 - security);
    let (point, upper) = match claim["quantity"].as_str() {
        Some("advantage") => (number(estimate, "point"), number(estimate, "upper")),
        Some("bayes_security") => (reverse("point"), reverse("lower")),
        _ => return,
    };
    let lists = list(&report["pairs"]).iter();
    for pair in lists.filter(|pair| pair["secrets"] == claim["pair"]) {
        found.equal(
            "one-estimate",
            (&format!("the estimate of {}", claim["claim"]), point),
            (
                "that of the pair",
                number(&pair["total_variation"], "point"),
            ),
        );
    }
    if claim["fit"].is_null() {
        let all =
            number(&report["overall"]["bayes_security"], "lower").map(|security| 1.0 - security);
        found.equal(
            "overall",
            ("the claim's upper limit", upper),
            ("that over all pairs", all),
        );
        let lower = match claim["quantity"].as_str() {
            Some("advantage") => number(estimate, "lower"),
            _ => reverse("upper"),
        };
        let of_worst = number(&worst["total_variation"], "lower");
        // The average over all pairs may show more than any pair by itself; then no pair is named.
        let is_of_all = claim["pair"].is_null();
        if is_of_all {
            found.expect("one-limit", lower > of_worst, || {
                format!(
                    "{} names no pair and shows no more than the worst",
                    claim["claim"]
                )
            });
        } else {
            found.equal(
                "one-limit",
                ("the claim's lower limit", lower),
                ("that of the worst pair", of_worst),
            );
        }
        found.expect(
            "one-limit",
            is_of_all || claim["pair"] == worst["secrets"],
            || format!("{} is about another pair than the worst", claim["claim"]),
        );
    }
}

/// Claims that say the same have the same verdict, and what is violated of less is violated of more.
pub(super) fn between_claims(claims: &[Value], found: &mut Found) {
    let bound = |claim: &Value| -> Option<(f64, String)> {
        let analytic = claim["analytic"].as_f64()?;
        let most = match claim["quantity"].as_str()? {
            "advantage" => analytic,
            "bayes_security" if claim["fit"].is_null() => 1.0 - analytic,
            _ => return None,
        };
        Some((most, claim["verdict"].as_str()?.to_owned()))
    };
    for claim in claims {
        let Some((most, verdict)) = bound(claim) else {
            continue;
        };
        for other in claims {
            let Some((other_most, other_verdict)) = bound(other) else {
                continue;
            };
            let same = (most - other_most).abs() < 1e-12;
            found.expect("verdicts", !same || verdict == other_verdict, || {
                format!(
                    "{} is {verdict} and {} is {other_verdict}",
                    claim["claim"], other["claim"]
                )
            });
        }
        let attacks = claims.iter().filter(|other| {
            other["quantity"] == "attack_advantage" && other["analytic"].as_f64() >= Some(most)
        });
        for other in attacks {
            found.expect(
                "verdicts",
                other["verdict"] != "violated" || verdict != "holds",
                || {
                    format!(
                        "{} is violated and {} holds",
                        other["claim"], claim["claim"]
                    )
                },
            );
        }
    }
}
