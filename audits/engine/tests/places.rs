//! One log on disk, in an S3 store and on a cluster: the same bytes, with the engine.

mod common;
#[path = "../../stores/tests/s3/mod.rs"]
mod s3;

use std::fmt::Write;
use std::net::SocketAddr;
use std::path::Path;
use std::process::{Command, Output};
use std::sync::Arc;

use arrow::array::{ArrayRef, Float64Array, Int64Array, StringArray};
use common::cluster::Cluster;
use common::{Words, write};

/// Runs the program of this package, which knows the store by its environment.
fn run(store: SocketAddr, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_engine-report"))
        .args(arguments)
        .env("AWS_ENDPOINT_URL", format!("http://{store}"))
        .env("AWS_ALLOW_HTTP", "true")
        .env("AWS_ACCESS_KEY_ID", s3::KEY)
        .env("AWS_SECRET_ACCESS_KEY", s3::SECRET)
        .output()
        .expect("the program of this package runs")
}

/// The report, with one name for the place of the log.
fn report(store: SocketAddr, arguments: &[&str], place: &str) -> String {
    let output = run(store, arguments);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{arguments:?}: {errors}");
    let text = String::from_utf8(output.stdout).expect("text");
    text.replace(place, "PLACE")
}

/// Words, whole numbers and numbers with decimals: one log as text, one as columns, one in parts, one whose secret
/// stands in the names of directories.
fn write_logs(bucket: &Path) {
    let mut words = Words(11);
    let rows: Vec<(&str, i64, f64)> = (0..6_000)
        .map(|_| {
            let secret = words.next() % 3;
            let answer = (secret * (words.next() % 4)) as i64;
            let time = (100.0 * (words.uniform() + 0.1 * secret as f64)).round() / 8.0;
            (["a", "b", "c"][secret as usize], answer, time)
        })
        .collect();
    let mut text = "secret,answer,time\n".to_owned();
    for (secret, answer, time) in &rows {
        writeln!(text, "{secret},{answer},{time:.3}").expect("text grows");
    }
    std::fs::write(bucket.join("log.csv"), text).expect("a log");
    let columns = |rows: &[(&str, i64, f64)]| -> Vec<(&str, ArrayRef)> {
        let words = rows.iter().map(|row| row.0);
        let answers = rows.iter().map(|row| row.1);
        let times = rows.iter().map(|row| row.2);
        vec![
            ("secret", Arc::new(StringArray::from_iter_values(words))),
            ("answer", Arc::new(answers.collect::<Int64Array>())),
            ("time", Arc::new(times.collect::<Float64Array>())),
        ]
    };
    write(&bucket.join("log.parquet"), columns(&rows));
    std::fs::create_dir(bucket.join("parts")).expect("a directory");
    for (at, rows) in rows.chunks(1_500).enumerate() {
        write(&bucket.join(format!("parts/{at}.parquet")), columns(rows));
    }
    for secret in ["a", "b", "c"] {
        let directory = bucket.join(format!("named/secret={secret}"));
        std::fs::create_dir_all(&directory).expect("a directory");
        let own: Vec<_> = rows.iter().filter(|row| row.0 == secret).copied().collect();
        write(&directory.join("part.parquet"), columns(&own).split_off(1));
    }
}

#[test]
fn a_log_is_the_same_on_disk_in_a_store_and_on_a_cluster() {
    let root = tempfile::tempdir().expect("a directory");
    let bucket = root.path().join("bucket");
    std::fs::create_dir(&bucket).expect("a bucket");
    write_logs(&bucket);
    let store = s3::serve_s3(root.path());
    let cluster = Cluster::start(root.path());
    let url = cluster.url().expect("a URL");
    let disk = bucket.to_str().expect("a name");
    for log in ["log.csv", "log.parquet", "parts/", "named/"] {
        let (path, object) = (format!("{disk}/{log}"), format!("s3://bucket/{log}"));
        let here = report(store, &[&path], disk);
        assert!(
            here.contains("\"privacy\"") && here.contains("PLACE"),
            "{here}"
        );
        assert_eq!(
            report(store, &[&object], "s3://bucket"),
            here,
            "{log} in the store"
        );
        if log == "named/" {
            let output = run(store, &["--cluster", &url, &path]);
            let said = String::from_utf8_lossy(&output.stderr);
            assert_eq!(output.status.code(), Some(2));
            assert!(said.contains("in the names of its directories"), "{said}");
            continue;
        }
        let there = report(store, &["--cluster", &url, &path], disk);
        assert_eq!(there, here, "{log} on the cluster");
    }
    let refused = run(store, &["--cluster", &url, "s3://bucket/log.csv"]);
    assert_eq!(refused.status.code(), Some(2));
    let said = String::from_utf8_lossy(&refused.stderr);
    assert!(
        said.contains("the machines of a cluster read files"),
        "{said}"
    );
}
