//! Suggestions for misspelled names ("did you mean …?").

/// The candidate with the smallest Damerau–Levenshtein distance to what was written, ignoring case, if that
/// distance is at most a third of the written length (at least 1). Looks at the first 64 characters.
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
        // The distance is at least the difference in length, which is cheap; names in a log can be long.
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
