//! Which of several columns of numbers depend on the secret, all together.

use crate::audit::evidence::no_leak::applies;
use crate::audit::prepare::Prepared;
use leakgauge_stats::column_tests::{ColumnTest, Rows, test_columns};
use leakgauge_stats::random::Stream;

/// What every column of numbers says about the secret.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct LeakingColumns {
    /// The columns of numbers, in the order of the log: a name and what was found.
    pub columns: Vec<(String, ColumnTest)>,
    /// The statistic from which on a column leaks, at the level of the report; `None` where no random assignments were
    /// drawn.
    pub threshold: Option<f64>,
    /// How many assignments of secrets to rows were drawn.
    pub assignments: usize,
    /// The level: one minus the confidence.
    pub alpha: f64,
}

impl LeakingColumns {
    /// Those that depend on the secret, the most certain first.
    pub fn leaking(&self) -> Vec<&(String, ColumnTest)> {
        let leaks = |column: &&(String, ColumnTest)| column.1.p_value <= self.alpha;
        let mut leaking: Vec<_> = self.columns.iter().filter(leaks).collect();
        leaking.sort_by(|x, y| {
            let by_p = x.1.p_value.total_cmp(&y.1.p_value);
            by_p.then(y.1.statistic.total_cmp(&x.1.statistic))
        });
        leaking
    }

    /// The p-value of no column depending on the secret.
    pub fn p_value(&self) -> f64 {
        let p_values = self.columns.iter().map(|column| column.1.p_value);
        p_values.fold(1.0, f64::min)
    }
}

/// Additions that random assignments may cost where they need not decide at a small level.
const MODEST_WORK: u64 = 500_000_000;
/// Random assignments: at least, and at most.
const ASSIGNMENTS: (u64, u64) = (199, 999);
/// Of more rows the limits of attacks say enough.
const MOST_ROWS: u64 = 4_000_000;

/// Tests the columns. `None` with fewer than two of them, and where [`applies`] says so.
pub(crate) fn judge(prepared: &Prepared) -> Option<LeakingColumns> {
    let (observations, counts) = (&prepared.log.observations, &prepared.log.counts);
    let columns = observations.dimensions();
    if !applies(prepared) || columns < 2 || counts.total() > MOST_ROWS {
        return None;
    }
    let (mut numbers, mut secrets) = (Vec::new(), Vec::new());
    for cell in counts.cells() {
        let again = std::iter::repeat_n(observations.numbers(cell.symbol), cell.count as usize);
        numbers.extend(again);
        secrets.resize(numbers.len(), cell.secret);
    }
    let rows = Rows {
        numbers: &numbers,
        secrets: &secrets,
        secret_count: counts.secrets(),
        columns,
    };
    let most = MODEST_WORK / (3 * columns as u64 * counts.total()).max(1);
    let most = most.clamp(ASSIGNMENTS.0, ASSIGNMENTS.1);
    let found = test_columns(&rows, most, prepared.random.seed(Stream::Columns));
    let names = (0..columns).map(|column| observations.numeric_name(column));
    Some(LeakingColumns {
        threshold: found.threshold(prepared.alpha),
        assignments: found.largest.len(),
        columns: names.zip(found.columns).collect(),
        alpha: prepared.alpha,
    })
}
