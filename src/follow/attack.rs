//! An attack that was learned from the past, and its scores of other rows.

use std::sync::Arc;

use leakgauge_attack::scorer::{Scorer, score_table};
use leakgauge_attack::scores::ScoreTable;
use leakgauge_base::error::{Error, Result};
use leakgauge_base::naming::option;
use leakgauge_log::RowStream;
use leakgauge_log::observations::{Cell, Column, Counts, Observations};

/// Rows that come, their secrets and their observations numbered as they first came up.
pub(super) trait Rows {
    /// The labels of the secrets so far.
    fn labels(&self) -> &[String];

    /// A table of some observations in their canonical order, and the numbers that they have here.
    fn table(&self, ids: Vec<u32>) -> (Observations, Vec<u32>);
}

impl Rows for RowStream<'_> {
    fn labels(&self) -> &[String] {
        self.labels()
    }

    fn table(&self, ids: Vec<u32>) -> (Observations, Vec<u32>) {
        self.table(ids)
    }
}

/// An attack and the rows that it learns from.
pub(super) struct Learned {
    scorer: Arc<dyn Scorer>,
    /// Observations by their numbers in the stream.
    fit: Vec<Cell>,
    secrets: usize,
    /// What it was fitted on all these rows, with the columns of their table, where the scorer is portable.
    fitted: Option<(Arc<dyn Scorer>, Shape)>,
}

/// The columns of a table, and the words beside their numbers.
type Shape = (Vec<Column>, Vec<Option<usize>>);

fn shape(table: &Observations) -> Shape {
    (table.columns().to_vec(), table.words_beside_numbers())
}

/// The scores of some rows.
pub(super) struct Scored {
    table: ScoreTable,
    /// For each row, its line of the table.
    lines: Vec<usize>,
}

impl Learned {
    /// An attack that learns from these counts over a table, whose observations have these numbers in the
    /// stream.
    ///
    /// # Errors
    /// An attack that cannot be learned from them.
    pub fn new(
        scorer: Arc<dyn Scorer>,
        table: &Observations,
        counts: &Counts,
        ids: &[u32],
    ) -> Result<Self> {
        let fitted = scorer.is_portable().then(|| refit(&*scorer, table, counts));
        Ok(Learned {
            fitted: fitted.transpose()?.map(|fitted| (fitted, shape(table))),
            scorer,
            fit: original(counts, ids),
            secrets: counts.secrets(),
        })
    }

    /// The scores of rows, each an observation by its number in the stream. Unless the scorer is portable, it is learned again
    /// from the same rows, whose observations have other numbers in a table that has the new ones too.
    ///
    /// # Errors
    /// An attack that cannot be learned again.
    pub fn scores(&self, symbols: &[u32], rows: &dyn Rows) -> Result<Scored> {
        if let Some((fitted, known)) = &self.fitted {
            let (table, ids) = rows.table(symbols.to_vec());
            if shape(&table) == *known {
                return Ok(self.scored(&**fitted, symbols, &table, &ids));
            }
        }
        let fit = self.fit.iter().map(|cell| cell.symbol);
        let (table, ids) = rows.table(symbols.iter().copied().chain(fit).collect());
        let fit = renumbered(self.secrets, self.fit.iter().copied(), &ids);
        let scorer = refit(&*self.scorer, &table, &fit)?;
        Ok(self.scored(&*scorer, symbols, &table, &ids))
    }

    /// The scores of rows by an attack, of a table whose observations have these numbers in the stream.
    fn scored(
        &self,
        scorer: &dyn Scorer,
        symbols: &[u32],
        table: &Observations,
        ids: &[u32],
    ) -> Scored {
        let rank = ranks(ids);
        let at: Vec<u32> = symbols
            .iter()
            .map(|&symbol| rank[symbol as usize])
            .collect();
        let mut distinct = at.clone();
        distinct.sort_unstable();
        distinct.dedup();
        let table = score_table(scorer, table, distinct, self.secrets);
        let line = |symbol: &u32| table.observations().binary_search(symbol);
        Scored {
            lines: at
                .iter()
                .map(|symbol| line(symbol).expect("one of these"))
                .collect(),
            table,
        }
    }
}

/// The attack, everything that was chosen for it kept, learned from rows.
fn refit(scorer: &dyn Scorer, table: &Observations, fit: &Counts) -> Result<Arc<dyn Scorer>> {
    scorer.refit(table, fit).map_err(|reason| {
        Error::parameter(
            option("scorer"),
            format!("could not be fitted again: {reason}"),
        )
    })
}

impl Scored {
    /// score_a − score_b of the row at this position.
    pub fn difference(&self, row: usize, a: u32, b: u32) -> f64 {
        let scores = self.table.row(self.lines[row]);
        scores[a as usize] - scores[b as usize]
    }
}

/// Positions of observations in a table, by their numbers in the stream.
pub(super) fn ranks(ids: &[u32]) -> Vec<u32> {
    let most = ids.iter().max().map_or(0, |&id| id as usize + 1);
    let mut ranks = vec![0; most];
    for (rank, &id) in ids.iter().enumerate() {
        ranks[id as usize] = rank as u32;
    }
    ranks
}

/// Counts over a table.
pub(super) fn renumbered(secrets: usize, cells: impl Iterator<Item = Cell>, ids: &[u32]) -> Counts {
    let rank = ranks(ids);
    let cells = cells.map(|cell| Cell {
        symbol: rank[cell.symbol as usize],
        ..cell
    });
    Counts::new(secrets, cells.collect())
}

/// Cells with the numbers of the stream.
fn original(counts: &Counts, ids: &[u32]) -> Vec<Cell> {
    let cells = counts.cells().iter();
    cells
        .map(|cell| Cell {
            symbol: ids[cell.symbol as usize],
            ..*cell
        })
        .collect()
}
