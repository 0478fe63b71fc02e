//! A report as headings, paragraphs, lists and tables, written as plain text or as markdown.

use comfy_table::presets;
use leakgauge_base::Tool;
use leakgauge_plot::clean;
use serde::Serialize;

use crate::report::layout::{Layout, table};
use crate::report::sketch::Sketch;

/// A piece of a report.
#[derive(Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Block {
    Heading(String),
    Paragraph(String),
    List(Vec<String>),
    /// Header, rows; all columns but the first `labels` are numbers.
    Table {
        header: Vec<&'static str>,
        labels: usize,
        rows: Vec<Vec<String>>,
    },
    /// A picture of letters, which only a terminal shows.
    Sketch(Sketch),
}

/// A report.
#[derive(Default)]
pub struct Document {
    blocks: Vec<Block>,
}

impl Document {
    /// The first line: which program, and what the report is about.
    pub fn opening(&mut self, about: &str) {
        let tool = Tool::default();
        self.paragraph(format!("{} {}: {about}", tool.name, tool.version));
    }

    pub fn heading(&mut self, text: impl Into<String>) {
        self.blocks.push(Block::Heading(shown(text.into())));
    }

    pub fn paragraph(&mut self, text: impl Into<String>) {
        self.blocks.push(Block::Paragraph(shown(text.into())));
    }

    pub fn list(&mut self, items: Vec<String>) {
        if !items.is_empty() {
            self.blocks
                .push(Block::List(items.into_iter().map(shown).collect()));
        }
    }

    pub fn table(&mut self, header: Vec<&'static str>, labels: usize, rows: Vec<Vec<String>>) {
        let rows = rows
            .into_iter()
            .map(|row| row.into_iter().map(shown).collect())
            .collect();
        self.blocks.push(Block::Table {
            header,
            labels,
            rows,
        });
    }

    pub fn sketch(&mut self, sketch: Sketch) {
        self.blocks.push(Block::Sketch(sketch));
    }

    pub fn into_blocks(self) -> Vec<Block> {
        self.blocks
    }

    /// The first section up to its first table: the summary of a report that has no verdicts.
    #[must_use]
    pub fn beginning(mut self) -> Document {
        let is_heading = |block: &Block| matches!(block, Block::Heading(_));
        let headings = self
            .blocks
            .iter()
            .enumerate()
            .filter(|(_, block)| is_heading(block));
        let second = headings.map(|(at, _)| at).nth(1);
        let table = self
            .blocks
            .iter()
            .position(|block| matches!(block, Block::Table { .. }));
        let ends = [second, table.map(|at| at + 1)].into_iter().flatten();
        if let Some(end) = ends.min() {
            self.blocks.truncate(end);
        }
        self
    }

    pub fn to_text(&self, layout: &Layout) -> String {
        let mut text = String::new();
        for block in &self.blocks {
            if layout.width.is_none() && matches!(block, Block::Sketch(_)) {
                continue;
            }
            if !text.is_empty() {
                text.push('\n');
            }
            match block {
                Block::Sketch(sketch) => {
                    for line in sketch.lines(layout.line_width()) {
                        text.push_str(&line);
                        text.push('\n');
                    }
                }
                Block::Heading(heading) => {
                    let line = "-".repeat(heading.chars().count());
                    text.push_str(&format!("{}\n{line}\n", layout.heading(heading)));
                }
                Block::Paragraph(paragraph) => wrap(paragraph, "", "", layout, &mut text),
                Block::List(items) => items
                    .iter()
                    .for_each(|item| wrap(item, "- ", "  ", layout, &mut text)),
                Block::Table {
                    header,
                    labels,
                    rows,
                } => text.push_str(&layout.table(header, *labels, rows)),
            }
        }
        text
    }

    pub fn to_markdown(&self) -> String {
        let mut text = String::new();
        for block in &self.blocks {
            if matches!(block, Block::Sketch(_)) {
                continue;
            }
            if !text.is_empty() {
                text.push('\n');
            }
            match block {
                Block::Sketch(_) => {}
                Block::Heading(heading) => text.push_str(&format!("## {}\n", escape(heading))),
                Block::Paragraph(paragraph) => text.push_str(&format!("{}\n", escape(paragraph))),
                Block::List(items) => items
                    .iter()
                    .for_each(|item| text.push_str(&format!("- {}\n", escape(item)))),
                Block::Table {
                    header,
                    labels,
                    rows,
                } => {
                    let rows: Vec<Vec<String>> = rows
                        .iter()
                        .map(|row| row.iter().map(|cell| escape(cell)).collect())
                        .collect();
                    text.push_str(
                        &table(header, *labels, &rows, presets::ASCII_MARKDOWN).to_string(),
                    );
                    text.push('\n');
                }
            }
        }
        text
    }
}

/// Labels come from the log and may hold anything; the terminal must not act on it.
fn shown(text: String) -> String {
    clean(&text)
}

/// Breaks a text at spaces; words longer than a line stay whole.
fn wrap(text: &str, first: &str, rest: &str, layout: &Layout, out: &mut String) {
    let width = layout.line_width();
    let mut line = first.to_owned();
    let mut length = first.chars().count();
    let mut empty = true;
    for word in text.split_whitespace() {
        let letters = word.chars().count();
        if !empty && length + 1 + letters > width {
            out.push_str(&line);
            out.push('\n');
            line = rest.to_owned();
            length = rest.chars().count();
            empty = true;
        }
        if !empty {
            line.push(' ');
            length += 1;
        }
        line.push_str(&layout.word(word));
        length += letters;
        empty = false;
    }
    out.push_str(&line);
    out.push('\n');
}

/// What markdown or the HTML in it would take for markup.
fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '&' => escaped.push_str("&amp;"),
            '|' | '*' | '_' | '`' | '[' | ']' | '\\' => {
                escaped.push('\\');
                escaped.push(letter);
            }
            _ => escaped.push(letter),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_beginning_ends_with_the_first_table_or_section() {
        let written = |tables: [bool; 2]| {
            let mut document = Document::default();
            for (at, has_table) in tables.into_iter().enumerate() {
                document.heading(format!("heading {at}"));
                document.paragraph(format!("before {at}"));
                if has_table {
                    document.table(vec!["a"], 1, vec![vec!["1".to_owned()]]);
                }
                document.paragraph(format!("after {at}"));
            }
            document.beginning().to_markdown()
        };
        let [first, second] = [[true, true], [false, true]].map(written);
        assert!(
            first.contains("before 0") && first.contains("| 1"),
            "{first}"
        );
        assert!(!first.contains("after 0"), "{first}");
        assert!(
            second.contains("after 0") && !second.contains("heading 1"),
            "{second}"
        );
    }

    #[test]
    fn control_characters_in_labels_are_written_out() {
        let mut document = Document::default();
        document.heading("a\u{1b}[31m");
        document.paragraph("b\u{1b}[31m\nc");
        document.list(vec!["d\u{7}".into()]);
        document.table(vec!["x"], 1, vec![vec!["e\u{9b}2J\nf".into()]]);
        for text in [document.to_text(&Layout::default()), document.to_markdown()] {
            assert!(
                !text.contains(|c: char| c.is_control() && c != '\n'),
                "{text:?}"
            );
            assert!(
                text.contains("2J\\nf") || text.contains("2J\\\\nf"),
                "{text}"
            );
        }
    }

    #[test]
    fn text_is_wrapped_and_markup_in_labels_is_escaped() {
        let mut document = Document::default();
        document.paragraph("word ".repeat(50));
        document.table(
            vec!["a", "b"],
            1,
            vec![vec!["<script>|".into(), "0.5".into()]],
        );
        for width in [40, 80, 100] {
            let layout = Layout {
                width: Some(width),
                ..Layout::default()
            };
            let text = document.to_text(&layout);
            assert!(text.lines().all(|line| line.len() <= width), "{text}");
        }
        let markdown = document.to_markdown();
        assert!(markdown.contains("&lt;script&gt;\\|"), "{markdown}");
    }
}
