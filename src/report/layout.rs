//! How a text report is laid out: the width of its lines and tables, and emphasis on a terminal.

use comfy_table::{
    CellAlignment, ColumnConstraint, ContentArrangement, Table, TableStyle, presets,
};

use crate::report::format::Format;

/// Text columns of a paragraph, unless the terminal has fewer.
pub const WIDTH: usize = 100;
/// Pairs in the JSON report and on the page, unless another number is asked for.
pub const MOST_PAIRS: usize = 1000;
/// A terminal that says it is narrower is not believed: nothing could be laid out in it.
const MIN_WIDTH: usize = 40;
/// A column of labels is not wrapped to less than this.
const MIN_LABEL: usize = 16;
/// What a table puts between columns.
const GAP: usize = 2;

/// How a report is written to standard output.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Layout {
    /// The format.
    pub format: Format,
    /// The columns of the terminal. Without it, a table is as wide as its cells.
    pub width: Option<usize>,
    /// Whether headings and verdicts of a text are emphasized with ANSI escape sequences.
    pub color: bool,
    /// Whether only the verdicts are written, one a line; of an audit without claims, the summary.
    pub brief: bool,
    /// The most pairs in a JSON report; of more, those with the largest lower limits.
    pub pairs: usize,
}

impl Default for Layout {
    fn default() -> Self {
        Layout {
            format: Format::default(),
            width: None,
            color: false,
            brief: false,
            pairs: MOST_PAIRS,
        }
    }
}

impl From<Format> for Layout {
    fn from(format: Format) -> Self {
        Layout {
            format,
            ..Layout::default()
        }
    }
}

impl Layout {
    /// The columns of a paragraph.
    pub(super) fn line_width(&self) -> usize {
        self.width
            .map_or(WIDTH, |width| width.clamp(MIN_WIDTH, WIDTH))
    }

    /// A heading.
    pub(super) fn heading(&self, text: &str) -> String {
        self.emphasized(text, "1")
    }

    /// A word of a sentence, colored if it is a verdict.
    pub(super) fn word(&self, word: &str) -> String {
        match word {
            "HOLDS:" => self.emphasized(word, "1;32"),
            "VIOLATED:" => self.emphasized(word, "1;31"),
            "INCONCLUSIVE:" => self.emphasized(word, "1;33"),
            _ => word.to_owned(),
        }
    }

    /// A line of which the verdict that it begins with is colored.
    pub(super) fn begun(&self, line: &str) -> String {
        const WORDS: [(&str, &str); 7] = [
            ("HOLDS", "1;32"),
            ("VIOLATED", "1;31"),
            ("INCONCLUSIVE", "1;33"),
            ("NO LEAK SHOWN", "1;33"),
            ("LEAK", "1;31"),
            ("STRONG ENOUGH", "1;32"),
            ("TOO WEAK", "1;31"),
        ];
        let found = WORDS.iter().find_map(|(word, code)| {
            let rest = line.strip_prefix(word)?;
            Some(self.emphasized(word, code) + rest)
        });
        found.unwrap_or_else(|| line.to_owned())
    }

    fn emphasized(&self, text: &str, code: &str) -> String {
        if self.color {
            format!("\u{1b}[{code}m{text}\u{1b}[0m")
        } else {
            text.to_owned()
        }
    }

    /// A table as lines of text. On a terminal that is too narrow, labels are wrapped; where that is not enough, the
    /// table is continued below, with its first columns repeated.
    pub(super) fn table(&self, header: &[&str], labels: usize, rows: &[Vec<String>]) -> String {
        let Some(width) = self.width.map(|width| width.max(MIN_WIDTH)) else {
            return aligned(&table(header, labels, rows, presets::NOTHING));
        };
        let widths = widths(header, rows);
        if room(&widths) <= width {
            return aligned(&table(header, labels, rows, presets::NOTHING));
        }
        let first = labels.clamp(1, header.len());
        let least: Vec<usize> = widths[..first]
            .iter()
            .map(|width| MIN_LABEL.min(*width))
            .collect();
        let kept = room(&widths[..first]).min((width / 2).max(room(&least)));
        let parts = parts(&widths[first..], width.saturating_sub(kept));
        let parts = parts.into_iter().map(|part| {
            let columns: Vec<usize> = (0..first)
                .chain(part.map(|column| column + first))
                .collect();
            let header: Vec<&str> = columns.iter().map(|&column| header[column]).collect();
            let rows: Vec<Vec<String>> = rows
                .iter()
                .map(|row| {
                    columns
                        .iter()
                        .filter_map(|&column| row.get(column).cloned())
                        .collect()
                })
                .collect();
            aligned(&wrapped(
                table(&header, labels, &rows, presets::NOTHING),
                first,
                width,
            ))
        });
        parts.collect::<Vec<_>>().join("\n")
    }
}

/// A table in which all columns but the first `labels` are numbers.
pub(super) fn table(
    header: &[&str],
    labels: usize,
    rows: &[Vec<String>],
    style: TableStyle,
) -> Table {
    let mut table = Table::new();
    table
        .load_style(style)
        .set_content_arrangement(ContentArrangement::Disabled)
        .set_header(header.iter().copied());
    for row in rows {
        table.add_row(row);
    }
    for column in table.column_iter_mut().skip(labels) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    table
}

/// Only the first columns may be wrapped: a number in two lines is two numbers.
fn wrapped(mut table: Table, first: usize, width: usize) -> Table {
    table
        .set_content_arrangement(ContentArrangement::Dynamic)
        .set_width(u16::try_from(width).unwrap_or(u16::MAX));
    for column in table.column_iter_mut().skip(first) {
        column.set_constraint(ColumnConstraint::ContentWidth);
    }
    table
}

fn aligned(table: &Table) -> String {
    let lines = table.to_string();
    lines
        .lines()
        .map(|line| format!("{}\n", line.trim_end()))
        .collect()
}

/// The letters of the widest cell of each column.
fn widths(header: &[&str], rows: &[Vec<String>]) -> Vec<usize> {
    let letters = |text: &str| text.chars().count();
    let mut widths: Vec<usize> = header.iter().map(|name| letters(name)).collect();
    for row in rows {
        for (width, cell) in widths.iter_mut().zip(row) {
            *width = letters(cell).max(*width);
        }
    }
    widths
}

fn room(widths: &[usize]) -> usize {
    widths.iter().map(|width| width + GAP).sum()
}

/// Columns that stand side by side in so much room, in their order, at least one in each part.
fn parts(widths: &[usize], room: usize) -> Vec<std::ops::Range<usize>> {
    let mut parts = Vec::new();
    let (mut start, mut used) = (0, 0);
    for (column, width) in widths.iter().enumerate() {
        if column > start && used + width + GAP > room {
            parts.push(start..column);
            (start, used) = (column, 0);
        }
        used += width + GAP;
    }
    parts.push(start..widths.len());
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows() -> Vec<Vec<String>> {
        let numbers = (0..12).map(|number| format!("{:.4}", 0.01 * f64::from(number)));
        vec![
            ["a label of many words that goes on and on".to_owned()]
                .into_iter()
                .chain(numbers)
                .collect(),
        ]
    }

    fn header() -> Vec<&'static str> {
        ["label"]
            .into_iter()
            .chain(["total variation"; 12])
            .collect()
    }

    #[test]
    fn a_table_has_at_most_the_width_of_the_terminal_and_loses_no_cell() {
        for width in [40, 60, 80, 120, 200] {
            let layout = Layout {
                width: Some(width),
                ..Layout::default()
            };
            let text = layout.table(&header(), 1, &rows());
            let widest = text.lines().map(|line| line.chars().count()).max();
            assert!(widest <= Some(width), "{width}:\n{text}");
            for number in &rows()[0][1..] {
                assert!(
                    text.contains(number.as_str()),
                    "{width}: {number} is missing:\n{text}"
                );
            }
        }
    }

    #[test]
    fn without_a_terminal_a_table_stands_in_one_piece() {
        let text = Layout::default().table(&header(), 1, &rows());
        assert_eq!(text.lines().count(), 2, "{text}");
    }

    #[test]
    fn only_verdicts_are_colored_and_only_if_asked() {
        let colored = Layout {
            color: true,
            ..Layout::default()
        };
        assert_eq!(colored.word("VIOLATED:"), "\u{1b}[1;31mVIOLATED:\u{1b}[0m");
        assert_eq!(colored.word("violated"), "violated");
        assert_eq!(Layout::default().word("VIOLATED:"), "VIOLATED:");
    }
}
