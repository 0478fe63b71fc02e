//! `permute`: what is written, what is refused, and that nothing is half-written; the claim about shufflers.

mod common;

use std::collections::BTreeMap;

use common::{Place, stderr, stdout};
use leakgauge::audit::{AuditOptions, Verdict, audit};
use leakgauge::claim::Claim;
use leakgauge::log::{ReadOptions, read_from};
use leakgauge::mechanism;
use leakgauge::permute::mallows::Kendall;
use leakgauge::simulate::Simulation;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// A value of its own for every row, on a line.
fn line(rows: usize) -> String {
    let mut text = "name,x,illness\n".to_owned();
    for row in 0..rows {
        text.push_str(&format!("n{row},{},v{row}\n", row as f64 / 10.0));
    }
    text
}

const SHUFFLE: [&str; 13] = [
    "permute",
    "log.csv",
    "--out",
    "out.csv",
    "--move",
    "illness",
    "--groups",
    "distance",
    "--by",
    "x",
    "--radius",
    "0.5",
    "--alpha=1",
];

fn with<'a>(more: &[&'a str]) -> Vec<&'a str> {
    let mut all: Vec<&str> = SHUFFLE.to_vec();
    all.extend(more);
    all
}

fn read(place: &Place, name: &str) -> String {
    std::fs::read_to_string(place.path().join(name)).expect(name)
}

fn files(place: &Place) -> Vec<String> {
    let all = std::fs::read_dir(place.path()).unwrap();
    let mut names: Vec<String> = all
        .map(|file| file.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

#[test]
fn values_move_within_reach_and_everything_else_stays() {
    let place = Place::with_log(line(300));
    let output = place.run(&with(&[
        "--permutation",
        "p.csv",
        "--group-report",
        "g.csv",
        "--report",
        "r.json",
        "--seed",
        "3",
    ]));
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let (before, after) = (line(300), read(&place, "out.csv"));
    let column = |text: &str, at: usize| -> Vec<String> {
        text.lines()
            .map(|line| line.split(',').nth(at).unwrap().to_owned())
            .collect()
    };
    assert_eq!(column(&before, 0), column(&after, 0));
    assert_eq!(column(&before, 1), column(&after, 1));
    let (old, new) = (column(&before, 2), column(&after, 2));
    assert_ne!(old, new);
    let sorted = |list: &[String]| {
        let mut list = list.to_vec();
        list.sort();
        list
    };
    assert_eq!(sorted(&old), sorted(&new));
    // The permutation is what was done.
    for line in read(&place, "p.csv").lines().skip(1) {
        let (row, from) = line.split_once(',').unwrap();
        let (row, from): (usize, usize) = (row.parse().unwrap(), from.parse().unwrap());
        assert_eq!(new[row], old[from]);
    }
    assert_eq!(read(&place, "g.csv").lines().count(), 301);
    let report: serde_json::Value = serde_json::from_str(&read(&place, "r.json")).unwrap();
    // Eleven rows in one piece.
    assert_eq!(
        (report["width"].as_u64(), report["sensitivity"].as_u64()),
        (Some(10), Some(55))
    );
    assert_eq!(report["dispersion"].as_f64(), Some(1.0 / 55.0));
    assert_eq!(report["alpha"], 1.0);
    assert_eq!(report["groups"]["count"], 300);
    assert_eq!(report["moved"], serde_json::json!(["illness"]));
    let text = stdout(&output);
    assert!(
        !text.contains("v17") && text.contains("Whoever knows the seed"),
        "{text}"
    );
}

#[test]
fn the_seed_decides_and_without_one_nobody_does() {
    let place = Place::with_log(line(200));
    let run = |more: &[&str], threads: &str| {
        let output = place.run(&with(&[more, &["--force", "--threads", threads]].concat()));
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
        (read(&place, "out.csv"), stdout(&output))
    };
    let first = run(&["--seed", "1"], "1");
    assert_eq!(first, run(&["--seed", "1"], "2"));
    assert_ne!(first.0, run(&["--seed", "2"], "1").0);
    assert_ne!(
        run(&["--trials", "0"], "1").0,
        run(&["--trials", "0"], "1").0
    );
    // The smaller alpha, the farther values go.
    let moved = |alpha: &str| {
        let mut arguments = with(&["--force", "--seed", "1", "--trials", "0"]);
        arguments[12] = alpha;
        assert!(place.run(&arguments).status.success());
        let text = read(&place, "out.csv");
        let far = text.lines().skip(1).zip(0i64..).map(|(line, row)| {
            let value: i64 = line.rsplit_once(",v").unwrap().1.parse().unwrap();
            (value - row).abs()
        });
        far.sum::<i64>()
    };
    assert!(moved("--alpha=0.1") > moved("--alpha=2") && moved("--alpha=2") > moved("--alpha=50"));
}

#[test]
fn every_kind_of_group_is_made() {
    let text = "id,city,lat,lon,value\n\
                a,X,52.52,13.40,1\nb,X,52.40,13.06,0\nc,Y,48.14,11.58,1\nd,Y,48.37,10.90,0\ne,Z,0,0,1\n";
    let edges = "from,to\na,b\nc,d\nd,c\n";
    let groups = "group,row\nnorth,1\nnorth,2\nsouth,3\nsouth,4\nsouth,1\n";
    let place = Place::with_log(text)
        .file("edges.csv", edges)
        .file("groups.csv", groups);
    let cases: [(&[&str], u64, u64); 6] = [
        (&["haversine", "--by", "lat,lon", "--radius", "60"], 5, 2),
        (&["distance", "--by", "lat,lon", "--radius", "0.8"], 5, 2),
        (&["nearest", "--by", "lat,lon", "--size", "2"], 5, 2),
        (
            &[
                "path",
                "--edges",
                "edges.csv",
                "--id",
                "id",
                "--radius",
                "1",
            ],
            5,
            2,
        ),
        (&["equal", "--by", "city"], 3, 2),
        (&["file", "--group-file", "groups.csv"], 2, 3),
    ];
    for (kind, count, largest) in cases {
        for distance in ["kendall", "hamming"] {
            let mut arguments = vec![
                "permute",
                "log.csv",
                "--out",
                "out.csv",
                "--move",
                "value",
                "--alpha",
                "1",
                "--force",
                "--distance",
                distance,
                "--groups",
            ];
            arguments.extend(kind);
            let report = place.json(&arguments);
            assert_eq!(report["groups"]["count"], count, "{kind:?}");
            assert_eq!(report["groups"]["largest"], largest, "{kind:?}");
            if distance == "hamming" {
                assert_eq!(report["sensitivity"], largest);
                assert!(report["groups"]["list"][0]["failure"].is_number());
            }
        }
    }
    let listed = place.json(&[
        "permute",
        "log.csv",
        "--out",
        "o2.csv",
        "--move",
        "value",
        "--alpha",
        "1",
        "--groups",
        "file",
        "--group-file",
        "groups.csv",
    ]);
    assert_eq!(listed["groups"]["uncovered"], 1);
    assert_eq!(listed["warnings"][0]["code"], "rows-in-no-group");
}

#[test]
fn values_are_randomized_first_and_the_meaning_is_told() {
    let mut text = "x,ill\n".to_owned();
    (0..4000).for_each(|row| {
        text.push_str(&format!(
            "{},{}\n",
            row % 40,
            if row % 40 < 20 { "yes" } else { "no" }
        ))
    });
    let place = Place::with_log(text);
    let report = place.json(&[
        "permute",
        "log.csv",
        "--out",
        "out.csv",
        "--move",
        "ill",
        "--groups",
        "distance",
        "--by",
        "x",
        "--radius",
        "1",
        "--alpha",
        "2",
        "--epsilon",
        "1.5",
        "--values",
        "yes,no",
        "--subsets",
        "1,10",
        "--also",
        "0,3",
        "--previous",
        "1,0.5",
        "--seed",
        "1",
        "--already-epsilon",
        "0.25",
    ]);
    assert_eq!(report["epsilon"], 1.75);
    assert_eq!(report["composition"]["alpha"], 3.5);
    let others = report["other_groups"].as_array().unwrap();
    assert!(
        others[0]["alpha"].as_f64().unwrap() < 2.0 && others[1]["alpha"].as_f64().unwrap() > 2.0
    );
    let bound = &report["subsets"][0];
    let r = bound["group"].as_u64().unwrap() as f64;
    let odds = (r - 1.0) * (-(2.0 * 1.75 + 2.0f64)).exp();
    assert!((bound["odds_of_losing"].as_f64().unwrap() / odds - 1.0).abs() < 1e-12);
    // With next to no shuffle: wrong with probability 1/(1 + e^1.5) = 0.182, 730 ± 24 of 4000.
    let arguments = [
        "permute",
        "log.csv",
        "--out",
        "near.csv",
        "--move",
        "ill",
        "--groups",
        "distance",
        "--by",
        "x",
        "--radius",
        "1",
        "--alpha",
        "1e7",
        "--epsilon",
        "1.5",
        "--seed",
        "2",
        "--trials",
        "0",
    ];
    assert!(place.run(&arguments).status.success());
    let after = read(&place, "near.csv");
    let wrong = after.lines().skip(1).filter(|line| {
        let (x, ill) = line.split_once(',').unwrap();
        (x.parse::<u32>().unwrap() < 20) != (ill == "yes")
    });
    let wrong = wrong.count();
    assert!(wrong.abs_diff(730) < 145, "{wrong}");
    place.refuses(
        &[
            "permute",
            "log.csv",
            "--out",
            "b.csv",
            "--move",
            "ill",
            "--groups",
            "equal",
            "--by",
            "x",
            "--alpha",
            "1",
            "--epsilon",
            "1",
            "--values",
            "yes,maybe",
        ],
        &["is none of --values", "row 22", "no"],
    );
    assert!(!files(&place).contains(&"b.csv".to_owned()));
}

#[test]
fn what_cannot_be_done_is_refused_and_nothing_is_written() {
    let blank = "x,city,v\n1,A,a\n2, ,b\n3,A,c\n";
    let place = Place::with_log(line(20))
        .file("blank.csv", blank)
        .file("ragged.csv", "x,v\n1,2\n3\n")
        .file("empty.csv", "x,v\n")
        .file("open.csv", "x,v\n1,2\n3,\"4\n5,6\n")
        .file("groups.csv", "group,row\na,1\na,21\n")
        .file("edges.csv", "from,to\nn1,n2\nn1,nobody\n")
        .file("there.csv", "mine\n");
    let before = files(&place);
    let base = ["permute", "log.csv", "--move", "illness"];
    let out = ["--out", "out.csv"];
    let line = ["--groups", "distance", "--by", "x", "--radius", "1"];
    let alpha = ["--alpha", "1"];
    let refuse = |parts: &[&[&str]], words: &[&str]| {
        place.refuses(&parts.concat(), words);
        assert_eq!(files(&place), before, "{parts:?}");
    };
    for bad in ["0", "-1", "nan", "inf"] {
        let option = format!("--alpha={bad}");
        refuse(&[&base, &out, &line, &[&option]], &["alpha", "positive"]);
    }
    refuse(
        &[&base, &["--out", "log.csv", "--force"], &line, &alpha],
        &["log.csv", "is an input"],
    );
    refuse(
        &[&base, &["--out", "./log.csv"], &line, &alpha],
        &["is an input"],
    );
    refuse(
        &[&base, &["--out", "there.csv"], &line, &alpha],
        &["already there", "--force"],
    );
    refuse(
        &[&base, &["--out", "/dev/null", "--force"], &line, &alpha],
        &["no ordinary file"],
    );
    refuse(
        &[&base, &["--out", "no/out.csv"], &line, &alpha],
        &["no such directory"],
    );
    refuse(
        &[&base, &["--out", "out.csv.gz"], &line, &alpha],
        &["plain text"],
    );
    refuse(
        &[&base, &out, &line, &alpha, &["--report", "./out.csv"]],
        &["two outputs"],
    );
    refuse(
        &[
            &base,
            &out,
            &alpha,
            &["--groups", "file", "--group-file", "groups.csv"],
        ],
        &["groups.csv, row 3", "21", "1 to 20"],
    );
    refuse(
        &[
            &base,
            &out,
            &alpha,
            &[
                "--groups",
                "path",
                "--edges",
                "edges.csv",
                "--id",
                "name",
                "--radius",
                "1",
            ],
        ],
        &["edges.csv, row 3", "nobody"],
    );
    refuse(
        &[
            &base,
            &out,
            &alpha,
            &[
                "--groups",
                "path",
                "--edges",
                "edges.csv",
                "--radius",
                "1.5",
            ],
        ],
        &["whole"],
    );
    refuse(
        &[
            &base,
            &out,
            &alpha,
            &["--groups", "nearest", "--by", "x", "--size", "21"],
        ],
        &["21 rows", "20"],
    );
    refuse(
        &[
            &base,
            &out,
            &alpha,
            &["--groups", "distance", "--by", "x", "--radius=-1"],
        ],
        &["radius", "at least 0"],
    );
    refuse(
        &[
            &base,
            &out,
            &alpha,
            &["--groups", "distance", "--by", "name", "--radius", "1"],
        ],
        &["log.csv, row 2", "n0", "not a finite number"],
    );
    refuse(
        &[
            &base,
            &out,
            &alpha,
            &["--groups", "distance", "--by", "y", "--radius", "1"],
        ],
        &["--by y", "no such column", "name, x, illness"],
    );
    refuse(
        &[&base, &out, &alpha, &["--groups", "distance", "--by", "x"]],
        &["needs --radius"],
    );
    refuse(
        &[&base, &out, &line, &alpha, &["--size", "3"]],
        &["--size", "is not for"],
    );
    refuse(
        &[
            &base,
            &out,
            &line,
            &alpha,
            &["--order", "sweep", "--move", "x"],
        ],
        &["has to stay"],
    );
    refuse(
        &[&base, &out, &line, &alpha, &["--delta", "0"]],
        &["--delta", "between"],
    );
    refuse(
        &[&base, &out, &line, &alpha, &["--epsilon", "0"]],
        &["--epsilon", "positive"],
    );
    refuse(
        &[
            &base,
            &out,
            &alpha,
            &["--groups", "equal", "--by", "name", "--order", "sweep"],
        ],
        &["sweep", "numeric"],
    );
    let other = |file: &str, more: &[&str], words: &[&str]| {
        let start = ["permute", file, "--move", "v", "--alpha", "1"];
        refuse(&[&start, &out, more], words);
    };
    other(
        "blank.csv",
        &["--groups", "equal", "--by", "city"],
        &["blank.csv, row 3, column city", "is blank"],
    );
    other(
        "ragged.csv",
        &["--groups", "equal", "--by", "x"],
        &["ragged.csv, row 3", "1 fields"],
    );
    other(
        "empty.csv",
        &["--groups", "equal", "--by", "x"],
        &["has no rows"],
    );
    other(
        "open.csv",
        &["--groups", "equal", "--by", "x"],
        &["open.csv, row 3", "quote"],
    );
    other(
        "missing.csv",
        &["--groups", "equal", "--by", "x"],
        &["no such file"],
    );
}

#[test]
fn several_files_quotes_and_no_header_are_kept_as_they_are() {
    let place =
        Place::with_log("k;v\n1;\"a;b\"\n2;c\n").file("more.csv", "k;v\n3;\"say \"\"x\"\"\"\n");
    let arguments = |files: &[&'static str], more: &[&'static str]| {
        let rest = [
            "--out", "out.csv", "--groups", "distance", "--radius", "9", "--alpha", "1", "--force",
        ];
        [&["permute"], files, &rest, more].concat()
    };
    let output = place.run(&arguments(
        &["log.csv", "more.csv"],
        &["--move", "v", "--by", "k"],
    ));
    assert!(output.status.success(), "{}", stderr(&output));
    let after = read(&place, "out.csv");
    let mut lines: Vec<&str> = after.lines().collect();
    assert_eq!(lines.remove(0), "k;v");
    assert!(
        after.contains("\"a;b\"") && after.contains("\"say \"\"x\"\"\""),
        "{after}"
    );
    assert!(
        lines
            .iter()
            .zip(["1;", "2;", "3;"])
            .all(|(line, start)| line.starts_with(start))
    );
    let output = place.run_on(
        &arguments(&["-"], &["--no-header", "--move", "2", "--by", "1"]),
        "1,x\n2,y\n",
    );
    assert!(output.status.success(), "{}", stderr(&output));
    assert_eq!(read(&place, "out.csv").lines().count(), 2);
    place.refuses(
        &arguments(&["log.csv", "-"], &["--move", "v", "--by", "k"]),
        &["standard input", "is empty"],
    );
}

#[test]
fn without_a_file_to_write_to_nothing_is_written() {
    let place = Place::with_log(line(50));
    let before = files(&place);
    let report = place.json(&[
        "permute", "log.csv", "--move", "illness", "--groups", "distance", "--by", "x", "--radius",
        "1", "--alpha", "1",
    ]);
    assert!(report["out"].is_null() && report["width"] == 20);
    assert_eq!(files(&place), before);
}

#[test]
fn groups_of_one_row_move_nothing_and_say_so() {
    let place = Place::with_log(line(50));
    let report = place.json(&[
        "permute", "log.csv", "--out", "out.csv", "--move", "illness", "--groups", "equal", "--by",
        "name", "--alpha", "1",
    ]);
    assert!(report["dispersion"].is_null() && report["sensitivity"] == 0);
    assert_eq!(read(&place, "out.csv"), line(50));
    assert!(
        report["warnings"]
            .as_array()
            .unwrap()
            .iter()
            .any(|w| w["code"] == "nothing-moved")
    );
}

/// A log of (order, output) rows.
fn log(rows: impl Iterator<Item = (String, String)>) -> leakgauge::log::Log {
    let mut text = "order,output\n".to_owned();
    for (order, output) in rows {
        text.push_str(&format!("{order},{output}\n"));
    }
    let options = ReadOptions {
        secret: Some("order".to_owned()),
        ..ReadOptions::default()
    };
    read_from("log", std::io::Cursor::new(text), &options).unwrap()
}

fn simulated(mechanism: &str, rows: usize, seed: u64) -> leakgauge::log::Log {
    let mechanism = mechanism::parse(mechanism).expect(mechanism);
    let simulation = Simulation::new(&*mechanism, seed).unwrap();
    log(simulation
        .take(rows)
        .map(|(secret, mut seen)| (secret, seen.remove(0))))
}

fn verdict(log: &leakgauge::log::Log, claim: &str) -> Verdict {
    let options = AuditOptions {
        claims: vec![Claim::parse(claim).expect(claim)],
        ..AuditOptions::default()
    };
    audit(log, &options).unwrap().claims[0].verdict
}

/// ε of all orders of a group is exactly α, so a correct shuffler can never be refuted.
#[test]
fn a_correct_shuffler_is_not_refuted() {
    for seed in 0..4 {
        for mechanism in [
            "mallows(n=3, alpha=1)",
            "mallows(n=4, alpha=1, group=1..3)",
            "mallows(n=3, alpha=1, distance=hamming)",
        ] {
            let log = simulated(mechanism, 30_000, seed);
            let claim = if mechanism.contains("group") {
                "dsigma(alpha=1, group=1..3)"
            } else {
                "dsigma(alpha=1)"
            };
            assert_ne!(
                verdict(&log, claim),
                Verdict::Violated,
                "{mechanism}, seed {seed}"
            );
        }
    }
}

#[test]
fn a_shuffler_with_twice_the_dispersion_is_caught() {
    let log = simulated("mallows(n=3, alpha=2)", 30_000, 1);
    assert_eq!(verdict(&log, "dsigma(alpha=1)"), Verdict::Violated);
}

/// Made for the first two places, claimed for three: α is three times what is claimed.
#[test]
fn a_shuffler_for_another_group_is_caught() {
    let made_for_two = "mallows(n=4, theta=1, group=1..3)";
    let log = simulated(made_for_two, 30_000, 1);
    assert_eq!(
        verdict(&log, "dsigma(alpha=1, group=1..3)"),
        Verdict::Violated
    );
    assert_ne!(
        verdict(&log, "dsigma(alpha=3, group=1..3)"),
        Verdict::Violated
    );
}

/// The uniform numbers behind the insertions are the smaller of two.
#[test]
fn a_shuffler_with_a_biased_generator_is_caught() {
    let model = Kendall {
        n: 3,
        theta: 1.0 / 3.0,
    };
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    let orders = ["1-2-3", "1-3-2", "2-1-3", "2-3-1", "3-1-2", "3-2-1"];
    let rows: Vec<(String, String)> = (0..40_000)
        .map(|_| {
            let order = orders[rng.random_range(0..6usize)];
            let items: Vec<&str> = order.split('-').collect();
            let sigma =
                model.insert(|i| model.insertion_at(i, rng.random::<f64>().min(rng.random())));
            let output: Vec<&str> = sigma.iter().map(|at| items[*at as usize]).collect();
            (order.to_owned(), output.join("-"))
        })
        .collect();
    assert_eq!(
        verdict(&log(rows.into_iter()), "dsigma(alpha=1)"),
        Verdict::Violated
    );
}

#[test]
fn orders_that_the_claim_says_nothing_of_are_refused() {
    let place = Place::with_log("secret,out\n".to_owned() + &"1-2-3,x\n1-3-2,x\n".repeat(50));
    let audit = |claim: &'static str| vec!["audit", "log.csv", "--claim", claim];
    assert_eq!(place.run(&audit("dsigma(alpha=1)")).status.code(), Some(3));
    assert_eq!(
        place.run(&audit("dsigma(1, group=2..3)")).status.code(),
        Some(3)
    );
    place.refuses(&audit("dsigma(alpha=1, group=1..2)"), &["place 3", "group"]);
    place.refuses(&audit("dsigma(alpha=-1)"), &["alpha must be at least 0"]);
    let words = Place::with_log("secret,out\n".to_owned() + &"1-2,x\n1-3,x\n".repeat(50));
    words.refuses(
        &audit("dsigma(alpha=1)"),
        &["orders of the items of 1-2", "1-3"],
    );
}

/// What `simulate` draws is what the command shuffles: the output frequencies of a file of three rows.
#[test]
fn the_command_and_the_mechanism_have_one_law() {
    let place = Place::with_log("g,v\na,1\na,2\na,3\n");
    let mut counts: BTreeMap<String, u32> = BTreeMap::new();
    const RUNS: u32 = 150;
    for seed in 0..RUNS {
        let seed = seed.to_string();
        let arguments = [
            "permute", "log.csv", "--out", "o.csv", "--force", "--move", "v", "--groups", "equal",
            "--by", "g", "--alpha", "3", "--trials", "0", "--seed", &seed,
        ];
        assert!(place.run(&arguments).status.success());
        let output = read(&place, "o.csv")
            .lines()
            .skip(1)
            .map(|line| line[2..].to_owned())
            .collect::<Vec<_>>()
            .join("-");
        *counts.entry(output).or_default() += 1;
    }
    let mechanism = mechanism::parse("mallows(n=3, alpha=3)").unwrap();
    let bound = mechanism.bind(&["1-2-3".to_owned()]).unwrap();
    let table = bound.probabilities().unwrap();
    for (label, p) in table.observations.iter().zip(&table.rows[0]) {
        let expected = f64::from(RUNS) * p;
        let found = f64::from(counts.get(label).copied().unwrap_or(0));
        assert!(
            (found - expected).abs() < 5.0 * (expected * (1.0 - p)).sqrt() + 1.0,
            "{label}: {found} {expected}"
        );
    }
}

#[test]
fn the_crescents_are_those_of_the_figure() {
    let options = leakgauge::reproduce::ReproduceOptions::default();
    let figure = leakgauge::reproduce::entry("dsigma-figure-1")
        .unwrap()
        .reproduce(&options)
        .unwrap();
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/datasets/crescents.csv");
    assert_eq!(
        figure.pictures[0].table.to_csv().unwrap(),
        std::fs::read_to_string(path).unwrap()
    );
}
