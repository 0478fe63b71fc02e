//! The columns that are asked for by name.

use crate::layout::Columns;
use leakgauge_base::error::Result;

impl Columns<'_> {
    /// The columns that are asked for. The name of an array with several columns means all of them.
    pub(super) fn observed(&self, names: &[String]) -> Result<Vec<usize>> {
        let mut columns = Vec::new();
        for wanted in names {
            let is_part = |name: &str| {
                let number = name.strip_prefix(wanted.as_str());
                let number = number.and_then(|rest| rest.strip_prefix('[')?.strip_suffix(']'));
                number.is_some_and(|number| number.parse::<usize>().is_ok())
            };
            let parts = (0..self.names.len()).filter(|&at| is_part(&self.names[at]));
            let parts: Vec<usize> = parts.collect();
            match parts.is_empty() || self.names.contains(wanted) {
                true => columns.push(self.position(wanted, "observe")?),
                false => columns.extend(parts),
            }
        }
        Ok(columns)
    }
}
