//! The engine itself: in this process, or a cluster's scheduler to send queries to.

use std::sync::Arc;

use datafusion::execution::disk_manager::{DiskManagerBuilder, DiskManagerMode};
use datafusion::execution::memory_pool::FairSpillPool;
use datafusion::execution::runtime_env::RuntimeEnvBuilder;
use datafusion::prelude::{SessionConfig, SessionContext};
use tokio::runtime::Runtime;

use crate::failure;
use crate::memory::MEMORY;
use crate::scheduler::{cluster, reach};
use leakgauge_base::error::{Error, Result};
use leakgauge_base::naming::option;
use leakgauge_log::EngineOptions;

/// Deep plans (many files) recurse.
pub(super) const STACK: usize = 16 << 20;

/// Where queries run.
pub(super) struct Session {
    pub(super) runtime: Runtime,
    pub(super) context: SessionContext,
}

impl Session {
    /// A session in this process, or on the cluster that is asked for.
    ///
    /// # Errors
    /// A URL that is not one of a scheduler, a scheduler that does not answer; a machine that gives no threads.
    pub(super) fn open(options: &EngineOptions) -> Result<Session> {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(rayon::current_num_threads())
            .thread_stack_size(STACK)
            .enable_all()
            .build()
            .map_err(|error| Error::parameter(option("threads"), error.to_string()))?;
        let context = match &options.cluster {
            None => local(options)?,
            Some(url) => remote(url, &runtime)?,
        };
        Ok(Session { runtime, context })
    }
}

/// The engine in this process: groups beyond [`MEMORY`] go to disk.
fn local(options: &EngineOptions) -> Result<SessionContext> {
    let spill = match &options.spill {
        Some(directory) => DiskManagerMode::Directories(vec![directory.clone()]),
        None => DiskManagerMode::OsTmpDirectory,
    };
    let environment = RuntimeEnvBuilder::new()
        .with_memory_pool(Arc::new(FairSpillPool::new(MEMORY)))
        .with_disk_manager_builder(DiskManagerBuilder::default().with_mode(spill))
        .build_arc()
        .map_err(|error| failure::of_engine(&error))?;
    let config = shared(SessionConfig::new()).with_target_partitions(rayon::current_num_threads());
    Ok(SessionContext::new_with_config_rt(config, environment))
}

/// Names of columns are what they are: `Time` is not `time`. And nothing is concluded from statistics of
/// files: they leave out what is not a number, and do not tell -0 from 0.
fn shared(config: SessionConfig) -> SessionConfig {
    config
        .set_bool("datafusion.sql_parser.enable_ident_normalization", false)
        .set_bool("datafusion.execution.collect_statistics", false)
        .set_bool("datafusion.execution.parquet.pruning", false)
        .set_bool("datafusion.execution.parquet.enable_page_index", false)
}

#[cfg(feature = "cluster")]
fn remote(url: &str, runtime: &Runtime) -> Result<SessionContext> {
    use ballista::prelude::{SessionConfigExt, SessionContextExt};
    use datafusion::execution::SessionStateBuilder;

    reach(url)?;
    // With plans that adapt while they run, a scheduler of Ballista 55 waits for ever for the parts that an
    // executor held which died.
    let config = SessionConfig::new_with_ballista().with_ballista_adaptive_query_planner(false);
    let state = SessionStateBuilder::new_with_default_features()
        .with_config(shared(config))
        .build();
    runtime
        .block_on(SessionContext::remote_with_state(url, state))
        .map_err(|error| Error::parameter(cluster(url), failure::text(&error)))
}

#[cfg(not(feature = "cluster"))]
fn remote(url: &str, _: &Runtime) -> Result<SessionContext> {
    reach(url)?;
    Err(
        Error::parameter(cluster(url), "this build has no cluster client")
            .with_hint("build it with: cargo build --release --features cluster"),
    )
}
