//! An S3 server on loopback.

use std::net::{SocketAddr, TcpListener};
use std::path::Path;

use hyper_util::rt::{TokioExecutor, TokioIo};
use hyper_util::server::conn::auto::Builder;
use s3s::auth::SimpleAuth;
use s3s::service::S3ServiceBuilder;
use s3s_fs::FileSystem;

/// The key that it knows.
pub const KEY: &str = "the-key";
/// Its secret.
pub const SECRET: &str = "the-secret";

/// Serves a directory as S3, each directory in it a bucket.
pub fn serve_s3(root: &Path) -> SocketAddr {
    let mut service = S3ServiceBuilder::new(FileSystem::new(root).expect("a directory"));
    service.set_auth(SimpleAuth::from_single(KEY, SECRET));
    let service = service.build().into_shared();
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("an address");
    listener.set_nonblocking(true).expect("a listener");
    std::thread::spawn(move || {
        let runtime = tokio::runtime::Runtime::new().expect("threads");
        runtime.block_on(async move {
            let listener = tokio::net::TcpListener::from_std(listener).expect("a listener");
            while let Ok((socket, _)) = listener.accept().await {
                let service = service.clone();
                tokio::spawn(async move {
                    let connections = Builder::new(TokioExecutor::new());
                    let _ = connections
                        .serve_connection(TokioIo::new(socket), service)
                        .await;
                });
            }
        });
    });
    address
}
