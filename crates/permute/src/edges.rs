//! Graphs and groups that are read from files.

use std::cell::RefCell;
use std::collections::BTreeMap;

use hashbrown::HashMap;

use super::lists::Lists;
use leakgauge_base::error::{Error, Place, Result};
use leakgauge_base::naming::option;
use leakgauge_log::{ReadMeter, delimiter, open, whole_text};

/// An undirected graph whose nodes are the rows of a log, as adjacency lists.
#[derive(Debug, Clone)]
pub struct Edges {
    neighbors: Lists,
}

impl Edges {
    /// The graph with these edges, pairs of rows from 0. Loops and repeated edges are ignored.
    ///
    /// # Errors
    /// An edge names a row that is not below `rows`.
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
        self.walk(row, length, usize::MAX, found);
    }

    /// Appends the `size` rows that are fewest edges away, the row itself first; of equally far ones the first rows.
    pub(super) fn closest(&self, row: u32, size: usize, found: &mut Vec<u32>) {
        self.walk(row, u32::MAX, size, found);
    }

    fn walk(&self, row: u32, length: u32, size: usize, found: &mut Vec<u32>) {
        thread_local! {
            /// For each row the last walk that saw it, and the number of walks so far.
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
                if to >= size {
                    break;
                }
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
                if found.len() >= size {
                    found[to..].sort_unstable();
                    found.truncate(size);
                    break;
                }
                from = to;
            }
        });
    }
}

/// Reads an order of all rows: a delimited file with a header whose first field of each row is a row of the log, given
/// by `ids` or else by its number from 1.
///
/// # Errors
/// As [`read_edges`].
pub fn read_order(file: &str, rows: usize, ids: Option<&[String]>) -> Result<Vec<u32>> {
    let names = Names::new(rows, ids)?;
    let listed = fields::<1>(file)?;
    let found = listed
        .iter()
        .map(|(row, [name])| names.find(file, *row, name));
    found.collect()
}

/// The first columns of a delimited file with a header: for each row its number and that many fields.
fn fields<const N: usize>(file: &str) -> Result<Vec<(u64, [String; N])>> {
    let text = whole_text(file, open(file, &ReadMeter::default())?)?;
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
        let first: Vec<String> = record.iter().take(N).map(str::to_owned).collect();
        match <[String; N]>::try_from(first) {
            Ok(first) if first.iter().all(|field| !field.is_empty()) => found.push((row, first)),
            _ => {
                let count = if N == 1 {
                    "one field that is"
                } else {
                    "two fields that are"
                };
                return Err(Error::data(place(), format!("needs {count} not blank")));
            }
        }
    }
    if found.is_empty() {
        return Err(Error::file(file, "has no rows").with_hint("row 1 is the header"));
    }
    Ok(found)
}

/// Finds rows by the names that a file uses: values of a column of the log, or row numbers from 1.
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
                return Err(Error::option("id", format!("two rows have the id {id:?}")));
            }
        }
        Ok(Names {
            by_id: Some(by_id),
            rows,
        })
    }

    fn find(&self, file: &str, row: u64, name: &str) -> Result<u32> {
        let wrong = |problem: String, hint: String| {
            Error::data(Place::file(file).row(row).value(name), problem).with_hint(hint)
        };
        match &self.by_id {
            Some(by_id) => by_id.get(name).copied().ok_or_else(|| {
                wrong(
                    "no row of the log has this id".to_owned(),
                    format!("{} names the column of the ids", option("id")),
                )
            }),
            None => match name.parse::<u64>() {
                Ok(number) if (1..=self.rows as u64).contains(&number) => Ok((number - 1) as u32),
                _ => Err(wrong(
                    format!(
                        "is not a row number of the log; these go from 1 to {}",
                        self.rows
                    ),
                    format!(
                        "to find rows by an id, name its column with {}",
                        option("id")
                    ),
                )),
            },
        }
    }
}

/// Reads a graph: a delimited file with a header whose rows are edges, each two rows of the log, given by `ids`
/// or else by their numbers from 1.
///
/// # Errors
/// The file cannot be read, or names a row that the log does not have; two rows of the log have the same id.
pub fn read_edges(file: &str, rows: usize, ids: Option<&[String]>) -> Result<Edges> {
    let names = Names::new(rows, ids)?;
    let edges: Vec<(u32, u32)> = fields::<2>(file)?
        .iter()
        .map(|(row, [a, b])| Ok((names.find(file, *row, a)?, names.find(file, *row, b)?)))
        .collect::<Result<_>>()?;
    Edges::new(rows, &edges)
}

/// Reads groups: a delimited file with a header whose rows are a group's label and a row of the log, given by
/// `ids` or else by its number from 1.
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
    for (row, [label, member]) in fields::<2>(file)? {
        let member = names.find(file, row, &member)?;
        groups.entry(label).or_default().push(member);
    }
    Ok(groups.into_iter().collect())
}
