use super::*;
use leakgauge_testing::{at_most, rng};
use rand::{Rng, RngExt};

/// Numbers of rows, and what is claimed of every pair alike.
struct World {
    numbers: Vec<f64>,
    claims: Vec<Vec<Allowed>>,
}

impl Seen for World {
    fn number(&self, _: usize, row: u32) -> f64 {
        self.numbers[row as usize]
    }

    fn key(&self, row: u32) -> u64 {
        self.numbers[row as usize].to_bits()
    }

    fn lowest_bit(&self, _: usize, _: u32) -> u64 {
        0
    }
}

impl Surroundings for World {
    type Rows = World;

    fn rows(&self) -> &World {
        self
    }

    fn allowed(&self, claim: usize, _: (u32, u32)) -> Vec<Allowed> {
        self.claims[claim].clone()
    }

    fn learned(&self, _: (u32, u32)) -> Option<Vec<Scored>> {
        None
    }
}

fn world(claims: &[Allowed]) -> World {
    World {
        numbers: Vec::new(),
        claims: claims.iter().map(|&claim| vec![claim]).collect(),
    }
}

fn watch(claims: usize, meeting: Meeting) -> Watch {
    let kinds = vec![
        Kind::Threshold { column: 0 },
        Kind::Bins { column: 0 },
        Kind::Values,
    ];
    Watch::new(
        (kinds, &[0.8, 0.15, 0.05]),
        meeting,
        &vec![0.05; claims],
        [0.05, 0.05],
    )
}

fn laplace(rng: &mut impl Rng, epsilon: f64) -> f64 {
    let size = -(1.0 - rng.random::<f64>()).ln() / epsilon;
    if rng.random() { size } else { -size }
}

fn pairs_of(secrets: u32) -> Vec<(u32, u32)> {
    (0..secrets)
        .flat_map(|a| (a + 1..secrets).map(move |b| (a, b)))
        .collect()
}

/// Follows rows in random order of secrets. Pairs are chosen again and again. Returns the watch at the end, and whether
/// a limit was ever above the truth.
fn followed(
    claims: &[Allowed],
    centers: &[f64],
    epsilon: f64,
    rows: usize,
    seed: u64,
) -> (Watch, [f64; 2]) {
    let mut rng = rng(seed);
    let mut world = world(claims);
    let mut watch = watch(claims.len(), Meeting::Independent);
    let mut limits = [0.0; 2];
    let mut choose_at = 8 * centers.len();
    for at in 0..rows {
        let secret = rng.random_range(0..centers.len());
        world
            .numbers
            .push(centers[secret] + laplace(&mut rng, epsilon));
        watch.push((secret as u32, at as u32), &world);
        if at == choose_at {
            choose_at = at + at / 3;
            let chosen = watch.best_pairs(&pairs_of(centers.len() as u32), true, &world);
            watch.choose(&chosen, &world);
        }
        if at % 50 == 49 {
            limits = [Quantity::TotalVariation, Quantity::Epsilon].map(|of| watch.at_least(of));
        }
    }
    (watch, limits)
}

/// What is just true of two Laplace laws at ε = 1, at distance 1.
fn just_true() -> [Allowed; 3] {
    let variation = 1.0 - (-0.5f64).exp();
    [
        Allowed::privacy(1.0, 0.0),
        Allowed::total_variation(variation),
        // P(A) − e^0.5 Q(A) is largest for A below ¼: 1 − e^−0.25 of it.
        Allowed::privacy(0.5, 1.0 - (-0.25f64).exp()),
    ]
}

/// Of so many logs, how many refute each claim that is just true of them, and how many have a limit of the total
/// variation, and of ε, that is ever above the truth. Four secrets, of which two pairs are judged at once.
fn wrong(runs: u64, rows: usize) -> [usize; 5] {
    let claims = just_true();
    let mut wrong = [0; 5];
    for seed in 0..runs {
        let (watch, limits) = followed(&claims, &[0.0, 1.0, 0.0, 1.0], 1.0, rows, 30_000 + seed);
        for (claim, wrong) in wrong[..3].iter_mut().enumerate() {
            *wrong += usize::from(watch.ln_capital(claim) >= 20f64.ln());
        }
        wrong[3] += usize::from(limits[0] > claims[1].delta);
        wrong[4] += usize::from(limits[1] > 1.0);
    }
    wrong
}

#[test]
#[ignore = "long"]
fn what_is_just_true_is_seldom_refuted() {
    let runs = 60;
    let wrong = wrong(runs, 1_500);
    let most = at_most(runs as usize, 0.05);
    assert!(wrong.iter().all(|&wrong| wrong <= most), "{wrong:?}");
}

/// 1,000 logs of 6,000 rows, of rows and of blocks:
///
/// ```text
/// cargo test --release -p leakgauge-sequential watch -- --ignored --nocapture
/// ```
#[test]
#[ignore = "long"]
fn what_is_just_true_is_refuted_in_at_most_alpha_of_1000_logs() {
    let runs = 1_000;
    let of_rows = wrong(runs, 6_000);
    println!("{of_rows:?} of {runs} logs are wrong");
    let of_blocks = wrong_in_blocks(runs, 3_000);
    println!("{of_blocks:?} of {runs} logs in blocks are wrong");
    let most = at_most(runs as usize, 0.05);
    assert!(of_rows.iter().all(|&wrong| wrong <= most));
    assert!(of_blocks.iter().all(|&wrong| wrong <= most));
}

/// The same of blocks of two secrets whose noise is one number, or one number and its negative.
fn wrong_in_blocks(runs: u64, blocks: usize) -> [usize; 2] {
    [1.0, -1.0].map(|sign| {
        let of_log = |&seed: &u64| {
            let mut rng = rng(40_000 + seed);
            let claims = just_true();
            let mut world = world(&claims);
            let mut watch = watch(claims.len(), Meeting::Block);
            for at in 0..blocks {
                let noise = laplace(&mut rng, 1.0);
                world.numbers.extend([noise, 1.0 + sign * noise]);
                let row = 2 * at as u32;
                watch.push_block(&[(0, row), (1, row + 1)], &world);
                if at == 8 {
                    watch.choose(&[(0, 1)], &world);
                }
            }
            (0..claims.len()).any(|claim| watch.ln_capital(claim) >= 20f64.ln())
        };
        (0..runs).filter(of_log).count()
    })
}

/// Three claims are each refuted with a probability of at most 5 %.
#[test]
#[ignore = "long"]
fn blocks_whose_rows_depend_on_each_other_seldom_refute_what_is_just_true() {
    let runs = 60;
    let wrong = wrong_in_blocks(runs, 600);
    let most = at_most(runs as usize, 0.15);
    assert!(wrong.iter().all(|&wrong| wrong <= most), "{wrong:?}");
}

#[test]
fn what_is_false_is_refuted_soon_and_limits_come_near_the_truth() {
    // At half the noise ε is 2 and the total variation 0.632.
    let claims = just_true();
    let (watch, limits) = followed(&claims, &[0.0, 1.0], 2.0, 1_000, 5);
    for claim in 0..3 {
        assert!(watch.ln_capital(claim) > 20f64.ln(), "{claim}");
    }
    assert!((0.5..0.6322).contains(&limits[0]), "{limits:?}");
    assert!((1.3..2.0).contains(&limits[1]), "{limits:?}");
    assert_eq!(watch.pairs().collect::<Vec<_>>(), [(0, 1)]);
    let point = watch.estimate(Quantity::TotalVariation).unwrap();
    assert!((point - 0.632).abs() < 0.1, "{point}");
}

#[test]
fn pairs_that_share_no_secret_are_judged_together() {
    // 0 and 1 differ, 2 and 3 differ more, 4 is like 0.
    let centers = [0.0, 1.0, 4.0, 6.0, 0.0];
    let claims = [Allowed::privacy(0.5, 0.0)];
    let (watch, _) = followed(&claims, &centers, 1.0, 2_000, 6);
    let pairs: Vec<(u32, u32)> = watch.pairs().collect();
    assert!(pairs.len() >= 2, "{pairs:?}");
    let mut secrets: Vec<u32> = pairs.iter().flat_map(|&(a, b)| [a, b]).collect();
    secrets.sort_unstable();
    assert!(secrets.windows(2).all(|two| two[0] != two[1]), "{pairs:?}");
}

/// The n-th row of one secret meets the n-th of the other; a row that waits is not learned from, and of a pair that is
/// given up it is learned from at once.
#[test]
fn rows_meet_in_their_order() {
    let mut world = world(&[Allowed::privacy(1.0, 0.0)]);
    let mut watch = watch(1, Meeting::Independent);
    world.numbers = (0..20).map(f64::from).collect();
    for (secret, row) in [(0, 0), (1, 1)] {
        watch.push((secret, row), &world);
    }
    watch.choose(&[(0, 1)], &world);
    for (secret, row) in [(0, 2), (0, 3), (2, 4), (1, 5)] {
        watch.push((secret, row), &world);
    }
    assert_eq!(watch.met(), 1);
    assert_eq!(watch.past(), [vec![0, 2], vec![1, 5], vec![4]]);
    watch.choose(&[(0, 1), (2, 3)], &world);
    watch.push((1, 6), &world);
    assert_eq!(watch.past()[0], [0, 2, 3], "3 went on waiting, and met 6");
    watch.push((0, 7), &world);
    watch.choose(&[(1, 2)], &world);
    assert_eq!(watch.past()[0], [0, 2, 3, 7]);
    watch.push((1, 8), &world);
    assert_eq!((watch.met(), watch.past()[1].len()), (2, 3));
}
