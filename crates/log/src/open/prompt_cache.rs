//! What audits of prompt caches write (Gu et al. 2025, *Auditing prompt caching in language model APIs*): two lists of
//! requests, those that may hit the cache and those that cannot, each with its times.

use std::io::Read;

use serde::Deserialize;

use super::exported::Exported;
use crate::format::Format;
use crate::source;
use leakgauge_base::error::{Error, Result};

/// The names of the columns that an audit becomes; the last only where every request has it.
static COLUMNS: [&str; 3] = ["requests", "client_time", "server_time"];

#[derive(Deserialize)]
struct Audit {
    cache_hit: Vec<Request>,
    cache_miss: Vec<Request>,
}

#[derive(Deserialize)]
struct Request {
    /// Seconds, by who asks.
    client_time: Option<f64>,
    /// Seconds, by what the server says.
    server_time: Option<f64>,
    sent_timestamp: Option<f64>,
}

/// Whether a text begins like such an audit.
pub(super) fn is_audit(head: &[u8]) -> bool {
    let Some(inside) = head.trim_ascii_start().strip_prefix(b"{") else {
        return false;
    };
    let inside = inside.trim_ascii_start();
    let lists = [&b"\"cache_hit\""[..], b"\"cache_miss\""];
    let value = lists.iter().find_map(|list| inside.strip_prefix(*list));
    let value = value.and_then(|value| value.trim_ascii_start().strip_prefix(b":"));
    let name = b"\"client_time\"";
    value.is_some_and(|value| value.trim_ascii_start().starts_with(b"["))
        && head.windows(name.len()).any(|part| part == name)
}

/// Reads an audit: a list and the times of a request, in the order in which requests were sent.
///
/// # Errors
/// What is no such audit; a list without requests.
pub(super) fn read(name: &str, text: impl Read) -> Result<Exported> {
    let whole = source::whole_text(name, text)?;
    let audit: Audit = serde_json::from_slice(&whole)
        .map_err(|error| Error::file(name, format!("is no audit of a prompt cache: {error}")))?;
    let lists = [
        ("cache_hit", audit.cache_hit),
        ("cache_miss", audit.cache_miss),
    ];
    let mut requests: Vec<(&str, Request)> = Vec::new();
    for (list, of_list) in lists {
        if of_list.is_empty() {
            return Err(Error::file(name, format!("has no requests in {list}")));
        }
        requests.extend(of_list.into_iter().map(|request| (list, request)));
    }
    if requests
        .iter()
        .all(|(_, request)| request.sent_timestamp.is_some())
    {
        let at = |request: &Request| request.sent_timestamp.unwrap_or_default();
        requests.sort_by(|x, y| at(&x.1).total_cmp(&at(&y.1)));
    }
    let has_server_times = requests
        .iter()
        .all(|(_, request)| request.server_time.is_some());
    let columns = &COLUMNS[..COLUMNS.len() - usize::from(!has_server_times)];
    let rows = requests.into_iter().map(|(list, request)| {
        let mut times = vec![request.client_time, request.server_time];
        times.truncate(columns.len() - 1);
        (list.to_owned(), times)
    });
    Ok(Exported::new(Format::PromptCache, columns, rows.collect()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::records::Records;
    use crate::row::Row;

    #[test]
    fn an_audit_is_told_by_its_lists() {
        assert!(is_audit(b"{\n \"cache_miss\": [ {\"client_time\": 1.5}]}"));
        for other in [
            &b"{\"cache_hit\": 1, \"client_time\": 2}"[..],
            b"{\"secret\": \"a\", \"cache_hit\": [{\"client_time\": 1}]}",
            b"[]",
        ] {
            assert!(!is_audit(other));
        }
    }

    #[test]
    fn requests_are_in_the_order_in_which_they_were_sent() {
        let text = r#"{"cache_hit": [{"client_time": 0.5, "sent_timestamp": 3.0}],
            "cache_miss": [{"client_time": 0.7, "sent_timestamp": 1.0}, {"client_time": 0.9, "sent_timestamp": 4.0}], "stats": {}}"#;
        let mut audit = read("audit", text.as_bytes()).expect("an audit");
        let mut rows = Vec::new();
        let mut row = Row::default();
        while audit.next(&mut row).expect("a row") {
            let texts: Vec<String> = row
                .fields()
                .map(|field| field.text().into_owned())
                .collect();
            rows.push(texts.join(","));
        }
        assert_eq!(
            rows,
            [
                "requests,client_time",
                "cache_miss,0.7",
                "cache_hit,0.5",
                "cache_miss,0.9"
            ]
        );
        assert!(read("audit", &b"{\"cache_hit\": [], \"cache_miss\": []}"[..]).is_err());
    }
}
