//! The interface of `leakgauge-timing` for C. `include/leakgauge_timing.h` says what everything means.

#![allow(
    unsafe_code,
    reason = "C passes pointers, and calls functions by their names"
)]

use std::ffi::{CStr, c_char, c_double, c_int, c_void};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

use leakgauge_timing::{Outcome, Report, Test, Threshold};

const PASSES: c_int = 0;
const LEAKS: c_int = 1;
const WRONG: c_int = 2;
const TOO_NOISY: c_int = 3;
const MESSAGE: usize = 4096;

/// `leakgauge_timing_options` of the header.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct Options {
    name: *const c_char,
    threshold_ns: c_double,
    classes: *const *const c_char,
    class_count: usize,
    input_size: usize,
    prepare: Option<unsafe extern "C" fn(*mut c_void, usize, *mut c_void)>,
    run: Option<unsafe extern "C" fn(*mut c_void, *mut c_void)>,
    context: *mut c_void,
    time_limit_s: c_double,
    max_blocks: usize,
    seed: u64,
}

/// `leakgauge_timing_result` of the header.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct Found {
    outcome: c_int,
    slower: usize,
    faster: usize,
    at_least_ns: c_double,
    estimate_ns: c_double,
    at_most_ns: c_double,
    size_at_most_ns: c_double,
    blocks: usize,
    calls_per_time: usize,
    clock_step_ns: c_double,
    seed: u64,
    message: [c_char; MESSAGE],
}

impl Found {
    fn new(outcome: c_int, message: &str) -> Self {
        let mut end = message.len().min(MESSAGE - 1);
        while !message.is_char_boundary(end) {
            end -= 1;
        }
        let mut cut = [0; MESSAGE];
        for (to, from) in cut.iter_mut().zip(message[..end].bytes()) {
            *to = from as c_char;
        }
        Self {
            outcome,
            slower: 0,
            faster: 0,
            at_least_ns: f64::NEG_INFINITY,
            estimate_ns: 0.0,
            at_most_ns: f64::INFINITY,
            size_at_most_ns: f64::INFINITY,
            blocks: 0,
            calls_per_time: 0,
            clock_step_ns: 0.0,
            seed: 0,
            message: cut,
        }
    }

    fn of(report: &Report, classes: &[String]) -> Self {
        let outcome = match report.outcome {
            Outcome::Passes => PASSES,
            Outcome::Leaks => LEAKS,
            // What a later version adds is no decision.
            _ => TOO_NOISY,
        };
        let mut found = Self {
            blocks: report.blocks,
            calls_per_time: report.calls_per_time,
            clock_step_ns: report.clock_step,
            seed: report.seed,
            ..Self::new(outcome, &report.to_string())
        };
        if let Some(difference) = &report.difference {
            let place = |name: &str| classes.iter().position(|class| class == name).unwrap_or(0);
            found.slower = place(&difference.slower);
            found.faster = place(&difference.faster);
            found.at_least_ns = difference.at_least;
            found.estimate_ns = difference.estimate;
            found.at_most_ns = difference.at_most;
            found.size_at_most_ns = difference.size_at_most;
        }
        found
    }
}

/// A part of an input, aligned as the header says.
#[derive(Debug, Clone, Copy)]
#[repr(C, align(16))]
struct Part([u8; 16]);

/// What can be wrong with options.
type Wrong = &'static str;

/// A text of C.
///
/// # Safety
/// The pointer is null or of a text that ends with 0 and stays as it is during the call.
unsafe fn text(text: *const c_char, missing: Wrong) -> Result<String, Wrong> {
    if text.is_null() {
        return Err(missing);
    }
    // SAFETY: not null, and the rest is what this function asks for.
    let text = unsafe { CStr::from_ptr(text) };
    Ok(text.to_string_lossy().into_owned())
}

/// Names of the classes, and the report on them.
///
/// # Safety
/// As of [`leakgauge_timing_test`].
unsafe fn tested(options: &Options) -> Result<(Report, Vec<String>), Wrong> {
    let prepare = options.prepare.ok_or("prepare is null")?;
    let run = options.run.ok_or("run is null")?;
    if !(options.threshold_ns >= 0.0 && options.threshold_ns.is_finite()) {
        return Err("threshold_ns is to be a finite number, 0 or more");
    }
    if !(2..=64).contains(&options.class_count) {
        return Err("class_count is to be 2 to 64");
    }
    if options.classes.is_null() {
        return Err("classes is null");
    }
    let limit = match options.time_limit_s {
        0.0 => Duration::from_secs(10),
        limit => {
            Duration::try_from_secs_f64(limit).map_err(|_| "time_limit_s is to be 0 or more")?
        }
    };
    let mut names = Vec::new();
    for at in 0..options.class_count {
        // SAFETY: there are `class_count` pointers to texts, as the header asks.
        let name = unsafe { text(*options.classes.add(at), "the name of a class is null")? };
        if names.contains(&name) {
            return Err("two classes have the same name");
        }
        names.push(name);
    }
    // SAFETY: a text or null, as the header asks.
    let name = unsafe { text(options.name, "name is null")? };
    let context = options.context;
    let parts = options.input_size.div_ceil(size_of::<Part>()).max(1);
    let mut test =
        Test::new(name, Threshold::in_nanoseconds(options.threshold_ns)).time_limit(limit);
    for (at, name) in names.iter().enumerate() {
        test = test.class(name.as_str(), move || {
            let mut input = vec![Part([0; 16]); parts].into_boxed_slice();
            // SAFETY: `prepare` may write `input_size` bytes, which the input has, aligned to 16; the context is of the
            // caller.
            unsafe { prepare(context, at, input.as_mut_ptr().cast()) };
            input
        });
    }
    if options.max_blocks > 0 {
        test = test.max_blocks(options.max_blocks);
    }
    if options.seed > 0 {
        test = test.seed(options.seed);
    }
    let report = test.run(|input| {
        // SAFETY: as above.
        unsafe { run(context, input.as_mut_ptr().cast()) };
    });
    Ok((report, names))
}

/// Tests, and returns what it comes to: 0 passes, 1 leaks, 2 wrong options, 3 too noisy to tell.
///
/// # Safety
/// `options` is null or points to options whose pointers are null or valid, with `class_count` names of classes, until
/// this returns. `result` is null or may be written. The callbacks return.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn leakgauge_timing_test(
    options: *const Options,
    result: *mut Found,
) -> c_int {
    // No panic may reach C: a variable of the environment that cannot be read, memory that is not there.
    let found = catch_unwind(AssertUnwindSafe(|| {
        if options.is_null() {
            return Found::new(WRONG, "options is null");
        }
        // SAFETY: not null, and valid as this function asks.
        match unsafe { tested(&*options) } {
            Ok((report, names)) => Found::of(&report, &names),
            Err(wrong) => Found::new(WRONG, wrong),
        }
    }));
    let found = found.unwrap_or_else(|panic| {
        let message = panic.downcast_ref::<String>().map(String::as_str);
        let message = message.or_else(|| panic.downcast_ref::<&str>().copied());
        Found::new(WRONG, message.unwrap_or("the test could not run"))
    });
    if !result.is_null() {
        // SAFETY: not null, and may be written as this function asks.
        unsafe { result.write(found) };
    }
    found.outcome
}
