//! What mechanisms draw, against the law they say they draw from.
//!
//! Seeds are fixed, so that a test passes always or never. Over random seeds each comparison would
//! raise a false alarm with probability 1e-6.

use leakgauge::exact::mechanism::{BoundMechanism, Law, parse};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use statrs::distribution::{ChiSquared, ContinuousCDF};

const ALARM: f64 = 1e-6;
const ROWS: usize = 20_000;

fn bind(text: &str, labels: &[&str]) -> Box<dyn BoundMechanism> {
    let labels: Vec<_> = labels.iter().map(ToString::to_string).collect();
    parse(text).unwrap().bind(&labels).unwrap()
}

fn draw(bound: &dyn BoundMechanism, secret: usize, seed: u64) -> Vec<String> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    (0..ROWS)
        .map(|_| bound.sample(secret, &mut rng).join(","))
        .collect()
}

fn numbers(sample: &[String]) -> Vec<f64> {
    sample.iter().map(|text| text.parse().unwrap()).collect()
}

/// A p-value: Pearson's χ² for discrete laws, the DKW bound on Kolmogorov's distance for others.
fn p_value(law: Law, sample: &[String]) -> f64 {
    match law {
        Law::Labels(cells) => chi_squared(cells.iter().map(|(label, p)| {
            let count = sample.iter().filter(|text| *text == label).count();
            (*p, count)
        })),
        Law::Integer(distribution) => integers(&*distribution, &numbers(sample)),
        Law::Real(distribution) => kolmogorov(&*distribution, numbers(sample)),
        Law::Coordinates(_) | Law::Unknown(_) => panic!("no law of one column"),
    }
}

fn chi_squared(cells: impl Iterator<Item = (f64, usize)>) -> f64 {
    let cells: Vec<_> = cells.collect();
    let counted: usize = cells.iter().map(|cell| cell.1).sum();
    assert_eq!(counted, ROWS, "an observation outside of the law");
    // Rare cells are taken together, with a common one.
    let enough = |cell: &(f64, usize)| cell.0 * ROWS as f64 >= 10.0;
    let (mut cells, rare): (Vec<_>, Vec<_>) = cells.into_iter().partition(enough);
    for (p, count) in rare {
        cells[0] = (cells[0].0 + p, cells[0].1 + count);
    }
    let mass: f64 = cells.iter().map(|cell| cell.0).sum();
    assert!((mass - 1.0).abs() < 1e-12);
    let distance = |&(p, count): &(f64, usize)| {
        let expected = p * ROWS as f64;
        (count as f64 - expected).powi(2) / expected
    };
    let statistic = cells.iter().map(distance).sum();
    if cells.len() == 1 {
        return 1.0;
    }
    ChiSquared::new(cells.len() as f64 - 1.0)
        .unwrap()
        .sf(statistic)
}

/// χ² over the integers that expect 20 rows or more, and the two tails beyond them.
fn integers(distribution: &dyn Fn(f64) -> f64, sample: &[f64]) -> f64 {
    let probability = |o: f64| distribution(o) - distribution(o - 1.0);
    let enough = |o: &f64| probability(*o) * ROWS as f64 >= 20.0;
    let inner: Vec<f64> = (-500..500).map(f64::from).filter(enough).collect();
    let (least, most) = (inner[0], inner[inner.len() - 1]);
    assert_eq!(inner.len() as f64, most - least + 1.0, "a gap in the law");
    let count = |wanted: &dyn Fn(f64) -> bool| sample.iter().filter(|&&x| wanted(x)).count();
    let below = (distribution(least - 1.0), count(&|x| x < least));
    let above = (1.0 - distribution(most), count(&|x| x > most));
    let cells = inner.iter().map(|&o| (probability(o), count(&|x| x == o)));
    chi_squared(cells.chain([below, above]))
}

fn kolmogorov(distribution: &dyn Fn(f64) -> f64, mut sample: Vec<f64>) -> f64 {
    sample.sort_by(f64::total_cmp);
    let n = sample.len() as f64;
    let distance = (0..)
        .map(f64::from)
        .zip(&sample)
        .map(|(i, &x)| ((i + 1.0) / n - distribution(x)).max(distribution(x) - i / n))
        .fold(0.0, f64::max);
    (2.0 * (-2.0 * n * distance * distance).exp()).min(1.0)
}

/// The p-values of all columns of a sample.
fn p_values(bound: &dyn BoundMechanism, secret: usize, sample: &[String]) -> Vec<f64> {
    if let Some(table) = bound.probabilities() {
        let row = table.rows[secret].iter().copied();
        let cells = table.observations.into_iter().zip(row);
        // χ² wants no cells that cannot occur; that none did is checked by the counts.
        let law = Law::Labels(cells.filter(|(_, p)| *p > 0.0).collect());
        return vec![p_value(law, sample)];
    }
    match bound.law(secret) {
        Law::Coordinates(laws) => {
            let column = |at: usize| -> Vec<String> {
                let fields = sample.iter().map(|row| row.split(',').nth(at).unwrap());
                fields.map(str::to_owned).collect()
            };
            let laws = laws.into_iter().enumerate();
            laws.map(|(at, law)| p_value(law, &column(at))).collect()
        }
        law => vec![p_value(law, sample)],
    }
}

#[test]
fn samples_of_the_other_mechanisms_follow_the_law() {
    for (text, labels) in [
        (
            "truncated-geometric(nu=0.2, observations=0..9)",
            ["0", "4", "9"],
        ),
        (
            "normalized-geometric(nu=0.2, observations=0..9)",
            ["0", "4", "9"],
        ),
        ("exponential(epsilon=2)", ["0", "4", "9"]),
        ("exponential(epsilon=0)", ["0", "4", "9"]),
        ("staircase(epsilon=1)", ["0", "4", "9.5"]),
        (
            "staircase(epsilon=3, sensitivity=2, gamma=0.8)",
            ["0", "4", "9"],
        ),
        ("discrete-gaussian(sigma=0.8)", ["0", "4", "9"]),
        ("discrete-gaussian(sigma=20)", ["0", "4", "9"]),
        ("planar-laplace(scale=2)", ["0;0", "-3;4.5", "7,1"]),
        (
            "planar-geometric(nu=0.3, observations=0..5)",
            ["0;0", "3;4", "5,1"],
        ),
        ("rappor(epsilon=2)", ["a", "b", "c"]),
        ("rappor(epsilon=1, secrets=5)", ["4", "0", "2"]),
        ("oue(epsilon=2)", ["a", "b", "c"]),
        ("olh(epsilon=1.5, secrets=9)", ["0", "5", "8"]),
        ("olh(epsilon=1, buckets=2, secrets=4)", ["0", "1", "3"]),
        ("subset-selection(epsilon=1, secrets=6)", ["0", "5", "3"]),
        (
            "subset-selection(epsilon=2, size=3, secrets=5)",
            ["0", "4", "3"],
        ),
        ("hadamard-response(epsilon=1.5, secrets=6)", ["0", "5", "3"]),
        ("hadamard-response(epsilon=1)", ["x", "y", "z"]),
        ("deterministic(modulus=2)", ["0", "5", "3"]),
        ("identity(p=0.3)", ["0", "5", "3"]),
        ("identity(p=0.3, otherwise=none)", ["0", "5", "3"]),
        ("shuffled(randomized-response(1), n=6)", ["a", "b", "c"]),
        ("shuffled(identity(p=0.3), n=4, others=5)", ["0", "5", "3"]),
        ("mixture(rappor(1), oue(2), weight=0.2)", ["0", "5", "3"]),
    ] {
        let bound = bind(text, &labels);
        for (secret, label) in labels.iter().enumerate() {
            let sample = draw(&*bound, secret, 31 + secret as u64);
            for p in p_values(&*bound, secret, &sample) {
                assert!(p > ALARM, "{text}, secret {label}: p = {p:e}");
            }
        }
    }
}

#[test]
fn samples_follow_the_law() {
    for (text, labels) in [
        ("randomized-response(epsilon=0)", ["a", "b", "c"]),
        ("randomized-response(epsilon=2)", ["a", "b", "c"]),
        (
            "randomized-response(epsilon=1, secrets=10)",
            ["3", "9", "0"],
        ),
        ("laplace(scale=2)", ["0", "-3.5", "1e3"]),
        ("laplace(epsilon=10, sensitivity=0.5)", ["0", "0.5", "7"]),
        ("gaussian(sigma=1)", ["0", "-3.5", "1e3"]),
        ("gaussian(sigma=0.01)", ["0", "0.5", "7"]),
        ("geometric(nu=0.1)", ["0", "-35", "100"]),
        ("geometric(nu=1)", ["0", "-3", "10"]),
    ] {
        let bound = bind(text, &labels);
        for (secret, label) in labels.iter().enumerate() {
            let sample = draw(&*bound, secret, 11 + secret as u64);
            let p = p_value(bound.law(secret), &sample);
            assert!(p > ALARM, "{text}, secret {label}: p = {p:e}");
        }
    }
}

/// The comparison would notice: a slightly different law is refused.
#[test]
fn samples_do_not_follow_another_law() {
    for (drawn, claimed) in [
        (
            "randomized-response(epsilon=1)",
            "randomized-response(epsilon=1.2)",
        ),
        ("laplace(scale=2)", "laplace(scale=2.4)"),
        ("laplace(scale=2)", "gaussian(sigma=2.8)"),
        ("gaussian(sigma=1)", "gaussian(sigma=1.2)"),
        ("geometric(nu=0.1)", "geometric(nu=0.12)"),
        ("discrete-gaussian(sigma=5)", "discrete-gaussian(sigma=5.5)"),
        ("staircase(1)", "staircase(1.2)"),
        ("staircase(1)", "staircase(1, gamma=0.6)"),
        ("rappor(1)", "rappor(1.2)"),
        ("oue(1)", "rappor(1)"),
        ("hadamard-response(1)", "hadamard-response(1.2)"),
    ] {
        let sample = draw(&*bind(drawn, &["0", "1"]), 0, 3);
        let p = p_value(bind(claimed, &["0", "1"]).law(0), &sample);
        assert!(p < ALARM, "{drawn} passed for {claimed}: p = {p:e}");
    }
}

/// Total variation of a histogram of samples, against the exact one. The plug-in of m cells is
/// biased upward by at most √(m/n) and by McDiarmid strays by more than 0.026 with probability
/// 1e-6.
#[test]
fn sampled_total_variation_is_the_exact_one() {
    for (text, cell) in [
        ("laplace(scale=2)", 0.5),
        ("gaussian(sigma=2)", 0.5),
        ("geometric(nu=0.5)", 1.0),
    ] {
        let bound = bind(text, &["0", "3"]);
        // Half a cell off, so that integers are inside of cells; 1.5 is an edge.
        let shift = if cell == 1.0 { 0.5 } else { 0.0 };
        let histogram = |secret: usize| {
            let mut counts = [0.0f64; 41];
            for x in numbers(&draw(&*bound, secret, 20 + secret as u64)) {
                let place = ((x - 1.5 + shift) / cell).floor().clamp(-20.0, 20.0);
                counts[(place + 20.0) as usize] += 1.0 / ROWS as f64;
            }
            counts
        };
        let (p, q) = (histogram(0), histogram(1));
        let plug_in = p.iter().zip(&q).map(|(p, q)| (p - q).abs()).sum::<f64>() / 2.0;
        let exact = bound.total_variation(0, 1);
        let bias = (41.0 / ROWS as f64).sqrt();
        assert!(
            plug_in > exact - 0.027 && plug_in < exact + 0.027 + bias,
            "{text}: {plug_in} {exact}"
        );
    }
}

#[test]
fn observations_are_written_as_a_log_would_have_them() {
    let decimal = |text: &str| text.parse::<f64>().unwrap().to_string() == *text;
    for text in [
        "laplace(scale=2)",
        "gaussian(sigma=1e-9)",
        "laplace(scale=1e20)",
    ] {
        let sample = draw(&*bind(text, &["0", "1"]), 0, 1);
        assert!(sample.iter().all(|x| decimal(x)), "{text}");
    }
    let sample = draw(&*bind("geometric(nu=0.5)", &["0", "1"]), 0, 1);
    assert!(sample.iter().all(|x| x.parse::<i64>().is_ok() && x != "-0"));
    let widest = draw(&*bind("geometric(nu=1e-12)", &["0", "1"]), 0, 1);
    assert!(widest.iter().all(|x| x.parse::<i64>().is_ok()));
}
