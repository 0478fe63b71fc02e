//! A report that is a document as a page: the verdict, what stands before the first heading beside a picture, then the
//! sections.

use serde::Serialize;

use super::content::compact;
use crate::report::document::{Block, Document};
use leakgauge_base::Tool;
use leakgauge_plot::clean;

/// What a page begins with.
pub struct Opening {
    /// The class of the word, by which it has its color.
    pub class: &'static str,
    /// A word.
    pub word: &'static str,
    /// The sentence that goes on from it.
    pub sentence: String,
    /// What the page is about.
    pub about: String,
    /// A picture with its caption.
    pub picture: Option<(String, String)>,
    /// What is said of the program at the end, after its version.
    pub after: String,
}

/// All of the page.
#[derive(Serialize)]
pub struct Content {
    style: String,
    script: String,
    version: &'static str,
    tool: String,
    class: &'static str,
    word: &'static str,
    sentence: String,
    about: String,
    picture: Option<Drawn>,
    opening: Vec<Block>,
    sections: Vec<Section>,
    command: String,
    after: String,
}

#[derive(Serialize)]
struct Drawn {
    svg: String,
    caption: String,
}

/// A heading with what is under it.
#[derive(Serialize)]
struct Section {
    heading: String,
    blocks: Vec<Block>,
}

impl Content {
    pub fn new(opening: Opening, document: Document, command: &str) -> Content {
        let tool = Tool::default();
        let (mut first, mut sections): (Vec<Block>, Vec<Section>) = Default::default();
        for block in document.into_blocks() {
            match (block, sections.last_mut()) {
                (Block::Heading(heading), _) => sections.push(Section {
                    heading,
                    blocks: Vec::new(),
                }),
                (block, Some(section)) => section.blocks.push(block),
                (block, None) => first.push(block),
            }
        }
        Content {
            style: compact(include_str!("style.css")),
            script: compact(include_str!("page.js")),
            version: tool.version,
            tool: format!("{} {}", tool.name, tool.version),
            class: opening.class,
            word: opening.word,
            sentence: clean(&opening.sentence),
            about: clean(&opening.about),
            picture: opening.picture.map(|(svg, caption)| Drawn { svg, caption }),
            opening: first,
            sections,
            command: clean(command),
            after: opening.after,
        }
    }
}
