//! JSON Schemas (draft 2020-12) of the reports, from the types that are serialized.

use std::borrow::Cow;

use schemars::generate::SchemaSettings;
use schemars::transform::RecursiveTransform;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde_json::{Map, Value};

use crate::audit::Findings;
use crate::compare::Comparison;
use crate::follow::Line;
use crate::membership::{AnswerTable, OneRun};
use crate::power::RowsPlan;
use leakgauge_exact::bounds::Bounds;
use leakgauge_exact::channel::{Analysis, Optimal};
use leakgauge_exact::shuffle::reidentification::Reidentification;
use leakgauge_exact::shuffle::{information, vulnerability};

/// The name of a report, what it is, and its schema.
type Described = (&'static str, &'static str, fn(SchemaGenerator) -> Schema);

const DESCRIBED: &[Described] = &[
    ("estimate", "`leakgauge estimate`", root::<Findings>),
    ("audit", "`leakgauge audit`", root::<Findings>),
    (
        "follow",
        "a line of `leakgauge audit` or `leakgauge estimate` on a log that grows",
        root::<Line>,
    ),
    (
        "one-run",
        "`leakgauge audit` of one training run",
        root::<OneRun>,
    ),
    ("plan", "`leakgauge plan`", root::<RowsPlan>),
    ("confusion", "`leakgauge confusion`", root::<AnswerTable>),
    (
        "function",
        "`leakgauge.audit` of the Python package, on a function",
        root::<super::QueryReport>,
    ),
    (
        "check",
        "`leakgauge check`",
        root::<super::schema::check::Check<'static>>,
    ),
    ("compare", "`leakgauge compare`", root::<Comparison>),
    ("bounds", "`leakgauge bounds`", root::<Bounds>),
    (
        "explain",
        "`leakgauge explain`",
        root::<super::schema::explain::Explanation<'static>>,
    ),
    ("channel", "`leakgauge channel`", root::<Analysis>),
    ("optimal", "`leakgauge optimal`", root::<Optimal>),
    (
        "shuffle-reidentify",
        "`leakgauge shuffle reidentify`",
        root::<Reidentification>,
    ),
    (
        "shuffle-information",
        "`leakgauge shuffle information`",
        root::<Information>,
    ),
    (
        "shuffle-privacy",
        "`leakgauge shuffle privacy`",
        root::<leakgauge_exact::shuffle::privacy::Survey>,
    ),
    (
        "shuffle-vulnerability",
        "`leakgauge shuffle vulnerability`",
        root::<Vulnerability>,
    ),
    (
        "permute",
        "`leakgauge permute`",
        root::<leakgauge_permute::Report>,
    ),
    #[cfg(feature = "reproduce")]
    (
        "reproduce",
        "`leakgauge reproduce`",
        root::<super::reproduce::Reproduced<'static>>,
    ),
    #[cfg(feature = "reproduce")]
    (
        "reproduce-list",
        "the list of `leakgauge reproduce`",
        root::<super::reproduce::Entries<'static>>,
    ),
];

/// The names of the reports that have a schema.
pub fn json_schema_names() -> impl Iterator<Item = &'static str> {
    DESCRIBED.iter().map(|(name, ..)| *name)
}

/// The JSON Schema of a report by its name, one of [`json_schema_names`]; `None` for any other.
///
/// It names every key that this version writes, and which of them are always there. It permits others: later versions
/// may add keys.
///
/// ```
/// let schema = leakgauge::report::json_schema("audit").unwrap();
/// assert_eq!(schema["properties"]["worst_pair"]["$ref"], "#/$defs/WorstPair");
/// ```
pub fn json_schema(name: &str) -> Option<Value> {
    let (_, about, root) = DESCRIBED.iter().find(|(known, ..)| *known == name)?;
    let settings = SchemaSettings::draft2020_12()
        .for_serialize()
        .with_transform(RecursiveTransform(plain_description))
        .with_transform(RecursiveTransform(number_or_null));
    let mut schema = root(settings.into_generator());
    schema.insert("title".to_owned(), format!("JSON report: {about}").into());
    Some(schema.to_value())
}

/// The schemas of all reports by name.
pub fn json_schemas() -> Value {
    let all = json_schema_names().filter_map(|name| Some((name.to_owned(), json_schema(name)?)));
    Value::Object(all.collect::<Map<_, _>>())
}

fn root<T: JsonSchema>(generator: SchemaGenerator) -> Schema {
    generator.into_root_schema_for::<T>()
}

/// Descriptions are documentation of Rust types: what is `None` there is null in JSON, lines go on, and brackets need
/// no escape.
fn plain_description(schema: &mut Schema) {
    if let Some(Value::String(text)) = schema.get_mut("description") {
        let paragraphs: Vec<String> = text
            .split("\n\n")
            .map(|part| part.replace('\n', " "))
            .collect();
        *text = paragraphs
            .join("\n\n")
            .replace("`None`", "null")
            .replace("\\[", "[")
            .replace("\\]", "]");
    }
}

/// JSON has no infinity and no NaN: any float that is one of these is written as null, so null is allowed wherever a
/// float is. Whole numbers are `integer` and stay.
fn number_or_null(schema: &mut Schema) {
    if schema.get("type").and_then(Value::as_str) == Some("number") {
        schema.insert("type".to_owned(), vec!["number", "null"].into());
    }
}

/// What `leakgauge shuffle information` writes, by its input.
struct Information;

impl JsonSchema for Information {
    fn schema_name() -> Cow<'static, str> {
        "Information".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        json_schema!({ "anyOf": [
            generator.subschema_for::<information::Survey>(),
            generator.subschema_for::<information::RandomizerSurvey>(),
            generator.subschema_for::<information::UsersSurvey>(),
        ] })
    }
}

/// What `leakgauge shuffle vulnerability` writes, by its input.
struct Vulnerability;

impl JsonSchema for Vulnerability {
    fn schema_name() -> Cow<'static, str> {
        "Vulnerability".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        json_schema!({ "anyOf": [
            generator.subschema_for::<vulnerability::Survey>(),
            generator.subschema_for::<vulnerability::MechanismSurvey>(),
        ] })
    }
}
