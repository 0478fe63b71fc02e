//! The worst pair as a picture of a few lines, for a terminal.

use serde::Serialize;

use crate::audit::{Findings, Shape};
use crate::report::numbers::nearest;
use crate::report::words::column_title;
use leakgauge_base::error::shorten;
use leakgauge_plot::clean;

/// What a picture of letters shows: shares of the rows of two secrets.
#[derive(Serialize)]
pub struct Sketch {
    caption: String,
    names: [String; 2],
    shape: Drawn,
}

#[derive(Serialize)]
enum Drawn {
    /// Heights of columns for each secret, and what stands below their ends.
    Columns {
        heights: [Vec<f64>; 2],
        ends: [String; 2],
    },
    /// A label and the shares of both secrets, a line each.
    Bars(Vec<(String, [f64; 2])>),
}

/// Letters of a column by its height, from the lowest.
const BLOCKS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
/// Lines of a histogram.
const LINES: usize = 2;
/// Bars at most: those in which the secrets differ most.
const MAX_BARS: usize = 6;
/// Columns of letters at most.
const MAX_COLUMNS: usize = 60;
/// Letters of a name at most.
const MAX_NAME: usize = 14;

/// The column in which the worst pair differs most; `None` if there is none.
pub fn sketch(audit: &Findings) -> Option<Sketch> {
    let found = audit.worst_pair.distributions.as_ref()?;
    let [a, b] = audit.worst_pair.secrets.labels();
    let column = shorten(&column_title(&found.column));
    let (caption, shape) = match &found.shape {
        Shape::Numbers {
            edges,
            shares,
            outside,
            ..
        } => (
            format!(
                "{column} of secret {} and of secret {} (share of rows):",
                shorten(a),
                shorten(b)
            ),
            columns(edges, shares, *outside)?,
        ),
        Shape::Labels { labels, shares } => (
            format!(
                "{column} of secret {} (left) and of secret {} (right), share of rows:",
                shorten(a),
                shorten(b)
            ),
            bars(labels, shares),
        ),
    };
    Some(Sketch {
        caption: clean(&caption),
        names: [a, b].map(name_of),
        shape,
    })
}

fn columns(edges: &[f64], shares: &[Vec<f64>; 2], outside: [[f64; 2]; 2]) -> Option<Drawn> {
    let [low, high] = [edges.first()?, edges.last()?].map(|edge| nearest(*edge));
    // What lies outside stands beside the first and the last column.
    let has = |end: usize| outside.iter().any(|shares| shares[end] > 0.0);
    let heights = [0, 1].map(|side| {
        let before = has(0).then(|| [outside[side][0], 0.0]);
        let after = has(1).then(|| [0.0, outside[side][1]]);
        let before = before.into_iter().flatten();
        before
            .chain(shares[side].iter().copied())
            .chain(after.into_iter().flatten())
            .collect()
    });
    let sign = |end: usize, sign: &str| {
        if has(end) {
            sign.to_owned()
        } else {
            String::new()
        }
    };
    Some(Drawn::Columns {
        heights,
        ends: [
            format!("{}{low}", sign(0, "beyond | ")),
            format!("{high}{}", sign(1, " | beyond")),
        ],
    })
}

fn bars(labels: &[String], shares: &[Vec<f64>; 2]) -> Drawn {
    let mut order: Vec<usize> = (0..labels.len()).collect();
    let difference = |at: usize| (shares[0][at] - shares[1][at]).abs();
    order.sort_by(|&x, &y| difference(y).total_cmp(&difference(x)));
    order.truncate(MAX_BARS);
    order.sort_unstable();
    let line = |at: usize| {
        let label = match labels[at].as_str() {
            "" => "all others",
            label => label,
        };
        (name_of(label), [shares[0][at], shares[1][at]])
    };
    Drawn::Bars(order.into_iter().map(line).collect())
}

fn name_of(label: &str) -> String {
    let label = clean(label);
    if label.chars().count() <= MAX_NAME {
        return label;
    }
    label.chars().take(MAX_NAME - 1).chain(['…']).collect()
}

impl Sketch {
    /// The picture in lines of at most so many letters.
    pub fn lines(&self, width: usize) -> Vec<String> {
        let mut lines = vec![self.caption.clone()];
        match &self.shape {
            Drawn::Columns { heights, ends } => {
                let margin = self.names.iter().map(|name| name.chars().count());
                let margin = margin.max().unwrap_or(0) + 2;
                let room = width.saturating_sub(margin).clamp(1, MAX_COLUMNS);
                let merged = heights.each_ref().map(|heights| fitted(heights, room));
                let most = merged.iter().flatten().copied().fold(0.0, f64::max);
                for (name, heights) in self.names.iter().zip(&merged) {
                    for line in 0..LINES {
                        let name = if line + 1 == LINES { name } else { "" };
                        let letters = heights.iter().map(|height| letter(*height, most, line));
                        let letters: String = letters.collect();
                        lines.push(format!("{name:<margin$}{letters}"));
                    }
                }
                let columns = merged[0].len();
                let [low, high] = ends;
                let gap = columns.saturating_sub(low.chars().count() + high.chars().count());
                let gap = " ".repeat(gap.max(1));
                lines.push(format!("{:margin$}{low}{gap}{high}", ""));
            }
            Drawn::Bars(bars) => lines.extend(bar_lines(bars, width)),
        }
        let lines = lines.into_iter().enumerate();
        let fits = |(at, line): (usize, String)| match at {
            // The names of the secrets are in the lines below too.
            0 => line.chars().take(width).collect(),
            _ => line.trim_end().to_owned(),
        };
        lines.map(fits).collect()
    }
}

/// As many columns as fit: neighbors are added up, or each is drawn several times.
fn fitted(heights: &[f64], room: usize) -> Vec<f64> {
    if heights.len() > room {
        let each = heights.len().div_ceil(room);
        return heights
            .chunks(each)
            .map(|chunk| chunk.iter().sum())
            .collect();
    }
    let each = room / heights.len().max(1);
    let repeated = heights.iter().flat_map(|height| vec![*height; each]);
    repeated.collect()
}

/// The letter of a column in a line, the first line on top. What is above 0 is never blank in the lowest line.
fn letter(height: f64, most: f64, line: usize) -> char {
    let eighths = (height / most * (LINES * BLOCKS.len()) as f64).ceil();
    let below = (LINES - 1 - line) * BLOCKS.len();
    let filled = if eighths.is_finite() {
        (eighths as usize).saturating_sub(below)
    } else {
        0
    };
    match filled {
        0 => ' ',
        filled => BLOCKS[(filled - 1).min(BLOCKS.len() - 1)],
    }
}

/// A line for each label, with a bar for each secret.
fn bar_lines(bars: &[(String, [f64; 2])], width: usize) -> Vec<String> {
    let margin = bars.iter().map(|bar| bar.0.chars().count()).max();
    let margin = margin.unwrap_or(0) + 2;
    // Each bar has a number of four digits and spaces beside it.
    let room = (width.saturating_sub(margin) / 2).clamp(10, MAX_COLUMNS / 2) - 8;
    let most = bars.iter().flat_map(|bar| bar.1).fold(0.0, f64::max);
    let bar = |share: f64| {
        let letters = if most > 0.0 {
            (share / most * room as f64).ceil() as usize
        } else {
            0
        };
        format!("{share:.2} {:room$}", "█".repeat(letters))
    };
    let line = |(label, shares): &(String, [f64; 2])| {
        format!("{label:<margin$}{}  {}", bar(shares[0]), bar(shares[1]))
    };
    bars.iter().map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(shape: Drawn) -> Sketch {
        Sketch {
            caption: "time".to_owned(),
            names: ["a".to_owned(), "bcd".to_owned()],
            shape,
        }
    }

    #[test]
    fn a_histogram_has_at_most_eight_lines_of_the_width_of_the_terminal() {
        let shares =
            [0.1, 0.2].map(|step| (0..60).map(|k| (f64::from(k) * step).sin().abs()).collect());
        let edges: Vec<f64> = (0..=60).map(f64::from).collect();
        for outside in [[[0.0; 2]; 2], [[0.01, 0.0], [0.0, 0.02]]] {
            let shape = columns(&edges, &shares, outside).unwrap();
            let sketch = of(shape);
            for width in [40, 80, 200] {
                let lines = sketch.lines(width);
                assert!(lines.len() <= 8, "{lines:#?}");
                assert!(
                    lines.iter().all(|line| line.chars().count() <= width),
                    "{width}: {lines:#?}"
                );
            }
        }
    }

    #[test]
    fn the_highest_column_fills_both_lines_and_the_lowest_is_not_blank() {
        let heights = [vec![1.0, 1e-6, 0.0], vec![0.5, 0.25, 0.0]];
        let ends = ["0".to_owned(), "3".to_owned()];
        let lines = of(Drawn::Columns { heights, ends }).lines(8);
        assert_eq!(
            lines,
            ["time", "     █", "a    █▁", "", "bcd  █▄", "     0 3"]
        );
    }

    #[test]
    fn bars_show_the_labels_in_which_the_secrets_differ_most() {
        let labels: Vec<String> = (0..24).map(|at| format!("label {at}")).collect();
        let shares = [
            vec![1.0 / 24.0; 24],
            (0..24).map(|at| f64::from(at) / 276.0).collect(),
        ];
        let lines = of(bars(&labels, &shares)).lines(40);
        assert_eq!(lines.len(), 1 + MAX_BARS);
        assert!(lines[1].starts_with("label 0 "), "{lines:#?}");
        assert!(lines[6].starts_with("label 23"), "{lines:#?}");
        assert!(
            lines.iter().all(|line| line.chars().count() <= 40),
            "{lines:#?}"
        );
    }
}
