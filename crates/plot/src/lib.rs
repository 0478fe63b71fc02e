//! Pictures of leakage as SVG: data in, text out. This crate computes no figures and does no input or output.
//!
//! Every function returns one `<svg>` element without a fixed size. It is drawn for a column of
//! 84 mm, so that its text is about 7 pt there, and scales with the width it is given in a page. Text
//! and axes take the color of the surrounding text (`currentColor`), the background is clear; each
//! series has a class, `series-0`, `series-1`, …, by which a page can set its colors for a dark
//! background. Colors are those of Okabe and Ito; series also differ in dashes and markers, so that
//! they can be distinguished without color. [`on_white`] makes a standalone picture. `<title>` and `<desc>` describe
//! the picture. Labels can be any text.
//! The same data give the same bytes.
//!
//! | function | picture |
//! | --- | --- |
//! | [`chart()`] | lines, steps, points with limits, bands, regions; linear or logarithmic axes |
//! | [`heatmap()`] | a number for each pair of labels, up to some hundred |
//! | [`field()`] | a number for each cell of the plane, with marked points |
//! | [`histograms()`], [`label_bars()`] | two distributions of observations in one picture |
//! | [`trade_off()`], [`trade_off_log()`] | the error rates of an attack and those that a claim allows |
//! | [`boxes()`] | quantiles of several groups, one per line |
//! | [`dots()`] | estimates with limits, one per line, beside reference values |
//!
//! ```
//! use leakgauge_plot::{Axis, Caption, Chart, Layer, Mark, chart};
//!
//! let svg = chart(&Chart {
//!     caption: Caption::new("A line", "It rises from 0 to 1."),
//!     x: Axis::linear("time, s"),
//!     y: Axis::linear("share"),
//!     layers: vec![Layer::new("<b>", 0, Mark::Line(vec![(0.0, 0.0), (1.0, 1.0)]))],
//!     aspect: 0.6,
//! });
//! assert!(svg.starts_with("<svg") && svg.contains("&lt;b&gt;"));
//! ```

mod axis;
mod boxes;
mod canvas;
mod chart;
mod distributions;
mod dots;
mod field;
mod frame;
mod heatmap;
mod hover;
mod paths;
mod picture;
pub mod png;
mod ramp;
mod table;
mod text;
mod trade_off;

pub use axis::{Axis, Scale};
pub use boxes::{BoxRow, Boxes, boxes};
pub use canvas::{Caption, NESTED, on_white};
pub use chart::{Chart, Layer, Mark, Spot, chart};
pub use distributions::{Histograms, LabelBars, histograms, label_bars};
pub use dots::{Dot, Dots, dots};
pub use field::{Field, FieldPoint, field};
pub use heatmap::{Heatmap, heatmap};
pub use picture::{Figure, Picture};
pub use table::{Cell, Table};
pub use text::{clean, told_apart};
pub use trade_off::{TradeOff, trade_off, trade_off_log};

#[cfg(test)]
mod testing;
