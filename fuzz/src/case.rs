//! A command line with its files.

use std::path::Path;

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::files::{self, File};
use crate::grammar::{CommandLine, Grammar};
use crate::packed;
use crate::sound;
use crate::values::{mechanism, number, one, value};

/// What is run.
#[derive(Debug)]
pub struct Case {
    /// Behind the name of the program.
    pub arguments: Vec<String>,
    /// In the directory in which it runs.
    pub files: Vec<File>,
    /// On standard input.
    pub input: Vec<u8>,
    /// A signal that the program gets, and after how many milliseconds; its input stays open until then.
    pub signal: Option<(&'static str, u64)>,
}

impl Case {
    /// Case `number` of a seed.
    pub fn draw(grammar: &Grammar, seed: u64, number: u64) -> Self {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        rng.set_stream(number);
        let rng = &mut rng;
        if rng.random_bool(0.5) {
            return Self::sound(grammar, rng);
        }
        let mut files = files::files(rng);
        let mut names: Vec<String> = files.iter().map(|(name, _)| name.clone()).collect();
        names.extend(["-", "absent.csv", ".", "*.csv"].map(str::to_owned));
        let command = one(rng, &grammar.commands);
        let mut arguments = command.words.clone();
        let asks = command.words == ["probe"];
        arguments.extend(match asks {
            true => probe(rng),
            false => needed(rng, command, grammar, &names),
        });
        for _ in 0..*one(rng, &[0, 0, 1, 1, 2, 3]) {
            // Behind a program they would be its own; and it may be asked for ever.
            if command.flags.is_empty() || asks {
                break;
            }
            let flag = one(rng, &command.flags);
            arguments.push(flag.name.clone());
            if flag.value.is_some() {
                arguments.push(value(rng, flag, grammar, &names));
            }
        }
        let has = |name: &str| command.flags.iter().any(|flag| flag.name == name);
        if has("--format") && !arguments.iter().any(|word| word == "--format") {
            let format = *one(rng, &["json", "json", "text", "markdown"]);
            arguments.extend(["--format", format].map(str::to_owned));
        }
        if has("--quick") && !arguments.iter().any(|word| word == "--quick") {
            arguments.push("--quick".to_owned());
        }
        // A file is followed until somebody interrupts.
        if arguments.iter().any(|word| word == "--follow") {
            for word in &mut arguments {
                if names.contains(word) {
                    "-".clone_into(word);
                }
            }
        }
        // Drawn last, so that cases without one are what they were.
        let signal = rng.random_bool(0.05).then(|| {
            let signal = *one(rng, &["INT", "TERM", "HUP"]);
            (signal, rng.random_range(0..400))
        });
        let input = files[0].1.clone();
        if rng.random_bool(0.2) {
            pack(rng, &mut arguments, &mut files);
        }
        Case {
            arguments,
            input,
            files,
            signal,
        }
    }

    /// A case that should be answered, with at most one word that may not fit. What simulates hundreds of logs takes too long here.
    fn sound(grammar: &Grammar, rng: &mut ChaCha8Rng) -> Self {
        let (log, other) = (sound::log(rng), sound::log(rng));
        let (name, other_name) = (log.file.0.clone(), format!("other-{}", other.file.0));
        let mechanism = sound::mechanism(rng);
        let mut words: Vec<String> = match rng.random_range(0..12) {
            0..4 => {
                let claims = *one(rng, &[1, 1, 1, 2, 3]);
                let claims =
                    (0..claims).flat_map(|_| ["--claim".to_owned(), sound::claim(rng, &log)]);
                let begun = ["audit".to_owned(), name.clone()];
                begun.into_iter().chain(claims).collect()
            }
            4 => vec!["estimate".to_owned(), name.clone()],
            5 => vec!["check".to_owned(), name.clone()],
            6 => vec!["compare".to_owned(), name.clone(), other_name.clone()],
            7 => vec!["explain".to_owned(), sound::promise(rng)],
            8 => vec!["channel".to_owned(), mechanism],
            9 => {
                let rows = ["--rows", "300", "--seed", "3"].map(str::to_owned);
                ["simulate".to_owned(), mechanism]
                    .into_iter()
                    .chain(rows)
                    .collect()
            }
            _ => ["bounds".to_owned(), mechanism]
                .into_iter()
                .chain(sound::question(rng))
                .collect(),
        };
        let is_of_log = ["audit", "estimate", "compare"].contains(&words[0].as_str());
        if is_of_log {
            for _ in 0..*one(rng, &[0, 1, 1, 2]) {
                let option = sound::option(rng, &log);
                let fits = option[0] != "--ci" || words[0] == "audit";
                if fits && !words.contains(&option[0]) {
                    words.extend(option);
                }
            }
            words.extend(["--quick", "--secret", "secret"].map(str::to_owned));
        }
        let of = |flag: &str| {
            let this = grammar
                .commands
                .iter()
                .find(|command| command.words == words[..1]);
            this.is_some_and(|command| command.flags.iter().any(|known| known.name == flag))
        };
        if of("--format") {
            let format = *one(rng, &["json", "json", "json", "text", "markdown"]);
            words.extend(["--format", format].map(str::to_owned));
        }
        Case {
            arguments: words,
            input: log.file.1.clone(),
            files: vec![log.file, (other_name, other.file.1)],
            signal: None,
        }
    }

    /// The command as a shell takes it.
    pub fn command_line(&self) -> String {
        let words = self.arguments.iter().map(|word| format!("{word:?}"));
        format!(
            "leakgauge {} < log.csv",
            words.collect::<Vec<_>>().join(" ")
        )
    }

    /// Writes the files.
    pub fn write(&self, directory: &Path) {
        std::fs::create_dir_all(directory).expect("a directory");
        for (name, text) in &self.files {
            std::fs::write(directory.join(name), text).expect("a file is written");
        }
    }
}

/// Puts a file that is no text in the place of one that is, if there is one.
fn pack(rng: &mut ChaCha8Rng, arguments: &mut [String], files: &mut Vec<File>) {
    let is_text = |word: &&mut String| files.iter().any(|(name, _)| name == *word);
    if let Some(word) = arguments.iter_mut().find(is_text) {
        let file = packed::file(rng);
        word.clone_from(&file.0);
        files.push(file);
    }
}

/// Programs that answer, and programs that hang, flood, die, close their output or leave others behind.
const PROGRAMS: [&str; 14] = [
    "while read c; do echo $c; done",
    "n=0; while read c; do n=$((n+1)); echo $n; done",
    "while read c; do echo; done",
    "while read c; do echo '{\"t\": 1, \"u\": \"x\"}'; done",
    "exec sleep 60",
    "exec >&-; exec sleep 60",
    "read c; echo 1; exec >&-; exec sleep 60",
    "exec yes",
    "exec cat /dev/zero",
    "read c; exit 3",
    "read c; printf '\\377\\n'; exec cat",
    "read c; printf 1; exit",
    "sleep 60 & echo $! > out-child; while read c; do echo 1; done",
    "sleep 60 & echo $! > out-child; wait",
];

/// The arguments of a short collection.
fn probe(rng: &mut ChaCha8Rng) -> Vec<String> {
    let long = "x".repeat(*one(rng, &[1, 1, 1, 70_000]));
    let classes = format!("{long},b,{}", one(rng, &["c", "b", "=1+1", "+", " "]));
    let blocks = *one(rng, &["1", "3", "20"]);
    let mut words = vec!["--classes", &classes, "-n", blocks, "--warm-up", "1"];
    words.extend(["--timeout", *one(rng, &["200ms", "1s"])]);
    if rng.random_bool(0.4) {
        words.push("--spawn");
    }
    if rng.random_bool(0.4) {
        words.extend([
            "-o",
            *one(rng, &["out-log.csv", "log.csv", "/dev/full", "no/log.csv"]),
        ]);
    }
    if rng.random_bool(0.3) {
        let claim = *one(rng, &["advantage(0.1)", "time-difference(1ms)", "ldp(1)"]);
        words.extend(["--until", "decided", "--claim", claim, "--unit", "ns"]);
    }
    // The name of a file that the program leaves must be among the arguments.
    words.extend(["--", "sh", "-c", *one(rng, &PROGRAMS)]);
    words.into_iter().map(str::to_owned).collect()
}

/// Arguments that the command can hardly do without.
fn needed(
    rng: &mut ChaCha8Rng,
    command: &CommandLine,
    grammar: &Grammar,
    files: &[String],
) -> Vec<String> {
    if rng.random_bool(0.02) {
        return Vec::new();
    }
    let log = |rng: &mut ChaCha8Rng| {
        if rng.random_bool(0.85) {
            "log.csv".to_owned()
        } else {
            one(rng, files).clone()
        }
    };
    let claim = |rng: &mut ChaCha8Rng| mechanism(rng, grammar, 0);
    let words: Vec<&str> = command.words.iter().map(String::as_str).collect();
    let law = |rng: &mut ChaCha8Rng| {
        (*one(rng, &["p.csv", "q.csv", "zipf(exponent=1, size=5)"])).to_owned()
    };
    match words[..] {
        ["estimate"] => vec![log(rng)],
        ["audit"] => vec![log(rng), "--claim".to_owned(), claim(rng)],
        ["compare"] => vec![log(rng), "other.csv".to_owned()],
        ["bounds"] => vec![claim(rng)],
        ["channel"] => vec![if rng.random_bool(0.5) {
            "matrix.csv".to_owned()
        } else {
            claim(rng)
        }],
        ["simulate"] => {
            let rows = one(rng, &["0", "1", "50", "1000"]);
            vec![claim(rng), "--rows".to_owned(), (*rows).to_owned()]
        }
        ["schema"] => vec![(*one(rng, &["audit", "bounds", "channel", "follow", "x"])).to_owned()],
        ["permute"] => {
            let words = [
                "log.csv", "--move", "x", "--groups", "equal", "--by", "secret", "--alpha", "1",
            ];
            words.map(str::to_owned).to_vec()
        }
        ["shuffle", "information" | "reidentify"] if rng.random_bool(0.6) => {
            let (target, decoys) = (law(rng), law(rng));
            [
                "--target",
                &target,
                "--decoys",
                &decoys,
                "--n",
                &number(rng),
            ]
            .map(str::to_owned)
            .to_vec()
        }
        ["shuffle", "vulnerability"] if rng.random_bool(0.6) => [
            "--values",
            &number(rng),
            "--keep",
            &number(rng),
            "--n",
            &number(rng),
        ]
        .map(str::to_owned)
        .to_vec(),
        ["shuffle", "privacy"] => [
            "--randomizer",
            &claim(rng),
            "--n",
            &number(rng),
            "--at-epsilon",
            &number(rng),
        ]
        .map(str::to_owned)
        .to_vec(),
        ["shuffle", _] => ["--randomizer", &claim(rng), "--n", &number(rng)]
            .map(str::to_owned)
            .to_vec(),
        _ => Vec::new(),
    }
}
