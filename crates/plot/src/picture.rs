use serde::Serialize;

use super::Table;

/// A picture with the name of its file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Picture {
    /// The name of its file, without extension.
    pub name: &'static str,
    /// One `<svg>` element; [`on_white`](crate::on_white) makes a file of it.
    pub svg: String,
}

/// A picture with the data that it shows.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Figure {
    /// The name of its files, without extension.
    pub file: &'static str,
    /// The data.
    #[serde(skip)]
    pub table: Table,
    /// One `<svg>` element.
    #[serde(skip)]
    pub svg: String,
}
