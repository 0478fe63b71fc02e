//! What is told to end ends soon, whatever it waits for, and leaves nothing behind.

use std::io::{Read, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::common::{Place, numeric_log};

/// An optimized program takes half of it; this one is not, and shares the machine with other tests.
const SOON: Duration = Duration::from_secs(3);
/// Long enough for a program to begin to wait.
const BEGUN: Duration = Duration::from_millis(1500);
const SIGNALS: [(&str, i32); 3] = [("INT", 130), ("TERM", 143), ("HUP", 129)];

fn start(place: &Place, arguments: &[&str], input: Stdio) -> Child {
    let program = place.command();
    let mut command = Command::new(program.get_program());
    command.args(arguments).current_dir(place.path());
    command.stdin(input).stdout(Stdio::piped());
    command.spawn().expect("the program runs")
}

fn send(signal: &str, child: &Child) {
    let sent = Command::new("kill")
        .args([&format!("-{signal}"), &child.id().to_string()])
        .status();
    assert!(sent.expect("kill").success());
}

/// The exit code of a program that has been told to end.
fn code(mut child: Child, what: &str) -> Option<i32> {
    let told = Instant::now();
    while told.elapsed() < SOON {
        if let Some(status) = child.try_wait().expect("its status") {
            return status.code();
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    let _ = child.kill();
    panic!("{what}: goes on");
}

fn pipe(place: &Place, name: &str) {
    let made = Command::new("mkfifo").arg(place.path().join(name)).status();
    assert!(made.expect("mkfifo").success());
}

fn files(place: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(place).expect("a directory");
    let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<String> = names.collect();
    names.sort();
    names
}

#[test]
fn every_command_that_waits_for_its_input_ends_with_the_number_of_the_signal() {
    let place = Place::with_log("0.5,0.5\n0.25,0.75\n");
    pipe(&place, "pipe.csv");
    let commands = [
        "estimate pipe.csv",
        "audit pipe.csv --claim ldp(1)",
        "check pipe.csv",
        "compare pipe.csv log.csv",
        "channel pipe.csv",
        "estimate pipe.csv --follow",
        "audit pipe.csv --follow --claim ldp(1)",
        "permute pipe.csv --move y --groups equal --by x --alpha 1 --out out.csv",
        "shuffle reidentify --target pipe.csv --decoys log.csv --n 3",
        "shuffle information --target pipe.csv --decoys log.csv --n 3",
    ];
    for (signal, expected) in SIGNALS {
        let running = commands.map(|command| {
            let arguments: Vec<&str> = command.split(' ').collect();
            (command, start(&place, &arguments, Stdio::null()))
        });
        std::thread::sleep(BEGUN);
        for (_, child) in &running {
            send(signal, child);
        }
        for (command, child) in running {
            assert_eq!(code(child, command), Some(expected), "{command}: {signal}");
        }
    }
    assert_eq!(files(place.path()), ["log.csv", "pipe.csv"]);
}

#[test]
fn files_that_are_being_written_are_removed() {
    for (signal, expected) in SIGNALS {
        let place = Place::new();
        let mechanism = "laplace(scale=2, secrets=0..9)";
        let simulate = [
            "simulate",
            mechanism,
            "--rows",
            "1000000000",
            "-o",
            "log.csv",
        ];
        let child = start(&place, &simulate, Stdio::null());
        let begun = Instant::now();
        while files(place.path()).is_empty() {
            assert!(begun.elapsed() < Duration::from_secs(30), "nothing written");
            std::thread::sleep(Duration::from_millis(20));
        }
        send(signal, &child);
        assert_eq!(code(child, signal), Some(expected), "{signal}");
        assert_eq!(files(place.path()), [""; 0], "{signal}");
    }
}

#[test]
fn a_log_that_is_followed_has_a_last_line() {
    let place = Place::new();
    pipe(&place, "pipe.csv");
    for (signal, _) in SIGNALS {
        for input in ["-", "pipe.csv"] {
            let arguments = ["estimate", input, "--follow", "--format", "json"];
            let mut child = start(&place, &arguments, Stdio::piped());
            let own = child.stdin.take().unwrap();
            let mut into: Box<dyn Write> = match input {
                "-" => Box::new(own),
                _ => {
                    let mut open = std::fs::OpenOptions::new();
                    Box::new(open.write(true).open(place.path().join(input)).unwrap())
                }
            };
            into.write_all(numeric_log(40).as_bytes()).unwrap();
            into.flush().unwrap();
            std::thread::sleep(BEGUN);
            send(signal, &child);
            let mut line = String::new();
            let mut out = child.stdout.take().unwrap();
            out.read_to_string(&mut line).unwrap();
            assert_eq!(code(child, signal), Some(0), "{signal}: {input}");
            let line: serde_json::Value = serde_json::from_str(&line).expect("a line");
            assert_eq!(line["rows"], 40, "{signal}: {input}");
        }
    }
}

#[test]
fn nothing_to_follow_yet_is_no_error() {
    let place = Place::new();
    for (signal, expected) in SIGNALS {
        let child = start(&place, &["estimate", "-", "--follow"], Stdio::piped());
        std::thread::sleep(BEGUN);
        send(signal, &child);
        assert_eq!(code(child, signal), Some(expected));
    }
}

#[test]
fn a_reader_that_does_not_read_is_not_waited_for() {
    let place = Place::with_log(numeric_log(20_000));
    let arguments = [
        "estimate", "log.csv", "--follow", "--every", "1", "--format", "json",
    ];
    for (signal, expected) in SIGNALS {
        let child = start(&place, &arguments, Stdio::null());
        std::thread::sleep(2 * BEGUN);
        send(signal, &child);
        assert_eq!(code(child, signal), Some(expected));
    }
    // Whoever asks twice need not wait at all.
    let child = start(&place, &arguments, Stdio::null());
    std::thread::sleep(2 * BEGUN);
    send("INT", &child);
    std::thread::sleep(Duration::from_millis(50));
    send("TERM", &child);
    let asked = Instant::now();
    assert!([Some(143), Some(130)].contains(&code(child, "twice")));
    assert!(asked.elapsed() < Duration::from_secs(2));
}

#[test]
fn a_signal_that_is_ignored_stays_ignored() {
    let place = Place::new();
    pipe(&place, "pipe.csv");
    let program = place.command();
    let program = program.get_program().to_string_lossy();
    let script = format!("trap '' HUP; exec {program} estimate pipe.csv --follow");
    let mut child = Command::new("sh")
        .args(["-c", &script])
        .current_dir(place.path())
        .spawn()
        .expect("a shell");
    std::thread::sleep(BEGUN);
    send("HUP", &child);
    std::thread::sleep(Duration::from_secs(1));
    assert!(child.try_wait().unwrap().is_none(), "it ended");
    send("TERM", &child);
    assert_eq!(code(child, "nohup"), Some(143));
}

/// Whether a process runs whose number a file names. One that has ended and that nobody has asked yet how is a zombie.
fn runs(file: &Path) -> bool {
    let id = std::fs::read_to_string(file).expect("a number");
    let asked = Command::new("ps")
        .args(["-o", "stat=", "-p", id.trim()])
        .output()
        .expect("ps");
    let state = String::from_utf8_lossy(&asked.stdout).trim().to_owned();
    !state.is_empty() && !state.starts_with('Z')
}

fn is_gone_soon(file: &Path) -> bool {
    let begun = Instant::now();
    while runs(file) && begun.elapsed() < SOON {
        std::thread::sleep(Duration::from_millis(20));
    }
    !runs(file)
}

#[test]
fn programs_that_were_started_end_with_what_they_started() {
    let place = Place::new();
    let script = "sleep 600 & echo $! > other; while read c; do echo 1; sleep 0.01; done; wait";
    let ask = ["probe", "--classes", "a,b", "-o", "log.csv"];
    let ask = |more: &[&'static str]| [&ask[..], more, &["--", "sh", "-c", script]].concat();
    let other = place.path().join("other");
    for (signal, expected) in SIGNALS {
        let child = start(&place, &ask(&["-n", "1000000", "--force"]), Stdio::null());
        std::thread::sleep(BEGUN);
        send(signal, &child);
        assert_eq!(code(child, signal), Some(expected), "{signal}");
        assert!(is_gone_soon(&other), "{signal}");
        let log = std::fs::read_to_string(place.path().join("log.csv")).unwrap();
        assert!(log.ends_with('\n'), "{log}");
    }
    // Also where the program itself has ended, or is given up.
    let done = place.run(&ask(&["-n", "2", "--force"]));
    assert!(done.status.success());
    assert!(is_gone_soon(&other));
}
