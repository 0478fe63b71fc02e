//! Graphs and groups that are given in files.

use std::cell::RefCell;
use std::collections::BTreeMap;

use hashbrown::HashMap;

use super::lists::Lists;
use leakgauge_base::error::{Error, Place, Result};
use leakgauge_log::{ReadMeter, delimiter, open};

/// An undirected graph over the rows.
#[derive(Debug, Clone)]
pub struct Edges {
    neighbors: Lists,
}

impl Edges {
    /// The graph of some edges; loops and repetitions do no harm.
    ///
    /// # Errors
    /// An end that is not below `rows`.
    pub fn new(rows: usize, edges: &[(u32, u32)]) -> Result<Self> {
        if let Some((a, b)) = edges.iter().find(|(a, b)| (*a).max(*b) as usize >= rows) {
            let row = u64::from(*a.max(b)) + 1;
            return Err(Error::parameter(
                format!("edge {a}–{b}"),
                format!("names row {row}, but there are {rows} rows"),
            ));
        }
        let both = edges.iter().flat_map(|&(a, b)| [(a, b), (b, a)]);
        let pairs = both.filter(|(a, b)| a != b).collect();
        Ok(Edges {
            neighbors: Lists::from_pairs(rows, pairs),
        })
    }

    /// The number of rows.
    pub fn rows(&self) -> usize {
        self.neighbors.len()
    }

    /// The neighbors of a row, ascending.
    pub fn neighbors(&self, row: usize) -> &[u32] {
        self.neighbors.get(row)
    }

    /// Appends the rows at most `length` edges away, the row itself first.
    pub(super) fn reach(&self, row: u32, length: u32, found: &mut Vec<u32>) {
        thread_local! {
            /// In which walk a row was seen last, and the number of walks.
            static SEEN: RefCell<(Vec<u32>, u32)> = const { RefCell::new((Vec::new(), 0)) };
        }
        SEEN.with_borrow_mut(|(seen, walks)| {
            if seen.len() < self.rows() || *walks == u32::MAX {
                seen.clear();
                seen.resize(self.rows(), 0);
                *walks = 0;
            }
            *walks += 1;
            seen[row as usize] = *walks;
            found.push(row);
            let mut from = 0;
            for _ in 0..length {
                let to = found.len();
                for at in from..to {
                    for next in self.neighbors.get(found[at] as usize) {
                        if std::mem::replace(&mut seen[*next as usize], *walks) != *walks {
                            found.push(*next);
                        }
                    }
                }
                if found.len() == to {
                    break;
                }
                from = to;
            }
        });
    }
}

/// The first two columns of a delimited file with a header, row by row, with the number of the row.
fn pairs(file: &str) -> Result<Vec<(u64, String, String)>> {
    let mut text = Vec::new();
    std::io::Read::read_to_end(&mut open(file, &ReadMeter::default())?, &mut text)
        .map_err(|error| Error::file(file, error.to_string()))?;
    let first_line = text.split(|byte| *byte == b'\n').next().unwrap_or(&[]);
    let mut reader = csv::ReaderBuilder::new()
        .delimiter(delimiter(file, first_line, None))
        .trim(csv::Trim::All)
        .from_reader(&text[..]);
    let mut found = Vec::new();
    for (at, record) in reader.records().enumerate() {
        let row = at as u64 + 2;
        let place = || Place::file(file).row(row);
        let record = record.map_err(|error| Error::data(place(), error.to_string()))?;
        match (record.get(0), record.get(1)) {
            (Some(a), Some(b)) if !a.is_empty() && !b.is_empty() => {
                found.push((row, a.to_owned(), b.to_owned()));
            }
            _ => {
                return Err(Error::data(place(), "needs two columns, neither blank"));
            }
        }
    }
    if found.is_empty() {
        return Err(Error::file(file, "has no rows").with_hint("row 1 is the header"));
    }
    Ok(found)
}

/// Rows by what a file calls them: a column of the log, or their number from 1.
struct Names<'a> {
    by_id: Option<HashMap<&'a str, u32>>,
    rows: usize,
}

impl<'a> Names<'a> {
    fn new(rows: usize, ids: Option<&'a [String]>) -> Result<Self> {
        let Some(ids) = ids else {
            return Ok(Names { by_id: None, rows });
        };
        let mut by_id = HashMap::with_capacity(ids.len());
        for (row, id) in ids.iter().enumerate() {
            if by_id.insert(id.as_str(), row as u32).is_some() {
                return Err(Error::parameter("--id", format!("{id:?} names two rows")));
            }
        }
        Ok(Names {
            by_id: Some(by_id),
            rows,
        })
    }

    fn find(&self, file: &str, row: u64, name: &str) -> Result<u32> {
        let wrong = |problem: String, hint: &str| {
            Error::data(Place::file(file).row(row).value(name), problem).with_hint(hint)
        };
        match &self.by_id {
            Some(by_id) => by_id.get(name).copied().ok_or_else(|| {
                wrong(
                    "no row of the log has this id".to_owned(),
                    "--id names the column that ids are in",
                )
            }),
            None => match name.parse::<u64>() {
                Ok(number) if (1..=self.rows as u64).contains(&number) => Ok((number - 1) as u32),
                _ => Err(wrong(
                    format!("is no row of the log, whose rows are 1 to {}", self.rows),
                    "--id names a column of the log to find rows by",
                )),
            },
        }
    }
}

/// Reads a graph: each row of the file is an edge between two rows of the log, by their ids, or by their
/// numbers from 1.
///
/// # Errors
/// A file that cannot be read, or a row of it that names no row of the log; ids that name two.
pub fn read_edges(file: &str, rows: usize, ids: Option<&[String]>) -> Result<Edges> {
    let names = Names::new(rows, ids)?;
    let edges: Vec<(u32, u32)> = pairs(file)?
        .iter()
        .map(|(row, a, b)| Ok((names.find(file, *row, a)?, names.find(file, *row, b)?)))
        .collect::<Result<_>>()?;
    Edges::new(rows, &edges)
}

/// Reads groups: each row of the file puts a row of the log, by its id or number, into a group, by its
/// label.
///
/// # Errors
/// As [`read_edges`].
pub fn read_group_file(
    file: &str,
    rows: usize,
    ids: Option<&[String]>,
) -> Result<Vec<(String, Vec<u32>)>> {
    let names = Names::new(rows, ids)?;
    let mut groups: BTreeMap<String, Vec<u32>> = BTreeMap::new();
    for (row, label, member) in pairs(file)? {
        let member = names.find(file, row, &member)?;
        groups.entry(label).or_default().push(member);
    }
    Ok(groups.into_iter().collect())
}
