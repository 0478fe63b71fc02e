//! Estimated widths of text: no font is read, because a browser can use any.

use leakgauge_base::error::visible;

/// An upper estimate of the width of a text in ems, for common sans-serif fonts.
pub(super) fn ems(text: &str) -> f64 {
    text.chars().map(letter).sum()
}

fn letter(letter: char) -> f64 {
    match letter {
        'i' | 'j' | 'l' | '.' | ',' | ':' | ';' | '|' | '\'' | ' ' => 0.34,
        'm' | 'w' | 'M' | 'W' | '%' | '@' | '…' => 0.95,
        'A'..='Z' => 0.7,
        // Wide scripts and pictures.
        '\u{1100}'..='\u{11ff}' | '\u{2e80}'..='\u{ffff}' | '\u{10000}'.. => 1.1,
        _ => 0.6,
    }
}

/// The text, truncated with `…` if it exceeds a width in ems. Characters that are not allowed in XML are replaced.
pub(super) fn fit(text: &str, most: f64) -> String {
    let text = clean(text);
    if ems(&text) <= most {
        return text;
    }
    let mut room = most - letter('…');
    let mut shown: String = text
        .chars()
        .take_while(|&next| {
            room -= letter(next);
            room >= 0.0
        })
        .collect();
    shown.truncate(shown.trim_end().len());
    shown.push('…');
    shown
}

/// The labels without the words at their beginning and at their end that all of them share, where that makes long ones
/// shorter: `…` stands for what is left out.
///
/// ```
/// use leakgauge_plot::told_apart;
///
/// let sites = ["www.a-1.example", "www.a-20.example"].map(str::to_owned);
/// assert_eq!(told_apart(&sites), ["…1…", "…20…"]);
/// ```
pub fn told_apart(labels: &[String]) -> Vec<String> {
    const LONG: usize = 8;
    const LEAST: usize = 3;
    let letters: Vec<Vec<char>> = labels.iter().map(|label| label.chars().collect()).collect();
    let longest = letters.iter().map(Vec::len).max().unwrap_or(0);
    let Some(first) = letters
        .first()
        .filter(|_| letters.len() > 1 && longest > LONG)
    else {
        return labels.to_vec();
    };
    let shared = |at: &dyn Fn(&[char], usize) -> Option<char>| {
        let is_shared = |&k: &usize| {
            let letter = at(first, k);
            letter.is_some() && letters.iter().all(|all| at(all, k) == letter)
        };
        (0..first.len()).take_while(is_shared).count()
    };
    let start = shared(&|all, k| all.get(k).copied());
    let end = shared(&|all, k| Some(all[all.len().checked_sub(k + 1)?]));
    // Words and numbers stay whole.
    let is_word = |letter: &char| letter.is_alphanumeric();
    let start = first[..start]
        .iter()
        .rposition(|letter| !is_word(letter))
        .map_or(0, |at| at + 1);
    let tail = &first[first.len() - end..];
    let end = tail
        .iter()
        .position(|letter| !is_word(letter))
        .map_or(0, |at| tail.len() - at);
    let [start, end] = [start, end].map(|cut| if cut < LEAST { 0 } else { cut });
    if letters.iter().any(|all| all.len() <= start + end) {
        return labels.to_vec();
    }
    let mark = |cut: usize| if cut > 0 { "…" } else { "" };
    let kept = letters
        .iter()
        .map(|all| all[start..all.len() - end].iter().collect::<String>());
    kept.map(|kept| format!("{}{kept}{}", mark(start), mark(end)))
        .collect()
}

/// The text with characters that are not allowed in XML replaced by U+FFFD.
pub fn clean(text: &str) -> String {
    let text = visible(text);
    let allowed = |letter: char| !matches!(letter, '\u{fffe}' | '\u{ffff}');
    if text.contains(|letter| !allowed(letter)) {
        return text.replace(|letter| !allowed(letter), "\u{fffd}");
    }
    text.into_owned()
}

/// The text escaped as the content of an XML element.
pub(super) fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len() + 8);
    for letter in clean(text).chars() {
        match letter {
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '&' => escaped.push_str("&amp;"),
            other => escaped.push(other),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_texts_end_in_an_ellipsis_and_fit() {
        for text in [
            "x".repeat(200),
            "时间".repeat(100),
            "a\u{1b}[31m".repeat(50),
        ] {
            let short = fit(&text, 12.0);
            assert!(ems(&short) <= 12.0 && short.ends_with('…'), "{short}");
            assert!(short.chars().count() > 8, "{short}");
        }
        assert_eq!(fit("short", 12.0), "short");
        assert_eq!(fit("anything", 0.0), "…");
    }

    #[test]
    fn what_xml_cannot_hold_is_written_out() {
        assert_eq!(clean("a\u{0}b\u{ffff}"), "a\\u{0}b\u{fffd}");
        assert_eq!(escape("<a & b>"), "&lt;a &amp; b&gt;");
    }
}
