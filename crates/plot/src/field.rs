//! A number for each cell of the plane as color, with marked points.

use super::axis::{Axis, Extent};
use super::canvas::{Anchor, Canvas, Caption, FONT, Role, STROKE, WIDTH, draw_over};
use super::frame::{Frame, GAP, LINE};
use super::ramp::{BAR, Cells, Ramp};
use super::text::{ems, fit};

/// Numbers on a grid of equal cells.
#[derive(Debug, Clone, PartialEq)]
pub struct Field {
    /// Title and description.
    pub caption: Caption,
    /// The horizontal axis; without a range, 0 to 1.
    pub x: Axis,
    /// The vertical axis; without a range, 0 to 1.
    pub y: Axis,
    /// The number of cells per row.
    pub columns: usize,
    /// The values, row by row from the bottom.
    pub values: Vec<f64>,
    /// The color axis: its label, and the values of the first and the last color.
    pub scale: Axis,
    /// The marked points.
    pub points: Vec<FieldPoint>,
    /// Two points joined by a line, and a text about them in the corner.
    pub joined: Option<(usize, usize, String)>,
}

/// A marked point.
#[derive(Debug, Clone, PartialEq)]
pub struct FieldPoint {
    /// The x coordinate.
    pub x: f64,
    /// The y coordinate.
    pub y: f64,
    /// The text beside it.
    pub label: String,
    /// Whether it is highlighted.
    pub marked: bool,
}

/// Draws the numbers as colors with a color bar.
pub fn field(data: &Field) -> String {
    let unit = || [0.0, 1.0].into_iter();
    let (x, y) = (Extent::new(&data.x, unit()), Extent::new(&data.y, unit()));
    let span = |axis: &Axis| axis.range.map_or(1.0, |(from, to)| to - from);
    let mut frame = Frame::new(x, y, LINE / 2, 1.0);
    frame.right = WIDTH - BAR;
    let aspect = (span(&data.y) / span(&data.x)).clamp(0.3, 1.5);
    frame.bottom = frame.top + (f64::from(frame.right - frame.left) * aspect) as i32;
    let ramp = Ramp::new(&data.scale, data.values.iter().copied());
    let cells = cells(data, &frame, &ramp);
    draw_over(
        &data.caption,
        (WIDTH, frame.total_height()),
        &cells,
        |canvas| {
            // Grid lines would not be visible on the colors.
            frame.draw_ends(canvas);
            frame.draw_y_marks(canvas, 0.0);
            frame.draw_x_marks(canvas, 0.0);
            frame.draw_x_label(canvas, &data.x.label);
            frame.draw_y_label(canvas, &data.y.label);
            draw_joined(canvas, data, &frame);
            for point in &data.points {
                draw_point(canvas, &frame, point);
            }
            ramp.draw_bar(
                canvas,
                WIDTH - BAR,
                (frame.top, frame.bottom),
                &data.scale.label,
            );
        },
    )
}

fn place(frame: &Frame, point: &FieldPoint) -> Option<(i32, i32)> {
    frame.place((point.x, point.y)).map(|at| frame.clamp(at))
}

fn draw_joined(canvas: &Canvas<'_>, data: &Field, frame: &Frame) {
    let Some((a, b, label)) = &data.joined else {
        return;
    };
    let ends = [a, b].map(|&at| data.points.get(at).and_then(|point| place(frame, point)));
    if let [Some(a), Some(b)] = ends {
        canvas.line(vec![a, b], Role::Series(1), STROKE, 1.0);
        let room = frame.right - frame.left - 4 * GAP;
        let label = fit(label, f64::from(room) / FONT);
        let corner = (frame.left + 2 * GAP, frame.top + LINE / 2 + GAP);
        canvas.text_sized(&label, corner, Anchor::Left, FONT, WHITE);
    }
}

fn draw_point(canvas: &Canvas<'_>, frame: &Frame, point: &FieldPoint) {
    let Some((x, y)) = place(frame, point) else {
        return;
    };
    let role = if point.marked { Role::Series(1) } else { WHITE };
    canvas.circle((x, y), 14, role, true);
    let label = fit(&point.label, 6.0);
    let width = (ems(&label) * FONT) as i32;
    let (at, anchor) = if x + 24 + width < frame.right {
        (x + 24, Anchor::Left)
    } else {
        (x - 24, Anchor::Right)
    };
    canvas.text_sized(&label, (at, y + 34), anchor, FONT, WHITE);
}

/// On colors, whatever the background of the page.
const WHITE: Role = Role::Fixed(255, 255, 255);

fn cells(data: &Field, frame: &Frame, ramp: &Ramp) -> String {
    let columns = data.columns.max(1);
    let rows = data.values.len().div_ceil(columns).max(1);
    let x = |at: usize| frame.across(at as f64 / columns as f64).round() as i32;
    let y = |at: usize| frame.up(at as f64 / rows as f64).round() as i32;
    let mut cells = Cells::default();
    for (at, &value) in data.values.iter().enumerate() {
        let (row, column) = (at / columns, at % columns);
        cells.add(
            ramp.level(value),
            (x(column), y(row + 1)),
            (x(column + 1), y(row)),
        );
    }
    cells.to_svg()
}

#[cfg(test)]
mod tests {
    use super::super::testing::{check, hostile};
    use super::*;

    #[test]
    fn any_field_is_a_picture() {
        for values in [
            vec![],
            vec![1.0],
            vec![f64::NAN; 7],
            (0..10_000).map(f64::from).collect(),
        ] {
            let point = FieldPoint {
                x: 0.3,
                y: 0.5,
                label: hostile(),
                marked: true,
            };
            check(&field(&Field {
                caption: Caption::new(hostile(), hostile()),
                x: Axis::linear(hostile()),
                y: Axis::linear(hostile()).from_to(-1.0, 1.0),
                columns: 100,
                values,
                scale: Axis::linear(hostile()),
                points: vec![point.clone(), FieldPoint { x: 0.95, ..point }],
                joined: Some((0, 1, hostile())),
            }));
        }
    }
}
