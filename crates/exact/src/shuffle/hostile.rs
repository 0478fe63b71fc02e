//! Figures of the shuffle model over hostile parameters, against sums over all sequences of messages.

use crate::extreme::Extreme;
use proptest::prelude::*;
use proptest::sample::select;

use super::information::excess;
use super::information::{Basic, Question, Reports, Signal, survey_reports};
use super::reidentification::{Game, RatioLaw, given_inputs};
use super::vulnerability::{ShuffledInputs, informed_vulnerability};
use crate::channel::{Channel, Prior};

/// A law with weights over twelve decades, and sometimes none; or counts 10¹² : 1.
fn law(size: usize) -> impl Strategy<Value = Vec<f64>> {
    let weight = select(vec![0.0, 1e-12, 1e-6, 0.1, 1.0, 1.0 + 1e-9, 3.0, 1e12]);
    proptest::collection::vec(weight, size).prop_map(|mut weights| {
        if weights.iter().all(|w| *w == 0.0) {
            weights[0] = 1.0;
        }
        let whole: f64 = weights.iter().sum();
        weights.iter().map(|w| w / whole).collect()
    })
}

/// Everything that n users can send, in order, with its probability; the target first.
fn sequences(rows: &[&[f64]]) -> Vec<(Vec<usize>, f64)> {
    let (users, width) = (rows.len(), rows[0].len());
    (0..width.pow(users as u32))
        .map(|number| {
            let sent: Vec<usize> = (0..users)
                .map(|user| number / width.pow(user as u32) % width)
                .collect();
            let p = sent.iter().zip(rows).map(|(y, row)| row[*y]).product();
            (sent, p)
        })
        .collect()
}

/// The joint probabilities of a value of the target and the histogram that is seen, from those of the sequences.
fn by_histogram(
    laws: &[Vec<(Vec<usize>, f64)>],
    width: usize,
) -> std::collections::BTreeMap<Vec<usize>, Vec<f64>> {
    let mut found = std::collections::BTreeMap::new();
    for (value, law) in laws.iter().enumerate() {
        for (sent, p) in law {
            let mut histogram = vec![0; width];
            sent.iter().for_each(|y| histogram[*y] += 1);
            let joint = found
                .entry(histogram)
                .or_insert_with(|| vec![0.0; laws.len()]);
            joint[value] += p;
        }
    }
    found
}

/// Σ p·w·h((l − w)/w), w = Σ p·l and h(d) = (1 + d)·ln(1 + d) − d: no term is negative, and l − w is a sum of
/// differences.
fn information(joint: &std::collections::BTreeMap<Vec<usize>, Vec<f64>>, prior: &[f64]) -> f64 {
    let term = |given: &Vec<f64>| -> f64 {
        let whole: f64 = given.iter().zip(prior).map(|(l, p)| l * p).sum();
        if whole == 0.0 {
            return 0.0;
        }
        let each = given.iter().zip(prior).map(|(l, p)| {
            let above: f64 = given.iter().zip(prior).map(|(m, q)| q * (l - m)).sum();
            p * whole * excess(above / whole)
        });
        each.sum()
    };
    joint.values().map(term).sum()
}

/// Sums over listed histograms: both cancel to about 1e-16 for each of at most 81 sequences.
fn close(found: f64, expected: f64) -> bool {
    (found - expected).abs() <= 1e-9 * expected.abs() + 2e-14
}

/// Integrals of terms that do not cancel. The weights of a law sum to 1 up to 2e-16, and logarithms of ratios are at
/// most ln 10²⁴.
fn integrated(found: f64, expected: f64) -> bool {
    (found - expected).abs() <= 1e-9 * expected.abs() + 2e-16 * 56.0
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn information_is_that_of_all_sequences_and_below_its_bounds(
        rows in proptest::collection::vec(law(3), 2..=3),
        mine in law(3),
        others in law(3),
        n in 1usize..=4,
    ) {
        let channel = Channel::from_rows(&rows).unwrap();
        let inputs = rows.len();
        let some = |weights: &[f64]| {
            let whole: f64 = weights[..inputs].iter().sum();
            let weights = weights[..inputs].iter().map(|w| w / whole);
            if whole > 0.0 { weights.collect() } else { vec![1.0 / inputs as f64; inputs] }
        };
        let (prior, law) = (Prior::new(some(&mine)).unwrap(), Prior::new(some(&others)).unwrap());
        let decoy = channel.push_forward(&law).unwrap();
        let sent = |x: usize| {
            let mut all = vec![rows[x].as_slice()];
            all.resize(n, &decoy);
            sequences(&all)
        };
        let joint = by_histogram(&(0..inputs).map(sent).collect::<Vec<_>>(), 3);
        let expected = information(&joint, prior.weights());
        let found = Signal::among(&channel, &prior, &law).unwrap().information(n as u64).unwrap();
        prop_assert!(integrated(found, expected), "{found:e}, not {expected:e}");
        let asked = Question {
            prior: &prior,
            others: Some(&law),
            sizes: &[n as u64],
            known: None,
        };
        let survey = survey_reports("m", &Reports::Listed(channel), &asked).unwrap();
        let row = &survey.rows[0];
        prop_assert!(row.input.exact <= row.input.blanket);
        let hidden = row.position_blanket.unwrap();
        let most = survey.position_bound.unwrap_or(f64::INFINITY);
        prop_assert!(hidden <= most * (1.0 + 1e-12) + 1e-15, "{hidden:e} above {most:e}");
    }

    #[test]
    fn positions_and_guesses_are_those_of_all_sequences(
        rows in proptest::collection::vec(law(3), 2..=2),
        n in 1usize..=4,
        first in 0usize..=3,
    ) {
        let channel = Channel::from_rows(&rows).unwrap();
        let known = [first.min(n - 1) as u64, (n - 1 - first.min(n - 1)) as u64];
        let others = (0..2).flat_map(|x| std::iter::repeat_n(rows[x].as_slice(), known[x] as usize));
        let others: Vec<&[f64]> = others.collect();
        let prior = Prior::uniform(2);
        let mut laws = Vec::new();
        for (x, row) in rows.iter().enumerate() {
            let all = [&[row.as_slice()], &others[..]].concat();
            // By the message of the target: given the histogram, its place among equal ones is uniform.
            let mut sent = vec![Vec::new(); 3];
            sequences(&all).into_iter().for_each(|(s, p)| sent[s[0]].push((s, p)));
            let joint = by_histogram(&sent, 3);
            let guess: f64 = joint
                .iter()
                .map(|(h, of)| {
                    let each = of.iter().zip(h).filter(|(_, count)| **count > 0);
                    each.map(|(p, count)| p / *count as f64).fold(0.0, f64::at_least)
                })
                .sum();
            let found = given_inputs(&channel, x, &known, &[1]).unwrap()[0].success;
            prop_assert!(close(found, guess), "guess: {found:e}, not {guess:e}");
            let told: f64 = joint
                .iter()
                .map(|(h, of)| {
                    let whole: f64 = of.iter().sum();
                    let each = of.iter().zip(h).filter(|(p, _)| **p > 0.0);
                    each.map(|(p, count)| p * (n as f64 * p / (*count as f64 * whole)).ln())
                        .sum::<f64>()
                })
                .sum();
            let asked = Question {
                prior: &prior,
                others: None,
                sizes: &[n as u64],
                known: Some(&known),
            };
            let survey = survey_reports("m", &Reports::Listed(channel.clone()), &asked).unwrap();
            let found = survey.positions.unwrap()[x].position;
            prop_assert!(close(found, told), "position: {found:e}, not {told:e}");
            prop_assert!(found <= survey.rows[0].position_blanket.unwrap() * (1.0 + 1e-9) + 1e-14);
            laws.push(sequences(&all));
        }
        let joint = by_histogram(&laws, 3);
        let best: f64 = joint.values().map(|of| 0.5 * of[0].at_least(of[1])).sum();
        let found = informed_vulnerability(&channel, &prior, &known).unwrap();
        prop_assert!(close(found, best), "vulnerability: {found:e}, not {best:e}");
    }

    #[test]
    fn games_are_those_of_all_sequences(p in law(3), q in law(3), n in 1usize..=4) {
        let mut all = vec![p.as_slice()];
        all.resize(n, &q);
        let mut sent = vec![Vec::new(); 3];
        sequences(&all).into_iter().for_each(|(s, p)| sent[s[0]].push((s, p)));
        let joint = by_histogram(&sent, 3);
        let guess: f64 = joint
            .iter()
            .map(|(h, of)| {
                let each = of.iter().zip(h).filter(|(_, count)| **count > 0);
                each.map(|(p, count)| p / *count as f64).fold(0.0, f64::at_least)
            })
            .sum();
        let game = Game::new(n as u64, 1).unwrap();
        let found = RatioLaw::from_probabilities(&p, &q).unwrap().success(&game).success;
        prop_assert!(close(found, guess), "guess: {found:e}, not {guess:e}");
        let basic = Basic::new(&p, &q).unwrap();
        let messages = (0..3).map(|y| {
            let own: f64 = p[y];
            sent[y].iter().map(|(s, w)| (s.clone(), if own > 0.0 { w / own } else { 0.0 })).collect()
        });
        let told = information(&by_histogram(&messages.collect::<Vec<_>>(), 3), &p);
        let found = basic.message(n as u64).unwrap();
        prop_assert!(integrated(found, told), "message: {found:e}, not {told:e}");
    }
}

proptest! {
    // Each case transforms four million cells.
    #![proptest_config(ProptestConfig::with_cases(8))]

    #[test]
    #[ignore = "long"]
    fn limits_of_two_inputs_hold(rows in proptest::collection::vec(law(3), 2..=2), n in 1u64..=30) {
        let channel = Channel::from_rows(&rows).unwrap();
        let inputs = ShuffledInputs::new(&channel, &Prior::uniform(2)).unwrap();
        let (exact, found) = (inputs.vulnerability(n).unwrap().unwrap(), inputs.limits(n).unwrap());
        prop_assert!(found.lower <= exact + 1e-12 && exact <= found.upper + 1e-12);
    }
}
