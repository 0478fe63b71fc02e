//! Tests of the leakage family.

use super::*;

fn table() -> serde_json::Value {
    let text = include_str!("../../../../../tests/golden/exact_leakage_family.json");
    serde_json::from_str(text).unwrap()
}

fn numbers(value: &serde_json::Value) -> Vec<f64> {
    let list = value.as_array().unwrap();
    list.iter().map(|x| x.as_f64().unwrap()).collect()
}

fn case(value: &serde_json::Value) -> (Channel, Prior) {
    let rows: Vec<Vec<f64>> = value["rows"]
        .as_array()
        .unwrap()
        .iter()
        .map(numbers)
        .collect();
    let prior = Prior::new(numbers(&value["prior"])).unwrap();
    (Channel::from_rows(&rows).unwrap(), prior)
}

fn close(found: f64, expected: &serde_json::Value, what: &str) {
    let expected = expected.as_f64().unwrap();
    let error = (found - expected).abs();
    assert!(
        error <= 1e-11 * expected.abs() + 1e-15,
        "{what}: {found:e}, not {expected:e}"
    );
}

/// Values by mpmath with 60 digits; maximal α-leakage of two or three secrets by its own search over priors.
#[test]
fn measures_have_the_tabulated_values() {
    let cases = table();
    let cases = cases["channels"].as_array().unwrap();
    assert!(cases.len() >= 4);
    for entry in cases {
        let (channel, prior) = case(entry);
        close(
            channel.maximal_leakage(&prior).unwrap(),
            &entry["maximal_leakage"],
            "maximal",
        );
        close(
            channel.guesswork(&prior).unwrap(),
            &entry["guesswork"],
            "guesswork",
        );
        for row in entry["orders"].as_array().unwrap() {
            let order = row["order"].as_f64().unwrap();
            let what = format!("order {order}");
            close(
                channel.sibson_information(&prior, order).unwrap(),
                &row["sibson"],
                &what,
            );
            if let Some(expected) = row["maximal"].as_f64() {
                let found = channel.maximal_alpha_leakage(&prior, order).unwrap();
                assert!(
                    found.lower <= expected + 1e-11 && expected <= found.upper + 1e-11,
                    "{found:?} {row}"
                );
                assert!(found.upper - found.lower < 1e-9, "{found:?} {row}");
            }
        }
        let found = channel.pointwise_maximal_leakage(&prior).unwrap();
        for (found, expected) in found.iter().zip(entry["pointwise"].as_array().unwrap()) {
            close(*found, expected, "pointwise");
        }
        for (k, expected) in (1..).zip(entry["tries"].as_array().unwrap()) {
            close(
                channel.tries_vulnerability(&prior, k).unwrap(),
                expected,
                "tries",
            );
        }
    }
}

#[test]
fn orders_grow_from_mutual_information_to_maximal_leakage() {
    let (channel, prior) = case(&table()["channels"][0]);
    let at = |order| channel.sibson_information(&prior, order).unwrap();
    let orders = [
        0.3,
        0.999_999,
        1.0,
        1.000_001,
        2.0,
        50.0,
        30_000.0,
        f64::INFINITY,
    ];
    let found = orders.map(at);
    assert!(found.windows(2).all(|pair| pair[0] <= pair[1]), "{found:?}");
    assert!((found[3] / found[2] - 1.0).abs() < 1e-5);
    assert!((found[6] / found[7] - 1.0).abs() < 1e-3);
    assert!(channel.sibson_information(&prior, 0.0).is_err());
    assert!(channel.sibson_information(&prior, f64::NAN).is_err());
    assert!(channel.maximal_alpha_leakage(&prior, 0.5).is_err());
    assert!(channel.tries_vulnerability(&prior, 0).is_err());
}

/// Randomized response of ε = 1e-12: I_α is αε²/8 to leading order.
#[test]
fn small_leakage_keeps_its_digits() {
    let text = "randomized-response(epsilon=1e-12, secrets=2)";
    let mechanism = crate::mechanism::parse(text).unwrap();
    let channel = Channel::of_mechanism(&*mechanism).unwrap();
    for order in [0.5, 1.0, 2.0, 20.0] {
        let found = channel
            .sibson_information(&Prior::uniform(2), order)
            .unwrap();
        let expected = order * 1e-24 / 8.0;
        assert!((found / expected - 1.0).abs() < 1e-11, "{order}: {found:e}");
    }
}

/// Two rows (½ + a, ½ − a), (½ − b, ½ + b) of tiny a and b: I_α at (w, 1 − w) is about 2αw(1 − w)(a + b)², which is
/// largest at w = ½.
#[test]
fn limits_of_small_leakage_are_close_too() {
    let (a, b) = (f64::powi(0.5, 20), f64::powi(0.5, 22));
    let channel = Channel::from_rows(&[[0.5 + a, 0.5 - a], [0.5 - b, 0.5 + b]]).unwrap();
    let prior = Prior::new(vec![0.9, 0.1]).unwrap();
    for order in [1.000_001, 1.5, 20.0] {
        let found = channel.maximal_alpha_leakage(&prior, order).unwrap();
        let expected = order * (a + b).powi(2) / 2.0;
        assert!(
            (found.lower / expected - 1.0).abs() < 1e-9,
            "{order}: {found:?}"
        );
        assert!(
            (found.upper / expected - 1.0).abs() < 1e-7,
            "{order}: {found:?}"
        );
    }
}

/// Orders at the ends of the range of numbers: of order 0, I = ln 1/P(no zero entry) where some entries are 0.
#[test]
fn extreme_orders_are_numbers() {
    let channel = Channel::from_rows(&[[0.5, 0.5], [1.0, 0.0]]).unwrap();
    let prior = Prior::new(vec![0.25, 0.75]).unwrap();
    for order in [1e-300, 1e-5, 1e5, 1e300] {
        let found = channel.sibson_information(&prior, order).unwrap();
        assert!(found.is_finite() && found >= 0.0, "{order}: {found}");
    }
    let large = channel.sibson_information(&prior, 1e300).unwrap();
    assert!((large - 1.5f64.ln()).abs() < 1e-15);
    // 0.25^(1/α) of the second observation vanishes; of the first, α/(α − 1)·(1/α)·ln((0.5^α + 3)/4) → ln 2 / 4 ·
    // α/(1 - α) → 0.
    let small = channel.sibson_information(&prior, 1e-300).unwrap();
    assert!(small < 1e-299, "{small:e}");
}
