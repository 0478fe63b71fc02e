//! An order of the secrets that puts those hard to tell apart side by side.

/// Orders `secrets` items by average linkage: the two nearest groups are joined again and again, and the
/// order is that of the leaves of the resulting tree, each group turned so that its nearer ends meet.
///
/// `distance(a, b)` is asked for a ≠ b and must be symmetric; the first of equals is joined first. Takes
/// time cubic in the number of secrets at worst.
///
/// # References
/// Sokal and Michener 1958 (average linkage, UPGMA).
pub fn clustering_order(secrets: usize, distance: impl Fn(u32, u32) -> f64) -> Vec<u32> {
    let mut groups: Vec<Vec<u32>> = (0..secrets as u32).map(|secret| vec![secret]).collect();
    let mut apart: Vec<Vec<f64>> = groups
        .iter()
        .map(|a| {
            groups
                .iter()
                .map(|b| if a == b { 0.0 } else { distance(a[0], b[0]) })
                .collect()
        })
        .collect();
    while groups.len() > 1 {
        let (a, b) = nearest(&apart);
        let second = groups.remove(b);
        let weights = [groups[a].len() as f64, second.len() as f64];
        join(&mut groups[a], second, &distance);
        merge(&mut apart, a, b, weights);
    }
    groups.pop().unwrap_or_default()
}

/// The two groups that are nearest to each other, the first of equals.
fn nearest(apart: &[Vec<f64>]) -> (usize, usize) {
    let mut best = (0, 1, f64::INFINITY);
    for (a, row) in apart.iter().enumerate() {
        for (b, &distance) in row.iter().enumerate().skip(a + 1) {
            if distance < best.2 {
                best = (a, b, distance);
            }
        }
    }
    (best.0, best.1)
}

/// Appends a group, both turned so that the ends that meet are as near as can be.
fn join(first: &mut Vec<u32>, mut second: Vec<u32>, distance: &impl Fn(u32, u32) -> f64) {
    let ends = |group: &[u32]| [group[0], group[group.len() - 1]];
    let ([a, z], [b, y]) = (ends(first), ends(&second));
    let choices = [(z, b), (z, y), (a, b), (a, y)].map(|(one, other)| distance(one, other));
    let best = (1..4).fold(0, |best, next| {
        if choices[next] < choices[best] {
            next
        } else {
            best
        }
    });
    if best >= 2 {
        first.reverse();
    }
    if best % 2 == 1 {
        second.reverse();
    }
    first.extend(second);
}

/// Replaces group a by its union with b, and drops b.
fn merge(apart: &mut Vec<Vec<f64>>, a: usize, b: usize, weights: [f64; 2]) {
    let total = weights[0] + weights[1];
    let means: Vec<f64> = apart[a]
        .iter()
        .zip(&apart[b])
        .map(|(to_a, to_b)| (weights[0] * to_a + weights[1] * to_b) / total)
        .collect();
    for (row, &mean) in apart.iter_mut().zip(&means) {
        row[a] = mean;
    }
    apart[a] = means;
    apart[a][a] = 0.0;
    apart.remove(b);
    apart.iter_mut().for_each(|row| {
        row.remove(b);
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn points_on_a_line_come_in_their_order_or_its_reverse() {
        let places = [5.0, 1.0, 9.0, 2.0, 0.0, 8.0f64];
        let order = clustering_order(6, |a, b| (places[a as usize] - places[b as usize]).abs());
        let mut sorted: Vec<f64> = order.iter().map(|&at| places[at as usize]).collect();
        if sorted[0] > sorted[5] {
            sorted.reverse();
        }
        assert_eq!(sorted, [0.0, 1.0, 2.0, 5.0, 8.0, 9.0]);
    }

    #[test]
    fn groups_stay_together_and_everyone_appears_once() {
        let group = |secret: u32| secret % 3;
        let order = clustering_order(30, |a, b| if group(a) == group(b) { 0.1 } else { 0.9 });
        let runs = order.chunk_by(|&a, &b| group(a) == group(b)).count();
        assert_eq!(runs, 3);
        let mut all = order.clone();
        all.sort_unstable();
        assert_eq!(all, (0..30).collect::<Vec<u32>>());
        assert!(clustering_order(0, |_, _| 0.0).is_empty());
        assert_eq!(clustering_order(1, |_, _| 0.0), [0]);
    }
}
