//! Audits on a real scheduler and two executors on loopback: the same bytes as without a cluster.

mod common;

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use arrow::array::{ArrayRef, Float64Array, Int64Array};
use common::cluster::{Cluster, free_port};
use common::{Words, json, options, write};
use leakgauge::log::{ReadMeter, read};

/// Randomized response in eight files: the secret with probability 1/2, anything of 4 otherwise.
fn discrete(directory: &Path, rows: usize) -> Vec<String> {
    let mut words = Words(1);
    (0..8)
        .map(|part| {
            let path = directory.join(format!("discrete-{part}.parquet"));
            let secrets: Vec<i64> = (0..rows).map(|_| (words.next() % 4) as i64).collect();
            let tells = |secret: i64, words: &mut Words| match words.next() % 2 {
                0 => secret,
                _ => (words.next() % 4) as i64,
            };
            let seen: Vec<i64> = secrets
                .iter()
                .map(|&secret| tells(secret, &mut words))
                .collect();
            write(
                &path,
                vec![
                    ("secret", Arc::new(Int64Array::from(secrets)) as ArrayRef),
                    ("answer", Arc::new(Int64Array::from(seen))),
                ],
            );
            path.to_str().unwrap().to_owned()
        })
        .collect()
}

/// Two secrets whose two numbers differ by half a standard deviation of a sum of uniforms.
fn numeric(directory: &Path, rows: usize) -> Vec<String> {
    let mut words = Words(2);
    (0..8)
        .map(|part| {
            let path = directory.join(format!("numeric-{part}.parquet"));
            let secrets: Vec<i64> = (0..rows).map(|_| (words.next() % 2) as i64).collect();
            let mut column = |shift: f64| -> ArrayRef {
                let noise = |words: &mut Words| (0..12).map(|_| words.uniform()).sum::<f64>() - 6.0;
                let values = secrets
                    .iter()
                    .map(|&secret| noise(&mut words) + shift * secret as f64);
                Arc::new(Float64Array::from(values.collect::<Vec<_>>()))
            };
            let (x, y) = (column(0.5), column(0.0));
            write(
                &path,
                vec![
                    ("secret", Arc::new(Int64Array::from(secrets.clone()))),
                    ("x", x),
                    ("y", y),
                ],
            );
            path.to_str().unwrap().to_owned()
        })
        .collect()
}

#[test]
fn a_cluster_gives_the_same_bytes() {
    let place = tempfile::tempdir().unwrap();
    let cluster = Cluster::start(place.path());
    // More distinct rows than are kept: a sample is drawn, on the cluster the same one.
    let logs = [
        (discrete(place.path(), 5_000), None),
        (
            discrete(place.path(), 5_000),
            Some("answer <> 3 AND secret < 3"),
        ),
        (numeric(place.path(), 2_000), None),
        (numeric(place.path(), 2_000), Some("x > -1")),
    ];
    for (files, condition) in logs {
        let here = json(&options(&files, condition, None));
        let there = json(&options(&files, condition, cluster.url()));
        assert!(!here.is_empty());
        assert_eq!(
            String::from_utf8(here).unwrap(),
            String::from_utf8(there).unwrap()
        );
    }
    // And rows in an order: here one column puts the other in order.
    let files = numeric(place.path(), 2_000);
    let [here, there] = [None, cluster.url()].map(|cluster| {
        let mut options = options(&files, None, cluster);
        options.observe = Some(vec!["y".into()]);
        options.engine.as_mut().unwrap().order_by = vec!["x".into()];
        String::from_utf8(json(&options)).unwrap()
    });
    assert_eq!(here, there);
    assert!(!here.contains("order-not-checked"), "{here}");
}

#[test]
fn an_executor_that_dies_changes_nothing() {
    let place = tempfile::tempdir().unwrap();
    let files = numeric(place.path(), 100_000);
    let here = json(&options(&files, None, None));
    for wait in [150, 400, 600] {
        let work = place.path().join(wait.to_string());
        std::fs::create_dir(&work).unwrap();
        let mut cluster = Cluster::start(&work);
        let asked = options(&files, None, cluster.url());
        let there = std::thread::spawn(move || json(&asked));
        std::thread::sleep(Duration::from_millis(wait));
        let was_running = !there.is_finished();
        drop(cluster.executors.pop());
        let there = there
            .join()
            .expect("the answer comes from the other executor");
        assert!(
            was_running,
            "the query was over after {wait} ms: give it more rows"
        );
        assert_eq!(there, here, "killed after {wait} ms");
    }
}

#[test]
fn a_scheduler_that_dies_is_an_error_and_a_new_one_answers() {
    let place = tempfile::tempdir().unwrap();
    let files = numeric(place.path(), 100_000);
    let here = json(&options(&files, None, None));
    let mut cluster = Cluster::start(place.path());
    let asked = options(&files, None, cluster.url());
    let there = {
        let asked = asked.clone();
        std::thread::spawn(move || read(&asked, &ReadMeter::default()).map(|_| ()))
    };
    std::thread::sleep(Duration::from_millis(400));
    assert!(
        !there.is_finished(),
        "the query was over: give it more rows"
    );
    let begun = Instant::now();
    cluster.lose_scheduler();
    let error = there.join().unwrap().unwrap_err().to_string();
    assert!(begun.elapsed() < Duration::from_secs(60), "{error}");
    assert!(error.contains(&cluster.url().unwrap()), "{error}");
    cluster.restart_scheduler();
    assert_eq!(json(&asked), here);
}

#[test]
fn a_scheduler_that_is_not_there_is_an_error() {
    let place = tempfile::tempdir().unwrap();
    let files = discrete(place.path(), 100);
    let nobody = format!("df://127.0.0.1:{}", free_port());
    let error = read(
        &options(&files, None, Some(nobody.clone())),
        &ReadMeter::default(),
    )
    .unwrap_err();
    assert!(error.to_string().contains(&nobody), "{error}");
    assert!(error.to_string().contains("cannot be reached"), "{error}");
}
