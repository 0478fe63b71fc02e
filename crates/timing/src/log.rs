//! The file of all times, which `leakgauge audit` reads.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

/// All times of a test.
pub(crate) struct Rows<'a> {
    pub(crate) classes: &'a [String],
    /// The class of each time, in the order in which they were taken.
    pub(crate) order: &'a [u8],
    /// Block by block, in the order of the classes, in ns.
    pub(crate) times: &'a [f64],
}

impl Rows<'_> {
    /// Writes the file `NAME.csv`, and says where it is. A file of an earlier run is replaced, whole.
    pub(crate) fn write(&self, directory: &Path, name: &str) -> io::Result<PathBuf> {
        fs::create_dir_all(directory)?;
        let path = directory.join(format!("{}.csv", file_name(name)));
        static WRITTEN: AtomicUsize = AtomicUsize::new(0);
        let number = WRITTEN.fetch_add(1, Ordering::Relaxed);
        let unfinished = path.with_extension(format!("csv.{}.{number}", std::process::id()));
        let written = File::create(&unfinished).and_then(|file| {
            let mut out = BufWriter::new(file);
            self.write_to(&mut out)?;
            out.flush()?;
            fs::rename(&unfinished, &path)
        });
        if let Err(error) = written {
            // A torn file would look whole.
            let _ = fs::remove_file(&unfinished);
            return Err(io::Error::new(
                error.kind(),
                format!("{}: {error}", path.display()),
            ));
        }
        Ok(path)
    }

    fn write_to(&self, out: &mut impl Write) -> io::Result<()> {
        writeln!(out, "block,sequence,class,time_ns")?;
        let names: Vec<String> = self.classes.iter().map(|name| cell(name)).collect();
        let count = self.classes.len();
        for (sequence, &class) in self.order.iter().enumerate() {
            let (block, class) = (sequence / count, usize::from(class));
            let time = self.times[block * count + class];
            writeln!(out, "{block},{sequence},{},{time:.3}", names[class])?;
        }
        Ok(())
    }
}

/// A name as a cell: in quotes where a comma, a quote or the end of a line would be read as such.
fn cell(name: &str) -> String {
    if name.contains([',', '"', '\n', '\r']) {
        format!("\"{}\"", name.replace('"', "\"\""))
    } else {
        name.to_owned()
    }
}

/// A name that every file system takes.
fn file_name(name: &str) -> String {
    let safe = |letter: char| letter.is_ascii_alphanumeric() || "-_".contains(letter);
    let name: String = name
        .chars()
        .take(100)
        .map(|letter| if safe(letter) { letter } else { '-' })
        .collect();
    if name.is_empty() {
        "test".to_owned()
    } else {
        name
    }
}

/// Where logs go: `leakgauge` in the target directory of the test that runs. A directory that others write to is none:
/// times of secrets are not for them.
pub(crate) fn directory() -> Option<PathBuf> {
    // target/debug/deps/test-0123456789abcdef
    let program = std::env::current_exe().ok()?;
    let deps = program.parent()?;
    let target = deps.parent()?.parent()?;
    (deps.file_name()? == "deps").then(|| target.join("leakgauge"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_in_the_order_of_the_calls() {
        let classes = ["a,b".to_owned(), "c".to_owned()];
        let rows = Rows {
            classes: &classes,
            order: &[1, 0, 0, 1],
            times: &[1.0, 2.5, 3.0, 4.0],
        };
        let mut text = Vec::new();
        rows.write_to(&mut text).expect("memory");
        let expected = "block,sequence,class,time_ns\n0,0,c,2.500\n0,1,\"a,b\",1.000\n1,2,\"a,b\",3.000\n1,3,c,4.000\n";
        assert_eq!(String::from_utf8(text).expect("text"), expected);
    }

    #[test]
    fn names_of_files_are_safe() {
        assert_eq!(file_name("../a b/ü"), "---a-b--");
        assert_eq!(file_name(""), "test");
    }

    #[test]
    fn logs_stand_beside_the_build() {
        let directory = directory().expect("a target directory");
        assert!(directory.ends_with("leakgauge"), "{}", directory.display());
    }
}
