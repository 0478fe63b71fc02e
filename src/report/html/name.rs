//! Names that the user gave.

use serde::{Serialize, Serializer};

use leakgauge_plot::clean;

/// What the user named: a label, a column, a claim. Shortened if it is long.
pub struct Name(String);

impl Name {
    pub fn new(text: &str) -> Self {
        Name(clean(text))
    }
}

/// The text, or a pair of what is shown and all of it.
impl Serialize for Name {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        /// Characters that stay beside another name on a phone.
        const LONGEST: usize = 40;
        let shown = if self.0.chars().count() <= LONGEST {
            (self.0.clone(), None)
        } else {
            let short: String = self.0.chars().take(LONGEST - 1).chain(['…']).collect();
            (short, Some(&self.0))
        };
        shown.serialize(serializer)
    }
}
