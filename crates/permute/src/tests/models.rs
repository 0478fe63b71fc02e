//! The Mallows models: moments, and their samplers against enumeration.

use super::super::*;
use super::{all, golden, identity, near, rows};
use leakgauge_exact::mallows::{Hamming, Kendall};

#[test]
fn moments_of_kendall_are_the_golden_ones() {
    for e in golden("kendall_moments") {
        let n = e["params"]["n"].as_u64().unwrap() as u32;
        let theta = e["params"]["theta"].as_f64().unwrap();
        let model = Kendall { n, theta };
        near(model.log_psi(), &e["values"]["log_psi"], &e["id"]);
        near(model.mean(), &e["values"]["mean_kendall"], &e["id"]);
        near(model.variance(), &e["values"]["var_kendall"], &e["id"]);
    }
}

#[test]
fn moments_of_hamming_are_the_golden_ones() {
    for e in golden("hamming_psi") {
        let n = e["params"]["n"].as_u64().unwrap() as u32;
        let theta = e["params"]["theta"].as_f64().unwrap();
        let model = Hamming { n, theta };
        let (found, expected) = (model.log_psi(), e["values"]["log_psi"].as_f64().unwrap());
        // ψ → 1 cancels in its logarithm.
        assert!(
            (found - expected).abs() <= 1e-12 * expected.abs().max(1.0),
            "{}",
            e["id"]
        );
        let (found, expected) = (model.mean(), e["values"]["mean_hamming"].as_f64().unwrap());
        assert!(
            (found - expected).abs() <= 1e-11 * expected.abs(),
            "{}: {found} {expected}",
            e["id"]
        );
    }
}

/// Insertions have the golden probabilities: those of all stretches of the exponential numbers that lead
/// to a place.
#[test]
fn insertions_have_the_golden_probabilities() {
    for e in golden("rim") {
        let theta = e["params"]["theta"].as_f64().unwrap();
        if theta == 0.0 {
            continue;
        }
        let model = Kendall { n: 5, theta };
        let table = e["values"]["insertion"].as_array().unwrap();
        for (i, row) in (1u32..).zip(table) {
            let mut found = vec![0.0; i as usize];
            let stretches = (800.0 / theta) as u32;
            for stretch in 0..stretches {
                let (from, length) = (theta * f64::from(stretch), -(-theta).exp_m1());
                let before = model.insertion_at(i, from + 0.5 * theta);
                found[before as usize] += (-from).exp() * length;
            }
            // The table goes by place, from the front.
            for (found, p) in found.iter().zip(row.as_array().unwrap().iter().rev()) {
                let p = p.as_f64().unwrap();
                assert!((found - p).abs() <= 1e-10 * p, "{}: {found} {p}", e["id"]);
            }
        }
    }
}

/// Places that hardly ever come come as often as they should: 36 is where uniform numbers of 53 bits end.
#[test]
fn the_rarest_insertions_are_reached() {
    let model = Kendall { n: 2, theta: 40.0 };
    assert_eq!(model.insertion_at(2, 39.9), 0);
    assert_eq!(model.insertion_at(2, 40.1), 1);
}

/// Every insertion sequence gives another permutation, whose distance is their sum.
#[test]
fn insertions_and_permutations_are_one_to_one() {
    let model = Kendall { n: 5, theta: 1.0 };
    let mut met = std::collections::BTreeSet::new();
    for code in 0..120u32 {
        let digits = [0, code % 2, code / 2 % 3, code / 6 % 4, code / 24];
        let sigma = model.insert(|i| digits[i as usize - 1]);
        assert_eq!(inversions(&sigma), u64::from(digits.iter().sum::<u32>()));
        met.insert(sigma);
    }
    assert_eq!(met.len(), 120);
}

/// χ² of all permutations against their exact probabilities, false alarm 1e-6 each.
fn follows(n: usize, log_weight: impl Fn(&[u32]) -> f64, mut draw: impl FnMut() -> Vec<u32>) {
    const DRAWS: u32 = 60_000;
    let permutations = all(n);
    let weights: Vec<f64> = permutations.iter().map(|p| log_weight(p).exp()).collect();
    let total: f64 = weights.iter().sum();
    let mut counts = std::collections::BTreeMap::new();
    for _ in 0..DRAWS {
        *counts.entry(draw()).or_insert(0u32) += 1;
    }
    // Cells that are too rare are one.
    let (mut statistic, mut cells) = (0.0, 0);
    let (mut rare, mut rare_count) = (0.0, 0.0);
    let mut add = |expected: f64, found: f64| {
        if expected > 0.0 {
            statistic += (found - expected).powi(2) / expected;
            cells += 1;
        }
    };
    for (permutation, weight) in permutations.iter().zip(&weights) {
        let expected = f64::from(DRAWS) * weight / total;
        let found = f64::from(counts.get(permutation).copied().unwrap_or(0));
        if expected < 5.0 {
            rare += expected;
            rare_count += found;
        } else {
            add(expected, found);
        }
    }
    add(rare, rare_count);
    if cells > 1 {
        let p = leakgauge_stats::special::chi_squared_survival(statistic, f64::from(cells - 1));
        assert!(p > 1e-6, "n {n}: χ² {statistic} of {cells} cells, p {p:e}");
    }
}

#[test]
fn samples_follow_the_models_exactly() {
    let mut randomness = Randomness::seeded(17);
    for n in 1..=6usize {
        for theta in [0.0, 0.1, 0.7, 3.0] {
            let kendall = Kendall { n: n as u32, theta };
            follows(
                n,
                |p| -theta * inversions(p) as f64,
                || kendall.sample(&mut randomness),
            );
            let model = Hamming { n: n as u32, theta };
            let id = identity(n);
            follows(
                n,
                |p| -theta * hamming(p, &id) as f64,
                || model.sample(&mut randomness),
            );
        }
    }
    for theta in [f64::INFINITY, 800.0] {
        assert_eq!(Kendall { n: 9, theta }.sample(&mut randomness), identity(9));
        assert_eq!(Hamming { n: 9, theta }.sample(&mut randomness), identity(9));
    }
}

/// The golden probabilities of σ are those of a reference order too.
#[test]
fn probabilities_at_a_reference_order_are_the_golden_ones() {
    for e in golden("exact_probs") {
        let sigma0 = rows(&e["params"]["sigma0"]);
        let theta = e["params"]["theta"].as_f64().unwrap();
        let n = sigma0.len();
        let log_psi = Kendall { n: n as u32, theta }.log_psi();
        for sigma in all(n) {
            let name: String = sigma.iter().map(|i| (i + 1).to_string()).collect();
            let p = (-theta * kendall(&sigma0, &sigma) as f64 - log_psi).exp();
            let expected = e["values"]["probs"][&name].as_f64().unwrap();
            assert!((p - expected).abs() < 1e-12, "{} {name}", e["id"]);
        }
    }
}

/// Mean of 400 samples within five standard errors; their variance within five of its own.
#[test]
fn large_samples_have_the_mean_and_variance_of_the_model() {
    let n = 10_000;
    for theta in [0.0, 1e-4, 0.01, 1.0] {
        let model = Kendall { n, theta };
        let mut randomness = Randomness::seeded(5);
        let draws: Vec<f64> = (0..400)
            .map(|_| inversions(&model.sample(&mut randomness)) as f64 - model.mean())
            .collect();
        let size = draws.len() as f64;
        let mean = draws.iter().sum::<f64>() / size;
        let variance = draws.iter().map(|d| d * d).sum::<f64>() / size;
        let expected = model.variance();
        assert!(
            mean.abs() < 5.0 * (expected / size).sqrt(),
            "{theta}: {mean}"
        );
        assert!(
            (variance / expected - 1.0).abs() < 5.0 * (2.0 / size).sqrt(),
            "{theta}: {variance}"
        );
    }
}

/// The library counts derangements D_h only through ψ = Σ_h C(n, h) D_h e^(−θh), here with the golden ones;
/// the recursion fills the gaps between them.
#[test]
fn the_normalizer_of_hamming_sums_up_the_golden_derangements() {
    let mut derangements = vec![1.0, 0.0];
    for h in 2..=50usize {
        derangements.push((h - 1) as f64 * (derangements[h - 1] + derangements[h - 2]));
    }
    for e in golden("derangements") {
        let p = e["params"]["p"].as_u64().unwrap() as usize;
        let exact: f64 = e["values"]["value_str"].as_str().unwrap().parse().unwrap();
        assert!((derangements[p] / exact - 1.0).abs() < 1e-13, "{}", e["id"]);
        for theta in [0.0, 0.3, 2.0] {
            let mut choose = 1.0;
            let mut psi = 0.0;
            for (h, count) in derangements.iter().enumerate().take(p + 1) {
                psi += choose * count * (-theta * h as f64).exp();
                choose *= (p - h) as f64 / (h + 1) as f64;
            }
            let found = Hamming { n: p as u32, theta }.log_psi();
            let off = (found - f64::ln(psi)).abs();
            assert!(
                off < 1e-11,
                "{} θ {theta}: {found}, not {}",
                e["id"],
                psi.ln()
            );
        }
    }
}
