//! A Ballista executor on loopback: `cluster-executor SCHEDULER_PORT PORT DIRECTORY`.

use std::sync::Arc;

use ballista_core::config::TaskSchedulingPolicy;
use ballista_executor::executor_process::{ExecutorProcessConfig, start_executor_process};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [scheduler, port, directory] = arguments.as_slice() else {
        return Err("cluster-executor SCHEDULER_PORT PORT DIRECTORY".into());
    };
    let port: u16 = port.parse()?;
    let config = ExecutorProcessConfig {
        scheduler_host: "127.0.0.1".into(),
        scheduler_port: scheduler.parse()?,
        port,
        grpc_port: port + 1,
        vcores: 1,
        task_scheduling_policy: TaskSchedulingPolicy::PullStaged,
        work_dir: Some(directory.clone()),
        executor_heartbeat_interval_seconds: 1,
        ..ExecutorProcessConfig::default()
    };
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()?;
    runtime.block_on(start_executor_process(Arc::new(config)))?;
    Ok(())
}
