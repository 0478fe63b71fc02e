//! All figures of a report against each other.
#![allow(dead_code)]

mod claims;
mod implied;
mod whole;

use serde_json::Value;

use claims::{between_claims, claim, of_the_same_pair};
use implied::implied;
use whole::overall;

/// Room for rounding in sums and logarithms.
const ROUNDING: f64 = 1e-9;

/// Two figures of a report that do not agree.
#[derive(Debug)]
pub struct Disagreement {
    /// The name of the check.
    pub check: &'static str,
    /// Which figures, with their values.
    pub text: String,
}

/// Everything in a report of `audit`, `estimate`, `compare` or `follow` that contradicts something else in it.
pub fn disagreements(report: &Value) -> Vec<Disagreement> {
    let mut found = Found::default();
    estimates(report, "", &mut found);
    if report["pairs"].is_array() {
        audit(report, &mut found);
    }
    for (at, log) in list(&report["logs"]).iter().enumerate() {
        let worst = &log["worst_pair"];
        mirror(worst, &format!("/logs/{at}/worst_pair"), &mut found);
        attack(worst, &mut found);
        if !log["claim"].is_null() {
            claim(&log["claim"], &mut found);
        }
    }
    for difference in list(&report["differences"]) {
        changes(difference, &mut found);
    }
    if report["judged"].is_u64() {
        follow(report, &mut found);
    }
    found.0
}

/// Sentences of a text or page that contradict themselves.
pub fn contradictory_sentences(text: &str) -> Vec<String> {
    // What is certified about guessing is said only where it is more than guessing blind achieves.
    let flat = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let says_nothing = [
        "at least 50.0 %",
        "at least 50 %",
        "advantage of at least 0.0000 ",
    ];
    let found = says_nothing.iter().filter(|words| flat.contains(**words));
    found.map(|words| (*words).to_owned()).collect()
}

#[derive(Default)]
struct Found(Vec<Disagreement>);

impl Found {
    /// x ≤ y, where both are there.
    fn at_most(&mut self, check: &'static str, x: (&str, Option<f64>), y: (&str, Option<f64>)) {
        if let ((name, Some(x)), (other, Some(y))) = (x, y)
            && x > y + ROUNDING * (1.0 + x.abs().max(y.abs()))
        {
            let text = format!("{name} {x} exceeds {other} {y}");
            self.0.push(Disagreement { check, text });
        }
    }

    /// Both missing, or both there and equal.
    fn equal(&mut self, check: &'static str, x: (&str, Option<f64>), y: (&str, Option<f64>)) {
        let equal = match (x.1, y.1) {
            (Some(x), Some(y)) => (x - y).abs() <= ROUNDING * (1.0 + x.abs()),
            (None, None) => true,
            _ => false,
        };
        self.expect(check, equal, || {
            format!("{} {:?} is not {} {:?}", x.0, x.1, y.0, y.1)
        });
    }

    fn expect(&mut self, check: &'static str, holds: bool, text: impl Fn() -> String) {
        if !holds {
            self.0.push(Disagreement {
                check,
                text: text(),
            });
        }
    }
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

fn number(figure: &Value, key: &str) -> Option<f64> {
    figure[key].as_f64()
}

/// What was computed, wherever that is.
fn computed(figure: &Value) -> Option<f64> {
    number(figure, "raw").or(number(figure, "point"))
}

/// Every object with a point and limits: the point is between the limits, and is what was computed where that is
/// between them too.
fn estimates(value: &Value, path: &str, found: &mut Found) {
    match value {
        Value::Object(members) => {
            if members.contains_key("point") && members.contains_key("lower") {
                estimate(value, path, found);
            }
            for (key, member) in members {
                estimates(member, &format!("{path}/{key}"), found);
            }
        }
        Value::Array(items) => {
            for (at, item) in items.iter().enumerate() {
                estimates(item, &format!("{path}/{at}"), found);
            }
        }
        _ => {}
    }
}

fn estimate(figure: &Value, path: &str, found: &mut Found) {
    let at = |key: &'static str| (format!("{path}/{key}"), number(figure, key));
    let [point, lower, upper, raw] = ["point", "lower", "upper", "raw"].map(at);
    let named = |x: &(String, Option<f64>)| x.1;
    found.at_most(
        "limits",
        (&lower.0, named(&lower)),
        (&upper.0, named(&upper)),
    );
    found.at_most(
        "estimate",
        (&lower.0, named(&lower)),
        (&point.0, named(&point)),
    );
    found.at_most(
        "estimate",
        (&point.0, named(&point)),
        (&upper.0, named(&upper)),
    );
    let Some(raw) = raw.1 else { return };
    // The estimate is the value nearest to it that the limits and the figure allow.
    let between = point.1.is_some_and(|point| {
        let (least, most) = (raw.min(point), raw.max(point));
        let strictly = |limit: Option<f64>| limit.is_some_and(|l| l > least && l < most);
        raw != point && !strictly(lower.1) && !strictly(upper.1)
    });
    let is_limit = point.1 == lower.1 || point.1 == upper.1;
    found.expect("raw", between || is_limit, || {
        format!("{path}: {figure} was {raw}")
    });
}

/// Bayes security is 1 − total variation, and the advantage of the optimal adversary is the latter.
fn mirror(pair: &Value, path: &str, found: &mut Found) {
    let (tv, security) = (&pair["total_variation"], &pair["bayes_security"]);
    for (key, mirrored) in [
        ("point", "point"),
        ("raw", "raw"),
        ("lower", "upper"),
        ("upper", "lower"),
    ] {
        let expected = number(tv, mirrored).map(|tv| 1.0 - tv);
        found.equal(
            "mirror",
            (
                &format!("{path}/bayes_security/{key}"),
                number(security, key),
            ),
            (&format!("1 − {mirrored} of the total variation"), expected),
        );
        if pair.get("advantage").is_some() {
            found.equal(
                "mirror",
                (
                    &format!("{path}/advantage/{key}"),
                    number(&pair["advantage"], key),
                ),
                ("that of the total variation", number(tv, key)),
            );
        }
    }
    let range = [computed(tv).map(|_| 0.0), number(tv, "point"), Some(1.0)];
    found.at_most("possible", ("0", range[0]), (path, range[1]));
    found.at_most("possible", (path, range[1]), ("1", range[2]));
}

/// No attack is better than the best, and none is certified to be.
fn attack(worst: &Value, found: &mut Found) {
    let (tv, attack) = (&worst["total_variation"], &worst["attack_advantage"]);
    let most = (
        "the upper limit of the total variation",
        number(tv, "upper"),
    );
    found.at_most(
        "attack",
        ("the attack's advantage", number(attack, "point")),
        most,
    );
    found.at_most("attack", ("its lower limit", number(attack, "lower")), most);
    found.at_most(
        "attack-lower",
        (
            "the lower limit of the attack's advantage",
            number(attack, "lower"),
        ),
        ("that of the total variation", number(tv, "lower")),
    );
}

/// Every part of the error probability is positive, each is taken once, and together they are not more than all of it.
fn level(report: &Value, found: &mut Found) {
    let level = list(&report["level"]);
    let parts = level.iter().map(|part| number(part, "share"));
    let parts: Vec<f64> = parts.map(|part| part.unwrap_or(f64::NAN)).collect();
    let all: f64 = parts.iter().sum();
    let is_fine = !parts.is_empty() && parts.iter().all(|part| *part > 0.0) && all <= 1.0 + 1e-9;
    found.expect("level", is_fine, || {
        format!("the parts of the error probability are {level:?}")
    });
}

fn audit(report: &Value, found: &mut Found) {
    level(report, found);
    let worst = &report["worst_pair"];
    mirror(worst, "/worst_pair", found);
    attack(worst, found);
    for (at, pair) in list(&report["pairs"]).iter().enumerate() {
        mirror(pair, &format!("/pairs/{at}"), found);
        same_estimate(pair, worst, found);
        found.at_most(
            "joint",
            (
                &format!("the joint lower limit of {}", pair["secrets"]),
                number(&pair["total_variation"], "lower"),
            ),
            (
                "that of the worst pair",
                number(&worst["total_variation"], "lower"),
            ),
        );
    }
    distances(report, found);
    overall(report, found);
    implied(report, found);
    for one in list(&report["claims"]) {
        claim(one, found);
        of_the_same_pair(report, one, found);
    }
    between_claims(list(&report["claims"]), found);
    convergence(report, found);
}

/// Upper limits of pairs are no weaker than that of all pairs, nor than what those of two other pairs imply.
fn distances(report: &Value, found: &mut Found) {
    let pairs = list(&report["pairs"]);
    let upper = |pair: &Value| number(&pair["total_variation"], "upper");
    let largest = number(&report["overall"]["bayes_security"], "lower").map(|least| 1.0 - least);
    let mut limits = std::collections::BTreeMap::new();
    for pair in pairs {
        let name = format!("the upper limit of {}", pair["secrets"]);
        found.at_most("joint", (&name, upper(pair)), ("that of all", largest));
        let [a, b] = [0, 1].map(|at| pair["secrets"][at].to_string());
        if let Some(upper) = upper(pair) {
            // A limit gives way to one from below, which may then be all that there is.
            let upper = (
                upper,
                number(&pair["total_variation"], "lower").unwrap_or(0.0),
            );
            limits.insert([a.clone(), b.clone()], upper);
            limits.insert([b, a], upper);
        }
    }
    for ([a, b], (through, _)) in &limits {
        let others = limits.range([b.clone(), String::new()]..);
        for ([_, c], (further, _)) in others.take_while(|next| next.0[0] == *b) {
            if let Some((upper, lower)) = limits.get(&[a.clone(), c.clone()]) {
                found.at_most(
                    "triangle",
                    (&format!("the upper limit of {a} and {c}"), Some(*upper)),
                    (
                        &format!("those by way of {b}, or its lower limit"),
                        Some((through + further).max(*lower)),
                    ),
                );
            }
        }
    }
}

/// A pair has one estimate, whichever table shows it.
fn same_estimate(pair: &Value, other: &Value, found: &mut Found) {
    if pair["secrets"] != other["secrets"] {
        return;
    }
    for key in ["point", "raw"] {
        found.equal(
            "one-estimate",
            (
                &format!("{key} of {} among all pairs", pair["secrets"]),
                number(&pair["total_variation"], key),
            ),
            (
                "where it is shown by itself",
                number(&other["total_variation"], key),
            ),
        );
    }
    let method = |pair: &Value| pair["total_variation"]["method"]["point"].clone();
    found.expect("one-estimate", method(pair) == method(other), || {
        format!(
            "{}: {} and {}",
            pair["secrets"],
            method(pair),
            method(other)
        )
    });
}

/// Whether more rows would help is told by risks and advantages that are possible.
fn convergence(report: &Value, found: &mut Found) {
    let blind = report["overall"]["guessing_error"].as_f64();
    for point in list(&report["convergence"]["points"]) {
        found.at_most(
            "convergence",
            ("a risk", number(point, "bayes_risk")),
            ("the guessing error", blind),
        );
        found.at_most(
            "convergence",
            ("0", Some(0.0)),
            ("an advantage", number(point, "total_variation")),
        );
    }
}

/// A difference is that of the two figures, and so is its sign.
fn changes(difference: &Value, found: &mut Found) {
    for name in [
        "bayes_vulnerability",
        "attack_vulnerability",
        "total_variation",
        "attack_advantage",
    ] {
        let figure = &difference[name];
        let both = number(figure, "later").zip(number(figure, "earlier"));
        let expected = both.map(|(later, earlier)| later - earlier);
        found.equal(
            "difference",
            (name, number(&figure["difference"], "point")),
            ("later − earlier", expected),
        );
    }
}

/// A log that is followed: its advantage and the claims judged by it.
fn follow(line: &Value, found: &mut Found) {
    let advantage = &line["advantage"];
    found.at_most(
        "possible",
        (
            &format!("the advantage {advantage}"),
            number(advantage, "point"),
        ),
        ("1", Some(1.0)),
    );
    for claim in list(&line["claims"]) {
        let (lower, bound) = (number(advantage, "lower"), claim["analytic"].as_f64());
        if let (Some(lower), Some(bound)) = (lower, bound) {
            let violated = claim["verdict"] == "violated";
            found.expect("verdict", violated == (lower > bound), || {
                format!("{claim}: {advantage}")
            });
        }
    }
}
