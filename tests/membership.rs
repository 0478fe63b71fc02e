//! Members and others: tables of answers, and the canaries of one training run.

use crate::common::{Place, stdout};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use serde_json::Value;

/// Canaries included by fair coins, with scores N(μ, 1) if they were and N(0, 1) if not.
fn canaries(rows: usize, mu: f64, seed: u64) -> String {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let mut text = "secret,score\n".to_owned();
    for _ in 0..rows {
        let is_in = rng.random_bool(0.5);
        let (u, v): (f64, f64) = (rng.random_range(1e-12..1.0), rng.random());
        let noise = (-2.0 * u.ln()).sqrt() * (std::f64::consts::TAU * v).cos();
        let label = if is_in { "in" } else { "out" };
        let score = noise + if is_in { mu } else { 0.0 };
        text.push_str(&format!("{label},{score:.6}\n"));
    }
    text
}

fn json(place: &Place, arguments: &[&str]) -> (i32, Value) {
    let output = place.run(&[arguments, &["--format", "json"]].concat());
    let code = output.status.code().expect("it ends by itself");
    let found = serde_json::from_slice(&output.stdout);
    (
        code,
        found.unwrap_or_else(|_| panic!("{}", crate::common::stderr(&output))),
    )
}

const ONE_RUN: [&str; 8] = [
    "audit", "log.csv", "--scorer", "given", "--scores", "score", "--design", "one-run",
];

/// 40 of 500 members found without a false alarm: TPR at least 0.0577 and FPR at most 0.0074, each at 2.5 %.
#[test]
fn a_table_of_answers_is_limited_on_all_its_rows() {
    let place = Place::new();
    let table = [
        "confusion",
        "--tp",
        "40",
        "--fn",
        "460",
        "--fp",
        "0",
        "--tn",
        "500",
    ];
    let claims = ["--claim", "dp(epsilon=2)", "--claim", "dp(epsilon=2.1)"];
    let (code, found) = json(&place, &[&table[..], &claims].concat());
    assert_eq!(code, 1);
    let epsilon = found["privacy"][0]["lower"].as_f64().expect("a limit");
    assert!((2.06..2.07).contains(&epsilon), "{epsilon}");
    assert_eq!(found["claims"][0]["verdict"], "violated");
    assert_eq!(found["claims"][1]["verdict"], "inconclusive");
    let p_value = found["claims"][0]["p_value"].as_f64().expect("a p-value");
    assert!((0.03..0.05).contains(&p_value), "{p_value}");
    assert_eq!(found["balanced_accuracy"]["point"], 0.54);

    let (code, found) = json(
        &place,
        &[
            "confusion",
            "--tp",
            "487",
            "--fn",
            "1",
            "--fp",
            "0",
            "--tn",
            "512",
            "--delta",
            "0,1e-5",
            "--claim",
            "dp(epsilon=4, delta=1e-5)",
            "--claim",
            "gdp(mu=1)",
            "--claim",
            "zcdp(rho=1)",
            "--claim",
            "advantage(0.9)",
            "--claim",
            "bayes-security(0.1)",
            "--claim",
            "attack-advantage(0.99)",
        ],
    );
    assert_eq!(code, 1);
    let verdicts: Vec<&str> = found["claims"]
        .as_array()
        .expect("claims")
        .iter()
        .map(|claim| claim["verdict"].as_str().expect("a verdict"))
        .collect();
    assert_eq!(
        verdicts,
        [
            "violated",
            "violated",
            "violated",
            "violated",
            "violated",
            "inconclusive"
        ]
    );
    // (1 − FNR − δ)/FPR with both at their limits at 2.5 %.
    assert!(found["privacy"][0]["lower"].as_f64() > Some(4.9));
    assert!(found["privacy"][1]["lower"].as_f64() < found["privacy"][0]["lower"].as_f64());
}

#[test]
fn tables_that_prove_nothing_are_refused() {
    let place = Place::new();
    let refuses = |more: &[&str], words: &[&str]| {
        place.refuses(
            &[&["confusion", "--tp", "9", "--fn", "1"], more].concat(),
            words,
        );
    };
    refuses(&["--fp", "0", "--tn", "0"], &["no negative row"]);
    let rest = ["--fp", "1", "--tn", "9"];
    let with = |more: &[&'static str]| [&rest[..], more].concat();
    refuses(&with(&["--delta", "1"]), &["--delta 1", "below 1"]);
    refuses(&with(&["--confidence", "2"]), &["--confidence 2"]);
    refuses(
        &with(&["--claim", "laplace(scale=1)"]),
        &["--claim", "mechanism"],
    );
    refuses(&with(&["--claim", "dp(epsilon=1, unit=1)"]), &["unit="]);
}

#[test]
fn one_run_is_judged_by_guesses_at_both_ends() {
    let place = Place::with_log(canaries(2_000, 3.0, 1));
    let claims = [
        "--member-scores",
        "high",
        "--claim",
        "dp(epsilon=2, delta=1e-5)",
        "--claim",
        "gdp(mu=1)",
        "--claim",
        "zcdp(rho=0.3)",
        "--claim",
        "dp-sgd(sigma=4, rate=0.01, steps=1000)",
    ];
    let (code, found) = json(&place, &[&ONE_RUN[..], &claims].concat());
    assert_eq!(code, 1, "{found:#}");
    assert_eq!(found["canaries"], 2_000);
    assert_eq!(found["guesses"].as_array().expect("guesses").len(), 5);
    for claim in found["claims"].as_array().expect("claims") {
        assert_eq!(claim["verdict"], "violated", "{claim:#}");
        assert!(claim["p_value"].as_f64() < Some(0.05));
        assert_eq!(claim["estimate"]["method"]["lower"], "one-run-guesses");
    }
    // In one run a small δ may reveal everybody at once: advantages are hardly refuted.
    let (code, advantage) = json(
        &place,
        &[&ONE_RUN[..], &["--claim", "advantage(0.3)"]].concat(),
    );
    assert_eq!(
        (code, &advantage["claims"][0]["verdict"]),
        (3, &"inconclusive".into())
    );

    // The truth refutes nothing, and the direction that is not given is found.
    let (code, true_claim) = json(&place, &[&ONE_RUN[..], &["--claim", "gdp(mu=3)"]].concat());
    assert_eq!(code, 3);
    assert_eq!(true_claim["guesses"].as_array().expect("guesses").len(), 10);
    assert!(true_claim["privacy"][0]["lower"].as_f64() > Some(1.0));

    // Numbers that were fixed beforehand have all of the level.
    let fixed = [
        "--member-scores",
        "high",
        "--guesses",
        "150,150",
        "--claim",
        "gdp(mu=3)",
    ];
    let (_, fixed) = json(&place, &[&ONE_RUN[..], &fixed].concat());
    assert_eq!(fixed["guesses"].as_array().expect("guesses").len(), 1);
    assert!(fixed["privacy"][0]["lower"].as_f64() > true_claim["privacy"][0]["lower"].as_f64());
}

/// Scores of one value tell nothing, whatever the order of the rows.
#[test]
fn equal_scores_are_in_no_order() {
    let text = "secret,score\n".to_owned() + &"in,1\n".repeat(500) + &"out,1\n".repeat(500);
    let place = Place::with_log(text);
    let (code, found) = json(
        &place,
        &[&ONE_RUN[..], &["--claim", "dp(epsilon=0.1)"]].concat(),
    );
    assert_eq!(code, 3, "{found:#}");
}

#[test]
fn coins_that_were_not_fair_stand_in_the_verdict() {
    let text = canaries(2_000, 2.0, 3);
    let kept: Vec<&str> = text
        .lines()
        .enumerate()
        .filter(|(at, line)| at % 2 == 0 || !line.starts_with("out"))
        .map(|(_, line)| line)
        .collect();
    let place = Place::with_log(kept.join("\n"));
    let output = place.run(&[&ONE_RUN[..], &["--claim", "dp(epsilon=0.5)"]].concat());
    let text = stdout(&output).replace('\n', " ");
    assert!(text.contains("hardly ever give such a number"), "{text}");
    // The limits need the coins, and an epsilon of 2 is no violation without them.
    assert!(text.contains("INCONCLUSIVE: dp(epsilon=0.5)"), "{text}");
    assert_eq!(output.status.code(), Some(3));
}

/// What μ implies stands beside what is claimed, and a claim of a whole curve has a limit at one of its δ.
#[test]
fn a_run_limits_mu_and_the_curve_of_a_claim() {
    let place = Place::with_log(canaries(10_000, 1.0, 4));
    let claims = [
        "--member-scores",
        "high",
        "--claim",
        "dp(epsilon=1, delta=1e-5)",
        "--claim",
        "dp-sgd(sigma=4, rate=0.01, steps=1000)",
    ];
    let (_, found) = json(&place, &[&ONE_RUN[..], &claims].concat());
    let parts = found["guesses"].as_array().expect("guesses").iter();
    let parts: f64 = parts.map(|way| way["part"].as_f64().expect("a part")).sum();
    assert!((parts - 1.0).abs() < 1e-12, "{parts}");
    let lower = |limit: &Value| limit["lower"].as_f64().expect("a limit");
    let [of_epsilon, of_mu] = [0, 1].map(|at| lower(&found["privacy"][at]));
    let through_mu = lower(&found["privacy_if_gaussian"][0]);
    // ε of μ = 1 at 1e-5, by the closed form.
    assert!(of_epsilon < through_mu && through_mu < 4.377, "{found:#}");
    let exact = |epsilon: f64| {
        let normal = leakgauge::stats::special::normal_cdf;
        normal(of_mu / 2.0 - epsilon / of_mu)
            - epsilon.exp() * normal(-of_mu / 2.0 - epsilon / of_mu)
    };
    assert!(
        (exact(through_mu) / 1e-5 - 1.0).abs() < 1e-6,
        "{of_mu} {through_mu}"
    );
    let of_curve = &found["claims"][1];
    assert_eq!(of_curve["verdict"], "violated");
    assert_eq!(of_curve["quantity"], "epsilon");
    assert!(of_curve["estimate"]["lower"].as_f64() > of_curve["analytic"].as_f64());

    // What others certify from such scores, at 1,000 and 10,000 canaries.
    for (rows, mu, published) in [
        (1_000, 1.0, 1.56),
        (1_000, 2.0, 4.06),
        (10_000, 1.0, 2.21),
        (10_000, 2.0, 4.61),
    ] {
        let of_seed = |seed: u64| {
            let place = Place::with_log(canaries(rows, mu, 50 + seed));
            let (_, found) = json(
                &place,
                &[&["estimate"], &ONE_RUN[1..], &["--member-scores", "high"]].concat(),
            );
            lower(&found["privacy_if_gaussian"][0])
        };
        let mut limits: Vec<f64> = (0..7u64).map(of_seed).collect();
        limits.sort_by(f64::total_cmp);
        assert!(limits[3] >= published, "{rows} {mu}: {limits:?}");
    }
}

/// The program as a whole on canaries at the truth: of 1,000 runs in at most 5 % any claim may be refuted (and three
/// standard errors more), with the default guesses.
#[test]
#[ignore = "long"]
fn a_true_claim_about_one_run_is_seldom_refuted() {
    use leakgauge::claim::Claim;
    use leakgauge::log::{ReadOptions, ScoreColumns, read_from};
    use leakgauge::membership::{OneRunOptions, one_run};
    let reading = ReadOptions {
        scores: Some(ScoreColumns::parse(&["score"]).expect("a column")),
        ..ReadOptions::default()
    };
    let (runs, mut refuted) = (1_000, 0);
    for seed in 0..runs {
        let input = std::io::Cursor::new(canaries(200, 1.0, 1_000 + seed));
        let log = read_from("log.csv", input, &reading).expect("a log");
        // μ = 1 has these (ε, δ).
        let claims = [
            "gdp(mu=1)",
            "dp(epsilon=1, delta=0.12693673750664397)",
            "dp(epsilon=3, delta=0.0015372)",
        ];
        let options = OneRunOptions {
            confidence: 0.95,
            seed: 0,
            claims: claims
                .map(|claim| Claim::parse(claim).expect("a claim"))
                .to_vec(),
            member: None,
            direction: None,
            guesses: None,
        };
        let found = one_run(&log, &options).expect("findings");
        let is_refuted = |claim: &leakgauge::audit::ClaimReport| {
            claim.verdict == leakgauge::audit::Verdict::Violated
        };
        refuted += usize::from(found.claims.iter().any(is_refuted));
    }
    assert!(refuted <= 70, "{refuted} of {runs}");
}

#[test]
fn logs_that_are_no_single_run_are_refused() {
    let place = Place::with_log(canaries(100, 1.0, 4))
        .file("three.csv", "secret,score\na,1\nb,2\nc,3\n")
        .file(
            "letters.csv",
            "secret,score\n".to_owned() + &"a,1\nb,2\n".repeat(50),
        );
    let refuses = |more: &[&str], words: &[&str]| {
        place.refuses(&[&ONE_RUN[..], &["--claim", "dp(1)"], more].concat(), words)
    };
    refuses(&["--guesses", "90,90"], &["--guesses 90,90", "100"]);
    refuses(&["--guesses", "90"], &["IN,OUT"]);
    refuses(&["--member", "x"], &["--member x", "in, out"]);
    refuses(
        &["--claim", "attack-advantage(0.1)"],
        &["one run says nothing"],
    );
    refuses(&["--claim", "laplace(scale=1)"], &["mechanism"]);
    refuses(&["--html", "page.html"], &["--html"]);
    refuses(&["--follow"], &["--follow"]);
    refuses(&["--neighbors", "in:out"], &["--neighbors"]);
    let with = |log: &'static str| {
        let mut arguments = ONE_RUN.to_vec();
        arguments[1] = log;
        arguments.extend(["--claim", "dp(1)"]);
        arguments
    };
    place.refuses(&with("three.csv"), &["--design one-run", "two secrets"]);
    place.refuses(&with("letters.csv"), &["--member", "a, b"]);
    place.refuses(
        &["estimate", "log.csv", "--design", "one-run"],
        &["--scorer given"],
    );
    place.refuses(
        &["estimate", "log.csv", "--member", "in"],
        &["--design one-run"],
    );
}

/// Given scores of many records are one run, unless somebody says that they are not.
#[test]
fn a_verdict_on_given_scores_says_what_it_takes_for_granted() {
    let place = Place::with_log(canaries(4_000, 2.0, 5));
    let arguments = [
        "audit",
        "log.csv",
        "--scorer",
        "given",
        "--scores",
        "score",
        "--quick",
        "--claim",
        "dp(epsilon=0.5)",
        "--claim",
        "advantage(0.1)",
    ];
    let doubt = "Many records scored against one trained model";
    let (code, found) = json(&place, &arguments);
    // The claim of an advantage is one about the attack on these records.
    assert_eq!(code, 1);
    let reason = |found: &Value, at: usize| found["claims"][at]["reason"].to_string();
    assert_eq!(found["claims"][0]["verdict"], "inconclusive");
    assert_eq!(found["claims"][0]["p_value"], Value::Null);
    assert!(reason(&found, 0).contains(doubt), "{}", reason(&found, 0));
    assert!(reason(&found, 0).contains("--design one-run"));
    assert!(reason(&found, 0).contains("--design many-runs"));
    // Nothing was judged, so that no number stands beside the verdict.
    let short = String::from_utf8(place.run(&arguments).stdout).expect("text");
    assert!(
        short.contains(
            "INCONCLUSIVE  dp(epsilon=0.5)  epsilon n/a, claim \u{2264} 0.5 (in | out)\n  Not judged: "
        ),
        "{short}"
    );
    let full = place.run(&[&arguments[..], &["--full"]].concat());
    let full = String::from_utf8(full.stdout).expect("text");
    let first = full
        .split("INCONCLUSIVE: dp(epsilon=0.5)")
        .nth(1)
        .expect("a verdict");
    let first = first
        .split("VIOLATED: ")
        .next()
        .expect("the end of its grounds");
    assert!(
        first.contains("Not judged") && !first.contains("estimated"),
        "{first}"
    );
    assert_eq!(found["claims"][1]["verdict"], "violated");
    assert!(!reason(&found, 1).contains(doubt));
    let (_, stated) = json(
        &place,
        &[&arguments[..], &["--design", "many-runs"]].concat(),
    );
    assert!(!reason(&stated, 0).contains(doubt));
    assert_eq!(stated["claims"][0]["verdict"], "violated");
    // However members are called.
    for [member, other] in [
        ["member", "nonmember"],
        ["1", "0"],
        ["True", "False"],
        ["a", "b"],
    ] {
        let text = canaries(4_000, 2.0, 5);
        let text = text.replace("in,", &format!("{member},"));
        let others = Place::with_log(text.replace("out,", &format!("{other},")));
        let (_, others) = json(&others, &arguments);
        assert_eq!(others["claims"][0]["verdict"], "inconclusive", "{member}");
        assert!(reason(&others, 0).contains(doubt), "{}", reason(&others, 0));
    }
    // A curve of several (ε, δ) is a claim of privacy too.
    let curve = ["dp-sgd(sigma=4, rate=0.01, steps=100)"];
    let (code, found) = json(&place, &[&arguments[..8], &curve].concat());
    assert_eq!(
        (code, &found["claims"][0]["verdict"]),
        (3, &"inconclusive".into())
    );
    assert!(reason(&found, 0).contains(doubt), "{}", reason(&found, 0));
}

/// The same question without scores of an attack of one's own, by what the secrets or their column say.
#[test]
fn members_of_one_training_are_not_judged_as_runs_without_scores_either() {
    let doubt = "one trained model";
    let claims = [
        "--quick",
        "--claim",
        "dp(epsilon=0.5)",
        "--claim",
        "advantage(0.1)",
    ];
    let verdicts = |text: &str, secret: &str, more: &[&str]| {
        let place = Place::with_log(text);
        let arguments = ["audit", "log.csv", "--secret", secret];
        let (_, found) = json(&place, &[&arguments[..], &claims, more].concat());
        let verdict = |at: usize| found["claims"][at]["verdict"].clone();
        let reason = found["claims"][0]["reason"].to_string();
        (verdict(0), verdict(1), reason)
    };
    let text = canaries(4_000, 2.0, 5);
    let (privacy, advantage, reason) = verdicts(&text, "secret", &[]);
    assert_eq!(
        (privacy, advantage),
        ("inconclusive".into(), "violated".into())
    );
    assert!(
        reason.contains(doubt) && reason.contains("--scores COLUMN --design one-run"),
        "{reason}"
    );
    let numbered = text.replace("in,", "1,").replace("out,", "0,");
    for column in ["member", "is_member", "In-Train"] {
        let (privacy, ..) = verdicts(&numbered.replace("secret", column), column, &[]);
        assert_eq!(privacy, "inconclusive", "{column}");
    }
    // Secrets that nothing calls members, and what was said.
    assert_eq!(verdicts(&numbered, "secret", &[]).0, "violated");
    let stated = verdicts(&text, "secret", &["--design", "many-runs"]);
    assert_eq!(stated.0, "violated");
}
