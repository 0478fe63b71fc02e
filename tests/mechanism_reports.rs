//! Reports of labels as other programs write them, beside the claim of their mechanism.

use leakgauge::exact::mechanism::parse;
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use serde_json::Value;

use crate::common::Place;

/// 4,000 rows of a mechanism with five secrets, each observation as `write` writes it.
fn log(mechanism: &str, header: &str, write: impl Fn(&str) -> String) -> String {
    let labels: Vec<String> = (0..5).map(|secret| secret.to_string()).collect();
    let bound = parse(mechanism).and_then(|found| found.bind(&labels));
    let bound = bound.expect("a mechanism");
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    (0..4_000).fold(format!("secret,{header}\n"), |all, row| {
        let drawn = bound.sample(row % 5, &mut rng).concat();
        format!("{all}{},{}\n", row % 5, write(&drawn))
    })
}

/// The p-value of the fit, and the reason of the verdict.
fn fit(mechanism: &str, log: &str) -> (f64, String) {
    let output = Place::with_log(log).run(&[
        "audit", "log.csv", "--quick", "--format", "json", "--claim", mechanism,
    ]);
    let report: Value = serde_json::from_slice(&output.stdout).expect("a report");
    let claim = &report["claims"][0];
    let p_value = claim["fit"]["p_value"].as_f64();
    let reason = claim["reason"].as_str().unwrap_or_default();
    (p_value.expect("a tested fit"), reason.to_owned())
}

/// The positions of the ones behind the b.
fn ones(report: &str) -> Vec<String> {
    let bits = report[1..].char_indices();
    let ones = bits.filter(|(_, bit)| *bit == '1');
    ones.map(|(at, _)| at.to_string()).collect()
}

#[test]
fn bits_and_sets_are_read_as_reports() {
    for mechanism in ["oue(epsilon=1)", "rappor(epsilon=1)"] {
        let (expected, _) = fit(mechanism, &log(mechanism, "observation", str::to_owned));
        assert!(expected > 0.01, "{mechanism}: {expected}");
        let list = |text: &str| {
            let bits: Vec<String> = text[1..].chars().map(String::from).collect();
            bits.join(", ")
        };
        let as_written = [
            log(mechanism, "observation", |text| text[1..].to_owned()),
            log(mechanism, "observation", |text| {
                format!("\"[{}]\"", list(text))
            }),
            log(mechanism, "v,w,x,y,z", |text| list(text).replace(' ', "")),
            log(mechanism, "observation", |text| {
                format!("\"{{{}}}\"", ones(text).join(", "))
            }),
        ];
        for text in as_written {
            let (p_value, reason) = fit(mechanism, &text);
            assert!(!reason.contains("cannot produce"), "{reason}");
            assert_eq!(p_value, expected, "{}", &text[..60]);
        }
    }
    let mechanism = "subset-selection(epsilon=0.5, size=2)";
    let (expected, _) = fit(mechanism, &log(mechanism, "observation", str::to_owned));
    let turned = log(mechanism, "observation", |text| {
        let (a, b) = text.split_once('|').expect("two labels");
        format!("\"{{{b}, {a}}}\"")
    });
    assert_eq!(fit(mechanism, &turned).0, expected);
}

/// Of reports that are written in no way that is known, the report says so; of single ones that the mechanism does not
/// have, that the log is not its.
#[test]
fn foreign_reports_are_named() {
    let mechanism = "subset-selection(epsilon=0.5, size=2)";
    let foreign = log(mechanism, "observation", |text| {
        format!("x{}", text.replace('|', "-"))
    });
    let (p_value, reason) = fit(mechanism, &foreign);
    assert_eq!(p_value, 0.0);
    assert!(
        reason.contains("no observation of the log is one of this mechanism"),
        "{reason}"
    );
    let odd = log(mechanism, "observation", str::to_owned) + "0,9|9\n";
    let (_, reason) = fit(mechanism, &odd);
    assert!(reason.contains("cannot produce"), "{reason}");
}
