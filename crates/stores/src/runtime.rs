//! The threads that wait for answers.

use std::io;
use std::sync::OnceLock;
use std::time::Duration;

use tokio::runtime::{Builder, Runtime};

/// How long one answer may take, repetitions included.
pub(crate) const LONGEST_ANSWER: Duration = Duration::from_secs(60);

/// The threads; they live as long as the program.
///
/// # Errors
/// No threads are to be had.
pub(crate) fn runtime() -> io::Result<&'static Runtime> {
    static RUNTIME: OnceLock<Runtime> = OnceLock::new();
    if let Some(runtime) = RUNTIME.get() {
        return Ok(runtime);
    }
    let built = Builder::new_multi_thread()
        .worker_threads(2)
        .thread_name("objects")
        .enable_all()
        .build()?;
    Ok(RUNTIME.get_or_init(|| built))
}

/// Waits for an answer, at most [`LONGEST_ANSWER`].
///
/// # Errors
/// It did not come in time; no threads are to be had.
pub(crate) fn wait<T: Send + 'static>(
    answer: impl Future<Output = T> + Send + 'static,
) -> io::Result<T> {
    let (sender, receiver) = std::sync::mpsc::sync_channel(1);
    runtime()?.spawn(async move {
        let answer = tokio::time::timeout(LONGEST_ANSWER, answer).await;
        // Whoever asked is there until this comes.
        let _ = sender.send(answer);
    });
    let late = || io::Error::new(io::ErrorKind::TimedOut, no_answer());
    let answer = receiver.recv().map_err(|_| late())?;
    answer.map_err(|_| late())
}

/// What is said of an answer that did not come.
pub(crate) fn no_answer() -> String {
    format!("no answer within {} s", LONGEST_ANSWER.as_secs())
}
