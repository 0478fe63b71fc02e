//! The canvas: the SVG backend of plotters, with roles instead of colors. Roles become classes and attributes when the
//! drawing is finished.

use plotters::coord::Shift;
use plotters::element::{Circle, Drawable, PathElement, PointCollection, Polygon, Rectangle, Text};
use plotters::prelude::{DrawingArea, IntoDrawingArea, RGBColor, SVGBackend};
use plotters::style::text_anchor::{HPos, Pos, VPos};
use plotters::style::{
    Color, FontDesc, FontFamily, FontStyle, FontTransform, ShapeStyle, TextStyle,
};

use super::paths::{self, Grid};
use super::text::{clean, escape};

/// Units of a column of 84 mm: 16 a millimeter, since plotters draws at whole units only.
pub(super) const WIDTH: i32 = 1344;
/// The size of all text but that in small cells, in units: 7 pt at 84 mm.
pub(super) const FONT: f64 = 40.0;
/// Width of the lines of series.
pub(super) const STROKE: u32 = 6;
/// The opacity of a grid, which nothing else has.
pub(super) const GRID: f64 = 0.15;
/// Width of axes and marks.
pub(super) const THIN: u32 = 3;

/// The title and description of a picture, also for screen readers.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Caption {
    /// A short name.
    pub title: String,
    /// What the picture shows.
    pub description: String,
}

impl Caption {
    /// A caption from a title and a description.
    pub fn new(title: impl Into<String>, description: impl Into<String>) -> Self {
        Caption {
            title: title.into(),
            description: description.into(),
        }
    }
}

/// The role of a drawn element, which determines its color.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    /// In the color of the surrounding text.
    Ink,
    /// In the color of a series.
    Series(usize),
    /// In the color of a series, with dashes of their own.
    Dashed {
        /// The number that selects the color.
        series: usize,
        /// The number that selects the dashes.
        dashes: usize,
    },
    /// In a fixed color on any background.
    Fixed(u8, u8, u8),
}

/// The colors of Okabe and Ito without light yellow and with gray instead of black, then wine and light gray.
const PALETTE: [&str; 9] = [
    "#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#7F7F7F", "#882255",
    "#BFBFBF",
];
/// The first of eight series whose colors form a hierarchy: four cool and four warm; of each, two hues; of each hue,
/// dark and light.
pub const NESTED: usize = 200;
/// Dark and light blue, dark and light green, dark and light red, dark and light orange.
const NESTED_COLORS: [&str; 8] = [
    "#08519C", "#6BAED6", "#006D2C", "#74C476", "#A50F15", "#FB6A4A", "#A65300", "#FDAE3B",
];

/// The color of a series.
fn color(series: usize) -> &'static str {
    let nested = series.checked_sub(NESTED);
    nested
        .and_then(|at| NESTED_COLORS.get(at).copied())
        .unwrap_or(PALETTE[series % PALETTE.len()])
}
const DASHES: [&str; 6] = [
    "",
    "30 12",
    "8 12",
    "30 12 8 12",
    "54 12",
    "30 10 6 10 6 10",
];

impl Role {
    /// The color that encodes the role until the drawing is finished. Color ramps do not use these.
    fn token(self) -> RGBColor {
        match self {
            Role::Ink => RGBColor(1, 0, 0),
            Role::Series(series) => RGBColor(1, 1, (series % 255) as u8),
            Role::Dashed { series, dashes } => {
                RGBColor(1, 2 + (dashes % DASHES.len()) as u8, (series % 255) as u8)
            }
            Role::Fixed(r, g, b) => RGBColor(r, g, b),
        }
    }
}

type Area<'t> = DrawingArea<SVGBackend<'t>, Shift>;

/// The canvas.
pub(super) struct Canvas<'t> {
    area: Area<'t>,
}

/// The position of a text relative to its anchor point.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Anchor {
    /// Begins there, its middle at the height.
    Left,
    /// Ends there, its middle at the height.
    Right,
    /// Around the place.
    Center,
    /// Below the place, around it.
    Below,
}

/// Draws a picture with a given height.
pub(super) fn draw(caption: &Caption, height: i32, drawing: impl FnOnce(&Canvas<'_>)) -> String {
    draw_over(caption, (WIDTH, height), "", drawing)
}

/// The same with a given width too, on top of given SVG elements.
pub(super) fn draw_over(
    caption: &Caption,
    (width, height): (i32, i32),
    under: &str,
    drawing: impl FnOnce(&Canvas<'_>),
) -> String {
    let mut text = String::new();
    let size = (width as u32, height.max(1) as u32);
    drawing(&Canvas {
        area: SVGBackend::with_string(&mut text, size).into_drawing_area(),
    });
    finish(&text, caption, (width, height), under)
}

impl Canvas<'_> {
    /// Writing to a string cannot fail, so drawing cannot fail either.
    fn put<'e, E>(&self, element: &'e E)
    where
        for<'b> &'b E: PointCollection<'b, (i32, i32)>,
        for<'t> E: Drawable<SVGBackend<'t>>,
    {
        let _ = self.area.draw(element);
    }

    pub fn line(&self, points: Vec<(i32, i32)>, role: Role, width: u32, opacity: f64) {
        if points.len() > 1 {
            self.put(&PathElement::new(
                points,
                style(role, opacity, false, width),
            ));
        }
    }

    pub fn polygon(&self, points: Vec<(i32, i32)>, role: Role, opacity: f64) {
        if points.len() > 2 {
            self.put(&Polygon::new(points, style(role, opacity, true, 0)));
        }
    }

    pub fn fill(&self, corners: [(i32, i32); 2], role: Role, opacity: f64) {
        self.put(&Rectangle::new(corners, style(role, opacity, true, 0)));
    }

    /// The outline of a rectangle.
    pub fn frame(&self, [(x0, y0), (x1, y1)]: [(i32, i32); 2], role: Role, width: u32) {
        let path = vec![(x0, y0), (x1, y0), (x1, y1), (x0, y1), (x0, y0), (x1, y0)];
        self.line(path, role, width, 1.0);
    }

    pub fn circle(&self, at: (i32, i32), radius: i32, role: Role, filled: bool) {
        self.put(&Circle::new(at, radius, style(role, 1.0, filled, THIN + 2)));
    }

    /// The marker of a reference value.
    pub fn open_square(&self, (x, y): (i32, i32), series: usize) {
        let corners = [(x - 15, y - 15), (x + 15, y + 15)];
        self.frame(corners, Role::Series(series), STROKE - 1);
    }

    /// The marker of a series at a place.
    pub fn marker(&self, (x, y): (i32, i32), series: usize, radius: i32) {
        let role = Role::Series(series);
        let r = radius;
        match series % 4 {
            0 => self.circle((x, y), r, role, true),
            1 => self.polygon(
                vec![
                    (x - r, y - r),
                    (x + r, y - r),
                    (x + r, y + r),
                    (x - r, y + r),
                ],
                role,
                1.0,
            ),
            2 => self.polygon(
                vec![(x, y - r - 3), (x + r + 2, y + r), (x - r - 2, y + r)],
                role,
                1.0,
            ),
            _ => self.polygon(
                vec![
                    (x, y - r - 4),
                    (x + r + 4, y),
                    (x, y + r + 4),
                    (x - r - 4, y),
                ],
                role,
                1.0,
            ),
        }
    }

    pub fn text(&self, text: &str, at: (i32, i32), anchor: Anchor) {
        self.write(text, at, anchor, FONT, Role::Ink, FontTransform::None);
    }

    pub fn text_sized(&self, text: &str, at: (i32, i32), anchor: Anchor, size: f64, role: Role) {
        self.write(text, at, anchor, size, role, FontTransform::None);
    }

    /// Text that reads from bottom to top.
    pub fn text_up(&self, text: &str, at: (i32, i32), anchor: Anchor, size: f64) {
        self.write(text, at, anchor, size, Role::Ink, FontTransform::Rotate270);
    }

    fn write(
        &self,
        text: &str,
        at: (i32, i32),
        anchor: Anchor,
        size: f64,
        role: Role,
        turn: FontTransform,
    ) {
        let (horizontal, vertical) = match anchor {
            Anchor::Left => (HPos::Left, VPos::Center),
            Anchor::Right => (HPos::Right, VPos::Center),
            Anchor::Center => (HPos::Center, VPos::Center),
            Anchor::Below => (HPos::Center, VPos::Top),
        };
        // The backend divides by this.
        let font =
            FontDesc::new(FontFamily::SansSerif, size * 1.24, FontStyle::Normal).transform(turn);
        let color = role.token();
        let style = TextStyle::from(font)
            .color(&color)
            .pos(Pos::new(horizontal, vertical));
        self.put(&Text::new(clean(text), at, style));
    }
}

fn style(role: Role, opacity: f64, filled: bool, stroke_width: u32) -> ShapeStyle {
    ShapeStyle {
        color: role.token().mix(opacity),
        filled,
        stroke_width,
    }
}

/// The same picture as a standalone file: dark on white.
pub fn on_white(svg: &str) -> String {
    let style = " role=\"img\" style=\"background:#fff;color:#1a1a1a\"";
    svg.replacen(" role=\"img\"", style, 1)
}

/// Converts the output of the backend: scalable, with title and description, with roles instead of colors.
fn finish(drawn: &str, caption: &Caption, (width, height): (i32, i32), under: &str) -> String {
    let body = drawn.split_once(">\n").map_or("", |(_, body)| body);
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" role=\"img\" \
         class=\"leakgauge-plot\" font-family=\"sans-serif\" font-size=\"{FONT}\" fill=\"currentColor\" stroke-linejoin=\"round\">\n<title>{}</title>\n<desc>{}</desc>\n",
        escape(&caption.title),
        escape(&caption.description),
    );
    svg.push_str(under);
    let mut is_text = false;
    let mut grid = Grid::default();
    let is_grid = format!(" opacity=\"{GRID}\"");
    for line in body.lines() {
        let path = paths::of(line);
        // Names of lines of a grid stand between them.
        if let Some((before, moves)) = path.as_ref().filter(|path| path.0.contains(&is_grid)) {
            grid.push(before, moves);
            continue;
        }
        let is_of_text = is_text || line.starts_with("<text");
        if !is_of_text && let Some(path) = grid.take() {
            put(&path, &mut svg);
        }
        // Only tags have attributes; a label that looks like one is text, and text has no quotes.
        if let Some(path) = path {
            put(&path, &mut svg);
            continue;
        }
        if line.starts_with('<') {
            attributes(line, &mut svg);
        } else {
            svg.push_str(line);
        }
        // A text is one line.
        is_text = line.starts_with("<text") || is_text && line != "</text>";
        if !is_text {
            svg.push('\n');
        }
    }
    svg
}

fn put((before, line): &(String, String), svg: &mut String) {
    attributes(&format!("{before} d=\"{line}\"/>"), svg);
    svg.push('\n');
}

fn attributes(tag: &str, svg: &mut String) {
    let tag = tag
        .replace(" opacity=\"1\"", "")
        .replace(" font-family=\"sans-serif\"", "")
        .replace(" stroke=\"none\"", "")
        .replace(" \"/>", "\"/>");
    // The root says it for most texts.
    let tag = match tag.starts_with("<text") {
        true => tag
            .replace(" text-anchor=\"start\"", "")
            .replace(&format!(" font-size=\"{FONT}\""), "")
            .replace(" fill=\"#010000\"", ""),
        false => tag,
    };
    let Some(at) = tag.find("\"#01") else {
        svg.push_str(&tag);
        return;
    };
    let (kind, series) = (&tag[at + 4..at + 6], &tag[at + 6..at + 8]);
    let series = usize::from_str_radix(series, 16).unwrap_or(0);
    svg.push_str(&tag[..at]);
    if kind == "00" {
        svg.push_str("\"currentColor\"");
    } else {
        svg.push_str(&format!("\"{}\" class=\"series-{series}\"", color(series)));
    }
    let kind = usize::from_str_radix(kind, 16).unwrap_or(0);
    let dashes = kind.checked_sub(2).and_then(|dashes| DASHES.get(dashes));
    if let Some(dashes) = dashes.filter(|dashes| !dashes.is_empty()) {
        svg.push_str(&format!(" stroke-dasharray=\"{dashes}\""));
    }
    svg.push_str(&tag[at + 9..]);
}
