use serde::Serialize;

/// The layout of a matrix as it was read.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct MatrixLayout {
    /// The file, or the mechanism whose matrix it is.
    pub file: String,
    /// Whether row 1 was read as names of columns.
    pub header: bool,
    /// Whether column 1 was read as labels of rows.
    pub labels: bool,
    /// The number of rows whose sum differed from 1 by more than the tolerance and that were normalized.
    pub normalized_rows: u64,
    /// Whether the matrix was computed from a mechanism instead of read from a file.
    pub written_out: bool,
    /// Of a mechanism: the probability of the observations far out that count as one on either side, under the secret
    /// that makes them most likely; 0 if there are none.
    pub merged_probability: f64,
    /// Which matrices the figures are of.
    pub form: MatrixForm,
}

/// Which matrices the figures of a channel are of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
#[serde(rename_all = "kebab-case")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum MatrixForm {
    /// Its own.
    #[default]
    Whole,
    /// Of noise on the line: two that leak at most and at least as much.
    Between,
    /// Of observations that are counted together: one with the same figures under the uniform prior.
    Counted,
}

impl MatrixLayout {
    /// The layout of a matrix computed from a mechanism.
    pub fn of_mechanism(text: &str, merged_probability: f64) -> Self {
        MatrixLayout {
            file: text.to_owned(),
            header: true,
            labels: true,
            normalized_rows: 0,
            written_out: true,
            merged_probability,
            form: MatrixForm::Whole,
        }
    }
}
