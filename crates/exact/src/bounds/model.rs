//! The table that is reported, with the keys of its JSON.

use serde::ser::SerializeMap;

use super::Serialize;
use leakgauge_base::Tool;
use leakgauge_base::grammar::Value;

/// The figures of a mechanism or promise.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Bounds {
    /// 1.
    pub schema_version: u32,
    /// What computed this.
    pub tool: Tool,
    /// The text that was asked about.
    pub mechanism: String,
    /// Which value of a parameter was found, where one was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub solved: Option<Solved>,
    /// Whether the figures are exact or bounds.
    pub kind: Kind,
    /// What the figures are about.
    pub notes: Vec<&'static str>,
    /// One a point of the grid.
    pub rows: Vec<Row>,
}

/// A value of a parameter with which a mechanism just keeps a promise.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Solved {
    /// The name of the parameter.
    pub parameter: String,
    /// Its value, to six digits.
    pub value: f64,
    /// On which side of it the promise is not kept.
    pub edge: Edge,
    /// The promise.
    pub keeps: String,
}

/// Which of the values that keep a promise.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Edge {
    /// No smaller one does.
    Smallest,
    /// No larger one does.
    Largest,
}

/// What was asked about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// A mechanism: the figures are exact.
    Mechanism,
    /// A promise: the figures are bounds.
    Promise,
}

/// The value of a parameter as a report has it.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(untagged)]
pub enum ParameterValue {
    /// A number.
    Number(f64),
    /// Anything else, as it is written.
    Text(String),
}

impl ParameterValue {
    pub(super) fn of(value: &Value) -> Self {
        match value {
            Value::Number(number) => ParameterValue::Number(*number),
            value => ParameterValue::Text(value.to_string()),
        }
    }
}

/// The figures at one point of the grid.
#[derive(Debug, Clone, PartialEq)]
pub struct Row {
    /// The parameters that are given.
    pub parameters: Vec<(&'static str, ParameterValue)>,
    /// The figures by name; `None` where there is none, infinite where it is.
    pub figures: Vec<(&'static str, Option<f64>)>,
    /// The labels of the pair of secrets that is told apart best, of a mechanism whose secrets are
    /// not too many to list.
    pub worst_pair: Option<[String; 2]>,
}

impl Row {
    pub(super) fn new(
        parameters: Vec<(&'static str, ParameterValue)>,
        figures: Vec<(&'static str, Option<f64>)>,
    ) -> Self {
        Row {
            parameters,
            figures,
            worst_pair: None,
        }
    }

    /// Whether some figure stands from both sides.
    pub(super) fn has_sides(&self) -> bool {
        let mut names = self.figures.iter().map(|(name, _)| name);
        names.any(|name| name.ends_with("_at_least"))
    }

    /// A figure by name; `None` if there is none.
    pub fn figure(&self, name: &str) -> Option<f64> {
        let found = self.figures.iter().find(|(known, _)| *known == name);
        found.and_then(|(_, figure)| *figure)
    }
}

/// Parameters and figures side by side. A figure hides a parameter of the same name, which is still
/// under `parameters`. Infinite figures are null.
impl Serialize for Row {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        let hidden = |name: &str| self.figures.iter().any(|(figure, _)| *figure == name);
        for (name, value) in self.parameters.iter().filter(|(name, _)| !hidden(name)) {
            map.serialize_entry(name, value)?;
        }
        for (name, figure) in &self.figures {
            map.serialize_entry(name, &figure.filter(|figure| figure.is_finite()))?;
        }
        map.serialize_entry("worst_pair", &self.worst_pair)?;
        let parameters: serde_json::Map<_, _> = self
            .parameters
            .iter()
            .map(|(name, value)| ((*name).to_owned(), serde_json::json!(value)))
            .collect();
        map.serialize_entry("parameters", &parameters)?;
        map.end()
    }
}

/// Which parameters and figures a row has depends on the mechanism; those that every row has are named.
#[cfg(feature = "schema")]
impl schemars::JsonSchema for Row {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Row".into()
    }

    fn schema_id() -> std::borrow::Cow<'static, str> {
        concat!(module_path!(), "::Row").into()
    }

    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        let figure = generator.subschema_for::<Option<f64>>();
        let parameter = generator.subschema_for::<ParameterValue>();
        let named = |what: &str| {
            let mut named = figure.clone();
            named.insert("description".to_owned(), what.into());
            named
        };
        schemars::json_schema!({
            "type": "object",
            "description": "The figures at one point of the grid, beside the parameters that no figure has the name of. \
                            A figure is null where there is none or where it is infinite.",
            "properties": {
                "bayes_security": named("1 − the largest total variation of all pairs."),
                "total_variation": named("The largest of all pairs."),
                "advantage": named("Of the optimal adversary at the pair that is told apart best."),
                "epsilon": named("ε of differential privacy."),
                "capacity": named("The largest multiplicative leakage over all priors."),
                "delta_at_epsilon_zero": named("δ of (0, δ)-differential privacy."),
                "worst_pair": generator.subschema_for::<Option<[String; 2]>>(),
                "parameters": {
                    "description": "The parameters by name.",
                    "type": "object",
                    "additionalProperties": parameter,
                },
            },
            "required": [
                "bayes_security", "total_variation", "advantage", "epsilon", "capacity",
                "delta_at_epsilon_zero", "worst_pair", "parameters",
            ],
            "additionalProperties": { "anyOf": [parameter, { "type": "null" }] },
        })
    }
}
