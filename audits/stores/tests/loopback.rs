//! The same log from disk, from an S3 server and from a web server, and what is said where a server, a bucket, an
//! object or a credential is missing.

mod s3;

use std::fs::File;
use std::io::{BufRead, BufReader, Write};
use std::net::{SocketAddr, TcpListener};
use std::path::Path;
use std::process::{Command, Output};
use std::sync::Arc;
use std::time::{Duration, Instant};

use arrow::array::{ArrayRef, Float64Array, RecordBatch, StringArray};
use parquet::arrow::ArrowWriter;
use parquet::file::properties::WriterProperties;
use s3::{KEY, SECRET, serve_s3};

/// Rows of the large logs: more than one part of a text, and several row groups.
const ROWS: usize = 400_000;

/// Serves one text on the web, to whatever is asked for, whole: such a server gives no parts.
fn serve_web(text: Vec<u8>) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("an address");
    std::thread::spawn(move || {
        for socket in listener.incoming().flatten() {
            let text = text.clone();
            std::thread::spawn(move || {
                let mut lines = BufReader::new(&socket).lines().map_while(Result::ok);
                let is_head = lines.next().is_some_and(|line| line.starts_with("HEAD"));
                lines.find(String::is_empty);
                let mut out = &socket;
                let head = format!(
                    "HTTP/1.1 200 OK\r\ncontent-length: {}\r\nconnection: close\r\n\r\n",
                    text.len()
                );
                let body = if is_head { &[][..] } else { &text };
                // Whoever asked may have gone.
                let _ = out
                    .write_all(head.as_bytes())
                    .and_then(|()| out.write_all(body));
            });
        }
    });
    address
}

struct Reader<'n> {
    environment: Vec<(&'n str, String)>,
}

impl<'n> Reader<'n> {
    fn of(server: SocketAddr) -> Self {
        let environment = vec![
            ("AWS_ENDPOINT_URL", format!("http://{server}")),
            ("AWS_ALLOW_HTTP", "true".to_owned()),
            ("AWS_ACCESS_KEY_ID", KEY.to_owned()),
            ("AWS_SECRET_ACCESS_KEY", SECRET.to_owned()),
        ];
        Reader { environment }
    }

    fn with(mut self, name: &'n str, value: &str) -> Self {
        self.environment.retain(|(known, _)| *known != name);
        self.environment.push((name, value.to_owned()));
        self
    }

    fn without(mut self, name: &str) -> Self {
        self.environment.retain(|(known, _)| *known != name);
        self
    }

    fn run(&self, log: &str) -> Output {
        Command::new(env!("CARGO_BIN_EXE_audit-stores"))
            .arg(log)
            .env_clear()
            .envs(self.environment.iter().cloned())
            .output()
            .expect("the reader runs")
    }

    /// What was read, and the count of its bytes in a line before.
    fn read(&self, log: &str) -> (String, String) {
        let output = self.run(log);
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{log}: {errors}");
        let text = String::from_utf8(output.stdout).expect("text");
        let (meter, log) = text.split_once('\n').expect("two lines");
        (meter.to_owned(), log.to_owned())
    }

    /// What was said, which is little and soon.
    fn refused(&self, log: &str) -> String {
        let begun = Instant::now();
        let output = self.run(log);
        assert_eq!(output.status.code(), Some(2), "{log}");
        assert!(begun.elapsed() < Duration::from_secs(60), "{log}");
        String::from_utf8(output.stderr).expect("text")
    }
}

fn values(row: usize) -> (&'static str, f64) {
    let secret = ["a", "b", "c"][row % 3];
    // The fractional parts of multiples of the golden ratio: no run of rows comes twice.
    let fraction = (row as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 50;
    (secret, fraction as f64 / 8.0)
}

fn write_logs(bucket: &Path) {
    let mut text = String::from("secret,time\n");
    for (secret, time) in (0..ROWS).map(values) {
        text += &format!("{secret},{time:0>30}\n");
    }
    std::fs::write(bucket.join("log.csv"), &text).expect("a log");
    let secrets = StringArray::from_iter_values((0..ROWS).map(|row| values(row).0));
    let times = Float64Array::from_iter_values((0..ROWS).map(|row| values(row).1));
    let columns: [(&str, ArrayRef); 2] = [("secret", Arc::new(secrets)), ("time", Arc::new(times))];
    let batch = RecordBatch::try_from_iter(columns).expect("columns");
    let properties = WriterProperties::builder().set_max_row_group_row_count(Some(ROWS / 3));
    let file = File::create(bucket.join("log.parquet")).expect("a file");
    let mut writer =
        ArrowWriter::try_new(file, batch.schema(), Some(properties.build())).expect("a writer");
    writer.write(&batch).expect("rows");
    writer.close().expect("an end");
    std::fs::create_dir(bucket.join("days")).expect("a directory");
    for day in 1..=2 {
        let rows = "a,1\nb,2\nb,3\n".repeat(day);
        let log = format!("secret,o\n{rows}");
        std::fs::write(bucket.join(format!("days/{day}.csv")), log).expect("a log");
    }
}

#[test]
fn a_log_is_the_same_from_disk_and_from_a_store() {
    let root = tempfile::tempdir().expect("a directory");
    let bucket = root.path().join("bucket");
    std::fs::create_dir(&bucket).expect("a bucket");
    write_logs(&bucket);
    let reader = Reader::of(serve_s3(root.path()));
    for name in ["log.csv", "log.parquet"] {
        let path = bucket.join(name);
        let disk = reader.read(path.to_str().expect("a name"));
        let store = reader.read(&format!("s3://bucket/{name}"));
        assert_eq!(store, disk, "{name}");
    }
    let (_, all) = reader.read("s3://bucket/days/");
    let (_, matching) = reader.read("s3://bucket/days/*.csv");
    assert_eq!(all, matching);
    assert!(all.contains("rows: 9"), "{all}");
    profiles(root.path(), &reader, &all);
    failures(reader);
}

/// Keys and endpoint from a profile instead of variables.
fn profiles(root: &Path, reader: &Reader<'_>, expected: &str) {
    let variable = |name: &str| {
        let known = reader.environment.iter().find(|(known, _)| *known == name);
        &known.expect("a variable").1
    };
    let [keys, config] = ["keys.ini", "config.ini"].map(|name| root.join(name));
    let text = format!("[work]\naws_access_key_id = {KEY}\naws_secret_access_key = {SECRET}\n");
    std::fs::write(&keys, text).expect("a file");
    let endpoint = variable("AWS_ENDPOINT_URL");
    let text = format!("[profile work]\nendpoint_url = {endpoint}\n[profile role]\nrole_arn = r\n");
    std::fs::write(&config, text).expect("a file");
    let with_profile = |name: &str| {
        let path = |path: &Path| path.to_str().expect("a name").to_owned();
        Reader {
            environment: vec![
                ("AWS_ALLOW_HTTP", "true".to_owned()),
                ("AWS_SHARED_CREDENTIALS_FILE", path(&keys)),
                ("AWS_CONFIG_FILE", path(&config)),
                ("AWS_PROFILE", name.to_owned()),
            ],
        }
    };
    let (_, found) = with_profile("work").read("s3://bucket/days/");
    assert_eq!(found, expected);
    let said = with_profile("role").refused("s3://bucket/days/");
    assert!(said.contains("export-credentials --profile role"), "{said}");
    let said = with_profile("nobody").refused("s3://bucket/days/");
    assert!(said.contains("no profile nobody"), "{said}");
}

fn failures(reader: Reader) {
    let said = reader.refused("s3://bucket/nothing.csv");
    assert!(said.contains("no such object"), "{said}");
    let said = reader.refused("s3://nowhere/log.csv");
    assert!(
        said.contains("no such bucket") || said.contains("no such object"),
        "{said}"
    );
    let said = reader.refused("s3://bucket/*.json");
    assert!(said.contains("no object matches"), "{said}");
    let reader = reader.with("AWS_SECRET_ACCESS_KEY", "wrong");
    let said = reader.refused("s3://bucket/log.csv");
    assert!(said.contains("refuses access"), "{said}");
    let reader = reader.without("AWS_SECRET_ACCESS_KEY");
    let said = reader.refused("s3://bucket/log.csv");
    assert!(
        said.contains("the credential AWS_SECRET_ACCESS_KEY is not set"),
        "{said}"
    );
}

#[test]
fn nobody_there_is_an_error_in_bounded_time() {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("an address");
    drop(listener);
    let said = Reader::of(address).refused("s3://bucket/log.csv");
    assert!(said.contains("cannot be fetched"), "{said}");
    let said = Reader::of(address).refused(&format!("http://{address}/log.csv"));
    assert!(said.contains("cannot be fetched"), "{said}");
}

#[test]
fn a_text_from_a_web_server_without_parts_is_the_same_as_from_disk() {
    let text = b"secret,o\na,1\nb,2\nb,3\n";
    let place = tempfile::tempdir().expect("a directory");
    let path = place.path().join("log.csv");
    std::fs::write(&path, text).expect("a log");
    let server = serve_web(text.to_vec());
    let reader = Reader::of(server);
    let (_, disk) = reader.read(path.to_str().expect("a name"));
    let (_, web) = reader.read(&format!("http://{server}/some/log.csv?signature=1"));
    assert_eq!(web, disk);
}
