//! `--scorer given`: the user's own attack, as columns of scores.

use crate::common::{Place, stdout};
use serde_json::Value;

/// Interleaved members and others with a loss, smaller for members, and two scores.
fn losses(rows: usize) -> String {
    let mut text = "id,secret,loss,member,other\n".to_owned();
    for (at, (secret, time)) in crate::common::rows_of(rows).into_iter().enumerate() {
        let (name, other) = if secret == "a" {
            ("in", 1.5 - time)
        } else {
            ("out", 1.0)
        };
        text.push_str(&format!(
            "{at},{name},{:e},{other},{time}\n",
            1e-20 * (9.0 * time).exp()
        ));
    }
    text
}

const ONE: [&str; 6] = [
    "estimate", "log.csv", "--scorer", "given", "--scores", "loss",
];

fn with<'a>(more: &[&'a str]) -> Vec<&'a str> {
    [&ONE[..], more].concat()
}

fn scores<'a>(scores: &'a str, more: &[&'a str]) -> Vec<&'a str> {
    [&ONE[..5], &[scores], more].concat()
}

#[test]
fn one_column_tells_two_secrets_apart_whichever_way_it_points() {
    let place = Place::with_log(losses(4000));
    let found = place.json(&ONE);
    // Two uniform laws half a unit apart: total variation 1/2.
    let advantage = &found["worst_pair"]["total_variation"];
    let (lower, point) = (
        advantage["lower"].as_f64().unwrap(),
        advantage["point"].as_f64().unwrap(),
    );
    assert!(
        0.42 < lower && lower < 0.5 && (point - 0.5).abs() < 0.04,
        "{advantage}"
    );
    assert_eq!(advantage["upper"], Value::Null);
    assert!(advantage["reason"].as_str().unwrap().contains("one attack"));
    assert_eq!(found["method"]["scorer"], "given");
    assert_eq!(
        found["method"]["parameters"]["scores"],
        "smaller for the first secret"
    );
    assert_eq!(
        found["method"]["rows"],
        serde_json::json!({"fit": 0, "tune": 1000, "certify": 3000})
    );
    assert_eq!(found["input"]["observation"]["columns"][0]["name"], "loss");
    assert_eq!(
        found["input"]["observation"]["columns"]
            .as_array()
            .unwrap()
            .len(),
        1
    );
    assert_eq!(found["warnings"], serde_json::json!([]));
    let risk = found["overall"]["bayes_risk"]["point"].as_f64().unwrap();
    assert!((risk - 0.25).abs() < 0.03, "{risk}");
    let assumptions = found["assumptions"].to_string();
    assert!(assumptions.contains("the scores (loss) was not trained"));
    assert!(assumptions.contains("independent runs"));
}

#[test]
fn the_trade_off_has_operating_points_a_curve_a_band_and_what_they_say_of_privacy() {
    let place = Place::with_log(losses(4000));
    let found = &place.json(&ONE)["worst_pair"]["trade_off"];
    let points = found["operating_points"].as_array().unwrap();
    let rates: Vec<f64> = points
        .iter()
        .map(|p| p["false_positive_rate"].as_f64().unwrap())
        .collect();
    assert_eq!(rates, [0.1, 0.01, 0.001, 0.1, 0.01, 0.001]);
    assert_eq!(
        (&points[0]["detects"], &points[0]["against"]),
        (&"in".into(), &"out".into())
    );
    assert_eq!(
        (&points[3]["detects"], &points[3]["against"]),
        (&"out".into(), &"in".into())
    );
    // True positives at rate x: 1/2 + x.
    for point in &points[..2] {
        let (x, rate) = (
            point["false_positive_rate"].as_f64().unwrap(),
            &point["true_positive_rate"],
        );
        let [lower, upper] = ["lower", "upper"].map(|key| rate[key].as_f64().unwrap());
        assert!(lower < 0.5 + x && 0.5 + x < upper, "{point}");
        assert_eq!(rate["method"]["lower"], "order-statistic-clopper-pearson");
    }
    let rare = &points[2]["true_positive_rate"];
    assert_eq!(rare["lower"], Value::Null);
    assert!(
        rare["reason"]
            .as_str()
            .unwrap()
            .contains("at least 4380 rows are needed"),
        "{rare}"
    );
    assert!((found["operating_levels"]["together"].as_f64().unwrap() - 0.7).abs() < 1e-9);
    let [type_1, type_2] = ["type_1", "type_2"].map(|key| found["curve"][key].as_array().unwrap());
    assert_eq!(type_1.len(), type_2.len());
    assert!((100..=220).contains(&type_1.len()));
    assert_eq!((&type_1[0], &type_2[0]), (&0.0.into(), &1.0.into()));
    assert!(found["band"]["type_1_radius"].as_f64().unwrap() < 0.05);
    assert!(found["mu"]["lower"].as_f64().unwrap() > 1.0);
    assert_eq!(found["gaussian_fit"]["method"], "area-under-curve");
    let epsilon = found["epsilon"].as_array().unwrap();
    let deltas: Vec<f64> = epsilon
        .iter()
        .map(|e| e["delta"].as_f64().unwrap())
        .collect();
    assert_eq!(deltas, [0.0, 1e-5, 1e-3, 1e-2]);
    assert!(
        epsilon
            .windows(2)
            .all(|e| e[0]["lower"].as_f64() >= e[1]["lower"].as_f64())
    );
}

#[test]
fn every_audit_has_a_trade_off_and_the_text_shows_it_where_scores_are_given() {
    let place = Place::with_log(losses(1000));
    let plain = ["estimate", "log.csv", "--observe", "loss"];
    let found = place.json(&plain);
    assert!(found["worst_pair"]["trade_off"]["mu"]["lower"].is_number());
    let full = [&plain[..], &["--full"]].concat();
    assert!(!stdout(&place.run(&full)).contains("Trade-off\n"));
    for format in ["text", "markdown"] {
        let text = stdout(&place.run(&with(&["--full", "--format", format])));
        for words in [
            "Trade-off",
            "0.1 %",
            "Gaussian privacy",
            "at delta 0.01",
            "at least 70 %",
        ] {
            assert!(text.contains(words), "{words:?} is not in: {text}");
        }
    }
}

#[test]
fn a_column_for_each_secret_and_claims() {
    let place = Place::with_log(losses(2000));
    let found = place.json(&scores("in=member,out=other", &[]));
    assert_eq!(found["method"]["parameters"]["scores"], "one a secret");
    assert!(
        found["worst_pair"]["total_variation"]["lower"]
            .as_f64()
            .unwrap()
            > 0.3
    );
    // By number, and in the other order.
    let other = place.json(&scores("out=5,in=4", &[]));
    assert!(
        other["worst_pair"]["total_variation"]["lower"]
            .as_f64()
            .unwrap()
            > 0.3
    );
    let claim = |claim: &str| {
        let more = ["--claim", claim, "--design", "many-runs"];
        let all = scores("in=member,out=other", &more);
        place.run(&[&["audit"], &all[1..]].concat()).status.code()
    };
    assert_eq!(claim("advantage(0.2)"), Some(1));
    assert_eq!(claim("attack-advantage(0.7)"), Some(0));
    assert_eq!(claim("ldp(epsilon=0.3)"), Some(1));
    assert_eq!(claim("laplace(scale=2)"), Some(2), "secrets are no numbers");
}

#[test]
fn a_claimed_mechanism_is_not_compared_with_scores_as_if_they_were_its_output() {
    let log = losses(2000).replace("in,", "0,").replace("out,", "1,");
    let place = Place::with_log(log);
    let all = [
        "audit",
        "log.csv",
        "--scorer",
        "given",
        "--scores",
        "loss",
        "--claim",
        "laplace(scale=5)",
    ];
    let output = place.run(&[&all[..], &["--format", "json"]].concat());
    assert_eq!(output.status.code(), Some(1));
    let found: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(found["claims"][0]["fit"]["p_value"], Value::Null);
}

#[test]
fn scores_of_certain_attacks_are_infinite_and_few_integers_are_numbers() {
    let rows = "in,inf\nout,-inf\nin,1e999\nout,0\nin,2\nout,-3\nout,-1\nin,1\n".repeat(50);
    let place = Place::with_log("secret,lira\n".to_owned() + &rows);
    let found = place.json(&[
        "estimate", "log.csv", "--scorer", "given", "--scores", "lira",
    ]);
    assert_eq!(found["input"]["observation"]["kind"], "numeric");
    assert_eq!(found["worst_pair"]["total_variation"]["point"], 1.0);
    assert_eq!(found["worst_pair"]["trade_off"]["curve"]["thresholds"], 8);
}

#[test]
fn headers_files_and_counts_work_as_for_other_logs() {
    let place = Place::with_log("s,n,score\nin,30,0.5\nout,40,0.25\nin,20,0.75\nout,40,0.5\n")
        .file("more.csv", "score,s,n\n0.9,in,50\n0.1,out,20\n");
    let options = [
        "--secret", "s", "--count", "n", "--scorer", "given", "--scores", "score",
    ];
    let found = place.json(&[&["estimate", "log.csv", "more.csv"], &options[..]].concat());
    assert_eq!(found["input"]["rows"], 200);
    // A log to choose on, another to certify on.
    let found = place.json(
        &[
            &["estimate", "log.csv", "--fit-on", "more.csv"],
            &options[..],
        ]
        .concat(),
    );
    assert_eq!(
        found["method"]["rows"],
        serde_json::json!({"fit": 0, "tune": 70, "certify": 130})
    );
    let found = place.json_on(
        &[
            "estimate",
            "-",
            "--no-header",
            "--secret",
            "1",
            "--scorer",
            "given",
            "--scores",
            "2",
        ],
        "in,1\nout,0\n".repeat(20),
    );
    assert_eq!(found["worst_pair"]["total_variation"]["point"], 1.0);
}

#[test]
fn two_rows_are_too_few_for_anything_and_nothing_breaks() {
    let place = Place::with_log("secret,x\na,1\nb,0\n");
    let found = place.json(&["estimate", "log.csv", "--scorer", "given", "--scores", "x"]);
    let trade_off = &found["worst_pair"]["trade_off"];
    assert_eq!(trade_off["mu"]["lower"], 0.0);
    assert_eq!(trade_off["epsilon"][0]["lower"], 0.0);
}

#[test]
fn rows_that_depend_on_each_other_have_no_trade_off() {
    let place = Place::with_log(losses(1000));
    let found = place.json(&with(&["--split", "blocks"]));
    assert_eq!(found["worst_pair"]["trade_off"], Value::Null);
    let reason = found["worst_pair"]["trade_off_reason"].as_str().unwrap();
    assert!(reason.contains("independent rows"), "{reason}");
    let text = stdout(&place.run(&with(&["--split", "blocks", "--full"])));
    assert!(
        text.contains("No trade-off of true and false positives. This limit needs independent"),
        "{text}"
    );
}

#[test]
fn a_secret_that_was_left_out_needs_no_column_and_may_have_one() {
    let log = "secret,x,y,z\n".to_owned() + &"a,1,0,0\nb,0,1,0\nc,0,0,1\n".repeat(30);
    let place = Place::with_log(log);
    let all = |scores, more: &[&'static str]| {
        [
            &[
                "estimate", "log.csv", "--scorer", "given", "--scores", scores,
            ],
            more,
        ]
        .concat()
    };
    let full = place.json(&all("a=x,b=y,c=z", &[]));
    assert_eq!(full["overall"]["bayes_risk"]["point"], 0.0);
    place.json(&all("a=x,b=y,c=z", &["--secrets", "a,b"]));
    place.json(&all("x", &["--secrets", "a,b"]));
    place.refuses(
        &all("x", &[]),
        &[
            "--scores x",
            "two secrets",
            "the log has 3: a, b, c",
            "SECRET=COLUMN",
        ],
    );
    place.refuses(&all("a=x,b=y", &[]), &["secret c has no column of scores"]);
    place.refuses(
        &all("a=x,b=y,d=z", &[]),
        &["--scores d=z", "no such secret", "a, b, c"],
    );
}

#[test]
fn what_cannot_be_read_as_scores_is_refused_with_its_place() {
    for (value, words) in [
        (
            "high",
            &[
                "log.csv, row 3, column loss, value \"high\"",
                "not a number",
            ][..],
        ),
        (
            "NaN",
            &["row 3, column loss, value \"NaN\"", "not a number"],
        ),
        ("", &["row 3, column loss", "blank", "every row"]),
        ("0;5", &["row 3, column loss, value \"0;5\""]),
    ] {
        let place = Place::with_log(format!("secret,loss\nin,0.5\nout,{value}\nin,0.25\n"));
        place.refuses(&ONE, words);
    }
}

#[test]
fn options_that_do_not_go_together_are_refused() {
    let place = Place::with_log(losses(60));
    let estimate = ["estimate", "log.csv"];
    let refuses = |more: &[&str], words: &[&str]| place.refuses(&[&estimate, more].concat(), words);
    refuses(
        &["--scorer", "given"],
        &["--scorer given", "--scores COLUMN"],
    );
    let implied = place.run(&[&estimate[..], &["--scores", "loss"]].concat());
    assert!(implied.status.success(), "--scores implies the scorer");
    refuses(
        &["--scorer", "knn", "--scores", "loss"],
        &["--scores", "add --scorer given"],
    );
    place.refuses(
        &with(&["--resolution", "loss=1"]),
        &["--resolution", "--scores"],
    );
    place.refuses(&with(&["--observe", "loss"]), &["--observe", "--scores"]);
    place.refuses(
        &with(&["--categorical", "loss"]),
        &["--categorical", "--scores"],
    );
    place.refuses(
        &scores("lost", &[]),
        &["--scores lost", "no such column", "did you mean `loss`?"],
    );
    place.refuses(
        &scores("in=lost,out=other", &[]),
        &["--scores lost", "no such column"],
    );
    place.refuses(&scores("secret", &[]), &["column secret", "two parts"]);
    place.refuses(&scores("", &[]), &["--scores", "COLUMN"]);
    place.refuses(
        &scores("loss,other", &[]),
        &["--scores loss,other", "SECRET=COLUMN"],
    );
    place.refuses(&scores("in=loss,other", &[]), &["SECRET=COLUMN"]);
    place.refuses(&scores("in=loss,out=loss", &[]), &["loss is named twice"]);
    place.refuses(&scores("in=loss,in=other", &[]), &["in is named twice"]);
    place.refuses(
        &scores("in=loss,uot=other", &[]),
        &["uot=other", "no such secret", "did you mean `out`?"],
    );
}
