//! `--neighbors`: claims of privacy are judged on some pairs of secrets alone.

use crate::common::{Place, stdout};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use serde_json::Value;

/// Laplace noise of scale 1 on 0 and 1, and on 10 and 11: two pairs of neighboring inputs, each with ε = 1 exactly.
fn two_pairs(rows: usize) -> String {
    let mut rng = ChaCha8Rng::seed_from_u64(5);
    let mut text = "secret,answer\n".to_owned();
    for _ in 0..rows {
        let secret = [0, 1, 10, 11][rng.random_range(0..4usize)];
        let u: f64 = rng.random::<f64>() - 0.5;
        let noise = -u.signum() * (1.0 - 2.0 * u.abs()).ln();
        text.push_str(&format!("{secret},{:.4}\n", f64::from(secret) + noise));
    }
    text
}

fn audit(place: &Place, more: &[&str]) -> (i32, Value) {
    let mut arguments = vec!["audit", "log.csv", "--quick", "--format", "json"];
    arguments.extend(more);
    let output = place.run(&arguments);
    let code = output.status.code().expect("it ends by itself");
    (
        code,
        serde_json::from_slice(&output.stdout).expect("JSON on standard output"),
    )
}

#[test]
fn pairs_that_are_no_neighbors_refute_nothing() {
    let place = Place::with_log(two_pairs(8_000)).file("pairs.csv", "0,1\n11,10\n");
    let claims = [
        "--claim",
        "dp(epsilon=1.05)",
        "--claim",
        "dp(epsilon=1.05, delta=1e-3)",
        "--claim",
        "gdp(mu=1.3)",
        "--claim",
        "zcdp(rho=0.6)",
    ];
    let (code, found) = audit(&place, &claims);
    assert_eq!(code, 1);
    let verdicts = |found: &Value| -> Vec<String> {
        let claims = found["claims"].as_array().expect("claims").iter();
        claims
            .map(|claim| claim["verdict"].as_str().expect("a verdict").to_owned())
            .collect()
    };
    assert_eq!(verdicts(&found), ["violated"; 4]);
    assert!(found.get("neighbors").is_none());

    let all = [&claims[..], &["--neighbors", "0:1,10:11"]].concat();
    let (code, listed) = audit(&place, &all);
    assert_eq!(code, 3);
    assert_eq!(verdicts(&listed), ["inconclusive"; 4]);
    assert_eq!(
        listed["neighbors"],
        serde_json::json!([["0", "1"], ["10", "11"]])
    );
    for claim in listed["claims"].as_array().expect("claims") {
        let pair = &claim["pair"];
        assert!(
            listed["neighbors"]
                .as_array()
                .expect("pairs")
                .contains(pair),
            "{pair}"
        );
        let reason = claim["reason"].as_str().expect("a reason");
        assert!(
            reason.contains("2 pairs of neighbors alone, of the 6 of the log (--neighbors)"),
            "{reason}"
        );
    }
    // What is not about neighbors stays as it was, but for the level: claims read limits at other pairs than the ε of all
    // pairs, which has a share of its own.
    let pairs = |found: &Value| found["pairs"].as_array().expect("pairs").clone();
    for (listed, all) in pairs(&listed).iter().zip(&pairs(&found)) {
        let (listed, all) = (&listed["total_variation"], &all["total_variation"]);
        assert_eq!(listed["point"], all["point"]);
        let lower = |figure: &Value| figure["lower"].as_f64().expect("a limit");
        assert!((lower(listed) - lower(all)).abs() < 1e-3, "{listed} {all}");
    }

    let file = [&claims[..], &["--neighbors-file", "pairs.csv"]].concat();
    assert_eq!(audit(&place, &file).1["claims"], listed["claims"]);
}

/// ε = 0.7 is claimed where 1 is needed: the wrong claim is found on neighbors too.
#[test]
fn a_wrong_claim_is_refuted_on_neighbors() {
    let place = Place::with_log(two_pairs(40_000));
    let claim = ["--claim", "dp(epsilon=0.7)", "--neighbors", "0:1,10:11"];
    let (code, found) = audit(&place, &claim);
    assert_eq!(code, 1, "{}", found["claims"]);
}

/// Discrete laws that are told apart everywhere but at the neighbors: the proof of (ε, δ) looks at those alone.
#[test]
fn a_claim_is_proved_on_neighbors_alone() {
    let mut text = "secret,seen,n\n".to_owned();
    for (secret, seen, n) in [
        ("a", "x", 5_000),
        ("a", "y", 5_000),
        ("b", "x", 5_100),
        ("b", "y", 4_900),
        ("c", "z", 10_000),
    ] {
        text.push_str(&format!("{secret},{seen},{n}\n"));
    }
    let place = Place::with_log(text);
    let claim = ["--count", "n", "--claim", "dp(epsilon=0.5, delta=0.05)"];
    assert_eq!(audit(&place, &claim).0, 1);
    let listed = [&claim[..], &["--neighbors", "b:a"]].concat();
    let (code, found) = audit(&place, &listed);
    assert_eq!(code, 0, "{}", found["claims"]);
}

#[test]
fn the_report_says_which_pairs_were_judged() {
    let place = Place::with_log(two_pairs(2_000));
    let output = place.run(&[
        "audit",
        "log.csv",
        "--quick",
        "--full",
        "--claim",
        "dp(epsilon=1)",
        "--neighbors",
        "0:1,10:11",
    ]);
    let text = stdout(&output).replace('\n', " ");
    for words in ["2 pairs of neighbors", "pairs of --neighbors were chosen"] {
        assert!(text.contains(words), "{text}");
    }
}

#[test]
fn neighbors_that_cannot_be_are_refused() {
    let place = Place::with_log(two_pairs(400))
        .file("empty.csv", "")
        .file("three.csv", "0,1,10\n")
        .file("none.csv", "0,z\n");
    let refuses = |more: &[&str], words: &[&str]| {
        let arguments = [&["audit", "log.csv", "--claim", "dp(epsilon=1)"], more].concat();
        place.refuses(&arguments, words);
    };
    refuses(
        &["--neighbors", "0:7"],
        &["neighbors 0:7", "no secret \"7\"", "0, 1, 10, 11"],
    );
    refuses(&["--neighbors", "0:0"], &["not its own neighbor"]);
    refuses(&["--neighbors", "0-1"], &["A:B", "--neighbors-file FILE"]);
    refuses(
        &["--neighbors", "0:10", "--secrets", "0,1"],
        &["--secrets leaves out"],
    );
    refuses(&["--neighbors-file", "empty.csv"], &["no pair"]);
    refuses(
        &["--neighbors-file", "three.csv"],
        &["row 1", "3 fields, not two"],
    );
    refuses(&["--neighbors-file", "none.csv"], &["no secret \"z\""]);
    refuses(&["--neighbors-file", "absent.csv"], &["absent.csv"]);
    refuses(&["--neighbors", "0:1", "--follow"], &["--neighbors"]);
    place.refuses(
        &[
            "audit",
            "log.csv",
            "--claim",
            "advantage(0.9)",
            "--neighbors",
            "0:1",
        ],
        &["--neighbors", "no claim is about neighbors"],
    );
}
