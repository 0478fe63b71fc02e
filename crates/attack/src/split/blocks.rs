//! Splitting by time: what is learned and chosen on earlier rows is judged on later ones.

use crate::split::{CERTIFY, Split, TUNE, share};
use leakgauge_log::observations::{Cell, Counts};

/// Rows left out between two parts, as a share of the log, so that rows on either side of a cut do not
/// share noise.
const GAP: f64 = 0.01;

impl Split {
    /// Cuts the log at two moments: the first 40 % of the rows fit, the next 20 % tune, the last 40 %
    /// certify; returns the certify rows in their order too. Behind each cut 1 % of the rows is left out,
    /// and what remains of a run of rows of one secret.
    ///
    /// The moments are the same for all secrets: cut secret by secret, a row of one secret would be
    /// learned from beside a row of another that is judged, and noise of that moment would be in both.
    pub fn blocks(rows: &[(u32, u32)], secrets: usize) -> (Split, &[(u32, u32)]) {
        let all = rows.len() as u64;
        let certify = (all - share(all, CERTIFY)) as usize;
        let tune = certify - share(all, TUNE) as usize;
        let gap = share(all, GAP).max(1) as usize;
        let counted = |rows: &[(u32, u32)]| count(rows, secrets);
        let judged = &rows[behind(rows, certify, gap)..];
        let split = Split {
            fit: counted(&rows[..tune]),
            tune: counted(&rows[behind(rows, tune, gap).min(certify)..certify]),
            certify: counted(judged),
        };
        (split, judged)
    }

    /// How many secrets have rows in every part.
    pub fn in_every_part(&self) -> usize {
        let parts = [&self.fit, &self.tune, &self.certify];
        (0..self.fit.secrets())
            .filter(|&secret| parts.iter().all(|part| part.rows()[secret] > 0))
            .count()
    }
}

/// Where the next part begins: a gap behind a cut, and not amid a run of one secret.
fn behind(rows: &[(u32, u32)], cut: usize, gap: usize) -> usize {
    let mut start = (cut + gap).min(rows.len());
    while start > 0 && start < rows.len() && rows[start].0 == rows[start - 1].0 {
        start += 1;
    }
    start
}

fn count(rows: &[(u32, u32)], secrets: usize) -> Counts {
    let cells = rows.iter().map(|&(secret, symbol)| Cell {
        secret,
        symbol,
        count: 1,
    });
    Counts::new(secrets, cells.collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_follow_each_other_with_gaps() {
        let rows: Vec<(u32, u32)> = (0..1000).map(|row| (row % 2, row)).collect();
        let (split, certify) = Split::blocks(&rows, 2);
        assert_eq!(split.fit.symbols(), (0..400).collect::<Vec<_>>());
        assert_eq!(split.tune.symbols(), (410..600).collect::<Vec<_>>());
        assert_eq!(split.certify.symbols(), (610..1000).collect::<Vec<_>>());
        assert_eq!(certify, &rows[610..]);
        assert_eq!(split.in_every_part(), 2);
    }

    #[test]
    fn a_run_of_one_secret_is_not_cut() {
        let rows: Vec<(u32, u32)> = (0..1000).map(|row| (row / 100 % 2, row)).collect();
        let (split, _) = Split::blocks(&rows, 2);
        assert_eq!(split.tune.symbols()[0], 500);
        assert_eq!(split.certify.symbols()[0], 700);
    }

    #[test]
    fn secrets_one_after_the_other_share_no_part() {
        for rows in 0..50u32 {
            let rows: Vec<(u32, u32)> = (0..rows).map(|row| (2 * row / rows, row)).collect();
            assert!(Split::blocks(&rows, 2).0.in_every_part() < 2);
        }
    }
}
