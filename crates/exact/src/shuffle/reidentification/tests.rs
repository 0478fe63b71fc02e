//! Golden values (tests/golden/reidentification.json says whose), enumeration and identities.

use crate::extreme::Extreme;
use libm::{exp, log, log1p, pow};
use proptest::prelude::*;
use serde_json::Value;

use super::*;
use crate::mechanism;
use leakgauge_testing::assert_close;

fn golden() -> Value {
    serde_json::from_str(include_str!(
        "../../../../../tests/golden/reidentification.json"
    ))
    .unwrap()
}

fn rows(name: &str) -> Vec<Vec<f64>> {
    let numbers = |row: &Value| row.as_array().unwrap().iter().map(number).collect();
    golden()[name]
        .as_array()
        .unwrap()
        .iter()
        .map(numbers)
        .collect()
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap()
}

fn numbers(value: &Value) -> Vec<f64> {
    value.as_array().unwrap().iter().map(number).collect()
}

fn game(n: f64, k: f64) -> Game {
    Game::new(n as u64, k as u64).unwrap()
}

/// Relative to the figure, or to 1/n where a figure is a difference that nearly vanishes.
#[track_caller]
fn near(found: f64, expected: f64, floor: f64, relative: f64) {
    assert!(
        (found - expected).abs() <= relative * expected.abs().at_least(floor),
        "{found:e} is not {expected:e}"
    );
}

#[test]
fn discrete_laws_agree_with_enumeration() {
    for case in golden()["discrete"].as_array().unwrap() {
        let law = RatioLaw::from_probabilities(&numbers(&case["p"]), &numbers(&case["q"])).unwrap();
        let game = game(number(&case["n"]), number(&case["k"]));
        let found = law.success(&game);
        assert_close(found.success, number(&case["beta"]), 1e-13);
        let others = [
            ("adv", found.additive_advantage),
            ("tv", law.total_variation()),
            ("alpha", law.certain_mass()),
            ("M", law.max_ratio()),
        ];
        for (name, value) in others {
            if let Some(expected) = case[name].as_f64() {
                near(value, expected, 1e-3, 1e-12);
            }
        }
    }
}

fn zipf(alpha: f64, size: usize) -> RatioLaw {
    let p: Vec<f64> = (1..=size).map(|rank| pow(rank as f64, -alpha)).collect();
    RatioLaw::from_weights(&p, &vec![1.0; size]).unwrap()
}

#[test]
fn zipf_against_uniform_agrees() {
    let rows = rows("zipf");
    for size in [1_000, 10_000, 100_000, 1_000_000] {
        let cases: Vec<&Vec<f64>> = rows.iter().filter(|row| row[1] == size as f64).collect();
        let Some(first) = cases.first() else { continue };
        let law = zipf(first[0], size);
        let cases: Vec<_> = cases.iter().filter(|row| row[0] == first[0]).collect();
        let games: Vec<Game> = cases.iter().map(|row| game(row[2], row[3])).collect();
        // One by one and on the grid.
        for (row, found) in cases.iter().zip(law.grid(&games)) {
            assert_close(found.success, row[4], 1e-12);
            assert_close(law.success(&game(row[2], row[3])).success, row[4], 1e-12);
        }
    }
}

#[test]
fn first_n_below_a_success_agrees() {
    for row in rows("threshold").iter().filter(|row| row[1] <= 1e5) {
        let law = zipf(row[0], row[1] as usize);
        assert_eq!(law.messages_for(row[2], 1).unwrap(), Some(row[3] as u64));
    }
}

#[test]
fn tight_examples_agree_to_the_digits_of_the_advantage() {
    for row in rows("tight") {
        let law = RatioLaw::from_probabilities(&row[..2], &row[2..4]).unwrap();
        let found = law.success(&game(row[4], 1.0));
        assert_close(found.success, row[5], 1e-14);
        assert_close(found.additive_advantage, row[6], 1e-12);
        assert_close(law.total_variation(), row[7], 1e-13);
        let bounds = total_variation_bounds(law.total_variation(), row[4] as u64).unwrap();
        assert!(bounds.lower <= found.success * (1.0 + 1e-12));
        assert!(bounds.upper >= found.success * (1.0 - 1e-12));
    }
}

/// P = Exp(a), Q = Exp(b), a > b: the ratio falls from a/b.
fn exponential(a: f64, b: f64) -> RatioLaw {
    let mass =
        |rate: f64| Box::new(move |x: f64, y: f64| exp(-rate * x) * -libm::expm1(-rate * (y - x)));
    RatioLaw::from_segments(&[Segment {
        from: 0.0,
        to: f64::INFINITY,
        ends: (log(a / b), f64::NEG_INFINITY),
        place: Box::new(move |level| (log(a / b) - level) / (a - b)),
        p_mass: mass(a),
        q_mass: mass(b),
    }])
    .unwrap()
}

#[test]
fn exponential_laws_agree() {
    for row in rows("exponential") {
        let law = exponential(row[0], row[1]);
        let found = law.success(&game(row[2], 1.0));
        assert_close(found.success, row[3], 1e-12);
        assert_close(found.additive_advantage, row[4], 1e-11);
        assert_close(law.total_variation(), row[5], 1e-12);
    }
}

#[test]
fn linear_density_of_example_iv_1_agrees() {
    // The mass of x + 1/2 below y is y(y + 1)/2.
    let law = RatioLaw::from_segments(&[Segment {
        from: 0.0,
        to: 1.0,
        ends: (log(0.5), log(1.5)),
        place: Box::new(|level| exp(level) - 0.5),
        p_mass: Box::new(|x, y| 0.5 * (y - x) * (x + y + 1.0)),
        q_mass: Box::new(|x, y| y - x),
    }])
    .unwrap();
    for row in rows("linear") {
        assert_close(law.success(&game(row[0], row[1])).success, row[2], 1e-12);
    }
    // And far beyond: (1.5 − 1/(n + 1))/n.
    for n in [1e6, 1e9, 1e12] {
        let expected = (1.5 - 1.0 / (n + 1.0)) / n;
        assert_close(law.success(&game(n, 1.0)).success, expected, 1e-12);
    }
}

fn randomizer(text: &str, inputs: &[&str]) -> Randomizer {
    let inputs: Vec<String> = inputs.iter().map(ToString::to_string).collect();
    let inputs = (!inputs.is_empty()).then_some(&inputs[..]);
    Randomizer::new(&*mechanism::parse(text).unwrap(), inputs).unwrap()
}

#[test]
fn shifted_normal_laws_agree() {
    for row in rows("gaussian") {
        let (p, q) = (row[0].to_string(), row[1].to_string());
        let gaussian = randomizer(&format!("gaussian(sigma={})", row[2]), &[&p, &q]);
        let law = gaussian.versus(0, 1).unwrap();
        let found = law.success(&game(row[3], 1.0));
        assert_close(found.success, row[4], 1e-11);
        assert_close(found.additive_advantage, row[5], 1e-11);
        assert_close(law.total_variation(), row[6], 1e-12);
    }
}

#[test]
fn clone_bounds_agree() {
    for row in rows("clone") {
        let game = game(row[1], 1.0);
        assert_close(clone_bound(row[0], &game).unwrap(), row[2], 1e-12);
        assert_close(exp(row[0]) / row[1], row[3], 1e-12);
    }
}

#[test]
fn blankets_of_randomized_response_agree() {
    for row in rows("krr") {
        let text = format!(
            "randomized-response(epsilon={}, secrets={})",
            row[1], row[0]
        );
        let input = randomizer(&text, &[]).input(0).unwrap();
        let game = game(row[2], 1.0);
        assert_close(input.blanket_mass, row[3], 1e-12);
        assert_close(input.psi(&game).unwrap().success, row[4], 1e-12);
        assert_close(input.bounds(&[game]).unwrap()[0].clone, row[5], 1e-12);
        assert_close(input.max_ratio(), row[6], 1e-12);
    }
}

#[test]
fn blankets_of_laplace_on_the_unit_interval_agree() {
    for row in rows("laplace") {
        let text = format!("laplace(epsilon={})", row[0]);
        let input = row[1].to_string();
        let input = randomizer(&text, &[&input, "0", "1"]).input(0).unwrap();
        let game = game(row[2], 1.0);
        assert_close(input.blanket_mass, row[4], 1e-13);
        assert_close(input.psi(&game).unwrap().success, row[3], 1e-11);
        assert_close(input.max_ratio(), row[5], 1e-12);
    }
}

#[test]
fn random_inputs_of_example_vi_2_agree() {
    let randomizer = randomizer(
        &format!("randomized-response(epsilon={}, secrets=2)", log(3.0)),
        &[],
    );
    for case in golden()["random_input"].as_array().unwrap() {
        let p = number(&case[0]);
        let input = randomizer.random_input(&[p, 1.0 - p]).unwrap();
        assert_close(input.max_ratio(), number(&case[2]), 1e-12);
        for (n, expected) in case[4].as_object().unwrap() {
            let game = game(n.parse().unwrap(), 1.0);
            let found = input.psi(&game).unwrap().multiplicative_advantage;
            assert_close(found, number(expected), 1e-12);
        }
    }
}

/// The exact game of given inputs never exceeds ψ.
#[test]
fn psi_bounds_the_exact_game() {
    for case in golden()["game2"].as_array().unwrap() {
        let text = format!(
            "randomized-response(epsilon={}, secrets={})",
            log(number(&case[1])),
            number(&case[0])
        );
        let n = case[2].as_array().unwrap().len();
        let target = number(&case[2][0]) as usize;
        let input = randomizer(&text, &[]).input(target).unwrap();
        let psi = input.psi(&game(n as f64, 1.0)).unwrap().success;
        assert_close(psi, number(&case[4]), 1e-12);
        assert!(psi >= number(&case[3]) * (1.0 - 1e-12));
    }
}

/// The success by its definition: of every sequence of messages the k likeliest positions.
fn enumerated(p: &[f64], q: &[f64], n: usize, k: usize) -> f64 {
    let mut total = 0.0;
    for code in 0..p.len().pow(n as u32) {
        let labels: Vec<usize> = (0..n)
            .map(|i| code / p.len().pow(i as u32) % p.len())
            .collect();
        let mut positions: Vec<f64> = (0..n)
            .map(|g| {
                let others = (0..n).filter(|&i| i != g).map(|i| q[labels[i]]);
                p[labels[g]] * others.product::<f64>() / n as f64
            })
            .collect();
        positions.sort_by(|a, b| b.total_cmp(a));
        total += positions.iter().take(k).sum::<f64>();
    }
    total
}

/// Theorem 7 by its sum.
fn psi_by_definition(law: &RatioLaw, gamma: f64, n: u64, k: u64) -> f64 {
    let others = n - 1;
    let mut sum = 0.0;
    for m in 0..=others {
        let choose: f64 = (0..m)
            .map(|i| log((others - i) as f64 / (i + 1) as f64))
            .sum();
        let weight = choose + m as f64 * log(gamma) + (others - m) as f64 * log1p(-gamma);
        sum += exp(weight) * law.success(&Game::new(m + 1, k).unwrap()).success;
    }
    sum
}

fn laws() -> impl Strategy<Value = (Vec<f64>, Vec<f64>)> {
    // Small whole weights make ties and zeros common.
    let weights = || prop::collection::vec(0_u8..4, 3);
    (weights(), weights())
        .prop_filter("sums", |(p, q)| {
            p.iter().any(|&x| x > 0) && q.iter().any(|&x| x > 0)
        })
        .prop_map(|(p, q)| {
            let share = |row: &[u8]| {
                let sum: f64 = row.iter().map(|&x| f64::from(x)).sum();
                row.iter()
                    .map(|&x| f64::from(x) / sum)
                    .collect::<Vec<f64>>()
            };
            (share(&p), share(&q))
        })
}

proptest! {
    #[test]
    fn ties_and_guesses_are_those_of_the_enumeration((p, q) in laws(), n in 1_usize..6, k in 1_usize..7) {
        let law = RatioLaw::from_probabilities(&p, &q).unwrap();
        let found = law.success(&Game::new(n as u64, k as u64).unwrap()).success;
        let expected = enumerated(&p, &q, n, k);
        prop_assert!((found - expected).abs() < 1e-13, "{} {}", found, expected);
    }

    #[test]
    fn thinning_is_theorem_7((p, q) in laws(), gamma in 0.01..0.99_f64, n in 1_u64..30, k in 1_u64..4) {
        let law = RatioLaw::from_probabilities(&p, &q).unwrap();
        let game = Game::new(n, k).unwrap();
        let expected = psi_by_definition(&law, gamma, n, k);
        let found = law.success(&game.thinned(gamma).unwrap()).success;
        prop_assert!((found - expected).abs() < 1e-12, "{} {}", found, expected);
    }

    #[test]
    fn bounds_hold_and_success_falls_with_n((p, q) in laws(), n in 2_u64..2000, k in 1_u64..5) {
        let law = RatioLaw::from_probabilities(&p, &q).unwrap();
        let at = |n: u64, k: u64| law.success(&Game::new(n, k).unwrap());
        let found = at(n, k);
        prop_assert!(at(n + 1, k).success <= found.success + 1e-15);
        prop_assert!(at(n, k + 1).success >= found.success - 1e-15);
        prop_assert!(found.additive_advantage >= -1e-15);
        if let Some(most) = law.asymptotic(&Game::new(n, k).unwrap()) {
            prop_assert!(found.success <= most * (1.0 + 1e-12));
        }
        for lambda in [0.5, 1.0, 3.0] {
            let divergence: f64 = p.iter().zip(&q).map(|(p, q)| (p - lambda * q).at_least(0.0)).sum();
            let most = hockey_stick_bound(lambda, divergence, &Game::new(n, k).unwrap());
            prop_assert!(found.success <= most + 1e-13);
        }
        if k == 1 {
            let bounds = total_variation_bounds(law.total_variation(), n).unwrap();
            prop_assert!(bounds.lower <= found.success + 1e-14 && found.success <= bounds.upper + 1e-14);
        }
    }
}

/// Panels, and the sum of one atom after another, on laws with ratios over many orders of magnitude.
#[test]
fn grids_give_what_single_games_give() {
    let size = 20_000;
    let p: Vec<f64> = (0..size).map(|i| 1.0 / f64::from(i + 1)).collect();
    let q: Vec<f64> = (0..size)
        .map(|i| exp(-f64::from((i * 7919) % size) / 700.0))
        .collect();
    let law = RatioLaw::from_weights(&p, &q).unwrap();
    let mut games = Vec::new();
    for n in [1_u64, 2, 3, 17, 400, 9_999, 1_000_000, 1_000_000_000_000] {
        for k in [1, 2, 30] {
            games.push(Game::new(n, k).unwrap());
        }
    }
    for (game, found) in games.iter().zip(law.grid(&games)) {
        let alone = law.success(game);
        assert_close(found.success, alone.success, 1e-12);
    }
}

#[test]
fn extremes_are_exact() {
    let law = RatioLaw::from_probabilities(&[0.5, 0.5], &[0.0, 1.0]).unwrap();
    assert_eq!(law.certain_mass(), 0.5);
    assert_eq!(law.messages_for(0.4, 1).unwrap(), None);
    assert_eq!(law.success(&Game::new(1, 1).unwrap()).success, 1.0);
    assert_eq!(law.success(&Game::new(3, 9).unwrap()).success, 1.0);
    let same = RatioLaw::from_probabilities(&[0.3, 0.7], &[0.3, 0.7]).unwrap();
    for n in [1_u64, 2, 1_000_000_000_000] {
        let found = same.success(&Game::new(n, 1).unwrap());
        assert_eq!(
            (found.success, found.additive_advantage),
            (1.0 / n as f64, 0.0)
        );
    }
    assert_eq!(same.messages_for(0.2, 1).unwrap(), Some(5));
    let apart = RatioLaw::from_probabilities(&[1.0, 0.0], &[0.0, 1.0]).unwrap();
    assert_eq!(apart.success(&Game::new(1000, 1).unwrap()).success, 1.0);
}

#[test]
fn what_is_no_distribution_is_refused() {
    assert!(RatioLaw::from_probabilities(&[0.5, 0.4], &[0.5, 0.5]).is_err());
    assert!(RatioLaw::from_probabilities(&[0.5, 0.5], &[1.5, -0.5]).is_err());
    assert!(RatioLaw::from_weights(&[f64::MAX, f64::MAX], &[1.0, 1.0]).is_err());
    assert!(RatioLaw::from_weights(&[0.0], &[1.0]).is_err());
    assert!(RatioLaw::from_weights(&[1.0], &[1.0, 2.0]).is_err());
    assert!(
        Game::new(0, 1).is_err() && Game::new(2, 0).is_err() && Game::new(u64::MAX, 1).is_err()
    );
}

/// Noise in steps and on the integers: 1/n ≤ ψ ≤ clone, M at the outermost input is e^ε.
#[test]
fn blankets_of_every_kind_of_noise_are_within_their_bounds() {
    for text in [
        "staircase(epsilon=1, secrets=0..1)",
        "geometric(nu=0.5, secrets=0..2)",
        "laplace(epsilon=1, secrets=0..1)",
        "truncated-geometric(nu=0.5, secrets=3)",
    ] {
        let randomizer = randomizer(text, &[]);
        let input = randomizer.input(0).unwrap();
        assert_close(input.max_ratio(), exp(randomizer.epsilon()), 1e-9);
        let games: Vec<Game> = [2, 10, 1000].map(|n| Game::new(n, 1).unwrap()).into();
        for bounds in input.bounds(&games).unwrap() {
            let limit = bounds.limit.unwrap();
            assert!(bounds.blanket <= bounds.clone * (1.0 + 1e-9) && bounds.clone <= limit);
            assert!(bounds.blanket >= 1.0 / bounds.n as f64);
        }
    }
}

/// E min(k, 1 + Bin)/(1 + Bin) and means of binomial tails by sums with 50 digits, at sizes where every term counts.
#[test]
fn many_guesses_among_many_messages_take_no_time() {
    // A step for each message would not end.
    let n = 1_000_000_000_000_u64;
    // Half of the messages guessed: of two decoys with ratio 3/2 and 1/2, each on half of Q, the likelier half is
    // guessed and success is 3/4, less what the fluctuation of its size takes.
    let law = RatioLaw::from_probabilities(&[0.75, 0.25], &[0.5, 0.5]).unwrap();
    let success = law.success(&Game::new(n, n / 2).unwrap()).success;
    // The size of the half differs from n/2 by √(n/2π)/2 on average: 0.5·E|Bin − n/2|/n·(2 − 2/3)·… is below 1e-6.
    assert!((success - 0.75).abs() < 1e-6 && success < 0.75, "{success}");
}

/// The antiderivative against a sum of binomial probabilities, term by term.
#[test]
fn the_mean_over_a_wide_interval_is_a_sum_over_counts() {
    for (n, k) in [(50_u64, 7_u64), (400, 200), (1000, 990), (3000, 5)] {
        for keep in [1.0, 0.4] {
            let game = Game::new(n, k).unwrap().thinned(keep).unwrap();
            // E min(k, 1 + B)/(1 + B), B binomial(n − 1, γ), by the ratio of neighboring probabilities.
            let (mut sum, mut log) = (0.0, (n - 1) as f64 * f64::ln_1p(-keep));
            if keep == 1.0 {
                sum = k as f64 / n as f64;
            } else {
                for j in 0..n {
                    let ahead = (j + 1) as f64;
                    sum += log.exp() * (k as f64).at_most(ahead) / ahead;
                    log += ((n - 1 - j) as f64 / ahead * keep / (1.0 - keep)).ln();
                }
            }
            let found = game.mean_ahead(0.0, 1.0);
            assert!(
                (found / sum - 1.0).abs() < 1e-11,
                "{n} {k} {keep}: {found} {sum}"
            );
            // In parts it is the same.
            let parts: f64 = (0..10)
                .map(|i| 0.1 * game.mean_ahead(0.1 * f64::from(i), 0.1))
                .sum();
            assert!(
                (parts / sum - 1.0).abs() < 1e-11,
                "{n} {k} {keep}: {parts} {sum}"
            );
        }
    }
}

/// Discrete Gaussian noise has a ratio that grows as e^(Δz/σ²): the table of its law ends, the ratio does not.
#[test]
fn the_largest_ratio_of_gaussian_noise_is_infinite() {
    for name in ["discrete-gaussian", "gaussian"] {
        let mechanism = crate::mechanism::parse(&format!("{name}(sigma=2, secrets=0..2)")).unwrap();
        let randomizer = Randomizer::new(&*mechanism, None).unwrap();
        for input in 0..3 {
            let ratio = randomizer.input(input).unwrap().max_ratio();
            assert_eq!(ratio, f64::INFINITY, "{name} {input}");
        }
    }
    let mechanism = crate::mechanism::parse("geometric(nu=0.5, secrets=0..2)").unwrap();
    let ratio = Randomizer::new(&*mechanism, None)
        .unwrap()
        .input(1)
        .unwrap()
        .max_ratio();
    assert!((ratio / 0.5f64.exp() - 1.0).abs() < 1e-9, "{ratio}");
}
