//! Which arrays of an archive are the log: a matrix has others beside it, and a class may be an array.

use std::io::{Cursor, Read};

use zip::ZipArchive;

use crate::options::ReadOptions;
use crate::unpack::{may_hold, too_large};
use leakgauge_base::error::{Error, Result, listing, shorten};
use leakgauge_base::naming::{option, setting};

/// An array of an archive as far as it decides what it is for.
pub(super) struct Shape<'a> {
    /// Its name.
    pub name: &'a str,
    /// Its rows and columns, every field of them one; why it is no column of a log.
    pub size: std::result::Result<(usize, usize), &'a str>,
    /// How its items are stored.
    pub of: String,
}

/// What is read of an archive.
pub(super) enum Choice {
    /// These arrays, side by side.
    Beside(Vec<usize>),
    /// Every array is a class, one behind the other.
    Classes,
}

impl Shape<'_> {
    fn rows(&self) -> Option<usize> {
        self.size.ok().map(|size| size.0)
    }

    fn is_matrix(&self) -> bool {
        self.size.is_ok_and(|size| size.1 > 1)
    }

    /// Whether an option means this array, or a column of it.
    fn is_named(&self, wanted: &str) -> bool {
        let rest = wanted.strip_prefix(self.name);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(['[', '.']))
    }

    fn listed(&self) -> String {
        let name = shorten(self.name);
        match self.size {
            Ok((rows, 1)) => format!("{name} ({rows})"),
            Ok((rows, columns)) => format!("{name} ({rows} × {columns})"),
            Err(_) => format!("{name} (no column)"),
        }
    }
}

/// Chooses among the arrays of an archive.
///
/// Arrays of the length of what is observed are columns; others are left out. Without `observe` it must be clear what
/// is observed: one matrix with at most one array of labels beside it, or arrays without columns.
///
/// # Errors
/// Arrays of several lengths, or several that may be observed; one that is named and is no column.
pub(super) fn choose(name: &str, arrays: &[Shape], options: &ReadOptions) -> Result<Choice> {
    let every = || (0..arrays.len()).filter(|&at| arrays[at].size.is_ok());
    let is_in = |names: &[&str], at: usize| names.iter().any(|name| arrays[at].is_named(name));
    let named: Vec<&str> = options.named_columns().collect();
    for (at, array) in arrays.iter().enumerate() {
        if let Err(problem) = array.size
            && (is_in(&named, at) || arrays.len() == 1 || options.wide)
        {
            let array = shorten(array.name);
            return Err(Error::file(name, format!("array `{array}`: {problem}")));
        }
    }
    if options.wide {
        return Ok(Choice::Beside(every().collect()));
    }
    // Options that mean no array mean columns of all.
    let is_told = options.secret_from.is_some() || every().any(|at| is_in(&named, at));
    if !is_told && options.scores.is_none() && are_classes(arrays) {
        return Ok(Choice::Classes);
    }
    let observe: Vec<&str> = options
        .observe
        .iter()
        .flatten()
        .map(String::as_str)
        .collect();
    let observed = every().filter(|&at| is_in(&observe, at));
    // The secret of a file of its own is none of these arrays.
    let secret = options
        .secret
        .as_ref()
        .filter(|_| options.secret_from.is_none());
    let of_secret = every().find(|&at| secret.is_some_and(|of| arrays[at].is_named(of)));
    let mut lengths: Vec<Option<usize>> = observed
        .chain(of_secret)
        .map(|at| arrays[at].rows())
        .collect();
    if lengths.is_empty() {
        let matrices = every().filter(|&at| arrays[at].is_matrix());
        lengths = matrices.map(|at| arrays[at].rows()).collect();
    }
    if lengths.is_empty() {
        lengths = every().map(|at| arrays[at].rows()).collect();
    }
    lengths.sort_unstable();
    lengths.dedup();
    let [rows] = lengths[..] else {
        return Err(uneven(name, arrays, &lengths));
    };
    let kept: Vec<usize> = every().filter(|&at| arrays[at].rows() == rows).collect();
    if options.observe.is_none() {
        refuse_if_unclear(name, arrays, &kept, (options, &named))?;
    }
    Ok(Choice::Beside(kept))
}

/// Whether each array may be a class: at least two, all matrices of the same width and type.
fn are_classes(arrays: &[Shape]) -> bool {
    let key = |array: &Shape| (array.size.ok().map(|size| size.1), array.of.clone());
    let Some(first) = arrays.first() else {
        return false;
    };
    arrays.len() > 1 && first.is_matrix() && arrays.iter().all(|array| key(array) == key(first))
}

/// Refuses arrays of one length of which it is not clear which are observed: what a device was given is no leak.
fn refuse_if_unclear(
    name: &str,
    arrays: &[Shape],
    kept: &[usize],
    (options, named): (&ReadOptions, &[&str]),
) -> Result<()> {
    let is_free = |at: &&usize| !named.iter().any(|name| arrays[**at].is_named(name));
    let (matrices, single): (Vec<usize>, Vec<usize>) = kept
        .iter()
        .filter(is_free)
        .copied()
        .partition(|&at| arrays[at].is_matrix());
    let has_secret = options.secret.is_some()
        || options.secret_from.is_some()
        || single
            .iter()
            .any(|&at| arrays[at].name.eq_ignore_ascii_case("secret"));
    let labels = usize::from(options.secret.is_none() && options.secret_from.is_none());
    // Of a matrix that one column is named of, the others would be observed.
    let is_rest = |at: &usize| arrays[*at].is_matrix() && !is_free(&at);
    let has_rest = kept.len() > 1 && kept.iter().any(is_rest);
    if matrices.is_empty() && !has_rest
        || (matrices.len() == 1 && single.len() <= labels && !has_rest)
    {
        return Ok(());
    }
    let shapes: Vec<String> = arrays.iter().map(Shape::listed).collect();
    let shapes = listing(shapes.iter().map(String::as_str));
    let problem = format!("does not say which of its arrays are observed: {shapes}");
    Err(Error::file(name, problem).with_hint(command(arrays, &matrices, &single, has_secret)))
}

/// Refuses arrays of several lengths.
fn uneven(name: &str, arrays: &[Shape], lengths: &[Option<usize>]) -> Error {
    let (least, most) = (lengths.first(), lengths.last());
    let number = |rows: Option<&Option<usize>>| rows.copied().flatten().unwrap_or(0);
    let shapes: Vec<String> = arrays.iter().map(Shape::listed).collect();
    let problem = format!(
        "has arrays of {} and of {} rows: {}",
        number(least),
        number(most),
        listing(shapes.iter().map(String::as_str))
    );
    let beside = |rows: Option<usize>| {
        let all = (0..arrays.len()).filter(move |&at| arrays[at].rows() == rows);
        all.partition::<Vec<usize>, _>(|&at| arrays[at].is_matrix())
    };
    let (matrices, single) = lengths
        .last()
        .map_or_else(Default::default, |&rows| beside(rows));
    if matrices.is_empty() {
        return Error::file(name, problem).with_hint(format!(
            "name those of one length with {} and {}; if each array is a secret, say {}",
            option("secret"),
            option("observe"),
            option("wide")
        ));
    }
    Error::file(name, problem).with_hint(command(arrays, &matrices, &single, false))
}

/// The options that say what is observed, and what the secret is.
fn command(arrays: &[Shape], matrices: &[usize], single: &[usize], has_secret: bool) -> String {
    let width = |at: usize| arrays[at].size.map_or(0, |size| size.1);
    let widest = matrices.iter().copied().max_by_key(|&at| width(at));
    let observe = setting(
        "observe",
        shorten(widest.map_or("ARRAY", |at| arrays[at].name)),
    );
    let other = matrices.iter().copied().find(|&at| Some(at) != widest);
    let secret = match (single.first(), other) {
        _ if has_secret => return format!("say {observe}, or another"),
        (Some(&at), _) => setting("secret", shorten(arrays[at].name)),
        (None, Some(at)) => setting("secret", format!("'{}[1]'", shorten(arrays[at].name))),
        (None, None) => setting("secret_from", "FILE"),
    };
    format!("say {observe} and {secret}, or others")
}

/// The arrays of an archive by their names; what it has on disk.
///
/// # Errors
/// An archive that is broken, holds something else, or unpacks to far more than it has.
pub(super) fn members(
    bytes: Vec<u8>,
    on_disk: Option<u64>,
) -> std::result::Result<Vec<(String, Vec<u8>)>, String> {
    let on_disk = Some(on_disk.unwrap_or(bytes.len() as u64));
    let mut held = 0u64;
    let broken = |error: &dyn std::fmt::Display| format!("is a broken archive: {error}");
    let mut archive = ZipArchive::new(Cursor::new(bytes)).map_err(|error| broken(&error))?;
    let mut arrays = Vec::new();
    for at in 0..archive.len() {
        let mut member = archive.by_index(at).map_err(|error| broken(&error))?;
        let name = member.name().map_err(|error| broken(&error))?.into_owned();
        let Some(array) = name.strip_suffix(".npy").map(str::to_owned) else {
            let other = shorten(&name);
            return Err(format!(
                "is an archive that holds {other}, and only arrays of NumPy are read"
            ));
        };
        // What an archive says of itself may be wrong: never more than that is read.
        let size = member.size();
        held = held.saturating_add(size);
        if !may_hold(held, on_disk) {
            return Err(too_large());
        }
        let mut file = Vec::new();
        (&mut member)
            .take(size.saturating_add(1))
            .read_to_end(&mut file)
            .map_err(|error| broken(&error))?;
        if file.len() as u64 != size {
            return Err(broken(&"a member is not as long as it says"));
        }
        arrays.push((array, file));
    }
    Ok(arrays)
}
