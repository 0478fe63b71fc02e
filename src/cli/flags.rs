//! How the command line writes the options that messages name: this module turns fields into flags.

/// Fields whose flag is not their name with hyphens.
const FLAGS: [(&str, &str); 5] = [
    ("condition", "--where"),
    ("moved", "--move"),
    ("prior_epsilon", "--already-epsilon"),
    ("alternative_radii", "--also"),
    ("other_files", "--also-group-file"),
];

/// The flag of a field, followed by the value if there is one: `fit_on` gives `--fit-on`.
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
