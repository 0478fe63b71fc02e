//! The kinds of stores.

/// What a store speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    S3,
    Google,
    Azure,
    Web,
}
