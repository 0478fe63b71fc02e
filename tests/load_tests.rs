//! Logs of load tests and scanners, by the commands of the book.

use std::fmt::Write;

use crate::common::{Place, stderr, stdout};
use leakgauge_testing::rng;
use rand::RngExt;
use serde_json::json;

/// Requests of two classes in random order, of which the second takes 2 ms longer: the class, its number and its ms.
fn requests() -> Vec<(&'static str, usize, f64)> {
    let mut rng = rng(9);
    let request = |at: usize| {
        let is_slow: bool = rng.random();
        let time = 20.0 + 3.0 * rng.random::<f64>() + if is_slow { 2.0 } else { 0.0 };
        (if is_slow { "admin" } else { "guest" }, at, time)
    };
    (0..600).map(request).collect()
}

fn log(head: &str, line: impl Fn(&str, usize, f64) -> String) -> String {
    let mut text = head.to_owned();
    for (class, at, time) in requests() {
        writeln!(text, "{}", line(class, at, time)).expect("memory");
    }
    text
}

/// The command of the book for a log, and a claim that it has to refute and one that holds.
fn judge(name: &str, text: &str, options: &[&str]) {
    let place = Place::new().file(name, text);
    for (claim, verdict) in [
        ("time-difference(1ms)", "VIOLATED"),
        ("time-difference(4ms)", "HOLDS"),
    ] {
        let arguments = [&["audit", name, "--quick", "--claim", claim], options].concat();
        let output = place.run(&arguments);
        let said = stdout(&output);
        assert!(said.contains(verdict), "{name}: {said}{}", stderr(&output));
        assert!(said.contains("left out: "), "{said}");
    }
}

#[test]
fn k6_is_read() {
    let head = "metric_name,timestamp,metric_value,scenario,status,url\n";
    let text = log(head, |class, at, time| {
        let start = 1_764_270_000 + at / 20;
        format!(
            "http_reqs,{start},1.000000,{class},200,http://x/\nhttp_req_duration,{start},{time:.6},{class},200,http://x/"
        )
    });
    judge(
        "k6.csv",
        &text,
        &[
            "--keep",
            "metric_name=http_req_duration",
            "--secret",
            "scenario",
            "--observe",
            "metric_value",
            "--unit",
            "ms",
        ],
    );
    let head = json!({"type": "Metric", "data": {"name": "http_req_duration", "type": "trend"}, "metric": "http_req_duration"});
    let text = log(&format!("{head}\n"), |class, at, time| {
        let point = |metric: &str, value: f64| {
            let tags = json!({"scenario": class, "status": "200", "url": "http://x/"});
            let time = format!("2026-11-29T12:00:{:02}.{:06}Z", at / 20 % 60, at);
            json!({"metric": metric, "type": "Point", "data": {"time": time, "value": value, "tags": tags}})
        };
        let points = [point("http_reqs", 1.0), point("http_req_duration", time)];
        points.map(|point| point.to_string()).join("\n")
    });
    judge(
        "k6.json",
        &text,
        &[
            "--keep",
            "type=Point",
            "--keep",
            "metric=http_req_duration",
            "--secret",
            "data.tags.scenario",
            "--observe",
            "data.value",
            "--unit",
            "ms",
        ],
    );
}

#[test]
fn vegeta_is_read() {
    let nanoseconds = |time: f64| (time * 1e6) as u64;
    let text = log("", |class, at, time| {
        let start = 1_764_270_000_000_000_000 + 10_000_000 * at as u64;
        let latency = nanoseconds(time);
        format!("{start},200,{latency},0,10,,aGVsbG8K,{class},{at},GET,http://x/,QTogYQo=")
    });
    let options = [
        "--no-header",
        "--secret",
        "8",
        "--observe",
        "3",
        "--unit",
        "ns",
    ];
    judge("vegeta.csv", &text, &options);
    let text = log("", |class, at, time| {
        let start = format!("2026-11-29T12:00:{:02}.{at:09}Z", at / 20 % 60);
        let latency = nanoseconds(time);
        json!({
            "attack": class, "seq": at, "code": 200, "timestamp": start, "latency": latency, "bytes_out": 0, "bytes_in": 10,
            "error": "", "body": "aGVsbG8K", "method": "GET", "url": "http://x/", "headers": {"A": ["a"]},
        })
        .to_string()
    });
    let options = ["--secret", "attack", "--observe", "latency", "--unit", "ns"];
    judge("vegeta.json", &text, &options);
}

#[test]
fn scanners_are_read_and_one_payload_is_compared_with_all_others() {
    let head = "FUZZ,url,redirectlocation,position,status_code,content_length,content_words,content_lines,content_type,duration,\
                resultfile,Ffufhash\n";
    let payload = |class: &str, at: usize| match class {
        "admin" => "admin".to_owned(),
        _ => ["guest", "root", "alice"][at % 3].to_owned(),
    };
    let text = log(head, |class, at, time| {
        let payload = payload(class, at);
        format!(
            "{payload},http://x/?u={payload},,{at},200,1200,30,5,text/html,{time:.6}ms,,{at:08x}"
        )
    });
    let merge = ["--merge", "admin=admin,*=others"];
    let options = ["--secret", "FUZZ", "--observe", "duration"];
    judge("ffuf.csv", &text, &[&options[..], &merge].concat());
    let head = "Request,Payload,Status code,Response received,Error,Timeout,Length,Comment\n";
    let text = log(head, |class, at, time| {
        format!(
            "{at},{},200,{time:.1},false,false,1200,",
            payload(class, at)
        )
    });
    let options = [
        "--secret",
        "Payload",
        "--observe",
        "Response received",
        "--unit",
        "ms",
    ];
    judge("burp.csv", &text, &[&options[..], &merge].concat());
}
