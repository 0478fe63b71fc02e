use super::*;
use crate::extreme::Extreme;
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
                    .map(|(h, p)| (p - epsilon.exp() * q[h]).at_least(0.0))
                    .sum();
                largest = largest.at_least(delta);
            }
        }
    }
    largest
}

/// Every upper bound is above, and the lower limit below, the truth of every choice of inputs.
#[test]
fn bounds_enclose_the_truth_for_all_inputs_of_few_users() {
    for (text, n) in [
        ("randomized-response(epsilon=1, secrets=2)", 5),
        ("randomized-response(epsilon=1, secrets=3)", 5),
        ("randomized-response(epsilon=2, secrets=3)", 5),
        (
            "randomized-response(epsilon=1.0986122886681098, secrets=4)",
            4,
        ),
        ("truncated-geometric(nu=0.7, secrets=3)", 5),
        ("subset-selection(epsilon=1, secrets=4)", 3),
        ("rappor(epsilon=1, secrets=3)", 3),
    ] {
        let channel = Channel::of_mechanism(&*parse(text).unwrap()).unwrap();
        for epsilon in [0.0, 0.2, 0.5, 0.69, 0.8, 0.95] {
            let truth = brute(&channel, n, epsilon);
            let bounds = shuffle_delta(&channel, n.into(), epsilon).unwrap();
            let least = bounds.least.unwrap();
            assert!(
                least <= truth * (1.0 + 1e-12),
                "{text} {epsilon}: {bounds:?} {truth}"
            );
            for upper in [
                bounds.clone,
                bounds.stronger_clone,
                bounds.variation_ratio,
                bounds.blanket,
            ] {
                assert!(
                    upper.unwrap() >= truth * (1.0 - 1e-12),
                    "{text} {epsilon}: {bounds:?} {truth}"
                );
            }
        }
    }
}

/// Lower limits and upper bounds do not cross, far into the tail either.
#[test]
fn limits_do_not_cross() {
    for text in [
        "randomized-response(epsilon=1, secrets=3)",
        "subset-selection(epsilon=1, secrets=4)",
        "truncated-geometric(nu=0.7, secrets=3)",
    ] {
        let reports = Reports::of(&*parse(text).unwrap()).unwrap();
        let epsilons = [0.3, 0.95];
        let found = survey(text, &reports, &[2, 6, 30], &epsilons).unwrap();
        for row in found.rows {
            let least = row.least.unwrap_or(0.0);
            assert!(least <= row.best * (1.0 + 1e-9), "{text}: {row:?}");
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
        (bounds.exact.unwrap(), 0.0036695010437699195),
        (bounds.least.unwrap(), 0.0036695010437699195),
    ] {
        assert!((found / expected - 1.0).abs() < 2e-9, "{found} {expected}");
    }
    // The grid of the blanket's sum errs above.
    let ratio = bounds.blanket.unwrap() / 0.008441658141337407;
    assert!((1.0 - 1e-9..1.0001).contains(&ratio), "{ratio}");
}

/// A channel of the messages in many narrow cells, of which the bound from the blanket is that of the messages in the
/// limit.
fn in_cells(text: &str, cuts: &[f64]) -> Channel {
    let bound = parse(text).unwrap().bind_declared().unwrap();
    let rows: Vec<f64> = (0..bound.secret_count())
        .flat_map(|secret| {
            let (crate::mechanism::Law::Real(law) | crate::mechanism::Law::Integer(law)) =
                bound.law(secret)
            else {
                panic!("a law on numbers");
            };
            let at: Vec<f64> = std::iter::once(0.0)
                .chain(cuts.iter().map(|x| law(*x)))
                .chain([1.0])
                .collect();
            at.windows(2).map(|p| p[1] - p[0]).collect::<Vec<_>>()
        })
        .collect();
    let labels = |n: usize| (0..n).map(|at| at.to_string()).collect::<Vec<_>>();
    Channel::new(labels(bound.secret_count()), labels(cuts.len() + 1), rows).unwrap()
}

/// Whoever sees only cells of messages learns less: a lower limit of all messages is below an upper bound of theirs,
/// and both blankets meet as cells get narrow.
#[test]
fn noise_is_as_private_as_its_cells_in_the_limit() {
    for (text, cuts) in [
        ("laplace(scale=1, secrets=2)", 4000),
        ("gaussian(sigma=1.5, secrets=2)", 4000),
        ("laplace(scale=2, secrets=4)", 4000),
    ] {
        let cuts: Vec<f64> = (0..=cuts)
            .map(|at| -14.0 + 29.0 * f64::from(at) / f64::from(cuts))
            .collect();
        let reports = Reports::of(&*parse(text).unwrap()).unwrap();
        let coarse = Messages::of(&Reports::Listed(in_cells(text, &cuts))).unwrap();
        let noise = Messages::of(&reports).unwrap();
        for (n, epsilon) in [(10, 0.3), (1000, 0.1)] {
            let [cells, all] = [&coarse, &noise].map(|m| m.delta(n, epsilon).unwrap());
            let ratio = all.blanket.unwrap() / cells.blanket.unwrap();
            assert!(
                (0.99..1.02).contains(&ratio),
                "{text} {n} {all:?} {cells:?}"
            );
            assert!(all.least.unwrap() <= all.best, "{text} {n} {all:?}");
            assert!(all.least.unwrap() > 0.0, "{text} {n} {all:?}");
        }
    }
}

/// A geometric mechanism has the figures of one that is truncated far out.
#[test]
fn integer_noise_is_like_noise_truncated_far_out() {
    let delta = |text: &str| {
        let reports = Reports::of(&*parse(text).unwrap()).unwrap();
        survey(text, &reports, &[20], &[0.2]).unwrap().rows[0]
    };
    let all = delta("geometric(nu=1, secrets=3)");
    let truncated = delta("truncated-geometric(nu=1, secrets=3, observations=-20..22)");
    let [x, y] = [all, truncated].map(|row| row.blanket.unwrap());
    assert!((x / y - 1.0).abs() < 1e-6, "{x} {y}");
    assert!((all.clone.unwrap() / truncated.clone.unwrap() - 1.0).abs() < 1e-9);
}

/// Mechanisms whose messages are neither listed nor numbers have the bounds of their ε, and normal noise that of its
/// blanket.
#[test]
fn every_mechanism_has_a_bound() {
    for (text, blanket) in [
        ("planar-laplace(scale=1, secrets=2)", false),
        ("gaussian(sigma=2, secrets=2)", true),
        ("discrete-gaussian(sigma=2, secrets=2)", true),
        ("staircase(epsilon=1, secrets=3)", true),
        ("rappor(epsilon=1, secrets=1000)", false),
        ("laplace(scale=1, secrets=0..1e6)", false),
    ] {
        let reports = Reports::of(&*parse(text).unwrap()).unwrap();
        let row = survey(text, &reports, &[10_000], &[0.3]).unwrap().rows[0];
        assert_eq!(row.blanket.is_some(), blanket, "{text} {row:?}");
        assert!(row.best <= 1.0 && row.best > 0.0, "{text} {row:?}");
        assert!(
            row.least.is_none_or(|least| least <= row.best),
            "{text} {row:?}"
        );
    }
}

/// Dozens of messages that hardly occur: a box of their histograms has few cells, and the one that is one longer along
/// every side has billions. The truth is from all pairs of messages by mpmath, 30 digits.
#[test]
fn two_users_of_integer_noise_are_answered_exactly() {
    let text = "discrete-gaussian(sigma=1, secrets=3)";
    let reports = Reports::of(&*parse(text).unwrap()).unwrap();
    let row = survey(text, &reports, &[2], &[5.0]).unwrap().rows[0];
    let truth = 0.018_520_817_558_642_36;
    assert!(
        (row.least.unwrap() - truth).abs() < 1e-11 * truth,
        "{row:?}"
    );
    // All sums of two users' terms; a grid of their sums gives 0.0385.
    assert!((truth..0.0306).contains(&row.best), "{row:?}");
}

/// By convolution of binomial laws in Python (numpy) for every number of other users with input 1; the largest is not that
/// where all have the same input.
#[test]
fn two_messages_have_an_exact_delta() {
    let text = "randomized-response(epsilon=2, secrets=2)";
    let channel = Channel::of_mechanism(&*parse(text).unwrap()).unwrap();
    for (n, epsilon, expected) in GOLDEN_BINARY {
        let found = shuffle_delta(&channel, n, epsilon).unwrap();
        let exact = found.exact.unwrap();
        assert!((exact / expected - 1.0).abs() < 1e-10, "{n}: {exact:e}");
        assert!(found.least.unwrap() <= exact && exact <= found.best);
        assert!(found.best <= exact * (1.0 + 1e-8));
        // Three inputs are not two.
        let three = parse("randomized-response(epsilon=2, secrets=3)").unwrap();
        let three = Channel::of_mechanism(&*three).unwrap();
        assert_eq!(shuffle_delta(&three, 10, epsilon).unwrap().exact, None);
    }
}

/// n, ε and δ.
const GOLDEN_BINARY: [(u64, f64, f64); 4] = [
    (10, 0.5, 0.22230457431397818),
    (200, 0.5, 0.0004093846450600175),
    (1000, 0.1, 0.0036695010437699195),
    (1500, 0.3, 5.85580031167384e-8),
];

/// e^ε is no number there, and δ is next to nothing.
#[test]
fn an_epsilon_beyond_all_numbers_has_a_delta() {
    for text in [
        "randomized-response(epsilon=1, secrets=3)",
        "randomized-response(epsilon=2, secrets=2)",
    ] {
        let channel = Channel::of_mechanism(&*parse(text).unwrap()).unwrap();
        for epsilon in [5.0, 650.0, 1e19, f64::MAX] {
            for n in [5, 1_000_000_000] {
                let found = shuffle_delta(&channel, n, epsilon).unwrap();
                assert!(found.best <= 1e-8, "{text} {epsilon}: {found:?}");
                assert!(found.blanket.unwrap() <= 1.0, "{text} {epsilon}: {found:?}");
            }
        }
    }
}

/// Pairs whose coarse bound is smaller than a fine one are not looked at again: the result is that of all.
#[test]
#[ignore = "long"]
fn pairs_that_cannot_be_the_worst_are_passed_over() {
    for (mechanism, n, epsilon) in [
        ("staircase(epsilon=2, secrets=3)", 6, 0.5),
        ("geometric(nu=0.7, secrets=0..2)", 20, 0.2),
        ("gaussian(sigma=2, secrets=3)", 5, 0.1),
    ] {
        let mechanism = crate::mechanism::parse(mechanism).unwrap();
        let cells = match Reports::of(&*mechanism).unwrap() {
            Reports::Listed(channel) => Cells::of_channel(&channel),
            Reports::Mechanism(bound) => Cells::of_noise(&*bound).unwrap(),
        };
        let pairs = ordered_pairs(cells.inputs());
        let each = pairs.iter().map(|&pair| cells.blanket(&[pair], n, epsilon));
        let largest = each.fold(0.0, f64::at_least);
        let all = cells.blanket(&pairs, n, epsilon);
        assert_eq!(all, largest, "{mechanism}");
        assert!(all < 1.0, "{mechanism}: {all}");
    }
}
