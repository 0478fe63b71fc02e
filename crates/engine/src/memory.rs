//! How much memory the engine may take.

/// Bytes that groups may take before they are spilled to disk.
pub(super) const MEMORY: usize = 768 << 20;
