//! Reports of the shuffle model.

mod information;
mod privacy;
mod reidentify;
mod vulnerability;

pub(super) use privacy::document as privacy;

pub use information::{information_pictures, randomizer_pictures};
pub use reidentify::{flatness, pictures, success_number, write_pictures, write_reidentification};
pub use vulnerability::{mechanism_picture, vulnerability_picture};

use leakgauge_plot::{Layer, Mark, Spot};

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

/// Points at most for which a line shows where it was computed.
const FEW: usize = 12;

/// The layers, with the points of lines through few: between them the lines are only a guide. Points of earlier layers
/// are larger, so that they show under later ones where values agree.
fn with_points(layers: Vec<Layer>) -> Vec<Layer> {
    let last = layers.len().saturating_sub(1);
    let both = layers.into_iter().enumerate().flat_map(|(at, layer)| {
        let size = 1.0 + 0.3 * (last - at).min(3) as f64;
        let points = points(&layer).map(|points| points.with_size(size));
        [Some(layer.with_size(size)), points]
    });
    both.flatten().collect()
}

/// The points of a line through few.
fn points(layer: &Layer) -> Option<Layer> {
    let Mark::Line(line) = &layer.mark else {
        return None;
    };
    let spots = line.iter().map(|&(x, y)| Spot {
        x,
        y: Some(y),
        ..Spot::default()
    });
    let points = Mark::Points(spots.collect());
    (line.len() <= FEW).then(|| Layer::new("", layer.series, points))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_through_few_points_show_them_and_long_lines_do_not() {
        let line = |points: usize| {
            let points = (0..points).map(|x| (x as f64, 1.0)).collect();
            Layer::new("line", 0, curve(points))
        };
        let marks = |points| with_points(vec![line(points), line(points)]).len();
        assert_eq!((marks(1), marks(FEW), marks(FEW + 1)), (2, 4, 2));
        let sizes: Vec<f64> = with_points(vec![line(2), line(2)])
            .iter()
            .map(|layer| layer.size)
            .collect();
        assert!(sizes[1] > sizes[3], "{sizes:?}");
    }
}
