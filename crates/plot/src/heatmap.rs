//! Heat maps: a number for each pair of labels as color.

use super::axis::{Axis, number};
use super::canvas::{Anchor, Canvas, Caption, FONT, Role, STROKE, THIN, WIDTH, draw_over};
use super::frame::{GAP, LINE};
use super::ramp::{BAR, Cells, Ramp};
use super::text::{ems, escape, fit};

/// A table of numbers as colors.
#[derive(Debug, Clone, PartialEq)]
pub struct Heatmap {
    /// Title and description.
    pub caption: Caption,
    /// The row labels, from top to bottom.
    pub rows: Vec<String>,
    /// The column labels, from left to right.
    pub columns: Vec<String>,
    /// The values, row by row; `None` and missing values at the end are gray.
    pub values: Vec<Option<f64>>,
    /// The color axis: its label, and the values of the first and the last color.
    pub scale: Axis,
    /// The title of the rows.
    pub row_label: String,
    /// The title of the columns.
    pub column_label: String,
    /// Cells (row, column) with a frame around them.
    pub marked: Vec<(usize, usize)>,
    /// Whether low values are bright: where low is what to look at.
    pub low_is_bright: bool,
    /// Whether rows and columns are the same labels: the diagonal then stays empty, with a line across, and gray are
    /// only the values that are not known.
    pub same_labels: bool,
}

/// The largest width or height of labels, in units.
const MAX_LENGTH: f64 = 330.0;

/// The layout, in units.
struct Layout {
    left: i32,
    right: i32,
    top: i32,
    bottom: i32,
    rows: usize,
    columns: usize,
    row_font: f64,
    column_font: f64,
    /// Whether column labels read from bottom to top, and their height.
    upright: bool,
    column_height: i32,
}

/// Draws a table of numbers as colors with a color bar. Numbers are written into cells that are large enough; if labels
/// do not fit, only every n-th is shown.
pub fn heatmap(data: &Heatmap) -> String {
    let layout = Layout::new(data);
    let ramp =
        Ramp::new(&data.scale, data.values.iter().flatten().copied()).reversed(data.low_is_bright);
    let mut cells = Cells::default();
    for row in 0..layout.rows {
        for column in 0..layout.columns {
            let level = value(data, row, column).and_then(|value| ramp.level(value));
            let [from, to] = layout.cell(row, column);
            if !(data.same_labels && row == column) {
                cells.add(level, from, to);
            }
        }
    }
    let height = layout.bottom + layout.column_height + LINE + 3 * GAP;
    let drawn = draw_over(&data.caption, height, &cells.to_svg(), |canvas| {
        draw_values(canvas, data, &layout, &ramp);
        if data.same_labels {
            draw_diagonal(canvas, &layout);
        }
        draw_labels(canvas, data, &layout);
        for &(row, column) in &data.marked {
            if row < layout.rows && column < layout.columns {
                canvas.frame(layout.cell(row, column), Role::Series(1), STROKE + 2);
            }
        }
        ramp.draw_bar(canvas, (layout.top, layout.bottom), &data.scale.label);
    });
    name_cells(drawn, data, &layout)
}

/// Lays an invisible area over each cell that names it where a pointer rests on it, unless there are so many that they
/// would be most of a page.
fn name_cells(mut drawn: String, data: &Heatmap, layout: &Layout) -> String {
    const MOST: usize = 1000;
    const END: &str = "</svg>";
    let Some(end) = drawn
        .rfind(END)
        .filter(|_| layout.rows * layout.columns <= MOST)
    else {
        return drawn;
    };
    let mut names = "<g fill=\"none\" pointer-events=\"all\">\n".to_owned();
    for row in 0..layout.rows {
        for column in 0..layout.columns {
            if data.same_labels && row == column {
                continue;
            }
            let [(x0, y0), (x1, y1)] = layout.cell(row, column);
            let value = value(data, row, column);
            let value = value.map_or("n/a".to_owned(), |value| format!("{value:.3}"));
            let labels = [&data.rows[row], &data.columns[column]].map(|label| escape(label));
            names += &format!(
                "<rect x=\"{x0}\" y=\"{y0}\" width=\"{}\" height=\"{}\"><title>{} | {}: {value}</title></rect>\n",
                x1 - x0,
                y1 - y0,
                labels[0],
                labels[1],
            );
        }
    }
    names += "</g>\n";
    drawn.insert_str(end, &names);
    drawn
}

/// A line through the cells of a label with itself.
fn draw_diagonal(canvas: &Canvas<'_>, layout: &Layout) {
    if layout.rows > 0 && layout.rows == layout.columns {
        let [from, _] = layout.cell(0, 0);
        let [_, to] = layout.cell(layout.rows - 1, layout.columns - 1);
        canvas.line(vec![from, to], Role::Ink, THIN, 0.5);
    }
}

fn value(data: &Heatmap, row: usize, column: usize) -> Option<f64> {
    let at = row * data.columns.len() + column;
    data.values
        .get(at)
        .copied()
        .flatten()
        .filter(|value| value.is_finite())
}

impl Layout {
    fn new(data: &Heatmap) -> Layout {
        let (rows, columns) = (data.rows.len(), data.columns.len());
        let widest = |labels: &[String]| labels.iter().map(|label| ems(label)).fold(0.0, f64::max);
        let guess = |count: usize| if count > 20 { 28.0 } else { FONT };
        let (row_font, column_font) = (guess(rows), guess(columns));
        let labels = (widest(&data.rows) * row_font).min(MAX_LENGTH) as i32;
        let left = LINE + 2 * GAP + labels + GAP;
        let right = WIDTH - BAR;
        let width = f64::from(right - left);
        let share = rows as f64 / columns.max(1) as f64;
        let top = LINE / 2;
        let bottom = top + (width * share.clamp(0.25, 1.3)) as i32;
        let tall = widest(&data.columns) * column_font;
        let upright = tall + f64::from(GAP) > width / columns.max(1) as f64;
        let column_height = if upright {
            tall.min(MAX_LENGTH) as i32 + GAP
        } else {
            LINE
        };
        Layout {
            left,
            right,
            top,
            bottom,
            rows,
            columns,
            row_font,
            column_font,
            upright,
            column_height,
        }
    }

    fn cell(&self, row: usize, column: usize) -> [(i32, i32); 2] {
        let along = |from: i32, to: i32, at: usize, of: usize| {
            from + (f64::from(to - from) * at as f64 / of as f64).round() as i32
        };
        let x = |at| along(self.left, self.right, at, self.columns);
        let y = |at| along(self.top, self.bottom, at, self.rows);
        [(x(column), y(row)), (x(column + 1), y(row + 1))]
    }
}

fn draw_values(canvas: &Canvas<'_>, data: &Heatmap, layout: &Layout, ramp: &Ramp) {
    let width = f64::from(layout.right - layout.left) / layout.columns.max(1) as f64;
    let height = f64::from(layout.bottom - layout.top) / layout.rows.max(1) as f64;
    let size = (width / 3.0).min(FONT);
    if size < 24.0 || height < 1.5 * size {
        return;
    }
    for row in 0..layout.rows {
        for column in 0..layout.columns {
            let Some(value) = value(data, row, column) else {
                continue;
            };
            let text = number(value, 0.01);
            if ems(&text) * size > width {
                continue;
            }
            let dark = ramp.level(value).is_none_or(Ramp::is_light);
            let role = if dark {
                Role::Fixed(0, 0, 0)
            } else {
                Role::Fixed(255, 255, 255)
            };
            let [(x0, y0), (x1, y1)] = layout.cell(row, column);
            canvas.text_sized(
                &text,
                ((x0 + x1) / 2, (y0 + y1) / 2),
                Anchor::Center,
                size,
                role,
            );
        }
    }
}

fn draw_labels(canvas: &Canvas<'_>, data: &Heatmap, layout: &Layout) {
    let most = |font: f64| MAX_LENGTH / font;
    let every = |cell: f64, font: f64| ((font * 1.15 / cell).ceil() as usize).max(1);
    let tall = f64::from(layout.bottom - layout.top) / layout.rows.max(1) as f64;
    for row in (0..layout.rows).step_by(every(tall, layout.row_font)) {
        let [(_, y0), (_, y1)] = layout.cell(row, 0);
        let label = fit(&data.rows[row], most(layout.row_font));
        let at = (layout.left - GAP, (y0 + y1) / 2);
        canvas.text_sized(&label, at, Anchor::Right, layout.row_font, Role::Ink);
    }
    let wide = f64::from(layout.right - layout.left) / layout.columns.max(1) as f64;
    let step = if layout.upright {
        every(wide, layout.column_font)
    } else {
        1
    };
    for column in (0..layout.columns).step_by(step) {
        let [(x0, _), (x1, _)] = layout.cell(0, column);
        let (x, y) = ((x0 + x1) / 2, layout.bottom + GAP);
        let label = fit(&data.columns[column], most(layout.column_font));
        if layout.upright {
            canvas.text_up(&label, (x, y), Anchor::Right, layout.column_font);
        } else {
            canvas.text_sized(&label, (x, y), Anchor::Below, layout.column_font, Role::Ink);
        }
    }
    let middle = (layout.left + layout.right) / 2;
    let name = fit(
        &data.column_label,
        f64::from(layout.right - layout.left) / FONT,
    );
    canvas.text(
        &name,
        (middle, layout.bottom + layout.column_height + GAP),
        Anchor::Below,
    );
    let name = fit(
        &data.row_label,
        f64::from(layout.bottom - layout.top) / FONT,
    );
    canvas.text_up(
        &name,
        (LINE / 2, (layout.top + layout.bottom) / 2),
        Anchor::Center,
        FONT,
    );
}

#[cfg(test)]
mod tests {
    use super::super::testing::{check, hostile};
    use super::*;

    fn square(labels: Vec<String>) -> Heatmap {
        let n = labels.len();
        let values = (0..n * n)
            .map(|at| (at / n != at % n).then(|| (at as f64 * 0.37).fract()))
            .collect();
        Heatmap {
            caption: Caption::new("pairs", hostile()),
            rows: labels.clone(),
            columns: labels,
            values,
            scale: Axis::linear("Bayes security").from_to(0.0, 1.0),
            row_label: "secret".to_owned(),
            column_label: "secret".to_owned(),
            marked: vec![(0, 1), (999, 999)],
            low_is_bright: false,
            same_labels: false,
        }
    }

    #[test]
    fn from_none_to_a_hundred_secrets() {
        for n in [0, 1, 2, 10, 40, 100] {
            check(&heatmap(&square((0..n).map(|k| k.to_string()).collect())));
            check(&heatmap(&square(vec![hostile(); n])));
        }
    }

    #[test]
    fn a_hundred_secrets_take_less_than_a_third_of_a_megabyte() {
        let svg = heatmap(&square(
            (0..100).map(|k| format!("secret number {k}")).collect(),
        ));
        assert!(svg.len() < 330_000, "{}", svg.len());
    }

    #[test]
    fn missing_numbers_are_gray() {
        let mut data = square(vec!["a".to_owned(), "b".to_owned()]);
        data.values = vec![None, Some(f64::NAN), Some(f64::INFINITY)];
        let svg = heatmap(&data);
        check(&svg);
        let gray = svg.lines().find(|line| line.contains("crispEdges"));
        assert_eq!(gray.map(|line| line.matches('M').count()), Some(4), "{svg}");
    }

    #[test]
    fn the_diagonal_is_not_drawn_as_unknown() {
        let mut data = square(vec!["a".to_owned(), "b".to_owned()]);
        data.values = vec![None, None, Some(0.5), None];
        data.same_labels = true;
        let svg = heatmap(&data);
        check(&svg);
        let gray = svg
            .lines()
            .find(|line| line.contains("crispEdges") && line.contains("currentColor"));
        assert_eq!(gray.map(|line| line.matches('M').count()), Some(1), "{svg}");
    }

    #[test]
    fn what_to_look_at_is_bright() {
        let fill = |value: f64, low_is_bright: bool| {
            let mut data = square(vec!["a".to_owned(), "b".to_owned()]);
            data.values = vec![Some(value); 4];
            data.low_is_bright = low_is_bright;
            let svg = heatmap(&data);
            let cells = svg.lines().find(|line| line.contains("crispEdges"));
            cells.and_then(|line| Some(line.split('"').nth(3)?.to_owned()))
        };
        assert_eq!(fill(0.0, true), fill(1.0, false));
        assert_ne!(fill(0.0, true), fill(0.0, false));
    }
}
