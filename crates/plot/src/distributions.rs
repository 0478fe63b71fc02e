//! Two distributions of observations in one picture.

use libm::pow;

use super::axis::{Axis, Extent, Scale};
use super::canvas::GRID;
use super::canvas::{Anchor, Canvas, Caption, FONT, Role, draw};
use super::chart::{Chart, Layer, Mark, chart_with};
use super::frame::{Entry, Frame, GAP, LINE, Legend, Sample};
use super::hover::{Tip, short, with_tips};
use super::text::{ems, fit};

/// Histograms of a number under two secrets, with common bins.
#[derive(Debug, Clone, PartialEq)]
pub struct Histograms {
    /// Title and description.
    pub caption: Caption,
    /// The axis of the observation.
    pub x: Axis,
    /// The label of the heights: a density, or a share of rows.
    pub y_label: String,
    /// The labels of the two secrets.
    pub names: [String; 2],
    /// The edges of the bins, one more than the number of bins.
    pub edges: Vec<f64>,
    /// The height of each bin, for each secret.
    pub heights: [Vec<f64>; 2],
    /// For each secret, the heights of what lies before the first edge and after the last; drawn as bins of their own
    /// beside the histogram unless both secrets have 0.
    pub outside: [[f64; 2]; 2],
}

/// Distance of a bin of what lies outside, and its width, as shares of the range of the edges.
const OUTSIDE: (f64, f64) = (0.02, 0.05);

/// Draws two histograms on top of each other, with outline and transparent fill so that both are visible.
pub fn histograms(data: &Histograms) -> String {
    let mut layers = Vec::new();
    let (x, ends) = with_ends(data);
    for (series, heights) in data.heights.iter().enumerate() {
        layers.push(Layer::new(
            "",
            series,
            Mark::Region(outline(&data.edges, heights)),
        ));
        for (edges, height) in ends.iter().zip(data.outside[series]) {
            let Some(edges) = edges else { continue };
            let path = outline(edges, &[height]);
            layers.push(Layer::new("", series, Mark::Region(path.clone())));
            layers.push(Layer::new("", series, Mark::Line(path)));
        }
    }
    for (series, (heights, name)) in data.heights.iter().zip(&data.names).enumerate() {
        layers.push(Layer::new(
            name,
            series,
            Mark::Line(outline(&data.edges, heights)),
        ));
    }
    let top = data
        .heights
        .iter()
        .flatten()
        .chain(data.outside.iter().flatten())
        .copied()
        .filter(|y| y.is_finite())
        .fold(0.0, f64::max);
    let mut y = Axis::linear(&data.y_label);
    if top > 0.0 {
        y = y.from_to(0.0, 1.05 * top);
    }
    let chart = Chart {
        caption: data.caption.clone(),
        x,
        y,
        layers,
        aspect: 0.6,
    };
    chart_with(&chart, |frame| bins(data, frame))
}

/// The bins, each with its heights.
fn bins(data: &Histograms, frame: &Frame) -> Vec<Tip> {
    let across = |x: f64| {
        let place = frame.x.place(x)?;
        Some(frame.across(place.clamp(0.0, 1.0)).round() as i32)
    };
    let bin = |(at, edges): (usize, &[f64])| {
        let heights = data
            .heights
            .each_ref()
            .map(|heights| heights.get(at).copied());
        let [one, other] = [heights[0]?, heights[1]?].map(short);
        let [from, to] = [across(edges[0])?, across(edges[1])?];
        let text = format!(
            "{} {} to {}: {} {one}, {} {other}",
            data.x.label,
            short(edges[0]),
            short(edges[1]),
            data.names[0],
            data.names[1],
        );
        (heights.iter().flatten().all(|height| height.is_finite())).then_some(Tip {
            corners: [(from, frame.top), (to, frame.bottom)],
            text,
        })
    };
    data.edges.windows(2).enumerate().filter_map(bin).collect()
}

/// The horizontal axis, with room for what lies outside; and the edges of the bins before and after the histogram.
fn with_ends(data: &Histograms) -> (Axis, [Option<[f64; 2]>; 2]) {
    let none = (data.x.clone(), [None; 2]);
    let (Some(&low), Some(&high)) = (data.edges.first(), data.edges.last()) else {
        return none;
    };
    let needed = [0, 1].map(|end| data.outside.iter().any(|heights| heights[end] > 0.0));
    let logarithmic = data.x.scale == Scale::Log;
    let is_usable = low < high && (high - low).is_finite() && (low > 0.0 || !logarithmic);
    if needed == [false; 2] || !is_usable {
        return none;
    }
    // What lies a share of the range before or after it.
    let at = |share: f64| match logarithmic {
        true => low * pow(high / low, share),
        false => low + share * (high - low),
    };
    let (gap, wide) = OUTSIDE;
    let ends = [
        needed[0].then(|| [at(-gap - wide), at(-gap)]),
        needed[1].then(|| [at(1.0 + gap), at(1.0 + gap + wide)]),
    ];
    let from = if needed[0] {
        at(-2.0 * gap - wide)
    } else {
        low
    };
    let to = if needed[1] {
        at(1.0 + 2.0 * gap + wide)
    } else {
        high
    };
    let mut x = data.x.clone().from_to(from, to);
    x.open = [
        ends[0].map(|_| (low, at(-gap - 0.5 * wide))),
        ends[1].map(|_| (high, at(1.0 + gap + 0.5 * wide))),
    ];
    (x, ends)
}

/// The outline of a histogram, from the baseline over all bins and back.
fn outline(edges: &[f64], heights: &[f64]) -> Vec<(f64, f64)> {
    let bins = edges.windows(2).zip(heights);
    let mut path: Vec<(f64, f64)> = bins
        .flat_map(|(edge, &height)| [(edge[0], height), (edge[1], height)])
        .collect();
    if let (Some(first), Some(last)) = (path.first().copied(), path.last().copied()) {
        path.insert(0, (first.0, 0.0));
        path.push((last.0, 0.0));
    }
    path
}

/// Probabilities of labels under two secrets.
#[derive(Debug, Clone, PartialEq)]
pub struct LabelBars {
    /// Title and description.
    pub caption: Caption,
    /// The label of the observation.
    pub x_label: String,
    /// The label of the heights: a probability, or a share of rows.
    pub y_label: String,
    /// The labels of the two secrets.
    pub names: [String; 2],
    /// The labels of the observations.
    pub labels: Vec<String>,
    /// The probability of each observation, for each secret.
    pub heights: [Vec<f64>; 2],
}

/// The largest number of bars; if there are more labels, the least likely share the last bar.
const MAX_BARS: usize = 24;

/// Draws pairs of bars. If there are more than 24 labels, the least likely share the last pair.
pub fn label_bars(data: &LabelBars) -> String {
    let bars = bars(data);
    let top = bars.iter().flat_map(|bar| bar.1).fold(0.0, f64::max);
    let x = Extent::new(&Axis::linear("").from_to(0.0, 1.0), std::iter::empty());
    let end = if top > 0.0 { 1.05 * top } else { 1.0 };
    let y_axis = Axis::linear(&data.y_label).from_to(0.0, end);
    let y = Extent::new(&y_axis, std::iter::empty());
    let legend = Legend::new(data.names.iter().enumerate().map(|(series, name)| Entry {
        name: name.clone(),
        series,
        dashes: series,
        sample: Sample::Bar,
    }));
    let mut frame = Frame::new(x, y, legend.height, 0.55);
    let wide = f64::from(frame.right - frame.left) / bars.len().max(1) as f64;
    let widest = bars.iter().map(|bar| ems(&bar.0)).fold(0.0, f64::max);
    let upright = widest * FONT + f64::from(GAP) > wide;
    // Long labels take the place of the line that numbers would stand on.
    let tall = if upright {
        (widest * SMALL).min(MAX_LENGTH) as i32
    } else {
        LINE
    };
    let height = frame.bottom + tall + LINE + 3 * GAP;
    let tips: Vec<Tip> = bars
        .iter()
        .enumerate()
        .map(|(at, (label, heights))| {
            let [from, to] =
                [at, at + 1].map(|at| (f64::from(frame.left) + wide * at as f64).round() as i32);
            let [one, other] = heights.map(short);
            let [first, second] = &data.names;
            Tip {
                corners: [(from, frame.top), (to, frame.bottom)],
                text: format!("{label}: {first} {one}, {second} {other}"),
            }
        })
        .collect();
    let drawn = draw(&data.caption, height, |canvas| {
        legend.draw(canvas);
        frame.draw_y_marks(canvas, GRID);
        for (at, bar) in bars.iter().enumerate() {
            let left = f64::from(frame.left) + wide * at as f64;
            draw_bar(canvas, &frame, bar, (left, wide), upright);
        }
        frame.draw_ends(canvas);
        frame.draw_y_label(canvas, &data.y_label);
        frame.bottom += tall - LINE + GAP;
        frame.draw_x_label(canvas, &data.x_label);
    });
    with_tips(drawn, &tips)
}

const SMALL: f64 = 32.0;
const MAX_LENGTH: f64 = 320.0;

/// Labels with their two heights, in the given order.
fn bars(data: &LabelBars) -> Vec<(String, [f64; 2])> {
    let height = |which: usize, at: usize| {
        let height = data.heights[which].get(at).copied().unwrap_or(0.0);
        if height.is_finite() {
            height.max(0.0)
        } else {
            0.0
        }
    };
    let all: Vec<[f64; 2]> = (0..data.labels.len())
        .map(|at| [height(0, at), height(1, at)])
        .collect();
    let mut order: Vec<usize> = (0..all.len()).collect();
    let larger = |at: usize| all[at][0].max(all[at][1]);
    order.sort_by(|&a, &b| larger(b).total_cmp(&larger(a)).then(a.cmp(&b)));
    let (mut shown, rest) = if order.len() > MAX_BARS {
        (order[..MAX_BARS - 1].to_vec(), &order[MAX_BARS - 1..])
    } else {
        (order.clone(), &[][..])
    };
    shown.sort_unstable();
    let mut bars: Vec<_> = shown
        .iter()
        .map(|&at| (data.labels[at].clone(), all[at]))
        .collect();
    if !rest.is_empty() {
        let sum = |which: usize| rest.iter().map(|&at| all[at][which]).sum();
        bars.push((format!("{} others", rest.len()), [sum(0), sum(1)]));
    }
    bars
}

fn draw_bar(
    canvas: &Canvas<'_>,
    frame: &Frame,
    (label, heights): &(String, [f64; 2]),
    (left, wide): (f64, f64),
    upright: bool,
) {
    let bar = (0.4 * wide).min(90.0);
    let middle = left + wide / 2.0;
    for (series, &height) in heights.iter().enumerate() {
        let from = middle + (series as f64 - 1.0) * bar;
        let Some(top) = frame.y.place(height) else {
            continue;
        };
        let corners = [
            (from.round() as i32, frame.up(top.min(1.0)).round() as i32),
            ((from + bar).round() as i32, frame.bottom),
        ];
        canvas.fill(corners, Role::Series(series), 1.0);
    }
    let at = (middle.round() as i32, frame.bottom + GAP);
    if upright {
        canvas.text_up(&fit(label, MAX_LENGTH / SMALL), at, Anchor::Right, SMALL);
    } else {
        canvas.text(&fit(label, wide / FONT), at, Anchor::Below);
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{check, hostile};
    use super::*;

    #[test]
    fn histograms_of_anything() {
        for (edges, heights) in [
            (vec![], [vec![], vec![]]),
            (vec![0.0, 1.0], [vec![1.0], vec![]]),
            (vec![0.0, 1.0, 3.0], [vec![0.2, 0.4], vec![f64::NAN, 0.5]]),
        ] {
            check(&histograms(&Histograms {
                caption: Caption::new(hostile(), hostile()),
                x: Axis::linear(hostile()),
                y_label: hostile(),
                names: [hostile(), hostile()],
                edges,
                heights,
                outside: [[0.0; 2], [0.01, 0.02]],
            }));
        }
    }

    fn with_outliers(x: Axis, edges: Vec<f64>) -> String {
        let bins = edges.len() - 1;
        histograms(&Histograms {
            caption: Caption::new("a", "b"),
            x,
            y_label: "share of rows".to_owned(),
            names: ["one".to_owned(), "two".to_owned()],
            edges,
            heights: [vec![0.1; bins], vec![0.2; bins]],
            outside: [[0.01, 0.02], [0.0, 0.03]],
        })
    }

    #[test]
    fn what_lies_outside_has_labels_that_say_so_once() {
        for (x, low, high) in [
            (Axis::linear("x"), 10.0, 23.0),
            (Axis::linear("x"), 1_000_000.25, 1_000_000.75),
            (Axis::linear("x"), -1e-7, 1e-7),
            (Axis::linear("x"), 0.0, 120_000.0),
            (Axis::log("x"), 0.003, 350.0),
            (Axis::log("x"), 1e-9, 1e9),
        ] {
            let edges = (0..=10).map(|k| f64::from(k) / 10.0);
            let edges = edges.map(|share| match x.scale {
                Scale::Log => low * pow(high / low, share),
                Scale::Linear => low + share * (high - low),
            });
            let svg = with_outliers(x.clone(), edges.collect());
            check(&svg);
            let labels = super::super::testing::texts(&svg);
            let mut distinct = labels.clone();
            distinct.sort();
            distinct.dedup();
            assert_eq!(distinct.len(), labels.len(), "{labels:?}");
            for sign in ["< ", "> "] {
                let found = labels.iter().filter(|label| label.starts_with(sign));
                assert_eq!(found.count(), 1, "{labels:?}");
            }
        }
    }

    fn data(labels: Vec<String>) -> LabelBars {
        let n = labels.len();
        let heights = [0.37, 0.61].map(|step| {
            (0..n)
                .map(|k| (k as f64 * step).fract() / n as f64)
                .collect()
        });
        LabelBars {
            caption: Caption::new(hostile(), hostile()),
            x_label: hostile(),
            y_label: hostile(),
            names: [hostile(), "b".to_owned()],
            labels,
            heights,
        }
    }

    #[test]
    fn bars_of_none_to_a_thousand_labels() {
        for n in [0, 1, 2, 5, 24, 25, 1000] {
            check(&label_bars(&data((0..n).map(|k| k.to_string()).collect())));
            check(&label_bars(&data(vec![hostile(); n])));
        }
    }

    #[test]
    fn the_least_likely_labels_are_added_up() {
        let data = data((0..1000).map(|k| k.to_string()).collect());
        let bars = bars(&data);
        assert_eq!(
            (bars.len(), bars[MAX_BARS - 1].0.as_str()),
            (MAX_BARS, "977 others")
        );
        let sum: f64 = bars.iter().map(|bar| bar.1[0]).sum();
        assert!((sum - data.heights[0].iter().sum::<f64>()).abs() < 1e-12);
    }
}
