//! What windows of rows hash to.

/// Rows of a window.
pub(super) const WINDOW: usize = 32;
/// The base of the rolling hash, odd.
pub(super) const BASE: u64 = 0x9e37_79b9_7f4a_7c15;
/// Stretches of rows whose windows are hashed at the same time: what a window hashes to waits for the one before it.
const LANES: usize = 4;

/// What the windows hash to that end at each row but the first [`WINDOW`], where the window before them hashes to
/// `before`; the last of them.
pub(super) fn roll(rows: &[u64], before: u64, leaving: u64, out: &mut Vec<u64>) -> u64 {
    let step = |last: u64, left: u64, entered: u64| {
        let change = entered.wrapping_sub(left.wrapping_mul(leaving));
        last.wrapping_mul(BASE).wrapping_add(change)
    };
    let count = rows.len() - WINDOW;
    let lane = count / LANES;
    out.resize(count, 0);
    let mut last = before;
    let mut done = 0;
    if lane > WINDOW {
        let hash = |rows: &[u64]| rows.iter().fold(0, |hash, &row| step(hash, 0, row));
        let mut lasts: [u64; LANES] =
            std::array::from_fn(|at| hash(&rows[at * lane..at * lane + WINDOW]));
        lasts[0] = before;
        let left: [&[u64]; LANES] = std::array::from_fn(|at| &rows[at * lane..][..lane]);
        let entered: [&[u64]; LANES] =
            std::array::from_fn(|at| &rows[at * lane + WINDOW..][..lane]);
        let mut outs = out.chunks_exact_mut(lane);
        let outs: [&mut [u64]; LANES] = std::array::from_fn(|_| outs.next().unwrap_or_default());
        for row in 0..lane {
            for at in 0..LANES {
                lasts[at] = step(lasts[at], left[at][row], entered[at][row]);
                outs[at][row] = lasts[at];
            }
        }
        last = lasts[LANES - 1];
        done = LANES * lane;
    }
    for at in done..count {
        last = step(last, rows[at], rows[at + WINDOW]);
        out[at] = last;
    }
    last
}
