//! A real scheduler and two executors on loopback.

use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

/// A process that does not outlive its test.
pub struct Process(Child);

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn start(program: &str, arguments: &[String]) -> Process {
    let started = Command::new(program)
        .args(arguments)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn();
    Process(started.expect("the program of this package starts"))
}

/// A free port whose successor is free too.
pub fn free_port() -> u16 {
    loop {
        let Ok(listener) = TcpListener::bind("127.0.0.1:0") else {
            continue;
        };
        let port = listener.local_addr().unwrap().port();
        if port < u16::MAX && TcpListener::bind(("127.0.0.1", port + 1)).is_ok() {
            return port;
        }
    }
}

fn wait_for(port: u16) {
    for _ in 0..1200 {
        if TcpStream::connect(("127.0.0.1", port)).is_ok() {
            return;
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    panic!("nothing listens on port {port}");
}

fn scheduler(port: u16) -> Process {
    let started = start(env!("CARGO_BIN_EXE_cluster-scheduler"), &[port.to_string()]);
    wait_for(port);
    started
}

/// A scheduler and its executors.
pub struct Cluster {
    port: u16,
    scheduler: Option<Process>,
    pub executors: Vec<Process>,
}

impl Cluster {
    /// A scheduler and two executors, ready.
    pub fn start(directory: &Path) -> Cluster {
        let port = free_port();
        let scheduler = scheduler(port);
        let executors = (0..2).map(|at| {
            let own = free_port();
            let work = directory.join(format!("executor-{at}"));
            std::fs::create_dir(&work).unwrap();
            let arguments = [
                port.to_string(),
                own.to_string(),
                work.to_str().unwrap().to_owned(),
            ];
            let executor = start(env!("CARGO_BIN_EXE_cluster-executor"), &arguments);
            wait_for(own);
            executor
        });
        Cluster {
            port,
            executors: executors.collect(),
            scheduler: Some(scheduler),
        }
    }

    /// The scheduler is killed.
    pub fn lose_scheduler(&mut self) {
        self.scheduler = None;
    }

    /// A new one listens where the lost one did.
    pub fn restart_scheduler(&mut self) {
        self.scheduler = Some(scheduler(self.port));
    }

    /// What it is asked at.
    pub fn url(&self) -> Option<String> {
        Some(format!("df://127.0.0.1:{}", self.port))
    }
}
