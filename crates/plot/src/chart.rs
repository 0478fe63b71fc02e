//! Charts: lines, steps, points with limits, bands, regions and rules over two axes.

use std::ops::RangeInclusive;

use super::axis::{Axis, Extent};
use super::canvas::{Anchor, Canvas, Caption, FONT, Role, STROKE, THIN, draw};
use super::frame::{Entry, Frame, LINE, Legend, RADIUS, Sample};
use super::hover::{Tip, between, short, with_limits, with_tips};
use super::text::{ems, fit};

/// A chart.
#[derive(Debug, Clone, PartialEq)]
pub struct Chart {
    /// Title and description.
    pub caption: Caption,
    /// The horizontal axis.
    pub x: Axis,
    /// The vertical axis.
    pub y: Axis,
    /// The layers, the last on top.
    pub layers: Vec<Layer>,
    /// Height over width of the plot area.
    pub aspect: f64,
}

/// A layer of a chart.
#[derive(Debug, Clone, PartialEq)]
pub struct Layer {
    /// Its name in the legend; if empty, it is not listed.
    pub name: String,
    /// The number that selects color and marker; layers that belong together share it.
    pub series: usize,
    /// The number that selects the dashes of lines; that of the series unless said.
    pub dashes: usize,
    /// The radius of its points, 1 for the usual one. The legend shows the usual one.
    pub size: f64,
    /// The marks that are drawn.
    pub mark: Mark,
}

/// The marks of a layer. Parts outside the axes are clipped. Points that are not finite, or not positive on a
/// logarithmic axis, interrupt a line.
#[derive(Debug, Clone, PartialEq)]
pub enum Mark {
    /// A line through points.
    Line(Vec<(f64, f64)>),
    /// A step line, constant between points.
    Step(Vec<(f64, f64)>),
    /// Single points, with confidence limits if they have any.
    Points(Vec<Spot>),
    /// Texts beside points: to the right of them, or to the left where the area ends. They are not listed in the
    /// legend.
    Labels(Vec<((f64, f64), String)>),
    /// The band between two curves: (x, lower, upper).
    Band(Vec<(f64, f64, f64)>),
    /// A filled polygon.
    Region(Vec<(f64, f64)>),
    /// A thin horizontal line.
    Level(f64),
    /// A thin line through two points, in the color of the text.
    Rule((f64, f64), (f64, f64)),
}

/// A point with confidence limits of its y; `None` if there is no limit.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Spot {
    /// The x coordinate.
    pub x: f64,
    /// The y coordinate; `None` to draw only the limits.
    pub y: Option<f64>,
    /// The lower limit.
    pub lower: Option<f64>,
    /// The upper limit.
    pub upper: Option<f64>,
}

impl Layer {
    /// A layer.
    pub fn new(name: impl Into<String>, series: usize, mark: Mark) -> Self {
        Layer {
            name: name.into(),
            series,
            // Beyond six, dashes recur beside other colors.
            dashes: if series < 6 { series } else { series % 5 },
            size: 1.0,
            mark,
        }
    }

    /// The same with dashes of their own: 0 for none, 2 for dots. So color can mean one thing and dashes another.
    #[must_use]
    pub fn with_dashes(mut self, dashes: usize) -> Self {
        self.dashes = dashes;
        self
    }

    /// The same with points of another size: small for a cloud of hundreds, different ones where points may coincide.
    #[must_use]
    pub fn with_size(mut self, size: f64) -> Self {
        self.size = size;
        self
    }

    fn entry(&self) -> Entry {
        let sample = match self.mark {
            Mark::Line(_) | Mark::Step(_) => Sample::Line,
            Mark::Points(_) => Sample::Marker,
            Mark::Band(_) | Mark::Region(_) => Sample::Area,
            Mark::Level(_) | Mark::Rule(..) | Mark::Labels(_) => Sample::Rule,
        };
        let is_listed = !matches!(self.mark, Mark::Labels(_));
        Entry {
            name: if is_listed {
                self.name.clone()
            } else {
                String::new()
            },
            series: self.series,
            dashes: self.dashes,
            sample,
        }
    }

    fn xs(&self) -> Vec<f64> {
        match &self.mark {
            Mark::Line(points) | Mark::Step(points) | Mark::Region(points) => {
                points.iter().map(|point| point.0).collect()
            }
            Mark::Labels(labels) => labels.iter().map(|(point, _)| point.0).collect(),
            Mark::Points(spots) => spots.iter().map(|spot| spot.x).collect(),
            Mark::Band(band) => band.iter().map(|&(x, ..)| x).collect(),
            Mark::Level(_) => Vec::new(),
            Mark::Rule(from, to) => vec![from.0, to.0],
        }
    }

    fn ys(&self) -> Vec<f64> {
        match &self.mark {
            Mark::Line(points) | Mark::Step(points) | Mark::Region(points) => {
                points.iter().map(|point| point.1).collect()
            }
            Mark::Labels(labels) => labels.iter().map(|(point, _)| point.1).collect(),
            Mark::Points(spots) => spots
                .iter()
                .flat_map(|spot| [spot.y, spot.lower, spot.upper])
                .flatten()
                .collect(),
            Mark::Band(band) => band
                .iter()
                .flat_map(|&(_, lower, upper)| [lower, upper])
                .collect(),
            Mark::Level(y) => vec![*y],
            Mark::Rule(from, to) => vec![from.1, to.1],
        }
    }
}

/// Draws a chart with its legend above it. Its named layers are read where a pointer rests.
pub fn chart(chart: &Chart) -> String {
    chart_with(chart, |frame| columns(&chart.x, &chart.layers, frame))
}

/// The same, with other values where a pointer rests.
pub(super) fn chart_with(chart: &Chart, tips: impl FnOnce(&Frame) -> Vec<Tip>) -> String {
    let x = Extent::new(&chart.x, chart.layers.iter().flat_map(Layer::xs));
    let y = Extent::new(&chart.y, chart.layers.iter().flat_map(Layer::ys));
    let legend = Legend::new(chart.layers.iter().map(Layer::entry));
    let frame = Frame::new(x, y, legend.height, chart.aspect);
    let drawn = draw(&chart.caption, frame.total_height(), |canvas| {
        legend.draw(canvas);
        frame.draw(canvas, &chart.x, &chart.y);
        for layer in &chart.layers {
            draw_layer(canvas, &frame, layer);
        }
    });
    with_tips(drawn, &tips(&frame))
}

fn draw_layer(canvas: &Canvas<'_>, frame: &Frame, layer: &Layer) {
    let series = layer.series;
    let dashed = Role::Dashed {
        series,
        dashes: layer.dashes,
    };
    match &layer.mark {
        Mark::Line(points) => line(canvas, frame, points, dashed, STROKE),
        Mark::Step(points) => line(canvas, frame, &stepped(points), dashed, STROKE),
        Mark::Points(spots) => {
            for spot in spots {
                draw_spot(canvas, frame, spot, layer);
            }
        }
        Mark::Labels(labels) => {
            for (point, text) in labels {
                draw_label(canvas, frame, *point, text);
            }
        }
        Mark::Band(band) => {
            let lower = band.iter().map(|&(x, lower, _)| (x, lower));
            let upper = band.iter().rev().map(|&(x, _, upper)| (x, upper));
            region(canvas, frame, lower.chain(upper), series);
        }
        Mark::Region(points) => region(canvas, frame, points.iter().copied(), series),
        Mark::Level(y) => {
            if let Some(up) = frame.y.place(*y).filter(|up| (0.0..=1.0).contains(up)) {
                let y = frame.up(up).round() as i32;
                canvas.line(
                    vec![(frame.left, y), (frame.right, y)],
                    Role::Ink,
                    THIN,
                    1.0,
                );
            }
        }
        Mark::Rule(from, to) => line(canvas, frame, &[*from, *to], Role::Ink, THIN),
    }
}

/// Draws a text beside a point, on the side where it stays inside the area.
fn draw_label(canvas: &Canvas<'_>, frame: &Frame, point: (f64, f64), text: &str) {
    let Some(place) = frame.place(point).filter(|place| frame.holds(*place)) else {
        return;
    };
    const BESIDE: i32 = 22;
    let (x, y) = frame.clamp(place);
    let text = fit(text, f64::from(frame.right - frame.left) / FONT / 2.0);
    let fits = x + BESIDE + (ems(&text) * FONT) as i32 <= frame.right;
    let y = y.clamp(frame.top + LINE / 2, frame.bottom - LINE / 2);
    match fits {
        true => canvas.text(&text, (x + BESIDE, y), Anchor::Left),
        false => canvas.text(&text, (x - BESIDE, y), Anchor::Right),
    }
}

/// The vertices of a step line.
fn stepped(points: &[(f64, f64)]) -> Vec<(f64, f64)> {
    let mut path = Vec::with_capacity(2 * points.len());
    for (at, &(x, y)) in points.iter().enumerate() {
        if at > 0 {
            path.push((x, points[at - 1].1));
        }
        path.push((x, y));
    }
    path
}

/// The parts of a line inside the plot area, one path each.
fn line(canvas: &Canvas<'_>, frame: &Frame, points: &[(f64, f64)], role: Role, width: u32) {
    let mut path: Vec<(i32, i32)> = Vec::new();
    let mut before: Option<(f64, f64)> = None;
    for &point in points {
        let place = frame.place(point);
        match before
            .zip(place)
            .and_then(|(from, to)| clip(frame, from, to))
        {
            None => canvas.line(std::mem::take(&mut path), role, width, 1.0),
            Some((from, to)) => {
                let (from, to) = (frame.clamp(from), frame.clamp(to));
                if path.last() != Some(&from) {
                    canvas.line(std::mem::take(&mut path), role, width, 1.0);
                    path.push(from);
                }
                push(&mut path, to);
            }
        }
        before = place;
    }
    canvas.line(path, role, width, 1.0);
}

/// Adds a point to a path, or moves its end there if the path continues straight horizontally or vertically.
fn push(path: &mut Vec<(i32, i32)>, to: (i32, i32)) {
    if path.last() == Some(&to) && path.len() > 1 {
        return;
    }
    if let [.., a, b] = path[..] {
        let level = a.1 == b.1 && b.1 == to.1 && (b.0 - a.0).signum() == (to.0 - b.0).signum();
        let upright = a.0 == b.0 && b.0 == to.0 && (b.1 - a.1).signum() == (to.1 - b.1).signum();
        if level || upright {
            path.pop();
        }
    }
    path.push(to);
}

/// The part of a segment inside the plot area (Liang–Barsky clipping).
fn clip(frame: &Frame, from: (f64, f64), to: (f64, f64)) -> Option<((f64, f64), (f64, f64))> {
    let (dx, dy) = (to.0 - from.0, to.1 - from.1);
    let sides = [
        (-dx, from.0 - f64::from(frame.left)),
        (dx, f64::from(frame.right) - from.0),
        (-dy, from.1 - f64::from(frame.top)),
        (dy, f64::from(frame.bottom) - from.1),
    ];
    let (mut enter, mut leave) = (0.0f64, 1.0f64);
    for (toward, distance) in sides {
        if toward == 0.0 {
            // A hair of rounding outside is inside.
            if distance < -0.5 {
                return None;
            }
        } else if toward < 0.0 {
            enter = enter.max(distance / toward);
        } else {
            leave = leave.min(distance / toward);
        }
    }
    let at = |share: f64| (from.0 + share * dx, from.1 + share * dy);
    (enter <= leave + 1e-9).then(|| (at(enter), at(leave.max(enter))))
}

fn region(
    canvas: &Canvas<'_>,
    frame: &Frame,
    points: impl Iterator<Item = (f64, f64)>,
    series: usize,
) {
    let mut path: Vec<(i32, i32)> = Vec::new();
    for place in points.filter_map(|point| frame.place(point)) {
        push(&mut path, frame.clamp(place));
    }
    canvas.polygon(path, Role::Series(series), 0.3);
}

fn draw_spot(canvas: &Canvas<'_>, frame: &Frame, spot: &Spot, layer: &Layer) {
    let series = layer.series;
    let up = |y: Option<f64>| frame.place((spot.x, y?));
    let anchor = spot.y.or(spot.lower).or(spot.upper);
    let Some(middle) = up(anchor).filter(|&(x, _)| frame.holds((x, f64::from(frame.top)))) else {
        return;
    };
    const CAP: i32 = 12;
    for limit in [spot.lower, spot.upper].into_iter().filter_map(up) {
        let ((x, end), (_, from)) = (frame.clamp(limit), frame.clamp(middle));
        canvas.line(
            vec![(x, from), (x, end)],
            Role::Series(series),
            STROKE - 1,
            1.0,
        );
        // A limit beyond the axis has an arrowhead where it leaves.
        let back = CAP * (from - end).signum();
        let mark = if frame.holds(limit) {
            vec![(x - CAP, end), (x + CAP, end)]
        } else {
            vec![(x - CAP, end + back), (x, end), (x + CAP, end + back)]
        };
        canvas.line(mark, Role::Series(series), STROKE - 1, 1.0);
    }
    if spot.y.is_some() && frame.holds(middle) {
        let radius = (f64::from(RADIUS) * layer.size).clamp(2.0, 60.0);
        canvas.marker(frame.clamp(middle), series, radius.round() as i32);
    }
}

/// Places on the axis that have a column each. More, or the few corners of lines, share columns of the same width.
const PLACES: RangeInclusive<usize> = 8..=40;
const COLUMNS: usize = 20;

/// Columns of a chart, each with what its named layers are there.
fn columns(x: &Axis, layers: &[Layer], frame: &Frame) -> Vec<Tip> {
    let named = || layers.iter().filter(|layer| !layer.name.is_empty());
    let mut places: Vec<f64> = named().flat_map(places_of).collect();
    places.retain(|&x| {
        let at = frame.x.place(x);
        at.is_some_and(|at| (-1e-9..=1.0 + 1e-9).contains(&at))
    });
    places.sort_by(f64::total_cmp);
    places.dedup();
    let across = |at: f64| frame.across(at).round() as i32;
    let has_points = layers
        .iter()
        .any(|layer| matches!(layer.mark, Mark::Points(_)));
    let is_exact = match places.len() {
        0 => return Vec::new(),
        count => PLACES.contains(&count) || has_points && count <= *PLACES.end(),
    };
    let shares: Vec<f64> = match is_exact {
        true => places.iter().filter_map(|&x| frame.x.place(x)).collect(),
        false => (0..COLUMNS)
            .map(|at| (at as f64 + 0.5) / COLUMNS as f64)
            .collect(),
    };
    let tip = |at: usize| {
        let middle = |a: f64, b: f64| 0.5 * (a + b);
        let from = at
            .checked_sub(1)
            .map_or(0.0, |before| middle(shares[before], shares[at]));
        let to = shares
            .get(at + 1)
            .map_or(1.0, |&after| middle(shares[at], after));
        let here = match is_exact {
            true => places[at],
            false => frame.x.value(shares[at]),
        };
        let ends = [frame.x.value(from), frame.x.value(to)];
        let parts: Vec<String> = named()
            .filter_map(|layer| Some(format!("\n{}: {}", layer.name, value(layer, here, ends)?)))
            .collect();
        let corners = [(across(from), frame.top), (across(to), frame.bottom)];
        (!parts.is_empty()).then(|| Tip {
            corners,
            text: format!("{} {}{}", x.label, short(here), parts.concat()),
        })
    };
    (0..shares.len()).filter_map(tip).collect()
}

fn places_of(layer: &Layer) -> Vec<f64> {
    match &layer.mark {
        Mark::Line(points) | Mark::Step(points) => points.iter().map(|point| point.0).collect(),
        Mark::Points(spots) => spots.iter().map(|spot| spot.x).collect(),
        Mark::Band(band) => band.iter().map(|part| part.0).collect(),
        Mark::Region(_) | Mark::Labels(_) | Mark::Level(_) | Mark::Rule(..) => Vec::new(),
    }
}

/// What a layer is at a place, or between the ends of a column.
fn value(layer: &Layer, x: f64, ends: [f64; 2]) -> Option<String> {
    match &layer.mark {
        Mark::Line(points) => between(points, x).map(short),
        Mark::Step(points) => {
            let upto = points.iter().take_while(|point| point.0 <= x);
            let last = upto.last().filter(|point| point.1.is_finite())?;
            Some(short(last.1))
        }
        Mark::Points(spots) => of_spots(spots, ends),
        Mark::Band(band) => {
            let edge = |which: fn(&(f64, f64, f64)) -> f64| {
                let line: Vec<(f64, f64)> = band.iter().map(|part| (part.0, which(part))).collect();
                between(&line, x).map(short)
            };
            Some(format!(
                "{} to {}",
                edge(|part| part.1)?,
                edge(|part| part.2)?
            ))
        }
        Mark::Level(y) => Some(short(*y)),
        Mark::Region(_) | Mark::Labels(_) | Mark::Rule(..) => None,
    }
}

fn of_spots(spots: &[Spot], [from, to]: [f64; 2]) -> Option<String> {
    let inside = spots.iter().filter(|spot| from <= spot.x && spot.x <= to);
    let inside: Vec<&Spot> = inside.collect();
    if let [spot] = inside[..] {
        return with_limits(spot.y, spot.lower, spot.upper);
    }
    let ys = || {
        inside
            .iter()
            .filter_map(|spot| spot.y)
            .filter(|y| y.is_finite())
    };
    let (least, most) = (ys().min_by(f64::total_cmp)?, ys().max_by(f64::total_cmp)?);
    Some(format!("{} to {}", short(least), short(most)))
}

#[cfg(test)]
mod tests {
    use super::super::testing::{check, hostile};
    use super::*;

    fn line_chart(points: Vec<(f64, f64)>, y: Axis) -> Chart {
        Chart {
            caption: Caption::new(hostile(), hostile()),
            x: Axis::linear(hostile()),
            y,
            layers: vec![Layer::new(hostile(), 0, Mark::Line(points))],
            aspect: 0.6,
        }
    }

    #[test]
    fn any_data_give_a_picture() {
        let odd = [
            vec![],
            vec![(0.0, 1.0)],
            vec![
                (f64::NAN, 1.0),
                (1.0, f64::INFINITY),
                (2.0, 0.0),
                (3.0, 5.0),
            ],
            vec![(-1e308, -1e308), (1e308, 1e308)],
            (0..100_000)
                .map(|k| (f64::from(k), f64::from(k % 7)))
                .collect(),
        ];
        for points in odd {
            for y in [Axis::linear(hostile()), Axis::log("y").from_to(1e-9, 1.0)] {
                check(&chart(&line_chart(points.clone(), y)));
            }
        }
    }

    /// A line that leaves the axes and comes back is two, cut at the edge.
    #[test]
    fn lines_are_cut_at_the_axes() {
        let points = vec![(0.0, 0.5), (1.0, 2.0), (2.0, 2.0), (3.0, 0.5)];
        let svg = chart(&line_chart(points, Axis::linear("").from_to(0.0, 1.0)));
        let paths: Vec<&str> = svg
            .lines()
            .filter(|line| line.contains("stroke-width=\"6\""))
            .collect();
        // One is the legend's.
        assert_eq!(paths.len(), 3, "{svg}");
        check(&svg);
    }

    #[test]
    fn limits_that_do_not_exist_are_not_drawn() {
        let spots = |upper| {
            let spot = Spot {
                x: 1.0,
                y: Some(0.5),
                lower: Some(0.2),
                upper,
            };
            let mut data = line_chart(Vec::new(), Axis::linear("").from_to(0.0, 1.0));
            data.layers[0].mark = Mark::Points(vec![spot]);
            let svg = chart(&data);
            check(&svg);
            svg.lines()
                .filter(|line| line.starts_with("<path") && line.contains("stroke-width=\"5\""))
                .count()
        };
        assert_eq!((spots(None), spots(Some(0.7))), (2, 4));
    }

    /// A label at the right edge goes to the left of its point; the legend lists no labels.
    #[test]
    fn labels_stay_inside_the_area() {
        let mut data = line_chart(Vec::new(), Axis::linear("").from_to(0.0, 1.0));
        data.x = Axis::linear("").from_to(0.0, 1.0);
        let at = [0.0, 0.99].map(|x| ((x, 1.0), "a label".to_owned()));
        data.layers = vec![Layer::new("listed", 0, Mark::Labels(at.to_vec()))];
        let svg = chart(&data);
        check(&svg);
        assert!(!svg.contains("listed"));
        let anchors = [false, true].map(|at_end| {
            let labels = svg.lines().filter(|line| line.ends_with(">a label</text>"));
            let is_such = |line: &&str| line.contains("text-anchor=\"end\"") == at_end;
            labels.filter(is_such).count()
        });
        assert_eq!(anchors, [1, 1], "{svg}");
    }

    #[test]
    fn points_have_a_size_and_the_legend_the_usual_one() {
        let mut data = line_chart(Vec::new(), Axis::linear(""));
        let at = |x| Spot {
            x,
            y: Some(x),
            ..Spot::default()
        };
        let points = Mark::Points([0.0, 1.0, f64::NAN].map(at).to_vec());
        data.layers = vec![Layer::new("cloud", 0, points).with_size(0.5)];
        let svg = chart(&data);
        check(&svg);
        let circles = |radius: i32| svg.matches(&format!(" r=\"{radius}\"")).count();
        assert_eq!((circles(7), circles(RADIUS)), (2, 1), "{svg}");
    }

    #[test]
    fn the_same_data_give_the_same_bytes() {
        let data = line_chart(vec![(0.0, 0.5), (1.0, 2.0)], Axis::linear("y"));
        assert_eq!(chart(&data), chart(&data));
    }
}
