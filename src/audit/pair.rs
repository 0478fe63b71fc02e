//! Two secrets of a log, by their indices. All pairs of a log share its labels.

use std::sync::Arc;

/// The labels of a log's secrets, in the order of their indices.
pub type Labels = Arc<[String]>;

/// Two secrets of a log.
///
/// Equality compares labels, so that pairs of several logs can be compared, and a pair with two texts.
///
/// ```
/// use leakgauge::audit::Pair;
///
/// let pair = Pair::new(["no".to_owned(), "yes".to_owned()].into(), [0, 1]);
/// assert_eq!(pair, ["no", "yes"]);
/// assert_eq!(pair.reversed().secrets(), [1, 0]);
/// ```
#[derive(Debug, Clone)]
pub struct Pair {
    labels: Labels,
    secrets: [u32; 2],
}

impl Pair {
    /// Two secrets by their indices in `labels`.
    ///
    /// # Panics
    /// If an index is not one of `labels`.
    pub fn new(labels: Labels, secrets: [u32; 2]) -> Self {
        assert!(
            secrets
                .iter()
                .all(|&secret| (secret as usize) < labels.len())
        );
        Pair { labels, secrets }
    }

    /// The indices of both.
    pub fn secrets(&self) -> [u32; 2] {
        self.secrets
    }

    /// The labels of both.
    pub fn labels(&self) -> [&str; 2] {
        self.secrets
            .map(|secret| self.labels[secret as usize].as_str())
    }

    /// The same in the other order.
    #[must_use]
    pub fn reversed(&self) -> Pair {
        let [a, b] = self.secrets;
        Pair {
            labels: self.labels.clone(),
            secrets: [b, a],
        }
    }
}

impl PartialEq for Pair {
    fn eq(&self, other: &Pair) -> bool {
        self.labels() == other.labels()
    }
}

impl PartialEq<[&str; 2]> for Pair {
    fn eq(&self, other: &[&str; 2]) -> bool {
        self.labels() == *other
    }
}
