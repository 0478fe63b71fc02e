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

/// The program whose logs are read, where that cannot be told by looking, or was told wrongly.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Like {
    /// F-BLEAU: no header, numbers only, the secret first.
    Fbleau,
    /// None: columns are what they are called, even if the file looks like the log of a known program.
    Nothing,
}

impl Like {
    /// Every choice.
    pub const ALL: [Like; 2] = [Like::Fbleau, Like::Nothing];

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Like::Fbleau => "fbleau",
            Like::Nothing => "nothing",
        }
    }
}
