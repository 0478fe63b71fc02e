//! A report in every format, written once.

use std::io::{self, Write};

use leakgauge::base::error::{Error, Result};
use leakgauge::plot::Figure;
use leakgauge::report::Format;
use pyo3::prelude::*;

use crate::errors::with_flags;

/// A report.
#[pyclass(frozen, eq, get_all, module = "leakgauge._native")]
#[derive(PartialEq)]
pub struct Written {
    /// As the command line prints it.
    json: String,
    /// For a terminal.
    text: String,
    /// For a ticket.
    markdown: String,
    /// Pictures: name, one `<svg>` element.
    pictures: Vec<(String, String)>,
}

#[pymethods]
impl Written {
    /// A report that was written before: what copies and pickles are made of.
    #[new]
    fn new(json: String, text: String, markdown: String, pictures: Vec<(String, String)>) -> Self {
        Written {
            json,
            text,
            markdown,
            pictures,
        }
    }

    fn __getnewargs__(&self) -> (&str, &str, &str, &[(String, String)]) {
        (&self.json, &self.text, &self.markdown, &self.pictures)
    }
}

impl Written {
    /// Writes a report.
    ///
    /// # Errors
    /// None that its content could cause.
    pub fn of(write: impl Fn(Format, &mut dyn Write) -> io::Result<()>) -> Result<Self> {
        let written = |format: Format| {
            let mut bytes = Vec::new();
            write(format, &mut bytes).map_err(|error| Error::io("the report", error))?;
            Ok(String::from_utf8_lossy(&bytes).into_owned())
        };
        Ok(Written {
            json: with_flags(|| written(Format::Json))?,
            text: written(Format::Text)?,
            markdown: written(Format::Markdown)?,
            pictures: Vec::new(),
        })
    }

    /// The same with pictures.
    #[must_use]
    pub fn with(mut self, pictures: Vec<Figure>) -> Self {
        let named = pictures
            .into_iter()
            .map(|figure| (figure.file.to_owned(), figure.svg));
        self.pictures = named.collect();
        self
    }
}
