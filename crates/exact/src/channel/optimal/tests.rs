use super::*;

fn table(values: &[f64], guesses: usize) -> PayoffTable {
    PayoffTable {
        name: "loss.csv".to_owned(),
        columns: None,
        guesses: numbered(guesses),
        values: values.to_vec(),
        may_have_header: false,
    }
}

/// |w − s| for answers and secrets 0 … n − 1.
fn absolute(n: usize) -> Vec<f64> {
    let numbers = 0..n;
    numbers
        .flat_map(|w| (0..n).map(move |s| (w as f64 - s as f64).abs()))
        .collect()
}

/// What every result has to keep, computed here anew.
fn check(wanted: &Wanted, found: &Optimal) {
    let n = found.secrets.len();
    for (s, row) in found.matrix.iter().enumerate() {
        let sum: f64 = row.iter().sum();
        assert!(
            (sum - 1.0).abs() < 1e-12 && row.iter().all(|p| *p >= 0.0),
            "{row:?}"
        );
        for t in 0..n {
            let most = (wanted.epsilon * wanted.distance(s, t)).exp();
            for (p, q) in row.iter().zip(&found.matrix[t]) {
                assert!(*p <= most * q * (1.0 + 1e-15), "{s} {t}: {p} {q}");
            }
        }
    }
    assert!(
        found.reached_epsilon <= wanted.epsilon,
        "{}",
        found.reached_epsilon
    );
    assert!(found.loss_at_least <= found.loss && found.loss <= found.constant_loss + 1e-12);
    assert!(found.loss_without_privacy <= found.loss_at_least);
}

fn solved(wanted: &Wanted) -> Optimal {
    let found = wanted.solve().unwrap();
    check(wanted, &found);
    found
}

/// The losses of scipy 1.17.1 (linprog, HiGHS) for the program with all pairs of secrets.
#[test]
fn losses_are_those_of_another_solver_and_certified_from_below() {
    let loss = [
        0.0, 1.0, 2.0, 4.0, 1.0, 0.0, 1.0, 3.0, 3.0, 1.0, 0.0, 0.5, 5.0, 4.0, 1.0, 0.0, 1.0, 1.0,
        1.0, 1.0,
    ];
    let distances = [
        0.0, 1.0, 3.0, 2.0, 2.0, 0.0, 1.0, 1.0, 1.0, 1.0, 0.0, 2.0, 4.0, 1.0, 1.0, 0.0,
    ];
    let prior = Some("0.4,0.3,0.2,0.1");
    let seven = table(&absolute(7), 7);
    let numbers = PayoffTable {
        columns: Some((0..7).map(|s| s.to_string()).collect()),
        ..seven.clone()
    };
    let four = table(&loss, 5);
    let cases = [
        (
            Wanted::new(&seven, None, 1.0).unwrap(),
            1.461_042_436_634_277_1,
        ),
        (
            Wanted::new(&numbers, None, 0.5)
                .unwrap()
                .with_differences()
                .unwrap(),
            1.160_676_280_785_567,
        ),
        (
            Wanted::new(&four, prior, 0.7).unwrap(),
            0.823_201_141_936_681_6,
        ),
        (
            Wanted::new(&four, prior, 0.7)
                .unwrap()
                .with_distances(&table(&distances, 4))
                .unwrap(),
            0.764_341_680_318_080_8,
        ),
    ];
    for (wanted, expected) in cases {
        let found = solved(&wanted);
        assert!(found.loss >= expected - 1e-9, "{} {expected}", found.loss);
        assert!(found.loss <= expected + 1e-7, "{} {expected}", found.loss);
        assert!(
            found.loss_at_least >= expected - 1e-7,
            "{} {expected}",
            found.loss_at_least
        );
        assert!(
            found.loss_at_least <= expected + 1e-12,
            "{} {expected}",
            found.loss_at_least
        );
    }
}

/// Right or wrong: randomized response is optimal, with the loss (k − 1)/(e^ε + k − 1).
#[test]
fn of_right_and_wrong_randomized_response_is_optimal_at_every_epsilon() {
    for k in [2usize, 3, 8] {
        let wrong: Vec<f64> = (0..k * k)
            .map(|at| f64::from(u8::from(at / k != at % k)))
            .collect();
        for epsilon in [1e-6, 1e-3, 0.1, 1.0, 5.0, 20.0, 60.0, 800.0] {
            let found = solved(&Wanted::new(&table(&wrong, k), None, epsilon).unwrap());
            let others = (k - 1) as f64;
            let exact = others / (epsilon.exp() + others);
            assert!(
                found.loss >= exact * (1.0 - 1e-12) - 1e-15,
                "{k} {epsilon} {found:?}"
            );
            assert!(found.loss <= exact + 1e-7, "{k} {epsilon} {found:?}");
            assert!(
                found.loss_at_least >= exact - 1e-6,
                "{k} {epsilon} {found:?}"
            );
        }
    }
}

/// The geometric mechanism, cut at both ends, is optimal under ε·|s − t| for some post-processing: with absolute errors and
/// a uniform prior its own loss is no smaller.
#[test]
fn no_loss_is_above_that_of_the_cut_geometric_mechanism() {
    let n = 8;
    let names = PayoffTable {
        columns: Some((0..n).map(|s| s.to_string()).collect()),
        ..table(&absolute(n), n)
    };
    let wanted = Wanted::new(&names, None, 0.8)
        .unwrap()
        .with_differences()
        .unwrap();
    let found = solved(&wanted);
    let a = (-0.8f64).exp();
    let entry = |s: usize, w: usize| {
        let inner = (1.0 - a) / (1.0 + a);
        let scale = if w == 0 || w == n - 1 {
            1.0 / (1.0 + a)
        } else {
            inner
        };
        scale * a.powi((s as i32 - w as i32).abs())
    };
    let geometric: f64 = (0..n)
        .flat_map(|s| (0..n).map(move |w| (s, w)))
        .map(|(s, w)| entry(s, w) * (s as f64 - w as f64).abs() / n as f64)
        .sum();
    assert!(found.loss <= geometric + 1e-9, "{} {geometric}", found.loss);
    assert!(found.loss > 0.8 * geometric);
}

#[test]
fn secrets_without_a_distance_have_the_same_row() {
    let distances = [0.0, 0.0, 1.0, 0.0, 0.0, 1.0, 1.0, 1.0, 0.0];
    let wanted = Wanted::new(&table(&absolute(3), 3), None, 2.0).unwrap();
    let found = solved(&wanted.with_distances(&table(&distances, 3)).unwrap());
    assert_eq!(found.matrix[0], found.matrix[1]);
    assert!(found.loss < found.constant_loss - 0.1, "{found:?}");
}

#[test]
fn what_cannot_be_wanted_is_refused() {
    let loss = table(&absolute(3), 3);
    for epsilon in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        assert!(Wanted::new(&loss, None, epsilon).is_err());
    }
    assert!(Wanted::new(&loss, Some("0.5,0.5"), 1.0).is_err());
    assert!(Wanted::new(&table(&[1.0, 2.0], 2), None, 1.0).is_err());
    let wanted = || Wanted::new(&loss, None, 1.0).unwrap();
    for wrong in [
        &[0.0, 1.0, 1.0, 0.0][..],
        &[0.0, 1.0, 1.0, 1.0, 0.5, 1.0, 1.0, 1.0, 0.0],
        &[0.0, -1.0, 1.0, 1.0, 0.0, 1.0, 1.0, 1.0, 0.0],
    ] {
        let rows = if wrong.len() == 4 { 2 } else { 3 };
        assert!(wanted().with_distances(&table(wrong, rows)).is_err());
    }
    let large = table(&vec![1.0; 200 * 200], 200);
    assert!(
        Wanted::new(&large, None, 1.0)
            .unwrap_err()
            .to_string()
            .contains("the limits are")
    );
}
