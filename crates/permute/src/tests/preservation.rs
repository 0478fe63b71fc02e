//! (η, δ)-preservation.

use super::super::*;
use super::{golden, rows};
use leakgauge_exact::mallows::Hamming;

/// Theorem A.4's f(p, m) by its recursion, for the oracle below.
fn f(p: u64, m: u64) -> f64 {
    // Inclusion and exclusion: no object of type A at its own place.
    let factorial = |n: u64| (1..=n).map(|i| i as f64).product::<f64>();
    let term =
        |t: u64| choose(p, t) * factorial(p + m - t) * if t.is_multiple_of(2) { 1.0 } else { -1.0 };
    (0..=p).map(term).sum()
}

fn choose(n: u64, k: u64) -> f64 {
    if k > n {
        return 0.0;
    }
    (0..k)
        .map(|i| (n - i) as f64 / (i + 1) as f64)
        .product::<f64>()
        .round()
}

/// c_h as Theorem A.4 has it, with floor and the smaller of l and h/2.
fn failing(n: u64, l: u64, k: u64, h: u64) -> f64 {
    let mut sum = 0.0;
    for j in k + 1..=l.min(h / 2) {
        for i in 0..=(l - j).min(h - 2 * j) {
            if n < l + j {
                continue;
            }
            let rest = h - 2 * j - i;
            sum += choose(l, j)
                * choose(n - l, j)
                * choose(l - j, i)
                * f(i, j)
                * choose(n - l - j, rest)
                * f(rest, j);
        }
    }
    sum
}

#[test]
fn failures_to_preserve_are_those_of_the_theorem() {
    for e in golden("f_pm") {
        let (p, m) = (&e["params"]["p"], &e["params"]["m"]);
        assert_eq!(
            f(p.as_u64().unwrap(), m.as_u64().unwrap()),
            e["values"]["f"].as_f64().unwrap()
        );
    }
    for e in golden("c_h") {
        let n = e["params"]["n"].as_u64().unwrap();
        let l = e["params"]["S_size"].as_u64().unwrap();
        let eta = e["params"]["eta"].as_f64().unwrap();
        let k = e["values"]["k_floor"].as_u64().unwrap();
        let counts = e["values"]["c_h"].as_array().unwrap();
        for (h, expected) in (0..).zip(counts) {
            assert_eq!(
                failing(n, l, k, h),
                expected.as_f64().unwrap(),
                "{} h {h}",
                e["id"]
            );
        }
        for theta in [0.0, 0.5, 1.0] {
            let name = format!("delta_hamming_theta{theta}");
            let expected = e["values"][&name].as_f64().unwrap();
            let found = hamming_failure(n as u32, l as u32, eta, theta);
            assert!(
                (found - expected).abs() < 1e-12,
                "{} {name}: {found} {expected}",
                e["id"]
            );
        }
    }
    for n in [8u32, 15] {
        for (l, eta, theta) in [(3, 0.5, 0.3), (7, 0.7, 2.0), (n, 0.5, 0.1), (1, 1.0, 0.01)] {
            let k = ((1.0 - eta) * f64::from(l)).floor() as u64;
            let psi = Hamming { n, theta }.log_psi();
            let by_theorem: f64 = (0..=u64::from(n))
                .map(|h| failing(n.into(), l.into(), k, h) * (-theta * h as f64 - psi).exp())
                .sum();
            let found = hamming_failure(n, l, eta, theta);
            assert!(
                (found - by_theorem).abs() < 1e-11,
                "{n} {l}: {found} {by_theorem}"
            );
        }
    }
}

#[test]
fn what_a_permutation_preserves_is_the_golden_share() {
    for e in golden("preserved") {
        let sigma = rows(&e["params"]["sigma"]);
        let set = rows(&e["params"]["S"]);
        let mut marked = vec![false; sigma.len()];
        let found = kept(&set, &sigma, &mut marked);
        assert_eq!(
            u64::from(found),
            e["values"]["preserved"].as_u64().unwrap(),
            "{}",
            e["id"]
        );
        assert!(!marked.contains(&true));
    }
}

/// The mean share that simulated shuffles preserve against the golden exact one; 4000 shuffles, five
/// standard errors.
#[test]
fn simulated_preservation_has_the_golden_mean() {
    for e in golden("kendall_preservation") {
        let sigma0 = rows(&e["params"]["sigma0"]);
        let set = rows(&e["params"]["S"]);
        let theta = e["params"]["theta"].as_f64().unwrap();
        let n = sigma0.len();
        let groups = Groups::listed(n, vec![("S".to_owned(), set.clone())]).unwrap();
        let mut plan = Plan::new(&groups, 1.0, Distance::Kendall, OrderChoice::Best, None).unwrap();
        (plan.theta, plan.reference.rows) = (theta, sigma0);
        let found = plan.preservation(&groups, &[0], 4000, (0.05, 0.95), &Randomness::seeded(1))[0];
        let law = e["values"]["overlap_distribution"].as_array().unwrap();
        let mean = e["values"]["mean_fraction"].as_f64().unwrap();
        let size = set.len() as f64;
        let variance: f64 = law
            .iter()
            .zip(0u32..)
            .map(|(p, kept)| p.as_f64().unwrap() * (f64::from(kept) / size - mean).powi(2))
            .sum();
        assert!(
            (found.mean - mean).abs() < 5.0 * (variance / 4000.0).sqrt(),
            "{}",
            e["id"]
        );
        // The limit is below the quantile that it limits.
        let mut below = 0.0;
        for (kept, p) in (0u32..).zip(law) {
            if f64::from(kept) / size < found.eta.unwrap() {
                below += p.as_f64().unwrap();
            }
        }
        assert!(below <= 0.05, "{}: {below}", e["id"]);
    }
}

#[test]
fn the_fewest_shuffles_are_enough_and_one_less_is_not() {
    for (delta, confidence) in [(0.05, 0.95), (0.01, 0.99), (0.5, 0.9)] {
        let trials = trials_for(delta, confidence);
        assert!((1.0 - delta).powf(trials as f64) <= 1.0 - confidence);
        assert!((1.0 - delta).powf(trials as f64 - 1.0) > 1.0 - confidence);
        let eta = |trials: u64| {
            let mut counts = vec![3; trials as usize];
            Preserved::new(&mut counts, 4, delta, confidence).eta
        };
        assert_eq!((eta(trials), eta(trials - 1)), (Some(0.75), None));
    }
}

/// Ranks from scipy.stats.binom: the largest i with P(Bin(T, 0.05) ≤ i − 1) ≤ 0.05. The first of the
/// probabilities that are summed underflow.
#[test]
fn many_shuffles_limit_eta_by_the_right_rank() {
    for (trials, rank) in [(14_600, 687), (1_000_000, 49_642)] {
        let mut counts: Vec<u32> = (1..=trials).rev().collect();
        let found = Preserved::new(&mut counts, 1, 0.05, 0.95).eta;
        assert_eq!(found, Some(f64::from(rank)));
    }
}

/// The four sets of Theorem A.4's proof: places that differ, by where their values were and are.
#[test]
fn values_that_leave_and_enter_a_set_are_the_golden_ones() {
    for e in golden("a13_sets") {
        let (sigma0, sigma) = (rows(&e["params"]["sigma0"]), rows(&e["params"]["sigma"]));
        let v = &e["values"];
        // The example of the paper names {2, 4, 5, 8}; its values are those of {2, 4, 5, 7}.
        let set = [1, 3, 4, 6];
        let at = |sigma: &[u32]| set.iter().map(|i| sigma[*i as usize]).collect::<Vec<u32>>();
        assert_eq!(at(&sigma0), rows(&v["S_sigma0"]));
        assert_eq!(at(&sigma), rows(&v["S_sigma"]));
        let size = |name: &str| v[name].as_array().unwrap().len() as u64;
        let distance = hamming(&sigma0, &sigma);
        assert_eq!(distance, v["hamming"].as_u64().unwrap());
        assert_eq!(distance, size("A") + size("B") + size("C") + size("D"));
        let moved = compose(&inverse(&sigma0), &sigma);
        let stayed = kept(&set, &moved, &mut vec![false; sigma.len()]);
        assert_eq!(u64::from(stayed), set.len() as u64 - size("A"));
    }
}
