//! Logs in object stores (S3, Google Cloud Storage, Azure Blob Storage) and on web servers.
//!
//! Every request has a time limit and is repeated a few times. An object that changes while it is read is an error.

mod failure;
mod kind;
mod listing;
mod location;
mod object;
mod profile;
mod runtime;

use std::sync::Arc;

use leakgauge_base::error::Result;
use leakgauge_log::{ObjectReader, RemoteObject};

use crate::location::Location;

/// Reads objects behind `s3://`, `gs://`, `az://`, `http://` and `https://`; for
/// [`ReadOptions::objects`](leakgauge_log::ReadOptions::objects).
#[derive(Debug)]
pub struct Stores;

impl ObjectReader for Stores {
    fn open(&self, url: &str) -> Result<Arc<dyn RemoteObject>> {
        Ok(Arc::new(object::open(&Location::of(url)?)?))
    }

    fn expand(&self, url: &str) -> Result<Vec<String>> {
        listing::expand(&Location::of(url)?)
    }
}
