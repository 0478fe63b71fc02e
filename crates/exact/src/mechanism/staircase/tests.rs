use super::*;
use rand::SeedableRng;

fn noise(epsilon: f64, gamma: Option<f64>) -> StaircaseNoise {
    let mechanism = Staircase {
        epsilon,
        sensitivity: 0.7,
        gamma,
        secrets: None,
    };
    mechanism.noise()
}

fn cells(noise: &StaircaseNoise, distance: f64) -> Vec<Cell> {
    match noise.pair(distance) {
        Some(Pair::Cells(cells)) => cells,
        other => panic!("{other:?}"),
    }
}

/// Cells hold all mass, their losses are those of their masses, and their δ is that of the sum over places.
#[test]
fn cells_of_a_pair_are_its_densities() {
    let mut rng = rand_chacha::ChaCha8Rng::seed_from_u64(5);
    for round in 0..400 {
        let gamma = match round % 5 {
            0 => None,
            1 => Some(0.0),
            2 => Some(1.0),
            3 => Some(0.25),
            _ => Some(rng.random()),
        };
        let noise = noise(0.05 + 5.0 * rng.random::<f64>(), gamma);
        let periods = match round % 3 {
            0 => (1.0 + 6.0 * rng.random::<f64>()).floor(),
            1 => 0.25 * (1.0 + 20.0 * rng.random::<f64>()).floor(),
            _ => 5.0 * rng.random::<f64>(),
        };
        let distance = periods * noise.width;
        let cells = cells(&noise, distance);
        let what = format!("{noise:?} {periods}");
        for sum in [
            cells.iter().map(|cell| cell.p).sum::<f64>(),
            cells.iter().map(|cell| cell.q).sum::<f64>(),
        ] {
            assert!((sum - 1.0).abs() < 1e-12, "{what}: {sum}");
        }
        for cell in &cells {
            let told = log(cell.p) - log(cell.q);
            assert!((told - cell.loss).abs() < 1e-9, "{what}: {cell:?}");
        }
        for share in [0.0, 0.2, 0.5, 0.9] {
            let epsilon = share * noise.epsilon(distance);
            let each = cells
                .iter()
                .map(|cell| -cell.p * expm1((epsilon - cell.loss).at_most(0.0)));
            let (found, wanted) = (each.sum::<f64>(), noise.delta(distance, epsilon).unwrap());
            assert!(
                (found - wanted).abs() < 1e-11,
                "{what} {epsilon}: {found} {wanted}"
            );
        }
    }
}

/// A high part far narrower than the last digit of a place loses no mass, in either order of the pair.
#[test]
fn a_narrow_high_part_is_kept() {
    for periods in [1.0, 2.5, 5.0] {
        let noise = noise(150.0, None);
        let cells = cells(&noise, periods * noise.width);
        let high = |of: fn(&Cell) -> f64, sign: f64| {
            let each = cells.iter().filter(|cell| sign * cell.loss > 0.0);
            each.map(of).sum::<f64>()
        };
        assert!((high(|cell| cell.p, 1.0) - 1.0).abs() < 1e-12, "{cells:?}");
        assert!((high(|cell| cell.q, -1.0) - 1.0).abs() < 1e-12, "{cells:?}");
    }
}
