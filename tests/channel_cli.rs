//! `leakgauge channel` as a user runs it.

use std::io::Write;
use std::path::PathBuf;
use std::process::Output;

use crate::common::check_schema;
use assert_cmd::Command;
use flate2::{Compression, write::GzEncoder};
use serde_json::Value;
use tempfile::TempDir;

struct Files(TempDir);

impl Files {
    fn new() -> Self {
        Files(TempDir::new().unwrap())
    }

    fn write(&self, name: &str, text: &str) -> String {
        let path: PathBuf = self.0.path().join(name);
        std::fs::write(&path, text).unwrap();
        path.to_str().unwrap().to_owned()
    }
}

fn run(arguments: &[&str]) -> Output {
    let mut command = Command::cargo_bin("leakgauge").unwrap();
    let output = command.arg("channel").args(arguments).output().unwrap();
    check_schema(&[&["channel"], arguments].concat(), &output);
    output
}

fn json(arguments: &[&str]) -> Value {
    let output = run(&[arguments, &["--format", "json"]].concat());
    let message = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{message}");
    assert!(output.stderr.is_empty(), "{message}");
    serde_json::from_slice(&output.stdout).unwrap()
}

fn refusal(arguments: &[&str]) -> String {
    let output = run(arguments);
    let message = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{arguments:?}: {message}");
    assert!(output.stdout.is_empty());
    message
}

fn close(value: &Value, expected: f64) -> bool {
    let value = value.as_f64().unwrap_or(f64::NAN);
    (value - expected).abs() <= 1e-12 * expected.abs().max(1e-300)
}

const THREE: &str = "secret,x,y,z\na,0.9,0.1,0\nb,0.5,0.5,0\nc,0.5,0.1,0.4\n";

#[test]
fn the_json_has_the_promised_keys_with_plain_numbers() {
    let files = Files::new();
    let matrix = files.write("m.csv", THREE);
    let found = json(&[&matrix]);
    assert_eq!(found["schema_version"], 1);
    assert_eq!(found["secrets"], serde_json::json!(["a", "b", "c"]));
    assert_eq!(
        found["worst_pair"]["secrets"],
        serde_json::json!(["a", "b"])
    );
    let expected = [
        ("bayes_security", 0.6),
        ("total_variation", 0.4),
        ("guessing_error", 2.0 / 3.0),
        ("bayes_risk", 1.2 / 3.0),
        ("risk_leakage", 0.6),
        ("vulnerability", 0.6),
        ("multiplicative_leakage", 1.8),
        ("additive_leakage", 0.6 - 1.0 / 3.0),
        ("min_entropy_leakage", 1.8f64.ln()),
        ("capacity", 1.8),
    ];
    for (key, value) in expected {
        assert!(close(&found[key], value), "{key}: {}", found[key]);
    }
    assert!(found["epsilon"].is_null());
    assert!(found["mutual_information"].as_f64().unwrap() > 0.0);
    assert_eq!(found["search"]["pairs"], 3);
    assert_eq!(found["input"][0]["header"], true);
}

#[test]
fn priors_repetition_and_several_epsilons() {
    let files = Files::new();
    let matrix = files.write("m.csv", THREE);
    let by_label = json(&[&matrix, "--prior", "b=0.25,a=0.75"]);
    let by_order = json(&[&matrix, "--prior", "0.75,0.25,0"]);
    assert_eq!(by_label, by_order);
    assert!(close(&by_label["bayes_risk"], 0.2));
    let fair = files.write("rr.csv", "0.75,0.25\n0.25,0.75\n");
    let found = json(&[&fair, "--repeat", "3", "--epsilon", "0,1", "--pair", "1,2"]);
    // The bits that a majority of three gets wrong: 0.25³ + 3·0.25²·0.75.
    assert!(close(&found["bayes_security"], 0.3125));
    assert!(close(&found["epsilon"], 3.0 * 3f64.ln()));
    assert!(close(&found["deltas"][0]["delta"], 0.6875));
    assert!(close(
        &found["composition"]["guaranteed_bayes_security"],
        0.125
    ));
    assert_eq!(found["composition"]["tight"], false);
    let curve = found["pair"]["trade_off"]["points"].as_array().unwrap();
    assert_eq!(curve.len(), 5);
    let infinite = json(&[&matrix]);
    assert!(infinite["worst_pair"].get("epsilon").is_some());
}

#[test]
fn compositions_say_whether_the_guarantee_is_tight() {
    let files = Files::new();
    let tight = files.write("t.csv", "0.4,0.6\n0,1\n");
    let found = json(&[&tight, &tight, "--compose", "parallel"]);
    assert!(close(&found["bayes_security"], 0.36));
    assert_eq!(found["composition"]["tight"], true);
    assert_eq!(found["composition"]["kind"], "parallel");
    let through = json(&[&tight, &tight, "--compose", "cascade"]);
    assert!(close(&through["bayes_security"], 0.84));
    assert_eq!(through["observations"], 2);
}

#[test]
fn gains_and_losses_from_files() {
    let files = Files::new();
    let matrix = files.write("m.csv", THREE);
    let identity = files.write("g.csv", "1,0,0\n0,1,0\n0,0,1\n");
    let gain = json(&[&matrix, "--gain", &identity]);
    assert!(close(&gain["gain"]["vulnerability"], 0.6));
    assert!(close(&gain["gain"]["multiplicative_leakage"], 1.8));
    let wrong = files.write("l.csv", "guess,c,b,a\na,1,1,0\nb,1,0,1\nc,0,1,1\n");
    let loss = json(&[&matrix, "--loss", &wrong]);
    assert!(close(&loss["loss"]["risk"], 0.4));
    assert!(close(&loss["loss"]["risk_leakage"], 0.6));
}

#[test]
fn standard_input_gzip_normalization_and_other_formats() {
    let files = Files::new();
    let mut packed = GzEncoder::new(Vec::new(), Compression::fast());
    packed.write_all(b"a\t9\t1\nb\t1\t1\n").unwrap();
    let mut command = Command::cargo_bin("leakgauge").unwrap();
    let arguments = ["channel", "-", "--normalize", "--format", "json"];
    let command = command
        .args(arguments)
        .write_stdin(packed.finish().unwrap());
    let output = command.output().unwrap();
    check_schema(&arguments, &output);
    let found: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert!(close(&found["bayes_security"], 0.6));
    assert_eq!(found["input"][0]["normalized_rows"], 2);
    let matrix = files.write("m.csv", THREE);
    let text = String::from_utf8(run(&[&matrix]).stdout).unwrap();
    assert!(text.contains("a and b are the worst pair"), "{text}");
    let markdown = run(&[
        &matrix,
        "--format",
        "markdown",
        "--epsilon",
        "1",
        "--pair",
        "a,c",
    ]);
    let markdown = String::from_utf8(markdown.stdout).unwrap();
    assert!(
        markdown.contains("## Distinguishing a from c"),
        "{markdown}"
    );
}

#[test]
fn the_bytes_do_not_depend_on_threads_and_methods_agree() {
    let files = Files::new();
    let row = |s: u32| -> String {
        let entry = |o: u32| (1 + (s * 7919 + o * o * 31 + s * o * 17) % 97).to_string();
        let fields: Vec<String> = (0..40).map(entry).collect();
        fields.join(",")
    };
    let rows: Vec<String> = (0..260).map(row).collect();
    let matrix = files.write("m.csv", &rows.join("\n"));
    let with = |more: &[&str]| {
        let fixed = [
            matrix.as_str(),
            "--normalize",
            "--no-labels",
            "--format",
            "json",
        ];
        run(&[&fixed, more].concat()).stdout
    };
    assert_eq!(with(&["--threads", "1"]), with(&["--threads", "5"]));
    let figures = |method: &str| {
        let found: Value = serde_json::from_slice(&with(&["--method", method])).unwrap();
        (found["bayes_security"].clone(), found["worst_pair"].clone())
    };
    assert_eq!(figures("direct"), figures("pruned"));
    assert_eq!(figures("direct"), figures("auto"));
}

#[test]
fn wrong_matrices_are_refused_with_row_and_sum() {
    let files = Files::new();
    let cases = [
        (
            "a,0.5,0.5\nb,0.5,0.4\n",
            vec!["row 2", "0.9", "--normalize"],
        ),
        ("0.5,0.5\n1.5,-0.5\n", vec!["row 2", "-0.5", "negative"]),
        ("x,y\n0.5,0.5\nNaN,1\n", vec!["row 3", "column x", "NaN"]),
        ("0.5,0.5\n1\n", vec!["row 2", "1 fields"]),
        ("0.5,0.5\n0.5,inf\n", vec!["row 2", "inf"]),
        ("0.5,0.5\n0.5,zero\n", vec!["zero"]),
        ("0.5,0.5\n", vec!["one row"]),
        ("", vec!["is empty"]),
        ("x,y\n", vec!["no rows"]),
        ("a,0.5,0.5\na,0.5,0.5\n", vec!["secret a", "two rows"]),
        ("0,0\n1,0\n", vec!["row 1", "sum to 0"]),
    ];
    for (text, parts) in cases {
        let matrix = files.write("m.csv", text);
        let message = refusal(&[&matrix]);
        assert!(message.contains("m.csv"), "{message}");
        for part in parts {
            assert!(message.contains(part), "{text:?}: {message}");
        }
    }
    assert!(refusal(&["/nowhere/m.csv"]).contains("no such file"));
}

#[test]
fn options_that_do_not_fit_are_refused() {
    let files = Files::new();
    let matrix = files.write("m.csv", THREE);
    let two = files.write("two.csv", "0.5,0.5\n0.1,0.9\n");
    let wide = files.write("wide.csv", "1,0\n0,1\n");
    let cases: [(&[&str], &str); 15] = [
        (&[&matrix, "--prior", "0.5,0.5"], "2 entries for 3 secrets"),
        (&[&matrix, "--prior", "0.5,0.5,0.5"], "sum to 1.5"),
        (&[&matrix, "--prior", "1.5,-0.5,0"], "-0.5"),
        (&[&matrix, "--prior", "a=1,q=0"], "not a secret"),
        (&[&matrix, &two], "--compose"),
        (
            &[&matrix, &two, "--compose", "parallel"],
            "3 secrets, the second 2",
        ),
        (
            &[&matrix, &two, "--compose", "cascade"],
            "3 observations, the second 2 secrets",
        ),
        (&[&matrix, "--gain", &wide], "2 columns for 3 secrets"),
        (&[&matrix, "--loss", &wide], "2 columns for 3 secrets"),
        (&[&matrix, "--epsilon", "-1"], "negative"),
        (&[&matrix, "--epsilon", "NaN"], "negative"),
        (&[&matrix, "--pair", "a"], "two secrets"),
        (&[&matrix, "--pair", "a,a"], "two different"),
        (&[&matrix, "--repeat", "0"], "at least 1"),
        (&[&matrix, "--repeat", "18446744073709551615"], "memory"),
    ];
    for (arguments, part) in cases {
        let message = refusal(arguments);
        assert!(message.contains(part), "{arguments:?}: {message}");
    }
}

#[test]
fn the_leakage_family_of_chosen_orders_and_guesses() {
    let files = Files::new();
    let matrix = files.write("m.csv", "s,x,y\na,0.75,0.25\nb,0.5,0.5\n");
    let options = ["--at-order", "1,2,inf", "--tries", "1,2"];
    let found = json(&[&[matrix.as_str()], &options[..]].concat());
    let family = &found["leakage_family"];
    assert!(close(&family["maximal_leakage"], 1.25f64.ln()));
    assert!(close(&family["guesswork"], 0.375 + 0.25 + 2.0 * 0.375));
    assert_eq!(family["most_leaking_observation"], "y");
    assert!(close(
        &family["largest_pointwise_leakage"],
        (0.5f64 / 0.375).ln()
    ));
    assert!(close(&family["tries"][0]["vulnerability"], 0.625));
    assert!(close(&family["tries"][1]["vulnerability"], 1.0));
    // I_2 = 2 ln(√(½(0.75² + 0.5²)) + √(½(0.25² + 0.5²))).
    let sum = 0.40625f64.sqrt() + 0.15625f64.sqrt();
    assert!(close(
        &family["orders"][1]["sibson_information"],
        2.0 * sum.ln()
    ));
    assert!(family["orders"][2]["order"].is_null());
    let text = String::from_utf8(run(&[&[matrix.as_str()], &options[..]].concat()).stdout).unwrap();
    assert!(text.contains("one of 2 guesses is right"), "{text}");
    assert!(text.contains("order infinity"), "{text}");
    assert!(refusal(&[&matrix, "--at-order", "0"]).contains("--at-order 0"));
    assert!(refusal(&[&matrix, "--tries", "0"]).contains("at least 1"));
}

#[test]
fn a_channel_refines_what_it_can_be_computed_from() {
    let datasets = |name: &str| format!("datasets({name}, values=2, people=3, keep=0.75)");
    let relation = |a: &str, b: &str| {
        let found = json(&[&datasets(a), "--refines", &datasets(b)]);
        let part = |key: &str| found["refinement"][key].as_bool().unwrap();
        assert_eq!(part("equivalent"), part("refines") && part("refined_by"));
        (part("refines"), part("refined_by"))
    };
    assert_eq!(relation("NS", "SN"), (true, true));
    assert_eq!(relation("NSr", "SrNr"), (true, true));
    assert_eq!(relation("NS", "N"), (true, false));
    assert_eq!(relation("S", "NS"), (false, true));
    let text = run(&[&datasets("NS"), "--refines", &datasets("SN")]).stdout;
    assert!(String::from_utf8(text).unwrap().contains("are equivalent"));
    assert!(refusal(&["datasets(X, values=2, people=3)"]).contains("channel must be"));
}

/// The deficiencies 13/140 and 1/5 are those of scipy's linprog for the same two matrices.
#[test]
fn a_failed_refinement_names_a_prior_and_a_gain_that_show_it() {
    let files = Files::new();
    let few = files.write("few.csv", "secret,u,v\na,0.8,0.2\nb,0.3,0.7\nc,0.3,0.7\n");
    let more = files.write("more.csv", THREE);
    for (one, other, deficiency) in [(&few, &more, 13.0 / 140.0), (&more, &few, 0.2)] {
        let found = json(&[one, "--refines", other]);
        let witness = &found["refinement"]["witness"];
        // What the program says of both channels at this prior under this gain.
        let numbers = |row: &Value| {
            let row = row.as_array().unwrap().iter();
            row.map(|x| x.as_f64().unwrap().to_string())
                .collect::<Vec<String>>()
                .join(",")
        };
        let guesses = witness["gain"].as_array().unwrap().iter().enumerate();
        let guesses = guesses.map(|(at, row)| format!("g{at},{}\n", numbers(row)));
        let gain = format!("guess,a,b,c\n{}", guesses.collect::<String>());
        let gain = files.write("gain.csv", &gain);
        let prior = numbers(&witness["prior"]);
        for (matrix, key) in [(one, "vulnerability"), (other, "other_vulnerability")] {
            let under = json(&[matrix, "--prior", &prior, "--gain", &gain]);
            let expected = witness[key].as_f64().unwrap();
            assert!(close(&under["gain"]["vulnerability"], expected));
        }
        assert!(close(&found["refinement"]["deficiency"], deficiency));
        let of = |key: &str| witness[key].as_f64().unwrap();
        let difference = of("vulnerability") - of("other_vulnerability");
        assert!(difference > 0.99 * deficiency && difference < deficiency + 1e-12);
        let text = String::from_utf8(run(&[one, "--refines", other]).stdout).unwrap();
        assert!(text.contains("Where the channel leaks more than"), "{text}");
    }
    let found = json(&[
        "datasets(NS, values=2, people=3, keep=0.75)",
        "--refines",
        "datasets(N, values=2, people=3, keep=0.75)",
    ]);
    assert!(found["refinement"]["witness"].is_null());
}

/// 0.149333… is the largest of scipy's linear programs over priors, one for each strategy of the attacker.
#[test]
fn the_additive_capacity_is_the_largest_leakage_over_all_priors() {
    let files = Files::new();
    let matrix = "secret,x,y,z\na,0.5,0.3,0.2\nb,0.1,0.6,0.3\nc,0.25,0.25,0.5\n";
    let matrix = files.write("m.csv", matrix);
    let gain = "guess,a,b,c\n1,1,0,0.2\n2,0.3,0.8,0\n3,0,0.1,0.9\n4,0.5,0.4,0.45\n";
    let gain = files.write("gain.csv", gain);
    let found = json(&[&matrix, "--gain", &gain, "--capacity"]);
    let capacity = &found["additive_capacity"];
    let [lower, upper] = ["lower", "upper"].map(|key| capacity[key].as_f64().unwrap());
    let expected = 0.149_333_333_333_333_2;
    assert!(lower <= expected + 1e-15 && upper >= expected && upper - lower < 1e-9);
    // Noise on the line: ½ (2 Φ(½) − 1) of two secrets one apart, on both sides.
    let found = json(&["gaussian(sigma=1, secrets=2)", "--capacity"]);
    let capacity = &found["additive_capacity"];
    let exact = 0.191_462_461_274_013_1;
    assert!(capacity["lower"].as_f64().unwrap() <= exact + 1e-15);
    assert!(capacity["upper"].as_f64().unwrap() >= exact - 1e-15);
    assert!(capacity["upper"].as_f64().unwrap() < exact + 1e-3);
    let counted = refusal(&["rappor(epsilon=1, secrets=100)", "--capacity"]);
    assert!(counted.contains("--capacity"), "{counted}");
}

#[test]
fn a_property_of_the_secret_has_figures_of_its_own() {
    let files = Files::new();
    let matrix = files.write("m.csv", THREE);
    let found = json(&[&matrix, "--property", "a,b|c", "--prior", "0.25,0.25,0.5"]);
    assert_eq!(found["property"]["values"], serde_json::json!(["a,b", "c"]));
    // x: 0.35 against 0.25; y: 0.15 against 0.05; z: 0 against 0.2.
    assert!(close(&found["property"]["vulnerability"], 0.7));
    assert!(close(&found["property"]["additive_leakage"], 0.2));
    let file = files.write("age.csv", "secret,age\nc,old\na,young\nb,young\n");
    let again = json(&[&matrix, "--property", &file, "--prior", "0.25,0.25,0.5"]);
    assert!(close(&again["property"]["vulnerability"], 0.7));
    let text = String::from_utf8(run(&[&matrix, "--property", "a,b|c"]).stdout).unwrap();
    assert!(text.contains("The property"), "{text}");
    assert!(refusal(&[&matrix, "--property", "a|b"]).contains("no value for the secret c"));
    assert!(refusal(&[&matrix, "--property", "a,b,c"]).contains("at least two values"));
    let noise = json(&["laplace(scale=1, secrets=3)", "--property", "0,1|2"]);
    let side = |of: &Value| of["property"]["vulnerability"].as_f64().unwrap();
    assert!(
        side(&noise["at_least"]) <= side(&noise) && side(&noise) - side(&noise["at_least"]) < 1e-3
    );
}

#[test]
fn leakage_about_a_correlated_variable_and_what_is_known_after_the_observation() {
    let files = Files::new();
    let matrix = files.write("m.csv", THREE);
    let given = files.write("given.csv", "other,a,b,c\np,0.75,0.4,0.1\nq,0.25,0.6,0.9\n");
    let gain = files.write("gain.csv", "guess,p,q\n1,2,0\n2,0,1\n");
    let options = ["--prior", "0.25,0.25,0.5", "--gain", &gain];
    let found = json(&[&[matrix.as_str(), "--correlation", &given], &options[..]].concat());
    // P(z, s): p 0.1875, 0.1, 0.05; q 0.0625, 0.15, 0.45.
    let p: [f64; 3] = [0.1875 * 0.9 + 0.05 + 0.025, 0.01875 + 0.05 + 0.005, 0.02];
    let q: [f64; 3] = [0.05625 + 0.075 + 0.225, 0.00625 + 0.075 + 0.045, 0.18];
    let best: f64 = (0..3).map(|o| p[o].max(q[o])).sum();
    let doubled: f64 = (0..3).map(|o| (2.0 * p[o]).max(q[o])).sum();
    let about = &found["correlated"];
    assert!(
        close(&about["vulnerability"], best) && close(&about["gain"]["vulnerability"], doubled)
    );
    assert!(found.get("gain").is_none());
    let rows = files.write("rows.csv", "other,a,b,c\np,0.5,0.3,0.2\nq,0.25,0.25,0.5\n");
    let refused = refusal(&[&matrix, "--correlation", &rows]);
    assert!(refused.contains("every column sums to 1"), "{refused}");

    let found = json(&[&matrix, "--hyper"]);
    let inners = found["hyper"].as_array().unwrap();
    assert_eq!(inners.len(), 3);
    assert!(close(&inners[0]["probability"], 1.9 / 3.0));
    assert!(close(&inners[0]["posterior"][0], 0.9 / 1.9));
    let text = String::from_utf8(run(&[&matrix, "--hyper"]).stdout).unwrap();
    assert!(text.contains("After the observation"), "{text}");
    assert!(refusal(&["gaussian(sigma=1, secrets=2)", "--hyper"]).contains("--hyper"));
}

#[test]
fn reconstruction_orders_and_profile_of_the_worst_ordered_pair() {
    let channel = "randomized-response(epsilon=1, secrets=4)";
    let options = ["--reconstruction", "0.05", "--profile", "--at-order", "2"];
    let found = json(&[&[channel], &options[..]].concat());
    assert!(close(
        &found["reconstruction"][0]["success"],
        0.05 * 1f64.exp()
    ));
    let divergence = &found["leakage_family"]["orders"][0]["renyi_divergence"];
    assert!((divergence.as_f64().unwrap() - 0.534_309_988_946_879).abs() < 1e-12);
    assert!((found["profile"]["gdp_mu"].as_f64().unwrap() - 0.873_278_476_310_427_4).abs() < 1e-9);
    assert!(refusal(&[channel, "--reconstruction", "1.5"]).contains("--reconstruction 1.5"));
}

#[test]
fn capacities_of_parts_bound_that_of_the_composition() {
    let files = Files::new();
    let matrix = files.write("m.csv", "s,x,y\na,0.75,0.25\nb,0.5,0.5\n");
    let both = json(&[&matrix, &matrix, "--compose", "parallel"]);
    assert!(close(&both["composition"]["guaranteed_capacity"], 1.5625));
    assert!(both["capacity"].as_f64().unwrap() <= 1.5625);
    // The observations of the first are the secrets of the second, by their names.
    let then = files.write("n.csv", "s,x,y\nx,0.75,0.25\ny,0.5,0.5\n");
    let chain = json(&[&matrix, &then, "--compose", "cascade"]);
    assert!(close(&chain["composition"]["guaranteed_capacity"], 1.25));
    // Theorem 7: two of three secrets are left, and told apart.
    let three = files.write("t.csv", "s,x,y\na,1,0\nb,0,1\nc,0.5,0.5\n");
    let found = json(&[&three, "--prior", "0.5,0.5,0"]);
    let most = found["bayes_risk_bounds"]["uniform_risk_leakage_at_most"]
        .as_f64()
        .unwrap();
    let uniform = json(&[&three])["risk_leakage"].as_f64().unwrap();
    assert!((most - 0.5).abs() < 1e-15 && uniform <= most + 1e-15);
}

/// Noise on the line has two sides; the values between them are by quadrature of the densities (mpmath 1.3).
#[test]
fn noise_on_the_line_has_two_sides() {
    let found = json(&["laplace(scale=1, secrets=3)", "--prior", "0.5,0.3,0.2"]);
    assert_eq!(found["input"][0]["form"], "between");
    for (key, expected) in [
        ("mutual_information", 0.178_339_186_591_823),
        ("vulnerability", 0.616_522_622_631_916),
        ("bayes_risk", 0.383_477_377_368_084),
    ] {
        let sides = [&found[key], &found["at_least"][key]].map(|side| side.as_f64().unwrap());
        let (low, high) = (sides[0].min(sides[1]), sides[0].max(sides[1]));
        assert!(
            low <= expected + 1e-14 && expected <= high + 1e-14 && high - low < 1e-6,
            "{key}: {sides:?}"
        );
    }
    assert!(close(&found["bayes_security"], (-1f64).exp()));
    assert!(close(&found["epsilon"], 2.0));
    let output = run(&["gaussian(sigma=1, secrets=2)"]);
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(
        text.contains("at least") && text.contains("infinitely many observations"),
        "{text}"
    );
}

/// Mutual information of 100 labels, summed over the numbers of bits that are 1 with 40 digits (mpmath 1.3).
const RAPPOR: f64 = 0.121_182_538_169_800_15;

#[test]
fn observations_that_are_too_many_to_list_are_counted() {
    let found = json(&["rappor(epsilon=1, secrets=100)"]);
    assert_eq!(found["input"][0]["form"], "counted");
    assert!(close(&found["mutual_information"], RAPPOR));
    assert!(close(&found["shannon_capacity"]["upper"], RAPPOR));
    assert!(close(&found["capacity"], 0.5f64.exp()));
    let prior = format!("0.02,0{}", ",0.01".repeat(98));
    let message = refusal(&["rappor(epsilon=1, secrets=100)", "--prior", &prior]);
    assert!(
        message.contains("--prior does not treat them so"),
        "{message}"
    );
}
