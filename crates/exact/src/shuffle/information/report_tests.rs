//! Reports of mechanisms, posteriors and positions against enumerations and independent values.

use std::collections::HashMap;

use super::*;
use crate::channel::{Channel, Prior};
use crate::mechanism::parse;

fn close(found: f64, expected: f64, tolerance: f64, what: &str) {
    assert!(
        (found - expected).abs() <= tolerance * expected.abs() + 1e-15,
        "{what}: {found:e}, not {expected:e}"
    );
}

fn question<'a>(prior: &'a Prior, sizes: &'a [u64]) -> Question<'a> {
    Question {
        prior,
        others: None,
        sizes,
        known: None,
    }
}

/// All orders of some numbers.
fn orders(items: &[usize]) -> Vec<Vec<usize>> {
    if items.is_empty() {
        return vec![Vec::new()];
    }
    let one = |at: usize| {
        let mut rest = items.to_vec();
        let first = rest.remove(at);
        orders(&rest)
            .into_iter()
            .map(move |rest| [vec![first], rest].concat())
    };
    (0..items.len()).flat_map(one).collect()
}

/// I(K; Z), by listing all messages and all shuffles.
fn position_by_shuffles(rows: &[&[f64]]) -> f64 {
    let (users, width) = (rows.len(), rows[0].len());
    let shuffles = orders(&(0..users).collect::<Vec<_>>());
    let mut joint: HashMap<(usize, Vec<usize>), f64> = HashMap::new();
    for number in 0..width.pow(users as u32) {
        let messages: Vec<usize> = (0..users)
            .map(|user| number / width.pow(user as u32) % width)
            .collect();
        let likelihood: f64 = messages.iter().zip(rows).map(|(y, row)| row[*y]).product();
        for order in &shuffles {
            let seen = order.iter().map(|user| messages[*user]).collect();
            let place = order.iter().position(|user| *user == 0).unwrap();
            *joint.entry((place, seen)).or_default() += likelihood / shuffles.len() as f64;
        }
    }
    let mut seen: HashMap<&Vec<usize>, f64> = HashMap::new();
    for ((_, messages), p) in &joint {
        *seen.entry(messages).or_default() += p;
    }
    let told = |((_, messages), p): (&(usize, Vec<usize>), &f64)| {
        if *p == 0.0 {
            0.0
        } else {
            p * (p * users as f64 / seen[messages]).ln()
        }
    };
    joint.iter().map(told).sum()
}

#[test]
fn positions_given_inputs_are_those_of_all_shuffles() {
    let rows = [
        vec![0.5, 0.3, 0.2],
        vec![0.1, 0.6, 0.3],
        vec![0.25, 0.25, 0.5],
    ];
    let channel = Channel::from_rows(&rows).unwrap();
    let prior = Prior::uniform(3);
    for known in [[2u64, 1, 0], [0, 1, 2], [4, 0, 0], [1, 1, 1]] {
        let asked = Question {
            known: Some(&known),
            ..question(&prior, &[])
        };
        let survey = survey_reports("m", &Reports::Listed(channel.clone()), &asked).unwrap();
        let positions = survey.positions.unwrap();
        assert_eq!(positions.len(), 3);
        for (input, found) in positions.iter().enumerate() {
            let others = known
                .iter()
                .enumerate()
                .flat_map(|(x, n)| std::iter::repeat_n(rows[x].as_slice(), *n as usize));
            let users: Vec<&[f64]> = std::iter::once(rows[input].as_slice())
                .chain(others)
                .collect();
            let expected = position_by_shuffles(&users);
            close(found.position, expected, 1e-12, "position");
            // Both bounds hold for any inputs, and that for n is the sharper one.
            let asked = question(&prior, std::slice::from_ref(&found.n));
            let bound = survey_reports("m", &Reports::Listed(channel.clone()), &asked).unwrap();
            let hidden = bound.rows[0].position_blanket.unwrap();
            assert!(found.position <= hidden && hidden <= bound.position_bound.unwrap());
        }
    }
}

#[test]
fn other_users_may_have_a_law_of_their_own() {
    let rows = [vec![0.7, 0.3], vec![0.2, 0.8]];
    let channel = Channel::from_rows(&rows).unwrap();
    let prior = Prior::uniform(2);
    let others = Prior::new(vec![0.9, 0.1]).unwrap();
    let asked = Question {
        others: Some(&others),
        ..question(&prior, &[4])
    };
    let survey = survey_reports("m", &Reports::Listed(channel.clone()), &asked).unwrap();
    // By listing the histograms: the number of zeros of four messages.
    let decoy: [f64; 2] = [0.9 * 0.7 + 0.1 * 0.2, 0.9 * 0.3 + 0.1 * 0.8];
    let binomial = [1.0, 3.0, 3.0, 1.0];
    let law = |k: usize| binomial[k] * decoy[0].powi(k as i32) * decoy[1].powi(3 - k as i32);
    let mut expected = 0.0;
    for zeros in 0..=4usize {
        let given = |row: &[f64]| {
            let own = if zeros > 0 {
                row[0] * law(zeros - 1)
            } else {
                0.0
            };
            own + if zeros < 4 { row[1] * law(zeros) } else { 0.0 }
        };
        let both = [given(&rows[0]), given(&rows[1])];
        let mean = 0.5 * (both[0] + both[1]);
        expected += both.iter().map(|p| 0.5 * p * (p / mean).ln()).sum::<f64>();
    }
    close(survey.rows[0].input.exact, expected, 1e-12, "others");
}

#[test]
fn noise_on_numbers_is_integrated() {
    // Laplace noise with ε = 1: by 30-digit quadrature.
    let reports = Reports::of(&*parse("laplace(scale=1, secrets=0..1)").unwrap()).unwrap();
    let prior = Prior::uniform(2);
    let survey = survey_reports("laplace", &reports, &question(&prior, &[1, 10])).unwrap();
    close(survey.rows[1].input.exact, 0.00860821710, 6e-10, "laplace");
    assert_eq!(survey.epsilon, Some(1.0));
    // The mass of the blanket is the overlap of both densities.
    close(survey.gamma, (-0.5f64).exp(), 1e-12, "overlap");
    // E ln(R/min R): 1 on half of the mass, and the integral of (1 − 2y)e^−y/2 over the other up to ½.
    let bound = 0.5 + 0.5 * (2.0 * (-0.5f64).exp() - 1.0);
    close(survey.position_bound.unwrap(), bound, 1e-12, "position");
    // Alone it is the information of the channel: of the normal one, by 30-digit quadrature.
    let reports = Reports::of(&*parse("gaussian(sigma=1, secrets=0..1)").unwrap()).unwrap();
    let survey = survey_reports("gaussian", &reports, &question(&prior, &[1])).unwrap();
    assert_eq!(survey.epsilon, None);
    close(
        survey.rows[0].input.exact,
        normal_information(1.0),
        1e-10,
        "normal",
    );
}

/// I(X; X·d + N(0, 1)) of a fair bit, by a fine trapezoidal sum.
fn normal_information(d: f64) -> f64 {
    let step = 1e-3;
    let density = |y: f64| (-0.5 * y * y).exp() / std::f64::consts::TAU.sqrt();
    let term = |k: i32| {
        let y = f64::from(k) * step;
        let (p, q) = (density(y), density(y - d));
        0.5 * step * (p * (2.0 * p / (p + q)).ln() + q * (2.0 * q / (p + q)).ln())
    };
    (-12_000..=13_000).map(term).sum()
}

#[test]
fn geometric_noise_is_summed() {
    // The overlap of two geometric laws one apart, and the randomizer cut off far out by hand.
    let mechanism = parse("geometric(nu=1, secrets=0..1)").unwrap();
    let reports = Reports::of(&*mechanism).unwrap();
    let prior = Prior::uniform(2);
    let survey = survey_reports("geometric", &reports, &question(&prior, &[1, 6])).unwrap();
    let a = (-1.0f64).exp();
    let mass = |x: i32| (1.0 - a) / (1.0 + a) * a.powi(x.abs());
    let row = |c: i32| (-60..=61).map(|y| mass(y - c)).collect::<Vec<f64>>();
    let channel = Channel::from_rows(&[row(0), row(1)]).unwrap();
    let by_hand = Signal::among(&channel, &prior, &prior).unwrap();
    for row in &survey.rows {
        let expected = by_hand.information(row.n).unwrap();
        close(row.input.exact, expected, 1e-11, "geometric");
    }
}

#[test]
fn classes_give_what_the_matrix_gives() {
    for text in [
        "rappor(epsilon=1.5, secrets=6)",
        "oue(epsilon=0.7, secrets=5)",
        "subset-selection(epsilon=1, secrets=7, size=3)",
        "subset-selection(epsilon=1, secrets=4, size=4)",
        "randomized-response(epsilon=1, secrets=2)",
        "randomized-response(epsilon=2, secrets=9)",
    ] {
        let mechanism = parse(text).unwrap();
        let bound = mechanism.bind_declared().unwrap();
        let classes = bound.likelihood_classes().unwrap();
        let sums = classes
            .iter()
            .fold([0.0; 2], |s, c| [s[0] + c.own, s[1] + c.mean]);
        assert!(sums.iter().all(|s: &f64| (s - 1.0).abs() < 1e-13), "{text}");
        let alike = Alike {
            inputs: bound.secret_count() as f64,
            capacity: bound.capacity(),
            epsilon: bound.epsilon(),
            classes,
        };
        let matrix = Reports::of(&*mechanism).unwrap();
        let Reports::Listed(channel) = &matrix else {
            panic!("{text} has a matrix");
        };
        let prior = Prior::uniform(channel.secrets().len());
        let asked = question(&prior, &[1, 2, 5, 1000]);
        let expected = survey_reports(text, &matrix, &asked).unwrap();
        let found = survey_reports(text, &Reports::Alike(alike), &asked).unwrap();
        close(found.gamma, expected.gamma, 1e-12, text);
        let bounds = (found.position_bound, expected.position_bound);
        close(bounds.0.unwrap(), bounds.1.unwrap(), 1e-11, text);
        for (one, other) in found.rows.iter().zip(&expected.rows) {
            close(one.input.exact, other.input.exact, 1e-11, text);
            close(one.input.blanket, other.input.blanket, 1e-10, text);
            let (a, b) = (one.input.asymptotic, other.input.asymptotic);
            close(a.unwrap(), b.unwrap(), 1e-11, text);
            let hidden = (one.position_blanket, other.position_blanket);
            close(hidden.0.unwrap(), hidden.1.unwrap(), 1e-10, text);
        }
    }
    let large = Reports::of(&*parse("rappor(epsilon=1, secrets=100000)").unwrap()).unwrap();
    assert!(matches!(large, Reports::Alike(_)));
}

#[test]
fn posteriors_are_shares_of_likelihood_ratios() {
    let labels = ["a", "b", "c", "d"].map(str::to_owned);
    let (p, q) = ([0.5, 0.3, 0.0, 0.2], [0.25, 0.6, 0.15, 0.0]);
    let seen = |pairs: &[(&str, u64)]| -> Vec<(String, u64)> {
        pairs.iter().map(|(l, n)| ((*l).to_owned(), *n)).collect()
    };
    // Ratios 2, 1/2 and 0: 2/(2 + 2·½ + 0).
    let found = posteriors(&labels, [&p, &q], &seen(&[("a", 1), ("b", 2), ("c", 3)])).unwrap();
    let expected = [(2.0 / 3.0, 2.0 / 3.0), (1.0 / 3.0, 1.0 / 6.0), (0.0, 0.0)];
    for (one, (message, position)) in found.iter().zip(expected) {
        close(one.message, message, 1e-14, &one.label);
        close(one.position, position, 1e-14, &one.label);
    }
    // What no decoy sends is the target's.
    let found = posteriors(&labels, [&p, &q], &seen(&[("a", 5), ("d", 1)])).unwrap();
    assert_eq!((found[0].message, found[1].message), (0.0, 1.0));
    for impossible in [&[("d", 2)][..], &[("c", 2)], &[("e", 1)], &[]] {
        assert!(posteriors(&labels, [&p, &q], &seen(impossible)).is_err());
    }
}

/// Entropies of a message and of an input of probability near 10⁻¹¹, alone and so without a shuffle.
#[test]
fn rare_messages_and_inputs_keep_their_information() {
    let (p, q) = ([1e-12, 1.0 - 1e-12], [1.0 - 1e-11, 1e-11]);
    let entropy = |p: f64| -p * p.ln() - (1.0 - p) * (-p).ln_1p();
    let found = Basic::new(&p, &q).unwrap().message(1).unwrap();
    close(found, entropy(1e-12), 1e-4, "message");
    let rows = [vec![1.0, 0.0], vec![0.0, 1.0]];
    let channel = Channel::from_rows(&rows).unwrap();
    let prior = Prior::new(vec![1.0 - 1e-11, 1e-11]).unwrap();
    let signal = Signal::among(&channel, &prior, &Prior::uniform(2)).unwrap();
    close(
        signal.information(1).unwrap(),
        entropy(1e-11),
        1e-4,
        "input",
    );
    // Counts 10¹² : 1, against decoys alike.
    let whole = 1e12 + 1.0;
    let counts = [1e12 / whole, 1.0 / whole];
    let basic = Basic::new(&counts, &counts).unwrap();
    close(
        basic.message(1).unwrap(),
        entropy(counts[1]),
        1e-4,
        "counts",
    );
    // A message that decoys send with probability 10⁻²⁴ is as good as one that they never send.
    let rows = [vec![0.0, 1.0], vec![1.0, 0.0]];
    let channel = Channel::from_rows(&rows).unwrap();
    let signal = Signal::new(&channel, &Prior::uniform(2), &[1.0, 1e-24]).unwrap();
    close(
        signal.information(1).unwrap(),
        2f64.ln(),
        1e-10,
        "impossible decoys",
    );
}
