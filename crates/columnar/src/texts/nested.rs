//! Lists, maps and structs as JSON. Their elements become texts all at once, and are then put together.

use std::ops::Range;

use arrow::array::{
    Array, FixedSizeListArray, GenericListArray, MapArray, OffsetSizeTrait, StructArray,
};

use crate::texts::{Cells, Problem, Style, Texts, texts};

type Found = std::result::Result<Texts, Problem>;

/// Lists whose elements stand between offsets.
pub(super) fn list<O: OffsetSizeTrait>(array: &GenericListArray<O>, cells: &Cells) -> Found {
    let ranges = Ranges::between(array.value_offsets());
    let elements = ranges.of(array.values())?;
    cells.simple(|at, out| {
        join(ranges.at(at), "[]", out, |at, out| {
            out.push_str(elements.get(at))
        })
    })
}

/// Lists of one length.
pub(super) fn fixed_list(array: &FixedSizeListArray, cells: &Cells) -> Found {
    let length = usize::try_from(array.value_length()).unwrap_or(0);
    let elements = texts(array.values(), None, Style::Json).map_err(|problem| Problem {
        row: problem.row / length.max(1),
        ..problem
    })?;
    let range = |at: usize| at * length..(at + 1) * length;
    cells.simple(|at, out| {
        join(range(at), "[]", out, |at, out| {
            out.push_str(elements.get(at))
        })
    })
}

/// Maps, as objects.
pub(super) fn map(array: &MapArray, cells: &Cells) -> Found {
    let ranges = Ranges::between(array.value_offsets());
    let keys = ranges.of(array.keys())?;
    let values = ranges.of(array.values())?;
    let pair = |at: usize, out: &mut String| {
        let key = keys.get(at);
        let quote = if key.starts_with('"') { "" } else { "\"" };
        out.extend([quote, key, quote, ":", values.get(at)]);
    };
    cells.simple(|at, out| join(ranges.at(at), "{}", out, pair))
}

/// Structs inside lists, as objects.
pub(super) fn object(array: &StructArray, cells: &Cells) -> Found {
    let name = |name: &str| serde_json::Value::from(name).to_string();
    let fields = array.fields().iter().zip(array.columns());
    let fields = fields
        .map(|(field, column)| Ok((name(field.name()), texts(column, None, Style::Json)?)))
        .collect::<Result<Vec<_>, Problem>>()?;
    cells.simple(|row, out| {
        join(0..fields.len(), "{}", out, |at, out| {
            let (name, texts) = &fields[at];
            out.extend([name, ":", texts.get(row)]);
        });
    })
}

/// Where the elements of rows stand, from the first element of the first row.
struct Ranges {
    first: usize,
    ends: Vec<usize>,
}

impl Ranges {
    fn between<O: OffsetSizeTrait>(offsets: &[O]) -> Self {
        let first = offsets.first().map_or(0, |offset| offset.as_usize());
        let ends = offsets.iter().skip(1);
        Ranges {
            first,
            ends: ends.map(|offset| offset.as_usize() - first).collect(),
        }
    }

    fn at(&self, row: usize) -> Range<usize> {
        let start = row.checked_sub(1).map_or(0, |before| self.ends[before]);
        start..self.ends[row]
    }

    /// The texts of the elements of these rows.
    fn of(&self, elements: &dyn Array) -> Found {
        let all = self.ends.last().copied().unwrap_or(0);
        let elements = elements.slice(self.first, all);
        texts(&elements, None, Style::Json).map_err(|problem| Problem {
            row: self.ends.partition_point(|&end| end <= problem.row),
            ..problem
        })
    }
}

/// Writes elements with commas between them and brackets around.
fn join(
    elements: Range<usize>,
    brackets: &str,
    out: &mut String,
    element: impl Fn(usize, &mut String),
) {
    out.push_str(&brackets[..1]);
    for at in elements.clone() {
        if at > elements.start {
            out.push(',');
        }
        element(at, out);
    }
    out.push_str(&brackets[1..]);
}
