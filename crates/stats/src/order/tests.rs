use super::*;
use leakgauge_testing::{at_most, rng};
use rand::RngExt;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution, StandardNormal};

/// Every order of `items`, by Heap's algorithm.
fn orders<T: Copy>(items: &mut Vec<T>, k: usize, visit: &mut dyn FnMut(&[T])) {
    if k <= 1 {
        return visit(items);
    }
    for i in 0..k {
        orders(items, k - 1, visit);
        items.swap(if k.is_multiple_of(2) { i } else { 0 }, k - 1);
    }
}

/// Every order of the values of each secret, the order of the secrets being kept.
fn orders_within(secrets: &[u32], values: &[f64], visit: &mut dyn FnMut(&[f64])) {
    fn go(rows: &[Vec<usize>], values: &mut Vec<f64>, visit: &mut dyn FnMut(&[f64])) {
        let Some((first, rest)) = rows.split_first() else {
            return visit(values);
        };
        let mut own: Vec<f64> = first.iter().map(|&row| values[row]).collect();
        let k = own.len();
        orders(&mut own, k, &mut |order| {
            first
                .iter()
                .zip(order)
                .for_each(|(&row, &x)| values[row] = x);
            go(rest, values, visit);
        });
    }
    let grouped = BySecret::new(secrets, 4);
    let rows: Vec<Vec<usize>> = grouped.iter().map(<[usize]>::to_vec).collect();
    go(&rows, &mut values.to_vec(), visit);
}

/// Mean and variance of a z-score are 0 and 1 over all orders: the formulas are exact.
#[derive(Default)]
struct Moments {
    number: f64,
    sum: f64,
    squares: f64,
}

impl Moments {
    fn add(&mut self, z: f64) {
        self.number += 1.0;
        self.sum += z;
        self.squares += z * z;
    }

    #[track_caller]
    fn assert_standard(&self) {
        let (mean, square) = (self.sum / self.number, self.squares / self.number);
        assert!(mean.abs() < 1e-9, "mean {mean} of {}", self.number);
        assert!((square - 1.0).abs() < 1e-9, "variance {square}");
    }
}

#[test]
fn moments_are_exact_over_all_orders() {
    // Secret 3 has one row; secret 2 two; ties in each.
    let designs: [(&[u32], &[f64]); 5] = [
        (
            &[0, 1, 0, 1, 0, 1, 0, 1],
            &[1.0, 2.0, 3.0, 2.0, 7.0, 5.0, 2.0, 9.0],
        ),
        (
            &[0, 0, 0, 0, 0, 1, 1, 2, 2],
            &[5.0, 1.0, 1.0, 2.0, 9.0, 3.0, 4.0, 6.0, 7.0],
        ),
        (
            &[0, 1, 2, 0, 1, 2, 0, 1, 0, 3],
            &[1.0, 1.0, 4.0, 1.0, 2.0, 5.0, 8.0, 9.0, 3.0, 0.0],
        ),
        (&[0; 7], &[0.0, 0.0, 0.0, 1.0, 1.0, 2.0, 50.0]),
        (
            &[0, 0, 1, 1, 1, 0, 3, 0, 0, 1],
            &[1.0, 2.0, 1.0, 1.0, 3.0, 3.0, 1.0, 4.0, 4.0, 0.0],
        ),
    ];
    for (secrets, values) in designs {
        let mut moments: [Moments; 4] = Default::default();
        orders_within(secrets, values, &mut |values| {
            let codes: Vec<u32> = values.iter().map(|&x| x as u32).collect();
            moments[0].add(rank_autocorrelation(secrets, values, 4).z);
            moments[1].add(drift(secrets, values, 4).z);
            moments[2].add(neighbor_correlation(secrets, values, 4).z);
            moments[3].add(agreement_autocorrelation(secrets, &codes, 4).z);
        });
        for (i, moments) in moments.iter().enumerate() {
            // With 4 distinct values or pairs only, nothing may be left to test.
            if moments.squares > 0.0 {
                moments.assert_standard();
            } else {
                assert!(i == 3, "test {i} of {secrets:?}");
            }
        }
        let mut moments = Moments::default();
        let mut secrets = secrets[..secrets.len().min(8)].to_vec();
        let n = secrets.len();
        orders(&mut secrets, n, &mut |secrets| {
            moments.add(interleaving(secrets, 4).z)
        });
        // One secret only has a single order.
        if secrets.iter().any(|&s| s != secrets[0]) {
            moments.assert_standard();
        }
    }
}

/// The χ² of drift has its degrees of freedom as its exact mean over all orders: by simulation,
/// 20,000 orders, within 4 standard errors.
#[test]
fn category_drift_has_the_right_mean() {
    let mut rng = rng(6);
    let secrets = [0; 41];
    let mut codes: Vec<u32> = (0..41).map(|i| [0, 0, 1, 1, 2][i % 5]).collect();
    let mut sum = 0.0;
    for _ in 0..20_000 {
        codes.shuffle(&mut rng);
        sum += category_drift(&secrets, &codes, 1).statistic;
    }
    // Labels have 18, 16 and 7 rows; the last is merged with the second: 1 degree of freedom.
    assert_eq!(category_drift(&secrets, &codes, 1).degrees_of_freedom, 1);
    assert!((sum / 20_000.0 - 1.0).abs() < 4.0 * 2.0_f64.sqrt() / 20_000.0_f64.sqrt());
}

/// Counts p-values at most 0.01 of the six tests over independent rows.
fn false_alarms(
    runs: usize,
    rng: &mut ChaCha8Rng,
    secret: impl Fn(&mut ChaCha8Rng, usize) -> u32,
    value: impl Fn(&mut ChaCha8Rng, u32) -> f64,
    (rows, n_secrets): (usize, usize),
) -> [usize; 6] {
    let mut alarms = [0; 6];
    for _ in 0..runs {
        let secrets: Vec<u32> = (0..rows).map(|i| secret(rng, i)).collect();
        let values: Vec<f64> = secrets.iter().map(|&s| value(rng, s)).collect();
        let codes: Vec<u32> = values.iter().map(|x| x.abs() as u32).collect();
        let p_values = [
            interleaving(&secrets, n_secrets).p_value,
            rank_autocorrelation(&secrets, &values, n_secrets).p_value,
            neighbor_correlation(&secrets, &values, n_secrets).p_value,
            drift(&secrets, &values, n_secrets).p_value,
            agreement_autocorrelation(&secrets, &codes, n_secrets).p_value,
            category_drift(&secrets, &codes, n_secrets).p_value,
        ];
        for (alarms, p) in alarms.iter_mut().zip(p_values) {
            *alarms += usize::from(p <= 0.01);
        }
    }
    alarms
}

/// Level 0.01, 2,000 replicates of each design: at most a true rate of 1.5 % plus 3.29 standard
/// deviations. The designs have few and many secrets, heavy ties and rare values.
#[test]
fn independent_rows_raise_no_alarm() {
    let rng = &mut rng(7);
    let normal = |rng: &mut ChaCha8Rng, s: u32| -> f64 {
        let x: f64 = StandardNormal.sample(rng);
        x * f64::from(s + 1) + 10.0 * f64::from(s)
    };
    let uniform = |k: u32| move |rng: &mut ChaCha8Rng, _: usize| rng.random_range(0..k);
    let limit = at_most(2000, 0.015);
    let designs = [
        false_alarms(2000, rng, uniform(2), normal, (200, 2)),
        false_alarms(2000, rng, uniform(40), normal, (300, 40)),
        false_alarms(2000, rng, uniform(150), normal, (300, 150)),
        false_alarms(
            2000,
            rng,
            uniform(3),
            |rng, _| f64::from(rng.random_range(0..4)),
            (150, 3),
        ),
        // One row in a hundred is rare: coincidences of two are Poisson with mean 0.04.
        false_alarms(
            2000,
            rng,
            uniform(1),
            |rng, _| f64::from(rng.random_bool(0.01)),
            (400, 1),
        ),
        false_alarms(
            2000,
            rng,
            uniform(2),
            |rng, _| f64::from(rng.random_bool(0.05)),
            (400, 2),
        ),
        // Most rows have the same secret.
        false_alarms(
            2000,
            rng,
            |rng, _| u32::from(rng.random_bool(0.02)),
            normal,
            (300, 2),
        ),
    ];
    for (i, alarms) in designs.iter().enumerate() {
        assert!(
            alarms.iter().all(|&a| a <= limit),
            "design {i}: {alarms:?}, limit {limit}"
        );
    }
    // Not merely silent: the first design is one where all six tests are regular.
    assert!(designs[0].iter().all(|&a| a >= 4), "{:?}", designs[0]);
    // A fixed round-robin of the secrets, which all but the first test condition on.
    let alarms = false_alarms(2000, rng, |_, i| i as u32 % 60, normal, (240, 60));
    assert!(alarms[1..].iter().all(|&a| a <= limit), "{alarms:?}");
}

/// A first-order autoregression.
fn autoregression(rng: &mut ChaCha8Rng, n: usize, phi: f64) -> Vec<f64> {
    let mut x = 0.0;
    (0..n)
        .map(|_| {
            let noise: f64 = StandardNormal.sample(rng);
            x = phi * x + noise;
            x
        })
        .collect()
}

#[test]
fn blocks_and_round_robins_are_seen() {
    let blocked: Vec<u32> = (0..1000).map(|i| i / 100).collect();
    let test = interleaving(&blocked, 10);
    assert!(test.z > 50.0 && test.p_value < 1e-100 && test.share > 0.98);
    let robin: Vec<u32> = (0..1000).map(|i| i % 10).collect();
    let test = interleaving(&robin, 10);
    assert!(test.z < -8.0 && test.p_value < 1e-10 && test.share == 0.0);
    let pairs: Vec<u32> = (0..1000).map(|i| i / 2).collect();
    assert!(interleaving(&pairs, 500).p_value < 1e-4);
}

#[test]
fn dependent_rows_are_seen() {
    let mut rng = rng(8);
    let n = 2000;
    let secrets: Vec<u32> = (0..n).map(|_| rng.random_range(0..20)).collect();
    let shared = autoregression(&mut rng, n, 0.5);
    let values: Vec<f64> = shared
        .iter()
        .zip(&secrets)
        .map(|(x, &s)| x + f64::from(s))
        .collect();
    // Twenty interleaved secrets: a row's successor of its own secret comes far too late.
    assert!(neighbor_correlation(&secrets, &values, 20).p_value < 1e-20);
    assert!(neighbor_correlation(&secrets, &values, 20).correlation > 0.35);
    assert!(rank_autocorrelation(&secrets, &values, 20).p_value > 1e-3);
    // Blocks: each secret has its own.
    let blocked: Vec<u32> = (0..n).map(|i| (i / 100) as u32).collect();
    let test = rank_autocorrelation(&blocked, &shared, 20);
    assert!(test.p_value < 1e-20 && (0.3..0.6).contains(&test.correlation));
    let codes: Vec<u32> = shared.iter().map(|&x| u32::from(x > 0.0)).collect();
    let test = agreement_autocorrelation(&blocked, &codes, 20);
    assert!(test.p_value < 1e-10 && test.share > test.expected_share + 0.1);
}

#[test]
fn drifting_rows_are_seen() {
    let mut rng = rng(9);
    let n = 2000;
    let secrets: Vec<u32> = (0..n).map(|_| rng.random_range(0..20)).collect();
    let values: Vec<f64> = (0..n)
        .map(|i| {
            let noise: f64 = StandardNormal.sample(&mut rng);
            noise + i as f64 / n as f64
        })
        .collect();
    let test = drift(&secrets, &values, 20);
    assert!(test.p_value < 1e-15 && test.correlation > 0.2);
    let codes: Vec<u32> = values.iter().map(|&x| u32::from(x > 0.5)).collect();
    let test = category_drift(&secrets, &codes, 20);
    assert!(test.p_value < 1e-6 && test.corrected_phi > 0.1 && test.z > 4.0);
}

#[test]
fn nothing_to_test() {
    let silent = [
        rank_autocorrelation(&[], &[], 0).p_value,
        drift(&[0, 1], &[1.0, 2.0], 2).p_value,
        neighbor_correlation(&[0; 5], &[3.0; 5], 1).p_value,
        interleaving(&[0; 9], 1).p_value,
        agreement_autocorrelation(&[0; 5], &[4; 5], 3).p_value,
        agreement_autocorrelation(&[0; 5], &[1, 2, 3, 4, 5], 1).p_value,
        category_drift(&[0; 50], &[7; 50], 1).p_value,
        category_drift(&[], &[], 0).p_value,
    ];
    assert_eq!(silent, [1.0; 8]);
}

/// How often each kind of rows is called inflated by more than a half: secrets in random order with noise that all share, or
/// none, hardly ever; with noise of each secret's own, nearly always. 200 logs each; P(Bin(200, 0.01) > 9) = 5e-5.
#[test]
fn noise_of_each_secrets_own_is_told_from_shared_noise() {
    type Rows = (Vec<u32>, Vec<f64>);
    let inflated = |kind: &dyn Fn(&mut ChaCha8Rng) -> Rows| {
        let is_inflated = |seed: &u64| {
            let (secrets, values) = kind(&mut rng(*seed));
            let found = own_inflation(&secrets, &values, 3).expect("secrets meet");
            found.factor > 1.5 && found.p_value < 0.01
        };
        (0..200).filter(is_inflated).count()
    };
    let normal = |rng: &mut ChaCha8Rng| -> f64 { StandardNormal.sample(rng) };
    let mixed =
        |rng: &mut ChaCha8Rng| -> Vec<u32> { (0..1500).map(|_| rng.random_range(0..3)).collect() };
    let autoregressive = |rng: &mut ChaCha8Rng, weight: f64| {
        let mut state = 0.0;
        let step = |_| {
            state = weight * state + normal(rng);
            state
        };
        (0..1500).map(step).collect::<Vec<f64>>()
    };
    let independent = |rng: &mut ChaCha8Rng| (mixed(rng), autoregressive(rng, 0.0));
    let shared = |rng: &mut ChaCha8Rng| (mixed(rng), autoregressive(rng, 0.98));
    // A switch that is thrown once, in the middle.
    let switched = |rng: &mut ChaCha8Rng| {
        let values = (0..1500).map(|row| f64::from(u8::from(row > 770)));
        (mixed(rng), values.collect())
    };
    let own = |rng: &mut ChaCha8Rng| {
        let secrets = mixed(rng);
        let noise: Vec<Vec<f64>> = (0..3).map(|_| autoregressive(rng, 0.98)).collect();
        let of = |(row, &secret): (usize, &u32)| noise[secret as usize][row];
        let values = secrets.iter().enumerate().map(of).collect();
        (secrets, values)
    };
    assert!(inflated(&independent) <= 9);
    assert!(inflated(&shared) <= 9);
    assert!(inflated(&switched) <= 9);
    assert!(inflated(&own) >= 195);
    // One after the other, nothing can be said.
    let apart: Vec<u32> = (0..1500).map(|row| row / 500).collect();
    assert_eq!(own_inflation(&apart, &vec![0.5; 1500], 3), None);
}
