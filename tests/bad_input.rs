//! Whatever the log is, the program answers it or says what is wrong and where.

use crate::common::{Place, gzip, numeric_log};

#[test]
fn a_missing_file_is_named() {
    Place::new().refuses(
        &["estimate", "nowhere.csv"],
        &["nowhere.csv: no such file", "hint"],
    );
}

#[test]
fn an_empty_directory_is_no_log() {
    Place::new().refuses(
        &["estimate", "."],
        &[".: is a directory without files", "hint"],
    );
}

#[test]
fn an_empty_file_is_said_to_be_empty() {
    let place = Place::with_log("")
        .file("empty.csv.gz", gzip(b""))
        .file("blank.csv", "\n\n\r\n");
    for file in ["log.csv", "empty.csv.gz", "blank.csv"] {
        place.refuses(&["estimate", file], &[file, "is empty"]);
    }
    place.refuses(&["estimate", "-"], &["standard input: is empty"]);
}

#[test]
fn a_header_alone_is_no_log() {
    let place = Place::with_log("secret,time\n");
    place.refuses(
        &["estimate", "log.csv"],
        &["log.csv", "has a header and no rows"],
    );
}

#[test]
fn one_column_is_not_enough() {
    let place = Place::with_log("secret\na\nb\n");
    place.refuses(
        &["estimate", "log.csv"],
        &["no observation column", "`secret`", "--delimiter"],
    );
}

#[test]
fn an_unknown_column_is_answered_with_all_columns_and_the_nearest() {
    let place = Place::with_log("relation,seconds\nsame,0.5\nother,0.6\n");
    place.refuses(
        &["estimate", "log.csv", "--secret", "relatoin"],
        &[
            "--secret relatoin",
            "`relation`",
            "`seconds`",
            "did you mean `relation`?",
        ],
    );
    place.refuses(
        &[
            "estimate",
            "log.csv",
            "--secret",
            "relation",
            "--observe",
            "second",
        ],
        &["--observe second", "did you mean `seconds`?"],
    );
    place.refuses(
        &["estimate", "log.csv", "--secret", "3"],
        &["--secret 3", "no such column"],
    );
    place.refuses(
        &["estimate", "log.csv"],
        &["no column is named `secret`", "--secret COLUMN"],
    );
    for option in ["--categorical", "--numeric"] {
        let arguments = [
            "estimate", "log.csv", "--secret", "relation", option, "second",
        ];
        place.refuses(
            &arguments,
            &[option, "not an observation column", "seconds"],
        );
    }
}

#[test]
fn a_column_of_words_is_suggested_too() {
    let place = Place::with_log("label,answer\nx,yes\ny,no\n");
    place.refuses(
        &["estimate", "log.csv", "--secret", "lable"],
        &["no such column", "did you mean `label`?"],
    );
}

#[test]
fn a_ragged_row_is_named() {
    let place = Place::with_log("secret,time\na,1.5\nb,2.5,9\na,3\n");
    place.refuses(
        &["estimate", "log.csv"],
        &["log.csv, row 3", "3 fields where 2 are expected"],
    );
}

#[test]
fn what_is_no_finite_number_is_named_with_its_row_and_column() {
    let cases = [
        ("NaN", "--missing drop"),
        ("inf", "--categorical time"),
        ("1e999", "--categorical time"),
    ];
    for (value, hint) in cases {
        let place = Place::with_log(format!("secret,time\na,1.5\nb,2.5\na,{value}\n"));
        let value = format!("value {value:?}");
        place.refuses(
            &["estimate", "log.csv"],
            &["log.csv, row 4, column time", &value, "not a finite", hint],
        );
    }
    let place = Place::with_log("secret,time\na,1.5\nb,2,5\n".replace("2,5", "\"2,5\""));
    place.refuses(
        &["estimate", "log.csv", "--numeric", "time"],
        &["row 3, column time, value \"2,5\"", "is not a number"],
    );
}

#[test]
fn rows_are_counted_alike_whatever_ends_a_line() {
    for text in [
        "secret,time\na,1.5\nb,2.5\na,NaN\n",
        "secret,time\r\na,1.5\r\nb,2.5\r\na,NaN\r\n",
        "secret,time\ra,1.5\rb,2.5\ra,NaN",
        "secret,time\na,1.5\n\n\nb,2.5\na,NaN",
    ] {
        Place::with_log(text).refuses(&["estimate", "log.csv"], &["log.csv, row 4, column time"]);
    }
}

#[test]
fn text_that_is_not_utf8_is_named() {
    let place = Place::with_log(b"secret,name\na,Ren\xe9\nb,x\n");
    place.refuses(
        &["estimate", "log.csv"],
        &["log.csv, row 2", "not UTF-8", "iconv"],
    );
    let mut late = "secret,name\n".to_owned() + &"a,x\nb,y\n".repeat(6_000);
    late.push_str("a,z");
    let mut late = late.into_bytes();
    late.extend(b"\xff\n");
    Place::with_log(late).refuses(
        &["estimate", "log.csv"],
        &["row 12002, column name", "not UTF-8"],
    );
    let place = Place::with_log(b"secret,x\na,1\n\xff\nb,2\n");
    place.refuses(&["estimate", "log.csv"], &["row 3", "not UTF-8"]);
}

#[test]
fn utf16_is_recognized_with_and_without_its_mark() {
    let utf16 = |mark: &[u8]| {
        let text = "secret,time\na,1\n"
            .encode_utf16()
            .flat_map(u16::to_le_bytes);
        mark.iter().copied().chain(text).collect::<Vec<u8>>()
    };
    for text in [
        utf16(&[0xff, 0xfe]),
        utf16(&[]),
        gzip(&utf16(&[0xff, 0xfe])),
    ] {
        Place::with_log(text).refuses(&["estimate", "log.csv"], &["UTF-16", "UTF-8"]);
    }
}

#[test]
fn other_formats_are_recognized() {
    let cases: [(&[u8], &str); 3] = [
        (b"PK\x03\x04....", "zip"),
        (b"BZh9....", "bzip2"),
        (b"\xfd7zXZ\0..", "xz"),
    ];
    for (head, format) in cases {
        Place::with_log(head).refuses(&["estimate", "log.csv"], &[format, "save it as"]);
    }
}

#[test]
fn columns_in_binary_are_recognized_and_the_build_that_reads_them_is_named() {
    let cases: [(&[u8], &str); 3] = [
        (b"PAR1\x15\x04\x15\x08", "a Parquet file"),
        (b"ARROW1\0\0\xff\xff\xff\xff", "an Arrow file"),
        (b"\xff\xff\xff\xff\x10\0\0\0", "an Arrow stream"),
    ];
    let build = if cfg!(feature = "parquet") {
        "copy the file again"
    } else {
        "cargo build --release --features parquet"
    };
    for (head, format) in cases {
        let place = Place::with_log(head);
        place.refuses(&["estimate", "log.csv"], &["log.csv", build]);
        place.refuses(
            &["estimate", "log.csv", "--follow"],
            &[format, "lines of text"],
        );
        place.refuses(&["channel", "log.csv"], &[format, "convert it to CSV"]);
        if cfg!(not(feature = "parquet")) {
            place.refuses(&["estimate", "log.csv"], &[format]);
            let packed = Place::with_log(gzip(head));
            packed.refuses(&["estimate", "log.csv"], &[format, build]);
        }
    }
}

#[test]
fn one_secret_leaks_nothing() {
    let place = Place::with_log("secret,time\na,1.5\na,2.5\n");
    place.refuses(
        &["estimate", "log.csv"],
        &["column secret", "only one secret, \"a\""],
    );
    let place = Place::with_log("secret,time\na,1.5\nb,2.5\n");
    place.refuses(
        &["estimate", "log.csv", "--secrets", "a"],
        &["only one secret", "at least two with --secrets"],
    );
}

#[test]
fn a_rare_secret_is_a_warning_and_only_rare_secrets_are_an_error() {
    let place = Place::with_log(numeric_log(200) + "rare,1.5\n");
    let report = place.json(&["estimate", "log.csv"]);
    let warnings = report["warnings"].to_string();
    assert!(
        warnings.contains("secret-not-certifiable") && warnings.contains("rare"),
        "{warnings}"
    );
    let place = Place::with_log("secret,time\na,1.5\nb,2.5\nc,3.5\n");
    place.refuses(
        &["estimate", "log.csv"],
        &["log.csv", "too few rows", "each secret needs"],
    );
}

#[test]
fn fit_on_needs_the_same_columns() {
    let place = Place::with_log(numeric_log(50))
        .file("other.csv", "secret,size\na,1.5\nb,2.5\n")
        .file("more.csv", "secret,time,size\na,1.5,1\nb,2.5,2\n")
        .file("same.csv", numeric_log(50));
    place.refuses(
        &["estimate", "log.csv", "--fit-on", "other.csv"],
        &["other.csv", "no column `time`", "secret, time"],
    );
    place.refuses(
        &["estimate", "log.csv", "--fit-on", "more.csv"],
        &["more.csv", "`size`", "--observe"],
    );
    let place = place.file("swapped.csv", "time,secret\n1.5,a\n2.5,b\n");
    place.refuses(
        &[
            "estimate",
            "log.csv",
            "--secret",
            "1",
            "--fit-on",
            "swapped.csv",
        ],
        &[
            "swapped.csv",
            "the secret is column `time`, in the first file `secret`",
        ],
    );
    place.refuses(
        &["estimate", "log.csv", "--fit-on", "./log.csv"],
        &["log.csv", "also the one of --fit-on", "certify nothing"],
    );
    place.refuses(
        &["estimate", "log.csv", "log.csv"],
        &["log.csv", "named twice"],
    );
}

#[test]
fn standard_input_is_read_once() {
    let place = Place::new();
    let words = ["standard input can be read only once"];
    place.refuses(&["estimate", "-", "-"], &words);
    place.refuses(&["estimate", "-", "--fit-on", "-"], &words);
}

#[test]
fn a_truncated_or_damaged_gzip_is_said_to_be_one() {
    let packed = gzip(numeric_log(2_000).as_bytes());
    for length in [3, 12, packed.len() / 2, packed.len() - 1] {
        let place = Place::new().file("log.csv.gz", &packed[..length]);
        place.refuses(&["estimate", "log.csv.gz"], &["log.csv.gz", "truncated"]);
    }
    let mut damaged = packed;
    let middle = damaged.len() / 2;
    damaged[middle..middle + 40].fill(0x55);
    let place = Place::new().file("log.csv.gz", damaged);
    place.refuses(&["estimate", "log.csv.gz"], &["log.csv.gz", "damaged"]);
}

#[test]
fn a_blank_secret_is_named() {
    let place = Place::with_log("secret,time\na,1.5\n ,2.5\n");
    place.refuses(
        &["estimate", "log.csv"],
        &["row 3, column secret", "the secret is blank"],
    );
}

#[test]
fn what_counts_nothing_is_no_count() {
    for count in ["-1", "1.5", "many", "", "NaN", "1e300"] {
        let place = Place::with_log(format!("secret,x,n\na,u,3\nb,v,{count}\n"));
        let value = format!("value {count:?}");
        place.refuses(
            &["estimate", "log.csv", "--count", "n"],
            &["row 3, column n", &value, "number of occurrences"],
        );
    }
    let huge = u64::MAX.to_string();
    let place = Place::with_log(format!("secret,x,n\na,u,{huge}\nb,v,{huge}\n"))
        .file("good.csv", "secret,x,n\na,u,30\nb,v,30\n");
    let words = ["log.csv, row 2", "more than 2^53 rows"];
    place.refuses(&["estimate", "log.csv", "--count", "n"], &words);
    place.refuses(
        &[
            "estimate", "good.csv", "--count", "n", "--fit-on", "log.csv",
        ],
        &words,
    );
    let place = Place::with_log("secret,x,n\na,u,0\nb,v,0\n");
    place.refuses(
        &["estimate", "log.csv", "--count", "n"],
        &["has no rows to use"],
    );
}

#[test]
fn a_column_has_one_part_and_one_name() {
    let place = Place::with_log("secret,x,x\na,1.5,u\nb,2.5,v\n");
    for arguments in [
        &["--observe", "secret"][..],
        &["--observe", "2,2"],
        &["--count", "secret"],
        &["--observe", "2", "--count", "2"],
    ] {
        let all = [&["estimate", "log.csv"], arguments].concat();
        place.refuses(&all, &["asked to play "]);
    }
    for option in ["--observe", "--numeric", "--categorical", "--count"] {
        place.refuses(
            &["estimate", "log.csv", option, "x"],
            &[option, "several columns", "`x`"],
        );
    }
    let place = Place::with_log("secret,Secret,x\na,b,1.5\nb,c,2.5\n");
    place.refuses(
        &["estimate", "log.csv"],
        &["several columns are named `secret`", "number"],
    );
}

#[test]
fn an_absent_secret_cannot_be_picked() {
    let place = Place::with_log(numeric_log(50));
    place.refuses(
        &["estimate", "log.csv", "--secrets", "a,z"],
        &["--secrets z", "log.csv has no row with this secret"],
    );
}

#[test]
fn a_quote_that_is_never_closed_is_found_where_it_opens() {
    let rows = "a,1.5\nb,2.5\n".repeat(50);
    for tail in ["", "\n", "\r\n", "\"\""] {
        let place = Place::with_log(format!("secret,x\na,1\nb,\"2\n{rows}{tail}"));
        place.refuses(
            &["estimate", "log.csv"],
            &["log.csv, row 3", "never closed"],
        );
    }
}

#[test]
fn too_many_secrets_are_probably_another_column() {
    let rows: String = (0..3_000).map(|i| format!("{i}.5,x\n{i}.5,y\n")).collect();
    let place = Place::with_log(format!("secret,x\n{rows}"));
    place.refuses(
        &["estimate", "log.csv"],
        &[
            "row 4002, column secret, value \"2000.5\"",
            "more than 2000 secrets",
            "--secrets",
        ],
    );
}
