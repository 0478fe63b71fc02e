//! The columns of a schema: fields of structs go by their paths, `timing.total`.

use std::borrow::Cow;

use arrow::array::{Array, ArrayRef, AsArray, RecordBatch};
use arrow::buffer::NullBuffer;
use arrow::datatypes::{DataType, Field, Fields, Schema};

use crate::values::{Problem, Values, values};
use leakgauge_base::error::{Error, Place, Result};
use leakgauge_base::naming::option;
use leakgauge_log::{ColumnPattern, ReadOptions};

/// Structs inside structs.
const DEEPEST: usize = 64;

/// The columns of a file.
pub(super) struct Leaves {
    leaves: Vec<Leaf>,
    /// Which fields of the schema hold wanted columns, in order.
    roots: Vec<usize>,
}

struct Leaf {
    name: String,
    /// Positions of fields: in the schema, then in each struct.
    path: Vec<usize>,
    is_wanted: bool,
}

impl Leaves {
    /// The columns of a schema. If the options name the observation, the columns that no option names are
    /// not wanted.
    ///
    /// # Errors
    /// A wanted column whose values cannot become fields.
    pub(super) fn of(name: &str, schema: &Schema, options: &ReadOptions) -> Result<Self> {
        let mut leaves = Vec::new();
        collect(schema.fields(), "", &mut Vec::new(), &mut leaves);
        let wanted = Wanted::by(options);
        let mut found = Leaves {
            leaves: Vec::with_capacity(leaves.len()),
            roots: Vec::new(),
        };
        for (at, (leaf, field)) in leaves.into_iter().enumerate() {
            let is_wanted = wanted.is(&leaf.name, at);
            if is_wanted {
                check(field, leaf.path.len()).map_err(|(problem, hint)| {
                    let place = Place::file(name).column(&leaf.name);
                    Error::data(place, problem).with_hint(hint)
                })?;
                if found.roots.last() != Some(&leaf.path[0]) {
                    found.roots.push(leaf.path[0]);
                }
            }
            found.leaves.push(Leaf { is_wanted, ..leaf });
        }
        Ok(found)
    }

    /// The names of all columns.
    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        self.leaves.iter().map(|leaf| leaf.name.as_str())
    }

    /// The fields of the schema that have to be decoded.
    pub(super) fn roots(&self) -> &[usize] {
        &self.roots
    }

    /// The values of the wanted columns of a batch, which holds those fields and no others.
    pub(super) fn values(
        &self,
        batch: &RecordBatch,
    ) -> std::result::Result<Vec<Option<Values>>, (String, Problem)> {
        let of_leaf = |leaf: &Leaf| {
            if !leaf.is_wanted {
                return Ok(None);
            }
            let (array, nulls) = self.array(batch, &leaf.path);
            values(&array, nulls.as_ref())
                .map(Some)
                .map_err(|problem| (leaf.name.clone(), problem))
        };
        self.leaves.iter().map(of_leaf).collect()
    }

    /// The values of the fields that hold wanted columns, none of them nested, in the places of all columns.
    pub(super) fn spread(&self, values: Vec<Values>) -> Vec<Option<Values>> {
        let mut values = values.into_iter();
        let of_leaf = |leaf: &Leaf| leaf.is_wanted.then(|| values.next()).flatten();
        self.leaves.iter().map(of_leaf).collect()
    }

    /// The values at a path, and where a struct above them is null.
    fn array(&self, batch: &RecordBatch, path: &[usize]) -> (ArrayRef, Option<NullBuffer>) {
        let root = self.roots.partition_point(|&root| root < path[0]);
        let mut array = batch.column(root);
        let mut nulls = None;
        for &field in &path[1..] {
            let above = array.as_struct();
            nulls = NullBuffer::union(nulls.as_ref(), above.nulls());
            array = above.column(field);
        }
        (array.clone(), nulls)
    }
}

fn collect<'f>(
    fields: &'f Fields,
    above: &str,
    path: &mut Vec<usize>,
    leaves: &mut Vec<(Leaf, &'f Field)>,
) {
    for (at, field) in fields.iter().enumerate() {
        let name = if path.is_empty() {
            field.name().clone()
        } else {
            format!("{above}.{}", field.name())
        };
        path.push(at);
        match field.data_type() {
            DataType::Struct(below) if !below.is_empty() && path.len() <= DEEPEST => {
                collect(below, &name, path, leaves);
            }
            _ => {
                let path = path.clone();
                let is_wanted = false;
                let leaf = Leaf {
                    name,
                    path,
                    is_wanted,
                };
                leaves.push((leaf, field));
            }
        }
        path.pop();
    }
}

/// The columns that options ask for.
struct Wanted<'o> {
    /// `None`: all.
    names: Option<Vec<&'o str>>,
    /// Whether the secret is the column of that name.
    secret: bool,
}

impl<'o> Wanted<'o> {
    fn by(options: &'o ReadOptions) -> Self {
        let selects = options.observe.is_some() || options.scores.is_some();
        // Rows are chosen by these.
        let filtering = options.filters.iter().map(|filter| filter.column.as_str());
        Wanted {
            names: selects
                .then(|| options.named_columns().chain(filtering).collect())
                // Where a range ends is known once all columns are.
                .filter(|names: &Vec<&str>| !names.iter().any(|&name| is_range(name))),
            secret: options.secret.is_none(),
        }
    }

    fn is(&self, name: &str, at: usize) -> bool {
        let Some(names) = &self.names else {
            return true;
        };
        let number = (at + 1).to_string();
        // Names are compared without blanks around them, as a header's are.
        let name = name.trim();
        names
            .iter()
            .any(|&wanted| wanted == name || wanted == number || fits(wanted, name))
            || (self.secret && name.eq_ignore_ascii_case("secret"))
    }
}

/// Whether a name may stand for all columns between two.
fn is_range(wanted: &str) -> bool {
    ColumnPattern::of(wanted).is_some_and(|pattern| pattern.fits("").is_none())
}

/// Whether a column is one of those that a pattern asks for.
fn fits(wanted: &str, name: &str) -> bool {
    let pattern = ColumnPattern::of(wanted);
    pattern.is_some_and(|pattern| pattern.fits(name).unwrap_or(true))
}

type Refusal = (Cow<'static, str>, Cow<'static, str>);

/// Refuses values that have no text.
fn check(field: &Field, depth: usize) -> std::result::Result<(), Refusal> {
    if depth > DEEPEST {
        let problem = format!("is nested more than {DEEPEST} deep");
        return Err((problem.into(), "write it flatter".into()));
    }
    match field.data_type() {
        DataType::Binary
        | DataType::LargeBinary
        | DataType::BinaryView
        | DataType::FixedSizeBinary(_) => Err((
            "holds bytes, not text".into(),
            format!(
                "write it as text (in SQL, CAST(… AS VARCHAR) or hex(…)), or leave it out: name the observation \
                 columns with {}",
                option("observe")
            )
            .into(),
        )),
        DataType::Interval(_) => Err((
            "holds intervals, whose months and days have no length".into(),
            format!(
                "write it as seconds (in SQL, EXTRACT(epoch FROM …)), or name the observation columns with {}",
                option("observe")
            )
            .into(),
        )),
        DataType::Dictionary(_, values) => {
            let values = Field::new("", values.as_ref().clone(), true);
            check(&values, depth + 1)
        }
        DataType::RunEndEncoded(_, values) => check(values, depth + 1),
        DataType::List(below)
        | DataType::LargeList(below)
        | DataType::FixedSizeList(below, _)
        | DataType::Map(below, _) => check(below, depth + 1),
        DataType::Struct(fields) => fields.iter().try_for_each(|field| check(field, depth + 1)),
        DataType::Union(..) | DataType::ListView(_) | DataType::LargeListView(_) => Err((
            format!(
                "holds values of type {}, which is not read",
                field.data_type()
            )
            .into(),
            format!(
                "write it as text, numbers or lists, or name the observation columns with {}",
                option("observe")
            )
            .into(),
        )),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn schema() -> Schema {
        let inner = Fields::from(vec![
            Field::new("id", DataType::Utf8, true),
            Field::new("raw", DataType::Binary, true),
        ]);
        Schema::new(vec![
            Field::new("Secret", DataType::Utf8, true),
            Field::new("user", DataType::Struct(inner), true),
            Field::new("time", DataType::Float64, true),
        ])
    }

    #[test]
    fn columns_go_by_their_paths_and_only_those_named_are_decoded() {
        let observe = |names: &[&str]| ReadOptions {
            observe: Some(names.iter().map(|&name| name.to_owned()).collect()),
            ..ReadOptions::default()
        };
        let leaves = Leaves::of("log", &schema(), &observe(&["user.id"])).unwrap();
        let names: Vec<&str> = leaves.names().collect();
        assert_eq!(names, ["Secret", "user.id", "user.raw", "time"]);
        assert_eq!(leaves.roots(), [0, 1]);
        let by_number = Leaves::of("log", &schema(), &observe(&["4"])).unwrap();
        assert_eq!(by_number.roots(), [0, 2]);
    }

    #[test]
    fn bytes_are_refused_where_they_are_wanted() {
        let error = Leaves::of("log", &schema(), &ReadOptions::default());
        let words = error.err().map(|error| error.to_string()).unwrap();
        assert!(
            words.contains("column user.raw: holds bytes") && words.contains("`observe`"),
            "{words}"
        );
    }
}
