//! `--html` and `--plots`: what is written, and what is left alone.

use std::fs;
use std::path::Path;

use crate::common::Place;

const LOG: &str = "secret,seen\na,x\nb,y\na,x\nb,y\na,y\nb,x\nc,x\nc,y\na,x\nb,y\nc,z\nc,z\n";

fn estimate<'a>(more: &[&'a str]) -> Vec<&'a str> {
    [&["estimate", "log.csv", "--scorer", "frequentist"], more].concat()
}

#[test]
fn a_page_says_how_it_was_made_and_is_replaced_by_the_next() {
    let place = Place::with_log(LOG);
    for seed in ["1", "2"] {
        let found = place.run(&estimate(&[
            "--seed",
            seed,
            "--secrets",
            "a,b,c",
            "--html",
            "the report.html",
        ]));
        assert!(
            found.status.success(),
            "{}",
            String::from_utf8_lossy(&found.stderr)
        );
        let page = fs::read_to_string(place.path().join("the report.html")).unwrap();
        assert!(
            page.contains(&format!(
                "--seed {seed} --secrets a,b,c --html &#x27;the report.html&#x27;"
            )),
            "{page}"
        );
    }
    assert_eq!(
        fs::read_dir(place.path()).unwrap().count(),
        2,
        "nothing half-written is left"
    );
}

#[test]
fn all_pairs_are_written_to_a_file_of_their_own() {
    let place = Place::with_log(LOG).file("notes.csv", "mine\n");
    let found = place.run(&estimate(&[
        "--pairs",
        "1",
        "--pairs-file",
        "pairs.csv",
        "--format",
        "json",
    ]));
    assert!(
        found.status.success(),
        "{}",
        String::from_utf8_lossy(&found.stderr)
    );
    let json: serde_json::Value = serde_json::from_slice(&found.stdout).unwrap();
    assert_eq!(json["pairs"].as_array().unwrap().len(), 1);
    assert_eq!(json["pairs_left_out"], 2);
    assert_eq!(json["multiplicity"]["pairs"], 3);
    let text = fs::read_to_string(place.path().join("pairs.csv")).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines.len(), 4, "{text}");
    assert!(lines[0].starts_with("secret,other_secret,total_variation,lower,upper"));
    let first: Vec<&str> = lines[1].split(',').collect();
    assert_eq!(
        json["pairs"][0]["secrets"],
        serde_json::json!([first[0], first[1]])
    );
    // Ours is replaced, nothing else is.
    assert!(
        place
            .run(&estimate(&["--pairs-file", "pairs.csv"]))
            .status
            .success()
    );
    place.refuses(
        &estimate(&["--pairs-file", "notes.csv"]),
        &["notes.csv", "not written by leakgauge", "--force"],
    );
    place.refuses(
        &estimate(&["--pairs-file", "log.csv", "--force"]),
        &["is an input"],
    );
}

#[test]
fn neither_a_log_nor_any_other_file_is_overwritten() {
    let place = Place::with_log(LOG).file("notes.html", "mine");
    fs::create_dir(place.path().join("plots")).unwrap();
    fs::write(place.path().join("plots/trade-off.svg"), "<svg/>").unwrap();
    place.refuses(
        &estimate(&["--html", "log.csv"]),
        &["log.csv", "is an input"],
    );
    place.refuses(
        &estimate(&["--html", "./log.csv", "--force"]),
        &["is an input"],
    );
    place.refuses(
        &estimate(&["--fit-on", "notes.html", "--html", "notes.html", "--force"]),
        &["is an input"],
    );
    fs::hard_link(place.path().join("log.csv"), place.path().join("link.csv")).unwrap();
    place.refuses(
        &estimate(&["--html", "link.csv", "--force"]),
        &["link.csv", "is an input"],
    );
    place.refuses(
        &estimate(&["--html", "notes.html"]),
        &["notes.html", "--force"],
    );
    place.refuses(&estimate(&["--html", "-"]), &["is not the name of a file"]);
    place.refuses(
        &estimate(&["--html", "none/page.html"]),
        &["there is no such directory"],
    );
    place.refuses(
        &estimate(&["--html", "plots", "--force"]),
        &["is there and is no file"],
    );
    place.refuses(
        &estimate(&["--plots", "plots"]),
        &["trade-off.svg", "--force"],
    );
    place.refuses(
        &estimate(&["--plots", "notes.html"]),
        &["is not a directory"],
    );
    place.refuses(
        &estimate(&["--plots", "new", "--html", "new/pairs.svg"]),
        &["new"],
    );
    assert_eq!(
        fs::read_to_string(place.path().join("notes.html")).unwrap(),
        "mine"
    );
    assert_eq!(
        fs::read_to_string(place.path().join("log.csv")).unwrap(),
        LOG
    );
    assert!(
        place
            .run(&estimate(&["--html", "notes.html", "--force"]))
            .status
            .success()
    );
    assert!(
        fs::read_to_string(place.path().join("notes.html"))
            .unwrap()
            .contains("leakgauge")
    );
}

#[test]
fn pictures_of_an_earlier_log_do_not_stay() {
    let place = Place::with_log(LOG);
    let names = || {
        let entries = fs::read_dir(place.path().join("new/plots")).unwrap();
        let mut names: Vec<_> = entries
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    };
    assert!(
        place
            .run(&estimate(&["--plots", "new/plots"]))
            .status
            .success()
    );
    assert!(
        names().contains(&"bayes-security.svg".to_owned()),
        "{:?}",
        names()
    );
    for name in names() {
        let svg = fs::read_to_string(place.path().join("new/plots").join(name)).unwrap();
        roxmltree::Document::parse(&svg).unwrap();
        assert!(svg.contains("background:#fff"));
    }
    assert!(
        place
            .run(&estimate(&["--plots", "new/plots", "--secrets", "a,b"]))
            .status
            .success()
    );
    assert!(
        !names().contains(&"bayes-security.svg".to_owned()),
        "{:?}",
        names()
    );
}

#[test]
fn the_pictures_of_the_readme_come_back() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let place = Place::new();
    let log = root.join("datasets/laplace.csv");
    let arguments = [
        "estimate",
        log.to_str().unwrap(),
        "--scorer",
        "nearest",
        "--plots",
        "plots",
    ];
    assert!(place.run(&arguments).status.success());
    for entry in fs::read_dir(root.join("docs/laplace")).unwrap() {
        let entry = entry.unwrap();
        let drawn = fs::read_to_string(place.path().join("plots").join(entry.file_name())).unwrap();
        assert_eq!(
            drawn,
            fs::read_to_string(entry.path()).unwrap(),
            "{:?}",
            entry.file_name()
        );
    }
}
