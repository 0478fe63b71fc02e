//! How the command line writes the options that messages name: this module turns fields into flags.

/// Fields whose flag is not their name with hyphens.
const FLAGS: [(&str, &str); 9] = [
    ("alternative_radii", "--also"),
    ("attacks", "--scorer"),
    ("condition", "--where"),
    ("files", "LOG"),
    ("keep_order", "--split blocks"),
    ("lists", "--list"),
    ("moved", "--move"),
    ("other_files", "--also-group-file"),
    ("prior_epsilon", "--already-epsilon"),
];

/// Values that have a flag of their own.
const SWITCHES: [(&str, &str, &str); 2] = [
    ("header", "present", "--header"),
    ("header", "absent", "--no-header"),
];

/// The flag of a field, followed by the value if there is one: `fit_on` gives `--fit-on`.
pub fn flag(field: &str, value: Option<&str>) -> String {
    let is_switch = |switch: &&(&str, &str, &str)| switch.0 == field && Some(switch.1) == value;
    if let Some((.., switch)) = SWITCHES.iter().find(is_switch) {
        return (*switch).to_owned();
    }
    let flag = FLAGS.iter().find(|(name, _)| *name == field).map_or_else(
        || format!("--{}", field.replace('_', "-")),
        |found| found.1.to_owned(),
    );
    match value {
        None => flag,
        Some(value) => format!("{flag} {value}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_and_values_become_the_flags_that_the_command_line_takes() {
        assert_eq!(flag("fit_on", None), "--fit-on");
        assert_eq!(flag("condition", Some("x > 1")), "--where x > 1");
        assert_eq!(flag("lists", Some("a=sum")), "--list a=sum");
        assert_eq!(flag("header", Some("absent")), "--no-header");
    }
}
