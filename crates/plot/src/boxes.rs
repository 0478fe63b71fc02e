//! Box plots: quantiles of several groups, one per line.

use super::axis::Axis;
use super::canvas::{Canvas, Caption, Role, STROKE, draw};
use super::dots::{RowFrame, draw_label};
use super::frame::{Entry, Frame, Legend, Sample};
use super::hover::{short, with_tips};

/// Half the height of a box.
const HALF: i32 = 16;

/// Groups to compare.
#[derive(Debug, Clone, PartialEq)]
pub struct Boxes {
    /// Title and description.
    pub caption: Caption,
    /// The axis of the quantiles.
    pub x: Axis,
    /// The legend of the boxes.
    pub name: String,
    /// The groups, from top to bottom.
    pub rows: Vec<BoxRow>,
}

/// A group of a box plot.
#[derive(Debug, Clone, PartialEq)]
pub struct BoxRow {
    /// Its label.
    pub label: String,
    /// Ascending: the ends of the whiskers, the ends of the box, and the median between them.
    pub quantiles: [f64; 5],
}

/// Draws a box from the second to the fourth quantile, a line at the third, and whiskers to the first and the last.
pub fn boxes(data: &Boxes) -> String {
    let numbers = data.rows.iter().flat_map(|row| row.quantiles);
    let legend = Legend::new([Entry {
        name: data.name.clone(),
        series: 0,
        dashes: 0,
        sample: Sample::Area,
    }]);
    let labels = data.rows.iter().map(|row| row.label.as_str());
    let layout = RowFrame::new(&data.x, numbers, &legend, labels);
    let drawn = draw(&data.caption, layout.frame.total_height(), |canvas| {
        legend.draw(canvas);
        layout.draw(canvas, &data.x.label);
        for (at, row) in data.rows.iter().enumerate() {
            draw_row(canvas, &layout.frame, row, layout.middle_of(at));
        }
    });
    let tip = |(at, row): (usize, &BoxRow)| {
        let quantiles = row.quantiles.map(short).join(", ");
        let text = format!("{}: {quantiles} ({})", row.label, data.name);
        let is_known = row.quantiles.iter().all(|quantile| quantile.is_finite());
        is_known.then(|| layout.tip(at, text))
    };
    let tips: Vec<_> = data.rows.iter().enumerate().filter_map(tip).collect();
    with_tips(drawn, &tips)
}

fn draw_row(canvas: &Canvas<'_>, frame: &Frame, row: &BoxRow, y: i32) {
    draw_label(canvas, frame, &row.label, y);
    let across = |value: f64| {
        let share = frame.x.place(value)?;
        Some(frame.across(share.clamp(0.0, 1.0)).round() as i32)
    };
    let places: Option<Vec<i32>> = row.quantiles.into_iter().map(across).collect();
    let Some(&[first, left, middle, right, last]) = places.as_deref() else {
        return;
    };
    let role = Role::Series(0);
    for (from, to) in [(first, left), (right, last)] {
        canvas.line(vec![(from, y), (to, y)], role, STROKE - 1, 1.0);
    }
    for end in [first, last] {
        let whisker = vec![(end, y - HALF / 2), (end, y + HALF / 2)];
        canvas.line(whisker, role, STROKE - 1, 1.0);
    }
    let corners = [(left, y - HALF), (right, y + HALF)];
    canvas.fill(corners, role, 0.25);
    canvas.frame(corners, role, STROKE - 1);
    let median = vec![(middle, y - HALF), (middle, y + HALF)];
    canvas.line(median, Role::Ink, STROKE, 1.0);
}

#[cfg(test)]
mod tests {
    use super::super::testing::{check, hostile};
    use super::*;

    #[test]
    fn groups_of_anything() {
        let row = |quantiles: [f64; 5]| BoxRow {
            label: hostile(),
            quantiles,
        };
        let rows = [
            row([1.0, 2.0, 2.0, 3.0, 9.0]),
            row([5.0; 5]),
            row([f64::NEG_INFINITY, 1.0, f64::NAN, 2.0, 3.0]),
        ];
        for count in 0..=rows.len() {
            for x in [Axis::linear(hostile()), Axis::log("x").from_to(0.1, 2.5)] {
                check(&boxes(&Boxes {
                    caption: Caption::new(hostile(), hostile()),
                    x,
                    name: hostile(),
                    rows: rows[..count].to_vec(),
                }));
            }
        }
    }
}
