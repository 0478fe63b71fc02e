//! Reading a log with everything that this build can read: text, columns in binary, a query engine.

use leakgauge_base::error::Result;
use leakgauge_log::{
    ColumnarReader, EngineOptions, Log, ObjectReader, ReadMeter, ReadOptions, is_url, object_reader,
};

/// What this build reads Parquet and Arrow files with, if it does.
pub const COLUMNAR: Option<&'static dyn ColumnarReader> = columnar();

#[cfg(feature = "parquet")]
const fn columnar() -> Option<&'static dyn ColumnarReader> {
    Some(&leakgauge_columnar::ArrowReader)
}

#[cfg(not(feature = "parquet"))]
const fn columnar() -> Option<&'static dyn ColumnarReader> {
    None
}

/// What this build fetches logs behind URLs with, if it does.
pub const OBJECTS: Option<&'static dyn ObjectReader> = objects();

#[cfg(feature = "object-store")]
const fn objects() -> Option<&'static dyn ObjectReader> {
    Some(&leakgauge_stores::Stores)
}

#[cfg(not(feature = "object-store"))]
const fn objects() -> Option<&'static dyn ObjectReader> {
    None
}

/// Replaces every pattern (`logs/*.csv`) by the files that match it, every directory by the files below it, and every
/// URL of a store with `*` or with `/` at its end by the URLs of its objects, sorted by name.
///
/// # Errors
/// A pattern that nothing matches or that is none; a directory or a store that cannot be looked into; a URL where
/// this build fetches nothing.
pub fn expand(names: &[String]) -> Result<Vec<String>> {
    let mut files = Vec::with_capacity(names.len());
    for name in names {
        if is_url(name) {
            files.extend(object_reader(name, OBJECTS)?.expand(name)?);
        } else {
            files.extend(leakgauge_log::expand(std::slice::from_ref(name))?);
        }
    }
    Ok(files)
}

/// Reads a log.
///
/// # Errors
/// Anything wrong with a file or its content, with file, row, column and value; a format or an engine that
/// this build does not have.
pub fn read(options: &ReadOptions, meter: &ReadMeter) -> Result<Log> {
    let options = ReadOptions {
        columnar: options.columnar.or(COLUMNAR),
        objects: options.objects.or(OBJECTS),
        ..options.clone()
    };
    match &options.engine {
        None => leakgauge_log::read(&options, meter),
        Some(engine) => through_engine(engine, &options, meter),
    }
}

#[cfg(feature = "engine")]
fn through_engine(_: &EngineOptions, options: &ReadOptions, meter: &ReadMeter) -> Result<Log> {
    options.check()?;
    let files = || options.files.iter().chain(&options.fit_on);
    let unchanged = leakgauge_log::Unchanged::watch(files());
    let log = leakgauge_engine::read(options, &meter.expecting(files()))?;
    unchanged.check()?;
    Ok(log)
}

#[cfg(not(feature = "engine"))]
fn through_engine(engine: &EngineOptions, options: &ReadOptions, _: &ReadMeter) -> Result<Log> {
    use leakgauge_base::error::Error;
    use leakgauge_base::naming::{option, setting};

    options.check()?;
    let (what, feature) = match engine {
        EngineOptions {
            cluster: Some(url), ..
        } => (setting("cluster", url), "cluster"),
        EngineOptions {
            condition: Some(condition),
            ..
        } => (setting("condition", condition), "engine"),
        EngineOptions { order_by, .. } if !order_by.is_empty() => {
            (setting("order_by", order_by.join(",")), "engine")
        }
        _ => (option("engine"), "engine"),
    };
    Err(
        Error::parameter(what, "this build has no query engine").with_hint(format!(
            "build it with: cargo build --release --features {feature}"
        )),
    )
}
