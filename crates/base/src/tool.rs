use serde::Serialize;

/// The program that computed a report, as every JSON names it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
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
