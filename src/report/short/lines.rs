//! Sections of lines that are made to fit: wrapped to the width, and cut to the number of lines.

use std::collections::VecDeque;

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

    fn lines(&self, width: usize, hidden: usize) -> Vec<String> {
        let shown = &self.entries[..self.entries.len() - hidden];
        let mut lines: Vec<String> = shown.iter().flat_map(|entry| entry.lines(width)).collect();
        if hidden + self.beyond > 0 {
            lines.extend(wrapped(
                &clean(&(self.more)(hidden + self.beyond)),
                0,
                width,
            ));
        }
        lines
    }
}

/// The sections, with an empty line between them, in at most so many lines and columns.
pub fn fitted(sections: &[Section<'_>], (lines, width): (usize, usize)) -> Vec<String> {
    let sections: Vec<&Section> = sections
        .iter()
        .filter(|one| !one.entries.is_empty())
        .collect();
    let mut hidden = vec![0; sections.len()];
    let count = |hidden: &[usize]| -> Vec<usize> {
        let all = sections.iter().zip(hidden);
        all.map(|(section, &hidden)| section.lines(width, hidden).len())
            .collect()
    };
    loop {
        let counts = count(&hidden);
        let all = counts.iter().sum::<usize>() + sections.len().saturating_sub(1);
        let excess = |at: &usize| counts[*at] as isize - sections[*at].claim as isize;
        let can_go = |at: &usize| hidden[*at] + 1 < sections[*at].entries.len();
        let largest = (0..sections.len()).filter(can_go).max_by_key(excess);
        match largest {
            Some(at) if all > lines => hidden[at] += 1,
            _ => break,
        }
    }
    let all = sections.iter().zip(&hidden);
    let texts: Vec<Vec<String>> = all
        .map(|(section, &hidden)| section.lines(width, hidden))
        .collect();
    texts.join(&String::new())
}

/// Breaks a text at blanks; a word that is longer than a line is cut. Blanks at its beginning stay.
fn wrapped(text: &str, indent: usize, width: usize) -> Vec<String> {
    let first = text.chars().take_while(|c| *c == ' ').count();
    let mut words: VecDeque<&str> = text.split_whitespace().collect();
    let mut lines = Vec::new();
    while let Some(word) = words.pop_front() {
        let blanks = if lines.is_empty() { first } else { indent };
        let mut line = " ".repeat(blanks) + &cut(word, width.saturating_sub(blanks));
        while let Some(word) = words.front() {
            if letters(&line) + 1 + letters(word) > width {
                break;
            }
            line.push(' ');
            line.push_str(word);
            words.pop_front();
        }
        lines.push(line);
    }
    lines
}

/// The text, or its beginning and `…` if it has more letters.
pub fn cut(text: &str, most: usize) -> String {
    if letters(text) <= most {
        return text.to_owned();
    }
    let kept = most.saturating_sub(1);
    text.chars().take(kept).chain(['…']).collect()
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
        assert_eq!(cut("abcdef", 4), "abc…");
        assert_eq!(end_of("abcdef", 4), "…def");
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
