//! Rows that the query engine counted or sampled.

use crate::format::Format;
use crate::ingest::{Ingest, Part};
use crate::sample::Sample;

/// What a sample that the engine drew was drawn from.
pub struct EngineSample {
    /// The most rows of a secret.
    pub cap: u64,
    /// The rows of each secret.
    pub rows: Vec<(String, u64)>,
}

impl Ingest<'_> {
    /// What the files looked like whose rows the engine counted.
    pub fn read_as(&mut self, header: bool, (format, delimiter): (Format, Option<char>)) {
        self.facts.header = header;
        self.facts.format = format;
        self.facts.delimiter = delimiter;
    }

    /// Adds a note for the report.
    pub fn note(&mut self, note: String) {
        self.facts.notes.push(note);
    }

    /// Secrets that the engine left out, and their rows.
    pub fn leave_out(&mut self, secrets: Vec<(String, u64)>) {
        for (label, rows) in secrets {
            self.left_out.intern(&label);
            self.facts.rows += rows;
        }
    }

    /// The rows of a part are a sample that the engine drew.
    pub fn drawn(&mut self, part: Part, drawn: Option<EngineSample>) {
        let sample = drawn.map(|drawn| {
            let mut sample = Sample {
                cap: drawn.cap,
                rows: vec![0; self.secrets.texts().len()],
                cells: Vec::new(),
            };
            for (label, rows) in drawn.rows {
                let at = self.secrets.intern(&label) as usize;
                sample.rows.resize(sample.rows.len().max(at + 1), 0);
                sample.rows[at] += rows;
            }
            sample
        });
        match part {
            Part::FitOn => self.fit_drawn = sample,
            Part::Log => {
                if let Some(sample) = &sample {
                    self.facts.rows = sample.rows.iter().sum();
                }
                self.drawn = sample;
            }
        }
    }
}
