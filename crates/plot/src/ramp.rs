//! Color ramps and color bars.

use std::fmt::Write;

use plotters::style::colors::colormaps::{ColorMap, ViridisRGB};

use super::axis::{Axis, Extent};
use super::canvas::{Anchor, Canvas, FONT, Role, THIN};
use super::frame::GAP;
use super::text::{ems, fit};

/// The number of colors: more cannot be distinguished, and cells of one color form one path.
const LEVELS: usize = 48;

/// A color ramp between two numbers.
#[derive(Debug, Clone, Copy)]
pub(super) struct Ramp {
    extent: Extent,
    reversed: bool,
}

/// The width of the color bar with ticks and label, in units.
pub(super) const BAR: i32 = 232;

impl Ramp {
    pub fn new(axis: &Axis, values: impl Iterator<Item = f64>) -> Ramp {
        Ramp {
            extent: Extent::new(axis, values),
            reversed: false,
        }
    }

    /// The same ramp, with its colors the other way round if so.
    pub fn reversed(self, reversed: bool) -> Ramp {
        Ramp { reversed, ..self }
    }

    /// The color step of a number, clamped to the ends.
    pub fn level(&self, value: f64) -> Option<usize> {
        let place = self.extent.place(value).filter(|_| !value.is_nan())?;
        Some(self.turned((place.clamp(0.0, 1.0) * (LEVELS - 1) as f64).round() as usize))
    }

    /// The color step at a step of the axis.
    fn turned(&self, step: usize) -> usize {
        if self.reversed {
            LEVELS - 1 - step
        } else {
            step
        }
    }

    /// Whether dark text is readable on a color step.
    pub fn is_light(level: usize) -> bool {
        let (r, g, b) = color(level);
        // Relative luminance, roughly; above a fifth black is read better than white.
        let linear = |x: u8| (f64::from(x) / 255.0) * (f64::from(x) / 255.0);
        0.21 * linear(r) + 0.72 * linear(g) + 0.07 * linear(b) > 0.19
    }

    /// Draws the color bar at the right of an area.
    pub fn draw_bar(
        &self,
        canvas: &Canvas<'_>,
        start: i32,
        (top, bottom): (i32, i32),
        label: &str,
    ) {
        let (left, right) = (start + GAP, start + GAP + 40);
        let height = f64::from(bottom - top);
        let edge = |step: usize| bottom - (height * step as f64 / LEVELS as f64).round() as i32;
        for level in 0..LEVELS {
            let (r, g, b) = color(self.turned(level));
            // A unit of overlap, or seams show.
            let below = if level == 0 {
                bottom
            } else {
                (edge(level) + 1).min(bottom)
            };
            canvas.fill(
                [(left, edge(level + 1)), (right, below)],
                Role::Fixed(r, g, b),
                1.0,
            );
        }
        canvas.frame([(left, top), (right, bottom)], Role::Ink, 2);
        for tick in self.extent.ticks(5) {
            let y = bottom - (tick.at * height).round() as i32;
            canvas.line(vec![(right, y), (right + 10, y)], Role::Ink, THIN, 1.0);
            let room = f64::from(start + BAR - right - 14 - 56) / FONT;
            let size = if ems(&tick.label) > room {
                FONT * 0.75
            } else {
                FONT
            };
            canvas.text_sized(&tick.label, (right + 16, y), Anchor::Left, size, Role::Ink);
        }
        let label = fit(label, height / FONT);
        canvas.text_up(
            &label,
            (start + BAR - 26, (top + bottom) / 2),
            Anchor::Center,
            FONT,
        );
    }
}

fn color(level: usize) -> (u8, u8, u8) {
    let color = ViridisRGB.get_color(level as f64 / (LEVELS - 1) as f64);
    (color.0, color.1, color.2)
}

/// Rectangles of many colors, as one path per color.
#[derive(Default)]
pub(super) struct Cells {
    paths: Vec<String>,
}

impl Cells {
    /// A cell from corner to corner; `None`: no value.
    pub fn add(&mut self, level: Option<usize>, (x0, y0): (i32, i32), (x1, y1): (i32, i32)) {
        let slot = level.unwrap_or(LEVELS);
        self.paths.resize(LEVELS + 1, String::new());
        let (width, height) = (x1 - x0, y1 - y0);
        // Writing to a string cannot fail.
        let _ = write!(self.paths[slot], "M{x0} {y0}h{width}v{height}h-{width}z");
    }

    /// The paths as elements.
    pub fn to_svg(&self) -> String {
        let mut svg = String::new();
        for (level, path) in self
            .paths
            .iter()
            .enumerate()
            .filter(|(_, path)| !path.is_empty())
        {
            let paint = if level < LEVELS {
                let (r, g, b) = color(level);
                format!("fill=\"#{r:02X}{g:02X}{b:02X}\"")
            } else {
                "fill=\"currentColor\" opacity=\"0.15\"".to_owned()
            };
            let _ = writeln!(
                svg,
                "<path shape-rendering=\"crispEdges\" {paint} d=\"{path}\"/>"
            );
        }
        svg
    }
}
