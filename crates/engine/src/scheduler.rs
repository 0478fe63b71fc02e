//! Whether a scheduler listens at an address.

use std::io::{self, Read, Write};
use std::net::{TcpStream, ToSocketAddrs};
use std::time::{Duration, Instant};

use leakgauge_base::error::{Error, Result};
use leakgauge_base::naming::{option, setting};

/// How long a scheduler may take to answer.
const PATIENCE: Duration = Duration::from_secs(3);
/// The port of a scheduler that is named without one.
const SCHEDULER_PORT: u16 = 50050;
/// What a client of HTTP/2 begins with (RFC 9113, 3.4), and settings of none.
const GREETING: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0";
/// The length of the head of a frame, and the place and kind of one that has settings.
const HEAD: usize = 9;
const KIND: usize = 3;
const SETTINGS: u8 = 4;

/// The option, for messages.
pub(super) fn cluster(url: &str) -> String {
    setting("cluster", url)
}

/// Whether a server of HTTP/2 listens where the scheduler should: the client itself would wait for very long.
///
/// # Errors
/// A URL that is not one of a scheduler; nothing there, or something else.
pub(super) fn reach(url: &str) -> Result<()> {
    let wrong = |problem: String| Error::parameter(cluster(url), problem);
    let address = url
        .strip_prefix("df://")
        .filter(|address| !address.is_empty())
        .ok_or_else(|| {
            wrong("is not the address of a scheduler".into())
                .with_hint("write it as df://HOST:PORT, for instance df://scheduler:50050")
        })?
        .trim_end_matches('/');
    let with_port = match address.rsplit_once(':') {
        Some((_, port)) if port.parse::<u16>().is_ok() => address.to_owned(),
        _ => format!("{address}:{SCHEDULER_PORT}"),
    };
    let unreachable = |error: io::Error| {
        wrong(format!("the scheduler cannot be reached: {error}")).with_hint(format!(
            "is it running, and may this machine connect to it? Without {} the log is read here",
            option("cluster")
        ))
    };
    let found = with_port.to_socket_addrs().map_err(unreachable)?;
    let mut last = io::Error::other("the name has no address");
    for address in found {
        match TcpStream::connect_timeout(&address, PATIENCE) {
            Ok(stream) => {
                if answers(stream) {
                    return Ok(());
                }
                return Err(
                    wrong("what listens there is not a scheduler".into()).with_hint(
                        "is it the port of a Ballista scheduler, 50050 unless it was told another?",
                    ),
                );
            }
            Err(error) => last = error,
        }
    }
    Err(unreachable(last))
}

/// Whether what listens greets as a server of HTTP/2: its first frame has settings.
fn answers(mut stream: TcpStream) -> bool {
    let deadline = Instant::now() + PATIENCE;
    let mut greet = || -> io::Result<bool> {
        stream.set_write_timeout(Some(PATIENCE))?;
        stream.write_all(GREETING)?;
        let mut head = [0; HEAD];
        let mut read = 0;
        while read < HEAD {
            // Bytes that come one by one do not prolong the wait.
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Ok(false);
            }
            stream.set_read_timeout(Some(left))?;
            match stream.read(&mut head[read..])? {
                0 => return Ok(false),
                more => read += more,
            }
        }
        Ok(head[KIND] == SETTINGS)
    };
    greet().unwrap_or(false)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::TcpListener;
    use std::thread;

    /// What is said of a listener that answers a client in this way.
    fn said(answer: impl FnOnce(TcpStream) + Send + 'static) -> Result<()> {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let address = listener.local_addr().expect("an address");
        let server = thread::spawn(move || answer(listener.accept().expect("a client").0));
        let found = reach(&format!("df://{address}/"));
        server.join().expect("the server ends");
        found
    }

    fn greeting(stream: &mut TcpStream) -> Vec<u8> {
        let mut greeting = vec![0; GREETING.len()];
        stream.read_exact(&mut greeting).expect("a greeting");
        greeting
    }

    #[test]
    fn a_server_of_http_2_is_taken_for_a_scheduler() {
        let found = said(|mut stream| {
            assert_eq!(greeting(&mut stream), GREETING);
            // A setting, as servers send: at most 100 streams.
            let settings = [0, 0, 6, 4, 0, 0, 0, 0, 0, 0, 3, 0, 0, 0, 100];
            stream.write_all(&settings).expect("a client that reads");
        });
        assert!(found.is_ok(), "{found:?}");
    }

    #[test]
    fn other_listeners_are_refused() {
        let silent = |mut stream: TcpStream| {
            // Until the client leaves.
            let _ = stream.read_to_end(&mut Vec::new());
        };
        let web = |mut stream: TcpStream| {
            greeting(&mut stream);
            let _ = stream.write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n");
        };
        let gone = |stream: TcpStream| drop(stream);
        for found in [said(silent), said(web), said(gone)] {
            let error = found.expect_err("no scheduler").to_string();
            assert!(
                error.contains("what listens there is not a scheduler"),
                "{error}"
            );
        }
    }

    #[test]
    fn nothing_and_nonsense_are_refused() {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let address = listener.local_addr().expect("an address");
        drop(listener);
        let error = reach(&format!("df://{address}"))
            .expect_err("nobody")
            .to_string();
        assert!(error.contains("cannot be reached"), "{error}");
        for url in ["df://", "scheduler:50050", "http://localhost"] {
            let error = reach(url).expect_err("no address").to_string();
            assert!(
                error.contains("is not the address of a scheduler"),
                "{error}"
            );
        }
    }
}
