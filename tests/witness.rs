//! What proves a limit of privacy, and claims of several (ε, δ).

use leakgauge::attack::pairwise::Event;
use leakgauge::audit::{AuditOptions, Findings, Verdict, Witness, audit};
use leakgauge::claim::Claim;
use leakgauge::exact::mechanism;
use leakgauge::exact::simulate::Simulation;
use leakgauge::log::{ReadOptions, read_from};
use leakgauge::report::sentences::claims::reason;
use leakgauge::report::{self, Format};
use rand::seq::SliceRandom;
use rand::{RngExt, SeedableRng};

use crate::common::verdicts::{OPEN, REFUTED, verdicts};

fn judged_log(csv: String, claims: &[&str]) -> Findings {
    let log = read_from(
        "log.csv",
        std::io::Cursor::new(csv),
        &ReadOptions::default(),
    );
    let options = AuditOptions {
        claims: claims
            .iter()
            .map(|claim| Claim::parse(claim).expect("a claim"))
            .collect(),
        quick: true,
        ..AuditOptions::default()
    };
    audit(&log.expect("a log"), &options).expect("an audit")
}

fn judged(mechanism: &str, rows: usize, claims: &[&str]) -> Findings {
    let mechanism = mechanism::parse(mechanism).expect("a mechanism");
    let simulation = Simulation::new(&*mechanism, 5).expect("secrets are declared");
    let rows = simulation
        .take(rows)
        .map(|(secret, fields)| format!("{secret},{}\n", fields.join(",")));
    judged_log(
        "secret,seen\n".to_owned() + &rows.collect::<String>(),
        claims,
    )
}

fn text(found: &Findings) -> String {
    let mut text = Vec::new();
    report::write_audit(found, Format::Text, &mut text).expect("written");
    let text = String::from_utf8(text).expect("text");
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn witness(found: &Findings, at: usize) -> &Witness {
    found.privacy[at].witness.as_ref().expect("proved")
}

/// Both answers are events, each likelier under its own secret, and their counts are those of the certification rows.
#[test]
fn a_limit_names_its_observations_and_counts() {
    let found = judged("randomized-response(epsilon=1, secrets=2)", 20_000, &[]);
    let of = witness(&found, 0);
    assert!(!of.events.is_empty() && of.stronger.is_none());
    for event in &of.events {
        let [likely, _] = event.secrets.labels();
        assert_eq!(event.event, Event::Outcomes(vec![likely.to_owned()]));
        assert_eq!(
            event.rows.iter().sum::<u64>(),
            found.method.rows.certify,
            "{event:?}"
        );
        let share = |side: usize| event.inside[side] as f64 / event.rows[side] as f64;
        // e/(1 + e) and its complement.
        assert!((share(0) - 0.731).abs() < 0.02, "{event:?}");
        assert!((share(1) - 0.269).abs() < 0.02, "{event:?}");
    }
    let event = &of.events[0];
    let [inside, beside] = event.inside;
    let [likely, other] = event.secrets.labels();
    let sentence = format!(
        "the observation is {likely} in {inside} of {} rows of {likely} against {beside} of {} of {other}",
        event.rows[0], event.rows[1]
    );
    let text = text(&found);
    assert!(text.contains(&sentence), "{sentence}\n{text}");
}

/// A Gaussian shift: a half-line of the column proves ε, and as a claim of Gaussian privacy the rows prove more.
#[test]
fn a_limit_names_a_threshold_and_the_stronger_claim() {
    let claims = ["dp(epsilon=1, delta=1e-5)", "gdp(mu=0.5)"];
    let found = judged("gaussian(sigma=1, secrets=2)", 20_000, &claims);
    let of = witness(&found, 1);
    for event in &of.events {
        let Event::Interval {
            column,
            at_least,
            at_most,
        } = &event.event
        else {
            panic!("{event:?}")
        };
        assert_eq!(column, "seen");
        // The larger secret has the larger numbers.
        assert_eq!(at_least.is_some(), event.secrets.labels()[0] == "1");
        assert_eq!(at_most.is_some(), at_least.is_none());
    }
    let stronger = of.stronger.expect("Gaussian privacy says more");
    let lower = found.claims[0].estimate.lower.expect("a limit");
    assert!(stronger.mu > 0.8 && stronger.mu <= 1.0, "{stronger:?}");
    assert!(
        stronger.epsilon > lower && stronger.epsilon < 4.4,
        "{stronger:?}"
    );
    let json = serde_json::to_value(&found).expect("JSON");
    let keys = &json["privacy"][1]["witness"];
    assert_eq!(keys["events"][0]["kind"], "interval");
    assert_eq!(keys["events"][0]["column"], "seen");
    assert_eq!(keys["stronger"]["mu"].as_f64(), Some(stronger.mu));
    assert!(
        text(&found).contains("Gaussian privacy is easier to refute"),
        "{json:#}"
    );
}

/// Where no column says it, the event is one of scores; a column that does is named.
#[test]
fn of_several_columns_the_one_that_decides_is_named() {
    let mut csv = "secret,flag,size\n".to_owned();
    let mut rng = leakgauge_testing::rng(3);
    for row in 0..6_000 {
        let secret = row % 2;
        // A flag that tells in a fifth of the rows; otherwise the size tells nothing.
        let is_late = secret == 1 && rng.random_bool(0.2);
        let (flag, size) = match is_late {
            true => ("late", 7),
            false => ("early", rng.random_range(0..5)),
        };
        csv += &format!("{secret},{flag},{size}\n");
    }
    let found = judged_log(csv, &["dp(epsilon=0.1)"]);
    let of = witness(&found, 0);
    let event = of.events.iter().find(|event| event.secrets == ["1", "0"]);
    let event = event.expect("only the second secret is ever late");
    let Event::Labels { column, labels } = &event.event else {
        panic!("{event:?}")
    };
    assert_eq!(
        (column.as_str(), &labels[..]),
        ("flag", &["late".to_owned()][..])
    );
    assert_eq!(event.inside[1], 0);
}

/// The smaller of two sizes is likelier under one secret, 4 to 1: an event of the column, counted in nearly all rows of
/// a small log and not in the certification rows alone.
#[test]
fn an_event_of_a_column_is_counted_in_nearly_all_rows() {
    let mut csv = "secret,size\n".to_owned();
    let mut rng = leakgauge_testing::rng(4);
    for row in 0..600 {
        let small = rng.random_bool([0.4, 0.1][row % 2]);
        csv += &format!("{},{}\n", row % 2, if small { 1 } else { 2 });
    }
    let mut found = judged_log(csv, &["dp(epsilon=0.1)"]);
    let event = &witness(&found, 0).events[0];
    let Event::Labels { column, labels } = &event.event else {
        panic!("{event:?}")
    };
    assert_eq!((column.as_str(), labels[0].as_str()), ("size", "1"));
    let rows = event.rows.iter().sum::<u64>();
    assert!(
        rows > 500 && rows > 2 * found.method.rows.certify,
        "{event:?}"
    );

    // Two events at once are said in a sentence, and in JSON one by one.
    let late = Event::Labels {
        column: "flag".to_owned(),
        labels: vec!["late".to_owned()],
    };
    let of = found.privacy[0].witness.as_mut().expect("proved");
    of.events[0].event = Event::Both(Box::new([late, of.events[0].event.clone()]));
    let json = serde_json::to_value(&found).expect("JSON");
    let event = &json["privacy"][0]["witness"]["events"][0];
    assert_eq!(event["kind"], "both");
    assert_eq!(event["both"][0]["values"][0], "late");
    assert_eq!(event["both"][1]["column"], "size");
    assert!(
        text(&found).contains("flag is late and size is"),
        "{event:#}"
    );
}

/// Fields of a chessboard of four by four, each likelier under one secret: too many for a test each, and too few rows
/// to learn them from. Claims at δ > 0 alone have no use for groups.
#[test]
fn groups_of_similar_rows_are_named_and_counted() {
    let mut csv = "secret,x,y\n".to_owned();
    let mut rng = leakgauge_testing::rng(3);
    for row in 0..1000 {
        let place: [f64; 2] = [rng.random(), rng.random()];
        let [x, y] = place.map(|at| (4.0 * at) as usize);
        let secret = (x + y + usize::from(rng.random_bool(0.15))) % 2;
        csv += &format!("{secret},{},{}\n", place[0] + row as f64 * 1e-9, place[1]);
    }
    let found = judged_log(csv.clone(), &["ldp(epsilon=1)"]);
    assert_eq!(verdicts(&found), [REFUTED]);
    let of = witness(&found, 0);
    assert_eq!((of.attack.as_str(), of.events.len()), ("groups", 2));
    for event in &of.events {
        let Event::Groups { groups, of } = event.event else {
            panic!("{event:?}")
        };
        assert!(groups > 2 && 2 * groups <= of, "{event:?}");
        let [inside, beside] = event.inside;
        assert!(inside > 2 * beside, "{event:?}");
        assert!(event.rows.iter().sum::<u64>() > 850, "{event:?}");
    }
    let json = serde_json::to_value(&found).expect("JSON");
    let event = &json["privacy"][0]["witness"]["events"][0];
    assert_eq!(event["kind"], "groups");
    assert_eq!(event["groups"].as_array().expect("two numbers").len(), 2);
    let text = text(&found);
    assert!(text.contains("by groups of similar rows:"), "{text}");
    assert!(text.contains("formed without looking at secrets"), "{text}");

    let found = judged_log(csv, &["dp(epsilon=1, delta=0.0001)"]);
    let of = found
        .privacy
        .iter()
        .filter_map(|limit| limit.witness.as_ref());
    assert!(of.into_iter().all(|of| of.attack != "groups"));
}

/// Eight bits, each kept with probability 0.65, of which none says much: a regression that is taught by the rows whose
/// secrets are revealed guesses the others.
#[test]
fn guesses_on_masked_rows_are_named_and_counted() {
    let mut csv = "secret,a,b,c,d,e,f,g,h\n".to_owned();
    let mut rng = leakgauge_testing::rng(4);
    for row in 0..1000 {
        let secret = row % 2;
        csv += &secret.to_string();
        for _ in 0..8 {
            let bit = (secret + usize::from(rng.random_bool(0.35))) % 2;
            csv += &format!(",{bit}");
        }
        csv += "\n";
    }
    let found = judged_log(csv, &["ldp(epsilon=1.5)"]);
    assert_eq!(verdicts(&found), [REFUTED]);
    let of = witness(&found, 0);
    assert_eq!((of.attack.as_str(), of.events.len()), ("masked", 2));
    for event in &of.events {
        let Event::Guessed { columns } = &event.event else {
            panic!("{event:?}")
        };
        assert!(columns.len() >= 5, "{event:?}");
        let [inside, beside] = event.inside;
        assert!(inside > 4 * beside && inside > 50, "{event:?}");
        assert!(event.rows.iter().sum::<u64>() > 600, "{event:?}");
    }
    let json = serde_json::to_value(&found).expect("JSON");
    let limit = &json["privacy"][0];
    assert_eq!(limit["witness"]["events"][0]["kind"], "guessed");
    let text = text(&found);
    assert!(
        text.contains("by guesses on held-out rows: 0 is guessed (mostly from "),
        "{text}"
    );
    assert!(
        text.contains("guessed before their secrets were looked at"),
        "{text}"
    );
}

/// σ of the classic formula for (6, 0.3), far outside its range: the mechanism has ε = 7.25 at δ = 0.3. Guesses that
/// are best at δ = 0 are on fewer rows than may reveal their secret. The same guesses serve δ = 0, so that its limit is
/// no smaller.
#[test]
#[ignore = "long"]
fn guesses_are_chosen_for_the_delta_of_the_claim() {
    let sigma = (2.0 * (1.25f64 / 0.3).ln()).sqrt() / 6.0;
    let mechanism = format!("gaussian(sigma={sigma}, secrets=2)");
    let found = judged(&mechanism, 160_000, &["dp(epsilon=6, delta=0.3)"]);
    assert_eq!(verdicts(&found), [REFUTED], "{:#?}", found.claims);
    let lower = [0, 1].map(|at| found.privacy[at].lower.expect("a limit"));
    assert!(lower[0] >= lower[1] && lower[1] <= 7.252, "{lower:?}");
}

/// Randomized response at ε = 1 has δ(½) = 0.288, and a Rényi divergence of order 2 of 0.7354.
#[test]
fn claims_of_curves_and_of_one_order_are_held_to_the_truth() {
    let claims = [
        "dp-curve(dp(1), dp(epsilon=0.5, delta=0.29))",
        "dp-curve(dp(1.1), dp(epsilon=0.5, delta=0.01))",
        "dp-curve(dp(epsilon=1.2, delta=0.05), dp(epsilon=0.5, delta=0.35))",
        "f-dp(point(fpr=0.268, fnr=0.268))",
        "f-dp(point(fpr=0.3, fnr=0.3))",
        "rdp(alpha=2, epsilon=0.74)",
        "rdp(alpha=2, epsilon=0.5)",
    ];
    let found = judged("randomized-response(epsilon=1, secrets=2)", 40_000, &claims);
    assert_eq!(
        verdicts(&found),
        [OPEN, REFUTED, Verdict::Holds, OPEN, REFUTED, OPEN, REFUTED],
        "{:#?}",
        found.claims
    );
    let curve = &found.claims[1];
    assert!(curve.p_value < Some(0.05));
    assert!(reason(curve).contains("at delta 0.01, where the claim allows 0.5"));
    assert!(reason(&found.claims[0]).contains("all 2 (epsilon, delta)"));
    assert_eq!(found.claims[5].quantity.key(), "renyi_divergence");
    let lower = found.claims[5].estimate.lower.expect("a limit");
    assert!(lower > 0.5 && lower <= 0.7354, "{lower}");
}

/// Points of a file, as the same points in the claim.
#[test]
fn the_points_of_a_trade_off_function_come_from_a_file() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("curve.csv");
    std::fs::write(&file, "fpr,fnr\n0.1,0.6\n0.3,0.3\n").expect("written");
    let parse = |text: String| leakgauge::input::claims::parse(&[text]);
    let claims = parse(format!("f-dp({})", file.display())).expect("a claim");
    let inline = Claim::parse("f-dp(point(0.1, 0.6), point(0.3, 0.3))").expect("a claim");
    assert_eq!(
        format!("{:?}", claims[0].kind),
        format!("{:?}", inline.kind)
    );
    std::fs::write(&file, "0.1,0.6\n0.3,1.3\n").expect("written");
    let error = parse(format!("f-dp({})", file.display()))
        .unwrap_err()
        .to_string();
    assert!(error.contains("row 2"), "{error}");
    let error = parse("f-dp(none.csv)".to_owned()).unwrap_err().to_string();
    assert!(error.contains("none.csv"), "{error}");
}

/// A correct mechanism at the edge of its curve: 200 logs of 600 rows. With 10 expected false alarms 20 are reached
/// with probability 0.003.
#[test]
fn true_curves_are_refuted_no_more_often_than_the_level_says() {
    let claim = [Claim::parse(
        "dp-curve(dp(1), dp(epsilon=0.5, delta=0.2877), dp(epsilon=0.2, delta=0.4028))",
    )
    .expect("a claim")];
    let mechanism = mechanism::parse("randomized-response(epsilon=1, secrets=2)").expect("known");
    let alarms = (0..200).filter(|&seed| {
        let simulation = Simulation::new(&*mechanism, seed).expect("secrets are declared");
        let rows = simulation.take(600);
        let rows = rows.map(|(secret, fields)| format!("{secret},{}\n", fields.join(",")));
        let csv = "secret,seen\n".to_owned() + &rows.collect::<String>();
        let log = read_from(
            "log.csv",
            std::io::Cursor::new(csv),
            &ReadOptions::default(),
        );
        let options = AuditOptions {
            claims: claim.to_vec(),
            quick: true,
            seed,
            ..AuditOptions::default()
        };
        let found = audit(&log.expect("a log"), &options).expect("an audit");
        found.claims[0].verdict == REFUTED
    });
    let alarms = alarms.count();
    assert!(alarms < 20, "{alarms} of 200");
}

/// An observation that is rare under both secrets: no attack gains much by it, and it is tested by itself. The limit is
/// below ln 2, the truth, and the summary does not say that nothing leaks.
#[test]
fn a_rare_observation_proves_a_limit_by_itself() {
    let counts = [
        [1_000, 14_000, 20_000, 15_000],
        [500, 14_500, 20_000, 15_000],
    ];
    let mut rows: Vec<String> = Vec::new();
    for (secret, counts) in ["a", "b"].iter().zip(counts) {
        for (answer, count) in ["w", "x", "y", "z"].iter().zip(counts) {
            rows.extend((0..count).map(|_| format!("{secret},{answer}\n")));
        }
    }
    rows.shuffle(&mut rand_chacha::ChaCha8Rng::seed_from_u64(11));
    let found = judged_log(
        "secret,answer\n".to_owned() + &rows.concat(),
        &["ldp(epsilon=0.3)"],
    );
    let limit = found.privacy[0].lower.expect("a limit");
    assert!((0.35..std::f64::consts::LN_2).contains(&limit), "{limit}");
    assert_eq!(found.claims[0].verdict, Verdict::Violated);
    let events = &witness(&found, 0).events;
    assert_eq!(events.len(), 1);
    assert!(matches!(&events[0].event, Event::Outcomes(values) if values == &["w"]));
    assert!(events[0].inside[0] > events[0].inside[1]);
    let text = text(&found);
    assert!(!text.contains("No leak could be certified"), "{text}");
    assert!(text.contains("need an epsilon of at least"), "{text}");
}

/// Two normal laws half a standard deviation apart, as printed with some decimals.
fn normal(seed: u64, rows: usize, decimals: usize) -> String {
    let mut rng = rand_chacha::ChaCha8Rng::seed_from_u64(seed);
    let row = |at: usize| {
        let noise: f64 = rng.sample(rand_distr::StandardNormal);
        format!("{},{:.decimals$}\n", at % 2, 0.5 * (at % 2) as f64 + noise)
    };
    "secret,seen\n".to_owned() + &(0..rows).map(row).collect::<String>()
}

/// The rows of the other log do not judge, and have numbers that this log has not.
#[test]
fn where_attacks_learn_from_another_log_only_this_one_judges() {
    let place = crate::common::Place::new()
        .file("log.csv", normal(1, 24_000, 2))
        .file("other.csv", normal(2, 60_000, 3));
    let file = |name: &str| place.path().join(name).display().to_string();
    let options = ReadOptions {
        files: vec![file("log.csv")],
        fit_on: Some(file("other.csv")),
        ..ReadOptions::default()
    };
    let log = leakgauge::log::read(&options, &Default::default()).expect("a log");
    let options = AuditOptions {
        claims: vec![Claim::parse("ldp(epsilon=0.3)").expect("a claim")],
        quick: true,
        ..AuditOptions::default()
    };
    let found = audit(&log, &options).expect("an audit");
    assert_eq!(found.claims[0].verdict, Verdict::Violated);
    for event in &witness(&found, 0).events {
        let few = event.rows.iter().all(|&rows| rows <= 12_000);
        assert!(few, "{:?}", event.rows);
    }
}

/// Noise that is added in floating point and not rounded: an audit that does not read the last bits says so in its
/// verdict, and one that reads them refutes the claim.
#[test]
fn last_bits_that_tell_the_secret_are_doubted_in_the_verdict() {
    let found = judged("laplace(scale=1, secrets=0..1)", 4_000, &["ldp(epsilon=1)"]);
    assert_eq!(found.claims[0].verdict, Verdict::Inconclusive);
    let warned = |found: &Findings| found.warnings.iter().any(|w| w.code() == "last-bits");
    assert!(warned(&found));
    assert!(reason(&found.claims[0]).contains("last-bits"));
    let found = judged("laplace(scale=1, secrets=0..1)", 4_000, &[]);
    assert!(!warned(&found), "without a claim of privacy");
    let found = judged("geometric(nu=1, secrets=0..1)", 4_000, &["ldp(epsilon=1)"]);
    assert!(!warned(&found), "whole numbers");
}
