//! A command line that can be pasted into a shell.

use std::ffi::OsStr;

use leakgauge_base::credentials::without_credentials;
use leakgauge_base::error::visible;

/// The program with its arguments as a POSIX shell takes them; what holds control characters or no
/// text at all is written as `$'…'`, which bash, zsh and ksh read. Credentials in URLs are left out.
///
/// ```
/// use leakgauge::report::command_line;
///
/// let line = command_line(["audit", "my log.csv", "--claim", "laplace(2)"]);
/// assert_eq!(line, "leakgauge audit 'my log.csv' --claim 'laplace(2)'");
/// ```
pub fn command_line<S: AsRef<OsStr>>(arguments: impl IntoIterator<Item = S>) -> String {
    let mut line = "leakgauge".to_owned();
    for argument in arguments {
        line.push(' ');
        line.push_str(&quoted(argument));
    }
    line
}

/// An argument as a shell reads it.
pub fn quoted(argument: impl AsRef<OsStr>) -> String {
    let argument = argument.as_ref();
    // A page with this line is shown to others.
    let shown = argument.to_str().map(without_credentials);
    let argument = shown.as_deref().map_or(argument, OsStr::new);
    let plain = |byte: &u8| byte.is_ascii_alphanumeric() || b"_@%+=:,./-".contains(byte);
    let bytes = argument.as_encoded_bytes();
    let text = argument
        .to_str()
        .filter(|text| visible(text) == *text && !text.contains(['\u{fffe}', '\u{ffff}']));
    match text {
        Some(text) if !text.is_empty() && bytes.iter().all(plain) => text.to_owned(),
        Some(text) => format!("'{}'", text.replace('\'', "'\\''")),
        None => escaped(bytes),
    }
}

/// Three octal digits a byte, so that no digit that follows is taken for one of them.
fn escaped(bytes: &[u8]) -> String {
    let mut text = "$'".to_owned();
    for &byte in bytes {
        match byte {
            b'\\' | b'\'' => text.extend(['\\', char::from(byte)]),
            b' '..=b'~' => text.push(char::from(byte)),
            _ => text.push_str(&format!("\\{byte:03o}")),
        }
    }
    text.push('\'');
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shell_reads_what_was_meant() {
        for arguments in [
            vec!["plain", "a b", "it's", "", "~/x", "#1", "$(rm)", "`x`", "*"],
            vec![
                "tab\there",
                "two\nlines",
                "\u{1b}[31m7",
                "é\u{202e}1",
                "\\'\n",
            ],
            vec!["Köln", "\"quoted\"", "!", "a=b", "{x,y}"],
        ] {
            let line = command_line(&arguments);
            let echo = line.replacen("leakgauge", "printf '%s\\0'", 1);
            let Ok(found) = std::process::Command::new("bash")
                .args(["-c", &echo])
                .output()
            else {
                eprintln!("skipped: no bash");
                return;
            };
            let expected: Vec<u8> = arguments
                .iter()
                .flat_map(|argument| [argument.as_bytes(), b"\0"].concat())
                .collect();
            assert_eq!(found.stdout, expected, "{line}");
            assert_eq!(visible(&line), line);
        }
    }
}
