//! Which columns depend on the secret.

use serde::Serialize;

use crate::audit::{ColumnLimits, ColumnTest, LeakingColumns};
use crate::estimate::Method;
use crate::report::columns::compared;

/// What all columns say.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ColumnsKeys<'a> {
    /// How many columns of numbers were tested.
    tested: usize,
    /// How many products of two columns were tested too, with the columns one family; 0 unless asked for.
    products: usize,
    /// How many random assignments of secrets to rows they were compared with.
    assignments: usize,
    /// The statistic beyond which a column stands out; null where too few random assignments were drawn for it.
    threshold: Option<f64>,
    /// The columns that stand out, all together; the most certain first.
    leaking: Vec<ColumnKeys<'a>>,
}

/// A column.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct ColumnKeys<'a> {
    /// Its name; of a product `x × y` or `x²`.
    column: &'a str,
    /// Where the secrets differ most: `mean`, `rank` or `spread`.
    compared: &'static str,
    /// The largest of the three statistics; that of the spread counts nine tenths.
    statistic: f64,
    /// Welch's t of two secrets, the second against the first; F of more. Null where no row differs from its secret's mean,
    /// and where words stand among the numbers.
    t_or_f: Option<f64>,
    /// The variance of the secrets' means over the mean variance of the rows of a secret; null for the same reason.
    signal_to_noise: Option<f64>,
    /// The p-value, all columns together.
    p_value: f64,
}

/// What single columns say by themselves.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ColumnLimitsKeys<'a> {
    /// The two secrets: the pair that promised most on rows that do not judge.
    secrets: [&'a str; 2],
    /// How the limits were obtained.
    method: Method,
    /// The certification rows of either secret.
    rows: [u64; 2],
    /// The error probability that all limits share.
    alpha: f64,
    /// Columns that were chosen on other rows, the largest estimate first.
    columns: Vec<ColumnLimitKeys<'a>>,
}

/// The total variation in a column.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct ColumnLimitKeys<'a> {
    /// The name of the column.
    column: &'a str,
    /// The Kolmogorov distance of the certification rows, which is at most the total variation of their laws.
    estimate: f64,
    /// The total variation is at least this, all columns together.
    lower: f64,
}

impl<'a> ColumnLimitsKeys<'a> {
    /// The keys of what was found.
    pub fn of(found: &'a ColumnLimits) -> Self {
        let columns = found.columns.iter().map(|column| ColumnLimitKeys {
            column: &column.name,
            estimate: column.distance,
            lower: column.lower,
        });
        ColumnLimitsKeys {
            secrets: found.secrets.labels(),
            method: Method::KolmogorovDkw,
            rows: found.rows,
            alpha: found.alpha,
            columns: columns.collect(),
        }
    }
}

impl<'a> ColumnsKeys<'a> {
    /// The keys of what was found.
    pub fn of(found: &'a LeakingColumns) -> Self {
        ColumnsKeys {
            tested: found.single().len(),
            products: found.products,
            assignments: found.assignments,
            threshold: found.threshold,
            leaking: found.leaking().into_iter().map(ColumnKeys::of).collect(),
        }
    }
}

impl<'a> ColumnKeys<'a> {
    fn of((name, test): &'a (String, ColumnTest)) -> Self {
        let finite = |value: f64| Some(value).filter(|value| value.is_finite());
        ColumnKeys {
            column: name,
            compared: compared(test.compared),
            statistic: test.statistic,
            t_or_f: finite(test.t_or_f),
            signal_to_noise: finite(test.signal_to_noise),
            p_value: test.p_value,
        }
    }
}
