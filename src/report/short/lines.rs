//! Sections of lines that are made to fit: wrapped to the width, and cut to the number of lines.

use leakgauge_plot::clean;

/// A piece of a section that is shown whole or not at all.
pub struct Entry {
    parts: Vec<Part>,
}

struct Part {
    text: String,
    /// Blanks before each line but the first.
    indent: usize,
    /// Whether it is laid out already, so that it must not be wrapped.
    is_row: bool,
}

impl Entry {
    /// A text that is wrapped; lines after the first are indented by so many blanks.
    pub fn text(text: impl AsRef<str>, indent: usize) -> Self {
        Entry { parts: Vec::new() }.and_text(text, indent)
    }

    /// A line that is laid out already.
    pub fn row(text: impl AsRef<str>) -> Self {
        let row = Part {
            text: clean(text.as_ref()),
            indent: 0,
            is_row: true,
        };
        Entry { parts: vec![row] }
    }

    /// The same with a text below it.
    #[must_use]
    pub fn and_text(mut self, text: impl AsRef<str>, indent: usize) -> Self {
        self.parts.push(Part {
            text: clean(text.as_ref()),
            indent,
            is_row: false,
        });
        self
    }

    /// The same with a line below it that is laid out already.
    #[must_use]
    pub fn and_row(mut self, text: impl AsRef<str>) -> Self {
        self.parts.append(&mut Entry::row(text).parts);
        self
    }

    /// Puts another entry above, which is left out with this one only.
    pub fn put_above(&mut self, mut other: Entry) {
        other.parts.append(&mut self.parts);
        self.parts = other.parts;
    }

    fn lines(&self, width: usize) -> Vec<String> {
        let lines = self.parts.iter().flat_map(|part| match part.is_row {
            true => vec![part.text.clone()],
            false => wrapped(&part.text, part.indent, width),
        });
        lines.collect()
    }
}

/// Says of so many entries at the end of a section that they are not shown.
pub type More<'a> = Box<dyn Fn(usize) -> String + 'a>;

/// Entries, the most important first.
pub struct Section<'a> {
    entries: Vec<Entry>,
    /// Lines that it may keep when others have to go.
    claim: usize,
    /// Entries that were left out before.
    beyond: usize,
    more: More<'a>,
}

impl<'a> Section<'a> {
    /// Entries of which the last ones may be left out, which `more` says.
    pub fn new(entries: Vec<Entry>, claim: usize, more: More<'a>) -> Self {
        Section {
            entries,
            claim,
            beyond: 0,
            more,
        }
    }

    /// The same, of which so many entries are left out already.
    #[must_use]
    pub fn with_beyond(self, beyond: usize) -> Self {
        Section { beyond, ..self }
    }

    /// What says that so many entries are not shown, if any are not.
    fn more(&self, width: usize, hidden: usize) -> Vec<String> {
        match hidden + self.beyond {
            0 => Vec::new(),
            hidden => wrapped(&clean(&(self.more)(hidden)), 0, width),
        }
    }
}

/// The lines of a section, and how many of its entries are not shown.
struct Laid<'s> {
    section: &'s Section<'s>,
    entries: Vec<Vec<String>>,
    hidden: usize,
}

impl Laid<'_> {
    fn shown(&self) -> &[Vec<String>] {
        &self.entries[..self.entries.len() - self.hidden]
    }

    fn lines(&self, width: usize) -> Vec<String> {
        let more = self.section.more(width, self.hidden);
        self.shown().iter().flatten().cloned().chain(more).collect()
    }

    fn count(&self, width: usize) -> usize {
        let entries: usize = self.shown().iter().map(Vec::len).sum();
        entries + self.section.more(width, self.hidden).len()
    }
}

/// The sections, with an empty line between them, in at most so many lines and columns.
pub fn fitted(sections: &[Section<'_>], (lines, width): (usize, usize)) -> Vec<String> {
    let sections = sections
        .iter()
        .filter(|section| !section.entries.is_empty());
    let laid = sections.map(|section| Laid {
        section,
        entries: section
            .entries
            .iter()
            .map(|entry| entry.lines(width))
            .collect(),
        hidden: 0,
    });
    let mut all: Vec<Laid> = laid.collect();
    loop {
        let counts: Vec<usize> = all.iter().map(|one| one.count(width)).collect();
        let total = counts.iter().sum::<usize>() + all.len().saturating_sub(1);
        // The one that exceeds most what it may keep, if it has more than an entry.
        let can_go = all
            .iter_mut()
            .zip(counts)
            .filter(|(one, _)| one.shown().len() > 1);
        let largest =
            can_go.max_by_key(|(one, count)| *count as isize - one.section.claim as isize);
        match largest {
            Some((one, _)) if total > lines => one.hidden += 1,
            _ => break,
        }
    }
    let texts: Vec<Vec<String>> = all.iter().map(|one| one.lines(width)).collect();
    texts.join(&String::new())
}

/// Breaks a text at blanks, which stay inside of a line and at its beginning; a word that is longer than a line is cut.
fn wrapped(text: &str, indent: usize, width: usize) -> Vec<String> {
    const GLUE: &str = "\u{a0}%";
    let mut lines: Vec<String> = Vec::new();
    let mut blanks = 0;
    // A number stays with its percent sign.
    for word in text.replace(" %", GLUE).split(' ') {
        if word.is_empty() {
            blanks += 1;
            continue;
        }
        match lines.last_mut() {
            Some(line) if letters(line) + 1 + blanks + letters(word) <= width => {
                line.push_str(&" ".repeat(1 + blanks));
                line.push_str(word);
            }
            last => {
                let before = if last.is_none() { blanks } else { indent };
                lines.push(" ".repeat(before) + &cut(word, width.saturating_sub(before)));
            }
        }
        blanks = 0;
    }
    let lines = lines.into_iter();
    lines.map(|line| line.replace(GLUE, " %")).collect()
}

/// The text, or its beginning and `…` if it has more letters.
pub fn cut(text: &str, most: usize) -> String {
    if letters(text) <= most {
        return text.to_owned();
    }
    let kept = most.saturating_sub(1);
    text.chars().take(kept).chain(['…']).collect()
}

/// Two texts cut to so many letters each, so that they show where they differ: of addresses that begin alike, the rest.
pub fn cut_apart(texts: [&str; 2], most: usize) -> [String; 2] {
    let plain = texts.map(|text| cut(text, most));
    if plain[0] != plain[1] || texts[0] == texts[1] {
        return plain;
    }
    let both = texts[0].chars().zip(texts[1].chars());
    let alike = both.take_while(|(a, b)| a == b).count();
    let skipped = alike.saturating_sub(most / 3);
    texts.map(|text| {
        let rest: String = text.chars().skip(skipped).collect();
        cut(&format!("…{rest}"), most)
    })
}

/// The sentences at the beginning of a text that have no more letters together; of a longer one the beginning.
pub fn cut_sentences(text: &str, most: usize) -> String {
    let begun: String = text.chars().take(most).collect();
    match begun.rfind(". ") {
        Some(end) if letters(text) > most => text[..=end].to_owned(),
        _ => cut(text, most),
    }
}

/// The text, or `…` and its end if it has more letters.
pub fn end_of(text: &str, most: usize) -> String {
    let all = letters(text);
    if all <= most {
        return text.to_owned();
    }
    let skipped = all - most.saturating_sub(1);
    ['…']
        .into_iter()
        .chain(text.chars().skip(skipped))
        .collect()
}

/// How many letters a text has.
pub fn letters(text: &str) -> usize {
    text.chars().count()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn section(entries: usize, claim: usize) -> Section<'static> {
        let entries = (0..entries).map(|at| Entry::text(format!("entry {at}"), 0));
        let more = Box::new(|hidden| format!("and {hidden} more"));
        Section::new(entries.collect(), claim, more)
    }

    #[test]
    fn what_does_not_fit_is_counted() {
        let sections = [
            section(3, 2),
            section(30, 10),
            section(30, 5),
            section(1, 1),
        ];
        let lines = fitted(&sections, (25, 100));
        assert_eq!(lines.len(), 25, "{lines:#?}");
        let more: Vec<&String> = lines
            .iter()
            .filter(|line| line.starts_with("and"))
            .collect();
        assert_eq!(more.len(), 2, "{lines:#?}");
        let shown = lines
            .iter()
            .filter(|line| line.starts_with("entry"))
            .count();
        let hidden: usize = more
            .iter()
            .filter_map(|line| line.split(' ').nth(1)?.parse::<usize>().ok())
            .sum();
        assert_eq!(shown + hidden, 64, "{lines:#?}");
        assert_eq!(fitted(&[section(3, 1)], (25, 100)).len(), 3);
        assert!(fitted(&[section(0, 1)], (25, 100)).is_empty());
    }

    #[test]
    fn no_line_is_wider_than_it_may_be() {
        let long = "word ".repeat(30) + &"x".repeat(300) + " end";
        for width in [40, 80, 100] {
            let lines = wrapped(&format!("  {long}"), 4, width);
            assert!(
                lines.iter().all(|line| letters(line) <= width),
                "{lines:#?}"
            );
            assert!(lines[0].starts_with("  word") && lines[1].starts_with("    word"));
        }
        assert_eq!(wrapped("  a   b c", 1, 7), ["  a   b", " c"]);
        assert_eq!(wrapped("at 5 % b", 0, 5), ["at", "5 % b"]);
        assert_eq!(cut("abcdef", 4), "abc…");
        assert_eq!(end_of("abcdef", 4), "…def");
        assert_eq!(cut_apart(["abcdef", "abcxyz"], 6), ["abcdef", "abcxyz"]);
        assert_eq!(cut_apart(["abcdefgh1", "abcdefgh2"], 6), ["…gh1", "…gh2"]);
        assert_eq!(cut_apart(["abcdefgh", "abcdefgh"], 4), ["abc…", "abc…"]);
        assert_eq!(cut_sentences("One two. Three four.", 14), "One two.");
        assert_eq!(
            cut_sentences("One two. Three four.", 20),
            "One two. Three four."
        );
        assert_eq!(cut_sentences("One two three.", 8), "One two…");
    }

    #[test]
    fn a_terminal_must_not_act_on_a_label() {
        let entry = Entry::row("a\u{1b}[31m").and_text("b\u{7}\nc", 0);
        let lines = entry.lines(40);
        assert!(
            lines.iter().all(|line| !line.chars().any(char::is_control)),
            "{lines:?}"
        );
    }
}
