//! What a missing value means, and whose logs are read.

use crate::row::{is_absent, is_not_a_number};

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
    /// Nobody waited for it: an observation that is larger than all others, like the word `timeout`.
    Last,
}

/// How programs write that nobody waited for a time any longer.
const TIMED_OUT: [&str; 12] = [
    "timeout",
    "time-out",
    "time_out",
    "time out",
    "timedout",
    "timed-out",
    "timed_out",
    "timed out",
    "inf",
    "+inf",
    "infinity",
    "+infinity",
];

/// Whether a text says that there is no time, or that it is longer than anyone waited.
pub(crate) fn is_last(text: &str) -> bool {
    let text = text.trim();
    is_absent(text)
        || is_not_a_number(text)
        || TIMED_OUT.iter().any(|word| text.eq_ignore_ascii_case(word))
}

impl Missing {
    /// Every choice that has a name.
    pub const ALL: [Missing; 3] = [Missing::Drop, Missing::Label, Missing::Last];

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Missing::Refuse => "refuse",
            Missing::Drop => "drop",
            Missing::Label => "label",
            Missing::Last => "last",
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
