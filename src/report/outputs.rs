//! Files that are written beside a report: the page and the pictures.

use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};

use leakgauge_base::error::{Error, Result};
use leakgauge_base::files::{is_same_file, is_url, replace_file};
use leakgauge_base::naming::{option, setting};
use leakgauge_plot::{Picture, on_white, png};

use crate::audit::Findings;
use crate::report::columns::{COLUMNS_HEADER, columns_csv};
use crate::report::pairs::{PAIRS_HEADER, pairs_csv};

/// What the beginning of a page of ours has.
const OWN_PAGE: &str = "<meta name=\"generator\" content=\"leakgauge";
/// What the beginning of a picture of ours has.
const OWN_PICTURE: &str = "class=\"leakgauge-plot\"";

/// A table that is written to a file of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TableFile {
    /// All pairs of secrets.
    Pairs,
    /// All columns of numbers.
    Columns,
}

impl TableFile {
    fn option(self) -> &'static str {
        match self {
            TableFile::Pairs => "pairs_file",
            TableFile::Columns => "columns_file",
        }
    }

    /// The first line, by which a file is known as ours.
    fn header(self) -> &'static str {
        match self {
            TableFile::Pairs => PAIRS_HEADER,
            TableFile::Columns => COLUMNS_HEADER,
        }
    }

    fn csv(self, audit: &Findings) -> Result<Vec<u8>> {
        match self {
            TableFile::Pairs => pairs_csv(audit),
            TableFile::Columns => columns_csv(audit),
        }
    }
}

/// Places that were checked.
///
/// A file that leakgauge wrote is replaced, as is any file where that was asked for; never a log.
#[derive(Debug, Clone, Default)]
pub struct Outputs {
    html: Option<PathBuf>,
    plots: Option<PathBuf>,
    tables: Vec<(TableFile, PathBuf)>,
    names: Vec<&'static str>,
    png: bool,
    force: bool,
    inputs: Vec<PathBuf>,
}

impl Outputs {
    /// Checks, before anything is read or computed, that nothing of value would be overwritten and that
    /// there is a directory to write to. `names` are those of all pictures that may be written.
    ///
    /// # Errors
    /// A place that is a log, a file that is not ours and not to be replaced, or no place for a file.
    pub fn check(
        html: Option<PathBuf>,
        plots: Option<PathBuf>,
        names: Vec<&'static str>,
        force: bool,
        inputs: &[&Path],
    ) -> Result<Outputs> {
        let outputs = Outputs {
            html,
            plots,
            tables: Vec::new(),
            names,
            png: false,
            force,
            inputs: inputs.iter().map(|file| file.to_path_buf()).collect(),
        };
        if let Some(file) = &outputs.html {
            outputs.check_page(file)?;
        }
        if let Some(directory) = &outputs.plots {
            let is_there = directory.symlink_metadata().is_ok();
            if is_url(directory) || is_there && !directory.is_dir() {
                return Err(
                    Error::file(directory, "is not a directory").with_hint(format!(
                        "name a directory with {}; it is created if needed",
                        option("plots")
                    )),
                );
            }
            for name in &outputs.names {
                outputs.check_file(&place(directory, name), OWN_PICTURE, &another_directory())?;
            }
        }
        Ok(outputs)
    }

    fn check_page(&self, file: &Path) -> Result<()> {
        if file == Path::new("-") || file.file_name().is_none() {
            return Err(Error::parameter(
                setting("html", file.display()),
                "is not the name of a file",
            )
            .with_hint(format!("for instance {}", setting("html", "report.html"))));
        }
        let parent = file
            .parent()
            .filter(|parent| !parent.as_os_str().is_empty());
        if let Some(parent) = parent.filter(|parent| !parent.is_dir()) {
            return Err(
                Error::file(parent, "there is no such directory").with_hint(format!(
                    "make it first, or name another with {}",
                    option("html")
                )),
            );
        }
        let in_plots = self.plots.as_ref().is_some_and(|directory| {
            self.names
                .iter()
                .any(|name| place(directory, name) == *file)
        });
        if in_plots {
            return Err(Error::parameter(
                setting("html", file.display()),
                format!("is the name of a picture of {}", option("plots")),
            ));
        }
        self.check_file(file, OWN_PAGE, &format!("{} for another", option("html")))
    }

    /// Whether a file may be written: nothing is there, or something of ours, or it was asked for.
    fn check_file(&self, file: &Path, own: &str, instead: &str) -> Result<()> {
        if file.symlink_metadata().is_err() {
            return Ok(());
        }
        if self.inputs.iter().any(|input| is_same_file(file, input)) {
            return Err(Error::file(file, "is an input").with_hint(format!("use {instead}")));
        }
        if !file.is_file() {
            return Err(
                Error::file(file, "is there and is no file").with_hint(format!("use {instead}"))
            );
        }
        if self.force || is_own(file, own) {
            return Ok(());
        }
        Err(
            Error::file(file, "is there already and was not written by leakgauge").with_hint(
                format!("use {} to replace it, or {instead}", option("force")),
            ),
        )
    }

    /// Writes a table to a file of its own.
    ///
    /// # Errors
    /// A place that is a log, the page, another table, or a file that is not ours and not to be replaced.
    pub fn with_table(mut self, table: TableFile, file: PathBuf) -> Result<Outputs> {
        let taken = self.tables.iter().find(|(_, taken)| *taken == file);
        let taken = taken.map(|(other, _)| other.option());
        let of_page = self.html.as_ref().filter(|page| **page == file);
        if let Some(taken) = taken.or(of_page.map(|_| "html")) {
            return Err(Error::parameter(
                setting(table.option(), file.display()),
                format!("is the file of {}", option(taken)),
            ));
        }
        self.check_table(table, &file)?;
        self.tables.push((table, file));
        Ok(self)
    }

    fn check_table(&self, table: TableFile, file: &Path) -> Result<()> {
        let instead = format!("{} for another", option(table.option()));
        self.check_file(file, table.header(), &instead)
    }

    /// Writes the tables that were asked for.
    ///
    /// # Errors
    /// A place that cannot be written to, or that was taken since it was checked.
    pub fn write_tables(&self, audit: &Findings) -> Result<()> {
        for (table, file) in &self.tables {
            self.check_table(*table, file)?;
            replace_file(file, table.csv(audit)?)?;
        }
        Ok(())
    }

    /// Writes each picture as PNG too.
    ///
    /// # Errors
    /// This build cannot, or a PNG file is there that does not stand beside a picture of ours.
    pub fn with_png(mut self) -> Result<Outputs> {
        png::check()?;
        self.png = true;
        if let Some(directory) = &self.plots {
            for name in &self.names {
                self.check_png(&place(directory, name))?;
            }
        }
        Ok(self)
    }

    /// Pixels say nothing of who wrote them: the picture beside them does.
    fn check_png(&self, picture: &Path) -> Result<()> {
        if is_own(picture, OWN_PICTURE) {
            return Ok(());
        }
        let file = picture.with_extension("png");
        self.check_file(&file, OWN_PICTURE, &another_directory())
    }

    /// Writes the page and the pictures. Each file is written beside its place and then moved there.
    /// Pictures that an earlier log had and this one has not are removed.
    ///
    /// # Errors
    /// A place that cannot be written to, or that was taken since it was checked.
    pub fn write(
        &self,
        page: impl FnOnce() -> Result<String>,
        pictures: impl FnOnce() -> Vec<Picture>,
    ) -> Result<()> {
        if let Some(file) = &self.html {
            let page = page()?;
            self.check_page(file)?;
            replace_file(file, &page)?;
        }
        if let Some(directory) = &self.plots {
            self.write_pictures(directory, &pictures())?;
        }
        Ok(())
    }

    fn write_pictures(&self, directory: &Path, drawn: &[Picture]) -> Result<()> {
        let failed = |path: &Path, what: &str, error: std::io::Error| {
            Error::file(path, format!("{what}: {error}"))
        };
        fs::create_dir_all(directory)
            .map_err(|error| failed(directory, "cannot be made", error))?;
        for &name in &self.names {
            let file = place(directory, name);
            self.check_file(&file, OWN_PICTURE, &another_directory())?;
            let pixels = file.with_extension("png");
            if self.png {
                self.check_png(&file)?;
            }
            if let Some(picture) = drawn.iter().find(|picture| picture.name == name) {
                let svg = on_white(&picture.svg);
                if self.png {
                    replace_file(&pixels, png::png(&svg)?)?;
                }
                replace_file(&file, &svg)?;
            } else if is_own(&file, OWN_PICTURE) {
                let of_it = [
                    Some(file),
                    Some(pixels).filter(|pixels| self.png && pixels.is_file()),
                ];
                for file in of_it.into_iter().flatten() {
                    fs::remove_file(&file)
                        .map_err(|error| failed(&file, "cannot be removed", error))?;
                }
            }
        }
        Ok(())
    }
}

fn another_directory() -> String {
    format!("{} for another directory", option("plots"))
}

fn place(directory: &Path, name: &str) -> PathBuf {
    directory.join(format!("{name}.svg"))
}

/// Whether a file begins as ours do.
fn is_own(file: &Path, mark: &str) -> bool {
    const BEGINNING: u64 = 1024;
    let mut start = Vec::new();
    let read = fs::File::open(file).and_then(|file| file.take(BEGINNING).read_to_end(&mut start));
    read.is_ok() && String::from_utf8_lossy(&start).contains(mark)
}
