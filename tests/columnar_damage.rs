//! Parquet and Arrow IPC that cannot be read: what is wrong, with its row or its row group.

use std::fs::File;
use std::sync::Arc;

use crate::common::columns::{
    arrow_file, arrow_stream, batch, numeric_batch, parquet, plain_parquet,
};
use crate::common::shapes::{of, zstd};
use crate::common::{Place, gzip, numeric_log};
use arrow::array::{
    ArrayRef, DictionaryArray, Int64Array, IntervalDayTimeArray, ListArray, StringArray,
};
use arrow::datatypes::{Int32Type, Int64Type};
use arrow::ipc::CompressionType;
use leakgauge::log::{self, ReadMeter, ReadOptions};
use parquet::basic::Compression;
use parquet::file::metadata::ParquetMetaDataReader;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

#[test]
fn files_that_do_not_fit_together_are_named() {
    let rows = numeric_batch(20);
    let part = |name: &str, column: ArrayRef| {
        batch(vec![("secret", rows.column(0).clone()), (name, column)])
    };
    let place = (1..=7).fold(Place::new(), |place, at| {
        place.file(&format!("part-{at}.parquet"), plain_parquet(&rows))
    });
    let tine = part("tine", rows.column(1).clone());
    let place = place.file("part-7.parquet", plain_parquet(&tine));
    place.refuses(&of("part-*", &[]), &["part-7.parquet", "no column `time`"]);
    let words = part("time", Arc::new(StringArray::from(vec!["slow"; 20])));
    let place = place.file("part-7.parquet", plain_parquet(&words));
    place.refuses(
        &of("part-*", &["--numeric", "time"]),
        &["part-7.parquet, row 1, column time", "slow", "not a number"],
    );
    let report = place.json(&of("part-*", &[]));
    let warnings = report["warnings"].as_array().expect("a list");
    let is_said = |warning: &serde_json::Value| warning["code"] == "words-among-numbers";
    assert!(warnings.iter().any(is_said));
    // Integers and their texts are the same labels.
    let integers = part(
        "time",
        Arc::new(Int64Array::from_iter_values((0..20).map(|i| i % 3))),
    );
    let texts = StringArray::from_iter_values((0..20).map(|i| (i % 3).to_string()));
    let place = Place::new()
        .file("a.parquet", plain_parquet(&integers))
        .file("b.parquet", plain_parquet(&part("time", Arc::new(texts))));
    let report = place.json(&of("?.parquet", &["--categorical", "time"]));
    assert_eq!(report["input"]["observation"]["distinct"], 3);
}

#[test]
fn what_cannot_be_a_column_or_an_option_is_said() {
    let secrets = || -> ArrayRef { Arc::new(StringArray::from(vec!["a", "b"])) };
    let intervals = IntervalDayTimeArray::from(vec![Some(Default::default()); 2]);
    let place = Place::new()
        .file("log.parquet", plain_parquet(&numeric_batch(20)))
        .file("log.arrow", arrow_file(&numeric_batch(20), None))
        .file(
            "packed.parquet.gz",
            gzip(&plain_parquet(&numeric_batch(20))),
        )
        .file(
            "packed.arrow.zst",
            zstd(&arrow_file(&numeric_batch(20), None)),
        )
        .file(
            "none.parquet",
            plain_parquet(&numeric_batch(20).slice(0, 0)),
        )
        .file(
            "gaps.arrow",
            arrow_file(
                &batch(vec![("secret", secrets()), ("gap", Arc::new(intervals))]),
                None,
            ),
        );
    place.refuses(
        &of("gaps.arrow", &[]),
        &["column gap", "intervals", "epoch"],
    );
    place.refuses(&of("none.parquet", &[]), &["none.parquet", "no rows"]);
    place.refuses(
        &of("log.parquet", &["--no-header"]),
        &["--no-header", "log.parquet"],
    );
    place.refuses(
        &of("log.arrow", &["--delimiter", ";"]),
        &["--delimiter", "log.arrow"],
    );
    for file in ["packed.parquet.gz", "packed.arrow.zst"] {
        place.refuses(&of(file, &[]), &[file, "not packed"]);
    }
    let piped = place.run_on(&of("-", &[]), plain_parquet(&numeric_batch(20)));
    crate::common::assert_refused(
        &piped,
        &["standard input: is a Parquet file", "as a file of its own"],
    );
    place.refuses(
        &[
            "audit",
            "log.parquet",
            "--follow",
            "--claim",
            "advantage(0.5)",
        ],
        &["log.parquet", "Parquet", "lines of text"],
    );
    place.refuses(
        &["channel", "log.parquet"],
        &["log.parquet", "Parquet", "CSV"],
    );
}

const GOLDEN: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/golden/columnar/");

/// Written with pyarrow 26.0.1, the first with an encrypted footer, the other with an encrypted column.
#[test]
fn encrypted_files_are_known() {
    let place = Place::new();
    for file in ["encrypted-footer.parquet", "encrypted-columns.parquet"] {
        let file = format!("{GOLDEN}{file}");
        place.refuses(
            &of(&file, &[]),
            &[&file, "encrypted Parquet", "without encryption"],
        );
    }
    // Words may begin so too.
    let text = numeric_log(200).replace("secret,", "PARENT,");
    let place = Place::with_log(text);
    place.json(&of("log.csv", &["--secret", "PARENT"]));
}

/// A broken byte in the values of the third row group.
#[test]
fn a_broken_row_group_or_batch_is_named() {
    let rows = numeric_batch(650);
    let mut packed = parquet(&rows, Compression::SNAPPY, false);
    let place = Place::new().file("whole.parquet", &packed);
    let whole = File::open(place.path().join("whole.parquet")).unwrap();
    let footer = ParquetMetaDataReader::new()
        .parse_and_finish(&whole)
        .unwrap();
    let group = footer.row_group(2);
    let (start, length) = group.column(1).byte_range();
    // The lengths in the page's own head stay what they are.
    let middle = (start + length / 2) as usize;
    packed[middle..middle + 40].fill(0xff);
    let mut batches = arrow_file(&rows, Some(CompressionType::ZSTD));
    let third = batches
        .windows(4)
        .enumerate()
        .filter(|(_, four)| *four == [0x28, 0xb5, 0x2f, 0xfd]);
    let third = third.map(|(at, _)| at).nth(2 * 3).unwrap();
    batches[third..third + 4].fill(0xff);
    let place = place.file("log.parquet", packed).file("log.arrow", batches);
    place.refuses(
        &of("log.parquet", &[]),
        &["log.parquet: row group 3", "copy the file again"],
    );
    place.refuses(
        &of("log.arrow", &[]),
        &["log.arrow: record batch 3", "copy the file again"],
    );
}

/// Written with pyarrow 26.0.1 with checksums; then one bit of a value in the second row group was changed.
#[test]
fn checksums_are_checked() {
    let file = format!("{GOLDEN}checksum.parquet");
    Place::new().refuses(&of(&file, &[]), &[&file, "row group 2", "checksum"]);
}

#[test]
fn a_file_that_is_cut_off_is_said_to_be() {
    let rows = numeric_batch(650);
    let files = [
        ("log.parquet", plain_parquet(&rows)),
        ("log.arrow", arrow_file(&rows, None)),
        ("log.arrows", arrow_stream(&rows, None)),
    ];
    for (name, file) in files {
        for length in [9, file.len() / 2, file.len() - 1] {
            let place = Place::new().file(name, &file[..length]);
            place.refuses(&of(name, &[]), &[name, "truncated", "copy the file again"]);
        }
    }
}

/// Bytes changed anywhere, and files cut off anywhere: an error that names the file, or rows. It does not
/// panic, nor take memory that is not there.
#[test]
fn broken_files_are_errors() {
    let rows = numeric_batch(120);
    let words = batch(vec![
        ("secret", rows.column(0).clone()),
        (
            "list",
            Arc::new(ListArray::from_iter_primitive::<Int64Type, _, _>(
                (0..120).map(|i| (i % 5 > 0).then(|| (0..i % 5).map(Some).collect::<Vec<_>>())),
            )),
        ),
        (
            "word",
            Arc::new(
                (0..120)
                    .map(|i| ["x", "yy", "z"][i % 3])
                    .collect::<DictionaryArray<Int32Type>>(),
            ),
        ),
    ]);
    let mut files = Vec::new();
    for rows in [&rows, &words] {
        files.push(plain_parquet(rows));
        files.push(parquet(rows, Compression::SNAPPY, true));
        files.push(arrow_file(rows, None));
        files.push(arrow_file(rows, Some(CompressionType::ZSTD)));
        files.push(arrow_stream(rows, Some(CompressionType::LZ4_FRAME)));
    }
    let rounds =
        std::env::var("LEAKGAUGE_BROKEN_FILES").map_or(60, |rounds| rounds.parse().unwrap());
    let mut rng = ChaCha8Rng::seed_from_u64(8);
    let place = Place::new();
    let name = place.path().join("log").to_str().unwrap().to_owned();
    let options = ReadOptions {
        files: vec![name.clone()],
        ..ReadOptions::default()
    };
    let mut errors = 0;
    for file in files.iter().cycle().take(rounds * files.len()) {
        let mut broken = file.clone();
        if rng.random_range(0..8u8) == 0 {
            broken.truncate(rng.random_range(8..broken.len()));
        } else {
            // The footer is where sizes and counts are.
            let from = if rng.random() { broken.len() / 2 } else { 8 };
            for _ in 0..rng.random_range(1..4u8) {
                let at = rng.random_range(from..broken.len());
                broken[at] = rng.random();
            }
        }
        std::fs::write(&name, &broken).unwrap();
        if let Err(error) = log::read(&options, &ReadMeter::default()) {
            assert!(error.to_string().contains(&name), "{error}");
            errors += 1;
        }
    }
    assert!(errors * 10 > rounds * files.len() * 3, "{errors}");
}
