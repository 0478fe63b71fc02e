use super::*;
use leakgauge_log::observations::Cell;
use rand::RngExt;

/// Rows of two secrets in turn.
fn rows(columns: usize, numbers: Vec<f64>) -> (Observations, Counts) {
    let observations = Observations::of_numbers(columns, numbers);
    let cells = (0..observations.len() as u32).map(|symbol| Cell {
        secret: symbol % 2,
        symbol,
        count: 1,
    });
    (observations, Counts::new(2, cells.collect()))
}

fn laplace(rng: &mut ChaCha8Rng) -> f64 {
    let size = -(1.0 - rng.random::<f64>()).ln();
    if rng.random_bool(0.5) { size } else { -size }
}

/// The correlation of the score differences with exact log-likelihood ratios.
fn correlation(
    scorer: &Additive,
    observations: &Observations,
    exact: impl Fn(&[f64]) -> f64,
) -> f64 {
    let ids: Vec<u32> = (0..observations.len() as u32).collect();
    let mut scores = vec![0.0; 2 * ids.len()];
    scorer.score(observations, &ids, &mut scores);
    let pairs: Vec<(f64, f64)> = ids
        .iter()
        .map(|&id| {
            let at = 2 * id as usize;
            (scores[at] - scores[at + 1], exact(observations.numbers(id)))
        })
        .collect();
    let n = pairs.len() as f64;
    let means = pairs.iter().fold((0.0, 0.0), |sum, pair| {
        (sum.0 + pair.0 / n, sum.1 + pair.1 / n)
    });
    let mut sums = [0.0; 3];
    for (x, y) in pairs {
        let (x, y) = (x - means.0, y - means.1);
        sums[0] += x * y;
        sums[1] += x * x;
        sums[2] += y * y;
    }
    sums[0] / (sums[1] * sums[2]).sqrt()
}

/// Ten bits of which three tell the secrets apart: the other terms are left out.
#[test]
fn bits_that_say_nothing_are_left_out() {
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    let mut numbers = Vec::new();
    for row in 0..20_000 {
        for bit in 0..10 {
            let keep = if bit < 3 && row % 2 == 0 { 0.55 } else { 0.45 };
            numbers.push(f64::from(u8::from(rng.random_bool(keep))));
        }
    }
    let (observations, fit) = rows(10, numbers);
    let scorer = Additive::fit(&observations, &fit, View::Columns).unwrap();
    assert!(scorer.kept()[..3].iter().all(|kept| *kept));
    assert!(scorer.kept().iter().filter(|kept| **kept).count() <= 4);
    let exact = |bits: &[f64]| bits[..3].iter().sum::<f64>();
    let found = correlation(&scorer, &observations, exact);
    assert!(found > 0.95, "{found}");
}

/// Sums of Laplace noise: the likelihood ratio is a sum of clipped differences.
#[test]
fn differences_of_sums_of_noise_come_near_the_likelihood_ratio() {
    let mut rng = ChaCha8Rng::seed_from_u64(2);
    let mut numbers = Vec::new();
    for row in 0..20_000 {
        let mut sum = 0.0;
        for _ in 0..6 {
            sum += f64::from(row % 2) * 0.5 + laplace(&mut rng);
            numbers.push(sum);
        }
    }
    let (observations, fit) = rows(6, numbers);
    let exact = |sums: &[f64]| {
        let steps = (0..6).map(|at| {
            if at == 0 {
                sums[0]
            } else {
                sums[at] - sums[at - 1]
            }
        });
        steps.map(|x| (x - 0.5).abs() - x.abs()).sum::<f64>()
    };
    let steps = Additive::fit(&observations, &fit, View::Steps).unwrap();
    let columns = Additive::fit(&observations, &fit, View::Columns).unwrap();
    let [steps, columns] =
        [steps, columns].map(|scorer| correlation(&scorer, &observations, exact));
    assert!(steps > 0.97 && columns < 0.9, "{steps} {columns}");
}

/// One and the same law in every column: one term for all learns from all of them.
#[test]
fn columns_that_are_alike_share_a_term() {
    let mut rng = ChaCha8Rng::seed_from_u64(3);
    let numbers = (0..80_000).map(|at| f64::from(at / 20 % 2) * 0.1 + laplace(&mut rng));
    let (observations, fit) = rows(20, numbers.collect());
    let scorer = Additive::fit(&observations, &fit, View::Columns).unwrap();
    assert!(scorer.shape.is_shared);
    let exact = |row: &[f64]| row.iter().map(|x| (x - 0.1).abs() - x.abs()).sum::<f64>();
    let found = correlation(&scorer, &observations, exact);
    assert!(found > 0.8, "{found}");
}

/// Noise by the inverse transform near 0 has bits that noise around 1 has lost.
#[test]
fn lowest_bits_tell_what_rounding_left() {
    let mut rng = ChaCha8Rng::seed_from_u64(4);
    let numbers: Vec<f64> = (0..4_000)
        .map(|at| f64::from(at % 2) + laplace(&mut rng))
        .collect();
    let (observations, fit) = rows(1, numbers);
    let scorer = Additive::fit(&observations, &fit, View::Bits).unwrap();
    let fine = 0.1f64.next_up();
    let near = Observations::of_numbers(1, vec![fine, 1.0 + fine]);
    let mut scores = vec![0.0; 4];
    scorer.score(&near, &[0, 1], &mut scores);
    assert!(scores[0] - scores[1] > 2.0, "{scores:?}");
    let rounded = Observations::of_numbers(1, vec![0.25, 1.5, 0.75, 2.5, 3.5, 0.5]);
    let cells = (0..6).map(|symbol| Cell {
        secret: symbol % 2,
        symbol,
        count: 1,
    });
    assert!(Additive::fit(&rounded, &Counts::new(2, cells.collect()), View::Bits).is_err());
}

#[test]
fn lowest_bits_are_exponents() {
    assert_eq!(lowest_bit(1.0), lowest_bit(-3.0));
    assert_eq!(lowest_bit(0.5) + 1, lowest_bit(1.0));
    assert_eq!(lowest_bit(1.0f64.next_up()) + 52, lowest_bit(1.0));
    assert_eq!(lowest_bit(f64::MIN_POSITIVE.next_down()), 1);
}
