//! Parquet files whose columns are stored as keys into small dictionaries: what the engine has to count are the counts
//! of their row groups, and not their rows.

use std::fs::File;
use std::sync::Arc;

use datafusion::dataframe::DataFrame;
use datafusion::datasource::MemTable;
use datafusion::prelude::SessionContext;
use rayon::prelude::*;

use crate::kinds::Kind;
use leakgauge_columnar::KeyCounts;
use leakgauge_log::ReadOptions;
use leakgauge_log::layout::Layout;

/// The column of how often a row of such a table occurred.
pub(super) const TIMES: &str = "n";

/// What is distinct in each row group: columns `c0`, `c1`, … as of a scan, and [`TIMES`]. `None` where rows have to be
/// looked at one by one, or are stored otherwise: the engine reads them, and has the words for what is wrong with them.
pub(super) fn frame(
    context: &SessionContext,
    kind: &Kind,
    files: &[String],
    layout: &Layout,
    options: &ReadOptions,
) -> Option<DataFrame> {
    let engine = options.engine.as_ref()?;
    let is_local = engine.condition.is_none() && engine.cluster.is_none();
    let is_counted =
        engine.order_by.is_empty() && layout.order.is_empty() && layout.count.is_none();
    if !(is_local && is_counted && matches!(kind, Kind::Parquet(_))) {
        return None;
    }
    let columns: Vec<usize> = layout.used().collect();
    let mut schema = None;
    let mut batches = Vec::new();
    for file in files {
        let counts = KeyCounts::open(&File::open(file).ok()?, &columns)?;
        if *schema.get_or_insert_with(|| counts.schema().clone()) != *counts.schema() {
            return None;
        }
        // A handle each: handles that share a place in the file cannot be read at the same time.
        let group = |at: usize| counts.group(File::open(file).ok()?, at);
        let groups = (0..counts.groups()).into_par_iter().map(group);
        batches.extend(groups.collect::<Option<Vec<_>>>()?);
    }
    let table = MemTable::try_new(schema?, vec![batches]).ok()?;
    context.read_table(Arc::new(table)).ok()
}

#[cfg(test)]
mod tests {
    use datafusion::arrow::array::{ArrayRef, Float64Array, Int64Array, RecordBatch, StringArray};
    use datafusion::parquet::arrow::ArrowWriter;
    use leakgauge_log::EngineOptions;

    use super::*;
    use crate::scan::Scan;

    fn written(path: &std::path::Path, answers: ArrayRef) -> String {
        let secrets = (0..answers.len()).map(|row| ["a", "b"][row % 2]);
        let secrets: ArrayRef = Arc::new(StringArray::from_iter_values(secrets));
        let rows = RecordBatch::try_from_iter([("secret", secrets), ("answer", answers)]).unwrap();
        let mut writer =
            ArrowWriter::try_new(File::create(path).unwrap(), rows.schema(), None).unwrap();
        writer.write(&rows).unwrap();
        writer.close().unwrap();
        path.to_str().unwrap().to_owned()
    }

    fn is_precounted(file: &str, engine: EngineOptions) -> bool {
        let options = ReadOptions {
            files: vec![file.into()],
            secret: Some("secret".into()),
            engine: Some(engine),
            columnar: Some(&leakgauge_columnar::ArrowReader),
            ..ReadOptions::default()
        };
        let runtime = tokio::runtime::Runtime::new().unwrap();
        let context = SessionContext::new();
        let scan = Scan::plan(&context, &options.files, &options, None);
        runtime.block_on(scan).unwrap().is_precounted
    }

    #[test]
    fn keys_are_counted_where_no_row_has_to_be_looked_at() {
        let place = tempfile::tempdir().unwrap();
        let at = |name: &str| place.path().join(name);
        let recurring = (0..3_000).map(|row| row % 7);
        let integers = written(
            &at("integers"),
            Arc::new(Int64Array::from_iter_values(recurring)),
        );
        assert!(is_precounted(&integers, EngineOptions::default()));
        let condition = Some("answer > 3".into());
        let some = EngineOptions {
            condition,
            ..EngineOptions::default()
        };
        assert!(!is_precounted(&integers, some));
        let distinct = written(
            &at("distinct"),
            Arc::new(Int64Array::from_iter_values(0..3_000)),
        );
        assert!(!is_precounted(&distinct, EngineOptions::default()));
        let zeros = (0..3_000).map(|row| if row % 3 == 0 { 0.0 } else { -0.0 });
        let floats = written(
            &at("floats"),
            Arc::new(Float64Array::from_iter_values(zeros)),
        );
        assert!(!is_precounted(&floats, EngineOptions::default()));
    }
}
