//! All methods against each other and against channels whose worst pair is known.

use crate::extreme::Extreme;
use proptest::prelude::*;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::*;

const ALL: [SearchMethod; 4] = [
    SearchMethod::Direct,
    SearchMethod::Embedding,
    SearchMethod::Pruned,
    SearchMethod::Auto,
];

/// Rows drawn from the flat Dirichlet law, or sharper ones for a larger power.
fn random_channel(n: usize, m: usize, power: f64, seed: u64) -> Channel {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let rows: Vec<Vec<f64>> = (0..n)
        .map(|_| {
            let weight = |_| -> f64 { (-rng.random::<f64>().at_least(1e-300).ln()).powf(power) };
            let row: Vec<f64> = (0..m).map(weight).collect();
            let sum: f64 = row.iter().sum();
            row.into_iter().map(|x| x / sum).collect()
        })
        .collect();
    Channel::from_rows(&rows).unwrap()
}

/// The first pair by comparing all, with no shared code.
fn by_hand(channel: &Channel) -> (usize, usize) {
    let n = channel.secrets().len();
    let pairs = || (0..n).flat_map(|a| (a + 1..n).map(move |b| (a, b)));
    let value = |(a, b)| channel.pair_bayes_security(a, b);
    let best = pairs().map(value).fold(f64::INFINITY, f64::at_most);
    pairs()
        .find(|&pair| value(pair) <= best * (1.0 + 1e-12))
        .unwrap()
}

fn agree(channel: &Channel, methods: &[SearchMethod]) {
    let expected = by_hand(channel);
    for &method in methods {
        let found = diameter(channel, method).unwrap();
        assert_eq!(found.pair, expected, "{method:?}");
        let tv = channel.total_variation(expected.0, expected.1);
        assert_eq!(found.total_variation, tv);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn all_methods_find_the_same_pair_of_random_channels(
        n in 2usize..120,
        m in 1usize..9,
        power in 0.5..6.0f64,
        seed in any::<u64>(),
    ) {
        agree(&random_channel(n, m, power, seed), &ALL);
    }

    #[test]
    fn ties_go_to_the_first_pair(n in 2usize..60, m in 1usize..6, seed in any::<u64>()) {
        // Rows of a few quarters: many equal rows and equal distances.
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let rows: Vec<Vec<f64>> = (0..n)
            .map(|_| {
                let mut row = vec![0.0; m];
                (0..4).for_each(|_| row[rng.random_range(0..m)] += 0.25);
                row
            })
            .collect();
        agree(&Channel::from_rows(&rows).unwrap(), &ALL);
    }
}

#[test]
fn wide_channels_agree_too() {
    for (n, m, power) in [(150, 300, 1.0), (300, 65, 3.0), (90, 1000, 8.0)] {
        let channel = random_channel(n, m, power, 7);
        agree(&channel, &[SearchMethod::Direct, SearchMethod::Pruned]);
    }
}

#[test]
fn rows_that_differ_by_almost_nothing_are_still_told_apart() {
    let base = random_channel(2, 40, 1.0, 3).row(0).to_vec();
    let noise = random_channel(100, 40, 1.0, 4);
    let rows: Vec<Vec<f64>> = noise
        .rows()
        .map(|row| {
            row.iter()
                .zip(&base)
                .map(|(x, b)| b + 1e-6 * (x - b))
                .collect()
        })
        .collect();
    let channel = Channel::from_rows(&rows).unwrap();
    let expected = diameter(&noise, SearchMethod::Direct).unwrap().pair;
    for method in [SearchMethod::Direct, SearchMethod::Pruned] {
        let found = diameter(&channel, method).unwrap();
        let tv = channel.total_variation(expected.0, expected.1);
        assert!(
            (found.total_variation - tv).abs() <= 1e-10 * tv,
            "{method:?}"
        );
    }
}

#[test]
fn identical_rows_have_bayes_security_one() {
    let channel = Channel::from_rows(&vec![vec![0.25; 4]; 30]).unwrap();
    for method in ALL {
        let found = diameter(&channel, method).unwrap();
        assert_eq!((found.pair, found.bayes_security), ((0, 1), 1.0));
        assert_eq!(found.total_variation, 0.0);
    }
}

#[test]
fn row_sums_within_the_tolerance_do_not_discard_the_worst_pair() {
    let mut channel = random_channel(80, 30, 1.0, 11);
    let mut rng = ChaCha8Rng::seed_from_u64(5);
    let rows: Vec<Vec<f64>> = channel
        .rows()
        .map(|row| {
            let factor = 1.0 + 8e-10 * (2.0 * rng.random::<f64>() - 1.0);
            row.iter().map(|p| p * factor).collect()
        })
        .collect();
    channel = Channel::from_rows(&rows).unwrap();
    agree(&channel, &[SearchMethod::Direct, SearchMethod::Pruned]);
}

#[test]
fn the_work_and_the_answer_do_not_depend_on_the_number_of_threads() {
    let channel = random_channel(500, 120, 1.0, 9);
    let run = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .build()
            .unwrap();
        pool.install(|| diameter(&channel, SearchMethod::Pruned).unwrap())
    };
    let one = run(1);
    assert_eq!(one, run(2));
    assert_eq!(one, run(7));
    assert!(one.search.share_of_entries < 0.05, "{:?}", one.search);
}

#[test]
fn randomized_response_is_all_ties_and_gives_the_first_pair() {
    let n = 200;
    let row = |s: usize| -> Vec<f64> {
        (0..n)
            .map(|o| if o == s { 3.0 } else { 1.0 } / (n as f64 + 2.0))
            .collect()
    };
    let rows: Vec<Vec<f64>> = (0..n).map(row).collect();
    let channel = Channel::from_rows(&rows).unwrap();
    let found = diameter(&channel, SearchMethod::Auto).unwrap();
    assert_eq!(found.pair, (0, 1));
    assert!((found.bayes_security - n as f64 / (n as f64 + 2.0)).abs() < 1e-14);
}

#[test]
fn the_embedding_refuses_what_it_has_no_room_for() {
    let channel = random_channel(3, 40, 1.0, 1);
    assert!(diameter(&channel, SearchMethod::Embedding).is_err());
}
