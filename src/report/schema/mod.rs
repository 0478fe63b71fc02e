//! The JSON reports: which keys findings have, and in which form. Nothing else knows them.
//!
//! The structs named `…Keys` list the keys of a type and have the fields of that type (serde's `remote`); the
//! others are what the report says in another form than the findings. Every type that is written on its
//! own (a claim, a warning, an estimate) gets its `Serialize` here, so that comparisons and followed logs
//! use the same keys.

pub mod audit;
pub mod check;
mod claim;
mod columns;
mod differences;
mod estimate;
pub mod explain;
mod input;
mod membership;
mod method;
mod pairs;
mod power;
pub mod query;
mod requested;
mod trade_off;
mod witness;

use serde::{Serialize, Serializer};

use crate::audit::Findings;
use crate::report::layout::MOST_PAIRS;

/// Writes a type with the keys of another.
macro_rules! with_keys {
    ($($type:ty => $keys:ty),* $(,)?) => {$(
        impl serde::Serialize for $type {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                <$keys>::serialize(self, serializer)
            }
        }
        $crate::report::schema::described_by!($type => $keys);
    )*};
}
use with_keys;

/// Gives a type the JSON Schema of the keys that it is written with.
macro_rules! described_by {
    ($($type:ty => $keys:ty),* $(,)?) => {$(
        #[cfg(feature = "schema")]
        impl schemars::JsonSchema for $type {
            fn schema_name() -> std::borrow::Cow<'static, str> {
                stringify!($type).into()
            }

            fn schema_id() -> std::borrow::Cow<'static, str> {
                <$keys>::schema_id()
            }

            fn inline_schema() -> bool {
                <$keys>::inline_schema()
            }

            fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
                <$keys>::json_schema(generator)
            }
        }
    )*};
}
use described_by;

impl Serialize for Findings {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        audit::Audit::of(self, MOST_PAIRS).serialize(serializer)
    }
}

described_by!(Findings => audit::Audit<'static>);
