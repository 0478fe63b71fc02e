//! What a URL names: a store, and a key in it.

use std::sync::Arc;
use std::time::Duration;

use leakgauge_base::error::{Error, Result};
use object_store::aws::AmazonS3Builder;
use object_store::azure::MicrosoftAzureBuilder;
use object_store::gcp::GoogleCloudStorageBuilder;
use object_store::http::HttpBuilder;
use object_store::path::Path;
use object_store::{BackoffConfig, ClientOptions, ObjectStore, RetryConfig};
use url::Url;

use crate::failure;
use crate::kind::Kind;
use crate::profile;

/// How often a request is repeated that failed in a way that may pass.
const REPEATS: usize = 4;
/// After this time nothing is repeated any more.
const LAST_REPEAT: Duration = Duration::from_secs(30);

fn retries() -> RetryConfig {
    RetryConfig {
        backoff: BackoffConfig::default(),
        max_retries: REPEATS,
        retry_timeout: LAST_REPEAT,
    }
}

/// An object, or a place of objects, in a store.
#[derive(Debug, Clone)]
pub(crate) struct Location {
    /// As the user wrote it.
    pub(crate) url: String,
    pub(crate) kind: Kind,
    /// What stands before the key.
    pub(crate) root: String,
    /// The key, with patterns in it if the URL has any.
    pub(crate) key: String,
    pub(crate) store: Arc<dyn ObjectStore>,
}

impl Location {
    /// What a URL names. Nothing is sent.
    ///
    /// # Errors
    /// No URL of an object; a credential or a setting that is missing.
    pub(crate) fn of(url: &str) -> Result<Self> {
        let (scheme, rest) = url.split_once("://").unwrap_or_default();
        let kind = match scheme {
            "s3" => Kind::S3,
            "gs" => Kind::Google,
            "az" => Kind::Azure,
            _ => Kind::Web,
        };
        if kind == Kind::Web {
            return Self::on_the_web(url);
        }
        let (bucket, key) = rest.split_once('/').unwrap_or((rest, ""));
        if bucket.is_empty() {
            return Err(Error::file(url, "names no bucket")
                .with_hint(format!("write it as {scheme}://BUCKET/KEY")));
        }
        failure::check_credentials(url, kind)?;
        let refused = |error| failure::explain(url, kind, &error);
        let store: Arc<dyn ObjectStore> = match kind {
            Kind::S3 => Arc::new(
                profile::fill(url, AmazonS3Builder::from_env())?
                    .with_bucket_name(bucket)
                    .with_retry(retries())
                    .build()
                    .map_err(refused)?,
            ),
            Kind::Google => Arc::new(
                GoogleCloudStorageBuilder::from_env()
                    .with_bucket_name(bucket)
                    .with_retry(retries())
                    .build()
                    .map_err(refused)?,
            ),
            _ => Arc::new(
                MicrosoftAzureBuilder::from_env()
                    .with_container_name(bucket)
                    .with_retry(retries())
                    .build()
                    .map_err(refused)?,
            ),
        };
        Ok(Location {
            url: url.to_owned(),
            kind,
            root: format!("{scheme}://{bucket}/"),
            key: key.to_owned(),
            store,
        })
    }

    fn on_the_web(url: &str) -> Result<Self> {
        let parsed = Url::parse(url).map_err(|error| {
            Error::file(url, format!("is no URL: {error}"))
                .with_hint("write it as https://HOST/PATH, and special characters as %XX")
        })?;
        // A signature stands in the query, and is part of every request.
        let mut root = parsed.clone();
        root.set_path("");
        root.set_fragment(None);
        let options = ClientOptions::new().with_allow_http(true);
        let store = HttpBuilder::new()
            .with_url(root.as_str())
            .with_client_options(options)
            .with_retry(retries())
            .build()
            .map_err(|error| failure::explain(url, Kind::Web, &error))?;
        let key = Path::from_url_path(parsed.path())
            .map_err(|error| Error::file(url, format!("is no URL of a file: {error}")))?;
        root.set_query(None);
        Ok(Location {
            url: url.to_owned(),
            kind: Kind::Web,
            root: root.to_string(),
            key: key.to_string(),
            store: Arc::new(store),
        })
    }

    /// The key as the store takes it.
    ///
    /// # Errors
    /// None is given, or it is no key.
    pub(crate) fn path(&self) -> Result<Path> {
        if self.key.is_empty() {
            return Err(Error::file(&self.url, "names no object")
                .with_hint(format!("write it as {}KEY", self.root)));
        }
        Path::parse(&self.key)
            .map_err(|error| Error::file(&self.url, format!("has a key that is none: {error}")))
    }
}
