//! Reports of the shuffle model.

mod information;
mod privacy;
mod reidentify;
mod vulnerability;

pub(super) use privacy::document as privacy;

pub use information::{information_pictures, randomizer_pictures};
pub use reidentify::{flatness, pictures, success_number, write_pictures, write_reidentification};
pub use vulnerability::{mechanism_picture, vulnerability_picture};

use leakgauge_plot::{Mark, Spot};

/// A line, or the point that it would be.
fn curve(points: Vec<(f64, f64)>) -> Mark {
    match points[..] {
        [(x, y)] => Mark::Points(vec![Spot {
            x,
            y: Some(y),
            ..Spot::default()
        }]),
        _ => Mark::Line(points),
    }
}
