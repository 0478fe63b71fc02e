//! Numbers as people write them, in everything that is printed but JSON: no more than seven digits, `µs` and not `us`.

use crate::common::{Place, stderr, stdout};

const DIGITS: usize = 7;

/// Words that readers stumbled over; what stands for them is in the glossary of the book.
const WORDS: [&str; 9] = [
    "testif",
    "masked",
    "borrowed",
    "told from",
    "new evidence",
    "nearest to exceeding",
    "as where nothing",
    "were the truth",
    "the differences are others",
];

/// The significant digits of a number; zeros at the end of a whole one are none.
fn digits(number: &str) -> usize {
    let mantissa = number.split(['e', 'E']).next().unwrap_or_default();
    let is_whole = !mantissa.contains('.');
    let all: String = mantissa.chars().filter(char::is_ascii_digit).collect();
    let all = all.trim_start_matches('0');
    match is_whole {
        true => all.trim_end_matches('0').len(),
        false => all.len(),
    }
}

/// The numbers of a text that stand alone: digits inside of names, versions and addresses are none.
fn numbers(text: &str) -> Vec<&str> {
    let is_part = |letter: char| letter.is_alphanumeric() || "._-/:".contains(letter);
    let words = text.split(|letter: char| !is_part(letter));
    let words = words.map(|word| word.trim_matches(['.', ':', '-', '_', '/']));
    let is_number =
        |word: &&str| word.parse::<f64>().is_ok() && word.starts_with(|c: char| c.is_ascii_digit());
    words.filter(is_number).collect()
}

/// Microseconds that are written as ASCII, but for claims and options, which are typed so.
fn ascii_micro(text: &str) -> Option<&str> {
    let words: Vec<&str> = text.split_whitespace().collect();
    let is_wrong = |at: usize| {
        let word = words[at].trim_matches(['(', ')', ',', '.', ';', ':', '`']);
        let number = word.strip_suffix("us").unwrap_or("x");
        let is_unit = word == "us" && (at == 0 || words[at - 1] != "--unit");
        is_unit || !number.is_empty() && number.chars().all(|c| c.is_ascii_digit() || c == '.')
    };
    (0..words.len())
        .find(|&at| is_wrong(at))
        .map(|at| words[at])
}

/// What a page shows: without pictures, scripts and tags. Pictures have numbers that nobody reads.
fn shown(page: &str) -> String {
    let mut text = page.to_owned();
    for name in ["style", "script", "svg"] {
        let (open, close) = (format!("<{name}"), format!("</{name}>"));
        while let Some(start) = text.find(&open) {
            let end = text[start..]
                .find(&close)
                .map_or(text.len(), |end| start + end + close.len());
            text.replace_range(start..end, " ");
        }
    }
    let parts = text
        .split('<')
        .map(|part| part.split_once('>').map_or(part, |(_, text)| text));
    parts.collect::<Vec<_>>().join(" ")
}

fn check(text: &str, about: &str) {
    for line in text.lines() {
        for number in numbers(line) {
            assert!(digits(number) <= DIGITS, "{about}: {number} in\n{line}");
        }
    }
    assert_eq!(ascii_micro(text), None, "{about}:\n{text}");
    assert!(!text.contains("NaN"), "{about}:\n{text}");
    let flat = text.split_whitespace().collect::<Vec<_>>().join(" ");
    for word in WORDS {
        assert!(!flat.contains(word), "{about}: {word} in\n{text}");
    }
}

fn printed(place: &Place, arguments: &[&str]) -> String {
    let output = place.run(arguments);
    let text = stdout(&output);
    assert!(!text.is_empty(), "{arguments:?}: {}", stderr(&output));
    check(&text, &arguments.join(" "));
    text
}

/// Everything that `audit`, `estimate` or `compare` prints of logs.
fn all_forms(place: &Place, arguments: &[&str]) {
    printed(place, arguments);
    let page = [arguments, &["--full", "--html", "page.html"]].concat();
    printed(place, &page);
    let page = std::fs::read_to_string(place.path().join("page.html")).expect("a page");
    check(&shown(&page), &format!("page of {}", arguments.join(" ")));
    printed(place, &[arguments, &["--format", "markdown"]].concat());
}

fn dataset(name: &str) -> String {
    format!("{}/datasets/{name}", env!("CARGO_MANIFEST_DIR"))
}

/// Audits of a dataset.
fn audits(name: &str, more: &[&str]) {
    let log = dataset(name);
    let command = match more.contains(&"--claim") {
        true => "audit",
        false => "estimate",
    };
    let arguments = [&[command, &log][..], more, &["--quick", "--budget", "1s"]].concat();
    all_forms(&Place::new(), &arguments);
}

#[test]
fn the_test_sees_what_it_looks_for() {
    assert_eq!(
        numbers("at most 0.36253499056391897, 1.0 of v0.2.0"),
        ["0.36253499056391897", "1.0"]
    );
    assert_eq!(digits("0.36253499056391897"), 17);
    assert_eq!(
        (digits("0.00012"), digits("160000"), digits("1.5e-20")),
        (2, 2, 2)
    );
    assert_eq!(ascii_micro("takes 12.5 us longer"), Some("us"));
    assert_eq!(ascii_micro("takes 12.5us longer"), Some("12.5us"));
    assert_eq!(
        ascii_micro("time-difference(10us), try --unit us, thus"),
        None
    );
    assert_eq!(
        shown("<p>a</p><svg>1.23456789</svg>b")
            .split_whitespace()
            .collect::<String>(),
        "ab"
    );
}

#[test]
fn audits_of_labels() {
    audits(
        "randomized-response-broken.csv",
        &[
            "--claim",
            "ldp(epsilon=1)",
            "--claim",
            "randomized-response(epsilon=1)",
        ],
    );
    audits(
        "randomized-response-counts.csv",
        &["--count", "rows", "--claim", "dp(epsilon=1, delta=0.02)"],
    );
    audits("leak-free.csv", &[]);
}

#[test]
fn audits_of_numbers() {
    audits(
        "laplace.csv",
        &[
            "--claim",
            "laplace(scale=3)",
            "--claim",
            "attack-advantage(0.95)",
        ],
    );
    audits(
        "headerless.csv",
        &["--no-header", "--secret", "2", "--observe", "1"],
    );
    audits("mixed.csv", &["--claim", "bayes-security(0.7)"]);
    audits("geometric.csv", &["--claim", "geometric(nu=0.1)"]);
}

#[test]
fn audits_of_scores() {
    let given = ["--scorer", "given", "--scores", "loss"];
    let many = [
        "--design",
        "many-runs",
        "--claim",
        "ldp(epsilon=2)",
        "--claim",
        "attack-advantage(0.2)",
    ];
    audits("membership-losses.csv", &[&given[..], &many].concat());
    let log = dataset("membership-losses.csv");
    let place = Place::new();
    let one = [
        "audit",
        &log,
        "--scores",
        "loss",
        "--design",
        "one-run",
        "--claim",
        "dp(epsilon=2)",
    ];
    for more in [&[][..], &["--format", "markdown"], &["-q"]] {
        printed(&place, &[&one[..], more].concat());
    }
}

#[test]
fn audits_of_times() {
    audits(
        "measured-comparison.csv",
        &["--claim", "time-difference(10ns)"],
    );
    audits(
        "measured-constant-time.csv",
        &["--resolution", "nanoseconds=100"],
    );
    // Blocks of times in microseconds, from the program's own sampler.
    let place = Place::new();
    let drawn = place.run(&["demo", "timing", "-o", "demo.csv"]);
    assert_eq!(drawn.status.code(), Some(0), "{}", stderr(&drawn));
    let rows = std::fs::read_to_string(place.path().join("demo.csv")).expect("a log");
    let times = |name: &str| {
        let of = rows
            .lines()
            .filter_map(|row| row.strip_prefix(&format!("{name},")));
        of.map(str::to_owned).collect::<Vec<_>>()
    };
    let blocks = times("valid").into_iter().zip(times("invalid")).take(2000);
    let blocks = blocks.map(|(slow, fast)| format!("{slow},{fast}\n"));
    let blocks = "valid,invalid\n".to_owned() + &blocks.collect::<String>();
    let place = place.file("blocks.csv", &blocks);
    let how = [
        "blocks.csv",
        "--wide",
        "--blocks",
        "--unit",
        "us",
        "--claim",
        "time-difference(10us)",
    ];
    all_forms(&place, &[&["audit"], &how[..], &["--quick"]].concat());
    let output = place.run_on(
        &[&["audit", "-"], &how[1..], &["--follow"]].concat(),
        blocks,
    );
    assert!(!output.stdout.is_empty(), "{}", stderr(&output));
    check(&stdout(&output), "blocks followed");
}

#[test]
fn comparisons() {
    let logs = ["measured-comparison.csv", "measured-constant-time.csv"].map(dataset);
    all_forms(
        &Place::new(),
        &["compare", &logs[0], &logs[1], "--quick", "--budget", "1s"],
    );
    let logs = ["randomized-response-broken.csv", "leak-free.csv"].map(dataset);
    let law = [
        "--mechanism",
        "randomized-response(epsilon=1,secrets=4)",
        "--quick",
    ];
    all_forms(
        &Place::new(),
        &[&["compare", &logs[0], &logs[1]], &law[..]].concat(),
    );
}

/// Runs commands that need no log.
fn without_log(commands: &[&[&str]]) {
    let place = Place::new().file(
        "channel.csv",
        ",o1,o2\na,0.9,0.1\nb,0.3333333333333333,0.6666666666666667\n",
    );
    for arguments in commands {
        let about = arguments.join(" ");
        for more in [&[][..], &["--format", "markdown"]] {
            let output = place.run(&[arguments, more].concat());
            assert_ne!(
                output.status.code(),
                Some(2),
                "{about}: {}",
                stderr(&output)
            );
            check(&stdout(&output), &about);
        }
    }
}

#[test]
fn bounds_and_plans() {
    without_log(&[
        &["bounds", "ldp(epsilon=0.3333)", "--values=3", "--group=2"],
        &[
            "bounds",
            "laplace(scale=2, secrets=0..9)",
            "--at-epsilon=1",
            "--profile",
            "--at-order=3",
        ],
        &[
            "bounds",
            "gaussian(sigma=4, secrets=2)",
            "--repeat=10",
            "--at-delta=1e-5",
            "--profile",
        ],
        &[
            "bounds",
            "randomized-response(epsilon=0.1..10:7, secrets=10)",
        ],
        &[
            "plan",
            "--claim",
            "dp(epsilon=1)",
            "--detect",
            "epsilon=1.5",
            "--ci",
        ],
        &["channel", "channel.csv"],
        &["explain", "dp(epsilon=0.3333, delta=1e-7)"],
        &["explain", "laplace(scale=3, secrets=0..9)"],
        &["explain", "time-difference(10us)"],
        &[
            "confusion",
            "--tp=40",
            "--fn=460",
            "--fp=3",
            "--tn=497",
            "--claim",
            "dp(epsilon=1)",
        ],
    ]);
}

#[test]
fn shuffled_messages() {
    let response = "--randomizer=randomized-response(epsilon=1, secrets=2)";
    without_log(&[
        &[
            "shuffle",
            "information",
            "--target=zipf(0.7, size=10)",
            "--decoys=uniform",
            "--n=3",
        ],
        &[
            "shuffle",
            "reidentify",
            "--target=zipf(0.7, size=10)",
            "--decoys=uniform",
            "--n=3",
        ],
        &[
            "shuffle",
            "vulnerability",
            "--values=4",
            "--keep=0.3",
            "--n=3",
        ],
        &["shuffle", "privacy", response, "--n=50", "--at-epsilon=0.5"],
    ]);
}

/// Of commands without verdicts, `--quiet` leaves the summary.
#[test]
fn quiet_is_obeyed() {
    let place = Place::new().file("channel.csv", ",o1,o2\na,0.9,0.1\nb,0.25,0.75\n");
    let among = ["--target=zipf(0.7, size=10)", "--decoys=uniform", "--n=3"];
    let commands: [&[&str]; 4] = [
        &["channel", "channel.csv"],
        &["bounds", "ldp(epsilon=1)"],
        &["shuffle", "information"],
        &["shuffle", "reidentify"],
    ];
    for command in commands {
        let more: &[&str] = if command[0] == "shuffle" { &among } else { &[] };
        let whole = printed(&place, &[command, more].concat());
        let quiet = printed(&place, &[command, more, &["-q"]].concat());
        assert!(whole.starts_with(&quiet), "{quiet}");
        assert!(quiet.lines().count() < whole.lines().count(), "{whole}");
    }
}

#[test]
fn pages_of_permute_and_of_a_followed_log() {
    let place = Place::new();
    let page = || std::fs::read_to_string(place.path().join("page.html")).expect("a page");
    let log = dataset("crescents.csv");
    let how = [
        "--move=label",
        "--groups=nearest",
        "--size=20",
        "--by=x,y",
        "--alpha=1",
        "--seed=1",
        "--html=page.html",
    ];
    printed(&place, &[&["permute", &log], &how[..]].concat());
    check(&shown(&page()), "page of permute");
    let rows = std::fs::read(dataset("randomized-response-broken.csv")).expect("a log");
    let follow = ["--follow", "--every=1000", "--html=page.html"];
    let command = [&["audit", "-", "--claim=ldp(epsilon=1)"], &follow[..]].concat();
    let output = place.run_on(&command, rows.clone());
    assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
    let violated = page();
    assert!(
        violated.contains("<header class=\"violated\">"),
        "{violated}"
    );
    check(&shown(&violated), "page of a violated claim");
    let output = place.run_on(&[&["estimate", "-"], &follow[..]].concat(), rows);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let page = page();
    assert!(
        page.contains("Leak found") && page.contains("<svg"),
        "{page}"
    );
    check(&shown(&page), "page of a followed log");
}

/// JUnit and the pages say what the terminal says.
#[test]
fn junit() {
    let place = Place::new();
    let log = dataset("laplace.csv");
    let how = [
        "--quick",
        "--claim=laplace(scale=3)",
        "--claim=attack-advantage(0.95)",
    ];
    let file = ["--junit=junit.xml"];
    printed(&place, &[&["audit", &log], &how[..], &file].concat());
    let text = std::fs::read_to_string(place.path().join("junit.xml")).expect("a file");
    check(&text, "JUnit");
}

#[test]
fn checks_and_followed_logs() {
    let place = Place::new();
    for name in ["mixed.csv", "measured-comparison.csv", "geometric.csv"] {
        let log = dataset(name);
        printed(&place, &["check", &log]);
        printed(&place, &["check", &log, "--format", "markdown"]);
        // What comes from standard input ends.
        let rows = std::fs::read(&log).expect("a log");
        let output = place.run_on(&["estimate", "-", "--follow"], rows);
        assert!(!output.stdout.is_empty(), "{}", stderr(&output));
        check(&stdout(&output), &format!("{name} followed"));
    }
}
