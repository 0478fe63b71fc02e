//! What limits of one report imply of each other, by formulas of their own.

use serde_json::Value;

/// What rounding may cost.
const ROUNDING: f64 = 1e-9;

/// No limit of the report of a log is weaker than another one of the same report implies.
pub fn check(report: &Value) -> Result<(), String> {
    let number = |path: &str| report.pointer(path).and_then(Value::as_f64);
    let Some(secrets) = report.pointer("/input/secrets").and_then(Value::as_array) else {
        return Ok(());
    };
    let k = secrets.len() as f64;
    let at_least = |what: &str, limit: Option<f64>, implied: f64, by: &str| match limit {
        Some(limit) if limit < implied - ROUNDING => Err(format!(
            "{what} is at least {limit}, and {by} implies {implied}"
        )),
        _ => Ok(()),
    };
    let epsilon = number("/worst_pair/epsilon/lower");
    let security = number("/overall/bayes_security/upper");
    let variation = security.map(|security| 1.0 - security);
    // Neighbors are fewer than all pairs.
    let are_all = report.pointer("/neighbors").is_none_or(Value::is_null);
    for path in [
        "/worst_pair/total_variation/lower",
        "/worst_pair/attack_advantage/lower",
    ] {
        let Some(advantage) = number(path).filter(|advantage| *advantage < 1.0) else {
            continue;
        };
        at_least("the total variation", variation, advantage, path)?;
        if are_all {
            let implied = ((1.0 + advantage) / (1.0 - advantage)).ln();
            at_least("epsilon", epsilon, implied, path)?;
        }
    }
    let pairs = report.pointer("/pairs").and_then(Value::as_array);
    for pair in pairs.into_iter().flatten() {
        if let Some(lower) = pair
            .pointer("/total_variation/lower")
            .and_then(Value::as_f64)
        {
            at_least("the total variation", variation, lower, "a pair")?;
        }
    }
    let is_uniform = report
        .pointer("/overall/prior")
        .is_some_and(|prior| prior == "uniform");
    if let Some(risk) = number("/overall/bayes_risk/upper").filter(|risk| is_uniform && *risk > 0.0)
    {
        let named = 1.0 - risk;
        let by = "naming one of all secrets";
        at_least(
            "the capacity",
            number("/overall/capacity/lower"),
            k * named,
            by,
        )?;
        at_least(
            "the total variation",
            variation,
            named - risk / (k - 1.0),
            by,
        )?;
        if are_all {
            at_least("epsilon", epsilon, (named * (k - 1.0) / risk).ln(), by)?;
        }
    }
    let alpha = number("/confidence").map(|confidence| 1.0 - confidence);
    let claims = report.pointer("/claims").and_then(Value::as_array);
    for claim in claims.into_iter().flatten() {
        let p_value = claim.pointer("/p_value").and_then(Value::as_f64);
        let verdict = claim.pointer("/verdict").and_then(Value::as_str);
        if let (Some(p), Some(alpha), Some("violated")) = (p_value, alpha, verdict)
            && p > alpha * (1.0 + ROUNDING)
        {
            return Err(format!("violated with p = {p} at {alpha}: {claim}"));
        }
    }
    Ok(())
}
