//! A dataset of linfa as a log.

use std::fmt::{Display, Write};
use std::io::Cursor;

use leakgauge_base::error::{Error, Result};
use leakgauge_log::{HeaderChoice, Log, ReadOptions, read_from};
use linfa::Float;
use linfa::dataset::{AsSingleTargets, DatasetBase, Label};
use ndarray::{ArrayBase, Data, Ix2};

/// The log with a row for each sample of a dataset: the target is the secret, the features are what an observer
/// sees. Columns have the names of the features, `x1`, `x2`, … if there are none, and are typed as those of a file are.
///
/// # Errors
/// A number that is not finite; weights, which a log does not have; no rows.
///
/// ```
/// use leakgauge_attack::linfa::log_from_dataset;
/// use linfa::Dataset;
/// use ndarray::array;
///
/// let features = array![[0.5, 2.0], [1.5, 3.0], [0.25, 4.0], [1.75, 5.0]];
/// let dataset = Dataset::new(features, array!["no", "yes", "no", "yes"]);
/// let log = log_from_dataset(&dataset)?;
/// assert_eq!(log.secrets, ["no", "yes"]);
/// # Ok::<(), leakgauge_base::error::Error>(())
/// ```
pub fn log_from_dataset<F, D, L, T>(dataset: &DatasetBase<ArrayBase<D, Ix2>, T>) -> Result<Log>
where
    F: Float,
    D: Data<Elem = F>,
    L: Label + Display,
    T: AsSingleTargets<Elem = L>,
{
    if dataset.weights().is_some() {
        return Err(Error::parameter("dataset", "a log has no weights of rows")
            .with_hint("repeat rows that count more than once"));
    }
    let records = dataset.records();
    let mut text = header(dataset.feature_names(), records.ncols());
    let targets = dataset.as_single_targets();
    for (row, (target, numbers)) in targets.iter().zip(records.rows()).enumerate() {
        text.push_str(&quoted(&target.to_string()));
        for number in numbers {
            // Rust writes the shortest text that reads back as the same number.
            let number = number.to_f64().filter(|number| number.is_finite());
            let Some(number) = number else {
                return Err(Error::parameter(
                    "dataset",
                    format!("row {} holds a number that is not finite", row + 1),
                ));
            };
            // Writing to a string cannot fail.
            let _ = write!(text, ",{number}");
        }
        text.push('\n');
    }
    let options = ReadOptions {
        secret: Some("1".to_owned()),
        // Features are what is observed, whatever they are called.
        observe: Some(
            (0..records.ncols())
                .map(|at| (at + 2).to_string())
                .collect(),
        ),
        header: HeaderChoice::Present,
        delimiter: Some(b','),
        ..ReadOptions::default()
    };
    read_from("dataset", Cursor::new(text), &options)
}

fn header(names: &[String], columns: usize) -> String {
    let names: Vec<String> = (0..columns)
        .map(|column| match names.get(column) {
            Some(name) => quoted(name),
            None => format!("x{}", column + 1),
        })
        .collect();
    format!("secret,{}\n", names.join(","))
}

fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('"', "\"\""))
}

#[cfg(test)]
mod tests {
    use super::*;
    use linfa::Dataset;
    use ndarray::Array2;

    #[test]
    fn a_dataset_is_the_log_of_the_file_with_the_same_rows() {
        let labels = ["a", "b, \"c\""];
        let number = |row: usize, column: usize| 0.1 * row as f64 - 3.0 * column as f64;
        let features = Array2::from_shape_fn((60, 2), |(row, column)| number(row, column));
        let targets = (0..60).map(|row| labels[row % 2].to_owned()).collect();
        let dataset = Dataset::new(features, ndarray::Array1::from_vec(targets))
            .with_feature_names(vec!["time", "with, comma"]);
        let log = log_from_dataset(&dataset).unwrap();
        assert_eq!(log.secrets, labels);
        let names: Vec<_> = log.observations.columns().iter().map(|c| &c.name).collect();
        assert_eq!(names, ["time", "with, comma"]);
        let mut rows: Vec<[f64; 2]> = (0..60)
            .map(|row| [number(row, 0), number(row, 1)])
            .collect();
        rows.sort_by(|a, b| a[0].total_cmp(&b[0]));
        let found: Vec<&[f64]> = (0..60).map(|id| log.observations.numbers(id)).collect();
        assert_eq!(found, rows);
    }

    #[test]
    fn what_a_log_cannot_hold_is_refused() {
        let features = Array2::from_elem((4, 1), f64::NAN);
        let dataset = Dataset::new(features, ndarray::arr1(&[0usize, 1, 0, 1]));
        let error = log_from_dataset(&dataset).unwrap_err().to_string();
        assert!(error.contains("row 1"), "{error}");
        let dataset = Dataset::new(Array2::zeros((2, 1)), ndarray::arr1(&[0usize, 1]))
            .with_weights(ndarray::arr1(&[1.0, 2.0]));
        assert!(log_from_dataset::<f64, _, _, _>(&dataset).is_err());
    }
}
