use super::*;
use crate::mechanism::parse;

/// All messages of all users listed: the hockey-stick divergence of the histograms for every input of the others.
fn brute(channel: &Channel, n: u32, epsilon: f64) -> f64 {
    let k = channel.observations().len();
    let inputs = channel.secrets().len();
    let mut largest = 0.0f64;
    let histograms = |users: &[usize]| {
        let mut law = std::collections::BTreeMap::from([(vec![0u32; k], 1.0)]);
        for &x in users {
            let mut next = std::collections::BTreeMap::new();
            for (counts, p) in &law {
                for (y, r) in channel.row(x).iter().enumerate() {
                    let mut counts = counts.clone();
                    counts[y] += 1;
                    *next.entry(counts).or_insert(0.0) += p * r;
                }
            }
            law = next;
        }
        law
    };
    for code in 0..inputs.pow(n - 1) {
        let others: Vec<usize> = (0..n - 1).map(|i| code / inputs.pow(i) % inputs).collect();
        for a in 0..inputs {
            for b in 0..inputs {
                let [p, q] = [a, b].map(|x| histograms(&[&others[..], &[x]].concat()));
                let delta: f64 = p
                    .iter()
                    .map(|(h, p)| (p - epsilon.exp() * q[h]).max(0.0))
                    .sum();
                largest = largest.max(delta);
            }
        }
    }
    largest
}

/// Every upper bound is above, and the lower limit below, the truth of every choice of inputs.
#[test]
fn bounds_enclose_the_truth_for_all_inputs_of_few_users() {
    for text in [
        "randomized-response(epsilon=1, secrets=2)",
        "randomized-response(epsilon=2, secrets=3)",
        "truncated-geometric(nu=0.7, secrets=3)",
    ] {
        let channel = Channel::of_mechanism(&*parse(text).unwrap()).unwrap();
        for epsilon in [0.0, 0.2, 0.7] {
            let truth = brute(&channel, 5, epsilon);
            let bounds = shuffle_delta(&channel, 5, epsilon).unwrap();
            let least = bounds.least.unwrap();
            assert!(
                least <= truth * (1.0 + 1e-12),
                "{text} {epsilon}: {bounds:?} {truth}"
            );
            for upper in [
                bounds.clone,
                bounds.stronger_clone,
                bounds.variation_ratio,
                Some(bounds.blanket),
            ] {
                assert!(
                    upper.unwrap() >= truth * (1.0 - 1e-12),
                    "{text} {epsilon}: {bounds:?} {truth}"
                );
            }
        }
    }
}

/// By sums over both counts in Python (scipy): binary randomized response with ε₀ = 2, n = 1000, ε = 0.1.
#[test]
fn published_example() {
    let channel =
        Channel::of_mechanism(&*parse("randomized-response(epsilon=2, secrets=2)").unwrap())
            .unwrap();
    let bounds = shuffle_delta(&channel, 1000, 0.1).unwrap();
    for (found, expected) in [
        (bounds.clone.unwrap(), 0.017667720157100046),
        (bounds.stronger_clone.unwrap(), 0.008441658141337417),
        (bounds.variation_ratio.unwrap(), 0.008441658141337417),
        (bounds.least.unwrap(), 0.00366036731274373),
    ] {
        assert!((found / expected - 1.0).abs() < 1e-9, "{found} {expected}");
    }
    // The grid of the blanket's sum errs above.
    let ratio = bounds.blanket / 0.008441658141337407;
    assert!((1.0 - 1e-9..1.0001).contains(&ratio), "{ratio}");
}
