use super::*;
use crate::delimiter::delimiter;

fn rows(text: &str) -> Vec<Row> {
    csv::ReaderBuilder::new()
        .has_headers(false)
        .flexible(true)
        .from_reader(text.as_bytes())
        .byte_records()
        .map(|texts| Row::of_texts(texts.unwrap().iter()))
        .collect()
}

fn find(text: &str, options: &ReadOptions) -> Result<Layout> {
    Layout::find("log.csv", &rows(text), false, options)
}

#[test]
fn a_row_of_words_above_numbers_is_a_header() {
    let options = ReadOptions {
        secret: Some("relation".into()),
        ..ReadOptions::default()
    };
    let layout = find("relation,seconds\nsame,0.5\ndiff,0.6\n", &options).unwrap();
    assert!(layout.header);
    assert_eq!((layout.secret, layout.observe), (vec![0], vec![1]));
}

#[test]
fn a_log_of_words_has_a_header_only_if_a_requested_column_is_named_there() {
    let by_number = ReadOptions {
        secret: Some("1".into()),
        ..ReadOptions::default()
    };
    assert!(!find("a,x\nb,y\n", &by_number).unwrap().header);
    assert!(
        find("secret,x\nb,y\n", &ReadOptions::default())
            .unwrap()
            .header
    );
}

#[test]
fn columns_may_be_numbers() {
    let options = ReadOptions {
        secret: Some("2".into()),
        observe: Some(vec!["1".into()]),
        ..ReadOptions::default()
    };
    let layout = find("7,1\n8,0\n", &options).unwrap();
    assert_eq!(
        (layout.header, layout.secret, layout.observe),
        (false, vec![1], vec![0])
    );
}

#[test]
fn an_unknown_column_is_answered_with_the_nearest() {
    let options = ReadOptions {
        secret: Some("relatoin".into()),
        ..ReadOptions::default()
    };
    let message = find("relation,seconds\nsame,0.5\n", &options)
        .unwrap_err()
        .to_string();
    assert!(message.contains("did you mean `relation`"), "{message}");
    assert!(message.contains("`seconds`"), "{message}");
}

#[test]
fn the_commonest_delimiter_outside_quotes_is_taken() {
    assert_eq!(delimiter("x.csv", b"a;b;c\n1;2;3", None), b';');
    assert_eq!(delimiter("x.tsv.gz", b"a,b", None), b'\t');
    assert_eq!(delimiter("x", b"\"a;b;c\",d\n", None), b',');
    assert_eq!(delimiter("x", b"single\n", None), b',');
}

#[test]
fn columns_go_by_patterns_that_no_column_is_named_as() {
    let text = "secret,x1,x2,y,x3,z*\na,1,2,3,4,5\nb,2,3,4,5,6\n";
    let observed = |names: &[&str]| {
        let options = ReadOptions {
            observe: Some(names.iter().map(|&name| name.to_owned()).collect()),
            ..ReadOptions::default()
        };
        find(text, &options).map(|layout| layout.observe)
    };
    for (names, columns) in [
        (&["x*"][..], &[1, 2, 4][..]),
        (&["x?", "y"], &[1, 2, 4, 3]),
        (&["x2..x3"], &[2, 3, 4]),
        (&["2..4"], &[1, 2, 3]),
        (&["z*"], &[5]),
        (&["*"], &[1, 2, 3, 4, 5]),
        (&["x1..y", "x*"], &[1, 2, 3, 4]),
    ] {
        assert_eq!(observed(names).unwrap(), columns, "{names:?}");
    }
    for (names, words) in [
        (["w*"], "no column fits"),
        (["x4*"], "near names: x1, x2, x3"),
        (["x1..x9"], "no such column"),
    ] {
        let message = observed(&names).unwrap_err().to_string();
        assert!(message.contains(words), "{names:?}: {message}");
    }
    let layout = find(text, &ReadOptions::default()).unwrap();
    assert!(layout.is_named(2, "x*") && layout.is_named(3, "x2..x3"));
    assert!(layout.is_named(5, "z*") && !layout.is_named(0, "z*"));
}
