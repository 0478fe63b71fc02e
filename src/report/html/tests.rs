//! From model to page.

use std::fmt::Write;
use std::io::Cursor;

use roxmltree::{Document, Node, ParsingOptions};

use super::page;
use crate::audit::{AuditOptions, Findings, audit};
use crate::report::sentences::reasons::reason;
use leakgauge_attack::tuning::ScorerChoice;
use leakgauge_exact::claim::Claim;
use leakgauge_log::{ReadOptions, read_from};

/// An audit of rows with some claims.
fn audited(csv: &str, claims: &[&str]) -> Findings {
    let log = read_from(
        "log.csv",
        Cursor::new(csv.to_owned()),
        &ReadOptions::default(),
    )
    .unwrap();
    let options = AuditOptions {
        claims: claims
            .iter()
            .map(|claim| Claim::parse(claim).unwrap())
            .collect(),
        attacks: ScorerChoice::Frequentist.into(),
        ..AuditOptions::default()
    };
    audit(&log, &options).unwrap()
}

/// Rows of labels that tell themselves in two rows of three, in no order.
fn rows(labels: &[&str], rows: usize) -> String {
    let mut csv = String::from("secret,seen\n");
    let mut state = 1_u64;
    let mut next = |n: usize| {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % n
    };
    for _ in 0..rows {
        let secret = next(labels.len());
        let seen = if next(3) == 0 {
            next(labels.len())
        } else {
            secret
        };
        writeln!(csv, "{},o{seen}", labels[secret]).unwrap();
    }
    csv
}

fn parse(page: &str) -> Document<'_> {
    let options = ParsingOptions {
        allow_dtd: true,
        ..ParsingOptions::default()
    };
    Document::parse_with_options(page, options).unwrap_or_else(|error| panic!("{error}\n{page}"))
}

fn text(node: Node<'_, '_>) -> String {
    let texts = node.descendants().filter(Node::is_text);
    texts.filter_map(|node| node.text()).collect()
}

fn elements<'a>(document: &'a Document<'_>, name: &str) -> Vec<Node<'a, 'a>> {
    document
        .descendants()
        .filter(|node| node.tag_name().name() == name)
        .collect()
}

/// What every page must be.
fn check(found: &Findings) -> String {
    let page = page(found, "leakgauge audit log.csv").unwrap();
    let document = parse(&page);
    assert_eq!(elements(&document, "h1").len(), 1);
    assert!((2..=4).contains(&elements(&document, "dt").len()));
    said_once(&document);
    assert_eq!(elements(&document, "script").len(), 1, "its own, no other");
    let mut level = 0;
    for node in document.descendants() {
        if let Some(deeper) = node
            .tag_name()
            .name()
            .strip_prefix('h')
            .and_then(|h| h.parse::<u8>().ok())
        {
            assert!(deeper <= level + 1, "h{deeper} after h{level}");
            level = deeper;
        }
        for attribute in node.attributes() {
            let name = attribute.name();
            assert!(!name.starts_with("on") && name != "src", "{name}");
            assert!(
                name != "href" || attribute.value().starts_with('#'),
                "{}",
                attribute.value()
            );
        }
    }
    for svg in elements(&document, "svg") {
        assert!(
            svg.children()
                .any(|child| child.tag_name().name() == "title")
        );
        assert_eq!(svg.attribute("role"), Some("img"));
    }
    for table in elements(&document, "table") {
        assert!(
            table
                .children()
                .any(|child| child.tag_name().name() == "caption")
        );
    }
    figures_are_those_of_the_json(found, &document);
    pairs_are_those_of_the_json(found, &document);
    page
}

/// No sentence of the first screen is repeated there or below it.
fn said_once(document: &Document<'_>) {
    let texts = ["dd", "p", "li"].into_iter();
    let mut texts: Vec<String> = texts
        .flat_map(|name| elements(document, name))
        .map(text)
        .filter(|text| text.len() > 40)
        .collect();
    texts.sort();
    if let Some(twice) = texts.windows(2).find(|two| two[0] == two[1]) {
        panic!("said twice: {}", twice[0]);
    }
}

/// A cell's number, without the number of a footnote.
fn number(cell: &Node<'_, '_>) -> Option<f64> {
    let text: String = cell
        .children()
        .filter_map(|child| child.text().filter(|_| child.is_text()))
        .collect();
    match text.trim() {
        "n/a" => None,
        number => Some(number.parse().unwrap_or_else(|_| panic!("{number:?}"))),
    }
}

/// How much numbers may be rounded that have two digits of what is between their limits, and two to four digits.
fn rounding(figure: &serde_json::Value) -> f64 {
    let of = |key: &str| figure.get(key).and_then(serde_json::Value::as_f64);
    let [lower, point, upper] = ["lower", "point", "upper"].map(of);
    let apart = |a: Option<f64>, b: Option<f64>| Some((b? - a?).abs());
    let width = apart(lower, upper)
        .or(apart(lower, point))
        .or(apart(point, upper));
    let size = [lower, point, upper]
        .into_iter()
        .flatten()
        .fold(0.0, |most: f64, x| most.max(x.abs()));
    (0.2 * width.unwrap_or(0.0)).max(1.01e-3 * size) + 1e-12
}

/// A limit is never rounded inward.
fn agrees_within(shown: Option<f64>, exact: &serde_json::Value, (outward, most): (f64, f64)) {
    match (shown, exact.as_f64()) {
        (None, None) => {}
        (Some(shown), Some(exact)) => {
            assert!((shown - exact).abs() <= most, "{shown} for {exact}");
            assert!(
                outward * (shown - exact) >= -1e-12 || outward == 0.0,
                "{shown} for {exact}"
            );
        }
        (shown, exact) => panic!("{shown:?} for {exact:?}"),
    }
}

fn figures_are_those_of_the_json(found: &Findings, document: &Document<'_>) {
    let json = serde_json::to_value(found).unwrap();
    let rows: Vec<Node<'_, '_>> = document
        .descendants()
        .filter(|node| node.attribute("data-json").is_some())
        .collect();
    assert!(rows.len() >= 10);
    for row in rows {
        let figure = json.pointer(row.attribute("data-json").unwrap()).unwrap();
        let cells: Vec<Node<'_, '_>> = row
            .children()
            .filter(|cell| cell.attribute("class") == Some("number"))
            .collect();
        for (cell, (key, outward)) in
            cells
                .iter()
                .zip([("point", 0.0), ("lower", -1.0), ("upper", 1.0)])
        {
            let exact = figure.get(key).unwrap_or(&serde_json::Value::Null);
            agrees_within(number(cell), exact, (outward, rounding(figure)));
        }
    }
}

fn pairs_are_those_of_the_json(found: &Findings, document: &Document<'_>) {
    let json = serde_json::to_value(&found.pairs).unwrap();
    let table = document
        .descendants()
        .find(|node| node.attribute("class") == Some("sortable pairs"));
    let Some(table) = table else {
        assert_eq!(found.pairs.len(), 1);
        return;
    };
    let rows: Vec<Node<'_, '_>> = table
        .descendants()
        .filter(|node| node.tag_name().name() == "tr")
        .skip(1)
        .collect();
    assert_eq!(rows.len(), found.pairs.len().min(super::MOST_PAIRS));
    for row in rows {
        let cells: Vec<Node<'_, '_>> = row.children().filter(Node::is_element).collect();
        let label = |at: usize| {
            cells[at]
                .attribute("title")
                .map_or_else(|| text(cells[at]), str::to_owned)
        };
        let names = [label(0), label(1)];
        let at = found
            .pairs
            .iter()
            .position(|pair| pair.secrets.labels().map(leakgauge_plot::clean) == names)
            .unwrap_or_else(|| panic!("{names:?}"));
        let total_variation = &json[at]["total_variation"];
        for (cell, (key, outward)) in [("point", 0.0), ("lower", -1.0), ("upper", 1.0)]
            .iter()
            .enumerate()
        {
            let allowed = (*outward, rounding(total_variation));
            agrees_within(number(&cells[2 + cell]), &total_variation[key], allowed);
        }
        let security = &json[at]["bayes_security"];
        agrees_within(
            number(&cells[5]),
            &security["point"],
            (0.0, rounding(security)),
        );
    }
}

#[test]
fn two_secrets_have_no_table_of_pairs() {
    let page = check(&audited(&rows(&["a", "b"], 600), &[]));
    assert!(
        !page.contains("All pairs") && page.contains("Leak found"),
        "{page}"
    );
    assert!(
        page.contains("an attacker tells a from b at least"),
        "{page}"
    );
    assert!(page.len() < 60_000, "{} bytes", page.len());
}

#[test]
fn verdicts_come_first() {
    let csv = rows(&["a", "b", "c"], 3000);
    let page = check(&audited(&csv, &[]));
    assert!(
        page.contains("an attacker names its secret at least"),
        "{page}"
    );
    assert!(page.find("<svg").unwrap() < page.find("<h2>").unwrap());
    for (claims, class) in [
        (vec!["advantage(0.2)", "ldp(epsilon=9)"], "violated"),
        (vec!["advantage(0.99)"], "holds"),
        (vec!["advantage(0.99)", "advantage(0.67)"], "inconclusive"),
        (vec!["dp(epsilon=0.5, delta=1e-5)"], "violated"),
    ] {
        let page = check(&audited(&csv, &claims));
        assert!(
            page.contains(&format!("<header class=\"{class}\">")),
            "{claims:?}"
        );
        assert!(page.find("<dl>").unwrap() < page.find("<h2>").unwrap());
    }
}

#[test]
fn labels_that_are_markup_or_long_are_escaped_and_shortened() {
    let long = format!("<i>{}</i>", "long ".repeat(40));
    let control = "a\u{1b}[31m\u{202e}\u{ffff}]]>";
    let script = "<script>alert('&amp;')</script>";
    let found = audited(&rows(&[script, &long, control], 900), &["advantage(0.1)"]);
    let page = check(&found);
    assert!(!page.contains("<script>alert") && !page.contains("<i>"));
    assert!(!page.contains('\u{1b}') && !page.contains('\u{202e}'));
    let document = parse(&page);
    let titled = |node: &Node<'_, '_>| node.attribute("title").is_some_and(|title| *title == *long);
    assert!(
        document.descendants().any(|node| titled(&node)),
        "all of a long label is in a title"
    );
    for cell in elements(&document, "td") {
        assert!(text(cell).chars().count() <= 100, "{}", text(cell));
    }
}

/// Every picture says its values where a pointer rests, also without a script.
#[test]
fn pictures_have_values() {
    let csv = rows(&["a", "b", "c"], 3000);
    let page = check(&audited(&csv, &["ldp(epsilon=9)"]));
    let document = parse(&page);
    let pictures = elements(&document, "svg");
    assert!(pictures.len() >= 5, "{}", pictures.len());
    for svg in pictures {
        let tips = svg
            .descendants()
            .find(|node| node.attribute("class") == Some("tips"));
        let tips = tips.unwrap_or_else(|| panic!("no values: {}", text(svg)));
        let texts: Vec<String> = elements(&document, "title")
            .into_iter()
            .filter(|title| title.ancestors().any(|node| node == tips))
            .map(text)
            .collect();
        let has_number = |text: &String| text.contains(|letter: char| letter.is_ascii_digit());
        assert!(
            !texts.is_empty() && texts.iter().all(has_number),
            "{texts:?}"
        );
    }
}

#[test]
fn limits_that_cannot_be_had_are_none_with_the_reason() {
    let mut csv = String::from("secret,time\n");
    for at in 0..400 {
        writeln!(
            csv,
            "{},{}.{at}",
            ["a", "b"][at * 7 % 11 % 2],
            at * 37 % 101
        )
        .unwrap();
    }
    let found = audited(&csv, &[]);
    assert!(found.worst_pair.total_variation.upper.is_none());
    let page = check(&found);
    let document = parse(&page);
    let row = document
        .descendants()
        .find(|node| node.attribute("data-json") == Some("/worst_pair/total_variation"))
        .unwrap();
    let target = row
        .descendants()
        .find_map(|node| node.attribute("href"))
        .unwrap();
    let item = document
        .descendants()
        .find(|node| node.attribute("id") == Some(&target[1..]))
        .unwrap();
    assert_eq!(
        text(item),
        reason(&found.worst_pair.total_variation.reason.unwrap())
    );
}

#[test]
fn secrets_with_hardly_any_rows_have_a_page_too() {
    check(&audited(
        "secret,seen\na,x\na,y\na,x\nb,x\nb,y\nb,y\n",
        &["advantage(0.5)"],
    ));
    check(&audited("secret,seen\na,x\na,y\na,z\nb,x\nb,y\nc,z\n", &[]));
}

#[test]
fn a_hundred_secrets_stay_small() {
    let labels: Vec<String> = (0..100).map(|n| format!("www.site-{n}.example")).collect();
    let labels: Vec<&str> = labels.iter().map(String::as_str).collect();
    let found = audited(&rows(&labels, 8_000), &[]);
    assert_eq!(found.pairs.len(), 4950);
    let page = page(&found, "leakgauge estimate log.csv").unwrap();
    assert!(page.len() < 2_000_000, "{} bytes", page.len());
    assert!(page.contains("3950 pairs with smaller lower limits are left out."));
    // No pair is certified there, but naming is: the page must not say both that it leaks and that nothing is known.
    assert!(found.worst_pair.total_variation.lower == Some(0.0) || page.contains("Leak found"));
    assert!(!page.contains("No leak shown"));
    check(&found);
    // Many more secrets have no picture of all pairs, and no larger page.
    let fewer = super::page_with_pairs(&found, "leakgauge estimate log.csv", 10).unwrap();
    assert!(fewer.contains("10 of 4950 pairs") && fewer.len() < page.len() - 80_000);
    let json: serde_json::Value = serde_json::to_value(&found).unwrap();
    assert_eq!(json["pairs"].as_array().unwrap().len(), 1000);
    assert_eq!(json["pairs_left_out"], 3950);
    let limits: Vec<f64> = json["pairs"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|pair| pair["total_variation"]["lower"].as_f64())
        .collect();
    assert!(limits.windows(2).all(|two| two[0] >= two[1]));
}

#[test]
fn the_same_audit_gives_the_same_page() {
    let csv = rows(&["a", "b", "c"], 600);
    assert_eq!(check(&audited(&csv, &[])), check(&audited(&csv, &[])));
}
