//! Every JSON report that a test gets from the program is held against its schema. The printed schemas permit keys
//! that later versions may add; here they are closed, so that reports and schemas cannot drift apart.

use std::collections::{BTreeSet, HashMap};
use std::process::Output;
use std::sync::LazyLock;

use boon::{Compiler, SchemaIndex, Schemas};
use leakgauge::report::{json_schema, json_schema_names};
use serde_json::Value;

struct Closed {
    schemas: Schemas,
    by_name: HashMap<&'static str, SchemaIndex>,
}

static CLOSED: LazyLock<Closed> = LazyLock::new(|| {
    let (mut schemas, mut compiler) = (Schemas::new(), Compiler::new());
    let names: Vec<_> = json_schema_names().collect();
    for name in &names {
        let schema = closed(json_schema(name).expect("a listed name has a schema"));
        let added = compiler.add_resource(&url(name), schema);
        added.expect("the address of a schema");
    }
    let compiled = names.into_iter().map(|name| {
        let schema = compiler.compile(&url(name), &mut schemas);
        (
            name,
            schema.unwrap_or_else(|error| panic!("the schema of {name}: {error:#}")),
        )
    });
    let by_name = compiled.collect();
    Closed { schemas, by_name }
});

fn url(name: &str) -> String {
    format!("http://localhost/{name}.json")
}

/// Holds what the program printed against the schema of its command, if it was asked for JSON and had no error.
pub fn check(arguments: &[impl AsRef<str>], output: &Output) {
    let arguments: Vec<&str> = arguments.iter().map(AsRef::as_ref).collect();
    let wants_json = arguments.contains(&"--format=json")
        || arguments.windows(2).any(|two| two == ["--format", "json"]);
    if !wants_json || !matches!(output.status.code(), Some(0 | 1 | 3)) {
        return;
    }
    let name = name(&arguments);
    let parse = |text: &[u8]| {
        serde_json::from_slice(text).unwrap_or_else(|error| panic!("{arguments:?}: {error}"))
    };
    if name == "follow" {
        let lines = output.stdout.split(|byte| *byte == b'\n');
        let lines = lines.filter(|line| !line.is_empty());
        lines.for_each(|line| check_report(&name, &parse(line)));
    } else {
        check_report(&name, &parse(&output.stdout));
    }
}

/// The name of the schema of a command line.
fn name(arguments: &[&str]) -> String {
    match arguments {
        ["audit" | "estimate", rest @ ..] if rest.contains(&"--follow") => "follow".to_owned(),
        ["audit" | "estimate", rest @ ..] if rest.contains(&"one-run") => "one-run".to_owned(),
        ["reproduce", rest @ ..] if rest.contains(&"--list") => "reproduce-list".to_owned(),
        ["shuffle", what, ..] => format!("shuffle-{what}"),
        [command, ..] => (*command).to_owned(),
        [] => panic!("no command"),
    }
}

/// Holds a report against the schema of this name.
pub fn check_report(name: &str, report: &Value) {
    if let Some(problem) = problem(name, report) {
        panic!("a report of {name} does not have its schema: {problem}");
    }
}

/// Where a report differs from the schema of this name, if it does.
pub fn problem(name: &str, report: &Value) -> Option<String> {
    let schema = CLOSED.by_name.get(name);
    let schema = *schema.unwrap_or_else(|| panic!("{name} has no schema"));
    let checked = CLOSED.schemas.validate(report, schema);
    checked.err().map(|error| format!("{error:#}"))
}

/// The schema without any key that it does not name.
fn closed(mut schema: Value) -> Value {
    let mut parts = BTreeSet::new();
    find_parts(&schema, &mut parts);
    close(&mut schema);
    for part in parts {
        if let Some(part) = schema.pointer_mut(part.trim_start_matches('#')) {
            open(part);
        }
    }
    schema
}

const CHOICES: [&str; 3] = ["oneOf", "anyOf", "allOf"];

/// The definitions that are part of a larger object, which has keys of its own.
fn find_parts(schema: &Value, parts: &mut BTreeSet<String>) {
    if let (Some(object), Some(_)) = (schema.as_object(), schema.get("properties")) {
        let choices = CHOICES
            .iter()
            .filter_map(|choice| object.get(*choice)?.as_array());
        let all = std::iter::once(schema).chain(choices.flatten());
        parts.extend(all.filter_map(|part| Some(part.get("$ref")?.as_str()?.to_owned())));
    }
    each_child(schema).for_each(|child| find_parts(child, parts));
}

fn each_child(value: &Value) -> Box<dyn Iterator<Item = &Value> + '_> {
    match value {
        Value::Object(object) => Box::new(object.values()),
        Value::Array(array) => Box::new(array.iter()),
        _ => Box::new(std::iter::empty()),
    }
}

/// Forbids other keys in every object that names some. Where objects are composed, the whole is closed and the
/// parts stay open.
fn close(schema: &mut Value) {
    match schema {
        Value::Array(array) => array.iter_mut().for_each(close),
        Value::Object(object) => {
            object.values_mut().for_each(close);
            let names_keys = object.get("properties").is_some_and(Value::is_object);
            if !names_keys || object.contains_key("additionalProperties") {
                return;
            }
            object.insert("unevaluatedProperties".to_owned(), false.into());
            for choice in CHOICES {
                let parts = object.get_mut(choice).and_then(Value::as_array_mut);
                parts.into_iter().flatten().for_each(open);
            }
        }
        _ => {}
    }
}

fn open(part: &mut Value) {
    if let Some(object) = part.as_object_mut() {
        object.remove("unevaluatedProperties");
    }
}
