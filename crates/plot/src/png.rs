//! Conversion of pictures to PNG.

#[cfg(feature = "png")]
use resvg::{tiny_skia, usvg};

use leakgauge_base::error::{Error, Result};

/// The width in pixels: twice 300 dpi at 84 mm.
#[cfg(feature = "png")]
const WIDTH: f32 = 1984.0;

/// Checks whether this build can write PNG files.
///
/// # Errors
/// It cannot; the hint says how to build one that can.
#[cfg(not(feature = "png"))]
pub fn check() -> Result<()> {
    Err(
        Error::option("png", "this build of leakgauge cannot write PNG")
            .with_hint("build it with: cargo install --path . --features png"),
    )
}

/// Checks whether this build can write PNG files and finds a font.
///
/// # Errors
/// The system has no fonts.
#[cfg(feature = "png")]
pub fn check() -> Result<()> {
    if fonts().fontdb.is_empty() {
        return Err(Error::option("png", "no fonts were found on this system")
            .with_hint("install a sans-serif font, or convert the SVG files elsewhere"));
    }
    Ok(())
}

/// Renders an SVG document as the bytes of a PNG file.
///
/// # Errors
/// The renderer failed; see [`check`].
#[cfg(feature = "png")]
pub fn png(svg: &str) -> Result<Vec<u8>> {
    let failed = |error: String| Error::option("png", error);
    let tree = usvg::Tree::from_str(svg, &fonts()).map_err(|error| failed(error.to_string()))?;
    let scale = WIDTH / tree.size().width();
    let height = (tree.size().height() * scale).ceil();
    let mut pixels = tiny_skia::Pixmap::new(WIDTH as u32, height as u32)
        .ok_or_else(|| failed("the picture is too large".into()))?;
    pixels.fill(tiny_skia::Color::WHITE);
    let transform = tiny_skia::Transform::from_scale(scale, scale);
    resvg::render(&tree, transform, &mut pixels.as_mut());
    pixels
        .encode_png()
        .map_err(|error| failed(error.to_string()))
}

/// Renders an SVG document as the bytes of a PNG file.
///
/// # Errors
/// Always: see [`check`].
#[cfg(not(feature = "png"))]
pub fn png(_: &str) -> Result<Vec<u8>> {
    check().map(|()| Vec::new())
}

#[cfg(feature = "png")]
fn fonts() -> usvg::Options<'static> {
    let mut options = usvg::Options::default();
    let fonts = options.fontdb_mut();
    fonts.load_system_fonts();
    // The family that the pictures ask for, or the first there is.
    let named = |fonts: &usvg::fontdb::Database, wanted: &str| {
        fonts
            .faces()
            .find(|face| face.families.iter().any(|(name, _)| name == wanted))
            .map(|face| face.families[0].0.clone())
    };
    let wanted = [
        "Helvetica",
        "Arial",
        "Liberation Sans",
        "DejaVu Sans",
        "Noto Sans",
    ];
    let family = wanted.iter().find_map(|name| named(fonts, name));
    let first = fonts.faces().next().map(|face| face.families[0].0.clone());
    if let Some(family) = family.or(first) {
        fonts.set_sans_serif_family(family);
    }
    options
}
