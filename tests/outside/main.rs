//! What needs logs that are not part of the project, or a browser. Where they are absent a test says `ignored`.

mod browser;
#[path = "../common/mod.rs"]
mod common;
mod real_logs;
mod real_reports;

use libtest_mimic::{Arguments, Trial};

/// A test that is ignored where `is_here` does not hold.
fn trial(name: &str, is_here: bool, test: fn()) -> Trial {
    let run = move || {
        test();
        Ok(())
    };
    Trial::test(name, run).with_ignored_flag(!is_here)
}

fn main() {
    let arguments = Arguments::from_args();
    let mut trials = real_logs::trials();
    trials.extend(real_reports::trials());
    trials.push(browser::trial());
    libtest_mimic::run(&arguments, trials).exit();
}
