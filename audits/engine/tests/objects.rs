//! Objects behind URLs through the engine, against the same files on disk.

mod common;

use std::io::{BufRead, BufReader, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use arrow::array::{ArrayRef, Int64Array, StringArray};
use common::{Words, json, options, write};
use leakgauge::log::{ReadMeter, read};

/// Serves the files of a directory, whole or in parts, with a pause before every 4,096 bytes.
fn serve(root: PathBuf, pause: Duration) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("an address");
    std::thread::spawn(move || {
        for socket in listener.incoming().flatten() {
            let root = root.clone();
            // Whoever asked may have gone.
            std::thread::spawn(move || drop(answer(&socket, &root, pause)));
        }
    });
    address
}

fn answer(mut socket: &TcpStream, root: &Path, pause: Duration) -> std::io::Result<()> {
    let lines: Vec<String> = BufReader::new(socket)
        .lines()
        .map_while(Result::ok)
        .take_while(|line| !line.is_empty())
        .collect();
    let mut words = lines[0].split(' ');
    let [method, path] = [words.next().unwrap(), words.next().unwrap()];
    let bytes = std::fs::read(root.join(path.trim_start_matches('/')))?;
    let part = lines.iter().find_map(|line| {
        let line = line.to_ascii_lowercase();
        let (from, to) = line.strip_prefix("range: bytes=")?.split_once('-')?;
        let from: usize = from.parse().ok()?;
        let to = to
            .parse()
            .map_or(bytes.len(), |to: usize| (to + 1).min(bytes.len()));
        Some(from..to)
    });
    let (status, body) = match &part {
        None => ("200 OK", &bytes[..]),
        Some(part) => ("206 Partial Content", &bytes[part.clone()]),
    };
    let mut head = format!(
        "HTTP/1.1 {status}\r\ncontent-length: {}\r\nconnection: close\r\n",
        body.len()
    );
    if let Some(part) = &part {
        head += &format!(
            "content-range: bytes {}-{}/{}\r\n",
            part.start,
            part.end - 1,
            bytes.len()
        );
    }
    socket.write_all((head + "\r\n").as_bytes())?;
    if method == "HEAD" {
        return Ok(());
    }
    body.chunks(4096).try_for_each(|piece| {
        std::thread::sleep(pause);
        socket.write_all(piece)
    })
}

fn write_logs(directory: &Path) {
    let mut words = Words(5);
    let rows: Vec<(i64, i64, &str)> = (0..5_000)
        .map(|when| {
            let secret = (words.next() % 3) as i64;
            let bucket = ["low", "high"][(words.next() % 2) as usize];
            (7 * when % 5_000, secret, bucket)
        })
        .collect();
    let text: String = rows
        .iter()
        .map(|(when, secret, bucket)| format!("{when},{secret},{},{bucket}\n", secret * when % 5))
        .collect();
    std::fs::write(
        directory.join("log.csv"),
        format!("when,secret,answer,bucket\n{text}"),
    )
    .unwrap();
    let column = |of: &dyn Fn(&(i64, i64, &str)) -> i64| -> ArrayRef {
        Arc::new(rows.iter().map(of).collect::<Int64Array>())
    };
    write(
        &directory.join("log.parquet"),
        vec![
            ("when", column(&|row| row.0)),
            ("secret", column(&|row| row.1)),
            ("answer", column(&|row| row.1 * row.0 % 5)),
            (
                "bucket",
                Arc::new(StringArray::from_iter_values(rows.iter().map(|row| row.2))),
            ),
        ],
    );
}

#[test]
fn objects_give_the_report_of_files() {
    compare(Duration::ZERO);
}

/// Every answer takes tens of times as long as all the work on it.
#[test]
fn a_slow_place_changes_nothing() {
    compare(Duration::from_millis(20));
}

fn compare(pause: Duration) {
    let place = tempfile::tempdir().unwrap();
    write_logs(place.path());
    let server = serve(place.path().to_owned(), pause);
    for name in ["log.csv", "log.parquet"] {
        let path = place.path().join(name).to_str().unwrap().to_owned();
        let url = format!("http://{server}/{name}");
        for (condition, by_time) in [
            (None, false),
            (Some("bucket = 'low'"), false),
            (Some("bucket = 'low' AND \"when\" > 9"), true),
        ] {
            let report = |file: &String| {
                let mut options = options(std::slice::from_ref(file), condition, None);
                options.observe = Some(vec!["answer".into()]);
                if by_time {
                    options.engine.as_mut().unwrap().order_by = vec!["when".into()];
                }
                String::from_utf8(json(&options))
                    .unwrap()
                    .replace(file.as_str(), "LOG")
            };
            assert_eq!(report(&url), report(&path), "{name} {condition:?}");
        }
    }
    let nothing = options(&[format!("http://{server}/nothing.csv")], None, None);
    let said = read(&nothing, &ReadMeter::default())
        .unwrap_err()
        .to_string();
    assert!(said.contains("nothing.csv"), "{said}");
}
