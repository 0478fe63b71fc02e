//! The plot area with its axes, and a legend above it.

use super::axis::{Axis, Extent, Tick};
use super::canvas::{Anchor, Canvas, FONT, GRID, Role, STROKE, THIN, WIDTH};
use super::text::{ems, fit};

/// The distance between elements, in units.
pub(super) const GAP: i32 = 16;
/// The height of a line of text, in units.
pub(super) const LINE: i32 = 56;

/// The radius of a marker.
pub(super) const RADIUS: i32 = 13;

/// An entry of a legend.
#[derive(Debug, Clone)]
pub(super) struct Entry {
    pub name: String,
    pub series: usize,
    pub dashes: usize,
    pub sample: Sample,
}

/// The sample that a legend shows for a series.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Sample {
    Line,
    Marker,
    /// An open square.
    Open,
    Area,
    Bar,
    Rule,
}

const SAMPLE: i32 = 72;

/// A legend laid out in lines.
pub(super) struct Legend {
    entries: Vec<(Entry, (i32, i32))>,
    pub height: i32,
}

impl Legend {
    /// Lays out the entries that have a name, side by side within the width of the picture.
    pub fn new(entries: impl IntoIterator<Item = Entry>) -> Legend {
        let (mut x, mut y) = (GAP, LINE / 2 + 4);
        let mut placed = Vec::new();
        for mut entry in entries.into_iter().filter(|entry| !entry.name.is_empty()) {
            let most = f64::from(WIDTH - SAMPLE - 4 * GAP) / FONT;
            entry.name = fit(&entry.name, most);
            let width = SAMPLE + GAP + (ems(&entry.name) * FONT) as i32;
            if x > GAP && x + width > WIDTH - GAP {
                (x, y) = (GAP, y + LINE);
            }
            placed.push((entry, (x, y)));
            x += width + 2 * GAP;
        }
        let height = if placed.is_empty() {
            LINE / 2 + 8
        } else {
            y + LINE / 2 + 2 * GAP
        };
        Legend {
            entries: placed,
            height,
        }
    }

    pub fn draw(&self, canvas: &Canvas<'_>) {
        for (entry, (x, y)) in &self.entries {
            let (x, y, series) = (*x, *y, entry.series);
            match entry.sample {
                Sample::Line => canvas.line(
                    vec![(x, y), (x + SAMPLE, y)],
                    Role::Dashed {
                        series,
                        dashes: entry.dashes,
                    },
                    STROKE,
                    1.0,
                ),
                Sample::Rule => canvas.line(vec![(x, y), (x + SAMPLE, y)], Role::Ink, THIN, 1.0),
                Sample::Marker => canvas.marker((x + SAMPLE / 2, y), series, RADIUS),
                Sample::Bar => {
                    canvas.fill(
                        [(x, y - 16), (x + SAMPLE, y + 16)],
                        Role::Series(series),
                        1.0,
                    );
                }
                Sample::Open => canvas.open_square((x + SAMPLE / 2, y), series),
                Sample::Area => {
                    canvas.fill(
                        [(x, y - 16), (x + SAMPLE, y + 16)],
                        Role::Series(series),
                        0.3,
                    );
                }
            }
            canvas.text(&entry.name, (x + SAMPLE + GAP, y), Anchor::Left);
        }
    }
}

/// The plot area, in units.
#[derive(Debug, Clone, Copy)]
pub(super) struct Frame {
    pub left: i32,
    pub right: i32,
    pub top: i32,
    pub bottom: i32,
    pub x: Extent,
    pub y: Extent,
}

impl Frame {
    /// A plot area below `top`, with room for ticks and labels of the axes; `aspect` is height divided by width.
    pub fn new(x: Extent, y: Extent, top: i32, aspect: f64) -> Frame {
        let widest = y
            .ticks(TICKS)
            .iter()
            .map(|tick| ems(&tick.label))
            .fold(0.0, f64::max);
        let left = LINE + 2 * GAP + (widest * FONT) as i32;
        let right = WIDTH - 2 * GAP - 8;
        let aspect = if aspect.is_finite() {
            aspect.clamp(0.2, 3.0)
        } else {
            0.6
        };
        let bottom = top + (f64::from(right - left) * aspect) as i32;
        Frame {
            left,
            right,
            top,
            bottom,
            x,
            y,
        }
    }

    /// The height of the whole picture.
    pub fn total_height(&self) -> i32 {
        self.bottom + 2 * LINE + 2 * GAP
    }

    pub fn across(&self, share: f64) -> f64 {
        f64::from(self.left) + share * f64::from(self.right - self.left)
    }

    pub fn up(&self, share: f64) -> f64 {
        f64::from(self.bottom) - share * f64::from(self.bottom - self.top)
    }

    /// The position of a point, perhaps outside the area; `None` if it cannot be shown.
    pub fn place(&self, (x, y): (f64, f64)) -> Option<(f64, f64)> {
        Some((self.across(self.x.place(x)?), self.up(self.y.place(y)?)))
    }

    /// The nearest position inside the area.
    pub fn clamp(&self, (x, y): (f64, f64)) -> (i32, i32) {
        let x = x.clamp(f64::from(self.left), f64::from(self.right));
        let y = y.clamp(f64::from(self.top), f64::from(self.bottom));
        (x.round() as i32, y.round() as i32)
    }

    /// Whether a position is inside the area.
    pub fn holds(&self, (x, y): (f64, f64)) -> bool {
        (f64::from(self.left) - 0.5..=f64::from(self.right) + 0.5).contains(&x)
            && (f64::from(self.top) - 0.5..=f64::from(self.bottom) + 0.5).contains(&y)
    }

    /// Draws grid, ticks and labels.
    pub fn draw(&self, canvas: &Canvas<'_>, x: &Axis, y: &Axis) {
        self.draw_y_marks(canvas, GRID);
        self.draw_x_marks(canvas, GRID);
        self.draw_ends(canvas);
        self.draw_x_label(canvas, &x.label);
        self.draw_y_label(canvas, &y.label);
    }

    /// Draws the ticks of the vertical axis, with grid lines of an opacity.
    pub fn draw_y_marks(&self, canvas: &Canvas<'_>, grid: f64) {
        for tick in self.y.ticks(TICKS) {
            let at = self.up(tick.at).round() as i32;
            canvas.line(vec![(self.left, at), (self.right, at)], Role::Ink, 2, grid);
            canvas.text(&tick.label, (self.left - GAP, at), Anchor::Right);
        }
    }

    /// Draws the ticks of the horizontal axis, with grid lines of an opacity.
    pub fn draw_x_marks(&self, canvas: &Canvas<'_>, grid: f64) {
        for tick in self.x_ticks() {
            let at = self.across(tick.at).round() as i32;
            if !tick.is_open {
                canvas.line(vec![(at, self.top), (at, self.bottom)], Role::Ink, 2, grid);
            }
            let middle = self.label_middle(&tick).round() as i32;
            canvas.text(&tick.label, (middle, self.bottom + GAP), Anchor::Below);
        }
    }

    /// Where the middle of a label below the area is: at its tick, unless the picture ends there, or the label would
    /// touch that of the lowest tick of the vertical axis.
    fn label_middle(&self, tick: &Tick) -> f64 {
        let half = 0.5 * FONT * ems(&tick.label);
        let last = (f64::from(WIDTH) - half).max(half);
        let is_long = half > f64::from(LONG) && !tick.is_open;
        let first = if is_long && tick.at < 1e-6 {
            half + f64::from(self.left - GAP)
        } else {
            half
        };
        self.across(tick.at).clamp(first.min(last), last)
    }

    pub fn draw_ends(&self, canvas: &Canvas<'_>) {
        let path = vec![
            (self.left, self.top),
            (self.left, self.bottom),
            (self.right, self.bottom),
        ];
        canvas.line(path, Role::Ink, THIN, 1.0);
    }

    pub fn draw_x_label(&self, canvas: &Canvas<'_>, label: &str) {
        let middle = (self.left + self.right) / 2;
        let room = 2 * middle.min(WIDTH - middle) - GAP;
        let label = fit(label, f64::from(room) / FONT);
        canvas.text(&label, (middle, self.bottom + GAP + LINE), Anchor::Below);
    }

    pub fn draw_y_label(&self, canvas: &Canvas<'_>, label: &str) {
        let middle = (self.top + self.bottom) / 2;
        let room = 2 * middle.min(self.total_height() - middle) - GAP;
        let label = fit(label, f64::from(room) / FONT);
        canvas.text_up(&label, (LINE / 2, middle), Anchor::Center, FONT);
    }

    /// As many ticks as fit side by side. A tick that stands for all beyond a number goes before its neighbor.
    pub fn x_ticks(&self) -> Vec<Tick> {
        for about in (2..=8).rev() {
            let mut ticks = self.x.ticks(about);
            let crowded: Vec<bool> = (0..ticks.len())
                .map(|at| {
                    let beside = [at.checked_sub(1), Some(at + 1)];
                    let mut beside = beside.into_iter().flatten().filter_map(|at| ticks.get(at));
                    !ticks[at].is_open
                        && beside.any(|other| other.is_open && !self.apart(&ticks[at], other))
                })
                .collect();
            let mut crowded = crowded.into_iter();
            ticks.retain(|_| crowded.next() != Some(true));
            let all_apart = ticks.windows(2).all(|pair| self.apart(&pair[0], &pair[1]));
            if all_apart && ticks.iter().any(|tick| !tick.is_open) {
                return ticks;
            }
        }
        self.x.ticks(2).into_iter().take(1).collect()
    }

    /// Whether there is room between the labels of two ticks.
    fn apart(&self, one: &Tick, other: &Tick) -> bool {
        let half = 0.5 * FONT * (ems(&one.label) + ems(&other.label));
        (self.label_middle(one) - self.label_middle(other)).abs() > half + 1.5 * f64::from(GAP)
    }
}

const TICKS: usize = 6;

/// Half of the width of a label that reaches under those of the vertical axis, in units.
const LONG: i32 = 40;

#[cfg(test)]
mod tests {
    use super::*;

    /// The lowest labels of two logarithmic axes, 10⁻⁴ twice, do not touch.
    #[test]
    fn a_long_label_at_the_corner_begins_at_the_axis() {
        let x = Extent::new(&Axis::log("").from_to(1e-4, 1.0), std::iter::empty());
        let frame = Frame::new(x, x, 0, 0.6);
        let ticks = frame.x_ticks();
        let half = 0.5 * FONT * ems(&ticks[0].label);
        assert!(ticks[0].at.abs() < 1e-9 && half > f64::from(LONG));
        assert!(frame.label_middle(&ticks[0]) - half >= f64::from(frame.left - GAP));
        // Labels of other ticks stay where they are.
        let second = &ticks[1];
        assert_eq!(frame.label_middle(second), frame.across(second.at));
    }

    #[test]
    fn labels_of_ticks_stay_inside_the_picture_and_apart() {
        let mut moved = 0;
        for end in [1.0, 500.0, 1e5, 1e9, 1.7e-7] {
            let x = Extent::new(&Axis::linear("").from_to(0.0, end), std::iter::empty());
            let frame = Frame::new(x, x, 0, 0.6);
            let mut last = 0.0;
            for tick in &frame.x_ticks() {
                let half = 0.5 * FONT * ems(&tick.label);
                let middle = frame.label_middle(tick);
                assert!(middle - half >= last, "{}", tick.label);
                last = middle + half;
                moved += usize::from(middle != frame.across(tick.at));
            }
            assert!(last <= f64::from(WIDTH), "{end}");
        }
        assert!(moved > 0, "no label would have been clipped");
    }
}
