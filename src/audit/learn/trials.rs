//! How many trials each block of rows has.

use crate::audit::learn::earlier::Block;
use crate::audit::prepare::Prepared;
use leakgauge_attack::pairwise::Rule;
use leakgauge_stats::all_rows;

/// The numbers of trials of all blocks of a pair, the certification rows last. They follow from numbers of
/// rows alone.
pub(crate) fn trials(prepared: &Prepared, earlier: &[Block], rule: Rule) -> Vec<u64> {
    let blocks = earlier.iter().map(|block| &block.rows);
    let blocks = blocks.chain([&prepared.split.certify]);
    let rows = blocks.map(|counts| counts.rows());
    rows.map(|rows| all_rows::tosses(rows[rule.a as usize], rows[rule.b as usize]))
        .collect()
}
