//! Which of several columns of numbers depend on the secret, all together.

use crate::audit::evidence::no_leak::applies;
use crate::audit::plan::Plan;
use crate::audit::prepare::Prepared;
use leakgauge_stats::column_tests::{ColumnTest, Rows, test_columns};
use leakgauge_stats::random::Stream;

/// What every column of numbers says about the secret.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct LeakingColumns {
    /// The columns of numbers, in the order of the log: a name and what was found.
    pub columns: Vec<(String, ColumnTest)>,
    /// The statistic beyond which a column stands out at this level; `None` where too few random assignments were drawn for
    /// it.
    pub threshold: Option<f64>,
    /// How many assignments of secrets to rows were drawn.
    pub assignments: usize,
    /// The level at which columns are named: their part where a claim reads them, else one that is clear by itself, for then
    /// they have no part.
    pub alpha: f64,
}

impl LeakingColumns {
    /// Those that depend on the secret, the most certain first.
    pub fn leaking(&self) -> Vec<&(String, ColumnTest)> {
        let leaks = |column: &&(String, ColumnTest)| self.stands_out(&column.1);
        let mut leaking: Vec<_> = self.columns.iter().filter(leaks).collect();
        leaking.sort_by(|x, y| {
            let by_p = x.1.p_value.total_cmp(&y.1.p_value);
            by_p.then(y.1.statistic.total_cmp(&x.1.statistic))
        });
        leaking
    }

    /// Whether a column is named.
    pub fn stands_out(&self, test: &ColumnTest) -> bool {
        // Levels are products that may be rounded.
        test.p_value <= self.alpha * (1.0 + 1e-9)
    }

    /// The p-value of no column depending on the secret.
    pub fn p_value(&self) -> f64 {
        let p_values = self.columns.iter().map(|column| column.1.p_value);
        p_values.fold(1.0, f64::min)
    }
}

/// Random assignments at most.
const ASSIGNMENTS: u64 = 999;
/// What no claim reads is named below this p-value.
const CLEAR: f64 = 1e-3;
/// Of more rows the limits of attacks say enough.
const MOST_ROWS: u64 = 4_000_000;

/// Tests the columns. `None` with fewer than two of them, and where [`applies`] says so.
pub(crate) fn judge(prepared: &Prepared, plan: &Plan) -> Option<LeakingColumns> {
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
    let seed = prepared.random.seed(Stream::Columns);
    let mut found = test_columns(&rows, ASSIGNMENTS, seed);
    // Words beside numbers are no numbers.
    for (test, word) in found
        .columns
        .iter_mut()
        .zip(observations.words_beside_numbers())
    {
        if word.is_some() {
            (test.t_or_f, test.signal_to_noise) = (f64::NAN, f64::NAN);
        }
    }
    // The test of the whole observation shares their part.
    let part = plan.no_leak_part().map(|part| 0.5 * part * prepared.alpha);
    let alpha = part.unwrap_or(CLEAR.min(prepared.alpha));
    let names = (0..columns).map(|column| observations.numeric_name(column));
    Some(LeakingColumns {
        threshold: found.threshold(alpha),
        assignments: found.largest.len(),
        columns: names.zip(found.columns).collect(),
        alpha,
    })
}
