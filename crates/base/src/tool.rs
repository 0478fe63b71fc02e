use serde::Serialize;

/// The name and version of the program, as every JSON report states them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Tool {
    /// Its name.
    pub name: &'static str,
    /// Its version.
    pub version: &'static str,
}

impl Default for Tool {
    fn default() -> Self {
        Tool {
            name: "leakgauge",
            version: env!("CARGO_PKG_VERSION"),
        }
    }
}
