//! `leakgauge schema`: a schema of every report, with every stable key.

use std::collections::BTreeSet;

use crate::common::{Place, assert_refused, schema::problem, stdout};
use leakgauge::report::json_schema_names;
use serde_json::{Value, json};

fn schema(words: &[&str]) -> Value {
    let output = Place::new().run(&[&["schema"], words].concat());
    assert_eq!(output.status.code(), Some(0), "{words:?}");
    serde_json::from_slice(&output.stdout).expect("a schema is JSON")
}

/// The keys that a schema has under a path of keys, through references and lists.
fn keys<'s>(root: &'s Value, path: &[&str]) -> BTreeSet<&'s str> {
    let found = path.iter().fold(root, |object, key| {
        let child = &resolved(root, object)["properties"][key];
        assert!(!child.is_null(), "{path:?}: no {key}");
        child
    });
    let properties = resolved(root, found)["properties"].as_object();
    properties
        .into_iter()
        .flatten()
        .map(|(key, _)| key.as_str())
        .collect()
}

/// What a reference refers to, an entry of a list, or what may also be null.
fn resolved<'s>(root: &'s Value, schema: &'s Value) -> &'s Value {
    if let Some(reference) = schema["$ref"].as_str() {
        let target = root.pointer(reference.trim_start_matches('#'));
        return resolved(root, target.expect("a reference to a definition"));
    }
    let null = Value::from("null");
    let choices = schema["anyOf"].as_array().into_iter().flatten();
    if let Some(other) = choices.into_iter().find(|choice| choice["type"] != null) {
        return resolved(root, other);
    }
    match &schema["items"] {
        Value::Null => schema,
        items => resolved(root, items),
    }
}

#[test]
fn every_name_has_a_schema_of_this_draft_with_descriptions() {
    let listed = stdout(&Place::new().run(&["schema", "--list"]));
    assert!(listed.lines().eq(json_schema_names()));
    let all = schema(&["all"]);
    assert_eq!(all.as_object().unwrap().len(), listed.lines().count());
    for name in listed.lines() {
        let one = schema(&[name]);
        assert_eq!(one, all[name], "{name}");
        assert_eq!(
            one["$schema"],
            "https://json-schema.org/draft/2020-12/schema"
        );
        assert!(one["title"].as_str().unwrap().starts_with("JSON report: "));
        let text = one.to_string();
        assert!(
            text.contains("\"description\"") && !text.contains("`None`"),
            "{name}"
        );
    }
    assert_eq!(
        schema(&["shuffle", "information"]),
        all["shuffle-information"]
    );
}

/// The keys of an audit under paths of keys.
const AUDIT: &[(&[&str], &[&str])] = &[
    (
        &[],
        &[
            "schema_version",
            "tool",
            "seed",
            "confidence",
            "input",
            "warnings",
            "method",
            "worst_pair",
            "pairs",
            "multiplicity",
            "level",
            "overall",
            "claims",
        ],
    ),
    (&["tool"], &["name", "version"]),
    (
        &["input"],
        &[
            "files",
            "rows",
            "rows_used",
            "secret_column",
            "secrets",
            "observation",
            "sampled",
            "format",
        ],
    ),
    (&["input", "secrets"], &["label", "rows"]),
    (&["input", "observation"], &["kind", "columns", "distinct"]),
    (&["input", "observation", "columns"], &["name", "type"]),
    (&["warnings"], &["code", "message"]),
    (&["method"], &["scorer", "parameters", "rows"]),
    (&["method", "rows"], &["fit", "tune", "certify"]),
    (
        &["worst_pair"],
        &[
            "secrets",
            "bayes_security",
            "total_variation",
            "advantage",
            "attack_advantage",
            "epsilon",
        ],
    ),
    (
        &["worst_pair", "total_variation"],
        &["point", "lower", "upper", "method", "reason"],
    ),
    (
        &["worst_pair", "total_variation", "method"],
        &["point", "lower", "upper"],
    ),
    (&["worst_pair", "epsilon"], &["lower", "delta"]),
    (
        &["pairs"],
        &["secrets", "bayes_security", "total_variation", "advantage"],
    ),
    (&["multiplicity"], &["pairs", "correction"]),
    (&["level"], &["limit", "secrets", "share"]),
    (
        &["overall"],
        &[
            "bayes_security",
            "prior",
            "guessing_error",
            "bayes_risk",
            "risk_leakage",
            "multiplicative_leakage",
            "additive_leakage",
            "min_entropy_leakage",
            "capacity",
        ],
    ),
    (
        &["claims"],
        &[
            "claim",
            "quantity",
            "analytic",
            "pair",
            "estimate",
            "verdict",
            "reason",
            "rows_needed",
            "fit",
        ],
    ),
    (&["claims", "fit"], &["p_value"]),
];

#[test]
fn the_schema_of_an_audit_names_every_stable_key() {
    let audit = schema(&["audit"]);
    has_keys(&audit, AUDIT);
    assert_eq!(audit["properties"], schema(&["estimate"])["properties"]);
}

#[test]
fn the_schemas_of_the_exact_commands_name_every_stable_key() {
    has_keys(
        &schema(&["channel"]),
        &[(
            &[],
            &[
                "secrets",
                "bayes_security",
                "worst_pair",
                "total_variation",
                "guessing_error",
                "bayes_risk",
                "risk_leakage",
                "vulnerability",
                "multiplicative_leakage",
                "additive_leakage",
                "min_entropy_leakage",
                "capacity",
                "mutual_information",
                "epsilon",
            ],
        )],
    );
    has_keys(
        &schema(&["bounds"]),
        &[(
            &["rows"],
            &[
                "parameters",
                "bayes_security",
                "total_variation",
                "advantage",
                "epsilon",
                "capacity",
            ],
        )],
    );
    has_keys(
        &schema(&["follow"]),
        &[(
            &[],
            &["rows", "advantage", "confidence", "claims", "warnings"],
        )],
    );
    has_keys(
        &schema(&["compare"]),
        &[(
            &["logs"],
            &["mechanism", "analytic", "worst_pair", "verdict"],
        )],
    );
    has_keys(
        &schema(&["permute"]),
        &[(
            &["groups", "list"],
            &["name", "size", "width", "sensitivity", "alpha"],
        )],
    );
    let information = &schema(&["shuffle", "information"]);
    let defined = |name: &str| information["$defs"][name]["properties"].clone();
    assert!(defined("Row")["position"].is_object() && defined("Row")["message"].is_object());
    assert!(
        defined("MonteCarlo")["mean"].is_object()
            && defined("MonteCarlo")["standard_error"].is_object()
    );
    let text = schema(&["shuffle-reidentify"]).to_string();
    for key in [
        "success",
        "additive_advantage",
        "multiplicative_advantage",
        "certain_mass",
        "max_ratio",
        "total_variation",
        "clone",
        "blanket",
        "limit",
    ] {
        assert!(text.contains(&format!("\"{key}\":{{")), "{key}");
    }
}

fn has_keys(schema: &Value, expected: &[(&[&str], &[&str])]) {
    for (path, names) in expected {
        let found = keys(schema, path);
        for name in *names {
            assert!(found.contains(name), "{path:?} has no {name}: {found:?}");
        }
    }
}

#[test]
fn what_writes_no_json_has_no_schema() {
    let refused = |words: &[&str], says: &[&str]| {
        assert_refused(&Place::new().run(&[&["schema"], words].concat()), says);
    };
    refused(
        &["audits"],
        &["audits: is not the name", "did you mean audit?"],
    );
    refused(
        &["simulate"],
        &["simulate: is not the name", "leakgauge schema --list"],
    );
    refused(&["shuffle"], &["shuffle: is not the name"]);
}

#[test]
fn an_unknown_key_a_missing_key_and_a_wrong_type_are_found() {
    let place = Place::with_log("secret,guess\na,1\nb,2\na,1\nb,2\na,2\nb,1\n");
    let report = place.json(&["estimate", "log.csv"]);
    assert_eq!(problem("estimate", &report), None);
    let found = |change: &dyn Fn(&mut Value), key: &str| {
        let mut changed = report.clone();
        change(&mut changed);
        let problem = problem("estimate", &changed).expect("a problem");
        assert!(problem.contains(key), "{key}: {problem}");
    };
    found(&|report| report["new"] = json!(1), "new");
    found(&|report| report["worst_pair"]["new"] = json!(1), "new");
    found(
        &|report| report["input"]["secrets"][0]["new"] = json!(1),
        "new",
    );
    found(
        &|report| report["worst_pair"]["distributions"]["new"] = json!(1),
        "new",
    );
    found(&|report| report["seed"] = json!("0"), "seed");
    found(&|report| report["overall"]["prior"] = json!(null), "prior");
    let without = |object: &mut Value, key: &str| object.as_object_mut().unwrap().remove(key);
    found(&|report| _ = without(report, "pairs"), "pairs");
    found(
        &|report| _ = without(&mut report["multiplicity"], "pairs"),
        "pairs",
    );
}

/// Every part of a schema that allows a fraction, by its path.
fn fractions<'s>(schema: &'s Value, path: &str, found: &mut Vec<(String, &'s Value)>) {
    match schema {
        Value::Object(parts) => {
            let of_type = &schema["type"];
            let is_number = |name: &Value| name == "number";
            if is_number(of_type)
                || of_type
                    .as_array()
                    .is_some_and(|all| all.iter().any(is_number))
            {
                found.push((path.to_owned(), of_type));
            }
            for (key, part) in parts {
                fractions(part, &format!("{path}/{key}"), found);
            }
        }
        Value::Array(parts) => {
            for (at, part) in parts.iter().enumerate() {
                fractions(part, &format!("{path}/{at}"), found);
            }
        }
        _ => {}
    }
}

/// JSON has no infinity, so a float that is infinite is null: whoever reads a report by its schema must expect it.
#[test]
fn whatever_can_be_a_fraction_can_be_null() {
    let all = schema(&["all"]);
    let mut found = Vec::new();
    fractions(&all, "", &mut found);
    assert!(found.len() > 100, "{}", found.len());
    for (path, of_type) in found {
        let nullable = of_type
            .as_array()
            .is_some_and(|all| all.iter().any(|name| name == "null"));
        assert!(nullable, "{path}");
    }
}

#[test]
fn times_at_the_ends_of_the_range_of_numbers_keep_the_schema() {
    let mut log = "secret,block,time\n".to_owned();
    for block in 0..30 {
        let time = if block % 2 == 0 { "1e308" } else { "-1e308" };
        log += &format!("a,{block},{time}\nb,{block},-{time}\n").replace("--", "");
    }
    let place = Place::with_log(&log);
    for options in [
        &[
            "audit",
            "log.csv",
            "--block",
            "block",
            "--claim",
            "time-difference(1)",
            "--ci",
            "--fail-on",
            "none",
        ][..],
        &[
            "estimate",
            "log.csv",
            "--block",
            "block",
            "--confidence",
            "0.5",
        ],
        &["estimate", "log.csv", "--confidence", "0.5"],
        &["bounds", "identity(secrets=3)"],
    ] {
        // Each JSON report of a test is held against its schema.
        place.json(options);
        let text = stdout(&place.run(options));
        assert!(!text.contains("NaN") && !text.contains(" inf "), "{text}");
    }
}
