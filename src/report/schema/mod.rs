//! The JSON reports: which keys findings have, and in which form. Nothing else knows them.
//!
//! The structs named `…Keys` list the keys of a type and have the fields of that type (serde's `remote`); the
//! others are what the report says in another form than the findings. Every type that is written on its
//! own (a claim, a warning, an estimate) gets its `Serialize` here, so that comparisons and followed logs
//! use the same keys.

mod audit;
mod claim;
mod estimate;
mod input;
mod method;
mod pairs;
mod trade_off;

use serde::{Serialize, Serializer};

use crate::audit::Findings;

/// Writes a type with the keys of another.
macro_rules! with_keys {
    ($($type:ty => $keys:ty),* $(,)?) => {$(
        impl serde::Serialize for $type {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                <$keys>::serialize(self, serializer)
            }
        }
    )*};
}
use with_keys;

impl Serialize for Findings {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        audit::Audit::of(self).serialize(serializer)
    }
}
