//! Differences of means, of all values or without the extreme ones, by Student's law.

use super::Ranked;
use crate::long_run::LongRun;
use crate::paired::{Located, skewed};

/// The share of values that a trimmed mean leaves out at either end.
const TRIMMED: f64 = 0.1;

/// Limits for the difference of the means of b and of a.
///
/// # Formula
/// x̄_b − x̄_a ± t(f)·√(s_a²/n_a + s_b²/n_b), with f degrees of freedom after Welch and Satterthwaite; wider for the skewness
/// of the difference, and infinite where that is above 0.2, as [`paired::mean`](crate::paired::mean) is.
///
/// # Conditions
/// Independent rows of two laws with a variance, or rows that vary so much in the long run; asymptotic. Two samples of
/// equal values have infinite limits: nothing is known of how much the laws vary.
///
/// # References
/// Welch (1947), 10.1093/biomet/34.1-2.28; those of [`paired::mean`](crate::paired::mean).
pub fn mean(a: &Ranked, b: &Ranked, alpha: f64, varies: LongRun) -> Located {
    let means = [a, b].map(|sample| trimmed(sample, 0));
    let [of_a, of_b] =
        [(a, &means[0]), (b, &means[1])].map(|(sample, mean)| third(sample, mean.center));
    let error = (means[0].square + means[1].square).sqrt();
    let skewness = (of_b - of_a) / error.powi(3);
    let plain = between(means, f64::INFINITY, (alpha, varies));
    match plain.upper.is_finite() {
        true => skewed(
            plain.point,
            error,
            (plain.upper - plain.point) / error,
            skewness,
        ),
        false => plain,
    }
}

/// The third central moment of the mean of a sample.
fn third(sample: &Ranked, center: f64) -> f64 {
    let n = sample.rows() as f64;
    let cubes = sample.cells();
    let cubes = cubes.map(|(value, count)| count as f64 * (value - center).powi(3));
    cubes.sum::<f64>() / (n * n * n)
}

/// Limits for the difference of the means without the smallest 10 % and the largest 10 % of either sample.
///
/// # Formula
/// That of [`mean`] with h = n − 2·⌊n/10⌋ values kept and s²/n replaced by (n − 1)·s_w²/(h·(h − 1)), where s_w² is the
/// variance of the winsorized values.
///
/// # Conditions
/// Independent rows, or rows of which the influence on the estimate varies so much in the long run; asymptotic. Holds
/// for the trimmed means of the two laws, whatever their tails.
///
/// # References
/// Yuen (1974), 10.1093/biomet/61.1.165.
pub fn trimmed_mean(a: &Ranked, b: &Ranked, alpha: f64, varies: LongRun) -> Located {
    let cut = |sample: &Ranked| (sample.rows() as f64 * TRIMMED).floor() as u64;
    // Where values are left out, the others may well be equal.
    let none = match cut(a).min(cut(b)) {
        0 => f64::INFINITY,
        _ => 0.0,
    };
    between(
        [a, b].map(|sample| trimmed(sample, cut(sample))),
        none,
        (alpha, varies),
    )
}

/// A mean, its squared standard error and its degrees of freedom.
struct Mean {
    center: f64,
    square: f64,
    freedom: f64,
}

fn trimmed(sample: &Ranked, cut: u64) -> Mean {
    let all = sample.rows();
    let (n, kept) = (all as f64, (all - 2 * cut) as f64);
    let [least, most] = [cut + 1, all - cut].map(|rank| sample.at(rank as i64));
    let clamped = || {
        let cells = sample.cells();
        cells.map(move |(value, count)| (value.clamp(least, most), count as f64))
    };
    let sum: f64 = clamped().map(|(value, count)| value * count).sum();
    let winsorized = sum / n;
    let squares: f64 = clamped()
        .map(|(value, count)| count * (value - winsorized) * (value - winsorized))
        .sum();
    Mean {
        center: (sum - cut as f64 * (least + most)) / kept,
        square: squares / (kept * (kept - 1.0)),
        freedom: kept - 1.0,
    }
}

/// `none`: the radius of limits where no value differs from the others of its sample.
fn between([a, b]: [Mean; 2], none: f64, (alpha, varies): (f64, LongRun)) -> Located {
    let point = b.center - a.center;
    let square = a.square + b.square;
    let freedom =
        square * square / (a.square * a.square / a.freedom + b.square * b.square / b.freedom);
    let radius = match (square, freedom) {
        (0.0, _) => none,
        (_, freedom) if freedom.is_finite() => varies.reach(alpha, freedom) * square.sqrt(),
        _ => f64::INFINITY,
    };
    Located {
        point,
        lower: point - radius,
        upper: point + radius,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use leakgauge_testing::assert_close;

    fn of(values: &[f64]) -> Ranked {
        Ranked::new(values.iter().map(|&value| (value, 1)))
    }

    // Equal variances s² = 55/6 and equal n = 10: f = 18, t(18) at 0.975 is 2.100922 (tables).
    #[test]
    fn equal_samples_have_students_limits() {
        let values: Vec<f64> = (1..=10).map(f64::from).collect();
        let moved: Vec<f64> = values.iter().map(|value| value + 5.0).collect();
        let found = mean(&of(&values), &of(&moved), 0.025, LongRun::INDEPENDENT);
        assert_eq!(found.point, 5.0);
        let radius = 2.100_922 * (2.0f64 * 55.0 / 6.0 / 10.0).sqrt();
        assert_close(found.upper - 5.0, radius, 1e-6);
        assert_close(5.0 - found.lower, radius, 1e-6);
    }

    // Winsorized 2, 2, …, 9, 9: squares 66.5; h = 8, f = 14, t(14) at 0.975 is 2.144787.
    #[test]
    fn the_trimmed_mean_does_not_move_with_its_ends() {
        let mut values: Vec<f64> = (1..=10).map(f64::from).collect();
        let plain = of(&values);
        values[9] = 1e9;
        let found = trimmed_mean(&plain, &of(&values), 0.025, LongRun::INDEPENDENT);
        assert_eq!(found.point, 0.0);
        assert_close(found.upper, 2.144_787 * (2.0f64 * 66.5 / 56.0).sqrt(), 1e-6);
    }

    #[test]
    fn one_row_has_no_limits() {
        let found = mean(&of(&[1.0]), &of(&[3.0, 4.0]), 0.025, LongRun::INDEPENDENT);
        assert_eq!((found.point, found.upper), (2.5, f64::INFINITY));
    }
}
