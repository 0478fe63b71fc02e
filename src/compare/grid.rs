//! Mechanisms spread over logs, and the parameter in which they differ.

use super::{Curve, CurvePoint, Measured, ParameterPoint};
use leakgauge_base::error::{Error, Result, shorten};
use leakgauge_base::grammar::{Argument, Call, Value};
use leakgauge_base::naming::option;
use leakgauge_exact::claim::PROMISES;
use leakgauge_exact::mechanism;

/// Points of the analytic curve.
const POINTS: usize = 61;
/// With more secrets there is no curve: each of its points looks at all pairs.
const MAX_SECRETS: usize = 128;

/// One mechanism for each log: a single text is for all logs; otherwise there must be as many as logs, where a
/// grid counts as its points. Without texts there are no mechanisms.
///
/// # Errors
/// Text that is no mechanism; neither one nor as many as there are logs.
pub fn mechanisms(texts: &[String], logs: usize) -> Result<Vec<Call>> {
    const MAX_CALLS: usize = 10_000;
    let mut calls = Vec::new();
    for text in texts {
        let call = Call::parse(text)?;
        if PROMISES.iter().any(|promise| promise.name == call.name) {
            return Err(not_a_mechanism(&call.to_string()));
        }
        calls.extend(call.expand_grids(MAX_CALLS)?);
    }
    for call in &calls {
        mechanism::from_call(call)?;
    }
    match calls.len() {
        0 => Ok(calls),
        1 => Ok(vec![calls[0].clone(); logs]),
        many if many == logs => Ok(calls),
        many => Err(Error::parameter(
            option("mechanism"),
            format!("{many} mechanisms for {logs} logs"),
        )
        .with_hint(format!(
            "give one for all logs, one for each in their order, or a grid of {logs}: \
             randomized-response(epsilon=0.5..4:{logs})"
        ))),
    }
}

pub(super) fn not_a_mechanism(text: &str) -> Error {
    Error::parameter(shorten(text), "is a promise, not a mechanism").with_hint(format!(
        "a promise is judged for one log at a time: audit each log with {}",
        option("claim")
    ))
}

/// The one number in which the mechanisms of all logs differ.
pub(super) struct Varying {
    /// Its position among the arguments.
    argument: usize,
    name: String,
    values: Vec<f64>,
}

impl Varying {
    pub fn at(&self, log: usize) -> ParameterPoint {
        ParameterPoint {
            name: self.name.clone(),
            value: self.values[log],
        }
    }
}

/// Finds it. Mechanisms are compared as they write themselves, with all parameters named.
pub(super) fn varying(logs: &[Measured]) -> Option<Varying> {
    let calls: Vec<&Call> = logs
        .iter()
        .map(|log| log.call.as_ref())
        .collect::<Option<_>>()?;
    let (first, rest) = calls.split_first()?;
    if rest
        .iter()
        .any(|call| call.name != first.name || call.arguments.len() != first.arguments.len())
    {
        return None;
    }
    let differs = |at: &usize| {
        rest.iter()
            .any(|call| call.arguments[*at] != first.arguments[*at])
    };
    let mut different = (0..first.arguments.len()).filter(differs);
    let (argument, None) = (different.next()?, different.next()) else {
        return None;
    };
    let name = first.arguments[argument].name.clone()?;
    let number = |call: &&Call| match &call.arguments[argument] {
        Argument {
            name: Some(own),
            value: Value::Number(value),
        } if *own == name => Some(*value),
        _ => None,
    };
    Some(Varying {
        argument,
        values: calls.iter().map(number).collect::<Option<_>>()?,
        name,
    })
}

/// Analytic values between the least and the largest value, for logs that share their secrets. `None`
/// where the mechanism does not take what lies between.
pub(super) fn curve(logs: &[Measured], parameter: &Varying) -> Option<Curve> {
    let labels = |log: &Measured| -> Vec<String> { log.audit.input.secrets.to_vec() };
    let secrets = labels(&logs[0]);
    if secrets.len() > MAX_SECRETS || logs.iter().any(|log| labels(log) != secrets) {
        return None;
    }
    let from = parameter.values.iter().copied().reduce(f64::min)?;
    let to = parameter.values.iter().copied().reduce(f64::max)?;
    let call = logs[0].call.as_ref()?;
    let point = |at: usize| {
        let value = from + (to - from) * at as f64 / (POINTS - 1) as f64;
        let mut call = call.clone();
        call.arguments[parameter.argument].value = Value::Number(value);
        let bound = mechanism::from_call(&call).ok()?.bind(&secrets).ok()?;
        let (a, b) = bound.worst_pair()?;
        Some(CurvePoint {
            value,
            total_variation: bound.total_variation(a, b),
            bayes_security: bound.bayes_security(a, b),
        })
    };
    Some(Curve {
        parameter: parameter.name.clone(),
        points: (0..POINTS).map(point).collect::<Option<_>>()?,
    })
}
