//! How the command line writes the options that messages name: this module turns fields into flags.

/// Fields whose flag is not their name with hyphens.
const FLAGS: [(&str, &str); 10] = [
    ("alternative_radii", "--also"),
    ("attacks", "--scorer"),
    ("command", "COMMAND"),
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
        Some(value) => format!("{flag} {}", argument(value)),
    }
}

/// A value as a shell takes it. One that is quoted, or stands for others, stays as it is.
fn argument(value: &str) -> String {
    let is_quoted = value.len() > 1 && value.starts_with('\'') && value.ends_with('\'');
    match is_quoted || value.contains('…') {
        true => value.to_owned(),
        false => leakgauge::report::quoted(value),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::path::Path;

    use clap::CommandFactory;

    use super::*;

    fn flags(command: &clap::Command, found: &mut BTreeSet<String>) {
        let long = command.get_arguments().filter_map(clap::Arg::get_long);
        found.extend(long.map(|long| format!("--{long}")));
        command
            .get_subcommands()
            .for_each(|below| flags(below, found));
    }

    /// The fields that `option("…")` and `setting("…", …)` name in the sources below a directory, tests aside.
    fn named(directory: &Path, found: &mut BTreeSet<String>) {
        for entry in std::fs::read_dir(directory).expect("a directory") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                named(&path, found);
            } else if path.extension().is_some_and(|end| end == "rs") {
                let text = std::fs::read_to_string(&path).expect("a source");
                let code = text.split("#[cfg(test)]").next().expect("a first part");
                for call in ["option(", "setting("] {
                    let fields = code.split(call).skip(1).filter_map(|rest| {
                        let (field, _) = rest.trim_start().strip_prefix('"')?.split_once('"')?;
                        Some(field.to_owned())
                    });
                    found.extend(fields);
                }
            }
        }
    }

    #[test]
    fn every_field_that_a_message_names_is_a_flag_of_some_command() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR"));
        let mut fields = BTreeSet::new();
        named(&root.join("src"), &mut fields);
        for package in std::fs::read_dir(root.join("crates")).expect("the crates") {
            let sources = package.expect("a crate").path().join("src");
            // No command asks a mechanism for samples.
            let without_flags = ["crates/testing", "crates/query"].map(|name| root.join(name));
            if sources.is_dir() && !without_flags.iter().any(|name| sources.starts_with(name)) {
                named(&sources, &mut fields);
            }
        }
        assert!(fields.len() > 50, "only {} fields are seen", fields.len());
        let mut known = BTreeSet::new();
        flags(&crate::cli::Arguments::command(), &mut known);
        let unknown: Vec<String> = fields
            .into_iter()
            .map(|field| flag(&field, None))
            // `--split blocks` is a flag with a value, `LOG` none.
            .filter(|flag| flag.starts_with("--"))
            .filter(|flag| {
                !flag
                    .split(' ')
                    .next()
                    .is_some_and(|flag| known.contains(flag))
            })
            .collect();
        assert!(unknown.is_empty(), "no command has {unknown:?}");
    }

    #[test]
    fn fields_and_values_become_the_flags_that_the_command_line_takes() {
        assert_eq!(flag("fit_on", None), "--fit-on");
        assert_eq!(flag("condition", Some("x > 1")), "--where 'x > 1'");
        assert_eq!(flag("claim", Some("'dp(1)'")), "--claim 'dp(1)'");
        assert_eq!(flag("lists", Some("a=sum")), "--list a=sum");
        assert_eq!(flag("header", Some("absent")), "--no-header");
    }
}
