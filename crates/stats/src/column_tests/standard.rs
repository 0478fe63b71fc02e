//! Numbers on one scale, and what is compared of them.

/// What is compared of a column, each with the mean 0 and the variance 1, or 0 throughout where it is constant.
pub(super) fn compared(numbers: &[f64]) -> [Vec<f64>; 3] {
    let mut order: Vec<u32> = (0..numbers.len() as u32).collect();
    order.sort_unstable_by(|&x, &y| numbers[x as usize].total_cmp(&numbers[y as usize]));
    let mut ranks = vec![0.0; numbers.len()];
    let mut done = 0;
    for same in order.chunk_by(|&x, &y| numbers[x as usize] == numbers[y as usize]) {
        // Equal values share their mean rank.
        let rank = done as f64 + (same.len() - 1) as f64 / 2.0;
        same.iter().for_each(|&row| ranks[row as usize] = rank);
        done += same.len();
    }
    let middle = (numbers.len() as f64 - 1.0) / 2.0;
    let spread: Vec<f64> = ranks.iter().map(|rank| (rank - middle).powi(2)).collect();
    [numbers.to_vec(), ranks, spread].map(standardized)
}

pub(super) fn standardized(mut values: Vec<f64>) -> Vec<f64> {
    let number = values.len() as f64;
    // Differences from one value: huge numbers that hardly differ keep their digits.
    let first = values.first().copied().unwrap_or(0.0);
    let mean = values
        .iter()
        .map(|value| (value - first) / number)
        .sum::<f64>();
    values
        .iter_mut()
        .for_each(|value| *value = *value - first - mean);
    let scale = values
        .iter()
        .fold(0.0f64, |scale, value| scale.max(value.abs()));
    if scale == 0.0 || !scale.is_finite() {
        values.fill(0.0);
        return values;
    }
    // First to a size whose squares are numbers.
    values.iter_mut().for_each(|value| *value /= scale);
    let squares = values.iter().map(|value| value * value);
    let deviation = (squares.sum::<f64>() / number).sqrt();
    values.iter_mut().for_each(|value| *value /= deviation);
    values
}
