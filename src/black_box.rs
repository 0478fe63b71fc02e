//! The audit that figures about audits need. Their crate lies below the audit, so it is handed in.

use crate::audit::{AuditOptions, audit};
use leakgauge_base::error::Result;
use leakgauge_log::Log;
use leakgauge_reproduce::{Audited, ReproduceOptions};

/// The default options of a figure, with the audit that figures about audits need.
pub fn options() -> ReproduceOptions {
    ReproduceOptions {
        audit: Some(audited),
        ..ReproduceOptions::default()
    }
}

/// Bayes security of the two secrets of a log, as an audit finds it.
fn audited(log: &Log, seed: u64) -> Result<Audited> {
    let options = AuditOptions {
        seed,
        ..AuditOptions::default()
    };
    let found = audit(log, &options)?.worst_pair.bayes_security;
    Ok(Audited {
        estimate: found.point,
        lower: found.lower,
        upper: found.upper,
    })
}
