//! Dot plots: estimates with limits, one per line, beside reference values.

use super::axis::{Axis, Extent};
use super::canvas::GRID;
use super::canvas::{Anchor, Canvas, Caption, FONT, Role, STROKE, THIN, WIDTH, draw};
use super::frame::{Entry, Frame, GAP, LINE, Legend, Sample};
use super::hover::{Tip, short, with_limits, with_tips};
use super::text::{ems, fit};

/// Estimates to compare.
#[derive(Debug, Clone, PartialEq)]
pub struct Dots {
    /// Title and description.
    pub caption: Caption,
    /// The axis of the estimates.
    pub x: Axis,
    /// The legend of the estimates.
    pub name: String,
    /// The legend of the references; empty if there are none.
    pub reference_name: String,
    /// The lines, from top to bottom.
    pub rows: Vec<Dot>,
}

/// One line of a dot plot.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Dot {
    /// Its label.
    pub label: String,
    /// All of its label where that is longer, for a pointer that rests on it; else empty.
    pub title: String,
    /// The estimate.
    pub point: Option<f64>,
    /// The lower limit, if there is one.
    pub lower: Option<f64>,
    /// The upper limit, if there is one.
    pub upper: Option<f64>,
    /// The reference value, if there is one.
    pub reference: Option<f64>,
}

impl Dot {
    fn numbers(&self) -> impl Iterator<Item = f64> {
        [self.point, self.lower, self.upper, self.reference]
            .into_iter()
            .flatten()
    }
}

/// The largest width of labels, in units.
const MAX_LENGTH: f64 = 600.0;
const SMALL: f64 = 36.0;

/// Where lines with labels at their left are drawn.
pub(super) struct RowFrame {
    pub frame: Frame,
}

impl RowFrame {
    /// Room for a line for each label, below the legend.
    pub fn new<'a>(
        axis: &Axis,
        numbers: impl Iterator<Item = f64>,
        legend: &Legend,
        labels: impl Iterator<Item = &'a str>,
    ) -> Self {
        let x = Extent::new(axis, numbers);
        let y = Extent::new(&Axis::linear("").from_to(0.0, 1.0), std::iter::empty());
        let labels: Vec<f64> = labels.map(ems).collect();
        let widest = labels.iter().copied().fold(0.0, f64::max);
        let mut frame = Frame::new(x, y, legend.height, 1.0);
        frame.left = 2 * GAP + (widest * SMALL).min(MAX_LENGTH) as i32 + GAP;
        frame.bottom = frame.top + (LINE + 4) * labels.len().max(1) as i32;
        RowFrame { frame }
    }

    /// Draws the axis with its label.
    pub fn draw(&self, canvas: &Canvas<'_>, label: &str) {
        let frame = &self.frame;
        frame.draw_x_marks(canvas, GRID);
        frame.draw_ends(canvas);
        if let Some(zero) = frame.x.place(0.0).filter(|at| (0.0..=1.0).contains(at)) {
            let x = frame.across(zero).round() as i32;
            let line = vec![(x, frame.top), (x, frame.bottom)];
            canvas.line(line, Role::Ink, THIN, 1.0);
        }
        let middle = f64::from(frame.left + frame.right) / 2.0;
        let room = 2.0 * (f64::from(WIDTH) - middle) - f64::from(GAP);
        let label = fit(label, room / FONT);
        canvas.text(
            &label,
            (middle as i32, frame.bottom + GAP + LINE),
            Anchor::Below,
        );
    }

    /// The height of the middle of a line.
    pub fn middle_of(&self, row: usize) -> i32 {
        self.frame.top + (LINE + 4) * row as i32 + LINE / 2
    }

    /// What is said where a pointer rests on a line.
    pub fn tip(&self, row: usize, text: String) -> Tip {
        let y = self.middle_of(row);
        Tip {
            corners: [(0, y - LINE / 2), (self.frame.right, y + LINE / 2)],
            text,
        }
    }
}

/// Draws estimates as points with limits, and references as open circles.
pub fn dots(data: &Dots) -> String {
    let names = [
        (&data.name, 0, Sample::Marker),
        (&data.reference_name, 1, Sample::Open),
    ];
    let legend = Legend::new(names.map(|(name, series, sample)| Entry {
        name: name.clone(),
        series,
        dashes: series,
        sample,
    }));
    let numbers = data.rows.iter().flat_map(Dot::numbers);
    let labels = data.rows.iter().map(|row| row.label.as_str());
    let layout = RowFrame::new(&data.x, numbers, &legend, labels);
    let drawn = draw(&data.caption, layout.frame.total_height(), |canvas| {
        legend.draw(canvas);
        layout.draw(canvas, &data.x.label);
        for (at, row) in data.rows.iter().enumerate() {
            draw_row(canvas, &layout.frame, row, layout.middle_of(at));
        }
    });
    let tip = |(at, row): (usize, &Dot)| {
        let label = match row.title.is_empty() {
            true => &row.label,
            false => &row.title,
        };
        let reference = row.reference.filter(|reference| reference.is_finite());
        let reference = reference.map(|value| format!("{} {}", data.reference_name, short(value)));
        let parts = [with_limits(row.point, row.lower, row.upper), reference];
        let parts: Vec<String> = parts.into_iter().flatten().collect();
        (!parts.is_empty()).then(|| layout.tip(at, format!("{label}: {}", parts.join(", "))))
    };
    let tips: Vec<_> = data.rows.iter().enumerate().filter_map(tip).collect();
    with_tips(drawn, &tips)
}

/// Writes the label of a line.
pub(super) fn draw_label(canvas: &Canvas<'_>, frame: &Frame, label: &str, y: i32) {
    let label = fit(label, MAX_LENGTH / SMALL);
    canvas.text_sized(
        &label,
        (frame.left - GAP, y),
        Anchor::Right,
        SMALL,
        Role::Ink,
    );
}

fn draw_row(canvas: &Canvas<'_>, frame: &Frame, row: &Dot, y: i32) {
    draw_label(canvas, frame, &row.label, y);
    let across = |value: Option<f64>| {
        let share = frame.x.place(value?)?;
        Some((
            frame.across(share.clamp(0.0, 1.0)).round() as i32,
            (0.0..=1.0).contains(&share),
        ))
    };
    let anchor = across(row.point.or(row.lower).or(row.upper));
    for limit in [row.lower, row.upper] {
        let (Some((from, _)), Some((to, inside))) = (anchor, across(limit)) else {
            continue;
        };
        canvas.line(vec![(from, y), (to, y)], Role::Series(0), STROKE - 1, 1.0);
        if inside {
            canvas.line(
                vec![(to, y - 14), (to, y + 14)],
                Role::Series(0),
                STROKE - 1,
                1.0,
            );
        }
    }
    if let Some((x, true)) = across(row.point) {
        canvas.marker((x, y), 0, 12);
    }
    if let Some((x, true)) = across(row.reference) {
        canvas.open_square((x, y), 1);
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{check, hostile};
    use super::*;

    #[test]
    fn rows_of_anything() {
        let row = Dot {
            label: hostile(),
            title: String::new(),
            point: Some(0.4),
            lower: Some(0.3),
            upper: None,
            reference: Some(0.5),
        };
        let empty = Dot::default();
        let odd = Dot {
            point: Some(f64::NAN),
            lower: Some(f64::NEG_INFINITY),
            ..row.clone()
        };
        for rows in [vec![], vec![empty.clone()], vec![row, empty, odd]] {
            for x in [Axis::linear(hostile()), Axis::log("x").from_to(0.1, 0.45)] {
                check(&dots(&Dots {
                    caption: Caption::new(hostile(), hostile()),
                    x,
                    name: hostile(),
                    reference_name: hostile(),
                    rows: rows.clone(),
                }));
            }
        }
    }
}
