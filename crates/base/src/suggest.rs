//! "Did you mean": the nearest of the names that would have been right.

/// The candidate nearest in spelling to what was written, if it is near at all.
pub fn nearest<'c>(
    written: &str,
    candidates: impl IntoIterator<Item = &'c str>,
) -> Option<&'c str> {
    const MAX_LENGTH: usize = 64;
    let written: String = written.to_lowercase().chars().take(MAX_LENGTH).collect();
    let length = written.chars().count();
    let most = (length / 3).max(1);
    candidates
        .into_iter()
        // Far from it in length, far from it in spelling; names in a log can be of any length.
        .filter(|candidate| {
            candidate
                .chars()
                .take(2 * MAX_LENGTH)
                .count()
                .abs_diff(length)
                <= most
        })
        .map(|candidate| {
            (
                strsim::damerau_levenshtein(&written, &candidate.to_lowercase()),
                candidate,
            )
        })
        .filter(|&(distance, _)| distance <= most)
        .min_by_key(|&(distance, _)| distance)
        .map(|(_, candidate)| candidate)
}

#[cfg(test)]
mod tests {
    use super::nearest;

    #[test]
    fn a_typo_is_recognized_and_a_different_word_is_not() {
        let names = ["laplace", "gaussian", "geometric"];
        assert_eq!(nearest("lapalce", names), Some("laplace"));
        assert_eq!(nearest("Gaussian", names), Some("gaussian"));
        assert_eq!(nearest("staircase", names), None);
    }
}
