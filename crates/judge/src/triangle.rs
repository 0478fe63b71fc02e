//! What upper limits of distances imply of each other.

/// More secrets are left as they are: the work grows with the cube.
const MOST: usize = 500;

/// Lowers upper limits of the distances of all pairs to what other pairs imply.
///
/// # Formula
/// d(a, c) ≤ d(a, b) + d(b, c), over all b and as often as it helps: the shortest paths between all secrets.
///
/// # Shapes
/// `limits` has one entry for each pair a < b, in the order (0, 1), (0, 2), …, (1, 2), …; `None` where nothing is
/// known.
///
/// # Conditions
/// All limits hold together: then so do those that follow. With more than 500 secrets nothing is changed.
///
/// # Panics
/// If the number of limits is not that of the pairs.
///
/// # Source
/// The total variation is a metric; all shortest paths: Floyd 1962, doi:10.1145/367766.368168.
pub fn close_distances(limits: &mut [Option<f64>], secrets: usize) {
    assert_eq!(limits.len(), secrets * secrets.saturating_sub(1) / 2);
    let known = || limits.iter().flatten().copied();
    let smallest = known().fold(f64::INFINITY, f64::min);
    let largest = known().fold(0.0, f64::max);
    let is_whole = limits.iter().all(Option::is_some);
    // No way around is shorter than twice the shortest.
    if secrets > MOST || is_whole && 2.0 * smallest >= largest {
        return;
    }
    let mut paths = vec![f64::INFINITY; secrets * secrets];
    let pairs = (0..secrets).flat_map(|a| (a + 1..secrets).map(move |b| (a, b)));
    for ((a, b), limit) in pairs.clone().zip(limits.iter()) {
        let limit = limit.unwrap_or(f64::INFINITY);
        (paths[a * secrets + b], paths[b * secrets + a]) = (limit, limit);
    }
    for by in 0..secrets {
        let through = paths[by * secrets..][..secrets].to_vec();
        for a in (0..secrets).filter(|&a| a != by) {
            let to = through[a];
            let row = &mut paths[a * secrets..][..secrets];
            for (path, from) in row.iter_mut().zip(&through) {
                *path = path.min(to + from);
            }
        }
    }
    for ((a, b), limit) in pairs.zip(limits.iter_mut()) {
        let path = paths[a * secrets + b];
        if path < 1.0 {
            *limit = Some(limit.map_or(path, |limit| limit.min(path)));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pair_is_no_farther_than_by_way_of_others() {
        // 0 – 1 – 2 – 3 are near each other in a row.
        let mut limits = [0.1, 0.9, 0.8, 0.2, 0.9, 0.3].map(Some);
        close_distances(&mut limits, 4);
        let expected = [0.1, 0.3, 0.6, 0.2, 0.5, 0.3];
        for (limit, expected) in limits.iter().zip(expected) {
            assert!((limit.unwrap() - expected).abs() < 1e-12, "{limits:?}");
        }
    }

    #[test]
    fn unknown_limits_may_follow_and_no_limit_exceeds_one() {
        let mut limits = [Some(0.1), None, Some(0.2)];
        close_distances(&mut limits, 3);
        assert!((limits[1].unwrap() - 0.3).abs() < 1e-12);
        let mut limits = [Some(0.6), None, Some(0.7)];
        close_distances(&mut limits, 3);
        assert_eq!(limits, [Some(0.6), None, Some(0.7)]);
        close_distances(&mut [], 1);
        close_distances(&mut [], 0);
    }

    #[test]
    fn limits_of_a_metric_stay_above_it() {
        // Points on a line, limits above their distances.
        let places = [0.0, 0.05, 0.4, 0.41, 0.8];
        let pairs = || (0..5).flat_map(|a| (a + 1..5).map(move |b| (a, b)));
        let distance = |(a, b): (usize, usize)| f64::abs(places[a] - places[b]);
        let above = |(a, b)| Some(distance((a, b)) * (1.0 + (a * 7 + b * 3) as f64 % 5.0));
        let mut limits: Vec<_> = pairs().map(above).collect();
        let before = limits.clone();
        close_distances(&mut limits, 5);
        assert_ne!(limits, before);
        for (pair, limit) in pairs().zip(&limits) {
            assert!(limit.unwrap() >= distance(pair) - 1e-12);
        }
        let once = limits.clone();
        close_distances(&mut limits, 5);
        assert_eq!(limits, once);
    }
}
