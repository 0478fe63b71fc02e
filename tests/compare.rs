//! `leakgauge compare` as users' scripts depend on it.

use crate::common::{Place, assert_refused, stderr, stdout};
use leakgauge::exact::mechanism;
use leakgauge::exact::simulate::Simulation;
use serde_json::Value;

/// A log of a mechanism.
fn log_of(text: &str, rows: usize, seed: u64) -> String {
    let mechanism = mechanism::parse(text).unwrap();
    let mut simulation = Simulation::new(&*mechanism, seed).unwrap();
    let mut csv = "secret,observation\n".to_owned();
    for _ in 0..rows {
        let (secret, fields) = simulation.next_row();
        csv.push_str(&format!("{secret},{}\n", fields.join(",")));
    }
    csv
}

fn response(epsilon: f64, seed: u64) -> String {
    log_of(
        &format!("randomized-response(epsilon={epsilon}, secrets=3)"),
        3000,
        seed,
    )
}

/// Two logs at ε = 0.5 and 2.
fn two() -> Place {
    Place::new()
        .file("half.csv", response(0.5, 1))
        .file("two.csv", response(2.0, 2))
}

fn json(place: &Place, arguments: &[&str]) -> (Value, i32) {
    let all = [arguments, &["--format", "json"]].concat();
    let output = place.run(&all);
    let report = serde_json::from_slice(&output.stdout);
    (
        report.unwrap_or_else(|_| panic!("{}", stderr(&output))),
        output.status.code().unwrap(),
    )
}

const GRID: [&str; 5] = [
    "compare",
    "half.csv",
    "two.csv",
    "--mechanism",
    "randomized-response(epsilon=0.5..2:2)",
];

fn encloses(estimate: &Value, truth: f64) -> bool {
    let limit = |key: &str| estimate[key].as_f64().unwrap();
    limit("lower") <= truth && truth <= limit("upper")
}

fn keys(value: &Value) -> Vec<&str> {
    value
        .as_object()
        .unwrap()
        .keys()
        .map(String::as_str)
        .collect()
}

#[test]
fn a_grid_is_spread_over_the_logs_and_limits_enclose_the_truth() {
    let (report, code) = json(&two(), &GRID);
    assert_eq!(code, 3, "3,000 rows do not come within the margin");
    let tv = |epsilon: f64| (epsilon.exp() - 1.0) / (epsilon.exp() + 2.0);
    let v = |epsilon: f64| epsilon.exp() / (epsilon.exp() + 2.0);
    for (log, epsilon) in report["logs"].as_array().unwrap().iter().zip([0.5, 2.0]) {
        assert_eq!(log["parameter"]["name"], "epsilon");
        assert_eq!(log["parameter"]["value"], epsilon);
        assert_eq!(log["verdict"], "inconclusive");
        let exact = &log["analytic"];
        assert!((exact["total_variation"].as_f64().unwrap() - tv(epsilon)).abs() < 1e-12);
        assert!((exact["bayes_vulnerability"].as_f64().unwrap() - v(epsilon)).abs() < 1e-12);
        assert!(encloses(&log["worst_pair"]["total_variation"], tv(epsilon)));
        assert!(encloses(&log["overall"]["bayes_vulnerability"], v(epsilon)));
        assert!(encloses(
            &log["overall"]["attack_vulnerability"],
            v(epsilon)
        ));
        let residual = log["worst_pair"]["total_variation"]["point"]
            .as_f64()
            .unwrap()
            - tv(epsilon);
        let stated = log["residual"]["total_variation"].as_f64().unwrap();
        assert!((stated - residual).abs() < 1e-12);
        // A point that was moved to a limit has no standard error.
        let errors = log["residual"]["standard_errors"].as_f64();
        assert!(errors.is_none_or(|errors| errors.abs() < 4.0));
    }
    let change = &report["differences"][0];
    for (figure, truth) in [
        ("bayes_vulnerability", v(2.0) - v(0.5)),
        ("attack_vulnerability", v(2.0) - v(0.5)),
        ("total_variation", tv(2.0) - tv(0.5)),
        ("attack_advantage", tv(2.0) - tv(0.5)),
    ] {
        let difference = &change[figure]["difference"];
        assert!(encloses(difference, truth), "{figure}: {difference}");
        assert!(difference["lower"].as_f64().unwrap() > 0.0, "{figure}");
    }
    assert_eq!(change["pairs"].as_array().unwrap().len(), 3);
    assert_eq!(change["pair_summary"]["rose"], 3);
}

#[test]
fn the_keys_of_the_json_are_stable() {
    let (report, _) = json(&two(), &GRID);
    let mut found = keys(&report);
    found.sort_unstable();
    assert_eq!(
        found,
        [
            "against",
            "confidence",
            "curve",
            "differences",
            "log_confidence",
            "logs",
            "notes",
            "schema_version",
            "seed",
            "tool"
        ]
    );
    for key in [
        "analytic",
        "claim",
        "files",
        "mechanism",
        "overall",
        "parameter",
        "residual",
        "rows",
        "rows_used",
        "scorer",
        "secrets",
        "verdict",
        "warnings",
        "worst_pair",
    ] {
        assert!(keys(&report["logs"][0]).contains(&key), "{key}");
    }
    for key in [
        "attack_advantage",
        "attack_vulnerability",
        "bayes_vulnerability",
        "logs",
        "only_in_earlier",
        "only_in_later",
        "pair_summary",
        "pairs",
        "total_variation",
    ] {
        assert!(keys(&report["differences"][0]).contains(&key), "{key}");
    }
    for key in [
        "analytic",
        "difference",
        "earlier",
        "later",
        "standard_error",
        "z",
    ] {
        let figure = &report["differences"][0]["total_variation"];
        assert!(keys(figure).contains(&key), "{key}");
    }
    assert_eq!(report["differences"][0]["logs"], serde_json::json!([1, 2]));
}

/// Twenty logs of one mechanism: verdicts share the error probability, and the report says at which level each is.
#[test]
fn many_logs_share_one_error_probability() {
    let mut place = Place::new();
    let mut arguments = vec!["compare".to_owned()];
    for at in 0..20 {
        let name = format!("log{at}.csv");
        let csv = log_of("randomized-response(epsilon=1, secrets=2)", 400, 100 + at);
        place = place.file(&name, csv);
        arguments.push(name);
    }
    let plain: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let (report, code) = json(&place, &plain);
    assert_eq!(
        (code, &report["log_confidence"]),
        (0, &serde_json::json!(0.95))
    );
    let with = |mechanism: &str| {
        let all = [&plain[..], &["--mechanism", mechanism]].concat();
        json(&place, &all)
    };
    let (report, code) = with("randomized-response(epsilon=1)");
    assert_eq!(code, 3, "true of all of them");
    assert_eq!(report["confidence"], 0.95);
    assert!((report["log_confidence"].as_f64().unwrap() - 0.9975).abs() < 1e-12);
    assert_eq!(with("randomized-response(epsilon=0.1)").1, 1);
    let all = [
        &plain[..],
        &["--mechanism", "randomized-response(epsilon=1)", "--full"],
    ]
    .concat();
    let text = stdout(&place.run(&all));
    assert!(
        text.contains("with 95 % confidence. Each log is judged at 99.75 %"),
        "{text}"
    );
}

#[test]
fn verdicts_decide_the_exit_code() {
    let place = two();
    let plain = place.run(&["compare", "half.csv", "two.csv"]);
    assert_eq!(plain.status.code(), Some(0));
    assert!(!stdout(&plain).contains("Verdicts"));
    let one_for_all = ["--mechanism", "randomized-response(epsilon=0.5)"];
    let (report, code) = json(&place, &[&GRID[..3], &one_for_all].concat());
    assert_eq!(code, 1);
    assert_eq!(report["logs"][1]["verdict"], "violated");
    assert_eq!(report["curve"], Value::Null);
    let wide = [&GRID[..], &["--margin", "0.3"]].concat();
    assert_eq!(json(&place, &wide).1, 0);
}

#[test]
fn the_same_logs_give_the_same_bytes_for_any_number_of_threads() {
    let place = two();
    let of = |threads: &str| {
        let all = [&GRID[..], &["--threads", threads, "--format", "json"]].concat();
        place.run(&all).stdout
    };
    assert!(!of("1").is_empty() && of("1") == of("4"));
}

#[test]
fn the_page_has_all_of_the_report() {
    let place = two();
    let arguments = [&GRID[..], &["--full", "--html", "page.html"]].concat();
    let text = stdout(&place.run(&arguments));
    let page = std::fs::read_to_string(place.path().join("page.html")).unwrap();
    let document = roxmltree::Document::parse(page.trim_start_matches("<!DOCTYPE html>")).unwrap();
    let shown: String = document
        .descendants()
        .filter_map(|node| node.text())
        .collect();
    let texts = |tag: &str| {
        let tagged = document
            .descendants()
            .filter(|node| node.tag_name().name() == tag);
        tagged
            .filter_map(|node| node.text().map(str::to_owned))
            .collect::<Vec<_>>()
    };
    assert_eq!(texts("svg").len(), 4);
    for line in text.lines().collect::<Vec<_>>().windows(2) {
        if line[1].starts_with("---") {
            assert!(texts("h2").contains(&line[0].to_owned()), "{line:?}");
        }
    }
    let numbers = text
        .split_whitespace()
        .filter(|word| word.parse::<f64>().is_ok() && word.contains('.'));
    for number in numbers {
        assert!(shown.contains(number), "{number} is not on the page");
    }
    assert!(page.contains("leakgauge compare") && texts("strong") == ["Inconclusive"]);
    // A page is replaced; a log never is.
    assert_eq!(place.run(&arguments).status.code(), Some(3));
    let log = GRID[1];
    place.refuses(
        &[&GRID[..], &["--html", log, "--force"]].concat(),
        &[log, "is an input"],
    );
}

#[test]
fn less_does_not_hide_that_the_second_log_leaks() {
    let place = Place::new()
        .file("before.csv", response(3.0, 1))
        .file("after.csv", response(1.0, 2));
    let run = place.run(&["compare", "before.csv", "after.csv", "--html", "page.html"]);
    assert!(
        run.status.success(),
        "{}",
        String::from_utf8_lossy(&run.stderr)
    );
    let page = std::fs::read_to_string(place.path().join("page.html")).unwrap();
    assert!(!page.contains("<header class=\"holds\">"));
    let headline = "less often in after.csv than in before.csv, but after.csv still leaks";
    assert!(page.contains(headline), "{page}");
    // What changed comes before any section.
    assert!(page.find("<svg").unwrap() < page.find("<h2>").unwrap());
}

#[test]
fn pictures_are_well_formed_and_not_overwritten() {
    let place = two();
    let drawn = [&GRID[..], &["--plots", "out/pictures"]].concat();
    assert_eq!(place.run(&drawn).status.code(), Some(3));
    let names = [
        "compare-total-variation.svg",
        "compare-residuals.svg",
        "compare-vulnerability.svg",
        "compare-differences.svg",
    ];
    let read =
        |name: &str| std::fs::read_to_string(place.path().join("out/pictures").join(name)).unwrap();
    let first: Vec<String> = names.iter().map(|name| read(name)).collect();
    for svg in &first {
        let document = roxmltree::Document::parse(svg).unwrap();
        assert!(
            document
                .root_element()
                .has_tag_name(("http://www.w3.org/2000/svg", "svg"))
        );
        assert!(!svg.contains("NaN"));
    }
    assert!(first[0].contains("epsilon") && first[0].contains("analytic, worst pair"));
    // Its own pictures are replaced, another's only by force.
    assert_eq!(place.run(&drawn).status.code(), Some(3));
    let other = place.path().join("out/pictures/compare-residuals.svg");
    std::fs::write(other, "<svg/>").unwrap();
    place.refuses(
        &drawn,
        &[
            "compare-residuals.svg",
            "not written by leakgauge",
            "--force",
        ],
    );
    let again = [&drawn[..], &["--force"]].concat();
    assert_eq!(place.run(&again).status.code(), Some(3));
    assert!(
        names
            .iter()
            .zip(&first)
            .all(|(name, svg)| read(name) == *svg)
    );
}

#[test]
fn numeric_logs_have_limits_for_the_attack_found_only() {
    let place = Place::new()
        .file("a.csv", log_of("laplace(scale=0.5, secrets=0..2)", 2000, 1))
        .file("b.csv", log_of("laplace(scale=3, secrets=0..2)", 2000, 2))
        .file("c.csv", log_of("laplace(scale=1, secrets=0..2)", 2000, 3));
    let (report, code) = json(
        &place,
        &["compare", "a.csv", "b.csv", "c.csv", "--against", "first"],
    );
    assert_eq!(code, 0);
    let change = &report["differences"][0];
    let attack = &change["attack_vulnerability"]["difference"];
    assert!(attack["lower"].is_number() && attack["upper"].as_f64().unwrap() < 0.0);
    let best = &change["bayes_vulnerability"]["difference"];
    assert!(best["lower"].is_null() && best["upper"].is_null());
    assert!(best["reason"].as_str().unwrap().contains("--resolution"));
    assert_eq!(report["differences"][1]["logs"], serde_json::json!([1, 3]));
    let text = stdout(&place.run(&["compare", "a.csv", "b.csv", "--full"]));
    let of_points = "right less often, by 26 to 39 percentage points";
    assert!(text.contains(of_points), "{text}");
}

#[test]
fn rows_that_depend_on_time_have_limits_too() {
    let place = two();
    let (report, _) = json(
        &place,
        &["compare", "half.csv", "two.csv", "--split", "blocks"],
    );
    let change = &report["differences"][0]["attack_vulnerability"];
    assert_eq!(
        change["difference"]["method"]["lower"],
        "clopper-pearson-effective-rows"
    );
    let truth = |epsilon: f64| epsilon.exp() / (epsilon.exp() + 2.0);
    assert!(encloses(&change["difference"], truth(2.0) - truth(0.5)));
}

#[test]
fn the_pairs_of_a_report_are_bounded() {
    let place = Place::new()
        .file("a.csv", response(1.0, 1))
        .file("b.csv", response(0.2, 2));
    let command = ["compare", "a.csv", "b.csv"];
    let (all, _) = json(&place, &command);
    let (some, _) = json(&place, &[&command[..], &["--pairs", "1"]].concat());
    let [all, some] = [&all, &some].map(|report| &report["differences"][0]);
    let listed = |found: &serde_json::Value| found["pairs"].as_array().unwrap().clone();
    let change = |pair: &serde_json::Value| pair["difference"].as_f64().unwrap().abs();
    let most = listed(all).iter().map(change).fold(0.0, f64::max);
    assert!(all.get("pairs_left_out").is_none());
    assert_eq!(listed(some).len(), 1);
    assert_eq!(change(&listed(some)[0]), most);
    assert_eq!(some["pairs_left_out"], listed(all).len() - 1);
    assert_eq!(some["pair_summary"], all["pair_summary"]);
}

#[test]
fn other_secrets_are_said() {
    let place = Place::new()
        .file("a.csv", response(1.0, 1))
        .file("b.csv", response(1.0, 2).replace("\n2,", "\n<b>new</b>,"));
    let (report, _) = json(&place, &["compare", "a.csv", "b.csv"]);
    let change = &report["differences"][0];
    assert_eq!(change["only_in_earlier"], serde_json::json!(["2"]));
    assert_eq!(change["only_in_later"], serde_json::json!(["<b>new</b>"]));
    assert_eq!(change["pairs"].as_array().unwrap().len(), 1);
    let short = stdout(&place.run(&["compare", "a.csv", "b.csv"]));
    assert!(short.contains("do not have the same secrets"), "{short}");
    let text = stdout(&place.run(&["compare", "a.csv", "b.csv", "--full"]));
    assert!(text.contains("do not have the same secrets"), "{text}");
    assert!(text.contains("Secrets only in b.csv, not in a.csv: <b>new</b>."));
    let markdown = place.run(&["compare", "a.csv", "b.csv", "--format", "markdown"]);
    assert!(stdout(&markdown).contains("&lt;b&gt;new"));
}

#[test]
fn what_cannot_be_compared_is_refused() {
    let place = two();
    place.refuses(&["compare", "half.csv"], &["two logs", "estimate"]);
    place.refuses(&["compare", "-", "-"], &["only once"]);
    place.refuses(
        &["compare", "half.csv", "./half.csv"],
        &["given twice", "audit"],
    );
    place.refuses(
        &["compare", "half.csv", "two.csv", "--fit-on", "-"],
        &["--fit-on", "only once"],
    );
    let with = |mechanisms: &[&str], words: &[&str]| {
        let mut all = vec!["compare", "half.csv", "two.csv"];
        for mechanism in mechanisms {
            all.extend(["--mechanism", mechanism]);
        }
        place.refuses(&all, words);
    };
    with(
        &["randomized-response(epsilon=0.5..4:4)"],
        &["4 mechanisms for 2 logs", "a grid of 2"],
    );
    with(&["ldp(1)"], &["ldp", "promise"]);
    with(
        &["randomised-response(1)"],
        &["did you mean randomized-response?"],
    );
    place.refuses(&["compare", "half.csv", "none.csv"], &["none.csv"]);
    let output = place.run_on(&["compare", "-", "two.csv"], response(1.0, 5));
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let refused = place.run(&["compare", "half.csv", "two.csv", "--plots", "half.csv"]);
    assert_refused(&refused, &["half.csv", "is not a directory"]);
}

/// Runs `compare` and holds what it prints against what every short report must be.
fn short(place: &Place, arguments: &[&str]) -> String {
    let output = place.run(arguments);
    let text = stdout(&output);
    let about = format!("{arguments:?}: {}\n{text}", stderr(&output));
    assert_ne!(output.status.code(), Some(2), "{about}");
    assert!(text.lines().count() <= 25, "{about}");
    for line in text.lines() {
        assert!(line.chars().count() <= 100, "{line}\n{about}");
        assert!(line.trim_end() == line, "{line:?}\n{about}");
    }
    assert!(text.contains("Everything: --full"), "{about}");
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn the_report_is_a_table_and_what_changed() {
    let place = two();
    let text = short(&place, &["compare", "half.csv", "two.csv"]);
    assert!(
        text.starts_with("2 logs: how often the best attack found names the secret"),
        "{text}"
    );
    assert!(
        text.contains("log rows at least estimate at most change at least at most half.csv 3000"),
        "{text}"
    );
    assert!(
        text.contains("From half.csv to two.csv the best attack found is right more often, by "),
        "{text}"
    );
    assert!(text.contains("two.csv leaks: one row tells "), "{text}");
    assert!(
        !text.contains("HOLDS") && !text.contains("INCONCLUSIVE"),
        "{text}"
    );
    // The change in the table is that of the JSON report, in percentage points, rounded outward.
    let (report, _) = json(&place, &["compare", "half.csv", "two.csv"]);
    let change = &report["differences"][0]["attack_vulnerability"]["difference"];
    let row = text.split(" two.csv 3000 ").nth(1).expect("a row");
    let cells: Vec<f64> = row
        .split(' ')
        .take(6)
        .map(|cell| cell.parse().expect("a number"))
        .collect();
    let limit = |key: &str| 100.0 * change[key].as_f64().expect("a limit");
    assert!(
        cells[4] <= limit("lower") && cells[4] > limit("lower") - 1.0,
        "{text}"
    );
    assert!(
        cells[5] >= limit("upper") && cells[5] < limit("upper") + 1.0,
        "{text}"
    );

    let text = short(&place, &GRID);
    assert!(text.contains("at most verdict half.csv"), "{text}");
    assert!(
        text.contains("INCONCLUSIVE") && text.contains("half.csv: randomized-response("),
        "{text}"
    );
}

#[test]
fn the_report_of_many_logs_fits_on_a_screen() {
    let mut place = Place::new();
    let mut arguments = vec!["compare".to_owned()];
    for at in 0..30 {
        let name = format!("a-log-with-a-name-that-is-much-too-long-for-a-table-{at}.csv");
        let epsilon = 3.0 - 0.1 * f64::from(at);
        let csv = log_of(
            &format!("randomized-response(epsilon={epsilon}, secrets=2)"),
            600,
            u64::from(at as u32),
        );
        place = place.file(&name, csv);
        arguments.push(name);
    }
    let all: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let text = short(&place, &[&all[..], &["--quick"]].concat());
    assert!(text.contains("Changes are from the log above."), "{text}");
    assert!(text.contains("more logs: --full"), "{text}");
    // From the first to the last, which no two neighbors in the table are.
    assert!(
        text.contains("-0.csv to ")
            && text.contains("-29.csv the best attack found is right less often"),
        "{text}"
    );
    let law = ["--quick", "--mechanism", "randomized-response(epsilon=1)"];
    let text = short(&place, &[&all[..], &law].concat());
    assert!(
        text.contains("more verdicts: --full") && text.contains("VIOLATED"),
        "{text}"
    );
    let (report, _) = json(&place, &[&all[..4], &["--quick"]].concat());
    assert_eq!(report["first_to_last"]["logs"], serde_json::json!([1, 3]));
    let (report, _) = json(
        &place,
        &[&all[..4], &["--quick", "--against", "first"]].concat(),
    );
    assert!(report.get("first_to_last").is_none());
}
