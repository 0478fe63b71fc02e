//! A Ballista scheduler on loopback: `cluster-scheduler PORT`.

use std::sync::Arc;

use ballista_core::config::TaskSchedulingPolicy;
use ballista_scheduler::cluster::BallistaCluster;
use ballista_scheduler::config::SchedulerConfig;
use ballista_scheduler::scheduler_process::start_server;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let port: u16 = std::env::args().nth(1).ok_or("which port?")?.parse()?;
    let config = SchedulerConfig {
        bind_port: port,
        scheduling_policy: TaskSchedulingPolicy::PullStaged,
        executor_timeout_seconds: 5,
        expire_dead_executor_interval_seconds: 1,
        no_executors_grace_period_seconds: 10,
        ..SchedulerConfig::default()
    };
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .thread_stack_size(32 << 20)
        .build()?;
    runtime.block_on(async {
        let cluster = BallistaCluster::new_from_config(&config).await?;
        start_server(cluster, ([127, 0, 0, 1], port).into(), Arc::new(config)).await?;
        Ok(())
    })
}
