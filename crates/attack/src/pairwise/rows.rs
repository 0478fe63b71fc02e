//! Rows by their secret and by their score.

use leakgauge_log::observations::Counts;

/// Rows of two secrets by a score, the largest first: rows of equal scores become one entry, with the number of rows
/// of each secret.
pub(crate) fn by_score(mut rows: Vec<(f64, u64, u64)>) -> Vec<(f64, u64, u64)> {
    rows.sort_unstable_by(|x, y| y.0.total_cmp(&x.0));
    rows.dedup_by(|next, kept| {
        let same = next.0 == kept.0;
        if same {
            kept.1 += next.1;
            kept.2 += next.2;
        }
        same
    });
    rows
}

/// For each secret, the table rows it occurs in and how often.
pub fn rows_by_secret(counts: &Counts) -> Vec<Vec<(usize, u64)>> {
    let mut by_secret = vec![Vec::new(); counts.secrets()];
    for (row, cells) in counts.by_symbol().enumerate() {
        for cell in cells {
            by_secret[cell.secret as usize].push((row, cell.count));
        }
    }
    by_secret
}
