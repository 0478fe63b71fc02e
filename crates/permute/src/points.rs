//! Rows as points: their public numeric attributes.

use std::cmp::Ordering;

use libm::{asin, cos, sin};
use rayon::prelude::*;

use super::lists::Lists;
use leakgauge_base::error::{Error, Result};

/// The mean radius of the earth in kilometers.
pub const EARTH_RADIUS_KM: f64 = 6371.0088;

/// Relative tolerance of a radius, so that 0.3 and 0.1 count as 0.2 apart despite rounding.
const ROUNDING: f64 = 1e-9;

/// One point per row, and the metric between them. Owns the coordinates.
#[derive(Debug, Clone, PartialEq)]
pub struct Points {
    d: usize,
    /// Row-major, `d` per row. Places on the earth are stored as points of the unit sphere.
    coordinates: Vec<f64>,
    on_sphere: bool,
}

impl Points {
    /// Points of `d` coordinates, row by row, with Euclidean distance in the unit of the coordinates.
    ///
    /// # Errors
    /// `d` is 0 or does not divide the number of coordinates; a coordinate is not finite or exceeds ±1e150.
    pub fn new(coordinates: Vec<f64>, d: usize) -> Result<Self> {
        const MAX_COORDINATE: f64 = 1e150;
        if d == 0 || d > usize::from(u16::MAX) || !coordinates.len().is_multiple_of(d) {
            return Err(Error::parameter(
                "points",
                "need at least one column of numbers",
            ));
        }
        if let Some(x) = coordinates
            .iter()
            .find(|x| x.abs().is_nan() || x.abs() > MAX_COORDINATE)
        {
            return Err(Error::parameter(
                "points",
                format!("the coordinate {x} is not within ±{MAX_COORDINATE:e}"),
            ));
        }
        // −0 and 0 are the same point.
        let coordinates = coordinates.into_iter().map(|x| x + 0.0).collect();
        Ok(Points {
            d,
            coordinates,
            on_sphere: false,
        })
    }

    /// Places by (latitude, longitude) in degrees, with great-circle distance in kilometers on a sphere of
    /// [`EARTH_RADIUS_KM`].
    ///
    /// # Errors
    /// A latitude is beyond ±90° or a longitude beyond ±360°.
    pub fn on_earth(places: &[[f64; 2]]) -> Result<Self> {
        let mut coordinates = Vec::with_capacity(3 * places.len());
        for &[latitude, longitude] in places {
            if !(latitude.abs() <= 90.0 && longitude.abs() <= 360.0) {
                return Err(Error::parameter(
                    format!("latitude {latitude}, longitude {longitude}"),
                    "is not a place on earth: latitudes are within ±90 degrees, longitudes within ±360",
                ));
            }
            let (phi, lambda) = (latitude.to_radians(), longitude.to_radians());
            coordinates.extend([cos(phi) * cos(lambda), cos(phi) * sin(lambda), sin(phi)]);
        }
        let mut points = Points::new(coordinates, 3)?;
        points.on_sphere = true;
        Ok(points)
    }

    /// The number of rows.
    pub fn len(&self) -> usize {
        self.coordinates.len() / self.d
    }

    /// Whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.coordinates.is_empty()
    }

    pub(super) fn dimension(&self) -> usize {
        self.d
    }

    pub(super) fn get(&self, row: usize) -> &[f64] {
        &self.coordinates[row * self.d..(row + 1) * self.d]
    }

    /// The largest squared Euclidean distance between coordinates that counts as within the radius.
    pub(super) fn square_of(&self, radius: f64) -> f64 {
        let reach = radius * (1.0 + ROUNDING);
        let straight = if self.on_sphere {
            // The length of the chord through the unit sphere.
            let half = (reach / (2.0 * EARTH_RADIUS_KM)).min(std::f64::consts::FRAC_PI_2);
            2.0 * sin(half)
        } else {
            reach
        };
        straight * straight
    }

    /// The distance between two rows: Euclidean, or in kilometers for places on the earth.
    pub fn distance(&self, a: usize, b: usize) -> f64 {
        let pairs = self.get(a).iter().zip(self.get(b));
        let straight = pairs
            .fold(0.0, |sum, (x, y)| sum + (x - y) * (x - y))
            .sqrt();
        if self.on_sphere {
            2.0 * EARTH_RADIUS_KM * asin((0.5 * straight).min(1.0))
        } else {
            straight
        }
    }

    fn compare(&self, a: u32, b: u32) -> Ordering {
        let pairs = self.get(a as usize).iter().zip(self.get(b as usize));
        let mut orders = pairs.map(|(x, y)| x.total_cmp(y));
        orders
            .find(|order| order.is_ne())
            .unwrap_or(Ordering::Equal)
    }

    /// The rows at each distinct point, points in lexicographic order.
    pub(super) fn distinct(&self) -> Lists {
        let mut sorted: Vec<u32> = (0..self.len() as u32).collect();
        sorted.par_sort_unstable_by(|&a, &b| self.compare(a, b).then(a.cmp(&b)));
        let mut places = Lists::with_capacity(self.len(), self.len());
        for rows in sorted.chunk_by(|a, b| self.compare(*a, *b).is_eq()) {
            places.push(rows.iter().copied());
        }
        places
    }

    /// The coordinate with the largest range.
    pub(super) fn longest(&self) -> usize {
        let n = self.len().max(1) as f64;
        let spread = |column: usize| {
            let all = || (0..self.len()).map(|row| self.get(row)[column]);
            let mean = all().fold(0.0, |sum, x| sum + x / n);
            all().fold(0.0, |sum, x| sum + (x - mean) * (x - mean) / n)
        };
        let spreads: Vec<f64> = (0..self.d).map(spread).collect();
        (1..self.d).fold(0, |best, column| {
            if spreads[column] > spreads[best] {
                column
            } else {
                best
            }
        })
    }
}
