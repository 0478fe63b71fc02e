//! TEMPORARY until sample.rs is merged.
pub fn cap(rows: &[u64], most: u64) -> u64 {
    let mut rows = rows.to_vec();
    rows.sort_unstable();
    let mut left = most;
    for (at, &n) in rows.iter().enumerate() {
        let share = left / (rows.len() - at) as u64;
        if n > share {
            return share;
        }
        left -= n;
    }
    rows.last().copied().unwrap_or(0)
}
pub struct Priorities { state: u64, left: u64, last: f64, first: Option<f64> }
const GAMMA: u64 = 0x9e37_79b9_7f4a_7c15;
const fn mix(mut z: u64) -> u64 {
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}
pub fn fraction(word: u64) -> f64 {
    ((word >> 11) as f64 + 0.5) / (1u64 << 53) as f64
}
impl Priorities {
    pub fn of_hash(hash: u64, count: u64) -> Self {
        Priorities { state: mix(hash), left: count, last: 0.0, first: Some(fraction(hash)) }
    }
}
impl Iterator for Priorities {
    type Item = f64;
    fn next(&mut self) -> Option<f64> {
        if self.left == 0 { return None; }
        let uniform = self.first.take().map(|f| 1.0 - f).unwrap_or_else(|| {
            self.state = self.state.wrapping_add(GAMMA);
            fraction(mix(self.state))
        });
        let step = if self.left == 1 { 1.0 - uniform } else { -libm::expm1(libm::log(uniform) / self.left as f64) };
        self.last += (1.0 - self.last) * step;
        self.left -= 1;
        Some(self.last)
    }
}
