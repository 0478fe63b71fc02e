//! Heat maps: a number for each pair of labels as color.

use super::axis::{Axis, number};
use super::canvas::{Anchor, Canvas, Caption, FONT, Role, STROKE, THIN, WIDTH, draw_over};
use super::frame::{GAP, LINE};
use super::hover::{Tip, with_tips};
use super::ramp::{BAR, Cells, Ramp};
use super::text::{ems, escape, fit, told_apart};

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
/// The size of a label that is long, and the size below which labels are not drawn, in units.
const SMALL: f64 = 24.0;
const SMALLEST: f64 = 18.0;
/// More labels make a picture of twice the width: it is for a page, and not for a column.
const NARROW: usize = 40;

/// The layout, in units.
struct Layout {
    left: i32,
    right: i32,
    top: i32,
    bottom: i32,
    rows: usize,
    columns: usize,
    /// The labels, without what all of them share, and their size; none where they would be too small.
    row_labels: Option<(Vec<String>, f64)>,
    column_labels: Option<(Vec<String>, f64)>,
    /// Whether column labels read from bottom to top, and their height.
    upright: bool,
    column_height: i32,
}

/// Draws a table of numbers as colors with a color bar. Numbers are written into cells that are large enough. All labels
/// are drawn, or none where they would be too small to be read; where a pointer rests, a cell is named either way.
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
    let size = (layout.right + BAR, height);
    let drawn = draw_over(&data.caption, size, &cells.to_svg(), |canvas| {
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
        let bar = (layout.top, layout.bottom);
        ramp.draw_bar(canvas, layout.right, bar, &data.scale.label);
    });
    name_cells(drawn, data, &layout)
}

/// Names each cell where a pointer rests on it: an area for each, or, where these would be most of a page, one area
/// with what a script needs to name them.
fn name_cells(mut drawn: String, data: &Heatmap, layout: &Layout) -> String {
    const MOST: usize = 1000;
    if layout.rows * layout.columns > MOST {
        if let Some(end) = drawn.rfind("</svg>") {
            drawn.insert_str(end, &cells_for_script(data, layout));
        }
        return drawn;
    }
    let mut tips = Vec::new();
    for row in 0..layout.rows {
        for column in 0..layout.columns {
            if data.same_labels && row == column {
                continue;
            }
            let value = value(data, row, column);
            let value = value.map_or("n/a".to_owned(), |value| format!("{value:.3}"));
            tips.push(Tip {
                corners: layout.cell(row, column),
                text: format!("{} | {}: {value}", data.rows[row], data.columns[column]),
            });
        }
    }
    with_tips(drawn, &tips)
}

/// An area over all cells: where it is, the labels, a line each, and the values, two letters each.
fn cells_for_script(data: &Heatmap, layout: &Layout) -> String {
    let all = || (0..layout.rows).flat_map(|row| (0..layout.columns).map(move |at| (row, at)));
    let known = all().filter_map(|(row, column)| value(data, row, column));
    let (least, most) = known.fold((f64::INFINITY, f64::NEG_INFINITY), |(least, most), x| {
        (least.min(x), most.max(x))
    });
    let (least, most) = data.scale.range.unwrap_or((least, most));
    let letters = |(row, column)| {
        let share = value(data, row, column).map(|value| (value - least) / (most - least));
        match share.filter(|share| share.is_finite()) {
            Some(share) => base_36((1000.0 * share.clamp(0.0, 1.0)).round() as u32),
            None => "--".to_owned(),
        }
    };
    let values: String = all().map(letters).collect();
    let columns = data.columns.iter().filter(|_| !data.same_labels);
    let labels: Vec<String> = data
        .rows
        .iter()
        .chain(columns)
        .map(|label| escape(label))
        .collect();
    let (x, y) = (layout.left, layout.top);
    let (width, height) = (layout.right - x, layout.bottom - y);
    format!(
        "<g class=\"cells\" fill=\"none\" pointer-events=\"all\" data-size=\"{} {}\" data-range=\"{least} {most}\" \
         data-values=\"{values}\">\n<desc>{}</desc>\n\
         <rect x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\"/></g>\n",
        layout.rows,
        layout.columns,
        labels.join("\n"),
    )
}

/// Two digits of base 36.
fn base_36(number: u32) -> String {
    let digit = |digit: u32| char::from_digit(digit % 36, 36).unwrap_or('0');
    [digit(number / 36), digit(number)].iter().collect()
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
        let right = match rows.max(columns) > NARROW {
            true => 2 * WIDTH - BAR,
            false => WIDTH - BAR,
        };
        let share = rows as f64 / columns.max(1) as f64;
        let share = share.clamp(0.25, 1.3);
        let [row_names, column_names] = [&data.rows, &data.columns].map(|all| told_apart(all));
        // Labels take their room from the cells, whose size is that of the labels.
        let least = LINE + 3 * GAP;
        let tall = f64::from(right - least) * share / rows.max(1) as f64;
        let guess = font(tall, &row_names).unwrap_or(0.0);
        let room = (widest(&row_names) * guess).min(MAX_LENGTH) as i32;
        let left = least + room;
        let width = f64::from(right - left);
        let row_font = font(width * share / rows.max(1) as f64, &row_names);
        let top = LINE / 2;
        let bottom = top + (width * share) as i32;
        let wide = width / columns.max(1) as f64;
        let is_level = widest(&column_names) * FONT + f64::from(GAP) <= wide;
        let column_font = match is_level {
            true => Some(FONT),
            false => font(wide, &column_names),
        };
        let column_height = match (is_level, column_font) {
            (true, _) => LINE,
            (false, Some(font)) => (widest(&column_names) * font).min(MAX_LENGTH) as i32 + GAP,
            (false, None) => GAP,
        };
        Layout {
            left,
            right,
            top,
            bottom,
            rows,
            columns,
            row_labels: row_font.map(|font| (row_names, font)),
            column_labels: column_font.map(|font| (column_names, font)),
            upright: !is_level,
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

/// The width of the widest label, in ems.
fn widest(labels: &[String]) -> f64 {
    labels.iter().map(|label| ems(label)).fold(0.0, f64::max)
}

/// The size of labels, one a cell of this height; `None` if they would be too small to be read.
fn font(cell: f64, labels: &[String]) -> Option<f64> {
    let of_cell = (cell / 1.12).min(FONT);
    // Long labels are written smaller before they are cut.
    let of_length = (MAX_LENGTH / widest(labels).max(1.0)).max(SMALL);
    (of_cell >= SMALLEST).then_some(of_cell.min(of_length))
}

fn draw_labels(canvas: &Canvas<'_>, data: &Heatmap, layout: &Layout) {
    if let Some((labels, font)) = &layout.row_labels {
        for (row, label) in labels.iter().enumerate() {
            let [(_, y0), (_, y1)] = layout.cell(row, 0);
            let label = fit(label, MAX_LENGTH / font);
            let at = (layout.left - GAP, (y0 + y1) / 2);
            canvas.text_sized(&label, at, Anchor::Right, *font, Role::Ink);
        }
    }
    if let Some((labels, font)) = &layout.column_labels {
        for (column, label) in labels.iter().enumerate() {
            let [(x0, _), (x1, _)] = layout.cell(0, column);
            let (x, y) = ((x0 + x1) / 2, layout.bottom + GAP);
            let label = fit(label, MAX_LENGTH / font);
            match layout.upright {
                true => canvas.text_up(&label, (x, y), Anchor::Right, *font),
                false => canvas.text_sized(&label, (x, y), Anchor::Below, *font, Role::Ink),
            }
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
    fn all_labels_are_drawn_or_none() {
        let shown = |n: usize| {
            let labels = (0..n).map(|k| format!("www.site-{k:03}.example"));
            let svg = heatmap(&square(labels.collect()));
            check(&svg);
            let texts = super::super::testing::texts(&svg);
            texts.iter().filter(|text| text.starts_with("…0")).count()
        };
        assert_eq!([20, 100, 200].map(shown), [40, 200, 0]);
    }

    #[test]
    fn a_script_can_name_the_cells_of_many_labels() {
        let svg = heatmap(&square((0..40).map(|k| format!("<{k}>")).collect()));
        let document = roxmltree::Document::parse(&svg).unwrap();
        let cells = document
            .descendants()
            .find(|node| node.attribute("class") == Some("cells"));
        let cells = cells.expect("an area over the cells");
        let values = cells.attribute("data-values").unwrap();
        assert_eq!((values.len(), &values[..2]), (2 * 40 * 40, "--"));
        // 0.37 of the range from 0 to 1.
        assert_eq!(u32::from_str_radix(&values[2..4], 36), Ok(370));
        assert_eq!(cells.attribute("data-size"), Some("40 40"));
        let labels = cells
            .descendants()
            .find(|node| node.tag_name().name() == "desc");
        assert!(
            labels
                .and_then(|node| node.text())
                .unwrap()
                .starts_with("<0>\n<1>\n")
        );
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
