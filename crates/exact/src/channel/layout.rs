use serde::Serialize;

/// How a matrix was laid out.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct MatrixLayout {
    /// The file.
    pub file: String,
    /// Whether row 1 was read as names of columns.
    pub header: bool,
    /// Whether column 1 was read as labels of rows.
    pub labels: bool,
    /// Rows whose sum was not 1 within the tolerance before they were normalized.
    pub normalized_rows: u64,
    /// Whether there is no file: a mechanism was written out.
    pub written_out: bool,
}

impl MatrixLayout {
    /// Of a matrix that a mechanism wrote out.
    pub fn of_mechanism(text: &str) -> Self {
        MatrixLayout {
            file: text.to_owned(),
            header: true,
            labels: true,
            normalized_rows: 0,
            written_out: true,
        }
    }
}
