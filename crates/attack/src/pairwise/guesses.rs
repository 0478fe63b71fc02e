//! Guessing one of two secrets where it pays, and abstaining elsewhere: for limits of ε.

use crate::pairwise::judge::blocks;
use crate::pairwise::rows::{by_score, rows_by_secret};
use crate::scorer::{Scorer, score_table};
use crate::scores::ScoreTable;
use leakgauge_log::observations::{Counts, Observations};
use leakgauge_stats::guesses::Side;
use leakgauge_stats::tails::{Past, Tails};

/// Rows of two secrets a and b by the difference of their scores, which is large for a.
#[derive(Debug, Clone, PartialEq)]
pub struct PairScores {
    /// Distinct differences, the largest first, with the rows of a and of b that have them.
    steps: Vec<(f64, u64, u64)>,
}

impl PairScores {
    /// Scores the rows of both secrets.
    pub fn judge(
        scorer: &dyn Scorer,
        observations: &Observations,
        rows: &Counts,
        [a, b]: [u32; 2],
    ) -> Self {
        const BLOCK: usize = 1 << 16;
        let of_pair = rows.cells().iter().copied();
        let of_pair = of_pair
            .filter(|cell| [a, b].contains(&cell.secret))
            .collect();
        let of_pair = Counts::new(rows.secrets(), of_pair);
        let mut steps = Vec::new();
        for cells in blocks(of_pair.cells(), BLOCK) {
            let part = Counts::new(rows.secrets(), cells.to_vec());
            let scores = score_table(scorer, observations, part.symbols(), rows.secrets());
            add(&mut steps, &scores, &part, [a, b]);
        }
        Self::new(steps)
    }

    /// The same of rows whose scores are at hand.
    pub fn of(scores: &ScoreTable, rows: &Counts, pair: [u32; 2]) -> Self {
        let mut steps = Vec::new();
        add(&mut steps, scores, rows, pair);
        Self::new(steps)
    }

    fn new(steps: Vec<(f64, u64, u64)>) -> Self {
        PairScores {
            steps: by_score(steps),
        }
    }

    /// These rows, for choosing where to guess on later ones.
    pub fn past(&self) -> Past {
        Past::new(&self.steps)
    }

    /// Where to cut these rows so that parts have about equally many of them, both secrets weighing alike.
    pub fn edges(&self, parts: usize) -> Vec<f64> {
        let rows = |step: &(f64, u64, u64)| step.1 + step.2;
        let all: u64 = self.steps.iter().map(rows).sum();
        let (mut edges, mut taken) = (Vec::new(), 0);
        for steps in self.steps.windows(2) {
            taken += rows(&steps[0]);
            // Half an edge early is as good as half an edge late.
            if taken * parts as u64 >= all * (edges.len() as u64 + 1) {
                edges.push(0.5 * steps[0].0 + 0.5 * steps[1].0);
            }
        }
        edges
    }

    /// The rows of both secrets in each part between edges, which fall, the largest scores first.
    pub fn between(&self, edges: &[f64]) -> Vec<(u64, u64)> {
        let mut parts = vec![(0, 0); edges.len() + 1];
        for &(score, of_a, of_b) in &self.steps {
            let part = &mut parts[edges.partition_point(|&edge| edge > score)];
            part.0 += of_a;
            part.1 += of_b;
        }
        parts
    }

    /// What guesses at both ends say on these rows, which did not choose the ends.
    pub fn guess(&self, tails: &Tails) -> [Side; 2] {
        guess(&self.steps, tails)
    }
}

/// What guesses at both ends say on rows of two secrets by score.
pub(super) fn guess(steps: &[(f64, u64, u64)], tails: &Tails) -> [Side; 2] {
    let mut sides = [Side::default(); 2];
    for &(score, of_a, of_b) in steps {
        let [a, b] = &mut sides;
        a.rows += of_a;
        b.rows += of_b;
        if score >= tails.above {
            a.right += of_a;
            b.wrong += of_b;
        } else if score <= tails.below {
            a.wrong += of_a;
            b.right += of_b;
        }
    }
    sides
}

fn add(steps: &mut Vec<(f64, u64, u64)>, scores: &ScoreTable, rows: &Counts, [a, b]: [u32; 2]) {
    let by_secret = rows_by_secret(rows);
    let difference = |row: usize| {
        let scores = scores.row(row);
        scores[a as usize] - scores[b as usize]
    };
    let of = |secret: u32| by_secret[secret as usize].iter();
    steps.extend(of(a).map(|&(row, count)| (difference(row), count, 0)));
    steps.extend(of(b).map(|&(row, count)| (difference(row), 0, count)));
}

#[cfg(test)]
mod tests {
    use super::*;
    use leakgauge_log::observations::Cell;

    #[test]
    fn parts_have_about_equally_many_rows_and_all_of_them() {
        let cells = (0..100).map(|symbol| Cell {
            secret: symbol % 2,
            symbol,
            count: 1 + u64::from(symbol == 40) * 30,
        });
        let rows = Counts::new(2, cells.collect());
        let values = (0..100).flat_map(|at| [f64::from(at), 0.0]).collect();
        let scores = PairScores::of(
            &ScoreTable::new((0..100).collect(), 2, values),
            &rows,
            [0, 1],
        );
        let edges = scores.edges(10);
        assert!(edges.is_sorted_by(|x, y| x > y), "{edges:?}");
        let parts = scores.between(&edges);
        let total = |part: &(u64, u64)| part.0 + part.1;
        assert_eq!(parts.iter().map(total).sum::<u64>(), 130);
        // One observation has thirty rows; no other part has many more than thirteen.
        let large = parts.iter().filter(|part| total(part) > 15).count();
        assert!(parts.len() >= 6 && large <= 1, "{parts:?}");
    }

    #[test]
    fn guesses_are_counted_at_both_ends() {
        let cells = [
            (0, 0, 5),
            (1, 0, 1),
            (0, 1, 7),
            (1, 1, 7),
            (0, 2, 2),
            (1, 2, 9),
        ];
        let cells = cells.map(|(secret, symbol, count)| Cell {
            secret,
            symbol,
            count,
        });
        let rows = Counts::new(2, cells.to_vec());
        let values = vec![2.0, 0.0, 0.0, 0.0, 0.0, 2.0];
        let scores = PairScores::of(&ScoreTable::new(vec![0, 1, 2], 2, values), &rows, [0, 1]);
        let tails = Tails {
            above: 1.0,
            below: -1.0,
            share: 0.5,
            rate: 0.8,
        };
        let [a, b] = scores.guess(&tails);
        assert_eq!((a.rows, a.right, a.wrong), (14, 5, 2));
        assert_eq!((b.rows, b.right, b.wrong), (17, 9, 1));
    }
}
