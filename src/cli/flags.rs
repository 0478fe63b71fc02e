//! How the command line writes the options that messages name. Only here does a field become a flag.

/// Fields whose flag is not simply their name.
const FLAGS: [(&str, &str); 2] = [("attacks", "--scorer"), ("condition", "--where")];

/// `fit_on` is `--fit-on`; a value stands behind it.
pub fn flag(field: &str, value: Option<&str>) -> String {
    let flag = FLAGS.iter().find(|(name, _)| *name == field).map_or_else(
        || format!("--{}", field.replace('_', "-")),
        |found| found.1.to_owned(),
    );
    match value {
        None => flag,
        Some(value) => format!("{flag} {value}"),
    }
}
