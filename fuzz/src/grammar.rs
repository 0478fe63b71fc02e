//! The commands, options, mechanisms and promises that the program's help lists.

use std::path::Path;
use std::process::Command;

/// An option with what it takes.
#[derive(Debug, Clone)]
pub struct Flag {
    /// With its dashes.
    pub name: String,
    /// The name of its value in the help, if it takes one.
    pub value: Option<String>,
    /// The only values that it may have; empty if others are allowed.
    pub possible: Vec<String>,
}

/// A command with its options.
#[derive(Debug, Clone)]
pub struct CommandLine {
    /// Its words: `shuffle`, `privacy`.
    pub words: Vec<String>,
    /// Its options.
    pub flags: Vec<Flag>,
}

/// A mechanism or a promise.
#[derive(Debug, Clone)]
pub struct Named {
    /// Its name.
    pub name: String,
    /// The names of its parameters.
    pub parameters: Vec<String>,
}

/// What can be written.
#[derive(Debug)]
pub struct Grammar {
    /// All commands.
    pub commands: Vec<CommandLine>,
    /// Mechanisms and promises.
    pub named: Vec<Named>,
}

impl Grammar {
    /// Asks the program.
    pub fn of(program: &Path) -> Self {
        let mut commands = Vec::new();
        for name in subcommands(&help(program, &[])) {
            let text = help(program, &[&name]);
            let below = subcommands(&text);
            if below.is_empty() {
                commands.push(command(vec![name], &text));
            } else {
                for second in below {
                    let text = help(program, &[&name, &second]);
                    commands.push(command(vec![name.clone(), second], &text));
                }
            }
        }
        // The figures of the papers take minutes.
        commands.retain(|command| command.words[0] != "reproduce");
        Grammar {
            commands,
            named: named(&help(program, &["bounds"])),
        }
    }
}

fn help(program: &Path, words: &[&str]) -> String {
    let output = Command::new(program)
        .args(words)
        .arg("--help")
        .output()
        .expect("the program runs");
    String::from_utf8(output.stdout).expect("help is UTF-8")
}

fn subcommands(text: &str) -> Vec<String> {
    let lines = text.lines().skip_while(|line| *line != "Commands:").skip(1);
    lines
        .take_while(|line| !line.is_empty())
        .filter(|line| line.starts_with("  ") && !line.starts_with("   "))
        .filter_map(|line| line.split_whitespace().next().map(str::to_owned))
        .filter(|name| name != "help")
        .collect()
}

fn command(words: Vec<String>, text: &str) -> CommandLine {
    let mut flags: Vec<Flag> = Vec::new();
    for line in text.lines() {
        let trimmed = line.trim_start();
        let is_flag = line.len() - trimmed.len() <= 6 && line.starts_with("  ");
        let at = trimmed
            .find("--")
            .filter(|at| *at == 0 || trimmed.starts_with('-'));
        if let Some(at) = at.filter(|_| is_flag) {
            let mut parts = trimmed[at..].splitn(2, ' ');
            let name = parts.next().unwrap_or_default().to_owned();
            let value = parts.next().and_then(|rest| rest.trim().strip_prefix('<'));
            let value = value.and_then(|rest| rest.split('>').next());
            if name != "--help" && name != "--version" {
                flags.push(Flag {
                    name,
                    value: value.map(str::to_owned),
                    possible: Vec::new(),
                });
            }
        } else if let (Some(flag), Some(choice)) = (flags.last_mut(), trimmed.strip_prefix("- "))
            && let Some((choice, _)) = choice.split_once(':')
        {
            flag.possible.push(choice.to_owned());
        }
    }
    CommandLine { words, flags }
}

/// Names at two blanks, their parameters at six.
fn named(text: &str) -> Vec<Named> {
    let mut named: Vec<Named> = Vec::new();
    let lines = text
        .lines()
        .skip_while(|line| *line != "Mechanisms:")
        .skip(1);
    for line in lines.take_while(|line| !line.starts_with("Keys")) {
        let indent = line.len() - line.trim_start().len();
        let word = line.split_whitespace().next().unwrap_or_default();
        match indent {
            2 => named.push(Named {
                name: word.trim_end_matches(':').to_owned(),
                parameters: Vec::new(),
            }),
            6 => {
                if let Some(last) = named.last_mut() {
                    last.parameters.push(word.to_owned());
                }
            }
            _ => {}
        }
    }
    named
}
