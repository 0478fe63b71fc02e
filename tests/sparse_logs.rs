//! Logs whose observations hardly recur: which point is reported, and that it does not cry wolf.

use leakgauge::audit::{AuditOptions, Findings, audit};
use leakgauge::estimate::Method;
use leakgauge::log::{ReadOptions, read_from};
use leakgauge::report::{Format, write_audit};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// Uniform labels, each secret from a range of its own.
fn found(ranges: &[std::ops::Range<u32>], rows: usize, seed: u64) -> Findings {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let mut csv = "secret,seen\n".to_owned();
    for _ in 0..rows {
        for (secret, range) in ranges.iter().enumerate() {
            csv.push_str(&format!("s{secret},v{}\n", rng.random_range(range.clone())));
        }
    }
    let log =
        read_from("made", std::io::Cursor::new(csv), &ReadOptions::default()).expect("a good log");
    let options = AuditOptions {
        seed,
        ..AuditOptions::default()
    };
    audit(&log, &options).expect("an audit")
}

/// 20 secrets with the same 400 labels and 200 rows each: 80 certify rows a secret, and e⁻¹ of the rows of a pair
/// show what was seen once.
#[test]
fn the_worst_of_many_equal_secrets_has_a_point_about_zero() {
    let secrets = vec![0..400; 20];
    let (mut sum, mut plug_in, mut squares) = (0.0, 0.0, 0.0);
    let logs = 8;
    for seed in 0..logs {
        let worst = found(&secrets, 200, seed).worst_pair;
        let point = worst.total_variation.point.unwrap();
        let points = worst.total_variation_points.unwrap();
        assert_eq!(
            worst.total_variation.method.point,
            Some(Method::MinimaxTotalVariation)
        );
        assert!(points.distinct as f64 > points.effective_rows);
        sum += point;
        squares += point * point;
        plug_in += points.plug_in;
    }
    let logs = logs as f64;
    let mean = sum / logs;
    assert!(
        mean.abs() < 4.0 * (squares / logs).sqrt() / logs.sqrt(),
        "{mean}"
    );
    assert!(mean < 0.1 && plug_in / logs > 0.8);
}

#[test]
fn secrets_with_little_in_common_are_seen_to_differ_though_hardly_anything_recurs() {
    let audit = found(&[0..1000, 800..1800], 720, 1);
    let tv = &audit.worst_pair.total_variation;
    let points = audit.worst_pair.total_variation_points.unwrap();
    assert_eq!(
        tv.method.point,
        Some(Method::MinimaxTotalVariation),
        "{tv:?} {points:?}"
    );
    assert!(tv.point.unwrap() > points.cross_fitted_attack.unwrap() - 1e-12);
    assert!((tv.point.unwrap() - 0.8).abs() < 0.3, "{tv:?} {points:?}");
    let listed = audit.with_points(&audit.pairs[0]);
    let listed = *listed.total_variation_points.unwrap();
    assert_eq!(
        (listed.minimax, listed.plug_in),
        (points.minimax, points.plug_in)
    );
    // The same mean, summed in another order.
    let attacks = [listed, points].map(|points| points.cross_fitted_attack.unwrap());
    assert!((attacks[0] - attacks[1]).abs() < 1e-12, "{attacks:?}");
    let mut text = Vec::new();
    write_audit(&audit, Format::Text, &mut text).unwrap();
    let text = String::from_utf8(text).unwrap();
    assert!(text.contains("minimax, because"), "{text}");
}

#[test]
fn where_observations_recur_the_attack_is_the_point_and_the_others_are_beside_it() {
    let audit = found(&[0..10, 5..15, 0..10], 400, 1);
    let tv = &audit.worst_pair.total_variation;
    let points = audit.worst_pair.total_variation_points.unwrap();
    assert_eq!(tv.method.point, Some(Method::CrossFittedAttack));
    for point in [Some(points.plug_in), points.minimax, points.held_out_attack] {
        assert!((point.unwrap() - 0.5).abs() < 0.15, "{points:?}");
    }
    let json = serde_json::to_value(&audit).unwrap();
    crate::common::check_schema_of("audit", &json);
    let keys = &json["worst_pair"]["total_variation_points"];
    for key in [
        "plug-in",
        "minimax",
        "held-out-attack",
        "cross-fitted-attack",
    ] {
        assert!(keys[key].is_f64(), "{key} in {keys}");
    }
}
