//! What a missing value means, and whose logs are read.

/// What a blank or a null in a column that is used means.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Missing {
    /// A blank secret is an error; a blank observation is one that an observer sees.
    #[default]
    Refuse,
    /// Its row is left out and counted.
    Drop,
    /// It is a label of its own, of a secret too.
    Label,
}

impl Missing {
    /// Every choice that has a name.
    pub const ALL: [Missing; 2] = [Missing::Drop, Missing::Label];

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Missing::Refuse => "refuse",
            Missing::Drop => "drop",
            Missing::Label => "label",
        }
    }
}

/// A program whose logs cannot be told by looking at them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Like {
    /// F-BLEAU: no header, numbers only, the secret first.
    Fbleau,
}

impl Like {
    /// Every such program.
    pub const ALL: [Like; 1] = [Like::Fbleau];

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Like::Fbleau => "fbleau",
        }
    }
}
