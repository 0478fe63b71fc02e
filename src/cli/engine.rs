//! The options of the query engine, and the directory for its temporary files.

use std::path::PathBuf;
use std::sync::OnceLock;

use clap::Args;
use leakgauge::base::error::{Error, Result};
use leakgauge::base::files::discard_unfinished;
use leakgauge::log::EngineOptions;

/// How a log is read through the query engine.
#[derive(Args, Clone)]
#[command(next_help_heading = "Query engine")]
pub struct EngineArguments {
    /// Use only rows that satisfy this SQL condition: `time > 5 AND host LIKE 'a%'`
    ///
    /// Needs a build with `--features engine`.
    #[arg(long = "where", value_name = "CONDITION")]
    pub condition: Option<String>,
    /// Count rows with the query engine [implied by --where, --order-by and --cluster]
    ///
    /// All cores, bounded memory; checks of the row order only with --order-by. Needs a build with `--features engine`.
    #[arg(long)]
    pub engine: bool,
    /// The columns that say when a row was recorded: the query engine reads rows in their order
    ///
    /// Numbers or dates; they are not observed unless --observe names them. The checks of the row order, --split
    /// blocks, --group and --block work as without the engine. Needs a build with `--features engine`.
    #[arg(long, value_name = "COLUMN", value_delimiter = ',')]
    pub order_by: Vec<String>,
    /// Run the query engine on a cluster, given by the address of its scheduler
    ///
    /// Needs a build with `--features cluster`.
    #[arg(long, value_name = "df://HOST:PORT")]
    pub cluster: Option<String>,
}

impl EngineArguments {
    /// The options of the engine, if it is requested.
    ///
    /// # Errors
    /// The directory for temporary files cannot be written.
    pub fn options(&self) -> Result<Option<EngineOptions>> {
        let is_implied = self.condition.is_some() || !self.order_by.is_empty();
        if !self.engine && !is_implied && self.cluster.is_none() {
            return Ok(None);
        }
        let is_local = self.cluster.is_none() && cfg!(feature = "engine");
        Ok(Some(EngineOptions {
            condition: self.condition.clone(),
            order_by: self.order_by.clone(),
            cluster: self.cluster.clone(),
            spill: is_local.then(spill_directory).transpose()?,
        }))
    }
}

/// The directory for temporary files of this process. It is removed when the process ends, also by Ctrl-C or another
/// signal.
static SPILL: OnceLock<PathBuf> = OnceLock::new();

fn spill_directory() -> Result<PathBuf> {
    if let Some(directory) = SPILL.get() {
        return Ok(directory.clone());
    }
    let directory = std::env::temp_dir().join(format!("leakgauge-{}", std::process::id()));
    std::fs::create_dir_all(&directory).map_err(|error| {
        Error::file(&directory, error.to_string()).with_hint(
            "the query engine needs a directory for data that does not fit into memory: set TMPDIR",
        )
    })?;
    let _ = SPILL.set(directory.clone());
    Ok(directory)
}

/// Removes the temporary files.
pub fn clean_up() {
    discard_unfinished();
    remove_spilled();
}

/// Removes the directory.
pub fn remove_spilled() {
    if let Some(directory) = SPILL.get() {
        let _ = std::fs::remove_dir_all(directory);
    }
}
