//! Every hint of the program that can be a command is one that works: it is taken from what is printed and run.

mod logs;

use std::collections::BTreeSet;

use crate::common::{Place, stderr, stdout};
use logs::place;

/// What a hint is, and what is left of the doubt once it is followed.
struct Hint {
    /// The command that prints it.
    command: &'static str,
    /// The option, or the whole command, as it is printed.
    printed: &'static str,
    /// What stands for the words that it leaves to the reader.
    meant: &'static [(&'static str, &'static str)],
    /// What the first report says and the second does not; nothing where the hint is about more.
    gone: &'static str,
}

const fn hint(command: &'static str, printed: &'static str, gone: &'static str) -> Hint {
    Hint {
        command,
        printed,
        meant: &[],
        gone,
    }
}

const fn meant(
    command: &'static str,
    printed: &'static str,
    meant: &'static [(&'static str, &'static str)],
    gone: &'static str,
) -> Hint {
    Hint {
        command,
        printed,
        meant,
        gone,
    }
}

const USER: &[(&str, &str)] = &[("COLUMN", "user")];

/// Hints of reports: what is doubtful, what is next.
const OF_REPORTS: &[Hint] = &[
    meant(
        "estimate numbers.csv",
        "--resolution time=WIDTH",
        &[("WIDTH", "0.5")],
        "Upper limit: none",
    ),
    hint("estimate numbers.csv", "--html report.html", "as a page"),
    hint(
        "shuffle reidentify --target frequent.csv --decoys frequent.csv --n 10",
        "--samples",
        "Frequencies are taken",
    ),
    hint(
        "permute places.csv --move illness --groups distance --by lat,lon --radius 10 --alpha 1",
        "--groups haversine",
        "Degrees",
    ),
    hint(
        "audit sizes.csv --claim attack-advantage(0.9)",
        "--list sizes=first:64",
        "Not shown",
    ),
    hint("estimate numbers.csv", "--full", "Everything:"),
    hint(
        "audit wide.csv --wide --unit us --claim time-difference(5us)",
        "--blocks",
        "Blocks help",
    ),
    hint(
        "estimate numbers.csv",
        "leakgauge audit numbers.csv --claim 'attack-advantage(0.1)'",
        "Next",
    ),
    meant(
        "audit numbers.csv --claim advantage(0.1)",
        "--resolution COLUMN=WIDTH",
        &[("COLUMN", "time"), ("WIDTH", "0.5")],
        "set a resolution",
    ),
    hint(
        "audit labels.csv --claim advantage(0.2)",
        "leakgauge audit labels.csv --claim 'advantage(0.2)' --ci",
        "Next",
    ),
    hint(
        "audit labels.csv --claim advantage(0.01)",
        "--must-detect advantage=0.0125",
        "large enough?",
    ),
    hint(
        "estimate words.csv",
        "--drop time=ERROR",
        "numbers and words",
    ),
    hint(
        "estimate words.csv",
        "--categorical time",
        "numbers and words",
    ),
    hint(
        "estimate words.csv --full",
        "--drop time=ERROR",
        "holds numbers in",
    ),
    hint("estimate blank.csv", "--missing drop", "is blank in"),
    hint(
        "estimate numbered.csv --full",
        "--observe time,No.",
        "Left out",
    ),
    hint(
        "check numbered.csv",
        "leakgauge estimate numbered.csv --observe time",
        "Doubts",
    ),
    hint(
        "estimate trials.csv",
        "--block trial",
        "Rows stand in blocks",
    ),
    hint(
        "estimate timing.csv",
        "--like nothing",
        "read as timing.csv",
    ),
    hint("estimate timing.csv --full", "--block none", ""),
    hint("estimate classes.csv", "--like nothing", "read as a dump"),
    hint("estimate mixed.csv", "--split blocks", ""),
    hint("estimate cases.csv", "--merge A=a", "differ in upper"),
    meant(
        "estimate mixed.csv",
        "--group COLUMN",
        USER,
        "Rows resemble",
    ),
    meant("estimate mixed.csv --full", "--group COLUMN", USER, ""),
    hint(
        "audit mix.csv --group user --claim advantage(0.2)",
        "--attacker unit",
        "differ in their mix",
    ),
    hint(
        "estimate pooled.csv --observe value",
        "--keep metric=send",
        "kinds of measurements",
    ),
    hint(
        "audit slow.csv --missing drop --claim advantage(0.3)",
        "--missing label",
        "rows without a value are",
    ),
    meant(
        "estimate copies.csv --observe time",
        "--row-id COLUMN",
        &[("COLUMN", "key")],
        "",
    ),
    hint(
        "audit members.csv --claim dp(epsilon=1)",
        "--design many-runs",
        "Not judged",
    ),
    meant(
        "audit members.csv --claim dp(epsilon=1)",
        "--scores COLUMN --design one-run",
        &[("COLUMN", "loss")],
        "Not judged",
    ),
    hint(
        "estimate spellings.csv",
        "--categorical value",
        "several ways",
    ),
    hint("estimate lists.csv", "--categorical list", "holds lists"),
    hint(
        "estimate large.csv --max-rows 2000 --full",
        "--max-rows N",
        "",
    ),
    meant(
        "compare numbers.csv words.csv",
        "--resolution COLUMN=WIDTH",
        &[("COLUMN", "time"), ("WIDTH", "0.5")],
        "Set a resolution",
    ),
];

/// Hints of errors: what to say instead.
const OF_ERRORS: &[Hint] = &[
    hint("estimate kinds.csv", "--secret arm", ""),
    hint("estimate kinds.csv", "--secret kind", ""),
    hint(
        "check kinds.csv",
        "leakgauge estimate kinds.csv --secret arm",
        "",
    ),
    hint("estimate wide.csv", "--wide", ""),
    meant(
        "estimate wide.csv",
        "--secret-from FILE",
        &[("FILE", "secrets.txt")],
        "",
    ),
    hint("estimate a.csv b.csv", "--secret-from file", ""),
    hint(
        "estimate a.csv b.csv --secret-from a.txt",
        "--secret-from file",
        "",
    ),
    hint(
        "audit blank.csv --claim time-difference(1)",
        "--missing drop",
        "",
    ),
    hint(
        "audit words.csv --claim time-difference(1)",
        "--drop time=ERROR",
        "",
    ),
    hint(
        "audit several.csv --claim time-difference(1)",
        "--observe latency",
        "",
    ),
    hint(
        "audit numbers.csv --claim time-difference(10ns)",
        "--unit ns",
        "",
    ),
    hint(
        "audit classes.csv --unit cycles --claim time-difference(10ns)",
        "--clock-frequency 2.4e9",
        "",
    ),
    hint(
        "audit trials.csv --block trial --claim randomized-response(epsilon=1)",
        "--block none",
        "",
    ),
    hint(
        "audit trials.csv --block trial --clock-step 1ms --claim time-difference(1)",
        "--unit ns",
        "",
    ),
    hint("estimate no-secret.csv", "--missing drop", ""),
    hint("estimate nan.csv", "--missing drop", ""),
    hint("estimate comma.csv", "--categorical time", ""),
    hint("estimate letters.csv --secret 1", "--header", ""),
    hint("estimate letters.csv --secret 1", "--no-header", ""),
    meant(
        "estimate words.csv --numeric time",
        "--skip-bad N",
        &[("N", "100")],
        "",
    ),
    hint(
        "estimate counted.csv --count n --split blocks",
        "--split random",
        "",
    ),
    hint(
        "audit scores.csv --scores score --scorer knn --claim dp(1)",
        "--scorer given",
        "",
    ),
    hint(
        "estimate nested.json --observe time",
        "--observe tests.time",
        "",
    ),
    hint("channel numbers.csv", "leakgauge estimate numbers.csv", ""),
    hint("channel counts.csv --normalize", "--labels", ""),
    hint(
        "audit labels.csv --claim advantage(0.2) --confidence 95%",
        "--confidence 0.95",
        "",
    ),
    hint(
        "audit labels.csv --claim advantage(0.2) --max-rows 1e5",
        "--max-rows 100000",
        "",
    ),
    hint("estimate labels.csv --output json", "--format json", ""),
    hint(
        "estimate labels.csv --output numbers.csv",
        "--output report.txt",
        "",
    ),
    hint("audit labels.csv", "leakgauge estimate labels.csv", ""),
    hint("estimate labels.csv --json", "--format json", ""),
    hint("estimate labels.csv --verbose", "--full", ""),
];

/// What a program prints, in one line.
fn printed(place: &Place, arguments: &[String]) -> (Option<i32>, String) {
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let output = place.run(&arguments);
    let text = format!("{} {}", stdout(&output), stderr(&output));
    let words: Vec<&str> = text.split_whitespace().collect();
    (output.status.code(), words.join(" "))
}

/// The words of a command as a shell reads them.
fn words(line: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut is_quoted = false;
    for letter in line.chars() {
        match letter {
            '\'' => is_quoted = !is_quoted,
            ' ' if !is_quoted => words.push(String::new()),
            letter => words.last_mut().expect("a word").push(letter),
        }
    }
    words
}

/// The command with what a hint says: an option instead of the one that was there.
fn followed(command: &str, hint: &Hint) -> Vec<String> {
    let mut said = hint.printed.to_owned();
    for (word, meant) in hint.meant {
        said = said.replace(word, meant);
    }
    let said = words(&said);
    if said[0] == "leakgauge" {
        return said[1..].to_vec();
    }
    let mut command = words(command);
    // Options that other programs have are said otherwise.
    command.retain(|word| !["--json", "--verbose"].contains(&word.as_str()));
    let replaced: &[&str] = match said[0].as_str() {
        "--format" => &["--output"],
        "--skip-bad" => &[],
        "--categorical" => &["--numeric"],
        flag => &[flag],
    };
    for flag in replaced {
        if let Some(at) = command.iter().position(|word| word == flag) {
            command.drain(at..at + 2);
        }
    }
    [command, said].concat()
}

/// Follows a hint, and says what is wrong with it.
fn check(place: &Place, hint: &Hint, before: Option<i32>) -> Result<(), String> {
    let (code, text) = printed(place, &words(hint.command));
    let is_said = text.contains(hint.printed) && text.contains(hint.gone);
    if !is_said || (before.is_some() && code != before) {
        return Err(format!(
            "{}: {} is not said: {code:?} {text}",
            hint.command, hint.printed
        ));
    }
    let mut command = followed(hint.command, hint);
    // A number of rows that is left to the reader.
    if command.last().is_some_and(|word| word == "N") {
        *command.last_mut().expect("a word") = "5000".to_owned();
    }
    let (mut code, mut text) = printed(place, &command);
    // What is something else has a secret that has to be named.
    if code == Some(2) && hint.printed == "--like nothing" {
        let option = ["--wide", "--secret class"]
            .into_iter()
            .find(|option| text.contains(option));
        command.extend(words(option.unwrap_or("--full")));
        (code, text) = printed(place, &command);
    }
    let is_done = code.is_some_and(|code| [0, 1, 3].contains(&code));
    let is_gone = hint.gone.is_empty() || !text.contains(hint.gone);
    match is_done && is_gone {
        true => Ok(()),
        false => Err(format!(
            "{command:?}: {code:?}, {} is still there: {text}",
            hint.gone
        )),
    }
}

fn check_all(hints: &[Hint], before: Option<i32>) {
    let place = place();
    let wrong = hints
        .iter()
        .filter_map(|hint| check(&place, hint, before).err());
    let wrong: Vec<String> = wrong.collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}

#[test]
fn hints_of_reports_are_commands_that_work() {
    check_all(OF_REPORTS, None);
}

#[test]
fn hints_of_errors_are_commands_that_work() {
    check_all(OF_ERRORS, Some(2));
}

/// Where secrets were recorded one after the other, no split by time has two in each of its parts.
#[test]
fn no_split_is_advised_that_cannot_be() {
    let place = place();
    for full in [&[][..], &["--full"]] {
        let command = [&["estimate", "sorted.csv"], full].concat();
        let command: Vec<String> = command.into_iter().map(str::to_owned).collect();
        let (code, text) = printed(&place, &command);
        assert_eq!(code, Some(0), "{text}");
        assert!(
            text.contains("random order") && !text.contains("--split"),
            "{text}"
        );
    }
}

/// Options that sentences of reports name. A new one needs a hint above, unless it is named without being advised.
#[test]
fn every_option_that_a_report_names_is_tried() {
    /// Named as the reason of something, or of files that are written; or of logs too large for a test.
    const NAMED: &[&str] = &[
        "block",
        "claim",
        "clock_step",
        "columns_file",
        "fit_on",
        "format",
        "group",
        "html",
        "margin",
        "member_scores",
        "neighbors",
        "numeric",
        "observe",
        "pairs_file",
        "plots",
        "resolution",
        "secrets",
        "unit",
        "attacks",
        "guesses",
        "force",
        "out",
        "samples",
        "secret",
    ];
    let mut named = BTreeSet::new();
    fields(
        &std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("src/report"),
        &mut named,
    );
    let tried = |field: &str| {
        let flag = match field {
            "lists" => "--list".to_owned(),
            _ => format!("--{}", field.replace('_', "-")),
        };
        let all = OF_REPORTS.iter().chain(OF_ERRORS);
        all.into_iter()
            .any(|hint| words(hint.printed).contains(&flag))
    };
    let untried: Vec<&String> = named
        .iter()
        .filter(|field| !tried(field) && !NAMED.contains(&field.as_str()))
        .collect();
    assert!(untried.is_empty(), "no hint of {untried:?} is run");
    let superfluous: Vec<&&str> = NAMED
        .iter()
        .filter(|field| !named.contains(**field))
        .collect();
    assert!(superfluous.is_empty(), "no report names {superfluous:?}");
}

fn fields(directory: &std::path::Path, found: &mut BTreeSet<String>) {
    for entry in std::fs::read_dir(directory).expect("a directory") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            fields(&path, found);
        } else if path.extension().is_some_and(|end| end == "rs") {
            let text = std::fs::read_to_string(&path).expect("a source");
            for call in ["option(", "setting("] {
                let named = text.split(call).skip(1).filter_map(|rest| {
                    let (field, _) = rest.trim_start().strip_prefix('"')?.split_once('"')?;
                    Some(field.to_owned())
                });
                found.extend(named);
            }
        }
    }
}
