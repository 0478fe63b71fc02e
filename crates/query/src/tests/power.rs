//! How many samples are said to find a leak, and how many do.

use super::*;

#[test]
fn a_leak_that_the_budget_could_not_find_is_known() {
    let labels = ["0".to_owned(), "1".to_owned()];
    let mut rng = rng(10);
    let mut auditor = Auditor::new(&labels, options("dp(epsilon=1)", 0, 4_000)).unwrap();
    while let Some(draws) = auditor.wanted() {
        let mut noisy = Vec::new();
        for &(input, count) in draws {
            noisy.extend((0..count).map(|_| input as f64 + laplace(&mut rng, 1.0)));
        }
        auditor.push(vec![Column::Numbers(noisy)]).unwrap();
    }
    let power = auditor.power().unwrap();
    let near = power.samples_to_find(1.1, 0.9).unwrap();
    let far = power.samples_to_find(2.0, 0.9).unwrap();
    assert!(near > 10_000 && far < 2_000, "{near} {far}");
}

/// An audit of so many pairs of inputs, of which the last leaks this ε and the others satisfy ε = 1.
fn pairs_audit(pairs: usize, epsilon: f64, options: QueryOptions) -> Auditor {
    let labels: Vec<String> = (0..2 * pairs).map(|input| input.to_string()).collect();
    let options = QueryOptions {
        pairs: Some((0..pairs).map(|pair| (2 * pair, 2 * pair + 1)).collect()),
        ..options
    };
    let mut rng = rng(20_000 + options.seed);
    let mut auditor = Auditor::new(&labels, options).expect("good options");
    while let Some(draws) = auditor.wanted() {
        let mut noisy = Vec::new();
        for &(input, count) in draws {
            let scale = if input / 2 + 1 == pairs {
                1.0 / epsilon
            } else {
                1.0
            };
            let one = || (input % 2) as f64 + laplace(&mut rng, scale);
            noisy.extend(std::iter::repeat_with(one).take(count));
        }
        auditor
            .push(vec![Column::Numbers(noisy)])
            .expect("as asked for");
    }
    auditor
}

/// How many samples are stated for a power of 0.9 by an audit of what is correct.
fn stated(correct: &Auditor, epsilon: f64) -> u64 {
    let power = correct.power().expect("a claim about ε");
    power.samples_to_find(epsilon, 0.9).expect("a leak")
}

/// As many samples as are stated for a power of 0.9 find a leak in at least that part of the runs, up to chance; a
/// third of them do not.
fn check(what: &str, stated: u64, find: impl Fn(u64, u64) -> Auditor) {
    let runs = 100;
    let found_by = |samples: u64| {
        let found = (0..runs).filter(|&seed| find(seed, samples).stop == Some(Stop::Violated));
        found.count()
    };
    let (found, third) = (found_by(stated), found_by(stated / 3));
    println!("{what}: {stated} samples find {found} of {runs}, a third of them {third}");
    assert!(
        runs as usize - found <= at_most(runs as usize, 0.1),
        "{what}: {stated} samples find {found}"
    );
    assert!(
        third <= 85,
        "{what}: a third of {stated} samples find {third}"
    );
}

#[test]
#[ignore = "long"]
fn stated_numbers_of_samples_find_the_leak() {
    for (pairs, epsilon) in [(1, 2.0), (1, 1.5), (1, 1.25), (2, 1.5), (4, 2.0), (8, 1.5)] {
        let correct = pairs_audit(pairs, 1.0, options("dp(epsilon=1)", 0, 4_000));
        let what = format!("{pairs} pairs, epsilon {epsilon}");
        check(&what, stated(&correct, epsilon), |seed, samples| {
            pairs_audit(pairs, epsilon, options("dp(epsilon=1)", seed, samples))
        });
    }
}

/// Randomized response among two words at this ε.
fn words_audit(epsilon: f64, options: QueryOptions) -> Auditor {
    let labels = ["no".to_owned(), "yes".to_owned()];
    let mut rng = rng(30_000 + options.seed);
    let mut auditor = Auditor::new(&labels, options).expect("good options");
    let lies = 1.0 / (1.0 + epsilon.exp());
    while let Some(draws) = auditor.wanted() {
        let mut words = Vec::new();
        for &(input, count) in draws {
            let one = || Cell::Word(labels[input ^ usize::from(rng.random_bool(lies))].clone());
            words.extend(std::iter::repeat_with(one).take(count));
        }
        auditor
            .push(vec![Column::Cells(words)])
            .expect("as asked for");
    }
    auditor
}

#[test]
fn stated_numbers_of_words_find_the_leak() {
    for epsilon in [3.0, 2.0, 1.5, 1.25, 1.15] {
        let correct = words_audit(1.0, options("dp(epsilon=1)", 0, 4_000));
        let what = format!("words, epsilon {epsilon}");
        check(&what, stated(&correct, epsilon), |seed, samples| {
            words_audit(epsilon, options("dp(epsilon=1)", seed, samples))
        });
    }
}
