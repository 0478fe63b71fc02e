//! Points, and how often they occur.

/// Points, row-major, each with the number of rows that are there.
#[derive(Debug, Default, Clone)]
pub struct Points {
    /// The coordinates, point by point.
    pub numbers: Vec<f64>,
    /// The rows at each point.
    pub counts: Vec<u32>,
}

impl Points {
    /// Points that stand for one row each, of `d` coordinates.
    pub fn of_rows(numbers: Vec<f64>, d: usize) -> Self {
        let counts = vec![1; numbers.len() / d];
        Points { numbers, counts }
    }

    /// Adds a point with its number of rows.
    pub fn push(&mut self, point: &[f64], rows: u64) {
        self.numbers.extend_from_slice(point);
        self.counts.push(u32::try_from(rows).unwrap_or(u32::MAX));
    }

    /// The rows at all points.
    pub fn rows(&self) -> usize {
        self.counts.iter().map(|&count| count as usize).sum()
    }
}
