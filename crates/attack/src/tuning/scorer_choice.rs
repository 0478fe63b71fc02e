//! The names by which users ask for attacks.

use std::fmt;

/// Defines [`ScorerChoice`] from one list: variant, name, help.
macro_rules! choices {
    ($($(#[$attribute:meta])* $variant:ident $name:literal $about:literal,)+) => {
        /// Which built-in attack to use.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
        #[non_exhaustive]
        pub enum ScorerChoice {
            $(#[doc = $about] $(#[$attribute])* $variant,)+
        }

        impl ScorerChoice {
            /// All of them, in the order of the help.
            pub const ALL: &[ScorerChoice] = &[$(ScorerChoice::$variant),+];

            /// Its name in reports and on the command line.
            pub fn name(self) -> &'static str {
                match self {
                    $(ScorerChoice::$variant => $name,)+
                }
            }

            /// One line of help, without a full stop.
            pub fn about(self) -> &'static str {
                match self {
                    $(ScorerChoice::$variant => $about,)+
                }
            }
        }
    };
}

choices! {
    #[default]
    Auto "auto" "Whichever attack does best on the tuning rows",
    Frequentist "frequentist" "Counts of observations",
    KNearest "knn" "The k-th neighbor of each secret, k chosen on the tuning rows",
    Nearest "nearest" "The nearest neighbor of each secret",
    Linear "linear" "Logistic regression on numbers, on values that recur among them, and on labels",
    Gaussian "gaussian" "Normal densities of the numeric columns: naive Bayes, LDA, QDA",
    Template "template" "Normal densities of the few numeric columns that differ most, of 20 columns and more",
    Forest "forest" "A random forest",
    Additive "additive" "A sum of one term a column: naive Bayes in bins, also of differences of columns",
    Bits "bits" "The lowest bits of numbers that are printed in full",
    Threshold "threshold" "The single numeric column that tells the secrets apart best",
    Given "given" "Your own attack, whose scores are columns of the log",
}

impl fmt::Display for ScorerChoice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
