//! URLs as they may be shown: without passwords and signatures.

use std::borrow::Cow;

/// What stands for a secret part.
const HIDDEN: &str = "…";

/// A text whose URLs have neither the user and password before their host nor what stands behind `?`, `#` or `;`,
/// where signatures and tokens are.
///
/// ```
/// use leakgauge_base::credentials::without_credentials;
///
/// let shown = without_credentials("https://me:secret@host/log.csv?sig=abc");
/// assert_eq!(shown, "https://…@host/log.csv?…");
/// assert_eq!(without_credentials("me@host?x"), "me@host?x");
/// ```
pub fn without_credentials(text: &str) -> Cow<'_, str> {
    if !text.contains(['/', '\\']) {
        return text.into();
    }
    let mut shown = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((at, scheme)) = next_scheme(rest) {
        let (before, url) = rest.split_at(at + scheme.len());
        shown.push_str(before);
        rest = &rest[before.len()..];
        let ends =
            |letter: char| letter.is_whitespace() || matches!(letter, '"' | '\'' | '<' | '>' | ')');
        let (url, behind) = url.split_at(url.find(ends).unwrap_or(url.len()));
        let slashes = url.len() - url.trim_start_matches(['/', '\\']).len();
        let (slashes, url) = url.split_at(slashes);
        let host = url.split(['/', '\\']).next().unwrap_or_default();
        if scheme == SCHEME || host.contains('@') {
            shown.push_str(slashes);
            push_url(&mut shown, url);
            rest = behind;
        }
    }
    shown.push_str(rest);
    shown.into()
}

/// What stands between the scheme of a URL and its host.
const SCHEME: &str = "://";

/// Where the next URL begins, also one that is misspelt or has no scheme.
fn next_scheme(text: &str) -> Option<(usize, &'static str)> {
    let found = [SCHEME, ":/", ":\\", "//"].into_iter();
    let found = found.filter_map(|scheme| Some((text.find(scheme)?, scheme)));
    // The first; of two at one place the longer one, which is listed before.
    found.reduce(|first, next| if next.0 < first.0 { next } else { first })
}

/// What stands behind the scheme of a URL.
fn push_url(shown: &mut String, url: &str) {
    // A password may hold whatever else begins a path: rather hide too much.
    let path = url.find(['/', '?', '#']).unwrap_or(url.len());
    let first = url.find('@').unwrap_or(0);
    let until = match url[..first].contains(':') || first < path {
        true => url.len(),
        false => path,
    };
    let host = url[..until].rfind('@').map_or(0, |at| at + 1);
    if host > 0 {
        shown.push_str(HIDDEN);
        shown.push('@');
    }
    match url[host..].find(['?', '#', ';']) {
        Some(at) if host + at + 1 < url.len() => {
            shown.push_str(&url[host..=host + at]);
            shown.push_str(HIDDEN);
        }
        _ => shown.push_str(&url[host..]),
    }
}

#[cfg(test)]
mod tests {
    use super::without_credentials;

    #[test]
    fn nothing_secret_of_a_url_is_shown() {
        for (text, shown) in [
            ("https://user:pw@h/x?sig=s3cret", "https://…@h/x?…"),
            ("https://h/x#token", "https://h/x#…"),
            ("https://h?sig=a@b", "https://h?…"),
            ("https://user:p@ss/word@h/x", "https://…@h/x"),
            ("https://user:pa/ss@h/x", "https://…@h/x"),
            ("https://user:s3cr?et@h/x", "https://…@h/x"),
            ("https://user:p#w@h/x", "https://…@h/x"),
            ("https://user:1234/56@h/x", "https://…@h/x"),
            ("https://h/x;jsessionid=J9", "https://h/x;…"),
            ("s3://bucket/key.csv", "s3://bucket/key.csv"),
            ("https://h/a@b.csv", "https://h/a@b.csv"),
            ("https://p@ss@h/x", "https://…@h/x"),
            (
                "df://me:pw@h:50050, and (https://a:b@c/d?e) ended",
                "df://…@h:50050, and (https://…@c/d?…) ended",
            ),
            ("https://", "https://"),
            ("https:/user:pw@h/x?sig=abc", "https:/…@h/x?…"),
            ("//user:pw@h/x?sig=abc", "//…@h/x?…"),
            ("https:\\\\user:pw@h\\x?sig=abc", "https:\\\\…@h\\x?…"),
            ("a//b,https://u:p@h/x", "a//b,https://…@h/x"),
            ("C:\\logs\\a.csv and a//b?c", "C:\\logs\\a.csv and a//b?c"),
            ("ümlaut://ü:ö@ä?ß", "ümlaut://…@ä?…"),
        ] {
            assert_eq!(without_credentials(text), shown);
        }
    }
}
