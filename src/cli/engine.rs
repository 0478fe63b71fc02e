//! The options of the query engine, and the place on disk that it may use.

use std::path::PathBuf;
use std::sync::OnceLock;

use clap::Args;
use leakgauge::error::{Error, Result};
use leakgauge::log::EngineOptions;

/// How a log is read through the query engine.
#[derive(Args, Clone)]
pub struct EngineArguments {
    /// Only the rows for which this holds, as behind WHERE in SQL: `time > 5 AND host LIKE 'a%'`; needs a
    /// build with `--features engine`
    #[arg(long = "where", value_name = "CONDITION")]
    pub condition: Option<String>,
    /// Count rows with the query engine: all cores, bounded memory, the order of rows is not looked at
    /// [implied by --where and --cluster]; needs a build with
    /// `--features engine`
    #[arg(long)]
    pub engine: bool,
    /// Run the query engine on a cluster, by the address of its scheduler; needs a build with `--features
    /// cluster`
    #[arg(long, value_name = "df://HOST:PORT")]
    pub cluster: Option<String>,
}

impl EngineArguments {
    /// The engine that is asked for, if any.
    ///
    /// # Errors
    /// A place for temporary files that cannot be written to.
    pub fn options(&self) -> Result<Option<EngineOptions>> {
        if !self.engine && self.condition.is_none() && self.cluster.is_none() {
            return Ok(None);
        }
        let is_local = self.cluster.is_none() && cfg!(feature = "engine");
        Ok(Some(EngineOptions {
            condition: self.condition.clone(),
            cluster: self.cluster.clone(),
            spill: is_local.then(spill_directory).transpose()?,
        }))
    }
}

/// Where this process spills to. Gone when it ends, by Ctrl-C or another signal too.
static SPILL: OnceLock<PathBuf> = OnceLock::new();

fn spill_directory() -> Result<PathBuf> {
    if let Some(directory) = SPILL.get() {
        return Ok(directory.clone());
    }
    let directory = std::env::temp_dir().join(format!("leakgauge-{}", std::process::id()));
    std::fs::create_dir_all(&directory).map_err(|error| {
        Error::file(&directory, error.to_string()).with_hint(
            "the query engine needs a place for what does not fit into memory: set TMPDIR",
        )
    })?;
    let _ = SPILL.set(directory.clone());
    // Without a handler the files stay behind; the work itself is not the worse for it.
    let _ = ctrlc::set_handler(|| {
        clean_up();
        std::process::exit(130);
    });
    Ok(directory)
}

/// Removes what was spilled.
pub fn clean_up() {
    if let Some(directory) = SPILL.get() {
        let _ = std::fs::remove_dir_all(directory);
    }
}
