//! Unpacking gzip and zstd while they are read, with errors that say which and how it is broken.

use std::fmt;
use std::io::{self, BufRead, Read};

use flate2::bufread::MultiGzDecoder;
use ruzstd::decoding::errors::{FrameDecoderError, ReadFrameHeaderError};
use ruzstd::decoding::{BlockDecodingStrategy, FrameDecoder};

/// Windows of more than this need `zstd --long`; anyone can write a file that asks for gigabytes.
const LARGEST_WINDOW: u64 = 128 << 20;

/// Bytes that are held in memory without a question.
const FREE: u64 = 64 << 20;
/// How many times its size on disk what is held may have beyond that. Logs shrink to a tenth, those of few distinct rows
/// to a hundredth.
const LARGEST_RATIO: u64 = 200;
/// The most that is held of what is packed to less than a twentieth, or of what has no known size on disk. With the program
/// itself that is within 512 MiB.
pub(crate) const MOST: u64 = 480 << 20;
/// See [`MOST`].
const USUAL_RATIO: u64 = 20;

/// Whether so many bytes may be held in memory that have so many on disk: a packed file of kilobytes can unpack to
/// gigabytes.
pub(crate) fn may_hold(bytes: u64, on_disk: Option<u64>) -> bool {
    let times = |ratio: u64| on_disk.is_some_and(|size| bytes <= size.saturating_mul(ratio));
    let is_usual = bytes <= FREE || on_disk.is_none() || times(LARGEST_RATIO);
    is_usual && (bytes <= MOST || times(USUAL_RATIO))
}

/// What is wrong with what may not be held.
pub(crate) fn too_large() -> String {
    format!(
        "unpacks to far more than its size on disk (more than {} MiB, and {LARGEST_RATIO} times its size or {} MiB), \
         which is too much to hold in memory: unpack it first if it is the right file",
        FREE >> 20,
        MOST >> 20
    )
}

/// How a file is packed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Packing {
    /// Gzip.
    Gzip,
    /// Zstandard.
    Zstd,
}

impl Packing {
    /// Recognizes a packed file by its first four bytes.
    pub fn of(head: &[u8]) -> Option<Self> {
        match head {
            [0x1f, 0x8b, ..] => Some(Packing::Gzip),
            // A skippable frame is metadata, which some writers put in front.
            [0x28, 0xb5, 0x2f, 0xfd] | [0x50..=0x5f, 0x2a, 0x4d, 0x18] => Some(Packing::Zstd),
            _ => None,
        }
    }

    /// The text of a packed file.
    pub(crate) fn unpack(self, packed: impl BufRead + Send + 'static) -> Box<dyn Read + Send> {
        match self {
            Packing::Gzip => Box::new(Gzip(MultiGzDecoder::new(packed))),
            Packing::Zstd => Box::new(Zstd::new(packed)),
        }
    }

    fn name(self) -> &'static str {
        match self {
            Packing::Gzip => "gzip",
            Packing::Zstd => "zstd",
        }
    }
}

/// The name of a file without the ending of a packer.
pub(crate) fn without_packing(name: &str) -> &str {
    let packed = [".gz", ".zst"];
    let stem = packed.iter().find_map(|ending| name.strip_suffix(ending));
    stem.unwrap_or(name)
}

/// What is wrong with a packed file.
#[derive(Debug)]
pub(crate) struct Damage {
    packing: Packing,
    what: What,
}

#[derive(Debug)]
enum What {
    /// It ends too early.
    Truncated,
    /// It is not what its packer wrote.
    Damaged(String),
    /// It is well-formed, and more than can be unpacked here.
    Unsupported(&'static str),
}

impl Damage {
    /// The damage that an error is about.
    pub(crate) fn of(error: &io::Error) -> Option<&Self> {
        error.get_ref()?.downcast_ref()
    }

    /// What to do about it.
    pub(crate) fn hint(&self) -> String {
        let name = self.packing.name();
        match &self.what {
            What::Damaged(_) => "copy the file again".to_owned(),
            What::Truncated => format!(
                "copy the file again, or unpack what is there with `{name} -dc` and use that"
            ),
            What::Unsupported(_) => format!("unpack it with `{name} -d` first"),
        }
    }

    fn error(packing: Packing, what: What) -> io::Error {
        io::Error::other(Damage { packing, what })
    }
}

impl fmt::Display for Damage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = self.packing.name();
        match &self.what {
            What::Damaged(detail) => write!(f, "the {name} stream is damaged ({detail})"),
            What::Truncated => write!(
                f,
                "the {name} stream ends before its end: the file is truncated"
            ),
            What::Unsupported(what) => write!(f, "the {name} stream {what}"),
        }
    }
}

impl std::error::Error for Damage {}

struct Gzip<R>(MultiGzDecoder<R>);

impl<R: BufRead> Read for Gzip<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.0.read(buffer).map_err(|error| match error.kind() {
            io::ErrorKind::UnexpectedEof => Damage::error(Packing::Gzip, What::Truncated),
            io::ErrorKind::InvalidInput | io::ErrorKind::InvalidData => {
                Damage::error(Packing::Gzip, What::Damaged(error.to_string()))
            }
            _ => error,
        })
    }
}

/// The frames of a zstd file one after another, with their checksums.
struct Zstd<R> {
    packed: R,
    frame: FrameDecoder,
    inside: bool,
}

impl<R: BufRead> Zstd<R> {
    fn new(packed: R) -> Self {
        let mut frame = FrameDecoder::new();
        frame.set_max_window_size(LARGEST_WINDOW);
        Zstd {
            packed,
            frame,
            inside: false,
        }
    }

    /// Goes to the next frame that has content; false at the end of the file.
    fn next_frame(&mut self) -> io::Result<bool> {
        while !self.packed.fill_buf()?.is_empty() {
            let mut watched = Watched::new(&mut self.packed);
            match self.frame.reset(&mut watched) {
                Ok(()) => {
                    self.inside = true;
                    return Ok(true);
                }
                Err(FrameDecoderError::ReadFrameHeaderError(ReadFrameHeaderError::SkipFrame {
                    length,
                    ..
                })) => {
                    let length = u64::from(length);
                    let skipped = io::copy(&mut (&mut self.packed).take(length), &mut io::sink())?;
                    if skipped < length {
                        return Err(Damage::error(Packing::Zstd, What::Truncated));
                    }
                }
                Err(error) => return Err(watched.damage(&error)),
            }
        }
        Ok(false)
    }

    fn read_on(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            if !self.inside && !self.next_frame()? {
                return Ok(0);
            }
            while self.frame.can_collect() == 0 && !self.frame.is_finished() {
                let mut watched = Watched::new(&mut self.packed);
                let one = BlockDecodingStrategy::UptoBlocks(1);
                if let Err(error) = self.frame.decode_blocks(&mut watched, one) {
                    return Err(watched.damage(&error));
                }
            }
            let n = self.frame.read(buffer)?;
            if n > 0 {
                return Ok(n);
            }
            self.inside = false;
            let written = self.frame.get_checksum_from_data();
            if written.is_some() && written != self.frame.get_calculated_checksum() {
                let detail = "its checksum does not match its content".to_owned();
                return Err(Damage::error(Packing::Zstd, What::Damaged(detail)));
            }
        }
    }
}

impl<R: BufRead> Read for Zstd<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if buffer.is_empty() {
            return Ok(0);
        }
        self.read_on(buffer)
    }
}

/// Notes why reading stopped, which the decoder wraps beyond recognition.
struct Watched<'r, R> {
    inner: &'r mut R,
    ended: bool,
    failed: Option<io::Error>,
}

impl<'r, R> Watched<'r, R> {
    fn new(inner: &'r mut R) -> Self {
        Watched {
            inner,
            ended: false,
            failed: None,
        }
    }

    fn damage(self, error: &FrameDecoderError) -> io::Error {
        match self.failed {
            Some(failed) => failed,
            None if self.ended => Damage::error(Packing::Zstd, What::Truncated),
            None => {
                let what = match error {
                    FrameDecoderError::DictNotProvided { .. } => {
                        What::Unsupported("was packed with a dictionary")
                    }
                    FrameDecoderError::WindowSizeTooBig { .. } => {
                        What::Unsupported("needs more than 128 MiB to unpack (`zstd --long`)")
                    }
                    _ => What::Damaged(error.to_string()),
                };
                Damage::error(Packing::Zstd, what)
            }
        }
    }
}

impl<R: Read> Read for Watched<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self.inner.read(buffer) {
            Ok(0) if !buffer.is_empty() => {
                self.ended = true;
                Ok(0)
            }
            Err(error) if error.kind() != io::ErrorKind::Interrupted => {
                self.failed = Some(io::Error::new(error.kind(), error.to_string()));
                Err(error)
            }
            other => other,
        }
    }
}
