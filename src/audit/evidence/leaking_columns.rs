//! Which of several columns of numbers depend on the secret, all together.

use std::ops::Range;

use crate::audit::evidence::no_leak::applies;
use crate::audit::plan::Plan;
use crate::audit::prepare::{MOST_ROWS_BY_COLUMN, Prepared, product_windows};
use leakgauge_stats::column_tests::{ColumnTest, Products, Rows, test_columns};
use leakgauge_stats::random::Stream;

/// What every column of numbers says about the secret.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct LeakingColumns {
    /// The columns of numbers, in the order of the log: a name and what was found. Products of two of them stand behind
    /// all columns.
    pub columns: Vec<(String, ColumnTest)>,
    /// How many of these are products.
    pub products: usize,
    /// How many neighbors make a window whose mean stands in the products, at most; 1 where each column stands for itself.
    pub window: usize,
    /// The statistic beyond which a column stands out at this level; `None` where too few random assignments were drawn for
    /// it.
    pub threshold: Option<f64>,
    /// How many assignments of secrets to rows were drawn.
    pub assignments: usize,
    /// How many columns were tested exactly too. Where both numbers are 0 the log is too large, and no column was tested.
    pub exact: usize,
    /// The level at which columns are named: their part where a claim reads them, else one that is clear by itself, for then
    /// they have no part.
    pub alpha: f64,
}

impl LeakingColumns {
    /// The columns, without products.
    pub fn single(&self) -> &[(String, ColumnTest)] {
        &self.columns[..self.columns.len() - self.products]
    }

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

    /// Whether any test was made.
    pub fn are_tested(&self) -> bool {
        self.assignments > 0 || self.exact > 0
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

/// Tests the columns. `None` with fewer than two of them, and where [`applies`] says so.
pub(crate) fn judge(prepared: &Prepared, plan: &Plan) -> Option<LeakingColumns> {
    let (observations, counts) = (&prepared.log.observations, &prepared.log.counts);
    let columns = observations.dimensions();
    if !applies(prepared) || columns < 2 || counts.total() > MOST_ROWS_BY_COLUMN {
        return None;
    }
    let (mut numbers, mut secrets) = (Vec::new(), Vec::new());
    for cell in counts.cells() {
        let again = std::iter::repeat_n(observations.numbers(cell.symbol), cell.count as usize);
        numbers.extend(again);
        secrets.resize(numbers.len(), cell.secret);
    }
    let wanted = prepared.options.requested.wants_products();
    let most = product_windows(prepared.log).unwrap_or(0);
    let products = wanted.then(|| Products::of(&numbers, columns, most));
    let rows = Rows {
        products: products.as_ref(),
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
    let names: Vec<String> = (0..columns)
        .map(|column| observations.numeric_name(column))
        .collect();
    let of_products = products.iter().flat_map(|products| {
        (0..products.len()).map(|at| name_of_product(&names, products.windows(at)))
    });
    let all_names: Vec<String> = names.iter().cloned().chain(of_products).collect();
    Some(LeakingColumns {
        products: products.as_ref().map_or(0, Products::len),
        window: columns.div_ceil(columns.min(most).max(1)),
        threshold: found.threshold(alpha),
        assignments: found.largest.len(),
        exact: found.exact,
        columns: all_names.into_iter().zip(found.columns).collect(),
        alpha,
    })
}

/// What a product is called: `x²`, `x × y`, of windows `x..y`.
fn name_of_product(names: &[String], (left, right): (Range<usize>, Range<usize>)) -> String {
    let of = |window: &Range<usize>| match window.len() {
        1 => names[window.start].clone(),
        _ => format!("{}..{}", names[window.start], names[window.end - 1]),
    };
    match left == right {
        true if left.len() == 1 => format!("{}²", of(&left)),
        true => format!("({})²", of(&left)),
        false => format!("{} × {}", of(&left), of(&right)),
    }
}
