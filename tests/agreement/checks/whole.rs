//! Figures of the whole log, and privacy.

use serde_json::Value;

use super::{Found, list, number};

/// The figures of the whole log.
pub(super) fn overall(report: &Value, found: &mut Found) {
    let (overall, worst) = (&report["overall"], &report["worst_pair"]);
    let secrets = list(&report["input"]["secrets"]).len() as f64;
    let security = &overall["bayes_security"];
    // Less where more is known of some pair than of any single one.
    found.at_most(
        "overall",
        ("Bayes security of all pairs", number(security, "point")),
        (
            "that of the worst pair",
            number(&worst["bayes_security"], "point"),
        ),
    );
    for pair in list(&report["pairs"]) {
        let of_pair = &pair["bayes_security"];
        found.at_most(
            "overall",
            ("the lower limit over all pairs", number(security, "lower")),
            ("a pair's upper limit", number(of_pair, "upper")),
        );
        found.at_most(
            "joint",
            ("the upper limit over all pairs", number(security, "upper")),
            (
                &format!("that of {}", pair["secrets"]),
                number(of_pair, "upper"),
            ),
        );
    }
    let blind = overall["guessing_error"]
        .as_f64()
        .expect("a guessing error");
    risk(overall, blind, found);
    capacity(overall, worst, secrets, found);
    if overall["prior"] == "uniform" {
        found.equal(
            "risk",
            ("the guessing error", Some(blind)),
            ("1 − 1/k", Some(1.0 - 1.0 / secrets)),
        );
        for key in ["point", "lower", "upper"] {
            found.equal(
                "capacity",
                (
                    &format!("{key} of the leakage at the uniform prior"),
                    number(&overall["multiplicative_leakage"], key),
                ),
                ("that of the capacity", number(&overall["capacity"], key)),
            );
        }
    }
    // β* is the least over all priors.
    found.at_most(
        "risk",
        (
            "the lower limit of the Bayes security",
            number(security, "lower"),
        ),
        (
            "the upper limit of the risk leakage",
            number(&overall["risk_leakage"], "upper"),
        ),
    );
}

/// Bayes risk, and what it amounts to at its prior.
fn risk(overall: &Value, blind: f64, found: &mut Found) {
    let risk = &overall["bayes_risk"];
    for key in ["point", "lower", "upper"] {
        let value = number(risk, key);
        found.at_most(
            "risk",
            (&format!("{key} of the Bayes risk"), value),
            ("the guessing error", Some(blind)),
        );
        found.at_most("risk", ("0", Some(0.0)), (key, value));
        let mirrored = match key {
            "lower" => "upper",
            "upper" => "lower",
            key => key,
        };
        let right = number(risk, mirrored).map(|risk| 1.0 - risk);
        let likeliest = 1.0 - blind;
        let expect: [(&str, &str, Option<f64>); 5] = [
            (
                "risk_leakage",
                key,
                value.filter(|_| blind > 0.0).map(|risk| risk / blind),
            ),
            ("multiplicative_leakage", key, right.map(|v| v / likeliest)),
            ("additive_leakage", key, right.map(|v| v - likeliest)),
            (
                "min_entropy_leakage",
                key,
                right.map(|v| (v / likeliest).ln()),
            ),
            (
                "min_entropy_leakage_bits",
                key,
                right.map(|v| (v / likeliest).log2()),
            ),
        ];
        for (name, key, expected) in expect {
            let shown = number(&overall[name], key);
            found.equal(
                "risk",
                (&format!("{key} of {name}"), shown),
                ("what the risk says", expected),
            );
        }
        let leakage = number(&overall["multiplicative_leakage"], key);
        found.at_most(
            "risk",
            ("1", Some(1.0)),
            ("multiplicative leakage", leakage),
        );
        found.at_most(
            "risk",
            ("multiplicative leakage", leakage),
            ("1/max prior", Some(1.0 / likeliest)),
        );
    }
}

/// 1 + total variation of any pair ≤ capacity ≤ number of secrets.
fn capacity(overall: &Value, worst: &Value, secrets: f64, found: &mut Found) {
    let capacity = &overall["capacity"];
    let beyond_one = |key: &str| number(&worst["total_variation"], key).map(|tv| 1.0 + tv);
    for key in ["point", "lower"] {
        // A secret without rows that judge has no capacity to estimate.
        if number(capacity, key).is_some() {
            found.at_most(
                "capacity",
                (&format!("1 + {key} of the worst pair"), beyond_one(key)),
                (&format!("{key} of the capacity"), number(capacity, key)),
            );
        }
    }
    found.at_most(
        "capacity",
        ("1 + the worst pair's lower limit", beyond_one("lower")),
        ("the capacity's upper limit", number(capacity, "upper")),
    );
    for key in ["point", "lower", "upper"] {
        found.at_most(
            "capacity",
            (key, number(capacity, key)),
            ("the number of secrets", Some(secrets)),
        );
        found.at_most("capacity", ("1", Some(1.0)), (key, number(capacity, key)));
    }
}
