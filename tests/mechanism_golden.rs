//! Closed forms against values computed elsewhere to 30 digits.

use leakgauge::claim::{Claim, ClaimKind, Promise};
use leakgauge::exact::mechanism::{BoundMechanism, parse};
use serde_json::Value;

fn entries(text: &str) -> Vec<Value> {
    let table: Value = serde_json::from_str(text).unwrap();
    assert!(table["source"].is_string());
    table["entries"].as_array().unwrap().clone()
}

fn number(value: &Value) -> f64 {
    value.as_f64().expect("a number")
}

/// 1e-12 relative, the tolerance of the tables.
fn check(entry: &Value, what: &str, computed: f64) {
    let expected = number(&entry["values"][what]);
    let error = (computed - expected).abs();
    assert!(
        error <= 1e-12 * expected.abs(),
        "{}, {what}: {computed:e}, not {expected:e}",
        entry["id"]
    );
}

#[test]
fn mechanisms_have_the_published_bayes_security() {
    let entries = entries(include_str!("golden/mechanisms.json"));
    assert_eq!(entries.len(), 16);
    for entry in &entries {
        let params = &entry["params"];
        let (text, labels) = match entry["kind"].as_str().unwrap() {
            "rr" => {
                let (epsilon, n) = (&params["eps"], &params["n"]);
                (format!("randomized-response({epsilon}, secrets={n})"), None)
            }
            "laplace" => (
                format!("laplace(scale={})", params["scale"]),
                secrets(params),
            ),
            "laplace_dp" => {
                let text = format!("laplace(epsilon={}, sensitivity=3)", params["eps"]);
                (text, Some(vec!["-1".to_owned(), "2".to_owned()]))
            }
            "gaussian" => (format!("gaussian({})", params["sigma"]), secrets(params)),
            kind => panic!("unknown kind {kind}"),
        };
        let mechanism = parse(&text).unwrap();
        let bound = match labels {
            Some(labels) => mechanism.bind(&labels).unwrap(),
            None => mechanism.bind_declared().unwrap(),
        };
        let (a, b) = bound.worst_pair().unwrap();
        check(entry, "beta_star", bound.bayes_security(a, b));
        if entry["kind"] == "rr" {
            check(entry, "adv", bound.total_variation(a, b));
            check(entry, "ml_capacity", bound.capacity().unwrap());
        }
    }
}

fn secrets(params: &Value) -> Option<Vec<String>> {
    let secrets = params["secrets"].as_array()?;
    Some(secrets.iter().map(Value::to_string).collect())
}

#[test]
fn promises_bound_what_the_theorems_say() {
    let entries = entries(include_str!("golden/promises.json"));
    assert_eq!(entries.len(), 9);
    for entry in &entries {
        let params = &entry["params"];
        let text = match params.get("delta") {
            Some(delta) => format!("dp(epsilon={}, delta={delta})", params["eps"]),
            None => format!("ldp(epsilon={})", params["eps"]),
        };
        let ClaimKind::Promise(promise) = Claim::parse(&text).unwrap().kind else {
            panic!("{text} is no promise")
        };
        check(entry, "adv_bound", promise.largest_total_variation());
        check(entry, "beta_bound", promise.least_bayes_security());
        if let Promise::LocalDp { epsilon, .. } = promise {
            let same = Promise::Dp {
                epsilon,
                delta: 0.0,
                unit: None,
            };
            assert_eq!(
                same.largest_total_variation(),
                promise.largest_total_variation()
            );
        }
    }
}

/// The secrets of the geometric tables stand for s·O/S.
fn geometric(params: &Value) -> (String, Option<Vec<String>>) {
    let (secrets, outputs) = (number(&params["S"]), number(&params["O"]));
    let text = format!(
        "{}-geometric(nu={}, secrets={secrets}, spacing={}, observations={outputs})",
        params["variant"].as_str().unwrap(),
        params["nu"],
        outputs / secrets
    );
    (text, None)
}

/// The mechanism and the secrets of a sampling problem.
fn problem(params: &Value) -> (String, Option<Vec<String>>) {
    let list = |key: &str| params[key].as_array().unwrap().iter();
    match params["type"].as_str().unwrap() {
        "planar_laplace" => {
            let points = list("means").map(|mean| format!("{};{}", mean[0], mean[1]));
            let text = format!("planar-laplace(scale={})", params["scale"]);
            (text, Some(points.collect()))
        }
        "geometric" => {
            let nu = (number(&params["a_den"]) / number(&params["a_num"])).ln();
            let centers = list("centers").map(Value::to_string).collect();
            (format!("geometric(nu={nu})"), Some(centers))
        }
        "deterministic" => {
            let map: Vec<f64> = list("map").map(number).collect();
            let modulus = 1.0 + map.iter().fold(0.0, |most, &x| f64::max(most, x));
            let constant = map.iter().all(|x| *x == map[0]);
            let modulus = if constant { 1.0 } else { modulus };
            (
                format!("deterministic(modulus={modulus}, secrets={})", map.len()),
                None,
            )
        }
        kind => panic!("unknown kind {kind}"),
    }
}

#[test]
fn finite_and_planar_mechanisms_have_the_tabulated_figures() {
    let entries = entries(include_str!("golden/finite_mechanisms.json"));
    assert_eq!(entries.len(), 20);
    for entry in &entries {
        let params = &entry["params"];
        let (text, labels) = match params.get("variant") {
            Some(_) => geometric(params),
            None => problem(params),
        };
        let mechanism = parse(&text).unwrap();
        let labels = labels.unwrap_or_else(|| mechanism.declared_secrets().unwrap());
        let bound = mechanism.bind(&labels).unwrap();
        let (a, b) = bound.worst_pair().unwrap();
        check(entry, "beta_star", bound.bayes_security(a, b));
        match entry["values"].get("tv_matrix") {
            Some(matrix) => check_matrix(matrix, &*bound, &text),
            None => {
                check(entry, "tv_first_two", bound.total_variation(0, 1));
                check(entry, "ml_capacity", bound.capacity().unwrap());
            }
        }
    }
}

/// The tables of sampling problems are good to about 1e-13.
fn check_matrix(matrix: &Value, bound: &dyn BoundMechanism, text: &str) {
    for (a, row) in matrix.as_array().unwrap().iter().enumerate() {
        for (b, expected) in row.as_array().unwrap().iter().enumerate() {
            let error = (bound.total_variation(a, b) - number(expected)).abs();
            assert!(error < 1e-12, "{text} {a} {b}: {error:e}");
        }
    }
}
