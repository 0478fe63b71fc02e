//! A file a visit, as Wang et al. and many after them keep traces of packets: named `SITE-INSTANCE`, no header, a time and
//! a direction or size on each line.
//!
//! Such files are no log: their rows are packets, and the secret is in their names. They are refused with what to do.

use std::collections::BTreeSet;

use crate::row::{Field, Row};
use leakgauge_base::error::{Error, Result, shorten};

/// Visits of a site that are there on average, at least.
const MIN_VISITS: usize = 2;

/// Whether files without a header, of whose first one the first rows are given, are visits.
pub(crate) fn are_visits(files: &[String], header: bool, rows: &[Row]) -> bool {
    let is_packet = |row: &Row| row.len() == 2 && row.fields().all(Field::is_number);
    if header || rows.is_empty() || !rows.iter().all(is_packet) {
        return false;
    }
    let sites: Vec<&str> = files.iter().filter_map(|file| site(file)).collect();
    let different = sites.iter().collect::<BTreeSet<_>>().len();
    // Visits of other sites are often called by their number alone.
    different > 1 && 2 * sites.len() > files.len() && sites.len() >= MIN_VISITS * different
}

/// The site in the name of a file.
fn site(file: &str) -> Option<&str> {
    let name = file.rsplit(['/', '\\']).next()?;
    let is_ending = |end: &&str| !end.contains('-');
    let ending = name.rsplit_once('.').map(|(_, end)| end);
    let stem = match ending.filter(is_ending) {
        Some(end) => &name[..name.len() - end.len() - 1],
        None => name,
    };
    let (site, instance) = stem.rsplit_once('-')?;
    let is_number = !instance.is_empty() && instance.bytes().all(|digit| digit.is_ascii_digit());
    (is_number && !site.is_empty()).then_some(site)
}

/// Refuses visits.
///
/// # Errors
/// The files are visits.
pub(crate) fn refuse(files: &[String], header: bool, rows: &[Row]) -> Result<()> {
    let Some(first) = files.first().filter(|_| are_visits(files, header, rows)) else {
        return Ok(());
    };
    let problem = format!(
        "this and {} more files, named SITE-INSTANCE, are a visit each: their rows are packets, and their sites are no \
         column",
        files.len() - 1
    );
    Err(Error::file(shorten(first), problem).with_hint(
        "write a row for each visit, with its site and the list of its packets; \"A file a visit\" in \
         docs/log-formats.md has the lines that do it",
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(names: &[&str], lines: &str) -> bool {
        let rows: Vec<Row> = lines
            .lines()
            .map(|line| Row::of_texts(line.split('\t')))
            .collect();
        let files: Vec<String> = names.iter().map(|name| format!("cells/{name}")).collect();
        are_visits(&files, false, &rows)
    }

    #[test]
    fn visits_are_known_by_their_names_and_two_numbers_a_line() {
        let packets = "0.0\t1\n0.02\t-1\n";
        assert!(found(&["0-0", "0-1", "1-0", "1-1", "17"], packets));
        assert!(found(&["a.b-0.cell", "a.b-1.cell", "c-0", "c-1"], packets));
        assert!(!found(&["0-0", "0-1", "0-2"], packets), "one site");
        assert!(!found(&["0-0", "1-0", "2-0"], packets), "one visit each");
        assert!(!found(&["a", "b", "c", "d"], packets));
        assert!(
            !found(&["2024-01-01", "2024-01-02"], packets),
            "days of a month"
        );
        assert!(!found(&["0-0", "0-1", "1-0", "1-1"], "x\t1\ny\t2\n"));
        assert!(!found(&["0-0", "0-1", "1-0", "1-1"], "1\t2\t3\n"));
    }
}
