//! Blocks of simultaneous measurements: of a wide log the rows, of a long one the rows that share a value.
//!
//! A block holds at most one measurement of each secret. While a log is read, blocks are its units
//! ([`groups`](crate::groups)), numbered as they first appear.

use crate::groups::{UnitCell, UnitRows, Units, secrets_of};
use crate::observations::{ColumnType, Observations};
use leakgauge_base::error::{Error, Place, Result, file_listing, shorten};
use leakgauge_base::naming::{option, setting};

/// What was found of the blocks of a log.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct BlockFacts {
    /// The column that names blocks; `None` where each row of a wide file is one.
    pub column: Option<String>,
    /// Blocks with at least two secrets.
    pub blocks: u64,
    /// Of these, blocks that lack a secret.
    pub incomplete: u64,
    /// Blocks of one measurement, which compare nothing and were left out.
    pub alone: u64,
    /// How many blocks lack each secret, by its number.
    pub lacking: Vec<u64>,
}

/// How blocks are called in messages and reports of a wide log.
pub(crate) const ROWS: &str = "row";

/// Checks the blocks of a log, and leaves out those of one measurement.
///
/// # Errors
/// Observations that are no single column of numbers, a block that has a secret twice, no block of two.
pub(crate) fn check(
    units: &mut Units,
    is_wide: bool,
    secrets: &[String],
    observations: &Observations,
    block_label: impl Fn(u32) -> String,
    (files, form): (&[String], Option<&str>),
) -> Result<BlockFacts> {
    let place = || Place::file(file_listing(files));
    let columns = observations.columns().iter();
    let columns: Vec<(&str, ColumnType)> = columns
        .map(|column| (column.name.as_str(), column.kind))
        .collect();
    check_columns(&columns, place())?;
    let mut facts = BlockFacts {
        column: (!is_wide).then(|| units.column.clone()),
        lacking: vec![0; secrets.len()],
        ..BlockFacts::default()
    };
    for block in units.rows.units() {
        if !is_each_once(block)
            && let Some(secret) = twice(block)
        {
            return Err(has_twice(
                place(),
                &block_label(block[0].unit),
                &secrets[secret as usize],
                form,
            ));
        }
        if block.len() < secrets.len() {
            let has = secrets_of(block);
            let lacks = (0..secrets.len()).filter(|&secret| !has.contains(&(secret as u32)));
            lacks.for_each(|secret| facts.lacking[secret] += 1);
        }
        if block.len() < 2 {
            facts.alone += 1;
            continue;
        }
        facts.blocks += 1;
        facts.incomplete += u64::from(block.len() < secrets.len());
    }
    if facts.blocks == 0 {
        return Err(no_block_of_two(place(), form));
    }
    if facts.alone > 0 {
        units.rows = of_two(&units.rows);
    }
    Ok(facts)
}

/// That there is nothing to compare; `form`: the tool whose log this is, which says what its blocks are.
pub(crate) fn no_block_of_two(place: Place, form: Option<&str>) -> Error {
    let error = Error::data(place, "no block has two secrets");
    error.with_hint(match form {
        Some(form) => format!(
            "the file is read as {form}, which measures several secrets in a block; {} reads its rows one by one",
            setting("block", "none")
        ),
        None => format!(
            "measurements are compared inside their block: is {} the right column?",
            option("block")
        ),
    })
}

/// Checks that one column of numbers is observed.
///
/// # Errors
/// Several columns, or one of labels.
pub(crate) fn check_columns(columns: &[(&str, ColumnType)], place: Place) -> Result<()> {
    if matches!(columns, [(_, ColumnType::Numeric)]) {
        return Ok(());
    }
    let names: Vec<String> = columns.iter().map(|(name, _)| shorten(name)).collect();
    let problem = format!(
        "blocks are compared in one column of numbers, and the log observes {}",
        names.join(", ")
    );
    Err(Error::data(place, problem).with_hint(format!(
        "name the column of the measurement with {}; a word among its numbers is found with {}",
        option("observe"),
        option("numeric")
    )))
}

/// Whether a block has every secret once, as far as that can be said at once: most blocks, of millions, go this way.
fn is_each_once(block: &[UnitCell]) -> bool {
    let mut seen = 0u64;
    block.iter().all(|cell| {
        let own = 1u64.checked_shl(cell.secret).unwrap_or(0);
        let is_new = own != 0 && seen & own == 0 && cell.count == 1;
        seen |= own;
        is_new
    })
}

/// A secret that a block has more than once.
fn twice(block: &[UnitCell]) -> Option<u32> {
    let of = |secret: u32| {
        let cells = block.iter().filter(move |cell| cell.secret == secret);
        cells.map(|cell| cell.count).sum::<u64>()
    };
    secrets_of(block).into_iter().find(|&secret| of(secret) > 1)
}

/// That a block has a secret twice; `form` as for [`no_block_of_two`].
pub(crate) fn has_twice(place: Place, block: &str, secret: &str, form: Option<&str>) -> Error {
    let problem = format!(
        "block {:?} has the secret {:?} more than once",
        shorten(block),
        shorten(secret)
    );
    Error::data(place, problem).with_hint(match form {
        Some(form) => format!(
            "the file is read as {form}, whose blocks have one measurement of each secret: are these several logs in one \
             file? {} reads its rows one by one",
            setting("block", "none")
        ),
        None => format!(
            "a block has one measurement of each secret: is {} the right column? Where rows of one session depend on \
             each other, use {} instead",
            option("block"),
            option("group")
        ),
    })
}

fn of_two(rows: &UnitRows) -> UnitRows {
    let cells = rows.units().filter(|block| block.len() > 1);
    UnitRows::new(cells.flatten().copied().collect())
}
