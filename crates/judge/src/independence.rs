//! What limits take for independent draws of a mechanism.

/// What is independent of each other, given the secrets. It is settled once, before anything is judged: what a limit
/// counts, and which limits there are, follow from it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Independence {
    /// Every row is a draw of its own.
    Rows,
    /// Rows may depend on those before them: a split by time, in which rows are worth fewer.
    Time,
    /// Rows of one unit may depend on each other; units do not.
    Units,
    /// Measurements of one block may depend on each other; blocks are the units, in their order.
    Blocks,
}

impl Independence {
    /// Whether every row is a draw of its own.
    pub fn is_of_rows(self) -> bool {
        self == Independence::Rows
    }

    /// Whether limits count units, blocks among them.
    pub fn is_of_units(self) -> bool {
        matches!(self, Independence::Units | Independence::Blocks)
    }
}
